//! Sessions that begin with no class or one: they ask as others do, and with the second class they are as others are.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dial::acquisition::OfAlpha;
use dial::linalg::local::Regime;
use dial::propagation::certified::Precision;
use dial::propagation::tau::Tau;
use dial::seed::{Purpose, Random};
use dial::*;

const N: usize = 300;

/// Faithful with both ways of asking, and certified with solves of both kinds.
fn engines() -> Vec<(&'static str, Engine<'static>)> {
    let mut random = Random::new(3, Purpose::User, 0);
    let x: Vec<f64> = (0..N * 2)
        .map(|i| random.normal() + (i / 2 % 3) as f64 * 4.0)
        .collect();
    let features = Features::f64(&x, N, 2).unwrap();
    let certified = |tolerance| Config {
        precision: Precision::Certified,
        tolerance,
        tau: Tau::Number(0.2),
        ..Config::paper()
    };
    let configs = [
        ("auto", Config::default()),
        ("variance", Config::paper()),
        (
            "proportional",
            Config {
                policy: Policy::Proportional,
                seed: 5,
                ..Config::paper()
            },
        ),
        ("certified, global", certified(None)),
        ("certified, local", certified(Some(0.001))),
    ];
    configs
        .into_iter()
        .map(|(name, config)| {
            let config = Config { k: 8, ..config };
            let engine = Engine::build(features, &config, &Control::new()).unwrap();
            (name, engine)
        })
        .collect()
}

#[test]
fn the_certified_ones_solve_locally_and_globally() {
    for (name, engine) in engines() {
        let session = engine.session(&["a"], &Control::new()).unwrap();
        let regime = session.solving().map(|solving| solving.regime);
        let want = match name {
            "certified, global" => Some(Regime::Global),
            "certified, local" => Some(Regime::Local),
            _ => None,
        };
        assert_eq!(regime, want, "{name}");
    }
}

fn bits(session: &Session<'_>) -> Vec<u64> {
    (0..N as u32)
        .flat_map(|node| session.field().alpha(NodeId(node)))
        .map(f64::to_bits)
        .collect()
}

/// Everything that can be read from a session at any time.
fn assert_same(what: &str, a: &Session<'_>, b: &Session<'_>) {
    let control = Control::new();
    assert_eq!(a.classes(), b.classes(), "{what}");
    assert_eq!(a.is_ready(), b.is_ready(), "{what}");
    assert_eq!(a.labelled(), b.labelled(), "{what}");
    assert_eq!(a.terms(), b.terms(), "{what}");
    assert_eq!(bits(a), bits(b), "{what}");
    assert_eq!(a.ask(1), b.ask(1), "{what}");
    assert_eq!(a.ask(4), b.ask(4), "{what}");
    assert_eq!(a.scores(&control), b.scores(&control), "{what}");
    assert_eq!(
        a.belief(&control).unwrap(),
        b.belief(&control).unwrap(),
        "{what}"
    );
    assert_eq!(a.accuracy(&control), b.accuracy(&control), "{what}");
    match (a.view(&control), b.view(&control)) {
        (Ok(a), Ok(b)) => {
            for node in (0..N as u32).map(NodeId) {
                assert_eq!(a.prediction(node), b.prediction(node), "{what}");
            }
        }
        (a, b) => assert_eq!(a.err(), b.err(), "{what}"),
    }
    if a.is_ready() {
        for node in (0..N as u32).map(NodeId) {
            assert_eq!(a.prediction(node), b.prediction(node), "{what}");
        }
    }
}

fn assert_is_replay(what: &str, engine: &Engine<'_>, session: &Session<'_>) {
    let log = session.labels().events().to_vec();
    let replayed = engine.resume(log, &Control::new()).unwrap();
    assert_same(what, session, &replayed);
}

fn add(session: &mut Session<'_>, name: &str) -> (ClassId, u64) {
    let class = session.labels().new_class();
    let name = name.to_string();
    let change = Change::AddClass { class, name };
    (class, session.append("", change, &Control::new()).unwrap())
}

/// Asks and answers with a class; returns the item.
fn answer(session: &mut Session<'_>, class: ClassId) -> String {
    let item = session.ask(1).unwrap().questions.remove(0).item;
    session.tell(&item, class, &Control::new()).unwrap();
    item
}

