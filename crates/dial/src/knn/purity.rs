//! Neighbour purity: how often neighbours share the label, and by how much two kinds of features differ in that.
//!
//! ```text
//! s_i          share of the neighbours of item i that have its label
//! purity       mean of s_i over the m items
//! difference   mean of d_i = s_i - s'_i: the same items under other features
//! error        √(Σ (d_i - mean)² + (-1 - mean)² + (1 - mean)²) / (m + 2)     of a purity with 0 in the place of -1
//! ```
//!
//! An item without neighbours (a row of length zero under cosine) has the share 0: nothing tells its label. The standard
//! error takes items as independent. The two items added at the ends of the scale keep it from being 0 where a
//! few items happen to agree; among many they do not matter. Differences are paired, so they are surer than the difference
//! of two purities.

use crate::ids::NodeId;
use crate::knn::Neighbours;

/// The share of equal labels among the neighbours of each item.
#[derive(Clone, Debug, PartialEq)]
pub struct Purity {
    shares: Vec<f64>,
}

/// A mean and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
}

impl Purity {
    /// Of items that all have labels.
    ///
    /// # Panics
    /// If there are not as many labels as items.
    pub fn new(neighbours: &Neighbours, labels: &[u16]) -> Purity {
        assert_eq!(neighbours.n(), labels.len(), "a label for each item");
        let share = |item: usize| {
            let all = neighbours.of(NodeId(item as u32));
            let equal = all.filter(|(other, _)| labels[other.index()] == labels[item]);
            equal.count() as f64 / neighbours.k() as f64
        };
        Purity {
            shares: (0..labels.len()).map(share).collect(),
        }
    }

    /// The purity.
    pub fn estimate(&self) -> Estimate {
        Estimate::of(&self.shares, 0.0)
    }

    /// How much larger it is than under other features of the same items.
    ///
    /// # Panics
    /// If these are other items.
    pub fn minus(&self, other: &Purity) -> Estimate {
        assert_eq!(self.shares.len(), other.shares.len(), "the same items");
        let both = self.shares.iter().zip(&other.shares);
        let differences: Vec<f64> = both.map(|(one, other)| one - other).collect();
        Estimate::of(&differences, -1.0)
    }
}

impl Estimate {
    /// Of values from `least` to 1.
    fn of(values: &[f64], least: f64) -> Estimate {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let square = |value: f64| (value - mean) * (value - mean);
        let sum = values.iter().map(|&value| square(value)).sum::<f64>();
        let sum = sum + square(least) + square(1.0);
        let error = sum.sqrt() / (values.len() + 2) as f64;
        Estimate { mean, error }
    }

    /// Half of the interval that holds the true value 19 times in 20.
    pub fn margin(&self) -> f64 {
        1.96 * self.error
    }

    /// Whether it is above zero beyond chance.
    pub fn is_positive(&self) -> bool {
        self.mean > self.margin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::features::{Features, Metric};
    use crate::knn::metric_space::ZeroVectors;

    fn purity(x: &[f64], labels: &[u16], k: usize) -> Purity {
        let features = Features::f64(x, x.len(), 1).unwrap();
        let control = Control::new();
        let found = Neighbours::exact(features, k, Metric::Euclidean, ZeroVectors::Error, &control);
        Purity::new(&found.unwrap(), labels)
    }

    #[test]
    fn shares_by_hand() {
        // On the line 0, 1, 3, 7 the two nearest of each are {1, 3}, {0, 3}, {1, 0}, {3, 1}.
        let good = purity(&[0.0, 1.0, 3.0, 7.0], &[0, 0, 1, 1], 2);
        assert_eq!(good.shares, [0.5, 0.5, 0.0, 0.5]);
        // Mean 3/8; squares 3 (1/8)² + (3/8)² = 3/16, and of the ends (3/8)² + (5/8)² = 34/64: 46/64 in all.
        let estimate = good.estimate();
        assert_eq!(estimate.mean, 0.375);
        assert!((estimate.error - (46.0f64 / 64.0).sqrt() / 6.0).abs() < 1e-15);
    }

    #[test]
    fn differences_are_paired() {
        let labels = [0, 0, 1, 1];
        let good = purity(&[0.0, 1.0, 10.0, 11.0], &labels, 1);
        let bad = purity(&[0.0, 10.0, 1.0, 11.0], &labels, 1);
        assert_eq!((good.estimate().mean, bad.estimate().mean), (1.0, 0.0));
        let difference = good.minus(&bad);
        // No spread among the items; the ends are 2 and 0 away from the mean.
        assert_eq!((difference.mean, difference.error), (1.0, 2.0 / 6.0));
        assert!(difference.is_positive() && !bad.minus(&good).is_positive());
        // Two items are too few to tell: the ends make the error 2/4.
        let two = |shares: [f64; 2]| Purity {
            shares: shares.to_vec(),
        };
        let difference = two([1.0, 0.5]).minus(&two([0.0, 0.0]));
        assert!(difference.mean == 0.75 && !difference.is_positive());
        assert!(!good.minus(&good).is_positive());
    }
}
