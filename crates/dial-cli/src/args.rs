//! What can be typed. Nothing is opened or computed here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use dial::{Choices, Kernel, Metric, Precision, Search, Spread, Tau};
use dial_data::formats;

pub use crate::arena::Arena;
pub use crate::ask::Ask;
pub use crate::asking_args::{AskingArgs, BeliefArgs};
pub use crate::bench::Bench;
pub use crate::decide::{Class, Pass, Undo, Weight};
pub use crate::exchange::{BackupArgs, ExportArgs, ImportArgs, RestoreArgs};
pub use crate::generate::Generate;
pub use crate::history::LogArgs;
pub use crate::new::New;
pub use crate::pool_args::{PoolArgs, ReadingArgs};
pub use crate::pool_place::PoolPlace;
pub use crate::predict::Predict;
pub use crate::reproduce::Reproduce;
pub use crate::serve::{Label, Serve};
pub use crate::settle::Settle;
pub use crate::status::Show;
pub use crate::tell::Tell;
pub use crate::theory::Theory;
pub use crate::words::{Delimiter, InitialName, Neighbourhood, Size, ZeroRows};

fn tour() -> String {
    let files = formats(&["ENVI", "txt"]);
    format!(
        "\
A whole use:
  dial demo                   a tour on built-in pictures, with a report to see
  dial doctor features.npz    is this pool fit for labelling?
  dial simulate features.npz --acquisition auto,random   labels known: compare
  dial label features.npz --classes cat,dog     label it in the browser
  dial ask features.dial      in scripts: dial tell features.dial ID cat
On a project: new ask tell undo redo skip exclude class weight status log
  settle pool predict export import backup restore serve (dial VERB --help)

POOL is a file ({files}),
  a folder of pictures or texts, or a built-in pool (builtin:moons:500 has 500)
  builtin:digits  texts  scene  moons  blobs  circles  mixture-1d

Exit codes: 0 done, 2 usage, 3 bad input, 4 numeric, 5 storage, 6 conflict,
  7 resources, 8 permission, 70 a bug of ours."
    )
}

/// Dirichlet Active Learning: label a pool of items with as few questions as possible.
#[derive(Debug, Parser)]
#[command(name = "dial", version, after_help = tour(), max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// No progress bars, no notes
    #[arg(long, global = true)]
    pub quiet: bool,
    /// Results and errors as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Number of threads (default: all cores); results do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// The tour: label a built-in pool by simulation and write a report
    Demo(Demo),
    /// Label a pool in the browser: make a project of it, or go on with one
    Label(Box<Label>),
    /// Replay labelling with known labels: compare ways of asking
    Simulate(Box<Simulate>),
    /// The paper's experiments and figures, with a report
    Reproduce(Reproduce),
    /// The paper's theory, computed: bounds, limits and rates beside simulations
    Theory(Theory),
    /// Many pools, methods and seeds: a league table of accuracy per label
    Arena(Box<Arena>),
    /// Build the similarity graph and save it
    Graph(Graph),
    /// Write a synthetic pool of any size
    #[command(subcommand)]
    Generate(Generate),
    /// Health of a pool and its graph, before labelling starts
    Doctor(Doctor),
    /// One column of the kernel: how far a label at one item speaks for the others
    Propagate(Propagate),
    /// How long each stage takes on this machine
    Bench(Bench),
    /// Serve a project on this machine: the labelling page, and an interface for programs
    #[command(hide = true)]
    Serve(Serve),
    /// Make a project of a pool, to be labelled
    #[command(hide = true)]
    New(Box<New>),
    /// Which items to label next
    #[command(hide = true)]
    Ask(Ask),
    /// The labels of items
    #[command(hide = true)]
    Tell(Tell),
    /// Take back the latest decision, or a group
    #[command(hide = true)]
    Undo(Undo),
    /// Bring back what was undone
    #[command(hide = true)]
    Redo(Undo),
    /// Do not ask for items again
    #[command(hide = true)]
    Skip(Pass),
    /// Leave items out: not asked, their labels do not count
    #[command(hide = true)]
    Exclude(Pass),
    /// Add, rename and merge classes; their colours and keys
    #[command(hide = true)]
    Class(Class),
    /// How much an annotator counts beside others
    #[command(hide = true)]
    Weight(Weight),
    /// How a project stands
    #[command(hide = true)]
    Status(Show),
    /// What was decided, the latest first
    #[command(hide = true)]
    Log(LogArgs),
    /// Keep what stands where another answer was kept aside
    #[command(hide = true)]
    Settle(Settle),
    /// Where the pool of a project is, and a new place for it
    #[command(hide = true)]
    Pool(PoolPlace),
    /// What is believed about items
    #[command(hide = true)]
    Predict(Predict),
    /// Labels and predictions of all items as a file
    #[command(hide = true)]
    Export(ExportArgs),
    /// Labels from a file
    #[command(hide = true)]
    Import(ImportArgs),
    /// Copy a project to a file, while it is in use
    #[command(hide = true)]
    Backup(BackupArgs),
    /// Make a project of a backup
    #[command(hide = true)]
    Restore(RestoreArgs),
}

