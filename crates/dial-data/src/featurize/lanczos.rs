//! The leading singular directions of a sparse matrix, by block Lanczos.
//!
//! ```text
//! Q₁               an orthonormal basis of a Gaussian block of b = 32 columns
//! W_j = A Aᵀ Q_j    T_ij = Q_iᵀ W_j for i <= j, and T is symmetric
//! Q_{j+1}          an orthonormal basis of W_j less its part in Q_1, ..., Q_j; directions that vanish are zero
//! T = Y Θ Yᵀ       Q Y ~ U, Θ ~ Σ²: the rows of A in the coordinates V are U Σ = Q Y Θ^(1/2)
//! ```
//!
//! Golub, Underwood, "The block Lanczos method for computing eigenvalues", 1977; as few products of the matrix as a
//! subspace of this size can have (Musco, Musco, "Randomized block Krylov methods", 2015). The products are in f32, all
//! that must be orthogonal is in f64. Sums of many rows are taken by fixed chunks and added in order: the bits do not
//! depend on the number of threads.

use dial::Control;
use dial::linalg::eigen::dense::eigen;
use dial::seed::{Purpose, Random};
use rayon::prelude::*;

use crate::error::Fault;
use crate::featurize::sparse::{Sparse, WIDTH};
use crate::pool::matrix::{Buffer, Matrix};

/// The subspace has this many times as many dimensions as are wanted, and this many blocks at least.
const OVERSAMPLING: f64 = 2.5;
const MIN_STEPS: usize = 5;
/// Rows done by a thread at a time.
const ROWS_PER_TASK: usize = 1024;
/// Shorter than this part of what was there, a direction is rounding of the products in f32.
const MIN_PART: f64 = 1e-6;
/// A value Θ below this part of the largest is rounding too.
const MIN_SQUARE: f64 = 1e-6;

/// A row of a block of columns.
type Row = [f64; WIDTH];
/// A product of two blocks.
type Small = [Row; WIDTH];

/// The rows of a sparse matrix in the coordinates of its leading singular directions: as many as `rank` if there are so
/// many, one at least.
pub(crate) fn leading(sparse: &Sparse, rank: usize, control: &Control) -> Result<Matrix, Fault> {
    let n = sparse.rows();
    let most = n.min(sparse.width).div_ceil(WIDTH);
    let wanted = ((rank as f64 * OVERSAMPLING) as usize).div_ceil(WIDTH);
    let steps = wanted.max(MIN_STEPS).min(most);
    control.start("finding principal directions", steps + 1);
    let transposed = sparse.transposed();
    let mut basis: Vec<Vec<Row>> = Vec::with_capacity(steps);
    let mut projected = vec![0.0; steps * WIDTH * steps * WIDTH];
    let mut block = random_block(n);
    let mut found = orthonormal(&mut block, 0.0)?;
    for step in 0..steps {
        if found == 0 {
            break;
        }
        let (mut image, length) = squared_times(sparse, &transposed, &block);
        basis.push(block);
        for (before, q) in basis.iter().enumerate() {
            let part = products(q, &image);
            remove(&mut image, q, &part);
            keep(&mut projected, steps * WIDTH, (before, step), &part);
        }
        for q in &basis {
            let part = products(q, &image);
            remove(&mut image, q, &part);
        }
        block = image;
        found = orthonormal(&mut block, MIN_PART * length)?;
        control.advance(1)?;
    }
    let made = combined(&basis, projected, steps * WIDTH, n, rank)?;
    control.finish();
    Ok(made)
}

fn random_block(n: usize) -> Vec<Row> {
    let mut random = Random::new(0, Purpose::Subspace, 0);
    (0..n)
        .map(|_| std::array::from_fn(|_| random.normal()))
        .collect()
}

/// A Aᵀ Q, and the length of its longest column.
fn squared_times(sparse: &Sparse, transposed: &Sparse, block: &[Row]) -> (Vec<Row>, f64) {
    let narrow: Vec<[f32; WIDTH]> = block.iter().map(|row| row.map(|x| x as f32)).collect();
    let image = sparse.times(&transposed.times(&narrow));
    let image: Vec<Row> = image.into_iter().map(|row| row.map(f64::from)).collect();
    let squares = products(&image, &image);
    let longest = (0..WIDTH).map(|i| squares[i][i]).fold(0.0, f64::max).sqrt();
    (image, longest)
}

