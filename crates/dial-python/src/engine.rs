//! The engine of a `dial.Session`: a project, in memory or on disk or in the hands of a server, and the session that follows
//! it. Rows and class ids only; labels of other kinds are Python's business.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use dial::{Change, ClassId, CompactGraph, Control, Items, NodeId, Options, View};
use dial_data::Fingerprint;
use dial_data::write::{Saved, SavedData, write_npy};
use dial_store::time::Clock;
use dial_store::{
    Decision, Ground, Journal, Labelling, Log, Memory, Project, Receipt, Recipe, Store, Submission, random_id,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{Csr, Plain, Rows};
use crate::errors::Failure;
use crate::serving::Serving;
use crate::settings::Settings;
use crate::work::run;

/// The name under which Python keeps what its labels are.
const KEPT: &str = "python";

/// The name of the features in a project that was saved.
const FEATURES: &str = "features.npy";

/// A project and its session.
#[pyclass(frozen, module = "dial._dial")]
pub struct Engine {
    inner: Mutex<Inner>,
}

/// What is behind the lock.
pub struct Inner {
    /// The project.
    pub holding: Holding,
    /// The session.
    pub labelling: Labelling,
    /// The belief of a moment, by the place in the log.
    pub view: Option<(u64, View<'static>)>,
    process: u32,
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

impl Engine {
    fn new(project: Project, labelling: Labelling) -> Engine {
        let holding = Holding::Own(Box::new(project));
        Engine { inner: Mutex::new(Inner { holding, labelling, view: None, process: std::process::id() }) }
    }

    /// Starts a project in memory.
    fn begin(
        ground: Ground,
        classes: Vec<String>,
        expected: Option<usize>,
        control: &Control,
    ) -> Result<Engine, Failure> {
        let mut project = Project::on(Box::new(Memory::new(&random_id()?)), None, None)?;
        let options = Options { expected_clusters: expected, ..ground.options.clone() };
        let settings = ground.setting.settle(&options, classes.len().max(2), control)?;
        let mut decisions = vec![Decision::Recipe(Box::new(ground.recipe.clone()))];
        decisions.extend(classes.into_iter().map(|name| Decision::AddClass { name }));
        decisions.push(Decision::Change(settings));
        let (annotator, remark) = (String::new(), Default::default());
        let first = Submission { key: "new".into(), annotator, decisions, replace: false, remark };
        project.submit_one(first, now())?;
        let labelling = Labelling::new(ground, project.log(), control)?;
        Ok(Engine::new(project, labelling))
    }

    /// Works with what is behind the lock. Whoever waits for it can be stopped, too.
    pub fn with<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        work: impl FnOnce(&mut Inner, &Control) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        run(py, progress, |control| work(&mut *self.lock(control)?, control))
    }

    fn lock(&self, control: &Control) -> Result<MutexGuard<'_, Inner>, Failure> {
        let inner = loop {
            match self.inner.try_lock() {
                Ok(inner) => break inner,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    control.check()?;
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        };
        if inner.process != std::process::id() && inner.on_disk() {
            return Err(Failure::usage(
                "this session was opened by another process, which still has it. Open the project in one process only.",
            ));
        }
        Ok(inner)
    }
}

impl Inner {
    fn on_disk(&self) -> bool {
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

    fn submit(&mut self, annotator: &str, decisions: Vec<Decision>, replace: bool) -> Result<Receipt, Failure> {
        let (key, annotator, remark) = (random_id()?, annotator.to_string(), Default::default());
        let submission = Submission { key, annotator, decisions, replace, remark };
        Ok(match &mut self.holding {
            Holding::Own(project) => project.submit_one(submission, now())?,
            Holding::Served(serving) => serving.served.submit(submission)?,
            Holding::Closed => return Err(closed()),
        })
    }

    fn own(&mut self) -> Result<&mut Project, Failure> {
        match &mut self.holding {
            Holding::Own(project) => Ok(project),
            Holding::Served(_) => Err(Failure::usage("the page has the project. Stop it first: page.stop().")),
            Holding::Closed => Err(closed()),
        }
    }

    fn item(&self, row: usize) -> Result<String, Failure> {
        let items = &self.labelling.ground().setting.items;
        match u32::try_from(row).ok().filter(|_| row < items.len()) {
            Some(node) => Ok(items.id(NodeId(node))),
            None => Err(dial::Error::UnknownItem(row.to_string()).into()),
        }
    }
}

fn closed() -> Failure {
    Failure::usage("this session is closed. Open the project again: dial.open(path).")
}

/// A label: the row, and classes with weights.
type Told = (usize, Vec<(u16, f64)>);

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
            let (features, settings) = (plain.features()?, Settings(settings));
            let ground = Ground::of(features, Items::rows(plain.n), settings.recipe(plain.n)?, control)?;
            begin(ground, &settings, classes, askable, control)
        })
    }

    /// Begins on a graph.
    #[staticmethod]
    #[pyo3(signature = (graph, settings, classes, askable=None, progress=None))]
    fn of_graph(
        py: Python<'_>,
        graph: Csr<'_>,
        settings: HashMap<String, String>,
        classes: Vec<String>,
        askable: Option<Vec<bool>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Engine> {
        let weights = graph.weights()?;
        run(py, progress, |control| {
            let (graph, settings) = (CompactGraph::new(&*weights.graph()?), Settings(settings));
            let (items, recipe) = (Items::rows(graph.n()), settings.recipe(graph.n())?);
            let ground = Ground::on(graph, items, recipe, control)?;
            begin(ground, &settings, classes, askable, control)
        })
    }

    /// Opens a project; also gives what is worth saying about its pool.
    #[staticmethod]
    #[pyo3(signature = (folder, progress=None))]
    fn open(py: Python<'_>, folder: PathBuf, progress: Option<&Bound<'_, PyAny>>) -> PyResult<(Engine, Vec<String>)> {
        run(py, progress, |control| {
            let mut project = Project::open(&folder, Journal::Wal, now())?;
            // A failure does not touch the project, and whoever opens it next tries again.
            let _ = project.backup_if_due(now());
            let (material, notes) = project.material(control, now())?;
            let labelling = Labelling::new(material.ground, project.log(), control)?;
            Ok((Engine::new(project, labelling), notes))
        })
    }

    /// Everything that makes this session, to be had again by [`Engine::restored`]: the id of the project, its records, what
    /// Python keeps, the graph, and the rows that may be asked.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<State<'py>> {
        let (id, records, kept, askable, parts) = self.with(py, None, |inner, _| {
            let kept = match &mut inner.holding {
                Holding::Own(project) => project.kept(KEPT)?,
                _ => None,
            };
            let ground = inner.labelling.ground();
            let (parts, askable) = (ground.graph().parts().clone(), ground.options.askable.clone());
            let (id, records) = inner.read(|project| {
                (project.id().to_string(), serde_json::to_vec(project.log().records()).unwrap_or_default())
            })?;
            Ok((id, records, kept, askable.map(|askable| askable.to_vec()), parts))
        })?;
        let bytes = |values: &[u8]| PyBytes::new(py, values);
        Ok((id, bytes(&records), kept.map(|kept| bytes(&kept)), graph_bytes(py, &parts), askable))
    }

    /// The session of [`Engine::state`], in memory.
    #[staticmethod]
    fn restored(py: Python<'_>, state: StateBytes) -> PyResult<Engine> {
        run(py, None, |control| {
            let (id, records, kept, graph, askable) = state;
            let unread = |_| Failure::usage("these bytes are no session");
            let log = Log::replay(&id, serde_json::from_slice(&records).map_err(unread)?)?;
            let mut store = Memory::new(&id);
            store.append(&log.chained(0))?;
            let mut project = Project::on(Box::new(store), None, None)?;
            if let Some(kept) = kept {
                project.keep(KEPT, &kept)?;
            }
            let graph = CompactGraph::from_parts(crate::reading::parts_of(&graph)?)?;
            let Some(recipe) = project.log().recipe().cloned() else {
                return Err(Failure::usage("these bytes are no session"));
            };
            let items = project.item_ids()?;
            let numbered = items.iter().enumerate().all(|(row, id)| *id == row.to_string());
            let items = if numbered { Items::rows(items.len()) } else { Items::named(items)? };
            let ground = Ground::on(graph, items, recipe, control)?.asking_only(askable.map(Arc::new));
            let labelling = Labelling::new(ground, project.log(), control)?;
            Ok(Engine::new(project, labelling))
        })
    }

    /// Rows worth asking with their scores, the best first.
    #[pyo3(signature = (count, progress=None))]
    fn ask(&self, py: Python<'_>, count: usize, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(u32, f64)>> {
        self.with(py, progress, |inner, control| {
            inner.follow(control)?;
            let asked = inner.labelling.session().ask_under(count, control)?;
            Ok(asked.questions.iter().map(|question| (question.node.0, question.score)).collect())
        })
    }

    /// The same by scores of the caller's own.
    fn ask_by(&self, py: Python<'_>, scores: Vec<f64>, count: usize) -> PyResult<Vec<(u32, f64)>> {
        self.with(py, None, |inner, control| {
            inner.follow(control)?;
            let asked = inner.labelling.session().ask_by(scores, count)?;
            Ok(asked.questions.iter().map(|question| (question.node.0, question.score)).collect())
        })
    }

    /// Stores labels, and follows them; returns the group to undo them by.
    #[pyo3(signature = (told, annotator, replace, progress=None))]
    fn tell(
        &self,
        py: Python<'_>,
        told: Vec<Told>,
        annotator: &str,
        replace: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<u64>> {
        self.with(py, progress, |inner, control| {
            let decision = |(row, classes): Told| {
                let classes = classes.into_iter().map(|(class, weight)| (ClassId(class), weight)).collect();
                Ok(Decision::Change(Change::Label { item: inner.item(row)?, classes }))
            };
            let decisions = told.into_iter().map(decision).collect::<Result<Vec<Decision>, Failure>>()?;
            let receipt = inner.submit(annotator, decisions, replace)?;
            inner.follow(control)?;
            Ok(receipt.group)
        })
    }

    /// Skips or excludes rows.
    fn pass_over(&self, py: Python<'_>, rows: Vec<usize>, exclude: bool, annotator: &str) -> PyResult<Option<u64>> {
        self.with(py, None, |inner, control| {
            let decision = |row: usize| {
                let item = inner.item(row)?;
                Ok(Decision::Change(if exclude { Change::Exclude { item } } else { Change::Skip { item } }))
            };
            let decisions = rows.into_iter().map(decision).collect::<Result<Vec<Decision>, Failure>>()?;
            let receipt = inner.submit(annotator, decisions, false)?;
            inner.follow(control)?;
            Ok(receipt.group)
        })
    }

    /// Any other decision, in the words of the log; returns its group.
    fn decide(&self, py: Python<'_>, decision: &str, annotator: &str) -> PyResult<Option<u64>> {
        self.with(py, None, |inner, control| {
            let decision: Decision = match decision {
                "undo" => Decision::UndoLast,
                "redo" => Decision::RedoLast,
                text => serde_json::from_str(text).map_err(|error| Failure::usage(error.to_string()))?,
            };
            let receipt = inner.submit(annotator, vec![decision], false)?;
            inner.follow(control)?;
            Ok(receipt.group)
        })
    }

    /// Keeps what Python knows about its labels.
    fn keep(&self, py: Python<'_>, bytes: Vec<u8>) -> PyResult<()> {
        self.with(py, None, |inner, _| Ok(inner.own()?.keep(KEPT, &bytes)?))
    }

    /// What was kept.
    fn kept(&self, py: Python<'_>) -> PyResult<Option<Vec<u8>>> {
        self.with(py, None, |inner, _| Ok(inner.own()?.kept(KEPT)?))
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
        self.with(py, progress, |inner, control| inner.save(&folder, plain, control))
    }

    /// Opens the page of a project on disk; returns the link.
    #[pyo3(signature = (port, progress=None))]
    fn serve(&self, py: Python<'_>, port: u16, progress: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        self.with(py, progress, |inner, control| inner.serve(port, control))
    }

    /// Ends the page; the session has the project again.
    fn stop_serving(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, None, |inner, _| inner.stop_serving())
    }

    /// Ends everything in order.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, None, |inner, _| {
            if let Holding::Served(_) = &inner.holding {
                inner.stop_serving()?;
            }
            if let Holding::Own(project) = &mut inner.holding {
                project.close();
            }
            inner.holding = Holding::Closed;
            Ok(())
        })
    }
}

/// What a session is made of, as [`Engine::state`] gives it.
type State<'py> =
    (String, Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>, Vec<Bound<'py, PyBytes>>, Option<Vec<bool>>);

/// The same when it comes back.
type StateBytes = (String, Vec<u8>, Option<Vec<u8>>, Vec<Vec<u8>>, Option<Vec<bool>>);

fn graph_bytes<'py>(py: Python<'py>, parts: &dial::compact::Parts) -> Vec<Bound<'py, PyBytes>> {
    crate::reading::bytes_of(parts).into_iter().map(|bytes| PyBytes::new(py, &bytes)).collect()
}

fn begin(
    ground: Ground,
    settings: &Settings,
    classes: Vec<String>,
    askable: Option<Vec<bool>>,
    control: &Control,
) -> Result<Engine, Failure> {
    let ground = ground.asking_only(askable.map(Arc::new));
    Engine::begin(ground, classes, settings.get("expected_clusters")?, control)
}

impl Inner {
    /// Writes a project in memory into a folder, or a copy of one on disk.
    fn save(&mut self, folder: &Path, rows: Option<Plain<'_>>, control: &Control) -> Result<(), Failure> {
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
