//! The figures: trends and their estimates, rates, bounds.

use dial::seed::{Purpose, Random};

use super::estimate::{Cube, middle};
use super::{Curve, DELTA, Scaling, Study, bounds, kernel, telling, time};
use crate::chart::{Colour, MarkerKind};
use crate::colours;
use crate::plot::{Grid, LineChart, Look, Panel, Scale, Series};
use crate::stats::band;
use crate::theory::slopes::fit;
use crate::written::Drawn;

/// Sizes at which an estimate is drawn.
const SHOWN: [usize; 3] = [100, 1000, 10_000];

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
    SHOWN.map(one).into()
}

pub(super) fn trends(shown: &[Shown]) -> Drawn {
    let panel = |shown: &Shown| {
        let side = shown.cube.side;
        let x: Vec<f64> = (0..side).map(|i| middle(i, side)).collect();
        let t = shown.cube.time;
        let curve = |name: &str, y: &[f64], look| Series::curve(name, x.clone(), y.to_vec(), look);
        Panel::Lines(LineChart {
            title: format!("n = {}, t = {t:.4}", shown.count),
            x_label: "x".into(),
            x_range: Some((0.0, 1.0)),
            y_range: Some((0.0, 1.0)),
            series: vec![
                curve(
                    "trend η",
                    &shown.cube.trend,
                    Look {
                        width: 2.4,
                        ..Look::line(Colour::INK)
                    },
                ),
                curve(
                    "mean estimate",
                    &shown.cube.expected(),
                    Look::dashed(colours::BLUE),
                ),
                curve(
                    "estimate (expected normaliser)",
                    &shown.hat,
                    Look::line(colours::RED),
                ),
                curve(
                    "classifier (empirical normaliser)",
                    &shown.ratio,
                    Look::dotted(colours::GREEN),
                ),
            ],
            ..LineChart::default()
        })
    };
    let panels = shown.iter().map(panel).collect();
    Drawn {
        stem: "consistency-trend".into(),
        caption: "The trend on the unit interval and its estimates from one sample of each size, t = 0.1 n^(-2/5). \
                  From black to blue: the bias, which the kernel makes. From blue to red: what the sample makes of \
                  it. The theorem is about the red line η̂, the classifier asks whether the green one is above ½."
            .into(),
        canvas: Grid { size: (290.0, 210.0), ..Grid::new("A trend and its estimates", 3, panels) }.canvas(),
    }
}

/// A chart with two logarithmic axes over the sample size.
pub(super) fn over_sizes(title: String, y_label: &str, series: Vec<Series>) -> LineChart {
    LineChart {
        title,
        x_label: "labels n".into(),
        y_label: y_label.into(),
        x_range: series
            .first()
            .and_then(|s| Some((*s.x.first()?, *s.x.last()?))),
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        series,
        ..LineChart::default()
    }
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
        let marked = |colour, mark| Look::marked(colour, mark);
        let total = band(&transposed(&curve.values(|j| j.error)));
        let centred = band(&transposed(&curve.values(|j| j.centred)));
        let half: Vec<f64> = x
            .iter()
            .map(|n| curve.fluctuation()[0] * (n / x[0]).powi(-1).sqrt())
            .collect();
        let chart = over_sizes(
            format!("On the {}", curve.name),
            "L¹(ρ) distance",
            vec![
                Series::new("mean error", x.clone(), total)
                    .with_look(marked(Colour::INK, MarkerKind::Circle)),
                Series::new("variance part", x.clone(), centred)
                    .with_look(marked(colours::BLUE, MarkerKind::Square)),
                Series::curve(
                    "bias",
                    x.clone(),
                    curve.bias.clone(),
                    marked(colours::ORANGE, MarkerKind::Up),
                ),
                Series::curve(
                    "fluctuation (standard deviation)",
                    x.clone(),
                    curve.fluctuation(),
                    marked(colours::RED, MarkerKind::Diamond),
                ),
                Series::curve(
                    "slope -½",
                    x.clone(),
                    half,
                    Look {
                        width: 1.2,
                        ..Look::dotted(colours::GREY)
                    },
                ),
            ],
        );
        Panel::Lines(LineChart {
            y_range: Some((3e-4, 1.0)),
            ..chart
        })
    };
    let panels = study.curves.iter().map(panel).collect();
    let list = |part: usize| {
        let one = |curve: &Curve| {
            format!(
                "{:.2} ({})",
                telling::parts(curve)[part].exponent,
                curve.name
            )
        };
        study
            .curves
            .iter()
            .map(one)
            .collect::<Vec<String>>()
            .join(", ")
    };
    Drawn {
        stem: "consistency-rates".into(),
        caption: format!(
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
        canvas: Grid {
            size: (290.0, 240.0),
            ..Grid::new("Bias, variance and fluctuation", 3, panels)
        }
        .canvas(),
    }
}

