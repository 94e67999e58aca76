//! Writing files so that a reader sees the old one or the whole new one, never a part.
//!
//! Everything goes to a temporary file in the same folder, is brought to the disk, and then takes the name. The same
//! values always give the same bytes.

mod npy;
mod text;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Fault, Result};

pub use npy::{Saved, SavedData, write_csr, write_npy, write_npz};
pub use text::{Cell, csv_text, write_csv};

/// Distinguishes the temporary files of one process.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Writes a file in one step, as `fill` says.
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let temporary = temporary(path);
    let written = fill_file(&temporary, fill).and_then(|()| fs::rename(&temporary, path)).and_then(|()| settle(path));
    written.map_err(|error| {
        // Best effort: the write has failed already and that is what is reported.
        let _ = fs::remove_file(&temporary);
        Fault::io(&error, "cannot write this file").at(path.display().to_string())
    })
}

fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".{name}.{}-{number}.tmp", std::process::id()))
}

fn fill_file(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut writer = BufWriter::new(File::options().write(true).create_new(true).open(path)?);
    fill(&mut writer)?;
    writer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// Brings the new name to the disk where folders can be opened.
fn settle(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_whole(&path, |out| out.write_all(b"old")).unwrap();
        let full = write_whole(&path, |out| {
            out.write_all(b"new")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(full.unwrap_err().code(), "S3");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        write_whole(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        let nowhere = write_whole(&folder.path().join("no/such.txt"), |_| Ok(()));
        assert_eq!(nowhere.unwrap_err().code(), "S5");
    }
}
