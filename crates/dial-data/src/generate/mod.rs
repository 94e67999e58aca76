//! Synthetic pools from a seed, the same bits on every platform.
//!
//! - moons: (cos t, sin t) and (1 - cos t, 1/2 - sin t), t uniform in [0, π], plus noise.
//! - circles: radius 1 and 1/2, angle uniform, plus noise.
//! - mixture: cluster j with probability w_j, then its centre plus s_j times a standard normal.
//!
//! Items come in random order; the sizes of the classes of moons and circles and of the clusters of a mixture are
//! fixed in advance (largest remainders), so that no draw makes a small cluster vanish.

pub mod builtin;

pub mod clusters;
pub mod digits;
pub mod scene;
mod strokes;
pub mod texts;

use std::f64::consts::PI;

use dial::seed::{Purpose, Random};

use crate::pool::Pool;
use crate::pool::matrix::{Buffer, Matrix};
use crate::pool::truth::Truth;

/// One Gaussian cluster of a mixture.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Its centre.
    pub centre: Vec<f64>,
    /// Its standard deviation, the same in every direction.
    pub deviation: f64,
    /// Its share of the items, relative to the others.
    pub weight: f64,
    /// The class of its items.
    pub class: u16,
}

/// Two interleaved half circles with Gaussian noise.
pub fn moons(n: usize, noise: f64, seed: u64) -> Pool {
    plane("moons", n, noise, seed, |class, t| match class {
        0 => [libm::cos(PI * t), libm::sin(PI * t)],
        _ => [1.0 - libm::cos(PI * t), 0.5 - libm::sin(PI * t)],
    })
}

/// Two concentric circles with Gaussian noise.
pub fn circles(n: usize, noise: f64, seed: u64) -> Pool {
    plane("circles", n, noise, seed, |class, t| {
        let radius = if class == 0 { 1.0 } else { 0.5 };
        [
            radius * libm::cos(2.0 * PI * t),
            radius * libm::sin(2.0 * PI * t),
        ]
    })
}

/// Eight Gaussian clusters on a circle, their classes alternating.
pub fn blobs(n: usize, seed: u64) -> Pool {
    let cluster = |j: u16| {
        let angle = PI * f64::from(j) / 4.0;
        Cluster {
            centre: vec![libm::cos(angle), libm::sin(angle)],
            deviation: 0.17,
            weight: 1.0,
            class: j % 2,
        }
    };
    mixture("blobs", &(0..8).map(cluster).collect::<Vec<_>>(), n, seed)
}

/// Four Gaussian clusters on a line, of classes 0, 1, 0, 1: two small ones between two large ones.
///
/// The mixture of every one-dimensional experiment: the paper describes its own (`example:2types-unc`) but gives no
/// numbers.
pub fn clusters_1d() -> [Cluster; 4] {
    let cluster = |(centre, weight, class)| Cluster {
        centre: vec![centre],
        deviation: 0.3,
        weight,
        class,
    };
    [(-3.0, 0.4, 0), (-1.0, 0.1, 1), (1.0, 0.1, 0), (3.0, 0.4, 1)].map(cluster)
}

/// Items drawn from [`clusters_1d`].
pub fn mixture_1d(n: usize, seed: u64) -> Pool {
    mixture("mixture-1d", &clusters_1d(), n, seed)
}

/// The joint density p(x, class) of a mixture.
///
/// # Panics
/// If a centre has not as many coordinates as x.
pub fn joint_density(clusters: &[Cluster], x: &[f64], class: u16) -> f64 {
    let total: f64 = clusters.iter().map(|cluster| cluster.weight).sum();
    let density = |cluster: &Cluster| {
        assert_eq!(cluster.centre.len(), x.len(), "as many coordinates");
        let normal = |(x, centre): (&f64, &f64)| {
            let z = (x - centre) / cluster.deviation;
            libm::exp(-0.5 * z * z) / (cluster.deviation * (2.0 * PI).sqrt())
        };
        x.iter().zip(&cluster.centre).map(normal).product::<f64>()
    };
    let own = clusters.iter().filter(|cluster| cluster.class == class);
    own.map(|cluster| cluster.weight / total * density(cluster))
        .sum()
}

/// A mixture of Gaussian clusters.
///
/// # Panics
/// If there are no clusters, or their centres differ in length.
pub fn mixture(name: &str, clusters: &[Cluster], n: usize, seed: u64) -> Pool {
    let dim = clusters
        .first()
        .map(|cluster| cluster.centre.len())
        .expect("a mixture needs a cluster");
    assert!(
        clusters.iter().all(|cluster| cluster.centre.len() == dim),
        "centres of different lengths"
    );
    let mut random = Random::new(seed, Purpose::Generator, 0);
    let weights: Vec<f64> = clusters.iter().map(|cluster| cluster.weight).collect();
    let mut values = Vec::with_capacity(n * dim);
    let parts = shuffled_parts(&weights, n, &mut random);
    for &j in &parts {
        let cluster = &clusters[j];
        values.extend(
            cluster
                .centre
                .iter()
                .map(|centre| centre + cluster.deviation * random.normal()),
        );
    }
    let labels = parts.iter().map(|&j| Some(clusters[j].class)).collect();
    let mut pool = pool(name, Buffer::F64(values), dim, labels);
    if let Some(truth) = &mut pool.truth {
        truth.clusters = Some(parts.iter().map(|&j| j as u32).collect());
    }
    pool
}

