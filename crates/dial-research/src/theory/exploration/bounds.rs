//! The exploration guarantee (Proposition `prop:cluster-exploration`, `eq:const-exploration-bound`) as functions of its
//! parameters: as printed, mended, and sharpened.
//!
//! With a = α₀, and x after J labels, one in each of J sets of a (δ, ζ, ε) separator with K <= 1, the proof needs
//!
//! ```text
//! A_unl <= A_var(x) for x in a set without a label      α_k in [a, a + ε]
//! A_lab >= A_var(x) for x in a set with one             α_own in [a + ζ, a + 1], the others in [a, a + ε]
//! A_back >= A_var(x) everywhere                         α_k >= a
//! ```
//!
//! ```text
//!            printed                                                       provable ([`corrected`])
//! A_unl      K(K+1) a² / (K² (a+ε)² (K(a+ε)+1))                            K(K-1) a² / (the same)
//! A_lab      (4(K-1)(a+ε)(a+1) + K(K-1)(a+ε)²) / ((Ka+ζ)² (Ka+ζ+1))         (2(K-1)(a+ε)(a+1) + (K-1)(K-2)(a+ε)²) / (the same)
//! A_back     (K+1)(a+1)² / (K a² (Ka+1))                                   (K-1) / (K (Ka+1))
//! ```
//!
//! A_var = (β² - Σ α²) / (β² (β + 1)); β² - Σ α² has K(K-1) terms, not K(K+1), hence A_unl. The printed 2 Σ_{i≠k} counts
//! every pair twice, which does no harm above; A_back is at the mean 1/K and β = Ka. From A_lab and A_unl the paper
//! passes to C >= A_lab / A_unl, which needs K ε <= ζ (a factor (K(a+ε)+1)/(Ka+ζ+1) is dropped) and has A_unl in it.
//!
//! Both bounds are {1 - p e^{λP} - q e^{-λQ}}^K with p = δ/((1-δ)w), q = (1 - w(1-δ))/((1-δ)w), the brace clipped at 0.
//! [`stepwise`] bounds each of the K steps for itself: with u = (K-J) w (1-δ) the mass without a label,
//!
//! ```text
//! Π_J  u / (u + (1-δ-u) e^{λ(A_lab - A_unl)} + δ e^{λ(A_back - A_unl)}),   and 1 - δ for J = 0, when A_var is constant
//! ```
//!
//! A_unl and A_lab for J labels. This is exact for perfect separation and equal weights. The proof takes for granted
//! that an item of X_i has label i; counting all (x, y) with x outside of X_y as background mends that, their mass is at
//! most δ.

/// What the guarantee depends on, λ apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// K, the number of classes and clusters.
    pub classes: usize,
    /// α₀.
    pub prior: f64,
    /// δ.
    pub delta: f64,
    /// ζ.
    pub zeta: f64,
    /// ε.
    pub epsilon: f64,
    /// The smallest weight of a class.
    pub least_weight: f64,
}

impl Case {
    /// Perfect separation of K classes of equal weights with α₀ = 1/K² (Remark `rem:explain-bound`).
    pub fn perfect(classes: usize) -> Case {
        let k = classes as f64;
        Case {
            classes,
            prior: 1.0 / (k * k),
            delta: 0.0,
            zeta: 1.0,
            epsilon: 0.0,
            least_weight: 1.0 / k,
        }
    }

    fn k(&self) -> f64 {
        self.classes as f64
    }
}

/// The three bounds on the variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variances {
    /// Below A_var on sets without a label.
    pub unlabelled: f64,
    /// Above A_var on sets with a label.
    pub labelled: f64,
    /// Above A_var everywhere.
    pub background: f64,
}

/// A_unl, A_lab and A_back as printed.
pub fn printed(case: &Case) -> Variances {
    let Case {
        prior: a,
        zeta: z,
        epsilon: e,
        ..
    } = *case;
    let (k, far) = (case.k(), a + e);
    let total = k * a + z;
    Variances {
        unlabelled: k * (k + 1.0) * a * a / (k * k * far * far * (k * far + 1.0)),
        labelled: (4.0 * (k - 1.0) * far * (a + 1.0) + k * (k - 1.0) * far * far)
            / (total * total * (total + 1.0)),
        background: (k + 1.0) * (a + 1.0) * (a + 1.0) / (k * a * a * (k * a + 1.0)),
    }
}

/// A_unl, A_lab and A_back that hold, for any number of labels up to K.
pub fn corrected(case: &Case) -> Variances {
    after(case, case.classes)
}

/// The same after J labels, one in each of J sets: at most J classes have evidence.
pub fn after(case: &Case, labels: usize) -> Variances {
    let Case {
        prior: a,
        zeta: z,
        epsilon: e,
        ..
    } = *case;
    let (k, j) = (case.k(), labels as f64);
    let (most, least) = (k * a + j * e, k * a + z);
    let background = (k - 1.0) / (k * (k * a + 1.0));
    // β² - Σ α² at the upper corner: a + 1 once, a + ε for the J - 1 other classes with labels, a for the rest.
    let (beta, near) = (k * a + 1.0 + (j - 1.0).max(0.0) * e, (j - 1.0).max(0.0));
    let squares = (a + 1.0) * (a + 1.0) + near * (a + e) * (a + e) + (k - 1.0 - near) * a * a;
    Variances {
        unlabelled: k * (k - 1.0) * a * a / (most * most * (most + 1.0)),
        labelled: (beta * beta - squares) / (least * least * (least + 1.0)),
        background,
    }
}

