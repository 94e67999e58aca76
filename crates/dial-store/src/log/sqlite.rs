//! The log in one SQLite database: WAL, every commit synced, one connection that shuts out everybody else.
//!
//! ```text
//! log    seq, key (unique), body (JSON), chain        only ever appended to
//! head   seq, chain                                   where the log ends, written in the same transaction
//! lease  item, annotator, until
//! kept   name, bytes                                  caches
//! about  name, value                                  the id of the project, when it was made
//! ```
//!
//! What is set is read back: a setting that does not hold (a build without WAL, a file system without locks) is an error,
//! not a hope. A damaged log is reported with the number of events that are whole, and nothing is ever repaired in place.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};

use crate::error::{Error, Result};
use crate::log::connection::{self, APPLICATION, Identity, connect, damaged, quick_check};
use crate::log::memory::answered;
use crate::log::migrate::{self, Migration};
use crate::log::record::{Chain, Record, first_link, next_link};
use crate::log::store::{Lease, Store, Wanted};

/// Above this the log of SQLite is brought into the database and cut.
const LONGEST_WAL: u64 = 64 << 20;

/// How the database reaches the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::manual_non_exhaustive)] // The hidden word is one to choose, in tests.
pub enum Journal {
    /// Write-ahead log, synced at every commit.
    #[default]
    Wal,
    /// Rollback journal: slower, for file systems where nothing else is safe.
    Rollback,
    /// Write-ahead log without a sync at every commit. Loses acknowledged labels in a power cut: for the test that shows it.
    #[doc(hidden)]
    Unsafe,
}

/// A log in a file.
#[derive(Debug)]
pub struct Sqlite {
    file: PathBuf,
    journal: Journal,
    connection: Option<Connection>,
    project: String,
    identity: Identity,
}