/// `dial demo`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dial demo --out tour --trials 10")]
pub struct Demo {
    /// Pool to label; needs known labels
    #[arg(value_name = "POOL", default_value = "builtin:digits")]
    pub pool: String,
    #[command(flatten)]
    pub how: ReadingArgs,
    /// Folder for the report, figures and records
    #[arg(long, value_name = "FOLDER", default_value = "dial-demo")]
    pub out: PathBuf,
    /// Questions asked in each trial
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub queries: usize,
    /// Trials of each method
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = positive)]
    pub trials: usize,
    /// Seed of everything random
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
}

/// How the graph is made.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Graph")]
pub struct GraphArgs {
    /// Nearest neighbours of each item, itself not counted: a number, or auto: 20, or fewer in a tiny pool
    #[arg(long, value_name = "K", default_value = "auto")]
    pub k: Neighbourhood,
    /// euclidean or cosine [default: cosine for spectra of a scene, else euclidean]
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<Metric>,
    /// self-tuning (the paper's), symmetric, gaussian or uniform [default: symmetric when asking by auto, else self-tuning]
    #[arg(long, value_name = "KERNEL")]
    pub kernel: Option<Kernel>,
    /// How neighbours are found: exact, approximate (large pools; recall is measured and printed) or auto
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub search: Search,
    /// Memory that may be taken, such as 16G or 500M [default: what is available]
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<Size>,
}

/// How labels spread.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Propagation")]
pub struct KernelArgs {
    /// poisson or heat (on the graph), rbf or compact (on the features)
    #[arg(long, value_name = "NAME", default_value = "poisson")]
    pub propagation: Spread,
    /// Regularisation of Poisson: a number, or e.g. 0.1xdegree (times the mean degree) [default: 0.03xdegree when asking by
    /// auto, else 0.1]
    #[arg(long, value_name = "TAU", allow_hyphen_values = true)]
    pub tau: Option<Tau>,
    /// Time that heat spreads for [default: 3]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub heat_time: Option<f64>,
    /// Width of rbf, radius of compact [default: the mean distance to the k-th neighbour]
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub sigma: Option<f64>,
    /// Value of a column at its source: how many observations a label counts for
    #[arg(
        long,
        value_name = "T",
        default_value_t = 1.0,
        allow_hyphen_values = true
    )]
    pub source_value: f64,
    /// faithful: every solve to a true residual of 1e-9; certified: local solves with a proven bound, for speed and
    /// large pools (poisson only)
    #[arg(long, value_name = "NAME", default_value = "faithful")]
    pub precision: Precision,
    /// Bound on the evidence of a class that certified solves stop at [default: half the prior, at most 0.001]
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub tolerance: Option<f64>,
}

