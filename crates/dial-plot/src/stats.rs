//! Summaries of repeated trials: means, 95 % confidence bands, areas under curves.
//!
//! Values that are not finite count as missing: a trial that stopped early simply does not contribute further.

use std::borrow::Borrow;

/// Mean and 95 % confidence limits of the mean, one entry per query.
///
/// Where no trial has a value all three are NaN; where only one has, `low` and `high` equal `mean`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// Mean over the trials.
    pub mean: Vec<f64>,
    /// Lower end of the confidence interval of the mean.
    pub low: Vec<f64>,
    /// Upper end of the confidence interval of the mean.
    pub high: Vec<f64>,
}

impl Band {
    /// A curve with half the width of its intervals.
    pub fn around(mean: Vec<f64>, half_width: &[f64]) -> Self {
        let edge = |sign: f64| {
            let both = mean.iter().zip(half_width);
            both.map(|(m, h)| m + sign * h).collect()
        };
        Self {
            low: edge(-1.0),
            high: edge(1.0),
            mean,
        }
    }

    /// A curve without uncertainty: mean, low and high are all `values`.
    pub fn exact(values: Vec<f64>) -> Self {
        Self {
            low: values.clone(),
            high: values.clone(),
            mean: values,
        }
    }
}

/// Summary of a handful of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// How many finite values there were.
    pub count: usize,
    /// Their mean (NaN when there were none).
    pub mean: f64,
    /// Sample standard deviation, with `count - 1` in the denominator; 0 for a single value.
    pub deviation: f64,
    /// Half the width of the 95 % confidence interval of the mean; 0 for a single value.
    pub half_width: f64,
}

/// The band of the mean over `trials`, each a curve over the same queries.
///
/// The band is as long as the longest trial; shorter trials stop contributing at their end.
pub fn band<T: AsRef<[f64]>>(trials: impl IntoIterator<Item = T>) -> Band {
    let trials: Vec<T> = trials.into_iter().collect();
    let trials = || trials.iter().map(AsRef::as_ref);
    let length = trials().map(<[f64]>::len).max().unwrap_or(0);
    let mut band = Band::default();
    for query in 0..length {
        let Interval {
            mean, half_width, ..
        } = interval(trials().filter_map(|trial| trial.get(query)));
        band.mean.push(mean);
        band.low.push(mean - half_width);
        band.high.push(mean + half_width);
    }
    band
}

/// The band of two sets of trials together, from the band of each and its number of trials, none of which stopped early.
///
/// With squares `S = (n - 1) sd²` about each mean: `S = S_a + S_b + (mean_a - mean_b)² n_a n_b / (n_a + n_b)`.
pub fn pooled(a: (&Band, usize), b: (&Band, usize)) -> Band {
    let ([n, m], all) = ([a.1, b.1].map(|count| count as f64), a.1 + b.1);
    let squares = |(band, count): (&Band, usize), query: usize| match count {
        0 | 1 => 0.0,
        _ => {
            let error = (band.high[query] - band.mean[query]) / t_quantile(count - 1);
            error * error * (count * (count - 1)) as f64
        }
    };
    if a.1 == 0 || b.1 == 0 {
        return if a.1 == 0 { b.0.clone() } else { a.0.clone() };
    }
    let mut band = Band::default();
    for query in 0..a.0.mean.len().min(b.0.mean.len()) {
        let apart = b.0.mean[query] - a.0.mean[query];
        let mean = a.0.mean[query] + apart * m / (n + m);
        let total = squares(a, query) + squares(b, query) + apart * apart * n * m / (n + m);
        let half_width = t_quantile(all - 1) * (total / (all * (all - 1)) as f64).sqrt();
        band.mean.push(mean);
        band.low.push(mean - half_width);
        band.high.push(mean + half_width);
    }
    band
}

/// The sum of all values over their number; NaN when there are none.
pub fn mean(values: impl IntoIterator<Item: Borrow<f64>>) -> f64 {
    let mut count = 0;
    let counted = values.into_iter().inspect(|_| count += 1);
    let sum: f64 = counted.map(|value| *value.borrow()).sum();
    sum / f64::from(count)
}

