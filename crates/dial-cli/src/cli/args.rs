//! The arguments of the command. Nothing is opened or computed here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use dial::config::PropagationKind;
use dial::graph::EdgeWeights;
use dial::knn::approximate::Search;
use dial::propagation::certified::Precision;
use dial::propagation::tau::Tau;
use dial::{Choices, Config, Metric};

pub use crate::cli::asking_args::{AskingArgs, BeliefArgs};
pub use crate::cli::help::{Completions, Man};
pub use crate::cli::pool_args::{PoolArgs, ReadArgs};
pub use crate::cli::values::{Delimiter, InitialName, Size, ZeroRows};
#[cfg(feature = "research")]
pub use crate::verbs::arena::Arena;
pub use crate::verbs::ask::Ask;
#[cfg(feature = "research")]
pub use crate::verbs::bench::Bench;
pub use crate::verbs::decide::{Class, Pass, Undo, Weight};
pub use crate::verbs::embed::EmbedArgs;
pub use crate::verbs::exchange::{BackupArgs, ExportArgs, ImportArgs, RestoreArgs};
pub use crate::verbs::generate::Generate;
pub use crate::verbs::log::LogArgs;
pub use crate::verbs::new::New;
pub use crate::verbs::pool::PoolPlace;
pub use crate::verbs::predict::Predict;
pub use crate::verbs::recover::Recover;
pub use crate::verbs::reopen::Reopen;
#[cfg(feature = "research")]
pub use crate::verbs::reproduce::Reproduce;
pub use crate::verbs::resolve::Resolve;
pub use crate::verbs::serve::{Label, Serve};
pub use crate::verbs::sessions::SessionsArgs;
pub use crate::verbs::status::Show;
pub use crate::verbs::tell::Tell;
#[cfg(feature = "research")]
pub use crate::verbs::theory::Theory;

/// Dirichlet Active Learning: label a pool of items with as few questions as possible.
#[derive(Debug, Parser)]
#[command(
    name = "dial",
    version,
    max_term_width = 110,
    propagate_version = true,
    subcommand_value_name = "VERB"
)]
pub struct Cli {
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

/// The verbs; `help` says in which groups they are listed.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Label a pool in the browser: start a project, or continue one
    Label(Box<Label>),
    /// Guided tour: simulate labelling on a built-in pool and write a report
    Demo(Demo),
    /// Check a pool and its graph before labelling
    Doctor(Doctor),
    /// Replay labelling with known labels to compare acquisitions
    Simulate(Box<Simulate>),
    /// Create a project from a pool without opening the page
    New(Box<New>),
    /// Serve the labelling page and the HTTP interface of a project
    Serve(Serve),
    /// Print the items to label next
    Ask(Ask),
    /// Record labels
    Tell(Tell),
    /// Undo the latest decision about items or classes, or a group of decisions
    Undo(Undo),
    /// Redo the latest undo, or an undone group
    Redo(Undo),
    /// Skip items: they are not asked again
    Skip(Pass),
    /// Exclude items: they are not asked, and their labels do not count
    Exclude(Pass),
    /// List items that were skipped or excluded, or reopen them
    Reopen(Reopen),
    /// Add, rename, merge, delete, order and style classes
    Class(Class),
    /// Set how much the labels of an annotator count
    Weight(Weight),
    /// Resolve conflicting answers by keeping the existing label
    Resolve(Resolve),
    /// Show progress, conflicts and disagreements, and the last estimate of the accuracy
    Status(Show),
    /// Show predictions for items
    Predict(Predict),
    /// List the decisions of a project, the latest first
    Log(LogArgs),
    /// Write labels and predictions of all items to a file
    Export(ExportArgs),
    /// Read labels from a file
    Import(ImportArgs),
    /// Copy a project to one file, while it is in use
    Backup(BackupArgs),
    /// Create a project from a backup
    Restore(RestoreArgs),
    /// Show what can be read of a damaged project, and make a project from it
    Recover(Recover),
    /// Show where the pool of a project is, or point the project to its new place
    Pool(PoolPlace),
    /// List the browsers that are signed in, or sign them out
    Sessions(SessionsArgs),
    /// Build the similarity graph and save it
    Graph(Graph),
    /// Write the features that a model makes of texts or pictures to a file
    Embed(EmbedArgs),
    /// Compute one column of the propagation: how far a label at one item reaches
    Propagate(Propagate),
    /// Write a synthetic pool of any size
    #[command(subcommand)]
    Generate(Generate),
    /// Reproduce the paper, compute its theory, compare methods, measure speed
    #[cfg(feature = "research")]
    #[command(subcommand)]
    Lab(Lab),
    /// Print a completion script for your shell
    Completions(Completions),
    /// Write the manual pages
    Man(Man),
}

