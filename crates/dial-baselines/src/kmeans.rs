//! k-means, grown one centre at a time, from the distances of all pairs.
//!
//! ```text
//! K = 1     one cluster
//! K + 1     the K clusters and one more: it begins at a point drawn with probability ∝ its squared distance to its own
//!           mean (the rule of k-means++); then at most 10 steps of Lloyd: every point goes to the nearest mean, ties to the
//!           older cluster
//! |x - μ_c|² = S_c(x)/s_c - ½ Σ_{m in c} S_c(m)/s_c²,     S_c(x) = Σ_{m in c} |x - m|²,   s_c members
//! ```
//!
//! The partition for K is a function of points, seed and K: draws for the K-th cluster have their own stream. The usual
//! k-means++ (Arthur, Vassilvitskii 2007) draws all centres first and starts afresh for every K; growing makes the
//! partition for K + 1 cheap when that for K is there, which is how it is asked for when a question is asked after each
//! label. A cluster that has lost all its members stays empty.
//!
//! Means are never formed: the sums S_c are kept, and a point that changes its cluster is taken from one and added to the
//! other. So nothing depends on the number of features. (With coordinates and the bounds of Hamerly 2010 a question took 69 ms
//! at 1,000 x 784 items and 60 clusters: in many dimensions the bounds exclude nothing.) Cost: O(n K) a step and O(n) for
//! each point that changes; memory 8 n K bytes.

use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use crate::distances::Distances;
use dial::seed::{Purpose, Random};

/// Steps of Lloyd after each new cluster.
const LLOYD_STEPS: usize = 10;

/// Points per task.
const POINTS_PER_TASK: usize = 256;

/// A partition of points by their nearest mean.
#[derive(Clone, Debug)]
struct KMeans {
    seed: u64,
    /// The cluster of every point.
    clusters: Vec<u32>,
    groups: Vec<Group>,
}

/// A cluster: S_c at every point, the number of members, and what is taken off S_c/s_c.
#[derive(Clone, Debug)]
struct Group {
    sums: Vec<f64>,
    size: f64,
    inner: f64,
}

impl Group {
    /// The squared distance of a point to the mean.
    #[inline]
    fn squared(&self, point: usize) -> f64 {
        if self.size > 0.0 {
            (self.sums[point] / self.size - self.inner).max(0.0)
        } else {
            f64::INFINITY
        }
    }

    /// Adds a point (sign 1) or takes it away (-1).
    fn change(&mut self, sign: f64, row: &[f32]) {
        self.sums
            .iter_mut()
            .zip(row)
            .for_each(|(sum, d)| *sum += sign * f64::from(*d));
        self.size += sign;
    }
}

impl KMeans {
    /// One cluster.
    fn new(distances: &Distances, seed: u64) -> KMeans {
        let n = distances.n();
        let sums: Vec<f64> = (0..n)
            .into_par_iter()
            .map(|i| {
                distances
                    .of(i)
                    .iter()
                    .fold(0.0, |sum, d| sum + f64::from(*d))
            })
            .collect();
        let mut grown = KMeans {
            seed,
            clusters: vec![0; n],
            groups: vec![Group {
                sums,
                size: n as f64,
                inner: 0.0,
            }],
        };
        grown.measure(&[true]);
        grown
    }

    /// Adds a cluster and improves all.
    fn grow(&mut self, distances: &Distances) {
        let first = self.draw();
        // At first it stands on its one point, which is still counted where it was.
        let sums = distances.of(first).iter().map(|d| f64::from(*d)).collect();
        self.groups.push(Group {
            sums,
            size: 1.0,
            inner: 0.0,
        });
        let nearest = self.nearest();
        let fresh = self.groups.last_mut().expect("one was added");
        fresh.sums.fill(0.0);
        fresh.size = 0.0;
        self.send(&nearest, distances);
        for _ in 1..LLOYD_STEPS {
            let nearest = self.nearest();
            if nearest == self.clusters {
                break;
            }
            self.send(&nearest, distances);
        }
    }

    /// A point, with probability ∝ its squared distance to its mean; any point, if all stand on theirs.
    fn draw(&self) -> usize {
        let mut random = Random::new(self.seed, Purpose::Clusters, self.groups.len() as u64);
        let squares: Vec<f64> = self
            .clusters
            .iter()
            .enumerate()
            .map(|(i, &c)| self.groups[c as usize].squared(i))
            .collect();
        let total = squares.iter().fold(0.0, |sum, square| sum + square);
        if total == 0.0 {
            return random.below(squares.len());
        }
        let mut left = random.uniform() * total;
        let mut last = 0;
        for (i, square) in squares
            .iter()
            .enumerate()
            .filter(|(_, square)| **square > 0.0)
        {
            last = i;
            left -= square;
            if left < 0.0 {
                break;
            }
        }
        last
    }

