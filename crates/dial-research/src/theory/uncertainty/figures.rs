//! The figures: the field over the course of a run, what the acquisition is made of, and how fast it gets there.

use super::process::{HALF, Line, PRIOR, Sampling};
use super::{DRAWN_AFTER_QUERIES, Experiment, formulas};
use crate::output::Drawn;
use dial_plot::chart::Colour;
use dial_plot::colours::{BLUE, CLASSES, GREEN, GREY, ORANGE, PURPLE, RED};
use dial_plot::plot::{Grid, LineChart, Scale, Series};
use dial_plot::stats::band;

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

fn moment(
    line: &Line,
    title: String,
    last: bool,
    [acquisition, scaled]: &[Vec<f64>; 2],
) -> LineChart {
    let curve = |name: &str, y: &[f64], look| Series::curve(name, &line.x, y, look);
    let series = vec![
        curve(
            "acquisition V (scaled to height ½)",
            &scaled_to(acquisition, 0.5),
            BLUE.line(),
        ),
        curve("V (β + 1)", scaled, RED.line().wide(1.8)),
        curve(
            "min{p(x,0), p(x,1)} (scaled)",
            &scaled_to(&line.overlap(), 0.5),
            Colour::INK.line().dash(&[4.0, 3.0]).wide(1.3),
        ),
        curve(
            "population uncertainty G",
            &line.population,
            GREY.area().wide(0.8),
        ),
    ];
    LineChart::new(title, [if last { "x" } else { "" }, ""], series)
        .x_range((-HALF, HALF))
        .y_range((0.0, 0.55))
}

fn course(experiments: &[Experiment]) -> Drawn {
    let columns = [
        (0, Sampling::Automatic),
        (1, Sampling::Automatic),
        (1, Sampling::Linear),
    ];
    let mut rows = Vec::new();
    for (number, queries) in DRAWN_AFTER_QUERIES.iter().enumerate() {
        let panel = |(width, sampling): &(usize, Sampling)| {
            let Experiment { line, .. } = &experiments[*width];
            let trial = &experiments[*width].arm(*sampling).trials[0];
            let title = format!("σ = {}, {}, {queries} queries", line.width, sampling.name());
            trial
                .shown
                .get(number)
                .map(|shown| moment(line, title, number + 1 == DRAWN_AFTER_QUERIES.len(), shown))
        };
        rows.push(columns.iter().filter_map(panel).collect::<Vec<_>>());
    }
    rows.retain(|row| !row.is_empty());
    let grid =
        Grid::of("Two kinds of uncertainty over the course of a run", rows).sized(300.0, 105.0);
    Drawn::new(
        "uncertainty-course",
        "Two initial labels at ±3, then queries by proportional sampling. Grey: the population uncertainty G \
         (eqn:G-x-eta); dashed: min{p(x,0), p(x,1)} of Example 2types-unc, scaled. Blue: the acquisition, \
         scaled; at first it marks where labels are missing. Red: V (β + 1), its part that is about classes, \
         unscaled. With the paper's kernel (left) the red hills are as wide as the kernel, with a narrow one \
         they close in on G. First seed.",
        grid,
    )
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
            let look = |colour: Colour| colour.line().dash(&dash);
            let line = |what: &str, values: Vec<Vec<f64>>, colour: Colour| {
                Series::new(format!("{what}, {}", sampling.name()), &x, band(&values))
                    .with_look(look(colour))
            };
            correlations.push(line("V with G", arm.curves(|m| m.with_population), RED));
            correlations.push(line(
                "V with 1/(1 + evidence)",
                arm.curves(|m| m.with_sparsity),
                BLUE,
            ));
        }
        let title = format!("Kernel σ = {}", experiment.line.width);
        let chart = |title: String, y_label: &str, y_range, y_scale, series| {
            LineChart::new(title, ["labels", y_label], series)
                .log_x()
                .y_scale(y_scale)
                .y_range(y_range)
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
            Series::new("mean |V (β + 1) - G|", &x, band(arm.curves(|m| m.off)))
                .with_look(GREEN.line()),
            Series::new(
                "without the chance in the labels",
                &x,
                band(arm.curves(|m| m.smoothing)),
            )
            .with_look(Colour::INK.dashed()),
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
    let grid = Grid::of("What the acquisition is about", vec![above, below]).sized(290.0, 190.0);
    Drawn::new(
        "uncertainty-trade",
        "What the acquisition is about. (a-c) Its correlation over the line with the population uncertainty \
         G and with 1/(1 + evidence), over the number of labels. (d-f) How far V (β + 1) is from G \
         (automatic λ), and how far it would be if every label were replaced by the trend at its place. \
         The dashed line is what the kernel and the prior leave of the error at that number of labels.",
        grid,
    )
}

