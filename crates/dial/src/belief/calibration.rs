//! Reading the field: from evidence to a class, probabilities that can be trusted, and the accuracy to expect.
//!
//! ```text
//! off     class = argmax e_c,     p_c = α_c / β                               the paper (eq:inference, eq:pki)
//! on      class = argmax p_c,     p_c ∝ (ω_c e_c + ε)^γ q_c^δ                 ω from `class_balance`, q from `opinion`
//!         with q: variance = (1 - Σ p_c²) / (β + 1),    β = Σ_c (ω_c e_c + α₀)
//! ```
//!
//! The Dirichlet mean is poorly calibrated: with the prior that asks best it is far too confident where there is no evidence
//! and, because labels leak over borders, not confident enough elsewhere. And where the graph is weak the features know more
//! than it does. So ε, γ and δ are learnt from the labels, each left out in turn: the field is additive, so e(l) without its
//! own label costs nothing, and q(l) comes from a fit without it. All labels of l are left out
//! together (both parts of a soft label, several answers), ω stays, and a label whose class has no
//! other node is not tested. With p = p(l) at the label's class and w its weight,
//!
//! ```text
//! log posterior(γ, ε, δ, η) = Σ_l w ln((1 - η) p + η (1 - p)/(K - 1))
//!                               - ln(γ/2.5)²/(2 · 0.35²) - ln(ε/0.004)²/(2 · 2²) - 6 δ - η/0.03
//! ```
//!
//! over a grid, η being the share of wrong answers. The prior of δ leans to the graph until labels speak for the features; with
//! fewer than two tests, or without features, δ is 0. The formula of the variance is the paper's with the mean replaced by
//! p; β stays the graph's, since q counts no observations. Questions are not a fair sample of the pool: they lie where the belief
//! is uncertain, and well inside their neighbourhood, where a prediction is more often right than elsewhere. On hard pools
//! the fit is too confident by some points. ε and γ are the means of the posterior (of logarithms), δ its mean. Of many labels
//! 400 are tested. The accuracy to expect is the posterior
//! mean of a(γ, ε, δ), the mean of max p over unlabelled nodes; its interval is
//!
//! ```text
//! ± 1.96 √(posterior variance of a + s²),    s = 0.3 (1 - mean) + 0.005
//! ```
//!
//! where s covers what the model leaves out, as a share of the error. Points of the grid of posterior weight up to 1e-4 are left out of
//! these two, to save time, and in a large pool 2,000 nodes are drawn. Numbers: `docs/research.md`.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::belief::class_balance;
use crate::belief::field::{DirichletField, Term, variance};
use crate::blocks::NODES_PER_CHUNK;
use crate::ids::NodeId;
use crate::opinion::SecondOpinion;
use crate::seed::{Purpose, Random};
use crate::words::words;

/// How classes and probabilities are read from the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Calibration {
    /// As the paper does: the largest α, and the mean.
    #[default]
    #[serde(rename = "plain")] // the word of the log, whose records are chained by their bytes
    Off,
    /// Class-balanced, probabilities calibrated on the labels.
    #[serde(rename = "even")]
    On,
}

words!(Calibration, "calibration", { Off => "off", On => "on" });

/// Turns evidence into classes and probabilities. Fitted to the labels of the moment.
#[derive(Clone, Debug)]
pub struct Readout {
    weights: Vec<f64>,
    calibration: Option<Fit>,
    opinion: Option<Arc<SecondOpinion>>,
}

/// What is said about one node: the class-balanced evidence for every class and, where there is a second opinion, its
/// logarithm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    evidence: Vec<f64>,
    log_shares: Vec<f64>,
}

/// What the labels say about probabilities.
#[derive(Clone, Debug, PartialEq)]
struct Fit {
    /// How many labels were left out and predicted.
    tests: usize,
    exponents: Exponents,
    noise: f64,
    /// Posterior weight of every point of the grid.
    posterior: Vec<(Exponents, f64)>,
}

/// γ, ε and δ.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Exponents {
    power: f64,
    floor: f64,
    trust: f64,
}

/// The accuracy to expect on the unlabelled items.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// The estimate.
    pub mean: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The grid, and the centres and widths of the prior on it.
