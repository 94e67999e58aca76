//! Fewer dimensions: the leading principal components of a dense matrix, by a randomised block.
//!
//! ```text
//! A ~ Q U Σ Vᵀ          Q: an orthonormal basis of the range of (A Aᵀ)^q A Ω, Ω a Gaussian block of rank + 8 columns
//! Qᵀ A = U Σ Vᵀ         from the eigenpairs of (Aᵀ Q)ᵀ (Aᵀ Q) = U Σ² Uᵀ
//! new features: Q U Σ   the rows of A in the coordinates V
//! ```
//!
//! Halko, Martinsson, Tropp, "Finding structure with randomness", 2011, with q = 4 rounds, each made orthonormal. For
//! principal components A is the matrix less its column means, which are never subtracted entry by entry. Every sum is
//! taken by one thread in one order, so the bits do not depend on the number of threads.

use dial::Control;
use dial::linalg::eigen::dense::eigen;
use dial::seed::{Purpose, Random};
use rayon::prelude::*;

use crate::error::Fault;
use crate::pool::matrix::{Buffer, Matrix};

const POWER_ITERATIONS: usize = 4;
const EXTRA_COLUMNS: usize = 8;
/// Columns of a dense matrix that are taken together, and rows done by a thread at a time.
const COLUMNS_PER_STRIPE: usize = 16;
const ROWS_PER_TASK: usize = 256;

/// `sums += factor * terms`.
fn add(sums: &mut [f64], factor: f64, terms: &[f64]) {
    sums.iter_mut()
        .zip(terms)
        .for_each(|(sum, term)| *sum += factor * term);
}

/// A matrix less its column means.
struct Centred<'a> {
    matrix: &'a Matrix,
    means: Vec<f64>,
}

impl Centred<'_> {
    /// A B, a block of n rows.
    fn times(&self, block: &[f64], l: usize) -> Vec<f64> {
        let Centred { matrix, means } = self;
        let mut shift = vec![0.0; l];
        means
            .iter()
            .enumerate()
            .for_each(|(column, &mean)| add(&mut shift, -mean, &block[column * l..][..l]));
        let mut out = vec![0.0; matrix.n * l];
        out.par_chunks_mut(ROWS_PER_TASK * l)
            .enumerate()
            .for_each(|(chunk, rows)| {
                for (i, sums) in rows.chunks_mut(l).enumerate() {
                    sums.copy_from_slice(&shift);
                    for column in 0..matrix.dim {
                        add(
                            sums,
                            matrix.get(chunk * ROWS_PER_TASK + i, column),
                            &block[column * l..(column + 1) * l],
                        );
                    }
                }
            });
        out
    }

    /// Aᵀ Y, a block of as many rows as A has columns.
    fn transposed_times(&self, block: &[f64], l: usize) -> Vec<f64> {
        let Centred { matrix, means } = self;
        let mut total = vec![0.0; l];
        block.chunks(l).for_each(|row| add(&mut total, 1.0, row));
        let mut out = vec![0.0; matrix.dim * l];
        out.par_chunks_mut(COLUMNS_PER_STRIPE * l)
            .enumerate()
            .for_each(|(stripe, sums)| {
                let first = stripe * COLUMNS_PER_STRIPE;
                for row in 0..matrix.n {
                    let terms = &block[row * l..(row + 1) * l];
                    sums.chunks_mut(l)
                        .enumerate()
                        .for_each(|(i, sums)| add(sums, matrix.get(row, first + i), terms));
                }
                sums.chunks_mut(l)
                    .enumerate()
                    .for_each(|(i, sums)| add(sums, -means[first + i], &total));
            });
        out
    }
}

/// The leading principal components of a matrix: each row in fewer coordinates, the widest spread first. Asking for
/// if there are fewer, all of them.
pub(crate) fn principal(matrix: &Matrix, rank: usize, control: &Control) -> Result<Matrix, Fault> {
    let mut means = vec![0.0; matrix.dim];
    for row in 0..matrix.n {
        means
            .iter_mut()
            .enumerate()
            .for_each(|(column, mean)| *mean += matrix.get(row, column));
    }
    means.iter_mut().for_each(|mean| *mean /= matrix.n as f64);
    reduce(&Centred { matrix, means }, rank, control)
}

