//! What all requests share: the writer, the model, the material, and who may talk.

use std::sync::{Arc, OnceLock};

use dial_data::Matrix;
use dial_store::Material;
use dial_store::time::Clock;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::assignment::Audits;
use crate::auth::tokens::Sessions;
use crate::map_worker::MapWorker;
use crate::model_worker::ModelWorker;
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
    pub material: Arc<Material>,
    /// The time.
    pub clock: Clock,
    /// Who may talk.
    pub sessions: Sessions,
    /// Where it listens.
    pub address: String,
    /// The names that this server answers to, with the port.
    pub hosts: Vec<String>,
    /// The name of the cookie: two servers on one machine share their cookies but for the name.
    pub cookie: String,
    /// Items that were given out to measure accuracy.
    pub audits: Mutex<Audits>,
    /// Turns true when the server stops.
    pub stopping: watch::Receiver<bool>,
    /// The components of the features that a scene is coloured by, once they were wanted.
    pub colours: OnceLock<Matrix>,
    /// The nodes that may be asked, in a random order, once it was wanted.
    pub order: OnceLock<Vec<u32>>,
}
