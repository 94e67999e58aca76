//! `dial predict`: what is believed about items, or about all of them in short.

use std::path::PathBuf;

use clap::Args;
use dial_store::Project;
use serde_json::{Value, json};

use crate::belief;
use crate::exchange;
use crate::failure::Failure;
use crate::output::{Output, table};
use crate::project::{Access, ProjectArgs};

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
    let format = args.out.as_deref().map(|file| exchange::format(file, None)).transpose()?;
    let mut project = match args.project.access()? {
        Access::Own(project) => project,
        Access::Server(client) => {
            if let (Some(file), Some(format)) = (&args.out, format) {
                exchange::write(file, &client.export(format, false)?)?;
            }
            let items: Vec<Value> = args.item.iter().map(|id| client.item(id)).collect::<Result<_, _>>()?;
            let json = match items.is_empty() {
                true => client.estimates()?,
                false => json!({ "items": items }),
            };
            output.print(&format!("{json:#}\n"));
            return Ok(());
        }
    };
    args.out.as_deref().map_or(Ok(()), |file| exchange::check_target(file, &project))?;
    let believed = belief::open(&mut project, output)?;
    let view = belief::view(&mut project, &believed, output)?;
    if let (Some(file), Some(format)) = (&args.out, format) {
        exchange::export(&project, &believed.material, Some(&view)).save(file, format)?;
    }
    match args.item.is_empty() {
        true => summary(&mut project, &view, args.out.as_ref(), output),
        false => items(&project, &believed, &view, &args.item, output)?,
    }
    Ok(())
}

fn items(
    project: &Project,
    believed: &belief::Believed,
    view: &dial::View<'_>,
    wanted: &[String],
    output: &Output,
) -> Result<(), Failure> {
    let (mut rows, mut found) = (Vec::new(), Vec::new());
    for id in wanted {
        let prediction = view.prediction(believed.session.items().node(id)?);
        let labels: Vec<Value> = (project.log().labels().labels_of(id))
            .map(|(who, classes)| json!({ "annotator": who, "label": project.log().label_in_words(classes) }))
            .collect();
        let place = view.classes().iter().position(|class| *class == prediction.class).unwrap_or(0);
        rows.push(vec![
            id.clone(),
            project.log().class_name(prediction.class).to_string(),
            format!("{:.3}", prediction.probabilities[place]),
            format!("{:.3}", prediction.evidence),
            if prediction.reached { String::new() } else { "no label reaches it".into() },
        ]);
        let belief = belief::belief(project, &prediction, view.classes());
        found.push(json!({ "id": id, "labels": labels, "belief": belief }));
    }
    let header = ["item", "class", "probability", "evidence", ""].map(String::from).to_vec();
    rows.insert(0, header);
    output.result(&table(&rows), &json!({ "version": project.log().version(), "items": found }));
    Ok(())
}

fn summary(project: &mut Project, view: &dial::View<'_>, file: Option<&PathBuf>, output: &Output) {
    let estimates = belief::last_estimates(project);
    let mut counts = vec![0usize; view.classes().len()];
    for node in (0..view.n() as u32).map(dial::NodeId) {
        let class = view.class(node);
        view.classes().iter().position(|other| *other == class).into_iter().for_each(|place| counts[place] += 1);
    }
    let name = |class: &dial::ClassId| project.log().class_name(*class).to_string();
    let mut rows = vec![vec!["class".to_string(), "items".to_string()]];
    rows.extend(view.classes().iter().zip(&counts).map(|(class, count)| vec![name(class), count.to_string()]));
    let mut text = table(&rows);
    text.push_str(&format!("\n{}\n", belief::in_words(&estimates)));
    file.iter().for_each(|file| text.push_str(&format!("Wrote {}.\n", file.display())));
    let predicted: serde_json::Map<String, Value> =
        view.classes().iter().zip(&counts).map(|(class, count)| (name(class), json!(count))).collect();
    let json =
        json!({ "version": project.log().version(), "predicted": predicted, "estimates": estimates, "file": file });
    output.result(&text, &json);
}
