//! The league: everybody over all pools.
//!
//! ```text
//! rank     place on a pool by the mean difference in area to the reference, over the seeds that both have played; equals
//!          share the mean of their places; mean over pools
//! ratio    mean over pools of (1 - area) / (1 - area of the reference), areas meaned over those seeds first
//! worst    the smallest mean difference of areas to the best contestant of a pool, seed by seed, with its 95 % interval
//! behind   number of pools on which the whole interval of that difference lies below -0.5 points; near: above it
//! reach    the first question at which the mean curve is where the reference's ends, on pools that can tell
//! ```
//!
//! A pool can tell how many questions are saved if answers are never wrong and the reference still learns late: its
//! accuracy rises by at least half a point over the second half of its questions. Means are over the pools a contestant
//! has played; one that has not played all is not to be compared with the others. Contestants that differ from another
//! only in asking batches (`auto:batch=5`) have their row, but are left out of ranks and of the best.

use super::contestants::REFERENCE;
use super::pools;
use super::results::{
    AREA, BALANCE, BRIER_SCORE, CLUSTERS_MET, ECE, Entry, FIRST_MILESTONE, MILESTONES, PoolResult,
    TIME,
};
use dial_plot::stats::{Interval, interval};

/// How far below the best a contestant may be on any pool, in area.
pub const TOLERATED: f64 = 0.005;
/// By how much the reference must still rise over the second half of its questions.
const MIN_RISE: f64 = 0.005;

/// A difference of areas to the best contestant of a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// The pool.
    pub pool: String,
    /// The best contestant there.
    pub best: String,
    /// The difference, seed by seed, summarised.
    pub difference: Interval,
}

impl Gap {
    /// Whether the contestant is clearly further behind than tolerated.
    pub fn clearly_behind(&self) -> bool {
        self.difference.count > 1 && self.difference.mean + self.difference.half_width < -TOLERATED
    }
}

/// Where a contestant stands over all pools.
#[derive(Clone, Debug, PartialEq)]
pub struct LeagueRow {
    /// Its name.
    pub name: String,
    /// Number of pools it has played.
    pub pools: usize,
    /// Mean rank.
    pub rank: f64,
    /// Mean area.
    pub area: f64,
    /// Mean accuracies at the milestones.
    pub at: [f64; MILESTONES.len()],
    /// Mean ratio of error areas to the reference.
    pub ratio: f64,
    /// Its differences to the best, pool by pool.
    pub gaps: Vec<Gap>,
    /// Mean share of clusters met.
    pub clusters: f64,
    /// Mean class-balanced accuracy.
    pub balanced: f64,
    /// Mean expected calibration error.
    pub calibration: f64,
    /// The largest expected calibration error, and its pool.
    pub worst_calibration: Option<(f64, String)>,
    /// Mean Brier score.
    pub brier: f64,
    /// Mean seconds a question.
    pub seconds: f64,
    /// On the pools that can tell: the question at which it is where the reference ends, if ever.
    pub reach: Vec<(String, Option<usize>)>,
}

impl LeagueRow {
    /// The pool on which it is furthest behind the best.
    pub fn worst(&self) -> Option<&Gap> {
        self.gaps
            .iter()
            .min_by(|a, b| a.difference.mean.total_cmp(&b.difference.mean))
    }

    /// The number of pools on which it is clearly further behind than tolerated.
    pub fn behind(&self) -> usize {
        self.gaps.iter().filter(|gap| gap.clearly_behind()).count()
    }

    /// The number of pools on which it is clearly no further behind than tolerated: the best itself, or an interval above.
    pub fn near(&self) -> usize {
        let near = |gap: &&Gap| {
            gap.best == self.name || gap.difference.mean - gap.difference.half_width >= -TOLERATED
        };
        self.gaps.iter().filter(near).count()
    }

    /// The middle of the questions it takes to be where the reference ends; never counts as infinite.
    pub fn median_reach(&self) -> Option<f64> {
        let mut all: Vec<f64> = self
            .reach
            .iter()
            .map(|(_, q)| q.map_or(f64::INFINITY, |q| q as f64))
            .collect();
        all.sort_unstable_by(f64::total_cmp);
        let middle = match all.len() {
            0 => return None,
            n if n % 2 == 1 => all[n / 2],
            n => (all[n / 2 - 1] + all[n / 2]) / 2.0,
        };
        Some(middle)
    }

