//! A support vector machine with the RBF kernel on the line, for the margin of Example `example:2types-unc`.
//!
//! ```text
//! dual       max Σ a_i - 1/2 Σ a_i a_j y_i y_j k(x_i, x_j),   0 <= a_i <= C,   Σ y_i a_i = 0
//! kernel     k(x, x') = exp(-γ (x - x')²), the paper's γ = 2
//! decision   f(x) = Σ a_i y_i k(x_i, x) + b
//! ```
//!
//! Sequential minimal optimisation (Platt): two multipliers at a time, the pair that violates the optimality conditions
//! and gains most (Fan, Chen, Lin, second order). It stops where the conditions hold to a tolerance:
//! with r_i = y_i - Σ_j a_j y_j k_ij, the largest r over {a can grow with y = 1, shrink with y = -1} exceeds the smallest
//! over the converse by at most that much. b is the middle of what is left between the two. The paper does not give C;
//! we take 1, the default of the usual packages.

use dial::{Error, Result};

/// A trained machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Svm {
    /// γ.
    gamma: f64,
    /// The points.
    x: Vec<f64>,
    /// Their classes, -1 or 1.
    y: Vec<f64>,
    /// The multipliers.
    pub multipliers: Vec<f64>,
    /// b.
    pub offset: f64,
}

/// So many steps at most.
const MAX_STEPS: usize = 1_000_000;
/// Curvature of a pair that has none: points at one place.
const FLAT_CURVATURE: f64 = 1e-12;

impl Svm {
    /// Trains on points with classes -1 and 1.
    ///
    /// # Errors
    /// Not converged after a million steps.
    ///
    /// # Panics
    /// If points and classes differ in number.
    pub fn train(x: &[f64], y: &[f64], gamma: f64, bound: f64, tolerance: f64) -> Result<Svm> {
        assert_eq!(x.len(), y.len(), "a class for every point");
        let mut work = Work {
            y,
            bound,
            kernel: kernel_matrix(x, gamma),
            a: vec![0.0; x.len()],
            r: y.to_vec(),
        };
        let mut gap = f64::INFINITY;
        for _ in 0..MAX_STEPS {
            let Some((up, down)) = work.violating_pair(tolerance) else {
                let offset = work.offset();
                return Ok(Svm {
                    gamma,
                    x: x.to_vec(),
                    y: y.to_vec(),
                    multipliers: work.a,
                    offset,
                });
            };
            gap = work.r[up] - work.r[down];
            work.step(up, down);
        }
        Err(Error::NotConverged {
            iterations: MAX_STEPS,
            residual: gap,
            wanted: tolerance,
        })
    }

    /// a_i y_i of every point: f(x) = Σ of these times k(x_i, x), plus the offset.
    pub fn weights(&self) -> impl Iterator<Item = f64> + '_ {
        self.multipliers.iter().zip(&self.y).map(|(a, y)| a * y)
    }

    /// f at a place: its sign is the class, its magnitude the margin.
    pub fn decision(&self, place: f64) -> f64 {
        let terms = self.x.iter().zip(self.weights());
        terms.fold(self.offset, |sum, (x, weight)| {
            sum + weight * kernel(self.gamma, *x, place)
        })
    }
}

fn kernel(gamma: f64, x: f64, z: f64) -> f64 {
    libm::exp(-gamma * (x - z) * (x - z))
}

fn kernel_matrix(x: &[f64], gamma: f64) -> Vec<Vec<f64>> {
    x.iter()
        .map(|a| x.iter().map(|b| kernel(gamma, *a, *b)).collect())
        .collect()
}

/// The state of the optimisation; r_i = y_i - Σ_j a_j y_j k_ij.
struct Work<'a> {
    y: &'a [f64],
    bound: f64,
    kernel: Vec<Vec<f64>>,
    a: Vec<f64>,
    r: Vec<f64>,
}

