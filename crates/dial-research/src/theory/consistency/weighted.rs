//! The heat kernel of the unit interval with a density, by finite volumes.
//!
//! ```text
//! (A u)_i = [σ_{i+½} (u_{i+1} - u_i) - σ_{i-½} (u_i - u_{i-1})] / (ρ_i h²)
//! σ = ρ^power at the faces, no flow at the ends
//! P = exp(tA),   k_t(z, x) = P_xz / h         the source is a unit of Lebesgue measure, as in eq:heat-eqn
//! ```
//!
//! Power 2 is the operator of the theory section, (1/ρ) div(ρ² ∇), power 1 that of the examples. Both are
//! self-adjoint in L²(ρ); Σ_z P_xz = 1, but the θ of the theorem sums over x. P is computed without cancellation:
//! with r = max |A_ii| the matrix I + A/r has no negative entry, exp(tA) is a Poisson mean of its powers for a small
//! time, and the rest is squaring.

use super::estimate::{Judged, judge};
use dial::seed::Random;

/// A kernel with what depends on it alone.
#[derive(Clone, Debug)]
pub struct Weighted {
    /// Width of a cell.
    pub h: f64,
    /// ρ at the middles of the cells; its mean is 1.
    pub density: Vec<f64>,
    /// The trend η at the middles.
    pub trend: Vec<f64>,
    /// P, row by row: row x, column z.
    pub heat: Vec<f64>,
    /// E_ρ[k_t(Z, x)].
    pub normaliser: Vec<f64>,
}

/// The trend of the one-dimensional examples: 1/2 + 1/4 cos(πx).
pub fn trend(x: f64) -> f64 {
    0.5 + 0.25 * libm::cos(std::f64::consts::PI * x)
}

/// The density 1 + amplitude cos(2πx): dense at both ends, thin in the middle, where the classes meet.
pub fn density(amplitude: f64, x: f64) -> f64 {
    1.0 + amplitude * libm::cos(2.0 * std::f64::consts::PI * x)
}

/// P = exp(tA).
fn exponential(density: &[f64], faces: &[f64], time: f64) -> Vec<f64> {
    let n = density.len();
    let h2 = 1.0 / (n * n) as f64;
    let up = |i: usize| {
        if i + 1 < n {
            faces[i] / (density[i] * h2)
        } else {
            0.0
        }
    };
    let down = |i: usize| {
        if i > 0 {
            faces[i - 1] / (density[i] * h2)
        } else {
            0.0
        }
    };
    let rate = (0..n).map(|i| up(i) + down(i)).fold(0.0, f64::max);
    let halvings = (0..64)
        .find(|k| rate * time / libm::exp2(f64::from(*k)) <= 0.5)
        .unwrap_or(64);
    let small = rate * time / libm::exp2(f64::from(halvings));
    // Σ_k e^-s s^k/k! B^k with the tridiagonal B = I + A/r.
    let mut power = vec![0.0; n * n];
    (0..n).for_each(|i| power[i * n + i] = 1.0);
    let mut sum = vec![0.0; n * n];
    let mut weight = libm::exp(-small);
    for k in 1..=30 {
        sum.iter_mut()
            .zip(&power)
            .for_each(|(s, p)| *s += weight * p);
        weight *= small / f64::from(k);
        let mut next = vec![0.0; n * n];
        for i in 0..n {
            let parts = [
                (i.wrapping_sub(1), down(i)),
                (i, rate - up(i) - down(i)),
                (i + 1, up(i)),
            ];
            for (j, part) in parts.into_iter().filter(|(j, part)| *j < n && *part != 0.0) {
                for z in 0..n {
                    next[i * n + z] += part / rate * power[j * n + z];
                }
            }
        }
        power = next;
    }
    for _ in 0..halvings {
        sum = square(&sum, n);
    }
    sum
}

fn square(matrix: &[f64], n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n * n];
    for (row, out) in matrix.chunks(n).zip(out.chunks_mut(n)) {
        for (factor, other) in row.iter().zip(matrix.chunks(n)) {
            out.iter_mut()
                .zip(other)
                .for_each(|(out, value)| *out += factor * value);
        }
    }
    out
}

impl Weighted {
    /// The kernel at a time for [`density`] and [`trend`] on a number of cells.
    pub fn new(cells: usize, amplitude: f64, power: u32, time: f64) -> Weighted {
        let h = 1.0 / cells as f64;
        let middle = |i: usize| (i as f64 + 0.5) * h;
        let rho: Vec<f64> = (0..cells).map(|i| density(amplitude, middle(i))).collect();
        let face = |i: usize| {
            (0..power)
                .map(|_| density(amplitude, i as f64 * h))
                .product()
        };
        let faces: Vec<f64> = (1..cells).map(face).collect();
        let heat = exponential(&rho, &faces, time);
        let normaliser = heat
            .chunks(cells)
            .map(|row| row.iter().zip(&rho).map(|(p, r)| p * r).sum())
            .collect();
        Weighted {
            h,
            density: rho,
            trend: (0..cells).map(|i| trend(middle(i))).collect(),
            heat,
            normaliser,
        }
    }

