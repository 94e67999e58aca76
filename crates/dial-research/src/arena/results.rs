//! What remains of the matches: one CSV per pool with a row per contestant and seed, one with the mean curves.
//!
//! ```text
//! area           mean accuracy over all questions, the initial state among them
//! at_10 ...      accuracy after that many questions
//! clusters       share of the clusters met, mean over all questions
//! balanced       class-balanced accuracy, mean over all questions
//! ece_50, brier_50   expected calibration error and Brier score after 50 questions (after the last, if there are fewer)
//! seconds        mean time for asking and telling
//! inside_50      1 if the accuracy after 50 questions lies in the interval it was expected in, 0 if not
//! reach          the first question at which the accuracy is what the reference has in the end, under the same seed
//! ```
//!
//! These files are small enough to be kept under version control; tables and figures are made from them alone, and more seeds
//! can be played where the matches themselves are gone: means and spreads of curves are pooled.

use std::path::Path;

use dial_data::row;
use dial_data::write::write_csv;

use super::contestants::REFERENCE;
use super::matches::{
    ACCURACY, BALANCED, BRIER, CALIBRATION, CLUSTERS, EXPECTED, JUDGED, Rows, SECONDS,
};
use crate::error::LabError;
use dial_plot::stats::{Band, band, first_reaching, interval, pooled};

/// The questions after which accuracies are reported.
pub const MILESTONES: [usize; 4] = [10, 25, 50, 100];

/// The question after which calibration is reported.
const CALIBRATED_AT: usize = 50;

/// What follows the name of a contestant that is judged in its own classifier.
pub const OWN_CLASSIFIER_SUFFIX: &str = " (own classifier)";

/// What is measured, in the order of [`Run::values`].
pub const MEASURES: [&str; 12] = [
    "area",
    "at_10",
    "at_25",
    "at_50",
    "at_100",
    "clusters",
    "balanced",
    "ece_50",
    "brier_50",
    "seconds",
    "reach",
    "inside_50",
];
/// Places in [`MEASURES`].
pub const AREA: usize = 0;
/// The accuracy at the first milestone; the others follow.
pub const FIRST_MILESTONE: usize = 1;
/// Clusters met.
pub const CLUSTERS_MET: usize = 5;
/// Class-balanced accuracy.
pub const BALANCE: usize = 6;
/// Calibration error.
pub const ECE: usize = 7;
/// Brier score.
pub const BRIER_SCORE: usize = 8;
/// Seconds a question.
pub const TIME: usize = 9;
/// Question at which the reference is reached.
pub const REACHED_AT: usize = 10;
/// Whether the accuracy was where it was expected.
pub const INSIDE: usize = 11;

/// One match in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its seed.
    pub seed: usize,
    /// The [`MEASURES`]; NaN where there is none.
    pub values: [f64; MEASURES.len()],
}

/// A seed and the records of its match.
pub type Match = (usize, Rows);

/// One contestant on one pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its matches.
    pub runs: Vec<Run>,
    /// Its mean accuracy after every question, with the 95 % interval.
    pub curve: Band,
}

/// One pool with everybody on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoolResult {
    /// The pool.
    pub name: String,
    /// The contestants.
    pub entries: Vec<Entry>,
}

impl Entry {
    /// A contestant from the records of its seeds; `column` is the classifier it is judged in, `targets` what the
    /// reference has in the end.
    pub fn new(name: String, matches: &[Match], column: usize, targets: &[(usize, f64)]) -> Entry {
        let target = |seed: usize| {
            let found = targets.iter().find(|(of, _)| *of == seed);
            found.map_or(f64::NAN, |(_, end)| *end)
        };
        let run = |(seed, rows): &Match| Run {
            seed: *seed,
            values: values(rows, column, target(*seed)),
        };
        let curve = |(_, rows): &Match| rows.iter().map(|row| row[column]).collect();
        let curves: Vec<Vec<f64>> = matches.iter().map(curve).collect();
        Entry {
            name,
            runs: matches.iter().map(run).collect(),
            curve: band(&curves),
        }
    }

    /// Both together: their seeds must differ.
    fn and(mut self, other: Entry) -> Entry {
        self.curve = pooled(
            (&self.curve, self.runs.len()),
            (&other.curve, other.runs.len()),
        );
        self.runs.extend(other.runs);
        self.runs.sort_by_key(|run| run.seed);
        self
    }

    /// Whether a seed was played.
    pub fn has(&self, seed: usize) -> bool {
        self.runs.iter().any(|run| run.seed == seed)
    }

    /// The values of a measure, seed by seed.
    pub fn values(&self, measure: usize) -> Vec<f64> {
        self.runs.iter().map(|run| run.values[measure]).collect()
    }

