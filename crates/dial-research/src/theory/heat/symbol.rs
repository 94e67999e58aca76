//! How far m backward Euler steps are from heat, for every self-adjoint operator at once.
//!
//! ```text
//! on an eigenvector of -Δ with value λ, x = tλ:   heat e^-x,   one step 1/(1 + x),   m steps (1 + x/m)^-m
//! E_m = max_x ((1 + x/m)^-m - e^-x)
//! ```
//!
//! so ‖(I - (t/m) Δ)^-m f - e^{tΔ} f‖ <= E_m ‖f‖ for every t, in the norm in which Δ is self-adjoint. The difference is
//! never negative; its maximum is where (m + 1) log(1 + x/m) = x. E_1 = 0.2036 at x = 2.513, and m E_m rises
//! towards max x² e^-x / 2 = 2 e^-2 = 0.2707 as m grows: first order.

/// (1 + x/m)^-m: what m backward Euler steps make of an eigenvector with tλ = x.
pub fn steps(x: f64, m: usize) -> f64 {
    let m = m as f64;
    libm::exp(-m * libm::log1p(x / m))
}

/// The x > 0 at which m steps and heat differ most: (m + 1) log(1 + x/m) = x, by bisection.
pub fn worst(m: usize) -> f64 {
    let steps = m as f64;
    // Positive between 0 and the root: the slope at 0 is (m + 1)/m > 1.
    let excess = |x: f64| (steps + 1.0) * libm::log1p(x / steps) - x;
    let (mut low, mut high) = (1.0, 10.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 {
            low = middle
        } else {
            high = middle
        }
    }
    0.5 * (low + high)
}

/// E_m: the norm of the difference of m backward Euler steps and heat at most, over all operators and times.
pub fn bound(m: usize) -> f64 {
    let x = worst(m);
    steps(x, m) - libm::exp(-x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_by_hand() {
        // (1 + x)² = e^x at 2.5129: 1/3.5129 - e^-2.5129 = 0.28466 - 0.08103.
        assert!((worst(1) - 2.512_862_4).abs() < 1e-6, "{}", worst(1));
        assert!((bound(1) - 0.203_63).abs() < 1e-5, "{}", bound(1));
        assert!((steps(3.0, 1) - 0.25).abs() < 1e-15 && (steps(3.0, 3) - 0.125).abs() < 1e-15);
    }

    #[test]
    fn nothing_exceeds_the_bound_and_it_falls_like_1_over_m() {
        for m in [1, 2, 5, 40] {
            let bound = bound(m);
            for i in 1..4000 {
                let x = 0.01 * f64::from(i);
                let apart = steps(x, m) - libm::exp(-x);
                assert!((0.0..=bound + 1e-15).contains(&apart), "{m} {x}");
            }
        }
        let limit = 2.0 * libm::exp(-2.0);
        assert!(
            (1e5 * bound(100_000) - limit).abs() < 1e-5 && (1e3 * bound(1000) - limit).abs() < 1e-3
        );
    }
}
