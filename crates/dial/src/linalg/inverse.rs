//! G = (L + τ I)⁻¹ over a whole graph, by either of the global solvers.
//!
//! ```text
//! G e_l      on the component of l (c nodes) g₀ + 1/(c τ), elsewhere 0: g₀ solves for e_l - 1/c there
//! (D + τ I) G v                     the means of v over the components are taken out, and put back over τ
//! ```
//!
//! The constant is taken out so that small τ costs few iterations, and τ = 0 is well posed (g₀ is then the zero-mean solution,
//! the column of the pseudo-inverse).

use std::iter::{Copied, StepBy};
use std::slice::Iter;
use std::sync::Arc;

use crate::control::Control;
use crate::error::Result;
use crate::graph::adjacency::{Adjacency, GraphRows};
use crate::graph::laplacian::Combinatorial;
use crate::linalg::cg::{GlobalSolver, Solved, Spare, Stop};
use crate::linalg::inverse_diagonal;

/// (L + τ I)⁻¹ of a graph.
#[derive(Debug)]
pub(crate) struct Inverse<G, S: GlobalSolver> {
    pub(crate) graph: Arc<G>,
    pub(crate) tau: f64,
    pub(crate) stop: Stop,
    pub(crate) solver: S,
    spare: Spare<S::Vectors>,
}

/// Right-hand sides are solved together in blocks of this width.
const SIDES_PER_SOLVE: usize = 8;

/// The solution for one right-hand side, by row.
pub(crate) type Solution<'a> = StepBy<Copied<Iter<'a, f64>>>;

impl<G: Adjacency, S: GlobalSolver> Inverse<G, S> {
    pub(crate) fn new(graph: Arc<G>, tau: f64, solver: S) -> Inverse<G, S> {
        Inverse {
            graph,
            tau,
            stop: Stop::default(),
            solver,
            spare: Spare::default(),
        }
    }

    pub(crate) fn rows(&self) -> GraphRows<'_, G::Count, G::Weight> {
        self.graph.rows()
    }

    /// L + τ I.
    pub(crate) fn operator(&self) -> Combinatorial<'_, G::Count, G::Weight> {
        Combinatorial::with_lanes(self.rows(), self.tau, S::LANES)
    }

    /// Solves for several right-hand sides; `take` is called with the number of the side, how the solve went, and the solution.
    pub(crate) fn solve(
        &self,
        count: usize,
        b: impl Fn(usize, usize) -> f64 + Sync,
        stop: Stop,
        control: &Control,
        mut take: impl FnMut(usize, Solved, Solution<'_>),
    ) -> Result<()> {
        self.spare.lend(|vectors| {
            let mut first = 0;
            while first < count {
                // A block costs about as much as three single solves.
                let width = if count - first > 3 {
                    SIDES_PER_SOLVE.min(count - first)
                } else {
                    1
                };
                let side = |row: usize, c: usize| if c < width { b(first + c, row) } else { 0.0 };
                let mut take = |c: usize, solved: Solved, solution: Solution<'_>| {
                    take(first + c, solved, solution);
                };
                match width {
                    1 => self.block::<1>(width, side, stop, vectors, control, &mut take)?,
                    _ => self
                        .block::<SIDES_PER_SOLVE>(width, side, stop, vectors, control, &mut take)?,
                }
                first += width;
            }
            Ok(())
        })
    }

    fn block<const W: usize>(
        &self,
        width: usize,
        b: impl Fn(usize, usize) -> f64 + Sync,
        stop: Stop,
        vectors: &mut S::Vectors,
        control: &Control,
        take: &mut impl FnMut(usize, Solved, Solution<'_>),
    ) -> Result<()> {
        let operator = self.operator();
        // A scope moves the whole solve into the thread pool: its hundred short loops then start without waking anybody.
        let solved: [Solved; W] =
            rayon::scope(|_| self.solver.solve(&operator, &b, stop, vectors, control))?;
        let solutions = S::solutions(vectors);
        for (c, &solved) in solved.iter().enumerate().take(width) {
            take(c, solved, solutions[c..].iter().copied().step_by(W));
        }
        Ok(())
    }

    /// Solves for g₀ of some rows.
    pub(crate) fn centred(
        &self,
        sources: &[usize],
        control: &Control,
        take: impl FnMut(usize, Solved, Solution<'_>),
    ) -> Result<()> {
        let (rows, connected) = (self.rows(), self.rows().is_connected());
        let target = |&source: &usize| {
            let share = 1.0 / rows.component_size(source) as f64;
            (source, rows.component(source), share)
        };
        let targets: Vec<(usize, usize, f64)> = sources.iter().map(target).collect();
        let b = |side: usize, row: usize| {
            let (source, component, share) = targets[side];
            if !connected && rows.component(row) != component {
                0.0
            } else if row == source {
                1.0 - share
            } else {
                -share
            }
        };
        self.solve(sources.len(), b, self.stop, control, take)
    }

    /// (D + τ I) G values, to a residual relative to the values.
    pub(crate) fn spread(
        &self,
        values: &[f64],
        relative: f64,
        control: &Control,
    ) -> Result<Vec<f64>> {
        let rows = self.rows();
        let means = rows.means(values);
        let b = |_: usize, row: usize| values[row] - means[rows.component(row)];
        let norm = (0..values.len())
            .fold(0.0, |sum, row| sum + b(0, row) * b(0, row))
            .sqrt();
        // What is left of values that are all alike is rounding.
        let size = values
            .iter()
            .fold(0.0, |sum, value| sum + value * value)
            .sqrt();
        let stop = Stop {
            residual: (relative * norm).max(1e-9 * size).max(f64::MIN_POSITIVE),
            ..self.stop
        };
        let mut spread = Vec::new();
        self.solve(1, b, stop, control, |_, _, solution| {
            let value = |(row, g): (usize, f64)| {
                (g + means[rows.component(row)] / self.tau) * (rows.degrees[row] + self.tau)
            };
            spread = solution.enumerate().map(value).collect();
        })?;
        Ok(spread)
    }

    /// (d + τ) G(x, x) for every row x, never too high.
    pub(crate) fn inverse_diagonal(&self, control: &Control) -> Result<Vec<f64>> {
        inverse_diagonal::find(&self.operator(), control)
    }
}
