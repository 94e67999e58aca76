//! Options of a pool that do not fit, and what is said of them.

use crate::corpus::build::{element, f64s, good_npy, mat, mat_array};
use crate::run::Place;

/// A variable of doubles.
fn doubles(shape: &[i32], name: &str) -> Vec<u8> {
    let values: Vec<f64> = (0..shape.iter().product()).map(|value| f64::from(value % 7)).collect();
    mat_array(false, 6, shape, name, &element(false, 9, &f64s(&values)))
}

#[test]
fn messages_name_the_option_that_helps() {
    let place = Place::with("cube.mat", mat(&[doubles(&[4, 5, 3], "cube")]))
        .and("gt2.mat", mat(&[doubles(&[4, 5], "one"), doubles(&[4, 5], "two")]))
        .and("a.csv", "a,b\n1,2\n3,4\n5,7\n");
    let truth = "doctor cube.mat --labels gt2.mat";
    place.line(truth).fails("I5", 3, &["gt2.mat: several arrays are possible", "Choose one with --label-column."]);
    place.line(&format!("{truth} --label-column two --k 2")).ok();
    place.line("doctor a.csv --variable X").fails("U1", 2, &["--variable is for the arrays of an npz or mat file"]);
    place.line("simulate builtin:scene --maps a.csv").fails("S5", 5, &["a.csv is a file", "Choose another --maps."]);
    place.line("demo builtin:moons --out a.csv").fails("S5", 5, &["Choose another --out."]);
}

#[test]
fn folders_say_what_they_hold_instead() {
    let place = Place::new();
    std::fs::create_dir(place.path("p")).unwrap();
    std::fs::write(place.path("p/a.png"), "").unwrap();
    place.line("doctor p --as texts").fails("U1", 2, &["a folder without texts (.txt), but with 1 picture"]);
}

#[test]
fn limits_hold_before_a_pool_is_made() {
    let place = Place::with("a.npy", good_npy());
    // A million drawn digits would take minutes.
    let start = std::time::Instant::now();
    place.line("doctor builtin:digits:1000000 --memory-limit 100M").fails("N18", 7, &["allowed by --memory-limit"]);
    assert!(start.elapsed().as_secs() < 20);
    place.line("doctor a.npy --as scene --memory-limit 1K").fails("N18", 7, &["allowed by --memory-limit"]);
}
