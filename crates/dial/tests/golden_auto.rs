//! Golden numbers of `auto`: weights, balance, doubt and coverage, and the reader, against fixtures/auto.py.

mod common;

use std::sync::Arc;

use common::{Arrays, assert_close, dense, graph, graph_of};
use dial::*;

const CASES: [&str; 3] = ["told", "early", "none"];

/// The golden evidence of a case, as it is: not by way of our own columns.
fn field(golden: &Arrays, case: &str) -> DirichletField {
    let rows = golden.rows(&format!("{case}_field"));
    let mut field = DirichletField::new(rows.len(), rows[0].len(), golden.float("prior"));
    for class in 0..field.n_classes() {
        field.set(class, &rows.iter().map(|row| row[class]).collect::<Vec<f64>>());
    }
    field
}

fn reader(golden: &Arrays, case: &str, field: &DirichletField) -> Reader {
    let mut labels = vec![Vec::new(); field.n_classes()];
    let nodes = golden.nodes(&format!("{case}_nodes"));
    let weights = golden.floats(&format!("{case}_weights"));
    for ((node, class), weight) in nodes.into_iter().zip(golden.integers(&format!("{case}_classes"))).zip(weights) {
        labels[class].push((node, weight));
    }
    Reader::even(field, &labels, 1.0)
}

fn all(field: &DirichletField) -> impl Iterator<Item = NodeId> {
    (0..field.n() as u32).map(NodeId)
}

#[test]
fn symmetric_weights_with_duplicates_and_an_outlier() {
    let golden = Arrays::golden("auto");
    let x = golden.floats("X");
    let features = Features::f64(&x, x.len() / 2, 2).unwrap();
    let ours = graph(features, golden.integers("k")[0], Metric::Euclidean, Kernel::Symmetric);
    assert_close("weights", &dense(&ours).concat(), &golden.floats("W"), 1e-12);
    assert_close("degrees", ours.degrees(), &golden.floats("degree"), 1e-12);
    let zero = golden.floats("degree").iter().position(|&degree| degree == 0.0).unwrap();
    assert!(ours.row(NodeId(zero as u32)).0.is_empty(), "weights that underflow are no edges");
}

#[test]
fn classes_are_evened_out() {
    let golden = Arrays::golden("auto");
    for case in CASES {
        let field = field(&golden, case);
        let get = |what: &str| golden.floats(&format!("{case}_{what}"));
        assert_close(case, &dial::balance::weights(&field, 0.5), &get("omega"), 1e-12);
        assert_close(case, &dial::balance::weights(&field, 1.0), &get("omega_power_1"), 1e-12);
        assert_close(case, &dial::balance::weights(&field, 0.0), &[1.0; 3], 1e-12);
        let reader = reader(&golden, case, &field);
        let evidence: Vec<f64> = all(&field).flat_map(|node| reader.evidence(&field, node)).collect();
        assert_close(case, &evidence, &get("evidence"), 1e-12);
    }
}

/// By how much a spread may be off at every node: |u - u*| <= |residual|/τ with a residual of at most 1e-4 |values|, times
/// d + τ; and a little for weights in f32.
fn spread_slack(golden: &Arrays, values: &[f64]) -> Vec<f64> {
    let (tau, norm) = (golden.float("tau"), values.iter().map(|v| v * v).sum::<f64>().sqrt());
    golden.floats("degree").iter().map(|degree| 1e-4 * norm * (degree + tau) / tau + 1e-6).collect()
}

#[test]
fn doubt_spreads_and_scores() {
    let golden = Arrays::golden("auto");
    let (graph, tau) = (graph_of(&golden.rows("W")), golden.float("tau"));
    let poisson: Arc<dyn Propagation> = Arc::new(Poisson::new(Arc::clone(&graph), tau).unwrap());
    let compact = Arc::new(CompactGraph::new(&graph));
    let certified: Arc<dyn Propagation> = Arc::new(Certified::new(compact, tau).unwrap());
    let (peak, deviation) = (golden.floats("peak"), golden.floats("peak_deviation"));
    for kernel in [poisson, certified] {
        let estimated = kernel.peaks(&Control::new()).unwrap().unwrap();
        let acquisition = Doubt::new(Arc::clone(&kernel), &Control::new()).unwrap();
        for case in CASES {
            let get = |what: &str| golden.floats(&format!("{case}_{what}"));
            let (doubt, want) = (get("doubt"), get("spread"));
            let got = kernel.spread(&doubt, &Control::new()).unwrap().unwrap();
            let mut scores = vec![f64::NAN; doubt.len()];
            acquisition.scores(&Situation::at_start(&field(&golden, case), 0), &mut scores).unwrap();
            for (x, slack) in spread_slack(&golden, &doubt).into_iter().enumerate() {
                assert!((got[x] - want[x]).abs() <= slack, "{case} {x}: {} is not {} ± {slack}", got[x], want[x]);
                // The score with the peak that was estimated, and with an exact one: four deviations of 16 vectors.
                let near = |least: f64, most: f64| {
                    let low = doubt[x] * ((want[x] - slack).max(0.0) / most).sqrt();
                    let high = doubt[x] * ((want[x] + slack) / least).sqrt();
                    let fits = scores[x] >= low * (1.0 - 1e-9) && scores[x] <= high * (1.0 + 1e-9);
                    assert!(fits, "{case} {x}: {} is not from {low} to {high}", scores[x]);
                };
                near(estimated[x], estimated[x]);
                near((peak[x] - 4.0 * deviation[x]).max(1.0), peak[x] + 4.0 * deviation[x]);
            }
        }
    }
}

#[test]
fn the_reader_learns_power_floor_and_noise() {
    let golden = Arrays::golden("auto");
    for case in CASES {
        let field = field(&golden, case);
        let get = |what: &str| golden.floats(&format!("{case}_{what}"));
        let reader = reader(&golden, case, &field);
        assert_close(case, &[reader.noise()], &get("noise"), 1e-9);
        let p: Vec<f64> = all(&field).flat_map(|node| reader.probabilities(&field, node)).collect();
        assert_close(case, &p, &get("probabilities"), 1e-9);
        let class: Vec<f64> = all(&field).map(|node| reader.class(&field, node) as f64).collect();
        assert_close(case, &class, &get("class"), 0.0);
    }
}

#[test]
fn the_accuracy_to_expect_and_its_interval() {
    let golden = Arrays::golden("auto");
    for case in CASES {
        let field = field(&golden, case);
        let get = |what: &str| golden.floats(&format!("{case}_{what}"));
        let mut labelled = golden.nodes(&format!("{case}_nodes"));
        labelled.sort();
        labelled.dedup();
        let got = reader(&golden, case, &field).accuracy(&field, &labelled).unwrap();
        assert_close(case, &[got.mean, got.low, got.high], &get("accuracy"), 1e-9);
        // Of the whole posterior, no more than what is dropped is missing; accuracies differ by less than 1.
        let (all, dropped) = (get("accuracy_all")[0], get("dropped")[0]);
        assert!(dropped < 72e-4 && (got.mean - all).abs() <= dropped + 1e-9, "{case}: {} is not {all}", got.mean);
    }
}
