//! Which methods each experiment compares (`table:acq_funcs`), under the names the paper gives them.
//!
//! The paper's text calibrates α₀ for both Dirichlet policies; its authors' scripts ran with α₀ = 1. Both are drawn for
//! the maximum policy, because they differ; the proportional policy is calibrated, as in the text.

use dial::Policy;
use dial::acquisition::Score;
use dial::belief::prior::Prior;
use dial_baselines::methods::Method;
use dial_baselines::models::ModelName;

use super::pools::Dataset;

/// Where the questions of a line come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// An acquisition of ours.
    Method(Method),
    /// The ranking the authors published with their data.
    AuthorsLand,
}

/// One line of a figure: a way of asking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The name in figures and tables.
    pub name: &'static str,
    /// The name in file names.
    pub stem: &'static str,
    /// What is asked.
    pub source: Source,
    /// How it is chosen.
    pub policy: Policy,
    /// α₀.
    pub prior: Prior,
    /// A second classifier that judges the same questions.
    pub judge: Option<ModelName>,
    /// Whether the paper's figure shows it; others are in the table only.
    pub shown: bool,
}

/// Dirichlet variance, maximum policy, α₀ = 1.
pub const DIR_VAR: &str = "Dir. Var.";
/// Dirichlet variance, maximum policy, α₀ calibrated.
pub const DIR_VAR_CALIBRATED: &str = "Dir. Var. (calibrated)";
/// Dirichlet variance, proportional policy.
pub const DIR_VAR_PROP: &str = "Dir. Var. (Prop)";
/// LAND's order of questions.
pub const LAND: &str = "LAND";
/// The authors' order.
pub const LAND_AUTHORS: &str = "LAND (authors' ranking)";
/// Smallest margin in Laplace learning.
pub const UNC_SM: &str = "Unc. (SM)";
/// Full variance optimality.
pub const VOPT_FULL: &str = "VOpt (Full)";
/// Full Σ-optimality.
pub const SIGMA_FULL: &str = "ΣOpt (Full)";
/// Spectral variance optimality.
pub const VOPT: &str = "VOpt";
/// Spectral Σ-optimality.
pub const SIGMA: &str = "ΣOpt";
/// Model change.
pub const MCVOPT: &str = "MCVOpt";
/// No preference.
pub const RANDOM: &str = "Rand.";

const fn line(name: &'static str, stem: &'static str, method: Method) -> Line {
    Line {
        name,
        stem,
        source: Source::Method(method),
        policy: Policy::Max,
        prior: Prior::Constant(1.0),
        judge: None,
        shown: true,
    }
}

const VARIANCE: Method = Method::Score(Score::Variance, ModelName::Dirichlet);

/// The lines of a data set.
pub fn lines(dataset: Dataset) -> Vec<Line> {
    let large = matches!(dataset, Dataset::Mnist | Dataset::FashionMnist);
    let calibrated = |line: Line| Line {
        prior: Prior::Calibrated,
        ..line
    };
    let mut lines = vec![
        calibrated(Line {
            policy: Policy::Proportional,
            ..line(DIR_VAR_PROP, "variance-proportional", VARIANCE)
        }),
        line(DIR_VAR, "variance-max", VARIANCE),
        calibrated(line(
            DIR_VAR_CALIBRATED,
            "variance-max-calibrated",
            VARIANCE,
        )),
    ];
    if large {
        lines.push(line(VOPT, "vopt", Method::VOpt));
        lines.push(line(SIGMA, "sigma-opt", Method::SigmaOpt));
    } else {
        lines.push(Line {
            judge: Some(ModelName::Land),
            ..line(LAND, "land", Method::Land)
        });
        if dataset.hyperspectral() {
            let authors = line(LAND_AUTHORS, "land-authors", Method::Land);
            lines.push(Line {
                source: Source::AuthorsLand,
                judge: Some(ModelName::Land),
                ..authors
            });
        }
        lines.push(line(VOPT_FULL, "vopt-full", Method::VOptFull));
        lines.push(line(SIGMA_FULL, "sigma-opt-full", Method::SigmaOptFull));
        lines.push(Line {
            shown: false,
            ..line(VOPT, "vopt", Method::VOpt)
        });
        lines.push(Line {
            shown: false,
            ..line(SIGMA, "sigma-opt", Method::SigmaOpt)
        });
    }
    lines.push(line(MCVOPT, "mcvopt", Method::McVOpt));
    lines.push(line(
        UNC_SM,
        "margin-laplace",
        Method::Score(Score::Margin, ModelName::Laplace),
    ));
    lines.push(line(
        RANDOM,
        "random",
        Method::Score(Score::Random, ModelName::Dirichlet),
    ));
    lines
}
