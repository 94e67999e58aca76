//! Policies: from scores to the node to ask (`sec:query-point-selection`, `subsec:lambda-choice`).
//!
//! ```text
//! max            argmax A(x)
//! proportional   q(x) ∝ exp(λ A(x))
//! uniform        every candidate alike
//! ```
//!
//! λ (`sharpness`) is a number; or a schedule λ₀ t^P with t = 1 at the first question; or automatic, 1/θ with
//!
//! ```text
//! θ = clamp(max A - percentile_{100 (1 - 1/K̂)} A,  max A / (ln 1e150 - ln m),  1)      m candidates
//! ```
//!
//! which puts most of the probability on the best 1/K̂ of the candidates. Scores that are not positive (margins) have
//! no such lower bound for θ; there max A - min A takes the place of max A, and scores that are all equal mean uniform.
//! Everything is computed from λ (A - max A) <= 0, so no λ in [0, ∞] overflows; λ = ∞ is uniform over the maximisers.

pub(crate) mod sharpness;
pub(crate) mod leaderboard;

use serde::{Deserialize, Serialize};

use crate::belief::prior::percentile;
use crate::error::{Error, Result};
use crate::ids::NodeId;
use crate::policy::leaderboard::Leaders;
pub use crate::policy::sharpness::Sharpness;
use crate::seed::{Random, hash};
use crate::words::words;

/// How the next question is chosen among the scored candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The largest score; ties to the smaller node, or to chance by the seed while nothing is labelled.
    #[default]
    Max,
    /// At random, proportional to exp(λ score).
    Proportional,
    /// At random, ignoring the scores.
    Uniform,
}

words!(Policy, "policy", { Max => "max", Proportional => "proportional", Uniform => "uniform" });

/// A policy with everything it needs to choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chooser {
    /// The policy.
    pub policy: Policy,
    /// λ, for the proportional policy.
    pub sharpness: Sharpness,
    /// K̂, for the automatic λ.
    pub expected_clusters: usize,
    /// The number of the question, from 1.
    pub question: u64,
    /// Breaks ties of the maximum by chance under this seed instead of by node id.
    pub tie_seed: Option<u64>,
}

/// The nodes of a batch, and how many of them neighbour an earlier one because there were no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The nodes to ask, in order.
    pub nodes: Vec<NodeId>,
    /// How many of the last ones are graph neighbours of earlier ones.
    pub crowded: usize,
}

impl Chooser {
    /// Chooses one of the candidates, which are nodes in ascending order with their scores. The scratch is overwritten;
    /// keeping it between calls saves its allocation.
    ///
    /// # Errors
    /// No candidates (N11).
    pub fn choose(
        &self,
        candidates: &[(NodeId, f64)],
        random: &mut Random,
        scratch: &mut Vec<f64>,
    ) -> Result<NodeId> {
        if candidates.is_empty() {
            return Err(Error::NothingToAsk);
        }
        match self.policy {
            Policy::Max => Ok(self.best(candidates)),
            Policy::Uniform => Ok(candidates[random.below(candidates.len())].0),
            Policy::Proportional => {
                let lambda = self.lambda(candidates, scratch);
                weigh(candidates, lambda, scratch);
                Ok(candidates[draw(scratch, random)].0)
            }
        }
    }

    /// Chooses several candidates such that no two are joined in the graph; if there are not enough, the rest is
    /// filled from what is left and counted.
    ///
    /// # Errors
    /// No candidates (N11). Fewer candidates than wanted make a smaller batch.
    pub fn choose_batch(
        &self,
        candidates: &[(NodeId, f64)],
        count: usize,
        joined: impl Fn(NodeId, NodeId) -> bool,
        random: &mut Random,
        scratch: &mut Vec<f64>,
    ) -> Result<Batch> {
        let mut batch = Batch {
            nodes: vec![self.choose(candidates, random, scratch)?],
            crowded: 0,
        };
        if count == 1 {
            return Ok(batch);
        }
        let mut left = candidates.to_vec();
        let mut apart = candidates.to_vec();
        while batch.nodes.len() < count.min(candidates.len()) {
            let last = *batch.nodes.last().expect("a batch starts with one");
            left.retain(|&(node, _)| node != last);
            apart.retain(|&(node, _)| node != last && !joined(node, last));
            batch.crowded += usize::from(apart.is_empty());
            let next = self.choose(
                if apart.is_empty() { &left } else { &apart },
                random,
                scratch,
            )?;
            batch.nodes.push(next);
        }
        Ok(batch)
    }

