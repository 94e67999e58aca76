//! The figures: the field over the course of a run, what the acquisition is made of, and how fast it gets there.

use super::process::{HALF, Line, PRIOR, Sampling};
use super::{Experiment, SHOWN, formulas};
use crate::chart::Colour;
use crate::colours;
use crate::plot::{Grid, LineChart, Look, Panel, Scale, Series};
use crate::stats::band;
use crate::written::Drawn;

pub(super) fn figures(experiments: &[Experiment], checkpoints: &[usize]) -> Vec<Drawn> {
    vec![
        course(experiments),
        trade(experiments, checkpoints),
        rates(experiments, checkpoints),
    ]
}

/// Labels so far: the initial two and the queries.
pub(super) fn labels(checkpoints: &[usize]) -> Vec<f64> {
    checkpoints
        .iter()
        .map(|queries| *queries as f64 + 2.0)
        .collect()
}

fn scaled_to(values: &[f64], height: f64) -> Vec<f64> {
    let most = values.iter().copied().fold(0.0, f64::max);
    values
        .iter()
        .map(|v| if most > 0.0 { height * v / most } else { 0.0 })
        .collect()
}

fn moment(line: &Line, title: String, last: bool, [acquisition, scaled]: &[Vec<f64>; 2]) -> Panel {
    let curve = |name: &str, y: &[f64], look| Series::curve(name, line.x.clone(), y.to_vec(), look);
    let dashed = Look {
        width: 1.3,
        dash: vec![4.0, 3.0],
        ..Look::line(Colour::INK)
    };
    Panel::Lines(LineChart {
        title,
        x_label: if last { "x" } else { "" }.into(),
        x_range: Some((-HALF, HALF)),
        y_range: Some((0.0, 0.55)),
        series: vec![
            curve(
                "acquisition V (scaled to height ½)",
                &scaled_to(acquisition, 0.5),
                Look::line(colours::BLUE),
            ),
            curve(
                "V (β + 1)",
                scaled,
                Look {
                    width: 1.8,
                    ..Look::line(colours::RED)
                },
            ),
            curve(
                "min{p(x,0), p(x,1)} (scaled)",
                &scaled_to(&line.overlap(), 0.5),
                dashed,
            ),
            curve(
                "population uncertainty G",
                &line.population,
                Look {
                    width: 0.8,
                    ..Look::area(colours::GREY)
                },
            ),
        ],
        ..LineChart::default()
    })
}

fn course(experiments: &[Experiment]) -> Drawn {
    let columns = [
        (0, Sampling::Automatic),
        (1, Sampling::Automatic),
        (1, Sampling::Linear),
    ];
    let mut rows = Vec::new();
    for (number, queries) in SHOWN.iter().enumerate() {
        let panel = |(width, sampling): &(usize, Sampling)| {
            let Experiment { line, .. } = &experiments[*width];
            let trial = &experiments[*width].arm(*sampling).trials[0];
            let title = format!("σ = {}, {}, {queries} queries", line.width, sampling.name());
            trial
                .shown
                .get(number)
                .map(|shown| moment(line, title, number + 1 == SHOWN.len(), shown))
        };
        rows.push(columns.iter().filter_map(panel).collect::<Vec<Panel>>());
    }
    rows.retain(|row| !row.is_empty());
    let grid = Grid {
        rows,
        letters: true,
        size: (300.0, 105.0),
        ..Grid::new(
            "Two kinds of uncertainty over the course of a run",
            3,
            Vec::new(),
        )
    };
    Drawn {
        stem: "uncertainty-course".into(),
        caption: "Two initial labels at ±3, then queries by proportional sampling. Grey: the population uncertainty G \
                  (eqn:G-x-eta); dashed: min{p(x,0), p(x,1)} of Example 2types-unc, scaled. Blue: the acquisition, \
                  scaled; at first it marks where labels are missing. Red: V (β + 1), its part that is about classes, \
                  unscaled. With the paper's kernel (left) the red hills are as wide as the kernel, with a narrow one \
                  they close in on G. First seed."
            .into(),
        canvas: grid.canvas(),
    }
}

