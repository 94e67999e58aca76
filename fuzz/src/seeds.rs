//! What fuzzing starts from: the good and the bad files of the tests of `dial-data`, and a few built here.

use std::path::Path;

use dial::{CompactGraph, Control, Features, Kernel, Lists, Metric, Neighbours, ZeroVectors};
use dial_data::{Buffer, Fingerprint, Matrix, Recipe, write_graph};

use crate::corpus::{self, build};
use crate::targets::{Input, Target, Wrap};

/// The first inputs of a target. The folder is for files that are made by writers.
pub fn seeds(target: Target, folder: &Path) -> Vec<Input> {
    let mut seeds = of_corpus(target);
    let wrapped = |name: &str, bytes: Vec<u8>, wrap| Input { wrap, ..Input::plain(name, bytes) };
    match target {
        Target::Npz => {
            let arrays = of_corpus(Target::Npy);
            seeds.extend(arrays.into_iter().map(|array| wrapped("wrapped.npz", array.bytes, Wrap::Zip)));
        }
        Target::Idx => {
            let plain = seeds.clone();
            seeds.extend(plain.into_iter().map(|seed| wrapped("wrapped-idx3-ubyte.gz", seed.bytes, Wrap::Gzip)));
        }
        Target::Mat => seeds.push(wrapped("wrapped.mat", build::good_array("X"), Wrap::Mat)),
        Target::Table => seeds.extend(TABLES.iter().map(|text| Input::plain("a.csv", text.as_bytes().to_vec()))),
        Target::Jsonl => seeds.extend(LINES.iter().map(|text| Input::plain("a.jsonl", text.as_bytes().to_vec()))),
        Target::Labels | Target::Features => {
            seeds.extend(BESIDE.iter().map(|text| Input::plain("beside.csv", text.as_bytes().to_vec())));
            seeds.extend(corpus::good().into_iter().map(|(name, bytes)| Input::plain(name, bytes)));
        }
        Target::Rows => seeds.extend(of_corpus(Target::Npy)),
        Target::Graph => seeds.push(wrapped("a.dialgraph", graph(folder), Wrap::Graph)),
        Target::Npy | Target::Other => {}
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
const BESIDE: &[&str] = &[
    "id,label\na,cat\nb,dog\nc,cat\n",
    "cat\ndog\ncat\n",
    "0\n1\n-1\n",
    "id,x,y\nc,1,2\na,3,4\nb,5,6\n",
    "1,2\n3,4\n5,6\n",
];

/// The target that a file of the corpus belongs to.
fn target_of(name: &str) -> Target {
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.to_lowercase().ends_with(ending));
    match () {
        _ if ends(&[".npy"]) => Target::Npy,
        _ if ends(&[".npz"]) => Target::Npz,
        _ if ends(&["ubyte", ".idx", ".gz", ".idx1", ".idx3"]) => Target::Idx,
        _ if ends(&[".mat"]) => Target::Mat,
        _ if ends(&[".csv", ".tsv", ".txt"]) => Target::Table,
        _ if ends(&[".jsonl", ".ndjson"]) => Target::Jsonl,
        _ => Target::Other,
    }
}

fn of_corpus(target: Target) -> Vec<Input> {
    let good = corpus::good().into_iter().map(|(name, bytes)| (target_of(name), name, bytes));
    let bad = corpus::cases().into_iter().flat_map(|case| {
        let beside = case.beside.map(|(name, bytes)| (Target::Labels, name, bytes));
        [(target_of(case.file_name), case.file_name, case.bytes)].into_iter().chain(beside)
    });
    let own = good.chain(bad).filter(|(of, _, bytes)| *of == target && bytes.len() <= 1 << 16);
    own.map(|(_, name, bytes)| Input::plain(name, bytes)).collect()
}

/// A graph of two groups of points.
fn graph(folder: &Path) -> Vec<u8> {
    let x: Vec<f64> = (0..40).map(|i| f64::from(i * i % 37) + if i < 20 { 0.0 } else { 1000.0 }).collect();
    let control = Control::new();
    let features = Features::f64(&x, 40, 1).expect("finite features");
    let found = Neighbours::exact(features, 4, Metric::Euclidean, ZeroVectors::Error, &control).expect("a search");
    let graph = CompactGraph::assemble(&Lists::from(&found), Kernel::SelfTuning, None, &control).expect("a graph");
    let features = Fingerprint::of(&Matrix { values: Buffer::F64(x), n: 40, dim: 1 });
    let (metric, kernel) = (Metric::Euclidean, Kernel::SelfTuning);
    let recipe = Recipe { k: 4, kernel, metric, search: "exact".into(), seed: 9, dim: 1, features };
    let path = folder.join("seed.dialgraph");
    write_graph(&path, &graph, &recipe, &control).expect("the folder can be written to");
    let bytes = std::fs::read(&path).expect("the graph was written");
    std::fs::remove_file(&path).expect("the graph is there");
    bytes
}
