//! Writing that takes long: with progress, and stopped on request before the file takes its name.

use std::io::{self, Write};
use std::path::Path;

use dial::Control;

use super::write_whole;
use crate::error::{Fault, Result};

/// Where the bytes of a long file go.
pub(crate) struct Watched<'a> {
    out: &'a mut dyn Write,
    control: &'a Control,
    stopped: &'a mut Option<dial::Error>,
}

impl Watched<'_> {
    /// Writes bytes and reports n steps.
    pub fn put(&mut self, bytes: &[u8], steps: usize) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.control.advance(steps).map_err(|stopped| {
            *self.stopped = Some(stopped);
            io::Error::other("stopped")
        })
    }
}

/// As [`write_whole`], in the given number of steps of a stage. If it is stopped, the old file stays.
pub(crate) fn write_watched(
    path: &Path,
    (stage, steps): (&str, usize),
    control: &Control,
    fill: impl FnOnce(&mut Watched<'_>) -> io::Result<()>,
) -> Result<()> {
    control.start(stage, steps);
    let mut stopped = None;
    let written = write_whole(path, |out| {
        fill(&mut Watched {
            out,
            control,
            stopped: &mut stopped,
        })
    });
    control.finish();
    match stopped {
        Some(stopped) => Err(Fault::Core(stopped).at("")),
        None => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopping_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"old").unwrap();
        let control = Control::new();
        control.cancel();
        let stopped =
            write_watched(&path, ("writing", 1), &control, |out| out.put(b"new", 1)).unwrap_err();
        assert_eq!(stopped.code(), "C12");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
