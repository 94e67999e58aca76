//! Laplacians of the graph as operators: products without forming a matrix.
//!
//! ```text
//! combinatorial   (L x)_i   = d_i x_i - Σ_j w_ij x_j
//! normalised      (L_s x)_i = x_i - Σ_j w_ij x_j / √(d_i d_j)
//! random walk     (L_r x)_i = x_i - Σ_j w_ij x_j / d_i
//! ```
//!
//! each with a multiple of the identity added, `shift` (the paper's tau in `eq:poisson-prop`). Rows of isolated nodes
//! are zero apart from the shift. The paper's propagation uses the combinatorial one only: the others have no maximum
//! principle (a test shows it).

use crate::graph::Graph;
use crate::graph::adjacency::{Adjacency, Count, GraphRows, Weight};

/// A linear operator on vectors over the nodes.
pub trait LinearOperator: Sync {
    /// Number of nodes.
    fn n(&self) -> usize;

    /// The diagonal entry of a row.
    fn diagonal(&self, row: usize) -> f64;

    /// Writes rows `first`, `first + 1`, ... of the product with a block of W vectors (interleaved, see
    /// [`crate::blocks`]), as many as `out` has room for.
    fn product<const W: usize>(&self, first: usize, x: &[f64], out: &mut [f64]);
}

/// L + shift I, on either storage of a graph.
#[derive(Clone, Copy, Debug)]
pub struct Combinatorial<'a, C = usize, F = f64> {
    pub(crate) rows: GraphRows<'a, C, F>,
    shift: f64,
    lanes: Lanes,
}

/// How many running sums a row of a product has. Part of the definition of every sum: changing it changes last bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    One,
    Four,
}

impl<'a, C: Count, F: Weight> Combinatorial<'a, C, F> {
    /// The combinatorial Laplacian plus `shift` times the identity.
    pub fn new(graph: &'a impl Adjacency<Count = C, Weight = F>, shift: f64) -> Self {
        Combinatorial::with_lanes(graph.rows(), shift, Lanes::Four)
    }

    pub(crate) fn with_lanes(rows: GraphRows<'a, C, F>, shift: f64, lanes: Lanes) -> Self {
        Combinatorial { rows, shift, lanes }
    }

    /// The multiple of the identity.
    pub(crate) fn shift(&self) -> f64 {
        self.shift
    }
}

impl<C: Count, F: Weight> LinearOperator for Combinatorial<'_, C, F> {
    fn n(&self) -> usize {
        self.rows.n()
    }

    #[inline]
    fn diagonal(&self, row: usize) -> f64 {
        self.rows.degrees[row] + self.shift
    }

    fn product<const W: usize>(&self, first: usize, x: &[f64], out: &mut [f64]) {
        match self.lanes {
            Lanes::One => weighted_sums::<W, 1, C, F>(&self.rows, self.rows.weights, first, x, out),
            Lanes::Four => {
                weighted_sums::<W, 4, C, F>(&self.rows, self.rows.weights, first, x, out)
            }
        }
        finish::<W>(first, x, out, |row, own, sum| {
            self.diagonal(row) * own - sum
        });
    }
}

/// L_s + shift I.
#[derive(Clone, Debug)]
pub struct Normalized<'a> {
    rows: GraphRows<'a, usize, f64>,
    /// 1/√d, or 0 for isolated nodes.
    root: Vec<f64>,
    /// w_ij/√d_j, in the order of the graph's weights: looking d_j up in every product took a third of its time.
    weights: Vec<f64>,
    shift: f64,
}

impl<'a> Normalized<'a> {
    /// The symmetric normalised Laplacian plus `shift` times the identity.
    pub fn new(graph: &'a Graph, shift: f64) -> Self {
        let rows = graph.rows();
        let root = rows
            .degrees
            .iter()
            .map(|&d| if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 });
        let root: Vec<f64> = root.collect();
        Normalized {
            rows,
            weights: scaled(&rows, &root),
            root,
            shift,
        }
    }
}

