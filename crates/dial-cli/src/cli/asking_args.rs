//! How questions are chosen and read, as it can be typed.

use std::path::PathBuf;

use clap::Args;
use dial::belief::calibration::Calibration;
use dial::belief::prior::Prior;
use dial::policy::Sharpness;
use dial::simulate::{Classes, Plan};
use dial::{Choices, Policy};
use dial_baselines::comparison::TRIALS;
use dial_baselines::methods::{EIGENPAIRS, Method};
use dial_baselines::models::ModelName;

use crate::cli::args::positive;
use crate::cli::values::InitialName;

/// What is believed from labels, and how sharply it is asked by.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Asking")]
pub struct BeliefArgs {
    /// Sharpness of the proportional policy: auto, a number (0 to inf) or schedule:L0,P [default: auto]
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    pub lambda: Option<Sharpness>,
    /// Prior strength: auto (0.0001 when asking by auto, else 1 with max and calibrated with proportional), calibrated,
    /// calibrated-raw or a number [default: auto]
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    pub prior: Option<Prior>,
    /// Calibrated probabilities and class-balanced predictions: on, or off (the Dirichlet mean, as in the paper)
    /// [default: on when asking by auto, else off]
    #[arg(long, value_name = "NAME")]
    pub calibration: Option<Calibration>,
    /// Overestimate of the number of clusters, for the calibrated prior and the automatic lambda [default: max(20, 2K)]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub expected_clusters: Option<usize>,
}

impl BeliefArgs {
    /// What was typed, as choices.
    pub fn choose(&self, choices: &mut Choices) {
        choices.sharpness = self.lambda;
        choices.prior = self.prior;
        choices.calibration = self.calibration;
        choices.expected_clusters = self.expected_clusters;
    }
}

/// How a simulation asks.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Asking")]
pub struct AskingArgs {
    #[arg(
        long,
        value_name = "NAME[@MODEL],...",
        value_delimiter = ',',
        help = "auto, variance, random, ... [default: auto]",
        long_help = format!("One or more of {}. auto needs no settings and is the best we know, variance is the paper's; margin \
            to norm may read another model, as in margin@laplace [default: auto; variance in certified precision and without \
            Poisson propagation]", Method::words())
    )]
    pub acquisition: Vec<Method>,
    /// One or more of max, proportional, uniform [default: max]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
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
    #[arg(long, value_name = "R", default_value_t = EIGENPAIRS, value_parser = positive)]
    pub eigenpairs: usize,
    /// Questions asked in each trial
    #[arg(long, value_name = "N", default_value_t = Plan::default().queries)]
    pub queries: usize,
    /// Questions asked at once: auto chooses each by assuming answers to those before it, the others take no two neighbours
    #[arg(long, value_name = "N", default_value_t = Plan::default().batch, value_parser = positive)]
    pub batch: usize,
    /// Labels given before: one-per-class, none, or item ids I,J,...
    #[arg(long, value_name = "WHICH", default_value = "one-per-class")]
    pub initial: InitialName,
    #[arg(
        long,
        value_name = "WHAT",
        default_value_t = Plan::default().classes,
        help = "Classes are known, or met one by one",
        long_help = "What is known of the classes before they are met: known (all of them), or met (none, as in a project that \
            was made without any)"
    )]
    pub classes: Classes,
    /// Classes are the labels modulo M; clusters are the labels
    #[arg(long = "mod", value_name = "M")]
    pub modulo: Option<u16>,
    /// Trials, which differ by their seed only
    #[arg(long, value_name = "N", default_value_t = TRIALS, value_parser = positive)]
    pub trials: usize,
    /// Seed of the first trial; trial t has seed S + t [default: 0]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Measure the accuracy after every N-th question only; in between the last figure is repeated [default: 1; in
    /// certified precision, where measuring takes a global solve, the number of items over 5,000]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub score_every: Option<usize>,
    /// CSV file of every question (- for stdout)
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub out: Option<PathBuf>,
    /// Learning curves as .svg or .png; may be given twice
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub plot: Vec<PathBuf>,
}
