//! Keeps the largest score and the distribution of scores up to date while scores change, without a scan of all nodes.
//!
//! ```text
//! scores   one per node; -∞ for those that may not be asked
//! leaders  the best node of every 64, of every 64 of those, ...: the best of all stands at the top
//! counts   how many scores lie in each of 4096 slices of their range: percentiles, for the automatic λ
//! ```
//!
//! A change of m scores costs O(64 m) at most and an ask O(4096), for every n. The better of two nodes has the larger
//! score; among equals the smaller hash of seed and node leads (local solves leave far nodes equal on purpose).
//!
//! The range of the slices runs from the score of a node that is certain to the score of the prior, so that it depends on
//! the prior and the number of classes only, not on what was labelled before.

use rayon::prelude::*;

use crate::blocks::NODES_PER_CHUNK;
use crate::ids::NodeId;
use crate::seed::{Random, hash};

/// Scores, their leaders and their spread.
#[derive(Debug)]
pub(crate) struct Leaders {
    scores: Vec<f64>,
    /// levels[0][b]: the best node of block b; levels[1][b]: the best of 64 blocks; ...
    levels: Vec<Vec<u32>>,
    seed: u64,
    low: f64,
    slice: f64,
    counts: Vec<u32>,
    open: usize,
    nans: usize,
}

const NODES_PER_BLOCK: usize = 64;
const SCORE_SLICES: usize = 4096;

/// Proposals before a draw scans all nodes instead.
const MAX_PROPOSALS: usize = 20_000;

impl Leaders {
    /// Builds the leaderboard of all scores, whose range is about `low..=high`.
    pub(crate) fn new(scores: Vec<f64>, (low, high): (f64, f64), seed: u64) -> Leaders {
        let slice = if high > low {
            (high - low) / SCORE_SLICES as f64
        } else {
            1.0
        };
        let mut leaders = Leaders {
            levels: Vec::new(),
            seed,
            low,
            slice,
            counts: vec![0; SCORE_SLICES],
            open: 0,
            nans: 0,
            scores,
        };
        for node in 0..leaders.scores.len() {
            leaders.count(leaders.scores[node], 1);
        }
        let mut below = leaders.scores.len();
        while leaders.levels.is_empty() || below > 1 {
            let blocks = below.div_ceil(NODES_PER_BLOCK);
            let level = leaders.levels.len();
            let best = |block: usize| leaders.best_of(level, block);
            let found = (0..blocks)
                .into_par_iter()
                .with_min_len(NODES_PER_CHUNK)
                .map(best)
                .collect();
            leaders.levels.push(found);
            below = blocks;
        }
        leaders
    }

    /// Changes the scores of some nodes, each named any number of times.
    pub(crate) fn update(&mut self, nodes: &[NodeId], mut score: impl FnMut(NodeId) -> f64) {
        let mut blocks: Vec<u32> = Vec::new();
        for &node in nodes {
            let (old, new) = (self.scores[node.index()], score(node));
            if old.to_bits() == new.to_bits() {
                continue;
            }
            self.count(old, -1);
            self.count(new, 1);
            self.scores[node.index()] = new;
            // A block is looked through again only if its leader changed; a node that is now ahead of it takes its place.
            let block = node.0 / NODES_PER_BLOCK as u32;
            let leader = &self.levels[0][block as usize];
            if *leader == node.0 {
                blocks.push(block);
            } else if self.leads(node.0, *leader) {
                self.levels[0][block as usize] = node.0;
                blocks.push(block);
            }
        }
        for level in 0..self.levels.len() {
            blocks.sort_unstable();
            blocks.dedup();
            for &block in &blocks {
                self.levels[level][block as usize] = self.best_of(level, block as usize);
            }
            blocks
                .iter_mut()
                .for_each(|block| *block /= NODES_PER_BLOCK as u32);
        }
    }

    /// The best node of a block of a level.
    fn best_of(&self, level: usize, block: usize) -> u32 {
        let first = block * NODES_PER_BLOCK;
        match level.checked_sub(1) {
            None => self
                .best_among(first as u32..(first + NODES_PER_BLOCK).min(self.scores.len()) as u32),
            Some(below) => {
                let members = &self.levels[below];
                self.best_among(
                    members[first..(first + NODES_PER_BLOCK).min(members.len())]
                        .iter()
                        .copied(),
                )
            }
        }
    }

    fn best_among(&self, nodes: impl Iterator<Item = u32>) -> u32 {
        nodes
            .reduce(|best, node| if self.leads(node, best) { node } else { best })
            .expect("a block is not empty")
    }

    /// Whether a node comes before another. Scores that are not numbers come last.
    fn leads(&self, node: u32, other: u32) -> bool {
        let (a, b) = (self.scores[node as usize], self.scores[other as usize]);
        a > b
            || b.is_nan()
            || (a == b && hash(self.seed, u64::from(node)) < hash(self.seed, u64::from(other)))
    }

    fn count(&mut self, score: f64, change: i32) {
        if score.is_nan() {
            self.nans = self.nans.wrapping_add_signed(change as isize);
        } else if score != f64::NEG_INFINITY {
            self.open = self.open.wrapping_add_signed(change as isize);
            let slice =
                ((score - self.low) / self.slice).clamp(0.0, (SCORE_SLICES - 1) as f64) as usize;
            self.counts[slice] = self.counts[slice].wrapping_add_signed(change);
        }
    }

    /// The scores of all nodes.
    pub(crate) fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// A node whose score is not a number, if there is one.
    pub(crate) fn not_a_number(&self) -> Option<NodeId> {
        let found = || self.scores.iter().position(|score| score.is_nan());
        (self.nans > 0)
            .then(found)
            .flatten()
            .map(|node| NodeId(node as u32))
    }