/// C(α₀, ε, ζ, K) of `eq:const-exploration-bound` as printed.
pub fn constant(case: &Case) -> f64 {
    mended_constant(case) * (case.k() - 1.0) / (case.k() + 1.0)
}

/// C with the K - 1 of the right A_unl in place of K + 1.
pub fn mended_constant(case: &Case) -> f64 {
    let Case {
        prior: a,
        zeta: z,
        epsilon: e,
        ..
    } = *case;
    let (k, far) = (case.k(), a + e);
    let near = a + z / k;
    (1.0 + 4.0 * (a + 1.0) / (k * far)) * far * far * far * far / (a * a * near * near)
}

/// {1 - p e^{λP} - q e^{-λQ}}^K.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brace {
    /// p and P: what the share δ outside of all sets costs.
    pub outside: (f64, f64),
    /// q and Q: what sets that have a label cost; of no use unless Q > 0.
    pub again: (f64, f64),
    /// K.
    pub power: usize,
}

impl Brace {
    fn new(case: &Case, outside: f64, again: f64) -> Brace {
        let reached = (1.0 - case.delta) * case.least_weight;
        Brace {
            outside: (case.delta / reached, outside),
            again: ((1.0 - reached) / reached, again),
            power: case.classes,
        }
    }

    /// The probability it promises; 0 where the brace is not positive.
    pub fn value(&self, lambda: f64) -> f64 {
        let term = |factor: f64, rate: f64| match rate {
            _ if factor == 0.0 => 0.0,
            0.0 => factor,
            rate => factor * libm::exp(lambda * rate),
        };
        let brace = 1.0 - term(self.outside.0, self.outside.1) - term(self.again.0, -self.again.1);
        libm::pow(brace.max(0.0), self.power as f64)
    }

    /// Whether λ can help: Q > 0 (Remark `rem:explain-bound`: C < 1).
    pub fn is_meaningful(&self) -> bool {
        self.again.1 > 0.0
    }

    /// The λ >= 0 at which it is largest, ln(qQ / (pP)) / (P + Q): the brace is concave. Infinite if more never costs.
    pub fn best_lambda(&self) -> f64 {
        let ((p, rise), (q, fall)) = (self.outside, self.again);
        if fall <= 0.0 {
            0.0
        } else if p * rise <= 0.0 {
            f64::INFINITY
        } else {
            (libm::log(q * fall / (p * rise)) / (rise + fall)).max(0.0)
        }
    }
}

/// The bound of the Proposition, as printed.
pub fn printed_bound(case: &Case) -> Brace {
    let (k, a) = (case.k(), case.prior);
    let outside = (k + 1.0) * (2.0 * a + 1.0) / (k * a * a * (k * a + 1.0));
    Brace::new(
        case,
        outside,
        (1.0 - constant(case)) * printed(case).unlabelled,
    )
}

/// The bound of the same form that holds.
pub fn corrected_bound(case: &Case) -> Brace {
    let Variances {
        unlabelled,
        labelled,
        background,
    } = corrected(case);
    Brace::new(
        case,
        background - unlabelled,
        unlabelled - labelled.min(background),
    )
}

/// The last line of Remark `rem:explain-bound`: {1 - e^{-λ(K+1)/(2K(Kα₀+1))} / w}^K.
pub fn remark(case: &Case, lambda: f64) -> f64 {
    let k = case.k();
    let brace = 1.0
        - libm::exp(-lambda * (k + 1.0) / (2.0 * k * (k * case.prior + 1.0))) / case.least_weight;
    libm::pow(brace.max(0.0), k)
}

/// The product over the steps, which holds too and is larger.
pub fn stepwise(case: &Case, lambda: f64) -> f64 {
    let step = |labels: usize| {
        let Variances {
            unlabelled,
            labelled,
            background,
        } = after(case, labels);
        let fresh = (case.classes - labels) as f64 * case.least_weight * (1.0 - case.delta);
        let known = (1.0 - case.delta - fresh).max(0.0);
        let factor = |mass: f64, rate: f64| {
            if mass == 0.0 || rate == 0.0 {
                mass
            } else {
                mass * libm::exp(lambda * rate)
            }
        };
        let again = factor(known, labelled.min(background) - unlabelled);
        fresh / (fresh + again + factor(case.delta, background - unlabelled))
    };
    (1..case.classes).map(step).product::<f64>() * (1.0 - case.delta)
}

/// The λ in [0, `most`] at which [`stepwise`] is largest, by golden section: minus its logarithm is a sum of logarithms of
/// sums of exponentials in λ, hence convex.
pub fn best_stepwise(case: &Case, most: f64) -> f64 {
    let ratio = (5.0f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (0.0, most);
    for _ in 0..90 {
        let (left, right) = (high - ratio * (high - low), low + ratio * (high - low));
        if stepwise(case, left) < stepwise(case, right) {
            low = left
        } else {
            high = right
        }
    }
    0.5 * (low + high)
}

/// Perfect separation of K classes of equal weights: exactly the probability of K classes in K questions,
/// Π_J (K - J) / (K - J + J e^{-λ(A_unl - A_lab)}), A_lab at (a + 1, a, ..., a) and A_unl at (a, ..., a).
pub fn perfect(classes: usize, prior: f64, lambda: f64) -> f64 {
    let mut alpha = vec![prior; classes];
    let fresh = dial::belief::field::variance(&alpha);
    alpha[0] += 1.0;
    let ratio = libm::exp(lambda * (dial::belief::field::variance(&alpha) - fresh));
    let step = |j: usize| (classes - j) as f64 / ((classes - j) as f64 + j as f64 * ratio);
    (1..classes).map(step).product()
}
