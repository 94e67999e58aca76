//! Diffusion on a graph whose nodes have masses: Poisson, backward Euler, heat, all by the solver of the core.
//!
//! ```text
//! Δ = -M⁻¹ L,    M = diag(m)                 self-adjoint for the product Σ m u v
//! -Δ u + τ u = f           is   (L + τ M) u = M f              (eq:poisson-prop where m = 1)
//! (I - t Δ)⁻¹ v = u        is   (M + t L) u = M v              one backward Euler step of ∂_t v = Δ v
//! ```
//!
//! The core solves (L + τ I) u = f, with the same shift for all nodes. But with R = (aM + bD)^(-1/2)
//!
//! ```text
//! R (a M + b L) R = I - (√b R) W (√b R)
//! ```
//!
//! is an operator of the core ([`Grounded`]), and conjugate gradients on it are those with Jacobi's preconditioner on
//! aM + bL. The constant, which a small τ makes large, is split off before: u = u₀ + c/a with c = Σ m f / Σ m, as the core
//! does it for the graph (`dial::propagate`).

use dial::graph::laplacian::Grounded;
use dial::linalg::cg::{Stop, Workspace, conjugate_gradients};
use dial::{Control, Graph, Result};

/// The residual of every solve, relative to its right-hand side.
const RESIDUAL: f64 = 1e-11;
const ITERATIONS: usize = 100_000;

/// A connected graph with a mass m > 0 for every node.
#[derive(Clone, Debug)]
pub struct Network {
    graph: Graph,
    measure: Vec<f64>,
}

impl Network {
    /// A graph with masses.
    ///
    /// # Panics
    /// If there are more or fewer masses than nodes.
    pub fn new(graph: Graph, measure: Vec<f64>) -> Network {
        assert_eq!(graph.n(), measure.len(), "one mass per node");
        Network { graph, measure }
    }

    /// m.
    pub fn measure(&self) -> &[f64] {
        &self.measure
    }

    /// Σ m v, in the plane ∫ ρ v.
    pub fn mass(&self, values: &[f64]) -> f64 {
        self.measure
            .iter()
            .zip(values)
            .fold(0.0, |sum, (m, v)| sum + m * v)
    }

    /// u with -Δu + τ u = f, for τ > 0.
    ///
    /// # Errors
    /// Cancelled; a solver that does not converge.
    pub fn poisson(&self, tau: f64, f: &[f64], control: &Control) -> Result<Vec<f64>> {
        self.solve(tau, 1.0, f, control)
    }

    /// (I - (t/m) Δ)⁻ᵐ v: m backward Euler steps over the time t of the heat equation.
    ///
    /// # Errors
    /// Cancelled; a solver that does not converge.
    pub fn backward_euler(
        &self,
        time: f64,
        steps: usize,
        v: &[f64],
        control: &Control,
    ) -> Result<Vec<f64>> {
        let mut v = v.to_vec();
        for _ in 0..steps {
            v = self.solve(1.0, time / steps as f64, &v, control)?;
        }
        Ok(v)
    }

    /// exp(t Δ) v in equal steps of the diagonally implicit Runge-Kutta method of order 2 with γ = 1 - 1/√2, which is
    /// L-stable, so that steps need not be short. With S = (I - γ s Δ)⁻¹ a step of length s is
    ///
    /// ```text
    /// w = S v,    v <- S (v + (1/γ - 1)(w - v))
    /// ```
    ///
    /// # Errors
    /// Cancelled; a solver that does not converge.
    pub fn heat(&self, time: f64, steps: usize, v: &[f64], control: &Control) -> Result<Vec<f64>> {
        let gamma = 1.0 - 0.5f64.sqrt();
        let length = gamma * time / steps as f64;
        let mut v = v.to_vec();
        for _ in 0..steps {
            let w = self.solve(1.0, length, &v, control)?;
            let ahead: Vec<f64> = v
                .iter()
                .zip(&w)
                .map(|(v, w)| v + (1.0 / gamma - 1.0) * (w - v))
                .collect();
            v = self.solve(1.0, length, &ahead, control)?;
        }
        Ok(v)
    }

    /// u with (a M + b L) u = M f.
    fn solve(&self, a: f64, b: f64, f: &[f64], control: &Control) -> Result<Vec<f64>> {
        let total = self.measure.iter().sum::<f64>();
        let mean = self.mass(f) / total;
        let root: Vec<f64> = self
            .measure
            .iter()
            .zip(self.graph.degrees())
            .map(|(m, d)| 1.0 / (a * m + b * d).sqrt())
            .collect();
        let operator = Grounded::new(
            &self.graph,
            root.iter().map(|root| b.sqrt() * root).collect(),
        );
        let scale = |node: usize| root[node] * self.measure[node];
        let right = |node: usize, _: usize| scale(node) * (f[node] - mean);
        let norm = (0..root.len())
            .map(|node| scale(node) * f[node])
            .fold(0.0, |sum, v| sum + v * v)
            .sqrt();
        let stop = Stop {
            residual: RESIDUAL * norm,
            iterations: ITERATIONS,
        };
        let mut workspace = Workspace::default();
        conjugate_gradients::<1>(&operator, right, stop, &mut workspace, control)?;
        let mut u: Vec<f64> = workspace
            .solution()
            .iter()
            .zip(&root)
            .map(|(y, root)| root * y)
            .collect();
        // u₀ has no mass but what the solver left of it; without it nothing is lost or gained.
        let constant = mean / a - self.mass(&u) / total;
        u.iter_mut().for_each(|u| *u += constant);
        Ok(u)
    }
}
