//! The features as points of a metric space: exact distances, and which rows take no part.
//!
//! Euclidean: |x_i - x_j|. Cosine: |s_i x_i - s_j x_j| with s the reciprocal norms, the distance between unit vectors;
//! below 1e-14 it is rounding and counts as 0, so that multiples of one vector are copies of one direction.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::features::{Features, Metric, Values, sum_of_squares};
use crate::knn::screen_f32::Screen;
use crate::words::words;

/// What to do with rows of length zero under the cosine metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZeroVectors {
    /// Refuse the pool (fault I9).
    #[default]
    Error,
    /// Keep them as items without neighbours.
    Isolate,
}

words!(ZeroVectors, "zero-vectors", { Error => "error", Isolate => "isolate" });

/// The features under a metric: exact distances, and which rows take no part.
pub struct Space<'a> {
    /// The rows.
    pub features: Features<'a>,
    /// Reciprocal norms for the cosine metric.
    scales: Option<Vec<f64>>,
    /// Zero vectors under cosine, which have no neighbours and are neighbours of no row.
    pub(crate) isolated: Vec<bool>,
}

impl<'a> Space<'a> {
    /// The space of some rows.
    ///
    /// # Errors
    /// A row without direction under cosine, if that is not allowed.
    pub fn new(
        features: Features<'a>,
        metric: Metric,
        zero_vectors: ZeroVectors,
    ) -> Result<Space<'a>> {
        let n = features.n();
        if metric == Metric::Euclidean {
            return Ok(Space {
                features,
                scales: None,
                isolated: vec![false; n],
            });
        }
        let norms: Vec<f64> = (0..n)
            .into_par_iter()
            .map(|row| features.norm(row))
            .collect();
        // A norm whose reciprocal overflows is zero for every purpose here.
        let isolated: Vec<bool> = norms.iter().map(|norm| !(1.0 / norm).is_finite()).collect();
        if let (Some(first), ZeroVectors::Error) =
            (isolated.iter().position(|&zero| zero), zero_vectors)
        {
            return Err(Error::ZeroVectors {
                count: isolated.iter().filter(|&&zero| zero).count(),
                first,
            });
        }
        Ok(Space {
            features,
            scales: Some(norms.iter().map(|norm| 1.0 / norm).collect()),
            isolated,
        })
    }

    /// Refuses pools of a single direction under cosine (I10).
    pub(crate) fn check_directions(&self) -> Result<()> {
        let n = self.features.n();
        let mut rows = (0..n).filter(|&row| !self.isolated[row]);
        match rows.next() {
            Some(first)
                if self.scales.is_some()
                    && rows.all(|row| self.squared_distance(first, row) == 0.0) =>
            {
                Err(Error::AllIdentical { n })
            }
            _ => Ok(()),
        }
    }

    /// The value at a row and column, as the metric sees it.
    pub fn value(&self, row: usize, column: usize) -> f64 {
        let value = self.features.get(row, column);
        self.scales.as_ref().map_or(value, |scales| {
            if self.isolated[row] {
                0.0
            } else {
                value * scales[row]
            }
        })
    }

    /// The squared distance of two rows.
    pub fn squared_distance(&self, i: usize, j: usize) -> f64 {
        match &self.scales {
            Some(scales) => without_rounding(
                self.features
                    .squared_distance_scaled(i, j, scales[i], scales[j]),
            ),
            None => self.features.squared_distance(i, j),
        }
    }

    /// From a point that is no row, as the metric sees it; infinite for rows that take no part.
    pub(crate) fn squared_distance_from(&self, point: &[f64], row: usize) -> f64 {
        if self.isolated[row] {
            return f64::INFINITY;
        }
        let scale = self.scales.as_ref().map_or(1.0, |scales| scales[row]);
        let range = row * self.features.dim()..(row + 1) * self.features.dim();
        let squared = match self.features.values() {
            Values::F32(y) => sum_of_squares(point, &y[range], |x, y| x - f64::from(y) * scale),
            Values::F64(y) => sum_of_squares(point, &y[range], |x, y| x - y * scale),
        };
        match self.scales {
            Some(_) => without_rounding(squared),
            None => squared,
        }
    }

    pub(crate) fn screen(&self) -> Screen {
        Screen::new(self.features.n(), self.features.dim(), |row, column| {
            self.value(row, column)
        })
    }
}

/// Multiples of one vector are one direction: what is left between them is rounding.
fn without_rounding(squared: f64) -> f64 {
    if squared < 1e-28 { 0.0 } else { squared }
}

/// The k smallest of squared distances (all, if there are fewer), ties by node id.
pub(crate) fn nearest(mut ranked: Vec<(f64, u32)>, k: usize) -> Vec<(f64, u32)> {
    let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if ranked.len() > k {
        ranked.select_nth_unstable_by(k - 1, order);
        ranked.truncate(k);
    }
    ranked.sort_unstable_by(order);
    ranked
}
