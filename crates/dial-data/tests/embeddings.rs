//! Features of texts by a model of word vectors: the numbers by hand, and what models and pools can do wrong.

#![cfg(feature = "embed")]

use std::fs;
use std::path::Path;

use dial::Control;
use dial_data::{Beside, Embed, ReadOptions, embed, open};

/// The words of the model, by token.
const WORDS: [&str; 5] = ["[UNK]", "cat", "dog", "car", "wheel"];
/// Their vectors.
const VECTORS: [[f32; 2]; 5] = [[9.0, 9.0], [3.0, 0.0], [2.0, 1.0], [0.0, 2.0], [0.0, 1.0]];

/// A safetensors file by hand: the length of a header of JSON, the header, the numbers.
fn safetensors(tensors: &[(&str, &str, &[usize], Vec<u8>)]) -> Vec<u8> {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, kind, shape, bytes) in tensors {
        let start = data.len();
        data.extend_from_slice(bytes);
        let about =
            serde_json::json!({"dtype": kind, "shape": shape, "data_offsets": [start, data.len()]});
        header.insert((*name).into(), about);
    }
    let header = serde_json::to_vec(&header).unwrap();
    [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat()
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn tokenizer() -> String {
    let vocabulary: serde_json::Map<String, serde_json::Value> = WORDS
        .iter()
        .enumerate()
        .map(|(token, word)| ((*word).into(), token.into()))
        .collect();
    serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
    })
    .to_string()
}

fn write_model(folder: &Path, tensors: &[(&str, &str, &[usize], Vec<u8>)]) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("tokenizer.json"), tokenizer()).unwrap();
    fs::write(folder.join("model.safetensors"), safetensors(tensors)).unwrap();
}

fn plain(folder: &Path) {
    write_model(
        folder,
        &[("embeddings", "F32", &[5, 2], f32s(VECTORS.as_flattened()))],
    );
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_string()).collect()
}

fn rows(model: &Path, texts: &[&str]) -> Vec<[f64; 2]> {
    let how = Embed {
        beside: Beside::None,
        ..Embed::new(model)
    };
    let made = embed::embed(&owned(texts), &how, &Control::new()).unwrap();
    assert_eq!((made.n, made.dim), (texts.len(), 2));
    (0..made.n)
        .map(|row| [made.get(row, 0), made.get(row, 1)])
        .collect()
}

fn near(found: &[[f64; 2]], expected: &[[f64; 2]]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.as_flattened().iter().zip(expected.as_flattened()) {
        assert!(
            (found - expected).abs() < 1e-6,
            "{found} instead of {expected}"
        );
    }
}

#[test]
fn a_text_is_the_mean_of_its_words() {
    let folder = tempfile::tempdir().unwrap();
    plain(folder.path());
    // Cat and car: (3, 0) + (0, 2), of length √13. Unknown words and other cases change nothing; no known word gives zeros.
    let s = 13f64.sqrt();
    near(
        &rows(
            folder.path(),
            &["cat car", "Cat, nowhere CAR", "dog", "nowhere", ""],
        ),
        &[
            [3.0 / s, 2.0 / s],
            [3.0 / s, 2.0 / s],
            [2.0 / 5f64.sqrt(), 1.0 / 5f64.sqrt()],
            [0.0, 0.0],
            [0.0, 0.0],
        ],
    );
}

