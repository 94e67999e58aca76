//! Coverage of the pool by balls around the labels: k-centre and ProbCover. Neither uses classes after its start.
//!
//! ```text
//! m(z)      = min over labels l of |z - l|²
//! k-centre    score(x) = m(x)^½                                  the point farthest from all labels
//! probcover   score(x) = #{z : |x - z| < δ, m(z) >= δ²}          the ball of radius δ with most points not yet covered
//! ```
//!
//! **k-centre**: the greedy core-set of Sener and Savarese 2018 ("Active learning for convolutional neural networks: a
//! core-set approach"). Before the first label, where they begin at random, the point nearest the mean comes first.
//!
//! **ProbCover**: Yehuda, Dekel, Hacohen, Weinshall 2022 ("Active learning through a covering lens"). Their rule for δ: a
//! ball is pure if all of it has the pseudo-label of its centre, pseudo-labels being the clusters of k-means with as many
//! clusters as there are classes; δ is the largest radius for which at least 0.95 of all balls are pure. With r(x) the
//! distance from x to the nearest point of another cluster, the ball of x is pure while δ <= r(x): δ is the order statistic
//! of the r(x) below which 0.05 n lie. They search a grid; this is exact. k-means runs with the seed of the session
//! (`kmeans`). Equal counts are decided by a hash of seed and node, where their code takes the first: late in a run, when
//! everything is covered, that makes it random sampling instead of the order of the file. They use self-supervised features
//! of 50,000 images; we use those of the pool, where the rule may give a δ below the distance to the nearest neighbour: on
//! a third of MNIST-SMALL δ² is 0.24 s² for 10 clusters and the median item has its nearest neighbour at 0.34 s², so that
//! half of the balls hold one point and the questions go to the few dense digits. That is the rule, not a fault of ours.
//!
//! Scores are those of the next question: a batch takes the best few, apart in the graph, and is not greedy inside.
//!
//! Cost: k-centre O(n d) per label. ProbCover the distances of all pairs (at most 10,000 points, see `points`) and k-means
//! once, one pass over the n² pairs, and another one over all questions together: a point is covered once.

use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use crate::distances::{DISTANCE_LANES, Distances};
use crate::kmeans::Clusterings;
use crate::prefix_cache::States;
use dial::acquisition::{Acquisition, Situation};
use dial::error::Result;
use dial::ids::NodeId;
use dial::knn::points::Points;
use dial::seed::hash;

/// The share of balls that must be pure.
const MIN_PURITY: f64 = 0.95;

/// k-centre: the point farthest from the labels.
#[derive(Debug)]
pub struct KCentre {
    points: Arc<Points>,
    states: States<Vec<f64>>,
}

impl KCentre {
    /// k-centre on these points.
    pub fn new(points: Arc<Points>) -> KCentre {
        KCentre {
            points,
            states: States::default(),
        }
    }
}

impl Acquisition for KCentre {
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        let points = &self.points;
        if now.order.is_empty() {
            let mean = points.mean();
            out.iter_mut()
                .enumerate()
                .for_each(|(i, score)| *score = -points.squared_distance(i, &mean).sqrt());
            return Ok(());
        }
        let (applied, mut near) = self
            .states
            .take(now.order)
            .unwrap_or_else(|| (0, vec![f64::INFINITY; points.n()]));
        for label in &now.order[applied..] {
            let place = points.row(label.index());
            near.par_iter_mut()
                .with_min_len(DISTANCE_LANES)
                .enumerate()
                .for_each(|(i, near)| *near = near.min(points.squared_distance(i, place)));
        }
        out.iter_mut()
            .zip(&near)
            .for_each(|(score, near)| *score = near.sqrt());
        self.states.put(now.order, near);
        Ok(())
    }
}

/// Probability coverage: the ball with most points that no label's ball holds.
#[derive(Debug)]
pub struct ProbCover {
    clusterings: Arc<Clusterings>,
    /// The balls for a seed and a number of classes.
    balls: Mutex<Vec<(Key, Arc<Balls>)>>,
}

/// A seed and a number of classes.
type Key = (u64, usize);

