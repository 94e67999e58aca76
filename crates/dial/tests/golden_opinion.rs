//! Golden numbers of the second opinion: components, fits, labels left out and what the reader makes of them, against
//! fixtures/opinion.py.

mod common;

use std::sync::Arc;

use common::{Arrays, assert_close};
use dial::belief::calibration::Readout;
use dial::opinion::components::Components;
use dial::opinion::{Labelled, SecondOpinion};
use dial::*;

const CASES: [&str; 3] = ["few", "more", "many"];

/// Coordinates are kept in f32.
const F32: f64 = 2e-6;

struct Case {
    golden: Arrays,
    name: &'static str,
    components: Arc<Components>,
    field: DirichletField,
    /// In the order of the log.
    labels: Vec<Labelled>,
    terms: Vec<Vec<(NodeId, f64)>>,
}

impl Case {
    fn get(&self, what: &str) -> Vec<f64> {
        self.golden.floats(&format!("{}_{what}", self.name))
    }

    fn opinion(&self) -> SecondOpinion {
        let n_classes = self.terms.len();
        SecondOpinion::fit(&self.components, &self.labels, n_classes).expect("there are labels")
    }

    fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.field.n() as u32).map(NodeId)
    }
}

fn case(name: &'static str) -> Case {
    let golden = Arrays::golden("opinion");
    let get = |what: &str| format!("{name}_{what}");
    let x = golden.floats(&get("X"));
    let rows = golden.rows(&get("field"));
    let (n, n_classes) = (rows.len(), rows[0].len());
    let features = Features::f64(&x, n, x.len() / n).unwrap();
    let components = Components::of(features, Metric::Euclidean, &Control::new()).unwrap();
    let mut field = DirichletField::new(n, n_classes, golden.float("prior"));
    for class in 0..n_classes {
        field.set(
            class,
            &rows.iter().map(|row| row[class]).collect::<Vec<f64>>(),
        );
    }
    let mut terms = vec![Vec::new(); n_classes];
    let mut labels: Vec<Labelled> = Vec::new();
    for ((node, class), weight) in golden
        .nodes(&get("nodes"))
        .into_iter()
        .zip(golden.integers(&get("classes")))
        .zip(golden.floats(&get("weights")))
    {
        terms[class].push((node, weight));
        if labels.last().is_none_or(|(last, _)| *last != node) {
            labels.push((node, Vec::new()));
        }
        labels
            .last_mut()
            .expect("it was pushed")
            .1
            .push((class, weight));
    }
    Case {
        components: Arc::new(components.unwrap()),
        golden,
        name,
        field,
        labels,
        terms,
    }
}

#[test]
fn components_are_those_of_the_singular_values() {
    for case in CASES.map(case) {
        let got: Vec<f64> = case
            .nodes()
            .flat_map(|node| case.components.row(node).to_vec())
            .map(|z| f64::from(z.abs()))
            .collect();
        assert_close(case.name, &got, &case.get("components"), F32);
    }
}

#[test]
fn fits_and_labels_left_out() {
    for case in CASES.map(case) {
        let (opinion, mut q) = (case.opinion(), vec![0.0; case.terms.len()]);
        let mut all = Vec::new();
        for node in case.nodes() {
            opinion.log_shares(node, &mut q);
            all.extend_from_slice(&q);
        }
        assert_close(case.name, &all, &case.get("log_shares"), 1e-4);
        let mut apart = Vec::new();
        for (node, _) in &case.labels {
            opinion.left_out(*node, &mut q);
            apart.extend_from_slice(&q);
        }
        assert_close(case.name, &apart, &case.get("left_out"), 1e-4);
    }
}

#[test]
fn the_reader_joins_graph_and_features() {
    for case in CASES.map(case) {
        let opinion = Some(Arc::new(case.opinion()));
        let readout = Readout::calibrated(&case.field, &case.terms, 1.0, opinion);
        assert_close(case.name, &[readout.trust()], &case.get("trust"), 1e-5);
        assert_close(case.name, &[readout.noise()], &case.get("noise"), 1e-5);
        let read = |of: &dyn Fn(NodeId) -> Vec<f64>| case.nodes().flat_map(of).collect::<Vec<_>>();
        let probabilities = read(&|node| readout.probabilities(&case.field, node));
        assert_close(case.name, &probabilities, &case.get("probabilities"), 1e-5);
        let variances = read(&|node| vec![readout.variance(&case.field, node)]);
        assert_close(case.name, &variances, &case.get("variance"), 1e-5);
        let classes = read(&|node| vec![readout.class(&case.field, node) as f64]);
        assert_close(case.name, &classes, &case.get("class"), 0.0);
        let mut doubts = vec![0.0; case.field.n()];
        readout.doubts(&case.field, &mut doubts);
        assert_close(case.name, &doubts, &case.get("doubt"), 1e-5);
    }
}