impl LinearOperator for Normalized<'_> {
    fn n(&self) -> usize {
        self.rows.n()
    }

    #[inline]
    fn diagonal(&self, row: usize) -> f64 {
        self.shift + if self.root[row] > 0.0 { 1.0 } else { 0.0 }
    }

    fn product<const W: usize>(&self, first: usize, x: &[f64], out: &mut [f64]) {
        weighted_sums::<W, 4, _, _>(&self.rows, &self.weights, first, x, out);
        finish::<W>(first, x, out, |row, own, sum| {
            self.diagonal(row) * own - self.root[row] * sum
        });
    }
}

/// L_r + shift I. Not symmetric: not for conjugate gradients.
#[derive(Clone, Copy, Debug)]
pub struct RandomWalk<'a> {
    rows: GraphRows<'a, usize, f64>,
    shift: f64,
}

impl<'a> RandomWalk<'a> {
    /// The random-walk Laplacian plus `shift` times the identity.
    pub fn new(graph: &'a Graph, shift: f64) -> Self {
        RandomWalk {
            rows: graph.rows(),
            shift,
        }
    }
}

impl LinearOperator for RandomWalk<'_> {
    fn n(&self) -> usize {
        self.rows.n()
    }

    #[inline]
    fn diagonal(&self, row: usize) -> f64 {
        self.shift
            + if self.rows.degrees[row] > 0.0 {
                1.0
            } else {
                0.0
            }
    }

    fn product<const W: usize>(&self, first: usize, x: &[f64], out: &mut [f64]) {
        weighted_sums::<W, 4, _, _>(&self.rows, self.rows.weights, first, x, out);
        finish::<W>(first, x, out, |row, own, sum| {
            let degree = self.rows.degrees[row];
            self.diagonal(row) * own - if degree > 0.0 { sum / degree } else { 0.0 }
        });
    }
}

/// I - R W R with a diagonal R. With R = 1/√d on the unlabelled nodes and 0 on the labelled ones it is the Laplacian of
/// harmonic extension, scaled to a diagonal of ones: labelled rows are those of the identity.
#[derive(Clone, Debug)]
pub struct Grounded<'a> {
    rows: GraphRows<'a, usize, f64>,
    root: Vec<f64>,
    weights: Vec<f64>,
}

impl<'a> Grounded<'a> {
    /// The operator for a diagonal R, one value per node.
    ///
    /// # Panics
    /// If there are more or fewer values than nodes.
    pub fn new(graph: &'a Graph, root: Vec<f64>) -> Self {
        assert_eq!(root.len(), graph.n(), "one value per node");
        let rows = graph.rows();
        Grounded {
            rows,
            weights: scaled(&rows, &root),
            root,
        }
    }
}

impl LinearOperator for Grounded<'_> {
    fn n(&self) -> usize {
        self.rows.n()
    }

    #[inline]
    fn diagonal(&self, _: usize) -> f64 {
        1.0
    }

    fn product<const W: usize>(&self, first: usize, x: &[f64], out: &mut [f64]) {
        weighted_sums::<W, 4, _, _>(&self.rows, &self.weights, first, x, out);
        finish::<W>(first, x, out, |row, own, sum| own - self.root[row] * sum);
    }
}

/// The weights w_ij r_j, in the order of the graph's.
fn scaled(rows: &GraphRows<'_, usize, f64>, root: &[f64]) -> Vec<f64> {
    rows.neighbours
        .iter()
        .zip(rows.weights)
        .map(|(&j, w)| w * root[j as usize])
        .collect()
}

