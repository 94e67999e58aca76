//! How high columns stand at their source, for all sources at once: how often a walk comes back.
//!
//! ```text
//! peak(x) = (d(x) + τ) G(x, x) >= 1,      G = A⁻¹,  A = L + τ I
//! push from x, in rounds: estimate g, residual r of A g = e_x;   wherever r > ρ at once:  g += r/(d + τ),  r goes to the neighbours
//! G(x, x) = g(x) + g·r + r·G r            for any g, as G is symmetric
//! r·G r  >= max(Σ r²/(d + τ), (Σ r)²/(c τ))      c: the nodes of the component
//! ```
//!
//! The last line stands in for r·G r, which is of second order in what is left, so a peak is never too high. G(x, x) is a
//! local thing: with ρ = 0.03 and the τ of `auto` some 50 to 200 pushes find it to 2 to 7 % (root mean square, eight pools of
//! 5,000). How near matters, because the best score of many is that of a peak found too low: random signs (Hutchinson 1990),
//! 16 vectors of which are off by 20 to 50 %, cost a tenth more errors than exact peaks, this costs none (`docs/research.md`).
//! All of a round at once, so that the order of the nodes decides nothing but the rounding.
//!
//! Cost: a push takes at least ρ τ/(d + τ) of the residual, which begins at 1, so there are at most (d_max + τ)/(τ ρ) of
//! them for a node, whatever n; for a tiny τ they are cut off, and the peak is only known to be no lower than what was found.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Result;

/// ρ: residuals up to this are left where they are.
const LEFT: f64 = 0.03;

/// After so many pushes no further round is begun.
const MOST: usize = 2_000;

/// Nodes between two looks at whether to go on.
const CHUNK: usize = 256;

/// The graph as far as it matters here: the degree of every node, τ, and how many nodes the component of a node has.
pub(crate) struct Ground<'a> {
    pub(crate) degrees: &'a [f64],
    pub(crate) tau: f64,
    pub(crate) size: &'a (dyn Fn(usize) -> usize + Sync),
}

impl Ground<'_> {
    fn diagonal(&self, node: usize) -> f64 {
        self.degrees[node] + self.tau
    }
}

/// The peaks, `row(x)` being the neighbours of x and the weights of the edges.
pub(crate) fn find<I: Iterator<Item = (u32, f64)>>(
    ground: &Ground<'_>,
    row: impl Fn(usize) -> I + Sync,
    control: &Control,
) -> Result<Vec<f64>> {
    let n = ground.degrees.len();
    let mut peaks = vec![0.0; n];
    control.start("measuring how far labels reach", n);
    peaks.par_chunks_mut(CHUNK).enumerate().try_for_each_init(
        || Walk::new(n),
        |walk, (chunk, peaks)| {
            peaks.iter_mut().enumerate().for_each(|(i, peak)| *peak = walk.peak(ground, &row, chunk * CHUNK + i));
            control.advance(peaks.len())
        },
    )?;
    control.finish();
    Ok(peaks)
}

/// Work space of a push. All of it is zero between uses.
struct Walk {
    /// g and r.
    estimate: Vec<f64>,
    residual: Vec<f64>,
    /// Nodes with a residual, at some time.
    met: Vec<u32>,
    known: Vec<bool>,
    /// Nodes to be pushed in this round, and what they add to their estimate.
    front: Vec<u32>,
    steps: Vec<(u32, f64)>,
}

impl Walk {
    fn new(n: usize) -> Walk {
        let (estimate, residual, known) = (vec![0.0; n], vec![0.0; n], vec![false; n]);
        Walk { estimate, residual, met: Vec::new(), known, front: Vec::new(), steps: Vec::new() }
    }

