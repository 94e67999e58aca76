//! What goes over the wire, as plain data: requests and answers of the interface, from which its document is made. The
//! server, the command, Python and the page (by the document) all use these types; what is sent to be decided is a
//! [`Submission`] of `dial-store`.

use std::collections::BTreeMap;

pub use dial_store::{
    Decision, Estimates, Imported, Manifest, Passed, Receipt, Share, Status, Submission,
};
use dial_store::{Format, Import, ImportedLabel, Interval, PreparedPool};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

pub use crate::http::history::HistoryRow;
pub use crate::http::problem::Problem;

/// What became of a submission, and what its sender may want to know beside that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Stored {
    /// What was stored.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// Who else has labelled the items, where that is so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_by: Vec<String>,
    /// The items that an undo took back or a redo brought back; some of them, if they are very many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
    /// How many items these are in all.
    #[serde(default, skip_serializing_if = "none")]
    pub turned: usize,
    /// The version of the log now.
    pub version: u64,
}

fn none(count: &usize) -> bool {
    *count == 0
}

/// What is to be opened in a browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// A file that leads to the link, instead of the link itself. The arguments of a program that opens a browser can be
    /// read by everybody on the machine.
    #[serde(default)]
    pub file: bool,
}

/// A browser that is signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionRow {
    /// The name of the session. It is no secret.
    pub id: String,
    /// When it signed in: milliseconds since 1970.
    pub made: u64,
    /// When it was last used.
    pub used: u64,
    /// The browser in words.
    pub browser: String,
    /// Whether it is that of who asks.
    pub mine: bool,
}

/// Sessions that are to end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EndSessions {
    /// Their ids.
    pub sessions: Vec<String>,
}

/// A wish for items to label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Next {
    /// Who asks.
    #[serde(default)]
    #[schema(max_length = 200)]
    pub annotator: String,
    /// How many items; at most 50.
    #[serde(default = "one")]
    #[schema(minimum = 1, maximum = 50)]
    pub count: usize,
    /// Items that are on screen already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
}

fn one() -> usize {
    1
}

/// Items to label, each leased to the annotator for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Questions {
    /// The version of the log.
    pub version: u64,
    /// The version that the model has followed to.
    pub model_version: u64,
    /// The items; fewer than asked for where there are no more.
    pub items: Vec<ItemView>,
}

/// An item with all that is known about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ItemView {
    /// Its id.
    pub id: String,
    /// Its row in the pool.
    pub row: u32,
    /// How to show it.
    pub show: Shown,
    /// What else is known of it: names and values.
    #[schema(value_type = Vec<(String, String)>)]
    pub beside: Vec<[String; 2]>,
    /// What is believed.
    #[schema(required)]
    pub belief: Option<Belief>,
    /// Why it is asked, in words.
    #[schema(required)]
    pub why: Option<String>,
    /// The acquisition's score of the item, if the item is a question of the model.
    #[schema(required)]
    pub score: Option<f64>,
    /// Drawn at random, to measure accuracy.
    pub audit: bool,
    /// Until when it is leased: milliseconds since 1970.
    #[schema(required)]
    pub leased_until: Option<u64>,
    /// The labels it has.
    pub labels: Vec<LabelOf>,
    /// The nearest labelled items.
    pub nearest: Vec<Near>,
    /// What each answer would change; empty while that is not known.
    pub changes: Vec<Effect>,
}

/// What an answer would change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Effect {
    /// The answer.
    pub class: u16,
    /// How many other items would get another class.
    pub items: usize,
}

/// How an item is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Shown {
    /// A picture, at `/api/v1/media?id=`.
    Picture {
        /// Where it is.
        url: String,
    },
    /// A text.
    Text {
        /// The text.
        text: String,
    },
    /// Numbers with their names, if they have any.
    Numbers {
        /// The names.
        names: Vec<String>,
        /// The values; null where one is missing.
        values: Vec<Option<f64>>,
    },
    /// A spectrum of a pixel.
    Spectrum {
        /// The values.
        values: Vec<Option<f64>>,
        /// The wavelength of each, or none.
        wavelengths: Vec<f64>,
        /// What they are measured in.
        unit: String,
        /// The row of the pixel.
        row: usize,
        /// The column of the pixel.
        column: usize,
    },
}

/// What is believed about an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Belief {
    /// The most probable class.
    pub class: u16,
    /// The probability of each live class.
    pub probabilities: Vec<Probability>,
    /// The variance of the Dirichlet distribution.
    pub variance: f64,
    /// The amount of evidence, in labels.
    pub evidence: f64,
    /// Whether any label can say something about it.
    pub reached: bool,
    /// The version of the log that the belief was made from.
    pub version: u64,
}

