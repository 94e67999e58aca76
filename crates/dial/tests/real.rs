//! The paper's pools: an independent f64 run (solves to 1e-12, fixtures/replay.py) replayed step by step with its labels.
//!
//! Needs the real data (DIAL_DATA) and the reference runs (DIAL_REPLAY, which `./test` makes); says so where they are
//! missing. Whole sequences of questions are chaotic near ties, so every step is compared from the reference's state.

mod common;

use common::{Arrays, assert_close, graph, real_data};
use dial::acquisition::{Score, Situation};
use dial::graph::EdgeWeights;
use dial::{Acquisition, ClassId, Config, Control, Engine, Features, Metric, NodeId, Session};

#[test]
fn weights_agree_with_the_authors_graph() {
    let Some(data) = real_data() else { return };
    let blobs = Arrays::read(data.join("golden/blobs.npz"));
    let theirs = Arrays::read(data.join("golden/graph_blobs_20.npz"));
    let x = blobs.floats("X_f64");
    // Their 20 neighbours count the point itself; its weight, the diagonal, is kept there. Their weights are f64, ours f32.
    let ours = graph(
        Features::f64(&x, x.len() / 2, 2).unwrap(),
        19,
        Metric::Euclidean,
        EdgeWeights::SelfTuning,
    );
    let (starts, columns, weights) = (
        theirs.integers("indptr"),
        theirs.integers("indices"),
        theirs.floats("data"),
    );
    let mut compared = 0;
    for row in 0..ours.n() {
        let mut expected: Vec<(u32, f64)> = (starts[row]..starts[row + 1])
            .filter(|&slot| columns[slot] != row)
            .map(|slot| (columns[slot] as u32, f64::from(weights[slot] as f32)))
            .collect();
        expected.sort_by_key(|&(column, _)| column);
        let (neighbours, values) = ours.row(NodeId(row as u32));
        assert_eq!(
            neighbours,
            expected
                .iter()
                .map(|&(column, _)| column)
                .collect::<Vec<_>>()
        );
        assert_close(
            "row",
            values,
            &expected
                .iter()
                .map(|&(_, weight)| weight)
                .collect::<Vec<_>>(),
            1e-12,
        );
        compared += values.len();
    }
    assert!(compared > 40_000);
}

#[test]
fn replays_an_independent_run_step_by_step() {
    let Some(data) = real_data() else { return };
    let Some(replays) = std::env::var_os("DIAL_REPLAY").map(std::path::PathBuf::from) else {
        return eprintln!(
            "SKIPPED: no reference runs (set DIAL_REPLAY to the output of fixtures/replay.py)"
        );
    };
    for (set, metric, classes) in [
        ("paviasub", Metric::Cosine, 6),
        ("mnistsmall", Metric::Euclidean, 3),
        ("fashionmnistsmall", Metric::Euclidean, 3),
    ] {
        let pool = Arrays::read(data.join(format!("features/{set}.npz")));
        let (x, shape) = (pool.f32s("X"), &pool.array("X").shape);
        let features = Features::f32(&x, shape[0], shape[1]).unwrap();
        let config = Config {
            metric,
            ..Config::paper()
        };
        let engine = Engine::build(features, &config, &Control::new()).unwrap();
        let names: Vec<String> = (0..classes).map(|class| class.to_string()).collect();
        compare(
            set,
            engine.session(&names, &Control::new()).unwrap(),
            &Arrays::read(replays.join(format!("{set}.npz"))),
        );
    }
}

fn compare(set: &str, mut session: Session<'_>, reference: &Arrays) {
    let control = Control::new();
    let class_of: Vec<ClassId> = reference
        .integers("classes")
        .iter()
        .map(|&class| ClassId(class as u16))
        .collect();
    for node in reference.nodes("initial") {
        session
            .tell(&node.0.to_string(), class_of[node.index()], &control)
            .unwrap();
    }
    let (scores, gaps) = (reference.rows("scores"), reference.rows("alpha_top_gap"));
    let (predicted, chosen) = (reference.rows("predicted"), reference.nodes("chosen"));
    assert_eq!(chosen.len(), 100);
    let n = session.field().n();
    let mut ours = vec![0.0; n];
    for step in 0..100 {
        let now = Situation {
            labelled: session.labelled(),
            round: step as u64,
            ..Situation::at_start(session.field(), 0)
        };
        Score::Variance.scores(&now, &mut ours).unwrap();
        assert_close(&format!("{set}, step {step}"), &ours, &scores[step], 1e-7);
        let best = session.ask(1).unwrap().questions[0].score;
        assert!(
            best - ours[chosen[step].index()] <= 1e-8,
            "{set}, step {step}: the reference's choice is ours too"
        );
        for node in (0..n).filter(|&node| gaps[step][node] > 1e-7) {
            let class = session.field().class(NodeId(node as u32));
            assert_eq!(
                class as f64, predicted[step][node],
                "{set}, step {step}, node {node}"
            );
        }
        let node = chosen[step];
        session
            .tell(&node.0.to_string(), class_of[node.index()], &control)
            .unwrap();
    }
}
