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
//! between two labels (that of MaxHerding while there are no two different labelled points). We follow them in both, with
//! u = 1 - (p₁ - p₂) of the Dirichlet mean. They calibrate their classifier by a temperature, so that few labels leave
//! everything uncertain. Here that is the prior: it is 0.001 a class for every prior of the session, since with a prior of 1
//! everything stays uncertain while σ falls, and questions crowd (area under the curve on a third of MNIST-SMALL mod 3, 3
//! trials: prior 1 0.752, 0.01 0.879, 0.0001 0.889).
//!
//! Since k falls with distance, a term is above 0 only where z is nearer to x than to any label, which is one pair in
//! |S| + 1 or so. MaxHerding keeps its scores and changes only what the points that a new label has come nearest to say;
//! Uncertainty Herding, whose u and σ change, passes over blocks of points without such a pair. Kernel values are f32, by a
//! polynomial for 2^x with a relative error below 1e-6, the same on every machine; sums of blocks are f32, their total f64.
//! A batch takes the best few of one set of scores, apart in the graph, and is not greedy inside (theirs is).
//!
//! Cost: all pairs of points once (at most 10,000 of them), then one pass over the n² pairs per question (MaxHerding: about
//! ln t passes for t questions).

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::distances::{DISTANCE_LANES, Distances};
use crate::prefix_cache::States;
use dial::acquisition::{Acquisition, Score, Situation};
use dial::error::Result;
use dial::ids::NodeId;

/// σ²/s² of MaxHerding.
const MAX_HERDING_WIDTH: f32 = 1.0;

/// The prior of a class for Uncertainty Herding.
const HERDING_PRIOR: f64 = 0.001;

/// Points whose gains are added in f32 before they go to the total, and points per task.
const POINTS_PER_BLOCK: usize = 64 * DISTANCE_LANES;
const POINTS_PER_CHUNK: usize = 16 * DISTANCE_LANES;

/// MaxHerding: coverage by kernels of one width.
#[derive(Debug)]
pub struct MaxHerding {
    distances: Arc<Distances>,
    width: f32,
    /// The scores without labels.
    start: OnceLock<Vec<f64>>,
    states: States<State>,
}

/// Distances to the nearest label, padded, and n times the scores.
#[derive(Clone, Debug)]
struct State {
    near: Vec<f32>,
    gains: Vec<f64>,
}

impl MaxHerding {
    /// MaxHerding from all pairs of points.
    pub fn new(distances: Arc<Distances>) -> MaxHerding {
        MaxHerding {
            distances,
            width: MAX_HERDING_WIDTH,
            start: OnceLock::new(),
            states: States::default(),
        }
    }

    /// With another σ²/s², a number above 0.
    pub fn with_width(self, width: f32) -> MaxHerding {
        MaxHerding {
            width,
            start: OnceLock::new(),
            ..self
        }
    }

    fn start(&self) -> State {
        let (n, stride) = (self.distances.n(), self.distances.stride());
        let mut near = vec![f32::INFINITY; stride];
        near[n..].fill(0.0);
        let gains = self.start.get_or_init(|| {
            let (covered, weights, mut gains) =
                (vec![0.0; stride], vec![1.0; stride], vec![0.0; n]);
            all_gains(
                &self.distances,
                &near,
                &covered,
                &weights,
                1.0 / self.width,
                &mut gains,
            );
            gains
        });
        State {
            gains: gains.clone(),
            near,
        }
    }

    /// Takes off what a label covers: at every point it has come nearest to, what others could have covered there.
    fn add(&self, state: &mut State, label: NodeId) {
        let sharpness = 1.0 / self.width;
        let mut nearer: Vec<(usize, f32, f32, f32)> = Vec::new();
        for (z, (near, &d)) in state
            .near
            .iter_mut()
            .zip(self.distances.of(label.index()))
            .enumerate()
        {
            if d < *near {
                nearer.push((z, *near, falling(*near * sharpness), falling(d * sharpness)));
                *near = d;
            }
        }
        state
            .gains
            .par_chunks_mut(POINTS_PER_CHUNK)
            .enumerate()
            .for_each(|(chunk, gains)| {
                let place = chunk * POINTS_PER_CHUNK
                    ..(chunk * POINTS_PER_CHUNK + gains.len().next_multiple_of(DISTANCE_LANES));
                for &(z, before, was, is) in &nearer {
                    let row = self.distances.padded(z)[place.clone()].chunks_exact(DISTANCE_LANES);
                    for (gains, row) in gains.chunks_mut(DISTANCE_LANES).zip(row) {
                        if !row.iter().fold(false, |any, d| any | (*d < before)) {
                            continue;
                        }
                        let mut lost = [0.0; DISTANCE_LANES];
                        for lane in 0..DISTANCE_LANES {
                            let similarity = falling(row[lane] * sharpness);
                            lost[lane] = (similarity - was).max(0.0) - (similarity - is).max(0.0);
                        }
                        gains
                            .iter_mut()
                            .zip(lost)
                            .for_each(|(gain, lost)| *gain -= f64::from(lost));
                    }
                }
            });
    }
}

impl Acquisition for MaxHerding {
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        let (applied, mut state) = self
            .states
            .take(now.order)
            .unwrap_or_else(|| (0, self.start()));
        now.order[applied..]
            .iter()
            .for_each(|&label| self.add(&mut state, label));
        let n = self.distances.n() as f64;
        out.iter_mut()
            .zip(&state.gains)
            .for_each(|(score, gain)| *score = gain.max(0.0) / n);
        self.states.put(now.order, state);
        Ok(())
    }
}

