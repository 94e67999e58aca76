//! `dial serve` and `dial label`: the labelling page and the interface of a project, on this machine.

use std::path::{Path, PathBuf};

use clap::Args;
use dial_server::{ProjectHandle, Server, Settings, check_host};
use dial_store::{ENDING, Project};
use serde_json::json;

use crate::plan::project::{ProjectArgs, folder, is_project, now, open, served};
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

Prints a link that signs in one browser. Scripts find address and token in photos.dial/server.json, and the other verbs of
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
  dial label photos/ --classes cat,dog     makes photos.dial, or goes on with it
  dial label photos.dial                   goes on with a project
  dial label builtin:digits")]
pub struct Label {
    #[command(flatten)]
    pub new: New,
    #[command(flatten)]
    pub listen: Listen,
    /// Only print the link
    #[arg(long)]
    pub no_browser: bool,
}

/// Runs `dial serve`.
pub fn serve(args: &Serve, threads: Option<usize>, output: &Output) -> Result<(), Failure> {
    check(&args.listen)?;
    let project = open(&folder(&args.project.project), args.project.journal)?;
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
        return go_on(&named, None, args, threads, browser, output);
    }
    if named.is_dir() && named.to_string_lossy().ends_with(ENDING) && named == typed {
        return open(&named, args.new.journal)
            .and_then(|project| run(project, &args.listen, threads, browser, output));
    }
    let place =
        args.new.project.clone().unwrap_or_else(|| {
            PathBuf::from(format!("{}{ENDING}", name(&args.new.engine.pool.pool)))
        });
    let place = folder(&place);
    if is_project(&place) {
        return go_on(
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

/// Goes on with a project, which must be of this pool: in a server that has it, or in one of our own.
fn go_on(
    place: &Path,
    pool: Option<&str>,
    args: &Label,
    threads: Option<usize>,
    browser: bool,
    output: &Output,
) -> Result<(), Failure> {
    if let Some(mut client) = served(&dial_store::Folder(place.to_path_buf()), output)? {
        check_pool(&client.status()?.pool, pool, place)?;
        let link = client.link()?;
        say(&link, output, "The server that has the project is used.");
        open_browser(browser, &link, output);
        return Ok(());
    }
    let project = open(place, args.new.journal)?;
    check_pool(
        project.log().recipe().map_or("", |recipe| &recipe.pool),
        pool,
        place,
    )?;
    if !args.new.classes.is_empty() {
        output.note("note: the project is there already; --classes is for new ones. Add classes on the page, or with dial class.");
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
                format!("{place}: is a project of another pool ({known}). Nothing was changed.");
            let next = format!("Choose another --project, or go on with it: dial label {place}.");
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
    let (material, notes) = project.material(&output.control(), now())?;
    notes
        .iter()
        .for_each(|note| output.note(&format!("note: {note}")));
    let server = Server::start(
        project,
        material,
        &Settings {
            host: check(listen)?,
            port: listen.port,
            threads,
            ..Settings::default()
        },
    )?;
    let link = server.link()?;
    say(
        &link,
        output,
        "Ctrl-C ends it. What is saved stays saved, whenever it ends.",
    );
    open_browser(browser, &link, output);
    Ok(server.run(std::future::pending())?)
}

fn say(link: &str, output: &Output, rest: &str) {
    let text = format!("Open this link to label; it is good once:\n\n  {link}\n\n{rest}\n");
    output.result(&text, &json!({ "link": link, "pid": std::process::id() }));
}

/// Opens the browser of the user, if that is wanted; where there is none, the link was printed.
fn open_browser(wanted: bool, link: &str, output: &Output) {
    if wanted && let Err(error) = opener::open_browser(link) {
        output.note(&format!("note: no browser was opened ({error})."));
    }
}
