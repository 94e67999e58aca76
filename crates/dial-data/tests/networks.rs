//! Embeddings by networks: golden values of two small ones, what sidecars change, and what files can do wrong.

#![cfg(feature = "onnx")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dial::Control;
use dial::control::Progress;
use dial_data::media::images::Bitmap;
use dial_data::{Beside, Embed, Matrix, Pool, ReadOptions, Result, embed, open};
use serde_json::Value;
use tempfile::TempDir;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/golden")
}

fn golden() -> Value {
    serde_json::from_slice(&fs::read(fixtures().join("networks.json")).unwrap()).unwrap()
}

/// A copy of a network of the fixtures, in a folder of its own.
fn network(name: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in fs::read_dir(fixtures().join("networks").join(name)).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    folder
}

fn say(folder: &TempDir, name: &str, content: Value) {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content.to_string()).unwrap();
}

fn alone(model: &Path) -> Embed {
    Embed {
        beside: Beside::None,
        ..Embed::new(model)
    }
}

fn texts(golden: &Value) -> Vec<String> {
    serde_json::from_value(golden["texts"].clone()).unwrap()
}

fn bitmaps(golden: &Value) -> Vec<Bitmap> {
    let side = |value: &Value| value.as_u64().unwrap() as u32;
    let picture = |value: &Value| Bitmap {
        width: side(&value["width"]),
        height: side(&value["height"]),
        rgb: hex::decode(value["rgb"].as_str().unwrap()).unwrap(),
    };
    golden["pictures"]
        .as_array()
        .unwrap()
        .iter()
        .map(picture)
        .collect()
}

fn near(found: &Matrix, expected: &Value) {
    let expected: Vec<Vec<f64>> = serde_json::from_value(expected.clone()).unwrap();
    assert_eq!((found.n, found.dim), (expected.len(), expected[0].len()));
    for (row, expected) in expected.iter().enumerate() {
        for (column, expected) in expected.iter().enumerate() {
            let found = found.get(row, column);
            assert!(
                (found - expected).abs() < 1e-6,
                "row {row}, column {column}: {found} instead of {expected}"
            );
        }
    }
}

fn of_texts(folder: &Path) -> Result<Matrix> {
    embed::embed(&texts(&golden()), &alone(folder), &Control::new())
}

fn of_pictures(folder: &Path) -> Result<Matrix> {
    embed::embed_bitmaps(&bitmaps(&golden()), &alone(folder), &Control::new())
}

#[test]
fn texts_are_pooled_as_their_sidecars_say() {
    let (golden, folder) = (golden(), network("texts"));
    near(&of_texts(folder.path()).unwrap(), &golden["text_mean"]);
    near(
        &of_texts(&folder.path().join("model.onnx")).unwrap(),
        &golden["text_mean"],
    );
    let modes =
        serde_json::json!({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false});
    say(&folder, "1_Pooling/config.json", modes);
    near(&of_texts(folder.path()).unwrap(), &golden["text_cls"]);
    say(&folder, "dial.json", serde_json::json!({"pooling": "mean"}));
    near(&of_texts(folder.path()).unwrap(), &golden["text_mean"]);
}

#[test]
fn networks_lie_in_a_folder_called_onnx_too() {
    let (golden, folder) = (golden(), network("texts"));
    fs::create_dir(folder.path().join("onnx")).unwrap();
    fs::rename(
        folder.path().join("model.onnx"),
        folder.path().join("onnx/encoder.onnx"),
    )
    .unwrap();
    near(&of_texts(folder.path()).unwrap(), &golden["text_mean"]);
    fs::copy(
        folder.path().join("onnx/encoder.onnx"),
        folder.path().join("onnx/quantised.onnx"),
    )
    .unwrap();
    let error = of_texts(folder.path()).unwrap_err().to_string();
    assert!(
        error.contains("several .onnx files") && error.contains("Name the file"),
        "{error}"
    );
    near(
        &of_texts(&folder.path().join("onnx/encoder.onnx")).unwrap(),
        &golden["text_mean"],
    );
}

