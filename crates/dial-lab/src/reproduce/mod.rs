//! The paper's experiments and figures, from one call each: run, draw, tabulate, and say what the run shows.
//!
//! [`run`] makes an [`Outcome`]; [`folder`] writes it down and keeps one report over everything written so far. Curve
//! experiments and classifiers keep their finished pieces in [`crate::cells`], so that a killed run goes on where it stopped.

pub mod alignment;
pub mod moons;
pub mod one_d;
pub mod svm;
pub mod claims;
pub mod curves;
mod dense;
pub mod folder;
pub mod learning;
pub mod lines;
mod page;
pub mod pools;
pub mod ssl;
pub mod standing;
pub mod timing;
pub mod variance;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use dial::Control;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::report::Table;
pub use crate::trouble::Trouble;
pub use crate::written::{Drawn, Tidy};
use pools::{Dataset, Origin};
use standing::Standing;

/// How to run an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The seed of the first trial; trial t has this seed plus t.
    pub seed: u64,
    /// Number of trials.
    pub trials: usize,
    /// Number of questions of the curve experiments.
    pub queries: usize,
    /// A small version in seconds.
    pub quick: bool,
    /// Never ask class 0 of the hyperspectral pools, as it happened in the authors' scripts.
    pub spare_class_0: bool,
    /// Where pools come from.
    pub origin: Origin,
    /// Where everything is written.
    pub folder: PathBuf,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            seed: 0,
            trials: 10,
            queries: 100,
            quick: false,
            spare_class_0: false,
            origin: Origin::Unknown,
            folder: PathBuf::from("dial-reproduction"),
        }
    }
}

/// An experiment of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// Variance of a Dirichlet distribution.
    Variance,
    /// Alignment of kernel and probabilities.
    Alignment,
    /// Propagation operators on two moons.
    #[serde(rename = "propagation-2d")]
    Propagation2d,
    /// Two kinds of uncertainty on a line.
    #[serde(rename = "uncertainty-1d")]
    Uncertainty1d,
    /// Salinas-A and Pavia.
    Hsi,
    /// Ten thousand digits.
    MnistSmall,
    /// Ten thousand garments.
    #[serde(rename = "fashionmnist-small")]
    FashionMnistSmall,
    /// All digits.
    Mnist,
    /// All garments.
    #[serde(rename = "fashionmnist")]
    FashionMnist,
    /// The cost of the acquisitions.
    Timing,
    /// Classifiers at few labels.
    Ssl,
}

impl Experiment {
    /// All of them, in the order of the paper.
    pub const ALL: [Experiment; 11] = [
        Experiment::Variance,
        Experiment::Alignment,
        Experiment::Propagation2d,
        Experiment::Uncertainty1d,
        Experiment::Hsi,
        Experiment::MnistSmall,
        Experiment::FashionMnistSmall,
        Experiment::Mnist,
        Experiment::FashionMnist,
        Experiment::Timing,
        Experiment::Ssl,
    ];

    /// The word for it on the command line, and the name of its folder.
    pub fn word(self) -> &'static str {
        match self {
            Experiment::Variance => "variance",
            Experiment::Alignment => "alignment",
            Experiment::Propagation2d => "propagation-2d",
            Experiment::Uncertainty1d => "uncertainty-1d",
            Experiment::Hsi => "hsi",
            Experiment::MnistSmall => "mnist-small",
            Experiment::FashionMnistSmall => "fashionmnist-small",
            Experiment::Mnist => "mnist",
            Experiment::FashionMnist => "fashionmnist",
            Experiment::Timing => "timing",
            Experiment::Ssl => "ssl",
        }
    }

    /// Whether its finished pieces are kept, so that a second run only adds what is missing.
    pub fn keeps_cells(self) -> bool {
        use Experiment::{FashionMnist, FashionMnistSmall, Hsi, Mnist, MnistSmall, Ssl};
        matches!(self, Hsi | MnistSmall | FashionMnistSmall | Mnist | FashionMnist | Ssl)
    }

    /// The pools it needs.
    fn datasets(self) -> &'static [Dataset] {
        match self {
            Experiment::Hsi => &[Dataset::SalinasA, Dataset::Pavia],
            Experiment::MnistSmall => &[Dataset::MnistSmall],
            Experiment::FashionMnistSmall => &[Dataset::FashionMnistSmall],
            Experiment::Mnist | Experiment::Timing => &[Dataset::Mnist],
            Experiment::FashionMnist => &[Dataset::FashionMnist],
            Experiment::Ssl => &[Dataset::Mnist, Dataset::FashionMnist],
            _ => &[],
        }
    }

    /// Its heading in the report.
    pub fn title(self) -> &'static str {
        match self {
            Experiment::Variance => "Variance of a Dirichlet distribution (fig:var-beta-heatmap)",
            Experiment::Alignment => "Alignment of kernel and probabilities (fig:cluster-align)",
            Experiment::Propagation2d => "Propagation operators on two moons (fig:2d-propagation)",
            Experiment::Uncertainty1d => "Two kinds of uncertainty on a line (fig:unc-demo, fig:unc-demo-kde)",
            Experiment::Hsi => "Hyperspectral pools: Salinas-A and Pavia (fig:hsi-plots)",
            Experiment::MnistSmall => "MNIST-SMALL (fig:mnistsmall-acc, fig:mnistsmall-clusterexp)",
            Experiment::FashionMnistSmall => {
                "FASHIONMNIST-SMALL (fig:fashionmnistsmall-acc, fig:fashionmnistsmall-clusterexp)"
            }
            Experiment::Mnist => "MNIST (fig:mnist)",
            Experiment::FashionMnist => "FASHIONMNIST (fig:fashionmnist)",
            Experiment::Timing => "Cost of the acquisitions (fig:timing-comparison, table:comp_comparison)",
            Experiment::Ssl => "Classifiers at one to five labels per class",
        }
    }
}

