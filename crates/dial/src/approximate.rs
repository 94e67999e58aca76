//! Approximate k nearest neighbours for large pools: cells, blocked products in the nearest cells, sweeps that repair.
//!
//! ```text
//! cells     about √n/4 rows each around centres of dense regions; a row is in one cell               (`cells`)
//! probing   a row meets all rows of its own cell and of the `probes` nearest ones, by blocked f32 products
//! sweeping  neighbours of neighbours, `sweeps` times, where the rows are held in memory               (`descent`)
//! ranking   the k that remain get their distances in f64 and are ordered by distance and node id
//! ```
//!
//! Work: n (n / size + probes size) products of d, about 8,000 n at a million rows, against n² of the exact search.
//! Everything random comes from the seed; the result does not depend on the number of threads.
//!
//! Rows that do not fit into memory are read in passes: as many cells as may be held are gathered by streaming once
//! through the source, then all rows stream past them and meet them. There the sweeps are left out, because they jump,
//! and more cells are probed instead.
//!
//! Recall is measured, not promised: a seeded sample of rows meets every cell, and the share of its true neighbours that
//! were found is part of the answer.

use std::ops::Range;

use rayon::prelude::*;

use crate::best::{Best, Meeting};
use crate::cells::Cells;
use crate::control::Control;
use crate::descent::{self, Lists};
use crate::error::{Error, Result};
use crate::features::{Features, Metric, squared_distance};
use crate::ids::NodeId;
use crate::neighbours::{Neighbours, Squared, check_k};
use crate::recall::Sample;
use crate::source::{BLOCK, Rows, Source};
use crate::space::{Space, ZeroVectors};

/// How hard the approximate search tries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Rows of a cell on average; `None`: √n/4, but at least 3 k.
    pub cell: Option<usize>,
    /// Cells that a row is compared with; more are better and slower.
    pub probes: usize,
    /// Sweeps over neighbours of neighbours, where the rows are in memory.
    pub sweeps: usize,
    /// Bytes of rows (as f32) that may be held at once; beyond, they are read in passes.
    pub memory: usize,
    /// Rows on which recall is measured; 0 measures nothing.
    pub sample: usize,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { cell: None, probes: 16, sweeps: 2, memory: usize::MAX, sample: 1000 }
    }
}

/// What an approximate search finds.
#[derive(Clone, Debug)]
pub struct Found {
    /// The neighbours. Squared distances are rounded to f32 after ranking, 8 bytes an entry.
    pub neighbours: Neighbours,
    /// A permutation of the nodes that puts near ones near each other: a good order for the graph.
    pub order: Vec<NodeId>,
    /// The share of true neighbours found, on the sample; `None` without a sample.
    pub recall: Option<f64>,
}

impl Neighbours {
    /// Finds most of the k nearest neighbours of every row, fast; the same for the same seed.
    ///
    /// # Errors
    /// As [`Neighbours::exact`], and settings out of range.
    pub fn approximate(
        features: Features<'_>,
        k: usize,
        metric: Metric,
        zero_vectors: ZeroVectors,
        seed: u64,
        effort: Effort,
        control: &Control,
    ) -> Result<Found> {
        check_k(k, features.n())?;
        features.check_scale()?;
        let space = Space::new(features, metric, zero_vectors)?;
        space.check_directions()?;
        let source = Source::of_space(&space, metric);
        let search = Search::new(&source, k, seed, Effort { memory: usize::MAX, ..effort }, control)?;
        let unit = 1.0 / source.unit;
        search.in_memory(Some(&|i, j| space.squared_distance(i, j) * unit), control)
    }

    /// The same for rows that are read by position, block by block: a pool larger than memory.
    ///
    /// # Errors
    /// As [`Neighbours::approximate`], and whatever reading gives.
    pub fn approximate_rows(
        rows: Rows<'_>,
        k: usize,
        metric: Metric,
        zero_vectors: ZeroVectors,
        seed: u64,
        effort: Effort,
        control: &Control,
    ) -> Result<Found> {
        check_k(k, rows.n)?;
        let source = Source::of_rows(rows, metric, zero_vectors, control)?;
        let search = Search::new(&source, k, seed, effort, control)?;
        if search.cells.active() * source.dim * size_of::<f32>() <= effort.memory {
            search.in_memory(None, control)
        } else {
            search.in_passes(control)
        }
    }
}

