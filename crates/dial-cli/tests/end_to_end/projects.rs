//! Projects from the command line: the loop in a shell, decisions, and what becomes of a pool that changes.

use std::collections::BTreeMap;
use std::process::Command;

use dial::{ClassId, Control};
use dial_store::{Format, Journal, PreparedPool, Project, Recipe};
use serde_json::Value;

use crate::run::{DIAL, Place, Ran};

/// Two moons as a table without labels, and the truth beside it.
fn moons(n: usize) -> (Place, BTreeMap<String, String>) {
    let pool = dial_data::open(
        &format!("builtin:moons:{n}"),
        &Default::default(),
        0,
        &Control::new(),
    )
    .unwrap();
    let truth = pool.truth.unwrap();
    let row = |row: usize| {
        format!(
            "i{row},{},{}\n",
            pool.matrix.get(row, 0),
            pool.matrix.get(row, 1)
        )
    };
    let table: String = (0..n).map(row).collect();
    let class = |row: usize| truth.classes[usize::from(truth.labels[row].unwrap())].clone();
    let known: BTreeMap<String, String> =
        (0..n).map(|row| (format!("i{row}"), class(row))).collect();
    let lines: String = known
        .iter()
        .map(|(id, class)| format!("{id}\t{class}\n"))
        .collect();
    (
        Place::with("pool.csv", format!("id,a,b\n{table}")).and("truth.tsv", lines),
        known,
    )
}

/// Ids of a run of `ask`.
fn ids(ran: &Ran) -> Vec<String> {
    ran.out.lines().map(String::from).collect()
}

#[cfg(unix)]
#[test]
fn a_loop_in_a_shell_asks_what_the_library_asks() {
    let (place, truth) = moons(200);
    let script = r#"
        set -e
        "$DIAL" new pool.csv --classes 0,1 --quiet >/dev/null
        for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
            item=$("$DIAL" ask pool.dial --quiet)
            echo "$item" >>asked
            class=$(awk -F'\t' -v id="$item" '$1 == id { print $2 }' truth.tsv)
            "$DIAL" tell pool.dial "$item" "$class" --quiet >/dev/null
        done
        "$DIAL" predict pool.dial --out beliefs.jsonl --quiet >/dev/null"#;
    let ran = Command::new("sh")
        .args(["-c", script])
        .env("DIAL", DIAL)
        .current_dir(place.path(""))
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let asked: Vec<String> = String::from_utf8(place.read("asked"))
        .unwrap()
        .lines()
        .map(String::from)
        .collect();
    // An uninterrupted session of the library.
    let recipe = Recipe::new(
        &place.path("pool.csv").display().to_string(),
        Default::default(),
    );
    let control = Control::new();
    let folder = dial_store::Folder(place.path("nowhere"));
    let prepared = PreparedPool::open(&recipe, &folder, &control).unwrap();
    let mut session = prepared.engine.session(&["0", "1"], &control).unwrap();
    let mut wanted = Vec::new();
    for _ in 0..15 {
        let item = session.ask(1).unwrap().questions[0].item.clone();
        session
            .tell(&item, ClassId(truth[&item].parse().unwrap()), &control)
            .unwrap();
        wanted.push(item);
    }
    assert_eq!(asked, wanted);
    // Two moons are told apart by 15 labels.
    let text = String::from_utf8(place.read("beliefs.jsonl")).unwrap();
    let rows: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let right = rows
        .iter()
        .filter(|row| row["predicted"] == truth[row["id"].as_str().unwrap()].as_str())
        .count();
    assert!(right >= 190, "{right} of 200");
    assert_eq!(
        rows.iter().filter(|row| !row["label"].is_null()).count(),
        15
    );
}

