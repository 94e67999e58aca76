//! The compact graph: for large pools and for certified precision.
//!
//! The same W as in `graph`, kept once and small: nodes in an order that is good for the cache (their *places*), weights
//! in f32, arrays that may live in memory or in a mapped file. 8 bytes an entry and 28 bytes a node.
//!
//! ```text
//! places   order[place] = node,  rank[node] = place;  rows, columns, degrees and components are by place
//! weights  ŵ_ij = f32(w_ij), ŵ_ij = ŵ_ji;   degrees  d_i = Σ_j ŵ_ij, summed in f64, so rows of L̂ sum to 0
//! ```
//!
//! Rounding a weight to f32 changes it by at most 2⁻²⁴ of itself; for graphs of weights that were not rounded before, what
//! that does to a column of the propagation is part of the bound of `local`. A weight below the smallest normal f32
//! (1.2e-38, only far out under the Gaussian kernel) cannot guarantee that and is not an edge.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use rayon::prelude::*;

use crate::blocks::NODES_PER_CHUNK;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::adjacency::{Adjacency, GraphRows, components};
use crate::graph::ordering::{Ordered, ranks};
use crate::ids::NodeId;

/// A shared array that is only read: a vector, or part of a mapped file.
pub struct Slab<T>(Arc<dyn AsRef<[T]> + Send + Sync>);

impl<T> Slab<T> {
    /// Shares any value that gives a slice, which must always be the same slice.
    pub fn new(values: impl AsRef<[T]> + Send + Sync + 'static) -> Slab<T> {
        Slab(Arc::new(values))
    }
}

impl<T: Send + Sync + 'static> From<Vec<T>> for Slab<T> {
    fn from(values: Vec<T>) -> Slab<T> {
        Slab::new(values)
    }
}

impl<T> Clone for Slab<T> {
    fn clone(&self) -> Slab<T> {
        Slab(Arc::clone(&self.0))
    }
}

impl<T> Deref for Slab<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        (*self.0).as_ref()
    }
}

impl<T> fmt::Debug for Slab<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{} values]", self.len())
    }
}

/// The arrays of a compact graph.
#[derive(Clone, Debug)]
pub struct Parts {
    /// n + 1 row starts.
    pub starts: Slab<u64>,
    /// The neighbours of every place, as places, ascending in each row.
    pub neighbours: Slab<u32>,
    /// Their weights.
    pub weights: Slab<f32>,
    /// The sums of the weights of every row.
    pub degrees: Slab<f64>,
    /// The node at every place.
    pub order: Slab<u32>,
    /// The place of every node.
    pub rank: Slab<u32>,
    /// The component of every place.
    pub component: Slab<u32>,
    /// The sizes of the components.
    pub component_sizes: Slab<u64>,
}

/// A symmetric weighted graph without loops, small and in a good order.
#[derive(Clone, Debug)]
pub struct PackedGraph {
    parts: Parts,
}

impl PackedGraph {
    /// The compact form of a graph.
    pub fn new(graph: &Graph) -> PackedGraph {
        let Ordered { graph, order, .. } = Ordered::new(graph);
        let order = order.iter().map(|node| node.0).collect();
        let (mut starts, mut neighbours, mut weights) = (vec![0], Vec::new(), Vec::new());
        for place in (0..graph.n() as u32).map(NodeId) {
            let (row, exact) = graph.row(place);
            let kept = row
                .iter()
                .zip(exact)
                .map(|(&to, &weight)| (to, weight as f32))
                .filter(|&(_, w)| is_edge(w));
            kept.for_each(|(to, weight)| {
                neighbours.push(to);
                weights.push(weight);
            });
            starts.push(weights.len() as u64);
        }
        PackedGraph::seal(order, starts, neighbours, weights)
    }

    /// Takes stock of degrees and components of rows that are in order and symmetric.
    pub(crate) fn seal(
        order: Vec<u32>,
        starts: Vec<u64>,
        neighbours: Vec<u32>,
        weights: Vec<f32>,
    ) -> PackedGraph {
        let rank = ranks(order.iter().copied());
        let degrees: Vec<f64> = starts
            .par_windows(2)
            .with_min_len(NODES_PER_CHUNK)
            .map(|ends| row_sum(&weights, ends))
            .collect();
        let (component, sizes) = components(&starts, &neighbours);
        let sizes: Vec<u64> = sizes.into_iter().map(|size| size as u64).collect();
        let parts = Parts {
            starts: starts.into(),
            neighbours: neighbours.into(),
            weights: weights.into(),
            degrees: degrees.into(),
            order: order.into(),
            rank: rank.into(),
            component: component.into(),
            component_sizes: sizes.into(),
        };
        PackedGraph { parts }
    }

