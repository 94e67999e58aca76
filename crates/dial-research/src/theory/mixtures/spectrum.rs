//! The spectrum on the line: -(1/ρ) div(ρ^p ∇) with Neumann ends, by finite volumes.
//!
//! ```text
//! λ_k of  M^-1/2 K M^-1/2,   M = diag(ρ_i h),   K = Σ_faces f (e_i - e_{i+1})(e_i - e_{i+1})ᵀ,   f = (ρ_i ρ_{i+1})^{p/2} / h
//! ```
//!
//! p = 1 is the operator that S, C and Θ belong to, p = 2 the one that the theory section writes elsewhere. λ_1 = 0; λ_K
//! of separated clusters may be 1e-20 where the largest is 1e4, so the usual solvers find only noise. But the matrix is
//! BᵀB with B of two diagonals (one row a face), and the square roots of its eigenvalues are the positive eigenvalues
//! of the matrix with zero diagonal that has the entries of B beside it. Sturm's sequence of that one counts with high
//! relative accuracy (Demmel and Kahan 1990), however small they are.

/// What stands inside the divergence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// ρ: (1/ρ) div(ρ ∇).
    Density,
    /// ρ²: (1/ρ) div(ρ² ∇).
    Square,
}

impl Inside {
    fn power(self) -> f64 {
        match self {
            Inside::Density => 1.0,
            Inside::Square => 2.0,
        }
    }
}

/// The squares of the entries of B, left and right of each face in turn.
fn couplings(log_density: &[f64], width: f64, inside: Inside) -> Vec<f64> {
    let face = |pair: &[f64]| {
        let middle = inside.power() * 0.5 * (pair[0] + pair[1]);
        [pair[0], pair[1]].map(|end| libm::exp(middle - end) / (width * width))
    };
    log_density.windows(2).flat_map(face).collect()
}

/// The k-th smallest eigenvalue (λ_1 = 0), to a relative accuracy near that of the arithmetic.
///
/// # Panics
/// If there are fewer than k cells.
pub fn eigenvalue(log_density: &[f64], width: f64, inside: Inside, k: usize) -> f64 {
    let n = log_density.len();
    assert!(k >= 1 && k <= n, "{n} cells have no eigenvalue {k}");
    if k == 1 {
        return 0.0;
    }
    let squares = couplings(log_density, width, inside);
    let roots: Vec<f64> = squares.iter().map(|b| b.sqrt()).collect();
    let most = roots
        .windows(2)
        .map(|pair| pair[0] + pair[1])
        .fold(roots[0], f64::max);
    // Below s lie n - 1 negative ones, the zero, and the singular values below s.
    let enough = |log_s: f64| below(&squares, libm::exp(log_s)) >= n + k - 1;
    let (mut low, mut high) = (libm::log(most) - 400.0, libm::log(most) + 1e-9);
    for _ in 0..62 {
        let middle = 0.5 * (low + high);
        if enough(middle) {
            high = middle
        } else {
            low = middle
        }
    }
    libm::exp(low + high)
}

/// How many eigenvalues of the symmetric matrix with zero diagonal and the roots of `squares` beside it are below s > 0.
fn below(squares: &[f64], s: f64) -> usize {
    let mut pivot = -s;
    let mut negative = 1;
    for b in squares {
        pivot = -s - b / pivot;
        if pivot == 0.0 {
            pivot = -f64::MIN_POSITIVE;
        }
        negative += usize::from(pivot < 0.0);
    }
    negative
}

/// Diagonal and off-diagonal of M^-1/2 K M^-1/2.
pub fn tridiagonal(log_density: &[f64], width: f64, inside: Inside) -> (Vec<f64>, Vec<f64>) {
    let squares = couplings(log_density, width, inside);
    let mut diagonal = vec![0.0; log_density.len()];
    let mut beside = Vec::with_capacity(diagonal.len() - 1);
    for (i, pair) in squares.chunks_exact(2).enumerate() {
        diagonal[i] += pair[0];
        diagonal[i + 1] += pair[1];
        beside.push(-(pair[0] * pair[1]).sqrt());
    }
    (diagonal, beside)
}
