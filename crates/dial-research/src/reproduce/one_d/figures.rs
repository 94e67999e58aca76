//! The figures of the one-dimensional experiment: set-up and acquisitions, densities of the choices.
//!
//! Within a panel every curve is scaled to height 1 (acquisitions from their smallest to their largest value), because
//! densities, variances and margins have nothing to do with each other's units. Densities of choices are Gaussian
//! kernel estimates of width 0.15.

use super::{
    DRAWN_AFTER_QUERIES, Experiment, HALF, INITIAL, Line, Method, POLICIES, QUERIES, full_name,
};
use crate::reproduce::Drawn;
use dial::Policy;
use dial_plot::chart::{Colour, MarkerKind};
use dial_plot::colours::{self, BLUE, GREEN, GREY, RED};
use dial_plot::plot::{Grid, LineChart, LineStyle, Overlay, Series};

/// Width of the kernels of the density of choices.
const KDE_WIDTH: f64 = 0.15;

const UNCERTAINTY: &str = "population uncertainty";

fn colour(method: Method) -> Colour {
    match method {
        Method::Variance => BLUE,
        Method::Margin => RED,
    }
}

/// Values spread from 0 to 1.
fn spread(values: &[f64], from_zero: bool) -> Vec<f64> {
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let low = if from_zero {
        0.0
    } else {
        values.iter().copied().fold(f64::INFINITY, f64::min)
    };
    values
        .iter()
        .map(|v| {
            if high > low {
                (v - low) / (high - low)
            } else {
                0.0
            }
        })
        .collect()
}

/// A curve over the line.
fn curve(line: &Line, name: impl Into<String>, values: &[f64], look: LineStyle) -> Series {
    Series::curve(name, &line.x, values, look)
}

/// The classes and their overlap, every panel's ground.
fn ground(line: &Line, faint: bool) -> Vec<Series> {
    let most = line.joint.iter().flatten().copied().fold(0.0, f64::max);
    let area = |colour: Colour| LineStyle {
        filling: if faint { 0.22 } else { 0.4 },
        width: if faint { 0.0 } else { 1.0 },
        ..colour.area()
    };
    let class = |c: usize, colour: Colour| {
        let heights: Vec<f64> = line.joint[c].iter().map(|p| p / most).collect();
        curve(line, format!("class {c}"), &heights, area(colour))
    };
    let uncertainty = spread(&line.uncertainty(), true);
    let dashed = Colour::INK.line().dash(&[5.0, 3.5]).wide(1.5);
    vec![
        class(0, GREEN),
        class(1, GREY),
        curve(line, UNCERTAINTY, &uncertainty, dashed),
    ]
}

fn panel(
    line: &Line,
    title: String,
    faint: bool,
    curve: Option<Series>,
    overlays: Vec<Overlay>,
) -> LineChart {
    LineChart::new(
        title,
        ["x", ""],
        curve.into_iter().chain(ground(line, faint)).collect(),
    )
    .x_range((-HALF, HALF))
    .y_range((0.0, 1.1))
    .under(overlays)
}

/// The figures, of the first trial.
pub(super) fn figures(given: &Experiment, wide: &Experiment) -> Vec<Drawn> {
    vec![
        acquisitions(given),
        choices(given, "uncertainty-1d-kde"),
        choices(wide, "uncertainty-1d-kde-wide"),
    ]
}

fn acquisitions(experiment: &Experiment) -> Drawn {
    let line = &experiment.line;
    let start = INITIAL.iter().map(|(x, _)| (*x, 0.05)).collect();
    let setup = panel(
        line,
        "Two classes and their population uncertainty".into(),
        false,
        None,
        vec![Overlay::marks(
            "initial labels",
            start,
            MarkerKind::Diamond,
            Colour::INK,
        )],
    );
    let after = |method: Method, shown: usize| {
        let trial = &experiment.arm(method, Policy::Max).trials[0];
        let look = colour(method).line().wide(2.4);
        let curve = curve(
            line,
            method.name(),
            &spread(&trial.shown[shown], false),
            look,
        );
        let known = &trial.labels[..INITIAL.len() + DRAWN_AFTER_QUERIES[shown]];
        let marks = |class: usize, kind, colour: Colour| {
            let points = known
                .iter()
                .filter(|(_, c)| *c == class)
                .map(|(node, _)| (line.x[*node], 0.05))
                .collect();
            Overlay::marks(format!("label {class}"), points, kind, colour)
        };
        let overlays = vec![
            marks(0, MarkerKind::Cross, colours::mix(GREEN, Colour::INK, 0.35)),
            marks(1, MarkerKind::Square, colours::mix(GREY, Colour::INK, 0.45)),
        ];
        let word = if DRAWN_AFTER_QUERIES[shown] == 1 {
            "query"
        } else {
            "queries"
        };
        panel(
            line,
            format!(
                "{} after {} {word}",
                method.name(),
                DRAWN_AFTER_QUERIES[shown]
            ),
            true,
            Some(curve),
            overlays,
        )
    };
    let pair = |shown: usize| Method::ALL.map(|method| after(method, shown)).to_vec();
    let rows = vec![vec![setup], pair(0), pair(1)];
    let grid = Grid::of("Two kinds of uncertainty", rows).sized(380.0, 180.0);
    Drawn::new(
        "uncertainty-1d",
        "Population uncertainty and what two acquisitions take for uncertain (fig:unc-demo). (a) Four clusters \
         of two classes; dashed: min{p(x,0), p(x,1)}, scaled to height 1. (b, d) Dirichlet variance and (c, e) \
         smallest margin of an RBF support vector machine (γ = 2), after 1 and 30 queries at the maximum, each \
         scaled from its smallest to its largest value; marks are labels given so far. First seed.",
        grid,
    )
}

/// The Gaussian kernel density estimate of places at the points of the line, as a curve of height 1.
fn density(line: &Line, places: &[f64]) -> Vec<f64> {
    let at = |x: &f64| {
        places
            .iter()
            .map(|z| libm::exp(-0.5 * (x - z) * (x - z) / (KDE_WIDTH * KDE_WIDTH)))
            .sum::<f64>()
    };
    spread(&line.x.iter().map(at).collect::<Vec<f64>>(), true)
}

fn choices(experiment: &Experiment, stem: &str) -> Drawn {
    let (line, gamma) = (&experiment.line, experiment.line.gamma);
    let shown = |method: Method, policy: Policy| {
        let places = experiment.arm(method, policy).places(line, 0);
        let look = colour(method).line().dash(&[2.5, 3.0]).wide(2.4);
        let curve = curve(
            line,
            format!("choices of {}", method.name()),
            &density(line, &places),
            look,
        );
        let rug = Overlay::rug("", places, colour(method));
        panel(
            line,
            full_name(method, policy),
            true,
            Some(curve),
            vec![rug],
        )
    };
    let panels = POLICIES
        .iter()
        .flat_map(|policy| Method::ALL.map(|method| shown(method, *policy)));
    let grid = Grid::new(
        format!("Where the first {QUERIES} queries went (γ = {gamma})"),
        2,
        panels,
    );
    Drawn::new(
        stem,
        format!(
            "Kernel density estimates (width {KDE_WIDTH}) of the first {QUERIES} choices (fig:unc-demo-kde), γ = {gamma}, the \
             choices themselves as strokes at the foot, and the population uncertainty (dashed), each scaled to height \
             1. Above the maximum policy, below proportional sampling. First seed."
        ),
        grid.sized(380.0, 180.0),
    )
}
