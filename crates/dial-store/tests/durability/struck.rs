//! Files beside the database that are deleted, replaced or cut while the project is open: an answer that went into such a
//! file is not acknowledged, and what was acknowledged before is written again from memory.

use std::fs::{self, File};
use std::path::Path;

use dial::seed::{Purpose, Random};
use dial_store::{Journal, Project};

use crate::common::{count, new_project, stream_length, streamed};
use crate::kill::{Victim, copy_folder};
use crate::power::shim;

const SEED: u64 = 72;

/// What happens behind the back of an open project.
#[derive(Clone, Copy, Debug)]
enum Blow {
    WalDeleted,
    WalMovedAway,
    WalReplaced,
    WalEmptied,
    WalCut,
    WalOverwritten,
    WitnessDeleted,
    WitnessReplaced,
}

const BLOWS: [Blow; 8] = [
    Blow::WalDeleted,
    Blow::WalMovedAway,
    Blow::WalReplaced,
    Blow::WalEmptied,
    Blow::WalCut,
    Blow::WalOverwritten,
    Blow::WitnessDeleted,
    Blow::WitnessReplaced,
];

fn strike(blow: Blow, folder: &Path, other: &Path) {
    let (wal, witness) = (folder.join("project.db-wal"), folder.join("head.witness"));
    let cut = |length: u64| {
        let file = File::options().write(true).open(&wal).unwrap();
        file.set_len(length).unwrap();
    };
    let replace = |name: &str| {
        fs::copy(other.join(name), folder.join("new")).unwrap();
        fs::rename(folder.join("new"), folder.join(name)).unwrap();
    };
    let length = fs::metadata(&wal).unwrap().len();
    match blow {
        Blow::WalDeleted => fs::remove_file(&wal).unwrap(),
        Blow::WalMovedAway => fs::rename(&wal, folder.join("elsewhere")).unwrap(),
        Blow::WalReplaced => replace("project.db-wal"),
        Blow::WalEmptied => cut(0),
        Blow::WalCut => cut(length * 2 / 3),
        Blow::WalOverwritten => {
            // The hole that a cut leaves once SQLite has written past it.
            cut(length * 2 / 3);
            cut(length);
        }
        Blow::WitnessDeleted => fs::remove_file(&witness).unwrap(),
        Blow::WitnessReplaced => replace("head.witness"),
    }
}

fn send(project: &mut Project, labels: std::ops::Range<u64>) -> Vec<u64> {
    labels
        .filter(|&n| project.submit_one(streamed(SEED, n), 2_000).is_ok())
        .collect()
}

/// What a kill at this moment would leave.
fn after_a_kill(folder: &Path) -> Project {
    let copy = folder.with_extension("killed");
    let _ = fs::remove_dir_all(&copy);
    copy_folder(folder, &copy);
    Project::open(&copy, Journal::Wal, 5_000).unwrap()
}

#[test]
fn no_answer_is_acknowledged_into_a_file_that_was_struck() {
    for blow in BLOWS {
        let place = tempfile::tempdir().unwrap();
        let (folder, other) = (place.path().join("p.dial"), place.path().join("other.dial"));
        let mut theirs = new_project(&other, Journal::Wal);
        send(&mut theirs, 0..30);
        let mut project = new_project(&folder, Journal::Wal);
        assert_eq!(send(&mut project, 0..20).len(), 20);
        strike(blow, &folder, &other);
        let acked = send(&mut project, 20..25);
        assert_eq!(acked, [20, 21, 22, 23, 24], "{blow:?}: the work goes on");
        let left = after_a_kill(&folder);
        assert_eq!(stream_length(SEED, left.log().records()), 25, "{blow:?}");
        drop(project);
        let project = Project::open(&folder, Journal::Wal, 6_000).unwrap();
        assert_eq!(stream_length(SEED, project.log().records()), 25, "{blow:?}");
    }
}

/// The same where nothing is sent after the blow, and the project is only closed.
#[test]
fn what_a_struck_file_held_is_written_again_when_the_project_is_closed() {
    for blow in BLOWS {
        let place = tempfile::tempdir().unwrap();
        let (folder, other) = (place.path().join("p.dial"), place.path().join("other.dial"));
        let mut theirs = new_project(&other, Journal::Wal);
        send(&mut theirs, 0..30);
        let mut project = new_project(&folder, Journal::Wal);
        send(&mut project, 0..20);
        strike(blow, &folder, &other);
        drop(project);
        let project = Project::open(&folder, Journal::Wal, 6_000)
            .unwrap_or_else(|error| panic!("{blow:?}: {error}"));
        assert_eq!(stream_length(SEED, project.log().records()), 20, "{blow:?}");
        // What was struck and is still there in some form is kept.
        let kept = folder.join("aside").is_dir();
        let damaged = matches!(
            blow,
            Blow::WalReplaced | Blow::WalEmptied | Blow::WalCut | Blow::WalOverwritten
        );
        assert!(kept || !damaged, "{blow:?}");
    }
}

/// The log of SQLite is deleted before each write and sync in turn, those between the commit and its acknowledgement too;
/// then the process is killed.
#[test]
fn there_is_no_moment_at_which_a_deleted_log_is_acknowledged() {
    let Some(shim) = shim() else {
        println!("SKIPPED: failing disks need Linux and a C compiler (cc)");
        return;
    };
    let (mut random, mut whole) = (Random::new(SEED, Purpose::User, 0), 0);
    for call in 1..=count("DIAL_FAULTS", 130) {
        let victim = Victim::new(SEED, Journal::Wal);
        let number = call.to_string();
        let settings = [
            ("LD_PRELOAD", shim),
            ("DIAL_SHIM_FOLDER", victim.folder.as_path()),
            ("DIAL_SHIM_FAIL", Path::new(&number)),
            ("DIAL_SHIM_UNLINK", &victim.folder.join("project.db-wal")),
        ];
        let life = victim.live(&mut random, &settings);
        match Project::open(&victim.folder, Journal::Wal, 4_000) {
            Ok(project) => {
                let stored = stream_length(SEED, project.log().records());
                assert!(
                    stored >= life.acked,
                    "call {call}: {} acknowledged, silently {stored} stored",
                    life.acked
                );
                whole += 1;
            }
            // Killed between the deletion and the check that would have noticed it.
            Err(error) => assert!(
                error.to_string().contains("missing"),
                "call {call}: {error}"
            ),
        }
    }
    assert!(whole > 0, "most of them go on");
    println!("{whole} went on");
}

#[test]
fn a_folder_that_was_moved_is_named() {
    let place = tempfile::tempdir().unwrap();
    let (folder, moved) = (place.path().join("p.dial"), place.path().join("moved.dial"));
    let mut project = new_project(&folder, Journal::Wal);
    send(&mut project, 0..5);
    fs::rename(&folder, &moved).unwrap();
    for n in 5..8 {
        let refused = project.submit_one(streamed(SEED, n), 3_000).unwrap_err();
        let text = refused.to_string();
        assert_eq!(refused.code(), "S5", "{text}");
        assert!(
            text.contains("p.dial: the folder was moved or deleted while it was open"),
            "{text}"
        );
    }
    fs::rename(&moved, &folder).unwrap();
    assert_eq!(send(&mut project, 5..8), [5, 6, 7]);
}
