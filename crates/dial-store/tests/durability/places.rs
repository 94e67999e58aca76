//! Side files that are torn or missing do no harm (fault S14), and a folder that cannot be written to is named (S5).

use std::fs;
use std::path::Path;

use dial_store::{Journal, Project};

use crate::common::{new_project, stream_length, streamed};

const SEED: u64 = 81;

#[test]
fn side_files_may_be_torn_or_missing() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("p.dial");
    drop(new_project(&folder, Journal::Wal));
    let torn: [Option<&[u8]>; 4] = [None, Some(b""), Some(b"{\"pid\": 4"), Some(&[0xff; 5000])];
    let mut labels = 0;
    for name in [
        "lock",
        "holder.json",
        "graph.dialgraph",
        "server.json",
        "backups",
        ".p.dial.1.part",
    ] {
        for bytes in torn {
            let file = folder.join(name);
            let _ = std::fs::remove_file(&file);
            if let Some(bytes) = bytes {
                std::fs::write(&file, bytes).unwrap();
            }
            let mut project = Project::open(&folder, Journal::Wal, 2_000).unwrap();
            // And while it is open.
            let _ = std::fs::remove_file(&file);
            project.submit_one(streamed(SEED, labels), 3_000).unwrap();
            labels += 1;
            drop(project);
            let project = Project::open(&folder, Journal::Wal, 4_000).unwrap();
            assert_eq!(
                stream_length(SEED, project.log().records()),
                labels,
                "{name}"
            );
        }
    }
}

/// Whether the system lets us write where the permissions say no, as it does for root.
fn permissions_bind(folder: &Path) -> bool {
    std::fs::write(folder.join("probe"), b"").is_err()
}

#[test]
#[cfg(unix)]
fn a_folder_that_cannot_be_written_to_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("p.dial");
    drop(new_project(&folder, Journal::Wal));
    std::fs::remove_file(folder.join("lock")).unwrap();
    let set =
        |mode| std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
    set(0o500);
    if !permissions_bind(&folder) {
        set(0o700);
        println!("SKIPPED: permissions do not bind this user (root)");
        return;
    }
    let refused = Project::open(&folder, Journal::Wal, 2_000).err().unwrap();
    set(0o700);
    assert_eq!(refused.code(), "S5");
    assert!(refused.to_string().contains("p.dial"), "{refused}");
    Project::open(&folder, Journal::Wal, 2_000).unwrap();
}

/// A pipe where a file belongs would be waited for for ever, a link leads to the file of somebody else.
#[cfg(unix)]
#[test]
fn what_is_no_plain_file_is_refused_and_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let (folder, victim) = (place.path().join("p.dial"), place.path().join("victim"));
    fs::write(&victim, "mine").unwrap();
    let names = [
        "project.db",
        "project.db-wal",
        "project.db-journal",
        "head.witness",
        "graph.dialgraph",
        "server.json",
        "holder.json",
        "lock",
    ];
    for name in names {
        for (what, said) in [
            ("pipe", "a pipe"),
            ("folder", "a folder"),
            ("link", "a link"),
        ] {
            let _ = fs::remove_dir_all(&folder);
            drop(new_project(&folder, Journal::Wal));
            let file = folder.join(name);
            let _ = fs::remove_file(&file);
            match what {
                "pipe" => {
                    let made = std::process::Command::new("mkfifo").arg(&file).status();
                    assert!(made.unwrap().success());
                }
                "folder" => fs::create_dir(&file).unwrap(),
                _ => std::os::unix::fs::symlink(&victim, &file).unwrap(),
            }
            let opened = [
                Project::open(&folder, Journal::Wal, 2_000).err(),
                Project::open_to_read(&folder, Journal::Wal, 2_000).err(),
                dial_store::recover(&folder, true, 2_000).err(),
            ];
            for refused in opened {
                let refused = refused.unwrap();
                assert_eq!(refused.code(), "S5", "{name} {what}: {refused}");
                let text = refused.to_string();
                assert!(text.contains(name) && text.contains(said), "{text}");
            }
        }
    }
    assert_eq!(fs::read(&victim).unwrap(), b"mine");
}

#[cfg(unix)]
#[test]
fn a_link_at_the_name_of_a_part_is_not_followed() {
    let place = tempfile::tempdir().unwrap();
    let (folder, victim) = (place.path().join("p.dial"), place.path().join("victim"));
    drop(new_project(&folder, Journal::Wal));
    fs::write(&victim, "mine").unwrap();
    std::os::unix::fs::symlink(&victim, folder.join("holder.part")).unwrap();
    let project = Project::open(&folder, Journal::Wal, 2_000).unwrap();
    assert_eq!(fs::read(&victim).unwrap(), b"mine");
    assert!(
        fs::read(folder.join("holder.json"))
            .unwrap()
            .starts_with(b"{")
    );
    drop(project);
}

/// SQLite has the old file still, and would write into it.
#[cfg(unix)]
#[test]
fn a_database_that_becomes_a_link_to_itself_is_noticed() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("p.dial");
    let mut project = new_project(&folder, Journal::Wal);
    let database = folder.join("project.db");
    fs::rename(&database, place.path().join("moved.db")).unwrap();
    std::os::unix::fs::symlink(place.path().join("moved.db"), &database).unwrap();
    let refused = project.submit_one(crate::common::streamed(1, 0), 2_000);
    assert!(refused.is_err());
}
