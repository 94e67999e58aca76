//! A labelling project on disk: the append-only log of events, and the state that is its replay.
//!
//! A label is expensive human work. One that was acknowledged is never lost, changed or stored twice, whatever dies:
//! acknowledged means committed and synced, every record is chained to the one before, and nothing is ever written over.

mod backup;
mod checks;
mod connection;
mod decision;
mod error;
mod estimate;
mod export;
mod export_file;
mod follower;
mod import;
mod labels_file;
mod log;
mod material;
mod memory;
mod migrate;
mod place;
mod project;
mod reasons;
mod recipe;
mod record;
mod reopening;
mod saving;
mod sqlite;
mod status;
mod store;
mod submit;
pub mod time;

pub use backup::{BACKUP_ENDING, Copied, Manifest, Restored, restore};
pub use decision::{Decision, Receipt, Share, Submission};
pub use error::{Error, Result};
pub use estimate::{
    Advice, Bin, Estimates, Facts, Interval, SETTLED, TARGET, Verdict, calibration,
};
pub use export::{Belief, Export, Mark, Row, Told, places};
pub use export_file::Format;
pub use follower::{Follower, News};
pub use import::{Contradiction, Import, Imported, Importing};
pub use labels_file::{Given, Item, Named, Said, read_labels, source};
pub use log::{Live, Log};
pub use material::{Material, keep_graph};
pub use memory::Memory;
#[doc(hidden)]
pub use migrate::Migration;
pub use place::{ENDING, Folder, Holder, Lock};
pub use project::Project;
pub use reasons::why;
pub use recipe::{GivenGraph, Recipe};
pub use record::{Entry, Look, Record, Remark};
pub use reopening::ASKABLE;
pub use sqlite::{Journal, Sqlite};
pub use status::{AnnotatorCount, ClassCount, Parked, Status};
pub use store::{Lease, Store, Wanted};

/// A new id, random: 128 bits in hexadecimal.
pub fn random_id() -> Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::Disk {
        place: "random numbers".into(),
        why: error.to_string(),
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
