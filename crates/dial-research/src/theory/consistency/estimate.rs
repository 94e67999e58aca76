//! The estimated trend (`eq:eta-hat`), the classifier (`eq:dir-learning-classifier`), and how they do on a sample.
//!
//! ```text
//! η̂(x) = Σ Y_i k_t(X_i, x) / (n E_ρ[k_t(Z, x)])               expected normaliser: what the theorem is about
//! η̃(x) = Σ Y_i k_t(X_i, x) / Σ k_t(X_i, x)                    empirical one: the classifier is 1{η̃ >= 1/2}
//! F = ∫ |η̂ - η| ρ dx <= ∫ |E η̂ - η| ρ dx + ∫ |η̂ - E η̂| ρ dx    bias, and the variance part (eq:eta-decomp)
//! ```
//!
//! Below `eq:eta-hat` the paper says that the classifier is 1{η̂ >= 1/2}. It is not: the two normalisers differ, and
//! so do the decisions wherever Σ k_t(X_i, x) is not close to its mean. Both are judged here.
//!
//! On the interval and the square with uniform ρ sums of kernels are sums of cosines: one pass over the sample makes
//! coefficients, one over the grid values.

use std::f64::consts::PI;

use dial::seed::Random;

use super::kernel::{factor, modes};

/// How the estimate of one sample does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// F = ∫ |η̂ - η| ρ dx.
    pub error: f64,
    /// ∫ |η̂ - E η̂| ρ dx.
    pub centred: f64,
    /// ∫ |η̃ - η| ρ dx.
    pub ratio_error: f64,
    /// Excess risk of 1{η̂ >= 1/2}: ∫ |2η - 1| over the points where it differs from 1{η >= 1/2}.
    pub plug_in: f64,
    /// Excess risk of the classifier, 1{η̃ >= 1/2}.
    pub classifier: f64,
    /// The mass of the points where the two decide differently.
    pub disagreement: f64,
}

/// Judges an estimate on a grid: `mass` is ρ dx, `normaliser` `E_ρ k`, `numerator` Σ Y k / n, `denominator` Σ k / n.
/// Where there is no kernel at all both sums of the classifier are 0, η̃ counts as 1/2, and the classifier says 1.
pub fn judge(
    mass: &[f64],
    trend: &[f64],
    expected: &[f64],
    normaliser: &[f64],
    numerator: &[f64],
    denominator: &[f64],
) -> Judged {
    let mut judged = Judged {
        error: 0.0,
        centred: 0.0,
        ratio_error: 0.0,
        plug_in: 0.0,
        classifier: 0.0,
        disagreement: 0.0,
    };
    for i in 0..mass.len() {
        let hat = numerator[i] / normaliser[i];
        let ratio = if denominator[i] > 1e-12 {
            numerator[i] / denominator[i]
        } else {
            0.5
        };
        judged.error += mass[i] * (hat - trend[i]).abs();
        judged.centred += mass[i] * (hat - expected[i]).abs();
        judged.ratio_error += mass[i] * (ratio - trend[i]).abs();
        let best = trend[i] >= 0.5;
        let cost = mass[i] * (2.0 * trend[i] - 1.0).abs();
        judged.plug_in += if (hat >= 0.5) != best { cost } else { 0.0 };
        judged.classifier += if (ratio >= 0.5) != best { cost } else { 0.0 };
        judged.disagreement += if (hat >= 0.5) != (ratio >= 0.5) {
            mass[i]
        } else {
            0.0
        };
    }
    judged
}

/// The Bayes risk ∫ min(η, 1 - η) ρ dx on a grid.
pub fn bayes_risk(mass: &[f64], trend: &[f64]) -> f64 {
    mass.iter()
        .zip(trend)
        .map(|(m, eta)| m * eta.min(1.0 - eta))
        .sum()
}

/// The unit interval or square with uniform density and trend 1/2 + 1/4 Π cos(πx_i), on a grid of middles of cells,
/// with heat of one time.
#[derive(Clone, Debug)]
pub struct Cube {
    /// 1 or 2.
    pub dimension: usize,
    /// Cells to a side.
    pub side: usize,
    /// t.
    pub time: f64,
    /// η at the middles of the cells, the last coordinate running fastest.
    pub trend: Vec<f64>,
    /// For each middle along a side the cosines, each with its factor of heat and the 2 of its norm.
    table: Vec<f64>,
    modes: usize,
}

/// A sample: places (the first coordinate is 0 on the interval) and whether the label is 1.
pub type Sample = Vec<([f64; 2], bool)>;

