//! The heat kernel of the unit interval and square with Neumann ends and uniform density, exactly.
//!
//! ```text
//! k_t(z, x) = 1 + 2 Σ_m e^{-m² π² t} cos(mπz) cos(mπx)                             cosines: quick for large t
//!           = Σ_j [g(x - z - 2j) + g(x + z - 2j)],  g normal of variance 2t        images: quick for small t
//! ```
//!
//! On the square it is the product of two. With uniform ρ the operator of `eq:heat-eqn`, (1/ρ) div(ρ² ∇), and its
//! variant with ρ inside are both the Laplacian, E_ρ[k_t(Z, x)] = 1, θ = 1 (Assumption
//! `assumption:bound-unweighted-int`), and ‖k_t(·, x)‖²_{L²} = k_{2t}(x, x).

use std::f64::consts::PI;

/// Terms with smaller factors than e^-40 are left out.
const MAX_EXPONENT: f64 = 40.0;

/// How many cosines, the constant one included, a time needs.
pub fn modes(time: f64) -> usize {
    (MAX_EXPONENT / time).sqrt() as usize / 3 + 2
}

/// e^{-m² π² t}, the factor of the m-th cosine.
pub fn factor(mode: usize, time: f64) -> f64 {
    libm::exp(-PI * PI * time * (mode * mode) as f64)
}

/// k_t(z, x) of the interval as a sum of cosines.
pub fn cosines(time: f64, z: f64, x: f64) -> f64 {
    let term =
        |m: usize| factor(m, time) * libm::cos(m as f64 * PI * z) * libm::cos(m as f64 * PI * x);
    1.0 + 2.0 * (1..modes(time)).map(term).sum::<f64>()
}

/// k_t(z, x) of the interval as a sum over mirrored sources.
pub fn images(time: f64, z: f64, x: f64) -> f64 {
    let gauss = |r: f64| libm::exp(-r * r / (4.0 * time)) / (4.0 * PI * time).sqrt();
    let reach = ((4.0 * MAX_EXPONENT * time).sqrt() / 2.0) as i32 + 2;
    (-reach..=reach)
        .map(|j| 2.0 * f64::from(j))
        .map(|shift| gauss(x - z - shift) + gauss(x + z - shift))
        .sum()
}

/// k_t(z, x) of the unit cube of as many dimensions as the points have: a product.
pub fn heat(time: f64, z: &[f64], x: &[f64]) -> f64 {
    let one = |(z, x): (&f64, &f64)| {
        if time < 0.1 {
            images(time, *z, *x)
        } else {
            cosines(time, *z, *x)
        }
    };
    z.iter().zip(x).map(one).product()
}

/// ‖k_t(·, x)‖_{L^p} of the interval for finite p, by the midpoint rule.
pub fn norm(time: f64, x: f64, p: f64) -> f64 {
    let points = ((64.0 / time.sqrt()) as usize).max(512);
    let at = |i: usize| heat(time, &[(i as f64 + 0.5) / points as f64], &[x]);
    let power: f64 = (0..points).map(|i| libm::pow(at(i), p)).sum::<f64>() / points as f64;
    libm::pow(power, 1.0 / p)
}

/// The largest ‖k_t(·, x)‖_{L^p} over the unit cube: at a corner, the product of those at an end of the interval. For
/// p = 2 it is k_{2t}(0, 0)^{d/2}, about 2^{d/2} (8πt)^{-d/4}; in general it grows like t^{-(d/2)(1 - 1/p)}.
pub fn largest_norm(time: f64, p: f64, dimension: usize) -> f64 {
    let end = if p == 2.0 {
        heat(2.0 * time, &[0.0], &[0.0]).sqrt()
    } else {
        norm(time, 0.0, p)
    };
    (0..dimension).map(|_| end).product()
}