fn norms() -> LineChart {
    let times: Vec<f64> = (0..=48)
        .map(|i| libm::pow(10.0, f64::from(i) / 12.0 - 4.0))
        .collect();
    let curve = |name: &str, f: &dyn Fn(f64) -> f64, look| {
        Series::curve(
            name,
            times.clone(),
            times.iter().map(|t| f(*t)).collect(),
            look,
        )
    };
    LineChart {
        title: "Norm of the heat kernel and the bound assumed".into(),
        x_label: "t".into(),
        y_label: "largest norm".into(),
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        series: vec![
            curve(
                "L² norm, interval",
                &|t| kernel::largest_norm(t, 2.0, 1),
                Look::line(colours::BLUE),
            ),
            curve(
                "L⁴ norm, interval",
                &|t| kernel::largest_norm(t, 4.0, 1),
                Look::line(colours::GREEN),
            ),
            curve(
                "assumed, t^(-½)",
                &|t| 1.0 / t.sqrt(),
                Look::dashed(Colour::INK),
            ),
        ],
        ..LineChart::default()
    }
}

fn conditions(study: &Study) -> LineChart {
    let palette = [
        colours::CLASSES[6],
        colours::PURPLE,
        colours::ORANGE,
        colours::RED,
    ];
    let marks = [
        MarkerKind::Circle,
        MarkerKind::Square,
        MarkerKind::Up,
        MarkerKind::Diamond,
    ];
    let one = |((scaling, colour), mark): ((&Scaling, Colour), MarkerKind)| {
        let band = band(&transposed(&scaling.values(|j| j.centred)));
        let name = format!("a = {}", scaling.exponent);
        Series::new(name, scaling.sizes(), band).with_look(Look::marked(colour, mark))
    };
    let series = study
        .conditions
        .iter()
        .zip(palette)
        .zip(marks)
        .map(one)
        .collect();
    LineChart {
        y_range: Some((0.01, 1.0)),
        ..over_sizes(
            "Variance part on the interval, t = n^(-a)".into(),
            "mean L¹ distance",
            series,
        )
    }
}

fn printed(study: &Study) -> LineChart {
    let x = study.slow.sizes();
    let mean = band(&transposed(&study.slow.values(|j| j.error)));
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
            Series::new("mean error", x.clone(), mean)
                .with_look(Look::marked(Colour::INK, MarkerKind::Circle)),
            Series::curve(
                "bound as printed",
                x.clone(),
                stated,
                Look::dashed(colours::RED),
            ),
            Series::curve("bound that holds", x, holds, Look::line(colours::GREEN)),
        ],
    )
}

fn tail(study: &Study) -> LineChart {
    let (count, errors) = &study.tail;
    let n = *count as f64;
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let epsilons: Vec<f64> = (0..=160).map(|i| f64::from(i) * 0.001).collect();
    let share =
        |e: &f64| errors.iter().filter(|error| *error > e).count() as f64 / errors.len() as f64;
    let survival: Vec<f64> = epsilons
        .iter()
        .map(share)
        .map(|s| if s > 0.0 { s } else { f64::NAN })
        .collect();
    let holds = epsilons
        .iter()
        .map(|e| bounds::tail(1.0, mean, n, *e))
        .collect();
    let stated = epsilons
        .iter()
        .map(|e| bounds::printed_tail(1.0, n, *e))
        .collect();
    LineChart {
        title: format!("Chance of an error above ε, n = {count}"),
        x_label: "ε".into(),
        y_label: "P(F > ε)".into(),
        y_scale: Scale::Log,
        y_range: Some((1e-4, 2.0)),
        series: vec![
            Series::curve(
                "observed share",
                epsilons.clone(),
                survival,
                Look::line(colours::BLUE),
            ),
            Series::curve(
                "bound that holds",
                epsilons.clone(),
                holds,
                Look::line(colours::GREEN),
            ),
            Series::curve(
                "bound as printed",
                epsilons,
                stated,
                Look::dashed(colours::RED),
            ),
        ],
        ..LineChart::default()
    }
}

pub(super) fn bounds(study: &Study) -> Drawn {
    let panels = [norms(), conditions(study), printed(study), tail(study)]
        .map(Panel::Lines)
        .to_vec();
    let slope = |p: f64| {
        let times = [1e-4, 2e-4, 4e-4];
        fit(&times, &times.map(|t| kernel::largest_norm(t, p, 1))).exponent
    };
    Drawn {
        stem: "consistency-bounds".into(),
        caption: format!(
            "(a) The norms of the heat kernel grow like t^({:.2}) (p = 2) and t^({:.2}) (p = 4), not like the t^(-½) \
             that is assumed. (b) Hence the variance part vanishes where n √t grows (a < 2), as the statement says, \
             and not only where n t does (a < 1), as the proof needs. (c) With t = n^(-1/10) all conditions of the \
             theorem hold, and the error exceeds its bound 4√2 θ √(ln(1/δ)/n), δ = 0.05; what holds is E F + θ̃ √(2 \
             ln(1/δ)/n). (d) The tail exp(-n (ε - E F)²/(2θ̃²)) holds with room to spare; the printed exp(-n \
             ε²/(32θ²)) is proved only where ε is at least twice the mean error E F.",
            slope(2.0),
            slope(4.0)
        ),
        canvas: Grid {
            size: (400.0, 220.0),
            ..Grid::new("Conditions and bounds of the theorem", 2, panels)
        }
        .canvas(),
    }
}
