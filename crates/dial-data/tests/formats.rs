//! Good files of every format, built by hand from the descriptions of the formats, and round trips of the writers.

mod corpus;

use std::fs;
use std::path::Path;

use corpus::build;
use dial_data::write::{Cell, Saved, SavedData, write_csr, write_csv, write_npy, write_npz};
use dial_data::{Array, ArrayData, Buffer, Pool, ReadOptions, Show, open, read_columns, read_npz};
use proptest::prelude::*;

fn read_with(name: &str, bytes: &[u8], options: &ReadOptions) -> Pool {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    open(path.to_str().unwrap(), options, 0, &dial::Control::new())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn read(name: &str, bytes: &[u8]) -> Pool {
    read_with(name, bytes, &ReadOptions::default())
}

/// The pool with a file of labels beside it.
fn labelled(name: &str, bytes: &[u8], labels_name: &str, labels: &[u8]) -> Pool {
    let folder = tempfile::tempdir().unwrap();
    let labels_file = folder.path().join(labels_name);
    fs::write(&labels_file, labels).unwrap();
    read_with(
        name,
        bytes,
        &ReadOptions {
            labels_file: Some(labels_file),
            ..ReadOptions::default()
        },
    )
}

fn labels(pool: &Pool) -> Vec<&str> {
    let truth = pool.truth.as_ref().unwrap();
    truth
        .labels
        .iter()
        .map(|label| label.map_or("", |class| truth.classes[usize::from(class)].as_str()))
        .collect()
}

/// Ids under either name, as whole numbers of any kind and as text.
#[test]
fn ids_in_archives() {
    let x = || build::npy("'<f8'", "(3, 1)", &build::f64s(&[1.0, 2.0, 4.0]));
    let npz = |name, ids| build::zip(&[build::stored("X.npy", x()), build::stored(name, ids)]);
    let floats = || build::npy("'<f8'", "(3,)", &build::f64s(&[7.0, 8.0, 10.0]));
    let bytes = build::npy("'|S2'", "(3,)", b"a\0bcd\0");
    let ids = |name: &str, bytes: Vec<u8>| read(name, &bytes).ids.map(|ids| ids.join(" "));
    assert_eq!(
        ids("a.npz", npz("ids.npy", floats())),
        Some("7 8 10".into())
    );
    assert_eq!(ids("a.npz", npz("id.npy", floats())), Some("7 8 10".into()));
    assert_eq!(ids("a.npz", npz("id.npy", bytes)), Some("a bc d".into()));
    let two = build::npy("'<f8'", "(2,)", &build::f64s(&[7.0, 8.0]));
    assert_eq!(ids("a.npz", npz("id.npy", two)), None);
    let doubles = |shape: &[i32], name, values: &[f64]| {
        build::mat_array(
            false,
            6,
            shape,
            name,
            &build::element(false, 9, &build::f64s(values)),
        )
    };
    let x = || doubles(&[3, 1], "X", &[1.0, 2.0, 4.0]);
    assert_eq!(
        ids(
            "a.mat",
            build::mat(&[x(), doubles(&[3, 1], "id", &[7.0, 8.0, 10.0])])
        ),
        Some("7 8 10".into())
    );
    // The letters of a, bc and d run column by column: a b d, then a blank, c and a blank; as UTF-8 and as u16.
    let text = build::mat_array(
        false,
        4,
        &[3, 2],
        "ids",
        &build::element(false, 16, b"abd c "),
    );
    assert_eq!(
        ids("a.mat", build::mat(&[x(), text.clone()])),
        Some("a bc d".into())
    );
    assert_eq!(
        ids("a.mat", build::mat(&[x(), build::packed(&text)])),
        Some("a bc d".into())
    );
    let wide: Vec<u8> = b"abd c "
        .iter()
        .flat_map(|&letter| u16::from(letter).to_le_bytes())
        .collect();
    let wide = build::mat_array(false, 4, &[3, 2], "id", &build::element(false, 4, &wide));
    assert_eq!(
        ids("a.mat", build::mat(&[x(), wide])),
        Some("a bc d".into())
    );
}

#[test]
fn npz_with_labels_and_ids() {
    let pool = read("pool.npz", &build::good_npz());
    assert_eq!(
        (pool.name.as_str(), pool.matrix.n, pool.matrix.dim),
        ("pool", 3, 2)
    );
    assert_eq!(
        pool.matrix.values,
        Buffer::F64(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.5])
    );
    assert_eq!(pool.ids, Some(vec!["a".into(), "b".into(), "c".into()]));
    assert_eq!(labels(&pool), ["0", "1", ""]);
    assert_eq!(
        pool.notes,
        [
            "labels are the array labels",
            "1 of 3 labels are unknown (empty, -1, NA and the like)"
        ]
    );
}

