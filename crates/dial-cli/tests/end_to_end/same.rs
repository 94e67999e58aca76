//! The same verb says and does the same whether a server has the project or not.

use serde_json::{Value, json};

use crate::run::Place;

/// A pool of 150 rows in two groups with a file of features beside it, and a project of it with some labels.
fn place() -> Place {
    let name = |row: usize| format!("r{row}");
    let texts: String = (0..150)
        .map(|row| format!("{},{}\n", name(row), row % 7))
        .collect();
    let features: String = (0..150)
        .map(|row| format!("{},{},{}\n", name(row), row % 75, 40 * (row / 75)))
        .collect();
    let place = Place::with("rows.csv", format!("id,a\n{texts}"))
        .and("far.csv", format!("id,x,y\n{features}"));
    place
        .line("new rows.csv --features far.csv --classes left,right --k 5 --quiet")
        .ok();
    place.line("tell rows.dial r3=left r4=left r90=right").ok();
    place
        .line("tell rows.dial r100 right:0.75 left:0.25 --annotator ann")
        .ok();
    place.line("skip rows.dial r149").ok();
    place
}

/// Whether two documents are the same, numbers up to rounding on the wire.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= 1e-12 * a.abs().max(1.0)
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(name, a)| b.get(name).is_some_and(|b| alike(a, b)))
        }
        _ => a == b,
    }
}

/// What only looks.
const LOOKS: [&str; 8] = [
    "predict rows.dial",
    "predict rows.dial --item r5 --item r100 --item r149",
    "predict rows.dial --out beliefs.jsonl",
    "export rows.dial --out all.csv",
    "export rows.dial --out labels.csv --labels-only",
    "log rows.dial",
    "log rows.dial --limit 3",
    "status rows.dial",
];

/// What is refused, with its code and exit code.
const REFUSED: [(&str, &str, i32); 12] = [
    ("export rows.dial --out rows.csv", "U1", 2),
    (
        "export rows.dial --out rows.dial/project.db --format csv",
        "U1",
        2,
    ),
    ("export rows.dial --out link.csv", "U1", 2),
    ("predict rows.dial --out rows.csv", "U1", 2),
    ("predict rows.dial --out rows.dial/server.csv", "U1", 2),
    ("backup rows.dial --out rows.csv", "S11", 6),
    ("predict rows.dial --item nobody", "I12", 3),
    ("tell rows.dial nobody left", "I12", 3),
    ("tell rows.dial r5 up", "I12", 3),
    ("tell rows.dial r3=left 4", "U1", 2),
    ("undo rows.dial --annotator eve", "C5", 6),
    ("import rows.dial missing.csv", "I5", 3),
];

#[test]
fn a_look_is_the_same_with_and_without_a_server() {
    let place = place();
    // The first prediction keeps its estimates for status.
    place.line("predict rows.dial --quiet").ok();
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        place.path("rows.dial/graph.dialgraph"),
        place.path("link.csv"),
    )
    .unwrap();
    let looked = || -> Vec<(String, Value)> {
        let look = |line: &&str| {
            let text = place.line(line).ok();
            assert_eq!(text.err, "", "{line}");
            (text.out, place.line(&format!("{line} --json")).ok().json())
        };
        LOOKS.iter().map(look).collect()
    };
    let asked = || {
        let mut json = place.line("ask rows.dial --json").ok().json();
        // Not every server says it.
        json["questions"][0]
            .as_object_mut()
            .unwrap()
            .remove("score");
        (place.line("ask rows.dial").ok().out, json)
    };
    let refused = || {
        let refuse = |&(line, code, exit): &(&str, &str, i32)| {
            if line.contains("link.csv") && !cfg!(unix) {
                return String::new();
            }
            let ran = place.line(line);
            ran.fails(code, exit, &[]);
            ran.err
        };
        REFUSED.iter().map(refuse).collect::<Vec<String>>()
    };
    let files = || ["beliefs.jsonl", "all.csv", "labels.csv"].map(|name| place.read(name));
    let pool = (place.read("rows.csv"), place.read("far.csv"));
    let without = (looked(), asked(), refused(), files());
    let serving = place.serve("rows.dial");
    let with = (looked(), asked(), refused(), files());
    serving.end();
    for (line, (a, b)) in LOOKS.iter().zip(without.0.iter().zip(&with.0)) {
        assert_eq!(a.0, b.0, "{line}");
        assert!(alike(&a.1, &b.1), "{line}: {} {}", a.1, b.1);
    }
    assert_eq!(without.1.0, with.1.0);
    assert!(
        alike(&without.1.1, &with.1.1),
        "{} {}",
        without.1.1,
        with.1.1
    );
    let belief = &with.1.1["questions"][0]["belief"];
    assert!(
        belief["probabilities"]["left"].is_number() && belief["class"].is_string(),
        "{belief}"
    );
    assert_eq!(without.2, with.2);
    assert_eq!(without.3, with.3);
    place
        .line("export rows.dial --out far.csv")
        .fails("U1", 2, &["would overwrite the features"]);
    assert_eq!(
        pool,
        (place.read("rows.csv"), place.read("far.csv")),
        "the pool is as it was"
    );
}

