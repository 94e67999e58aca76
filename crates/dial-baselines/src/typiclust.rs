//! TypiClust: the most typical point of the largest cluster without a label.
//!
//! ```text
//! clusters       k-means into (labels so far + 1) clusters, at most 500
//! cluster        fewest labels first, then largest
//! typicality(x)  = 1 / (mean distance to the min(20, size - 1) nearest members of its cluster)
//! score(x)       = -(place of x by typicality in its cluster · number of clusters + place of the cluster)
//! ```
//!
//! Hacohen, Dekel, Weinshall 2022 ("Active learning on a budget: opposite strategies suit high and low budgets"). Labelled
//! points are members, and are passed over when places are given. Clusters of fewer than 5 members come last, as theirs
//! are left out. The scores go round the first 32 clusters, one point of each, as their batches do; all other points tie.
//!
//! Where we differ: they cluster again before every batch, into as many clusters as labels and batch together; a
//! question does not know its batch, so ours is one more than the labels. And our clusters grow from those of the question
//! before by one new cluster and a few steps (`kmeans`), where theirs start afresh: a k-means++ of 100 clusters for every
//! question would take most of the time of a run, and says the same. They use self-supervised features.
//!
//! Cost: all pairs of points once (at most 10,000 points); per question one new cluster, and O(Σ size²) for the typicality.

use std::cmp::Reverse;
use std::sync::Arc;

use rayon::prelude::*;

use crate::kmeans::Clusterings;
use dial::acquisition::{Acquisition, Situation};
use dial::error::Result;

/// The most clusters.
const MAX_CLUSTERS: usize = 500;

/// Neighbours that say how typical a point is.
const TYPICALITY_NEIGHBOURS: usize = 20;

/// Smaller clusters come last.
const MIN_CLUSTER_SIZE: usize = 5;

/// Clusters in which points are ranked: as many as a batch has questions, at least.
const MIN_RANKED_CLUSTERS: usize = 32;

/// TypiClust.
#[derive(Debug)]
pub struct TypiClust {
    clusterings: Arc<Clusterings>,
}

impl TypiClust {
    /// TypiClust from all pairs of points and their partitions.
    pub fn new(clusterings: Arc<Clusterings>) -> TypiClust {
        TypiClust { clusterings }
    }

    /// The mean distance of a point to its nearest fellow members. `near` is room to work in.
    fn crowding(&self, point: u32, members: &[u32], near: &mut Vec<f32>) -> f64 {
        let row = self.clusterings.distances().of(point as usize);
        near.clear();
        near.extend(members.iter().map(|&member| row[member as usize]));
        // The point itself is among them, at a distance of 0.
        let count = TYPICALITY_NEIGHBOURS.min(members.len() - 1);
        if near.len() > count + 1 {
            near.select_nth_unstable_by(count, f32::total_cmp);
            near.truncate(count + 1);
        }
        near.sort_unstable_by(f32::total_cmp);
        let total = near
            .iter()
            .fold(0.0, |sum, squared| sum + f64::from(*squared).sqrt());
        total / count.max(1) as f64
    }
}

impl Acquisition for TypiClust {
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        let n = self.clusterings.distances().n();
        let count = (now.labelled.len() + 1).min(MAX_CLUSTERS).min(n);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
        let clusters = self.clusterings.clusters(now.seed, count);
        clusters
            .iter()
            .zip(0..)
            .for_each(|(&cluster, point)| members[cluster as usize].push(point));
        let mut labels = vec![0; count];
        now.labelled
            .iter()
            .for_each(|label| labels[clusters[label.index()] as usize] += 1);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&c| {
            (
                members[c].len() < MIN_CLUSTER_SIZE,
                labels[c],
                Reverse(members[c].len()),
                c,
            )
        });

        out.fill(-((n * count) as f64));
        for (place, &cluster) in order.iter().enumerate().take(MIN_RANKED_CLUSTERS) {
            let members = &members[cluster];
            let open: Vec<u32> = members
                .iter()
                .filter(|&&point| !is_labelled(now, point))
                .copied()
                .collect();
            let mut ranked: Vec<(f64, u32)> = open
                .into_par_iter()
                .map_init(Vec::new, |near, point| {
                    (self.crowding(point, members, near), point)
                })
                .collect();
            ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (rank, (_, point)) in ranked.into_iter().enumerate() {
                out[point as usize] = -((rank * count + place) as f64);
            }
        }
        Ok(())
    }
}

fn is_labelled(now: &Situation<'_>, point: u32) -> bool {
    now.labelled
        .binary_search_by_key(&point, |label| label.0)
        .is_ok()
}
