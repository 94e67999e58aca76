//! Columns of Poisson propagation by local solves, with a proven bound on every value.
//!
//! ```text
//! g_l = G e_l,  K_P(l, x) = T (g_l(x) - m) / (g_l(l) - m),  m = min g_l          (eq:poisson-prop-shift)
//! estimate      T (x + G r)(·) / ĝ,   x and r from pushing e_l until |r| <= ρ   (see `push`)
//! ```
//!
//! The parts of the error, each bounded:
//!
//! * **residual**: |G r| <= ρ/τ. What is left of all labels of a class is one residual, bounded once (`incremental`).
//! * **normaliser**: g_l(l) = x_l + x·r + r·G r, and |r|²/(2 d_max + τ) <= r·G r <= |r|²/τ because the eigenvalues of L lie
//!   in [0, 2 d_max]; so ĝ, the middle, is right to a relative error η, of second order in the residual.
//! * **shift**: 0 <= m <= 1/(n τ), because g sums to 1/τ; and by symmetry m <= g_z(l) for any z: a few landmarks z, far
//!   from each other and solved globally once, make that small. On a disconnected graph m = 0. K_P is at most what it
//!   would be without a shift, and less by at most T m/(g_l(l) - m).
//! * **weights** in f32: at most 4 T d_max 2⁻²⁴/τ. **Rounding** in f64: at most 2⁻⁵² per entry visited, over τ.
//!
//! How good: δ = ρ/τ is half the prior strength, at most 1e-3 (measured: DESIGN.md, "Decisions"); evidence below the prior does
//! not change what is asked. When to: with the regime number Λ = n τ δ/(d + τ) the touched part of the graph is at most
//! 1/Λ, and reaching δ takes about ln(1/δ) (d + τ)/τ sweeps over it; beyond a limit one global solve is cheaper and is used
//! instead, and also where the pool is so small that the shift would exceed δ.

use std::sync::{Arc, OnceLock};

use crate::control::Control;
use crate::error::{Error, Result};
use crate::graph::laplacian::LinearOperator;
use crate::graph::packed::PackedGraph;
use crate::ids::NodeId;
use crate::linalg::cg::{Exact, Spare};
use crate::linalg::inverse::Inverse;
use crate::linalg::push::Pusher;

/// Which kind of solve a certified session uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// Pushes that touch a part of the graph.
    Local,
    /// Conjugate gradients over all of it.
    Global,
}

/// How the solves of a certified session are done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solving {
    /// Locally or globally.
    pub regime: Regime,
    /// δ, the tolerance of local solves.
    pub tolerance: f64,
    /// Λ, which decides: a local solve touches at most a share of about 1/Λ of the graph.
    pub regime_number: f64,
}

/// A proven bound on the evidence for a class: |estimate - exact| <= absolute + relative · exact at every node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bound {
    /// The part that is the same everywhere.
    pub absolute: f64,
    /// The part that grows with the evidence.
    pub relative: f64,
}

impl Bound {
    /// The largest error at a node where the evidence is estimated to be `estimate`.
    pub fn at(&self, estimate: f64) -> f64 {
        // exact <= (estimate + absolute)/(1 - relative)
        let exact = (estimate.max(0.0) + self.absolute) / (1.0 - self.relative);
        // Where nothing is known, infinity times 0 must not become "not a number", which comparisons overlook.
        let known = self.absolute.is_finite() && self.relative < 1.0;
        if known {
            self.absolute + self.relative * exact
        } else {
            f64::INFINITY
        }
    }
}

/// Local solves on a compact graph.
#[derive(Debug)]
pub struct LocalSolver {
    global: Inverse<PackedGraph, Exact>,
    source_value: f64,
    tolerance: Option<f64>,
    largest_degree: f64,
    mean_degree: f64,
    landmarks: OnceLock<Vec<Vec<f64>>>,
    spare: Spare<Scratch>,
}

/// Zero between uses, see [`Pusher`].
#[derive(Debug)]
struct Scratch {
    pusher: Pusher,
    residual: Vec<f64>,
}

/// A column of K_P as pushing leaves it, by place: where it was touched, estimate and residual, both times T/ĝ.
#[derive(Debug)]
pub(crate) struct SparseColumn {
    pub(crate) places: Vec<u32>,
    pub(crate) values: Vec<(f64, f64)>,
    /// Normaliser (relative), and shift, weights and rounding (absolute): everything but the residual.
    pub(crate) bound: Bound,
}

/// δ as a share of the prior strength, and at most.
const PRIOR_SHARE: f64 = 0.5;
const MAX_TOLERANCE: f64 = 1e-3;

/// Sweeps over the touched part, each an e-th of the residual, up to which pushing pays.
const MAX_PUSH_DEPTH: f64 = 100.0;

/// Landmarks, and the size of 1/(n τ) up to which none are needed.
const LANDMARKS: usize = 8;
const SMALL_SHIFT: f64 = 1e-5;

