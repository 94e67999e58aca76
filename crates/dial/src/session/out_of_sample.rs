//! New points: what a belief about a pool says of rows that are not in it.
//!
//! ```text
//! e_c(x) = Σ_j w_j e_c(x_j) / Σ_j w_j,     w_j = exp(-4 |x - x_j|² / |x - x_(k)|²),     j over the k nearest rows of the pool
//! ```
//!
//! (and the same mean of ln q, `opinion`), the harmonic value at a node that is joined to its neighbours by self-tuning weights (as in `graph`) and that they do not
//! see: the belief about the pool stays as it is. A row that the pool has already is read as that one: copies at distance 0
//! count alone. The paper is silent about new points.
//!
//! Cost: m n d for m new rows, all distances in f64, ranked by distance and row.

use rayon::prelude::*;

use crate::belief::calibration::Heard;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::features::{Features, Metric};
use crate::graph::gaussian;
use crate::ids::NodeId;
use crate::knn::metric_space::{Space, ZeroVectors, nearest};
use crate::session::question::Prediction;
use crate::session::view::View;

/// The rows of a pool that are nearest to new rows, with what they count.
#[derive(Clone, Debug, PartialEq)]
pub struct Newcomers {
    /// For each new row the rows of the pool with weights that sum to 1.
    nearest: Vec<Vec<(NodeId, f64)>>,
}

impl Newcomers {
    /// Finds the k nearest rows of a pool for each of some new rows.
    ///
    /// # Errors
    /// Rows of another length than those of the pool (I3), a new row without direction under cosine (I9), cancelled.
    pub fn find(
        pool: Features<'_>,
        new: Features<'_>,
        k: usize,
        metric: Metric,
        control: &Control,
    ) -> Result<Newcomers> {
        if pool.dim() != new.dim() {
            let text = format!(
                "the new rows have {} columns and those of the pool {}",
                new.dim(),
                pool.dim()
            );
            return Err(Error::Shape(text));
        }
        let rows = Space::new(new, metric, ZeroVectors::Error)?;
        // A zero row of the pool is a neighbour of no row.
        let space = Space::new(pool, metric, ZeroVectors::Isolate)?;
        let k = k.clamp(1, pool.n());
        control.start("looking for the neighbours of new rows", new.n());
        let one = |row: usize| {
            let x: Vec<f64> = (0..new.dim())
                .map(|column| rows.value(row, column))
                .collect();
            let distance = |other: u32| (space.squared_distance_from(&x, other as usize), other);
            let found = nearest((0..pool.n() as u32).map(distance).collect(), k);
            control.advance(1)?;
            Ok(weights(&found))
        };
        let nearest = (0..new.n())
            .into_par_iter()
            .map(one)
            .collect::<Result<Vec<_>>>()?;
        control.finish();
        Ok(Newcomers { nearest })
    }
}

/// Self-tuning weights of the nearest, copies alone if there are any.
fn weights(nearest: &[(f64, u32)]) -> Vec<(NodeId, f64)> {
    let copies = nearest
        .iter()
        .take_while(|(squared, _)| *squared == 0.0)
        .count();
    let kept = if copies > 0 {
        &nearest[..copies]
    } else {
        nearest
    };
    let reach = kept.last().map_or(0.0, |(squared, _)| *squared);
    let weigh = |squared: f64| gaussian(squared, reach, 4.0);
    let sum = kept
        .iter()
        .fold(0.0, |sum, (squared, _)| sum + weigh(*squared));
    kept.iter()
        .map(|&(squared, row)| (NodeId(row), weigh(squared) / sum))
        .collect()
}

impl View<'_> {
    /// What is believed about new rows.
    ///
    /// # Panics
    /// If they were compared with a larger pool.
    pub fn about(&self, new: &Newcomers) -> Vec<Prediction> {
        let prior = self.field.prior_strength();
        let one = |near: &Vec<(NodeId, f64)>| {
            let at =
                |&(node, weight): &(NodeId, f64)| (self.readout.heard(&self.field, node), weight);
            let heard = Heard::mean(&near.iter().map(at).collect::<Vec<_>>());
            Prediction {
                class: self.classes[self.readout.class_of(&heard)],
                probabilities: self.readout.probabilities_of(&heard, prior),
                variance: self.readout.variance_of(&heard, prior),
                evidence: heard.evidence(),
                reached: heard.evidence() > 0.0,
                error: None,
            }
        };
        new.nearest.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_count_most_and_copies_alone() {
        let pool = [0.0f32, 1.0, 3.0, 10.0];
        let (pool, control) = (Features::f32(&pool, 4, 1).unwrap(), Control::new());
        let found = |x: f64, k| {
            Newcomers::find(
                pool,
                Features::f64(&[x], 1, 1).unwrap(),
                k,
                Metric::Euclidean,
                &control,
            )
            .unwrap()
        };
        // Distances 1, 1 and 2 from 2, ties to the smaller row: weights e^-1, e^-1 and e^-4 over their sum.
        let (near, far) = (libm::exp(-1.0), libm::exp(-4.0));
        let sum = 2.0 * near + far;
        let nearest = &found(2.0, 3).nearest[0];
        assert_eq!(
            nearest.iter().map(|(node, _)| node.0).collect::<Vec<_>>(),
            [1, 2, 0]
        );
        for ((_, weight), want) in nearest.iter().zip([near / sum, near / sum, far / sum]) {
            assert!((weight - want).abs() < 1e-15);
        }
        assert_eq!(found(10.0, 3).nearest[0], [(NodeId(3), 1.0)]);
        assert_eq!(found(4.0, 100).nearest[0].len(), 4);
        let wide = Features::f64(&[0.0, 1.0], 1, 2).unwrap();
        assert_eq!(
            Newcomers::find(pool, wide, 1, Metric::Euclidean, &control)
                .unwrap_err()
                .code(),
            "I3"
        );
    }

    #[test]
    fn directions_are_compared_under_cosine() {
        let pool = [1.0f64, 0.0, 0.0, 1.0, 0.0, 0.0];
        let (pool, control) = (Features::f64(&pool, 3, 2).unwrap(), Control::new());
        let new = [5.0f64, 0.0, 1.0, 3.0];
        let new = Features::f64(&new, 2, 2).unwrap();
        let found = Newcomers::find(pool, new, 1, Metric::Cosine, &control).unwrap();
        assert_eq!(
            found.nearest,
            [vec![(NodeId(0), 1.0)], vec![(NodeId(1), 1.0)]]
        );
        let zero = Features::f64(&[0.0, 0.0], 1, 2).unwrap();
        assert_eq!(
            Newcomers::find(pool, zero, 1, Metric::Cosine, &control)
                .unwrap_err()
                .code(),
            "I9"
        );
    }
}
