//! Randomness as data: one u64 seed, numbered streams, and the few distributions we need.
//!
//! Only this module builds a generator. A stream is named by its purpose and its round (for questions: the number of
//! live labels), so asking twice gives the same answer and a resumed run asks what an uninterrupted one would have.
//! The distributions are written here, on `libm`, because library samplers do not promise the same bits everywhere.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

/// What a stream is for. Streams of different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// Choosing the next question.
    Ask = 1,
    /// Random scores (the random acquisition).
    Scores = 2,
    /// Drawing the sources of the calibrated prior.
    Prior = 3,
    /// Drawing initial labels in a simulation.
    Initial = 4,
    /// Synthetic pools.
    Generator = 5,
    /// Starting vectors for eigenpairs.
    Subspace = 7,
    /// Cells and samples of the approximate neighbour search.
    Neighbours = 8,
    /// Centres of k-means.
    Clusters = 9,
    /// Wrong answers of a noisy oracle in a simulation.
    Oracle = 10,
    // 11 was random signs.
    /// Nodes on which accuracy is estimated.
    Sample = 12,
    /// The first block of the search for principal components.
    Components = 13,
    /// Everything a caller of the library wants for itself.
    User = 6,
}

/// A stream of random numbers, repeatable from its name on every platform.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of a purpose and round under a seed.
    pub fn new(seed: u64, purpose: Purpose, round: u64) -> Random {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(((purpose as u64) << 56) | (round & ((1 << 56) - 1)));
        Random(generator)
    }

    /// Uniform in [0, 1), with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `0..bound`, without bias.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "below(0) has no answer");
        let bound = bound as u64;
        let zone = u64::MAX - u64::MAX % bound;
        loop {
            let draw = self.0.next_u64();
            if draw < zone {
                return (draw % bound) as usize;
            }
        }
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        radius * libm::cos(2.0 * std::f64::consts::PI * self.uniform())
    }

    /// `count` distinct numbers from `0..bound`, in random order (a partial Fisher-Yates shuffle).
    ///
    /// # Panics
    /// If `count` exceeds `bound`.
    pub fn distinct(&mut self, count: usize, bound: usize) -> Vec<usize> {
        assert!(
            count <= bound,
            "{count} distinct numbers below {bound} do not exist"
        );
        let mut all: Vec<usize> = (0..bound).collect();
        for i in 0..count {
            let j = i + self.below(bound - i);
            all.swap(i, j);
        }
        all.truncate(count);
        all
    }
}

/// A hash of a seed and a number, for breaking ties without favouring small node ids (the finaliser of SplitMix64).
pub fn hash(seed: u64, number: u64) -> u64 {
    let mut z = seed ^ number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ() {
        let draw = |seed, purpose, round| Random::new(seed, purpose, round).uniform();
        assert_eq!(draw(1, Purpose::Ask, 3), draw(1, Purpose::Ask, 3));
        assert_ne!(draw(1, Purpose::Ask, 3), draw(1, Purpose::Ask, 4));
        assert_ne!(draw(1, Purpose::Ask, 3), draw(1, Purpose::Prior, 3));
        assert_ne!(draw(1, Purpose::Ask, 3), draw(2, Purpose::Ask, 3));
    }

    #[test]
    fn moments_of_uniform_and_normal() {
        let mut random = Random::new(7, Purpose::User, 0);
        let n = 100_000;
        let mean = (0..n).map(|_| random.uniform()).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0f64).sqrt() / (n as f64).sqrt());
        let normals: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let variance = normals.iter().map(|z| z * z).sum::<f64>() / n as f64;
        assert!((variance - 1.0).abs() < 5.0 * 2.0f64.sqrt() / (n as f64).sqrt());
    }

    #[test]
    fn distinct_draws_are_distinct_and_cover() {
        let mut random = Random::new(7, Purpose::User, 1);
        let mut all = random.distinct(20, 20);
        all.sort_unstable();
        assert_eq!(all, (0..20).collect::<Vec<_>>());
    }
}
