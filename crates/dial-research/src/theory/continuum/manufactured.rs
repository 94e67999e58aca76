//! A manufactured solution: the equation solved backwards, to see that the grid converges as it should.
//!
//! ```text
//! ρ = exp(φ),   φ = 4/5 cos πx cos πy,     v = 1 + cos 2πx cos πy          (∇v · ν = 0 on the boundary)
//! f = τ v - ρ^(p-1) (Δv + p ∇φ · ∇v)       since (1/ρ) div(ρ^p ∇v) = ρ^(p-1) (Δv + p ∇φ · ∇v)
//! ```
//!
//! Then v solves -Δ_ρ v + τ v = f, and what the grid makes of f is wrong by O(h²).

use std::f64::consts::PI;

use dial::{Control, Result};

use super::density::Sampled;
use super::plane::{Operator, Plane};

/// The shift of the manufactured problem.
pub const TAU: f64 = 1.0;

/// ρ.
pub fn density(x: f64, y: f64) -> f64 {
    libm::exp(0.8 * libm::cos(PI * x) * libm::cos(PI * y))
}

/// v.
pub fn solution(x: f64, y: f64) -> f64 {
    1.0 + libm::cos(2.0 * PI * x) * libm::cos(PI * y)
}

/// f.
pub fn source(operator: Operator, x: f64, y: f64) -> f64 {
    let ((sx, cx), (sy, cy)) = (
        (libm::sin(PI * x), libm::cos(PI * x)),
        (libm::sin(PI * y), libm::cos(PI * y)),
    );
    let (s2x, c2x) = (libm::sin(2.0 * PI * x), libm::cos(2.0 * PI * x));
    let laplacian = -5.0 * PI * PI * c2x * cy;
    let drift = 0.8 * PI * PI * (2.0 * sx * cy * s2x * cy + cx * sy * c2x * sy);
    let p = f64::from(operator.power());
    TAU * solution(x, y)
        - operator.conductance(density(x, y)) / density(x, y) * (laplacian + p * drift)
}

/// The largest error of the grid of n by n cells.
///
/// # Errors
/// Cancelled; a solver that does not converge.
pub fn error(n: usize, operator: Operator, control: &Control) -> Result<f64> {
    let plane = Plane::new(&Sampled::of(n, density), operator)?;
    let u = plane
        .network()
        .poisson(TAU, &plane.values(|x, y| source(operator, x, y)), control)?;
    let apart = u
        .iter()
        .zip(plane.values(solution))
        .map(|(u, v)| (u - v).abs());
    Ok(apart.fold(0.0, f64::max))
}

/// The order of convergence between two grids: log(error₁/error₂) / log(n₂/n₁).
pub fn order((n_1, error_1): (usize, f64), (n_2, error_2): (usize, f64)) -> f64 {
    libm::log(error_1 / error_2) / libm::log(n_2 as f64 / n_1 as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_is_that_of_the_solution() {
        // Against central differences of the flux ρ^p ∇v, at a point without symmetry.
        let (x, y, e) = (0.31, 0.17, 1e-4);
        for operator in Operator::ALL {
            let flux = |x: f64, y: f64, dx: f64, dy: f64| {
                let slope = (solution(x + dx, y + dy) - solution(x - dx, y - dy)) / (2.0 * e);
                operator.conductance(density(x, y)) * slope
            };
            let across = (flux(x + e, y, e, 0.0) - flux(x - e, y, e, 0.0)) / (2.0 * e);
            let upward = (flux(x, y + e, 0.0, e) - flux(x, y - e, 0.0, e)) / (2.0 * e);
            let want = TAU * solution(x, y) - (across + upward) / density(x, y);
            assert!((source(operator, x, y) - want).abs() < 1e-5, "{operator:?}");
        }
    }

    #[test]
    fn the_grid_converges_to_second_order() {
        let control = Control::new();
        for operator in Operator::ALL {
            let errors = [16, 32, 64, 128].map(|n| (n, error(n, operator, &control).unwrap()));
            for pair in errors.windows(2) {
                let order = order(pair[0], pair[1]);
                assert!((1.95..2.05).contains(&order), "{operator:?}: {errors:?}");
            }
            assert!(errors[3].1 < 2e-3, "{operator:?}: {errors:?}");
        }
    }
}