/// Names that are almost the same are noted, whoever gave them; nothing is merged.
#[test]
fn almost_the_same_names_of_classes_are_noted() {
    let row = |row: usize| format!("{row}.5,{}\n", ["Sneaker", "sneakers", "Boot"][row % 3]);
    let text = "x,label\n".to_string() + &(0..60).map(row).collect::<String>();
    let place = Place::with("shoes.csv", text);
    let noted = "note: these names of classes are almost the same: ";
    let own = place.line("new shoes.csv --project own.dial").ok();
    assert!(
        own.err
            .contains(&format!("{noted}Sneaker and sneakers. If")),
        "{}",
        own.err
    );
    let typed = place
        .line("new shoes.csv --project typed.dial --classes Sandal,boots")
        .ok();
    let both = format!("{noted}boots and Boot, Sneaker and sneakers. If");
    assert!(typed.err.contains(&both), "{}", typed.err);
    let apart = place
        .line("new builtin:moons:60 --project apart.dial --classes up,down")
        .ok();
    assert!(!apart.err.contains(noted), "{}", apart.err);
}

#[test]
fn asking_changes_nothing_and_says_why() {
    let (place, _) = moons(80);
    place.line("new pool.csv --classes 0,1 --quiet").ok();
    let version = || {
        place.line("status pool.dial --json").ok().json()["version"]
            .as_u64()
            .unwrap()
    };
    let before = version();
    let first = place.line("ask pool.dial --count 3").ok();
    assert_eq!((ids(&first).len(), version()), (3, before));
    assert_eq!(place.line("ask pool.dial --count 3").ok().out, first.out);
    let json = place.line("ask pool.dial --count 3 --json").ok().json();
    let questions = json["questions"].as_array().unwrap();
    assert_eq!(
        questions
            .iter()
            .map(|q| q["id"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ids(&first)
    );
    assert_eq!(questions[0]["why"], "No label reaches this item yet.");
    let item = ids(&first)[0].clone();
    place.dial(&["tell", "pool.dial", &item, "0"]).ok();
    let json = place.line("ask pool.dial --json").ok().json();
    let question = &json["questions"][0];
    assert_ne!(question["id"], item.as_str());
    let sum: f64 = question["belief"]["probabilities"]
        .as_object()
        .unwrap()
        .values()
        .map(|p| p.as_f64().unwrap())
        .sum();
    assert!(
        (sum - 1.0).abs() < 1e-9 && question["why"].as_str().unwrap().len() > 20,
        "{json}"
    );
    // The name without its ending, and a project that is not there.
    place.line("ask pool --quiet").ok();
    place
        .line("ask nothing.dial")
        .fails("S5", 5, &["there is no such project", "dial new"]);
    place
        .line("new pool.csv --project pool")
        .fails("S5", 5, &["pool.dial is there already"]);
    place.line("new pool.csv --project p --classes a").fails(
        "N12",
        2,
        &["--classes names one class, \"a\"", "--classes A,B"],
    );
    place
        .line("new pool.csv --project p --acquisition k-centre")
        .fails("U1", 2, &["a project cannot ask by"]);
    assert!(!place.files().contains("p.dial"));
}

#[test]
fn labels_of_every_kind_are_told_and_undone() {
    let (place, _) = moons(60);
    place.line("new pool.csv --classes cat,dog --quiet").ok();
    let status = || place.line("status pool.dial --json").ok().json();
    place.line("tell pool.dial i3 cat --annotator ann").ok();
    place
        .line("tell pool.dial i4 cat:0.6 dog:0.4 --annotator ann")
        .ok();
    let many = place
        .line("tell pool.dial i5=dog i6=cat --json")
        .ok()
        .json();
    assert_eq!(
        (status()["labels"].as_u64(), many["known"].as_bool()),
        (Some(4), Some(false))
    );
    // The same again; something else; the same by its key.
    assert_eq!(
        place
            .line("tell pool.dial i3 cat --annotator ann --json")
            .ok()
            .json()["known"],
        true
    );
    place.line("tell pool.dial i3 dog --annotator ann").fails(
        "C3",
        6,
        &["conflict", "cat before, and dog now"],
    );
    place
        .line("tell pool.dial i3 dog --annotator bob --key k1")
        .ok();
    assert_eq!(
        place
            .line("tell pool.dial i3 dog --annotator bob --key k1 --json")
            .ok()
            .json()["repeated"],
        true
    );
    place
        .line("tell pool.dial i9 dog --annotator bob --key k1")
        .fails("W2", 6, &["another submission"]);
    let now = status();
    assert_eq!(
        (
            now["conflicts"].as_array().unwrap().len(),
            now["disagreements"].as_array().unwrap().len()
        ),
        (1, 1)
    );
    let words = place.line("status pool.dial").ok().out;
    for piece in [
        "1 conflicting answer:\n  i3 of ann: cat is kept, dog was the later answer",
        "i3: cat (ann), dog (bob)",
        "\nno annotator ",
    ] {
        assert!(words.contains(piece), "wanted {piece:?}: {words}");
    }
    place
        .line("tell pool.dial i3 dog --annotator ann --replace")
        .ok();
    // Mistakes change nothing.
    let version = status()["version"].clone();
    place.line("tell pool.dial i3 bird").fails(
        "I12",
        3,
        &["there is no class \"bird\"", "cat, dog"],
    );
    place
        .line("tell pool.dial nobody cat")
        .fails("I12", 3, &["nobody"]);
    place
        .line("tell pool.dial i7 cat:0.9 dog:0.9")
        .fails("I12", 3, &["sum to more than 1"]);
    place
        .line("tell pool.dial i7")
        .fails("U1", 2, &["has no class"]);
    assert_eq!(status()["version"], version);
    place.line("tell pool.dial i7 bird --add-classes").ok();
    assert_eq!(status()["classes"][2]["name"], "bird");
    // One step for the two labels; what was skipped and excluded is not counted as labelled.
    place
        .line(&format!("undo pool.dial --group {}", many["group"]))
        .ok();
    place.line("undo pool.dial --annotator ann").ok();
    place
        .line("undo pool.dial --annotator eve")
        .fails("C5", 6, &["nothing to undo"]);
    assert_eq!(
        status()["labels"].as_u64(),
        Some(4),
        "i3 of ann as before, i4, i3 of bob, i7"
    );
    place.line("redo pool.dial --annotator ann").ok();
    place
        .line("redo pool.dial --annotator ann")
        .fails("C5", 6, &["nothing to redo"]);
    place.line("skip pool.dial i20 i21").ok();
    place.line("exclude pool.dial i7").ok();
    let now = status();
    assert_eq!(
        (
            now["skipped"].as_u64(),
            now["excluded"].as_u64(),
            now["labels"].as_u64()
        ),
        (Some(2), Some(1), Some(3))
    );
    place.line("class pool.dial rename bird owl").ok();
    place.line("class pool.dial merge owl cat").ok();
    place
        .line("class pool.dial add cat")
        .fails("C5", 6, &["there is a class \"cat\" already"]);
    let classes: Vec<String> = status()["classes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|class| class["name"].as_str().unwrap().into())
        .collect();
    assert_eq!(classes, ["cat", "dog"]);
    let predicted = place
        .line("predict pool.dial --item i3 --item i4 --json")
        .ok()
        .json();
    assert_eq!(predicted["items"][0]["labels"][0]["label"], "dog");
    place
        .line("predict pool.dial --item nobody")
        .fails("I12", 3, &["nobody"]);
    assert!(
        place
            .line("status pool.dial")
            .ok()
            .out
            .contains("With 2 labelled items: "),
        "i3 and i4"
    );
    // Estimates are shown while every label that they were made from stands.
    let shown = || {
        place
            .line("status pool.dial")
            .ok()
            .out
            .contains("With 2 labelled items: ")
    };
    let changes = |line: &str, shows: bool| {
        place.line(line).ok();
        assert_eq!(shown(), shows, "{line}");
    };
    changes("skip pool.dial i5", true);
    changes("tell pool.dial i9 cat", true);
    changes("undo pool.dial", true);
    changes("exclude pool.dial i3", false);
    changes("undo pool.dial", true);
    changes("tell pool.dial i4 cat --replace --annotator ann", false);
    changes("undo pool.dial --annotator ann", true);
    // A project keeps two classes.
    changes("class pool.dial add fox", true);
    changes("class pool.dial merge dog cat", false);
    changes("undo pool.dial", true);
}

#[test]
fn lines_from_stdin_are_one_group() {
    use std::io::Write;
    let (place, _) = moons(60);
    place.line("new pool.csv --classes 0,1 --quiet").ok();
    let tell = |text: &str| {
        let mut command = place.command(&["tell", "pool.dial", "-", "--json"]);
        command
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        let ended = child.wait_with_output().unwrap();
        (
            ended.status.code(),
            String::from_utf8(ended.stdout).unwrap(),
            String::from_utf8(ended.stderr).unwrap(),
        )
    };
    let (code, out, err) = tell("i1\t0\ni2\t1\ni3\t0:0.5\t1:0.25\n");
    assert_eq!(code, Some(0), "{err}");
    let group = serde_json::from_str::<Value>(&out).unwrap()["group"].clone();
    let (code, _, err) = tell("i4\t0\ni5 1\n");
    assert!(
        code == Some(3) && err.contains("line 2 has no class"),
        "{err}"
    );
    let labels = || place.line("status pool.dial --json").ok().json()["labels"].clone();
    assert_eq!(labels(), 3);
    place.line(&format!("undo pool.dial --group {group}")).ok();
    assert_eq!(labels(), 0);
}

#[test]
fn quick_verbs_do_not_open_the_pool() {
    let (place, _) = moons(60);
    place.line("new pool.csv --classes 0,1 --quiet").ok();
    std::fs::remove_file(place.path("pool.csv")).unwrap();
    for line in [
        "tell pool.dial i1 0",
        "skip pool.dial i2",
        "undo pool.dial",
        "redo pool.dial",
        "status pool.dial",
        "class pool.dial add more",
        "export pool.dial --labels-only --out labels.csv",
        "import pool.dial labels.csv",
        "backup pool.dial --out b",
    ] {
        place.line(line).ok();
    }
    place
        .line("ask pool.dial")
        .fails("I5", 3, &["pool.csv: no such file"]);
}

#[test]
fn rows_without_ids_are_not_taken_for_others() {
    let place = Place::new();
    let rows: Vec<String> = (0..40).map(|row| format!("0.{row},{}", row % 7)).collect();
    let write = |rows: &[String]| {
        std::fs::write(
            place.path("plain.csv"),
            format!("x,y\n{}\n", rows.join("\n")),
        )
        .unwrap()
    };
    write(&rows);
    place.line("new plain.csv --classes a,b --quiet").ok();
    place.line("tell plain.dial 5=a 30=b").ok();
    write(&rows[1..]);
    place
        .line("ask plain.dial")
        .fails("I7", 3, &["39 rows now and had 40", "no ids"]);
    assert_eq!(
        place.line("status plain.dial --json").ok().json()["labels"],
        2
    );
    // More rows can only have been added at the end.
    write(&[&rows[..], &["0.5,9".to_string()]].concat());
    let grown = place.line("ask plain.dial").ok();
    assert!(
        grown
            .err
            .contains("all labels are kept, by the number of their rows"),
        "{}",
        grown.err
    );
}

#[test]
fn a_pool_that_changes_keeps_its_labels() {
    let (place, truth) = moons(60);
    place.line("new pool.csv --classes 0,1 --quiet").ok();
    for id in ["i3", "i40", "i59"] {
        place.dial(&["tell", "pool.dial", id, &truth[id]]).ok();
    }
    let asked = place.line("ask pool.dial").ok();
    assert_eq!(asked.err, "");
    let rows: Vec<String> = String::from_utf8(place.read("pool.csv"))
        .unwrap()
        .lines()
        .map(String::from)
        .collect();
    let write =
        |rows: &[String]| std::fs::write(place.path("pool.csv"), rows.join("\n") + "\n").unwrap();
    let labels = || place.line("status pool.dial --json").ok().json()["labels"].clone();
    // Rows added, in front: rows move, ids do not.
    let mut added = rows.clone();
    (0..5).for_each(|row| added.insert(1, format!("new{row},0.{row},2")));
    write(&added);
    let grown = place.line("ask pool.dial").ok();
    assert!(
        grown
            .err
            .contains("the pool has changed: 65 items now, 60 before"),
        "{}",
        grown.err
    );
    assert_eq!(place.line("ask pool.dial").ok().err, "", "said once");
    let predicted = place
        .line("predict pool.dial --item i40 --item new3 --json")
        .ok()
        .json();
    assert_eq!(
        predicted["items"][0]["labels"][0]["label"],
        truth["i40"].as_str()
    );
    place.line("tell pool.dial new3 1").ok();
    // Embedded again: other numbers, the same ids.
    let again: Vec<String> = added
        .iter()
        .map(|row| {
            if row.starts_with("id") {
                row.clone()
            } else {
                format!("{row}1")
            }
        })
        .collect();
    write(&again);
    let ran = place.line("export pool.dial --out all.csv").ok();
    assert!(
        ran.err
            .contains("with other features or ids; all labels are kept"),
        "{}",
        ran.err
    );
    assert_eq!(labels(), 4);
    // Rows gone: their labels stay in the log and come back with them.
    let gone: Vec<String> = again
        .iter()
        .filter(|row| !row.starts_with("i40,") && !row.starts_with("new"))
        .cloned()
        .collect();
    write(&gone);
    let ran = place.line("predict pool.dial --item i3").ok();
    assert!(
        ran.err.contains("59 items now, 65 before")
            && ran
                .err
                .contains("all labels are kept, including 2 for items no longer in the pool"),
        "{}",
        ran.err
    );
    assert_eq!(labels(), 4);
    place.line("tell pool.dial i40 0").fails("I12", 3, &["i40"]);
    let rest = place
        .line("export pool.dial --out - --format jsonl --quiet")
        .ok()
        .out;
    let marks: Vec<Value> = rest
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|row| row["mark"] == "gone")
        .collect();
    assert_eq!(
        marks
            .iter()
            .map(|row| row["id"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["i40", "new3"]
    );
    write(&rows);
    assert_eq!(
        place.line("ask pool.dial --quiet").ok().out,
        asked.out,
        "as if nothing had been"
    );
    let log = Project::open(&place.path("pool.dial"), Journal::Wal, 0)
        .unwrap()
        .log()
        .version();
    assert!(log > 8, "every change of the pool is in the log");
}

#[test]
fn labels_of_the_pool_become_classes_and_labels_if_wanted() {
    let rows: String = (0..40)
        .map(|i| format!("{},{}\n", i, ["b", "a", "void"][i % 3]))
        .collect();
    let place = Place::with("rows.csv", format!("x,label\n{rows}"));
    let json = place
        .line("new rows.csv --ignore-label void --json --quiet")
        .ok()
        .json();
    assert_eq!(
        (json["classes"].to_string(), json["labels"].as_u64()),
        ("[\"a\",\"b\"]".into(), Some(0))
    );
    // What is ignored is never asked: rows 2, 5, 8, ...
    let asked = place.line("ask rows.dial --count 26 --quiet").ok();
    assert!(
        ids(&asked).len() > 20
            && ids(&asked)
                .iter()
                .all(|id| id.parse::<usize>().unwrap() % 3 != 2),
        "{}",
        asked.out
    );
    let json = place
        .line("new rows.csv --project known --with-labels --json --quiet")
        .ok()
        .json();
    assert_eq!(
        (
            json["labels"].as_u64(),
            json["classes"].as_array().unwrap().len()
        ),
        (Some(40), 3)
    );
    place.line("ask known.dial").fails("N11", 9, &[]);
    let json = place
        .line("new builtin:moons:30 --project bare --classes x,y --json --quiet")
        .ok()
        .json();
    assert_eq!(json["recipe"]["pool"], "builtin:moons:30");
    assert_eq!(json["recipe"]["k"], 20);
    assert_eq!(json["recipe"]["weights"], "symmetric");
    assert_eq!(json["recipe"]["calibration"], "on");
    assert!(json["recipe"]["read"].is_object());
    for stored in ["kernel", "belief", "reading"] {
        assert!(json["recipe"].get(stored).is_none(), "{stored}");
    }
}

#[test]
fn a_project_without_classes_grows_them() {
    let (place, _) = moons(15);
    let made = place.line("new pool.csv").ok();
    assert!(
        made.err.contains("note[I8]: k = 14")
            && made
                .out
                .contains("dial tell pool.dial ITEM CLASS --add-classes"),
        "{}",
        made.out
    );
    // The first question is a good one before any class has a name; there is nothing to believe yet.
    let first = place.line("ask pool.dial --json").ok().json();
    assert!(first["questions"][0]["belief"].is_null());
    place.line("predict pool.dial").fails("N12", 2, &[]);
    place.line("export pool.dial --out a.csv").ok();
    place.line("class pool.dial add up down").ok();
    let asked = ids(&place.line("ask pool.dial --quiet").ok());
    assert_eq!(first["questions"][0]["id"], asked[0].as_str());
    for format in Format::ALL.into_iter().filter(|one| *one != Format::Maps) {
        let file = format!("all.{}", format.ending());
        place
            .line(&format!("export pool.dial --out {file} --quiet"))
            .ok();
        assert!(!place.read(&file).is_empty());
    }
    place
        .line("export pool.dial --out all.txt")
        .fails("U1", 2, &["does not name a format"]);
    place
        .line("export pool.dial --out pool.csv")
        .fails("U1", 2, &["would overwrite the pool"]);
    place.line("export pool.dial --out pool.dial/x.csv").fails(
        "U1",
        2,
        &["in the folder of the project"],
    );
}

/// The loop of docs/projects.md as it stands there. Once all items are with others (exit code 10): it waits, and goes on. Any
/// other failure ends it, and is not taken for the end.
#[cfg(unix)]
#[test]
fn the_loop_of_the_documents_labels_everything() {
    let document = include_str!("../../../../docs/projects.md");
    let block = document
        .split("```")
        .find(|block| block.starts_with("text\ndial new photos/"));
    let script = block.unwrap().strip_prefix("text\n").unwrap();
    let script = script.replace("photos/", "photos.csv");
    let rows: String = (0..12).map(|n| format!("i{n},{n},{}\n", n * n)).collect();
    let place = Place::with("photos.csv", format!("id,a,b\n{rows}"));
    let own = place.path("bin");
    std::fs::create_dir(&own).unwrap();
    let program = |name: &str, text: &str| {
        use std::os::unix::fs::PermissionsExt;
        let file = own.join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    program(
        "dial",
        r#"[ "$1" = ask ] && echo >>asked && [ $(wc -l <asked) = 3 ] && exit 10; [ "$1" = ask ] && [ -n "$FAILS" ] && exit $FAILS; exec "$DIAL" "$@""#,
    );
    program("answer", "echo cat");
    program("sleep", "echo \"$@\" >>slept");
    let path = std::env::var("PATH").unwrap();
    let run = |script: &str, fails: &str| {
        Command::new("sh")
            .args(["-c", script])
            .current_dir(place.path(""))
            .env("DIAL", DIAL)
            .env("FAILS", fails)
            .env("PATH", format!("{}:{path}", own.display()))
            .output()
            .unwrap()
    };
    let output = run(&script, "");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let status = place.line("status photos.dial --json").ok().json();
    assert_eq!(status["labels"], 12, "{said}");
    assert_eq!(place.read("slept"), b"30\n");
    // Not enough memory (N18), a project that another process has (S7).
    let again = script.replace("dial new photos.csv --classes cat,dog\n", "");
    assert_ne!(again, script);
    for code in ["7", "6"] {
        let output = run(&again.replace("labels.csv", "half.csv"), code);
        assert!(!output.status.success() && !place.path("half.csv").exists());
    }
    assert_eq!(place.read("slept"), b"30\n");
    assert_eq!(
        place
            .read("labels.csv")
            .iter()
            .filter(|byte| **byte == b'\n')
            .count(),
        13
    );
}