fn reduce(a: &Centred<'_>, rank: usize, control: &Control) -> Result<Matrix, Fault> {
    let (n, m) = (a.matrix.n, a.matrix.dim);
    let mut l = rank.saturating_add(EXTRA_COLUMNS).min(n).min(m);
    let mut random = Random::new(0, Purpose::Subspace, 0);
    let start: Vec<f64> = (0..m * l).map(|_| random.normal()).collect();
    control.start("finding principal directions", POWER_ITERATIONS + 1);
    let mut basis = if l == 0 {
        Vec::new()
    } else {
        a.times(&start, l)
    };
    for _ in 0..POWER_ITERATIONS {
        (basis, l) = orthonormal(basis, l)?;
        if l == 0 {
            break;
        }
        basis = a.times(&a.transposed_times(&basis, l), l);
        control.advance(1)?;
    }
    (basis, l) = orthonormal(basis, l)?;
    if l == 0 {
        control.finish();
        return Ok(Matrix {
            values: Buffer::F32(vec![0.0; n]),
            n,
            dim: 1,
        });
    }
    let right = a.transposed_times(&basis, l);
    let (squares, vectors) = eigen(gram(&right, l), l)?;
    control.advance(1)?;
    control.finish();
    // The largest come last. Directions in which nothing varies are left out, but one is always kept.
    let largest = squares.last().copied().unwrap_or(0.0);
    let real = squares
        .iter()
        .filter(|&&square| square > largest * 1e-12)
        .count();
    let dim = rank.min(real).max(1);
    let chosen: Vec<usize> = (0..dim).map(|i| l - 1 - i).collect();
    let value =
        |row: &[f64], i: usize| dot(row, &vectors[i * l..(i + 1) * l]) * squares[i].max(0.0).sqrt();
    let rows = basis
        .par_chunks(l)
        .flat_map_iter(|row| chosen.iter().map(move |&i| value(row, i) as f32));
    Ok(Matrix {
        values: Buffer::F32(rows.collect()),
        n,
        dim,
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Bᵀ B of a block of rows of l numbers, by chunks of rows in their order.
fn gram(block: &[f64], l: usize) -> Vec<f64> {
    let parts: Vec<Vec<f64>> = block
        .par_chunks((16 * ROWS_PER_TASK * l).max(1))
        .map(|rows| {
            let mut sums = vec![0.0; l * l];
            for row in rows.chunks(l) {
                row.iter()
                    .enumerate()
                    .for_each(|(i, &value)| add(&mut sums[i * l..(i + 1) * l], value, row));
            }
            sums
        })
        .collect();
    let mut total = vec![0.0; l * l];
    parts.iter().for_each(|part| add(&mut total, 1.0, part));
    total
}

/// An orthonormal basis of what a block spans, directions that vanish left out: B V Λ^(-1/2) with Bᵀ B = V Λ Vᵀ, twice,
/// because once loses half of the digits.
fn orthonormal(block: Vec<f64>, l: usize) -> Result<(Vec<f64>, usize), Fault> {
    let (mut block, mut l) = (block, l);
    for _ in 0..2 {
        if l == 0 {
            break;
        }
        let (values, vectors) = eigen(gram(&block, l), l)?;
        let largest = values.last().copied().unwrap_or(0.0);
        let kept: Vec<usize> = (0..l)
            .filter(|&i| values[i] > largest * 1e-14 && values[i] > 0.0)
            .collect();
        let directions: Vec<(&[f64], f64)> = kept
            .iter()
            .map(|&i| (&vectors[i * l..(i + 1) * l], 1.0 / values[i].sqrt()))
            .collect();
        let one = |row: &[f64]| {
            directions
                .iter()
                .map(|(v, scale)| dot(row, v) * scale)
                .collect::<Vec<f64>>()
        };
        (block, l) = (block.par_chunks(l).flat_map_iter(one).collect(), kept.len());
    }
    Ok((block, l))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(values: Vec<f64>, dim: usize) -> Matrix {
        Matrix {
            n: values.len() / dim,
            values: Buffer::F64(values),
            dim,
        }
    }

    #[test]
    fn a_line_has_one_direction() {
        // Points on the line (1, 2, 2) t: coordinates 3 (t - mean) along it, up to the sign.
        let ts = [0.0, 1.0, 4.0, 7.0];
        let line = matrix(
            ts.iter()
                .flat_map(|t| [t + 5.0, 2.0 * t, 2.0 * t - 9.0])
                .collect(),
            3,
        );
        let found = principal(&line, 2, &Control::new()).unwrap();
        assert_eq!((found.n, found.dim), (4, 1));
        let sign = found.get(3, 0).signum();
        for (row, t) in ts.iter().enumerate() {
            assert!(
                (found.get(row, 0) * sign - 3.0 * (t - 3.0)).abs() < 1e-5,
                "{found:?}"
            );
        }
    }

    #[test]
    fn all_components_keep_all_distances() {
        let mut random = Random::new(3, Purpose::User, 0);
        let x = matrix((0..40 * 7).map(|_| random.normal()).collect(), 7);
        let y = principal(&x, 7, &Control::new()).unwrap();
        assert_eq!(principal(&x, usize::MAX, &Control::new()).unwrap(), y);
        let distance = |m: &Matrix, i, j| {
            (0..m.dim)
                .map(|c| (m.get(i, c) - m.get(j, c)).powi(2))
                .sum::<f64>()
        };
        for (i, j) in [(0, 1), (3, 20), (39, 5)] {
            assert!((distance(&x, i, j) - distance(&y, i, j)).abs() < 1e-4);
        }
        // The spread falls from column to column.
        let spread = |c| (0..40).map(|row| y.get(row, c).powi(2)).sum::<f64>();
        assert!((0..6).all(|c| spread(c) >= spread(c + 1)));
    }

    #[test]
    fn products_are_kept_and_nothing_is_nothing() {
        // Rows that sum to nothing over the pool, so centring changes nothing. Their products: 5, 10, 13 on the diagonal, -1,
        // -4, -9 beside it.
        let rows = [[1.0, 0.0, -2.0], [-1.0, 3.0, 0.0], [0.0, -3.0, 2.0]];
        let made = principal(&matrix(rows.concat(), 3), 3, &Control::new()).unwrap();
        assert_eq!(made.dim, 2);
        for (i, j, expected) in [(0, 0, 5.0), (0, 1, -1.0), (1, 2, -9.0)] {
            let product: f64 = (0..2).map(|c| made.get(i, c) * made.get(j, c)).sum();
            assert!((product - expected).abs() < 1e-5);
        }
        let same = principal(&matrix(vec![4.0; 6], 2), 2, &Control::new()).unwrap();
        assert_eq!((same.dim, same.values), (1, Buffer::F32(vec![0.0; 3])));
    }
}
