//! What becomes of what people send, case by case: keys that come again, undo, conflicting answers, pools that change.

#[allow(dead_code)]
mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{first, label, recipe, submission};
use dial::{Change, ClassId};
use dial_store::{
    Decision, Error, Lease, Log, Memory, Project, Record, Result, Store, Stored, Submission,
};

/// A project in memory with four classes and ten items.
fn project() -> Project {
    project_on(Box::new(Memory::new("p")))
}

fn project_on(store: Box<dyn Store>) -> Project {
    let mut project = Project::on(store, None, None).unwrap();
    let mut decisions = vec![Decision::Recipe(Box::new(recipe(10, 1)))];
    decisions.extend(first(4));
    let new = Submission {
        decisions,
        ..submission("new", "", Decision::Undo { group: None })
    };
    project.submit_one(new, 1).unwrap();
    project
}

fn many(key: &str, decisions: &[(&str, u16)]) -> Submission {
    let decisions = decisions
        .iter()
        .map(|(item, class)| label("", "", item, *class).decisions.remove(0))
        .collect();
    Submission {
        decisions,
        ..submission(key, "ann", Decision::Undo { group: None })
    }
}

fn undo(group: u64) -> Decision {
    Decision::Undo { group: Some(group) }
}

#[test]
fn a_key_that_comes_again_gets_the_first_answer() {
    let mut project = project();
    let sent = label("k1", "ann", "3", 1);
    let first = project.submit_one(sent.clone(), 10).unwrap();
    let again = project.submit_one(sent, 20).unwrap();
    assert_eq!(
        (again.seq, again.group, again.repeated),
        (first.seq, first.group, true)
    );
    for other in [
        label("k1", "ann", "3", 2),
        label("k1", "ann", "4", 1),
        label("k1", "bob", "3", 1),
    ] {
        assert_eq!(
            project.submit_one(other, 30),
            Err(Error::KeyReused("k1".into()))
        );
    }
}

/// The sender would take a receipt for it as a promise that all of it is stored.
#[test]
fn a_key_that_comes_again_with_more_is_refused() {
    let mut project = project();
    project
        .submit_one(many("k1", &[("1", 0), ("2", 1)]), 10)
        .unwrap();
    let more = project.submit_one(many("k1", &[("1", 0), ("2", 1), ("3", 2)]), 20);
    assert_eq!(more, Err(Error::KeyReused("k1".into())));
    let fewer = project.submit_one(many("k1", &[("1", 0)]), 20);
    assert_eq!(fewer, Err(Error::KeyReused("k1".into())));
    // What had been said before is not stored again, and the whole may come again all the same.
    let sent = many("k2", &[("1", 0), ("4", 2), ("2", 1)]);
    let first = project.submit_one(sent.clone(), 30).unwrap();
    assert_eq!(
        project
            .submit_one(sent, 40)
            .map(|again| (again.seq, again.repeated)),
        Ok((first.seq, true))
    );
}

#[test]
fn a_key_is_known_by_all_that_was_sent_under_it() {
    let mut project = project();
    for item in ["1", "2"] {
        project.submit_one(label(item, "ann", item, 0), 2).unwrap();
    }
    // The first leaves no record: it was said before.
    let sent = many("k", &[("1", 0), ("3", 1)]);
    let first = project.submit_one(sent.clone(), 3).unwrap();
    let again = project.submit_one(sent, 4).unwrap();
    assert_eq!((again.seq, again.repeated), (first.seq, true));
    for other in [
        many("k", &[("2", 0), ("3", 1)]),
        many("k", &[("3", 1), ("1", 0)]),
        many("k", &[("3", 1)]),
    ] {
        let refused = project.submit_one(other, 5).unwrap_err();
        assert_eq!(refused.code(), "W2");
    }
}

