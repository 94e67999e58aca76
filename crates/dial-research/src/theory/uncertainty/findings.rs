//! What the part has to tell: text, tables, and findings about the paper's statements.

use dial_data::row;
use serde_json::{Value, json};

use super::process::{BOUNDARY_HALF_WIDTH, HALF, Line, Measured, PRIOR, START, Sampling};
use super::{Arm, DRAWN_AFTER_QUERIES, Experiment, WIDTHS, figures};
use crate::theory::slopes::{self, Slope};
use crate::theory::{Finding, Tidy, Verdict};
use dial_plot::report::Table;
use dial_plot::stats::{correlation, interval};
use dial_plot::words::Listed;

/// V (β + 1) counts as having found G where it is off by less than this in the mean: a tenth of the largest G.
const FOUND_ERROR: f64 = 0.05;
/// Slopes are fitted from where labels spread evenly would give so much evidence everywhere.
const SLOPE_EVIDENCE: f64 = 10.0;
/// From this correlation on the acquisition is said to follow something.
const MIN_CORRELATION: f64 = 0.5;

pub(super) fn settings(seeds: usize, last: usize) -> Value {
    json!({ "mixture": "builtin:mixture-1d", "sigma": WIDTHS, "prior": PRIOR, "seeds": seeds, "queries": last,
        "lambda_0_for_mass_1": START, "expected_clusters": 8, "reach": BOUNDARY_HALF_WIDTH, "shown": DRAWN_AFTER_QUERIES, "points": 901 })
}

fn arms(experiments: &[Experiment]) -> impl Iterator<Item = (&Line, &Arm)> {
    experiments
        .iter()
        .flat_map(|experiment| experiment.arms.iter().map(|arm| (&experiment.line, arm)))
}

pub(super) fn tables(experiments: &[Experiment], checkpoints: &[usize]) -> Vec<Tidy> {
    let mut course = Vec::new();
    let mut fields = Vec::new();
    for (line, arm) in arms(experiments) {
        for (number, trial) in arm.trials.iter().enumerate() {
            for (queries, m) in checkpoints.iter().zip(&trial.measured) {
                course.push(row![
                    line.width,
                    arm.sampling.name(),
                    number,
                    *queries,
                    m.with_population,
                    m.with_sparsity,
                    m.off,
                    m.smoothing,
                    m.largest,
                    m.watched[0],
                    m.watched[1],
                    m.lambda,
                    m.near,
                ]);
            }
        }
        for (queries, [acquisition, scaled]) in DRAWN_AFTER_QUERIES.iter().zip(&arm.trials[0].shown)
        {
            for i in (0..line.x.len()).step_by(5) {
                fields.push(row![
                    line.width,
                    arm.sampling.name(),
                    *queries,
                    line.x[i],
                    acquisition[i],
                    scaled[i],
                ]);
            }
        }
    }
    let line = &experiments[0].line;
    let overlap = line.overlap();
    let ground = |i: usize| {
        row![
            line.x[i],
            line.joint[0][i],
            line.joint[1][i],
            line.trend[i],
            line.population[i],
            overlap[i],
        ]
    };
    vec![
        Tidy::new(
            "uncertainty-course",
            "sigma,sampling,trial,queries,correlation_population,correlation_sparsity,error,smoothing,\
             largest_variance,variance_at_0,variance_at_-3,lambda,share_near_boundary",
            course,
        ),
        Tidy::new(
            "uncertainty-fields",
            "sigma,sampling,queries,x,variance,scaled_variance",
            fields,
        ),
        Tidy::new(
            "uncertainty-line",
            "x,p_x_0,p_x_1,trend,population,overlap",
            (0..line.x.len()).step_by(5).map(ground),
        ),
    ]
}

/// The last checkpoint.
fn end(checkpoints: &[usize]) -> usize {
    checkpoints.len() - 1
}