#[test]
fn settings_of_texts() {
    let (golden, folder) = (golden(), network("texts"));
    // The last text is longer than the 8 tokens of tokenizer.json: fewer change it alone, and "wheel" not.
    say(
        &folder,
        "sentence_bert_config.json",
        serde_json::json!({"max_seq_length": 6}),
    );
    let (short, whole) = (of_texts(folder.path()).unwrap(), &golden["text_mean"]);
    let same = |row: usize| {
        (0..4).all(|column| {
            (short.get(row, column) - whole[row][column].as_f64().unwrap()).abs() < 1e-6
        })
    };
    assert!(same(0) && same(3) && !same(6));
    // A prefix is part of the text.
    say(&folder, "dial.json", serde_json::json!({"prefix": "the "}));
    let prefixed = embed::embed(
        &["cat sleeps".to_string()],
        &alone(folder.path()),
        &Control::new(),
    )
    .unwrap();
    assert!(
        (0..4).all(
            |column| (prefixed.get(0, column) - whole[0][column].as_f64().unwrap()).abs() < 1e-6
        )
    );
}

#[test]
fn pictures_are_made_as_their_sidecars_say() {
    let (golden, folder) = (golden(), network("pictures"));
    near(&of_pictures(folder.path()).unwrap(), &golden["picture_cls"]);
    near(
        &of_pictures(network("pictures_last").path()).unwrap(),
        &golden["picture_cls"],
    );
    for (said, expected) in [
        (serde_json::json!({"pooling": "mean"}), "picture_mean"),
        (serde_json::json!({"output": "pooled"}), "picture_pooled"),
        (serde_json::json!({"preset": "clip"}), "picture_clip"),
        (
            serde_json::json!({"resize": 18, "resample": "bicubic", "size": [16, 16]}),
            "picture_cls",
        ),
    ] {
        say(&folder, "dial.json", said);
        near(&of_pictures(folder.path()).unwrap(), &golden[expected]);
    }
    fs::remove_file(folder.path().join("dial.json")).unwrap();
    let half = [0.5, 0.5, 0.5];
    for (config, expected) in [
        // As ViT, CLIP and DINO say it.
        (
            serde_json::json!({"size": {"height": 16, "width": 16}, "resample": 2, "image_mean": half, "image_std": half}),
            "picture_squeezed",
        ),
        (
            serde_json::json!({"size": {"shortest_edge": 16}, "do_center_crop": true, "crop_size": {"height": 16, "width": 16}, "resample": 3,
            "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711]}),
            "picture_clip",
        ),
        (
            serde_json::json!({"size": {"shortest_edge": 18}, "do_center_crop": true, "crop_size": {"height": 16, "width": 16},
            "rescale_factor": 0.00392156862745098}),
            "picture_cls",
        ),
        // As ResNet and ConvNeXt do: 16 is this share of 18.
        (
            serde_json::json!({"size": 16, "crop_pct": 0.875, "resample": 3}),
            "picture_cls",
        ),
    ] {
        say(&folder, "preprocessor_config.json", config);
        near(&of_pictures(folder.path()).unwrap(), &golden[expected]);
    }
}

fn pool(place: &Path, embed: Embed) -> Result<Pool> {
    let options = ReadOptions {
        embed: Some(embed),
        ..ReadOptions::default()
    };
    open(&place.display().to_string(), &options, 0, &Control::new())
}

#[test]
fn pools_of_pictures() {
    let (golden, model) = (golden(), network("pictures"));
    let folder = tempfile::tempdir().unwrap();
    for (item, bitmap) in bitmaps(&golden).iter().enumerate() {
        fs::write(folder.path().join(format!("{item}.png")), bitmap.to_png()).unwrap();
    }
    let made = pool(folder.path(), Embed::new(model.path())).unwrap();
    near(&made.matrix, &golden["picture_cls"]);
    assert!(made.model.is_some());
    // What cannot be read is named, or left out.
    fs::write(folder.path().join("3.png"), "nothing").unwrap();
    let error = pool(folder.path(), Embed::new(model.path())).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("1 of 4 pictures cannot be read: 3.png"),
        "{error}"
    );
    let options = ReadOptions {
        embed: Some(Embed::new(model.path())),
        skip_bad: true,
        ..ReadOptions::default()
    };
    let made = open(
        &folder.path().display().to_string(),
        &options,
        0,
        &Control::new(),
    )
    .unwrap();
    near(&made.matrix, &golden["picture_cls"]);
    // Arrays of pictures keep their pixels to be shown.
    let digits = pool(Path::new("builtin:digits:40"), Embed::new(model.path())).unwrap();
    assert_eq!((digits.matrix.n, digits.matrix.dim), (40, 4));
    assert_eq!(digits.original.unwrap().n, 40);
    // They are grey: black is 0, white is 255.
    let error = pool(Path::new("builtin:texts:40"), Embed::new(model.path())).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("embeds pictures, and these items are texts"),
        "{error}"
    );
    let error = pool(folder.path(), Embed::new(network("texts").path())).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("embeds texts, and these items are pictures"),
        "{error}"
    );
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (words, pictures) = (network("texts"), network("pictures"));
    let with = |threads| {
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        threads.install(|| {
            let texts = pool(Path::new("builtin:texts:100"), Embed::new(words.path()))
                .unwrap()
                .matrix;
            (
                texts,
                pool(Path::new("builtin:digits:100"), Embed::new(pictures.path()))
                    .unwrap()
                    .matrix,
            )
        })
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn a_run_that_was_stopped_goes_on() {
    let (model, folder) = (network("texts"), tempfile::tempdir().unwrap());
    let texts: Vec<String> = (0..500)
        .map(|row| {
            format!(
                "the cat sleeps {}",
                "a dog ".repeat(row % 3) + &"wheel ".repeat(row)
            )
        })
        .collect();
    let whole = embed::embed(&texts, &alone(model.path()), &Control::new()).unwrap();
    let how = Embed {
        kept: Some(folder.path().to_path_buf()),
        ..alone(model.path())
    };
    // Stopped after 200 texts: what was made in whole chunks is there.
    let counted = |stop: usize| {
        let steps = Arc::new(AtomicUsize::new(0));
        let (seen, asked) = (
            Arc::clone(&steps),
            Arc::new(std::sync::OnceLock::<Control>::new()),
        );
        let slot = Arc::clone(&asked);
        let control = Control::with_progress(move |progress| {
            if let Progress::Advance(more) = progress
                && seen.fetch_add(more as usize, Ordering::SeqCst) + more as usize == stop
            {
                slot.get().unwrap().cancel();
            }
        });
        asked.set(control.clone()).ok().unwrap();
        (control, steps)
    };
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    let (control, _) = counted(200);
    let stopped = threads.install(|| embed::embed(&texts, &how, &control));
    assert!(stopped.is_err());
    let (control, steps) = counted(usize::MAX);
    let made = threads
        .install(|| embed::embed(&texts, &how, &control))
        .unwrap();
    assert_eq!(made, whole, "the same bits as in one go");
    // Chunks are of 32 texts with two threads: of those before the stop six are whole at least.
    let steps = steps.load(Ordering::SeqCst);
    assert!(
        (300..=500 - 6 * 32).contains(&steps),
        "{steps} were embedded again"
    );
    // A setting is part of the model: nothing of before is taken.
    say(&model, "dial.json", serde_json::json!({"pooling": "cls"}));
    let (control, steps) = counted(usize::MAX);
    embed::embed(&texts, &how, &control).unwrap();
    assert_eq!(steps.load(Ordering::SeqCst), 500);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// The tests that compare with golden numbers, and those of threads and of stops, with ONNX Runtime in place of tract.
#[cfg(feature = "onnxruntime")]
#[test]
fn onnx_runtime_gives_the_same() {
    let Some(library) = std::env::var_os("DIAL_ONNXRUNTIME").filter(|library| !library.is_empty())
    else {
        println!(
            "SKIPPED onnx_runtime_gives_the_same: DIAL_ONNXRUNTIME does not name the library of ONNX Runtime"
        );
        return;
    };
    let again = |library: &std::ffi::OsStr| {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "texts_are_",
                "pictures_are_",
                "pools_of_",
                "any_number_",
                "a_run_that_",
            ])
            .env("ORT_DYLIB_PATH", library)
            .output()
            .unwrap()
    };
    let done = again(&library);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success() && said.contains("5 passed"), "{said}");
    // It is the library that runs them: one that is not there cannot.
    let done = again("nowhere/libonnxruntime.so".as_ref());
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        said.contains("ONNX Runtime (nowhere/libonnxruntime.so) cannot run this network"),
        "{said}"
    );
}

