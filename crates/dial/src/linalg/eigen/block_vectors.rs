//! A subspace of vectors over the nodes, kept as blocks ("panels") of a fixed width.
//!
//! ```text
//! inner     Xᵀ y          for a panel y: what a Gram matrix is made of
//! combine   X <- X M      for a small square matrix M
//! ```
//!
//! Both cost n m² for m vectors and are cut into chunks of nodes, whose sums are added in order: the same bits for any
//! number of threads. The inner loops hold 4 x 4 sums in registers.

use rayon::prelude::*;

use crate::blocks::NODES_PER_CHUNK;
use crate::seed::{Purpose, Random};

/// Vectors per panel: with 4, a panel of 70,000 nodes fits into a cache of 2 MB, and a product took 0.9 ms per vector
/// instead of 1.9 with 8 (best of 15, one core).
pub(crate) const PANEL_WIDTH: usize = 4;

/// Nodes that a loop over panels takes at a time, to stay in the cache.
const ROWS_PER_BLOCK: usize = 256;

/// m vectors, m a multiple of the width: panel p holds the entries `[node * PANEL_WIDTH + c]` of vector `p * PANEL_WIDTH + c`.
pub(crate) struct Panels {
    pub(crate) panels: Vec<Vec<f64>>,
}

impl Panels {
    /// Vectors with entries uniform in (-1/2, 1/2), the same ones for every call.
    pub(crate) fn random(n: usize, count: usize) -> Panels {
        let panel = |p| {
            let mut random = Random::new(0, Purpose::Subspace, p as u64);
            (0..n * PANEL_WIDTH)
                .map(|_| random.uniform() - 0.5)
                .collect()
        };
        Panels {
            panels: (0..count).into_par_iter().map(panel).collect(),
        }
    }

    /// Number of vectors.
    pub(crate) fn size(&self) -> usize {
        self.panels.len() * PANEL_WIDTH
    }

    /// Xᵀ y for the first `count` panels of X and some panels y: for every y, for every vector of X, PANEL_WIDTH numbers.
    pub(crate) fn inner(&self, count: usize, ys: &[&[f64]]) -> Vec<f64> {
        let n = ys[0].len() / PANEL_WIDTH;
        // A fixed number of pieces bounds the memory of their sums.
        let rows = NODES_PER_CHUNK.max(n.div_ceil(64));
        let piece = |first: usize| {
            let end = (first + rows).min(n) * PANEL_WIDTH;
            let mut sums = vec![0.0; ys.len() * count * PANEL_WIDTH * PANEL_WIDTH];
            for start in (first * PANEL_WIDTH..end).step_by(ROWS_PER_BLOCK * PANEL_WIDTH) {
                let range = start..(start + ROWS_PER_BLOCK * PANEL_WIDTH).min(end);
                for (p, x) in self.panels[..count].iter().enumerate() {
                    for (place, y) in ys.iter().enumerate() {
                        let sums = &mut sums[(place * count + p) * PANEL_WIDTH * PANEL_WIDTH..]
                            [..PANEL_WIDTH * PANEL_WIDTH];
                        add_products(&x[range.clone()], &y[range.clone()], sums);
                    }
                }
            }
            sums
        };
        let starts: Vec<usize> = (0..n).step_by(rows).collect();
        let pieces: Vec<Vec<f64>> = starts.into_par_iter().map(piece).collect();
        let mut total = vec![0.0; ys.len() * count * PANEL_WIDTH * PANEL_WIDTH];
        for piece in pieces {
            total
                .iter_mut()
                .zip(piece)
                .for_each(|(total, part)| *total += part);
        }
        total
    }

    /// X <- X M, for a square matrix M of as many rows as there are vectors.
    pub(crate) fn combine(&mut self, m: &[f64]) {
        let size = self.size();
        // M in panels of columns, so that a product reads it in one go.
        let columns = |p: usize| {
            m.chunks_exact(size)
                .flat_map(move |row| &row[p * PANEL_WIDTH..][..PANEL_WIDTH])
                .copied()
                .collect()
        };
        let columns: Vec<Vec<f64>> = (0..self.panels.len()).map(columns).collect();
        let mut chunks: Vec<Vec<&mut [f64]>> = Vec::new();
        for panel in &mut self.panels {
            for (place, chunk) in panel.chunks_mut(NODES_PER_CHUNK * PANEL_WIDTH).enumerate() {
                if place == chunks.len() {
                    chunks.push(Vec::new());
                }
                chunks[place].push(chunk);
            }
        }
        chunks.into_par_iter().for_each(|mut chunk| {
            let mut copy = Vec::new();
            let rows = chunk[0].len() / PANEL_WIDTH;
            for first in (0..rows).step_by(ROWS_PER_BLOCK / 4) {
                combine_rows(
                    &mut chunk,
                    first,
                    (first + ROWS_PER_BLOCK / 4).min(rows),
                    &columns,
                    &mut copy,
                );
            }
        });
    }
}

