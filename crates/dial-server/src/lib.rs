//! The HTTP interface of a labelling project, on this machine only.
//!
//! ```text
//! browser, scripts -> guard -> routes -> writer (append, sync, acknowledge)      the label path: never waits for the model
//!                                  '--> model (last good state, its version)  the model follows on threads of its own
//!                                  '--> map_worker (the map of the moment)    one thread
//! ```
//!
//! No mathematics lives here: the project is `dial-store`, the method is `dial`.

pub mod http;
mod auth;
mod app;
mod connections;
mod request_limiter;
mod writer;
mod model_worker;
mod leases;
mod assignment;
mod map_worker;
mod item_view;
mod progress;
mod handle;
mod serve;

pub use handle::{Asked, Client, Local, Note, ProjectHandle};
pub use http::router::document;
#[doc(hidden)]
pub use model_worker::BeforeFollowing;
pub use serve::{Address, Server, ServerOptions, check_host};
