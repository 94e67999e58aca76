//! `dial resolve`: closes conflicts (C3, C6) by keeping the existing labels.

use clap::Args;
use dial_store::Decision;
use serde_json::json;

use crate::plan::project::{ProjectArgs, Sender};
use crate::ui::failure::Failure;
use crate::ui::output::{Output, count};

/// `dial resolve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dial status photos.dial                 lists conflicting answers, with their numbers
  dial resolve photos.dial 17              the existing label is right
  dial tell photos.dial 81.jpg dog --replace --annotator ann      the new one is right, and resolves it too")]
pub struct Resolve {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// The conflicts, by the decision numbers that dial status shows
    #[arg(value_name = "N", required_unless_present = "all")]
    pub decisions: Vec<u64>,
    /// All open conflicts
    #[arg(long, conflicts_with = "decisions")]
    pub all: bool,
    #[command(flatten)]
    pub sender: Sender,
}

/// Runs the command.
pub fn run(args: &Resolve, output: &Output) -> Result<(), Failure> {
    let mut project = args.project.handle_to_change(output)?;
    let wanted = match args.all {
        true => project
            .status()?
            .conflicts
            .iter()
            .map(|one| one.seq)
            .collect(),
        false => args.decisions.clone(),
    };
    if wanted.is_empty() {
        output.result(
            "There is no conflict: nothing to resolve.\n",
            &json!({ "resolved": [] }),
        );
        return Ok(());
    }
    let decisions = wanted
        .iter()
        .map(|&conflict| Decision::Resolve { conflict })
        .collect();
    let receipt = project
        .submit(args.sender.submission(decisions, false)?)?
        .receipt;
    let mut json = json!(receipt);
    json["resolved"] = json!(wanted);
    output.result(
        &format!(
            "{} resolved: the existing label stays.\n",
            count(wanted.len(), "conflict", "conflicts")
        ),
        &json,
    );
    Ok(())
}
