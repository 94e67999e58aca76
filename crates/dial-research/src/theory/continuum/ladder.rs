//! Refining the grid: with a delta of fixed radius the kernel settles, with a delta of one cell it does not.
//!
//! Near its source the solution of -(1/ρ) div(ρ^p ∇u) + τ u = δ looks like that of -ρ^p Δu = ρ δ, that is
//!
//! ```text
//! u ~ ρ(x*)^(1-p) (1/2π) log(1/|x - x*|)
//! ```
//!
//! A delta of one cell of side h therefore has a source value that grows like s log(1/h), s = 1/(2π) for p = 1 and
//! 1/(2π ρ(x*)) for p = 2, and a kernel normalised there falls to 0 everywhere else, as slowly as 1/log(1/h). (Were δ taken
//! with respect to ρ dx, both would carry another 1/ρ(x*).)
//!
//! Every grid has three times the cells of the one before, along a side, so that the middle of a cell stays one: the source
//! of the ladder is the middle of that cell of the first grid in which x* lies.

use std::f64::consts::PI;

use dial::{Control, Result};

use super::kernels::{Scene, lowest, normalised};
use super::plane::{Operator, Plane};
use super::{RADIUS, TAU};
use crate::reproduce::moons::separation;
use dial_plot::chart::Point;

/// s: how fast the source value of a delta of one cell grows with log(1/h), for the density ρ(x*) at the source.
pub fn growth(operator: Operator, density: f64) -> f64 {
    density / operator.conductance(density) / (2.0 * PI)
}

/// The source value above the lowest value at some points, for a right-hand side on a plane; and the kernel.
///
/// # Errors
/// Cancelled; a solver that does not converge.
pub fn peak(
    plane: &Plane,
    f: &[f64],
    points: &[Point],
    control: &Control,
) -> Result<(f64, Vec<f64>)> {
    let u = plane.network().poisson(TAU, f, control)?;
    let floor = lowest(plane, &u, points);
    let top = u.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Ok((top - floor, normalised(&u, floor)))
}

/// One grid of the ladder.
pub(super) struct Rung {
    pub operator: Operator,
    /// Whether the source has a fixed radius, or the size of a cell.
    pub fixed: bool,
    pub n: usize,
    /// Source value above the lowest of the sample.
    pub peak: f64,
    /// Mean of the kernel over the other points of the moon of the source.
    pub own_moon: f64,
    /// Largest difference of the kernel at points of the sample from that of the grid before.
    pub moved: Option<f64>,
}

/// The middle of the cell that holds a point, on a grid of n by n cells.
pub fn snapped((x, y): Point, n: usize) -> Point {
    let middle = |v: f64| ((v * n as f64).floor() + 0.5) / n as f64;
    (middle(x), middle(y))
}

/// Both operators and both sources on finer and finer grids.
pub(super) fn climb(scene: &Scene, grids: &[usize], control: &Control) -> Result<Vec<Rung>> {
    let (points, mut rungs) = (&scene.sample.points, Vec::new());
    let source = snapped(scene.source(), grids[0]);
    let densities: Vec<_> = grids.iter().map(|n| scene.kde.sampled(*n)).collect();
    for operator in Operator::PRINTED {
        for fixed in [true, false] {
            let mut before: Option<Vec<f64>> = None;
            for density in &densities {
                let plane = Plane::new(density, operator)?;
                let f = if fixed {
                    plane.bump(source, RADIUS)
                } else {
                    plane.spike(source)
                };
                let (peak, kernel) = peak(&plane, &f, points, control)?;
                let at: Vec<f64> = points
                    .iter()
                    .map(|point| plane.interpolated(&kernel, *point))
                    .collect();
                let apart = |old: &Vec<f64>| {
                    old.iter()
                        .zip(&at)
                        .map(|(a, b)| (a - b).abs())
                        .fold(0.0, f64::max)
                };
                let moved = before.as_ref().map(apart);
                let own_moon = separation(&scene.sample, &at).0;
                rungs.push(Rung {
                    operator,
                    fixed,
                    n: density.n,
                    peak,
                    own_moon,
                    moved,
                });
                before = Some(at);
                control.advance(1)?;
            }
        }
    }
    Ok(rungs)
}

/// The rungs of one operator and kind of source.
pub(super) fn of(rungs: &[Rung], operator: Operator, fixed: bool) -> Vec<&Rung> {
    rungs
        .iter()
        .filter(|rung| rung.operator == operator && rung.fixed == fixed)
        .collect()
}

/// The measured growth of the source value with log(1/h), between the two finest grids.
pub(super) fn measured_growth(rungs: &[&Rung]) -> f64 {
    let (a, b) = (rungs[rungs.len() - 2], rungs[rungs.len() - 1]);
    growth_between((a.n, a.peak), (b.n, b.peak))
}

/// How fast a value grows with log(1/h), from its values on two grids with different numbers of cells along a side.
pub fn growth_between(coarse: (usize, f64), fine: (usize, f64)) -> f64 {
    (fine.1 - coarse.1) / libm::log(fine.0 as f64 / coarse.0 as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::continuum::density::Sampled;

    #[test]
    fn the_middle_of_a_cell_stays_one() {
        let source = snapped((0.61, 0.56), 20);
        assert!((source.0 - 0.625).abs() < 1e-15 && (source.1 - 0.575).abs() < 1e-15);
        let finer = snapped(source, 60);
        assert!((source.0 - finer.0).abs() < 1e-15 && (source.1 - finer.1).abs() < 1e-15);
    }

    #[test]
    fn a_narrowing_delta_grows_like_the_logarithm() {
        // Where ρ = 3 everywhere, on grids whose middle cell is always the same point.
        let (control, middle, far) = (Control::new(), (0.5, 0.5), [(0.05, 0.05)]);
        for operator in Operator::ALL {
            let value = |n: usize| {
                let plane = Plane::new(&Sampled::of(n, |_, _| 3.0), operator).unwrap();
                peak(&plane, &plane.spike(middle), &far, &control)
                    .unwrap()
                    .0
            };
            let got = (value(135) - value(45)) / libm::log(3.0);
            let want = growth(operator, 3.0);
            assert!(
                (got / want - 1.0).abs() < 2e-3,
                "{operator:?}: {got} {want}"
            );
        }
        // A fixed radius settles: what is left of the error falls fourfold with every halving of h.
        let value = |n: usize| {
            let plane = Plane::new(&Sampled::of(n, |_, _| 3.0), Operator::Weighted).unwrap();
            peak(&plane, &plane.bump(middle, 0.1), &far, &control)
                .unwrap()
                .0
        };
        let (coarse, middling, fine) = (value(33), value(65), value(129));
        let falls = (middling - coarse) / (fine - middling);
        assert!((3.5..4.5).contains(&falls), "{coarse} {middling} {fine}");
    }
}
