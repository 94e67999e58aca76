//! The settings of a simulation against each other: two ways to say the same give the same questions.

use std::collections::BTreeSet;

use dial_data::{ArrayData, read_npz};

use crate::run::{Place, Row, npy_vector, simulate, solve, two_blobs};

/// One question in each of many trials on the pool in two pieces, row 0 being labelled.
fn first_questions(rest: &str) -> Vec<usize> {
    let words = format!(
        "blobs.csv --k 3 --prior 1 --initial 0 --queries 1 --trials 40 --policy proportional {rest}"
    );
    let words = if rest.contains("--acquisition") {
        words
    } else {
        format!("{words} --acquisition variance")
    };
    simulate(&two_blobs(), &words)
        .iter()
        .filter_map(|row| row.node)
        .collect()
}

#[test]
fn a_sharp_policy_asks_only_the_best() {
    // Rows 7 to 11 have no evidence and the same, largest variance.
    let best: BTreeSet<usize> = first_questions("--lambda inf").into_iter().collect();
    assert_eq!(best, (7..12).collect());
    // On the left alpha is (1 + K, 1), the variance about (1 - K/3)/6, and K is above 1e-6: at lambda = 1e9 that is a
    // factor of exp(-50) or less.
    let large: BTreeSet<usize> = first_questions("--lambda 1e9").into_iter().collect();
    assert_eq!(large, best);
}

#[test]
fn a_blunt_policy_asks_anything() {
    let blunt = first_questions("--lambda 0");
    let asked: BTreeSet<usize> = blunt.iter().copied().collect();
    // The chance that 40 uniform draws of 11 miss one half of them is below 1e-9.
    assert!(
        asked.iter().any(|&node| node < 7) && asked.iter().any(|&node| node >= 7),
        "{asked:?}"
    );
    assert!(!asked.contains(&0), "what is labelled is not asked");
    // With lambda 0 the scores do not matter.
    assert_eq!(first_questions("--lambda 0 --acquisition margin"), blunt);
}

/// Runs on one pool with different words for the same.
fn same(pool: &str, common: &str, words: &[&str]) -> Vec<Row> {
    let place = two_blobs();
    let runs: Vec<_> = words
        .iter()
        .map(|w| simulate(&place, &format!("{pool} --trials 3 {common} {w}")))
        .collect();
    for (run, word) in runs.iter().zip(words) {
        assert_eq!(run, &runs[0], "{word} is not {}", words[0]);
    }
    runs[0].clone()
}

const MOONS: &str = "builtin:moons:150 --k 7";

/// Draws from the first question on.
const DRAWN: &str = "--queries 8 --policy proportional --initial none";

#[test]
fn schedules_and_constants_agree() {
    let constant = same(MOONS, DRAWN, &["--lambda 5", "--lambda schedule:5,0"]);
    // A linear schedule begins where the constant does, and then leaves it.
    let place = Place::new();
    let run = |lambda: &str| simulate(&place, &format!("{MOONS} --trials 3 {DRAWN} {lambda}"));
    let linear = run("--lambda schedule:5,1");
    let begins =
        |rows: &[Row]| -> Vec<Row> { rows.iter().filter(|row| row.query <= 1).cloned().collect() };
    assert_eq!(begins(&linear), begins(&constant));
    assert_ne!(linear, constant);
    // schedule:1,1 is lambda = t; at the first question that is 1.
    assert_eq!(
        begins(&run("--lambda schedule:1,1")),
        begins(&run("--lambda 1"))
    );
}

#[test]
fn defaults_are_what_they_are_said_to_be() {
    let auto =
        "--acquisition auto --prior 0.0001 --tau 0.03xdegree --weights symmetric --calibration on";
    same(
        MOONS,
        "--queries 5",
        &["", auto, "--policy max --metric euclidean"],
    );
    same(
        MOONS,
        "--queries 5",
        &[
            "",
            "--propagation poisson --initial one-per-class --batch 1",
        ],
    );
    // Other acquisitions have the paper's settings, and so has what cannot be asked by auto.
    let variance = "--queries 5 --acquisition variance";
    same(
        MOONS,
        variance,
        &[
            "",
            "--policy max --prior 1 --tau 0.1 --weights self-tuning --calibration off",
        ],
    );
    same(
        MOONS,
        "--queries 5 --propagation heat",
        &["", "--acquisition variance --weights self-tuning"],
    );
    same(
        MOONS,
        "--queries 5 --tau 0",
        &["", "--acquisition variance --calibration off"],
    );
    let drawn = "--queries 5 --acquisition variance --policy proportional";
    same(
        MOONS,
        drawn,
        &[
            "",
            "--prior calibrated --lambda auto --expected-clusters 20",
        ],
    );
    same(
        "builtin:moons:150",
        "--queries 5",
        &["", "--k 20 --seed 0 --model dirichlet --precision faithful"],
    );
    // The acquisitions read the Dirichlet mean unless a model is named.
    let place = Place::new();
    let named = simulate(
        &place,
        &format!("{MOONS} --trials 1 --queries 3 --acquisition margin@dirichlet"),
    );
    assert_eq!(
        named,
        simulate(
            &place,
            &format!("{MOONS} --trials 1 --queries 3 --acquisition margin")
        )
    );
    // Margins of two classes are ranges.
    let strip =
        |rows: Vec<Row>| -> Vec<_> { rows.into_iter().map(|row| (row.query, row.node)).collect() };
    let range = simulate(
        &place,
        &format!("{MOONS} --trials 1 --queries 3 --acquisition margin-range"),
    );
    assert_eq!(strip(range), strip(named));
}