pub(super) fn summaries(experiments: &[Experiment], checkpoints: &[usize]) -> Vec<Table> {
    let end = end(checkpoints);
    let row = |(line, arm): (&Line, &Arm)| {
        let pair = |f: fn(&Measured) -> f64| {
            format!("{:.2} → {:.2}", arm.mean(0, f), arm.mean(end, f)).replace('-', "−")
        };
        vec![
            line.width.to_string(),
            arm.sampling.name().into(),
            pair(|m| m.with_population),
            pair(|m| m.with_sparsity),
            format!("{:.3}", arm.mean(end, |m| m.off)),
            format!("{:.3}", arm.mean(end, |m| m.smoothing)),
            format!("{:.1e}", arm.mean(end, |m| m.largest)),
            format!("{:.0} %", 100.0 * arm.mean(end, |m| m.near)),
        ]
    };
    let table = Table::new(
        format!(
            "From the two initial labels to {} queries (where one number is given: at the end), mean over {} seeds.",
            checkpoints[end],
            experiments[0].arms[0].trials.len()
        ),
        "Kernel σ | Queries | Correlation of V with G | With 1/(1 + evidence) | Mean |V (β + 1) − G| | \
         Without chance in labels | Largest V | Queries near a boundary",
        arms(experiments).map(row),
    );
    vec![Table {
        numeric: (0..8).map(|column| column != 1).collect(),
        ..table
    }]
}

pub(super) fn notes(line: &Line) -> Vec<String> {
    let overlap = line.overlap();
    let peak = |values: &[f64], near: f64| {
        let inside = (0..line.x.len()).filter(|i| (line.x[*i] - near).abs() < 0.5);
        inside
            .max_by(|a, b| values[*a].total_cmp(&values[*b]))
            .expect("the line is not empty")
    };
    let words = line.boundaries().into_iter().map(|boundary| {
        let (g, o) = (peak(&line.population, boundary), peak(&overlap, boundary));
        format!(
            "at x = {:.2} G is {:.3}, at {:.2} the overlap is {:.1e}",
            line.x[g], line.population[g], line.x[o], overlap[o]
        )
    });
    vec![format!(
        "The paper's two measures of population uncertainty have their maxima at the same places but not the same \
         heights, because the overlap min{{p(x,0), p(x,1)}} counts how many items are there and G does not: {}. \
         Their correlation over the line is {:.2}",
        words.joined("; "),
        correlation(&overlap, &line.population)
    )]
}

/// How many labels that is.
fn late(line: &Line) -> f64 {
    SLOPE_EVIDENCE * 2.0 * HALF / line.mass()
}

/// The slope in the number of labels of the mean over the trials, from [`late`] on; NaN where there are too few
/// labels.
fn slope(line: &Line, arm: &Arm, checkpoints: &[usize], value: impl Fn(&Measured) -> f64) -> Slope {
    let labels = figures::labels(checkpoints);
    let late: Vec<usize> = (0..labels.len())
        .filter(|i| labels[*i] >= late(line))
        .collect();
    let x: Vec<f64> = late.iter().map(|i| labels[*i]).collect();
    let y: Vec<f64> = late.iter().map(|i| arm.mean(*i, &value)).collect();
    slopes::fit(&x, &y)
}

/// "σ = 0.1: " and what is said about it; kernels with too few labels for a slope are left out.
fn by_width(all: &[(f64, Vec<Slope>)]) -> String {
    let words = |(width, slopes): &(f64, Vec<Slope>)| {
        format!(
            "σ = {width}: {}",
            slopes.iter().map(Slope::words).joined(" and ")
        )
    };
    all.iter().map(words).joined("; ")
}

/// Whether the interval of the slope is finite.
fn known(slopes: &[Slope]) -> bool {
    slopes.iter().all(|slope| slope.half_width.is_finite())
}

pub(super) fn findings(experiments: &[Experiment], checkpoints: &[usize]) -> Vec<Finding> {
    vec![
        vanishing(experiments, checkpoints),
        two_rates(experiments, checkpoints),
        limit(experiments, checkpoints),
        trading(experiments, checkpoints),
        schedule(experiments, checkpoints),
        expectation(experiments),
    ]
}