    /// The cluster with the nearest mean for every point.
    fn nearest(&self) -> Vec<u32> {
        let n = self.clusters.len();
        let mut nearest = vec![0; n];
        nearest
            .par_chunks_mut(POINTS_PER_TASK)
            .enumerate()
            .for_each(|(chunk, nearest)| {
                let mut least = [f64::INFINITY; POINTS_PER_TASK];
                for (c, group) in self
                    .groups
                    .iter()
                    .enumerate()
                    .filter(|(_, group)| group.size > 0.0)
                {
                    let sums = &group.sums[chunk * POINTS_PER_TASK..];
                    for ((nearest, least), sum) in nearest.iter_mut().zip(&mut least).zip(sums) {
                        let squared = (sum / group.size - group.inner).max(0.0);
                        if squared < *least {
                            (*nearest, *least) = (c as u32, squared);
                        }
                    }
                }
            });
        nearest
    }

    /// Moves points to other clusters.
    fn send(&mut self, to: &[u32], distances: &Distances) {
        let mut changes: Vec<Vec<(f64, usize)>> = vec![Vec::new(); self.groups.len()];
        for (i, (own, &to)) in self
            .clusters
            .iter_mut()
            .zip(to)
            .enumerate()
            .filter(|(_, (own, to))| *own != *to)
        {
            changes[*own as usize].push((-1.0, i));
            changes[to as usize].push((1.0, i));
            *own = to;
        }
        self.groups
            .par_iter_mut()
            .zip(&changes)
            .for_each(|(group, changes)| {
                changes
                    .iter()
                    .for_each(|&(sign, i)| group.change(sign, distances.of(i)));
            });
        let changed: Vec<bool> = changes.iter().map(|changes| !changes.is_empty()).collect();
        self.measure(&changed);
    }

    /// What is taken off, for the marked clusters.
    fn measure(&mut self, changed: &[bool]) {
        let mut totals = vec![0.0; self.groups.len()];
        for (i, &c) in self
            .clusters
            .iter()
            .enumerate()
            .filter(|(_, c)| changed[**c as usize])
        {
            totals[c as usize] += self.groups[c as usize].sums[i];
        }
        for ((group, total), _) in self
            .groups
            .iter_mut()
            .zip(totals)
            .zip(changed)
            .filter(|(_, changed)| **changed)
        {
            group.inner = if group.size > 0.0 {
                0.5 * total / (group.size * group.size)
            } else {
                0.0
            };
        }
    }
}

/// Partitions of a pool by seed and number of clusters, the latest of some seeds kept.
#[derive(Debug)]
pub struct Clusterings {
    distances: Arc<Distances>,
    kept: Mutex<Vec<KMeans>>,
}

/// Partitions kept.
const MAX_PARTITIONS: usize = 8;

impl Clusterings {
    /// Partitions of the points with these distances.
    pub fn new(distances: Arc<Distances>) -> Clusterings {
        Clusterings {
            distances,
            kept: Mutex::default(),
        }
    }

    /// The distances.
    pub fn distances(&self) -> &Arc<Distances> {
        &self.distances
    }

    /// The cluster of every point for a number of clusters (at least one, at most one a point). The same bits whatever was asked for
    /// before.
    pub fn clusters(&self, seed: u64, count: usize) -> Vec<u32> {
        let count = count.clamp(1, self.distances.n());
        let mut grown = self
            .take(seed, count)
            .unwrap_or_else(|| KMeans::new(&self.distances, seed));
        while grown.groups.len() < count {
            grown.grow(&self.distances);
        }
        let clusters = grown.clusters.clone();
        let mut kept = self.kept.lock().expect("no holder panics");
        if kept.len() == MAX_PARTITIONS {
            kept.remove(0);
        }
        kept.push(grown);
        clusters
    }

