//! The figures: probability against λ, where the guarantee says something, the constant C, numbers of questions.

use super::bounds::{
    Brace, Case, constant, corrected, corrected_bound, mended_constant, printed_bound,
};
use super::process::{Choice, wilson};
use super::{CHOICES, LARGEST, Studied};
use crate::theory::{Drawn, Level};
use dial_plot::chart::{Colour, MarkerKind, Stroke};
use dial_plot::colours::{BLUE, GREEN, GREY, ORANGE, RED};
use dial_plot::plot::{
    Grid, HeatMap, LineChart, LineStyle, Overlay, OverlayKind, Panel, Scale, Series,
};
use dial_plot::stats::Band;

pub(super) fn figures(studied: &[Studied], level: Level) -> Vec<Drawn> {
    vec![
        probabilities(studied),
        questions(studied),
        meaning(level),
        constants(),
    ]
}

/// λ at which bounds are drawn.
pub(super) fn fine() -> Vec<f64> {
    (0..=80)
        .map(|i| 0.3 * libm::pow(LARGEST / 0.3, f64::from(i) / 80.0))
        .collect()
}

fn probabilities(studied: &[Studied]) -> Drawn {
    let panel = |one: &Studied| {
        let x = fine();
        let bounds: Vec<super::Bounds> = x.iter().map(|lambda| one.scene.bounds(*lambda)).collect();
        let curve = |name: &str, of: &dyn Fn(&super::Bounds) -> f64, look: LineStyle| {
            Series::curve(name, &x, bounds.iter().map(of), look)
        };
        let mut band = Band::default();
        for (_, hits) in &one.simulated {
            let (low, high) = wilson(*hits, one.trials);
            band.mean.push(*hits as f64 / one.trials as f64);
            band.low.push(low);
            band.high.push(high);
        }
        let places = one.simulated.iter().map(|(lambda, _)| *lambda);
        let marks = Colour::INK.marked(MarkerKind::Circle).wide(0.0);
        let mut series = vec![Series::new("simulated", places, band).with_look(marks)];
        if one.scene.exact.is_some() {
            let truth = x.iter().filter_map(|lambda| one.scene.truth(*lambda));
            series.push(Series::curve(
                "exact",
                &x,
                truth,
                Colour::INK.line().wide(1.2),
            ));
        }
        let wide = BLUE.line().wide(3.6);
        series.push(curve("provable, step by step", &|b| b.stepwise, wide));
        series.push(curve(
            "provable, in the paper's form",
            &|b| b.corrected,
            GREEN.dashed(),
        ));
        series.push(curve("printed", &|b| b.printed, RED.dotted()));
        // With many clusters everything is small.
        let many = one.scene.process.n_clusters > 5;
        LineChart::new(
            format!(
                "{}, α₀ = {}",
                one.scene.name,
                (1e4 * one.scene.process.prior).round() / 1e4
            ),
            ["λ", "probability"],
            series,
        )
        .log_x()
        .y_scale(if many { Scale::Log } else { Scale::Linear })
        .x_range((0.3, LARGEST))
        .y_range(if many { (1e-6, 1.0) } else { (0.0, 1.0) })
    };
    let grid = Grid::new(
        "The exploration guarantee and the truth",
        2,
        studied.iter().map(panel),
    );
    Drawn::new(
        "exploration-probability",
        "The probability of meeting K clusters in K questions (prop:cluster-exploration) against λ: simulated with \
         95 % intervals and, for perfect separation, exact; the bound as printed, the one of the same form \
         that holds, and the product over the steps. A bound must not lie above the truth. On a pool each \
         bound is the largest over the sets found; those that are not seen lie at 0. The pools of ten classes have a \
         logarithmic axis.",
        Grid {
            size: (330.0, 190.0),
            note: "Shaded: 95 % intervals of shares, after Wilson".into(),
            ..grid
        },
    )
}

pub(super) fn name(choice: Choice) -> String {
    match choice {
        Choice::Maximum => "maximum variance".into(),
        Choice::Automatic => "proportional, automatic λ".into(),
        Choice::Proportional(lambda) => format!("proportional, λ = {lambda}"),
        Choice::Random => "random".into(),
    }
}

fn questions(studied: &[Studied]) -> Drawn {
    let looks = [BLUE.line(), GREEN.line(), ORANGE.dashed(), GREY.dotted()];
    let panel = |one: &Studied| {
        let k = one.scene.process.n_clusters;
        let x: Vec<f64> = (k..=6 * k).map(|t| t as f64).collect();
        let series =
            CHOICES
                .iter()
                .zip(&one.counted)
                .zip(&looks)
                .map(|((choice, counts), look)| {
                    let by = |t: &f64| {
                        counts.iter().flatten().filter(|c| **c as f64 <= *t).count() as f64
                            / counts.len() as f64
                    };
                    Series::curve(name(*choice), &x, x.iter().map(by), look.clone())
                });
        LineChart::new(
            one.scene.name.clone(),
            ["questions", "runs that met all clusters"],
            series.collect(),
        )
        .y_range((0.0, 1.0))
        .in_percent()
    };
    let shown = studied.iter().skip(1).map(panel);
    Drawn::new(
        "exploration-questions",
        "How many questions it takes to meet every cluster: the share of runs that had met all K after a number of \
         questions, the first of them K. Any item may be asked again, and no label is known at the start.",
        Grid::new("How many questions until every cluster was met", 2, shown).sized(330.0, 190.0),
    )
}

