//! `dial simulate`: the rows of its CSV, by hand where the pool is small enough, and what they do not depend on.

use std::collections::BTreeSet;

use crate::run::{Place, Row, rows, simulate, two_blobs};

/// The pool of seven items left and five right is in two pieces for this k.
const PIECES: &str = "blobs.csv --k 3 --prior 1 --trials 1 --acquisition variance";

#[test]
fn the_first_rows_by_hand() {
    let place = two_blobs();
    let first = |initial: &str| {
        let rows = simulate(&place, &format!("{PIECES} --queries 1 --initial {initial}"));
        assert_eq!(rows.len(), 2);
        assert_eq!(
            (rows[0].query, rows[0].node, rows[0].class.as_str()),
            (0, None, "")
        );
        rows
    };
    let state = |row: &Row| (row.labelled, row.accuracy, row.clusters_found);
    // Nothing known: every class is equally likely, ties go to the first, and 7 of 12 items are left.
    assert_eq!(state(&first("none")[0]), (0, 7.0 / 12.0, 0));
    // One label on the left: still nothing against left on the right. 6 of the other 11 are left.
    let left = first("0");
    assert_eq!(state(&left[0]), (1, 6.0 / 11.0, 1));
    // All of the right piece has the variance of no evidence, the largest there is: its first item, row 7, is asked.
    assert_eq!((left[1].node, left[1].class.as_str()), (Some(7), "right"));
    assert_eq!(state(&left[1]), (2, 1.0, 2));
    // One label on the right: the right piece is right, the left piece left by the tie.
    let right = first("8");
    assert_eq!(state(&right[0]), (1, 1.0, 1));
    assert_eq!((right[1].node, right[1].class.as_str()), (Some(0), "left"));
    assert_eq!(state(&first("0,3,11")[0]), (3, 1.0, 2));
    assert_eq!(state(&first("one-per-class")[0]), (2, 1.0, 2));
    place
        .line("simulate blobs.csv --k 3 --initial 12 --quiet")
        .fails("I12", 3, &["\"12\""]);
}

#[test]
fn rows_queries_and_seeds_are_counted() {
    let words = "builtin:blobs:200 --k 8 --queries 6 --trials 3 --seed 41 \
                 --acquisition variance,margin,random --policy max,proportional";
    let rows = simulate(&Place::new(), words);
    let mut expected = Vec::new();
    for acquisition in ["variance", "margin", "random"] {
        for policy in ["max", "proportional"] {
            for trial in 0..3 {
                expected.extend(
                    (0..=6).map(|query| (acquisition, policy, trial, 41 + trial as u64, query)),
                );
            }
        }
    }
    let found: Vec<_> = rows
        .iter()
        .map(|r| {
            (
                r.acquisition.as_str(),
                r.policy.as_str(),
                r.trial,
                r.seed,
                r.query,
            )
        })
        .collect();
    assert_eq!(found, expected);
    for trial in rows.chunk_by(|_, next| next.query > 0) {
        let asked: BTreeSet<_> = trial[1..].iter().map(|row| row.node).collect();
        assert_eq!(asked.len(), 6, "no item is asked twice");
        assert!(!asked.contains(&None) && trial[0].node.is_none() && trial[0].class.is_empty());
        for row in trial {
            // Two classes have one label each to begin with.
            assert_eq!(
                (row.labelled, row.model.as_str()),
                (2 + row.query, "dirichlet")
            );
            assert!(
                (0.0..=1.0).contains(&row.accuracy)
                    && (1..=row.labelled.min(8)).contains(&row.clusters_found)
            );
        }
        assert!(trial.is_sorted_by_key(|row| row.clusters_found));
    }
}

#[test]
fn a_run_can_be_repeated_with_any_number_of_threads() {
    let words = "builtin:blobs:300 --k 10 --queries 12 --acquisition variance,random --policy max,proportional";
    let place = Place::new();
    let run = |rest: &str| simulate(&place, &format!("{words} {rest}"));
    let first = run("--trials 3 --threads 2");
    for rest in ["--threads 2", "--threads 1", "--threads 8", "--seed 0"] {
        assert_eq!(run(&format!("--trials 3 {rest}")), first, "{rest}");
    }
    let other = run("--trials 3 --seed 7");
    let asked = |rows: &[Row], trial: usize| -> Vec<Option<usize>> {
        rows.iter()
            .filter(|row| row.trial == trial)
            .map(|row| row.node)
            .collect()
    };
    assert_ne!(asked(&other, 0), asked(&first, 0));
    // Trial t of seed S is trial 0 of seed S + t.
    let later = run("--seed 2 --trials 1");
    assert_eq!(asked(&later, 0), asked(&first, 2));
}

