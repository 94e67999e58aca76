//! The engine of a `dial.Session`: a project, in memory or on disk or in the hands of a server, and the session that follows
//! it. Rows and the names of classes only; labels of other kinds are Python's business.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use dial::{CompactGraph, Control};
use dial_data::{Matrix, ReadOptions};
use dial_store::{
    Decision, Follower, Journal, Memory, News, Project, Recipe, Submission, random_id,
};
use pyo3::prelude::*;

use crate::arrays::{Csr, Rows};
use crate::errors::Failure;
use crate::holding::{Holding, Inner, KEPT, Told, now};
use crate::settings::Settings;
use crate::work::run;

/// A project and its session.
#[pyclass(frozen, module = "dial._dial")]
pub struct Engine {
    inner: Mutex<Inner>,
    /// The process that has the lock, 0 if none has: a fork takes the lock along, but not the thread that would free it.
    holder: AtomicU32,
}

/// The lock, and the note of who has it.
struct Held<'a> {
    inner: MutexGuard<'a, Inner>,
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
        engine: dial::Engine<'static>,
        rows: Option<Matrix>,
        control: &Control,
    ) -> Result<Engine, Failure> {
        let follower = Follower::new(&engine, News::whole(project.log()), control)?;
        let (holding, process) = (Holding::Own(Box::new(project)), std::process::id());
        let inner = Mutex::new(Inner {
            holding,
            engine,
            follower,
            view: None,
            rows,
            process,
        });
        Ok(Engine {
            inner,
            holder: AtomicU32::new(0),
        })
    }

    /// Starts a project in memory.
    fn begin(
        engine: dial::Engine<'static>,
        classes: Vec<String>,
        askable: Option<Vec<bool>>,
        control: &Control,
    ) -> Result<Engine, Failure> {
        let engine = engine.asking_only(askable.map(Arc::new));
        let mut project = Project::on(Box::new(Memory::new(&random_id()?)), None, None)?;
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
        if let Some(askable) = &engine.askable {
            project.keep_askable(askable)?;
        }
        Engine::new(project, engine, None, control)
    }

    /// Works with what is behind the lock. Whoever waits for it can be stopped, too.
    pub fn with<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        work: impl FnOnce(&mut Inner, &Control) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        run(py, progress, |control| {
            work(&mut self.lock(control)?.inner, control)
        })
    }

    fn lock(&self, control: &Control) -> Result<Held<'_>, Failure> {
        let inner = loop {
            match self.inner.try_lock() {
                Ok(inner) => break inner,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    control.check()?;
                    let holder = self.holder.load(Ordering::Acquire);
                    if holder != 0 && holder != std::process::id() {
                        let text = "this session was in use by another thread when the process was forked. Use a copy of it.";
                        return Err(Failure::usage(text));
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        };
        self.holder.store(std::process::id(), Ordering::Release);
        let inner = Held {
            inner,
            holder: &self.holder,
        };
        if inner.inner.process != std::process::id() && inner.inner.on_disk() {
            return Err(Failure::usage(
                "this session was opened by another process, which still has it. Open the project in one process only.",
            ));
        }
        Ok(inner)
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
            let graph = Arc::new(CompactGraph::new(&*weights.graph()?));
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
            let rows = Some(material.pool.matrix);
            Ok((Engine::new(project, material.engine, rows, control)?, notes))
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
        self.with(py, progress, |inner, control| {
            inner.follow(control)?;
            let asked = inner.follower.session().ask_under(count, control)?;
            Ok(asked
                .questions
                .iter()
                .map(|question| (question.node.0, question.score))
                .collect())
        })
    }

    /// The same by scores of the caller's own.
    fn ask_by(&self, py: Python<'_>, scores: Vec<f64>, count: usize) -> PyResult<Vec<(u32, f64)>> {
        self.with(py, None, |inner, control| {
            inner.follow(control)?;
            let asked = inner.follower.session().ask_by(scores, count)?;
            Ok(asked
                .questions
                .iter()
                .map(|question| (question.node.0, question.score))
                .collect())
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
        self.with(py, progress, |inner, control| {
            control.check()?;
            let receipt = inner.tell(&told, &new_classes, annotator, replace)?;
            inner.follow(control)?;
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
        self.with(py, None, |inner, control| {
            let decision = |row: usize| {
                let item = inner.item(row)?;
                Ok(if exclude {
                    Decision::Exclude { item }
                } else {
                    Decision::Skip { item }
                })
            };
            let decisions = rows
                .into_iter()
                .map(decision)
                .collect::<Result<Vec<Decision>, Failure>>()?;
            let receipt = inner.submit(annotator, decisions, false)?;
            inner.follow(control)?;
            Ok(receipt.group)
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
        self.with(py, None, |inner, control| {
            let unread = |error: serde_json::Error| Failure::usage(error.to_string());
            let decision: Decision = serde_json::from_str(decision).map_err(unread)?;
            let receipt = inner.submit(annotator, vec![decision], on_purpose)?;
            inner.follow(control)?;
            Ok(receipt.group)
        })
    }

    /// Keeps what Python knows about its labels.
    fn keep(&self, py: Python<'_>, bytes: Vec<u8>) -> PyResult<()> {
        self.with(py, None, |inner, _| inner.keep(KEPT, &bytes))
    }

    /// What was kept.
    fn kept(&self, py: Python<'_>) -> PyResult<Option<Vec<u8>>> {
        self.with(py, None, |inner, _| inner.kept(KEPT))
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
        self.with(py, progress, |inner, control| {
            inner.save(&folder, plain, control)
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