    /// Takes out the partition with the most clusters up to a number.
    fn take(&self, seed: u64, count: usize) -> Option<KMeans> {
        let mut kept = self.kept.lock().expect("no holder panics");
        let fitting = kept
            .iter()
            .enumerate()
            .filter(|(_, grown)| grown.seed == seed && grown.groups.len() <= count);
        let (place, _) = fitting.max_by_key(|(_, grown)| grown.groups.len())?;
        Some(kept.remove(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dial::control::Control;
    use dial::features::{Features, Metric};
    use dial::knn::points::Points;

    fn points(x: &[f64], dim: usize) -> Points {
        Points::new(
            Features::f64(x, x.len() / dim, dim).unwrap(),
            Metric::Euclidean,
        )
        .unwrap()
    }

    fn distances(points: &Points) -> Arc<Distances> {
        Arc::new(Distances::new(points, &Control::new()).unwrap())
    }

    /// Some clouds, with copies.
    fn clouds(n: usize, dim: usize) -> Points {
        let mut random = Random::new(8, Purpose::User, dim as u64);
        let mut x: Vec<f64> = Vec::new();
        for i in 0..n {
            match i % 10 {
                9 => x.extend_from_within((i / 2) * dim..(i / 2 + 1) * dim),
                cloud => {
                    x.extend((0..dim).map(|c| ((cloud * 7 + c) % 5) as f64 * 1.5 + random.normal()))
                }
            }
        }
        points(&x, dim)
    }

    /// The nearest of some centres, the older of two equals, and how far it is.
    fn nearest(points: &Points, i: usize, centres: &[Option<Vec<f64>>]) -> (usize, f64) {
        let mut best = (0, f64::INFINITY);
        for (c, centre) in centres.iter().enumerate() {
            match centre {
                Some(y) if points.squared_distance(i, y) < best.1 => {
                    best = (c, points.squared_distance(i, y))
                }
                _ => {}
            }
        }
        best
    }

    /// The same with coordinates: every mean formed, every distance computed.
    fn plain(points: &Points, seed: u64, count: usize) -> Vec<usize> {
        let n = points.n();
        let mut clusters = vec![0; n];
        for c in 1..count {
            let mean = |c: usize, clusters: &[usize]| {
                let members: Vec<usize> = (0..n).filter(|&i| clusters[i] == c).collect();
                let sum = |j: usize| {
                    members.iter().map(|&i| points.row(i)[j]).sum::<f64>() / members.len() as f64
                };
                (!members.is_empty()).then(|| (0..points.dim()).map(sum).collect::<Vec<f64>>())
            };
            let mut centres: Vec<Option<Vec<f64>>> = (0..c).map(|c| mean(c, &clusters)).collect();
            let square =
                |i: usize| points.squared_distance(i, centres[clusters[i]].as_ref().unwrap());
            let total: f64 = (0..n).map(square).sum();
            let mut left = Random::new(seed, Purpose::Clusters, c as u64).uniform() * total;
            let drawn = (0..n).find(|&i| {
                left -= square(i);
                left < 0.0
            });
            centres.push(Some(points.row(drawn.unwrap()).to_vec()));
            for _ in 0..LLOYD_STEPS {
                let next: Vec<usize> = (0..n).map(|i| nearest(points, i, &centres).0).collect();
                if next == clusters {
                    break;
                }
                clusters = next;
                centres = (0..=c).map(|c| mean(c, &clusters)).collect();
            }
        }
        clusters
    }

    #[test]
    fn sums_of_distances_find_what_coordinates_find() {
        for (n, dim, count) in [(60, 2, 9), (300, 3, 20), (400, 6, 12)] {
            let points = clouds(n, dim);
            for seed in 0..3 {
                let some = Clusterings::new(distances(&points));
                let got: Vec<usize> = some
                    .clusters(seed, count)
                    .iter()
                    .map(|&c| c as usize)
                    .collect();
                assert_eq!(got, plain(&points, seed, count), "{n} x {dim}, seed {seed}");
                // And what is kept says how far the means are.
                let grown = some.take(seed, count).unwrap();
                for (c, group) in grown
                    .groups
                    .iter()
                    .enumerate()
                    .filter(|(_, group)| group.size > 0.0)
                {
                    let members: Vec<usize> = (0..n).filter(|&i| got[i] == c).collect();
                    let sum = |j: usize| {
                        members.iter().map(|&i| points.row(i)[j]).sum::<f64>()
                            / members.len() as f64
                    };
                    let mean: Vec<f64> = (0..dim).map(sum).collect();
                    for i in 0..n {
                        let want = points.squared_distance(i, &mean) / points.spread();
                        assert!((group.squared(i) - want).abs() < 1e-6 * (1.0 + want));
                    }
                }
            }
        }
    }

    #[test]
    fn three_far_clouds_are_three_clusters_whatever_the_seed() {
        let mut random = Random::new(2, Purpose::User, 0);
        let x: Vec<f64> = (0..90)
            .map(|i| f64::from(i / 30) * 1000.0 + random.normal())
            .collect();
        for seed in 0..5 {
            let clusters = Clusterings::new(distances(&points(&x, 1))).clusters(seed, 3);
            for cloud in clusters.chunks(30) {
                assert!(cloud.iter().all(|c| *c == cloud[0]));
            }
            assert!(
                clusters[0] != clusters[30]
                    && clusters[30] != clusters[60]
                    && clusters[0] != clusters[60]
            );
        }
    }

    #[test]
    fn what_was_asked_before_and_the_number_of_threads_do_not_matter() {
        let distances = distances(&clouds(900, 4));
        let of = |counts: &[usize], threads: usize| {
            let workers = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let some = Clusterings::new(Arc::clone(&distances));
            workers.install(|| {
                counts
                    .iter()
                    .map(|&count| some.clusters(3, count))
                    .last()
                    .unwrap()
            })
        };
        let straight = of(&[20], 1);
        assert_eq!(of(&[5, 19, 20], 3), straight);
        assert_eq!(of(&[30, 20], 2), straight);
        assert_eq!(straight.iter().max(), Some(&19));
    }

    #[test]
    fn more_clusters_than_distinct_points_leave_some_empty() {
        let some = Clusterings::new(distances(&points(&[1.0, 1.0, 1.0, 5.0, 5.0], 1)));
        assert_eq!(some.clusters(0, 1), [0; 5]);
        for count in [2, 4, 99] {
            let clusters = some.clusters(0, count);
            assert!(
                clusters[0] == clusters[1]
                    && clusters[1] == clusters[2]
                    && clusters[3] == clusters[4]
            );
            assert_ne!(clusters[0], clusters[3]);
        }
    }
}
