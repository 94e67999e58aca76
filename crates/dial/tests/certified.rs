//! Certified precision against faithful precision: bounds that hold, bits of a replay, the same questions asked faster.

mod common;

use std::sync::Arc;

use dial::belief::calibration::Calibration;
use dial::belief::prior::Prior;
use dial::graph::EdgeWeights;
use dial::graph::packed::PackedGraph;
use dial::linalg::local::Regime;
use dial::propagation::Poisson;
use dial::propagation::certified::Certified;
use dial::seed::{Purpose, Random};
use dial::session::question::Lookahead;
use dial::{
    ClassId, Config, Control, Engine, Features, Graph, Metric, NodeId, Policy, Propagation, Session,
};

/// A random graph of clusters: a ring in each, shortcuts inside, a few bridges.
fn graph(n: u32, clusters: u32, bridges: usize, random: &mut Random) -> Graph {
    let size = n / clusters;
    let mut edges = std::collections::BTreeMap::new();
    let mut join = |a: u32, b: u32, weight: f64| {
        if a != b {
            edges.insert((a.min(b), a.max(b)), weight);
        }
    };
    for cluster in 0..clusters {
        let node = |i: u32| cluster * size + i % size;
        for i in 0..size {
            join(node(i), node(i + 1), 0.05 + random.uniform());
            join(
                node(i),
                node(random.below(size as usize) as u32),
                0.05 + random.uniform(),
            );
            join(
                node(i),
                node(random.below(size as usize) as u32),
                0.01 * random.uniform() + 1e-4,
            );
        }
    }
    for _ in 0..bridges {
        join(
            random.below(n as usize) as u32,
            random.below(n as usize) as u32,
            0.2 * random.uniform() + 1e-3,
        );
    }
    let edges: Vec<(u32, u32, f64)> = edges.into_iter().map(|((a, b), w)| (a, b, w)).collect();
    Graph::from_edges(n as usize, &edges).unwrap()
}

fn engine<'a>(propagation: Arc<dyn Propagation + 'a>, prior: f64, policy: Policy) -> Engine<'a> {
    let config = Config {
        prior: Prior::Constant(prior),
        policy,
        seed: 3,
        ..Config::paper()
    };
    Engine {
        config,
        ..Engine::with(propagation)
    }
}

fn session<'a>(propagation: Arc<dyn Propagation + 'a>, prior: f64, policy: Policy) -> Session<'a> {
    let engine = engine(propagation, prior, policy);
    engine.session(&["0", "1", "2"], &Control::new()).unwrap()
}

fn certified(graph: &Graph, tau: f64) -> Arc<Certified> {
    // These pools are small; the tolerance is given so that they are solved locally all the same.
    let propagation = Certified::new(Arc::new(PackedGraph::new(graph)), tau).unwrap();
    Arc::new(if tau > 0.01 {
        propagation.with_tolerance(1e-3).unwrap()
    } else {
        propagation
    })
}

fn class(node: NodeId) -> ClassId {
    ClassId((node.0 / 7 % 3) as u16)
}

/// Every value of every class within its bound of the exact one, for these labels.
fn check_bounds(graph: &Graph, tau: f64, prior: f64, labels: &[NodeId], tolerance: f64) -> f64 {
    let control = Control::new();
    let propagation = Certified::new(Arc::new(PackedGraph::new(graph)), tau)
        .unwrap()
        .with_tolerance(tolerance)
        .unwrap();
    assert_eq!(propagation.solver().regime(tolerance), Regime::Local);
    let exact = Poisson::new(Arc::new(graph.clone()), tau).unwrap();
    let (mut fast, mut slow) = (
        session(Arc::new(propagation), prior, Policy::Max),
        session(Arc::new(exact), prior, Policy::Max),
    );
    let mut tightest: f64 = 0.0;
    for &label in labels {
        fast.tell(&label.0.to_string(), class(label), &control)
            .unwrap();
        slow.tell(&label.0.to_string(), class(label), &control)
            .unwrap();
        let belief = fast.belief(&control).unwrap();
        for node in (0..graph.n() as u32).map(NodeId) {
            let error = fast.prediction(node).error.expect("a certified bound");
            for plane in 0..3 {
                let want = slow.field().plane(plane)[node.index()];
                for got in [
                    fast.field().plane(plane)[node.index()],
                    belief.plane(plane)[node.index()],
                ] {
                    assert!(
                        (got - want).abs() <= error,
                        "node {node:?}, class {plane}: {got} is not {want} within {error}"
                    );
                }
                tightest =
                    tightest.max((fast.field().plane(plane)[node.index()] - want).abs() / error);
            }
        }
    }
    tightest
}

