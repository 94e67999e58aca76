//! Sets of a class separator, by a greedy search, and limits that no sets exceed.
//!
//! For wanted ζ and ε, a pair is bad if it lies in one cluster with a value below ζ, or across clusters with a value above
//! ε. Sets that leave out at most ⌊δ n_c⌋ items of each cluster exist exactly if so many items can cover all bad pairs: a
//! vertex cover with budgets. With ε = ∞ and one cluster that is the clique problem, so nothing exact is to be hoped
//! for. What is done instead:
//!
//! ```text
//! reached   the item with the most bad pairs leaves while its cluster's budget lasts; ζ by bisection, ε from a grid
//! limit     d + 1 disjoint pairs cannot all be broken by leaving out d items: ζ is at most the value of the (d+1)-th pair
//!           of a matching that takes smallest values first; ε alike, largest first, for two clusters with d + d'
//! counting  each of the m items that stay has m - 1 others at or above ζ: ζ is at most the m-th largest of the items'
//!           (m - 1)-th largest values; ε alike
//! ```
//!
//! Whatever the search returns is measured on all pairs ([`Pairs::measure`], [`super::attained`]), so it is attained; no
//! choice whatever beats the limits. The best triple lies between.

use super::pairs::{Pair, Pairs, Separator};

impl Pairs {
    /// Sets without bad pairs that leave out at most a number of items of each cluster, if the greedy search finds them.
    pub fn without_bad(&self, zeta: f64, epsilon: f64, budgets: &[usize]) -> Option<Vec<bool>> {
        let n = self.n();
        let bad = |i: usize, j: usize| {
            let value = self.value(i, j);
            i != j
                && if self.clusters[i] == self.clusters[j] {
                    value < zeta
                } else {
                    value > epsilon
                }
        };
        let mut count: Vec<usize> = (0..n)
            .map(|i| (0..n).filter(|j| bad(i, *j)).count())
            .collect();
        let (mut kept, mut left, mut out) = (vec![true; n], budgets.to_vec(), Vec::new());
        while count.iter().any(|c| *c > 0) {
            let open = (0..n).filter(|i| left[self.clusters[*i]] > 0 && count[*i] > 0);
            let worst = open.max_by_key(|i| (count[*i], n - i))?;
            left[self.clusters[worst]] -= 1;
            kept[worst] = false;
            count[worst] = 0;
            out.push(worst);
            (0..n)
                .filter(|j| kept[*j] && bad(worst, *j))
                .for_each(|j| count[j] -= 1);
        }
        // An item may have become harmless by those that left after it.
        for item in out {
            kept[item] = (0..n).all(|j| !kept[j] || !bad(item, j));
        }
        Some(kept)
    }

    /// The largest ζ found with ε at most `epsilon`; `None` if even ε is not.
    pub fn widest(&self, delta: f64, epsilon: f64) -> Option<Separator> {
        let budgets = self.budgets(delta);
        let with = |zeta| self.without_bad(zeta, epsilon, &budgets);
        let mut best = with(f64::NEG_INFINITY)?;
        let (mut good, mut bad) = (0, self.within.len());
        while good < bad {
            let middle = (good + bad) / 2;
            match with(self.within[middle].value) {
                Some(kept) => (best, good) = (kept, middle + 1),
                None => bad = middle,
            }
        }
        Some(self.measure(&best))
    }

    /// The smallest ε found, for any ζ.
    pub fn farthest(&self, delta: f64) -> Separator {
        let budgets = self.budgets(delta);
        let mut best = vec![true; self.n()];
        let (mut good, mut bad) = (0, self.across.len());
        while good < bad {
            let middle = (good + bad) / 2;
            match self.without_bad(f64::NEG_INFINITY, self.across[middle].value, &budgets) {
                Some(kept) => (best, good) = (kept, middle + 1),
                None => bad = middle,
            }
        }
        self.measure(&best)
    }

    /// The trade-off between ζ and ε for one δ: the largest ζ found under each of `caps` bounds on ε, from the smallest to
    /// where ε is no matter.
    pub fn front(&self, delta: f64, caps: usize) -> Vec<Separator> {
        let (low, free) = (self.farthest(delta), self.widest(delta, f64::INFINITY));
        let high = free.as_ref().map_or(low.epsilon, |free| free.epsilon);
        let cap = |i: usize| low.epsilon + (high - low.epsilon) * i as f64 / caps as f64;
        let found = (0..caps).filter_map(|i| self.widest(delta, cap(i)));
        let found: Vec<Separator> = found.chain(free).collect();
        // Only what is not beaten by another.
        let beaten = |a: &Separator| {
            let better = |b: &Separator| b.zeta >= a.zeta && b.epsilon <= a.epsilon;
            found
                .iter()
                .any(|b| better(b) && (b.zeta > a.zeta || b.epsilon < a.epsilon))
        };
        let mut front: Vec<Separator> = found.iter().filter(|a| !beaten(a)).cloned().collect();
        front.sort_by(|a, b| a.epsilon.total_cmp(&b.epsilon));
        front.dedup_by(|a, b| a.zeta == b.zeta && a.epsilon == b.epsilon);
        if front.is_empty() { vec![low] } else { front }
    }

