//! From lists of neighbours to the compact graph, in little memory.
//!
//! The same weights as in `graph`, W = (A + Aᵀ)/2, rounded to f32 once:
//!
//! ```text
//! ŵ_ij = f32(A_ij/2 + A_ji/2),   A_ji = 0 where j does not list i
//! ```
//!
//! Only the lists and the result are in memory. A first pass looks up for every i -> j whether j lists i too and counts
//! what each row will hold; a second one writes each row's own entries from its front and what others add from its
//! back; then every row is sorted. Slots are claimed by several threads in any order, and sorting makes the result the
//! same. Peak beside the lists: 8 bytes an entry and 20 to 36 bytes a node (28 entries a node are usual at k = 20).

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use crate::blocks::NODES_PER_CHUNK;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::features::Values;
use crate::graph::adjacency::Adjacency;
use crate::graph::ordering::{ranks, reverse_cuthill_mckee};
use crate::graph::packed::{PackedGraph, is_edge};
use crate::graph::{EdgeWeights, Graph, Weighing};
use crate::ids::NodeId;
use crate::knn::Neighbours;

/// The neighbours of every node, nearest first: k ids a node, the rest `u32::MAX` where there are fewer, and their squared
/// distances.
#[derive(Clone, Copy, Debug)]
pub struct Lists<'a> {
    n: usize,
    k: usize,
    ids: &'a [u32],
    squared: Values<'a>,
    /// What the squared distances are multiples of.
    unit: f64,
}

impl<'a> Lists<'a> {
    /// Lists of k neighbours each, one after the other.
    ///
    /// # Errors
    /// Lengths that do not fit, ids that are out of range, the node's own or twice in a list, distances that are no
    /// numbers or not ascending.
    pub fn new(k: usize, ids: &'a [u32], squared: Values<'a>) -> Result<Lists<'a>> {
        if k == 0 || !ids.len().is_multiple_of(k) || ids.len() != squared.len() {
            let what = format!(
                "{} ids and {} distances do not make lists of {k}",
                ids.len(),
                squared.len()
            );
            return Err(Error::Shape(what));
        }
        let lists = Lists {
            n: ids.len() / k,
            k,
            ids,
            squared,
            unit: 1.0,
        };
        match (0..lists.n)
            .into_par_iter()
            .with_min_len(NODES_PER_CHUNK)
            .find_first(|&node| !lists.is_sound(node))
        {
            Some(node) => Err(Error::Shape(format!(
                "the list of neighbours of node {node} is not possible"
            ))),
            None => Ok(lists),
        }
    }

    fn is_sound(&self, node: usize) -> bool {
        let (list, n) = (self.of(node), self.n);
        let distance = |slot: usize| self.squared(node, slot);
        self.ids[node * self.k + list.len()..(node + 1) * self.k]
            .iter()
            .all(|&id| id == u32::MAX)
            && list
                .iter()
                .all(|&id| (id as usize) < n && id as usize != node)
            && (1..list.len()).all(|slot| {
                !list[..slot].contains(&list[slot]) && distance(slot - 1) <= distance(slot)
            })
            && (0..list.len()).all(|slot| distance(slot) >= 0.0 && distance(slot).is_finite())
    }

    /// Number of nodes.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The neighbours of a node.
    fn of(&self, node: usize) -> &'a [u32] {
        let list = &self.ids[node * self.k..(node + 1) * self.k];
        match list.last() {
            Some(&u32::MAX) => &list[..list.iter().take_while(|&&id| id != u32::MAX).count()],
            _ => list,
        }
    }

    /// Where a node stands in the list of another.
    fn slot_of(&self, node: u32, list: usize) -> Option<usize> {
        self.ids[list * self.k..(list + 1) * self.k]
            .iter()
            .position(|&id| id == node)
    }

    /// The squared distance at a place of a list.
    fn squared(&self, node: usize, slot: usize) -> f64 {
        self.squared.get(node * self.k + slot) * self.unit
    }

    /// The squared distance to the last neighbour.
    fn reach(&self, node: usize) -> Option<f64> {
        let length = self.of(node).len();
        (length > 0).then(|| self.squared(node, length - 1))
    }
}

impl<'a> From<&'a Neighbours> for Lists<'a> {
    fn from(found: &'a Neighbours) -> Lists<'a> {
        let (ids, squared, unit) = found.as_slices();
        Lists {
            n: found.n(),
            k: found.k(),
            ids,
            squared,
            unit,
        }
    }
}