/// A class and its probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Probability {
    /// The class.
    pub class: u16,
    /// Its probability.
    pub probability: f64,
}

/// A label and who gave it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LabelOf {
    /// The annotator.
    pub annotator: String,
    /// The classes.
    pub classes: Vec<Share>,
}

/// A labelled item that is near.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Near {
    /// The item.
    pub id: String,
    /// Its class.
    pub class: u16,
    /// How far it is, in the metric of the graph.
    pub distance: f64,
    /// How to show it; texts are cut to 400 characters.
    pub show: Shown,
}

/// A class of the schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ClassInfo {
    /// Its id, permanent.
    pub id: u16,
    /// Its name.
    pub name: String,
    /// Its colour.
    pub colour: String,
    /// The key that labels with it.
    pub key: String,
    /// How many items have it as their label.
    pub labels: usize,
}

/// The project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProjectInfo {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: String,
    /// The pool.
    pub pool: String,
    /// What an item is, in a word.
    pub item_word: String,
    /// Number of items.
    pub items: usize,
    /// Items with a label that counts.
    pub labelled: usize,
    /// Items that have a label in the pool itself, where some but not all have one, until all of them are decided.
    pub known: usize,
    /// Names among those labels that are almost those of other classes, with the others.
    #[schema(value_type = Vec<(String, String)>)]
    pub known_alike: Vec<[String; 2]>,
    /// Whether the features were made from texts or pictures without a model: one that embeds them tells more.
    pub without_model: bool,
    /// The live classes, in the order in which people see them.
    pub classes: Vec<ClassInfo>,
    /// Labels by annotator.
    pub annotators: BTreeMap<String, usize>,
    /// How questions are asked.
    pub acquisition: String,
    /// People who are to answer for each item.
    pub overlap: usize,
    /// The version of the log.
    pub version: u64,
    /// The version that the model has followed to.
    pub model_version: u64,
    /// Whether the model is ready: it needs two classes.
    pub model_ready: bool,
    /// Whether the next question is known for every answer to the present one.
    pub lookahead: bool,
    /// What is wrong with the model; labels are taken all the same.
    #[schema(required)]
    pub banner: Option<String>,
    /// Decisions that need attention.
    pub conflicts: usize,
}

/// Which items, in which order.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Which {
    /// How many to leave out at the beginning.
    #[serde(default)]
    pub offset: usize,
    /// How many at most; up to 1000.
    #[serde(default = "hundred")]
    #[param(minimum = 1, maximum = 1000)]
    pub limit: usize,
    /// Only items of this class, believed or told.
    pub class: Option<u16>,
    /// In which order.
    #[serde(default)]
    #[param(inline)]
    pub order: Order,
    /// Only items that may be asked: without a label, not skipped, not excluded; with a class, only where a label says
    /// anything about it.
    #[serde(default)]
    pub open: bool,
    /// Only items with a label.
    #[serde(default)]
    pub labelled: bool,
    /// Only items whose id or text contains this, in large or small letters.
    #[serde(default)]
    pub search: String,
}

fn hundred() -> usize {
    100
}

/// The order of a list of items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As in the pool.
    #[default]
    Row,
    /// The most probable class first.
    Certain,
    /// The least probable class first.
    Doubtful,
}

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Believed {
    /// The item.
    pub id: String,
    /// Its row in the pool.
    pub row: u32,
    /// How to show it; texts are cut to 400 characters.
    pub show: Shown,
    /// What is believed.
    pub belief: Belief,
    /// The labels it has.
    pub labels: Vec<LabelOf>,
}

/// How many open items are believed to be of each class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Open {
    /// The version of the log that the belief was made from.
    pub version: u64,
    /// The classes, those with open items only.
    pub classes: Vec<OpenOf>,
}

/// The open items that are believed to be of a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OpenOf {
    /// The class.
    pub class: u16,
    /// How many they are.
    pub items: usize,
}

/// A label that the others contradict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Suspect {
    /// The item.
    pub id: String,
    /// The class it was given.
    pub label: u16,
    /// The class that the other labels predict.
    pub expected: u16,
    /// The probability of the class it was given, by the other labels.
    pub probability: f64,
    /// Who said what about it.
    pub labels: Vec<LabelOf>,
}

/// An item that annotators call different things.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Disagreement {
    /// The item.
    pub id: String,
    /// What they call it.
    pub labels: Vec<LabelOf>,
}