const POWERS: [f64; 9] = [1.0, 1.4, 1.8, 2.2, 2.6, 3.0, 3.5, 4.0, 5.0];
const FLOORS: [f64; 8] = [1e-4, 3.2e-4, 1e-3, 3.2e-3, 1e-2, 3.2e-2, 0.1, 0.32];
const NOISES: [f64; 6] = [0.0, 0.02, 0.05, 0.1, 0.15, 0.2];
const TRUSTS: [f64; 7] = [0.0, 0.25, 0.5, 0.75, 1.0, 1.4, 2.0];
const POWER_PRIOR: (f64, f64) = (2.5, 0.35);
const FLOOR_PRIOR: (f64, f64) = (0.004, 2.0);
const NOISE_PRIOR: f64 = 0.03;
const TRUST_PRIOR: f64 = 1.0 / 6.0;

/// δ is learnt from at least this many tests.
const MIN_TESTS_OF_TRUST: usize = 2;

/// At most this many labels are tested: four numbers are learnt.
const MAX_TESTS: usize = 400;

/// Points of the grid that count less are left out of the accuracy to expect.
const LEAST_POSTERIOR: f64 = 1e-4;

/// What the interval of the accuracy is widened by: a standard deviation, as a share of the error and at least.
const MODEL_ERROR: (f64, f64) = (0.3, 0.005);

/// The accuracy is estimated on this many nodes, drawn at random.
const ACCURACY_SAMPLE: usize = 2000;

/// Accuracy is estimated from at least this many left-out labels.
const MIN_LEFT_OUT: usize = 10;

impl Readout {
    /// Reads as the paper does.
    pub fn uncalibrated(n_classes: usize) -> Readout {
        Readout {
            weights: vec![1.0; n_classes],
            calibration: None,
            opinion: None,
        }
    }

    /// Learns to read a field from its labels (those of every class, in the order of the planes), of which each counts
    /// `source_value` at its own node, and from what the features say.
    pub fn calibrated(
        field: &DirichletField,
        labels: &[Vec<Term>],
        source_value: f64,
        opinion: Option<Arc<SecondOpinion>>,
    ) -> Readout {
        let mut readout = Readout {
            weights: class_balance::weights(field, class_balance::AUTO_POWER),
            calibration: None,
            opinion,
        };
        let tests = readout.tests(field, labels, source_value);
        readout.calibration = Some(calibrate(&tests, field.n_classes()));
        readout
    }

    /// Whether the features have a say.
    pub fn has_opinion(&self) -> bool {
        self.calibration.is_some() && self.opinion.is_some()
    }

    /// What is said about a node.
    pub fn heard(&self, field: &DirichletField, node: NodeId) -> Heard {
        let mut heard = Heard::default();
        self.hear(field, node, &mut heard);
        heard
    }

    /// The same without an allocation. Planes beyond those that were calibrated count as they are.
    fn hear(&self, field: &DirichletField, node: NodeId, heard: &mut Heard) {
        let weights = self.weights.iter().copied().chain(std::iter::repeat(1.0));
        heard.evidence.clear();
        heard.evidence.extend(
            (0..field.n_classes())
                .zip(weights)
                .map(|(class, weight)| weight * field.plane(class)[node.index()].max(0.0)),
        );
        heard.log_shares.clear();
        if let Some(opinion) = &self.opinion {
            heard.log_shares.resize(field.n_classes(), 0.0);
            opinion.log_shares(node, &mut heard.log_shares);
        }
    }

    /// The most probable class of what was heard, ties to the smaller one.
    pub fn class_of(&self, heard: &Heard) -> usize {
        match &self.calibration {
            Some(fit) if fit.exponents.trust > 0.0 => {
                largest((0..heard.evidence.len()).map(|class| fit.exponents.log(heard, class)))
            }
            _ => largest(heard.evidence.iter().copied()),
        }
    }

    /// The most probable class at a node, ties to the smaller one.
    pub fn class(&self, field: &DirichletField, node: NodeId) -> usize {
        match &self.calibration {
            Some(fit) if fit.exponents.trust > 0.0 => self.class_of(&self.heard(field, node)),
            _ => largest(
                (self.weights.iter().enumerate())
                    .map(|(class, weight)| weight * field.plane(class)[node.index()]),
            ),
        }
    }