impl PackedGraph {
    /// The compact graph of lists of neighbours, its nodes in the given order (`order[place] = node`). Without an order
    /// one is found, which takes a second copy of the graph for a moment.
    ///
    /// # Errors
    /// An order that does not name every node once; cancelled.
    pub fn assemble(
        lists: &Lists<'_>,
        weights: EdgeWeights,
        order: Option<Vec<NodeId>>,
        control: &Control,
    ) -> Result<PackedGraph> {
        let given = order.is_some();
        let order: Vec<u32> = match order {
            Some(order) => order.into_iter().map(|node| node.0).collect(),
            None => (0..lists.n as u32).collect(),
        };
        let rank = inverse(&order, lists.n)?;
        let weighing = Weighing::new(weights, lists.n, |node| lists.reach(node.index()));
        let assembly = Assembly {
            lists,
            weighing,
            order: &order,
            rank: &rank,
            control,
        };
        let (starts, neighbours, weights) = assembly.rows()?;
        drop(rank);
        let graph = PackedGraph::seal(order, starts, neighbours, weights);
        Ok(if given { graph } else { graph.in_good_order() })
    }

    /// The same graph in an order that is good to multiply in.
    pub fn in_good_order(&self) -> PackedGraph {
        let rows = self.rows();
        let order = reverse_cuthill_mckee(&rows);
        let order: Vec<u32> = order.iter().map(|place| place.0).collect();
        let rank = ranks(order.iter().copied());
        self.moved(&order, &rank)
    }

    /// The same graph with every node in the place of its number.
    pub fn by_node(&self) -> PackedGraph {
        self.moved(&self.parts().rank, &self.parts().order)
    }

    /// The same graph by node ids, with 64-bit weights: for what needs a [`Graph`]. Takes three times the memory.
    pub fn to_graph(&self) -> Graph {
        Graph::from_rows(self.by_node().rows())
    }

    /// The same graph with what is at place `order[new]` at `new`, `rank` being the inverse.
    fn moved(&self, order: &[u32], rank: &[u32]) -> PackedGraph {
        let rows = self.rows();
        let mut starts = vec![0u64];
        for &old in order {
            starts.push(starts[starts.len() - 1] + rows.slots(old as usize).len() as u64);
        }
        // The order in a damaged, unverified file may name a place twice: no bytes may cause a panic.
        if starts[order.len()] != self.entries() as u64 {
            return self.clone();
        }
        let (mut to, mut by) = (vec![0; self.entries()], vec![0.0; self.entries()]);
        for_rows(&starts, &mut to, &mut by, |new, to, by| {
            let (neighbours, weights) = rows.row(order[new] as usize);
            by.copy_from_slice(weights);
            for (to, &old) in to.iter_mut().zip(neighbours) {
                *to = rank[old as usize];
            }
        });
        let nodes = order.iter().map(|&old| self.node(old as usize).0).collect();
        PackedGraph::seal(nodes, starts, to, by)
    }
}

/// `rank[order[place]] = place`.
fn inverse(order: &[u32], n: usize) -> Result<Vec<u32>> {
    let wrong = || Error::Shape(format!("an order of {n} nodes must name every node once"));
    let mut rank = vec![u32::MAX; n];
    for (&node, place) in order.iter().zip(0..) {
        match rank.get_mut(node as usize) {
            Some(free) if *free == u32::MAX => *free = place,
            _ => return Err(wrong()),
        }
    }
    if order.len() == n {
        Ok(rank)
    } else {
        Err(wrong())
    }
}

struct Assembly<'a> {
    lists: &'a Lists<'a>,
    weighing: Weighing,
    order: &'a [u32],
    rank: &'a [u32],
    control: &'a Control,
}

/// An entry of a list: where it leads, what it weighs, and whether the other lists this one too.
struct Entry {
    to: usize,
    weight: f32,
    mutual: bool,
}

