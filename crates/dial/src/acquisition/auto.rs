//! Doubt and coverage, the acquisition `auto`: ask where the belief is in doubt and an answer acts on much doubt around.
//!
//! ```text
//! score(x) = D(x) √S(x)
//! D(x) = (1 - (p₁ - p₂)) / (β + 1)            doubt: the two largest probabilities are close, or there is little evidence
//! S(x) = Σ_z G(x, z) D(z) / G(x, x)            coverage: the doubt that a label at x would speak to
//! ```
//!
//! p is the mean α/β with the classes balanced (`class_balance`), as in the belief that `auto` ends with; where there is a
//! second opinion (`opinion`), the calibrated probabilities that graph and features state together (`calibration`).
//!
//! Why: a label at x with K(x, z) = k takes, in expectation over the belief at z, the share (k/(β + k))² off the Gini risk
//! 1 - Σ p² of z (`field` has the closed form for the variance). So the value of a question is the risk it reaches, weighed by how
//! far it reaches. The exact sum needs the column of every x; S stands in for it, linear in K, so that one solve with D as
//! right-hand side gives it for all x together. G(x, z)/G(x, x) is K(x, z) but for the minimum of the column, which K takes off: next to
//! nothing on a pool with clusters, while on a small graph with strong weights S is about twice what K would give. With
//! a vanishing prior D is 1 where no label has arrived and near 0 where one class has all the evidence, so at first S
//! leads into the middle of unreached clusters, and as they vanish D leads to the borders that are torn, without a
//! schedule. The root tempers S where the graph has hubs, whose sums are large whatever lies around them. What else was
//! tried is in `docs/research.md`.
//!
//! The value of a column at its source, by which S is scaled, is found once for all x from walks that stay near (`inverse_diagonal`).
//! Cost: those, some 50 to 200 pushes a node; then one solve and O(K) per node and question.

use std::sync::Arc;

use crate::acquisition::{Acquisition, Score, Situation};
use crate::belief::class_balance;
use crate::belief::field::DirichletField;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::ids::NodeId;
use crate::propagation::Propagation;

/// Doubt times the root of coverage, on the propagation that spreads the labels.
#[derive(Clone)]
pub struct Auto<'a> {
    propagation: Arc<dyn Propagation + 'a>,
    /// What spread values are divided by.
    inverse_diagonal: Arc<Vec<f64>>,
}

/// A batch assumes the predicted class as the answer from this much evidence on, in labels.
const ASSUMED_EVIDENCE: f64 = 0.02;

/// With at most this many classes nothing is allocated per node.
const MAX_STACK_CLASSES: usize = 64;

impl<'a> Auto<'a> {
    /// Questions for labels that this propagation spreads.
    ///
    /// # Errors
    /// A propagation that has no [`Propagation::spread`]; what a solve may fail with.
    pub fn new(propagation: Arc<dyn Propagation + 'a>, control: &Control) -> Result<Auto<'a>> {
        let inverse_diagonal = propagation.inverse_diagonal(control)?.ok_or_else(refusal)?;
        Ok(Auto {
            propagation,
            inverse_diagonal: Arc::new(inverse_diagonal),
        })
    }
}

fn spread(propagation: &dyn Propagation, values: &[f64], control: &Control) -> Result<Vec<f64>> {
    propagation.spread(values, control)?.ok_or_else(refusal)
}

/// What `auto` cannot do without.
pub(crate) const NEEDS: &str = "--acquisition auto needs Poisson propagation with tau above 0. Choose a score such as variance.";

fn refusal() -> Error {
    Error::Incompatible(NEEDS.into())
}

/// α with the evidence of every class times its weight. Certified estimates may lie a little below 0, and no weight may
/// make more of that than the prior.
fn weigh<'b>(alpha: &[f64], weights: &[f64], prior: f64, even: &'b mut [f64]) -> &'b [f64] {
    even.iter_mut()
        .zip(alpha.iter().zip(weights))
        .for_each(|(even, (a, w))| *even = prior + w * (a - prior).max(0.0));
    even
}

