//! Variance optimality on the smooth functions of the graph: VOpt, Sigma-Opt and MCVOpt (`table:acq_funcs`).
//!
//! Beliefs about the labels form a Gaussian field over the nodes with covariance C. With V the r lowest eigenvectors of
//! the normalised Laplacian L_s (row v_i at node i), s = 0.001 and noise γ = 0.1:
//!
//! ```text
//! C = V B Vᵀ,  B = diag(1/(λ_i + s)) at first;   a label at q:  B <- B - u uᵀ,  u = B v_q / √(γ² + v_qᵀ B v_q)
//!
//! VOpt(k)      = |C e_k|² / (γ² + C_kk)         how much the label of k would lower the sum of all variances
//! Sigma-Opt(k) = (1ᵀ C e_k)² / (γ² + C_kk)      how much it would lower the variance of the sum over all nodes
//! MCVOpt(k)    = (1 - m(k)) VOpt(k)             m(k): the margin of Laplace learning at k, 0 before the first label
//! ```
//!
//! The paper's authors multiply B with all of Vᵀ for every question. We keep D_i = C_ii = v_iᵀ B v_i, N_i = |C e_i|² =
//! |B v_i|² and T_i = 1ᵀ C e_i, and change them in one pass over V: with a_i = v_i·u and b_i = v_i·(B u), B before the
//! label,
//!
//! ```text
//! D_i <- D_i - a_i²,     N_i <- N_i - 2 a_i b_i + a_i² |u|²,     T_i <- T_i - a_i (u · Vᵀ1)
//! ```
//!
//! and recompute them from B after 64 labels, or once |B|² = Σ N_i has shrunk 10,000-fold. The labels themselves do not
//! matter, only where they are.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::prefix_cache::States;
use dial::acquisition::{Acquisition, Situation};
use dial::blocks::NODES_PER_CHUNK;
use dial::error::Result;
use dial::ids::NodeId;
use dial::linalg::eigen::Eigenpairs;
use dial::words::words;

/// Added to the eigenvalues of L_s: without labels, the variance of the smoothest function is 1/0.001.
pub const EIGENVALUE_SHIFT: f64 = 0.001;

/// γ², the variance of the noise of a label.
pub const LABEL_NOISE: f64 = 0.01;

/// What a label should lower most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// The sum of the variances of all nodes.
    #[default]
    Vopt,
    /// The variance of the sum over all nodes.
    SigmaOpt,
}

words!(Criterion, "criterion", { Vopt => "vopt", SigmaOpt => "sigma-opt" });

/// What the criteria need of a covariance C, for every node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moments {
    /// C_kk.
    pub diagonal: Vec<f64>,
    /// |C e_k|².
    pub squares: Vec<f64>,
    /// 1ᵀ C e_k.
    pub sums: Vec<f64>,
}

impl Moments {
    /// Number of nodes.
    pub fn n(&self) -> usize {
        self.diagonal.len()
    }

    pub(crate) fn scores(&self, criterion: Criterion, out: &mut [f64]) {
        let tops = match criterion {
            Criterion::Vopt => &self.squares,
            Criterion::SigmaOpt => &self.sums,
        };
        for ((out, &top), diagonal) in out.iter_mut().zip(tops).zip(&self.diagonal) {
            let top = if criterion == Criterion::SigmaOpt {
                top * top
            } else {
                top
            };
            *out = top / (LABEL_NOISE + diagonal);
        }
    }

    /// The chunks of nodes in which all three are changed.
    pub(crate) fn chunks(
        &mut self,
    ) -> impl IndexedParallelIterator<Item = (usize, [&mut [f64]; 3])> {
        let Moments {
            diagonal,
            squares,
            sums,
        } = self;
        diagonal
            .par_chunks_mut(NODES_PER_CHUNK)
            .zip(squares.par_chunks_mut(NODES_PER_CHUNK))
            .zip(sums.par_chunks_mut(NODES_PER_CHUNK))
            .enumerate()
            .map(|(chunk, ((diagonal, squares), sums))| {
                (chunk * NODES_PER_CHUNK, [diagonal, squares, sums])
            })
    }
}

