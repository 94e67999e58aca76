//! Pools in and out of DiAL: readers and writers for each format, and generators of synthetic pools.
//!
//! [`open`] reads any pool: arrays (npy, npz, IDX, MATLAB), tables (csv, JSON, Parquet, Arrow), texts, folders of
//! pictures, scenes (ENVI, MATLAB), or `builtin:NAME`. What a file can do wrong is an [`Error`] with the place, the
//! numbers and the next step; no bytes make a reader panic, run code, or take more memory than the file's real size
//! warrants. [`mod@write`] goes the other way; [`generate`] makes pools from a seed. For pools that memory does not hold,
//! [`RowFile`] reads rows by position and [`GraphFile`] maps a graph that was saved.

pub mod array;
pub mod builtin;
mod bytes;
mod class_names;
#[cfg(feature = "parquet")]
mod columnar;
mod components;
mod cube;
mod dialect;
mod envi;
mod envi_data;
mod descriptor;
mod encoding;
pub mod error;
mod features_file;
pub mod fingerprint;
mod first_line;
mod folder;
mod formats;
pub mod generate;
pub mod graph_file;
mod header;
mod ids;
mod idx;
mod image_features;
mod inflate;
mod json;
mod json_cells;
mod labels;
mod literal;
mod looks;
mod mat;
mod mat_pool;
pub mod matrix;
mod npy;
mod npz;
mod open;
mod picture_list;
pub mod pictures;
mod plane;
pub mod pool;
mod read_columns;
mod reading;
mod records;
mod roles;
mod resample;
pub mod row_file;
pub mod saved_graph;
mod sheet;
pub mod show;
mod shown_by;
mod sniff;
mod table;
mod tabular;
mod text_features;
mod texts;
pub mod truth;
mod wanted;
pub mod write;
mod zip;

pub use array::{Array, ArrayData};
pub use encoding::Encoding;
pub use envi_data::{NumberedClass, class_numbers, georeference};
pub use error::{Error, Fault, Result};
pub use fingerprint::Fingerprint;
pub use formats::formats;
pub use graph_file::{GraphFile, Recipe, write_graph};
pub use matrix::{Buffer, Matrix};
pub use npz::read_npz;
pub use open::{fingerprint, open, parts};
pub use plane::{leading_components, plane};
pub use pool::{Kind, Pool, ReadOptions};
pub use read_columns::{Choose, TextColumns, normal_id, read_columns};
pub use row_file::{RowFile, RowReader};
pub use saved_graph::SavedGraph;
pub use show::{Images, Picture, Scene, Show, Table};
pub use truth::Truth;
