//! The field kept up with the log: which columns each class is the sum of, and how a change of the log becomes a change
//! of the field.
//!
//! A class is the sum of its terms (a column times a weight) in the order of their events. In faithful precision it is
//! summed (`dense`); in certified precision, where local solves pay, it is pushed (`incremental`). Both have the bits of a
//! fresh replay after any change.

pub(crate) mod ledger;
pub(crate) mod dense;
pub(crate) mod incremental;

use std::borrow::Cow;
use std::sync::Arc;

use crate::belief::evidence::dense::Summed;
use crate::belief::evidence::incremental::Merged;
use crate::belief::evidence::ledger::Ledger;
use crate::belief::field::{DirichletField, Term};
use crate::control::Control;
use crate::error::Result;
use crate::ids::{ClassId, NodeId};
use crate::linalg::local::{Bound, Regime};
use crate::propagation::Propagation;

/// The field and what it is made of.
pub(crate) struct Evidence<'a> {
    propagation: Arc<dyn Propagation + 'a>,
    columns_kept: usize,
    kept: Kept<'a>,
}

enum Kept<'a> {
    Summed(Box<Summed<'a>>),
    Merged(Box<Merged<'a>>),
}

impl<'a> Evidence<'a> {
    /// No classes yet.
    pub(crate) fn new(
        propagation: Arc<dyn Propagation + 'a>,
        columns_kept: usize,
        prior_strength: f64,
    ) -> Evidence<'a> {
        let for_kept = Arc::clone(&propagation);
        let solving = propagation
            .local()
            .map(|local| local.solving(prior_strength));
        let kept = match solving.map(|solving| solving.regime) {
            Some(Regime::Local) => {
                let merged = Merged::new(for_kept, columns_kept, prior_strength);
                Kept::Merged(Box::new(merged))
            }
            _ => {
                let summed = Summed::new(for_kept, columns_kept, prior_strength);
                Kept::Summed(Box::new(summed))
            }
        };
        Evidence {
            propagation,
            columns_kept,
            kept,
        }
    }

    /// The classes, their terms, and the evidence where it is kept up.
    pub(crate) fn ledger(&self) -> &Ledger {
        match &self.kept {
            Kept::Summed(summed) => summed.ledger(),
            Kept::Merged(merged) => merged.ledger(),
        }
    }

    /// Whether a label changes the field at some nodes only.
    pub(crate) fn is_local(&self) -> bool {
        matches!(self.kept, Kept::Merged(_))
    }

    /// The nodes whose evidence changed since this was last asked; `None`: any may have.
    pub(crate) fn take_changed(&mut self) -> Option<Vec<NodeId>> {
        match &mut self.kept {
            Kept::Summed(_) => None,
            Kept::Merged(merged) => merged.take_changed(),
        }
    }

    /// The proven bound on the evidence for a class, where there is one.
    pub(crate) fn bound(&self, plane: usize) -> Option<Bound> {
        match &self.kept {
            Kept::Summed(summed) => {
                let weight = summed.ledger().terms[plane]
                    .iter()
                    .fold(0.0, |sum, (_, weight)| sum + weight);
                let label = self.propagation.local()?.global_bound();
                Some(Bound {
                    absolute: weight * label,
                    relative: 0.0,
                })
            }
            Kept::Merged(merged) => Some(merged.bound(plane)),
        }
    }

    /// Brings the field to these classes, terms and prior, or leaves it as it was.
    pub(crate) fn follow(
        &mut self,
        classes: &[ClassId],
        terms: &[Vec<Term>],
        prior_strength: f64,
        control: &Control,
    ) -> Result<()> {
        if self.ledger().field.prior_strength() != prior_strength
            && self.propagation.local().is_some()
        {
            // The tolerance follows the prior, and so do all bits.
            let mut other = Evidence::new(
                Arc::clone(&self.propagation),
                self.columns_kept,
                prior_strength,
            );
            other.follow(classes, terms, prior_strength, control)?;
            *self = other;
            return Ok(());
        }
        match &mut self.kept {
            Kept::Summed(summed) => summed.follow(classes, terms, prior_strength, control),
            Kept::Merged(merged) => merged.follow(classes, terms, control),
        }
    }

    /// Makes the column of a node ahead of its label.
    pub(crate) fn prepare(&mut self, node: NodeId, control: &Control) -> Result<()> {
        match &mut self.kept {
            Kept::Summed(summed) => summed.prepare(node, control),
            Kept::Merged(merged) => merged.prepare(node, control),
        }
    }

    /// The evidence everywhere, also where no local solve arrived.
    pub(crate) fn belief(&self, control: &Control) -> Result<Cow<'_, DirichletField>> {
        match &self.kept {
            Kept::Summed(summed) => Ok(Cow::Borrowed(&summed.ledger().field)),
            Kept::Merged(merged) => merged.belief(control).map(Cow::Owned),
        }
    }
}
