//! A session with a second opinion: on a pool whose graph knows little the features help, and a state of the log has the same
//! bits however it was reached.

use dial::seed::{Purpose, Random};
use dial::*;

const N: usize = 240;
const DIM: usize = 20;

/// Three classes that differ in the first two columns; the other 18 are noise of the same size, which the graph believes.
fn pool() -> (Vec<f64>, Vec<u16>) {
    let mut random = Random::new(9, Purpose::User, 0);
    let (mut x, mut classes) = (Vec::new(), Vec::new());
    for _ in 0..N {
        let class = random.below(3);
        let centre = [[1.7, 0.0], [-0.9, 1.4], [-0.9, -1.4]][class];
        for column in 0..DIM {
            x.push(random.normal() + centre.get(column).unwrap_or(&0.0));
        }
        classes.push(class as u16);
    }
    (x, classes)
}

fn engine(x: &[f64], with_features: bool) -> Engine<'static> {
    let (features, control) = (Features::f64(x, N, DIM).unwrap(), Control::new());
    let config = Config {
        k: 10,
        ..Config::default()
    };
    let engine = Engine::build(features, &config, &control).unwrap();
    match with_features {
        true => engine.with_features(features, &control).unwrap(),
        false => engine,
    }
}

/// The questions of a session that is answered so often, and the session.
fn labelled<'a>(engine: &Engine<'a>, classes: &[u16], count: usize) -> (Vec<NodeId>, Session<'a>) {
    let control = Control::new();
    let mut session = engine.session(&["a", "b", "c"], &control).unwrap();
    let mut asked = Vec::new();
    for _ in 0..count {
        let question = session.ask(1).unwrap().questions.remove(0);
        let class = ClassId(classes[question.node.index()]);
        session.tell(&question.item, class, &control).unwrap();
        asked.push(question.node);
    }
    (asked, session)
}

fn right(session: &Session<'_>, classes: &[u16]) -> usize {
    (0..N as u32)
        .filter(|&i| session.prediction(NodeId(i)).class.0 == classes[i as usize])
        .count()
}

#[test]
fn features_help_where_the_graph_knows_little() {
    let (x, classes) = pool();
    let (_, without) = labelled(&engine(&x, false), &classes, 60);
    let (_, with) = labelled(&engine(&x, true), &classes, 60);
    let (without, with) = (right(&without, &classes), right(&with, &classes));
    assert!(
        with >= without + 10,
        "{with} and {without} of {N} are right"
    );
}

#[test]
fn a_state_has_the_bits_of_its_replay_and_of_one_thread() {
    let (x, classes) = pool();
    let engine = engine(&x, true);
    let (asked, mut session) = labelled(&engine, &classes, 55);
    let control = Control::new();
    let bits = |session: &Session<'_>| -> Vec<u64> {
        let view = session.view(&control).unwrap();
        let of = |i: u32| {
            let p = view.prediction(NodeId(i));
            let mut bits: Vec<u64> = p.probabilities.iter().map(|p| p.to_bits()).collect();
            bits.extend([p.variance.to_bits(), p.evidence.to_bits()]);
            bits
        };
        (0..N as u32).flat_map(of).collect()
    };
    let now = bits(&session);
    let replayed = engine
        .resume(session.labels().events().to_vec(), &control)
        .unwrap();
    assert_eq!(now, bits(&replayed));
    assert_eq!(session.ask(3).unwrap(), replayed.ask(3).unwrap());
    // Looking ahead and undoing leave no trace.
    let next = session.ask(1).unwrap().questions.remove(0);
    session.lookahead(&next.item, &control).unwrap();
    session.tell(&next.item, ClassId(0), &control).unwrap();
    assert_ne!(now, bits(&session));
    session.undo("", &control).unwrap();
    assert_eq!(now, bits(&session));
    let alone = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let (asked_alone, bits_alone) = alone.install(|| {
        let (asked, session) = labelled(&self::engine(&x, true), &classes, 55);
        (asked, bits(&session))
    });
    assert_eq!((asked, now), (asked_alone, bits_alone));
}

#[test]
fn batches_new_rows_and_a_class_that_comes_late() {
    let (x, classes) = pool();
    let (_, mut session) = labelled(&engine(&x, true), &classes, 20);
    let control = Control::new();
    let batch = session.ask(8).unwrap();
    let mut nodes: Vec<NodeId> = batch.questions.iter().map(|one| one.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    assert_eq!(nodes.len(), 8);
    session
        .append(
            "",
            Change::AddClass {
                class: ClassId(3),
                name: "d".into(),
            },
            &control,
        )
        .unwrap();
    let view = session.view(&control).unwrap();
    // A row of the pool is predicted as itself.
    let features = Features::f64(&x, N, DIM).unwrap();
    let near = dial::session::out_of_sample::Newcomers::find(
        features,
        Features::f64(&x[..3 * DIM], 3, DIM).unwrap(),
        10,
        Metric::Euclidean,
        &control,
    )
    .unwrap();
    for (new, node) in view.about(&near).into_iter().zip(0..) {
        let own = view.prediction(NodeId(node));
        assert_eq!(
            (new.class, new.probabilities),
            (own.class, own.probabilities)
        );
        assert_eq!(new.variance, own.variance);
    }
    let wrong = Features::f64(&x[..DIM], 1, DIM).unwrap();
    let refused = engine(&x, false).with_features(wrong, &control);
    assert_eq!(refused.err().unwrap().code(), "I3");
}
