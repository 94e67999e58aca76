//! Heat kernels and the Maximum Principle K(x, x') <= K(x, x) that the paper asks of a propagation.
//!
//! ```text
//! heat      g = exp(-tL) e_l;   may exceed g(l) elsewhere: p_t(x, z)² <= p_t(x, x) p_t(z, z) is all there is
//! Poisson   g = (L + τI)⁻¹ e_l  never does (the paper's Lemma)
//! ```
//!
//! Heat that has left a well-connected node is found, after a while, more at nodes that let it go less easily. In the plane
//! this is the rule. With p = 1 a short time t gives
//!
//! ```text
//! p_t(z, x) ≈ exp(-|x - z|²/4t) / (4πt √(ρ(x) ρ(z))),     grad_x log p_t at x = z:  -½ grad log ρ(z)
//! ```
//!
//! so the largest value lies off the source, downhill, wherever ρ has a slope. In practice (`dial::heat`) heat kernels are
//! clamped.

use std::sync::Arc;

use dial::config::PropagationKind;
use dial::linalg::eigen::Eigenpairs;
use dial::propagation::heat::Heat;
use dial::propagation::tau::Tau;
use dial::seed::{Purpose, Random};
use dial::{Config, Control, Features, Graph, Metric, NodeId, Propagation, Result, engine};
use rayon::prelude::*;

/// What is beyond rounding.
const MAXIMUM_ROUNDING: f64 = 1e-9;

/// How columns stand to their sources.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Exceeding {
    /// The share of the sources whose column exceeds its value there.
    pub sources: f64,
    /// The share of all entries that do.
    pub entries: f64,
    /// The largest value of any column over its value at the source.
    pub largest: f64,
    /// The share of the sources whose column is negative somewhere.
    pub negative: f64,
    /// The smallest value of any column over its value at the source.
    pub smallest: f64,
}

/// Counts over columns with their sources. Columns that are not positive at their source are left out of the ratios.
pub fn exceeding(columns: &[(usize, &[f64])]) -> Exceeding {
    let of = |&(source, column): &(usize, &[f64])| {
        let top = column[source];
        let above = column
            .iter()
            .filter(|g| **g > top * (1.0 + MAXIMUM_ROUNDING))
            .count();
        let (low, high) = column
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), g| {
                (a.min(*g), b.max(*g))
            });
        let share = |g: f64| if top > 0.0 { g / top } else { f64::NAN };
        (
            above,
            share(high),
            low < -MAXIMUM_ROUNDING * top.abs(),
            share(low),
        )
    };
    let rows: Vec<_> = columns.iter().map(of).collect();
    let share = |count: usize, all: usize| count as f64 / all.max(1) as f64;
    Exceeding {
        sources: share(rows.iter().filter(|row| row.0 > 0).count(), rows.len()),
        entries: share(
            rows.iter().map(|row| row.0).sum(),
            columns.iter().map(|c| c.1.len()).sum(),
        ),
        largest: rows
            .iter()
            .map(|row| row.1)
            .fold(f64::NEG_INFINITY, f64::max),
        negative: share(rows.iter().filter(|row| row.2).count(), rows.len()),
        smallest: rows.iter().map(|row| row.3).fold(f64::INFINITY, f64::min),
    }
}

/// One time on one graph.
pub(super) struct Count {
    pub pool: &'static str,
    pub time: f64,
    pub heat: Exceeding,
    /// Heat of the [`MODES`] lowest modes only.
    pub truncated: Exceeding,
    /// Poisson with τ = 1/t.
    pub poisson: Exceeding,
}

/// Modes of the truncated heat kernel.
pub(super) const MODES: usize = 50;
/// Neighbours of a node.
pub(super) const NEIGHBOURS: usize = 10;

/// The graph of nearest neighbours of some rows.
pub(super) fn graph(features: Features<'_>, metric: Metric, control: &Control) -> Result<Graph> {
    let config = Config {
        k: NEIGHBOURS,
        metric,
        ..Config::paper()
    };
    Ok(engine::graph(features, &config, control)?.to_graph())
}

