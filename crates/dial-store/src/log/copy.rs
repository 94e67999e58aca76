//! The database of a backup, written slice by slice while the log that it is made of goes on.
//!
//! It is a plain file at its end: no log of SQLite beside it, no witness. Nothing of it counts before all of it was checked and
//! synced as a whole, so nothing is synced on the way.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};

use crate::error::{Error, Result};
use crate::log::connection::APPLICATION;
use crate::log::migrate;
use crate::log::store::{Lease, Stored};
use crate::log::witness::Head;
use crate::project::folder::private_file;

/// So much of an unfinished copy is held in memory, in KiB: the index of keys is written at random.
const CACHE: i64 = 16 << 10;

/// A database in the making.
#[derive(Debug)]
pub(crate) struct CopyWriter {
    connection: Connection,
    written: u64,
}

impl CopyWriter {
    /// A new file; it must not be there.
    pub(crate) fn create(
        file: &Path,
        facts: &[(String, String)],
        leases: &[Lease],
    ) -> Result<CopyWriter> {
        private_file(file).map_err(|error| Error::io(file, &error))?;
        let create = || {
            let mut connection =
                Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            connection.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))?;
            connection.pragma_update(None, "synchronous", "OFF")?;
            connection.pragma_update(None, "cache_size", -CACHE)?;
            let change = connection.transaction()?;
            change.pragma_update(None, "application_id", APPLICATION)?;
            migrate::create(&change)?;
            change.commit()?;
            // One transaction to the end: what is written twice within it reaches the file once.
            connection.execute_batch("BEGIN IMMEDIATE")?;
            for (name, value) in facts {
                connection.execute("INSERT INTO about VALUES (?1, ?2)", [name, value])?;
            }
            for Lease {
                item,
                annotator,
                until,
            } in leases
            {
                let lease = params![item, annotator, *until as i64];
                connection.execute("INSERT INTO lease VALUES (?1, ?2, ?3)", lease)?;
            }
            Ok(CopyWriter {
                connection,
                written: 0,
            })
        };
        create().map_err(|error: rusqlite::Error| Error::sqlite(file, &error))
    }

    /// How many records it holds.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// The records that come next.
    pub(crate) fn add(&mut self, records: &[Stored]) -> rusqlite::Result<()> {
        let mut insert = self
            .connection
            .prepare("INSERT INTO log VALUES (?1, ?2, ?3, ?4)")?;
        for Stored { key, body, chain } in records {
            insert.execute(params![self.written as i64 + 1, key, body, chain])?;
            self.written += 1;
        }
        Ok(())
    }

    /// What was kept under a name.
    pub(crate) fn keep(&mut self, name: &str, bytes: &[u8]) -> rusqlite::Result<()> {
        let keep = "INSERT INTO kept VALUES (?1, ?2)";
        self.connection
            .execute(keep, params![name, bytes])
            .map(drop)
    }

    /// Ends it where the log was to end.
    pub(crate) fn close(self, head: Head) -> rusqlite::Result<()> {
        let ended = params![head.seq as i64, head.chain];
        self.connection
            .execute("INSERT INTO head VALUES (?1, ?2)", ended)?;
        self.connection.execute_batch("COMMIT")?;
        self.connection.close().map_err(|(_, error)| error)
    }
}
