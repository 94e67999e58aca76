//! A graph in colours: nodes of one colour are not neighbours, so a Gauss-Seidel sweep may take all of them at once.
//!
//! For a diagonal R the matrix I - R W R (R = 1/√(d + τ) makes it the scaled L + τ I) is split by an order of the nodes,
//! colour after colour:
//!
//! ```text
//! I - R W R = I - E - F,    E: entries towards earlier colours,  F = Eᵀ: towards later ones
//! forward sweep    (I - E) s = y:   s_i = y_i + Σ_j E_ij s_j     backward sweep   (I - F) t = y, colours in reverse
//! ```
//!
//! in f32, which halves the bytes. The sweeps serve corrections only; residuals are computed in f64 by others (`gauss_seidel`).
//!
//! A row of a colour reads other colours only: the rows are done in parallel, in fixed chunks, with the same bits for any
//! number of threads. Colours are given greedily in reverse Cuthill-McKee order, and chunks keep that order, so that what a
//! chunk reads lies in a few stretches of memory. Inside a chunk rows of equal length follow each other, so that the processor
//! can foresee their ends: sweeps took two thirds to three quarters of the time.

use rayon::prelude::*;

use crate::graph::adjacency::{Adjacency, Count, GraphRows, Weight};
use crate::graph::ordering::{ranks, reverse_cuthill_mckee};
use crate::ids::NodeId;

/// I - R W R, split by colours.
#[derive(Clone, Debug)]
pub(crate) struct Coloured {
    /// The node at every place.
    pub(crate) order: Vec<NodeId>,
    /// The place of every node.
    pub(crate) rank: Vec<u32>,
    /// R, by place.
    pub(crate) root: Vec<f64>,
    /// 1/R², by place; 0 where R is.
    pub(crate) scale: Vec<f32>,
    /// The first place of every colour, and n.
    bounds: Vec<usize>,
    /// E, with places as they are.
    earlier: Half,
    /// F, with places counted from the end of the row's own colour.
    later: Half,
}

/// One triangle of the matrix in compressed rows, each filled up with zeros to whole quads.
#[derive(Clone, Debug, Default)]
struct Half {
    starts: Vec<usize>,
    places: Vec<[u32; 4]>,
    weights: Vec<[f32; 4]>,
}

/// Rows per chunk of a sweep. Part of the definition of every sum: changing it changes last bits.
pub(crate) const ROWS_PER_CHUNK: usize = 512;

/// A colour with fewer rows is not worth dividing among threads.
const SERIAL_ROWS: usize = 3 * ROWS_PER_CHUNK;

impl Coloured {
    /// The splitting for a diagonal R, given by node.
    pub(crate) fn new(graph: &impl Adjacency, root: impl Fn(usize) -> f64) -> Coloured {
        let rows = &graph.rows();
        let mut order = reverse_cuthill_mckee(rows);
        let colour = colours(rows, &order);
        // Stable: inside a colour the order stays.
        order.sort_by_key(|node| colour[node.index()]);
        for of_one in order.chunk_by_mut(|a, b| colour[a.index()] == colour[b.index()]) {
            of_one
                .chunks_mut(ROWS_PER_CHUNK)
                .for_each(|chunk| chunk.sort_by_cached_key(|&node| quads(rows, &colour, node)));
        }
        let rank = ranks(order.iter().map(|node| node.0));
        let lengths = order
            .chunk_by(|a, b| colour[a.index()] == colour[b.index()])
            .map(<[NodeId]>::len);
        let bounds = std::iter::once(0).chain(lengths.scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        let bounds: Vec<usize> = bounds.collect();
        let root: Vec<f64> = order.iter().map(|node| root(node.index())).collect();
        let scale = root
            .iter()
            .map(|&root| {
                if root > 0.0 {
                    (1.0 / (root * root)) as f32
                } else {
                    0.0
                }
            })
            .collect();
        let mut coloured = Coloured {
            order,
            rank,
            root,
            scale,
            bounds,
            earlier: Half::new(),
            later: Half::new(),
        };
        coloured.split(rows);
        coloured
    }

    fn split<C: Count, F: Weight>(&mut self, rows: &GraphRows<'_, C, F>) {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for colour in self.bounds.windows(2) {
            for place in colour[0]..colour[1] {
                for (node, weight) in rows.entries(self.order[place].index()) {
                    let other = self.rank[node as usize] as usize;
                    let entry = (self.root[place] * weight * self.root[other]) as f32;
                    if other < place {
                        before.push((other as u32, entry));
                    } else {
                        after.push(((other - colour[1]) as u32, entry));
                    }
                }
                self.earlier.push(&mut before);
                self.later.push(&mut after);
            }
        }
    }

    /// Number of nodes.
    pub(crate) fn n(&self) -> usize {
        self.order.len()
    }

    /// Bytes of both triangles.
    pub(crate) fn bytes(&self) -> usize {
        let of = |half: &Half| size_of_val(&*half.starts) + 2 * size_of_val(&*half.places);
        of(&self.earlier) + of(&self.later)
    }

