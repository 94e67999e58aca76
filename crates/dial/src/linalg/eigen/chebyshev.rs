//! A polynomial filter that brings out the low end of a spectrum.
//!
//! ```text
//! p(A) x,   p(λ) = T_k((λ - c)/e) / T_k((low - c)/e),   c and e the centre and half the length of [edge, bound]
//! ```
//!
//! with the Chebyshev polynomial T_k, which is at most 1 in magnitude on [edge, bound] and grows as fast as a polynomial
//! of its degree can below: by cosh(k φ), φ = arcosh((c - λ)/e). Dividing by its value at the low end keeps numbers small.

use std::mem::swap;

use crate::blocks::for_chunks;
use crate::error::Result;
use crate::graph::laplacian::LinearOperator;
use crate::linalg::eigen::block_vectors::PANEL_WIDTH;
use crate::linalg::eigen::dense::eigen;
use crate::seed::{Purpose, Random};

/// A polynomial that is at most 1 on [edge, bound], up to a factor that makes it 1 at `low`, where it is largest.
pub(crate) struct Filter {
    /// About the lowest eigenvalue.
    pub(crate) low: f64,
    /// Where the interval begins that is filtered out.
    pub(crate) edge: f64,
    /// No eigenvalue is larger.
    pub(crate) bound: f64,
}

/// Decades between the largest and the smallest factor of one filter, in natural logarithms: beyond, rounding would bring
/// low vectors into the high ones.
const MAX_GAIN_LOG: f64 = 20.0;

/// Longest filter: reached only where the wanted eigenvalues are crowded at one end.
const MAX_DEGREE: usize = 2000;

impl Filter {
    /// The rate of growth per degree at a value: arcosh of its place on the scale where [edge, bound] is [-1, 1].
    fn growth(&self, value: f64) -> f64 {
        let beyond = (2.0 * (self.edge - value) / (self.bound - self.edge)).max(0.0);
        libm::log1p(beyond + libm::sqrt(beyond * (beyond + 2.0)))
    }

    /// The largest degree that keeps within the range.
    pub(crate) fn longest(&self) -> usize {
        ((MAX_GAIN_LOG / self.growth(self.low)) as usize).clamp(2, MAX_DEGREE)
    }

    /// The filter for the next round. Its edge is the last Ritz value, which comes down on the eigenvalue it stands for.
    /// Where more eigenvalues coincide than the block has vectors, that would leave no room below the edge; it therefore
    /// comes down to a quarter of its distance at most.
    pub(crate) fn next(&self, values: &[f64], count: usize) -> Filter {
        let last_wanted = values[count - 1];
        let slowly = last_wanted + 0.25 * (self.edge - last_wanted);
        let edge = values[values.len() - 1].max(slowly).min(0.98 * self.bound);
        Filter {
            low: values[0].max(0.0).min(edge),
            edge,
            bound: self.bound,
        }
    }

    /// What every panel still needs for its residuals to be as wanted. Panels of vectors that are not wanted themselves
    /// get as much as the neediest.
    pub(crate) fn degrees(&self, values: &[f64], residuals: &[f64], wanted: f64) -> Vec<usize> {
        let longest = self.longest();
        let need = |(&value, &residual): (&f64, &f64)| {
            if residual <= wanted {
                return 0;
            }
            let degree = libm::log(4.0 * residual / wanted) / self.growth(value);
            (degree as usize + 1).min(longest)
        };
        let needs: Vec<usize> = values.iter().zip(residuals).map(need).collect();
        let most = needs.iter().copied().max().unwrap_or(longest);
        let panel =
            |p: usize| match needs.get(p * PANEL_WIDTH..((p + 1) * PANEL_WIDTH).min(needs.len())) {
                Some(needs) if !needs.is_empty() => needs.iter().copied().max().unwrap_or(most),
                _ => most,
            };
        (0..values.len() / PANEL_WIDTH).map(panel).collect()
    }

