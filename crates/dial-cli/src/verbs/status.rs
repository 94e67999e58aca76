//! `dial status`: how a project stands, from its log alone.

use clap::Args;
use dial_store::Status;
use serde_json::json;

use crate::plan::project::ProjectArgs;
use crate::ui::failure::Failure;
use crate::ui::names;
use crate::ui::output::{Output, count, table, who};

/// So many answers that wait, and disagreements, are listed in words.
const LISTED: usize = 10;

/// `dial status`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dial status photos.dial --json\n\nEstimates are those of the last dial predict or export."
)]
pub struct Show {
    #[command(flatten)]
    pub project: ProjectArgs,
}

/// Runs the command.
pub fn run(args: &Show, output: &Output) -> Result<(), Failure> {
    let status = args.project.handle(output)?.status()?;
    output.result(&in_words(&status, &args.project.typed()), &json!(status));
    Ok(())
}

fn in_words(status: &Status, project: &str) -> String {
    let mut text = format!("{}\n\n", status.name);
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<12}{value}\n"));
    line(
        "pool",
        format!("{}, {}", status.pool, count(status.items, "item", "items")),
    );
    let others = match (status.skipped, status.excluded) {
        (0, 0) => String::new(),
        (skipped, excluded) => format!(", {skipped} skipped, {excluded} excluded"),
    };
    line(
        "labelled",
        format!("{}{others}", count(status.labelled, "item", "items")),
    );
    line("events", status.version.to_string());
    if let Some(last) = status.last {
        line("last change", dial_store::time::in_words(last));
    }
    let counted = |name: &str, labels: usize| vec![name.to_string(), labels.to_string()];
    let mut rows = vec![vec!["class".to_string(), "labels".to_string()]];
    rows.extend(
        status
            .classes
            .iter()
            .map(|class| counted(&class.name, class.labels)),
    );
    text.push_str(&format!("\n{}", table(&rows)));
    if !status.annotators.is_empty() {
        let mut rows = vec![vec!["annotator".to_string(), "labels".to_string()]];
        rows.extend(
            status
                .annotators
                .iter()
                .map(|one| counted(who(&one.name), one.labels)),
        );
        text.push_str(&format!("\n{}", table(&rows)));
    }
    let parked = status.conflicts.iter().map(|one| {
        format!(
            "{} of {}: {} stands, {} came (decision {})",
            one.item,
            who(&one.annotator),
            one.said[0],
            one.said[1],
            one.seq
        )
    });
    text.push_str(&listed(
        ("answer needs attention", "answers need attention"),
        parked,
    ));
    if !status.conflicts.is_empty() {
        text.push_str(&format!(
            "  dial resolve {project} DECISION keeps what stands; dial tell {project} ITEM CLASS --replace takes the other.\n"
        ));
    }
    let differ = status.disagreements.iter().map(|one| {
        let said: Vec<String> = one
            .labels
            .iter()
            .map(|(name, label)| format!("{label} ({})", who(name)))
            .collect();
        format!("{}: {}", one.item, said.join(", "))
    });
    text.push_str(&listed(
        (
            "item has labels that differ",
            "items have labels that differ",
        ),
        differ,
    ));
    if let Some(estimates) = &status.estimates {
        let (words, labels) = (names::in_words(estimates), estimates.labelled);
        if !words.is_empty() {
            let labelled = count(labels, "labelled item", "labelled items");
            text.push_str(&format!("\nWith {labelled}: {words}\n"));
        }
    }
    text
}

fn listed((one, many): (&str, &str), words: impl ExactSizeIterator<Item = String>) -> String {
    let (total, mut text) = (words.len(), String::new());
    if total > 0 {
        text.push_str(&format!("\n{}:\n", count(total, one, many)));
        words
            .take(LISTED)
            .for_each(|word| text.push_str(&format!("  {word}\n")));
        if total > LISTED {
            text.push_str(&format!("  and {} more\n", total - LISTED));
        }
    }
    text
}
