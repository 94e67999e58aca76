//! The Corollary's scaling: what the propositions give as κ → 0, and what the heat kernel really does.
//!
//! ```text
//! S ≤ κ,  C ≤ κ,  Θ ≥ √κ,   t = |ln κ| κ^{-1/2}        printed: κ^{1/2} in the statement, κ^{-1/2} in the proof
//! δ ≤ c κ^{1/4},   1/w_max - ζ ≤ c(|ln κ| κ^{1/2} + Mκ),   ε ≤ c(κ^{1/4} + Mκ)      as stated
//! ```
//!
//! With a = b = σ = κ^{1/4} as in its proof, a sin b = κ^{1/2}, but Λ ~ κ^{1/4} makes Ξ ~ κ^{1/4} and asks for a sin b ≥ c κ^{1/8}:
//! the choice violates the proposition's own condition. What the proposition can give is a² + b ~ smallest with a b ~ κ^{1/8},
//! that is δ, ε and 1/w_max - ζ all of order κ^{1/12}; other choices trade one for another.
//!
//! Two families. [`scaled`]: the formulas alone with S = C = κ and Θ = √κ, two components of equal weight, λ from the bounds
//! of the gap, M = 2. [`member`]: two Gaussians ever farther apart, for which κ = max(S, C) and Θ = 1, so that C/Θ ~ κ and
//! the same argument gives κ^{1/6}; there everything is computed, and the kernel's true separation beside it, between
//! intervals around the centres that hold the promised mass.

use dial::{Control, Result};

use super::density::Grid;
use super::gap::{Coupling, lower, upper};
use super::heat::{Heat, Ultra, central_sets, embedding_error};
use super::parameters::Parameters;
use super::separator::{
    Choice, Condition, Gap, Separator, Version, best, failing, remainder, separator, smallest_a,
};
use super::spectrum::{Inside, eigenvalue};
use super::{DEVIATIONS_BEYOND_CENTRES, pair};

/// Cells of the grid of parameters and eigenvalues.
const GRID_CELLS: usize = 3000;
/// ‖e^{Δ}‖ in the Corollary's regime.
const COROLLARY_NORM: f64 = 2.0;

/// Two Gaussians with everything the propositions say about them.
#[derive(Clone, Debug)]
pub struct Member {
    /// Distance of the centres in deviations.
    pub distance: f64,
    /// S, C, Θ.
    pub p: Parameters,
    /// λ_2 and λ_3.
    pub gap: Gap,
    /// The norms of the heat kernel.
    pub ultra: Ultra,
    /// ∫|O F - F^Q|² ρ, which Ξ bounds.
    pub embedding: f64,
    /// The best choice, what it promises, and (ζ, ε) of the kernel at the same t and δ (NaN where δ ≥ 1 asks for no mass).
    pub best: Option<(Choice, Separator, (f64, f64))>,
    /// ‖ρ‖_∞.
    pub top: f64,
}

impl Member {
    /// κ = max(S, C).
    pub fn kappa(&self) -> f64 {
        self.p.overlap.max(self.p.coupling)
    }

    /// What the propositions promise as printed, for the same b, σ and t and the smallest a that they allow.
    pub fn printed(&self) -> Option<Separator> {
        let (choice, ..) = self.best.as_ref()?;
        let a = smallest_a(&self.p, choice.b, Version::Printed)?;
        Some(separator(
            &self.p,
            self.gap,
            self.ultra,
            &Choice { a, ..*choice },
            Version::Printed,
            self.top,
        ))
    }
}

/// Two Gaussians at a distance; the kernel on a grid of cells.
///
/// # Errors
/// Cancelled.
pub fn member(distance: f64, cells: usize, control: &Control) -> Result<Member> {
    let fine = Grid::new(&pair(distance), DEVIATIONS_BEYOND_CENTRES, GRID_CELLS);
    let value = |k| eigenvalue(&fine.log_density, fine.axes[0].1, Inside::Density, k);
    let p = Parameters::of(&fine, control)?;
    let gap = Gap {
        below: value(2),
        above: value(3),
    };
    let grid = Grid::new(&pair(distance), DEVIATIONS_BEYOND_CENTRES, cells);
    let heat = Heat::new(&grid, control)?;
    let ultra = Ultra::of(&heat, gap.above);
    let best = best(&p, gap, ultra).map(|(choice, promised)| {
        let kept = (promised.delta < 1.0)
            .then(|| heat.separation(choice.t, &central_sets(&grid, promised.delta)));
        (choice, promised, kept.unwrap_or((f64::NAN, f64::NAN)))
    });
    let top = libm::exp(
        fine.log_density
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max),
    );
    Ok(Member {
        distance,
        p,
        gap,
        ultra,
        embedding: embedding_error(&heat, &grid),
        best,
        top,
    })
}

/// What the propositions promise in the Corollary's regime.
#[derive(Clone, Debug)]
pub struct Scaled {
    /// κ.
    pub kappa: f64,
    /// The best choice and what it promises.
    pub best: Option<(Choice, Separator)>,
    /// What fails for the proof's own choice a = b = σ = κ^{1/4}.
    pub failing: Vec<Condition>,
    /// ξ at t = |ln κ| κ^{1/2}, as stated, and at |ln κ| κ^{-1/2}, as in the proof.
    pub remainders: [f64; 2],
}

/// The parameters of the Corollary's regime: S = C = κ, Θ = √κ, two components of equal weight.
pub fn regime(kappa: f64) -> Parameters {
    Parameters {
        components: 2,
        weights: (0.5, 0.5),
        overlap: kappa,
        coupling: kappa,
        coupling_printed: kappa,
        indivisibility: kappa.sqrt(),
    }
}

/// The propositions in the Corollary's regime.
pub fn scaled(kappa: f64) -> Scaled {
    let p = regime(kappa);
    let gap = Gap {
        below: upper(&p, Coupling::Squared).unwrap_or(f64::INFINITY),
        above: lower(&p, Coupling::Squared).unwrap_or(0.0),
    };
    // t₁ = s = 1, both norms at most √M.
    let ultra = Ultra {
        factor: COROLLARY_NORM * libm::exp(2.0 * gap.above),
        least: 2.0,
    };
    let root = libm::pow(kappa, 0.25);
    let times = [0.5, -0.5].map(|power| -libm::log(kappa) * libm::pow(kappa, power));
    let own = Choice {
        a: root,
        b: root,
        sigma: root,
        t: times[1],
    };
    Scaled {
        kappa,
        best: best(&p, gap, ultra),
        failing: failing(&p, &own, Version::Corrected),
        remainders: times.map(|t| remainder(&p, gap, ultra, root, t)),
    }
}
