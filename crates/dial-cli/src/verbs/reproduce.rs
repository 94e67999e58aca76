//! `dial lab reproduce`: the paper's experiments and figures.

use std::path::PathBuf;

use clap::Args;
use dial::Config;
use dial_research::reproduce::pools::Origin;
use dial_research::reproduce::{
    Experiment, Named, ReproduceOptions, check, run as run_experiment, write,
};
use serde_json::json;

use crate::cli::args::positive;
use crate::plan::checks;
use crate::ui::failure::Failure;
use crate::ui::outcomes::{What, data_folder, shown};
use crate::ui::output::Output;

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
    pub what: Vec<What<Experiment>>,
    /// A small version of everything in seconds, on generated pools
    #[arg(long)]
    pub quick: bool,
    /// Folder of the data [default: the environment variable DIAL_DATA]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder for figures, tables and the report [default: dial-reproduction, quick: dial-reproduction-quick]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Number of trials, which differ in their seed only [default: 10, quick: 2]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub trials: Option<usize>,
    /// Questions of the curve experiments [default: 100, quick: 15]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub queries: Option<usize>,
    /// Seed of the first trial; trial t has seed S + t
    #[arg(long, value_name = "S", default_value_t = Config::default().seed)]
    pub seed: u64,
    /// Hyperspectral pools: never ask items of class 0, as in the authors' scripts
    #[arg(long)]
    pub spare_class_0: bool,
}

/// Runs the command.
pub fn run(args: &Reproduce, output: &Output) -> Result<(), Failure> {
    let settings = settings(args);
    checks::check_folder(&settings.folder, "--out")?;
    let mut experiments: Vec<Experiment> = Vec::new();
    for what in &args.what {
        let more = match what {
            What::One(one) => std::slice::from_ref(one),
            What::All => Experiment::ALL,
        };
        let fresh = more.iter().filter(|one| !experiments.contains(one));
        experiments.extend(fresh.copied().collect::<Vec<_>>());
    }
    check(&experiments, &settings)?;
    let hint = if args.quick {
        "A quick version on generated pools: it shows that everything runs; its numbers mean nothing.\n"
    } else {
        ""
    };
    let mut done = Vec::new();
    for experiment in experiments {
        let run = |experiment| run_experiment(experiment, &settings, &output.control());
        let write =
            |experiment, outcome: &_, seconds| write(experiment, outcome, &settings, seconds);
        done.push(shown(("experiment", experiment), hint, run, write, output)?);
    }
    let report = settings.folder.join("report.html");
    let text = format!("\nOpen  {}\n", report.display());
    output.result(&text, &json!({ "report": report, "experiments": done }));
    Ok(())
}

fn settings(args: &Reproduce) -> ReproduceOptions {
    ReproduceOptions {
        seed: args.seed,
        trials: args.trials.unwrap_or(if args.quick { 2 } else { 10 }),
        queries: args.queries.unwrap_or(if args.quick { 15 } else { 100 }),
        quick: args.quick,
        spare_class_0: args.spare_class_0,
        origin: match (args.quick, data_folder(args.data.as_ref())) {
            (true, _) => Origin::Generators,
            (false, Some(folder)) => Origin::Folder(folder),
            (false, None) => Origin::Unknown,
        },
        folder: args.out.clone().unwrap_or_else(|| match args.quick {
            true => "dial-reproduction-quick".into(),
            false => "dial-reproduction".into(),
        }),
    }
}
