//! Reweighted-Laplace norm uncertainty: ask where a damped classifier hardly says anything.
//!
//! ```text
//! u        = reweighted Laplace learning with τ_t added to the diagonal, off the labels:
//!            Σ_j w_i w_j W_ij (u_c(i) - u_c(j)) + τ_t u_c(i) = 0,    u = y at the labels    (w: see `models`, reweighted)
//! score(x) = -|u(x)|₂
//! τ_t      = τ₀ μ^t,  τ₀ = 0.01,  μ = (1e-9/τ₀)^(1/2K),  and 0 from t = 2K on;    t = labels - K, at least 0
//! ```
//!
//! Miller and Calder 2023 ("Poisson reweighted Laplacian uncertainty sampling for graph-based active learning"). With τ the
//! scores fall to 0 exponentially away from the labels, and the smallest norm is that of an unexplored region; as τ falls
//! the scores sum to 1 everywhere, and it is that of a torn point. They begin with one label per class, at τ₀, and let τ fall
//! with every label, over twice the number K of clusters; their code takes the number of classes for K, and has 0.1, 0.01
//! and 0.001 to choose from for τ₀. We count from the K-th label on, however the labels came, K being the classes of the
//! session. Which τ₀ hardly matters (2 to 3 trials: a quarter of MNIST-SMALL mod 3, areas under the curve 0.853, 0.857,
//! 0.857; half of optdigits 0.950, 0.950, 0.946). `norm@reweighted` is the case τ = 0.
//!
//! Systems are solved to 1e-9, theirs to 1e-5 (DESIGN.md, "Classifiers are scaled to a unit diagonal"). Where no label
//! reaches, u = 0 while τ > 0 and 1/K after. Cost of a question: K + 1 sparse solves; nothing is kept.

use std::sync::Arc;

use crate::models::laplacian::Solver;
use dial::acquisition::{Acquisition, Score, Situation};
use dial::classifiers::{ClassScores, Shares};
use dial::error::Result;
use dial::graph::Graph;

/// τ before it falls, and where it ends.
const INITIAL_TAU: f64 = 1e-2;
const FINAL_TAU: f64 = 1e-9;

/// The norm of damped reweighted Laplace learning.
pub struct ReweightedNorm {
    solver: Solver,
    first: f64,
}

impl ReweightedNorm {
    /// The acquisition on a graph.
    pub fn new(graph: Arc<Graph>) -> ReweightedNorm {
        ReweightedNorm {
            solver: Solver::new(graph),
            first: INITIAL_TAU,
        }
    }

    /// Another τ₀, above 1e-9.
    pub fn with_damping(self, first: f64) -> ReweightedNorm {
        ReweightedNorm { first, ..self }
    }
}

/// τ after n labels.
fn damping(first: f64, labels: usize, n_classes: usize) -> f64 {
    let (t, end) = (labels.saturating_sub(n_classes), 2 * n_classes);
    if t >= end {
        0.0
    } else {
        first * libm::pow(FINAL_TAU / first, t as f64 / end as f64)
    }
}

impl Acquisition for ReweightedNorm {
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        if now.labelled.is_empty() {
            out.fill(0.0);
            return Ok(());
        }
        let (given, control) = (Shares::new(now.labels), now.control());
        let weights = self.solver.reweighting(&given, &control)?;
        let planes = match damping(self.first, now.labelled.len(), now.labels.len()) {
            0.0 => self.solver.harmonic(&given, &weights, &control)?,
            tau => self.solver.damped(&given, &weights, tau, &control)?,
        };
        ClassScores { planes }.map(out, |scores| {
            Score::Norm.of_classes(scores).expect("a score of classes")
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_damping_falls_to_nothing_over_twice_the_classes() {
        assert_eq!(damping(INITIAL_TAU, 1, 3), INITIAL_TAU);
        assert_eq!(damping(INITIAL_TAU, 3, 3), INITIAL_TAU);
        assert!(
            (damping(INITIAL_TAU, 6, 3) / (INITIAL_TAU * FINAL_TAU).sqrt() - 1.0).abs() < 1e-12,
            "half way in the exponent"
        );
        assert!(
            (damping(1e-3, 8, 3) / damping(1e-3, 7, 3) - 0.1).abs() < 1e-12,
            "six decades in six steps"
        );
        assert_eq!(damping(INITIAL_TAU, 9, 3), 0.0);
        assert_eq!(damping(INITIAL_TAU, 100, 3), 0.0);
    }
}
