//! Hyperspectral scenes: ENVI and MATLAB cubes.

pub(crate) mod cube;
pub(crate) mod mat_cube;
pub mod envi;
