//! The squared distances of all pairs of points, which the coverage methods (`coverage`, `herding`, `typiclust`) read.
//!
//! |x_i - x_j|²/s² is kept in f32 and computed in f64, s² being the spread of the pool: it does not depend on the unit of
//! the features. That is 4 n² bytes, 100 MB at 5,000 points, which is why the methods that need all pairs refuse more
//! than [`MAX_POINTS`]. Cost: O(n² d), once.

use rayon::prelude::*;

use dial::control::Control;
use dial::error::{Error, Result};
use dial::knn::points::Points;

/// The most points whose pairs are kept (400 MB).
pub const MAX_POINTS: usize = 10_000;

/// Distances are padded to a multiple of this, for loops over whole blocks.
pub(crate) const DISTANCE_LANES: usize = 16;

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
    /// More points than [`MAX_POINTS`], or cancelled.
    pub fn new(points: &Points, control: &Control) -> Result<Distances> {
        let n = points.n();
        if n > MAX_POINTS {
            let want =
                "another one for a pool of more than 10000 items: this one compares all pairs";
            return Err(Error::setting(
                "acquisition",
                want,
                format!("one for {n} items"),
            ));
        }
        let (stride, scale) = (n.next_multiple_of(DISTANCE_LANES), 1.0 / points.spread());
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

    /// The same with infinity behind the last, up to a multiple of [`DISTANCE_LANES`].
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
    const MIRROR_BLOCK: usize = 64;
    for rows in (0..n).step_by(MIRROR_BLOCK) {
        for columns in (0..=rows).step_by(MIRROR_BLOCK) {
            for i in rows..(rows + MIRROR_BLOCK).min(n) {
                for j in columns..(columns + MIRROR_BLOCK).min(i) {
                    values[i * stride + j] = values[j * stride + i];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use dial::{Features, Metric};

    use super::*;
    use dial::seed::{Purpose, Random};

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
    fn too_many_points_are_refused_before_anything_is_compared() {
        let x = vec![0.0; MAX_POINTS + 1];
        let points = Points::new(
            Features::f64(&x, MAX_POINTS + 1, 1).unwrap(),
            Metric::Euclidean,
        )
        .unwrap();
        let refused = Distances::new(&points, &Control::new()).unwrap_err();
        assert_eq!(refused.code(), "U1");
        assert!(refused.to_string().contains("10001 items"), "{refused}");
        let control = Control::new();
        control.cancel();
        let few = Points::new(Features::f64(&x[..3], 3, 1).unwrap(), Metric::Euclidean).unwrap();
        assert_eq!(Distances::new(&few, &control), Err(Error::Cancelled));
    }
}
