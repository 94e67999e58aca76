//! `dial lab theory`: the paper's theory, computed and drawn.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use dial_lab::theory::{Level, Part, QUICK, Settings, check, has_data, run as run_part, write};
use serde_json::json;

use crate::failure::Failure;
use crate::output::Output;
use crate::{outcomes, outputs};

/// `dial lab theory`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dial lab theory all --quick              every part in seconds
  dial lab theory exploration              will every cluster be met? the bound beside the truth
  dial lab theory consistency --fine       how fast the classifier learns, with many repetitions

Each part writes tables (CSV) and figures (SVG, PNG) into its folder; theory.html shows and explains all that were run.")]
pub struct Theory {
    /// continuum, heat, separation, exploration, mixtures, exploitation, uncertainty, consistency, or all
    #[arg(value_name = "WHAT", required = true)]
    pub what: Vec<What>,
    /// Coarse grids and few repetitions: seconds a part
    #[arg(long, conflicts_with = "fine")]
    pub quick: bool,
    /// Fine grids and many repetitions: minutes a part
    #[arg(long)]
    pub fine: bool,
    /// Folder of the paper's data, for the parts that look at real pools [default: the environment variable DIAL_DATA;
    /// without it the digits that come with DiAL]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder for figures, tables and the page [default: dial-theory, quick: dial-theory-quick, fine: dial-theory-fine]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Seed of everything drawn at random
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
}

/// What was typed after `dial lab theory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// One part.
    One(Part),
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
pub fn run(args: &Theory, output: &Output) -> Result<(), Failure> {
    let settings = settings(args, output);
    outputs::check_folder(&settings.folder, "--out")?;
    check(&settings)?;
    let wanted =
        |part: &Part| args.what.contains(&What::All) || args.what.contains(&What::One(*part));
    let mut done = Vec::new();
    for part in Part::ALL.into_iter().filter(wanted) {
        let start = Instant::now();
        let outcome = run_part(part, &settings, &output.control())?;
        let seconds = start.elapsed().as_secs_f64();
        let files = write(part, &outcome, &settings, seconds)?;
        if !output.json {
            output.print(&format!(
                "\n{} ({seconds:.1} s)\n{}",
                part.title(),
                outcomes::in_words(&outcome)
            ));
        }
        done.push(json!({ "part": part.word(), "seconds": seconds, "findings": outcome.findings, "files": files }));
    }
    let page = settings.folder.join("theory.html");
    let quick = if args.quick {
        format!("\nThese were {QUICK}.\n")
    } else {
        String::new()
    };
    output.result(
        &format!("{quick}\nLook at  {}\n", page.display()),
        &json!({ "page": page, "parts": done }),
    );
    Ok(())
}

fn settings(args: &Theory, output: &Output) -> Settings {
    let level = match (args.quick, args.fine) {
        (true, _) => Level::Quick,
        (_, true) => Level::Fine,
        _ => Level::Usual,
    };
    let named = || {
        let folder = std::env::var_os("DIAL_DATA")
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)?;
        if !has_data(&folder) {
            output.note("note: the folder of DIAL_DATA does not hold MNIST-SMALL; it is left out.");
        }
        Some(folder).filter(|folder| has_data(folder))
    };
    let folder = level.pick("dial-theory-quick", "dial-theory", "dial-theory-fine");
    Settings {
        level,
        seed: args.seed,
        data: args.data.clone().or_else(named),
        folder: args.out.clone().unwrap_or_else(|| PathBuf::from(folder)),
    }
}
