//! Variance optimality with the whole covariance of the graph: VOpt and Sigma-Opt (full) of `table:acq_funcs`.
//!
//! The criteria are those of [`crate::variance_opt::spectral`], with C = (L_s + 0.001 I)⁻¹ =: C₀ before the first label, for all nodes
//! and without an n x n matrix (the paper's authors invert one and look at 500 random candidates):
//!
//! ```text
//! C = C₀ - U Uᵀ;   a label at q:  c = C₀ e_q - U Uᵀ e_q,   u = c / √(γ² + c_q),   U <- [U u]
//! C_kk <- C_kk - u_k²,   |C e_k|² <- |C e_k|² - 2 u_k (C u)_k + u_k² |u|²,   1ᵀ C e_k <- 1ᵀ C e_k - u_k (1ᵀu)
//! ```
//!
//! so a label costs one solve for c and, for VOpt, one for C u = C₀ u - U (Uᵀ u). The start values take n solves once.
//! On every component C₀ has the eigenvector √d (√ of the degrees) with the eigenvalue 1000, far above all others; it is
//! known, so the solves leave it out and it is added back. And x_k and |x|² of a column x are Gauss quadratures of 1/λ and
//! 1/λ² in the steps of conjugate gradients, so their errors fall as the square of the residual: at 1e-7 they were below
//! 5e-14 and 3e-11 (relative) on the 10,000 MNIST codes, k = 20. There a block of eight took 64 iterations, instead of 97
//! to 1e-9 with √d in it, and all of the start values 95 s of CPU time; a question then takes 65 ms (Sigma-Opt: 33 ms).

use std::sync::Arc;

use rayon::prelude::*;

use super::spectral::{Criterion, EIGENVALUE_SHIFT, LABEL_NOISE, Moments, product};
use crate::prefix_cache::States;
use dial::acquisition::{Acquisition, Situation};
use dial::control::Control;
use dial::error::Result;
use dial::graph::Graph;
use dial::graph::laplacian::Normalized;
use dial::graph::ordering::Ordered;
use dial::ids::NodeId;
use dial::linalg::cg::{Spare, Stop, Workspace, conjugate_gradients};

/// Columns of C₀ are solved in blocks of this width.
const COLUMNS_PER_SOLVE: usize = 8;

/// For the start values: x_k and |x|² of a column err by the square of its residual, see the header.
const START_STOP: Stop = Stop {
    residual: 1e-7,
    iterations: 20_000,
};

/// For a label, whose errors stay and are multiplied by u.
const LABEL_STOP: Stop = Stop {
    residual: 1e-11,
    iterations: 20_000,
};

/// C₀ of a graph, as something to multiply with.
#[derive(Debug)]
struct Inverse {
    ordered: Ordered,
    /// √d at every place, of unit length on every component; 1 at isolated nodes.
    top: Vec<f64>,
    spare: Spare<Workspace>,
}

impl Inverse {
    fn new(graph: &Graph) -> Inverse {
        let ordered = Ordered::new(graph);
        let graph = &ordered.graph;
        let mut top: Vec<f64> = graph
            .degrees()
            .iter()
            .map(|&d| if d > 0.0 { d.sqrt() } else { 1.0 })
            .collect();
        let mut squares = vec![0.0; graph.component_sizes().len()];
        top.iter()
            .enumerate()
            .for_each(|(place, v)| squares[graph.component(NodeId(place as u32))] += v * v);
        for (place, v) in top.iter_mut().enumerate() {
            *v /= f64::sqrt(squares[graph.component(NodeId(place as u32))]);
        }
        Inverse {
            ordered,
            top,
            spare: Spare::default(),
        }
    }

    fn component(&self, place: usize) -> usize {
        self.ordered.graph.component(NodeId(place as u32))
    }

    /// The solution of (L_s + 0.001 I) x = b for `b(place, column)` without a part along √d, handed to `then`.
    fn solve<const W: usize, T>(
        &self,
        b: impl Fn(usize, usize) -> f64 + Sync,
        stop: Stop,
        control: &Control,
        then: impl FnOnce(&[f64]) -> T,
    ) -> Result<T> {
        let operator = Normalized::new(&self.ordered.graph, EIGENVALUE_SHIFT);
        self.spare.lend(|workspace| {
            conjugate_gradients::<W>(&operator, b, stop, workspace, control)?;
            Ok(then(workspace.solution()))
        })
    }

    /// C₀ x, both over the nodes in their own order.
    fn times(&self, x: &[f64], control: &Control) -> Result<Vec<f64>> {
        let x = self.ordered.placed(|node| x[node]);
        let mut along = vec![0.0; self.ordered.graph.component_sizes().len()];
        (0..x.len()).for_each(|place| along[self.component(place)] += self.top[place] * x[place]);
        let part = |place: usize| along[self.component(place)] * self.top[place];
        self.solve::<1, _>(
            |place, _| x[place] - part(place),
            LABEL_STOP,
            control,
            |solution| {
                let value = |place: usize| solution[place] + part(place) / EIGENVALUE_SHIFT;
                self.ordered.places().map(value).collect()
            },
        )
    }

