//! The log in one SQLite database: WAL, every commit synced, one connection that shuts out everybody else.
//!
//! ```text
//! log    seq, key (unique), body (JSON), chain        only ever appended to
//! head   seq, chain                                   where the log ends, written in the same transaction
//! lease  item, annotator, until
//! kept   name, bytes                                  caches
//! about  name, value                                  the id of the project, when it was made, that it has a witness
//! ```
//!
//! A commit is acknowledged once `witness` has stated where the log ends and `watch` has found all files in their places.
//!
//! What is set is read back: a setting that does not hold (a build without WAL, a file system without locks) is an error,
//! not a hope. A damaged log is reported with the number of events that are whole, and nothing is ever repaired in place.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::log::Log;
use crate::log::connection::{self, damaged};
use crate::log::migrate::{self, Migration};
use crate::log::opening::{self, AtLeast};
use crate::log::record::{Chain, Record, first_link, next_link};
use crate::log::store::{Lease, Store, Stored};
use crate::log::wal;
use crate::log::watch::{WatchedDatabase, WatchedWal};
use crate::log::witness::{Head, Witness};
use crate::project::folder::move_aside;

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
    pub(super) database: WatchedDatabase,
    pub(super) wal: Option<WatchedWal>,
    /// None for a copy.
    pub(super) witness: Option<Witness>,
    /// What is worth saying about how it was found.
    pub(super) notes: Vec<String>,
}

impl Sqlite {
    /// A new database with a project of this id; the file must not be there.
    pub fn create(file: &Path, project: &str, now: u64, journal: Journal) -> Result<Sqlite> {
        opening::create(file, project, now, journal)
    }

    /// Opens the database of a project and checks it; an old format is brought up to date after a backup.
    ///
    /// # Errors
    /// No database of ours (S5), of a newer format (S12), damaged or with fewer events than were acknowledged (S9), held by
    /// another process (S7).
    pub fn open(file: &Path, journal: Journal) -> Result<Sqlite> {
        Sqlite::open_with(file, journal, migrate::MIGRATIONS)
    }

    /// The same with other migrations: for the tests of migrating.
    #[doc(hidden)]
    pub fn open_with(file: &Path, journal: Journal, migrations: &[Migration]) -> Result<Sqlite> {
        opening::open(file, journal, migrations, AtLeast::Witnessed)
    }

    /// Opens a copy of the database of a project with its log and its witness, to read what that would say.
    pub(crate) fn open_copy_of(file: &Path, database: &Path) -> Result<Sqlite> {
        let at_least = AtLeast::WitnessedOf(database);
        opening::open(file, Journal::Wal, migrate::MIGRATIONS, at_least)
    }

    /// Opens a copy, which has no witness of its own.
    pub(crate) fn open_copy(file: &Path) -> Result<Sqlite> {
        opening::open(
            file,
            Journal::Rollback,
            migrate::MIGRATIONS,
            AtLeast::Nothing,
        )
    }

    /// What is worth saying about how the database was found, one sentence each.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    pub(super) fn new(file: &Path, journal: Journal, connection: Connection) -> Result<Sqlite> {
        let project = connection.query_row(
            "SELECT value FROM about WHERE name = 'project'",
            [],
            |row| row.get(0),
        );
        let project =
            project.map_err(|error| damaged(file, &format!("it has no id ({error})"), 0, None))?;
        Ok(Sqlite {
            file: file.to_path_buf(),
            journal,
            connection: Some(connection),
            project,
            database: WatchedDatabase::new(file),
            wal: None,
            witness: None,
            notes: Vec::new(),
        })
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn journal(&self) -> Journal {
        self.journal
    }

    /// Reads the whole log and follows its chain to the head; also gives the link at a place. The keys beside the records are
    /// no part of the chain, so they are compared with those in the records.
    pub(super) fn verify(&self, place: u64) -> Result<(Head, Option<Chain>)> {
        let head = self.head()?;
        let (mut link, mut count) = (first_link(&self.project), 0u64);
        let mut at_place = (place == 0).then_some(link);
        self.each((0, None), |body, stored, key| {
            link = next_link(&link, body);
            count += 1;
            if count == place {
                at_place = Some(link);
            }
            link == *stored && key_of(body).as_deref() == key
        })
        .map_err(|error| self.count_readable(error, count, head.seq))?;
        match (count, link) == (head.seq, head.chain) {
            true => Ok((head, at_place)),
            false => Err(damaged(
                &self.file,
                "the log does not end where it should",
                count.min(head.seq),
                Some(head.seq),
            )),
        }
    }

