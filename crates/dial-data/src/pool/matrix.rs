//! Features that own their memory: a row-major matrix in the precision it came in.
//!
//! Standardising a column: x -> (x - m) / s with m its mean and s² = Σ (x - m)² / n, where magnitudes are
//! extreme both taken of x divided by the largest, so that columns near 1e300 neither overflow nor vanish. A constant column becomes 0.

use dial::Features;

use crate::error::Result;

/// Row-major values.
#[derive(Clone, Debug, PartialEq)]
pub enum Buffer {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 64-bit floats.
    F64(Vec<f64>),
}

impl Buffer {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Buffer::F32(values) => values.len(),
            Buffer::F64(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn get(&self, position: usize) -> Option<f64> {
        match self {
            Buffer::F32(values) => values.get(position).map(|&value| f64::from(value)),
            Buffer::F64(values) => values.get(position).copied(),
        }
    }

    fn set(&mut self, position: usize, value: f64) {
        match self {
            Buffer::F32(values) => {
                if let Some(slot) = values.get_mut(position) {
                    *slot = value as f32;
                }
            }
            Buffer::F64(values) => {
                if let Some(slot) = values.get_mut(position) {
                    *slot = value;
                }
            }
        }
    }
}

/// A matrix of n rows and `dim` columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// The values, row after row.
    pub values: Buffer,
    /// Number of rows.
    pub n: usize,
    /// Number of columns.
    pub dim: usize,
}

