//! Propagation: how far a label at one node speaks for another.
//!
//! A propagation is a function K(l, x) >= 0 with K(l, l) = T (Normalization) and K(l, x) <= T (Maximum Principle); T = 1 counts a label as
//! one observation. A column is K(l, ·) for one source l.
//!
//! Poisson on the graph (`eq:poisson-prop`, `eq:poisson-prop-shift`), the default:
//!
//! ```text
//! (L + τ I) g = e_l,      K_P(l, x) = T (g(x) - min g) / (g(l) - min g)
//! ```
//!
//! How we solve it: with C the component of l and c its size, g vanishes off C, and on C it is g₀ + 1/(c τ), where g₀
//! solves the same system for e_l - 1/c. That right-hand side has no constant part, so small τ costs little, and τ = 0 is
//! well posed (g₀ is then the zero-mean solution, the column of the pseudo-inverse). The minimum is over all nodes: on a
//! connected graph the constant cancels; on a disconnected one min g = 0. With τ = 0 there is no g off C to compare
//! with, and the minimum is over C. A source without neighbours reaches only itself.

pub mod certified;
pub mod radial;
pub mod heat;
pub mod tau;

use std::sync::Arc;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::adjacency::Adjacency;
use crate::ids::NodeId;
use crate::linalg::cg::{Solved, Stop};
use crate::linalg::coloring::Coloured;
use crate::linalg::gauss_seidel;
use crate::linalg::inverse::Inverse;
use crate::linalg::local::LocalSolver;

/// K(l, ·) for one source l: a value for every node. Shared, because it is only ever read.
pub type Column = Arc<Vec<f64>>;

/// A way of spreading labels over the nodes. The bits of a column depend on the settings and its source only, so that
/// columns may be dropped and made again at will.
pub trait Propagation: Send + Sync {
    /// Number of nodes.
    fn n(&self) -> usize;

    /// The columns of some sources.
    fn columns(&self, sources: &[NodeId], control: &Control) -> Result<Vec<Column>>;

    /// The columns before they are normalised to T at the source, for the authors' variant of the calibrated prior.
    fn raw_columns(&self, sources: &[NodeId], control: &Control) -> Result<Vec<Column>> {
        self.columns(sources, control)
    }

    /// (d(x) + τ) Σ_z G(x, z) values(z) for every node x, to a relative residual of 1e-4: how much of the values a label at x
    /// speaks to, up to the normaliser (d(x) + τ) G(x, x) >= 1. `None`: this propagation cannot say without a column for every
    /// node.
    fn spread(&self, _values: &[f64], _control: &Control) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }

    /// (d(x) + τ) G(x, x) for every node x, never too high: what [`Propagation::spread`] has to be divided by for columns
    /// that are 1 at their source. `None` wherever [`Propagation::spread`] returns `None`.
    fn inverse_diagonal(&self, _control: &Control) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }

    /// T, the value of a column at its source.
    fn source_value(&self) -> f64 {
        1.0
    }

    /// Whether a label at the source can say anything about the node.
    fn reaches(&self, source: NodeId, node: NodeId) -> bool;

    /// The local solver behind this propagation, if a session is to use it (certified precision).
    fn local(&self) -> Option<&LocalSolver> {
        None
    }
}

/// Poisson propagation on a graph whose rows are its nodes.
#[derive(Debug)]
pub struct Poisson<G = Graph> {
    /// By sweeps over L + τ I, scaled to a diagonal of ones.
    inverse: Inverse<G, Coloured>,
    source_value: f64,
}

/// The residual of [`Propagation::spread`], relative to its right-hand side.
pub(crate) const SPREAD_RESIDUAL: f64 = 1e-4;

impl<G: Adjacency> Poisson<G> {
    /// Poisson propagation with T = 1 and faithful precision (true residual at most 1e-9).
    ///
    /// # Errors
    /// A tau that is not a finite number at least 0 (N7).
    pub fn new(graph: Arc<G>, tau: f64) -> Result<Poisson<G>> {
        if !(tau.is_finite() && tau >= 0.0) {
            return Err(Error::BadTau(tau));
        }
        let degrees = graph.rows().degrees;
        let root = |node: usize| match degrees[node] + tau {
            diagonal if diagonal > 0.0 => 1.0 / diagonal.sqrt(),
            _ => 0.0,
        };
        let matrix = Coloured::new(&*graph, root);
        Ok(Poisson {
            inverse: Inverse::new(graph, tau, matrix),
            source_value: 1.0,
        })
    }

    /// Counts every label as T observations.
    ///
    /// # Errors
    /// A T that is not between 1e-100 and 1e100.
    pub fn with_source_value(mut self, source_value: f64) -> Result<Poisson<G>> {
        check_source_value(source_value)?;
        self.source_value = source_value;
        Ok(self)
    }

    /// Changes when the solver stops.
    pub fn with_stop(mut self, stop: Stop) -> Poisson<G> {
        self.inverse.stop = stop;
        self
    }

    /// The graph.
    pub fn graph(&self) -> &G {
        &self.inverse.graph
    }

