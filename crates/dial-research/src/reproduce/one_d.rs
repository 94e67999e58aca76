//! Two kinds of uncertainty on the line (Example `example:2types-unc`, `fig:unc-demo`, `fig:unc-demo-kde`).
//!
//! ```text
//! population   min{p(x, 0), p(x, 1)}, from the mixture itself
//! variance     of the Dirichlet field with K(z, x) = exp(-γ (z - x)²)                     (eq:var)
//! margin       -|f(x)|, f the decision of a support vector machine with the same kernel
//! ```
//!
//! The paper gives γ = 2, two initial points in the largest clusters, labels drawn from p(y | x), acquisitions at 1 and
//! 30 queries and densities of the first 50 choices. What it leaves open and we chose: the mixture
//! ([`generate::clusters_1d`]); the kernel of the field (the same RBF); α₀ = 0.1; C = 1; candidates on a grid of [-4.5,
//! 4.5], each asked once at most; for proportional sampling the automatic λ with K̂ = 8, twice the number of clusters;
//! the initial labels are those of their clusters. A boundary region is what lies within 0.5 of a point
//! where both classes are equally likely between two clusters. Both policies of both methods see the same coin for the
//! label of query t, so trials are paired.
//!
//! Grid and second γ were chosen after looking. How often smallest margin misses the left region (50 trials from seed 1):
//!
//! ```text
//! points to a unit    C     γ = 2    γ = 1    γ = 1/2
//!       40            1      0 %      0 %       0 %      probably because points near a boundary run out
//!      400            1     14 %     60 %      60 %      what is run here, with γ = 2 and 1
//!      400          100      6 %      4 %      30 %
//! ```
//!
//! So the paper's "about 1/2" appears for some of these settings and not for others. The largest variance, and the margin
//! with proportional sampling, missed no region in any of them.

mod figures;
mod findings;

use dial::policy::{Chooser, Policy, Sharpness};
use dial::propagation::radial::{Radial, Shape};
use dial::seed::{Purpose, Random};
use dial::{Control, DirichletField, Features, NodeId, Propagation, Result};
use dial_data::generate;

use super::svm::Svm;
use super::{Outcome, ReproduceOptions};

/// γ: the paper's, and half of it, which is the paper's on a mixture narrower by √2.
const GAMMAS: [f64; 2] = [2.0, 1.0];
const PRIOR: f64 = 0.1;
/// The bound C of the machine.
const BOUND: f64 = 1.0;
/// Half of the stretch of line that is looked at.
const HALF: f64 = 4.5;
/// Grid points to a unit of the line.
const PER_UNIT: usize = 400;
/// Where the initial points lie: in the largest clusters.
const INITIAL: [(f64, usize); 2] = [(-3.0, 0), (3.0, 1)];
const QUERIES: usize = 50;
/// Half the width of a boundary region.
const BOUNDARY_HALF_WIDTH: f64 = 0.5;
const EXPECTED_CLUSTERS: usize = 8;

/// How a query is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// Dirichlet variance.
    Variance,
    /// Smallest margin of the support vector machine.
    Margin,
}

impl Method {
    const ALL: [Method; 2] = [Method::Variance, Method::Margin];

    fn name(self) -> &'static str {
        match self {
            Method::Variance => "Dir. Var.",
            Method::Margin => "Unc. (SM)",
        }
    }
}

const POLICIES: [Policy; 2] = [Policy::Max, Policy::Proportional];

fn full_name(method: Method, policy: Policy) -> String {
    format!(
        "{}{}",
        method.name(),
        if policy == Policy::Proportional {
            " (Prop)"
        } else {
            ""
        }
    )
}

/// The line: its grid, what is true on it, and where its boundaries are.
struct Line {
    x: Vec<f64>,
    /// p(x, 0) and p(x, 1).
    joint: [Vec<f64>; 2],
    /// Where the classes are equally likely between clusters, from the left.
    boundaries: Vec<f64>,
    /// γ.
    gamma: f64,
    /// K of the first grid point: by symmetry K(z, x) of any two points, by their distance in grid points.
    column: dial::propagation::Column,
}

