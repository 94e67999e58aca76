//! A layout of the graph in the plane, for a map of the pool: neighbours stay near, everything else is pushed away.
//!
//! ```text
//! attraction  a_i = Σ_j p_ij 2 (y_j - y_i) / (1 + d_ij²)                                   p_ij = ⁴√w_ij / Σ_j ⁴√w_ij
//! repulsion   r_i = 3 · mean over 8 newly drawn nodes j of 2 (y_i - y_j) / ((0.1 + d_ij²) (1 + d_ij²))
//! epoch t     y_i ← y_i + s_t (a_i + r_i)      s_t = 1 - t/T,  each coordinate of a_i + r_i at most 1 in size
//! ```
//!
//! The forces of UMAP (McInnes, Healy and Melville 2018) with a = b = 1, known as t-UMAP. Where UMAP visits edge after edge
//! and moves their ends at once, here all nodes move together from where they were before: what comes out does not
//! depend on the number of threads. The nodes drawn are a hash of seed, epoch and place. The start is what the caller
//! has, the first two principal components for instance: it is brought to a root mean square of 5 and to at most 10, and
//! shaken a little, so that nodes on top of each other, or all on a line, can part.
//!
//! The fourth roots of the weights, a push that is gentler than UMAP's and softer on nodes that are close, and short steps: with
//! the weights themselves, which fall fast, and long steps, a band of items (two moons, say) broke into threads.
//!
//! T is 300 up to 200,000 nodes; beyond, it falls so that the work stays the same, down to 60.

use rayon::prelude::*;

use crate::blocks::NODES_PER_CHUNK;
use crate::control::Control;
use crate::error::Result;
use crate::graph::adjacency::{Adjacency, GraphRows};
use crate::graph::packed::PackedGraph;
use crate::ids::NodeId;
use crate::seed::hash;

const EPOCHS: usize = 300;
const MIN_EPOCHS: usize = 60;
/// Nodes up to which all epochs are done.
const ALL_EPOCHS_NODES: usize = 200_000;

/// Pairs of nodes that push a node away, drawn in every epoch, and how strongly all of them together do.
const REPELLING_PAIRS: u64 = 4;
const REPULSION: f32 = 3.0;
const MIN_DISTANCE: f32 = 0.1;
const MAX_STEP: f32 = 1.0;

/// The start: its root mean square, its largest coordinate, and how far it is shaken.
const START_RMS: f64 = 5.0;
const START_MAX: f32 = 10.0;
const START_JITTER: f32 = 0.02;

/// Epochs between two calls of the watcher.
const EPOCHS_PER_REPORT: usize = 20;

/// Lays out a graph from a start (positions by node) and returns the positions by node. `watch` is shown where the nodes
/// are every now and then.
///
/// # Errors
/// Cancelled.
///
/// # Panics
/// If the start has not a position for every node.
pub fn layout(
    graph: &PackedGraph,
    start: &[[f32; 2]],
    seed: u64,
    control: &Control,
    watch: &mut dyn FnMut(&[[f32; 2]]),
) -> Result<Vec<[f32; 2]>> {
    assert_eq!(start.len(), graph.n(), "a position for every node");
    let epochs = (EPOCHS * ALL_EPOCHS_NODES / graph.n().max(ALL_EPOCHS_NODES)).max(MIN_EPOCHS);
    let mut now = begin(graph, start, seed);
    let mut next = now.clone();
    let rows = graph.rows();
    control.start("laying out the map", epochs);
    for epoch in 0..epochs {
        let (step, draws) = (1.0 - epoch as f32 / epochs as f32, hash(seed, epoch as u64));
        next.par_chunks_mut(NODES_PER_CHUNK)
            .enumerate()
            .for_each(|(chunk, moved)| {
                // An epoch of a large graph takes a while.
                if control.check().is_ok() {
                    for (place, moved) in (chunk * NODES_PER_CHUNK..).zip(moved) {
                        *moved = after(&rows, &now, place, draws, step);
                    }
                }
            });
        control.advance(1)?;
        std::mem::swap(&mut now, &mut next);
        if (epoch + 1) % EPOCHS_PER_REPORT == 0 && epoch + 1 < epochs {
            watch(&by_node(graph, &now));
        }
    }
    control.finish();
    Ok(by_node(graph, &now))
}

