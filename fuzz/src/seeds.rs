//! What fuzzing starts from: the good and the bad files of the tests of `dial-data`, and a few built here.

use std::io::Cursor;
use std::path::Path;

use dial::graph::EdgeWeights;
use dial::{Config, Control, Features, Metric, engine};
use dial_data::{Buffer, Fingerprint, GraphProvenance, Matrix, write_graph};

use image::{ColorType, ImageFormat};

use crate::columnar;
use crate::corpus::{self, build};
use crate::targets::{Input, PICTURES, Special, Target, Wrap};

/// The first inputs of a target. The folder is for files that are made by writers.
pub fn seeds(target: Target, folder: &Path) -> Vec<Input> {
    let mut seeds = of_corpus(target);
    let wrapped = |name: &str, bytes: Vec<u8>, wrap| Input {
        wrap,
        ..Input::plain(name, bytes)
    };
    let plain = |name: &'static str, texts: &[&str]| -> Vec<Input> {
        let input = |text: &&str| Input::plain(name, text.as_bytes().to_vec());
        texts.iter().map(input).collect()
    };
    let arrays = |ending| of_corpus(named(ending)).into_iter();
    match (target, target.word()) {
        (Target::Format(_), "npz") => {
            seeds.extend(arrays("npy").map(|one| wrapped("wrapped.npz", one.bytes, Wrap::Zip)));
        }
        (Target::Format(_), "mat") => {
            seeds.push(wrapped("wrapped.mat", build::good_array("X"), Wrap::Mat));
        }
        (Target::Format(_), "csv") => seeds.extend(plain("a.csv", TABLES)),
        (Target::Format(_), "jsonl") => {
            seeds.extend(plain("a.jsonl", LINES));
            seeds.extend(plain("a.json", ARRAYS));
        }
        (Target::Format(_), "parquet") => seeds.extend(columnar::parquet()),
        (Target::Format(_), "arrow") => seeds.extend(columnar::arrow()),
        (Target::Format(_), _) => {}
        (Target::Special(special), _) => match special {
            Special::Texts => seeds.extend(plain("a.txt", LETTERS)),
            Special::Envi => seeds.extend(plain("scene.hdr", SCENES)),
            Special::Pictures => seeds.extend(pictures()),
            Special::Labels | Special::Features => {
                seeds.extend(plain("beside.csv", BESIDE));
                let good = corpus::good().into_iter();
                seeds.extend(good.map(|(name, bytes)| Input::plain(name, bytes)));
            }
            Special::Rows => seeds.extend(arrays("npy")),
            Special::Packed => {
                let gzipped = |one: Input| wrapped("wrapped-idx3-ubyte.gz", one.bytes, Wrap::Gzip);
                seeds.extend(arrays("idx").map(gzipped));
                for text in TABLES {
                    let bytes = text.as_bytes().to_vec();
                    seeds.push(Input::plain("a.csv.gz", Wrap::Gzip.around(&bytes)));
                    seeds.push(Input::plain("a.csv.zst", Wrap::Zstd.around(&bytes)));
                    seeds.push(wrapped("wrapped.csv.zst", bytes, Wrap::Zstd));
                }
            }
            Special::Graph => seeds.push(wrapped("a.dialgraph", graph(folder), Wrap::Graph)),
            Special::Other => seeds.extend(plain("a", ARRAYS)),
        },
    }
    seeds
}

const TABLES: &[&str] = &[
    "id,a,b,label\nx,1,2.5,cat\n\"y,\"\"1\"\"\",-3,4e1,dog\nz,0,0,\n",
    "a;b;c\n1,5;2,25;x\n3,5;;y\n-1,0;7,125;x\n",
    "\u{feff}id\tname\tvalue\r\n1\t\"two\r\nlines\"\t3\r\n2\t\tNA\r\n3\tthree\tnan\r\n",
    "text,label\n\"A long text about something, with commas.\",a\n\"Another, quite different one.\",b\n",
    "1 2 3\n4 5 6\n7 8 9\n",
    "# a remark\nx1,x2\n1,2\n3,4\n",
];
const LINES: &[&str] = &[
    "{\"id\": \"a\", \"text\": \"one two\", \"label\": 1}\n{\"id\": \"b\", \"text\": \"\\u00e9\\n\", \"label\": null}\n",
    "{\"x\": [1, 2.5, -3e2], \"y\": true}\n{\"x\": [4, 5, 6], \"y\": false}\n",
    "{\"a\": {\"b\": [[], {}]}, \"c\": 1e3}\n\n{\"c\": 2}\n",
    "[1, 2, 3]\n\"text\"\n",
];
const ARRAYS: &[&str] = &[
    "[{\"id\": \"a\", \"x\": 1, \"y\": 2.5}, {\"id\": \"b\", \"x\": -3, \"y\": 4}, {\"id\": \"c\", \"x\": 0, \"y\": 1e2}]",
    "[{\"text\": \"one two three\", \"label\": \"p\"}, {\"text\": \"two three four\", \"label\": \"q\"}]",
];
const LETTERS: &[&str] = &[
    "one two three\ntwo three four\n\nfour, one!\r\n",
    "日本語 ÄÖ\nσαν\n\u{feff}\0\n",
];
const SCENES: &[&str] = &[
    "ENVI\ndescription = {\n a scene }\nsamples = 4\nlines = 6\nbands = 4\nheader offset = 0\nfile type = ENVI Standard\n\
     data type = 1\ninterleave = bsq\nbyte order = 0\nwavelength units = Nanometers\nwavelength = {400, 500.5,\n 600, 700}\n\
     bbl = {1, 1, 0, 1}\ndata ignore value = 0\n",
    "ENVI\nsamples = 2\nlines = 3\nbands = 2\ndata type = 4\ninterleave = bip\nbyte order = 1\nheader offset = 48\n",
    "ENVI\nsamples = 8\nlines = 12\nbands = 1\ndata type = 1\ninterleave = bil\nfile type = ENVI Classification\n\
     classes = 8\nclass names = {none, a, b, c, d, e, f, g}\nmap info = {UTM, 1, 1, 0, 0, 2, 2}\n",
];
const BESIDE: &[&str] = &[
    "id,label\na,cat\nb,dog\nc,cat\n",
    "cat\ndog\ncat\n",
    "0\n1\n-1\n",
    "id,x,y\nc,1,2\na,3,4\nb,5,6\n",
    "1,2\n3,4\n5,6\n",
];

