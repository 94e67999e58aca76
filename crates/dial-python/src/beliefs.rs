//! What a session believes, as arrays.

use std::collections::BTreeSet;
use std::sync::Arc;

use dial::belief::field::variance;
use dial::session::out_of_sample::Newcomers;
use dial::{ClassId, Config, NodeId, Prediction, View};
use dial_data::{Buffer, Matrix};
use dial_server::ProjectHandle;
use dial_store::{PreparedPool, Snapshot};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::arrays::{CsrArrays, Rows, csr_arrays, matrix};
use crate::engine::Engine;
use crate::errors::Failure;

/// One array of numbers.
type Numbers<'py> = Bound<'py, PyArray1<f64>>;

/// Classes, probabilities, variances and evidence.
type Belief<'py> = (
    Vec<u16>,
    Bound<'py, PyArray2<f64>>,
    Numbers<'py>,
    Numbers<'py>,
);

/// A label as it stands: the row, who gave it, classes with weights.
type Label = (Option<u32>, String, Vec<(u16, f64)>);

/// A number for every node, in parallel.
fn of_nodes<T: Send>(view: &View<'_>, value: impl Fn(NodeId) -> T + Sync) -> Vec<T> {
    (0..view.n() as u32)
        .into_par_iter()
        .with_min_len(1024)
        .map(|node| value(NodeId(node)))
        .collect()
}

/// The rows of a project that was opened; those of a session in memory are Python's.
fn own_rows(prepared: &PreparedPool) -> Option<&Matrix> {
    Some(&prepared.pool.matrix).filter(|matrix| matrix.dim > 0)
}

/// The settings of a configuration by their names in Python.
fn named(config: &Config) -> Value {
    json!({
        "k": config.k,
        "metric": config.metric,
        "weights": config.weights_word(),
        "search": config.search,
        "propagation": config.propagation.to_string(),
        "tau": config.tau.to_string(),
        "source_value": config.source_value,
        "precision": config.precision,
        "tolerance": config.tolerance,
        "acquisition": config.acquisition.to_string(),
        "policy": config.policy,
        "sharpness": config.sharpness.to_string(),
        "prior": config.prior.to_string(),
        "calibration": config.calibration.word(),
        "zero_vectors": config.zero_vectors,
        "seed": config.seed,
    })
}

impl Engine {
    /// A number for every row.
    fn by_row<'py>(
        &self,
        py: Python<'py>,
        value: impl Fn(&View<'static>, NodeId) -> f64 + Send + Sync,
    ) -> PyResult<Numbers<'py>> {
        let found = self.with(py, None, |local, _| {
            let view = local.belief()?;
            Ok(of_nodes(view, |node| value(view, node)))
        })?;
        Ok(PyArray1::from_vec(py, found))
    }

    /// Numbers for every row, one for each class.
    fn by_class<'py>(
        &self,
        py: Python<'py>,
        values: impl Fn(&View<'static>, NodeId) -> Vec<f64> + Send + Sync,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (found, classes) = self.with(py, None, |local, _| {
            let view = local.belief()?;
            let found = of_nodes(view, |node| values(view, node)).concat();
            Ok((found, view.classes().len()))
        })?;
        matrix(py, found, classes)
    }
}

