//! How high columns stand at their source, for all sources at once.
//!
//! ```text
//! peak(x) = (d(x) + τ) G(x, x) >= 1,      G = (L + τ I)⁻¹
//! G(x, x) = E[z(x) (G (z - z̄))(x)] + 1/(c τ)      z random signs, z̄ their mean over the component of x, c nodes
//! ```
//!
//! Hutchinson's estimate (1990) of a diagonal, from 16 vectors z. The constant of a component, which G takes to 1/(c τ), is
//! taken out first: on a small component it is most of G, and would be most of the noise.

use crate::control::Control;
use crate::error::Result;
use crate::seed::{Purpose, Random};

/// Vectors of random signs.
const PROBES: u64 = 16;

/// The graph as far as it matters here: the component of every node, their sizes, and d + τ.
pub(crate) struct Ground<'a> {
    pub(crate) component: &'a dyn Fn(usize) -> usize,
    pub(crate) sizes: Vec<usize>,
    pub(crate) diagonal: Vec<f64>,
    pub(crate) tau: f64,
}

/// The peaks, `spread(values)` being (D + τ I) G values.
pub(crate) fn estimate(
    ground: &Ground<'_>,
    spread: impl Fn(&[f64]) -> Result<Vec<f64>>,
    control: &Control,
) -> Result<Vec<f64>> {
    let n = ground.diagonal.len();
    let mut sums = vec![0.0; n];
    control.start("measuring how far labels reach", PROBES as usize);
    for probe in 0..PROBES {
        let mut random = Random::new(0, Purpose::Signs, probe);
        let signs: Vec<f64> = (0..n).map(|_| if random.uniform() < 0.5 { -1.0 } else { 1.0 }).collect();
        let means = means(ground.component, &ground.sizes, &signs);
        let centred: Vec<f64> = (0..n).map(|node| signs[node] - means[(ground.component)(node)]).collect();
        let spread = spread(&centred)?;
        sums.iter_mut().zip(signs.iter().zip(spread)).for_each(|(sum, (sign, value))| *sum += sign * value);
        control.advance(1)?;
    }
    control.finish();
    let constant = |node: usize| ground.diagonal[node] / (ground.sizes[(ground.component)(node)] as f64 * ground.tau);
    let peak = |(node, sum): (usize, &f64)| (sum / PROBES as f64 + constant(node)).max(1.0);
    Ok(sums.iter().enumerate().map(peak).collect())
}

/// The mean of values over each component.
pub(crate) fn means(component: impl Fn(usize) -> usize, sizes: &[usize], values: &[f64]) -> Vec<f64> {
    let mut means = vec![0.0; sizes.len()];
    values.iter().enumerate().for_each(|(node, value)| means[component(node)] += value);
    means.iter_mut().zip(sizes).for_each(|(mean, size)| *mean /= *size as f64);
    means
}
