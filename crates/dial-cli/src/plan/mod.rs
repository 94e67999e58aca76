//! From what was typed to a pool, a graph and a plan.

pub(crate) mod memory;
pub(crate) mod checks;
pub(crate) mod prepare;
pub(crate) mod graph_file;
pub(crate) mod project;
