//! Maps of a scene after a simulation.

use crate::run::{Place, two_blobs};

const SIMULATE: &str = "simulate builtin:scene:256 --k 8 --queries 10 --trials 1 --quiet";

#[test]
fn a_scene_leaves_maps_that_can_be_read_again() {
    let place = Place::new();
    let ran = place.line(&format!("{SIMULATE} --maps maps")).ok();
    for file in [
        "classes.hdr",
        "classes.img",
        "classes.png",
        "uncertainty.hdr",
        "uncertainty.img",
        "uncertainty.png",
    ] {
        assert!(
            ran.out.contains(&format!("wrote maps/{file}")),
            "{}",
            ran.out
        );
    }
    // 16 x 16 pixels, each of them of one of 6 classes; 4 bytes for each uncertainty, from 0 to 5/6.
    let classes = place.read("maps/classes.img");
    assert_eq!(classes.len(), 256);
    assert!(classes.iter().all(|class| (1..=6).contains(class)));
    let uncertainty = place.read("maps/uncertainty.img");
    let values = uncertainty
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
    assert!(
        values.clone().count() == 256 && values.clone().all(|value| (0.0..=0.834).contains(&value))
    );
    // One label per class and ten answers.
    assert_eq!(values.filter(|value| *value == 0.0).count(), 16);
    assert!(place.read("maps/classes.png").starts_with(b"\x89PNG"));
    // The map is a file of labels for the scene it came from.
    let again =
        "simulate builtin:scene:256 --k 8 --queries 2 --trials 1 --labels maps/classes.hdr --json";
    let report = place.line(again).ok().json();
    assert_eq!(
        (
            &report["items"],
            report["classes"].as_array().unwrap().len()
        ),
        (&256.into(), 6)
    );
    let same = place
        .line(&format!("{SIMULATE} --threads 1 --maps more"))
        .ok();
    assert_eq!((same.code, place.read("more/classes.img")), (0, classes));
    assert_eq!(place.read("more/uncertainty.img"), uncertainty);
}

#[test]
fn only_scenes_have_maps_and_nothing_is_overwritten() {
    let place = two_blobs();
    place.line("simulate blobs.csv --k 3 --maps maps").fails(
        "U1",
        2,
        &["--maps is for scenes", "is a row"],
    );
    assert_eq!(place.files().len(), 1);
    place.line(&format!("{SIMULATE} --maps blobs.csv")).fails(
        "S5",
        5,
        &["is a file, not a folder"],
    );
    place.line(&format!("{SIMULATE} --maps maps")).ok();
    let line = format!("{SIMULATE} --maps maps --labels maps/classes.hdr");
    place
        .line(&line)
        .fails("U1", 2, &["would overwrite the labels"]);
}
