//! Logistic regression on the features, the "linear probe" that is hard to beat on good features.
//!
//! ```text
//! minimise   Σ_l [ln Σ_c exp(f_c(x_l)) - Σ_c y_lc f_c(x_l)] + ½ Σ_c |w_c|²,      f_c(x) = w_c·x + b_c
//! u(x)     = softmax(f(x)) over the classes with labels; 0 for those without, 1/K before the first label
//! ```
//!
//! That is scikit-learn's multinomial `LogisticRegression` with its default C = 1, an intercept without penalty, and
//! `StandardScaler` before it: coordinates of mean 0 and variance 1 over the whole pool, labelled or not. y is the list
//! of class weights of a label, scaled to sum 1.
//!
//! The minimum has w_c = Σ_l a_lc x_l (the representer theorem: a = y - p there). So a few hundred labels need products
//! between labels only, for any number of features: G_lm = x_l·x_m, f(x_l) = (G a)_l + b. It is found by L-BFGS in
//! the metric of the w's, ⟨a, a'⟩ = Σ a·(G a'), where the gradient is simply a + p - y; a search along the direction
//! costs O(L K), since f is linear in it. It stops when the gradient has shrunk 1e-8-fold. Nothing is kept between calls.
//!
//! Cost for L labels: O(L² d) for G, O(L² K) a step (some tens of steps), then O(n d K) for all scores.

use rayon::prelude::*;

use crate::classifiers::Shares;
use crate::knn::points::Points;

/// L-BFGS stops when the gradient has shrunk to this share of the first one, or after this many steps.
const GRADIENT_SHARE: f64 = 1e-8;
const MAX_STEPS: usize = 500;

/// Pairs of steps and gradients that L-BFGS remembers.
const LBFGS_PAIRS: usize = 12;

/// Points per task.
const POINTS_PER_TASK: usize = 64;

/// Logistic regression on standardised points.
pub struct Logistic {
    points: Points,
}

impl Logistic {
    /// On points that are standardised already.
    pub fn new(points: Points) -> Logistic {
        Logistic { points }
    }

    /// The probabilities of every class at every point.
    pub fn scores(&self, given: &Shares) -> Vec<Vec<f64>> {
        let (n, k) = (self.points.n(), given.n_classes);
        let present: Vec<usize> = (0..k)
            .filter(|&c| given.shares.iter().any(|shares| shares[c] > 0.0))
            .collect();
        if present.is_empty() {
            return vec![vec![1.0 / k as f64; n]; k];
        }
        let width = present.len();
        let (weights, intercepts) = self.fit(given, &present);
        let mut all = vec![0.0; n * width];
        all.par_chunks_mut(POINTS_PER_TASK * width)
            .enumerate()
            .for_each(|(chunk, out)| {
                for (i, out) in (chunk * POINTS_PER_TASK..).zip(out.chunks_exact_mut(width)) {
                    out.copy_from_slice(&intercepts);
                    for (x, weights) in self.points.row(i).iter().zip(weights.chunks_exact(width)) {
                        out.iter_mut()
                            .zip(weights)
                            .for_each(|(sum, w)| *sum += x * w);
                    }
                    softmax(out);
                }
            });
        let mut planes = vec![vec![0.0; n]; k];
        for (place, &class) in present.iter().enumerate() {
            planes[class]
                .iter_mut()
                .enumerate()
                .for_each(|(i, p)| *p = all[i * width + place]);
        }
        planes
    }

    /// The weights (one row per coordinate) and intercepts of the classes that are present.
    fn fit(&self, given: &Shares, present: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let rows: Vec<&[f64]> = given
            .nodes
            .iter()
            .map(|node| self.points.row(node.index()))
            .collect();
        let gram = rows
            .iter()
            .flat_map(|x| rows.iter().map(|y| product(x, y)))
            .collect();
        let target = given
            .shares
            .iter()
            .flat_map(|shares| present.iter().map(|&class| shares[class]))
            .collect();
        let problem = Problem {
            labels: rows.len(),
            width: present.len(),
            gram,
            target,
        };
        let Vector { a, b, .. } = problem.solve();
        let mut weights = vec![0.0; self.points.dim() * present.len()];
        for (row, a) in rows.iter().zip(a.chunks_exact(present.len())) {
            for (x, weights) in row.iter().zip(weights.chunks_exact_mut(present.len())) {
                weights.iter_mut().zip(a).for_each(|(w, a)| *w += x * a);
            }
        }
        (weights, b)
    }
}

/// exp(f)/Σ exp(f), in place; returns ln Σ exp(f).
fn softmax(f: &mut [f64]) -> f64 {
    let most = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    f.iter_mut().for_each(|f| *f = libm::exp(*f - most));
    let total = f.iter().fold(0.0, |sum, e| sum + e);
    f.iter_mut().for_each(|f| *f /= total);
    most + libm::log(total)
}

fn product(x: &[f64], y: &[f64]) -> f64 {
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

/// What is minimised: products and targets of the labels, one row per label.
struct Problem {
    labels: usize,
    width: usize,
    gram: Vec<f64>,
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

impl Problem {
    /// The minimum.
    fn solve(&self) -> Vector {
        let blank = || vec![0.0; self.labels * self.width];
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

    fn times_gram(&self, a: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; a.len()];
        for (out, row) in out
            .chunks_exact_mut(self.width)
            .zip(self.gram.chunks_exact(self.labels))
        {
            for (g, a) in row.iter().zip(a.chunks_exact(self.width)) {
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
        for l in 0..self.labels {
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
