//! What `--help` shows: the verbs in groups, the common options first, completions and manual pages.
//!
//! clap lists all verbs in one column and every option in both kinds of help. Here the verbs are
//! grouped by who needs them, `-h` shows the options that most people use, and `--help` all of them.

use std::fmt::Write;
use std::io;
use std::path::PathBuf;

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::roff::{Roff, bold, roman};
use dial_data::formats;
use serde_json::json;

use crate::cli::args::Cli;
use crate::ui::failure::Failure;
use crate::ui::output::Output;

/// The groups of the help, each with its first verb: verbs are listed in the order of [`Verb`](crate::cli::args::Verb).
const VERB_GROUPS: [(&str, &str); 5] = [
    ("Start here", "label"),
    ("Label from scripts", "new"),
    ("Results and projects", "status"),
    ("Graphs and research", "graph"),
    ("Shell", "completions"),
];

const HELP_EXAMPLES: &str = "\
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
  which gzip or zstd may have packed, a folder of pictures or texts, or a built-in pool (builtin:moons:500 has 500 items):
  builtin:digits  texts  scene  moons  blobs  circles  mixture-1d

Exit codes: 0 done, 2 usage, 3 bad input, 4 numeric, 5 storage, 6 conflict,
  7 resources, 8 permission, 9 nothing is left to do, 10 others are at all that is left,
  70 a bug in DiAL."
    )
}

/// Lines of the short help of a verb at most, on 100 columns.
#[cfg(test)]
const MAX_SHORT_HELP_LINES: usize = 40;

/// A verb with at most this many options shows all of them in its short help.
const FEW_OPTIONS: usize = 15;

/// The options that the short help of the other verbs shows.
const SHORT_HELP_OPTIONS: [&str; 18] = [
    "pool",
    "features",
    "embed",
    "labels",
    "label_column",
    "k",
    "metric",
    "acquisition",
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
        .after_help(HELP_EXAMPLES)
        .after_long_help(format!("{HELP_EXAMPLES}\n\n{}", details()))
}

/// The groups of verbs, with what each verb does.
fn groups(command: &Command) -> Vec<(&'static str, Vec<(String, String)>)> {
    let verbs = command.get_subcommands().map(|verb| {
        let about = verb.get_about().map(ToString::to_string);
        (verb.get_name().to_string(), about.unwrap_or_default())
    });
    let help = ("help".to_string(), "Explain a verb".to_string());
    let mut groups: Vec<(&str, Vec<(String, String)>)> = Vec::new();
    for (verb, about) in verbs.chain([help]) {
        if let Some((title, _)) = VERB_GROUPS.iter().find(|(_, first)| *first == verb) {
            groups.push((title, Vec::new()));
        }
        let (_, listed) = groups.last_mut().expect("the first verb begins a group");
        listed.push((verb, about));
    }
    groups
}