fn plane(
    name: &str,
    n: usize,
    noise: f64,
    seed: u64,
    curve: impl Fn(usize, f64) -> [f64; 2],
) -> Pool {
    let mut random = Random::new(seed, Purpose::Generator, 0);
    let mut values = Vec::with_capacity(2 * n);
    let mut labels = Vec::with_capacity(n);
    for class in shuffled_parts(&[1.0, 1.0], n, &mut random) {
        let point = curve(class, random.uniform());
        values.extend(point.map(|x| x + noise * random.normal()));
        labels.push(Some(class as u16));
    }
    pool(name, Buffer::F64(values), 2, labels)
}

/// For each of n items the part it belongs to, in random order, with shares as equal to the weights as whole numbers
/// allow.
pub(crate) fn shuffled_parts(weights: &[f64], n: usize, random: &mut Random) -> Vec<usize> {
    let total: f64 = weights.iter().sum();
    let share = |j: usize| weights[j] / total * n as f64;
    let mut counts: Vec<usize> = (0..weights.len()).map(|j| share(j) as usize).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| {
        (share(b) - share(b).trunc())
            .total_cmp(&(share(a) - share(a).trunc()))
            .then(a.cmp(&b))
    });
    let left = n.saturating_sub(counts.iter().sum());
    for &j in order.iter().cycle().take(left) {
        counts[j] += 1;
    }
    let parts: Vec<usize> = counts
        .iter()
        .enumerate()
        .flat_map(|(j, &count)| std::iter::repeat_n(j, count))
        .collect();
    random
        .distinct(parts.len(), parts.len())
        .into_iter()
        .map(|i| parts[i])
        .collect()
}

pub(crate) fn pool(name: &str, values: Buffer, dim: usize, labels: Vec<Option<u16>>) -> Pool {
    let classes = labels
        .iter()
        .flatten()
        .max()
        .map_or(0, |last| usize::from(*last) + 1);
    let truth = Truth {
        classes: (0..classes).map(|class| class.to_string()).collect(),
        labels,
        clusters: None,
    };
    let matrix = Matrix {
        n: truth.labels.len(),
        values,
        dim,
    };
    Pool {
        truth: Some(truth),
        ..Pool::new(name, matrix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows_of(pool: &Pool, class: u16) -> Vec<usize> {
        let labels = &pool.truth.as_ref().unwrap().labels;
        (0..pool.matrix.n)
            .filter(|&row| labels[row] == Some(class))
            .collect()
    }

    #[test]
    fn curves_without_noise() {
        let pool = moons(200, 0.0, 3);
        for class in [0, 1] {
            let rows = rows_of(&pool, class);
            assert_eq!(rows.len(), 100);
            for row in rows {
                let (x, y) = (pool.matrix.get(row, 0), pool.matrix.get(row, 1));
                let (x, y) = if class == 0 {
                    (x, y)
                } else {
                    (1.0 - x, 0.5 - y)
                };
                assert!((x * x + y * y - 1.0).abs() < 1e-12 && y >= 0.0);
            }
        }
        let pool = circles(100, 0.0, 3);
        for row in rows_of(&pool, 1) {
            let (x, y) = (pool.matrix.get(row, 0), pool.matrix.get(row, 1));
            assert!((x * x + y * y - 0.25).abs() < 1e-12);
        }
    }

    #[test]
    fn clusters_of_the_line_have_their_sizes_and_moments() {
        let pool = mixture_1d(1000, 5);
        // Classes 0 and 1 hold 400 + 100 each; the large cluster of class 0 is at -3 with deviation 0.3.
        assert_eq!(rows_of(&pool, 0).len(), 500);
        let large: Vec<f64> = rows_of(&pool, 0)
            .into_iter()
            .map(|row| pool.matrix.get(row, 0))
            .filter(|x| *x < -1.0)
            .collect();
        assert_eq!(large.len(), 400);
        let mean = large.iter().sum::<f64>() / 400.0;
        // Five standard errors: 5 * 0.3 / 20.
        assert!((mean + 3.0).abs() < 0.075, "{mean}");
        let variance = large.iter().map(|x| (x + 3.0) * (x + 3.0)).sum::<f64>() / 400.0;
        assert!(
            (variance / 0.09 - 1.0).abs() < 5.0 * (2.0f64 / 400.0).sqrt(),
            "{variance}"
        );
    }

    #[test]
    fn densities_of_the_line() {
        let at = |x: f64, class| joint_density(&clusters_1d(), &[x], class);
        // At -3 the large cluster alone: 0.4 / (0.3 √(2π)). By symmetry both classes are alike at 0.
        assert!((at(-3.0, 0) - 0.4 / (0.3 * (2.0 * PI).sqrt())).abs() < 1e-12);
        assert!((at(0.0, 0) - at(0.0, 1)).abs() < 1e-18);
        let steps = (0..=1200).map(|i| f64::from(i) * 0.01 - 6.0);
        let mass: f64 = steps.map(|x| 0.01 * (at(x, 0) + at(x, 1))).sum();
        assert!((mass - 1.0).abs() < 1e-9, "{mass}");
    }

    #[test]
    fn shares_are_whole_and_complete() {
        let mut random = Random::new(1, Purpose::User, 0);
        let parts = shuffled_parts(&[0.5, 0.25, 0.25], 10, &mut random);
        let count = |part| parts.iter().filter(|&&p| p == part).count();
        // 5, 2.5, 2.5: the earlier of the equal remainders gets the item that is left.
        assert_eq!((count(0), count(1), count(2)), (5, 3, 2));
        assert!(!parts.is_sorted());
    }
}
