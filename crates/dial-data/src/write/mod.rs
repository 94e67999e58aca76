//! Writing files so that a reader sees the old one or the whole new one, never a part.
//!
//! Everything goes to a temporary file in the same folder, is brought to the disk, and then takes the name. Links are
//! followed, permissions kept; what is not a plain file (a pipe, a device) is written to as it is. The same values always
//! give the same bytes.

mod envi;
mod lines;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod text;
mod watched;

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Fault, Result};

pub use envi::{ClassMap, EnviMap, ValueMap, envi_classes, envi_values};
pub use lines::jsonl_to;
pub use npy::{Saved, SavedData, npz_to, write_csr, write_npy, write_npz, zip_to};
#[cfg(feature = "parquet")]
pub use parquet::parquet_to;
pub use text::{Cell, csv_text, csv_to, unguarded, write_csv};
pub(crate) use watched::{Watched, write_watched};

/// What the cells of a column are, where that must be known before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// Words.
    Text,
    /// Floats.
    Number,
    /// Integers.
    Integer,
    /// Yes or no.
    Truth,
}

/// Distinguishes the temporary files of one process.
static TEMPORARY_FILES: AtomicU64 = AtomicU64::new(0);

/// How many links are followed before they count as a circle.
const MAX_LINKS: usize = 40;

/// Writes a file in one step, as `fill` says: to the end of a chain of links, with the permissions the file has. A pipe
/// or device is written to in place.
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let written = match fs::metadata(path) {
        Ok(kind) if !kind.is_file() && !kind.is_dir() => write_into(path, fill),
        kind => destination(path)
            .and_then(|path| replace(&path, kind.ok().map(|kind| kind.permissions()), fill)),
    };
    written
        .map_err(|error| Fault::io(&error, "cannot write this file").at(path.display().to_string()))
}

/// The file that writing to this path changes: itself, or where its links lead.
pub fn destination(path: &Path) -> io::Result<PathBuf> {
    let mut end = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&end) {
            Ok(next) => end = end.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(end),
        }
    }
    Err(io::Error::other("too many links"))
}

fn write_into(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut writer = BufWriter::new(File::options().write(true).open(path)?);
    fill(&mut writer)?;
    writer.flush()
}

fn replace(
    path: &Path,
    permissions: Option<Permissions>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = temporary(path);
    let filled =
        fill_file(&temporary, permissions, fill).and_then(|()| fs::rename(&temporary, path));
    if filled.is_err() {
        // Best effort: the write has failed already and that is what is reported.
        let _ = fs::remove_file(&temporary);
    }
    filled.and_then(|()| settle(path))
}

fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = TEMPORARY_FILES.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".{name}.{}-{number}.tmp", std::process::id()))
}

fn fill_file(
    path: &Path,
    permissions: Option<Permissions>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let file = File::options().write(true).create_new(true).open(path)?;
    // Before the first byte, so that the new content is never more readable than the old file was.
    permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))?;
    let mut writer = BufWriter::new(file);
    fill(&mut writer)?;
    writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?
        .sync_all()
}

/// Brings the new name to the disk where folders can be opened.
fn settle(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
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

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_stay_links() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("far")).unwrap();
        fs::write(at("far/old.txt"), b"old").unwrap();
        symlink("far/old.txt", at("link")).unwrap();
        symlink("link", at("link to a link")).unwrap();
        symlink("far/new.txt", at("dangling")).unwrap();
        symlink("circle", at("circle")).unwrap();
        write_whole(&at("link to a link"), |out| out.write_all(b"new")).unwrap();
        write_whole(&at("dangling"), |out| out.write_all(b"first")).unwrap();
        assert_eq!(fs::read(at("far/old.txt")).unwrap(), b"new");
        assert_eq!(fs::read(at("far/new.txt")).unwrap(), b"first");
        for link in ["link", "link to a link", "dangling"] {
            assert!(
                fs::symlink_metadata(at(link)).unwrap().is_symlink(),
                "{link}"
            );
        }
        assert_eq!(
            write_whole(&at("circle"), |_| Ok(())).unwrap_err().code(),
            "S5"
        );
        assert_eq!(fs::read_dir(at("far")).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_written_to_and_stays_a_pipe() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        let reader = std::thread::spawn({
            let path = path.clone();
            move || fs::read(path).unwrap()
        });
        write_whole(&path, |out| out.write_all(b"through")).unwrap();
        assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
        assert_eq!(reader.join().unwrap(), b"through");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        fs::write(&path, b"old").unwrap();
        for mode in [0o600, 0o640] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            write_whole(&path, |out| out.write_all(b"new")).unwrap();
            assert_eq!(
                fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                mode
            );
        }
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
