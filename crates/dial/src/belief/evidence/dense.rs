//! The classes as sums of whole columns: faithful precision.
//!
//! A class is the sum of its terms (a column times a weight) in the order of their events. When the terms change, the
//! part before the first difference still stands: if that is all of the old terms, the new ones are added; otherwise the
//! class is summed again from the last checkpoint inside the common beginning, or from zero. A checkpoint is a copy of the
//! class after every 32nd term; the last four are kept. Either way the sum has the bits of a fresh replay, and nothing
//! is ever subtracted.
//!
//! Columns are a cache: the newest are kept, the others are made again when they are needed. A change that needs many
//! columns takes them a block at a time and works on a copy of the field, so memory stays bounded and a failure leaves
//! everything as it was.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::belief::evidence::ledger::{ColumnCache, Ledger};
use crate::belief::field::Term;
use crate::control::Control;
use crate::error::Result;
use crate::ids::{ClassId, NodeId};
use crate::propagation::{Column, Propagation};

/// The field and what it is made of.
pub(crate) struct Summed<'a> {
    propagation: Arc<dyn Propagation + 'a>,
    cache: ColumnCache<Column>,
    sums: Sums,
}

/// The classes as sums of terms.
#[derive(Clone)]
struct Sums {
    ledger: Ledger,
    checkpoints: Vec<VecDeque<Checkpoint>>,
}

/// A class after its first `count` terms.
#[derive(Clone)]
struct Checkpoint {
    count: usize,
    plane: Vec<f64>,
}

/// Terms between checkpoints, and how many checkpoints a class keeps.
const TERMS_PER_CHECKPOINT: usize = 32;
const MAX_CHECKPOINTS: usize = 4;

/// Columns that are solved at a time.
const COLUMNS_PER_SOLVE: usize = 64;

impl<'a> Summed<'a> {
    /// No classes yet.
    pub(crate) fn new(
        propagation: Arc<dyn Propagation + 'a>,
        columns_kept: usize,
        prior_strength: f64,
    ) -> Summed<'a> {
        let sums = Sums {
            ledger: Ledger::new(propagation.n(), prior_strength),
            checkpoints: Vec::new(),
        };
        Summed {
            propagation,
            cache: ColumnCache::new(columns_kept),
            sums,
        }
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.sums.ledger
    }

    /// Brings the field to these classes, terms and prior, or leaves it as it was.
    pub(crate) fn follow(
        &mut self,
        classes: &[ClassId],
        terms: &[Vec<Term>],
        prior_strength: f64,
        control: &Control,
    ) -> Result<()> {
        let same_classes = classes.starts_with(&self.sums.ledger.classes);
        let summed = |plane: usize| {
            if same_classes {
                self.sums.summed(plane, &terms[plane])
            } else {
                0
            }
        };
        let summed: Vec<usize> = (0..classes.len()).map(summed).collect();
        let pending: Vec<Term> = terms
            .iter()
            .zip(&summed)
            .flat_map(|(t, &from)| t[from..].to_vec())
            .collect();
        let make = |missing: &[NodeId]| self.propagation.columns(missing, control);
        if pending.len() <= COLUMNS_PER_SOLVE {
            // Once the columns are solved nothing can fail, and the field is changed in place.
            self.cache.fetch(&pending, make)?;
            self.sums
                .update(classes, terms, &summed, |sums, plane, block| {
                    sums.add(plane, block, &self.cache);
                    Ok(())
                })?;
        } else {
            let mut sums = self.sums.clone();
            sums.update(classes, terms, &summed, |sums, plane, block| {
                self.cache.fetch(block, make)?;
                sums.add(plane, block, &self.cache);
                self.cache.trim();
                Ok(())
            })?;
            self.sums = sums;
        }
        self.sums.ledger.field.set_prior_strength(prior_strength);
        self.cache.trim();
        Ok(())
    }

    /// Makes the column of a node, ahead of its label.
    pub(crate) fn prepare(&mut self, node: NodeId, control: &Control) -> Result<()> {
        let make = |missing: &[NodeId]| self.propagation.columns(missing, control);
        self.cache.fetch(&[(node, 1.0)], make)?;
        self.cache.trim();
        Ok(())
    }
}

impl Sums {
    /// How many of the new terms of a class are summed already, as it stands or up to a checkpoint.
    fn summed(&self, plane: usize, terms: &[Term]) -> usize {
        let Some(old) = self.ledger.terms.get(plane) else {
            return 0;
        };
        let common = self.ledger.common(plane, terms);
        if common == old.len() {
            return common;
        }
        self.checkpoints[plane]
            .iter()
            .map(|point| point.count)
            .filter(|&count| count <= common)
            .max()
            .unwrap_or(0)
    }

    /// Takes every class from where it stands to its new terms; `add` is called with blocks of terms, in order.
    fn update(
        &mut self,
        classes: &[ClassId],
        terms: &[Vec<Term>],
        summed: &[usize],
        mut add: impl FnMut(&mut Sums, usize, &[Term]) -> Result<()>,
    ) -> Result<()> {
        self.ledger.resize(classes);
        self.checkpoints.resize(classes.len(), VecDeque::new());
        for (plane, (terms, &from)) in terms.iter().zip(summed).enumerate() {
            self.restore(plane, from);
            // Blocks end where checkpoints are due.
            let mut done = from;
            while done < terms.len() {
                let end = terms
                    .len()
                    .min((done / TERMS_PER_CHECKPOINT + 1) * TERMS_PER_CHECKPOINT);
                add(self, plane, &terms[done..end])?;
                done = end;
                if done % TERMS_PER_CHECKPOINT == 0 {
                    self.remember(plane, done);
                }
            }
        }
        self.ledger.terms = terms.to_vec();
        Ok(())
    }

    /// Puts a class back to its first `count` terms, which is where it is, a checkpoint, or nothing.
    fn restore(&mut self, plane: usize, count: usize) {
        if count == self.ledger.terms[plane].len() {
            return;
        }
        self.checkpoints[plane].retain(|point| point.count <= count);
        match self.checkpoints[plane].back() {
            Some(point) if count > 0 => self.ledger.field.set(plane, &point.plane),
            _ => self.ledger.field.clear(plane),
        }
    }

    /// Keeps a copy of a class, in the room of the oldest if there are enough.
    fn remember(&mut self, plane: usize, count: usize) {
        let points = &mut self.checkpoints[plane];
        let mut point = match points.len() {
            MAX_CHECKPOINTS => points.pop_front().expect("there are some"),
            _ => Checkpoint {
                count: 0,
                plane: Vec::new(),
            },
        };
        point.count = count;
        point.plane.clear();
        point
            .plane
            .extend_from_slice(self.ledger.field.plane(plane));
        points.push_back(point);
    }

    fn add(&mut self, plane: usize, terms: &[Term], cache: &ColumnCache<Column>) {
        for &(node, weight) in terms {
            self.ledger.field.add(plane, weight, cache.column(node));
        }
    }
}
