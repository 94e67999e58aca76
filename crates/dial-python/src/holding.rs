//! A project in memory, on disk, or in the hands of a server, and the session that follows it.

use std::path::Path;

use dial::{ClassId, Control, NodeId, View};
use dial_data::write::{Saved, SavedData, write_npy};
use dial_data::{Fingerprint, Matrix};
use dial_store::time::Clock;
use dial_store::{
    ASKABLE, Decision, Follower, Journal, Log, Project, Receipt, Recipe, Share, Submission,
    keep_graph, random_id,
};

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
    /// What the session was made from.
    pub engine: dial::Engine<'static>,
    /// The session, which follows the project.
    pub follower: Follower,
    /// The belief of a moment, by the place in the log.
    pub view: Option<(u64, View<'static>)>,
    /// The rows of a project that was opened; those of a session in memory are Python's.
    pub rows: Option<Matrix>,
    /// The process that made it.
    pub process: u32,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // What belongs to the parent of this process is not ours to close.
        if self.process != std::process::id() {
            std::mem::forget(std::mem::replace(&mut self.holding, Holding::Closed));
        }
    }
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

/// A label: the row, and the names of classes with weights.
pub type Told = (usize, Vec<(String, f64)>);

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
        let news = self.read(|project| self.follower.news(project.log()))?;
        Ok(self.follower.follow(news, control)?)
    }

    /// Stores decisions.
    pub fn submit(
        &mut self,
        annotator: &str,
        decisions: Vec<Decision>,
        replace: bool,
    ) -> Result<Receipt, Failure> {
        self.send(submission(annotator, decisions, replace)?)
    }

    /// Adds classes and stores labels by the names of classes: both, or neither where the labels are refused.
    pub fn tell(
        &mut self,
        told: &[Told],
        new: &[String],
        annotator: &str,
        replace: bool,
    ) -> Result<Receipt, Failure> {
        for (row, classes) in told.iter().filter(|_| !replace) {
            self.contradicts(*row, classes, annotator)?;
        }
        let add =
            |name: &String| submission("", vec![Decision::AddClass { name: name.clone() }], false);
        let added = new
            .iter()
            .map(add)
            .collect::<Result<Vec<Submission>, Failure>>()?;
        if !added.is_empty() {
            // As they would come, were nobody else there.
            let foreseen = self.labels(told, annotator, replace, |log, name| {
                let place = new.iter().position(|other| other == name);
                place.map(|place| ClassId(log.labels().new_class().0.saturating_add(place as u16)))
            })?;
            let all: Vec<Submission> = added.iter().cloned().chain([foreseen]).collect();
            self.read(|project| project.would_take(&all))??;
        }
        for one in added {
            let name = match one.decisions.first() {
                Some(Decision::AddClass { name }) => name.clone(),
                _ => String::new(),
            };
            let sent = self.send(one);
            // Somebody may have added the same just now.
            if !self.read(|project| project.log().labels().class_named(&name).is_ok())? {
                sent?;
            }
        }
        let labels = self.labels(told, annotator, replace, |_, _| None)?;
        self.send(labels)
    }

    /// Labels as a submission; `other` knows classes that the log does not have.
    fn labels(
        &self,
        told: &[Told],
        annotator: &str,
        replace: bool,
        other: impl Fn(&Log, &str) -> Option<ClassId>,
    ) -> Result<Submission, Failure> {
        let class = |log: &Log, name: &String| match other(log, name) {
            Some(class) => Ok(class),
            None => log.labels().class_named(name),
        };
        let mut decisions = Vec::with_capacity(told.len());
        for (row, classes) in told {
            let item = self.item(*row)?;
            let one = |log: &Log, (name, weight): &(String, f64)| Ok((class(log, name)?, *weight));
            let all = |log: &Log| {
                classes
                    .iter()
                    .map(|part| one(log, part))
                    .collect::<dial::Result<Vec<(ClassId, f64)>>>()
            };
            let classes = self.read(|project| all(project.log()))??;
            decisions.push(Decision::Label {
                item,
                classes: Share::of(&classes),
            });
        }
        submission(annotator, decisions, replace)
    }

    /// Refuses an answer that contradicts one of the same annotator. A project would keep it aside; here the caller is told.
    fn contradicts(
        &self,
        row: usize,
        classes: &[(String, f64)],
        annotator: &str,
    ) -> Result<(), Failure> {
        let item = self.item(row)?;
        let stands = self.read(|project| {
            let log = project.log();
            let label = log.label_of(&item, annotator)?;
            let named: Vec<(String, f64)> = label
                .iter()
                .map(|(class, weight)| (log.class_name(log.resolved(*class)).to_string(), *weight))
                .collect();
            let same =
                named.len() == classes.len() && classes.iter().all(|one| named.contains(one));
            (!same).then(|| log.label_in_words(label))
        })?;
        match stands {
            None => Ok(()),
            Some(stands) => Err(Failure::conflict(format!(
                "row {row} is {stands} already, and {} now. Nothing was changed. Pass replace=True to change it.",
                classes
                    .iter()
                    .map(|(name, _)| name.as_str())
                    .collect::<Vec<_>>()
                    .join(" or ")
            ))),
        }
    }

    /// Changes the project; whoever else looks at it is told.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut Project) -> T) -> Result<T, Failure> {
        match &mut self.holding {
            Holding::Own(project) => Ok(change(project)),
            Holding::Served(serving) => Ok(serving.served.change(change)),
            Holding::Closed => Err(closed()),
        }
    }

    fn send(&mut self, submission: Submission) -> Result<Receipt, Failure> {
        Ok(self.change(|project| project.submit_one(submission, now()))??)
    }

    /// Keeps bytes under a name.
    pub fn keep(&mut self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.change(|project| project.keep(name, bytes))??)
    }

    /// What was kept under a name.
    pub fn kept(&mut self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        Ok(self.change(|project| project.kept(name))??)
    }

    /// The id of a row.
    pub fn item(&self, row: usize) -> Result<String, Failure> {
        let items = &self.engine.items;
        match u32::try_from(row).ok().filter(|_| row < items.len()) {
            Some(node) => Ok(items.id(NodeId(node))),
            None => Err(dial::Error::UnknownItem(row.to_string()).into()),
        }
    }
}

