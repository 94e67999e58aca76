//! Neighbours of neighbours: sweeps that repair what a partition missed.
//!
//! ```text
//! list'(i) = the k nearest to i among  list(i) ∪ ⋃ { list(j) : j in list(i) }
//! ```
//!
//! Every row reads the old lists and writes its own new one, so a sweep has the same result for any number of threads
//! (Dong, Moses and Li, WWW 2011, update both ends of a pair at once). A path i -> j -> l is looked at only when one of its
//! two steps is new since the last sweep. Rows stand in the order of the partition, so most of what is read is near.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Result;
use crate::knn::approximate::top_k::Best;
use crate::knn::screen_f32;

/// The lists of all places: k ids and distances each, nearest first.
pub(crate) struct Lists {
    pub(crate) k: usize,
    pub(crate) ids: Vec<u32>,
    pub(crate) squared: Vec<f32>,
}

/// Repairs the lists in at most `sweeps` sweeps, fewer if a sweep improves nothing. All lists are full.
pub(crate) fn descend(
    rows: &[f32],
    dim: usize,
    mut lists: Lists,
    sweeps: usize,
    control: &Control,
) -> Result<Lists> {
    let (n, k) = (lists.ids.len() / lists.k, lists.k);
    let mut fresh = vec![true; lists.ids.len()];
    control.start("asking neighbours of neighbours", sweeps * n);
    for _ in 0..sweeps {
        let mut next = Lists {
            k,
            ids: vec![0; n * k],
            squared: vec![0.0; n * k],
        };
        let mut renewed = vec![false; n * k];
        let targets = next
            .ids
            .par_chunks_mut(NODES_PER_TASK * k)
            .zip(next.squared.par_chunks_mut(NODES_PER_TASK * k));
        targets
            .zip(renewed.par_chunks_mut(NODES_PER_TASK * k))
            .enumerate()
            .try_for_each_init(
                || Sweep::new(k),
                |sweep, (chunk, ((ids, squared), renewed))| {
                    let out = ids
                        .chunks_mut(k)
                        .zip(squared.chunks_mut(k))
                        .zip(renewed.chunks_mut(k));
                    for (place, ((ids, squared), renewed)) in (chunk * NODES_PER_TASK..).zip(out) {
                        sweep.renew(rows, dim, &lists, &fresh, place, (ids, squared, renewed));
                    }
                    control.advance(renewed.len() / k)
                },
            )?;
        (lists, fresh) = (next, renewed);
    }
    control.finish();
    Ok(lists)
}

const NODES_PER_TASK: usize = 256;

/// Buffers of one thread.
struct Sweep {
    best: Best,
    seen: Seen,
    candidates: Vec<u32>,
    distances: Vec<f32>,
}

impl Sweep {
    fn new(k: usize) -> Sweep {
        Sweep {
            best: Best::new(1, k),
            seen: Seen::new(k * k + k),
            candidates: Vec::new(),
            distances: Vec::new(),
        }
    }

    fn renew(
        &mut self,
        rows: &[f32],
        dim: usize,
        lists: &Lists,
        fresh: &[bool],
        place: usize,
        (ids, squared, renewed): (&mut [u32], &mut [f32], &mut [bool]),
    ) {
        let k = lists.k;
        let own = place * k..(place + 1) * k;
        self.best.clear();
        self.seen.clear();
        self.candidates.clear();
        self.seen.insert(place as u32);
        for at in own.clone() {
            self.seen.insert(lists.ids[at]);
            self.best.offer(0, lists.squared[at], lists.ids[at]);
        }
        for at in own.clone() {
            let near = lists.ids[at] as usize;
            for through in near * k..(near + 1) * k {
                if (fresh[at] || fresh[through]) && self.seen.insert(lists.ids[through]) {
                    self.candidates.push(lists.ids[through]);
                }
            }
        }
        screen_f32::distances(
            &rows[place * dim..(place + 1) * dim],
            rows,
            &self.candidates,
            &mut self.distances,
        );
        let bar = lists.squared[own.end - 1];
        for (&id, &distance) in self.candidates.iter().zip(&self.distances) {
            if distance <= bar {
                self.best.offer(0, distance, id);
            }
        }
        let old = &lists.ids[own];
        for (slot, &mut (distance, id)) in self.best.nearest(0).iter_mut().enumerate() {
            (ids[slot], squared[slot], renewed[slot]) = (id, distance, !old.contains(&id));
        }
    }
}

/// A small set of ids: open addressing, at most half full.
struct Seen {
    slots: Vec<u32>,
}

impl Seen {
    fn new(most: usize) -> Seen {
        Seen {
            slots: vec![u32::MAX; (2 * most + 2).next_power_of_two()],
        }
    }

    fn clear(&mut self) {
        self.slots.fill(u32::MAX);
    }

    /// Whether the id is new.
    fn insert(&mut self, id: u32) -> bool {
        let mask = self.slots.len() - 1;
        let mut at = (id.wrapping_mul(0x9E37_79B1) >> 7) as usize & mask;
        while self.slots[at] != u32::MAX {
            if self.slots[at] == id {
                return false;
            }
            at = (at + 1) & mask;
        }
        self.slots[at] = id;
        true
    }
}
