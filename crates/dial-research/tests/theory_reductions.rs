//! What the theory reduces its computations to - one number for a spectrum, a process, a sample - against closed forms,
//! hand computation, and golden numbers (fixtures/theory_mixtures.py).

use std::f64::consts::{LN_2, PI};
use std::path::Path;
use std::sync::Arc;

use dial::Control;
use dial::propagation::Column;
use dial::seed::{Purpose, Random};
use dial_research::theory::consistency::fluctuation;
use dial_research::theory::continuum::density::Sampled;
use dial_research::theory::continuum::ladder::growth_between;
use dial_research::theory::continuum::plane::{Operator, Plane};
use dial_research::theory::exploitation::steady::log_time_of_deviation;
use dial_research::theory::exploration::process::{Choice, Process};
use dial_research::theory::heat::exceeding_in_plane;
use dial_research::theory::mixtures::density::Grid;
use dial_research::theory::mixtures::gap::{Coupling, lower, upper};
use dial_research::theory::mixtures::heat::{Heat, embedding_error};
use dial_research::theory::mixtures::parameters::{Parameters, indivisibility};
use dial_research::theory::mixtures::spectrum::{Inside, eigenvalue};
use dial_research::theory::mixtures::{pair, scaling, triangle};
use dial_research::theory::separation::{Pairs, limits};
use dial_research::theory::uncertainty::process::{Line, Sampling, trial};
use serde_json::Value;