/// Aᵀ B of two blocks.
fn products(a: &[Row], b: &[Row]) -> Small {
    let of_chunk = |(a, b): (&[Row], &[Row])| {
        let mut sums = [[0.0; WIDTH]; WIDTH];
        for (a, b) in a.iter().zip(b) {
            for (sums, &factor) in sums.iter_mut().zip(a) {
                add(sums, factor, b);
            }
        }
        sums
    };
    let parts: Vec<Small> = a
        .par_chunks(ROWS_PER_TASK)
        .zip(b.par_chunks(ROWS_PER_TASK))
        .map(of_chunk)
        .collect();
    let mut total = [[0.0; WIDTH]; WIDTH];
    for part in &parts {
        for (total, part) in total.iter_mut().zip(part) {
            add(total, 1.0, part);
        }
    }
    total
}

/// `sums += factor * terms`.
fn add(sums: &mut [f64], factor: f64, terms: &[f64]) {
    sums.iter_mut()
        .zip(terms)
        .for_each(|(sum, term)| *sum += factor * term);
}

/// B - Q C.
fn remove(block: &mut [Row], q: &[Row], part: &Small) {
    block
        .par_chunks_mut(ROWS_PER_TASK)
        .zip(q.par_chunks(ROWS_PER_TASK))
        .for_each(|(block, q)| {
            for (row, q) in block.iter_mut().zip(q) {
                for (part, &factor) in part.iter().zip(q) {
                    add(row, -factor, part);
                }
            }
        });
}

/// Writes T_ij and its mirror; on the diagonal the mean of both.
fn keep(projected: &mut [f64], dim: usize, (i, j): (usize, usize), part: &Small) {
    for (a, row) in part.iter().enumerate() {
        for (b, &value) in row.iter().enumerate() {
            let value = if i == j {
                0.5 * (value + part[b][a])
            } else {
                value
            };
            let (row, column) = (i * WIDTH + a, j * WIDTH + b);
            projected[row * dim + column] = value;
            projected[column * dim + row] = value;
        }
    }
}

/// Makes the columns of a block orthonormal, those that are no longer than `shortest` zero: B V Λ^(-1/2) with Bᵀ B = V Λ Vᵀ,
/// twice, because once loses half of the digits. Returns how many are left.
fn orthonormal(block: &mut [Row], shortest: f64) -> Result<usize, Fault> {
    let mut left = 0;
    for shortest in [shortest, 0.5] {
        let gram = products(block, block);
        let (squares, vectors) = eigen(gram.concat(), WIDTH)?;
        let largest = squares.last().copied().unwrap_or(0.0);
        let least = (shortest * shortest).max(largest * 1e-14);
        let is_kept = |&i: &usize| squares[i] > least && squares[i] > 0.0;
        let kept: Vec<usize> = (0..WIDTH).rev().filter(is_kept).collect();
        left = kept.len();
        let mut turn = [[0.0; WIDTH]; WIDTH];
        for (to, &i) in kept.iter().enumerate() {
            let scale = 1.0 / squares[i].sqrt();
            for (from, row) in turn.iter_mut().enumerate() {
                row[to] = vectors[i * WIDTH + from] * scale;
            }
        }
        block.par_chunks_mut(ROWS_PER_TASK).for_each(|rows| {
            for row in rows {
                let mut turned = [0.0; WIDTH];
                for (part, &factor) in turn.iter().zip(row.iter()) {
                    add(&mut turned, factor, part);
                }
                *row = turned;
            }
        });
    }
    Ok(left)
}