    /// Chunks of all colours together: how many sums a forward sweep gives.
    pub(crate) fn chunks(&self) -> usize {
        self.bounds
            .windows(2)
            .map(|colour| (colour[1] - colour[0]).div_ceil(ROWS_PER_CHUNK))
            .sum()
    }

    /// Forward through the colours. `row(place, E s, s, sums)` gets what earlier colours say about a row and writes the row;
    /// what it adds to `sums` is kept chunk by chunk.
    pub(crate) fn forward<const W: usize>(
        &self,
        s: &mut [f32],
        sums: &mut [[f64; W]],
        row: impl Fn(usize, [f32; W], &mut [f32], &mut [f64; W]) + Sync,
    ) {
        let mut sums = sums;
        for colour in self.bounds.windows(2) {
            let (before, rest) = s.split_at_mut(colour[0] * W);
            let rows = &mut rest[..(colour[1] - colour[0]) * W];
            let (now, after) = sums.split_at_mut((colour[1] - colour[0]).div_ceil(ROWS_PER_CHUNK));
            let work = |chunk: usize, rows: &mut [f32], sum: &mut [f64; W]| {
                let first = colour[0] + chunk * ROWS_PER_CHUNK;
                *sum = [0.0; W];
                for (place, out) in (first..).zip(rows.chunks_exact_mut(W)) {
                    row(place, self.earlier.sum(place, before), out, sum);
                }
            };
            if colour[1] - colour[0] < SERIAL_ROWS {
                rows.chunks_mut(ROWS_PER_CHUNK * W)
                    .zip(now)
                    .enumerate()
                    .for_each(|(c, (rows, sum))| work(c, rows, sum));
            } else {
                let chunks = rows.par_chunks_mut(ROWS_PER_CHUNK * W).zip(now).enumerate();
                chunks.for_each(|(c, (rows, sum))| work(c, rows, sum));
            }
            sums = after;
        }
    }

    /// Backward through the colours. `row(place, F t, t, p)` gets what later colours say about a row and writes the row of t
    /// and of p.
    pub(crate) fn backward<const W: usize>(
        &self,
        t: &mut [f32],
        p: &mut [f32],
        row: impl Fn(usize, [f32; W], &mut [f32], &mut [f32]) + Sync,
    ) {
        for colour in self.bounds.windows(2).rev() {
            let (before, after) = t.split_at_mut(colour[1] * W);
            let (t, p) = (
                &mut before[colour[0] * W..],
                &mut p[colour[0] * W..colour[1] * W],
            );
            let after = &*after;
            let work = |chunk: usize, t: &mut [f32], p: &mut [f32]| {
                let first = colour[0] + chunk * ROWS_PER_CHUNK;
                for (place, (t, p)) in
                    (first..).zip(t.chunks_exact_mut(W).zip(p.chunks_exact_mut(W)))
                {
                    row(place, self.later.sum(place, after), t, p);
                }
            };
            if colour[1] - colour[0] < SERIAL_ROWS {
                t.chunks_mut(ROWS_PER_CHUNK * W)
                    .zip(p.chunks_mut(ROWS_PER_CHUNK * W))
                    .enumerate()
                    .for_each(|(c, (t, p))| work(c, t, p));
            } else {
                let chunks = t
                    .par_chunks_mut(ROWS_PER_CHUNK * W)
                    .zip(p.par_chunks_mut(ROWS_PER_CHUNK * W))
                    .enumerate();
                chunks.for_each(|(c, (t, p))| work(c, t, p));
            }
        }
    }
}

impl Half {
    fn new() -> Half {
        Half {
            starts: vec![0],
            ..Half::default()
        }
    }

    /// Appends a row, and empties it.
    fn push(&mut self, row: &mut Vec<(u32, f32)>) {
        row.sort_unstable_by_key(|&(place, _)| place);
        for quad in row.chunks(4) {
            let entry = |lane: usize| quad.get(lane).copied().unwrap_or((0, 0.0));
            self.places.push(std::array::from_fn(|lane| entry(lane).0));
            self.weights.push(std::array::from_fn(|lane| entry(lane).1));
        }
        self.starts.push(self.places.len());
        row.clear();
    }

    /// Σ_j a_ij x_j of one row. Every fourth neighbour goes to the same running sum, for every W alike: a quarter of the
    /// waiting for additions, and still one fixed order.
    #[inline(always)]
    fn sum<const W: usize>(&self, row: usize, x: &[f32]) -> [f32; W] {
        let quads = self.starts[row]..self.starts[row + 1];
        let mut lanes = [[0.0; W]; 4];
        for (places, weights) in self.places[quads.clone()].iter().zip(&self.weights[quads]) {
            for lane in 0..4 {
                let values = &x[places[lane] as usize * W..(places[lane] as usize + 1) * W];
                for c in 0..W {
                    lanes[lane][c] += weights[lane] * values[c];
                }
            }
        }
        std::array::from_fn(|c| (lanes[0][c] + lanes[1][c]) + (lanes[2][c] + lanes[3][c]))
    }
}

