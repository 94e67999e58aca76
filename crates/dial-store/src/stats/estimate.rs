//! What a user wants to know while labelling: how far along, how good, and when to stop.
//!
//! ```text
//! settled    share of the pool that is labelled, or whose class has a probability of at least 0.9
//! accuracy   foretold from the labels, each left out in turn (`dial::belief::calibration::Reader`)
//! bins       labels left out, sorted by the probability of the class foretold and cut into bins of equal counts
//! audit      of labels whose item was drawn at random: was the class believed before the answer right?
//!            (Wilson's interval: it is honest also at 0 and at 100 %)
//! ```

use std::collections::BTreeSet;

use dial::belief::calibration::Accuracy;
use dial::session::view::Odds;
use dial::{Change, ClassId, View};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::log::Log;
use crate::log::record::Record;

/// The probability from which on an item counts as settled.
pub const SETTLED: f64 = 0.9;

/// The accuracy that is enough where nobody says otherwise.
pub const TARGET: f64 = 0.95;

/// How a project stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Estimates {
    /// The place in the log that the belief was made from.
    pub version: u64,
    /// Number of items.
    pub items: usize,
    /// Items with a label that counts.
    pub labelled: usize,
    /// Classes with a label.
    pub classes_met: usize,
    /// All live classes.
    pub classes: usize,
    /// Share of the pool that is settled.
    pub settled: f64,
    /// Share of the items whose class changed over the last labels, if that is known.
    #[schema(required)]
    pub flips: Option<f64>,
    /// The accuracy to expect on what is not labelled.
    #[schema(value_type = Option<Interval>, required)]
    pub accuracy: Option<Accuracy>,
    /// The accuracy as measured on items drawn at random, and on how many.
    #[schema(value_type = Option<(Interval, usize)>, required)]
    pub audit: Option<(Accuracy, usize)>,
    /// What to do.
    pub advice: Advice,
}

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Interval {
    /// The estimate.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl From<Accuracy> for Interval {
    fn from(Accuracy { mean, low, high }: Accuracy) -> Interval {
        Interval { mean, low, high }
    }
}

/// Whether to go on, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Advice {
    /// In a word.
    pub verdict: Verdict,
    /// In sentences.
    pub reasons: Vec<String>,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing can be said yet.
    Begin,
    /// More labels help.
    GoOn,
    /// It is nearly enough.
    Soon,
    /// It is enough.
    Stop,
}

impl Estimates {
    /// How a project stands, by a belief that was made from `version` of its log.
    pub fn new(log: &Log, view: &View<'_>, version: u64, flips: Option<f64>) -> Estimates {
        Estimates::of(Facts::of(log), view, version, flips)
    }

    /// The same from what the log says, for a caller that cannot hold it.
    pub fn of(facts: Facts, view: &View<'_>, version: u64, flips: Option<f64>) -> Estimates {
        let classes = view.classes().len();
        let Facts {
            classes: told,
            audit,
        } = facts;
        let classes_met = view
            .classes()
            .iter()
            .filter(|class| told.contains(class))
            .count();
        let (settled, accuracy) = (view.settled(SETTLED), view.accuracy());
        let labelled = view.labelled().len();
        let mut estimates = Estimates {
            version,
            items: view.n(),
            labelled,
            classes_met,
            classes,
            settled,
            flips,
            accuracy,
            audit,
            advice: Advice {
                verdict: Verdict::Begin,
                reasons: Vec::new(),
            },
        };
        estimates.advice = estimates.advise(TARGET, view.open().is_empty());
        estimates
    }

