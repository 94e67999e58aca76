//! Pools the arena makes for itself, from fixed seeds.
//!
//! - moons: six pairs of interleaved half circles in a row; the twelve moons are clusters, their classes 0, 1, 2, 0, ...
//! - clusters: 60 Gaussian clusters in 12 dimensions of 40 classes, sizes falling geometrically to a tenth: half of the
//!   classes are one cluster, half are two.

use dial::seed::{Purpose, Random};
use dial_data::generate::{Cluster, mixture, moons as pair_of_moons};
use dial_data::{Buffer, Matrix, Pool, Truth};

/// Pairs of moons.
const MOON_PAIRS: usize = 6;
/// Distance from one pair to the next; a pair is 3 wide without its noise.
const PAIR_DISTANCE: f64 = 3.6;

/// Six pairs of moons.
pub fn moons(n: usize) -> Pool {
    let (mut values, mut labels, mut clusters) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..MOON_PAIRS {
        let part = pair_of_moons(n / MOON_PAIRS, 0.1, pair as u64);
        let of = part.truth.expect("generators know their labels");
        for row in 0..part.matrix.n {
            values.extend([
                part.matrix.get(row, 0) + PAIR_DISTANCE * pair as f64,
                part.matrix.get(row, 1),
            ]);
            let moon = 2 * pair + usize::from(of.labels[row].unwrap_or(0));
            clusters.push(moon as u32);
            labels.push((moon % 3) as i64);
        }
    }
    let rows = labels.len();
    let truth = Truth::from_integers(&labels).expect("three classes");
    let matrix = Matrix {
        values: Buffer::F64(values),
        n: rows,
        dim: 2,
    };
    Pool {
        truth: Some(Truth {
            clusters: Some(clusters),
            ..truth
        }),
        ..Pool::new("moons", matrix)
    }
}

/// Many classes, some small.
pub fn clusters(n: usize) -> Pool {
    const CLUSTERS: u16 = 60;
    const CLASSES: u16 = 40;
    const DIMENSIONS: usize = 12;
    let mut random = Random::new(3, Purpose::Generator, 1);
    let cluster = |j: u16| Cluster {
        centre: (0..DIMENSIONS).map(|_| random.normal()).collect(),
        deviation: 0.6,
        weight: libm::pow(0.1, f64::from(j) / f64::from(CLUSTERS - 1)),
        class: j % CLASSES,
    };
    let planted: Vec<Cluster> = (0..CLUSTERS).map(cluster).collect();
    mixture("clusters", &planted, n, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moons_are_clusters_of_three_classes() {
        let truth = moons(240).truth.unwrap();
        let clusters = truth.clusters.unwrap();
        assert_eq!(
            (truth.classes.len(), clusters.len(), clusters.iter().max()),
            (3, 240, Some(&11))
        );
        for moon in 0..12 {
            assert_eq!(clusters.iter().filter(|c| **c == moon).count(), 20);
        }
    }

    #[test]
    fn half_of_the_classes_are_two_clusters() {
        let pool = clusters(3_000);
        let truth = pool.truth.unwrap();
        let of = |class: u16| {
            let own = (0..3_000)
                .filter(|&row| truth.labels[row] == Some(class))
                .map(|row| truth.cluster(row));
            own.collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!(
            (truth.classes.len(), of(0), of(19), of(20), of(39)),
            (40, 2, 2, 1, 1)
        );
    }
}
