//! Learning and exploration curves on the paper's pools (`subsec:hsi-results`, `subsec:exploration-results`).
//!
//! The protocol: one random initial label per class, 100 questions one at a time, τ = 0.1, k = 20, ten trials; accuracy
//! of Dirichlet Learning on the unlabelled items after every question, and on the mod-3 pools the share of the ten
//! original classes met so far. K̂ is 20 there and 12 on the hyperspectral pools. All methods of one trial begin with the
//! same labels.

use std::sync::Arc;
use std::time::Instant;

use dial::belief::prior::Prior;
use dial::classifiers::Classifier;
use dial::knn::approximate::Search;
use dial::simulate::{Plan, Record, Truth, trial};
use dial::{Config, Control, Engine, Metric};
use dial_baselines::land::Ranking;
use dial_baselines::methods::Workbench;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::ReproduceOptions;
use super::lines::{Line, Source, lines};
use super::pools::{Dataset, Loaded, load, n_clusters};
use crate::cells::Cells;
use crate::error::LabError;
use dial_plot::chart::Canvas;
use dial_plot::plot::{ClassMap, scene_map};

/// What a curve experiment does with one pool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Protocol {
    /// The pool.
    pub dataset: Dataset,
    /// Classes are the labels modulo this number.
    pub modulo: Option<u16>,
    /// K̂.
    pub expected_clusters: usize,
    /// Number of questions.
    pub queries: usize,
    /// Whether class 0 is never asked, as it happened in the authors' scripts on hyperspectral pools.
    pub spare_class_0: bool,
}

impl Protocol {
    /// The paper's protocol for a pool, or a short one.
    pub fn of(dataset: Dataset, settings: &ReproduceOptions) -> Protocol {
        let spectra = dataset.hyperspectral();
        Protocol {
            dataset,
            modulo: (!spectra).then_some(3),
            expected_clusters: if spectra { 12 } else { 20 },
            queries: settings.queries,
            spare_class_0: spectra && settings.spare_class_0,
        }
    }

    fn json(&self, loaded: &Loaded) -> Value {
        let mut json = json!({
            "pool": self.dataset.stem(),
            "data": loaded.fingerprint,
            "items": loaded.pool.matrix.n,
            "modulo": self.modulo,
            "metric": loaded.metric.to_string(),
            "k": NEIGHBOURS,
            "tau": TAU,
            "expected_clusters": self.expected_clusters,
            "eigenpairs": EIGENPAIRS,
            "initial": "one-per-class",
            "queries": self.queries,
            "spare_class_0": self.spare_class_0,
        });
        if self.dataset.hyperspectral() {
            json["land_ranking"] =
                json!(loaded.ranking.as_ref().map(|(_, fingerprint)| fingerprint));
        }
        json
    }
}

pub use dial::config::{DEFAULT_K as NEIGHBOURS, PAPER_TAU as TAU};
pub use dial_baselines::methods::EIGENPAIRS;

/// One line with its trials.
pub struct Curve {
    /// The method.
    pub line: Line,
    /// The records of every trial: one row per question, see [`HEADER`].
    pub trials: Vec<Vec<Vec<f64>>>,
}

/// A pool with all its curves.
pub struct Study {
    /// The protocol.
    pub protocol: Protocol,
    /// The name of the pool.
    pub name: String,
    /// Number of items.
    pub items: usize,
    /// Number of clusters that can be met.
    pub clusters: usize,
    /// Settings, to be stored.
    pub settings: Value,
    /// What was noticed about the data.
    pub notes: Vec<String>,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Pixel positions and classes, where the pool is a scene.
    pub scene: Option<Scene>,
}

/// The pixels of a scene.
pub struct Scene {
    /// Row of every pixel.
    pub rows: Vec<usize>,
    /// Column of every pixel.
    pub columns: Vec<usize>,
    /// Class of every pixel.
    pub classes: Vec<usize>,
    /// Names of the classes.
    pub names: Vec<String>,
}

