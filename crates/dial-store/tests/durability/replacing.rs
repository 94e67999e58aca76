//! `restore --replace` killed before any of its calls: the name of the project holds the old one or the new one, whole, and
//! the old one is somewhere.

use std::path::Path;

use dial_store::{Journal, Project, restore};

use crate::child::{Task, command};
use crate::common::{count, new_project, stream_length, streamed};
use crate::power::shim;

const SEED: u64 = 73;

/// In the child.
pub fn replace(folder: &Path) {
    restore(&folder.with_extension("backup"), folder, true, 5_000).unwrap();
}

#[test]
fn a_project_is_replaced_in_one_step() {
    let Some(shim) = shim() else {
        println!("SKIPPED: ending a process at a call needs Linux and a C compiler (cc)");
        return;
    };
    let (mut old, mut new) = (0, 0);
    for call in 1..=count("DIAL_FAULTS", 40) {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().canonicalize().unwrap().join("m.dial");
        let mut project = new_project(&folder, Journal::Wal);
        for n in 0..10 {
            project.submit_one(streamed(SEED, n), 2_000).unwrap();
            if n == 4 {
                project
                    .backup(&folder.with_extension("backup"), 3_000)
                    .unwrap();
            }
        }
        drop(project);
        let mut child = command(Task::Replace, &folder, Journal::Wal, &[]);
        child
            .env("LD_PRELOAD", shim)
            .env("DIAL_SHIM_FOLDER", folder.parent().unwrap())
            .env("DIAL_SHIM_FAIL", call.to_string())
            .env("DIAL_SHIM_ERROR", "DIE");
        let output = child.spawn().unwrap().wait_with_output().unwrap();
        let died = output.status.code() == Some(137);
        let project = Project::open(&folder, Journal::Wal, 6_000)
            .unwrap_or_else(|error| panic!("call {call}: {error}"));
        match stream_length(SEED, project.log().records()) {
            10 => old += 1,
            5 => {
                new += 1;
                let beside = std::fs::read_dir(place.path()).unwrap();
                let aside = beside
                    .map(|entry| entry.unwrap().path())
                    .find(|path| path.to_string_lossy().contains("m.replaced-"))
                    .unwrap_or_else(|| panic!("call {call}: the old one is kept"));
                let kept = Project::open(&aside, Journal::Wal, 6_000).unwrap();
                assert_eq!(stream_length(SEED, kept.log().records()), 10, "call {call}");
            }
            other => panic!("call {call}: {other} labels"),
        }
        if !died {
            assert!(output.status.success());
            break;
        }
    }
    assert!(
        old > 3 && new > 1,
        "{old} times the old one, {new} times the new one"
    );
    println!("{old} times the old one, {new} times the new one");
}
