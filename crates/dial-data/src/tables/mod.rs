//! Tables: what a file gives as a frame, and which column is what.

pub(crate) mod encoding;
pub(crate) mod frame;
pub(crate) mod table;
pub(crate) mod column_roles;
pub(crate) mod heuristics;
pub(crate) mod item_view;
pub(crate) mod categorical;
pub(crate) mod read_columns;
pub(crate) mod original;
pub(crate) mod json;
#[cfg(feature = "parquet")]
pub(crate) mod arrow;
pub mod csv;
