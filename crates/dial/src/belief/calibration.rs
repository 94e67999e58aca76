//! Reading the field: from evidence to a class, probabilities that can be trusted, and the accuracy to expect.
//!
//! ```text
//! off     class = argmax e_c,         p_c = α_c / β                       the paper (eq:inference, eq:pki)
//! on      class = argmax ω_c e_c,     p_c ∝ (ω_c e_c + ε)^γ               ω from `class_balance`, ε and γ from the labels
//! ```
//!
//! The Dirichlet mean is poorly calibrated: with the prior that asks best it is far too confident where there is no evidence
//! and, because labels leak over borders, not confident enough elsewhere. So ε and γ are learnt from the labels, each
//! left out in turn: the field is additive, so e(l) without its own label costs nothing. All labels of l are left out
//! together (both parts of a soft label, several answers), ω stays, and a label whose class has no
//! other node is not tested. With q = p(l) at the label's class and w its weight,
//!
//! ```text
//! log posterior(γ, ε, η) = Σ_l w ln((1 - η) q + η (1 - q)/(K - 1))
//!                            - ln(γ/2.5)²/(2 · 0.35²) - ln(ε/0.004)²/(2 · 2²) - η/0.03
//! ```
//!
//! over a grid, η being the share of wrong answers. Questions are not a fair sample of the pool: they lie where the belief
//! is uncertain, and well inside their neighbourhood, where a prediction is more often right than elsewhere. On hard pools
//! the fit is too confident by some points. ε and γ are the means of the posterior (of logarithms). The accuracy to expect is the posterior
//! mean of a(γ, ε), the mean of max p over unlabelled nodes; its interval is
//!
//! ```text
//! ± 1.96 √(posterior variance of a + s²),    s = 0.3 (1 - mean) + 0.005
//! ```
//!
//! where s covers what the model leaves out, as a share of the error. Pairs (γ, ε) of posterior weight up to 1e-4 are left out of
//! these two, to save time, and in a large pool 2,000 nodes are drawn. Numbers: `docs/research.md`.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::belief::class_balance;
use crate::belief::field::{DirichletField, Term};
use crate::blocks::NODES_PER_CHUNK;
use crate::ids::NodeId;
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
#[derive(Clone, Debug, PartialEq)]
pub struct Readout {
    weights: Vec<f64>,
    calibration: Option<Fit>,
}

/// What the labels say about probabilities.
#[derive(Clone, Debug, PartialEq)]
struct Fit {
    /// How many labels were left out and predicted.
    tests: usize,
    power: f64,
    floor: f64,
    noise: f64,
    /// Posterior weight of every pair of the grid: (γ, ε, weight).
    posterior: Vec<(f64, f64, f64)>,
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
const POWER_PRIOR: (f64, f64) = (2.5, 0.35);
const FLOOR_PRIOR: (f64, f64) = (0.004, 2.0);
const NOISE_PRIOR: f64 = 0.03;

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
        }
    }

    /// Learns to read a field from its labels (those of every class, in the order of the planes), of which each counts
    /// `source_value` at its own node.
    pub fn calibrated(field: &DirichletField, labels: &[Vec<Term>], source_value: f64) -> Readout {
        let weights = class_balance::weights(field, class_balance::AUTO_POWER);
        let tests = left_out(field, labels, &weights, source_value);
        Readout {
            weights,
            calibration: Some(calibrate(&tests, field.n_classes())),
        }
    }

    /// The most probable class at a node, ties to the smaller one.
    pub fn class(&self, field: &DirichletField, node: NodeId) -> usize {
        let mut best = (0, f64::NEG_INFINITY);
        for (class, weight) in self.weights.iter().enumerate() {
            let evidence = weight * field.plane(class)[node.index()];
            if evidence > best.1 {
                best = (class, evidence);
            }
        }
        best.0
    }

    /// The most probable class at every node ([`Readout::class`]) as a field would be read, without learning probabilities.
    pub fn classes(field: &DirichletField, calibration: Calibration) -> Vec<u16> {
        let weights = match calibration {
            Calibration::Off => vec![1.0; field.n_classes()],
            Calibration::On => class_balance::weights(field, class_balance::AUTO_POWER),
        };
        let reader = Readout {
            weights,
            calibration: None,
        };
        let nodes = (0..field.n() as u32)
            .into_par_iter()
            .with_min_len(NODES_PER_CHUNK);
        nodes
            .map(|node| reader.class(field, NodeId(node)) as u16)
            .collect()
    }

    /// The probability of every class at a node.
    pub fn probabilities(&self, field: &DirichletField, node: NodeId) -> Vec<f64> {
        match &self.calibration {
            None => field.mean(node),
            Some(calibration) => powers(
                &self.evidence(field, node),
                calibration.floor,
                calibration.power,
            ),
        }
    }

    /// α at a node, class-balanced: the Dirichlet distribution whose variance and evidence are shown.
    pub fn alpha(&self, field: &DirichletField, node: NodeId) -> Vec<f64> {
        let mut alpha = self.evidence(field, node);
        alpha
            .iter_mut()
            .for_each(|alpha| *alpha += field.prior_strength());
        alpha
    }

    /// The share of wrong answers that the labels suggest; 0 if that was not asked.
    pub fn noise(&self) -> f64 {
        self.calibration
            .as_ref()
            .map_or(0.0, |calibration| calibration.noise)
    }

    /// The accuracy to expect on these nodes, none of which has a label. `None` if calibration is off, without nodes, and while
    /// there is little to learn it from: fewer than 10 labels that others of their class predict, or a class without any.
    pub fn accuracy(&self, field: &DirichletField, nodes: &[NodeId]) -> Option<Accuracy> {
        let calibration = self
            .calibration
            .as_ref()
            .filter(|calibration| calibration.tests >= MIN_LEFT_OUT)?;
        let heard = |class: usize| field.plane(class).iter().any(|evidence| *evidence > 0.0);
        if nodes.is_empty() || !(0..field.n_classes()).all(heard) {
            return None;
        }
        // Drawn, because pools are often sorted.
        let drawn = Random::new(0, Purpose::Sample, 0)
            .distinct(ACCURACY_SAMPLE.min(nodes.len()), nodes.len());
        let sample: Vec<Vec<f64>> = drawn
            .into_iter()
            .map(|place| self.evidence(field, nodes[place]))
            .collect();
        let expected = |power: f64, floor: f64| {
            let confidence = |evidence: &Vec<f64>| {
                powers(evidence, floor, power)
                    .into_iter()
                    .fold(0.0, f64::max)
            };
            sample
                .iter()
                .fold(0.0, |sum, evidence| sum + confidence(evidence))
                / sample.len() as f64
        };
        let (mut mean, mut square) = (0.0, 0.0);
        for &(power, floor, weight) in calibration
            .posterior
            .iter()
            .filter(|(_, _, weight)| *weight > 1e-4)
        {
            let accuracy = expected(power, floor);
            mean += weight * accuracy;
            square += weight * accuracy * accuracy;
        }
        let total = calibration
            .posterior
            .iter()
            .filter(|(_, _, w)| *w > 1e-4)
            .fold(0.0, |sum, (_, _, w)| sum + w);
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
        let (floor, power) = match &self.calibration {
            Some(calibration) => (calibration.floor, calibration.power),
            // The mean of the field is the evidence above the prior.
            None => (field.prior_strength(), 1.0),
        };
        let tests = left_out(field, labels, &self.weights, source_value);
        tests
            .into_iter()
            .map(|test| (test.node, test.class, powers(&test.evidence, floor, power)))
            .collect()
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

/// A label left out.
#[derive(Debug, PartialEq)]
struct Test {
    node: NodeId,
    /// The evidence of all others at its node.
    evidence: Vec<f64>,
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
            evidence: evidence.clone(),
            class,
            weight,
        }));
    }
    tests
}

