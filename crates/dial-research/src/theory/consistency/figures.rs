//! The figures: trends and their estimates, rates, bounds.

use dial::seed::{Purpose, Random};

use super::estimate::{Cube, middle};
use super::{Curve, DELTA, Scaling, Study, bounds, findings, kernel, time};
use crate::output::Drawn;
use crate::theory::slopes::fit;
use dial_plot::chart::{Colour, MarkerKind};
use dial_plot::colours::{BLUE, CLASSES, GREEN, GREY, ORANGE, PURPLE, RED};
use dial_plot::plot::{Grid, LineChart, Series};
use dial_plot::stats::{band, mean};
use dial_plot::words::Listed;

/// Sizes at which an estimate is drawn.
const SAMPLE_SIZES_DRAWN: [usize; 3] = [100, 1000, 10_000];

/// The estimates of one sample of a size.
pub(super) struct Shown {
    count: usize,
    cube: Cube,
    hat: Vec<f64>,
    ratio: Vec<f64>,
}

/// One sample of each size of the interval.
pub(super) fn shown(seed: u64) -> Vec<Shown> {
    let one = |count: usize| {
        let cube = Cube::new(1, 400, time(count, 1));
        let sample = cube.sample(count, &mut Random::new(seed, Purpose::User, count as u64));
        let [hat, all] = cube.sums(&sample);
        let ratio = hat.iter().zip(&all).map(|(a, b)| a / b).collect();
        Shown {
            count,
            cube,
            hat,
            ratio,
        }
    };
    SAMPLE_SIZES_DRAWN.map(one).into()
}

pub(super) fn trends(shown: &[Shown]) -> Drawn {
    let panel = |shown: &Shown| {
        let side = shown.cube.side;
        let x: Vec<f64> = (0..side).map(|i| middle(i, side)).collect();
        let t = shown.cube.time;
        let curve = |name: &str, y: &[f64], look| Series::curve(name, &x, y, look);
        LineChart::new(
            format!("n = {}, t = {t:.4}", shown.count),
            ["x", ""],
            vec![
                curve("trend η", &shown.cube.trend, Colour::INK.line().wide(2.4)),
                curve("mean estimate", &shown.cube.expected(), BLUE.dashed()),
                curve("estimate (expected normaliser)", &shown.hat, RED.line()),
                curve(
                    "classifier (empirical normaliser)",
                    &shown.ratio,
                    GREEN.dotted(),
                ),
            ],
        )
        .x_range((0.0, 1.0))
        .y_range((0.0, 1.0))
    };
    let panels = shown.iter().map(panel);
    Drawn::new(
        "consistency-trend",
        "The trend on the unit interval and its estimates from one sample of each size, t = 0.1 n^(-2/5). \
         From black to blue: the bias, which the kernel makes. From blue to red: what the sample makes of \
         it. The theorem is about the red line η̂, the classifier asks whether the green one is above ½.",
        Grid::new("A trend and its estimates", 3, panels).sized(290.0, 210.0),
    )
}

/// A chart with two logarithmic axes over the sample size.
pub(super) fn over_sizes(title: String, y_label: &str, series: Vec<Series>) -> LineChart {
    let x = &series[0].x;
    let ends = (x[0], x[x.len() - 1]);
    LineChart::new(title, ["labels n", y_label], series)
        .log_log()
        .x_range(ends)
}

/// Repetitions by size as curves by repetition.
pub(super) fn transposed(values: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..values[0].len())
        .map(|r| values.iter().map(|size| size[r]).collect())
        .collect()
}

pub(super) fn rates(study: &Study) -> Drawn {
    let panel = |curve: &Curve| {
        let x = curve.sizes();
        let marked = |colour: Colour, mark| colour.marked(mark);
        let total = band(transposed(&curve.values(|j| j.error)));
        let centred = band(transposed(&curve.values(|j| j.centred)));
        let half: Vec<f64> = x
            .iter()
            .map(|n| curve.fluctuation()[0] * (n / x[0]).powi(-1).sqrt())
            .collect();
        let chart = over_sizes(
            format!("On the {}", curve.name),
            "L¹(ρ) distance",
            vec![
                Series::new("mean error", &x, total)
                    .with_look(marked(Colour::INK, MarkerKind::Circle)),
                Series::new("variance part", &x, centred)
                    .with_look(marked(BLUE, MarkerKind::Square)),
                Series::curve("bias", &x, &curve.bias, marked(ORANGE, MarkerKind::Up)),
                Series::curve(
                    "fluctuation (standard deviation)",
                    &x,
                    curve.fluctuation(),
                    marked(RED, MarkerKind::Diamond),
                ),
                Series::curve("slope -½", &x, half, GREY.dotted().wide(1.2)),
            ],
        );
        chart.y_range((3e-4, 1.0))
    };
    let panels = study.curves.iter().map(panel);
    let list = |part: usize| {
        let one = |curve: &Curve| {
            format!(
                "{:.2} ({})",
                findings::parts(curve)[part].exponent,
                curve.name
            )
        };
        study.curves.iter().map(one).joined(", ")
    };
    Drawn::new(
        "consistency-rates",
        format!(
            "Error of the estimated trend over the number of labels, t = 0.1 n^(-2/(4+d)), and its parts: the \
             variance part E ∫ |η̂ - E η̂|, the bias ∫ |E η̂ - η|, and the standard deviation of the error. Fitted \
             exponents of n: mean error {}; variance part {}; bias {}; fluctuation {}. In the limit of large n the \
             first three are -2/5 on the intervals and -1/3 on the square, and the fluctuation is at most of order \
             n^(-1/2), the rate of the theorem (dotted).",
            list(2),
            list(1),
            list(0),
            list(3)
        ),
        Grid::new("Bias, variance and fluctuation", 3, panels).sized(290.0, 240.0),
    )
}

