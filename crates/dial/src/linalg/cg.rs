//! Conjugate gradients with Jacobi preconditioning, for several right-hand sides at once.
//!
//! ```text
//! A x = b,  M = diag(A):   x = 0, r = b, z = r/M, p = z
//!     q = A p,  a = (r·z)/(p·q),  x += a p,  r -= a q,  z = r/M,  p = z + ((r·z) / (old r·z)) p
//! ```
//!
//! Two differences from the textbook. The recursive r drifts away from b - A x, so convergence is only claimed after the
//! true residual was recomputed; if it is too large, another round starts from there, and after a few rounds the
//! solve fails loudly ([`Error::NotConverged`]). And columns stop one by one: a column that is done takes steps of
//! length 0, so that its bits are those it would have had alone.

use std::fmt::Debug;
use std::sync::Mutex;

use crate::blocks::{for_chunks, for_chunks2};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::graph::adjacency::{Count, Weight};
use crate::graph::laplacian::{Combinatorial, Lanes, LinearOperator};

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// Wanted Euclidean norm of b - A x, absolute.
    pub residual: f64,
    /// Iterations after which to give up.
    pub iterations: usize,
}

impl Default for Stop {
    /// Faithful precision: 1e-9, as the paper's authors solve.
    fn default() -> Stop {
        Stop {
            residual: 1e-9,
            iterations: 20_000,
        }
    }
}

/// How a solve went, for one column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solved {
    /// Iterations taken.
    pub iterations: usize,
    /// True residual |b - A x|, recomputed.
    pub residual: f64,
}

/// The vectors a solve needs, kept between solves so that a solve allocates nothing of size n.
#[derive(Debug, Default)]
pub struct Workspace {
    x: Vec<f64>,
    r: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    /// 1/M, one value per row.
    inverse: Vec<f64>,
}

impl Workspace {
    /// The solutions of the last solve, interleaved.
    pub fn solution(&self) -> &[f64] {
        &self.x
    }

    fn reset(&mut self, operator: &impl LinearOperator, width: usize) {
        for vector in [&mut self.x, &mut self.r, &mut self.p, &mut self.q] {
            vector.clear();
            vector.resize(operator.n() * width, 0.0);
        }
        // Isolated nodes without a shift have the equation 0 = 0 and stay as they are.
        let inverse = |diagonal: f64| if diagonal > 0.0 { 1.0 / diagonal } else { 0.0 };
        self.inverse.clear();
        self.inverse
            .extend((0..operator.n()).map(|row| inverse(operator.diagonal(row))));
    }
}

/// A way of solving (L + τ I) x_c = b_c over a whole graph for W columns.
pub(crate) trait GlobalSolver: Debug + Send + Sync {
    /// The vectors a solve needs, and where it leaves the solutions.
    type Vectors: Debug + Default + Send;

    /// How its products are summed.
    const LANES: Lanes;

    /// Solves for the right-hand sides `b(row, c)`.
    fn solve<const W: usize, C: Count, F: Weight>(
        &self,
        operator: &Combinatorial<'_, C, F>,
        b: impl Fn(usize, usize) -> f64 + Sync,
        stop: Stop,
        vectors: &mut Self::Vectors,
        control: &Control,
    ) -> Result<[Solved; W]>;

    /// The solutions of the last solve, interleaved.
    fn solutions(vectors: &Self::Vectors) -> &[f64];
}

/// Conjugate gradients: nothing to prepare.
#[derive(Debug)]
pub(crate) struct Exact;

impl GlobalSolver for Exact {
    type Vectors = Workspace;

    const LANES: Lanes = Lanes::One;

    fn solve<const W: usize, C: Count, F: Weight>(
        &self,
        operator: &Combinatorial<'_, C, F>,
        b: impl Fn(usize, usize) -> f64 + Sync,
        stop: Stop,
        vectors: &mut Workspace,
        control: &Control,
    ) -> Result<[Solved; W]> {
        conjugate_gradients(operator, b, stop, vectors, control)
    }

