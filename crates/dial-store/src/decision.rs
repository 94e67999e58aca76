//! What people decide, as it is sent, taken and answered: the same data in Rust, on the wire and in Python.
//!
//! A submission is one decision, or many that are undone together, under a key that its sender made.
//! What the log keeps of a decision is an [`Entry`](crate::Entry): there classes have their ids, and an
//! undo names its group.

use dial::{Change, ClassId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::log::record::Provenance;
use crate::recipe::Recipe;

/// Decisions that are undone together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// Made by the sender when the item is shown, new for every submission. Sent again, it gets the first answer again.
    #[schema(max_length = 200, min_length = 1)]
    pub key: String,
    /// Who decides.
    #[serde(default)]
    #[schema(max_length = 200)]
    pub annotator: String,
    /// What is decided.
    #[schema(min_items = 1)]
    pub decisions: Vec<Decision>,
    /// Answers take the place of earlier ones of this annotator; an undo may take back the work of others.
    #[serde(default)]
    pub replace: bool,
    /// What the side that takes it knows about it.
    #[serde(skip)]
    pub provenance: Provenance,
}

/// One decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Decision {
    /// The label of an item: one class, or several with weights that sum to at most 1.
    Label {
        /// The item.
        item: String,
        /// The classes.
        classes: Vec<Share>,
        /// It decides between differing answers: while it stands, it alone counts for the item.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        adjudicates: bool,
    },
    /// Do not ask for this item.
    Skip {
        /// The item.
        item: String,
    },
    /// Exclude this item: it is not asked, and its labels do not count.
    Exclude {
        /// The item.
        item: String,
    },
    /// Reopen an item that was skipped or excluded.
    Reopen {
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
        #[schema(value_type = u16)]
        class: ClassId,
        /// Its new name.
        name: String,
    },
    /// All labels of one class count for another from now on.
    MergeClass {
        /// The class that ends.
        #[schema(value_type = u16)]
        from: ClassId,
        /// The class that takes its labels.
        #[schema(value_type = u16)]
        into: ClassId,
    },
    /// A class ends and its labels with it; items without another label are asked again.
    DeleteClass {
        /// The class.
        #[schema(value_type = u16)]
        class: ClassId,
    },
    /// The order in which people see the classes: these first, then the others by their ids.
    OrderClasses {
        /// The classes, each once.
        #[schema(value_type = Vec<u16>)]
        classes: Vec<ClassId>,
    },
    /// Another colour or key for a class.
    StyleClass {
        /// The class.
        #[schema(value_type = u16)]
        class: ClassId,
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
    /// Resolves a conflict: the existing label stays.
    Resolve {
        /// Its place in the log.
        conflict: u64,
    },
    /// α₀ and K̂, when a project is made. Never sent by a client.
    #[serde(skip)]
    Settings {
        /// α₀.
        prior_strength: f64,
        /// K̂.
        expected_clusters: usize,
    },
    /// Another recipe. Never sent by a client.
    #[serde(skip)]
    Recipe(Box<Recipe>),
}

/// A class and how much of the answer it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Share {
    /// The class.
    #[schema(value_type = u16)]
    pub class: ClassId,
    /// Its weight, above 0 and at most 1.
    #[serde(default = "whole")]
    #[schema(default = 1.0)]
    pub weight: f64,
}

fn whole() -> f64 {
    1.0
}

impl Share {
    /// The classes of a label as the core has them.
    pub fn of(classes: &[(ClassId, f64)]) -> Vec<Share> {
        classes
            .iter()
            .map(|&(class, weight)| Share { class, weight })
            .collect()
    }
}

impl Decision {
    /// One class for an item.
    pub fn label(item: &str, class: ClassId) -> Decision {
        Decision::Label {
            item: item.into(),
            classes: Share::of(&[(class, 1.0)]),
            adjudicates: false,
        }
    }

    /// A label as one that decides between differing answers; anything else as it is.
    #[must_use]
    pub fn adjudicating(mut self) -> Decision {
        if let Decision::Label { adjudicates, .. } = &mut self {
            *adjudicates = true;
        }
        self
    }

    /// The change of the log that it is, where that does not depend on the log.
    pub fn change(&self) -> Option<Change> {
        Some(match self.clone() {
            Decision::Label {
                item,
                classes,
                adjudicates,
            } => Change::Label {
                item,
                classes: classes
                    .iter()
                    .map(|share| (share.class, share.weight))
                    .collect(),
                adjudicates,
            },
            Decision::Skip { item } => Change::Skip { item },
            Decision::Exclude { item } => Change::Exclude { item },
            Decision::Reopen { item } => Change::Reopen { item },
            Decision::Undo { group } => Change::Undo { group: group? },
            Decision::Redo { group } => Change::Redo { group: group? },
            Decision::RenameClass { class, name } => Change::RenameClass { class, name },
            Decision::MergeClass { from, into } => Change::MergeClass { from, into },
            Decision::DeleteClass { class } => Change::DeleteClass { class },
            Decision::OrderClasses { classes } => Change::OrderClasses { classes },
            Decision::Weight { annotator, weight } => Change::Weight { annotator, weight },
            Decision::Settings {
                prior_strength,
                expected_clusters,
            } => Change::Settings {
                prior_strength,
                expected_clusters,
            },
            Decision::AddClass { .. }
            | Decision::StyleClass { .. }
            | Decision::Resolve { .. }
            | Decision::Recipe(_) => return None,
        })
    }

    /// The item that it is about, if it is about one.
    pub fn item(&self) -> Option<&str> {
        match self {
            Decision::Label { item, .. }
            | Decision::Skip { item }
            | Decision::Exclude { item }
            | Decision::Reopen { item } => Some(item),
            _ => None,
        }
    }
}

impl From<Change> for Decision {
    /// A change as somebody would send it; the id of a new class is given when it is taken.
    fn from(change: Change) -> Decision {
        match change {
            Change::Label {
                item,
                classes,
                adjudicates,
            } => Decision::Label {
                item,
                classes: Share::of(&classes),
                adjudicates,
            },
            Change::Skip { item } => Decision::Skip { item },
            Change::Exclude { item } => Decision::Exclude { item },
            Change::Reopen { item } => Decision::Reopen { item },
            Change::Undo { group } => Decision::Undo { group: Some(group) },
            Change::Redo { group } => Decision::Redo { group: Some(group) },
            Change::AddClass { name, .. } => Decision::AddClass { name },
            Change::RenameClass { class, name } => Decision::RenameClass { class, name },
            Change::MergeClass { from, into } => Decision::MergeClass { from, into },
            Change::DeleteClass { class } => Decision::DeleteClass { class },
            Change::OrderClasses { classes } => Decision::OrderClasses { classes },
            Change::Weight { annotator, weight } => Decision::Weight { annotator, weight },
            Change::Settings {
                prior_strength,
                expected_clusters,
            } => Decision::Settings {
                prior_strength,
                expected_clusters,
            },
        }
    }
}

/// What became of a submission. It is on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Receipt {
    /// The place of its first record in the log; of the record that said the same before, if nothing was stored.
    pub seq: u64,
    /// The group to undo it by; none where nothing was stored that could be undone.
    #[schema(required)]
    pub group: Option<u64>,
    /// The key was known: this is the first answer again.
    pub repeated: bool,
    /// The same had been said before: nothing was stored.
    pub known: bool,
    /// The item had all the answers it needs.
    pub late: bool,
}
