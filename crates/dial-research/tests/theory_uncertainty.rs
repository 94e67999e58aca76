//! The two kinds of uncertainty against closed forms and against numbers derived in fixtures/ by other means.

#[path = "common/golden.rs"]
mod golden;

use dial::Control;
use dial_research::theory::slopes::fit;
use dial_research::theory::uncertainty::formulas::{
    expected_after, expected_factor, expected_scaled, label_error, population, scaled_variance,
    shrunk,
};
use dial_research::theory::uncertainty::process::{Line, PRIOR, Sampling, trial};
use dial_research::theory::{TheoryOptions, uncertainty};
use serde_json::Value;

fn golden(part: &str) -> Value {
    golden::golden("uncertainty")[part].clone()
}

fn rows(part: &str) -> Vec<Value> {
    golden(part).as_array().unwrap().clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn within(tolerance: f64, got: f64, want: f64, what: &str) {
    assert!(
        (got - want).abs() <= tolerance * want.abs().max(1e-3),
        "{what}: {got}, wanted {want}"
    );
}

fn close(got: f64, want: f64, what: &str) {
    within(1e-9, got, want, what);
}

#[test]
fn population_uncertainty_of_the_line() {
    let line = Line::new(0.5);
    let want = golden("line");
    let overlap = line.overlap();
    for (i, x) in numbers(&want["x"]).into_iter().enumerate() {
        let node = line.node(x);
        close(line.x[node], x, "the place");
        close(line.trend[node], number(&want["trend"][i]), "trend");
        close(line.population[node], number(&want["population"][i]), "G");
        close(overlap[node], number(&want["overlap"][i]), "overlap");
    }
    // G is largest, 1 - 1/K, where all classes are alike.
    assert_eq!(population(&[0.5, 0.5]), 0.5);
    close(population(&[1.0 / 3.0; 3]), 2.0 / 3.0, "three classes");
    // Three boundaries: 0 and ±(2 - 0.045 ln 4), to half a grid step.
    let boundaries = line.boundaries();
    let shift = 0.045 * libm::log(4.0);
    assert_eq!(boundaries.len(), 3);
    for (got, want) in boundaries.iter().zip([shift - 2.0, 0.0, 2.0 - shift]) {
        assert!((got - want).abs() <= 0.0101, "{got} {want}");
    }
}

#[test]
fn variance_is_population_over_evidence_for_proportions() {
    // α = β η exactly: V = G/(β + 1), so V (β + 1) = G.
    for (total, eta) in [
        (0.3, [0.2, 0.5, 0.3]),
        (7.0, [0.1, 0.1, 0.8]),
        (1e6, [0.98, 0.01, 0.01]),
    ] {
        let alpha = eta.map(|p| p * total);
        close(
            dial::belief::field::variance(&alpha),
            population(&eta) / (total + 1.0),
            "V",
        );
        close(scaled_variance(&alpha), population(&eta), "V (β + 1)");
    }
    for row in rows("proportions") {
        let (eta, prior, evidence) = (
            numbers(&row["eta"]),
            number(&row["prior"]),
            number(&row["evidence"]),
        );
        close(
            shrunk(prior, evidence, &eta),
            number(&row["scaled"]),
            "with a prior",
        );
    }
    // The error of the prior is of order 1/b: 2 K α₀ (1 - 1/K - G)/b.
    let (b, eta) = (1e6, [0.9, 0.1]);
    within(
        1e-6,
        (shrunk(0.1, b, &eta) - 0.18) * b,
        2.0 * 2.0 * 0.1 * (0.5 - 0.18),
        "rate of the prior",
    );
}

#[test]
fn one_more_label_by_enumeration() {
    for row in rows("decreases") {
        let (alpha, mass) = (numbers(&row["alpha"]), number(&row["mass"]));
        let chances = numbers(&row["chances"]);
        let total: f64 = alpha.iter().sum();
        close(
            expected_factor(total, mass),
            number(&row["own"]),
            "own mean",
        );
        close(
            expected_after(&alpha, mass, &chances),
            number(&row["true"]),
            "true trend",
        );
        assert!(expected_factor(total, mass) < 1.0);
    }
    // A field sure of the wrong class: under the truth its variance is expected to rise.
    let sure = [10.0, 0.1];
    assert!(expected_after(&sure, 1.0, &[0.0, 1.0]) > dial::belief::field::variance(&sure));
}

#[test]
fn expected_estimate_by_enumeration_of_all_labels() {
    for row in rows("enumerated") {
        let got = expected_scaled(PRIOR, &numbers(&row["kernel"]), &numbers(&row["trend"]));
        close(got, number(&row["mean"]), "E[V (β + 1)]");
    }
}

#[test]
fn errors_from_labels_by_the_binomial() {
    for row in rows("labels") {
        let (eta, count) = (number(&row["eta"]), number(&row["count"]) as u32);
        let (bias, rms) = label_error(PRIOR, count, eta);
        close(bias, number(&row["bias"]), "bias");
        close(rms, number(&row["rms"]), "root mean square");
    }
    // n^-1/2 in general; at η = 1/2 the first derivative of G vanishes, and the error is of order 1/n.
    let exponent = |eta: f64| {
        fit(
            &[1e3, 4e3],
            &[
                label_error(PRIOR, 1000, eta).1,
                label_error(PRIOR, 4000, eta).1,
            ],
        )
        .exponent
    };
    assert!((exponent(0.8) + 0.5).abs() < 0.01 && (exponent(0.5) + 1.0).abs() < 0.01);
}

#[test]
fn the_limit_under_a_kernel_is_an_integral() {
    for row in rows("smoothed") {
        let line = Line::new(number(&row["width"]));
        let eta = line.smoothed(line.node(number(&row["x"])));
        // The grid cuts the kernel at the ends of the line, where it is 1e-6 at most.
        within(1e-7, eta, number(&row["trend"]), "smoothed trend");
        within(
            1e-7,
            population(&[eta, 1.0 - eta]),
            number(&row["population"]),
            "its G",
        );
    }
}

#[test]
fn uniform_queries_see_the_smoothed_trend() {
    // 3000 uniform queries with σ = 1/2: about 3000 · 1.25/9 = 418 of evidence everywhere, so what the kernel alone does
    // is close to its limit, the mean of |G(smoothed) - G|.
    let line = Line::new(0.5);
    let run = trial(
        &line,
        Sampling::Uniform,
        &[0, 3000],
        &[],
        3,
        &Control::new(),
    )
    .unwrap();
    let limit = |i: usize| {
        let eta = line.smoothed(i);
        (population(&[eta, 1.0 - eta]) - line.population[i]).abs()
    };
    let want = (0..line.x.len()).map(limit).sum::<f64>() / line.x.len() as f64;
    let got = run.measured[1].smoothing;
    assert!((got - want).abs() < 0.1 * want, "{got} {want}");
    assert_eq!(run.measured[1].lambda, 0.0);
    // The regions near boundaries are three times 0.5 of 9: 1/6 of the line.
    assert!((run.measured[1].near - 1.0 / 6.0).abs() < 5.0 * (5.0f64 / 36.0 / 3000.0).sqrt());
}

#[test]
fn runs_repeat_whatever_the_threads() {
    let settings = TheoryOptions {
        level: dial_research::theory::Level::Quick,
        ..TheoryOptions::default()
    };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| uncertainty::run(&settings, &Control::new()).unwrap())
    };
    let (a, b) = (run(1), run(3));
    assert_eq!(format!("{:?}", a.tables), format!("{:?}", b.tables));
    assert_eq!(
        (a.figures.len(), a.tables.len(), a.findings.len()),
        (3, 3, 6)
    );
}
