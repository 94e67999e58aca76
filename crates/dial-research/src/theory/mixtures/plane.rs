//! The low spectrum in the plane: -(1/ρ) div(ρ ∇) on a rectangle with Neumann edges, by finite volumes.
//!
//! With the geometric mean of ρ on the faces, the symmetric form M^-1/2 K M^-1/2 couples neighbours by -1/h², whatever ρ
//! is; its diagonal holds e^{(ln ρ_j - ln ρ_i)/2} / h², summed over the neighbours j of i. Its lowest eigenpairs come
//! from inverse subspace iteration: the shifted matrix is factored once (Cholesky within its band), a few vectors
//! are solved for again and again, and a Rayleigh-Ritz step reads off the values.

use dial::linalg::eigen::dense::eigen;
use dial::seed::{Purpose, Random};
use dial::{Control, Error, Result};

/// Added to the matrix, which has the eigenvalue 0.
const EIGENVALUE_SHIFT: f64 = 1e-3;
/// Vectors beyond those asked for: between K clusters and their second modes, 2K values lie close together.
const SPARE_VECTORS: usize = 8;
/// The relative change of the values at which the iteration ends.
const MAX_RELATIVE_CHANGE: f64 = 1e-11;
/// Rounds of iteration at most.
const MAX_ROUNDS: usize = 200;

