//! Overlapping, coupling and indivisibility of a mixture, by the midpoint rule on its grid.
//!
//! ```text
//! S = max_{i≠j} ∫ ρ_i ρ_j / ρ dx
//! C = max_k ∫ |∇ρ_k/ρ_k - ∇ρ/ρ|² ρ_k dx          printed without the square
//! Θ = min_k min_{u ⊥ 1} ∫ |∇u|² ρ_k / ∫ u² ρ_k   the smallest positive eigenvalue of -(1/ρ_k) div(ρ_k ∇)
//! ```
//!
//! The square is needed: C/4 is then the energy ∫|∇√(ρ_k/ρ)|² ρ of the paper's approximate eigenfunctions, and C has the
//! unit of Θ, so that C/Θ (`eq:wellcluster-cond`) does not depend on the unit of length. Both are computed.

use super::density::Grid;
use super::plane;
use super::spectrum::{self, Inside};
use dial::{Control, Result};

/// The parameters of a mixture that the propositions speak of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// K, the number of components.
    pub components: usize,
    /// Smallest and largest weight.
    pub weights: (f64, f64),
    /// S.
    pub overlap: f64,
    /// C with the square.
    pub coupling: f64,
    /// C as printed.
    pub coupling_printed: f64,
    /// Θ.
    pub indivisibility: f64,
}

impl Parameters {
    /// All of them.
    ///
    /// # Errors
    /// Cancelled.
    pub fn of(grid: &Grid, control: &Control) -> Result<Parameters> {
        Ok(Parameters {
            components: grid.components.len(),
            weights: grid.weights(),
            overlap: overlap(grid),
            coupling: coupling(grid, 2),
            coupling_printed: coupling(grid, 1),
            indivisibility: indivisibility(grid, control)?,
        })
    }
}

/// S.
pub fn overlap(grid: &Grid) -> f64 {
    let both = |i: usize, j: usize| {
        let logs = grid.log_parts[i]
            .iter()
            .zip(&grid.log_parts[j])
            .zip(&grid.log_density);
        grid.cell()
            * logs
                .map(|((a, b), all)| libm::exp(a + b - all))
                .sum::<f64>()
    };
    let k = grid.components.len();
    (0..k)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| both(i, j))
        .fold(0.0, f64::max)
}

/// C with the difference of the slopes taken to a power: 2, or 1 as printed.
pub fn coupling(grid: &Grid, power: i32) -> f64 {
    let mut sums = vec![0.0; grid.components.len()];
    for (i, all) in grid.log_density.iter().enumerate() {
        let x = grid.place(i);
        let share = |k: usize| grid.components[k].weight * libm::exp(grid.log_parts[k][i] - all);
        let shares: Vec<f64> = (0..sums.len()).map(share).collect();
        for (k, sum) in sums.iter_mut().enumerate() {
            // ∇ ln ρ_k - ∇ ln ρ = Σ_j (share of j) (∇ ln ρ_k - ∇ ln ρ_j): small where the others are.
            let along = |axis: usize| {
                let own = grid.components[k].slope(&x, axis);
                shares
                    .iter()
                    .zip(&grid.components)
                    .map(|(share, c)| share * (own - c.slope(&x, axis)))
                    .sum::<f64>()
            };
            let squares: f64 = (0..grid.axes.len()).map(along).map(|d| d * d).sum();
            *sum +=
                if power == 2 { squares } else { squares.sqrt() } * libm::exp(grid.log_parts[k][i]);
        }
    }
    grid.cell() * sums.into_iter().fold(0.0, f64::max)
}

/// Θ. On the line by bisection, in the plane by subspace iteration, for each component on the whole grid.
///
/// # Errors
/// Cancelled.
pub fn indivisibility(grid: &Grid, control: &Control) -> Result<f64> {
    let mut smallest = f64::INFINITY;
    for part in &grid.log_parts {
        let gap = match grid.axes[..] {
            [(_, width, _)] => spectrum::eigenvalue(part, width, Inside::Density, 2),
            _ => plane::lowest(part, &grid.axes, 2, control)?.0[1],
        };
        smallest = smallest.min(gap);
    }
    Ok(smallest)
}