    /// Chooses one of the nodes whose scores are kept up.
    ///
    /// # Errors
    /// No candidates (N11).
    pub(crate) fn choose_leader(&self, leaders: &Leaders, random: &mut Random) -> Result<NodeId> {
        if leaders.open() == 0 {
            return Err(Error::NothingToAsk);
        }
        match self.policy {
            Policy::Max => Ok(leaders.best()),
            Policy::Uniform => Ok(leaders.draw(0.0, random)),
            Policy::Proportional => {
                let most = leaders.scores()[leaders.best().index()];
                let automatic = || {
                    let percentile = leaders.percentile(1.0 - 1.0 / self.expected_clusters as f64);
                    inverse_theta(most, leaders.least(), leaders.open(), percentile)
                };
                Ok(leaders.draw(self.given_lambda().unwrap_or_else(automatic), random))
            }
        }
    }

    fn best(&self, candidates: &[(NodeId, f64)]) -> NodeId {
        let tie = |node: NodeId| {
            self.tie_seed
                .map_or(u64::from(node.0), |seed| hash(seed, u64::from(node.0)))
        };
        let mut best = candidates[0];
        for &(node, score) in &candidates[1..] {
            // While scores differ the tie-break is not even computed.
            if score > best.1 || (score == best.1 && tie(node) < tie(best.0)) {
                best = (node, score);
            }
        }
        best.0
    }

    /// λ for these candidates.
    fn lambda(&self, candidates: &[(NodeId, f64)], scratch: &mut Vec<f64>) -> f64 {
        self.given_lambda().unwrap_or_else(|| {
            scratch.clear();
            scratch.extend(candidates.iter().map(|&(_, score)| score));
            automatic_lambda(scratch, self.expected_clusters)
        })
    }

    /// λ where it does not depend on the scores.
    fn given_lambda(&self) -> Option<f64> {
        match self.sharpness {
            Sharpness::Constant(lambda) => Some(lambda),
            Sharpness::Schedule { start: 0.0, .. } => Some(0.0),
            Sharpness::Schedule { start, power } => {
                Some(start * libm::pow(self.question as f64, power))
            }
            Sharpness::Auto => None,
        }
    }
}

/// The automatic λ for some scores: 1/θ, or 0 if all scores are equal. Reorders the scores.
///
/// # Panics
/// If there are no scores.
pub fn automatic_lambda(scores: &mut [f64], expected_clusters: usize) -> f64 {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = scores
        .iter()
        .copied()
        .filter(|score| score.is_finite())
        .fold(f64::INFINITY, f64::min);
    if scores.iter().all(|&score| score == most) {
        return 0.0;
    }
    let count = scores.len();
    inverse_theta(
        most,
        least,
        count,
        percentile(scores, 1.0 - 1.0 / expected_clusters as f64),
    )
}

/// 1/θ from the largest and smallest of `count` scores and their percentile.
fn inverse_theta(most: f64, least: f64, count: usize, percentile: f64) -> f64 {
    let size = if most > 0.0 { most } else { most - least };
    let floor = size / (150.0 * std::f64::consts::LN_10 - libm::log(count as f64));
    let theta = (most - percentile).max(floor).min(1.0);
    if theta > 0.0 { 1.0 / theta } else { 0.0 }
}

/// Fills `weights` with exp(λ (A - max A)): unnormalised probabilities, at most 1.
fn weigh(candidates: &[(NodeId, f64)], lambda: f64, weights: &mut Vec<f64>) {
    let most = candidates
        .iter()
        .map(|&(_, score)| score)
        .fold(f64::NEG_INFINITY, f64::max);
    let weight = |score: f64| match score {
        // λ = 0 with a score of -∞ would be 0 · ∞: every candidate counts alike.
        _ if score == most || lambda == 0.0 => 1.0,
        _ => libm::exp(lambda * (score - most)),
    };
    weights.clear();
    weights.extend(candidates.iter().map(|&(_, score)| weight(score)));
}

