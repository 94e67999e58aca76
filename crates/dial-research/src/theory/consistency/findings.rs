//! What the part has to tell: text, tables, and findings about the theorem.

use dial_data::row;
use serde_json::{Value, json};

use super::weighted::Weighted;
use super::{
    AMPLITUDE, CELLS, Curve, DELTA, EXPONENTS, FACTOR, SLOW, Scaling, Study, bounds, kernel,
};
use crate::theory::slopes::{Slope, fit};
use crate::theory::{Finding, Tidy, Verdict};
use dial_plot::report::Table;
use dial_plot::stats::mean;
use dial_plot::words::Listed;

pub(super) fn settings(study: &Study) -> Value {
    let sizes: Vec<&Vec<usize>> = study.curves.iter().map(|curve| &curve.counts).collect();
    json!({ "trend": "1/2 + 1/4 prod cos(pi x_i)", "density": format!("1 + {AMPLITUDE} cos(2 pi x), {CELLS} cells"),
        "operator": "(1/rho) div(rho^2 grad)", "time": format!("{FACTOR} n^(-2/(4+d))"), "sizes": sizes,
        "repetitions": study.curves[0].judged[0].len(), "exponents": EXPONENTS, "slow": SLOW, "delta": DELTA,
        "tail": { "n": study.tail.0, "repetitions": study.tail.1.len() } })
}

pub(super) fn tables(study: &Study) -> Vec<Tidy> {
    let mut rows = Vec::new();
    for curve in &study.curves {
        for (k, judged) in curve.judged.iter().enumerate() {
            for (number, j) in judged.iter().enumerate() {
                rows.push(row![
                    curve.name,
                    curve.counts[k],
                    number,
                    curve.times[k],
                    j.error,
                    j.centred,
                    curve.bias[k],
                    j.ratio_error,
                    j.plug_in,
                    j.classifier,
                    j.disagreement,
                ]);
            }
        }
    }
    let mut scalings = Vec::new();
    for Scaling {
        exponent,
        counts,
        judged,
    } in study.conditions.iter().chain([&study.slow])
    {
        for (n, judged) in counts.iter().zip(judged) {
            let time = libm::pow(*n as f64, -exponent);
            scalings.push(row![
                *exponent,
                *n,
                time,
                mean(judged.iter().map(|j| j.error)),
                mean(judged.iter().map(|j| j.centred)),
                bounds::bias(time, 1),
                bounds::printed_bound(1.0, *n as f64, DELTA),
                bounds::variance_bound(time, 1, *n as f64),
            ]);
        }
    }
    let tail = study.tail.1.iter().map(|error| row![study.tail.0, *error]);
    vec![
        Tidy::new(
            "consistency-repetitions",
            "example,n,repetition,t,error,variance_part,bias,ratio_error,excess_plug_in,\
             excess_classifier,decided_differently",
            rows,
        ),
        Tidy::new(
            "consistency-scalings",
            "a,n,t,error,variance_part,bias,printed_bound,variance_bound",
            scalings,
        ),
        Tidy::new("consistency-tail", "n,error", tail),
    ]
}

/// An interval of an exponent that is wider than this says little: the rates to be told apart differ by 0.1 to 0.17.
const MAX_INTERVAL: f64 = 0.1;

/// Slopes of bias, variance part, whole error and fluctuation.
pub(super) fn parts(curve: &Curve) -> [Slope; 4] {
    let x = curve.sizes();
    [
        curve.bias.clone(),
        curve.means(|j| j.centred),
        curve.means(|j| j.error),
        curve.fluctuation(),
    ]
    .map(|y| fit(&x, &y))
}

/// The exponent that t = c n^{-2/(4+d)} gives a smooth trend.
fn rate(curve: &Curve) -> f64 {
    -2.0 / (4.0 + curve.dimension as f64)
}

pub(super) fn summary(curves: &[Curve]) -> Table {
    let row = |curve: &Curve| {
        let [bias, variance, error, fluctuation] = parts(curve);
        let last = curve.counts.len() - 1;
        let (theta, influence) = curve.constants[last];
        vec![
            curve.name.to_owned(),
            format!("{:.3}", rate(curve)).replace('-', "−"),
            bias.words(),
            variance.words(),
            error.words(),
            fluctuation.words(),
            format!("{:.4}", curve.means(|j| j.error)[last]),
            format!("{theta:.3}, {influence:.3}"),
        ]
    };
    Table::new(
        format!(
            "Exponents of n (95 % intervals of the fit), n from {} to {} ({} on the square), {} samples each. \
             Expected for bias, variance part and error; for the fluctuation −0.5.",
            curves[0].counts[0],
            curves[0].counts[curves[0].counts.len() - 1],
            curves[1].counts[curves[1].counts.len() - 1],
            curves[0].judged[0].len()
        ),
        "Example | Expected | Bias | Variance part | Error E F | Fluctuation | E F at the largest n | θ, θ̃ there",
        curves.iter().map(row),
    )
    .numbers(1..)
}

