//! `auto` against slow twins: coverage from a dense inverse, questions by hand, batches, certified precision.

mod common;

use std::sync::Arc;

use common::{assert_close, dense};
use dial::acquisition::Situation;
use dial::acquisition::auto::Auto;
use dial::acquisition::auto::TAU_PER_DEGREE;
use dial::belief::calibration::Calibration;
use dial::graph::EdgeWeights;
use dial::graph::packed::PackedGraph;
use dial::propagation::Poisson;
use dial::propagation::certified::Certified;
use dial::propagation::radial::Radial;
use dial::propagation::radial::Shape;
use dial::seed::{Purpose, Random};
use dial::simulate::{Initial, Plan, Truth, trial};
use dial::*;

/// Clouds of points on a line of centres, in the plane.
fn clouds(sizes: &[usize]) -> Vec<f64> {
    let mut random = Random::new(1, Purpose::User, 0);
    let mut x = Vec::new();
    for (cloud, size) in sizes.iter().enumerate() {
        (0..*size).for_each(|_| x.extend([7.0 * cloud as f64 + random.normal(), random.normal()]));
    }
    x
}

fn pool(sizes: &[usize], propagation: EdgeWeights) -> (Arc<Graph>, f64) {
    let x = clouds(sizes);
    let graph = common::graph(
        Features::f64(&x, x.len() / 2, 2).unwrap(),
        6,
        Metric::Euclidean,
        propagation,
    );
    let tau = TAU_PER_DEGREE * graph.degrees().iter().sum::<f64>() / graph.n() as f64;
    (Arc::new(graph), tau)
}

/// (D + τ)(L + τ)⁻¹ by Gauss-Jordan elimination.
fn inverse(graph: &Graph, tau: f64) -> Vec<Vec<f64>> {
    let (n, w) = (graph.n(), dense(graph));
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let own = |j: usize| {
                if i == j {
                    graph.degrees()[i] + tau
                } else {
                    -w[i][j]
                }
            };
            (0..n)
                .map(own)
                .chain((0..n).map(|j| f64::from(u8::from(i == j))))
                .collect()
        })
        .collect();
    for i in 0..n {
        let pivot = rows[i][i];
        rows[i].iter_mut().for_each(|value| *value /= pivot);
        let row = rows[i].clone();
        for (_, target) in rows.iter_mut().enumerate().filter(|(other, _)| *other != i) {
            let factor = target[i];
            target
                .iter_mut()
                .zip(&row)
                .for_each(|(value, own)| *value -= factor * own);
        }
    }
    let scaled = |i: usize| {
        rows[i][n..]
            .iter()
            .map(|g| g * (graph.degrees()[i] + tau))
            .collect()
    };
    (0..n).map(scaled).collect()
}

#[test]
fn coverage_is_the_dense_sum_in_both_precisions_and_on_pieces() {
    for sizes in [&[40, 30][..], &[25]] {
        let (graph, tau) = pool(sizes, EdgeWeights::Symmetric);
        let values: Vec<f64> = (0..graph.n()).map(|i| (i % 7) as f64 / 7.0).collect();
        let dense = inverse(&graph, tau);
        let want: Vec<f64> = dense
            .iter()
            .map(|row| row.iter().zip(&values).map(|(g, v)| g * v).sum())
            .collect();
        let poisson = Poisson::new(Arc::clone(&graph), tau).unwrap();
        let certified = Certified::new(Arc::new(PackedGraph::new(&graph)), tau).unwrap();
        for propagation in [&poisson as &dyn Propagation, &certified] {
            let got = propagation
                .spread(&values, &Control::new())
                .unwrap()
                .unwrap();
            // |u - u*| <= residual/τ, times d + τ; the residual is at most 1e-4 |values|.
            let largest = graph.degrees().iter().copied().fold(0.0, f64::max);
            let norm = values.iter().map(|v| v * v).sum::<f64>().sqrt();
            assert_close(
                "coverage",
                &got,
                &want,
                1e-4 * norm * (largest + tau) / tau + 1e-6,
            );
        }
    }
    let (graph, _) = pool(&[25], EdgeWeights::Symmetric);
    assert!(
        Poisson::new(graph, 0.0)
            .unwrap()
            .spread(&[1.0; 25], &Control::new())
            .unwrap()
            .is_none()
    );
}