fn rates(experiments: &[Experiment], checkpoints: &[usize]) -> Drawn {
    let counts: Vec<u32> = (0..=24)
        .map(|i| libm::pow(10.0, f64::from(i) / 6.0).round() as u32)
        .collect();
    let palette = [RED, ORANGE, GREEN, BLUE];
    let error = |(eta, colour): (f64, Colour)| {
        let n = counts.iter().map(|n| f64::from(*n));
        let rms = |n: &u32| formulas::label_error(PRIOR, *n, eta).1;
        let rms = counts.iter().map(rms);
        Series::curve(format!("η = {eta}"), n, rms, colour.line())
    };
    let labelled = LineChart::new(
        "Error of V (β + 1) at one place",
        ["labels at the place", "root mean square error"],
        [0.5, 0.8, 0.99, 1.0]
            .into_iter()
            .zip(palette)
            .map(error)
            .collect(),
    )
    .log_log();
    let x = labels(checkpoints);
    let experiment = &experiments[1];
    let arm = experiment.arm(Sampling::Uniform);
    let watched = |which: usize, name: &str, colour: Colour| {
        let values = arm.curves(|m| m.watched[which]);
        Series::new(name, &x, band(&values)).with_look(colour.line())
    };
    let fall = LineChart::new(
        format!(
            "Variance under uniform queries, σ = {}",
            experiment.line.width
        ),
        ["labels", "V"],
        vec![
            watched(0, "at the boundary x = 0", PURPLE),
            watched(1, "at the cluster centre x = -3", Colour::INK),
        ],
    )
    .log_log()
    .y_range((1e-6, 1.0));
    let near = |sampling: Sampling, look| {
        let values: Vec<Vec<f64>> = experiment.arm(sampling).curves(|m| m.near);
        Series::new(
            format!("queries near a boundary, {}", sampling.name()),
            &x,
            band(&values),
        )
        .with_look(look)
    };
    let share = LineChart::new(
        format!(
            "Queries within ¼ of a boundary, σ = {}",
            experiment.line.width
        ),
        ["labels", "share of the queries"],
        vec![
            near(Sampling::Automatic, CLASSES[6].line()),
            near(Sampling::Linear, CLASSES[6].dotted()),
            near(Sampling::Uniform, GREY.line()),
        ],
    )
    .log_x()
    .y_range((0.0, 1.0))
    .in_percent();
    let panels = vec![labelled, fall, share];
    Drawn::new(
        "uncertainty-rates",
        "(a) How fast V (β + 1) finds G when labels of mass 1 come at one place (exact, α₀ = 0.1): like \
         n^-½, but like n^-1 where η is ½ or 1. (b) The variance itself falls like 1/t at a boundary and \
         like 1/t² in the middle of a cluster, where only the prior keeps it from 0. (c) The share of the \
         queries since the last mark that fell near a boundary; these regions are 17 % of the line.",
        Grid::new(
            "How fast: the estimate of G, the variance, the queries",
            3,
            panels,
        )
        .sized(290.0, 210.0),
    )
}
