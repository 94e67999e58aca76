//! The exact search against every distance, sorted; its two ways against each other; pools it refuses.

use super::*;
use crate::seed::{Purpose, Random};
use proptest::prelude::*;

/// The slow twin: every distance, sorted.
fn brute(features: Features<'_>, k: usize, metric: Metric) -> Vec<Vec<(NodeId, f64)>> {
    let norms: Vec<f64> = (0..features.n()).map(|i| 1.0 / features.norm(i)).collect();
    (0..features.n())
        .map(|i| {
            let mut all: Vec<(f64, u32)> = (0..features.n())
                .filter(|&j| j != i)
                .map(|j| match metric {
                    Metric::Euclidean => (features.squared_distance(i, j), j as u32),
                    Metric::Cosine => (
                        features.squared_distance_scaled(i, j, norms[i], norms[j]),
                        j as u32,
                    ),
                })
                .collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            all.truncate(k);
            all.into_iter().map(|(d, j)| (NodeId(j), d)).collect()
        })
        .collect()
}

fn assert_equals_brute(x: &[f64], n: usize, dim: usize, k: usize, metric: Metric) {
    let features = Features::f64(x, n, dim).unwrap();
    let found =
        Neighbours::exact(features, k, metric, ZeroVectors::Error, &Control::new()).unwrap();
    for (i, expected) in brute(features, k, metric).into_iter().enumerate() {
        let row: Vec<_> = found.of(NodeId(i as u32)).collect();
        assert_eq!(row, expected, "row {i}");
    }
}

#[test]
fn equals_brute_force_across_block_borders() {
    let mut random = Random::new(3, Purpose::User, 0);
    let (n, dim) = (1300, 7);
    let x: Vec<f64> = (0..n * dim).map(|_| random.normal() + 100.0).collect();
    assert_equals_brute(&x, n, dim, 10, Metric::Euclidean);
    assert_equals_brute(&x, n, dim, 10, Metric::Cosine);
}

#[test]
fn crowds_of_duplicates_are_decided_exactly_by_node_id() {
    // More copies of one point than a shortlist may hold, and one point apart.
    let n = MAX_UNDECIDED + 2000;
    let mut x = vec![0.25; n];
    x[17] = 1.0;
    let features = Features::f64(&x, n, 1).unwrap();
    let found = Neighbours::exact(
        features,
        2,
        Metric::Euclidean,
        ZeroVectors::Error,
        &Control::new(),
    )
    .unwrap();
    let ids = |i| found.of(NodeId(i)).map(|(id, _)| id.0).collect::<Vec<_>>();
    assert_eq!(ids(0), [1, 2]);
    assert_eq!(ids(9000), [0, 1]);
    assert_eq!(ids(17), [0, 1]);
}

#[test]
fn bytes_have_the_neighbours_that_products_in_f32_find() {
    let mut random = Random::new(9, Purpose::User, 0);
    let (n, dim, k) = (1100, 66, 12);
    let mut x: Vec<f32> = (0..n * dim).map(|_| random.below(256) as f32).collect();
    x.copy_within(0..40 * dim, 1050 * dim);
    let features = Features::f32(&x, n, dim).unwrap();
    let space = Space::new(features, Metric::Euclidean, ZeroVectors::Error).unwrap();
    let bytes = Bytes::new(n, dim, |row, column| features.get(row, column)).unwrap();
    let by_products = search(&space, k, &Control::new()).unwrap();
    assert_eq!(
        crate::knn::exact_u8::search(bytes, k, &Control::new()).unwrap(),
        by_products
    );
}

#[test]
fn outliers_do_not_hide_neighbours() {
    let mut random = Random::new(4, Purpose::User, 0);
    let mut x: Vec<f64> = (0..600 * 3).map(|_| random.normal() * 1e-3).collect();
    x[0] = 1e9;
    x[900] = -1e12;
    assert_equals_brute(&x, 600, 3, 5, Metric::Euclidean);
}

#[test]
fn settings_and_pools_that_cannot_work_say_why() {
    let find = |x: &[f64], n, dim, k, metric, zero| {
        Neighbours::exact(
            Features::f64(x, n, dim).unwrap(),
            k,
            metric,
            zero,
            &Control::new(),
        )
        .unwrap_err()
    };
    let (euclidean, cosine) = (Metric::Euclidean, Metric::Cosine);
    let refuse = ZeroVectors::Error;
    assert_eq!(
        find(&[1., 2., 3.], 3, 1, 3, euclidean, refuse),
        Error::TooFewItems { k: 3, n: 3 }
    );
    assert_eq!(
        find(&[1., 1., 1.], 3, 1, 1, euclidean, refuse),
        Error::AllIdentical { n: 3 }
    );
    assert_eq!(
        find(&[0., 1., 0.], 3, 1, 1, cosine, refuse),
        Error::ZeroVectors { count: 2, first: 0 }
    );
    assert_eq!(
        find(&[0., 1., 0.], 3, 1, 1, cosine, ZeroVectors::Isolate),
        Error::TooFewItems { k: 1, n: 1 }
    );
    assert_eq!(
        find(&[1., 3., 5., 15., 0.7, 2.1], 3, 2, 1, cosine, refuse),
        Error::AllIdentical { n: 3 }
    );
    assert!(matches!(
        find(&[1., 1e300, 1.], 3, 1, 1, euclidean, refuse),
        Error::ExtremeScale { column: 0, .. }
    ));
    assert!(matches!(
        find(&[0., 1e-300, 0.], 3, 1, 1, euclidean, refuse),
        Error::ExtremeScale { .. }
    ));
    assert!(matches!(
        find(&[0., 1., 2.], 3, 1, 0, euclidean, refuse),
        Error::BadSetting { .. }
    ));
}

#[test]
fn isolated_zero_vectors_have_no_neighbours_and_are_nobodys() {
    let x = [1., 0., 0., 0., 0., 1., 1., 1.];
    let features = Features::f64(&x, 4, 2).unwrap();
    let found = Neighbours::exact(
        features,
        2,
        Metric::Cosine,
        ZeroVectors::Isolate,
        &Control::new(),
    )
    .unwrap();
    assert_eq!(found.of(NodeId(1)).count(), 0);
    assert!(
        [0, 2, 3]
            .iter()
            .all(|&i| found.of(NodeId(i)).all(|(j, _)| j != NodeId(1)))
    );
}

#[test]
fn cancelling_stops_the_search() {
    let control = Control::new();
    control.cancel();
    let features = Features::f64(&[0., 1., 2.], 3, 1).unwrap();
    let stopped = Neighbours::exact(features, 1, Metric::Euclidean, ZeroVectors::Error, &control);
    assert_eq!(stopped.unwrap_err(), Error::Cancelled);
}

proptest! {
    #[test]
    fn equals_brute_force_on_grids_full_of_ties(cells in prop::collection::vec((0i32..4, 0i32..4), 12..60), k in 1usize..8) {
        prop_assume!(cells.iter().any(|cell| cell != &cells[0]));
        // Bytes, and what is not bytes, go different ways.
        for unit in [1.0, 0.5] {
            let x: Vec<f64> = cells.iter().flat_map(|&(a, b)| [unit * f64::from(a), unit * f64::from(b)]).collect();
            assert_equals_brute(&x, cells.len(), 2, k, Metric::Euclidean);
        }
    }
}
