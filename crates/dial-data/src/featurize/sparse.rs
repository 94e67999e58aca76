//! A sparse matrix by rows, and its product with a narrow block.
//!
//! A block is one `[f32; WIDTH]` per row, so that the sums of a row stay in registers. Each row of a product is summed by
//! one thread in the order of its entries: the bits do not depend on the number of threads.

use rayon::prelude::*;

/// Columns of a block.
pub(crate) const WIDTH: usize = 32;
/// Rows done by a thread at a time.
const ROWS_PER_TASK: usize = 256;

/// A sparse matrix by rows: row i holds the entries `starts[i]..starts[i + 1]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sparse {
    pub starts: Vec<usize>,
    pub columns: Vec<u32>,
    pub values: Vec<f32>,
    /// Number of columns.
    pub width: usize,
}

impl Sparse {
    pub(crate) fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let range = self.starts[row]..self.starts[row + 1];
        self.columns[range.clone()]
            .iter()
            .zip(&self.values[range])
            .map(|(&column, &value)| (column as usize, value))
    }

    pub(crate) fn transposed(&self) -> Sparse {
        let mut starts = vec![0usize; self.width + 1];
        self.columns
            .iter()
            .for_each(|&column| starts[column as usize + 1] += 1);
        (0..self.width).for_each(|column| starts[column + 1] += starts[column]);
        let mut next = starts.clone();
        let entries = self.columns.len();
        let (mut columns, mut values) = (vec![0u32; entries], vec![0f32; entries]);
        for row in 0..self.rows() {
            for (column, value) in self.row(row) {
                columns[next[column]] = row as u32;
                values[next[column]] = value;
                next[column] += 1;
            }
        }
        Sparse {
            starts,
            columns,
            values,
            width: self.rows(),
        }
    }

    /// This times a block of as many rows as this has columns.
    pub(crate) fn times(&self, block: &[[f32; WIDTH]]) -> Vec<[f32; WIDTH]> {
        let mut out = vec![[0.0; WIDTH]; self.rows()];
        out.par_chunks_mut(ROWS_PER_TASK)
            .enumerate()
            .for_each(|(task, rows)| {
                for (i, sums) in rows.iter_mut().enumerate() {
                    *sums = self.row_times(task * ROWS_PER_TASK + i, block);
                }
            });
        out
    }

    fn row_times(&self, row: usize, block: &[[f32; WIDTH]]) -> [f32; WIDTH] {
        let mut sums = [0.0; WIDTH];
        for (column, value) in self.row(row) {
            for (sum, term) in sums.iter_mut().zip(&block[column]) {
                *sum += value * term;
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_and_multiplying_a_small_matrix() {
        // (1 0 -2; 0 3 0), its transpose, and both times a block whose column j is j times its first.
        let a = Sparse {
            starts: vec![0, 2, 3],
            columns: vec![0, 2, 1],
            values: vec![1.0, -2.0, 3.0],
            width: 3,
        };
        let b = Sparse {
            starts: vec![0, 1, 2, 3],
            columns: vec![0, 1, 0],
            values: vec![1.0, 3.0, -2.0],
            width: 2,
        };
        assert_eq!(a.transposed(), b);
        assert_eq!(b.transposed(), a);
        let block = |first: &[f32]| -> Vec<[f32; WIDTH]> {
            let row = |&x: &f32| std::array::from_fn(|j| j as f32 * x);
            first.iter().map(row).collect()
        };
        assert_eq!(a.times(&block(&[5.0, 7.0, 1.0])), block(&[3.0, 21.0]));
        assert_eq!(b.times(&block(&[2.0, 1.0])), block(&[2.0, 3.0, -4.0]));
    }
}