fn trade(experiments: &[Experiment], checkpoints: &[usize]) -> Drawn {
    let x = labels(checkpoints);
    let mut above = Vec::new();
    let mut below = Vec::new();
    for experiment in experiments {
        let mut correlations = Vec::new();
        for (sampling, dash) in [
            (Sampling::Automatic, vec![]),
            (Sampling::Linear, vec![2.5, 3.0]),
        ] {
            let arm = experiment.arm(sampling);
            let look = |colour| Look {
                dash: dash.clone(),
                ..Look::line(colour)
            };
            let line = |what: &str, values: Vec<Vec<f64>>, colour| {
                Series::new(
                    format!("{what}, {}", sampling.name()),
                    x.clone(),
                    band(&values),
                )
                .with_look(look(colour))
            };
            correlations.push(line(
                "V with G",
                arm.curves(|m| m.with_population),
                colours::RED,
            ));
            correlations.push(line(
                "V with 1/(1 + evidence)",
                arm.curves(|m| m.with_sparsity),
                colours::BLUE,
            ));
        }
        let title = format!("Kernel σ = {}", experiment.line.width);
        let chart = |title: String, y_label: &str, y_range, y_scale, series| {
            Panel::Lines(LineChart {
                title,
                x_label: "labels".into(),
                y_label: y_label.into(),
                x_scale: Scale::Log,
                y_scale,
                y_range: Some(y_range),
                series,
                ..LineChart::default()
            })
        };
        above.push(chart(
            title,
            "correlation over the line",
            (-1.0, 1.0),
            Scale::Linear,
            correlations,
        ));
        let arm = experiment.arm(Sampling::Automatic);
        let errors = vec![
            Series::new(
                "mean |V (β + 1) - G|",
                x.clone(),
                band(&arm.curves(|m| m.off)),
            )
            .with_look(Look::line(colours::GREEN)),
            Series::new(
                "without the chance in the labels",
                x.clone(),
                band(&arm.curves(|m| m.smoothing)),
            )
            .with_look(Look::dashed(Colour::INK)),
        ];
        let title = format!("σ = {}: V (β + 1) against G", experiment.line.width);
        below.push(chart(
            title,
            "mean over the line",
            (0.003, 1.0),
            Scale::Log,
            errors,
        ));
    }
    let grid = Grid {
        size: (290.0, 190.0),
        rows: vec![above, below],
        ..Grid::new("", 3, Vec::new())
    };
    Drawn {
        stem: "uncertainty-trade".into(),
        caption: "What the acquisition is about. (a-c) Its correlation over the line with the population uncertainty \
                  G and with 1/(1 + evidence), over the number of labels. (d-f) How far V (β + 1) is from G \
                  (automatic λ), and how far it would be if every label were replaced by the trend at its place. \
                  The dashed line is what the kernel and the prior leave of the error at that number of labels."
            .into(),
        canvas: Grid { title: "What the acquisition is about".into(), letters: true, ..grid }.canvas(),
    }
}

fn rates(experiments: &[Experiment], checkpoints: &[usize]) -> Drawn {
    let counts: Vec<u32> = (0..=24)
        .map(|i| libm::pow(10.0, f64::from(i) / 6.0).round() as u32)
        .collect();
    let palette = [colours::RED, colours::ORANGE, colours::GREEN, colours::BLUE];
    let error = |(eta, colour): (f64, Colour)| {
        let rms = counts
            .iter()
            .map(|n| formulas::label_error(PRIOR, *n, eta).1)
            .collect();
        Series::curve(
            format!("η = {eta}"),
            counts.iter().map(|n| f64::from(*n)).collect(),
            rms,
            Look::line(colour),
        )
    };
    let labelled = LineChart {
        title: "Error of V (β + 1) at one place".into(),
        x_label: "labels at the place".into(),
        y_label: "root mean square error".into(),
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        series: [0.5, 0.8, 0.99, 1.0]
            .into_iter()
            .zip(palette)
            .map(error)
            .collect(),
        ..LineChart::default()
    };
    let x = labels(checkpoints);
    let experiment = &experiments[1];
    let arm = experiment.arm(Sampling::Uniform);
    let watched = |which: usize, name: &str, colour| {
        let values = arm.curves(|m| m.watched[which]);
        Series::new(name, x.clone(), band(&values)).with_look(Look::line(colour))
    };
    let fall = LineChart {
        title: format!(
            "Variance under uniform queries, σ = {}",
            experiment.line.width
        ),
        x_label: "labels".into(),
        y_label: "V".into(),
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        y_range: Some((1e-6, 1.0)),
        series: vec![
            watched(0, "at the boundary x = 0", colours::PURPLE),
            watched(1, "at the cluster centre x = -3", Colour::INK),
        ],
        ..LineChart::default()
    };
    let near = |sampling: Sampling, look| {
        let values: Vec<Vec<f64>> = experiment.arm(sampling).curves(|m| m.near);
        Series::new(
            format!("queries near a boundary, {}", sampling.name()),
            x.clone(),
            band(&values),
        )
        .with_look(look)
    };
    let share = LineChart {
        title: format!(
            "Queries within ¼ of a boundary, σ = {}",
            experiment.line.width
        ),
        x_label: "labels".into(),
        y_label: "share of the queries".into(),
        x_scale: Scale::Log,
        percent: true,
        y_range: Some((0.0, 1.0)),
        series: vec![
            near(Sampling::Automatic, Look::line(colours::CLASSES[6])),
            near(Sampling::Linear, Look::dotted(colours::CLASSES[6])),
            near(Sampling::Uniform, Look::line(colours::GREY)),
        ],
        ..LineChart::default()
    };
    let panels = vec![
        Panel::Lines(labelled),
        Panel::Lines(fall),
        Panel::Lines(share),
    ];
    Drawn {
        stem: "uncertainty-rates".into(),
        caption: "(a) How fast V (β + 1) finds G when labels of mass 1 come at one place (exact, α₀ = 0.1): like \
                  n^-½, but like n^-1 where η is ½ or 1. (b) The variance itself falls like 1/t at a boundary and \
                  like 1/t² in the middle of a cluster, where only the prior keeps it from 0. (c) The share of the \
                  queries since the last mark that fell near a boundary; these regions are 17 % of the line."
            .into(),
        canvas: Grid {
            size: (290.0, 210.0),
            ..Grid::new("How fast: the estimate of G, the variance, the queries", 3, panels)
        }
        .canvas(),
    }
}
