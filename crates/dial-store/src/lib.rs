//! A labelling project on disk: the append-only log of events, and the state that is its replay.
//!
//! A label is expensive human work. One that was acknowledged is never lost, changed or stored twice, whatever dies:
//! acknowledged means committed and synced, every record is chained to the one before, and nothing is ever written over.

mod error;
pub mod time;
mod recipe;
mod decision;
mod log;
mod exchange;
mod stats;
mod project;
mod follower;

pub use decision::{Decision, Receipt, Share, Submission};
pub use error::{Error, Result, as_typed};
pub use exchange::consensus::{Consensus, consensus};
pub use exchange::export::{Answer, Belief, Export, Mark, Row, Source, places};
pub use exchange::export_file::Format;
pub use exchange::import::{Contradiction, Import, Imported, Importing};
pub use exchange::labels_file::{
    ImportedLabel, ItemName, LabelContent, Named, read_labels, source,
};
pub use exchange::scene_maps::MappedScene;
pub use follower::{Follower, News};
pub use log::memory::Memory;
#[doc(hidden)]
pub use log::migrate::Migration;
pub use log::record::{ClassStyle, Entry, Provenance, Record};
pub use log::sqlite::{Journal, Sqlite};
pub use log::store::{Lease, Store, Stored};
pub use log::{Live, Log};
pub use project::Project;
pub use project::backup::{
    BACKUP_ENDING, Copying, Manifest, Restored, Slice, copy_backup, restore,
};
pub use project::folder::{Folder, Holder, Lock, PROJECT_ENDING};
pub use project::place::Place;
pub use project::pool_changes::ASKABLE;
pub use project::prepared_pool::{PreparedPool, keep_graph};
pub use project::recovery::{Recovered, recover};
pub use project::snapshot::Snapshot;
pub use recipe::{GivenGraph, Recipe};
pub use stats::counts::{Counts, heaviest};
pub use stats::estimate::{
    Advice, Bin, Estimates, Facts, Interval, SETTLED, TARGET, Verdict, calibration,
};
pub use stats::passed::{Passed, passed};
pub use stats::reasons::why;
pub use stats::status::{AnnotatorCount, ClassCount, Conflict, Status};

/// A new id, random: 128 bits in hexadecimal.
pub fn random_id() -> Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::Disk {
        place: "random numbers".into(),
        why: error.to_string(),
    })?;
    Ok(hex::encode(bytes))
}
