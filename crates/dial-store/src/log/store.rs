//! Where a log is kept: one trait, implemented by SQLite on disk and by memory for tests.
//!
//! A store knows nothing of labels. It keeps records in order, each once, and hands out leases. What it promises:
//!
//! - `append` is one transaction: all records or none, and they survive a power cut once it has returned. It refuses
//!   records that do not continue the log exactly (`Moved`), so that two writers cannot both be right: the loser reads
//!   on and tries again. That is how several servers could share one database.
//! - `lease` picks and writes in one transaction: no item goes to more people than wanted.
//! - nothing is changed or deleted but leases and what was `keep`t, which is a cache.

use std::path::Path;

use crate::error::Result;
use crate::log::record::{Chain, Record};

/// A log on some medium.
pub trait Store: Send {
    /// The id of the project.
    fn project(&self) -> &str;

    /// The records after a place, in order, checked against the chain.
    fn read(&mut self, after: u64) -> Result<Vec<Record>>;

    /// Appends records, each with its link, and ends the leases of the answers among them.
    fn append(&mut self, records: &[(Record, Chain)]) -> Result<()>;

    /// Leases the first of these items that may be had; one that the annotator has already is leased anew. What is over
    /// is forgotten.
    fn lease(&mut self, wanted: &Wanted<'_>) -> Result<Option<Lease>>;

    /// All leases, those that are over included.
    fn leases(&mut self) -> Result<Vec<Lease>>;

    /// Keeps bytes under a name, in place of what was there: a cache, which may be lost.
    fn keep(&mut self, name: &str, bytes: &[u8]) -> Result<()>;

    /// What was kept under a name.
    fn kept(&mut self, name: &str) -> Result<Option<Vec<u8>>>;

    /// A copy of everything in a new file, which is whole if this succeeds.
    fn copy_to(&mut self, file: &Path) -> Result<()>;

    /// Closes everything in order; what comes after fails.
    fn close(&mut self);

    /// After a failed write: closes everything, opens it again and checks it.
    fn reopen(&mut self) -> Result<()>;
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

/// A wish for an item.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Items to choose from, the best first, each with how many more people may look at it.
    pub items: &'a [(String, usize)],
    /// Who asks.
    pub annotator: &'a str,
    /// The time.
    pub now: u64,
    /// For how long, in milliseconds.
    pub length: u64,
}

impl Wanted<'_> {
    /// The item to be leased, given the leases there are.
    pub(crate) fn choose(&self, leases: &[Lease]) -> Option<Lease> {
        let live: Vec<&Lease> = leases
            .iter()
            .filter(|lease| lease.is_live(self.now, self.length))
            .collect();
        let free = |(item, room): &&(String, usize)| {
            let others = live
                .iter()
                .filter(|lease| lease.item == *item && lease.annotator != self.annotator);
            others.count() < *room
        };
        let item = &self.items.iter().find(free)?.0;
        Some(Lease {
            item: item.clone(),
            annotator: self.annotator.into(),
            until: self.now + self.length,
        })
    }
}
