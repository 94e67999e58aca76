//! Gaussian mixtures on the line and in the plane, tabulated on a grid of cells.
//!
//! ```text
//! ρ(x) = Σ_k w_k ρ_k(x),     ρ_k Gaussian with centre m and a deviation s for every axis
//! ```
//!
//! Everything is kept as logarithms: between two clusters twenty deviations apart ρ is 1e-23, and nothing may be lost.

use std::f64::consts::PI;

/// A Gaussian whose axes are those of the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Its weight w_k.
    pub weight: f64,
    /// Its centre, one coordinate per axis.
    pub centre: Vec<f64>,
    /// Its standard deviation along each axis.
    pub deviation: Vec<f64>,
}

impl Component {
    /// A Gaussian on the line.
    pub fn line(weight: f64, centre: f64, deviation: f64) -> Component {
        Component {
            weight,
            centre: vec![centre],
            deviation: vec![deviation],
        }
    }

    /// A round Gaussian in the plane.
    pub fn plane(weight: f64, centre: [f64; 2], deviation: f64) -> Component {
        Component {
            weight,
            centre: centre.to_vec(),
            deviation: vec![deviation; 2],
        }
    }

    /// ln ρ_k(x).
    pub fn log_density(&self, x: &[f64]) -> f64 {
        let one = |((x, m), s): ((&f64, &f64), &f64)| {
            let z = (x - m) / s;
            -0.5 * z * z - libm::log(s * (2.0 * PI).sqrt())
        };
        x.iter()
            .zip(&self.centre)
            .zip(&self.deviation)
            .map(one)
            .sum()
    }

    /// ∂ ln ρ_k / ∂x along an axis.
    pub fn slope(&self, x: &[f64], axis: usize) -> f64 {
        -(x[axis] - self.centre[axis]) / (self.deviation[axis] * self.deviation[axis])
    }
}

/// A mixture at the middles of the cells of a grid over an interval or a rectangle.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Per axis: left end, width of a cell, number of cells. The first axis varies fastest.
    pub axes: Vec<(f64, f64, usize)>,
    /// ln ρ per cell.
    pub log_density: Vec<f64>,
    /// ln ρ_k per component and cell.
    pub log_parts: Vec<Vec<f64>>,
    /// The components.
    pub components: Vec<Component>,
}

impl Grid {
    /// A mixture on the smallest interval or rectangle that reaches `reach` deviations beyond every centre, in `cells`
    /// cells along every axis.
    pub fn new(components: &[Component], reach: f64, cells: usize) -> Grid {
        let axis = |i: usize| {
            let ends = |sign: f64| {
                components
                    .iter()
                    .map(move |c| c.centre[i] + sign * reach * c.deviation[i])
            };
            let (low, high) = (
                ends(-1.0).fold(f64::INFINITY, f64::min),
                ends(1.0).fold(f64::NEG_INFINITY, f64::max),
            );
            (low, (high - low) / cells as f64, cells)
        };
        let axes: Vec<_> = (0..components[0].centre.len()).map(axis).collect();
        let mut grid = Grid {
            axes,
            log_density: Vec::new(),
            log_parts: Vec::new(),
            components: components.to_vec(),
        };
        let count = grid.axes.iter().map(|a| a.2).product();
        let part = |c: &Component| {
            (0..count)
                .map(|i| c.log_density(&grid.place(i)))
                .collect::<Vec<f64>>()
        };
        let parts: Vec<Vec<f64>> = components.iter().map(part).collect();
        let total = |i: usize| {
            log_sum(
                components
                    .iter()
                    .zip(&parts)
                    .map(|(c, part)| libm::log(c.weight) + part[i]),
            )
        };
        grid.log_density = (0..count).map(total).collect();
        grid.log_parts = parts;
        grid
    }

    /// The middle of a cell.
    pub fn place(&self, cell: usize) -> Vec<f64> {
        let mut rest = cell;
        let one = |(low, width, count): &(f64, f64, usize)| {
            let i = rest % count;
            rest /= count;
            low + (i as f64 + 0.5) * width
        };
        self.axes.iter().map(one).collect()
    }

    /// The length or area of a cell.
    pub fn cell(&self) -> f64 {
        self.axes.iter().map(|a| a.1).product()
    }

    /// The smallest and the largest weight.
    pub fn weights(&self) -> (f64, f64) {
        let weights = self.components.iter().map(|c| c.weight);
        (
            weights.clone().fold(f64::INFINITY, f64::min),
            weights.fold(0.0, f64::max),
        )
    }
}

/// ln Σ e^v.
fn log_sum(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = values.clone().fold(f64::NEG_INFINITY, f64::max);
    top + libm::log(values.map(|v| libm::exp(v - top)).sum::<f64>())
}
