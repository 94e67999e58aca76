//! Labels from other people's files: joined by id or by row, contradictions kept and told, mistakes refused whole.

use std::path::Path;

use dial_store::{Decision, Import, Imported, Memory, Named, Project, Recipe, Result};

use crate::{NOW, label, made, send};

/// Imports a text under a name.
fn import(project: &mut Project, file: &Path, text: &str, how: &Import) -> Result<Imported> {
    std::fs::write(file, text).unwrap();
    let key = dial_store::random_id().unwrap();
    project.import(file, how, &key, NOW)
}

/// Who says what about an item.
fn said(project: &Project, item: &str) -> Vec<String> {
    let labels = project.log().labels().labels_of(item);
    labels
        .map(|(who, classes)| format!("{who}: {}", project.log().label_in_words(classes)))
        .collect()
}

#[test]
fn tables_of_every_shape() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("gold.csv");
    let shapes = [
        "id,label\nitem 20,a\nitem 21,b\n",
        "label;id;x\na;item 20;1,5\nb;item 21;2,5\n",
        "item 20\ta\nitem 21\tb\n",
        "ID,Class,annotator\nitem 20,a,\nitem 21,b,gold.csv\n",
        "{\"id\": \"item 20\", \"label\": \"a\"}\n{\"label\": \"b\", \"id\": \"item 21\"}\n",
        "id,label\nitem 20,a\nitem 21,b\nitem 22,\nitem 23,-1\n",
    ];
    for (number, text) in shapes.iter().enumerate() {
        let (mut project, _) = made(&place.path().join(format!("{number}.dial")), &["a", "b"]);
        let imported = import(&mut project, &file, text, &Import::default()).unwrap();
        assert_eq!(
            (imported.labels, imported.contradictions.len()),
            (2, 0),
            "{text}"
        );
        assert_eq!(said(&project, "item 20"), ["gold.csv: a"], "{text}");
        assert_eq!(said(&project, "item 21"), ["gold.csv: b"], "{text}");
        let source = project
            .log()
            .records()
            .last()
            .unwrap()
            .provenance
            .source
            .clone();
        assert_eq!(source.as_deref(), Some("gold.csv"));
    }
    let (mut project, _) = made(&place.path().join("named.dial"), &["a", "b"]);
    let how = Import {
        columns: Named {
            id: Some("who".into()),
            label: Some("what".into()),
        },
        annotator: Some("me".into()),
        ..Import::default()
    };
    import(&mut project, &file, "what,x,who\na,1,'=1+1\n", &how).unwrap();
    assert_eq!(
        said(&project, "=1+1"),
        ["me: a"],
        "the guard of a formula is taken away"
    );
    // An id that begins with a guard and is there is itself.
    import(&mut project, &file, "what,x,who\na,1,'-x\n", &how).unwrap();
    assert_eq!(said(&project, "'-x"), ["me: a"]);
}

#[test]
fn one_label_for_each_row() {
    let place = tempfile::tempdir().unwrap();
    let (mut project, _) = made(&place.path().join("p.dial"), &["0", "1"]);
    let file = place.path().join("y.csv");
    let rows: String = (0..60)
        .map(|row| ["-1\n", "1.0\n"][usize::from(row == 7)])
        .collect();
    assert_eq!(
        import(
            &mut project,
            &file,
            &format!("y\n{rows}"),
            &Import::default()
        )
        .unwrap()
        .labels,
        1
    );
    assert_eq!(said(&project, "é ü"), ["y.csv: 1"]);
    let few = import(&mut project, &file, "y\n1\n0\n", &Import::default()).unwrap_err();
    assert_eq!(few.code(), "I12");
    assert!(
        few.to_string()
            .contains("2 labels without ids for 60 items"),
        "{few}"
    );
}

