//! The engine of a `dial.Session`: a project of this process behind a lock, as [`Local`] has it. Rows and the names of
//! classes only; labels of other kinds are Python's business.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use dial::graph::packed::PackedGraph;
use dial::{Choices, Control};
use dial_data::{Fingerprint, ReadOptions};
use dial_server::http::wire::Next;
use dial_server::{Asked, Client, Local};
use dial_store::{
    Decision, Folder, GivenGraph, Journal, PreparedPool, Project, Recipe, Snapshot, Submission,
    random_id,
};
use pyo3::prelude::*;

use crate::arrays::{Csr, Rows};
use crate::errors::Failure;
use crate::holding::{PYTHON_LABELS_KEY, RowLabel, decide, item, now, save, tell};
use crate::keywords::Keywords;
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
    pub fn new(
        project: Project,
        prepared: PreparedPool,
        control: &Control,
    ) -> Result<Engine, Failure> {
        let watch = control.clone();
        let local = Local::on(project, prepared, move || watch.clone(), Box::new(|_| ()))?;
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
        let recipe = recipe.ok_or_else(|| Failure::usage("these bytes are not a session"))?;
        Engine::new(project, PreparedPool::bare(engine, recipe), control)
    }

    /// Starts a project in memory.
    fn begin(
        engine: dial::Engine<'static>,
        given: Option<GivenGraph>,
        classes: Vec<String>,
        askable: Option<Vec<bool>>,
        control: &Control,
    ) -> Result<Engine, Failure> {
        let mut project = Project::in_memory(&random_id()?, Vec::new(), None)?;
        let recipe = Recipe {
            items: engine.items.len(),
            config: engine.config.clone(),
            graph: given,
            ..Recipe::new("", ReadOptions::default())
        };
        let settings = engine.fix_prior(classes.len().max(2), control)?;
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
        look: impl FnOnce(&Snapshot) -> T + Send,
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
    let on_disk = |project: &Snapshot| project.folder().is_some();
    local.is_served() || local.read(on_disk).unwrap_or(false)
}

/// Opens a project that nobody else has. Belief, graph and scores of a session are not on the wire, so one that a server has
/// is refused, with the server's process.
fn open(folder: &Path) -> Result<Project, Failure> {
    let held = match Project::open(folder, Journal::Wal, now()) {
        Err(held @ dial_store::Error::Held { .. }) => held,
        opened => return Ok(opened?),
    };
    let folder = Folder(folder.to_path_buf());
    match Client::find(&folder, Box::new(|_| ())) {
        Ok(Some(client)) => Err(client.refusal(&folder).into()),
        _ => Err(held.into()),
    }
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
            let config = Keywords(settings).config(plain.n)?;
            let engine = dial::Engine::build(plain.features()?, &config, control)?;
            Engine::begin(engine, None, classes, askable, control)
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
            let choices = Choices {
                given_graph: true,
                ..Keywords(settings).choices()?
            };
            let config = choices.config(graph.n())?;
            let features = plain.map(|rows| rows.features()).transpose()?;
            // It lies where the project is saved.
            let given = GivenGraph {
                file: PathBuf::new(),
                fingerprint: Fingerprint::of_graph(&graph).to_string(),
            };
            let engine = dial::Engine::on(graph, features, &config, control)?;
            Engine::begin(engine, Some(given), classes, askable, control)
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
            let mut project = open(&folder)?;
            // A failure does not touch the project, and whoever opens it next tries again.
            let _ = project.backup_if_due(now());
            let mut notes = project.take_notes();
            let (prepared, of_the_pool) = project.prepared(control, now())?;
            notes.extend(of_the_pool);
            Ok((Engine::new(project, prepared, control)?, notes))
        })
    }

    /// Rows to label next, with their scores (NaN for a row that was not chosen by its score), by the rule that every handle
    /// of a project chooses by; by scores of the caller's own, where they are given.
    #[pyo3(signature = (count, annotator, scores=None, progress=None))]
    fn ask(
        &self,
        py: Python<'_>,
        count: usize,
        annotator: &str,
        scores: Option<Vec<f64>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<(u32, f64)>> {
        let wish = Next {
            annotator: annotator.into(),
            count,
            except: Vec::new(),
        };
        let row = |asked: Asked| (asked.node.0, asked.score.unwrap_or(f64::NAN));
        self.with(py, progress, |local, _| {
            let asked = local.choose(&wish, scores)?;
            Ok(asked.into_iter().map(row).collect())
        })
    }

    /// Stores labels, and the classes that are new with them, and follows; returns the group to undo the labels by, none if
    /// nothing was new.
    #[pyo3(signature = (told, new_classes, annotator, replace, adjudicate, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "one for each argument in Python")]
    fn tell(
        &self,
        py: Python<'_>,
        told: Vec<RowLabel>,
        new_classes: Vec<String>,
        annotator: &str,
        replace: bool,
        adjudicate: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<u64>> {
        self.with(py, progress, |local, control| {
            control.check()?;
            let how = (replace, adjudicate);
            let receipt = tell(local, &told, &new_classes, annotator, how)?;
            Ok(receipt.group.filter(|_| !receipt.known))
        })
    }

    /// Skips, excludes or reopens rows, by the kind of the decision.
    fn pass_over(
        &self,
        py: Python<'_>,
        rows: Vec<usize>,
        kind: &str,
        annotator: &str,
    ) -> PyResult<Option<u64>> {
        self.with(py, None, |local, _| {
            let items = &local.prepared()?.engine.items;
            let decision = |row: usize| {
                let item = item(items, row)?;
                Ok(match kind {
                    "exclude" => Decision::Exclude { item },
                    "reopen" => Decision::Reopen { item },
                    _ => Decision::Skip { item },
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
            Ok(local.change(|project| project.keep(PYTHON_LABELS_KEY, &bytes))??)
        })
    }

    /// What was kept.
    fn kept(&self, py: Python<'_>) -> PyResult<Option<Vec<u8>>> {
        self.with(py, None, |local, _| {
            Ok(local.change(|project| project.kept(PYTHON_LABELS_KEY))??)
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

    /// A file that opens the page in a browser: a link would stand in the arguments of the browser, for all to read.
    fn launch_file(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, None, |local, _| {
            Ok(local.launch_file()?.display().to_string())
        })
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
