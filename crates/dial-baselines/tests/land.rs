//! LAND against golden numbers, a slow twin and cases by hand.

#[path = "../../dial/tests/common/mod.rs"]
mod common;
#[path = "../../dial/tests/common/eigen.rs"]
mod eigen;

use std::sync::Arc;

use common::{Arrays, assert_close};
use dial::acquisition::Situation;
use dial::graph::EdgeWeights;
use dial::graph::build::Lists;
use dial::graph::packed::PackedGraph;
use dial::knn::Neighbours;
use dial::knn::metric_space::ZeroVectors;
use dial::linalg::eigen::Eigenpairs;
use dial::seed::{Purpose, Random};
use dial::{Acquisition, Control, DirichletField, Error, Features, Graph, Metric, NodeId};
use dial_baselines::{Land, LandOptions, Ranking};

fn pool(x: &[f64], dim: usize, k: usize) -> (Neighbours, Graph) {
    let features = Features::f64(x, x.len() / dim, dim).unwrap();
    let found = Neighbours::exact(
        features,
        k,
        Metric::Euclidean,
        ZeroVectors::Error,
        &Control::new(),
    )
    .unwrap();
    let graph = PackedGraph::assemble(
        &Lists::from(&found),
        EdgeWeights::SelfTuning,
        None,
        &Control::new(),
    )
    .unwrap()
    .to_graph();
    (found, graph)
}

fn scores(acquisition: &impl Acquisition, n: usize) -> Vec<f64> {
    let field = DirichletField::new(n, 2, 1.0);
    let mut out = vec![f64::NAN; n];
    acquisition
        .scores(&Situation::at_start(&field, 1), &mut out)
        .unwrap();
    out
}

/// The labels of some nodes, by class.
fn labels(nodes: &[NodeId], classes: &[usize]) -> Vec<Vec<(NodeId, f64)>> {
    let mut labels = vec![Vec::new(); 1 + classes.iter().max().unwrap()];
    nodes
        .iter()
        .zip(classes)
        .for_each(|(&node, &class)| labels[class].push((node, 1.0)));
    labels
}

#[test]
fn golden_density_distances_parents_and_classes() {
    let (golden, graphs) = (Arrays::golden("land"), Arrays::golden("methods_graphs"));
    let (found, graph) = pool(&graphs.floats("knn_X"), 3, golden.integers("k")[0]);
    for (word, r) in [("r15", 15), ("all", 50)] {
        let pairs = eigen::eigenpairs(eigen::normalised(&graph), r);
        let land = Land::new(
            &found,
            &graph,
            &pairs,
            LandOptions::default(),
            &Control::new(),
        )
        .unwrap();
        let want = |what: &str| golden.floats(&format!("{word}_{what}"));
        assert_close("density", &land.density, &golden.floats("density"), 1e-13);
        assert_close("rho", &land.distance, &want("rho"), 1e-10);
        assert_close("score", &scores(&land, 50), &want("score"), 1e-12);
        let parents: Vec<f64> = land
            .parent
            .iter()
            .map(|parent| parent.map_or(-1.0, |node| f64::from(node.0)))
            .collect();
        assert_eq!(parents, want("parent"));
        let classes = |nodes: &[NodeId], given: Vec<usize>| -> Vec<f64> {
            land.classes(&labels(nodes, &given))
                .iter()
                .map(|class| class.unwrap() as f64)
                .collect()
        };
        let order = golden.nodes(&format!("{word}_order"));
        let asked = classes(
            &order[..4],
            golden.integers(&format!("{word}_asked_classes")),
        );
        assert_eq!(asked, want("asked_output"));
        let others = classes(
            &golden.nodes("others_nodes"),
            golden.integers("others_classes"),
        );
        assert_eq!(others, want("others_output"), "the densest is not labelled");
        let given = Ranking::new(50, &order).unwrap();
        let ranked = scores(&given, 50);
        assert!(
            order
                .iter()
                .zip(0..)
                .all(|(node, place)| ranked[node.index()] == -f64::from(place))
        );
    }
}

#[test]
fn a_slow_search_finds_the_same_bits_for_any_number_of_threads() {
    let mut random = Random::new(3, Purpose::User, 0);
    let n = 700;
    // On a coarse grid, so that many points are copies and many densities tie.
    let x: Vec<f64> = (0..2 * n)
        .map(|_| (random.normal() * 4.0).round())
        .collect();
    let (found, graph) = pool(&x, 2, 6);
    let r = 19;
    let vectors: Vec<f64> = (0..n * r).map(|_| random.normal()).collect();
    let values: Vec<f64> = (0..r).map(|i| i as f64 / 10.0).collect();
    let pairs = Eigenpairs {
        values,
        vectors,
        residuals: vec![0.0; r],
    };
    let options = LandOptions {
        time: 2.0,
        width: Some(1.5),
    };
    let compute = |threads| {
        let workers = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        workers.install(|| Land::new(&found, &graph, &pairs, options, &Control::new()).unwrap())
    };
    let land = compute(1);
    assert_eq!(land, compute(3));

    let coordinate = |node: usize, i: usize| {
        let degree = graph.degrees()[node];
        let root = if degree > 0.0 {
            1.0 / degree.sqrt()
        } else {
            0.0
        };
        let decay = (1.0 - pairs.values[i]).abs();
        decay * decay * root * pairs.vectors[node * r + i]
    };
    let rows: Vec<Vec<f64>> = (0..n)
        .map(|node| (0..r).map(|i| coordinate(node, i)).collect())
        .collect();
    let apart = |a: usize, b: usize| {
        rows[a]
            .iter()
            .zip(&rows[b])
            .map(|(x, y)| (x - y) * (x - y))
            .sum::<f64>()
            .sqrt()
    };
    let p = &land.density;
    for node in 0..n {
        let denser =
            (0..n).filter(|&other| p[other] > p[node] || (p[other] == p[node] && other < node));
        let near = denser.min_by(|&a, &b| apart(node, a).total_cmp(&apart(node, b)));
        let rho = near.map_or_else(
            || (0..n).map(|y| apart(node, y)).fold(0.0, f64::max),
            |near| apart(node, near),
        );
        assert!((land.distance[node] - rho).abs() <= 1e-12 * rho, "{node}");
        match (near, land.parent[node]) {
            (Some(near), Some(parent)) => {
                assert!(apart(node, parent.index()) <= apart(node, near) * (1.0 + 1e-12))
            }
            (near, parent) => assert!(near.is_none() && parent.is_none()),
        }
    }
}

