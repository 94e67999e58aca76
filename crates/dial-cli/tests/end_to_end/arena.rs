//! `dial lab arena`: the quick version without data, resuming, adding contestants, the page, refusals.

use std::fs;
use std::path::PathBuf;

use crate::run::{Place, Ran};

const FOUR: &str = "dirichlet-proportional,dirichlet-max,margin@laplace,random";

fn arena(place: &Place, words: &str) -> Ran {
    place.lab("arena", words)
}

/// All cells of a run.
fn cells(place: &Place, out: &str) -> Vec<PathBuf> {
    let list = |folder: PathBuf| -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        found.sort();
        found
    };
    let pools = list(place.path(&format!("{out}/cells")));
    let all = pools.into_iter().flat_map(list).flat_map(list);
    all.filter(|file| file.extension().is_some_and(|ending| ending == "csv"))
        .collect()
}

/// A result without its timings: all cells but that of the seconds.
fn untimed(place: &Place, file: &str) -> Vec<Vec<String>> {
    let text = String::from_utf8(place.read(file)).unwrap();
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let seconds = header.iter().position(|name| *name == "seconds").unwrap();
    let row = |line: &str| {
        let mut cells: Vec<String> = line.split(',').map(String::from).collect();
        cells.remove(seconds);
        cells
    };
    text.lines().map(row).collect()
}

