//! The pools that separation and exploration are looked at on, and the kernels.
//!
//! ```text
//! far, apart, touching   three Gaussians of deviation 1 at the corners of a triangle of side 12, 8, or 4
//! discs                  three uniform discs of diameter 0.5, more than 1 apart: for a kernel of radius 1
//! square                 four Gaussians of deviation 1 at the corners of a square of side 8, their two classes in turn
//! digits                 the drawn digits that come with DiAL; with a folder of data a part of MNIST-SMALL as well
//! ```

use std::f64::consts::PI;

use dial::propagation::Column;
use dial::propagation::tau::Tau;
use dial::seed::{Purpose, Random};
use dial::{Config, Control, Engine, NodeId};
use dial_data::generate::{self, Cluster};
use dial_data::{Matrix, Pool};

use crate::reproduce::pools::{Dataset, Origin, load};
use crate::theory::{LabError, TheoryOptions};
use dial_plot::chart::Point;

/// Neighbours of the graph.
pub const NEIGHBOURS: usize = 10;

/// A pool whose items have clusters.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Its name.
    pub name: &'static str,
    /// Features.
    pub matrix: Matrix,
    /// The cluster of each item.
    pub clusters: Vec<usize>,
    /// The class of each item.
    pub classes: Vec<usize>,
}

impl Sample {
    fn of(name: &'static str, pool: Pool) -> Sample {
        let truth = pool.truth.expect("these pools are labelled");
        let classes: Vec<usize> = truth
            .labels
            .iter()
            .map(|label| usize::from(label.unwrap_or(0)))
            .collect();
        let clusters = truth.clusters.map_or(classes.clone(), |of| {
            of.iter().map(|c| *c as usize).collect()
        });
        Sample {
            name,
            matrix: pool.matrix,
            clusters,
            classes,
        }
    }

    /// Number of items.
    pub fn n(&self) -> usize {
        self.clusters.len()
    }

    /// Number of clusters.
    pub fn n_clusters(&self) -> usize {
        self.clusters.iter().max().map_or(0, |c| c + 1)
    }

    /// The shares of the clusters among the items.
    pub fn weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.n_clusters()];
        self.clusters
            .iter()
            .for_each(|c| weights[*c] += 1.0 / self.n() as f64);
        weights
    }

    /// Where the items lie, as far as a plane shows it.
    pub fn points(&self) -> Vec<Point> {
        (0..self.n())
            .map(|i| (self.matrix.get(i, 0), self.matrix.get(i, 1)))
            .collect()
    }
}

/// Three Gaussians of deviation 1 at the corners of a triangle, each with the same number of items.
pub fn triangle(name: &'static str, side: f64, each: usize, seed: u64) -> Sample {
    let corner = |j: u16| {
        let angle = PI / 2.0 + 2.0 * PI * f64::from(j) / 3.0;
        let radius = side / 3.0f64.sqrt();
        let centre = vec![radius * libm::cos(angle), radius * libm::sin(angle)];
        Cluster {
            centre,
            deviation: 1.0,
            weight: 1.0,
            class: j,
        }
    };
    Sample::of(
        name,
        generate::mixture(name, &[0, 1, 2].map(corner), 3 * each, seed),
    )
}

/// The diameter of each of the [`discs`].
pub const DIAMETER: f64 = 0.5;

/// Three uniform discs in a row, their gaps 0.2 longer than the radius 1 of the kernel.
pub fn discs(each: usize, seed: u64) -> Sample {
    let mut random = Random::new(seed, Purpose::Generator, 1);
    let clusters: Vec<usize> = (0..3 * each).map(|i| i % 3).collect();
    let place = |cluster: &usize| {
        let (radius, angle) = (
            0.5 * DIAMETER * random.uniform().sqrt(),
            2.0 * PI * random.uniform(),
        );
        [
            *cluster as f64 * (DIAMETER + 1.2) + radius * libm::cos(angle),
            radius * libm::sin(angle),
        ]
    };
    let values = clusters.iter().flat_map(place).collect();
    let matrix = Matrix {
        values: dial_data::Buffer::F64(values),
        n: 3 * each,
        dim: 2,
    };
    Sample {
        name: "discs",
        matrix,
        classes: clusters.clone(),
        clusters,
    }
}

/// Four Gaussians of deviation 1 at the corners of a square of side 8, of two classes in turn (Remark `rem:C-clusters`).
pub fn square(each: usize, seed: u64) -> Sample {
    let corner = |(j, x, y): (u16, f64, f64)| Cluster {
        centre: vec![x, y],
        deviation: 1.0,
        weight: 1.0,
        class: j % 2,
    };
    let corners = [
        (0, -4.0, -4.0),
        (1, 4.0, -4.0),
        (2, 4.0, 4.0),
        (3, -4.0, 4.0),
    ]
    .map(corner);
    Sample::of(
        "square",
        generate::mixture("square", &corners, 4 * each, seed),
    )
}

/// The real pools: drawn digits, and with a folder of data as many of MNIST-SMALL.
///
/// # Errors
/// Data that cannot be read.
pub fn real(settings: &TheoryOptions, n: usize) -> Result<Vec<Sample>, LabError> {
    let mut samples = vec![Sample::of(
        "digits",
        generate::digits::digits(n, settings.seed),
    )];
    if let Some(folder) = &settings.data {
        let mut pool = load(Dataset::MnistSmall, &Origin::Folder(folder.clone()))?.pool;
        let mut random = Random::new(settings.seed, Purpose::Sample, 0);
        pool.select_rows(&random.distinct(n.min(pool.matrix.n), pool.matrix.n));
        samples.push(Sample::of("MNIST-SMALL", pool));
    }
    Ok(samples)
}

/// A kernel with its setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// Poisson propagation on the graph.
    Poisson(f64),
    /// Heat on the graph, after a time.
    Heat(f64),
    /// exp(-r²/(2σ²)).
    Rbf(f64),
    /// Wendland's kernel, zero from a radius on.
    Compact(f64),
}

impl Spread {
    /// What figures call it.
    pub fn name(self) -> String {
        match self {
            Spread::Poisson(tau) => format!("Poisson, τ = {tau}"),
            Spread::Heat(time) => format!("heat, t = {time}"),
            Spread::Rbf(sigma) => format!("RBF, σ = {sigma}"),
            Spread::Compact(radius) => format!("compact, R = {radius}"),
        }
    }

    /// The columns of all items.
    ///
    /// # Errors
    /// Cancelled; a solver that does not converge.
    pub fn columns(self, matrix: &Matrix, control: &Control) -> Result<Vec<Column>, LabError> {
        let features = matrix.features()?;
        let all: Vec<NodeId> = (0..features.n() as u32).map(NodeId).collect();
        let mut config = Config {
            k: NEIGHBOURS.min(features.n().saturating_sub(1)),
            ..Config::paper()
        };
        match self {
            Spread::Poisson(tau) => config.tau = Tau::Number(tau),
            Spread::Heat(time) => {
                config.propagation = dial::config::PropagationKind::Heat { time: Some(time) }
            }
            Spread::Rbf(sigma) => {
                config.propagation = dial::config::PropagationKind::Rbf { sigma: Some(sigma) }
            }
            Spread::Compact(radius) => {
                let radius = Some(radius);
                config.propagation = dial::config::PropagationKind::Compact { radius };
            }
        }
        let engine = Engine::build(features, &config, control)?;
        Ok(engine.propagation.columns(&all, control)?)
    }
}
