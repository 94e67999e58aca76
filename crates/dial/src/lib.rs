//! Dirichlet Active Learning.
#![warn(missing_docs)]
pub mod columns;
pub mod control;
pub mod error;
pub mod features;
pub mod graph;
pub mod ids;
pub mod laplacian;
pub mod neighbours;
mod screen;
pub mod seed;
pub mod solve;

pub use control::{Control, Progress};
pub use error::{Error, ErrorKind, Result};
pub use features::{Features, Metric, Values};
pub use graph::{Graph, Kernel};
pub use ids::{ClassId, Items, NodeId};
pub use neighbours::{Neighbours, ZeroVectors};