    /// The most probable class at every node ([`Readout::class`]).
    pub fn classes(&self, field: &DirichletField) -> Vec<u16> {
        let nodes = (0..field.n() as u32)
            .into_par_iter()
            .with_min_len(NODES_PER_CHUNK);
        nodes
            .map(|node| self.class(field, NodeId(node)) as u16)
            .collect()
    }

    /// The probability of every class, of what was heard.
    pub fn probabilities_of(&self, heard: &Heard, prior: f64) -> Vec<f64> {
        let mut shares = vec![0.0; heard.evidence.len()];
        self.write_probabilities(heard, prior, &mut shares);
        shares
    }

    fn write_probabilities(&self, heard: &Heard, prior: f64, shares: &mut [f64]) {
        match &self.calibration {
            None => {
                let total = heard.evidence.iter().fold(0.0, |sum, e| sum + e + prior);
                for (share, e) in shares.iter_mut().zip(&heard.evidence) {
                    *share = (e + prior) / total;
                }
            }
            Some(fit) => fit.exponents.write(heard, shares),
        }
    }

    /// The probability of every class at a node.
    pub fn probabilities(&self, field: &DirichletField, node: NodeId) -> Vec<f64> {
        match &self.calibration {
            None => field.mean(node),
            Some(_) => self.probabilities_of(&self.heard(field, node), field.prior_strength()),
        }
    }

    /// The variance of what was heard: that of the class-balanced Dirichlet distribution or, where the features have a say, of
    /// one with the same β around the probabilities.
    pub fn variance_of(&self, heard: &Heard, prior: f64) -> f64 {
        if !self.has_opinion() {
            let alpha: Vec<f64> = heard.evidence.iter().map(|e| e + prior).collect();
            return variance(&alpha);
        }
        let shares = self.probabilities_of(heard, prior);
        let squares = shares.iter().fold(0.0, |sum, p| sum + p * p);
        (1.0 - squares).max(0.0) / (total(heard, prior) + 1.0)
    }

    /// The variance at a node.
    pub fn variance(&self, field: &DirichletField, node: NodeId) -> f64 {
        self.variance_of(&self.heard(field, node), field.prior_strength())
    }

    /// Writes (1 - (p₁ - p₂)) / (β + 1) for every node, p₁ and p₂ being the two largest probabilities: near 1 where nothing is
    /// known, near 0 where the class is clear.
    pub fn doubts(&self, field: &DirichletField, out: &mut [f64]) {
        let prior = field.prior_strength();
        out.par_chunks_mut(NODES_PER_CHUNK)
            .enumerate()
            .for_each(|(chunk, out)| {
                let mut heard = Heard::default();
                let mut shares = vec![0.0; field.n_classes()];
                for (node, out) in (chunk * NODES_PER_CHUNK..).zip(out) {
                    self.hear(field, NodeId(node as u32), &mut heard);
                    self.write_probabilities(&heard, prior, &mut shares);
                    let (mut first, mut second) = (0.0f64, 0.0f64);
                    for &p in &shares {
                        second = second.max(first.min(p));
                        first = first.max(p);
                    }
                    *out = (1.0 - (first - second)).max(0.0) / (total(&heard, prior) + 1.0);
                }
            });
    }

    /// α at a node, class-balanced: the evidence that is shown.
    pub fn alpha(&self, field: &DirichletField, node: NodeId) -> Vec<f64> {
        let mut alpha = self.evidence(field, node);
        alpha
            .iter_mut()
            .for_each(|alpha| *alpha += field.prior_strength());
        alpha
    }

    /// The share of wrong answers that the labels suggest; 0 if that was not asked.
    pub fn noise(&self) -> f64 {
        self.calibration.as_ref().map_or(0.0, |fit| fit.noise)
    }

    /// How much of what is said about classes comes from the features instead of the graph, from 0 to 1: δ/(γ + δ).
    pub fn trust(&self) -> f64 {
        self.calibration.as_ref().map_or(0.0, |fit| {
            let Exponents { power, trust, .. } = fit.exponents;
            trust / (power + trust)
        })
    }