fn golden() -> Value {
    let place =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/golden/theory_mixtures.json");
    serde_json::from_str(&std::fs::read_to_string(place).unwrap()).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[track_caller]
fn near(got: f64, want: f64, relative: f64) {
    assert!(
        (got - want).abs() <= relative * want.abs(),
        "{got}, wanted {want}"
    );
}

#[test]
fn spectra_of_both_operators_where_the_density_is_a_square() {
    // ρ = c x² on [1, 2]. With ρ² inside x² u'' + 4 x u' + (λ/c) u = 0, Euler's equation: u = x^-3/2 times cos and sin of
    // ω ln x, and Neumann's ends leave ω = kπ/ln 2, λ = c (9/4 + ω²). With ρ inside x u is a wave on [1, 2]:
    // u = sin(ωx + φ)/x, whose ends ask for tan(ω) = ω/(1 + 2ω²).
    let (n, c) = (4000, 3.0);
    let width = 1.0 / n as f64;
    let log_density: Vec<f64> = (0..n)
        .map(|i| libm::log(c) + 2.0 * libm::log(1.0 + (i as f64 + 0.5) * width))
        .collect();
    for k in 1..4 {
        let wave = k as f64 * PI / LN_2;
        near(
            eigenvalue(&log_density, width, Inside::Square, k + 1),
            c * (2.25 + wave * wave),
            1e-5,
        );
        let root = eigenvalue(&log_density, width, Inside::Density, k + 1).sqrt();
        near(libm::tan(root), root / (1.0 + 2.0 * root * root), 1e-3);
    }
}

#[test]
fn embeddings_of_overlapping_clusters() {
    let want = &golden()["embedding"];
    let cells = want["cells"].as_u64().unwrap() as usize;
    for case in want["errors"].as_array().unwrap() {
        let grid = Grid::new(&pair(number(&case[0])), number(&want["reach"]), cells);
        let heat = Heat::new(&grid, &Control::new()).unwrap();
        near(embedding_error(&heat, &grid), number(&case[1]), 1e-7);
    }
}

#[test]
fn indivisibility_in_the_plane() {
    // That of the widest Gaussian, 1/s², up to the grid's h².
    let want = number(&golden()["plane"]["indivisibility"]);
    let off = |cells| {
        let grid = Grid::new(&triangle(), 5.0, cells);
        (indivisibility(&grid, &Control::new()).unwrap() / want - 1.0).abs()
    };
    assert!(off(70) < 0.01, "{}", off(70));
}

#[test]
fn bounds_of_the_gap_with_the_printed_coupling() {
    let want = &golden()["line"]["pair"];
    let [s, c, theta] =
        ["overlap", "coupling_printed", "indivisibility"].map(|name| number(&want[name]));
    let p = Parameters::of(&Grid::new(&pair(6.0), 12.0, 2400), &Control::new()).unwrap();
    near(
        upper(&p, Coupling::Printed).unwrap(),
        2.0 * c / (1.0 - 2.0 * s.sqrt()),
        1e-3,
    );
    let root = (theta * (1.0 - 2.0 * s)).sqrt() - (2.0 * c * s).sqrt() / (1.0 - s);
    near(lower(&p, Coupling::Printed).unwrap(), root * root, 1e-3);
    // On numbers that cannot be taken for each other.
    let p = Parameters {
        overlap: 0.01,
        coupling: 0.5,
        coupling_printed: 0.09,
        indivisibility: 1.0,
        ..p
    };
    near(upper(&p, Coupling::Printed).unwrap(), 0.225, 1e-14);
    let root = 0.98f64.sqrt() - 0.0018f64.sqrt() / 0.99;
    near(lower(&p, Coupling::Printed).unwrap(), root * root, 1e-14);
}

#[test]
fn the_corollarys_two_times() {
    for kappa in [1e-8f64, 1e-12] {
        let below = 2.0 * kappa / (1.0 - 2.0 * kappa.sqrt());
        let root =
            (kappa.sqrt() * (1.0 - 2.0 * kappa)).sqrt() - kappa * 2.0f64.sqrt() / (1.0 - kappa);
        let above = root * root;
        let grown = 1.0 + libm::sin(kappa.sqrt().sqrt());
        let got = scaling::scaled(kappa).remainders;
        for (got, power) in got.into_iter().zip([kappa.sqrt(), 1.0 / kappa.sqrt()]) {
            let t = -libm::log(kappa) * power;
            let slow = -libm::expm1(-below * t) * grown * grown / 0.5;
            near(
                got,
                slow + 2.0 * libm::exp(2.0 * above) * libm::exp(-above * t),
                1e-9,
            );
        }
        // As stated nothing has decayed, M = 2; as in the proof e^{-Θt} = κ, and λ_K t ~ 2 √κ |ln κ| is left.
        near(got[0], 2.0, 1e-2);
        near(got[1], -4.0 * kappa.sqrt() * libm::log(kappa), 0.05);
    }
}

#[test]
fn growth_with_the_logarithm() {
    // u = s ln(1/h) + c with h = 1/n.
    let value = |n: usize| (n, 0.7 * libm::log(n as f64) - 3.0);
    near(growth_between(value(40), value(120)), 0.7, 1e-13);
    near(growth_between(value(10), value(1000)), 0.7, 1e-13);
}

/// The variance of two classes.
fn variance(a: f64, b: f64) -> f64 {
    2.0 * a * b / ((a + b) * (a + b) * (a + b + 1.0))
}

#[test]
fn how_often_the_variance_is_expected_to_rise() {
    // A kernel that is 1 everywhere and a trend of 1/2: the field is a pair of numbers, from 0.1 + 1 label of each class on,
    // and a question adds to one of them as a coin falls, wherever it is asked.
    let mut line = Line::new(1e12);
    line.trend = vec![0.5; line.x.len()];
    let (questions, mut kinds) = (6, [0, 0]);
    for seed in 0..40 {
        let (mut a, mut b) = (1.1, 1.1);
        let mut rises = 0;
        for question in 1..=questions {
            let after = 0.5 * (variance(a + 1.0, b) + variance(a, b + 1.0));
            rises += usize::from(after > variance(a, b));
            let coin = Random::new(seed, Purpose::User, question as u64).uniform();
            if coin < 0.5 { b += 1.0 } else { a += 1.0 }
        }
        let got = trial(
            &line,
            Sampling::Uniform,
            &[questions],
            &[],
            seed,
            &Control::new(),
        )
        .unwrap();
        assert_eq!(got.rises, rises as f64 / questions as f64);
        kinds = [kinds[0] + rises, kinds[1] + questions - rises];
    }
    // By hand: after four labels of one class it rises from 0.0405 to 0.0410, while both have one it falls to 0.107.
    assert!(kinds[0] > 0 && kinds[1] > 0, "{kinds:?}");
}

#[test]
fn what_is_measured_before_the_first_question() {
    let line = Line::new(0.4);
    let kernel = |x: f64, at: f64| libm::exp(-0.5 * (x - at) * (x - at) / 0.16);
    let told: Vec<(f64, f64)> = line
        .x
        .iter()
        .map(|x| (kernel(*x, -3.0), kernel(*x, 3.0)))
        .collect();
    let scores: Vec<f64> = told
        .iter()
        .map(|(a, b)| variance(0.1 + a, 0.1 + b))
        .collect();
    let sparsity: Vec<f64> = told.iter().map(|(a, b)| 1.0 / (1.0 + a + b)).collect();
    let n = scores.len() as f64;
    let mean = |f: &dyn Fn(usize) -> f64| (0..scores.len()).map(f).sum::<f64>() / n;
    let (s, t) = (mean(&|i| scores[i]), mean(&|i| sparsity[i]));
    let together = mean(&|i| scores[i] * sparsity[i]) - s * t;
    let spreads =
        (mean(&|i| scores[i] * scores[i]) - s * s) * (mean(&|i| sparsity[i] * sparsity[i]) - t * t);
    let got = trial(&line, Sampling::Linear, &[0, 2], &[], 1, &Control::new()).unwrap();
    near(
        got.measured[0].with_sparsity,
        together / spreads.sqrt(),
        1e-9,
    );
    // λ = λ₀ m t at the first and the third question, m = σ √(2π).
    near(
        got.measured[0].lambda,
        10.0 * 0.4 * (2.0 * PI).sqrt(),
        1e-12,
    );
    near(
        got.measured[1].lambda,
        30.0 * 0.4 * (2.0 * PI).sqrt(),
        1e-12,
    );
}

#[test]
fn automatic_sharpness_knows_the_number_of_clusters() {
    // Two clusters of two equal items. After the first question two scores are low, two high; one half lies below their
    // middle, so λ (high - low) = 2 and the other cluster has e^0 to e^-2.
    let column = |c: usize| -> Column {
        Arc::new(
            [0, 0, 1, 1]
                .map(|other| f64::from(u8::from(other == c)))
                .to_vec(),
        )
    };
    let process = Process {
        columns: [0, 0, 1, 1].map(column).to_vec(),
        clusters: vec![0, 0, 1, 1],
        n_clusters: 2,
        prior: 0.1,
    };
    let trials = 10_000;
    let met = |i: &u64| {
        process.questions(Choice::Automatic, 2, &mut Random::new(5, Purpose::User, *i)) == Some(2)
    };
    let share = (0..trials).filter(met).count() as f64 / trials as f64;
    // Four standard errors.
    assert!(
        (share - 1.0 / (1.0 + libm::exp(-2.0))).abs() < 0.013,
        "{share}"
    );
}

#[test]
fn when_sampling_is_uniform() {
    // G is 0 on one half and g on the other, |X| = 2: q is (1 - d)/2 and (1 + d)/2, and their ratio e^{λ₀ g / q}.
    let (g, d) = (0.3, 0.01);
    let uncertainty: Vec<f64> = (0..40).map(|i| if i < 20 { 0.0 } else { g }).collect();
    let scale = 0.5 * (1.0 + d) / g * libm::log((1.0 + d) / (1.0 - d));
    for p in [0.0, 0.5, 0.9] {
        near(
            log_time_of_deviation(&uncertainty, 0.05, d, p),
            -libm::log10(scale) / (1.0 - p),
            1e-9,
        );
    }
    // Of any G to first order: q |X| = 1 + λ₀ |X| (G - mean).
    let uncertainty = [0.1, 0.5, 0.2, 0.4, 0.3, 0.9];
    near(
        log_time_of_deviation(&uncertainty, 0.5, 1e-6, 0.0),
        -libm::log10(1e-6 / (3.0 * 0.5)),
        1e-5,
    );
}

#[test]
fn fluctuations_are_of_one_repetition() {
    assert_eq!(fluctuation(&[1.0, 2.0, 3.0]), 1.0);
    // More repetitions of the same make the mean surer, not the spread smaller.
    let many: Vec<f64> = (0..40)
        .map(|i| if i % 2 == 0 { 9.0 } else { 11.0 })
        .collect();
    near(fluctuation(&many), (40.0f64 / 39.0).sqrt(), 1e-14);
}

#[test]
fn heat_in_a_uniform_plane() {
    // A product of two heat kernels of a path of n cells, by cosines: 1/n + (2/n) Σ cos cos e^{-4 n² t sin²(kπ/2n)}.
    let (n, time) = (5, 0.03);
    let path = |i: usize, j: usize| {
        let wave = |k: f64, i: usize| libm::cos(k * PI * (i as f64 + 0.5) / n as f64);
        let term = |k: usize| {
            let sine = libm::sin(k as f64 * PI / (2 * n) as f64);
            wave(k as f64, i)
                * wave(k as f64, j)
                * libm::exp(-4.0 * (n * n) as f64 * time * sine * sine)
        };
        (1.0 + 2.0 * (1..n).map(term).sum::<f64>()) / n as f64
    };
    let ratios = |i: usize| {
        let all = (0..n).map(|j| path(i, j) / path(i, i));
        (
            all.clone().fold(f64::INFINITY, f64::min),
            all.fold(0.0, f64::max),
        )
    };
    let plane = Plane::new(&Sampled::of(n, |_, _| 1.0), Operator::Weighted).unwrap();
    let got = exceeding_in_plane(&plane, &[(0.3, 0.5)], time, 400, &Control::new()).unwrap();
    let ((x_least, x_most), (y_least, y_most)) = (ratios(1), ratios(2));
    near(got.largest, x_most * y_most, 1e-6);
    near(got.smallest, x_least * y_least, 1e-6);
    assert_eq!(got.sources, f64::from(u8::from(x_most * y_most > 1.0)));
}

#[test]
fn the_counting_limit_where_it_is_the_best() {
    // Seven items of one cluster, two may leave. Bad pairs (0.1, all others 0.9): the triangle 0 1 2, and 0 3, 1 3, 2 4. Any
    // two of the triangle leave one of those, so two do not cover: the best ζ is 0.1. No three of five items' pairs are
    // disjoint, so only counting sees it: 0, 1, 2 have three bad pairs each, one more than may leave.
    let bad = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 4)];
    let value = |i: usize, j: usize| match (i == j, bad.contains(&(i.min(j), i.max(j)))) {
        (true, _) => 1.0,
        (_, true) => 0.1,
        _ => 0.9,
    };
    let columns: Vec<Column> = (0..7)
        .map(|i| Arc::new((0..7).map(|j| value(i, j)).collect()))
        .collect();
    let pairs = Pairs::new(&columns, &[0; 7]);
    let got: Vec<f64> = limits(&pairs, &[0.0, 2.0 / 7.0, 3.0 / 7.0])
        .iter()
        .map(|limit| limit.zeta)
        .collect();
    // With three that leave (0, 1, 2) nothing bad is left.
    assert_eq!(got, [0.1, 0.1, 0.9]);
    let best: Vec<f64> = [0.0, 2.0 / 7.0, 3.0 / 7.0]
        .iter()
        .map(|d| pairs.widest(*d, f64::INFINITY).unwrap().zeta)
        .collect();
    assert_eq!(best, got);
}
