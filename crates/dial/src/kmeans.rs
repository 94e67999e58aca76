//! k-means, grown one centre at a time.
//!
//! ```text
//! K = 1     the mean
//! K + 1     the K centres and one more: a point drawn with probability ∝ its squared distance to its own centre
//!           (the rule of k-means++), then at most 10 steps of Lloyd: centres become the means of their members, points
//!           go to the nearest centre, ties to the older one
//! ```
//!
//! The partition for K is a function of points, seed and K: draws for the K-th centre have their own stream. The usual
//! k-means++ (Arthur, Vassilvitskii 2007) draws all centres first and starts afresh for every K; growing makes the
//! partition for K + 1 cheap when that for K is there, which is how it is asked for when a question is asked after each
//! label. A centre that has lost all its members stays where it is.
//!
//! Lloyd's steps skip what cannot change (Hamerly 2010): `upper` bounds the distance of a point to its own centre,
//! `lower` that to any other; centres that move loosen both. The result is that of the plain loop (a test). Cost of a
//! new centre: O(n d) for its distances, then per step O(n) for the bounds, O(K² d) between centres, O(n d) for points
//! near a border and members of centres that change; the plain loop would take O(n K d) per step.

use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use crate::points::{Points, squared_distance};
use crate::seed::{Purpose, Random};

/// Steps of Lloyd after each new centre.
const STEPS: usize = 10;

/// Points per task.
const CHUNK: usize = 256;

/// A partition of points by their nearest centre.
#[derive(Clone, Debug)]
pub(crate) struct KMeans {
    seed: u64,
    centres: Vec<Vec<f64>>,
    places: Vec<Place>,
    /// Clusters whose members have changed since their centre was their mean.
    changed: Vec<bool>,
}

/// Where a point belongs.
#[derive(Clone, Copy, Debug)]
struct Place {
    centre: u32,
    upper: f64,
    lower: f64,
}

impl KMeans {
    /// One cluster.
    pub(crate) fn new(points: &Points, seed: u64) -> KMeans {
        let place = Place { centre: 0, upper: f64::INFINITY, lower: f64::INFINITY };
        KMeans { seed, centres: vec![points.mean()], places: vec![place; points.n()], changed: vec![false] }
    }

    /// Number of clusters, empty ones included.
    pub(crate) fn count(&self) -> usize {
        self.centres.len()
    }

    /// The cluster of every point.
    pub(crate) fn clusters(&self) -> Vec<u32> {
        self.places.iter().map(|place| place.centre).collect()
    }

    /// Adds a centre and improves all.
    pub(crate) fn grow(&mut self, points: &Points) {
        let centres = &self.centres;
        for_places(&mut self.places, |i, place| {
            place.upper = points.squared_distance(i, &centres[place.centre as usize]).sqrt();
        });
        let fresh = points.row(self.draw()).to_vec();
        let before = self.clusters();
        let number = self.count() as u32;
        for_places(&mut self.places, |i, place| {
            let distance = points.squared_distance(i, &fresh).sqrt();
            if distance < place.upper {
                *place = Place { centre: number, upper: distance, lower: place.lower.min(place.upper) };
            } else {
                place.lower = place.lower.min(distance);
            }
        });
        self.centres.push(fresh);
        self.changed.push(false);
        self.note(&before);
        for _ in 0..STEPS {
            self.recentre(points);
            let before = self.clusters();
            self.assign(points);
            if !self.note(&before) {
                break;
            }
        }
    }

    /// A point, with probability ∝ its squared distance to its centre; any point, if all stand on theirs.
    fn draw(&self) -> usize {
        let mut random = Random::new(self.seed, Purpose::Clusters, self.count() as u64);
        let square = |place: &Place| place.upper * place.upper;
        let total = self.places.iter().fold(0.0, |sum, place| sum + square(place));
        if total == 0.0 {
            return random.below(self.places.len());
        }
        let mut left = random.uniform() * total;
        let mut last = 0;
        for (i, place) in self.places.iter().enumerate().filter(|(_, place)| place.upper > 0.0) {
            last = i;
            left -= square(place);
            if left < 0.0 {
                break;
            }
        }
        last
    }

    /// Marks the clusters whose members are not those of before; whether there are any.
    fn note(&mut self, before: &[u32]) -> bool {
        let mut any = false;
        for (&old, place) in before.iter().zip(&self.places).filter(|(old, place)| **old != place.centre) {
            (self.changed[old as usize], self.changed[place.centre as usize], any) = (true, true, true);
        }
        any
    }