#[test]
fn weights_rows_and_types_of_numbers() {
    let folder = tempfile::tempdir().unwrap();
    // As model2vec saves them: a weight for each token, and tokens that share a row. Car is row 3, wheel the same.
    let mapping: Vec<u8> = [0i64, 1, 2, 3, 3]
        .iter()
        .flat_map(|row| row.to_le_bytes())
        .collect();
    let weights = f32s(&[1.0, 0.5, 1.0, 1.0, 4.0]);
    let halves: Vec<u8> = [0x3C00u16, 0, 0x4200, 0, 0x4000, 0x3C00, 0, 0x4000]
        .iter()
        .flat_map(|half| half.to_le_bytes())
        .collect();
    write_model(
        folder.path(),
        &[
            ("embeddings", "F16", &[4, 2], halves),
            ("mapping", "I64", &[5], mapping),
            ("weights", "F32", &[5], weights),
        ],
    );
    // Cat 0.5 (3, 0) and wheel 4 (0, 2): (1.5, 8).
    let length = (1.5f64 * 1.5 + 64.0).sqrt();
    near(
        &rows(folder.path(), &["cat wheel"]),
        &[[1.5 / length, 8.0 / length]],
    );
    // bf16 is the upper half of f32, and a table may have another name.
    let upper: Vec<u8> = VECTORS
        .as_flattened()
        .iter()
        .flat_map(|value| value.to_le_bytes()[2..].to_vec())
        .collect();
    write_model(
        folder.path(),
        &[("embedding.weight", "BF16", &[5, 2], upper)],
    );
    near(
        &rows(folder.path(), &["cat", "wheel"]),
        &[[1.0, 0.0], [0.0, 1.0]],
    );
}

#[test]
fn a_pool_says_whether_a_model_would_tell_more() {
    let folder = tempfile::tempdir().unwrap();
    let (model, pool) = (folder.path().join("model"), folder.path().join("pets.txt"));
    plain(&model);
    fs::write(&pool, "cat\nwheel\ndog\ncar").unwrap();
    let features = folder.path().join("pets.csv");
    fs::write(&features, "x,y\n1,0\n0,1\n1,1\n0,2").unwrap();
    let [plain, embedded, given] = [
        ReadOptions::default(),
        ReadOptions {
            embed: Some(Embed::new(&model)),
            ..ReadOptions::default()
        },
        ReadOptions {
            features_file: Some(features),
            ..ReadOptions::default()
        },
    ];
    let place = pool.display().to_string();
    for (place, options, expected) in [
        (&*place, &plain, true),
        (&*place, &embedded, false),
        (&*place, &given, false),
        ("builtin:texts:60", &plain, true),
        ("builtin:texts:60", &embedded, false),
        ("builtin:digits:60", &plain, false),
        ("builtin:moons:60", &plain, false),
    ] {
        let pool = open(place, options, 0, &Control::new()).unwrap();
        assert_eq!(pool.without_model, expected, "{place}, {options:?}");
    }
}

#[test]
fn features_of_a_pool_are_embeddings_beside_words() {
    let folder = tempfile::tempdir().unwrap();
    let (model, pool) = (folder.path().join("model"), folder.path().join("pets.txt"));
    plain(&model);
    let texts: Vec<String> = (0..30)
        .map(|row| format!("{} number {row}", ["cat", "car"][row % 2]))
        .collect();
    fs::write(&pool, texts.join("\n")).unwrap();
    let place = pool.display().to_string();
    let kept = Some(folder.path().join("pets.embeddings"));
    let read = |embed: Embed| {
        let options = ReadOptions {
            embed: Some(embed),
            ..ReadOptions::default()
        };
        open(&place, &options, 0, &Control::new())
    };
    let alone = read(Embed {
        beside: Beside::None,
        kept: kept.clone(),
        ..Embed::new(&model)
    })
    .unwrap();
    assert_eq!((alone.matrix.n, alone.matrix.dim), (30, 2));
    let both = read(Embed {
        kept: kept.clone(),
        ..Embed::new(&model)
    })
    .unwrap();
    assert!(both.matrix.dim > 2, "{}", both.matrix.dim);
    for row in 0..30 {
        let square: f64 = (0..both.matrix.dim)
            .map(|column| both.matrix.get(row, column))
            .map(|x| x * x)
            .sum();
        assert!(
            (square - 1.0).abs() < 1e-5,
            "row {row} has length {}",
            square.sqrt()
        );
    }
    // The fingerprint is that of the model, and what is kept under it needs the model no more.
    let fingerprint = both.model.clone().unwrap();
    assert_eq!(alone.model.as_ref(), Some(&fingerprint));
    fs::rename(&model, folder.path().join("gone")).unwrap();
    let known = Embed {
        kept: kept.clone(),
        fingerprint: Some(fingerprint),
        ..Embed::new(&model)
    };
    assert_eq!(read(known.clone()).unwrap().matrix, both.matrix);
    fs::write(&pool, texts.join("\n") + "\nanother dog").unwrap();
    let error = read(known.clone()).unwrap_err().to_string();
    assert!(error.contains("no such folder"), "{error}");
    // Another model in its place is refused where a project names the one before.
    write_model(&model, &[("embeddings", "F32", &[5, 2], f32s(&[1.0; 10]))]);
    let error = read(known).unwrap_err().to_string();
    assert!(
        error.contains("another model") && error.contains("dial pool"),
        "{error}"
    );
}

