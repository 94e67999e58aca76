//! Blocks of vectors over the nodes, and loops over them that give the same bits for any number of threads.
//!
//! A block holds W vectors of n values, interleaved (`values[node * W + column]`), so that a sparse product reads each
//! neighbour once for all of them. Work is cut into fixed chunks of nodes; each chunk sums in the order of its nodes and
//! the chunk sums are added in the order of the chunks. What a column holds therefore does not depend on W, on its
//! place in the block or on the threads.

use rayon::prelude::*;

/// Nodes per chunk. Part of the definition of every sum: changing it changes last bits.
pub const NODES_PER_CHUNK: usize = 1024;

/// A loop over fewer numbers is not worth dividing among threads.
const SERIAL_LENGTH: usize = 16 * 1024;

/// Calls `work(first node, chunk)` for every chunk of a block of width W and returns the sums it gives, added in order.
pub fn for_chunks<const W: usize, const S: usize>(
    block: &mut [f64],
    work: impl Fn(usize, &mut [f64]) -> [[f64; W]; S] + Sync,
) -> [[f64; W]; S] {
    if block.len() < SERIAL_LENGTH {
        return add(block
            .chunks_mut(NODES_PER_CHUNK * W)
            .enumerate()
            .map(|(c, chunk)| work(c * NODES_PER_CHUNK, chunk)));
    }
    let parts: Vec<_> = block
        .par_chunks_mut(NODES_PER_CHUNK * W)
        .enumerate()
        .map(|(c, chunk)| work(c * NODES_PER_CHUNK, chunk))
        .collect();
    add(parts.into_iter())
}

/// As [`for_chunks`], over two blocks of the same shape.
pub fn for_chunks2<const W: usize, const S: usize>(
    a: &mut [f64],
    b: &mut [f64],
    work: impl Fn(usize, &mut [f64], &mut [f64]) -> [[f64; W]; S] + Sync,
) -> [[f64; W]; S] {
    if a.len() < SERIAL_LENGTH {
        let chunks = a
            .chunks_mut(NODES_PER_CHUNK * W)
            .zip(b.chunks_mut(NODES_PER_CHUNK * W))
            .enumerate();
        return add(chunks.map(|(c, (a, b))| work(c * NODES_PER_CHUNK, a, b)));
    }
    let parts: Vec<_> = a
        .par_chunks_mut(NODES_PER_CHUNK * W)
        .zip(b.par_chunks_mut(NODES_PER_CHUNK * W))
        .enumerate()
        .map(|(c, (a, b))| work(c * NODES_PER_CHUNK, a, b))
        .collect();
    add(parts.into_iter())
}

fn add<const W: usize, const S: usize>(
    parts: impl Iterator<Item = [[f64; W]; S]>,
) -> [[f64; W]; S] {
    parts.fold([[0.0; W]; S], |mut sum, part| {
        for (sum, part) in sum.iter_mut().flatten().zip(part.iter().flatten()) {
            *sum += part;
        }
        sum
    })
}
