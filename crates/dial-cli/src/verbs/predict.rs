//! `dial predict`: what is believed about items, or about all of them in short.

use std::path::PathBuf;

use clap::Args;
use dial_server::http::wire::{Part, Wanted, Which};
use dial_store::Format;
use serde_json::{Map, Value, json};

use crate::plan::project::ProjectArgs;
use crate::ui::failure::Failure;
use crate::ui::names::{Names, in_words};
use crate::ui::output::{Output, count, table};
use crate::verbs::exchange;

/// Labels at odds with the others that are listed.
const MAX_SUSPECTS: usize = 10;

/// `dial predict`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial predict photos.dial --item cat17.jpg --item cat18.jpg
  dial predict photos.dial --out predictions.csv")]
pub struct Predict {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// An item, by id; may be repeated [default: a summary of all]
    #[arg(long, value_name = "ID")]
    pub item: Vec<String>,
    #[arg(long, value_name = "FILE", help = format!("Everything about every item as {}, as dial export does", Format::endings()))]
    pub out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Predict, output: &Output) -> Result<(), Failure> {
    let format = args
        .out
        .as_deref()
        .map(|file| exchange::format(file, None))
        .transpose()?;
    let mut project = args.project.handle(output)?;
    if let Some(file) = &args.out {
        exchange::check_target(file, &project.status()?, &args.project.folder())?;
    }
    if let Some((file, format)) = args.out.as_ref().zip(format) {
        let wanted = Wanted {
            format: format.to_string(),
            labels_only: false,
            original_columns: None,
            preview: None,
        };
        exchange::write(file, &project.export(&wanted)?)?;
    }
    let names = Names::of(&project.status()?);
    if !args.item.is_empty() {
        let mut items = Vec::new();
        for id in &args.item {
            items.push(names.item(&project.item(id)?));
        }
        let version = project.status()?.version;
        let json = json!({ "version": version, "items": items });
        output.result(&items_in_words(&items), &json);
        return Ok(());
    }
    let mut predicted = Vec::new();
    for (class, name) in names.all() {
        let of_class = Which {
            class: Some(*class),
            limit: 1,
            ..Which::default()
        };
        predicted.push((name.clone(), project.items(&of_class)?.total));
    }
    let estimates = project.estimates()?;
    let mut rows = vec![vec!["class".to_string(), "items".to_string()]];
    rows.extend(
        predicted
            .iter()
            .map(|(name, count)| vec![name.clone(), count.to_string()]),
    );
    let words = estimates.as_ref().map_or(String::new(), in_words);
    let mut text = format!("{}\n{words}\n", table(&rows));
    let part = Part {
        offset: 0,
        limit: MAX_SUSPECTS,
        search: String::new(),
    };
    let suspects = project.suspects(&part)?;
    if suspects.total > 0 {
        let total = count(suspects.total, "label is", "labels are");
        text.push_str(&format!("{total} contradicted by the others:\n"));
        for one in &suspects.rows {
            text.push_str(&format!("  {}\n", names.suspect(one)));
        }
    }
    args.out
        .iter()
        .for_each(|file| text.push_str(&format!("Wrote {}.\n", file.display())));
    let predicted: Map<String, Value> = predicted
        .into_iter()
        .map(|(name, count)| (name, json!(count)))
        .collect();
    let version = project.status()?.version;
    let suspects: Vec<Value> = suspects
        .rows
        .iter()
        .map(|one| names.suspect_json(one))
        .collect();
    let json = json!({
        "version": version,
        "predicted": predicted,
        "estimates": estimates,
        "suspects": suspects,
        "file": args.out,
    });
    output.result(&text, &json);
    Ok(())
}

fn items_in_words(items: &[Value]) -> String {
    let header = ["item", "class", "probability", "evidence", ""]
        .map(String::from)
        .to_vec();
    let row = |item: &Value| {
        let (text, belief) = (
            |value: &Value| value.as_str().unwrap_or_default().to_string(),
            &item["belief"],
        );
        let class = text(&belief["class"]);
        let number = |value: &Value| {
            value
                .as_f64()
                .map_or(String::new(), |number| format!("{number:.3}"))
        };
        let reached = if belief["reached"] == false {
            "no label reaches it"
        } else {
            ""
        };
        let probability = number(&belief["probabilities"][&class]);
        vec![
            text(&item["id"]),
            class,
            probability,
            number(&belief["evidence"]),
            reached.into(),
        ]
    };
    table(
        &std::iter::once(header)
            .chain(items.iter().map(row))
            .collect::<Vec<_>>(),
    )
}