#[test]
fn without_two_classes_there_is_nothing_to_believe_but_much_to_ask() {
    let control = Control::new();
    for (name, engine) in engines() {
        let both = engine.session(&["a", "b"], &control).unwrap();
        for names in [&[][..], &["a"]] {
            let mut session = engine.session(names, &control).unwrap();
            let known: Vec<ClassId> = (0..names.len() as u16).map(ClassId).collect();
            assert_eq!(session.classes(), known, "{name}");
            assert!(!session.is_ready(), "{name}");
            // Nothing was heard, and two classes are the fewest there will be: the questions are theirs.
            assert_eq!(session.ask(1), both.ask(1), "{name}");
            assert_eq!(session.ask(5), both.ask(5), "{name}");
            assert_eq!(session.labels().settings(), both.labels().settings());
            let view = session.view(&control).err();
            assert_eq!(view, Some(Error::TooFewClasses(names.len())), "{name}");
            assert_eq!(session.accuracy(&control), Ok(None), "{name}");
            let item = session.ask(1).unwrap().questions.remove(0).item;
            session.prepare(&item, &control).unwrap();
            let lookahead = session.lookahead(&item, &control).unwrap();
            let answers: Vec<ClassId> = lookahead.iter().map(|answer| answer.class).collect();
            assert_eq!(answers, known, "{name}");
            let unknown = session.tell(&item, ClassId(names.len() as u16), &control);
            assert_eq!(unknown.unwrap_err().code(), "I12", "{name}");
            // Neither is a class that stands for those nobody has named.
            let unnamed = session.tell(&item, ClassId(u16::MAX), &control);
            assert_eq!(unnamed.unwrap_err().code(), "I12", "{name}");
            let told = catch_unwind(AssertUnwindSafe(|| session.prediction(NodeId(0))));
            assert!(
                told.is_err(),
                "{name}: a prediction with {} classes",
                names.len()
            );
            assert_is_replay(name, &engine, &session);
        }
        assert!(both.is_ready() && both.view(&control).is_ok());
    }
}

#[test]
fn classes_met_one_by_one_end_where_a_replay_does_and_where_known_ones_do() {
    let control = Control::new();
    for (name, engine) in engines() {
        let mut session = engine.session::<&str>(&[], &control).unwrap();
        let mut told = Vec::new();
        let (a, _) = add(&mut session, "a");
        assert_is_replay(name, &engine, &session);
        // Several labels of the only class, and an item that is skipped.
        for _ in 0..4 {
            told.push((answer(&mut session, a), a));
            assert!(!session.is_ready());
            assert_is_replay(name, &engine, &session);
        }
        let item = session.ask(1).unwrap().questions.remove(0).item;
        session
            .append("", Change::Skip { item: item.clone() }, &control)
            .unwrap();
        assert_is_replay(name, &engine, &session);
        let (b, _) = add(&mut session, "b");
        assert!(session.is_ready());
        assert_is_replay(name, &engine, &session);
        for class in [b, a, b] {
            told.push((answer(&mut session, class), class));
            assert_is_replay(name, &engine, &session);
        }
        let (c, _) = add(&mut session, "c");
        told.push((answer(&mut session, c), c));
        assert_is_replay(name, &engine, &session);
        // A session that knew all of them from the start is where this one is, whatever the log.
        let mut known = engine.session(&["a", "b", "c"], &control).unwrap();
        known.append("", Change::Skip { item }, &control).unwrap();
        for (item, class) in told {
            known.tell(&item, class, &control).unwrap();
        }
        assert_same(name, &session, &known);
    }
}

#[test]
fn taking_back_with_few_classes_is_as_if_it_had_never_been() {
    let control = Control::new();
    for (name, engine) in engines() {
        let mut session = engine.session::<&str>(&[], &control).unwrap();
        let start = (bits(&session), session.ask(1));
        let (a, first) = add(&mut session, "a");
        let one = bits(&session);
        answer(&mut session, a);
        let undo = |session: &mut Session<'_>, group| {
            session.append("", Change::Undo { group }, &Control::new())
        };
        assert!(
            matches!(undo(&mut session, first), Err(Error::Conflict(_))),
            "{name}: a class that has labels stays"
        );
        session.undo("", &control).unwrap();
        assert_eq!(bits(&session), one, "{name}");
        undo(&mut session, first).unwrap();
        assert_eq!((bits(&session), session.ask(1)), start, "{name}");
        assert!(session.classes().is_empty());
        assert_is_replay(name, &engine, &session);
        session
            .append("", Change::Redo { group: first }, &control)
            .unwrap();
        assert_eq!(
            (bits(&session), session.classes()),
            (one, &[a][..]),
            "{name}"
        );
        // Once there are two, two stay.
        let (_, second) = add(&mut session, "b");
        assert!(matches!(
            undo(&mut session, second),
            Err(Error::Conflict(_))
        ));
        assert!(session.is_ready());
        assert_is_replay(name, &engine, &session);
    }
}

#[test]
fn a_cancelled_label_of_the_only_class_leaves_everything_as_it_was() {
    for (name, engine) in engines() {
        let mut session = engine.session(&["a"], &Control::new()).unwrap();
        answer(&mut session, ClassId(0));
        let before = (bits(&session), session.ask(1));
        let cancelled = Control::new();
        cancelled.cancel();
        let item = session.ask(1).unwrap().questions.remove(0).item;
        assert_eq!(
            session.tell(&item, ClassId(0), &cancelled),
            Err(Error::Cancelled),
            "{name}"
        );
        assert_eq!((bits(&session), session.ask(1)), before, "{name}");
        assert_is_replay(name, &engine, &session);
    }
}

#[test]
fn an_acquisition_of_ones_own_sees_two_planes_at_least() {
    let planes = OfAlpha(|alpha: &[f64]| alpha.len() as f64);
    let (_, engine) = engines().remove(1);
    let engine = engine.asking_by(Arc::new(planes));
    for (names, want) in [(&[][..], 2.0), (&["a"], 2.0), (&["a", "b", "c"], 3.0)] {
        let session = engine.session(names, &Control::new()).unwrap();
        assert_eq!(session.ask(1).unwrap().questions[0].score, want);
    }
}
