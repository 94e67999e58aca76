//! `dial._dial`: what the Python package is made of. NumPy in, NumPy out, errors to exceptions; no decisions.
//!
//! ```text
//! Python (dial/*.py)   labels of any kind, arrays of any kind, what a notebook shows
//! here                 f32 or f64 rows without a copy, words to enums, results to arrays; the interpreter lock is free while
//!                      the other crates work, Ctrl-C stops them, and no panic comes through
//! ```

mod arrays;
mod engine;
mod errors;
mod pieces;
mod pools;
mod reading;
mod serving;
mod settings;
mod simulate;
mod work;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the `dial` command and returns its exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| dial_cli::run(arguments))
}

#[pymodule]
fn _dial(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("METHOD_VERSION", dial::METHOD_VERSION)?;
    module.add_class::<engine::Engine>()?;
    module.add_class::<pieces::Field>()?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(pieces::knn, module)?)?;
    module.add_function(wrap_pyfunction!(pieces::knn_graph, module)?)?;
    module.add_function(wrap_pyfunction!(pieces::weighted, module)?)?;
    module.add_function(wrap_pyfunction!(pieces::propagate, module)?)?;
    module.add_function(wrap_pyfunction!(pieces::choose, module)?)?;
    module.add_function(wrap_pyfunction!(pieces::classify, module)?)?;
    module.add_function(wrap_pyfunction!(pools::read_pool, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    Ok(())
}
