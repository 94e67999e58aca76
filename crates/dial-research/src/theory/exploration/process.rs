//! The process the guarantee speaks of: questions drawn with probability proportional to exp(λ A_var), with repetition.
//!
//! A question picks one item of a pool (ρ is uniform on its items), the answer is its cluster, and α grows by the item's
//! column: α_c(x) = α₀ + Σ K(x_l, x) over the labels of cluster c. Clusters are the classes, K of them. Wanted is the
//! number of questions until every cluster was met; it is at least K, and the guarantee bounds the probability of
//! exactly K.

use dial::policy::automatic_lambda;
use dial::propagation::Column;
use dial::seed::Random;

/// A pool with its kernel.
#[derive(Clone, Debug)]
pub struct Process {
    /// `columns[l][x]` is K(l, x).
    pub columns: Vec<Column>,
    /// The cluster of each item.
    pub clusters: Vec<usize>,
    /// Number of clusters.
    pub n_clusters: usize,
    /// α₀.
    pub prior: f64,
}

/// How the next item is chosen; any may be chosen again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// With probability proportional to exp(λ A_var).
    Proportional(f64),
    /// The same with DiAL's automatic λ, from the scores of each question, with as many expected clusters as there are.
    Automatic,
    /// The largest A_var, equal ones with equal chances.
    Maximum,
    /// Any item.
    Random,
}

/// α of all items, with what the variance needs of it.
#[derive(Clone)]
struct Field {
    /// α, item after item.
    alpha: Vec<f64>,
    /// β and Σ α² of each item.
    sums: Vec<(f64, f64)>,
}

impl Process {
    fn field(&self) -> Field {
        let (n, k) = (self.clusters.len(), self.n_clusters);
        let sums = (k as f64 * self.prior, k as f64 * self.prior * self.prior);
        Field {
            alpha: vec![self.prior; n * k],
            sums: vec![sums; n],
        }
    }

    fn tell(&self, field: &mut Field, item: usize) {
        let (class, k) = (self.clusters[item], self.n_clusters);
        for (x, more) in self.columns[item].iter().enumerate() {
            let alpha = &mut field.alpha[x * k + class];
            let (total, squares) = &mut field.sums[x];
            *total += more;
            *squares += more * (2.0 * *alpha + more);
            *alpha += more;
        }
    }

    /// A question: the chosen item.
    fn choose(
        &self,
        choice: Choice,
        field: &Field,
        scores: &mut Vec<f64>,
        random: &mut Random,
    ) -> usize {
        let n = self.clusters.len();
        if choice == Choice::Random {
            return random.below(n);
        }
        scores.clear();
        scores.extend(field.sums.iter().map(variance));
        let top = scores.iter().copied().fold(0.0, f64::max);
        let lambda = match choice {
            Choice::Proportional(lambda) => lambda,
            Choice::Automatic => automatic_lambda(&mut scores.clone(), self.n_clusters),
            _ => {
                let best: Vec<usize> = (0..n).filter(|x| scores[*x] == top).collect();
                return best[random.below(best.len())];
            }
        };
        let mut sum = 0.0;
        for score in scores.iter_mut() {
            sum += libm::exp(lambda * (*score - top));
            *score = sum;
        }
        let target = random.uniform() * sum;
        scores.partition_point(|s| *s <= target).min(n - 1)
    }

    /// How many questions until every cluster was met; `None` if that cannot be within `most` any more.
    pub fn questions(&self, choice: Choice, most: usize, random: &mut Random) -> Option<usize> {
        let (mut field, mut met, mut left) =
            (self.field(), vec![false; self.n_clusters], self.n_clusters);
        let mut scores = Vec::with_capacity(self.clusters.len());
        for asked in 1..=most {
            let item = self.choose(choice, &field, &mut scores, random);
            left -= usize::from(!std::mem::replace(&mut met[self.clusters[item]], true));
            if left == 0 {
                return Some(asked);
            }
            if asked + left > most {
                return None;
            }
            self.tell(&mut field, item);
        }
        None
    }

    /// Exactly the probability of meeting K clusters in K questions, over all sequences of items: for small pools.
    pub fn exactly(&self, lambda: f64) -> f64 {
        self.chance_from(
            lambda,
            &self.field(),
            &mut vec![false; self.n_clusters],
            self.n_clusters,
        )
    }

    fn chance_from(&self, lambda: f64, field: &Field, met: &mut [bool], left: usize) -> f64 {
        if left == 0 {
            return 1.0;
        }
        let scores: Vec<f64> = field.sums.iter().map(variance).collect();
        let top = scores.iter().copied().fold(0.0, f64::max);
        let weights: Vec<f64> = scores
            .iter()
            .map(|s| libm::exp(lambda * (s - top)))
            .collect();
        let mut chance = 0.0;
        for (item, weight) in weights.iter().enumerate() {
            let cluster = self.clusters[item];
            if !met[cluster] {
                let mut next = field.clone();
                self.tell(&mut next, item);
                met[cluster] = true;
                chance += weight * self.chance_from(lambda, &next, met, left - 1);
                met[cluster] = false;
            }
        }
        chance / weights.iter().sum::<f64>()
    }
}

/// A_var from β and Σ α².
fn variance((total, squares): &(f64, f64)) -> f64 {
    (total * total - squares).max(0.0) / (total * total * (total + 1.0))
}

/// The 95 % interval of a share, after Wilson.
pub fn wilson(hits: usize, trials: usize) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    let (n, share) = (trials as f64, hits as f64 / trials as f64);
    let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt() / (1.0 + Z * Z / n);
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

/// The expected number of random items until every cluster was met (coupon collector), by inclusion and exclusion:
/// Σ over sets S of clusters of (-1)^(|S|+1) / Σ_{c in S} w_c.
pub fn coupons(weights: &[f64]) -> f64 {
    let subset = |set: u32| {
        let mass: f64 = weights
            .iter()
            .enumerate()
            .filter(|(c, _)| set >> c & 1 == 1)
            .map(|(_, w)| w)
            .sum();
        if set.count_ones() % 2 == 1 {
            1.0 / mass
        } else {
            -1.0 / mass
        }
    };
    (1..1 << weights.len()).map(subset).sum()
}
