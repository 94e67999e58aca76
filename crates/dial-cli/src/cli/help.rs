//! What `--help` shows: the verbs in groups, the common options first, completions and manual pages.
//!
//! clap lists all verbs in one column and every option in both kinds of help. Here the verbs are
//! grouped by who needs them, `-h` shows the options that most people use, and `--help` all of them.

use std::fmt::Write;
use std::io;
use std::path::PathBuf;

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use dial_data::formats;
use serde_json::json;

use crate::cli::args::Cli;
use crate::ui::failure::Failure;
use crate::ui::output::Output;

/// The verbs in the order of the help.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Start here", &["label", "demo", "doctor", "simulate"]),
    (
        "Label from scripts",
        &[
            "new", "serve", "ask", "tell", "undo", "redo", "skip", "exclude", "class", "weight",
            "resolve",
        ],
    ),
    (
        "Results and projects",
        &[
            "status", "predict", "log", "export", "import", "backup", "restore", "pool",
        ],
    ),
    (
        "Graphs and research",
        &["graph", "propagate", "generate", "lab"],
    ),
    ("Shell", &["completions", "man", "help"]),
];

const EXAMPLES: &str = "\
Examples:
  dial label photos/ --classes cat,dog     label pictures in the browser
  dial label builtin:digits                try it on built-in data
  dial doctor embeddings.npy               is this pool fit for labelling?
  dial export photos.dial --out out.csv    labels and predictions of every item

dial VERB -h lists the common options of a verb, dial VERB --help all of them.";

fn details() -> String {
    let files = formats(&["ENVI", "txt"]);
    format!(
        "\
POOL is a file ({files}),
  a folder of pictures or texts, or a built-in pool (builtin:moons:500 has 500 items):
  builtin:digits  texts  scene  moons  blobs  circles  mixture-1d

Exit codes: 0 done, 2 usage, 3 bad input, 4 numeric, 5 storage, 6 conflict,
  7 resources, 8 permission, 70 a bug in DiAL."
    )
}

/// A verb with at most so many options shows all of them in its short help.
const FEW_OPTIONS: usize = 15;

/// The options that the short help of the other verbs shows.
const COMMON: [&str; 19] = [
    "pool",
    "features",
    "labels",
    "label_column",
    "k",
    "metric",
    "precision",
    "acquisition",
    "policy",
    "queries",
    "trials",
    "seed",
    "out",
    "plot",
    "project",
    "classes",
    "with_labels",
    "port",
    "json",
];

/// The command with its help.
pub fn command() -> Command {
    let plain = Cli::command();
    let template = format!(
        "{{about}}\n\nUsage: dial [OPTIONS] <VERB>\n{}\nOptions:\n{{options}}{{after-help}}",
        listing(&plain)
    );
    short(plain)
        .help_template(template)
        .after_help(EXAMPLES)
        .after_long_help(format!("{EXAMPLES}\n\n{}", details()))
}

/// The groups of verbs with what each verb does.
fn listing(command: &Command) -> String {
    let mut text = String::new();
    for (title, verbs) in GROUPS {
        let _ = write!(text, "\n{title}:\n");
        for verb in verbs {
            let about = match (*verb, command.find_subcommand(verb)) {
                ("help", _) => "Explain a verb".to_string(),
                (_, Some(found)) => found
                    .get_about()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
                (_, None) => continue,
            };
            let _ = writeln!(text, "  {verb:<12} {about}");
        }
    }
    text
}

/// Verbs with many options show the common ones in their short help.
fn short(command: Command) -> Command {
    command.mut_subcommands(|verb| {
        if verb.has_subcommands() {
            return short(verb);
        }
        if verb.get_arguments().count() <= FEW_OPTIONS {
            return verb;
        }
        verb.mut_args(|option| {
            let common = COMMON.contains(&option.get_id().as_str());
            option.hide_short_help(!common)
        })
    })
}

/// `dial completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dial completions bash > ~/.local/share/bash-completion/completions/dial
  dial completions zsh > ~/.zfunc/_dial
  dial completions fish > ~/.config/fish/completions/dial.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// `dial man`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dial man --out ~/.local/share/man/man1")]
pub struct Man {
    /// Folder for the pages, one for each verb
    #[arg(long, value_name = "FOLDER")]
    pub out: PathBuf,
}

/// Prints a completion script.
pub fn completions(args: &Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "dial", &mut script);
    match io::Write::write_all(&mut io::stdout().lock(), &script) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::storage(format!("stdout: {error}.")))
        }
        _ => Ok(()),
    }
}

/// Writes the manual pages.
pub fn man(args: &Man, output: &Output) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        let folder = args.out.display();
        Failure::storage(format!("{folder}: {error}. Choose another --out."))
    };
    std::fs::create_dir_all(&args.out).map_err(failed)?;
    clap_mangen::generate_to(command(), &args.out).map_err(failed)?;
    let folder = args.out.display().to_string();
    output.result(
        &format!("The manual pages are in {folder}.\n"),
        &json!({ "folder": folder }),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_verb_is_listed_once() {
        let plain = Cli::command();
        let mut verbs: Vec<&str> = plain.get_subcommands().map(Command::get_name).collect();
        verbs.push("help");
        let mut listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, verbs)| *verbs)
            .copied()
            .collect();
        listed.retain(|verb| cfg!(feature = "research") || *verb != "lab");
        verbs.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, verbs);
    }

    #[test]
    fn the_command_is_well_formed_and_short_help_is_short() {
        command().debug_assert();
        for verb in command()
            .get_subcommands()
            .filter(|verb| !verb.has_subcommands())
        {
            let shown = |option: &&clap::Arg| !option.is_hide_short_help_set();
            let count = verb.get_arguments().filter(shown).count();
            assert!(count <= FEW_OPTIONS, "{}: {count}", verb.get_name());
        }
    }

    #[test]
    fn completions_know_verbs_and_options() {
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut command(), "dial", &mut script);
            let script = String::from_utf8(script).expect("text");
            assert!(
                script.contains("simulate") && script.contains("acquisition"),
                "{shell}"
            );
        }
    }
}
