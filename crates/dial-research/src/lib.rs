//! The laboratory: the paper's experiments and theory, and a league table of active-learning methods.
//!
//! [`reproduce`] runs the paper's experiments, [`theory`] computes its bounds, limits and rates, and [`arena`] compares
//! methods over many pools and seeds. [`study`] is what experiments and theory have in common: tables, figures, findings
//! with verdicts, and a page that shows them.

pub mod arena;
pub mod cells;
pub mod markdown;
pub mod reproduce;
pub mod study;
pub mod theory;
mod error;
mod output;

pub use error::LabError;
pub use output::{Drawn, Tidy};
