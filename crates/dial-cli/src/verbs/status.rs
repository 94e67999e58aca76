//! `dial status`: the state of a project, from its log alone.

use clap::Args;
use dial_store::Status;
use serde_json::json;

use crate::plan::project::ProjectArgs;
use crate::ui::failure::Failure;
use crate::ui::names;
use crate::ui::output::{Output, count, table, who};

/// The largest number of conflicts and of disagreements that the text lists.
const MAX_LISTED: usize = 10;

/// `dial status`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dial status photos.dial --json\n\nEstimates of the accuracy, with advice on when to stop, are those that dial predict, dial export or a server made last. They are hidden once a label that they were made from has changed."
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
    let conflicts = status.conflicts.iter().map(|one| {
        format!(
            "{} of {}: {} is kept, {} was the later answer (decision {})",
            one.item,
            who(&one.annotator),
            one.labels[0],
            one.labels[1],
            one.seq
        )
    });
    text.push_str(&listed(
        ("conflicting answer", "conflicting answers"),
        conflicts,
    ));
    if !status.conflicts.is_empty() {
        text.push_str(&format!(
            "  dial resolve {project} DECISION keeps the first; dial tell {project} ITEM CLASS --replace takes the other.\n"
        ));
    }
    let differ = status.disagreements.iter().map(|one| {
        let labels: Vec<String> = one
            .labels
            .iter()
            .map(|(name, label)| format!("{label} ({})", who(name)))
            .collect();
        format!("{}: {}", one.item, labels.join(", "))
    });
    text.push_str(&listed(
        ("item with different labels", "items with different labels"),
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
            .take(MAX_LISTED)
            .for_each(|word| text.push_str(&format!("  {word}\n")));
        if total > MAX_LISTED {
            text.push_str(&format!("  and {} more\n", total - MAX_LISTED));
        }
    }
    text
}
