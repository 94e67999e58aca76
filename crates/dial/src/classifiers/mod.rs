//! Classifiers that score every class at every node from the labels alone.
//!
//! Simulations compare them with Dirichlet Learning; the methods themselves are in the crate
//! `dial-baselines`, but for the logistic regression (`logistic`).

pub mod logistic;

use rayon::prelude::*;

use crate::belief::field::Term;
use crate::control::Control;
use crate::error::Result;
use crate::ids::NodeId;

/// Nodes per task.
const NODES_PER_TASK: usize = 1024;

/// A function from labels to class scores.
pub trait Classifier: Send + Sync {
    /// The scores for the labels of every class.
    ///
    /// # Errors
    /// A system that does not converge (N10), or cancelled.
    fn scores(&self, labels: &[Vec<Term>], control: &Control) -> Result<ClassScores>;
}

/// The scores of every class at every node.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassScores {
    /// One plane per class.
    pub planes: Vec<Vec<f64>>,
}

impl ClassScores {
    /// The class of the largest score, ties to the smaller class.
    pub fn class(&self, node: NodeId) -> usize {
        let mut best = 0;
        for class in 1..self.planes.len() {
            if self.planes[class][node.index()] > self.planes[best][node.index()] {
                best = class;
            }
        }
        best
    }

    /// Writes a function of the scores of every node.
    pub fn map(&self, out: &mut [f64], score: impl Fn(&[f64]) -> f64 + Sync) {
        out.par_chunks_mut(NODES_PER_TASK)
            .enumerate()
            .for_each(|(chunk, out)| {
                let mut scores = vec![0.0; self.planes.len()];
                for (node, out) in (chunk * NODES_PER_TASK..).zip(out) {
                    scores
                        .iter_mut()
                        .zip(&self.planes)
                        .for_each(|(score, plane)| *score = plane[node]);
                    *out = score(&scores);
                }
            });
    }
}

/// The labelled nodes, ascending, each with its class weights scaled to sum 1.
pub struct Shares {
    /// Number of classes.
    pub n_classes: usize,
    /// The labelled nodes.
    pub nodes: Vec<NodeId>,
    /// The weights of all classes for each of the nodes.
    pub shares: Vec<Vec<f64>>,
}

impl Shares {
    /// The shares of the labels of every class.
    pub fn new(labels: &[Vec<Term>]) -> Shares {
        let mut nodes: Vec<NodeId> = labels.iter().flatten().map(|(node, _)| *node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut shares = vec![vec![0.0; labels.len()]; nodes.len()];
        for (class, terms) in labels.iter().enumerate() {
            for (node, weight) in terms {
                shares[nodes.binary_search(node).expect("it is among them")][class] += weight;
            }
        }
        for share in &mut shares {
            let total = share.iter().fold(0.0, |sum, s| sum + s);
            share.iter_mut().for_each(|s| *s /= total);
        }
        Shares {
            n_classes: labels.len(),
            nodes,
            shares,
        }
    }

    /// The mean label over some of the nodes.
    pub fn mean(&self, among: impl Fn(NodeId) -> bool) -> Vec<f64> {
        let mut mean = vec![0.0; self.n_classes];
        let mut count = 0.0;
        for (_, shares) in self
            .nodes
            .iter()
            .zip(&self.shares)
            .filter(|(node, _)| among(**node))
        {
            mean.iter_mut()
                .zip(shares)
                .for_each(|(mean, share)| *mean += share);
            count += 1.0;
        }
        mean.iter_mut().for_each(|mean| *mean /= count);
        mean
    }
}
