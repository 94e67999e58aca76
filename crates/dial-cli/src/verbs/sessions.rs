//! `dial sessions`: the browsers that are signed in to a project, and signing them out.

use clap::Args;
use dial_server::http::wire::SessionRow;
use dial_store::time::in_words;
use serde_json::json;

use crate::plan::project::ProjectArgs;
use crate::ui::failure::Failure;
use crate::ui::output::Output;

/// `dial sessions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dial sessions photos.dial                lists the browsers that are signed in
  dial sessions photos.dial --end 3f09     ends the session whose name begins so
  dial sessions photos.dial --end-all

A session ends by itself after 12 hours without use, and after 7 days. Answers that a browser could not save stay in it.")]
pub struct SessionsArgs {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// Sign out the browser of this session; the first characters of its name are enough
    #[arg(long, value_name = "NAME")]
    pub end: Vec<String>,
    /// Sign out all browsers
    #[arg(long, conflicts_with = "end")]
    pub end_all: bool,
}

/// Runs the command.
pub fn run(args: &SessionsArgs, output: &Output) -> Result<(), Failure> {
    let mut project = args.project.handle(output)?;
    let mut sessions = project.sessions()?;
    let ending: Vec<String> = match args.end_all {
        true => sessions.iter().map(|one| one.id.clone()).collect(),
        false => (args.end.iter())
            .map(|name| named(&sessions, name))
            .collect::<Result<_, _>>()?,
    };
    if !ending.is_empty() {
        sessions = project.end_sessions(&ending)?;
    }
    let line = |one: &SessionRow| {
        let (used, made) = (in_words(one.used), in_words(one.made));
        let name = one.id.get(..8).unwrap_or(&one.id);
        format!("  {name}  used {used}, signed in {made}  {}\n", one.browser)
    };
    let mut text = match ending.len() {
        0 => String::new(),
        1 => "1 session ended.\n".into(),
        many => format!("{many} sessions ended.\n"),
    };
    text.push_str(match sessions.is_empty() {
        true => "No browser is signed in.\n",
        false => "Signed in:\n",
    });
    text.extend(sessions.iter().map(line));
    output.result(&text, &json!({ "ended": ending, "sessions": sessions }));
    Ok(())
}

/// The session whose name begins so.
fn named(sessions: &[SessionRow], name: &str) -> Result<String, Failure> {
    let mut found = sessions
        .iter()
        .filter(|one| !name.is_empty() && one.id.starts_with(name));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one.id.clone()),
        (first, _) => {
            let how_many = if first.is_some() {
                "several sessions begin"
            } else {
                "no session begins"
            };
            let text =
                format!("{how_many} with {name:?}. Nothing was ended. List them without --end.");
            Err(Failure::input("I12", text))
        }
    }
}
