//! Matches: one contestant on one pool under one seed, kept as a cell on disk.
//!
//! The protocol is the paper's: one random initial label per class, the same for all contestants of a seed, then
//! questions one at a time (or in batches); k = 20 neighbours, weighed as the contestant wants it; everything measured on the unlabelled items
//! after every question. The folder of a contestant's cells is named by its settings, those of the pool and the version
//! of the method: a change makes new cells, of that contestant only.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use dial::classifiers::Classifier;
use dial::simulate::{Plan, Record, trial};
use dial::{Choices, Config, Control, Engine, Features};
use dial_baselines::methods::Workbench;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::ArenaOptions;
use super::contestants::Contestant;
use super::digests;
use super::pools::{ArenaPool, Ready};
use super::remembered::{Lent, Remembered};
use crate::cells::Cells;
use crate::error::LabError;
use crate::reproduce::curves::{EIGENPAIRS, NEIGHBOURS};

/// What is kept of every question.
pub const HEADER: [&str; 12] = [
    "query",
    "labelled",
    "accuracy",
    "judged",
    "clusters",
    "balanced",
    "calibration",
    "brier",
    "expected",
    "low",
    "high",
    "seconds",
];
/// Places in [`HEADER`]: accuracy in Dirichlet Learning.
pub const ACCURACY: usize = 2;
/// Accuracy in the contestant's own classifier.
pub const JUDGED: usize = 3;
/// Share of the clusters met.
pub const CLUSTERS: usize = 4;
/// Class-balanced accuracy.
pub const BALANCED: usize = 5;
/// Expected calibration error.
pub const CALIBRATION: usize = 6;
/// Brier score.
pub const BRIER: usize = 7;
/// The accuracy to expect, and the ends of its interval.
pub const EXPECTED: usize = 8;
/// Seconds for asking and telling.
pub const SECONDS: usize = 11;

/// The records of a match, one row per question.
pub type Rows = Vec<Vec<f64>>;

/// Nobody plays more seeds.
pub const MOST_SEEDS: usize = 1000;

/// The cells of one contestant on one pool.
pub struct Book {
    cells: Cells,
    rows: usize,
    /// A number for all settings.
    pub digest: u32,
}

impl Book {
    /// Opens the cells.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn open(
        settings: &ArenaOptions,
        pool: &ArenaPool,
        fingerprint: &str,
        contestant: &Contestant,
    ) -> Result<Book, LabError> {
        let stored = json!({
            "pool": pool.settings(fingerprint, settings.quick),
            "contestant": contestant.settings(settings.batch),
            "queries": settings.queries,
            "k": NEIGHBOURS,
            "eigenpairs": EIGENPAIRS,
            "method_version": contestant.since(),
        });
        let digest = digest(&stored);
        let name = format!("{}-{}", contestant.stem(), digests::word(digest));
        let cells = Cells::open(
            settings.folder.join("cells").join(pool.name).join(name),
            &stored,
        )?;
        Ok(Book {
            cells,
            rows: settings.queries + 1,
            digest,
        })
    }

    /// The records of a seed, if its match is over.
    pub fn get(&self, seed: usize) -> Option<Rows> {
        self.cells
            .get(&format!("{seed:03}"), &HEADER)
            .filter(|rows| rows.len() == self.rows)
    }

    fn put(&self, seed: usize, rows: &Rows) -> Result<(), LabError> {
        self.cells.put(&format!("{seed:03}"), &HEADER, rows)
    }

    /// All matches that are there, also of more seeds than were asked for now.
    pub fn all(&self) -> Vec<(usize, Rows)> {
        (0..MOST_SEEDS)
            .filter_map(|seed| Some((seed, self.get(seed)?)))
            .collect()
    }
}

/// A number for settings, to tell folders apart.
fn digest(settings: &Value) -> u32 {
    let folded = settings
        .to_string()
        .bytes()
        .fold(0, |sum, byte| dial::seed::hash(sum, u64::from(byte)));
    (folded >> 32) as u32
}

/// A contestant ready to ask.
struct Player<'a> {
    engine: Engine<'a>,
    columns: Arc<Remembered<'a>>,
    judges: Vec<Arc<dyn Classifier + 'a>>,
    batch: Option<usize>,
}

/// What contestants with the same weights share: a workbench, and for every τ an engine with its columns.
struct SharedWork<'a> {
    bench: Workbench<'a>,
    engines: Vec<(Engine<'a>, Arc<Remembered<'a>>)>,
}

