//! The theory of the paper (`sec:theory`) and its continuum examples, made computable: each quantity of a statement is a
//! function, each demonstration a figure, each guarantee is set beside a simulation.
//!
//! | part | of the paper |
//! |---|---|
//! | [`continuum`] | `eq:poisson-ctnm-2d`, `fig:2d-propagation` |
//! | [`heat`] | Poisson as a backward Euler step of heat (`eq:heat-eqn-start`) |
//! | [`separation`] | Definition `def:class-separator`, Remark `rem:C-clusters` |
//! | [`exploration`] | Proposition `prop:cluster-exploration`, Remark `rem:explain-bound` |
//! | [`mixtures`] | Propositions `prop:heat-class-sep` and `prop:low-mode-estimate`, the Corollary |
//! | [`exploitation`] | `eq:Int-Diff-alpha` to `eqn:qbar-lambda0`, `fig:unc-demo-lambda` |
//! | [`uncertainty`] | Remark `remark:2types-unc`, `eqn:G-x-eta` |
//! | [`consistency`] | Theorem `thm:consistency-dir-learning` |
//!
//! Where a printed formula is wrong, the right one is implemented and the printed one shown beside it; the header of the
//! module says which is which. [`run`] makes an [`Outcome`], [`write()`] writes it down and keeps `theory.html` over
//! everything written so far.

pub mod consistency;
pub mod continuum;
pub mod exploitation;
pub mod exploration;
pub mod heat;
pub mod mixtures;
pub mod separation;
pub mod slopes;
pub mod uncertainty;
mod verdicts;

use std::path::{Path, PathBuf};

use dial::Control;
use rayon::prelude::*;
use serde_json::json;

pub use crate::error::LabError;
pub use crate::output::{Drawn, Tidy};
use crate::reproduce::pools::Dataset;
pub use crate::study::{Finding, Named, Outcome, Verdict};
use crate::study::{Run, Study, version};
use dial_plot::words::Listed;

/// How fine everything is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Seconds a part: coarse grids, few repetitions.
    Quick,
    /// What the documentation shows: up to a minute a part.
    #[default]
    Usual,
    /// Fine grids and many repetitions: minutes a part.
    Fine,
}

impl Level {
    /// One of three values, by the level.
    pub fn pick<T>(self, quick: T, usual: T, fine: T) -> T {
        match self {
            Level::Quick => quick,
            Level::Usual => usual,
            Level::Fine => fine,
        }
    }

    fn word(self) -> &'static str {
        self.pick("quick", "", "fine")
    }
}

/// How to run a part.
#[derive(Clone, Debug, PartialEq)]
pub struct TheoryOptions {
    /// How fine.
    pub level: Level,
    /// The seed of everything drawn at random.
    pub seed: u64,
    /// Folder of the paper's data, for the parts that look at real pools as well; without it they use the digits that
    /// come with DiAL.
    pub data: Option<PathBuf>,
    /// Where everything is written.
    pub folder: PathBuf,
}

impl TheoryOptions {
    /// What distinguishes runs that must not share a folder.
    fn mode(&self) -> String {
        let words = [
            self.level.word(),
            if self.data.is_some() { "with data" } else { "" },
        ];
        words
            .into_iter()
            .filter(|word| !word.is_empty())
            .joined(" ")
    }
}

impl Default for TheoryOptions {
    fn default() -> TheoryOptions {
        TheoryOptions {
            level: Level::default(),
            seed: 0,
            data: None,
            folder: PathBuf::from("dial-theory"),
        }
    }
}

/// A part of the theory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Propagation in the plane, from a density.
    Continuum,
    /// Heat against Poisson.
    Heat,
    /// Class separators.
    Separation,
    /// The exploration guarantee.
    Exploration,
    /// Parameters of mixtures and what follows from them.
    Mixtures,
    /// Where sampling settles after very many questions.
    Exploitation,
    /// Population and data-conditional uncertainty.
    Uncertainty,
    /// Consistency of the classifier.
    Consistency,
}

impl Named for Part {
    const ALL: &'static [Part] = &[
        Part::Continuum,
        Part::Heat,
        Part::Separation,
        Part::Exploration,
        Part::Mixtures,
        Part::Exploitation,
        Part::Uncertainty,
        Part::Consistency,
    ];

    fn word(self) -> &'static str {
        match self {
            Part::Continuum => "continuum",
            Part::Heat => "heat",
            Part::Separation => "separation",
            Part::Exploration => "exploration",
            Part::Mixtures => "mixtures",
            Part::Exploitation => "exploitation",
            Part::Uncertainty => "uncertainty",
            Part::Consistency => "consistency",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Part::Continuum => {
                "Propagation in the continuum (eq:poisson-ctnm-2d, fig:2d-propagation)"
            }
            Part::Heat => "Heat against Poisson (eq:heat-eqn-start)",
            Part::Separation => "Class separation (def:class-separator)",
            Part::Exploration => "The exploration guarantee (prop:cluster-exploration)",
            Part::Mixtures => "Mixture parameters (prop:heat-class-sep, prop:low-mode-estimate)",
            Part::Exploitation => "Asymptotic exploitation (eq:ode-alpha, fig:unc-demo-lambda)",
            Part::Uncertainty => "Population and data-conditional uncertainty (remark:2types-unc)",
            Part::Consistency => "Consistency (thm:consistency-dir-learning)",
        }
    }
}

