//! A pool of planted clusters of any size, written block by block: constant memory, the same bytes for any number of
//! threads.
//!
//! ```text
//! x = m_c + B_c z + e,   c uniform among the clusters,   z normal in q = min(8, d) dimensions,   e uniform noise
//! ```
//!
//! Centres m_c are normal and typically `CENTRE_DISTANCE` apart, B_c has columns of length about 1: every cluster is a flat
//! cloud of low dimension in its own random direction, as real features are, and the nearest clusters touch. The label of
//! an item is its cluster.

use std::path::Path;

use dial::Control;
use dial::seed::{Purpose, Random};
use rayon::prelude::*;

use crate::arrays::npy::header_bytes;
use crate::error::{Fault, Result};
use crate::write::{Watched, write_watched};

/// Rows drawn from one random stream.
const ROWS_PER_STREAM: usize = 16 * 1024;
/// Blocks drawn at once, before they are written.
const BLOCKS_AT_ONCE: usize = 16;
/// Dimensions of a cluster.
const CLUSTER_DIMENSIONS: usize = 8;
/// Typical distance between centres, in standard deviations of a cluster along one of its directions.
const CENTRE_DISTANCE: f64 = 3.0;
/// Standard deviation of the noise in every column.
const COLUMN_NOISE: f64 = 0.05;

/// What to plant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planted {
    /// Number of items.
    pub items: usize,
    /// Number of columns.
    pub dim: usize,
    /// Number of clusters.
    pub clusters: usize,
    /// Seed of everything.
    pub seed: u64,
}

impl Planted {
    /// Writes the features (npy, f32) and the labels (npy, i32).
    ///
    /// # Errors
    /// Sizes out of range (U1), a file that cannot be written, cancelled.
    pub fn write(&self, features: &Path, labels: &Path, control: &Control) -> Result<()> {
        self.check()?;
        let shapes = Shapes::draw(self);
        write_watched(
            features,
            ("planting clusters", self.items),
            control,
            |out| {
                out.put(&header_bytes("<f4", &[self.items, self.dim]), 0)?;
                self.blocks(out, |block| {
                    shapes
                        .rows(self, block)
                        .iter()
                        .flat_map(|v| v.to_le_bytes())
                        .collect()
                })
            },
        )?;
        write_watched(labels, ("writing labels", self.items), control, |out| {
            out.put(&header_bytes("<i4", &[self.items]), 0)?;
            self.blocks(out, |block| {
                let (clusters, _) = self.draw_clusters(block);
                clusters
                    .iter()
                    .flat_map(|&c| (c as i32).to_le_bytes())
                    .collect()
            })
        })
    }

    fn check(&self) -> Result<()> {
        let wrong = |what: &str| Err(Fault::Setting(what.to_string()).at(""));
        match self {
            Planted { items: 0, .. } | Planted { dim: 0, .. } | Planted { clusters: 0, .. } => {
                wrong("--items, --dim and --clusters must be at least 1.")
            }
            Planted {
                clusters: 65_536.., ..
            } => wrong("--clusters must be at most 65535."),
            Planted { items, .. } if u32::try_from(*items).is_err() => {
                Err(Fault::Core(dial::Error::TooManyItems(*items)).at(""))
            }
            Planted {
                dim: 1_000_001.., ..
            } => wrong("--dim must be at most 1000000."),
            _ => Ok(()),
        }
    }

    /// Writes every block in order; some are made at once.
    fn blocks(
        &self,
        out: &mut Watched<'_>,
        make: impl Fn(usize) -> Vec<u8> + Sync,
    ) -> std::io::Result<()> {
        let blocks: Vec<usize> = (0..self.items.div_ceil(ROWS_PER_STREAM)).collect();
        for some in blocks.chunks(BLOCKS_AT_ONCE) {
            let made: Vec<Vec<u8>> = some.par_iter().map(|&block| make(block)).collect();
            for (&block, bytes) in some.iter().zip(&made) {
                out.put(bytes, self.length(block))?;
            }
        }
        Ok(())
    }

    fn length(&self, block: usize) -> usize {
        (self.items - block * ROWS_PER_STREAM).min(ROWS_PER_STREAM)
    }

    /// The clusters of a block, and the stream that goes on to draw its items.
    fn draw_clusters(&self, block: usize) -> (Vec<usize>, Random) {
        let mut random = Random::new(self.seed, Purpose::Generator, 1 + block as u64);
        let clusters = (0..self.length(block))
            .map(|_| random.below(self.clusters))
            .collect();
        (clusters, random)
    }
}

