//! What is guessed of lists, labels, columns beside and options, through `open`, and what is said of it.

use std::fs;
use std::path::PathBuf;

use dial::Control;
use dial_data::write::{Saved, SavedData, write_npy};
use dial_data::{Error, Kind, Pool, ReadOptions, Show, open};

/// Files in a folder of their own.
struct Files(tempfile::TempDir);

impl Files {
    fn new(files: &[(&str, &str)]) -> Files {
        let folder = tempfile::tempdir().unwrap();
        files
            .iter()
            .for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
        Files(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn open(&self, name: &str, options: &ReadOptions) -> Result<Pool, Error> {
        open(
            self.path(name).to_str().unwrap(),
            options,
            0,
            &Control::new(),
        )
    }
}

fn none() -> ReadOptions {
    ReadOptions::default()
}

fn lines(line: impl Fn(usize) -> String) -> String {
    (0..8).map(|i| line(i) + "\n").collect()
}

#[test]
fn lists_beside_texts_are_features_if_they_are_embeddings() {
    let wide = |i: usize| {
        (0..8)
            .map(|j| (i * j + i).to_string())
            .collect::<Vec<_>>()
            .join(",")
    };
    let files = Files::new(&[
        (
            "wide.jsonl",
            &lines(|i| format!("{{\"text\":\"word{i} and more\",\"v\":[{}]}}", wide(i))),
        ),
        (
            "short.jsonl",
            &lines(|i| format!("{{\"text\":\"word{i} and more\",\"box\":[{i},2,3,4]}}")),
        ),
        (
            "uneven.jsonl",
            &lines(|i| {
                format!(
                    "{{\"text\":\"word{i} and more\",\"t\":[{}]}}",
                    "7,".repeat(i) + &wide(i)
                )
            }),
        ),
        (
            "alone.jsonl",
            &lines(|i| format!("{{\"kind\":\"a\",\"v\":[{i},2]}}")),
        ),
    ]);
    let pool = files.open("wide.jsonl", &none()).unwrap();
    assert_eq!(
        (
            pool.matrix.dim,
            pool.notes.join("\n").contains("features are the column v")
        ),
        (8, true)
    );
    for (name, column, cell) in [
        ("short.jsonl", "box", "[0,2,3,4]"),
        ("uneven.jsonl", "t", "[0,0,0,0,0,0,0,0]"),
    ] {
        let pool = files.open(name, &none()).unwrap();
        let said = format!(
            "the column {column} holds lists of numbers and is shown beside the texts; to take it as"
        );
        assert!(pool.notes.join("\n").contains(&said), "{:?}", pool.notes);
        assert_eq!(pool.beside.unwrap().row(0), [cell.to_string()], "{name}");
        assert!(
            pool.notes
                .join("\n")
                .contains("features were made from the words"),
            "{:?}",
            pool.notes
        );
    }
    // A column of texts that was named goes before lists of any width; this very file brings them back.
    let named = ReadOptions {
        text_column: Some("text".into()),
        ..none()
    };
    let pool = files.open("wide.jsonl", &named).unwrap();
    assert!(
        pool.notes
            .join("\n")
            .contains("the column v holds lists of numbers and is shown beside"),
        "{:?}",
        pool.notes
    );
    let both = ReadOptions {
        features_file: Some(files.path("wide.jsonl")),
        ..named
    };
    let pool = files.open("wide.jsonl", &both).unwrap();
    assert_eq!(
        (pool.matrix.dim, matches!(pool.show, Show::Texts(_))),
        (8, true)
    );
    assert_eq!(
        files.open("alone.jsonl", &none()).unwrap().matrix.dim,
        2,
        "without texts lists are features"
    );
}

#[test]
fn what_is_beside_and_may_be_labels_is_said() {
    let row = |i: usize| format!("this is text number {i},{},{i}", ["good", "bad"][i % 2]);
    let files = Files::new(&[("a.csv", &format!("review,sentiment,n\n{}", lines(row)))]);
    let pool = files.open("a.csv", &none()).unwrap();
    let notes = pool.notes.join("\n");
    assert!(
        notes.contains("shown beside the items, not features: sentiment, n"),
        "{notes}"
    );
    assert!(
        notes.contains("no labels were found; --label-column sentiment takes them"),
        "{notes}"
    );
    assert_eq!(pool.could_be_labels, ["sentiment"]);
    let labelled = ReadOptions {
        label_column: Some("sentiment".into()),
        ..none()
    };
    assert!(
        !files
            .open("a.csv", &labelled)
            .unwrap()
            .notes
            .join("\n")
            .contains("no labels")
    );
}

#[test]
fn labels_are_classes() {
    let json = |label: &str| {
        lines(|i| {
            format!(
                "{{\"a\":{i},\"label\":{}}}",
                label.replace('#', &(i % 2).to_string())
            )
        })
    };
    let files = Files::new(&[
        ("one.jsonl", &json("[\"c#\"]")),
        ("two.jsonl", &json("[#,2]")),
        (
            "part.csv",
            &format!("a,label\n{}", lines(|i| format!("{i},0.{i}"))),
        ),
        ("pool.csv", "a\n1\n2\n3\n"),
        ("part.labels.csv", "label\n1\n2.5\n3\n"),
    ]);
    assert_eq!(
        files
            .open("one.jsonl", &none())
            .unwrap()
            .truth
            .unwrap()
            .classes,
        ["c0", "c1"]
    );
    let beside = ReadOptions {
        labels_file: Some(files.path("part.labels.csv")),
        ..none()
    };
    for (name, options, said) in [
        (
            "two.jsonl",
            &none(),
            "the label of line 1 is a list of 2: one class is wanted.",
        ),
        (
            "part.csv",
            &none(),
            "the label of line 3 is 0.1, not a class number",
        ),
        (
            "pool.csv",
            &beside,
            "the label of line 3 is 2.5, not a class number",
        ),
    ] {
        let error = files.open(name, options).unwrap_err();
        assert_eq!(error.code(), "I12");
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn nested_columns_are_named() {
    let files = Files::new(&[
        (
            "chat.jsonl",
            &lines(|i| {
                format!(
                    "{{\"label\":{},\"messages\":[{{\"role\":\"user\"}}]}}",
                    i % 2
                )
            }),
        ),
        (
            "meta.jsonl",
            &lines(|i| format!("{{\"text\":\"word{i} and more\",\"meta\":{{\"a\":1}}}}")),
        ),
    ]);
    let error = files.open("chat.jsonl", &none()).unwrap_err().to_string();
    assert!(
        error.contains(
            "no columns of numbers; left out the column messages: it holds nested values"
        ),
        "{error}"
    );
    let pool = files.open("meta.jsonl", &none()).unwrap();
    assert!(pool.notes.contains(
        &"left out the column meta: it holds nested values (lists or objects)".to_string()
    ));
    assert!(pool.beside.is_none(), "{:?}", pool.beside);
}

#[test]
fn empty_texts_are_counted_or_left_out() {
    let row = |i: usize| {
        format!(
            "{i},{}",
            if i % 4 == 1 {
                String::new()
            } else {
                format!("words of text {i}")
            }
        )
    };
    let files = Files::new(&[("a.csv", &format!("id,text\n{}", lines(row)))]);
    let notes = files.open("a.csv", &none()).unwrap().notes.join("\n");
    assert!(
        notes.contains(
            "2 texts are empty or missing (line 3, line 7); --skip-bad leaves such texts out"
        ),
        "{notes}"
    );
    let pool = files
        .open(
            "a.csv",
            &ReadOptions {
                skip_bad: true,
                ..none()
            },
        )
        .unwrap();
    assert_eq!(pool.ids.unwrap(), ["0", "2", "3", "4", "6", "7"]);
}

#[test]
fn indices_of_several_levels_are_left_out() {
    let files = Files::new(&[(
        "a.csv",
        &format!(",,0,1\n{}", lines(|i| format!("{},{i},{i}.5,2", i / 4))),
    )]);
    let pool = files.open("a.csv", &none()).unwrap();
    assert_eq!(
        (pool.matrix.dim, pool.matrix.get(7, 0), pool.ids),
        (2, 7.5, None)
    );
    let said = "the first 2 columns have no names: they are taken for an index and left out";
    assert!(pool.notes.contains(&said.to_string()), "{:?}", pool.notes);
}

#[test]
fn truths_are_numbers_in_every_format() {
    let truth = |i: usize| i.is_multiple_of(3);
    let files = Files::new(&[
        (
            "a.csv",
            &format!(
                "a,on\n{}",
                lines(|i| format!("{i},{}", if truth(i) { "True" } else { "FALSE" }))
            ),
        ),
        (
            "a.jsonl",
            &lines(|i| format!("{{\"a\":{i},\"on\":{}}}", truth(i))),
        ),
    ]);
    let pools = ["a.csv", "a.jsonl"].map(|name| files.open(name, &none()).unwrap());
    assert_eq!(
        (pools[0].matrix.dim, &pools[0].matrix),
        (2, &pools[1].matrix)
    );
    assert_eq!(
        (pools[0].matrix.get(0, 1), pools[0].matrix.get(1, 1)),
        (1.0, 0.0)
    );
}

#[test]
fn names_of_columns_are_refused_where_there_are_none() {
    let files = Files::new(&[
        ("a.txt", "one text\nanother text\n"),
        ("f.csv", "id,u,v\n0,1,5\n1,2,6\n"),
    ]);
    write_npy(
        &files.path("a.npy"),
        &Saved::matrix(SavedData::F32(&[1.0, 2.0]), 1),
    )
    .unwrap();
    let label = ReadOptions {
        label_column: Some("y".into()),
        ..none()
    };
    let id = ReadOptions {
        id_column: Some("id".into()),
        ..none()
    };
    for name in ["a.npy", "."] {
        for (options, said) in [
            (&label, "--label-column is for tables"),
            (&id, "--id-column is for tables"),
        ] {
            let error = files.open(name, options).unwrap_err();
            assert!(
                error.code() == "U1" && error.to_string().contains(said),
                "{error}"
            );
        }
    }
    let texts = ReadOptions {
        kind: Some(Kind::Texts),
        ..label
    };
    assert!(
        files
            .open("a.txt", &texts)
            .unwrap_err()
            .to_string()
            .contains("lines have no columns")
    );
    // What the pool has no use for is meant for the features.
    let beside = ReadOptions {
        features_file: Some(files.path("f.csv")),
        drop_columns: vec!["v".into()],
        ..none()
    };
    assert_eq!(files.open("a.npy", &beside).unwrap().matrix.dim, 1);
    let wrong = ReadOptions {
        drop_columns: vec!["w".into()],
        ..beside
    };
    assert_eq!(files.open("a.npy", &wrong).unwrap_err().code(), "U1");
}

#[test]
fn three_dimensions_say_what_they_were_taken_for() {
    let files = Files::new(&[(
        "gt.csv",
        &(0..6).map(|i| format!("{}\n", i % 2)).collect::<String>(),
    )]);
    let values: Vec<f32> = (0..12).map(|value| value as f32).collect();
    let cube = Saved {
        shape: vec![2, 3, 2],
        data: SavedData::F32(&values),
    };
    write_npy(&files.path("c.npy"), &cube).unwrap();
    let notes = files.open("c.npy", &none()).unwrap().notes.join("\n");
    assert!(
        notes.contains(
            "read as 2 pictures of 3 x 2; --as scene reads them as height x width x bands"
        ),
        "{notes}"
    );
    let labels = ReadOptions {
        labels_file: Some(files.path("gt.csv")),
        ..none()
    };
    let error = files.open("c.npy", &labels).unwrap_err();
    assert!(
        error.code() == "I12" && error.to_string().contains("--as scene reads it so"),
        "{error}"
    );
    assert_eq!(
        files
            .open(
                "c.npy",
                &ReadOptions {
                    kind: Some(Kind::Scene),
                    ..labels
                }
            )
            .unwrap()
            .matrix
            .n,
        6
    );
}

#[test]
fn what_a_file_of_labels_leaves_out_is_said() {
    let files = Files::new(&[
        ("p.csv", "id,x\na,1\nb,2\nc,4\n"),
        ("byid.csv", "# by hand\nid,label\na,u\nb\nc,v\nc,v\n"),
        ("byrow.csv", "label,note,more\nu,x,1\nv\nu,y,2\n"),
    ]);
    let labels = |name: &str, skip_bad: bool| {
        files.open(
            "p.csv",
            &ReadOptions {
                labels_file: Some(files.path(name)),
                skip_bad,
                ..none()
            },
        )
    };
    assert_eq!(labels("byid.csv", false).unwrap_err().code(), "I6");
    let pool = labels("byid.csv", true).unwrap();
    assert_eq!(pool.truth.unwrap().labels, [Some(0), None, Some(1)]);
    let notes = pool.notes.join("\n");
    for said in [
        "byid.csv: skipped 1 line of comments (#) above the table",
        "byid.csv: left out 1 bad row: line 4 (1 cell, expected 2)",
        "1 row repeats the label of an id that has the same one already",
    ] {
        assert!(notes.contains(said), "{said}\n{notes}");
    }
    // Joined by row, a bad row is a row without a label.
    let pool = labels("byrow.csv", true).unwrap();
    assert_eq!(pool.truth.unwrap().labels, [Some(0), None, Some(0)]);
}
