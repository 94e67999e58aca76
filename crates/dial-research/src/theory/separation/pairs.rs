//! The three numbers of a class separator (Definition `def:class-separator`) on a pool, exactly.
//!
//! ```text
//! δ = max_c (1 - |X_c| / n_c)          the share of a cluster that its set leaves out
//! ζ = min { K(x, x') : x, x' in the same set }
//! ε = max { K(x, x') : x, x' in different sets }
//! ```
//!
//! ρ_c is uniform on the items of cluster c. An item of another cluster in X_c adds no mass of ρ_c and only more pairs to
//! satisfy, so sets are sought among a cluster's own items. The definition asks for K > ζ and K < ε strictly: on finitely
//! many items that holds for every smaller ζ and larger ε, and ε = 0 (the compact example) is meant with `<=`. K need not
//! be symmetric; every ordered pair counts, K(x, x) among them.

use dial::propagation::Column;

/// What sets attain: any smaller ζ and larger ε do as well.
#[derive(Clone, Debug, PartialEq)]
pub struct Separator {
    /// Which items are in the set of their cluster.
    pub kept: Vec<bool>,
    /// δ.
    pub delta: f64,
    /// ζ.
    pub zeta: f64,
    /// ε.
    pub epsilon: f64,
}

impl Separator {
    /// ζ - ε: above 0 if one threshold tells same from different.
    pub fn gap(&self) -> f64 {
        self.zeta - self.epsilon
    }
}

/// What sets attain, by looking at every ordered pair of kept items; `columns[l][x]` is K(l, x).
///
/// # Panics
/// If the numbers of columns, clusters and marks differ.
pub fn attained(columns: &[Column], clusters: &[usize], kept: &[bool]) -> Separator {
    assert!(
        columns.len() == clusters.len() && kept.len() == clusters.len(),
        "one of each per item"
    );
    let n_clusters = clusters.iter().max().map_or(0, |c| c + 1);
    let (mut size, mut inside) = (vec![0_usize; n_clusters], vec![0_usize; n_clusters]);
    let (mut zeta, mut epsilon) = (f64::INFINITY, 0.0_f64);
    for (l, column) in columns.iter().enumerate() {
        size[clusters[l]] += 1;
        inside[clusters[l]] += usize::from(kept[l]);
        for x in (0..kept.len()).filter(|x| kept[l] && kept[*x]) {
            if clusters[x] == clusters[l] {
                zeta = zeta.min(column[x]);
            } else {
                epsilon = epsilon.max(column[x]);
            }
        }
    }
    let share = |c: usize| {
        if size[c] == 0 {
            0.0
        } else {
            1.0 - inside[c] as f64 / size[c] as f64
        }
    };
    Separator {
        kept: kept.to_vec(),
        delta: (0..n_clusters).map(share).fold(0.0, f64::max),
        zeta,
        epsilon,
    }
}

/// A pair of items with the value that counts for it.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The value.
    pub value: f64,
    /// The items, the smaller first.
    pub items: (usize, usize),
}

/// All pairs of a pool, ordered from the most troublesome on.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// The cluster of each item.
    pub clusters: Vec<usize>,
    /// Items in each cluster.
    pub sizes: Vec<usize>,
    /// Row by row; min of both directions within a cluster, max across.
    values: Vec<f64>,
    /// Pairs within clusters, smallest value first.
    pub within: Vec<Pair>,
    /// Pairs across clusters, largest value first.
    pub across: Vec<Pair>,
}

impl Pairs {
    /// From the columns of all items.
    ///
    /// # Panics
    /// If there is not one column per item.
    pub fn new(columns: &[Column], clusters: &[usize]) -> Pairs {
        let n = clusters.len();
        assert_eq!(columns.len(), n, "one column per item");
        let mut sizes = vec![0; clusters.iter().max().map_or(0, |c| c + 1)];
        clusters.iter().for_each(|c| sizes[*c] += 1);
        let (mut values, mut within, mut across) = (vec![0.0; n * n], Vec::new(), Vec::new());
        for i in 0..n {
            for j in i..n {
                let (there, back) = (columns[i][j], columns[j][i]);
                let same = clusters[i] == clusters[j];
                let value = if same {
                    there.min(back)
                } else {
                    there.max(back)
                };
                (values[i * n + j], values[j * n + i]) = (value, value);
                match (same, i == j) {
                    (true, true) => {}
                    (true, false) => within.push(Pair {
                        value,
                        items: (i, j),
                    }),
                    (false, _) => across.push(Pair {
                        value,
                        items: (i, j),
                    }),
                }
            }
        }
        within.sort_by(|a, b| a.value.total_cmp(&b.value));
        across.sort_by(|a, b| b.value.total_cmp(&a.value));
        Pairs {
            clusters: clusters.to_vec(),
            sizes,
            values,
            within,
            across,
        }
    }

    /// Number of items.
    pub fn n(&self) -> usize {
        self.clusters.len()
    }

    /// The value that counts for two items.
    pub fn value(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.n() + j]
    }

    /// How many items each set may leave out: ⌊δ n_c⌋, but one item always stays.
    pub fn budgets(&self, delta: f64) -> Vec<usize> {
        // A share such as 0.1 of 30 must not lose an item to rounding.
        let allowed =
            |size: &usize| ((delta * *size as f64 + 1e-9) as usize).min(size.saturating_sub(1));
        self.sizes.iter().map(allowed).collect()
    }

    /// What sets attain, as [`attained`] has it.
    pub fn measure(&self, kept: &[bool]) -> Separator {
        let both = |pair: &&Pair| kept[pair.items.0] && kept[pair.items.1];
        let alone = (0..self.n())
            .filter(|i| kept[*i])
            .map(|i| self.value(i, i))
            .fold(f64::INFINITY, f64::min);
        let mut left: Vec<usize> = vec![0; self.sizes.len()];
        (0..self.n())
            .filter(|i| !kept[*i])
            .for_each(|i| left[self.clusters[i]] += 1);
        let share = |(left, size): (&usize, &usize)| 1.0 - (size - left) as f64 / *size as f64;
        let shares = left
            .iter()
            .zip(&self.sizes)
            .filter(|(_, size)| **size > 0)
            .map(share);
        Separator {
            kept: kept.to_vec(),
            delta: shares.fold(0.0, f64::max),
            zeta: self
                .within
                .iter()
                .find(both)
                .map_or(alone, |pair| pair.value.min(alone)),
            epsilon: self
                .across
                .iter()
                .find(both)
                .map_or(0.0, |pair| pair.value.max(0.0)),
        }
    }
}