#[test]
fn tau_in_units_of_the_degree() {
    let place = Place::new();
    let json = place
        .line(&format!("graph {MOONS} --weights symmetric --json --quiet"))
        .ok()
        .json();
    let tau = 0.1 * json["mean_degree"].as_f64().unwrap();
    let rows = same(
        MOONS,
        "--queries 8",
        &["--tau 0.1xdegree", &format!("--tau {tau:e}")],
    );
    assert_ne!(rows, same(MOONS, "--queries 8", &["--tau 2"]));
}

/// The value below which 19 of 20 parts of the 12 values lie: position 0.95 * 11 = 10.45 in order.
fn rim(mut values: Vec<f64>) -> f64 {
    assert_eq!(values.len(), 12);
    values.sort_by(f64::total_cmp);
    values[10] + 0.45 * (values[11] - values[10])
}

const JOINED: &str = "blobs.csv --k 8";

#[test]
fn the_calibrated_prior_is_the_papers() {
    // 5 * 20 sources are more than the pool has, so every item is one.
    let place = two_blobs();
    let column = |source: usize| {
        place
            .line(&format!(
                "propagate {JOINED} --source {source} --out c.npy --quiet"
            ))
            .ok();
        npy_vector(&place.read("c.npy"))
    };
    let strength = (0..12)
        .map(|source| rim(column(source)))
        .fold(1e-6, f64::max);
    let own = format!("--prior {strength:e}");
    let rows = same(
        JOINED,
        "--queries 9 --initial none",
        &["--prior calibrated", &own],
    );
    assert_eq!(rows.len(), 3 * 10);
}

#[test]
fn the_raw_calibrated_prior_is_the_authors() {
    let place = two_blobs();
    place
        .line(&format!("graph {JOINED} --out g.npz --quiet"))
        .ok();
    let strength = (0..12)
        .map(|source| rim(raw_column(&place, source)))
        .fold(1e-6, f64::max);
    let own = format!("--prior {strength:e}");
    same(
        JOINED,
        "--queries 9 --initial none --acquisition variance",
        &["--prior calibrated-raw", &own],
    );
}

/// g of (L + 0.1 I) g = e by elimination, from the saved weights.
fn raw_column(place: &Place, source: usize) -> Vec<f64> {
    let (starts, columns, weights) = csr(place);
    let mut matrix = vec![vec![0.0; 12]; 12];
    for row in 0..12 {
        matrix[row][row] += 0.1;
        for entry in starts[row] as usize..starts[row + 1] as usize {
            matrix[row][row] += weights[entry];
            matrix[row][columns[entry] as usize] -= weights[entry];
        }
    }
    let right = (0..12)
        .map(|row| f64::from(u8::from(row == source)))
        .collect();
    solve(matrix, right)
}

