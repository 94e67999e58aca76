//! What the separators say, in tables and words.

use dial_data::row;
use dial_data::write::Cell;
use serde_json::{Value, json};

use super::samples::NEIGHBOURS;
use super::{Compact, DELTA_SHOWN, DIAMETER, RADIUS, Separator, Spread, Studied, wendland};
use crate::theory::{Finding, Tidy, Verdict};
use dial_plot::report::Table;
use dial_plot::words::Listed;

pub(super) fn tables(studied: &[Studied]) -> Vec<Tidy> {
    let (mut curves, mut fronts, mut sets) = (Vec::new(), Vec::new(), Vec::new());
    for one in studied {
        let with = |mut rest: Vec<Cell>| {
            let mut row = row![one.sample.name, one.sets(), one.spread.name()];
            row.append(&mut rest);
            row
        };
        for ((delta, s), limit) in one.deltas.iter().zip(&one.found).zip(&one.limits) {
            let found = row![
                *delta,
                s.delta,
                s.zeta,
                s.epsilon,
                limit.zeta,
                limit.epsilon
            ];
            curves.push(with(found));
        }
        for s in &one.front {
            fronts.push(with(row![s.delta, s.zeta, s.epsilon]));
        }
        let kept = &one.shown().0.kept;
        for (i, (kept, cluster)) in kept.iter().zip(&one.sample.clusters).enumerate() {
            sets.push(with(row![i, *cluster, *kept]));
        }
    }
    vec![
        Tidy::new(
            "separation-curves",
            "pool,sets,kernel,delta_allowed,delta,zeta,epsilon,zeta_limit,epsilon_limit",
            curves,
        ),
        Tidy::new(
            "separation-front",
            "pool,sets,kernel,delta,zeta,epsilon",
            fronts,
        ),
        Tidy::new(
            "separation-sets",
            "pool,sets,kernel,item,cluster,kept",
            sets,
        ),
    ]
}

/// Few digits, but never a small number shown as zero.
fn short(value: f64) -> String {
    if value == 0.0 || value >= 0.001 {
        format!("{value:.3}")
    } else {
        format!("{value:.0e}")
    }
}

fn words(name: String, spread: &Spread, s: &Separator, limits: [f64; 2]) -> Vec<String> {
    let mut row = vec![name, spread.name()];
    row.extend([s.delta, s.zeta, s.epsilon].map(short));
    row.extend(limits.map(short));
    row
}

pub(super) fn summary(studied: &[Studied], compact: &Compact) -> Table {
    let row = |one: &Studied| {
        let (found, limit) = one.shown();
        let sets = if one.by_cluster {
            ""
        } else {
            " (sets of classes)"
        };
        let name = format!("{}{sets}", one.sample.name);
        let limits = [limit.zeta, limit.epsilon];
        words(name, &one.spread, found, limits)
    };
    let exact = &compact.attained;
    let limits = [exact.zeta, exact.epsilon];
    let last = words("discs".into(), &Spread::Compact(RADIUS), exact, limits);
    Table::new(
        format!(
            "The sets found with the largest ζ - ε that leave out at most a share of {DELTA_SHOWN} of each cluster."
        ),
        "Pool | Kernel | δ | ζ | ε | ζ at most | ε at least",
        studied.iter().map(row).chain([last]),
    )
    .numbers(2..)
}

pub(super) fn findings(studied: &[Studied], compact: &Compact) -> Vec<Finding> {
    vec![
        exact(compact),
        data_adapted(studied),
        several_clusters(studied),
        on_pools(studied),
        certified(studied),
    ]
}

fn exact(compact: &Compact) -> Finding {
    let Separator {
        delta,
        zeta,
        epsilon,
        ..
    } = compact.attained;
    let (widest, bound) = (compact.widest, wendland(DIAMETER / RADIUS));
    let holds = delta == 0.0
        && epsilon == 0.0
        && (zeta - wendland(widest / RADIUS)).abs() < 1e-12
        && zeta >= bound;
    Finding::new(
        "A radial kernel with support of radius R separates clusters of smaller diameter that are farther than R \
         apart with δ = ε = 0, ζ being its value at the largest diameter (the example after \
         prop:cluster-exploration).",
        Verdict::of(holds, false),
        format!(
            "{} items of three discs: δ = {delta}, ε = {epsilon}, ζ = {zeta:.5}, which is the kernel at the largest \
             distance in a disc, {widest:.4}; at the diameter {DIAMETER} it is {bound:.5}. With ε = 0 the definition's \
             strict inequality has to be read as <=.",
            compact.sample.n()
        ),
    )
}

fn gap_of(studied: &[Studied], name: &str, spread: Spread) -> f64 {
    let one = studied
        .iter()
        .find(|one| one.sample.name == name && one.spread == spread && one.by_cluster);
    one.map_or(f64::NAN, |one| one.shown().0.gap())
}

