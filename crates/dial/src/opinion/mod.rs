//! A second opinion about every item, from its features alone: what the graph does not know.
//!
//! ```text
//! f_c(x) = w_c·z(x) + b_c                       ridge logistic regression (`logistic`) on principal components (`components`)
//! ln q_c(x) = max(f_c(x) - max f(x), -7)        its log-probabilities up to a constant
//! ```
//!
//! `belief::calibration` joins q with the evidence of the graph as a product, whose exponents come from labels left out.
//!
//! The fit depends on the live labels alone: it starts from 0, and is made again when the number of labelled items
//! reaches 1, 2, ..., 50, 53, 56, ... (5 % more each time) from so many labels, the first in the order of the log. So a
//! replay of a log has the bits that were had when it was written. The number of coordinates grows with the labels, one
//! for each six, but at least 16: few labels tell little about many directions.
//!
//! To judge q, every label is also predicted by a fit without it: the labels are dealt into folds in their order (ten; five
//! from 200 labels on), and q of a label is that of all other folds. A label that came after the fit was left out of it
//! anyway.
//!
//! Cost: 6 or 11 fits (`logistic`) at each of these counts; O(r K) to read a node.

pub mod components;
pub mod logistic;

use std::sync::Arc;

use crate::ids::NodeId;
use crate::opinion::components::{Components, SCALED_BY};

/// q is never less than e to this, relative to the most probable class.
const LEAST: f64 = -7.0;
/// Every label up to this many brings a new fit.
const EVERY_LABEL: usize = 50;
/// Labels for each coordinate.
const LABELS_PER_COORDINATE: usize = 6;
/// Folds while labels are few, and from `MANY_LABELS` on.
const FOLDS: usize = 10;
const FEWER_FOLDS: usize = 5;
const MANY_LABELS: usize = 200;

/// A labelled node and the classes of its label, ascending, each with its share; shares sum to 1.
pub type Labelled = (NodeId, Vec<(usize, f64)>);

/// How many labels the fit is made from where there are `count`.
pub fn fitted(count: usize) -> usize {
    let mut fitted = count.min(EVERY_LABEL);
    while fitted >= EVERY_LABEL && fitted + fitted.div_ceil(20) <= count {
        fitted += fitted.div_ceil(20);
    }
    fitted
}

/// What the features say about the classes, learnt from labels.
#[derive(Clone, Debug)]
pub struct SecondOpinion {
    components: Arc<Components>,
    n_classes: usize,
    all: Regression,
    /// The fit without a fold, and the labelled nodes of that fold, ascending.
    without: Vec<(Regression, Vec<NodeId>)>,
}

/// Coefficients of the classes that have a label.
#[derive(Clone, Debug)]
struct Regression {
    present: Vec<usize>,
    /// One row per coordinate.
    weights: Vec<f64>,
    intercepts: Vec<f64>,
}

impl SecondOpinion {
    /// What follows from labels, in the order of the log; `None` before the first.
    pub fn fit(
        components: &Arc<Components>,
        labels: &[Labelled],
        n_classes: usize,
    ) -> Option<SecondOpinion> {
        let labels = &labels[..fitted(labels.len())];
        if labels.is_empty() {
            return None;
        }
        let count = components
            .count()
            .min((labels.len() / LABELS_PER_COORDINATE).max(SCALED_BY));
        let folds = match labels.len() {
            few if few < MANY_LABELS => FOLDS.min(few),
            _ => FEWER_FOLDS,
        };
        let rows: Vec<Vec<f64>> = labels
            .iter()
            .map(|(node, _)| {
                components.row(*node)[..count]
                    .iter()
                    .map(|z| f64::from(*z))
                    .collect()
            })
            .collect();
        // The last "fold" is none.
        // In one thread: fits are made behind a lock that parallel readers wait for.
        let mut fits: Vec<Regression> = (0..=folds)
            .map(|fold| {
                let kept = |place: &usize| fold == folds || place % folds != fold;
                let places: Vec<usize> = (0..labels.len()).filter(kept).collect();
                Regression::fit(&rows, labels, &places, n_classes)
            })
            .collect();
        let all = fits.pop().expect("there is a fit from all labels");
        let of_fold = |(fold, fit): (usize, Regression)| {
            let mut nodes: Vec<NodeId> = labels[fold..]
                .iter()
                .step_by(folds)
                .map(|(node, _)| *node)
                .collect();
            nodes.sort_unstable();
            (fit, nodes)
        };
        Some(SecondOpinion {
            components: Arc::clone(components),
            n_classes,
            all,
            without: fits.into_iter().enumerate().map(of_fold).collect(),
        })
    }

    /// ln q of every class at a node, 0 for the most probable one. Classes beyond those of the fit get 0: it cannot speak
    /// against what it does not know.
    pub fn log_shares(&self, node: NodeId, out: &mut [f64]) {
        self.write(&self.all, node, out);
    }