/// VOpt or Sigma-Opt with the covariance of r smooth functions.
///
/// Cost (`table:comp_comparison`): initially r eigenpairs, then O(n r); O(1) per unlabelled point; auxiliary update
/// O(n r + r²), and O(n r²) at every renewal (the paper has O(r) and O(n r)); no classifier.
#[derive(Debug)]
pub struct SpectralOptimal {
    pairs: Arc<Eigenpairs>,
    criterion: Criterion,
    /// Vᵀ 1.
    ones: Vec<f64>,
    states: States<State>,
}

/// B and what follows from it, after some labels.
#[derive(Debug)]
struct State {
    b: Vec<f64>,
    moments: Moments,
    /// Labels since the moments were computed from B, and the sum of the N_i = |B|² then.
    since: usize,
    size: f64,
}

/// Labels after which the moments are recomputed, and the share of |B|² below which that happens at once, before the
/// rounding of what was subtracted shows. Part of the definition of their last bits.
const QUESTIONS_PER_RENEWAL: usize = 64;
const RENEWAL_SHARE: f64 = 1e-4;

impl SpectralOptimal {
    /// The criterion on the lowest eigenpairs of the normalised Laplacian.
    pub fn new(pairs: Arc<Eigenpairs>, criterion: Criterion) -> SpectralOptimal {
        let mut ones = vec![0.0; pairs.count()];
        for row in rows(&pairs.vectors, pairs.count()) {
            ones.iter_mut().zip(row).for_each(|(sum, v)| *sum += v);
        }
        SpectralOptimal {
            pairs,
            criterion,
            ones,
            states: States::default(),
        }
    }

    fn start(&self) -> State {
        let r = self.pairs.count();
        let mut b = vec![0.0; r * r];
        self.pairs
            .values
            .iter()
            .enumerate()
            .for_each(|(i, value)| b[i * (r + 1)] = 1.0 / (value + EIGENVALUE_SHIFT));
        let blank = || vec![0.0; self.pairs.vectors.len() / r];
        let mut moments = Moments {
            diagonal: blank(),
            squares: blank(),
            sums: blank(),
        };
        let inverse: Vec<f64> = self
            .pairs
            .values
            .iter()
            .map(|value| 1.0 / (value + EIGENVALUE_SHIFT))
            .collect();
        self.fill(&mut moments, |v, product| {
            product
                .iter_mut()
                .zip(v)
                .zip(&inverse)
                .for_each(|((product, v), inverse)| *product = v * inverse);
        });
        State {
            size: product(&b, &b),
            b,
            moments,
            since: 0,
        }
    }

    /// All moments, `multiply` writing B v.
    fn fill(&self, moments: &mut Moments, multiply: impl Fn(&[f64], &mut [f64]) + Sync) {
        let r = self.pairs.count();
        moments
            .chunks()
            .for_each(|(first, [diagonal, squares, sums])| {
                let mut product = vec![0.0; r];
                for (slot, v) in rows(&self.pairs.vectors[first * r..], r)
                    .take(diagonal.len())
                    .enumerate()
                {
                    multiply(v, &mut product);
                    (diagonal[slot], sums[slot]) = two_products(&product, v, &self.ones);
                    squares[slot] = self::product(&product, &product);
                }
            });
    }

    fn add(&self, state: &mut State, label: NodeId) {
        let (r, v) = (self.pairs.count(), self.pairs.at(label));
        let mut u = vec![0.0; r];
        multiply(&state.b, v, &mut u);
        let scale = 1.0 / (LABEL_NOISE + product(&u, v)).sqrt();
        u.iter_mut().for_each(|u| *u *= scale);
        let mut turned = vec![0.0; r];
        multiply(&state.b, &u, &mut turned);
        for (row, &left) in state.b.chunks_exact_mut(r).zip(&u) {
            row.iter_mut()
                .zip(&u)
                .for_each(|(entry, right)| *entry -= left * right);
        }
        let size = product(&state.b, &state.b);
        if state.since + 1 == QUESTIONS_PER_RENEWAL || size < RENEWAL_SHARE * state.size {
            let b = &state.b;
            self.fill(&mut state.moments, |v, product| multiply(b, v, product));
            (state.since, state.size) = (0, size);
        } else {
            self.update(&mut state.moments, &u, &turned);
            state.since += 1;
        }
    }

