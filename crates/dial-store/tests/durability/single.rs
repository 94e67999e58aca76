//! Any single file of a project flipped, zeroed, cut, deleted, or exchanged with an older one or that of another project
//! (fault S9): every label is there, or the project is refused and left alone. Never silently fewer labels.

use std::fs;
use std::path::{Path, PathBuf};

use dial::seed::{Purpose, Random};
use dial_store::{Journal, Project, recover, restore};
use rusqlite::Connection;

use crate::common::{count, new_project, streamed};
use crate::kill::copy_folder;

const SEED: u64 = 91;
const LABELS: u64 = 40;

/// A way to damage a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    Flipped,
    Zeroed,
    Cut,
    Deleted,
    Older,
    Foreign,
}

const DAMAGES: [Damage; 6] = [
    Damage::Flipped,
    Damage::Zeroed,
    Damage::Cut,
    Damage::Deleted,
    Damage::Older,
    Damage::Foreign,
];

/// What a project is damaged from: as it is, as it was some labels ago, and another project.
struct Templates {
    _place: tempfile::TempDir,
    whole: PathBuf,
    older: PathBuf,
    foreign: PathBuf,
    /// Events of the whole one, with the bodies of its records.
    records: Vec<dial_store::Record>,
}

fn send(project: &mut Project, from: u64, to: u64) {
    for n in from..to {
        project.submit_one(streamed(SEED, n), 2_000).unwrap();
    }
}

/// Projects as they are left: in good order, or by a kill (then SQLite's log is beside the database).
fn templates(killed: bool) -> Templates {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let leave = |project: Project, from: &Path, to: &Path| {
        if killed {
            copy_folder(from, to);
        } else {
            drop(project);
            copy_folder(from, to);
        }
    };
    let mut other = new_project(&at("other"), Journal::Wal);
    send(&mut other, 0, LABELS + 5);
    other.backup_if_due(3_000).unwrap().unwrap();
    leave(other, &at("other"), &at("foreign"));

    let mut project = new_project(&at("work"), Journal::Wal);
    send(&mut project, 0, LABELS / 2);
    project.backup_if_due(3_000).unwrap().unwrap();
    send(&mut project, LABELS / 2, LABELS - 10);
    leave(project, &at("work"), &at("older"));
    let mut project = match Project::open(&at("work"), Journal::Wal, 4_000) {
        Ok(project) => project,
        Err(error) => panic!("{error}"),
    };
    send(&mut project, LABELS - 10, LABELS - 5);
    project.backup_if_due(4_000 + 86_400_000).unwrap().unwrap();
    send(&mut project, LABELS - 5, LABELS);
    let records = project.log().records().to_vec();
    leave(project, &at("work"), &at("whole"));
    fs::write(at("whole").join("graph.dialgraph"), [7; 5000]).unwrap();
    Templates {
        whole: at("whole"),
        older: at("older"),
        foreign: at("foreign"),
        records,
        _place: place,
    }
}

/// Damages a file of a fresh copy; whether that could be done.
fn damage(
    templates: &Templates,
    folder: &Path,
    name: &str,
    how: Damage,
    random: &mut Random,
) -> bool {
    let _ = fs::remove_dir_all(folder);
    copy_folder(&templates.whole, folder);
    let file = folder.join(name);
    let whole = fs::read(&file).unwrap();
    let exchange = |from: &Path| {
        let other = from.join(name);
        other.is_file() && fs::copy(other, &file).is_ok()
    };
    match how {
        Damage::Flipped => {
            let mut bytes = whole;
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
            fs::write(&file, bytes).unwrap();
            true
        }
        Damage::Zeroed => {
            let mut bytes = whole;
            let at = random.below(bytes.len());
            let end = (at + 1 + random.below(9_000)).min(bytes.len());
            bytes[at..end].fill(0);
            fs::write(&file, bytes).unwrap();
            true
        }
        Damage::Cut => {
            fs::write(&file, &whole[..random.below(whole.len())]).unwrap();
            true
        }
        Damage::Deleted => fs::remove_file(&file).is_ok(),
        Damage::Older => exchange(&templates.older),
        Damage::Foreign => exchange(&templates.foreign),
    }
}

