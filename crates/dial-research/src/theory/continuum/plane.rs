//! Diffusion on the unit square as diffusion on a graph of cells.
//!
//! ```text
//! Δ_ρ v = (1/ρ) div(ρ^p ∇v)     p = 1: the paper's examples;  p = 2: its theory section;  p = 0: see below
//!
//! -Δ_ρ u + τ u = f,  ∇u · ν = 0        (eq:poisson-ctnm-2d)
//! ```
//!
//! times ρ and integrated over a square cell of side h: what flows out through the faces, plus τ times what the cell
//! holds, is what the source gives,
//!
//! ```text
//! Σ_j w_ij (u_i - u_j) + τ m_i u_i = m_i f_i,      w_ij = ρ(face)^p h/h,   m_i = ρ(x_i) h²
//! ```
//!
//! which is (L + τ M) u = M f with L the Laplacian of a graph whose weights are the conductances of the faces. Faces of the
//! boundary have none: that is Neumann's condition. The error is O(h²). L + τM is an M-matrix, so f >= 0 gives u >= 0, and
//! Σ m u = Σ m f / τ by adding up the rows.
//!
//! Which p belongs to a graph? An ε-graph has the limit p = 2, a graph of k nearest neighbours in d dimensions
//! (1/ρ) div(ρ^(1 - 2/d) ∇), in the plane p = 0; p = 1 belongs to neither. All three are here, to be compared.

use dial::{Graph, Result};

use super::density::Sampled;
use super::network::Network;
use dial_plot::chart::Point;

/// The exponent p inside Δ_ρ v = (1/ρ) div(ρ^p ∇v).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// p = 0.
    Plain,
    /// p = 1, `eq:poisson-ctnm-2d`.
    Weighted,
    /// p = 2, `eq:heat-eqn-start`.
    Squared,
}

impl Operator {
    /// All of them.
    pub const ALL: [Operator; 3] = [Operator::Plain, Operator::Weighted, Operator::Squared];
    /// The two of the paper.
    pub const PRINTED: [Operator; 2] = [Operator::Weighted, Operator::Squared];

    /// p.
    pub fn power(self) -> i32 {
        match self {
            Operator::Plain => 0,
            Operator::Weighted => 1,
            Operator::Squared => 2,
        }
    }

    /// ρ^p.
    pub fn conductance(self, density: f64) -> f64 {
        match self {
            Operator::Plain => 1.0,
            Operator::Weighted => density,
            Operator::Squared => density * density,
        }
    }

    /// What stands inside, for legends.
    pub fn inside(self) -> &'static str {
        match self {
            Operator::Plain => "ρ⁰ inside",
            Operator::Weighted => "ρ inside",
            Operator::Squared => "ρ² inside",
        }
    }

    /// The operator in a line.
    pub fn name(self) -> &'static str {
        match self {
            Operator::Plain => "(1/ρ) div(grad u)",
            Operator::Weighted => "(1/ρ) div(ρ grad u)",
            Operator::Squared => "(1/ρ) div(ρ² grad u)",
        }
    }
}

/// A density and an operator on a grid of n by n cells. Values on it are those at the middles of the cells, row by row from
/// the bottom.
#[derive(Clone, Debug)]
pub struct Plane {
    n: usize,
    network: Network,
}

impl Plane {
    /// The operator for a density.
    ///
    /// # Errors
    /// A density that is not finite and above 0.
    pub fn new(density: &Sampled, operator: Operator) -> Result<Plane> {
        let n = density.n;
        let edge = |from: usize, to: usize, density: f64| {
            (from as u32, to as u32, operator.conductance(density))
        };
        let right = density.right.iter().enumerate().map(|(face, density)| {
            let cell = face / (n - 1) * n + face % (n - 1);
            edge(cell, cell + 1, *density)
        });
        let above = density
            .above
            .iter()
            .enumerate()
            .map(|(cell, density)| edge(cell, cell + n, *density));
        let graph = Graph::from_edges(n * n, &right.chain(above).collect::<Vec<_>>())?;
        let area = 1.0 / (n * n) as f64;
        Ok(Plane {
            n,
            network: Network::new(
                graph,
                density.cells.iter().map(|density| density * area).collect(),
            ),
        })
    }

    /// Cells along a side.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The graph of the cells with their masses m, on which everything is solved.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// ρ at the middles of the cells.
    pub fn density(&self) -> Vec<f64> {
        self.network
            .measure()
            .iter()
            .map(|m| m * (self.n * self.n) as f64)
            .collect()
    }

    /// The middle of a cell.
    pub fn centre(&self, cell: usize) -> Point {
        let middle = |i: usize| (i as f64 + 0.5) / self.n as f64;
        (middle(cell % self.n), middle(cell / self.n))
    }

    /// The cell that holds a point.
    pub fn cell(&self, (x, y): Point) -> usize {
        let index = |v: f64| ((v * self.n as f64).max(0.0) as usize).min(self.n - 1);
        index(y) * self.n + index(x)
    }

    /// The values of a function.
    pub fn values(&self, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        (0..self.n * self.n)
            .map(|cell| self.centre(cell))
            .map(|(x, y)| f(x, y))
            .collect()
    }

    /// Values at a point, linear between the middles of cells.
    pub fn interpolated(&self, values: &[f64], (x, y): Point) -> f64 {
        let split = |v: f64| {
            let place = (v * self.n as f64 - 0.5).clamp(0.0, (self.n - 1) as f64);
            let low = (place as usize).min(self.n - 2);
            (low, place - low as f64)
        };
        let ((i, s), (j, t)) = (split(x), split(y));
        let row = |j: usize| (1.0 - s) * values[j * self.n + i] + s * values[j * self.n + i + 1];
        (1.0 - t) * row(j) + t * row(j + 1)
    }

    /// A delta of fixed radius: (1 - |x - x*|²/r²)³ inside the disc, scaled to ∫ = 1 on the grid.
    pub fn bump(&self, at: Point, radius: f64) -> Vec<f64> {
        let share = |x: f64, y: f64| {
            let squared = ((x - at.0) * (x - at.0) + (y - at.1) * (y - at.1)) / (radius * radius);
            let rest = (1.0 - squared).max(0.0);
            rest * rest * rest
        };
        let mut values = self.values(share);
        let total = values.iter().sum::<f64>() / (self.n * self.n) as f64;
        values.iter_mut().for_each(|value| *value /= total);
        values
    }

    /// A delta of one cell: 1/h² in the cell that holds the point. It narrows as the grid is refined.
    pub fn spike(&self, at: Point) -> Vec<f64> {
        let mut values = vec![0.0; self.n * self.n];
        values[self.cell(at)] = (self.n * self.n) as f64;
        values
    }
}