/// What a function makes of each of many things, in parallel; each is a step of progress.
fn each<T: Sync, R: Send>(
    all: &[T],
    control: &Control,
    one: impl Fn(&T) -> Result<R, LabError> + Sync,
) -> Result<Vec<R>, LabError> {
    let step = |thing: &T| {
        let made = one(thing)?;
        control.advance(1)?;
        Ok(made)
    };
    all.par_iter().map(step).collect()
}

/// The paragraphs of a text, each in one line.
fn paragraphs(text: &str) -> Vec<String> {
    let paragraphs = text.trim_end().split("\n\n");
    paragraphs.map(|lines| lines.replace('\n', " ")).collect()
}

/// Runs a part.
///
/// # Errors
/// Cancelled; data that cannot be read.
pub fn run(part: Part, settings: &TheoryOptions, control: &Control) -> Result<Outcome, LabError> {
    match part {
        Part::Continuum => continuum::run(settings, control),
        Part::Heat => heat::run(settings, control),
        Part::Separation => separation::run(settings, control),
        Part::Exploration => exploration::run(settings, control),
        Part::Mixtures => mixtures::run(settings, control),
        Part::Exploitation => exploitation::run(settings, control),
        Part::Uncertainty => uncertainty::run(settings, control),
        Part::Consistency => consistency::run(settings, control),
    }
}

/// A note about quick runs.
pub const QUICK: &str = "coarse grids and few repetitions (--quick), so that verdicts may differ from those of a full run";

fn study(folder: &Path) -> Study<'_> {
    Study {
        title: "The theory of Dirichlet Active Learning, computed",
        page: "theory",
        parts: Part::words(),
        lead: |sections| {
            format!(
                "{} of the paper's theory, computed by DiAL {}. Each part says what is computed, \
                 and where the numbers bear the paper out and where they do not.",
                match sections.len() {
                    8 => "All eight parts".to_string(),
                    some => format!("{some} of the eight parts"),
                },
                version(sections)
            )
        },
        gathered: false,
        overall: |_| Vec::new(),
        folder,
    }
}

/// Whether a folder holds the real pool that some parts look at.
pub fn has_data(folder: &Path) -> bool {
    folder.join(Dataset::MnistSmall.file()).is_file()
}

/// Refuses what cannot be done before anything is: data that are not there, and a folder that holds runs of another level,
/// seed, or data.
///
/// # Errors
/// It does.
pub fn check(settings: &TheoryOptions) -> Result<(), LabError> {
    if let Some(folder) = settings.data.as_deref().filter(|folder| !has_data(folder)) {
        let file = Dataset::MnistSmall.file();
        let detail = format!(
            "{} holds no {file}. Nothing was done. Name the folder that holds `features`, or leave --data out: the digits \
             that come with DiAL are looked at in any case.",
            folder.display()
        );
        return Err(LabError::input("I5", detail));
    }
    study(&settings.folder).check(&settings.mode(), settings.seed)
}

/// Writes what a part gave, and `theory.html` over the folder; returns the files, the report first.
///
/// # Errors
/// What the disk says.
pub fn write(
    part: Part,
    outcome: &Outcome,
    settings: &TheoryOptions,
    seconds: f64,
) -> Result<Vec<PathBuf>, LabError> {
    let level = settings.level.word();
    let flag = if level.is_empty() {
        String::new()
    } else {
        format!(" --{level}")
    };
    let (flag, data) = match settings.data {
        Some(_) => (
            flag + " --data DIR",
            ", with a part of MNIST-SMALL where real pools are looked at",
        ),
        None => (flag, ""),
    };
    let fineness = settings
        .level
        .pick(QUICK, "usual level", "fine grids and many repetitions");
    let run = Run {
        word: part.word(),
        title: part.title(),
        mode: &settings.mode(),
        seed: settings.seed,
        made: format!("Seed {}, {fineness}{data}", settings.seed),
        seconds,
        goes_on: false,
        repeat: json!({
            "command": format!("dial lab theory {} --seed {}{flag}", part.word(), settings.seed),
            "version": env!("CARGO_PKG_VERSION"),
            "seed": settings.seed,
            "level": settings.level.pick("quick", "usual", "fine"),
            "details": outcome.settings,
        }),
    };
    study(&settings.folder).write(&run, outcome)
}