/// Counts on a graph, over `many` of its nodes.
pub(super) fn count(
    pool: &'static str,
    graph: &Arc<Graph>,
    (times, many, seed): (&[f64], usize, u64),
    control: &Control,
) -> Result<Vec<Count>> {
    let mut chosen = Random::new(seed, Purpose::User, 10).distinct(many.min(graph.n()), graph.n());
    chosen.sort_unstable();
    let sources: Vec<NodeId> = chosen.iter().map(|node| NodeId(*node as u32)).collect();
    let quiet = control.quiet();
    let pairs = Arc::new(Eigenpairs::combinatorial(
        graph,
        MODES.min(graph.n()),
        &quiet,
    )?);
    let of = |propagation: &dyn Propagation| {
        let columns = propagation.raw_columns(&sources, &quiet)?;
        Ok(exceeding(
            &chosen
                .iter()
                .copied()
                .zip(columns.iter().map(|c| &c[..]))
                .collect::<Vec<_>>(),
        ))
    };
    let one = |&time: &f64| {
        let by = |propagation| {
            let config = Config {
                propagation,
                tau: Tau::Number(1.0 / time),
                ..Config::paper()
            };
            of(&*engine::propagation(Arc::clone(graph), &config)?)
        };
        let heat = by(PropagationKind::Heat { time: Some(time) })?;
        let truncated = of(&Heat::truncated(
            Arc::clone(graph),
            Arc::clone(&pairs),
            time,
        )?)?;
        let poisson = by(PropagationKind::Poisson)?;
        control.advance(1)?;
        Ok(Count {
            pool,
            time,
            heat,
            truncated,
            poisson,
        })
    };
    times.par_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceeding_by_hand() {
        let (a, b) = ([1.0, 2.0, 0.5], [0.1, -0.2, 0.4]);
        let got = exceeding(&[(0, &a), (2, &b)]);
        assert_eq!((got.sources, got.largest, got.negative), (0.5, 2.0, 0.5));
        assert!((got.entries - 1.0 / 6.0).abs() < 1e-15 && (got.smallest + 0.5).abs() < 1e-15);
    }

    #[test]
    fn heat_exceeds_its_source_on_a_star_and_poisson_does_not() {
        // A hub of 0 and 6 leaves with eigenvalues 0, 1, 7: from the hub, 1/7 + 6/7 e^-7t stays and a leaf gets 1/7 - e^-7t/7,
        // always less; from a leaf e_1 = (1/7) + ... the hub gets 1/7 - e^-7t/7 and the leaf 1/7 + e^-7t/42 + 5/6 e^-t.
        let star =
            Graph::from_edges(7, &(1..7).map(|leaf| (0, leaf, 1.0)).collect::<Vec<_>>()).unwrap();
        let heat = Heat::new(Arc::new(star), 0.5).unwrap();
        let columns = heat
            .raw_columns(&[NodeId(0), NodeId(1)], &Control::new())
            .unwrap();
        let (fast, slow) = (libm::exp(-3.5), libm::exp(-0.5));
        assert!((columns[0][0] - (1.0 + 6.0 * fast) / 7.0).abs() < 1e-13);
        assert!((columns[1][1] - (1.0 / 7.0 + fast / 42.0 + 5.0 / 6.0 * slow)).abs() < 1e-13);
        // A source between a heavy star and a light tail: see dial::heat, where more heat stays beside it.
        let mut edges: Vec<_> = (1..10).map(|leaf| (0, leaf, 1.0)).collect();
        edges.extend([(0, 10, 0.2), (10, 11, 5.0)]);
        let graph = Arc::new(Graph::from_edges(12, &edges).unwrap());
        let counts = count("star", &graph, (&[2.0], 12, 0), &Control::new()).unwrap();
        assert!(counts[0].heat.sources > 0.0 && counts[0].heat.largest > 1.0);
        assert!(counts[0].poisson.sources == 0.0 && counts[0].poisson.largest <= 1.0 + 1e-9);
        assert!(counts[0].heat.negative == 0.0);
    }
}
