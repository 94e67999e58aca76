//! The Bayesian reading of Dirichlet Learning (the paper's "Bayesian prior interpretation"), in the log domain.
//!
//! ```text
//! ln φ(α, z) = lnΓ(Σ α_i) - Σ lnΓ(α_i) + Σ (α_i - 1) ln z_i            (eq:pdf-dir)
//! ln w(x)    = Σ_z [lnΓ(Kα₀ + k(x,z)) - lnΓ(α₀ + k(x,z))]               centrality
//! ln s(P,x)  = ln Σ_y P_y(x) Π_z P_y(z)^k(x,z)                          alignment
//! ln π(P)    = Σ_z ln φ(α₀1, P(z)) + ln Σ_x w(x) s(P, x)  + constant    the prior of P
//! ```
//!
//! We differ from the print in two places. `eq:pdf-dir` has z_i^α_i and calls the reciprocal of the Beta function B(α);
//! here it is the Dirichlet density as everybody knows it. The paper prints w(x) upside down: it says that the ratio
//! grows with k(x,z), so that central nodes weigh more, and that is the ratio above ([`Centrality::Growing`]). The
//! printed one, its reciprocal, is there as [`Centrality::Printed`]. Throughout 0 ln 0 = 0, which is the paper's 0⁰ = 1.
//!
//! Costs, for n nodes and K classes: a density O(K), a centrality O(n), an alignment O(nK), a prior O(n²K).

use dial::words::words;

/// Which way round the centrality is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Centrality {
    /// Π Γ(Kα₀ + k)/Γ(α₀ + k), which grows with k as the paper's text says.
    #[default]
    Growing,
    /// Π Γ(α₀ + k)/Γ(Kα₀ + k), as the paper prints it.
    Printed,
}

words!(Centrality, "centrality", { Growing => "growing", Printed => "printed" });

/// The log density of a Dirichlet distribution at a point of the simplex.
///
/// On a face (some z_i = 0) it is +∞ where an α_i is below 1, -∞ where one is above, and not a number where both are.
///
/// # Panics
/// If the lengths differ.
pub fn ln_density(alpha: &[f64], z: &[f64]) -> f64 {
    assert_eq!(alpha.len(), z.len(), "one probability per class");
    let total = alpha.iter().fold(0.0, |sum, a| sum + a);
    alpha
        .iter()
        .zip(z)
        .fold(libm::lgamma(total), |sum, (&a, &z)| {
            sum - libm::lgamma(a) + times_ln(a - 1.0, z)
        })
}

/// The log centrality ln w(x) of a node with kernel values k(x, z) to every node.
pub fn ln_centrality(
    kernel: &[f64],
    n_classes: usize,
    prior_strength: f64,
    centrality: Centrality,
) -> f64 {
    let all = n_classes as f64 * prior_strength;
    let growing = kernel.iter().fold(0.0, |sum, k| {
        sum + (libm::lgamma(all + k) - libm::lgamma(prior_strength + k))
    });
    match centrality {
        Centrality::Growing => growing,
        Centrality::Printed => -growing,
    }
}

/// The log alignment ln s(P, K_x) of class probabilities (one row per node) with the kernel values of a node.
///
/// # Panics
/// If there is not one kernel value per row, or the node is none of them.
pub fn ln_alignment(probabilities: &[Vec<f64>], node: usize, kernel: &[f64]) -> f64 {
    assert_eq!(
        kernel.len(),
        probabilities.len(),
        "one kernel value per node"
    );
    let term = |class: usize| {
        let own = times_ln(1.0, probabilities[node][class]);
        kernel
            .iter()
            .zip(probabilities)
            .fold(own, |sum, (&k, row)| sum + times_ln(k, row[class]))
    };
    ln_sum(
        &(0..probabilities[node].len())
            .map(term)
            .collect::<Vec<f64>>(),
    )
}

/// The log prior ln π(P | α₀) of class probabilities, up to a constant that P does not change.
///
/// Row x of the kernel holds k(x, ·). With α₀ = 1 the first product is constant, so vertices of the simplex have a
/// finite prior there and only there.
///
/// # Panics
/// If the kernel is not square, or has not one row per node.
pub fn ln_prior(
    probabilities: &[Vec<f64>],
    kernel: &[Vec<f64>],
    prior_strength: f64,
    centrality: Centrality,
) -> f64 {
    assert_eq!(
        kernel.len(),
        probabilities.len(),
        "one row of the kernel per node"
    );
    let density = |row: &Vec<f64>| ln_density(&vec![prior_strength; row.len()], row);
    let densities = probabilities
        .iter()
        .fold(0.0, |sum, row| sum + density(row));
    let term = |(node, row): (usize, &Vec<f64>)| {
        let weight = ln_centrality(row, probabilities[node].len(), prior_strength, centrality);
        weight + ln_alignment(probabilities, node, row)
    };
    densities + ln_sum(&kernel.iter().enumerate().map(term).collect::<Vec<f64>>())
}

/// a ln z with 0 ln 0 = 0.
fn times_ln(a: f64, z: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a * libm::log(z) }
}