#[test]
fn scores_are_doubt_times_the_root_of_coverage() {
    let (graph, tau) = pool(&[30, 30], EdgeWeights::Symmetric);
    let n = graph.n();
    let poisson: Arc<dyn Propagation> = Arc::new(Poisson::new(Arc::clone(&graph), tau).unwrap());
    let doubt = Auto::new(Arc::clone(&poisson), &Control::new()).unwrap();
    let mut field = DirichletField::new(n, 2, 1e-4);
    let columns = poisson
        .columns(&[NodeId(3), NodeId(40)], &Control::new())
        .unwrap();
    field.add(0, 1.0, &columns[0]);
    field.add(1, 1.0, &columns[1]);
    let mut got = vec![0.0; n];
    doubt
        .scores(&Situation::at_start(&field, 0), &mut got)
        .unwrap();
    // The same, slowly: classes balanced by the roots of their masses, doubt, dense coverage and its exact normaliser.
    let mass = |c: usize| field.plane(c).iter().sum::<f64>();
    let scale = (mass(0) + mass(1)) / (mass(0).sqrt() + mass(1).sqrt());
    let alpha = |c: usize, x: usize| 1e-4 + field.plane(c)[x] * scale / mass(c).sqrt();
    let d: Vec<f64> = (0..n)
        .map(|x| {
            let (a, b) = (alpha(0, x), alpha(1, x));
            (1.0 - (a - b).abs() / (a + b)) / (a + b + 1.0)
        })
        .collect();
    let green = inverse(&graph, tau);
    for x in 0..n {
        let coverage: f64 = green[x].iter().zip(&d).map(|(g, d)| g * d).sum::<f64>() / green[x][x];
        let want = d[x] * coverage.sqrt();
        // A peak is never found too high, so no score is too low; a solve is as good as its residual.
        assert!(
            got[x] >= 0.99 * want - 1e-9 && got[x] <= 1.05 * want + 1e-9,
            "{x}: {} is not {want}",
            got[x]
        );
    }
}

fn session(sizes: &[usize]) -> (Session<'static>, usize) {
    let (x, control) = (clouds(sizes), Control::new());
    let n = x.len() / 2;
    let config = Config {
        k: 6,
        ..Config::default()
    };
    let engine = Engine::build(Features::f64(&x, n, 2).unwrap(), &config, &control).unwrap();
    (engine.session(&["a", "b", "c"], &control).unwrap(), n)
}

#[test]
fn a_batch_goes_to_a_cluster_each_and_begins_with_the_single_question() {
    let sizes = [40, 30, 20];
    let (mut session, _) = session(&sizes);
    assert_eq!(
        session.field().prior_strength(),
        1e-4,
        "auto brings its prior along"
    );
    let cloud = |node: NodeId| {
        [0, 40, 70]
            .iter()
            .filter(|start| node.index() >= **start)
            .count()
            - 1
    };
    let batch = session.ask(3).unwrap();
    assert_eq!(batch.questions[0], session.ask(1).unwrap().questions[0]);
    let mut met: Vec<usize> = batch
        .questions
        .iter()
        .map(|question| cloud(question.node))
        .collect();
    met.sort_unstable();
    assert_eq!(met, [0, 1, 2], "three questions for three clusters");
    for question in batch.questions {
        session
            .tell(
                &question.item,
                ClassId(cloud(question.node) as u16),
                &Control::new(),
            )
            .unwrap();
    }
    assert!(
        (0..90)
            .map(NodeId)
            .all(|node| session.prediction(node).class.index() == cloud(node))
    );
    // All of a small pool can be asked, and no more.
    assert_eq!(session.ask(500).unwrap().questions.len(), 87);
}

#[test]
fn a_question_can_be_cancelled_and_asked_again() {
    let (mut session, n) = session(&[40, 30, 20]);
    session.tell("0", ClassId(0), &Control::new()).unwrap();
    for count in [1, 4] {
        let cancelled = Control::new();
        cancelled.cancel();
        assert!(matches!(
            session.ask_under(count, &cancelled),
            Err(Error::Cancelled)
        ));
        assert_eq!(
            session.ask_under(count, &Control::new()).unwrap(),
            session.ask(count).unwrap()
        );
        session
            .tell(&(n - count).to_string(), ClassId(2), &Control::new())
            .unwrap();
    }
}

#[test]
fn peaks_of_many_nodes_are_those_of_their_columns() {
    let (graph, tau) = pool(&[400, 300], EdgeWeights::Symmetric);
    let nodes = [0, 255, 256, 399, 400, 511, 512, 699].map(NodeId);
    let poisson = Poisson::new(Arc::clone(&graph), tau).unwrap();
    let certified = Certified::new(Arc::new(PackedGraph::new(&graph)), tau).unwrap();
    let columns = poisson.raw_columns(&nodes, &Control::new()).unwrap();
    for propagation in [&poisson as &dyn Propagation, &certified] {
        let diagonal = propagation
            .inverse_diagonal(&Control::new())
            .unwrap()
            .unwrap();
        for (node, column) in nodes.iter().zip(&columns) {
            let (got, want) = (
                diagonal[node.index()],
                (graph.degrees()[node.index()] + tau) * column[node.index()],
            );
            assert!(
                got > 0.9 * want && got < want * (1.0 + 1e-5),
                "{node:?}: {got} is not {want}"
            );
        }
    }
}

