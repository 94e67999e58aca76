//! The connection to a database: what is looked at before SQLite touches anything, and the settings that durability rests on.
//!
//! SQLite helps itself where it is opened: it changes the journal of a foreign database, deletes its log beside an empty one,
//! and brings its log into the database when it is closed. So the header is read as plain bytes first, and a connection
//! leaves all files as they are until the database was found whole.

use std::io::Read;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::error::{Error, Result};
use crate::log::sqlite::Journal;

/// The oldest SQLite without the WAL-reset bug.
const OLDEST: i32 = 3_051_003;

/// What marks a database as ours: "DiAL".
pub(crate) const APPLICATION: i32 = 0x4469_414C;

/// Refuses what is no database, not ours or too new by the first bytes of the file alone. What SQLite has logged but not yet
/// brought into the file is not seen here; the caller asks again when it is.
pub(crate) fn check_header(file: &Path, known: u32) -> Result<()> {
    let mut header = [0u8; 100];
    let read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut header));
    match read {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            return Err(damaged(file, "the database was cut short", 0, None));
        }
        Err(error) => return Err(Error::io(file, &error)),
        Ok(()) => {}
    }
    let number = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().expect("four bytes"));
    if !header.starts_with(b"SQLite format 3\0") {
        return Err(damaged(
            file,
            "this is not a database, or its first bytes are damaged",
            0,
            None,
        ));
    }
    if number(68) != APPLICATION as u32 {
        return Err(foreign(file));
    }
    if number(60) > known {
        return Err(Error::Newer {
            place: file.display().to_string(),
            found: number(60),
            known,
        });
    }
    Ok(())
}

/// The refusal of a database that is not ours.
pub(crate) fn foreign(file: &Path) -> Error {
    let next = "Give the folder of a project.";
    Error::place(file, "is not a database of dial", next)
}

/// Refuses a file that we may not read or write, with its owner and mode: SQLite would only say that the disk failed.
pub(crate) fn check_access(file: &Path) -> Result<()> {
    let opened = std::fs::File::options().read(true).write(true).open(file);
    opened.map(drop).map_err(|error| Error::io(file, &error))
}

/// Whether closing a connection brings the log of SQLite into the database and takes it away.
pub(crate) fn tidy_on_close(connection: &Connection, tidy: bool) {
    // Every SQLite that we take knows the setting.
    let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !tidy);
}

/// Opens a connection with the settings that do not change the file, and reads them back. Closing it leaves all files as
/// they are until [`tidy_on_close`] says otherwise.
pub(crate) fn connect(file: &Path) -> Result<Connection> {
    if rusqlite::version_number() < OLDEST {
        return Err(Error::OldSqlite(rusqlite::version().into()));
    }
    let failed = |error: rusqlite::Error| Error::sqlite(file, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).map_err(failed)?;
    tidy_on_close(&connection, false);
    connection
        .busy_timeout(std::time::Duration::ZERO)
        .map_err(failed)?;
    let wanted = [
        ("locking_mode", "exclusive"),
        ("foreign_keys", "1"),
        ("mmap_size", "0"),
        ("trusted_schema", "0"),
        ("fullfsync", "1"),
        ("checkpoint_fullfsync", "1"),
    ];
    set(file, &connection, &wanted)?;
    Ok(connection)
}

/// A database that nobody writes to, opened without a lock and without changing a byte.
pub(crate) fn open_unchanged(database: &Path) -> rusqlite::Result<Connection> {
    let path = database
        .canonicalize()
        .unwrap_or_else(|_| database.to_path_buf());
    let path = path
        .to_string_lossy()
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(format!("file:{path}?immutable=1"), flags)
}

/// Sets how commits reach the disk. This may change the database: only for one that was found whole.
pub(crate) fn set_journal(file: &Path, connection: &Connection, journal: Journal) -> Result<()> {
    let (mode, synchronous) = match journal {
        Journal::Wal => ("wal", "2"),
        Journal::Rollback => ("delete", "3"),
        Journal::Unsafe => ("wal", "1"),
    };
    let wanted = [("journal_mode", mode), ("synchronous", synchronous)];
    set(file, connection, &wanted)
}

/// Settings, each read back.
fn set(file: &Path, connection: &Connection, wanted: &[(&str, &str)]) -> Result<()> {
    let failed = |error: rusqlite::Error| Error::sqlite(file, &error);
    for (name, value) in wanted {
        // To the last row: a change of the journal is written when the statement ends, and may fail then.
        let changed = connection
            .prepare(&format!("PRAGMA {name} = {value}"))
            .and_then(|mut change| {
                let mut rows = change.query([])?;
                while rows.next()?.is_some() {}
                Ok(())
            });
        changed.map_err(failed)?;
        let read = |row: &rusqlite::Row<'_>| {
            Ok(row
                .get_ref(0)?
                .as_str()
                .map(str::to_string)
                .unwrap_or_else(|_| row.get::<_, i64>(0).unwrap_or(-1).to_string()))
        };
        // A build that maps no memory has no such setting.
        let found = connection
            .pragma_query_value(None, name, read)
            .optional()
            .map_err(failed)?;
        if found.as_deref().is_some_and(|found| found != *value) {
            let why = format!(
                "the database does not take {name} = {value} (it has {})",
                found.unwrap_or_default()
            );
            return Err(Error::place(file, why, "Move the project to a local disk."));
        }
    }
    Ok(())
}

/// Looks for damaged pages everywhere, and at the index of what is kept, which alone leads to it. The chain looks after the log.
pub(crate) fn quick_check(file: &Path, connection: &Connection) -> Result<()> {
    for check in ["PRAGMA quick_check", "PRAGMA integrity_check(kept)"] {
        match connection.query_row(check, [], |row| row.get::<_, String>(0)) {
            Ok(text) if text == "ok" => {}
            Ok(text) => return Err(damaged(file, &text.replace('\n', "; "), 0, None)),
            Err(error) => return Err(Error::sqlite(file, &error)),
        }
    }
    Ok(())
}

pub(crate) fn damaged(file: &Path, what: &str, readable: u64, total: Option<u64>) -> Error {
    let total = total.map_or("an unknown number".into(), |total| total.to_string());
    Error::Damaged {
        place: file.display().to_string(),
        what: what.into(),
        readable,
        total,
        next: Error::RESTORE.into(),
    }
}