    /// One pass over V: the moments after a label with this u, `turned` being B u.
    fn update(&self, moments: &mut Moments, u: &[f64], turned: &[f64]) {
        let (length, sum) = two_products(u, u, &self.ones);
        moments
            .chunks()
            .for_each(|(first, [diagonal, squares, sums])| {
                for (slot, v) in rows(&self.pairs.vectors[first * u.len()..], u.len())
                    .take(diagonal.len())
                    .enumerate()
                {
                    let (a, b) = two_products(v, u, turned);
                    diagonal[slot] -= a * a;
                    squares[slot] += a * (a * length - 2.0 * b);
                    sums[slot] -= a * sum;
                }
            });
    }
}

impl Acquisition for SpectralOptimal {
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        let (applied, mut state) = self
            .states
            .take(now.order)
            .unwrap_or_else(|| (0, self.start()));
        now.order[applied..]
            .iter()
            .for_each(|&label| self.add(&mut state, label));
        state.moments.scores(self.criterion, out);
        self.states.put(now.order, state);
        Ok(())
    }
}

/// MCVOpt: how much the label of a node would change the model, by the size of its step and by how torn the model is.
///
/// Cost (`table:comp_comparison`): that of [`SpectralOptimal`], plus O(K) per unlabelled point and the classifier update
/// of the model, K - 1 solves for Laplace learning.
pub struct ModelChange {
    spread: SpectralOptimal,
    margin: Arc<dyn Acquisition>,
}

impl ModelChange {
    /// MCVOpt on the lowest eigenpairs of the normalised Laplacian; `margin` scores every node by minus the margin of
    /// the model there, as uncertainty sampling does.
    pub fn new(pairs: Arc<Eigenpairs>, margin: Arc<dyn Acquisition>) -> ModelChange {
        ModelChange {
            spread: SpectralOptimal::new(pairs, Criterion::Vopt),
            margin,
        }
    }
}

impl Acquisition for ModelChange {
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        self.spread.scores(now, out)?;
        if now.order.is_empty() {
            return Ok(());
        }
        let mut negative = vec![0.0; out.len()];
        self.margin.scores(now, &mut negative)?;
        out.iter_mut()
            .zip(&negative)
            .for_each(|(score, negative)| *score *= 1.0 + negative);
        Ok(())
    }
}

/// The rows of a matrix of r columns.
fn rows(matrix: &[f64], r: usize) -> impl Iterator<Item = &[f64]> {
    matrix.chunks_exact(r)
}

/// out = B v.
fn multiply(b: &[f64], v: &[f64], out: &mut [f64]) {
    for (out, row) in out.iter_mut().zip(b.chunks_exact(v.len())) {
        *out = product(row, v);
    }
}

const PAIR_LANES: usize = 8;

/// x·y and x·z, every eighth product to the same running sum: vectors instead of one long chain, in one fixed order.
#[inline]
fn two_products(x: &[f64], y: &[f64], z: &[f64]) -> (f64, f64) {
    let (mut a, mut b) = ([0.0; PAIR_LANES], [0.0; PAIR_LANES]);
    let blocks = x
        .chunks_exact(PAIR_LANES)
        .zip(y.chunks_exact(PAIR_LANES))
        .zip(z.chunks_exact(PAIR_LANES));
    for ((x, y), z) in blocks {
        for lane in 0..PAIR_LANES {
            a[lane] += x[lane] * y[lane];
            b[lane] += x[lane] * z[lane];
        }
    }
    for place in x.len() / PAIR_LANES * PAIR_LANES..x.len() {
        a[place % PAIR_LANES] += x[place] * y[place];
        b[place % PAIR_LANES] += x[place] * z[place];
    }
    (add(a), add(b))
}

/// x·y, with the bits of [`two_products`].
#[inline]
pub(crate) fn product(x: &[f64], y: &[f64]) -> f64 {
    let mut a = [0.0; PAIR_LANES];
    for (x, y) in x.chunks_exact(PAIR_LANES).zip(y.chunks_exact(PAIR_LANES)) {
        for lane in 0..PAIR_LANES {
            a[lane] += x[lane] * y[lane];
        }
    }
    for place in x.len() / PAIR_LANES * PAIR_LANES..x.len() {
        a[place % PAIR_LANES] += x[place] * y[place];
    }
    add(a)
}