fn data_adapted(studied: &[Studied]) -> Finding {
    let row = |name| super::SPREADS.map(|spread| gap_of(studied, name, spread));
    let [apart, touching] = [row("apart"), row("touching")];
    // Of the three Laplacian kernels, those that separate and do so better than the radial one, the last.
    let separating = |gaps: [f64; 4]| {
        gaps[..3]
            .iter()
            .filter(|gap| **gap > gaps[3].max(0.0))
            .count()
    };
    let words = |gaps: [f64; 4]| {
        let named = super::SPREADS.iter().zip(gaps);
        named
            .map(|(spread, gap)| format!("{gap:.3} ({})", spread.name()))
            .joined(", ")
    };
    Finding::new(
        "Laplacian-based kernels, being adapted to the data, are well adapted to cluster separation \
         (subsec:laplacian-based-separation).",
        Verdict::of_each([apart, touching].map(|gaps| separating(gaps) > 0)),
        format!(
            "Largest ζ - ε found with δ <= {DELTA_SHOWN}: clusters apart {}; touching {}. A kernel separates where it is above \
             0: of the three Laplacian kernels {} do so, and better than the radial one, where clusters are apart, {} \
             where they touch.",
            words(apart),
            words(touching),
            separating(apart),
            separating(touching)
        ),
    )
}

fn several_clusters(studied: &[Studied]) -> Finding {
    let of = |by_cluster| {
        studied
            .iter()
            .find(|one| one.sample.name == "square" && one.by_cluster == by_cluster)
    };
    let (Some(clusters), Some(classes)) = (of(true), of(false)) else {
        unreachable!("both are run")
    };
    let ((clusters, _), (classes, limit)) = (clusters.shown(), classes.shown());
    Finding::new(
        "With several clusters to a class, sets of clusters take the place of sets of classes (rem:C-clusters).",
        match (
            clusters.gap() > 0.0,
            limit.zeta - limit.epsilon < clusters.gap(),
        ) {
            (true, true) => Verdict::Supported,
            (false, false) => Verdict::NotSupported,
            _ => Verdict::Mixed,
        },
        format!(
            "Four Gaussians of two classes, heat, δ <= {DELTA_SHOWN}: a set for each cluster has ζ = {:.3} and ε = {:.3}; a set \
             for each class has ζ = {} and ε = {}, and no choice of such sets has ζ above {}.",
            clusters.zeta,
            clusters.epsilon,
            short(classes.zeta),
            short(classes.epsilon),
            short(limit.zeta)
        ),
    )
}

fn on_pools(studied: &[Studied]) -> Finding {
    let real = studied
        .iter()
        .filter(|one| ["digits", "MNIST-SMALL"].contains(&one.sample.name));
    let default: Vec<&Studied> = real
        .filter(|one| one.spread == Spread::Poisson(0.1))
        .collect();
    let words = |one: &&Studied| {
        let (found, limit) = one.shown();
        let [zeta, most, epsilon, least] =
            [found.zeta, limit.zeta, found.epsilon, limit.epsilon].map(short);
        format!(
            "{}: ζ = {zeta} (at most {most}), ε = {epsilon} (at least {least})",
            one.sample.name
        )
    };
    let separated = default
        .iter()
        .filter(|one| one.shown().0.gap() > 0.0)
        .count();
    Finding::new(
        "The propagation DiAL uses is a class separator of real pools, with ζ above ε.",
        match separated {
            0 => Verdict::NotSupported,
            some if some == default.len() => Verdict::Supported,
            _ => Verdict::Mixed,
        },
        format!(
            "Poisson, τ = 0.1, δ <= {DELTA_SHOWN}, classes taken for clusters. {}.",
            default.iter().map(words).joined("; ")
        ),
    )
}

fn certified(studied: &[Studied]) -> Finding {
    let count: usize = studied
        .iter()
        .map(|one| one.found.len() + one.front.len())
        .sum();
    let inside = |one: &Studied| {
        let within =
            |(s, l): (&Separator, &super::Limit)| s.zeta <= l.zeta && s.epsilon >= l.epsilon;
        one.found.iter().zip(&one.limits).all(within)
    };
    let ok = studied.iter().all(|one| one.verified && inside(one));
    let slack = |one: &&Studied| {
        let (found, limit) = one.shown();
        limit.zeta - limit.epsilon - found.gap()
    };
    let mut slacks: Vec<f64> = studied.iter().map(|one| slack(&one)).collect();
    slacks.sort_by(f64::total_cmp);
    Finding::new(
        "Every triple shown is attained by its sets, and none exceeds its limit (our own check).",
        Verdict::of(ok, false),
        format!(
            "{count} triples measured again on all ordered pairs of columns. At δ <= {DELTA_SHOWN} the limit of ζ - ε lies {:.3} \
             above what was found in the median of {} cases, {:.3} at most: so much is open.",
            0.5 * (slacks[(slacks.len() - 1) / 2] + slacks[slacks.len() / 2]),
            slacks.len(),
            slacks[slacks.len() - 1]
        ),
    )
}

pub(super) fn settings(studied: &[Studied]) -> Value {
    let one = |one: &Studied| json!({ "pool": one.sample.name, "items": one.sample.n(), "kernel": one.spread.name() });
    json!({ "neighbours": NEIGHBOURS, "runs": studied.iter().map(one).collect::<Vec<_>>() })
}
