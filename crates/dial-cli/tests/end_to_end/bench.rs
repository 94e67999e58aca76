//! `dial lab bench`: every stage is there. No test looks at a clock.

use crate::run::Place;

#[test]
fn every_stage_is_timed() {
    let place = Place::new();
    let text = place
        .line("lab bench --items 300 --steps 3 --quiet")
        .ok()
        .out;
    for stage in [
        "neighbours, exact",
        "graph",
        "one solve",
        "fifty columns, each",
        "label in, faithful",
        "GB/s",
    ] {
        assert!(text.contains(stage), "{stage} is not in {text}");
    }
    let json = place
        .line("lab bench --items 300 --steps 3 --json")
        .ok()
        .json();
    assert_eq!(json["items"], 300);
    assert!(
        json["stages"]
            .as_array()
            .unwrap()
            .iter()
            .all(|stage| stage["seconds"].as_f64().unwrap() >= 0.0)
    );
    assert!(json["iterations"].as_u64().unwrap() > 1);
}

#[test]
fn a_pool_that_is_too_small_or_a_bad_tau_is_refused() {
    let place = Place::new();
    place
        .line("lab bench --items 49 --quiet")
        .fails("U0", 2, &["50"]);
    place
        .line("lab bench --items 300 --tau -1 --quiet")
        .fails("N7", 2, &["tau"]);
}