    /// Moves the centres of the marked clusters to the means of their members, and loosens the bounds by what moved.
    fn recentre(&mut self, points: &Points) {
        let unchanged = vec![false; self.count()];
        let changed = std::mem::replace(&mut self.changed, unchanged);
        let mut sums = vec![Vec::new(); self.count()];
        let mut sizes = vec![0.0; self.count()];
        for (i, place) in self.places.iter().enumerate().filter(|(_, place)| changed[place.centre as usize]) {
            let sum = &mut sums[place.centre as usize];
            if sum.is_empty() {
                sum.resize(points.dim(), 0.0);
            }
            sum.iter_mut().zip(points.row(i)).for_each(|(sum, x)| *sum += x);
            sizes[place.centre as usize] += 1.0;
        }
        let mut moved = vec![0.0; self.count()];
        for (c, mut sum) in sums.into_iter().enumerate().filter(|(_, sum)| !sum.is_empty()) {
            sum.iter_mut().for_each(|sum| *sum /= sizes[c]);
            moved[c] = squared_distance(&sum, &self.centres[c]).sqrt();
            self.centres[c] = sum;
        }
        let farthest = (0..moved.len()).max_by(|&a, &b| moved[a].total_cmp(&moved[b])).expect("there is a centre");
        let most = moved[farthest];
        let others = moved.iter().enumerate().filter(|(c, _)| *c != farthest);
        let rest = others.map(|(_, moved)| *moved).fold(0.0, f64::max);
        for place in &mut self.places {
            let own = place.centre as usize;
            place.upper += moved[own];
            place.lower -= if own == farthest { rest } else { most };
        }
    }

    /// Sends every point to its nearest centre.
    fn assign(&mut self, points: &Points) {
        let centres = &self.centres;
        let half: Vec<f64> = (0..centres.len())
            .into_par_iter()
            .map(|c| {
                let others = centres.iter().enumerate().filter(|(other, _)| *other != c);
                0.5 * others.map(|(_, y)| squared_distance(&centres[c], y)).fold(f64::INFINITY, f64::min).sqrt()
            })
            .collect();
        for_places(&mut self.places, |i, place| {
            let own = place.centre as usize;
            let bar = half[own].max(place.lower);
            if place.upper < bar {
                return;
            }
            place.upper = points.squared_distance(i, &centres[own]).sqrt();
            if place.upper >= bar {
                *place = nearest(points, i, centres);
            }
        });
    }
}

/// Does something for every point.
fn for_places(places: &mut [Place], work: impl Fn(usize, &mut Place) + Sync) {
    places.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, places)| {
        (chunk * CHUNK..).zip(places).for_each(|(i, place)| work(i, place));
    });
}

/// The nearest centre of a point, the older of two equals, and the distance to the next.
fn nearest(points: &Points, i: usize, centres: &[Vec<f64>]) -> Place {
    let (mut best, mut first, mut second) = (0, f64::INFINITY, f64::INFINITY);
    for (c, centre) in centres.iter().enumerate() {
        let squared = points.squared_distance(i, centre);
        if squared < first {
            (best, first, second) = (c as u32, squared, first);
        } else {
            second = second.min(squared);
        }
    }
    Place { centre: best, upper: first.sqrt(), lower: second.sqrt() }
}

/// Partitions of a pool by seed and number of clusters, the latest of each seed kept.
#[derive(Debug)]
pub struct Clusterings {
    points: Arc<Points>,
    kept: Mutex<Vec<KMeans>>,
}

/// Seeds whose latest partition is kept.
const ROOM: usize = 32;

impl Clusterings {
    /// Partitions of these points.
    pub fn new(points: Arc<Points>) -> Clusterings {
        Clusterings { points, kept: Mutex::default() }
    }

    /// The points.
    pub fn points(&self) -> &Arc<Points> {
        &self.points
    }

    /// The cluster of every point, of so many (at least one, at most one a point). The same bits whatever was asked for
    /// before.
    pub fn clusters(&self, seed: u64, count: usize) -> Vec<u32> {
        let count = count.clamp(1, self.points.n());
        let mut grown = self.take(seed, count).unwrap_or_else(|| KMeans::new(&self.points, seed));
        while grown.count() < count {
            grown.grow(&self.points);
        }
        let clusters = grown.clusters();
        let mut kept = self.kept.lock().expect("no holder panics");
        if kept.len() == ROOM {
            kept.remove(0);
        }
        kept.push(grown);
        clusters
    }