#[test]
fn logs_without_hashes_know_their_keys_too() {
    let mut project = project();
    project.submit_one(label("a", "ann", "1", 0), 2).unwrap();
    let sent = many("k", &[("1", 0), ("3", 1)]);
    project.submit_one(sent.clone(), 3).unwrap();
    let mut records = project.log().records().to_vec();
    assert!(
        records
            .iter()
            .any(|record| record.provenance.digest.is_some())
    );
    records
        .iter_mut()
        .for_each(|record| record.provenance.digest = None);
    let mut before = Project::in_memory("p", records, None).unwrap();
    assert!(before.submit_one(sent, 4).unwrap().repeated);
    let other = many("k", &[("4", 0), ("3", 1)]);
    assert_eq!(before.submit_one(other, 5).unwrap_err().code(), "W2");
}

#[test]
fn class_ids_run_out_with_a_refusal() {
    let mut project = project();
    let add = |round: usize, count: usize| Submission {
        key: format!("add {round}"),
        annotator: "ann".into(),
        decisions: (0..count)
            .map(|number| Decision::AddClass {
                name: format!("{round} {number}"),
            })
            .collect(),
        ..Submission::default()
    };
    // Ids of classes whose addition was undone are not given again.
    let mut round = 0;
    let refused = loop {
        match project.submit_one(add(round, 21_000), 2) {
            Ok(stored) => {
                let group = stored.group.unwrap();
                let back = submission(&format!("undo {round}"), "ann", undo(group));
                project.submit_one(back, 3).unwrap();
            }
            Err(refused) => break refused,
        }
        round += 1;
    };
    assert_eq!(round, 3);
    assert!(refused.to_string().contains("65,000 classes"), "{refused}");
    for number in 0..3_000 {
        if project.submit_one(add(10 + number, 1), 4).is_err() {
            break;
        }
    }
    assert_eq!(
        project.submit_one(add(9, 1), 5).unwrap_err().code(),
        refused.code()
    );
    project.submit_one(label("l", "ann", "1", 0), 6).unwrap();
}

#[test]
fn whoever_reads_a_log_keeps_what_it_was() {
    let mut project = project();
    let begin = project.log().version();
    let mut held = Vec::new();
    for round in 0..10u64 {
        // Some are held for a while, some for ever, and in between nobody reads.
        if round % 4 != 3 {
            held.push((project.snapshot(), begin + 2 * round));
        }
        if round % 3 == 2 {
            held.remove(0);
        }
        let item = round.to_string();
        project
            .submit_one(label(&format!("k{round}"), "ann", &item, 0), round)
            .unwrap();
        let add = Decision::AddClass { name: item };
        let mut twice = submission(&format!("c{round}"), "ann", add.clone());
        twice.decisions.push(add.clone());
        project.submit_one(twice, round).unwrap_err();
        let once = submission(&format!("c{round}"), "ann", add);
        project.submit_one(once, round).unwrap();
    }
    for (snapshot, version) in &held {
        let log = snapshot.log();
        assert_eq!(log.version(), *version);
        assert!(project.log().records().starts_with(log.records()));
        let replayed = Log::replay(project.id(), log.records().to_vec()).unwrap();
        assert_eq!(
            (log.head(), log.labels()),
            (replayed.head(), replayed.labels())
        );
    }
    let all = project.log().records().to_vec();
    let replayed = Log::replay(project.id(), all).unwrap();
    assert_eq!(
        (project.log().head(), project.log().labels()),
        (replayed.head(), replayed.labels())
    );
}

#[test]
fn every_group_is_of_one_submission() {
    let mut project = project();
    let look = Decision::StyleClass {
        class: ClassId(0),
        colour: "#123456".into(),
        key: "x".into(),
    };
    project.submit_one(label("k1", "ann", "1", 0), 10).unwrap();
    let looked = project
        .submit_one(submission("k2", "bob", look), 10)
        .unwrap();
    let conflict = project
        .submit_one(label("k3", "ann", "1", 1), 10)
        .unwrap_err();
    assert_eq!(conflict.code(), "C3");
    let labelled = project.submit_one(label("k4", "ann", "2", 0), 10).unwrap();
    assert!(labelled.group > looked.group, "{labelled:?} {looked:?}");
    let mut groups: Vec<u64> = project
        .log()
        .records()
        .iter()
        .map(|record| record.group)
        .collect();
    groups.dedup();
    let mut sorted = groups.clone();
    sorted.dedup();
    assert_eq!((groups.len(), sorted.len()), (5, 5), "{groups:?}");
    // A colour is not undone, and nobody's label with it.
    assert!(
        project
            .submit_one(submission("k5", "bob", undo(looked.group.unwrap())), 10)
            .is_err()
    );
    assert_eq!(project.log().labels().labels_of("2").count(), 1);
}

