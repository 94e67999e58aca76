//! The risk of the classifier against the Bayes risk.
//!
//! ```text
//! E(f) - E* = ∫ |2η - 1| 1{f ≠ 1{η >= 1/2}} ρ dx <= 2 ∫ |η̂ - η| ρ dx  for f = 1{η̂ >= 1/2}  (Devroye et al., 2.2)
//! ```
//!
//! The inequality binds a decision to the estimate it is made from: 1{η̂ >= 1/2} to η̂, the classifier to η̃.

use super::estimate::Judged;
use super::figures::{over_sizes, transposed};
use super::{AMPLITUDE, CELLS, Curve};
use crate::output::Drawn;
use crate::theory::consistency::weighted::Weighted;
use crate::theory::slopes::{Slope, fit};
use crate::theory::{Finding, Verdict};
use dial_plot::chart::{Colour, MarkerKind};
use dial_plot::colours::{BLUE, CLASSES, GREEN, GREY, ORANGE, PURPLE, RED};
use dial_plot::plot::{Grid, LineChart, Series};
use dial_plot::report::Table;
use dial_plot::stats::band;
use dial_plot::words::Listed;

pub(super) fn figure(curves: &[Curve]) -> Drawn {
    let panel = |curve: &Curve| {
        let x = curve.sizes();
        let line = |name: &str, values: Vec<Vec<f64>>, look| {
            Series::new(name, &x, band(transposed(&values))).with_look(look)
        };
        let series = vec![
            line(
                "bound: twice the mean error",
                curve.values(|j| 2.0 * j.error),
                Colour::INK.dashed(),
            ),
            line(
                "excess risk, expected normaliser",
                curve.values(|j| j.plug_in),
                RED.marked(MarkerKind::Square),
            ),
            line(
                "excess risk, classifier",
                curve.values(|j| j.classifier),
                GREEN.marked(MarkerKind::Circle),
            ),
            line(
                "share decided differently",
                curve.values(|j| j.disagreement),
                PURPLE.dotted(),
            ),
        ];
        let chart = over_sizes(
            format!("On the {}", curve.name),
            "risk above Bayes; share",
            series,
        );
        chart.y_range((1e-5, 1.0))
    };
    let panels = curves.iter().map(panel).chain([constants()]);
    Drawn::new(
        "consistency-risk",
        "(a-c) Excess risk over the number of labels: of the decision by η̂, which the theorem speaks of, \
         and of the classifier, which divides by the kernels it has seen instead of by their mean and does \
         better. Both lie far below the bound that proves consistency. (d) θ of the theorem for the density \
         1 + 0.8 cos(2πx), and θ̃, which is what its proof needs; the proof takes 2θ for it.",
        Grid::new("Excess risk, and the constants of the theorem", 2, panels).sized(400.0, 220.0),
    )
}

fn constants() -> LineChart {
    let times: Vec<f64> = (0..=12)
        .map(|i| libm::pow(10.0, f64::from(i) / 4.0 - 3.0))
        .collect();
    let kernels: Vec<Weighted> = times
        .iter()
        .map(|t| Weighted::new(CELLS / 2, AMPLITUDE, 2, *t))
        .collect();
    let curve = |name: &str, f: &dyn Fn(&Weighted) -> f64, look| {
        Series::curve(name, &times, kernels.iter().map(f), look)
    };
    LineChart::new(
        "Constants for the interval with a density",
        ["t", ""],
        vec![
            curve(
                "2θ, which the proof takes",
                &|k| 2.0 * k.theta(),
                GREY.dashed(),
            ),
            curve("θ = sup ∫ k dx", &Weighted::theta, ORANGE.line()),
            curve(
                "what it needs: sup ∫ k ρ/E k dx",
                &Weighted::influence,
                BLUE.line(),
            ),
            curve("least E k/ρ", &Weighted::ratio, CLASSES[6].line()),
        ],
    )
    .log_x()
    .y_range((0.0, 4.0))
}

fn slope(curve: &Curve, f: impl Fn(&Judged) -> f64) -> Slope {
    fit(&curve.sizes(), &curve.means(f))
}

pub(super) fn summary(curves: &[Curve]) -> Table {
    let row = |curve: &Curve| {
        let end = |f: fn(&Judged) -> f64| curve.means(f).last().copied().unwrap_or(f64::NAN);
        vec![
            curve.name.to_owned(),
            format!("{:.4}", curve.bayes),
            format!("{:.2e}", end(|j| j.plug_in)),
            format!("{:.2e}", end(|j| j.classifier)),
            slope(curve, |j| j.plug_in).words(),
            slope(curve, |j| j.classifier).words(),
            format!("{:.2e}", 2.0 * end(|j| j.error)),
            format!("{:.1} %", 100.0 * end(|j| j.disagreement)),
        ]
    };
    Table::new(
        "Risk above the Bayes risk at the largest n, with the exponents of n fitted over all n.",
        "Example | Bayes risk | Excess of 1{η̂ ≥ ½} | Excess of the classifier | Exponent (1{η̂ ≥ ½}) | \
         Exponent (classifier) | Bound 2 E F | Decided differently",
        curves.iter().map(row),
    )
    .numbers(1..)
}

pub(super) fn findings(curves: &[Curve]) -> Vec<Finding> {
    let all = || {
        curves
            .iter()
            .flat_map(|curve| curve.judged.iter().flatten())
    };
    let count = all().count();
    let broken = all()
        .filter(|j| j.plug_in > 2.0 * j.error || j.classifier > 2.0 * j.ratio_error)
        .count();
    let share = curves.iter().map(|curve| {
        let [first, last] =
            [0, curve.counts.len() - 1].map(|k| 100.0 * curve.means(|j| j.disagreement)[k]);
        format!(
            "{}: {first:.1} % at n = {}, {last:.2} % at n = {}",
            curve.name,
            curve.counts[0],
            curve.counts[curve.counts.len() - 1]
        )
    });
    let differ = all().filter(|j| j.disagreement > 0.0).count();
    vec![
        Finding::new(
            "The excess risk is at most 2 ∫ |η̂ − η| ρ dx, so that convergence of the trend gives consistency.",
            Verdict::of(broken == 0, false),
            format!(
                "Broken in {broken} of {count} samples, for 1{{η̂ ≥ ½}} with η̂ and for the classifier with η̃. The \
                 bound is loose: the excess risk falls like n^{} on the interval, 2 E F like n^{}.",
                slope(&curves[0], |j| j.plug_in).words(),
                slope(&curves[0], |j| j.error).words()
            ),
        ),
        Finding::new(
            "The classifier is 1{η̂ ≥ ½} (below eq:eta-hat).",
            Verdict::of(differ == 0, false),
            format!(
                "η̂ divides by the mean of the kernels, the classifier by their sum. They decided differently \
                 somewhere in {differ} of {count} samples; mean share of the points: {}.",
                share.joined("; ")
            ),
        ),
    ]
}
