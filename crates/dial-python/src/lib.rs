//! `dial._dial`: what the Python package is made of. NumPy in, NumPy out, errors to exceptions; no decisions.
//!
//! ```text
//! Python (dial/*.py)   labels of any kind, arrays of any kind, what a notebook shows
//! here                 f32 or f64 rows without a copy, words to enums, results to arrays; the interpreter lock is free while
//!                      the other crates work, Ctrl-C stops them, and no panic comes through
//! ```

mod arrays;
mod engine;
mod exchange;
mod errors;
mod holding;
mod pickling;
mod pieces;
mod pools;
mod beliefs;
mod keywords;
mod simulate;
mod work;

/// The module, as Python sees it.
#[pyo3::pymodule]
mod _dial {
    use std::ffi::OsString;

    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::engine::Engine;
    #[pymodule_export]
    use crate::pieces::{Field, choose, classify, knn, knn_graph, propagate, weighted};
    #[pymodule_export]
    use crate::pools::{embed, embed_files, embed_pixels, read_pool};
    #[pymodule_export]
    use crate::simulate::simulate;

    /// The version of this package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// The version of the method: what is asked may only change together with it.
    #[pymodule_export]
    const METHOD_VERSION: u32 = dial::METHOD_VERSION;

    /// Runs the `dial` command and returns its exit code.
    #[pyfunction]
    fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| dial_cli::run(arguments))
    }
}
