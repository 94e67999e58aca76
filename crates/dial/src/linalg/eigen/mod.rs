//! Eigenpairs of a graph Laplacian: the smooth functions on the graph.
//!
//! ```text
//! A v_i = λ_i v_i,   λ_1 <= λ_2 <= ... <= λ_r <= ... <= bound
//! ```
//!
//! Chebyshev-filtered subspace iteration. A block X of m > r vectors is multiplied by a polynomial that is small on
//! [edge, bound], edge being the largest value that X stands for, and grows steeply below; then the best vectors in the
//! span of X are taken (Rayleigh and Ritz: Xᵀ A X y = θ Xᵀ X y), and again. A vector whose residual is low enough stays in
//! X but is filtered no more, and the degree for each panel of vectors is what its residuals still need.
//!
//! Every residual |A v - λ v| is recomputed from the final vectors. Small graphs are solved as dense matrices. The vectors
//! of a repeated eigenvalue are some orthonormal basis of its space, always the same one. Sign: the entry of largest
//! magnitude (the first such) is positive.

pub(crate) mod chebyshev;
pub(crate) mod block_vectors;
pub mod dense;

use crate::blocks::for_chunks;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::laplacian::{Combinatorial, LinearOperator, Normalized};
use crate::graph::ordering::Ordered;
use crate::ids::NodeId;
use crate::linalg::eigen::block_vectors::{PANEL_WIDTH, Panels};
use crate::linalg::eigen::chebyshev::{Filter, closer_bound};
use crate::linalg::eigen::dense::{eigen, pencil};

/// The r lowest eigenpairs, ascending; the vectors are orthonormal.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigenpairs {
    /// The eigenvalues, ascending.
    pub values: Vec<f64>,
    /// The eigenvectors, node by node: the entries of all r vectors at node 0, then at node 1, ...
    pub vectors: Vec<f64>,
    /// |A v - λ v| of every pair, recomputed.
    pub residuals: Vec<f64>,
}

impl Eigenpairs {
    /// The lowest pairs of the symmetric normalised Laplacian L_s of a graph.
    ///
    /// # Errors
    /// As [`lowest`].
    pub fn normalized(graph: &Graph, count: usize, control: &Control) -> Result<Eigenpairs> {
        in_good_order(graph, |graph| {
            lowest(&Normalized::new(graph, 0.0), 2.0, count, control)
        })
    }

    /// The lowest pairs of the combinatorial Laplacian L of a graph, whose spectrum ends at or below 2 max d.
    ///
    /// # Errors
    /// As [`lowest`].
    pub fn combinatorial(graph: &Graph, count: usize, control: &Control) -> Result<Eigenpairs> {
        let bound = combinatorial_bound(graph);
        in_good_order(graph, |graph| {
            lowest(&Combinatorial::new(graph, 0.0), bound, count, control)
        })
    }

    /// Number of pairs.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// The entries of all vectors at a node.
    pub fn at(&self, node: NodeId) -> &[f64] {
        &self.vectors[node.index() * self.count()..][..self.count()]
    }

    /// Turns every vector so that its entry of largest magnitude, the first such, is positive.
    fn with_signs(mut self) -> Eigenpairs {
        let count = self.count();
        let mut largest = vec![0.0f64; count];
        for row in self.vectors.chunks_exact(count) {
            for (largest, &entry) in largest.iter_mut().zip(row) {
                if entry.abs() > largest.abs() {
                    *largest = entry;
                }
            }
        }
        for row in self.vectors.chunks_exact_mut(count) {
            for (entry, largest) in row.iter_mut().zip(&largest) {
                *entry = if *largest < 0.0 { -*entry } else { *entry };
            }
        }
        self
    }
}

/// Gershgorin's bound on the eigenvalues of L: 2 max d.
pub(crate) fn combinatorial_bound(graph: &Graph) -> f64 {
    2.0 * graph.degrees().iter().copied().fold(0.0, f64::max)
}

