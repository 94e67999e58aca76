//! The similarity graph: symmetric weights in compressed rows, degrees, connected components.
//!
//! ```text
//! A_ij = weight(|x_i - x_j|²)  for the k neighbours j of i,    W = (A + Aᵀ)/2,    d_i = Σ_j W_ij
//!
//! self-tuning   A_ij = exp(-4 |x_i - x_j|² / d_k(x_i)²)      d_k(x_i): distance to the k-th neighbour (the paper's)
//! symmetric     A_ij = exp(-7 |x_i - x_j|² / d_k(x_i) d_k(x_j))    after Zelnik-Manor and Perona 2004; `auto` uses it
//! Gaussian      A_ij = exp(-4 |x_i - x_j|² / s²)             s: the mean of d_k over the nodes
//! uniform       A_ij = 1
//! ```
//!
//! Edge weights are f32 by definition: W is rounded once, after A and Aᵀ are added, and computed with in f64 from then on. So
//! a graph that is built, one that is saved and opened, and one in compact form are the same graph, and ask the same.
//!
//! Symmetric weights ask both ends: an outlier, whose own d_k is large, is not drawn to a dense cluster as if it belonged
//! there, and labels leak less from cluster to cluster; 7 instead of 4 was measured (`docs/research.md`). Where d_k is 0 (k or more copies of the point) all k weights are
//! 1; of two ends one of which has d_k = 0, the other's counts. A weight that underflows is not an edge: a node may
//! end up isolated and is reported as such (fault N5). There are no loops: they would not change the Laplacian.

pub mod adjacency;
pub mod ordering;
pub mod packed;
pub mod build;
pub(crate) mod verify;
pub mod layout;
pub mod laplacian;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::graph::adjacency::{Adjacency, Count, GraphRows, Weight, components};
use crate::ids::NodeId;
use crate::words::words;

/// How a distance becomes a similarity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeWeights {
    /// Width from each node's own k-th neighbour.
    #[default]
    SelfTuning,
    /// Width from the k-th neighbours of both ends.
    Symmetric,
    /// One width for all nodes.
    Gaussian,
    /// Every neighbour counts the same.
    Uniform,
}

words!(EdgeWeights, "weights", {
    SelfTuning => "self-tuning",
    Symmetric => "symmetric",
    Gaussian => "gaussian",
    Uniform => "uniform",
});

/// A symmetric weighted graph without loops.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    starts: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Vec<f64>,
    degrees: Vec<f64>,
    component: Vec<u32>,
    component_sizes: Vec<usize>,
}

impl Graph {
    /// A graph from undirected edges (i, j, weight), each given once.
    ///
    /// # Errors
    /// Weights that are not finite and positive, loops and node ids out of range.
    pub fn from_edges(n: usize, edges: &[(u32, u32, f64)]) -> Result<Graph> {
        for &(i, j, weight) in edges {
            let inside = (i as usize) < n && (j as usize) < n && i != j;
            if !(inside && weight.is_finite() && weight > 0.0) {
                let edge =
                    format!("the edge {i}-{j} of weight {weight} is not possible among {n} nodes");
                return Err(Error::Shape(edge));
            }
        }
        Ok(Graph::symmetric(n, edges))
    }

    /// A graph from compressed rows, each entry given in both directions. The diagonal and weights of 0
    /// are left out.
    ///
    /// # Errors
    /// Arrays that do not fit together, weights that are not at least 0 and finite as f32, a matrix that
    /// is not symmetric (I13).
    pub fn from_csr(starts: &[usize], columns: &[u32], weights: &[f64]) -> Result<Graph> {
        let n = starts.len().saturating_sub(1);
        let bad = |what: String| Err(Error::BadGraph(what));
        let ordered = starts.windows(2).all(|ends| ends[0] <= ends[1]);
        let inside = columns.iter().all(|&column| (column as usize) < n);
        let entries = (Some(&0), Some(&columns.len()), columns.len());
        if !ordered || !inside || (starts.first(), starts.last(), weights.len()) != entries {
            return bad("its rows, columns and weights do not fit together".into());
        }
        let mut slots = Vec::with_capacity(columns.len());
        let mut kept = vec![0];
        for row in 0..n {
            for slot in starts[row]..starts[row + 1] {
                let (column, weight) = (columns[slot], weights[slot]);
                // An edge has its weight as f32.
                if !((weight as f32).is_finite() && weight >= 0.0) {
                    return bad(format!(
                        "the weight {weight} between {row} and {column} is not possible"
                    ));
                }
                if column as usize != row && weight > 0.0 {
                    slots.push((column, weight));
                }
            }
            kept.push(slots.len());
        }
        let graph = Graph::from_slots(n, &kept, slots);
        let rows = graph.rows();
        match (0..n).find(|&row| !rows.is_symmetric_at(row)) {
            Some(row) => bad(format!("it is not symmetric at row {row}")),
            None => Ok(graph),
        }
    }

