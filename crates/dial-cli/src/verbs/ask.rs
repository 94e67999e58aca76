//! `dial ask`: which items to label next. Nothing is changed, so asking again gives the same; a server leases them.

use clap::Args;
use dial_server::http::wire::Next;
use serde_json::{Value, json};

use crate::cli::args::positive;
use crate::plan::project::ProjectArgs;
use crate::ui::failure::Failure;
use crate::ui::names::Names;
use crate::ui::output::Output;

/// `dial ask`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example, a loop in a shell (answer is your own command, which prints a class):
  dial ask photos.dial --count 1
  while item=$(dial ask photos.dial --quiet); do
      dial tell photos.dial \"$item\" \"$(answer \"$item\")\" || break
  done

Prints one id a line; --json has the score, the belief and the reason of each. Exit code 9 (N11) when \
nothing is left to ask; 10 (C14) while others are answering all open items of a server: ask again later.")]
pub struct Ask {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// Number of items to print; together they are chosen so that no two would teach the same
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = positive)]
    pub count: usize,
    /// The annotator who will answer: a server reserves the items for them, and no item is asked twice of one annotator
    #[arg(long, value_name = "NAME", default_value = "")]
    pub annotator: String,
}

/// Runs the command.
pub fn run(args: &Ask, output: &Output) -> Result<(), Failure> {
    let mut project = args.project.handle(output)?;
    let (annotator, except) = (args.annotator.clone(), Vec::new());
    let asked = project.next(&Next {
        annotator,
        count: args.count,
        except,
    })?;
    let names = Names::of(&project.status()?);
    let questions: Vec<Value> = asked
        .items
        .iter()
        .map(|view| names.question(view))
        .collect();
    let text: String = asked
        .items
        .iter()
        .map(|view| format!("{}\n", view.id))
        .collect();
    output.result(
        &text,
        &json!({ "version": asked.version, "questions": questions }),
    );
    Ok(())
}