/// Solves on the graph in an order that is good to multiply with, and puts the nodes back.
fn in_good_order(
    graph: &Graph,
    solve: impl FnOnce(&Graph) -> Result<Eigenpairs>,
) -> Result<Eigenpairs> {
    let Ordered { graph, order, .. } = Ordered::new(graph);
    let pairs = solve(&graph)?;
    let mut vectors = vec![0.0; pairs.vectors.len()];
    for (row, node) in pairs.vectors.chunks_exact(pairs.count()).zip(&order) {
        vectors[node.index() * pairs.count()..][..pairs.count()].copy_from_slice(row);
    }
    Ok(Eigenpairs { vectors, ..pairs }.with_signs())
}

/// Residual that a pair must reach, as a share of the bound.
const RESIDUAL_SHARE: f64 = 1e-9;

/// Graphs of at most this many nodes are solved as dense matrices, to full precision.
const MAX_DENSE_NODES: usize = 256;

/// Rounds of filter and Ritz before giving up; ten are usual.
const MAX_ROUNDS: usize = 300;

/// The `count` lowest eigenpairs of a symmetric operator whose eigenvalues lie in [0, bound], each with a residual of at
/// most 1e-9 times the bound.
///
/// # Errors
/// A count that is not from 1 to n, a bound that is not a finite number at least 0; [`Error::NotConverged`] with the
/// largest residual; cancelled.
pub fn lowest(
    operator: &impl LinearOperator,
    bound: f64,
    count: usize,
    control: &Control,
) -> Result<Eigenpairs> {
    lowest_within(operator, bound, count, RESIDUAL_SHARE, control)
}

/// As [`lowest`], with residuals of at most `tolerance` times the bound.
///
/// # Errors
/// As [`lowest`].
pub fn lowest_within(
    operator: &impl LinearOperator,
    bound: f64,
    count: usize,
    tolerance: f64,
    control: &Control,
) -> Result<Eigenpairs> {
    let n = operator.n();
    if !(1..=n).contains(&count) {
        let want = "a number from 1 to the number of items";
        return Err(Error::setting("eigenpairs", want, count));
    }
    if !(bound.is_finite() && bound >= 0.0) {
        return Err(Error::setting("bound", "a finite number at least 0", bound));
    }
    let size = subspace(count);
    if n <= MAX_DENSE_NODES || 2 * size > n {
        return dense(operator, count);
    }
    let wanted = tolerance * bound;
    rayon::scope(|_| {
        let closer = closer_bound(operator, bound)?;
        // Any interval will do for the operator zero.
        filtered(
            operator,
            if closer > 0.0 { closer } else { 1.0 },
            count,
            wanted,
            control,
        )
    })
}

/// Vectors in the block: a quarter more than wanted, whole panels.
fn subspace(count: usize) -> usize {
    (count + (count / 4).max(PANEL_WIDTH)).next_multiple_of(PANEL_WIDTH)
}

/// All pairs of the matrix that the operator stands for, the lowest kept.
fn dense(operator: &impl LinearOperator, count: usize) -> Result<Eigenpairs> {
    let n = operator.n();
    let (mut unit, mut matrix) = (vec![0.0; n], vec![0.0; n * n]);
    for (i, row) in matrix.chunks_exact_mut(n).enumerate() {
        unit[i] = 1.0;
        operator.product::<1>(0, &unit, row);
        unit[i] = 0.0;
    }
    let (mut values, rows) = eigen(matrix, n)?;
    values.truncate(count);
    let residual = |(row, &value): (&[f64], &f64)| {
        let mut image = vec![0.0; n];
        operator.product::<1>(0, row, &mut image);
        image
            .iter()
            .zip(row)
            .fold(0.0, |sum, (a, v)| sum + (a - value * v) * (a - value * v))
            .sqrt()
    };
    let residuals = rows.chunks_exact(n).zip(&values).map(residual).collect();
    let vectors = (0..n * count)
        .map(|i| rows[i % count * n + i / count])
        .collect();
    Ok(Eigenpairs {
        values,
        vectors,
        residuals,
    }
    .with_signs())
}

