//! A partition of the rows into cells of near rows, and the cells that lie near a row.
//!
//! Centres are found by a few steps of Lloyd's algorithm on a sample: dense regions get many. Every row belongs to its
//! nearest centre; rows of one cell stand together in `order`, and near cells stand near each other, because the centres
//! are halved again and again along their longest direction. A row's neighbours are looked for in its own cell and in
//! the cells of the next-nearest centres.

use std::ops::Range;

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Result;
use crate::features::squared_distance;
use crate::knn::approximate::top_k::{Best, Meeting};
use crate::knn::row_source::{ROWS_PER_READ, Source};
use crate::seed::{Purpose, Random};

/// Rows of the sample per centre, and steps of Lloyd's algorithm on it.
const SAMPLE_PER_CENTRE: usize = 24;
const LLOYD_STEPS: usize = 4;

/// A cell this many times larger than the mean holds copies; only this many of its rows are compared.
const CROWDED_FACTOR: usize = 16;

/// The partition.
pub(crate) struct Cells {
    dim: usize,
    centres: Vec<f32>,
    middle: Vec<f32>,
    /// The places of cell c are `starts[c]..starts[c + 1]`.
    starts: Vec<usize>,
    /// The node at each place; nodes without neighbours come last.
    pub(crate) order: Vec<u32>,
    limit: usize,
}

impl Cells {
    /// Cuts the rows into about n / size cells.
    pub(crate) fn new(
        source: &Source<'_>,
        size: usize,
        seed: u64,
        control: &Control,
    ) -> Result<Cells> {
        let rows: Vec<u32> = (0..source.n as u32)
            .filter(|&row| !source.isolated[row as usize])
            .collect();
        let wanted = (rows.len() / size).max(1);
        let mut random = Random::new(seed, Purpose::Neighbours, 0);
        let sample: Vec<usize> = if rows.len() <= SAMPLE_PER_CENTRE * wanted {
            rows.iter().map(|&row| row as usize).collect()
        } else {
            let mut sample: Vec<usize> = random
                .distinct(SAMPLE_PER_CENTRE * wanted, rows.len())
                .into_iter()
                .map(|at| rows[at] as usize)
                .collect();
            sample.sort_unstable();
            sample
        };
        let sample = source.gather(&sample)?;
        let mut cells = Cells {
            dim: source.dim,
            centres: Vec::new(),
            middle: mean(&sample, source.dim),
            starts: Vec::new(),
            order: Vec::new(),
            limit: CROWDED_FACTOR * size,
        };
        let chosen = random.distinct(wanted, sample.len() / source.dim);
        cells.centres = chosen
            .iter()
            .flat_map(|&row| &sample[row * source.dim..(row + 1) * source.dim])
            .copied()
            .collect();
        control.start("placing cells", LLOYD_STEPS);
        for _ in 0..LLOYD_STEPS {
            cells.improve(&sample);
            control.advance(1)?;
        }
        control.finish();
        cells.arrange();
        cells.fill(source, control)?;
        Ok(cells)
    }

    /// Number of cells.
    pub(crate) fn count(&self) -> usize {
        self.centres.len() / self.dim
    }

    /// The centre of a cell.
    pub(crate) fn centre(&self, cell: usize) -> &[f32] {
        &self.centres[cell * self.dim..(cell + 1) * self.dim]
    }

    /// The places of a cell.
    pub(crate) fn places(&self, cell: usize) -> Range<usize> {
        self.starts[cell]..self.starts[cell + 1]
    }

    /// The cell of a place.
    pub(crate) fn cell_of(&self, place: usize) -> usize {
        self.starts.partition_point(|&start| start <= place) - 1
    }

    /// Number of rows that have neighbours.
    pub(crate) fn active(&self) -> usize {
        self.starts[self.count()]
    }

    /// The places of a cell that a row is compared with: all of them, or a part around the row in a crowd of copies.
    pub(crate) fn seen_from(&self, cell: usize, place: usize) -> Range<usize> {
        let all = self.places(cell);
        if all.len() <= self.limit {
            return all;
        }
        let parts = all.len().div_ceil(self.limit);
        let part = if all.contains(&place) {
            (place - all.start) * parts / all.len()
        } else {
            0
        };
        all.start + (part * all.len()).div_ceil(parts)
            ..all.start + ((part + 1) * all.len()).div_ceil(parts)
    }

    /// The nearest cells of a row, as many as hold more than k rows besides itself: for rows among nearly empty cells.
    pub(crate) fn enough(&self, row: &[f32], place: usize, k: usize) -> Vec<usize> {
        let mut best = Best::new(1, self.count());
        self.nearest(row, &mut Meeting::default(), &mut best);
        let (mut rows, mut enough) = (0, Vec::new());
        for &mut (_, cell) in best.nearest(0) {
            if rows > k {
                break;
            }
            rows += self.seen_from(cell as usize, place).len();
            enough.push(cell as usize);
        }
        enough
    }

