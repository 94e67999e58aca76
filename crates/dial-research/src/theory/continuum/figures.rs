//! The figures of the part.

use super::agreement::of as samples;
use super::kernels::Spread;
use super::ladder::{growth, of, snapped};
use super::plane::Operator;
use super::{GRAPH_TAUS, NEIGHBOURS, RADIUS, Results, SIGMA, TAU, TIME};
use crate::theory::Drawn;
use dial_plot::chart::{Colour, MarkerKind};
use dial_plot::colours::{BLUE, GREEN, GREY, RED};
use dial_plot::plot::{
    Colouring, Grid, HeatMap, LineChart, Overlay, Panel, Scale, Scatter, Series,
};
use dial_plot::stats::band;

const UNIT: (f64, f64) = (0.0, 1.0);
const LEVELS: [f64; 4] = [0.2, 0.4, 0.6, 0.8];

pub(super) fn figures(results: &Results) -> Vec<Drawn> {
    vec![
        propagation(results),
        operators(results),
        agreement(results),
        refinement(results),
    ]
}

/// Values on the grid of a plane.
fn map(title: impl Into<String>, spread: &Spread, values: &[f64]) -> HeatMap {
    HeatMap {
        title: title.into(),
        value_label: "K(x*, x)".into(),
        x_range: UNIT,
        y_range: UNIT,
        columns: spread.plane.n(),
        values: values.to_vec(),
        value_range: Some(UNIT),
        contours: LEVELS.to_vec(),
        ..HeatMap::default()
    }
}

fn star(results: &Results, colour: Colour) -> Overlay {
    Overlay::marks(
        "source x*",
        vec![results.scene.source()],
        MarkerKind::Star,
        colour,
    )
}

fn starred(results: &Results, map: HeatMap) -> Panel {
    let mut star = star(results, Colour::INK);
    star.name = String::new();
    Panel::Heat(HeatMap {
        overlays: vec![star],
        ..map
    })
}

/// All panels of `fig:2d-propagation`, and the operator of the theory section.
fn propagation(results: &Results) -> Drawn {
    let (scene, kernels) = (&results.scene, &results.kernels);
    let (weighted, squared) = (
        kernels.of(Operator::Weighted),
        kernels.of(Operator::Squared),
    );
    let density = weighted.plane.density();
    let top = density.iter().copied().fold(0.0, f64::max);
    let density = HeatMap {
        value_label: "ρ(x)".into(),
        value_range: None,
        contours: (1..=5).map(|i| top * f64::from(i) / 6.0).collect(),
        ..map("Density of the sample (KDE)", weighted, &density)
    };
    let scatter = |title: &str, colouring, overlays| {
        let points = scene.sample.points.clone();
        let (x_range, y_range) = (Some(UNIT), Some(UNIT));
        Panel::Scatter(Scatter {
            title: title.into(),
            x_range,
            y_range,
            points,
            colouring,
            overlays,
            ..Scatter::default()
        })
    };
    let names = ["upper moon", "lower moon"].map(String::from).to_vec();
    let classes = Colouring::Classes {
        of: scene.sample.moon.clone(),
        names,
    };
    let graph = Colouring::Values {
        of: kernels.graph[0].clone(),
        label: "K(x*, x)".into(),
        range: Some(UNIT),
    };
    let (x, y) = scene.source();
    let rbf = weighted
        .plane
        .values(|a, b| libm::exp(-((a - x) * (a - x) + (b - y) * (b - y)) / (2.0 * SIGMA * SIGMA)));
    let panels = vec![
        Panel::Heat(density),
        scatter("Sample", classes, vec![star(results, Colour::INK)]),
        starred(
            results,
            map("Continuum Poisson, ρ inside", weighted, &weighted.poisson),
        ),
        scatter("Graph Poisson", graph, vec![star(results, Colour::INK)]),
        starred(results, map("RBF", weighted, &rbf)),
        starred(
            results,
            map("Continuum Poisson, ρ² inside", squared, &squared.poisson),
        ),
    ];
    let grid = Grid::new(
        "Two moons: propagation from a density and from a sample",
        3,
        panels,
    );
    Drawn::new(
        "continuum-propagation",
        format!(
            "Propagation from one source of two moons (fig:2d-propagation). (a) Level sets of the density, estimated from \
             (b) the sample of {} points. (c) eq:poisson-ctnm-2d by finite volumes on {} x {} cells, τ = {TAU}, the source a \
             smooth disc of radius {RADIUS}. (d) Poisson propagation on the graph of {NEIGHBOURS} nearest neighbours, \
             τ = {:.0e}. (e) exp(-|x - x*|²/(2σ²)), σ = {SIGMA}. (f) As (c) with the operator of the theory section. \
             White: lines of equal value.",
            scene.sample.points.len(),
            weighted.plane.n(),
            weighted.plane.n(),
            GRAPH_TAUS[0],
        ),
        grid.sized(270.0, 250.0),
    )
}

