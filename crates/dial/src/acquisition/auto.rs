//! Doubt and coverage, the acquisition `auto`: ask where the belief is in doubt and an answer acts on much doubt around.
//!
//! ```text
//! score(x) = D(x) √S(x)
//! D(x) = (1 - (α₁ - α₂)/β) / (β + 1)          doubt: the two largest α are close, or there is little evidence
//! S(x) = Σ_z G(x, z) D(z) / G(x, x)            coverage: the doubt that a label at x would speak to
//! ```
//!
//! with the classes evened out (`class_balance`), as in the belief that `auto` ends with.
//!
//! Why: a label at x with K(x, z) = k takes, in expectation over the belief at z, the share (k/(β + k))² off the Gini risk
//! 1 - Σ p² of z (`field` has the closed form for the variance). So a question is worth the risk it reaches, weighed by how
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

/// Doubt times the root of coverage, on the kernel that spreads the labels.
#[derive(Clone)]
pub struct Auto<'a> {
    kernel: Arc<dyn Propagation + 'a>,
    /// What spread values are divided by.
    peaks: Arc<Vec<f64>>,
}

/// Evidence from which on a class is believed in when a batch supposes answers, in labels.
const HEARD: f64 = 0.02;

/// Up to so many classes nothing is allocated per node.
const MOST: usize = 64;

impl<'a> Auto<'a> {
    /// Questions for labels that this kernel spreads.
    ///
    /// # Errors
    /// A kernel that has no [`Propagation::spread`]; what a solve may fail with.
    pub fn new(kernel: Arc<dyn Propagation + 'a>, control: &Control) -> Result<Auto<'a>> {
        let peaks = kernel.peaks(control)?.ok_or_else(refusal)?;
        Ok(Auto {
            kernel,
            peaks: Arc::new(peaks),
        })
    }
}

fn spread(kernel: &dyn Propagation, values: &[f64], control: &Control) -> Result<Vec<f64>> {
    kernel.spread(values, control)?.ok_or_else(refusal)
}

fn refusal() -> Error {
    let want = "another one here: auto needs Poisson propagation with a tau above 0";
    Error::setting("acquisition", want, "auto")
}

/// α with the evidence of every class times its weight. Certified estimates may lie a little below 0, and no weight may
/// make more of that than the prior.
fn weigh<'b>(alpha: &[f64], weights: &[f64], prior: f64, even: &'b mut [f64]) -> &'b [f64] {
    even.iter_mut()
        .zip(alpha.iter().zip(weights))
        .for_each(|(even, (a, w))| *even = prior + w * (a - prior).max(0.0));
    even
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
pub const PRIOR: f64 = 1e-4;
/// τ over the mean degree.
pub const TAU_PER_DEGREE: f64 = 0.03;

impl Acquisition for Auto<'_> {
    fn prior(&self) -> Option<f64> {
        Some(PRIOR)
    }

    fn supposes(&self) -> bool {
        true
    }

    /// As if the answer were the class believed in, or one of its own where nothing was heard yet: a last plane, which all
    /// such answers of a batch share, so that there is no border between them.
    fn suppose(&self, now: &Situation<'_>, field: &mut DirichletField, node: NodeId) -> Result<()> {
        let column = self.kernel.columns(&[node], &now.control())?.remove(0);
        let weights = class_balance::weights(field, class_balance::HALF);
        let heard = |class: usize| weights[class] * field.plane(class)[node.index()];
        let believed =
            (0..field.n_classes()).max_by(|&a, &b| heard(a).total_cmp(&heard(b)).then(b.cmp(&a)));
        let own = now.field.n_classes();
        let answer = believed
            .filter(|&class| heard(class) > HEARD * self.kernel.source_value())
            .unwrap_or(own);
        if answer == own {
            field.resize_classes(own + 1);
        }
        field.add(answer, 1.0, &column);
        Ok(())
    }

    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        let (weights, prior) = (
            class_balance::weights(now.field, class_balance::HALF),
            now.field.prior_strength(),
        );
        now.field.map(out, |alpha| {
            let mut even = [0.0; MOST];
            match alpha.len() {
                count if count <= MOST => doubt(weigh(alpha, &weights, prior, &mut even[..count])),
                count => doubt(weigh(alpha, &weights, prior, &mut vec![0.0; count])),
            }
        });
        let coverage = spread(&*self.kernel, out, &now.control())?;
        for (score, (coverage, peak)) in out.iter_mut().zip(coverage.iter().zip(&*self.peaks)) {
            *score *= (coverage / peak).max(0.0).sqrt();
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
