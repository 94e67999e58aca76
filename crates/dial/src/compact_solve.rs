//! Global solves on the compact graph: conjugate gradients over all places, for what a local solve cannot do.
//!
//! ```text
//! (L̂ + τ I) g = e_l      as g₀ + 1/(c τ) on the component of l (c places), g₀ for the right-hand side e_l - 1/c
//! (L̂ + τ I) y = R        for any right-hand side: what is left of a class after pushing (`merged`)
//! ```
//!
//! The same rule as in `propagate`: the constant is taken out, so that small τ costs few iterations.

use std::sync::Mutex;

use crate::columns;
use crate::compact::CompactGraph;
use crate::control::Control;
use crate::error::Result;
use crate::laplacian::LinearOperator;
use crate::solve::{Stop, Workspace, conjugate_gradients};

/// L̂ + τ I of a compact graph, by place.
struct Shifted<'a> {
    graph: &'a CompactGraph,
    tau: f64,
}

impl LinearOperator for Shifted<'_> {
    fn n(&self) -> usize {
        self.graph.n()
    }

    #[inline]
    fn diagonal(&self, row: usize) -> f64 {
        self.graph.parts().degrees[row] + self.tau
    }

    fn product<const W: usize>(&self, first: usize, x: &[f64], out: &mut [f64]) {
        let parts = self.graph.parts();
        let (starts, neighbours, weights) = (&*parts.starts, &*parts.neighbours, &*parts.weights);
        let degrees = &parts.degrees[first..];
        let rows = out
            .chunks_exact_mut(W)
            .zip(starts[first..].windows(2))
            .zip(degrees)
            .zip(x[first * W..].chunks_exact(W));
        for (((out, bounds), degree), own) in rows {
            let row = bounds[0] as usize..bounds[1] as usize;
            let mut sums = [0.0; W];
            for (&j, &w) in neighbours[row.clone()].iter().zip(&weights[row]) {
                let values = &x[j as usize * W..(j as usize + 1) * W];
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum += f64::from(w) * value;
                }
            }
            for c in 0..W {
                out[c] = (degree + self.tau) * own[c] - sums[c];
            }
        }
    }
}

/// Solves over the whole compact graph, with work space kept between them.
#[derive(Debug, Default)]
pub(crate) struct GlobalSolver {
    spare: Mutex<Vec<Workspace>>,
}

/// Right-hand sides are solved together in blocks of this width.
const BLOCK: usize = 8;

impl GlobalSolver {
    /// (L̂ + τ I) y = b by place for several right-hand sides, each to a residual of 1e-9; `take` is called with the number
    /// of the side and its solution.
    pub(crate) fn solve_each(
        &self,
        graph: &CompactGraph,
        tau: f64,
        sides: &[&[f64]],
        control: &Control,
        mut take: impl FnMut(usize, &dyn Fn(usize) -> f64),
    ) -> Result<()> {
        let b = |side: usize, place: usize| sides[side][place];
        self.blocks(
            &Shifted { graph, tau },
            sides.len(),
            b,
            Stop::default(),
            control,
            |side, solution| take(side, solution),
        )
    }

    /// (D + τ I)(L̂ + τ I)⁻¹ values by place, to a residual relative to the values.
    pub(crate) fn spread(
        &self,
        graph: &CompactGraph,
        tau: f64,
        values: &[f64],
        relative: f64,
        control: &Control,
    ) -> Result<Vec<f64>> {
        let parts = graph.parts();
        let component = |place: usize| parts.component[place] as usize;
        let sizes: Vec<usize> = parts
            .component_sizes
            .iter()
            .map(|&size| size as usize)
            .collect();
        let means = columns::means(component, &sizes, values);
        let b = |_: usize, place: usize| values[place] - means[component(place)];
        let norm = (0..values.len())
            .fold(0.0, |sum, place| sum + b(0, place) * b(0, place))
            .sqrt();
        // What is left of values that are all alike is rounding.
        let size = values
            .iter()
            .fold(0.0, |sum, value| sum + value * value)
            .sqrt();
        let residual = (relative * norm).max(1e-9 * size).max(f64::MIN_POSITIVE);
        let stop = Stop {
            residual,
            ..Stop::default()
        };
        let mut spread = Vec::new();
        self.blocks(
            &Shifted { graph, tau },
            1,
            b,
            stop,
            control,
            |_, solution| {
                let value = |place: usize| {
                    (solution(place) + means[component(place)] / tau) * (parts.degrees[place] + tau)
                };
                spread = (0..graph.n()).map(value).collect();
            },
        )?;
        Ok(spread)
    }

    /// The columns of G of some places: g by place, with a residual of at most 1e-9.
    pub(crate) fn greens(
        &self,
        graph: &CompactGraph,
        tau: f64,
        sources: &[usize],
        control: &Control,
    ) -> Result<Vec<Vec<f64>>> {
        let parts = graph.parts();
        let (component, sizes) = (&*parts.component, &*parts.component_sizes);
        let share = |source: usize| 1.0 / sizes[component[source] as usize] as f64;
        let b = |side: usize, place: usize| match sources[side] {
            source if place == source => 1.0 - share(source),
            source if component[place] == component[source] => -share(source),
            _ => 0.0,
        };
        let mut columns = Vec::with_capacity(sources.len());
        self.blocks(
            &Shifted { graph, tau },
            sources.len(),
            b,
            Stop::default(),
            control,
            |side, solution| {
                let (own, constant) = (component[sources[side]], share(sources[side]) / tau);
                let value = |place: usize| {
                    if component[place] == own {
                        solution(place) + constant
                    } else {
                        0.0
                    }
                };
                columns.push((0..graph.n()).map(value).collect());
            },
        )?;
        Ok(columns)
    }

    fn blocks(
        &self,
        operator: &Shifted<'_>,
        count: usize,
        b: impl Fn(usize, usize) -> f64 + Sync,
        stop: Stop,
        control: &Control,
        mut take: impl FnMut(usize, &dyn Fn(usize) -> f64),
    ) -> Result<()> {
        let mut workspace = self
            .spare
            .lock()
            .expect("no holder panics")
            .pop()
            .unwrap_or_default();
        let mut first = 0;
        while first < count {
            // A block costs about as much as three single solves.
            let width = if count - first > 3 {
                BLOCK.min(count - first)
            } else {
                1
            };
            let side = |row: usize, c: usize| if c < width { b(first + c, row) } else { 0.0 };
            rayon::scope(|_| match width {
                1 => conjugate_gradients::<1>(operator, side, stop, &mut workspace, control)
                    .map(drop),
                _ => conjugate_gradients::<BLOCK>(operator, side, stop, &mut workspace, control)
                    .map(drop),
            })?;
            let (solution, stride) = (workspace.solution(), if width == 1 { 1 } else { BLOCK });
            for c in 0..width {
                take(first + c, &|place| solution[place * stride + c]);
            }
            first += width;
        }
        self.spare.lock().expect("no holder panics").push(workspace);
        Ok(())
    }
}
