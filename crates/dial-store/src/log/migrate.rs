//! Formats of the database and the way from one to the next.
//!
//! `user_version` counts formats. An older one is first copied beside the database, then brought up in one transaction:
//! killed at any moment it is either old or new. A newer one is refused untouched.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::{Error, Result};
use crate::log::connection::damaged;
use crate::project::folder;

/// A step from one format to the next.
pub type Migration = fn(&Transaction<'_>) -> rusqlite::Result<()>;

/// Steps after the first format, in order. None yet: this is the first.
pub(crate) const MIGRATIONS: &[Migration] = &[];

const FIRST_SCHEMA: &str = "
    CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE log (seq INTEGER PRIMARY KEY, key TEXT UNIQUE, body TEXT NOT NULL, chain BLOB NOT NULL) STRICT;
    CREATE TABLE head (seq INTEGER NOT NULL, chain BLOB NOT NULL) STRICT;
    CREATE TABLE lease (item TEXT NOT NULL, annotator TEXT NOT NULL, until INTEGER NOT NULL,
                        UNIQUE (item, annotator)) STRICT;
    CREATE TABLE kept (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;";

/// Makes the tables of the newest format.
pub(crate) fn create(change: &Transaction<'_>) -> rusqlite::Result<()> {
    change.execute_batch(FIRST_SCHEMA)?;
    MIGRATIONS.iter().try_for_each(|step| step(change))?;
    change.pragma_update(None, "user_version", newest(MIGRATIONS))
}

pub(crate) fn newest(migrations: &[Migration]) -> u32 {
    1 + migrations.len() as u32
}

/// The format of a database, which is one that we know.
pub(crate) fn check_format(file: &Path, connection: &Connection, known: u32) -> Result<u32> {
    let found: u32 = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(|error| Error::sqlite(file, &error))?;
    if found > known {
        return Err(Error::Newer {
            place: file.display().to_string(),
            found,
            known,
        });
    }
    if found == 0 {
        return Err(damaged(file, "its format has no number", 0, None));
    }
    Ok(found)
}

/// Brings an older database to the newest format, after a backup beside it. Whether it was older.
pub(crate) fn up_to_date(
    file: &Path,
    connection: &mut Connection,
    migrations: &[Migration],
) -> Result<bool> {
    let failed = |error: rusqlite::Error| Error::sqlite(file, &error);
    let known = newest(migrations);
    let found = check_format(file, connection, known)?;
    if found == known {
        return Ok(false);
    }
    let backup = file.with_extension(format!("format-{found}.dialbackup"));
    if !backup.exists() {
        let part = file.with_extension(format!("format-{found}.part"));
        // What an earlier attempt left is no backup.
        let _ = std::fs::remove_file(&part);
        folder::private_file(&part).map_err(|error| Error::io(&part, &error))?;
        connection
            .backup("main", &part, None::<fn(rusqlite::backup::Progress)>)
            .map_err(failed)?;
        std::fs::File::open(&part)
            .and_then(|file| file.sync_all())
            .map_err(|error| Error::io(&part, &error))?;
        std::fs::rename(&part, &backup).map_err(|error| Error::io(&backup, &error))?;
        folder::sync_folder_of(&backup)?;
    }
    (|| {
        let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        migrations
            .iter()
            .skip(found as usize - 1)
            .try_for_each(|step| step(&change))?;
        change.pragma_update(None, "user_version", known)?;
        change.commit()
    })()
    .map_err(failed)?;
    Ok(true)
}
