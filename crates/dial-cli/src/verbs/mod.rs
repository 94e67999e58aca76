//! One file for each verb, or for a few that belong together.

#[cfg(feature = "research")]
pub(crate) mod arena;
pub(crate) mod ask;
#[cfg(feature = "research")]
pub(crate) mod bench;
pub(crate) mod decide;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod exchange;
pub(crate) mod generate;
pub(crate) mod graph;
pub(crate) mod log;
pub(crate) mod new;
pub(crate) mod pool;
pub(crate) mod predict;
pub(crate) mod propagate;
#[cfg(feature = "research")]
pub(crate) mod reproduce;
pub(crate) mod serve;
pub(crate) mod resolve;
pub(crate) mod simulate;
pub(crate) mod status;
pub(crate) mod tell;
#[cfg(feature = "research")]
pub(crate) mod theory;
