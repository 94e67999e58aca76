//! The class separator of `prop:heat-class-sep` and `prop:low-mode-estimate`, and when it applies.
//!
//! ```text
//! Λ = 4 (√(Θ(1 - KS)/C) - √(KS)/(1 - S))^-1 + √S          printed: one root over the whole difference
//! Ξ = K (Λ - √S)²/4 + 4 K^{3/2} (1/√(1 - KΛ) - 1)
//! δ = w_max K² S / (w_min² sin²σ) + tan²σ / w_min + a²     printed: sin²σ / w_min
//! ζ = (1 - sin b)²/w_max cos 2(σ+b) - ξ
//! ε = (1 + sin b)²/w_min sin 2(σ+b) + ξ
//! ξ = (1 - e^{-λ_K t}) (1 + sin b)²/w_min + e^{-λ_{K+1}(t - t₁ - s)} ‖e^{t₁Δ}‖ ‖e^{sΔ}‖      printed: first term times ‖ρ‖_∞
//! ```
//!
//! if a sin b ≥ √(w_max Ξ / w_min) (printed without w_min, though the proof has W₂² ≤ Ξ/w_min), S < w_min tan²σ / (w_max K²),
//! √S < Λ < 1/K and σ + b < π/4. tan² because ρ_k ≤ (1/cos²σ - 1) ρ_j on A_j; no ‖ρ‖_∞ because the kernel is taken with
//! respect to ρ ([`super::heat`]), without which 1/w_max would not be the limit of ζ.
//!
//! There is no single best (δ, ζ, ε): [`best`] makes δ + w_max ε + (1 - w_max ζ) smallest, three losses that a perfect
//! separator does not have. a is as small as it may be, t solves for the smallest ξ in closed form, b and σ are searched.

use std::f64::consts::FRAC_PI_4;
use std::fmt;

use super::gap::{Coupling, bracket};
use super::heat::Ultra;
use super::parameters::Parameters;

/// Which form of the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// What follows from the proof.
    Corrected,
    /// As printed.
    Printed,
}

/// The eigenvalues around the gap, ≥ 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// λ_K.
    pub below: f64,
    /// λ_{K+1}.
    pub above: f64,
}

/// The free parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// a.
    pub a: f64,
    /// b.
    pub b: f64,
    /// σ.
    pub sigma: f64,
    /// t.
    pub t: f64,
}

/// What is promised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separator {
    /// δ.
    pub delta: f64,
    /// ζ.
    pub zeta: f64,
    /// ε.
    pub epsilon: f64,
}

impl Separator {
    /// Whether it says anything: some mass in every set, and more kernel inside than between.
    pub fn says_something(&self) -> bool {
        self.delta < 1.0 && self.zeta > self.epsilon
    }
}

/// A condition of `prop:low-mode-estimate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// a, b > 0.
    Positive,
    /// KS < 1 and a positive bracket in Λ, so that Λ > √S.
    Gap,
    /// ΛK < 1.
    SmallLambda,
    /// a sin b / √w_max ≥ √Ξ (corrected: √(Ξ/w_min)).
    Room,
    /// S < w_min tan²σ / (w_max K²).
    Overlap,
    /// b + σ < π/4.
    Angles,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Condition::Positive => "a, b > 0",
            Condition::Gap => "Λ > √S",
            Condition::SmallLambda => "ΛK < 1",
            Condition::Room => "a sin b ≥ √(w_max Ξ / w_min)",
            Condition::Overlap => "S < w_min tan²σ / (w_max K²)",
            Condition::Angles => "b + σ < π/4",
        })
    }
}

/// Λ; none where its root does not exist or is not positive.
pub fn big_lambda(p: &Parameters, version: Version) -> Option<f64> {
    let ks = p.components as f64 * p.overlap;
    let root = match version {
        Version::Corrected => bracket(p, Coupling::Squared)? / p.coupling.sqrt(),
        Version::Printed => {
            let inside =
                p.indivisibility * (1.0 - ks) / p.coupling_printed - ks.sqrt() / (1.0 - p.overlap);
            (ks < 1.0 && inside > 0.0).then(|| inside.sqrt())?
        }
    };
    (root > 0.0).then(|| 4.0 / root + p.overlap.sqrt())
}

/// Ξ; none where Λ is none or ΛK ≥ 1.
pub fn big_xi(p: &Parameters, version: Version) -> Option<f64> {
    let (k, lambda) = (p.components as f64, big_lambda(p, version)?);
    let first = lambda - p.overlap.sqrt();
    // 1/√(1 - u) - 1 without cancellation: u / (√(1-u) (1 + √(1-u))).
    let u = k * lambda;
    let root = (1.0 - u).max(0.0).sqrt();
    (u < 1.0).then(|| k * first * first / 4.0 + 4.0 * k * k.sqrt() * u / (root * (1.0 + root)))
}

/// The smallest a that leaves room for Ξ at a given b.
pub fn smallest_a(p: &Parameters, b: f64, version: Version) -> Option<f64> {
    let weight = match version {
        Version::Corrected => p.weights.1 / p.weights.0,
        Version::Printed => p.weights.1,
    };
    Some((weight * big_xi(p, version)?).sqrt() / libm::sin(b))
}