#[test]
fn undo_is_not_refused_because_somebody_else_did_something_in_between() {
    let mut project = project();
    let look = Decision::StyleClass {
        class: ClassId(0),
        colour: "#123456".into(),
        key: "x".into(),
    };
    project
        .submit_one(submission("k1", "bob", look), 10)
        .unwrap();
    project.submit_one(label("k2", "ann", "2", 0), 10).unwrap();
    project
        .submit_one(submission("k3", "ann", Decision::Undo { group: None }), 10)
        .unwrap();
    assert_eq!(project.log().labels().labels_of("2").count(), 0);
    // The work of another is undone only on purpose (fault C5).
    let group = project
        .submit_one(label("k4", "ann", "2", 0), 10)
        .unwrap()
        .group
        .unwrap();
    let refused = project
        .submit_one(submission("k5", "bob", undo(group)), 10)
        .unwrap_err();
    assert_eq!(refused.code(), "C5", "{refused}");
    let meant = Submission {
        replace: true,
        ..submission("k6", "bob", undo(group))
    };
    project.submit_one(meant, 10).unwrap();
    assert_eq!(project.log().labels().labels_of("2").count(), 0);
}

#[test]
fn the_undo_key_takes_back_names_and_merges_too() {
    let mut project = project();
    let names = |project: &Project| {
        let (log, live) = (project.log(), project.log().labels().classes());
        live.iter()
            .map(|class| log.class_name(*class).to_string())
            .collect::<Vec<String>>()
    };
    let first = names(&project);
    project.submit_one(label("k1", "ann", "2", 0), 10).unwrap();
    let rename = Decision::RenameClass {
        class: ClassId(0),
        name: "other".into(),
    };
    project
        .submit_one(submission("k2", "ann", rename), 10)
        .unwrap();
    let merge = Decision::MergeClass {
        from: ClassId(0),
        into: ClassId(1),
    };
    project
        .submit_one(submission("k3", "ann", merge), 10)
        .unwrap();
    assert_eq!(names(&project), first[1..]);
    let mut turn = |key, decision| {
        project
            .submit_one(submission(key, "ann", decision), 20)
            .unwrap();
        (
            names(&project),
            project.log().labels().labels_of("2").count(),
        )
    };
    let renamed = [&["other".to_string()], &first[1..]].concat();
    assert_eq!(
        turn("u1", Decision::Undo { group: None }),
        (renamed.clone(), 1),
        "the merge"
    );
    assert_eq!(
        turn("u2", Decision::Undo { group: None }),
        (first.clone(), 1),
        "the name"
    );
    assert_eq!(
        turn("r1", Decision::Redo { group: None }),
        (renamed, 1),
        "the name again"
    );
    assert_eq!(
        turn("u3", Decision::Undo { group: None }),
        (first.clone(), 1)
    );
    assert_eq!(
        turn("u4", Decision::Undo { group: None }),
        (first, 0),
        "then the label"
    );
}

#[test]
fn what_is_known_is_answered_with_the_label_that_stands() {
    let mut project = project();
    let replacing = |key, class| Submission {
        replace: true,
        ..label(key, "ann", "1", class)
    };
    let first = project.submit_one(label("k1", "ann", "1", 0), 10).unwrap();
    project.submit_one(replacing("k2", 1), 10).unwrap();
    project.submit_one(replacing("k3", 0), 10).unwrap();
    for key in ["k4", "k5"] {
        project
            .submit_one(submission(key, "ann", Decision::Undo { group: None }), 10)
            .unwrap();
    }
    let known = project.submit_one(label("k6", "ann", "1", 0), 10).unwrap();
    assert_eq!(
        (known.seq, known.group, known.known),
        (first.seq, first.group, true)
    );
}

