//! The log in words.

use std::collections::HashMap;

use dial::{Change, ClassId};
use dial_store::{Entry, Log, Record, Share};
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
    /// The classes of a label, also of one that was stored as a conflict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Share>,
    /// The item had all the answers it needs.
    pub late: bool,
    /// It was taken back.
    pub undone: bool,
    /// It stands and can be taken back by its group.
    pub undoable: bool,
    /// The group that an undo or redo is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// Where one row stands for decisions that were made in one step: how many they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<usize>,
    /// Some of the items of those decisions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
}

/// Items that are named of a group.
const NAMED_ITEMS: usize = 20;
/// Different texts that are named of a group.
const NAMED_TEXTS: usize = 3;

/// One row for decisions of one kind that were made in one step, which are undone together as well; the latest first, as the rows.
pub fn in_steps(rows: impl Iterator<Item = HistoryRow>) -> Vec<HistoryRow> {
    let mut steps: Vec<(HistoryRow, Vec<String>)> = Vec::new();
    for row in rows {
        let same = |(step, _): &&mut (HistoryRow, Vec<String>)| {
            (step.group, &step.kind) == (row.group, &row.kind) && step.of.is_none()
        };
        let Some((step, texts)) = steps.last_mut().filter(same) else {
            steps.push((row.clone(), vec![row.text]));
            continue;
        };
        if step.together.is_none() {
            step.items = step.item.take().into_iter().collect();
            step.classes.clear();
        }
        step.together = Some(step.together.unwrap_or(1) + 1);
        step.items
            .extend(row.item.filter(|_| step.items.len() < NAMED_ITEMS));
        step.undoable |= row.undoable;
        if texts.len() <= NAMED_TEXTS && !texts.contains(&row.text) {
            texts.push(row.text);
        }
    }
    let named = |(mut step, texts): (HistoryRow, Vec<String>)| {
        let more = if texts.len() > NAMED_TEXTS {
            ", ..."
        } else {
            ""
        };
        step.text = texts[..texts.len().min(NAMED_TEXTS)].join(", ") + more;
        step
    };
    steps.into_iter().map(named).collect()
}

/// Puts the records of a log into words.
pub struct Words<'a> {
    log: &'a Log,
    /// What undos and redos are about: by group, the changes in it.
    turned: HashMap<u64, Vec<&'a Change>>,
}

