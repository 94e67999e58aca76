//! Consistency of the classifier (Theorem `thm:consistency-dir-learning`, `eq:eta-hat`).
//!
//! ```text
//! η̂(x) = Σ Y_i k_t(X_i, x) / (n E_ρ[k_t(Z, x)])        F = ∫ |η̂ - η| ρ dx
//! printed      F <= 4√2 θ √(ln(1/δ)/n) with probability 1 - δ
//! what holds   F <= E F + θ̃ √(2 ln(1/δ)/n),  E F <= ∫ |E η̂ - η| ρ dx + E ∫ |η̂ - E η̂| ρ dx      bias and variance
//! ```
//!
//! Only the fluctuation of F about its mean is of order n^-½. Bias ~ t and variance part ~ (n t^{d/2})^-½ are
//! balanced by t = c n^{-2/(4+d)}, and E F is then of order n^{-2/(4+d)} for a smooth trend: n^{-2/5} on the
//! interval, n^{-1/3} on the square. See [`bounds`] for where the printed statement goes wrong, [`estimate`] for the
//! two normalisers.
//!
//! Examples: the unit interval and square with uniform density and trend 1/2 + 1/4 Π cos(πx_i), where the heat kernel
//! and the bias are known exactly ([`kernel`]); and the interval with density 1 + 0.8 cos(2πx) by finite volumes
//! ([`weighted`]). t = 0.1 n^{-2/(4+d)} throughout.

pub mod bounds;
mod figures;
pub mod estimate;
pub mod kernel;
mod risk;
mod findings;
pub mod weighted;

use dial::Control;
use dial::seed::{Purpose, Random};

use super::{LabError, Level, Outcome, TheoryOptions, each, paragraphs};
use dial_plot::stats::mean;
use estimate::{Cube, Judged, bayes_risk};
use weighted::Weighted;

/// c of t = c n^{-2/(4+d)}.
pub const FACTOR: f64 = 0.1;
/// Cells of the interval with a density.
const CELLS: usize = 200;
/// Its amplitude.
const AMPLITUDE: f64 = 0.8;
/// t = n^-a for these, to see which condition on n and t is the right one.
const EXPONENTS: [f64; 4] = [0.4, 1.0, 1.5, 2.0];
/// t = n^-this satisfies the theorem's conditions and lets the bias decay too slowly for its conclusion.
const SLOW: f64 = 0.1;
/// δ of the bounds that are drawn.
const DELTA: f64 = 0.05;

/// t(n) = c n^{-2/(4+d)}.
pub fn time(count: usize, dimension: usize) -> f64 {
    FACTOR * libm::pow(count as f64, -2.0 / (4.0 + dimension as f64))
}

/// The standard deviation of F over repetitions: how far one of them is from their mean.
pub fn fluctuation(errors: &[f64]) -> f64 {
    dial_plot::stats::interval(errors).deviation
}

/// One example over sample sizes.
struct Curve {
    name: &'static str,
    dimension: usize,
    counts: Vec<usize>,
    times: Vec<f64>,
    /// Repetitions at each size.
    judged: Vec<Vec<Judged>>,
    /// ∫ |E η̂ - η| ρ dx.
    bias: Vec<f64>,
    /// θ and θ̃.
    constants: Vec<(f64, f64)>,
    bayes: f64,
}

fn numbers(counts: &[usize]) -> Vec<f64> {
    counts.iter().map(|n| *n as f64).collect()
}

fn values(judged: &[Vec<Judged>], f: impl Fn(&Judged) -> f64) -> Vec<Vec<f64>> {
    judged
        .iter()
        .map(|judged| judged.iter().map(&f).collect())
        .collect()
}

impl Curve {
    fn sizes(&self) -> Vec<f64> {
        numbers(&self.counts)
    }

    /// A function of the repetitions, for each size.
    fn values(&self, f: impl Fn(&Judged) -> f64) -> Vec<Vec<f64>> {
        values(&self.judged, f)
    }

    fn means(&self, f: impl Fn(&Judged) -> f64) -> Vec<f64> {
        self.values(f).iter().map(mean).collect()
    }

    /// The standard deviation of F over the repetitions.
    fn fluctuation(&self) -> Vec<f64> {
        self.values(|j| j.error)
            .iter()
            .map(|errors| fluctuation(errors))
            .collect()
    }
}

/// Repetitions with t = n^-a.
struct Scaling {
    exponent: f64,
    counts: Vec<usize>,
    judged: Vec<Vec<Judged>>,
}

impl Scaling {
    fn sizes(&self) -> Vec<f64> {
        numbers(&self.counts)
    }

    /// A function of the repetitions, for each size.
    fn values(&self, f: impl Fn(&Judged) -> f64) -> Vec<Vec<f64>> {
        values(&self.judged, f)
    }
}

/// Everything that was computed.
struct Study {
    curves: Vec<Curve>,
    conditions: Vec<Scaling>,
    slow: Scaling,
    /// Many repetitions of the interval at one size, for the tail.
    tail: (usize, Vec<f64>),
}

/// Sizes from 10^low in steps of √10.
fn sizes(low: u32, steps: u32) -> Vec<usize> {
    (0..steps)
        .map(|i| libm::pow(10.0, f64::from(low) + 0.5 * f64::from(i)).round() as usize)
        .collect()
}

/// Draws samples: the stream of a repetition is named by the experiment, the size and its number.
struct Draws<'a> {
    seed: u64,
    control: &'a Control,
}