fn csr(place: &Place) -> (Vec<i64>, Vec<i64>, Vec<f64>) {
    let arrays = read_npz(place.path("g.npz")).unwrap();
    let get = |name: &str| {
        arrays
            .iter()
            .find(|(found, _)| found == name)
            .unwrap()
            .1
            .data
            .clone()
    };
    match (get("indptr"), get("indices"), get("data")) {
        (ArrayData::I64(starts), ArrayData::I64(columns), ArrayData::F64(weights)) => {
            (starts, columns, weights)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn another_prior_asks_other_questions() {
    let run = |prior: &str| same(MOONS, "--queries 10 --initial none", &[prior]);
    assert_ne!(run("--prior 0.5"), run("--prior 0.001"));
}

/// Two policies on a pool of few neighbours.
const BLOBS: &str = "builtin:blobs:120 --k 6 --queries 10 --trials 2 --acquisition variance --policy max,proportional";

#[test]
fn batches_hold_no_neighbours() {
    let place = Place::new();
    place
        .line("graph builtin:blobs:120 --k 6 --out g.npz --quiet")
        .ok();
    let (starts, columns, _) = csr(&place);
    let joined = |a: usize, b: usize| {
        columns[starts[a] as usize..starts[a + 1] as usize].contains(&(b as i64))
    };
    let rows = simulate(&place, &format!("{BLOBS} --batch 4"));
    assert_eq!(rows.len(), 2 * 2 * 11);
    for trial in rows.chunk_by(|_, next| next.query > 0) {
        let nodes: Vec<usize> = trial.iter().filter_map(|row| row.node).collect();
        assert_eq!(
            nodes.len(),
            10,
            "the last batch is cut to what was asked for"
        );
        for batch in nodes.chunks(4) {
            let pairs = batch
                .iter()
                .enumerate()
                .flat_map(|(i, &a)| batch[..i].iter().map(move |&b| (a, b)));
            pairs.for_each(|(a, b)| assert!(a != b && !joined(a, b), "{a} and {b} are neighbours"));
        }
    }
    // One question at a time may well ask a neighbour of the one before, so the rule is visible.
    let single = simulate(&place, BLOBS);
    assert_ne!(single, rows);
}

#[test]
fn the_width_of_a_radial_kernel_is_the_mean_reach() {
    // Items at 0, 1, 3, 7 with k = 1: the distances to the nearest are 1, 1, 2, 4, their mean 2.
    let place = Place::with("a.csv", "a,label\n0,x\n1,x\n3,y\n7,y\n");
    for shape in ["rbf", "compact"] {
        let column = |rest: &str| {
            let words = format!(
                "propagate a.csv --k 1 --source 0 --propagation {shape} --out c.npy --quiet {rest}"
            );
            place.line(&words).ok();
            npy_vector(&place.read("c.npy"))
        };
        assert_eq!(column(""), column("--sigma 2"));
        assert_ne!(column(""), column("--sigma 3"));
    }
    place
        .line("simulate a.csv --k 1 --propagation rbf --sigma 0 --quiet")
        .fails("U1", 2, &["sigma", "above 0, got 0"]);
    place
        .line("simulate a.csv --k 1 --source-value 0 --quiet")
        .fails("U1", 2, &["got 0"]);
}

#[test]
fn every_acquisition_and_model_of_the_paper_runs() {
    let names = "vopt,sigma-opt,mcvopt,vopt-full,sigma-opt-full,land,margin@laplace,norm@reweighted,entropy@poisson,\
                 least-confidence@nearest,margin-range@land,k-centre,typiclust,probcover,max-herding,\
                 uncertainty-herding,rwll-norm,margin@logistic";
    let models = "dirichlet,laplace,poisson,reweighted,nearest,land,logistic";
    let words = format!(
        "builtin:digits:120 --acquisition {names} --model {models} --queries 4 --trials 2 --eigenpairs 12"
    );
    let rows = simulate(&Place::new(), &words);
    assert_eq!(rows.len(), 18 * 7 * 2 * 5);
    for name in names.split(',') {
        for model in models.split(',') {
            let of: Vec<&Row> = rows
                .iter()
                .filter(|row| row.acquisition == name && row.model == model)
                .collect();
            assert_eq!(of.len(), 10, "{name} {model}");
            assert!(of.iter().all(|row| (0.0..=1.0).contains(&row.accuracy)));
        }
        // The questions do not depend on who judges them.
        let nodes = |model: &str| -> Vec<Option<usize>> {
            rows.iter()
                .filter(|row| row.acquisition == name && row.model == model)
                .map(|row| row.node)
                .collect()
        };
        assert_eq!(nodes("laplace"), nodes("dirichlet"), "{name}");
    }
    // With ten labelled digits of a kind each, every classifier beats guessing.
    let mean = |model: &str| {
        let of: Vec<f64> = rows
            .iter()
            .filter(|row| row.model == model)
            .map(|row| row.accuracy)
            .collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    for model in models.split(',') {
        assert!(mean(model) > 0.15, "{model}: {}", mean(model));
    }
}

#[test]
fn what_no_model_has_is_refused() {
    let place = Place::new();
    for (word, piece) in [
        ("variance@laplace", "margin"),
        ("vopt@laplace", "margin@laplace"),
        ("margin@nobody", "laplace"),
    ] {
        let line = format!("simulate builtin:moons:100 --acquisition {word}");
        place.line(&line).fails("U0", 2, &[piece]);
    }
}
