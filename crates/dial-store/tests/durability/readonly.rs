//! A project on a disk that can only be read: it is read, all of it, and nothing is tried there.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use dial_store::{Journal, Project};

use crate::child::{Task, command};
use crate::common::{new_project, stream_length, streamed};
use crate::kill::copy_folder;

const SEED: u64 = 74;

/// In the child, on the disk that can only be read.
pub fn read(folder: &Path) -> String {
    // One file alone, or all of it.
    let partly = match fs::write(folder.join("probe"), b"") {
        Ok(()) => ", the rest can be written",
        Err(_) => "",
    };
    let refused = Project::open(folder, Journal::Wal, 3_000).err().unwrap();
    assert_eq!(refused.code(), "S5");
    assert!(
        refused.to_string().contains("can only be read"),
        "{refused}"
    );
    match Project::open_to_read(folder, Journal::Wal, 3_000) {
        Ok(mut project) => {
            let notes = project.take_notes().join("\n");
            assert!(notes.contains("can only be read"), "{notes}");
            assert!(project.has_item("7"));
            let unproven = match notes.contains("head.witness: is missing, so that nothing proves")
            {
                true => ", unproven",
                false => "",
            };
            let labels = stream_length(SEED, project.log().records());
            format!("labels {labels}{unproven}{partly}")
        }
        Err(error) => format!("refused {error}"),
    }
}

/// Runs a child in a mount namespace of its own, with a folder that can only be read there; none where that is not allowed.
fn inside(folder: &Path) -> Option<String> {
    with_read_only(folder, "")
}

/// The same where only this file in the folder, if one is named, can only be read.
fn with_read_only(folder: &Path, file: &str) -> Option<String> {
    const MOUNT: &str = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\"";
    let child = command(Task::Read, folder, Journal::Wal, &[]);
    let run = |script: &str| {
        let mut shell = Command::new("unshare");
        shell
            .args(["--user", "--map-root-user", "--mount", "sh", "-ec"])
            .arg(script)
            .arg("sh")
            .arg(match file {
                "" => folder.to_path_buf(),
                file => folder.join(file),
            })
            .arg(child.get_program())
            .args(child.get_args())
            .envs(
                child
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .stdin(Stdio::null());
        shell.output()
    };
    if !run(MOUNT).is_ok_and(|output| output.status.success()) {
        println!(
            "SKIPPED: a disk that can only be read needs the right to mount one (unshare --user --mount)"
        );
        return None;
    }
    let output = run(&format!("{MOUNT}; shift; exec \"$@\"")).unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = text.lines().find_map(|line| line.strip_prefix("> "));
    Some(
        said.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
            .into(),
    )
}

#[test]
fn a_project_that_cannot_be_written_to_can_be_read() {
    let place = tempfile::tempdir().unwrap();
    let (open, killed) = (
        place.path().join("p.dial"),
        place.path().join("killed.dial"),
    );
    let mut project = new_project(&open, Journal::Wal);
    for n in 0..20 {
        project.submit_one(streamed(SEED, n), 2_000).unwrap();
        if n == 14 {
            project.backup_if_due(2_000).unwrap().unwrap();
        }
    }
    copy_folder(&open, &killed);
    // Somebody else has it: it is not read half-way.
    let Some(said) = inside(&open) else { return };
    assert!(
        said.starts_with("refused") && said.contains("is open in another process"),
        "{said}"
    );
    drop(project);
    assert_eq!(inside(&open).unwrap(), "labels 20");
    // The log of SQLite beside it counts.
    assert!(fs::metadata(killed.join("project.db-wal")).unwrap().len() > 0);
    let before = fs::read(killed.join("project.db-wal")).unwrap();
    assert_eq!(inside(&killed).unwrap(), "labels 20");
    assert_eq!(fs::read(killed.join("project.db-wal")).unwrap(), before);
    // And so does the witness.
    fs::remove_file(killed.join("project.db-wal")).unwrap();
    let said = inside(&killed).unwrap();
    assert!(
        said.contains("20 events that were stored are missing"),
        "{said}"
    );
    let (path, ways) = (killed.display(), said.split("Its newest backup").nth(1));
    let ways = ways.unwrap_or_else(|| panic!("{said}"));
    assert!(ways.contains(&format!("--project {path} ")), "{said}");
    assert!(ways.contains(&format!("dial recover {path}.")), "{said}");
    // Without a witness the newest backup speaks, and without one there is nothing but a note.
    fs::remove_file(killed.join("head.witness")).unwrap();
    let said = inside(&killed).unwrap();
    assert!(
        said.contains("the newest backup knows of them") && said.contains(&path.to_string()),
        "{said}"
    );
    fs::remove_dir_all(killed.join("backups")).unwrap();
    fs::write(killed.join("project.db-wal"), &before[..before.len() / 2]).unwrap();
    let said = inside(&killed).unwrap();
    assert!(
        said.starts_with("labels") && said.ends_with(", unproven"),
        "{said}"
    );
}

/// A file beside the database that can only be read is said to be that, and not a disk that fails.
#[test]
fn a_project_with_one_file_that_cannot_be_written_to_can_be_read() {
    let place = tempfile::tempdir().unwrap();
    let (open, killed) = (
        place.path().join("p.dial"),
        place.path().join("killed.dial"),
    );
    let mut project = new_project(&open, Journal::Wal);
    for n in 0..20 {
        project.submit_one(streamed(SEED, n), 2_000).unwrap();
    }
    copy_folder(&open, &killed);
    drop(project);
    for (folder, file) in [
        (&open, "head.witness"),
        (&open, "project.db"),
        (&killed, "head.witness"),
        (&killed, "project.db-wal"),
    ] {
        let Some(said) = with_read_only(folder, file) else {
            return;
        };
        assert_eq!(said, "labels 20, the rest can be written", "{file}");
    }
}