#[test]
fn what_does_not_fit_is_listed_and_nothing_is_imported() {
    let place = tempfile::tempdir().unwrap();
    let (mut project, _) = made(&place.path().join("p.dial"), &["a", "b"]);
    let file = place.path().join("f.csv");
    let before = project.log().version();
    let cases = [
        (
            "id,label\nitem 20,a\nnobody,a\nnoone,b\n",
            "2 ids are not in the pool: \"nobody\" (line 3), \"noone\" (line 4)",
        ),
        (
            "id,label\nitem 20,a\nitem 21,z\nitem 22,y\n",
            "not classes of this project: \"y\", \"z\"",
        ),
        ("a,b,c\n1,2,3\n", "3 columns and none named label (a, b, c)"),
        (
            "id,label,annotator,labels,mark\nitem 20,a,,nonsense,\n",
            "line 2: labels cannot be read",
        ),
        (
            "id,label,annotator,labels,mark\nitem 20,b,x,\"[{\"\"annotator\"\":\"\"x\"\",\"\"classes\"\":[[\"\"a\"\",1.0]]}]\",\n",
            "line 2: label says \"b\", labels says \"a\"",
        ),
        (
            "{\"id\":\"item 20\",\"label\":null,\"annotator\":\"x\",\"mark\":null,\"labels\":[{\"annotator\":\"x\",\"classes\":[[\"a\",0.9],[\"b\",0.9]]}]}\n",
            "sum to more than 1",
        ),
    ];
    for (text, wanted) in cases {
        let error = import(&mut project, &file, text, &Import::default()).unwrap_err();
        assert_eq!(error.code(), "I12", "{error}");
        assert!(error.to_string().contains(wanted), "{error}");
        assert_eq!(project.log().version(), before, "{error}");
    }
    let how = Import {
        skip_unknown: true,
        add_classes: true,
        ..Import::default()
    };
    let text = "id,label\nitem 20,a\nnobody,b\nitem 21,z\nitem 22,y\n";
    let imported = import(&mut project, &file, text, &how).unwrap();
    assert_eq!(
        (
            imported.labels,
            imported.unknown.join(" "),
            imported.classes.join(" ")
        ),
        (3, "nobody".into(), "y z".into())
    );
    assert_eq!(said(&project, "item 21"), ["f.csv: z"]);
    // Edited in a spreadsheet: a label where labels is empty.
    let edited = "id,label,annotator,labels,mark\nitem 30,b,eve,,\nitem 31,a,,,skipped\n";
    assert_eq!(
        import(&mut project, &file, edited, &Import::default())
            .unwrap()
            .labels,
        2
    );
    assert_eq!(
        (said(&project, "item 30"), said(&project, "item 31")),
        (vec!["eve: b".into()], vec!["f.csv: a".into()])
    );
    assert_eq!(project.log().labels().marks_of("item 31"), (true, false));
}

#[test]
fn contradictions_are_kept_apart_and_reported() {
    let place = tempfile::tempdir().unwrap();
    let (mut project, _) = made(&place.path().join("p.dial"), &["a", "b", "c"]);
    let file = place.path().join("f.csv");
    send(
        &mut project,
        "k",
        "ann",
        vec![label("item 20", &[(0, 1.0)]), label("item 21", &[(0, 1.0)])],
    )
    .unwrap();
    let text = "id,label,annotator\nitem 20,b,ann\nitem 21,a,ann\nitem 22,a,\nitem 22,b,\nitem 22,b,\nitem 22,c,\nitem 21,b,bob\n";
    let imported = import(&mut project, &file, text, &Import::default()).unwrap();
    // item 21 of ann was there; the second b of item 22 came a moment before.
    assert_eq!((imported.labels, imported.known), (5, 2));
    assert_eq!(said(&project, "item 20"), ["ann: a", "ann (f.csv): b"]);
    assert_eq!(said(&project, "item 21"), ["ann: a", "bob: b"]);
    assert_eq!(
        said(&project, "item 22"),
        ["f.csv: a", "f.csv (2): b", "f.csv (3): c"]
    );
    let items: Vec<&str> = imported
        .contradictions
        .iter()
        .map(|one| one.item.as_str())
        .collect();
    assert_eq!(items, ["item 20", "item 21", "item 22"]);
    assert_eq!(
        imported.contradictions[0].labels[1],
        ("ann (f.csv)".into(), "b".into())
    );
    let again = import(&mut project, &file, text, &Import::default()).unwrap();
    assert_eq!(
        (again.labels, again.known, again.contradictions.len()),
        (0, 7, 0),
        "nothing is stored twice"
    );
    // One step back, whoever the labels are said to be from.
    let undo = Decision::Undo {
        group: imported.group,
    };
    send(&mut project, "undo", "", vec![undo]).unwrap();
    assert_eq!(
        (
            said(&project, "item 20").len(),
            said(&project, "item 22").len()
        ),
        (1, 0)
    );
}

