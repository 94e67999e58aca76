//! Bits that change on the disk (fault S9): a damaged project is refused untouched, or its labels are what they were. Never
//! is a changed label taken for the truth.

use std::path::Path;

use dial::seed::{Purpose, Random};
use dial_store::{Journal, Project, Record};

use crate::common::{ITEMS, count, first, recipe, stream_length, streamed};
use crate::kill::copy_folder;

const SEED: u64 = 61;

/// A project with named items and some hundred labels.
fn project(folder: &Path, labels: u64) -> Project {
    let ids: Vec<String> = (0..2 * labels).map(|n| n.to_string()).collect();
    let mut project = Project::create(
        folder,
        Journal::Wal,
        &recipe(ITEMS, 1),
        Some(&ids),
        first(4),
        1_000,
    )
    .unwrap();
    for start in (0..labels).step_by(10) {
        let group: Vec<_> = (start..start + 10).map(|n| streamed(SEED, n)).collect();
        project
            .submit(&group, 2_000)
            .into_iter()
            .for_each(|answer| assert!(!answer.unwrap().repeated));
    }
    project
}

fn flipped(bytes: &[u8], random: &mut Random) -> (Vec<u8>, usize) {
    let (at, bit) = (random.below(bytes.len()), random.below(8));
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1 << bit;
    (bytes, at)
}

#[test]
fn a_flipped_bit_is_found_or_changes_no_label() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("whole.dial");
    let labels = 300;
    let records: Vec<Record> = project(&folder, labels).log().records().to_vec();
    let file = folder.join("project.db");
    let whole = std::fs::read(&file).unwrap();
    let mut random = Random::new(SEED, Purpose::User, 0);
    let (mut refused, mut taken) = (0, 0);
    for _ in 0..count("DIAL_FLIPS", 200) {
        let (bytes, at) = flipped(&whole, &mut random);
        std::fs::write(&file, &bytes).unwrap();
        match Project::open(&folder, Journal::Wal, 3_000) {
            Err(error) => {
                assert!(error.code().starts_with('S'), "byte {at}: {error}");
                assert!(
                    !error.to_string().contains("the disk failed"),
                    "byte {at}: {error}"
                );
                assert!(
                    std::fs::read(&file).unwrap() == bytes,
                    "byte {at}: a damaged project was changed ({error})"
                );
                refused += 1;
            }
            Ok(mut project) => {
                assert!(
                    project.log().records() == records,
                    "byte {at}: a changed label was taken"
                );
                assert!(
                    (0..2 * labels).all(|n| project.has_item(&n.to_string())),
                    "byte {at}: an item is gone"
                );
                assert!(!project.has_item(&(2 * labels).to_string()), "byte {at}");
                // Where work goes on it loses nothing either.
                let next = project.submit_one(streamed(SEED, labels), 4_000);
                drop(project);
                match Project::open(&folder, Journal::Wal, 5_000) {
                    Ok(project) => {
                        assert_eq!(
                            stream_length(SEED, project.log().records()),
                            labels + u64::from(next.is_ok())
                        )
                    }
                    Err(error) => assert!(
                        next.is_err() && error.code().starts_with('S'),
                        "byte {at}: {error}"
                    ),
                }
                taken += 1;
            }
        }
        for leftover in ["project.db-wal", "project.db-journal"] {
            let _ = std::fs::remove_file(folder.join(leftover));
        }
    }
    assert!(refused > 0 && taken > 0, "{refused} refused, {taken} taken");
    println!(
        "{refused} flipped bits found, {taken} where nothing depends on them, no label changed"
    );
}

/// What a flipped bit takes from the log of SQLite is missed, counted, and nothing is touched.
#[test]
fn a_flipped_bit_in_the_log_of_sqlite_is_found_or_changes_no_label() {
    let place = tempfile::tempdir().unwrap();
    let (folder, killed) = (
        place.path().join("whole.dial"),
        place.path().join("killed.dial"),
    );
    let open = project(&folder, 200);
    copy_folder(&folder, &killed);
    let records = open.log().records().to_vec();
    drop(open);
    let wal = killed.join("project.db-wal");
    let whole = std::fs::read(&wal).unwrap();
    let database = std::fs::read(killed.join("project.db")).unwrap();
    let mut random = Random::new(SEED, Purpose::User, 1);
    let (mut refused, mut all) = (0, 0);
    for _ in 0..count("DIAL_FLIPS", 200).div_ceil(4) {
        let (bytes, at) = flipped(&whole, &mut random);
        std::fs::write(&wal, &bytes).unwrap();
        std::fs::write(killed.join("project.db"), &database).unwrap();
        match Project::open(&killed, Journal::Wal, 3_000) {
            Err(error) => {
                assert_eq!(error.code(), "S9", "byte {at}: {error}");
                let counted = format!("of {} events are readable", records.len());
                assert!(error.to_string().contains(&counted), "byte {at}: {error}");
                assert!(
                    std::fs::read(&wal).unwrap() == bytes,
                    "byte {at}: kept as it was"
                );
                refused += 1;
            }
            Ok(project) => {
                assert!(
                    project.log().records() == records,
                    "byte {at}: a label is gone"
                );
                all += 1;
            }
        }
    }
    assert!(refused > 0, "a damaged frame ends the log of SQLite");
    println!("{refused} flipped bits found, {all} where nothing depends on them");
}
