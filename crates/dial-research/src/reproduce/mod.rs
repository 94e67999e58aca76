//! The paper's experiments and figures, from one call each: run, draw, tabulate, and say what the run shows.
//!
//! [`run`] makes an [`Outcome`]; [`write()`] writes it down and keeps one report over everything written so far. Curve
//! experiments and classifiers keep their finished pieces in [`crate::cells`], so that a killed run goes on where it stopped.

pub mod alignment;
pub mod moons;
pub mod one_d;
pub mod svm;
pub mod claims;
pub mod curves;
mod dense;
pub mod density;
pub mod learning;
pub mod lines;
pub mod pools;
pub mod ssl;
pub mod method_result;
pub mod timing;
pub mod variance;

use std::path::{Path, PathBuf};

use dial::Control;
use serde_json::{Value, json};

pub use crate::error::LabError;
pub use crate::output::{Drawn, Tidy};
pub use crate::study::{Finding, Named, Outcome, Verdict};
use crate::study::{Run, Section, Study, version};
use pools::{Dataset, Origin};

/// How to run an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct ReproduceOptions {
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

impl Default for ReproduceOptions {
    fn default() -> ReproduceOptions {
        ReproduceOptions {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Variance of a Dirichlet distribution.
    Variance,
    /// Alignment of kernel and probabilities.
    Alignment,
    /// Propagation operators on two moons.
    Propagation2d,
    /// Two kinds of uncertainty on a line.
    Uncertainty1d,
    /// Salinas-A and Pavia.
    Hsi,
    /// Ten thousand digits.
    MnistSmall,
    /// Ten thousand garments.
    FashionMnistSmall,
    /// All digits.
    Mnist,
    /// All garments.
    FashionMnist,
    /// The cost of the acquisitions.
    Timing,
    /// Classifiers at few labels.
    Ssl,
}

impl Named for Experiment {
    const ALL: &'static [Experiment] = &[
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

    fn word(self) -> &'static str {
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

    fn title(self) -> &'static str {
        match self {
            Experiment::Variance => "Variance of a Dirichlet distribution (fig:var-beta-heatmap)",
            Experiment::Alignment => "Alignment of kernel and probabilities (fig:cluster-align)",
            Experiment::Propagation2d => "Propagation operators on two moons (fig:2d-propagation)",
            Experiment::Uncertainty1d => {
                "Two kinds of uncertainty on a line (fig:unc-demo, fig:unc-demo-kde)"
            }
            Experiment::Hsi => "Hyperspectral pools: Salinas-A and Pavia (fig:hsi-plots)",
            Experiment::MnistSmall => "MNIST-SMALL (fig:mnistsmall-acc, fig:mnistsmall-clusterexp)",
            Experiment::FashionMnistSmall => {
                "FASHIONMNIST-SMALL (fig:fashionmnistsmall-acc, fig:fashionmnistsmall-clusterexp)"
            }
            Experiment::Mnist => "MNIST (fig:mnist)",
            Experiment::FashionMnist => "FASHIONMNIST (fig:fashionmnist)",
            Experiment::Timing => {
                "Cost of the acquisitions (fig:timing-comparison, table:comp_comparison)"
            }
            Experiment::Ssl => "Classifiers at one to five labels per class",
        }
    }
}

impl Experiment {
    /// Whether its finished pieces are kept, so that a second run only adds what is missing.
    pub fn keeps_cells(self) -> bool {
        use Experiment::{FashionMnist, FashionMnistSmall, Hsi, Mnist, MnistSmall, Ssl};
        matches!(
            self,
            Hsi | MnistSmall | FashionMnistSmall | Mnist | FashionMnist | Ssl
        )
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
}

/// The report over all experiments of a folder.
fn study(folder: &Path) -> Study<'_> {
    Study {
        title: "Dirichlet Active Learning, reproduced",
        page: "report",
        parts: Experiment::words(),
        lead,
        gathered: true,
        overall: |sections| {
            let pools: Vec<_> = sections
                .iter()
                .flat_map(|section| section.standings.clone())
                .collect();
            claims::overall(&pools).into_iter().collect()
        },
        folder,
    }
}

fn lead(sections: &[Section]) -> String {
    let quick = sections
        .iter()
        .filter(|section| section.mode == QUICK)
        .count();
    let mut text = format!(
        "{} of the paper's experiments, run by DiAL {}. Bands and intervals are 95 % confidence intervals of the mean \
         over trials; ± in tables of accuracies is the standard error. Wall times are of the machine at hand, which may have done other work, and do not count runs that were cut off.",
        sections.len(),
        version(sections)
    );
    if quick > 0 {
        text += &format!(
            "\n{quick} of them in a quick version on generated pools, which shows that everything runs and nothing more."
        );
    }
    text
}

const QUICK: &str = "quick";

impl ReproduceOptions {
    fn mode(&self) -> &'static str {
        if self.quick { QUICK } else { "" }
    }
}