    /// Whether to go on, for a wanted accuracy.
    fn advise(&self, target: f64, all_asked: bool) -> Advice {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let best = self
            .audit
            .as_ref()
            .filter(|(_, count)| *count >= 30)
            .map(|(audit, _)| *audit)
            .or(self.accuracy);
        let missing = self.classes - self.classes_met;
        let mut reasons = Vec::new();
        if missing > 0 {
            reasons.push(match missing {
                1 => "One class has no label yet.".to_string(),
                many => format!("{many} classes have no label yet."),
            });
        }
        match best {
            Some(Accuracy { mean, low, high }) => {
                reasons.push(format!(
                    "The accuracy is estimated at {} ({} to {}).",
                    percent(mean),
                    percent(low),
                    percent(high)
                ));
            }
            None => reasons.push("There are too few labels to estimate the accuracy.".into()),
        }
        // While a class is missing, everything counts for the others.
        if missing == 0 {
            reasons.push(format!(
                "{} of the items are settled.",
                percent(self.settled)
            ));
        }
        if let Some(flips) = self.flips {
            reasons.push(format!(
                "The last ten labels changed the class of {:.1} % of the items.",
                100.0 * flips
            ));
        }
        let verdict = match best {
            _ if all_asked => Verdict::Stop,
            _ if self.labelled == 0 => Verdict::Begin,
            _ if missing > 0 => Verdict::GoOn,
            None => Verdict::GoOn,
            Some(Accuracy { low, .. }) if low >= target => Verdict::Stop,
            Some(Accuracy { mean, .. })
                if mean >= target && self.flips.is_none_or(|flips| flips < 0.01) =>
            {
                Verdict::Soon
            }
            Some(_) => Verdict::GoOn,
        };
        if all_asked {
            reasons.push("Every item is labelled, skipped or excluded.".into());
        }
        Advice { verdict, reasons }
    }
}

/// Labels left out whose foretold class was about as probable: how probable, and how often right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Bin {
    /// The smallest probability.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// How many labels.
    pub count: usize,
    /// The mean of the probabilities: the share that should be right.
    pub mean: f64,
    /// The share that was right.
    pub right: f64,
}

/// Bins, and labels in each at least while there is more than one.
const BINS: (usize, usize) = (10, 5);

/// How probabilities keep their promise: labels left out in bins of equal counts (which differ by one at most).
pub fn calibration(odds: &[Odds]) -> Vec<Bin> {
    let mut all: Vec<(f64, bool)> = odds
        .iter()
        .map(|odds| (odds.surest, odds.told == odds.foretold))
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let bins = if all.is_empty() {
        0
    } else {
        (all.len() / BINS.1).clamp(1, BINS.0)
    };
    let bin = |number: usize| {
        let some = &all[number * all.len() / bins..(number + 1) * all.len() / bins];
        let share = |sum: f64| sum / some.len() as f64;
        Bin {
            low: some[0].0,
            high: some[some.len() - 1].0,
            count: some.len(),
            mean: share(
                some.iter()
                    .fold(0.0, |sum, (probability, _)| sum + probability),
            ),
            right: share(some.iter().filter(|(_, right)| *right).count() as f64),
        }
    };
    (0..bins).map(bin).collect()
}

/// What the log says to the estimates; taken out of it, so that nobody has to wait for the rest.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The classes that have a label.
    classes: BTreeSet<ClassId>,
    /// The accuracy as measured on items drawn at random, and on how many.
    audit: Option<(Accuracy, usize)>,
}

impl Facts {
    /// What a log says.
    pub fn of(log: &Log) -> Facts {
        let labels = log
            .labels()
            .labelled()
            .flat_map(|item| log.labels().labels_of(item));
        let classes = labels
            .flat_map(|(_, classes)| classes)
            .map(|(class, _)| log.resolved(*class))
            .collect();
        Facts {
            classes,
            audit: audit(log),
        }
    }
}

/// The share of random questions whose answer was foretold, with its interval. Only the first answer of a person for an item
/// counts: what was believed before a later one knew the first.
fn audit(log: &Log) -> Option<(Accuracy, usize)> {
    let (mut right, mut all) = (0usize, 0usize);
    let mut seen = BTreeSet::new();
    for record in log.records().iter().filter(|record| record.remark.audit) {
        let Some(Change::Label { item, .. }) = record.change() else {
            continue;
        };
        if !seen.insert((item, &record.annotator)) {
            continue;
        }
        if let Some((predicted, told)) = judged(log, record) {
            all += 1;
            right += usize::from(predicted == told);
        }
    }
    (all > 0).then(|| (wilson(right, all), all))
}

