//! Features of pictures and texts without a model.

pub(crate) mod svd;
pub(crate) mod descriptor;
pub(crate) mod image;
pub(crate) mod sparse;
pub(crate) mod lanczos;
pub(crate) mod terms;
pub(crate) mod text;
pub(crate) mod pca_map;