    /// The accuracy to expect on these nodes, none of which has a label. `None` if calibration is off, without nodes, and while
    /// there is little to learn it from: fewer than 10 labels that others of their class predict, or a class without any.
    pub fn accuracy(&self, field: &DirichletField, nodes: &[NodeId]) -> Option<Accuracy> {
        let fit = self
            .calibration
            .as_ref()
            .filter(|fit| fit.tests >= MIN_LEFT_OUT)?;
        let has_evidence = |class: usize| field.plane(class).iter().any(|evidence| *evidence > 0.0);
        if nodes.is_empty() || !(0..field.n_classes()).all(has_evidence) {
            return None;
        }
        // Drawn, because pools are often sorted.
        let drawn = Random::new(0, Purpose::Sample, 0)
            .distinct(ACCURACY_SAMPLE.min(nodes.len()), nodes.len());
        let sample: Vec<Heard> = drawn
            .into_iter()
            .map(|place| self.heard(field, nodes[place]))
            .collect();
        let expected = |exponents: &Exponents| {
            let mut shares = vec![0.0; field.n_classes()];
            let mut confidence = |heard: &Heard| {
                exponents.write(heard, &mut shares);
                shares.iter().copied().fold(0.0, f64::max)
            };
            sample
                .iter()
                .fold(0.0, |sum, heard| sum + confidence(heard))
                / sample.len() as f64
        };
        let counted: Vec<&(Exponents, f64)> = fit
            .posterior
            .iter()
            .filter(|(_, weight)| *weight > LEAST_POSTERIOR)
            .collect();
        let accuracies: Vec<f64> = counted
            .iter()
            .map(|(exponents, _)| expected(exponents))
            .collect();
        let (mut mean, mut square, mut total) = (0.0, 0.0, 0.0);
        for ((_, weight), accuracy) in counted.into_iter().zip(accuracies) {
            mean += weight * accuracy;
            square += weight * accuracy * accuracy;
            total += weight;
        }
        (mean, square) = (mean / total, square / total);
        let beyond = MODEL_ERROR.0 * (1.0 - mean) + MODEL_ERROR.1;
        let half = 1.96 * ((square - mean * mean).max(0.0) + beyond * beyond).sqrt();
        Some(Accuracy {
            mean,
            low: (mean - half).max(0.0),
            high: (mean + half).min(1.0),
        })
    }

    /// Every label left out in turn: its node, its class, and the probabilities that all others give it. A label that is
    /// the only one of its class is not among them.
    pub fn left_out(
        &self,
        field: &DirichletField,
        labels: &[Vec<Term>],
        source_value: f64,
    ) -> Vec<(NodeId, usize, Vec<f64>)> {
        let exponents = match &self.calibration {
            Some(fit) => fit.exponents,
            // The mean of the field is the evidence above the prior.
            None => Exponents {
                power: 1.0,
                floor: field.prior_strength(),
                trust: 0.0,
            },
        };
        let probabilities = |heard: &Heard| {
            let mut shares = vec![0.0; heard.evidence.len()];
            exponents.write(heard, &mut shares);
            shares
        };
        let tests = self.tests(field, labels, source_value);
        tests
            .into_iter()
            .map(|test| (test.node, test.class, probabilities(&test.heard)))
            .collect()
    }

    /// Every label with what the others say about its node.
    fn tests(&self, field: &DirichletField, labels: &[Vec<Term>], source_value: f64) -> Vec<Test> {
        let mut tests = left_out(field, labels, &self.weights, source_value);
        if let Some(opinion) = &self.opinion {
            for test in &mut tests {
                test.heard.log_shares = vec![0.0; field.n_classes()];
                opinion.left_out(test.node, &mut test.heard.log_shares);
            }
        }
        tests
    }

    /// The class-balanced evidence for every class at a node.
    pub fn evidence(&self, field: &DirichletField, node: NodeId) -> Vec<f64> {
        self.weights
            .iter()
            .enumerate()
            .map(|(class, w)| w * field.plane(class)[node.index()].max(0.0))
            .collect()
    }
}

