//! The pieces of the method by themselves: neighbours, graph, propagation, field, scores, policies, classifiers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use dial::acquisition::Situation;
use dial::belief::prior::default_expected_clusters;
use dial::classifiers::Classifier;
use dial::config::AcquisitionKind;
use dial::engine;
use dial::features::Values;
use dial::graph::build::Lists;
use dial::policy::Chooser;
use dial::seed::{Purpose, Random};
use dial::{Acquisition, DirichletField, Graph, NodeId};
use dial_baselines::methods::{EIGENPAIRS, Workbench};
use dial_baselines::models::{Model, ModelName};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{Csr, CsrArrays, Rows, csr_arrays, matrix};
use crate::errors::Failure;
use crate::keywords::Keywords;
use crate::work::{held, run};

/// Sources that are solved for together.
const COLUMNS_PER_SOLVE: usize = 32;

/// Rows and distances.
type Nearest<'py> = (Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<f64>>);

/// The neighbours of every row (-1 where there are none) and how far away they are.
#[pyfunction]
#[pyo3(signature = (x, settings, progress=None))]
pub fn knn<'py>(
    py: Python<'py>,
    x: Rows<'py>,
    settings: HashMap<String, String>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Nearest<'py>> {
    let plain = x.plain()?;
    let (ids, distances, k) = run(py, progress, |control| {
        let config = Keywords(settings).paper(plain.n)?;
        let found = engine::search(plain.features()?, &config, control)?.neighbours;
        let k = found.k();
        let (mut ids, mut distances) = (vec![-1i64; plain.n * k], vec![f64::NAN; plain.n * k]);
        for row in 0..plain.n {
            for (slot, (other, squared)) in found.of(NodeId(row as u32)).enumerate() {
                (ids[row * k + slot], distances[row * k + slot]) =
                    (i64::from(other.0), squared.sqrt());
            }
        }
        Ok((ids, distances, k))
    })?;
    let ids = PyArray1::from_vec(py, ids).reshape([plain.n, k])?;
    Ok((ids, matrix(py, distances, k)?))
}

/// The graph of rows.
#[pyfunction]
#[pyo3(signature = (x, settings, progress=None))]
pub fn knn_graph<'py>(
    py: Python<'py>,
    x: Rows<'py>,
    settings: HashMap<String, String>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<CsrArrays<'py>> {
    let plain = x.plain()?;
    let graph = run(py, progress, |control| {
        let config = Keywords(settings).paper(plain.n)?;
        Ok(engine::graph(plain.features()?, &config, control)?.to_graph())
    })?;
    Ok(csr_arrays(py, &graph))
}

/// The graph of neighbours that are known, nearest first: their rows, and how far away they are.
#[pyfunction]
pub fn weighted<'py>(
    py: Python<'py>,
    ids: PyReadonlyArray2<'py, u32>,
    distances: PyReadonlyArray2<'py, f64>,
    settings: HashMap<String, String>,
) -> PyResult<CsrArrays<'py>> {
    let (n, k) = ids.as_array().dim();
    let (ids, distances) = (ids.as_slice()?, distances.as_slice()?);
    let graph = run(py, None, |control| {
        let squared: Vec<f64> = distances
            .iter()
            .map(|distance| distance * distance)
            .collect();
        let lists = Lists::new(k, ids, Values::F64(&squared))?;
        let config = Keywords(settings).paper(n)?;
        Ok(engine::graph_of(&lists, None, &config, control)?.to_graph())
    })?;
    Ok(csr_arrays(py, &graph))
}