/// The groups of verbs as `--help` lists them.
fn listing(command: &Command) -> String {
    let mut text = String::new();
    for (title, verbs) in groups(command) {
        let _ = write!(text, "\n{title}:\n");
        for (verb, about) in verbs {
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
            let common = SHORT_HELP_OPTIONS.contains(&option.get_id().as_str());
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
    // The page of dial itself again, with the verbs in the groups of --help.
    std::fs::write(args.out.join("dial.1"), main_page().map_err(failed)?).map_err(failed)?;
    let folder = args.out.display().to_string();
    output.result(
        &format!("The manual pages are in {folder}.\n"),
        &json!({ "folder": folder }),
    );
    Ok(())
}

/// The manual page of `dial` itself.
fn main_page() -> io::Result<Vec<u8>> {
    let command = command();
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    let mut roff = Roff::new();
    for (title, verbs) in groups(&command) {
        roff.control("SH", [title.to_uppercase().as_str()]);
        for (verb, about) in verbs {
            roff.control("TP", []);
            roff.text([bold(format!("dial {verb}"))]);
            roff.text([roman(about)]);
        }
    }
    roff.to_writer(&mut text)?;
    page.render_options_section(&mut text)?;
    page.render_extra_section(&mut text)?;
    page.render_version_section(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use dial::config::{DEFAULT_K, HEAT_TIME};
    use dial::{Choices, Config};

    use super::*;

    /// The option of a choice, and its default in the words of the help.
    fn option_of(choice: &str) -> (&str, String) {
        let (auto, paper) = (Config::default(), Config::paper());
        let either = |with_auto: String, without: String| {
            assert_ne!(with_auto, without, "{choice}");
            format!("{with_auto} when asking by auto, else {without}")
        };
        match choice {
            "zero_vectors" => ("zero-vectors", auto.zero_vectors.to_string()),
            "k" => ("k", format!("{DEFAULT_K}, or fewer in a tiny pool")),
            "metric" => {
                let default = format!("cosine for spectra of a scene, else {}", auto.metric);
                ("metric", default)
            }
            "weights" => {
                let default = either(auto.weights_word().into(), paper.weights_word().into());
                ("weights", default)
            }
            "search" => ("search", auto.search.to_string()),
            "propagation" => ("propagation", auto.propagation.to_string()),
            "tau" => ("tau", either(auto.tau.to_string(), paper.tau.to_string())),
            "source_value" => ("source-value", auto.source_value.to_string()),
            "precision" => ("precision", auto.precision.to_string()),
            "tolerance" => ("tolerance", "half the prior, at most 0.001".into()),
            "acquisition" => {
                let (auto, paper) = (auto.acquisition, paper.acquisition);
                let default = format!(
                    "{auto}; {paper} in certified precision and without Poisson propagation"
                );
                ("acquisition", default)
            }
            "policy" => ("policy", auto.policy.to_string()),
            "sharpness" => ("lambda", auto.sharpness.to_string()),
            "prior" => ("prior", auto.prior.to_string()),
            "calibration" => {
                let default = either(auto.calibration.to_string(), paper.calibration.to_string());
                ("calibration", default)
            }
            "expected_clusters" => ("expected-clusters", "max(20, 2K)".into()),
            "seed" => ("seed", auto.seed.to_string()),
            _ => panic!("{choice}: say here what its option and its default are"),
        }
    }

    #[test]
    fn help_and_guide_state_the_defaults_of_the_configuration() {
        let guide = include_str!("../../../../docs/guide.md").replace("\\|", "/");
        let command = Cli::command();
        for verb in ["new", "simulate"] {
            let verb = command.find_subcommand(verb).expect("a verb");
            for choice in Choices::NAMES {
                let (name, default) = option_of(choice);
                let option = verb
                    .get_arguments()
                    .find(|arg| arg.get_long() == Some(name));
                let option = option.unwrap_or_else(|| panic!("{choice}: no option --{name}"));
                assert!(
                    option.get_default_values().is_empty(),
                    "--{name}: Choices::config fills in what was not typed"
                );
                let help = option.get_long_help().or(option.get_help());
                let help = help.expect("every option has a help").to_string();
                assert!(
                    help.ends_with(&format!("[default: {default}]")),
                    "--{name} [default: {default}]: {help}"
                );
            }
        }
        for choice in Choices::NAMES {
            let (name, default) = option_of(choice);
            let row = guide
                .lines()
                .find(|line| line.starts_with(&format!("| `--{name} ")));
            let row = row.unwrap_or_else(|| panic!("the guide has no row of --{name}"));
            let stated = row.split('|').nth(2).expect("a column").replace('`', "");
            assert_eq!(
                stated.trim(),
                default.replace("when asking by", "with"),
                "{row}"
            );
        }
        // The other choice that an option of its own states.
        let help = command.find_subcommand("new").and_then(|new| {
            let option = new
                .get_arguments()
                .find(|arg| arg.get_long() == Some("heat-time"));
            option?.get_help().map(ToString::to_string)
        });
        let time = format!("[default: {HEAT_TIME}]");
        assert!(help.is_some_and(|help| help.ends_with(&time)), "{time}");
    }

    #[test]
    fn every_verb_is_listed_in_a_group() {
        let text = listing(&Cli::command());
        assert!(text.starts_with("\nStart here:\n  label"), "{text}");
        for (title, first) in VERB_GROUPS {
            assert!(text.contains(&format!("\n{title}:\n  {first} ")), "{text}");
        }
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
        let mut whole = command().term_width(100);
        whole.build();
        for verb in whole.get_subcommands_mut() {
            let text = verb.render_help().to_string();
            let lines = text.lines().count();
            assert!(lines <= MAX_SHORT_HELP_LINES, "{lines} lines: {text}");
        }
    }

    #[test]
    fn an_argument_stands_under_its_own_heading() {
        let headings = [
            ("label", "pool", None),
            ("label", "features", Some("Pool")),
            ("label", "k", Some("Graph")),
            ("label", "acquisition", Some("Asking")),
            ("label", "project", Some("Project")),
            ("label", "classes", Some("Project")),
            ("label", "with_labels", Some("Project")),
            ("label", "journal", Some("Project")),
            ("label", "port", Some("Server")),
            ("label", "no_browser", Some("Server")),
            ("simulate", "trials", Some("Asking")),
            ("simulate", "out", Some("Results")),
            ("simulate", "plot", Some("Results")),
            ("simulate", "maps", Some("Results")),
            ("demo", "out", None),
            ("demo", "queries", None),
            ("graph", "out", None),
            ("doctor", "verify", None),
            ("propagate", "source", None),
            ("propagate", "out", None),
        ];
        let command = command();
        for (verb, name, heading) in headings {
            let arguments = command.find_subcommand(verb).expect("a verb");
            let argument = arguments
                .get_arguments()
                .find(|argument| argument.get_id() == name);
            let found = argument.expect("an argument").get_help_heading();
            assert_eq!(found, heading, "dial {verb}: {name}");
        }
    }

    #[test]
    fn the_manual_page_has_the_groups_of_the_help() {
        let page = String::from_utf8(main_page().expect("a page")).expect("text");
        let mut rest = page.as_str();
        for (title, verbs) in groups(&Cli::command()) {
            let heading = format!(".SH \"{}\"", title.to_uppercase());
            let heading = if title.contains(' ') {
                heading
            } else {
                heading.replace('"', "")
            };
            for wanted in std::iter::once(heading)
                .chain(verbs.iter().map(|(verb, _)| format!("\\fBdial {verb}\\fR")))
            {
                let (_, after) = rest
                    .split_once(&wanted)
                    .unwrap_or_else(|| panic!("{wanted}: {rest}"));
                rest = after;
            }
        }
        assert!(rest.contains(".SH OPTIONS") && !page.contains("SUBCOMMANDS"));
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
