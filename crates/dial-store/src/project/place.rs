//! Which of several copies of a project a folder is. A backup that was restored and a folder that was copied have the id of the
//! project they were made of; what was meant for one of them must not be stored in another.
//!
//! ```text
//! NAME.dial/place.json    the id of the place, random; the number of this very file; the folder that it was written in; the
//!                         port of the last server
//!
//! no such file (a restored backup), or another file number (a copy of the folder)       -> a new place
//! the folder that it names is another one, and that one has this place (a snapshot)     -> a new place
//! the folder that it names is another one, and has not (the folder was moved)           -> the same place
//! ```
//!
//! A folder that takes the place of another one (`restore --replace`, `recover --accept-loss`) has its place: people go on where
//! they were. The one that was put aside then is a copy. A copy of a whole disk, made below its file system, cannot be told from
//! the first one.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::project::folder::{Folder, private_file, sync_folder_of};

/// More bytes are not read: what lies there may be anything.
const LARGEST: u64 = 1 << 16;

/// The place of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its id. Anybody may know it.
    pub id: String,
    /// The port of the last server that had the project here.
    pub port: Option<u16>,
}

/// What the file holds.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    id: String,
    file: u64,
    folder: PathBuf,
    port: Option<u16>,
}

impl Folder {
    /// Where the id of the place is.
    pub(crate) fn place_file(&self) -> PathBuf {
        self.0.join("place.json")
    }

    /// The place of the project, a new one where this is a copy.
    ///
    /// # Errors
    /// A file that cannot be written, no random numbers.
    pub fn place(&self) -> Result<Place> {
        if let Some(kept) = current(&self.0) {
            let place = Place {
                id: kept.id,
                port: kept.port,
            };
            if kept.folder != whole(&self.0) {
                write(&self.place_file(), &place, &whole(&self.0))?;
            }
            return Ok(place);
        }
        let place = Place {
            id: crate::random_id()?,
            port: None,
        };
        write(&self.place_file(), &place, &whole(&self.0))?;
        Ok(place)
    }

    /// Keeps the port of a server, for the next one of this place.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn keep_port(&self, place: &Place, port: u16) -> Result<()> {
        if place.port == Some(port) {
            return Ok(());
        }
        let place = Place {
            port: Some(port),
            ..place.clone()
        };
        write(&self.place_file(), &place, &whole(&self.0))
    }
}

/// Gives a new folder, which is about to be put where an old one is, the place of that one. Until it is there it is a copy.
pub(crate) fn hand_over(old: &Path, new: &Path) -> Result<()> {
    let Some(kept) = current(old) else {
        return Ok(());
    };
    let place = Place {
        id: kept.id,
        port: kept.port,
    };
    write(&Folder(new.into()).place_file(), &place, &whole(old))
}

/// What the file in a folder says, if it was written for this folder and for no other.
fn current(folder: &Path) -> Option<Kept> {
    let (kept, number) = read(folder)?;
    if kept.file != number {
        return None;
    }
    let claims = |(other, number): (Kept, u64)| other.id == kept.id && other.file == number;
    let elsewhere = !are_one(&kept.folder, folder) && read(&kept.folder).is_some_and(claims);
    (!elsewhere).then_some(kept)
}

/// What the file in a folder says, and its number.
fn read(folder: &Path) -> Option<(Kept, u64)> {
    let path = Folder(folder.to_path_buf()).place_file();
    // Opening a pipe would wait for ever.
    let found = fs::symlink_metadata(&path).ok()?;
    if !found.is_file() {
        return None;
    }
    let file = File::open(&path).ok()?;
    let number = number(&file).ok()?;
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    let kept: Kept = serde_json::from_slice(&bytes).ok()?;
    (kept.id.len() == 32).then_some((kept, number))
}

fn write(path: &Path, place: &Place, folder: &Path) -> Result<()> {
    let part = path.with_extension("part");
    let _ = fs::remove_file(&part);
    let made = private_file(&part).and_then(|mut file| {
        let kept = Kept {
            id: place.id.clone(),
            file: number(&file)?,
            folder: folder.to_path_buf(),
            port: place.port,
        };
        file.write_all(&serde_json::to_vec(&kept).unwrap_or_default())?;
        file.sync_all()?;
        fs::rename(&part, path)
    });
    made.map_err(|error| Error::io(path, &error))?;
    sync_folder_of(path)
}

