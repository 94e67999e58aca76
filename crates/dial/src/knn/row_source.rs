//! Feature rows that are read by position, block by block, and what the approximate search makes of them.
//!
//! Rows become f32 in a scaled space: Euclidean rows are divided by a power of two so that nothing exceeds 1 (exact for
//! f32 rows; f64 rows are centred on their mean first), cosine rows get length 1. Squared distances in the scaled space
//! times `unit` are those of the features.

use std::ops::Range;

use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::features::{Features, Metric, Values};
use crate::knn::metric_space::{Space, ZeroVectors};

/// Fills a buffer with the rows of a range.
pub type ReadRows<'a> = dyn Fn(Range<usize>, &mut [f32]) -> Result<()> + Sync + 'a;

/// Rows read by position from wherever they are: a file larger than memory, for example.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// Number of rows.
    pub n: usize,
    /// Numbers in a row.
    pub dim: usize,
    /// Fills the buffer with the rows of a range, row-major. Called from several threads at once; must always give the
    /// same numbers for the same rows.
    pub read: &'a ReadRows<'a>,
}

/// Rows in the scaled space.
pub(crate) struct Source<'a> {
    pub(crate) n: usize,
    pub(crate) dim: usize,
    pub(crate) read: Box<ReadRows<'a>>,
    /// Zero vectors under cosine, which take no part.
    pub(crate) isolated: Vec<bool>,
    pub(crate) unit: f64,
}

/// Rows that one read takes.
pub(crate) const ROWS_PER_READ: usize = 4096;

/// The power of two that brings a number to at most 1.
fn power_below(largest: f64) -> f64 {
    libm::exp2(-libm::ceil(libm::log2(largest.max(f64::MIN_POSITIVE))))
}

impl<'a> Source<'a> {
    /// Features in memory.
    pub(crate) fn of_space(space: &'a Space<'a>, metric: Metric) -> Source<'a> {
        let features = space.features;
        let (n, dim) = (features.n(), features.dim());
        let mean = match (metric, features.values()) {
            (Metric::Euclidean, Values::F64(_)) => column_means(features),
            _ => vec![0.0; dim],
        };
        let scale = match metric {
            Metric::Cosine => 1.0,
            Metric::Euclidean => {
                let largest = |row: usize| {
                    (0..dim)
                        .map(|column| (features.get(row, column) - mean[column]).abs())
                        .fold(0.0, f64::max)
                };
                power_below((0..n).into_par_iter().map(largest).reduce(|| 0.0, f64::max))
            }
        };
        let read = move |range: Range<usize>, out: &mut [f32]| {
            for (row, out) in range.zip(out.chunks_mut(dim)) {
                for (column, out) in out.iter_mut().enumerate() {
                    *out = ((space.value(row, column) - mean[column]) * scale) as f32;
                }
            }
            Ok(())
        };
        let unit = 1.0 / (scale * scale);
        Source {
            n,
            dim,
            read: Box::new(read),
            isolated: space.isolated.clone(),
            unit,
        }
    }

    /// Rows from elsewhere, looked through once: finite, not all the same, which are zero, how large they get.
    pub(crate) fn of_rows(
        rows: Rows<'a>,
        metric: Metric,
        zero_vectors: ZeroVectors,
        control: &Control,
    ) -> Result<Source<'a>> {
        let Rows { n, dim, read } = rows;
        if n == 0 || dim == 0 {
            return Err(Error::Shape(format!("{n} rows of {dim} numbers")));
        }
        control.start("looking through the features", n);
        let blocks: Vec<RowScan> = (0..n.div_ceil(ROWS_PER_READ))
            .into_par_iter()
            .map(|block| {
                let range = block * ROWS_PER_READ..((block + 1) * ROWS_PER_READ).min(n);
                let mut values = vec![0.0; range.len() * dim];
                read(range.clone(), &mut values)?;
                control.advance(range.len())?;
                Ok(RowScan::at(range.start, dim, &values))
            })
            .collect::<Result<_>>()?;
        control.finish();
        let look = blocks
            .into_iter()
            .reduce(RowScan::join)
            .expect("there are rows");
        look.check(n)?;
        let (mut isolated, mut scale) = (vec![false; n], 1.0);
        match metric {
            Metric::Euclidean => scale = power_below(look.largest()),
            Metric::Cosine => {
                if let (Some(&first), ZeroVectors::Error) = (look.zero.first(), zero_vectors) {
                    return Err(Error::ZeroVectors {
                        count: look.zero.len(),
                        first,
                    });
                }
                look.zero.iter().for_each(|&row| isolated[row] = true);
            }
        }
        let read = move |range: Range<usize>, out: &mut [f32]| {
            read(range, out)?;
            for row in out.chunks_mut(dim) {
                let scale = if metric == Metric::Cosine {
                    reciprocal_length(row)
                } else {
                    scale
                };
                row.iter_mut()
                    .for_each(|value| *value = (f64::from(*value) * scale) as f32);
            }
            Ok(())
        };
        Ok(Source {
            n,
            dim,
            read: Box::new(read),
            isolated,
            unit: 1.0 / (scale * scale),
        })
    }

    /// Reads single rows into one matrix.
    pub(crate) fn gather(&self, rows: &[usize]) -> Result<Vec<f32>> {
        let mut values = vec![0.0; rows.len() * self.dim];
        let places = values.par_chunks_mut(self.dim).zip(rows);
        places.try_for_each(|(out, &row)| (self.read)(row..row + 1, out))?;
        Ok(values)
    }
}

