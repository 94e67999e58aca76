//! What a session believed at one moment, as data of its own: it can be read while the session goes on.
//!
//! ```text
//! prediction    class, probabilities, variance and evidence of a node, as the reader of the moment states them
//! settled       share of the pool that is labelled, or whose class has at least a given probability
//! odds          for every labelled node: the probability of its label by all other labels, left out like in `reader`
//! ```

use std::sync::Arc;

use crate::field::{DirichletField, Term, variance};
use crate::ids::{ClassId, NodeId};
use crate::propagate::Propagation;
use crate::reader::{Accuracy, Reader};
use crate::setting::Prediction;

/// A belief about every node.
pub struct View<'a> {
    pub(crate) kernel: Arc<dyn Propagation + 'a>,
    pub(crate) classes: Vec<ClassId>,
    pub(crate) field: DirichletField,
    pub(crate) terms: Vec<Vec<Term>>,
    pub(crate) reader: Reader,
    pub(crate) labelled: Vec<NodeId>,
    pub(crate) open: Vec<NodeId>,
}

/// How a label stands to all the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Odds {
    /// The labelled node.
    pub node: NodeId,
    /// The class it was given.
    pub told: ClassId,
    /// The class that the other labels foretell.
    pub foretold: ClassId,
    /// The probability of the class it was given, by the other labels.
    pub probability: f64,
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
        self.classes[self.reader.class(&self.field, node)]
    }

    /// What is believed about a node.
    ///
    /// # Panics
    /// If the pool has no such node.
    pub fn prediction(&self, node: NodeId) -> Prediction {
        let evidence = self.reader.evidence(&self.field, node);
        Prediction {
            class: self.class(node),
            probabilities: self.reader.probabilities(&self.field, node),
            variance: variance(&self.reader.alpha(&self.field, node)),
            evidence: evidence.iter().fold(0.0, |sum, evidence| sum + evidence),
            reached: self.labelled.iter().any(|&source| self.kernel.reaches(source, node)),
            error: None,
        }
    }

    /// The share of the pool that is labelled or whose class has at least this probability.
    pub fn settled(&self, level: f64) -> f64 {
        let sure = |node: &&NodeId| self.reader.probabilities(&self.field, **node).into_iter().any(|p| p >= level);
        let open = self.open.iter().filter(sure).count();
        (self.labelled.len() + open) as f64 / (self.labelled.len() + self.open.len()).max(1) as f64
    }

    /// The accuracy to expect on the nodes that may still be asked ([`Reader::accuracy`]).
    pub fn accuracy(&self) -> Option<Accuracy> {
        self.reader.accuracy(&self.field, &self.open)
    }

    /// Every label against all the others, the least probable first. A label that is the only one of its class is left out:
    /// nothing foretells it.
    pub fn odds(&self) -> Vec<Odds> {
        let left_out = self.reader.left_out(&self.field, &self.terms, self.kernel.source_value());
        let odds = |(node, told, probabilities): (NodeId, usize, Vec<f64>)| {
            let best = (0..probabilities.len()).max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
            let foretold = self.classes[best.unwrap_or(told)];
            Odds { node, told: self.classes[told], foretold, probability: probabilities[told] }
        };
        let mut all: Vec<Odds> = left_out.into_iter().map(odds).collect();
        all.sort_by(|a, b| a.probability.total_cmp(&b.probability).then(a.node.cmp(&b.node)));
        all
    }
}
