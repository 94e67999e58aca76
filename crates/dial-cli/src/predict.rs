//! `dial predict`: what is believed about items, or about all of them in short.

use std::path::PathBuf;

use clap::Args;
use dial_store::{Format, Project};
use serde_json::{Map, Value, json};

use crate::belief;
use crate::client::Client;
use crate::exchange;
use crate::failure::Failure;
use crate::output::{Output, table};
use crate::project::{Access, ProjectArgs};
use crate::served::Names;

/// `dial predict`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial predict photos.dial --item cat17.jpg --item cat18.jpg
  dial predict photos.dial --out beliefs.parquet")]
pub struct Predict {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub project: ProjectArgs,
    /// An item, by id; may be repeated [default: a summary of all]
    #[arg(long, value_name = "ID")]
    pub item: Vec<String>,
    /// Everything about every item as .csv, .jsonl, .npz or .parquet, as dial export does
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Predict, output: &Output) -> Result<(), Failure> {
    let format = args
        .out
        .as_deref()
        .map(|file| exchange::format(file, None))
        .transpose()?;
    let mut access = args.project.access()?;
    if let Some(file) = &args.out {
        exchange::check_target(file, &access, &args.project.folder())?;
    }
    let found = match &mut access {
        Access::Own(project) => own(project, args, format, output)?,
        Access::Server(client) => served(client, args, format, output)?,
    };
    let version = access.version()?;
    match found {
        Found::Items(items) => {
            output.result(
                &items_in_words(&items),
                &json!({ "version": version, "items": items }),
            );
        }
        Found::Summary(predicted, estimates) => {
            let mut rows = vec![vec!["class".to_string(), "items".to_string()]];
            rows.extend(
                predicted
                    .iter()
                    .map(|(name, count)| vec![name.clone(), count.to_string()]),
            );
            let mut text = format!("{}\n{}\n", table(&rows), belief::in_words(&estimates));
            args.out
                .iter()
                .for_each(|file| text.push_str(&format!("Wrote {}.\n", file.display())));
            let predicted: Map<String, Value> = predicted
                .into_iter()
                .map(|(name, count)| (name, json!(count)))
                .collect();
            let json = json!({ "version": version, "predicted": predicted, "estimates": estimates, "file": args.out });
            output.result(&text, &json);
        }
    }
    Ok(())
}

/// What is believed: about some items, or how many are of each class, and the estimates.
enum Found {
    Items(Vec<Value>),
    Summary(Vec<(String, u64)>, Value),
}

/// By a project in our hands.
fn own(
    project: &mut Project,
    args: &Predict,
    format: Option<Format>,
    output: &Output,
) -> Result<Found, Failure> {
    let believed = belief::open(project, output)?;
    let view = belief::view(project, &believed, output)?;
    if let (Some(file), Some(format)) = (&args.out, format) {
        exchange::export(project, &believed.material, Some(&view)).save(file, format)?;
    }
    if args.item.is_empty() {
        let mut counts = vec![0; view.classes().len()];
        for node in (0..view.n() as u32).map(dial::NodeId) {
            let class = view.class(node);
            view.classes()
                .iter()
                .position(|other| *other == class)
                .into_iter()
                .for_each(|place| counts[place] += 1);
        }
        let name = |class: &dial::ClassId| project.log().class_name(*class).to_string();
        let predicted = view.classes().iter().map(name).zip(counts).collect();
        return Ok(Found::Summary(predicted, belief::last_estimates(project)));
    }
    let item = |id: &String| {
        let prediction = view.prediction(believed.session.items().node(id)?);
        let labels: Vec<Value> = (project.log().labels().labels_of(id))
            .map(|(who, classes)| json!({ "annotator": who, "label": project.log().label_in_words(classes) }))
            .collect();
        let belief = belief::belief(project, &prediction, view.classes());
        Ok(json!({ "id": id, "labels": labels, "belief": belief }))
    };
    Ok(Found::Items(
        args.item.iter().map(item).collect::<Result<_, Failure>>()?,
    ))
}

/// By a server.
fn served(
    client: &Client,
    args: &Predict,
    format: Option<Format>,
    output: &Output,
) -> Result<Found, Failure> {
    let names = Names(client.ready(output)?);
    if let (Some(file), Some(format)) = (&args.out, format) {
        exchange::write(file, &client.export(format, false)?)?;
    }
    if args.item.is_empty() {
        let count =
            |(class, name): &(dial::ClassId, String)| Ok((name.clone(), client.believed(*class)?));
        let predicted = names.0.iter().map(count).collect::<Result<_, Failure>>()?;
        return Ok(Found::Summary(predicted, client.estimates()?));
    }
    let item = |id: &String| Ok(names.item(&client.item(id)?));
    Ok(Found::Items(
        args.item.iter().map(item).collect::<Result<_, Failure>>()?,
    ))
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