    /// On how many of the pools that can tell half of the questions suffice.
    pub fn within_half(&self, queries: usize) -> usize {
        self.reach
            .iter()
            .filter(|(_, question)| question.is_some_and(|q| 2 * q <= queries))
            .count()
    }
}

/// The table, the best mean rank first.
pub fn league(results: &[PoolResult]) -> Vec<LeagueRow> {
    let mut names: Vec<&str> = Vec::new();
    for name in results
        .iter()
        .flat_map(|pool| pool.entries.iter().map(|entry| entry.name.as_str()))
    {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut table: Vec<LeagueRow> = names
        .into_iter()
        .map(|name| standing(name, results))
        .collect();
    table.sort_by(|a, b| b.pools.cmp(&a.pools).then(a.rank.total_cmp(&b.rank)));
    table
}

fn standing(name: &str, results: &[PoolResult]) -> LeagueRow {
    let played: Vec<(&PoolResult, &Entry)> = results
        .iter()
        .filter_map(|pool| Some((pool, pool.entry(name)?)))
        .collect();
    let mean = |measure: usize| average(played.iter().map(|(_, entry)| entry.mean(measure)));
    let calibrations = played
        .iter()
        .map(|(pool, entry)| (entry.mean(ECE), pool.name.clone()))
        .filter(|(e, _)| e.is_finite());
    LeagueRow {
        name: name.to_string(),
        pools: played.len(),
        rank: average(played.iter().map(|(pool, entry)| rank(pool, entry))),
        area: mean(AREA),
        at: std::array::from_fn(|milestone| mean(FIRST_MILESTONE + milestone)),
        ratio: average(played.iter().map(|(pool, entry)| ratio(pool, entry))),
        gaps: played
            .iter()
            .filter_map(|(pool, entry)| gap(pool, entry))
            .collect(),
        clusters: mean(CLUSTERS_MET),
        balanced: mean(BALANCE),
        calibration: mean(ECE),
        worst_calibration: calibrations.max_by(|a, b| a.0.total_cmp(&b.0)),
        brier: mean(BRIER_SCORE),
        seconds: mean(TIME),
        reach: played
            .iter()
            .filter(|(pool, _)| can_tell(pool))
            .map(|(pool, entry)| (pool.name.clone(), reach(pool, entry)))
            .collect(),
    }
}

/// The mean of what is finite.
fn average(values: impl Iterator<Item = f64>) -> f64 {
    interval(values).mean
}

/// How good a contestant is on a pool, comparable between contestants of different seeds: its mean difference in area to the
/// reference under the same seeds; without the reference, its mean area.
fn merit(pool: &PoolResult, entry: &Entry) -> f64 {
    match pool.entry(REFERENCE) {
        Some(reference) => interval(entry.paired(reference, AREA)).mean,
        None => entry.mean(AREA),
    }
}

/// The place of a contestant on a pool; equals share the mean of their places.
pub fn rank(pool: &PoolResult, entry: &Entry) -> f64 {
    let own = merit(pool, entry);
    let rivals = pool
        .entries
        .iter()
        .filter(|other| !in_batches(other) || other.name == entry.name);
    let areas: Vec<f64> = rivals.map(|other| merit(pool, other)).collect();
    let above = areas.iter().filter(|area| **area > own).count();
    let equal = areas.iter().filter(|area| **area == own).count();
    above as f64 + (equal as f64 + 1.0) / 2.0
}

/// The error area of a contestant over that of the reference on a pool; NaN without the reference or without errors.
pub fn ratio(pool: &PoolResult, entry: &Entry) -> f64 {
    let Some(reference) = pool.entry(REFERENCE) else {
        return f64::NAN;
    };
    let (mut own, mut theirs) = (0.0, 0.0);
    for run in &entry.runs {
        if let Some(same) = reference.runs.iter().find(|same| same.seed == run.seed) {
            own += 1.0 - run.values[AREA];
            theirs += 1.0 - same.values[AREA];
        }
    }
    if theirs > 0.0 { own / theirs } else { f64::NAN }
}

/// Whether a contestant is another one that asks batches.
fn in_batches(entry: &Entry) -> bool {
    entry.name.contains(BATCH_SUFFIX)
}

/// What follows the name of a contestant that asks batches.
const BATCH_SUFFIX: &str = ":batch=";

/// The contestants that are `name` asking batches, with their difference in area to `name` on the pool where it is
/// smallest: the number of questions at once, and the gap.
pub fn batches(results: &[PoolResult], name: &str) -> Vec<(String, Gap)> {
    let prefix = format!("{name}{BATCH_SUFFIX}");
    let mut found: Vec<(String, Gap)> = Vec::new();
    for pool in results {
        let Some(single) = pool.entry(name) else {
            continue;
        };
        for entry in pool
            .entries
            .iter()
            .filter(|entry| entry.name.starts_with(&prefix))
        {
            let difference = interval(entry.paired(single, AREA));
            let gap = Gap {
                pool: pool.name.clone(),
                best: name.to_string(),
                difference,
            };
            let size = entry.name[prefix.len()..].to_string();
            match found.iter_mut().find(|(known, _)| *known == size) {
                Some((_, worst)) if worst.difference.mean <= gap.difference.mean => {}
                Some((_, worst)) => *worst = gap,
                None => found.push((size, gap)),
            }
        }
    }
    found
}

/// The difference in area to the best contestant of a pool, paired by seed.
pub fn gap(pool: &PoolResult, entry: &Entry) -> Option<Gap> {
    let best = pool
        .entries
        .iter()
        .filter(|e| !in_batches(e))
        .max_by(|a, b| merit(pool, a).total_cmp(&merit(pool, b)))?;
    Some(Gap {
        pool: pool.name.clone(),
        best: best.name.clone(),
        difference: interval(entry.paired(best, AREA)),
    })
}

/// The share of wrong answers on a pool.
fn noise(pool: &str) -> f64 {
    pools::all()
        .iter()
        .find(|known| known.name == pool)
        .map_or(0.0, |pool| pool.noise)
}

/// Whether a pool can tell how many questions are saved.
pub fn can_tell(pool: &PoolResult) -> bool {
    let Some(reference) = pool.entry(REFERENCE) else {
        return false;
    };
    let curve = &reference.curve.mean;
    match (curve.last(), curve.get(curve.len() / 2)) {
        (Some(end), Some(middle)) => noise(&pool.name) == 0.0 && end - middle >= MIN_RISE,
        _ => false,
    }
}

/// The first question at which the mean curve of a contestant is where that of the reference ends.
pub fn reach(pool: &PoolResult, entry: &Entry) -> Option<usize> {
    let target = *pool.entry(REFERENCE)?.curve.mean.last()?;
    entry
        .curve
        .mean
        .iter()
        .position(|accuracy| *accuracy >= target)
}

#[cfg(test)]
mod tests {
    use super::super::results::{MEASURES, Run};
    use super::*;
    use dial_plot::stats::{band, t_quantile};

    /// A contestant with these areas, whose curves rise evenly to the given ends over four questions.
    fn entry(name: &str, areas: &[f64], end: f64) -> Entry {
        let run = |(seed, area): (usize, &f64)| {
            let mut values = [0.5; MEASURES.len()];
            values[AREA] = *area;
            Run { seed, values }
        };
        let curve = band([(0..=4)
            .map(|q| f64::from(q) / 4.0 * end)
            .collect::<Vec<_>>()]);
        Entry {
            name: name.into(),
            runs: areas.iter().enumerate().map(run).collect(),
            curve,
        }
    }

    fn two_pools() -> Vec<PoolResult> {
        let one = PoolResult {
            name: "one".into(),
            entries: vec![
                entry(REFERENCE, &[0.8, 0.8, 0.8], 0.8),
                entry("a", &[0.9, 0.92, 0.94], 1.0),
                entry("b", &[0.8, 0.8, 0.8], 0.4),
            ],
        };
        let two = PoolResult {
            name: "two".into(),
            entries: vec![
                entry(REFERENCE, &[0.6, 0.6, 0.6], 0.6),
                entry("a", &[0.4, 0.4, 0.4], 0.6),
                entry("b", &[0.7, 0.7, 0.7], 0.7),
            ],
        };
        vec![one, two]
    }

    #[test]
    fn numbers_by_hand() {
        let table = league(&two_pools());
        let find = |name: &str| table.iter().find(|standing| standing.name == name).unwrap();
        // Ranks on one: a 1, the others share 2 and 3; on two: b 1, the reference 2, a 3.
        assert_eq!(
            (find("a").rank, find("b").rank, find(REFERENCE).rank),
            (2.0, 1.75, 2.25)
        );
        assert_eq!(
            table.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(),
            ["b", "a", REFERENCE]
        );
        // Ratios of a: 0.08/0.2 and 0.6/0.4, mean 0.95; of b: 1 and 0.3/0.4.
        assert!((find("a").ratio - 0.95).abs() < 1e-12 && (find("b").ratio - 0.875).abs() < 1e-12);
        assert!((find("a").area - 0.66).abs() < 1e-12);
        assert!((find(REFERENCE).ratio - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_worst_gap_is_paired_and_has_its_interval() {
        let table = league(&two_pools());
        let b = table.iter().find(|standing| standing.name == "b").unwrap();
        let worst = b.worst().unwrap();
        assert_eq!((worst.pool.as_str(), worst.best.as_str()), ("one", "a"));
        // Differences -0.1, -0.12, -0.14: mean -0.12, deviation 0.02, half-width t(2) 0.02/√3.
        assert!((worst.difference.mean + 0.12).abs() < 1e-12);
        assert!((worst.difference.half_width - t_quantile(2) * 0.02 / 3.0f64.sqrt()).abs() < 1e-12);
        assert_eq!(
            (b.behind(), worst.clearly_behind()),
            (1, true),
            "-0.12 + 0.05 is below -0.005"
        );
        let a = table.iter().find(|standing| standing.name == "a").unwrap();
        assert_eq!((a.behind(), a.worst().unwrap().pool.as_str()), (1, "two"));
    }

    #[test]
    fn reaching_the_reference() {
        let table = league(&two_pools());
        let find = |name: &str| table.iter().find(|standing| standing.name == name).unwrap();
        // On one the reference ends at 0.8: a is there at question 4 of 0, 0.25, ..., 1; b never. On two it ends at 0.6,
        // where a ends too, and b has 0.525 at question 3 and 0.7 at question 4.
        assert_eq!(
            find("a").reach,
            [("one".to_string(), Some(4)), ("two".to_string(), Some(4))]
        );
        assert_eq!(
            find("b").reach,
            [("one".to_string(), None), ("two".to_string(), Some(4))]
        );
        assert_eq!(
            (find("a").median_reach(), find("b").median_reach()),
            (Some(4.0), Some(f64::INFINITY))
        );
        assert_eq!((find("a").within_half(8), find("a").within_half(7)), (2, 0));
    }

    #[test]
    fn batches_take_nobodys_place() {
        let mut pools = two_pools();
        let before = league(&pools);
        pools[0]
            .entries
            .push(entry("a:batch=5", &[0.95, 0.95, 0.95], 1.0));
        pools[1]
            .entries
            .push(entry("a:batch=5", &[0.39, 0.39, 0.39], 0.6));
        let table = league(&pools);
        for standing in &before {
            let now = table
                .iter()
                .find(|other| other.name == standing.name)
                .unwrap();
            assert_eq!((now.rank, now.behind()), (standing.rank, standing.behind()));
        }
        // Its own place is where it would stand: first on one, last of four on two.
        assert_eq!(
            table
                .iter()
                .find(|standing| standing.name == "a:batch=5")
                .map(|s| s.rank),
            Some(2.5)
        );
        // 0.03 better on one, 0.01 worse on two.
        let found = batches(&pools, "a");
        assert_eq!(
            (found.len(), found[0].0.as_str(), found[0].1.pool.as_str()),
            (1, "5", "two")
        );
        assert!((found[0].1.difference.mean + 0.01).abs() < 1e-12);
    }

    #[test]
    fn who_misses_a_pool_stands_below_those_who_do_not() {
        let mut pools = two_pools();
        pools[1].entries.remove(1);
        let table = league(&pools);
        assert_eq!(
            (table[2].name.as_str(), table[2].pools, table[2].rank),
            ("a", 1, 1.0)
        );
    }
}