/// Where a node goes in an epoch.
fn after(
    rows: &GraphRows<'_, u64, f32>,
    now: &[[f32; 2]],
    place: usize,
    draws: u64,
    step: f32,
) -> [f32; 2] {
    let [x, y] = now[place];
    let (neighbours, weights) = rows.row(place);
    let (mut pull, mut total) = ([0.0f32; 2], f32::MIN_POSITIVE);
    for (&other, &weight) in neighbours.iter().zip(weights) {
        let [dx, dy] = [now[other as usize][0] - x, now[other as usize][1] - y];
        let share = weight.sqrt().sqrt();
        let force = 2.0 * share / (1.0 + dx * dx + dy * dy);
        pull = [pull[0] + force * dx, pull[1] + force * dy];
        total += share;
    }
    let mut push = [0.0f32; 2];
    for pair in 0..REPELLING_PAIRS {
        let drawn = hash(draws, REPELLING_PAIRS * place as u64 + pair);
        for half in [drawn >> 32, drawn & 0xFFFF_FFFF] {
            let other = now[((half * now.len() as u64) >> 32) as usize];
            let [dx, dy] = [x - other[0], y - other[1]];
            let square = dx * dx + dy * dy;
            let force = 2.0 / ((MIN_DISTANCE + square) * (1.0 + square));
            push = [push[0] + force * dx, push[1] + force * dy];
        }
    }
    let push_by = REPULSION / (2 * REPELLING_PAIRS) as f32;
    let moved = |i: usize| step * (pull[i] / total + push_by * push[i]).clamp(-MAX_STEP, MAX_STEP);
    [x + moved(0), y + moved(1)]
}

/// The start by place: centred, scaled, bounded, shaken.
fn begin(graph: &PackedGraph, start: &[[f32; 2]], seed: u64) -> Vec<[f32; 2]> {
    let count = start.len().max(1) as f64;
    let mean = |i: usize| start.iter().fold(0.0, |sum, at| sum + f64::from(at[i])) / count;
    let centre = [mean(0), mean(1)];
    let away = |at: &[f32; 2], i: usize| f64::from(at[i]) - centre[i];
    let square = start.iter().fold(0.0, |sum, at| {
        sum + away(at, 0) * away(at, 0) + away(at, 1) * away(at, 1)
    }) / count;
    let scale = if square > 0.0 && square.is_finite() {
        START_RMS / square.sqrt()
    } else {
        0.0
    };
    let shaken = |place: usize| {
        let (at, drawn) = (&start[graph.node(place).index()], hash(!seed, place as u64));
        let shake = |bits: u64| START_JITTER * ((bits & 0xFFFF) as f32 / 32768.0 - 1.0);
        let bounded = |i: usize| ((away(at, i) * scale) as f32).clamp(-START_MAX, START_MAX);
        [bounded(0) + shake(drawn), bounded(1) + shake(drawn >> 16)]
    };
    (0..start.len()).map(shaken).collect()
}

fn by_node(graph: &PackedGraph, places: &[[f32; 2]]) -> Vec<[f32; 2]> {
    (0..places.len() as u32)
        .map(|node| places[graph.place(NodeId(node))])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;

    #[test]
    fn one_step_by_hand() {
        // Two joined nodes, 1 apart, whatever is drawn: the pull is 2 · 1/(1 + 1) = 1. A node that draws itself is not
        // pushed; each of the k draws of the other pushes by 3/8 · 2/((0.1 + 1) · 2) = 0.375/1.1.
        let graph = PackedGraph::new(&Graph::from_edges(2, &[(0, 1, 0.3)]).unwrap());
        let now = [[0.0, 0.0], [1.0, 0.0]];
        for draws in 0..16 {
            let others = (0..REPELLING_PAIRS).flat_map(|pair| {
                let drawn = hash(draws, pair);
                [drawn >> 63, drawn >> 31 & 1]
            });
            let k = others.filter(|&other| other == 1).count() as f32;
            let [x, y] = after(&graph.rows(), &now, 0, draws, 0.5);
            // Half of the sum, which is at most 1 in size: that holds it where k is 6 or more.
            assert!(
                (x - 0.5 * (1.0 - k * 0.375 / 1.1).max(-1.0)).abs() < 1e-6,
                "{k}: {x}"
            );
            assert_eq!(y, 0.0);
        }
    }

    #[test]
    fn a_start_on_one_spot_and_a_node_alone_give_finite_positions() {
        let graph = PackedGraph::new(
            &Graph::from_edges(5, &[(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]).unwrap(),
        );
        let mut shown = 0;
        let found = layout(&graph, &[[3.0, 3.0]; 5], 1, &Control::new(), &mut |_| {
            shown += 1
        })
        .unwrap();
        assert!(found.iter().flatten().all(|value| value.is_finite()));
        assert!(
            (0..4).all(|node| found[node] != found[node + 1]),
            "{found:?}"
        );
        assert_eq!(shown, 14, "300 epochs, the last is the answer");
    }
}
