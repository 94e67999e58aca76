//! What all requests share: the writer, the model, the prepared, and who may talk.

use std::sync::{Arc, OnceLock};

use dial_data::Matrix;
use dial_store::time::Clock;
use dial_store::{Counts, PreparedPool};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::assignment::{Audits, RandomOrder};
use crate::auth::sessions::Sessions;
use crate::http::thumbnails::Thumbnails;
use crate::map_worker::MapWorker;
use crate::model_worker::ModelWorker;
use crate::request_limiter::RequestLimiter;
use crate::writer::Writer;

/// The state of a running server.
pub struct App {
    /// Takes submissions.
    pub writer: Writer,
    /// Follows the log.
    pub model: Arc<ModelWorker>,
    /// Makes the map.
    pub map_worker: MapWorker,
    /// The pool and how it is asked.
    pub prepared: Arc<PreparedPool>,
    /// The time.
    pub clock: Clock,
    /// Who may talk.
    pub sessions: Sessions,
    /// Where it listens.
    pub address: String,
    /// The names that this server answers to, with the port.
    pub hosts: Vec<String>,
    /// The id of the project.
    pub project: String,
    /// The id of its place, which no copy of the project has.
    pub place: String,
    /// Items that were given out to measure accuracy.
    pub audits: Mutex<Audits>,
    /// Turns true when the server stops.
    pub stopping: watch::Receiver<bool>,
    /// The components of the features that a scene is coloured by, once they were wanted.
    pub colours: OnceLock<Matrix>,
    /// The nodes that may be asked, in a random order.
    pub order: RandomOrder,
    /// Labels by class and annotator, and the version of the log that they were counted in.
    pub counts: Mutex<(u64, Arc<Counts>)>,
    /// How many items the pool itself has labels for, once that was counted.
    pub known: OnceLock<usize>,
    /// Pictures of items.
    pub thumbnails: Thumbnails,
    /// Limits requests that read the whole log or pool.
    pub long: RequestLimiter,
    /// Limits imports and backups.
    pub copies: RequestLimiter,
    /// Limits answers that are sent while they are made.
    pub sending: RequestLimiter,
    /// Limits large bodies, a permit for each kibibyte.
    pub bodies: RequestLimiter,
}
