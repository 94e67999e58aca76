//! `dial lab reproduce`: the paper's experiments and figures.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use dial_lab::reproduce::pools::Origin;
use dial_lab::reproduce::{Experiment, Outcome, Settings, check, run as run_experiment, write};
use serde_json::{Value, json};

use crate::args::positive;
use crate::failure::Failure;
use crate::output::Output;
use crate::{outcomes, outputs};

/// `dial lab reproduce`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dial lab reproduce all --quick                     everything in small, no data needed
  dial lab reproduce mnist-small --data DIR          one experiment in full
  dial lab reproduce hsi --spare-class-0 --out hsi0  as the authors' scripts ran it

DIR holds the features the paper used (features/mnistsmall.npz and others); where a file is missing the message says \
which one, who publishes the data and the SHA-256. Nothing is downloaded. A killed run goes on where it stopped when \
the same command is given again.")]
pub struct Reproduce {
    /// variance, alignment, propagation-2d, uncertainty-1d, hsi, mnist-small, fashionmnist-small, mnist, fashionmnist,
    /// timing, ssl, or all
    #[arg(value_name = "WHAT", required = true)]
    pub what: Vec<What>,
    /// A small version of everything in seconds, on generated pools
    #[arg(long)]
    pub quick: bool,
    /// Folder of the data [default: the environment variable DIAL_DATA]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder for figures, tables and the report [default: dial-reproduction, quick: dial-reproduction-quick]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Trials, which differ by their seed only [default: 10, quick: 2]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub trials: Option<usize>,
    /// Questions of the curve experiments [default: 100, quick: 15]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub queries: Option<usize>,
    /// Seed of the first trial; trial t has seed S + t
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Hyperspectral pools: never ask class 0, as it happened in the authors' scripts
    #[arg(long)]
    pub spare_class_0: bool,
}

/// What was typed after `dial lab reproduce`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// One experiment.
    One(Experiment),
    /// All of them.
    All,
}

impl std::str::FromStr for What {
    type Err = String;

    fn from_str(word: &str) -> Result<What, String> {
        if word == "all" {
            Ok(What::All)
        } else {
            word.parse().map(What::One)
        }
    }
}

/// Runs the command.
pub fn run(args: &Reproduce, output: &Output) -> Result<(), Failure> {
    let settings = settings(args);
    outputs::check_folder(&settings.folder, "--out")?;
    let mut experiments: Vec<Experiment> = Vec::new();
    for what in &args.what {
        let more = match what {
            What::One(one) => vec![*one],
            What::All => Experiment::ALL.to_vec(),
        };
        experiments.extend(
            more.into_iter()
                .filter(|one| !experiments.contains(one))
                .collect::<Vec<_>>(),
        );
    }
    check(&experiments, &settings)?;
    let mut done = Vec::new();
    for experiment in experiments {
        let start = Instant::now();
        let outcome = run_experiment(experiment, &settings, &output.control())?;
        let seconds = start.elapsed().as_secs_f64();
        let files = write(experiment, &outcome, &settings, seconds)?;
        if !output.json {
            output.print(&in_words(experiment, &outcome, seconds, settings.quick));
        }
        done.push(in_json(experiment, &outcome, seconds, &files));
    }
    let report = settings.folder.join("report.html");
    let text = format!("\nLook at  {}\n", report.display());
    output.result(&text, &json!({ "report": report, "experiments": done }));
    Ok(())
}

fn settings(args: &Reproduce) -> Settings {
    let named = args.data.clone().or_else(|| {
        std::env::var_os("DIAL_DATA")
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    });
    Settings {
        seed: args.seed,
        trials: args.trials.unwrap_or(if args.quick { 2 } else { 10 }),
        queries: args.queries.unwrap_or(if args.quick { 15 } else { 100 }),
        quick: args.quick,
        spare_class_0: args.spare_class_0,
        origin: match (args.quick, named) {
            (true, _) => Origin::Generators,
            (false, Some(folder)) => Origin::Folder(folder),
            (false, None) => Origin::Unknown,
        },
        folder: args.out.clone().unwrap_or_else(|| {
            PathBuf::from(if args.quick {
                "dial-reproduction-quick"
            } else {
                "dial-reproduction"
            })
        }),
    }
}

fn in_words(experiment: Experiment, outcome: &Outcome, seconds: f64, quick: bool) -> String {
    let quick = if quick {
        "A quick version on generated pools: it shows that everything runs, and nothing more.\n"
    } else {
        ""
    };
    format!(
        "\n{} ({seconds:.1} s)\n{quick}{}",
        experiment.title(),
        outcomes::in_words(outcome)
    )
}

fn in_json(experiment: Experiment, outcome: &Outcome, seconds: f64, files: &[PathBuf]) -> Value {
    json!({
        "experiment": experiment.word(),
        "seconds": seconds,
        "findings": outcome.findings,
        "files": files,
    })
}
