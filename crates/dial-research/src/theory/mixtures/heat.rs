//! The heat kernel of a mixture on the line, its norms, and how well it separates in truth.
//!
//! ```text
//! k_t(x, y) = Σ_j e^{-λ_j t} e_j(x) e_j(y),     e_j orthonormal in L²(ρ)
//! ‖e^{tΔ}‖_{L¹(ρ)→L²(ρ)} = ‖e^{tΔ}‖_{L²(ρ)→L^∞(ρ)} = sup_x √k_{2t}(x, x)
//! ```
//!
//! k_t is the kernel with respect to ρ: the paper's e^{tΔ}δ_{x*} is ρ(x*) k_t(x*, ·), with a factor ρ(x*) that its ζ and ε
//! leave out and that would make every lower bound vanish in the tails. All eigenpairs of the discrete operator
//! ([`super::spectrum`]) are computed.

use dial::linalg::eigen::dense::eigen;
use dial::{Control, Result};

use super::density::Grid;
use super::spectrum::{Inside, tridiagonal};

/// Terms smaller than this share of the first are left out.
const NEGLIGIBLE_SHARE: f64 = 1e-18;

/// All eigenpairs on the line.
#[derive(Clone, Debug)]
pub struct Heat {
    /// λ_j, ascending.
    pub values: Vec<f64>,
    /// e_j at the middles of the cells.
    pub functions: Vec<Vec<f64>>,
    /// ρ times the width of a cell, per cell.
    pub masses: Vec<f64>,
}

impl Heat {
    /// Decomposes -(1/ρ) div(ρ ∇) of a mixture on the line.
    ///
    /// # Errors
    /// Cancelled.
    pub fn new(grid: &Grid, control: &Control) -> Result<Heat> {
        control.check()?;
        let (n, width) = (grid.log_density.len(), grid.axes[0].1);
        let (diagonal, beside) = tridiagonal(&grid.log_density, width, Inside::Density);
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            matrix[i * n + i] = diagonal[i];
            if i + 1 < n {
                matrix[i * n + i + 1] = beside[i];
                matrix[(i + 1) * n + i] = beside[i];
            }
        }
        let (values, vectors) = eigen(matrix, n)?;
        let scale = |l: &f64| libm::exp(-0.5 * l) / width.sqrt();
        let scales: Vec<f64> = grid.log_density.iter().map(scale).collect();
        let function = |row: &[f64]| row.iter().zip(&scales).map(|(v, s)| v * s).collect();
        Ok(Heat {
            values: values.iter().map(|v| v.max(0.0)).collect(),
            functions: vectors.chunks_exact(n).map(function).collect(),
            masses: grid
                .log_density
                .iter()
                .map(|l| libm::exp(*l) * width)
                .collect(),
        })
    }

    /// e^{-λ_j t} of the terms that count.
    fn factors(&self, t: f64) -> Vec<f64> {
        self.values
            .iter()
            .map(|v| libm::exp(-v * t))
            .take_while(|f| *f > NEGLIGIBLE_SHARE)
            .collect()
    }

    /// k_t(x, y) of two cells.
    pub fn at(&self, t: f64, x: usize, y: usize) -> f64 {
        self.factors(t)
            .iter()
            .zip(&self.functions)
            .map(|(f, e)| f * e[x] * e[y])
            .sum()
    }

    /// sup_x k_t(x, x) over all cells; from term `first` on, so that 0 is all of it.
    pub fn peak(&self, t: f64, first: usize) -> f64 {
        let mut sums = vec![0.0; self.masses.len()];
        for (factor, e) in self.factors(t).iter().zip(&self.functions).skip(first) {
            sums.iter_mut()
                .zip(e)
                .for_each(|(sum, e)| *sum += factor * e * e);
        }
        sums.into_iter().fold(0.0, f64::max)
    }

    /// The smallest k_t within one of the sets and the largest between two of them: ζ and ε in truth.
    pub fn separation(&self, t: f64, sets: &[Vec<usize>]) -> (f64, f64) {
        let factors = self.factors(t);
        let (mut zeta, mut epsilon) = (f64::INFINITY, 0.0f64);
        let all: Vec<(usize, usize)> = sets
            .iter()
            .enumerate()
            .flat_map(|(k, set)| set.iter().map(move |x| (k, *x)))
            .collect();
        for (k, x) in &all {
            let row: Vec<f64> = factors
                .iter()
                .zip(&self.functions)
                .map(|(f, e)| f * e[*x])
                .collect();
            for (j, y) in &all {
                let value: f64 = row
                    .iter()
                    .zip(&self.functions)
                    .map(|(r, e)| r * e[*y])
                    .sum();
                if j == k {
                    zeta = zeta.min(value)
                } else {
                    epsilon = epsilon.max(value)
                }
            }
        }
        (zeta, epsilon)
    }
}

