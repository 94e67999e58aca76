//! An export says what is known, without loss, in every format; importing it gives the same project again.

use dial::Change;
use dial_data::write::Cell;
use dial_store::{Decision, Export, Format, Import, PreparedPool, Project, Recipe, Source};

use crate::{NOW, export, label, made, send};

/// A project with everything that a label can be: soft, of several people, replaced, undone, skipped, excluded, merged.
fn eventful(folder: &std::path::Path) -> (Project, dial_store::PreparedPool) {
    let (mut project, prepared) = made(folder, &["cat, \"tom\"", "=dog", "to merge", "fish | x"]);
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
    (project, prepared)
}

/// `cat`, or `cat 0.6, dog 0.4`.
fn in_words(classes: &[(String, f64)]) -> String {
    let one = |(name, weight): &(String, f64)| match *weight == 1.0 {
        true => name.clone(),
        false => format!("{name} {weight}"),
    };
    classes.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The formats that are tables.
const TABLES: [Format; 4] = [Format::Csv, Format::Jsonl, Format::Npz, Format::Parquet];

#[test]
fn what_was_said_is_in_the_rows() {
    let place = tempfile::tempdir().unwrap();
    let (project, prepared) = eventful(&place.path().join("p.dial"));
    let all = export(&project, &prepared);
    assert_eq!(
        (all.rows.len(), all.classes.join("/")),
        (60, "cat, \"tom\"/=dog/fish | x".into())
    );
    let row = |id: &str| all.rows.iter().find(|row| row.id == id).unwrap();
    let said = |id: &str| {
        row(id)
            .labels
            .iter()
            .map(|l| (l.annotator.clone(), in_words(&l.classes)))
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
    let (project, prepared) = eventful(&place.path().join("p.dial"));
    let all = export(&project, &prepared);
    let csv = String::from_utf8(all.bytes(Format::Csv).unwrap()).unwrap();
    let header = "id,label,weight,agreement,source,annotator,order,\"label_cat, \"\"tom\"\"\",label_=dog,label_fish | x,\
                  predicted,probability,\"p_cat, \"\"tom\"\"\",p_=dog,p_fish | x,variance,evidence,reached,mark,labels";
    assert_eq!(csv.lines().next(), Some(header));
    // Bob and Ann differ: no label, and half of what was said went to each class.
    assert!(
        csv.contains("\n'=1+1,,,0.5,several,bob | ann,3,0.5,0,0.5,"),
        "{csv}"
    );
    // The guard of a text that looks guarded; a text with a quote only has none. An unsure answer has a clean class.
    assert!(
        csv.contains("\n''-x,\"cat, \"\"tom\"\"\",0.5,1,bulk,bob,4,")
            && csv.contains("\n'''@y,fish | x,1,1,person,bob,5,"),
        "{csv}"
    );
    // What is left out has no label to train on; it stays in the answers.
    assert!(csv.contains("\n[1],,,,,,10,,,,"), "{csv}");
    // A number is no formula.
    let runs = |line: &str| line.starts_with(['=', '-', '@']) && !line.starts_with("-5,");
    assert!(!csv.lines().any(runs) && csv.contains("\n-5,"), "{csv}");
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
        serde_json::json!([{"annotator": "ann", "order": 2, "classes": classes, "source": "bulk"}])
    );
    assert_eq!(
        (soft["mark"].is_null(), soft["reached"].as_bool()),
        (true, Some(true))
    );
}

#[test]
fn export_import_export_is_the_identity_in_every_format() {
    let place = tempfile::tempdir().unwrap();
    let (project, prepared) = eventful(&place.path().join("p.dial"));
    let first = export(&project, &prepared);
    let classes: Vec<&str> = first.classes.iter().map(String::as_str).collect();
    for format in TABLES {
        let file = place.path().join(format!("labels.{format}"));
        first.save(&file, format).unwrap();
        let (mut other, prepared) = made(&place.path().join(format!("{format}.dial")), &classes);
        let imported = other
            .import(&file, &Import::default(), "import", NOW)
            .unwrap();
        assert_eq!(
            (imported.labels, imported.marks, imported.known),
            (10, 2, 0),
            "{format}"
        );
        assert_eq!(imported.contradictions.len(), 1, "{format}: ann and bob");
        // All but where it comes from: that is a file now.
        let second = export(&other, &prepared);
        let mut same = first.clone();
        let answers = same.rows.iter_mut().flat_map(|row| &mut row.labels);
        answers.for_each(|answer| answer.source = Source::Imported);
        assert_eq!(second, same, "{format}");
        for other in TABLES {
            assert!(
                second.bytes(other).unwrap() == same.bytes(other).unwrap(),
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

#[test]
fn an_adjudication_wins_comes_back_and_is_taken_back() {
    let place = tempfile::tempdir().unwrap();
    let (mut project, prepared) = made(&place.path().join("p.dial"), &["cat", "dog"]);
    for (who, class) in [("ann", 0), ("bob", 1)] {
        let key = format!("key {who}");
        send(
            &mut project,
            &key,
            who,
            vec![label("item 20", &[(class, 1.0)])],
        )
        .unwrap();
    }
    let found = |project: &Project| {
        let all = export(project, &prepared);
        let row = all.rows.iter().find(|row| row.id == "item 20").unwrap();
        let one = row.consensus().unwrap();
        let label = one.label.map(|(name, weight)| (name.to_string(), weight));
        (label, one.agreement, one.source, one.counted.len())
    };
    assert_eq!(found(&project), (None, 0.5, Source::Several, 2));
    assert_eq!(
        dial_store::Status::of(&project.snapshot())
            .disagreements
            .len(),
        1
    );
    let decisive = label("item 20", &[(1, 1.0)]).adjudicating();
    let taken = send(&mut project, "eve", "eve", vec![decisive.clone()]).unwrap();
    let decided = (Some(("dog".to_string(), 1.0)), 1.0, Source::Person, 1);
    assert_eq!(found(&project), decided);
    assert!(
        dial_store::Status::of(&project.snapshot())
            .disagreements
            .is_empty()
    );
    // Said again it is known; and a file brings it back as it was.
    assert!(
        send(&mut project, "again", "eve", vec![decisive])
            .unwrap()
            .known
    );
    let file = place.path().join("labels.jsonl");
    export(&project, &prepared)
        .save(&file, Format::Jsonl)
        .unwrap();
    let (mut other, _) = made(&place.path().join("other.dial"), &["cat", "dog"]);
    let imported = other
        .import(&file, &Import::default(), "import", NOW)
        .unwrap();
    assert_eq!((imported.labels, imported.contradictions.len()), (3, 0));
    assert_eq!(found(&other), (decided.0, decided.1, Source::Imported, 1));
    let group = taken.group;
    send(&mut project, "undo", "eve", vec![Decision::Undo { group }]).unwrap();
    assert_eq!(found(&project), (None, 0.5, Source::Several, 2));
}

/// Of a table all columns come back as they are in the file, typed where nothing is lost, whatever rows were left out.
#[test]
fn the_columns_of_a_table_come_with_its_labels() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("shop.csv");
    let mut text = "label,zip,price,colour,when,weight\n".to_string();
    for row in 0..30 {
        let price = if row == 3 {
            "inf".to_string()
        } else {
            format!("{row}.50")
        };
        let colour = ["red", "blue"][row % 2];
        text += &format!(
            ",0{row:04},{price},{colour},2026-01-{:02},{row}\n",
            row % 28 + 1
        );
    }
    std::fs::write(&file, text).unwrap();
    let reading = dial_data::ReadOptions {
        drop_nonfinite: true,
        ..Default::default()
    };
    let recipe = Recipe::new(&file.display().to_string(), reading.clone());
    let pool = dial_data::open(&recipe.pool, &reading, 0, &dial::Control::new()).unwrap();
    let columns = pool.original_columns(&recipe.pool, &reading).unwrap();
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["label", "zip", "price", "colour", "when", "weight"]);
    assert!(pool.has_columns());
    // Row 3 is left out: the fourth item is row 4. Codes with zeros stay words.
    let fourth: Vec<Cell> = columns.iter().map(|column| column.cell(3)).collect();
    let word = |word: &str| Cell::Text(word.into());
    let expected = [
        Cell::Empty,
        word("00004"),
        Cell::Number(4.5),
        word("red"),
        word("2026-01-05"),
        Cell::Integer(4),
    ];
    assert_eq!(fourth, expected);
    assert_eq!(columns[1].cell(29), Cell::Empty, "29 items");
    let ids = pool.ids.clone().unwrap();
    let project = Project::in_memory("shop", vec![], None).unwrap();
    let export = Export {
        original: columns,
        ..Export::labels(project.log(), &ids)
    };
    let csv = String::from_utf8(export.bytes(Format::Csv).unwrap()).unwrap();
    let header = csv.lines().next().unwrap();
    assert!(
        header.ends_with("mark,labels,original_label,zip,price,colour,when,original_weight"),
        "{header}"
    );
    assert!(csv.contains(",00004,4.5,red,2026-01-05,4\n"), "{csv}");
}

/// A project of a table, with the columns of its file.
fn of_table(text: &str, classes: &[&str]) -> (tempfile::TempDir, Project, PreparedPool, Export) {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("shop.csv");
    std::fs::write(&file, text).unwrap();
    let reading = dial_data::ReadOptions::default();
    let mut recipe = Recipe::new(&file.display().to_string(), reading.clone());
    recipe.config.k = 5;
    let pool = dial_data::open(&recipe.pool, &reading, 0, &dial::Control::new()).unwrap();
    let prepared = PreparedPool::of(pool, &recipe, None, &dial::Control::new()).unwrap();
    let classes = classes.iter().map(|name| Decision::AddClass {
        name: (*name).into(),
    });
    let mut project = Project::in_memory("shop", vec![], None).unwrap();
    send(&mut project, "classes", "", classes.collect()).unwrap();
    let ids: Vec<String> = (0..prepared.pool.matrix.n)
        .map(|row| row.to_string())
        .collect();
    let export = Export::labels(project.log(), &ids)
        .with_pool(&project.snapshot(), &prepared, Format::Csv, Some(true))
        .unwrap();
    (place, project, prepared, export)
}

/// A column of the pool may have any name: an npz holds it beside the matrices, and every array once.
#[test]
fn columns_named_as_our_matrices_get_a_prefix() {
    let mut text = "x,shares,probabilities,classes\n".to_string();
    for row in 0..60 {
        text += &format!("{row},{},{},{}\n", row % 7, row % 5, ["a", "b"][row % 2]);
    }
    let (_place, _, _, export) = of_table(&text, &["cat", "dog"]);
    let bytes = export.bytes(Format::Npz).unwrap();
    let bytes: &[u8] = &bytes;
    let count = |name: &str| {
        let wanted = format!("{name}.npy");
        // A local header of the archive: its signature, 26 bytes, the name.
        let ends = |at: usize| bytes[at + 30..].starts_with(wanted.as_bytes());
        let headers = (0..bytes.len() - 40).filter(|&at| bytes[at..].starts_with(b"PK\x03\x04"));
        headers.filter(|&at| ends(at)).count()
    };
    for name in ["shares", "probabilities", "classes"] {
        assert_eq!((count(name), count(&format!("original_{name}"))), (1, 1));
    }
    let csv = String::from_utf8(export.bytes(Format::Csv).unwrap()).unwrap();
    let header = csv.lines().next().unwrap();
    let wanted = "mark,labels,x,original_shares,original_probabilities,original_classes";
    assert!(header.ends_with(wanted), "{header}");
}

/// The example names what the pool has, and nothing that gives the label away.
#[test]
fn an_example_of_training_names_the_columns_of_the_pool() {
    let code = |text: &str| {
        let (place, _, prepared, export) = of_table(text, &["cat", "dog"]);
        export.training_example("shop", &prepared, place.path())
    };
    let mut table = "label,x 1,code,colour,weight\n".to_string();
    let mut films = "film,review,year\n".to_string();
    let mut wide: String = (0..20).map(|at| format!("band_{at},")).collect();
    wide.push_str("label\n");
    for row in 0..60 {
        let colour = ["red", "blue"][row % 2];
        table += &format!(
            "{},{row}.5,item {row},{colour},{row}\n",
            ["cat", "dog", ""][row % 3]
        );
        films += &format!(
            "f{row},\"this film number {row} was, in short, {colour} and rather long\",{}\n",
            1950 + row
        );
        wide += &(0..20)
            .map(|at| format!("{}.25,", (at + 1) * row))
            .collect::<String>();
        wide += "\n";
    }
    let table = code(&table);
    assert!(
        table.contains(r#"features = pd.get_dummies(rows[["x 1", "colour", "original_weight"]])"#)
            && table.contains(r#""predicted": str, "colour": str}"#),
        "{table}"
    );
    let films = code(&films);
    assert!(
        films.contains(r#"texts = rows["review"].fillna("")"#),
        "{films}"
    );
    let wide = code(&wide);
    assert!(
        wide.contains(r#"features = rows.loc[:, "band_0":"band_19"]"#),
        "{wide}"
    );
}

/// What no label reaches has no predicted class, in no format.
#[test]
fn nothing_is_predicted_where_no_label_says_anything() {
    let (_place, _, _, mut export) = of_table("x\n1\n2\n3\n4\n5\n6\n7\n8\n", &["cat", "dog"]);
    let belief = dial_store::Belief {
        class: 0,
        probabilities: vec![0.5, 0.5],
        variance: 0.1,
        evidence: 0.0,
        reached: false,
    };
    export.rows[0].belief = Some(belief.clone());
    export.rows[1].belief = Some(dial_store::Belief {
        reached: true,
        evidence: 1.0,
        ..belief
    });
    let jsonl = String::from_utf8(export.bytes(Format::Jsonl).unwrap()).unwrap();
    let rows: Vec<serde_json::Value> = jsonl
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(rows[0]["predicted"].is_null() && rows[0]["probability"].is_null());
    assert_eq!(
        (&rows[0]["reached"], &rows[0]["p_cat"]),
        (&false.into(), &0.5.into())
    );
    assert_eq!(
        (&rows[1]["predicted"], &rows[1]["probability"]),
        (&"cat".into(), &0.5.into())
    );
}

/// A map shows a class where the page does: not where hardly any label reaches.
#[test]
fn maps_show_no_class_without_evidence() {
    let pool = dial_data::open(
        "builtin:scene:64",
        &Default::default(),
        0,
        &dial::Control::new(),
    )
    .unwrap();
    let dial_data::Show::Scene(scene) = pool.show.clone() else {
        panic!("a scene");
    };
    let mut project = Project::in_memory("scene", vec![], None).unwrap();
    let class = Decision::AddClass { name: "a".into() };
    send(&mut project, "class", "", vec![class]).unwrap();
    let ids: Vec<String> = (0..pool.matrix.n).map(|row| row.to_string()).collect();
    let mut export = Export::labels(project.log(), &ids);
    let evidence = [1e-9, 1e-3, 3e-3, 1.0];
    for (row, evidence) in export.rows.iter_mut().zip(evidence) {
        row.belief = Some(dial_store::Belief {
            class: 0,
            probabilities: vec![1.0],
            variance: 0.1,
            evidence,
            reached: true,
        });
    }
    let pixels = scene.pixels.clone();
    export.scene = Some(dial_store::MappedScene {
        scene,
        places: Vec::new(),
        colours: vec![[1, 2, 3]],
    });
    let bytes = export.bytes(Format::Maps).unwrap();
    let name = b"class.img";
    let at = bytes
        .windows(name.len())
        .position(|found| found == name)
        .unwrap();
    let extra = usize::from(bytes[at - 2]) + 256 * usize::from(bytes[at - 1]);
    let data = &bytes[at + name.len() + extra..];
    let classes: Vec<u8> = pixels[..4].iter().map(|&pixel| data[pixel]).collect();
    assert_eq!(classes, [0, 0, 1, 1]);
}