#[test]
fn everybody_plays_in_small_without_data() {
    let place = Place::new();
    let json = arena(&place, "--quick --quiet --json --seeds 1 --queries 6")
        .ok()
        .json();
    assert_eq!(
        json["pools"].as_array().unwrap().len(),
        4,
        "the generated pools"
    );
    let league = json["league"].as_array().unwrap();
    let names: Vec<&str> = league
        .iter()
        .map(|row| row["contestant"].as_str().unwrap())
        .collect();
    for name in [
        "dirichlet-proportional",
        "margin@laplace (own classifier)",
        "vopt-full",
        "land",
        "random",
    ] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    let reference = &league[names
        .iter()
        .position(|name| *name == "dirichlet-proportional")
        .unwrap()];
    assert!((reference["ratio"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    assert!(
        reference["ece_50"].as_f64().is_some() && reference["balanced"].as_f64().unwrap() > 0.0
    );
    for file in [
        "league.csv",
        "differences.csv",
        "league.md",
        "overview.svg",
        "curves-moons.png",
        "results/scene.csv",
    ] {
        assert!(
            place.path(&format!("dial-arena-quick/{file}")).is_file(),
            "{file}"
        );
    }
}

#[test]
fn a_run_that_was_cut_off_gives_the_same_results() {
    let (whole, cut) = (Place::new(), Place::new());
    let words =
        format!("--quick --quiet --pools moons,digits --methods {FOUR} --queries 8 --out out");
    arena(&whole, &words).ok();
    arena(&cut, &format!("{words} --threads 1")).ok();
    let all = cells(&cut, "out");
    assert_eq!(all.len(), 2 * 4 * 2);
    for file in all.iter().step_by(2) {
        fs::remove_file(file).unwrap();
    }
    fs::write(&all[1], "query,labelled\n0,").unwrap();
    fs::remove_file(cut.path("out/results/moons.csv")).unwrap();
    arena(&cut, &format!("{words} --threads 4")).ok();
    for pool in ["moons", "digits"] {
        let file = format!("out/results/{pool}.csv");
        assert_eq!(untimed(&cut, &file), untimed(&whole, &file));
        let file = format!("out/results/{pool}-curves.csv");
        assert_eq!(cut.read(&file), whole.read(&file));
    }
}

#[test]
fn results_alone_are_enough_to_add_seeds() {
    let (whole, parts) = (Place::new(), Place::new());
    let words = format!("--quick --quiet --pools moons --methods {FOUR} --queries 8 --out out");
    arena(&whole, &format!("{words} --seeds 5")).ok();
    for seeds in [2, 5] {
        arena(&parts, &format!("{words} --seeds {seeds}")).ok();
        if seeds == 2 {
            fs::remove_dir_all(parts.path("out/cells")).unwrap();
        }
    }
    assert_eq!(
        cells(&parts, "out").len(),
        4 * 3,
        "what is known is not played again"
    );
    let file = "out/results/moons.csv";
    assert_eq!(untimed(&parts, file), untimed(&whole, file));
    let curves = |place: &Place| -> Vec<f64> {
        let text = String::from_utf8(place.read("out/results/moons-curves.csv")).unwrap();
        text.lines()
            .skip(1)
            .flat_map(|line| {
                line.split(',')
                    .map(|cell| cell.parse().unwrap())
                    .collect::<Vec<_>>()
            })
            .collect()
    };
    let (one, other) = (curves(&parts), curves(&whole));
    assert_eq!(one.len(), other.len());
    // Files keep four places.
    assert!(
        one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-3),
        "{one:?} {other:?}"
    );
    // Results of other settings do not count: whoever changed is played again, and nobody else.
    let digests = String::from_utf8(parts.read("out/results/digests.csv")).unwrap();
    let changed = |line: &str| {
        if line.starts_with("moons,random,") {
            "moons,random,00000000"
        } else {
            line
        }
        .to_string()
    };
    let text: Vec<String> = digests.lines().map(changed).collect();
    fs::write(
        parts.path("out/results/digests.csv"),
        text.join("\n") + "\n",
    )
    .unwrap();
    fs::remove_dir_all(parts.path("out/cells")).unwrap();
    arena(&parts, &format!("{words} --seeds 2")).ok();
    assert_eq!(cells(&parts, "out").len(), 2, "random is played again");
    let seeds = |name: &str| {
        untimed(&parts, file)
            .iter()
            .filter(|row| row[0] == name)
            .count()
    };
    assert_eq!((seeds("random"), seeds("dirichlet-max")), (2, 5));
    assert_eq!(parts.read("out/results/digests.csv"), digests.into_bytes());
    arena(&parts, "--seeds 1001").fails("U0", 2, &["1000"]);
}

#[test]
fn contestants_and_seeds_are_added_to_those_that_are_there() {
    let place = Place::new();
    let words = "--quick --quiet --pools moons --queries 8 --out out";
    arena(
        &place,
        &format!("{words} --methods dirichlet-proportional,random --seeds 1"),
    )
    .ok();
    let before: Vec<(PathBuf, Vec<u8>)> = cells(&place, "out")
        .into_iter()
        .map(|file| (file.clone(), fs::read(file).unwrap()))
        .collect();
    let json = arena(
        &place,
        &format!("{words} --methods variance:prior=0.01:batch=4 --seeds 3 --json"),
    )
    .ok()
    .json();
    let names: Vec<&str> = json["league"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|r| r["contestant"].as_str())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    arena(&place, &format!("{words} --methods random --seeds 2")).ok();
    for (file, bytes) in &before {
        assert_eq!(&fs::read(file).unwrap(), bytes, "even its timings");
    }
    assert_eq!(
        untimed(&place, "out/results/moons.csv").len(),
        1 + 1 + 2 + 3
    );
    arena(
        &place,
        "--quick --quiet --pools moons --queries 9 --out out --methods random",
    )
    .fails("R1", 6, &["other settings", "--out"]);
}

#[test]
fn slow_contestants_may_play_fewer_seeds_and_changed_ones_again() {
    let place = Place::new();
    let words = "--quick --quiet --pools moons --queries 5 --out out --methods random,margin@laplace --seeds 3";
    arena(&place, &format!("{words} --slow-seeds 1")).ok();
    // The header, three seeds of random, one of margin@laplace in either classifier.
    assert_eq!(untimed(&place, "out/results/moons.csv").len(), 1 + 3 + 2);
    let all = cells(&place, "out");
    let before = fs::read(&all[0]).unwrap();
    fs::write(
        &all[0],
        String::from_utf8(before.clone())
            .unwrap()
            .replace("\n5,", "\n5,9"),
    )
    .unwrap();
    arena(&place, &format!("{words} --slow-seeds 1 --fresh")).ok();
    let labelled = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        text.lines()
            .map(|line| line.split(',').nth(1).unwrap().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        labelled(&fs::read(&all[0]).unwrap()),
        labelled(&before),
        "the match was played again"
    );
}

#[test]
fn the_page_keeps_its_prose() {
    let place = Place::new();
    arena(
        &place,
        &format!("--quick --quiet --pools moons --methods {FOUR} --queries 8 --out docs/accuracy"),
    )
    .ok();
    arena(
        &place,
        "--quiet --page docs/accuracy.md --out docs/accuracy",
    )
    .ok();
    let page = String::from_utf8(place.read("docs/accuracy.md")).unwrap();
    assert!(
        page.contains("(accuracy/curves-moons.svg)") && page.contains("| random |"),
        "{page}"
    );
    let mine = page.replace(
        "# Accuracy per label\n",
        "# Accuracy per label\n\nWords of mine.\n",
    );
    fs::write(
        place.path("docs/accuracy.md"),
        mine.replace("| random |", "| nobody |"),
    )
    .unwrap();
    arena(
        &place,
        "--quiet --page docs/accuracy.md --out docs/accuracy",
    )
    .ok();
    assert_eq!(
        String::from_utf8(place.read("docs/accuracy.md")).unwrap(),
        mine
    );
    arena(&place, "--quiet --page page.md --out nowhere").fails("I12", 3, &["holds no results"]);
}

#[test]
fn what_cannot_be_played_is_refused_before_anything_is_done() {
    let place = Place::new();
    arena(&place, "--pools optdigits").fails("I5", 3, &["optdigits", "--data", "Nothing was done"]);
    arena(&place, "--pools nowhere").fails("U1", 2, &["nowhere", "optdigits"]);
    arena(&place, "--pools satimage --data .").fails("U1", 2, &["held out", "--held-out"]);
    arena(&place, "--methods nobody").fails("U0", 2, &["dirichlet-proportional"]);
    arena(&place, "--methods variance:prior=much").fails("U0", 2, &["prior"]);
    assert!(place.files().is_empty(), "nothing is written");
    let list = arena(&place, "--list").ok().out;
    assert!(
        list.contains("dirichlet-proportional") && list.contains("satimage (held out)"),
        "{list}"
    );
}
