//! Doubt and coverage, the acquisition `auto`: ask where the belief is in doubt and an answer acts on much doubt around.
//!
//! ```text
//! score(x) = D(x) √S(x)
//! D(x) = (1 - (α₁ - α₂)/β) / (β + 1)          doubt: the two largest α are close, or there is little evidence
//! S(x) = Σ_z K(x, z) D(z)                      coverage: the doubt that a label at x would speak to
//! ```
//!
//! with the classes evened out (`balance`), as in the belief that `auto` ends with.
//!
//! Why: a label at x with K(x, z) = k takes, in expectation over the belief at z, the share (k/(β + k))² off the Gini risk
//! 1 - Σ p² of z (`field` has the closed form for the variance). So a question is worth the risk it reaches, weighed by how
//! far it reaches. The exact sum needs the column of every x; S is its part linear in K, one solve with D as right-hand
//! side for all x together. With a vanishing prior D is 1 where no label has arrived and near 0 where one class has all
//! the evidence, so at first S leads into the middle of unreached clusters, and as they vanish D leads to the borders
//! that are torn, without a schedule. The root tempers S where the graph has hubs, whose sums are large whatever lies
//! around them. What else was tried is in `docs/research.md`.
//!
//! The normaliser (d + τ) G(x, x) of K is estimated once, from Z ∘ G Z for 16 vectors Z of random signs (Hutchinson
//! 1990). Cost: those solves once; then one solve and O(K) per node and question.

use std::sync::Arc;

use crate::acquire::{Acquisition, Score, Situation};
use crate::balance;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::propagate::Propagation;
use crate::seed::{Purpose, Random};

/// Doubt times the root of coverage, on the kernel that spreads the labels.
#[derive(Clone)]
pub struct Doubt<'a> {
    kernel: Arc<dyn Propagation + 'a>,
    /// (d + τ) G(x, x), estimated.
    normalizers: Arc<Vec<f64>>,
}

/// Up to so many classes nothing is allocated per node.
const MOST: usize = 64;

/// Vectors of random signs for the normalisers.
const PROBES: u64 = 16;

impl<'a> Doubt<'a> {
    /// Questions for labels that this kernel spreads.
    ///
    /// # Errors
    /// A kernel that has no [`Propagation::spread`] (N13); what a solve may fail with.
    pub fn new(kernel: Arc<dyn Propagation + 'a>, control: &Control) -> Result<Doubt<'a>> {
        let mut sums = vec![0.0; kernel.n()];
        control.start("measuring how far labels reach", PROBES as usize);
        for probe in 0..PROBES {
            let mut random = Random::new(0, Purpose::Signs, probe);
            let signs: Vec<f64> = sums.iter().map(|_| if random.uniform() < 0.5 { -1.0 } else { 1.0 }).collect();
            let spread = spread(&*kernel, &signs, &control.quiet())?;
            sums.iter_mut().zip(signs.iter().zip(spread)).for_each(|(sum, (sign, value))| *sum += sign * value);
            control.advance(1)?;
        }
        control.finish();
        // It is at least 1: G(x, x) >= 1/(d + τ).
        let normalizers = sums.iter().map(|sum| (sum / PROBES as f64).max(1.0)).collect();
        Ok(Doubt { kernel, normalizers: Arc::new(normalizers) })
    }
}

fn spread(kernel: &dyn Propagation, values: &[f64], control: &Control) -> Result<Vec<f64>> {
    kernel.spread(values, control)?.ok_or_else(|| Error::BadSetting {
        name: "acquisition",
        want: "another one here: auto needs Poisson propagation with a tau above 0",
        got: "auto".into(),
    })
}

/// α with the evidence of every class times its weight.
fn weigh<'b>(alpha: &[f64], weights: &[f64], prior: f64, even: &'b mut [f64]) -> &'b [f64] {
    even.iter_mut().zip(alpha.iter().zip(weights)).for_each(|(even, (a, w))| *even = prior + w * (a - prior));
    even
}

/// D: near 1 where nothing is known, near 0 where one class has all the evidence.
fn doubt(alpha: &[f64]) -> f64 {
    let total = alpha.iter().fold(0.0, |sum, a| sum + a);
    let margin = -Score::Margin.score_at(alpha).expect("a margin is a function of alpha");
    (1.0 - margin).max(0.0) / (total + 1.0)
}

/// What `auto` goes with: a prior that vanishes beside any evidence, and τ as a multiple of the mean degree. Both were
/// measured; anything from 1e-5 to 1e-3 and from 0.02 to 0.05 is nearly as good.
pub const PRIOR: f64 = 1e-4;
/// τ over the mean degree.
pub const TAU_PER_DEGREE: f64 = 0.03;

impl Acquisition for Doubt<'_> {
    fn prior(&self) -> Option<f64> {
        Some(PRIOR)
    }

    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        let (weights, prior) = (balance::weights(now.field, balance::HALF), now.field.prior_strength());
        now.field.map(out, |alpha| {
            let mut even = [0.0; MOST];
            match alpha.len() {
                count if count <= MOST => doubt(weigh(alpha, &weights, prior, &mut even[..count])),
                count => doubt(weigh(alpha, &weights, prior, &mut vec![0.0; count])),
            }
        });
        let coverage = spread(&*self.kernel, out, &Control::new())?;
        for (score, (coverage, normalizer)) in out.iter_mut().zip(coverage.iter().zip(&*self.normalizers)) {
            *score *= (coverage / normalizer).max(0.0).sqrt();
        }
        Ok(())
    }
}