/// An item by its id or by its row: one of both.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ById {
    /// The id.
    pub id: Option<String>,
    /// The row in the pool.
    pub row: Option<u32>,
}

/// A part of a list.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Part {
    /// How many to leave out at the beginning.
    #[serde(default)]
    pub offset: usize,
    /// How many at most; up to 1000.
    #[serde(default = "hundred")]
    #[param(minimum = 1, maximum = 1000)]
    pub limit: usize,
    /// Only what contains this text.
    #[serde(default)]
    pub search: String,
}

/// Which part of the log.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HistoryPart {
    /// How many to leave out at the beginning.
    #[serde(default)]
    pub offset: usize,
    /// How many at most; up to 1000.
    #[serde(default = "hundred")]
    #[param(minimum = 1, maximum = 1000)]
    pub limit: usize,
    /// Only what contains this text.
    #[serde(default)]
    pub search: String,
    /// One row for all decisions of one kind that were made in one step.
    #[serde(default)]
    pub by_step: bool,
}

/// A part of a list and how long it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// The version of the log.
    pub version: u64,
    /// How many there are in all.
    pub total: usize,
    /// Some of them.
    pub rows: Vec<T>,
}

/// Python that trains a classifier on an export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrainingExample {
    /// The code: it reads the CSV of the project from the folder in which it runs.
    pub code: String,
}

/// What to export.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// csv, jsonl, npz, parquet, or maps of a scene.
    #[serde(default = "csv")]
    #[param(pattern = "^(csv|jsonl|npz|parquet|maps)$")]
    pub format: String,
    /// Only labels, no predictions.
    #[serde(default)]
    pub labels_only: bool,
    /// Whether the columns of the pool come with it; by default those of tables and texts, unless only labels are wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_columns: Option<bool>,
    /// A preview: the number of rows to return, those with answers first, without the columns of the pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 1000)]
    pub preview: Option<usize>,
}

impl Wanted {
    /// Whether the pool has to be opened for it.
    pub fn needs_pool(&self) -> bool {
        self.preview.is_none() && (!self.labels_only || self.original_columns == Some(true))
    }

    /// The format.
    ///
    /// # Errors
    /// A word that is none.
    pub fn format(&self) -> Result<Format, Problem> {
        let unknown = |_| {
            let text = format!("{:?} is not a format. Use {}.", self.format, Format::list());
            Problem::usage(text)
        };
        self.format.parse().map_err(unknown)
    }
}

fn csv() -> String {
    "csv".into()
}

/// Labels to import: those of a file, or those that the pool itself has.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportRequest {
    /// Where the labels come from. Labels of the pool come from the pool.
    #[serde(default)]
    pub source: String,
    /// The labels and marks.
    #[serde(default)]
    pub labels: Vec<ImportedLabel>,
    /// Import the labels that the pool itself has, instead of `labels`.
    #[serde(default)]
    pub of_pool: bool,
    /// The annotator of labels that come without one.
    pub annotator: Option<String>,
    /// Labels of items that are not in the pool are left out.
    #[serde(default)]
    pub skip_unknown: bool,
    /// Classes that are not there are added.
    #[serde(default)]
    pub add_classes: bool,
    /// Made by the sender.
    pub key: String,
}

impl ImportRequest {
    /// The same request, with the labels of the pool in it where it asks for these.
    ///
    /// # Errors
    /// A pool that has none.
    pub fn resolve_pool_labels(self, prepared: &PreparedPool) -> Result<ImportRequest, Problem> {
        if !self.of_pool {
            return Ok(self);
        }
        let labels = prepared.known_labels();
        if labels.is_empty() {
            let text =
                "this pool has no known labels. Nothing was imported. Import a file of labels.";
            return Err(Problem::usage(text));
        }
        let source = prepared.pool.name.clone();
        Ok(ImportRequest {
            source,
            labels,
            ..self
        })
    }

    /// How they are to be imported.
    pub fn how(&self) -> Import {
        Import {
            // What stands in the pool has classes of its own.
            add_classes: self.add_classes || self.of_pool,
            annotator: self.annotator.clone(),
            skip_unknown: self.skip_unknown,
            ..Import::default()
        }
    }
}

/// How the project stood at a moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Point {
    /// The version of the log.
    pub version: u64,
    /// The time of the last decision before it: milliseconds since 1970.
    pub time: u64,
    /// Items with a label that counts.
    pub labelled: usize,
    /// Classes with a label.
    pub classes_met: usize,
    /// Share of the pool that is settled.
    pub settled: f64,
    /// The accuracy to expect on what is not labelled, once it can be told.
    #[schema(required)]
    pub accuracy: Option<Interval>,
}
