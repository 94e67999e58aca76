//! Multinomial logistic regression with a ridge penalty: the minimum, from the labelled rows alone.
//!
//! ```text
//! minimise   Σ_l [ln Σ_c exp(f_c(x_l)) - Σ_c y_lc f_c(x_l)] + ½ Σ_c |w_c|²,      f_c(x) = w_c·x + b_c
//! ```
//!
//! with an intercept without penalty, as scikit-learn's `LogisticRegression` has it at its default C = 1. y is the list of
//! class weights of a label, scaled to sum 1.
//!
//! The minimum has w_c = Σ_l a_lc x_l (the representer theorem: a = y - p there). So a few hundred labels need products
//! between labels only, for any number of features: G_lm = x_l·x_m, f(x_l) = (G a)_l + b; where there are more labels than
//! features, G a = X (Xᵀ a). The minimum is found by L-BFGS in the metric of the w's, ⟨a, a'⟩ = Σ a·(G a'), where the
//! gradient is simply a + p - y; a search along the direction costs O(L K), since f is linear in it. It starts at 0 and stops
//! when the gradient has shrunk 1e-8-fold, so that the result depends on rows and labels only.
//!
//! Cost for L labels: O(L² d) for G, O(L min(L, d) K) a step (some tens of steps).

/// L-BFGS stops when the gradient has shrunk to this share of the first one, or after this many steps.
const GRADIENT_SHARE: f64 = 1e-8;
const MAX_STEPS: usize = 500;

/// Pairs of steps and gradients that L-BFGS remembers.
const LBFGS_PAIRS: usize = 12;

/// The weights (one row per coordinate) and the intercepts that fit rows of equal length with shares of the classes, one or
/// more.
pub(crate) fn fit(rows: &[&[f64]], shares: Vec<Vec<f64>>) -> (Vec<f64>, Vec<f64>) {
    let (dim, width) = (rows[0].len(), shares[0].len());
    // Beyond as many labels as coordinates two thin products cost less than G.
    let gram = (rows.len() <= dim).then(|| {
        rows.iter()
            .flat_map(|x| rows.iter().map(|y| product(x, y)))
            .collect()
    });
    let problem = Problem {
        rows,
        width,
        gram,
        target: shares.concat(),
    };
    let Vector { a, b, .. } = problem.solve();
    (problem.weights(&a), b)
}

/// exp(f)/Σ exp(f), in place; returns ln Σ exp(f).
pub(crate) fn softmax(f: &mut [f64]) -> f64 {
    let most = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    f.iter_mut().for_each(|f| *f = libm::exp(*f - most));
    let total = f.iter().fold(0.0, |sum, e| sum + e);
    f.iter_mut().for_each(|f| *f /= total);
    most + libm::log(total)
}

/// x·y, summed in four lanes, which the compiler turns into vector instructions without changing a bit.
pub(crate) fn product(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (x4, y4) = (x.chunks_exact(4), y.chunks_exact(4));
    for (lane, (a, b)) in x4.remainder().iter().zip(y4.remainder()).enumerate() {
        sums[lane] = a * b;
    }
    for (a, b) in x4.zip(y4) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// What is minimised: rows and targets of the labels.
struct Problem<'a> {
    rows: &'a [&'a [f64]],
    width: usize,
    /// The products of the rows, where they are few.
    gram: Option<Vec<f64>>,
    target: Vec<f64>,
}

/// A point or a direction: a, G a, and the intercepts.
#[derive(Clone, Debug)]
struct Vector {
    a: Vec<f64>,
    ga: Vec<f64>,
    b: Vec<f64>,
}

impl Vector {
    /// ⟨self, other⟩.
    fn dot(&self, other: &Vector) -> f64 {
        product(&self.a, &other.ga) + product(&self.b, &other.b)
    }

    /// self += factor other.
    fn add(&mut self, factor: f64, other: &Vector) {
        let parts = [
            (&mut self.a, &other.a),
            (&mut self.ga, &other.ga),
            (&mut self.b, &other.b),
        ];
        for (mine, other) in parts {
            mine.iter_mut()
                .zip(other)
                .for_each(|(x, y)| *x += factor * y);
        }
    }

    fn scale(&mut self, factor: f64) {
        [&mut self.a, &mut self.ga, &mut self.b]
            .into_iter()
            .flatten()
            .for_each(|x| *x *= factor);
    }
}