pub(super) fn notes() -> Vec<String> {
    let at = |t: f64| Weighted::new(CELLS / 2, AMPLITUDE, 2, t).largest_norm();
    let (mut low, mut high) = (0.01, 1.0);
    for _ in 0..20 {
        let middle = f64::sqrt(low * high);
        if at(middle) <= 1.0 / middle.sqrt() {
            low = middle
        } else {
            high = middle
        }
    }
    vec![
        format!(
            "The assumption ‖k_t(·, x)‖ <= t^(-d/2) in L²(ρ) for all t <= 1 (assumption:bounded-p-moment) needs a \
             constant: for the density 1 + {AMPLITUDE} cos(2πx) it holds up to t = {low:.2}, and at t = 1 the norm \
             is {:.2}. On the uniform interval it fails at t = 1 by {:.0e}",
            at(1.0),
            kernel::largest_norm(1.0, 2.0, 1) - 1.0
        ),
        "The remark after the theorem (risk) lacks \"> ε\"; and because the excess risk is bounded by 2F, the \
         exponent that follows is n ε²/(4 Ξ²), not n ε²/Ξ²"
            .to_owned(),
    ]
}

fn joined(words: impl Iterator<Item = String>) -> String {
    words.joined("; ")
}

pub(super) fn findings(study: &Study) -> Vec<Finding> {
    vec![
        consistency(study),
        rates(study),
        fluctuations(study),
        printed(study),
        tails(study),
        conditions(study),
    ]
}

fn consistency(study: &Study) -> Finding {
    let falls: Vec<bool> = study
        .curves
        .iter()
        .map(|curve| {
            let slope = parts(curve)[2];
            slope.exponent + slope.half_width < 0.0
        })
        .collect();
    let words = study.curves.iter().map(|curve| {
        let errors = curve.means(|j| j.error);
        format!(
            "{}: {:.3} to {:.3}",
            curve.name,
            errors[0],
            errors[errors.len() - 1]
        )
    });
    Finding::new(
        "The estimated trend is consistent: ∫ |η̂ − η| ρ dx → 0.",
        Verdict::of_each(&falls),
        format!(
            "Mean error from the smallest to the largest n: {}.",
            joined(words)
        ),
    )
}

fn rates(study: &Study) -> Finding {
    let slower: Vec<bool> = study
        .curves
        .iter()
        .map(|curve| {
            let slope = parts(curve)[2];
            slope.exponent - slope.half_width > -0.5
        })
        .collect();
    let words = study.curves.iter().map(|curve| {
        let slope = parts(curve)[2];
        let inside = if slope.holds(rate(curve)) {
            "inside"
        } else {
            "outside"
        };
        format!(
            "{}: {} ({:.3} lies {inside})",
            curve.name,
            slope.words(),
            rate(curve)
        )
        .replace('-', "−")
    });
    let holds: Vec<bool> = slower.iter().map(|slower| !slower).collect();
    Finding::new(
        "The error falls like n^(−1/2) (the rate of the theorem).",
        Verdict::of_each(&holds),
        format!(
            "Exponents of E F with their 95 % intervals, and whether −2/(4+d), where t = {FACTOR} n^(−2/(4+d)) balances \
             bias and variance in the limit, lies inside of them: {}. Slower than n^(−1/2) beyond the interval in {} of {} examples.",
            joined(words),
            slower.iter().filter(|s| **s).count(),
            slower.len()
        ),
    )
}

fn fluctuations(study: &Study) -> Finding {
    // Var F <= Σ c_i²/4 with c_i = 2θ̃/n: the deviation is at most θ̃/√n.
    let bounded = study.curves.iter().all(|curve| {
        let each = curve
            .fluctuation()
            .into_iter()
            .zip(curve.sizes())
            .zip(&curve.constants);
        each.into_iter()
            .all(|((deviation, n), (_, influence))| deviation <= influence / n.sqrt())
    });
    let measured = |slope: Slope| slope.holds(-0.5) && 2.0 * slope.half_width < MAX_INTERVAL;
    let exponent = study.curves.iter().all(|curve| measured(parts(curve)[3]));
    let words = study.curves.iter().map(|curve| {
        let (x, y) = (curve.sizes(), curve.fluctuation());
        let late = x.len().saturating_sub(4);
        let scaled = |k: usize| y[k] * x[k].sqrt();
        let (all, end) = (parts(curve)[3].words(), fit(&x[late..], &y[late..]).words());
        format!(
            "{}: {all}, over the last four sizes {end}, deviation times √n from {:.2} to {:.2}",
            curve.name,
            scaled(0),
            scaled(x.len() - 1)
        )
    });
    Finding::new(
        "The fluctuation of the error about its mean is of order n^(−1/2) (McDiarmid).",
        Verdict::of(bounded && exponent, bounded),
        format!(
            "Its standard deviation is {} θ̃/√n at every n. Exponents, which should hold −0.5 in an interval narrower than \
             {MAX_INTERVAL}: {}.",
            if bounded { "below" } else { "not below" },
            joined(words)
        ),
    )
}