#[test]
fn the_file_and_stdout_hold_the_same() {
    let place = Place::new();
    let words = "simulate builtin:moons:120 --k 6 --queries 4 --trials 2 --quiet --out";
    let told = place.line(&format!("{words} runs.csv")).ok();
    assert!(
        told.out.contains("wrote runs.csv") && !told.out.contains(",variance,"),
        "{}",
        told.out
    );
    let file = String::from_utf8(place.read("runs.csv")).unwrap();
    assert!(file.ends_with('\n') && !file.contains('\r'));
    let printed = place.line(&format!("{words} -")).ok();
    assert_eq!(rows(&file), rows(&printed.out));
    assert_eq!(
        place.files(),
        BTreeSet::from(["runs.csv".to_string()]),
        "no temporary file is left"
    );
}

#[test]
fn clusters_known_from_the_start_are_not_met() {
    let place = two_blobs();
    let last = |rest: &str| {
        let out = place
            .line(&format!("simulate blobs.csv --k 3 --trials 2 --queries 1 --acquisition variance --quiet {rest}"))
            .ok()
            .out;
        let line = out
            .lines()
            .find(|line| line.starts_with("variance"))
            .unwrap_or_default()
            .to_string();
        (line, out)
    };
    let (line, out) = last("");
    assert!(
        out.contains("2 clusters; seed 0, 2 trials of 1 question\n"),
        "{out}"
    );
    assert!(line.contains("  -  ") && !line.contains("at 0"), "{line}");
    // From one label the other piece is the first question.
    assert!(last("--initial 0").0.contains("  at 1, 2 of 2  "), "{out}");
}

#[test]
fn separable_classes_are_learnt_to_the_last_item() {
    let place = two_blobs();
    for rest in [
        "",
        "--propagation rbf --sigma 10",
        "--propagation compact --sigma 30",
        "--weights uniform",
    ] {
        // Widths are those of the columns as they are.
        let rest = &format!("--standardize=no {rest}");
        for policy in ["max", "proportional", "uniform"] {
            let rows = simulate(
                &place,
                &format!("blobs.csv --k 3 --trials 4 --queries 3 --policy {policy} {rest}"),
            );
            assert_eq!(rows.len(), 4 * 4);
            assert!(
                rows.iter().all(|row| row.accuracy == 1.0),
                "{policy} {rest}: {rows:?}"
            );
        }
    }
}

#[test]
fn a_pool_runs_out_of_questions_without_an_error() {
    let place = two_blobs();
    let rows = simulate(&place, &format!("{PIECES} --queries 500 --initial none"));
    assert_eq!(rows.len(), 1 + 12);
    let asked: BTreeSet<usize> = rows.iter().filter_map(|row| row.node).collect();
    assert_eq!(asked, (0..12).collect());
    // With nothing left to be right or wrong about, there is no accuracy.
    assert_eq!(
        (
            rows[12].labelled,
            rows[12].accuracy.is_nan(),
            rows[12].clusters_found
        ),
        (12, true, 2)
    );
    let none = simulate(&place, &format!("{PIECES} --queries 0"));
    assert_eq!((none.len(), none[0].labelled), (1, 2));
    let table = place
        .line(&format!("simulate {PIECES} --queries 0"))
        .ok()
        .out;
    assert!(!table.contains("NaN"), "{table}");
    let batches = simulate(
        &place,
        &format!("{PIECES} --queries 500 --initial none --batch 5"),
    );
    assert_eq!(batches.len(), 1 + 12);
}