    fn solutions(vectors: &Workspace) -> &[f64] {
        vectors.solution()
    }
}

/// Work space that no solve is using at the moment.
#[derive(Debug)]
pub struct Spare<T>(Mutex<Vec<T>>);

impl<T> Default for Spare<T> {
    fn default() -> Spare<T> {
        Spare(Mutex::default())
    }
}

impl<T: Default> Spare<T> {
    /// Lends some to `work`, which gives it back unless it fails.
    pub fn lend<R>(&self, work: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
        self.lend_or(T::default, work)
    }
}

impl<T> Spare<T> {
    /// The same, made by `fresh` where there is none.
    pub fn lend_or<R>(
        &self,
        fresh: impl FnOnce() -> T,
        work: impl FnOnce(&mut T) -> Result<R>,
    ) -> Result<R> {
        let spare = self.0.lock().expect("no holder panics").pop();
        let mut lent = spare.unwrap_or_else(fresh);
        let done = work(&mut lent)?;
        self.0.lock().expect("no holder panics").push(lent);
        Ok(done)
    }
}

/// Rounds before giving up, each from the true residual of the one before.
const MAX_RESTARTS: usize = 5;

/// Solves A x_c = b_c for W columns, `b(row, c)` being the right-hand sides; the solutions are left in the workspace.
///
/// A must be symmetric and positive definite, or semi-definite with every b orthogonal to its null space.
///
/// # Errors
/// [`Error::NotConverged`] with the largest true residual, or cancelled.
pub fn conjugate_gradients<const W: usize>(
    operator: &impl LinearOperator,
    b: impl Fn(usize, usize) -> f64 + Sync,
    stop: Stop,
    workspace: &mut Workspace,
    control: &Control,
) -> Result<[Solved; W]> {
    workspace.reset(operator, W);
    let mut solved = [Solved::default(); W];
    let mut residuals = residuals::<W>(&mut workspace.r, &b, |_, r| r.fill(0.0));
    for _ in 0..MAX_RESTARTS {
        // A residual that is not a number is not small either.
        if residuals.iter().all(|&residual| residual <= stop.residual) {
            break;
        }
        let active = residuals.map(|residual| residual > stop.residual);
        iterate::<W>(operator, stop, active, &mut solved, workspace, control)?;
        let Workspace { x, r, .. } = &mut *workspace;
        residuals = self::residuals::<W>(r, &b, |first, r| operator.product::<W>(first, x, r));
        if solved
            .iter()
            .any(|solved| solved.iterations >= stop.iterations)
        {
            break;
        }
    }
    let worst = residuals
        .iter()
        .copied()
        .fold(0.0, |a: f64, b| if b.is_nan() { b } else { a.max(b) });
    if worst <= stop.residual {
        return Ok(std::array::from_fn(|c| Solved {
            residual: residuals[c],
            ..solved[c]
        }));
    }
    let iterations = solved
        .iter()
        .map(|solved| solved.iterations)
        .max()
        .unwrap_or(0);
    Err(Error::NotConverged {
        iterations,
        residual: worst,
        wanted: stop.residual,
    })
}

/// r = b - A x, `product` writing A x, and the norm of r for every column.
pub(crate) fn residuals<const W: usize>(
    r: &mut [f64],
    b: &(impl Fn(usize, usize) -> f64 + Sync),
    product: impl Fn(usize, &mut [f64]) + Sync,
) -> [f64; W] {
    let [squares] = for_chunks::<W, 1>(r, |first, r| {
        product(first, r);
        let mut squares = [0.0; W];
        for (row, r) in (first..).zip(r.chunks_exact_mut(W)) {
            for c in 0..W {
                r[c] = b(row, c) - r[c];
                squares[c] += r[c] * r[c];
            }
        }
        [squares]
    });
    squares.map(f64::sqrt)
}

