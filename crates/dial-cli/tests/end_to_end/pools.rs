//! Pools of every kind go the whole way: doctor, graph and simulate. Each holds the same sixty items of two classes that
//! are easy to tell apart, in its own form.

use std::fs;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, FixedSizeListArray, Float64Array, ListArray, RecordBatch, StringArray,
    types::Float64Type,
};

use crate::bad_columns::{arrow_file, arrow_stream, parquet};
use crate::corpus::build::{
    element, f64s, gzip, i64s, idx, mat, mat_array, npy, stored, zip, zstd,
};
use crate::run::Place;

const ITEMS: usize = 60;

/// The class of an item.
fn class(item: usize) -> usize {
    item % 2
}

/// A number between -1 and 1 that looks random.
fn jitter(item: usize, column: usize) -> f64 {
    f64::from(((item * 7919 + column * 104_729 + 13) % 2003) as u32) / 1001.0 - 1.0
}

/// Four numbers, far apart for the two classes.
fn numbers(item: usize) -> [f64; 4] {
    std::array::from_fn(|column| {
        let centre = if (class(item) + column).is_multiple_of(2) {
            9.0
        } else {
            3.0
        };
        centre + jitter(item, column)
    })
}

fn name(item: usize) -> &'static str {
    ["cat", "dog"][class(item)]
}

/// A sentence on the topic of its class.
fn sentence(item: usize) -> String {
    let topics = [
        [
            "the cat purrs on the warm sofa",
            "a kitten drinks milk and purrs",
            "whiskers and paws of a sleepy cat",
        ],
        [
            "engine oil and brakes of the truck",
            "the truck has a broken engine",
            "new tyres and brakes for the garage",
        ],
    ];
    format!(
        "{} {}",
        topics[class(item)][item / 2 % 3],
        ["today", "again", "yesterday", "at noon"][item / 6 % 4]
    )
}

/// A grey picture of 8 x 8: the left or the lower half is bright.
fn picture(item: usize) -> Vec<u8> {
    let bright = |row: usize, column: usize| {
        if class(item) == 0 {
            column < 4
        } else {
            row >= 4
        }
    };
    let grey = |pixel: usize| {
        let noise = 20.0 * jitter(item, pixel);
        (if bright(pixel / 8, pixel % 8) {
            210.0
        } else {
            40.0
        } + noise) as u8
    };
    (0..64).map(grey).collect()
}

fn rows(line: impl Fn(usize) -> String) -> String {
    (0..ITEMS).map(|item| line(item) + "\n").collect()
}

fn all_numbers() -> Vec<f64> {
    (0..ITEMS).flat_map(numbers).collect()
}

fn features_npy() -> Vec<u8> {
    npy("'<f8'", "(60, 4)", &f64s(&all_numbers()))
}

fn labels_npy() -> Vec<u8> {
    npy(
        "'<i8'",
        "(60,)",
        &i64s(
            &(0..ITEMS)
                .map(|item| class(item) as i64)
                .collect::<Vec<_>>(),
        ),
    )
}

fn label_bytes() -> Vec<u8> {
    (0..ITEMS).map(|item| class(item) as u8).collect()
}

fn pixels() -> Vec<u8> {
    (0..ITEMS).flat_map(picture).collect()
}

/// Columns in front of rows, as MATLAB and Fortran keep them: a scene of 6 x 10 pixels.
fn fortran(value: impl Fn(usize, usize) -> f64, bands: usize) -> Vec<f64> {
    let mut values = Vec::new();
    for band in 0..bands {
        for column in 0..10 {
            values.extend((0..6).map(|row| value(row * 10 + column, band)));
        }
    }
    values
}

/// A variable of doubles.
fn doubles(shape: &[i32], name: &str, values: &[f64]) -> Vec<u8> {
    mat_array(false, 6, shape, name, &element(false, 9, &f64s(values)))
}

