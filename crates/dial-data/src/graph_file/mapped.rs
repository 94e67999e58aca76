//! A file mapped into memory: the one place of this crate with unsafe code.
//!
//! Why unsafe is worth it: a graph of 10 million nodes is 2.5 GB. Read, that takes seconds at every start, and memory that
//! is taken from others; mapped, the system reads the pages that are used and may drop them again.
//!
//! # Safety
//!
//! `Mmap::map` requires that no process changes the file while it is mapped, because we hand out plain slices of it. We never do:
//! a graph is written to a file of another name that then takes the place of the old one (`write::write_whole`), and
//! a process that has the old one mapped keeps it. The map is for reading only and private to this process, its length is
//! taken once, all access goes through slices of that length, and every bit pattern is a value of the numbers we read
//! from it (u32, u64, f32, f64). What is left is a third party that writes into the file in place. Then numbers may change
//! under us, which is no worse than a damaged file to the code above as long as it keeps no index for later without
//! checking it against a slice, and it does not; or, if the file is made shorter, the system ends the process. That is
//! why features, which belong to the user, are never mapped (`row_file`).
#![allow(unsafe_code)]

use std::path::Path;

use memmap2::Mmap;

use crate::error::Fault;
use crate::open::plain_file;

/// The bytes of a file.
#[derive(Debug)]
pub(super) struct Mapped(Mmap);

impl Mapped {
    /// Maps a plain file that is not empty.
    pub fn open(path: &Path) -> Result<Mapped, Fault> {
        let (file, length) = plain_file(path)?;
        if length == 0 {
            return Err(Fault::damaged("the file is empty"));
        }
        // SAFETY: the file is ours to read and is replaced, never changed in place; see above.
        unsafe { Mmap::map(&file) }
            .map(Mapped)
            .map_err(|error| Fault::io(&error, "cannot read this file"))
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
