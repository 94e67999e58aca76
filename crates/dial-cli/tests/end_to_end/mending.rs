//! What goes wrong around a project and how it is mended: a pool that moved, names that clash, files that are gone.

use std::process::Stdio;

use crate::run::Place;

/// A table of 40 rows and a project of it.
fn place() -> Place {
    let rows: String = (0..40)
        .map(|row| format!("i{row},{}\n", row * row))
        .collect();
    let place = Place::with("rows.csv", format!("id,x\n{rows}"));
    place
        .line("new rows.csv --classes cat,dog --k 4 --quiet")
        .ok();
    place
}

#[test]
fn a_pool_that_moved_is_found_again() {
    let place = place();
    place.line("tell rows.dial i3 cat").ok();
    let asked = place.line("ask rows.dial").ok().out;
    std::fs::create_dir(place.path("far")).unwrap();
    std::fs::rename(place.path("rows.csv"), place.path("far/moved.csv")).unwrap();
    place.line("ask rows.dial").fails(
        "I5",
        3,
        &["All labels are safe", "dial pool rows.dial POOL"],
    );
    place.line("pool rows.dial nowhere.csv").fails(
        "I5",
        3,
        &["no such file", "Nothing was changed"],
    );
    let moved = place.line("pool rows.dial far/moved.csv").ok().out;
    assert!(
        moved.contains("far/moved.csv, 40 items; 40 of 40 are as before."),
        "{moved}"
    );
    assert_eq!(place.line("ask rows.dial").ok().out, asked);
    assert!(
        place
            .line("pool rows.dial")
            .ok()
            .out
            .ends_with("far/moved.csv\n")
    );
    assert!(
        place
            .line("log rows.dial --limit 1")
            .ok()
            .out
            .contains("moved.csv")
    );
    // Another pool altogether: labels stay, and it is said.
    let other = place.line("pool rows.dial builtin:moons:50").ok().out;
    assert!(
        other.contains("1 label is of items that are not there"),
        "{other}"
    );
    place.line("pool rows.dial far/moved.csv").ok();
    assert_eq!(place.line("ask rows.dial").ok().out, asked);
}

#[test]
fn a_folder_and_its_project_have_one_name() {
    let place = Place::new();
    std::fs::create_dir(place.path("notes")).unwrap();
    for number in 0..12 {
        let text = format!(
            "note {number} about {}",
            ["cats and milk", "dogs and bones"][number % 2]
        );
        std::fs::write(place.path(&format!("notes/n{number}.txt")), text).unwrap();
    }
    place.line("new notes --classes cat,dog --k 3 --quiet").ok();
    let asked = place.line("ask notes.dial").ok().out;
    assert_eq!(place.line("ask notes").ok().out, asked);
    assert_eq!(place.line("ask notes/").ok().out, asked);
    place.line("tell notes n1.txt dog").ok();
    assert_eq!(place.line("status notes --json").ok().json()["labels"], 1);
    // The folder is a pool when something is made of it, and a project of that name must be of that pool.
    place
        .line("new builtin:moons:50 --project more --classes a,b --quiet")
        .ok();
    place.line("label notes --project more --no-browser").fails(
        "U1",
        2,
        &["another pool (builtin:moons:50)", "dial pool"],
    );
}