fn cube_mat() -> Vec<u8> {
    mat(&[doubles(
        &[6, 10, 4],
        "cube",
        &fortran(|item, band| numbers(item)[band], 4),
    )])
}

/// Classes 1 and 2, as ground truths have them.
fn truth_mat() -> Vec<u8> {
    mat(&[doubles(
        &[6, 10],
        "gt",
        &fortran(|item, _| class(item) as f64 + 1.0, 1),
    )])
}

fn envi_header(interleave: &str) -> String {
    format!(
        "ENVI\ndescription = {{six by\n ten}}\nsamples = 10\nlines = 6\nbands = 4\nheader offset = 0\nfile type = ENVI \
         Standard\ndata type = 4\ninterleave = {interleave}\nbyte order = 0\nwavelength units = nm\nwavelength = {{400, \
         500,\n 600, 700}}\n"
    )
}

/// The cube with the pixels of a line, the bands of a line, or the bands of a pixel together.
fn envi_data(interleave: &str) -> Vec<u8> {
    let mut values = vec![0f32; ITEMS * 4];
    for (item, band) in (0..ITEMS).flat_map(|item| (0..4).map(move |band| (item, band))) {
        let place = match interleave {
            "bsq" => band * ITEMS + item,
            "bil" => item / 10 * 40 + band * 10 + item % 10,
            _ => item * 4 + band,
        };
        values[place] = numbers(item)[band] as f32;
    }
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// A folder of files, one per item, in a sub-folder for each class.
fn folder(place: &Place, ending: &str, content: impl Fn(usize) -> Vec<u8>) {
    for item in 0..ITEMS {
        let path = place
            .path("pool")
            .join(name(item))
            .join(format!("{item:02}.{ending}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content(item)).unwrap();
    }
}

fn encoded(item: usize, format: image::ImageFormat) -> Vec<u8> {
    let large = image::GrayImage::from_fn(24, 24, |x, y| {
        image::Luma([picture(item)[(y / 3 * 8 + x / 3) as usize]])
    });
    let mut bytes = std::io::Cursor::new(Vec::new());
    large.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// Doctor, graph and simulate on a pool; what is asked of each kind is the same.
#[track_caller]
fn goes_the_whole_way(place: &Place, pool: &str) {
    let run = |verb: &str, rest: &str| {
        let ran = place.line(&format!("{verb} {pool} --k 8 --json {rest}"));
        assert_eq!(ran.code, 0, "{verb} {pool}: {}", ran.err);
        ran.json()
    };
    let facts = run("doctor", "")["facts"].clone();
    assert_eq!(facts["items"], ITEMS, "{pool}");
    assert!(
        facts["neighbour_purity"].as_f64().unwrap() > 0.8,
        "{pool}: {facts}"
    );
    assert_eq!(run("graph", "")["items"], ITEMS, "{pool}");
    let ran = place.line(&format!(
        "simulate {pool} --k 8 --queries 10 --trials 1 --initial none --out runs.csv"
    ));
    assert_eq!(ran.code, 0, "simulate {pool}: {}", ran.err);
    let runs = String::from_utf8(place.read("runs.csv")).unwrap();
    let accuracy: f64 = runs
        .lines()
        .last()
        .unwrap()
        .split(',')
        .nth(9)
        .unwrap()
        .parse()
        .unwrap();
    assert!(accuracy > 0.9, "{pool}: {accuracy}");
}

#[test]
fn arrays() {
    let npz = zip(&[
        stored("X.npy", features_npy()),
        stored("labels.npy", labels_npy()),
    ]);
    let labels: Vec<f64> = (0..ITEMS).map(|item| class(item) as f64).collect();
    let columns: Vec<f64> = (0..4)
        .flat_map(|column| (0..ITEMS).map(move |item| numbers(item)[column]))
        .collect();
    let matlab = mat(&[
        doubles(&[60, 4], "X", &columns),
        doubles(&[60, 1], "labels", &labels),
    ]);
    let place = Place::with("x.npy", features_npy())
        .and("y.npy", labels_npy())
        .and("x.npz", npz)
        .and("x.mat", matlab);
    for pool in [
        "x.npy --labels y.npy",
        "x.npz",
        "x.mat",
        "x.npy --labels y.npy --pca 2 --standardize",
    ] {
        goes_the_whole_way(&place, pool);
    }
}

/// A project on a packed table: its name, labels from a packed file, its own columns in an export, and a pool that changes.
#[test]
fn a_packed_pool_is_like_any_other() {
    let table = |items: usize| {
        let row = |item: usize| {
            let [a, b, c, d] = numbers(item);
            format!("i{item},{a},{b},{c},{d},{}\n", name(item))
        };
        let rows: String = (0..items).map(row).collect();
        format!("id,a,b,c,d,kind\n{rows}").into_bytes()
    };
    let labels = "id\tlabel\ni0\tcat\ni1\tdog\n";
    let plain = Place::with("rows.csv", table(ITEMS)).and("given.tsv", labels);
    let packed = Place::with("rows.csv.gz", gzip(&table(ITEMS)))
        .and("given.tsv.zst", zstd(labels.as_bytes()));
    goes_the_whole_way(&packed, "rows.csv.gz --label-column kind");
    let run = |place: &Place, ending: &str, packing: &str| {
        let new =
            format!("new rows.csv{ending} --classes cat,dog --drop-column kind --k 8 --quiet");
        place.line(&new).ok();
        place
            .line(&format!("import rows.dial given.tsv{packing}"))
            .ok();
        let asked = place.line("ask rows.dial").ok();
        assert_eq!(asked.err, "", "the pool is the one it was made from");
        place
            .line("export rows.dial --out all.csv --original-columns on")
            .ok();
        // The annotator of imported labels is the name of their file.
        let all = String::from_utf8(place.read("all.csv")).unwrap();
        (asked.out, all.replace("given.tsv.zst", "given.tsv"))
    };
    let (asked, all) = run(&packed, ".gz", ".zst");
    assert_eq!((asked, all.clone()), run(&plain, "", ""));
    let first = all.lines().nth(1).unwrap();
    assert!(
        first.starts_with("i0,cat,") && first.ends_with(",cat"),
        "{first}"
    );
    std::fs::write(packed.path("rows.csv.gz"), gzip(&table(ITEMS + 2))).unwrap();
    let grown = packed.line("ask rows.dial").ok().err;
    assert!(
        grown.contains("the pool has changed: 62 items now, 60 before"),
        "{grown}"
    );
    let whole = gzip(&table(ITEMS + 2));
    std::fs::write(packed.path("rows.csv.gz"), &whole[..whole.len() - 20]).unwrap();
    packed.line("ask rows.dial").fails(
        "I5",
        3,
        &["rows.csv.gz: the gzip data end too early, after "],
    );
}

#[test]
fn arrays_of_pictures() {
    let (images, labels) = (
        idx(8, &[60, 8, 8], &pixels()),
        idx(8, &[60], &label_bytes()),
    );
    let place = Place::with("train-images-idx3-ubyte", &images)
        .and("train-labels-idx1-ubyte", &labels)
        .and("test-images-idx3-ubyte.gz", gzip(&images))
        .and("test-labels-idx1-ubyte.gz", gzip(&labels))
        .and("y.npy", labels_npy())
        .and("p.npy", npy("'|u1'", "(60, 8, 8)", &pixels()));
    for pool in [
        "train-images-idx3-ubyte",
        "test-images-idx3-ubyte.gz",
        "p.npy --labels y.npy --describe",
    ] {
        goes_the_whole_way(&place, pool);
    }
}

#[test]
fn scenes() {
    let mut place = Place::with("cube.mat", cube_mat()).and("gt.mat", truth_mat());
    for interleave in ["bsq", "bil", "bip"] {
        place = place.and(&format!("{interleave}.hdr"), envi_header(interleave));
        place = place.and(&format!("{interleave}.img"), envi_data(interleave));
    }
    let cube = || npy("'<f8'", "(6, 10, 4)", &f64s(&all_numbers()));
    let truth = npy("'|u1'", "(6, 10)", &label_bytes());
    place = place
        .and("cube.npy", cube())
        .and("cube.npz", zip(&[stored("cube.npy", cube())]));
    let pools = [
        "cube.mat",
        "bsq.hdr",
        "bsq.img",
        "bil.hdr",
        "bip.img",
        "cube.npy --as scene",
        "cube.npz --as scene",
    ];
    for pool in pools {
        goes_the_whole_way(&place, &format!("{pool} --labels gt.mat"));
    }
    // The ground truth may lie in the same archive.
    for (file, name) in [("both.npz", "gt.npy"), ("named.npz", "field_gt.npy")] {
        place = place.and(
            file,
            zip(&[stored("cube.npy", cube()), stored(name, truth.clone())]),
        );
        goes_the_whole_way(&place, &format!("{file} --as scene"));
    }
}

#[test]
fn tables() {
    let decimal_comma = |item| {
        let cells = numbers(item).map(|number| format!("{number:.2}").replace('.', ","));
        format!("{item};{};{}", cells.join(";"), name(item))
    };
    let plain = |item: usize, between: &str| {
        let cells = numbers(item).map(|number| format!("{number:.3}"));
        format!(
            "n{item}{between}{}{between}{}",
            cells.join(between),
            name(item)
        )
    };
    let mixed = |item: usize| {
        let [a, b, ..] = numbers(item);
        let (colour, b) = (
            ["red", "blue"][class(item)],
            if item == 7 {
                String::new()
            } else {
                (1000.0 * b).to_string()
            },
        );
        format!("{a},{b},{colour},{}", name(item))
    };
    let place = Place::with(
        "a.csv",
        format!("id,a,b,c,d,label\n{}", rows(|item| plain(item, ","))),
    )
    .and(
        "a.tsv",
        format!(
            "id\ta\tb\tc\td\tlabel\r\n{}",
            rows(|item| plain(item, "\t")).replace('\n', "\r\n")
        ),
    )
    .and(
        "a-de.csv",
        format!("\u{feff}id;a;b;c;d;label\n{}", rows(decimal_comma)),
    )
    .and(
        "mixed.csv",
        format!("size,price,colour,label\n{}", rows(mixed)),
    );
    for pool in ["a.csv", "a.tsv", "a-de.csv", "mixed.csv"] {
        goes_the_whole_way(&place, pool);
    }
}

#[test]
fn records() {
    let list = |item: usize| {
        format!(
            "{{\"id\": \"n{item}\", \"v\": {:?}, \"label\": \"{}\"}}",
            numbers(item),
            name(item)
        )
    };
    let both = |item: usize| {
        // Shorter lists beside texts would be taken for something to read.
        let eight = [numbers(item), numbers(item)].concat();
        format!(
            "{{\"text\": \"text {item}\", \"v\": {eight:?}, \"label\": \"{}\"}}",
            name(item)
        )
    };
    let array = format!("[{}]", (0..ITEMS).map(both).collect::<Vec<_>>().join(",\n"));
    let place = Place::with("lists.jsonl", rows(list))
        .and("both.jsonl", rows(both))
        .and("array.json", array);
    for pool in [
        "lists.jsonl",
        "both.jsonl",
        "array.json",
        "lists.jsonl --features both.jsonl",
    ] {
        goes_the_whole_way(&place, pool);
    }
    let said = place.line("doctor both.jsonl --k 8").ok();
    assert!(
        said.out.contains("60 texts") && said.err.contains("features are the column v"),
        "{} {}",
        said.out,
        said.err
    );
}

/// Columns of Parquet or Arrow with the labels beside them.
fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let labels: ArrayRef = Arc::new(StringArray::from_iter_values((0..ITEMS).map(name)));
    RecordBatch::try_from_iter(columns.into_iter().chain([("label", labels)])).unwrap()
}

#[test]
fn parquet_and_arrow() {
    let words = |word: &dyn Fn(usize) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values((0..ITEMS).map(word)))
    };
    let column = |at: usize| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(
            (0..ITEMS).map(|i| numbers(i)[at]),
        ))
    };
    let lists = || (0..ITEMS).map(|item| Some(numbers(item).map(Some).to_vec()));
    let picture = |item: usize| format!("pool/{}/{item:02}.png", name(item));
    let kinds = [
        (
            "columns",
            batch(vec![
                ("id", words(&|i| format!("n{i}"))),
                ("a", column(0)),
                ("b", column(1)),
                ("c", column(2)),
            ]),
        ),
        (
            "lists",
            batch(vec![(
                "v",
                Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(lists())),
            )]),
        ),
        (
            "fixed",
            batch(vec![(
                "v",
                Arc::new(FixedSizeListArray::from_iter_primitive::<Float64Type, _, _>(lists(), 4)),
            )]),
        ),
        ("texts", batch(vec![("text", words(&sentence))])),
        ("pictures", batch(vec![("image", words(&picture))])),
    ];
    let mut place = Place::new();
    folder(&place, "png", |item| encoded(item, image::ImageFormat::Png));
    for (kind, batch) in &kinds {
        place = place
            .and(&format!("{kind}.parquet"), parquet(batch))
            .and(&format!("{kind}.feather"), arrow_file(batch));
    }
    place = place.and("stream.arrows", arrow_stream(&kinds[0].1));
    for (kind, _) in &kinds {
        goes_the_whole_way(&place, &format!("{kind}.parquet"));
        goes_the_whole_way(&place, &format!("{kind}.feather"));
    }
    goes_the_whole_way(&place, "stream.arrows");
}

