//! `dial serve` and `dial label`: the labelling page and the interface of a project, on this machine.

use std::path::{Path, PathBuf};

use clap::Args;
use dial_server::{ProjectHandle, Server, ServerOptions, check_host};
use dial_store::{PROJECT_ENDING, Project};
use serde_json::json;

use crate::plan::project::{ProjectArgs, Taken, folder, is_project, now, open, take};
use crate::ui::browser;
use crate::ui::failure::Failure;
use crate::ui::output::Output;
use crate::verbs::new::{self, New};

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

Prints a link that signs in one browser. Scripts find address and token in photos.dial/server.json, and the other verbs of \
dial use the server while it runs. The interface is described in docs/api.md.")]
pub struct Serve {
    #[command(flatten)]
    pub project: ProjectArgs,
    #[command(flatten)]
    pub listen: Listen,
}

/// `dial label`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dial label photos/ --classes cat,dog     create photos.dial, or continue it
  dial label photos.dial                   continue a project
  dial label builtin:digits")]
pub struct Label {
    #[command(flatten)]
    pub new: New,
    #[command(flatten)]
    pub listen: Listen,
    /// Print the link and do not open a browser
    #[arg(long, help_heading = "Server")]
    pub no_browser: bool,
}

/// Runs `dial serve`.
pub fn serve(args: &Serve, threads: Option<usize>, output: &Output) -> Result<(), Failure> {
    check(&args.listen)?;
    let project = args.project.open(output)?;
    run(project, &args.listen, threads, false, output)
}

/// Runs `dial label`.
pub fn label(args: &Label, threads: Option<usize>, output: &Output) -> Result<(), Failure> {
    check(&args.listen)?;
    let browser = !args.no_browser && !output.json;
    let typed = Path::new(&args.new.engine.pool.pool);
    let named = folder(typed);
    // A project by its name, with or without the ending; anything else that is there is a pool.
    if is_project(&named) && (named == typed || !typed.exists()) {
        return resume(&named, None, args, threads, browser, output);
    }
    if named.is_dir() && named.to_string_lossy().ends_with(PROJECT_ENDING) && named == typed {
        return open(&named, args.new.journal, output)
            .and_then(|project| run(project, &args.listen, threads, browser, output));
    }
    let place = args.new.project.clone().unwrap_or_else(|| {
        PathBuf::from(format!(
            "{}{PROJECT_ENDING}",
            name(&args.new.engine.pool.pool)
        ))
    });
    let place = folder(&place);
    if is_project(&place) {
        return resume(
            &place,
            Some(&args.new.engine.pool.pool),
            args,
            threads,
            browser,
            output,
        );
    }
    let project = new::make_project(&args.new, output)?;
    run(project, &args.listen, threads, browser, output)
}

/// Continues a project, which must be of this pool: in a running server that has it, or in a new one.
fn resume(
    place: &Path,
    pool: Option<&str>,
    args: &Label,
    threads: Option<usize>,
    browser: bool,
    output: &Output,
) -> Result<(), Failure> {
    let project = match take(place, args.new.journal, output)? {
        Taken::Here(project) => *project,
        Taken::Served(mut client) => {
            check_pool(&client.status()?.pool, pool, place)?;
            let said = "The server that has the project open is used.";
            say(&client.link()?, output, said);
            open_browser(
                browser,
                || client.launch_file().map_err(|problem| problem.detail),
                output,
            );
            return Ok(());
        }
    };
    check_pool(
        project.log().recipe().map_or("", |recipe| &recipe.pool),
        pool,
        place,
    )?;
    if !args.new.classes.is_empty() {
        output.note("note: the project exists already, and --classes only applies to new projects. Add classes on the page, or with dial class.");
    }
    run(project, &args.listen, threads, browser, output)
}

/// Refuses a project of another pool than the one that was typed, if one was.
fn check_pool(known: &str, typed: Option<&str>, place: &Path) -> Result<(), Failure> {
    let same = |pool: &str| {
        known == pool || std::path::absolute(pool).is_ok_and(|path| path == Path::new(known))
    };
    match typed.filter(|pool| !same(pool)) {
        None => Ok(()),
        Some(pool) => {
            let place = place.display();
            let text =
                format!("{place} is a project of another pool ({known}). Nothing was changed.");
            let next =
                format!("Choose another --project, or continue this one: dial label {place}.");
            Err(Failure::settings(format!(
                "{text} {next} If its pool has moved: dial pool {place} {pool}."
            )))
        }
    }
}

/// The name of a pool as its project gets it.
fn name(pool: &str) -> String {
    match pool.strip_prefix("builtin:") {
        Some(rest) => rest.split(':').next().unwrap_or(rest).to_string(),
        None => Path::new(pool)
            .file_stem()
            .map_or_else(|| "pool".into(), |stem| stem.to_string_lossy().into_owned()),
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
        output.note(&format!(
            "warn[{}]: no backup of today: {error}",
            error.code()
        ));
    }
    let (prepared, notes) = project.prepared(&output.control(), now())?;
    notes
        .iter()
        .for_each(|note| output.note(&format!("note: {note}")));
    let server = Server::start(
        project,
        prepared,
        &ServerOptions {
            host: check(listen)?,
            port: listen.port,
            threads,
            ..ServerOptions::default()
        },
    )?;
    let link = server.link()?;
    say(
        &link,
        output,
        "Ctrl-C stops the server. Saved answers are safe at any time.",
    );
    open_browser(
        browser,
        || server.launch_file().map_err(|error| error.to_string()),
        output,
    );
    Ok(server.run(std::future::pending())?)
}

fn say(link: &str, output: &Output, rest: &str) {
    let text =
        format!("Open this link to label; it works once, for 15 minutes:\n\n  {link}\n\n{rest}\n");
    output.result(&text, &json!({ "link": link, "pid": std::process::id() }));
}

/// Opens the browser of the user, if that is wanted, on a file that leads to a link of its own; where there is no browser,
/// a link was printed.
fn open_browser(wanted: bool, file: impl FnOnce() -> Result<PathBuf, String>, output: &Output) {
    if !wanted {
        return;
    }
    let opened = file().and_then(|file| browser::open(&file));
    if let Err(why) = opened {
        output.note(&format!("note: no browser was opened ({why})."));
    }
}
