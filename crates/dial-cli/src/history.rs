//! `dial log`: what was decided, in words; and what an undo took back.

use clap::Args;
use dial::{Change, ClassId};
use dial_store::{Entry, Log, Receipt, Record, time};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::args::positive;
use crate::failure::Failure;
use crate::output::{Output, who};
use crate::project::{Access, ProjectArgs};

/// An undo is looked for among so many of the latest records.
const LOOKED_AT: usize = 5_000;
/// So many decisions of a group are named.
const NAMED: usize = 5;

/// `dial log`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial log photos.dial --limit 50
  dial undo photos.dial --group 12        takes back a group that the log names")]
pub struct LogArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub project: ProjectArgs,
    /// How many of the latest decisions
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = positive)]
    pub limit: usize,
}

/// A record of the log in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
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
    pub item: Option<String>,
    /// The rest in words.
    pub text: String,
    /// The item had all the answers it needs.
    pub late: bool,
}

/// The latest records of a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// The version of the log.
    pub version: u64,
    /// How many records there are.
    pub total: usize,
    /// The latest of them, the latest first.
    pub rows: Vec<Row>,
}

/// Runs the command.
pub fn run(args: &LogArgs, output: &Output) -> Result<(), Failure> {
    let page = latest(&args.project.access()?, args.limit)?;
    let width = page.rows.iter().map(|row| who(&row.annotator).chars().count()).max().unwrap_or(0);
    let line = |row: &Row| {
        let (when, who, late) = (time::in_words(row.time), who(&row.annotator), if row.late { " (late)" } else { "" });
        format!("{:>6}  {when}  {who:<width$}  group {:<6}  {}{late}\n", row.seq, row.group, row.in_words())
    };
    let mut text: String = page.rows.iter().map(line).collect();
    if page.rows.len() < page.total {
        text.push_str(&format!("{} more before these; --limit shows them.\n", page.total - page.rows.len()));
    }
    output.result(&text, &json!(page));
    Ok(())
}

/// The latest records, the latest first.
fn latest(access: &Access, limit: usize) -> Result<Page, Failure> {
    match access {
        Access::Own(project) => {
            let log = project.log();
            let rows = log.records().iter().rev().take(limit).map(|record| Row::new(log, record)).collect();
            Ok(Page { version: log.version(), total: log.records().len(), rows })
        }
        Access::Server(client) => client.history(limit),
    }
}

/// What an undo or redo that was just stored is about: the group, and its decisions in words, as far as they are found.
pub fn undone(access: &Access, receipt: &Receipt) -> Option<(u64, Vec<String>)> {
    // Only for the words: without them it is done all the same.
    let page = latest(access, LOOKED_AT).ok()?;
    let row = page.rows.iter().find(|row| row.seq == receipt.seq)?;
    let group = row.text.strip_prefix("group ")?.parse().ok()?;
    let mine = |row: &&Row| row.group == group && !matches!(row.kind.as_str(), "undo" | "redo" | "settled" | "known");
    Some((group, page.rows.iter().rev().filter(mine).map(Row::in_words).collect()))
}

/// Some decisions of a group in words.
pub fn named(group: u64, decisions: &[String]) -> String {
    let some = decisions.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match decisions.len().saturating_sub(NAMED) {
        _ if decisions.is_empty() => format!("group {group}"),
        0 => some,
        more => format!("{some} and {more} more"),
    }
}

impl Row {
    fn new(log: &Log, record: &Record) -> Row {
        let (kind, item, text) = in_words(log, &record.entry);
        let Record { seq, time, ref annotator, group, .. } = *record;
        Row { seq, time, annotator: annotator.clone(), group, kind, item, text, late: record.remark.late }
    }

    /// `i3 = cat`, `skip i3`, `add-class owl`.
    fn in_words(&self) -> String {
        let Row { kind, item, text, .. } = self;
        match (kind.as_str(), item) {
            ("label", Some(item)) => format!("{item} = {text}"),
            ("parked", Some(item)) => format!("{item} = {text}, kept aside"),
            ("known", Some(item)) => format!("{item} = {text}, as before"),
            (_, Some(item)) => format!("{kind} {item}"),
            (_, None) => format!("{kind} {text}").trim_end().to_string(),
        }
    }
}

type InWords = (String, Option<String>, String);

fn in_words(log: &Log, entry: &Entry) -> InWords {
    match entry {
        Entry::Change(change) => change_in_words(log, change),
        Entry::Look(look) => ("look".into(), None, log.class_name(look.class).into()),
        Entry::Recipe(recipe) => ("pool".into(), None, recipe.pool.clone()),
        Entry::Settled { parked } => ("settled".into(), None, format!("decision {parked}")),
        // What is kept beside the log, under its own word: it holds a change.
        other => {
            let value = serde_json::to_value(other).unwrap_or_default();
            let (kind, inside) = value.as_object().and_then(|object| object.iter().next()).unzip();
            let change = inside.and_then(|inside| serde_json::from_value::<Change>(inside["change"].clone()).ok());
            let (_, item, text) = change.map_or_else(Default::default, |change| change_in_words(log, &change));
            (kind.cloned().unwrap_or_default(), item, text)
        }
    }
}

fn change_in_words(log: &Log, change: &Change) -> InWords {
    let name = |class: &ClassId| log.class_name(*class);
    let (kind, item, text) = match change {
        Change::Label { item, classes } => ("label", Some(item.clone()), log.label_in_words(classes)),
        Change::Skip { item } => ("skip", Some(item.clone()), String::new()),
        Change::Exclude { item } => ("exclude", Some(item.clone()), String::new()),
        Change::AddClass { name, .. } => ("add-class", None, name.clone()),
        Change::RenameClass { name, .. } => ("rename-class", None, name.clone()),
        Change::MergeClass { from, into } => ("merge-class", None, format!("{} into {}", name(from), name(into))),
        Change::Weight { annotator, weight } => ("weight", None, format!("{annotator} {weight}")),
        Change::Settings { prior_strength, .. } => ("settings", None, format!("prior {prior_strength}")),
        Change::Undo { group } => ("undo", None, format!("group {group}")),
        Change::Redo { group } => ("redo", None, format!("group {group}")),
    };
    (kind.into(), item, text)
}