/// Poisson and heat for both operators.
fn operators(results: &Results) -> Drawn {
    let of = |operator| results.kernels.of(operator);
    let spreads = Operator::PRINTED.map(of);
    let poisson = spreads.map(|s| {
        starred(
            results,
            map(format!("Poisson, {}", s.operator.inside()), s, &s.poisson),
        )
    });
    let heat = spreads.map(|s| {
        starred(
            results,
            map(format!("Heat, {}", s.operator.inside()), s, &s.heat),
        )
    });
    let panels = poisson.into_iter().chain(heat);
    let grid = Grid::new("Two operators, Poisson and heat", 2, panels);
    Drawn::new(
        "continuum-operators",
        format!(
            "The two operators the paper calls Δ_ρ, from the same source. Above: Poisson (τ = {TAU}), shifted and scaled to \
             the range 0 to 1 over the sample as the graph's kernel is. Below: heat of time t = {TIME}, scaled to 1 at its \
             largest value. With ρ² inside, the gap between the moons nearly insulates, and empty space stays cold."
        ),
        grid.sized(290.0, 250.0),
    )
}

fn colour(operator: Operator) -> Colour {
    match operator {
        Operator::Plain => GREEN,
        Operator::Weighted => BLUE,
        Operator::Squared => RED,
    }
}

