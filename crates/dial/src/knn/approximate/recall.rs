//! Recall: the share of true neighbours that an approximate search found, on a seeded sample of rows.
//!
//! The rows of the sample meet every row of the pool. A found neighbour counts when it is no farther than the true k-th
//! one, so ties count whichever of them was found.

use rayon::prelude::*;

use crate::error::Result;
use crate::knn::approximate::partition::Cells;
use crate::knn::approximate::top_k::{Best, Meeting};
use crate::knn::row_source::Source;
use crate::seed::{Purpose, Random};

/// Rows of one chunk, which meet the pool together.
const SAMPLE_CHUNK: usize = 250;

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

impl Chunk {
    /// For every true neighbour: how many cells are nearer than the one it is in.
    fn cells_of_neighbours(&mut self, cells: &Cells) -> Vec<usize> {
        let mut near = Best::new(self.places.len(), cells.count());
        cells.nearest(&self.rows, &mut Meeting::default(), &mut near);
        let mut numbers = vec![0; cells.count()];
        let mut all = Vec::new();
        for row in 0..self.places.len() {
            for (number, &mut (_, cell)) in near.nearest(row).iter_mut().enumerate() {
                numbers[cell as usize] = number;
            }
            let home = cells.cell_of(self.places[row] as usize);
            let met = self
                .best
                .nearest(row)
                .iter()
                .map(|&(_, place)| cells.cell_of(place as usize));
            all.extend(met.map(|cell| if cell == home { 0 } else { numbers[cell] }));
        }
        all
    }
}

impl Sample {
    /// Draws rows that take part; `rank` gives the place of each node.
    pub(crate) fn draw(
        source: &Source<'_>,
        count: usize,
        k: usize,
        seed: u64,
        rank: &[u32],
    ) -> Result<Sample> {
        let active: Vec<usize> = (0..source.n)
            .filter(|&node| !source.isolated[node])
            .collect();
        let mut random = Random::new(seed, Purpose::Neighbours, 1);
        let drawn = random.distinct(count.min(active.len()), active.len());
        let mut nodes: Vec<usize> = drawn.into_iter().map(|at| active[at]).collect();
        nodes.sort_unstable();
        let chunk = |nodes: &[usize]| {
            let places: Vec<u32> = nodes.iter().map(|&node| rank[node]).collect();
            Ok(Chunk {
                rows: source.gather(nodes)?,
                best: Best::new(places.len(), k),
                places,
            })
        };
        let chunks = nodes
            .chunks(SAMPLE_CHUNK)
            .map(chunk)
            .collect::<Result<_>>()?;
        Ok(Sample { nodes, chunks, k })
    }

    /// Shows something to every part of the sample.
    pub(crate) fn meet(
        &mut self,
        show: impl Fn(&mut Chunk) -> Result<()> + Send + Sync,
    ) -> Result<()> {
        self.chunks.par_iter_mut().try_for_each(show)
    }

    /// How many of its nearest cells a row must probe to find a share of all true neighbours.
    pub(crate) fn cells_needed(&mut self, cells: &Cells, share: f64) -> Option<usize> {
        let mut needed: Vec<usize> = self
            .chunks
            .par_iter_mut()
            .flat_map_iter(|chunk| chunk.cells_of_neighbours(cells))
            .collect();
        needed.sort_unstable();
        let wanted = ((share * needed.len() as f64) as usize).min(needed.len().saturating_sub(1));
        needed.get(wanted).map(|&number| number + 1)
    }

    /// The share of true neighbours within the lists of all nodes, once the sample has met everything.
    pub(crate) fn recall(mut self, squared: &[f32]) -> Option<f64> {
        let k = self.k;
        let reaches: Vec<f32> = self
            .chunks
            .iter_mut()
            .flat_map(|chunk| {
                (0..chunk.places.len())
                    .map(|row| chunk.best.nearest(row)[k - 1].0)
                    .collect::<Vec<_>>()
            })
            .collect();
        // The true distances come from rows rounded to f32.
        let near = |(&node, &reach): (&usize, &f32)| {
            squared[node * k..(node + 1) * k]
                .iter()
                .filter(|&&found| found <= reach * (1.0 + 1e-5))
                .count()
        };
        let found: usize = self.nodes.iter().zip(&reaches).map(near).sum();
        (!self.nodes.is_empty()).then(|| found as f64 / (self.nodes.len() * k) as f64)
    }
}
