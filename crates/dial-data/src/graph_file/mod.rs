//! The graph of a large pool in our own format, which opens by mapping the file into memory.
//!
//! ```text
//! header    1024 bytes: magic, version, sizes, the provenance, a table of sections, a checksum (see `header`)
//! sections  starts u64, neighbours u32, weights f32, degrees f64, order u32, rank u32, component u32, sizes u64;
//!           little-endian, each at a multiple of 64 bytes, with a CRC-32
//! ```
//!
//! Three levels of trust. [`GraphFile::open`] checks the header and the length of the file: instant at any size.
//! [`GraphFile::graph`] makes one pass over the indices, so that none leads outside its array: no bytes can make a later
//! look-up panic (a third of a second for 10 million nodes that are in the cache of the system). [`GraphFile::verify`]
//! reads everything: checksums, symmetry, degrees, components. Weights that a broken disk has changed are found by that
//! last one only.
//!
//! A graph belongs to the features it was made from: [`SavedGraph::check_features`](crate::SavedGraph::check_features)
//! compares fingerprints.

pub mod row_file;
pub mod saved;

mod header;
mod mapped;
mod section;

use std::path::Path;
use std::sync::Arc;

use dial::graph::EdgeWeights;
use dial::graph::packed::PackedGraph;
use dial::graph::packed::Parts;
use dial::{Control, Metric};

use crate::error::{Fault, Result};
use crate::pool::fingerprint::Fingerprint;
use crate::write::write_watched;
use header::{HEADER_BYTES, Header};
use mapped::Mapped;
use section::{SECTIONS, checksum, slab};

/// Bytes written between two reports of progress.
const BYTES_PER_REPORT: usize = 16 << 20;

/// How a graph was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphProvenance {
    /// Neighbours of each item.
    pub k: usize,
    /// How distances became weights.
    pub weights: EdgeWeights,
    /// How distances were measured.
    pub metric: Metric,
    /// How neighbours were searched for, in a word of at most 16 letters; [`GIVEN`] for a graph that was given to a project:
    /// then nobody knows `k` and the weights.
    pub search: String,
    /// Seed of the search, if it has one.
    pub seed: u64,
    /// Columns of the features.
    pub dim: usize,
    /// The features.
    pub features: Fingerprint,
}

/// The word for the search of a graph that was given.
pub const GIVEN: &str = "given";

impl GraphProvenance {
    /// Whether the graph was given, and nobody knows how it was made.
    pub fn is_given(&self) -> bool {
        self.search == GIVEN
    }
}

/// Writes a graph, whole or not at all.
///
/// # Panics
/// If the word for the search is longer than 16 bytes.
pub fn write_graph(
    path: &Path,
    graph: &PackedGraph,
    provenance: &GraphProvenance,
    control: &Control,
) -> Result<()> {
    section::little_endian().map_err(|fault| fault.at(path.display().to_string()))?;
    let sections = section::bytes_of(graph.parts());
    let sums = sections.map(checksum);
    let header = Header::new(graph, provenance, sums);
    let pieces = sections
        .iter()
        .map(|bytes| bytes.len().div_ceil(BYTES_PER_REPORT))
        .sum();
    write_watched(path, ("writing the graph", pieces), control, |out| {
        out.put(&header.encode(), 0)?;
        let mut at = HEADER_BYTES as u64;
        for (bytes, place) in sections.iter().zip(&header.sections) {
            out.put(&[0; 64][..(place.offset - at) as usize], 0)?;
            for piece in bytes.chunks(BYTES_PER_REPORT) {
                out.put(piece, 1)?;
            }
            at = place.offset + place.length;
        }
        Ok(())
    })
}

/// A file of a graph, open.
#[derive(Debug)]
pub struct GraphFile {
    place: String,
    map: Arc<Mapped>,
    header: Header,
}

impl GraphFile {
    /// Opens a file and checks its header and its length.
    ///
    /// # Errors
    /// Not a graph of ours (I5), of a newer version (S12), shorter or longer than its header says (I2), with a damaged
    /// header (S9), or not readable (S5).
    pub fn open(path: impl AsRef<Path>) -> Result<GraphFile> {
        let place = path.as_ref().display().to_string();
        let here = |fault: Fault| fault.at(&place);
        section::little_endian().map_err(here)?;
        let map = Mapped::open(path.as_ref()).map_err(here)?;
        let header = Header::decode(map.as_ref()).map_err(here)?;
        Ok(GraphFile {
            map: Arc::new(map),
            header,
            place,
        })
    }

    /// How the graph was made.
    pub fn provenance(&self) -> &GraphProvenance {
        &self.header.provenance
    }

    /// Number of nodes.
    pub fn n(&self) -> usize {
        self.header.n as usize
    }

    /// Number of entries: twice the number of edges.
    pub fn entries(&self) -> usize {
        self.header.entries as usize
    }

    /// The graph, its arrays in the file. Every index is checked, once.
    ///
    /// # Errors
    /// Arrays that do not fit together (I13).
    pub fn graph(&self) -> Result<PackedGraph> {
        let [
            starts,
            neighbours,
            weights,
            degrees,
            order,
            rank,
            component,
            sizes,
        ] = self.header.ranges();
        let map = &self.map;
        let parts = Parts {
            starts: slab(map, starts),
            neighbours: slab(map, neighbours),
            weights: slab(map, weights),
            degrees: slab(map, degrees),
            order: slab(map, order),
            rank: slab(map, rank),
            component: slab(map, component),
            component_sizes: slab(map, sizes),
        };
        PackedGraph::from_parts(parts).map_err(|error| Fault::Core(error).at(&self.place))
    }

    /// Reads and checks everything: the checksums, then what they cannot tell.
    ///
    /// # Errors
    /// A damaged section (S9), a graph that is not sound (I13), cancelled.
    pub fn verify(&self, control: &Control) -> Result<()> {
        let here = |fault: Fault| fault.at(&self.place);
        control.start("verifying checksums", SECTIONS.len());
        for ((name, section), range) in SECTIONS
            .iter()
            .zip(&self.header.sections)
            .zip(self.header.ranges())
        {
            let bytes = (*self.map).as_ref().get(range).unwrap_or_default();
            if checksum(bytes) != section.checksum {
                return Err(here(Fault::Damaged(format!("the section {name:?}"))));
            }
            control
                .advance(1)
                .map_err(|stopped| Fault::Core(stopped).at(""))?;
        }
        control.finish();
        self.graph()?
            .verify(control)
            .map_err(|error| here(Fault::Core(error)))
    }
}

#[cfg(test)]
mod tests;
