//! Pictures and texts as they lie in folders and lists.

pub(crate) mod resample;
pub mod images;
#[cfg(feature = "onnx")]
pub(crate) mod filter;
pub(crate) mod likeness;
pub mod inside;
pub(crate) mod image_list;
pub(crate) mod folder;
pub(crate) mod text_lines;