    /// How many nodes may be asked.
    pub(crate) fn open(&self) -> usize {
        self.open
    }

    /// The node with the best score.
    pub(crate) fn best(&self) -> NodeId {
        NodeId(self.levels.last().expect("there is a level")[0])
    }

    /// The smallest score that may be asked, to the width of a slice.
    pub(crate) fn least(&self) -> f64 {
        let first = self.counts.iter().position(|&count| count > 0).unwrap_or(0);
        self.low + first as f64 * self.slice
    }

    /// The score below which a share of the scores lies, to the width of a slice.
    pub(crate) fn percentile(&self, share: f64) -> f64 {
        let mut rest = share * self.open as f64;
        for (slice, &count) in self.counts.iter().enumerate() {
            if count > 0 && rest <= f64::from(count) {
                let inside = rest / f64::from(count);
                return (self.low + (slice as f64 + inside) * self.slice)
                    .min(self.scores[self.best().index()]);
            }
            rest -= f64::from(count);
        }
        self.scores[self.best().index()]
    }

    /// Draws a node with probability proportional to exp(λ score): nodes are proposed alike and accepted with
    /// exp(λ (score - best)). With the automatic λ one in K̂ scores is within 1/λ of the best, so at least one proposal in
    /// e K̂ is accepted on average; where λ is so large that few are, all nodes are looked at.
    pub(crate) fn draw(&self, lambda: f64, random: &mut Random) -> NodeId {
        let best = self.scores[self.best().index()];
        let weight = |score: f64| match score {
            _ if score == f64::NEG_INFINITY => 0.0,
            _ if score == best || lambda == 0.0 => 1.0,
            _ => libm::exp(lambda * (score - best)),
        };
        for _ in 0..MAX_PROPOSALS {
            let node = random.below(self.scores.len());
            if random.uniform() < weight(self.scores[node]) {
                return NodeId(node as u32);
            }
        }
        let sum = self
            .scores
            .iter()
            .fold(0.0, |sum, &score| sum + weight(score));
        let mut left = random.uniform() * sum;
        for (node, &score) in self.scores.iter().enumerate() {
            left -= weight(score);
            if left < 0.0 {
                return NodeId(node as u32);
            }
        }
        self.best()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Purpose;

    /// The slow twin: look at everything.
    fn best(scores: &[f64], seed: u64) -> NodeId {
        let key = |&node: &u32| {
            (
                scores[node as usize],
                std::cmp::Reverse(hash(seed, u64::from(node))),
            )
        };
        let order = |a: &u32, b: &u32| key(a).0.total_cmp(&key(b).0).then(key(a).1.cmp(&key(b).1));
        NodeId((0..scores.len() as u32).max_by(order).unwrap())
    }

    #[test]
    fn leaders_and_counts_follow_any_changes() {
        let mut random = Random::new(1, Purpose::User, 0);
        for n in [1, 63, 64, 65, 5000] {
            let mut scores: Vec<f64> = (0..n).map(|_| random.below(5) as f64 / 4.0).collect();
            let mut leaders = Leaders::new(scores.clone(), (0.0, 1.0), 7);
            for _ in 0..50 {
                let nodes: Vec<NodeId> = (0..1 + random.below(30))
                    .map(|_| NodeId(random.below(n) as u32))
                    .collect();
                for node in &nodes {
                    let closed = random.uniform() < 0.2;
                    scores[node.index()] = if closed {
                        f64::NEG_INFINITY
                    } else {
                        random.below(5) as f64 / 4.0
                    };
                }
                leaders.update(&nodes, |node| scores[node.index()]);
                let open: Vec<f64> = scores
                    .iter()
                    .copied()
                    .filter(|score| score.is_finite())
                    .collect();
                assert_eq!(leaders.open(), open.len());
                if !open.is_empty() {
                    assert_eq!(leaders.best(), best(&scores, 7));
                    for share in [0.0, 0.3, 0.5, 0.95, 1.0] {
                        // As many scores as the share says lie below it, to the width of a slice on either side.
                        let (at, slice) = (leaders.percentile(share), 1.0 / SCORE_SLICES as f64);
                        let upto = |limit: f64| {
                            open.iter().filter(|&&score| score <= limit).count() as f64
                        };
                        let wanted = share * open.len() as f64;
                        assert!(
                            upto(at + slice) >= wanted && upto(at - slice) <= wanted,
                            "{share}: {at}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn draws_have_the_probabilities_they_should() {
        let scores = [0.0, 0.5, 1.0, f64::NEG_INFINITY];
        let leaders = Leaders::new(scores.to_vec(), (0.0, 1.0), 1);
        // λ = 2 ln 2: weights 1/4, 1/2, 1. λ so large that proposals fail: the best, by looking at all.
        let mut random = Random::new(2, Purpose::User, 0);
        let mut counts = [0; 4];
        for _ in 0..7000 {
            counts[leaders
                .draw(2.0 * std::f64::consts::LN_2, &mut random)
                .index()] += 1;
        }
        // Means 1000, 2000, 4000; standard deviations below 42.
        assert_eq!(counts[3], 0);
        for (count, mean) in counts.iter().zip([1000, 2000, 4000]) {
            assert!((*count as i64 - mean).abs() < 200, "{counts:?}");
        }
        let few = Leaders::new([vec![0.0; 100_000], vec![1.0]].concat(), (0.0, 1.0), 1);
        assert_eq!(few.draw(1e6, &mut random), NodeId(100_000));
        assert!(few.not_a_number().is_none());
        let bad = Leaders::new(vec![0.0, f64::NAN], (0.0, 1.0), 1);
        assert_eq!(
            (bad.not_a_number(), bad.best()),
            (Some(NodeId(1)), NodeId(0))
        );
    }
}
