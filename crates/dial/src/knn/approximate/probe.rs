//! Probing: rows meet the rows of their nearest cells.
//!
//! Pairs of a query and a cell are sorted by cell, so that each cell is packed once and meets all queries that ask for
//! it in one blocked product. The own cells come first: they bring the bar down for the others.

use std::ops::Range;

use crate::control::Control;
use crate::error::Result;
use crate::features::squared_distance;
use crate::knn::approximate::partition::Cells;
use crate::knn::approximate::top_k::{Best, Meeting};

/// Rows of cells, held in memory in the order of their places.
pub(crate) struct Held<'a> {
    pub(crate) rows: &'a [f32],
    pub(crate) places: Range<usize>,
    pub(crate) control: &'a Control,
}

impl Held<'_> {
    /// Replaces the distances to held rows, so far from products, by direct ones.
    pub(crate) fn measure(&self, queries: &Queries<'_>, best: &mut Best) {
        let dim = queries.rows.len() / queries.places.len();
        for (query, row) in queries.rows.chunks(dim).enumerate() {
            for (squared, place) in best.nearest(query) {
                if self.places.contains(&(*place as usize)) {
                    let at = *place as usize - self.places.start;
                    *squared = squared_distance(row, &self.rows[at * dim..(at + 1) * dim]) as f32;
                }
            }
        }
    }
}

/// Rows that look for neighbours, and their places (`u32::MAX`: takes no part).
pub(crate) struct Queries<'a> {
    pub(crate) rows: &'a [f32],
    pub(crate) places: &'a [u32],
}

/// Lets every query meet the held rows of its nearest cells, its own first.
///
/// # Errors
/// Cancelled: the lists are then incomplete.
pub(crate) fn look(
    cells: &Cells,
    k: usize,
    held: &Held<'_>,
    queries: &Queries<'_>,
    probes: usize,
    meeting: &mut Meeting,
    best: &mut Best,
) -> Result<()> {
    let dim = queries.rows.len() / queries.places.len();
    let probes = probes.min(cells.count());
    let mut near = Best::new(queries.places.len(), probes);
    cells.nearest(queries.rows, meeting, &mut near);
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for (query, &place) in queries
        .places
        .iter()
        .enumerate()
        .filter(|(_, place)| **place != u32::MAX)
    {
        let home = cells.cell_of(place as usize);
        let ask = |cell: usize, list: &mut Vec<(u32, u32)>| {
            let seen = cells.seen_from(cell, place as usize);
            if !seen.is_empty() && held.places.contains(&seen.start) {
                list.push((seen.start as u32, query as u32));
            }
        };
        ask(home, &mut own);
        let mut nearest: Vec<usize> = near
            .nearest(query)
            .iter()
            .map(|&(_, cell)| cell as usize)
            .collect();
        let met: usize = nearest
            .iter()
            .map(|&cell| cells.seen_from(cell, place as usize).len())
            .sum();
        if met <= k {
            nearest = cells.enough(
                &queries.rows[query * dim..(query + 1) * dim],
                place as usize,
                k,
            );
        }
        nearest
            .into_iter()
            .filter(|&cell| cell != home)
            .for_each(|cell| ask(cell, &mut others));
    }
    for pairs in [&mut own, &mut others] {
        pairs.sort_unstable();
        for meets in pairs.chunk_by(|a, b| a.0 == b.0) {
            held.control.check()?;
            let start = meets[0].0 as usize;
            let cell = cells.cell_of(start);
            let seen = cells.seen_from(cell, start);
            let candidates =
                (seen.start - held.places.start) * dim..(seen.end - held.places.start) * dim;
            meeting.open(&held.rows[candidates], cells.centre(cell));
            for &(_, query) in meets {
                let query = query as usize;
                meeting.invite(query, &queries.rows[query * dim..(query + 1) * dim]);
            }
            meeting.hold(seen.start, |query| queries.places[query], best);
        }
    }
    Ok(())
}

/// Candidates from lists that another pass has made.
pub(crate) fn load(k: usize, ids: &[u32], squared: &[f32]) -> Best {
    let mut best = Best::new(ids.len() / k, k);
    for (row, (ids, squared)) in ids.chunks(k).zip(squared.chunks(k)).enumerate() {
        let known = ids.iter().zip(squared).filter(|(id, _)| **id != u32::MAX);
        known.for_each(|(&id, &squared)| best.offer(row, squared, id));
    }
    best
}

/// Writes the candidates to lists.
pub(crate) fn save(best: &mut Best, k: usize, ids: &mut [u32], squared: &mut [f32]) {
    for (row, (ids, squared)) in ids.chunks_mut(k).zip(squared.chunks_mut(k)).enumerate() {
        for (slot, &mut (distance, id)) in best.nearest(row).iter_mut().enumerate() {
            (ids[slot], squared[slot]) = (id, distance);
        }
    }
}