/// Adds Σ_node x_a y_b for all a and b.
fn add_products(x: &[f64], y: &[f64], sums: &mut [f64]) {
    let mut tile = [[0.0; PANEL_WIDTH]; PANEL_WIDTH];
    for (x, y) in x.chunks_exact(PANEL_WIDTH).zip(y.chunks_exact(PANEL_WIDTH)) {
        for a in 0..PANEL_WIDTH {
            for b in 0..PANEL_WIDTH {
                tile[a][b] += x[a] * y[b];
            }
        }
    }
    sums.iter_mut()
        .zip(tile.as_flattened())
        .for_each(|(sum, part)| *sum += part);
}

/// The rows `first..end` of X M, four nodes at a time. `copy` holds the old rows: for every four nodes, for every vector,
/// its entries at the four.
fn combine_rows(
    chunk: &mut [&mut [f64]],
    first: usize,
    end: usize,
    columns: &[Vec<f64>],
    copy: &mut Vec<f64>,
) {
    let size = chunk.len() * PANEL_WIDTH;
    copy.clear();
    copy.resize((end - first).div_ceil(4) * 4 * size, 0.0);
    for (p, panel) in chunk.iter().enumerate() {
        for (row, values) in panel[first * PANEL_WIDTH..end * PANEL_WIDTH]
            .chunks_exact(PANEL_WIDTH)
            .enumerate()
        {
            let start = (row / 4 * size + p * PANEL_WIDTH) * 4 + row % 4;
            for (c, value) in values.iter().enumerate() {
                copy[start + c * 4] = *value;
            }
        }
    }
    for (panel, columns) in chunk.iter_mut().zip(columns) {
        let out = &mut panel[first * PANEL_WIDTH..end * PANEL_WIDTH];
        for (out, rows) in out
            .chunks_mut(4 * PANEL_WIDTH)
            .zip(copy.chunks_exact(4 * size))
        {
            four_rows(rows, columns, out);
        }
    }
}

/// Four rows (or fewer, at the end) of a panel of X M.
fn four_rows(rows: &[f64], columns: &[f64], out: &mut [f64]) {
    let mut tile = [[0.0; PANEL_WIDTH]; 4];
    for (x, m) in rows.chunks_exact(4).zip(columns.chunks_exact(PANEL_WIDTH)) {
        for a in 0..4 {
            for b in 0..PANEL_WIDTH {
                tile[a][b] += x[a] * m[b];
            }
        }
    }
    out.iter_mut()
        .zip(tile.as_flattened())
        .for_each(|(out, value)| *out = *value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_products_and_combinations_equal_the_plain_sums() {
        for n in [1, 5, 300, 2500] {
            let mut x = Panels::random(n, 3);
            let size = x.size();
            let at = |x: &Panels, node: usize, v: usize| {
                x.panels[v / PANEL_WIDTH][node * PANEL_WIDTH + v % PANEL_WIDTH]
            };
            let before: Vec<f64> = (0..n * size).map(|i| at(&x, i / size, i % size)).collect();
            let inner =
                x.inner(2, &[&x.panels[1], &x.panels[2]])[2 * PANEL_WIDTH * PANEL_WIDTH..].to_vec();
            for a in 0..2 * PANEL_WIDTH {
                for b in 0..PANEL_WIDTH {
                    let want: f64 = (0..n)
                        .map(|i| before[i * size + a] * before[i * size + 2 * PANEL_WIDTH + b])
                        .sum();
                    assert!((inner[a * PANEL_WIDTH + b] - want).abs() < 1e-12);
                }
            }
            let m: Vec<f64> = (0..size * size).map(|i| (i % 7) as f64 - 3.0).collect();
            x.combine(&m);
            for node in 0..n {
                for v in 0..size {
                    let want: f64 = (0..size)
                        .map(|k| before[node * size + k] * m[k * size + v])
                        .sum();
                    assert!((at(&x, node, v) - want).abs() < 1e-12);
                }
            }
        }
    }
}
