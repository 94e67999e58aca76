//! A project that version 3 of the method made is the same project now.
//!
//! `fixtures/version-3/project.db` was written by the command of commit 35081a9, in a folder with `moons.csv`:
//!
//! ```text
//! dial new moons.csv --classes up,down --k 6 --seed 7
//! dial tell moons.dial 28 up
//! dial tell moons.dial 0 down --annotator ann
//! dial class moons.dial rename up above
//! dial tell moons.dial 20 above:0.75 down:0.25 --annotator ann
//! dial skip moons.dial 19
//! dial exclude moons.dial 39
//! dial tell moons.dial 3 above
//! dial undo moons.dial
//! dial tell moons.dial 28 down        refused and stored as conflict 13
//! dial tell moons.dial 28 above       known
//! ```
//!
//! The numbers below are what `dial ask moons.dial --count 3 --quiet`, `dial ask moons.dial --json` and
//! `dial predict moons.dial --item 3 --item 36 --json` of the same command printed then.

use std::path::{Path, PathBuf};

use dial::{ClassId, Control, NodeId};
use dial_store::{Decision, Follower, Journal, News, Project, Submission};

const NOW: u64 = 1_800_000_000_000;

/// The events of the log, and the end of their chain: the table `head`.
const EVENTS: u64 = 14;
const HEAD: &str = "dc143da301e794318fafdc3f955028f5b942d1ddc0065e9beab0e484fb3bd552";

/// The project and its pool, in a folder that is not the one they were made in.
fn moved() -> (tempfile::TempDir, PathBuf) {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/version-3");
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("moons.dial");
    std::fs::create_dir(&project).unwrap();
    std::fs::copy(fixture.join("project.db"), project.join("project.db")).unwrap();
    std::fs::copy(fixture.join("moons.csv"), folder.path().join("moons.csv")).unwrap();
    (folder, project)
}

fn open(project: &Path) -> Project {
    Project::open(project, Journal::Wal, NOW).unwrap()
}

/// An item, who labelled it, and its classes with weights.
type Label<'a> = (&'a str, &'a str, Vec<(u16, f64)>);

#[test]
fn its_log_is_whole_and_says_what_it_said() {
    let (_folder, place) = moved();
    let mut project = open(&place);
    // The ids of the pool run against its rows, so that neither can be taken for the other.
    let ids: Vec<String> = (0..40).rev().map(|id| id.to_string()).collect();
    assert_eq!(project.item_ids().unwrap(), ids);
    let log = project.log();
    assert_eq!(
        (log.version(), hex::encode(log.head())),
        (EVENTS, HEAD.into())
    );
    let recipe = log.recipe().unwrap();
    assert_eq!(
        (recipe.method_version, recipe.config.k, recipe.config.seed),
        (3, 6, 7)
    );
    assert_eq!(recipe.pool, "/tmp/version-3/moons.csv");
    let names: Vec<&str> = log
        .labels()
        .schema()
        .iter()
        .map(|class| class.name.as_str())
        .collect();
    assert_eq!(names, ["above", "down"]);
    let labels: Vec<Label<'_>> = log
        .live_labels()
        .iter()
        .map(|label| {
            let classes = label
                .classes
                .iter()
                .map(|(class, weight)| (class.0, *weight));
            (label.item, label.annotator, classes.collect())
        })
        .collect();
    let expected = [
        ("28", "", vec![(0, 1.0)]),
        ("0", "ann", vec![(1, 1.0)]),
        ("20", "ann", vec![(0, 0.75), (1, 0.25)]),
    ];
    assert_eq!(labels, expected);
    let marks = ["19", "39", "3"].map(|item| log.labels().marks_of(item));
    assert_eq!(marks, [(true, false), (false, true), (false, false)]);
    let conflicts: Vec<u64> = log.conflicts().map(|record| record.seq).collect();
    assert_eq!(conflicts, [13]);
}

#[test]
fn it_asks_and_believes_as_it_did() {
    let (_folder, place) = moved();
    let control = Control::new();
    let mut project = open(&place);
    let (prepared, notes) = project.prepared(&control, NOW).unwrap();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("version 3 of the method"), "{notes:?}");
    assert!(!prepared.changed);
    assert_eq!(
        project.log().version(),
        EVENTS,
        "a pool that moved with its project is the same pool"
    );
    let follower = Follower::new(&prepared.engine, News::whole(project.log()), &control).unwrap();
    let session = follower.session();
    let questions = session.ask(3).unwrap().questions;
    let items: Vec<&str> = questions.iter().map(|one| one.item.as_str()).collect();
    assert_eq!(items, ["18", "38", "22"]);
    let first = session.ask(1).unwrap().questions.remove(0);
    assert_eq!((first.item.as_str(), first.node), ("18", NodeId(21)));
    assert_near(first.score, 0.6940149901256756);
    let above = |id: &str| {
        let node = prepared.engine.items.node(id).unwrap();
        session.prediction(node).probabilities[0]
    };
    assert_near(above("18"), 0.10071240015346485);
    assert_near(above("3"), 3.592939210457782e-6);
    assert_near(above("36"), 0.9944321878799467);
}

#[track_caller]
fn assert_near(found: f64, printed: f64) {
    assert!(
        (found - printed).abs() <= 1e-12 * printed,
        "{found} {printed}"
    );
}

#[test]
fn its_log_goes_on() {
    let (_folder, place) = moved();
    let mut project = open(&place);
    let submission = Submission {
        key: "k".into(),
        decisions: vec![Decision::label("18", ClassId(1))],
        ..Submission::default()
    };
    project.submit_one(submission, NOW).unwrap();
    drop(project);
    let mut project = open(&place);
    assert_eq!(project.log().version(), EVENTS + 1);
    assert_eq!(project.item_ids().unwrap()[0], "39");
    assert_eq!(project.log().live_labels().len(), 4);
}
