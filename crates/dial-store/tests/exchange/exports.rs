//! An export says what is known, without loss, in every format; importing it gives the same project again.

use dial::Change;
use dial_store::{Decision, Export, Format, Import, Project};

use crate::{NOW, export, label, made, send};

/// A project with everything that a label can be: soft, of several people, replaced, undone, skipped, excluded, merged.
fn eventful(folder: &std::path::Path) -> (Project, dial_store::Material) {
    let (mut project, material) = made(folder, &["cat, \"tom\"", "=dog", "to merge", "fish | x"]);
    let mut number = 0;
    let mut tell = |project: &mut Project, who: &str, decisions: Vec<Decision>| {
        number += 1;
        send(project, &format!("key {number}"), who, decisions).unwrap()
    };
    tell(&mut project, "", vec![label("item 20", &[(0, 1.0)])]);
    tell(
        &mut project,
        "ann",
        vec![
            label("=1+1", &[(1, 1.0)]),
            label("a,b", &[(0, 0.1), (1, 0.2), (3, 0.7)]),
        ],
    );
    tell(
        &mut project,
        "bob",
        vec![label("=1+1", &[(3, 1.0)]), label("'-x", &[(0, 0.5)])],
    );
    tell(&mut project, "bob", vec![label("''@y", &[(2, 1.0)])]);
    // Replaced: it moves to the end. Undone: it is as if it had never been.
    tell(&mut project, "ann", vec![label("=1+1", &[(0, 1.0)])]);
    tell(
        &mut project,
        " blank ",
        vec![label("two\nlines", &[(3, 1.0)])],
    );
    let undone = tell(&mut project, "bob", vec![label("NA", &[(0, 1.0)])]);
    tell(
        &mut project,
        "bob",
        vec![Decision::Undo {
            group: undone.group,
        }],
    );
    let back = tell(
        &mut project,
        "bob",
        vec![label("-5", &[(3, 0.25), (0, 0.75)])],
    );
    tell(&mut project, "bob", vec![label("NaN", &[(1, 1.0)])]);
    tell(
        &mut project,
        "bob",
        vec![Decision::Undo { group: back.group }],
    );
    tell(
        &mut project,
        "bob",
        vec![Decision::Redo { group: back.group }],
    );
    tell(&mut project, "ann", vec![label("[1]", &[(0, 1.0)])]);
    tell(
        &mut project,
        "ann",
        vec![Decision::Exclude { item: "[1]".into() }],
    );
    tell(
        &mut project,
        "ann",
        vec![Decision::Skip {
            item: "é ü".into()
        }],
    );
    let (from, into) = (dial::ClassId(2), dial::ClassId(3));
    tell(
        &mut project,
        "ann",
        vec![Decision::MergeClass { from, into }],
    );
    (project, material)
}

