//! The pools of the arena, each of at most 5,000 items: those of the paper and others from files, and generated ones.
//!
//! ```text
//! items       all, or 5,000 drawn at random, the same for every run
//! mod 3       classes are the labels modulo 3, clusters are the labels
//! imbalanced  class c keeps the share 0.05^(r/(K-1)) of its items, r its place in a shuffled order of the classes
//! noise       answers are wrong with this probability
//! ```
//!
//! Methods are tuned on the tuning pools; those held out are looked at in the end. Without a folder of data only the
//! generated ones can be had.

use std::path::{Path, PathBuf};

use dial::Metric;
use dial::seed::{Purpose, Random};
use dial::simulate::Truth;
use dial_data::generate::{digits, scene};
use dial_data::{Pool, ReadOptions};
use serde_json::{Value, json};

use super::generated;
use crate::error::LabError;
use crate::reproduce::pools::{Dataset, Origin, load, n_clusters};

/// The most items of a pool.
pub const MAX_ITEMS: usize = 5_000;
/// The share that the rarest class of an imbalanced pool keeps.
const RAREST_SHARE: f64 = 0.05;

/// Where the items of a pool come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A pool of the paper.
    Paper(Dataset),
    /// A file of the folder of data.
    File(&'static str),
    /// Drawn digits.
    Digits,
    /// Six pairs of moons.
    Moons,
    /// Planted clusters, many classes, some small.
    Clusters,
    /// A drawn scene of spectra.
    Scene,
}

impl Source {
    /// Whether it needs no data.
    pub fn generated(self) -> bool {
        !matches!(self, Source::Paper(_) | Source::File(_))
    }

    /// Its file in the folder of data, if it is one.
    fn file(self) -> Option<&'static str> {
        match self {
            Source::Paper(dataset) => Some(dataset.file()),
            Source::File(file) => Some(file),
            _ => None,
        }
    }

    /// Opens or makes the pool, whole; a small one for a quick run.
    fn open(self, data: Option<&Path>, quick: bool) -> Result<Pool, LabError> {
        let size = |whole: usize, small: usize| if quick { small } else { whole };
        Ok(match (self, data) {
            (Source::Paper(dataset), Some(data)) => {
                load(dataset, &Origin::Folder(data.to_path_buf()))?.pool
            }
            (Source::File(file), Some(data)) => dial_data::open(
                &data.join(file).to_string_lossy(),
                &ReadOptions::default(),
                0,
                &dial::Control::new(),
            )?,
            (Source::Digits, _) => digits::digits(size(2_000, 300), 1),
            (Source::Moons, _) => generated::moons(size(2_400, 300)),
            (Source::Clusters, _) => generated::clusters(size(3_000, 400)),
            (Source::Scene, _) => scene::scene(size(64, 22), 1),
            _ => unreachable!("pools without data are left out"),
        })
    }
}

/// A pool of the arena, not yet opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArenaPool {
    /// The name in tables, file names and on the command line.
    pub name: &'static str,
    /// Where its items come from.
    pub source: Source,
    /// Classes are the labels modulo this number.
    pub modulo: Option<u16>,
    /// Whether classes are thinned out.
    pub imbalanced: bool,
    /// The probability that an answer is wrong.
    pub noise: f64,
    /// Whether nothing may be tuned on it.
    pub held_out: bool,
}