#[test]
fn decisions_are_the_same_with_and_without_a_server() {
    let lines = [
        "tell rows.dial r6=left r7=right",
        "undo rows.dial",
        "redo rows.dial",
        "skip rows.dial r20 r21",
        "undo rows.dial",
        "exclude rows.dial r22",
        "class rows.dial add odd even",
        "tell rows.dial r8 new --add-classes",
        "tell rows.dial r3 right",
        "resolve rows.dial --all",
        "resolve rows.dial --all",
        "log rows.dial --limit 9 --json",
    ];
    let decided = |place: &Place| -> Vec<(i32, String, String)> {
        let decide = |line: &&str| {
            let ran = place.line(line);
            (ran.code, ran.out, ran.err)
        };
        lines.iter().map(decide).collect()
    };
    let (alone, served) = (place(), place());
    let without = decided(&alone);
    let serving = served.serve("rows.dial");
    let with = decided(&served);
    serving.end();
    // The times of the log differ.
    let differs = |line: &str| line.starts_with("log");
    for (line, (a, b)) in lines
        .iter()
        .zip(without.iter().zip(&with))
        .filter(|(line, _)| !differs(line))
    {
        assert_eq!(a, b, "{line}");
    }
    assert!(
        with[0].1.starts_with("2 labels are saved (group "),
        "{}",
        with[0].1
    );
    assert_eq!(
        (with[1].1.as_str(), with[2].1.as_str()),
        (
            "Undone: r6 = left, r7 = right.\n",
            "Redone: r6 = left, r7 = right.\n"
        )
    );
    assert!(
        with[3].1.starts_with("2 items skipped (group ")
            && with[3].1.contains("; dial undo rows.dial --group ")
    );
    assert_eq!(with[4].1, "Undone: skip r20, skip r21.\n");
    assert_eq!(
        (with[8].0, with[9].1.as_str()),
        (6, "1 conflict resolved: the existing label stays.\n")
    );
    assert!(
        with[8].2.contains("an earlier answer called item") && with[8].2.contains("--replace"),
        "{}",
        with[8].2
    );
    assert_eq!(with[10].1, "There is no conflict: nothing to resolve.\n");
    let kinds = |ran: &(i32, String, String)| -> Vec<String> {
        let page: Value = serde_json::from_str(&ran.1).unwrap();
        let rows = page["rows"].as_array().unwrap().iter();
        rows.map(|row| format!("{} {} {}", row["kind"], row["item"], row["text"]))
            .collect()
    };
    assert_eq!(kinds(&without[11]), kinds(&with[11]));
    assert_eq!(
        kinds(&with[11])[..2],
        [
            "\"resolved\" null \"decision 22\"",
            "\"conflict\" \"r3\" \"right\""
        ]
        .map(String::from)
    );
}

#[test]
fn many_items_are_asked_of_a_server_in_parts() {
    let place = place();
    let serving = place.serve("rows.dial");
    let asked = place.line("ask rows.dial --count 120").ok().out;
    let distinct: std::collections::BTreeSet<&str> = asked.lines().collect();
    assert_eq!((asked.lines().count(), distinct.len()), (120, 120));
    // All that are neither labelled nor skipped.
    assert_eq!(
        place
            .line("ask rows.dial --count 1000")
            .ok()
            .out
            .lines()
            .count(),
        145
    );
    // The server answers with a path as it knows it; the backup is found all the same.
    place.line("backup rows.dial --out b.dialbackup").ok();
    serving.end();
    let restored = place
        .line("restore b.dialbackup --project again.dial --json")
        .ok()
        .json();
    assert_eq!(
        restored["manifest"]["project"],
        place.line("status rows.dial --json").ok().json()["id"]
    );
    assert_eq!(restored["aside"], json!(null));
}