/// A point of the grid and the logarithm of its posterior weight.
struct Point {
    power: f64,
    floor: f64,
    noise: f64,
    fit: f64,
}

/// The posterior over the grid.
fn calibrate(tests: &[Test], n_classes: usize) -> Fit {
    let away = |value: f64, (centre, width): (f64, f64)| {
        let distance = libm::log(value / centre) / width;
        0.5 * distance * distance
    };
    let mut grid = Vec::with_capacity(POWERS.len() * FLOORS.len() * NOISES.len());
    for power in POWERS {
        for floor in FLOORS {
            let left_out: Vec<(f64, f64)> = tests
                .iter()
                .map(|test| {
                    (
                        powers(&test.evidence, floor, power)[test.class],
                        test.weight,
                    )
                })
                .collect();
            for noise in NOISES {
                let wrong = noise / (n_classes.max(2) - 1) as f64;
                let log = |(q, weight): &(f64, f64)| {
                    weight * libm::log((1.0 - noise) * q + wrong * (1.0 - q) + 1e-12)
                };
                let prior =
                    away(power, POWER_PRIOR) + away(floor, FLOOR_PRIOR) + noise / NOISE_PRIOR;
                let fit = left_out.iter().fold(0.0, |sum, one| sum + log(one)) - prior;
                grid.push(Point {
                    power,
                    floor,
                    noise,
                    fit,
                });
            }
        }
    }
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
    let pairs = grid
        .chunks_exact(NOISES.len())
        .zip(weights.chunks_exact(NOISES.len()));
    let posterior = pairs.map(|(points, weights)| {
        (
            points[0].power,
            points[0].floor,
            weights.iter().fold(0.0, |sum, weight| sum + weight) / total,
        )
    });
    Fit {
        tests: tests.len(),
        power: libm::exp(mean(|point| libm::log(point.power))),
        floor: libm::exp(mean(|point| libm::log(point.floor))),
        noise: mean(|point| point.noise),
        posterior: posterior.collect(),
    }
}

/// (e_c + ε)^γ, scaled to sum 1.
fn powers(evidence: &[f64], floor: f64, power: f64) -> Vec<f64> {
    let largest = evidence.iter().copied().fold(0.0, f64::max) + floor;
    let mut shares: Vec<f64> = evidence
        .iter()
        .map(|e| libm::pow((e + floor) / largest, power))
        .collect();
    let total = shares.iter().fold(0.0, |sum, share| sum + share);
    shares.iter_mut().for_each(|share| *share /= total);
    shares
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
        // (1 + 0)² : (3 + 0)² = 1 : 9.
        let shares = powers(&[1.0, 3.0], 0.0, 2.0);
        assert!((shares[0] - 0.1).abs() < 1e-15 && (shares[1] - 0.9).abs() < 1e-15);
        assert_eq!(powers(&[0.0, 0.0], 0.1, 3.0), [0.5, 0.5]);
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
            evidence: vec![first, 0.0],
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
            let reader = Readout::calibrated(&field, &labels, 0.0);
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
