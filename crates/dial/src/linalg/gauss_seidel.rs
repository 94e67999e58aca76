//! Conjugate gradients with symmetric Gauss-Seidel preconditioning in f32, corrected in f64.
//!
//! With A = I - E - F (see `coloring`) and M = (I - E)(I - F), Eisenstat's trick makes a preconditioned product as cheap as
//! a plain one: A = (I - E) + (I - F) - I, so
//!
//! ```text
//! (I - E)⁻¹ A (I - F)⁻¹ p = t + (I - E)⁻¹ (p - t),    t = (I - F)⁻¹ p
//!
//! e = 0, r = (I - E)⁻¹ b, p = r
//!     t = (I - F)⁻¹ p,  s = (I - E)⁻¹ (p - t),  q = t + s
//!     a = (r·r)/(p·q),  e += a t,  r -= a q,  p = r + ((r·r) / (old r·r)) p
//! ```
//!
//! where t is the direction of e itself. One backward and one forward sweep read every entry once, like a product, and on
//! kNN graphs half as many of them are needed as with the diagonal alone.
//!
//! The recurrence runs in f32 (sums in f64) and lowers the residual some 1e4-fold. Then x takes the correction, the true
//! residual is recomputed in f64 with the unscaled operator, and the next round starts from it: two rounds to 1e-9. As
//! in `cg`, only that residual counts, and the bits of a column do not depend on its block. A column that f32 cannot
//! help (a graph of very wide condition) is solved by `cg` instead.

use rayon::prelude::*;

use crate::blocks::for_chunks;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::graph::adjacency::{Count, Weight};
use crate::graph::laplacian::{Combinatorial, Lanes, LinearOperator};
use crate::linalg::cg::{GlobalSolver, Solved, Stop, Workspace, conjugate_gradients, residuals};
use crate::linalg::coloring::{Coloured, ROWS_PER_CHUNK};

/// The vectors a solve needs, kept between solves so that a solve allocates nothing of size n.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    /// The solution and its residual, by node.
    x: Vec<f64>,
    residual: Vec<f64>,
    /// Of the recurrence, by place.
    e: Vec<f32>,
    r: Vec<f32>,
    p: Vec<f32>,
    t: Vec<f32>,
    s: Vec<f32>,
}

impl Vectors {
    fn reset(&mut self, length: usize) {
        for vector in [&mut self.x, &mut self.residual] {
            vector.clear();
            vector.resize(length, 0.0);
        }
        for vector in [
            &mut self.e,
            &mut self.r,
            &mut self.p,
            &mut self.t,
            &mut self.s,
        ] {
            vector.clear();
            vector.resize(length, 0.0);
        }
    }
}

impl GlobalSolver for Coloured {
    type Vectors = Vectors;

    const LANES: Lanes = Lanes::Four;

    fn solve<const W: usize, C: Count, F: Weight>(
        &self,
        operator: &Combinatorial<'_, C, F>,
        b: impl Fn(usize, usize) -> f64 + Sync,
        stop: Stop,
        vectors: &mut Vectors,
        control: &Control,
    ) -> Result<[Solved; W]> {
        solve(operator, self, b, stop, vectors, control)
    }

    fn solutions(vectors: &Vectors) -> &[f64] {
        &vectors.x
    }
}

/// What an iteration reads and writes of its vectors: p, r, t and the new p and t backward, p, t and s forward, then e, r, t,
/// s, 1/R² and the new e and r.
pub(crate) const BYTES_PER_ROW: usize = 4 * (4 + 3 + 7);

/// Rounds before giving up on f32.
const MAX_F32_ROUNDS: usize = 6;

/// Iterations after which a round is given up: rounding may keep f32 from ever arriving.
const MAX_ROUND_ITERATIONS: usize = 1000;

/// What a round of f32 is asked to lower the residual to, if more is wanted than it can give.
const F32_REDUCTION: f64 = 2.5e-5;

/// A round that lowers the true residual less than to this share of it is of no use.
const USEFUL_REDUCTION: f64 = 0.1;

