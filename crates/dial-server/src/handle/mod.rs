//! A project wherever it is: in a folder, in memory, or in the hands of a running server. All have the same operations,
//! with the data of the wire, so whoever uses a project needs not know where it is.

use std::path::Path;

use crate::http::problem::Problem;
use crate::http::wire::{
    Believed, Estimates, HistoryRow, ImportRequest, Imported, ItemView, Manifest, Next, Page, Part,
    Passed, Questions, SessionRow, Status, Stored, Submission, Suspect, Wanted, Which,
};

mod client;
mod holding;
mod http;
mod local;

pub use client::Client;
pub use local::{Asked, Local};

/// What can be done with a project.
pub trait ProjectHandle {
    /// The project in numbers. The pool is not opened for it.
    fn status(&mut self) -> Result<Status, Problem>;

    /// Stores decisions. The answer comes when they are on the disk.
    fn submit(&mut self, submission: Submission) -> Result<Stored, Problem>;

    /// Items to label next; a server leases them.
    fn next(&mut self, wish: &Next) -> Result<Questions, Problem>;

    /// An item with all that is known about it.
    fn item(&mut self, id: &str) -> Result<ItemView, Problem>;

    /// Items with what is believed about them.
    fn items(&mut self, which: &Which) -> Result<Page<Believed>, Problem>;

    /// Labels that the others contradict, the least probable first.
    fn suspects(&mut self, part: &Part) -> Result<Page<Suspect>, Problem>;

    /// The items that were skipped or excluded, the latest first.
    fn passed(&mut self, part: &Part) -> Result<Page<Passed>, Problem>;

    /// How far along the project is, and how good, by all that was decided until now.
    fn estimates(&mut self) -> Result<Option<Estimates>, Problem>;

    /// The log in words, the latest first.
    fn history(&mut self, part: &Part) -> Result<Page<HistoryRow>, Problem>;

    /// All items with their labels and what is believed about them, as a file.
    fn export(&mut self, wanted: &Wanted) -> Result<Vec<u8>, Problem>;

    /// Imports labels as one group.
    fn import(&mut self, request: ImportRequest) -> Result<Imported, Problem>;

    /// The browsers that are signed in, the one used last first.
    fn sessions(&mut self) -> Result<Vec<SessionRow>, Problem>;

    /// Signs browsers out; those that are left.
    fn end_sessions(&mut self, ids: &[String]) -> Result<Vec<SessionRow>, Problem>;

    /// Copies the project to a file that must not be there.
    fn backup(&mut self, to: &Path) -> Result<Manifest, Problem>;
}

/// What is worth saying while somebody waits.
pub type Note = Box<dyn Fn(&str) + Send>;
