//! Everything that is known about the items of a project: one row for each, in the order of the pool.
//!
//! ```text
//! id                                  of the item
//! label, annotator, order             what people said, to be read; the place of the first label among all that count
//! labels                              the same without loss: [{"annotator", "order", "classes": [[name, weight]]}]
//! mark                                skipped, excluded, or gone: labelled, and not in the pool any more
//! predicted, probability, p_CLASS...  what is believed, and how surely
//! variance, evidence, reached         how well founded that is
//! ```
//!
//! What people said and what is inferred never share a column. Importing an export into a project of the same pool and the
//! same classes gives the same labels in the same order, and so the same export again, bit for bit.

use std::collections::{HashMap, HashSet};

use dial::{NodeId, View};
use serde::{Deserialize, Serialize};

use crate::log::{Log, in_words};

/// A label as a file names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// Who gave it.
    #[serde(default)]
    pub annotator: String,
    /// Its place among all labels that count, from 1 on.
    #[serde(default)]
    pub order: Option<u64>,
    /// Names of classes, with weights.
    pub classes: Vec<(String, f64)>,
}

/// What else was decided about an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// It is not asked again.
    Skipped,
    /// It is left out: not asked, its labels do not count.
    Excluded,
    /// It was labelled, and is not in the pool any more.
    Gone,
}

impl Mark {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Mark::Skipped => "skipped",
            Mark::Excluded => "excluded",
            Mark::Gone => "gone",
        }
    }
}

/// What is believed about an item.
#[derive(Clone, Debug, PartialEq)]
pub struct Belief {
    /// The most probable class: its place among the classes of the export.
    pub class: usize,
    /// The probability of each class.
    pub probabilities: Vec<f64>,
    /// Trace of the covariance.
    pub variance: f64,
    /// Evidence of all classes together.
    pub evidence: f64,
    /// Whether any label can say something about it.
    pub reached: bool,
}

/// A row of an export.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The id of the item.
    pub id: String,
    /// Its labels, in their order.
    pub labels: Vec<Told>,
    /// What else was decided.
    pub mark: Option<Mark>,
    /// What is believed, if there was anything to believe with.
    pub belief: Option<Belief>,
}

/// All rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Export {
    /// The names of the live classes, in the order of probabilities.
    pub classes: Vec<String>,
    /// One row for each item.
    pub rows: Vec<Row>,
}

impl Export {
    /// The rows of all items, with what a view believes about them, if there is one.
    ///
    /// # Panics
    /// If the view is of other items.
    pub fn new(log: &Log, ids: &[String], view: Option<&View<'_>>) -> Export {
        let mut export = Export::labels(log, ids);
        view.iter()
            .for_each(|view| export.believe(view, &places(log, view)));
        export
    }

    /// The rows of all items, in the order of the pool, then those of labelled items that are not in it; without belief.
    pub fn labels(log: &Log, ids: &[String]) -> Export {
        let mut told: HashMap<&str, Vec<Told>> = HashMap::new();
        let mut order = Vec::new();
        for (rank, label) in (1..).zip(log.live_labels()) {
            let classes = label
                .classes
                .iter()
                .map(|(class, weight)| (log.class_name(*class).to_string(), *weight));
            let one = Told {
                annotator: label.annotator.into(),
                order: Some(rank),
                classes: classes.collect(),
            };
            told.entry(label.item).or_insert_with(|| {
                order.push(label.item);
                Vec::new()
            });
            told.entry(label.item).or_default().push(one);
        }
        let known: HashSet<&str> = ids.iter().map(String::as_str).collect();
        let row = |id: &str, node: Option<NodeId>| Row {
            id: id.into(),
            labels: told.get(id).cloned().unwrap_or_default(),
            mark: if node.is_some() {
                mark(log, id)
            } else {
                Some(Mark::Gone)
            },
            belief: None,
        };
        let there = (0..)
            .map(NodeId)
            .zip(ids)
            .map(|(node, id)| row(id, Some(node)));
        let gone = order
            .iter()
            .filter(|id| !known.contains(*id))
            .map(|id| row(id, None));
        let rows = there.chain(gone).collect();
        let classes = log
            .labels()
            .classes()
            .into_iter()
            .map(|class| log.class_name(class).to_string())
            .collect();
        Export { classes, rows }
    }

    /// With what a view believes. The view may be of an earlier log: `places` says where its classes are now ([`places`]).
    ///
    /// # Panics
    /// If the view is of other items.
    pub fn believe(&mut self, view: &View<'_>, places: &[Option<usize>]) {
        let there = self
            .rows
            .iter()
            .filter(|row| row.mark != Some(Mark::Gone))
            .count();
        assert_eq!(
            (view.n(), view.classes().len()),
            (there, places.len()),
            "a view of these items"
        );
        let count = self.classes.len();
        for (node, row) in (0..).map(NodeId).zip(&mut self.rows[..there]) {
            row.belief = Some(belief(view, node, places, count));
        }
    }
}

/// Where the classes of a view are among the live classes of a log: those that were merged are where they went, those whose
/// addition was undone are nowhere.
pub fn places(log: &Log, view: &View<'_>) -> Vec<Option<usize>> {
    let live = log.labels().classes();
    view.classes()
        .iter()
        .map(|class| live.iter().position(|other| *other == log.resolved(*class)))
        .collect()
}

fn mark(log: &Log, id: &str) -> Option<Mark> {
    match log.labels().marks_of(id) {
        (_, true) => Some(Mark::Excluded),
        (true, false) => Some(Mark::Skipped),
        (false, false) => None,
    }
}

fn belief(view: &View<'_>, node: NodeId, places: &[Option<usize>], count: usize) -> Belief {
    let prediction = view.prediction(node);
    let mut probabilities = vec![0.0; count];
    for (place, probability) in places.iter().zip(&prediction.probabilities) {
        place
            .iter()
            .for_each(|&place| probabilities[place] += probability);
    }
    let believed = view
        .classes()
        .iter()
        .position(|class| *class == prediction.class);
    let first = |a: usize, b: usize| {
        if probabilities[b] > probabilities[a] {
            b
        } else {
            a
        }
    };
    let class = believed
        .and_then(|class| places[class])
        .unwrap_or_else(|| (0..count).fold(0, first));
    Belief {
        class,
        probabilities,
        variance: prediction.variance,
        evidence: prediction.evidence,
        reached: prediction.reached,
    }
}

impl Told {
    /// `cat`, or `cat 0.6, dog 0.4`.
    pub fn in_words(&self) -> String {
        in_words(
            &self
                .classes
                .iter()
                .map(|(class, weight)| (class.as_str(), *weight))
                .collect::<Vec<_>>(),
        )
    }
}

/// The labels of an item and who gave them, to be read: one where all agree, else one for each, with `|` between.
pub(crate) fn readable(labels: &[Told]) -> (String, String) {
    let joined = |words: Vec<String>| words.join(" | ");
    let said: Vec<String> = labels.iter().map(Told::in_words).collect();
    let agree = said.windows(2).all(|pair| pair[0] == pair[1]);
    let label = if agree {
        said.first().cloned().unwrap_or_default()
    } else {
        joined(said)
    };
    (
        label,
        joined(labels.iter().map(|label| label.annotator.clone()).collect()),
    )
}
