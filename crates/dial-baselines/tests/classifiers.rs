//! Laplace, Poisson, reweighted and nearest-neighbour classification against golden numbers and on small graphs by hand.

#[path = "../../dial/tests/common/mod.rs"]
mod common;

use std::sync::Arc;

use common::Arrays;
use dial::acquisition::{Score, Situation};
use dial::classifiers::Classifier;
use dial::linalg::eigen::Eigenpairs;
use dial::{Acquisition, Control, DirichletField, Features, Graph, Metric, NodeId};
use dial_baselines::ModelChange;
use dial_baselines::models::{Model, ModelName, ScoreOf};

type Labels = Vec<Vec<(NodeId, f64)>>;

fn graph(arrays: &Arrays, name: &str) -> Arc<Graph> {
    common::graph_of(&arrays.rows(&format!("{name}_W")))
}

fn labels(arrays: &Arrays, case: &str) -> Labels {
    let [nodes, classes, weights] =
        ["nodes", "classes", "weights"].map(|what| arrays.floats(&format!("{case}_{what}")));
    let mut labels = vec![Vec::new(); 3];
    for ((node, class), weight) in nodes.iter().zip(&classes).zip(&weights) {
        labels[*class as usize].push((NodeId(*node as u32), *weight));
    }
    labels
}

fn assert_planes(got: &[Vec<f64>], want: &[f64], tolerance: f64, what: &str) {
    let k = got.len();
    for (i, row) in want.chunks(k).enumerate() {
        for (class, want) in row.iter().enumerate() {
            assert!(
                (got[class][i] - want).abs() < tolerance,
                "{what}: node {i} class {class}: {} not {want}",
                got[class][i]
            );
        }
    }
}

fn model<'a>(name: ModelName, graph: &Arc<Graph>) -> Model<'a> {
    match name {
        ModelName::Laplace => Model::laplace(Arc::clone(graph)),
        ModelName::Poisson => Model::poisson(Arc::clone(graph)),
        _ => Model::reweighted(Arc::clone(graph)),
    }
}

#[test]
fn golden_scores_of_graph_classifiers() {
    let (graphs, given, want) = (
        Arrays::golden("methods_graphs"),
        Arrays::golden("methods_labels"),
        Arrays::golden("classifiers"),
    );
    let mut compared = 0;
    for name in ["knn", "broken", "random"] {
        let graph = graph(&graphs, name);
        for case in ["hard", "soft", "annotators", "missing", "partial"]
            .map(|case| format!("{name}_{case}"))
        {
            if !given.has(&format!("{case}_nodes")) {
                continue;
            }
            let labels = labels(&given, &case);
            for kind in [
                ModelName::Laplace,
                ModelName::Poisson,
                ModelName::Reweighted,
            ] {
                let scores = model(kind, &graph)
                    .scores(&labels, &Control::new())
                    .unwrap();
                let golden = want.floats(&format!("{case}_{kind}"));
                assert_planes(&scores.planes, &golden, 1e-6, &format!("{case} {kind}"));
                compared += 1;
            }
        }
    }
    assert!(compared >= 30, "{compared}");
}

#[test]
fn golden_nearest_neighbours() {
    let (graphs, given, want) = (
        Arrays::golden("methods_graphs"),
        Arrays::golden("methods_labels"),
        Arrays::golden("classifiers"),
    );
    let x = graphs.floats("knn_X");
    let features = Features::f64(&x, 50, x.len() / 50).unwrap();
    for (case, metric, golden) in [
        ("knn_hard", Metric::Euclidean, "knn_hard_nearest"),
        ("knn_missing", Metric::Euclidean, "knn_missing_nearest"),
        ("knn_soft", Metric::Euclidean, "knn_soft_nearest_any"),
        ("knn_hard", Metric::Cosine, "knn_hard_nearest_cosine"),
    ] {
        let nearest = Model::nearest(features, metric).unwrap();
        let scores = nearest
            .scores(&labels(&given, case), &Control::new())
            .unwrap();
        assert_planes(&scores.planes, &want.floats(golden), 1e-12, golden);
    }
}

#[test]
fn golden_uncertainties_of_class_scores() {
    let (graphs, given, want) = (
        Arrays::golden("methods_graphs"),
        Arrays::golden("methods_labels"),
        Arrays::golden("classifiers"),
    );
    let graph = graph(&graphs, "knn");
    let labels = labels(&given, "knn_hard");
    let mut labelled: Vec<NodeId> = labels.iter().flatten().map(|(node, _)| *node).collect();
    labelled.sort_unstable();
    let field = DirichletField::new(graph.n(), 3, 1.0);
    let now = Situation {
        labelled: &labelled,
        labels: &labels,
        ..Situation::at_start(&field, 0)
    };
    for (score, word, sign) in [
        (Score::Margin, "margin", -1.0),
        (Score::MarginRange, "range", -1.0),
        (Score::Norm, "norm", -1.0),
        (Score::Entropy, "entropy", 1.0),
        (Score::LeastConfidence, "least_confidence", 1.0),
    ] {
        for kind in [
            ModelName::Laplace,
            ModelName::Poisson,
            ModelName::Reweighted,
        ] {
            let mut out = vec![0.0; graph.n()];
            ScoreOf::new(score, Arc::new(model(kind, &graph)))
                .unwrap()
                .scores(&now, &mut out)
                .unwrap();
            for (got, want) in out
                .iter()
                .zip(want.floats(&format!("knn_hard_{kind}_{word}")))
            {
                assert!(
                    (got - sign * want).abs() < 1e-6,
                    "{score}@{kind}: {got} not {want}"
                );
            }
        }
    }
    assert!(ScoreOf::new(Score::Variance, Arc::new(model(ModelName::Laplace, &graph))).is_err());
}

