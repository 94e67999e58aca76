//! Exact k nearest neighbours, by blocked matrix products that screen and f64 distances that decide.
//!
//! For x, y centred and scaled, |x - y|² = |x|² - 2 H(x, y) with H(x, y) = x·y - |y|²/2, so the nearest y have the
//! largest H. One f32 matrix product per block of 128 queries and 1024 candidates gives h ≈ H with
//!
//! ```text
//! |h - H| <= E(x, y) = 1.1 u (d + 8) |y| (|x| + |y|),    u = 2^-24
//! ```
//!
//! (conversion to f32, d + 1 products and sums, the rounding of |y|²/2). A candidate stays while h + E reaches the k-th
//! largest h - E seen so far, so no true neighbour is ever lost. What stays is ranked by the distance recomputed in f64
//! in a fixed order of the columns, ties by node id: the same bits for every CPU, block size and number of threads.
//!
//! Features that are bytes (raw pixels) are searched in integers by `exact_u8` where the CPU is fast at that: the same
//! distances, the same bits.
//!
//! Memory: one f32 copy of the features, a tile of 512 KiB per thread, and the result; nothing grows with n².

pub mod metric_space;
pub mod row_source;
pub mod points;
pub mod purity;
pub(crate) mod screen_f32;
pub(crate) mod distances_u8;
pub(crate) mod exact_u8;
pub mod approximate;

use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::features::{Features, Metric, Values};
use crate::ids::NodeId;
use crate::knn::distances_u8::Bytes;
use crate::knn::metric_space::{Space, ZeroVectors, nearest};
use crate::knn::screen_f32::Screen;

/// The k nearest neighbours of every node, nearest first, ties by node id; the node itself does not count.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours {
    k: usize,
    ids: Vec<u32>,
    squared: Squared,
    isolated: Vec<bool>,
}

/// Squared distances: in f64 where the search was exact, in f32 (in multiples of a power of two) where it was not, so
/// that ten million rows of twenty neighbours take 1.6 GB and not 2.4.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Squared {
    /// As they are.
    Wide(Vec<f64>),
    /// Divided by the unit.
    Narrow {
        /// The quotients.
        values: Vec<f32>,
        /// What they are multiples of.
        unit: f64,
    },
}

impl Squared {
    fn get(&self, position: usize) -> f64 {
        match self {
            Squared::Wide(values) => values[position],
            Squared::Narrow { values, unit } => f64::from(values[position]) * unit,
        }
    }
}

const QUERIES_PER_TILE: usize = 128;
const CANDIDATES_PER_TILE: usize = 1024;

impl Neighbours {
    /// Finds the k nearest neighbours of every row.
    ///
    /// # Errors
    /// Too few rows for k (I8), zero rows under cosine (I9), all rows identical (I10), distances out of range (I11),
    /// or cancelled.
    ///
    /// # Complexity
    /// 2 n² d floating-point operations in f32 (n² d on bytes, where the CPU has AVX-512 VNNI), O(n (k + d)) memory.
    pub fn exact(
        features: Features<'_>,
        k: usize,
        metric: Metric,
        zero_vectors: ZeroVectors,
        control: &Control,
    ) -> Result<Neighbours> {
        check_k(k, features.n())?;
        features.check_scale()?;
        let space = Space::new(features, metric, zero_vectors)?;
        check_k(k, space.isolated.iter().filter(|&&alone| !alone).count())?;
        space.check_directions()?;
        let (ids, squared) = match bytes_of(features, metric) {
            Some(bytes) => exact_u8::search(bytes, k, control)?,
            None => search(&space, k, control)?,
        };
        Ok(Neighbours {
            k,
            ids,
            squared: Squared::Wide(squared),
            isolated: space.isolated,
        })
    }

    /// Number of neighbours of each node.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Number of nodes.
    pub fn n(&self) -> usize {
        self.isolated.len()
    }

    /// The k neighbours of every node one after the other, `u32::MAX` where there are none; their squared distances; and
    /// the unit of these.
    pub(crate) fn as_slices(&self) -> (&[u32], Values<'_>, f64) {
        match &self.squared {
            Squared::Wide(squared) => (&self.ids, Values::F64(squared), 1.0),
            Squared::Narrow { values, unit } => (&self.ids, Values::F32(values), *unit),
        }
    }

    /// The neighbours of a node with their squared distances, nearest first; empty for an isolated zero vector.
    pub fn of(&self, node: NodeId) -> impl Iterator<Item = (NodeId, f64)> + '_ {
        let row = node.index() * self.k..if self.isolated[node.index()] {
            node.index() * self.k
        } else {
            (node.index() + 1) * self.k
        };
        row.map(|position| (NodeId(self.ids[position]), self.squared.get(position)))
    }

    /// The result of another search: k ids of every row, nearest first, with their squared distances.
    pub(crate) fn from_parts(
        k: usize,
        ids: Vec<u32>,
        squared: Squared,
        isolated: Vec<bool>,
    ) -> Neighbours {
        Neighbours {
            k,
            ids,
            squared,
            isolated,
        }
    }
}

/// The features as bytes, where they are and the CPU has a fast way with them.
fn bytes_of(features: Features<'_>, metric: Metric) -> Option<Bytes> {
    if metric != Metric::Euclidean || !distances_u8::is_fast() {
        return None;
    }
    Bytes::new(features.n(), features.dim(), |row, column| {
        features.get(row, column)
    })
}

