//! The figures of the part.

use super::maximum::{Count, Exceeding, MODES};
use super::{Comparison, Results, SECTION, symbol};
use crate::theory::Drawn;
use dial_plot::chart::{Colour, MarkerKind};
use dial_plot::colours::{BLUE, GREEN, GREY, ORANGE, PURPLE, RED};
use dial_plot::plot::{Grid, LineChart, Series};

pub(super) fn figures(results: &Results) -> Vec<Drawn> {
    vec![steps(results), maximum(results)]
}

fn colour(number: usize) -> Colour {
    [GREEN, BLUE, RED][number % 3]
}

fn mark(number: usize) -> MarkerKind {
    [MarkerKind::Up, MarkerKind::Circle, MarkerKind::Diamond][number % 3]
}

fn curves(results: &Results, of: impl Fn(&Comparison) -> (Vec<f64>, Vec<f64>)) -> Vec<Series> {
    let one = |(number, comparison): (usize, &Comparison)| {
        let (x, y) = of(comparison);
        Series::curve(comparison.name, x, y, colour(number).marked(mark(number)))
    };
    results.comparisons.iter().enumerate().map(one).collect()
}

/// Factor, section, one step, many steps.
fn steps(results: &Results) -> Drawn {
    let graph = &results.comparisons[0];
    let times: Vec<f64> = graph.steps.iter().map(|step| step.time).collect();
    let (right, printed) = (Colour::INK.line(), PURPLE.dashed());
    let masses = vec![
        Series::curve(
            "u/t (correct)",
            &times,
            graph.steps.iter().map(|s| s.mass),
            right.clone(),
        ),
        Series::curve(
            "t u (printed)",
            times,
            graph.steps.iter().map(|s| s.printed_mass),
            printed.clone(),
        ),
    ];
    let cut = &results.section;
    let section = vec![
        Series::curve("heat", &cut.x, &cut.heat, ORANGE.line()),
        Series::curve("u/t (correct)", &cut.x, &cut.step, right),
        Series::curve("t u (printed)", &cut.x, &cut.printed, printed),
    ];
    let mut one = curves(results, |c| {
        (
            c.steps.iter().map(|s| s.time).collect(),
            c.steps.iter().map(|s| s.norm).collect(),
        )
    });
    let ends = |c: &Comparison| (c.steps[0].time, c.steps[c.steps.len() - 1].time);
    let low = results
        .comparisons
        .iter()
        .map(|c| ends(c).0)
        .fold(f64::INFINITY, f64::min);
    let high = results
        .comparisons
        .iter()
        .map(|c| ends(c).1)
        .fold(0.0, f64::max);
    let bound = symbol::bound(1);
    one.push(Series::curve(
        "bound",
        vec![low, high],
        vec![bound, bound],
        GREY.dotted(),
    ));
    let mut many = curves(results, |c| {
        (
            c.many.iter().map(|m| m.steps as f64).collect(),
            c.many.iter().map(|m| m.norm).collect(),
        )
    });
    let counts: Vec<f64> = graph.many.iter().map(|m| m.steps as f64).collect();
    let bounds = graph.many.iter().map(|m| m.bound);
    many.push(Series::curve("bound", &counts, bounds, GREY.dotted()));
    let last = counts.last().copied().unwrap_or(1.0);
    let top = cut.heat.iter().copied().fold(0.0, f64::max);
    let panels = [
        LineChart::new(
            "Mass, on the graph",
            ["t", "mass / mass of the source"],
            masses,
        )
        .log_log(),
        LineChart::new(
            format!("Through the source, plane, t = {SECTION}"),
            ["x along the row of the source", "value"],
            section,
        )
        .log_y()
        .x_range((0.0, 1.0))
        .y_range((top * 1e-8, top * 10.0)),
        LineChart::new(
            "One step against heat",
            ["t", "|step - heat| / |source|"],
            one,
        )
        .log_x(),
        LineChart::new(
            "m steps, at the worst t",
            ["m", "|m steps - heat| / |source|"],
            many,
        )
        .log_log()
        .x_range((0.9, 1.1 * last)),
    ];
    let grid = Grid::new("Poisson is a backward Euler step of heat", 2, panels);
    Drawn::new(
        "heat-steps",
        format!(
            "(a) The mass of (I - tΔ)⁻¹δ is that of δ; u/t has it, the printed t u has t² times it. u is the Poisson \
             solution for τ = 1/t. (b) Along a line through the source: heat, u/t, and t u. (c) One step differs from heat by \
             at most {bound:.4} of the norm of the source, for every operator and time (dotted). (d) m steps: the difference \
             falls like 1/m."
        ),
        grid.sized(330.0, 240.0),
    )
}

/// How often and how far heat exceeds its value at the source.
fn maximum(results: &Results) -> Drawn {
    let mut pools: Vec<&'static str> = results.counts.iter().map(|count| count.pool).collect();
    pools.dedup();
    let line = |kernel: &str, dash: &[f64], pool: usize, value: &dyn Fn(&Count) -> f64| {
        let rows = || {
            results
                .counts
                .iter()
                .filter(|count| count.pool == pools[pool])
        };
        let look = colour(pool).marked(mark(pool)).dash(dash);
        let (x, y) = (rows().map(|count| count.time), rows().map(value));
        Series::curve(format!("{kernel}, {}", pools[pool]), x, y, look)
    };
    let lines = |value: fn(&Exceeding) -> f64| -> Vec<Series> {
        let both = |pool| {
            let heat = line("heat", &[], pool, &|count| value(&count.heat));
            [
                heat,
                line("Poisson, τ = 1/t", &[2.5, 3.0], pool, &|count| {
                    value(&count.poisson)
                }),
            ]
        };
        (0..pools.len()).flat_map(both).collect()
    };
    let negative = (0..pools.len()).flat_map(|pool| {
        let heat = line("heat", &[], pool, &|count| count.heat.negative);
        [
            heat,
            line("heat, lowest modes", &[7.0, 4.0], pool, &|count| {
                count.truncated.negative
            }),
        ]
    });
    let chart = |title: &str, y_label: &str, percent, series| {
        LineChart::new(title, ["t", y_label], series)
            .log_x()
            .percent(percent)
    };
    let panels = vec![
        chart(
            "Exceed their source somewhere",
            "sources",
            true,
            lines(|e| e.sources),
        ),
        chart(
            "By how much",
            "largest g(x)/g(l)",
            false,
            lines(|e| e.largest),
        ),
        chart(
            "Are negative somewhere",
            "sources",
            true,
            negative.collect(),
        ),
    ];
    let grid = Grid::new("Heat kernels and the Maximum Principle", 3, panels);
    Drawn::new(
        "heat-maximum",
        format!(
            "Columns g = exp(-tL) e_l of {} sources on graphs of {} nodes. (a) The share of columns that exceed their value \
             at the source l somewhere; Poisson never does. (b) The largest ratio. (c) Heat truncated to the {MODES} lowest \
             modes is negative somewhere while t is small.",
            results.sizes.1, results.sizes.0
        ),
        grid.sized(290.0, 230.0),
    )
}
