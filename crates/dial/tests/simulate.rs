//! Simulations: the same bits for any number of threads and from the same seed; what is asked, scored and counted.

use std::sync::Arc;

use dial::acquisition::Score;
use dial::propagation::certified::Precision;
use dial::propagation::tau::Tau;
use dial::seed::{Purpose, Random};
use dial::simulate::{Classes, Initial, Plan, Record, Truth, trial, trials};
use dial::{Change, ClassId, Config, Control, Engine, Error, Features, NodeId, Policy, Session};

/// Six Gaussian clusters in the plane; the classes are the clusters modulo 3. Large enough for threads to share work.
fn pool(n: usize) -> (Engine<'static>, Truth) {
    let mut random = Random::new(5, Purpose::User, 0);
    let cluster = |i: usize| i % 6;
    let x: Vec<f64> = (0..n)
        .flat_map(|i| [cluster(i) as f64 * 5.0, (cluster(i) % 2) as f64 * 5.0])
        .map(|centre| centre + random.normal())
        .collect();
    let features = Features::f64(&x, n, 2).unwrap();
    let config = Config {
        k: 10,
        ..Config::paper()
    };
    let engine = Engine::build(features, &config, &Control::new()).unwrap();
    let truth = Truth {
        names: ["a", "b", "c"].map(String::from).to_vec(),
        classes: (0..n)
            .map(|i| Some(ClassId(cluster(i) as u16 % 3)))
            .collect(),
        clusters: (0..n).map(|i| Some(cluster(i) as u32)).collect(),
    };
    (engine, truth)
}

fn plan(initial: Initial, queries: usize, batch: usize) -> Plan<'static> {
    Plan {
        initial,
        queries,
        batch,
        ..Plan::default()
    }
}

