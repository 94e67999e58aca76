//! The approximate neighbour search against the exact one: recall, repeatability, passes over a source, faults.

use std::ops::Range;

use dial::knn::Neighbours;
use dial::knn::approximate::{Effort, Found};
use dial::knn::metric_space::ZeroVectors;
use dial::knn::row_source::Rows;
use dial::seed::{Purpose, Random};
use dial::{Control, Error, Features, Metric, NodeId};

/// Points around some centres, the coordinates of a class 0.3 wide.
fn planted(n: usize, dim: usize, clusters: usize) -> Vec<f32> {
    let mut random = Random::new(11, Purpose::User, 0);
    let centres: Vec<f64> = (0..clusters * dim).map(|_| random.normal()).collect();
    (0..n * dim)
        .map(|at| (centres[at / dim % clusters * dim + at % dim] + 0.3 * random.normal()) as f32)
        .collect()
}

fn search(x: &[f32], dim: usize, k: usize, metric: Metric, effort: Effort) -> Found {
    let features = Features::f32(x, x.len() / dim, dim).unwrap();
    Neighbours::approximate(
        features,
        k,
        metric,
        ZeroVectors::Error,
        1,
        effort,
        &Control::new(),
    )
    .unwrap()
}

fn in_passes(x: &[f32], dim: usize, k: usize, metric: Metric, effort: Effort) -> Found {
    let read = |range: Range<usize>, out: &mut [f32]| {
        out.copy_from_slice(&x[range.start * dim..range.end * dim]);
        Ok(())
    };
    let rows = Rows {
        n: x.len() / dim,
        dim,
        read: &read,
    };
    Neighbours::approximate_rows(
        rows,
        k,
        metric,
        ZeroVectors::Error,
        1,
        effort,
        &Control::new(),
    )
    .unwrap()
}

/// The share of neighbours no farther than the true k-th; also checks ids, order and distances of what was found.
fn recall(x: &[f32], dim: usize, metric: Metric, found: &Found) -> f64 {
    let (n, k) = (found.neighbours.n(), found.neighbours.k());
    let features = Features::f32(x, n, dim).unwrap();
    let exact =
        Neighbours::exact(features, k, metric, ZeroVectors::Error, &Control::new()).unwrap();
    let mut hits = 0;
    for node in (0..n as u32).map(NodeId) {
        let row: Vec<(NodeId, f64)> = found.neighbours.of(node).collect();
        let reach = exact.of(node).last().unwrap().1;
        assert_eq!(row.len(), k);
        assert!(row.windows(2).all(
            |pair| pair[0].1 < pair[1].1 || (pair[0].1 == pair[1].1 && pair[0].0 != pair[1].0)
        ));
        let mut ids: Vec<NodeId> = row.iter().map(|&(id, _)| id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert!(
            ids.len() == k && !ids.contains(&node),
            "{k} different neighbours, not the node itself"
        );
        for &(id, squared) in &row {
            if metric == Metric::Euclidean {
                let direct = features.squared_distance(node.index(), id.index());
                assert!(
                    (squared - direct).abs() <= 1e-6 * direct,
                    "{squared} is not {direct}"
                );
            }
            hits += usize::from(squared <= reach * (1.0 + 1e-5));
        }
    }
    hits as f64 / (n * k) as f64
}

#[test]
fn most_neighbours_are_found_and_the_measured_recall_says_so() {
    let (n, dim) = (6000, 8);
    let x = planted(n, dim, 20);
    for metric in [Metric::Euclidean, Metric::Cosine] {
        let effort = Effort {
            sample: n,
            ..Effort::default()
        };
        for found in [
            search(&x, dim, 10, metric, effort),
            in_passes(&x, dim, 10, metric, effort),
            in_passes(
                &x,
                dim,
                10,
                metric,
                Effort {
                    memory: n * dim,
                    ..effort
                },
            ),
        ] {
            let truth = recall(&x, dim, metric, &found);
            assert!(truth > 0.98, "{metric}: {truth}");
            assert!(
                (found.recall.unwrap() - truth).abs() < 1e-3,
                "{metric}: {truth}, measured {:?}",
                found.recall
            );
            let mut order = found.order.clone().unwrap();
            order.sort_unstable();
            assert!(
                order.iter().copied().eq((0..n as u32).map(NodeId)),
                "every node once"
            );
        }
    }
}

#[test]
fn with_all_cells_probed_the_search_is_exact() {
    let x = planted(900, 5, 7);
    let effort = Effort {
        probes: Some(usize::MAX),
        sweeps: Some(0),
        ..Effort::default()
    };
    let found = search(&x, 5, 6, Metric::Euclidean, effort);
    assert_eq!(recall(&x, 5, Metric::Euclidean, &found), 1.0);
    assert_eq!(found.recall, Some(1.0));
}

#[test]
fn the_result_does_not_depend_on_threads_but_on_the_seed() {
    let x = planted(5000, 16, 3);
    let find = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let features = Features::f32(&x, 5000, 16).unwrap();
        let effort = Effort {
            probes: Some(2),
            sweeps: Some(1),
            ..Effort::default()
        };
        let (metric, refuse, control) = (Metric::Euclidean, ZeroVectors::Error, Control::new());
        pool.install(|| {
            Neighbours::approximate(features, 8, metric, refuse, seed, effort, &control)
        })
        .unwrap()
    };
    let (one, three, other) = (find(1, 1), find(3, 1), find(3, 2));
    assert_eq!(one.neighbours, three.neighbours);
    assert_eq!((one.order, one.recall), (three.order, three.recall));
    assert_ne!(three.neighbours, other.neighbours);
}