    /// Its mean of a measure.
    pub fn mean(&self, measure: usize) -> f64 {
        interval(self.values(measure)).mean
    }

    /// Differences of a measure to another contestant, over the seeds that both have.
    pub fn paired(&self, other: &Entry, measure: usize) -> Vec<f64> {
        let same = |run: &Run| other.runs.iter().find(|theirs| theirs.seed == run.seed);
        self.runs
            .iter()
            .filter_map(|run| Some(run.values[measure] - same(run)?.values[measure]))
            .collect()
    }
}

fn values(rows: &Rows, column: usize, target: f64) -> [f64; MEASURES.len()] {
    let own = column == JUDGED;
    let values = |column: usize| rows.iter().map(move |row| row[column]);
    let mean = |column: usize| interval(values(column)).mean;
    let field = |value: f64| if own { f64::NAN } else { value };
    let at = |query: usize, column: usize| rows.get(query).map_or(f64::NAN, |row| row[column]);
    let late = CALIBRATED_AT.min(rows.len().saturating_sub(1));
    let seconds = interval(values(SECONDS).skip(1)).mean;
    let queries: Vec<f64> = values(0).collect();
    let curve: Vec<f64> = values(column).collect();
    let [low, high] = [EXPECTED + 1, EXPECTED + 2].map(|column| at(late, column));
    let inside = match low.is_nan() {
        true => f64::NAN,
        false => f64::from(u8::from((low..=high).contains(&at(late, ACCURACY)))),
    };
    let reach = if target.is_nan() {
        None
    } else {
        first_reaching(&queries, &curve, target)
    };
    [
        mean(column),
        at(MILESTONES[0], column),
        at(MILESTONES[1], column),
        at(MILESTONES[2], column),
        at(MILESTONES[3], column),
        mean(CLUSTERS),
        field(mean(BALANCED)),
        field(at(late, CALIBRATION)),
        field(at(late, BRIER)),
        seconds,
        reach.unwrap_or(f64::NAN),
        field(inside),
    ]
}

/// The entries of a pool from the records of its contestants: the name, whether it has its own classifier, and its
/// matches. `known` says where the reference ended in matches of earlier days.
pub fn entries(played: &[(String, bool, Vec<Match>)], known: &[(usize, f64)]) -> Vec<Entry> {
    let end = |(seed, rows): &Match| (*seed, rows.last().map_or(f64::NAN, |row| row[ACCURACY]));
    let reference = played.iter().find(|(name, ..)| name == REFERENCE);
    let mut targets: Vec<(usize, f64)> = reference
        .map(|(.., matches)| matches.iter().map(end).collect())
        .unwrap_or_default();
    targets.extend(known);
    let mut entries = Vec::new();
    for (name, judged, matches) in played.iter().filter(|(.., matches)| !matches.is_empty()) {
        entries.push(Entry::new(name.clone(), matches, ACCURACY, &targets));
        if *judged {
            entries.push(Entry::new(
                format!("{name}{OWN_CLASSIFIER_SUFFIX}"),
                matches,
                JUDGED,
                &targets,
            ));
        }
    }
    entries
}

impl PoolResult {
    /// A contestant by name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// An earlier result with this one added: contestants that only one of them has stay as they are; of the others those
    /// that `replaces` names are taken from this one, and the seeds of the rest must differ.
    pub fn and(mut self, added: PoolResult, replaces: &dyn Fn(&str) -> bool) -> PoolResult {
        for entry in added.entries {
            match self
                .entries
                .iter()
                .position(|known| known.name == entry.name)
            {
                Some(place) if replaces(entry.name.trim_end_matches(OWN_CLASSIFIER_SUFFIX)) => {
                    self.entries[place] = entry
                }
                Some(place) => self.entries[place] = self.entries[place].clone().and(entry),
                None => self.entries.push(entry),
            }
        }
        self
    }

    /// The final accuracy of the reference after a number of questions, seed by seed, less what rounding may have added; nothing for
    /// another number than the last milestone.
    pub fn targets(&self, queries: usize) -> Vec<(usize, f64)> {
        let last = MILESTONES.len() - 1;
        let runs = self
            .entry(REFERENCE)
            .filter(|_| queries == MILESTONES[last])
            .map_or(&[][..], |entry| &entry.runs);
        runs.iter()
            .map(|run| {
                (
                    run.seed,
                    run.values[FIRST_MILESTONE + last] - 0.5 / MEASURE_SCALE,
                )
            })
            .collect()
    }