/// The conditions that do not hold.
pub fn failing(p: &Parameters, choice: &Choice, version: Version) -> Vec<Condition> {
    let k = p.components as f64;
    let tan = libm::tan(choice.sigma);
    let lambda = big_lambda(p, version);
    let checks = [
        (Condition::Positive, choice.a > 0.0 && choice.b > 0.0),
        (Condition::Gap, lambda.is_some()),
        (
            Condition::SmallLambda,
            lambda.is_some_and(|lambda| lambda * k < 1.0),
        ),
        (
            Condition::Room,
            smallest_a(p, choice.b, version).is_some_and(|a| choice.a >= a),
        ),
        (
            Condition::Overlap,
            p.overlap < p.weights.0 * tan * tan / (p.weights.1 * k * k),
        ),
        (Condition::Angles, choice.b + choice.sigma < FRAC_PI_4),
    ];
    checks
        .into_iter()
        .filter(|(_, holds)| !holds)
        .map(|(condition, _)| condition)
        .collect()
}

/// ξ of the corrected version: how far the kernel is from ⟨F(x), F(x*)⟩.
pub fn remainder(p: &Parameters, gap: Gap, ultra: Ultra, b: f64, t: f64) -> f64 {
    let grown = 1.0 + libm::sin(b);
    -libm::expm1(-gap.below * t) * grown * grown / p.weights.0
        + ultra.factor * libm::exp(-gap.above * t)
}

/// The t ≥ `ultra.least` with the smallest [`remainder`].
pub fn best_time(p: &Parameters, gap: Gap, ultra: Ultra, b: f64) -> f64 {
    let grown = 1.0 + libm::sin(b);
    let slow = gap.below * grown * grown / p.weights.0;
    let t = libm::log(gap.above * ultra.factor / slow) / (gap.above - gap.below);
    t.max(ultra.least)
}

/// δ, ζ, ε for a choice, whether or not its conditions hold; `top` is ‖ρ‖_∞, which only the printed version has.
pub fn separator(
    p: &Parameters,
    gap: Gap,
    ultra: Ultra,
    choice: &Choice,
    version: Version,
    top: f64,
) -> Separator {
    let (k, (w_min, w_max)) = (p.components as f64, p.weights);
    let (sin_s, tan_s, sin_b) = (
        libm::sin(choice.sigma),
        libm::tan(choice.sigma),
        libm::sin(choice.b),
    );
    let angle = 2.0 * (choice.sigma + choice.b);
    let lost = w_max * k * k * p.overlap / (w_min * w_min * sin_s * sin_s);
    let (leak, xi) = match version {
        Version::Corrected => (tan_s * tan_s, remainder(p, gap, ultra, choice.b, choice.t)),
        Version::Printed => {
            let both = remainder(p, gap, ultra, choice.b, choice.t);
            let high = ultra.factor * libm::exp(-gap.above * choice.t);
            (sin_s * sin_s, (both - high) * top + high)
        }
    };
    Separator {
        delta: lost + leak / w_min + choice.a * choice.a,
        zeta: (1.0 - sin_b) * (1.0 - sin_b) / w_max * libm::cos(angle) - xi,
        epsilon: (1.0 + sin_b) * (1.0 + sin_b) / w_min * libm::sin(angle) + xi,
    }
}

/// The choice with the smallest δ + w_max ε + (1 - w_max ζ) among those whose conditions hold; none if no choice has them.
pub fn best(p: &Parameters, gap: Gap, ultra: Ultra) -> Option<(Choice, Separator)> {
    let at = |b: f64, sigma: f64| {
        let a = smallest_a(p, b, Version::Corrected)? * (1.0 + 1e-12);
        let choice = Choice {
            a,
            b,
            sigma,
            t: best_time(p, gap, ultra, b),
        };
        failing(p, &choice, Version::Corrected).is_empty().then(|| {
            let found = separator(p, gap, ultra, &choice, Version::Corrected, 1.0);
            (
                found.delta + p.weights.1 * (found.epsilon - found.zeta),
                choice,
                found,
            )
        })
    };
    let steps = 40;
    let (mut centre, mut span) = ((-25.0, -25.0), 25.0);
    let mut winner: Option<(f64, Choice, Separator)> = None;
    for _ in 0..10 {
        for (i, j) in (0..=steps).flat_map(|i| (0..=steps).map(move |j| (i, j))) {
            let along =
                |middle: f64, i: i32| middle + span * (2.0 * f64::from(i) / f64::from(steps) - 1.0);
            let (b, sigma) = (libm::exp(along(centre.0, i)), libm::exp(along(centre.1, j)));
            if let Some(found) = at(b, sigma)
                && winner.as_ref().is_none_or(|known| found.0 < known.0)
            {
                winner = Some(found);
            }
        }
        let (_, choice, _) = winner.as_ref()?;
        centre = (libm::log(choice.b), libm::log(choice.sigma));
        span *= 0.3;
    }
    winner.map(|(_, choice, found)| (choice, found))
}