impl Scene {
    /// The ground truth as a picture.
    pub fn canvas(&self) -> Canvas {
        let size = |places: &[usize]| places.iter().max().map_or(0, |largest| largest + 1);
        let (rows, columns) = (size(&self.rows), size(&self.columns));
        let mut classes = vec![None; rows * columns];
        for ((row, column), class) in self.rows.iter().zip(&self.columns).zip(&self.classes) {
            classes[row * columns + column] = Some(*class);
        }
        scene_map(ClassMap {
            rows,
            columns,
            classes,
            names: self.names.clone(),
            ..ClassMap::default()
        })
    }
}

/// What is kept of every question.
pub const HEADER: [&str; 8] = [
    "query",
    "node",
    "class",
    "labelled",
    "accuracy",
    "judged",
    "clusters_found",
    "seconds",
];
/// Places in [`HEADER`].
pub const NODE: usize = 1;
/// The class of the label.
pub const CLASS: usize = 2;
/// Labels so far.
pub const LABELLED: usize = 3;
/// Accuracy in Dirichlet Learning.
pub const ACCURACY: usize = 4;
/// Accuracy in the second classifier.
pub const JUDGED: usize = 5;
/// Clusters met.
pub const CLUSTERS: usize = 6;
/// Seconds for asking and telling.
pub const SECONDS: usize = 7;

fn row(record: &Record) -> Vec<f64> {
    vec![
        record.query as f64,
        record.node.map_or(f64::NAN, |node| f64::from(node.0)),
        record.class.map_or(f64::NAN, |class| f64::from(class.0)),
        record.labelled as f64,
        record.accuracy,
        record.judged.first().copied().unwrap_or(f64::NAN),
        record.clusters_found as f64,
        record.seconds,
    ]
}

/// The paper's settings, with a metric; its neighbours are the true ones, however large the pool.
pub fn paper(metric: Metric) -> Config {
    Config {
        metric,
        search: Search::Exact,
        ..Config::paper()
    }
}

/// The workbench of a pool, with the paper's settings.
pub fn workbench<'a>(loaded: &'a Loaded, control: &Control) -> Result<Workbench<'a>, LabError> {
    let (features, config) = (loaded.pool.matrix.features()?, paper(loaded.metric));
    Ok(Workbench::build(features, &config, EIGENPAIRS, control)?)
}

/// Runs all lines of a pool, or takes up where an earlier run stopped.
pub fn study(
    dataset: Dataset,
    settings: &ReproduceOptions,
    control: &Control,
) -> Result<Study, LabError> {
    let protocol = Protocol::of(dataset, settings);
    let loaded = load(dataset, &settings.origin)?;
    let truth = loaded.truth(protocol.modulo)?;
    let stored = json!({
        "protocol": protocol.json(&loaded),
        "seed": settings.seed,
        "method_version": dial::METHOD_VERSION,
    });
    let cells = Cells::open(settings.folder.join("cells").join(dataset.stem()), &stored)?;
    let bench = workbench(&loaded, control)?;
    let runner = Runner {
        protocol,
        settings,
        truth: &truth,
        loaded: &loaded,
        bench: &bench,
        cells: &cells,
    };
    let wanted = lines(dataset)
        .into_iter()
        .filter(|line| line.source != Source::AuthorsLand || loaded.ranking.is_some());
    let curves = wanted
        .map(|line| runner.curve(line, control))
        .collect::<Result<Vec<_>, _>>()?;
    let scene = loaded.places.clone().map(|(rows, columns)| Scene {
        rows,
        columns,
        classes: truth
            .classes
            .iter()
            .map(|class| class.map_or(0, |class| class.index()))
            .collect(),
        names: truth.names.clone(),
    });
    Ok(Study {
        protocol,
        name: loaded.name.clone(),
        items: truth.classes.len(),
        clusters: n_clusters(&truth),
        settings: with_lines(stored, dataset),
        notes: loaded.pool.notes.clone(),
        curves,
        scene,
    })
}

/// The settings with those of every line, so that a line can be repeated by hand.
fn with_lines(mut stored: Value, dataset: Dataset) -> Value {
    let line = |line: Line| {
        let asked = match line.source {
            Source::Method(method) => method.to_string(),
            Source::AuthorsLand => "the authors' ranking".into(),
        };
        let prior = match line.prior {
            Prior::Constant(strength) => strength.to_string(),
            _ => "calibrated".into(),
        };
        json!({ "name": line.name, "acquisition": asked, "policy": line.policy.to_string(), "prior": prior })
    };
    stored["lines"] = lines(dataset).into_iter().map(line).collect();
    stored
}

