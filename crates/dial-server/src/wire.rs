//! What goes over the wire, as plain data: requests and answers of the interface, from which its document is made.

use std::collections::BTreeMap;

use dial::{Change, ClassId};
use dial_store::{Decision, Look, Receipt};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A class and how much of the answer it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Share {
    /// The class.
    pub class: u16,
    /// Its weight, above 0 and at most 1.
    #[serde(default = "whole")]
    pub weight: f64,
}

fn whole() -> f64 {
    1.0
}

/// One decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Deed {
    /// The label of an item: one class, or several with weights that sum to at most 1.
    Label {
        /// The item.
        item: String,
        /// The classes.
        classes: Vec<Share>,
    },
    /// Do not ask for this item.
    Skip {
        /// The item.
        item: String,
    },
    /// Leave this item out altogether.
    Exclude {
        /// The item.
        item: String,
    },
    /// Take back a group of decisions, or the latest of this annotator.
    Undo {
        /// The group; none: the latest.
        group: Option<u64>,
    },
    /// Bring back a group, or what this annotator took back last.
    Redo {
        /// The group; none: the latest.
        group: Option<u64>,
    },
    /// A new class.
    AddClass {
        /// Its name.
        name: String,
    },
    /// Another name for a class.
    RenameClass {
        /// The class.
        class: u16,
        /// Its new name.
        name: String,
    },
    /// All labels of one class count for another from now on.
    MergeClass {
        /// The class that ends.
        from: u16,
        /// The class that takes its labels.
        into: u16,
    },
    /// Another colour or key for a class.
    Look {
        /// The class.
        class: u16,
        /// Its colour, as #rrggbb.
        colour: String,
        /// The key that labels with it; empty: none.
        key: String,
    },
    /// How much an annotator counts beside others.
    Weight {
        /// The annotator.
        annotator: String,
        /// A number above 0.
        weight: f64,
    },
    /// A decision that was kept aside needs no attention any more.
    Settle {
        /// Its place in the log.
        parked: u64,
    },
}

impl From<Deed> for Decision {
    fn from(deed: Deed) -> Decision {
        let class = ClassId;
        Decision::Change(match deed {
            Deed::Label { item, classes } => Change::Label {
                item,
                classes: classes
                    .into_iter()
                    .map(|share| (class(share.class), share.weight))
                    .collect(),
            },
            Deed::Skip { item } => Change::Skip { item },
            Deed::Exclude { item } => Change::Exclude { item },
            Deed::Undo { group: Some(group) } => Change::Undo { group },
            Deed::Redo { group: Some(group) } => Change::Redo { group },
            Deed::Undo { group: None } => return Decision::UndoLast,
            Deed::Redo { group: None } => return Decision::RedoLast,
            Deed::AddClass { name } => return Decision::AddClass { name },
            Deed::RenameClass { class: id, name } => Change::RenameClass {
                class: class(id),
                name,
            },
            Deed::MergeClass { from, into } => Change::MergeClass {
                from: class(from),
                into: class(into),
            },
            Deed::Look {
                class: id,
                colour,
                key,
            } => {
                return Decision::Look(Look {
                    class: class(id),
                    colour,
                    key,
                });
            }
            Deed::Weight { annotator, weight } => Change::Weight { annotator, weight },
            Deed::Settle { parked } => return Decision::Settle { parked },
        })
    }
}

/// Decisions that are undone together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Decisions {
    /// Made by the sender when the item is shown, new for every submission. Sent again, it gets the first answer again.
    #[schema(max_length = 200, min_length = 1)]
    pub key: String,
    /// Who decides.
    #[serde(default)]
    #[schema(max_length = 200)]
    pub annotator: String,
    /// What is decided.
    #[schema(min_items = 1)]
    pub decisions: Vec<Deed>,
    /// Answers take the place of earlier ones of this annotator; an undo may take back the work of others.
    #[serde(default)]
    pub replace: bool,
}

/// What became of a submission. It is on the disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Stored {
    /// The place of its first record in the log.
    pub seq: u64,
    /// The group to undo it by; none where nothing was stored that could be undone.
    pub group: Option<u64>,
    /// The key was known: this is the first answer again.
    pub repeated: bool,
    /// The same had been said before: nothing was stored.
    pub known: bool,
    /// The item had all the answers it needs.
    pub late: bool,
    /// Who else has labelled the items, where that is so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_by: Vec<String>,
    /// The items that an undo took back or a redo brought back; some of them, if they are very many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
    /// The version of the log now.
    pub version: u64,
}

impl Stored {
    /// A receipt at a version of the log.
    pub fn new(
        receipt: &Receipt,
        version: u64,
        also_by: Vec<String>,
        items: Vec<String>,
    ) -> Stored {
        let Receipt {
            seq,
            group,
            repeated,
            known,
            late,
        } = *receipt;
        Stored {
            seq,
            group,
            repeated,
            known,
            late,
            also_by,
            items,
            version,
        }
    }
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
    #[serde(default)]
    pub except: Vec<String>,
}

fn one() -> usize {
    1
}

/// Items to label, each leased to the annotator for a while.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Questions {
    /// The version of the log.
    pub version: u64,
    /// The version that the model has followed to.
    pub model_version: u64,
    /// The items; fewer than asked for where there are no more.
    pub items: Vec<Card>,
}

/// An item with all that is known about it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Card {
    /// Its id.
    pub id: String,
    /// Its row in the pool.
    pub row: u32,
    /// How to show it.
    pub show: Shown,
    /// What else is known of it: names and values.
    pub beside: Vec<[String; 2]>,
    /// What is believed.
    pub belief: Option<Belief>,
    /// Why it is asked, in words.
    pub why: Option<String>,
    /// How telling its label would be, where the model has asked for it.
    pub score: Option<f64>,
    /// Drawn at random, to measure accuracy.
    pub audit: bool,
    /// Until when it is leased: milliseconds since 1970.
    pub leased_until: Option<u64>,
    /// The labels it has.
    pub labels: Vec<LabelOf>,
    /// The nearest labelled items.
    pub nearest: Vec<Near>,
    /// What each answer would change; empty while that is not known.
    pub changes: Vec<Effect>,
}

/// What an answer would change.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Effect {
    /// The answer.
    pub class: u16,
    /// How many other items would get another class.
    pub items: usize,
}

/// How an item is shown.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Probability {
    /// The class.
    pub class: u16,
    /// Its probability.
    pub probability: f64,
}

/// A label and who gave it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LabelOf {
    /// The annotator.
    pub annotator: String,
    /// The classes.
    pub classes: Vec<Share>,
}

/// A labelled item that is near.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
    pub banner: Option<String>,
    /// Decisions that need attention.
    pub parked: usize,
}
