//! A project is for its owner only, whatever the umask says; one that is wider is noted.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use dial_store::{Journal, Project, restore};

use crate::common::{new_project, streamed};

/// Everything in a folder that others may do anything with.
fn open_to_others(path: &Path) -> Vec<String> {
    let mode = fs::metadata(path).unwrap().permissions().mode();
    let mut found: Vec<String> = (mode & 0o077 != 0)
        .then(|| format!("{} {mode:o}", path.display()))
        .into_iter()
        .collect();
    for entry in fs::read_dir(path).into_iter().flatten() {
        found.extend(open_to_others(&entry.unwrap().path()));
    }
    found
}

#[test]
fn nobody_else_can_read_a_project_or_a_backup() {
    let place = tempfile::tempdir().unwrap();
    for journal in [Journal::Wal, Journal::Rollback] {
        let folder = place.path().join(format!("{journal:?}.dial"));
        let mut project = new_project(&folder, journal);
        project.submit_one(streamed(1, 0), 2_000).unwrap();
        project.backup_if_due(2_000).unwrap().unwrap();
        let backup = place.path().join(format!("{journal:?}.dialbackup"));
        project.backup(&backup, 2_000).unwrap();
        assert_eq!(
            open_to_others(&folder),
            Vec::<String>::new(),
            "while it is open"
        );
        assert_eq!(open_to_others(&backup), Vec::<String>::new());
        assert_eq!(project.take_notes(), Vec::<String>::new());
        drop(project);
        let restored = place.path().join(format!("{journal:?}.restored.dial"));
        restore(&backup, &restored, false, 3_000).unwrap();
        restore(&backup, &folder, true, 3_000).unwrap();
        for folder in [&folder, &restored] {
            assert_eq!(open_to_others(folder), Vec::<String>::new());
        }
    }
}

#[test]
fn a_project_that_others_may_read_is_noted() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("p.dial");
    drop(new_project(&folder, Journal::Wal));
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let mut project = Project::open(&folder, Journal::Wal, 2_000).unwrap();
    let notes = project.take_notes().join("\n");
    assert!(
        notes.contains("mode 0755") && notes.contains("chmod -R go= "),
        "{notes}"
    );
}