#[test]
fn what_is_no_model_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("empty")).unwrap();
    fs::create_dir_all(path("no-vectors")).unwrap();
    fs::write(path("no-vectors/tokenizer.json"), tokenizer()).unwrap();
    let two = |name: &str| (name.to_string(), f32s(&[0.0; 4]));
    let (a, b) = (two("layer.0"), two("layer.1"));
    write_model(
        &path("network"),
        &[(&a.0, "F32", &[2, 2], a.1), (&b.0, "F32", &[2, 2], b.1)],
    );
    write_model(
        &path("infinite"),
        &[("embeddings", "F32", &[1, 2], f32s(&[0.0, f32::INFINITY]))],
    );
    write_model(
        &path("complex"),
        &[("embeddings", "U8", &[1, 2], vec![0, 0])],
    );
    write_model(
        &path("beyond"),
        &[
            ("embeddings", "F32", &[1, 2], f32s(&[1.0, 1.0])),
            ("mapping", "I32", &[1], vec![7, 0, 0, 0]),
        ],
    );
    plain(&path("cut"));
    let whole = fs::read(path("cut/model.safetensors")).unwrap();
    fs::write(path("cut/model.safetensors"), &whole[..whole.len() - 1]).unwrap();
    plain(&path("broken"));
    fs::write(path("broken/tokenizer.json"), "{").unwrap();
    for (name, words) in [
        ("missing", "no such folder"),
        ("empty", "no tokenizer.json"),
        ("no-vectors", "no .safetensors file"),
        ("network", "2 matrices"),
        ("infinite", "row 0 of \"embeddings\" is not finite"),
        ("complex", "type U8"),
        ("beyond", "rows beyond the 1"),
        ("cut", "cannot be read"),
        ("broken", "tokenizer.json cannot be read"),
    ] {
        let error =
            embed::embed(&owned(&["cat"]), &Embed::new(path(name)), &Control::new()).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains(words) && text.contains(name),
            "{name}: {text}"
        );
        assert!(error.code().starts_with('I'), "{name}: {}", error.code());
    }
}

#[test]
fn a_model_is_for_texts() {
    let folder = tempfile::tempdir().unwrap();
    plain(folder.path());
    let read = |place: &str| {
        let options = ReadOptions {
            embed: Some(Embed::new(folder.path())),
            ..ReadOptions::default()
        };
        open(place, &options, 0, &Control::new())
    };
    let error = read("builtin:moons:50").unwrap_err().to_string();
    assert!(error.contains("--embed is for texts"), "{error}");
    // Built-in texts have features, which those of the model replace.
    let control = Control::new();
    let before = open("builtin:texts:60", &ReadOptions::default(), 0, &control).unwrap();
    let made = read("builtin:texts:60").unwrap();
    assert_eq!(before.matrix.n, made.matrix.n);
    assert!(made.model.is_some() && before.matrix != made.matrix);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    plain(folder.path());
    let options = ReadOptions {
        embed: Some(Embed::new(folder.path())),
        ..ReadOptions::default()
    };
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            open("builtin:texts:200", &options, 0, &Control::new())
                .unwrap()
                .matrix
        })
    };
    assert_eq!(with(1), with(3));
}
