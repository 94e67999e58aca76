//! The methods that the paper compares Dirichlet Active Learning with, and later rivals.
//!
//! They share the pool, graph and session of the core crate `dial`, so that comparisons differ in the method only.
//! Nothing that stores or serves labels depends on this crate.

pub mod comparison;
pub mod coverage;
pub mod distances;
pub mod herding;
pub mod kmeans;
pub mod land;
pub mod methods;
pub mod models;
pub mod normalized;
mod prefix_cache;
pub mod rwll;
pub mod typiclust;
pub mod variance_opt;

pub use coverage::{KCentre, ProbCover};
pub use distances::Distances;
pub use herding::{MaxHerding, UncertaintyHerding};
pub use kmeans::Clusterings;
pub use land::{Land, LandOptions, Ranking};
pub use methods::{Method, Workbench};
pub use models::{Model, ModelName};
pub use normalized::NormalizedPoisson;
pub use rwll::ReweightedNorm;
pub use typiclust::TypiClust;
pub use variance_opt::{Criterion, FullOptimal, ModelChange, SpectralOptimal};
