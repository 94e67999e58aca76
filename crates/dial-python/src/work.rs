//! Work outside the interpreter lock.
//!
//! ```text
//! this thread    waits without the lock; every 20 ms takes it, lets Python handle signals, and reports progress
//! another one    works, in a pool of threads of this very process
//! ```
//!
//! Ctrl-C, or an exception of the progress callback, cancels the work, which looks at its control several times a second.
//! A process that was forked has none of the threads of its parent, so it makes a pool of its own.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dial::Control;
use dial::control::Progress;
use pyo3::prelude::*;
use rayon::ThreadPool;

use crate::errors::Failure;

/// How often Python is let in: Ctrl-C is answered within 0.2 s.
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The pool of a process.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// How far the work is.
#[derive(Clone, Default, PartialEq)]
struct Stage {
    name: String,
    done: u64,
    steps: u64,
}

/// Does some work. `progress` is none, or is called with the stage, the steps done and all steps.
pub fn run<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let pool = pool().map_err(|failure| failure.raise(py))?;
    let stage = Arc::new(Mutex::new(Stage::default()));
    let control = match progress {
        None => Control::new(),
        Some(_) => {
            let stage = Arc::clone(&stage);
            Control::with_progress(move |step| follow(&mut held(&stage), step))
        }
    };
    let (over, bell) = (Mutex::new(false), Condvar::new());
    let (result, interruption) = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let result = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(&control))));
            *held(&over) = true;
            bell.notify_all();
            result
        });
        let mut interruption = None;
        let mut told = Stage::default();
        let wait = || {
            let waited = bell.wait_timeout_while(held(&over), SIGNAL_CHECK_INTERVAL, |over| !*over);
            *waited.unwrap_or_else(PoisonError::into_inner).0
        };
        while !py.detach(wait) {
            let looked = py
                .check_signals()
                .and_then(|()| report(progress, &stage, &mut told));
            if let (Err(error), None) = (looked, &interruption) {
                control.cancel();
                interruption = Some(error);
            }
        }
        (worker.join(), interruption)
    });
    let result = result
        .and_then(|result| result)
        .unwrap_or_else(|panic| Err(Failure::panic(words(&*panic))));
    match (result, interruption) {
        (_, Some(interruption)) => Err(interruption),
        (result, None) => result.map_err(|failure| failure.raise(py)),
    }
}

fn follow(stage: &mut Stage, step: Progress<'_>) {
    match step {
        Progress::Start { stage: name, steps } => {
            *stage = Stage {
                name: name.into(),
                done: 0,
                steps,
            }
        }
        Progress::Advance(steps) => stage.done += steps,
        Progress::Finish => stage.done = stage.steps,
    }
}

/// Tells the callback what is new.
fn report(
    progress: Option<&Bound<'_, PyAny>>,
    stage: &Mutex<Stage>,
    told: &mut Stage,
) -> PyResult<()> {
    let now = held(stage).clone();
    if let Some(callback) = progress.filter(|_| now != *told && now.steps > 0) {
        callback.call1((now.name.as_str(), now.done.min(now.steps), now.steps))?;
        *told = now;
    }
    Ok(())
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without words")
}

/// What is in a mutex, also after a panic: nothing here is left half done.
pub fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pool() -> Result<Arc<ThreadPool>, Failure> {
    let (mut kept, here) = (held(&POOL), std::process::id());
    if let Some((process, pool)) = kept.take() {
        if process == here {
            *kept = Some((process, Arc::clone(&pool)));
            return Ok(pool);
        }
        // Its threads stayed with the parent, so nothing of it can be ended in order.
        std::mem::forget(pool);
    }
    let made = rayon::ThreadPoolBuilder::new()
        .thread_name(|i| format!("dial {i}"))
        .build();
    let made = made.map_err(|error| {
        Failure::usage(format!("cannot start the threads: {error}. Free some."))
    })?;
    let made = Arc::new(made);
    *kept = Some((here, Arc::clone(&made)));
    Ok(made)
}
