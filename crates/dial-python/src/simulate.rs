//! Simulations against known labels, as `dial simulate` does them: the same graph, the same seeds, the same records.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use dial::methods::{Method, Workbench};
use dial::models::ModelName;
use dial::simulate::{Initial, Plan, Record, Truth, trials};
use dial::{
    Acquisition, ClassId, Control, Graph, Items, Kernel, Metric, NodeId, Options, Poisson, Policy,
    Prior, Propagation, Reading, Setting, Sharpness, Suited, Tau,
};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Plain, Rows};
use crate::errors::Failure;
use crate::pieces::neighbours;
use crate::settings::Settings;
use crate::work::run;

/// What is simulated.
#[derive(FromPyObject)]
pub struct Wish {
    #[pyo3(item)]
    names: Vec<String>,
    #[pyo3(item)]
    classes: Vec<Option<u16>>,
    #[pyo3(item)]
    clusters: Vec<Option<u32>>,
    #[pyo3(item)]
    acquisitions: Vec<String>,
    #[pyo3(item)]
    policies: Vec<String>,
    #[pyo3(item)]
    models: Vec<String>,
    /// One of every class, or these rows.
    #[pyo3(item)]
    initial: Option<Vec<u32>>,
    #[pyo3(item)]
    queries: usize,
    #[pyo3(item)]
    batch: usize,
    #[pyo3(item)]
    trials: usize,
    #[pyo3(item)]
    noise: f64,
}

/// The records of a method, judged by one model.
struct Run {
    method: String,
    policy: Policy,
    model: ModelName,
    judge: Option<usize>,
    trials: Arc<Vec<Vec<Record>>>,
}

/// Plays every method; returns a table as a dict of arrays, a row for each question.
#[pyfunction]
#[pyo3(signature = (x, wish, settings, progress=None) -> "dict[str, object]")]
pub fn simulate<'py>(
    py: Python<'py>,
    x: Rows<'py>,
    wish: Wish,
    settings: HashMap<String, String>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (plain, settings) = (x.plain()?, Settings(settings));
    let seed = settings
        .or("seed", 0u64)
        .map_err(|failure| failure.raise(py))?;
    let names = wish.names.clone();
    let runs = run(py, progress, |control| {
        play(plain, wish, &settings, control)
    })?;
    table(py, &runs, &names, seed)
}

fn play(
    rows: Plain<'_>,
    wish: Wish,
    settings: &Settings,
    control: &Control,
) -> Result<Vec<Run>, Failure> {
    let methods = words::<Method>(&wish.acquisitions)?;
    let auto = methods.contains(&Method::Auto);
    let first = methods.first().copied().unwrap_or(Method::Auto);
    // As on the command line: beside auto all methods have its weights, tau and reading.
    let suited = Suited::to(if auto { Method::Auto } else { first });
    let metric = settings.or("metric", Metric::default())?;
    let found = Arc::new(neighbours(rows, settings, control)?);
    let graph = Arc::new(Graph::new(
        &found,
        settings.or::<Kernel>("kernel", suited.kernel)?,
        control,
    )?);
    let mean_degree = graph.degrees().iter().sum::<f64>() / graph.n() as f64;
    let tau = settings.or::<Tau>("tau", suited.tau)?.value(mean_degree);
    let kernel: Arc<dyn Propagation> = Arc::new(Poisson::new(Arc::clone(&graph), tau)?);
    let setting = Setting {
        kernel,
        graph: Some(Arc::clone(&graph)),
        items: Items::rows(rows.n),
    };
    let eigenpairs = settings.or("eigenpairs", 50)?;
    let bench = Workbench::new(rows.features()?, metric, Some(found), graph, eigenpairs);
    let truth = Truth {
        names: wish.names,
        classes: wish
            .classes
            .into_iter()
            .map(|class| class.map(ClassId))
            .collect(),
        clusters: wish.clusters,
    };
    let models = words::<ModelName>(&wish.models)?;
    let others: Vec<ModelName> = models
        .iter()
        .copied()
        .filter(|model| *model != ModelName::Dirichlet)
        .collect();
    let judges = others
        .iter()
        .map(|&model| bench.model(model, control))
        .collect::<dial::Result<Vec<_>>>()?;
    let initial = match wish.initial {
        None => Initial::OnePerClass,
        Some(rows) if rows.is_empty() => Initial::None,
        Some(rows) => Initial::Nodes(rows.into_iter().map(NodeId).collect()),
    };
    let plan = Plan {
        initial,
        queries: wish.queries,
        batch: wish.batch,
        judges,
        noise: wish.noise,
        ..Plan::default()
    };
    let mut runs = Vec::new();
    for &method in &methods {
        for policy in words::<Policy>(&wish.policies)? {
            let acquisition: Arc<dyn Acquisition + '_> = match method {
                Method::Score(score, ModelName::Dirichlet) => Arc::new(score),
                method => bench.acquisition(method, &setting.kernel, control)?,
            };
            let options = Options {
                acquisition,
                policy,
                sharpness: settings.or("sharpness", Sharpness::default())?,
                prior: settings.or("prior", Prior::default())?,
                reading: settings.or::<Reading>("reading", suited.reading)?,
                expected_clusters: settings.get("expected_clusters")?,
                seed: settings.or("seed", 0)?,
                ..Options::default()
            };
            let start = Instant::now();
            let clock = || start.elapsed().as_secs_f64();
            control.start(
                &format!("asking by {method}, {policy}"),
                wish.trials * wish.queries,
            );
            let played = Arc::new(trials(
                &setting,
                &options,
                &truth,
                &plan,
                wish.trials,
                &clock,
                control,
            )?);
            control.finish();
            runs.extend(models.iter().map(|&model| {
                let judge = others.iter().position(|other| *other == model);
                Run {
                    method: method.to_string(),
                    policy,
                    model,
                    judge,
                    trials: Arc::clone(&played),
                }
            }));
        }
    }
    Ok(runs)
}

