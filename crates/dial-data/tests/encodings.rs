//! Text in other encodings than UTF-8. The bytes of the characters are from Python's codecs.

use std::fs;
use std::path::PathBuf;

use dial_data::{Error, Pool, ReadOptions, Show, open};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn with(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn open(&self, name: &str, options: &ReadOptions) -> Result<Pool, Error> {
        let path = self.0.path().join(name);
        open(path.to_str().unwrap(), options, 0, &dial::Control::new())
    }
}

fn encoded(name: &str) -> ReadOptions {
    ReadOptions {
        encoding: Some(name.parse().unwrap()),
        ..ReadOptions::default()
    }
}

#[test]
fn tables_in_shift_jis_whose_letters_hold_delimiters() {
    let folder = Folder::new();
    // The second bytes of ポ and 表 are | and the backslash.
    let rows = b"id|a|label\n\x83\x7c|1.5|\x94\x4c\n\x95\x5c|2|\x8c\xa2\n";
    folder.with("a.csv", rows);
    let pool = folder.open("a.csv", &encoded("shift_jis")).unwrap();
    assert_eq!(pool.ids.unwrap(), ["ポ", "表"]);
    assert_eq!(pool.truth.unwrap().classes, ["犬", "猫"]);
    assert_eq!((pool.matrix.n, pool.matrix.dim), (2, 1));
    // Without a word it is taken for something else, or refused, but never read so.
    let guessed = folder.open("a.csv", &ReadOptions::default());
    assert!(guessed.is_err_and(|error| error.code() == "I6"));
}

#[test]
fn labels_and_features_in_gbk() {
    let folder = Folder::new();
    folder.with("pool.csv", b"id,a\n\xb5\xd8,1\n\xb5\xe3,2\n");
    let labels = folder.with("labels.csv", b"id,label\n\xb5\xe3,\xb5\xd8\n\xb5\xd8,x\n");
    let features = folder.with("features.csv", b"id,f\n\xb5\xd8,7\n\xb5\xe3,8\n");
    let options = ReadOptions {
        labels_file: Some(labels),
        features_file: Some(features),
        ..encoded("gbk")
    };
    let pool = folder.open("pool.csv", &options).unwrap();
    assert_eq!(pool.ids.unwrap(), ["地", "点"]);
    assert_eq!(pool.truth.as_ref().unwrap().classes, ["x", "地"]);
    assert_eq!(pool.truth.unwrap().labels, [Some(0), Some(1)]);
    assert_eq!(pool.matrix.get(1, 0), 8.0);
    // A mark counts more than what was said of the pool.
    folder.with("labels.csv", "\u{feff}id,label\n点,y\n地,x\n".as_bytes());
    let pool = folder.open("pool.csv", &options).unwrap();
    assert_eq!(pool.truth.unwrap().classes, ["x", "y"]);
}

#[test]
fn texts_and_json_in_koi8_r() {
    let folder = Folder::new();
    folder.with("a.txt", b"\xc4\xc1 \xcd\xc9\xd2\n\xcd\xc9\xd2\n");
    folder.with(
        "a.jsonl",
        b"{\"text\":\"\xc4\xc1\"}\n{\"text\":\"\xcd\xc9\xd2\"}\n",
    );
    fs::create_dir(folder.0.path().join("texts")).unwrap();
    folder.with("texts/1.txt", b"\xc4\xc1");
    folder.with("texts/2.txt", b"\xcd\xc9\xd2");
    for (name, texts) in [
        ("a.txt", ["да мир", "мир"]),
        ("a.jsonl", ["да", "мир"]),
        ("texts", ["да", "мир"]),
    ] {
        let pool = folder.open(name, &encoded("koi8-r")).unwrap();
        assert_eq!(
            pool.show,
            Show::Texts(texts.map(String::from).to_vec()),
            "{name}"
        );
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = Folder::new();
    folder.with("a.csv", b"a,b\n1,\xb5\n");
    let error = folder.open("a.csv", &encoded("gbk")).unwrap_err();
    assert_eq!(error.code(), "I5");
    assert!(
        error.to_string().contains("not valid GBK (byte 6)"),
        "{error}"
    );
    // UTF-8 that was asked for is not guessed to be anything else.
    folder.with("b.csv", b"id,a\ncaf\xe9,1\nx,2\n");
    assert!(folder.open("b.csv", &ReadOptions::default()).is_ok());
    let error = folder.open("b.csv", &encoded("utf-8")).unwrap_err();
    assert!(
        error.to_string().contains("line 2: not valid UTF-8"),
        "{error}"
    );
    folder.with("a.idx", &[0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 2, 3, 4]);
    let error = folder.open("a.idx", &encoded("gbk")).unwrap_err();
    assert_eq!(error.code(), "U1");
    assert!(
        error.to_string().contains("--encoding is for text"),
        "{error}"
    );
}

#[test]
fn the_encoding_is_in_a_project_only_if_it_was_given() {
    let none = serde_json::to_string(&ReadOptions::default()).unwrap();
    assert!(!none.contains("encoding"), "{none}");
    assert_eq!(
        serde_json::from_str::<ReadOptions>(&none).unwrap(),
        ReadOptions::default()
    );
    let some = serde_json::to_string(&encoded("sjis")).unwrap();
    assert!(some.contains("\"encoding\":\"Shift_JIS\""), "{some}");
    assert_eq!(
        serde_json::from_str::<ReadOptions>(&some).unwrap(),
        encoded("shift-jis")
    );
}