/// Balls of one radius: δ² over the spread, and what was covered after some labels.
#[derive(Debug)]
struct Balls {
    radius: f32,
    states: States<Cover>,
}

/// Which points are in the ball of a label, and how many of the others are in the ball of each point.
#[derive(Debug)]
struct Cover {
    covered: Vec<bool>,
    counts: Vec<u32>,
}

impl ProbCover {
    /// ProbCover from all pairs of points and their partitions.
    pub fn new(clusterings: Arc<Clusterings>) -> ProbCover {
        ProbCover {
            clusterings,
            balls: Mutex::default(),
        }
    }

    /// δ², over the spread of the points.
    pub fn radius(&self, seed: u64, n_classes: usize) -> f32 {
        self.balls(seed, n_classes).radius
    }

    fn balls(&self, seed: u64, n_classes: usize) -> Arc<Balls> {
        let key = (seed, n_classes);
        if let Some((_, known)) = self
            .balls
            .lock()
            .expect("no holder panics")
            .iter()
            .find(|(known, _)| *known == key)
        {
            return Arc::clone(known);
        }
        let radius = purest(
            self.clusterings.distances(),
            &self.clusterings.clusters(seed, n_classes),
        );
        let fresh = Arc::new(Balls {
            radius,
            states: States::default(),
        });
        self.balls
            .lock()
            .expect("no holder panics")
            .push((key, Arc::clone(&fresh)));
        fresh
    }
}

impl Balls {
    fn start(&self, distances: &Distances) -> Cover {
        let n = distances.n();
        let counts = (0..n)
            .into_par_iter()
            .map(|x| count(distances.padded(x), self.radius))
            .collect();
        Cover {
            covered: vec![false; n],
            counts,
        }
    }

    /// Covers the ball of a label: its points no longer count for anybody.
    fn add(&self, distances: &Distances, cover: &mut Cover, label: NodeId) {
        for (z, covered) in cover.covered.iter_mut().enumerate() {
            if distances.of(label.index())[z] < self.radius && !std::mem::replace(covered, true) {
                let row = distances.of(z);
                cover
                    .counts
                    .iter_mut()
                    .zip(row)
                    .for_each(|(count, d)| *count -= u32::from(*d < self.radius));
            }
        }
    }
}

/// The largest δ² for which 0.95 of the balls are pure.
fn purest(distances: &Distances, clusters: &[u32]) -> f32 {
    let other = |i: usize| {
        let apart = distances
            .of(i)
            .iter()
            .zip(clusters)
            .filter(|(_, cluster)| **cluster != clusters[i]);
        apart.map(|(d, _)| *d).fold(f32::INFINITY, f32::min)
    };
    let n = distances.n();
    let mut nearest: Vec<f32> = (0..n).into_par_iter().map(other).collect();
    let impure = (((1.0 - MIN_PURITY) * n as f64) as usize).min(n - 1);
    *nearest.select_nth_unstable_by(impure, f32::total_cmp).1
}

impl Acquisition for ProbCover {
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        let (distances, balls) = (
            self.clusterings.distances(),
            self.balls(now.seed, now.field.n_classes()),
        );
        let (applied, mut cover) = balls
            .states
            .take(now.order)
            .unwrap_or_else(|| (0, balls.start(distances)));
        now.order[applied..]
            .iter()
            .for_each(|&label| balls.add(distances, &mut cover, label));
        for (x, (score, count)) in out.iter_mut().zip(&cover.counts).enumerate() {
            // Below 1, so that it decides between equal counts only.
            let tie = hash(now.seed, x as u64) as f64 / (u64::MAX as f64 * 2.0);
            *score = f64::from(*count) + tie;
        }
        balls.states.put(now.order, cover);
        Ok(())
    }
}

/// How many points lie within the radius.
fn count(row: &[f32], radius: f32) -> u32 {
    let mut counts = [0; DISTANCE_LANES];
    for row in row.chunks_exact(DISTANCE_LANES) {
        counts
            .iter_mut()
            .zip(row)
            .for_each(|(count, d)| *count += u32::from(*d < radius));
    }
    counts.iter().sum()
}