impl Assembly<'_> {
    fn rows(&self) -> Result<(Vec<u64>, Vec<u32>, Vec<f32>)> {
        let n = self.lists.n;
        self.control.start("joining neighbours", 2 * n);
        // What others add to the row of a place: counted up here, and down again when it is written.
        let added: Vec<AtomicU32> = (0..n).map(|_| AtomicU32::new(0)).collect();
        let own = self.count(&added)?;
        let mut starts = vec![0u64; n + 1];
        for place in 0..n {
            let others = added[place].load(Ordering::Relaxed);
            starts[place + 1] = starts[place] + u64::from(own[place]) + u64::from(others);
        }
        drop(own);
        let (neighbours, weights) = self.write(&starts, &added)?;
        drop(added);
        // Values of the same size: the vectors keep their memory.
        let mut neighbours: Vec<u32> = neighbours.into_iter().map(AtomicU32::into_inner).collect();
        let mut weights: Vec<f32> = weights
            .into_iter()
            .map(|bits| f32::from_bits(bits.into_inner()))
            .collect();
        for_rows(&starts, &mut neighbours, &mut weights, |_, _, _| ());
        self.control.finish();
        Ok((starts, neighbours, weights))
    }

    /// How many entries of its own list each place keeps; adds up what they add to others.
    fn count(&self, added: &[AtomicU32]) -> Result<Vec<u32>> {
        let mut own = vec![0u32; self.lists.n];
        own.par_chunks_mut(NODES_PER_CHUNK)
            .enumerate()
            .try_for_each(|(chunk, own)| {
                for (own, place) in own.iter_mut().zip(chunk * NODES_PER_CHUNK..) {
                    for entry in self.entries(place) {
                        *own += 1;
                        if !entry.mutual {
                            added[entry.to].fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
                self.control.advance(own.len())
            })?;
        Ok(own)
    }

    /// Every row, its own entries from the front and those that others add from the back.
    fn write(
        &self,
        starts: &[u64],
        added: &[AtomicU32],
    ) -> Result<(Vec<AtomicU32>, Vec<AtomicU32>)> {
        let n = self.lists.n;
        let zeros = || {
            (0..starts[n])
                .into_par_iter()
                .map(|_| AtomicU32::new(0))
                .collect::<Vec<_>>()
        };
        let (neighbours, weights) = (zeros(), zeros());
        let put = |slot: u64, to: usize, weight: f32| {
            neighbours[slot as usize].store(to as u32, Ordering::Relaxed);
            weights[slot as usize].store(weight.to_bits(), Ordering::Relaxed);
        };
        (0..n.div_ceil(NODES_PER_CHUNK))
            .into_par_iter()
            .try_for_each(|chunk| {
                let places = chunk * NODES_PER_CHUNK..((chunk + 1) * NODES_PER_CHUNK).min(n);
                for place in places.clone() {
                    for (slot, entry) in (starts[place]..).zip(self.entries(place)) {
                        put(slot, entry.to, entry.weight);
                        if !entry.mutual {
                            let left = added[entry.to].fetch_sub(1, Ordering::Relaxed);
                            put(starts[entry.to + 1] - u64::from(left), place, entry.weight);
                        }
                    }
                }
                self.control.advance(places.len())
            })?;
        Ok((neighbours, weights))
    }

    /// The entries of the list of the node at a place that are large enough for an edge.
    fn entries(&self, place: usize) -> impl Iterator<Item = Entry> + '_ {
        let (lists, node) = (self.lists, self.order[place] as usize);
        lists
            .of(node)
            .iter()
            .enumerate()
            .filter_map(move |(slot, &other)| {
                let back = lists.slot_of(node as u32, other as usize);
                let there = self.half(node, slot);
                let weight = there + back.map_or(0.0, |slot| self.half(other as usize, slot));
                let (to, weight) = (self.rank[other as usize] as usize, weight as f32);
                is_edge(weight).then_some(Entry {
                    to,
                    weight,
                    mutual: back.is_some(),
                })
            })
    }

    /// A_ij/2 for an entry of the list of i.
    fn half(&self, node: usize, slot: usize) -> f64 {
        let reach = |node: usize| self.lists.reach(node).unwrap_or(0.0);
        let other = self.lists.of(node)[slot] as usize;
        self.weighing
            .half(self.lists.squared(node, slot), reach(node), reach(other))
    }
}

/// Fills every row (`fill(row, neighbours, weights)`), then sorts it.
fn for_rows(
    starts: &[u64],
    mut neighbours: &mut [u32],
    mut weights: &mut [f32],
    fill: impl Fn(usize, &mut [u32], &mut [f32]) + Sync,
) {
    let n = starts.len() - 1;
    let mut blocks = Vec::with_capacity(n.div_ceil(NODES_PER_CHUNK));
    for first in (0..n).step_by(NODES_PER_CHUNK) {
        let last = (first + NODES_PER_CHUNK).min(n);
        let length = (starts[last] - starts[first]) as usize;
        let (to, by);
        (to, neighbours) = neighbours.split_at_mut(length);
        (by, weights) = weights.split_at_mut(length);
        blocks.push((first..last, to, by));
    }
    blocks
        .into_par_iter()
        .for_each_init(Vec::new, |scratch, (rows, mut to, mut by)| {
            for row in rows {
                let length = (starts[row + 1] - starts[row]) as usize;
                let (own_to, own_by);
                (own_to, to) = to.split_at_mut(length);
                (own_by, by) = by.split_at_mut(length);
                fill(row, own_to, own_by);
                sort(own_to, own_by, scratch);
            }
        });
}

fn sort(neighbours: &mut [u32], weights: &mut [f32], scratch: &mut Vec<(u32, f32)>) {
    scratch.clear();
    scratch.extend(neighbours.iter().copied().zip(weights.iter().copied()));
    scratch.sort_unstable_by_key(|&(to, _)| to);
    for (&(to, weight), (neighbour, by)) in scratch.iter().zip(neighbours.iter_mut().zip(weights)) {
        (*neighbour, *by) = (to, weight);
    }
}

#[cfg(test)]
mod tests;