#[test]
fn sweeps_repair_what_few_probes_missed() {
    let x = planted(8000, 16, 1);
    let with = |sweeps| {
        let effort = Effort {
            probes: Some(2),
            sweeps: Some(sweeps),
            sample: 8000,
            ..Effort::default()
        };
        search(&x, 16, 10, Metric::Euclidean, effort)
            .recall
            .unwrap()
    };
    assert!(
        with(2) > with(0) + 0.05,
        "{} after two sweeps, {} before",
        with(2),
        with(0)
    );
}

#[test]
fn crowds_of_copies_find_each_other() {
    let mut x = planted(3000, 4, 5);
    x[..2000 * 4].fill(0.5);
    let found = search(&x, 4, 5, Metric::Euclidean, Effort::default());
    for node in (0..2000).map(NodeId) {
        assert!(found.neighbours.of(node).all(|(_, squared)| squared == 0.0));
    }
    assert!(
        recall(&x, 4, Metric::Euclidean, &found) > 0.97,
        "what is aimed at, less the noise of a sample"
    );
}

#[test]
fn every_list_is_full_even_with_one_probe_of_tiny_cells() {
    let x = planted(2000, 3, 400);
    let effort = Effort {
        cell: Some(2),
        probes: Some(1),
        sweeps: Some(0),
        ..Effort::default()
    };
    let found = search(&x, 3, 15, Metric::Euclidean, effort);
    assert!(recall(&x, 3, Metric::Euclidean, &found) > 0.3);
}

#[test]
fn far_and_tiny_clusters_keep_their_digits() {
    // Clusters 1e-3 wide, 1e4 apart: products relative to the origin would lose all digits.
    let x: Vec<f64> = planted(2000, 6, 1)
        .iter()
        .enumerate()
        .map(|(at, &v)| 1e4 * ((at / 6 % 4) as f64) + 1e-3 * f64::from(v))
        .collect();
    let features = Features::f64(&x, 2000, 6).unwrap();
    let (metric, refuse, control) = (Metric::Euclidean, ZeroVectors::Error, Control::new());
    let found =
        Neighbours::approximate(features, 5, metric, refuse, 1, Effort::default(), &control)
            .unwrap();
    let same = |node: u32| {
        found
            .neighbours
            .of(NodeId(node))
            .all(|(other, _)| other.0 % 4 == node % 4)
    };
    assert!((0..2000).all(same));
}

#[test]
fn pools_that_cannot_work_say_why() {
    let find = |x: &[f32], dim: usize, k, metric, zero| {
        let read = |range: Range<usize>, out: &mut [f32]| {
            out.copy_from_slice(&x[range.start * dim..range.end * dim]);
            Ok(())
        };
        let rows = Rows {
            n: x.len() / dim,
            dim,
            read: &read,
        };
        Neighbours::approximate_rows(rows, k, metric, zero, 1, Effort::default(), &Control::new())
    };
    let (euclidean, cosine, refuse) = (Metric::Euclidean, Metric::Cosine, ZeroVectors::Error);
    assert_eq!(
        find(&[1., 2., 3.], 1, 3, euclidean, refuse).unwrap_err(),
        Error::TooFewItems { k: 3, n: 3 }
    );
    assert_eq!(
        find(&[1., 1., 1.], 1, 1, euclidean, refuse).unwrap_err(),
        Error::AllIdentical { n: 3 }
    );
    assert_eq!(
        find(&[0., 1., 0.], 1, 1, cosine, refuse).unwrap_err(),
        Error::ZeroVectors { count: 2, first: 0 }
    );
    let bad = find(
        &[0., 1., f32::NAN, 3., 4., f32::INFINITY],
        2,
        1,
        euclidean,
        refuse,
    )
    .unwrap_err();
    assert!(
        matches!(
            bad,
            Error::NonFinite {
                count: 2,
                rows: 2,
                row: 1,
                column: 0,
                ..
            }
        ),
        "{bad:?}"
    );
    let alone = find(
        &[1., 0., 0., 0., 0., 1., 1., 1.],
        2,
        2,
        cosine,
        ZeroVectors::Isolate,
    )
    .unwrap();
    assert_eq!(alone.neighbours.of(NodeId(1)).count(), 0);
    assert!(
        [0, 2, 3]
            .iter()
            .all(|&i| alone.neighbours.of(NodeId(i)).all(|(j, _)| j != NodeId(1)))
    );
    assert_eq!(alone.order.unwrap().last(), Some(&NodeId(1)));
}
