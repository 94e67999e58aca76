//! Dirichlet Active Learning on the line, many queries long, and what is measured on the way.
//!
//! The process is the one the theory describes (`subsec:exploit-analysis`): places are drawn with repetition from a
//! uniform grid with probability ∝ exp(λ V), labels from the true trend. The kernel is K(z, x) = exp(-(z -
//! x)²/(2σ²)), with K(x, x) = 1 and mass σ √(2π).

use dial::policy::{Chooser, Policy, Sharpness, automatic_lambda};
use dial::seed::{Purpose, Random};
use dial::{Control, DirichletField, NodeId};
use dial_data::generate;

use super::LabError;
use super::formulas::{expected_after, population, scaled_variance};
use dial_plot::stats::correlation;

/// α₀.
pub const PRIOR: f64 = 0.1;
/// Half of the stretch of line that is looked at.
pub const HALF: f64 = 4.5;
/// Grid points to a unit of the line.
const PER_UNIT: usize = 100;
/// The places of the initial labels and their classes: in the largest clusters.
const INITIAL: [(f64, usize); 2] = [(-3.0, 0), (3.0, 1)];
/// Half the width of a boundary region.
pub const BOUNDARY_HALF_WIDTH: f64 = 0.25;
/// K̂ of the automatic λ: twice the number of clusters, as in the experiment on the line.
const EXPECTED_CLUSTERS: usize = 8;
/// λ₀ for a kernel of mass 1.
pub const START: f64 = 10.0;
/// A boundary between the classes, and the centre of a large cluster.
pub const WATCHED: [f64; 2] = [0.0, -3.0];

/// How sharply places are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// λ = 0: all places alike.
    Uniform,
    /// The automatic λ.
    Automatic,
    /// λ = λ₀ m t, m the mass of the kernel.
    Linear,
}

impl Sampling {
    /// All of them.
    pub const ALL: [Sampling; 3] = [Sampling::Uniform, Sampling::Automatic, Sampling::Linear];

    /// Its name in figures and tables.
    pub fn name(self) -> &'static str {
        match self {
            Sampling::Uniform => "uniform",
            Sampling::Automatic => "automatic λ",
            Sampling::Linear => "λ = λ₀ t",
        }
    }
}

/// The line: its grid, what is true on it, and the kernel.
#[derive(Clone, Debug)]
pub struct Line {
    /// The grid.
    pub x: Vec<f64>,
    /// p(x, 0) and p(x, 1).
    pub joint: [Vec<f64>; 2],
    /// The true trend η(x) = p(1 | x).
    pub trend: Vec<f64>,
    /// G(x; η).
    pub population: Vec<f64>,
    /// σ of the kernel.
    pub width: f64,
    /// K of two grid points by their distance in grid points.
    kernel: Vec<f64>,
}

impl Line {
    /// The mixture [`generate::clusters_1d`] with a kernel of width σ.
    pub fn new(width: f64) -> Line {
        let count = (2.0 * HALF) as usize * PER_UNIT + 1;
        let x: Vec<f64> = (0..count)
            .map(|i| i as f64 / PER_UNIT as f64 - HALF)
            .collect();
        let clusters = generate::clusters_1d();
        let joint = [0, 1].map(|class| {
            let at = |x: &f64| generate::joint_density(&clusters, &[*x], class);
            x.iter().map(at).collect::<Vec<f64>>()
        });
        let trend: Vec<f64> = joint[0]
            .iter()
            .zip(&joint[1])
            .map(|(a, b)| b / (a + b))
            .collect();
        let g = trend
            .iter()
            .map(|eta| population(&[*eta, 1.0 - eta]))
            .collect();
        let far = |steps: usize| steps as f64 / PER_UNIT as f64 / width;
        let kernel = (0..count)
            .map(|steps| libm::exp(-0.5 * far(steps) * far(steps)))
            .collect();
        Line {
            x,
            joint,
            trend,
            population: g,
            width,
            kernel,
        }
    }

    /// The grid point nearest to a place.
    pub fn node(&self, place: f64) -> usize {
        ((place + HALF) * PER_UNIT as f64).round() as usize
    }

    /// min{p(x, 0), p(x, 1)}: the population uncertainty as Example `example:2types-unc` draws it.
    pub fn overlap(&self) -> Vec<f64> {
        self.joint[0]
            .iter()
            .zip(&self.joint[1])
            .map(|(a, b)| a.min(*b))
            .collect()
    }

    /// Where the classes are equally likely: the trend crosses 1/2, to half a grid step.
    pub fn boundaries(&self) -> Vec<f64> {
        let crossing = |i: &usize| {
            (self.trend[*i] - 0.5) * (self.trend[i + 1] - 0.5) < 0.0 || self.trend[*i] == 0.5
        };
        (0..self.x.len() - 1)
            .filter(crossing)
            .map(|i| 0.5 * (self.x[i] + self.x[i + 1]))
            .collect()
    }

    /// The trend as the kernel sees it once places have been drawn uniformly for ever: Σ_z η(z) K(z, x) / Σ_z K(z,
    /// x). A kernel of fixed width never sees more, and V (β + 1) tends to G of this, not of η.
    pub fn smoothed(&self, node: usize) -> f64 {
        let at = |z: usize| self.kernel[z.abs_diff(node)];
        let nodes = 0..self.x.len();
        nodes.clone().map(|z| at(z) * self.trend[z]).sum::<f64>() / nodes.map(at).sum::<f64>()
    }

    /// ∫ K(z, x) dz = σ √(2π).
    pub fn mass(&self) -> f64 {
        self.width * (2.0 * std::f64::consts::PI).sqrt()
    }
}