// --- files that are wrong -------------------------------------------------------------------------------------------

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 127 {
        bytes.push((number & 127) as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A field of protobuf with bytes, and one with a number.
fn field(number: u64, bytes: impl AsRef<[u8]>) -> Vec<u8> {
    [
        varint(number << 3 | 2),
        varint(bytes.as_ref().len() as u64),
        bytes.as_ref().to_vec(),
    ]
    .concat()
}

fn count(number: u64, value: u64) -> Vec<u8> {
    [varint(number << 3), varint(value)].concat()
}

fn weights(name: &str, kind: u64, dims: &[u64], bytes: &[u8]) -> Vec<u8> {
    let dims: Vec<u8> = dims.iter().flat_map(|dim| count(1, *dim)).collect();
    [dims, count(2, kind), field(8, name), field(9, bytes)].concat()
}

fn integers(name: &str, values: &[i64]) -> Vec<u8> {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    weights(name, 7, &[values.len() as u64], &bytes)
}

fn node(kind: &str, inputs: &[&str], outputs: &[&str]) -> Vec<u8> {
    let names = |number, names: &[&str]| {
        names
            .iter()
            .flat_map(|name| field(number, name))
            .collect::<Vec<u8>>()
    };
    [
        names(1, inputs),
        names(2, outputs),
        field(3, outputs[0]),
        field(4, kind),
    ]
    .concat()
}

/// A side is a number, or free where it is 0.
fn slot(name: &str, kind: u64, dims: &[u64]) -> Vec<u8> {
    let side = |dim: &u64| {
        field(
            1,
            if *dim == 0 {
                field(2, "any")
            } else {
                count(1, *dim)
            },
        )
    };
    let shape: Vec<u8> = dims.iter().flat_map(side).collect();
    [
        field(1, name),
        field(2, field(1, [count(1, kind), field(2, shape)].concat())),
    ]
    .concat()
}

/// A network for pictures of 4 x 4 in the file `model.onnx` of a folder.
fn made(nodes: &[Vec<u8>], tensors: &[Vec<u8>], input: Vec<u8>, outputs: &[&str]) -> TempDir {
    let list = |number, parts: &[Vec<u8>]| {
        parts
            .iter()
            .flat_map(|part| field(number, part))
            .collect::<Vec<u8>>()
    };
    let outputs: Vec<Vec<u8>> = outputs.iter().map(|name| slot(name, 1, &[0, 0])).collect();
    let graph = [
        list(1, nodes),
        field(2, "g"),
        list(5, tensors),
        field(11, input),
        list(12, &outputs),
    ]
    .concat();
    let folder = tempfile::tempdir().unwrap();
    let model = [count(1, 8), field(7, graph), field(8, count(2, 17))].concat();
    fs::write(folder.path().join("model.onnx"), model).unwrap();
    folder
}

fn four() -> Vec<u8> {
    slot("x", 1, &[0, 3, 4, 4])
}

/// The error for one picture, which names the model and says what to do.
fn refusal(folder: &Path) -> String {
    let bitmap = Bitmap {
        width: 4,
        height: 4,
        rgb: vec![9; 48],
    };
    let error = embed::embed_bitmaps(&[bitmap], &alone(folder), &Control::new()).unwrap_err();
    assert!(error.code().starts_with('I'), "{error}: {}", error.code());
    assert!(
        error.place.contains(&folder.display().to_string()),
        "{error}"
    );
    error.to_string()
}

#[test]
fn what_does_not_fit_is_said() {
    let flat = [node("Flatten", &["x"], &["y"])];
    let good = made(&flat, &[], four(), &["y"]);
    let bitmap = Bitmap {
        width: 4,
        height: 4,
        rgb: vec![9; 48],
    };
    let row = embed::embed_bitmaps(&[bitmap], &alone(good.path()), &Control::new()).unwrap();
    assert_eq!((row.n, row.dim), (1, 48));
    let said = |name: &str, content: Value| {
        let folder = made(&flat, &[], four(), &["y"]);
        say(&folder, name, content);
        refusal(folder.path())
    };
    let cases = [
        (
            refusal(made(&flat, &[], slot("x", 1, &[8, 3, 4, 4]), &["y"]).path()),
            "takes 8 items at a time",
        ),
        (
            refusal(made(&flat, &[], slot("x", 1, &[0, 7, 4, 4]), &["y"]).path()),
            "takes 7 colours",
        ),
        (
            refusal(made(&flat, &[], slot("x", 1, &[0, 3, 4]), &["y"]).path()),
            "takes neither texts nor pictures alone: its inputs are \"x\" (f32 any x 3 x 4)",
        ),
        (
            refusal(
                made(
                    &[flat[0].clone(), node("Relu", &["y"], &["z"])],
                    &[],
                    four(),
                    &["y", "z"],
                )
                .path(),
            ),
            "NAME one of \"y\", \"z\"",
        ),
        (
            refusal(made(&[node("Nonsense", &["x"], &["y"])], &[], four(), &["y"]).path()),
            "cannot be run",
        ),
        (
            refusal(made(&[node("If", &["x"], &["y"])], &[], four(), &["y"]).path()),
            "loop or a branch (If)",
        ),
        (
            refusal(made(&[node("Relu", &["never"], &["y"])], &[], four(), &["y"]).path()),
            "\"never\" is used and never made",
        ),
        (
            refusal(
                made(
                    &[node("Unsqueeze", &["x", "a"], &["y"])],
                    &[integers("a", &[0])],
                    four(),
                    &["y"],
                )
                .path(),
            ),
            "shape [1, 1, 3, 4, 4]",
        ),
        (
            said("dial.json", serde_json::json!({"pooling": "max"})),
            "dial.json: unknown variant `max`",
        ),
        (
            said("dial.json", serde_json::json!({"pool": "mean"})),
            "dial.json: unknown field `pool`",
        ),
        (
            said("dial.json", serde_json::json!({"output": "z"})),
            "names the output \"z\"",
        ),
        (
            said("dial.json", serde_json::json!({"size": 5})),
            "dial.json: it makes pictures of 5 x 5, and the network takes 4 x 4",
        ),
        (
            said("dial.json", serde_json::json!({"resize": 3})),
            "a shorter side of 3 cannot be cut to 4 x 4",
        ),
        (
            said("dial.json", serde_json::json!({"std": [1, 0, 1]})),
            "\"std\" must be positive",
        ),
        (
            said("preprocessor_config.json", serde_json::json!({"size": 9})),
            "preprocessor_config.json: it makes pictures of 9 x 9",
        ),
        (
            said(
                "preprocessor_config.json",
                serde_json::json!({"resample": 1}),
            ),
            "\"resample\" is 1",
        ),
        (
            said(
                "preprocessor_config.json",
                serde_json::json!({"do_resize": false}),
            ),
            "\"do_resize\" is false",
        ),
    ];
    for (error, words) in cases {
        assert!(error.contains(words), "{words:?} is not in: {error}");
    }
    let texts = network("texts");
    fs::remove_file(texts.path().join("tokenizer.json")).unwrap();
    let error = of_texts(texts.path()).unwrap_err().to_string();
    assert!(
        error.contains("no tokenizer.json beside the network"),
        "{error}"
    );
    let texts = network("texts");
    say(&texts, "dial.json", serde_json::json!({"max_tokens": 2}));
    assert!(
        of_texts(texts.path())
            .unwrap_err()
            .to_string()
            .contains("\"max_tokens\" is 2")
    );
    say(&texts, "dial.json", serde_json::json!({}));
    say(
        &texts,
        "1_Pooling/config.json",
        serde_json::json!({"pooling_mode_max_tokens": true}),
    );
    assert!(
        of_texts(texts.path())
            .unwrap_err()
            .to_string()
            .contains("asks for max_tokens")
    );
}

#[test]
fn tensors_are_what_their_shapes_say_and_lie_beside_the_network() {
    let add = [
        node("Add", &["x", "w"], &["z"]),
        node("Flatten", &["z"], &["y"]),
    ];
    let with = |tensor: Vec<u8>| refusal(made(&add, &[tensor], four(), &["y"]).path());
    assert!(
        with(weights("w", 1, &[1 << 20, 1 << 20], &[0; 8]))
            .contains("tensor \"w\" has 8 bytes where its shape needs 4398046511104")
    );
    assert!(with(weights("w", 1, &[1 << 62, 8], &[0; 8])).contains("a shape that cannot be"));
    assert!(with(weights("w", 99, &[1], &[0; 4])).contains("unknown type (99)"));
    assert!(with(weights("w", 14, &[1], &[0; 8])).contains("Complex64"));
    let elsewhere = |location: &str, length: u64| {
        let entry = |key: &str, value: &str| field(13, [field(1, key), field(2, value)].concat());
        let tensor = [
            count(1, 1),
            count(2, 1),
            field(8, "w"),
            entry("location", location),
            entry("length", &length.to_string()),
            count(14, 1),
        ];
        made(&add, &[tensor.concat()], four(), &["y"])
    };
    for (location, words) in [
        ("w.data", "is not beside the network"),
        ("../w.data", ""),
        ("/etc/hostname", "outside of the folder"),
    ] {
        let error = refusal(elsewhere(location, 4).path());
        assert!(
            error.contains(words) && error.contains("tensor \"w\""),
            "{error}"
        );
    }
    let folder = elsewhere("w.data", 4);
    fs::write(folder.path().join("w.data"), [0; 3]).unwrap();
    assert!(refusal(folder.path()).contains("beyond the end"));
    // Where it is whole it is used, and is part of the model.
    fs::write(folder.path().join("w.data"), 1f32.to_le_bytes()).unwrap();
    let bitmap = [Bitmap {
        width: 4,
        height: 4,
        rgb: vec![9; 48],
    }];
    let row = embed::embed_bitmaps(&bitmap, &alone(folder.path()), &Control::new()).unwrap();
    fs::write(folder.path().join("w.data"), 9f32.to_le_bytes()).unwrap();
    assert_ne!(
        row,
        embed::embed_bitmaps(&bitmap, &alone(folder.path()), &Control::new()).unwrap()
    );
    assert!(refusal(elsewhere("w.data", 8).path()).contains("w.data"));
}

#[test]
fn networks_that_would_take_any_memory_are_refused() {
    let vast = [1i64 << 20, 1 << 20, 1 << 20];
    let end = |name: &str| {
        [
            node("ReduceMean", &[name], &["m"]),
            node("Add", &["x", "m"], &["z"]),
            node("Flatten", &["z"], &["y"]),
        ]
    };
    let shape = integers("s", &vast);
    let one = weights("o", 1, &[1, 1, 1], &1f32.to_le_bytes());
    let mut doubled = vec![node("Relu", &["x"], &["v0"])];
    doubled.extend((0..40).map(|at| {
        let (before, after) = (format!("v{at}"), format!("v{}", at + 1));
        let attribute = field(5, [field(1, "axis"), count(3, 0), count(20, 2)].concat());
        [node("Concat", &[&before, &before], &[&after]), attribute].concat()
    }));
    for (name, before, tensors) in [
        (
            "ConstantOfShape",
            vec![node("ConstantOfShape", &["s"], &["v"])],
            vec![shape.clone()],
        ),
        (
            "Expand",
            vec![node("Expand", &["o", "s"], &["v"])],
            vec![shape.clone(), one.clone()],
        ),
        (
            "Tile",
            vec![node("Tile", &["o", "s"], &["v"])],
            vec![shape, one],
        ),
        (
            "Range",
            vec![
                node("Range", &["a", "b", "c"], &["r"]),
                [
                    node("Cast", &["r"], &["v"]),
                    field(5, [field(1, "to"), count(3, 1), count(20, 2)].concat()),
                ]
                .concat(),
            ],
            vec![
                weights("a", 7, &[], &0i64.to_le_bytes()),
                weights("b", 7, &[], &(1i64 << 50).to_le_bytes()),
                weights("c", 7, &[], &1i64.to_le_bytes()),
            ],
        ),
        (
            "Concat",
            [doubled, vec![node("Relu", &["v40"], &["v"])]].concat(),
            vec![],
        ),
    ] {
        let nodes = [before, end("v").to_vec()].concat();
        let error = refusal(made(&nodes, &tensors, four(), &["y"]).path());
        assert!(
            error.contains("cannot be run") && error.contains("bytes"),
            "{name}: {error}"
        );
    }
}

#[test]
fn damaged_networks_are_errors_or_other_networks() {
    for name in ["texts", "pictures"] {
        let folder = network(name);
        let file = folder.path().join("model.onnx");
        let whole = fs::read(&file).unwrap();
        let embedded = || match name {
            "texts" => of_texts(folder.path()),
            _ => of_pictures(folder.path()),
        };
        let cuts = (0..whole.len()).step_by(7).map(|cut| whole[..cut].to_vec());
        // DIAL_FLIPS is set for campaigns: every bit, not one of every byte.
        let bits = if std::env::var_os("DIAL_FLIPS").is_some() {
            8
        } else {
            1
        };
        let flips = (0..bits * whole.len()).map(|at| {
            let mut flipped = whole.clone();
            flipped[at % whole.len()] ^= 1 << ((at + at / whole.len()) % 8);
            flipped
        });
        let mut refused = 0;
        for bytes in cuts.chain(flips) {
            fs::write(&file, bytes).unwrap();
            match embedded() {
                Ok(matrix) => {
                    assert!((0..matrix.dim).all(|column| matrix.get(0, column).is_finite()))
                }
                Err(error) => {
                    refused += 1;
                    assert!(error.code().starts_with('I'), "{error}: {}", error.code());
                }
            }
        }
        assert!(refused > whole.len() / 7, "{refused} of {name}");
    }
}