/// 1/|x|, or 0 for a row of length zero.
fn reciprocal_length(row: &[f32]) -> f64 {
    let square: f64 = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    if square > 0.0 {
        1.0 / square.sqrt()
    } else {
        0.0
    }
}

fn column_means(features: Features<'_>) -> Vec<f64> {
    let mut mean = vec![0.0; features.dim()];
    for row in 0..features.n() {
        for (column, mean) in mean.iter_mut().enumerate() {
            *mean += (features.get(row, column) - *mean) / (row + 1) as f64;
        }
    }
    mean
}

/// What a look at some rows shows.
struct RowScan {
    ranges: Vec<(f32, f32)>,
    zero: Vec<usize>,
    bad: Option<Error>,
}

impl RowScan {
    fn at(first: usize, dim: usize, values: &[f32]) -> RowScan {
        let mut look = RowScan {
            ranges: vec![(f32::INFINITY, f32::NEG_INFINITY); dim],
            zero: Vec::new(),
            bad: None,
        };
        for (row, values) in (first..).zip(values.chunks(dim)) {
            for (&value, (low, high)) in values.iter().zip(&mut look.ranges) {
                (*low, *high) = (low.min(value), high.max(value));
            }
            if values.iter().all(|&value| value == 0.0) {
                look.zero.push(row);
            }
            let wrong = values.iter().filter(|value| !value.is_finite()).count();
            if let Some(column) = values.iter().position(|value| !value.is_finite()) {
                let value = f64::from(values[column]);
                let bad = Error::NonFinite {
                    count: wrong,
                    rows: 1,
                    row,
                    column,
                    value,
                };
                look.bad = add_faults(look.bad.take(), Some(bad));
            }
        }
        look
    }

    fn join(mut self, other: RowScan) -> RowScan {
        for ((low, high), (other_low, other_high)) in self.ranges.iter_mut().zip(other.ranges) {
            (*low, *high) = (low.min(other_low), high.max(other_high));
        }
        self.zero.extend(other.zero);
        self.bad = add_faults(self.bad, other.bad);
        self
    }

    fn largest(&self) -> f64 {
        self.ranges
            .iter()
            .map(|&(low, high)| f64::from(low.abs().max(high.abs())))
            .fold(0.0, f64::max)
    }

    fn check(&self, n: usize) -> Result<()> {
        match &self.bad {
            Some(bad) => Err(bad.clone()),
            None if self.ranges.iter().all(|(low, high)| low == high) => {
                Err(Error::AllIdentical { n })
            }
            None => Ok(()),
        }
    }
}

fn add_faults(earlier: Option<Error>, later: Option<Error>) -> Option<Error> {
    match (earlier, later) {
        (
            Some(Error::NonFinite {
                count,
                rows,
                row,
                column,
                value,
            }),
            Some(Error::NonFinite {
                count: c, rows: r, ..
            }),
        ) => Some(Error::NonFinite {
            count: count + c,
            rows: rows + r,
            row,
            column,
            value,
        }),
        (earlier, later) => earlier.or(later),
    }
}
