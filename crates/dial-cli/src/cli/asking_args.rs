//! How questions are chosen and read, as it can be typed.

use std::path::PathBuf;

use clap::Args;
use dial::belief::calibration::Calibration;
use dial::belief::prior::Prior;
use dial::policy::Sharpness;
use dial::simulate::Classes;
use dial::{Choices, Policy};
use dial_baselines::methods::Method;
use dial_baselines::models::ModelName;

use crate::cli::args::positive;
use crate::cli::values::InitialName;

/// What is believed from labels, and how sharply it is asked by.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Asking")]
pub struct BeliefArgs {
    /// Sharpness of the proportional policy: auto, a number (0 to inf) or schedule:L0,P
    #[arg(
        long,
        value_name = "L",
        default_value = "auto",
        allow_hyphen_values = true
    )]
    pub lambda: Sharpness,
    /// Prior strength: auto (0.0001 when asking by auto, else 1 with max and calibrated with proportional), calibrated, calibrated-raw or a number
    #[arg(
        long,
        value_name = "P",
        default_value = "auto",
        allow_hyphen_values = true
    )]
    pub prior: Prior,
    /// Calibrated probabilities and class-balanced predictions: on, or off (the Dirichlet mean, as in the paper)
    /// [default: on with auto, else off]
    #[arg(long, value_name = "NAME")]
    pub calibration: Option<Calibration>,
    /// Overestimate of the number of clusters, for the calibrated prior and the automatic lambda [default: max(20, 2K)]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub expected_clusters: Option<usize>,
}

impl BeliefArgs {
    /// What was typed, as choices.
    pub fn choose(&self, choices: &mut Choices) {
        choices.sharpness = Some(self.lambda);
        choices.prior = Some(self.prior);
        choices.calibration = self.calibration;
        choices.expected_clusters = self.expected_clusters;
    }
}

/// How a simulation asks.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Asking")]
pub struct AskingArgs {
    /// One or more of auto (no settings needed, the best we know), variance (the paper's), margin, margin-range, entropy, least-confidence, norm, random, vopt, sigma-opt, mcvopt,
    /// vopt-full, sigma-opt-full, land, k-centre, typiclust, probcover, max-herding, uncertainty-herding, rwll-norm; margin
    /// to norm may read another model, as in margin@laplace [default: auto; variance in certified
    /// precision and without Poisson propagation]
    #[arg(long, value_name = "NAME[@MODEL],...", value_delimiter = ',')]
    pub acquisition: Vec<Method>,
    /// One or more of max, proportional, uniform
    #[arg(
        long,
        value_name = "NAME,...",
        default_value = "max",
        value_delimiter = ','
    )]
    pub policy: Vec<Policy>,
    #[command(flatten)]
    pub belief: BeliefArgs,
    /// The models that classify, one or more of dirichlet, laplace, poisson, reweighted, nearest, land, logistic
    #[arg(
        long,
        value_name = "NAME,...",
        default_value = "dirichlet",
        value_delimiter = ','
    )]
    pub model: Vec<ModelName>,
    /// Eigenpairs of the graph for vopt, sigma-opt, mcvopt and land
    #[arg(long, value_name = "R", default_value_t = 50, value_parser = positive)]
    pub eigenpairs: usize,
    /// Questions asked in each trial
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub queries: usize,
    /// Questions asked at once; a batch of auto supposes answers, one of the others holds no two neighbours
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = positive)]
    pub batch: usize,
    /// Labels given before: one-per-class, none, or item ids I,J,...
    #[arg(long, value_name = "WHICH", default_value = "one-per-class")]
    pub initial: InitialName,
    /// What is known of the classes before they are met: known (all of them), or met (none, as in a project that was
    /// made without any)
    #[arg(long, value_name = "WHAT", default_value = "known")]
    pub classes: Classes,
    /// Classes are the labels modulo M; clusters are the labels
    #[arg(long = "mod", value_name = "M")]
    pub modulo: Option<u16>,
    /// Trials, which differ by their seed only
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = positive)]
    pub trials: usize,
    /// Seed of the first trial; trial t has seed S + t
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Measure the accuracy after every N-th question only; in between the last figure is repeated [default: 1; in
    /// certified precision, where measuring takes a global solve, the number of items over 5,000]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub score_every: Option<usize>,
    /// CSV file of every question (- for stdout)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Learning curves as .svg or .png; may be given twice
    #[arg(long, value_name = "FILE")]
    pub plot: Vec<PathBuf>,
}
