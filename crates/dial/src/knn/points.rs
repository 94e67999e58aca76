//! The rows of a pool as points of a Euclidean space: what the logistic regression and coverage methods read.
//!
//! Points are f64, as the metric sees them: under cosine the rows divided by their norms, rows of length zero at the
//! origin. The spread of a pool is
//!
//! ```text
//! s² = (1/n) Σ_i |x_i - x̄|²,    half the mean squared distance of two points
//! ```
//!
//! Cost: O(n d).

use rayon::prelude::*;

use crate::error::Result;
use crate::features::{Features, Metric, sum_of_squares};
use crate::knn::metric_space::{Space, ZeroVectors};

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
pub fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    sum_of_squares(x, y, |a, b| a - b)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
