//! The Dirichlet field, its prior, and how probabilities are read from it.

pub mod field;
pub mod class_balance;
pub mod calibration;
pub mod prior;
pub(crate) mod evidence;