/// The centres and directions of the clusters.
struct Shapes {
    centres: Vec<f64>,
    /// For each cluster `CLUSTER_DIMENSIONS` rows of `dim` values.
    directions: Vec<f64>,
    inner: usize,
}

impl Shapes {
    fn draw(plan: &Planted) -> Shapes {
        let mut random = Random::new(plan.seed, Purpose::Generator, 0);
        let mut normals =
            |count: usize, scale: f64| (0..count).map(|_| scale * random.normal()).collect();
        let inner = CLUSTER_DIMENSIONS.min(plan.dim);
        let dim = plan.dim as f64;
        Shapes {
            centres: normals(
                plan.clusters * plan.dim,
                CENTRE_DISTANCE / (2.0 * dim).sqrt(),
            ),
            directions: normals(plan.clusters * inner * plan.dim, 1.0 / dim.sqrt()),
            inner,
        }
    }

    /// The rows of a block, one after the other.
    fn rows(&self, plan: &Planted, block: usize) -> Vec<f32> {
        let (clusters, mut random) = plan.draw_clusters(block);
        let (dim, reach) = (plan.dim, COLUMN_NOISE * 3.0f64.sqrt());
        let mut values = Vec::with_capacity(clusters.len() * dim);
        let mut row = vec![0.0; dim];
        for cluster in clusters {
            row.copy_from_slice(&self.centres[cluster * dim..(cluster + 1) * dim]);
            let directions =
                &self.directions[cluster * self.inner * dim..(cluster + 1) * self.inner * dim];
            for direction in directions.chunks_exact(dim) {
                let z = random.normal();
                row.iter_mut().zip(direction).for_each(|(x, b)| *x += z * b);
            }
            values.extend(
                row.iter()
                    .map(|x| (x + reach * (2.0 * random.uniform() - 1.0)) as f32),
            );
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::ReadOptions;
    use crate::{Pool, open};

    fn plant(plan: Planted, threads: usize) -> (Vec<u8>, Pool) {
        let folder = tempfile::tempdir().unwrap();
        let (features, labels) = (folder.path().join("a.npy"), folder.path().join("b.npy"));
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| plan.write(&features, &labels, &Control::new()))
            .unwrap();
        let options = ReadOptions {
            labels_file: Some(labels),
            ..ReadOptions::default()
        };
        (
            std::fs::read(&features).unwrap(),
            open(
                &features.display().to_string(),
                &options,
                0,
                &dial::Control::new(),
            )
            .unwrap(),
        )
    }

    #[test]
    fn the_same_bytes_for_any_number_of_threads_and_other_ones_for_another_seed() {
        let plan = Planted {
            items: 3 * ROWS_PER_STREAM + 5,
            dim: 3,
            clusters: 7,
            seed: 4,
        };
        let (one, pool) = plant(plan, 1);
        assert_eq!((pool.matrix.n, pool.matrix.dim), (plan.items, 3));
        assert_eq!(pool.truth.unwrap().classes.len(), 7);
        assert!(one == plant(plan, 3).0);
        assert!(one != plant(Planted { seed: 5, ..plan }, 1).0);
    }

    #[test]
    fn labels_are_the_clusters_their_items_were_drawn_from() {
        // With one cluster in two dimensions far from another, the nearer centre is the own one nearly always.
        let plan = Planted {
            items: 2000,
            dim: 64,
            clusters: 2,
            seed: 1,
        };
        let (_, pool) = plant(plan, 2);
        let shapes = Shapes::draw(&plan);
        let labels = pool.truth.unwrap().labels;
        let away = |row: usize, cluster: usize| -> f64 {
            (0..64)
                .map(|c| (pool.matrix.get(row, c) - shapes.centres[cluster * 64 + c]).powi(2))
                .sum()
        };
        let right = (0..2000).filter(|&row| {
            let own = usize::from(labels[row].unwrap());
            away(row, own) < away(row, 1 - own)
        });
        assert!(right.count() > 1900);
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let plan = Planted {
            items: 10,
            dim: 2,
            clusters: 2,
            seed: 0,
        };
        let folder = tempfile::tempdir().unwrap();
        let code = |plan: Planted| {
            let (a, b) = (folder.path().join("a"), folder.path().join("b"));
            plan.write(&a, &b, &Control::new()).unwrap_err().code()
        };
        assert_eq!(code(Planted { items: 0, ..plan }), "U1");
        assert_eq!(
            code(Planted {
                clusters: 70_000,
                ..plan
            }),
            "U1"
        );
        assert_eq!(
            code(Planted {
                items: 5_000_000_000,
                ..plan
            }),
            "N18"
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