/// Writes what an experiment gave and the report over the folder; returns the files, the report first.
///
/// # Errors
/// What the disk says.
pub fn write(
    experiment: Experiment,
    outcome: &Outcome,
    settings: &ReproduceOptions,
    seconds: f64,
) -> Result<Vec<PathBuf>, LabError> {
    let quick = if settings.quick {
        ", quick version on generated pools"
    } else {
        ""
    };
    let trials = match outcome.trials {
        None => format!("Seed {}", settings.seed),
        Some(1) => format!("1 trial, seed {}", settings.seed),
        Some(many) => format!("{many} trials, seed {}", settings.seed),
    };
    let run = Run {
        word: experiment.word(),
        title: experiment.title(),
        mode: settings.mode(),
        seed: settings.seed,
        made: format!("{trials}{quick}"),
        seconds,
        goes_on: experiment.keeps_cells(),
        repeat: repeat(experiment, outcome, settings),
    };
    study(&settings.folder).write(&run, outcome)
}

/// Everything that repeats an experiment exactly.
fn repeat(experiment: Experiment, outcome: &Outcome, settings: &ReproduceOptions) -> Value {
    let quick = if settings.quick { " --quick" } else { "" };
    let spare = if settings.spare_class_0 {
        " --spare-class-0"
    } else {
        ""
    };
    json!({
        "command": format!(
            "dial lab reproduce {} --trials {} --queries {} --seed {}{quick}{spare}",
            experiment.word(), settings.trials, settings.queries, settings.seed
        ),
        "version": env!("CARGO_PKG_VERSION"),
        "method_version": dial::METHOD_VERSION,
        "trials": outcome.trials,
        "queries": settings.queries,
        "seed": settings.seed,
        "quick": settings.quick,
        "spare_class_0": settings.spare_class_0,
        "pools": outcome.settings,
    })
}

/// Refuses what cannot be done before anything is: data that are missing, and a folder that holds runs of another kind.
pub fn check(experiments: &[Experiment], settings: &ReproduceOptions) -> Result<(), LabError> {
    let mut datasets: Vec<Dataset> = experiments
        .iter()
        .flat_map(|experiment| experiment.datasets())
        .copied()
        .collect();
    datasets.dedup();
    pools::check(&datasets, &settings.origin)?;
    study(&settings.folder).check(settings.mode(), settings.seed)
}

/// Runs an experiment.
pub fn run(
    experiment: Experiment,
    settings: &ReproduceOptions,
    control: &Control,
) -> Result<Outcome, LabError> {
    match experiment {
        Experiment::Variance => Ok(variance::run(settings, control)?),
        Experiment::Alignment => Ok(alignment::run(settings, control)?),
        Experiment::Propagation2d => Ok(moons::run(settings, control)?),
        Experiment::Uncertainty1d => Ok(one_d::run(settings, control)?),
        Experiment::Hsi => learning::hyperspectral(settings, control),
        Experiment::MnistSmall => learning::exploration(Dataset::MnistSmall, settings, control),
        Experiment::FashionMnistSmall => {
            learning::exploration(Dataset::FashionMnistSmall, settings, control)
        }
        Experiment::Mnist => learning::exploration(Dataset::Mnist, settings, control),
        Experiment::FashionMnist => learning::exploration(Dataset::FashionMnist, settings, control),
        Experiment::Timing => timing::run(settings, control),
        Experiment::Ssl => ssl::run(settings, control),
    }
}