    /// k_t(z, x) for two cells.
    pub fn kernel(&self, z: usize, x: usize) -> f64 {
        self.heat[x * self.density.len() + z] / self.h
    }

    /// ρ dx of the cells.
    pub fn mass(&self) -> Vec<f64> {
        self.density.iter().map(|r| r * self.h).collect()
    }

    /// For each x the sum over z of `weight(z) f(k_t(z, x)) ρ(z) dz`.
    fn average(&self, weight: &[f64], f: impl Fn(f64) -> f64) -> Vec<f64> {
        let n = self.density.len();
        let at = |row: &[f64]| {
            (0..n)
                .map(|z| weight[z] * f(row[z] / self.h) * self.density[z] * self.h)
                .sum()
        };
        self.heat.chunks(n).map(at).collect()
    }

    /// sup_z ∫ k_t(z, x) w(x) dx.
    fn largest_column(&self, weight: impl Fn(usize) -> f64) -> f64 {
        let n = self.density.len();
        let column = |z: usize| {
            (0..n)
                .map(|x| self.heat[x * n + z] * weight(x))
                .sum::<f64>()
        };
        (0..n).map(column).fold(0.0, f64::max)
    }

    /// θ: sup_z ∫ k_t(z, x) dx (Assumption `assumption:bound-unweighted-int`).
    pub fn theta(&self) -> f64 {
        self.largest_column(|_| 1.0)
    }

    /// θ̃: sup_z ∫ k_t(z, x) ρ(x)/E_ρ[k_t(Z, x)] dx, what McDiarmid's inequality needs; the proof bounds it by 2θ.
    pub fn influence(&self) -> f64 {
        self.largest_column(|x| self.density[x] / self.normaliser[x])
    }

    /// min_x E_ρ[k_t(Z, x)]/ρ(x), at least 1/2 for small t (`eq:ratio-gamma`).
    pub fn ratio(&self) -> f64 {
        self.normaliser
            .iter()
            .zip(&self.density)
            .map(|(e, r)| e / r)
            .fold(f64::INFINITY, f64::min)
    }

    /// sup_x ‖k_t(·, x)‖_{L²(ρ)} (Assumption `assumption:bounded-p-moment`).
    pub fn largest_norm(&self) -> f64 {
        let ones = vec![1.0; self.density.len()];
        self.average(&ones, |k| k * k)
            .into_iter()
            .fold(0.0, f64::max)
            .sqrt()
    }

    /// E η̂.
    pub fn expected(&self) -> Vec<f64> {
        self.average(&self.trend, |k| k)
            .iter()
            .zip(&self.normaliser)
            .map(|(a, e)| a / e)
            .collect()
    }

    /// ∫ |E η̂ - η| ρ dx.
    pub fn bias(&self) -> f64 {
        let off = self
            .expected()
            .into_iter()
            .zip(&self.trend)
            .map(|(a, b)| (a - b).abs());
        off.zip(self.mass()).map(|(off, mass)| off * mass).sum()
    }

    /// √n times ∫ (Var η̂)^½ ρ dx, a bound on the variance part.
    pub fn deviation(&self) -> f64 {
        let squares = self.average(&self.trend, |k| k * k);
        let means = self.average(&self.trend, |k| k);
        let spread = squares
            .iter()
            .zip(&means)
            .map(|(s, m)| (s - m * m).max(0.0).sqrt());
        spread
            .zip(&self.normaliser)
            .zip(self.mass())
            .map(|((s, e), mass)| s / e * mass)
            .sum()
    }

    /// One sample of labels and how its estimate does. Samples lie in cells.
    pub fn repetition(&self, count: usize, random: &mut Random) -> Judged {
        let n = self.density.len();
        let mass = self.mass();
        let ends: Vec<f64> = mass
            .iter()
            .scan(0.0, |sum, m| {
                Some({
                    *sum += m;
                    *sum
                })
            })
            .collect();
        let (mut ones, mut all) = (vec![0.0; n], vec![0.0; n]);
        for _ in 0..count {
            let place = random.uniform() * ends[n - 1];
            let cell = ends.partition_point(|end| *end <= place).min(n - 1);
            all[cell] += 1.0;
            if random.uniform() < self.trend[cell] {
                ones[cell] += 1.0;
            }
        }
        let spread = |weights: &[f64]| -> Vec<f64> {
            let at = |row: &[f64]| {
                row.iter().zip(weights).map(|(p, w)| p * w).sum::<f64>() / (self.h * count as f64)
            };
            self.heat.chunks(n).map(at).collect()
        };
        judge(
            &mass,
            &self.trend,
            &self.expected(),
            &self.normaliser,
            &spread(&ones),
            &spread(&all),
        )
    }
}
