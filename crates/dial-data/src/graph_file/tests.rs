//! Graph files: what is written comes back, and nothing that can happen to a file makes a reader panic.

use std::fs;
use std::path::PathBuf;

use dial::{Config, Control, Features, engine};
use proptest::prelude::*;

use super::*;
use crate::graph_file::saved::SavedGraph;
use crate::pool::matrix::{Buffer, Matrix};

/// A graph of two groups of points, its provenance, and a folder to put it in.
struct Case {
    graph: PackedGraph,
    provenance: GraphProvenance,
    folder: tempfile::TempDir,
}

impl Case {
    fn new() -> Case {
        let x: Vec<f64> = (0..60)
            .map(|i| f64::from(i * i % 37) + if i < 30 { 0.0 } else { 1000.0 })
            .collect();
        let features = Features::f64(&x, 60, 1).unwrap();
        let control = Control::new();
        let config = Config {
            k: 4,
            ..Config::paper()
        };
        let graph = engine::graph(features, &config, &control).unwrap();
        let features = Fingerprint::of(&Matrix {
            values: Buffer::F64(x),
            n: 60,
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
        Case {
            graph,
            provenance,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a.dialgraph")
    }

    fn write(&self) -> Vec<u8> {
        write_graph(&self.path(), &self.graph, &self.provenance, &Control::new()).unwrap();
        fs::read(self.path()).unwrap()
    }

    /// The code with which these bytes are refused, if they are.
    fn code(&self, bytes: &[u8]) -> Option<&'static str> {
        fs::write(self.path(), bytes).unwrap();
        let verify = GraphFile::open(self.path()).and_then(|file| file.verify(&Control::new()));
        verify.err().map(|error| error.code())
    }
}

fn same(a: &PackedGraph, b: &PackedGraph) -> bool {
    section::bytes_of(a.parts()) == section::bytes_of(b.parts())
}

#[test]
fn a_graph_comes_back_as_it_was() {
    let case = Case::new();
    let bytes = case.write();
    let file = GraphFile::open(case.path()).unwrap();
    assert_eq!(
        (file.n(), file.entries(), file.provenance()),
        (60, case.graph.entries(), &case.provenance)
    );
    file.verify(&Control::new()).unwrap();
    let graph = file.graph().unwrap();
    // The map outlives the file object, and a new file of that name does not change it.
    drop(file);
    case.write();
    assert!(same(&graph, &case.graph));
    assert_eq!(graph.to_graph(), case.graph.to_graph());
    assert_eq!(
        bytes,
        fs::read(case.path()).unwrap(),
        "the same graph gives the same bytes"
    );
    assert_eq!(fs::read_dir(case.folder.path()).unwrap().count(), 1);
}

#[test]
fn no_flipped_byte_makes_an_unverified_graph_panic() {
    let case = Case::new();
    let bytes = case.write();
    for at in (0..bytes.len()).step_by(3) {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        fs::write(case.path(), &bytes).unwrap();
        if let Ok(graph) = GraphFile::open(case.path()).and_then(|file| file.graph()) {
            let _ = graph.to_graph();
        }
    }
}

#[test]
fn other_features_are_refused() {
    let case = Case::new();
    case.write();
    let file = SavedGraph::map(&case.path()).unwrap();
    file.check_features(60, &case.provenance.features).unwrap();
    let other = Fingerprint([7; 32]);
    let error = file.check_features(60, &other).unwrap_err();
    assert_eq!((error.code(), error.kind().exit_code()), ("S14", 6));
    assert_eq!(
        file.check_features(59, &case.provenance.features)
            .unwrap_err()
            .code(),
        "S14"
    );
}

#[test]
fn files_that_are_not_ours_or_not_whole() {
    let case = Case::new();
    let bytes = case.write();
    assert_eq!(case.code(b""), Some("I5"));
    assert_eq!(case.code(b"\x93NUMPY..."), Some("I5"));
    assert_eq!(case.code(&bytes[1..]), Some("I5"));
    for length in [8, 100, 1023, 1024, 1025, bytes.len() - 1] {
        assert_eq!(case.code(&bytes[..length]), Some("I2"), "{length} bytes");
    }
    assert_eq!(case.code(&[&bytes[..], &[0]].concat()), Some("I2"));
    let mut newer = bytes.clone();
    newer[8] = 2;
    let error = {
        fs::write(case.path(), &newer).unwrap();
        GraphFile::open(case.path()).unwrap_err()
    };
    assert_eq!((error.code(), error.kind().exit_code()), ("S12", 5));
    assert!(error.to_string().contains("version 2"), "{error}");
    assert_eq!(
        GraphFile::open(case.folder.path().join("none"))
            .unwrap_err()
            .code(),
        "I5"
    );
    assert_eq!(
        GraphFile::open(case.folder.path()).unwrap_err().code(),
        "S5"
    );
    assert_eq!(case.code(&bytes), None);
}

#[test]
fn a_header_that_contradicts_itself_with_a_right_checksum() {
    let case = Case::new();
    let bytes = case.write();
    let with = |at: usize, value: u64| {
        let mut bytes = bytes.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        let sum = section::checksum(&bytes[..HEADER_BYTES - 4]);
        bytes[HEADER_BYTES - 4..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
        case.code(&bytes)
    };
    // Sizes, offsets and lengths: none of these may be believed.
    for at in [16, 24, 32, 144, 152, 168, 176] {
        for value in [0, 1, 61, 1 << 32, u64::MAX, u64::MAX / 8] {
            assert!(with(at, value).is_some(), "{value} at {at}");
        }
    }
}

#[test]
fn stopping_writes_nothing() {
    let case = Case::new();
    let control = Control::new();
    control.cancel();
    assert_eq!(
        write_graph(&case.path(), &case.graph, &case.provenance, &control)
            .unwrap_err()
            .code(),
        "C12"
    );
    assert_eq!(fs::read_dir(case.folder.path()).unwrap().count(), 0);
}

proptest! {
    #[test]
    fn every_flipped_bit_is_found_and_none_makes_a_reader_panic(at in 0.0..1.0f64, bit in 0u32..8) {
        let case = Case::new();
        let mut bytes = case.write();
        let at = (at * bytes.len() as f64) as usize;
        bytes[at] ^= 1 << bit;
        fs::write(case.path(), &bytes).unwrap();
        let opened = GraphFile::open(case.path());
        let found = opened.as_ref().map(|file| file.verify(&Control::new()).is_err()).unwrap_or(true);
        // Only the zeros between sections belong to no section.
        let gap = header::Header::decode(&case.write()).unwrap().ranges().iter().all(|range| !range.contains(&at));
        prop_assert!(found || (gap && at >= HEADER_BYTES));
        // Whoever uses the graph without verifying it is safe all the same.
        if let Ok(graph) = opened.and_then(|file| file.graph()) {
            let _ = graph.to_graph();
        }
    }
}
