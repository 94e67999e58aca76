//! Scenes: ENVI files in every order, byte order and type, built byte by byte; MATLAB and NumPy cubes with their ground
//! truth; maps that are written and read back.

#[path = "corpus/build.rs"]
#[allow(dead_code)]
mod build;

use std::fs;
use std::path::Path;

use dial::{Control, Metric};
use dial_data::write::{ClassMap, ValueMap, envi_classes, envi_values};
use dial_data::{
    Buffer, Error, Kind, Pool, ReadOptions, Scene, Show, class_numbers, georeference, open,
};
use proptest::prelude::*;

/// A scene of 2 lines, 3 samples and 2 bands: entry (line, sample, band) is 1 + 6 line + 2 sample + band.
const SPECTRA: [u8; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

/// The same values in the three orders, by hand.
const ORDERS: [(&str, [u8; 12]); 3] = [
    ("bip", SPECTRA),
    ("BIL", [1, 3, 5, 2, 4, 6, 7, 9, 11, 8, 10, 12]),
    ("bsq", [1, 3, 5, 7, 9, 11, 2, 4, 6, 8, 10, 12]),
];

/// The types: number in the header, and how a small whole number is written, the last byte first.
type Written = fn(u8) -> Vec<u8>;
const TYPES: [(u8, Written); 9] = [
    (1, |v| vec![v]),
    (2, |v| i16::from(v).to_be_bytes().to_vec()),
    (3, |v| i32::from(v).to_be_bytes().to_vec()),
    (4, |v| f32::from(v).to_be_bytes().to_vec()),
    (5, |v| f64::from(v).to_be_bytes().to_vec()),
    (12, |v| u16::from(v).to_be_bytes().to_vec()),
    (13, |v| u32::from(v).to_be_bytes().to_vec()),
    (14, |v| i64::from(v).to_be_bytes().to_vec()),
    (15, |v| u64::from(v).to_be_bytes().to_vec()),
];

fn read(path: &Path, options: &ReadOptions) -> Result<Pool, Error> {
    open(path.to_str().unwrap(), options, 0, &Control::new())
}

fn plain(path: &Path) -> Pool {
    read(path, &ReadOptions::default()).unwrap()
}

fn scene(pool: &Pool) -> &Scene {
    match &pool.show {
        Show::Scene(scene) => scene,
        other => panic!("{other:?}"),
    }
}

fn labels(pool: &Pool) -> Vec<&str> {
    let truth = pool.truth.as_ref().unwrap();
    truth
        .labels
        .iter()
        .map(|label| label.map_or("", |class| &truth.classes[usize::from(class)]))
        .collect()
}

fn header(sizes: (usize, usize, usize), rest: &str) -> String {
    let (lines, samples, bands) = sizes;
    format!("ENVI\nsamples = {samples}\nlines = {lines}\nbands = {bands}\n{rest}\n")
}

#[test]
fn every_order_byte_order_and_type() {
    let folder = tempfile::tempdir().unwrap();
    let (text, data) = (folder.path().join("s.hdr"), folder.path().join("s.img"));
    for (order, values) in ORDERS {
        for (number, written) in TYPES {
            for big in [false, true] {
                let value = |&v: &u8| {
                    let mut bytes = written(v);
                    if !big {
                        bytes.reverse();
                    }
                    bytes
                };
                let bytes: Vec<u8> = [7; 5]
                    .into_iter()
                    .chain(values.iter().flat_map(value))
                    .collect();
                let rest = format!(
                    "header offset = 5\ndata type = {number}\ninterleave = {order}\nbyte order = {}",
                    u8::from(big)
                );
                fs::write(&text, header((2, 3, 2), &rest)).unwrap();
                fs::write(&data, bytes).unwrap();
                let pool = plain(&data);
                let shown: Vec<f64> = (0..12).map(|at| pool.shown().get(at / 2, at % 2)).collect();
                assert_eq!(shown, SPECTRA.map(f64::from), "{order} {number} {big}");
                assert_eq!((pool.metric, pool.name.as_str()), (Metric::Cosine, "s"));
                assert_eq!(
                    (
                        scene(&pool).height,
                        scene(&pool).width,
                        scene(&pool).position(4)
                    ),
                    (2, 3, (1, 1))
                );
                // Band 0 is 1, 3, 5, 7, 9, 11 with squares adding up to 286.
                assert!((pool.matrix.get(1, 0) - 3.0 / 286f64.sqrt()).abs() < 1e-7);
            }
        }
    }
    let wide = matches!(plain(&data).shown().values, Buffer::F32(_));
    assert!(wide, "small 64-bit integers fit into f32");
}

#[test]
fn either_file_may_be_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = header(
        (2, 3, 2),
        "data type = 1\ninterleave = bip\nwavelength = {400, 500.5}\nwavelength units = nm",
    );
    let pairs = [
        ("a.hdr", "a.img"),
        ("b.dat.hdr", "b.dat"),
        ("c.hdr", "c"),
        ("d.HDR", "d.BSQ"),
        ("e.hdr", "e.bin"),
        ("f.v2.hdr", "f.v2"),
        ("g.hdr", "g.raw"),
        ("h.hdr", "h.bil"),
        ("i.hdr", "i.bip"),
    ];
    for (first, second) in pairs {
        fs::write(at(first), &text).unwrap();
        fs::write(at(second), SPECTRA).unwrap();
        let (by_header, by_data) = (plain(&at(first)), plain(&at(second)));
        assert_eq!(
            (&by_header.matrix, &by_header.show),
            (&by_data.matrix, &by_data.show),
            "{first}"
        );
        assert_eq!(
            (
                scene(&by_data).wavelengths.as_slice(),
                scene(&by_data).unit.as_str()
            ),
            (&[400.0, 500.5][..], "nm")
        );
    }
    let code = |name: &str| read(&at(name), &ReadOptions::default()).unwrap_err();
    // Two files that could be the data: the one that is large enough, or a choice.
    fs::write(at("a.dat"), [1]).unwrap();
    assert_eq!(plain(&at("a.hdr")).matrix.n, 6);
    fs::write(at("a.dat"), SPECTRA).unwrap();
    assert_eq!(code("a.hdr").code(), "U1");
    assert_eq!(plain(&at("a.dat")).matrix.n, 6);
    fs::remove_file(at("b.dat")).unwrap();
    assert!(
        code("b.dat.hdr").code() == "I5" && code("b.dat.hdr").to_string().contains("is missing")
    );
    fs::write(at("c"), &SPECTRA[..11]).unwrap();
    let error = code("c.hdr");
    assert_eq!(error.code(), "I2");
    assert!(
        error
            .to_string()
            .contains("2 x 3 x 2 u8 from byte 0 on, so 12 bytes, but the file holds 11"),
        "{error}"
    );
    fs::write(at("c"), [&SPECTRA[..], &[0]].concat()).unwrap();
    assert!(
        plain(&at("c.hdr"))
            .notes
            .iter()
            .any(|note| note.starts_with("1 byte after the last value"))
    );
    fs::write(at("alone.bsq"), SPECTRA).unwrap();
    assert!(
        code("alone.bsq")
            .to_string()
            .contains("its header (.hdr) beside it"),
        "{}",
        code("alone.bsq")
    );
    fs::write(at("esri.hdr"), "BYTEORDER I\nNROWS 2\n").unwrap();
    assert!(
        code("esri.hdr").to_string().contains("not an ENVI header"),
        "{}",
        code("esri.hdr")
    );
    fs::write(
        at("huge.hdr"),
        header(
            (1 << 31, 1 << 31, 1 << 31),
            "data type = 5\ninterleave = bsq",
        ),
    )
    .unwrap();
    fs::write(at("huge"), SPECTRA).unwrap();
    assert_eq!(code("huge.hdr").code(), "I3");
    fs::write(
        at("large.hdr"),
        header(
            (1 << 20, 1 << 20, 1 << 10),
            "data type = 1\ninterleave = bsq",
        ),
    )
    .unwrap();
    fs::write(at("large.img"), SPECTRA).unwrap();
    assert_eq!(code("large.img").code(), "I2");
}

