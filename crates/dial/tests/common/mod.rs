//! Arrays of npz files for the golden tests, and the real data where it is at hand.

#![allow(dead_code)] // each test binary uses its part

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dial::graph::EdgeWeights;
use dial::graph::build::Lists;
use dial::graph::packed::PackedGraph;
use dial::knn::Neighbours;
use dial::knn::metric_space::ZeroVectors;
use dial::{Control, Features, Graph, Metric, NodeId};
use dial_data::{Array, ArrayData};

/// The arrays of an npz file by name.
pub struct Arrays {
    place: PathBuf,
    arrays: HashMap<String, Array>,
}

impl Arrays {
    pub fn read(place: PathBuf) -> Arrays {
        let arrays = dial_data::read_npz(&place)
            .unwrap_or_else(|error| panic!("{}: {error}", place.display()));
        Arrays {
            place,
            arrays: arrays.into_iter().collect(),
        }
    }

    /// A file of fixtures/golden.
    pub fn golden(name: &str) -> Arrays {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/golden");
        Arrays::read(folder.join(format!("{name}.npz")))
    }

    pub fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    pub fn array(&self, name: &str) -> &Array {
        self.arrays
            .get(name)
            .unwrap_or_else(|| panic!("{}: no array {name}", self.place.display()))
    }

    pub fn floats(&self, name: &str) -> Vec<f64> {
        match &self.array(name).data {
            ArrayData::F64(values) => values.clone(),
            ArrayData::F32(values) => values.iter().map(|&v| f64::from(v)).collect(),
            ArrayData::I64(values) => values.iter().map(|&v| v as f64).collect(),
            ArrayData::U8(values) => values.iter().map(|&v| f64::from(v)).collect(),
            ArrayData::Text(_) => panic!("{name} is text"),
        }
    }

    pub fn f32s(&self, name: &str) -> Vec<f32> {
        match &self.array(name).data {
            ArrayData::F32(values) => values.clone(),
            other => panic!("{name} is not f32: {} values", other.len()),
        }
    }

    pub fn float(&self, name: &str) -> f64 {
        self.floats(name)[0]
    }

    pub fn integers(&self, name: &str) -> Vec<usize> {
        self.floats(name).iter().map(|&v| v as usize).collect()
    }

    pub fn nodes(&self, name: &str) -> Vec<NodeId> {
        self.integers(name)
            .into_iter()
            .map(|v| NodeId(v as u32))
            .collect()
    }

    /// The rows of a matrix.
    pub fn rows(&self, name: &str) -> Vec<Vec<f64>> {
        let columns = self.array(name).shape[1];
        self.floats(name)
            .chunks(columns)
            .map(<[f64]>::to_vec)
            .collect()
    }
}

/// A dense weight matrix as a graph.
pub fn graph_of(weights: &[Vec<f64>]) -> Arc<Graph> {
    let n = weights.len();
    let mut edges = Vec::new();
    for (i, row) in weights.iter().enumerate() {
        for (j, &weight) in row.iter().enumerate().skip(i + 1) {
            if weight > 0.0 {
                edges.push((i as u32, j as u32, weight));
            }
        }
    }
    Arc::new(Graph::from_edges(n, &edges).unwrap())
}

pub fn graph(features: Features<'_>, k: usize, metric: Metric, weights: EdgeWeights) -> Graph {
    let found =
        Neighbours::exact(features, k, metric, ZeroVectors::Error, &Control::new()).unwrap();
    PackedGraph::assemble(&Lists::from(&found), weights, None, &Control::new())
        .unwrap()
        .to_graph()
}

/// The weights of a graph as a dense matrix.
pub fn dense(graph: &Graph) -> Vec<Vec<f64>> {
    let mut weights = vec![vec![0.0; graph.n()]; graph.n()];
    for (i, row) in weights.iter_mut().enumerate() {
        let (neighbours, values) = graph.row(NodeId(i as u32));
        for (&j, &value) in neighbours.iter().zip(values) {
            row[j as usize] = value;
        }
    }
    weights
}

pub fn assert_close(what: &str, got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{what}: lengths");
    for (place, (got, want)) in got.iter().zip(want).enumerate() {
        assert!(
            (got - want).abs() <= tolerance,
            "{what}: {got} at {place}, wanted {want}"
        );
    }
}

/// The folder of real data, from DIAL_DATA; tests that need it say that they skip where it is missing.
pub fn real_data() -> Option<PathBuf> {
    let folder = std::env::var_os("DIAL_DATA")
        .map(PathBuf::from)
        .filter(|folder| folder.join("features").is_dir());
    if folder.is_none() {
        eprintln!("SKIPPED: no real data (set DIAL_DATA to its folder)");
    }
    folder
}