/// The place of the largest number, the first of equal ones.
fn largest(numbers: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (place, number) in numbers.enumerate() {
        if number > best.1 {
            best = (place, number);
        }
    }
    best.0
}

/// β of what was heard.
fn total(heard: &Heard, prior: f64) -> f64 {
    heard.evidence.iter().fold(0.0, |sum, e| sum + (e + prior))
}

impl Heard {
    /// The mean of what was heard at several nodes, by weights that sum to 1.
    pub fn mean(parts: &[(Heard, f64)]) -> Heard {
        let mut mean = Heard::default();
        for (part, weight) in parts {
            for (to, from) in [
                (&mut mean.evidence, &part.evidence),
                (&mut mean.log_shares, &part.log_shares),
            ] {
                to.resize(from.len(), 0.0);
                to.iter_mut()
                    .zip(from)
                    .for_each(|(to, from)| *to += weight * from);
            }
        }
        mean
    }

    /// The evidence of all classes together.
    pub fn evidence(&self) -> f64 {
        self.evidence.iter().fold(0.0, |sum, e| sum + e)
    }
}

impl Exponents {
    /// γ ln(e + ε) + δ ln q of a class.
    fn log(&self, heard: &Heard, class: usize) -> f64 {
        let opinion = heard.log_shares.get(class).copied().unwrap_or(0.0);
        self.power * libm::log(heard.evidence[class] + self.floor) + self.trust * opinion
    }

    /// (e + ε)^γ q^δ of every class, scaled to sum 1.
    fn write(&self, heard: &Heard, shares: &mut [f64]) {
        let mut most = f64::NEG_INFINITY;
        for (class, share) in shares.iter_mut().enumerate() {
            *share = self.log(heard, class);
            most = most.max(*share);
        }
        shares
            .iter_mut()
            .for_each(|share| *share = libm::exp(*share - most));
        let total = shares.iter().fold(0.0, |sum, share| sum + share);
        shares.iter_mut().for_each(|share| *share /= total);
    }
}

/// A label left out.
#[derive(Debug, PartialEq)]
struct Test {
    node: NodeId,
    /// What all others say about its node.
    heard: Heard,
    class: usize,
    weight: f64,
}

/// Every label left out in turn. The only label of a class cannot be predicted, and is not tested.
fn left_out(
    field: &DirichletField,
    labels: &[Vec<Term>],
    weights: &[f64],
    source_value: f64,
) -> Vec<Test> {
    let mut terms: Vec<(NodeId, usize, f64)> = Vec::new();
    for (class, of_class) in labels.iter().enumerate() {
        terms.extend(of_class.iter().map(|&(node, weight)| (node, class, weight)));
    }
    terms.sort_by_key(|&(node, class, _)| (node, class));
    let mut tests = Vec::new();
    for own in terms.chunk_by(|a, b| a.0 == b.0) {
        let mut evidence: Vec<f64> = (0..weights.len())
            .map(|class| field.plane(class)[own[0].0.index()])
            .collect();
        own.iter()
            .for_each(|&(_, class, weight)| evidence[class] -= weight * source_value);
        evidence
            .iter_mut()
            .zip(weights)
            .for_each(|(evidence, weight)| *evidence = weight * evidence.max(0.0));
        let others = |class: usize| labels[class].iter().any(|(node, _)| *node != own[0].0);
        let testable = own.iter().filter(|(_, class, _)| others(*class));
        tests.extend(testable.map(|&(node, class, weight)| Test {
            node,
            heard: Heard {
                evidence: evidence.clone(),
                log_shares: Vec::new(),
            },
            class,
            weight,
        }));
    }
    tests
}

/// A point of the grid and the logarithm of its posterior weight.
struct Point {
    exponents: Exponents,
    noise: f64,
    fit: f64,
}