#[test]
fn texts() {
    let json = |item: usize| {
        format!(
            "{{\"id\": {item}, \"text\": \"{}\", \"label\": \"{}\"}}",
            sentence(item),
            name(item)
        )
    };
    let place = Place::with("t.jsonl", rows(json))
        .and(
            "t.csv",
            format!(
                "text,label\n{}",
                rows(|item| format!("\"{},\nindeed\",{}", sentence(item), name(item)))
            ),
        )
        .and("t.txt", rows(sentence))
        .and("labels.csv", rows(|item| name(item).into()));
    folder(&place, "txt", |item| sentence(item).into_bytes());
    for pool in [
        "t.jsonl",
        "t.csv",
        "t.txt --labels labels.csv",
        "pool --folder-labels",
    ] {
        goes_the_whole_way(&place, pool);
    }
}

#[test]
fn folders_of_pictures() {
    let png = Place::new();
    folder(&png, "png", |item| encoded(item, image::ImageFormat::Png));
    goes_the_whole_way(&png, "pool --folder-labels");
    let jpeg = Place::with("list.csv", {
        let line = |item| format!("pool/{}/{item:02}.jpg,{}", name(item), name(item));
        format!("image,label\n{}", rows(line))
    })
    .and(
        "list.txt",
        rows(|item| format!("pool/{}/{item:02}.jpg", name(item))),
    )
    .and("labels.csv", rows(|item| name(item).into()));
    folder(&jpeg, "jpg", |item| encoded(item, image::ImageFormat::Jpeg));
    goes_the_whole_way(&jpeg, "pool --folder-labels");
    goes_the_whole_way(&jpeg, "list.csv");
    goes_the_whole_way(&jpeg, "list.txt --labels labels.csv");
}