/// The lowest `count` eigenvalues and their functions, one value a cell, with ∫e²ρ = 1.
///
/// # Errors
/// Cancelled; [`Error::NotConverged`] if the values still move in the last round.
pub fn lowest(
    log_density: &[f64],
    axes: &[(f64, f64, usize)],
    count: usize,
    control: &Control,
) -> Result<(Vec<f64>, Vec<Vec<f64>>)> {
    let (width, n) = (axes[0].2, log_density.len());
    let weights = axes.iter().map(|a| 1.0 / (a.1 * a.1)).collect::<Vec<f64>>();
    let neighbours = |i: usize| {
        let (column, row) = (i % width, i / width);
        let right = (column + 1 < width).then(|| (i + 1, weights[0]));
        let above = ((row + 1) * width < n).then(|| (i + width, weights[1]));
        right.into_iter().chain(above)
    };
    let mut diagonal = vec![0.0; n];
    for i in 0..n {
        for (j, weight) in neighbours(i) {
            let half = 0.5 * (log_density[j] - log_density[i]);
            diagonal[i] += weight * libm::exp(half);
            diagonal[j] += weight * libm::exp(-half);
        }
    }
    let multiply = |v: &[f64]| {
        let mut out: Vec<f64> = v.iter().zip(&diagonal).map(|(v, d)| v * d).collect();
        for i in 0..n {
            for (j, weight) in neighbours(i) {
                out[i] -= weight * v[j];
                out[j] -= weight * v[i];
            }
        }
        out
    };
    let factor = Band::factor(n, width, |i, back| match back {
        0 => diagonal[i] + EIGENVALUE_SHIFT,
        1 if i % width > 0 => -weights[0],
        back if back == width => -weights[1],
        _ => 0.0,
    });
    let size = (count + SPARE_VECTORS).min(n);
    let mut random = Random::new(0, Purpose::Subspace, 0);
    let mut vectors: Vec<Vec<f64>> = (0..size)
        .map(|_| (0..n).map(|_| random.normal()).collect())
        .collect();
    let mut values = vec![f64::INFINITY; size];
    let mut moved = f64::INFINITY;
    for _ in 0..MAX_ROUNDS {
        control.check()?;
        vectors.iter_mut().for_each(|v| factor.solve(v));
        orthonormalise(&mut vectors);
        let images: Vec<Vec<f64>> = vectors.iter().map(|v| multiply(v)).collect();
        let small = vectors.iter().flat_map(|v| {
            images
                .iter()
                .map(|image| dot(v, image))
                .collect::<Vec<f64>>()
        });
        let (found, turn) = eigen(small.collect(), size)?;
        vectors = turn
            .chunks_exact(size)
            .map(|row| combine(row, &vectors))
            .collect();
        // The value 0 is known to what rounding leaves of entries of the size of the weights.
        let change = |k: usize| (found[k] - values[k]).abs() / (found[k].abs() + 1e-3 * weights[0]);
        moved = (0..count).map(change).fold(
            0.0,
            |most, change| if change <= most { most } else { change },
        );
        values = found;
        if moved <= MAX_RELATIVE_CHANGE {
            break;
        }
    }
    if moved.is_nan() || moved > MAX_RELATIVE_CHANGE {
        return Err(Error::NotConverged {
            iterations: MAX_ROUNDS,
            residual: moved,
            wanted: MAX_RELATIVE_CHANGE,
        });
    }
    let cell: f64 = axes.iter().map(|a| a.1).product();
    let scale = |v: &Vec<f64>| {
        v.iter()
            .zip(log_density)
            .map(|(v, l)| v * libm::exp(-0.5 * l) / cell.sqrt())
            .collect()
    };
    Ok((
        values[..count].to_vec(),
        vectors[..count].iter().map(scale).collect(),
    ))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn combine(row: &[f64], vectors: &[Vec<f64>]) -> Vec<f64> {
    let mut out = vec![0.0; vectors[0].len()];
    for (c, v) in row.iter().zip(vectors) {
        out.iter_mut().zip(v).for_each(|(out, v)| *out += c * v);
    }
    out
}

/// Gram and Schmidt, twice.
fn orthonormalise(vectors: &mut [Vec<f64>]) {
    for k in 0..vectors.len() {
        let (done, rest) = vectors.split_at_mut(k);
        let v = &mut rest[0];
        for u in done.iter().chain(done.iter()) {
            let part = dot(u, v);
            v.iter_mut().zip(u).for_each(|(v, u)| *v -= part * u);
        }
        let norm = dot(v, v).sqrt();
        v.iter_mut().for_each(|v| *v /= norm);
    }
}

/// The Cholesky factor of a symmetric positive matrix within its band: row i holds L_{i, i - width} to L_{i, i}.
struct Band {
    rows: Vec<f64>,
    width: usize,
}

impl Band {
    /// Factors the matrix whose entry (i, i - back) is `entry(i, back)`.
    fn factor(n: usize, width: usize, entry: impl Fn(usize, usize) -> f64) -> Band {
        let row_size = width + 1;
        let mut rows = vec![0.0; n * row_size];
        for i in 0..n {
            let first = i.saturating_sub(width);
            for j in first..=i {
                // Σ_m L_im L_jm over the columns both rows have.
                let from = first.max(j.saturating_sub(width));
                let own = &rows[i * row_size + from + width - i..i * row_size + j + width - i];
                let other = &rows[j * row_size + from + width - j..j * row_size + width];
                let rest = entry(i, i - j) - dot(own, other);
                rows[i * row_size + j + width - i] = if i == j {
                    rest.sqrt()
                } else {
                    rest / rows[j * row_size + width]
                };
            }
        }
        Band { rows, width }
    }

    /// Solves L Lᵀ x = b in place.
    fn solve(&self, b: &mut [f64]) {
        let (width, row_size) = (self.width, self.width + 1);
        for i in 0..b.len() {
            let first = i.saturating_sub(width);
            let row = &self.rows[i * row_size + first + width - i..(i + 1) * row_size];
            let sum = dot(&row[..i - first], &b[first..i]);
            b[i] = (b[i] - sum) / row[i - first];
        }
        for i in (0..b.len()).rev() {
            let first = i.saturating_sub(width);
            let row = &self.rows[i * row_size + first + width - i..(i + 1) * row_size];
            b[i] /= row[i - first];
            let x = b[i];
            b[first..i]
                .iter_mut()
                .zip(row)
                .for_each(|(b, l)| *b -= l * x);
        }
    }
}