impl Verb {
    /// The pool that was typed, of verbs that read one.
    pub fn pool(&self) -> Option<&str> {
        match self {
            Verb::Label(label) => Some(&label.new.engine.pool.pool),
            Verb::New(new) => Some(&new.engine.pool.pool),
            Verb::Demo(demo) => Some(&demo.pool),
            Verb::Doctor(doctor) => Some(&doctor.engine.pool.pool),
            Verb::Simulate(simulate) => Some(&simulate.engine.pool.pool),
            Verb::Graph(graph) => Some(&graph.pool.pool),
            Verb::Embed(embed) => Some(&embed.pool.pool),
            Verb::Propagate(propagate) => Some(&propagate.engine.pool.pool),
            _ => None,
        }
    }
}

/// The laboratory.
#[cfg(feature = "research")]
#[derive(Debug, Subcommand)]
pub enum Lab {
    /// Run the experiments of the paper, with figures and a report
    Reproduce(Reproduce),
    /// Compute the theory of the paper: bounds, limits and rates beside simulations
    Theory(Theory),
    /// Compare methods over many pools and seeds in a league table
    Arena(Box<Arena>),
    /// Measure how long each stage takes on this machine
    Bench(Bench),
}

/// `dial demo`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dial demo --out tour --trials 10")]
pub struct Demo {
    /// Pool to label; needs known labels
    #[arg(value_name = "POOL", default_value = "builtin:digits")]
    pub pool: String,
    #[command(flatten)]
    pub how: ReadArgs,
    /// Folder for the report, figures and records
    #[arg(long, value_name = "FOLDER", default_value = "dial-demo", help_heading = None::<&str>)]
    pub out: PathBuf,
    /// Questions asked in each trial
    #[arg(long, value_name = "N", default_value_t = 60, help_heading = None::<&str>)]
    pub queries: usize,
    /// Trials of each method
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = positive, help_heading = None::<&str>)]
    pub trials: usize,
    /// Seed of everything random
    #[arg(long, value_name = "S", default_value_t = Config::default().seed, help_heading = None::<&str>)]
    pub seed: u64,
}

/// How the graph is made.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Graph")]
pub struct GraphArgs {
    /// Nearest neighbours of each item [default: 20, or fewer in a tiny pool]
    #[arg(long, value_name = "K", value_parser = neighbours)]
    pub k: Option<usize>,
    /// euclidean or cosine [default: cosine for spectra of a scene, else euclidean]
    #[arg(long, value_name = "NAME")]
    pub metric: Option<Metric>,
    /// self-tuning (the paper's), symmetric, gaussian or uniform [default: symmetric when asking by auto, else self-tuning]
    #[arg(long, value_name = "NAME")]
    pub weights: Option<EdgeWeights>,
    /// How neighbours are found: exact, approximate (large pools; recall is measured and printed) or auto [default: auto]
    #[arg(long, value_name = "HOW")]
    pub search: Option<Search>,
    /// Memory to use at most, such as 16G or 500M [default: what is available]
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<Size>,
}