/// Writes Σ_j w_ij x_j over the neighbours of rows `first`, ..., with the given weights in the place of the graph's. With
/// LANES = 4 every fourth neighbour goes to the same running sum, and the four are added at the end, for every W alike: a
/// quarter of the waiting for additions, and still one fixed order.
#[inline(always)]
fn weighted_sums<const W: usize, const LANES: usize, C: Count, F: Weight>(
    rows: &GraphRows<'_, C, F>,
    weights: &[F],
    first: usize,
    x: &[f64],
    out: &mut [f64],
) {
    let add = |sums: &mut [f64; W], j: u32, w: F| {
        let values = &x[j as usize * W..(j as usize + 1) * W];
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += w.into() * value;
        }
    };
    for (out, bounds) in out.chunks_exact_mut(W).zip(rows.starts[first..].windows(2)) {
        let slots = bounds[0].get()..bounds[1].get();
        let (neighbours, weights) = (&rows.neighbours[slots.clone()], &weights[slots]);
        if LANES == 1 {
            let mut sums = [0.0; W];
            for (&j, &w) in neighbours.iter().zip(weights) {
                add(&mut sums, j, w);
            }
            out.copy_from_slice(&sums);
            continue;
        }
        let mut lanes = [[0.0; W]; 4];
        let fours = neighbours.chunks_exact(4);
        let weight_fours = weights.chunks_exact(4);
        let rest = fours.remainder().iter().zip(weight_fours.remainder());
        for (j, w) in fours.zip(weight_fours) {
            for lane in 0..4 {
                add(&mut lanes[lane], j[lane], w[lane]);
            }
        }
        for (lane, (&j, &w)) in lanes.iter_mut().zip(rest) {
            add(lane, j, w);
        }
        for c in 0..W {
            out[c] = (lanes[0][c] + lanes[1][c]) + (lanes[2][c] + lanes[3][c]);
        }
    }
}

/// Turns the sums over the neighbours of rows `first`, ... into rows of a product: `row(row, x_row, sum)`.
#[inline(always)]
fn finish<const W: usize>(
    first: usize,
    x: &[f64],
    out: &mut [f64],
    row: impl Fn(usize, f64, f64) -> f64,
) {
    let rows = out.chunks_exact_mut(W).zip(x[first * W..].chunks_exact(W));
    for (index, (out, x)) in (first..).zip(rows) {
        for c in 0..W {
            out[c] = row(index, x[c], out[c]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(operator: &impl LinearOperator, x: &[f64]) -> Vec<f64> {
        let mut out = vec![f64::NAN; operator.n()];
        operator.product::<1>(0, x, &mut out);
        out
    }

    /// A path 0 - 1 - 2 with weights 4 and 12, and an isolated node 3: degrees 4, 16, 12, 0.
    fn path() -> Graph {
        Graph::from_edges(4, &[(0, 1, 4.0), (1, 2, 12.0)]).unwrap()
    }

    #[test]
    fn a_path_by_hand() {
        let (g, x) = (path(), [1.0, 2.0, 3.0, 5.0]);
        // d x - W x: 4 - 8; 32 - 4 - 36; 36 - 24; and the shift.
        assert_eq!(
            product(&Combinatorial::new(&g, 0.5), &x),
            [-4.0 + 0.5, -8.0 + 1.0, 12.0 + 1.5, 2.5]
        );
        // x_0 - 4 x_1/√(4·16) = 1 - 1; x_1 - 4/8 - 12·3/√(16·12); x_2 - 12·2/√(12·16).
        let s = 12.0 / (16.0f64 * 12.0).sqrt();
        let normalised = product(&Normalized::new(&g, 0.0), &x);
        for (got, want) in normalised
            .iter()
            .zip([0.0, 2.0 - 0.5 - 3.0 * s, 3.0 - 2.0 * s, 0.0])
        {
            assert!((got - want).abs() < 1e-15);
        }
        // x_i - (W x)_i / d_i: 1 - 2; 2 - 40/16; 3 - 2.
        assert_eq!(
            product(&RandomWalk::new(&g, 0.0), &x),
            [-1.0, -0.5, 1.0, 0.0]
        );
    }

    #[test]
    fn a_block_holds_the_bits_of_its_columns() {
        let g = path();
        let operator = Combinatorial::new(&g, 0.1);
        let columns: Vec<[f64; 4]> = (0..8)
            .map(|c| [0.1, 0.2, 0.3, 0.4].map(|v| v * f64::from(c + 1)))
            .collect();
        let block: Vec<f64> = (0..4)
            .flat_map(|i| columns.iter().map(move |column| column[i]))
            .collect();
        let mut together = [f64::NAN; 32];
        operator.product::<8>(0, &block, &mut together);
        for (c, column) in columns.iter().enumerate() {
            for (row, alone) in product(&operator, column).into_iter().enumerate() {
                assert_eq!(together[row * 8 + c].to_bits(), alone.to_bits());
            }
        }
    }
}