    /// C_kk and |C e_k|² of C₀ for the places from `first` on, COLUMNS_PER_SOLVE of them or as many as there are.
    fn block(&self, first: usize, control: &Control) -> Result<Vec<(f64, f64)>> {
        let n = self.top.len();
        let places = first..(first + COLUMNS_PER_SOLVE).min(n);
        let b = |place: usize, column: usize| {
            let source = first + column;
            if source >= n || self.component(place) != self.component(source) {
                return 0.0;
            }
            (if place == source { 1.0 } else { 0.0 }) - self.top[source] * self.top[place]
        };
        self.solve::<COLUMNS_PER_SOLVE, _>(b, START_STOP, control, |solution| {
            let mut squares = [0.0; COLUMNS_PER_SOLVE];
            for row in solution.chunks_exact(COLUMNS_PER_SOLVE) {
                squares
                    .iter_mut()
                    .zip(row)
                    .for_each(|(sum, x)| *sum += x * x);
            }
            places
                .zip(squares)
                .enumerate()
                .map(|(column, (place, square))| {
                    let along = self.top[place] / EIGENVALUE_SHIFT;
                    (
                        solution[place * COLUMNS_PER_SOLVE + column] + along * self.top[place],
                        square + along * along,
                    )
                })
                .collect()
        })
    }
}

/// VOpt or Sigma-Opt with the whole covariance.
///
/// Cost (`table:comp_comparison`): initially n solves, in blocks of eight, and O(n) memory (the paper: O(n³)); O(1) per
/// unlabelled point (the paper: O(n)); auxiliary update two solves (Sigma-Opt: one) and O(n t) after t labels, with O(n t)
/// memory (the paper: O(n²)); no classifier.
#[derive(Debug)]
pub struct FullOptimal {
    inverse: Inverse,
    start: Arc<Moments>,
    criterion: Criterion,
    states: States<State>,
}

/// U and what follows from it, after some labels.
#[derive(Debug)]
struct State {
    u: Vec<Vec<f64>>,
    moments: Moments,
}

impl FullOptimal {
    /// The moments of C₀: what takes long, to be computed once for both criteria and kept with the graph.
    ///
    /// # Errors
    /// Not converged, or cancelled.
    pub fn start(graph: &Graph, control: &Control) -> Result<Moments> {
        let (n, inverse) = (graph.n(), Inverse::new(graph));
        let sums = inverse.times(&vec![1.0; n], &control.quiet())?;
        control.start("solving for every node", n);
        let quiet = control.quiet();
        let blocks: Vec<Vec<(f64, f64)>> = (0..n.div_ceil(COLUMNS_PER_SOLVE))
            .into_par_iter()
            .map(|block| {
                let found = inverse.block(block * COLUMNS_PER_SOLVE, &quiet)?;
                control.advance(found.len())?;
                Ok(found)
            })
            .collect::<Result<_>>()?;
        control.finish();
        let places: Vec<(f64, f64)> = blocks.concat();
        let (diagonal, squares) = inverse.ordered.places().map(|place| places[place]).unzip();
        Ok(Moments {
            diagonal,
            squares,
            sums,
        })
    }

    /// The criterion on a graph, from the moments that [`FullOptimal::start`] gave for it.
    ///
    /// # Panics
    /// If the moments are those of another number of nodes.
    pub fn new(graph: &Graph, start: Arc<Moments>, criterion: Criterion) -> FullOptimal {
        assert_eq!(graph.n(), start.n(), "the moments are those of the graph");
        FullOptimal {
            inverse: Inverse::new(graph),
            start,
            criterion,
            states: States::default(),
        }
    }

    fn add(&self, state: &mut State, label: NodeId, control: &Control) -> Result<()> {
        let mut unit = vec![0.0; self.start.n()];
        unit[label.index()] = 1.0;
        let mut u = self.inverse.times(&unit, control)?;
        for known in &state.u {
            subtract(&mut u, known[label.index()], known);
        }
        let scale = 1.0 / (LABEL_NOISE + u[label.index()]).sqrt();
        u.iter_mut().for_each(|u| *u *= scale);
        if self.criterion == Criterion::Vopt {
            let mut turned = self.inverse.times(&u, control)?;
            for known in &state.u {
                subtract(&mut turned, product(known, &u), known);
            }
            let length = product(&u, &u);
            let squares = state.moments.squares.iter_mut().zip(&u).zip(&turned);
            squares.for_each(|((square, u), turned)| *square += u * (u * length - 2.0 * turned));
        }
        let sum = u.iter().fold(0.0, |sum, u| sum + u);
        subtract(&mut state.moments.sums, sum, &u);
        state
            .moments
            .diagonal
            .iter_mut()
            .zip(&u)
            .for_each(|(diagonal, u)| *diagonal -= u * u);
        state.u.push(u);
        Ok(())
    }
}

impl Acquisition for FullOptimal {
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        let fresh = || {
            (
                0,
                State {
                    u: Vec::new(),
                    moments: Moments::clone(&self.start),
                },
            )
        };
        let (applied, mut state) = self.states.take(now.order).unwrap_or_else(fresh);
        for &label in &now.order[applied..] {
            self.add(&mut state, label, &now.control())?;
        }
        state.moments.scores(self.criterion, out);
        self.states.put(now.order, state);
        Ok(())
    }
}

/// x -= factor y.
fn subtract(x: &mut [f64], factor: f64, y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x -= factor * y);
}