    /// W = E + Eᵀ for directed entries E, each pair added once per direction; zero weights are dropped.
    fn symmetric(n: usize, entries: &[(u32, u32, f64)]) -> Graph {
        let mut starts = vec![0usize; n + 1];
        for &(i, j, _) in entries {
            starts[i as usize + 1] += 1;
            starts[j as usize + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut slots = vec![(0u32, 0.0f64); 2 * entries.len()];
        for &(i, j, weight) in entries {
            for (from, to) in [(i, j), (j, i)] {
                slots[next[from as usize]] = (to, weight);
                next[from as usize] += 1;
            }
        }
        Graph::from_slots(n, &starts, slots)
    }

    /// Sorts each row, adds what stands twice, and takes stock of degrees and components.
    pub(crate) fn from_slots(n: usize, starts: &[usize], mut slots: Vec<(u32, f64)>) -> Graph {
        let mut graph = Graph {
            starts: Vec::with_capacity(n + 1),
            neighbours: Vec::with_capacity(slots.len()),
            weights: Vec::with_capacity(slots.len()),
            degrees: Vec::with_capacity(n),
            component: Vec::new(),
            component_sizes: Vec::new(),
        };
        graph.starts.push(0);
        for row in 0..n {
            let slots = &mut slots[starts[row]..starts[row + 1]];
            // At most two entries stand for a pair, so their sum does not depend on their order.
            slots.sort_unstable_by_key(|&(to, _)| to);
            for pair in slots.chunk_by(|a, b| a.0 == b.0) {
                let weight: f64 = pair.iter().map(|&(_, weight)| weight).sum();
                if weight > 0.0 {
                    graph.neighbours.push(pair[0].0);
                    graph.weights.push(weight);
                }
            }
            let row = *graph.starts.last().expect("one start was pushed")..graph.weights.len();
            graph.degrees.push(
                graph.weights[row]
                    .iter()
                    .fold(0.0, |sum, weight| sum + weight),
            );
            graph.starts.push(graph.weights.len());
        }
        (graph.component, graph.component_sizes) = components(&graph.starts, &graph.neighbours);
        graph
    }

    /// A copy of rows that are by node already.
    pub(crate) fn from_rows<C: Count, F: Weight>(rows: GraphRows<'_, C, F>) -> Graph {
        let counts = |counts: &[C]| counts.iter().map(|count| count.get()).collect();
        Graph {
            starts: counts(rows.starts),
            neighbours: rows.neighbours.to_vec(),
            weights: rows.weights.iter().map(|&weight| weight.into()).collect(),
            degrees: rows.degrees.to_vec(),
            component: rows.component.to_vec(),
            component_sizes: counts(rows.component_sizes),
        }
    }

    /// The same graph with its nodes renumbered: node `order[new]` becomes `new`.
    ///
    /// # Panics
    /// If the order does not name every node once.
    pub fn reordered(&self, order: &[NodeId]) -> Graph {
        assert_eq!(order.len(), self.n(), "an order names every node once");
        let mut rank = vec![u32::MAX; self.n()];
        order
            .iter()
            .zip(0..)
            .for_each(|(old, new)| rank[old.index()] = new);
        let mut starts = vec![0];
        let mut slots = Vec::with_capacity(self.entries());
        for &old in order {
            let (neighbours, weights) = self.row(old);
            slots.extend(
                neighbours
                    .iter()
                    .zip(weights)
                    .map(|(&other, &weight)| (rank[other as usize], weight)),
            );
            starts.push(slots.len());
        }
        assert!(
            rank.iter().all(|&new| new != u32::MAX),
            "an order names every node once"
        );
        Graph::from_slots(self.n(), &starts, slots)
    }

    /// Number of nodes.
    pub fn n(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of stored entries of W: twice the number of edges.
    pub fn entries(&self) -> usize {
        self.weights.len()
    }

    /// The neighbours of a node in ascending order, with their weights.
    pub fn row(&self, node: NodeId) -> (&[u32], &[f64]) {
        self.rows().row(node.index())
    }

    /// Whether two nodes are joined by an edge.
    pub fn adjacent(&self, a: NodeId, b: NodeId) -> bool {
        self.rows().adjacent(a.index(), b.index())
    }

    /// The weighted degrees.
    pub fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// The component of a node, numbered by smallest node.
    pub fn component(&self, node: NodeId) -> usize {
        self.component[node.index()] as usize
    }

    /// The sizes of the components.
    pub fn component_sizes(&self) -> &[usize] {
        &self.component_sizes
    }

    /// The compressed rows as plain arrays: row starts, column numbers, weights.
    pub fn csr(&self) -> (&[usize], &[u32], &[f64]) {
        (&self.starts, &self.neighbours, &self.weights)
    }
}

impl Adjacency for Graph {
    type Count = usize;
    type Weight = f64;

    fn rows(&self) -> GraphRows<'_, usize, f64> {
        GraphRows {
            starts: &self.starts,
            neighbours: &self.neighbours,
            weights: &self.weights,
            degrees: &self.degrees,
            component: &self.component,
            component_sizes: &self.component_sizes,
        }
    }
}

/// How the distances of a search become entries of A/2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weighing {
    weights: EdgeWeights,
    /// s² of the Gaussian weights.
    squared_width: f64,
}

impl Weighing {
    /// For n nodes, given the squared distance of each to the last of its neighbours, if it has any.
    pub(crate) fn new(
        weights: EdgeWeights,
        n: usize,
        reach: impl Fn(NodeId) -> Option<f64>,
    ) -> Weighing {
        let width = match weights {
            EdgeWeights::Gaussian => mean_reach(n, reach),
            EdgeWeights::SelfTuning | EdgeWeights::Symmetric | EdgeWeights::Uniform => 0.0,
        };
        Weighing {
            weights,
            squared_width: width * width,
        }
    }