impl Line {
    fn new(gamma: f64, control: &Control) -> Result<Line> {
        let count = (2.0 * HALF) as usize * PER_UNIT + 1;
        let x: Vec<f64> = (0..count)
            .map(|i| i as f64 / PER_UNIT as f64 - HALF)
            .collect();
        let clusters = generate::clusters_1d();
        let joint = [0, 1].map(|class| {
            x.iter()
                .map(|x| generate::joint_density(&clusters, &[*x], class))
                .collect()
        });
        let features = Features::f64(&x, count, 1)?;
        // exp(-γ r²) is the RBF of width σ = 1/√(2γ).
        let radial = Radial::new(
            features,
            Shape::Rbf {
                sigma: (0.5 / gamma).sqrt(),
            },
        )?;
        let column = radial.columns(&[NodeId(0)], control)?.remove(0);
        Ok(Line {
            boundaries: boundaries(),
            gamma,
            x,
            joint,
            column,
        })
    }

    fn node(&self, place: f64) -> usize {
        ((place + HALF) * PER_UNIT as f64).round() as usize
    }

    /// K(z, x) for every x.
    fn column(&self, z: usize) -> Vec<f64> {
        (0..self.x.len())
            .map(|x| self.column[x.abs_diff(z)])
            .collect()
    }

    /// p(y = 1 | x).
    fn chance(&self, node: usize) -> f64 {
        self.joint[1][node] / (self.joint[0][node] + self.joint[1][node])
    }

    /// The population uncertainty.
    fn uncertainty(&self) -> Vec<f64> {
        self.joint[0]
            .iter()
            .zip(&self.joint[1])
            .map(|(a, b)| a.min(*b))
            .collect()
    }

    /// How many of the places lie in each boundary region.
    fn visits(&self, places: &[f64]) -> Vec<usize> {
        let inside = |b: f64| {
            places
                .iter()
                .filter(|x| (**x - b).abs() <= BOUNDARY_HALF_WIDTH)
                .count()
        };
        self.boundaries.iter().map(|b| inside(*b)).collect()
    }
}

/// Between neighbouring clusters, where both classes are equally likely (by bisection).
fn boundaries() -> Vec<f64> {
    let clusters = generate::clusters_1d();
    let lead = |x: f64| {
        let [a, b] = [0, 1].map(|class| generate::joint_density(&clusters, &[x], class));
        a > b
    };
    let between = |pair: &[generate::Cluster]| {
        let (mut low, mut high) = (pair[0].centre[0], pair[1].centre[0]);
        let left = lead(low);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if lead(middle) == left {
                low = middle
            } else {
                high = middle
            }
        }
        0.5 * (low + high)
    };
    clusters.windows(2).map(between).collect()
}

/// What one trial of one method and policy did.
struct Trial {
    /// The nodes asked, in order, without the initial ones.
    asked: Vec<usize>,
    /// The class of every labelled node, initial ones first.
    labels: Vec<(usize, usize)>,
    /// The acquisition after each of [`DRAWN_AFTER_QUERIES`] queries.
    shown: Vec<Vec<f64>>,
}

/// After how many queries the acquisition is drawn.
const DRAWN_AFTER_QUERIES: [usize; 2] = [1, 30];