    /// Applies the filter of a degree to a panel: y_0 = x, y_1 = (σ_1/e) (A - c) x,
    /// y_k+1 = 2 (σ_k+1/e) (A - c) y_k - σ_k σ_k+1 y_k-1, with c and e the centre and half the length of [edge, bound],
    /// σ_1 = e/(low - c), σ_k+1 = 1/(2/σ_1 - σ_k).
    pub(crate) fn apply(
        &self,
        operator: &impl LinearOperator,
        x: &mut Vec<f64>,
        degree: usize,
        spare: &mut [Vec<f64>],
    ) {
        if degree == 0 {
            return;
        }
        let (centre, half) = (
            0.5 * (self.edge + self.bound),
            0.5 * (self.bound - self.edge),
        );
        let first = half / (self.low - centre);
        let [previous, current, ..] = spare else {
            panic!("two spare panels are needed")
        };
        swap(previous, x);
        step(operator, previous, current, [first / half, centre, 0.0]);
        let mut sigma = first;
        for _ in 1..degree {
            let next = 1.0 / (2.0 / first - sigma);
            step(
                operator,
                current,
                previous,
                [2.0 * next / half, centre, sigma * next],
            );
            swap(previous, current);
            sigma = next;
        }
        swap(x, current);
    }
}

/// Rows whose product is held in a buffer at a time.
const ROWS_PER_PRODUCT: usize = 64;

/// out <- factor (A x - centre x) - back out.
fn step(
    operator: &impl LinearOperator,
    x: &[f64],
    out: &mut [f64],
    [factor, centre, back]: [f64; 3],
) {
    for_chunks::<PANEL_WIDTH, 0>(out, |first, out| {
        let mut image = [0.0; ROWS_PER_PRODUCT * PANEL_WIDTH];
        for (place, out) in out.chunks_mut(ROWS_PER_PRODUCT * PANEL_WIDTH).enumerate() {
            let first = first + place * ROWS_PER_PRODUCT;
            let image = &mut image[..out.len()];
            operator.product::<PANEL_WIDTH>(first, x, image);
            for ((out, image), x) in out.iter_mut().zip(image).zip(&x[first * PANEL_WIDTH..]) {
                *out = factor * (*image - centre * x) - back * *out;
            }
        }
        []
    });
}

/// Steps of the search for the top of the spectrum.
const LANCZOS_STEPS: usize = 20;

/// A closer bound on the spectrum than the one that is certain: the largest value that a few steps of Lanczos find, plus
/// the length of the last residual. Eigenvalues above it are possible, just not seen; a filter is only a little blunter
/// for them.
pub(crate) fn closer_bound(operator: &impl LinearOperator, bound: f64) -> Result<f64> {
    let n = operator.n();
    let mut random = Random::new(0, Purpose::Subspace, u64::MAX);
    let mut v: Vec<f64> = (0..n).map(|_| random.uniform() - 0.5).collect();
    let (mut before, mut next) = (vec![0.0; n], vec![0.0; n]);
    let mut matrix = vec![0.0; LANCZOS_STEPS * LANCZOS_STEPS];
    let mut beta = sums(&mut v, |_, v| v * v).sqrt();
    v.iter_mut().for_each(|v| *v /= beta);
    beta = 0.0;
    for step in 0..LANCZOS_STEPS {
        for_chunks::<1, 0>(&mut next, |first, next| {
            operator.product::<1>(first, &v, next);
            []
        });
        let alpha = sums(&mut next, |i, next| next * v[i]);
        let back = beta;
        let square = sums(&mut before, |i, before| {
            let rest = next[i] - alpha * v[i] - back * before;
            rest * rest
        });
        matrix[step * LANCZOS_STEPS + step] = alpha;
        if step > 0 {
            matrix[step * LANCZOS_STEPS + step - 1] = back;
            matrix[(step - 1) * LANCZOS_STEPS + step] = back;
        }
        beta = square.sqrt();
        if beta <= 1e-9 * bound {
            break;
        }
        for ((before, &next), &v) in before.iter_mut().zip(&next).zip(&v) {
            *before = (next - alpha * v - back * *before) / beta;
        }
        swap(&mut before, &mut v);
    }
    let (values, _) = eigen(matrix, LANCZOS_STEPS)?;
    Ok(bound.min(values[LANCZOS_STEPS - 1] + beta))
}

/// Σ_i term(i, x_i), in chunks.
fn sums(x: &mut [f64], term: impl Fn(usize, f64) -> f64 + Sync) -> f64 {
    let [[sum]] = for_chunks::<1, 1>(x, |first, x| {
        [[(first..).zip(x).fold(0.0, |sum, (i, x)| sum + term(i, *x))]]
    });
    sum
}