impl Sqlite {
    /// A new database with a project of this id; the file must not be there.
    pub fn create(file: &Path, project: &str, now: u64, journal: Journal) -> Result<Sqlite> {
        if file.exists() {
            return Err(Error::place(
                file,
                "is there already",
                "Choose another name.",
            ));
        }
        let mut connection = connect(file, journal, OpenFlags::SQLITE_OPEN_CREATE)?;
        let made = (|| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            change.pragma_update(None, "application_id", APPLICATION)?;
            migrate::create(&change)?;
            change.execute(
                "INSERT INTO head VALUES (0, ?1)",
                params![first_link(project)],
            )?;
            change.execute(
                "INSERT INTO about VALUES ('project', ?1), ('made', ?2)",
                params![project, now.to_string()],
            )?;
            change.commit()?;
            // Whose database this is, is looked for in the file itself.
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        })();
        made.map_err(|error| Error::sqlite(file, &error))?;
        connection::tidy_on_close(&connection, true);
        Sqlite::from_connection(file, journal, connection)
    }

    /// Opens a database and checks it; an old format is brought up to date after a backup.
    ///
    /// # Errors
    /// No database of ours (S5), of a newer format (S12), damaged (S9), held by another process (S7).
    pub fn open(file: &Path, journal: Journal) -> Result<Sqlite> {
        Sqlite::open_with(file, journal, migrate::MIGRATIONS)
    }

    /// The same with other migrations: for the tests of migrating.
    #[doc(hidden)]
    pub fn open_with(file: &Path, journal: Journal, migrations: &[Migration]) -> Result<Sqlite> {
        if !file.is_file() {
            let next = "Give the folder of a project, or make one with dial new.";
            return Err(Error::place(file, "there is no project database", next));
        }
        connection::check_header(file, migrate::newest(migrations))?;
        let mut connection = connect(file, journal, OpenFlags::empty())?;
        let failed = |error: rusqlite::Error| Error::sqlite(file, &error);
        let application: i32 = connection
            .pragma_query_value(None, "application_id", |row| row.get(0))
            .map_err(failed)?;
        if application != APPLICATION {
            return Err(Error::place(
                file,
                "is not a database of dial",
                "Give the folder of a project.",
            ));
        }
        quick_check(file, &connection)?;
        migrate::up_to_date(file, &mut connection, migrations)?;
        let mut sqlite = Sqlite::from_connection(file, journal, connection)?;
        sqlite.verify()?;
        sqlite.tidy_on_close(true);
        Ok(sqlite)
    }

    fn from_connection(file: &Path, journal: Journal, connection: Connection) -> Result<Sqlite> {
        let project = connection.query_row(
            "SELECT value FROM about WHERE name = 'project'",
            [],
            |row| row.get(0),
        );
        let project =
            project.map_err(|error| damaged(file, &format!("it has no id ({error})"), 0, None))?;
        let (file, identity) = (file.to_path_buf(), Identity::of(file));
        Ok(Sqlite {
            file,
            journal,
            connection: Some(connection),
            project,
            identity,
        })
    }

    /// Reads the whole log and follows its chain to the head.
    fn verify(&mut self) -> Result<()> {
        let (seq, chain) = self.head()?;
        let (mut link, mut count) = (first_link(&self.project), 0u64);
        self.each(0, |body, stored, _| {
            link = next_link(&link, body);
            count += 1;
            link == *stored
        })
        .map_err(|error| self.count_readable(error, count, seq))?;
        match (count, link) == (seq, chain) {
            true => Ok(()),
            false => Err(damaged(
                &self.file,
                "the log does not end where it should",
                count.min(seq),
                Some(seq),
            )),
        }
    }

    fn count_readable(&self, error: Error, count: u64, total: u64) -> Error {
        match error {
            Error::Damaged { place, what, .. } => Error::Damaged {
                place,
                what,
                readable: count.saturating_sub(1),
                total: total.to_string(),
            },
            other => other,
        }
    }

    fn head(&self) -> Result<(u64, Chain)> {
        let read =
            |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, Chain>(1)?));
        let head = self
            .connection()?
            .query_row("SELECT seq, chain FROM head", [], read);
        head.map_err(|error| self.failed(error))
    }

    /// Hands over the records after a place: body, chain and key. Stops as damaged where `right` says no.
    fn each(
        &self,
        after: u64,
        mut right: impl FnMut(&str, &Chain, Option<&str>) -> bool,
    ) -> Result<()> {
        let connection = self.connection()?;
        let mut every = connection
            .prepare("SELECT seq, key, body, chain FROM log WHERE seq > ?1 ORDER BY seq")
            .map_err(|error| self.failed(error))?;
        let mut rows = every
            .query([after as i64])
            .map_err(|error| self.failed(error))?;
        let mut expected = after;
        while let Some(row) = rows.next().map_err(|error| self.failed(error))? {
            expected += 1;
            let wrong = |what: &str| {
                damaged(
                    &self.file,
                    &format!("event {expected} {what}"),
                    expected - 1,
                    None,
                )
            };
            let seq: i64 = row.get(0).map_err(|_| wrong("has no number"))?;
            let key: Option<Option<String>> = row.get(1).ok();
            let body: Option<String> = row.get(2).ok();
            let chain: Option<Chain> = row.get(3).ok();
            let (Some(key), Some(body), Some(chain)) = (key, body, chain) else {
                return Err(wrong("cannot be read"));
            };
            if seq as u64 != expected || !right(&body, &chain, key.as_deref()) {
                return Err(wrong("is not what was written"));
            }
        }
        Ok(())
    }

    fn connection(&self) -> Result<&Connection> {
        self.connection.as_ref().ok_or_else(|| self.poisoned())
    }

    fn connection_mut(&mut self) -> Result<&mut Connection> {
        let poisoned = self.poisoned();
        self.connection.as_mut().ok_or(poisoned)
    }

    fn poisoned(&self) -> Error {
        Error::Disk {
            place: self.file.display().to_string(),
            why: "an earlier write failed".into(),
        }
    }

    fn failed(&self, error: rusqlite::Error) -> Error {
        Error::sqlite(&self.file, &error)
    }

    /// Whether closing brings what SQLite has logged into the database. Not where something is wrong: then all files stay
    /// as they are.
    fn tidy_on_close(&self, tidy: bool) {
        self.connection
            .iter()
            .for_each(|connection| connection::tidy_on_close(connection, tidy));
    }

    /// Closes the database and leaves all files as they are.
    fn abandon(&mut self) {
        self.tidy_on_close(false);
        self.connection = None;
    }

    /// Runs a transaction; after a failure nothing more is written until [`Store::reopen`].
    fn write<T>(
        &mut self,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.identity.check(&self.file)?;
        let connection = self.connection_mut()?;
        let done = (|| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&change)?;
            change.commit()?;
            Ok(value)
        })();
        done.map_err(|error: rusqlite::Error| {
            self.abandon();
            self.failed(error)
        })
    }

    /// Brings a long log of SQLite into the database and cuts it.
    fn trim(&mut self) {
        let wal = self.file.with_file_name(format!(
            "{}-wal",
            self.file.file_name().unwrap_or_default().to_string_lossy()
        ));
        if std::fs::metadata(wal).is_ok_and(|wal| wal.len() > LONGEST_WAL)
            && let Some(connection) = &self.connection
        {
            // The log stays long where this fails; nothing is lost.
            let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        // A file that is no longer the one we know is not written to.
        if self.identity.check(&self.file).is_err() {
            self.abandon();
        }
    }
}

