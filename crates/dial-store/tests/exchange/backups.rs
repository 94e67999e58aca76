//! A backup holds all that was acknowledged, is whole or not there, and comes back without harm to anything.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use dial_store::{Folder, Journal, Lease, Project, restore};

use crate::{NOW, label, made, send};

const DAY: u64 = 86_400_000;

fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_backup_restores_to_the_same_log() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let (mut project, _) = made(&at("p.dial"), &["a", "b"]);
    for number in 12..30 {
        send(
            &mut project,
            &format!("k{number}"),
            "ann",
            vec![label(&format!("item {number}"), &[(0, 1.0)])],
        )
        .unwrap();
        let file = at(&format!("{number}.dialbackup"));
        let manifest = project.backup(&file, NOW).unwrap();
        assert_eq!(
            (manifest.events, manifest.project.as_str()),
            (project.log().version(), project.id())
        );
    }
    // While it is open and in use, and the copy needs nothing beside it.
    let restored = restore(&at("29.dialbackup"), &at("q.dial"), false, NOW).unwrap();
    assert_eq!(
        (restored.manifest.events, restored.aside),
        (project.log().version(), None)
    );
    let again = Project::open(&at("q.dial"), Journal::Wal, NOW).unwrap();
    assert_eq!(
        (again.log().records(), again.id()),
        (project.log().records(), project.id())
    );
    assert!(again.has_item("=1+1"));
    // An earlier one is the log as it was.
    restore(&at("12.dialbackup"), &at("r.dial"), false, NOW).unwrap();
    let early = Project::open(&at("r.dial"), Journal::Wal, NOW).unwrap();
    assert_eq!(
        early.log().records(),
        &project.log().records()[..early.log().version() as usize]
    );
    let wanted = (12..30).map(|number| format!("{number}.dialbackup"));
    let folders = ["p.dial", "q.dial", "r.dial"].map(String::from);
    assert_eq!(
        names(place.path()),
        wanted.chain(folders).collect(),
        "nothing half done is left"
    );
}

/// The project is only needed for one slice at a time; what is stored between two of them is in the next backup.
#[test]
fn a_backup_is_the_log_of_the_moment_it_was_begun_whatever_is_stored_meanwhile() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let (mut project, _) = made(&at("p.dial"), &["a", "b"]);
    let tell = |project: &mut Project, number: usize| {
        let answer = vec![label("item 20", &[((number % 2) as u16, 1.0)])];
        send(project, &format!("k{number}"), &format!("{number}"), answer).unwrap();
    };
    (0..1_000).for_each(|number| tell(&mut project, number));
    project.keep("one", b"before").unwrap();
    let lease = |until| Lease {
        item: "item 21".into(),
        annotator: "ann".into(),
        until,
    };
    project.keep_leases(&[lease(7)]).unwrap();
    let (version, chain) = (project.log().version(), hex(&project.log().head()));
    let backup = project.begin_backup(&at("b")).unwrap();
    let mut slices = 0;
    let manifest = backup
        .complete(NOW, |backup| {
            tell(&mut project, 1_000 + slices);
            match slices {
                1 => project.keep("two", b"meanwhile").unwrap(),
                2 => project.keep_leases(&[]).unwrap(),
                // As after a write that failed: everything is closed, and opened again.
                3 => project.recover().unwrap(),
                _ => {}
            }
            slices += 1;
            project.read_slice(backup)
        })
        .unwrap();
    assert!(slices > 6, "{slices} slices");
    assert_eq!((manifest.events, manifest.chain), (version, chain));
    assert_eq!(project.log().version(), version + slices as u64);
    restore(&at("b"), &at("q.dial"), false, NOW).unwrap();
    let mut copy = Project::open(&at("q.dial"), Journal::Wal, NOW).unwrap();
    assert_eq!(
        copy.log().records(),
        &project.log().records()[..version as usize]
    );
    assert!(copy.has_item("=1+1"));
    assert_eq!(copy.kept("one").unwrap().unwrap(), b"before");
    assert_eq!(copy.leases().unwrap(), [lease(7)]);
    assert_eq!(
        names(place.path()),
        ["b", "p.dial", "q.dial"].map(String::from).into(),
        "nothing half done is left"
    );
}

#[test]
fn a_backup_that_is_not_completed_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let (mut project, _) = made(&at("p.dial"), &["a", "b"]);
    let backup = project.begin_backup(&at("b")).unwrap();
    project.close();
    // Whoever stops a server does not wait for a backup.
    let refused = backup.complete(NOW, |backup| project.read_slice(backup));
    assert_eq!(refused.unwrap_err().code(), "S4");
    assert_eq!(names(place.path()), ["p.dial".to_string()].into());
}