#[test]
fn the_class_of_a_row_is_the_label_of_its_node() {
    let labels: Vec<usize> = (0..40).map(|row| row % 5).collect();
    let text: String = labels
        .iter()
        .enumerate()
        .map(|(row, label)| format!("{},{label}\n", row * row))
        .collect();
    let place = Place::with("a.csv", format!("a,label\n{text}"));
    let check = |words: &str, class: fn(usize) -> String| {
        let rows = simulate(
            &place,
            &format!("a.csv --k 4 --trials 1 --queries 40 --initial none {words}"),
        );
        rows[1..]
            .iter()
            .for_each(|row| assert_eq!(row.class, class(labels[row.node.unwrap()])));
        rows
    };
    let plain = check("", |label| label.to_string());
    assert_eq!(plain.last().unwrap().clusters_found, 5);
    // Modulo 3 the five labels are the clusters of three classes.
    let modulo = check("--mod 3", |label| (label % 3).to_string());
    assert_eq!(
        (modulo.len(), modulo.last().unwrap().clusters_found),
        (41, 5)
    );
    // Ignored items are never asked: 8 of 40 have each label.
    let ignored = check("--ignore-label 0 --ignore-label 4", |label| {
        label.to_string()
    });
    assert_eq!(
        (ignored.len(), ignored.last().unwrap().clusters_found),
        (1 + 24, 3)
    );
    assert!(
        ignored[1..]
            .iter()
            .all(|row| ["1", "2", "3"].contains(&row.class.as_str()))
    );
    // ... nor scored: of the 24 others, 8 are of the first class that is left.
    assert_eq!(ignored[0].accuracy, 8.0 / 24.0);
    let noted = place
        .line("simulate a.csv --k 4 --trials 1 --queries 1 --ignore-label 9")
        .ok();
    assert!(
        noted.err.contains("no item has the label \"9\""),
        "{}",
        noted.err
    );
}

#[test]
fn unknown_labels_are_neither_asked_nor_scored() {
    let place = Place::with(
        "a.csv",
        "a,label\n0,x\n1,-1\n2,x\n3,\n10,y\n11,y\n12,-1\n13,y\n",
    );
    let rows = simulate(&place, "a.csv --k 2 --trials 1 --queries 99 --initial none");
    let asked: BTreeSet<usize> = rows.iter().filter_map(|row| row.node).collect();
    assert_eq!(asked, BTreeSet::from([0, 2, 4, 5, 7]));
    assert_eq!(rows[0].accuracy, 2.0 / 5.0);
    place
        .line("simulate a.csv --k 2 --quiet --initial 0,3")
        .fails("I12", 3, &["item \"3\" has no known label"]);
    let noted = place
        .line("simulate a.csv --k 2 --trials 1 --queries 1")
        .ok();
    assert!(
        noted.err.contains("3 of 8 labels are unknown"),
        "{}",
        noted.err
    );
}

#[test]
fn the_summary_says_what_the_rows_say() {
    let place = Place::new();
    let words = "simulate builtin:blobs:200 --k 8 --queries 5 --trials 4 --seed 3 --quiet";
    let csv = rows(&place.line(&format!("{words} --out -")).ok().out);
    let json = place
        .line(&format!("{words} --json --plot a.svg --plot a.png"))
        .ok()
        .json();
    assert_eq!(
        (
            json["items"].as_u64(),
            json["clusters"].as_u64(),
            json["seed"].as_u64()
        ),
        (Some(200), Some(8), Some(3))
    );
    assert_eq!(json["classes"], serde_json::json!(["0", "1"]));
    let method = &json["methods"][0];
    let last: Vec<f64> = csv
        .iter()
        .filter(|row| row.query == 5)
        .map(|row| row.accuracy)
        .collect();
    let mean = last.iter().sum::<f64>() / 4.0;
    assert!((method["accuracy"]["5"]["mean"].as_f64().unwrap() - mean).abs() < 1e-12);
    assert_eq!(method["accuracy"]["5"]["trials"], 4);
    let all = csv.iter().map(|row| row.accuracy).sum::<f64>() / csv.len() as f64;
    assert!((method["mean_accuracy"]["mean"].as_f64().unwrap() - all).abs() < 1e-12);
    assert!(place.read("a.svg").starts_with(b"<svg"));
    assert!(place.read("a.png").starts_with(b"\x89PNG\r\n\x1a\n"));
}

#[test]
fn initial_items_are_named_by_their_ids_also_after_rows_were_left_out() {
    // Row 1 is left out; the others keep their numbers as ids, so item 5 is node 4.
    let place = Place::with(
        "a.csv",
        "x,y,label\n0,0,a\nnan,0,a\n0,1,a\n1,0,a\n9,9,b\n9,8,b\n8,9,b\n",
    );
    let typed = "simulate a.csv --k 2 --drop-nonfinite --initial 0,5 --queries 1 --trials 1 --out - --quiet";
    let start = place.line(typed).ok().out;
    assert_eq!(
        start.lines().nth(1).unwrap().split(',').nth(8),
        Some("2"),
        "{start}"
    );
    place
        .line(&typed.replace("0,5", "1"))
        .fails("I12", 3, &["no item has the id \"1\""]);
}
