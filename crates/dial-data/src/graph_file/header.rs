//! The header of a graph file: 1024 bytes.
//!
//! ```text
//!    0  magic 89 44 49 41 4C 47 0D 0A      8  version u32 = 1           12  length of the header u32 = 1024
//!   16  n u64                             24  entries u64               32  components u64
//!   40  columns of the features u64       48  seed u64                  56  k u32, then zero u32
//!   64  weights, 80 metric, 96 search: words of 16 bytes, filled with zeros
//!  112  fingerprint of the features, 32 bytes
//!  144  for each of the 8 sections: offset u64, length u64, CRC-32 u32, zero u32
//!  336  zeros                           1020  CRC-32 of the 1020 bytes before
//! ```
//!
//! Later versions may use the zeros; they count up the version where this reader could not read them.

use std::ops::Range;

use dial::graph::packed::PackedGraph;

use super::GraphProvenance;
use super::section::{checksum, lengths};
use crate::arrays::bytes::Bytes;
use crate::error::{Fault, size_in_words};
use crate::open::sniff;
use crate::pool::fingerprint::Fingerprint;

/// Bytes of the header.
pub(super) const HEADER_BYTES: usize = 1024;
pub(super) const GRAPH_MAGIC: &[u8; 8] = b"\x89DIALG\r\n";
const GRAPH_VERSION: u32 = 1;
const SECTION_ALIGNMENT: u64 = 64;
const WORD_BYTES: usize = 16;

/// Where a section stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub offset: u64,
    pub length: u64,
    pub checksum: u32,
}

/// What the header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub n: u64,
    pub entries: u64,
    pub components: u64,
    pub provenance: GraphProvenance,
    pub sections: [Place; 8],
}

impl Header {
    pub fn new(graph: &PackedGraph, provenance: &GraphProvenance, sums: [u32; 8]) -> Header {
        assert!(
            provenance.search.len() <= WORD_BYTES,
            "the word {:?} is too long",
            provenance.search
        );
        let (n, entries) = (graph.n() as u64, graph.entries() as u64);
        let components = graph.component_sizes().len() as u64;
        let sections = layout(n, entries, components, sums).expect("a graph in memory fits a file");
        Header {
            n,
            entries,
            components,
            provenance: provenance.clone(),
            sections,
        }
    }

    /// The sections as ranges of the file.
    pub fn ranges(&self) -> [Range<usize>; 8] {
        self.sections
            .map(|place| place.offset as usize..(place.offset + place.length) as usize)
    }

    pub fn encode(&self) -> Vec<u8> {
        let provenance = &self.provenance;
        let mut bytes = GRAPH_MAGIC.to_vec();
        bytes.extend(
            [GRAPH_VERSION, HEADER_BYTES as u32]
                .map(u32::to_le_bytes)
                .concat(),
        );
        let sizes = [
            self.n,
            self.entries,
            self.components,
            provenance.dim as u64,
            provenance.seed,
            provenance.k as u64,
        ];
        bytes.extend(sizes.map(u64::to_le_bytes).concat());
        for word in [
            provenance.weights.word(),
            provenance.metric.word(),
            &provenance.search,
        ] {
            let end = bytes.len() + WORD_BYTES;
            bytes.extend(word.as_bytes());
            bytes.resize(end, 0);
        }
        bytes.extend(provenance.features.0);
        for place in &self.sections {
            bytes.extend(
                [place.offset, place.length, u64::from(place.checksum)]
                    .map(u64::to_le_bytes)
                    .concat(),
            );
        }
        bytes.resize(HEADER_BYTES - 4, 0);
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes
    }

