//! The k nearest candidates of many rows at once, by f32 distance and id, while candidates stream past.
//!
//! A row collects up to `room` candidates below its bar; then the k best stay and the bar falls to the k-th. What is
//! kept in the end is the k smallest by (distance, id) of all that were offered, in any order.

use crate::knn::screen_f32::{self, Panels};

/// The candidates of a block of rows.
pub(crate) struct Best {
    k: usize,
    room: usize,
    kept: Vec<(f32, u32)>,
    count: Vec<u32>,
    bar: Vec<f32>,
}

fn order(a: &(f32, u32), b: &(f32, u32)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

impl Best {
    pub(crate) fn new(rows: usize, k: usize) -> Best {
        let room = 2 * k + 24;
        Best {
            k,
            room,
            kept: vec![(0.0, 0); rows * room],
            count: vec![0; rows],
            bar: vec![f32::INFINITY; rows],
        }
    }

    /// Forgets everything; the same number of rows.
    pub(crate) fn clear(&mut self) {
        self.count.fill(0);
        self.bar.fill(f32::INFINITY);
    }

    /// The distance that a candidate of this row must not exceed.
    pub(crate) fn bar(&self, row: usize) -> f32 {
        self.bar[row]
    }

    /// Takes a candidate unless it lies beyond the bar; an id is offered once per row.
    #[inline]
    pub(crate) fn offer(&mut self, row: usize, squared: f32, id: u32) {
        if squared > self.bar[row] {
            return;
        }
        let count = self.count[row] as usize;
        self.kept[row * self.room + count] = (squared, id);
        self.count[row] += 1;
        if count + 1 == self.room {
            self.compress(row);
        }
    }

    #[cold]
    fn compress(&mut self, row: usize) {
        let kept = &mut self.kept[row * self.room..(row + 1) * self.room];
        let (_, &mut (squared, _), _) = kept.select_nth_unstable_by(self.k - 1, order);
        self.bar[row] = squared;
        self.count[row] = self.k as u32;
    }

    /// The k nearest so far (fewer, if fewer were offered), nearest first.
    pub(crate) fn nearest(&mut self, row: usize) -> &mut [(f32, u32)] {
        let kept = &mut self.kept[row * self.room..row * self.room + self.count[row] as usize];
        kept.sort_unstable_by(order);
        let count = kept.len().min(self.k);
        self.count[row] = count as u32;
        if count == self.k {
            self.bar[row] = kept[count - 1].0;
        }
        &mut self.kept[row * self.room..row * self.room + count]
    }
}

/// Some queries and some candidates that are to be compared, all with all; buffers that are used again and again.
#[derive(Default)]
pub(crate) struct Meeting {
    panels: Panels,
    centre: Vec<f32>,
    rows: Vec<u32>,
    queries: Vec<f32>,
    squares: Vec<f32>,
    thresholds: Vec<f32>,
}

impl Meeting {
    /// Invites the candidates; everything is taken relative to a centre among them. No queries yet.
    pub(crate) fn open(&mut self, candidates: &[f32], centre: &[f32]) {
        self.panels.fill(candidates, centre);
        self.centre.clear();
        self.centre.extend_from_slice(centre);
        self.rows.clear();
        self.queries.clear();
        self.squares.clear();
    }

    /// Invites the query whose candidates are a row of the block.
    pub(crate) fn invite(&mut self, row: usize, query: &[f32]) {
        let start = self.queries.len();
        self.queries
            .extend(query.iter().zip(&self.centre).map(|(x, c)| x - c));
        self.rows.push(row as u32);
        self.squares
            .push(self.queries[start..].iter().map(|x| x * x).sum());
    }

    /// Offers every candidate to every query, |x - y|² = |x|² - 2 (x·y - |y|²/2), except the query itself. Candidates are
    /// numbered from `first`; `own(row)` is the number of the query.
    pub(crate) fn hold(&mut self, first: usize, own: impl Fn(usize) -> u32, best: &mut Best) {
        self.thresholds.clear();
        let bars = self
            .rows
            .iter()
            .zip(&self.squares)
            .map(|(&row, square)| 0.5 * (square - best.bar(row as usize)));
        self.thresholds.extend(bars);
        let (rows, squares) = (&self.rows, &self.squares);
        screen_f32::scan(
            &self.queries,
            &self.panels,
            &mut self.thresholds,
            |query, candidate, h| {
                let (row, square, id) = (
                    rows[query] as usize,
                    squares[query],
                    (first + candidate) as u32,
                );
                if id != own(row) {
                    best.offer(row, (square - 2.0 * h).max(0.0), id);
                }
                0.5 * (square - best.bar(row))
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keeps_the_smallest_of_all_offers(distances in prop::collection::vec(0u8..40, 1..300), k in 1usize..9) {
            let mut best = Best::new(2, k);
            let mut all: Vec<(f32, u32)> = distances.iter().zip(0..).map(|(&d, id)| (f32::from(d), id)).collect();
            for &(squared, id) in &all {
                best.offer(1, squared, id);
            }
            all.sort_by(order);
            all.truncate(k);
            prop_assert_eq!(best.nearest(1).to_vec(), all);
            prop_assert!(best.nearest(0).is_empty());
        }
    }
}
