//! `dial ask`: which items to label next. Nothing is changed, so asking again gives the same; a server leases them.

use clap::Args;
use dial_store::why;
use serde_json::{Value, json};

use crate::args::positive;
use crate::belief;
use crate::failure::Failure;
use crate::output::Output;
use crate::project::{Access, ProjectArgs};
use crate::served::Names;

/// `dial ask`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example, a loop in a shell (answer is your own command, which prints a class):
  dial ask photos.dial --count 1
  while item=$(dial ask photos.dial --quiet); do
      dial tell photos.dial \"$item\" \"$(answer \"$item\")\" || break
  done

Prints one id a line; --json has the score, the belief and the reason of each. Exit code 6 (N11) when
nothing is left to ask.")]
pub struct Ask {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub project: ProjectArgs,
    /// How many items; a batch is chosen so that its items tell different things
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = positive)]
    pub count: usize,
    /// Who will answer; matters only while a server runs, which leases items
    #[arg(long, value_name = "NAME", default_value = "")]
    pub annotator: String,
}

/// Runs the command.
pub fn run(args: &Ask, output: &Output) -> Result<(), Failure> {
    let (ids, json) = match args.project.access()? {
        Access::Own(mut project) => {
            let believed = belief::open(&mut project, output)?;
            let asked = believed.session.ask(args.count)?;
            if asked.crowded > 0 {
                output.note(&format!(
                    "note: {} of the items neighbour others, for want of more.",
                    asked.crowded
                ));
            }
            let question = |question: &dial::Question| {
                let prediction = believed.session.prediction(question.node);
                json!({
                    "id": question.item,
                    "node": question.node.0,
                    "score": question.score,
                    "why": why(project.log(), &prediction, believed.session.classes()),
                    "belief": belief::belief(&project, &prediction, believed.session.classes()),
                })
            };
            let questions: Vec<Value> = asked.questions.iter().map(question).collect();
            let ids: Vec<String> = asked
                .questions
                .iter()
                .map(|question| question.item.clone())
                .collect();
            (
                ids,
                json!({ "version": project.log().version(), "questions": questions }),
            )
        }
        Access::Server(client) => {
            let names = Names(client.ready(output)?);
            let (items, version) = client.next(&args.annotator, args.count)?;
            let ids: Vec<String> = items
                .iter()
                .filter_map(|item| item["id"].as_str())
                .map(String::from)
                .collect();
            if ids.is_empty() {
                return Err(dial::Error::NothingToAsk.into());
            }
            let questions: Vec<Value> = items.iter().map(|card| names.question(card)).collect();
            (ids, json!({ "version": version, "questions": questions }))
        }
    };
    let text: String = ids.iter().map(|id| format!("{id}\n")).collect();
    output.result(&text, &json);
    Ok(())
}