impl Work<'_> {
    /// Whether y a can grow.
    fn can_rise(&self, i: usize) -> bool {
        if self.y[i] > 0.0 {
            self.a[i] < self.bound
        } else {
            self.a[i] > 0.0
        }
    }

    /// Whether y a can shrink.
    fn can_fall(&self, i: usize) -> bool {
        if self.y[i] > 0.0 {
            self.a[i] > 0.0
        } else {
            self.a[i] < self.bound
        }
    }

    /// Second derivative along a pair.
    fn curvature(&self, i: usize, j: usize) -> f64 {
        (self.kernel[i][i] + self.kernel[j][j] - 2.0 * self.kernel[i][j]).max(FLAT_CURVATURE)
    }

    /// The pair to change next: one that can rise with the largest r, and of those that can fall the one with which the
    /// dual gains most. None where no pair violates the conditions by more than the tolerance.
    fn violating_pair(&self, tolerance: f64) -> Option<(usize, usize)> {
        let all = 0..self.a.len();
        let up = all
            .clone()
            .filter(|i| self.can_rise(*i))
            .max_by(|a, b| self.r[*a].total_cmp(&self.r[*b]))?;
        let gap = |j: usize| self.r[up] - self.r[j];
        let gain = |j: &usize| gap(*j) * gap(*j) / self.curvature(up, *j);
        let down = all.filter(|j| self.can_fall(*j) && gap(*j) > tolerance);
        Some((up, down.max_by(|a, b| gain(a).total_cmp(&gain(b)))?))
    }

    /// Moves along a pair to the best point inside the box.
    fn step(&mut self, up: usize, down: usize) {
        let room = |i: usize, rising: bool| {
            if rising == (self.y[i] > 0.0) {
                self.bound - self.a[i]
            } else {
                self.a[i]
            }
        };
        let wanted = (self.r[up] - self.r[down]) / self.curvature(up, down);
        let (room_up, room_down) = (room(up, true), room(down, false));
        let length = wanted.min(room_up).min(room_down);
        // The one that reaches its bound does so exactly, so that it counts as bound from here on.
        self.shift(up, length * self.y[up], length == room_up);
        self.shift(down, -length * self.y[down], length == room_down);
        for (r, row) in self.r.iter_mut().zip(&self.kernel) {
            *r -= length * (row[up] - row[down]);
        }
    }

    fn shift(&mut self, i: usize, change: f64, to_bound: bool) {
        self.a[i] = match (to_bound, change > 0.0) {
            (true, true) => self.bound,
            (true, false) => 0.0,
            _ => (self.a[i] + change).clamp(0.0, self.bound),
        };
    }

    /// The middle of the offsets that the optimality conditions allow.
    fn offset(&self) -> f64 {
        let all = 0..self.a.len();
        let low = all
            .clone()
            .filter(|i| self.can_rise(*i))
            .map(|i| self.r[i])
            .fold(f64::NEG_INFINITY, f64::max);
        let high = all
            .filter(|i| self.can_fall(*i))
            .map(|i| self.r[i])
            .fold(f64::INFINITY, f64::min);
        match (low.is_finite(), high.is_finite()) {
            (true, true) => 0.5 * (low + high),
            (true, false) => low,
            (false, true) => high,
            (false, false) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dial::seed::{Purpose, Random};

    #[test]
    fn two_points_by_hand() {
        // a = C = 1 for both (the box stops them), f(x_i) = y_i (1 - k), b anywhere in ±k, hence its middle 0.
        let machine = Svm::train(&[-0.5, 0.25], &[-1.0, 1.0], 2.0, 1.0, 1e-12).unwrap();
        assert_eq!(
            (&machine.multipliers[..], machine.offset),
            (&[1.0, 1.0][..], 0.0)
        );
        let k = libm::exp(-2.0 * 0.75 * 0.75);
        assert!((machine.decision(0.25) - (1.0 - k)).abs() < 1e-15);
        // With a large bound both lie on the margin: a (1 - k) = 1.
        let machine = Svm::train(&[-0.5, 0.25], &[-1.0, 1.0], 2.0, 100.0, 1e-12).unwrap();
        assert!((machine.multipliers[0] - 1.0 / (1.0 - k)).abs() < 1e-12);
        assert!((machine.decision(-0.5) + 1.0).abs() < 1e-12);
    }

    /// The optimality conditions, from their definition.
    fn check(x: &[f64], y: &[f64], bound: f64) {
        let machine = Svm::train(x, y, 2.0, bound, 1e-9).unwrap();
        let balance: f64 = machine.multipliers.iter().zip(y).map(|(a, y)| a * y).sum();
        assert!(balance.abs() < 1e-9, "{balance}");
        for ((x, y), a) in x.iter().zip(y).zip(&machine.multipliers) {
            let margin = y * machine.decision(*x);
            assert!((0.0..=bound).contains(a));
            assert!(*a == 0.0 || margin <= 1.0 + 1e-8, "{a} {margin}");
            assert!(*a == bound || margin >= 1.0 - 1e-8, "{a} {margin}");
        }
    }

    #[test]
    fn random_samples_are_optimal() {
        for round in 0..40 {
            let mut random = Random::new(5, Purpose::User, round);
            let n = 2 + random.below(40);
            let x: Vec<f64> = (0..n)
                .map(|_| (random.uniform() * 60.0).round() / 10.0 - 3.0)
                .collect();
            let y: Vec<f64> = (0..n)
                .map(|_| if random.uniform() < 0.5 { -1.0 } else { 1.0 })
                .collect();
            check(&x, &y, [0.1, 1.0, 10.0][round as usize % 3]);
        }
    }

    #[test]
    fn one_class_alone() {
        let machine = Svm::train(&[0.0, 1.0], &[1.0, 1.0], 2.0, 1.0, 1e-9).unwrap();
        assert_eq!(machine.decision(0.5), 1.0);
        assert_eq!(
            Svm::train(&[], &[], 2.0, 1.0, 1e-9).unwrap().decision(0.0),
            0.0
        );
    }
}