    /// The same from labels of other nodes only.
    pub fn left_out(&self, node: NodeId, out: &mut [f64]) {
        let apart = self
            .without
            .iter()
            .find(|(_, nodes)| nodes.binary_search(&node).is_ok());
        self.write(apart.map_or(&self.all, |(fit, _)| fit), node, out);
    }

    fn write(&self, fit: &Regression, node: NodeId, out: &mut [f64]) {
        let (known, beyond) = out.split_at_mut(self.n_classes);
        beyond.fill(0.0);
        fit.write(self.components.row(node), known);
    }
}

impl Regression {
    /// The fit to the labels at some places.
    fn fit(
        rows: &[Vec<f64>],
        labels: &[Labelled],
        places: &[usize],
        n_classes: usize,
    ) -> Regression {
        let mut is_present = vec![false; n_classes];
        for (class, share) in places.iter().flat_map(|&place| &labels[place].1) {
            is_present[*class] |= *share > 0.0;
        }
        let present: Vec<usize> = (0..n_classes).filter(|&class| is_present[class]).collect();
        if present.is_empty() {
            return Regression {
                present,
                weights: Vec::new(),
                intercepts: Vec::new(),
            };
        }
        let rows: Vec<&[f64]> = places.iter().map(|&place| rows[place].as_slice()).collect();
        let shares = |&place: &usize| {
            let mut shares = vec![0.0; present.len()];
            for (class, share) in &labels[place].1 {
                if let Ok(column) = present.binary_search(class) {
                    shares[column] += share;
                }
            }
            shares
        };
        let (weights, intercepts) = logistic::fit(&rows, places.iter().map(shares).collect());
        Regression {
            present,
            weights,
            intercepts,
        }
    }

    /// ln q at a point. Without any label nothing is said.
    fn write(&self, point: &[f32], out: &mut [f64]) {
        let width = self.present.len();
        if width == 0 {
            out.fill(0.0);
            return;
        }
        out.fill(f64::NEG_INFINITY);
        for (&class, intercept) in self.present.iter().zip(&self.intercepts) {
            out[class] = *intercept;
        }
        for (z, weights) in point.iter().zip(self.weights.chunks_exact(width)) {
            for (&class, weight) in self.present.iter().zip(weights) {
                out[class] += f64::from(*z) * weight;
            }
        }
        let most = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        out.iter_mut().for_each(|f| *f = (*f - most).max(LEAST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::features::{Features, Metric};

    /// Two classes on a line: below 0 and above.
    fn line() -> (Arc<Components>, Vec<Labelled>) {
        let x: Vec<f64> = (0..40).map(|i| f64::from(i) - 19.5).collect();
        let features = Features::f64(&x, 40, 1).unwrap();
        let components = Components::of(features, Metric::Euclidean, &Control::new());
        let label = |i: u32| (NodeId(i), vec![(usize::from(i >= 20), 1.0)]);
        let labels = [0, 39, 5, 30, 12, 25].map(label);
        (Arc::new(components.unwrap().unwrap()), labels.to_vec())
    }

    #[test]
    fn fits_are_made_at_counts_that_the_log_fixes() {
        let at: Vec<usize> = [0, 1, 49, 50, 52, 53, 55, 56, 1000].map(fitted).to_vec();
        assert_eq!(at[..8], [0, 1, 49, 50, 50, 53, 53, 56]);
        assert!(at[8] > 950 && at[8] <= 1000);
        for count in 50..3000 {
            let made = fitted(count);
            assert!(fitted(made) == made && made <= count && 21 * made > 20 * count - 21);
        }
    }

    #[test]
    fn the_far_side_of_a_line_is_the_other_class() {
        let (components, labels) = line();
        let opinion = SecondOpinion::fit(&components, &labels, 3).unwrap();
        let mut q = [1.0; 4];
        opinion.log_shares(NodeId(2), &mut q);
        // The third class has no label, the fourth came after the fit.
        assert!(
            q[0] == 0.0 && q[1] < -0.5 && q[2] == LEAST && q[3] == 0.0,
            "{q:?}"
        );
        opinion.log_shares(NodeId(37), &mut q);
        assert!(q[1] == 0.0 && q[0] < -0.5, "{q:?}");
        assert!(SecondOpinion::fit(&components, &[], 3).is_none());
    }

    #[test]
    fn a_label_does_not_speak_for_itself() {
        let (components, mut labels) = line();
        // Wrong: on the left, and told as the right class.
        labels.push((NodeId(3), vec![(1, 1.0)]));
        let opinion = SecondOpinion::fit(&components, &labels, 2).unwrap();
        let without = SecondOpinion::fit(&components, &labels[..6], 2).unwrap();
        let (mut apart, mut clean) = ([0.0; 2], [0.0; 2]);
        opinion.left_out(NodeId(3), &mut apart);
        without.log_shares(NodeId(3), &mut clean);
        assert_eq!(apart, clean, "ten folds of seven labels leave out one each");
        // A node that has no label in the fit.
        let mut all = [0.0; 2];
        opinion.left_out(NodeId(20), &mut apart);
        opinion.log_shares(NodeId(20), &mut all);
        assert_eq!(apart, all);
    }
}
