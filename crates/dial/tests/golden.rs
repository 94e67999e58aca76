//! Golden numbers from an independent derivation: dense NumPy from the formulas, in fixtures/.

mod common;

use std::sync::Arc;

use common::{Arrays, assert_close, dense, graph, graph_of};
use dial::acquisition::{Score, Situation};
use dial::graph::EdgeWeights;
use dial::graph::laplacian::Normalized;
use dial::linalg::cg::{Stop, Workspace, conjugate_gradients};
use dial::policy::{automatic_lambda, probabilities};
use dial::propagation::Poisson;
use dial::simulate::{Initial, Plan, Truth, trial};
use dial::{
    Acquisition, ClassId, Config, Control, DirichletField, Engine, Features, Metric, NodeId,
    Propagation,
};

fn small_poisson(tau: f64) -> Poisson {
    Poisson::new(
        graph_of(&Arrays::golden("pool_small").rows("W_euclidean")),
        tau,
    )
    .unwrap()
}

/// A CSR matrix of the fixtures, dense.
fn csr(arrays: &Arrays, name: &str) -> Vec<Vec<f64>> {
    let starts = arrays.integers(&format!("W_{name}_indptr"));
    let (columns, data) = (
        arrays.integers(&format!("W_{name}_indices")),
        arrays.floats(&format!("W_{name}_data")),
    );
    let mut weights = vec![vec![0.0; starts.len() - 1]; starts.len() - 1];
    for (row, weights) in weights.iter_mut().enumerate() {
        (starts[row]..starts[row + 1]).for_each(|slot| weights[columns[slot]] = data[slot]);
    }
    weights
}

#[test]
fn weights_of_every_kind_and_metric() {
    let pool = Arrays::golden("pool_small");
    let (x, x32, k) = (pool.floats("X"), pool.f32s("X32"), pool.integers("k")[0]);
    let wide = Features::f64(&x, 150, 5).unwrap();
    let narrow = Features::f32(&x32, 150, 5).unwrap();
    let (euclidean, tuned) = (Metric::Euclidean, EdgeWeights::SelfTuning);
    for (name, features, metric, weights) in [
        ("euclidean", wide, euclidean, tuned),
        ("euclidean_f32", narrow, euclidean, tuned),
        ("cosine", wide, Metric::Cosine, tuned),
        ("gaussian", wide, euclidean, EdgeWeights::Gaussian),
        ("uniform", wide, euclidean, EdgeWeights::Uniform),
    ] {
        let ours = graph(features, k, metric, weights);
        let theirs = if name == "euclidean" {
            pool.rows("W_euclidean")
        } else {
            csr(&pool, name)
        };
        assert_close(name, &dense(&ours).concat(), &theirs.concat(), 1e-12);
        assert_close(
            name,
            ours.degrees(),
            &pool.floats(&format!("degree_{name}")),
            1e-12,
        );
    }
}

#[test]
fn weights_among_duplicates() {
    let pool = Arrays::golden("pool_duplicates");
    let x = pool.floats("X");
    let features = Features::f64(&x, 30, 2).unwrap();
    let ours = graph(
        features,
        pool.integers("k")[0],
        Metric::Euclidean,
        EdgeWeights::SelfTuning,
    );
    assert_close(
        "duplicates",
        &dense(&ours).concat(),
        &pool.floats("W"),
        1e-12,
    );
}

#[test]
fn poisson_columns() {
    let golden = Arrays::golden("propagation");
    let sources = golden.nodes("sources");
    for (tau, name) in [
        (0.1, "K_tau_0_1"),
        (0.01, "K_tau_0_01"),
        (1.0, "K_tau_1"),
        (0.0, "K_tau_0"),
    ] {
        let columns = small_poisson(tau)
            .columns(&sources, &Control::new())
            .unwrap();
        for (column, want) in columns.iter().zip(golden.rows(name)) {
            assert_close(name, column, &want, 1e-7);
        }
    }
    let raw = small_poisson(0.1)
        .raw_columns(&sources, &Control::new())
        .unwrap();
    for (column, want) in raw.iter().zip(golden.rows("g_tau_0_1")) {
        assert_close("g", column, &want, 1e-8);
    }
    let twice = small_poisson(0.1).with_source_value(2.0).unwrap();
    let column = twice
        .columns(&golden.nodes("T2_source"), &Control::new())
        .unwrap()
        .remove(0);
    assert_close("T = 2", &column, &golden.floats("K_tau_0_1_T2"), 1e-7);
}