/// The ids of the k nearest rows of every row, and their squared distances.
fn search(space: &Space<'_>, k: usize, control: &Control) -> Result<(Vec<u32>, Vec<f64>)> {
    let (screen, n) = (space.screen(), space.features.n());
    let (mut ids, mut squared) = (vec![u32::MAX; n * k], vec![f64::INFINITY; n * k]);
    control.start("finding neighbours", n);
    ids.par_chunks_mut(QUERIES_PER_TILE * k)
        .zip(squared.par_chunks_mut(QUERIES_PER_TILE * k))
        .enumerate()
        .try_for_each_init(screen_f32::Tile::new, |tile, (block, (ids, squared))| {
            let first = block * QUERIES_PER_TILE;
            let rows = ids.len() / k;
            search_block(space, &screen, first..first + rows, k, tile, (ids, squared));
            control.advance(rows)
        })?;
    control.finish();
    Ok((ids, squared))
}

/// Searches a block of rows: screens every block of candidates, then ranks the survivors exactly.
fn search_block(
    space: &Space<'_>,
    screen: &Screen,
    rows: std::ops::Range<usize>,
    k: usize,
    tile: &mut screen_f32::Tile,
    (ids, squared): (&mut [u32], &mut [f64]),
) {
    let mut shortlists: Vec<Shortlist> = rows.clone().map(|row| Shortlist::new(row, k)).collect();
    let n = space.features.n();
    for start in (0..n).step_by(CANDIDATES_PER_TILE) {
        let candidates = start..(start + CANDIDATES_PER_TILE).min(n);
        screen.multiply(rows.clone(), candidates.clone(), tile);
        for (list, products) in shortlists.iter_mut().zip(tile.rows(candidates.len())) {
            if !space.isolated[list.row] {
                list.take(space, screen, candidates.clone(), products);
            }
        }
    }
    for (list, (ids, squared)) in shortlists
        .iter_mut()
        .zip(ids.chunks_mut(k).zip(squared.chunks_mut(k)))
    {
        for (slot, (distance, id)) in list.exact(space).into_iter().enumerate() {
            (ids[slot], squared[slot]) = (id, distance);
        }
    }
}

/// The candidates of one row that may still be among its k nearest.
struct Shortlist {
    row: usize,
    k: usize,
    /// The k-th largest lower bound of H so far.
    bar: f64,
    kept: Vec<Candidate>,
    room: usize,
}

#[derive(Clone, Copy)]
struct Candidate {
    lower: f64,
    upper: f64,
    id: u32,
}

/// Above this many undecided candidates (ties, duplicates) a row is decided exactly at once.
const MAX_UNDECIDED: usize = 8192;

impl Shortlist {
    fn new(row: usize, k: usize) -> Shortlist {
        let room = 4 * k + 64;
        Shortlist {
            row,
            k,
            bar: f64::NEG_INFINITY,
            kept: Vec::with_capacity(room),
            room,
        }
    }

    /// Looks through the products of this row with a block of candidates.
    fn take(
        &mut self,
        space: &Space<'_>,
        screen: &Screen,
        block: std::ops::Range<usize>,
        products: &[f32],
    ) {
        let reach = screen.bound(self.row, screen.largest_norm(block.clone()));
        let mut threshold = screen_f32::below(self.bar - reach);
        for (offset, chunk) in (0..)
            .step_by(screen_f32::LANES)
            .zip(products.chunks(screen_f32::LANES))
        {
            if !screen_f32::any_reaches(chunk, threshold) {
                continue;
            }
            for (lane, &h) in chunk.iter().enumerate() {
                let id = block.start + offset + lane;
                if h >= threshold && id != self.row && !space.isolated[id] {
                    self.offer(space, screen, f64::from(h), id);
                }
            }
            threshold = screen_f32::below(self.bar - reach);
        }
    }

    fn offer(&mut self, space: &Space<'_>, screen: &Screen, h: f64, id: usize) {
        let bound = screen.bound(self.row, screen.norm(id));
        if h + bound < self.bar {
            return;
        }
        self.kept.push(Candidate {
            lower: h - bound,
            upper: h + bound,
            id: id as u32,
        });
        if self.kept.len() >= self.room {
            self.compress(space, screen);
        }
    }

    /// Raises the bar to the k-th largest lower bound and drops candidates that cannot reach it.
    fn compress(&mut self, space: &Space<'_>, screen: &Screen) {
        let (_, kth, _) = self
            .kept
            .select_nth_unstable_by(self.k - 1, |a, b| b.lower.total_cmp(&a.lower));
        self.bar = self.bar.max(kth.lower);
        let bar = self.bar;
        self.kept.retain(|candidate| candidate.upper >= bar);
        if 2 * self.kept.len() > self.room {
            self.room *= 2;
        }
        if self.kept.len() > MAX_UNDECIDED {
            self.decide(space, screen);
        }
    }

    /// Keeps the k nearest by exact distance, where the screen cannot tell.
    fn decide(&mut self, space: &Space<'_>, screen: &Screen) {
        let nearest = self.exact(space);
        self.kept = nearest
            .into_iter()
            .map(|(distance, id)| {
                let h = screen.product_at(self.row, distance);
                let slack = screen.bound(self.row, screen.norm(id as usize));
                Candidate {
                    lower: h - slack,
                    upper: h + slack,
                    id,
                }
            })
            .collect();
        self.room = 4 * self.k + 64;
    }

    /// The k nearest among the kept, by squared distance in f64 and node id.
    fn exact(&self, space: &Space<'_>) -> Vec<(f64, u32)> {
        let distance = |c: &Candidate| space.squared_distance(self.row, c.id as usize);
        let ranked = self.kept.iter().map(|c| (distance(c), c.id)).collect();
        nearest(ranked, self.k)
    }
}

/// Refuses a k of 0, and pools too small for k (I8).
pub(crate) fn check_k(k: usize, n: usize) -> Result<()> {
    if k == 0 {
        return Err(Error::setting("k", "at least 1", "0"));
    }
    if k >= n {
        Err(Error::TooFewItems { k, n })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
