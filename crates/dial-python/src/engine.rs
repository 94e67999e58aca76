//! The engine of a `dial.Session`: a project of this process behind a lock, as [`Local`] has it. Rows and the names of
//! classes only; labels of other kinds are Python's business.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use dial::Control;
use dial::graph::packed::PackedGraph;
use dial_data::ReadOptions;
use dial_server::Local;
use dial_store::{Decision, Journal, Material, Project, Recipe, Submission, random_id};
use pyo3::prelude::*;

use crate::arrays::{Csr, Rows};
use crate::errors::Failure;
use crate::holding::{KEPT, Told, decide, item, now, save, tell};
use crate::settings::Settings;
use crate::work::run;

/// A project and its session.
#[pyclass(frozen, module = "dial._dial")]
pub struct Engine {
    local: Mutex<Local>,
    /// The process that has the lock, 0 if none has: a fork takes the lock along, but not the thread that would free it.
    holder: AtomicU32,
    /// The process that made it.
    process: u32,
}

/// The lock, and the note of who has it.
struct Held<'a> {
    local: MutexGuard<'a, Local>,
    holder: &'a AtomicU32,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.holder.store(0, Ordering::Release);
    }
}

impl Engine {
    /// A session on a project.
    pub fn new(project: Project, material: Material, control: &Control) -> Result<Engine, Failure> {
        let watch = control.clone();
        let local = Local::on(project, material, move || watch.clone(), Box::new(|_| ()))?;
        Ok(Engine {
            local: Mutex::new(local),
            holder: AtomicU32::new(0),
            process: std::process::id(),
        })
    }

    /// A session on a project in memory, of which there is only an engine.
    pub fn in_memory(
        mut project: Project,
        engine: dial::Engine<'static>,
        askable: Option<Vec<bool>>,
        control: &Control,
    ) -> Result<Engine, Failure> {
        if let Some(askable) = &askable {
            project.keep_askable(askable)?;
        }
        let engine = engine.asking_only(askable.map(Arc::new));
        let recipe = project.log().recipe().cloned();
        let recipe = recipe.ok_or_else(|| Failure::usage("these bytes are no session"))?;
        Engine::new(project, Material::bare(engine, recipe), control)
    }

    /// Starts a project in memory.
    fn begin(
        engine: dial::Engine<'static>,
        classes: Vec<String>,
        askable: Option<Vec<bool>>,
        control: &Control,
    ) -> Result<Engine, Failure> {
        let mut project = Project::in_memory(&random_id()?, Vec::new(), None)?;
        let recipe = Recipe {
            items: engine.items.len(),
            config: engine.config.clone(),
            ..Recipe::new("", ReadOptions::default())
        };
        let settings = engine.settle(classes.len().max(2), control)?;
        let mut decisions = vec![Decision::Recipe(Box::new(recipe))];
        decisions.extend(classes.into_iter().map(|name| Decision::AddClass { name }));
        decisions.push(settings.into());
        let first = Submission {
            key: "new".into(),
            decisions,
            ..Submission::default()
        };
        project.submit_one(first, now())?;
        Engine::in_memory(project, engine, askable, control)
    }

    /// Works with what is behind the lock. Whoever waits for it can be stopped, too.
    pub fn with<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        work: impl FnOnce(&mut Local, &Control) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        run(py, progress, |control| {
            let mut held = self.lock(control)?;
            let watch = control.clone();
            held.local.watched(move || watch.clone());
            work(&mut held.local, control)
        })
    }

    /// Reads the project.
    pub fn read<T: Send>(
        &self,
        py: Python<'_>,
        look: impl FnOnce(&Project) -> T + Send,
    ) -> PyResult<T> {
        self.with(py, None, |local, _| Ok(local.read(look)?))
    }

    fn lock(&self, control: &Control) -> Result<Held<'_>, Failure> {
        let here = std::process::id();
        let local = loop {
            match self.local.try_lock() {
                Ok(local) => break local,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    control.check()?;
                    let holder = self.holder.load(Ordering::Acquire);
                    if holder != 0 && holder != here {
                        let text = "this session was in use by another thread when the process was forked. Use a copy of it.";
                        return Err(Failure::usage(text));
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        };
        self.holder.store(here, Ordering::Release);
        let held = Held {
            local,
            holder: &self.holder,
        };
        if self.process != here && on_disk(&held.local) {
            return Err(Failure::usage(
                "this session was opened by another process, which still has it. Open the project in one process only.",
            ));
        }
        Ok(held)
    }
}

/// Whether a folder belongs to the project.
pub fn on_disk(local: &Local) -> bool {
    let on_disk = |project: &Project| project.folder().is_some();
    local.is_served() || local.read(on_disk).unwrap_or(false)
}

/// Rows with their scores.
fn rows(asked: &dial::Ask) -> Vec<(u32, f64)> {
    let row = |question: &dial::Question| (question.node.0, question.score);
    asked.questions.iter().map(row).collect()
}

