//! A disk that is really full (fault S3): 1 MiB in a mount namespace of our own.

use std::path::Path;
use std::process::{Command, Stdio};

use dial_store::{Folder, Journal, Project};

use crate::child::{Task, command};
use crate::common::{new_project, stream_length, streamed};

/// In the child, on the small disk: fill it, free some of it, go on.
pub fn fill(folder: &Path, journal: Journal) {
    let ballast = folder.parent().unwrap().join("ballast");
    std::fs::write(&ballast, vec![7u8; 400 << 10]).unwrap();
    let mut project = new_project(folder, journal);
    // A backup that somebody asks for would take the space that is kept for labels.
    let refused = Folder(folder.into()).asked_backup(2_000).unwrap_err();
    assert_eq!(refused.code(), "S3", "{refused}");
    assert!(refused.to_string().contains("kept for labels"), "{refused}");
    let mut acked = 0;
    let error = loop {
        match project.submit_one(streamed(41, acked), 2_000) {
            Ok(receipt) => assert!(!receipt.repeated),
            Err(error) => break error,
        }
        acked += 1;
        assert!(acked < 100_000, "the disk is never full");
    };
    assert_eq!(error.code(), "S3", "{error}");
    assert!(error.to_string().contains("not saved"), "{error}");
    assert!(acked > 20, "{acked}");
    // As long as it is full, what is there can be read, and what is sent is refused (or fits after all, into what the
    // refusal gave back).
    assert_eq!(stream_length(41, project.log().records()), acked);
    for _ in 0..5 {
        match project.submit_one(streamed(41, acked), 2_000) {
            Ok(_) => acked += 1,
            Err(error) => assert_eq!(error.code(), "S3", "{error}"),
        }
    }
    std::fs::remove_file(&ballast).unwrap();
    for n in acked..acked + 15 {
        project.submit_one(streamed(41, n), 3_000).unwrap();
    }
    drop(project);
    let project = Project::open(folder, journal, 4_000).unwrap();
    assert_eq!(stream_length(41, project.log().records()), acked + 15);
    println!("{acked} acknowledged before the disk was full, 15 after");
}

#[test]
fn a_full_disk_refuses_labels_and_takes_them_again_once_there_is_room() {
    let place = tempfile::tempdir().unwrap();
    let mount = place.path().canonicalize().unwrap().join("small");
    std::fs::create_dir(&mount).unwrap();
    let inside = |script: &str| {
        let mut shell = Command::new("unshare");
        shell
            .args(["--user", "--map-root-user", "--mount", "sh", "-ec"])
            .arg(script)
            .arg("sh")
            .arg(&mount);
        shell.stdin(Stdio::null());
        shell
    };
    const MOUNT: &str = "mount -t tmpfs -o size=1m tmpfs \"$1\"";
    if !inside(MOUNT)
        .output()
        .is_ok_and(|output| output.status.success())
    {
        println!("SKIPPED: a small disk needs the right to mount one (unshare --user --mount)");
        return;
    }
    for journal in [Journal::Wal, Journal::Rollback] {
        let child = command(Task::Fill, &mount.join("full.dial"), journal, &[]);
        let mut shell = inside(&format!("{MOUNT}; shift; exec \"$@\""));
        shell.arg(child.get_program()).args(child.get_args());
        shell.envs(
            child
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        let output = shell.output().unwrap();
        assert!(
            output.status.success(),
            "{journal:?}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
