//! Solvers of (L + τ I) g = e_l, and the spectrum of L.

pub mod cg;
pub(crate) mod gauss_seidel;
pub(crate) mod coloring;
pub(crate) mod push;
pub(crate) mod inverse;
pub mod local;
pub(crate) mod inverse_diagonal;
pub mod eigen;
