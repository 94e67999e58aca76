//! What is written never destroys what was read, and what cannot be written is said before the work.

use std::fs;

use crate::run::{Place, two_blobs};

const SIMULATE: &str = "simulate blobs.csv --k 3 --queries 2 --trials 1 --quiet";

#[test]
fn the_pool_is_never_overwritten() {
    let place = two_blobs().and(
        "labels.csv",
        "label\n".to_string() + &"a\n".repeat(6) + &"b\n".repeat(6),
    );
    let (pool, labels) = (place.read("blobs.csv"), place.read("labels.csv"));
    let text = "would overwrite the pool blobs.csv. Nothing was done.";
    place
        .line("graph blobs.csv --k 3 --quiet --out blobs.csv")
        .fails("U1", 2, &["blobs.csv: ", text]);
    place
        .line("graph blobs.csv --k 3 --quiet --out ./blobs.csv")
        .fails("U1", 2, &["./blobs.csv: ", text]);
    place
        .line("propagate blobs.csv --k 3 --quiet --source 0 --out blobs.csv")
        .fails("U1", 2, &[text]);
    place
        .line(&format!("{SIMULATE} --out blobs.csv"))
        .fails("U1", 2, &[text]);
    let labels_text = "would overwrite the labels labels.csv";
    for line in [
        format!("{SIMULATE} --labels labels.csv --out labels.csv"),
        "graph blobs.csv --k 3 --quiet --labels labels.csv --out labels.csv".into(),
        "propagate blobs.csv --k 3 --quiet --source 0 --labels labels.csv --out labels.csv".into(),
    ] {
        place.line(&line).fails("U1", 2, &[labels_text]);
    }
    assert_eq!(
        (place.read("blobs.csv"), place.read("labels.csv")),
        (pool, labels)
    );
    assert_eq!(place.files().len(), 2, "{:?}", place.files());
    // A file of the same name elsewhere is another file.
    fs::create_dir(place.path("sub")).unwrap();
    place
        .line("propagate blobs.csv --k 3 --quiet --source 0 --out sub/blobs.csv")
        .ok();
}

#[cfg(unix)]
#[test]
fn links_do_not_hide_the_pool() {
    let place = two_blobs();
    let pool = place.read("blobs.csv");
    std::os::unix::fs::symlink("blobs.csv", place.path("link.csv")).unwrap();
    std::os::unix::fs::symlink("later.npz", place.path("dangling.npz")).unwrap();
    place
        .line("graph blobs.csv --k 3 --quiet --out link.csv")
        .fails("U1", 2, &["would overwrite the pool"]);
    place
        .line("graph link.csv --k 3 --quiet --out blobs.csv")
        .fails("U1", 2, &["would overwrite the pool link.csv"]);
    assert_eq!(place.read("blobs.csv"), pool);
    std::os::unix::fs::symlink("no/such.npz", place.path("lost.npz")).unwrap();
    std::os::unix::fs::symlink("circle.npz", place.path("circle.npz")).unwrap();
    place.line("graph nowhere.csv --out lost.npz").fails(
        "S5",
        5,
        &["lost.npz: there is no folder no"],
    );
    place
        .line("graph nowhere.csv --out circle.npz")
        .fails("S5", 5, &["circle.npz: "]);
    place
        .line("graph link.csv --k 3 --quiet --out dangling.npz")
        .ok();
    assert!(
        place.read("later.npz").starts_with(b"PK"),
        "the link is followed"
    );
}

#[test]
fn no_output_overwrites_another() {
    let place = two_blobs();
    let same = "a.svg: would overwrite the output ./a.svg.";
    place
        .line(&format!("{SIMULATE} --plot ./a.svg --plot a.svg"))
        .fails("U1", 2, &[same]);
    place
        .line(&format!("{SIMULATE} --out a.svg --plot a.svg"))
        .fails("U1", 2, &["would overwrite the output a.svg"]);
    assert_eq!(place.files().len(), 1);
    // Stdout is no file.
    place
        .line(&format!("{SIMULATE} --out - --plot a.svg --plot a.png"))
        .ok();
    assert_eq!(place.files().len(), 3);
}

#[test]
fn folders_are_looked_for_before_the_pool() {
    let place = Place::with("taken", "a file");
    for line in [
        "graph nowhere.csv",
        "propagate nowhere.csv --source 0",
        "simulate nowhere.csv",
    ] {
        place
            .line(&format!("{line} --out no/a.npz"))
            .fails("S5", 5, &["there is no folder no"]);
        place
            .line(&format!("{line} --out ."))
            .fails("S5", 5, &["is a folder"]);
    }
    for out in ["taken", "taken/tour"] {
        place.line(&format!("demo nowhere.csv --out {out}")).fails(
            "S5",
            5,
            &["taken is a file, not a folder"],
        );
    }
    assert_eq!(place.files().len(), 1);
}

#[test]
fn the_tour_does_not_overwrite_its_pool() {
    let rows: String = (0..60)
        .map(|i| format!("{},{}\n", i + 800 * (i / 30), i / 30))
        .collect();
    let place = Place::new();
    fs::create_dir(place.path("tour")).unwrap();
    let place = place.and("tour/runs.csv", format!("x,label\n{rows}"));
    let before = place.read("tour/runs.csv");
    let ran = place.line("demo tour/runs.csv --queries 1 --trials 1 --quiet --out tour");
    ran.fails("U1", 2, &["would overwrite the pool tour/runs.csv"]);
    assert_eq!(place.read("tour/runs.csv"), before);
}

#[cfg(unix)]
#[test]
fn the_records_are_written_before_the_figures() {
    let place = two_blobs();
    let pipe = place.path("a.svg");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let records = place.path("runs.csv");
    let reader = std::thread::spawn(move || {
        // Opens when the figure is about to be written.
        let mut figure = fs::File::open(pipe).unwrap();
        let there = records.is_file();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut figure, &mut text).unwrap();
        (there, text)
    });
    place
        .line(&format!("{SIMULATE} --out runs.csv --plot a.svg"))
        .ok();
    let (there, text) = reader.join().unwrap();
    assert!(
        there && text.starts_with("<svg") && text.trim_end().ends_with("</svg>"),
        "{there}"
    );
}
