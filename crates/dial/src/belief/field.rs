//! The Dirichlet field: at every node a Dirichlet distribution over the classes.
//!
//! ```text
//! evidence   e_c(x) = Σ over labels l of class c of weight(l) K(l, x)         (the paper's α_c)
//! alpha      α_c(x) = e_c(x) + prior strength                                 (its α̃_c)
//! total      β(x) = Σ_c α_c(x)
//! mean       p_c = α_c / β                                                    (eq:pki)
//! class      argmax_c α_c, ties to the smaller class                          (eq:inference)
//! variance   (β² - Σ_c α_c²) / (β² (β + 1)), the trace of the covariance      (eq:var)
//!            = 2 Σ_{c<m} α_c α_m / (β² (β + 1)): how it is computed, because nothing cancels
//! covariance (δ_cm α_c β - α_c α_m) / (β² (β + 1))
//! ```
//!
//! The field is additive: a label adds one column to one class. Nothing is ever subtracted, because that would leave
//! rounding behind: to take a label back, a class is summed again. An acquisition is handed this type, never the
//! normalised mean, so the factor 1/(β + 1), which measures evidence, cannot be lost.

use std::sync::Arc;

use rayon::prelude::*;

use crate::blocks::NODES_PER_CHUNK;
use crate::ids::NodeId;

/// Numbers between these limits, squared and summed, stay inside the range of f64.
pub(crate) const SAFE_RANGE: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// One term of a class: a labelled node and the weight of its label.
pub type Term = (NodeId, f64);

/// A Dirichlet distribution at every node.
#[derive(Clone, Debug, PartialEq)]
pub struct DirichletField {
    n: usize,
    prior_strength: f64,
    /// One plane of n values per class. Clones share those that do not change.
    evidence: Vec<Arc<Vec<f64>>>,
    /// The plane of every class without evidence: a project may have thousands of them.
    empty: Arc<Vec<f64>>,
}

impl DirichletField {
    /// The prior at n nodes: no evidence for any class.
    ///
    /// # Panics
    /// If the prior strength is not between 1e-100 and 1e100 (settings are checked before).
    pub fn new(n: usize, n_classes: usize, prior_strength: f64) -> DirichletField {
        assert!(
            SAFE_RANGE.contains(&prior_strength),
            "prior strength {prior_strength}"
        );
        let empty = Arc::new(vec![0.0; n]);
        DirichletField {
            n,
            prior_strength,
            evidence: vec![Arc::clone(&empty); n_classes],
            empty,
        }
    }