/// The rank correlation of graph and plane, against the size of the sample.
fn agreement(results: &Results) -> Drawn {
    let mut sizes: Vec<usize> = results.agreements.iter().map(|row| row.items).collect();
    sizes.dedup();
    let mut seeds: Vec<u64> = results.agreements.iter().map(|row| row.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let line = |(number, operator): (usize, Operator)| {
        let trial = |seed: &u64| -> Vec<f64> {
            let one = |items: &usize| {
                samples(&results.agreements, *items)
                    .iter()
                    .find(|row| row.seed == *seed)
                    .map(|row| row.ranks[number])
            };
            sizes
                .iter()
                .map(|items| one(items).unwrap_or(f64::NAN))
                .collect()
        };
        let trials: Vec<Vec<f64>> = seeds.iter().map(trial).collect();
        let mark = [MarkerKind::Up, MarkerKind::Circle, MarkerKind::Diamond][number];
        let x = sizes.iter().map(|items| *items as f64);
        Series::new(operator.name(), x, band(&trials)).with_look(colour(operator).marked(mark))
    };
    let ends = (sizes[0] as f64 / 1.1, sizes[sizes.len() - 1] as f64 * 1.1);
    let chart = LineChart::new(
        "Which operator does a graph of nearest neighbours stand for?",
        ["points in the sample", "rank correlation, graph and plane"],
        Operator::ALL.into_iter().enumerate().map(line).collect(),
    )
    .log_x()
    .x_range(ends);
    Drawn::new(
        "continuum-agreement",
        format!(
            "Spearman's rank correlation, over the sample, of Poisson on the graph of {NEIGHBOURS} nearest neighbours with \
             Poisson in the plane for three operators; means over {} samples of two moons of each size. The paper's caption \
             names (1/ρ) div(ρ grad u).",
            seeds.len()
        ),
        chart,
    )
}

/// Errors of the manufactured solution; source values and kernels under refinement.
fn refinement(results: &Results) -> Drawn {
    let error = |operator: Operator| {
        let rows = || results.errors.iter().filter(move |row| row.0 == operator);
        let look = colour(operator).marked(MarkerKind::Circle);
        let (x, y) = (rows().map(|row| row.1 as f64), rows().map(|row| row.2));
        Series::curve(format!("{}, fixed radius", operator.inside()), x, y, look)
    };
    let first = results.errors[0];
    let guide: Vec<f64> = results
        .errors
        .iter()
        .filter(|row| row.0 == first.0)
        .map(|row| row.1 as f64)
        .collect();
    let heights = guide
        .iter()
        .map(|n| 0.5 * first.2 * (first.1 as f64 / n) * (first.1 as f64 / n));
    let guide = Series::curve("order h²", &guide, heights, GREY.dotted());
    let ends = {
        let n = |row: &(Operator, usize, f64)| row.1 as f64;
        (
            n(&first) / 1.15,
            results.errors.last().map_or(1.0, n) * 1.15,
        )
    };
    let chart = |title: &str, y_label: &str, y_scale, series| {
        LineChart::new(title, ["cells along a side, 1/h", y_label], series)
            .log_x()
            .y_scale(y_scale)
            .x_range(ends)
    };
    let mut peaks = Vec::new();
    let mut means = Vec::new();
    for operator in Operator::PRINTED {
        for fixed in [true, false] {
            let rungs = of(&results.rungs, operator, fixed);
            let x: Vec<f64> = rungs.iter().map(|rung| rung.n as f64).collect();
            let kind = if fixed { "fixed radius" } else { "one cell" };
            let mark = if fixed {
                MarkerKind::Circle
            } else {
                MarkerKind::Diamond
            };
            let dash = if fixed { Vec::new() } else { vec![7.0, 4.0] };
            let look = colour(operator).marked(mark).dash(&dash);
            let name = format!("{}, {kind}", operator.inside());
            let heights = rungs.iter().map(|rung| rung.peak);
            peaks.push(Series::curve(name.clone(), &x, heights, look.clone()));
            means.push(Series::curve(
                name,
                &x,
                rungs.iter().map(|rung| rung.own_moon),
                look,
            ));
            if !fixed {
                let s = growth(
                    operator,
                    results
                        .scene
                        .kde
                        .at(snapped(results.scene.source(), rungs[0].n)),
                );
                let (end, top) = (x[x.len() - 1], rungs[rungs.len() - 1].peak);
                let line = x.iter().map(|n| top + s * libm::log(n / end));
                peaks.push(Series::curve(
                    "theory, s log(1/h)",
                    &x,
                    line,
                    Colour::INK.dotted(),
                ));
            }
        }
    }
    let panels = vec![
        chart(
            "Manufactured solution",
            "largest error",
            Scale::Log,
            vec![error(Operator::Weighted), error(Operator::Squared), guide],
        ),
        chart("Value at the source", "u(x*) - min u", Scale::Linear, peaks),
        chart(
            "Kernel, normalised at the source",
            "mean K on its own moon",
            Scale::Linear,
            means,
        ),
    ];
    let grid = Grid::new("Refining the grid", 3, panels);
    Drawn::new(
        "continuum-refinement",
        format!(
            "(a) The grid converges to a manufactured solution as h² (one operator's line covers the other's). (b) \
             With a source of fixed radius ({RADIUS}) the value at the source settles; with a source of one cell it \
             grows like s log(1/h), s = 1/(2π) for ρ inside and 1/(2πρ(x*)) for ρ² (dotted, through the last point). (c) Hence the kernel normalised at the source settles \
             only for a fixed radius."
        ),
        grid.sized(290.0, 250.0),
    )
}
