//! The assembly against the graph by edges, which is its slow twin: the same graph, bit for bit.

use super::*;
use crate::graph::Graph;
use crate::graph::tests::by_edges;
use crate::knn::metric_space::ZeroVectors;
use crate::seed::{Purpose, Random};
use crate::{Features, Metric};
use proptest::prelude::*;

fn search(x: &[f64], dim: usize, k: usize) -> Neighbours {
    let features = Features::f64(x, x.len() / dim, dim).unwrap();
    Neighbours::exact(
        features,
        k,
        Metric::Euclidean,
        ZeroVectors::Error,
        &Control::new(),
    )
    .unwrap()
}

fn assert_same(a: &PackedGraph, b: &PackedGraph) {
    let (a, b) = (a.parts(), b.parts());
    assert!(
        a.starts[..] == b.starts[..] && a.neighbours[..] == b.neighbours[..],
        "the same edges"
    );
    assert!(
        a.weights[..] == b.weights[..] && a.degrees[..] == b.degrees[..],
        "the same weights"
    );
    assert!(
        a.order[..] == b.order[..] && a.rank[..] == b.rank[..],
        "the same order"
    );
    assert!(a.component[..] == b.component[..], "the same components");
    assert_eq!(a.component_sizes[..], b.component_sizes[..]);
}

/// The slow twin: the graph by edges, reordered. Both are the same graph, in compact form and by node ids.
fn assert_equals_slow(found: &Neighbours, weights: EdgeWeights) {
    let control = Control::new();
    let graph = by_edges(found, weights);
    let slow = PackedGraph::new(&graph);
    let own = slow.parts().order.iter().map(|&node| NodeId(node));
    for order in [None, Some(own.collect())] {
        let made = PackedGraph::assemble(&found.into(), weights, order, &control).unwrap();
        assert_same(&made, &slow);
        assert_same_bits(&made.to_graph(), &graph);
    }
    let backwards = (0..found.n() as u32).rev().map(NodeId).collect();
    let made = PackedGraph::assemble(&found.into(), weights, Some(backwards), &control).unwrap();
    assert_same_bits(&made.to_graph(), &graph);
}

fn assert_same_bits(a: &Graph, b: &Graph) {
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(a, b);
    assert_eq!(bits(a.csr().2), bits(b.csr().2));
    assert_eq!(bits(a.degrees()), bits(b.degrees()));
}

#[test]
fn three_points_by_hand() {
    // Points 0, 1, 3 with k = 1: 0 and 1 list each other, 3 lists 1. In the order 2, 0, 1 the places of 0, 1, 2 are
    // 1, 2, 0.
    let found = search(&[0.0, 1.0, 3.0], 1, 1);
    let order = Some([2, 0, 1].map(NodeId).to_vec());
    let graph = PackedGraph::assemble(
        &(&found).into(),
        EdgeWeights::Uniform,
        order,
        &Control::new(),
    )
    .unwrap();
    assert_eq!(graph.row(0), (&[2][..], &[0.5][..]));
    assert_eq!(graph.row(1), (&[2][..], &[1.0][..]));
    assert_eq!(graph.row(2), (&[0, 1][..], &[0.5, 1.0][..]));
    assert_eq!(graph.parts().degrees[..], [0.5, 1.0, 1.5]);
}

#[test]
fn equals_the_graph_by_edges() {
    let mut random = Random::new(5, Purpose::User, 0);
    let mut x: Vec<f64> = (0..3000 * 3).map(|_| random.normal()).collect();
    for &weights in EdgeWeights::ALL {
        assert_equals_slow(&search(&x, 3, 8), weights);
    }
    // Crowds of copies: some with d_k = 0, some smaller than k.
    x[..20 * 3].fill(0.5);
    x[20 * 3..25 * 3].fill(-0.5);
    for &weights in EdgeWeights::ALL {
        assert_equals_slow(&search(&x, 3, 8), weights);
    }
}