/// Plays the missing matches of a pool in parallel: pairs of a contestant's place and a seed.
pub fn play(
    settings: &ArenaOptions,
    pool: &ArenaPool,
    ready: &Ready,
    books: &[Book],
    missing: &[(usize, usize)],
    control: &Control,
) -> Result<(), LabError> {
    let quiet = control.quiet();
    let features = ready.pool.matrix.features()?;
    let mut shared_by_weights: Vec<SharedWork<'_>> = Vec::new();
    let ready_to_ask = |(place, contestant): (usize, &Contestant)| {
        if missing.iter().all(|(one, _)| *one != place) {
            return Ok(None);
        }
        let config = Config {
            k: Choices::default().neighbours(features.n()),
            metric: ready.metric,
            expected_clusters: ready.expected_clusters,
            ..contestant.config.clone()
        };
        let same = |shared: &SharedWork<'_>| shared.bench.engine().config.weights == config.weights;
        let place = match shared_by_weights.iter().position(same) {
            Some(place) => place,
            None => {
                let bench = Workbench::build(features, &config, EIGENPAIRS, &quiet)?;
                shared_by_weights.push(SharedWork::new(bench));
                shared_by_weights.len() - 1
            }
        };
        shared_by_weights[place]
            .player(contestant, config, features, &quiet)
            .map(Some)
    };
    let players: Vec<Option<Player<'_>>> = settings
        .contestants
        .iter()
        .enumerate()
        .map(ready_to_ask)
        .collect::<Result<_, LabError>>()?;
    let one = |&(place, seed): &(usize, usize)| -> Result<(), LabError> {
        let player = players[place]
            .as_ref()
            .expect("a contestant without a match is ready");
        books[place].put(
            seed,
            &one_match(settings, pool, ready, player, seed, control)?,
        )
    };
    // One by one: some contestants take a hundred times as long as others.
    missing.par_iter().with_max_len(1).map(one).collect()
}

impl<'a> SharedWork<'a> {
    fn new(bench: Workbench<'a>) -> SharedWork<'a> {
        let engine = bench.engine().clone();
        let columns = Remembered::new(Arc::clone(&engine.propagation), Arc::default());
        SharedWork {
            bench,
            engines: vec![(engine, Arc::new(columns))],
        }
    }

    /// The engine with the τ of a configuration, made when first needed, and its columns.
    fn engine(
        &mut self,
        config: &Config,
        control: &Control,
    ) -> Result<(Engine<'a>, Arc<Remembered<'a>>), LabError> {
        let (first, columns) = &self.engines[0];
        let graph = first.graph.as_ref().expect("it was built with one");
        let same = |(engine, _): &&(Engine<'a>, _)| engine.config.tau == config.tau;
        if let Some(found) = self.engines.iter().find(same) {
            return Ok(found.clone());
        }
        let engine = Engine::on(Arc::clone(graph), None, config, control)?;
        let columns = Remembered::new(Arc::clone(&engine.propagation), columns.room());
        let fresh = (engine, Arc::new(columns));
        self.engines.push(fresh.clone());
        Ok(fresh)
    }

    fn player(
        &mut self,
        contestant: &Contestant,
        config: Config,
        features: Features<'_>,
        control: &Control,
    ) -> Result<Player<'a>, LabError> {
        let (engine, columns) = self.engine(&config, control)?;
        let method = contestant
            .method()
            .expect("only contestants that are ready take part");
        let acquisition = self
            .bench
            .acquisition(method, &engine.propagation, control)?;
        let judge = contestant
            .judge()
            .map(|model| self.bench.model(model, control));
        let engine = Engine {
            config,
            columns_kept: 0,
            ..engine.asking_by(acquisition)
        };
        Ok(Player {
            engine: match contestant.features {
                true => engine.with_features(features, control)?,
                false => engine,
            },
            columns,
            judges: judge
                .transpose()?
                .into_iter()
                .map(|judge| judge as Arc<dyn Classifier>)
                .collect(),
            batch: contestant.batch,
        })
    }
}

fn one_match(
    settings: &ArenaOptions,
    pool: &ArenaPool,
    ready: &Ready,
    player: &Player<'_>,
    seed: usize,
    control: &Control,
) -> Result<Rows, LabError> {
    let plan = Plan {
        queries: settings.queries,
        batch: player.batch.unwrap_or(settings.batch),
        judges: player.judges.clone(),
        measure_every: 5,
        noise: pool.noise,
        ..Plan::default()
    };
    let lent = Lent::new(Arc::clone(&player.columns));
    let (owed, start) = (lent.owed(), Instant::now());
    let clock = || start.elapsed().as_secs_f64() + 1e-9 * owed.load(Ordering::Relaxed) as f64;
    // The acquisition keeps the propagation itself: what it solves for is its own time.
    let engine = Engine {
        propagation: Arc::new(lent),
        ..player.engine.seeded(seed as u64)
    };
    let (records, _) = trial(&engine, &ready.truth, &plan, &clock, control)?;
    let mut rows: Rows = records
        .iter()
        .map(|record| row(record, ready.clusters))
        .collect();
    // A pool with nothing left to ask stays as it is.
    while let Some(last) = rows.last().filter(|_| rows.len() <= settings.queries) {
        let next = [&[rows.len() as f64], &last[1..SECONDS], &[f64::NAN]].concat();
        rows.push(next);
    }
    Ok(rows)
}

fn row(record: &Record, clusters: usize) -> Vec<f64> {
    let measure = |of: fn(&dial::simulate::metrics::Measures) -> f64| {
        record.measures.as_ref().map_or(f64::NAN, of)
    };
    vec![
        record.query as f64,
        record.labelled as f64,
        record.accuracy,
        record.judged.first().copied().unwrap_or(f64::NAN),
        record.clusters_found as f64 / clusters.max(1) as f64,
        measure(|m| m.balanced_accuracy),
        measure(|m| m.calibration_error),
        measure(|m| m.brier),
        measure(|m| m.expected.map_or(f64::NAN, |expected| expected.mean)),
        measure(|m| m.expected.map_or(f64::NAN, |expected| expected.low)),
        measure(|m| m.expected.map_or(f64::NAN, |expected| expected.high)),
        record.seconds,
    ]
}
