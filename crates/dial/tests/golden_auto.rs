//! Golden numbers of `auto`: weights, balance, doubt and coverage, and the reader, against fixtures/auto.py.

mod common;

use std::sync::Arc;

use common::{Arrays, assert_close, dense, graph, graph_of};
use dial::acquisition::Situation;
use dial::acquisition::auto::Auto;
use dial::belief::calibration::Readout;
use dial::graph::EdgeWeights;
use dial::graph::packed::PackedGraph;
use dial::propagation::Poisson;
use dial::propagation::certified::Certified;
use dial::*;

/// The cases, with the graph of each.
const CASES: [(&str, &str); 4] = [
    ("told", "pool"),
    ("early", "pool"),
    ("none", "pool"),
    ("few", "tight"),
];

/// The golden evidence of a case, as it is: not by way of our own columns.
fn field(golden: &Arrays, case: &str) -> DirichletField {
    let rows = golden.rows(&format!("{case}_field"));
    let mut field = DirichletField::new(rows.len(), rows[0].len(), golden.float("prior"));
    for class in 0..field.n_classes() {
        field.set(
            class,
            &rows.iter().map(|row| row[class]).collect::<Vec<f64>>(),
        );
    }
    field
}

fn reader(golden: &Arrays, case: &str, field: &DirichletField) -> Readout {
    let mut labels = vec![Vec::new(); field.n_classes()];
    let nodes = golden.nodes(&format!("{case}_nodes"));
    let weights = golden.floats(&format!("{case}_weights"));
    for ((node, class), weight) in nodes
        .into_iter()
        .zip(golden.integers(&format!("{case}_classes")))
        .zip(weights)
    {
        labels[class].push((node, weight));
    }
    Readout::calibrated(field, &labels, 1.0, None)
}

fn all(field: &DirichletField) -> impl Iterator<Item = NodeId> {
    (0..field.n() as u32).map(NodeId)
}

#[test]
fn symmetric_weights_with_duplicates_and_an_outlier() {
    let golden = Arrays::golden("auto");
    let x = golden.floats("X");
    let features = Features::f64(&x, x.len() / 2, 2).unwrap();
    let ours = graph(
        features,
        golden.integers("k")[0],
        Metric::Euclidean,
        EdgeWeights::Symmetric,
    );
    assert_close(
        "weights",
        &dense(&ours).concat(),
        &golden.floats("pool_W"),
        1e-12,
    );
    assert_close(
        "degrees",
        ours.degrees(),
        &golden.floats("pool_degree"),
        1e-12,
    );
    let zero = golden
        .floats("pool_degree")
        .iter()
        .position(|&degree| degree == 0.0)
        .unwrap();
    assert!(
        ours.row(NodeId(zero as u32)).0.is_empty(),
        "weights that underflow are no edges"
    );
}

#[test]
fn classes_are_balanced() {
    let golden = Arrays::golden("auto");
    for (case, _) in CASES {
        let field = field(&golden, case);
        let get = |what: &str| golden.floats(&format!("{case}_{what}"));
        assert_close(
            case,
            &dial::belief::class_balance::weights(&field, 0.5),
            &get("omega"),
            1e-12,
        );
        assert_close(
            case,
            &dial::belief::class_balance::weights(&field, 1.0),
            &get("omega_power_1"),
            1e-12,
        );
        assert_close(
            case,
            &dial::belief::class_balance::weights(&field, 0.0),
            &[1.0; 3],
            1e-12,
        );
        let reader = reader(&golden, case, &field);
        let evidence: Vec<f64> = all(&field)
            .flat_map(|node| reader.evidence(&field, node))
            .collect();
        assert_close(case, &evidence, &get("evidence"), 1e-12);
    }
}

/// The propagation on a golden graph in both precisions.
fn propagations(golden: &Arrays, name: &str) -> [Arc<dyn Propagation>; 2] {
    let (graph, tau) = (
        graph_of(&golden.rows(&format!("{name}_W"))),
        golden.float(&format!("{name}_tau")),
    );
    let compact = Arc::new(PackedGraph::new(&graph));
    [
        Arc::new(Poisson::new(graph, tau).unwrap()),
        Arc::new(Certified::new(compact, tau).unwrap()),
    ]
}

/// By how much a spread may be off at every node: |u - u*| <= |residual|/τ with a residual of at most 1e-4 |values|, times
/// d + τ; and a little for rounding the drawn weights to f32.
fn spread_slack(golden: &Arrays, name: &str, values: &[f64]) -> Vec<f64> {
    let (tau, degrees) = (
        golden.float(&format!("{name}_tau")),
        golden.floats(&format!("{name}_degree")),
    );
    let norm = values.iter().map(|v| v * v).sum::<f64>().sqrt();
    degrees
        .iter()
        .map(|degree| 1e-4 * norm * (degree + tau) / tau + 1e-6)
        .collect()
}