/// Decisions under a new key.
pub fn submission(
    annotator: &str,
    decisions: Vec<Decision>,
    replace: bool,
) -> Result<Submission, Failure> {
    let (key, annotator) = (random_id()?, annotator.to_string());
    Ok(Submission {
        key,
        annotator,
        decisions,
        replace,
        ..Submission::default()
    })
}

/// The refusal of a session that is closed.
pub fn closed() -> Failure {
    Failure::usage("this session is closed. Open the project again: dial.open(path).")
}

impl Inner {
    /// Writes a project in memory into a folder, or a copy of one on disk.
    pub fn save(
        &mut self,
        folder: &Path,
        rows: Option<Plain<'_>>,
        control: &Control,
    ) -> Result<(), Failure> {
        let in_memory = !self.on_disk();
        let print = rows.map(|rows| Fingerprint::of_rows(rows.values, rows.n, rows.dim));
        let (project, engine) = match &mut self.holding {
            Holding::Own(project) => (project, &self.engine),
            Holding::Served(_) => {
                return Err(Failure::usage(
                    "the page has the project. Stop it first: page.stop().",
                ));
            }
            Holding::Closed => return Err(closed()),
        };
        if let (true, Some(print)) = (in_memory, print) {
            let place = std::path::absolute(folder)
                .unwrap_or_else(|_| folder.to_path_buf())
                .join(FEATURES);
            let Some(known) = project.log().recipe() else {
                return Err(closed());
            };
            let (pool, features) = (place.display().to_string(), print.to_string());
            let recipe = Recipe {
                pool,
                features,
                ..known.clone()
            };
            if !known.features.is_empty() && known.features != recipe.features {
                return Err(Failure::usage(
                    "X has changed since the graph was made of it. Make a new session of it.",
                ));
            }
            if *known != recipe {
                project.change_pool(recipe, None, random_id()?, now())?;
            }
        }
        let recipe = project.log().recipe().cloned();
        let fill = |folder: &dial_store::Folder| {
            let Some((rows, print)) = rows.zip(print) else {
                return Ok(());
            };
            let data = match rows.values {
                dial::Values::F32(values) => SavedData::F32(values),
                dial::Values::F64(values) => SavedData::F64(values),
            };
            write_npy(&folder.0.join(FEATURES), &Saved::matrix(data, rows.dim))?;
            let Some(recipe) = &recipe else { return Ok(()) };
            keep_graph(engine, recipe, folder, (rows.dim, print), control)
        };
        Ok(project.save(folder, Journal::Wal, &[KEPT, ASKABLE], fill, now())?)
    }
}
