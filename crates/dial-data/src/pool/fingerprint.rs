//! Identifies the features of a pool: a hash of their values as they are used.
//!
//! ```text
//! SHA-256( kind, n, d, SHA-256(block 0), SHA-256(block 1), ... )      blocks of 4 MiB of the values, little-endian, by rows
//! ```
//!
//! Of the values and not of the file: rows left out or columns standardised make other features. Blocks, so that all
//! cores can hash; the same for a matrix in memory and for a file read by position.

use std::fmt;

use dial::features::Values;
use dial::graph::packed::PackedGraph;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::pool::matrix::{Buffer, Matrix};

/// Bytes hashed at once.
pub(crate) const HASHED_BYTES: usize = 4 << 20;

/// The fingerprint of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// The fingerprint of a matrix.
    pub fn of(matrix: &Matrix) -> Fingerprint {
        let values = match &matrix.values {
            Buffer::F32(values) => Values::F32(values),
            Buffer::F64(values) => Values::F64(values),
        };
        Fingerprint::of_rows(values, matrix.n, matrix.dim)
    }

    /// The fingerprint of n rows of `dim` values, wherever they lie.
    pub fn of_rows(values: Values<'_>, n: usize, dim: usize) -> Fingerprint {
        let hashes = match values {
            Values::F32(values) => values
                .par_chunks(HASHED_BYTES / 4)
                .map(|block| of_values(block, f32::to_le_bytes))
                .collect(),
            Values::F64(values) => values
                .par_chunks(HASHED_BYTES / 8)
                .map(|block| of_values(block, f64::to_le_bytes))
                .collect(),
        };
        Fingerprint::of_blocks(matches!(values, Values::F64(_)), n, dim, hashes)
    }

    /// The fingerprint of a graph: its nodes, edges and weights.
    pub fn of_graph(graph: &PackedGraph) -> Fingerprint {
        let parts = graph.parts();
        let mut all = Sha256::new();
        all.update(b"graph");
        all.update(of_values(&parts.starts, u64::to_le_bytes));
        all.update(of_values(&parts.order, u32::to_le_bytes));
        all.update(of_values(&parts.neighbours, u32::to_le_bytes));
        all.update(of_values(&parts.weights, f32::to_le_bytes));
        Fingerprint(all.finalize().into())
    }

    /// From the hashes of the blocks, in order.
    pub(crate) fn of_blocks(
        wide: bool,
        n: usize,
        dim: usize,
        hashes: Vec<[u8; 32]>,
    ) -> Fingerprint {
        let mut all = Sha256::new();
        all.update(if wide { b"f64" } else { b"f32" });
        all.update((n as u64).to_le_bytes());
        all.update((dim as u64).to_le_bytes());
        hashes.iter().for_each(|hash| all.update(hash));
        Fingerprint(all.finalize().into())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

fn of_values<T: bytemuck::NoUninit, const N: usize>(
    values: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> [u8; 32] {
    if cfg!(target_endian = "little") {
        return Sha256::digest(bytemuck::cast_slice::<T, u8>(values)).into();
    }
    let mut hash = Sha256::new();
    values.iter().for_each(|&value| hash.update(bytes(value)));
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_shape_and_precision_all_count() {
        let make = |values: Vec<f32>, dim: usize| Matrix {
            n: values.len() / dim,
            dim,
            values: Buffer::F32(values),
        };
        let base = Fingerprint::of(&make(vec![1.0, 2.0, 3.0, 4.0], 2));
        assert_eq!(base, Fingerprint::of(&make(vec![1.0, 2.0, 3.0, 4.0], 2)));
        assert_ne!(base, Fingerprint::of(&make(vec![1.0, 2.0, 3.0, 5.0], 2)));
        assert_ne!(base, Fingerprint::of(&make(vec![1.0, 2.0, 3.0, 4.0], 1)));
        let wide = Matrix {
            values: Buffer::F64(vec![1.0, 2.0, 3.0, 4.0]),
            n: 2,
            dim: 2,
        };
        assert_ne!(base, Fingerprint::of(&wide));
        // More than one block: a change in the last one is seen.
        let mut long = vec![0.5f32; HASHED_BYTES / 4 + 3];
        let before = Fingerprint::of(&make(long.clone(), 1));
        *long.last_mut().unwrap() = 0.25;
        assert_ne!(before, Fingerprint::of(&make(long, 1)));
    }
}
