//! MaxHerding and Uncertainty Herding: coverage of the pool by kernels around the labels.
//!
//! ```text
//! k(z, x)  = exp(-|z - x|²/σ²)
//! C(S)     = Σ_z u(z) max over l in S of k(z, l)             what is covered by the labels S
//! score(x) = (C(S + x) - C(S))/n = (1/n) Σ_z u(z) [k(z, x) - max over l of k(z, l)]₊
//! ```
//!
//! **MaxHerding** (Bae, Noh, Sutherland 2024, "Generalized coverage for more robust low-budget active learning"): u = 1 and
//! σ fixed. They take σ = 1 for self-supervised features scaled to unit length. Our features have any scale; we take
//! σ² = s², the spread of the pool (`points`), which is 1 for unit vectors whose mean is 0: their rule where it applies.
//!
//! **Uncertainty Herding** (Bae, Oliveira, Sutherland 2024, "Uncertainty herding: one active learning method for all label
//! budgets"): u(z) is the uncertainty of the current classifier, and σ falls as labels come: the smallest distance above 0
//! between two labels. We follow them in both: u = 1 - margin of the Dirichlet mean, p₁ - p₂, and their σ, which is that of
//! MaxHerding while there are no two different labelled points. They calibrate the classifier by a temperature, so that
//! few labels leave everything uncertain; the Dirichlet mean needs none, since it tends to 1/K where evidence is below the
//! prior: the larger the prior of the session, the longer it stays near MaxHerding.
//!
//! Since k falls with distance, a term is above 0 only where z is nearer to x than to any label, which is one pair in
//! |S| + 1 or so: blocks of points without such a one are passed over. Kernel values are f32, by a polynomial for 2^x with
//! a relative error below 1e-6, the same on every machine; sums of blocks are f32, their total f64. A batch takes the best
//! few of one set of scores, apart in the graph, and is not greedy inside (theirs is).
//!
//! Cost: all pairs of points once (at most 10,000 of them), then one pass over the n² pairs per question.

use std::sync::Arc;

use rayon::prelude::*;

use crate::acquire::{Acquisition, Score, Situation};
use crate::coverage::Reach;
use crate::error::Result;
use crate::ids::NodeId;
use crate::points::{Distances, LANES};

/// σ²/s² of MaxHerding.
const WIDTH: f32 = 1.0;

/// Points whose gains are added in f32 before they go to the total.
const BLOCK: usize = 64 * LANES;

/// MaxHerding, or Uncertainty Herding where the coverage is weighted.
#[derive(Debug)]
pub struct Herding {
    distances: Arc<Distances>,
    reach: Reach,
    uncertain: bool,
    width: f32,
}

impl Herding {
    /// MaxHerding: every point counts the same.
    pub fn max(distances: Arc<Distances>) -> Herding {
        Herding { distances, reach: Reach::new(), uncertain: false, width: WIDTH }
    }

    /// Uncertainty Herding: points count by the uncertainty of the Dirichlet mean.
    pub fn uncertainty(distances: Arc<Distances>) -> Herding {
        Herding { distances, reach: Reach::new(), uncertain: true, width: WIDTH }
    }

    /// Another σ²/s², a number above 0, for MaxHerding and for Uncertainty Herding before it has labels to compare.
    pub fn with_width(self, width: f32) -> Herding {
        Herding { width, ..self }
    }

    /// σ²/s² of Uncertainty Herding after these labels.
    fn adapted(&self, labels: &[NodeId]) -> f32 {
        let mut least = f32::INFINITY;
        for (place, label) in labels.iter().enumerate() {
            let row = self.distances.of(label.index());
            let others = labels[..place].iter().map(|other| row[other.index()]);
            least = others.filter(|d| *d > 0.0).fold(least, f32::min);
        }
        if least < f32::INFINITY { least } else { self.width }
    }

    /// How much every point counts, 0 in the padding.
    fn weights(&self, now: &Situation<'_>) -> Result<Vec<f32>> {
        let mut weights = vec![0.0; self.distances.stride()];
        let n = self.distances.n();
        if !self.uncertain {
            weights[..n].fill(1.0);
            return Ok(weights);
        }
        let mut margins = vec![0.0; n];
        Score::Margin.scores(now, &mut margins)?;
        weights.iter_mut().zip(margins).for_each(|(weight, margin)| *weight = (1.0 + margin).max(0.0) as f32);
        Ok(weights)
    }
}

impl Acquisition for Herding {
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        let weights = self.weights(now)?;
        let sharpness = 1.0 / if self.uncertain { self.adapted(now.order) } else { self.width };
        self.reach.with(&self.distances, now.order, |near| {
            let covered: Vec<f32> = near.iter().map(|near| falling(near * sharpness)).collect();
            let mean = 1.0 / self.distances.n() as f64;
            out.par_iter_mut().with_min_len(LANES).enumerate().for_each(|(x, score)| {
                *score = mean * gain(self.distances.padded(x), near, &covered, &weights, sharpness);
            });
        });
        Ok(())
    }
}

/// Σ_z u(z) [exp(-sharpness |z - x|²) - covered(z)]₊.
fn gain(row: &[f32], near: &[f32], covered: &[f32], weights: &[f32], sharpness: f32) -> f64 {
    let mut total = 0.0;
    for start in (0..row.len()).step_by(BLOCK) {
        let block = start..(start + BLOCK).min(row.len());
        let mut sums = [0.0f32; LANES];
        let pairs = row[block.clone()].chunks_exact(LANES).zip(near[block.clone()].chunks_exact(LANES));
        let points = covered[block.clone()].chunks_exact(LANES).zip(weights[block].chunks_exact(LANES));
        for ((row, near), (covered, weights)) in pairs.zip(points) {
            if !row.iter().zip(near).fold(false, |any, (d, near)| any | (d < near)) {
                continue;
            }
            for lane in 0..LANES {
                let more = falling(row[lane] * sharpness) - covered[lane];
                sums[lane] += weights[lane] * more.max(0.0);
            }
        }
        total += f64::from(sums.iter().sum::<f32>());
    }
    total
}

/// exp(-x) for x >= 0, to a relative 1e-6; below 1e-37 it stops falling.
#[inline(always)]
fn falling(x: f32) -> f32 {
    // Adding 1.5 · 2^23 rounds to a whole number, which is then in the last bits.
    const WHOLE: f32 = 12_582_912.0;
    let power = (x * -std::f32::consts::LOG2_E).max(-124.0);
    let rounded = power + WHOLE;
    // 2^f for f from -1/2 to 1/2, by the series of exp(f ln 2).
    let f = (power - (rounded - WHOLE)) * std::f32::consts::LN_2;
    let late = 1.0 / 24.0 + f * (1.0 / 120.0 + f * (1.0 / 720.0));
    let series = 1.0 + f * (1.0 + f * (0.5 + f * (1.0 / 6.0 + f * late)));
    series * f32::from_bits(rounded.to_bits().wrapping_add(127) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_within_its_bound() {
        for i in 0..200_000 {
            let x = i as f32 * 4.2e-4;
            let want = libm::exp(-f64::from(x));
            // The argument in f32 is off by up to x/2^24 itself.
            let bound = (5e-7 + f64::from(x) * 1.5e-7) * want + 1e-37;
            assert!((f64::from(falling(x)) - want).abs() <= bound, "{x}: {} not {want}", falling(x));
        }
        assert_eq!(falling(0.0), 1.0);
        assert!(falling(f32::INFINITY) < 1e-37);
    }
}
