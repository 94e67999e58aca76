//! What people read: results, failures, tables.

pub(crate) mod browser;
pub(crate) mod terminal;
pub(crate) mod failure;
pub(crate) mod output;
pub(crate) mod names;
pub(crate) mod summary;
pub(crate) mod items;
#[cfg(feature = "research")]
pub(crate) mod outcomes;
pub(crate) mod maps;