fn filtered(
    operator: &impl LinearOperator,
    bound: f64,
    count: usize,
    wanted: f64,
    control: &Control,
) -> Result<Eigenpairs> {
    let (n, size) = (operator.n(), subspace(count));
    let mut x = Panels::random(n, size / PANEL_WIDTH);
    let mut spare: [Vec<f64>; PANELS_PER_PRODUCT] =
        std::array::from_fn(|_| vec![0.0; n * PANEL_WIDTH]);
    let mut filter = Filter {
        low: 0.0,
        edge: 0.5 * bound,
        bound,
    };
    let mut degrees = vec![filter.longest(); size / PANEL_WIDTH];
    let (mut done, mut worst) = (0, f64::NAN);
    control.start("finding eigenpairs", count);
    for _ in 0..MAX_ROUNDS {
        for (panel, &degree) in x.panels.iter_mut().zip(&degrees) {
            control.check()?;
            filter.apply(operator, panel, degree, &mut spare);
        }
        let values = ritz(operator, &mut x, &mut spare)?;
        let residuals = residuals(operator, &x, &values, &mut spare[0]);
        worst = residuals[..count].iter().copied().fold(0.0, f64::max);
        let reached = residuals[..count]
            .iter()
            .filter(|&&residual| residual <= wanted)
            .count()
            .max(done);
        control.advance(reached - done)?;
        done = reached;
        if worst <= wanted {
            control.finish();
            return Ok(collect(&x, values, residuals, count));
        }
        filter = filter.next(&values, count);
        degrees = filter.degrees(&values, &residuals[..count], wanted);
    }
    Err(Error::NotConverged {
        iterations: MAX_ROUNDS,
        residual: worst,
        wanted,
    })
}

/// Panels whose inner products are taken at once.
const PANELS_PER_PRODUCT: usize = 4;

/// Turns X into the Ritz vectors of its span and returns the Ritz values, ascending.
fn ritz(
    operator: &impl LinearOperator,
    x: &mut Panels,
    images: &mut [Vec<f64>; PANELS_PER_PRODUCT],
) -> Result<Vec<f64>> {
    let size = x.size();
    let (mut gram, mut rayleigh) = (vec![0.0; size * size], vec![0.0; size * size]);
    for (place, group) in x.panels.chunks(PANELS_PER_PRODUCT).enumerate() {
        for (panel, image) in group.iter().zip(images.iter_mut()) {
            multiply(operator, panel, image);
        }
        let end = place * PANELS_PER_PRODUCT + group.len();
        let ys: Vec<&[f64]> = group
            .iter()
            .chain(&images[..group.len()])
            .map(|y| &y[..])
            .collect();
        let inner = x.inner(end, &ys);
        for (p, inner) in inner
            .chunks_exact(end * PANEL_WIDTH * PANEL_WIDTH)
            .enumerate()
        {
            let matrix = if p < group.len() {
                &mut gram
            } else {
                &mut rayleigh
            };
            let column = (place * PANELS_PER_PRODUCT + p % group.len()) * PANEL_WIDTH;
            for (entry, &value) in inner.iter().enumerate() {
                let (i, j) = (entry / PANEL_WIDTH, column + entry % PANEL_WIDTH);
                if i <= j {
                    matrix[i * size + j] = value;
                    matrix[j * size + i] = value;
                }
            }
        }
    }
    let (values, y) = pencil(rayleigh, gram, size)?;
    x.combine(&y);
    Ok(values)
}

/// image <- A x for a panel.
fn multiply(operator: &impl LinearOperator, x: &[f64], image: &mut [f64]) {
    for_chunks::<PANEL_WIDTH, 0>(image, |first, image| {
        operator.product::<PANEL_WIDTH>(first, x, image);
        []
    });
}

