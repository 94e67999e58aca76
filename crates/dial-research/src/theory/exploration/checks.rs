//! The bounds against the truth in random cases: how often each fails.
//!
//! First the bounds on the variance, at random α of the boxes they speak of (half of them at corners, where bounds are
//! tight). Then the whole guarantee on random small pools, where the probability of K clusters in K questions is computed
//! exactly over all sequences of items.

use std::sync::Arc;

use dial::propagation::Column;
use dial::seed::{Purpose, Random};
use dial::{Control, Result};

use super::bounds::{
    Case, after, constant, corrected, corrected_bound, printed, printed_bound, stepwise,
};
use super::process::Process;
use crate::theory::separation::attained;

/// The streams of the random cases and of the random pools; those of the simulations stay far below.
const RANDOM_STREAMS: [u64; 2] = [1 << 62, (1 << 62) + 1];

/// Rounding is no violation.
const CHECK_ROUNDING: f64 = 1e-12;

/// How often the bounds on the variance failed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OnVariance {
    /// Random cases.
    pub cases: usize,
    /// Printed A_unl above the variance of a set without label.
    pub printed_unlabelled: usize,
    /// Printed A_lab below the variance of a set with a label.
    pub printed_labelled: usize,
    /// Printed A_back below some variance.
    pub printed_background: usize,
    /// Printed C below the ratio of the printed A_lab to the printed A_unl, which it should bound.
    pub printed_ratio: usize,
    /// Cases with K ε > ζ among those.
    pub ratio_beyond_condition: usize,
    /// Any of ours.
    pub ours: usize,
}

/// Random cases with K from 2 to 10, α₀ from 0.01 to 1 and ε from 0.001 to 0.3 (by their logarithms), ζ from ε to 1.
pub fn on_variance(cases: usize, seed: u64) -> OnVariance {
    let mut random = Random::new(seed, Purpose::User, RANDOM_STREAMS[0]);
    let mut found = OnVariance {
        cases,
        ..OnVariance::default()
    };
    for _ in 0..cases {
        let classes = 2 + random.below(9);
        let mut power =
            |low: f64, high: f64| libm::pow(10.0, low + (high - low) * random.uniform());
        let (prior, epsilon) = (power(-2.0, 0.0), power(-3.0, -0.5));
        let zeta = epsilon + (1.0 - epsilon) * random.uniform();
        let case = Case {
            classes,
            prior,
            delta: 0.0,
            zeta,
            epsilon,
            least_weight: 1.0 / classes as f64,
        };
        let labels = 1 + random.below(classes - 1);
        let corner = random.uniform() < 0.5;
        let mut share = || {
            if corner {
                f64::from(u8::from(random.uniform() < 0.5))
            } else {
                random.uniform()
            }
        };
        let evidence =
            |c: usize, share: f64| prior + if c < labels { epsilon * share } else { 0.0 };
        let fresh: Vec<f64> = (0..classes).map(|c| evidence(c, share())).collect();
        let mut known: Vec<f64> = (0..classes).map(|c| evidence(c, share())).collect();
        known[0] = prior + zeta + (1.0 - zeta) * share();
        let (fresh, known) = (
            dial::belief::field::variance(&fresh),
            dial::belief::field::variance(&known),
        );
        let (theirs, ours, now) = (printed(&case), corrected(&case), after(&case, labels));
        let (above, below) = (
            |bound: f64, v: f64| bound > v * (1.0 + CHECK_ROUNDING),
            |bound: f64, v: f64| bound < v * (1.0 - CHECK_ROUNDING),
        );
        found.printed_unlabelled += usize::from(above(theirs.unlabelled, fresh));
        found.printed_labelled += usize::from(below(theirs.labelled, known));
        found.printed_background += usize::from(below(theirs.background, fresh.max(known)));
        let ratio = below(constant(&case), theirs.labelled / theirs.unlabelled);
        found.printed_ratio += usize::from(ratio);
        found.ratio_beyond_condition += usize::from(ratio && classes as f64 * epsilon > zeta);
        let wrong = |b: super::bounds::Variances| {
            above(b.unlabelled, fresh)
                || below(b.labelled, known)
                || below(b.background, fresh.max(known))
        };
        found.ours += usize::from(wrong(ours) || wrong(now));
    }
    found
}

/// A random pool with what each bound says of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnPool {
    /// What the bounds depend on.
    pub case: Case,
    /// λ.
    pub lambda: f64,
    /// The probability of K clusters in K questions.
    pub truth: f64,
    /// The Proposition as printed.
    pub printed: f64,
    /// The bound of the same form that holds.
    pub corrected: f64,
    /// The product over the steps.
    pub stepwise: f64,
}

impl OnPool {
    /// Which of printed, corrected and stepwise exceed the truth.
    pub fn exceeds(&self) -> [bool; 3] {
        [self.printed, self.corrected, self.stepwise]
            .map(|bound| bound > self.truth + CHECK_ROUNDING)
    }
}

/// Random pools of two to four clusters of one to three items; in some a set leaves out an item.
///
/// # Errors
/// Cancelled.
pub fn on_pools(cases: usize, seed: u64, control: &Control) -> Result<Vec<OnPool>> {
    let mut random = Random::new(seed, Purpose::User, RANDOM_STREAMS[1]);
    let mut one = || {
        control.check()?;
        let classes = 2 + random.below(3);
        let clusters: Vec<usize> = (0..classes)
            .flat_map(|c| vec![c; 1 + random.below(3)])
            .collect();
        let mut power =
            |low: f64, high: f64| libm::pow(10.0, low + (high - low) * random.uniform());
        let (prior, lambda, near) = (power(-2.0, 0.0), power(-0.5, 2.0), power(-4.0, -0.5));
        let (tight, n) = (random.uniform() < 0.5, clusters.len());
        let mut column = |l: usize| -> Column {
            let mut value = |x: usize| match (x == l, clusters[x] == clusters[l]) {
                (true, _) => 1.0,
                (_, true) => 1.0 - (1.0 - 0.3 * random.uniform()) * if tight { 0.02 } else { 0.7 },
                _ => near * random.uniform(),
            };
            Arc::new((0..n).map(&mut value).collect())
        };
        let columns: Vec<Column> = (0..n).map(&mut column).collect();
        let mut kept = vec![true; n];
        let sizes: Vec<usize> = (0..classes)
            .map(|c| clusters.iter().filter(|of| **of == c).count())
            .collect();
        if random.uniform() < 0.3 {
            let spare = (0..n).find(|i| sizes[clusters[*i]] > 2);
            spare.into_iter().for_each(|i| kept[i] = false);
        }
        let sets = attained(&columns, &clusters, &kept);
        let least_weight = sizes.iter().copied().min().unwrap_or(0) as f64 / n as f64;
        let case = Case {
            classes,
            prior,
            delta: sets.delta,
            zeta: sets.zeta,
            epsilon: sets.epsilon,
            least_weight,
        };
        Ok(OnPool {
            truth: Process {
                columns,
                clusters,
                n_clusters: classes,
                prior,
            }
            .exactly(lambda),
            printed: printed_bound(&case).value(lambda),
            corrected: corrected_bound(&case).value(lambda),
            stepwise: stepwise(&case, lambda),
            case,
            lambda,
        })
    };
    (0..cases).map(|_| one()).collect()
}
