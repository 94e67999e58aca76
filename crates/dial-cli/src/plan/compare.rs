//! Compares the kinds of features that a pool can have by the labels that are known.
//!
//! The neighbours of an item are looked for among the labelled items only: of k neighbours in a pool of n items, of which m
//! have labels, k m / n have one, rounded up. Where all items have labels, this is the neighbour purity of the pool.

use dial::error::ErrorKind;
use dial::knn::metric_space::ZeroVectors;
use dial::knn::purity::Purity;
use dial::seed::{Purpose, Random};
use dial::{Config, Control, engine};
use dial_data::{BUILTIN_SEED, FeatureKind, Matrix, Pool, ReadOptions, Result};
use serde_json::{Value, json};

use crate::ui::output::count;

/// Labelled items that are compared at most: among more the exact search takes longer than it tells.
const MAX_LABELLED: usize = 20_000;
/// The stream of the items that are drawn.
const DRAWN_ITEMS: u64 = 3;

/// A kind of features, and how pure its neighbourhoods are.
struct Compared {
    kind: FeatureKind,
    /// Whether it is that of the pool.
    used: bool,
    purity: Purity,
}

/// Kinds of features on the same labelled items.
pub struct Comparison {
    compared: Vec<Compared>,
    /// What could not be compared, and why.
    pub missing: Vec<String>,
    labelled: usize,
    neighbours: usize,
}

/// Compares the kinds of features of a pool that was read from a place; nothing where it has one kind only, or too few
/// labels.
pub fn compare(
    place: &str,
    pool: &Pool,
    options: &ReadOptions,
    config: &Config,
    control: &Control,
) -> Result<Option<Comparison>> {
    let Some(truth) = &pool.truth else {
        return Ok(None);
    };
    let known = (0..pool.matrix.n).filter(|&row| truth.labels[row].is_some());
    let mut rows: Vec<usize> = known.collect();
    let kinds = options.feature_kinds(pool);
    if kinds.len() < 2 || rows.len() < 3 || truth.classes.len() < 2 {
        return Ok(None);
    }
    if rows.len() > MAX_LABELLED {
        let mut random = Random::new(0, Purpose::Sample, DRAWN_ITEMS);
        let drawn = random.distinct(MAX_LABELLED, rows.len());
        rows = drawn.into_iter().map(|at| rows[at]).collect();
        rows.sort_unstable();
    }
    let labels: Vec<u16> = rows.iter().filter_map(|&row| truth.labels[row]).collect();
    let near = (config.k * rows.len()).div_ceil(pool.matrix.n);
    let mut comparison = Comparison {
        compared: Vec::new(),
        missing: Vec::new(),
        labelled: rows.len(),
        neighbours: near.clamp(1, rows.len() - 1),
    };
    for kind in kinds {
        let used = kind.options == *options;
        let config = Config {
            k: comparison.neighbours,
            zero_vectors: ZeroVectors::Isolate,
            ..config.clone()
        };
        let features = match used {
            true => Ok(Some(pool.matrix.select_rows(&rows))),
            false => of_kind(place, pool, &rows, &kind.options, control),
        };
        let measured = features.and_then(|features| {
            let Some(features) = features else {
                return Ok(None);
            };
            let found = engine::search(features.features()?, &config, control)?;
            Ok(Some(Purity::new(&found.neighbours, &labels)))
        });
        let why = match measured {
            Ok(Some(purity)) => {
                comparison.compared.push(Compared { kind, used, purity });
                continue;
            }
            Ok(None) => "with them other items are left out".to_string(),
            Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
            Err(error) => error.to_string(),
        };
        comparison
            .missing
            .push(format!("note: {} were not compared: {why}", kind.name));
    }
    Ok(Some(comparison).filter(|found| found.compared.len() > 1))
}

/// Rows of the same pool with other features; nothing if it has other items then.
fn of_kind(
    place: &str,
    pool: &Pool,
    rows: &[usize],
    options: &ReadOptions,
    control: &Control,
) -> Result<Option<Matrix>> {
    let other = dial_data::open(place, options, BUILTIN_SEED, control)?;
    let same = (other.matrix.n, &other.ids) == (pool.matrix.n, &pool.ids);
    Ok(same.then(|| other.matrix.select_rows(rows)))
}

impl Comparison {
    /// The fact about them: as JSON and in words.
    pub fn fact(&self) -> (Value, String) {
        let json = |one: &Compared| {
            let (purity, difference) =
                (one.purity.estimate(), one.purity.minus(&self.used().purity));
            json!({
                "features": one.kind.name,
                "choose": one.kind.choose,
                "used": one.used,
                "purity": purity.mean,
                "standard_error": purity.error,
                "difference": difference.mean,
                "difference_error": difference.error,
            })
        };
        let words = |one: &Compared| {
            let purity = one.purity.estimate();
            let (mean, margin) = (100.0 * purity.mean, 100.0 * purity.margin());
            format!("{} {mean:.1} ± {margin:.1} %", one.kind.name)
        };
        let all: Vec<Value> = self.compared.iter().map(json).collect();
        let text: Vec<String> = self.compared.iter().map(words).collect();
        let nearest = match self.neighbours {
            1 => "the nearest".to_string(),
            several => format!("the {several} nearest"),
        };
        (
            json!({ "labelled": self.labelled, "neighbours": self.neighbours, "kinds": all }),
            format!(
                "{} (labels shared with {nearest} of {})",
                text.join(", "),
                count(self.labelled, "labelled item", "labelled items")
            ),
        )
    }

    /// Those that the pool has; the first, if they could not be compared.
    fn used(&self) -> &Compared {
        let used = self.compared.iter().find(|one| one.used);
        used.unwrap_or(&self.compared[0])
    }

    /// Which of them to use: the best, if it is better than those in use beyond chance, or they than the second best.
    pub fn advice(&self) -> String {
        let mean = |one: &&Compared| one.purity.estimate().mean;
        let mut ranked: Vec<&Compared> = self.compared.iter().collect();
        ranked.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
        let (best, used) = (ranked[0], self.used());
        let other = match std::ptr::eq(best, used) {
            true => ranked[1],
            false => used,
        };
        let difference = best.purity.minus(&other.purity);
        let points = format!(
            "{:.1} ± {:.1} percentage points",
            100.0 * difference.mean,
            100.0 * difference.margin()
        );
        let (choose, best, other) = (&best.kind.choose, best.kind.name, other.kind.name);
        match difference.is_positive() {
            true => format!(
                "advice: use {best} ({choose}): {points} more of the neighbours share the label than with {other}."
            ),
            false => format!(
                "advice: the labels show no clear difference between {best} and {other} ({points})."
            ),
        }
    }
}
