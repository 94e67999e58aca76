//! A store in memory: what the others are compared with, and what a tour needs.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{Error, Result};
use crate::log::Log;
use crate::log::record::{Chain, Record, first_link, next_link};
use crate::log::store::{Lease, Store, Stored};

/// A log that is gone with the process.
#[derive(Clone, Debug)]
pub struct Memory {
    project: String,
    records: Vec<Record>,
    head: Chain,
    leases: Vec<Lease>,
    kept: BTreeMap<String, Vec<u8>>,
}

impl Memory {
    /// An empty log.
    pub fn new(project: &str) -> Memory {
        let head = first_link(project);
        Memory {
            project: project.into(),
            records: Vec::new(),
            head,
            leases: Vec::new(),
            kept: BTreeMap::new(),
        }
    }
}

impl Store for Memory {
    fn project(&self) -> &str {
        &self.project
    }

    fn read(&mut self, after: u64) -> Result<Vec<Record>> {
        Ok(self.records.iter().skip(after as usize).cloned().collect())
    }

    fn append(&mut self, records: &[(Record, Chain)]) -> Result<()> {
        let mut head = self.head;
        for (place, (record, link)) in records.iter().enumerate() {
            head = next_link(&head, &record.body());
            if record.seq != (self.records.len() + place + 1) as u64 || head != *link {
                return Err(Error::Moved);
            }
        }
        self.head = head;
        (self.records).extend(records.iter().map(|(record, _)| record.clone()));
        Ok(())
    }

    fn keep_leases(&mut self, leases: &[Lease]) -> Result<()> {
        self.leases = leases.to_vec();
        Ok(())
    }

    fn leases(&mut self) -> Result<Vec<Lease>> {
        Ok(self.leases.clone())
    }

    fn keep(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.kept.insert(name.into(), bytes.into());
        Ok(())
    }

    fn kept(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.kept.get(name).cloned())
    }

    fn facts(&mut self) -> Result<Vec<(String, String)>> {
        Err(no_backup())
    }

    fn stored(&mut self, _: u64, _: u64) -> Result<Vec<Stored>> {
        Err(no_backup())
    }

    fn kept_names(&mut self) -> Result<Vec<String>> {
        Ok(self.kept.keys().cloned().collect())
    }

    fn close(&mut self) {}

    fn reopen(&mut self, _: &Log) -> Result<()> {
        Ok(())
    }
}

fn no_backup() -> Error {
    let place = Path::new("a project in memory");
    Error::place(place, "has no backup", "Make a project on disk.")
}
