//! `dial lab reproduce`: the quick version of every experiment, resuming, refusing, and what it says where data are missing.

use std::fs;
use std::path::Path;

use crate::run::{Place, Ran};

/// Every experiment with a figure and a table it must leave.
const LEFT: [(&str, &str, &str); 11] = [
    ("variance", "variance.svg", "variance-slice.csv"),
    ("alignment", "alignment.svg", "alignment.csv"),
    ("propagation-2d", "propagation-2d.svg", "propagation-2d.csv"),
    (
        "uncertainty-1d",
        "uncertainty-1d.svg",
        "uncertainty-1d-queries.csv",
    ),
    ("hsi", "curves.svg", "pavia-runs.csv"),
    ("mnist-small", "curves.svg", "mnist-small-runs.csv"),
    (
        "fashionmnist-small",
        "curves.svg",
        "fashionmnist-small-summary.csv",
    ),
    ("mnist", "curves.svg", "mnist-runs.csv"),
    ("fashionmnist", "curves.svg", "fashionmnist-runs.csv"),
    ("timing", "timing.svg", "timing.csv"),
    ("ssl", "classifiers.svg", "mnist.csv"),
];

fn reproduce(place: &Place, words: &str) -> Ran {
    place.lab("reproduce", words)
}

/// A table without its last column, the seconds.
fn untimed(file: &Path) -> Vec<String> {
    let text =
        fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    assert!(text.lines().next().unwrap().ends_with(",seconds"));
    text.lines()
        .map(|line| line.rsplit_once(',').unwrap().0.to_string())
        .collect()
}

#[test]
fn everything_runs_in_small_without_data() {
    let place = Place::new();
    let json = reproduce(&place, "all --quick --quiet --json").ok().json();
    assert_eq!(json["experiments"].as_array().unwrap().len(), LEFT.len());
    let report = fs::read_to_string(place.path("dial-reproduction-quick/report.html")).unwrap();
    let markdown = fs::read_to_string(place.path("dial-reproduction-quick/report.md")).unwrap();
    for (experiment, figure, table) in LEFT {
        let file = |name: &str| place.path(&format!("dial-reproduction-quick/{experiment}/{name}"));
        let svg = fs::read_to_string(file(figure))
            .unwrap_or_else(|error| panic!("{experiment} {figure}: {error}"));
        assert!(
            svg.starts_with("<svg") && report.contains(&svg),
            "{experiment}: the figure is in the report"
        );
        assert!(
            fs::read(file(&figure.replace(".svg", ".png")))
                .unwrap()
                .starts_with(b"\x89PNG"),
            "{experiment}"
        );
        assert!(
            fs::read_to_string(file(table)).unwrap().lines().count() > 3,
            "{experiment}: {table}"
        );
        let settings = fs::read_to_string(file("settings.json")).unwrap();
        assert!(
            settings.contains(&format!("dial lab reproduce {experiment} ")),
            "{settings}"
        );
        assert!(
            markdown.contains(&format!("({experiment}/{figure})")),
            "{experiment} is in the Markdown report"
        );
    }
    for claim in [
        "comparable to the state of the art",
        "quadratic",
        "best over all experiments",
        "not monotone",
    ] {
        assert!(
            report.contains(claim),
            "the report says nothing about {claim:?}"
        );
    }
}