    /// Reads the header of a whole file and checks it against the file's length.
    pub fn decode(file: &[u8]) -> Result<Header, Fault> {
        if !file.starts_with(GRAPH_MAGIC) {
            return Err(match sniff::not_a("a graph of dial", file) {
                Fault::Format { what, .. } => {
                    Fault::format(what, "Give a file made by dial graph --out x.dialgraph.")
                }
                other => other,
            });
        }
        let cut = || {
            Fault::Size(format!(
                "the file ends inside its header ({})",
                size_in_words(file.len() as u64)
            ))
        };
        let mut from = Bytes::new(file, GRAPH_MAGIC.len(), false);
        let version = from.u32().ok_or_else(cut)?;
        if version > GRAPH_VERSION {
            return Err(Fault::Newer {
                found: version,
                known: GRAPH_VERSION,
            });
        }
        let header = file.get(..HEADER_BYTES).ok_or_else(cut)?;
        let damaged = || Fault::Damaged("its header".into());
        let (body, sum) = header.split_last_chunk::<4>().ok_or_else(damaged)?;
        if checksum(body) != u32::from_le_bytes(*sum) {
            return Err(damaged());
        }
        let header = fields(body).ok_or_else(damaged)?;
        header.check_length(file.len() as u64)?;
        Ok(header)
    }

    fn check_length(&self, held: u64) -> Result<(), Fault> {
        let end = self
            .sections
            .iter()
            .map(|place| place.offset + place.length)
            .max()
            .unwrap_or(0);
        if end == held {
            return Ok(());
        }
        let [says, holds] = [end, held].map(size_in_words);
        Err(Fault::Size(format!(
            "header says {says} ({end} bytes) but the file holds {holds} ({held} bytes)"
        )))
    }
}

/// Sections one after the other, each aligned; none if that is more than there can be.
fn layout(n: u64, entries: u64, components: u64, sums: [u32; 8]) -> Option<[Place; 8]> {
    let mut at = HEADER_BYTES as u64;
    let mut places = [Place {
        offset: 0,
        length: 0,
        checksum: 0,
    }; 8];
    for ((place, length), checksum) in places
        .iter_mut()
        .zip(lengths(n, entries, components)?)
        .zip(sums)
    {
        *place = Place {
            offset: at.checked_next_multiple_of(SECTION_ALIGNMENT)?,
            length,
            checksum,
        };
        at = place.offset.checked_add(length)?;
    }
    usize::try_from(at).is_ok().then_some(places)
}

/// The fields of a header whose checksum is right; none if they contradict each other.
fn fields(header: &[u8]) -> Option<Header> {
    let mut from = Bytes::new(header, GRAPH_MAGIC.len(), false);
    let (version, length) = (from.u32()?, from.u32()?);
    let (n, entries, components) = (from.u64()?, from.u64()?, from.u64()?);
    let (dim, seed, k) = (from.u64()?, from.u64()?, from.u64()?);
    let mut word = || {
        Some(
            std::str::from_utf8(from.take(WORD_BYTES)?)
                .ok()?
                .trim_end_matches('\0')
                .to_string(),
        )
    };
    let (weights, metric, search) = (word()?, word()?, word()?);
    let features = Fingerprint(from.take(32)?.try_into().ok()?);
    let mut sections = [Place {
        offset: 0,
        length: 0,
        checksum: 0,
    }; 8];
    for place in &mut sections {
        *place = Place {
            offset: from.u64()?,
            length: from.u64()?,
            checksum: u32::try_from(from.u64()?).ok()?,
        };
    }
    let (weights, metric) = (weights.parse().ok()?, metric.parse().ok()?);
    let (dim, k) = (usize::try_from(dim).ok()?, usize::try_from(k).ok()?);
    let provenance = GraphProvenance {
        k,
        weights,
        metric,
        search,
        seed,
        dim,
        features,
    };
    // Sections have one possible place: no other is read.
    let expected = layout(n, entries, components, sections.map(|place| place.checksum))?;
    let fits = version == GRAPH_VERSION
        && length as usize == HEADER_BYTES
        && u32::try_from(n).is_ok()
        && expected == sections;
    fits.then_some(Header {
        n,
        entries,
        components,
        provenance,
        sections,
    })
}