fn asking(engine: &Engine<'static>, score: Score, policy: Policy, seed: u64) -> Engine<'static> {
    let mut engine = engine.seeded(seed).asking_by(Arc::new(score));
    engine.config.policy = policy;
    engine
}

fn run(engine: &Engine<'static>, truth: &Truth, plan: &Plan<'static>) -> Vec<Record> {
    trial(engine, truth, plan, &|| 0.0, &Control::new())
        .unwrap()
        .0
}

#[test]
fn the_same_bits_for_1_2_and_8_threads_and_from_the_same_seed() {
    let runs: Vec<Vec<Vec<Record>>> = [1, 2, 8, 8]
        .into_iter()
        .map(|threads| {
            let threads = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            threads.install(|| {
                // The graph is built inside as well: the whole path is compared.
                let (engine, truth) = pool(20_000);
                trials(
                    &asking(&engine, Score::Variance, Policy::Proportional, 3),
                    &truth,
                    &plan(Initial::OnePerClass, 6, 1),
                    2,
                    &|| 0.0,
                    &Control::new(),
                )
                .unwrap()
            })
        })
        .collect();
    assert!(runs.iter().all(|run| run == &runs[0]));
    assert_ne!(runs[0][0], runs[0][1], "trials differ by their seed");
}

#[test]
fn every_method_runs_and_asks_no_item_twice() {
    let (engine, truth) = pool(300);
    for &score in Score::ALL {
        for &policy in Policy::ALL {
            let records = run(
                &asking(&engine, score, policy, 1),
                &truth,
                &plan(Initial::None, 12, 1),
            );
            let mut asked: Vec<NodeId> = records.iter().filter_map(|record| record.node).collect();
            asked.sort_unstable();
            asked.dedup();
            assert_eq!((records.len(), asked.len()), (13, 12), "{score}, {policy}");
            assert!(
                records
                    .iter()
                    .enumerate()
                    .all(|(query, record)| record.query == query && record.labelled == query)
            );
        }
    }
}

#[test]
fn maximum_variance_meets_every_cluster_early_and_learns_them() {
    let (engine, truth) = pool(300);
    let records = run(
        &asking(&engine, Score::Variance, Policy::Max, 1),
        &truth,
        &plan(Initial::None, 30, 1),
    );
    assert!(
        records[12].clusters_found == 6,
        "six clusters within twelve questions"
    );
    assert!(records[30].accuracy > 0.95, "{}", records[30].accuracy);
    assert!(
        records
            .windows(2)
            .all(|pair| pair[0].clusters_found <= pair[1].clusters_found)
    );
}

#[test]
fn accuracy_is_over_unlabelled_nodes_of_known_class() {
    let (engine, mut truth) = pool(60);
    // Only four nodes have a known class; three of them are labelled at the start, all of class a.
    truth
        .classes
        .iter_mut()
        .skip(4)
        .for_each(|class| *class = None);
    for class in &mut truth.classes[..4] {
        *class = Some(ClassId(0));
    }
    let initial = Initial::Nodes([0, 1, 2].map(NodeId).to_vec());
    let records = run(
        &asking(&engine, Score::Variance, Policy::Max, 1),
        &truth,
        &plan(initial, 10, 1),
    );
    assert_eq!(
        (records[0].labelled, records[0].accuracy),
        (3, 1.0),
        "node 3 is of class a, as everything else labelled"
    );
    assert_eq!(records.len(), 2, "after node 3 nothing is left to ask");
    assert_eq!(
        (records[1].node, records[1].accuracy),
        (Some(NodeId(3)), 1.0)
    );
    let unknown = plan(Initial::Nodes(vec![NodeId(5)]), 1, 1);
    let refused = trial(&engine, &truth, &unknown, &|| 0.0, &Control::new()).err();
    assert!(
        matches!(refused, Some(Error::Conflict(text)) if text.starts_with("node 5 has no known class"))
    );
    let everything = plan(Initial::None, usize::MAX, 7);
    assert_eq!(
        run(
            &asking(&engine, Score::Variance, Policy::Max, 1),
            &truth,
            &everything
        )
        .len(),
        5
    );
    truth.clusters.pop();
    let short = trial(&engine, &truth, &Plan::default(), &|| 0.0, &Control::new()).err();
    assert!(matches!(short, Some(Error::Conflict(_))));
}

#[test]
fn one_per_class_labels_one_of_each_and_is_shared_by_methods() {
    let (engine, truth) = pool(300);
    let start = |score, seed| {
        let plan = plan(Initial::OnePerClass, 0, 1);
        let (_, session) = trial(
            &asking(&engine, score, Policy::Max, seed),
            &truth,
            &plan,
            &|| 0.0,
            &Control::new(),
        )
        .unwrap();
        session.labelled().to_vec()
    };
    let nodes = start(Score::Variance, 4);
    let mut classes: Vec<ClassId> = nodes
        .iter()
        .map(|node| truth.classes[node.index()].unwrap())
        .collect();
    classes.sort_unstable();
    assert_eq!(classes, [0, 1, 2].map(ClassId));
    assert_eq!(nodes, start(Score::Random, 4));
    assert_ne!(nodes, start(Score::Variance, 5));
}

#[test]
fn batches_of_a_simulation_hold_no_neighbours() {
    let (engine, truth) = pool(300);
    let records = run(
        &asking(&engine, Score::Variance, Policy::Max, 1),
        &truth,
        &plan(Initial::OnePerClass, 11, 5),
    );
    assert_eq!(records.len(), 12, "two batches of five and one of one");
    let graph = engine.graph.as_ref().unwrap();
    for batch in [&records[1..6], &records[6..11]] {
        let nodes: Vec<NodeId> = batch.iter().map(|record| record.node.unwrap()).collect();
        assert!(
            nodes
                .iter()
                .all(|&a| nodes.iter().all(|&b| !graph.adjacent(a, b)))
        );
    }
}

/// A regression: a session once held a lock while its acquisition ran in parallel, and work stealing took it again.
#[test]
fn many_tasks_may_ask_one_session_at_once() {
    use rayon::prelude::*;
    let (engine, truth) = pool(20_000);
    let engine = asking(&engine, Score::Variance, Policy::Max, 1);
    let session = engine.session(&truth.names, &Control::new()).unwrap();
    let expected = session.ask(1).unwrap();
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(8)
        .build()
        .unwrap();
    let same = threads.install(|| {
        (0..3000)
            .into_par_iter()
            .all(|_| session.ask(1).unwrap() == expected)
    });
    assert!(same);
}

#[test]
fn crowded_batches_and_doubled_initial_nodes_are_noticed() {
    let (engine, truth) = pool(60);
    let initial = Initial::Nodes([3, 4, 3].map(NodeId).to_vec());
    let records = run(
        &asking(&engine, Score::Variance, Policy::Max, 1),
        &truth,
        &plan(initial, 58, 58),
    );
    assert_eq!((records[0].labelled, records.len()), (2, 59));
    assert!(
        !records[1].crowded && records[58].crowded,
        "a batch of everything cannot keep neighbours apart"
    );
}

#[test]
fn cancelling_ends_a_simulation() {
    let (engine, truth) = pool(60);
    let control = Control::new();
    control.cancel();
    let stopped = trials(&engine, &truth, &Plan::default(), 3, &|| 0.0, &control);
    assert_eq!(stopped, Err(Error::Cancelled));
}

#[test]
fn a_noisy_oracle_errs_as_often_as_it_should_and_alike_for_all_methods() {
    let (engine, truth) = pool(300);
    let told = |noise: f64, score, seed| {
        let plan = Plan {
            noise,
            ..plan(Initial::OnePerClass, 200, 200)
        };
        let records = run(&asking(&engine, score, Policy::Max, seed), &truth, &plan);
        records
            .iter()
            .filter_map(|record| record.node.zip(record.class))
            .collect::<Vec<_>>()
    };
    let wrong = |told: &[(NodeId, ClassId)]| {
        told.iter()
            .filter(|(node, class)| truth.classes[node.index()] != Some(*class))
            .count()
    };
    assert_eq!(wrong(&told(0.0, Score::Random, 1)), 0);
    assert_eq!(wrong(&told(1.0, Score::Random, 1)), 200);
    // 2000 answers of noise 0.1: mean 200, standard deviation sqrt(2000 · 0.1 · 0.9) = 13.4; five of them are 67.
    let errors: usize = (0..10)
        .map(|seed| wrong(&told(0.1, Score::Random, seed)))
        .sum();
    assert!(
        (133..=267).contains(&errors),
        "{errors} of 2000 answers are wrong"
    );
    let (one, other) = (told(0.3, Score::Random, 4), told(0.3, Score::Margin, 4));
    let common = one
        .iter()
        .filter_map(|(node, class)| Some((class, other.iter().find(|(n, _)| n == node)?.1)));
    let common: Vec<_> = common.collect();
    assert!(
        common.len() > 50 && common.iter().all(|(a, b)| **a == *b),
        "a node has one answer under one seed"
    );
    let refused = trial(
        &engine,
        &truth,
        &Plan {
            noise: 1.5,
            ..Plan::default()
        },
        &|| 0.0,
        &Control::new(),
    );
    assert!(matches!(
        refused.err(),
        Some(Error::BadSetting { name: "noise", .. })
    ));
}

#[test]
fn measures_are_taken_where_asked_and_agree_with_slow_ones() {
    let (engine, truth) = pool(120);
    let plan = Plan {
        measure_every: 1,
        ..plan(Initial::OnePerClass, 3, 1)
    };
    let engine = asking(&engine, Score::Variance, Policy::Max, 2);
    let (records, session) = trial(&engine, &truth, &plan, &|| 0.0, &Control::new()).unwrap();
    let free: Vec<NodeId> = (0..120)
        .map(NodeId)
        .filter(|node| !session.labelled().contains(node))
        .collect();
    let class = |node: NodeId| truth.classes[node.index()].unwrap().index();
    let (mut brier, mut recalls) = (0.0, 0.0);
    for c in 0..3 {
        let own: Vec<NodeId> = free
            .iter()
            .copied()
            .filter(|&node| class(node) == c)
            .collect();
        let right = own
            .iter()
            .filter(|&&node| session.prediction(node).class.index() == c)
            .count();
        recalls += right as f64 / own.len() as f64;
    }
    for &node in &free {
        for (c, p) in session.prediction(node).probabilities.iter().enumerate() {
            brier += (p - if c == class(node) { 1.0 } else { 0.0 })
                * (p - if c == class(node) { 1.0 } else { 0.0 });
        }
    }
    let last = records.last().unwrap().measures.unwrap();
    assert!((last.balanced_accuracy - recalls / 3.0).abs() < 1e-12);
    assert!((last.brier - brier / free.len() as f64).abs() < 1e-12);
    assert!((0.0..=1.0).contains(&last.calibration_error));
    assert!(
        run(&engine, &truth, &Plan::default())
            .iter()
            .all(|record| record.measures.is_none())
    );
}

/// A session driven by hand that adds every class when it is first met.
fn by_hand<'a>(
    engine: &Engine<'a>,
    truth: &Truth,
    queries: usize,
    batch: usize,
) -> (Vec<Record>, Session<'a>) {
    let control = Control::new();
    let mut session = engine.session::<&str>(&[], &control).unwrap();
    let mut records = vec![by_name(&session, truth, None)];
    while records.len() <= queries {
        let count = batch.min(queries + 1 - records.len());
        for question in session.ask(count).unwrap().questions {
            let class = truth.classes[question.node.index()].unwrap();
            let name = &truth.names[class.index()];
            if session.labels().class_named(name).is_err() {
                let (class, name) = (session.labels().new_class(), name.clone());
                session
                    .append("", Change::AddClass { class, name }, &control)
                    .unwrap();
            }
            let own = session.labels().class_named(name).unwrap();
            session.tell(&question.item, own, &control).unwrap();
            let record = by_name(&session, truth, Some((question.node, class)));
            records.push(Record {
                query: records.len(),
                ..record
            });
        }
    }
    (records, session)
}

