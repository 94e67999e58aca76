//! What all requests share: the desk, the model, the material, and who may talk.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use dial::seed::hash;
use dial_data::Matrix;
use dial_store::Material;
use dial_store::time::Clock;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::cartographer::Cartographer;
use crate::desk::Desk;
use crate::sessions::Sessions;
use crate::thinker::Thinker;

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
    /// Items that were given out to measure accuracy: item and annotator.
    pub audits: Mutex<HashSet<(String, String)>>,
    /// Turns true when the server stops.
    pub stopping: watch::Receiver<bool>,
    /// The components of the features that a scene is coloured by, once they were wanted.
    pub colours: OnceLock<Matrix>,
    /// The order of [`App::random_order`], once it was wanted.
    pub order: OnceLock<Vec<u32>>,
}

impl App {
    /// The nodes that may be asked, in an order that is random but always the same.
    pub fn random_order(&self) -> &[u32] {
        self.order.get_or_init(|| {
            let allowed = self.material.engine.askable.as_ref();
            let open = |node: &u32| allowed.is_none_or(|allowed| allowed[*node as usize]);
            let mut nodes: Vec<u32> = (0..self.material.engine.items.len() as u32)
                .filter(open)
                .collect();
            nodes.sort_by_key(|&node| hash(self.material.recipe.config.seed, u64::from(node)));
            nodes
        })
    }
}
