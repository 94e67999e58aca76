//! Approximate k nearest neighbours for large pools: cells, blocked products in the nearest cells, sweeps that repair.
//!
//! ```text
//! cells     about √n/2 rows each around centres of dense regions; a row is in one cell               (`partition`)
//! probing   a row meets all rows of its own cell and of the nearest other ones, by blocked f32 products
//! sweeping  neighbours of neighbours, where the rows are held in memory and cells do not suffice      (`descent`)
//! ranking   the k that remain get their distances in f64 and are ordered by distance and node id
//! ```
//!
//! A seeded sample of rows meets every row first. How many cells its true neighbours lie in decides how many cells all
//! rows are compared with: few in a pool of clusters, many in one shapeless cloud. The share of the sample's true
//! neighbours that was found is part of the answer: recall is measured, not promised.
//!
//! Work: n (2 √n + probes √n/2) products of d, against n² of the exact search. Everything random comes from the seed;
//! the result does not depend on the number of threads.
//!
//! Rows that do not fit into memory are read in passes: as many cells as may be held are gathered by streaming once
//! through the source, then all rows stream past them and meet them. Sweeps are left out there, because they jump.

pub(crate) mod top_k;
pub(crate) mod partition;
pub(crate) mod probe;
pub(crate) mod descent;
pub(crate) mod recall;

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::error::{Error, Result};
use crate::features::{Features, Metric, squared_distance};
use crate::ids::NodeId;
use crate::knn::approximate::descent::Lists;
use crate::knn::approximate::partition::Cells;
use crate::knn::approximate::probe::{Held, Queries, load, look, save};
use crate::knn::approximate::recall::Sample;
use crate::knn::approximate::top_k::{Best, Meeting};
use crate::knn::metric_space::{Space, ZeroVectors};
use crate::knn::row_source::{ROWS_PER_READ, Rows, Source};
use crate::knn::{Neighbours, Squared, check_k};
use crate::words::words;

/// How neighbours are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// All of them, by comparing every row with every other.
    Exact,
    /// Most of them, fast.
    Approximate,
    /// Exact while that takes no more than about half a minute on two cores.
    #[default]
    Auto,
}

words!(Search, "search", { Exact => "exact", Approximate => "approximate", Auto => "auto" });

impl Search {
    /// Exact or approximate, for n rows of d numbers: the exact search compares n² pairs of d + 20 numbers' worth of work.
    pub fn for_pool(self, n: usize, dim: usize) -> Search {
        let work = n as f64 * n as f64 * (dim as f64 + 20.0);
        match self {
            Search::Auto if n >= 100_000 && work > EXACT_WORK => Search::Approximate,
            Search::Auto => Search::Exact,
            chosen => chosen,
        }
    }
}

/// Work up to which the automatic choice is exact: 200,000 rows of 32.
const EXACT_WORK: f64 = 2.1e12;

/// How hard the approximate search tries. What is `None` is chosen from the sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// The recall that automatic choices aim at.
    pub recall: f64,
    /// Rows of a cell on average; `None`: √n/2, but at least 3 k.
    pub cell: Option<usize>,
    /// Cells that a row is compared with; `None`: as many as the sample needs for the recall.
    pub probes: Option<usize>,
    /// Sweeps over neighbours of neighbours, where the rows are in memory; `None`: none, or two where the sample would
    /// need more than an eighth of all cells.
    pub sweeps: Option<usize>,
    /// Bytes of rows (as f32) that may be held at once; beyond, they are read in passes.
    pub memory: usize,
    /// Rows on which recall is measured; 0 measures and chooses nothing.
    pub sample: usize,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            recall: 0.98,
            cell: None,
            probes: None,
            sweeps: None,
            memory: usize::MAX,
            sample: 1000,
        }
    }
}

/// Cells compared with where there is no sample to choose from.
const DEFAULT_PROBES: usize = 32;

/// What a search for neighbours finds.
#[derive(Clone, Debug)]
pub struct Found {
    /// The neighbours. Squared distances of an approximate search are rounded to f32 after ranking, 8 bytes an entry.
    pub neighbours: Neighbours,
    /// A permutation of the nodes that puts near ones near each other, where the search has one: a good order for the graph.
    pub order: Option<Vec<NodeId>>,
    /// The share of true neighbours found, on the sample; `None` without a sample, and where the search is exact.
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
        let hunt = Hunt::new(
            &source,
            k,
            seed,
            Effort {
                memory: usize::MAX,
                ..effort
            },
            control,
        )?;
        let unit = 1.0 / source.unit;
        hunt.in_memory(Some(&|i, j| space.squared_distance(i, j) * unit), control)
    }

    /// The same for rows that are read by position, block by block: a pool larger than memory.
    ///
    /// # Errors
    /// As [`Neighbours::approximate`], and the errors of reading the rows.
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
        let hunt = Hunt::new(&source, k, seed, effort, control)?;
        if hunt.cells.active() * source.dim * size_of::<f32>() <= effort.memory {
            hunt.in_memory(None, control)
        } else {
            hunt.in_passes(control)
        }
    }
}

