//! What can be typed, and what help shows.

pub mod args;
pub(crate) mod asking_args;
pub(crate) mod pool_args;
pub(crate) mod values;
pub(crate) mod help;