/// All pools, in the order of the tables.
pub fn all() -> Vec<ArenaPool> {
    use Dataset::{FashionMnist, FashionMnistSmall, Mnist, MnistSmall, Pavia, SalinasA};
    use Source::{File, Paper};
    let plain = |name, source| ArenaPool {
        name,
        source,
        modulo: None,
        imbalanced: false,
        noise: 0.0,
        held_out: false,
    };
    let mod3 = |name, source| ArenaPool {
        modulo: Some(3),
        ..plain(name, source)
    };
    let imbalanced = |name, source| ArenaPool {
        imbalanced: true,
        ..plain(name, source)
    };
    let noisy = |noise, pool| ArenaPool { noise, ..pool };
    let optdigits = File("uci/optdigits.npz");
    vec![
        plain("mnist-small", Paper(MnistSmall)),
        mod3("mnist-small-mod3", Paper(MnistSmall)),
        plain("fashionmnist-small", Paper(FashionMnistSmall)),
        mod3("fashionmnist-small-mod3", Paper(FashionMnistSmall)),
        plain("optdigits", optdigits),
        mod3("optdigits-mod3", optdigits),
        plain("pavia", Paper(Pavia)),
        plain("salinas-a", Paper(SalinasA)),
        plain("mnist", Paper(Mnist)),
        mod3("mnist-mod3", Paper(Mnist)),
        plain("fashionmnist", Paper(FashionMnist)),
        // The test halves: 10,000 images say as much as 70,000 where 5,000 are drawn.
        plain(
            "mnist-pixels",
            File("images/mnist/t10k-images-idx3-ubyte.gz"),
        ),
        plain(
            "fashionmnist-pixels",
            File("images/fashion-mnist/t10k-images-idx3-ubyte.gz"),
        ),
        imbalanced("mnist-small-imbalanced", Paper(MnistSmall)),
        imbalanced("fashionmnist-small-imbalanced", Paper(FashionMnistSmall)),
        imbalanced("optdigits-imbalanced", optdigits),
        noisy(0.05, mod3("mnist-small-mod3-noise5", Paper(MnistSmall))),
        noisy(0.10, mod3("mnist-small-mod3-noise10", Paper(MnistSmall))),
        noisy(
            0.05,
            mod3("fashionmnist-small-mod3-noise5", Paper(FashionMnistSmall)),
        ),
        noisy(
            0.10,
            mod3("fashionmnist-small-mod3-noise10", Paper(FashionMnistSmall)),
        ),
        noisy(0.05, plain("optdigits-noise5", optdigits)),
        noisy(0.10, plain("optdigits-noise10", optdigits)),
        plain("digits", Source::Digits),
        plain("moons", Source::Moons),
        plain("clusters", Source::Clusters),
        plain("scene", Source::Scene),
        ArenaPool {
            held_out: true,
            ..plain("satimage", File("uci/satimage.npz"))
        },
        ArenaPool {
            held_out: true,
            ..plain("pendigits", File("uci/pendigits.npz"))
        },
    ]
}

/// A pool ready for its matches.
pub struct Ready {
    /// Items with their features.
    pub pool: Pool,
    /// Classes and clusters.
    pub truth: Truth,
    /// How items are compared.
    pub metric: Metric,
    /// K̂, where the paper gives one.
    pub expected_clusters: Option<usize>,
    /// Number of clusters that can be met.
    pub clusters: usize,
}

impl ArenaPool {
    /// Its file, if it needs one.
    pub fn file(&self, data: &Path) -> Option<PathBuf> {
        self.source.file().map(|file| data.join(file))
    }

    /// What its cells depend on.
    pub fn settings(&self, fingerprint: &str, quick: bool) -> Value {
        json!({
            "pool": self.name,
            "data": fingerprint,
            "modulo": self.modulo,
            "imbalanced": self.imbalanced,
            "noise": self.noise,
            "most": MAX_ITEMS,
            "quick": quick,
        })
    }