    /// Number of nodes.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.evidence.len()
    }

    /// α₀, what every class has at every node before any label.
    pub fn prior_strength(&self) -> f64 {
        self.prior_strength
    }

    /// Changes α₀; the evidence stays.
    ///
    /// # Panics
    /// As [`DirichletField::new`].
    pub fn set_prior_strength(&mut self, prior_strength: f64) {
        assert!(
            SAFE_RANGE.contains(&prior_strength),
            "prior strength {prior_strength}"
        );
        self.prior_strength = prior_strength;
    }

    /// Changes the number of classes: new ones have no evidence, surplus ones are dropped from the end.
    pub fn resize_classes(&mut self, n_classes: usize) {
        self.evidence.resize(n_classes, Arc::clone(&self.empty));
    }

    /// Adds `weight` times a column to the evidence for a class.
    pub fn add(&mut self, class: usize, weight: f64, column: &[f64]) {
        assert_eq!(column.len(), self.n, "a column has a value for every node");
        for (evidence, value) in self.plane_mut(class).iter_mut().zip(column) {
            *evidence += weight * value;
        }
    }

    /// Changes the evidence for a class at one node.
    pub(crate) fn set_at(&mut self, class: usize, node: NodeId, evidence: f64) {
        self.plane_mut(class)[node.index()] = evidence;
    }

    /// Writes α of every class at a node.
    pub(crate) fn alpha_into(&self, node: NodeId, alpha: &mut Vec<f64>) {
        alpha.clear();
        alpha.extend(
            self.evidence
                .iter()
                .map(|plane| plane[node.index()] + self.prior_strength),
        );
    }

    /// The evidence for a class at every node.
    pub fn plane(&self, class: usize) -> &[f64] {
        &self.evidence[class]
    }

    /// Replaces the evidence for a class.
    pub fn set(&mut self, class: usize, plane: &[f64]) {
        self.plane_mut(class).copy_from_slice(plane);
    }

    /// Counts the evidence for every class this many times (`class_balance`).
    pub fn weigh(&mut self, weights: &[f64]) {
        assert_eq!(weights.len(), self.n_classes(), "one weight per class");
        for (class, weight) in weights.iter().enumerate() {
            if !Arc::ptr_eq(&self.evidence[class], &self.empty) {
                let plane = self.plane_mut(class);
                plane.iter_mut().for_each(|evidence| *evidence *= weight);
            }
        }
    }

    /// Forgets the evidence for a class.
    pub fn clear(&mut self, class: usize) {
        self.evidence[class] = Arc::clone(&self.empty);
    }

    /// The evidence for a class, to be changed: in a copy, where somebody else has it too.
    fn plane_mut(&mut self, class: usize) -> &mut Vec<f64> {
        Arc::make_mut(&mut self.evidence[class])
    }

    /// α of every class at a node.
    pub fn alpha(&self, node: NodeId) -> Vec<f64> {
        self.evidence
            .iter()
            .map(|plane| plane[node.index()] + self.prior_strength)
            .collect()
    }

    /// Evidence at a node, all classes together and without the prior.
    pub fn evidence(&self, node: NodeId) -> f64 {
        self.evidence
            .iter()
            .fold(0.0, |sum, plane| sum + plane[node.index()])
    }

    /// β at a node.
    pub fn total(&self, node: NodeId) -> f64 {
        total(&self.alpha(node))
    }

    /// The mean class probabilities at a node.
    pub fn mean(&self, node: NodeId) -> Vec<f64> {
        let alpha = self.alpha(node);
        let total = total(&alpha);
        alpha.iter().map(|a| a / total).collect()
    }

    /// The most probable class at a node.
    pub fn class(&self, node: NodeId) -> usize {
        let mut best = 0;
        for class in 1..self.n_classes() {
            if self.evidence[class][node.index()] > self.evidence[best][node.index()] {
                best = class;
            }
        }
        best
    }

    /// The trace of the covariance at a node.
    pub fn variance(&self, node: NodeId) -> f64 {
        variance(&self.alpha(node))
    }

    /// The covariance matrix of the class probabilities at a node, row by row.
    pub fn covariance(&self, node: NodeId) -> Vec<Vec<f64>> {
        let alpha = self.alpha(node);
        let total = total(&alpha);
        let scale = total * total * (total + 1.0);
        let entry = |c: usize, m: usize| {
            (if c == m { alpha[c] * total } else { 0.0 } - alpha[c] * alpha[m]) / scale
        };
        (0..alpha.len())
            .map(|c| (0..alpha.len()).map(|m| entry(c, m)).collect())
            .collect()
    }

    /// Writes `score(α at the node)` for every node, in parallel. `out` has one place per node.
    pub fn map(&self, out: &mut [f64], score: impl Fn(&[f64]) -> f64 + Sync) {
        self.for_chunks(out, |first, out| {
            let mut alpha = vec![0.0; self.n_classes()];
            for (node, out) in (first..).zip(out) {
                for (alpha, plane) in alpha.iter_mut().zip(&self.evidence) {
                    *alpha = plane[node] + self.prior_strength;
                }
                *out = score(&alpha);
            }
        });
    }

    /// Writes the variance of every node, class by class over chunks of nodes: the same bits as [`Self::variance`].
    pub fn variances(&self, out: &mut [f64]) {
        self.for_chunks(out, |first, out| {
            let mut totals = [0.0; NODES_PER_CHUNK];
            let totals = &mut totals[..out.len()];
            out.fill(0.0);
            for plane in &self.evidence {
                for ((pairs, total), e) in out.iter_mut().zip(&mut *totals).zip(&plane[first..]) {
                    let alpha = e + self.prior_strength;
                    *pairs += alpha * *total;
                    *total += alpha;
                }
            }
            for (out, total) in out.iter_mut().zip(totals) {
                *out = trace(*total, *out);
            }
        });
    }

    fn for_chunks(&self, out: &mut [f64], work: impl Fn(usize, &mut [f64]) + Sync) {
        assert_eq!(out.len(), self.n, "one place per node");
        out.par_chunks_mut(NODES_PER_CHUNK)
            .enumerate()
            .for_each(|(chunk, out)| work(chunk * NODES_PER_CHUNK, out));
    }
}

fn total(alpha: &[f64]) -> f64 {
    alpha.iter().fold(0.0, |sum, a| sum + a)
}

/// The trace of the covariance of a Dirichlet distribution with parameters alpha (`eq:var`).
pub fn variance(alpha: &[f64]) -> f64 {
    let (total, pairs) = alpha.iter().fold((0.0, 0.0), |(total, pairs), a| {
        (total + a, pairs + a * total)
    });
    trace(total, pairs)
}