/// |A v - θ v| / |v| for every vector.
fn residuals(
    operator: &impl LinearOperator,
    x: &Panels,
    values: &[f64],
    image: &mut [f64],
) -> Vec<f64> {
    let panel = |(panel, values): (&Vec<f64>, &[f64])| {
        let [residual, length] = for_chunks::<PANEL_WIDTH, 2>(image, |first, image| {
            operator.product::<PANEL_WIDTH>(first, panel, image);
            let mut sums = [[0.0; PANEL_WIDTH]; 2];
            for (image, x) in image
                .chunks_exact(PANEL_WIDTH)
                .zip(panel[first * PANEL_WIDTH..].chunks_exact(PANEL_WIDTH))
            {
                for c in 0..PANEL_WIDTH {
                    let rest = image[c] - values[c] * x[c];
                    sums[0][c] += rest * rest;
                    sums[1][c] += x[c] * x[c];
                }
            }
            sums
        });
        (0..PANEL_WIDTH).map(move |c| (residual[c] / length[c]).sqrt())
    };
    x.panels
        .iter()
        .zip(values.chunks_exact(PANEL_WIDTH))
        .flat_map(panel)
        .collect()
}

/// The first vectors of X, node by node.
fn collect(x: &Panels, mut values: Vec<f64>, mut residuals: Vec<f64>, count: usize) -> Eigenpairs {
    values.truncate(count);
    residuals.truncate(count);
    let n = x.panels[0].len() / PANEL_WIDTH;
    let mut vectors = vec![0.0; n * count];
    for (node, row) in vectors.chunks_exact_mut(count).enumerate() {
        for (row, panel) in row.chunks_mut(PANEL_WIDTH).zip(&x.panels) {
            row.copy_from_slice(&panel[node * PANEL_WIDTH..][..row.len()]);
        }
    }
    Eigenpairs {
        values,
        vectors,
        residuals,
    }
    .with_signs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, Random};

    /// Residuals, order and orthonormality, and the eigenvalues of the dense twin.
    fn check(operator: &impl LinearOperator, bound: f64, count: usize) -> Eigenpairs {
        let n = operator.n();
        assert!(
            n > MAX_DENSE_NODES && 2 * subspace(count) <= n,
            "the dense twin is meant to be another solver"
        );
        let pairs = lowest(operator, bound, count, &Control::new()).unwrap();
        let twin = dense(operator, count).unwrap();
        assert_eq!((pairs.count(), pairs.vectors.len()), (count, n * count));
        for i in 0..count {
            assert!(
                (pairs.values[i] - twin.values[i]).abs() < 1e-12 * bound.max(1.0),
                "{i}: {:?}",
                pairs.values[i]
            );
            assert!(
                pairs.residuals[i] <= 1e-9 * bound && twin.residuals[i] < 1e-12 * bound.max(1.0)
            );
            for j in 0..=i {
                let inner: f64 = pairs
                    .vectors
                    .chunks_exact(count)
                    .map(|row| row[i] * row[j])
                    .sum();
                assert!(
                    (inner - if i == j { 1.0 } else { 0.0 }).abs() < 1e-11,
                    "{i} {j} {inner}"
                );
            }
        }
        pairs
    }

    fn random_graph(n: u32, seed: u64, isolated: u32) -> Graph {
        let mut random = Random::new(seed, Purpose::User, 0);
        let mut edges = Vec::new();
        for i in isolated + 1..n {
            for _ in 0..3 {
                let back = 1 + random.below(20.min((i - isolated) as usize)) as u32;
                if edges
                    .iter()
                    .rev()
                    .take(3)
                    .all(|&(a, b, _)| (a, b) != (i - back, i))
                {
                    edges.push((i - back, i, 0.1 + random.uniform()));
                }
            }
        }
        Graph::from_edges(n as usize, &edges).unwrap()
    }

    #[test]
    fn a_path_by_hand() {
        // L of the path of 3: values 0, 1, 3; vectors (1, 1, 1)/√3, (1, 0, -1)/√2 and (-1, 2, -1)/√6.
        let path = Graph::from_edges(3, &[(0, 1, 1.0), (1, 2, 1.0)]).unwrap();
        let pairs = Eigenpairs::combinatorial(&path, 3, &Control::new()).unwrap();
        for (value, want) in pairs.values.iter().zip([0.0, 1.0, 3.0]) {
            assert!((value - want).abs() < 1e-14);
        }
        let (a, b, c) = (
            1.0 / 3.0f64.sqrt(),
            1.0 / 2.0f64.sqrt(),
            1.0 / 6.0f64.sqrt(),
        );
        for (got, want) in pairs
            .vectors
            .iter()
            .zip([a, b, -c, a, 0.0, 2.0 * c, a, -b, -c])
        {
            assert!((got.abs() - f64::abs(want)).abs() < 1e-14);
        }
        assert!(pairs.at(NodeId(1))[2] > 0.0 && pairs.at(NodeId(0))[0] > 0.0);
        // L_s of the path of 3: 0, 1, 2.
        let pairs = Eigenpairs::normalized(&path, 2, &Control::new()).unwrap();
        assert!(pairs.values[0].abs() < 1e-14 && (pairs.values[1] - 1.0).abs() < 1e-14);
    }

    #[test]
    fn the_filter_finds_what_the_dense_solver_finds() {
        for (seed, isolated) in [(1, 0), (2, 5), (3, 70)] {
            let graph = random_graph(260, seed, isolated);
            for count in [1, 8, 50] {
                check(&Normalized::new(&graph, 0.0), 2.0, count);
                check(
                    &Combinatorial::new(&graph, 0.0),
                    combinatorial_bound(&graph),
                    count,
                );
            }
        }
    }

    #[test]
    fn crowded_and_repeated_eigenvalues() {
        // A star: 0 once, 1 for all but two, n. Its lowest ones are one crowd, larger than any block.
        let star = Graph::from_edges(
            300,
            &(1..300).map(|leaf| (0, leaf, 1.0)).collect::<Vec<_>>(),
        )
        .unwrap();
        check(
            &Combinatorial::new(&star, 0.0),
            combinatorial_bound(&star),
            10,
        );
        check(&Normalized::new(&star, 0.0), 2.0, 10);
        // A ring: every value but the first twice; a long path: values crowd quadratically at 0.
        let ring = Graph::from_edges(
            400,
            &(0..400)
                .map(|i| (i, (i + 1) % 400, 1.0))
                .collect::<Vec<_>>(),
        )
        .unwrap();
        check(&Combinatorial::new(&ring, 0.0), 4.0, 15);
        // Nothing but isolated nodes; many equal components.
        let pairs = check(
            &Combinatorial::new(&Graph::from_edges(500, &[]).unwrap(), 0.0),
            0.0,
            20,
        );
        assert_eq!(pairs.values, [0.0; 20]);
        let edges: Vec<_> = (0..150)
            .flat_map(|i| [(3 * i, 3 * i + 1, 1.0), (3 * i + 1, 3 * i + 2, 0.5)])
            .collect();
        check(
            &Normalized::new(&Graph::from_edges(450, &edges).unwrap(), 0.0),
            2.0,
            12,
        );
    }

    #[test]
    fn the_same_bits_for_any_number_of_threads() {
        let graph = random_graph(5000, 9, 3);
        let solve = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| Eigenpairs::normalized(&graph, 20, &Control::new()).unwrap())
        };
        let one = solve(1);
        assert_eq!(one, solve(4));
        assert!(one.values[..4].iter().all(|value| value.abs() < 1e-12) && one.values[4] > 1e-6);
    }

    #[test]
    fn bad_counts_hopeless_wishes_and_cancelling() {
        let graph = random_graph(300, 1, 0);
        for count in [0, 301] {
            let error = Eigenpairs::normalized(&graph, count, &Control::new()).unwrap_err();
            assert!(matches!(
                error,
                Error::BadSetting {
                    name: "eigenpairs",
                    ..
                }
            ));
        }
        let operator = Normalized::new(&graph, 0.0);
        let error = lowest_within(&operator, 2.0, 5, 1e-20, &Control::new()).unwrap_err();
        assert!(
            matches!(error, Error::NotConverged { residual, .. } if residual < 1e-12),
            "{error}"
        );
        let control = Control::new();
        control.cancel();
        assert_eq!(lowest(&operator, 2.0, 5, &control), Err(Error::Cancelled));
    }
}
