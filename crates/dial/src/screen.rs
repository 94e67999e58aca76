//! The f32 screen of the neighbour search: one matrix product per tile, and its rounding bound.
//!
//! Rows are centred on the mean, scaled by a power of two to at most 1, converted to f32 and extended by -|y|²/2, so that
//! the product of a query (x, 1) with a candidate (y, -|y|²/2) is H(x, y) = x·y - |y|²/2 (see `neighbours`).
//!
//! The product is the one place of this crate with unsafe code: the `gemm` crate takes raw pointers. Measured on one core
//! with AVX-512, the 10,000 x 784 test images of MNIST, whole search, CPU time: 3.1 s with it, 10.7 s with a plain loop of
//! eight running sums that the compiler vectorises for the baseline CPU.

#![allow(unsafe_code)]

use std::ops::Range;

/// Products are looked through so many at a time.
pub(crate) const LANES: usize = 32;

/// Features prepared for screening.
pub(crate) struct Screen {
    /// n rows of dim + 1: the scaled features, then -|y|²/2.
    rows: Vec<f32>,
    width: usize,
    norms: Vec<f64>,
    scale: f64,
    /// 1.1 u (d + 8).
    rounding: f64,
}

/// The products of a block of queries with a block of candidates.
pub(crate) struct Tile {
    products: Vec<f32>,
    queries: Vec<f32>,
}

impl Tile {
    pub(crate) fn new() -> Tile {
        Tile { products: Vec::new(), queries: Vec::new() }
    }

    /// The products, one slice per query.
    pub(crate) fn rows(&self, candidates: usize) -> std::slice::Chunks<'_, f32> {
        self.products.chunks(candidates)
    }
}

impl Screen {
    pub(crate) fn new(n: usize, dim: usize, value: impl Fn(usize, usize) -> f64) -> Screen {
        let mut mean = vec![0.0; dim];
        for row in 0..n {
            for (column, mean) in mean.iter_mut().enumerate() {
                *mean += (value(row, column) - *mean) / (row + 1) as f64;
            }
        }
        let largest = (0..n)
            .flat_map(|row| (0..dim).map(move |column| (row, column)))
            .map(|(row, column)| (value(row, column) - mean[column]).abs())
            .fold(f64::MIN_POSITIVE, f64::max);
        let scale = libm::exp2(-libm::ceil(libm::log2(largest)));
        let width = dim + 1;
        let mut rows = vec![0.0; n * width];
        let mut norms = vec![0.0; n];
        for (row, out) in rows.chunks_mut(width).enumerate() {
            let mut square = 0.0;
            for (column, out) in out[..dim].iter_mut().enumerate() {
                let scaled = (value(row, column) - mean[column]) * scale;
                *out = scaled as f32;
                square += scaled * scaled;
            }
            out[dim] = (-0.5 * square) as f32;
            norms[row] = square.sqrt();
        }
        let rounding = 1.1 * f64::from(f32::EPSILON) / 2.0 * (dim + 8) as f64;
        Screen { rows, width, norms, scale, rounding }
    }

    /// The scaled, centred norm of a row.
    pub(crate) fn norm(&self, row: usize) -> f64 {
        self.norms[row]
    }

    pub(crate) fn largest_norm(&self, rows: Range<usize>) -> f64 {
        self.norms[rows].iter().copied().fold(0.0, f64::max)
    }

    /// E(x, y), the bound on |h - H| for a query row and a candidate of the given norm.
    pub(crate) fn bound(&self, row: usize, norm: f64) -> f64 {
        // The last term covers what f32 loses below its normal range.
        self.rounding * norm * (self.norms[row] + norm) + 1e-36 * self.width as f64
    }

    /// H from an exact squared distance, in the scaled space.
    pub(crate) fn product_at(&self, row: usize, squared: f64) -> f64 {
        0.5 * (self.norms[row] * self.norms[row] - squared * self.scale * self.scale)
    }

    /// Fills the tile with h for the given queries and candidates.
    pub(crate) fn multiply(&self, queries: Range<usize>, candidates: Range<usize>, tile: &mut Tile) {
        let (m, n, width) = (queries.len(), candidates.len(), self.width);
        tile.queries.clear();
        tile.queries.extend_from_slice(&self.rows[queries.start * width..queries.end * width]);
        tile.queries.iter_mut().skip(width - 1).step_by(width).for_each(|last| *last = 1.0);
        tile.products.resize(m * n, 0.0);
        let right = &self.rows[candidates.start * width..candidates.end * width];
        assert!(tile.queries.len() == m * width && right.len() == n * width && tile.products.len() == m * n);
        let stride = width as isize;
        // SAFETY: the assertion above shows that the left operand holds m rows and the right one n rows of `width`
        // values, and the result m rows of n; the strides say exactly that; the slices are disjoint (a &mut and two &).
        unsafe {
            gemm::gemm(
                m,
                n,
                width,
                tile.products.as_mut_ptr(),
                1,
                n as isize,
                false,
                tile.queries.as_ptr(),
                1,
                stride,
                right.as_ptr(),
                stride,
                1,
                0.0f32,
                1.0f32,
                false,
                false,
                false,
                gemm::Parallelism::None,
            );
        }
    }
}

/// Whether any product reaches the threshold; written so that the compiler compares many at once.
#[inline]
pub(crate) fn any_reaches(products: &[f32], threshold: f32) -> bool {
    products.iter().fold(false, |any, &h| any | (h >= threshold))
}

/// The largest f32 surely not above the value.
pub(crate) fn below(value: f64) -> f32 {
    (value as f32).next_down()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, Random};

    #[test]
    fn every_product_is_within_its_bound() {
        for (dim, offset, spread) in [(1, 0.0, 1.0), (20, 5.0, 1.0), (300, 1e4, 3.0), (7, 0.0, 1e-9)] {
            let mut random = Random::new(5, Purpose::User, dim as u64);
            let n = 90;
            let x: Vec<f64> = (0..n * dim).map(|_| offset + spread * random.normal()).collect();
            let screen = Screen::new(n, dim, |row, column| x[row * dim + column]);
            let mut tile = Tile::new();
            screen.multiply(0..n, 0..n, &mut tile);
            for (i, products) in tile.rows(n).enumerate() {
                for (j, &h) in products.iter().enumerate() {
                    let squared: f64 = (0..dim).map(|c| (x[i * dim + c] - x[j * dim + c]).powi(2)).sum();
                    let error = (f64::from(h) - screen.product_at(i, squared)).abs();
                    assert!(error <= screen.bound(i, screen.norm(j)), "dim {dim}: {i}, {j}: {error}");
                }
            }
        }
    }
}
