//! Exact k nearest neighbours of rows of bytes (raw pixels), every pair of rows met once.
//!
//! Blocks of rows meet in pairs (`distances_u8`), and a distance is offered to both of its rows, so half the products
//! suffice. Distances are exact integers and neighbours are ordered by (distance, node id), all different; the k
//! smallest of a set do not depend on the order in which it is gone through, so pairs of blocks may meet in any order
//! on any number of threads, and the result has the bits of `knn`' own search, whose distances in f64 are these
//! integers.
//!
//! Memory: two copies of the features in bytes, 2k + 16 candidates of 8 bytes a row, and the result.

use std::sync::{Mutex, MutexGuard};

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Result;
use crate::knn::distances_u8::{Bytes, Hit, Meeting, ROWS_PER_BLOCK};

/// The ids of the k nearest rows of every row, nearest first, and their squared distances.
///
/// # Errors
/// Cancelled.
pub(crate) fn search(bytes: Bytes, k: usize, control: &Control) -> Result<(Vec<u32>, Vec<f64>)> {
    let n = bytes.n();
    let blocks = n.div_ceil(ROWS_PER_BLOCK);
    let nearest: Vec<Mutex<Vec<Nearest>>> = (0..blocks)
        .map(|block| {
            Mutex::new(
                bytes
                    .block(block)
                    .map(|row| Nearest::new(row < n, k))
                    .collect(),
            )
        })
        .collect();
    let pairs = blocks * (blocks + 1) / 2;
    control.start("finding neighbours", pairs);
    (0..pairs)
        .into_par_iter()
        .try_for_each_init(Meeting::default, |meeting, pair| {
            let (left, right) = pair_of(pair, blocks);
            read_bars(&nearest, left, right, meeting);
            bytes.meet(left, right, meeting);
            offer(&mut lock(&nearest[left]), &meeting.hits[0], k);
            offer(&mut lock(&nearest[right]), &meeting.hits[1], k);
            control.advance(1)
        })?;
    drop(bytes);
    control.finish();

    let (mut ids, mut squared) = (vec![u32::MAX; n * k], vec![f64::INFINITY; n * k]);
    let rows = ids
        .par_chunks_mut(ROWS_PER_BLOCK * k)
        .zip(squared.par_chunks_mut(ROWS_PER_BLOCK * k));
    rows.zip(&nearest).for_each(|((ids, squared), nearest)| {
        let rows = ids.chunks_mut(k).zip(squared.chunks_mut(k));
        for ((ids, squared), nearest) in rows.zip(lock(nearest).iter_mut()) {
            for (slot, key) in nearest.ranked(k).iter().enumerate() {
                (ids[slot], squared[slot]) = (*key as u32, (key >> 32) as f64);
            }
        }
    });
    Ok((ids, squared))
}

/// The pairs of blocks, each once: all blocks with themselves, with the next one, the one after, going round.
fn pair_of(pair: usize, blocks: usize) -> (usize, usize) {
    let (offset, left) = (pair / blocks, pair % blocks);
    (left, (left + offset) % blocks)
}

fn lock(nearest: &Mutex<Vec<Nearest>>) -> MutexGuard<'_, Vec<Nearest>> {
    nearest.lock().expect("no thread panics while holding it")
}

/// The bars as they are now. They only get lower, so an old one lets through too much and never too little.
fn read_bars(nearest: &[Mutex<Vec<Nearest>>], left: usize, right: usize, meeting: &mut Meeting) {
    for (bars, block) in meeting.bars.iter_mut().zip([left, right]) {
        bars.clear();
        bars.extend(lock(&nearest[block]).iter().map(Nearest::bar));
    }
    if left == right {
        // The left side was compared with all pairs already.
        meeting.bars[1].fill(i32::MIN);
    }
}

fn offer(nearest: &mut [Nearest], hits: &[Hit], k: usize) {
    for hit in hits {
        nearest[hit.row].offer((hit.squared as u64) << 32 | u64::from(hit.other), k);
    }
}

/// The nearest rows of one row so far, and some more. A key is a squared distance, then a node id.
struct Nearest {
    kept: Vec<u64>,
    /// The k-th smallest key when it was last looked for.
    bar: Option<u64>,
}

impl Nearest {
    /// Of a row of the pool, or of one that only fills up a panel and has no neighbours.
    fn new(is_real: bool, k: usize) -> Nearest {
        if is_real {
            Nearest {
                kept: Vec::with_capacity(2 * k + 16),
                bar: Some(u64::MAX),
            }
        } else {
            Nearest {
                kept: Vec::new(),
                bar: None,
            }
        }
    }

    /// The largest squared distance of use, below 0 if there is none.
    fn bar(&self) -> i32 {
        self.bar
            .map_or(i32::MIN, |bar| i32::try_from(bar >> 32).unwrap_or(i32::MAX))
    }

    fn offer(&mut self, key: u64, k: usize) {
        if self.bar.is_some_and(|bar| key < bar) {
            self.kept.push(key);
            if self.kept.len() == 2 * k + 16 {
                self.kept.select_nth_unstable(k - 1);
                self.kept.truncate(k);
                self.bar = Some(self.kept[k - 1]);
            }
        }
    }

    fn ranked(&mut self, k: usize) -> &[u64] {
        self.kept.sort_unstable();
        self.kept.truncate(k);
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;
    use crate::seed::{Purpose, Random};
    use std::collections::BTreeSet;

    fn search_on(threads: usize, features: Features<'_>, k: usize) -> (Vec<u32>, Vec<f64>) {
        let bytes = Bytes::new(features.n(), features.dim(), |row, column| {
            features.get(row, column)
        })
        .unwrap();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| search(bytes, k, &Control::new())).unwrap()
    }

    #[test]
    fn equals_brute_force_across_block_borders_with_duplicates_on_any_number_of_threads() {
        // Few values and copied rows make ties; sizes lie on both sides of the borders of panels, groups and blocks.
        for (n, dim, values, k) in [
            (9, 1, 3, 8),
            (64, 5, 2, 3),
            (257, 13, 4, 40),
            (700, 70, 256, 10),
        ] {
            let mut random = Random::new(8, Purpose::User, n as u64);
            let mut x: Vec<f32> = (0..n * dim).map(|_| random.below(values) as f32).collect();
            x.copy_within(0..n / 3 * dim, n / 2 * dim);
            let features = Features::f32(&x, n, dim).unwrap();
            let (ids, squared) = search_on(1, features, k);
            for i in 0..n {
                let others = (0..n).filter(|&j| j != i);
                let mut all: Vec<(f64, u32)> = others
                    .map(|j| (features.squared_distance(i, j), j as u32))
                    .collect();
                all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                let row = i * k..(i + 1) * k;
                let found: Vec<_> = squared[row.clone()]
                    .iter()
                    .copied()
                    .zip(ids[row].iter().copied())
                    .collect();
                assert_eq!(found, all[..k], "{n} x {dim}: row {i}");
            }
            assert_eq!(search_on(3, features, k), (ids, squared));
        }
    }

    #[test]
    fn every_pair_of_blocks_meets_once() {
        for blocks in 1..9 {
            let pairs: BTreeSet<(usize, usize)> = (0..blocks * (blocks + 1) / 2)
                .map(|pair| pair_of(pair, blocks))
                .map(|(left, right)| (left.min(right), left.max(right)))
                .collect();
            assert_eq!(pairs.len(), blocks * (blocks + 1) / 2);
        }
    }
}