impl Cube {
    /// A grid with a number of cells to a side.
    pub fn new(dimension: usize, side: usize, time: f64) -> Cube {
        let cosine: Vec<f64> = (0..side).map(|i| libm::cos(PI * middle(i, side))).collect();
        let trend = match dimension {
            1 => cosine.iter().map(|c| 0.5 + 0.25 * c).collect(),
            _ => cosine
                .iter()
                .flat_map(|a| cosine.iter().map(move |b| 0.5 + 0.25 * a * b))
                .collect(),
        };
        let modes = modes(time);
        let weights: Vec<f64> = (0..modes)
            .map(|m| if m == 0 { 1.0 } else { 2.0 * factor(m, time) })
            .collect();
        let mut table = vec![0.0; side * modes];
        for (row, cosine) in table.chunks_mut(modes).zip(&cosine) {
            cosines(*cosine, row);
            row.iter_mut()
                .zip(&weights)
                .for_each(|(value, weight)| *value *= weight);
        }
        Cube {
            dimension,
            side,
            time,
            trend,
            table,
            modes,
        }
    }

    /// E η̂ on the grid: the deviation of the trend from 1/2 shrinks by e^{-dπ²t}.
    pub fn expected(&self) -> Vec<f64> {
        let shrink = libm::exp(-(self.dimension as f64) * PI * PI * self.time);
        self.trend
            .iter()
            .map(|eta| 0.5 + shrink * (eta - 0.5))
            .collect()
    }

    /// dx of the cells.
    pub fn mass(&self) -> Vec<f64> {
        vec![1.0 / self.trend.len() as f64; self.trend.len()]
    }

    /// Draws labels: places uniform, classes from the trend.
    pub fn sample(&self, count: usize, random: &mut Random) -> Sample {
        let one = |_| {
            let x = if self.dimension > 1 {
                random.uniform()
            } else {
                0.0
            };
            let y = random.uniform();
            let trend = 0.5 + 0.25 * libm::cos(PI * x) * libm::cos(PI * y);
            ([x, y], random.uniform() < trend)
        };
        (0..count).map(one).collect()
    }

    /// The cosines along the first coordinate; on the interval the constant alone.
    fn first(&self) -> (&[f64], usize) {
        if self.dimension > 1 {
            (&self.table, self.modes)
        } else {
            (&[1.0], 1)
        }
    }

    /// Σ Y k / n and Σ k / n on the grid.
    pub fn sums(&self, sample: &Sample) -> [Vec<f64>; 2] {
        let (_, first) = self.first();
        let mut coefficients = [vec![0.0; first * self.modes], vec![0.0; first * self.modes]];
        let (mut u, mut v) = (vec![0.0; first], vec![0.0; self.modes]);
        for (place, one) in sample {
            cosines(libm::cos(PI * place[0]), &mut u);
            cosines(libm::cos(PI * place[1]), &mut v);
            let [ones, all] = &mut coefficients;
            for sums in [Some(all), one.then_some(ones)].into_iter().flatten() {
                for (a, row) in u.iter().zip(sums.chunks_mut(self.modes)) {
                    row.iter_mut().zip(&v).for_each(|(c, b)| *c += a * b);
                }
            }
        }
        coefficients.map(|coefficients| self.values(&coefficients, sample.len() as f64))
    }

    /// The values on the grid of a sum of cosines, over `count`.
    fn values(&self, coefficients: &[f64], count: f64) -> Vec<f64> {
        let (across, first) = self.first();
        let mut out = Vec::with_capacity(self.trend.len());
        for row in across.chunks(first) {
            let mut inner = vec![0.0; self.modes];
            for (a, part) in row.iter().zip(coefficients.chunks(self.modes)) {
                inner
                    .iter_mut()
                    .zip(part)
                    .for_each(|(sum, c)| *sum += a * c);
            }
            let at = |row: &[f64]| inner.iter().zip(row).map(|(c, b)| c * b).sum::<f64>() / count;
            out.extend(self.table.chunks(self.modes).map(at));
        }
        out
    }

    /// One sample and how its estimate does.
    pub fn repetition(&self, count: usize, random: &mut Random) -> Judged {
        let [numerator, denominator] = self.sums(&self.sample(count, random));
        let normaliser = vec![1.0; self.trend.len()];
        judge(
            &self.mass(),
            &self.trend,
            &self.expected(),
            &normaliser,
            &numerator,
            &denominator,
        )
    }
}

/// The middle of a cell of the unit interval.
pub fn middle(cell: usize, side: usize) -> f64 {
    (cell as f64 + 0.5) / side as f64
}

/// cos(mφ) for m = 0, 1, ... from cos φ.
fn cosines(cosine: f64, out: &mut [f64]) {
    for m in 0..out.len() {
        out[m] = match m {
            0 => 1.0,
            1 => cosine,
            _ => 2.0 * cosine * out[m - 1] - out[m - 2],
        };
    }
}