#[test]
fn features_beside() {
    let backwards = |item: usize| {
        let item = ITEMS - 1 - item;
        format!(
            "n{item},{}",
            numbers(item).map(|number| number.to_string()).join(",")
        )
    };
    let json = |item: usize| {
        format!(
            "{{\"id\": \"n{item}\", \"text\": \"t{item}\", \"label\": \"{}\"}}",
            name(item)
        )
    };
    let place = Place::with("t.jsonl", rows(json))
        .and("x.npy", features_npy())
        .and("x.csv", format!("id,a,b,c,d\n{}", rows(backwards)));
    folder(&place, "txt", |item| sentence(item).into_bytes());
    for pool in ["t.jsonl --features x.npy", "t.jsonl --features x.csv"] {
        goes_the_whole_way(&place, pool);
    }
}

#[test]
fn built_in_pools() {
    let place = Place::new();
    for (name, _) in dial_data::generate::builtin::names() {
        let pool = format!("builtin:{name}:100");
        let facts = place.line(&format!("doctor {pool} --json")).ok().json();
        assert_eq!(facts["facts"]["items"], 100, "{pool}");
        assert_eq!(
            place.line(&format!("graph {pool} --json")).ok().json()["items"],
            100
        );
        place
            .line(&format!("simulate {pool} --queries 3 --trials 1 --quiet"))
            .ok();
    }
}

