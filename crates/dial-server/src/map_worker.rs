//! The map of the pool, made on a thread of its own while people label.
//!
//! ```text
//! kept with the project, if made from the same features and graph  -> neighbours
//! else  components at once -> moving, every few epochs -> neighbours, and kept
//! ```
//!
//! One thread does all of it, so that the model has the rest of the machine. Positions are sent as pairs of f32 by row,
//! scaled to [-1, 1] by one factor for both coordinates.

use std::sync::Arc;
use std::thread::JoinHandle;

use axum::body::Bytes;
use dial::Control;
use dial_store::PreparedPool;
use parking_lot::{Mutex, RwLock};
use serde::Serialize;
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use crate::writer::SharedProject;

/// The name under which the map is kept.
const LAYOUT_KEY: &str = "layout";

/// What positions are made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// The first two principal components.
    Components,
    /// On the way to the next.
    Moving,
    /// Neighbours of the graph are near.
    Neighbours,
}

impl Layout {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Layout::Components => "components",
            Layout::Moving => "moving",
            Layout::Neighbours => "neighbours",
        }
    }
}

/// Positions of all items, as they are sent.
#[derive(Clone)]
pub struct Map {
    /// What they are made from.
    pub layout: Layout,
    /// Pairs of f32 by row, little-endian.
    pub bytes: Bytes,
}

/// Makes the map.
pub struct MapWorker {
    map: Arc<RwLock<Option<Map>>>,
    published: watch::Receiver<u64>,
    control: Control,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl MapWorker {
    /// Starts to work on the map of a project.
    pub fn start(prepared: Arc<PreparedPool>, project: Arc<SharedProject>) -> MapWorker {
        let (tell, published) = watch::channel(0);
        let (map, control) = (Arc::default(), Control::new());
        let work = Work {
            map: Arc::clone(&map),
            tell,
            control: control.clone(),
        };
        let run = move || {
            // A map that cannot be made is missed, but labels do not need it.
            if let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() {
                let _ = pool.install(|| work.make(&prepared, &project));
            }
        };
        let thread = std::thread::Builder::new()
            .name("map_worker".into())
            .spawn(run);
        MapWorker {
            map,
            published,
            control,
            thread: Mutex::new(thread.ok()),
        }
    }

    /// The map of the moment.
    pub fn map(&self) -> Option<Map> {
        self.map.read().clone()
    }

    /// A counter of maps.
    pub fn published(&self) -> watch::Receiver<u64> {
        self.published.clone()
    }

    /// Stops at once, and waits until it has.
    pub fn stop(&self) {
        self.control.cancel();
        if let Some(thread) = self.thread.lock().take() {
            let _ = thread.join();
        }
    }
}

struct Work {
    map: Arc<RwLock<Option<Map>>>,
    tell: watch::Sender<u64>,
    control: Control,
}

impl Work {
    fn make(&self, prepared: &PreparedPool, project: &SharedProject) -> dial_store::Result<()> {
        let (mark, n) = (mark(prepared), prepared.pool.matrix.n);
        if let Some(bytes) = kept(project, &mark, n) {
            self.publish(Layout::Neighbours, bytes);
            return Ok(());
        }
        let start = dial_data::plane(&prepared.pool.matrix, &self.control)?;
        self.publish(Layout::Components, bytes(&start));
        let Some(graph) = &prepared.engine.graph else {
            return Ok(());
        };
        let mut watch = |positions: &[[f32; 2]]| self.publish(Layout::Moving, bytes(positions));
        let found = dial::graph::layout::layout(
            graph,
            &start,
            prepared.recipe.config.seed,
            &self.control,
            &mut watch,
        )?;
        let found = bytes(&found);
        let keep = [mark.as_slice(), &found].concat();
        self.publish(Layout::Neighbours, found);
        project.change(|project| project.keep(LAYOUT_KEY, &keep))
    }

    fn publish(&self, layout: Layout, bytes: Vec<u8>) {
        let map = Map {
            layout,
            bytes: bytes.into(),
        };
        *self.map.write() = Some(map);
        self.tell.send_modify(|count| *count += 1);
    }
}

/// What the layout depends on: features, graph, seed, and the way it is made.
fn mark(prepared: &PreparedPool) -> [u8; 32] {
    let (recipe, config) = (&prepared.recipe, &prepared.recipe.config);
    let weights = config.weights_word();
    let words = format!(
        "layout 2 {} {} {weights} {} {}",
        recipe.features, config.k, config.metric, config.seed
    );
    Sha256::digest(words).into()
}

/// The map that was kept, if it is that of this pool and whole.
fn kept(project: &SharedProject, mark: &[u8; 32], n: usize) -> Option<Vec<u8>> {
    let kept = project.change(|project| project.kept(LAYOUT_KEY)).ok()??;
    let (found, bytes) = kept.split_at_checked(32)?;
    (found == mark && bytes.len() == 8 * n).then(|| bytes.to_vec())
}

/// Positions scaled to [-1, 1], by one factor so that distances keep their proportions.
fn bytes(positions: &[[f32; 2]]) -> Vec<u8> {
    let ends = |i: usize| {
        positions
            .iter()
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), at| {
                (low.min(at[i]), high.max(at[i]))
            })
    };
    let (x, y) = (ends(0), ends(1));
    let half = (0.5 * (x.1 - x.0).max(y.1 - y.0)).max(f32::MIN_POSITIVE);
    let centre = [0.5 * (x.0 + x.1), 0.5 * (y.0 + y.1)];
    let scaled =
        |at: &[f32; 2], i: usize| ((at[i] - centre[i]) / half).clamp(-1.0, 1.0).to_le_bytes();
    positions
        .iter()
        .flat_map(|at| [scaled(at, 0), scaled(at, 1)])
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_aspect_is_kept() {
        // 4 wide and 2 high: x to [-1, 1], y to half of that. One spot is the middle.
        let sent = |positions: &[[f32; 2]]| -> Vec<f32> {
            bytes(positions)
                .chunks(4)
                .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
                .collect()
        };
        assert_eq!(
            sent(&[[10.0, 3.0], [14.0, 5.0], [12.0, 4.0]]),
            [-1.0, -0.5, 1.0, 0.5, 0.0, 0.0]
        );
        assert_eq!(sent(&[[7.0, 7.0]]), [0.0, 0.0]);
    }
}