fn vanishing(experiments: &[Experiment], checkpoints: &[usize]) -> Finding {
    let all = arms(experiments).map(|(line, arm)| slope(line, arm, checkpoints, |m| m.largest));
    let slopes: Vec<Slope> = all.filter(|slope| known(&[*slope])).collect();
    let falls = |s: &Slope| s.exponent + s.half_width < 0.0;
    let range = |pick: fn(f64, f64) -> f64| {
        slopes
            .iter()
            .map(|s| s.exponent)
            .reduce(pick)
            .unwrap_or(f64::NAN)
    };
    Finding::new(
        "Data-conditional uncertainty goes to zero in the limit of infinitely many labels (remark:2types-unc).",
        Verdict::of_each(slopes.iter().map(falls)),
        if slopes.is_empty() {
            format!(
                "No setting had enough labels to fit a rate (mean evidence above {SLOPE_EVIDENCE})."
            )
        } else {
            format!(
                "The largest variance on the line falls like t^{:.2} to t^{:.2} over the labels, in {} settings of \
                 kernel and sampling that had enough of them (mean evidence above {SLOPE_EVIDENCE}).",
                range(f64::min),
                range(f64::max),
                slopes.len()
            )
        },
    )
}

fn two_rates(experiments: &[Experiment], checkpoints: &[usize]) -> Finding {
    let of = |experiment: &Experiment| {
        let arm = experiment.arm(Sampling::Uniform);
        let at = |which: usize| slope(&experiment.line, arm, checkpoints, |m| m.watched[which]);
        (experiment.line.width, vec![at(0), at(1)])
    };
    let pairs: Vec<(f64, Vec<Slope>)> = experiments
        .iter()
        .map(of)
        .filter(|(_, pair)| known(pair))
        .collect();
    // One order or two: nearer to a difference of 1 than of 0.
    let apart = |(_, s): &(f64, Vec<Slope>)| s[0].exponent - s[1].exponent > 0.5;
    Finding::new(
        "The variance goes to zero at different rates in regions with different population uncertainty.",
        Verdict::of_each(pairs.iter().map(apart)),
        format!(
            "Exponents of V over the labels under uniform queries, at the boundary x = 0 and at the cluster centre x \
             = −3: {}. With evidence b in one class alone V is 2α₀/b² up to higher orders, in two classes G/b: \
             exponents −2 and −1. The paper's wide kernel lets the other class reach the centre, so there the rates \
             are the same in the end.",
            by_width(&pairs)
        ),
    )
}

fn limit(experiments: &[Experiment], checkpoints: &[usize]) -> Finding {
    let end = end(checkpoints);
    let before = checkpoints
        .iter()
        .rposition(|queries| 10 * queries <= checkpoints[end])
        .unwrap_or(0);
    let of = |experiment: &Experiment| {
        let arm = experiment.arm(Sampling::Automatic);
        let smooth = [end, before].map(|at| arm.mean(at, |m| m.smoothing));
        (experiment.line.width, arm.mean(end, |m| m.off), smooth)
    };
    let all: Vec<(f64, f64, [f64; 2])> = experiments.iter().map(of).collect();
    let words = all.iter().map(|(width, off, [smooth, before])| {
        format!("σ = {width}: {off:.3} ({smooth:.3} with the trend in place of the labels, from {before:.3})")
    });
    Finding::new(
        "V = G/(β + 1), so that V (β + 1) is the population uncertainty (above eqn:G-x-eta).",
        Verdict::of_each(all.iter().map(|a| a.1 < FOUND_ERROR)),
        format!(
            "Exact where α = β η. After {} queries with the automatic λ the mean of |V (β + 1) − G| over the line \
             is, {}. The second number is what the kernel and the prior leave without chance in the labels, the third \
             the same after {} queries.",
            checkpoints[end],
            words.joined("; "),
            checkpoints[before]
        ),
    )
}