    /// Offers centres to rows as candidates, numbered from 0.
    pub(crate) fn nearest(&self, rows: &[f32], meeting: &mut Meeting, best: &mut Best) {
        meeting.open(&self.centres, &self.middle);
        for (row, values) in rows.chunks(self.dim).enumerate() {
            meeting.invite(row, values);
        }
        meeting.hold(0, |_| u32::MAX, best);
    }

    /// The nearest centre of every row of a block.
    fn nearest_one(&self, rows: &[f32]) -> Vec<u32> {
        let mut best = Best::new(rows.len() / self.dim, 1);
        self.nearest(rows, &mut Meeting::default(), &mut best);
        (0..rows.len() / self.dim)
            .map(|row| best.nearest(row)[0].1)
            .collect()
    }

    /// One step of Lloyd's algorithm; a centre without rows stays.
    fn improve(&mut self, sample: &[f32]) {
        let dim = self.dim;
        let nearest: Vec<Vec<u32>> = sample
            .par_chunks(ROWS_PER_READ / 4 * dim)
            .map(|block| self.nearest_one(block))
            .collect();
        let mut sums = vec![0.0f64; self.centres.len()];
        let mut counts = vec![0usize; self.count()];
        for (row, cell) in sample.chunks(dim).zip(nearest.into_iter().flatten()) {
            let cell = cell as usize;
            counts[cell] += 1;
            sums[cell * dim..(cell + 1) * dim]
                .iter_mut()
                .zip(row)
                .for_each(|(sum, &value)| *sum += f64::from(value));
        }
        for (cell, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
            for (centre, sum) in self.centres[cell * dim..(cell + 1) * dim]
                .iter_mut()
                .zip(&sums[cell * dim..])
            {
                *centre = (sum / count as f64) as f32;
            }
        }
    }

    /// Orders the centres so that near ones stand near each other.
    fn arrange(&mut self) {
        let mut order: Vec<usize> = (0..self.count()).collect();
        let mut parts: Vec<Range<usize>> = std::iter::once(0..order.len()).collect();
        while let Some(part) = parts.pop() {
            if part.len() > 2 {
                self.halve(&mut order[part.clone()]);
                let middle = part.start + part.len() / 2;
                parts.extend([part.start..middle, middle..part.end]);
            }
        }
        self.centres = order
            .iter()
            .flat_map(|&cell| self.centre(cell))
            .copied()
            .collect();
    }

    /// Sorts centres along the line from one extreme one to the one farthest from it.
    fn halve(&self, some: &mut [usize]) {
        let farthest = |from: usize| {
            let reach = |&cell: &usize| squared_distance(self.centre(from), self.centre(cell));
            *some
                .iter()
                .max_by(|a, b| reach(a).total_cmp(&reach(b)).then(a.cmp(b)))
                .expect("not empty")
        };
        let one = farthest(some[0]);
        let other = farthest(one);
        let along = |&cell: &usize| -> f64 {
            let line = self
                .centre(other)
                .iter()
                .zip(self.centre(one))
                .map(|(a, b)| f64::from(a - b));
            line.zip(self.centre(cell))
                .map(|(line, &x)| line * f64::from(x))
                .sum()
        };
        some.sort_by_cached_key(|cell| {
            // Bits of a float, made to sort like the float.
            let bits = along(cell).to_bits() as i64;
            (bits ^ (((bits >> 63) as u64) >> 1) as i64, *cell)
        });
    }

    /// Puts every row into the cell of its nearest centre.
    fn fill(&mut self, source: &Source<'_>, control: &Control) -> Result<()> {
        let (n, dim) = (source.n, source.dim);
        let mut cell_of = vec![0u32; n];
        control.start("filling cells", n);
        cell_of
            .par_chunks_mut(ROWS_PER_READ)
            .enumerate()
            .try_for_each(|(block, out)| {
                let first = block * ROWS_PER_READ;
                let mut rows = vec![0.0; out.len() * dim];
                (source.read)(first..first + out.len(), &mut rows)?;
                out.copy_from_slice(&self.nearest_one(&rows));
                control.advance(out.len())
            })?;
        control.finish();
        let last = self.count();
        let cell = |row: usize| {
            if source.isolated[row] {
                last
            } else {
                cell_of[row] as usize
            }
        };
        let mut starts = vec![0usize; last + 2];
        (0..n).for_each(|row| starts[cell(row) + 1] += 1);
        (0..=last).for_each(|cell| starts[cell + 1] += starts[cell]);
        let mut next = starts.clone();
        self.order = vec![0; n];
        for row in 0..n {
            self.order[next[cell(row)]] = row as u32;
            next[cell(row)] += 1;
        }
        starts.pop();
        self.starts = starts;
        Ok(())
    }
}

fn mean(rows: &[f32], dim: usize) -> Vec<f32> {
    let mut sums = vec![0.0f64; dim];
    for row in rows.chunks(dim) {
        sums.iter_mut()
            .zip(row)
            .for_each(|(sum, &value)| *sum += f64::from(value));
    }
    sums.iter()
        .map(|sum| (sum / (rows.len() / dim) as f64) as f32)
        .collect()
}