/// Q Y Θ^(1/2) of the leading eigenpairs of T.
fn combined(
    basis: &[Vec<Row>],
    projected: Vec<f64>,
    dim: usize,
    n: usize,
    rank: usize,
) -> Result<Matrix, Fault> {
    let (squares, vectors) = eigen(projected, dim)?;
    let largest = squares.last().copied().unwrap_or(0.0);
    let real = |&i: &usize| largest > 0.0 && squares[i] > largest * MIN_SQUARE;
    let chosen: Vec<usize> = (0..dim).rev().filter(real).take(rank.max(1)).collect();
    if chosen.is_empty() {
        return Ok(Matrix {
            values: Buffer::F32(vec![0.0; n]),
            n,
            dim: 1,
        });
    }
    let width = chosen.len();
    let entry = |k: usize| {
        let i = chosen[k % width];
        vectors[i * dim + k / width] * squares[i].sqrt()
    };
    let turn: Vec<f64> = (0..dim * width).map(entry).collect();
    let mut values = vec![0f32; n * width];
    values
        .par_chunks_mut(ROWS_PER_TASK * width)
        .enumerate()
        .for_each(|(task, rows)| {
            let mut sums = vec![0.0; width];
            for (i, out) in rows.chunks_mut(width).enumerate() {
                sums.fill(0.0);
                for (q, turn) in basis.iter().zip(turn.chunks(WIDTH * width)) {
                    for (turn, &factor) in turn.chunks(width).zip(&q[task * ROWS_PER_TASK + i]) {
                        add(&mut sums, factor, turn);
                    }
                }
                for (out, &sum) in out.iter_mut().zip(&sums) {
                    *out = sum as f32;
                }
            }
        });
    Ok(Matrix {
        values: Buffer::F32(values),
        n,
        dim: width,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparse(rows: &[Vec<f32>]) -> Sparse {
        let mut made = Sparse {
            starts: vec![0],
            width: rows[0].len(),
            ..Sparse::default()
        };
        for row in rows {
            for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                made.columns.push(column as u32);
                made.values.push(value);
            }
            made.starts.push(made.columns.len());
        }
        made
    }

    fn product(matrix: &Matrix, i: usize, j: usize) -> f64 {
        (0..matrix.dim)
            .map(|c| matrix.get(i, c) * matrix.get(j, c))
            .sum()
    }

    #[test]
    fn all_directions_keep_all_products_and_nothing_is_nothing() {
        // Three rows in a plane: (1, 0, -2) + (-1, 3, 0) + (0, -3, 2) = 0.
        let rows = [
            vec![1.0, 0.0, -2.0],
            vec![-1.0, 3.0, 0.0],
            vec![0.0, -3.0, 2.0],
        ];
        let found = leading(&sparse(&rows), 3, &Control::new()).unwrap();
        assert_eq!((found.n, found.dim), (3, 2));
        // Their products: 5, 10, 13 on the diagonal, -1, -4, -9 beside it.
        for (i, j, expected) in [(0, 0, 5.0), (1, 1, 10.0), (0, 1, -1.0), (1, 2, -9.0)] {
            assert!((product(&found, i, j) - expected).abs() < 1e-5, "{found:?}");
        }
        let none = leading(&sparse(&[vec![0.0], vec![0.0]]), 2, &Control::new()).unwrap();
        assert_eq!((none.dim, none.values), (1, Buffer::F32(vec![0.0; 2])));
    }

    #[test]
    fn singular_values_of_a_larger_matrix_are_found() {
        // Blocks on the diagonal: g rows that are all ones over c columns have one singular value, √(g c).
        let sizes: Vec<(usize, usize)> = (1..=40).map(|i| (2 * i, 1 + i % 5)).collect();
        let width: usize = sizes.iter().map(|(_, c)| c).sum();
        let (mut rows, mut from) = (Vec::new(), 0);
        for &(g, c) in &sizes {
            let row: Vec<f32> = (0..width)
                .map(|column| f32::from(u8::from((from..from + c).contains(&column))))
                .collect();
            rows.extend(std::iter::repeat_n(row, g));
            from += c;
        }
        let found = leading(&sparse(&rows), 20, &Control::new()).unwrap();
        let mut expected: Vec<f64> = sizes.iter().map(|&(g, c)| (g * c) as f64).collect();
        expected.sort_by(|a, b| b.total_cmp(a));
        assert_eq!(found.dim, 20);
        for (column, expected) in expected.iter().take(20).enumerate() {
            let square: f64 = (0..found.n).map(|row| found.get(row, column).powi(2)).sum();
            assert!((square / expected - 1.0).abs() < 1e-4, "{column}: {square}");
        }
    }
}