/// D of every node from the means.
fn doubts_of_means(field: &DirichletField, out: &mut [f64]) {
    let weights = class_balance::weights(field, class_balance::AUTO_POWER);
    let prior = field.prior_strength();
    field.map(out, |alpha| {
        let mut even = [0.0; MAX_STACK_CLASSES];
        match alpha.len() {
            count if count <= MAX_STACK_CLASSES => {
                doubt(weigh(alpha, &weights, prior, &mut even[..count]))
            }
            count => doubt(weigh(alpha, &weights, prior, &mut vec![0.0; count])),
        }
    });
}

/// D: near 1 where nothing is known, near 0 where one class has all the evidence.
fn doubt(alpha: &[f64]) -> f64 {
    let total = alpha.iter().fold(0.0, |sum, a| sum + a);
    let margin = -Score::Margin
        .score_at(alpha)
        .expect("a margin is a function of alpha");
    (1.0 - margin).max(0.0) / (total + 1.0)
}

/// What `auto` goes with: a prior that vanishes beside any evidence, and τ as a multiple of the mean degree. Both were
/// measured; anything from 1e-5 to 1e-3 and from 0.02 to 0.05 is nearly as good.
pub const AUTO_PRIOR: f64 = 1e-4;
/// τ over the mean degree.
pub const TAU_PER_DEGREE: f64 = 0.03;

impl Acquisition for Auto<'_> {
    fn prior(&self) -> Option<f64> {
        Some(AUTO_PRIOR)
    }

    fn assumes_answers(&self) -> bool {
        true
    }

    fn wants_readout(&self) -> bool {
        true
    }

    /// Assumes that the answer is the predicted class, or a class of its own where there is no evidence yet: a last plane, which all
    /// such answers of a batch share, so that there is no border between them.
    fn assume_answer(
        &self,
        now: &Situation<'_>,
        field: &mut DirichletField,
        node: NodeId,
    ) -> Result<()> {
        let column = self.propagation.columns(&[node], &now.control())?.remove(0);
        let weights = class_balance::weights(field, class_balance::AUTO_POWER);
        let heard = |class: usize| weights[class] * field.plane(class)[node.index()];
        let predicted =
            (0..field.n_classes()).max_by(|&a, &b| heard(a).total_cmp(&heard(b)).then(b.cmp(&a)));
        let own = now.field.n_classes();
        let answer = predicted
            .filter(|&class| heard(class) > ASSUMED_EVIDENCE * self.propagation.source_value())
            .unwrap_or(own);
        if answer == own {
            field.resize_classes(own + 1);
        }
        field.add(answer, 1.0, &column);
        Ok(())
    }

    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        match now.readout.filter(|readout| readout.has_opinion()) {
            Some(readout) => readout.doubts(now.field, out),
            None => doubts_of_means(now.field, out),
        }
        let coverage = spread(&*self.propagation, out, &now.control())?;
        for (score, (coverage, diagonal)) in out
            .iter_mut()
            .zip(coverage.iter().zip(&*self.inverse_diagonal))
        {
            *score *= (coverage / diagonal).max(0.0).sqrt();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubt_by_hand_and_estimates_below_nothing() {
        // α = (3, 1): margin 1/2, total 4. Nothing known: 1, but for the prior in the total.
        assert_eq!(doubt(&[3.0, 1.0]), 0.1);
        assert!((doubt(&[1e-4, 1e-4]) - 1.0).abs() < 1e-3);
        // Half a prior below nothing, times a weight of 9: still the prior, and a score that is a number.
        let even = &mut [0.0; 2];
        assert_eq!(
            weigh(&[0.5e-4, 1e-4 + 0.25], &[9.0, 2.0], 1e-4, even),
            [1e-4, 1e-4 + 2.0 * (1e-4 + 0.25 - 1e-4)]
        );
    }
}