/// Uncertainty Herding: coverage weighted by the uncertainty of the Dirichlet mean, by kernels that become narrower.
#[derive(Debug)]
pub struct UncertaintyHerding {
    distances: Arc<Distances>,
    reach: Reach,
}

impl UncertaintyHerding {
    /// Uncertainty Herding from all pairs of points.
    pub fn new(distances: Arc<Distances>) -> UncertaintyHerding {
        UncertaintyHerding {
            distances,
            reach: Reach::new(),
        }
    }

    /// σ²/s² after these labels.
    fn width(&self, labels: &[NodeId]) -> f32 {
        let mut least = f32::INFINITY;
        for (place, label) in labels.iter().enumerate() {
            let row = self.distances.of(label.index());
            let others = labels[..place].iter().map(|other| row[other.index()]);
            least = others.filter(|d| *d > 0.0).fold(least, f32::min);
        }
        if least < f32::INFINITY {
            least
        } else {
            MAX_HERDING_WIDTH
        }
    }

    /// How much every point counts, 0 in the padding.
    fn weights(&self, now: &Situation<'_>) -> Vec<f32> {
        let mut uncertain = vec![0.0; self.distances.n()];
        let theirs = now.field.prior_strength();
        now.field.map(&mut uncertain, |alpha| {
            let total = alpha
                .iter()
                .fold(0.0, |sum, a| sum + (a - theirs + HERDING_PRIOR));
            1.0 + Score::Margin.of_classes(alpha).expect("a score of classes") / total
        });
        let mut weights = vec![0.0; self.distances.stride()];
        weights
            .iter_mut()
            .zip(uncertain)
            .for_each(|(weight, u)| *weight = u.max(0.0) as f32);
        weights
    }
}

impl Acquisition for UncertaintyHerding {
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        let (weights, sharpness) = (self.weights(now), 1.0 / self.width(now.order));
        self.reach.with(&self.distances, now.order, |near| {
            let covered: Vec<f32> = near.iter().map(|near| falling(near * sharpness)).collect();
            all_gains(&self.distances, near, &covered, &weights, sharpness, out);
        });
        out.iter_mut()
            .for_each(|score| *score /= self.distances.n() as f64);
        Ok(())
    }
}

/// The squared distance of every point to the nearest label, over the spread; infinity without labels. Kept up label by
/// label, padded with 0 as the distances are with infinity.
#[derive(Debug)]
struct Reach {
    states: States<Vec<f32>>,
}

impl Reach {
    fn new() -> Reach {
        Reach {
            states: States::default(),
        }
    }

    /// What `work` makes of the distances to the nearest of these labels.
    fn with<T>(
        &self,
        distances: &Distances,
        order: &[NodeId],
        work: impl FnOnce(&[f32]) -> T,
    ) -> T {
        let fresh = || {
            let mut near = vec![f32::INFINITY; distances.stride()];
            near[distances.n()..].fill(0.0);
            (0, near)
        };
        let (applied, mut near) = self.states.take(order).unwrap_or_else(fresh);
        for label in &order[applied..] {
            near.iter_mut()
                .zip(distances.of(label.index()))
                .for_each(|(near, d)| *near = near.min(*d));
        }
        let made = work(&near);
        self.states.put(order, near);
        made
    }
}

/// The gain of every point.
fn all_gains(
    distances: &Distances,
    near: &[f32],
    covered: &[f32],
    weights: &[f32],
    sharpness: f32,
    out: &mut [f64],
) {
    out.par_iter_mut()
        .with_min_len(DISTANCE_LANES)
        .enumerate()
        .for_each(|(x, gain)| {
            *gain = self::gain(distances.padded(x), near, covered, weights, sharpness);
        });
}

/// Σ_z u(z) [exp(-sharpness |z - x|²) - covered(z)]₊.
fn gain(row: &[f32], near: &[f32], covered: &[f32], weights: &[f32], sharpness: f32) -> f64 {
    let mut total = 0.0;
    for start in (0..row.len()).step_by(POINTS_PER_BLOCK) {
        let block = start..(start + POINTS_PER_BLOCK).min(row.len());
        let mut sums = [0.0f32; DISTANCE_LANES];
        let pairs = row[block.clone()]
            .chunks_exact(DISTANCE_LANES)
            .zip(near[block.clone()].chunks_exact(DISTANCE_LANES));
        let points = covered[block.clone()]
            .chunks_exact(DISTANCE_LANES)
            .zip(weights[block].chunks_exact(DISTANCE_LANES));
        for ((row, near), (covered, weights)) in pairs.zip(points) {
            if !row
                .iter()
                .zip(near)
                .fold(false, |any, (d, near)| any | (d < near))
            {
                continue;
            }
            for lane in 0..DISTANCE_LANES {
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
    const ROUNDING_OFFSET: f32 = 12_582_912.0;
    let power = (x * -std::f32::consts::LOG2_E).max(-124.0);
    let rounded = power + ROUNDING_OFFSET;
    // 2^f for f from -1/2 to 1/2, by the series of exp(f ln 2).
    let f = (power - (rounded - ROUNDING_OFFSET)) * std::f32::consts::LN_2;
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
            assert!(
                (f64::from(falling(x)) - want).abs() <= bound,
                "{x}: {} not {want}",
                falling(x)
            );
        }
        assert_eq!(falling(0.0), 1.0);
        assert!(falling(f32::INFINITY) < 1e-37);
    }
}