    fn count_readable(&self, error: Error, count: u64, total: u64) -> Error {
        match error {
            Error::Damaged {
                place, what, next, ..
            } => Error::Damaged {
                place,
                what,
                readable: count.saturating_sub(1),
                total: total.to_string(),
                next,
            },
            other => other,
        }
    }

    /// Whose log it is, and where it ends.
    pub(crate) fn stated(&self) -> Result<(String, Head)> {
        Ok((self.project.clone(), self.head()?))
    }

    fn head(&self) -> Result<Head> {
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Head {
                seq: row.get::<_, i64>(0)? as u64,
                chain: row.get(1)?,
            })
        };
        let head = self
            .connection()?
            .query_row("SELECT seq, chain FROM head", [], read);
        head.map_err(|error| self.failed(error))
    }

    /// Hands over the records after a place, at most so many: body, chain and key. Stops as damaged where `right` says no.
    fn each(
        &self,
        (after, most): (u64, Option<u64>),
        mut right: impl FnMut(&str, &Chain, Option<&str>) -> bool,
    ) -> Result<()> {
        let connection = self.connection()?;
        let mut every = connection
            .prepare("SELECT seq, key, body, chain FROM log WHERE seq > ?1 ORDER BY seq LIMIT ?2")
            .map_err(|error| self.failed(error))?;
        let mut rows = every
            .query([after as i64, most.map_or(-1, |most| most as i64)])
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

    pub(super) fn connection(&self) -> Result<&Connection> {
        self.connection.as_ref().ok_or_else(|| self.poisoned())
    }

    pub(super) fn connection_mut(&mut self) -> Result<&mut Connection> {
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
    pub(super) fn tidy_on_close(&self, tidy: bool) {
        self.connection
            .iter()
            .for_each(|connection| connection::tidy_on_close(connection, tidy));
    }

    /// Closes the database and leaves all files as they are.
    fn abandon(&mut self) {
        self.tidy_on_close(false);
        self.connection = None;
    }

    /// Everything that was kept.
    pub(crate) fn all_kept(&self) -> Result<Vec<(String, Vec<u8>)>> {
        let mut every = self
            .connection()?
            .prepare("SELECT name, bytes FROM kept ORDER BY name")
            .map_err(|error| self.failed(error))?;
        let rows = every.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        let all = rows.and_then(Iterator::collect);
        all.map_err(|error| self.failed(error))
    }

    /// How many frames the write-ahead log has.
    pub(super) fn wal_frames(&self) -> Result<u64> {
        let frames = self
            .connection()?
            .query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| {
                row.get::<_, i64>(1)
            });
        frames
            .map(|frames| frames.max(0) as u64)
            .map_err(|error| self.failed(error))
    }

    /// Runs a transaction, after which the log ends at `head` if one is given. After a failure nothing more is written
    /// until [`Store::reopen`].
    fn write<T>(
        &mut self,
        head: Option<Head>,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.check()?;
        let connection = self.connection_mut()?;
        let done = (|| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&change)?;
            change.commit()?;
            Ok(value)
        })();
        let done = done.map_err(|error: rusqlite::Error| self.failed(error));
        let settled = done.and_then(|value| self.settle(head).map(|()| value));
        settled.inspect_err(|_| self.abandon())
    }

    /// After a commit: it is in the files that we know, the witness says so, and both still holds after that.
    fn settle(&mut self, head: Option<Head>) -> Result<()> {
        let frames = match self.wal {
            Some(_) => self.wal_frames()?,
            None => 0,
        };
        self.check()?;
        self.wal.iter_mut().try_for_each(|wal| wal.note(frames))?;
        if let (Some(witness), Some(head)) = (&mut self.witness, head) {
            witness.state(head)?;
            self.check()?;
        }
        Ok(())
    }

    /// Brings a long log of SQLite into the database and cuts it.
    fn trim(&mut self) {
        let wal = wal::beside(&self.file);
        if std::fs::metadata(wal).is_ok_and(|wal| wal.len() > LONGEST_WAL)
            && let Some(connection) = &self.connection
        {
            // The log stays long where this fails; nothing is lost.
            let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            let noted = self
                .wal_frames()
                .and_then(|frames| self.wal.iter_mut().try_for_each(|wal| wal.note(frames)));
            if noted.is_err() {
                self.abandon();
            }
        }
    }

    /// Takes a write-ahead log out of the way that is not the one that was opened, or not whole any more.
    fn put_struck_wal_aside(&mut self) -> Result<()> {
        let struck = self.wal.as_mut().map(WatchedWal::check);
        let path = wal::beside(&self.file);
        if let Some(Err(Error::Place { .. } | Error::Damaged { .. })) = struck
            && path.exists()
        {
            let aside = move_aside(&path)?;
            self.notes.push(format!(
                "{} was replaced or cut short while it was open. What it held was written again; it is kept as {}.",
                path.display(),
                aside.display()
            ));
        }
        Ok(())
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.close();
    }
}

