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
use crate::ids::NodeId;

/// A linear operator on vectors over the nodes.
pub trait LinearOperator: Sync {
    /// Number of nodes.
    fn n(&self) -> usize;

    /// The diagonal entry of a row.
    fn diagonal(&self, row: usize) -> f64;

    /// Row `row` of the product with a block of W vectors (interleaved, see [`crate::columns`]).
    fn row_product<const W: usize>(&self, row: usize, x: &[f64]) -> [f64; W];
}

/// L + shift I.
#[derive(Clone, Copy, Debug)]
pub struct Combinatorial<'a> {
    graph: &'a Graph,
    shift: f64,
}

impl<'a> Combinatorial<'a> {
    /// The combinatorial Laplacian plus `shift` times the identity.
    pub fn new(graph: &'a Graph, shift: f64) -> Self {
        Combinatorial { graph, shift }
    }
}

impl LinearOperator for Combinatorial<'_> {
    fn n(&self) -> usize {
        self.graph.n()
    }

    #[inline]
    fn diagonal(&self, row: usize) -> f64 {
        self.graph.degrees()[row] + self.shift
    }

    #[inline]
    fn row_product<const W: usize>(&self, row: usize, x: &[f64]) -> [f64; W] {
        let sums = weighted_sum::<W>(self.graph, row, x, |_| 1.0);
        let diagonal = self.diagonal(row);
        std::array::from_fn(|c| diagonal * x[row * W + c] - sums[c])
    }
}

/// L_s + shift I.
#[derive(Clone, Debug)]
pub struct Normalized<'a> {
    graph: &'a Graph,
    /// 1/√d, or 0 for isolated nodes.
    root: Vec<f64>,
    shift: f64,
}

impl<'a> Normalized<'a> {
    /// The symmetric normalised Laplacian plus `shift` times the identity.
    pub fn new(graph: &'a Graph, shift: f64) -> Self {
        let root = graph.degrees().iter().map(|&d| if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 }).collect();
        Normalized { graph, root, shift }
    }
}

impl LinearOperator for Normalized<'_> {
    fn n(&self) -> usize {
        self.graph.n()
    }

    #[inline]
    fn diagonal(&self, row: usize) -> f64 {
        self.shift + if self.root[row] > 0.0 { 1.0 } else { 0.0 }
    }

    #[inline]
    fn row_product<const W: usize>(&self, row: usize, x: &[f64]) -> [f64; W] {
        let sums = weighted_sum::<W>(self.graph, row, x, |j| self.root[j]);
        let diagonal = self.diagonal(row);
        std::array::from_fn(|c| diagonal * x[row * W + c] - self.root[row] * sums[c])
    }
}

/// L_r + shift I. Not symmetric: not for conjugate gradients.
#[derive(Clone, Copy, Debug)]
pub struct RandomWalk<'a> {
    graph: &'a Graph,
    shift: f64,
}

impl<'a> RandomWalk<'a> {
    /// The random-walk Laplacian plus `shift` times the identity.
    pub fn new(graph: &'a Graph, shift: f64) -> Self {
        RandomWalk { graph, shift }
    }
}

impl LinearOperator for RandomWalk<'_> {
    fn n(&self) -> usize {
        self.graph.n()
    }

    #[inline]
    fn diagonal(&self, row: usize) -> f64 {
        self.shift + if self.graph.degrees()[row] > 0.0 { 1.0 } else { 0.0 }
    }

    #[inline]
    fn row_product<const W: usize>(&self, row: usize, x: &[f64]) -> [f64; W] {
        let sums = weighted_sum::<W>(self.graph, row, x, |_| 1.0);
        let (diagonal, degree) = (self.diagonal(row), self.graph.degrees()[row]);
        std::array::from_fn(|c| diagonal * x[row * W + c] - if degree > 0.0 { sums[c] / degree } else { 0.0 })
    }
}

/// Σ_j w_ij s_j x_j over the neighbours of a row. Neighbours in even and in odd places are summed apart and added at the
/// end, for every W alike: half the waiting for additions, and still one fixed order.
#[inline(always)]
fn weighted_sum<const W: usize>(graph: &Graph, row: usize, x: &[f64], scale: impl Fn(usize) -> f64) -> [f64; W] {
    let (neighbours, weights) = graph.row(NodeId(row as u32));
    let (mut even, mut odd) = ([0.0; W], [0.0; W]);
    let add = |sums: &mut [f64; W], j: u32, w: f64| {
        let j = j as usize;
        let (w, values) = (w * scale(j), &x[j * W..(j + 1) * W]);
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += w * value;
        }
    };
    let (pairs, weight_pairs) = (neighbours.chunks_exact(2), weights.chunks_exact(2));
    let last = pairs.remainder().first().zip(weight_pairs.remainder().first());
    for (j, w) in pairs.zip(weight_pairs) {
        add(&mut even, j[0], w[0]);
        add(&mut odd, j[1], w[1]);
    }
    if let Some((&j, &w)) = last {
        add(&mut even, j, w);
    }
    std::array::from_fn(|c| even[c] + odd[c])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(operator: &impl LinearOperator, x: &[f64]) -> Vec<f64> {
        (0..operator.n()).map(|row| operator.row_product::<1>(row, x)[0]).collect()
    }

    /// A path 0 - 1 - 2 with weights 4 and 12, and an isolated node 3: degrees 4, 16, 12, 0.
    fn path() -> Graph {
        Graph::from_edges(4, &[(0, 1, 4.0), (1, 2, 12.0)]).unwrap()
    }

    #[test]
    fn a_path_by_hand() {
        let (g, x) = (path(), [1.0, 2.0, 3.0, 5.0]);
        // d x - W x: 4 - 8; 32 - 4 - 36; 36 - 24; and the shift.
        assert_eq!(product(&Combinatorial::new(&g, 0.5), &x), [-4.0 + 0.5, -8.0 + 1.0, 12.0 + 1.5, 2.5]);
        // x_0 - 4 x_1/√(4·16) = 1 - 1; x_1 - 4/8 - 12·3/√(16·12); x_2 - 12·2/√(12·16).
        let s = 12.0 / (16.0f64 * 12.0).sqrt();
        let normalised = product(&Normalized::new(&g, 0.0), &x);
        for (got, want) in normalised.iter().zip([0.0, 2.0 - 0.5 - 3.0 * s, 3.0 - 2.0 * s, 0.0]) {
            assert!((got - want).abs() < 1e-15);
        }
        // x_i - (W x)_i / d_i: 1 - 2; 2 - 40/16; 3 - 2.
        assert_eq!(product(&RandomWalk::new(&g, 0.0), &x), [-1.0, -0.5, 1.0, 0.0]);
    }

    #[test]
    fn a_block_holds_the_bits_of_its_columns() {
        let g = path();
        let operator = Combinatorial::new(&g, 0.1);
        let columns: Vec<[f64; 4]> = (0..8).map(|c| [0.1, 0.2, 0.3, 0.4].map(|v| v * f64::from(c + 1))).collect();
        let block: Vec<f64> = (0..4).flat_map(|i| columns.iter().map(move |column| column[i])).collect();
        for row in 0..4 {
            let together = operator.row_product::<8>(row, &block);
            for (c, column) in columns.iter().enumerate() {
                assert_eq!(together[c].to_bits(), operator.row_product::<1>(row, column)[0].to_bits());
            }
        }
    }
}
