//! ENVI files.

pub(crate) mod class_names;
pub(crate) mod header;
pub(crate) mod data;
