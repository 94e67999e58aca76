//! The log in words.

use dial::{Change, ClassId};
use dial_store::{Entry, Record, Share};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A record of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HistoryRow {
    /// Its place.
    pub seq: u64,
    /// When: milliseconds since 1970.
    pub time: u64,
    /// Who.
    pub annotator: String,
    /// The group it is undone by.
    pub group: u64,
    /// What, in a word.
    pub kind: String,
    /// The item, if it is about one.
    #[schema(required)]
    pub item: Option<String>,
    /// The rest in words.
    pub text: String,
    /// The classes of a label, also of one that was kept aside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Share>,
    /// The item had all the answers it needs.
    pub late: bool,
}

impl HistoryRow {
    /// A record in words.
    pub fn new(log: &dial_store::Log, record: &Record) -> HistoryRow {
        let (kind, item, text) = in_words(log, &record.entry);
        let (annotator, late) = (record.annotator.clone(), record.remark.late);
        HistoryRow {
            seq: record.seq,
            time: record.time,
            annotator,
            group: record.group,
            kind: kind.into(),
            item,
            text,
            classes: shares(&record.entry),
            late,
        }
    }
}

/// The classes that an entry gives an item.
fn shares(entry: &Entry) -> Vec<Share> {
    match entry {
        Entry::Change(Change::Label { classes, .. })
        | Entry::Parked {
            change: Change::Label { classes, .. },
            ..
        } => Share::of(classes),
        _ => Vec::new(),
    }
}

fn in_words(log: &dial_store::Log, entry: &Entry) -> (&'static str, Option<String>, String) {
    let name = |class: &ClassId| log.label_in_words(&[(*class, 1.0)]);
    match entry {
        Entry::Change(change) => match change {
            Change::Label { item, classes } => {
                ("label", Some(item.clone()), log.label_in_words(classes))
            }
            Change::Skip { item } => ("skip", Some(item.clone()), String::new()),
            Change::Exclude { item } => ("exclude", Some(item.clone()), String::new()),
            Change::AddClass { name, .. } => ("add-class", None, name.clone()),
            Change::RenameClass { name, .. } => ("rename-class", None, name.clone()),
            Change::MergeClass { from, into } => (
                "merge-class",
                None,
                format!("{} into {}", name(from), name(into)),
            ),
            Change::Weight { annotator, weight } => {
                ("weight", None, format!("{annotator} {weight}"))
            }
            Change::Settings { prior_strength, .. } => {
                ("settings", None, format!("prior {prior_strength}"))
            }
            Change::Undo { group } => ("undo", None, format!("group {group}")),
            Change::Redo { group } => ("redo", None, format!("group {group}")),
        },
        Entry::Look(look) => ("style-class", None, name(&look.class)),
        Entry::Recipe(recipe) => ("pool", None, recipe.pool.clone()),
        Entry::Parked {
            change: Change::Label { item, .. },
            said,
            ..
        } => ("conflict", Some(item.clone()), said[1].clone()),
        Entry::Parked { .. } => ("conflict", None, String::new()),
        Entry::Known { change, .. } => {
            let (_, item, text) = in_words(log, &Entry::Change(change.clone()));
            ("known", item, text)
        }
        Entry::Settled { parked } => ("resolved", None, format!("decision {parked}")),
    }
}