/// Rows of cells, held in memory in the order of their places.
struct Held<'a> {
    rows: &'a [f32],
    places: Range<usize>,
}

/// Rows that look for neighbours, and their places (`u32::MAX`: takes no part).
struct Queries<'a> {
    rows: &'a [f32],
    places: &'a [u32],
}

/// An approximate distance between two nodes is replaced by this, in the scaled space.
type Exact<'a> = &'a (dyn Fn(usize, usize) -> f64 + Sync);

struct Search<'a> {
    source: &'a Source<'a>,
    cells: Cells,
    k: usize,
    seed: u64,
    effort: Effort,
}

fn cell_size(effort: Effort, n: usize, k: usize) -> usize {
    effort.cell.unwrap_or_else(|| (((n as f64).sqrt() / 4.0) as usize).max(3 * k)).max(1)
}

/// Rows that look for neighbours together; a part of n that many threads can share.
fn queries_together(n: usize) -> usize {
    (n / 64).clamp(512, 8192)
}

impl<'a> Search<'a> {
    fn new(source: &'a Source<'a>, k: usize, seed: u64, effort: Effort, control: &Control) -> Result<Search<'a>> {
        let active = source.isolated.iter().filter(|&&alone| !alone).count();
        check_k(k, active)?;
        if effort.probes == 0 {
            return Err(Error::BadSetting { name: "probes", want: "at least 1", got: "0".into() });
        }
        let size = cell_size(effort, active, k);
        let cells = Cells::new(source, size, seed, control)?;
        Ok(Search { source, cells, k, seed, effort })
    }

    /// All rows held at once.
    fn in_memory(self, exact: Option<Exact<'_>>, control: &Control) -> Result<Found> {
        let (k, dim, active) = (self.k, self.source.dim, self.cells.active());
        let nodes: Vec<usize> = self.cells.order[..active].iter().map(|&node| node as usize).collect();
        let rows = self.source.gather(&nodes)?;
        let held = Held { rows: &rows, places: 0..active };
        let places: Vec<u32> = (0..active as u32).collect();
        let mut lists = Lists { k, ids: vec![u32::MAX; active * k], squared: vec![f32::INFINITY; active * k] };
        let together = queries_together(active);
        control.start("finding neighbours", active);
        let targets = lists.ids.par_chunks_mut(together * k).zip(lists.squared.par_chunks_mut(together * k));
        targets.enumerate().try_for_each_init(Meeting::default, |meeting, (block, (ids, squared))| {
            let range = block * together..block * together + ids.len() / k;
            let queries = Queries { rows: &rows[range.start * dim..range.end * dim], places: &places[range] };
            let mut best = Best::new(queries.places.len(), k);
            self.look(&held, &queries, self.effort.probes, meeting, &mut best);
            save(&mut best, k, ids, squared);
            control.advance(queries.places.len())
        })?;
        control.finish();
        let lists = descent::descend(&rows, dim, lists, self.effort.sweeps, control)?;
        let rank = self.ranks();
        let mut sample = self.sample(&rank)?;
        self.meet_everything(&held, &mut sample);
        let held_distance =
            |i: usize, j: usize| squared_distance(&rows[i * dim..(i + 1) * dim], &rows[j * dim..(j + 1) * dim]);
        let by_places = |i: usize, j: usize| match exact {
            Some(exact) => exact(nodes[i], nodes[j]),
            None => held_distance(i, j),
        };
        let (mut ids, mut squared) = (vec![u32::MAX; self.source.n * k], vec![f32::INFINITY; self.source.n * k]);
        ids.par_chunks_mut(k).zip(squared.par_chunks_mut(k)).enumerate().for_each_init(
            Vec::new,
            |ranked, (node, out)| {
                let place = rank[node] as usize;
                if place < active {
                    ranked.clear();
                    let found = &lists.ids[place * k..(place + 1) * k];
                    ranked
                        .extend(found.iter().map(|&at| (by_places(place, at as usize), self.cells.order[at as usize])));
                    write_ranked(ranked, out);
                }
            },
        );
        Ok(self.found(ids, squared, sample))
    }

    /// A part of the rows held at a time, all rows streaming past.
    fn in_passes(self, control: &Control) -> Result<Found> {
        let (n, k, dim) = (self.source.n, self.k, self.source.dim);
        let probes = 2 * self.effort.probes;
        let rank = self.ranks();
        let mut sample = self.sample(&rank)?;
        let (mut ids, mut squared) = (vec![u32::MAX; n * k], vec![f32::INFINITY; n * k]);
        let groups = self.groups();
        control.start("finding neighbours", groups.len() * n);
        for group in groups {
            let rows = self.hold(&group, &rank, control)?;
            let held = Held { rows: &rows, places: group };
            let targets = ids.par_chunks_mut(STREAM * k).zip(squared.par_chunks_mut(STREAM * k));
            targets.enumerate().try_for_each_init(Meeting::default, |meeting, (block, (ids, squared))| {
                let range = block * STREAM..block * STREAM + ids.len() / k;
                let mut rows = vec![0.0; range.len() * dim];
                (self.source.read)(range.clone(), &mut rows)?;
                let queries = Queries { rows: &rows, places: &rank[range] };
                let mut best = load(k, ids, squared);
                self.look(&held, &queries, probes, meeting, &mut best);
                save(&mut best, k, ids, squared);
                control.advance(queries.places.len())
            })?;
            self.meet_everything(&held, &mut sample);
        }
        control.finish();
        ids.par_chunks_mut(k).zip(squared.par_chunks_mut(k)).enumerate().for_each_init(
            Vec::new,
            |ranked, (node, out)| {
                if !self.source.isolated[node] {
                    ranked.clear();
                    let found = out.0.iter().zip(&*out.1);
                    ranked.extend(found.map(|(&at, &d)| (f64::from(d), self.cells.order[at as usize])));
                    write_ranked(ranked, out);
                }
            },
        );
        Ok(self.found(ids, squared, sample))
    }

    fn sample(&self, rank: &[u32]) -> Result<Sample> {
        Sample::draw(self.source, self.effort.sample, self.k, self.seed, rank)
    }

    /// Lets the sample meet all that is held.
    fn meet_everything(&self, held: &Held<'_>, sample: &mut Sample) {
        sample.meet(|chunk| {
            let queries = Queries { rows: &chunk.rows, places: &chunk.places };
            self.look(held, &queries, self.cells.count(), &mut Meeting::default(), &mut chunk.best);
        });
    }

    fn found(self, ids: Vec<u32>, squared: Vec<f32>, sample: Sample) -> Found {
        let recall = sample.recall(&squared);
        let squared = Squared::Narrow { values: squared, unit: self.source.unit };
        let neighbours = Neighbours::from_parts(self.k, ids, squared, self.source.isolated.clone());
        Found { neighbours, order: self.cells.order.into_iter().map(NodeId).collect(), recall }
    }

    /// The place of every node.
    fn ranks(&self) -> Vec<u32> {
        let mut rank = vec![0u32; self.source.n];
        self.cells.order.iter().zip(0..).for_each(|(&node, place)| rank[node as usize] = place);
        let active = self.cells.active() as u32;
        rank.iter_mut().filter(|place| **place >= active).for_each(|place| *place = u32::MAX);
        rank
    }

    /// Whole cells that may be held together, as ranges of places; at least one cell each.
    fn groups(&self) -> Vec<Range<usize>> {
        let most = (self.effort.memory / (self.source.dim * size_of::<f32>())).max(1);
        let mut groups: Vec<Range<usize>> = Vec::new();
        for cell in (0..self.cells.count()).map(|cell| self.cells.places(cell)) {
            match groups.last_mut() {
                Some(last) if last.len() + cell.len() <= most => last.end = cell.end,
                _ => groups.push(cell),
            }
        }
        groups
    }

    /// Streams through the source and keeps the rows of a range of places.
    fn hold(&self, group: &Range<usize>, rank: &[u32], control: &Control) -> Result<Vec<f32>> {
        let (n, dim) = (self.source.n, self.source.dim);
        let mut held = vec![0.0; group.len() * dim];
        let blocks: Vec<usize> = (0..n.div_ceil(BLOCK)).collect();
        for some in blocks.chunks(16) {
            control.check()?;
            let read = |&block: &usize| {
                let range = block * BLOCK..((block + 1) * BLOCK).min(n);
                let mut rows = vec![0.0; range.len() * dim];
                (self.source.read)(range.clone(), &mut rows).map(|()| (range, rows))
            };
            for (range, rows) in some.par_iter().map(read).collect::<Result<Vec<_>>>()? {
                for (node, row) in
                    range.zip(rows.chunks(dim)).filter(|(node, _)| group.contains(&(rank[*node] as usize)))
                {
                    let at = rank[node] as usize - group.start;
                    held[at * dim..(at + 1) * dim].copy_from_slice(row);
                }
            }
        }
        Ok(held)
    }

    /// Lets every query meet the held rows of its nearest cells, its own first; distances are then computed directly.
    fn look(&self, held: &Held<'_>, queries: &Queries<'_>, probes: usize, meeting: &mut Meeting, best: &mut Best) {
        let dim = self.source.dim;
        let probes = probes.max(self.cells.enough_for(self.k)).min(self.cells.count());
        let mut near = Best::new(queries.places.len(), probes);
        self.cells.nearest(queries.rows, meeting, &mut near);
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for (query, &place) in queries.places.iter().enumerate().filter(|(_, place)| **place != u32::MAX) {
            let home = self.cells.cell_of(place as usize);
            let ask = |cell: usize, list: &mut Vec<(u32, u32)>| {
                let seen = self.cells.seen_from(cell, place as usize);
                if !seen.is_empty() && held.places.contains(&seen.start) {
                    list.push((seen.start as u32, query as u32));
                }
            };
            ask(home, &mut own);
            let near = near.nearest(query).iter().map(|&(_, cell)| cell as usize).filter(|&cell| cell != home);
            near.for_each(|cell| ask(cell, &mut others));
        }
        for pairs in [&mut own, &mut others] {
            pairs.sort_unstable();
            for meets in pairs.chunk_by(|a, b| a.0 == b.0) {
                let start = meets[0].0 as usize;
                let cell = self.cells.cell_of(start);
                let seen = self.cells.seen_from(cell, start);
                let candidates = (seen.start - held.places.start) * dim..(seen.end - held.places.start) * dim;
                meeting.open(&held.rows[candidates], self.cells.centre(cell));
                for &(_, query) in meets {
                    let query = query as usize;
                    meeting.invite(query, &queries.rows[query * dim..(query + 1) * dim]);
                }
                meeting.hold(seen.start, |query| queries.places[query], best);
            }
        }
        for (query, row) in queries.rows.chunks(dim).enumerate() {
            for (squared, place) in
                best.nearest(query).iter_mut().filter(|(_, at)| held.places.contains(&(*at as usize)))
            {
                let at = *place as usize - held.places.start;
                *squared = squared_distance(row, &held.rows[at * dim..(at + 1) * dim]) as f32;
            }
        }
    }
}

