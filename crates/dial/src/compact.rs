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
//! Rounding a weight to f32 changes it by at most 2⁻²⁴ of itself; what that does to a column of the propagation is part
//! of the bound of `certified`.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::ids::NodeId;
use crate::order::Ordered;

/// A shared array that is only read: a vector, or part of a mapped file.
pub struct Slab<T>(Arc<dyn AsRef<[T]> + Send + Sync>);

impl<T> Slab<T> {
    /// Shares whatever gives a slice. It must always give the same one.
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
pub struct CompactGraph {
    parts: Parts,
}

impl CompactGraph {
    /// The compact form of a graph.
    pub fn new(graph: &Graph) -> CompactGraph {
        let Ordered { graph, order, rank } = Ordered::new(graph);
        let (starts, neighbours, weights) = graph.csr();
        let weights: Vec<f32> = weights.iter().map(|&w| w as f32).collect();
        let row_sum = |row: usize| weights[starts[row]..starts[row + 1]].iter().fold(0.0, |sum, &w| sum + f64::from(w));
        let degrees: Vec<f64> = (0..graph.n()).map(row_sum).collect();
        let component: Vec<u32> = (0..graph.n() as u32).map(|i| graph.component(NodeId(i)) as u32).collect();
        let parts = Parts {
            starts: starts.iter().map(|&s| s as u64).collect::<Vec<_>>().into(),
            neighbours: neighbours.to_vec().into(),
            weights: weights.into(),
            degrees: degrees.into(),
            order: order.iter().map(|node| node.0).collect::<Vec<_>>().into(),
            rank: rank.into(),
            component: component.into(),
            component_sizes: graph.component_sizes().iter().map(|&s| s as u64).collect::<Vec<_>>().into(),
        };
        CompactGraph { parts }
    }

    /// A graph from its arrays, which are trusted: whoever reads them from a file checks them.
    ///
    /// # Errors
    /// Lengths that do not fit together.
    pub fn from_parts(parts: Parts) -> Result<CompactGraph> {
        let n = parts.order.len();
        let entries = parts.starts.last().copied().unwrap_or(0) as usize;
        let by_place = [parts.degrees.len(), parts.rank.len(), parts.component.len()];
        let fits = parts.starts.len() == n + 1
            && by_place.iter().all(|&len| len == n)
            && parts.neighbours.len() == entries
            && parts.weights.len() == entries;
        if fits {
            Ok(CompactGraph { parts })
        } else {
            Err(Error::Shape("the arrays of this graph do not fit together".into()))
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
}