/// Runs the recurrence from the present r until every active column seems done.
fn iterate<const W: usize>(
    operator: &impl LinearOperator,
    stop: Stop,
    mut active: [bool; W],
    solved: &mut [Solved; W],
    workspace: &mut Workspace,
    control: &Control,
) -> Result<()> {
    // Aim a little lower than asked, so that the true residual passes too.
    let target = 0.9 * stop.residual;
    let mut rz = begin::<W>(workspace);
    while active.contains(&true) {
        control.check()?;
        let pq = multiply::<W>(operator, workspace);
        let step: [f64; W] = std::array::from_fn(|c| if active[c] { rz[c] / pq[c] } else { 0.0 });
        let (rr, next) = advance::<W>(step, workspace);
        for c in 0..W {
            if active[c] {
                solved[c].iterations += 1;
                let hopeless = !step[c].is_finite() || solved[c].iterations >= stop.iterations;
                active[c] = !hopeless && rr[c].sqrt() > target;
            }
        }
        let turn: [f64; W] = std::array::from_fn(|c| if active[c] { next[c] / rz[c] } else { 0.0 });
        turn_direction::<W>(turn, workspace);
        rz = next;
    }
    Ok(())
}

/// p = r/M; returns r·z.
fn begin<const W: usize>(workspace: &mut Workspace) -> [f64; W] {
    let Workspace { r, p, inverse, .. } = workspace;
    let (r, inverse) = (&*r, &*inverse);
    let [rz] = for_chunks::<W, 1>(p, |first, p| {
        let mut rz = [0.0; W];
        for ((p, r), inverse) in p
            .chunks_exact_mut(W)
            .zip(r[first * W..].chunks_exact(W))
            .zip(&inverse[first..])
        {
            for c in 0..W {
                p[c] = r[c] * inverse;
                rz[c] += r[c] * p[c];
            }
        }
        [rz]
    });
    rz
}

/// q = A p; returns p·q.
fn multiply<const W: usize>(operator: &impl LinearOperator, workspace: &mut Workspace) -> [f64; W] {
    let p = &workspace.p;
    let [pq] = for_chunks::<W, 1>(&mut workspace.q, |first, q| {
        operator.product::<W>(first, p, q);
        let mut pq = [0.0; W];
        for (q, p) in q.chunks_exact(W).zip(p[first * W..].chunks_exact(W)) {
            for c in 0..W {
                pq[c] += p[c] * q[c];
            }
        }
        [pq]
    });
    pq
}

/// x += a p, r -= a q; returns r·r and r·z.
fn advance<const W: usize>(step: [f64; W], workspace: &mut Workspace) -> ([f64; W], [f64; W]) {
    let Workspace {
        x,
        r,
        p,
        q,
        inverse,
    } = workspace;
    let (p, q, inverse) = (&*p, &*q, &*inverse);
    let [rr, rz] = for_chunks2::<W, 2>(x, r, |first, x, r| {
        let (mut rr, mut rz) = ([0.0; W], [0.0; W]);
        let directions = p[first * W..]
            .chunks_exact(W)
            .zip(q[first * W..].chunks_exact(W));
        let unknowns = x.chunks_exact_mut(W).zip(r.chunks_exact_mut(W));
        for (((x, r), (p, q)), inverse) in unknowns.zip(directions).zip(&inverse[first..]) {
            for c in 0..W {
                // A finished column keeps its bits: its direction may overflow, but it takes no step along it.
                if step[c] != 0.0 {
                    x[c] += step[c] * p[c];
                    r[c] -= step[c] * q[c];
                }
                rr[c] += r[c] * r[c];
                rz[c] += r[c] * (r[c] * inverse);
            }
        }
        [rr, rz]
    });
    (rr, rz)
}