/// A copy of such an answer that was long on its way must not bring back what was undone since.
#[test]
fn what_is_known_is_known_by_its_key_for_ever() {
    let mut project = project();
    project.submit_one(label("k1", "ann", "7", 0), 10).unwrap();
    let known = project.submit_one(label("k2", "ann", "7", 0), 10).unwrap();
    let all_known = many("k3", &[("7", 0)]);
    project.submit_one(all_known.clone(), 10).unwrap();
    project
        .submit_one(submission("k4", "ann", Decision::Undo { group: None }), 10)
        .unwrap();
    for again in [label("k2", "ann", "7", 0), all_known] {
        let again = project.submit_one(again, 20).unwrap();
        assert_eq!(
            (again.known, again.repeated, again.seq),
            (true, true, known.seq)
        );
    }
    assert_eq!(
        project.log().labels().labels_of("7").count(),
        0,
        "the undo stands"
    );
    assert_eq!(
        project.submit_one(label("k2", "ann", "8", 0), 30),
        Err(Error::KeyReused("k2".into()))
    );
    // A skip that is said twice is undone by one undo.
    let skip = |key| submission(key, "ann", Decision::Skip { item: "5".into() });
    project.submit_one(skip("s1"), 40).unwrap();
    let second = project.submit_one(skip("s2"), 40).unwrap();
    assert_eq!((second.known, second.group), (true, None));
    project
        .submit_one(submission("s3", "ann", Decision::Undo { group: None }), 50)
        .unwrap();
    assert_eq!(project.log().labels().marks_of("5"), (false, false));
}

#[test]
fn an_answer_among_many_that_contradicts_is_named() {
    let mut project = project();
    project.submit_one(label("k1", "ann", "3", 0), 10).unwrap();
    let version = project.log().version();
    let refused = project
        .submit_one(many("k2", &[("1", 0), ("3", 1), ("2", 0)]), 20)
        .unwrap_err();
    assert_eq!(
        (refused.code(), refused.to_string().contains("\"3\"")),
        ("C3", true),
        "{refused}"
    );
    let unknown = project
        .submit_one(many("k3", &[("1", 0), ("99", 1)]), 20)
        .unwrap_err();
    assert_eq!(unknown.code(), "I12");
    assert_eq!(project.log().version(), version, "nothing was stored");
    // Twice in one submission: found while it is appended, and all of it is taken back.
    let twice = project
        .submit_one(many("k4", &[("1", 0), ("1", 1)]), 20)
        .unwrap_err();
    assert_eq!((twice.code(), project.log().version()), ("C3", version));
    project
        .submit_one(many("k5", &[("1", 0), ("2", 1)]), 30)
        .unwrap();
}

#[test]
fn whoever_decides_again_resolves_a_conflict() {
    let mut project = project();
    project.submit_one(label("k1", "ann", "1", 0), 10).unwrap();
    project
        .submit_one(label("k2", "ann", "1", 1), 10)
        .unwrap_err();
    project.submit_one(label("k3", "bob", "1", 2), 10).unwrap();
    assert_eq!(
        project.log().conflicts().count(),
        1,
        "another person's answer settles nothing"
    );
    let again = Submission {
        replace: true,
        ..label("k4", "ann", "1", 1)
    };
    let first = project.submit_one(again.clone(), 20).unwrap();
    assert_eq!(project.log().conflicts().count(), 0);
    assert_eq!(
        project
            .submit_one(again, 30)
            .map(|again| (again.seq, again.repeated)),
        Ok((first.seq, true))
    );
}

#[test]
fn an_answer_that_contradicts_is_conflicting_until_somebody_decides() {
    let mut project = project();
    project.submit_one(label("k1", "ann", "1", 0), 10).unwrap();
    let sent = label("k2", "ann", "1", 1);
    let refused = project.submit_one(sent.clone(), 10).unwrap_err();
    let Error::Contradiction {
        first,
        second,
        conflict,
        ..
    } = refused.clone()
    else {
        panic!("{refused}")
    };
    assert_eq!(
        (first.as_str(), second.as_str(), conflict),
        ("a", "b", project.log().version())
    );
    let version = project.log().version();
    assert_eq!(
        project.submit_one(sent, 20),
        Err(refused),
        "the same answer to the same key"
    );
    assert_eq!(project.log().version(), version);
    project
        .submit_one(submission("k3", "ann", Decision::Resolve { conflict }), 30)
        .unwrap();
    assert_eq!(project.log().conflicts().count(), 0);
    assert!(
        project
            .submit_one(submission("k4", "ann", Decision::Resolve { conflict }), 30)
            .is_err()
    );
}

