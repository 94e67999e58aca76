//! Matches: one contestant on one pool under one seed, kept as a cell on disk.
//!
//! The protocol is the paper's: one random initial label per class, the same for all contestants of a seed, then
//! questions one at a time (or in batches); k = 20 neighbours, weighed as the contestant wants it; everything measured on the unlabelled items
//! after every question. The folder of a contestant's cells is named by its settings, those of the pool and the version
//! of the method: whatever changes makes new cells, of that contestant alone.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use dial::methods::Workbench;
use dial::models::Model;
use dial::simulate::{Plan, Record, trial};
use dial::{Acquisition, Control, Graph, Items, Kernel, Options, Propagation, Setting};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::Settings;
use super::contestants::Contestant;
use super::digests;
use super::pools::{ArenaPool, Ready};
use super::remembered::{Lent, Remembered};
use crate::cells::Cells;
use crate::reproduce::curves::{EIGENPAIRS, NEIGHBOURS};
use crate::trouble::Trouble;

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
        settings: &Settings,
        pool: &ArenaPool,
        fingerprint: &str,
        contestant: &Contestant,
    ) -> Result<Book, Trouble> {
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

    fn put(&self, seed: usize, rows: &Rows) -> Result<(), Trouble> {
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
    contestant: Contestant,
    acquisition: Arc<dyn Acquisition + 'a>,
    kernel: Arc<Remembered>,
    graph: Arc<Graph>,
    judges: Vec<Arc<Model<'a>>>,
}

/// The kernels of a graph by their τ.
type Kernels = Vec<(f64, Arc<Remembered>)>;

/// Plays the missing matches of a pool in parallel: pairs of a contestant's place and a seed.
pub fn play(
    settings: &Settings,
    pool: &ArenaPool,
    ready: &Ready,
    books: &[Book],
    missing: &[(usize, usize)],
    control: &Control,
) -> Result<(), Trouble> {
    let quiet = control.quiet();
    let k = NEIGHBOURS.min(ready.pool.matrix.n.saturating_sub(1));
    let features = ready.pool.matrix.features()?;
    let build =
        |kernel: Kernel| Workbench::build(features, k, ready.metric, kernel, EIGENPAIRS, &quiet);
    let mut benches: Vec<(Kernel, Workbench<'_>, Kernels)> = Vec::new();
    for contestant in &settings.contestants {
        if benches
            .iter()
            .all(|(kernel, ..)| *kernel != contestant.kernel)
        {
            benches.push((contestant.kernel, build(contestant.kernel)?, Vec::new()));
        }
    }
    let players: Vec<Option<Player<'_>>> = (settings.contestants.iter().enumerate())
        .map(|(place, contestant)| {
            let plays = missing.iter().any(|(one, _)| *one == place);
            let (_, bench, kernels) = benches
                .iter_mut()
                .find(|(kernel, ..)| *kernel == contestant.kernel)
                .expect("every kernel has a bench");
            plays
                .then(|| player(contestant, bench, kernels, &quiet))
                .transpose()
        })
        .collect::<Result<_, _>>()?;
    let one = |&(place, seed): &(usize, usize)| -> Result<(), Trouble> {
        let player = players[place]
            .as_ref()
            .expect("whoever misses a match is ready");
        books[place].put(
            seed,
            &one_match(settings, pool, ready, player, seed, control)?,
        )
    };
    // One by one: some contestants take a hundred times as long as others.
    missing.par_iter().with_max_len(1).map(one).collect()
}

fn player<'a>(
    contestant: &Contestant,
    bench: &Workbench<'a>,
    kernels: &mut Kernels,
    control: &Control,
) -> Result<Player<'a>, Trouble> {
    let method = contestant
        .method()
        .expect("only contestants that are ready take part");
    let degrees = bench.graph().degrees();
    let tau = contestant
        .tau
        .value(degrees.iter().sum::<f64>() / degrees.len() as f64);
    let kernel = match kernels.iter().find(|(of, _)| *of == tau) {
        Some((_, kernel)) => Arc::clone(kernel),
        None => {
            let room = kernels
                .first()
                .map_or_else(Arc::default, |(_, first)| first.room());
            let fresh = Arc::new(Remembered::new(bench.poisson(tau)?, room));
            kernels.push((tau, Arc::clone(&fresh)));
            fresh
        }
    };
    Ok(Player {
        contestant: contestant.clone(),
        acquisition: bench.acquisition(
            method,
            &(bench.poisson(tau)? as Arc<dyn Propagation + 'a>),
            control,
        )?,
        kernel,
        graph: Arc::clone(bench.graph()),
        judges: contestant
            .judge()
            .map(|model| bench.model(model, control))
            .transpose()?
            .into_iter()
            .collect(),
    })
}

fn one_match(
    settings: &Settings,
    pool: &ArenaPool,
    ready: &Ready,
    player: &Player<'_>,
    seed: usize,
    control: &Control,
) -> Result<Rows, Trouble> {
    let options = Options {
        acquisition: Arc::clone(&player.acquisition),
        policy: player.contestant.policy,
        prior: player.contestant.prior,
        reading: player.contestant.reading,
        expected_clusters: ready.expected_clusters,
        seed: seed as u64,
        columns_kept: 0,
        ..Options::default()
    };
    let plan = Plan {
        queries: settings.queries,
        batch: player.contestant.batch.unwrap_or(settings.batch),
        judges: player.judges.clone(),
        measure_every: 5,
        noise: pool.noise,
        ..Plan::default()
    };
    let lent = Lent::new(Arc::clone(&player.kernel));
    let (owed, start) = (lent.owed(), Instant::now());
    let clock = || start.elapsed().as_secs_f64() + 1e-9 * owed.load(Ordering::Relaxed) as f64;
    let items = Items::rows(player.graph.n());
    let setting = Setting {
        kernel: Arc::new(lent),
        graph: Some(Arc::clone(&player.graph)),
        items,
    };
    let (records, _) = trial(&setting, &options, &ready.truth, &plan, &clock, control)?;
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
    let measure =
        |of: fn(&dial::measures::Measures) -> f64| record.measures.as_ref().map_or(f64::NAN, of);
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
