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
mod words;
pub mod ids;
pub mod seed;
pub mod control;
pub mod features;
pub mod columns;
mod screen;
mod screen_bytes;
mod byte_search;
pub mod space;
pub mod neighbours;
pub mod source;
mod best;
mod cells;
mod probe;
mod descent;
mod recall;
pub mod approximate;
pub mod adjacency;
pub mod graph;
pub mod order;
pub mod compact;
pub mod assemble;
mod sound;
pub mod layout;
pub mod laplacian;
pub mod solve;
mod peaks;
mod push;
mod colours;
mod sweeps;
mod inverse;
pub mod local;
pub mod symmetric;
mod panels;
mod filter;
pub mod spectral;
pub mod propagate;
pub mod certified;
pub mod radial;
pub mod heat;
pub mod field;
pub mod balance;
pub mod reader;
pub mod prior;
pub mod events;
mod standing;
pub mod labels;
mod ledger;
mod summed;
mod merged;
mod evidence;
pub mod acquire;
pub mod doubt;
pub mod points;
pub mod classifier;
pub mod logistic;
mod sharpness;
mod leaders;
pub mod policy;
pub mod tau;
pub mod config;
pub mod engine;
pub mod question;
pub mod view;
pub mod newcomers;
pub mod session;
pub mod measures;
pub mod simulate;

pub use acquire::{Acquisition, OfAlpha, Score, Situation};
pub use approximate::{Effort, Found, Search};
pub use assemble::Lists;
pub use certified::{Certified, Precision};
pub use compact::CompactGraph;
pub use config::{Asking, Choices, Config, Spread};
pub use control::{Control, Progress};
pub use doubt::Doubt;
pub use engine::Engine;
pub use error::{Error, ErrorKind, Result};
pub use events::{Change, Class, Event, Fate};
pub use features::{Features, Metric, Values};
pub use field::DirichletField;
pub use graph::{Graph, Kernel};
pub use heat::Heat;
pub use ids::{ClassId, Items, NodeId};
pub use labels::Labels;
pub use neighbours::Neighbours;
pub use newcomers::Newcomers;
pub use points::Points;
pub use policy::{Policy, Sharpness};
pub use prior::Prior;
pub use propagate::{Column, Poisson, Propagation};
pub use question::{Ask, Foreseen, Prediction, Question};
pub use radial::{Radial, Shape};
pub use reader::{Accuracy, Reader, Reading};
pub use session::Session;
pub use source::Rows;
pub use space::ZeroVectors;
pub use spectral::Eigenpairs;
pub use tau::Tau;
pub use view::{Odds, Overview, View};

/// The version of the method: what is asked from a given log may only change together with this number.
pub const METHOD_VERSION: u32 = 4;

/// The code in the documents compiles and runs.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/library.md")]
    struct Library;
}