/// How labels spread.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Propagation")]
pub struct PropagationArgs {
    /// poisson or heat (on the graph), rbf or compact (on the features) [default: poisson]
    #[arg(long, value_name = "NAME")]
    pub propagation: Option<PropagationKind>,
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
    /// Value of a column at its source: how many observations a label counts for [default: 1]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub source_value: Option<f64>,
    /// faithful: every solve to a true residual of 1e-9; certified: local solves with a proven bound, for speed and
    /// large pools (poisson only) [default: faithful]
    #[arg(long, value_name = "NAME")]
    pub precision: Option<Precision>,
    /// Error tolerance of certified solves, in evidence of a class [default: half the prior, at most 0.001]
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
    /// Use the graph in this file instead of building one: a file that dial graph --out saved (.dialgraph or .npz), or any
    /// symmetric matrix of scipy.sparse.save_npz, for which --k only says how many neighbours new rows have
    #[arg(long = "graph", value_name = "FILE", help_heading = "Graph")]
    pub saved: Option<PathBuf>,
    #[command(flatten)]
    pub propagation: PropagationArgs,
}

impl GraphArgs {
    /// The number of neighbours in a pool of n items.
    pub fn neighbours(&self, n: usize) -> usize {
        let mut choices = Choices::default();
        self.choose(&mut choices);
        choices.neighbours(n)
    }

    /// What was typed, as choices.
    pub fn choose(&self, choices: &mut Choices) {
        choices.k = self.k;
        choices.metric = self.metric;
        choices.weights = self.weights;
        choices.search = self.search;
    }
}

impl PropagationArgs {
    /// What was typed, as choices.
    pub fn choose(&self, choices: &mut Choices) {
        choices.propagation = self.propagation;
        choices.heat_time = self.heat_time;
        choices.sigma = self.sigma;
        choices.tau = self.tau;
        choices.source_value = self.source_value;
        choices.precision = self.precision;
        choices.tolerance = self.tolerance;
    }
}

/// `dial simulate`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "\
Example:
  dial simulate builtin:digits --acquisition auto,random --trials 5 --plot runs.svg",
    after_long_help = "\
Example, the paper's protocol on its MNIST-SMALL pool:
  dial simulate mnistsmall.npz --mod 3 --acquisition variance,random \\
      --policy max,proportional --trials 10 --out runs.csv --plot runs.svg

The CSV has the columns trial, seed, acquisition, policy, model, query, node, class, labelled, accuracy, \
clusters_found and seconds; row query = 0 is the state after the initial labels, accuracy is measured on the \
unlabelled items."
)]
pub struct Simulate {
    #[command(flatten)]
    pub engine: EngineArgs,
    #[command(flatten)]
    pub asking: AskingArgs,
    /// Folder for maps of a scene after the first trial: classes and uncertainty, as ENVI and PNG
    #[arg(long, value_name = "FOLDER", help_heading = "Results")]
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
    #[arg(long, value_name = "FILE", help_heading = None::<&str>)]
    pub out: Option<PathBuf>,
}

/// `dial doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dial doctor features.npz --metric cosine
  dial doctor photos.dial                        a project and its answers
  dial doctor features.dialgraph --verify        a saved graph instead of a pool")]
pub struct Doctor {
    #[command(flatten)]
    pub engine: EngineArgs,
    /// POOL is a saved graph (.dialgraph or .npz): verify every checksum and the structure of the graph
    #[arg(long, help_heading = None::<&str>)]
    pub verify: bool,
}

/// `dial propagate`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dial propagate builtin:moons --source 12 --out column.npy")]
pub struct Propagate {
    #[command(flatten)]
    pub engine: EngineArgs,
    /// The labelled item, by id (its row number, if the pool has no ids)
    #[arg(long, value_name = "I", help_heading = None::<&str>)]
    pub source: String,
    /// Where to save the column (npy, one f64 per item)
    #[arg(long, value_name = "FILE", help_heading = None::<&str>)]
    pub out: Option<PathBuf>,
}

fn neighbours(text: &str) -> Result<usize, String> {
    let number = text.parse::<u32>().map(|k| k as usize);
    number.map_err(|_| "use a whole number, or leave --k out for the default".into())
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