impl Store for Sqlite {
    fn project(&self) -> &str {
        &self.project
    }

    fn read(&mut self, after: u64) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        self.each(after, |body, _, key| {
            match serde_json::from_str::<Record>(body) {
                Ok(record)
                    if record.seq == after + records.len() as u64 + 1
                        && record.key.as_deref() == key =>
                {
                    records.push(record);
                    true
                }
                _ => false,
            }
        })?;
        Ok(records)
    }

    fn append(&mut self, records: &[(Record, Chain)]) -> Result<()> {
        let (seq, mut link) = self.head()?;
        let Some((last, _)) = records.last() else {
            return Ok(());
        };
        let mut rows = Vec::with_capacity(records.len());
        for (place, (record, stated)) in records.iter().enumerate() {
            let body = record.body();
            link = next_link(&link, &body);
            if record.seq != seq + place as u64 + 1 || link != *stated {
                return Err(Error::Moved);
            }
            rows.push((record, body, link));
        }
        self.write(|change| {
            let mut insert = change.prepare("INSERT INTO log VALUES (?1, ?2, ?3, ?4)")?;
            let mut answer =
                change.prepare("DELETE FROM lease WHERE item = ?1 AND annotator = ?2")?;
            for (record, body, link) in &rows {
                insert.execute(params![record.seq as i64, record.key, body, link])?;
                if let Some((item, annotator)) = answered(record) {
                    answer.execute([item, annotator])?;
                }
            }
            // One writer: nobody can have moved the head since it was read, and the change says so if it did.
            let moved = change.execute(
                "UPDATE head SET seq = ?1, chain = ?2 WHERE seq = ?3",
                params![last.seq as i64, link, seq as i64],
            )?;
            if moved == 1 {
                Ok(())
            } else {
                Err(rusqlite::Error::QueryReturnedNoRows)
            }
        })?;
        self.trim();
        Ok(())
    }

    fn lease(&mut self, wanted: &Wanted<'_>) -> Result<Option<Lease>> {
        self.write(|change| {
            change.execute("DELETE FROM lease WHERE until <= ?1", [wanted.now as i64])?;
            let chosen = wanted.choose(&all_leases(change)?);
            if let Some(lease) = &chosen {
                change.execute(
                    "INSERT OR REPLACE INTO lease VALUES (?1, ?2, ?3)",
                    params![lease.item, lease.annotator, lease.until as i64],
                )?;
            }
            Ok(chosen)
        })
    }

    fn leases(&mut self) -> Result<Vec<Lease>> {
        all_leases(self.connection()?).map_err(|error| self.failed(error))
    }

    fn keep(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write(|change| {
            change
                .execute(
                    "INSERT OR REPLACE INTO kept VALUES (?1, ?2)",
                    params![name, bytes],
                )
                .map(drop)
        })
    }

    fn kept(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        let found =
            self.connection()?
                .query_row("SELECT bytes FROM kept WHERE name = ?1", [name], |row| {
                    row.get(0)
                });
        found.optional().map_err(|error| self.failed(error))
    }

    fn copy_to(&mut self, file: &Path) -> Result<()> {
        self.connection()?
            .backup("main", file, None::<fn(rusqlite::backup::Progress)>)
            .map_err(|error| Error::sqlite(file, &error))?;
        let copy = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .map_err(|error| Error::sqlite(file, &error))?;
        // A plain file that can be copied and opened on its own.
        let _: String = copy
            .pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))
            .map_err(|error| Error::sqlite(file, &error))?;
        quick_check(file, &copy)?;
        drop(copy);
        std::fs::File::open(file)
            .and_then(|file| file.sync_all())
            .map_err(|error| Error::io(file, &error))
    }

    fn close(&mut self) {
        self.connection = None;
    }

    fn reopen(&mut self) -> Result<()> {
        self.abandon();
        let opened = Sqlite::open(&self.file, self.journal)?;
        if opened.project != self.project {
            let next = "Bring the right one back, or restore a backup, and start again.";
            return Err(Error::place(
                &self.file,
                "another project was put in its place",
                next,
            ));
        }
        *self = opened;
        Ok(())
    }
}

fn all_leases(connection: &Connection) -> rusqlite::Result<Vec<Lease>> {
    let mut every =
        connection.prepare("SELECT item, annotator, until FROM lease ORDER BY rowid")?;
    let lease = |row: &rusqlite::Row<'_>| {
        Ok(Lease {
            item: row.get(0)?,
            annotator: row.get(1)?,
            until: row.get::<_, i64>(2)? as u64,
        })
    };
    every.query_map([], lease)?.collect()
}
