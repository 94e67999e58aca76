//! An order of the nodes in which neighbours are near each other, so that products read memory that is in the cache.
//!
//! Reverse Cuthill-McKee: breadth-first from a node of smallest degree, the neighbours of each node by degree, the whole
//! reversed. On the 70,000-node graph of the MNIST codes a sparse product took 2.0 ms in such an order (SciPy's) and 2.8 ms
//! in the order of the file (one core, medians of 40, same run); with ours, a whole step took 116 ms of CPU instead of 169.

use crate::graph::Graph;
use crate::graph::adjacency::{Adjacency, Count, GraphRows, Weight};
use crate::ids::NodeId;

/// A graph in an order that is good to multiply in.
#[derive(Clone, Debug)]
pub struct Ordered {
    /// The graph, its nodes in the new order.
    pub graph: Graph,
    /// The node at every place.
    pub order: Vec<NodeId>,
    /// The place of every node.
    pub rank: Vec<u32>,
}

impl Ordered {
    /// Puts the nodes in order.
    pub fn new(graph: &Graph) -> Ordered {
        let order = reverse_cuthill_mckee(&graph.rows());
        Ordered {
            graph: graph.reordered(&order),
            rank: ranks(order.iter().map(|node| node.0)),
            order,
        }
    }

    /// The place of a node.
    pub fn place(&self, node: usize) -> usize {
        self.rank[node] as usize
    }

    /// The places of all nodes, in the order of the nodes.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.rank.iter().map(|&place| place as usize)
    }

    /// The values of nodes, put in their places.
    pub fn placed(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        self.order.iter().map(|node| value(node.index())).collect()
    }
}

/// The place of every node, `order[place] = node` naming every node once.
pub(crate) fn ranks(order: impl ExactSizeIterator<Item = u32>) -> Vec<u32> {
    let mut rank = vec![0; order.len()];
    for (node, place) in order.zip(0..) {
        rank[node as usize] = place;
    }
    rank
}

/// The rows of a graph in their new order, `order[new] = old`.
pub(crate) fn reverse_cuthill_mckee<C: Count, F: Weight>(
    rows: &GraphRows<'_, C, F>,
) -> Vec<NodeId> {
    let n = rows.n();
    let degree = |node: u32| rows.slots(node as usize).len();
    let mut roots: Vec<u32> = (0..n as u32).collect();
    roots.sort_by_key(|&node| (degree(node), node));
    let (mut seen, mut order) = (vec![false; n], Vec::with_capacity(n));
    for root in roots {
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        let mut next = order.len();
        order.push(NodeId(root));
        while next < order.len() {
            let start = order.len();
            for &other in rows.row(order[next].index()).0 {
                if !std::mem::replace(&mut seen[other as usize], true) {
                    order.push(NodeId(other));
                }
            }
            order[start..].sort_by_key(|&node| (degree(node.0), node));
            next += 1;
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffled_path_comes_out_in_line() {
        // 4 - 0 - 3 - 1 - 2, and the single node 5.
        let path =
            Graph::from_edges(6, &[(4, 0, 1.0), (0, 3, 1.0), (3, 1, 1.0), (1, 2, 1.0)]).unwrap();
        assert_eq!(
            reverse_cuthill_mckee(&path.rows()),
            [4, 0, 3, 1, 2, 5].map(NodeId)
        );
    }
}
