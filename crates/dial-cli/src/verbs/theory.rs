//! `dial lab theory`: the paper's theory, computed and drawn.

use std::path::PathBuf;

use clap::Args;
use dial_research::theory::{
    Level, Named, Part, QUICK, TheoryOptions, check, has_data, run as run_part, write,
};
use serde_json::json;

use crate::plan::checks;
use crate::ui::failure::Failure;
use crate::ui::outcomes::{What, data_folder, shown};
use crate::ui::output::Output;

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
    pub what: Vec<What<Part>>,
    /// Coarse grids and few repetitions: seconds a part
    #[arg(long, conflicts_with = "fine")]
    pub quick: bool,
    /// Fine grids and many repetitions: minutes a part
    #[arg(long)]
    pub fine: bool,
    /// Folder of the paper's data, for the parts that use real pools [default: the environment variable DIAL_DATA;
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

/// Runs the command.
pub fn run(args: &Theory, output: &Output) -> Result<(), Failure> {
    let settings = settings(args, output);
    checks::check_folder(&settings.folder, "--out")?;
    check(&settings)?;
    let wanted =
        |part: &&Part| args.what.contains(&What::All) || args.what.contains(&What::One(**part));
    let mut done = Vec::new();
    for part in Part::ALL.iter().filter(wanted) {
        let run = |part| run_part(part, &settings, &output.control());
        let write = |part, outcome: &_, seconds| write(part, outcome, &settings, seconds);
        done.push(shown(("part", *part), "", run, write, output)?);
    }
    let page = settings.folder.join("theory.html");
    let quick = if args.quick {
        format!("\nThis run used {QUICK}.\n")
    } else {
        String::new()
    };
    output.result(
        &format!("{quick}\nOpen  {}\n", page.display()),
        &json!({ "page": page, "parts": done }),
    );
    Ok(())
}

fn settings(args: &Theory, output: &Output) -> TheoryOptions {
    let level = match (args.quick, args.fine) {
        (true, _) => Level::Quick,
        (_, true) => Level::Fine,
        _ => Level::Usual,
    };
    let data = data_folder(args.data.as_ref());
    let absent = |folder: &PathBuf| args.data.is_none() && !has_data(folder);
    if data.as_ref().is_some_and(absent) {
        output.note("note: the folder of DIAL_DATA does not hold MNIST-SMALL; it is left out.");
    }
    let folder = level.pick("dial-theory-quick", "dial-theory", "dial-theory-fine");
    TheoryOptions {
        level,
        seed: args.seed,
        data: data.filter(|folder| !absent(folder)),
        folder: args.out.clone().unwrap_or_else(|| PathBuf::from(folder)),
    }
}