/// A pool, its graph and how labels spread on it.
#[derive(Clone, Debug, Args)]
pub struct EngineArgs {
    #[command(flatten)]
    pub pool: PoolArgs,
    #[command(flatten)]
    pub graph: GraphArgs,
    /// Use the graph in this file instead of building it: one that dial graph --out saved (.dialgraph or .npz), or any
    /// symmetric matrix of scipy.sparse.save_npz
    #[arg(long = "graph", value_name = "FILE", help_heading = "Graph")]
    pub saved: Option<PathBuf>,
    #[command(flatten)]
    pub kernel: KernelArgs,
}

impl GraphArgs {
    /// What was typed, as choices.
    pub fn choose(&self, choices: &mut Choices) {
        choices.k = self.k.typed();
        choices.metric = self.metric;
        choices.weights = self.kernel;
        choices.search = Some(self.search);
    }
}

impl KernelArgs {
    /// What was typed, as choices.
    pub fn choose(&self, choices: &mut Choices) {
        let parameter = match self.propagation {
            Spread::Poisson => None,
            Spread::Heat { .. } => self.heat_time,
            Spread::Rbf { .. } | Spread::Compact { .. } => self.sigma,
        };
        let given = |value| {
            self.propagation
                .with_parameter(value)
                .unwrap_or(self.propagation)
        };
        choices.propagation = Some(parameter.map_or(self.propagation, given));
        choices.tau = self.tau;
        choices.source_value = Some(self.source_value);
        choices.precision = Some(self.precision);
        choices.tolerance = self.tolerance;
    }
}

/// `dial simulate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Example, the paper's protocol on its MNIST-SMALL pool:
  dial simulate mnistsmall.npz --mod 3 --acquisition variance,random \\
      --policy max,proportional --trials 10 --out runs.csv --plot runs.svg

The CSV has the columns trial, seed, acquisition, policy, model, query, node, class, labelled, accuracy, \
clusters_found and seconds; row query = 0 is the state after the initial labels, accuracy is measured on the \
unlabelled items.")]
pub struct Simulate {
    #[command(flatten)]
    pub engine: EngineArgs,
    #[command(flatten)]
    pub asking: AskingArgs,
    /// Folder for maps of a scene as the first trial leaves it: classes and uncertainty, as ENVI and PNG
    #[arg(long, value_name = "FOLDER")]
    pub maps: Option<PathBuf>,
}

/// `dial graph`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dial graph features.npz --out graph.npz\n  dial graph features.npz --out features.dialgraph\n\nscipy.sparse.load_npz opens the first; other commands take both as their graph."
)]
pub struct Graph {
    #[command(flatten)]
    pub pool: PoolArgs,
    #[command(flatten)]
    pub graph: GraphArgs,
    /// Where to save the weights: .dialgraph for other commands, or npz with compressed sparse rows
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `dial doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dial doctor features.npz --metric cosine
  dial doctor features.dialgraph --verify        a saved graph instead of a pool")]
pub struct Doctor {
    #[command(flatten)]
    pub engine: EngineArgs,
    /// POOL is a saved graph: check every checksum and that the graph is sound
    #[arg(long)]
    pub verify: bool,
}

/// `dial propagate`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dial propagate builtin:moons --source 12 --out column.npy")]
pub struct Propagate {
    #[command(flatten)]
    pub engine: EngineArgs,
    /// The labelled item, by id (its row number, if the pool has no ids)
    #[arg(long, value_name = "I")]
    pub source: String,
    /// Where to save the column (npy, one f64 per item)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

fn threads(text: &str) -> Result<usize, String> {
    positive(text).and_then(|n| {
        if n <= 1024 {
            Ok(n)
        } else {
            Err("use at most 1024".into())
        }
    })
}

pub(crate) fn positive(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| "use a whole number of at least 1".into())
}