/// A number that is not finite is written as nothing and could not be read back: the project would never open again.
#[test]
fn what_could_not_be_read_back_is_not_conflicting() {
    let mut project = project();
    project.submit_one(label("k1", "ann", "1", 0), 10).unwrap();
    let merge = Decision::MergeClass {
        from: ClassId(3),
        into: ClassId(0),
    };
    project.submit_one(submission("k2", "", merge), 10).unwrap();
    let version = project.log().version();
    for class in [1, 3] {
        for weight in [f64::NAN, f64::INFINITY] {
            let change = Change::label("1", vec![(ClassId(class), weight)]);
            assert!(
                project
                    .submit_one(submission("k3", "ann", Decision::from(change)), 10)
                    .is_err()
            );
        }
    }
    let change = Change::label("1", vec![(ClassId(1), 2.0)]);
    assert_eq!(
        project
            .submit_one(submission("k3", "ann", Decision::from(change)), 10)
            .unwrap_err()
            .code(),
        "I12"
    );
    let endless = dial_store::Recipe {
        audit: f64::NAN,
        ..recipe(10, 1)
    };
    assert!(
        project
            .submit_one(
                submission("k3", "", Decision::Recipe(Box::new(endless))),
                10
            )
            .is_err()
    );
    assert_eq!(project.log().version(), version);
    for record in project.log().records() {
        assert_eq!(
            serde_json::from_str::<Record>(&record.body()).unwrap(),
            *record
        );
    }
}

#[test]
fn an_answer_with_a_class_that_is_gone_is_stored_as_a_conflict() {
    let mut project = project();
    let merge = Decision::MergeClass {
        from: ClassId(3),
        into: ClassId(0),
    };
    project.submit_one(submission("k1", "", merge), 10).unwrap();
    let refused = project
        .submit_one(label("k2", "ann", "1", 3), 10)
        .unwrap_err();
    assert_eq!(refused.code(), "C6", "{refused}");
    let conflict: Vec<&Record> = project.log().conflicts().collect();
    assert_eq!((conflict.len(), conflict[0].annotator.as_str()), (1, "ann"));
    // A class that never was is a mistake and stores nothing.
    let version = project.log().version();
    assert_eq!(
        project
            .submit_one(label("k3", "ann", "1", 9), 10)
            .unwrap_err()
            .code(),
        "I12"
    );
    assert_eq!(project.log().version(), version);
}

#[test]
fn a_refused_submission_of_many_stores_none_of_them() {
    let mut project = project();
    let before = project.log().records().to_vec();
    assert!(
        project
            .submit_one(many("k1", &[("1", 0), ("2", 1), ("77", 0)]), 10)
            .is_err()
    );
    assert_eq!(project.log().records(), before);
    assert_eq!(project.log().labels().labels_of("1").count(), 0);
    project
        .submit_one(many("k1", &[("1", 0), ("2", 1)]), 10)
        .unwrap();
}

/// A store whose disk fails when it is told to.
struct Failing {
    store: Memory,
    fails: Arc<AtomicBool>,
    /// The record is there all the same: the commit reached the disk and the sync failed.
    reaches: bool,
}

impl Store for Failing {
    fn project(&self) -> &str {
        self.store.project()
    }

    fn read(&mut self, after: u64) -> Result<Vec<Record>> {
        self.store.read(after)
    }

    fn append(&mut self, records: &[(Record, [u8; 32])]) -> Result<()> {
        let fails = self.fails.swap(false, Ordering::Relaxed);
        if !fails || self.reaches {
            self.store.append(records)?;
        }
        match fails {
            true => Err(Error::Disk {
                place: "here".into(),
                why: "told to".into(),
            }),
            false => Ok(()),
        }
    }