#[test]
fn of_several_that_make_a_project_one_does() {
    let rows: String = (0..300).map(|row| format!("{row}\n")).collect();
    let place = Place::with("rows.csv", format!("x\n{rows}"));
    let new = || {
        let mut command = place.command(&["new", "rows.csv", "--classes", "a,b", "--quiet"]);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let all: Vec<_> = (0..4).map(|_| new()).collect();
    let ended: Vec<_> = all
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .collect();
    assert_eq!(
        ended.iter().filter(|ended| ended.status.success()).count(),
        1
    );
    for ended in ended.iter().filter(|ended| !ended.status.success()) {
        let text = String::from_utf8_lossy(&ended.stderr);
        assert!(
            ended.status.code() == Some(5) && text.contains("rows.dial: is there already"),
            "{text}"
        );
    }
}

#[test]
fn an_answer_kept_aside_is_settled() {
    let place = place();
    place.line("tell rows.dial i3 cat --annotator ann").ok();
    place.line("tell rows.dial i3 dog --annotator ann").fails(
        "C3",
        6,
        &["with --replace", "dial resolve rows.dial "],
    );
    let problem = place
        .line("tell rows.dial i3 dog --annotator ann --json --key k")
        .err;
    let parked = serde_json::from_str::<serde_json::Value>(&problem).unwrap()["conflict"]
        .as_u64()
        .unwrap();
    let status = place.line("status rows.dial").ok().out;
    assert!(
        status.contains(&format!("(decision {parked})"))
            && status.contains("dial resolve rows.dial"),
        "{status}"
    );
    place.line(&format!("resolve rows.dial {parked}")).ok();
    place.line(&format!("resolve rows.dial {parked}")).fails(
        "U1",
        2,
        &["does not wait", "dial status"],
    );
    assert_eq!(
        place.line("status rows.dial --json").ok().json()["conflicts"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    place.line("resolve rows.dial --all").ok();
    let status = place.line("status rows.dial --json").ok().json();
    assert_eq!(
        (status["conflicts"].to_string(), status["labels"].as_u64()),
        ("[]".into(), Some(1))
    );
    place.line("resolve rows.dial").fails("U0", 2, &[]);
}

#[test]
fn words_fit_their_numbers() {
    let place = place();
    assert!(
        place
            .line("tell rows.dial i3=cat i4=cat")
            .ok()
            .out
            .starts_with("2 labels are saved (")
    );
    assert!(
        place
            .line("tell rows.dial i3=cat i4=cat")
            .ok()
            .out
            .starts_with("2 labels were known")
    );
    place.line("undo rows.dial").ok();
    place.line("undo rows.dial --annotator eve").fails(
        "C5",
        6,
        &["what eve did", "--annotator", "--group"],
    );
    place.line("tell rows.dial i3 cat").ok();
    // How much is settled says nothing while a class was never met.
    let predicted = place.line("predict rows.dial").ok().out;
    assert!(
        predicted.contains("One class has no label yet.") && !predicted.contains("settled"),
        "{predicted}"
    );
    assert!(
        place
            .line("status rows.dial")
            .ok()
            .out
            .contains("\nWith 1 labelled item: ")
    );
    place.line("tell rows.dial i39 dog").ok();
    assert!(
        place
            .line("predict rows.dial")
            .ok()
            .out
            .contains("of the items are settled.")
    );
    let gold = place.and("gold.csv", "id,label\ni3,cat\ni5,dog\n");
    gold.line("import rows.dial gold.csv --annotator ann").ok();
    let again = gold
        .line("import rows.dial gold.csv --annotator ann")
        .ok()
        .out;
    assert!(
        again.starts_with("Imported 0 labels; 2 were there already."),
        "{again}"
    );
    let missing = gold.line("import rows.dial nothing.csv");
    missing.fails("I5", 3, &["nothing.csv: no such file", "a file of labels"]);
    assert!(!missing.err.contains("builtin"), "{}", missing.err);
    gold.line("restore gold.csv --project new.dial").fails(
        "S9",
        5,
        &["gold.csv: is no backup", "dial backup"],
    );
    assert!(!gold.files().contains("new.dial"));
}

#[test]
fn a_project_without_its_database_points_to_its_backups() {
    let place = place();
    // The first change of a day makes a backup.
    place.line("tell rows.dial i3 cat").ok();
    place.line("tell rows.dial i4 dog").ok();
    std::fs::remove_file(place.path("rows.dial/project.db")).unwrap();
    for line in [
        "label rows.dial --no-browser",
        "status rows.dial",
        "serve rows",
    ] {
        place.line(line).fails(
            "S5",
            5,
            &["its project.db is gone", "dial restore rows.dial/backups/"],
        );
    }
    let text = place.line("status rows.dial").err;
    let command = text
        .split("dial restore ")
        .nth(1)
        .unwrap()
        .trim()
        .trim_end_matches('.');
    place.line(&format!("restore {command}")).ok();
    place.line("status rows.restored.dial").ok();
}
