//! The features of a pool: a checked view of a row-major matrix, f32 or f64.
//!
//! One row per item. All values are finite: what reaches the graph needs no further checks. Distances are always
//! computed in f64, in one fixed order of the columns, for both storages.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::seed::hash;
use crate::words::words;

/// How far apart two rows are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// |x - y|.
    #[default]
    Euclidean,
    /// |x/|x| - y/|y||, the Euclidean distance between unit vectors; its square is 2 (1 - cos).
    Cosine,
}

words!(Metric, "metric", { Euclidean => "euclidean", Cosine => "cosine" });

/// Row-major values in the precision they came in.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// 32-bit floats.
    F32(&'a [f32]),
    /// 64-bit floats.
    F64(&'a [f64]),
}

impl Values<'_> {
    /// The value at a position, as f64 (exact).
    #[inline]
    pub fn get(&self, position: usize) -> f64 {
        match self {
            Values::F32(values) => f64::from(values[position]),
            Values::F64(values) => values[position],
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
        }
    }
}

/// A view of n finite feature vectors of d numbers each.
///
/// ```
/// use dial::{Error, Features};
/// let x = Features::f32(&[0.0, 0.0, 3.0, 4.0], 2, 2)?;
/// assert_eq!(x.squared_distance(0, 1), 25.0);
/// assert!(matches!(Features::f64(&[0.0, f64::NAN], 1, 2), Err(Error::NonFinite { column: 1, .. })));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Features<'a> {
    values: Values<'a>,
    n: usize,
    dim: usize,
}

/// A copy of checked features.
#[derive(Clone, Debug)]
pub(crate) enum OwnedFeatures {
    /// Single precision: values, rows and columns.
    F32(Vec<f32>, usize, usize),
    /// Double precision.
    F64(Vec<f64>, usize, usize),
}

impl OwnedFeatures {
    /// The features, which were checked before.
    pub(crate) fn view(&self) -> Features<'_> {
        match self {
            OwnedFeatures::F32(values, n, dim) => Features {
                values: Values::F32(values),
                n: *n,
                dim: *dim,
            },
            OwnedFeatures::F64(values, n, dim) => Features {
                values: Values::F64(values),
                n: *n,
                dim: *dim,
            },
        }
    }
}

impl<'a> Features<'a> {
    /// A copy.
    pub(crate) fn to_owned(self) -> OwnedFeatures {
        match self.values {
            Values::F32(values) => OwnedFeatures::F32(values.to_vec(), self.n, self.dim),
            Values::F64(values) => OwnedFeatures::F64(values.to_vec(), self.n, self.dim),
        }
    }

