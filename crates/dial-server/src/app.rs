//! What all requests share: the desk, the model, the material, and who may talk.

use std::sync::{Arc, OnceLock};

use dial_data::Matrix;
use dial_store::Material;
use dial_store::time::Clock;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::assignment::Audits;
use crate::auth::tokens::Sessions;
use crate::map_worker::Cartographer;
use crate::model_worker::Thinker;
use crate::writer::Desk;

/// The state of a running server.
pub struct App {
    /// Takes submissions.
    pub desk: Desk,
    /// Follows the log.
    pub thinker: Arc<Thinker>,
    /// Makes the map.
    pub cartographer: Cartographer,
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