/// The cells of m_k ± z s_k, an interval of mass 1 - δ of its component, for each component on the line.
pub fn central_sets(grid: &Grid, delta: f64) -> Vec<Vec<usize>> {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..80 {
        let z = 0.5 * (low + high);
        if libm::erf(z / std::f64::consts::SQRT_2) < 1.0 - delta {
            low = z
        } else {
            high = z
        }
    }
    let (start, width, count) = grid.axes[0];
    let near =
        |m: f64, s: f64, i: &usize| (start + (*i as f64 + 0.5) * width - m).abs() <= high * s;
    grid.components
        .iter()
        .map(|c| {
            (0..count)
                .filter(|i| near(c.centre[0], c.deviation[0], i))
                .collect()
        })
        .collect()
}

/// The second term of ξ is `factor` e^{-λ_{K+1} t} for t ≥ `least`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ultra {
    /// The smallest e^{λ(t₁+s)} ‖e^{t₁Δ}‖ ‖e^{sΔ}‖, which has t₁ = s.
    pub factor: f64,
    /// t₁ + s there.
    pub least: f64,
}

impl Ultra {
    /// From the discrete kernel and λ_{K+1}, over times from 0.02/λ to 20/λ.
    pub fn of(heat: &Heat, above: f64) -> Ultra {
        let at = |i: i32| {
            let time = 0.02 / above * libm::pow(1000.0, f64::from(i) / 120.0);
            // t₁ = s = time/2, and both norms are √k_time.
            Ultra {
                factor: libm::exp(above * time) * heat.peak(time, 0),
                least: time,
            }
        };
        (0..=120)
            .map(at)
            .min_by(|a, b| a.factor.total_cmp(&b.factor))
            .expect("there are times")
    }
}

/// The smallest ∫|O F - F^Q|² ρ over orthogonal O, for two components: what Ξ bounds.
///
/// F = (e_1, e_2) and F^Q = (√(ρ_1/ρ), √(ρ_2/ρ)). O is the orthogonal factor of ∫ F^Q Fᵀ ρ; in two dimensions a turn or a
/// turned reflection, by closed form.
pub fn embedding_error(heat: &Heat, grid: &Grid) -> f64 {
    let n = heat.masses.len();
    let target = |k: usize, i: usize| libm::exp(0.5 * (grid.log_parts[k][i] - grid.log_density[i]));
    let inner = |k: usize, j: usize| {
        (0..n)
            .map(|i| target(k, i) * heat.functions[j][i] * heat.masses[i])
            .sum::<f64>()
    };
    let [a, b, c, d] = [inner(0, 0), inner(0, 1), inner(1, 0), inner(1, 1)];
    let (turn, mirror) = ((a + d, c - b), (a - d, c + b));
    let (turned, mirrored) = (libm::hypot(turn.0, turn.1), libm::hypot(mirror.0, mirror.1));
    let o = if turned >= mirrored {
        let (cos, sin) = (turn.0 / turned, turn.1 / turned);
        [cos, -sin, sin, cos]
    } else {
        let (cos, sin) = (mirror.0 / mirrored, mirror.1 / mirrored);
        [cos, sin, sin, -cos]
    };
    let off = |i: usize| {
        let (e, f) = (heat.functions[0][i], heat.functions[1][i]);
        let (x, y) = (
            o[0] * e + o[1] * f - target(0, i),
            o[2] * e + o[3] * f - target(1, i),
        );
        heat.masses[i] * (x * x + y * y)
    };
    (0..n).map(off).sum()
}