    /// Opens or makes it.
    ///
    /// # Errors
    /// A file that is missing or cannot be read, or has no labels.
    pub fn open(&self, data: Option<&Path>, quick: bool) -> Result<Ready, LabError> {
        let mut pool = self.source.open(data, quick)?;
        let Some(labels) = pool.truth.clone() else {
            let detail = format!(
                "{} has no labels, and the arena needs them. Add them.",
                self.name
            );
            return Err(LabError::input("I12", detail));
        };
        let mut keep: Vec<usize> = (0..pool.matrix.n)
            .filter(|&row| labels.labels[row].is_some())
            .collect();
        if self.imbalanced {
            keep = thinned(&keep, &labels.labels, labels.classes.len());
        }
        if keep.len() > MAX_ITEMS {
            let drawn = Random::new(0, Purpose::User, 1).distinct(MAX_ITEMS, keep.len());
            keep = drawn.into_iter().map(|place| keep[place]).collect();
            keep.sort_unstable();
        }
        pool.select_rows(&keep);
        pool.ids = None;
        let labels = labels.select_rows(&keep);
        let truth = match self.modulo {
            Some(m) => labels.modulo(m)?.for_simulation(),
            None => labels.for_simulation(),
        };
        let spectra = matches!(self.source, Source::Paper(dataset) if dataset.hyperspectral());
        let clusters = n_clusters(&truth);
        let metric = match self.source {
            Source::Paper(dataset) => dataset.metric(),
            _ => pool.metric,
        };
        Ok(Ready {
            pool,
            truth,
            metric,
            expected_clusters: spectra.then_some(12),
            clusters,
        })
    }
}

/// The rows that are left when classes keep shares falling geometrically from 1 to [`RAREST_SHARE`], in a shuffled order.
fn thinned(rows: &[usize], labels: &[Option<u16>], n_classes: usize) -> Vec<usize> {
    let mut random = Random::new(0, Purpose::User, 2);
    let order = random.distinct(n_classes, n_classes);
    let mut kept = Vec::new();
    for (place, class) in order.into_iter().enumerate() {
        let own: Vec<usize> = rows
            .iter()
            .copied()
            .filter(|&row| labels[row] == Some(class as u16))
            .collect();
        let share = libm::pow(RAREST_SHARE, place as f64 / (n_classes.max(2) - 1) as f64);
        let count = ((share * own.len() as f64).round() as usize)
            .clamp(1, own.len().max(1))
            .min(own.len());
        kept.extend(
            random
                .distinct(count, own.len())
                .into_iter()
                .map(|i| own[i]),
        );
    }
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_two_pools_are_held_out() {
        let pools = all();
        for pool in &pools {
            assert_eq!(
                pools.iter().filter(|other| other.name == pool.name).count(),
                1,
                "{}",
                pool.name
            );
        }
        let aside: Vec<&str> = pools
            .iter()
            .filter(|pool| pool.held_out)
            .map(|pool| pool.name)
            .collect();
        assert_eq!(aside, ["satimage", "pendigits"]);
        assert_eq!(
            pools.iter().filter(|pool| pool.source.generated()).count(),
            4
        );
    }

    #[test]
    fn thinned_classes_fall_from_all_to_a_twentieth() {
        // Four classes of 400: shares 1, 0.05^(1/3), 0.05^(2/3), 0.05, so 400, 147, 54 and 20 items in some order.
        let labels: Vec<Option<u16>> = (0..1600).map(|i| Some(i % 4)).collect();
        let kept = thinned(&(0..1600).collect::<Vec<_>>(), &labels, 4);
        let mut counts = [0; 4];
        kept.iter()
            .for_each(|&row| counts[usize::from(labels[row].unwrap())] += 1);
        counts.sort_unstable();
        assert_eq!(counts, [20, 54, 147, 400]);
        assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn generated_pools_are_small_enough_and_the_same_every_time() {
        for pool in all().into_iter().filter(|pool| pool.source.generated()) {
            let (one, other) = (
                pool.open(None, true).unwrap(),
                pool.open(None, true).unwrap(),
            );
            assert!(one.pool == other.pool && one.pool.matrix.n <= MAX_ITEMS);
            assert!(
                one.truth.classes.iter().all(Option::is_some),
                "{}: items without a class are left out",
                pool.name
            );
            assert!(one.clusters >= one.truth.names.len());
        }
    }
}