#[test]
fn what_was_said_is_in_the_rows() {
    let place = tempfile::tempdir().unwrap();
    let (project, material) = eventful(&place.path().join("p.dial"));
    let all = export(&project, &material);
    assert_eq!(
        (all.rows.len(), all.classes.join("/")),
        (60, "cat, \"tom\"/=dog/fish | x".into())
    );
    let row = |id: &str| all.rows.iter().find(|row| row.id == id).unwrap();
    let said = |id: &str| {
        row(id)
            .labels
            .iter()
            .map(|l| (l.annotator.clone(), l.in_words()))
            .collect::<Vec<_>>()
    };
    let pair = |who: &str, what: &str| (who.to_string(), what.to_string());
    assert_eq!(
        said("=1+1"),
        [pair("bob", "fish | x"), pair("ann", "cat, \"tom\"")],
        "the replaced one is later"
    );
    assert_eq!(said("''@y"), [pair("bob", "fish | x")], "merged");
    assert_eq!(
        said("a,b"),
        [pair("ann", "cat, \"tom\" 0.1, =dog 0.2, fish | x 0.7")]
    );
    assert!(row("NA").labels.is_empty() && row("item 30").labels.is_empty());
    let mut orders: Vec<u64> = all
        .rows
        .iter()
        .flat_map(|row| &row.labels)
        .map(|label| label.order.unwrap())
        .collect();
    orders.sort_unstable();
    assert_eq!(orders, (1..=10).collect::<Vec<u64>>());
    // A redo returns to its place: before the label that came after the one undone.
    let order = |id: &str| row(id).labels[0].order;
    assert!(order("-5") < order("NaN"));
    let marks: Vec<_> = all
        .rows
        .iter()
        .filter_map(|row| Some((row.id.as_str(), row.mark?.word())))
        .collect();
    assert_eq!(marks, [("é ü", "skipped"), ("[1]", "excluded")]);
    for row in &all.rows {
        let belief = row.belief.as_ref().unwrap();
        assert!((belief.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(
            belief
                .probabilities
                .iter()
                .all(|p| *p <= belief.probabilities[belief.class])
        );
    }
}

/// What is written, read by the rules of the formats alone.
#[test]
fn files_by_hand() {
    let place = tempfile::tempdir().unwrap();
    let (project, material) = eventful(&place.path().join("p.dial"));
    let all = export(&project, &material);
    let csv = String::from_utf8(all.bytes(Format::Csv).unwrap()).unwrap();
    let header = "id,label,annotator,order,labels,mark,predicted,probability,\"p_cat, \"\"tom\"\"\",p_=dog,p_fish | x,\
                  variance,evidence,reached";
    assert_eq!(csv.lines().next(), Some(header));
    assert!(
        csv.contains("\n'=1+1,\"fish | x | cat, \"\"tom\"\"\",bob | ann,"),
        "{csv}"
    );
    // The guard of a text that looks guarded; a text with a quote only has none.
    assert!(
        csv.contains("\n''-x,\"cat, \"\"tom\"\" 0.5\",bob,")
            && csv.contains("\n'''@y,fish | x,bob,"),
        "{csv}"
    );
    assert!(
        !csv.lines().any(|line| line.starts_with(['=', '-', '@'])),
        "{csv}"
    );
    let jsonl = String::from_utf8(all.bytes(Format::Jsonl).unwrap()).unwrap();
    let rows: Vec<serde_json::Value> = jsonl
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 60);
    let soft = rows.iter().find(|row| row["id"] == "a,b").unwrap();
    let classes = serde_json::json!([["cat, \"tom\"", 0.1], ["=dog", 0.2], ["fish | x", 0.7]]);
    assert_eq!(
        soft["labels"],
        serde_json::json!([{"annotator": "ann", "order": 2, "classes": classes}])
    );
    assert_eq!(
        (soft["mark"].is_null(), soft["reached"].as_bool()),
        (true, Some(true))
    );
}

#[test]
fn export_import_export_is_the_identity_in_every_format() {
    let place = tempfile::tempdir().unwrap();
    let (project, material) = eventful(&place.path().join("p.dial"));
    let first = export(&project, &material);
    let classes: Vec<&str> = first.classes.iter().map(String::as_str).collect();
    for format in Format::ALL {
        let file = place.path().join(format!("labels.{format}"));
        first.save(&file, format).unwrap();
        let (mut other, material) = made(&place.path().join(format!("{format}.dial")), &classes);
        let imported = other
            .import(&file, &Import::default(), "import", NOW)
            .unwrap();
        assert_eq!(
            (imported.labels, imported.marks, imported.known),
            (10, 2, 0),
            "{format}"
        );
        assert_eq!(imported.contradictions.len(), 1, "{format}: ann and bob");
        let second = export(&other, &material);
        assert_eq!(second, first, "{format}");
        for other in Format::ALL {
            assert!(
                second.bytes(other).unwrap() == first.bytes(other).unwrap(),
                "{format} as {other}"
            );
        }
        // One group: one undo takes all of it back, and the same file can be imported again.
        let again = other
            .import(&file, &Import::default(), "again", NOW)
            .unwrap();
        assert_eq!(
            (again.labels, again.known, again.marks, again.group),
            (0, 10, 0, None),
            "{format}"
        );
        let undo = Change::Undo {
            group: imported.group.unwrap(),
        };
        send(&mut other, "undo", "", vec![Decision::from(undo)]).unwrap();
        assert!(other.log().live_labels().is_empty(), "{format}");
    }
}

#[test]
fn labels_without_beliefs_and_of_items_that_are_gone() {
    let place = tempfile::tempdir().unwrap();
    let (project, _) = eventful(&place.path().join("p.dial"));
    let ids: Vec<String> = ["item 20", "é ü", "new"].map(String::from).into();
    let rest = Export::new(project.log(), &ids, None);
    assert!(rest.rows.iter().all(|row| row.belief.is_none()));
    let gone: Vec<&str> = rest.rows[3..].iter().map(|row| row.id.as_str()).collect();
    assert_eq!(
        gone,
        [
            "a,b",
            "=1+1",
            "'-x",
            "''@y",
            "two\nlines",
            "-5",
            "NaN",
            "[1]"
        ],
        "in the order of their labels"
    );
    assert!(
        rest.rows[3..]
            .iter()
            .all(|row| row.mark.unwrap().word() == "gone" && !row.labels.is_empty())
    );
    // Into the whole pool they come back; into a pool without them they are left out, not an error.
    let file = place.path().join("rest.jsonl");
    rest.save(&file, Format::Jsonl).unwrap();
    let names: Vec<&str> = rest.classes.iter().map(String::as_str).collect();
    let (mut whole, _) = made(&place.path().join("whole.dial"), &names);
    assert_eq!(
        whole
            .import(&file, &Import::default(), "k", NOW)
            .unwrap()
            .labels,
        10
    );
    let recipe = dial_store::Recipe {
        items: 3,
        ..whole.log().recipe().unwrap().clone()
    };
    let (mut small, _) = made(&place.path().join("small.dial"), &names);
    small
        .change_pool(recipe, Some(&ids), "pool".into(), NOW)
        .unwrap();
    let imported = small.import(&file, &Import::default(), "k", NOW).unwrap();
    assert_eq!((imported.labels, imported.unknown.len()), (1, 8));
}