/// Scores of all grid points for the labels so far.
fn scores(line: &Line, method: Method, labels: &[(usize, usize)]) -> Result<Vec<f64>> {
    match method {
        Method::Variance => {
            let mut field = DirichletField::new(line.x.len(), 2, PRIOR);
            labels
                .iter()
                .for_each(|(node, class)| field.add(*class, 1.0, &line.column(*node)));
            let mut out = vec![0.0; line.x.len()];
            field.variances(&mut out);
            Ok(out)
        }
        Method::Margin => {
            let x: Vec<f64> = labels.iter().map(|(node, _)| line.x[*node]).collect();
            let y: Vec<f64> = labels
                .iter()
                .map(|(_, class)| if *class == 1 { 1.0 } else { -1.0 })
                .collect();
            let machine = Svm::train(&x, &y, line.gamma, BOUND, 1e-9)?;
            let mut decision = vec![machine.offset; line.x.len()];
            for ((node, _), weight) in labels
                .iter()
                .zip(machine.weights())
                .filter(|(_, weight)| *weight != 0.0)
            {
                for (x, f) in decision.iter_mut().enumerate() {
                    *f += weight * line.column[x.abs_diff(*node)];
                }
            }
            Ok(decision.iter().map(|f| -f.abs()).collect())
        }
    }
}

fn trial(
    line: &Line,
    method: Method,
    policy: Policy,
    seed: u64,
    control: &Control,
) -> Result<Trial> {
    let mut labels: Vec<(usize, usize)> = INITIAL
        .iter()
        .map(|(x, class)| (line.node(*x), *class))
        .collect();
    let (mut asked, mut shown) = (Vec::new(), Vec::new());
    for question in 1..=QUERIES as u64 {
        control.check()?;
        let scores = scores(line, method, &labels)?;
        if DRAWN_AFTER_QUERIES.contains(&asked.len()) {
            shown.push(scores.clone());
        }
        let free = (0..line.x.len()).filter(|node| labels.iter().all(|(known, _)| known != node));
        let candidates: Vec<(NodeId, f64)> = free
            .map(|node| (NodeId(node as u32), scores[node]))
            .collect();
        let chooser = Chooser {
            policy,
            sharpness: Sharpness::Auto,
            expected_clusters: EXPECTED_CLUSTERS,
            question,
            tie_seed: None,
        };
        let mut random = Random::new(seed, Purpose::Ask, question);
        let node = chooser
            .choose(&candidates, &mut random, &mut Vec::new())?
            .index();
        let coin = Random::new(seed, Purpose::User, question).uniform();
        labels.push((node, usize::from(coin < line.chance(node))));
        asked.push(node);
    }
    Ok(Trial {
        asked,
        labels,
        shown,
    })
}

/// The trials of one method and policy on one line.
struct Arm {
    method: Method,
    policy: Policy,
    trials: Vec<Trial>,
    /// Per trial, how many queries each boundary region got.
    visits: Vec<Vec<usize>>,
}

/// A region counts as sampled with this many of the fifty queries.
const MIN_QUERIES: usize = 3;

impl Arm {
    fn places(&self, line: &Line, trial: usize) -> Vec<f64> {
        self.trials[trial]
            .asked
            .iter()
            .map(|node| line.x[*node])
            .collect()
    }

    /// The share of the trials that some condition on the visits holds for.
    fn share(&self, holds: impl Fn(&[usize]) -> bool) -> f64 {
        self.visits.iter().filter(|visits| holds(visits)).count() as f64 / self.visits.len() as f64
    }

    /// In which share of the trials a region was missed.
    fn missed(&self, region: usize) -> f64 {
        self.share(|visits| visits[region] < MIN_QUERIES)
    }

    /// In which share of the trials no region was missed.
    fn complete(&self) -> f64 {
        self.share(|visits| visits.iter().all(|v| *v >= MIN_QUERIES))
    }

    fn mean_visits(&self, region: usize) -> f64 {
        self.visits
            .iter()
            .map(|visits| visits[region] as f64)
            .sum::<f64>()
            / self.visits.len() as f64
    }
}

/// All arms on the line with one kernel width.
struct Experiment {
    line: Line,
    arms: Vec<Arm>,
}