impl<'a> Words<'a> {
    /// Of a log.
    pub fn new(log: &'a Log) -> Words<'a> {
        let about = |record: &Record| match record.change() {
            Some(Change::Undo { group } | Change::Redo { group }) => Some((*group, Vec::new())),
            _ => None,
        };
        let mut turned: HashMap<u64, Vec<&Change>> =
            log.records().iter().filter_map(about).collect();
        for record in log.records() {
            let change = record.change();
            let change = change
                .filter(|change| !matches!(change, Change::Undo { .. } | Change::Redo { .. }));
            if let Some((of_group, change)) = turned.get_mut(&record.group).zip(change) {
                of_group.push(change);
            }
        }
        Words { log, turned }
    }

    /// A record in words.
    pub fn row(&self, record: &Record) -> HistoryRow {
        let (kind, item, text) = in_words(self.log, &record.entry);
        let change = record.change();
        let (of, item, text) = match change {
            Some(Change::Undo { group } | Change::Redo { group }) => {
                let (item, text) = self.group(*group);
                (Some(*group), item, text)
            }
            _ => (None, item, text),
        };
        let stands = self.log.labels().is_live(record.group);
        HistoryRow {
            seq: record.seq,
            time: record.time,
            annotator: record.annotator.clone(),
            group: record.group,
            kind: kind.into(),
            item,
            text,
            classes: shares(&record.entry),
            late: record.provenance.late,
            undone: change.is_some() && of.is_none() && !stands,
            undoable: stands && change.is_some_and(Change::is_undoable),
            of,
            together: None,
            items: Vec::new(),
        }
    }

    /// A group in words: its item, if it is about one, and what was decided.
    fn group(&self, group: u64) -> (Option<String>, String) {
        let changes = self.turned.get(&group).map_or(&[][..], Vec::as_slice);
        if let [change] = changes {
            let (kind, item, text) = in_words(self.log, &Entry::Change((*change).clone()));
            let text = match kind {
                "label" => text,
                "skip" => "skipped".into(),
                "exclude" => "excluded".into(),
                "reopen" => "reopened".into(),
                "rename-class" => format!("renamed to {text}"),
                "merge-class" => format!("merged {text}"),
                "add-class" => format!("new class {text}"),
                "delete-class" => format!("deleted {text}"),
                "order-classes" => format!("order {text}"),
                _ => format!("{kind} {text}"),
            };
            return (item, text);
        }
        let label = |change: &&Change| match change {
            Change::Label { classes, .. } => Some(self.log.label_in_words(classes)),
            _ => None,
        };
        let mut labels: Vec<String> = changes.iter().filter_map(label).collect();
        let (all, count) = (labels.len() == changes.len(), changes.len());
        labels.dedup();
        (
            None,
            match labels.as_slice() {
                [one] if all => format!("{count} labels: {one}"),
                _ if all => format!("{count} labels"),
                _ => format!("{count} decisions"),
            },
        )
    }
}

/// The classes that an entry gives an item.
fn shares(entry: &Entry) -> Vec<Share> {
    match entry {
        Entry::Change(Change::Label { classes, .. })
        | Entry::Conflict {
            change: Change::Label { classes, .. },
            ..
        } => Share::of(classes),
        _ => Vec::new(),
    }
}

fn in_words(log: &Log, entry: &Entry) -> (&'static str, Option<String>, String) {
    let name = |class: &ClassId| log.label_in_words(&[(*class, 1.0)]);
    match entry {
        Entry::Change(change) => match change {
            Change::Label { item, classes, .. } => {
                ("label", Some(item.clone()), log.label_in_words(classes))
            }
            Change::Skip { item } => ("skip", Some(item.clone()), String::new()),
            Change::Exclude { item } => ("exclude", Some(item.clone()), String::new()),
            Change::Reopen { item } => ("reopen", Some(item.clone()), String::new()),
            Change::AddClass { name, .. } => ("add-class", None, name.clone()),
            Change::RenameClass { name, .. } => ("rename-class", None, name.clone()),
            Change::MergeClass { from, into } => (
                "merge-class",
                None,
                format!("{} into {}", name(from), name(into)),
            ),
            Change::DeleteClass { class } => ("delete-class", None, name(class)),
            Change::OrderClasses { classes } => {
                let names: Vec<String> = classes.iter().map(name).collect();
                ("order-classes", None, names.join(", "))
            }
            Change::Weight { annotator, weight } => {
                ("weight", None, format!("{annotator} {weight}"))
            }
            Change::Settings { prior_strength, .. } => {
                ("settings", None, format!("prior {prior_strength}"))
            }
            Change::Undo { group } => ("undo", None, format!("group {group}")),
            Change::Redo { group } => ("redo", None, format!("group {group}")),
        },
        Entry::ClassStyle(look) => ("style-class", None, name(&look.class)),
        Entry::Recipe(recipe) => ("pool", None, recipe.pool.clone()),
        Entry::Conflict {
            change: Change::Label { item, .. },
            labels,
            ..
        } => ("conflict", Some(item.clone()), labels[1].clone()),
        Entry::Conflict { .. } => ("conflict", None, String::new()),
        Entry::Known { change, .. } => {
            let (_, item, text) = in_words(log, &Entry::Change(change.clone()));
            ("known", item, text)
        }
        Entry::Resolved { conflict } => ("resolved", None, format!("decision {conflict}")),
    }
}