#[test]
fn outliers_and_lists_that_are_short() {
    let mut x: Vec<f64> = (0..50).map(|i| f64::from(i) * 1e-3).collect();
    x.extend([1e6, 0.3]);
    for &weights in EdgeWeights::ALL {
        assert_equals_slow(&search(&x, 1, 3), weights);
    }
    // One far point beside m others: the mean distance is 1/(m + 1) of its own, so its Gaussian weights are about
    // exp(-4 (m + 1)²): an f32, a subnormal f32 (m = 4), only an f64, and 0 from m = 13 on.
    for m in 2..16 {
        let x: Vec<f64> = (0..m).map(|i| f64::from(i) * 1e-6).chain([1.0]).collect();
        let found = search(&x, 1, 2);
        assert_equals_slow(&found, EdgeWeights::Gaussian);
        let graph = by_edges(&found, EdgeWeights::Gaussian);
        assert_eq!(graph.component_sizes().len(), 1 + usize::from(m > 3));
    }
    let features = Features::f64(&[1., 0., 0., 0., 0., 1., 1., 1.], 4, 2).unwrap();
    let found = Neighbours::exact(
        features,
        2,
        Metric::Cosine,
        ZeroVectors::Isolate,
        &Control::new(),
    )
    .unwrap();
    for &weights in EdgeWeights::ALL {
        assert_equals_slow(&found, weights);
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let mut random = Random::new(6, Purpose::User, 0);
    let x: Vec<f64> = (0..5000 * 2).map(|_| random.uniform()).collect();
    let found = search(&x, 2, 10);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let make = || {
            PackedGraph::assemble(
                &(&found).into(),
                EdgeWeights::SelfTuning,
                None,
                &Control::new(),
            )
        };
        pool.install(make).unwrap()
    };
    assert_same(&with(1), &with(7));
}

#[test]
fn impossible_lists_and_orders_are_refused() {
    const NONE: u32 = u32::MAX;
    let lists = |ids: &[u32], squared: &[f32]| {
        Lists::new(2, ids, Values::F32(squared)).map(|lists| lists.n())
    };
    assert_eq!(lists(&[1, NONE, 0, NONE], &[1.0, 0.0, 1.0, 0.0]), Ok(2));
    for (ids, squared) in [
        (&[1, 2, 0, NONE][..], &[1.0; 4][..]),
        (&[0, NONE, 0, NONE], &[1.0; 4]),
        (&[1, 1, 0, NONE], &[1.0; 4]),
        (&[NONE, 1, 0, NONE], &[1.0; 4]),
        (&[1, NONE, 0, NONE], &[f32::NAN; 4]),
        (&[1, NONE, 0, NONE], &[-1.0; 4]),
        (&[1, 2, 0, 2, 0, 1], &[2.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
        (&[1, NONE, 0], &[1.0; 3]),
        (&[1, NONE, 0, NONE], &[1.0; 3]),
    ] {
        assert!(
            matches!(lists(ids, squared), Err(Error::Shape(_))),
            "{ids:?} {squared:?}"
        );
    }
    let found = search(&[0.0, 1.0, 3.0], 1, 1);
    for order in [vec![0, 1], vec![0, 1, 1], vec![0, 1, 3], vec![0, 1, 2, 0]] {
        let order = Some(order.into_iter().map(NodeId).collect());
        let made = PackedGraph::assemble(
            &(&found).into(),
            EdgeWeights::Uniform,
            order,
            &Control::new(),
        );
        assert!(matches!(made, Err(Error::Shape(_))));
    }
}

#[test]
fn narrow_distances_give_the_weights_of_what_they_are() {
    // Distances that f32 holds exactly: points on a grid of quarters.
    let x: Vec<f64> = (0..200).map(|i| f64::from(i * i % 97) / 4.0).collect();
    let found = search(&x, 1, 5);
    let narrow: Vec<f32> = (0..200 * 5)
        .map(|at| found.as_slices().1.get(at) as f32)
        .collect();
    let lists = Lists::new(5, found.as_slices().0, Values::F32(&narrow)).unwrap();
    let make = |lists: &Lists<'_>| {
        PackedGraph::assemble(lists, EdgeWeights::SelfTuning, None, &Control::new()).unwrap()
    };
    assert_same(&make(&lists), &make(&(&found).into()));
}

#[test]
fn cancelling_stops_it() {
    let control = Control::new();
    control.cancel();
    let found = search(&[0.0, 1.0, 3.0], 1, 1);
    let stopped = PackedGraph::assemble(&(&found).into(), EdgeWeights::Uniform, None, &control);
    assert_eq!(stopped.unwrap_err(), Error::Cancelled);
}

proptest! {
    #[test]
    fn equals_the_graph_by_edges_on_grids(cells in prop::collection::vec((0i32..6, 0i32..6), 12..60), k in 1usize..8) {
        let x: Vec<f64> = cells.iter().flat_map(|&(a, b)| [f64::from(a), f64::from(b)]).collect();
        prop_assume!(cells.iter().any(|cell| cell != &cells[0]));
        for &weights in EdgeWeights::ALL {
            assert_equals_slow(&search(&x, 2, k), weights);
        }
    }
}
