//! `dial log`: what was decided, in words; and what an undo took back.

use clap::Args;
use dial_server::ProjectHandle;
use dial_server::http::wire::{HistoryRow, Page, Part};
use dial_store::{Receipt, time};
use serde_json::json;

use crate::cli::args::positive;
use crate::plan::project::ProjectArgs;
use crate::ui::failure::Failure;
use crate::ui::output::{Output, who};

/// An undo is looked for among so many of the latest records.
const LOOKED_AT: usize = 5_000;
/// Records that are fetched at once.
const PAGE: usize = 1000;
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
    pub project: ProjectArgs,
    /// How many of the latest decisions
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
            "{} more before these; --limit shows them.\n",
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
        let (offset, wanted) = (rows.len(), (limit - rows.len()).min(PAGE));
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
    // Only for the words: without them it is done all the same.
    let page = latest(project, LOOKED_AT).ok()?;
    let row = page.rows.iter().find(|row| row.seq == receipt.seq)?;
    let group = row.text.strip_prefix("group ")?.parse().ok()?;
    let mine = |row: &&HistoryRow| {
        row.group == group && !matches!(row.kind.as_str(), "undo" | "redo" | "resolved" | "known")
    };
    Some((
        group,
        page.rows.iter().rev().filter(mine).map(in_words).collect(),
    ))
}

/// Some decisions of a group in words.
pub fn named(group: u64, decisions: &[String]) -> String {
    let some = decisions
        .iter()
        .take(NAMED)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    match decisions.len().saturating_sub(NAMED) {
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
    match (kind.as_str(), item) {
        ("label", Some(item)) => format!("{item} = {text}"),
        ("conflict", Some(item)) => format!("{item} = {text}, kept aside"),
        ("known", Some(item)) => format!("{item} = {text}, as before"),
        (_, Some(item)) => format!("{kind} {item}"),
        (_, None) => format!("{kind} {text}").trim_end().to_string(),
    }
}