impl Problem<'_> {
    /// The minimum.
    fn solve(&self) -> Vector {
        let blank = || vec![0.0; self.rows.len() * self.width];
        let mut at = Vector {
            a: blank(),
            ga: blank(),
            b: vec![0.0; self.width],
        };
        let mut gradient = self.gradient(&at);
        let enough = GRADIENT_SHARE * gradient.dot(&gradient).sqrt();
        let mut memory: Vec<(Vector, Vector, f64)> = Vec::new();
        for _ in 0..MAX_STEPS {
            if gradient.dot(&gradient).sqrt() <= enough {
                break;
            }
            let mut step = downhill(&gradient, &memory);
            step.scale(self.how_far(&at, &step, gradient.dot(&step), memory.is_empty()));
            at.add(1.0, &step);
            let next = self.gradient(&at);
            let mut turn = next.clone();
            turn.add(-1.0, &gradient);
            gradient = next;
            let curvature = step.dot(&turn);
            // Not above 0 only where rounding is all that is left.
            if curvature <= 0.0 {
                break;
            }
            if memory.len() == LBFGS_PAIRS {
                memory.remove(0);
            }
            memory.push((step, turn, 1.0 / curvature));
        }
        at
    }

    /// The gradient: a + p - y, and Σ_l (p - y) for the intercepts.
    fn gradient(&self, at: &Vector) -> Vector {
        let mut rest = at.ga.clone();
        for (f, y) in rest
            .chunks_exact_mut(self.width)
            .zip(self.target.chunks_exact(self.width))
        {
            f.iter_mut().zip(&at.b).for_each(|(f, b)| *f += b);
            softmax(f);
            f.iter_mut().zip(y).for_each(|(p, y)| *p -= y);
        }
        let mut b = vec![0.0; self.width];
        rest.chunks_exact(self.width)
            .for_each(|rest| b.iter_mut().zip(rest).for_each(|(sum, r)| *sum += r));
        let mut ga = self.times_gram(&rest);
        ga.iter_mut().zip(&at.ga).for_each(|(g, f)| *g += f);
        rest.iter_mut().zip(&at.a).for_each(|(r, a)| *r += a);
        Vector { a: rest, ga, b }
    }

    /// Σ_l a_lc x_l: one row per coordinate.
    fn weights(&self, a: &[f64]) -> Vec<f64> {
        let mut weights = vec![0.0; self.rows[0].len() * self.width];
        for (row, a) in self.rows.iter().zip(a.chunks_exact(self.width)) {
            for (x, weights) in row.iter().zip(weights.chunks_exact_mut(self.width)) {
                weights.iter_mut().zip(a).for_each(|(w, a)| *w += x * a);
            }
        }
        weights
    }

    fn times_gram(&self, a: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; a.len()];
        let weights;
        let (products, right): (Vec<&[f64]>, &[f64]) = match &self.gram {
            Some(gram) => (gram.chunks_exact(self.rows.len()).collect(), a),
            None => {
                weights = self.weights(a);
                (self.rows.to_vec(), &weights)
            }
        };
        for (out, row) in out.chunks_exact_mut(self.width).zip(products) {
            for (g, a) in row.iter().zip(right.chunks_exact(self.width)) {
                out.iter_mut().zip(a).for_each(|(sum, a)| *sum += g * a);
            }
        }
        out
    }

    /// Slope and curvature of the objective along a direction, at t.
    fn along(&self, at: &Vector, step: &Vector, t: f64) -> (f64, f64) {
        let long = step
            .a
            .iter()
            .zip(&step.ga)
            .fold(0.0, |sum, (a, ga)| sum + a * ga);
        let (mut slope, mut curvature) = (product(&at.a, &step.ga) + t * long, long);
        let mut p = vec![0.0; self.width];
        for l in 0..self.rows.len() {
            let place = l * self.width..(l + 1) * self.width;
            let (f, df, y) = (
                &at.ga[place.clone()],
                &step.ga[place.clone()],
                &self.target[place],
            );
            for c in 0..self.width {
                p[c] = f[c] + at.b[c] + t * (df[c] + step.b[c]);
            }
            softmax(&mut p);
            let (mut mean, mut square) = (0.0, 0.0);
            for c in 0..self.width {
                let d = df[c] + step.b[c];
                slope += (p[c] - y[c]) * d;
                mean += p[c] * d;
                square += p[c] * d * d;
            }
            curvature += square - mean * mean;
        }
        (slope, curvature)
    }

    /// A step length at which the slope is at most a tenth of what it was; the first step is measured by the curvature.
    fn how_far(&self, at: &Vector, step: &Vector, slope: f64, first: bool) -> f64 {
        let mut t = if first {
            -slope / self.along(at, step, 0.0).1
        } else {
            1.0
        };
        let (mut low, mut high) = (0.0, f64::INFINITY);
        for _ in 0..30 {
            let (here, curvature) = self.along(at, step, t);
            if here.abs() <= 0.1 * slope.abs() {
                break;
            }
            if here < 0.0 {
                low = t
            } else {
                high = t
            }
            let newton = t - here / curvature;
            let halved = if high < f64::INFINITY {
                0.5 * (low + high)
            } else {
                2.0 * t
            };
            t = if newton > low && newton < high {
                newton
            } else {
                halved
            };
        }
        t
    }
}

/// The direction of L-BFGS: minus the gradient, corrected by the curvature along the last steps.
fn downhill(gradient: &Vector, memory: &[(Vector, Vector, f64)]) -> Vector {
    let mut q = gradient.clone();
    let mut factors = Vec::with_capacity(memory.len());
    for (step, turn, inverse) in memory.iter().rev() {
        let factor = inverse * step.dot(&q);
        q.add(-factor, turn);
        factors.push(factor);
    }
    if let Some((_, turn, inverse)) = memory.last() {
        q.scale(1.0 / (inverse * turn.dot(turn)));
    }
    for ((step, turn, inverse), factor) in memory.iter().zip(factors.iter().rev()) {
        let back = inverse * turn.dot(&q);
        q.add(factor - back, step);
    }
    q.scale(-1.0);
    q
}