/// Names and bytes of everything but the lock.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|file| file.is_file() && !file.ends_with("lock") && !file.ends_with("holder.json"))
        .collect();
    files.sort();
    let read = |file: PathBuf| {
        let bytes = fs::read(&file).unwrap();
        (file, bytes)
    };
    // An empty log of SQLite says nothing.
    files
        .into_iter()
        .map(read)
        .filter(|(file, bytes)| !(file.ends_with("project.db-wal") && bytes.is_empty()))
        .collect()
}

/// How many openings of a damaged file were refused, and how many found everything.
fn strike(templates: &Templates, name: &str, random: &mut Random) -> (u64, u64) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("p.dial");
    let (mut refused, mut whole) = (0, 0);
    for how in DAMAGES {
        let often = match how {
            Damage::Flipped | Damage::Zeroed | Damage::Cut => count("DIAL_FLIPS", 200).div_ceil(20),
            _ => 1,
        };
        for _ in 0..often {
            if !damage(templates, &folder, name, how, random) {
                continue;
            }
            let before = contents(&folder);
            match Project::open(&folder, Journal::Wal, 5_000) {
                Ok(project) => {
                    assert!(
                        project.log().records() == templates.records,
                        "{name} {how:?}: silently {} of {} events",
                        project.log().version(),
                        templates.records.len()
                    );
                    whole += 1;
                }
                Err(error) => {
                    assert!(
                        ["S5", "S9"].contains(&error.code()),
                        "{name} {how:?}: {error}"
                    );
                    assert!(
                        contents(&folder) == before,
                        "{name} {how:?}: left alone ({error})"
                    );
                    assert!(
                        error.to_string().contains("newest backup holds"),
                        "{name} {how:?}: {error}"
                    );
                    if name == "project.db-wal" && how != Damage::Foreign {
                        let total = format!("of {} events are readable", templates.records.len());
                        assert!(error.to_string().contains(&total), "{how:?}: {error}");
                    }
                    refused += 1;
                }
            }
        }
    }
    println!("{name}: {refused} refused, {whole} whole");
    (refused, whole)
}

#[test]
fn no_single_file_of_a_killed_project_hides_a_label() {
    let (templates, mut random) = (templates(true), Random::new(SEED, Purpose::User, 0));
    assert!(strike(&templates, "project.db-wal", &mut random).0 > 20);
    assert!(strike(&templates, "project.db", &mut random).0 > 0);
    // A witness that is gone or damaged is made anew beside a whole log; another project's is not believed.
    let (refused, whole) = strike(&templates, "head.witness", &mut random);
    assert!(refused == 1 && whole > 20, "{refused} {whole}");
    assert_eq!(strike(&templates, "graph.dialgraph", &mut random).0, 0);
}

#[test]
fn no_single_file_of_a_closed_project_hides_a_label() {
    let (templates, mut random) = (templates(false), Random::new(SEED, Purpose::User, 1));
    assert!(strike(&templates, "project.db", &mut random).0 > 10);
    let (refused, whole) = strike(&templates, "head.witness", &mut random);
    assert!(refused == 1 && whole > 20, "{refused} {whole}");
    // Logs that do not belong there.
    let killed = self::templates(true);
    let place = tempfile::tempdir().unwrap();
    for from in [&killed.whole, &killed.older, &killed.foreign] {
        for name in ["project.db-wal", "project.db-shm"] {
            let folder = place.path().join("p.dial");
            let _ = fs::remove_dir_all(&folder);
            copy_folder(&templates.whole, &folder);
            fs::copy(from.join("project.db-wal"), folder.join(name)).unwrap();
            if let Ok(project) = Project::open(&folder, Journal::Wal, 5_000) {
                assert!(project.log().records() == templates.records, "{name}");
            }
        }
    }
}

