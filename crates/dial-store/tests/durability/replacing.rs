//! `restore --replace` killed before any of its calls: the name of the project holds the old one or the new one, whole, and
//! the old one is somewhere. Where the file system cannot exchange two names, the name may be free for one moment: then both
//! lie beside it, whoever looks for the project is told so, and nobody makes another one of that name.

use std::path::{Path, PathBuf};

use dial_store::{Journal, Project, restore};

use crate::child::{Task, command};
use crate::common::{ITEMS, count, first, new_project, recipe, stream_length, streamed};
use crate::power::shim;

const SEED: u64 = 73;

/// Labels of the project, and of those the ones that its backup has.
const OLD: u64 = 10;
const NEW: u64 = 5;

/// In the child.
pub fn replace(folder: &Path) {
    restore(&folder.with_extension("backup"), folder, true, 5_000).unwrap();
}

fn labels(folder: &Path) -> dial_store::Result<u64> {
    let project = Project::open(folder, Journal::Wal, 6_000)?;
    Ok(stream_length(SEED, project.log().records()))
}

/// The folders beside a project that were put there.
fn beside(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.parent().unwrap()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = paths
        .filter(|path| path.to_string_lossy().contains("m.replaced-"))
        .collect();
    found.sort();
    found
}

/// How often the name held what after a restore that was killed.
#[derive(Debug, Default)]
struct Found {
    old: u64,
    new: u64,
    nothing: u64,
}

/// Kills restores before one of their calls after the other.
fn kill_at_every_call(shim: &Path, exchange: bool) -> Found {
    let mut found = Found::default();
    for call in 1..=count("DIAL_FAULTS", 40) {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().canonicalize().unwrap().join("m.dial");
        let mut project = new_project(&folder, Journal::Wal);
        for n in 0..OLD {
            project.submit_one(streamed(SEED, n), 2_000).unwrap();
            if n + 1 == NEW {
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
        if !exchange {
            child.env("DIAL_SHIM_NO_EXCHANGE", "1");
        }
        let output = child.spawn().unwrap().wait_with_output().unwrap();
        let died = output.status.code() == Some(137);
        match labels(&folder) {
            Ok(OLD) => found.old += 1,
            Ok(NEW) => {
                found.new += 1;
                let kept = beside(&folder).iter().any(|path| labels(path) == Ok(OLD));
                assert!(kept, "call {call}: the old one is gone");
            }
            Ok(other) => panic!("call {call}: {other} labels"),
            Err(error) => {
                assert!(!exchange, "call {call}: {error}");
                found.nothing += 1;
                both_are_named(&folder, &error.to_string());
            }
        }
        if !died {
            assert!(output.status.success());
            return found;
        }
    }
    panic!("a restore makes fewer calls");
}

/// The name is free: the text says where both are, and none of the ways to make a project takes the name.
fn both_are_named(folder: &Path, text: &str) {
    let [old, new] = &beside(folder)[..] else {
        panic!("{:?}", beside(folder));
    };
    for path in [old, new] {
        assert!(text.contains(path.to_str().unwrap()), "{text}");
    }
    assert_eq!((labels(old), labels(new)), (Ok(OLD), Ok(NEW)));
    let recipe = recipe(ITEMS, 1);
    let made = Project::create(folder, Journal::Wal, &recipe, None, first(4), 7_000).map(drop);
    let again = restore(&folder.with_extension("backup"), folder, true, 7_000).map(drop);
    for refused in [made, again] {
        assert_eq!(refused.unwrap_err().to_string(), text);
    }
    assert!(!folder.exists());
    // As the text says.
    std::fs::rename(new, folder).unwrap();
    assert_eq!(labels(folder), Ok(NEW));
    std::fs::rename(folder, new).unwrap();
    std::fs::rename(old, folder).unwrap();
    assert_eq!(labels(folder), Ok(OLD));
}

#[test]
fn a_project_is_replaced_in_one_step() {
    let Some(shim) = shim() else {
        println!("SKIPPED: ending a process at a call needs Linux and a C compiler (cc)");
        return;
    };
    let found = kill_at_every_call(shim, true);
    assert!(found.old > 3 && found.new > 1, "{found:?}");
    println!("{found:?}");
}

#[test]
fn a_name_that_is_free_for_a_moment_is_not_lost() {
    let Some(shim) = shim() else {
        println!("SKIPPED: ending a process at a call needs Linux and a C compiler (cc)");
        return;
    };
    let found = kill_at_every_call(shim, false);
    // Free at two calls: the sync of the step that frees it, and the last rename.
    assert!(
        found.old > 3 && found.new > 1 && found.nothing == 2,
        "{found:?}"
    );
    println!("{found:?}");
}