    fn keep_leases(&mut self, leases: &[Lease]) -> Result<()> {
        self.store.keep_leases(leases)
    }

    fn leases(&mut self) -> Result<Vec<Lease>> {
        self.store.leases()
    }

    fn keep(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.store.keep(name, bytes)
    }

    fn kept(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        self.store.kept(name)
    }

    fn facts(&mut self) -> Result<Vec<(String, String)>> {
        self.store.facts()
    }

    fn stored(&mut self, after: u64, most: u64) -> Result<Vec<Stored>> {
        self.store.stored(after, most)
    }

    fn kept_names(&mut self) -> Result<Vec<String>> {
        self.store.kept_names()
    }

    fn close(&mut self) {
        self.store.close();
    }

    fn reopen(&mut self, known: &Log) -> Result<()> {
        self.store.reopen(known)
    }
}

fn failing(reaches: bool) -> (Project, Arc<AtomicBool>) {
    let fails = Arc::new(AtomicBool::new(false));
    let store = Failing {
        store: Memory::new("p"),
        fails: Arc::clone(&fails),
        reaches,
    };
    (project_on(Box::new(store)), fails)
}

#[test]
fn a_commit_that_failed_but_reached_the_disk_is_answered_with_its_receipt() {
    let (mut project, fails) = failing(true);
    let version = project.log().version();
    fails.store(true, Ordering::Relaxed);
    let group = [
        label("k1", "ann", "1", 0),
        label("k2", "bob", "77", 0),
        label("k3", "cid", "2", 1),
    ];
    let answers = project.submit(&group, 10);
    assert_eq!(
        answers[0].as_ref().map(|receipt| receipt.seq),
        Ok(version + 1)
    );
    assert!(answers[1].is_err());
    assert_eq!(
        answers[2].as_ref().map(|receipt| receipt.seq),
        Ok(version + 2)
    );
    assert_eq!(project.log().version(), version + 2);
}

#[test]
fn a_commit_that_failed_leaves_the_state_of_before() {
    let (mut project, fails) = failing(false);
    project.submit_one(label("k0", "ann", "5", 0), 5).unwrap();
    let (version, labels) = (project.log().version(), project.log().labels().clone());
    fails.store(true, Ordering::Relaxed);
    let group = [
        label("k1", "ann", "1", 0),
        submission("k2", "ann", Decision::Undo { group: None }),
    ];
    for answer in project.submit(&group, 10) {
        assert_eq!(answer.unwrap_err().code(), "S4");
    }
    assert_eq!(
        (project.log().version(), project.log().labels()),
        (version, &labels)
    );
    let receipt = project.submit_one(label("k1", "ann", "1", 0), 20).unwrap();
    assert_eq!((receipt.seq, receipt.repeated), (version + 1, false));
}

#[test]
fn a_change_of_pool_that_fails_leaves_the_old_pool() {
    let (mut project, fails) = failing(false);
    let ids: Vec<String> = ["x", "y", "z"].map(String::from).to_vec();
    fails.store(true, Ordering::Relaxed);
    assert!(
        project
            .change_pool(recipe(3, 1), Some(&ids), "k1".into(), 10)
            .is_err()
    );
    assert!(project.has_item("7") && !project.has_item("x"));
    project.recover().unwrap();
    assert!(project.has_item("7") && !project.has_item("x"));
    project
        .change_pool(recipe(3, 1), Some(&ids), "k2".into(), 20)
        .unwrap();
    assert!(!project.has_item("7") && project.has_item("x"));
}

