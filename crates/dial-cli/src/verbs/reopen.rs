//! `dial reopen`: the items that were skipped or excluded, and taking them up again.

use clap::Args;
use dial_server::http::wire::{Page, Part, Passed};
use dial_store::{Decision, time};
use serde_json::json;

use crate::plan::project::{ProjectArgs, Sender, undo_line};
use crate::ui::failure::Failure;
use crate::ui::output::{Output, count, table, who};

/// Items that are fetched at once.
const AT_ONCE: usize = 1000;

/// `dial reopen`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dial reopen photos.dial                 lists what was skipped or excluded
  dial reopen photos.dial 81.jpg          asked again, and its labels count
  dial reopen photos.dial --all")]
pub struct Reopen {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// The items, by id [default: none, they are listed]
    #[arg(value_name = "ITEM")]
    pub items: Vec<String>,
    /// All of them
    #[arg(long, conflicts_with = "items")]
    pub all: bool,
    #[command(flatten)]
    pub sender: Sender,
}

/// Runs the command.
pub fn run(args: &Reopen, output: &Output) -> Result<(), Failure> {
    if args.items.is_empty() && !args.all {
        return list(args, output);
    }
    let mut project = args.project.handle_to_change(output)?;
    let wanted = match args.all {
        true => all(&mut *project)?.into_iter().map(|one| one.id).collect(),
        false => args.items.clone(),
    };
    if wanted.is_empty() {
        let text = "Nothing was skipped or excluded: there is nothing to reopen.\n";
        output.result(text, &json!({ "items": [] }));
        return Ok(());
    }
    let items = count(wanted.len(), "item is", "items are");
    let decisions = wanted.into_iter().map(|item| Decision::Reopen { item });
    let sent = args.sender.submission(decisions.collect(), false)?;
    let receipt = project.submit(sent)?.receipt;
    let (text, undo) = match receipt.known {
        true => (format!("{items} open: nothing changed"), String::new()),
        false => {
            let undo = undo_line(&receipt, &args.project.typed());
            (format!("{items} open again"), undo)
        }
    };
    output.result(&format!("{text}{undo}.\n"), &json!(receipt));
    Ok(())
}

/// Lists what was passed over.
fn list(args: &Reopen, output: &Output) -> Result<(), Failure> {
    let all = all(&mut *args.project.handle(output)?)?;
    let header = ["item", "", "by", "when"].map(String::from).to_vec();
    let row = |one: &Passed| {
        let what = if one.excluded { "excluded" } else { "skipped" };
        let (by, when) = (who(&one.annotator), time::in_words(one.time));
        vec![one.id.clone(), what.into(), by.into(), when]
    };
    let rows: Vec<Vec<String>> = [header].into_iter().chain(all.iter().map(row)).collect();
    let text = match all.is_empty() {
        true => "Nothing was skipped or excluded.\n".to_string(),
        false => table(&rows),
    };
    output.result(&text, &json!({ "items": all }));
    Ok(())
}

/// Everything that was passed over.
fn all(project: &mut dyn dial_server::ProjectHandle) -> Result<Vec<Passed>, Failure> {
    let mut all = Vec::new();
    loop {
        let part = Part {
            offset: all.len(),
            limit: AT_ONCE,
            search: String::new(),
        };
        let Page { total, rows, .. } = project.passed(&part)?;
        let last = rows.is_empty();
        all.extend(rows);
        if last || all.len() >= total {
            return Ok(all);
        }
    }
}
