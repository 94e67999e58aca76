//! Files that are cut short, deleted or replaced, while the project is open and while it is closed (faults S5 and S9).

use std::path::{Path, PathBuf};

use dial_store::{Journal, Project};
use rusqlite::Connection;

use crate::common::{new_project, stream_length, streamed};
use crate::kill::copy_folder;

const SEED: u64 = 71;

/// A project with labels, closed.
fn closed(place: &Path, name: &str, labels: u64) -> PathBuf {
    let folder = place.join(name);
    send(&mut new_project(&folder, Journal::Wal), 0..labels);
    folder
}

/// Labels of the stream that are taken.
fn send(project: &mut Project, labels: std::ops::Range<u64>) {
    for n in labels {
        project.submit_one(streamed(SEED, n), 2_000).unwrap();
    }
}

/// Names and bytes of all files but those of the lock, and but for an empty log of SQLite, which says nothing.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|file| !file.ends_with("lock") && !file.ends_with("holder.json"));
    files.sort();
    let files = files
        .into_iter()
        .map(|file| (file.clone(), std::fs::read(file).unwrap()));
    files
        .filter(|(file, bytes)| !(file.ends_with("project.db-wal") && bytes.is_empty()))
        .collect()
}

#[test]
fn a_closed_project_that_was_cut_short_is_refused_and_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let folder = closed(place.path(), "cut.dial", 60);
    let file = folder.join("project.db");
    let whole = std::fs::read(&file).unwrap();
    for length in [
        0,
        1,
        50,
        99,
        100,
        512,
        4095,
        4096,
        4097,
        8192,
        whole.len() / 2,
        whole.len() - 4096,
        whole.len() - 1,
    ] {
        std::fs::write(&file, &whole[..length]).unwrap();
        let before = files(&folder);
        let refused = Project::open(&folder, Journal::Wal, 3_000)
            .err()
            .unwrap_or_else(|| panic!("{length} bytes"));
        assert!(
            ["S5", "S9"].contains(&refused.code()),
            "{length}: {refused}"
        );
        assert!(files(&folder) == before, "{length} bytes: {refused}");
    }
    std::fs::write(&file, &whole).unwrap();
    let project = Project::open(&folder, Journal::Wal, 3_000).unwrap();
    assert_eq!(stream_length(SEED, project.log().records()), 60);
}

/// SQLite would delete its log if the database beside it is empty; the log may hold all labels there are.
#[test]
fn an_empty_database_does_not_take_the_log_of_sqlite_with_it() {
    let place = tempfile::tempdir().unwrap();
    let (folder, killed) = (
        place.path().join("p.dial"),
        place.path().join("killed.dial"),
    );
    let mut project = new_project(&folder, Journal::Wal);
    send(&mut project, 0..30);
    copy_folder(&folder, &killed);
    let database = std::fs::read(killed.join("project.db")).unwrap();
    std::fs::write(killed.join("project.db"), b"").unwrap();
    let before = files(&killed);
    let refused = Project::open(&killed, Journal::Wal, 3_000).err().unwrap();
    assert_eq!(refused.code(), "S9", "{refused}");
    assert!(files(&killed) == before);
    std::fs::write(killed.join("project.db"), database).unwrap();
    let project = Project::open(&killed, Journal::Wal, 3_000).unwrap();
    assert_eq!(stream_length(SEED, project.log().records()), 30);
}

#[test]
fn what_is_not_a_project_is_refused_and_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let none = Project::open(&place.path().join("none.dial"), Journal::Wal, 0)
        .err()
        .unwrap();
    assert_eq!(none.code(), "S5");
    assert!(!place.path().join("none.dial").exists());
    let folder = place.path().join("other.dial");
    std::fs::create_dir(&folder).unwrap();
    assert_eq!(
        Project::open(&folder, Journal::Wal, 0)
            .err()
            .unwrap()
            .code(),
        "S5"
    );
    // Some database of somebody else.
    let other = Connection::open(folder.join("project.db")).unwrap();
    other
        .execute_batch("CREATE TABLE birds (name TEXT); INSERT INTO birds VALUES ('wren');")
        .unwrap();
    drop(other);
    let before = files(&folder);
    for journal in [Journal::Wal, Journal::Rollback] {
        assert_eq!(
            Project::open(&folder, journal, 0).err().unwrap().code(),
            "S5"
        );
        assert!(files(&folder) == before, "{journal:?}");
    }
    std::fs::write(
        folder.join("project.db"),
        "not a database at all, but long enough to be one. ".repeat(200),
    )
    .unwrap();
    let before = files(&folder);
    let refused = Project::open(&folder, Journal::Wal, 0).err().unwrap();
    assert!(["S5", "S9"].contains(&refused.code()), "{refused}");
    assert!(files(&folder) == before);
}

/// What happens to the database behind the back of an open project.
#[derive(Clone, Copy, Debug)]
enum Blow {
    Deleted,
    MovedAway,
    ReplacedByAnother,
    ReplacedByAnOldCopy,
    Emptied,
    CutShort,
}

