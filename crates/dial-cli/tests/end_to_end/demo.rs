//! `dial demo`: the files of the tour, and a report that stands alone.

use std::collections::BTreeSet;

use crate::run::{Place, Row, rows};

const FILES: [&str; 4] = ["curves.png", "curves.svg", "report.html", "runs.csv"];

fn text(place: &Place, name: &str) -> String {
    String::from_utf8(place.read(name)).unwrap()
}

/// Elements that have no end tag.
const VOID: [&str; 5] = ["meta", "br", "hr", "img", "link"];

/// Checks that every tag is closed in the right order, and returns the names of all elements.
#[track_caller]
fn elements(page: &str) -> BTreeSet<String> {
    let (mut open, mut seen) = (Vec::new(), BTreeSet::new());
    for part in page.split('<').skip(1) {
        let (tag, _) = part
            .split_once('>')
            .unwrap_or_else(|| panic!("a tag that does not end: {part}"));
        let name: String = tag
            .chars()
            .take_while(|c| !c.is_whitespace() && *c != '>')
            .collect();
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
        } else if !tag.starts_with(['!', '?']) {
            let name = name.trim_end_matches('/').to_string();
            seen.insert(name.clone());
            if !tag.ends_with('/') && !VOID.contains(&name.as_str()) {
                open.push(name);
            }
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    seen
}

/// Checks that a page asks nothing of the network and runs nothing.
#[track_caller]
fn stands_alone(page: &str) {
    let lower = page.to_lowercase();
    for word in [
        "src=\"http",
        "href=\"http",
        "src=\"//",
        "href=\"//",
        "url(http",
        "@import",
        "<script",
        "<iframe",
        "onload=",
    ] {
        assert!(!lower.contains(word), "the page holds {word}");
    }
    // Every mention of the network is the name of the SVG format, which nothing fetches.
    assert_eq!(
        lower.matches("http").count(),
        lower
            .matches("xmlns=\"http://www.w3.org/2000/svg\"")
            .count()
    );
    for source in lower.split("src=\"").skip(1) {
        assert!(
            source.starts_with("data:image/png;base64,"),
            "{}",
            &source[..40]
        );
    }
}

#[test]
fn the_tour_of_pictures() {
    let place = Place::new();
    let ran = place.line("demo --queries 3 --trials 2").ok();
    assert_eq!(place.files(), BTreeSet::from(["dial-demo".to_string()]));
    assert!(
        ran.out.contains("digits: 2000 items, 10 classes"),
        "{}",
        ran.out
    );
    let report = std::path::Path::new("dial-demo").join("report.html");
    assert!(
        ran.out.contains(&format!("\nOpen  {}\n", report.display())),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("What to type next:") && ran.out.contains("dial --help"),
        "{}",
        ran.out
    );
    let page = text(&place, "dial-demo/report.html");
    stands_alone(&page);
    let seen = elements(&page);
    for name in ["svg", "img", "table", "h1", "style"] {
        assert!(seen.contains(name), "no {name} among {seen:?}");
    }
    // One trial is told, all are in the table, whose numbers stand to the right and on one line.
    let told = "In the first trial of auto (the table shows means over 2 trials): after 3 answers ";
    assert!(
        ran.out.contains(told)
            && ran
                .out
                .contains(" % of the other 1997 items are classified right."),
        "{}",
        ran.out
    );
    assert!(
        page.contains("of the 1997 other items whose label is known")
            && page.contains("This is the first trial")
    );
    assert!(page.contains("<td class=\"n\"><bdi>") && page.contains("\u{a0}±\u{a0}"));
    assert!(page.contains("calibrated on the answers"));
    // Three answers say nothing about accuracy.
    assert!(
        !page.contains("Accuracy, expected") && !ran.out.contains("Without looking"),
        "{}",
        ran.out
    );
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<title>DiAL on digits</title>"));
}

#[test]
fn a_pool_of_numbers_in_a_folder_by_name() {
    let place = Place::new();
    let ran = place
        .line("demo builtin:blobs:300 --queries 4 --trials 2 --seed 5 --out tour --json --quiet")
        .ok();
    let named: Vec<String> = ran.json()["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file.as_str().unwrap().to_string())
        .collect();
    let found: BTreeSet<String> = std::fs::read_dir(place.path("tour"))
        .unwrap()
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(found, FILES.iter().map(|name| name.to_string()).collect());
    assert_eq!(named.len(), 4);
    named
        .iter()
        .for_each(|file| assert!(place.path(file).is_file(), "{file}"));
    let page = text(&place, "tour/report.html");
    stands_alone(&page);
    elements(&page);
    let svg = text(&place, "tour/curves.svg");
    stands_alone(&svg);
    assert!(elements(&svg).contains("svg"));
    assert!(
        place
            .read("tour/curves.png")
            .starts_with(b"\x89PNG\r\n\x1a\n")
    );
    let records = rows(&text(&place, "tour/runs.csv"));
    check_records(&records);
    // The session of the report is the first trial of its method.
    let drawn = records
        .iter()
        .find(|row| row.acquisition == "auto" && row.trial == 0 && row.query == 4)
        .unwrap();
    assert_eq!(ran.json()["labelled"], 4);
    assert!((ran.json()["accuracy"].as_f64().unwrap() - drawn.accuracy).abs() < 1e-12);
}

/// Four methods, two trials, four questions each from nothing.
fn check_records(rows: &[Row]) {
    let methods: BTreeSet<(&str, &str)> = rows
        .iter()
        .map(|r| (r.acquisition.as_str(), r.policy.as_str()))
        .collect();
    let want = [
        ("auto", "max"),
        ("margin", "max"),
        ("random", "max"),
        ("variance", "proportional"),
    ];
    assert_eq!(methods, BTreeSet::from(want));
    assert_eq!(rows.len(), 4 * 2 * 5);
    assert!(
        rows.iter()
            .all(|row| row.labelled == row.query && row.seed == 5 + row.trial as u64)
    );
}

#[test]
fn a_pool_too_small_for_the_tour_is_refused_before_anything_is_said() {
    let place = Place::with("one.csv", "x,label\n1,a\n");
    let ran = place.line("demo one.csv --out tour --quiet");
    ran.fails("N12", 2, &["at least 2 classes are needed, found 1"]);
    assert!(!place.path("tour").exists());
}

#[test]
fn names_from_data_stay_names() {
    // Markup in the name of a class must not become markup of the page.
    let row = |i: usize| format!("{},{}\n", i + 800 * (i / 30), ["<script>", "a&b"][i / 30]);
    let place = Place::with(
        "a.csv",
        format!("x,label\n{}", (0..60).map(row).collect::<String>()),
    );
    place
        .line("demo a.csv --queries 3 --trials 1 --out tour --quiet")
        .ok();
    let page = text(&place, "tour/report.html");
    stands_alone(&page);
    elements(&page);
    assert!(page.contains("&lt;script&gt;") && page.contains("a&amp;b"));
}

#[test]
fn only_items_of_known_label_are_counted() {
    let label = |i: usize| {
        if i.is_multiple_of(3) {
            ""
        } else {
            ["a", "b"][i / 30]
        }
    };
    let rows: String = (0..60)
        .map(|i| format!("{},{}\n", i + 800 * (i / 30), label(i)))
        .collect();
    let place = Place::with("a.csv", format!("x,label\n{rows}"));
    let ran = place.line("demo a.csv --queries 3 --trials 1 --quiet").ok();
    // 40 labels are known, 3 of them asked.
    assert!(
        ran.out.contains("after 3 answers ")
            && ran.out.contains(" % of the other 37 items of known label"),
        "{}",
        ran.out
    );
    assert_eq!(
        place
            .line("demo a.csv --queries 3 --trials 1 --quiet --json")
            .ok()
            .json()["scored"],
        37
    );
}

#[test]
fn the_same_seed_gives_the_same_tour() {
    let place = Place::new();
    for out in ["one", "two"] {
        place
            .line(&format!(
                "demo builtin:moons:100 --queries 3 --trials 1 --out {out} --quiet"
            ))
            .ok();
    }
    assert_eq!(
        rows(&text(&place, "one/runs.csv")),
        rows(&text(&place, "two/runs.csv"))
    );
    assert_eq!(place.read("one/curves.svg"), place.read("two/curves.svg"));
    assert_eq!(place.read("one/curves.png"), place.read("two/curves.png"));
}
