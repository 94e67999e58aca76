//! Methods side by side on the same trials, each judged by one classifier or several: what `dial simulate` and
//! `dial.simulate` run.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::methods::{Method, Workbench};
use crate::models::ModelName;
use dial::Engine;
use dial::classifiers::Classifier;
use dial::config::{AcquisitionKind, Choices};
use dial::control::Control;
use dial::error::Result;
use dial::policy::Policy;
use dial::simulate::{Clock, Plan, Record, Truth, trials};

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What makes an item worth asking, and how it is chosen; what stands twice is run once.
    pub methods: Vec<(Method, Policy)>,
    /// What classifies; what stands twice is judged once.
    pub models: Vec<ModelName>,
    /// Trials of each method, which differ by their seed.
    pub trials: usize,
}

/// A method, judged by one model, with the records of its trials.
#[derive(Clone, Debug)]
pub struct Run {
    /// What makes an item worth asking.
    pub method: Method,
    /// How it is chosen.
    pub policy: Policy,
    /// What classifies.
    pub model: ModelName,
    /// The records of every trial, with the accuracy of the model; not a number where nothing is left to be right on.
    pub trials: Vec<Vec<Record>>,
}

/// Trials of each method, unless the caller asks for another number.
pub const TRIALS: usize = 10;

/// With at most this many items, a run in certified precision is scored after every question.
const MAX_CERTIFIED_SCORED: usize = 5_000;

/// The choices of a comparison. All methods share one graph and one calibration of the belief: those that go with `auto` where
/// it is among them, else those of the first method.
pub fn choices(methods: &[Method], choices: Choices) -> Choices {
    Choices {
        acquisition: match methods.contains(&Method::Auto) {
            true => Some(AcquisitionKind::Auto),
            false => methods.first().map(|method| method.asking()),
        },
        ..choices
    }
}

/// How often a comparison is scored, unless the caller says so: after every question; less often on large pools in certified
/// precision, where scoring takes a global solve.
pub fn score_every(engine: &Engine<'_>) -> usize {
    match engine.propagation.local() {
        Some(_) => engine.items.len().div_ceil(MAX_CERTIFIED_SCORED),
        None => 1,
    }
}

/// The columns of a table of records, a row for every question.
pub const RECORD_COLUMNS: [&str; 12] = [
    "trial",
    "seed",
    "acquisition",
    "policy",
    "model",
    "query",
    "node",
    "class",
    "labelled",
    "accuracy",
    "clusters_found",
    "seconds",
];

/// A row of that table.
pub struct Row<'r> {
    /// The run.
    pub run: &'r Run,
    /// The number of the trial.
    pub trial: usize,
    /// The record.
    pub record: &'r Record,
}

impl Run {
    /// The rows of the run, trial by trial.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let of_trial = |(trial, records): (usize, &'_ Vec<Record>)| {
            (0..records.len()).map(move |place| (trial, place))
        };
        let places: Vec<(usize, usize)> =
            self.trials.iter().enumerate().flat_map(of_trial).collect();
        let row = |(trial, place): (usize, usize)| Row {
            run: self,
            trial,
            record: &self.trials[trial][place],
        };
        places.into_iter().map(row)
    }
}

impl Comparison {
    /// Every method on the same trials.
    ///
    /// # Errors
    /// What making a method or a model, and what a trial may fail with.
    pub fn run<'a>(
        &self,
        bench: &Workbench<'a>,
        truth: &Truth,
        plan: &Plan<'a>,
        clock: Clock<'_>,
        control: &Control,
    ) -> Result<Vec<Run>> {
        let models = distinct(&self.models);
        let others: Vec<ModelName> = models
            .iter()
            .copied()
            .filter(|&model| model != ModelName::Dirichlet)
            .collect();
        let judges = others.iter().map(|&model| bench.model(model, control));
        let plan = Plan {
            judges: judges
                .map(|judge| Ok(judge? as Arc<dyn Classifier>))
                .collect::<Result<_>>()?,
            ..plan.clone()
        };
        let known = truth.classes.iter().flatten().count();
        let mut runs = Vec::new();
        for (method, policy) in distinct(&self.methods) {
            let mut engine = bench.asking_by(method, control)?;
            engine.config.policy = policy;
            control.start(
                &format!("asking by {method}, {policy}"),
                self.trials * plan.queries,
            );
            let played = Arc::new(trials(&engine, truth, &plan, self.trials, clock, control)?);
            control.finish();
            let judged = |&model: &ModelName| {
                let judge = others.iter().position(|&other| other == model);
                // Where every known item is labelled, none is left to be right or wrong on.
                let accuracy = |record: &Record| match record.labelled < known {
                    true => judge.map_or(record.accuracy, |place| record.judged[place]),
                    false => f64::NAN,
                };
                let again = |record: &Record| Record {
                    accuracy: accuracy(record),
                    ..record.clone()
                };
                let trials = played
                    .iter()
                    .map(|trial| trial.iter().map(again).collect())
                    .collect();
                Run {
                    method,
                    policy,
                    model,
                    trials,
                }
            };
            runs.extend(models.iter().map(judged));
        }
        Ok(runs)
    }
}

fn distinct<T: Clone + PartialEq>(all: &[T]) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for one in all {
        if !found.contains(one) {
            found.push(one.clone());
        }
    }
    found
}

/// Number of clusters that can be met.
pub fn n_clusters(truth: &Truth) -> usize {
    let met: BTreeSet<&u32> = truth.clusters.iter().flatten().collect();
    met.len()
}
