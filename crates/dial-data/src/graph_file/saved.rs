//! A graph from a file of either kind: our own format, or a sparse matrix of SciPy.
//!
//! `dial graph --out FILE` writes both. Ours says which features it belongs to; of a sparse matrix only
//! the number of rows can be compared.

use std::io::Read;
use std::path::Path;

use dial::graph::packed::PackedGraph;
use dial::{Control, Graph};

use crate::arrays::array::{Array, ArrayData};
use crate::arrays::npz::{self, read_npz};
use crate::error::{Fault, Result};
use crate::graph_file::header::GRAPH_MAGIC;
use crate::graph_file::{GraphFile, GraphProvenance};
use crate::open::plain_file;
use crate::pool::fingerprint::Fingerprint;

/// The kinds of files that hold a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavedKind {
    /// Our own format.
    Packed,
    /// A sparse matrix of SciPy.
    Matrix,
}

/// A graph and, where the file says so, how it was made.
#[derive(Clone, Debug)]
pub struct SavedGraph {
    /// The graph.
    pub graph: PackedGraph,
    /// What the file says about it; nothing, if it is a sparse matrix.
    pub provenance: Option<GraphProvenance>,
    place: String,
}

impl SavedGraph {
    /// Reads a graph and checks all of it.
    ///
    /// # Errors
    /// What [`GraphFile::verify`] may fail with; a file that is neither kind, or not symmetric (I13).
    pub fn open(path: &Path, control: &Control) -> Result<SavedGraph> {
        if is_matrix(path) {
            return SavedGraph::matrix(path);
        }
        let file = GraphFile::open(path)?;
        file.verify(control)?;
        SavedGraph::of(path, &file)
    }

    /// The same, a graph of ours checked only for what could lead outside its arrays: it is mapped, and opens at once.
    ///
    /// # Errors
    /// As [`SavedGraph::open`].
    pub fn map(path: &Path) -> Result<SavedGraph> {
        if is_matrix(path) {
            return SavedGraph::matrix(path);
        }
        SavedGraph::of(path, &GraphFile::open(path)?)
    }

    fn of(path: &Path, file: &GraphFile) -> Result<SavedGraph> {
        let (graph, provenance) = (file.graph()?, Some(file.provenance().clone()));
        Ok(SavedGraph {
            graph,
            provenance,
            place: path.display().to_string(),
        })
    }

    fn matrix(path: &Path) -> Result<SavedGraph> {
        let place = path.display().to_string();
        let arrays = read_npz(path)?;
        let graph = graph_of(&arrays).map_err(|error| Fault::Core(error).at(&place))?;
        Ok(SavedGraph {
            graph: PackedGraph::new(&graph),
            provenance: None,
            place,
        })
    }

    /// The kind of graph that a file holds, by its content; none, if it holds something else or cannot be read.
    pub fn kind(path: &Path) -> Option<SavedKind> {
        let first = first_bytes(path)?;
        if first == GRAPH_MAGIC[..4] {
            return Some(SavedKind::Packed);
        }
        if first != ZIP_BEGINNING {
            return None;
        }
        let place = path.display().to_string();
        let bytes = crate::open::read_file(&place).ok()?;
        let arrays = npz::arrays(&bytes, &place).ok()?;
        let has = |name: &&str| arrays.iter().any(|array| array.name == **name);
        MATRIX_ARRAYS.iter().all(has).then_some(SavedKind::Matrix)
    }

    /// How it was made, if that is known.
    pub fn made(&self) -> Option<&GraphProvenance> {
        self.provenance
            .as_ref()
            .filter(|provenance| !provenance.is_given())
    }

    /// Refuses a pool that the graph is not of, as far as the file tells.
    ///
    /// # Errors
    /// Another number of rows, or features with another fingerprint (S14).
    pub fn check_features(&self, n: usize, features: &Fingerprint) -> Result<()> {
        let made_from = self
            .provenance
            .as_ref()
            .map(|provenance| provenance.features);
        let what = match made_from {
            _ if self.graph.n() != n => format!("{} items and not {n}", self.graph.n()),
            Some(made_from) if made_from != *features => format!("{made_from} and not {features}"),
            _ => return Ok(()),
        };
        Err(Fault::OtherFeatures(what).at(&self.place))
    }
}

/// Whether a file is to be read as a sparse matrix: by its first bytes, and by its name where they say nothing.
fn is_matrix(path: &Path) -> bool {
    match first_bytes(path) {
        Some(bytes) if bytes == ZIP_BEGINNING => true,
        Some(bytes) if bytes == GRAPH_MAGIC[..4] => false,
        _ => path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("npz")),
    }
}

/// How an archive of arrays begins.
const ZIP_BEGINNING: [u8; 4] = *b"PK\x03\x04";

/// The arrays of a sparse matrix in compressed rows, as scipy.sparse.save_npz names them.
const MATRIX_ARRAYS: [&str; 3] = ["indptr", "indices", "data"];

fn first_bytes(path: &Path) -> Option<[u8; 4]> {
    let mut bytes = [0; 4];
    plain_file(path).ok()?.0.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn graph_of(arrays: &[(String, Array)]) -> dial::Result<Graph> {
    let array = |name: &str| {
        let found = arrays.iter().find(|(other, _)| other == name);
        let missing = format!("it has no array {name:?}, as scipy.sparse.save_npz writes for CSR");
        found
            .map(|(_, array)| array)
            .ok_or(dial::Error::BadGraph(missing))
    };
    let starts = integers::<usize>(array("indptr")?)?;
    let columns = integers::<u32>(array("indices")?)?;
    let n = starts.len().saturating_sub(1) as i64;
    if array("shape").is_ok_and(|shape| shape.data != ArrayData::I64(vec![n, n])) {
        let what = "it does not have as many columns as rows";
        return Err(dial::Error::BadGraph(what.into()));
    }
    let weights: Vec<f64> = match &array("data")?.data {
        ArrayData::F64(values) => values.clone(),
        ArrayData::F32(values) => values.iter().map(|&value| f64::from(value)).collect(),
        ArrayData::I64(values) => values.iter().map(|&value| value as f64).collect(),
        ArrayData::U8(values) => values.iter().map(|&value| f64::from(value)).collect(),
        ArrayData::Text(_) => {
            return Err(dial::Error::BadGraph("its weights are not numbers".into()));
        }
    };
    Graph::from_csr(&starts, &columns, &weights)
}

fn integers<T: TryFrom<i64>>(array: &Array) -> dial::Result<Vec<T>> {
    let bad = || dial::Error::BadGraph("its row starts and columns are not indices".into());
    let ArrayData::I64(values) = &array.data else {
        return Err(bad());
    };
    values
        .iter()
        .map(|&value| T::try_from(value).map_err(|_| bad()))
        .collect()
}
