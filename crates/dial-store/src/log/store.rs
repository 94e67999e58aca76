//! Where a log is kept: one trait, implemented by SQLite on disk and by memory for tests.
//!
//! A store knows nothing of labels. It keeps records in order, each once. What it promises:
//!
//! - `append` is one transaction: all records or none, and they survive a power cut once it has returned. It refuses
//!   records that do not continue the log exactly (`Moved`), so that two writers cannot both be right: the loser reads
//!   on and tries again. That is how several servers could share one database.
//! - nothing is changed or deleted but leases and what was `keep`t, which is a cache.

use crate::error::Result;
use crate::log::Log;
use crate::log::record::{Chain, Record};

/// A log on some medium.
pub trait Store: Send {
    /// The id of the project.
    fn project(&self) -> &str;

    /// The records after a place, in order, checked against the chain.
    fn read(&mut self, after: u64) -> Result<Vec<Record>>;

    /// Appends records, each with its link.
    fn append(&mut self, records: &[(Record, Chain)]) -> Result<()>;

    /// Keeps these leases in place of those kept before.
    fn keep_leases(&mut self, leases: &[Lease]) -> Result<()>;

    /// The leases that were kept, those that are over included.
    fn leases(&mut self) -> Result<Vec<Lease>>;

    /// Keeps bytes under a name, in place of what was there: a cache, which may be lost.
    fn keep(&mut self, name: &str, bytes: &[u8]) -> Result<()>;

    /// What was kept under a name.
    fn kept(&mut self, name: &str) -> Result<Option<Vec<u8>>>;

    /// What a database says about itself: names and values, written once. Only a store on disk can be copied.
    fn facts(&mut self) -> Result<Vec<(String, String)>>;

    /// The records after a place, at most so many, as they are stored.
    fn stored(&mut self, after: u64, most: u64) -> Result<Vec<Stored>>;

    /// The names under which something is kept.
    fn kept_names(&mut self) -> Result<Vec<String>>;

    /// Closes everything in order; what comes after fails.
    fn close(&mut self);

    /// After a failed write, or when a file was deleted or replaced: closes everything, opens it again and checks it. What
    /// is missing of the log that was acknowledged is put back.
    fn reopen(&mut self, known: &Log) -> Result<()>;

    /// Whether all files are still those that were opened.
    fn check(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A record as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The key of the submission that begins with it.
    pub key: Option<String>,
    /// The record, as JSON.
    pub body: String,
    /// Its link.
    pub chain: Chain,
}

/// An item that somebody is looking at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The item.
    pub item: String,
    /// Who looks at it.
    pub annotator: String,
    /// Until when, in milliseconds since 1970.
    pub until: u64,
}

impl Lease {
    /// Whether it holds. One that would hold for longer than leases last was written by a clock that went wrong.
    pub fn is_live(&self, now: u64, length: u64) -> bool {
        now < self.until && self.until <= now + length
    }
}
