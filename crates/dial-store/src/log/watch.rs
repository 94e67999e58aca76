//! The files of an open database, watched: before each commit and after it, before the acknowledgement.
//!
//! A process keeps writing into a file that was deleted or replaced by its name; SQLite does not look. A label that went
//! there is gone with the process, so it must not be acknowledged. The check after the commit leaves no gap: what was still
//! the same file then, holds the commit.
//!
//! Nothing here opens the database itself: closing it again would drop the locks that SQLite has on it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::log::connection::damaged;
use crate::log::wal::{self, Header};

/// What tells a file from another one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileNumber(Option<(u64, u64)>);

impl FileNumber {
    pub(crate) fn of(file: &Path) -> FileNumber {
        FileNumber(number(file))
    }

    /// Refuses a file that was moved, deleted or replaced.
    pub(crate) fn check(&self, file: &Path) -> Result<()> {
        let now = FileNumber::of(file);
        if *self == now && now.0.is_some() {
            return Ok(());
        }
        let folder = file.parent().unwrap_or(Path::new(""));
        let (place, why) = match now.0 {
            _ if !folder.exists() => (folder, "the folder was moved or deleted while it was open"),
            None => (file, "was moved or deleted while it was open"),
            Some(_) => (file, "was replaced while it was open"),
        };
        let next = "Bring it back, or restore a backup, and start again.";
        Err(Error::place(place, why, next))
    }
}

/// The database file: the same one, and not shorter than it was.
#[derive(Debug)]
pub(crate) struct WatchedDatabase {
    path: PathBuf,
    number: FileNumber,
    length: u64,
}

impl WatchedDatabase {
    pub(crate) fn new(path: &Path) -> WatchedDatabase {
        WatchedDatabase {
            path: path.to_path_buf(),
            number: FileNumber::of(path),
            length: length(path),
        }
    }

    /// Refuses to go on with a file that was deleted, replaced or cut short under us. It only grows otherwise.
    pub(crate) fn check(&mut self) -> Result<()> {
        self.number.check(&self.path)?;
        let length = length(&self.path);
        if length < self.length {
            let what = "the database was cut short while it was open";
            return Err(damaged(&self.path, what, 0, None));
        }
        self.length = length;
        Ok(())
    }
}

/// The write-ahead log: the same file, and every frame in it is as SQLite wrote it.
///
/// A file that is cut and then written past its end has a hole where frames were. So each commit is read back, and the last
/// frame before it once more.
#[derive(Debug)]
pub(crate) struct WatchedWal {
    path: PathBuf,
    file: File,
    number: FileNumber,
    /// Of the generation that was read last.
    header: Option<Header>,
    /// How many frames were read, the checksum after them, and the last one.
    frames: u64,
    sum: [u32; 2],
    last: Vec<u8>,
}

impl WatchedWal {
    /// Begins to watch; `frames` is how many SQLite counts.
    pub(crate) fn new(database: &Path, frames: u64) -> Result<WatchedWal> {
        let path = wal::beside(database);
        let file = File::open(&path).map_err(|error| Error::io(&path, &error))?;
        let mut watched = WatchedWal {
            number: FileNumber::of(&path),
            path,
            file,
            header: None,
            frames: 0,
            sum: [0; 2],
            last: Vec::new(),
        };
        watched.note(frames)?;
        Ok(watched)
    }

    /// Refuses to go on with a file that was deleted, replaced or cut short.
    pub(crate) fn check(&mut self) -> Result<()> {
        self.number.check(&self.path)?;
        let (Some(known), true) = (self.header, self.frames > 0) else {
            return Ok(());
        };
        let header = Header::read(&self.read_at(0, wal::HEADER)?);
        let whole = match header {
            // After a restart SQLite writes over frames that are in the database by then.
            Some(header) if header.salts != known.salts => true,
            Some(_) => self.frame(&known, self.frames - 1)? == self.last,
            None => false,
        };
        if whole { Ok(()) } else { Err(self.struck()) }
    }

    /// Reads what was written since, of so many frames, and takes note of it.
    pub(crate) fn note(&mut self, frames: u64) -> Result<()> {
        if frames == 0 {
            (self.header, self.frames) = (None, 0);
            return Ok(());
        }
        let header = Header::read(&self.read_at(0, wal::HEADER)?);
        let header = header.ok_or_else(|| self.struck())?;
        let same = self.header.is_some_and(|known| known.salts == header.salts);
        let (from, mut sum) = match same && self.frames <= frames {
            true => (self.frames, self.sum),
            false => (0, header.sum),
        };
        for place in from..frames {
            let frame = self.frame(&header, place)?;
            if !header.continues(&frame, &mut sum) {
                return Err(self.struck());
            }
            self.last = frame;
        }
        (self.header, self.frames, self.sum) = (Some(header), frames, sum);
        Ok(())
    }

    fn frame(&mut self, header: &Header, place: u64) -> Result<Vec<u8>> {
        self.read_at(
            wal::HEADER as u64 + place * header.frame as u64,
            header.frame,
        )
    }

    /// As many of these bytes as there are.
    fn read_at(&mut self, at: u64, length: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(length);
        let read = self
            .file
            .seek(SeekFrom::Start(at))
            .and_then(|_| (&self.file).take(length as u64).read_to_end(&mut bytes));
        read.map_err(|error| Error::write(&self.path, &error))?;
        Ok(bytes)
    }

    fn struck(&self) -> Error {
        let what = "the write-ahead log was cut short or overwritten while it was open";
        damaged(&self.path, what, 0, None)
    }
}

fn number(file: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // A link to the same file is not the file.
        std::fs::symlink_metadata(file)
            .ok()
            .map(|file| (file.dev(), file.ino()))
    }
    #[cfg(not(unix))]
    {
        file.exists().then_some((0, 0))
    }
}

fn length(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |file| file.len())
}