#[test]
fn many_labels_are_one_group() {
    const N: usize = 45_000;
    let place = tempfile::tempdir().unwrap();
    let mut project = Project::on(Box::new(Memory::new("p")), None, None).unwrap();
    let recipe = Recipe {
        items: N,
        ..Recipe::new("x.npy", Default::default())
    };
    send(
        &mut project,
        "new",
        "",
        vec![Decision::Recipe(Box::new(recipe))],
    )
    .unwrap();
    let mut project = {
        // The number of items is read when a project is opened.
        let mut store = Memory::new("p");
        use dial_store::Store;
        store.append(&project.log().chained(0)).unwrap();
        Project::on(Box::new(store), None, None).unwrap()
    };
    let rows: String = (0..N).map(|row| format!("{}\n", row % 3)).collect();
    let how = Import {
        add_classes: true,
        ..Import::default()
    };
    let imported = import(
        &mut project,
        &place.path().join("y.csv"),
        &format!("y\n{rows}"),
        &how,
    )
    .unwrap();
    assert_eq!(
        (imported.labels, imported.classes.join("")),
        (N, "012".into())
    );
    let groups: std::collections::BTreeSet<u64> = project
        .log()
        .records()
        .iter()
        .skip(1)
        .map(|record| record.group)
        .collect();
    assert_eq!(groups, [imported.group.unwrap()].into());
    assert_eq!(project.log().labels().labelled().count(), N);
    assert_eq!(said(&project, "44999"), ["y.csv: 2"]);
}

#[test]
fn an_import_is_repeated_under_its_key_only_where_it_was_not_stored() {
    let place = tempfile::tempdir().unwrap();
    let (file, folder) = (place.path().join("gold.csv"), place.path().join("p.dial"));
    std::fs::write(&file, "id,label\nitem 20,a\nitem 21,b\n").unwrap();
    let (mut project, _) = made(&folder, &["a", "b"]);
    let first = project.import(&file, &Import::default(), "K", NOW).unwrap();
    assert_eq!((first.labels, first.known), (2, 0));
    send(
        &mut project,
        "u",
        "gold.csv",
        vec![Decision::Undo { group: first.group }],
    )
    .unwrap();
    // The same key is the same import, and that is undone: nothing is stored, and nothing else is claimed.
    let again = project.import(&file, &Import::default(), "K", NOW).unwrap();
    assert_eq!((again.labels, again.known, again.group), (0, 2, None));
    assert!(said(&project, "item 20").is_empty());
    // Another key is another import. Half of it was stored before it was killed, say: the rest goes into its group.
    std::fs::write(&file, "id,label\nitem 20,a\n").unwrap();
    let half = project.import(&file, &Import::default(), "L", NOW).unwrap();
    std::fs::write(&file, "id,label\nitem 20,a\nitem 21,b\n").unwrap();
    let rest = project.import(&file, &Import::default(), "L", NOW).unwrap();
    assert_eq!((rest.labels, rest.known, rest.group), (1, 1, half.group));
}

#[test]
fn second_opinions_take_as_long_as_first_ones() {
    // Not timed: with a look at the whole log for each second opinion this would take minutes, and somebody would notice.
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("crowd.csv");
    let mut project = Project::on(Box::new(Memory::new("p")), None, None).unwrap();
    let recipe = Recipe {
        items: 20_000,
        ..Recipe::new("builtin:moons:20000", Default::default())
    };
    let decisions = vec![
        Decision::Recipe(Box::new(recipe)),
        Decision::AddClass { name: "a".into() },
        Decision::AddClass { name: "b".into() },
    ];
    send(&mut project, "new", "", decisions).unwrap();
    let line =
        |who: usize| move |item: usize| format!("{item},{},p{who}\n", ["a", "b"][(item + who) % 2]);
    let text: String = (0..3).flat_map(|who| (0..20_000).map(line(who))).collect();
    let imported = import(
        &mut project,
        &file,
        &format!("id,label,annotator\n{text}"),
        &Import::default(),
    )
    .unwrap();
    assert_eq!(
        (imported.labels, imported.contradictions.len()),
        (60_000, 20_000)
    );
}