/// A rollback journal that is there after a kill: with it the unfinished transaction is taken back.
#[test]
fn no_damage_of_a_rollback_journal_hides_a_label() {
    let place = tempfile::tempdir().unwrap();
    let (work, hot) = (place.path().join("work"), place.path().join("hot"));
    let mut project = new_project(&work, Journal::Rollback);
    send(&mut project, 0, LABELS);
    let records = project.log().records().to_vec();
    let early = place.path().join("early");
    drop(project);
    // Stopped in the middle of a transaction, whose pages are in the file already.
    let unfinished = |folder: &Path, to: &Path| {
        let mut raw = Connection::open(folder.join("project.db")).unwrap();
        let change = raw.transaction().unwrap();
        change
            .execute_batch("PRAGMA cache_size = 1; DELETE FROM log WHERE seq > 9; UPDATE head SET seq = 9; CREATE TABLE x (y); INSERT INTO x VALUES (zeroblob(90000));")
            .unwrap();
        copy_folder(folder, to);
        drop(change);
    };
    unfinished(&work, &hot);
    let mut other = new_project(&place.path().join("other"), Journal::Rollback);
    send(&mut other, 0, 10);
    drop(other);
    unfinished(&place.path().join("other"), &early);
    let journal = fs::read(hot.join("project.db-journal")).unwrap();
    assert!(journal.len() > 4096 && journal[..8].iter().any(|&byte| byte != 0));
    let (mut random, mut refused, mut whole) = (Random::new(SEED, Purpose::User, 2), 0, 0);
    let folder = place.path().join("p.dial");
    for round in 0..count("DIAL_FLIPS", 200).div_ceil(5) {
        let _ = fs::remove_dir_all(&folder);
        copy_folder(&hot, &folder);
        let file = folder.join("project.db-journal");
        let mut bytes = journal.clone();
        match round {
            0 => fs::remove_file(&file).unwrap(),
            1 => drop(fs::copy(early.join("project.db-journal"), &file).unwrap()),
            2 => {}
            n if n % 3 == 0 => {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
                fs::write(&file, &bytes).unwrap();
            }
            n if n % 3 == 1 => fs::write(&file, &bytes[..random.below(journal.len())]).unwrap(),
            _ => {
                let at = random.below(bytes.len());
                bytes[at..].fill(0);
                fs::write(&file, &bytes).unwrap();
            }
        }
        let before = fs::read(folder.join("project.db")).unwrap();
        match Project::open(&folder, Journal::Rollback, 5_000) {
            Ok(project) => {
                assert!(
                    project.log().records() == records,
                    "round {round}: silently other labels"
                );
                whole += 1;
            }
            Err(error) => {
                assert!(
                    ["S5", "S9"].contains(&error.code()),
                    "round {round}: {error}"
                );
                // SQLite has rolled back what it could: the file from before is kept.
                let aside: Vec<_> = fs::read_dir(folder.join("aside"))
                    .into_iter()
                    .flatten()
                    .collect();
                let kept = aside
                    .iter()
                    .any(|entry| fs::read(entry.as_ref().unwrap().path()).unwrap() == before);
                assert!(
                    kept || fs::read(folder.join("project.db")).unwrap() == before,
                    "round {round}"
                );
                refused += 1;
            }
        }
    }
    assert!(refused > 3 && whole > 0, "{refused} refused, {whole} whole");
    println!("{refused} refused, {whole} whole");
}

#[test]
fn no_damage_of_a_backup_hides_a_label() {
    let templates = templates(false);
    let place = tempfile::tempdir().unwrap();
    let backups = fs::read_dir(templates.whole.join("backups")).unwrap();
    let backup = backups.map(|entry| entry.unwrap().path()).max().unwrap();
    let whole = fs::read(&backup).unwrap();
    let events = restore(&backup, &place.path().join("first.dial"), false, 0)
        .unwrap()
        .manifest;
    let (mut random, mut refused) = (Random::new(SEED, Purpose::User, 3), 0);
    for round in 0..count("DIAL_FLIPS", 200).div_ceil(5) {
        let (file, folder) = (
            place.path().join("b"),
            place.path().join(format!("{round}.dial")),
        );
        let mut bytes = whole.clone();
        let at = random.below(bytes.len());
        match round % 3 {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes.truncate(at),
            _ => bytes[at..].fill(0),
        }
        fs::write(&file, bytes).unwrap();
        match restore(&file, &folder, false, 0) {
            Ok(restored) => assert_eq!(
                (restored.manifest.events, restored.manifest.chain),
                (events.events, events.chain.clone())
            ),
            Err(error) => {
                assert!(["S5", "S9"].contains(&error.code()), "{error}");
                assert!(!folder.exists());
                refused += 1;
            }
        }
    }
    assert!(refused > 5, "{refused}");
}

