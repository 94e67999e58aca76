//! The f32 products of the neighbour search: a matrix product per tile with its rounding bound, and a product that is
//! compared with thresholds at once and never stored.
//!
//! Rows are centred on the mean, scaled by a power of two to at most 1, converted to f32 and extended by -|y|²/2, so that
//! the product of a query (x, 1) with a candidate (y, -|y|²/2) is H(x, y) = x·y - |y|²/2 (see `knn`).
//!
//! One of two places of the crate with unsafe code (the other is `distances_u8`): the `gemm-f32` crate takes raw pointers,
//! and a function compiled for a wider CPU may only be called after asking the CPU. Measured on one core with AVX-512,
//! the 10,000 x 784 test images of MNIST, whole search, CPU time: 3.1 s with `gemm`, 10.7 s with a plain loop of eight
//! running sums that the compiler vectorises for the baseline CPU.

#![allow(unsafe_code)]

use std::ops::Range;

/// Products that are compared with the thresholds at a time.
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
        Tile {
            products: Vec::new(),
            queries: Vec::new(),
        }
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
        Screen {
            rows,
            width,
            norms,
            scale,
            rounding,
        }
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
    pub(crate) fn multiply(
        &self,
        queries: Range<usize>,
        candidates: Range<usize>,
        tile: &mut Tile,
    ) {
        let (m, n, width) = (queries.len(), candidates.len(), self.width);
        tile.queries.clear();
        tile.queries
            .extend_from_slice(&self.rows[queries.start * width..queries.end * width]);
        tile.queries
            .iter_mut()
            .skip(width - 1)
            .step_by(width)
            .for_each(|last| *last = 1.0);
        tile.products.resize(m * n, 0.0);
        let right = &self.rows[candidates.start * width..candidates.end * width];
        assert!(
            tile.queries.len() == m * width
                && right.len() == n * width
                && tile.products.len() == m * n
        );
        let stride = width as isize;
        // SAFETY: the assertion above shows that the left operand holds m rows and the right one n rows of `width`
        // values, and the result m rows of n; the strides say exactly that; the slices are disjoint (a &mut and two &).
        unsafe {
            // In column-major terms: the transposed products are the candidates times the transposed queries.
            gemm_f32::gemm::f32::get_gemm_fn()(
                n,
                m,
                width,
                tile.products.as_mut_ptr(),
                n as isize,
                1,
                false,
                right.as_ptr(),
                1,
                stride,
                tile.queries.as_ptr(),
                stride,
                1,
                0.0,
                1.0,
                false,
                false,
                false,
                gemm_common::Parallelism::None,
            );
        }
    }
}

/// Whether any product reaches the threshold; written so that the compiler compares many at once.
#[inline]
pub(crate) fn any_reaches(products: &[f32], threshold: f32) -> bool {
    products
        .iter()
        .fold(false, |any, &h| any | (h >= threshold))
}

/// The largest f32 surely not above the value.
pub(crate) fn below(value: f64) -> f32 {
    (value as f32).next_down()
}

/// Candidates in panels of [`LANES`] rows, transposed, so that one query meets a whole panel at a time.
///
/// A panel holds -|y|²/2 of its rows, then each column of them. Rows are taken relative to a centre, which keeps the
/// rounding of f32 small against the distances between near rows.
#[derive(Default)]
pub(crate) struct Panels {
    values: Vec<f32>,
    dim: usize,
}

impl Panels {
    /// Packs row-major rows, minus the centre. Lanes without a row hold a product of -∞.
    pub(crate) fn fill(&mut self, rows: &[f32], centre: &[f32]) {
        self.dim = centre.len();
        let panel = (self.dim + 1) * LANES;
        self.values.clear();
        self.values
            .resize(rows.len().div_ceil(self.dim * LANES) * panel, 0.0);
        for (rows, panel) in rows
            .chunks(self.dim * LANES)
            .zip(self.values.chunks_mut(panel))
        {
            let (halves, columns) = panel.split_at_mut(LANES);
            halves.fill(f32::NEG_INFINITY);
            for (lane, (row, half)) in rows.chunks(self.dim).zip(halves).enumerate() {
                let mut square = 0.0;
                for (column, (&value, &middle)) in row.iter().zip(centre).enumerate() {
                    let centred = value - middle;
                    square += centred * centred;
                    columns[column * LANES + lane] = centred;
                }
                *half = -0.5 * square;
            }
        }
    }
}

