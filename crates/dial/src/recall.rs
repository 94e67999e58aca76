//! Recall: the share of true neighbours that an approximate search found, on a seeded sample of rows.
//!
//! The rows of the sample meet every row of the pool. A found neighbour counts when it is no farther than the true k-th
//! one, so ties count whichever of them was found.

use rayon::prelude::*;

use crate::best::Best;
use crate::error::Result;
use crate::seed::{Purpose, Random};
use crate::source::Source;

/// Rows of one chunk, which meet the pool together.
const CHUNK: usize = 250;

/// Some rows of a pool, and what is known of their true neighbours so far.
pub(crate) struct Sample {
    nodes: Vec<usize>,
    chunks: Vec<Chunk>,
    k: usize,
}

/// A part of the sample.
pub(crate) struct Chunk {
    pub(crate) rows: Vec<f32>,
    pub(crate) places: Vec<u32>,
    pub(crate) best: Best,
}

impl Sample {
    /// Draws rows that take part; `rank` gives the place of each node.
    pub(crate) fn draw(source: &Source<'_>, count: usize, k: usize, seed: u64, rank: &[u32]) -> Result<Sample> {
        let active: Vec<usize> = (0..source.n).filter(|&node| !source.isolated[node]).collect();
        let mut random = Random::new(seed, Purpose::Neighbours, 1);
        let drawn = random.distinct(count.min(active.len()), active.len());
        let mut nodes: Vec<usize> = drawn.into_iter().map(|at| active[at]).collect();
        nodes.sort_unstable();
        let chunk = |nodes: &[usize]| {
            let places: Vec<u32> = nodes.iter().map(|&node| rank[node]).collect();
            Ok(Chunk { rows: source.gather(nodes)?, best: Best::new(places.len(), k), places })
        };
        let chunks = nodes.chunks(CHUNK).map(chunk).collect::<Result<_>>()?;
        Ok(Sample { nodes, chunks, k })
    }

    /// Shows something to every part of the sample.
    pub(crate) fn meet(&mut self, show: impl Fn(&mut Chunk) + Sync) {
        self.chunks.par_iter_mut().for_each(|chunk| show(chunk));
    }

    /// The share of true neighbours within the lists of all nodes, once the sample has met everything.
    pub(crate) fn recall(mut self, squared: &[f32]) -> Option<f64> {
        let k = self.k;
        let reaches: Vec<f32> = self
            .chunks
            .iter_mut()
            .flat_map(|chunk| (0..chunk.places.len()).map(|row| chunk.best.nearest(row)[k - 1].0).collect::<Vec<_>>())
            .collect();
        // The true distances come from rows rounded to f32.
        let near = |(&node, &reach): (&usize, &f32)| {
            squared[node * k..(node + 1) * k].iter().filter(|&&found| found <= reach * (1.0 + 1e-5)).count()
        };
        let found: usize = self.nodes.iter().zip(&reaches).map(near).sum();
        (!self.nodes.is_empty()).then(|| found as f64 / (self.nodes.len() * k) as f64)
    }
}
