//! What the timing experiment has to tell: figure, table, and findings about the paper's claims.

use dial::Policy;
use dial_data::row;

use super::{CONTENDERS, Contender, Cost};
use crate::reproduce::{Drawn, Finding, Tidy, Verdict};
use dial_plot::plot::{LineChart, Series};
use dial_plot::report::Table;
use dial_plot::stats::Band;

fn of(costs: &[Cost], contender: Contender) -> Vec<&Cost> {
    costs
        .iter()
        .filter(|cost| cost.contender == contender)
        .collect()
}

pub(super) fn figure(costs: &[Cost]) -> Drawn {
    let line = |contender: Contender| {
        let of = of(costs, contender);
        let x = of.iter().map(|cost| cost.n as f64);
        Series::new(
            contender.name(),
            x,
            Band::exact(of.iter().map(|cost| 1e3 * cost.select).collect()),
        )
    };
    let chart = LineChart::new(
        "Time for one question: acquisition and selection",
        ["number of items", "milliseconds"],
        CONTENDERS
            .into_iter()
            .filter(|contender| contender.shown())
            .map(line)
            .collect(),
    )
    .log_log();
    Drawn::new(
        "timing",
        "Time to compute an acquisition over all items and to select one, against the number of items \
         (fig:timing-comparison): random parts of MNIST, 50 eigenpairs, medians. Without the update of classifiers \
         and auxiliary data, which the table has: margins, for example, are those of scores at hand.",
        chart,
    )
}

pub(super) fn table(costs: &[Cost]) -> Option<Table> {
    let largest = |contender: Contender| of(costs, contender).into_iter().max_by_key(|cost| cost.n);
    let seconds = |seconds: f64| match seconds {
        0.0 => "-".to_string(),
        s if s < 1e-3 => format!("{:.0} µs", 1e6 * s),
        s if s < 1.0 => format!("{:.1} ms", 1e3 * s),
        s => format!("{s:.1} s"),
    };
    let row = |contender: Contender| {
        let cost = largest(contender)?;
        let [initial, per_item, auxiliary, classifier] = contender.in_the_paper();
        let both = |measured: String, paper: &str| match paper {
            "" | "-" => measured,
            paper => format!("{measured} ({paper})"),
        };
        Some(vec![
            contender.name().to_string(),
            cost.n.to_string(),
            both(seconds(cost.initial), initial),
            both(
                format!("{:.1} ns", 1e9 * cost.select / cost.n as f64),
                per_item,
            ),
            both(seconds(cost.auxiliary), auxiliary),
            both(seconds(cost.classifier), classifier),
            slope(&of(costs, contender)).map_or("-".into(), |slope| format!("n^{slope:.2}")),
        ])
    };
    let rows = CONTENDERS.into_iter().filter_map(row);
    let table = Table::new(
        "What the acquisitions cost at the largest pool each was timed on (table:comp_comparison; in brackets \
         the paper's order of growth). The last column is the measured growth of acquisition and selection.",
        " | items | initial | per item | auxiliary update | classifier update | growth",
        rows,
    );
    (!table.rows.is_empty()).then(|| table.numbers(1..))
}

/// The slope of the logarithm of the time over that of n, on the upper half of the sizes.
fn slope(costs: &[&Cost]) -> Option<f64> {
    let upper = &costs[costs
        .len()
        .saturating_sub(costs.len().div_ceil(2))
        .min(costs.len().saturating_sub(2))..];
    if upper.len() < 2 {
        return None;
    }
    let points: Vec<(f64, f64)> = upper
        .iter()
        .map(|c| (libm::log(c.n as f64), libm::log(c.select)))
        .collect();
    let count = points.len() as f64;
    let (x, y) = points
        .iter()
        .fold((0.0, 0.0), |(x, y), p| (x + p.0 / count, y + p.1 / count));
    let (up, down) = points.iter().fold((0.0, 0.0), |(u, d), p| {
        (u + (p.0 - x) * (p.1 - y), d + (p.0 - x) * (p.0 - x))
    });
    Some(up / down)
}

pub(super) fn findings(costs: &[Cost]) -> Vec<Finding> {
    let growth = |contender| slope(&of(costs, contender));
    let (Some(dense), Some(variance)) = (
        growth(Contender::VOptDense),
        growth(Contender::Variance(Policy::Max)),
    ) else {
        return Vec::new();
    };
    let within = |slope: f64, low: f64, high: f64| (low..=high).contains(&slope);
    let verdict = match (within(dense, 1.6, 2.4), within(variance, 0.5, 1.3)) {
        (true, true) => Verdict::Supported,
        (false, false) => Verdict::NotSupported,
        _ => Verdict::Mixed,
    };
    let mut findings = vec![Finding::new(
        "Full VOpt is quadratic and Dirichlet variance linear in the number of items.",
        verdict,
        format!(
            "Measured growth of acquisition and selection: VOpt with its dense matrix n^{dense:.2}, Dirichlet variance \
             n^{variance:.2}, exact VOpt without the matrix {} (and n solves before the first question).",
            growth(Contender::VOptFull)
                .map_or("not measured".into(), |slope| format!("n^{slope:.2}"))
        ),
    )];
    findings.extend(far_cheaper(costs));
    findings
}

/// A run of a hundred questions, all that it needs included, against the same with Dirichlet variance.
fn far_cheaper(costs: &[Cost]) -> Option<Finding> {
    use Contender::{Land, McVOpt, VOpt, VOptDense, VOptFull};
    let run = |cost: &Cost| cost.initial + 100.0 * (cost.select + cost.auxiliary + cost.classifier);
    let ratio = |contender: Contender| {
        let rival = of(costs, contender).into_iter().max_by_key(|cost| cost.n)?;
        let ours = of(costs, Contender::Variance(Policy::Max))
            .into_iter()
            .find(|cost| cost.n == rival.n)?;
        Some((contender, rival.n, run(rival) / run(ours)))
    };
    let ratios: Vec<_> = [McVOpt, VOptDense, VOptFull, VOpt, Land]
        .into_iter()
        .filter_map(ratio)
        .collect();
    let dearer = ratios.iter().filter(|(_, _, ratio)| *ratio >= 3.0).count();
    let list: Vec<String> = ratios
        .iter()
        .map(|(rival, n, ratio)| format!("{} {ratio:.1} times at {n} items", rival.name()))
        .collect();
    (!ratios.is_empty()).then(|| Finding::new(
        "Dirichlet variance costs far less than its rivals.",
        match dearer {
            0 => Verdict::NotSupported,
            all if all == ratios.len() => Verdict::Supported,
            _ => Verdict::Mixed,
        },
        format!(
            "Seconds for 100 questions, with preparation and the updates the questions depend on, over those of Dirichlet \
             variance: {}. VOpt and LAND need no classifier to ask, but a classifier is needed in the end.",
            list.join(", ")
        ),
    ))
}

pub(super) fn tidy(costs: &[Cost]) -> Tidy {
    let row = |cost: &Cost| {
        row![
            cost.contender.name(),
            cost.n,
            cost.initial,
            cost.select,
            cost.auxiliary,
            cost.classifier
        ]
    };
    Tidy::new(
        "timing",
        "method,items,initial_seconds,select_seconds,auxiliary_seconds,classifier_seconds",
        costs.iter().map(row),
    )
}
