//! The quantities of the statements, as functions of plain numbers.
//!
//! ```text
//! G(x; η) = Σ_k η_k (1 - η_k)                                                             (eqn:G-x-eta)
//! V (β + 1) = Σ_k p_k (1 - p_k),  p = α/β           data-conditional, freed of the evidence (eq:dirichlet-variance-af)
//! V (β + 1) = s² G + (1 - s²)(1 - 1/K),  s = b/(b + K α₀)       for α = α₀ + b η: the paper's V = G/(β + 1) is s = 1
//! E[V (β + 1)] = G(p̄) - Σ_i w_i² G(x_i)       labels drawn at given places, w_i = K(x_i, x)/β, p̄ the mean field
//! E[V'] = V (β + 1)(β² + 2 m β) / ((β + m)² (β + m + 1))      one more label of mass m, drawn from the field's own mean
//! ```
//!
//! The last line is Property `property:dec-var-more-data` ("variance will decrease in expected value"), made exact. It
//! averages over the field's own mean; over the true trend ([`expected_after`]) the variance may rise.

use dial::belief::field::variance;

/// G of class probabilities: the population uncertainty (`eqn:G-x-eta`), between 0 and 1 - 1/K.
///
/// Computed as Σ_{i≠j} η_i η_j: where one class is almost certain, Σ η_k (1 - η_k) loses its digits.
pub fn population(eta: &[f64]) -> f64 {
    let (_, pairs) = eta
        .iter()
        .fold((0.0, 0.0), |(sum, pairs), e| (sum + e, pairs + e * sum));
    2.0 * pairs
}

/// V (β + 1): the variance freed of the evidence, which is G of the field's mean.
pub fn scaled_variance(alpha: &[f64]) -> f64 {
    variance(alpha) * (1.0 + alpha.iter().sum::<f64>())
}

/// V (β + 1) where evidence `b` came exactly in the proportions η on top of a prior α₀:
/// s² G + (1 - s²)(1 - 1/K) with s = b/(b + K α₀).
pub fn shrunk(prior: f64, evidence: f64, eta: &[f64]) -> f64 {
    let classes = eta.len() as f64;
    let share = evidence / (evidence + classes * prior);
    share * share * population(eta) + (1.0 - share * share) * (1.0 - 1.0 / classes)
}

/// By which factor one more label of mass m lowers the variance in the mean over the field's own probabilities:
/// (β + 1)(β² + 2 m β) / ((β + m)² (β + m + 1)).
pub fn expected_factor(total: f64, mass: f64) -> f64 {
    let after = total + mass;
    (total + 1.0) * (total * total + 2.0 * mass * total) / (after * after * (after + 1.0))
}

/// The variance after one more label of mass m, in the mean over labels with these probabilities.
pub fn expected_after(alpha: &[f64], mass: f64, chances: &[f64]) -> f64 {
    let with = |class: usize| {
        let mut after = alpha.to_vec();
        after[class] += mass;
        variance(&after)
    };
    chances
        .iter()
        .enumerate()
        .map(|(class, chance)| chance * with(class))
        .sum()
}

/// E[V (β + 1)] over two-class labels at given places: `kernel` holds K(x_i, x), `trend` η(x_i).
pub fn expected_scaled(prior: f64, kernel: &[f64], trend: &[f64]) -> f64 {
    let total = 2.0 * prior + kernel.iter().sum::<f64>();
    let mean = (prior
        + kernel
            .iter()
            .zip(trend)
            .map(|(k, eta)| k * eta)
            .sum::<f64>())
        / total;
    let spread = |(k, eta): (&f64, &f64)| k / total * (k / total) * population(&[*eta, 1.0 - eta]);
    population(&[mean, 1.0 - mean]) - kernel.iter().zip(trend).map(spread).sum::<f64>()
}

/// Bias and root mean square error of V (β + 1) as an estimate of G after `count` two-class labels of mass 1 at one
/// place (the Dirac limit of the kernel), each of class 1 with probability η: a sum over the binomial distribution.
pub fn label_error(prior: f64, count: u32, eta: f64) -> (f64, f64) {
    let n = f64::from(count);
    let target = population(&[eta, 1.0 - eta]);
    let (mut bias, mut square) = (0.0, 0.0);
    let power = |p: f64, times: f64| {
        if times == 0.0 {
            0.0
        } else {
            times * libm::log(p)
        }
    };
    for ones in (0..=count).map(f64::from) {
        let ways = libm::lgamma(n + 1.0) - libm::lgamma(ones + 1.0) - libm::lgamma(n - ones + 1.0);
        let chance = libm::exp(ways + power(eta, ones) + power(1.0 - eta, n - ones));
        let off = scaled_variance(&[prior + ones, prior + n - ones]) - target;
        bias += chance * off;
        square += chance * off * off;
    }
    (bias, square.sqrt())
}