    /// Writes both files of the pool.
    pub fn write(&self, folder: &Path) -> Result<(), LabError> {
        let row = |entry: &Entry, run: &Run| {
            let mut row = row![entry.name.clone(), run.seed];
            row.extend(run.values.map(|value| rounded(value, MEASURE_SCALE).into()));
            row
        };
        let rows = self
            .entries
            .iter()
            .flat_map(|entry| entry.runs.iter().map(move |run| row(entry, run)));
        let header = [&["contestant", "seed"][..], &MEASURES].concat();
        write_csv(&folder.join(format!("{}.csv", self.name)), &header, rows)?;

        let names = self.entries.iter().map(|entry| &entry.name);
        let columns: Vec<String> = names
            .flat_map(|name| [name.clone(), half_width(name)])
            .collect();
        let mut header = vec!["query"];
        header.extend(columns.iter().map(String::as_str));
        let curves = || self.entries.iter().map(|entry| &entry.curve);
        let length = curves().map(|curve| curve.mean.len()).max().unwrap_or(0);
        let row = |query: usize| {
            let at = |values: &[f64]| values.get(query).copied().unwrap_or(f64::NAN);
            let mut row = row![query];
            for curve in curves() {
                let mean = at(&curve.mean);
                row.extend(row![
                    rounded(mean, 1e4),
                    rounded(at(&curve.high) - mean, 1e4)
                ]);
            }
            row
        };
        let file = folder.join(format!("{}-curves.csv", self.name));
        Ok(write_csv(&file, &header, (0..length).map(row))?)
    }

    /// Reads both files of a pool, if they are there and whole.
    pub fn read(folder: &Path, name: &str) -> Option<PoolResult> {
        let (header, rows) = read_table(&folder.join(format!("{name}.csv")))?;
        (header.len() == 2 + MEASURES.len() && header[2..].iter().eq(MEASURES.iter()))
            .then_some(())?;
        let (names, curves) = read_table(&folder.join(format!("{name}-curves.csv")))?;
        let column = |name: &str| -> Vec<f64> {
            let place = names.iter().position(|found| found == name);
            place
                .map(|place| curves.iter().map(|row| number(&row[place])).collect())
                .unwrap_or_default()
        };
        let mut entries: Vec<Entry> = Vec::new();
        for row in rows {
            let values: Vec<f64> = row[2..].iter().map(|cell| number(cell)).collect();
            let run = Run {
                seed: row[1].parse().ok()?,
                values: values.try_into().ok()?,
            };
            match entries.iter_mut().find(|entry| entry.name == row[0]) {
                Some(entry) => entry.runs.push(run),
                None => entries.push(Entry {
                    name: row[0].clone(),
                    runs: vec![run],
                    curve: Band::around(column(&row[0]), &column(&half_width(&row[0]))),
                }),
            }
        }
        Some(PoolResult {
            name: name.to_string(),
            entries,
        })
    }
}

/// Measures are rounded to this many parts of one.
const MEASURE_SCALE: f64 = 1e5;

/// The name of a contestant's column of half-widths.
fn half_width(name: &str) -> String {
    format!("{name} ±")
}

/// A number rounded to parts of one, if there is one.
fn rounded(value: f64, places: f64) -> Option<f64> {
    value.is_finite().then(|| (value * places).round() / places)
}

fn number(cell: &str) -> f64 {
    cell.parse().unwrap_or(f64::NAN)
}

/// Header and rows of a table of ours, which has no quotes; none if a row is not whole.
pub(super) fn read_table(file: &Path) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let text = std::fs::read_to_string(file).ok()?;
    let mut lines = text
        .lines()
        .map(|line| line.split(',').map(String::from).collect::<Vec<_>>());
    let header = lines.next()?;
    let rows: Vec<Vec<String>> = lines.collect();
    rows.iter()
        .all(|row| row.len() == header.len())
        .then_some((header, rows))
}

#[cfg(test)]
mod tests {
    use super::super::matches::HEADER;
    use super::*;

    /// A match of three questions: accuracies, the rest made up from them.
    fn rows(accuracies: [f64; 4]) -> Rows {
        let row = |(query, accuracy): (usize, &f64)| {
            let mut row = vec![0.25; HEADER.len()];
            (row[0], row[ACCURACY], row[JUDGED]) = (query as f64, *accuracy, accuracy / 2.0);
            (row[CALIBRATION], row[SECONDS]) = (0.1 * query as f64, query as f64);
            row
        };
        accuracies.iter().enumerate().map(row).collect()
    }

    fn played() -> Vec<(String, bool, Vec<Match>)> {
        vec![
            (
                REFERENCE.into(),
                false,
                vec![
                    (0, rows([0.2, 0.4, 0.6, 0.8])),
                    (1, rows([0.4, 0.4, 0.4, 0.4])),
                ],
            ),
            (
                "own".into(),
                true,
                vec![
                    (0, rows([0.2, 0.8, 0.9, 1.0])),
                    (1, rows([0.1, 0.2, 0.3, 0.3])),
                ],
            ),
        ]
    }

