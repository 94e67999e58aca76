//! Arrays in files: npy, npz, mat and IDX.

pub(crate) mod bytes;
pub mod array;
pub(crate) mod npy_header;
pub(crate) mod npy;
pub(crate) mod zip;
pub(crate) mod inflate;
pub(crate) mod npz;
pub(crate) mod idx;
pub(crate) mod mat;
