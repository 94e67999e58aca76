//! Dirichlet Active Learning.
#![warn(missing_docs)]
pub mod control;
pub mod error;
pub mod features;
pub mod ids;
pub mod seed;

pub use control::{Control, Progress};
pub use error::{Error, ErrorKind, Result};
pub use features::{Features, Metric, Values};
pub use ids::{ClassId, Items, NodeId};