#[test]
fn measuring_peaks_can_be_cancelled() {
    let (graph, tau) = pool(&[400, 300], EdgeWeights::Symmetric);
    let poisson = Poisson::new(Arc::clone(&graph), tau).unwrap();
    let certified = Certified::new(Arc::new(PackedGraph::new(&graph)), tau).unwrap();
    for propagation in [&poisson as &dyn Propagation, &certified] {
        let cancelled = Control::new();
        cancelled.cancel();
        assert!(matches!(
            propagation.inverse_diagonal(&cancelled),
            Err(Error::Cancelled)
        ));
    }
}

#[test]
fn auto_asks_alike_for_any_number_of_threads_and_in_certified_precision() {
    let sizes = [60, 50, 40];
    let classes: Vec<usize> = sizes
        .iter()
        .enumerate()
        .flat_map(|(class, size)| vec![class; *size])
        .collect();
    let truth = Truth {
        names: ["a", "b", "c"].map(String::from).to_vec(),
        classes: classes
            .iter()
            .map(|&class| Some(ClassId(class as u16)))
            .collect(),
        clusters: classes.iter().map(|&class| Some(class as u32)).collect(),
    };
    let run = |threads: usize, certified: bool| {
        let (graph, tau) = pool(&sizes, EdgeWeights::Symmetric);
        let propagation: Arc<dyn Propagation> = match certified {
            true => Arc::new(Certified::new(Arc::new(PackedGraph::new(&graph)), tau).unwrap()),
            false => Arc::new(Poisson::new(Arc::clone(&graph), tau).unwrap()),
        };
        let plan = Plan {
            initial: Initial::None,
            queries: 12,
            ..Plan::default()
        };
        let workers = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        workers.install(|| {
            let acquisition =
                Arc::new(Auto::new(Arc::clone(&propagation), &Control::new()).unwrap());
            let mut engine = Engine::with(propagation).asking_by(acquisition);
            engine.config.calibration = Calibration::On;
            trial(&engine, &truth, &plan, &|| 0.0, &Control::new())
                .unwrap()
                .0
        })
    };
    let (one, certified) = (run(1, false), run(2, true));
    assert_eq!(one, run(3, false));
    // Another solver: scores that tie may swap, and nothing else differs.
    assert_eq!(
        certified[..3].iter().map(|r| r.node).collect::<Vec<_>>(),
        one[..3].iter().map(|r| r.node).collect::<Vec<_>>()
    );
    assert!((certified[12].accuracy - one[12].accuracy).abs() < 0.02);
    assert!(
        one[3].accuracy > 0.95,
        "three questions, three clusters: {}",
        one[3].accuracy
    );
}

#[test]
fn other_kernels_are_refused() {
    let x: Vec<f64> = (0..30).map(f64::from).collect();
    let features = Features::f64(&x, 30, 1).unwrap();
    let radial: Arc<dyn Propagation> =
        Arc::new(Radial::new(features, Shape::Rbf { sigma: 2.0 }).unwrap());
    let refused = Auto::new(radial, &Control::new()).err().unwrap();
    assert!(refused.to_string().contains("Poisson"), "{refused}");
}

#[test]
fn a_class_nobody_knew_of_is_found_and_undo_is_exact() {
    let (mut session, _) = session(&[40, 30, 20]);
    let control = Control::new();
    let cloud = |node: NodeId| {
        [0, 40, 70]
            .iter()
            .filter(|start| node.index() >= **start)
            .count()
            - 1
    };
    // Two classes are known; the third cloud gets one of its own when it is met.
    let other = ClassId(3);
    session
        .append(
            "",
            Change::AddClass {
                class: other,
                name: "other".into(),
            },
            &control,
        )
        .unwrap();
    for _ in 0..6 {
        let question = session.ask(1).unwrap().questions.remove(0);
        let class = [ClassId(0), ClassId(1), other][cloud(question.node)];
        session.tell(&question.item, class, &control).unwrap();
    }
    let last = session.prediction(NodeId(89));
    assert_eq!((last.class, last.probabilities.len()), (other, 4));
    let before = (session.ask(1).unwrap(), session.prediction(NodeId(5)));
    let item = before.0.questions[0].item.clone();
    session.tell(&item, ClassId(0), &control).unwrap();
    session.undo("", &control).unwrap();
    assert_eq!(
        (session.ask(1).unwrap(), session.prediction(NodeId(5))),
        before
    );
    assert!(
        session.accuracy(&control).unwrap().is_none(),
        "class c has no label yet: nothing is promised"
    );
}