impl LocalSolver {
    /// A solver with T = 1 and the tolerance chosen from the prior.
    ///
    /// # Errors
    /// A tau that is not a finite number above 0: with 0 there is no bound.
    pub(crate) fn new(graph: Arc<PackedGraph>, tau: f64) -> Result<LocalSolver> {
        if !(tau.is_finite() && tau > 0.0) {
            let want = "a finite number above 0 in certified precision";
            return Err(Error::setting("tau", want, tau));
        }
        let degrees = &graph.parts().degrees;
        let largest_degree = degrees.iter().copied().fold(0.0, f64::max);
        let mean_degree = degrees.iter().fold(0.0, |sum, d| sum + d) / graph.n() as f64;
        Ok(LocalSolver {
            global: Inverse::new(graph, tau, Exact),
            source_value: 1.0,
            tolerance: None,
            largest_degree,
            mean_degree,
            landmarks: OnceLock::new(),
            spare: Spare::default(),
        })
    }

    /// Counts every label as T observations; the caller has checked T.
    pub(crate) fn with_source_value(mut self, source_value: f64) -> LocalSolver {
        self.source_value = source_value;
        self
    }

    /// Fixes δ, the part of the bound that a solve is stopped by.
    ///
    /// # Errors
    /// A δ that is not a positive number.
    pub(crate) fn with_tolerance(mut self, tolerance: f64) -> Result<LocalSolver> {
        if !(tolerance.is_finite() && tolerance > 0.0) {
            return Err(Error::setting("tolerance", "a positive number", tolerance));
        }
        self.tolerance = Some(tolerance);
        Ok(self)
    }

    /// The graph.
    pub fn graph(&self) -> &PackedGraph {
        &self.global.graph
    }

    pub(crate) fn tau(&self) -> f64 {
        self.global.tau
    }

    /// The solver for what a local solve cannot do.
    pub(crate) fn global(&self) -> &Inverse<PackedGraph, Exact> {
        &self.global
    }

    /// δ for a prior strength: never more than half of it, so that α stays positive.
    pub fn tolerance(&self, prior_strength: f64) -> f64 {
        let most = PRIOR_SHARE * prior_strength;
        self.tolerance
            .unwrap_or(MAX_TOLERANCE * self.source_value)
            .min(most)
    }

    /// Λ = n τ δ/(d + τ), with the mean degree: the touched part of the graph is at most about 1/Λ.
    pub fn regime_number(&self, tolerance: f64) -> f64 {
        self.graph().n() as f64 * self.tau() * tolerance
            / (self.source_value * (self.mean_degree + self.tau()))
    }

    /// Whether local solves to this tolerance cost less than global ones.
    pub fn regime(&self, tolerance: f64) -> Regime {
        let depth = (self.mean_degree + self.tau()) / self.tau()
            * libm::log(self.source_value / tolerance).max(1.0);
        let pays = depth <= MAX_PUSH_DEPTH * self.regime_number(tolerance).max(1.0);
        // In a small pool the shift, which each label brings along, would be larger than the tolerance.
        let shift = self.source_value * (self.mean_degree + self.tau())
            / (self.graph().n() as f64 * self.tau());
        let small = self.tolerance.is_none()
            && shift > 2.0 * tolerance
            && self.global.rows().is_connected();
        if pays && !small {
            Regime::Local
        } else {
            Regime::Global
        }
    }

    /// How solves are done under a prior strength.
    pub fn solving(&self, prior_strength: f64) -> Solving {
        let tolerance = self.tolerance(prior_strength);
        Solving {
            regime: self.regime(tolerance),
            tolerance,
            regime_number: self.regime_number(tolerance),
        }
    }

    /// The column of a source, pushed until its residual times T/ĝ is at most `rho`.
    pub(crate) fn sparse_column(
        &self,
        source: NodeId,
        rho: f64,
        control: &Control,
    ) -> Result<SparseColumn> {
        control.check()?;
        let lowest = self.lowest(source, control)?;
        let (place, operator) = (self.graph().place(source) as u32, self.global.operator());
        // g_l(l) >= 1/(d_l + τ), so this threshold is low enough once the column is scaled.
        let own = rho / (self.source_value * operator.diagonal(place as usize));
        let n = self.graph().n();
        let fresh = || Scratch {
            pusher: Pusher::new(n),
            residual: vec![0.0; n],
        };
        self.spare.lend_or(fresh, |Scratch { pusher, residual }| {
            pusher.add(residual, place, (0.0, 1.0), own);
            pusher.run(&operator, own, residual);
            Ok(self.take_column(pusher, residual, place, lowest))
        })
    }