fn trading(experiments: &[Experiment], checkpoints: &[usize]) -> Finding {
    let end = end(checkpoints);
    let sampled = || arms(experiments).filter(|(_, arm)| arm.sampling != Sampling::Uniform);
    let lead = |arm: &Arm, at: usize| arm.mean(at, |m| m.with_population - m.with_sparsity);
    let follows = |arm: &Arm| arm.mean(end, |m| m.with_population) > MIN_CORRELATION;
    let traded: Vec<bool> = sampled()
        .map(|(_, arm)| lead(arm, 0) < 0.0 && lead(arm, end) > 0.0 && follows(arm))
        .collect();
    let words = sampled().map(|(line, arm)| {
        let crossing =
            (0..checkpoints.len()).find(|at| (*at..checkpoints.len()).all(|i| lead(arm, i) > 0.0));
        let place = crossing.map_or("not by the end".into(), |at| {
            format!("from {} queries on", checkpoints[at])
        });
        let last = arm.mean(end, |m| m.with_population);
        format!(
            "σ = {}, {}: {place}, at the end {last:.2}",
            line.width,
            arm.sampling.name()
        )
    });
    Finding::new(
        "With few labels the acquisition follows the want of labels, with many the population uncertainty.",
        Verdict::of_each(&traded),
        format!(
            "At the start V correlates with 1/(1 + evidence) by at least {:.2}, with G by at most {:.2}; more with G than \
             with that for good (and its correlation with G at the end, {MIN_CORRELATION} or more to count), {}.",
            sampled()
                .map(|(_, arm)| arm.mean(0, |m| m.with_sparsity))
                .fold(1.0, f64::min),
            sampled()
                .map(|(_, arm)| arm.mean(0, |m| m.with_population))
                .fold(-1.0, f64::max),
            words.joined("; ")
        ),
    )
}

fn schedule(experiments: &[Experiment], checkpoints: &[usize]) -> Finding {
    let of = |experiment: &Experiment| {
        let arm = experiment.arm(Sampling::Automatic);
        (
            experiment.line.width,
            vec![slope(&experiment.line, arm, checkpoints, |m| m.lambda)],
        )
    };
    let all: Vec<(f64, Vec<Slope>)> = experiments
        .iter()
        .map(of)
        .filter(|(_, slope)| known(slope))
        .collect();
    let grows = |(_, s): &(f64, Vec<Slope>)| s[0].exponent + s[0].half_width >= 1.0;
    let near = experiments.iter().map(|e| {
        100.0
            * e.arm(Sampling::Automatic)
                .mean(end(checkpoints), |m| m.near)
    });
    let near = near.map(|share| format!("{share:.0} %")).joined(", ");
    Finding::new(
        "The automatic λ is of the kind that exploits in the end: it grows at least like t (eqn:qbar-lambda0).",
        Verdict::of_each(all.iter().map(grows)),
        format!(
            "Exponent of the automatic λ over the labels: {}. Of the last queries {near} fell within {BOUNDARY_HALF_WIDTH} of a \
             boundary (17 % of the line), by kernel from wide to narrow.",
            by_width(&all)
        ),
    )
}

fn expectation(experiments: &[Experiment]) -> Finding {
    let rises: Vec<f64> = arms(experiments)
        .map(|(_, arm)| interval(arm.trials.iter().map(|trial| trial.rises)).mean)
        .collect();
    let (least, most) = (
        rises.iter().copied().fold(1.0, f64::min),
        rises.iter().copied().fold(0.0, f64::max),
    );
    Finding::new(
        "After each new label the variance decreases in expected value (property:dec-var-more-data).",
        Verdict::of(most == 0.0, least < 0.5),
        format!(
            "In the mean over the field's own probabilities it does, by the factor (β+1)(β²+2mβ)/((β+m)²(β+m+1)) < 1 \
             for a label of mass m at the place. In the mean over the true trend it was expected to rise at the \
             place asked after {:.2} % to {:.2} % of the queries, by setting (never would support the claim, half of the \
             queries or more in every setting would not).",
            100.0 * least,
            100.0 * most
        ),
    )
}