/// Points 0, 1, 3, 4.5 with k = 1: the nearest are at 1, 1, 1.5 and 1.5; with σ = 1 the densities are those of e^-1,
/// e^-1, e^-2.25, e^-2.25. One coordinate, t = 0: D_0 = |ψ - ψ'| whatever λ.
fn four() -> (Neighbours, Graph, Eigenpairs) {
    let (found, _) = pool(&[0.0, 1.0, 3.0, 4.5], 1, 1);
    // All degrees are 2, so that ψ = v/√2: 0, 6, 2, 7 times √2/2.
    let graph =
        Graph::from_edges(4, &[(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (0, 3, 1.0)]).unwrap();
    (
        found,
        graph,
        Eigenpairs {
            values: vec![0.5],
            vectors: vec![0.0, 6.0, 2.0, 7.0],
            residuals: vec![0.0],
        },
    )
}

#[test]
fn four_points_by_hand() {
    let (found, graph, pairs) = four();
    let options = LandOptions {
        time: 0.0,
        width: Some(1.0),
    };
    let land = Land::new(&found, &graph, &pairs, options, &Control::new()).unwrap();
    let (high, low) = (libm::exp(-1.0), libm::exp(-2.25));
    assert_close(
        "density",
        &land.density,
        &[high, high, low, low].map(|p| p / (2.0 * high + 2.0 * low)),
        1e-15,
    );
    // Descending: 0, 1 (tie, larger id), 2, 3. 0 is 7 from the farthest; 1 is 6 from 0; 2 is 2 from 0; 3 is 1 from 1.
    assert_close(
        "rho",
        &land.distance,
        &[7.0, 6.0, 2.0, 1.0].map(|d| d * 0.5f64.sqrt()),
        1e-15,
    );
    assert_eq!(
        land.parent,
        [None, Some(NodeId(0)), Some(NodeId(0)), Some(NodeId(1))]
    );
    let classes = |nodes: &[u32], given: &[usize]| {
        land.classes(&labels(
            &nodes.iter().copied().map(NodeId).collect::<Vec<_>>(),
            given,
        ))
    };
    assert_eq!(
        classes(&[0, 1], &[0, 1]),
        [Some(0), Some(1), Some(0), Some(1)]
    );
    assert_eq!(
        classes(&[2, 3], &[0, 1]),
        [Some(0), Some(0), Some(0), Some(1)],
        "2 is nearest to the densest"
    );
    assert_eq!(land.classes(&[vec![], vec![]]), [None; 4]);
    // The heavier class of a node counts; the labels of one class add up.
    let torn = [
        vec![(NodeId(0), 0.4)],
        vec![(NodeId(0), 0.3), (NodeId(0), 0.3)],
    ];
    assert_eq!(land.classes(&torn), [Some(1); 4]);
}

#[test]
fn settings_and_rankings_are_checked() {
    let (found, graph, pairs) = four();
    let refused =
        |options| Land::new(&found, &graph, &pairs, options, &Control::new()).unwrap_err();
    for time in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            refused(LandOptions { time, width: None }),
            Error::BadSetting { name: "time", .. }
        ));
    }
    for width in [0.0, -1.0, f64::NAN] {
        let options = LandOptions {
            time: 1.0,
            width: Some(width),
        };
        assert!(matches!(
            refused(options),
            Error::BadSetting { name: "width", .. }
        ));
    }
    for order in [&[0, 4][..], &[1, 1]] {
        let order: Vec<NodeId> = order.iter().copied().map(NodeId).collect();
        assert!(matches!(
            Ranking::new(4, &order),
            Err(Error::BadSetting {
                name: "ranking",
                ..
            })
        ));
    }
    assert_eq!(
        scores(&Ranking::new(3, &[NodeId(2)]).unwrap(), 3),
        [-3.0, -3.0, 0.0]
    );
    let (control, pairs) = (Control::new(), Arc::new(pairs));
    control.cancel();
    assert_eq!(
        Land::new(&found, &graph, &pairs, LandOptions::default(), &control),
        Err(Error::Cancelled)
    );
}
