//! Options of a pool that do not fit, and what is said of them.

use crate::corpus::build::{element, f64s, good_npy, mat, mat_array};
use crate::run::Place;

/// A variable of doubles.
fn doubles(shape: &[i32], name: &str) -> Vec<u8> {
    let values: Vec<f64> = (0..shape.iter().product())
        .map(|value| f64::from(value % 7))
        .collect();
    mat_array(false, 6, shape, name, &element(false, 9, &f64s(&values)))
}

#[test]
fn messages_name_the_option_that_helps() {
    let place = Place::with("cube.mat", mat(&[doubles(&[4, 5, 3], "cube")]))
        .and(
            "gt2.mat",
            mat(&[doubles(&[4, 5], "one"), doubles(&[4, 5], "two")]),
        )
        .and("a.csv", "a,b\n1,2\n3,4\n5,7\n");
    let truth = "doctor cube.mat --labels gt2.mat";
    place.line(truth).fails(
        "I5",
        3,
        &[
            "gt2.mat: several arrays are possible",
            "Choose one with --label-column.",
        ],
    );
    place
        .line(&format!("{truth} --label-column two --k 2"))
        .ok();
    place.line("doctor a.csv --variable X").fails(
        "U1",
        2,
        &["--variable is for the arrays of an npz or mat file"],
    );
    place.line("simulate builtin:scene --maps a.csv").fails(
        "S5",
        5,
        &["a.csv is a file", "Choose another --maps."],
    );
    place
        .line("demo builtin:moons --out a.csv")
        .fails("S5", 5, &["Choose another --out."]);
}

#[test]
fn folders_say_what_they_hold_instead() {
    let place = Place::new();
    std::fs::create_dir(place.path("p")).unwrap();
    std::fs::write(place.path("p/a.png"), "").unwrap();
    place.line("doctor p --as texts").fails(
        "U1",
        2,
        &["a folder without texts (.txt), but with 1 picture"],
    );
}

#[test]
fn limits_hold_before_a_pool_is_made() {
    let place = Place::with("a.npy", good_npy());
    // A million drawn digits would take minutes.
    let start = std::time::Instant::now();
    place
        .line("doctor builtin:digits:1000000 --memory-limit 100M")
        .fails("N18", 7, &["allowed by --memory-limit"]);
    assert!(start.elapsed().as_secs() < 20);
    place
        .line("doctor a.npy --as scene --memory-limit 1K")
        .fails("N18", 7, &["allowed by --memory-limit"]);
}

#[test]
fn what_is_no_pool_says_what_to_give() {
    let place = Place::with("a.png", b"\x89PNG\r\n\x1a\n").and("a.npy", good_npy());
    place.line("doctor a.png").fails(
        "I5",
        3,
        &[
            "looks like a PNG picture",
            "Give the folder that holds the pictures",
        ],
    );
    place.line("doctor a.npy --label-column y").fails(
        "U1",
        2,
        &["--label-column is for tables, and this is none"],
    );
    std::fs::create_dir_all(place.path("t/one")).unwrap();
    for item in 0..4 {
        std::fs::write(
            place.path(&format!("t/one/{item}.txt")),
            format!("some words and {item}"),
        )
        .unwrap();
    }
    place.line("simulate t --k 2").fails(
        "I12",
        3,
        &["Pass --folder-labels if the names of the sub-folders"],
    );
}

#[test]
fn classes_of_one_item_are_refused_and_nothing_is_scored_on_nothing() {
    let own: String = (0..12)
        .map(|item| format!("{item},{},c{item}\n", item % 5))
        .collect();
    let two: String = (0..6)
        .map(|item| format!("{},{},c{}\n", item, item % 5, item % 2))
        .collect();
    let place = Place::with("own.csv", format!("a,b,label\n{own}"))
        .and("two.csv", format!("a,b,label\n{two}"));
    place.line("simulate own.csv --k 2").fails(
        "I12",
        3,
        &["each of the 12 labelled items has a different class"],
    );
    let json = place
        .line("simulate two.csv --k 2 --queries 4 --trials 1 --acquisition variance --json --quiet")
        .ok()
        .json();
    // Two labels to begin with and four answers are all there is.
    assert!(
        json["methods"][0]["accuracy"]["4"]["mean"].is_null(),
        "{json}"
    );
    assert!(
        json["methods"][0]["mean_accuracy"]["mean"].is_number(),
        "{json}"
    );
}
