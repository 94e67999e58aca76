//! A project that can be read and not written to: on a read-only disk, in a snapshot, of another user.
//!
//! No lock can be taken there, so nothing is done that a writer could disturb: a database that was closed in good order is
//! read as it is; one with a log of SQLite beside it is copied to the folder for temporary files first. What is opened is a
//! copy in memory. Changes of it (a pool that was found changed, say) are gone with the process.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, Result};
use crate::log::Log;
use crate::log::memory::Memory;
use crate::log::opening;
use crate::log::sqlite::{Journal, Sqlite};
use crate::log::store::Store;
use crate::log::wal;
use crate::log::witness;
use crate::project::folder::{Folder, lock_file, private_folder};
use crate::project::part::Part;
use crate::project::recovery::copy_files;
use crate::project::{Project, check_there};

impl Project {
    /// Opens a project to read it. Where it cannot be written to, it is a copy in memory.
    ///
    /// # Errors
    /// As [`Project::open`].
    pub fn open_to_read(folder: &Path, journal: Journal, now: u64) -> Result<Project> {
        let paths = Folder(folder.to_path_buf());
        check_there(&paths)?;
        match can_be_written(&paths) {
            true => Project::open(folder, journal, now),
            false => read_copy(paths),
        }
    }
}

/// Whether the lock and the database of a project can be written, and what lies beside the database. The database is not opened: closing it would drop the
/// locks that SQLite has on it, if this process has the project already.
pub(crate) fn can_be_written(paths: &Folder) -> bool {
    let refused = |error: &std::io::Error| {
        matches!(
            error.kind(),
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied
        )
    };
    let lock = lock_file(&paths.lock()).err();
    #[cfg(unix)]
    let others = {
        let database = paths.database();
        let beside = [witness::beside(&database), wal::beside(&database)];
        let access = |file: &Path| rustix::fs::access(file, rustix::fs::Access::WRITE_OK).err();
        let files = [&database].into_iter().chain(&beside);
        let found = files.filter_map(|file| access(file).map(std::io::Error::from));
        found.collect::<Vec<_>>()
    };
    #[cfg(not(unix))]
    let others = Vec::new();
    !lock.iter().chain(&others).any(refused)
}

fn read_copy(paths: Folder) -> Result<Project> {
    // A writer elsewhere has the lock, which a reader can see where the file is there.
    let lock = File::open(paths.lock()).ok();
    if let Some(lock) = &lock
        && lock.try_lock_shared().is_err()
    {
        return Err(Error::Held {
            place: paths.0.display().to_string(),
            holder: "the project is open in another process, and cannot be read beside it".into(),
        });
    }
    let database = paths.database();
    let logged = [wal::beside(&database), wal::journal_beside(&database)];
    let closed = logged
        .iter()
        .all(|log| fs::metadata(log).map_or(true, |log| log.len() == 0));
    let (memory, mut notes) = match closed {
        true => in_memory(opening::open_unchanged(&database)?)?,
        false => {
            let part = Part::beside(&std::env::temp_dir().join(paths.name()))?;
            private_folder(&part.content())?;
            let copy = copy_files(&database, &part.content())?;
            let opened = Sqlite::open_copy_of(&copy, &database).and_then(in_memory);
            opened.map_err(|error| error.named(&database))?
        }
    };
    notes.push(format!(
        "{}: can only be read; nothing is stored there.",
        paths.0.display()
    ));
    let mut project = Project::on(Box::new(memory), Some(paths), None)?;
    project.notes = notes;
    Ok(project)
}

/// What is in a database, and what is worth saying about how it was found.
fn in_memory(mut store: Sqlite) -> Result<(Memory, Vec<String>)> {
    let records = store.read(0)?;
    let log = Log::replay(store.project(), records)?;
    let mut memory = Memory::new(store.project());
    memory.append(&log.chained(0))?;
    for (name, bytes) in store.all_kept()? {
        memory.keep(&name, &bytes)?;
    }
    Ok((memory, store.take_notes()))
}
