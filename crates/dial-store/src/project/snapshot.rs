//! The state of a project at one moment, to be read for as long as it takes while the project goes on changing.

use std::collections::HashSet;
use std::sync::Arc;

use crate::log::Log;
use crate::project::folder::Folder;

/// The state of a project at one moment. A copy costs nothing: the log is shared.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) folder: Option<Arc<Folder>>,
    pub(crate) id: Arc<str>,
    pub(crate) log: Arc<Log>,
    pub(crate) items: Arc<Items>,
    pub(crate) trouble: Option<Arc<str>>,
}

impl Snapshot {
    /// Where the project lies.
    pub fn folder(&self) -> Option<&Folder> {
        self.folder.as_deref()
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its log.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Whether the pool has an item.
    pub fn has_item(&self, item: &str) -> bool {
        self.items.has(item)
    }

    /// What keeps labels from being stored, as far as it is known.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }
}

/// The ids of the items.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Items {
    Rows(usize),
    Named(HashSet<String>),
}

impl Items {
    pub(crate) fn has(&self, item: &str) -> bool {
        match self {
            Items::Rows(n) => item
                .parse::<usize>()
                .is_ok_and(|row| row < *n && row.to_string() == item),
            Items::Named(ids) => ids.contains(item),
        }
    }
}