/// `DIAL_GRAPHS` random graphs; `./test --long` takes thousands.
#[test]
fn bounds_are_never_violated() {
    let rounds = std::env::var("DIAL_GRAPHS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(60);
    let mut tightest: f64 = 0.0;
    for round in 0..rounds {
        let mut random = Random::new(round, Purpose::User, 1);
        let clusters = 1 + random.below(4) as u32;
        let n = clusters * (8 + random.below(60) as u32);
        let bridges = random.below(6);
        let graph = graph(n, clusters, bridges, &mut random);
        let (tau, tolerance) = (
            [0.05, 0.1, 0.3, 1.0, 10.0][random.below(5)],
            [1e-1, 1e-2, 1e-3, 1e-5][random.below(4)],
        );
        let labels: Vec<NodeId> = (0..4)
            .map(|_| NodeId(random.below(n as usize) as u32))
            .collect();
        let propagation = Certified::new(Arc::new(PackedGraph::new(&graph)), tau).unwrap();
        if propagation.solver().regime(tolerance) == Regime::Local {
            tightest = tightest.max(check_bounds(&graph, tau, 1.0, &labels, tolerance));
        }
    }
    // The bound is worth having: somewhere a good part of it is used.
    assert!(tightest > 0.1, "{tightest}");
}

/// The paper's small pools: bounds hold at every node after every label, and the nodes asked are as telling as the best.
#[test]
fn bounds_and_regret_on_the_real_pools() {
    let Some(data) = common::real_data() else {
        return;
    };
    for (set, metric, prior) in [
        ("paviasub", Metric::Cosine, 1.0),
        ("mnistsmall", Metric::Euclidean, 1.0),
        ("mnistsmall", Metric::Euclidean, 0.002),
        ("fashionmnistsmall", Metric::Euclidean, 1.0),
    ] {
        let pool = common::Arrays::read(data.join(format!("features/{set}.npz")));
        let (x, shape) = (pool.f32s("X"), &pool.array("X").shape);
        let features = Features::f32(&x, shape[0], shape[1]).unwrap();
        let graph = common::graph(features, 20, metric, EdgeWeights::SelfTuning);
        let control = Control::new();
        let mut fast = session(certified(&graph, 0.1), prior, Policy::Max);
        let mut slow = session(
            Arc::new(Poisson::new(Arc::new(graph.clone()), 0.1).unwrap()),
            prior,
            Policy::Max,
        );
        let mut regrets = Vec::new();
        for step in 0..25 {
            let node = fast.ask(1).unwrap().questions[0].node;
            if step > 0 {
                let best = slow.ask(1).unwrap().questions[0].score;
                regrets.push((best - slow.field().variance(node)) / best);
            }
            for session in [&mut fast, &mut slow] {
                session
                    .tell(&node.0.to_string(), class(node), &control)
                    .unwrap();
            }
            for node in (0..graph.n() as u32).map(NodeId) {
                let error = fast.prediction(node).error.unwrap();
                for plane in 0..3 {
                    let (got, want) = (
                        fast.field().plane(plane)[node.index()],
                        slow.field().plane(plane)[node.index()],
                    );
                    assert!(
                        (got - want).abs() <= error,
                        "{set}: {node:?}: {got} is not {want} within {error}"
                    );
                }
            }
        }
        let mean = regrets.iter().sum::<f64>() / regrets.len() as f64;
        assert!(mean <= 0.005, "{set}: mean regret {mean}");
    }
}

fn bits(session: &Session<'_>) -> Vec<u64> {
    (0..session.field().n() as u32)
        .flat_map(|node| session.field().alpha(NodeId(node)))
        .map(f64::to_bits)
        .collect()
}

#[test]
fn incremental_equals_replay_bit_by_bit_with_undo_relabel_and_new_classes() {
    let mut random = Random::new(5, Purpose::User, 0);
    let graph = graph(900, 6, 10, &mut random);
    let control = Control::new();
    for policy in [Policy::Max, Policy::Proportional, Policy::Uniform] {
        let propagation = certified(&graph, 0.2);
        let mut session = session(propagation.clone(), 0.01, policy);
        let start = bits(&session);
        let mut states = vec![(start, session.ask(1).unwrap())];
        for _ in 0..25 {
            let node = session.ask(1).unwrap().questions[0].node;
            session
                .tell(&node.0.to_string(), class(node), &control)
                .unwrap();
            states.push((bits(&session), session.ask(1).unwrap()));
        }
        let resume = |session: &Session<'_>| {
            // The prior is in the log: another one here changes nothing.
            let engine = engine(propagation.clone(), 1.0, policy);
            let events = session.labels().events().to_vec();
            engine.resume(events, &control).unwrap()
        };
        assert_eq!(bits(&resume(&session)), states[25].0);
        assert_eq!(resume(&session).ask(1).unwrap(), states[25].1);
        for step in (0..25).rev() {
            session.undo("", &control).unwrap();
            assert_eq!(
                bits(&session),
                states[step].0,
                "after taking back label {step}"
            );
            assert_eq!(session.ask(1).unwrap(), states[step].1);
        }
        // Relabelling an old item, and a class of its own for another.
        for step in 0..20u32 {
            session
                .tell(
                    &(step * 31).to_string(),
                    ClassId((step % 3) as u16),
                    &control,
                )
                .unwrap();
        }
        session.tell("31", ClassId(0), &control).unwrap();
        session
            .append(
                "",
                dial::Change::AddClass {
                    class: ClassId(3),
                    name: "new".into(),
                },
                &control,
            )
            .unwrap();
        session.tell("62", ClassId(3), &control).unwrap();
        assert_eq!(bits(&session), bits(&resume(&session)));
        assert_eq!(session.ask(1).unwrap(), resume(&session).ask(1).unwrap());
    }
}