    /// Takes out what has grown furthest towards so many clusters.
    fn take(&self, seed: u64, count: usize) -> Option<KMeans> {
        let mut kept = self.kept.lock().expect("no holder panics");
        let fitting = kept.iter().enumerate().filter(|(_, grown)| grown.seed == seed && grown.count() <= count);
        let (place, _) = fitting.max_by_key(|(_, grown)| grown.count())?;
        Some(kept.remove(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{Features, Metric};

    fn points(x: &[f64], dim: usize) -> Arc<Points> {
        Arc::new(Points::new(Features::f64(x, x.len() / dim, dim).unwrap(), Metric::Euclidean).unwrap())
    }

    /// Some clouds, with copies.
    fn clouds(n: usize, dim: usize) -> Arc<Points> {
        let mut random = Random::new(8, Purpose::User, dim as u64);
        let mut x: Vec<f64> = Vec::new();
        for i in 0..n {
            match i % 10 {
                9 => x.extend_from_within((i / 2) * dim..(i / 2 + 1) * dim),
                cloud => x.extend((0..dim).map(|c| ((cloud * 7 + c) % 5) as f64 * 1.5 + random.normal())),
            }
        }
        points(&x, dim)
    }

    /// The same without any bounds: every point meets every centre at every step.
    fn plain(points: &Points, seed: u64, count: usize) -> (Vec<Vec<f64>>, Vec<u32>) {
        let mut slow = KMeans::new(points, seed);
        let everyone = |slow: &mut KMeans| {
            let centres = slow.centres.clone();
            for i in 0..points.n() {
                slow.places[i] = nearest(points, i, &centres);
            }
        };
        while slow.count() < count {
            for i in 0..points.n() {
                let own = slow.places[i].centre as usize;
                slow.places[i].upper = points.squared_distance(i, &slow.centres[own]).sqrt();
            }
            let fresh = points.row(slow.draw()).to_vec();
            // Centres may have moved since points were last sent to the nearest: only the new one takes points now.
            for i in 0..points.n() {
                if points.squared_distance(i, &fresh).sqrt() < slow.places[i].upper {
                    slow.places[i].centre = slow.centres.len() as u32;
                }
            }
            slow.centres.push(fresh);
            for _ in 0..STEPS {
                for c in 0..slow.count() {
                    let members: Vec<usize> = (0..points.n()).filter(|&i| slow.places[i].centre == c as u32).collect();
                    if members.is_empty() {
                        continue;
                    }
                    let mut mean = vec![0.0; points.dim()];
                    for &i in &members {
                        mean.iter_mut().zip(points.row(i)).for_each(|(sum, x)| *sum += x);
                    }
                    slow.centres[c] = mean.iter().map(|sum| sum / members.len() as f64).collect();
                }
                let before = slow.clusters();
                everyone(&mut slow);
                if before == slow.clusters() {
                    break;
                }
            }
        }
        (slow.centres.clone(), slow.clusters())
    }

    #[test]
    fn bounds_change_nothing() {
        for (n, dim, count) in [(60, 1, 9), (400, 3, 25), (700, 6, 12)] {
            let points = clouds(n, dim);
            for seed in 0..3 {
                let mut grown = KMeans::new(&points, seed);
                while grown.count() < count {
                    grown.grow(&points);
                }
                let (centres, clusters) = plain(&points, seed, count);
                assert_eq!(grown.clusters(), clusters, "{n} x {dim}, seed {seed}");
                for (got, want) in grown.centres.iter().zip(&centres) {
                    assert!(squared_distance(got, want) < 1e-20);
                }
            }
        }
    }

    #[test]
    fn three_far_clouds_are_three_clusters_whatever_the_seed() {
        let mut random = Random::new(2, Purpose::User, 0);
        let x: Vec<f64> = (0..90).map(|i| f64::from(i / 30) * 1000.0 + random.normal()).collect();
        for seed in 0..5 {
            let clusters = Clusterings::new(points(&x, 1)).clusters(seed, 3);
            for cloud in clusters.chunks(30) {
                assert!(cloud.iter().all(|c| *c == cloud[0]));
            }
            assert!(clusters[0] != clusters[30] && clusters[30] != clusters[60] && clusters[0] != clusters[60]);
        }
    }

    #[test]
    fn what_was_asked_before_and_the_number_of_threads_do_not_matter() {
        let points = clouds(900, 4);
        let of = |counts: &[usize], threads: usize| {
            let workers = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let some = Clusterings::new(Arc::clone(&points));
            workers.install(|| counts.iter().map(|&count| some.clusters(3, count)).last().unwrap())
        };
        let straight = of(&[20], 1);
        assert_eq!(of(&[5, 19, 20], 3), straight);
        assert_eq!(of(&[30, 20], 2), straight);
        assert_eq!(straight.iter().max(), Some(&19));
    }

    #[test]
    fn more_clusters_than_distinct_points_leave_some_empty() {
        let points = points(&[1.0, 1.0, 1.0, 5.0, 5.0], 1);
        let some = Clusterings::new(points);
        assert_eq!(some.clusters(0, 1), [0; 5]);
        for count in [2, 4, 99] {
            let clusters = some.clusters(0, count);
            assert!(clusters[0] == clusters[1] && clusters[1] == clusters[2] && clusters[3] == clusters[4]);
            assert_ne!(clusters[0], clusters[3]);
        }
    }
}
