//! NumPy arrays as the other crates want them. Rows are used where they lie: f32 or f64, C order; Python has seen to that.

use std::sync::Arc;

use dial::features::Values;
use dial::{Features, Graph};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::Failure;

/// Rows of features.
#[derive(FromPyObject)]
pub enum Rows<'py> {
    /// 32-bit floats.
    F32(PyReadonlyArray2<'py, f32>),
    /// 64-bit floats.
    F64(PyReadonlyArray2<'py, f64>),
}

/// The values of rows, to be used without the interpreter lock.
#[derive(Clone, Copy)]
pub struct Plain<'a> {
    /// The values.
    pub values: Values<'a>,
    /// Number of rows.
    pub n: usize,
    /// Number of columns.
    pub dim: usize,
}

impl Rows<'_> {
    /// The values where they lie.
    pub fn plain(&self) -> PyResult<Plain<'_>> {
        let order = |_| Failure::usage("rows must be in C order");
        let (values, shape) = match self {
            Rows::F32(rows) => (
                rows.as_slice().map(Values::F32).map_err(order),
                rows.as_array().dim(),
            ),
            Rows::F64(rows) => (
                rows.as_slice().map(Values::F64).map_err(order),
                rows.as_array().dim(),
            ),
        };
        let values = Python::attach(|py| values.map_err(|failure| failure.raise(py)))?;
        Ok(Plain {
            values,
            n: shape.0,
            dim: shape.1,
        })
    }
}

impl<'a> Plain<'a> {
    /// The checked view.
    pub fn features(self) -> Result<Features<'a>, Failure> {
        Ok(Features::new(self.values, self.n, self.dim)?)
    }
}

/// A symmetric matrix of weights in compressed rows, as SciPy keeps it.
#[derive(FromPyObject)]
pub struct Csr<'py> {
    #[pyo3(item)]
    indptr: PyReadonlyArray1<'py, i64>,
    #[pyo3(item)]
    indices: PyReadonlyArray1<'py, i64>,
    #[pyo3(item)]
    data: PyReadonlyArray1<'py, f64>,
}

/// The same as arrays to give to Python.
pub type CsrArrays<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
);

/// The arrays of weights, to be used without the interpreter lock.
#[derive(Clone, Copy)]
pub struct Weights<'a> {
    indptr: &'a [i64],
    indices: &'a [i64],
    data: &'a [f64],
}

impl Csr<'_> {
    /// The arrays where they lie.
    pub fn weights(&self) -> PyResult<Weights<'_>> {
        Ok(Weights {
            indptr: self.indptr.as_slice()?,
            indices: self.indices.as_slice()?,
            data: self.data.as_slice()?,
        })
    }
}

impl Weights<'_> {
    /// The graph.
    pub fn graph(self) -> Result<Arc<Graph>, Failure> {
        let starts: Vec<usize> = self.indptr.iter().map(|&start| start as usize).collect();
        let columns: Vec<u32> = self.indices.iter().map(|&column| column as u32).collect();
        Ok(Arc::new(Graph::from_csr(&starts, &columns, self.data)?))
    }
}

/// A graph for SciPy.
pub fn csr_arrays<'py>(py: Python<'py>, graph: &Graph) -> CsrArrays<'py> {
    let (starts, neighbours, weights) = graph.csr();
    let indptr = PyArray1::from_iter(py, starts.iter().map(|&start| start as i64));
    let indices = PyArray1::from_iter(py, neighbours.iter().map(|&node| i64::from(node)));
    (indptr, indices, PyArray1::from_slice(py, weights))
}

/// Rows of equal length as a matrix.
pub fn matrix<'py>(
    py: Python<'py>,
    values: Vec<f64>,
    columns: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = values.len().checked_div(columns).unwrap_or(0);
    PyArray1::from_vec(py, values).reshape([rows, columns])
}
