//! The spectral gap of a well-clustered mixture (the proposition after `prop:heat-class-sep`).
//!
//! ```text
//! (√(Θ(1 - KS)) - √(C K S)/(1 - S))² ≤ λ_{K+1}        if KS < 1
//! λ_K ≤ K C / (1 - K √S)                              if K √S < 1
//! ```
//!
//! λ are eigenvalues of -Δ_ρ, not negative (the propositions' e^{λt} would need -λ). Both hold with ρ inside the operator
//! and the squared C. The printed hypothesis KS < 1 is not enough for the second, whose denominator may be negative;
//! and a negative bracket must not be squared: we take 0 there.

use super::parameters::Parameters;

/// Which coupling enters a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coupling {
    /// With the square inside its integral.
    Squared,
    /// As printed.
    Printed,
}

impl Coupling {
    /// C.
    pub fn of(self, p: &Parameters) -> f64 {
        match self {
            Coupling::Squared => p.coupling,
            Coupling::Printed => p.coupling_printed,
        }
    }
}

/// √(Θ(1 - KS)) - √(C K S)/(1 - S), the root of the lower bound; none where KS ≥ 1.
pub fn bracket(p: &Parameters, coupling: Coupling) -> Option<f64> {
    let ks = p.components as f64 * p.overlap;
    (ks < 1.0).then(|| {
        (p.indivisibility * (1.0 - ks)).sqrt() - (coupling.of(p) * ks).sqrt() / (1.0 - p.overlap)
    })
}

/// The lower bound of λ_{K+1}; 0 where the bracket is negative.
pub fn lower(p: &Parameters, coupling: Coupling) -> Option<f64> {
    bracket(p, coupling).map(|root| root.max(0.0) * root.max(0.0))
}

/// The upper bound of λ_K; none where K √S ≥ 1.
pub fn upper(p: &Parameters, coupling: Coupling) -> Option<f64> {
    let room = 1.0 - p.components as f64 * p.overlap.sqrt();
    (room > 0.0).then(|| p.components as f64 * coupling.of(p) / room)
}