/// ln Σ exp of the terms; -∞ where all are.
fn ln_sum(terms: &[f64]) -> f64 {
    let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !most.is_finite() {
        return most;
    }
    most + libm::log(
        terms
            .iter()
            .fold(0.0, |sum, term| sum + libm::exp(term - most)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two clusters of three and two nodes that the kernel tells apart (Example ex:kernel-prob-alignment).
    fn two_clusters() -> Vec<Vec<f64>> {
        let cluster = |x: usize| usize::from(x >= 3);
        let row = |x: usize| {
            (0..5)
                .map(|z| f64::from(u8::from(cluster(x) == cluster(z))))
                .collect()
        };
        (0..5).map(row).collect()
    }

    /// Class 1 with the given probability at each node, class 0 otherwise.
    fn binary(of_class_1: [f64; 5]) -> Vec<Vec<f64>> {
        of_class_1.iter().map(|p| vec![1.0 - p, *p]).collect()
    }

    #[test]
    fn densities_by_hand() {
        // Dir(2, 1) at (1/4, 3/4): Γ(3)/(Γ(2)Γ(1)) · 1/4 = 1/2. Uniform on the simplex of 3 classes: Γ(3) = 2.
        assert!((ln_density(&[2.0, 1.0], &[0.25, 0.75]) - libm::log(0.5)).abs() < 1e-15);
        assert!((ln_density(&[1.0; 3], &[0.2, 0.3, 0.5]) - libm::log(2.0)).abs() < 1e-15);
        assert!(
            (ln_density(&[1.0; 3], &[1.0, 0.0, 0.0]) - libm::log(2.0)).abs() < 1e-15,
            "at a vertex"
        );
        assert_eq!(ln_density(&[2.0, 1.0], &[0.0, 1.0]), f64::NEG_INFINITY);
        assert_eq!(ln_density(&[0.5, 1.0], &[0.0, 1.0]), f64::INFINITY);
    }

    #[test]
    fn densities_integrate_to_one() {
        // The midpoint rule over Dir(2.5, 1.5), whose density is smooth enough for it.
        let steps = 20_000;
        let middle = |i: i32| (f64::from(i) + 0.5) / f64::from(steps);
        let sum: f64 = (0..steps)
            .map(middle)
            .map(|z| libm::exp(ln_density(&[2.5, 1.5], &[z, 1.0 - z])))
            .sum();
        assert!((sum / f64::from(steps) - 1.0).abs() < 1e-5, "{sum}");
    }

    #[test]
    fn clusters_and_probabilities_that_agree() {
        let (kernel, aligned) = (two_clusters(), binary([0.0, 0.0, 0.0, 1.0, 1.0]));
        for (x, row) in kernel.iter().enumerate() {
            assert_eq!(ln_alignment(&aligned, x, row), 0.0, "s = 1");
        }
        // α₀ = 1, K = 2: Γ(2 + k)/Γ(1 + k) is 2 inside the cluster and 1 outside. w is 2³ at three nodes, 2² at two.
        let weights: Vec<f64> = kernel
            .iter()
            .map(|row| ln_centrality(row, 2, 1.0, Centrality::Growing))
            .collect();
        let want = [8.0, 8.0, 8.0, 4.0, 4.0].map(libm::log);
        assert!(
            weights
                .iter()
                .zip(want)
                .all(|(got, want)| (got - want).abs() < 1e-14),
            "{weights:?}"
        );
        // The prior is Π φ · Σ w = 1 · 32, and 3/8 + 2/4 = 7/8 as printed.
        assert!(
            (ln_prior(&aligned, &kernel, 1.0, Centrality::Growing) - libm::log(32.0)).abs() < 1e-14
        );
        assert!(
            (ln_prior(&aligned, &kernel, 1.0, Centrality::Printed) - libm::log(0.875)).abs()
                < 1e-14
        );
    }

    #[test]
    fn clusters_and_probabilities_that_do_not() {
        let (kernel, split) = (two_clusters(), binary([1.0, 0.0, 0.0, 1.0, 0.0]));
        for (x, row) in kernel.iter().enumerate() {
            assert_eq!(ln_alignment(&split, x, row), f64::NEG_INFINITY, "s = 0");
        }
        assert_eq!(
            ln_prior(&split, &kernel, 1.0, Centrality::Growing),
            f64::NEG_INFINITY
        );
        // Half and half everywhere: s = 2 · 1/2 · (1/2)³ in the larger cluster.
        let even = binary([0.5; 5]);
        assert!((ln_alignment(&even, 0, &kernel[0]) - libm::log(0.125)).abs() < 1e-15);
    }

    #[test]
    fn centrality_grows_with_the_kernel() {
        for alpha in [0.01, 1.0, 7.0] {
            let at = |k: f64, centrality| ln_centrality(&[k], 3, alpha, centrality);
            assert!(at(0.9, Centrality::Growing) > at(0.1, Centrality::Growing));
            assert!(at(0.9, Centrality::Printed) < at(0.1, Centrality::Printed));
        }
    }

    #[test]
    fn many_nodes_do_not_underflow() {
        // s = (1/2)^5000 is far below the smallest double; its logarithm is not.
        let probabilities = vec![vec![0.5, 0.5]; 5000];
        let got = ln_alignment(&probabilities, 0, &vec![1.0; 5000]);
        assert!((got - 5000.0 * libm::log(0.5)).abs() < 1e-8, "{got}");
    }
}