#[test]
fn a_run_that_was_cut_off_gives_the_same_tables() {
    let (whole, cut) = (Place::new(), Place::new());
    let words = "mnist-small --quick --quiet --trials 3 --out out";
    reproduce(&whole, words).ok();
    reproduce(&cut, &format!("{words} --threads 1")).ok();
    // As if it had been killed: some trials are missing, one was never written to the end, no report was made.
    for gone in ["variance-max/001.csv", "mcvopt/002.csv"] {
        fs::remove_file(cut.path(&format!("out/cells/mnist-small/{gone}"))).unwrap();
    }
    fs::write(
        cut.path("out/cells/mnist-small/land/000.csv"),
        "query,node\n0,",
    )
    .unwrap();
    for (name, lines) in [("land/001", 1), ("vopt/000", 6)] {
        let file = cut.path(&format!("out/cells/mnist-small/{name}.csv"));
        let text = fs::read_to_string(&file).unwrap();
        fs::write(
            &file,
            text.lines()
                .take(lines)
                .map(|line| format!("{line}\n"))
                .collect::<String>(),
        )
        .unwrap();
    }
    fs::remove_dir_all(cut.path("out/mnist-small")).unwrap();
    reproduce(&cut, &format!("{words} --threads 4")).ok();
    let table = "out/mnist-small/mnist-small-runs.csv";
    assert_eq!(untimed(&cut.path(table)), untimed(&whole.path(table)));
    for same in ["mnist-small-summary.csv", "curves.svg", "settings.json"] {
        let same = format!("out/mnist-small/{same}");
        assert_eq!(cut.read(&same), whole.read(&same), "{same}");
    }
}

#[test]
fn more_trials_keep_those_that_are_there() {
    let place = Place::new();
    reproduce(&place, "mnist-small --quick --quiet --trials 2 --out out").ok();
    let cell = "out/cells/mnist-small/random/001.csv";
    let before = place.read(cell);
    reproduce(&place, "mnist-small --quick --quiet --trials 3 --out out").ok();
    assert_eq!(place.read(cell), before, "even its timings");
    assert!(place.path("out/cells/mnist-small/random/002.csv").is_file());
}

#[test]
fn other_settings_are_not_mixed_in() {
    let place = Place::new();
    reproduce(&place, "mnist-small --quick --quiet --trials 1 --out out").ok();
    reproduce(
        &place,
        "mnist-small --quick --quiet --trials 1 --out out --seed 7",
    )
    .fails("R1", 6, &["other settings", "Nothing was changed", "--out"]);
    // A full run does not overwrite quick figures either, and says so before it does anything.
    let before = place.read("out/mnist-small/curves.svg");
    reproduce(&place, "variance --quiet --out out").fails(
        "R1",
        6,
        &["mnist-small, quick", "--out"],
    );
    assert_eq!(place.read("out/mnist-small/curves.svg"), before);
    assert!(!place.path("out/variance").exists());
}

#[test]
fn missing_data_are_named_with_their_publisher() {
    let place = Place::new();
    let pieces = [
        "features/mnistsmall.npz",
        "SHA-256",
        "yann.lecun.com",
        "--data",
        "--quick",
        "Nothing was downloaded",
    ];
    reproduce(&place, "mnist-small").fails("I5", 3, &pieces);
    reproduce(&place, "hsi --data .").fails(
        "I5",
        3,
        &[
            "features/salinassub.npz",
            "features/paviasub.npz",
            "ehu.eus",
        ],
    );
    reproduce(&place, "all").fails(
        "I5",
        3,
        &["features/salinassub.npz", "features/fashionmnist.npz"],
    );
    assert!(
        !place.path("dial-reproduction").exists(),
        "nothing is written"
    );
    reproduce(&place, "nonsense").fails("U0", 2, &["mnist-small", "ssl"]);
}

#[test]
fn class_0_can_be_spared_as_in_the_authors_scripts() {
    let place = Place::new();
    reproduce(
        &place,
        "hsi --quick --quiet --trials 1 --spare-class-0 --out out",
    )
    .ok();
    let text = fs::read_to_string(place.path("out/hsi/pavia-runs.csv")).unwrap();
    let column = |name: &str| {
        text.lines()
            .next()
            .unwrap()
            .split(',')
            .position(|found| found == name)
            .unwrap()
    };
    let (query, class) = (column("query"), column("class"));
    let asked = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|row| row[query] != "0");
    let classes: Vec<String> = asked.map(|row| row[class].to_string()).collect();
    assert!(
        classes.len() > 100 && classes.iter().all(|class| class != "0"),
        "class 0 was asked"
    );
}
