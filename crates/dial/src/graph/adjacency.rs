//! A symmetric weighted graph without loops, by rows: all that operators, solvers, pushes and checks have to know of one.
//!
//! ```text
//! row i: the neighbours j in ascending order with w_ij = w_ji > 0;    d_i = Σ_j w_ij in that order
//! ```
//!
//! Two storages hold the same W: [`crate::Graph`], by node and in f64, and [`crate::graph::packed::PackedGraph`], by place and in f32, which is also
//! what a file is mapped as. A weight is widened to f64 before anything is computed with it, so that the bits of a result depend
//! on the order of the rows and not on how a weight was kept.

use std::fmt::Debug;
use std::ops::Range;

/// A graph that can be read row by row.
pub trait Adjacency: Send + Sync {
    /// How it keeps numbers of entries and of nodes.
    type Count: Count;
    /// How it keeps a weight.
    type Weight: Weight;

    /// Its rows, to be looked up once and read many times.
    fn rows(&self) -> GraphRows<'_, Self::Count, Self::Weight>;
}

/// A number of entries or of nodes.
pub trait Count: Copy + Debug + Send + Sync {
    /// The number.
    fn get(self) -> usize;
}

impl Count for usize {
    #[inline]
    fn get(self) -> usize {
        self
    }
}

impl Count for u64 {
    #[inline]
    fn get(self) -> usize {
        self as usize
    }
}

/// The weight of an edge.
pub trait Weight: Copy + Debug + PartialEq + Into<f64> + Send + Sync {}

impl<F: Copy + Debug + PartialEq + Into<f64> + Send + Sync> Weight for F {}

/// The arrays of a graph, wherever they lie.
#[derive(Clone, Copy, Debug)]
pub struct GraphRows<'a, C, F> {
    /// Row starts, one more than there are rows.
    pub starts: &'a [C],
    /// The neighbours of every row, ascending in each.
    pub neighbours: &'a [u32],
    /// Their weights.
    pub weights: &'a [F],
    /// The sums of the weights of every row.
    pub degrees: &'a [f64],
    /// The component of every row, numbered by smallest row.
    pub component: &'a [u32],
    /// The sizes of the components.
    pub component_sizes: &'a [C],
}

impl<'a, C: Count, F: Weight> GraphRows<'a, C, F> {
    /// Number of rows.
    pub fn n(&self) -> usize {
        self.degrees.len()
    }

    /// Where the entries of a row are.
    #[inline]
    pub fn slots(&self, row: usize) -> Range<usize> {
        self.starts[row].get()..self.starts[row + 1].get()
    }

    /// The neighbours of a row with their weights.
    #[inline]
    pub fn row(&self, row: usize) -> (&'a [u32], &'a [F]) {
        let slots = self.slots(row);
        (&self.neighbours[slots.clone()], &self.weights[slots])
    }

    /// The neighbours of a row with their weights in f64.
    #[inline]
    pub fn entries(&self, row: usize) -> impl ExactSizeIterator<Item = (u32, f64)> + use<'a, C, F> {
        let (neighbours, weights) = self.row(row);
        neighbours
            .iter()
            .copied()
            .zip(weights.iter().map(|&weight| weight.into()))
    }

    /// Whether two rows are joined by an edge.
    pub fn adjacent(&self, a: usize, b: usize) -> bool {
        self.row(a).0.binary_search(&(b as u32)).is_ok()
    }

    /// Whether every entry of a row stands in the other direction too, with the same weight.
    pub fn is_symmetric_at(&self, row: usize) -> bool {
        let (neighbours, weights) = self.row(row);
        neighbours.iter().zip(weights).all(|(&other, weight)| {
            let (back, there) = self.row(other as usize);
            let slot = back.binary_search(&(row as u32));
            slot.is_ok_and(|slot| there[slot] == *weight)
        })
    }

    /// The component of a row.
    #[inline]
    pub fn component(&self, row: usize) -> usize {
        self.component[row] as usize
    }

    /// How many rows the component of a row has.
    pub fn component_size(&self, row: usize) -> usize {
        self.component_sizes[self.component(row)].get()
    }

    /// Whether all rows are in one component.
    pub fn is_connected(&self) -> bool {
        self.component_sizes.len() == 1
    }

    /// The mean of values, one for each row, over each component.
    pub(crate) fn means(&self, values: &[f64]) -> Vec<f64> {
        let mut means = vec![0.0; self.component_sizes.len()];
        for (row, value) in values.iter().enumerate() {
            means[self.component(row)] += value;
        }
        for (mean, size) in means.iter_mut().zip(self.component_sizes) {
            *mean /= size.get() as f64;
        }
        means
    }
}

/// The component of every row, numbered by smallest row, and their sizes.
pub(crate) fn components<C: Count>(starts: &[C], neighbours: &[u32]) -> (Vec<u32>, Vec<usize>) {
    let n = starts.len() - 1;
    let (mut component, mut sizes, mut stack) = (vec![u32::MAX; n], Vec::new(), Vec::new());
    for root in 0..n {
        if component[root] != u32::MAX {
            continue;
        }
        let (number, mut size) = (sizes.len() as u32, 0);
        component[root] = number;
        stack.push(root);
        while let Some(row) = stack.pop() {
            size += 1;
            for &other in &neighbours[starts[row].get()..starts[row + 1].get()] {
                if component[other as usize] == u32::MAX {
                    component[other as usize] = number;
                    stack.push(other as usize);
                }
            }
        }
        sizes.push(size);
    }
    (component, sizes)
}