#[test]
fn a_path_by_hand() {
    // 0 - 1 - 2 - 3 with weights 1, labels 0 at node 0 and 1 at node 3: harmonic functions are linear.
    let path = Arc::new(Graph::from_edges(4, &[(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]).unwrap());
    let labels: Labels = vec![vec![(NodeId(0), 1.0)], vec![(NodeId(3), 1.0)]];
    let laplace = Model::laplace(Arc::clone(&path))
        .scores(&labels, &Control::new())
        .unwrap();
    assert_planes(
        &laplace.planes,
        &[
            1.0,
            0.0,
            2.0 / 3.0,
            1.0 / 3.0,
            1.0 / 3.0,
            2.0 / 3.0,
            0.0,
            1.0,
        ],
        1e-8,
        "laplace",
    );
    // L u = (1/2, 0, 0, -1/2): differences 1/2 along the path, and degrees 1, 2, 2, 1 leave u = (3, 1, -1, -3)/4.
    let poisson = Model::poisson(path)
        .scores(&labels, &Control::new())
        .unwrap();
    assert_planes(
        &poisson.planes,
        &[0.75, -0.75, 0.25, -0.25, -0.25, 0.25, -0.75, 0.75],
        1e-8,
        "poisson",
    );
    assert_eq!(
        (0..4).map(|i| poisson.class(NodeId(i))).collect::<Vec<_>>(),
        [0, 0, 1, 1]
    );
}

#[test]
fn nobody_knows_anything_without_labels() {
    let graph = Arc::new(Graph::from_edges(3, &[(0, 1, 1.0)]).unwrap());
    let none: Labels = vec![Vec::new(), Vec::new()];
    for (kind, value) in [
        (ModelName::Laplace, 0.5),
        (ModelName::Poisson, 0.0),
        (ModelName::Reweighted, 0.5),
    ] {
        let scores = model(kind, &graph).scores(&none, &Control::new()).unwrap();
        assert_eq!(scores.planes, vec![vec![value; 3]; 2], "{kind}");
    }
}

#[test]
fn scores_have_the_same_bits_on_any_number_of_threads() {
    let (graphs, given) = (
        Arrays::golden("methods_graphs"),
        Arrays::golden("methods_labels"),
    );
    let (graph, labels) = (graph(&graphs, "knn"), labels(&given, "knn_soft"));
    for kind in [
        ModelName::Laplace,
        ModelName::Poisson,
        ModelName::Reweighted,
    ] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| {
                model(kind, &graph)
                    .scores(&labels, &Control::new())
                    .unwrap()
            })
        };
        assert_eq!(run(1), run(4), "{kind}");
    }
}

#[test]
fn golden_model_change_with_our_own_eigenpairs_and_margins() {
    let (graphs, want) = (Arrays::golden("methods_graphs"), Arrays::golden("vopt"));
    for name in ["knn", "broken", "random"] {
        let graph = graph(&graphs, name);
        let pairs = Eigenpairs::normalized(&graph, 10, &Control::new()).unwrap();
        let margin =
            ScoreOf::new(Score::Margin, Arc::new(Model::laplace(Arc::clone(&graph)))).unwrap();
        let model_change = ModelChange::new(Arc::new(pairs), Arc::new(margin));
        let (nodes, classes) = (
            want.nodes(&format!("{name}_nodes")),
            want.integers(&format!("{name}_classes")),
        );
        let field = DirichletField::new(graph.n(), 3, 1.0);
        for (count, golden) in want.rows(&format!("{name}_mcvopt")).iter().enumerate() {
            let mut labels: Labels = vec![Vec::new(); 3];
            nodes
                .iter()
                .zip(&classes)
                .take(count)
                .for_each(|(&node, &class)| labels[class].push((node, 1.0)));
            let mut labelled = nodes[..count].to_vec();
            labelled.sort_unstable();
            let now = Situation {
                labelled: &labelled,
                order: &nodes[..count],
                labels: &labels,
                ..Situation::at_start(&field, 0)
            };
            let mut out = vec![0.0; graph.n()];
            model_change.scores(&now, &mut out).unwrap();
            // One label alone leaves a margin of 1 and a score of 0 everywhere it reaches.
            let largest = golden.iter().copied().fold(1.0, f64::max);
            common::assert_close(
                &format!("{name} after {count}"),
                &out,
                golden,
                1e-6 * largest,
            );
        }
    }
}