/// A folder by the name that it has for everybody.
fn whole(folder: &Path) -> PathBuf {
    folder
        .canonicalize()
        .unwrap_or_else(|_| folder.to_path_buf())
}

/// Whether two names lead to one folder.
fn are_one(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (fs::metadata(one), fs::metadata(other)) {
        use std::os::unix::fs::MetadataExt;
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    whole(one) == whole(other)
}

/// The number of a file in its file system, which a copy of it does not have.
#[cfg(unix)]
fn number(file: &File) -> std::io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    Ok(file.metadata()?.ino())
}

#[cfg(not(unix))]
fn number(_: &File) -> std::io::Result<u64> {
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(at: &Path, name: &str) -> Folder {
        let folder = at.join(name);
        fs::create_dir(&folder).unwrap();
        Folder(folder)
    }

    fn copy(from: &Folder, to: &Folder) {
        fs::copy(from.place_file(), to.place_file()).unwrap();
    }

    #[test]
    fn a_copy_has_a_place_of_its_own_and_a_moved_folder_keeps_its_place() {
        let at = tempfile::tempdir().unwrap();
        let first = folder(at.path(), "p.dial");
        let place = first.place().unwrap();
        first.keep_port(&place, 8000).unwrap();
        let kept = first.place().unwrap();
        assert_eq!((&kept.id, kept.port), (&place.id, Some(8000)));
        // As `cp -r` makes it; and what has no such file, as a restored backup.
        let (second, third) = (folder(at.path(), "copy.dial"), folder(at.path(), "r.dial"));
        copy(&first, &second);
        for other in [&second, &third] {
            let other = other.place().unwrap();
            assert!(other.id != place.id && other.port.is_none());
        }
        assert_eq!(second.place().unwrap(), second.place().unwrap());
        // Moved, it is the same; and then what is put where it was is a copy.
        let moved = Folder(at.path().join("moved.dial"));
        fs::rename(&first.0, &moved.0).unwrap();
        assert_eq!(moved.place().unwrap(), kept);
        fs::create_dir(&first.0).unwrap();
        copy(&moved, &first);
        assert_ne!(first.place().unwrap().id, kept.id);
        assert_eq!(moved.place().unwrap(), kept);
    }

    /// A snapshot of a file system has the same numbers.
    #[test]
    fn a_folder_whose_first_one_is_still_there_is_a_copy() {
        let at = tempfile::tempdir().unwrap();
        let (first, second) = (folder(at.path(), "p.dial"), folder(at.path(), "s.dial"));
        let place = first.place().unwrap();
        write(&second.place_file(), &place, &whole(&first.0)).unwrap();
        assert_ne!(second.place().unwrap().id, place.id);
        assert_eq!(first.place().unwrap().id, place.id);
    }

    #[test]
    fn what_takes_the_place_of_a_folder_has_its_place() {
        let at = tempfile::tempdir().unwrap();
        let (old, new) = (folder(at.path(), "p.dial"), folder(at.path(), "new"));
        let place = old.place().unwrap();
        old.keep_port(&place, 8000).unwrap();
        let place = old.place().unwrap();
        hand_over(&old.0, &new.0).unwrap();
        // A process that is killed here leaves the old one as it was.
        assert_eq!(old.place().unwrap(), place);
        let aside = Folder(at.path().join("aside.dial"));
        fs::rename(&old.0, &aside.0).unwrap();
        fs::rename(&new.0, &old.0).unwrap();
        assert_eq!(old.place().unwrap(), place);
        assert_ne!(aside.place().unwrap().id, place.id);
    }

    #[test]
    fn what_is_no_such_file_is_no_place() {
        let at = tempfile::tempdir().unwrap();
        let one = folder(at.path(), "p.dial");
        for bytes in [
            &b""[..],
            b"{",
            b"{\"id\":\"x\",\"file\":0,\"folder\":\"/\",\"port\":1}",
        ] {
            fs::write(one.place_file(), bytes).unwrap();
            assert_eq!(one.place().unwrap().port, None);
        }
    }
}
