//! Population and data-conditional uncertainty (Remark `remark:2types-unc`, Example `example:2types-unc`).
//!
//! ```text
//! population         G(x; η) = Σ_k η_k (1 - η_k)            (eqn:G-x-eta), or min{p(x, 0), p(x, 1)} as in the example
//! data-conditional   V(α(x)), the variance of the Dirichlet field                (eq:dirichlet-variance-af)
//! between them       V = G/(β + 1)                                               (above eqn:G-x-eta)
//! ```
//!
//! The paper derives V = G/(β + 1) for a Dirac kernel and no prior, where it is an identity. Here it is followed
//! through a run: with a prior ([`formulas::shrunk`]), with labels drawn at random ([`formulas::label_error`]) and
//! with a kernel of a width, where V (β + 1) tends to G of the *smoothed* trend ([`process::Line::smoothed`])
//! instead. How much of the acquisition is population uncertainty and how much want of evidence is told by its
//! correlations with G and with 1/(1 + evidence).
//!
//! The mixture is that of every one-dimensional experiment ([`dial_data::generate::clusters_1d`]); the kernel is an
//! RBF of σ = 1/2 (the γ = 2 of the paper's example), 1/10 and 1/50; α₀ = 0.1; two initial labels in the large
//! clusters.

mod figures;
pub mod formulas;
pub mod process;
mod findings;

use dial::Control;

use super::{LabError, Outcome, TheoryOptions, each, paragraphs};
use dial_plot::stats::mean;
use process::{Line, Sampling, Trial};

/// σ of the kernels: the paper's γ = 2 first.
pub const WIDTHS: [f64; 3] = [0.5, 0.1, 0.02];
/// After how many queries the field is drawn.
pub const DRAWN_AFTER_QUERIES: [usize; 5] = [0, 5, 20, 100, 1000];

/// The trials of one way of sampling with one kernel.
struct Arm {
    sampling: Sampling,
    trials: Vec<Trial>,
}

impl Arm {
    /// What a function of the measurements gives, trial by trial, checkpoint by checkpoint.
    fn curves(&self, value: impl Fn(&process::Measured) -> f64) -> Vec<Vec<f64>> {
        self.trials
            .iter()
            .map(|trial| trial.measured.iter().map(&value).collect())
            .collect()
    }

    /// The mean over the trials at a checkpoint.
    fn mean(&self, checkpoint: usize, value: impl Fn(&process::Measured) -> f64) -> f64 {
        mean(
            self.trials
                .iter()
                .map(|trial| value(&trial.measured[checkpoint])),
        )
    }
}

/// All ways of sampling with one kernel.
struct Experiment {
    line: Line,
    arms: Vec<Arm>,
}

impl Experiment {
    fn arm(&self, sampling: Sampling) -> &Arm {
        self.arms
            .iter()
            .find(|arm| arm.sampling == sampling)
            .expect("all of them ran")
    }
}

/// Query counts at which everything is measured: evenly spread logarithms, and those of [`DRAWN_AFTER_QUERIES`].
fn checkpoints(last: usize) -> Vec<usize> {
    let steps = (0..)
        .map(|i| libm::pow(10.0, f64::from(i) / 6.0).round() as usize)
        .take_while(|count| *count < last);
    let mut all: Vec<usize> = DRAWN_AFTER_QUERIES
        .into_iter()
        .filter(|count| *count < last)
        .chain(steps)
        .chain([last])
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The process for every kernel and way of sampling over several seeds; the field itself is drawn for the first.
///
/// # Errors
/// Cancelled.
pub fn run(settings: &TheoryOptions, control: &Control) -> Result<Outcome, LabError> {
    let seeds = settings.level.pick(6, 16, 96);
    let last = settings.level.pick(1000, 10_000, 30_000);
    let checkpoints = checkpoints(last);
    control.start(
        "runs on the line",
        WIDTHS.len() * Sampling::ALL.len() * seeds,
    );
    let mut experiments = Vec::new();
    for width in WIDTHS {
        let line = Line::new(width);
        let mut arms = Vec::new();
        for sampling in Sampling::ALL {
            let numbers: Vec<usize> = (0..seeds).collect();
            let trials = each(&numbers, control, |number| {
                let shown: &[usize] = if *number == 0 {
                    &DRAWN_AFTER_QUERIES
                } else {
                    &[]
                };
                let seed = settings.seed.wrapping_add(*number as u64);
                process::trial(&line, sampling, &checkpoints, shown, seed, control)
            })?;
            arms.push(Arm { sampling, trials });
        }
        experiments.push(Experiment { line, arms });
    }
    control.finish();
    Ok(Outcome {
        text: paragraphs(include_str!("uncertainty/text.md")),
        figures: figures::figures(&experiments, &checkpoints),
        tables: findings::tables(&experiments, &checkpoints),
        summaries: findings::summaries(&experiments, &checkpoints),
        findings: findings::findings(&experiments, &checkpoints),
        notes: findings::notes(&experiments[0].line),
        trials: Some(seeds),
        settings: vec![findings::settings(seeds, last)],
        ..Outcome::default()
    })
}