/// What labels at some nodes say about every node: a row for each source.
#[pyfunction]
#[pyo3(signature = (graph, sources, settings, progress=None))]
pub fn propagate<'py>(
    py: Python<'py>,
    graph: Csr<'py>,
    sources: Vec<usize>,
    settings: HashMap<String, String>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let weights = graph.weights()?;
    let (columns, n) = run(py, progress, |control| {
        let graph = weights.graph()?;
        let n = graph.n();
        let node = |&source: &usize| match source < n {
            true => Ok(NodeId(source as u32)),
            false => Err(dial::Error::UnknownItem(source.to_string())),
        };
        let sources = sources
            .iter()
            .map(node)
            .collect::<dial::Result<Vec<NodeId>>>()?;
        let propagation = engine::propagation(graph, &Keywords(settings).paper(n)?)?;
        control.start("spreading labels", sources.len());
        let mut columns = Vec::with_capacity(sources.len());
        for some in sources.chunks(COLUMNS_PER_SOLVE) {
            columns.extend(propagation.columns(some, &control.quiet())?);
            control.advance(some.len())?;
        }
        control.finish();
        Ok((columns, n))
    })?;
    let values = columns
        .iter()
        .flat_map(|column| column.iter().copied())
        .collect();
    matrix(py, values, n)
}

/// A Dirichlet field.
#[pyclass(frozen, module = "dial._dial")]
pub struct Field {
    field: Mutex<DirichletField>,
}

#[pymethods]
impl Field {
    #[new]
    fn new(py: Python<'_>, n: usize, n_classes: usize, prior: f64) -> PyResult<Field> {
        run(py, None, |_| {
            if !(prior > 0.0 && prior.is_finite()) || n_classes < 2 {
                return Err(Failure::usage(
                    "a field needs at least 2 classes and a prior above 0.",
                ));
            }
            let room = n
                .checked_mul(n_classes)
                .is_some_and(|all| Vec::<f64>::new().try_reserve_exact(all).is_ok());
            match room && u32::try_from(n).is_ok() {
                true => Ok(Field {
                    field: Mutex::new(DirichletField::new(n, n_classes, prior)),
                }),
                false => Err(dial::Error::TooManyItems(n).into()),
            }
        })
    }

    /// Adds the evidence of a label of the class at a place.
    fn add(
        &self,
        py: Python<'_>,
        place: usize,
        column: PyReadonlyArray1<'_, f64>,
        weight: f64,
    ) -> PyResult<()> {
        let (column, mut field) = (column.as_slice()?, held(&self.field));
        if place >= field.n_classes() || column.len() != field.n() {
            let (n, classes) = (field.n(), field.n_classes());
            let text = format!(
                "a field of {n} nodes and {classes} classes takes columns of {n} numbers for its classes."
            );
            return Err(Failure::usage(text).raise(py));
        }
        field.add(place, weight, column);
        Ok(())
    }

    /// α of every class at every node.
    fn alpha<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (values, classes) = run(py, None, |_| {
            let field = held(&self.field);
            let values = (0..field.n() as u32)
                .flat_map(|node| field.alpha(NodeId(node)))
                .collect();
            Ok((values, field.n_classes()))
        })?;
        matrix(py, values, classes)
    }

    /// The mean at every node.
    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (values, classes) = run(py, None, |_| {
            let field = held(&self.field);
            let values = (0..field.n() as u32)
                .flat_map(|node| field.mean(NodeId(node)))
                .collect();
            Ok((values, field.n_classes()))
        })?;
        matrix(py, values, classes)
    }

    /// The variance at every node.
    fn variance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = run(py, None, |_| {
            let field = held(&self.field);
            let mut values = vec![0.0; field.n()];
            field.variances(&mut values);
            Ok(values)
        })?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// The evidence at every node.
    fn evidence<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let field = held(&self.field);
        PyArray1::from_iter(
            py,
            (0..field.n() as u32).map(|node| field.evidence(NodeId(node))),
        )
    }

    /// The scores of an acquisition that reads the field alone.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        settings: HashMap<String, String>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let field = held(&self.field).clone();
        let values = run(py, None, |_| {
            let config = Keywords(settings).paper(field.n())?;
            let AcquisitionKind::Score(score) = config.acquisition else {
                let text = "auto reads more than the field. Give a score such as variance.";
                return Err(Failure::usage(text));
            };
            let mut values = vec![0.0; field.n()];
            score.scores(&Situation::at_start(&field, config.seed), &mut values)?;
            Ok(values)
        })?;
        Ok(PyArray1::from_vec(py, values))
    }
}

