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
        moved.contains("far/moved.csv, 40 items; 40 of 40 are unchanged."),
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
        other.contains("1 label is of items that are missing in this pool"),
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
            ended.status.code() == Some(5) && text.contains("rows.dial is there already"),
            "{text}"
        );
    }
}

#[test]
fn a_conflict_is_resolved() {
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
    let conflict = serde_json::from_str::<serde_json::Value>(&problem).unwrap()["conflict"]
        .as_u64()
        .unwrap();
    let status = place.line("status rows.dial").ok().out;
    assert!(
        status.contains(&format!("(decision {conflict})"))
            && status.contains("dial resolve rows.dial"),
        "{status}"
    );
    place.line(&format!("resolve rows.dial {conflict}")).ok();
    place.line(&format!("resolve rows.dial {conflict}")).fails(
        "U1",
        2,
        &["is not an unresolved conflict", "dial status"],
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
            .starts_with("2 labels are stored already")
    );
    place.line("undo rows.dial").ok();
    place.line("undo rows.dial --annotator eve").fails(
        "C5",
        6,
        &["Only decisions of eve", "--annotator", "--group"],
    );
    place.line("tell rows.dial i3 cat").ok();
    // How much is settled says nothing while a class was never met.
    let predicted = place.line("predict rows.dial").ok().out;
    assert!(
        predicted.contains("dog has no label yet") && !predicted.contains("settled"),
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
        again.starts_with("Imported 0 labels; 2 were stored already."),
        "{again}"
    );
    let missing = gold.line("import rows.dial nothing.csv");
    missing.fails("I5", 3, &["nothing.csv: no such file", "a file of labels"]);
    assert!(!missing.err.contains("builtin"), "{}", missing.err);
    gold.line("restore gold.csv --project new.dial").fails(
        "S9",
        5,
        &["gold.csv is not a backup", "dial backup"],
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
    place.line("status rows.dial").ok();
}

#[test]
fn labels_that_are_missing_are_counted_and_given_up_only_when_that_is_said() {
    let place = place();
    let database = place.path("rows.dial/project.db");
    place.line("tell rows.dial i3 cat").ok();
    let before = std::fs::read(&database).unwrap();
    let events = place.line("status rows.dial --json").ok().json()["version"].clone();
    place.line("tell rows.dial i4 dog").ok();
    place.line("tell rows.dial i5 dog").ok();
    // An older copy of the database in the place of the newer one.
    std::fs::write(&database, &before).unwrap();
    let pieces = [
        "2 events that were stored are missing",
        "newest backup holds",
        "dial recover rows.dial",
    ];
    for line in [
        "status rows.dial",
        "tell rows.dial i6 cat",
        "export rows.dial --out x.csv",
    ] {
        place.line(line).fails("S9", 5, &pieces);
    }
    let looked = place.line("recover rows.dial --json").ok().json();
    assert_eq!(
        (&looked["events"], &looked["aside"]),
        (&events, &serde_json::Value::Null)
    );
    place.line("status rows.dial").fails("S9", 5, &pieces);
    let accepted = place
        .line("recover rows.dial --accept-loss --json")
        .ok()
        .json();
    let aside = std::path::PathBuf::from(accepted["aside"].as_str().unwrap());
    assert_eq!(
        std::fs::read(place.path("").join(aside).join("project.db")).unwrap(),
        before
    );
    let status = place.line("status rows.dial --json").ok().json();
    assert_eq!(status["version"], events);
    place.line("tell rows.dial i4 dog").ok();
    place
        .line("recover rows.dial")
        .fails("S11", 6, &["is whole"]);
}

#[test]
fn a_busy_project_is_waited_for_where_that_is_said() {
    let place = place();
    let lock = std::fs::File::options()
        .write(true)
        .open(place.path("rows.dial/lock"))
        .unwrap();
    lock.lock().unwrap();
    for line in [
        "tell rows.dial i3 cat",
        "status rows.dial --wait=0",
        "tell rows.dial i3 cat --wait=1",
    ] {
        place.line(line).fails("S7", 6, &["--wait"]);
    }
    std::thread::scope(|scope| {
        let waiting: Vec<_> = [
            "tell rows.dial i3 cat --wait",
            "tell rows.dial i4 dog --wait=50",
            "status rows.dial --wait",
        ]
        .map(|line| scope.spawn(|| place.line(line)))
        .into_iter()
        .collect();
        std::thread::sleep(std::time::Duration::from_millis(700));
        assert!(waiting.iter().all(|one| !one.is_finished()));
        lock.unlock().unwrap();
        for one in waiting {
            one.join().unwrap().ok();
        }
    });
    assert_eq!(
        place.line("status rows.dial --json").ok().json()["labelled"],
        2
    );
}

/// As somebody else on the machine; only root can become that.
#[cfg(target_os = "linux")]
#[test]
fn another_user_is_told_whose_project_it_is() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(&place.path(""), 0o755);
    let nobody = |words: &[&str]| {
        let mut command = place.as_nobody(&words.join(" "))?;
        let output = command.output().ok()?;
        Some(String::from_utf8_lossy(&output.stderr).into_owned())
    };
    if nobody(&[crate::run::DIAL, "--version"]).is_none_or(|text| !text.is_empty()) {
        println!("SKIPPED: another user needs root (setpriv)");
        return;
    }
    let status = [crate::run::DIAL, "status", "rows.dial"];
    let text = nobody(&status).unwrap();
    let said = "its owner is root, its mode 0700, and this is nobody";
    assert!(text.contains("error[S5]") && text.contains(said), "{text}");
    // Allowed to look: then it is read, and everybody is told that it is open.
    open(&place.path("rows.dial"), 0o755);
    let text = nobody(&status).unwrap();
    assert!(
        text.contains("head.witness: permission denied: its owner is root, its mode 0600"),
        "{text}"
    );
    open(&place.path("rows.dial/project.db"), 0o644);
    open(&place.path("rows.dial/head.witness"), 0o644);
    open(&place.path("rows.dial/lock"), 0o644);
    let text = nobody(&status).unwrap();
    assert!(
        text.contains("can only be read") && !text.contains("error"),
        "{text}"
    );
    let text = nobody(&[crate::run::DIAL, "tell", "rows.dial", "i3", "cat"]).unwrap();
    assert!(
        text.contains("error[S5]") && !text.contains("the disk failed"),
        "{text}"
    );
    assert!(
        place
            .line("status rows.dial")
            .ok()
            .err
            .contains("others on this machine")
    );
}
