//! Labels and beliefs as files, and back.

pub(crate) mod labels_file;
pub(crate) mod import;
pub(crate) mod consensus;
pub(crate) mod export;
pub(crate) mod export_file;
pub(crate) mod scene_maps;
pub(crate) mod training;