impl Draws<'_> {
    fn repeat(
        &self,
        experiment: u64,
        size: usize,
        repetitions: usize,
        one: impl Fn(&mut Random) -> Judged + Sync,
    ) -> Result<Vec<Judged>, LabError> {
        let numbers: Vec<u64> = (0..repetitions as u64).collect();
        each(&numbers, self.control, |number| {
            let stream = (experiment << 48) | ((size as u64) << 24) | number;
            Ok(one(&mut Random::new(self.seed, Purpose::User, stream)))
        })
    }

    fn scaling(
        &self,
        experiment: u64,
        exponent: f64,
        counts: &[usize],
        repetitions: usize,
    ) -> Result<Scaling, LabError> {
        let mut judged = Vec::new();
        for n in counts {
            let time = libm::pow(*n as f64, -exponent);
            // Two grid points to a width of the kernel.
            let cube = Cube::new(1, ((2.0 / time.sqrt()) as usize).max(400), time);
            judged.push(self.repeat(experiment, *n, repetitions, |random| {
                cube.repetition(*n, random)
            })?);
        }
        Ok(Scaling {
            exponent,
            counts: counts.to_vec(),
            judged,
        })
    }

    fn cube(
        &self,
        dimension: usize,
        counts: Vec<usize>,
        side: usize,
        repetitions: usize,
    ) -> Result<Curve, LabError> {
        let times: Vec<f64> = counts.iter().map(|n| time(*n, dimension)).collect();
        let cubes: Vec<Cube> = times
            .iter()
            .map(|time| Cube::new(dimension, side, *time))
            .collect();
        let mut judged = Vec::new();
        for (n, cube) in counts.iter().zip(&cubes) {
            judged.push(self.repeat(dimension as u64, *n, repetitions, |random| {
                cube.repetition(*n, random)
            })?);
        }
        Ok(Curve {
            name: if dimension == 1 { "interval" } else { "square" },
            dimension,
            bias: times
                .iter()
                .map(|time| bounds::bias(*time, dimension))
                .collect(),
            constants: vec![(1.0, 1.0); counts.len()],
            bayes: bayes_risk(&cubes[0].mass(), &cubes[0].trend),
            counts,
            times,
            judged,
        })
    }

    fn weighted(&self, counts: Vec<usize>, repetitions: usize) -> Result<Curve, LabError> {
        let times: Vec<f64> = counts.iter().map(|n| time(*n, 1)).collect();
        let kernels: Vec<Weighted> = times
            .iter()
            .map(|time| Weighted::new(CELLS, AMPLITUDE, 2, *time))
            .collect();
        let mut judged = Vec::new();
        for (n, kernel) in counts.iter().zip(&kernels) {
            judged.push(self.repeat(3, *n, repetitions, |random| kernel.repetition(*n, random))?);
        }
        Ok(Curve {
            name: "interval with a density",
            dimension: 1,
            bias: kernels.iter().map(Weighted::bias).collect(),
            constants: kernels
                .iter()
                .map(|kernel| (kernel.theta(), kernel.influence()))
                .collect(),
            bayes: bayes_risk(&kernels[0].mass(), &kernels[0].trend),
            counts,
            times,
            judged,
        })
    }
}

fn study(level: Level, draws: &Draws<'_>) -> Result<Study, LabError> {
    let repetitions = level.pick(50, 300, 2000);
    let line = sizes(2, level.pick(5, 7, 8));
    let square = sizes(2, level.pick(4, 6, 7));
    let small: Vec<usize> = (5..level.pick(10, 11, 12)).map(|k| 1 << k).collect();
    let many = level.pick(500, 4000, 20_000);
    let one = many
        + (2 * line.len() + square.len() + line.len() + EXPONENTS.len() * small.len())
            * repetitions;
    draws.control.start("samples", one);
    let curves = vec![
        draws.cube(1, line.clone(), 1000, repetitions)?,
        draws.cube(2, square, level.pick(48, 80, 120), repetitions)?,
        draws.weighted(line.clone(), repetitions)?,
    ];
    let conditions = (0..)
        .zip(EXPONENTS)
        .map(|(i, a)| draws.scaling(8 + i, a, &small, repetitions));
    let conditions = conditions.collect::<Result<Vec<Scaling>, LabError>>()?;
    let slow = draws.scaling(4, SLOW, &line, repetitions)?;
    let count = 1000;
    let cube = Cube::new(1, 500, time(count, 1));
    let errors = draws.repeat(5, count, many, |random| cube.repetition(count, random))?;
    draws.control.finish();
    Ok(Study {
        curves,
        conditions,
        slow,
        tail: (count, errors.iter().map(|judged| judged.error).collect()),
    })
}

/// The examples over sample sizes, the two conditions on n and t, the theorem as printed, the tail, and the risk.
///
/// # Errors
/// Cancelled.
pub fn run(settings: &TheoryOptions, control: &Control) -> Result<Outcome, LabError> {
    let study = study(
        settings.level,
        &Draws {
            seed: settings.seed,
            control,
        },
    )?;
    let shown = figures::shown(settings.seed);
    Ok(Outcome {
        text: paragraphs(include_str!("consistency/text.md")),
        figures: vec![
            figures::trends(&shown),
            figures::rates(&study),
            figures::bounds(&study),
            risk::figure(&study.curves),
        ],
        tables: findings::tables(&study),
        summaries: vec![
            findings::summary(&study.curves),
            risk::summary(&study.curves),
        ],
        findings: findings::findings(&study)
            .into_iter()
            .chain(risk::findings(&study.curves))
            .collect(),
        notes: findings::notes(),
        trials: Some(study.curves[0].judged[0].len()),
        settings: vec![findings::settings(&study)],
        ..Outcome::default()
    })
}