/// Mean, spread and 95 % confidence interval of the finite ones among `values`.
pub fn interval(values: impl IntoIterator<Item: Borrow<f64>>) -> Interval {
    let values = values.into_iter().map(|value| *value.borrow());
    let finite: Vec<f64> = values.filter(|v| v.is_finite()).collect();
    let count = finite.len();
    if count == 0 {
        return Interval {
            count,
            mean: f64::NAN,
            deviation: f64::NAN,
            half_width: f64::NAN,
        };
    }
    // Shifted by the first value, so that equal values have exactly their own mean and no spread.
    let origin = finite[0];
    let shift = finite.iter().map(|v| v - origin).sum::<f64>() / count as f64;
    let mean = origin + shift;
    if count == 1 {
        return Interval {
            count,
            mean,
            deviation: 0.0,
            half_width: 0.0,
        };
    }
    let squares: f64 = finite
        .iter()
        .map(|v| (v - origin - shift) * (v - origin - shift))
        .sum();
    let deviation = (squares / (count - 1) as f64).sqrt();
    let half_width = t_quantile(count - 1) * deviation / (count as f64).sqrt();
    Interval {
        count,
        mean,
        deviation,
        half_width,
    }
}

/// Two-sided 95 % quantiles of Student's t for 1 to 12 degrees of freedom.
const T_TABLE: [f64; 12] = [
    12.706_204_736,
    4.302_652_730,
    3.182_446_305,
    2.776_445_105,
    2.570_581_836,
    2.446_911_851,
    2.364_624_252,
    2.306_004_135,
    2.262_157_163,
    2.228_138_852,
    2.200_985_160,
    2.178_812_830,
];

/// The 97.5 % quantile of Student's t: 95 % of the mass lies within plus or minus this.
///
/// A table up to 12 degrees of freedom, then the Cornish-Fisher series in 1/degrees (Abramowitz and Stegun,
/// 26.7.5), whose error there is below 3e-6. Zero degrees of freedom give infinity.
pub fn t_quantile(degrees: usize) -> f64 {
    /// 97.5 % quantile of the normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    match degrees {
        0 => return f64::INFINITY,
        1..=12 => return T_TABLE[degrees - 1],
        _ => {}
    }
    let z2 = Z * Z;
    let terms = [
        (z2 + 1.0) / 4.0,
        ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0,
        (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0,
        ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0,
    ];
    let series = terms
        .iter()
        .rev()
        .fold(0.0, |sum, term| (sum + term) / degrees as f64);
    Z * (1.0 + series)
}

/// Pearson's correlation; NaN where one side does not vary.
pub fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (p, q) = (mean(a), mean(b));
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(x, y)| f(x - p, y - q)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}

/// Area under the broken line through the points `(x, y)`, by the trapezoid rule.
///
/// Points that are not finite are skipped, so the line bridges them; fewer than two points have no area.
pub fn area_under(x: &[f64], y: &[f64]) -> f64 {
    let points = finite_points(x, y);
    points
        .windows(2)
        .map(|w| (w[1].0 - w[0].0) * (w[0].1 + w[1].1) / 2.0)
        .sum()
}

/// Mean height of the broken line: its area over its width, so that curves of any length compare.
///
/// A single point has its own height; no point at all gives NaN.
pub fn mean_height(x: &[f64], y: &[f64]) -> f64 {
    let points = finite_points(x, y);
    match (points.first(), points.last()) {
        (Some(first), Some(last)) if last.0 > first.0 => area_under(x, y) / (last.0 - first.0),
        (Some(first), _) => first.1,
        _ => f64::NAN,
    }
}

/// The first `x` at which the curve is at `level` or above, if it ever is: "labels needed to reach 90 %".
pub fn first_reaching(x: &[f64], y: &[f64], level: f64) -> Option<f64> {
    finite_points(x, y)
        .into_iter()
        .find(|point| point.1 >= level)
        .map(|point| point.0)
}

/// The points whose two coordinates are finite.
fn finite_points(x: &[f64], y: &[f64]) -> Vec<(f64, f64)> {
    x.iter()
        .copied()
        .zip(y.iter().copied())
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .collect()
}