/// p = r/M + turn p.
fn turn_direction<const W: usize>(turn: [f64; W], workspace: &mut Workspace) {
    let Workspace { r, p, inverse, .. } = workspace;
    let (r, inverse) = (&*r, &*inverse);
    for_chunks::<W, 0>(p, |first, p| {
        for ((p, r), inverse) in p
            .chunks_exact_mut(W)
            .zip(r[first * W..].chunks_exact(W))
            .zip(&inverse[first..])
        {
            for c in 0..W {
                p[c] = r[c] * inverse + turn[c] * p[c];
            }
        }
        []
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::graph::laplacian::Combinatorial;
    use crate::seed::{Purpose, Random};

    fn ring(n: u32, random: &mut Random) -> Graph {
        let mut edges: Vec<_> = (0..n)
            .map(|i| (i, (i + 1) % n, 0.1 + random.uniform()))
            .collect();
        edges.extend((0..n / 3).map(|i| (i, i + n / 2, random.uniform() + 1e-3)));
        Graph::from_edges(n as usize, &edges).unwrap()
    }

    #[test]
    fn two_nodes_by_hand() {
        // L = [1 -1; -1 1], tau = 1: (L + I)^-1 e_0 = (2, 1)/3.
        let g = Graph::from_edges(2, &[(0, 1, 1.0)]).unwrap();
        let mut space = Workspace::default();
        let b = |row, _| if row == 0 { 1.0 } else { 0.0 };
        let solve = conjugate_gradients::<1>(
            &Combinatorial::new(&g, 1.0),
            b,
            Stop::default(),
            &mut space,
            &Control::new(),
        );
        assert!(solve.unwrap()[0].residual <= 1e-9);
        assert!(
            (space.solution()[0] - 2.0 / 3.0).abs() < 1e-9
                && (space.solution()[1] - 1.0 / 3.0).abs() < 1e-9
        );
    }

    #[test]
    fn columns_keep_their_bits_in_any_block_and_any_number_of_threads() {
        let g = ring(20_000, &mut Random::new(1, Purpose::User, 0));
        let operator = Combinatorial::new(&g, 0.01);
        let source = |c: usize| c * 1234;
        let alone: Vec<Vec<f64>> = (0..8)
            .map(|c| {
                let mut space = Workspace::default();
                let b = |row, _| if row == source(c) { 1.0 } else { 0.0 };
                conjugate_gradients::<1>(
                    &operator,
                    b,
                    Stop::default(),
                    &mut space,
                    &Control::new(),
                )
                .unwrap();
                space.x
            })
            .collect();
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let mut space = Workspace::default();
            let b = |row, c| if row == source(c) { 1.0 } else { 0.0 };
            pool.install(|| {
                conjugate_gradients::<8>(&operator, b, Stop::default(), &mut space, &Control::new())
            })
            .unwrap();
            for (c, alone) in alone.iter().enumerate() {
                assert!(
                    (0..g.n()).all(|row| space.x[row * 8 + c].to_bits() == alone[row].to_bits()),
                    "column {c}"
                );
            }
        }
    }

    #[test]
    fn what_cannot_be_reached_is_an_error_with_its_numbers() {
        let g = ring(3000, &mut Random::new(2, Purpose::User, 0));
        let b = |row, _| if row == 0 { 1.0 } else { 0.0 };
        let solve = |stop, tau| {
            let mut space = Workspace::default();
            conjugate_gradients::<1>(
                &Combinatorial::new(&g, tau),
                b,
                stop,
                &mut space,
                &Control::new(),
            )
        };
        let few = solve(
            Stop {
                residual: 1e-9,
                iterations: 5,
            },
            0.01,
        )
        .unwrap_err();
        assert!(
            matches!(few, Error::NotConverged { iterations: 5, residual, .. } if residual > 1e-9)
        );
        let exact = solve(
            Stop {
                residual: 1e-30,
                iterations: 20_000,
            },
            0.01,
        )
        .unwrap_err();
        assert!(
            matches!(exact, Error::NotConverged { residual, .. } if residual < 1e-12),
            "{exact}"
        );
        let nan = solve(Stop::default(), f64::NAN).unwrap_err();
        assert!(matches!(nan, Error::NotConverged { residual, .. } if residual.is_nan()));
    }
}