/// Calls `hit(query, candidate, h)` for every product h = x·y - |y|²/2 above the threshold of its query; what it returns
/// is the threshold from then on. `queries` are row-major, relative to the centre of the panels.
pub(crate) fn scan(
    queries: &[f32],
    panels: &Panels,
    thresholds: &mut [f32],
    hit: impl FnMut(usize, usize, f32) -> f32,
) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the CPU was just asked for the features the function is compiled for.
            return unsafe { scan_avx512(queries, panels, thresholds, hit) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: as above.
            return unsafe { scan_avx2(queries, panels, thresholds, hit) };
        }
    }
    scan_in_tiles::<2, false>(queries, panels, thresholds, hit);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
fn scan_avx512(
    queries: &[f32],
    panels: &Panels,
    thresholds: &mut [f32],
    hit: impl FnMut(usize, usize, f32) -> f32,
) {
    scan_in_tiles::<8, true>(queries, panels, thresholds, hit);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn scan_avx2(
    queries: &[f32],
    panels: &Panels,
    thresholds: &mut [f32],
    hit: impl FnMut(usize, usize, f32) -> f32,
) {
    scan_in_tiles::<3, true>(queries, panels, thresholds, hit);
}

/// Bytes of panels that go past all queries before the next ones come: they should stay in the second-level cache.
const PANEL_BYTES: usize = 256 * 1024;

#[inline(always)]
fn scan_in_tiles<const Q: usize, const FUSED: bool>(
    queries: &[f32],
    panels: &Panels,
    thresholds: &mut [f32],
    mut hit: impl FnMut(usize, usize, f32) -> f32,
) {
    let (dim, size) = (panels.dim, (panels.dim + 1) * LANES);
    let together = (PANEL_BYTES / (4 * size)).max(1);
    let tail = queries.len() / (Q * dim) * Q;
    for (stack, some) in panels.values.chunks(together * size).enumerate() {
        for (tile, queries) in queries.chunks_exact(Q * dim).enumerate() {
            let rows: [&[f32]; Q] = std::array::from_fn(|q| &queries[q * dim..(q + 1) * dim]);
            for (place, panel) in some.chunks_exact(size).enumerate() {
                let first = (stack * together + place) * LANES;
                report(
                    tile * Q,
                    first,
                    &tile_products::<Q, FUSED>(rows, panel),
                    thresholds,
                    &mut hit,
                );
            }
        }
        for (query, row) in (tail..).zip(queries[tail * dim..].chunks_exact(dim)) {
            for (place, panel) in some.chunks_exact(size).enumerate() {
                let first = (stack * together + place) * LANES;
                report(
                    query,
                    first,
                    &tile_products::<1, FUSED>([row], panel),
                    thresholds,
                    &mut hit,
                );
            }
        }
    }
}

/// The products of Q queries with a panel. The sums stay in registers; interleaving the queries made the compiler
/// give up on wide registers: a whole run took 28 s of CPU time instead of 7.
#[inline(always)]
fn tile_products<const Q: usize, const FUSED: bool>(
    queries: [&[f32]; Q],
    panel: &[f32],
) -> [[f32; LANES]; Q] {
    let (halves, columns) = panel.split_at(LANES);
    let mut sums = [[0.0; LANES]; Q];
    for sums in &mut sums {
        sums.copy_from_slice(halves);
    }
    for (column, values) in columns.chunks_exact(LANES).enumerate() {
        for (sums, query) in sums.iter_mut().zip(queries) {
            let x = query[column];
            for (sum, &y) in sums.iter_mut().zip(values) {
                *sum = if FUSED {
                    x.mul_add(y, *sum)
                } else {
                    *sum + x * y
                };
            }
        }
    }
    sums
}

#[inline(always)]
fn report<const Q: usize>(
    first_query: usize,
    first_candidate: usize,
    products: &[[f32; LANES]; Q],
    thresholds: &mut [f32],
    hit: &mut impl FnMut(usize, usize, f32) -> f32,
) {
    for (query, products) in (first_query..).zip(products) {
        let mut threshold = thresholds[query];
        if products.iter().fold(false, |any, &h| any | (h > threshold)) {
            for (candidate, &h) in (first_candidate..).zip(products) {
                if h > threshold {
                    threshold = hit(query, candidate, h);
                }
            }
            thresholds[query] = threshold;
        }
    }
}

/// |x - y|² in f32 for a query and some rows of a matrix.
pub(crate) fn distances(query: &[f32], rows: &[f32], ids: &[u32], out: &mut Vec<f32>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the CPU was just asked for the features the function is compiled for.
        return unsafe { distances_avx2(query, rows, ids, out) };
    }
    distances_in_lanes(query, rows, ids, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn distances_avx2(query: &[f32], rows: &[f32], ids: &[u32], out: &mut Vec<f32>) {
    distances_in_lanes(query, rows, ids, out);
}

#[inline(always)]
fn distances_in_lanes(query: &[f32], rows: &[f32], ids: &[u32], out: &mut Vec<f32>) {
    let dim = query.len();
    out.clear();
    out.extend(ids.iter().map(|&id| {
        let row = &rows[id as usize * dim..(id as usize + 1) * dim];
        let mut sums = [0.0f32; 8];
        let (x, y) = (query.chunks_exact(8), row.chunks_exact(8));
        for (lane, (a, b)) in x.remainder().iter().zip(y.remainder()).enumerate() {
            sums[lane] = (a - b) * (a - b);
        }
        for (x, y) in x.zip(y) {
            for lane in 0..8 {
                let difference = x[lane] - y[lane];
                sums[lane] += difference * difference;
            }
        }
        (sums[0] + sums[4]) + (sums[1] + sums[5]) + (sums[2] + sums[6]) + (sums[3] + sums[7])
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, Random};

    #[test]
    fn every_product_is_within_its_bound() {
        for (dim, offset, spread) in [
            (1, 0.0, 1.0),
            (20, 5.0, 1.0),
            (300, 1e4, 3.0),
            (7, 0.0, 1e-9),
        ] {
            let mut random = Random::new(5, Purpose::User, dim as u64);
            let n = 90;
            let x: Vec<f64> = (0..n * dim)
                .map(|_| offset + spread * random.normal())
                .collect();
            let screen = Screen::new(n, dim, |row, column| x[row * dim + column]);
            let mut tile = Tile::new();
            screen.multiply(0..n, 0..n, &mut tile);
            for (i, products) in tile.rows(n).enumerate() {
                for (j, &h) in products.iter().enumerate() {
                    let squared: f64 = (0..dim)
                        .map(|c| (x[i * dim + c] - x[j * dim + c]).powi(2))
                        .sum();
                    let error = (f64::from(h) - screen.product_at(i, squared)).abs();
                    assert!(
                        error <= screen.bound(i, screen.norm(j)),
                        "dim {dim}: {i}, {j}: {error}"
                    );
                }
            }
        }
    }

    #[test]
    fn scanning_reports_what_a_plain_loop_reports() {
        for (m, n, dim) in [(1, 1, 1), (7, 33, 3), (20, 100, 40)] {
            let mut random = Random::new(5, Purpose::User, 100 + dim as u64);
            let mut draw =
                |count: usize| -> Vec<f32> { (0..count).map(|_| random.normal() as f32).collect() };
            let (queries, rows, centre) = (draw(m * dim), draw(n * dim), draw(dim));
            let mut panels = Panels::default();
            panels.fill(&rows, &centre);
            let mut found = Vec::new();
            let mut thresholds = vec![-1.0; m];
            scan(&queries, &panels, &mut thresholds, |query, candidate, h| {
                found.push((query, candidate, h));
                -1.0
            });
            found.sort_by_key(|&(query, candidate, _)| (query, candidate));
            let mut expected = Vec::new();
            for (i, x) in queries.chunks(dim).enumerate() {
                for (j, y) in rows.chunks(dim).enumerate() {
                    let centred: Vec<f32> = y.iter().zip(&centre).map(|(y, c)| y - c).collect();
                    let h: f32 = x
                        .iter()
                        .zip(&centred)
                        .map(|(x, y)| x * y - 0.5 * y * y)
                        .sum();
                    if h > -1.0 {
                        expected.push((i, j, h));
                    }
                }
            }
            let pairs = |list: &[(usize, usize, f32)]| {
                list.iter().map(|&(i, j, _)| (i, j)).collect::<Vec<_>>()
            };
            assert_eq!(pairs(&found), pairs(&expected));
            assert!(
                found
                    .iter()
                    .zip(&expected)
                    .all(|(a, b)| (a.2 - b.2).abs() < 1e-4)
            );
            let ids: Vec<u32> = (0..n as u32).collect();
            let mut squared = Vec::new();
            distances(&queries[..dim], &rows, &ids, &mut squared);
            for (row, &squared) in rows.chunks(dim).zip(&squared) {
                let slow: f32 = row
                    .iter()
                    .zip(&queries)
                    .map(|(y, x)| (x - y) * (x - y))
                    .sum();
                assert!((squared - slow).abs() <= 1e-5 * slow);
            }
        }
    }
}