impl Matrix {
    /// The checked view that the core works on.
    pub fn features(&self) -> Result<Features<'_>> {
        let features = match &self.values {
            Buffer::F32(values) => Features::f32(values, self.n, self.dim),
            Buffer::F64(values) => Features::f64(values, self.n, self.dim),
        };
        Ok(features?)
    }

    /// The value at a row and column, as f64 (exact).
    ///
    /// # Panics
    /// If there is no such row or column.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        assert!(
            row < self.n && column < self.dim,
            "({row}, {column}) is outside {} x {}",
            self.n,
            self.dim
        );
        self.values.get(row * self.dim + column).unwrap_or(f64::NAN)
    }

    /// The rows named, in that order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn select_rows(&self, keep: &[usize]) -> Matrix {
        fn gather<T: Copy>(values: &[T], keep: &[usize], dim: usize) -> Vec<T> {
            keep.iter()
                .flat_map(|&row| &values[row * dim..(row + 1) * dim])
                .copied()
                .collect()
        }
        let values = match &self.values {
            Buffer::F32(values) => Buffer::F32(gather(values, keep, self.dim)),
            Buffer::F64(values) => Buffer::F64(gather(values, keep, self.dim)),
        };
        Matrix {
            values,
            n: keep.len(),
            dim: self.dim,
        }
    }

    /// Shifts and scales each column to mean 0 and standard deviation 1; constant columns become 0.
    pub fn standardize(&mut self) {
        self.standardize_first(self.dim);
    }

    /// The same for the first columns.
    pub(crate) fn standardize_first(&mut self, columns: usize) {
        for column in 0..columns.min(self.dim) {
            let positions = (column..self.n * self.dim).step_by(self.dim);
            let value = |p| self.values.get(p).unwrap_or(0.0);
            let largest = positions
                .clone()
                .map(|p| value(p).abs())
                .fold(0.0, f64::max);
            let scale = if largest == 0.0 || (1e-100..1e100).contains(&largest) {
                1.0
            } else {
                largest
            };
            let count = self.n as f64;
            let mean = positions.clone().map(|p| value(p) / scale).sum::<f64>() / count;
            let square = |x: f64| x * x;
            let variance = positions
                .clone()
                .map(|p| square(value(p) / scale - mean))
                .sum::<f64>()
                / count;
            let first = value(column);
            let constant = positions.clone().all(|p| value(p) == first);
            for p in positions {
                let x = self.values.get(p).unwrap_or(0.0) / scale - mean;
                self.values
                    .set(p, if constant { 0.0 } else { x / variance.sqrt() });
            }
        }
    }

    /// The rows that hold a NaN or an infinity, ascending.
    pub fn nonfinite_rows(&self) -> Vec<usize> {
        self.rows_where(
            |row| row.iter().any(|value| !value.is_finite()),
            |row| row.iter().any(|value| !value.is_finite()),
        )
    }

    /// The rows of length zero for the cosine metric, ascending: those that the core would refuse or isolate.
    pub fn zero_rows(&self) -> Result<Vec<usize>> {
        let features = self.features()?;
        Ok((0..self.n)
            .filter(|&row| !(1.0 / features.norm(row)).is_finite())
            .collect())
    }

    fn rows_where(
        &self,
        narrow: impl Fn(&[f32]) -> bool,
        wide: impl Fn(&[f64]) -> bool,
    ) -> Vec<usize> {
        fn matching<T>(values: &[T], dim: usize, wanted: impl Fn(&[T]) -> bool) -> Vec<usize> {
            values
                .chunks(dim.max(1))
                .enumerate()
                .filter(|(_, row)| wanted(row))
                .map(|(index, _)| index)
                .collect()
        }
        match &self.values {
            Buffer::F32(values) => matching(values, self.dim, narrow),
            Buffer::F64(values) => matching(values, self.dim, wide),
        }
    }

    /// Position (row, column) and number of the values that are not finite: (first, values, rows).
    pub(crate) fn nonfinite(&self) -> Option<((usize, usize), usize, usize)> {
        let rows = self.nonfinite_rows();
        let bad = |&row: &usize| {
            (0..self.dim)
                .filter(move |&c| !self.get(row, c).is_finite())
                .map(move |c| (row, c))
        };
        let first = rows.first().and_then(|row| bad(row).next())?;
        Some((
            first,
            rows.iter().map(|row| bad(row).count()).sum(),
            rows.len(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(values: &[f64], dim: usize) -> Matrix {
        Matrix {
            values: Buffer::F64(values.to_vec()),
            n: values.len() / dim,
            dim,
        }
    }

    #[test]
    fn standardize_by_hand() {
        // 1, 3: mean 2, sd 1. Constant 7: 0. ±1e300: ±1. 0.1 three times is constant though its mean is rounded.
        let mut x = matrix(&[1.0, 7.0, 1e300, 3.0, 7.0, -1e300], 3);
        x.standardize();
        assert_eq!(x, matrix(&[-1.0, 0.0, 1.0, 1.0, 0.0, -1.0], 3));
        let mut tenths = matrix(&[0.1, 0.1, 0.1], 1);
        tenths.standardize();
        assert_eq!(tenths, matrix(&[0.0; 3], 1));
    }

    #[test]
    fn rows_are_found_and_selected() {
        let x = matrix(
            &[0.0, 0.0, 1.0, f64::NAN, f64::INFINITY, f64::NAN, -0.0, 0.0],
            2,
        );
        assert_eq!(x.nonfinite_rows(), [1, 2]);
        // The reciprocal of 1e-310 is infinite, that of 1e-300 is not.
        let tiny = matrix(&[0.0, -0.0, 1e-310, 0.0, 1e-300, 0.0, 1.0, 2.0], 2);
        assert_eq!(tiny.zero_rows().unwrap(), [0, 1]);
        assert_eq!(x.nonfinite(), Some(((1, 1), 3, 2)));
        let kept = x.select_rows(&[3, 0]);
        assert_eq!((kept.n, kept.dim, kept.nonfinite()), (2, 2, None));
        let narrow = Matrix {
            values: Buffer::F32(vec![1.0, 2.0, 3.0]),
            n: 3,
            dim: 1,
        };
        assert_eq!(
            narrow.select_rows(&[2, 1]).values,
            Buffer::F32(vec![3.0, 2.0])
        );
        assert_eq!(x.features().unwrap_err().code(), "I1");
        assert!(narrow.features().is_ok());
    }
}