/// The class believed before an answer, and the class that this person calls the item now.
fn judged(log: &Log, record: &Record) -> Option<(ClassId, ClassId)> {
    let predicted = record.remark.predicted?;
    let Some(Change::Label { item, .. }) = record.change() else {
        return None;
    };
    match log.label_of(item, &record.annotator)? {
        [(told, _)] => Some((log.resolved(predicted), log.resolved(*told))),
        _ => None,
    }
}

/// Wilson's 95 % interval of a share; the mean is the share itself.
fn wilson(right: usize, all: usize) -> Accuracy {
    let (n, z) = (all as f64, 1.96f64);
    let share = right as f64 / n;
    let middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    Accuracy {
        mean: share,
        low: (middle - half).max(0.0),
        high: (middle + half).min(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_by_hand() {
        // 8 of 10 right: (0.8 + 0.19208) / 1.38416 = 0.71674, half = 1.96/1.38416 √(0.016 + 0.009604) = 0.22658.
        let interval = wilson(8, 10);
        assert!(
            (interval.low - 0.49016).abs() < 1e-4 && (interval.high - 0.94331).abs() < 1e-4,
            "{interval:?}"
        );
        assert!(wilson(5, 5).high == 1.0 && wilson(5, 5).low > 0.5 && wilson(0, 5).low == 0.0);
    }

    #[test]
    fn bins_by_hand() {
        // Eleven labels of probabilities 0.40, 0.44, ... 0.80, right from 0.56 on: bins of 5 and 6.
        let label = |i: u32| Odds {
            node: dial::NodeId(i),
            told: ClassId(0),
            foretold: ClassId(u16::from(i < 4)),
            probability: 0.1,
            surest: 0.4 + 0.04 * f64::from(i),
        };
        let odds: Vec<Odds> = (0..11).rev().map(label).collect();
        let bins = calibration(&odds);
        assert_eq!(bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [5, 6]);
        assert_eq!((bins[0].low, bins[0].right, bins[1].right), (0.4, 0.2, 1.0));
        assert!(
            (bins[0].mean - 0.48).abs() < 1e-12 && (bins[1].high - 0.8).abs() < 1e-12,
            "{bins:?}"
        );
        assert_eq!(calibration(&odds[..3]).len(), 1);
        assert!(calibration(&[]).is_empty());
    }

    fn estimates(
        accuracy: Option<(f64, f64, f64)>,
        missing: usize,
        flips: Option<f64>,
    ) -> Estimates {
        Estimates {
            version: 1,
            items: 100,
            labelled: 20,
            classes_met: 3 - missing,
            classes: 3,
            settled: 0.5,
            flips,
            accuracy: accuracy.map(|(low, mean, high)| Accuracy { mean, low, high }),
            audit: None,
            advice: Advice {
                verdict: Verdict::Begin,
                reasons: Vec::new(),
            },
        }
    }

    #[test]
    fn advice_follows_the_interval() {
        let verdict = |accuracy, missing, flips| {
            estimates(accuracy, missing, flips)
                .advise(0.95, false)
                .verdict
        };
        assert_eq!(verdict(None, 0, None), Verdict::GoOn);
        assert_eq!(verdict(Some((0.8, 0.9, 0.95)), 0, None), Verdict::GoOn);
        assert_eq!(verdict(Some((0.9, 0.96, 0.99)), 0, None), Verdict::Soon);
        assert_eq!(
            verdict(Some((0.9, 0.96, 0.99)), 0, Some(0.2)),
            Verdict::GoOn
        );
        assert_eq!(verdict(Some((0.96, 0.98, 0.99)), 0, None), Verdict::Stop);
        assert_eq!(verdict(Some((0.96, 0.98, 0.99)), 1, None), Verdict::GoOn);
        assert_eq!(
            estimates(None, 2, None).advise(0.95, true).verdict,
            Verdict::Stop
        );
    }
}
