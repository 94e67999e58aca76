//! What both keepers of evidence hold (`dense`, `incremental`): which terms every class is made of, the field that this gives, and
//! the newest columns.

use std::collections::{HashMap, VecDeque};

use crate::belief::field::{DirichletField, Term};
use crate::error::Result;
use crate::ids::{ClassId, NodeId};

/// The classes, their terms in the order of their events, and the evidence these add up to.
#[derive(Clone)]
pub(crate) struct Ledger {
    pub(crate) field: DirichletField,
    pub(crate) classes: Vec<ClassId>,
    pub(crate) terms: Vec<Vec<Term>>,
}

impl Ledger {
    /// No classes yet.
    pub(crate) fn new(n: usize, prior_strength: f64) -> Ledger {
        Ledger {
            field: DirichletField::new(n, 0, prior_strength),
            classes: Vec::new(),
            terms: Vec::new(),
        }
    }

    /// Makes room for these classes; those that are new have no terms.
    pub(crate) fn resize(&mut self, classes: &[ClassId]) {
        self.field.resize_classes(classes.len());
        self.terms.resize(classes.len(), Vec::new());
        self.classes = classes.to_vec();
    }

    /// How many terms of a class are the first of these, too.
    pub(crate) fn common(&self, plane: usize, terms: &[Term]) -> usize {
        let pairs = self.terms[plane].iter().zip(terms);
        pairs.take_while(|(old, new)| old == new).count()
    }
}

/// Columns in memory, oldest first. They are a cache: what was dropped is made again when it is needed, with the same bits.
pub(crate) struct ColumnCache<C> {
    columns: HashMap<NodeId, C>,
    made: VecDeque<NodeId>,
    kept: usize,
}

impl<C> ColumnCache<C> {
    /// A ledger that keeps at most this many columns, and at least the one that was prepared.
    pub(crate) fn new(kept: usize) -> ColumnCache<C> {
        ColumnCache {
            columns: HashMap::new(),
            made: VecDeque::new(),
            kept: kept.max(1),
        }
    }

    /// The column of a node, which was fetched.
    pub(crate) fn column(&self, node: NodeId) -> &C {
        &self.columns[&node]
    }

    /// Makes the columns of these terms that are not there.
    pub(crate) fn fetch(
        &mut self,
        terms: &[Term],
        make: impl FnOnce(&[NodeId]) -> Result<Vec<C>>,
    ) -> Result<()> {
        let mut missing: Vec<NodeId> = terms.iter().map(|&(node, _)| node).collect();
        missing.sort_unstable();
        missing.dedup();
        missing.retain(|node| !self.columns.contains_key(node));
        let columns = make(&missing)?;
        self.made.extend(&missing);
        self.columns.extend(missing.into_iter().zip(columns));
        Ok(())
    }

    /// Drops the oldest columns beyond the number to keep.
    pub(crate) fn trim(&mut self) {
        while self.made.len() > self.kept {
            self.made.pop_front().map(|node| self.columns.remove(&node));
        }
    }
}