#[test]
fn what_the_lookahead_says_is_what_comes() {
    let graph = graph(600, 4, 8, &mut Random::new(6, Purpose::User, 0));
    let control = Control::new();
    for propagation in [
        certified(&graph, 0.2) as Arc<dyn Propagation>,
        Arc::new(Poisson::new(Arc::new(graph.clone()), 0.2).unwrap()),
    ] {
        let mut session = session(propagation, 1.0, Policy::Max);
        for _ in 0..5 {
            let asked = session.ask(1).unwrap().questions.remove(0);
            session.prepare(&asked.item, &control).unwrap();
            let before = (bits(&session), session.labels().events().len());
            let answers = session.lookahead(&asked.item, &control).unwrap();
            assert_eq!((bits(&session), session.labels().events().len()), before);
            let answer = class(asked.node);
            let was = classes(&session);
            session.tell(&asked.item, answer, &control).unwrap();
            let next = session.ask(1).unwrap().questions.pop();
            let other = |node: &usize| {
                *node != asked.node.index() && was[*node] != classes(&session)[*node]
            };
            let changed = (0..600).filter(other).count();
            assert_eq!(
                answers[answer.index()],
                Lookahead {
                    class: answer,
                    next,
                    changed
                }
            );
        }
    }
}

fn classes(session: &Session<'_>) -> Vec<ClassId> {
    (0..session.field().n() as u32)
        .map(|node| session.prediction(NodeId(node)).class)
        .collect()
}

