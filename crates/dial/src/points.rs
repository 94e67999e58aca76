//! The rows of a pool as points of a Euclidean space, and the squared distances of all pairs of them: what the coverage
//! methods (`coverage`, `herding`, `typiclust`) and the linear probe (`logistic`) read.
//!
//! Points are f64, as the metric sees them: under cosine the rows divided by their norms, rows of length zero at the
//! origin. The spread of a pool is
//!
//! ```text
//! s² = (1/n) Σ_i |x_i - x̄|²,    half the mean squared distance of two points
//! ```
//!
//! and distances of pairs are kept as |x_i - x_j|²/s² in f32, computed in f64: they do not depend on the unit of the
//! features. That is 4 n² bytes, 100 MB at 5,000 points, which is why the methods that need all pairs refuse more than
//! [`MOST`]. Cost: O(n d) for points, O(n² d) once for all pairs.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::features::{Features, Metric, sum_of_squares};
use crate::space::{Space, ZeroVectors};

/// The most points whose pairs are kept (400 MB).
pub const MOST: usize = 10_000;

/// Distances are padded to a multiple of so many, for loops over whole blocks.
pub(crate) const LANES: usize = 16;

/// The rows of a pool in f64, as the metric sees them.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    n: usize,
    dim: usize,
    rows: Vec<f64>,
}

impl Points {
    /// The points of a pool.
    ///
    /// # Errors
    /// None for now: rows of length zero under cosine stand at the origin.
    pub fn new(features: Features<'_>, metric: Metric) -> Result<Points> {
        let space = Space::new(features, metric, ZeroVectors::Isolate)?;
        let (n, dim) = (features.n(), features.dim());
        let mut rows = vec![0.0; n * dim];
        rows.par_chunks_mut(dim).enumerate().for_each(|(row, out)| {
            out.iter_mut()
                .enumerate()
                .for_each(|(column, out)| *out = space.value(row, column));
        });
        Ok(Points { n, dim, rows })
    }

    /// The same points with every coordinate scaled to mean 0 and standard deviation 1 over the pool; a coordinate that
    /// does not vary becomes 0.
    pub fn standardised(mut self) -> Points {
        let (mean, n) = (self.mean(), self.n as f64);
        let mut squares = vec![0.0; self.dim];
        for row in self.rows.chunks_exact(self.dim) {
            squares
                .iter_mut()
                .zip(row)
                .zip(&mean)
                .for_each(|((sum, x), mean)| *sum += (x - mean) * (x - mean));
        }
        let scale = |square: &f64, mean: &f64| {
            let deviation = (square / n).sqrt();
            // What is left of a constant column is rounding.
            if deviation > 1e-14 * mean.abs() {
                1.0 / deviation
            } else {
                0.0
            }
        };
        let scales: Vec<f64> = squares
            .iter()
            .zip(&mean)
            .map(|(square, mean)| scale(square, mean))
            .collect();
        for row in self.rows.chunks_exact_mut(self.dim) {
            row.iter_mut()
                .zip(&mean)
                .zip(&scales)
                .for_each(|((x, mean), scale)| *x = (*x - mean) * scale);
        }
        self
    }

    /// Number of points.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// A point.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.dim..(i + 1) * self.dim]
    }

    /// The mean of all points.
    pub fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.dim];
        for row in self.rows.chunks_exact(self.dim) {
            mean.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        mean.iter_mut().for_each(|mean| *mean /= self.n as f64);
        mean
    }

    /// |x_i - y|², summed in a fixed order.
    #[inline]
    pub fn squared_distance(&self, i: usize, y: &[f64]) -> f64 {
        squared_distance(self.row(i), y)
    }

    /// s², the mean squared distance to the mean; 1 where all points are one.
    pub fn spread(&self) -> f64 {
        let mean = self.mean();
        let total = (0..self.n).fold(0.0, |sum, i| sum + self.squared_distance(i, &mean));
        if total > 0.0 {
            total / self.n as f64
        } else {
            1.0
        }
    }
}

/// |x - y|², summed in a fixed order.
#[inline]
pub(crate) fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    sum_of_squares(x, y, |a, b| a - b)
}

/// The squared distances of all pairs of points, divided by the spread s².
#[derive(Clone, Debug, PartialEq)]
pub struct Distances {
    n: usize,
    stride: usize,
    values: Vec<f32>,
}

impl Distances {
    /// All pairs of the points.
    ///
    /// # Errors
    /// More points than [`MOST`], or cancelled.
    pub fn new(points: &Points, control: &Control) -> Result<Distances> {
        let n = points.n();
        if n > MOST {
            let want =
                "another one for a pool of more than 10000 items: this one compares all pairs";
            return Err(Error::setting(
                "acquisition",
                want,
                format!("one for {n} items"),
            ));
        }
        let (stride, scale) = (n.next_multiple_of(LANES), 1.0 / points.spread());
        let mut values = vec![f32::INFINITY; n * stride];
        control.start("comparing all pairs", n);
        values
            .par_chunks_mut(stride)
            .enumerate()
            .try_for_each(|(i, row)| {
                for (j, value) in row.iter_mut().enumerate().take(n).skip(i) {
                    *value = (points.squared_distance(i, points.row(j)) * scale) as f32;
                }
                control.advance(1)
            })?;
        control.finish();
        mirror(&mut values, n, stride);
        Ok(Distances { n, stride, values })
    }

