//! `dial recover`: what can still be read of a project that is refused as damaged.

use std::path::{Path, PathBuf};

use clap::Args;
use dial_store::{Recovered, as_typed, recover};
use serde_json::json;

use crate::plan::project::{folder, now};
use crate::ui::failure::Failure;
use crate::ui::output::{Output, count};

/// `dial recover`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dial recover photos.dial                    shows what can be read, and changes nothing
  dial recover photos.dial --accept-loss      makes a project from it

A backup may hold more: compare before you accept. The damaged folder is kept whole under another name.")]
pub struct Recover {
    /// The folder of the project, NAME.dial
    #[arg(value_name = "PROJECT")]
    pub project: PathBuf,
    /// Make a project from what can be read, and lose the rest
    #[arg(long)]
    pub accept_loss: bool,
}

/// Runs the command.
pub fn run(args: &Recover, output: &Output) -> Result<(), Failure> {
    let place = folder(&args.project);
    let recovered = recover(&place, args.accept_loss, now())?;
    let text = in_words(&recovered, &place.display().to_string());
    output.result(&text, &json!(recovered));
    Ok(())
}

fn in_words(recovered: &Recovered, project: &str) -> String {
    let typed = as_typed(Path::new(project));
    let events = count(recovered.events as usize, "event", "events");
    if let Some(aside) = &recovered.aside {
        return format!(
            "{project} goes on with {events}.\nThe damaged folder is kept as {}.\nNext: dial status {typed}\n",
            aside.display()
        );
    }
    let of = recovered
        .known
        .map_or(String::new(), |known| format!(" of {known}"));
    let backup = match &recovered.backup {
        Some((file, held)) => format!(
            "The newest backup holds {held}: dial restore {} --project {typed} --replace\n",
            as_typed(file)
        ),
        None => "There is no backup in the folder.\n".into(),
    };
    format!(
        "Of {project}, {}{of} events can be read. Nothing was changed.\n{backup}To go on with what can be read: dial recover {typed} --accept-loss\n",
        recovered.events
    )
}