#[pymethods]
impl Engine {
    /// Builds the graph of rows and begins.
    #[staticmethod]
    #[pyo3(signature = (x, settings, classes, askable=None, progress=None))]
    fn of_rows(
        py: Python<'_>,
        x: Rows<'_>,
        settings: HashMap<String, String>,
        classes: Vec<String>,
        askable: Option<Vec<bool>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Engine> {
        let plain = x.plain()?;
        run(py, progress, |control| {
            let config = Settings(settings).config(plain.n)?;
            let engine = dial::Engine::build(plain.features()?, &config, control)?;
            Engine::begin(engine, classes, askable, control)
        })
    }

    /// Begins on a graph; the rows, if they are given, are for propagation that reads them.
    #[staticmethod]
    #[pyo3(signature = (graph, x, settings, classes, askable=None, progress=None))]
    fn of_graph(
        py: Python<'_>,
        graph: Csr<'_>,
        x: Option<Rows<'_>>,
        settings: HashMap<String, String>,
        classes: Vec<String>,
        askable: Option<Vec<bool>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Engine> {
        let weights = graph.weights()?;
        let plain = x.as_ref().map(|rows| rows.plain()).transpose()?;
        run(py, progress, |control| {
            let graph = Arc::new(PackedGraph::new(&*weights.graph()?));
            let config = Settings(settings).config(graph.n())?;
            let features = plain.map(|rows| rows.features()).transpose()?;
            let engine = dial::Engine::on(graph, features, &config, control)?;
            Engine::begin(engine, classes, askable, control)
        })
    }

    /// Opens a project; also gives what is worth saying about its pool.
    #[staticmethod]
    #[pyo3(signature = (folder, progress=None))]
    fn open(
        py: Python<'_>,
        folder: PathBuf,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Engine, Vec<String>)> {
        run(py, progress, |control| {
            let mut project = Project::open(&folder, Journal::Wal, now())?;
            // A failure does not touch the project, and whoever opens it next tries again.
            let _ = project.backup_if_due(now());
            let (material, notes) = project.material(control, now())?;
            Ok((Engine::new(project, material, control)?, notes))
        })
    }

    /// Rows worth asking with their scores, the best first.
    #[pyo3(signature = (count, progress=None))]
    fn ask(
        &self,
        py: Python<'_>,
        count: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<(u32, f64)>> {
        self.with(py, progress, |local, control| {
            Ok(rows(&local.session()?.ask_under(count, control)?))
        })
    }

    /// The same by scores of the caller's own.
    fn ask_by(&self, py: Python<'_>, scores: Vec<f64>, count: usize) -> PyResult<Vec<(u32, f64)>> {
        self.with(py, None, |local, _| {
            Ok(rows(&local.session()?.ask_by(scores, count)?))
        })
    }

    /// Stores labels, and the classes that are new with them, and follows; returns the group to undo the labels by, none if
    /// nothing was new.
    #[pyo3(signature = (told, new_classes, annotator, replace, progress=None))]
    fn tell(
        &self,
        py: Python<'_>,
        told: Vec<Told>,
        new_classes: Vec<String>,
        annotator: &str,
        replace: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<u64>> {
        self.with(py, progress, |local, control| {
            control.check()?;
            let receipt = tell(local, &told, &new_classes, annotator, replace)?;
            Ok(receipt.group.filter(|_| !receipt.known))
        })
    }

    /// Skips or excludes rows.
    fn pass_over(
        &self,
        py: Python<'_>,
        rows: Vec<usize>,
        exclude: bool,
        annotator: &str,
    ) -> PyResult<Option<u64>> {
        self.with(py, None, |local, _| {
            let items = &local.material()?.engine.items;
            let decision = |row: usize| {
                let item = item(items, row)?;
                Ok(if exclude {
                    Decision::Exclude { item }
                } else {
                    Decision::Skip { item }
                })
            };
            let decisions = rows.into_iter().map(decision);
            let decisions = decisions.collect::<Result<Vec<Decision>, Failure>>()?;
            Ok(decide(local, annotator, decisions, false)?.group)
        })
    }

    /// Any decision, as the interface takes it; returns its group. What others did is only taken back on purpose.
    fn decide(
        &self,
        py: Python<'_>,
        decision: &str,
        annotator: &str,
        on_purpose: bool,
    ) -> PyResult<Option<u64>> {
        self.with(py, None, |local, _| {
            let unread = |error: serde_json::Error| Failure::usage(error.to_string());
            let decision: Decision = serde_json::from_str(decision).map_err(unread)?;
            Ok(decide(local, annotator, vec![decision], on_purpose)?.group)
        })
    }

    /// Keeps what Python knows about its labels.
    fn keep(&self, py: Python<'_>, bytes: Vec<u8>) -> PyResult<()> {
        self.with(py, None, |local, _| {
            Ok(local.change(|project| project.keep(KEPT, &bytes))??)
        })
    }

    /// What was kept.
    fn kept(&self, py: Python<'_>) -> PyResult<Option<Vec<u8>>> {
        self.with(py, None, |local, _| {
            Ok(local.change(|project| project.kept(KEPT))??)
        })
    }

    /// Writes the project into a folder, with the rows it was made of if they are given.
    #[pyo3(signature = (folder, x=None, progress=None))]
    fn save(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        x: Option<Rows<'_>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let plain = x.as_ref().map(|rows| rows.plain()).transpose()?;
        self.with(py, progress, |local, control| {
            save(local, &folder, plain, control)
        })
    }

    /// Opens the page of a project on disk; returns the link.
    #[pyo3(signature = (port, progress=None))]
    fn serve(
        &self,
        py: Python<'_>,
        port: u16,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        self.with(py, progress, |local, _| Ok(local.serve(port)?))
    }

    /// Ends the page; the session has the project again.
    fn stop_serving(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, None, |local, _| Ok(local.stop_serving()?))
    }

    /// Ends everything in order.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, None, |local, _| {
            local.close();
            Ok(())
        })
    }
}
