//! Tables as people have them: dialects, categories, missing cells, texts and pictures beside numbers.

use std::fs;

use dial_data::{Buffer, Error, Images, Kind, Pool, ReadOptions, Show, open};

fn try_read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Pool, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    open(path.to_str().unwrap(), options, 0, &dial::Control::new())
}

fn read(name: &str, bytes: &[u8]) -> Pool {
    try_read(name, bytes, &ReadOptions::default()).unwrap()
}

#[test]
fn decimal_commas_are_read_and_said() {
    let pool = read("a.csv", b"a;b\r\n1,5;2\r\n-2;3\r\n");
    assert_eq!(pool.matrix.values, Buffer::F64(vec![1.5, 2.0, -2.0, 3.0]));
    assert_eq!(
        pool.notes,
        ["read with ; between cells and decimal commas; --delimiter and --decimal can change that"]
    );
    let bar = read("a.csv", b"a|b\n1.5|2\n");
    assert_eq!(
        bar.notes,
        ["read with | between cells; --delimiter can change that"]
    );
    // With what was said there is nothing to say.
    let said = ReadOptions {
        delimiter: Some(b';'),
        decimal_comma: Some(true),
        ..ReadOptions::default()
    };
    let pool = try_read("a.csv", b"a;b\n1,500;2\n", &said).unwrap();
    assert_eq!(
        (pool.matrix.values, pool.notes.len()),
        (Buffer::F64(vec![1.5, 2.0]), 0)
    );
    let point = ReadOptions {
        decimal_comma: Some(false),
        ..ReadOptions::default()
    };
    assert_eq!(
        try_read("a.csv", b"a;b\n1,5;2\n", &point)
            .unwrap_err()
            .code(),
        "I6"
    );
}

#[test]
fn the_same_numbers_in_every_dialect() {
    let wanted = Buffer::F64(vec![1.5, 2.0, -3.0, 4.25]);
    let utf16: Vec<u8> = "\u{feff}a\tb\n1.5\t2\n-3\t4.25\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let files: [&[u8]; 8] = [
        b"a,b\n1.5,2\n-3,4.25\n",
        b"\xef\xbb\xbfa;b\r\n1,5;2\r\n-3;4,25\r\n",
        b"a\tb\r1.5\t2\r-3\t4.25\r",
        b"a|b\n1.5|2\n-3|4.25",
        b"a b\n 1.5   2 \n-3 4.25\n",
        b"\"a\",\"b\nof two lines\"\n\"1.5\",2\n-3,4.25\n",
        b"1,5;2\n-3;4,25\n",
        &utf16,
    ];
    for bytes in files {
        assert_eq!(
            read("a.csv", bytes).matrix.values,
            wanted,
            "{:?}",
            String::from_utf8_lossy(bytes)
        );
    }
}