    /// Solves for one source and says how that went, to measure the solver.
    ///
    /// # Errors
    /// Not converged, or cancelled.
    pub fn solved(&self, source: NodeId, control: &Control) -> Result<Solved> {
        let mut found = Solved::default();
        self.inverse
            .centred(&[source.index()], control, |_, solved, _| found = solved)?;
        Ok(found)
    }

    /// What one iteration of the solver reads and writes for one source, in bytes.
    pub fn bytes_per_iteration(&self) -> usize {
        let matrix = &self.inverse.solver;
        matrix.bytes() + gauss_seidel::BYTES_PER_ROW * matrix.n()
    }

    /// Solves for all sources and turns each g₀ into a column with `finish`.
    fn solve(
        &self,
        sources: &[NodeId],
        finish: impl Fn(NodeId, &mut [f64]),
        control: &Control,
    ) -> Result<Vec<Column>> {
        let mut columns = Vec::with_capacity(sources.len());
        let rows: Vec<usize> = sources.iter().map(|source| source.index()).collect();
        self.inverse.centred(&rows, control, |side, _, solution| {
            let mut column: Vec<f64> = solution.collect();
            finish(sources[side], &mut column);
            columns.push(Arc::new(column));
        })?;
        Ok(columns)
    }

    fn inside(&self, source: NodeId) -> impl Fn(usize) -> bool + '_ {
        let rows = self.inverse.rows();
        let (component, connected) = (rows.component(source.index()), rows.is_connected());
        move |node| connected || rows.component(node) == component
    }

    /// What to add to g₀ on the component: g on it is g₀ + 1/(c τ) for τ > 0, and g₀ - min g₀ otherwise.
    fn constant(&self, source: NodeId, lowest: f64) -> f64 {
        let size = self.inverse.rows().component_size(source.index());
        if self.inverse.tau > 0.0 {
            1.0 / (size as f64 * self.inverse.tau)
        } else {
            -lowest
        }
    }

    /// Turns g₀ into T (g - min g) / (g(l) - min g).
    fn normalize(&self, source: NodeId, g: &mut [f64]) {
        let size = self.inverse.rows().component_size(source.index());
        if size == 1 {
            g.fill(0.0);
            g[source.index()] = self.source_value;
            return;
        }
        let lowest = self.lowest(source, g);
        // On a connected graph the minimum of g is the lowest; otherwise it is 0, somewhere off the component.
        let shift = if size == g.len() {
            -lowest
        } else {
            self.constant(source, lowest)
        };
        let top = g[source.index()] + shift;
        let inside = self.inside(source);
        for (node, value) in g.iter_mut().enumerate() {
            // Rounding may step outside what the maximum principle promises. As tau vanishes on a disconnected graph, K
            // tends to T on the whole component, and the constant that says so may overflow.
            let share = if !top.is_finite() {
                1.0
            } else {
                (*value + shift) / top
            };
            *value = if inside(node) {
                (self.source_value * share).clamp(0.0, self.source_value)
            } else {
                0.0
            };
        }
    }

    /// Turns g₀ into g.
    fn complete(&self, source: NodeId, g: &mut [f64]) {
        let constant = self.constant(source, self.lowest(source, g));
        let inside = self.inside(source);
        for (node, value) in g.iter_mut().enumerate() {
            *value = if inside(node) { *value + constant } else { 0.0 };
        }
    }

    /// The smallest value on the component of the source.
    fn lowest(&self, source: NodeId, g: &[f64]) -> f64 {
        let inside = self.inside(source);
        let values = g.iter().enumerate().filter(|&(node, _)| inside(node));
        values.fold(f64::INFINITY, |lowest, (_, &value)| lowest.min(value))
    }
}

/// T must keep the squares of sums of columns inside the range of f64.
pub fn check_source_value(source_value: f64) -> Result<()> {
    if (1e-100..=1e100).contains(&source_value) {
        return Ok(());
    }
    Err(Error::setting(
        "source-value",
        "a number from 1e-100 to 1e100",
        source_value,
    ))
}

impl<G: Adjacency> Propagation for Poisson<G> {
    fn n(&self) -> usize {
        self.inverse.solver.n()
    }

    fn columns(&self, sources: &[NodeId], control: &Control) -> Result<Vec<Column>> {
        self.solve(sources, |source, g| self.normalize(source, g), control)
    }

    fn raw_columns(&self, sources: &[NodeId], control: &Control) -> Result<Vec<Column>> {
        self.solve(sources, |source, g| self.complete(source, g), control)
    }

    fn source_value(&self) -> f64 {
        self.source_value
    }

    fn inverse_diagonal(&self, control: &Control) -> Result<Option<Vec<f64>>> {
        let known = self.inverse.tau > 0.0;
        known
            .then(|| self.inverse.inverse_diagonal(control))
            .transpose()
    }

    fn spread(&self, values: &[f64], control: &Control) -> Result<Option<Vec<f64>>> {
        let known = self.inverse.tau > 0.0;
        let spread = || self.inverse.spread(values, SPREAD_RESIDUAL, control);
        known.then(spread).transpose()
    }

    fn reaches(&self, source: NodeId, node: NodeId) -> bool {
        self.inside(source)(node.index())
    }
}

#[cfg(test)]
mod tests;