fn add(lanes: [f64; PAIR_LANES]) -> f64 {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dial::acquisition::{OfAlpha, Score};
    use dial::belief::field::DirichletField;

    /// The edge 0 - 1: L_s has the eigenvalues 0 and 2 with the vectors (1, 1)/√2 and (1, -1)/√2.
    fn edge() -> Arc<Eigenpairs> {
        let h = 0.5f64.sqrt();
        Arc::new(Eigenpairs {
            values: vec![0.0, 2.0],
            vectors: vec![h, h, h, -h],
            residuals: vec![0.0; 2],
        })
    }

    fn scores(acquisition: &impl Acquisition, order: &[NodeId]) -> Vec<f64> {
        let field = DirichletField::new(2, 2, 1.0);
        let mut out = vec![f64::NAN; 2];
        acquisition
            .scores(
                &Situation {
                    order,
                    ..Situation::at_start(&field, 1)
                },
                &mut out,
            )
            .unwrap();
        out
    }

    #[test]
    fn an_edge_by_hand() {
        // C = [p q; q p] with p = (1000 + 1/2.001)/2, q = (1000 - 1/2.001)/2; its row sums are 1000.
        let (p, q) = ((1000.0 + 1.0 / 2.001) / 2.0, (1000.0 - 1.0 / 2.001) / 2.0);
        let (vopt, sigma) = (
            SpectralOptimal::new(edge(), Criterion::Vopt),
            SpectralOptimal::new(edge(), Criterion::SigmaOpt),
        );
        let close =
            |got: f64, want: f64| assert!((got / want - 1.0).abs() < 1e-12, "{got}, wanted {want}");
        scores(&vopt, &[])
            .iter()
            .for_each(|&score| close(score, (p * p + q * q) / (0.01 + p)));
        scores(&sigma, &[])
            .iter()
            .for_each(|&score| close(score, 1e6 / (0.01 + p)));
        // After a label at 0: C_11 = p - q²/(0.01 + p), C_01 = q - q p/(0.01 + p) = 0.01 q/(0.01 + p).
        let (c11, c01) = (p - q * q / (0.01 + p), 0.01 * q / (0.01 + p));
        let close =
            |got: f64, want: f64| assert!((got / want - 1.0).abs() < 1e-8, "{got}, wanted {want}");
        close(
            scores(&vopt, &[NodeId(0)])[1],
            (c11 * c11 + c01 * c01) / (0.01 + c11),
        );
        close(
            scores(&sigma, &[NodeId(0)])[1],
            (c11 + c01) * (c11 + c01) / (0.01 + c11),
        );
    }

    #[test]
    fn model_change_is_vopt_where_the_model_is_torn_and_nothing_where_it_is_sure() {
        let order = [NodeId(0)];
        let (vopt, plain) = (
            scores(&SpectralOptimal::new(edge(), Criterion::Vopt), &order),
            Arc::new(Score::Margin),
        );
        // All α are equal: the margin is 0.
        assert_eq!(scores(&ModelChange::new(edge(), plain), &order), vopt);
        let quarter = ModelChange::new(edge(), Arc::new(OfAlpha(|_: &[f64]| -0.25)));
        assert_eq!(
            scores(&quarter, &order),
            vopt.iter().map(|v| 0.75 * v).collect::<Vec<_>>()
        );
        let sure = ModelChange::new(edge(), Arc::new(OfAlpha(|_: &[f64]| -1.0)));
        assert_eq!(scores(&sure, &order), [0.0, 0.0]);
        assert_eq!(
            scores(&sure, &[]),
            scores(&SpectralOptimal::new(edge(), Criterion::Vopt), &[])
        );
    }

    #[test]
    fn products_of_any_length() {
        for length in [0, 1, 7, 8, 9, 40, 43] {
            let x: Vec<f64> = (0..length).map(f64::from).collect();
            let ones = vec![1.0; x.len()];
            let sum = |f: fn(f64) -> f64| x.iter().copied().map(f).sum::<f64>();
            assert_eq!(two_products(&x, &x, &ones), (sum(|v| v * v), sum(|v| v)));
            assert_eq!(product(&x, &x), sum(|v| v * v));
        }
    }
}