/// The trace from β and Σ_{c<m} α_c α_m.
fn trace(total: f64, pairs: f64) -> f64 {
    2.0 * pairs / (total * total * (total + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_node_by_hand() {
        // Prior 1, evidence 2 and 0 and 0: alpha (3, 1, 1), total 5, variance (25 - 11)/(25 · 6) = 7/75.
        let mut field = DirichletField::new(2, 3, 1.0);
        field.add(0, 2.0, &[1.0, 0.0]);
        let node = NodeId(0);
        assert_eq!(field.alpha(node), [3.0, 1.0, 1.0]);
        assert_eq!(field.mean(node), [0.6, 0.2, 0.2]);
        assert_eq!(
            (field.total(node), field.evidence(node), field.class(node)),
            (5.0, 2.0, 0)
        );
        assert!((field.variance(node) - 7.0 / 75.0).abs() < 1e-16);
        // Covariance: (3·5 - 9)/150 on the diagonal, -3/150 beside it.
        assert!((field.covariance(node)[0][0] - 6.0 / 150.0).abs() < 1e-16);
        assert!((field.covariance(node)[0][1] + 3.0 / 150.0).abs() < 1e-16);
        assert_eq!(field.class(NodeId(1)), 0, "ties go to the smaller class");
    }

    #[test]
    fn a_tiny_second_class_still_has_a_variance() {
        // 2 · 1e-17 / (1 · 2) with β = 1 to rounding; β² - Σ α² would give 0.
        assert!((variance(&[1.0, 1e-17]) / 1e-17 - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_new_class_has_the_prior_everywhere() {
        let mut field = DirichletField::new(1, 2, 0.5);
        field.add(1, 1.0, &[1.0]);
        field.resize_classes(3);
        assert_eq!(field.alpha(NodeId(0)), [0.5, 1.5, 0.5]);
        field.clear(1);
        assert_eq!(field, DirichletField::new(1, 3, 0.5));
    }

    /// Ten thousand classes of a pool of twenty thousand would be 1.6 GB in every snapshot.
    #[test]
    fn classes_without_evidence_and_clones_share_their_planes() {
        let mut field = DirichletField::new(2, 3, 1.0);
        field.resize_classes(5);
        field.add(1, 1.0, &[1.0, 2.0]);
        let is_empty = |field: &DirichletField, class: usize| {
            std::ptr::eq(field.plane(class), field.empty.as_slice())
        };
        let empty = |field: &DirichletField| [0, 1, 2, 3, 4].map(|class| is_empty(field, class));
        assert_eq!(empty(&field), [true, false, true, true, true]);
        let before = field.clone();
        field.weigh(&[2.0; 5]);
        field.set_at(2, NodeId(0), 7.0);
        assert_eq!(empty(&field), [true, false, false, true, true]);
        assert_eq!(
            (field.plane(1), field.plane(2)),
            (&[2.0, 4.0][..], &[7.0, 0.0][..])
        );
        assert_eq!(
            (before.plane(1), before.plane(2)),
            (&[1.0, 2.0][..], &[0.0, 0.0][..])
        );
        field.clear(1);
        assert!(is_empty(&field, 1) && field.empty[..] == [0.0, 0.0]);
    }

    fn alphas() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(0.01f64..20.0, 2..7)
    }

    proptest! {
        #[test]
        fn planes_and_nodes_agree_bit_by_bit(alpha in alphas(), prior in 0.001f64..2.0) {
            let mut field = DirichletField::new(3, alpha.len(), prior);
            for (class, &a) in alpha.iter().enumerate() {
                field.add(class, 1.0, &[a, 0.5 * a, 0.0]);
            }
            let (mut planes, mut nodes) = (vec![0.0; 3], vec![0.0; 3]);
            field.variances(&mut planes);
            field.map(&mut nodes, variance);
            prop_assert_eq!(&planes, &nodes);
            let trace: f64 = field.covariance(NodeId(0)).iter().enumerate().map(|(c, row)| row[c]).sum();
            prop_assert!((trace - planes[0]).abs() < 1e-12);
        }

        /// Property 1: for parameters tα the variance decreases in t, like 1/t for large t.
        #[test]
        fn variance_decreases_with_more_data(alpha in alphas(), t in 0.01f64..100.0) {
            let at = |t: f64| variance(&alpha.iter().map(|a| t * a).collect::<Vec<_>>());
            prop_assert!(at(1.01 * t) < at(t));
            let large = 1e8;
            prop_assert!((at(2.0 * large) / at(large) - 0.5).abs() < 1e-6);
        }

        /// Property 1, in expectation: one more observation drawn from the mean lowers the expected variance.
        #[test]
        fn an_expected_observation_lowers_the_variance(alpha in alphas(), mass in 0.01f64..2.0) {
            let total: f64 = alpha.iter().sum();
            let mut expected = 0.0;
            for c in 0..alpha.len() {
                let mut after = alpha.clone();
                after[c] += mass;
                expected += alpha[c] / total * variance(&after);
            }
            // The closed form of our notes on the paper.
            let (b, k) = (total, mass);
            let closed = variance(&alpha) * (b + 1.0) * (b * b + 2.0 * k * b) / ((b + k) * (b + k) * (b + k + 1.0));
            prop_assert!((expected - closed).abs() < 1e-12);
            prop_assert!(expected < variance(&alpha));
        }

        /// Property 3: for a given total the variance is largest when all alpha are equal.
        #[test]
        fn variance_is_largest_at_equal_alpha(alpha in alphas()) {
            let equal = vec![alpha.iter().sum::<f64>() / alpha.len() as f64; alpha.len()];
            prop_assert!(variance(&alpha) <= variance(&equal) + 1e-15);
        }
    }

    /// Property 2: the variance is not monotone in one component (the slice α₁ = 1.6 of `fig:var-beta-heatmap`).
    #[test]
    fn variance_is_not_monotone_in_one_component() {
        let at = |second: f64| variance(&[1.6, second]);
        assert!(at(0.1) < at(0.8) && at(0.8) > at(8.0));
    }
}