/// Rows of one block where all rows stream past.
const STREAM: usize = 32_768;

/// Candidates from lists that another pass has made.
fn load(k: usize, ids: &[u32], squared: &[f32]) -> Best {
    let mut best = Best::new(ids.len() / k, k);
    for (row, (ids, squared)) in ids.chunks(k).zip(squared.chunks(k)).enumerate() {
        let known = ids.iter().zip(squared).filter(|(id, _)| **id != u32::MAX);
        known.for_each(|(&id, &squared)| best.offer(row, squared, id));
    }
    best
}

/// Writes the candidates to lists.
fn save(best: &mut Best, k: usize, ids: &mut [u32], squared: &mut [f32]) {
    for (row, (ids, squared)) in ids.chunks_mut(k).zip(squared.chunks_mut(k)).enumerate() {
        for (slot, &mut (distance, id)) in best.nearest(row).iter_mut().enumerate() {
            (ids[slot], squared[slot]) = (id, distance);
        }
    }
}

/// Orders by distance and node id, and writes.
fn write_ranked(ranked: &mut [(f64, u32)], (ids, squared): (&mut [u32], &mut [f32])) {
    ranked.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for (slot, &(distance, node)) in ranked.iter().enumerate() {
        (ids[slot], squared[slot]) = (node, distance as f32);
    }
}
