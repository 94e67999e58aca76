//! `dial lab theory`: the quick version of every part, the same for any number of threads, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::{Place, Ran};

const PARTS: [&str; 8] = [
    "continuum",
    "heat",
    "separation",
    "exploration",
    "mixtures",
    "exploitation",
    "uncertainty",
    "consistency",
];

fn theory(place: &Place, words: &str) -> Ran {
    place.lab("theory", words)
}

/// The files of a folder with this ending, in order.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<PathBuf> = all.map(|entry| entry.unwrap().path()).collect();
    found.retain(|file| file.extension().is_some_and(|e| e == ending));
    found.sort();
    found
}

#[test]
fn every_part_runs_in_small_and_the_same_for_any_number_of_threads() {
    let place = Place::new();
    let json = theory(&place, "all --quick --quiet --json --threads 1 --out one")
        .ok()
        .json();
    theory(&place, "all --quick --quiet --threads 3 --out three").ok();
    let told: Vec<&str> = json["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["part"].as_str().unwrap())
        .collect();
    assert_eq!(told, PARTS);
    let page = fs::read_to_string(place.path("one/theory.html")).unwrap();
    let markdown = fs::read_to_string(place.path("one/theory.md")).unwrap();
    for (part, told) in PARTS.iter().zip(json["parts"].as_array().unwrap()) {
        let folder = place.path(&format!("one/{part}"));
        let (figures, tables) = (files(&folder, "svg"), files(&folder, "csv"));
        assert!(
            !figures.is_empty() && !tables.is_empty(),
            "{part} has figures and tables"
        );
        assert_eq!(
            figures.len(),
            files(&folder, "png").len(),
            "{part}: every figure in both formats"
        );
        for figure in &figures {
            let svg = fs::read_to_string(figure).unwrap();
            assert!(
                svg.starts_with("<svg") && page.contains(&svg),
                "{}: is in the page",
                figure.display()
            );
            let name = figure.file_name().unwrap().to_string_lossy();
            assert!(
                markdown.contains(&format!("({part}/{name})")),
                "{part}/{name} is in the Markdown page"
            );
        }
        for table in &tables {
            let text = fs::read_to_string(table).unwrap();
            assert!(text.lines().count() > 2, "{}", table.display());
            let other = place
                .path(&format!("three/{part}"))
                .join(table.file_name().unwrap());
            assert_eq!(
                text,
                fs::read_to_string(other).unwrap(),
                "{}: depends on threads",
                table.display()
            );
        }
        let findings = told["findings"].as_array().unwrap();
        assert!(!findings.is_empty(), "{part} says nothing about the paper");
        for finding in findings {
            let evidence = finding["evidence"].as_str().unwrap();
            assert!(
                evidence.chars().any(|c| c.is_ascii_digit()),
                "{part}: evidence without a number: {evidence}"
            );
        }
        assert!(
            fs::read_to_string(folder.join("settings.json"))
                .unwrap()
                .contains(&format!("dial lab theory {part} --seed 0 --quick"))
        );
    }
}

#[test]
fn a_folder_holds_one_level_and_seed() {
    let place = Place::new();
    theory(&place, "exploration --quick --quiet --out out").ok();
    let before = fs::read(place.path("out/theory.html")).unwrap();
    theory(&place, "exploration --quiet --out out").fails(
        "R1",
        6,
        &["exploration, quick", "--out"],
    );
    theory(&place, "exploration --quick --quiet --seed 3 --out out").fails("R1", 6, &["seed 0"]);
    assert_eq!(before, fs::read(place.path("out/theory.html")).unwrap());
    theory(&place, "nonsense").fails("U0", 2, &["continuum", "consistency"]);
    theory(&place, "heat --quick --fine").fails("U0", 2, &["--fine"]);
    theory(&place, "").fails("U0", 2, &["WHAT"]);
}

#[test]
fn data_that_are_missing_are_missed_before_anything_is_done() {
    let place = Place::new();
    theory(&place, "all --quick --data nowhere --out out").fails(
        "I5",
        3,
        &["mnistsmall.npz", "--data"],
    );
    assert!(!place.path("out").exists());
    // A folder that the environment names is used as far as it goes.
    let words = ["lab", "theory", "uncertainty", "--quick", "--out", "out"];
    let output = place
        .command(&words)
        .env("DIAL_DATA", place.path("."))
        .output()
        .unwrap();
    assert!(
        output.status.success()
            && String::from_utf8(output.stderr)
                .unwrap()
                .contains("MNIST-SMALL")
    );
    let page = fs::read_to_string(place.path("out/theory.html")).unwrap();
    assert!(
        page.contains("verdicts may differ"),
        "a quick run says that it is one"
    );
}