    /// For growing δ, the sets found with the largest ζ - ε. What does for one δ does for larger ones.
    pub fn best(&self, deltas: &[f64], caps: usize) -> Vec<Separator> {
        let mut best: Vec<Separator> = Vec::new();
        for delta in deltas {
            let before = best.last().cloned();
            let found = before.into_iter().chain(self.front(*delta, caps));
            best.extend(found.max_by(|a, b| a.gap().total_cmp(&b.gap())));
        }
        best
    }
}

/// What no sets of a pool exceed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// No sets have a larger ζ.
    pub zeta: f64,
    /// No sets have a smaller ε.
    pub epsilon: f64,
}

/// The limits of ζ and ε, each for itself, for several δ.
pub fn limits(pairs: &Pairs, deltas: &[f64]) -> Vec<Limit> {
    let clusters = pairs.sizes.len();
    let members: Vec<Vec<usize>> = (0..clusters)
        .map(|c| (0..pairs.n()).filter(|i| pairs.clusters[*i] == c).collect())
        .collect();
    let top = (0..pairs.n())
        .map(|i| pairs.value(i, i))
        .fold(0.0, f64::max);
    let chains: Vec<Vec<f64>> = (0..clusters)
        .map(|c| matching(pairs.n(), of(pairs, &pairs.within, c, c)))
        .collect();
    let mut couples = Vec::new();
    let filled: Vec<usize> = (0..clusters).filter(|c| pairs.sizes[*c] > 0).collect();
    for (i, &a) in filled.iter().enumerate() {
        couples.extend(
            filled[i + 1..]
                .iter()
                .copied()
                .map(|b| (a, b, matching(pairs.n(), of(pairs, &pairs.across, a, b)))),
        );
    }
    let rows = |of: &[usize], from: &[usize]| -> Vec<Vec<f64>> {
        let row = |i: &usize| {
            let mut values: Vec<f64> = from
                .iter()
                .filter(|j| *j != i)
                .map(|j| pairs.value(*i, *j))
                .collect();
            values.sort_by(f64::total_cmp);
            values
        };
        of.iter().map(row).collect()
    };
    let own: Vec<Vec<Vec<f64>>> = members.iter().map(|m| rows(m, m)).collect();
    let cross = |a: usize, b: usize| rows(&members[a], &members[b]);
    let between: Vec<_> = couples
        .iter()
        .map(|(a, b, _)| [cross(*a, *b), cross(*b, *a)])
        .collect();
    let at = |delta: &f64| {
        let out = pairs.budgets(*delta);
        let stay = |c: usize| pairs.sizes[c] - out[c];
        let zeta = (0..clusters).filter(|c| stay(*c) > 1).map(|c| {
            let disjoint = chains[c].get(out[c]).copied().unwrap_or(top);
            // The (m - 1)-th largest value of each item, and the m-th largest of those.
            let m = stay(c);
            let mut reach: Vec<f64> = own[c].iter().map(|row| row[row.len() - (m - 1)]).collect();
            reach.sort_by(|a, b| b.total_cmp(a));
            disjoint.min(reach[m - 1])
        });
        let epsilon = couples.iter().zip(&between).map(|((a, b, chain), sides)| {
            let disjoint = chain.get(out[*a] + out[*b]).copied().unwrap_or(0.0);
            let counted = |rows: &[Vec<f64>], own: usize, other: usize| {
                let mut reach: Vec<f64> = rows.iter().map(|row| row[other - 1]).collect();
                reach.sort_by(f64::total_cmp);
                reach[own - 1]
            };
            let [there, back] = [
                counted(&sides[0], stay(*a), stay(*b)),
                counted(&sides[1], stay(*b), stay(*a)),
            ];
            disjoint.max(there).max(back)
        });
        Limit {
            zeta: zeta.fold(top, f64::min),
            epsilon: epsilon.fold(0.0, f64::max),
        }
    };
    deltas.iter().map(at).collect()
}

/// The pairs between two clusters, in their order.
fn of<'a>(
    pairs: &'a Pairs,
    list: &'a [Pair],
    a: usize,
    b: usize,
) -> impl Iterator<Item = &'a Pair> {
    let clusters = &pairs.clusters;
    list.iter().filter(move |pair| {
        let (x, y) = (clusters[pair.items.0], clusters[pair.items.1]);
        (x, y) == (a, b) || (x, y) == (b, a)
    })
}

/// The values of disjoint pairs, taking each pair whose items are both free, in the given order.
fn matching<'a>(n: usize, pairs: impl Iterator<Item = &'a Pair>) -> Vec<f64> {
    let (mut taken, mut values) = (vec![false; n], Vec::new());
    for Pair {
        value,
        items: (a, b),
    } in pairs
    {
        if !taken[*a] && !taken[*b] {
            (taken[*a], taken[*b]) = (true, true);
            values.push(*value);
        }
    }
    values
}