#[test]
fn a_table_beside_another_header_is_still_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("t.csv"), "a,b\n1,2\n3,5\n").unwrap();
    fs::write(
        at("t.hdr"),
        header((2, 3, 2), "data type = 1\ninterleave = bip"),
    )
    .unwrap();
    assert_eq!(plain(&at("t.csv")).matrix.n, 2);
    let as_scene = ReadOptions {
        kind: Some(Kind::Scene),
        ..ReadOptions::default()
    };
    assert_eq!(read(&at("t.csv"), &as_scene).unwrap_err().code(), "U1");
    fs::write(at("u.dat"), "1,2\n3,5\n").unwrap();
    fs::write(at("u.hdr"), "a,b\n").unwrap();
    assert_eq!(plain(&at("u.dat")).matrix.n, 2);
}

#[test]
fn a_classification_gives_labels_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(
        at("s.hdr"),
        header(
            (2, 3, 2),
            "data type = 1\ninterleave = bip\ndata ignore value = 200",
        ),
    )
    .unwrap();
    let mut values = SPECTRA;
    (values[2], values[3]) = (200, 200); // The pixel r0c1 was not measured.
    fs::write(at("s.img"), values).unwrap();
    let rest = "data type = 1\nfile type = ENVI Classification\nclasses = 3\nclass names = {Unclassified, corn,\n red beet}";
    fs::write(at("gt.hdr"), header((2, 3, 1), rest)).unwrap();
    fs::write(at("gt.img"), [1, 1, 0, 2, 3, 2]).unwrap();
    for name in ["gt.hdr", "gt.img"] {
        let options = ReadOptions {
            labels_file: Some(at(name)),
            ..ReadOptions::default()
        };
        let pool = read(&at("s.img"), &options).unwrap();
        assert_eq!(
            pool.ids.as_deref().unwrap(),
            ["r0c0", "r0c2", "r1c0", "r1c1", "r1c2"]
        );
        assert_eq!(labels(&pool), ["corn", "", "red beet", "3", "red beet"]);
    }
    let options = ReadOptions {
        labels_file: Some(at("gt.hdr")),
        ..ReadOptions::default()
    };
    fs::write(at("gt.hdr"), header((3, 2, 1), rest)).unwrap();
    let error = read(&at("s.img"), &options).unwrap_err();
    assert_eq!(error.code(), "I12");
    assert!(
        error
            .to_string()
            .contains("a map of 3 x 2 labels for a scene of 2 x 3 pixels. Turn"),
        "{error}"
    );
    assert!(
        read(&at("gt.img"), &ReadOptions::default())
            .unwrap_err()
            .to_string()
            .contains("--labels")
    );
    // Halves are no classes; whole numbers of a plain file are, 0 among them.
    fs::write(at("gt.hdr"), header((2, 3, 1), "data type = 4")).unwrap();
    let floats = |values: [f32; 6]| {
        values
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    fs::write(at("gt.img"), floats([1.0, 0.0, 0.0, 0.5, 1.0, 1.0])).unwrap();
    assert!(
        read(&at("s.img"), &options)
            .unwrap_err()
            .to_string()
            .contains("pixel r1c0 is 0.5")
    );
    fs::write(at("gt.img"), floats([1.0, 0.0, 0.0, 1.0, 1.0, 1.0])).unwrap();
    let pool = read(&at("s.img"), &options).unwrap();
    assert_eq!(labels(&pool), ["1", "0", "1", "1", "1"]);
}

