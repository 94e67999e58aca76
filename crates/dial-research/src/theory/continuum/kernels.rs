//! The kernels of `fig:2d-propagation` from one source of two moons, in the plane and on the graph.
//!
//! ```text
//! plane    u of eq:poisson-ctnm-2d for a delta of fixed radius;   K = (u - min u) / (max u - min u)
//! heat     v = exp(t Δ_ρ) of the same delta;                      K = v / max v
//! graph    g of eq:poisson-prop on k nearest neighbours;          K = (g - min g) / (g(x*) - min g)     (eq:poisson-prop-shift)
//! ```
//!
//! The minimum of u is over the points of the sample, the nodes of the graph: in the empty corners of the square u may be
//! lower, and K negative. The maximum of u lies in the disc of the source (maximum principle), seldom exactly at x*.

use std::sync::Arc;

use dial::propagation::radial::{Radial, Shape};
use dial::propagation::tau::Tau;
use dial::{Config, Control, Engine, Features, NodeId, Propagation, Result, engine};

use super::density::Kde;
use super::plane::{Operator, Plane};
use super::{FLOOR, GRAPH_TAUS, NEIGHBOURS, RADIUS, SIGMA, TAU, TIME};
use crate::reproduce::moons::Sample;
use dial_plot::chart::Point;
use dial_plot::stats::correlation;

/// (u - lowest) / (max u - lowest).
pub fn normalised(u: &[f64], lowest: f64) -> Vec<f64> {
    let top = u.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    u.iter().map(|u| (u - lowest) / (top - lowest)).collect()
}

/// The smallest of the values at points of the plane, linear between the middles of cells.
pub fn lowest(plane: &Plane, values: &[f64], points: &[Point]) -> f64 {
    points
        .iter()
        .map(|point| plane.interpolated(values, *point))
        .fold(f64::INFINITY, f64::min)
}

/// What one operator makes of the source.
pub(super) struct Spread {
    pub operator: Operator,
    pub plane: Plane,
    /// u on the grid.
    pub u: Vec<f64>,
    /// K of Poisson on the grid, and at the points of the sample.
    pub poisson: Vec<f64>,
    pub poisson_at: Vec<f64>,
    /// v on the grid.
    pub v: Vec<f64>,
    /// K of heat on the grid, and at the points of the sample.
    pub heat: Vec<f64>,
    pub heat_at: Vec<f64>,
    /// ∫ ρ f of the source.
    pub mass: f64,
}

impl Spread {
    fn new(
        operator: Operator,
        scene: &Scene,
        n: usize,
        steps: usize,
        control: &Control,
    ) -> Result<Spread> {
        let plane = Plane::new(&scene.kde.sampled(n), operator)?;
        let points = &scene.sample.points;
        let f = plane.bump(scene.source(), RADIUS);
        let u = plane.network().poisson(TAU, &f, control)?;
        let v = plane.network().heat(TIME, steps, &f, control)?;
        let poisson = normalised(&u, lowest(&plane, &u, points));
        let heat = normalised(&v, 0.0);
        let at = |values: &[f64]| {
            points
                .iter()
                .map(|point| plane.interpolated(values, *point))
                .collect()
        };
        let (poisson_at, heat_at, mass) = (at(&poisson), at(&heat), plane.network().mass(&f));
        Ok(Spread {
            operator,
            plane,
            u,
            poisson,
            poisson_at,
            v,
            heat,
            heat_at,
            mass,
        })
    }

    /// How far from the source the largest of the values lies.
    pub fn peak_offset(&self, values: &[f64], source: Point) -> f64 {
        let best = (0..values.len())
            .max_by(|a, b| values[*a].total_cmp(&values[*b]))
            .unwrap_or(0);
        let (x, y) = self.plane.centre(best);
        ((x - source.0) * (x - source.0) + (y - source.1) * (y - source.1)).sqrt()
    }
}

/// The sample and its density.
pub(super) struct Scene {
    pub sample: Sample,
    pub kde: Kde,
}

impl Scene {
    pub fn new(items: usize, seed: u64) -> Scene {
        let sample = Sample::draw(items, seed);
        let kde = Kde::new(sample.points.clone(), FLOOR);
        Scene { sample, kde }
    }

    /// The same with another point of the sample for the source.
    pub fn from(&self, source: usize) -> Scene {
        let Sample { points, moon, .. } = &self.sample;
        let sample = Sample {
            points: points.clone(),
            moon: moon.clone(),
            source,
        };
        Scene {
            sample,
            kde: self.kde.clone(),
        }
    }

    /// x*.
    pub fn source(&self) -> Point {
        self.sample.points[self.sample.source]
    }

    /// The first point of the sample on the other moon.
    pub fn other(&self) -> Point {
        let home = self.sample.moon[self.sample.source];
        let other = self
            .sample
            .moon
            .iter()
            .position(|moon| *moon != home)
            .unwrap_or(0);
        self.sample.points[other]
    }
}

/// All kernels from the source.
pub(super) struct Kernels {
    /// In the order of [`Operator::ALL`].
    pub spreads: Vec<Spread>,
    /// On the graph, at the points of the sample, for each of [`GRAPH_TAUS`].
    pub graph: Vec<Vec<f64>>,
    /// At the points of the sample.
    pub rbf: Vec<f64>,
}

