//! From one format to the next (fault S12): one transaction after a backup, whatever happens on the way.

use std::path::Path;

use dial_store::{Folder, Journal, Migration, Project, Record, Sqlite, Store};
use rusqlite::{Connection, Transaction};

use crate::child::{Task, command};
use crate::common::{new_project, stream_length, streamed};
use crate::kill::copy_folder;

const SEED: u64 = 51;

/// Labels in the project that is brought up to date.
const LABELS: u64 = 120;

fn a_column(change: &Transaction<'_>) -> rusqlite::Result<()> {
    change.execute_batch("ALTER TABLE log ADD COLUMN place TEXT; UPDATE log SET place = 'here';")
}

fn a_table(change: &Transaction<'_>) -> rusqlite::Result<()> {
    change.execute_batch(
        "CREATE TABLE extra (word TEXT NOT NULL) STRICT; INSERT INTO extra VALUES ('new');",
    )
}

fn dies(change: &Transaction<'_>) -> rusqlite::Result<()> {
    a_table(change)?;
    // Everything that was changed so far reaches the disk, as it may before a commit of many pages.
    change.execute_batch(
        "DELETE FROM log WHERE seq > 50; PRAGMA cache_size = 1; UPDATE log SET body = body || ' ';",
    )?;
    std::process::abort()
}

fn fails(change: &Transaction<'_>) -> rusqlite::Result<()> {
    change.execute_batch("DELETE FROM log; UPDATE head SET seq = 0; CREATE TABLE log (x);")
}

/// In the child: dies in the second of two steps.
pub fn die_half_way(folder: &Path, journal: Journal) {
    let steps: [Migration; 2] = [a_column, dies];
    let opened = Sqlite::open_with(&Folder(folder.to_path_buf()).database(), journal, &steps);
    panic!("the step did not die: {opened:?}");
}

fn project(folder: &Path) -> Vec<Record> {
    let mut project = new_project(folder, Journal::Wal);
    for n in 0..LABELS {
        project.submit_one(streamed(SEED, n), 2_000).unwrap();
    }
    project.log().records().to_vec()
}

/// The format of a closed database and its tables, read beside the library from a copy.
fn format(folder: &Path) -> (u32, Vec<String>) {
    let copy = tempfile::tempdir().unwrap();
    copy_folder(folder, copy.path());
    let raw = Connection::open(copy.path().join("project.db")).unwrap();
    let version = raw
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    let mut tables = raw
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .unwrap();
    let tables = tables
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    (version, tables)
}

fn is_as_before(folder: &Path, records: &[Record]) {
    assert_eq!(
        format(folder),
        (
            1,
            ["about", "head", "kept", "lease", "log"]
                .map(String::from)
                .to_vec()
        )
    );
    let project = Project::open(folder, Journal::Wal, 3_000).unwrap();
    assert_eq!(project.log().records(), records);
}

/// The backup that a migration makes first.
fn backup(folder: &Path) -> std::path::PathBuf {
    folder.join("project.format-1.dialbackup")
}

/// A backup is a project of its own.
fn backup_is_whole(folder: &Path, records: &[Record]) {
    let place = tempfile::tempdir().unwrap();
    std::fs::copy(backup(folder), place.path().join("project.db")).unwrap();
    let project = Project::open(place.path(), Journal::Wal, 3_000).unwrap();
    assert_eq!(project.log().records(), records);
}

#[test]
fn a_migration_killed_half_way_leaves_the_old_format_and_a_backup() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("old.dial");
    let records = project(&folder);
    for _ in 0..2 {
        let output = command(Task::Migrate, &folder, Journal::Wal, &[])
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && !text.contains("did not die"),
            "{text}"
        );
        is_as_before(&folder, &records);
        backup_is_whole(&folder, &records);
    }
    let steps: [Migration; 2] = [a_column, a_table];
    let mut migrated =
        Sqlite::open_with(&Folder(folder.clone()).database(), Journal::Wal, &steps).unwrap();
    assert_eq!(migrated.read(0).unwrap(), records);
    drop(migrated);
    let (version, tables) = format(&folder);
    assert_eq!((version, tables.contains(&"extra".to_string())), (3, true));
    backup_is_whole(&folder, &records);
    // The next time there is nothing to do.
    let before = std::fs::read(folder.join("project.db")).unwrap();
    drop(Sqlite::open_with(&Folder(folder.clone()).database(), Journal::Wal, &steps).unwrap());
    assert_eq!(std::fs::read(folder.join("project.db")).unwrap(), before);
}

#[test]
fn a_step_that_fails_leaves_the_old_format() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("old.dial");
    let records = project(&folder);
    let steps: [Migration; 3] = [a_column, a_table, fails];
    let refused =
        Sqlite::open_with(&Folder(folder.clone()).database(), Journal::Wal, &steps).unwrap_err();
    assert!(refused.code().starts_with('S'), "{refused}");
    is_as_before(&folder, &records);
    backup_is_whole(&folder, &records);
}

#[test]
fn a_torn_backup_of_an_earlier_attempt_is_made_again() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("old.dial");
    let records = project(&folder);
    std::fs::write(
        folder.join("project.format-1.part"),
        b"SQLite format 3\0 and then nothing",
    )
    .unwrap();
    let steps: [Migration; 1] = [a_table];
    drop(Sqlite::open_with(&Folder(folder.clone()).database(), Journal::Wal, &steps).unwrap());
    backup_is_whole(&folder, &records);
}

/// All files of a project with their bytes.
fn bytes(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|file| !file.ends_with("lock") && !file.ends_with("holder.json"));
    files.sort();
    files
        .into_iter()
        .map(|file| (file.clone(), std::fs::read(file).unwrap()))
        .collect()
}

#[test]
fn a_newer_format_is_refused_and_not_a_byte_is_changed() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("newer.dial");
    project(&folder);
    let steps: [Migration; 1] = [a_column];
    drop(Sqlite::open_with(&Folder(folder.clone()).database(), Journal::Wal, &steps).unwrap());
    let before = bytes(&folder);
    for journal in [Journal::Wal, Journal::Rollback] {
        let refused = Project::open(&folder, journal, 3_000).err().unwrap();
        assert_eq!(refused.code(), "S12");
        assert!(
            refused.to_string().contains("format 2; this one knows 1"),
            "{refused}"
        );
        assert_eq!(bytes(&folder), before, "{journal:?}");
    }
}

/// The newer process was killed: what it wrote is still in the log of SQLite, the number of its format with it.
#[test]
fn a_newer_format_that_was_killed_is_refused_and_not_a_byte_is_changed() {
    let place = tempfile::tempdir().unwrap();
    let (folder, killed) = (
        place.path().join("newer.dial"),
        place.path().join("killed.dial"),
    );
    project(&folder);
    let steps: [Migration; 1] = [a_column];
    let open = Sqlite::open_with(&Folder(folder.clone()).database(), Journal::Wal, &steps).unwrap();
    copy_folder(&folder, &killed);
    drop(open);
    assert!(
        std::fs::metadata(killed.join("project.db-wal"))
            .unwrap()
            .len()
            > 0
    );
    let before = bytes(&killed);
    let refused = Project::open(&killed, Journal::Wal, 3_000).err().unwrap();
    assert_eq!(refused.code(), "S12", "{refused}");
    assert_eq!(bytes(&killed), before);
    let mut newer = Sqlite::open_with(&Folder(killed).database(), Journal::Wal, &steps).unwrap();
    assert_eq!(stream_length(SEED, &newer.read(0).unwrap()), LABELS);
}
