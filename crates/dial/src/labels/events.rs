//! The events of a project: what is written to its log, and nothing else is.
//!
//! Plain data, the same for the store, the page and Python. An event names permanent ids only: item ids (strings), class
//! ids (numbers never used twice) and groups. What the events mean together is said in `labels`.

use serde::{Deserialize, Serialize};

use crate::ids::ClassId;

/// One change of a project, as appended to its log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Change {
    /// A new class; ids are given in order and never again.
    AddClass {
        /// Its id: the number of classes before it.
        class: ClassId,
        /// Its name, unlike every other.
        name: String,
    },
    /// A class gets another name.
    RenameClass {
        /// The class.
        class: ClassId,
        /// Its new name.
        name: String,
    },
    /// All labels of one class count for another from now on.
    MergeClass {
        /// The class that ends.
        from: ClassId,
        /// The class that takes its labels.
        into: ClassId,
    },
    /// A class ends and its labels with it: items that have no other are open again.
    DeleteClass {
        /// The class.
        class: ClassId,
    },
    /// The order in which people see the classes: these first, then the others by their ids. It changes nothing else.
    OrderClasses {
        /// The classes, each once.
        classes: Vec<ClassId>,
    },
    /// An annotator's answer.
    Label {
        /// The item.
        item: String,
        /// Classes with weights above 0 that sum to at most 1.
        classes: Vec<(ClassId, f64)>,
        /// It decides between differing answers: while it stands, it alone counts for the item.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        adjudicates: bool,
    },
    /// Do not ask for this item again.
    Skip {
        /// The item.
        item: String,
    },
    /// Leave this item out: not asked, its labels do not count.
    Exclude {
        /// The item.
        item: String,
    },
    /// Take this item up again: neither skipped nor left out any more.
    Reopen {
        /// The item.
        item: String,
    },
    /// How much an annotator counts beside others (1 if never said).
    Weight {
        /// The annotator.
        annotator: String,
        /// A number above 0.
        weight: f64,
    },
    /// Numbers fixed when the first question is asked; a later event changes them on purpose.
    Settings {
        /// α₀.
        prior_strength: f64,
        /// K̂.
        expected_clusters: usize,
    },
    /// Takes back every event of a group.
    Undo {
        /// The group.
        group: u64,
    },
    /// Brings an undone group back to its place.
    Redo {
        /// The group.
        group: u64,
    },
}

impl Change {
    /// An answer that counts beside those of others.
    pub fn label(item: impl Into<String>, classes: Vec<(ClassId, f64)>) -> Change {
        Change::Label {
            item: item.into(),
            classes,
            adjudicates: false,
        }
    }

    /// Whether an undo key takes it back: an answer, a mark of an item, or another name or status of a class.
    pub fn is_undoable(&self) -> bool {
        matches!(
            self,
            Change::Label { .. }
                | Change::Skip { .. }
                | Change::Exclude { .. }
                | Change::Reopen { .. }
                | Change::RenameClass { .. }
                | Change::MergeClass { .. }
                | Change::DeleteClass { .. }
                | Change::OrderClasses { .. }
        )
    }

    /// The item that it is about, if it is about one.
    pub fn item(&self) -> Option<&str> {
        match self {
            Change::Label { item, .. }
            | Change::Skip { item }
            | Change::Exclude { item }
            | Change::Reopen { item } => Some(item),
            _ => None,
        }
    }

    /// Whether items that were closed may be open after it.
    pub fn opens(&self) -> bool {
        matches!(
            self,
            Change::Undo { .. }
                | Change::Redo { .. }
                | Change::Reopen { .. }
                | Change::DeleteClass { .. }
        )
    }

    /// The class that it adds, if it adds one.
    pub(crate) fn added(&self) -> Option<ClassId> {
        match self {
            Change::AddClass { class, .. } => Some(*class),
            _ => None,
        }
    }

    /// Whether the schema follows from it: classes, weights of annotators, settings.
    pub(crate) fn is_schema(&self) -> bool {
        self.item().is_none() && !matches!(self, Change::Undo { .. } | Change::Redo { .. })
    }
}

/// A change with its group and its author.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Events that are undone together share a group.
    pub group: u64,
    /// Who did it.
    pub annotator: String,
    /// What was done.
    pub change: Change,
}

/// A class of the schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// Its present name.
    pub name: String,
    /// What became of it.
    pub status: ClassStatus,
}

/// What became of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassStatus {
    /// Labels may use it.
    Live,
    /// Another class took its labels.
    Merged(ClassId),
    /// It was deleted, and its labels with it.
    Deleted,
    /// Its addition was undone; the id is not given again.
    Undone,
}