    /// A_ij/2 from |x_i - x_j|², d_k(x_i)² and d_k(x_j)².
    pub(crate) fn half(&self, squared: f64, squared_reach: f64, other_reach: f64) -> f64 {
        0.5 * match self.weights {
            EdgeWeights::SelfTuning => gaussian(squared, squared_reach, 4.0),
            EdgeWeights::Symmetric => gaussian(squared, both(squared_reach, other_reach), 7.0),
            EdgeWeights::Gaussian => gaussian(squared, self.squared_width, 4.0),
            EdgeWeights::Uniform => 1.0,
        }
    }
}

/// d_k(x_i) d_k(x_j), or the square of the one that is not 0.
fn both(squared_reach: f64, other_reach: f64) -> f64 {
    if squared_reach == 0.0 || other_reach == 0.0 {
        return squared_reach.max(other_reach);
    }
    squared_reach.sqrt() * other_reach.sqrt()
}

/// exp(-sharpness squared/squared_width), and 1 for a width of 0.
pub(crate) fn gaussian(squared: f64, squared_width: f64, sharpness: f64) -> f64 {
    if squared_width == 0.0 {
        1.0
    } else {
        libm::exp(-sharpness * squared / squared_width)
    }
}

/// The mean distance to the k-th neighbour.
fn mean_reach(n: usize, reach: impl Fn(NodeId) -> Option<f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    for squared in (0..n as u32).filter_map(|node| reach(NodeId(node))) {
        sum += squared.sqrt();
        count += 1;
    }
    sum / count as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::control::Control;
    use crate::graph::packed::is_edge;
    use crate::knn::Neighbours;
    use crate::knn::metric_space::ZeroVectors;
    use crate::{Features, Metric};

    /// The graph of a neighbour search, pair by pair, rounded after both directions were added: what `graph::build` is
    /// compared with.
    pub(in crate::graph) fn by_edges(found: &Neighbours, weights: EdgeWeights) -> Graph {
        let reach = |node: NodeId| found.of(node).last().map(|(_, squared)| squared);
        let weighing = Weighing::new(weights, found.n(), reach);
        let far = |node| reach(node).unwrap_or(0.0);
        let mut pairs = BTreeMap::new();
        for node in (0..found.n() as u32).map(NodeId) {
            for (other, squared) in found.of(node) {
                let pair = (node.0.min(other.0), node.0.max(other.0));
                *pairs.entry(pair).or_insert(0.0) += weighing.half(squared, far(node), far(other));
            }
        }
        let edges: Vec<(u32, u32, f64)> = pairs
            .into_iter()
            .map(|((i, j), weight)| (i, j, weight as f32))
            .filter(|&(.., weight)| is_edge(weight))
            .map(|(i, j, weight)| (i, j, f64::from(weight)))
            .collect();
        Graph::from_edges(found.n(), &edges).unwrap()
    }

    fn graph(x: &[f64], k: usize, weights: EdgeWeights) -> Graph {
        let features = Features::f64(x, x.len(), 1).unwrap();
        let found = Neighbours::exact(
            features,
            k,
            Metric::Euclidean,
            ZeroVectors::Error,
            &Control::new(),
        )
        .unwrap();
        by_edges(&found, weights)
    }

    /// e to the power, as an edge has it.
    fn exp(power: f64) -> f64 {
        f64::from(libm::exp(power) as f32)
    }

    #[test]
    fn three_points_by_hand() {
        // Points 0, 1, 3 with k = 1: 0 -> 1 at distance 1, 1 -> 0 at 1, 3 -> 1 at 2. Each k-th neighbour gets e^-4.
        let g = graph(&[0.0, 1.0, 3.0], 1, EdgeWeights::SelfTuning);
        let e4 = exp(-4.0);
        assert_eq!(g.row(NodeId(0)), (&[1][..], &[e4][..]));
        assert_eq!(g.row(NodeId(1)), (&[0, 2][..], &[e4, 0.5 * e4][..]));
        assert_eq!(g.degrees(), [e4, 1.5 * e4, 0.5 * e4]);
        // Uniform: the mutual edge counts 1, the one-sided edge 1/2.
        assert_eq!(
            graph(&[0.0, 1.0, 3.0], 1, EdgeWeights::Uniform).degrees(),
            [1.0, 1.5, 0.5]
        );
        // Symmetric: d_k is 1, 1 and 2, so 3 -> 1 at squared distance 4 weighs e^(-7 · 4/2).
        let symmetric = graph(&[0.0, 1.0, 3.0], 1, EdgeWeights::Symmetric);
        assert_eq!(
            symmetric.row(NodeId(1)),
            (&[0, 2][..], &[exp(-7.0), 0.5 * exp(-14.0)][..])
        );
        // Gaussian: s = (1 + 1 + 2)/3.
        let gaussian = graph(&[0.0, 1.0, 3.0], 1, EdgeWeights::Gaussian);
        assert_eq!(gaussian.row(NodeId(0)).1, [exp(-4.0 * 9.0 / 16.0)]);
    }

    #[test]
    fn copies_weigh_one_and_everything_is_finite() {
        let g = graph(&[5.0, 5.0, 5.0, 5.0, 6.0, 7.0], 2, EdgeWeights::SelfTuning);
        assert_eq!(
            g.row(NodeId(3)).1[0],
            0.5 * 1.0,
            "node 3 counts 0 among its copies, 0 counts 1 and 2"
        );
        assert!(g.csr().2.iter().all(|w| *w > 0.0 && *w <= 1.0));
        // 6 has its neighbours 5 (a crowd of copies, d_k = 0) and 7 at distance 1: its own d_k counts for both.
        let g = graph(&[5.0, 5.0, 5.0, 5.0, 6.0, 7.0], 2, EdgeWeights::Symmetric);
        assert!(g.csr().2.iter().all(|w| *w > 0.0 && *w <= 1.0));
        assert_eq!(g.row(NodeId(4)).1[0], 0.5 * exp(-7.0));
    }

    #[test]
    fn an_outlier_whose_weights_underflow_is_isolated() {
        let mut x: Vec<f64> = (0..50).map(|i| f64::from(i) * 1e-3).collect();
        x.push(1e6);
        let g = graph(&x, 3, EdgeWeights::Gaussian);
        assert_eq!(g.row(NodeId(50)), (&[][..], &[][..]));
        assert_eq!(g.component_sizes(), [50, 1]);
    }

    #[test]
    fn components_are_numbered_by_smallest_node() {
        let g = Graph::from_edges(5, &[(0, 3, 1.0), (1, 4, 2.0)]).unwrap();
        assert_eq!(g.component_sizes(), [2, 2, 1]);
        assert_eq!(
            (0..5).map(|i| g.component(NodeId(i))).collect::<Vec<_>>(),
            [0, 1, 2, 0, 1]
        );
        assert!(g.adjacent(NodeId(4), NodeId(1)) && !g.adjacent(NodeId(0), NodeId(1)));
    }

    #[test]
    fn reordering_keeps_every_edge() {
        let g = Graph::from_edges(4, &[(0, 1, 1.0), (1, 2, 2.0), (0, 3, 3.0)]).unwrap();
        let order = [2, 0, 3, 1].map(NodeId);
        let turned = g.reordered(&order);
        for (new, &old) in order.iter().enumerate() {
            let (neighbours, weights) = turned.row(NodeId(new as u32));
            let mut back: Vec<(u32, f64)> = neighbours
                .iter()
                .map(|&j| order[j as usize].0)
                .zip(weights.iter().copied())
                .collect();
            back.sort_by_key(|&(j, _)| j);
            let (neighbours, weights) = g.row(old);
            assert_eq!(
                back,
                neighbours
                    .iter()
                    .copied()
                    .zip(weights.iter().copied())
                    .collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn compressed_rows_are_the_graph_they_hold() {
        let g = Graph::from_edges(4, &[(0, 1, 0.5), (2, 1, 0.25), (0, 3, 2.0)]).unwrap();
        let same = |starts: &[usize], columns: &[u32], weights: &[f64]| {
            let read = Graph::from_csr(starts, columns, weights).unwrap();
            assert_eq!(read.csr(), g.csr());
            assert_eq!(
                (read.degrees(), read.component_sizes()),
                (g.degrees(), g.component_sizes())
            );
        };
        let (starts, columns, weights) = g.csr();
        same(starts, columns, weights);
        // Columns in any order, loops and zeros (of either sign, and in one direction only) are nothing.
        let columns = [3, 0, 1, 2, 0, 1, 3, 2, 0];
        let weights = [2.0, 7.0, 0.5, 0.25, 0.5, 0.25, -0.0, 1.0, 2.0];
        same(&[0, 3, 5, 8, 9], &columns, &weights);
        // What stands twice is added, as SciPy does.
        let columns = [1, 3, 1, 0, 2, 1, 0];
        let weights = [0.25, 2.0, 0.25, 0.5, 0.25, 0.25, 2.0];
        same(&[0, 3, 5, 6, 7], &columns, &weights);
        // Nodes without edges are nodes.
        let alone = Graph::from_csr(&[0, 0, 0], &[], &[]).unwrap();
        assert_eq!((alone.n(), alone.component_sizes()), (2, &[1, 1][..]));
    }

    #[test]
    fn impossible_rows_are_refused() {
        let refused = |starts: &[usize], columns: &[u32], weights: &[f64]| {
            let error = Graph::from_csr(starts, columns, weights).unwrap_err();
            assert_eq!(error.code(), "I13");
            error.to_string()
        };
        let misfits: [(&[usize], &[u32], &[f64]); 7] = [
            (&[], &[], &[]),
            (&[0, 1, 2], &[1, 0], &[1.0]),
            (&[0, 1, 2], &[1], &[1.0, 1.0]),
            (&[0, 1, 3], &[1, 0], &[1.0, 1.0]),
            (&[1, 1, 2], &[1, 0], &[1.0, 1.0]),
            (&[0, 2, 1, 2], &[1, 0], &[1.0, 1.0]),
            (&[0, 1, 2], &[2, 0], &[1.0, 1.0]),
        ];
        for (starts, columns, weights) in misfits {
            let text = refused(starts, columns, weights);
            assert!(text.contains("do not fit together"), "{starts:?}: {text}");
        }
        // 1e39 is finite, but no f32.
        for weight in [f64::NAN, f64::INFINITY, -1.0, 1e39] {
            let text = refused(&[0, 1, 2], &[1, 0], &[weight, weight]);
            assert!(text.contains("between 0 and 1 is not possible"), "{text}");
        }
        // A loop is left out, not looked over.
        let text = refused(&[0, 1], &[0], &[f64::NAN]);
        assert!(text.contains("between 0 and 0"), "{text}");
        for (columns, weights) in [
            (&[1, 0][..], &[1.0, 2.0][..]),
            (&[1, 1], &[1.0, 1.0]),
            (&[1, 0], &[1.0, 0.0]),
        ] {
            let text = refused(&[0, 1, 2], columns, weights);
            assert!(text.contains("not symmetric at row 0"), "{text}");
        }
    }

    #[test]
    fn impossible_edges_are_refused() {
        for edge in [
            (0, 0, 1.0),
            (0, 2, 1.0),
            (0, 1, 0.0),
            (0, 1, -1.0),
            (0, 1, f64::NAN),
            (0, 1, f64::INFINITY),
        ] {
            assert!(Graph::from_edges(2, &[edge]).is_err(), "{edge:?}");
        }
    }
}
