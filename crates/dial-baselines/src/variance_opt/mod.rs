//! Acquisitions that reduce the variance of a Gaussian field: VOpt, Sigma-Opt and MCVOpt.

mod full;
mod spectral;

pub use full::FullOptimal;
pub use spectral::{
    Criterion, EIGENVALUE_SHIFT, LABEL_NOISE, ModelChange, Moments, SpectralOptimal,
};