/// Imports come as one submission: each record is noted without going through those before it.
#[test]
fn a_submission_of_many_labels_is_one_group_under_one_key() {
    let mut project = Project::on(Box::new(Memory::new("p")), None, None).unwrap();
    let mut decisions = vec![Decision::Recipe(Box::new(recipe(100_000, 1)))];
    decisions.extend(first(4));
    project
        .submit_one(
            Submission {
                decisions,
                ..submission("new", "", Decision::Undo { group: None })
            },
            1,
        )
        .unwrap();
    let decisions = (0..20_000)
        .map(|n: u32| {
            label("", "", &n.to_string(), (n % 4) as u16)
                .decisions
                .remove(0)
        })
        .collect();
    let sent = Submission {
        decisions,
        ..submission("import", "ann", Decision::Undo { group: None })
    };
    let receipt = project.submit_one(sent.clone(), 10).unwrap();
    let records = project.log().submission("import").unwrap();
    assert_eq!((records.len(), records[0].seq), (20_000, receipt.seq));
    assert!(project.submit_one(sent, 20).unwrap().repeated);
    project
        .submit_one(
            submission("undo", "ann", Decision::Undo { group: None }),
            30,
        )
        .unwrap();
    assert_eq!(project.log().labels().labelled().count(), 0);
}

/// Twenty thousand labels in groups of their own, and one of eve.
fn much_labelled() -> Project {
    let mut project = Project::on(Box::new(Memory::new("p")), None, None).unwrap();
    let mut decisions = vec![Decision::Recipe(Box::new(recipe(30_000, 1)))];
    decisions.extend(first(4));
    let new = Submission {
        decisions,
        ..submission("new", "", Decision::Undo { group: None })
    };
    project.submit_one(new, 1).unwrap();
    let labels: Vec<Submission> = (0..20_000)
        .map(|row| label(&format!("k{row}"), "ann", &row.to_string(), 0))
        .collect();
    assert!(project.submit(&labels, 2).iter().all(Result::is_ok));
    project
        .submit_one(label("own", "eve", "25000", 1), 3)
        .unwrap();
    project
}

#[test]
fn undos_and_refused_submissions_cost_what_they_touch() {
    let mut project = much_labelled();
    let records = project.log().records().to_vec();
    let start = std::time::Instant::now();
    Log::replay("p", records).unwrap();
    let replay = start.elapsed();
    let start = std::time::Instant::now();
    let turns = [
        Decision::Undo { group: None },
        Decision::Redo { group: None },
    ];
    let storm = Submission {
        decisions: turns.iter().cloned().cycle().take(500).collect(),
        ..submission("storm", "eve", turns[0].clone())
    };
    project.submit_one(storm, 4).unwrap();
    // One label that could be taken, and an undo of nothing.
    for number in 0..100 {
        let refused = Submission {
            decisions: vec![label("", "", "26000", 1).decisions.remove(0), undo(999_999)],
            ..submission(&format!("refused {number}"), "eve", turns[0].clone())
        };
        project.submit_one(refused, 5).unwrap_err();
    }
    let took = start.elapsed();
    // Each of the 600 took one or two replays.
    assert!(
        took < 20 * replay,
        "it took {took:?}, one replay {replay:?}"
    );
    assert!(project.log().label_of("25000", "eve").is_some());
    assert!(project.log().label_of("26000", "eve").is_none());
}

#[test]
fn a_submission_does_not_undo_and_redo_much_again_and_again() {
    let mut project = much_labelled();
    let all: Vec<(String, u16)> = (20_000..29_000).map(|row| (row.to_string(), 2)).collect();
    let all: Vec<(&str, u16)> = all
        .iter()
        .map(|(item, class)| (item.as_str(), *class))
        .collect();
    let group = project.submit_one(many("all", &all), 4).unwrap().group;
    let turns = |count: usize| {
        let turns = [Decision::Undo { group }, Decision::Redo { group }];
        turns.into_iter().cycle().take(count).collect::<Vec<_>>()
    };
    let send = |project: &mut Project, key: &str, count: usize| {
        let sent = Submission {
            decisions: turns(count),
            ..submission(key, "ann", Decision::Undo { group })
        };
        assert_eq!(project.log().turned_by(&sent), 9_000 * count);
        project.submit_one(sent, 5)
    };
    send(&mut project, "ten", 10).unwrap();
    let before = project.log().version();
    let refused = send(&mut project, "twelve", 12).unwrap_err();
    assert!(
        refused.to_string().contains("too much at once"),
        "{refused}"
    );
    assert_eq!(project.log().version(), before);
    assert_eq!(project.log().live_labels().len(), 29_001);
}
