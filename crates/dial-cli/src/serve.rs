//! `dial serve` and `dial label`: the labelling page and the interface of a project, on this machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use dial_server::{Server, Settings, check_host};
use dial_store::{ENDING, Project};
use serde_json::json;

use crate::belief;
use crate::client::Client;
use crate::failure::Failure;
use crate::new::{self, New};
use crate::output::Output;
use crate::project::{ProjectArgs, folder, now};

/// Where to listen.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Server")]
pub struct Listen {
    /// The port [default: a free one]
    #[arg(long, value_name = "P", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// The address: 127.0.0.1, localhost or ::1
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    pub host: String,
}

/// `dial serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial serve photos.dial --port 8000

Prints a link that signs in one browser. Scripts find address and token in photos.dial/server.json, and the other verbs of
dial use the server while it runs. The interface is described in docs/api.md.")]
pub struct Serve {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub project: ProjectArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub listen: Listen,
}

/// `dial label`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dial label photos/ --classes cat,dog     makes photos.dial, or goes on with it
  dial label photos.dial                   goes on with a project
  dial label builtin:digits")]
pub struct Label {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub new: New,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub listen: Listen,
    /// Only print the link
    #[arg(long)]
    pub no_browser: bool,
}

/// Runs `dial serve`.
pub fn serve(args: &Serve, threads: Option<usize>, output: &Output) -> Result<(), Failure> {
    check(&args.listen)?;
    let project = Project::open(&folder(&args.project.project), args.project.journal, now())?;
    run(project, &args.listen, threads, false, output)
}

/// Runs `dial label`.
pub fn label(args: &Label, threads: Option<usize>, output: &Output) -> Result<(), Failure> {
    check(&args.listen)?;
    let browser = !args.no_browser && !output.json;
    let typed = folder(Path::new(&args.new.pool.pool));
    if typed.join("project.db").is_file() {
        return go_on(&typed, args, threads, browser, output);
    }
    let place =
        args.new.project.clone().unwrap_or_else(|| PathBuf::from(format!("{}{ENDING}", name(&args.new.pool.pool))));
    let place = folder(&place);
    if place.join("project.db").is_file() {
        return go_on(&place, args, threads, browser, output);
    }
    let project = new::make_project(&args.new, output)?;
    run(project, &args.listen, threads, browser, output)
}

/// Goes on with a project: in a server that has it, or in one of our own.
fn go_on(place: &Path, args: &Label, threads: Option<usize>, browser: bool, output: &Output) -> Result<(), Failure> {
    if let Some(client) = Client::find(&dial_store::Folder(place.to_path_buf())) {
        let link = client.link()?;
        say(&link, output, "The server that has the project is used.");
        if browser {
            open_browser(&link);
        }
        return Ok(());
    }
    let project = Project::open(place, args.new.journal, now())?;
    let pool = &args.new.pool.pool;
    let same = |known: &str| known == pool || std::path::absolute(pool).is_ok_and(|path| path == Path::new(known));
    let known = project.log().recipe().map(|recipe| recipe.pool.clone()).unwrap_or_default();
    if folder(Path::new(pool)) != place && !same(&known) {
        let text = format!("{}: is a project of another pool ({known}). Nothing was changed.", place.display());
        return Err(Failure::settings(format!(
            "{text} Choose another --project, or go on with it: dial label {}.",
            place.display()
        )));
    }
    if !args.new.classes.is_empty() {
        output.note("note: the project is there already; --classes is for new ones. Add classes on the page, or with dial class.");
    }
    run(project, &args.listen, threads, browser, output)
}

/// The name of a pool as its project gets it.
fn name(pool: &str) -> String {
    match pool.strip_prefix("builtin:") {
        Some(rest) => rest.split(':').next().unwrap_or(rest).to_string(),
        None => Path::new(pool).file_stem().map_or_else(|| "pool".into(), |stem| stem.to_string_lossy().into_owned()),
    }
}

/// The address that was typed, if it may be listened on.
fn check(listen: &Listen) -> Result<std::net::IpAddr, Failure> {
    check_host(&listen.host).map_err(Failure::permission)
}

/// Serves until the end.
fn run(
    mut project: Project,
    listen: &Listen,
    threads: Option<usize>,
    browser: bool,
    output: &Output,
) -> Result<(), Failure> {
    if let Err(error) = project.backup_if_due(now()) {
        output.note(&format!("warn[{}]: no backup of today: {error}", error.code()));
    }
    let material = belief::material(&mut project, output)?;
    let server = Server::start(
        project,
        material,
        &Settings { host: check(listen)?, port: listen.port, threads, ..Settings::default() },
    )?;
    let link = server.link()?;
    say(&link, output, "Ctrl-C ends it. What is saved stays saved, whenever it ends.");
    if browser {
        open_browser(&link);
    }
    Ok(server.run(std::future::pending())?)
}

fn say(link: &str, output: &Output, rest: &str) {
    let text = format!("Open this link to label; it is good once:\n\n  {link}\n\n{rest}\n");
    output.result(&text, &json!({ "link": link, "pid": std::process::id() }));
}

/// Opens the browser of the user; where there is none, the link is printed.
fn open_browser(link: &str) {
    let (program, first): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ => ("xdg-open", &[]),
    };
    let quiet = || Stdio::null();
    let _ = Command::new(program).args(first).arg(link).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
}