/// What is measured after some queries.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The correlation over the line of the acquisition with G.
    pub with_population: f64,
    /// The correlation of the acquisition with 1/(1 + evidence).
    pub with_sparsity: f64,
    /// The mean over the line of |V (β + 1) - G|.
    pub off: f64,
    /// The same with the trend in place of the labels: no chance in them. With much evidence it is what the width of
    /// the kernel does.
    pub smoothing: f64,
    /// The largest variance on the line.
    pub largest: f64,
    /// The variance at [`WATCHED`].
    pub watched: [f64; 2],
    /// λ of the next query.
    pub lambda: f64,
    /// The share of the queries since the last measurement that fell within [`BOUNDARY_HALF_WIDTH`] of a boundary.
    pub near: f64,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Trial {
    /// What was measured at the checkpoints.
    pub measured: Vec<Measured>,
    /// Acquisition and V (β + 1) at the checkpoints that are shown.
    pub shown: Vec<[Vec<f64>; 2]>,
    /// The share of the queries after which the variance at the place asked was expected to rise, under the true
    /// trend.
    pub rises: f64,
}

/// Runs the process as far as the last checkpoint; the field is kept where `shown` says so.
///
/// # Errors
/// Cancelled.
pub fn trial(
    line: &Line,
    sampling: Sampling,
    checkpoints: &[usize],
    shown: &[usize],
    seed: u64,
    control: &Control,
) -> Result<Trial, LabError> {
    let count = line.x.len();
    let boundaries = line.boundaries();
    let near = |node: usize| {
        boundaries
            .iter()
            .any(|b| (line.x[node] - b).abs() <= BOUNDARY_HALF_WIDTH)
    };
    let mut field = DirichletField::new(count, 2, PRIOR);
    let mut smooth = DirichletField::new(count, 2, PRIOR);
    let add =
        |field: &mut DirichletField, smooth: &mut DirichletField, node: usize, class: usize| {
            let column: Vec<f64> = (0..count).map(|x| line.kernel[x.abs_diff(node)]).collect();
            field.add(class, 1.0, &column);
            smooth.add(0, 1.0 - line.trend[node], &column);
            smooth.add(1, line.trend[node], &column);
        };
    INITIAL
        .iter()
        .for_each(|(x, class)| add(&mut field, &mut smooth, line.node(*x), *class));

    let mut trial = Trial {
        measured: Vec::new(),
        shown: Vec::new(),
        rises: 0.0,
    };
    let mut scores = vec![0.0; count];
    let (mut scratch, mut rises, mut inside, mut since) = (Vec::new(), 0, 0, 0);
    let last = checkpoints.last().copied().unwrap_or(0);
    for asked in 0..=last {
        field.variances(&mut scores);
        let sharpness = match sampling {
            Sampling::Uniform => Sharpness::Constant(0.0),
            Sampling::Automatic => Sharpness::Auto,
            Sampling::Linear => Sharpness::Schedule {
                start: START * line.mass(),
                power: 1.0,
            },
        };
        if checkpoints.contains(&asked) {
            control.check()?;
            let lambda = match sharpness {
                Sharpness::Constant(lambda) => lambda,
                Sharpness::Schedule { start, .. } => start * (asked as f64 + 1.0),
                Sharpness::Auto => automatic_lambda(&mut scores.clone(), EXPECTED_CLUSTERS),
            };
            let share = if since > 0 {
                f64::from(inside) / f64::from(since)
            } else {
                f64::NAN
            };
            trial
                .measured
                .push(measure(line, &field, &smooth, &scores, lambda, share));
            (inside, since) = (0, 0);
        }
        if shown.contains(&asked) {
            let mut scaled = vec![0.0; count];
            field.map(&mut scaled, scaled_variance);
            trial.shown.push([scores.clone(), scaled]);
        }
        if asked == last {
            break;
        }
        let candidates: Vec<(NodeId, f64)> =
            (0..).map(NodeId).zip(scores.iter().copied()).collect();
        let question = asked as u64 + 1;
        let chooser = Chooser {
            policy: Policy::Proportional,
            sharpness,
            expected_clusters: EXPECTED_CLUSTERS,
            question,
            tie_seed: None,
        };
        let mut random = Random::new(seed, Purpose::Ask, question);
        let id = chooser.choose(&candidates, &mut random, &mut scratch)?;
        let (node, eta) = (id.index(), line.trend[id.index()]);
        rises +=
            usize::from(expected_after(&field.alpha(id), 1.0, &[1.0 - eta, eta]) > scores[node]);
        inside += u32::from(near(node));
        since += 1;
        let coin = Random::new(seed, Purpose::User, question).uniform();
        add(&mut field, &mut smooth, node, usize::from(coin < eta));
    }
    trial.rises = rises as f64 / last.max(1) as f64;
    Ok(trial)
}

fn measure(
    line: &Line,
    field: &DirichletField,
    smooth: &DirichletField,
    scores: &[f64],
    lambda: f64,
    near: f64,
) -> Measured {
    let count = line.x.len();
    let nodes = || (0..count as u32).map(NodeId);
    let sparsity: Vec<f64> = nodes()
        .map(|node| 1.0 / (1.0 + field.evidence(node)))
        .collect();
    let off = |field: &DirichletField| {
        let mut scaled = vec![0.0; count];
        field.map(&mut scaled, scaled_variance);
        scaled
            .iter()
            .zip(&line.population)
            .map(|(a, b)| (a - b).abs())
            .sum::<f64>()
            / count as f64
    };
    Measured {
        with_population: correlation(scores, &line.population),
        with_sparsity: correlation(scores, &sparsity),
        off: off(field),
        smoothing: off(smooth),
        largest: scores.iter().copied().fold(0.0, f64::max),
        watched: WATCHED.map(|place| scores[line.node(place)]),
        lambda,
        near,
    }
}
