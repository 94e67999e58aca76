//! Which operator does the graph stand for? Rank correlations over many samples.
//!
//! As the sample grows, graphs of all neighbours within a shrinking distance tend to (1/ρ) div(ρ² grad u), and graphs of k
//! nearest neighbours in d dimensions to (1/ρ) div(ρ^(1 - 2/d) grad u), in the plane p = 0; the paper's caption says
//! p = 1 (`eq:poisson-ctnm-2d`). Each sample of moons gives one density, three kernels in the plane, and one on its graph of
//! k nearest neighbours; compared are the ranks of their values over the sample, which need no common scale.

use dial::{Control, Result};
use rayon::prelude::*;

use super::GRAPH_TAUS;
use super::kernels::{Scene, graph_columns, poisson_at, rank_correlation, rbf_at};
use super::plane::Operator;
use crate::reproduce::moons::separation;
use dial_plot::stats::{Interval, interval};

/// The rank correlations of one sample's graph with the operators, in the order of [`Operator::ALL`].
pub(super) struct Agreement {
    pub items: usize,
    pub seed: u64,
    pub ranks: [f64; 3],
}

/// Samples of some sizes, `seeds` of each, on grids of n by n cells.
pub(super) fn study(
    sizes: &[usize],
    (first, seeds): (u64, u64),
    n: usize,
    control: &Control,
) -> Result<Vec<Agreement>> {
    let all: Vec<(usize, u64)> = sizes
        .iter()
        .flat_map(|items| (0..seeds).map(move |i| (*items, first.wrapping_add(i))))
        .collect();
    let one = |&(items, seed): &(usize, u64)| {
        let scene = Scene::new(items, seed);
        let graph = graph_columns(&scene, &GRAPH_TAUS[..1], control)?.remove(0);
        let mut ranks = [0.0; 3];
        for (rank, operator) in ranks.iter_mut().zip(Operator::ALL) {
            *rank = rank_correlation(&poisson_at(&scene, operator, n, control)?, &graph);
        }
        control.advance(1)?;
        Ok(Agreement { items, seed, ranks })
    };
    all.par_iter().map(one).collect()
}

/// The samples of one size.
pub(super) fn of(rows: &[Agreement], items: usize) -> Vec<&Agreement> {
    rows.iter().filter(|row| row.items == items).collect()
}

/// Mean rank correlation with every operator, and for how many samples each was the nearest.
pub(super) fn standing(rows: &[&Agreement]) -> [(f64, usize); 3] {
    let best = |row: &Agreement| {
        (0..3)
            .max_by(|a, b| row.ranks[*a].total_cmp(&row.ranks[*b]))
            .unwrap_or(0)
    };
    std::array::from_fn(|operator| {
        let mean = rows.iter().map(|row| row.ranks[operator]).sum::<f64>() / rows.len() as f64;
        (
            mean,
            rows.iter().filter(|row| best(row) == operator).count(),
        )
    })
}

/// By how much the graph is nearer to ρ inside than to another operator: the difference of the rank correlations, sample
/// by sample.
pub(super) fn lead(rows: &[&Agreement], other: usize) -> Interval {
    interval(rows.iter().map(|row| row.ranks[1] - row.ranks[other]))
}

/// The shares of pairs of points, one of each moon, told apart from some sources spread over the sample: by Poisson with
/// ρ and with ρ² inside, and by the RBF kernel.
pub(super) fn told_apart(
    scene: &Scene,
    sources: usize,
    n: usize,
    control: &Control,
) -> Result<Vec<[f64; 3]>> {
    let count = scene.sample.points.len();
    let one = |i: usize| {
        let from = scene.from(i * count / sources);
        let mut shares = [0.0; 3];
        for (share, operator) in shares.iter_mut().zip(Operator::PRINTED) {
            *share = separation(&from.sample, &poisson_at(&from, operator, n, control)?).2;
        }
        shares[2] = separation(&from.sample, &rbf_at(&from.sample, control)?).2;
        control.advance(1)?;
        Ok(shares)
    };
    (0..sources).into_par_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standings_by_hand() {
        let row = |ranks| Agreement {
            items: 5,
            seed: 0,
            ranks,
        };
        let (a, b) = (row([0.5, 0.9, 0.1]), row([0.7, 0.3, 0.9]));
        let got = standing(&[&a, &b]);
        assert_eq!(got.map(|s| s.1), [0, 1, 1]);
        // Leads of 0.8 and -0.6 over ρ²: mean 0.1, half width 12.706 · 1.4/√2/√2.
        let lead = lead(&[&a, &b], 2);
        assert!(
            (lead.mean - 0.1).abs() < 1e-15
                && (lead.half_width - 12.706_204_736 * 0.7).abs() < 1e-9,
            "{lead:?}"
        );
        assert!(
            (got[0].0 - 0.6).abs() < 1e-15
                && (got[1].0 - 0.6).abs() < 1e-15
                && (got[2].0 - 0.5).abs() < 1e-15
        );
    }
}