/// Solves A x_c = b_c for W columns, `b(node, c)` being the right-hand sides; `matrix` is the operator A, scaled and split. The
/// solutions are left in the vectors.
///
/// # Errors
/// [`Error::NotConverged`] with the largest true residual, or cancelled.
pub(crate) fn solve<const W: usize>(
    operator: &impl LinearOperator,
    matrix: &Coloured,
    b: impl Fn(usize, usize) -> f64 + Sync,
    stop: Stop,
    vectors: &mut Vectors,
    control: &Control,
) -> Result<[Solved; W]> {
    vectors.reset(matrix.n() * W);
    let mut solved = [Solved::default(); W];
    let mut norms: [f64; W] = residuals(&mut vectors.residual, &b, |_, r| r.fill(0.0));
    let mut useful = [true; W];
    for _ in 0..MAX_F32_ROUNDS {
        let active = std::array::from_fn(|c| {
            useful[c] && norms[c] > stop.residual && solved[c].iterations < stop.iterations
        });
        if active == [false; W] {
            break;
        }
        round::<W>(matrix, stop, norms, active, &mut solved, vectors, control)?;
        let Vectors { x, residual, .. } = &mut *vectors;
        let next: [f64; W] = residuals(residual, &b, |first, r| operator.product::<W>(first, x, r));
        useful = std::array::from_fn(|c| {
            useful[c] && (!active[c] || next[c] <= USEFUL_REDUCTION * norms[c])
        });
        norms = next;
    }
    for c in 0..W {
        solved[c].residual = norms[c];
        // A residual that is not a number is not small either.
        if norms[c] > stop.residual || norms[c].is_nan() {
            solved[c] = precisely::<W>(operator, &b, c, stop, solved[c], &mut vectors.x, control)?;
        }
    }
    Ok(solved)
}

/// Column c, solved in f64 from the start.
fn precisely<const W: usize>(
    operator: &impl LinearOperator,
    b: &(impl Fn(usize, usize) -> f64 + Sync),
    c: usize,
    stop: Stop,
    so_far: Solved,
    x: &mut [f64],
    control: &Control,
) -> Result<Solved> {
    if so_far.iterations >= stop.iterations {
        let Solved {
            iterations,
            residual,
        } = so_far;
        return Err(Error::NotConverged {
            iterations,
            residual,
            wanted: stop.residual,
        });
    }
    let mut space = Workspace::default();
    let [solved] =
        conjugate_gradients::<1>(operator, |node, _| b(node, c), stop, &mut space, control)?;
    x.chunks_exact_mut(W)
        .zip(space.solution())
        .for_each(|(x, value)| x[c] = *value);
    Ok(solved)
}

/// One round: solves for the residual in f32 and adds the correction to x. Columns that are not active stay as they are.
fn round<const W: usize>(
    matrix: &Coloured,
    stop: Stop,
    norms: [f64; W],
    mut active: [bool; W],
    solved: &mut [Solved; W],
    vectors: &mut Vectors,
    control: &Control,
) -> Result<()> {
    let mut sums = vec![[0.0; W]; matrix.chunks()];
    let norms: [f64; W] = std::array::from_fn(|c| if active[c] { norms[c] } else { 0.0 });
    // The recurrence only has |R⁻¹ (I - E)⁻¹ R r| at hand; it aims a little lower than asked, so that the true residual
    // passes too.
    let aims = norms.map(|norm| 0.9 * (stop.residual / norm).max(F32_REDUCTION));
    let limits = solved.map(|solved| solved.iterations + MAX_ROUND_ITERATIONS);
    let mut rr = begin(matrix, norms, vectors, &mut sums);
    let mut turn = [0.0; W];
    while active.contains(&true) {
        control.check()?;
        let pq = multiply(matrix, turn, vectors, &mut sums);
        let step: [f64; W] = std::array::from_fn(|c| if active[c] { rr[c] / pq[c] } else { 0.0 });
        let (next, unscaled) = advance(matrix, step, vectors);
        for c in 0..W {
            if active[c] {
                solved[c].iterations += 1;
                let hopeless = !step[c].is_finite() || solved[c].iterations >= stop.iterations;
                active[c] =
                    !hopeless && unscaled[c].sqrt() > aims[c] && solved[c].iterations < limits[c];
            }
        }
        turn = std::array::from_fn(|c| if active[c] { next[c] / rr[c] } else { 0.0 });
        rr = next;
    }
    correct(matrix, norms, vectors);
    Ok(())
}

/// r = (I - E)⁻¹ R residual/norm, e = p = 0; returns r·r.
fn begin<const W: usize>(
    matrix: &Coloured,
    norms: [f64; W],
    vectors: &mut Vectors,
    sums: &mut [[f64; W]],
) -> [f64; W] {
    let Vectors {
        residual, e, r, p, ..
    } = vectors;
    e.fill(0.0);
    p.fill(0.0);
    let inverse = norms.map(|norm| if norm > 0.0 { 1.0 / norm } else { 0.0 });
    matrix.forward::<W>(r, sums, |place, near, r, rr| {
        let (node, root) = (matrix.order[place].index(), matrix.root[place]);
        for c in 0..W {
            r[c] = (root * (residual[node * W + c] * inverse[c])) as f32 + near[c];
            rr[c] += f64::from(r[c]) * f64::from(r[c]);
        }
    });
    total(sums)
}