/// The posterior over the grid.
fn calibrate(tests: &[Test], n_classes: usize) -> Fit {
    // Evenly over the labels, so that old and new ones count.
    let step = tests.len().div_ceil(MAX_TESTS).max(1);
    let tested: Vec<&Test> = tests.iter().step_by(step).collect();
    let is_heard = tested
        .first()
        .is_some_and(|test| !test.heard.log_shares.is_empty());
    let trusts = match is_heard && tested.len() >= MIN_TESTS_OF_TRUST {
        true => TRUSTS.as_slice(),
        false => &TRUSTS[..1],
    };
    let pairs: Vec<(f64, f64)> = FLOORS
        .iter()
        .flat_map(|&floor| trusts.iter().map(move |&trust| (floor, trust)))
        .collect();
    // In one thread: a readout is made behind a lock that parallel readers wait for.
    let grid: Vec<Point> = pairs
        .into_iter()
        .flat_map(|(floor, trust)| points(&tested, floor, trust, n_classes))
        .collect();
    let highest = grid
        .iter()
        .map(|point| point.fit)
        .fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = grid
        .iter()
        .map(|point| libm::exp(point.fit - highest))
        .collect();
    let total = weights.iter().fold(0.0, |sum, weight| sum + weight);
    let mean = |value: fn(&Point) -> f64| {
        grid.iter()
            .zip(&weights)
            .fold(0.0, |sum, (point, weight)| sum + weight * value(point))
            / total
    };
    let sums = grid
        .chunks_exact(NOISES.len())
        .zip(weights.chunks_exact(NOISES.len()));
    let posterior = sums.map(|(points, weights)| {
        let weight = weights.iter().fold(0.0, |sum, weight| sum + weight);
        (points[0].exponents, weight / total)
    });
    Fit {
        tests: tests.len(),
        exponents: Exponents {
            power: libm::exp(mean(|point| libm::log(point.exponents.power))),
            floor: libm::exp(mean(|point| libm::log(point.exponents.floor))),
            trust: mean(|point| point.exponents.trust),
        },
        noise: mean(|point| point.noise),
        posterior: posterior.collect(),
    }
}

