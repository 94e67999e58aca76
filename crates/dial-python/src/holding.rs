//! A project in memory, on disk, or in the hands of a server, and the session that follows it.

use std::path::Path;

use dial::{Control, NodeId, View};
use dial_data::Fingerprint;
use dial_data::write::{Saved, SavedData, write_npy};
use dial_store::time::Clock;
use dial_store::{Decision, Journal, Labelling, Project, Receipt, Recipe, Submission, random_id};

use crate::arrays::Plain;
use crate::errors::Failure;
use crate::serving::Serving;

/// The name under which Python keeps what its labels are.
pub const KEPT: &str = "python";

/// The name of the features in a project that was saved.
const FEATURES: &str = "features.npy";

/// What is behind the lock.
pub struct Inner {
    /// The project.
    pub holding: Holding,
    /// The session.
    pub labelling: Labelling,
    /// The belief of a moment, by the place in the log.
    pub view: Option<(u64, View<'static>)>,
    /// The process that made it.
    pub process: u32,
}

/// Who has the project.
pub enum Holding {
    /// We have.
    Own(Box<Project>),
    /// A server of this process.
    Served(Serving),
    /// Nobody.
    Closed,
}

/// The time.
pub fn now() -> u64 {
    Clock::new().now()
}

impl Inner {
    /// Whether a folder belongs to it.
    pub fn on_disk(&self) -> bool {
        match &self.holding {
            Holding::Own(project) => project.folder().is_some(),
            Holding::Served(_) => true,
            Holding::Closed => false,
        }
    }

    /// Reads the project.
    pub fn read<T>(&self, look: impl FnOnce(&Project) -> T) -> Result<T, Failure> {
        match &self.holding {
            Holding::Own(project) => Ok(look(project)),
            Holding::Served(serving) => Ok(serving.served.read(look)),
            Holding::Closed => Err(closed()),
        }
    }

    /// The session follows the project, which others may use meanwhile.
    pub fn follow(&mut self, control: &Control) -> Result<(), Failure> {
        let news = self.read(|project| self.labelling.news(project.log()))?;
        Ok(self.labelling.follow(news, control)?)
    }

    /// Stores decisions.
    pub fn submit(&mut self, annotator: &str, decisions: Vec<Decision>, replace: bool) -> Result<Receipt, Failure> {
        self.send(submission(annotator, decisions, replace)?)
    }

    /// Adds classes and stores labels that may name them: both, or neither where the labels are refused.
    pub fn tell(&mut self, labels: Submission, new: Vec<String>) -> Result<Receipt, Failure> {
        let add = |name: String| submission("", vec![Decision::AddClass { name }], false);
        let added = new.into_iter().map(add).collect::<Result<Vec<Submission>, Failure>>()?;
        if !added.is_empty() {
            let all: Vec<Submission> = added.iter().chain([&labels]).cloned().collect();
            match self.read(|project| project.would_take(&all))? {
                // Such an answer is kept aside, which the project must do itself.
                Ok(()) | Err(dial_store::Error::Contradiction { .. } | dial_store::Error::ClassGone { .. }) => {}
                Err(refused) => return Err(refused.into()),
            }
        }
        added.into_iter().try_for_each(|one| self.send(one).map(|_| ()))?;
        self.send(labels)
    }

    fn send(&mut self, submission: Submission) -> Result<Receipt, Failure> {
        Ok(match &mut self.holding {
            Holding::Own(project) => project.submit_one(submission, now())?,
            Holding::Served(serving) => serving.served.submit(submission)?,
            Holding::Closed => return Err(closed()),
        })
    }

    /// The project, if it is ours alone.
    pub fn own(&mut self) -> Result<&mut Project, Failure> {
        match &mut self.holding {
            Holding::Own(project) => Ok(project),
            Holding::Served(_) => Err(Failure::usage("the page has the project. Stop it first: page.stop().")),
            Holding::Closed => Err(closed()),
        }
    }

    /// The id of a row.
    pub fn item(&self, row: usize) -> Result<String, Failure> {
        let items = &self.labelling.ground().setting.items;
        match u32::try_from(row).ok().filter(|_| row < items.len()) {
            Some(node) => Ok(items.id(NodeId(node))),
            None => Err(dial::Error::UnknownItem(row.to_string()).into()),
        }
    }
}

/// Decisions under a new key.
pub fn submission(annotator: &str, decisions: Vec<Decision>, replace: bool) -> Result<Submission, Failure> {
    Ok(Submission {
        key: random_id()?,
        annotator: annotator.to_string(),
        decisions,
        replace,
        remark: Default::default(),
    })
}

/// The refusal of a session that is closed.
pub fn closed() -> Failure {
    Failure::usage("this session is closed. Open the project again: dial.open(path).")
}

impl Inner {
    /// Writes a project in memory into a folder, or a copy of one on disk.
    pub fn save(&mut self, folder: &Path, rows: Option<Plain<'_>>, control: &Control) -> Result<(), Failure> {
        let in_memory = !self.on_disk();
        let print = rows.map(|rows| Fingerprint::of_rows(rows.values, rows.n, rows.dim));
        let (project, ground) = match &mut self.holding {
            Holding::Own(project) => (project, self.labelling.ground()),
            Holding::Served(_) => return Err(Failure::usage("the page has the project. Stop it first: page.stop().")),
            Holding::Closed => return Err(closed()),
        };
        if let (true, Some(print)) = (in_memory, print) {
            let place = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf()).join(FEATURES);
            let recipe =
                Recipe { pool: place.display().to_string(), features: print.to_string(), ..ground.recipe.clone() };
            let known = project.log().recipe();
            if known.is_some_and(|known| !known.features.is_empty() && known.features != recipe.features) {
                return Err(Failure::usage("X has changed since the graph was made of it. Make a new session of it."));
            }
            if known != Some(&recipe) {
                project.change_pool(recipe, None, random_id()?, now())?;
            }
        }
        let fill = |folder: &dial_store::Folder| {
            let Some((rows, print)) = rows.zip(print) else { return Ok(()) };
            let data = match rows.values {
                dial::Values::F32(values) => SavedData::F32(values),
                dial::Values::F64(values) => SavedData::F64(values),
            };
            write_npy(&folder.0.join(FEATURES), &Saved::matrix(data, rows.dim))?;
            ground.keep_graph(folder, rows.dim, print, control)
        };
        Ok(project.save(folder, Journal::Wal, &[KEPT], fill, now())?)
    }
}