fn printed(study: &Study) -> Finding {
    let Scaling { counts, judged, .. } = &study.slow;
    let above = |k: usize| {
        let bound = bounds::printed_bound(1.0, counts[k] as f64, DELTA);
        judged[k].iter().filter(|j| j.error > bound).count() as f64 / judged[k].len() as f64
    };
    let broken = (0..counts.len()).find(|k| above(*k) > DELTA);
    let last = counts.len() - 1;
    let time = libm::pow(counts[last] as f64, -SLOW);
    Finding::new(
        "F ≤ 4√2 θ √(ln(1/δ)/n) with probability 1 − δ whenever t → 0 and n t^(d/2) → ∞ (as printed).",
        Verdict::of(broken.is_none(), false),
        format!(
            "With t = n^(−1/10) on the interval and δ = {DELTA} the bound was exceeded in {:.0} % of the samples at \
             n = {}: the bias alone is {:.3}, the bound {:.3}. {}",
            100.0 * above(last),
            counts[last],
            bounds::bias(time, 1),
            bounds::printed_bound(1.0, counts[last] as f64, DELTA),
            broken.map_or(String::new(), |k| format!(
                "It fails from n = {} on.",
                counts[k]
            ))
        ),
    )
}

fn tails(study: &Study) -> Finding {
    let mut checked = 0;
    let mut broken = 0;
    for curve in &study.curves {
        let errors = curve.values(|j| j.error);
        for (k, errors) in errors.iter().enumerate() {
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            let (_, influence) = curve.constants[k];
            for delta in [0.5, 0.1, DELTA] {
                let bound = bounds::bound(influence, mean, curve.counts[k] as f64, delta);
                let share = errors.iter().filter(|error| **error > bound).count() as f64
                    / errors.len() as f64;
                checked += 1;
                broken += usize::from(share > delta);
            }
        }
    }
    let deviation = study.curves[0].fluctuation();
    let last = deviation.len() - 1;
    Finding::new(
        "F ≤ E F + θ̃ √(2 ln(1/δ)/n) with probability 1 − δ (what McDiarmid's inequality gives).",
        Verdict::of(broken == 0, false),
        format!(
            "Broken in {broken} of {checked} cases of example, n and δ. It is generous: the deviation of F on the \
             interval is {:.3}/√n at the largest n, while the bound is that of a deviation of {:.0}/√n.",
            deviation[last] * (study.curves[0].counts[last] as f64).sqrt(),
            study.curves[0].constants[last].1
        ),
    )
}

fn conditions(study: &Study) -> Finding {
    let slope = |scaling: &Scaling| {
        let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        fit(
            &scaling.sizes(),
            &scaling
                .values(|j| j.centred)
                .iter()
                .map(mean)
                .collect::<Vec<f64>>(),
        )
    };
    // Where n √t grows and n t does not, the two conditions differ.
    let between = study
        .conditions
        .iter()
        .filter(|s| s.exponent < 2.0 && s.exponent >= 1.0);
    let vanishes: Vec<bool> = between
        .map(|s| slope(s).exponent + slope(s).half_width < 0.0)
        .collect();
    let fallen = study
        .conditions
        .iter()
        .filter(|s| slope(s).exponent + slope(s).half_width < 0.0);
    let fallen: Vec<String> = fallen.map(|s| s.exponent.to_string()).collect();
    let words = study.conditions.iter().map(|s| {
        let expected = format!("{:.3}", bounds::variance_exponent(s.exponent, 1)).replace('-', "−");
        format!(
            "a = {}: {} (expected {expected})",
            s.exponent,
            slope(s).words()
        )
    });
    Finding::new(
        "n t^(d/2) → ∞ is enough (the statement; the proof asks for n t^d → ∞).",
        Verdict::of_each(&vanishes),
        format!(
            "Exponents of the variance part for t = n^−a on the interval: {}. It falls beyond the interval for a = {}; \
             n √t grows for a < 2. The proof needs a < 1 because it assumes ‖k_t‖ <= t^(−d/2); in L² the norm is of order \
             t^(−d/4).",
            joined(words),
            fallen.join(", ")
        ),
    )
}