#[test]
fn peaks_are_found_nearby_and_never_too_high() {
    let golden = Arrays::golden("auto");
    // The drawn weights of `tight` are no f32, which those of the certified propagation are.
    for (name, rounding) in [("pool", 1e-12), ("tight", 1e-5)] {
        let get = |what: &str| golden.floats(&format!("{name}_{what}"));
        for (propagation, slack) in propagations(&golden, name)
            .into_iter()
            .zip([1e-12, rounding])
        {
            let got = propagation
                .inverse_diagonal(&Control::new())
                .unwrap()
                .unwrap();
            assert_close(name, &got, &get("peak_found"), slack);
            for (x, (got, exact)) in got.into_iter().zip(get("peak")).enumerate() {
                let near = (0.95 * exact).max(1.0)..=exact * (1.0 + slack);
                assert!(near.contains(&got), "{name} {x}: {got}, exactly {exact}");
            }
        }
    }
}

#[test]
fn doubt_spreads_and_scores() {
    let golden = Arrays::golden("auto");
    for (case, name) in CASES {
        let get = |what: &str| golden.floats(&format!("{case}_{what}"));
        let (doubt, want) = (get("doubt"), get("spread"));
        let peak = golden.floats(&format!("{name}_peak_found"));
        for propagation in propagations(&golden, name) {
            let spread = propagation
                .spread(&doubt, &Control::new())
                .unwrap()
                .unwrap();
            let mut scores = vec![f64::NAN; doubt.len()];
            let acquisition = Auto::new(propagation, &Control::new()).unwrap();
            acquisition
                .scores(&Situation::at_start(&field(&golden, case), 0), &mut scores)
                .unwrap();
            for (x, slack) in spread_slack(&golden, name, &doubt).into_iter().enumerate() {
                let (got, want) = (spread[x], want[x]);
                assert!(
                    (got - want).abs() <= slack,
                    "{case} {x}: {got} is not {want} ± {slack}"
                );
                let low = doubt[x] * ((want - slack).max(0.0) / peak[x]).sqrt() * (1.0 - 1e-5);
                let high = doubt[x] * ((want + slack) / peak[x]).sqrt() * (1.0 + 1e-5);
                assert!(
                    (low..=high).contains(&scores[x]),
                    "{case} {x}: {} is not {low} to {high}",
                    scores[x]
                );
            }
        }
    }
}

#[test]
fn the_reader_learns_power_floor_and_noise() {
    let golden = Arrays::golden("auto");
    for (case, _) in CASES {
        let field = field(&golden, case);
        let get = |what: &str| golden.floats(&format!("{case}_{what}"));
        let reader = reader(&golden, case, &field);
        assert_close(case, &[reader.noise()], &get("noise"), 1e-9);
        let p: Vec<f64> = all(&field)
            .flat_map(|node| reader.probabilities(&field, node))
            .collect();
        assert_close(case, &p, &get("probabilities"), 1e-9);
        let class: Vec<f64> = all(&field)
            .map(|node| reader.class(&field, node) as f64)
            .collect();
        assert_close(case, &class, &get("class"), 0.0);
    }
}

#[test]
fn the_accuracy_to_expect_and_its_interval() {
    let golden = Arrays::golden("auto");
    for (case, _) in CASES {
        let field = field(&golden, case);
        let get = |what: &str| golden.floats(&format!("{case}_{what}"));
        let labelled = golden.nodes(&format!("{case}_nodes"));
        let rest: Vec<NodeId> = all(&field)
            .filter(|node| !labelled.contains(node))
            .collect();
        let Some(got) = reader(&golden, case, &field).accuracy(&field, &rest) else {
            assert_ne!(case, "told", "40 labels of all classes are enough");
            continue;
        };
        assert_eq!(case, "told", "nothing is said while there are few labels");
        assert_close(case, &[got.mean, got.low, got.high], &get("accuracy"), 1e-9);
        // Of the whole posterior, no more than what is dropped is missing; accuracies differ by less than 1.
        let (all, dropped) = (get("accuracy_all")[0], get("dropped")[0]);
        assert!(
            dropped < 72e-4 && (got.mean - all).abs() <= dropped + 1e-9,
            "{case}: {} is not {all}",
            got.mean
        );
    }
}
