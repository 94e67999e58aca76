//! Writes, syncs and truncations that fail, each call in its turn (faults S3 and S4): a typed error, nothing acknowledged lost,
//! and work goes on once the disk does.

use std::path::Path;
use std::process::Output;

use dial_store::{Journal, Project};

use crate::child::{Report, Task, command};
use crate::common::{count, new_project, stream_length, streamed};
use crate::power::shim;

const SEED: u64 = 31;

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fault {
    error: &'static str,
    lasting: bool,
}

const FAULTS: [Fault; 5] = [
    Fault {
        error: "EIO",
        lasting: false,
    },
    Fault {
        error: "EIO",
        lasting: true,
    },
    Fault {
        error: "ENOSPC",
        lasting: false,
    },
    Fault {
        error: "ENOSPC",
        lasting: true,
    },
    Fault {
        error: "SHORT",
        lasting: true,
    },
];

/// Runs a child whose n-th call fails.
fn run(
    task: Task,
    folder: &Path,
    journal: Journal,
    labels: u64,
    shim: &Path,
    (n, fault): (u64, Fault),
) -> (Report, Output) {
    let mut command = command(task, folder, journal, &[("seed", SEED), ("count", labels)]);
    command
        .env("LD_PRELOAD", shim)
        .env("DIAL_SHIM_FAIL", n.to_string())
        .env("DIAL_SHIM_ERROR", fault.error);
    // A project appears under another name first.
    let watched = if task == Task::Create {
        folder.parent().unwrap()
    } else {
        folder
    };
    command.env("DIAL_SHIM_FOLDER", watched);
    if fault.lasting {
        command.env("DIAL_SHIM_LASTING", "1");
    }
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    let mut report = Report::default();
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| line.strip_prefix("> "))
        .for_each(|line| report.take(line));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && !errors.contains("panicked"),
        "call {n}, {fault:?}: {errors}"
    );
    (report, output)
}

/// Whether a code is right for what the shim did.
fn check_code(error: &str, fault: Fault, calls: &str) {
    let code = error.split(' ').next().unwrap();
    assert!(code.starts_with('S'), "{error}");
    let only_writes = calls.lines().all(|call| call.starts_with("shim: write"));
    if fault.error == "ENOSPC" && only_writes && !fault.lasting {
        assert_eq!(code, "S3", "{calls}{error}");
    }
}

fn sweep(journal: Journal, calls: u64) {
    let Some(shim) = shim() else {
        println!("SKIPPED: failing disks need Linux and a C compiler (cc)");
        return;
    };
    // Enough for the last call to be met: a label takes more than four.
    let labels = 3 + calls / 4;
    let (mut refused, mut reached) = (0, 0);
    for fault in FAULTS {
        for n in 1..=calls {
            let place = tempfile::tempdir().unwrap();
            let folder = place.path().canonicalize().unwrap().join("faulty.dial");
            drop(new_project(&folder, journal));
            let (report, output) = run(Task::Insist, &folder, journal, labels, shim, (n, fault));
            let hit = String::from_utf8_lossy(&output.stderr).into_owned();
            reached += u64::from(hit.contains("shim: "));
            refused += report.fails.len();
            let unopened = report
                .others
                .iter()
                .filter_map(|line| line.strip_prefix("unopened "));
            let codes = report.fails.iter().map(|(_, code)| code.as_str());
            codes
                .chain(unopened)
                .for_each(|code| check_code(code, fault, &hit));
            // A fault that passes is got over by sending again; a write that stops half-way is not even seen.
            if !fault.lasting || fault.error == "SHORT" {
                assert_eq!(
                    report.acks.len() as u64,
                    labels,
                    "call {n}, {fault:?}: {report:?}"
                );
                assert!(
                    report.others.iter().any(|line| line == "done"),
                    "{report:?}"
                );
            }
            let mut project = Project::open(&folder, journal, 4_000).unwrap();
            let stored = stream_length(SEED, project.log().records());
            for (key, seq) in &report.acks {
                let records = project
                    .log()
                    .submission(key)
                    .unwrap_or_else(|| panic!("call {n}, {fault:?}: {key} is lost"));
                assert_eq!(records[0].seq, *seq);
            }
            // What failed is not there, or there once; sending it again gets its receipt.
            for label in 0..labels {
                let receipt = project.submit_one(streamed(SEED, label), 5_000).unwrap();
                assert_eq!(receipt.repeated, label < stored);
            }
            assert_eq!(
                stream_length(SEED, project.log().records()),
                labels.max(stored)
            );
        }
    }
    assert!(
        reached == calls * FAULTS.len() as u64 && refused > 0,
        "the faults were met"
    );
    println!(
        "{journal:?}: {} runs, {reached} with a failing call, {refused} labels refused, none lost",
        calls * FAULTS.len() as u64
    );
}

#[test]
fn every_failing_call_is_an_error_and_loses_nothing() {
    sweep(Journal::Wal, count("DIAL_FAULTS", 40));
}

#[test]
fn every_failing_call_is_an_error_and_loses_nothing_with_a_rollback_journal() {
    sweep(Journal::Rollback, count("DIAL_FAULTS", 40).div_ceil(2));
}

#[test]
fn a_project_is_made_whole_or_not_at_all() {
    let Some(shim) = shim() else {
        println!("SKIPPED: failing disks need Linux and a C compiler (cc)");
        return;
    };
    let (mut made, mut refused) = (0, 0);
    for fault in FAULTS {
        for n in 1..=count("DIAL_FAULTS", 40) {
            let place = tempfile::tempdir().unwrap();
            let parent = place.path().canonicalize().unwrap();
            let folder = parent.join("new.dial");
            let (report, output) = run(Task::Create, &folder, Journal::Wal, 0, shim, (n, fault));
            let error = report
                .others
                .iter()
                .find_map(|line| line.strip_prefix("uncreated "));
            if let Some(error) = error {
                check_code(error, fault, &String::from_utf8_lossy(&output.stderr));
                refused += 1;
            }
            if folder.exists() {
                let project = Project::open(&folder, Journal::Wal, 4_000).unwrap();
                assert_eq!(stream_length(SEED, project.log().records()), 0);
                made += 1;
            } else {
                assert!(error.is_some(), "{report:?}");
                assert_eq!(
                    std::fs::read_dir(&parent).unwrap().count(),
                    0,
                    "nothing is left behind"
                );
                drop(new_project(&folder, Journal::Wal));
            }
        }
    }
    assert!(made > 0 && refused > 0, "{made} made, {refused} refused");
}