#[test]
fn no_part_of_a_pool_is_overwritten() {
    let place = Place::with("s.hdr", envi_header("bsq"))
        .and("s.img", envi_data("bsq"))
        .and("gt.mat", truth_mat())
        .and("t.csv", format!("text\n{}", rows(sentence)))
        .and("x.npy", features_npy());
    folder(&place, "png", |item| encoded(item, image::ImageFormat::Png));
    let list = (0..ITEMS).map(|item| format!("pool/{}/{item:02}.png\n", name(item)));
    let place = place.and("list.csv", format!("image\n{}", list.collect::<String>()));
    for line in [
        "graph s.hdr --k 8 --out s.img",
        "graph t.csv --k 8 --features x.npy --out x.npy",
        "graph pool --k 8 --out pool/cat/00.png",
        "propagate list.csv --k 8 --source 0 --out pool/dog/01.png",
    ] {
        let before = (
            place.read("s.img"),
            place.read("x.npy"),
            place.read("pool/cat/00.png"),
        );
        place
            .line(line)
            .fails("U1", 2, &["would overwrite", "Nothing was done."]);
        assert_eq!(
            before,
            (
                place.read("s.img"),
                place.read("x.npy"),
                place.read("pool/cat/00.png")
            ),
            "{line}"
        );
    }
    place
        .line("doctor t.csv --folder-labels")
        .fails("U1", 2, &["--folder-labels is for a folder"]);
    place
        .line("doctor x.npy --text-column a")
        .fails("U1", 2, &["--text-column is for tables"]);
}

#[test]
fn the_background_of_a_scene_is_asked_about_only_while_it_counts() {
    let gt = mat(&[doubles(
        &[6, 10],
        "gt",
        &fortran(|item, _| (item % 3) as f64, 1),
    )]);
    let place = Place::with("cube.mat", cube_mat()).and("gt.mat", gt);
    let note = "label 0 counts as a class here";
    for (verb, more) in [
        ("new", "--classes a,b --project"),
        ("simulate", "--queries 3 --trials 1 --maps"),
    ] {
        let run = |ignored: &str, out: &str| {
            let line =
                format!("{verb} cube.mat --labels gt.mat --k 5 {ignored} {more} {verb}-{out}");
            place.line(&line).ok().err
        };
        let plain = run("", "a");
        assert!(plain.contains(note), "{verb}: {plain}");
        let told = run("--ignore-label 0", "b");
        assert!(!told.contains(note), "{verb}: {told}");
        let other = run("--ignore-label 7", "c");
        assert!(
            other.contains(note) && other.contains("no item has the label \"7\""),
            "{other}"
        );
    }
}
