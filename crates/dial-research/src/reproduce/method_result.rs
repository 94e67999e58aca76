//! How a method stood on a pool: the numbers behind the tables and the claims.

use serde::{Deserialize, Serialize};

use super::curves::{ACCURACY, CLUSTERS, Curve, JUDGED, Study};
use dial_plot::report::Table;
use dial_plot::stats::{Interval, interval, mean};
use dial_plot::words::Listed;

/// The questions after which accuracy is reported.
pub const MILESTONES: [usize; 4] = [10, 25, 50, 100];

/// The suffix of a line that is judged in its own classifier.
pub const OWN_CLASSIFIER_SUFFIX: &str = " in its own classifier";

/// One method on one pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodResult {
    /// The pool.
    pub pool: String,
    /// The method.
    pub method: String,
    /// Whether the paper's figure shows it.
    pub shown: bool,
    /// The mean accuracy over all questions, of every trial: the area under its curve.
    pub areas: Vec<f64>,
    /// The accuracies of the trials after some questions.
    pub at: Vec<(usize, Vec<f64>)>,
    /// The question after which all clusters were met, of every trial in which that happened.
    pub met: Vec<usize>,
}

impl MethodResult {
    fn new(study: &Study, curve: &Curve, column: usize, method: String) -> MethodResult {
        let end = study.protocol.queries;
        let mut milestones: Vec<usize> = MILESTONES
            .into_iter()
            .filter(|&query| query < end)
            .collect();
        milestones.push(end);
        let values = |query: usize| {
            curve
                .trials
                .iter()
                .filter_map(|rows| Some(rows.get(query)?[column]))
                .collect()
        };
        let area = |rows: &Vec<Vec<f64>>| mean(rows.iter().map(|row| row[column]));
        let met = |rows: &Vec<Vec<f64>>| {
            rows.iter()
                .position(|row| row[CLUSTERS] as usize == study.clusters)
        };
        MethodResult {
            pool: study.name.clone(),
            method,
            shown: curve.line.shown,
            areas: curve.trials.iter().map(area).collect(),
            at: milestones
                .into_iter()
                .map(|query| (query, values(query)))
                .collect(),
            met: curve.trials.iter().filter_map(met).collect(),
        }
    }

    /// The area with its spread.
    pub fn area(&self) -> Interval {
        interval(&self.areas)
    }

    /// The area of this method less that of another, trial by trial.
    pub fn ahead_of(&self, other: &MethodResult) -> Interval {
        let pairs = self.areas.iter().zip(&other.areas);
        interval(pairs.map(|(ours, theirs)| ours - theirs))
    }
}

/// The standings of a study, in the order of its lines; a line with its own classifier has two.
pub fn standings(study: &Study) -> Vec<MethodResult> {
    let mut all = Vec::new();
    for curve in &study.curves {
        all.push(MethodResult::new(
            study,
            curve,
            ACCURACY,
            curve.line.name.to_string(),
        ));
        if curve.line.judge.is_some() {
            all.push(MethodResult::new(
                study,
                curve,
                JUDGED,
                format!("{}{OWN_CLASSIFIER_SUFFIX}", curve.line.name),
            ));
        }
    }
    all
}

/// Mean and standard error in per cent.
pub fn percent(values: &[f64]) -> String {
    let Interval {
        mean,
        deviation,
        count,
        ..
    } = interval(values);
    match count {
        0 => "-".into(),
        1 => format!("{:.1}", 100.0 * mean),
        _ => format!(
            "{:.1} ± {:.1}",
            100.0 * mean,
            100.0 * deviation / (count as f64).sqrt()
        ),
    }
}

/// Standings for people: accuracies with standard errors, area, clusters met.
pub fn table(caption: String, standings: &[MethodResult], explores: bool) -> Table {
    let milestones = standings.first().map_or(&[][..], |standing| &standing.at);
    let at = milestones.iter().map(|(query, _)| format!("at {query} | "));
    let header = format!(
        "accuracy in %, ± standard error | {}area under the curve{}",
        at.joined(""),
        if explores { " | all clusters met" } else { "" }
    );
    let row = |standing: &MethodResult| {
        let mut row = vec![standing.method.clone()];
        row.extend(standing.at.iter().map(|(_, values)| percent(values)));
        row.push(percent(&standing.areas));
        row.extend(explores.then(|| met_in_words(standing)));
        row
    };
    Table::new(caption, &header, standings.iter().map(row)).numbers(1..)
}

fn met_in_words(standing: &MethodResult) -> String {
    let trials = standing.areas.len();
    match standing.met.len() {
        0 => "never".into(),
        all => {
            let mean = standing.met.iter().sum::<usize>() as f64 / all as f64;
            let some = if all < trials {
                format!(" ({all} of {trials})")
            } else {
                String::new()
            };
            format!("after {mean:.1}{some}")
        }
    }
}