/// The points of the grid with one ε and one δ, for every γ and η.
fn points(tests: &[&Test], floor: f64, trust: f64, n_classes: usize) -> Vec<Point> {
    let away = |value: f64, (centre, width): (f64, f64)| {
        let distance = libm::log(value / centre) / width;
        0.5 * distance * distance
    };
    // Logarithms once for all γ.
    let logs: Vec<f64> = tests
        .iter()
        .flat_map(|test| test.heard.evidence.iter().map(|e| libm::log(e + floor)))
        .collect();
    let mut points = Vec::with_capacity(POWERS.len() * NOISES.len());
    let mut left_out = vec![0.0; tests.len()];
    for power in POWERS {
        for ((p, test), logs) in left_out
            .iter_mut()
            .zip(tests)
            .zip(logs.chunks_exact(n_classes))
        {
            let log = |class: usize| {
                let opinion = test.heard.log_shares.get(class).copied().unwrap_or(0.0);
                power * logs[class] + trust * opinion
            };
            let own = log(test.class);
            let others = (0..n_classes).fold(0.0, |sum, class| sum + libm::exp(log(class) - own));
            *p = 1.0 / others;
        }
        for noise in NOISES {
            let wrong = noise / (n_classes.max(2) - 1) as f64;
            let prior = away(power, POWER_PRIOR)
                + away(floor, FLOOR_PRIOR)
                + trust / TRUST_PRIOR
                + noise / NOISE_PRIOR;
            let fit = left_out.iter().zip(tests).fold(-prior, |sum, (p, test)| {
                let likely = (1.0 - noise) * p + wrong * (1.0 - p) + 1e-12;
                sum + test.weight * libm::log(likely)
            });
            points.push(Point {
                exponents: Exponents {
                    power,
                    floor,
                    trust,
                },
                noise,
                fit,
            });
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    /// n nodes in two classes; every node has evidence for its own class and a share of it for the other.
    fn field(n: usize, share: f64) -> DirichletField {
        let mut field = DirichletField::new(n, 2, 1e-4);
        let own = |class: usize| {
            (0..n)
                .map(|i| if i % 2 == class { 1.0 } else { share })
                .collect::<Vec<_>>()
        };
        field.add(0, 1.0, &own(0));
        field.add(1, 1.0, &own(1));
        field
    }

    /// Labels of the first `count` nodes, a share of them wrong.
    fn labels(count: usize, wrong: f64) -> Vec<Vec<Term>> {
        let (mut labels, mut random) = (
            vec![Vec::new(), Vec::new()],
            Random::new(3, Purpose::User, 0),
        );
        for node in 0..count {
            let flip = usize::from(random.uniform() < wrong);
            labels[(node + flip) % 2].push((NodeId(node as u32), 1.0));
        }
        labels
    }

    #[test]
    fn powers_by_hand() {
        let shares = |evidence: &[f64], log_shares: &[f64], power, floor, trust| {
            let (evidence, log_shares) = (evidence.to_vec(), log_shares.to_vec());
            let mut shares = vec![0.0; evidence.len()];
            let exponents = Exponents {
                power,
                floor,
                trust,
            };
            exponents.write(
                &Heard {
                    evidence,
                    log_shares,
                },
                &mut shares,
            );
            shares
        };
        // (1 + 0)² : (3 + 0)² = 1 : 9.
        let graph = shares(&[1.0, 3.0], &[], 2.0, 0.0, 0.0);
        assert!((graph[0] - 0.1).abs() < 1e-15 && (graph[1] - 0.9).abs() < 1e-15);
        assert_eq!(shares(&[0.0, 0.0], &[], 3.0, 0.1, 0.0), [0.5, 0.5]);
        // (1 + 1)¹ (1/4)² : (3 + 1)¹ 1² = 1 : 32.
        let both = shares(&[1.0, 3.0], &[libm::log(0.25), 0.0], 1.0, 1.0, 2.0);
        assert!((both[0] - 1.0 / 33.0).abs() < 1e-15);
    }

    #[test]
    fn leaving_a_label_out_takes_only_its_own_evidence() {
        let mut field = DirichletField::new(3, 2, 1.0);
        field.add(0, 1.0, &[1.0, 0.5, 0.25]);
        field.add(0, 2.0, &[0.5, 1.0, 0.5]);
        let labels = vec![vec![(NodeId(0), 1.0), (NodeId(1), 2.0)], vec![]];
        let tests = left_out(&field, &labels, &[1.0, 1.0], 1.0);
        let test = |node, first, weight| Test {
            node: NodeId(node),
            heard: Heard {
                evidence: vec![first, 0.0],
                log_shares: vec![],
            },
            class: 0,
            weight,
        };
        assert_eq!(tests, [test(0, 1.0, 1.0), test(1, 0.5, 2.0)]);
        let lonely = vec![vec![(NodeId(0), 1.0)], vec![]];
        assert!(
            left_out(&field, &lonely, &[1.0, 1.0], 1.0).is_empty(),
            "nothing predicts the only label of a class"
        );
    }

    #[test]
    fn right_labels_make_sure_and_wrong_ones_make_careful() {
        let sure = |wrong: f64| {
            let (field, labels) = (field(400, 0.4), labels(200, wrong));
            let reader = Readout::calibrated(&field, &labels, 0.0, None);
            let accuracy = reader
                .accuracy(&field, &(200..400).map(NodeId).collect::<Vec<_>>())
                .unwrap();
            (
                reader.probabilities(&field, NodeId(301))[1],
                accuracy.mean,
                reader.noise(),
            )
        };
        let (right, torn) = (sure(0.0), sure(0.3));
        assert!(
            right.0 > 0.95 && right.1 > 0.95 && right.2 < 0.01,
            "{right:?}"
        );
        assert!(
            torn.0 < right.0 - 0.05 && torn.1 < right.1 - 0.05,
            "{torn:?}"
        );
    }

    #[test]
    fn a_plain_reading_is_the_papers() {
        let field = field(10, 0.3);
        let plain = Readout::uncalibrated(2);
        for node in (0..10).map(NodeId) {
            assert_eq!(plain.class(&field, node), field.class(node));
            assert_eq!(plain.probabilities(&field, node), field.mean(node));
            assert_eq!(plain.alpha(&field, node), field.alpha(node));
        }
        assert!(plain.accuracy(&field, &[]).is_none());
    }
}