/// Chooses rows by their scores.
#[pyfunction]
pub fn choose(
    py: Python<'_>,
    scores: PyReadonlyArray1<'_, f64>,
    candidates: Vec<u32>,
    settings: HashMap<String, String>,
    count: usize,
    question: u64,
) -> PyResult<Vec<u32>> {
    let scores = scores.as_slice()?;
    run(py, None, |_| {
        let config = Keywords(settings).paper(scores.len())?;
        // Nobody says how many classes there are.
        let expected_clusters = || default_expected_clusters(0);
        let chooser = Chooser {
            policy: config.policy,
            sharpness: config.sharpness,
            expected_clusters: config.expected_clusters.unwrap_or_else(expected_clusters),
            question: question.max(1),
            tie_seed: None,
        };
        let score = |&row: &u32| match scores.get(row as usize).filter(|score| !score.is_nan()) {
            Some(&score) => Ok((NodeId(row), score)),
            None => Err(Failure::usage(format!(
                "row {row} has no score, or one that is not a number."
            ))),
        };
        let mut candidates = candidates
            .iter()
            .map(score)
            .collect::<Result<Vec<_>, _>>()?;
        candidates.sort_unstable_by_key(|(node, _)| *node);
        candidates.dedup_by_key(|(node, _)| *node);
        let mut random = Random::new(config.seed, Purpose::Ask, question);
        let batch = chooser.choose_batch(
            &candidates,
            count.max(1),
            |_, _| false,
            &mut random,
            &mut Vec::new(),
        )?;
        Ok(batch.nodes.iter().map(|node| node.0).collect())
    })
}

/// The scores of a classifier of the paper for every class and row, from labels given as rows of every class.
#[pyfunction]
#[pyo3(signature = (model, labels, settings, x=None, graph=None, progress=None))]
pub fn classify<'py>(
    py: Python<'py>,
    model: &str,
    labels: Vec<Vec<usize>>,
    settings: HashMap<String, String>,
    x: Option<Rows<'py>>,
    graph: Option<Csr<'py>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let plain = x.as_ref().map(|rows| rows.plain()).transpose()?;
    let weights = graph.as_ref().map(|graph| graph.weights()).transpose()?;
    let classes = labels.len();
    let planes = run(py, progress, |control| {
        let (name, settings): (ModelName, _) = (model.parse()?, Keywords(settings));
        let model = |graph: Arc<Graph>| match name {
            ModelName::Laplace => Ok(Model::laplace(graph)),
            ModelName::Poisson => Ok(Model::poisson(graph)),
            ModelName::Reweighted => Ok(Model::reweighted(graph)),
            _ => Err(Failure::usage(format!(
                "{name} reads the features. Give X."
            ))),
        };
        let (n, made) = match (plain, weights) {
            (Some(rows), _) => {
                let (config, eigenpairs) = (
                    settings.paper(rows.n)?,
                    settings.or("eigenpairs", EIGENPAIRS)?,
                );
                let bench = Workbench::build(rows.features()?, &config, eigenpairs, control)?;
                (rows.n, bench.model(name, control)?)
            }
            (None, Some(weights)) => {
                let graph = weights.graph()?;
                (graph.n(), Arc::new(model(graph)?))
            }
            (None, None) => return Err(Failure::usage("give X or a graph.")),
        };
        let term = |&row: &usize| match row < n {
            true => Ok((NodeId(row as u32), 1.0)),
            false => Err(Failure::from(dial::Error::UnknownItem(row.to_string()))),
        };
        let terms = labels
            .iter()
            .map(|rows| rows.iter().map(term).collect())
            .collect::<Result<Vec<Vec<_>>, Failure>>()?;
        Ok(made.scores(&terms, control)?.planes)
    })?;
    let n = planes.first().map_or(0, Vec::len);
    let values = (0..n)
        .flat_map(|node| planes.iter().map(move |plane| plane[node]))
        .collect();
    matrix(py, values, classes)
}