/// The target of a word.
fn named(word: &str) -> Target {
    let mut all = Target::all().into_iter();
    all.find(|target| target.word() == word)
        .unwrap_or_else(|| panic!("{word}: no such format"))
}

/// The target that a file of the corpus belongs to: the format that its name ends as.
fn target_of(name: &str) -> Target {
    let name = name.to_lowercase();
    if name.ends_with(".gz") || name.ends_with(".zst") {
        return Target::Special(Special::Packed);
    }
    let ends = |target: &Target| match target {
        Target::Format(endings) => endings.iter().any(|ending| name.ends_with(ending)),
        Target::Special(_) => false,
    };
    let found = Target::all().into_iter().find(ends);
    found.unwrap_or(Target::Special(Special::Other))
}

fn of_corpus(target: Target) -> Vec<Input> {
    let good = corpus::good()
        .into_iter()
        .map(|(name, bytes)| (target_of(name), name, bytes));
    let bad = corpus::cases().into_iter().flat_map(|case| {
        let beside = case
            .beside
            .map(|(name, bytes)| (Target::Special(Special::Labels), name, bytes));
        [(target_of(case.file_name), case.file_name, case.bytes)]
            .into_iter()
            .chain(beside)
    });
    let own = good
        .chain(bad)
        .filter(|(of, _, bytes)| *of == target && bytes.len() <= 1 << 16);
    own.map(|(_, name, bytes)| Input::plain(name, bytes))
        .collect()
}

/// A graph of two groups of points.
fn graph(folder: &Path) -> Vec<u8> {
    let x: Vec<f64> = (0..40)
        .map(|i| f64::from(i * i % 37) + if i < 20 { 0.0 } else { 1000.0 })
        .collect();
    let control = Control::new();
    let features = Features::f64(&x, 40, 1).expect("finite features");
    let config = Config {
        k: 4,
        ..Config::paper()
    };
    let graph = engine::graph(features, &config, &control).expect("a graph");
    let features = Fingerprint::of(&Matrix {
        values: Buffer::F64(x),
        n: 40,
        dim: 1,
    });
    let (metric, weights) = (Metric::Euclidean, EdgeWeights::SelfTuning);
    let provenance = GraphProvenance {
        k: 4,
        weights,
        metric,
        search: "exact".into(),
        seed: 9,
        dim: 1,
        features,
    };
    let path = folder.join("seed.dialgraph");
    write_graph(&path, &graph, &provenance, &control).expect("the folder can be written to");
    let bytes = std::fs::read(&path).expect("the graph was written");
    std::fs::remove_file(&path).expect("the graph is there");
    bytes
}

/// Small pictures of every kind that we read.
fn pictures() -> Vec<Input> {
    let made = |colour: ColorType, bytes: &[u8], format: ImageFormat, ending: &str, wrap| {
        let mut file = Cursor::new(Vec::new());
        image::write_buffer_with_format(&mut file, bytes, 6, 5, colour, format).expect("a picture");
        Input {
            wrap,
            ..Input::plain(&format!("{PICTURES}/a.{ending}"), file.into_inner())
        }
    };
    let bytes: Vec<u8> = (0..6 * 5 * 8).map(|i| (i * 7 % 251) as u8).collect();
    let mut pictures = Vec::new();
    for (colour, width) in [(ColorType::L8, 1), (ColorType::Rgb8, 3)] {
        let bytes = &bytes[..30 * width];
        pictures.push(made(colour, bytes, ImageFormat::Jpeg, "jpg", Wrap::Plain));
        pictures.push(made(colour, bytes, ImageFormat::Png, "png", Wrap::Plain));
        pictures.push(made(colour, bytes, ImageFormat::Png, "png", Wrap::Png));
    }
    for (colour, width) in [
        (ColorType::La8, 2),
        (ColorType::Rgba8, 4),
        (ColorType::L16, 2),
        (ColorType::Rgba16, 8),
    ] {
        pictures.push(made(
            colour,
            &bytes[..30 * width],
            ImageFormat::Png,
            "png",
            Wrap::Png,
        ));
    }
    pictures
}