/// Everything the trials of a pool share.
struct Runner<'r, 'a> {
    protocol: Protocol,
    settings: &'r ReproduceOptions,
    truth: &'r Truth,
    loaded: &'r Loaded,
    bench: &'r Workbench<'a>,
    cells: &'r Cells,
}

impl<'a> Runner<'_, 'a> {
    /// The trials of a line: those on disk, the others in parallel.
    fn curve(&self, line: Line, control: &Control) -> Result<Curve, LabError> {
        let name = |t: usize| format!("{}/{t:03}", line.stem);
        let mut trials: Vec<Option<Vec<Vec<f64>>>> = (0..self.settings.trials)
            .map(|t| {
                self.cells
                    .get(&name(t), &HEADER)
                    .filter(|rows| self.whole(rows))
            })
            .collect();
        let missing: Vec<usize> = (0..trials.len()).filter(|&t| trials[t].is_none()).collect();
        if !missing.is_empty() {
            let engine = self.engine(line, control)?;
            let judges: Vec<Arc<dyn Classifier>> = match line.judge {
                Some(model) => vec![self.bench.model(model, control)?],
                None => Vec::new(),
            };
            let plan = Plan {
                queries: self.protocol.queries,
                judges,
                ..Plan::default()
            };
            control.start(
                &format!("{}, {}", line.name, self.loaded.name),
                missing.len() * self.protocol.queries,
            );
            let run = |&t: &usize| -> Result<Vec<Vec<f64>>, LabError> {
                let rows = self.trial(&engine, t, &plan, control)?;
                self.cells.put(&name(t), &HEADER, &rows)?;
                Ok(rows)
            };
            let made: Vec<Vec<Vec<f64>>> = missing.par_iter().map(run).collect::<Result<_, _>>()?;
            control.finish();
            missing
                .into_iter()
                .zip(made)
                .for_each(|(t, rows)| trials[t] = Some(rows));
        }
        Ok(Curve {
            line,
            trials: trials
                .into_iter()
                .map(|rows| rows.expect("all trials are there"))
                .collect(),
        })
    }

    /// Whether a trial has all its questions; a small pool may run out of them.
    fn whole(&self, rows: &[Vec<f64>]) -> bool {
        let asked = rows.len().saturating_sub(1);
        asked == self.protocol.queries
            || (asked > 0 && self.truth.classes.len() <= self.protocol.queries + 100)
    }

    /// The engine of the trials of a line.
    fn engine(&self, line: Line, control: &Control) -> Result<Engine<'a>, LabError> {
        let mut engine = match (line.source, &self.loaded.ranking) {
            (Source::Method(method), _) => self.bench.asking_by(method, control)?,
            (Source::AuthorsLand, Some((ranking, _))) => {
                let ranking = Ranking::new(self.truth.classes.len(), ranking)?;
                self.bench.engine().clone().asking_by(Arc::new(ranking))
            }
            (Source::AuthorsLand, None) => unreachable!("lines without data are left out"),
        };
        engine.config.policy = line.policy;
        engine.config.prior = line.prior;
        engine.config.expected_clusters = Some(self.protocol.expected_clusters);
        engine.columns_kept = 0;
        let not_class_0 = || {
            self.truth
                .classes
                .iter()
                .map(|class| class.is_some_and(|c| c.0 != 0))
                .collect()
        };
        Ok(engine.asking_only(self.protocol.spare_class_0.then(|| Arc::new(not_class_0()))))
    }

    fn trial(
        &self,
        engine: &Engine<'a>,
        t: usize,
        plan: &Plan<'a>,
        control: &Control,
    ) -> Result<Vec<Vec<f64>>, LabError> {
        let engine = engine.seeded(self.settings.seed.wrapping_add(t as u64));
        let start = Instant::now();
        let clock = || start.elapsed().as_secs_f64();
        let (records, _) = trial(&engine, self.truth, plan, &clock, control)?;
        Ok(records.iter().map(row).collect())
    }
}
