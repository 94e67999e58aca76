//! The HTTP interface of a labelling project, on this machine only.
//!
//! ```text
//! browser, scripts -> guard -> routes -> desk (append, sync, acknowledge)      the label path: never waits for the model
//!                                  '--> thinker (last good state, its version)  the model follows on threads of its own
//!                                  '--> cartographer (the map of the moment)    one thread
//! ```
//!
//! No mathematics lives here: the project is `dial-store`, the method is `dial`.

mod app;
mod cards;
mod cartographer;
mod changes;
pub mod describe;
mod desk;
mod exchange;
mod guard;
mod handle;
mod history;
mod input;
mod lists;
mod media;
mod page;
mod problem;
mod progress;
mod questions;
mod router;
mod routes;
mod scene;
mod serve;
mod sessions;
mod thinker;
mod views;
pub mod wire;

pub use handle::{Client, Local, Note, ProjectHandle};
pub use router::document;
pub use serve::{Address, Server, Settings, check_host};
#[doc(hidden)]
pub use thinker::Obstacle;