impl fmt::Display for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Experiment {
    type Err = String;

    fn from_str(word: &str) -> Result<Experiment, String> {
        let found = Experiment::ALL.into_iter().find(|experiment| experiment.word() == word);
        found.ok_or_else(|| format!("use one of all, {}", Experiment::ALL.map(Experiment::word).join(", ")))
    }
}

/// What an experiment hands over to be written and reported.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Figures.
    pub figures: Vec<Drawn>,
    /// Tables for machines.
    pub tables: Vec<Tidy>,
    /// Tables for people.
    pub summaries: Vec<Table>,
    /// What the run says about the paper's claims.
    pub findings: Vec<Finding>,
    /// How methods stood, pool by pool.
    pub standings: Vec<Vec<Standing>>,
    /// Number of trials, where there are any.
    pub trials: Option<usize>,
    /// What was noticed on the way.
    pub notes: Vec<String>,
    /// What repeats the run, beside the settings of the command.
    pub settings: Vec<Value>,
}

/// A claim of the paper and what a run says about it, in plain words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The claim.
    pub claim: String,
    /// Whether this run bears it out.
    pub verdict: Verdict,
    /// The numbers that say so.
    pub evidence: String,
}

/// Whether a run bears a claim out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It does.
    Supported,
    /// In part, or within the noise.
    Mixed,
    /// It does not.
    NotSupported,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Supported => "supported",
            Verdict::Mixed => "mixed",
            Verdict::NotSupported => "not supported",
        })
    }
}

/// Refuses what cannot be done before anything is: data that are missing, and a folder that holds runs of another kind.
pub fn check(experiments: &[Experiment], settings: &Settings) -> Result<(), Trouble> {
    let mut datasets: Vec<Dataset> = experiments.iter().flat_map(|experiment| experiment.datasets()).copied().collect();
    datasets.dedup();
    pools::check(&datasets, &settings.origin)?;
    folder::check(settings)
}

/// Runs an experiment.
pub fn run(experiment: Experiment, settings: &Settings, control: &Control) -> Result<Outcome, Trouble> {
    match experiment {
        Experiment::Variance => Ok(variance::run(settings, control)?),
        Experiment::Alignment => Ok(alignment::run(settings, control)?),
        Experiment::Propagation2d => Ok(moons::run(settings, control)?),
        Experiment::Uncertainty1d => Ok(one_d::run(settings, control)?),
        Experiment::Hsi => learning::hyperspectral(settings, control),
        Experiment::MnistSmall => learning::exploration(Dataset::MnistSmall, settings, control),
        Experiment::FashionMnistSmall => learning::exploration(Dataset::FashionMnistSmall, settings, control),
        Experiment::Mnist => learning::exploration(Dataset::Mnist, settings, control),
        Experiment::FashionMnist => learning::exploration(Dataset::FashionMnist, settings, control),
        Experiment::Timing => timing::run(settings, control),
        Experiment::Ssl => ssl::run(settings, control),
    }
}