    #[test]
    fn numbers_of_a_match_by_hand() {
        let entries = entries(&played(), &[]);
        assert_eq!(
            entries.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(),
            [REFERENCE, "own", "own (own classifier)"]
        );
        let [first, second] = [&entries[1].runs[0].values, &entries[1].runs[1].values];
        // (0.2 + 0.8 + 0.9 + 1)/4; the reference ends at 0.8, which is there at question 1, and at 0.4, which never is.
        assert!((first[AREA] - 0.725).abs() < 1e-12);
        assert_eq!(
            (first[REACHED_AT], second[REACHED_AT].is_nan()),
            (1.0, true)
        );
        // Seconds 1, 2 and 3 of the questions, not those of the start; calibration after the last of three questions.
        assert_eq!(
            (
                first[TIME],
                first[CLUSTERS_MET],
                first[FIRST_MILESTONE].is_nan()
            ),
            (2.0, 0.25, true)
        );
        assert!((first[ECE] - 0.3).abs() < 1e-12);
        let own = &entries[2].runs[0].values;
        assert!((own[AREA] - 0.3625).abs() < 1e-12 && own[ECE].is_nan() && own[BALANCE].is_nan());
        assert_eq!(entries[1].curve.mean[2], 0.6);
        let differences = entries[1].paired(&entries[0], AREA);
        assert!((differences[0] - 0.225).abs() < 1e-12 && (differences[1] + 0.175).abs() < 1e-12);
    }

    #[test]
    fn seeds_played_apart_are_as_if_played_together() {
        let made = |played: &[(String, bool, Vec<Match>)], known: &[(usize, f64)]| PoolResult {
            name: "p".into(),
            entries: entries(played, known),
        };
        let more = |seed: usize| {
            vec![0.3, 0.5, 0.35, 0.9]
                .into_iter()
                .map(move |v| v / (1.0 + 0.1 * seed as f64))
        };
        let all: Vec<Match> = (0..5)
            .map(|seed| {
                (
                    seed,
                    rows(more(seed).collect::<Vec<_>>().try_into().unwrap()),
                )
            })
            .collect();
        let of = |matches: &[Match]| vec![("own".to_string(), true, matches.to_vec())];
        let ends: Vec<(usize, f64)> = (0..5).map(|seed| (seed, 0.4)).collect();
        let whole = made(&of(&all), &ends);
        for cut in 1..5 {
            let both = made(&of(&all[cut..]), &ends).and(made(&of(&all[..cut]), &ends), &|_| false);
            assert_eq!(both.entries.len(), 2);
            for (one, other) in whole.entries.iter().zip(&both.entries) {
                let told = |entry: &Entry| format!("{} {:?}", entry.name, entry.runs);
                assert_eq!(told(one), told(other), "cut at {cut}");
                let ends =
                    |band: &Band| [band.mean.clone(), band.low.clone(), band.high.clone()].concat();
                let close = ends(&one.curve)
                    .into_iter()
                    .zip(ends(&other.curve))
                    .all(|(a, b)| (a - b).abs() < 1e-12);
                assert!(close, "cut at {cut}: {:?} {:?}", one.curve, other.curve);
            }
        }
        let again = made(&of(&all[..2]), &ends).and(made(&of(&all), &ends), &|name| name == "own");
        assert_eq!(
            format!("{again:?}"),
            format!("{whole:?}"),
            "replaced, and its other classifier too"
        );
        let apart = made(&of(&all), &ends).and(made(&played()[..1], &[]), &|_| false);
        assert_eq!(
            (apart.entries.len(), apart.entries[2].name.as_str()),
            (3, REFERENCE)
        );
        assert_eq!(apart.targets(3), []);
    }

    #[test]
    fn files_read_back_and_absent_contestants_stay() {
        let folder = tempfile::tempdir().unwrap();
        let whole = PoolResult {
            name: "p".into(),
            entries: entries(&played(), &[]),
        };
        whole.write(folder.path()).unwrap();
        let back = PoolResult::read(folder.path(), "p").unwrap();
        assert_eq!(back.entries.len(), 3);
        for (ours, theirs) in whole.entries.iter().zip(&back.entries) {
            assert_eq!(
                (&ours.name, ours.runs.len(), ours.curve.mean.len()),
                (&theirs.name, 2, 4)
            );
            assert!((ours.mean(AREA) - theirs.mean(AREA)).abs() < 1e-5);
            assert!(
                ours.curve
                    .high
                    .iter()
                    .zip(&theirs.curve.high)
                    .all(|(a, b)| (a - b).abs() < 2e-4)
            );
        }
        std::fs::write(folder.path().join("p.csv"), "contestant,seed\nx\n").unwrap();
        assert!(
            PoolResult::read(folder.path(), "p").is_none()
                && PoolResult::read(folder.path(), "q").is_none()
        );
    }
}
