//! What goes over the wire, as plain data: requests and answers of the interface, from which its document is made. The
//! server, the command, Python and the page (by the document) all use these types; what is sent to be decided is a
//! [`Submission`] of `dial-store`.

use std::collections::BTreeMap;

pub use dial_store::{Decision, Estimates, Imported, Manifest, Receipt, Share, Status, Submission};
use dial_store::{Format, Given, Import, Interval};
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
    /// The version of the log now.
    pub version: u64,
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
    /// How telling its label would be, where the model has asked for it.
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
    /// The live classes.
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
    pub foreseen: bool,
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
    /// Only items without a label.
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

/// A label that the others contradict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Suspect {
    /// The item.
    pub id: String,
    /// The class it was given.
    pub label: u16,
    /// The class that the other labels foretell.
    pub expected: u16,
    /// The probability of the class it was given, by the other labels.
    pub probability: f64,
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

/// What to export.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// csv, jsonl, npz or parquet.
    #[serde(default = "csv")]
    #[param(pattern = "^(csv|jsonl|npz|parquet)$")]
    pub format: String,
    /// Only labels, no predictions.
    #[serde(default)]
    pub labels_only: bool,
}

impl Wanted {
    /// The format.
    ///
    /// # Errors
    /// A word that is none.
    pub fn format(&self) -> Result<Format, Problem> {
        let unknown = |_| {
            let text = format!(
                "{:?} is no format. Use csv, jsonl, npz or parquet.",
                self.format
            );
            Problem::usage(text)
        };
        self.format.parse().map_err(unknown)
    }
}

fn csv() -> String {
    "csv".into()
}

/// Labels to import.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Labels {
    /// Where they come from.
    pub source: String,
    /// The labels as a file of ours gives them.
    #[schema(value_type = Vec<serde_json::Value>)]
    pub given: Vec<Given>,
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

impl Labels {
    /// How they are to be imported.
    pub fn how(&self) -> Import {
        Import {
            annotator: self.annotator.clone(),
            skip_unknown: self.skip_unknown,
            add_classes: self.add_classes,
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