impl Experiment {
    fn run(gamma: f64, seeds: std::ops::Range<u64>, control: &Control) -> Result<Experiment> {
        let line = Line::new(gamma, control)?;
        let mut arms = Vec::new();
        for (method, policy) in Method::ALL
            .into_iter()
            .flat_map(|method| POLICIES.map(|policy| (method, policy)))
        {
            let mut arm = Arm {
                method,
                policy,
                trials: Vec::new(),
                visits: Vec::new(),
            };
            for seed in seeds.clone() {
                arm.trials
                    .push(trial(&line, method, policy, seed, control)?);
                arm.visits
                    .push(line.visits(&arm.places(&line, arm.trials.len() - 1)));
                control.advance(1)?;
            }
            arms.push(arm);
        }
        Ok(Experiment { line, arms })
    }

    fn arm(&self, method: Method, policy: Policy) -> &Arm {
        self.arms
            .iter()
            .find(|arm| arm.method == method && arm.policy == policy)
            .expect("all four ran")
    }
}

/// Both methods with both policies over many seeds; the figures show the first seed.
///
/// # Errors
/// Cancelled; a machine that does not converge.
pub fn run(settings: &ReproduceOptions, control: &Control) -> Result<Outcome> {
    let seeds = if settings.quick {
        3
    } else {
        settings.trials.max(50) as u64
    };
    control.start("one-dimensional trials", GAMMAS.len() * 4 * seeds as usize);
    let first = settings.seed.min(u64::MAX - seeds);
    let one = |gamma| Experiment::run(gamma, first..first + seeds, control);
    let (given, wide) = (one(GAMMAS[0])?, one(GAMMAS[1])?);
    control.finish();
    Ok(Outcome {
        figures: figures::figures(&given, &wide),
        tables: vec![
            findings::queries(&[&given, &wide], first),
            findings::densities(&given.line),
        ],
        summaries: vec![findings::summary(&given), findings::summary(&wide)],
        findings: findings::findings(&given, &wide),
        trials: Some(seeds as usize),
        settings: vec![findings::settings()],
        ..Outcome::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_three_boundaries() {
        let line = Line::new(GAMMAS[0], &Control::new()).unwrap();
        assert_eq!(
            (
                line.x.len(),
                line.x[line.node(-3.0)],
                line.x[line.node(3.0)]
            ),
            (3601, -3.0, 3.0)
        );
        // Between -3 (weight 0.4) and -1 (weight 0.1): x = -2 + (0.09 / 2) ln 4, neglecting the others; mirrored on the
        // right, and 0 by symmetry in the middle.
        let shift = 0.045 * libm::log(4.0);
        for (got, want) in line.boundaries.iter().zip([shift - 2.0, 0.0, 2.0 - shift]) {
            assert!((got - want).abs() < 1e-4, "{got} {want}");
        }
        assert!((line.chance(line.node(0.0)) - 0.5).abs() < 1e-9);
        assert_eq!(line.visits(&[-2.0, -1.6, 0.1, 3.0]), [2, 1, 0]);
    }

    #[test]
    fn first_questions_by_symmetry() {
        let line = Line::new(GAMMAS[0], &Control::new()).unwrap();
        for method in Method::ALL {
            let trial = trial(&line, method, Policy::Max, 1, &Control::new()).unwrap();
            assert_eq!(line.x[trial.asked[0]], 0.0, "{method:?}");
            assert_eq!(
                (trial.asked.len(), trial.labels.len(), trial.shown.len()),
                (50, 52, 2)
            );
            let mut distinct = trial.asked.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), 50, "nothing is asked twice");
        }
    }

    #[test]
    fn runs_repeat() {
        let settings = ReproduceOptions {
            quick: true,
            ..ReproduceOptions::default()
        };
        let run = || run(&settings, &Control::new()).unwrap();
        let (a, b) = (run(), run());
        assert_eq!(a.tables[0].rows.len(), 2 * 4 * 3 * 50);
        assert_eq!(
            format!("{:?}", a.tables[0].rows),
            format!("{:?}", b.tables[0].rows)
        );
        assert_eq!((a.figures.len(), a.findings.len()), (3, 3));
    }
}
