//! Names of things: nodes and classes by number, items by a permanent string.
//!
//! A node id is a row of the pool as it is now and stays inside the program. An item id is what the log and the user
//! see: it survives re-embedding and added rows. Class ids are permanent too: a renamed class keeps its id, a merged
//! class keeps it for the record.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A node of the graph: a row of the features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The row as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A class of the schema, permanent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClassId(pub u16);

impl ClassId {
    /// The class as an index.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The item ids of a pool, one per node; by default the row numbers.
#[derive(Clone, Debug)]
pub struct Items {
    n: usize,
    named: Option<Arc<Named>>,
}

/// Ids in the order of the nodes, and the way back. Shared: every session has the items.
#[derive(Debug)]
struct Named {
    ids: Vec<String>,
    index: HashMap<String, NodeId>,
}

impl Items {
    /// Items named by their row numbers `0..n`.
    ///
    /// # Panics
    /// If `n` exceeds the range of node ids (the graph refuses such a pool before).
    pub fn rows(n: usize) -> Items {
        assert!(
            u32::try_from(n).is_ok(),
            "{n} items exceed the range of node ids"
        );
        Items { n, named: None }
    }

    /// Items with the given ids, which must be distinct.
    pub fn named(ids: Vec<String>) -> Result<Items> {
        let mut index = HashMap::with_capacity(ids.len());
        for (row, id) in ids.iter().enumerate() {
            let node = NodeId(u32::try_from(row).map_err(|_| Error::TooManyItems(ids.len()))?);
            if let Some(first) = index.insert(id.clone(), node) {
                return Err(Error::DuplicateId {
                    id: id.clone(),
                    first: first.index(),
                    second: row,
                });
            }
        }
        Ok(Items {
            n: ids.len(),
            named: Some(Arc::new(Named { ids, index })),
        })
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The item id of a node.
    pub fn id(&self, node: NodeId) -> String {
        match &self.named {
            Some(named) => named.ids[node.index()].clone(),
            None => node.0.to_string(),
        }
    }

    /// The node of an item id.
    pub fn node(&self, id: &str) -> Result<NodeId> {
        let found = match &self.named {
            Some(named) => named.index.get(id).copied(),
            // Only the canonical spelling is an id: "07" is not row 7.
            None => id
                .parse::<u32>()
                .ok()
                .filter(|row| (*row as usize) < self.n && row.to_string() == id)
                .map(NodeId),
        };
        found.ok_or_else(|| Error::UnknownItem(id.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_numbers_are_ids_in_canonical_spelling_only() {
        let items = Items::rows(10);
        assert_eq!(items.node("7").unwrap(), NodeId(7));
        assert_eq!(items.id(NodeId(7)), "7");
        for bad in ["07", "+7", "10", "-1", "", "seven"] {
            assert_eq!(items.node(bad), Err(Error::UnknownItem(bad.to_string())));
        }
    }

    #[test]
    fn named_items_are_found_and_doubles_refused() {
        let items = Items::named(vec!["a".into(), "b".into()]).unwrap();
        assert_eq!(items.node("b").unwrap(), NodeId(1));
        let twice = Items::named(vec!["a".into(), "b".into(), "a".into()]);
        assert_eq!(
            twice.unwrap_err(),
            Error::DuplicateId {
                id: "a".into(),
                first: 0,
                second: 2
            }
        );
    }
}
