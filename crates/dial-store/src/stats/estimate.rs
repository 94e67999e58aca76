//! What a user wants to know while labelling: how far along, how good, and when to stop.
//!
//! ```text
//! settled    share of the pool that is labelled, or whose class has a probability of at least 0.9
//! accuracy   estimated from the labels, each left out in turn (`dial::belief::calibration::Readout`)
//! bins       labels left out, sorted by the probability of the predicted class and cut into bins of equal counts
//! audit      of labels whose item was drawn at random: was the class believed before the answer right?
//!            (Wilson's interval: it is honest also at 0 and at 100 %)
//! ```

use std::collections::{BTreeMap, BTreeSet};

use dial::belief::calibration::Accuracy;
use dial::session::view::LeaveOneOut;
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
    /// Why there is no such accuracy, where there is none: in a sentence.
    #[serde(default)]
    #[schema(required)]
    pub no_accuracy: Option<String>,
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
            names,
            audit,
        } = facts;
        let unmet = view.classes().iter().filter(|class| !told.contains(class));
        let unmet: Vec<&str> = unmet
            .map(|class| names.get(class).map_or("?", String::as_str))
            .collect();
        let classes_met = classes - unmet.len();
        let (settled, accuracy) = (view.settled(SETTLED), view.accuracy());
        let no_accuracy = accuracy.is_none().then(|| no_accuracy(view, &unmet));
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
            no_accuracy,
            audit,
            advice: Advice {
                verdict: Verdict::Begin,
                reasons: Vec::new(),
            },
        };
        estimates.advice = estimates.advise(TARGET, &unmet, view.open().is_empty());
        estimates
    }

    /// Whether to go on, for a wanted accuracy; these classes have no label.
    fn advise(&self, target: f64, unmet: &[&str], all_asked: bool) -> Advice {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let best = self
            .audit
            .as_ref()
            .filter(|(_, count)| *count >= 30)
            .map(|(audit, _)| *audit)
            .or(self.accuracy);
        let missing = unmet.len();
        let mut reasons = Vec::new();
        if missing > 0 && (self.accuracy.is_some() || self.no_accuracy.is_none()) {
            reasons.push(format!("{} no label yet.", named(unmet)));
        }
        if let Some(Accuracy { mean, low, high }) = best {
            reasons.push(format!(
                "The accuracy is estimated at {} ({} to {}).",
                percent(mean),
                percent(low),
                percent(high)
            ));
            if low < target && !all_asked {
                reasons.push(format!(
                    "You may stop when the lower end of this interval reaches {}; it is at {} now.",
                    percent(target),
                    percent(low)
                ));
            }
        }
        reasons.extend(self.no_accuracy.clone());
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

/// The fewest labels that an accuracy is estimated from.
const MIN_LABELS_FOR_ACCURACY: usize = 10;

/// Why there is no accuracy; these classes have no label.
fn no_accuracy(view: &View<'_>, unmet: &[&str]) -> String {
    if view.open().is_empty() {
        return "Nothing is left whose class would be predicted.".into();
    }
    if !unmet.is_empty() {
        let next = match unmet.len() {
            1 => "Label an item of it, or delete the class if it is not in the data.",
            _ => "Label an item of each, or delete the classes that are not in the data.",
        };
        let named = named(unmet);
        return format!("{named} no label yet, so the accuracy cannot be estimated. {next}");
    }
    match view.leave_one_out().len() {
        few if few < MIN_LABELS_FOR_ACCURACY => {
            let now = match few {
                0 => "none can".to_string(),
                1 => "1 can".to_string(),
                many => format!("{many} can"),
            };
            format!(
                "The accuracy is estimated once {MIN_LABELS_FOR_ACCURACY} labels can be predicted by another label of their class; now {now}."
            )
        }
        _ => "Calibration is off in this project: no accuracy is estimated.".into(),
    }
}

/// `cat has`, `cat and dog have`, `cat, dog, owl and 4 more classes have`.
fn named(classes: &[&str]) -> String {
    const NAMED: usize = 4;
    match classes {
        [] => "no class has".into(),
        [one] => format!("{one} has"),
        [first @ .., last] if classes.len() <= NAMED => {
            format!("{} and {last} have", first.join(", "))
        }
        all => {
            let first = all[..NAMED - 1].join(", ");
            format!("{first} and {} more classes have", all.len() - NAMED + 1)
        }
    }
}

/// Labels left out whose predicted class was about as probable: how probable, and how often right.
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
pub fn calibration(left_out: &[LeaveOneOut]) -> Vec<Bin> {
    let mut all: Vec<(f64, bool)> = left_out
        .iter()
        .map(|one| (one.confidence, one.label == one.expected))
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
    /// The names of all classes.
    names: BTreeMap<ClassId, String>,
    /// The accuracy as measured on items drawn at random, and on how many.
    audit: Option<(Accuracy, usize)>,
}

impl Facts {
    /// What a log says.
    pub fn of(log: &Log) -> Facts {
        let labels = log.labels().labelled();
        let labels = labels.flat_map(|item| log.labels_of(item));
        let classes = labels
            .flat_map(|(_, classes)| classes)
            .map(|(class, _)| class)
            .collect();
        let live = log.labels().classes().into_iter();
        let names = live.map(|class| (class, log.class_name(class).to_string()));
        Facts {
            classes,
            names: names.collect(),
            audit: audit(log),
        }
    }
}

/// The share of random questions whose answer was predicted, with its interval. Only the first answer of a person for an item
/// counts: what was believed before a later one knew the first.
fn audit(log: &Log) -> Option<(Accuracy, usize)> {
    let (mut right, mut all) = (0usize, 0usize);
    let mut seen = BTreeSet::new();
    for record in log
        .records()
        .iter()
        .filter(|record| record.provenance.audit)
    {
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
    let predicted = record.provenance.predicted?;
    let Some(Change::Label { item, .. }) = record.change() else {
        return None;
    };
    match log.label_of(item, &record.annotator)?[..] {
        [(told, _)] => Some((log.resolved(predicted), told)),
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
    fn classes_are_named_while_they_are_few() {
        let all = ["a", "b", "c", "d", "e"];
        let words: Vec<String> = (1..=5).map(|count| named(&all[..count])).collect();
        assert_eq!(
            words,
            [
                "a has",
                "a and b have",
                "a, b and c have",
                "a, b, c and d have",
                "a, b, c and 2 more classes have"
            ]
        );
    }

    #[test]
    fn bins_by_hand() {
        // Eleven labels of probabilities 0.40, 0.44, ... 0.80, right from 0.56 on: bins of 5 and 6.
        let label = |i: u32| LeaveOneOut {
            node: dial::NodeId(i),
            label: ClassId(0),
            expected: ClassId(u16::from(i < 4)),
            probability: 0.1,
            confidence: 0.4 + 0.04 * f64::from(i),
        };
        let left_out: Vec<LeaveOneOut> = (0..11).rev().map(label).collect();
        let bins = calibration(&left_out);
        assert_eq!(bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [5, 6]);
        assert_eq!((bins[0].low, bins[0].right, bins[1].right), (0.4, 0.2, 1.0));
        assert!(
            (bins[0].mean - 0.48).abs() < 1e-12 && (bins[1].high - 0.8).abs() < 1e-12,
            "{bins:?}"
        );
        assert_eq!(calibration(&left_out[..3]).len(), 1);
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
            no_accuracy: None,
            audit: None,
            advice: Advice {
                verdict: Verdict::Begin,
                reasons: Vec::new(),
            },
        }
    }

    #[test]
    fn advice_follows_the_interval() {
        let names = ["cat", "dog", "owl"];
        let advise = |accuracy, missing, flips| {
            estimates(accuracy, missing, flips).advise(0.95, &names[..missing], false)
        };
        let verdict = |accuracy, missing, flips| advise(accuracy, missing, flips).verdict;
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
            estimates(None, 2, None)
                .advise(0.95, &names[..2], true)
                .verdict,
            Verdict::Stop
        );
        // Until it says stop it says when that would be.
        let reasons = |accuracy| advise(accuracy, 0, None).reasons.join(" ");
        let when =
            "You may stop when the lower end of this interval reaches 95 %; it is at 82 % now.";
        assert!(reasons(Some((0.82, 0.9, 0.95))).contains(when));
        assert!(!reasons(Some((0.96, 0.98, 0.99))).contains("You may stop when"));
    }
}
