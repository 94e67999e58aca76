//! Every bad file is refused with its code and text; no bytes whatever make a reader panic.

mod corpus;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use dial_data::{Error, Pool, ReadOptions, open};
use proptest::prelude::*;

/// Options from the words of a command line.
fn options(folder: &Path, args: &[&str]) -> ReadOptions {
    let mut options = ReadOptions::default();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match *word {
            "--drop-nonfinite" => options.drop_nonfinite = true,
            "--skip-bad" => options.skip_bad = true,
            "--id-column" => options.id_column = words.next().map(|word| word.to_string()),
            "--label-column" => options.label_column = words.next().map(|word| word.to_string()),
            "--drop-column" => options
                .drop_columns
                .extend(words.next().map(|word| word.to_string())),
            "--variable" => options.variable = words.next().map(|word| word.to_string()),
            "--text-column" => options.text_column = words.next().map(|word| word.to_string()),
            "--image-column" => options.image_column = words.next().map(|word| word.to_string()),
            "--features" => options.features_file = words.next().map(|word| folder.join(word)),
            "--labels" => options.labels_file = words.next().map(|word| folder.join(word)),
            other => panic!("the corpus uses an unknown option {other}"),
        }
    }
    options
}

fn read(folder: &Path, name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Pool, Error> {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    open(path.to_str().unwrap(), options, 0, &dial::Control::new())
}

#[test]
fn every_bad_file_is_refused_in_the_right_words() {
    let cases = corpus::cases();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases.len(), "names of cases must differ");
    assert!(cases.len() >= 220, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let folder = tempfile::tempdir().unwrap();
        if let Some((name, bytes)) = &case.beside {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let found = read(
            folder.path(),
            case.file_name,
            &case.bytes,
            &options(folder.path(), &case.args),
        );
        match found {
            Ok(pool) => wrong.push(format!("{}: was read: {} rows", case.name, pool.matrix.n)),
            Err(error) if error.code() == case.code && error.to_string().contains(case.says) => {}
            Err(error) => wrong.push(format!(
                "{}: wanted {} {:?}, found {}: {error}",
                case.name,
                case.code,
                case.says,
                error.code()
            )),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_message_says_what_was_kept_and_what_to_do() {
    for case in corpus::cases()
        .iter()
        .filter(|case| case.beside.is_none() && case.args.is_empty())
    {
        let folder = tempfile::tempdir().unwrap();
        let text = read(
            folder.path(),
            case.file_name,
            &case.bytes,
            &ReadOptions::default(),
        )
        .unwrap_err()
        .to_string();
        let place = folder.path().join(case.file_name).display().to_string();
        assert!(text.starts_with(&place), "{text}");
        assert!(text.ends_with('.') && text.contains(". "), "{text}");
        assert!(!text.contains('\n') && !text.contains(".."), "{text}");
    }
}

#[test]
fn good_files_are_read_and_every_truncation_is_survived() {
    for (name, bytes) in corpus::good() {
        let folder = tempfile::tempdir().unwrap();
        let none = ReadOptions::default();
        let whole = read(folder.path(), name, &bytes, &none)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        for end in 0..bytes.len() {
            match read(folder.path(), name, &bytes[..end], &none) {
                Err(error) => assert!(error.to_string().contains(name), "{error}"),
                Ok(part) => {
                    // What is packed has an end of its own.
                    let table = name.ends_with(".csv") || name.ends_with(".tsv");
                    assert!(
                        table || name.ends_with(".mat"),
                        "{name} cut at {end} was read"
                    );
                    assert!(
                        part.matrix.n <= whole.matrix.n && part.matrix.dim <= whole.matrix.dim,
                        "{name} at {end}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_pickle_is_never_run() {
    let folder = tempfile::tempdir().unwrap();
    let trap = folder.path().join("made-by-a-pickle");
    // Protocol 0: call os.system with a command that would make the file.
    let pickle = format!("cos\nsystem\n(S'touch {}'\ntR.", trap.display());
    for name in ["a.npy", "a.npz", "a.pkl"] {
        let npy = corpus::build::npy("'|O'", "(1, 1)", pickle.as_bytes());
        let bytes = match name {
            "a.npy" => npy,
            "a.npz" => corpus::build::zip(&[corpus::build::stored("X.npy", npy)]),
            _ => pickle.clone().into_bytes(),
        };
        assert!(read(folder.path(), name, &bytes, &ReadOptions::default()).is_err());
        assert!(!trap.exists());
    }
}

/// Little is unpacked of what is refused: the memory of this process never holds the whole.
#[test]
fn bombs_are_refused_before_they_are_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    // 4 GiB of line breaks, or of a text without any, in 128 KiB.
    let cases = [
        (b'\n', "I14", "128.0 KiB of zstd unpack to "),
        (b'x', "I5", "line 1 is longer than 32 MiB"),
    ];
    for (byte, code, says) in cases {
        let bomb = corpus::build::zstd_bomb(byte, 32 << 10);
        let error = read(folder.path(), "a.txt.zst", &bomb, &ReadOptions::default()).unwrap_err();
        let text = error.to_string();
        assert!(error.code() == code && text.contains(says), "{text}");
    }
    let lines = vec![b'\n'; 1 << 20];
    let bomb = corpus::build::gzip(&lines).repeat(80);
    let error = read(folder.path(), "a.csv.gz", &bomb, &ReadOptions::default()).unwrap_err();
    let text = error.to_string();
    let limit = "beyond 200 times as much. If the file is valid, save it without compression.";
    assert!(error.code() == "I14" && text.ends_with(limit), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_bytes_never_panic(tail in prop::collection::vec(any::<u8>(), 0..600), which in 0usize..11) {
        let folder = tempfile::tempdir().unwrap();
        let (name, head): (&str, &[u8]) = [
            ("a.npy", &b"\x93NUMPY\x01\x00"[..]), ("a.npz", b"PK\x03\x04"), ("a.csv", b""), ("a.idx", b"\0\0\x08\x03"),
            ("a.idx.gz", b"\x1f\x8b\x08\x00"), ("a.csv", b"id,a,label\n"), ("a.npy", b"\x93NUMPY\x02\x00\x10\0\0\0"),
            ("a.csv.zst", b"\x28\xb5\x2f\xfd"), ("a.csv.zst", b"\x28\xb5\x2f\xfd\x00\x38"),
            ("a.bin", b""), ("a.idx", b"\0\0\x0d\x02\0\0\0\x02\0\0\0\x02"),
        ][which];
        let bytes = [head, &tail].concat();
        for skip_bad in [false, true] {
            let options = ReadOptions { skip_bad, drop_nonfinite: skip_bad, ..ReadOptions::default() };
            let _ = read(folder.path(), name, &bytes, &options);
        }
        let mat = [corpus::build::mat_header(which % 2 == 0), tail].concat();
        let _ = read(folder.path(), "a.mat", &mat, &ReadOptions::default());
    }

    #[test]
    fn random_changes_of_good_files_never_panic(
        which in 0usize..10,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (name, mut bytes) = corpus::good().swap_remove(which);
        for (place, value) in changes {
            let at = place.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(pool) = read(folder.path(), name, &bytes, &ReadOptions::default()) {
            // What is read is whole: as many values as the shape says, finite, one id and one label per row.
            prop_assert!(pool.matrix.features().is_ok());
            prop_assert!(pool.ids.is_none_or(|ids| ids.len() == pool.matrix.n));
            prop_assert!(pool.truth.is_none_or(|truth| truth.labels.len() == pool.matrix.n));
        }
        let options = ReadOptions { labels_file: Some(folder.path().join(name)), ..ReadOptions::default() };
        bytes.truncate(cut.index(bytes.len()));
        let _ = read(folder.path(), name, &bytes, &options);
    }
}