    /// A view of n rows of d 32-bit floats.
    pub fn f32(values: &'a [f32], n: usize, dim: usize) -> Result<Features<'a>> {
        Features::new(Values::F32(values), n, dim)
    }

    /// A view of n rows of d 64-bit floats.
    pub fn f64(values: &'a [f64], n: usize, dim: usize) -> Result<Features<'a>> {
        Features::new(Values::F64(values), n, dim)
    }

    /// A view of n rows of d values, checked: rectangular, not empty, finite.
    pub fn new(values: Values<'a>, n: usize, dim: usize) -> Result<Features<'a>> {
        if n == 0 {
            return Err(Error::Shape("no rows".into()));
        }
        if dim == 0 {
            return Err(Error::Shape("no columns".into()));
        }
        if n.checked_mul(dim) != Some(values.len()) {
            return Err(Error::Shape(format!(
                "{} values do not make {n} rows of {dim}",
                values.len()
            )));
        }
        if u32::try_from(n).is_err() {
            return Err(Error::TooManyItems(n));
        }
        let features = Features { values, n, dim };
        features.check_finite()?;
        Ok(features)
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of columns.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The values, in the precision they came in.
    pub fn values(&self) -> Values<'a> {
        self.values
    }

    /// The value at a row and column.
    #[inline]
    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.values.get(row * self.dim + column)
    }

    /// |x_i - x_j|^2 in f64, summed over the columns in a fixed order.
    pub fn squared_distance(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (i * self.dim, j * self.dim);
        match self.values {
            Values::F32(v) => squared_distance(&v[a..a + self.dim], &v[b..b + self.dim]),
            Values::F64(v) => {
                sum_of_squares(&v[a..a + self.dim], &v[b..b + self.dim], |x, y| x - y)
            }
        }
    }

    /// |s_i x_i - s_j x_j|^2 in f64, for the cosine metric with s the reciprocal norms.
    pub fn squared_distance_scaled(&self, i: usize, j: usize, s_i: f64, s_j: f64) -> f64 {
        let (a, b) = (i * self.dim, j * self.dim);
        match self.values {
            Values::F32(v) => sum_of_squares(&v[a..a + self.dim], &v[b..b + self.dim], |x, y| {
                f64::from(x) * s_i - f64::from(y) * s_j
            }),
            Values::F64(v) => sum_of_squares(&v[a..a + self.dim], &v[b..b + self.dim], |x, y| {
                x * s_i - y * s_j
            }),
        }
    }

    /// |x_i| in f64, scaled by the largest entry so that tiny and huge rows neither vanish nor overflow.
    pub fn norm(&self, row: usize) -> f64 {
        let largest = (0..self.dim)
            .map(|c| self.get(row, c).abs())
            .fold(0.0, f64::max);
        if largest == 0.0 {
            return 0.0;
        }
        let sum = (0..self.dim)
            .map(|c| self.get(row, c) / largest)
            .fold(0.0, |sum, x| sum + x * x);
        largest * sum.sqrt()
    }

    /// Refuses pools without structure (I10) and pools whose squared distances leave the range of f64 (I11).
    pub(crate) fn check_scale(&self) -> Result<()> {
        let (n, dim) = (self.n, self.dim);
        let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); dim];
        for row in 0..n {
            for (column, (low, high)) in ranges.iter_mut().enumerate() {
                let value = self.get(row, column);
                (*low, *high) = (low.min(value), high.max(value));
            }
        }
        let extreme = |column: usize| {
            let (low, high) = ranges[column];
            if high.abs() > low.abs() { high } else { low }
        };
        if let Some(column) = (0..dim).find(|&column| extreme(column).abs() > 1e150) {
            return Err(Error::ExtremeScale {
                column,
                value: extreme(column),
            });
        }
        let width = |column: usize| ranges[column].1 - ranges[column].0;
        let widest = (0..dim)
            .max_by(|&a, &b| width(a).total_cmp(&width(b)))
            .expect("features have columns");
        match width(widest) {
            0.0 => Err(Error::AllIdentical { n }),
            small if small < 1e-150 => Err(Error::ExtremeScale {
                column: widest,
                value: extreme(widest),
            }),
            _ => Ok(()),
        }
    }

    /// The groups of identical rows, each ascending, in the order of their first row. Positive and negative zero are one.
    pub fn duplicate_groups(&self) -> Vec<Vec<usize>> {
        // Adding zero turns -0 into 0 and changes nothing else.
        let key = |row: usize| -> Vec<u64> {
            (0..self.dim)
                .map(|c| (self.get(row, c) + 0.0).to_bits())
                .collect()
        };
        let digest = |row: usize| {
            (0..self.dim).fold(0, |digest, c| {
                hash(digest, (self.get(row, c) + 0.0).to_bits())
            })
        };
        let mut digests: Vec<(u64, u32)> = (0..self.n)
            .into_par_iter()
            .map(|row| (digest(row), row as u32))
            .collect();
        digests.par_sort_unstable();
        let mut groups = Vec::new();
        for some in digests
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|some| some.len() > 1)
        {
            let mut rows: Vec<usize> = some.iter().map(|&(_, row)| row as usize).collect();
            rows.sort_by_cached_key(|&row| (key(row), row));
            groups.extend(
                rows.chunk_by(|&a, &b| key(a) == key(b))
                    .filter(|g| g.len() > 1)
                    .map(<[usize]>::to_vec),
            );
        }
        groups.sort_unstable();
        groups
    }

    fn check_finite(&self) -> Result<()> {
        let mut bad = (0..self.n * self.dim).filter(|&p| !self.values.get(p).is_finite());
        let Some(first) = bad.next() else {
            return Ok(());
        };
        let (mut count, mut rows, mut last_row) = (1, 1, first / self.dim);
        for position in bad {
            count += 1;
            if position / self.dim != last_row {
                last_row = position / self.dim;
                rows += 1;
            }
        }
        let (row, column) = (first / self.dim, first % self.dim);
        Err(Error::NonFinite {
            count,
            rows,
            row,
            column,
            value: self.values.get(first),
        })
    }
}

