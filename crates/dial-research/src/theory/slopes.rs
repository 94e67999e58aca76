//! Slopes of power laws: least squares in logarithms, with Student's interval.

use dial_plot::stats::t_quantile;

/// A power law y = c x^exponent, fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// The exponent.
    pub exponent: f64,
    /// Half the width of its 95 % interval, from the scatter of the points about the line.
    pub half_width: f64,
    /// c.
    pub factor: f64,
}

impl Slope {
    /// Whether a value lies in the interval.
    pub fn holds(&self, exponent: f64) -> bool {
        (self.exponent - exponent).abs() <= self.half_width
    }

    /// The exponent with its interval, for people.
    pub fn words(&self) -> String {
        format!("{:.3} ± {:.3}", self.exponent, self.half_width).replace('-', "−")
    }
}

/// The power law through points with positive coordinates; others are left out. Fewer than three points have an
/// infinite interval, fewer than two no slope.
pub fn fit(x: &[f64], y: &[f64]) -> Slope {
    let points: Vec<(f64, f64)> = x
        .iter()
        .zip(y)
        .filter(|(x, y)| **x > 0.0 && **y > 0.0)
        .map(|(x, y)| (libm::log(*x), libm::log(*y)))
        .collect();
    let count = points.len() as f64;
    let mean = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / count;
    let (mx, my) = (mean(&|p| p.0), mean(&|p| p.1));
    let spread = points.iter().map(|p| (p.0 - mx) * (p.0 - mx)).sum::<f64>();
    let exponent = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / spread;
    let left: f64 = points
        .iter()
        .map(|p| p.1 - my - exponent * (p.0 - mx))
        .map(|r| r * r)
        .sum();
    let degrees = points.len().saturating_sub(2);
    let error = if degrees > 0 {
        (left / degrees as f64 / spread).sqrt()
    } else {
        1.0
    };
    Slope {
        exponent,
        half_width: t_quantile(degrees) * error,
        factor: libm::exp(my - exponent * mx),
    }
}

/// The exponent of the power law through points.
pub fn power(points: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    fit(&x, &y).exponent
}
