//! Principal components of a pool: the few coordinates in which a second opinion is formed.
//!
//! ```text
//! C = (1/S) Σ_s (x_s - x̄)(x_s - x̄)ᵀ      over S rows spread evenly over the pool
//! C v_j = σ_j² v_j,   σ₁ ≥ σ₂ ≥ ...
//! z_j(x) = v_jᵀ (x - x̄) / ρ,               ρ² = the mean of σ_j² over the first 16 that vary
//! ```
//!
//! x is a row as the metric sees it: under cosine divided by its norm. One scale ρ for all keeps the shape of the pool, and
//! gives the penalty of a regression on z a meaning that is the same for all pools: directions of little variance are
//! penalised most. The directions come from a block that is multiplied by C a few times (subspace iteration), and from
//! all of C where the rows are short. Everything is summed in a fixed order.
//!
//! Cost: some 10 S d 80 operations for the directions, n d r for the coordinates.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Result;
use crate::features::{Features, Metric};
use crate::ids::NodeId;
use crate::knn::metric_space::{Space, ZeroVectors};
use crate::linalg::eigen::dense;
use crate::opinion::logistic::product;
use crate::seed::{Purpose, Random};

/// The most rows that the directions are found from.
const SAMPLE: usize = 2048;
/// Directions that the block has beside the wanted ones, so that these converge.
const SPARE: usize = 16;
/// How often the block is multiplied by C.
const MULTIPLICATIONS: usize = 4;
/// Coordinates are scaled by the mean variance of this many.
pub const SCALED_BY: usize = 16;
/// The most coordinates, and those of a pool of more than `LARGE` rows, whose coordinates take memory.
const MOST: usize = 64;
const LARGE: usize = 250_000;
/// Directions of less than this share of the largest variance are rounding.
const NO_VARIANCE: f64 = 1e-12;
/// A row this many times ρ away stands there: what is farther says no more.
const FAR: f64 = 1e6;
/// Rows per task.
const ROWS_PER_TASK: usize = 256;

/// The leading coordinates of every row of a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Components {
    count: usize,
    rows: Vec<f32>,
}

impl Components {
    /// The components of a pool; `None` if its rows are all the same.
    ///
    /// # Errors
    /// What the metric refuses, an eigenproblem of numbers that are not finite, or cancelled.
    pub fn of(
        features: Features<'_>,
        metric: Metric,
        control: &Control,
    ) -> Result<Option<Components>> {
        let space = Space::new(features, metric, ZeroVectors::Isolate)?;
        let (n, dim) = (features.n(), features.dim());
        let wanted = if n > LARGE { SCALED_BY } else { MOST }.min(dim);
        let row = |row: usize| (0..dim).map(move |column| (row, column));
        let value = |(row, column): (usize, usize)| space.value(row, column);
        let drawn = SAMPLE.min(n);
        let mut sample: Vec<Vec<f64>> = (0..drawn)
            .into_par_iter()
            .map(|place| row(place * n / drawn).map(value).collect())
            .collect();
        let mut mean = vec![0.0; dim];
        sample.iter().for_each(|x| add(&mut mean, 1.0, x));
        mean.iter_mut().for_each(|mean| *mean /= drawn as f64);
        sample.iter_mut().for_each(|x| add(x, -1.0, &mean));
        let largest = sample
            .iter()
            .flatten()
            .fold(0.0, |most, x| x.abs().max(most));
        if largest == 0.0 {
            return Ok(None);
        }
        // Squares of what is left cannot overflow.
        sample.iter_mut().flatten().for_each(|x| *x /= largest);
        control.check()?;
        let (directions, scale) = directions(&sample, dim, wanted, control)?;
        let (count, unit) = (directions.len(), 1.0 / largest / scale);
        let directions: Vec<f32> = directions.iter().flatten().map(|v| *v as f32).collect();
        let mut rows = vec![0f32; n * count];
        rows.par_chunks_mut(ROWS_PER_TASK * count)
            .enumerate()
            .try_for_each(|(task, out)| {
                let mut centred = vec![0f32; dim];
                for (place, out) in out.chunks_exact_mut(count).enumerate() {
                    let row = task * ROWS_PER_TASK + place;
                    for (column, centred) in centred.iter_mut().enumerate() {
                        let x = unit * (space.value(row, column) - mean[column]);
                        *centred = x.clamp(-FAR, FAR) as f32;
                    }
                    for (out, direction) in out.iter_mut().zip(directions.chunks_exact(dim)) {
                        *out = product_f32(&centred, direction);
                    }
                }
                control.check()
            })?;
        Ok(Some(Components { count, rows }))
    }

    /// Number of coordinates.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The coordinates of a node.
    pub fn row(&self, node: NodeId) -> &[f32] {
        &self.rows[node.index() * self.count..(node.index() + 1) * self.count]
    }
}

