//! Makes a pool, a graph and a plan from the arguments.

pub(crate) mod memory;
pub(crate) mod checks;
pub(crate) mod compare;
pub(crate) mod prepare;
pub(crate) mod graph_file;
pub(crate) mod project;
