//! `dial generate`: pools of any size, written block by block.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use dial::Config;
use dial_data::generate::clusters::Planted;
use serde_json::json;

use crate::plan::checks;
use crate::ui::failure::Failure;
use crate::ui::output::Output;

/// `dial generate`.
#[derive(Debug, Subcommand)]
pub enum Generate {
    /// Planted clusters: features as npy, their clusters as labels beside it
    Clusters(Clusters),
}

/// `dial generate clusters`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dial generate clusters --items 10000000 --out pool.npy   writes pool.npy and pool-labels.npy")]
pub struct Clusters {
    /// Number of items
    #[arg(long, value_name = "N")]
    pub items: usize,
    /// Number of columns
    #[arg(long, value_name = "D", default_value_t = 32)]
    pub dim: usize,
    /// Number of clusters
    #[arg(long, value_name = "C", default_value_t = 100)]
    pub clusters: usize,
    /// Seed of everything random
    #[arg(long, value_name = "S", default_value_t = Config::default().seed)]
    pub seed: u64,
    /// Where to write the features (npy, f32); the labels go beside it
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Runs the command.
pub fn run(args: &Generate, output: &Output) -> Result<(), Failure> {
    let Generate::Clusters(args) = args;
    let labels = beside(&args.out);
    checks::check(&[&args.out, &labels], "builtin:", &[])?;
    let plan = Planted {
        items: args.items,
        dim: args.dim,
        clusters: args.clusters,
        seed: args.seed,
    };
    plan.write(&args.out, &labels, &output.control())?;
    let (file, labels) = (args.out.display().to_string(), labels.display().to_string());
    let text = format!(
        "{} items of {} columns in {} clusters\nwrote {file} and {labels}; use them with --labels {labels}\n",
        plan.items, plan.dim, plan.clusters
    );
    let json = json!({
        "items": plan.items,
        "dimensions": plan.dim,
        "clusters": plan.clusters,
        "seed": plan.seed,
        "file": file,
        "labels": labels,
    });
    output.result(&text, &json);
    Ok(())
}

/// The file of labels beside a file of features: `pool-labels.npy` beside `pool.npy`.
fn beside(features: &Path) -> PathBuf {
    let stem = features.file_stem().unwrap_or_default().to_string_lossy();
    features.with_file_name(format!("{stem}-labels.npy"))
}
