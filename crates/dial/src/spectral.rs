//! Eigenpairs of a graph Laplacian: the smooth functions on the graph.

use crate::ids::NodeId;

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
    /// Number of pairs.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// The entries of all vectors at a node.
    pub fn at(&self, node: NodeId) -> &[f64] {
        &self.vectors[node.index() * self.count()..][..self.count()]
    }
}