fn norms() -> LineChart {
    let times: Vec<f64> = (0..=48)
        .map(|i| libm::pow(10.0, f64::from(i) / 12.0 - 4.0))
        .collect();
    let curve = |name: &str, f: &dyn Fn(f64) -> f64, look| {
        Series::curve(name, &times, times.iter().map(|t| f(*t)), look)
    };
    LineChart::new(
        "Norm of the heat kernel and the bound assumed",
        ["t", "largest norm"],
        vec![
            curve(
                "L² norm, interval",
                &|t| kernel::largest_norm(t, 2.0, 1),
                BLUE.line(),
            ),
            curve(
                "L⁴ norm, interval",
                &|t| kernel::largest_norm(t, 4.0, 1),
                GREEN.line(),
            ),
            curve("assumed, t^(-½)", &|t| 1.0 / t.sqrt(), Colour::INK.dashed()),
        ],
    )
    .log_log()
}

fn conditions(study: &Study) -> LineChart {
    let palette = [CLASSES[6], PURPLE, ORANGE, RED];
    let marks = [
        MarkerKind::Circle,
        MarkerKind::Square,
        MarkerKind::Up,
        MarkerKind::Diamond,
    ];
    let one = |((scaling, colour), mark): ((&Scaling, Colour), MarkerKind)| {
        let band = band(transposed(&scaling.values(|j| j.centred)));
        let name = format!("a = {}", scaling.exponent);
        Series::new(name, scaling.sizes(), band).with_look(colour.marked(mark))
    };
    let series = study
        .conditions
        .iter()
        .zip(palette)
        .zip(marks)
        .map(one)
        .collect();
    over_sizes(
        "Variance part on the interval, t = n^(-a)".into(),
        "mean L¹ distance",
        series,
    )
    .y_range((0.01, 1.0))
}

fn printed(study: &Study) -> LineChart {
    let x = study.slow.sizes();
    let mean = band(transposed(&study.slow.values(|j| j.error)));
    let each = |f: &dyn Fn(usize, f64) -> f64| {
        x.iter()
            .enumerate()
            .map(|(i, n)| f(i, *n))
            .collect::<Vec<f64>>()
    };
    let stated = each(&|_, n| bounds::printed_bound(1.0, n, DELTA));
    let holds = each(&|i, n| bounds::bound(1.0, mean.mean[i], n, DELTA));
    over_sizes(
        "The theorem where t = n^(-1/10)".into(),
        "L¹(ρ) error",
        vec![
            Series::new("mean error", &x, mean).with_look(Colour::INK.marked(MarkerKind::Circle)),
            Series::curve("bound as printed", &x, stated, RED.dashed()),
            Series::curve("bound that holds", x, holds, GREEN.line()),
        ],
    )
}

fn tail(study: &Study) -> LineChart {
    let (count, errors) = &study.tail;
    let n = *count as f64;
    let mean = mean(errors);
    let epsilons: Vec<f64> = (0..=160).map(|i| f64::from(i) * 0.001).collect();
    let share =
        |e: &f64| errors.iter().filter(|error| *error > e).count() as f64 / errors.len() as f64;
    let survival: Vec<f64> = epsilons
        .iter()
        .map(share)
        .map(|s| if s > 0.0 { s } else { f64::NAN })
        .collect();
    let holds = epsilons.iter().map(|e| bounds::tail(1.0, mean, n, *e));
    let stated = epsilons.iter().map(|e| bounds::printed_tail(1.0, n, *e));
    LineChart::new(
        format!("Chance of an error above ε, n = {count}"),
        ["ε", "P(F > ε)"],
        vec![
            Series::curve("observed share", &epsilons, survival, BLUE.line()),
            Series::curve("bound that holds", &epsilons, holds, GREEN.line()),
            Series::curve("bound as printed", &epsilons, stated, RED.dashed()),
        ],
    )
    .log_y()
    .y_range((1e-4, 2.0))
}

pub(super) fn bounds(study: &Study) -> Drawn {
    let panels = [norms(), conditions(study), printed(study), tail(study)];
    let slope = |p: f64| {
        let times = [1e-4, 2e-4, 4e-4];
        fit(&times, &times.map(|t| kernel::largest_norm(t, p, 1))).exponent
    };
    Drawn::new(
        "consistency-bounds",
        format!(
            "(a) The norms of the heat kernel grow like t^({:.2}) (p = 2) and t^({:.2}) (p = 4), not like the t^(-½) \
             that is assumed. (b) Hence the variance part vanishes where n √t grows (a < 2), as the statement says, \
             and not only where n t does (a < 1), as the proof needs. (c) With t = n^(-1/10) all conditions of the \
             theorem hold, and the error exceeds its bound 4√2 θ √(ln(1/δ)/n), δ = 0.05; what holds is E F + θ̃ √(2 \
             ln(1/δ)/n). (d) The tail exp(-n (ε - E F)²/(2θ̃²)) holds with room to spare; the printed exp(-n \
             ε²/(32θ²)) is proved only where ε is at least twice the mean error E F.",
            slope(2.0),
            slope(4.0)
        ),
        Grid::new("Conditions and bounds of the theorem", 2, panels).sized(400.0, 220.0),
    )
}
