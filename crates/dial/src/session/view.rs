//! A copy of what a session believes at one moment, which can be read while the session goes on.
//!
//! ```text
//! prediction    class, probabilities, variance and evidence of a node, as the readout of the moment states them
//! settled       share of the pool that is labelled, or whose class has at least a given probability
//! overview      class, probability, evidence e as e/(1 + e), and variance of every node, in a byte or two each
//! leave_one_out for every labelled node: the probability of its label by all other labels, left out as in `calibration`
//! ```

use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;

use crate::belief::calibration::{Accuracy, Readout};
use crate::belief::field::{DirichletField, Term};
use crate::blocks::NODES_PER_CHUNK;
use crate::ids::{ClassId, NodeId};
use crate::propagation::Propagation;
use crate::session::question::Prediction;

/// A belief about every node.
pub struct View<'a> {
    pub(crate) propagation: Arc<dyn Propagation + 'a>,
    pub(crate) classes: Vec<ClassId>,
    pub(crate) field: DirichletField,
    pub(crate) terms: Vec<Vec<Term>>,
    pub(crate) readout: Readout,
    pub(crate) labelled: Vec<NodeId>,
    pub(crate) open: Vec<NodeId>,
}

/// What all the other labels say about a label.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaveOneOut {
    /// The labelled node.
    pub node: NodeId,
    /// The class it was given.
    pub label: ClassId,
    /// The class that the other labels predict.
    pub expected: ClassId,
    /// The probability of the class it was given, by the other labels.
    pub probability: f64,
    /// The probability of the class that the other labels predict.
    pub confidence: f64,
}

/// The belief about every node, compact enough to draw a million of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// The most probable class.
    pub classes: Vec<ClassId>,
    /// Its probability, 255 being 1.
    pub probability: Vec<u8>,
    /// The evidence e as e/(1 + e), 255 being 1.
    pub strength: Vec<u8>,
    /// The variance, 255 being the largest of the pool.
    pub variance: Vec<u8>,
}