/// p = r + turn p, t = (I - F)⁻¹ p, s = (I - E)⁻¹ (p - t); returns p·(t + s).
fn multiply<const W: usize>(
    matrix: &Coloured,
    turn: [f64; W],
    vectors: &mut Vectors,
    sums: &mut [[f64; W]],
) -> [f64; W] {
    let Vectors { r, p, t, s, .. } = vectors;
    let (r, turn) = (&*r, turn.map(|turn| turn as f32));
    matrix.backward::<W>(t, p, |place, near, t, p| {
        let r = &r[place * W..(place + 1) * W];
        for c in 0..W {
            p[c] = r[c] + turn[c] * p[c];
            t[c] = p[c] + near[c];
        }
    });
    let (p, t) = (&*p, &*t);
    matrix.forward::<W>(s, sums, |place, near, s, pq| {
        let (p, t) = (
            &p[place * W..(place + 1) * W],
            &t[place * W..(place + 1) * W],
        );
        for c in 0..W {
            s[c] = (p[c] - t[c]) + near[c];
            pq[c] += f64::from(p[c]) * f64::from(t[c] + s[c]);
        }
    });
    total(sums)
}

/// e += a t, r -= a (t + s); returns r·r and (R⁻¹ r)·(R⁻¹ r).
fn advance<const W: usize>(
    matrix: &Coloured,
    step: [f64; W],
    vectors: &mut Vectors,
) -> ([f64; W], [f64; W]) {
    let Vectors { e, r, t, s, .. } = vectors;
    let step = step.map(|step| step as f32);
    let (t, s) = (&*t, &*s);
    let work = |first: usize, e: &mut [f32], r: &mut [f32]| {
        let (mut rr, mut unscaled) = ([0.0; W], [0.0; W]);
        let unknowns = e.chunks_exact_mut(W).zip(r.chunks_exact_mut(W));
        let directions = t[first * W..]
            .chunks_exact(W)
            .zip(s[first * W..].chunks_exact(W));
        for (((e, r), (t, s)), &scale) in unknowns.zip(directions).zip(&matrix.scale[first..]) {
            for c in 0..W {
                // A finished column keeps its bits: its direction may overflow, but it takes no step along it.
                if step[c] != 0.0 {
                    e[c] += step[c] * t[c];
                    r[c] -= step[c] * (t[c] + s[c]);
                }
                let square = f64::from(r[c]) * f64::from(r[c]);
                rr[c] += square;
                unscaled[c] += f64::from(scale) * square;
            }
        }
        [rr, unscaled]
    };
    let chunks = e
        .par_chunks_mut(ROWS_PER_LONG_CHUNK * W)
        .zip(r.par_chunks_mut(ROWS_PER_LONG_CHUNK * W))
        .enumerate();
    let parts: Vec<_> = chunks
        .map(|(chunk, (e, r))| work(chunk * ROWS_PER_LONG_CHUNK, e, r))
        .collect();
    let of = |which: usize| {
        parts.iter().fold([0.0; W], |sum, part| {
            std::array::from_fn(|c| sum[c] + part[which][c])
        })
    };
    (of(0), of(1))
}

/// Rows per chunk where all nodes are taken at once.
const ROWS_PER_LONG_CHUNK: usize = 8 * ROWS_PER_CHUNK;

/// x += norm R e.
fn correct<const W: usize>(matrix: &Coloured, norms: [f64; W], vectors: &mut Vectors) {
    let Vectors { x, e, .. } = vectors;
    let e = &*e;
    for_chunks::<W, 0>(x, |first, x| {
        for (node, x) in (first..).zip(x.chunks_exact_mut(W)) {
            let place = matrix.rank[node] as usize;
            for c in 0..W {
                x[c] += norms[c] * (matrix.root[place] * f64::from(e[place * W + c]));
            }
        }
        []
    });
}

