//! Side files that are torn or missing do no harm (fault S14), and a folder that cannot be written to is named (S5).

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