#[test]
fn pictures_in_npy_and_idx() {
    let npy = build::npy("'|u1'", "(2, 1, 3)", &[0, 1, 2, 3, 4, 255]);
    let idx = build::idx(8, &[2, 1, 3], &[0, 1, 2, 3, 4, 255]);
    for (name, bytes) in [
        ("a.npy", npy),
        ("a-idx3-ubyte", idx.clone()),
        ("a.gz", build::gzip(&idx)),
    ] {
        let pool = read(name, &bytes);
        assert_eq!(
            pool.matrix.values,
            Buffer::F32(vec![0.0, 1.0, 2.0, 3.0, 4.0, 255.0]),
            "{name}"
        );
        let Show::Picture(picture) = pool.show else {
            panic!("{:?}", pool.show)
        };
        assert_eq!(
            (picture.height, picture.width, picture.highest),
            (1, 3, 255.0)
        );
    }
}

#[test]
fn idx_labels_are_found_beside_the_images() {
    let folder = tempfile::tempdir().unwrap();
    let images = folder.path().join("t-images-idx3-ubyte");
    fs::write(&images, build::idx(8, &[2, 1, 1], &[7, 8])).unwrap();
    fs::write(
        folder.path().join("t-labels-idx1-ubyte.gz"),
        build::gzip(&build::idx(8, &[2], &[5, 3])),
    )
    .unwrap();
    let pool = open(
        images.to_str().unwrap(),
        &ReadOptions::default(),
        0,
        &dial::Control::new(),
    )
    .unwrap();
    assert_eq!(labels(&pool), ["5", "3"]);
    assert!(pool.notes[0].contains("t-labels-idx1-ubyte.gz"));
}

