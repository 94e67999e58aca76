//! Dirichlet Active Learning: label a pool of items with as few questions as possible.
//!
//! ```text
//! features -> neighbours -> graph -> propagation -> column K(., l) -> Dirichlet field -> scores -> policy -> ask
//!     ^                                                                                                   |
//!     '------------ tell(item, class): one event appended to the log; the state is its replay <-----------'
//! ```
//!
//! The method of Miller and Murray, *Dirichlet Active Learning* (arXiv 2311.05501), as plain data and pure functions:
//! no files, no clock, no printing, no globals. Labels such as `eq:var` are those of the paper's LaTeX.
//!
//! ```
//! use dial::{Config, Control, Engine, Features, NodeId};
//!
//! // Two groups of points on a line; any n x d matrix will do.
//! let x: Vec<f64> = (0..40).map(|i| f64::from(i) + if i < 20 { 0.0 } else { 100.0 }).collect();
//! let control = Control::new();
//! let engine = Engine::build(Features::f64(&x, 40, 1)?, &Config::default(), &control)?;
//! let mut session = engine.session(&["low", "high"], &control)?;
//! for _ in 0..4 {
//!     let question = session.ask(1)?.questions.remove(0);
//!     let answer = if question.node.index() < 20 { "low" } else { "high" };
//!     session.tell(&question.item, session.labels().class_named(answer)?, &control)?;
//! }
//! let prediction = session.prediction(NodeId(39));
//! assert_eq!(session.labels().schema()[prediction.class.index()].name, "high");
//! # Ok::<(), dial::Error>(())
//! ```

// In dependency order: a file uses only files above it (tests/house.rs checks that).

pub mod error;
pub mod words;
pub mod ids;
pub mod seed;
pub mod control;
pub mod blocks;
pub mod features;
pub mod knn;
pub mod graph;
pub mod linalg;
pub mod propagation;
pub mod opinion;
pub mod belief;
pub mod labels;
pub mod classifiers;
pub mod acquisition;
pub mod policy;
pub mod config;
pub mod engine;
pub mod session;
pub mod simulate;

pub use acquisition::Acquisition;
pub use belief::field::DirichletField;
pub use config::{Choices, Config};
pub use control::Control;
pub use engine::Engine;
pub use error::{Error, Result};
pub use features::{Features, Metric};
pub use graph::Graph;
pub use ids::{ClassId, Items, NodeId};
pub use labels::Labels;
pub use labels::events::{Change, Event};
pub use policy::Policy;
pub use propagation::Propagation;
pub use session::Session;
pub use session::question::{Ask, Prediction, Question};
pub use session::view::View;

/// The version of the method: the questions asked from a given log may only change together with this number.
pub const METHOD_VERSION: u32 = 4;

/// The code in the documents compiles and runs.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/library.md")]
    struct Library;
}