#[test]
fn nothing_is_overwritten_unasked() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let (mut project, _) = made(&at("p.dial"), &["a", "b"]);
    project.backup(&at("b"), NOW).unwrap();
    assert_eq!(project.backup(&at("b"), NOW).unwrap_err().code(), "S11");
    assert_eq!(
        project.backup(&at("no/such/b"), NOW).unwrap_err().code(),
        "S5"
    );
    send(
        &mut project,
        "later",
        "ann",
        vec![label("item 20", &[(1, 1.0)])],
    )
    .unwrap();
    // There already; in use; another project; no project.
    assert_eq!(
        restore(&at("b"), &at("p.dial"), false, NOW)
            .unwrap_err()
            .code(),
        "S11"
    );
    assert_eq!(
        restore(&at("b"), &at("p.dial"), true, NOW)
            .unwrap_err()
            .code(),
        "S7"
    );
    drop(project);
    drop(made(&at("other.dial"), &["a", "b"]));
    let text = restore(&at("b"), &at("other.dial"), true, NOW).unwrap_err();
    assert_eq!(text.code(), "S11");
    assert!(text.to_string().contains("is another project"), "{text}");
    fs::create_dir(at("photos")).unwrap();
    assert_eq!(
        restore(&at("b"), &at("photos"), true, NOW)
            .unwrap_err()
            .code(),
        "S11"
    );
    assert_eq!(
        restore(&at("none"), &at("q.dial"), false, NOW)
            .unwrap_err()
            .code(),
        "S5"
    );
    // With replace the old one, which knows more, is kept under another name.
    let restored = restore(&at("b"), &at("p.dial"), true, NOW).unwrap();
    let aside = restored.aside.unwrap();
    let (old, new) = (
        Project::open(&aside, Journal::Wal, NOW).unwrap(),
        Project::open(&at("p.dial"), Journal::Wal, NOW).unwrap(),
    );
    assert_eq!(
        (old.log().version(), old.id()),
        (new.log().version() + 1, new.id())
    );
    let left = names(place.path());
    let wanted = [
        "b",
        "other.dial",
        "p.dial",
        "photos",
        aside.file_name().unwrap().to_str().unwrap(),
    ];
    assert_eq!(left, wanted.map(String::from).into());
}

#[test]
fn a_damaged_backup_is_refused_and_a_damaged_project_can_be_replaced() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let (mut project, _) = made(&at("p.dial"), &["a", "b"]);
    project.backup(&at("b"), NOW).unwrap();
    drop(project);
    let whole = fs::read(at("b")).unwrap();
    // A changed letter of the log; a cut; not a database at all.
    let name = whole
        .windows(11)
        .position(|part| part == b"method_vers")
        .unwrap();
    let mut changed = whole.clone();
    changed[name] ^= 1;
    for (bytes, what) in [
        (&changed[..], "changed"),
        (&whole[..whole.len() / 2], "cut"),
        (b"nothing", "nothing"),
    ] {
        fs::write(at("bad"), bytes).unwrap();
        let error = restore(&at("bad"), &at("p.dial"), true, NOW).unwrap_err();
        assert!(["S5", "S9"].contains(&error.code()), "{what}: {error}");
        assert!(
            error
                .to_string()
                .starts_with(&at("bad").display().to_string()),
            "{what}: {error}"
        );
        assert_eq!(
            fs::read(at("bad")).unwrap(),
            bytes,
            "{what}: the backup is only read"
        );
    }
    fs::write(at("p.dial/project.db"), b"overwritten by something").unwrap();
    assert!(Project::open(&at("p.dial"), Journal::Wal, NOW).is_err());
    let aside = restore(&at("b"), &at("p.dial"), true, NOW)
        .unwrap()
        .aside
        .unwrap();
    assert_eq!(
        fs::read(aside.join("project.db")).unwrap(),
        b"overwritten by something"
    );
    assert_eq!(
        Project::open(&at("p.dial"), Journal::Wal, NOW)
            .unwrap()
            .log()
            .labels()
            .classes()
            .len(),
        2
    );
}

#[test]
fn one_backup_a_day_and_seven_of_them() {
    let place = tempfile::tempdir().unwrap();
    let (mut project, _) = made(&place.path().join("p.dial"), &["a", "b"]);
    let folder = place.path().join("p.dial/backups");
    assert!(project.backup_if_due(NOW).unwrap().is_some());
    assert!(project.backup_if_due(NOW + DAY - 1000).unwrap().is_none());
    fs::write(folder.join("mine.dialbackup"), b"mine").unwrap();
    // What a clock in 2100 left is neither counted nor deleted.
    fs::write(folder.join("21000101T000000Z.dialbackup"), b"later").unwrap();
    for day in 1..10 {
        assert!(
            project.backup_if_due(NOW + day * DAY).unwrap().is_some(),
            "day {day}"
        );
        assert!(
            project
                .backup_if_due(NOW + day * DAY + DAY / 2)
                .unwrap()
                .is_none(),
            "day {day}"
        );
    }
    // 2023-11-14 22:13:20 is NOW; days 3 to 9 after it are left.
    let kept = (17..24).map(|date| format!("202311{date}T221320Z.dialbackup"));
    let others = ["mine.dialbackup", "21000101T000000Z.dialbackup"].map(String::from);
    assert_eq!(names(&folder), kept.chain(others).collect());
    let last = folder.join("20231123T221320Z.dialbackup");
    restore(&last, &place.path().join("q.dial"), false, NOW).unwrap();
}

#[test]
fn requested_backups_are_limited_in_number_and_never_deleted() {
    let place = tempfile::tempdir().unwrap();
    let (mut project, _) = made(&place.path().join("p.dial"), &["a", "b"]);
    let folder = Folder(place.path().join("p.dial"));
    for _ in 0..30 {
        let file = folder.asked_backup(NOW).unwrap();
        project.backup(&file, NOW).unwrap();
    }
    let before = names(&folder.backups());
    assert_eq!(before.len(), 30, "{before:?}");
    let refused = folder.asked_backup(NOW).unwrap_err();
    assert_eq!(refused.code(), "S11");
    assert!(
        refused
            .to_string()
            .contains("30 requested backups are there already"),
        "{refused}"
    );
    assert_eq!(names(&folder.backups()), before);
    // The automatic one is another matter.
    assert!(project.backup_if_due(NOW).unwrap().is_some());
    fs::remove_file(folder.backups().join(before.first().unwrap())).unwrap();
    folder.asked_backup(NOW).unwrap();
}
