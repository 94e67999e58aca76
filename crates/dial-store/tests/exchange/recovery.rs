//! What can still be read of a damaged project, taken knowingly; the damaged folder is kept whole.

use std::fs;
use std::path::{Path, PathBuf};

use dial_store::{Journal, Project, recover};
use rusqlite::Connection;

use crate::{NOW, label, made, send};

fn labelled(project: &mut Project, numbers: std::ops::Range<u32>) {
    for number in numbers {
        let answer = vec![label(&format!("item {number}"), &[(0, 1.0)])];
        send(project, &format!("k{number}"), "ann", answer).unwrap();
    }
}

fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && !path.ends_with("lock") && !path.ends_with("holder.json"))
        .map(|path| (path.file_name().unwrap().into(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// A kill that took the log of SQLite with it.
#[test]
fn a_project_goes_on_without_what_is_lost_when_that_is_said() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let (mut project, _) = made(&at("p.dial"), &["a", "b"]);
    labelled(&mut project, 12..20);
    drop(project);
    let mut project = Project::open(&at("p.dial"), Journal::Wal, NOW).unwrap();
    let before = project.log().records().to_vec();
    labelled(&mut project, 20..24);
    let witness = fs::read(at("p.dial/head.witness")).unwrap();
    let whole = recover(&at("p.dial"), true, NOW).unwrap_err();
    assert_eq!(whole.code(), "S7", "{whole}");
    drop(project);
    let whole = recover(&at("p.dial"), true, NOW).unwrap_err();
    assert_eq!(whole.code(), "S11", "{whole}");
    // Back to the database as it was, with the witness of later.
    let raw = Connection::open(at("p.dial/project.db")).unwrap();
    raw.execute_batch("DELETE FROM log WHERE seq > (SELECT seq - 4 FROM head)")
        .unwrap();
    let last = before.len() as i64;
    raw.execute(
        "UPDATE head SET seq = ?1, chain = (SELECT chain FROM log WHERE seq = ?1)",
        [last],
    )
    .unwrap();
    drop(raw);
    fs::write(at("p.dial/head.witness"), witness).unwrap();
    let refused = Project::open(&at("p.dial"), Journal::Wal, NOW)
        .err()
        .unwrap();
    let text = refused.to_string();
    assert!(
        text.contains("4 events that were stored are missing"),
        "{text}"
    );
    assert!(text.contains("dial recover "), "{text}");
    let damaged = files(&at("p.dial"));
    // Only a look.
    let looked = recover(&at("p.dial"), false, NOW).unwrap();
    let events = before.len() as u64;
    assert_eq!(
        (looked.events, looked.known, looked.aside),
        (events, Some(events + 4), None)
    );
    assert!(files(&at("p.dial")) == damaged);
    assert!(Project::open(&at("p.dial"), Journal::Wal, NOW).is_err());
    let recovered = recover(&at("p.dial"), true, NOW).unwrap();
    let aside = recovered.aside.unwrap();
    assert!(
        files(&aside) == damaged,
        "the damaged one is kept as it was"
    );
    let mut project = Project::open(&at("p.dial"), Journal::Wal, NOW).unwrap();
    assert_eq!(project.log().records(), before);
    assert!(project.has_item("=1+1"), "the ids of the items come along");
    labelled(&mut project, 20..22);
    drop(project);
    let again = Project::open(&at("p.dial"), Journal::Wal, NOW).unwrap();
    assert_eq!(again.log().version(), events + 2);
}

/// A clock that was ahead has left a backup whose name sorts behind all later ones, and another project's may lie there too.
#[test]
fn the_backup_that_holds_most_is_recommended_whatever_its_name() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let (mut other, _) = made(&at("q.dial"), &["a", "b"]);
    labelled(&mut other, 12..40);
    let (mut project, _) = made(&at("p.dial"), &["a", "b"]);
    const DAY: u64 = 86_400_000;
    labelled(&mut project, 12..15);
    let ahead = project.backup_if_due(NOW + 900 * DAY).unwrap().unwrap();
    labelled(&mut project, 15..20);
    let newest = project.backup_if_due(NOW).unwrap().unwrap();
    assert!(ahead.file.file_name() > newest.file.file_name());
    let foreign = at("p.dial/backups/21000101T000000Z.dialbackup");
    other.backup(&foreign, NOW).unwrap();
    let said = |text: &str| {
        let wanted = format!("Its newest backup holds {} events", newest.events);
        assert!(text.contains(&wanted), "{text}");
        assert!(
            text.contains(newest.file.file_name().unwrap().to_str().unwrap()),
            "{text}"
        );
    };
    drop(project);
    // The floor without a witness: a log that is older than the newest backup is refused, though it is as new as the other.
    let files = ["project.db", "head.witness"].map(|name| at("p.dial").join(name));
    fs::remove_file(&files[0]).unwrap();
    fs::remove_file(&files[1]).unwrap();
    fs::copy(&ahead.file, &files[0]).unwrap();
    let refused = Project::open(&at("p.dial"), Journal::Wal, NOW)
        .err()
        .unwrap();
    let text = refused.to_string();
    assert!(
        text.contains("5 events that were stored are missing"),
        "{text}"
    );
    said(&text);
    let looked = recover(&at("p.dial"), false, NOW).unwrap();
    assert_eq!(looked.backup, Some((newest.file.clone(), newest.events)));
}

#[test]
fn a_changed_record_ends_what_can_be_read() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("p.dial");
    let (mut project, _) = made(&folder, &["a", "b"]);
    labelled(&mut project, 12..20);
    let records = project.log().records().to_vec();
    drop(project);
    let raw = Connection::open(folder.join("project.db")).unwrap();
    let changed = records.len() - 3;
    raw.execute(
        "UPDATE log SET body = replace(body, 'ann', 'bob') WHERE seq = ?1",
        [changed as i64],
    )
    .unwrap();
    drop(raw);
    assert_eq!(
        Project::open(&folder, Journal::Wal, NOW)
            .err()
            .unwrap()
            .code(),
        "S9"
    );
    let recovered = recover(&folder, true, NOW).unwrap();
    assert_eq!(recovered.events, changed as u64 - 1);
    let project = Project::open(&folder, Journal::Wal, NOW).unwrap();
    assert_eq!(project.log().records(), &records[..changed - 1]);
}

#[test]
fn a_missing_project_names_what_lies_beside_it() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    drop(made(&at("m.dial"), &["a", "b"]));
    fs::rename(at("m.dial"), at("m.replaced-20261116T120000Z.dial")).unwrap();
    let missing = Project::open(&at("m.dial"), Journal::Wal, NOW)
        .err()
        .unwrap();
    assert_eq!(missing.code(), "S5");
    assert!(
        missing
            .to_string()
            .contains("m.replaced-20261116T120000Z.dial"),
        "{missing}"
    );
}