    /// A graph from its arrays, wherever they come from. That they fit together and that none leads outside another is
    /// checked, so that no bytes can make a later look-up fail; [`PackedGraph::verify`] checks what they mean.
    ///
    /// # Errors
    /// Arrays that do not (I13).
    pub fn from_parts(parts: Parts) -> Result<PackedGraph> {
        let (n, entries) = (parts.order.len(), parts.neighbours.len());
        let by_place = [parts.degrees.len(), parts.rank.len(), parts.component.len()];
        let fits = parts.starts.len() == n + 1
            && by_place.iter().all(|&len| len == n)
            && parts.weights.len() == entries
            && parts.starts[0] == 0
            && parts.starts[n] == entries as u64
            && parts
                .starts
                .par_windows(2)
                .with_min_len(NODES_PER_CHUNK)
                .all(|ends| ends[0] <= ends[1]);
        let inside = [
            (&parts.neighbours, n),
            (&parts.order, n),
            (&parts.rank, n),
            (&parts.component, parts.component_sizes.len()),
        ];
        match fits
            && inside
                .iter()
                .all(|(indices, bound)| all_below(indices, *bound))
        {
            true => Ok(PackedGraph { parts }),
            false => Err(Error::BadGraph("its arrays do not fit together".into())),
        }
    }

    /// Number of nodes.
    pub fn n(&self) -> usize {
        self.parts.order.len()
    }

    /// Number of stored entries: twice the number of edges.
    pub fn entries(&self) -> usize {
        self.parts.weights.len()
    }

    /// The arrays.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The place of a node.
    pub fn place(&self, node: NodeId) -> usize {
        self.parts.rank[node.index()] as usize
    }

    /// The node at a place.
    pub fn node(&self, place: usize) -> NodeId {
        NodeId(self.parts.order[place])
    }

    /// The mean weighted degree.
    pub fn mean_degree(&self) -> f64 {
        self.parts.degrees.iter().sum::<f64>() / self.n() as f64
    }

    /// The neighbours of a place, as places in ascending order, with their weights.
    pub fn row(&self, place: usize) -> (&[u32], &[f32]) {
        self.rows().row(place)
    }

    /// Whether two nodes are joined by an edge.
    pub fn adjacent(&self, a: NodeId, b: NodeId) -> bool {
        self.rows().adjacent(self.place(a), self.place(b))
    }

    /// The component of a place, numbered by smallest place.
    pub fn component(&self, place: usize) -> usize {
        self.parts.component[place] as usize
    }

    /// The sizes of the components.
    pub fn component_sizes(&self) -> &[u64] {
        &self.parts.component_sizes
    }
}

impl Adjacency for PackedGraph {
    type Count = u64;
    type Weight = f32;

    fn rows(&self) -> GraphRows<'_, u64, f32> {
        GraphRows {
            starts: &self.parts.starts,
            neighbours: &self.parts.neighbours,
            weights: &self.parts.weights,
            degrees: &self.parts.degrees,
            component: &self.parts.component,
            component_sizes: &self.parts.component_sizes,
        }
    }
}

/// Whether a weight is large enough for an edge.
pub(crate) fn is_edge(weight: f32) -> bool {
    weight >= f32::MIN_POSITIVE
}

/// Whether all indices are below a bound.
fn all_below(indices: &[u32], bound: usize) -> bool {
    let largest = |some: &[u32]| some.iter().fold(0, |largest, &index| largest.max(index)) as usize;
    indices
        .par_chunks(64 * NODES_PER_CHUNK)
        .all(|some| largest(some) < bound)
}

/// The sum of a row, in the order of its entries.
pub(crate) fn row_sum(weights: &[f32], ends: &[u64]) -> f64 {
    weights[ends[0] as usize..ends[1] as usize]
        .iter()
        .fold(0.0, |sum, &weight| sum + f64::from(weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_graph_by_hand_and_back() {
        // The path 2 - 0 - 1 and the single node 3; 0.1 is no f32.
        let graph = Graph::from_edges(4, &[(2, 0, 0.5), (0, 1, 0.1)]).unwrap();
        let compact = PackedGraph::new(&graph);
        assert_eq!(
            (
                compact.n(),
                compact.entries(),
                compact.component_sizes().len()
            ),
            (4, 4, 2)
        );
        let middle = compact.place(NodeId(0));
        assert_eq!(compact.parts().degrees[middle], 0.5 + f64::from(0.1f32));
        assert_eq!(compact.row(middle).0.len(), 2);
        assert!(compact.adjacent(NodeId(1), NodeId(0)) && !compact.adjacent(NodeId(1), NodeId(2)));
        assert_ne!(
            compact.component(middle),
            compact.component(compact.place(NodeId(3)))
        );
        let back = Graph::from_edges(4, &[(2, 0, 0.5), (0, 1, f64::from(0.1f32))]).unwrap();
        assert_eq!(compact.to_graph(), back);
    }

    #[test]
    fn weights_beyond_f32_are_no_edges() {
        let graph = Graph::from_edges(3, &[(0, 1, 1.0), (1, 2, 1e-39)]).unwrap();
        let compact = PackedGraph::new(&graph);
        assert_eq!(
            (
                compact.entries(),
                &compact.component_sizes().iter().sum::<u64>()
            ),
            (2, &3)
        );
        assert_eq!(compact.component_sizes().len(), 2);
    }
}
