//! Logistic regression on the features, the "linear probe" that is hard to beat on good features.
//!
//! ```text
//! u(x) = softmax(f(x)) over the classes with labels; 0 for those without, 1/K before the first label
//! ```
//!
//! with f from `opinion::logistic`: scikit-learn's multinomial `LogisticRegression` with its default C = 1, and
//! `StandardScaler` before it: coordinates of mean 0 and variance 1 over the whole pool, labelled or not. Nothing is kept
//! between calls. Cost for all scores: O(n d K) beside the fit.

use rayon::prelude::*;

use crate::classifiers::Shares;
use crate::ids::NodeId;
use crate::knn::points::Points;
use crate::opinion::logistic::{fit, softmax};

/// Points per task.
const POINTS_PER_TASK: usize = 64;

/// Logistic regression on standardised points.
pub struct Logistic {
    points: Points,
}

impl Logistic {
    /// On points that are standardised already.
    pub fn new(points: Points) -> Logistic {
        Logistic { points }
    }

    /// The probabilities of every class at every point.
    pub fn scores(&self, given: &Shares) -> Vec<Vec<f64>> {
        let (n, k) = (self.points.n(), given.n_classes);
        let present: Vec<usize> = (0..k)
            .filter(|&c| given.shares.iter().any(|shares| shares[c] > 0.0))
            .collect();
        if present.is_empty() {
            return vec![vec![1.0 / k as f64; n]; k];
        }
        let width = present.len();
        let (weights, intercepts) = self.fit(given, &present);
        let mut all = vec![0.0; n * width];
        all.par_chunks_mut(POINTS_PER_TASK * width)
            .enumerate()
            .for_each(|(chunk, out)| {
                for (i, out) in (chunk * POINTS_PER_TASK..).zip(out.chunks_exact_mut(width)) {
                    out.copy_from_slice(&intercepts);
                    for (x, weights) in self.points.row(i).iter().zip(weights.chunks_exact(width)) {
                        out.iter_mut()
                            .zip(weights)
                            .for_each(|(sum, w)| *sum += x * w);
                    }
                    softmax(out);
                }
            });
        let mut planes = vec![vec![0.0; n]; k];
        for (place, &class) in present.iter().enumerate() {
            planes[class]
                .iter_mut()
                .enumerate()
                .for_each(|(i, p)| *p = all[i * width + place]);
        }
        planes
    }

    fn fit(&self, given: &Shares, present: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let row = |node: &NodeId| self.points.row(node.index());
        let rows: Vec<&[f64]> = given.nodes.iter().map(row).collect();
        let share = |shares: &Vec<f64>| present.iter().map(|&class| shares[class]).collect();
        fit(&rows, given.shares.iter().map(share).collect())
    }
}
