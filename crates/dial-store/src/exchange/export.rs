//! Everything that is known about the items of a project: one row for each, in the order of the pool.
//!
//! ```text
//! id                                  of the item
//! label, weight, agreement            what the answers come to (`consensus`): one class or nothing
//! source, annotator                   person, several, bulk or imported; whose answers count
//! order                               the place of the first answer among all that count
//! label_CLASS                         the share of each class in the answers: soft labels
//! predicted, probability, p_CLASS     what is believed, and how surely
//! variance, evidence, reached         how well founded that is
//! mark                                skipped, excluded, or gone: labelled, and not in the pool any more
//! labels                              every answer without loss: [{"annotator", "order", "classes": [[name, weight]]}]
//! ...                                 the columns of the pool's own file
//! ```
//!
//! What people said and what is inferred never share a column. Answers to an excluded item stay in `labels` and make no label.
//! Importing an export into a project of the same pool and the same classes gives the same labels in the same order, and so
//! the same export again, but for their source, which is imported then, and for what annotators count, which is a setting.

use std::collections::{HashMap, HashSet};

use dial::{Change, ClassId, NodeId, View};
use dial_data::{OriginalColumn, Show, georeference};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::{Error, Result};
use crate::exchange::consensus::{Consensus, consensus};
use crate::exchange::export_file::Format;
use crate::exchange::scene_maps::MappedScene;
use crate::log::Log;
use crate::project::prepared_pool::PreparedPool;
use crate::project::snapshot::Snapshot;

/// An answer to an item as a file names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Who gave it.
    #[serde(default)]
    pub annotator: String,
    /// Its place among all labels that count, from 1 on.
    #[serde(default)]
    pub order: Option<u64>,
    /// Names of classes, with weights.
    pub classes: Vec<(String, f64)>,
    /// It decides between differing answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adjudicates: bool,
    /// How much its annotator counts beside others.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub trust: f64,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Source::is_person")]
    pub source: Source,
}

impl Default for Answer {
    fn default() -> Answer {
        Answer {
            annotator: String::new(),
            order: None,
            classes: Vec::new(),
            adjudicates: false,
            trust: one(),
            source: Source::Person,
        }
    }
}

fn one() -> f64 {
    1.0
}

fn is_one(value: &f64) -> bool {
    *value == one()
}

/// Where a label comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// One answer of one person, or one that adjudicates.
    #[default]
    Person,
    /// Answers of several people.
    Several,
    /// One of many answers that were given in one step.
    Bulk,
    /// A file.
    Imported,
}

impl Source {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Source::Person => "person",
            Source::Several => "several",
            Source::Bulk => "bulk",
            Source::Imported => "imported",
        }
    }

    fn is_person(&self) -> bool {
        *self == Source::Person
    }
}

/// What else was decided about an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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
    /// All of them.
    pub const ALL: [Mark; 3] = [Mark::Skipped, Mark::Excluded, Mark::Gone];

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
    /// The answers to it, in their order.
    pub labels: Vec<Answer>,
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
    /// Columns of the pool's own file, a cell for each item of the pool: rows of items that are gone have none.
    pub original: Vec<OriginalColumn>,
    /// The scene whose pixels the items are, if there is one and it is to be drawn.
    pub scene: Option<MappedScene>,
}

impl Row {
    /// What the answers come to; nothing of an item that is left out.
    pub fn consensus(&self) -> Option<Consensus<'_>> {
        match self.mark {
            Some(Mark::Excluded) => None,
            _ => consensus(&self.labels),
        }
    }
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
        let mut told: HashMap<&str, Vec<Answer>> = HashMap::new();
        let mut order = Vec::new();
        let at_once = labels_by_group(log);
        for (rank, label) in (1..).zip(log.live_labels()) {
            let classes = label
                .classes
                .iter()
                .map(|(class, weight)| (log.class_name(*class).to_string(), *weight));
            let record = &log.records()[label.seq as usize - 1];
            let one = Answer {
                annotator: label.annotator.into(),
                order: Some(rank),
                classes: classes.collect(),
                adjudicates: label.adjudicates,
                trust: log.labels().weight_of(label.annotator),
                source: match record.provenance.source {
                    Some(_) => Source::Imported,
                    None if at_once[&record.group] > 1 => Source::Bulk,
                    None => Source::Person,
                },
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
        Export {
            classes,
            rows,
            original: Vec::new(),
            scene: None,
        }
    }

    /// With what a file of this format shows of the pool: its own columns where they are wanted (by default those of tables
    /// and texts), or its scene.
    ///
    /// # Errors
    /// A pool that cannot be read any more; maps of a pool that is no scene.
    pub fn with_pool(
        mut self,
        project: &Snapshot,
        prepared: &PreparedPool,
        format: Format,
        original: Option<bool>,
    ) -> Result<Export> {
        let folder = project.folder().map(|folder| folder.0.clone());
        let folder = folder.unwrap_or_default();
        let place = prepared.recipe.pool_now(&folder);
        if format == Format::Maps {
            let Show::Scene(scene) = &prepared.pool.show else {
                let text = format!(
                    "maps are of scenes, and an item of this pool is a {}. Nothing was written. Choose another format.",
                    prepared.pool.show.word()
                );
                return Err(Error::Submission(text));
            };
            let looks = project.log().looks();
            let colour = |class: &ClassId| rgb(&looks[class.index()].colour);
            self.scene = Some(MappedScene {
                scene: scene.clone(),
                places: georeference(&place),
                colours: project
                    .log()
                    .labels()
                    .classes()
                    .iter()
                    .map(colour)
                    .collect(),
            });
        } else if original.unwrap_or_else(|| prepared.pool.has_columns()) {
            let reading = prepared.recipe.reading_now(&folder);
            self.original = prepared.pool.original_columns(&place, &reading)?;
        }
        Ok(self)
    }

    /// Only so many rows, those with answers first.
    pub fn preview(&mut self, rows: usize) {
        self.rows.sort_by_key(|row| row.labels.is_empty());
        self.rows.truncate(rows);
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

/// How many labels each group of records holds.
fn labels_by_group(log: &Log) -> HashMap<u64, usize> {
    let mut counts = HashMap::new();
    for record in log.records() {
        if let Some(Change::Label { .. }) = record.change() {
            *counts.entry(record.group).or_insert(0) += 1;
        }
    }
    counts
}

/// The parts of `#rrggbb`.
fn rgb(colour: &str) -> [u8; 3] {
    let value = u32::from_str_radix(colour.trim_start_matches('#'), 16).unwrap_or(0);
    let [_, red, green, blue] = value.to_be_bytes();
    [red, green, blue]
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