    /// Number of points.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The squared distances of a point to all, over s².
    pub fn of(&self, i: usize) -> &[f32] {
        &self.padded(i)[..self.n]
    }

    /// The same with infinity behind the last, up to a multiple of [`LANES`].
    pub(crate) fn padded(&self, i: usize) -> &[f32] {
        &self.values[i * self.stride..(i + 1) * self.stride]
    }

    /// The length of a padded row.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }
}

/// Copies what lies above the diagonal to its mirror image, block by block.
fn mirror(values: &mut [f32], n: usize, stride: usize) {
    const BLOCK: usize = 64;
    for rows in (0..n).step_by(BLOCK) {
        for columns in (0..=rows).step_by(BLOCK) {
            for i in rows..(rows + BLOCK).min(n) {
                for j in columns..(columns + BLOCK).min(i) {
                    values[i * stride + j] = values[j * stride + i];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, Random};

    fn cloud(n: usize, dim: usize) -> Vec<f64> {
        let mut random = Random::new(1, Purpose::User, n as u64);
        (0..n * dim).map(|_| 3.0 + 2.0 * random.normal()).collect()
    }

    #[test]
    fn all_pairs_are_what_a_plain_loop_finds_in_any_unit() {
        for (n, dim) in [(1, 1), (5, 3), (131, 4)] {
            let x = cloud(n, dim);
            let points =
                Points::new(Features::f64(&x, n, dim).unwrap(), Metric::Euclidean).unwrap();
            let found = Distances::new(&points, &Control::new()).unwrap();
            let squared = |i: usize, j: usize| {
                (0..dim)
                    .map(|c| (x[i * dim + c] - x[j * dim + c]).powi(2))
                    .sum::<f64>()
            };
            let mean: f64 =
                (0..n * n).map(|p| squared(p / n, p % n)).sum::<f64>() / (2 * n * n) as f64;
            let spread = if mean > 0.0 { mean } else { 1.0 };
            assert!((points.spread() / spread - 1.0).abs() < 1e-12);
            for i in 0..n {
                assert_eq!(found.of(i).len(), n);
                assert!(found.padded(i)[n..].iter().all(|d| *d == f32::INFINITY));
                for j in 0..n {
                    let want = squared(i, j) / spread;
                    assert!(
                        (f64::from(found.of(i)[j]) - want).abs() <= 1e-6 * want,
                        "{i} {j}"
                    );
                    assert_eq!(found.of(i)[j].to_bits(), found.of(j)[i].to_bits());
                }
            }
            let larger: Vec<f64> = x.iter().map(|v| v * 1024.0).collect();
            let points =
                Points::new(Features::f64(&larger, n, dim).unwrap(), Metric::Euclidean).unwrap();
            assert_eq!(Distances::new(&points, &Control::new()).unwrap(), found);
        }
    }

    #[test]
    fn cosine_sees_directions_and_standardising_leaves_constant_columns_at_zero() {
        let x = [3.0, 4.0, 0.0, 0.0, 0.0, -2.0];
        let points = Points::new(Features::f64(&x, 3, 2).unwrap(), Metric::Cosine).unwrap();
        for (i, want) in [[0.6, 0.8], [0.0, 0.0], [0.0, -1.0]].iter().enumerate() {
            assert!(
                points.squared_distance(i, want) < 1e-30,
                "{:?}",
                points.row(i)
            );
        }
        let x = [1.0, 0.1, 3.0, 0.1, 5.0, 0.1, 7.0, 0.1];
        let points = Points::new(Features::f64(&x, 4, 2).unwrap(), Metric::Euclidean)
            .unwrap()
            .standardised();
        // Mean 4, variance (9 + 1 + 1 + 9)/4 = 5.
        for (i, want) in [-3.0, -1.0, 1.0, 3.0].iter().enumerate() {
            assert!(points.squared_distance(i, &[want / 5f64.sqrt(), 0.0]) < 1e-28);
        }
    }

    #[test]
    fn too_many_points_are_refused_before_anything_is_compared() {
        let x = vec![0.0; MOST + 1];
        let points =
            Points::new(Features::f64(&x, MOST + 1, 1).unwrap(), Metric::Euclidean).unwrap();
        let refused = Distances::new(&points, &Control::new()).unwrap_err();
        assert_eq!(refused.code(), "U1");
        assert!(refused.to_string().contains("10001 items"), "{refused}");
        let control = Control::new();
        control.cancel();
        let few = Points::new(Features::f64(&x[..3], 3, 1).unwrap(), Metric::Euclidean).unwrap();
        assert_eq!(Distances::new(&few, &control), Err(Error::Cancelled));
    }
}
