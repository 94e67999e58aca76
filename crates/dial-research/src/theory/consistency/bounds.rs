//! The bounds of the theorem: as printed, and as they follow.
//!
//! F = ∫ |η̂ - η| ρ dx. Replacing one sample changes F by at most 2θ̃/n, where
//! θ̃ = sup_z ∫ k_t(z, x) ρ(x)/E_ρ[k_t(Z, x)] dx; the proof bounds θ̃ by 2θ. McDiarmid then gives
//!
//! ```text
//! P(F - E F > s) <= exp(-n s² / (2 θ̃²))                                  what is proved: a bound about the mean
//! P(F > ε) <= exp(-n ε² / (32 θ²))          printed; needs E F <= ε/2, which holds for n large *given* ε
//! F <= Ξ √(ln(1/δ)/n) with probability 1 - δ, Ξ = 4√2 θ                  printed as the theorem
//! ```
//!
//! The theorem puts ε = Ξ √(ln(1/δ)/n) into the second line. But then ε shrinks like n^-½ while E F, bias and variance
//! together, shrinks more slowly, so that E F <= ε/2 fails for n large: as printed the theorem is false (see
//! [`bias`] with t = n^{-1/10}). What follows is F <= E F + θ̃ √(2 ln(1/δ)/n).
//!
//! Remark after the theorem: P(E(ŷ) - E* > ε) (the "> ε" is missing in print) <= 2 exp(-n ε²/Ξ²). Because the excess
//! risk is at most 2F, the exponent that follows from the printed tail is a quarter of that.

use std::f64::consts::PI;

/// Ξ(θ) = 4√2 θ.
pub fn xi(theta: f64) -> f64 {
    4.0 * 2.0f64.sqrt() * theta
}

/// The theorem as printed: Ξ(θ) √(ln(1/δ)/n).
pub fn printed_bound(theta: f64, count: f64, delta: f64) -> f64 {
    xi(theta) * (libm::log(1.0 / delta) / count).sqrt()
}

/// What follows about the mean error: E F + θ̃ √(2 ln(1/δ)/n).
pub fn bound(influence: f64, mean: f64, count: f64, delta: f64) -> f64 {
    mean + influence * (2.0 * libm::log(1.0 / delta) / count).sqrt()
}

/// P(F > ε) as printed: exp(-n ε²/(32 θ²)).
pub fn printed_tail(theta: f64, count: f64, epsilon: f64) -> f64 {
    libm::exp(-count * epsilon * epsilon / (32.0 * theta * theta))
}

/// P(F > ε) as it follows: exp(-n (ε - E F)²/(2 θ̃²)) above the mean, 1 below.
pub fn tail(influence: f64, mean: f64, count: f64, epsilon: f64) -> f64 {
    let above = (epsilon - mean).max(0.0);
    libm::exp(-count * above * above / (2.0 * influence * influence))
}

/// P(excess risk > ε) from the printed tail and excess risk <= 2F: exp(-n ε²/(128 θ²)).
pub fn excess_tail(theta: f64, count: f64, epsilon: f64) -> f64 {
    printed_tail(theta, count, 0.5 * epsilon)
}

/// ∫ |E η̂ - η| for η = 1/2 + 1/4 Π cos(πx_i) and uniform ρ, exactly: (1 - e^{-dπ²t}) (2/π)^d / 4.
pub fn bias(time: f64, dimension: usize) -> f64 {
    let d = dimension as f64;
    -libm::expm1(-d * PI * PI * time) * libm::pow(2.0 / PI, d) / 4.0
}

/// The bound of the proof on the variance part: largest ‖k_t(·, x)‖_{L²}/√n for uniform ρ.
pub fn variance_bound(time: f64, dimension: usize, count: f64) -> f64 {
    super::kernel::largest_norm(time, 2.0, dimension) / count.sqrt()
}

/// The exponent of n in the variance part where t = n^-a: -(1 - a d/2)/2, from ‖k_t‖_{L²} ~ t^{-d/4}. It is negative,
/// and the part vanishes, where n t^{d/2} → ∞ (the statement); Assumption `assumption:bounded-p-moment`, t^{-d/2},
/// would give -(1 - a d)/2 and ask for n t^d → ∞ (the proof).
pub fn variance_exponent(a: f64, dimension: usize) -> f64 {
    0.5 * (0.5 * a * dimension as f64 - 1.0)
}