#[test]
fn matlab_cubes_with_their_truth_in_the_same_file() {
    let cube = |name: &str| {
        build::mat_array(
            false,
            9,
            &[2, 1, 3],
            name,
            &build::element(false, 2, &[1, 2, 3, 5, 8, 9]),
        )
    };
    let map =
        |name: &str| build::mat_array(false, 9, &[2, 1], name, &build::element(false, 2, &[4, 6]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mat");
    fs::write(&path, build::mat(&[cube("scene"), map("scene_gt")])).unwrap();
    let pool = plain(&path);
    assert_eq!(
        pool.shown().values,
        Buffer::F32(vec![1.0, 3.0, 8.0, 2.0, 5.0, 9.0])
    );
    assert_eq!(
        (labels(&pool), pool.metric),
        (vec!["4", "6"], Metric::Cosine)
    );
    // By a name nobody knows it is only offered.
    fs::write(&path, build::mat(&[cube("scene"), map("depth")])).unwrap();
    assert_eq!(
        (plain(&path).truth, plain(&path).could_be_labels),
        (None, vec!["depth".to_string()])
    );
    let named = ReadOptions {
        label_column: Some("depth".into()),
        ..ReadOptions::default()
    };
    assert_eq!(labels(&read(&path, &named).unwrap()), ["4", "6"]);
    let flat = build::mat(&[build::good_array("a")]);
    fs::write(&path, flat).unwrap();
    let as_scene = ReadOptions {
        kind: Some(Kind::Scene),
        ..ReadOptions::default()
    };
    assert_eq!(read(&path, &as_scene).unwrap_err().code(), "I3");
}

#[test]
fn numpy_cubes_are_scenes_where_somebody_says_so() {
    let bytes = build::npy("'|u1'", "(2, 3, 2)", &SPECTRA);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    fs::write(&path, &bytes).unwrap();
    assert!(matches!(plain(&path).show, Show::Picture(_)));
    let as_scene = ReadOptions {
        kind: Some("scene".parse().unwrap()),
        ..ReadOptions::default()
    };
    let pool = read(&path, &as_scene).unwrap();
    assert_eq!(
        (pool.matrix.n, pool.matrix.dim, pool.metric),
        (6, 2, Metric::Cosine)
    );
    assert_eq!(pool.shown().get(5, 1), 12.0);
    let truth = build::npy("'|u1'", "(2, 3)", &[0, 1, 0, 1, 0, 1]);
    let npz = build::zip(&[
        build::stored("cube.npy", bytes),
        build::stored("labels.npy", truth),
    ]);
    let path = folder.path().join("a.npz");
    fs::write(&path, npz).unwrap();
    assert_eq!(
        labels(&read(&path, &as_scene).unwrap()),
        ["0", "1", "0", "1", "0", "1"]
    );
}

#[test]
fn maps_come_back_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let places = "map info = {UTM, 1, 1, 500000, 4100000, 20, 20, 11, North}".to_string();
    fs::write(
        at("s.hdr"),
        header(
            (2, 3, 2),
            &format!("data type = 1\ninterleave = bip\n{places}"),
        ),
    )
    .unwrap();
    fs::write(at("s.img"), SPECTRA).unwrap();
    let kept = georeference(at("s.img").to_str().unwrap());
    assert_eq!(kept.concat(), places);
    assert!(georeference("builtin:scene").is_empty());
    let few = ["corn".to_string(), "sugar; beet, {red}".to_string()];
    let many: Vec<String> = (0..300).map(|class| format!("c{class}")).collect();
    for (names, classes, wanted) in [
        (
            &few[..],
            [Some(1), None, Some(0), Some(0), Some(0), None],
            ["sugar beet red", "", "corn", "corn", "corn", ""],
        ),
        (
            &many[..],
            [Some(299), None, Some(0), Some(254), Some(255), None],
            ["c299", "", "c0", "c254", "c255", ""],
        ),
    ] {
        let colours = vec![[1, 2, 3]; names.len()];
        let colours = &colours;
        let map = ClassMap {
            height: 2,
            width: 3,
            classes: &classes,
            names,
            numbers: &[],
            colours,
            places: &kept,
        };
        assert_eq!(
            envi_classes(&map)
                .unwrap()
                .write(&at("classes.hdr"))
                .unwrap(),
            at("classes.img")
        );
        let options = ReadOptions {
            labels_file: Some(at("classes.hdr")),
            ..ReadOptions::default()
        };
        assert_eq!(labels(&read(&at("s.hdr"), &options).unwrap()), wanted);
        assert_eq!(georeference(at("classes.hdr").to_str().unwrap()), kept);
    }
    let text = fs::read_to_string(at("classes.hdr")).unwrap();
    assert!(
        text.contains("classes = 301\nclass lookup = {0, 0, 0,\n 1, 2, 3,"),
        "{text}"
    );
    let values = [0.5f32, 0.25, f32::NAN, 1.0, 0.0, 1e-9];
    let map = ValueMap {
        height: 2,
        width: 3,
        values: &values,
        name: "uncertainty",
        places: &[],
    };
    envi_values(&map).write(&at("u.hdr")).unwrap();
    let pool = plain(&at("u.hdr"));
    // The NaN was left out, and so was the zero: a single band of 0 holds no data.
    assert_eq!(pool.shown().values, Buffer::F32(vec![0.5, 0.25, 1.0, 1e-9]));
    assert_eq!(
        (pool.ids.as_deref().unwrap().concat(), pool.metric),
        ("r0c0r0c1r1c0r1c2".into(), Metric::Euclidean)
    );
    assert_eq!(
        envi_values(&map).write(&at("no/u.hdr")).unwrap_err().code(),
        "S5"
    );
}

#[test]
fn classes_keep_their_numbers_and_colours() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let place = |name: &str| at(name).to_str().unwrap().to_string();
    let said = "data type = 1\ninterleave = bsq\nfile type = ENVI Classification\nclass names = {None, oak, ash, elm}\n\
                class lookup = {0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}\n";
    fs::write(at("t.hdr"), header((1, 3, 1), said)).unwrap();
    fs::write(at("t.img"), [3, 1, 5]).unwrap();
    // In the order of their names: 5 has none, elm is 3, oak is 1; ash is in no pixel.
    let names = ["5", "elm", "oak"].map(String::from);
    let found = class_numbers(&place("t.img"), &names).unwrap();
    let parts: Vec<_> = found
        .iter()
        .map(|class| (class.name.as_str(), class.number, class.colour))
        .collect();
    let (elm, oak, ash) = (Some([7, 8, 9]), Some([1, 2, 3]), Some([4, 5, 6]));
    assert_eq!(
        parts,
        [
            ("5", 5, None),
            ("elm", 3, elm),
            ("oak", 1, oak),
            ("ash", 2, ash)
        ]
    );
    assert_eq!(class_numbers(&place("t.hdr"), &["yew".to_string()]), None);
    assert_eq!(class_numbers(&place("t.hdr"), &["0".to_string()]), None);
    assert_eq!(
        class_numbers(&place("t.hdr"), &["oak", "1"].map(String::from)),
        None
    );
    assert_eq!(class_numbers("no/such/file", &names), None);
    let (all, numbers) = (["5", "elm", "oak", "ash"].map(String::from), [5, 3, 1, 2]);
    let colours = [[9, 9, 9], [7, 8, 9], [1, 2, 3], [4, 5, 6]];
    let classes = [Some(1), None, Some(0)];
    let map = ClassMap {
        height: 1,
        width: 3,
        classes: &classes,
        names: &all,
        numbers: &numbers,
        colours: &colours,
        places: &[],
    };
    envi_classes(&map).unwrap().write(&at("m.hdr")).unwrap();
    assert_eq!(fs::read(at("m.img")).unwrap(), [3, 0, 5]);
    let text = fs::read_to_string(at("m.hdr")).unwrap();
    assert!(
        text.contains("classes = 6\n")
            && text.contains("{Unclassified,\n oak,\n ash,\n elm,\n 4,\n 5}"),
        "{text}"
    );
    assert!(
        text.contains("{0, 0, 0,\n 1, 2, 3,\n 4, 5, 6,\n 7, 8, 9,\n 128, 128, 128,\n 9, 9, 9}"),
        "{text}"
    );
}