/// The record of a session whose classes are known by their names only.
fn by_name(session: &Session<'_>, truth: &Truth, told: Option<(NodeId, ClassId)>) -> Record {
    let free: Vec<usize> = (0..truth.classes.len())
        .filter(|&i| !session.labelled().contains(&NodeId(i as u32)))
        .collect();
    let belief = session.belief(&Control::new()).unwrap();
    let readout = session.readout(&belief);
    let right = |&&i: &&usize| {
        // A plane that nobody has named is nobody's class.
        let class = session
            .classes()
            .get(readout.class(&belief, NodeId(i as u32)));
        let name = class.map(|class| &session.labels().schema()[class.index()].name);
        name == Some(&truth.names[truth.classes[i].unwrap().index()])
    };
    let labelled = session.labelled();
    let met: std::collections::BTreeSet<u32> = labelled
        .iter()
        .map(|node| truth.clusters[node.index()].unwrap())
        .collect();
    Record {
        query: 0,
        node: told.map(|(node, _)| node),
        class: told.map(|(_, class)| class),
        crowded: false,
        labelled: labelled.len(),
        accuracy: free.iter().filter(right).count() as f64 / free.len() as f64,
        judged: Vec::new(),
        measures: None,
        clusters_found: met.len(),
        seconds: 0.0,
    }
}