fn strike(blow: Blow, folder: &Path, other: &Path, old: &Path) {
    let file = folder.join("project.db");
    match blow {
        Blow::Deleted => std::fs::remove_file(&file).unwrap(),
        Blow::MovedAway => std::fs::rename(&file, folder.join("elsewhere.db")).unwrap(),
        Blow::ReplacedByAnother => replace(&other.join("project.db"), &file),
        Blow::ReplacedByAnOldCopy => replace(&old.join("project.db"), &file),
        Blow::Emptied => std::fs::File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_len(0)
            .unwrap(),
        Blow::CutShort => std::fs::File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_len(4096)
            .unwrap(),
    }
}

fn replace(new: &Path, file: &Path) {
    let part = file.with_extension("new");
    std::fs::copy(new, &part).unwrap();
    std::fs::rename(part, file).unwrap();
}

#[test]
fn a_database_struck_while_open_stops_the_work_and_is_not_made_anew() {
    for blow in [
        Blow::Deleted,
        Blow::MovedAway,
        Blow::ReplacedByAnother,
        Blow::ReplacedByAnOldCopy,
        Blow::Emptied,
        Blow::CutShort,
    ] {
        let place = tempfile::tempdir().unwrap();
        let other = closed(place.path(), "other.dial", 3);
        let folder = closed(place.path(), "struck.dial", 10);
        let old = place.path().join("old.dial");
        copy_folder(&folder, &old);
        let mut project = Project::open(&folder, Journal::Wal, 3_000).unwrap();
        send(&mut project, 10..15);
        drop(project);
        let mut project = Project::open(&folder, Journal::Wal, 3_000).unwrap();
        send(&mut project, 15..20);
        strike(blow, &folder, &other, &old);
        let before = std::fs::read(folder.join("project.db")).ok();
        for n in 20..23 {
            let refused = project.submit_one(streamed(SEED, n), 4_000).unwrap_err();
            assert!(
                ["S5", "S9"].contains(&refused.code()),
                "{blow:?}: {refused}"
            );
        }
        // What is known can still be read.
        let wal = std::fs::read(folder.join("project.db-wal")).unwrap();
        assert_eq!(stream_length(SEED, project.log().records()), 20);
        drop(project);
        assert!(
            std::fs::read(folder.join("project.db")).ok() == before,
            "{blow:?}: not written to"
        );
        assert!(
            std::fs::read(folder.join("project.db-wal")).unwrap() == wal,
            "{blow:?}: the log of SQLite is kept"
        );
        if let Blow::MovedAway = blow {
            std::fs::rename(folder.join("elsewhere.db"), folder.join("project.db")).unwrap();
            let mut project = Project::open(&folder, Journal::Wal, 5_000).unwrap();
            assert_eq!(
                stream_length(SEED, project.log().records()),
                20,
                "nothing was lost"
            );
            project.submit_one(streamed(SEED, 20), 6_000).unwrap();
        }
    }
}

/// The same where nothing is sent after the blow, and the project is only closed.
#[test]
fn a_database_struck_while_open_is_not_written_to_when_it_is_closed() {
    for blow in [Blow::ReplacedByAnother, Blow::Emptied, Blow::CutShort] {
        let place = tempfile::tempdir().unwrap();
        let other = closed(place.path(), "other.dial", 3);
        let folder = closed(place.path(), "struck.dial", 10);
        let mut project = Project::open(&folder, Journal::Wal, 3_000).unwrap();
        project.submit_one(streamed(SEED, 10), 3_000).unwrap();
        strike(blow, &folder, &other, &other);
        let before = files(&folder);
        drop(project);
        assert!(files(&folder) == before, "{blow:?}");
    }
}

/// Brought back, it is the same project, and the process goes on.
#[test]
fn a_database_that_comes_back_is_gone_on_with() {
    let place = tempfile::tempdir().unwrap();
    let folder = closed(place.path(), "p.dial", 10);
    let mut project = Project::open(&folder, Journal::Wal, 3_000).unwrap();
    project.submit_one(streamed(SEED, 10), 3_000).unwrap();
    std::fs::rename(folder.join("project.db"), folder.join("elsewhere.db")).unwrap();
    assert_eq!(
        project
            .submit_one(streamed(SEED, 11), 4_000)
            .unwrap_err()
            .code(),
        "S5"
    );
    std::fs::rename(folder.join("elsewhere.db"), folder.join("project.db")).unwrap();
    let answers: Vec<bool> = (0..2)
        .map(|_| project.submit_one(streamed(SEED, 11), 4_000).is_ok())
        .collect();
    assert!(answers[1], "the second attempt at the latest");
    drop(project);
    let project = Project::open(&folder, Journal::Wal, 5_000).unwrap();
    assert_eq!(stream_length(SEED, project.log().records()), 12);
}