/// With classes balanced, an answer that is not the first of its class changes the class of nodes far away as well.
#[test]
fn what_an_answer_changes_is_what_telling_it_changes() {
    let graph = graph(600, 4, 8, &mut Random::new(6, Purpose::User, 0));
    let control = Control::new();
    let mut most = 0;
    for calibration in [Calibration::Off, Calibration::On] {
        let propagation = Arc::new(Poisson::new(Arc::new(graph.clone()), 0.2).unwrap());
        let mut engine = Engine::with(propagation);
        engine.config.calibration = calibration;
        let mut session = engine.session(&["0", "1", "2"], &control).unwrap();
        for node in [3, 160, 300, 460, 75, 590] {
            let item = node.to_string();
            let was = classes(&session);
            let answers = session.lookahead(&item, &control).unwrap();
            assert_eq!(classes(&session), was);
            for answer in answers {
                let group = session.tell(&item, answer.class, &control).unwrap();
                let now = classes(&session);
                let changed = (0..600)
                    .filter(|other| *other != node && was[*other] != now[*other])
                    .count();
                assert_eq!(
                    answer.changed, changed,
                    "{calibration:?}, {item} as {:?}",
                    answer.class
                );
                most = most.max(changed);
                session
                    .append("", dial::Change::Undo { group }, &control)
                    .unwrap();
            }
            session
                .tell(&item, class(NodeId(node as u32)), &control)
                .unwrap();
        }
    }
    assert!(most > 50, "some answers change much: {most}");
}

#[test]
fn a_batch_and_a_single_question_begin_alike() {
    let graph = graph(600, 4, 8, &mut Random::new(7, Purpose::User, 0));
    let mut session = session(certified(&graph, 0.2), 1.0, Policy::Max);
    for node in [3, 170, 420] {
        session
            .tell(&node.to_string(), class(NodeId(node)), &Control::new())
            .unwrap();
        let (one, five) = (session.ask(1).unwrap(), session.ask(5).unwrap());
        assert_eq!(one.questions[0], five.questions[0]);
        assert_eq!(five.questions.len(), 5);
    }
}

#[test]
fn a_cancelled_label_leaves_everything_as_it_was() {
    let graph = graph(600, 4, 8, &mut Random::new(8, Purpose::User, 0));
    let mut session = session(certified(&graph, 0.2), 1.0, Policy::Max);
    session.tell("3", ClassId(0), &Control::new()).unwrap();
    let before = (bits(&session), session.ask(1).unwrap());
    let cancelled = Control::new();
    cancelled.cancel();
    assert!(session.tell("300", ClassId(1), &cancelled).is_err());
    assert_eq!((bits(&session), session.ask(1).unwrap()), before);
}

#[test]
fn tiny_tau_falls_back_to_global_solves_and_zero_is_refused() {
    let graph = graph(600, 4, 8, &mut Random::new(9, Purpose::User, 0));
    assert!(Certified::new(Arc::new(PackedGraph::new(&graph)), 0.0).is_err());
    let propagation = certified(&graph, 1e-4);
    assert_eq!(propagation.solver().regime(1e-3), Regime::Global);
    let (mut fast, exact) = (
        session(propagation, 1.0, Policy::Max),
        Poisson::new(Arc::new(graph.clone()), 1e-4).unwrap(),
    );
    let mut slow = session(Arc::new(exact), 1.0, Policy::Max);
    for node in [5, 205, 405] {
        fast.tell(&node.to_string(), class(NodeId(node)), &Control::new())
            .unwrap();
        slow.tell(&node.to_string(), class(NodeId(node)), &Control::new())
            .unwrap();
    }
    for node in (0..600).map(NodeId) {
        for (got, want) in fast
            .field()
            .alpha(node)
            .iter()
            .zip(slow.field().alpha(node))
        {
            let error = fast.prediction(node).error.unwrap();
            assert!(
                (got - want).abs() <= error && error < 0.1,
                "{got} is not {want} within {error}"
            );
        }
    }
}