impl Kernels {
    pub fn new(scene: &Scene, n: usize, steps: usize, control: &Control) -> Result<Kernels> {
        let mut spreads = Vec::new();
        for operator in Operator::ALL {
            spreads.push(Spread::new(operator, scene, n, steps, control)?);
            control.advance(1)?;
        }
        let graph = graph_columns(scene, &GRAPH_TAUS, control)?;
        Ok(Kernels {
            spreads,
            graph,
            rbf: rbf_at(&scene.sample, control)?,
        })
    }

    pub fn of(&self, operator: Operator) -> &Spread {
        self.spreads
            .iter()
            .find(|spread| spread.operator == operator)
            .expect("all operators ran")
    }
}

/// The RBF kernel from the source of a sample at its points.
pub(super) fn rbf_at(sample: &Sample, control: &Control) -> Result<Vec<f64>> {
    let values = sample.values();
    let features = Features::f64(&values, sample.points.len(), 2)?;
    let source = [NodeId(sample.source as u32)];
    Ok(
        Radial::new(features, Shape::Rbf { sigma: SIGMA })?.columns(&source, &control.quiet())?[0]
            .to_vec(),
    )
}

/// Poisson on the graph of the sample, for some τ.
pub(super) fn graph_columns(
    scene: &Scene,
    taus: &[f64],
    control: &Control,
) -> Result<Vec<Vec<f64>>> {
    let (values, quiet) = (scene.sample.values(), control.quiet());
    let features = Features::f64(&values, scene.sample.points.len(), 2)?;
    let config = |tau| Config {
        k: NEIGHBOURS,
        tau: Tau::Number(tau),
        ..Config::paper()
    };
    let graph = Arc::new(engine::graph(features, &config(TAU), &quiet)?);
    let source = [NodeId(scene.sample.source as u32)];
    let column = |&tau: &f64| {
        let engine = Engine::on(Arc::clone(&graph), None, &config(tau), &quiet)?;
        Ok(engine.propagation.columns(&source, &quiet)?[0].to_vec())
    };
    taus.iter().map(column).collect()
}

/// u of the plane at the points of the sample, not normalised.
pub(super) fn poisson_at(
    scene: &Scene,
    operator: Operator,
    n: usize,
    control: &Control,
) -> Result<Vec<f64>> {
    let plane = Plane::new(&scene.kde.sampled(n), operator)?;
    let u = plane
        .network()
        .poisson(TAU, &plane.bump(scene.source(), RADIUS), control)?;
    Ok(scene
        .sample
        .points
        .iter()
        .map(|point| plane.interpolated(&u, *point))
        .collect())
}

/// How symmetric Poisson is: ∫ρ b_y u_x and ∫ρ b_x u_y, which agree, and K(x, y) and K(y, x), which need not.
pub(super) struct Symmetry {
    pub weak: [f64; 2],
    pub kernel: [f64; 2],
}

impl Symmetry {
    pub fn new(scene: &Scene, spread: &Spread, control: &Control) -> Result<Symmetry> {
        let (plane, points) = (&spread.plane, &scene.sample.points);
        let (x, y) = (scene.source(), scene.other());
        let (at_x, at_y) = (plane.bump(x, RADIUS), plane.bump(y, RADIUS));
        let u = plane.network().poisson(TAU, &at_y, control)?;
        let weak = |bump: &[f64], u: &[f64]| {
            let product: Vec<f64> = bump.iter().zip(u).map(|(b, u)| b * u).collect();
            plane.network().mass(&product)
        };
        let back = normalised(&u, lowest(plane, &u, points));
        Ok(Symmetry {
            weak: [weak(&at_y, &spread.u), weak(&at_x, &u)],
            kernel: [
                plane.interpolated(&spread.poisson, y),
                plane.interpolated(&back, x),
            ],
        })
    }
}

/// Spearman's rank correlation: that of the ranks, equal values sharing the middle of theirs.
pub fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |values: &[f64]| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|i, j| values[*i].total_cmp(&values[*j]));
        let mut ranks = vec![0.0; values.len()];
        let mut first = 0;
        for equal in order.chunk_by(|i, j| values[*i] == values[*j]) {
            equal
                .iter()
                .for_each(|i| ranks[*i] = first as f64 + (equal.len() - 1) as f64 / 2.0);
            first += equal.len();
        }
        ranks
    };
    correlation(&ranks(a), &ranks(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_by_hand() {
        assert!((rank_correlation(&[1.0, 2.0, 3.0], &[1.0, 2.0, 40.0]) - 1.0).abs() < 1e-15);
        // Ranks (0, 1.5, 1.5) against (2, 1, 0): -1.5 / √(1.5 · 2).
        assert!(
            (rank_correlation(&[0.0, 5.0, 5.0], &[3.0, 2.0, 1.0]) + 1.5 / 3.0f64.sqrt()).abs()
                < 1e-15
        );
    }

    #[test]
    fn kernels_are_1_at_most_and_0_at_the_lowest() {
        assert_eq!(normalised(&[3.0, 5.0, 1.0], 3.0), [0.0, 1.0, -1.0]);
    }
}