    fn peak<I: Iterator<Item = (u32, f64)>>(&mut self, ground: &Ground<'_>, row: impl Fn(usize) -> I, x: usize) -> f64 {
        self.add(x as u32, 1.0);
        let mut pushes = 0;
        while !self.front.is_empty() && pushes < MOST {
            pushes += self.front.len();
            for node in self.front.drain(..) {
                let i = node as usize;
                let step = std::mem::take(&mut self.residual[i]) / ground.diagonal(i);
                self.estimate[i] += step;
                self.steps.push((node, step));
            }
            let mut steps = std::mem::take(&mut self.steps);
            for (node, step) in steps.drain(..) {
                row(node as usize).for_each(|(neighbour, weight)| self.add(neighbour, weight * step));
            }
            self.steps = steps;
        }
        self.front.clear();
        let found = self.estimate[x];
        let (mut crossed, mut squares, mut sum) = (0.0, 0.0, 0.0);
        for node in self.met.drain(..) {
            let i = node as usize;
            self.known[i] = false;
            let (g, r) = (std::mem::take(&mut self.estimate[i]), std::mem::take(&mut self.residual[i]));
            crossed += g * r;
            squares += r * r / ground.diagonal(i);
            sum += r;
        }
        let rest = squares.max(sum * sum / ((ground.size)(x) as f64 * ground.tau));
        // Rounding may end a little below what a walk that never comes back has.
        (ground.diagonal(x) * (found + crossed + rest)).max(1.0)
    }

    fn add(&mut self, node: u32, value: f64) {
        let i = node as usize;
        if !std::mem::replace(&mut self.known[i], true) {
            self.met.push(node);
        }
        let before = self.residual[i];
        self.residual[i] += value;
        if before <= LEFT && self.residual[i] > LEFT {
            self.front.push(node);
        }
    }
}

/// The mean of values over each component.
pub(crate) fn means(component: impl Fn(usize) -> usize, sizes: &[usize], values: &[f64]) -> Vec<f64> {
    let mut means = vec![0.0; sizes.len()];
    values.iter().enumerate().for_each(|(node, value)| means[component(node)] += value);
    means.iter_mut().zip(sizes).for_each(|(mean, size)| *mean /= *size as f64);
    means
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The peaks of a graph of these edges, all of one component, and what a row says.
    fn peaks(n: usize, edges: &[(u32, u32, f64)], tau: f64) -> Vec<f64> {
        let row = |x: usize| {
            edges.iter().filter_map(move |&(a, b, w)| match x as u32 {
                x if x == a => Some((b, w)),
                x if x == b => Some((a, w)),
                _ => None,
            })
        };
        let degrees: Vec<f64> = (0..n).map(|x| row(x).map(|(_, w)| w).sum::<f64>()).collect();
        find(&Ground { degrees: &degrees, tau, size: &|_| n }, row, &Control::new()).unwrap()
    }

    #[test]
    fn two_nodes_by_hand() {
        // A = [[2, -1], [-1, 2]]: G(0, 0) = 2/3, times 2. What is left of e_0 after the last round, a residual of at most 0.03,
        // speaks with less than 0.03² times G.
        for peak in peaks(2, &[(0, 1, 1.0)], 1.0) {
            assert!(peak <= 4.0 / 3.0 && peak > 4.0 / 3.0 - 2.0 * 0.03 * 0.03, "{peak}");
        }
        assert_eq!(peaks(1, &[], 0.5), [1.0]);
    }

    #[test]
    fn a_walk_that_hardly_ends_is_cut_off() {
        // Two nodes and τ = 1e-6: G(0, 0) = (1 + τ)/(τ (2 + τ)), half a million; nearly all of it is the constant.
        let (tau, edges) = (1e-6, [(0, 1, 1.0)]);
        let want = (1.0 + tau) * (1.0 + tau) / (tau * (2.0 + tau));
        for peak in peaks(2, &edges, tau) {
            assert!(peak <= want * (1.0 + 1e-9) && peak > 0.999 * want, "{peak} is not {want}");
        }
    }
}