/// How many quads a row has towards later colours, and towards earlier ones.
fn quads<C: Count, F: Weight>(
    rows: &GraphRows<'_, C, F>,
    colour: &[u32],
    node: NodeId,
) -> (usize, usize) {
    let neighbours = rows.row(node.index()).0;
    let later = neighbours
        .iter()
        .filter(|&&other| colour[other as usize] > colour[node.index()])
        .count();
    (later.div_ceil(4), (neighbours.len() - later).div_ceil(4))
}

/// A colour for every node: the first that none of its neighbours has, in the given order.
fn colours<C: Count, F: Weight>(rows: &GraphRows<'_, C, F>, order: &[NodeId]) -> Vec<u32> {
    let mut colour = vec![u32::MAX; rows.n()];
    // taken[c] = the last node that could not have colour c.
    let mut taken: Vec<u32> = Vec::new();
    for &node in order {
        for &other in rows.row(node.index()).0 {
            if let Some(taken) = taken.get_mut(colour[other as usize] as usize) {
                *taken = node.0;
            }
        }
        let free = taken
            .iter()
            .position(|&last| last != node.0)
            .unwrap_or(taken.len());
        if free == taken.len() {
            taken.push(u32::MAX);
        }
        colour[node.index()] = free as u32;
    }
    colour
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::seed::{Purpose, Random};

    /// A random graph of some 5000 nodes, so that some colours have several chunks.
    fn graph(n: u32) -> Graph {
        let mut random = Random::new(3, Purpose::User, 0);
        let mut edges: Vec<(u32, u32, f64)> =
            (1..n).map(|i| (i - 1, i, 0.1 + random.uniform())).collect();
        edges.extend((0..3 * n).map(|_| {
            (
                random.below(n as usize) as u32,
                random.below(n as usize) as u32,
                1.0,
            )
        }));
        edges.retain(|&(i, j, _)| i != j && i != 17 && j != 17);
        edges.sort_by_key(|&(i, j, _)| (i.min(j), i.max(j)));
        edges.dedup_by_key(|&mut (i, j, _)| (i.min(j), i.max(j)));
        Graph::from_edges(n as usize, &edges).unwrap()
    }

    #[test]
    fn a_colour_holds_no_neighbours_and_every_node_has_a_place() {
        let graph = graph(5000);
        let coloured = Coloured::new(&graph, |_| 1.0);
        let mut nodes: Vec<u32> = coloured.order.iter().map(|node| node.0).collect();
        nodes.sort_unstable();
        assert!(nodes.into_iter().eq(0..5000));
        for colour in coloured.bounds.windows(2) {
            for &node in &coloured.order[colour[0]..colour[1]] {
                let places = graph
                    .row(node)
                    .0
                    .iter()
                    .map(|&other| coloured.rank[other as usize] as usize);
                assert!(
                    places
                        .into_iter()
                        .all(|place| place < colour[0] || place >= colour[1])
                );
            }
        }
    }

    #[test]
    fn sweeps_solve_their_triangles() {
        let graph = graph(5000);
        let root = |node: usize| 1.0 / (graph.degrees()[node] + 0.1).sqrt();
        let coloured = Coloured::new(&graph, root);
        let y: Vec<f32> = (0..5000)
            .map(|i| ((i * 7919) % 101) as f32 / 101.0)
            .collect();
        let (mut forward, mut backward, mut copied) =
            (vec![0.0; 5000], vec![0.0; 5000], vec![0.0; 5000]);
        let mut sums = vec![[0.0]; coloured.chunks()];
        coloured.forward::<1>(&mut forward, &mut sums, |place, near, s, sum| {
            s[0] = y[place] + near[0];
            sum[0] += 1.0;
        });
        coloured.backward::<1>(&mut backward, &mut copied, |place, near, t, p| {
            t[0] = y[place] + near[0];
            p[0] = y[place];
        });
        assert_eq!(sums.iter().map(|sum| sum[0]).sum::<f64>(), 5000.0);
        assert_eq!(copied, y);
        // The slow twin: row by row from the graph itself.
        for place in 0..5000 {
            let node = coloured.order[place];
            let (neighbours, weights) = graph.row(node);
            let (mut earlier, mut later) = (0.0, 0.0);
            for (&other, weight) in neighbours.iter().zip(weights) {
                let entry = root(node.index()) * weight * root(other as usize);
                let other = coloured.rank[other as usize] as usize;
                if other < place {
                    earlier += entry * f64::from(forward[other]);
                } else {
                    later += entry * f64::from(backward[other]);
                }
            }
            assert!((f64::from(forward[place]) - earlier - f64::from(y[place])).abs() < 1e-5);
            assert!((f64::from(backward[place]) - later - f64::from(y[place])).abs() < 1e-5);
        }
    }
}
