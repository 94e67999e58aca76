//! The sections of a graph file: their names, their bytes, and arrays that stay in the file.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::{AnyBitPattern, cast_slice, try_cast_slice};
use dial::graph::packed::{Parts, Slab};
use flate2::Crc;
use rayon::prelude::*;

use super::mapped::Mapped;
use crate::error::Fault;

/// The sections in the order of the file.
pub(super) const SECTIONS: [&str; 8] = [
    "starts",
    "neighbours",
    "weights",
    "degrees",
    "order",
    "rank",
    "component",
    "component sizes",
];

/// Bytes of which one thread makes the checksum.
const CHECKSUM_BYTES: usize = 4 << 20;

/// The bytes of the arrays, in the order of [`SECTIONS`].
pub(super) fn bytes_of(parts: &Parts) -> [&[u8]; 8] {
    [
        cast_slice(&parts.starts),
        cast_slice(&parts.neighbours),
        cast_slice(&parts.weights),
        cast_slice(&parts.degrees),
        cast_slice(&parts.order),
        cast_slice(&parts.rank),
        cast_slice(&parts.component),
        cast_slice(&parts.component_sizes),
    ]
}

/// The bytes a section must have, in the order of [`SECTIONS`]; none if that is more than there can be.
pub(super) fn lengths(n: u64, entries: u64, components: u64) -> Option<[u64; 8]> {
    let (by_node, by_entry) = (n.checked_mul(8)?, entries.checked_mul(4)?);
    let nodes = by_node / 2;
    let sizes = components.checked_mul(8)?;
    Some([
        by_node.checked_add(8)?,
        by_entry,
        by_entry,
        by_node,
        nodes,
        nodes,
        nodes,
        sizes,
    ])
}

/// The CRC-32 of bytes.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let of = |piece: &[u8]| {
        let mut sum = Crc::new();
        sum.update(piece);
        sum
    };
    let sums: Vec<Crc> = bytes.par_chunks(CHECKSUM_BYTES).map(of).collect();
    let mut all = Crc::new();
    sums.iter().for_each(|sum| all.combine(sum));
    all.sum()
}

/// Numbers in the file are little-endian, and used where they stand.
pub(super) fn little_endian() -> Result<(), Fault> {
    match cfg!(target_endian = "little") {
        true => Ok(()),
        false => Err(Fault::Setting(
            "graph files need a little-endian machine.".into(),
        )),
    }
}

/// An array in a mapped file.
struct Section<T> {
    map: Arc<Mapped>,
    range: Range<usize>,
    kind: PhantomData<fn() -> T>,
}

impl<T: AnyBitPattern> AsRef<[T]> for Section<T> {
    fn as_ref(&self) -> &[T] {
        // The header was checked: the range is inside and aligned. If it were not, there would be no values.
        let bytes = (*self.map)
            .as_ref()
            .get(self.range.clone())
            .unwrap_or_default();
        try_cast_slice(bytes).unwrap_or_default()
    }
}

/// The array at a range of the file.
pub(super) fn slab<T: AnyBitPattern + Send + Sync>(
    map: &Arc<Mapped>,
    range: Range<usize>,
) -> Slab<T> {
    Slab::new(Section {
        map: Arc::clone(map),
        range,
        kind: PhantomData,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_of_pieces_are_those_of_the_whole() {
        let bytes: Vec<u8> = (0..CHECKSUM_BYTES * 2 + 17)
            .map(|i| (i * 7 % 251) as u8)
            .collect();
        let mut whole = Crc::new();
        whole.update(&bytes);
        assert_eq!(checksum(&bytes), whole.sum());
        // The check value of CRC-32 (IEEE).
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
        assert_eq!(checksum(b""), 0);
    }

    #[test]
    fn lengths_do_not_overflow() {
        assert_eq!(lengths(2, 6, 1), Some([24, 24, 24, 16, 8, 8, 8, 8]));
        assert_eq!(lengths(u64::MAX / 4, 6, 1), None);
        assert_eq!(lengths(2, u64::MAX, 1), None);
    }
}
