//! What can still be read of a damaged project becomes a project; the damaged folder is kept whole beside it.
//!
//! ```text
//! database and its logs copied -> records read as far as the chain holds -> new folder made of them -> exchanged with the old
//! ```
//!
//! Events after the first one that is not as it was written are lost to the new project. That is for a person to accept: it
//! is done only when it is asked for.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde::Serialize;

use crate::error::{Error, Result, as_typed};
use crate::log::Log;
use crate::log::connection::{check_header, damaged};
use crate::log::migrate::{MIGRATIONS, newest};
use crate::log::record::{Chain, Record, first_link, next_link};
use crate::log::sqlite::{Journal, Sqlite};
use crate::log::store::Store;
use crate::log::wal;
use crate::log::witness::{self, Stated};
use crate::project::exchange::take_place;
use crate::project::folder::{Folder, Lock, private_folder};
use crate::project::part::Part;
use crate::project::reading::can_be_written;
use crate::project::{backup, check_there};

/// What can be read of a damaged project, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recovered {
    /// The id of the project.
    pub project: String,
    /// Events that can be read.
    pub events: u64,
    /// Events that there were at least, if anything says so.
    pub known: Option<u64>,
    /// The newest backup and how many events it holds.
    pub backup: Option<(PathBuf, u64)>,
    /// Where the damaged folder is now; none if nothing was changed.
    pub aside: Option<PathBuf>,
}

/// Looks what can be read of a project that is refused; if `accept` is said, makes a project of that in its place.
///
/// # Errors
/// A project that is whole (S11), in use (S7), or so damaged that nothing can be read (S9).
pub fn recover(folder: &Path, accept: bool, now: u64) -> Result<Recovered> {
    let paths = Folder(folder.to_path_buf());
    check_there(&paths)?;
    let _lock = Lock::take(&paths, now).map_err(|error| match error {
        Error::Place { place, why, .. } if !can_be_written(&paths) => Error::Place {
            place,
            why,
            next: "Copy the folder to a disk that can be written to, and recover it there.".into(),
        },
        other => other,
    })?;
    let database = paths.database();
    let part = Part::beside(folder)?;
    let copy = copy_of(&database, &part)?;
    // Tried on a copy: opening a whole one may change it.
    let opened = Sqlite::open_copy_of(&copy, &database);
    if let Ok(whole) = opened.and_then(|mut copy| copy.read(0)) {
        return Err(Error::Restore(format!(
            "{} is whole, with {} events. Nothing was changed. Go on with it: dial status {}.",
            folder.display(),
            whole.len(),
            as_typed(folder)
        )));
    }
    let copy = copy_of(&database, &part)?;
    let Readable {
        project,
        records,
        kept,
    } = read(&copy).map_err(|error| error.named(&database))?;
    let known = match witness::read(&witness::beside(&database))? {
        Stated::Head { start, head } if start == first_link(&project) => Some(head.seq),
        _ => None,
    };
    let newest = backup::newest_backup(folder, |other| other == project);
    let backup = newest.map(|backup| (backup.file, backup.head.seq));
    let log = Log::replay(&project, records)?;
    let mut recovered = Recovered {
        project,
        events: log.version(),
        known,
        backup,
        aside: None,
    };
    if accept {
        let new = part.content();
        private_folder(&new)?;
        let database = Folder(new.clone()).database();
        let mut store = Sqlite::create(&database, &recovered.project, now, Journal::Wal)?;
        for (name, bytes) in kept {
            store.keep(&name, &bytes)?;
        }
        store.append(&log.chained(0))?;
        store.close();
        drop(store);
        recovered.aside = Some(take_place(&new, folder, "damaged", now)?);
    }
    Ok(recovered)
}

/// Copies a database with its logs and its witness to where SQLite may do with them what it likes.
fn copy_of(database: &Path, part: &Part) -> Result<PathBuf> {
    let folder = part.scratch();
    let _ = fs::remove_dir_all(&folder);
    private_folder(&folder)?;
    copy_files(database, &folder)
}

/// Copies a database, its write-ahead log or rollback journal, and its witness into a folder.
pub(crate) fn copy_files(database: &Path, folder: &Path) -> Result<PathBuf> {
    let beside = [
        database.to_path_buf(),
        wal::beside(database),
        wal::journal_beside(database),
        witness::beside(database),
    ];
    for file in beside.iter().filter(|file| file.is_file()) {
        let to = folder.join(file.file_name().unwrap_or_default());
        fs::copy(file, &to).map_err(|error| Error::io(file, &error))?;
    }
    Ok(folder.join(database.file_name().unwrap_or_default()))
}

/// What could be read of a database.
struct Readable {
    project: String,
    records: Vec<Record>,
    kept: Vec<(String, Vec<u8>)>,
}

/// Reads a copy as far as the chain of its log holds.
fn read(file: &Path) -> Result<Readable> {
    check_header(file, newest(MIGRATIONS))?;
    let connection = Connection::open(file).map_err(|error| Error::sqlite(file, &error))?;
    let project = connection.query_row(
        "SELECT value FROM about WHERE name = 'project'",
        [],
        |row| row.get::<_, String>(0),
    );
    let project =
        project.map_err(|error| damaged(file, &format!("it has no id ({error})"), 0, None))?;
    let (mut link, mut records) = (first_link(&project), Vec::new());
    let mut every = connection
        .prepare("SELECT seq, body, chain FROM log ORDER BY seq")
        .map_err(|error| Error::sqlite(file, &error))?;
    let row = |row: &rusqlite::Row<'_>| {
        Ok((
            row.get::<_, i64>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, Chain>(2)?,
        ))
    };
    let rows = every
        .query_map([], row)
        .map_err(|error| Error::sqlite(file, &error))?;
    // The first one that cannot be read ends what is known to be as it was.
    for (seq, body, chain) in rows.map_while(|row| row.ok()) {
        link = next_link(&link, &body);
        match serde_json::from_str::<Record>(&body) {
            Ok(record) if link == chain && seq == records.len() as i64 + 1 => records.push(record),
            _ => break,
        }
    }
    drop(every);
    let kept = kept(&connection).unwrap_or_default();
    Ok(Readable {
        project,
        records,
        kept,
    })
}

/// What was kept, as far as it can be read: lists of items have a digest of their own, and everything else is a cache.
fn kept(connection: &Connection) -> rusqlite::Result<Vec<(String, Vec<u8>)>> {
    let mut every = connection.prepare("SELECT name, bytes FROM kept NOT INDEXED")?;
    let rows = every.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.map_while(|row| row.ok()).collect())
}