#[test]
fn mat_in_both_byte_orders_packed_and_narrow() {
    // Columns (1, 2, 3) and (4, 5, 6) are the rows (1, 4), (2, 5), (3, 6).
    let wanted = Buffer::F64(vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let plain = build::mat(&[build::good_array("a")]);
    let packed = build::mat(&[build::packed(&build::good_array("a"))]);
    // Doubles stored as bytes: MATLAB saves whole numbers so.
    let narrow = build::mat(&[build::mat_array(
        false,
        6,
        &[3, 2],
        "a",
        &build::element(false, 2, &[1, 2, 3, 4, 5, 6]),
    )]);
    let values: Vec<u8> = [1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0]
        .iter()
        .flat_map(|v| v.to_be_bytes())
        .collect();
    let array = build::mat_array(true, 6, &[3, 2], "a", &build::element(true, 9, &values));
    let big = [build::mat_header(true), array].concat();
    for bytes in [plain, packed, narrow, big] {
        assert_eq!(read("a.mat", &bytes).matrix.values, wanted);
    }
    // Two int16 values fit into the tag itself: (type 3, 4 bytes), 1, -2.
    let short = [3, 0, 4, 0, 1, 0, 0xFE, 0xFF];
    let pool = read(
        "a.mat",
        &build::mat(&[build::mat_array(false, 10, &[1, 2], "a", &short)]),
    );
    assert_eq!(pool.matrix.values, Buffer::F32(vec![1.0, -2.0]));
}

#[test]
fn a_cube_is_pixels_row_by_row() {
    // Entry (i, j, b) of a 2 x 2 x 2 cube is i + 2j + 4b, which is how MATLAB runs through it.
    let cube = build::mat_array(
        false,
        9,
        &[2, 2, 2],
        "cube",
        &build::element(false, 2, &[0, 1, 2, 3, 4, 5, 6, 7]),
    );
    let truth = build::mat_array(
        false,
        9,
        &[2, 2],
        "cube_truth",
        &build::element(false, 2, &[0, 1, 2, 3]),
    );
    let pool = labelled(
        "a.mat",
        &build::mat(&[cube]),
        "gt.mat",
        &build::mat(&[truth]),
    );
    // Pixels (0,0), (0,1), (1,0), (1,1), each with both bands.
    assert_eq!(
        pool.shown().values,
        Buffer::F32(vec![0.0, 4.0, 2.0, 6.0, 1.0, 5.0, 3.0, 7.0])
    );
    assert_eq!(labels(&pool), ["0", "2", "1", "3"]);
    assert_eq!(
        pool.ids.as_deref().unwrap(),
        ["r0c0", "r0c1", "r1c0", "r1c1"]
    );
}

#[test]
fn tables_with_everything() {
    let text = "\u{feff}id;a;b;Class\r\n\"x;1\";1;-2e1;cat\r\ny;.5;3;\r\n";
    let pool = read("t.csv", text.as_bytes());
    // Columns whose scales differ are standardised; what is shown stays.
    assert_eq!(pool.shown().values, Buffer::F64(vec![1.0, -20.0, 0.5, 3.0]));
    assert_eq!(pool.matrix.values, Buffer::F64(vec![1.0, -1.0, -1.0, 1.0]));
    assert_eq!(pool.ids, Some(vec!["x;1".into(), "y".into()]));
    assert_eq!(labels(&pool), ["cat", ""]);
    let options = ReadOptions {
        drop_nonfinite: true,
        skip_bad: true,
        ..ReadOptions::default()
    };
    let pool = read_with("t.tsv", b"1\t2\nnan\t3\n4\t5\t6\n7\t8\n", &options);
    assert_eq!(pool.matrix.values, Buffer::F64(vec![1.0, 2.0, 7.0, 8.0]));
    assert_eq!(pool.ids, Some(vec!["0".into(), "3".into()]));
    let text = "left out 1 row with non-finite values: line 2";
    assert_eq!(
        pool.notes[1..],
        ["left out 1 bad row: line 3 (3 cells, expected 2)", text]
    );
    assert_eq!(
        pool.notes[0],
        "no header was found; columns are named 0, 1, ..."
    );
}

#[test]
fn rows_left_out_take_their_labels_along() {
    let bytes = build::npy("'<f8'", "(3, 1)", &build::f64s(&[1.0, f64::NAN, 2.0]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.txt");
    fs::write(&path, "7\n8\n9\n").unwrap();
    let options = ReadOptions {
        drop_nonfinite: true,
        labels_file: Some(path),
        ..ReadOptions::default()
    };
    let pool = read_with("a.npy", &bytes, &options);
    assert_eq!(labels(&pool), ["7", "9"]);
    assert_eq!(pool.ids, Some(vec!["0".into(), "2".into()]));
    let table = ReadOptions {
        skip_bad: true,
        ..options
    };
    assert_eq!(
        labels(&read_with("a.csv", b"a\n1\n!\n2\n", &table)),
        ["7", "9"]
    );
}

#[test]
fn labels_joined_by_id_or_in_order() {
    let pool = b"id,a\nx,1\ny,2\nz,3\n";
    let joined = labelled("a.csv", pool, "l.csv", b"label,id\ndog,z\ncat,x\ndog,z\n");
    assert_eq!(labels(&joined), ["cat", "", "dog"]);
    for (name, bytes) in [
        ("l.txt", b"4\n5\n4\n".to_vec()),
        (
            "l.npy",
            build::npy(
                "'<f4'",
                "(3, 1)",
                &[0, 0, 128, 64, 0, 0, 160, 64, 0, 0, 128, 64],
            ),
        ),
        (
            "l.npz",
            build::zip(&[build::stored(
                "y.npy",
                build::npy("'<i8'", "(3,)", &build::i64s(&[4, 5, 4])),
            )]),
        ),
        ("l.idx", build::idx(9, &[3], &[4, 5, 4])),
        ("l.csv", b"0,4\n".to_vec()),
    ] {
        if name == "l.csv" {
            let rows = labelled("a.npy", &build::good_npy(), name, b"2,x\n0,y\n");
            assert_eq!(labels(&rows), ["y", "", "x"]);
        } else {
            assert_eq!(
                labels(&labelled("a.csv", pool, name, &bytes)),
                ["4", "5", "4"],
                "{name}"
            );
        }
    }
}

#[test]
fn labels_by_the_name_of_an_array() {
    let vector = || build::npy("'<i8'", "(3,)", &build::i64s(&[4, 5, 4]));
    // A column of labels would pass for features too, if it were not named.
    let column = build::npy("'<i8'", "(3, 1)", &build::i64s(&[7, 7, 8]));
    let npz = build::zip(&[
        build::stored("features.npy", build::good_npy()),
        build::stored("species.npy", column),
        build::stored("kind.npy", vector()),
        build::stored("ids.npy", build::letters("abc")),
    ]);
    let mat = build::mat(&[
        build::good_array("features"),
        build::mat_array(
            false,
            9,
            &[3, 1],
            "species",
            &build::element(false, 2, &[7, 7, 8]),
        ),
        build::mat_array(
            false,
            9,
            &[1, 3],
            "kind",
            &build::element(false, 2, &[4, 5, 4]),
        ),
    ]);
    for (name, bytes) in [("a.npz", npz), ("a.mat", mat)] {
        let named = |word: &str| ReadOptions {
            label_column: Some(word.into()),
            ..ReadOptions::default()
        };
        let pool = read_with(name, &bytes, &named("species"));
        assert_eq!(
            (labels(&pool), pool.matrix.dim),
            (vec!["7", "7", "8"], 2),
            "{name}"
        );
        assert_eq!(
            (pool.notes.as_slice(), pool.could_be_labels.len()),
            (&["labels are the array species".into()][..], 0)
        );
        let other = ReadOptions {
            variable: Some("features".into()),
            ..named("kind")
        };
        assert_eq!(
            labels(&read_with(name, &bytes, &other)),
            ["4", "5", "4"],
            "{name}"
        );
        // Without a name nothing is guessed, but the choice is shown.
        let none = ReadOptions {
            variable: Some("features".into()),
            ..ReadOptions::default()
        };
        let pool = read_with(name, &bytes, &none);
        assert_eq!(
            (pool.truth, pool.could_be_labels),
            (None, vec!["species".into(), "kind".into()]),
            "{name}"
        );
        assert!(
            pool.notes[0]
                .contains("--label-column NAME can take them from the arrays species, kind"),
            "{name}"
        );
    }
    // In a file of labels of its own the name counts as well.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("l.npz");
    fs::write(
        &file,
        build::zip(&[
            build::stored("kind.npy", vector()),
            build::stored("other.npy", vector()),
        ]),
    )
    .unwrap();
    let options = ReadOptions {
        labels_file: Some(file),
        label_column: Some("kind".into()),
        ..ReadOptions::default()
    };
    assert_eq!(
        labels(&read_with("a.npy", &build::good_npy(), &options)),
        ["4", "5", "4"]
    );
}

/// What is imported from arrays, whichever file they are in.
#[test]
fn columns_of_every_kind_of_arrays() {
    let idx = build::idx(8, &[3], &[2, 0, 1]);
    let doubles = build::element(false, 9, &build::f64s(&[2.0, 0.0, 1.0]));
    let letters = build::element(false, 16, b"abd c ");
    let mat = build::mat(&[
        build::mat_array(false, 6, &[3, 1], "label", &doubles),
        build::mat_array(false, 4, &[3, 2], "id", &letters),
        build::mat_array(false, 6, &[1, 3], "X", &doubles),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let columns = |name: &str, bytes: &[u8], wanted: &[&str]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let choose = |names: &[String]| {
            let place = |wanted: &&str| names.iter().position(|name| name == wanted);
            wanted.iter().filter_map(place).collect()
        };
        let read = read_columns(&path, &choose).unwrap();
        assert!(!read.guarded && read.lines.is_none() && read.rows == 3);
        read.cells
    };
    let labels = ["2", "0", "1"].map(String::from);
    for (name, bytes) in [("a-idx1-ubyte", idx.clone()), ("a.gz", build::gzip(&idx))] {
        assert_eq!(
            columns(name, &bytes, &["0"]),
            std::slice::from_ref(&labels),
            "{name}"
        );
    }
    let ids = ["a", "bc", "d"].map(String::from);
    assert_eq!(columns("a.mat", &mat, &["id", "label"]), [ids, labels]);
}

#[test]
fn a_written_sparse_matrix_has_the_arrays_of_scipy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.npz");
    // [[0, 2, 0], [1, 0, 3]].
    write_csr(&path, 3, &[0, 1, 3], &[1, 0, 2], &[2.0, 1.0, 3.0]).unwrap();
    let arrays = read_npz(&path).unwrap();
    let array = |name: &str| &arrays.iter().find(|(found, _)| found == name).unwrap().1;
    assert_eq!(array("data").data, ArrayData::F64(vec![2.0, 1.0, 3.0]));
    assert_eq!(array("indices").data, ArrayData::I64(vec![1, 0, 2]));
    assert_eq!(array("indptr").data, ArrayData::I64(vec![0, 1, 3]));
    assert_eq!(array("shape").data, ArrayData::I64(vec![2, 3]));
    assert_eq!(
        array("format"),
        &Array {
            shape: vec![],
            data: ArrayData::Text(vec!["csr".into()])
        }
    );
    let first = fs::read(&path).unwrap();
    write_csr(&path, 3, &[0, 1, 3], &[1, 0, 2], &[2.0, 1.0, 3.0]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), first);
}

fn npz_of(path: &Path, name: &str, array: Saved<'_>) -> Array {
    write_npz(path, &[(name, array)]).unwrap();
    read_npz(path).unwrap().swap_remove(0).1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn arrays_come_back_bit_for_bit(
        wide in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL, 1..40),
        whole in prop::collection::vec(any::<i64>(), 1..20),
        small in prop::collection::vec(any::<u32>(), 1..20),
        words in prop::collection::vec("[^\u{0}]{0,5}", 1..6),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        let found = npz_of(&path, "i", Saved::vector(SavedData::I64(&whole)));
        prop_assert_eq!(found, Array { shape: vec![whole.len()], data: ArrayData::I64(whole) });
        let found = npz_of(&path, "u", Saved::vector(SavedData::U32(&small)));
        prop_assert_eq!(found.data, ArrayData::I64(small.into_iter().map(i64::from).collect()));
        let found = npz_of(&path, "t", Saved::vector(SavedData::Text(&words)));
        prop_assert_eq!(found.data, ArrayData::Text(words));
        let npy = folder.path().join("a.npy");
        write_npy(&npy, &Saved::matrix(SavedData::F64(&wide), 1)).unwrap();
        let pool = open(npy.to_str().unwrap(), &ReadOptions::default(), 0, &dial::Control::new()).unwrap();
        prop_assert_eq!(&pool.matrix.values, &Buffer::F64(wide.clone()));
        let narrow: Vec<f32> = wide.iter().map(|&value| value as f32).filter(|value| value.is_finite()).collect();
        prop_assume!(!narrow.is_empty());
        write_npy(&npy, &Saved::matrix(SavedData::F32(&narrow), 1)).unwrap();
        let pool = open(npy.to_str().unwrap(), &ReadOptions::default(), 0, &dial::Control::new()).unwrap();
        prop_assert_eq!(pool.matrix.values, Buffer::F32(narrow));
    }

    #[test]
    fn tables_come_back(rows in prop::collection::vec((any::<i32>(), prop::num::f64::NORMAL, "[a-z,\"\n é]{0,5}"), 1..20)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let cells = rows.iter().enumerate().map(|(row, (whole, number, word))| {
            vec![Cell::Integer(row as i64), Cell::Integer(i64::from(*whole)), Cell::Number(*number), Cell::Text(word.clone())]
        });
        write_csv(&path, &["id", "whole", "number", "label"], cells).unwrap();
        let pool = open(path.to_str().unwrap(), &ReadOptions::default(), 0, &dial::Control::new()).unwrap();
        let wanted: Vec<f64> = rows.iter().flat_map(|(whole, number, _)| [f64::from(*whole), *number]).collect();
        prop_assert_eq!(&pool.shown().values, &Buffer::F64(wanted));
        let words: Vec<&str> = rows.iter().map(|(_, _, word)| word.trim()).collect();
        prop_assert_eq!(labels(&pool).len(), words.len());
        for (found, word) in labels(&pool).into_iter().zip(words) {
            prop_assert_eq!(found, word);
        }
    }
}

/// The same table in every packing, for every use.
#[test]
fn packed_files_are_what_they_unpack_to() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let pool = |path: &Path, options: &ReadOptions| {
        open(path.to_str().unwrap(), options, 0, &dial::Control::new()).unwrap()
    };
    let none = ReadOptions::default();
    let csv = b"id,text,label\na,\"one two, three\",p\nb,two three four,q\nc,four five,p\n";
    let tsv = b"1\t2\n3\t4\n5\t7\n";
    let txt = b"one two\n\nthree four\nfive six seven\n";
    let npy = build::good_npy();
    let npz = build::zip(&[build::stored("X.npy", build::good_npy())]);
    let plain: [(&str, &[u8]); 5] = [
        ("a.csv", csv),
        ("a.tsv", tsv),
        ("a.txt", txt),
        ("a.npy", &npy),
        ("a.npz", &npz),
    ];
    for (name, bytes) in plain {
        let whole = pool(&put(name, bytes), &none);
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let members = [build::gzip(first), build::gzip(second)].concat();
        for (ending, packed) in [
            ("gz", build::gzip(bytes)),
            ("zst", build::zstd(bytes)),
            ("gz", members),
            ("x", build::gzip(bytes)),
        ] {
            // Of a name that says nothing, only the content is known.
            if ending == "x" && name == "a.txt" {
                continue;
            }
            let path = put(&format!("{name}.{ending}"), &packed);
            let read = pool(&path, &none);
            assert_eq!(read.matrix, whole.matrix, "{}", path.display());
            assert_eq!(
                (&read.ids, &read.truth, &read.show),
                (&whole.ids, &whole.truth, &whole.show)
            );
            assert!(read.name == "a" || ending == "x", "{}", read.name);
            let columns = |pool: &Pool, path: &Path| {
                pool.original_columns(path.to_str().unwrap(), &none)
                    .unwrap()
            };
            assert_eq!(
                columns(&read, &path),
                columns(&whole, &folder.path().join(name))
            );
        }
    }
    // Labels and features beside a pool.
    let items = put(
        "items.csv",
        b"id,text\na,one two\nb,three four\nc,five six\n",
    );
    let beside = ReadOptions {
        labels_file: Some(put("labels.csv.gz", &build::gzip(b"id,label\nc,p\na,q\n"))),
        features_file: Some(put("f.npy.zst", &build::zstd(&npy))),
        ..ReadOptions::default()
    };
    let read = pool(&items, &beside);
    assert_eq!(labels(&read), ["q", "", "p"]);
    assert_eq!(read.matrix.dim, 2);
    // Columns, as imports read them.
    let columns = read_columns(
        &put("l.tsv.gz", &build::gzip(b"id\tlabel\nx\tcat\n")),
        &|_| vec![1],
    )
    .unwrap();
    assert_eq!(columns.cells, [["cat".to_string()]]);
}
