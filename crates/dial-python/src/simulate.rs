//! Simulations against known labels, as `dial simulate` does them: the same graph, the same seeds, the same records.

use std::collections::HashMap;
use std::time::Instant;

use dial::simulate::{Initial, Plan, Truth};
use dial::{ClassId, Control, NodeId, Policy};
use dial_baselines::comparison::{self, Comparison, RECORD_COLUMNS, Row, Run, TRIALS};
use dial_baselines::methods::{EIGENPAIRS, Method, Workbench};
use dial_baselines::models::ModelName;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Plain, Rows};
use crate::errors::Failure;
use crate::keywords::Keywords;
use crate::work::run;

/// What is simulated; what is None has the default of a [`Plan`] or of a comparison.
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
    #[pyo3(item)]
    initial: Option<Start>,
    #[pyo3(item)]
    queries: Option<usize>,
    #[pyo3(item)]
    batch: Option<usize>,
    #[pyo3(item)]
    score_every: Option<usize>,
    #[pyo3(item)]
    trials: Option<usize>,
    #[pyo3(item)]
    noise: Option<f64>,
    /// Whether the classes are known before they are met.
    #[pyo3(item)]
    known: Option<String>,
}

/// What is labelled before the first question.
#[derive(FromPyObject)]
enum Start {
    Word(String),
    Rows(Vec<u32>),
}

impl Start {
    fn initial(self) -> Result<Initial, Failure> {
        match self {
            Start::Rows(rows) => Ok(Initial::Nodes(rows.into_iter().map(NodeId).collect())),
            Start::Word(word) => match word.as_str() {
                "one-per-class" => Ok(Initial::OnePerClass),
                "none" => Ok(Initial::None),
                _ => Err(Failure::usage(format!(
                    "initial={word:?} must be one-per-class, none, or row numbers."
                ))),
            },
        }
    }
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
    let (plain, settings) = (x.plain()?, Keywords(settings));
    let names = wish.names.clone();
    let (runs, seed) = run(py, progress, |control| {
        play(plain, wish, &settings, control)
    })?;
    table(py, &runs, &names, seed)
}

fn play(
    rows: Plain<'_>,
    wish: Wish,
    settings: &Keywords,
    control: &Control,
) -> Result<(Vec<Run>, u64), Failure> {
    let mut methods = words::<Method>(&wish.acquisitions)?;
    let choices = comparison::choices(&methods, settings.choices()?);
    let features = rows.features()?;
    let (config, eigenpairs) = (
        choices.config(rows.n)?,
        settings.or("eigenpairs", EIGENPAIRS)?,
    );
    if methods.is_empty() {
        methods.push(config.acquisition.into());
    }
    let bench = Workbench::build(features, &config, eigenpairs, control)?;
    let truth = Truth {
        names: wish.names,
        classes: wish
            .classes
            .into_iter()
            .map(|class| class.map(ClassId))
            .collect(),
        clusters: wish.clusters,
    };
    let paper = Plan::default();
    let plan = Plan {
        initial: match wish.initial {
            Some(start) => start.initial()?,
            None => paper.initial,
        },
        classes: match wish.known {
            Some(word) => word.parse()?,
            None => paper.classes,
        },
        queries: wish.queries.unwrap_or(paper.queries),
        batch: wish.batch.unwrap_or(paper.batch),
        score_every: wish
            .score_every
            .unwrap_or_else(|| comparison::score_every(bench.engine())),
        noise: wish.noise.unwrap_or(paper.noise),
        ..paper
    };
    let mut policies = words::<Policy>(&wish.policies)?;
    if policies.is_empty() {
        policies.push(config.policy);
    }
    let pairs = methods
        .iter()
        .flat_map(|&m| policies.iter().map(move |&p| (m, p)));
    let comparison = Comparison {
        methods: pairs.collect(),
        models: words::<ModelName>(&wish.models)?,
        trials: wish.trials.unwrap_or(TRIALS),
    };
    let start = Instant::now();
    let clock = || start.elapsed().as_secs_f64();
    let runs = comparison.run(&bench, &truth, &plan, &clock, control)?;
    Ok((runs, config.seed))
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
    let rows: Vec<Row<'_>> = runs.iter().flat_map(Run::rows).collect();
    let whole = |value: fn(&Row<'_>) -> i64| PyArray1::from_iter(py, rows.iter().map(value));
    let number = |value: fn(&Row<'_>) -> f64| PyArray1::from_iter(py, rows.iter().map(value));
    let text = |value: fn(&Row<'_>) -> String| rows.iter().map(value).collect::<Vec<String>>();
    let seeds = rows.iter().map(|row| seed.wrapping_add(row.trial as u64));
    let class = |row: &Row<'_>| row.record.class.map(|class| names[class.index()].clone());
    let columns: [Bound<'py, PyAny>; 12] = [
        whole(|row| row.trial as i64).into_any(),
        PyArray1::from_iter(py, seeds).into_any(),
        text(|row| row.run.method.to_string()).into_pyobject(py)?,
        text(|row| row.run.policy.to_string()).into_pyobject(py)?,
        text(|row| row.run.model.to_string()).into_pyobject(py)?,
        whole(|row| row.record.query as i64).into_any(),
        whole(|row| row.record.node.map_or(-1, |node| i64::from(node.0))).into_any(),
        rows.iter()
            .map(class)
            .collect::<Vec<Option<String>>>()
            .into_pyobject(py)?,
        whole(|row| row.record.labelled as i64).into_any(),
        number(|row| row.record.accuracy).into_any(),
        whole(|row| row.record.clusters_found as i64).into_any(),
        number(|row| row.record.seconds).into_any(),
    ];
    let table = PyDict::new(py);
    for (name, column) in RECORD_COLUMNS.iter().zip(columns) {
        table.set_item(name, column)?;
    }
    Ok(table)
}
