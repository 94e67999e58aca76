//! `dial log`: the decisions of a project, and what an undo took back.

use clap::Args;
use dial_server::ProjectHandle;
use dial_server::http::wire::{HistoryRow, Page, Part};
use dial_store::{Receipt, time};
use serde_json::json;

use crate::cli::args::positive;
use crate::plan::project::ProjectArgs;
use crate::ui::failure::Failure;
use crate::ui::output::{Output, who};

/// The latest records that are searched for an undo.
const LOOKED_AT: usize = 5_000;
/// Records that are fetched at once.
const RECORDS_PER_READ: usize = 1000;
/// The largest number of decisions of a group that are named.
const MAX_NAMED_DECISIONS: usize = 5;

/// `dial log`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial log photos.dial --limit 50
  dial undo photos.dial --group 12        takes back a group that the log names")]
pub struct LogArgs {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// Number of decisions to list, the latest first
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = positive)]
    pub limit: usize,
}

/// Runs the command.
pub fn run(args: &LogArgs, output: &Output) -> Result<(), Failure> {
    let page = latest(&mut *args.project.handle(output)?, args.limit)?;
    let width = page
        .rows
        .iter()
        .map(|row| who(&row.annotator).chars().count())
        .max()
        .unwrap_or(0);
    let line = |row: &HistoryRow| {
        let (when, who, late) = (
            time::in_words(row.time),
            who(&row.annotator),
            if row.late { " (late)" } else { "" },
        );
        format!(
            "{:>6}  {when}  {who:<width$}  group {:<6}  {}{late}\n",
            row.seq,
            row.group,
            in_words(row)
        )
    };
    let mut text: String = page.rows.iter().map(line).collect();
    if page.rows.len() < page.total {
        text.push_str(&format!(
            "{} earlier ones; --limit shows them.\n",
            page.total - page.rows.len()
        ));
    }
    output.result(&text, &json!(page));
    Ok(())
}

/// The latest records, the latest first, as many at once as a page holds.
fn latest(project: &mut dyn ProjectHandle, limit: usize) -> Result<Page<HistoryRow>, Failure> {
    let mut rows = Vec::new();
    loop {
        let (offset, wanted) = (rows.len(), (limit - rows.len()).min(RECORDS_PER_READ));
        let part = Part {
            offset,
            limit: wanted,
            search: String::new(),
        };
        let page = project.history(&part)?;
        let last = page.rows.len() < wanted;
        rows.extend(page.rows);
        if last || rows.len() >= limit {
            return Ok(Page { rows, ..page });
        }
    }
}

/// What an undo or redo that was just stored is about: the group, and its decisions in words, as far as they are found.
pub fn undone(project: &mut dyn ProjectHandle, receipt: &Receipt) -> Option<(u64, Vec<String>)> {
    // Only for the message: the undo is stored already.
    let page = latest(project, LOOKED_AT).ok()?;
    let row = page.rows.iter().find(|row| row.seq == receipt.seq)?;
    let group = row.of?;
    let mine = |row: &&HistoryRow| {
        row.group == group && !matches!(row.kind.as_str(), "undo" | "redo" | "resolved" | "known")
    };
    Some((
        group,
        page.rows.iter().rev().filter(mine).map(in_words).collect(),
    ))
}

/// Some decisions of a group in words; there are so many in all.
pub fn named(group: u64, decisions: &[String], all: usize) -> String {
    let some = decisions
        .iter()
        .take(MAX_NAMED_DECISIONS)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    match all.saturating_sub(MAX_NAMED_DECISIONS) {
        _ if decisions.is_empty() => format!("group {group}"),
        0 => some,
        more => format!("{some} and {more} more"),
    }
}

/// `i3 = cat`, `skip i3`, `add-class owl`.
fn in_words(row: &HistoryRow) -> String {
    let HistoryRow {
        kind, item, text, ..
    } = row;
    if let Some(of) = row.of {
        let about = item
            .as_ref()
            .map_or(String::new(), |item| format!("{item}: "));
        return format!("{kind} group {of} ({about}{text})");
    }
    match (kind.as_str(), item) {
        ("label", Some(item)) => format!("{item} = {text}"),
        ("conflict", Some(item)) => format!("{item} = {text}, a conflict"),
        ("known", Some(item)) => format!("{item} = {text}, as before"),
        (_, Some(item)) => format!("{kind} {item}"),
        (_, None) => format!("{kind} {text}").trim_end().to_string(),
    }
}