fn words<T: std::str::FromStr<Err: Into<Failure>>>(words: &[String]) -> Result<Vec<T>, Failure> {
    words
        .iter()
        .map(|word| word.parse().map_err(Into::into))
        .collect()
}

/// The columns of `dial simulate --out`.
fn table<'py>(
    py: Python<'py>,
    runs: &[Run],
    names: &[String],
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = || {
        runs.iter().flat_map(|run| {
            let of_trial =
                move |(trial, records): (usize, &'_ Vec<Record>)| (run, trial, records.len());
            run.trials.iter().enumerate().map(of_trial)
        })
    };
    let records = || {
        runs.iter()
            .flat_map(|run| run.trials.iter().flatten().map(move |record| (run, record)))
    };
    let whole = |values: Vec<i64>| PyArray1::from_vec(py, values);
    let table = PyDict::new(py);
    let repeated = |value: fn(&Run) -> String| {
        rows()
            .flat_map(move |(run, _, length)| std::iter::repeat_n(value(run), length))
            .collect::<Vec<String>>()
    };
    let trial = || rows().flat_map(|(_, trial, length)| std::iter::repeat_n(trial as i64, length));
    table.set_item("trial", whole(trial().collect()))?;
    let seeds = trial()
        .map(|trial| seed.wrapping_add(trial as u64))
        .collect();
    table.set_item("seed", PyArray1::<u64>::from_vec(py, seeds))?;
    table.set_item("acquisition", repeated(|run| run.method.clone()))?;
    table.set_item("policy", repeated(|run| run.policy.to_string()))?;
    table.set_item("model", repeated(|run| run.model.to_string()))?;
    table.set_item(
        "query",
        whole(records().map(|(_, record)| record.query as i64).collect()),
    )?;
    let node = |record: &Record| record.node.map_or(-1, |node| i64::from(node.0));
    table.set_item(
        "node",
        whole(records().map(|(_, record)| node(record)).collect()),
    )?;
    let class = |record: &Record| record.class.map(|class| names[class.index()].clone());
    table.set_item(
        "class",
        records()
            .map(|(_, record)| class(record))
            .collect::<Vec<Option<String>>>(),
    )?;
    table.set_item(
        "labelled",
        whole(
            records()
                .map(|(_, record)| record.labelled as i64)
                .collect(),
        ),
    )?;
    let accuracy = |(run, record): (&Run, &Record)| {
        run.judge
            .map_or(record.accuracy, |judge| record.judged[judge])
    };
    table.set_item("accuracy", PyArray1::from_iter(py, records().map(accuracy)))?;
    table.set_item(
        "clusters_found",
        whole(
            records()
                .map(|(_, record)| record.clusters_found as i64)
                .collect(),
        ),
    )?;
    table.set_item(
        "seconds",
        PyArray1::from_iter(py, records().map(|(_, record)| record.seconds)),
    )?;
    Ok(table)
}
