//! Poisson as a backward Euler step of heat, on a graph or on the cells of a plane.
//!
//! ```text
//! (1/t - Δ) u = f,   I - tΔ = t (1/t - Δ):      (I - tΔ)⁻¹ f = u_{1/t} / t        (printed: t u_{1/t})
//! ```
//!
//! The step keeps the mass of f, so u_{1/t} has t times that mass, and the printed t u_{1/t} has t² times: it is right at
//! t = 1 only. After a normalisation at the source the factor does not matter.

use dial::{Control, Result};

use super::symbol;
use crate::theory::continuum::network::Network;

/// What one step of one length is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// t.
    pub time: f64,
    /// ‖(I - tΔ)⁻¹ f - u_{1/t}/t‖ / ‖(I - tΔ)⁻¹ f‖: what the solver leaves of the identity.
    pub identity: f64,
    /// The same with the printed t u_{1/t}: |t² - 1|.
    pub printed: f64,
    /// Mass of u_{1/t}/t over that of f: 1.
    pub mass: f64,
    /// Mass of the printed t u_{1/t} over that of f: t².
    pub printed_mass: f64,
    /// ‖(I - tΔ)⁻¹ f - e^{tΔ} f‖ / ‖f‖, at most [`symbol::bound`] of 1.
    pub norm: f64,
    /// ½ Σ m |(I - tΔ)⁻¹ f - e^{tΔ} f| / Σ m f: the share of the mass that lies elsewhere.
    pub variation: f64,
}

/// √(Σ m v²), the norm in which Δ is self-adjoint.
pub fn norm(network: &Network, v: &[f64]) -> f64 {
    network
        .measure()
        .iter()
        .zip(v)
        .fold(0.0, |sum, (m, v)| sum + m * v * v)
        .sqrt()
}

fn less(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Compares a step with Poisson and with heat: `poisson` is u_{1/t}, `heat` e^{tΔ} f.
///
/// # Errors
/// Cancelled; a solver that does not converge.
pub fn compare(
    network: &Network,
    time: f64,
    f: &[f64],
    (poisson, heat): (&[f64], &[f64]),
    control: &Control,
) -> Result<Step> {
    let step = network.backward_euler(time, 1, f, control)?;
    let scaled = |factor: f64| -> Vec<f64> { poisson.iter().map(|u| factor * u).collect() };
    let (right, printed) = (scaled(1.0 / time), scaled(time));
    let (size, given) = (norm(network, &step), network.mass(f));
    let apart = less(&step, heat);
    let moved: Vec<f64> = apart.iter().map(|v| v.abs()).collect();
    Ok(Step {
        time,
        identity: norm(network, &less(&step, &right)) / size,
        printed: norm(network, &less(&step, &printed)) / size,
        mass: network.mass(&right) / given,
        printed_mass: network.mass(&printed) / given,
        norm: norm(network, &apart) / norm(network, f),
        variation: 0.5 * network.mass(&moved) / given,
    })
}

/// m backward Euler steps against heat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Many {
    /// m.
    pub steps: usize,
    /// ‖(I - (t/m)Δ)⁻ᵐ f - e^{tΔ} f‖ / ‖f‖.
    pub norm: f64,
    /// The bound E_m.
    pub bound: f64,
}

/// m steps over the time t, for some m.
///
/// # Errors
/// Cancelled; a solver that does not converge.
pub fn refine(
    network: &Network,
    time: f64,
    f: &[f64],
    heat: &[f64],
    counts: &[usize],
    control: &Control,
) -> Result<Vec<Many>> {
    let one = |&steps: &usize| {
        let v = network.backward_euler(time, steps, f, control)?;
        let norm = norm(network, &less(&v, heat)) / norm(network, f);
        Ok(Many {
            steps,
            norm,
            bound: symbol::bound(steps),
        })
    };
    counts.iter().map(one).collect()
}