#[test]
fn people_s_tables_become_numbers_and_categories() {
    let text = "name,sex,age,fare\nA,f,20,7\nB,m,,8\nC,f,30,NA\nD,m,40,9\nE,N/A,30,8\n";
    let pool = read("people.csv", text.as_bytes());
    assert_eq!((pool.matrix.n, pool.matrix.dim), (5, 4));
    // Ages 20 30 30 40 30 once filled, mean 30 and variance 40; fares 7 8 8 9 8, mean 8 and variance 2/5.
    let (age, fare) = (10.0 / 40f64.sqrt(), 1.0 / 0.4f64.sqrt());
    let half = 0.5f64.sqrt();
    let wanted = [
        [-age, -fare, half, 0.0],
        [0.0, 0.0, 0.0, half],
        [0.0, 0.0, half, 0.0],
        [age, fare, 0.0, half],
        [0.0, 0.0, 0.0, 0.0],
    ];
    for (row, wanted) in wanted.iter().enumerate() {
        for (column, wanted) in wanted.iter().enumerate() {
            assert!(
                (pool.matrix.get(row, column) - wanted).abs() < 1e-12,
                "{row} {column}"
            );
        }
    }
    assert_eq!(pool.show, Show::Numbers(vec!["age".into(), "fare".into()]));
    // Missing numbers are not shown as means.
    assert_eq!(
        [
            pool.shown().get(0, 0),
            pool.shown().get(1, 1),
            pool.shown().get(3, 1)
        ],
        [20.0, 8.0, 9.0]
    );
    assert!(pool.shown().get(1, 0).is_nan() && pool.shown().get(2, 1).is_nan());
    let beside = pool.beside.unwrap();
    assert_eq!(
        (beside.names.join(" "), beside.row(4)),
        ("name sex".into(), &["E".to_string(), "N/A".into()][..])
    );
    let notes = pool.notes.join("\n");
    for said in [
        "words that are not features: name (5 different); --label-column NAME",
        "categories: sex (2 values); --label-column NAME if one of them holds the labels",
        "columns of numbers were standardised to stand beside categories; --standardize=no keeps them",
        "missing cells by column: sex 1, age 1, fare 1; numbers were filled with the mean",
    ] {
        assert!(notes.contains(said), "{said}\n{notes}");
    }
    let plain = ReadOptions {
        standardize: Some(false),
        ..ReadOptions::default()
    };
    let kept = try_read("people.csv", text.as_bytes(), &plain).unwrap();
    assert_eq!((kept.matrix.get(0, 0), kept.matrix.get(0, 2)), (20.0, half));
    assert!(!kept.notes.join("\n").contains("standardised"));
    let labelled = ReadOptions {
        label_column: Some("sex".into()),
        ..ReadOptions::default()
    };
    let pool = try_read("people.csv", text.as_bytes(), &labelled).unwrap();
    assert_eq!(
        (pool.matrix.dim, pool.truth.unwrap().classes.join(" ")),
        (2, "f m".into())
    );
}

#[test]
fn texts_and_pictures_in_tables() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let features = write("f.npy.csv", b"1,2\n3,4\n");
    let options = ReadOptions {
        features_file: Some(features.clone()),
        ..ReadOptions::default()
    };
    let texts = write(
        "t.csv",
        b"id,text,stars,label\nx,\"Good, very\ngood\",5,yes\ny,Bad,1,no\n",
    );
    let pool = open(texts.to_str().unwrap(), &options, 0, &dial::Control::new()).unwrap();
    assert_eq!(
        pool.show,
        Show::Texts(vec!["Good, very\ngood".into(), "Bad".into()])
    );
    let beside = pool.beside.unwrap();
    assert_eq!(
        (beside.names.join(" "), beside.cells.join(" ")),
        ("stars".into(), "5 1".into())
    );
    assert_eq!(
        (pool.matrix.dim, pool.truth.unwrap().classes.join(" ")),
        (2, "no yes".into())
    );
    let up = write("u.csv", b"file\na/../one.png\na/../../one.png\n");
    let error = open(up.to_str().unwrap(), &options, 0, &dial::Control::new()).unwrap_err();
    assert_eq!(error.code(), "I5");
    assert!(
        error
            .to_string()
            .contains("1 picture is outside the folder of the table (line 3: \"a/../../one.png\")")
    );
    write("one.png", b"");
    write("two.jpg", b"");
    let images = write("i.csv", b"file,kind\none.png,a\n./two.jpg,b\nthree.png,c\n");
    let skip = ReadOptions {
        skip_bad: true,
        ..options
    };
    let features = write("f.csv", b"1,2\n3,4\n5,6\n");
    let skip = ReadOptions {
        features_file: Some(features),
        ..skip
    };
    let pool = open(images.to_str().unwrap(), &skip, 0, &dial::Control::new()).unwrap();
    let files = vec!["one.png".to_string(), "./two.jpg".into()];
    assert_eq!(
        pool.show,
        Show::Images(Images {
            folder: folder.path().into(),
            files
        })
    );
    assert_eq!(pool.ids.unwrap(), ["0", "1"]);
    assert_eq!(pool.matrix.values, Buffer::F64(vec![1.0, 2.0, 3.0, 4.0]));
    assert!(
        pool.notes[1].contains("left out 1 bad row: line 4 (there is no picture \"three.png\")"),
        "{:?}",
        pool.notes
    );
}