#[test]
fn georeference_finds_the_header_that_is_read() {
    // A header may have any name, if it begins as one.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.head");
    fs::write(
        &path,
        header(
            (2, 3, 2),
            "data type = 1\ninterleave = bip\nmap info = {here}",
        ),
    )
    .unwrap();
    assert_eq!(georeference(path.to_str().unwrap()), ["map info = {here}"]);
}

#[test]
fn a_table_of_the_environment_is_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    fs::write(&path, "ENVIRONMENT,B\n1,2\n3,5\n").unwrap();
    assert_eq!(
        plain(&path).shown().values,
        Buffer::F64(vec![1.0, 2.0, 3.0, 5.0])
    );
}

/// The Salinas-A cube against spectra that others took from it; skipped, visibly, where the data are missing.
#[test]
fn salinas_a_has_the_spectra_that_others_found() {
    let data = std::env::var_os("DIAL_DATA").map(std::path::PathBuf::from);
    let Some(data) = data.filter(|folder| folder.join("hsi").is_dir()) else {
        eprintln!("SKIPPED: no real data (set DIAL_DATA to its folder)");
        return;
    };
    let options = ReadOptions {
        labels_file: Some(data.join("hsi/SalinasA_gt.mat")),
        ..ReadOptions::default()
    };
    let pool = read(&data.join("hsi/SalinasA_corrected.mat"), &options).unwrap();
    assert_eq!(
        (scene(&pool).height, scene(&pool).width, pool.matrix.dim),
        (83, 86, 204)
    );
    let arrays = dial_data::read_npz(data.join("features/salinassub.npz")).unwrap();
    let find = |name: &str| &arrays.iter().find(|(found, _)| found == name).unwrap().1;
    let integers = |name: &str| match &find(name).data {
        dial_data::ArrayData::I64(values) => values.clone(),
        other => panic!("{name}: {:?}", other.len()),
    };
    let (rows, columns, truth) = (integers("row"), integers("col"), integers("labels"));
    let raw: Vec<f64> = match &find("X_raw").data {
        dial_data::ArrayData::F32(values) => values.iter().map(|&value| f64::from(value)).collect(),
        dial_data::ArrayData::F64(values) => values.clone(),
        dial_data::ArrayData::I64(values) => values.iter().map(|&value| value as f64).collect(),
        other => panic!("X_raw: {:?}", other.len()),
    };
    assert_eq!(rows.len(), 5348);
    let (ours, mut met) = (labels(&pool), std::collections::BTreeMap::new());
    for (at, (row, column)) in rows.iter().zip(&columns).enumerate() {
        let id = format!("r{row}c{column}");
        let item = pool
            .ids
            .as_ref()
            .unwrap()
            .iter()
            .position(|other| *other == id)
            .unwrap();
        let spectrum: Vec<f64> = (0..204).map(|band| pool.shown().get(item, band)).collect();
        assert_eq!(spectrum, raw[at * 204..(at + 1) * 204], "{id}");
        // One class of theirs is one class of ours.
        assert_eq!(*met.entry(truth[at]).or_insert(ours[item]), ours[item]);
    }
    assert_eq!(met.len(), 6);
}

proptest! {
    #[test]
    fn no_header_and_no_data_make_it_panic(
        at in 0usize..200, put in prop::collection::vec(any::<u8>(), 0..6), cut in 0usize..4, data in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let rest = "header offset = 0\ndata type = 2\ninterleave = bil\nbyte order = 0\nbbl = {1, 1}\nwavelength = {1, 2}";
        let mut text = header((2, 3, 2), rest).into_bytes();
        let at = 4 + at % (text.len() - 4);
        text.splice(at..(at + cut).min(text.len()), put);
        fs::write(folder.path().join("s.hdr"), &text).unwrap();
        fs::write(folder.path().join("s.img"), &data).unwrap();
        for name in ["s.hdr", "s.img"] {
            let path = folder.path().join(name);
            let labels = ReadOptions { labels_file: Some(path.clone()), ..ReadOptions::default() };
            let _ = read(&path, &ReadOptions::default());
            let _ = open("builtin:scene:16", &labels, 0, &Control::new());
        }
    }
}
