//! Pools in and out of DiAL: readers and writers for each format, and generators of synthetic pools.
//!
//! [`open`] reads any pool: arrays (npy, npz, IDX, MATLAB), tables (csv, JSON, Parquet, Arrow), texts, folders of
//! pictures, scenes (ENVI, MATLAB), or `builtin:NAME`. What a file can do wrong is an [`Error`] with the place, the
//! numbers and the next step; no bytes make a reader panic, run code, or take more memory than the file's real size
//! warrants. [`mod@write`] goes the other way; [`generate`] makes pools from a seed. For pools that memory does not hold,
//! [`RowFile`] reads rows by position and [`GraphFile`] maps a graph that was saved.

pub mod error;
pub mod arrays;
mod tables;
mod scenes;
pub mod pool;
pub mod media;
mod featurize;
pub mod embed;
pub mod graph_file;
pub mod generate;
mod open;
pub mod write;

pub use arrays::array::{Array, ArrayData};
pub use arrays::npz::read_npz;
pub use embed::{Beside, Embed};
pub use error::{Error, Fault, Result, about};
pub use featurize::pca_map::{leading_components, plane};
pub use graph_file::row_file::{RowFile, RowReader};
pub use graph_file::saved::{SavedGraph, SavedKind};
pub use graph_file::{GraphFile, GraphProvenance, write_graph};
pub use open::feature_kinds::FeatureKind;
pub use open::formats::{endings, formats};
pub use open::{BUILTIN_SEED, fingerprint, open, parts, pool_name};
pub use pool::alike::alike;
pub use pool::copies::Copies;
pub use pool::fingerprint::Fingerprint;
pub use pool::matrix::{Buffer, Matrix};
pub use pool::show::{Images, Picture, Scene, Show, Table};
pub use pool::truth::Truth;
pub use pool::{Kind, Pool, ReadOptions};
pub use scenes::envi::data::{NumberedClass, class_numbers, georeference};
pub use tables::encoding::Encoding;
pub use tables::original::OriginalColumn;
pub use tables::read_columns::{Choose, TextColumns, normal_id, read_columns};