/// The leading directions of centred rows, the largest variance first, and ρ.
fn directions(
    sample: &[Vec<f64>],
    dim: usize,
    wanted: usize,
    control: &Control,
) -> Result<(Vec<Vec<f64>>, f64)> {
    let width = (wanted + SPARE).min(dim);
    let mut random = Random::new(0, Purpose::Components, 0);
    let mut block: Vec<Vec<f64>> = (0..width)
        .map(|_| (0..dim).map(|_| random.normal()).collect())
        .collect();
    orthonormalise(&mut block);
    // A block of all directions spans them already.
    let times = if width == dim { 0 } else { MULTIPLICATIONS };
    for _ in 0..times {
        let along = coordinates(sample, &block);
        block.par_iter_mut().enumerate().for_each(|(j, q)| {
            q.fill(0.0);
            for (x, along) in sample.iter().zip(&along) {
                add(q, along[j], x);
            }
        });
        orthonormalise(&mut block);
        control.check()?;
    }
    let along = coordinates(sample, &block);
    let mut inner = vec![0.0; width * width];
    for along in &along {
        for (row, a) in inner.chunks_exact_mut(width).zip(along) {
            add(row, a / sample.len() as f64, along);
        }
    }
    let (variances, turns) = dense::eigen(inner, width)?;
    let largest = variances.last().copied().unwrap_or(0.0);
    let leading: Vec<usize> = (0..width)
        .rev()
        .take(wanted)
        .filter(|&j| variances[j] > NO_VARIANCE * largest)
        .collect();
    let first = &leading[..leading.len().min(SCALED_BY)];
    let sum = first.iter().fold(0.0, |sum, &j| sum + variances[j]);
    let scale = (sum / first.len() as f64).sqrt();
    let turned = |&j: &usize| {
        let mut v = vec![0.0; dim];
        for (q, turn) in block.iter().zip(&turns[j * width..(j + 1) * width]) {
            add(&mut v, *turn, q);
        }
        v
    };
    Ok((leading.iter().map(turned).collect(), scale))
}

/// The products of every row with every vector of the block.
fn coordinates(sample: &[Vec<f64>], block: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let of = |x: &Vec<f64>| block.iter().map(|q| product(x, q)).collect();
    sample.par_iter().map(of).collect()
}

/// Gram and Schmidt, twice; what depends on the others becomes 0.
fn orthonormalise(block: &mut [Vec<f64>]) {
    for j in 0..block.len() {
        let (before, rest) = block.split_at_mut(j);
        let q = &mut rest[0];
        let length = product(q, q).sqrt();
        for _ in 0..2 {
            for other in before.iter() {
                let share = product(q, other);
                add(q, -share, other);
            }
        }
        let left = product(q, q).sqrt();
        let factor = if left > 1e-12 * length {
            1.0 / left
        } else {
            0.0
        };
        q.iter_mut().for_each(|q| *q *= factor);
    }
}

fn add(to: &mut [f64], factor: f64, x: &[f64]) {
    to.iter_mut().zip(x).for_each(|(to, x)| *to += factor * x);
}

/// The same in eight lanes of f32.
fn product_f32(x: &[f32], y: &[f32]) -> f32 {
    let mut lanes = [0f32; 8];
    let (x8, y8) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest = (x8.remainder().iter().zip(y8.remainder())).fold(0.0, |sum, (a, b)| sum + a * b);
    for (a, b) in x8.zip(y8) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().fold(rest, |sum, lane| sum + lane)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cross_by_hand() {
        // Rows (±3, 0) and (0, ±1) around (10, 20): variances 9/2 and 1/2, ρ² their mean, 5/2.
        let x = [13.0, 20.0, 7.0, 20.0, 10.0, 21.0, 10.0, 19.0];
        let found = Components::of(
            Features::f64(&x, 4, 2).unwrap(),
            Metric::Euclidean,
            &Control::new(),
        )
        .unwrap()
        .unwrap();
        assert_eq!(found.count(), 2);
        let scale = 2.5f64.sqrt();
        for (node, [long, short]) in [[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
            .iter()
            .enumerate()
        {
            let z = found.row(NodeId(node as u32));
            assert!((f64::from(z[0]).abs() - (long / scale).abs()).abs() < 1e-6);
            assert!((f64::from(z[1]).abs() - (short / scale).abs()).abs() < 1e-6);
        }
        assert_eq!(found.row(NodeId(0))[0], -found.row(NodeId(1))[0]);
    }

    #[test]
    fn rows_that_are_all_the_same_have_none() {
        let same = [2.0f32; 12];
        let found = Components::of(
            Features::f32(&same, 4, 3).unwrap(),
            Metric::Euclidean,
            &Control::new(),
        );
        assert_eq!(found.unwrap(), None);
    }

    #[test]
    fn long_rows_find_the_directions_that_short_ones_have() {
        // Three strong directions among 100 columns: what the block finds explains nearly all of the variance.
        let (n, dim) = (300, 100);
        let mut random = Random::new(4, Purpose::User, 0);
        let mut x = vec![0.0; n * dim];
        for row in x.chunks_exact_mut(dim) {
            for (column, x) in row.iter_mut().enumerate() {
                let strength = if column % 40 == 7 { 5.0 } else { 0.1 };
                *x = strength * random.normal();
            }
        }
        let found = Components::of(
            Features::f64(&x, n, dim).unwrap(),
            Metric::Euclidean,
            &Control::new(),
        )
        .unwrap()
        .unwrap();
        assert_eq!(found.count(), MOST);
        let variance = |j: usize| {
            (0..n as u32)
                .map(|node| f64::from(found.row(NodeId(node))[j]).powi(2))
                .sum::<f64>()
        };
        assert!(
            variance(2) > 500.0 * variance(3),
            "{} {}",
            variance(2),
            variance(3)
        );
    }
}