impl Store for Sqlite {
    fn project(&self) -> &str {
        &self.project
    }

    fn read(&mut self, after: u64) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        let read = self.each((after, None), |body, _, key| {
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
        });
        if read.is_err() {
            // What is damaged is left as it was found.
            self.tidy_on_close(false);
        }
        read.map(|_| records)
    }

    fn append(&mut self, records: &[(Record, Chain)]) -> Result<()> {
        let Head {
            seq,
            chain: mut link,
        } = self.head()?;
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
        let head = Head {
            seq: last.seq,
            chain: link,
        };
        self.write(Some(head), |change| {
            let mut insert = change.prepare("INSERT INTO log VALUES (?1, ?2, ?3, ?4)")?;
            for (record, body, link) in &rows {
                insert.execute(params![record.seq as i64, record.key, body, link])?;
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

    fn keep_leases(&mut self, leases: &[Lease]) -> Result<()> {
        self.write(None, |change| {
            change.execute("DELETE FROM lease", [])?;
            let mut insert = change.prepare("INSERT OR REPLACE INTO lease VALUES (?1, ?2, ?3)")?;
            for lease in leases {
                insert.execute(params![lease.item, lease.annotator, lease.until as i64])?;
            }
            Ok(())
        })
    }

    fn leases(&mut self) -> Result<Vec<Lease>> {
        all_leases(self.connection()?).map_err(|error| self.failed(error))
    }

    fn keep(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write(None, |change| {
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

    fn facts(&mut self) -> Result<Vec<(String, String)>> {
        all_facts(self.connection()?).map_err(|error| self.failed(error))
    }

    fn stored(&mut self, after: u64, most: u64) -> Result<Vec<Stored>> {
        let mut stored = Vec::new();
        self.each((after, Some(most)), |body, chain, key| {
            stored.push(Stored {
                key: key.map(str::to_string),
                body: body.to_string(),
                chain: *chain,
            });
            true
        })?;
        Ok(stored)
    }

    fn kept_names(&mut self) -> Result<Vec<String>> {
        all_kept_names(self.connection()?).map_err(|error| self.failed(error))
    }

    fn close(&mut self) {
        // Files that are no longer those we know are not written to.
        match self.check() {
            Ok(()) => self.connection = None,
            Err(_) => self.abandon(),
        }
    }

    fn reopen(&mut self, known: &Log) -> Result<()> {
        self.database.check()?;
        self.abandon();
        self.put_struck_wal_aside()?;
        let at_least = AtLeast::Known(known);
        let mut opened = opening::open(&self.file, self.journal, migrate::MIGRATIONS, at_least)?;
        if opened.project != self.project {
            let next = "Bring the right one back, or restore a backup, and start again.";
            return Err(Error::place(
                &self.file,
                "another project was put in its place",
                next,
            ));
        }
        opened.notes.append(&mut self.notes);
        *self = opened;
        Ok(())
    }

    fn check(&mut self) -> Result<()> {
        self.database.check()?;
        self.wal.iter_mut().try_for_each(WatchedWal::check)?;
        self.witness.iter().try_for_each(Witness::check)
    }
}

/// The key in a record, as it is stored.
fn key_of(body: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Keyed<'a> {
        #[serde(borrow, default)]
        key: Option<Cow<'a, str>>,
    }
    serde_json::from_str::<Keyed<'_>>(body).ok()?.key
}

fn all_facts(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let mut every = connection.prepare("SELECT name, value FROM about ORDER BY name")?;
    every
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

fn all_kept_names(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut every = connection.prepare("SELECT name FROM kept ORDER BY name")?;
    every.query_map([], |row| row.get(0))?.collect()
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