#[test]
fn classes_that_are_met_are_asked_for_as_a_person_would_add_them() {
    let (engine, mut truth) = pool(300);
    // Names in another order than they are met in, so that no class has its own id by chance.
    truth.names = ["c", "a", "b", "nobody"].map(String::from).to_vec();
    let graph = engine.graph.clone().unwrap();
    let build = |config: Config| {
        let config = Config { k: 10, ..config };
        Engine::on(Arc::clone(&graph), None, &config, &Control::new()).unwrap()
    };
    let certified = |tolerance| Config {
        precision: Precision::Certified,
        tolerance,
        tau: Tau::Number(0.2),
        ..Config::paper()
    };
    for (name, engine) in [
        ("auto", build(Config::default())),
        ("variance", build(Config::paper())),
        (
            "proportional",
            asking(&engine, Score::Variance, Policy::Proportional, 8),
        ),
        ("certified, global", build(certified(None))),
        ("certified, local", build(certified(Some(0.001)))),
    ] {
        for batch in [1, 4] {
            let plan = Plan {
                classes: Classes::Met,
                ..plan(Initial::None, 18, batch)
            };
            let (records, ended) = trial(&engine, &truth, &plan, &|| 0.0, &Control::new()).unwrap();
            let (by_hand, session) = by_hand(&engine, &truth, 18, batch);
            assert_eq!(records, by_hand, "{name}, {batch}");
            assert_eq!(ended.labels(), session.labels(), "{name}, {batch}");
            assert_eq!(ended.field(), session.field(), "{name}, {batch}");
            assert_eq!(ended.ask(1), session.ask(1), "{name}, {batch}");
            assert_eq!(ended.classes().len(), 3, "{name}: nobody was never met");
        }
    }
}

#[test]
fn met_classes_are_as_good_as_known_ones_once_all_are_met() {
    let (engine, truth) = pool(300);
    let with = |classes| Plan {
        classes,
        measure_every: 1,
        ..plan(Initial::OnePerClass, 10, 1)
    };
    // One label of every class, in the order of the classes: nothing is left to meet.
    let engine = asking(&engine, Score::Variance, Policy::Max, 4);
    assert_eq!(
        run(&engine, &truth, &with(Classes::Met)),
        run(&engine, &truth, &with(Classes::Known))
    );
}