#[test]
fn poisson_columns_on_a_disconnected_graph() {
    let golden = Arrays::golden("graph_two_components");
    let graph = graph_of(&golden.rows("W"));
    assert_eq!(
        graph
            .component_sizes()
            .iter()
            .copied()
            .collect::<std::collections::BTreeSet<_>>(),
        [1, 19, 20].into()
    );
    for (tau, name) in [(0.1, "K_tau_0_1"), (0.0, "K_tau_0")] {
        let propagation = Poisson::new(Arc::clone(&graph), tau).unwrap();
        let columns = propagation
            .columns(&golden.nodes("sources"), &Control::new())
            .unwrap();
        for (column, want) in columns.iter().zip(golden.rows(name)) {
            assert_close(name, column, &want, 1e-7);
        }
    }
}

#[test]
fn the_normalised_laplacian_breaks_the_maximum_principle() {
    let golden = Arrays::golden("normalised_laplacian");
    let graph = graph_of(&golden.rows("W"));
    let source = golden.integers("source")[0];
    let mut space = Workspace::default();
    let operator = Normalized::new(&graph, golden.float("tau"));
    let b = |row, _| if row == source { 1.0 } else { 0.0 };
    conjugate_gradients::<1>(&operator, b, Stop::default(), &mut space, &Control::new()).unwrap();
    assert_close("g", space.solution(), &golden.floats("g_normalised"), 1e-8);
    assert!(
        space.solution()[0] > space.solution()[source],
        "the largest value is not at the source"
    );
}

fn field(golden: &Arrays, case: &str, prior: f64) -> DirichletField {
    let mut field = DirichletField::new(150, 3, prior);
    let nodes = golden.nodes(&format!("{case}_nodes"));
    let columns = small_poisson(0.1).columns(&nodes, &Control::new()).unwrap();
    let labels = golden
        .integers(&format!("{case}_classes"))
        .into_iter()
        .zip(golden.floats(&format!("{case}_weights")));
    for (column, (class, weight)) in columns.iter().zip(labels) {
        field.add(class, weight, column);
    }
    field
}

#[test]
fn the_dirichlet_field() {
    let golden = Arrays::golden("field");
    for case in ["all", "missing", "soft"] {
        for (prior, word) in [(1.0, "prior_1"), (0.05, "prior_0_05")] {
            let field = field(&golden, case, prior);
            let nodes: Vec<NodeId> = (0..150).map(NodeId).collect();
            let want = |what: &str| golden.floats(&format!("{case}_{word}_{what}"));
            let alpha: Vec<f64> = nodes.iter().flat_map(|&node| field.alpha(node)).collect();
            let mean: Vec<f64> = nodes.iter().flat_map(|&node| field.mean(node)).collect();
            let variance: Vec<f64> = nodes.iter().map(|&node| field.variance(node)).collect();
            let class: Vec<f64> = nodes.iter().map(|&node| field.class(node) as f64).collect();
            assert_close("alpha", &alpha, &want("alpha"), 1e-7);
            assert_close("mean", &mean, &want("mean"), 1e-7);
            assert_close("variance", &variance, &want("variance"), 1e-7);
            assert_eq!(class, want("class"));
            let some = golden.nodes("covariance_nodes");
            let covariance: Vec<f64> = some
                .iter()
                .flat_map(|&node| field.covariance(node).concat())
                .collect();
            assert_close("covariance", &covariance, &want("covariance"), 1e-7);
        }
    }
}