/// The probabilities of the proportional policy.
pub fn probabilities(scores: &[f64], lambda: f64) -> Vec<f64> {
    let candidates: Vec<(NodeId, f64)> = (0..).map(NodeId).zip(scores.iter().copied()).collect();
    let mut weights = Vec::new();
    weigh(&candidates, lambda, &mut weights);
    let sum = weights.iter().fold(0.0, |sum, weight| sum + weight);
    weights.iter().map(|weight| weight / sum).collect()
}

/// An index drawn with probability proportional to its weight.
fn draw(weights: &[f64], random: &mut Random) -> usize {
    let sum = weights.iter().fold(0.0, |sum, weight| sum + weight);
    let mut left = random.uniform() * sum;
    let mut last = 0;
    for (index, &weight) in weights
        .iter()
        .enumerate()
        .filter(|(_, weight)| **weight > 0.0)
    {
        if left < weight {
            return index;
        }
        left -= weight;
        last = index;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::seed::Purpose;
    use proptest::prelude::*;

    fn chooser(policy: Policy, sharpness: Sharpness) -> Chooser {
        Chooser {
            policy,
            sharpness,
            expected_clusters: 20,
            question: 1,
            tie_seed: None,
        }
    }

    fn candidates(scores: &[f64]) -> Vec<(NodeId, f64)> {
        (0..).map(NodeId).zip(scores.iter().copied()).collect()
    }

    #[test]
    fn ties_go_to_the_smaller_node_or_to_the_seed() {
        let tied = candidates(&[0.1, 0.5, 0.5, 0.5]);
        let mut random = Random::new(1, Purpose::Ask, 0);
        let max = chooser(Policy::Max, Sharpness::Auto);
        assert_eq!(
            max.choose(&tied, &mut random, &mut Vec::new()).unwrap(),
            NodeId(1)
        );
        let picked: std::collections::BTreeSet<NodeId> = (0..50)
            .map(|seed| {
                Chooser {
                    tie_seed: Some(seed),
                    ..max
                }
                .choose(&tied, &mut random, &mut Vec::new())
                .unwrap()
            })
            .collect();
        assert_eq!(picked, [1, 2, 3].map(NodeId).into());
        assert_eq!(
            max.choose(&[], &mut random, &mut Vec::new()),
            Err(Error::NothingToAsk)
        );
    }

    /// As λ → 0 the choice is uniform, as λ → ∞ it is the maximum (`sec:query-point-selection`).
    #[test]
    fn limits_of_lambda() {
        let scores = [0.3, 0.1, 0.2, 0.30000001];
        for lambda in [0.0, 1e-300, 1e-12] {
            assert!(
                probabilities(&scores, lambda)
                    .iter()
                    .all(|q| (q - 0.25).abs() < 1e-12)
            );
        }
        for lambda in [1e12, 1e300, f64::INFINITY] {
            assert_eq!(probabilities(&scores, lambda), [0.0, 0.0, 0.0, 1.0]);
        }
        assert_eq!(
            probabilities(&[1.0, 1.0, 0.0], f64::INFINITY),
            [0.5, 0.5, 0.0]
        );
        assert_eq!(probabilities(&[0.0, 0.0], 1e5), [0.5, 0.5]);
        assert_eq!(probabilities(&[1.0, f64::NEG_INFINITY], 2.0), [1.0, 0.0]);
        assert_eq!(probabilities(&[1.0, f64::NEG_INFINITY], 0.0), [0.5, 0.5]);
    }

    /// Draws follow the exact probabilities: a chi-square test, with a bound passed once in 10,000 seeds.
    #[test]
    fn draws_are_proportional() {
        let scores = [0.1, 0.4, 0.2, 0.35, 0.0];
        for (stream, lambda) in [1e-12, 1.0, 10.0, 100.0].into_iter().enumerate() {
            let choose = chooser(Policy::Proportional, Sharpness::Constant(lambda));
            let mut random = Random::new(11, Purpose::User, stream as u64);
            let (draws, mut counts) = (20_000, [0.0; 5]);
            for _ in 0..draws {
                counts[choose
                    .choose(&candidates(&scores), &mut random, &mut Vec::new())
                    .unwrap()
                    .index()] += 1.0;
            }
            let expected: Vec<f64> = probabilities(&scores, lambda)
                .iter()
                .map(|q| q * f64::from(draws))
                .collect();
            let chi: f64 = counts
                .iter()
                .zip(&expected)
                .filter(|(_, e)| **e > 5.0)
                .map(|(c, e)| (c - e).powi(2) / e)
                .sum();
            assert!(chi < 23.5, "lambda {lambda}: {chi}");
        }
    }

    #[test]
    fn automatic_lambda_by_hand() {
        // 21 scores 0, 0.01, ..., 0.20 and K_hat 20: the 95th percentile is 0.19, so theta = 0.01.
        let scores: Vec<f64> = (0..21).map(|i| f64::from(i) / 100.0).collect();
        assert!((automatic_lambda(&mut scores.clone(), 20) - 100.0).abs() < 1e-9);
        assert_eq!(
            automatic_lambda(&mut [0.5; 7], 20),
            0.0,
            "all equal means uniform"
        );
        // The best fifth tied: theta falls to its floor, max A/(ln 1e150 - ln 10).
        let tied = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 0.3];
        let floor = 0.3 / (149.0 * libm::log(10.0));
        assert!((automatic_lambda(&mut tied.clone(), 20) * floor - 1.0).abs() < 1e-12);
        // Margins are never positive; the rule still gives a finite number above 0.
        let negative = automatic_lambda(&mut [-0.9, -0.5, 0.0, 0.0], 20);
        assert!(negative.is_finite() && negative > 0.0);
    }

    #[test]
    fn schedules_start_at_lambda_0_and_grow() {
        let mut schedule = chooser(Policy::Proportional, "schedule:2,1.5".parse().unwrap());
        assert_eq!(schedule.lambda(&[], &mut Vec::new()), 2.0);
        schedule.question = 4;
        assert_eq!(schedule.lambda(&[], &mut Vec::new()), 16.0);
        for bad in [
            "schedule:1",
            "schedule:-1,1",
            "schedule:1,inf",
            "-1",
            "nan",
            "sharp",
        ] {
            assert!(bad.parse::<Sharpness>().is_err(), "{bad}");
        }
        assert_eq!(
            "inf".parse::<Sharpness>().unwrap(),
            Sharpness::Constant(f64::INFINITY)
        );
    }

    #[test]
    fn batches_avoid_neighbours_and_say_when_they_cannot() {
        // A path 0-1-2-3: after 1, only 3 is not its neighbour; then the rest is filled by score.
        let path = Graph::from_edges(4, &[(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]).unwrap();
        let max = chooser(Policy::Max, Sharpness::Auto);
        let mut random = Random::new(1, Purpose::Ask, 0);
        let scored = candidates(&[0.2, 0.9, 0.8, 0.1]);
        let batch = |count, random: &mut Random| {
            max.choose_batch(
                &scored,
                count,
                |a, b| path.adjacent(a, b),
                random,
                &mut Vec::new(),
            )
            .unwrap()
        };
        assert_eq!(
            batch(2, &mut random),
            Batch {
                nodes: vec![NodeId(1), NodeId(3)],
                crowded: 0
            }
        );
        let all = batch(9, &mut random);
        assert_eq!(
            all,
            Batch {
                nodes: [1, 3, 2, 0].map(NodeId).into(),
                crowded: 2
            }
        );
    }

    proptest! {
        #[test]
        fn no_lambda_and_no_scores_break_the_draw(
            scores in prop::collection::vec(prop_oneof![-1e6f64..1e6, Just(0.0), Just(f64::NEG_INFINITY)], 1..30),
            power in -12i32..308,
            seed in 0u64..1000,
        ) {
            let lambda = 10f64.powi(power);
            let probabilities = probabilities(&scores, lambda);
            prop_assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let mut random = Random::new(seed, Purpose::User, 2);
            for sharpness in [Sharpness::Constant(lambda), Sharpness::Auto] {
                let node = chooser(Policy::Proportional, sharpness).choose(&candidates(&scores), &mut random, &mut Vec::new()).unwrap();
                prop_assert!(node.index() < scores.len());
            }
        }
    }
}