/// Two files changed together: without a witness the newest backup is the only one that knows.
#[test]
fn without_a_witness_the_newest_backup_speaks() {
    let templates = templates(true);
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("p.dial");
    for damaged in [false, true] {
        let _ = fs::remove_dir_all(&folder);
        copy_folder(&templates.whole, &folder);
        fs::remove_file(folder.join("project.db-wal")).unwrap();
        let witness = folder.join("head.witness");
        match damaged {
            false => fs::remove_file(&witness).unwrap(),
            true => fs::write(&witness, [1; 8192]).unwrap(),
        }
        let refused = Project::open(&folder, Journal::Wal, 5_000).err().unwrap();
        assert_eq!(refused.code(), "S9", "{refused}");
        assert!(
            refused
                .to_string()
                .contains("the newest backup knows of them"),
            "{refused}"
        );
        // Who looks what can be read is told the same.
        let looked = recover(&folder, false, 5_000).unwrap();
        let backup = looked.backup.unwrap().1;
        assert!(looked.events < backup, "{} of {backup}", looked.events);
    }
    // Beside a whole log it is made anew: with a note, and the damaged one is kept.
    for damaged in [false, true] {
        let _ = fs::remove_dir_all(&folder);
        copy_folder(&templates.whole, &folder);
        let witness = folder.join("head.witness");
        match damaged {
            false => fs::remove_file(&witness).unwrap(),
            true => fs::write(&witness, [1; 8192]).unwrap(),
        }
        let mut project = Project::open(&folder, Journal::Wal, 5_000).unwrap();
        assert!(project.log().records() == templates.records);
        let notes = project.take_notes().join("\n");
        assert!(notes.contains("head.witness"), "{notes}");
        assert_eq!(folder.join("aside").exists(), damaged);
        if damaged {
            let kept = fs::read_dir(folder.join("aside"))
                .unwrap()
                .next()
                .unwrap()
                .unwrap();
            assert_eq!(fs::read(kept.path()).unwrap(), [1; 8192]);
        }
        drop(project);
        // From now on it is there again, and nothing is noted.
        let mut project = Project::open(&folder, Journal::Wal, 6_000).unwrap();
        assert!(!project.take_notes().join("\n").contains("head.witness"));
    }
}

/// A log of SQLite that ends in damage, and no witness to say whether anything is missing: a copy is kept, and a person told.
#[test]
fn a_damaged_log_without_a_witness_is_kept_aside() {
    let templates = templates(true);
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("p.dial");
    copy_folder(&templates.whole, &folder);
    fs::remove_dir_all(folder.join("backups")).unwrap();
    fs::remove_file(folder.join("head.witness")).unwrap();
    let wal = folder.join("project.db-wal");
    let mut bytes = fs::read(&wal).unwrap();
    let at = bytes.len() * 9 / 10;
    bytes[at] ^= 1;
    fs::write(&wal, &bytes).unwrap();
    let mut project = Project::open(&folder, Journal::Wal, 5_000).unwrap();
    assert!(project.log().version() < templates.records.len() as u64);
    let notes = project.take_notes().join("\n");
    assert!(notes.contains("its last part cannot be used"), "{notes}");
    let kept = fs::read_dir(folder.join("aside"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    assert_eq!(fs::read(kept.path()).unwrap(), bytes);
}

/// A project of the version before has no witness: it opens without a word, and then has one.
#[test]
fn a_project_of_before_gets_a_witness() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("p.dial");
    let mut project = new_project(&folder, Journal::Wal);
    send(&mut project, 0, 10);
    drop(project);
    fs::remove_file(folder.join("head.witness")).unwrap();
    let raw = Connection::open(folder.join("project.db")).unwrap();
    raw.execute("DELETE FROM about WHERE name = 'witness'", [])
        .unwrap();
    drop(raw);
    let mut project = Project::open(&folder, Journal::Wal, 3_000).unwrap();
    assert_eq!(project.take_notes(), Vec::<String>::new());
    send(&mut project, 10, 20);
    let killed = place.path().join("killed.dial");
    copy_folder(&folder, &killed);
    fs::remove_file(killed.join("project.db-wal")).unwrap();
    let refused = Project::open(&killed, Journal::Wal, 4_000).err().unwrap();
    assert!(
        refused
            .to_string()
            .contains("10 events that were stored are missing"),
        "{refused}"
    );
}
