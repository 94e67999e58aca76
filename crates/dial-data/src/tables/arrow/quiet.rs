//! Panics of other people's decoders, caught without a word on stderr.
//!
//! What is said about a panic is said by the hook of the process, before anything is caught. Ours stands in front of the
//! hook that was there and keeps silent for a thread that is within [`caught`]; other threads are heard as ever.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

static INSTALL_HOOK: Once = Once::new();

/// The result of some work, or nothing if it panicked.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    INSTALL_HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |what| {
            if !QUIET.get() {
                before(what);
            }
        }));
    });
    let outer = QUIET.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(outer);
    result.ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn only_what_is_caught_is_silent() {
        static PANICS_PRINTED: AtomicUsize = AtomicUsize::new(0);
        panic::set_hook(Box::new(|what| {
            let ours = what
                .payload()
                .downcast_ref::<&str>()
                .is_some_and(|text| text.starts_with("quiet test"));
            PANICS_PRINTED.fetch_add(usize::from(ours), Ordering::SeqCst);
        }));
        assert_eq!(
            (caught(|| 7), caught(|| -> u8 { panic!("quiet test") })),
            (Some(7), None)
        );
        assert_eq!(PANICS_PRINTED.load(Ordering::SeqCst), 0);
        assert!(panic::catch_unwind(|| panic!("quiet test, aloud")).is_err());
        assert_eq!(PANICS_PRINTED.load(Ordering::SeqCst), 1);
    }
}