#[pymethods]
impl Engine {
    /// Number of rows.
    fn n(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, None, |local, _| {
            Ok(local.prepared()?.engine.items.len())
        })
    }

    /// The live classes: ids and names, in the order of probabilities.
    fn classes(&self, py: Python<'_>) -> PyResult<Vec<(u16, String)>> {
        self.read(py, |project| {
            let log = project.log();
            let named = |class: ClassId| (class.0, log.class_name(class).to_string());
            log.labels().classes().into_iter().map(named).collect()
        })
    }

    /// The place of the log that is stored.
    fn version(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, |project| project.log().version())
    }

    /// The folder of a project on disk, and whether its page is open.
    fn place(&self, py: Python<'_>) -> PyResult<(Option<String>, bool)> {
        self.with(py, None, |local, _| {
            let folder = |project: &Snapshot| Some(project.folder()?.0.display().to_string());
            Ok((local.read(folder)?, local.is_served()))
        })
    }

    /// The settings in force, as JSON, with those that were found for this pool.
    fn settings(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |project| {
            let found = project.log().labels().settings();
            let config = project.log().recipe().map(|recipe| &recipe.config);
            let mut settings = config.map(named).unwrap_or_default();
            settings["prior_strength"] = json!(found.map(|(prior, _)| prior));
            settings["expected_clusters"] = json!(found.map(|(_, expected)| expected));
            settings.to_string()
        })
    }

    /// The log, as JSON.
    fn records(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |project| {
            serde_json::to_string(project.log().records()).unwrap_or_default()
        })
    }

    /// The labels that stand.
    fn labels(&self, py: Python<'_>) -> PyResult<Vec<Label>> {
        self.with(py, None, |local, _| {
            let prepared = Arc::clone(local.prepared()?);
            let label = |label: &dial_store::Live<'_>| {
                let row = prepared.engine.items.node(label.item).ok();
                let classes = label
                    .classes
                    .iter()
                    .map(|(class, weight)| (class.0, *weight));
                (
                    row.map(|node| node.0),
                    label.annotator.to_string(),
                    classes.collect(),
                )
            };
            Ok(local.read(|project| project.log().live_labels().iter().map(label).collect())?)
        })
    }

    /// The rows that were skipped or excluded, the latest first, and whether they are left out.
    fn passed(&self, py: Python<'_>) -> PyResult<Vec<(u32, bool)>> {
        self.with(py, None, |local, _| {
            let prepared = Arc::clone(local.prepared()?);
            let row = |one: dial_store::Passed| {
                let node = prepared.engine.items.node(&one.id).ok()?;
                Some((node.0, one.excluded))
            };
            Ok(local.read(|project| {
                let all = dial_store::passed(project.log());
                all.into_iter().filter_map(row).collect()
            })?)
        })
    }

    /// The group of the last answer that stands, whoever gave it.
    fn last_group(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.read(py, |project| {
            let log = project.log();
            let people: BTreeSet<&str> = log
                .records()
                .iter()
                .map(|record| record.annotator.as_str())
                .collect();
            people
                .into_iter()
                .filter_map(|annotator| log.labels().last_group(annotator))
                .max()
        })
    }

    /// The class of every row, as an id.
    #[pyo3(signature = (progress=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<u16>>> {
        let found = self.with(py, progress, |local, _| {
            let view = local.belief()?;
            Ok(of_nodes(view, |node| view.class(node).0))
        })?;
        Ok(PyArray1::from_vec(py, found))
    }

    /// The probability of every class at every row.
    fn predict_proba<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.by_class(py, View::probabilities)
    }

    /// α of every class at every row.
    fn alpha<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.by_class(py, View::alpha)
    }

    /// The variance at every row.
    fn variance<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        self.by_row(py, |view, node| variance(&view.alpha(node)))
    }

    /// The evidence at every row.
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        self.by_row(py, View::evidence)
    }

    /// The score of every row by the acquisition of the session.
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        let found = self.with(py, None, |local, control| {
            Ok(local.session()?.scores(control)?)
        })?;
        Ok(PyArray1::from_vec(py, found))
    }

    /// Labels that the others contradict, the least probable first: row, class given, class by the others, probability.
    fn suspects(&self, py: Python<'_>) -> PyResult<Vec<(u32, u16, u16, f64)>> {
        self.with(py, None, |local, _| {
            let suspects = local.belief()?.suspects();
            let row = |one: dial::session::view::LeaveOneOut| {
                (one.node.0, one.label.0, one.expected.0, one.probability)
            };
            Ok(suspects.into_iter().map(row).collect())
        })
    }

    /// How the project stands, as JSON.
    fn estimates(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, None, |local, _| {
            Ok(serde_json::to_string(&local.estimates()?).unwrap_or_default())
        })
    }

    /// Predictions for new rows, from their neighbours among the rows of the pool.
    #[pyo3(signature = (x, new, progress=None))]
    fn about<'py>(
        &self,
        py: Python<'py>,
        x: Option<Rows<'py>>,
        new: Rows<'py>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Belief<'py>> {
        let (x, new) = (
            x.as_ref().map(|rows| rows.plain()).transpose()?,
            new.plain()?,
        );
        let (found, classes) = self.with(py, progress, |local, control| {
            let prepared = local.prepared()?;
            let config = &prepared.engine.config;
            let pool = match (x, own_rows(prepared)) {
                (Some(rows), _) => rows.features()?,
                (None, Some(matrix)) => matrix.features()?,
                (None, None) => {
                    return Err(Failure::usage(
                        "this session was made of a graph: new rows have no neighbours in it.",
                    ));
                }
            };
            let near = Newcomers::find(pool, new.features()?, config.k, config.metric, control)?;
            let view = local.belief()?;
            Ok((view.about(&near), view.classes().len()))
        })?;
        let numbers = |of: fn(&Prediction) -> f64| PyArray1::from_iter(py, found.iter().map(of));
        let probabilities = found
            .iter()
            .flat_map(|one| &one.probabilities)
            .copied()
            .collect();
        Ok((
            found.iter().map(|one| one.class.0).collect(),
            matrix(py, probabilities, classes)?,
            numbers(|one| one.variance),
            numbers(|one| one.evidence),
        ))
    }

    /// A copy of the rows of a project that was opened; nothing for other sessions.
    #[pyo3(signature = () -> "object")]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let rows = self.with(
            py,
            None,
            |local, _| Ok(own_rows(local.prepared()?).cloned()),
        )?;
        rows.map(|rows| {
            Ok(match rows.values {
                Buffer::F32(values) => PyArray1::from_vec(py, values)
                    .reshape([rows.n, rows.dim])?
                    .into_any(),
                Buffer::F64(values) => matrix(py, values, rows.dim)?.into_any(),
            })
        })
        .transpose()
    }

    /// The graph.
    fn graph<'py>(&self, py: Python<'py>) -> PyResult<CsrArrays<'py>> {
        let graph = self.with(py, None, |local, _| {
            let graph = &local.prepared()?.engine.graph;
            let graph = graph.as_ref().map(|graph| graph.to_graph());
            graph.ok_or_else(|| Failure::usage("this session has no graph"))
        })?;
        Ok(csr_arrays(py, &graph))
    }
}
