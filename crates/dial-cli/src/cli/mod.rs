//! The arguments of the command, and its help.

pub mod args;
pub(crate) mod asking_args;
pub(crate) mod pool_args;
pub(crate) mod values;
pub(crate) mod help;
pub(crate) mod renamed;