    /// Scales what was pushed from a place, and leaves the work space clean.
    fn take_column(
        &self,
        pusher: &mut Pusher,
        residual: &mut [f64],
        place: u32,
        lowest: f64,
    ) -> SparseColumn {
        let (mut cross, mut square) = (0.0, 0.0);
        for i in pusher.met() {
            let r = residual[i as usize];
            cross += pusher.estimate(i) * r;
            square += r * r;
        }
        let below =
            pusher.estimate(place) + cross + square / (2.0 * self.largest_degree + self.tau());
        let above = pusher.estimate(place) + cross + square / self.tau();
        let scale = self.source_value / (0.5 * (below + above));
        let (mut places, mut values) = (Vec::with_capacity(pusher.met().len()), Vec::new());
        values.reserve_exact(places.capacity());
        let visited = pusher.drain(|i, estimate, _| {
            places.push(i);
            values.push((
                estimate * scale,
                std::mem::take(&mut residual[i as usize]) * scale,
            ));
        });
        let relative = 0.5 * (above - below) / below;
        let shift = if below > lowest {
            lowest / (below - lowest)
        } else {
            f64::INFINITY
        };
        let absolute = self.source_value * shift * (1.0 + relative) + self.rounding(visited);
        SparseColumn {
            places,
            values,
            bound: Bound { absolute, relative },
        }
    }

    /// What rounding (f32 weights, f64 arithmetic) may add to a column after `visited` entries.
    pub(crate) fn rounding(&self, visited: u64) -> f64 {
        self.source_value * (self.weight_error() + visited as f64 * f64::EPSILON / self.tau())
    }

    /// 4 d_max 2⁻²⁴/τ: the weights change L g by at most 2⁻²⁴ d_max times the height of g; numerator and denominator of K
    /// have two such terms each.
    fn weight_error(&self) -> f64 {
        4.0 * self.largest_degree * f64::from(f32::EPSILON) / 2.0 / self.tau()
    }

    /// The bound for a label of weight 1 whose column was solved globally: g is right to ε = 1e-9/τ, and its height is at
    /// least b·G b for b = e_l - 1/c, which is at least (1 - 1/c)/(2 d_max + τ), c >= 2.
    pub(crate) fn global_bound(&self) -> f64 {
        let (error, height) = (
            1e-9 / self.tau(),
            0.5 / (2.0 * self.largest_degree + self.tau()),
        );
        self.source_value
            * (4.0 * error / (height - 2.0 * error).max(f64::MIN_POSITIVE) + self.weight_error())
    }

    /// An upper bound for min g_l.
    fn lowest(&self, source: NodeId, control: &Control) -> Result<f64> {
        if !self.global.rows().is_connected() {
            return Ok(0.0);
        }
        let mean = 1.0 / (self.graph().n() as f64 * self.tau());
        if mean <= SMALL_SHIFT {
            return Ok(mean);
        }
        let (place, slack) = (self.graph().place(source), 1e-9 / self.tau());
        Ok(self
            .landmarks(control)?
            .iter()
            .map(|g| g[place] + slack)
            .fold(mean, f64::min))
    }

    /// Columns of G of some places, by place, to a residual of 1e-9.
    pub(crate) fn greens(&self, places: &[usize], control: &Control) -> Result<Vec<Vec<f64>>> {
        let rows = self.global.rows();
        let mut columns = Vec::with_capacity(places.len());
        self.global.centred(places, control, |side, _, solution| {
            let own = rows.component(places[side]);
            let constant = 1.0 / rows.component_size(places[side]) as f64 / self.tau();
            let value = |(place, g): (usize, f64)| match rows.component(place) == own {
                true => g + constant,
                false => 0.0,
            };
            columns.push(solution.enumerate().map(value).collect());
        })?;
        Ok(columns)
    }

    /// Columns of G of a few places, each the least reached by those before it.
    fn landmarks(&self, control: &Control) -> Result<&[Vec<f64>]> {
        if let Some(found) = self.landmarks.get() {
            return Ok(found);
        }
        let mut columns: Vec<Vec<f64>> = Vec::new();
        let mut reached = vec![f64::NEG_INFINITY; self.graph().n()];
        while columns.len() < LANDMARKS.min(self.graph().n()) {
            let by_reach =
                |a: &usize, b: &usize| reached[*a].total_cmp(&reached[*b]).then(a.cmp(b));
            let next = (0..self.graph().n())
                .min_by(by_reach)
                .expect("a graph has nodes");
            let column = self.greens(&[next], &control.quiet())?.remove(0);
            reached
                .iter_mut()
                .zip(&column)
                .for_each(|(reached, g)| *reached = reached.max(*g));
            columns.push(column);
        }
        Ok(self.landmarks.get_or_init(|| columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_by_hand_and_no_bound_at_all() {
        // Estimate 1, off by 0.1 and by a fifth of the exact: exact <= 1.1/0.8, error <= 0.1 + 0.2 · 1.375.
        assert!(
            (Bound {
                absolute: 0.1,
                relative: 0.2
            }
            .at(1.0)
                - 0.375)
                .abs()
                < 1e-15
        );
        for (absolute, relative) in [
            (f64::INFINITY, 0.0),
            (f64::INFINITY, 0.5),
            (0.0, 1.0),
            (0.1, 7.0),
        ] {
            assert_eq!(Bound { absolute, relative }.at(1.0), f64::INFINITY);
        }
    }
}