/// The chunk sums, added in order.
fn total<const W: usize>(sums: &[[f64; W]]) -> [f64; W] {
    sums.iter().fold([0.0; W], |total, sum| {
        std::array::from_fn(|c| total[c] + sum[c])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::graph::laplacian::Combinatorial;
    use crate::seed::{Purpose, Random};

    fn ring(n: u32) -> Graph {
        let mut random = Random::new(1, Purpose::User, 0);
        let mut edges: Vec<_> = (0..n)
            .map(|i| (i, (i + 1) % n, 0.1 + random.uniform()))
            .collect();
        edges.extend((0..n / 3).map(|i| (i, i + n / 2, random.uniform() + 1e-3)));
        Graph::from_edges(n as usize, &edges).unwrap()
    }

    fn coloured(graph: &Graph, tau: f64) -> Coloured {
        Coloured::new(graph, |node| 1.0 / (graph.degrees()[node] + tau).sqrt())
    }

    fn unit(source: usize) -> impl Fn(usize, usize) -> f64 + Sync {
        move |node, _| if node == source { 1.0 } else { 0.0 }
    }

    #[test]
    fn agrees_with_its_slow_twin() {
        let graph = ring(3000);
        for tau in [1e-3, 0.1, 10.0] {
            let operator = Combinatorial::new(&graph, tau);
            let (mut fast, mut slow) = (Vectors::default(), Workspace::default());
            let (stop, control) = (Stop::default(), Control::new());
            let [solved] = solve::<1>(
                &operator,
                &coloured(&graph, tau),
                unit(5),
                stop,
                &mut fast,
                &control,
            )
            .unwrap();
            let [twin] =
                conjugate_gradients::<1>(&operator, unit(5), stop, &mut slow, &control).unwrap();
            assert!(
                solved.residual <= 1e-9 && solved.iterations < twin.iterations,
                "{solved:?} against {twin:?}"
            );
            // Two solutions with residuals of 1e-9 differ by at most 2e-9/tau.
            for (fast, slow) in fast.x.iter().zip(slow.solution()) {
                assert!((fast - slow).abs() <= 2e-9 / tau, "{fast} is not {slow}");
            }
        }
    }

    #[test]
    fn columns_keep_their_bits_in_any_block_and_any_number_of_threads() {
        let graph = ring(20_000);
        let (operator, matrix) = (Combinatorial::new(&graph, 0.01), coloured(&graph, 0.01));
        let (stop, control) = (Stop::default(), Control::new());
        let alone: Vec<Vec<f64>> = (0..8)
            .map(|c| {
                let mut vectors = Vectors::default();
                solve::<1>(
                    &operator,
                    &matrix,
                    unit(c * 1234),
                    stop,
                    &mut vectors,
                    &control,
                )
                .unwrap();
                vectors.x
            })
            .collect();
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let mut vectors = Vectors::default();
            let b = |node: usize, c: usize| unit(c * 1234)(node, c);
            pool.install(|| solve::<8>(&operator, &matrix, b, stop, &mut vectors, &control))
                .unwrap();
            for (c, alone) in alone.iter().enumerate() {
                let same = |node: usize| vectors.x[node * 8 + c].to_bits() == alone[node].to_bits();
                assert!((0..graph.n()).all(same), "column {c}");
            }
        }
    }

    #[test]
    fn what_is_beyond_f32_is_solved_in_f64() {
        // A path whose weights span six powers of ten, without a shift: only f64 has the digits. The right-hand side is
        // orthogonal to the constants.
        let edges: Vec<(u32, u32, f64)> = (1..200)
            .map(|i| (i - 1, i, if i % 20 == 0 { 1e-4 } else { 1e2 }))
            .collect();
        let graph = Graph::from_edges(200, &edges).unwrap();
        let operator = Combinatorial::new(&graph, 0.0);
        let b = |node: usize, _: usize| {
            if node == 0 {
                1.0
            } else if node == 199 {
                -1.0
            } else {
                0.0
            }
        };
        let stop = Stop {
            residual: 1e-6,
            iterations: 20_000,
        };
        let mut vectors = Vectors::default();
        let [solved] = solve::<1>(
            &operator,
            &coloured(&graph, 0.0),
            b,
            stop,
            &mut vectors,
            &Control::new(),
        )
        .unwrap();
        assert!(solved.residual <= 1e-6);
        // The same current flows through every edge: the drop over an edge is 1/w.
        for (edge, x) in edges.iter().zip(vectors.x.windows(2)) {
            assert!(
                ((x[0] - x[1]) * edge.2 - 1.0).abs() < 1e-3,
                "{edge:?}: {x:?}"
            );
        }
    }

    #[test]
    fn too_few_iterations_are_an_error_with_their_numbers() {
        let graph = ring(3000);
        let (operator, matrix) = (Combinatorial::new(&graph, 0.01), coloured(&graph, 0.01));
        let stop = Stop {
            residual: 1e-9,
            iterations: 5,
        };
        let few = solve::<1>(
            &operator,
            &matrix,
            unit(0),
            stop,
            &mut Vectors::default(),
            &Control::new(),
        )
        .unwrap_err();
        assert!(
            matches!(few, Error::NotConverged { iterations: 5, residual, .. } if residual > 1e-9)
        );
    }
}