/// |x - y|² in f64 for two rows of f32.
pub(crate) fn squared_distance(x: &[f32], y: &[f32]) -> f64 {
    sum_of_squares(x, y, |x, y| f64::from(x) - f64::from(y))
}

/// Four running sums over columns 0, 4, 8, ..; 1, 5, ..; and so on, added at the end: a fixed order that the compiler
/// may vectorise without changing a bit.
#[inline]
pub(crate) fn sum_of_squares<X: Copy, Y: Copy>(
    x: &[X],
    y: &[Y],
    difference: impl Fn(X, Y) -> f64,
) -> f64 {
    let mut sums = [0.0; 4];
    let (x4, y4) = (x.chunks_exact(4), y.chunks_exact(4));
    for (lane, (&a, &b)) in x4.remainder().iter().zip(y4.remainder()).enumerate() {
        let d = difference(a, b);
        sums[lane] = d * d;
    }
    for (a, b) in x4.zip(y4) {
        for lane in 0..4 {
            let d = difference(a[lane], b[lane]);
            sums[lane] += d * d;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_non_finite_position_is_named() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for position in 0..6 {
                let mut x = [1.0; 6];
                x[position] = value;
                match Features::f64(&x, 3, 2).unwrap_err() {
                    Error::NonFinite {
                        count: 1,
                        rows: 1,
                        row,
                        column,
                        ..
                    } => {
                        assert_eq!((row, column), (position / 2, position % 2))
                    }
                    other => panic!("{other}"),
                }
                let narrow = x.map(|v| v as f32);
                assert!(matches!(
                    Features::f32(&narrow, 3, 2),
                    Err(Error::NonFinite { .. })
                ));
            }
        }
        let all = Features::f64(&[f64::NAN; 6], 3, 2).unwrap_err();
        assert!(matches!(
            all,
            Error::NonFinite {
                count: 6,
                rows: 3,
                row: 0,
                column: 0,
                ..
            }
        ));
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        for (n, dim) in [(0, 2), (2, 0), (2, 2), (usize::MAX, 2)] {
            assert!(
                matches!(Features::f64(&[1.0; 6], n, dim), Err(Error::Shape(_))),
                "{n} x {dim}"
            );
        }
    }

    #[test]
    fn groups_of_identical_rows() {
        let x = [1.0, 2.0, 0.0, 5.0, 1.0, 2.0, -0.0, 5.0, 9.0, 9.0, 1.0, 2.0];
        let view = Features::f64(&x, 6, 2).unwrap();
        assert_eq!(view.duplicate_groups(), [vec![0, 2, 5], vec![1, 3]]);
    }

    #[test]
    fn distances_by_hand() {
        // (1,2,3,4,5) and (5,4,3,2,1): 16 + 4 + 0 + 4 + 16 = 40.
        let x = [1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 4.0, 3.0, 2.0, 1.0];
        let view = Features::f64(&x, 2, 5).unwrap();
        assert_eq!(view.squared_distance(0, 1), 40.0);
        let huge = Features::f64(&[3e200, 4e200], 1, 2).unwrap().norm(0);
        assert!((huge / 5e200 - 1.0).abs() < 1e-15);
        assert_eq!(Features::f64(&[0.0, 0.0], 1, 2).unwrap().norm(0), 0.0);
    }
}