impl View<'_> {
    /// The live classes, in the order of probabilities.
    pub fn classes(&self) -> &[ClassId] {
        &self.classes
    }

    /// Number of nodes.
    pub fn n(&self) -> usize {
        self.field.n()
    }

    /// The nodes with a label that counts, ascending.
    pub fn labelled(&self) -> &[NodeId] {
        &self.labelled
    }

    /// The nodes that may still be asked, ascending.
    pub fn open(&self) -> &[NodeId] {
        &self.open
    }

    /// The most probable class at a node.
    ///
    /// # Panics
    /// If the pool has no such node.
    pub fn class(&self, node: NodeId) -> ClassId {
        self.classes[self.readout.class(&self.field, node)]
    }

    /// The probability of the most probable class at a node.
    ///
    /// # Panics
    /// If the pool has no such node.
    pub fn confidence(&self, node: NodeId) -> f64 {
        self.readout.probabilities(&self.field, node)[self.readout.class(&self.field, node)]
    }

    /// The probability of every class at a node.
    ///
    /// # Panics
    /// If the pool has no such node.
    pub fn probabilities(&self, node: NodeId) -> Vec<f64> {
        self.readout.probabilities(&self.field, node)
    }

    /// α of every class at a node, class-balanced if calibration is on.
    ///
    /// # Panics
    /// If the pool has no such node.
    pub fn alpha(&self, node: NodeId) -> Vec<f64> {
        self.readout.alpha(&self.field, node)
    }

    /// The evidence at a node, all classes together, without the prior.
    ///
    /// # Panics
    /// If the pool has no such node.
    pub fn evidence(&self, node: NodeId) -> f64 {
        self.readout
            .evidence(&self.field, node)
            .iter()
            .fold(0.0, |sum, evidence| sum + evidence)
    }

    /// The belief about every node at once, in parallel.
    pub fn overview(&self) -> Overview {
        let one = |node: u32| {
            let (node, byte) = (NodeId(node), |share: f64| (255.0 * share).round() as u8);
            let evidence = self.evidence(node);
            let class = self.readout.class(&self.field, node);
            let probability = self.readout.probabilities(&self.field, node)[class];
            (
                self.classes[class],
                byte(probability),
                byte(evidence / (1.0 + evidence)),
                self.readout.variance(&self.field, node),
            )
        };
        let found: Vec<_> = (0..self.n() as u32)
            .into_par_iter()
            .with_min_len(NODES_PER_CHUNK)
            .map(one)
            .collect();
        let largest = found
            .iter()
            .fold(f64::MIN_POSITIVE, |largest, (_, _, _, variance)| {
                variance.max(largest)
            });
        Overview {
            classes: found.iter().map(|(class, ..)| *class).collect(),
            probability: found
                .iter()
                .map(|(_, probability, ..)| *probability)
                .collect(),
            strength: found.iter().map(|(_, _, strength, _)| *strength).collect(),
            variance: found
                .iter()
                .map(|(.., variance)| (255.0 * variance / largest).round() as u8)
                .collect(),
        }
    }

    /// The classes that have a label.
    pub fn met(&self) -> usize {
        self.terms.iter().filter(|terms| !terms.is_empty()).count()
    }

    /// What is believed about a node.
    ///
    /// # Panics
    /// If the pool has no such node.
    pub fn prediction(&self, node: NodeId) -> Prediction {
        Prediction {
            class: self.class(node),
            probabilities: self.probabilities(node),
            variance: self.readout.variance(&self.field, node),
            evidence: self.evidence(node),
            reached: self
                .labelled
                .iter()
                .any(|&source| self.propagation.reaches(source, node)),
            error: None,
        }
    }

    /// The share of the pool that is labelled or whose class has at least this probability.
    pub fn settled(&self, level: f64) -> f64 {
        let sure = |node: &&NodeId| {
            self.readout
                .probabilities(&self.field, **node)
                .into_iter()
                .any(|p| p >= level)
        };
        let open = self
            .open
            .par_iter()
            .with_min_len(NODES_PER_CHUNK)
            .filter(sure)
            .count();
        (self.labelled.len() + open) as f64 / (self.labelled.len() + self.open.len()).max(1) as f64
    }

    /// The accuracy to expect on the nodes that may still be asked ([`Readout::accuracy`]).
    pub fn accuracy(&self) -> Option<Accuracy> {
        self.readout.accuracy(&self.field, &self.open)
    }

    /// Every label against all the others, the least probable first. A label that is the only one of its class is left out:
    /// nothing predicts it.
    pub fn leave_one_out(&self) -> Vec<LeaveOneOut> {
        let left_out =
            self.readout
                .left_out(&self.field, &self.terms, self.propagation.source_value());
        let one = |(node, label, probabilities): (NodeId, usize, Vec<f64>)| {
            let best = (0..probabilities.len())
                .max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
            let best = best.unwrap_or(label);
            let (probability, confidence) = (probabilities[label], probabilities[best]);
            LeaveOneOut {
                node,
                label: self.classes[label],
                expected: self.classes[best],
                probability,
                confidence,
            }
        };
        let mut all: Vec<LeaveOneOut> = left_out.into_iter().map(one).collect();
        all.sort_by(|a, b| {
            a.probability
                .total_cmp(&b.probability)
                .then(a.node.cmp(&b.node))
        });
        all
    }

    /// The labels that the others contradict, the least probable first, of each item one. Of a label shared between
    /// classes only its largest share counts: the smaller ones express a doubt of the annotator. Where the class that the
    /// others predict has as large a share itself, nothing is contradicted.
    pub fn suspects(&self) -> Vec<LeaveOneOut> {
        let share = |node: NodeId, plane: usize| -> f64 {
            let of_node = self.terms[plane].iter().filter(|(other, _)| *other == node);
            of_node.fold(0.0, |sum, (_, weight)| sum + weight)
        };
        let mut suspects = self.leave_one_out();
        suspects.retain(|one| one.label != one.expected);
        suspects.retain(|one| {
            let of = |class: ClassId| {
                let plane = self.classes.iter().position(|other| *other == class);
                plane.map_or(0.0, |plane| share(one.node, plane))
            };
            let own = of(one.label);
            (0..self.classes.len()).all(|plane| share(one.node, plane) <= own)
                && of(one.expected) < own
        });
        let mut seen = HashSet::new();
        suspects.retain(|one| seen.insert(one.node));
        suspects
    }
}