/// An approximate distance between two nodes is replaced by this, in the scaled space.
type Exact<'a> = &'a (dyn Fn(usize, usize) -> f64 + Sync);

struct Hunt<'a> {
    source: &'a Source<'a>,
    cells: Cells,
    k: usize,
    seed: u64,
    effort: Effort,
}

fn cell_size(effort: Effort, n: usize, k: usize) -> usize {
    effort
        .cell
        .unwrap_or_else(|| (((n as f64).sqrt() / 2.0) as usize).max(3 * k))
        .max(1)
}

/// Rows that look for neighbours together; a part of n that many threads can share.
fn queries_together(n: usize) -> usize {
    (n / 64).clamp(512, 8192)
}

impl<'a> Hunt<'a> {
    fn new(
        source: &'a Source<'a>,
        k: usize,
        seed: u64,
        effort: Effort,
        control: &Control,
    ) -> Result<Hunt<'a>> {
        let active = source.isolated.iter().filter(|&&alone| !alone).count();
        check_k(k, active)?;
        if effort.probes == Some(0) {
            return Err(Error::setting("probes", "at least 1", "0"));
        }
        let size = cell_size(effort, active, k);
        let cells = Cells::new(source, size, seed, control)?;
        Ok(Hunt {
            source,
            cells,
            k,
            seed,
            effort,
        })
    }

    /// All rows held at once.
    fn in_memory(self, exact: Option<Exact<'_>>, control: &Control) -> Result<Found> {
        let (k, dim, active) = (self.k, self.source.dim, self.cells.active());
        let nodes: Vec<usize> = self.cells.order[..active]
            .iter()
            .map(|&node| node as usize)
            .collect();
        let rows = self.source.gather(&nodes)?;
        let held = Held {
            rows: &rows,
            places: 0..active,
            control,
        };
        let rank = self.ranks();
        let mut sample = self.sample(&rank)?;
        self.meet_everything(&held, &mut sample)?;
        let (probes, sweeps) = self.choose(&mut sample);
        let places: Vec<u32> = (0..active as u32).collect();
        let mut lists = Lists {
            k,
            ids: vec![u32::MAX; active * k],
            squared: vec![f32::INFINITY; active * k],
        };
        let together = queries_together(active);
        control.start("finding neighbours", active);
        let targets = lists
            .ids
            .par_chunks_mut(together * k)
            .zip(lists.squared.par_chunks_mut(together * k));
        targets.enumerate().try_for_each_init(
            Meeting::default,
            |meeting, (block, (ids, squared))| {
                let range = block * together..block * together + ids.len() / k;
                let queries = Queries {
                    rows: &rows[range.start * dim..range.end * dim],
                    places: &places[range],
                };
                let mut best = Best::new(queries.places.len(), k);
                look(&self.cells, k, &held, &queries, probes, meeting, &mut best)?;
                save(&mut best, k, ids, squared);
                control.advance(queries.places.len())
            },
        )?;
        control.finish();
        let lists = descent::descend(&rows, dim, lists, sweeps, control)?;
        let held_distance = |i: usize, j: usize| {
            squared_distance(&rows[i * dim..(i + 1) * dim], &rows[j * dim..(j + 1) * dim])
        };
        let by_places = |i: usize, j: usize| match exact {
            Some(exact) => exact(nodes[i], nodes[j]),
            None => held_distance(i, j),
        };
        let (mut ids, mut squared) = (
            vec![u32::MAX; self.source.n * k],
            vec![f32::INFINITY; self.source.n * k],
        );
        ids.par_chunks_mut(k)
            .zip(squared.par_chunks_mut(k))
            .enumerate()
            .for_each_init(Vec::new, |ranked, (node, out)| {
                let place = rank[node] as usize;
                if place < active {
                    ranked.clear();
                    let found = &lists.ids[place * k..(place + 1) * k];
                    ranked.extend(
                        found.iter().map(|&at| {
                            (by_places(place, at as usize), self.cells.order[at as usize])
                        }),
                    );
                    write_ranked(ranked, out);
                }
            });
        Ok(self.found(ids, squared, sample))
    }

    /// A part of the rows held at a time, all rows streaming past.
    fn in_passes(self, control: &Control) -> Result<Found> {
        let (n, k, dim) = (self.source.n, self.k, self.source.dim);
        let rank = self.ranks();
        let mut sample = self.sample(&rank)?;
        let groups = self.groups();
        for group in &groups {
            let rows = self.hold(group, &rank, control)?;
            self.meet_everything(
                &Held {
                    rows: &rows,
                    places: group.clone(),
                    control,
                },
                &mut sample,
            )?;
        }
        let (probes, _) = self.choose(&mut sample);
        let (mut ids, mut squared) = (vec![u32::MAX; n * k], vec![f32::INFINITY; n * k]);
        control.start("finding neighbours", groups.len() * n);
        for group in groups {
            let rows = self.hold(&group, &rank, control)?;
            let held = Held {
                rows: &rows,
                places: group,
                control,
            };
            let targets = ids
                .par_chunks_mut(ROWS_PER_STREAM * k)
                .zip(squared.par_chunks_mut(ROWS_PER_STREAM * k));
            targets.enumerate().try_for_each_init(
                Meeting::default,
                |meeting, (block, (ids, squared))| {
                    let range = block * ROWS_PER_STREAM..block * ROWS_PER_STREAM + ids.len() / k;
                    let mut rows = vec![0.0; range.len() * dim];
                    (self.source.read)(range.clone(), &mut rows)?;
                    let queries = Queries {
                        rows: &rows,
                        places: &rank[range],
                    };
                    let mut best = load(k, ids, squared);
                    look(&self.cells, k, &held, &queries, probes, meeting, &mut best)?;
                    held.measure(&queries, &mut best);
                    save(&mut best, k, ids, squared);
                    control.advance(queries.places.len())
                },
            )?;
        }
        control.finish();
        ids.par_chunks_mut(k)
            .zip(squared.par_chunks_mut(k))
            .enumerate()
            .for_each_init(Vec::new, |ranked, (node, out)| {
                if !self.source.isolated[node] {
                    ranked.clear();
                    let found = out.0.iter().zip(&*out.1);
                    ranked.extend(
                        found.map(|(&at, &d)| (f64::from(d), self.cells.order[at as usize])),
                    );
                    write_ranked(ranked, out);
                }
            });
        Ok(self.found(ids, squared, sample))
    }

    fn sample(&self, rank: &[u32]) -> Result<Sample> {
        Sample::draw(self.source, self.effort.sample, self.k, self.seed, rank)
    }

    /// Lets the sample meet all that is held.
    fn meet_everything(&self, held: &Held<'_>, sample: &mut Sample) -> Result<()> {
        sample.meet(|chunk| {
            let queries = Queries {
                rows: &chunk.rows,
                places: &chunk.places,
            };
            look(
                &self.cells,
                self.k,
                held,
                &queries,
                self.cells.count(),
                &mut Meeting::default(),
                &mut chunk.best,
            )?;
            held.measure(&queries, &mut chunk.best);
            Ok(())
        })
    }

    /// Probes and sweeps: as asked for, or by how many of the nearest cells the true neighbours of the sample need.
    fn choose(&self, sample: &mut Sample) -> (usize, usize) {
        let most = self.cells.count().div_ceil(8).max(DEFAULT_PROBES);
        let needed = sample
            .cells_needed(&self.cells, self.effort.recall)
            .unwrap_or(DEFAULT_PROBES);
        let sweeps = if needed > most { 2 } else { 0 };
        (
            self.effort.probes.unwrap_or(needed.min(most)),
            self.effort.sweeps.unwrap_or(sweeps),
        )
    }

    fn found(self, ids: Vec<u32>, squared: Vec<f32>, sample: Sample) -> Found {
        let recall = sample.recall(&squared);
        let squared = Squared::Narrow {
            values: squared,
            unit: self.source.unit,
        };
        let neighbours = Neighbours::from_parts(self.k, ids, squared, self.source.isolated.clone());
        Found {
            neighbours,
            order: Some(self.cells.order.into_iter().map(NodeId).collect()),
            recall,
        }
    }

    /// The place of every node.
    fn ranks(&self) -> Vec<u32> {
        let mut rank = vec![0u32; self.source.n];
        self.cells
            .order
            .iter()
            .zip(0..)
            .for_each(|(&node, place)| rank[node as usize] = place);
        let active = self.cells.active() as u32;
        rank.iter_mut()
            .filter(|place| **place >= active)
            .for_each(|place| *place = u32::MAX);
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
        let blocks: Vec<usize> = (0..n.div_ceil(ROWS_PER_READ)).collect();
        for some in blocks.chunks(16) {
            control.check()?;
            let read = |&block: &usize| {
                let range = block * ROWS_PER_READ..((block + 1) * ROWS_PER_READ).min(n);
                let mut rows = vec![0.0; range.len() * dim];
                (self.source.read)(range.clone(), &mut rows).map(|()| (range, rows))
            };
            for (range, rows) in some.par_iter().map(read).collect::<Result<Vec<_>>>()? {
                for (node, row) in range
                    .zip(rows.chunks(dim))
                    .filter(|(node, _)| group.contains(&(rank[*node] as usize)))
                {
                    let at = rank[node] as usize - group.start;
                    held[at * dim..(at + 1) * dim].copy_from_slice(row);
                }
            }
        }
        Ok(held)
    }
}

/// Rows of one block where all rows stream past.
const ROWS_PER_STREAM: usize = 32_768;

/// Orders by distance and node id, and writes.
fn write_ranked(ranked: &mut [(f64, u32)], (ids, squared): (&mut [u32], &mut [f32])) {
    ranked.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for (slot, &(distance, node)) in ranked.iter().enumerate() {
        (ids[slot], squared[slot]) = (node, distance as f32);
    }
}