#[test]
fn the_calibrated_prior_and_the_authors_variant() {
    let golden = Arrays::golden("prior");
    let (sources, clusters) = (golden.nodes("sources"), golden.integers("K_hat")[0]);
    let propagation = small_poisson(golden.float("tau"));
    let columns = propagation.columns(&sources, &Control::new()).unwrap();
    assert_close(
        "prior",
        &[dial::belief::prior::from_columns(&columns, clusters)],
        &golden.floats("calibrated"),
        1e-8,
    );
    let raw = propagation.raw_columns(&sources, &Control::new()).unwrap();
    assert_close(
        "raw prior",
        &[dial::belief::prior::from_columns(&raw, clusters)],
        &golden.floats("calibrated_raw"),
        1e-8,
    );
    let apart = Arrays::golden("graph_two_components");
    let propagation = Poisson::new(graph_of(&apart.rows("W")), 0.1).unwrap();
    let columns = propagation
        .columns(&apart.nodes("floor_sources"), &Control::new())
        .unwrap();
    let floor = dial::belief::prior::from_columns(&columns, apart.integers("floor_K_hat")[0]);
    assert_eq!((floor, apart.float("floor_prior")), (1e-6, 1e-6));
}

#[test]
fn acquisitions() {
    for (prior, word) in [(1.0, "prior_1"), (0.05, "prior_0_05")] {
        let golden = Arrays::golden(&format!("acquisitions_{word}"));
        let field = field(&Arrays::golden("field"), "all", prior);
        for &score in Score::ALL.iter().filter(|&&score| score != Score::Random) {
            let mut ours = vec![f64::NAN; 150];
            score
                .scores(&Situation::at_start(&field, 0), &mut ours)
                .unwrap();
            assert_close(
                score.word(),
                &ours,
                &golden.floats(&score.word().replace('-', "_")),
                1e-7,
            );
        }
    }
}

#[test]
fn the_proportional_policy() {
    let golden = Arrays::golden("proportional");
    for case in ["plain", "low", "wide", "negative", "equal", "tied"] {
        let get = |what: &str| golden.floats(&format!("{case}_{what}"));
        let (scores, clusters) = (get("scores"), get("K_hat")[0] as usize);
        let lambda = automatic_lambda(&mut scores.clone(), clusters);
        if case == "equal" {
            assert_eq!(lambda, 0.0, "all scores equal means uniform");
        } else {
            assert!(
                (lambda / get("lambda")[0] - 1.0).abs() < 1e-12,
                "{case}: {lambda}"
            );
        }
        assert_close(case, &probabilities(&scores, lambda), &get("q"), 1e-12);
        assert_close(
            case,
            &probabilities(&scores, 0.0),
            &get("q_lambda_0"),
            1e-15,
        );
        assert_close(
            case,
            &probabilities(&scores, 1e5),
            &get("q_lambda_1e5"),
            1e-12,
        );
        assert_close(
            case,
            &probabilities(&scores, f64::INFINITY),
            &get("q_lambda_inf"),
            1e-15,
        );
    }
}

#[test]
fn the_first_30_questions_of_maximum_variance() {
    let (pool, golden) = (Arrays::golden("pool_small"), Arrays::golden("queries"));
    let (x, labels) = (pool.floats("X"), pool.integers("labels"));
    let config = Config {
        k: 8,
        ..Config::paper()
    };
    let features = Features::f64(&x, 150, 5).unwrap();
    let engine = Engine::build(features, &config, &Control::new()).unwrap();
    let truth = Truth {
        names: ["a", "b", "c"].map(String::from).to_vec(),
        classes: labels
            .iter()
            .map(|&class| Some(ClassId(class as u16)))
            .collect(),
        clusters: pool
            .integers("clusters")
            .iter()
            .map(|&cluster| Some(cluster as u32))
            .collect(),
    };
    let plan = Plan {
        initial: Initial::Nodes(golden.nodes("initial")),
        queries: 30,
        ..Plan::default()
    };
    let (records, _) = trial(&engine, &truth, &plan, &|| 0.0, &Control::new()).unwrap();
    let asked: Vec<NodeId> = records.iter().filter_map(|record| record.node).collect();
    assert_eq!(asked, golden.nodes("asked"));
}