#[test]
fn long_texts_are_found_without_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let features = folder.path().join("f.csv");
    fs::write(&features, "1\n2\n3\n").unwrap();
    let options = ReadOptions {
        features_file: Some(features),
        ..ReadOptions::default()
    };
    let sentence = |i: usize| format!("this is what the person number {i} had to say");
    let rows: String = (0..3).map(|i| format!("{i},{}\n", sentence(i))).collect();
    let pool = try_read("a.csv", format!("a,said\n{rows}").as_bytes(), &options).unwrap();
    assert_eq!(pool.show, Show::Texts((0..3).map(sentence).collect()));
    assert!(
        pool.notes[0].starts_with("texts are the column said; --drop-column said takes"),
        "{:?}",
        pool.notes
    );
    // Beside many columns a name of a person is not what the table is about.
    let rows: String = (0..3)
        .map(|i| format!("{i},1,2,Mr. Owen Harris the {i}th\n"))
        .collect();
    let pool = read("a.csv", format!("a,b,c,who\n{rows}").as_bytes());
    assert_eq!(pool.matrix.dim, 3);
}

#[test]
fn lines_of_text() {
    let folder = tempfile::tempdir().unwrap();
    let features = folder.path().join("f.csv");
    fs::write(&features, "1\n2\n").unwrap();
    let options = ReadOptions {
        features_file: Some(features),
        ..ReadOptions::default()
    };
    let pool = try_read(
        "a.txt",
        b"Call me Ishmael.\n\nSome years ago, never mind how long\n",
        &options,
    )
    .unwrap();
    assert_eq!(
        pool.show,
        Show::Texts(vec![
            "Call me Ishmael.".into(),
            "Some years ago, never mind how long".into()
        ])
    );
    let table = ReadOptions {
        kind: Some(Kind::Texts),
        ..options
    };
    let pool = try_read("a.csv", b"1,2\n3,4\n", &table).unwrap();
    assert_eq!(pool.show, Show::Texts(vec!["1,2".into(), "3,4".into()]));
    assert_eq!(read("a.txt", b"1 2\n3 4\n").matrix.dim, 2);
}

#[test]
fn lists_of_pictures_without_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    ["one.png", "two.jpg", "odd.gif"]
        .iter()
        .for_each(|name| write(name, b""));
    write("f.csv", b"1,2\n3,4\n5,6\n");
    let read = |name: &str, bytes: &[u8], skip_bad: bool| {
        write(name, bytes);
        let features_file = Some(folder.path().join("f.csv"));
        let options = ReadOptions {
            features_file,
            skip_bad,
            ..ReadOptions::default()
        };
        open(
            folder.path().join(name).to_str().unwrap(),
            &options,
            0,
            &dial::Control::new(),
        )
    };
    let files = |pool: Pool| match pool.show {
        Show::Images(images) => images.files.join(" "),
        other => panic!("{other:?}"),
    };
    for name in ["list.txt", "list.csv"] {
        // What is no PNG or JPEG is said when it is decoded.
        let pool = read(name, b"one.png\ntwo.jpg\nodd.gif\n", false).unwrap();
        assert!(
            pool.notes
                .join("\n")
                .contains("read as a list of picture files; --as texts takes each"),
            "{pool:?}"
        );
        assert_eq!(files(pool), "one.png two.jpg odd.gif");
        let error = read(name, b"photo\none.png\ntwo.jpg\none.png\nnone.gif\n", false).unwrap_err();
        assert_eq!(error.code(), "I6");
        assert!(
            error
                .to_string()
                .contains("1 bad row: line 5: there is no picture \"none.gif\""),
            "{error}"
        );
        let listed = b"one.png\n../out.png\ntwo.jpg\n";
        let text = read(name, listed, false).unwrap_err().to_string();
        assert!(
            text.contains("(line 2: \"../out.png\")") && text.contains("or pass --skip-bad"),
            "{text}"
        );
        let pool = read(name, listed, true).unwrap();
        let said = "left out 1 bad row: line 2 (\"../out.png\" is outside the folder of the table)";
        assert!(
            pool.notes.iter().any(|note| note == said),
            "{:?}",
            pool.notes
        );
        assert_eq!(
            (pool.ids.clone().unwrap().join(" "), pool.matrix.get(1, 0)),
            ("0 2".into(), 5.0)
        );
    }
    // Beside numbers such words may be anything.
    let table = b"a,b,sketch\n1,2,one.png\n3,4,two.png\n5,6,none.png\n";
    assert!(!matches!(
        read("t.csv", table, false).unwrap().show,
        Show::Images(_)
    ));
}