/// A bound at its best λ and the best α₀ of a grid.
fn promise(bound: fn(&Case) -> Brace, delta: f64, zeta: f64, epsilon: f64) -> f64 {
    let at = |i: i32| {
        let prior = libm::pow(10.0, f64::from(i) / 8.0 - 3.0);
        let brace = bound(&Case {
            classes: 3,
            prior,
            delta,
            zeta,
            epsilon,
            least_weight: 1.0 / 3.0,
        });
        brace.value(brace.best_lambda())
    };
    (0..=24).map(at).fold(0.0, f64::max)
}

fn meaning(level: Level) -> Drawn {
    let cells = level.pick(40, 90, 150);
    let map = |title: &str,
               label: &str,
               range: (f64, f64),
               of: &dyn Fn(fn(&Case) -> Brace, f64, f64) -> f64| {
        let theirs = HeatMap::sampled((0.0, 1.0), range, cells, cells, |x, y| {
            of(printed_bound, x, y)
        });
        let most = theirs.values.into_iter().fold(0.0, f64::max);
        let panel = Panel::Heat(HeatMap {
            title: title.into(),
            x_label: "ζ".into(),
            y_label: label.into(),
            value_label: "probability promised".into(),
            value_range: Some((0.0, 1.0)),
            contours: vec![0.01, 0.5, 0.9],
            ..HeatMap::sampled((0.0, 1.0), range, cells, cells, |x, y| {
                of(corrected_bound, x, y)
            })
        });
        (panel, most)
    };
    let ten = |y: f64| libm::pow(10.0, y);
    let (a, most_a) = map(
        "ε = 0.001",
        "log₁₀ δ",
        (-6.0, -1.0),
        &|bound, zeta, y| promise(bound, ten(y), zeta, 0.001),
    );
    let (b, most_b) = map(
        "δ = 0.0001",
        "log₁₀ ε",
        (-4.0, -0.5),
        &|bound, zeta, y| promise(bound, 0.0001, zeta, ten(y)),
    );
    Drawn::new(
        "exploration-meaning",
        format!(
            "Where the guarantee says something: the provable bound in the paper's form for three classes of equal \
             weights, at its best λ and the best α₀ from 0.001 to 1, over ζ and (a) δ for ε = 0.001, (b) ε for \
             δ = 0.0001. Lines at 0.01, 0.5 and 0.9. The printed bound, at its own best λ and α₀, is nowhere above {:.3} \
             here: δ has a factor exp(λ(K+1)(2α₀+1)/(Kα₀²(Kα₀+1))) in it.",
            most_a.max(most_b)
        ),
        Grid::new("Where the guarantee says something", 2, vec![a, b]).sized(300.0, 240.0),
    )
}

fn constants() -> Drawn {
    let x: Vec<f64> = (2..=20).map(f64::from).collect();
    let curve = |name: &str, of: &dyn Fn(&Case) -> f64, look: LineStyle| {
        Series::curve(
            name,
            &x,
            x.iter().map(|k| of(&Case::perfect(*k as usize))),
            look,
        )
    };
    let ratio = |case: &Case| corrected(case).labelled / corrected(case).unlabelled;
    let one = OverlayKind::Path {
        points: vec![(2.0, 1.0), (20.0, 1.0)],
        stroke: Stroke {
            dash: vec![2.0, 3.5],
            ..Stroke::solid(Colour::AXIS, 1.5)
        },
    };
    let chart = LineChart::new(
        "",
        ["K", "bound on A_lab / A_unl"],
        vec![
            curve(
                "C with K - 1 in A_unl",
                &mended_constant,
                ORANGE.marked(MarkerKind::Square),
            ),
            curve("C as printed", &constant, RED.marked(MarkerKind::Up)),
            curve(
                "A_lab / A_unl that hold",
                &ratio,
                BLUE.marked(MarkerKind::Circle),
            ),
        ],
    )
    .y_range((0.0, 1.3))
    .under(vec![Overlay::named("", one)]);
    Drawn::new(
        "exploration-constant",
        "The constant of rem:explain-bound, perfect separation with α₀ = 1/K²; the guarantee means something \
         below 1 (dotted). As printed it is at most 0.448 (K = 3). With the right A_unl it is 1.22 for K = 2 \
         and below 1/2 only from K = 7 on. The bounds that hold have the ratio 1/(K + 1).",
        Grid::new("The constant C for perfect separation", 1, vec![chart]).sized(480.0, 260.0),
    )
}
