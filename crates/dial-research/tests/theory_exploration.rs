//! The exploration guarantee against golden numbers, derived in fixtures/ from vectors and by enumeration.

#[path = "common/golden.rs"]
mod golden;

use std::sync::Arc;

use dial::Control;
use dial::seed::{Purpose, Random};
use dial_research::theory::exploration::bounds::{
    Case, Variances, after, best_stepwise, constant, corrected, corrected_bound, mended_constant,
    perfect, printed, printed_bound, remark, stepwise,
};
use dial_research::theory::exploration::checks::{on_pools, on_variance};
use dial_research::theory::exploration::process::{Choice, Process, coupons, wilson};
use serde_json::Value;

fn golden(part: &str) -> Vec<Value> {
    golden::golden("exploration")[part]
        .as_array()
        .unwrap()
        .clone()
}

fn floats(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_f64().unwrap())
        .collect()
}

fn close(got: f64, want: f64, what: &str) {
    assert!(
        (got - want).abs() <= 1e-11 * want.abs().max(1.0),
        "{what}: {got}, wanted {want}"
    );
}

fn case_of(value: &Value) -> Case {
    let of = |key: &str| value[key].as_f64().unwrap();
    Case {
        classes: of("K") as usize,
        prior: of("prior"),
        delta: of("delta"),
        zeta: of("zeta"),
        epsilon: of("epsilon"),
        least_weight: of("w_min"),
    }
}

/// K clusters that do not see each other.
fn apart(classes: usize, prior: f64) -> Process {
    let column = |l: usize| {
        Arc::new(
            (0..classes)
                .map(|x| f64::from(u8::from(x == l)))
                .collect::<Vec<f64>>(),
        )
    };
    Process {
        columns: (0..classes).map(column).collect(),
        clusters: (0..classes).collect(),
        n_clusters: classes,
        prior,
    }
}

#[test]
fn bounds_at_corners() {
    for value in golden("cases") {
        let case = case_of(&value);
        let compare = |got: Variances, key: &str| {
            let got = [got.unlabelled, got.labelled, got.background];
            got.iter()
                .zip(floats(&value[key]))
                .for_each(|(got, want)| close(*got, want, key));
        };
        compare(printed(&case), "printed");
        compare(corrected(&case), "provable");
        compare(after(&case, 1), "after_1");
        close(constant(&case), value["constant"].as_f64().unwrap(), "C");
        for at in value["at"].as_array().unwrap().iter().map(floats) {
            close(printed_bound(&case).value(at[0]), at[1], "printed bound");
            close(
                corrected_bound(&case).value(at[0]),
                at[2],
                "corrected bound",
            );
            close(stepwise(&case, at[0]), at[3], "stepwise");
        }
        if let Some(best) = value["best_stepwise"].as_f64() {
            let got = libm::log(stepwise(&case, best_stepwise(&case, 60.0)));
            assert!((got - best).abs() < 1e-8, "stepwise: {got} {best}");
            let brace = corrected_bound(&case);
            let best = value["best_corrected"].as_f64().unwrap().max(0.0);
            let got = libm::pow(brace.value(brace.best_lambda()), 1.0 / case.classes as f64);
            assert!((got - best).abs() < 1e-8, "corrected: {got} {best}");
        }
    }
}

#[test]
fn constants_of_the_remark() {
    for row in golden("constants").iter().map(floats) {
        let case = Case::perfect(row[0] as usize);
        close(constant(&case), row[1], "C");
        close(mended_constant(&case), row[2], "C with K - 1");
        let bounds = corrected(&case);
        close(bounds.labelled / bounds.unlabelled, row[3], "ratio");
        // In closed form 1/(K + 1).
        close(row[3], 1.0 / (row[0] + 1.0), "ratio by hand");
        assert!(
            row[1] < 0.5,
            "the printed C is below 1/2 as the remark says"
        );
    }
    close(mended_constant(&Case::perfect(2)), 11.0 / 9.0, "K = 2");
}

#[test]
fn the_printed_bound_exceeds_the_truth() {
    // K = 2, α₀ = 1/4, perfect separation: A_unl = 1/3, A_lab = 1/9, so the truth is 1/(1 + e^{-10/9}).
    let (case, lambda) = (Case::perfect(2), 5.0);
    let truth = 1.0 / (1.0 + libm::exp(-10.0 / 9.0));
    close(perfect(2, 0.25, lambda), truth, "truth");
    close(
        apart(2, 0.25).exactly(lambda),
        truth,
        "truth by enumeration",
    );
    close(stepwise(&case, lambda), truth, "stepwise is exact here");
    let mended = 1.0 - libm::exp(-10.0 / 9.0);
    close(
        corrected_bound(&case).value(lambda),
        mended * mended,
        "corrected",
    );
    let theirs = 1.0 - libm::exp(5.0 * (11.0 / 27.0 - 1.0));
    close(
        printed_bound(&case).value(lambda),
        theirs * theirs,
        "printed",
    );
    assert!(theirs * theirs > truth + 0.1);
    let simple = 1.0 - 2.0 * libm::exp(-2.5);
    close(
        remark(&case, lambda),
        simple * simple,
        "the remark's last line",
    );
    assert_eq!(corrected_bound(&case).best_lambda(), f64::INFINITY);
    assert_eq!(corrected_bound(&case).value(f64::INFINITY), 1.0);
}

#[test]
fn random_cases_respect_our_bounds() {
    let variance = on_variance(20_000, 1);
    assert_eq!(
        (
            variance.ours,
            variance.printed_labelled,
            variance.printed_background
        ),
        (0, 0, 0)
    );
    assert!(variance.printed_unlabelled > 2_000, "{variance:?}");
    assert_eq!(
        variance.printed_ratio, variance.ratio_beyond_condition,
        "C needs K ε <= ζ and nothing else"
    );
    let pools = on_pools(300, 1, &Control::new()).unwrap();
    assert!(pools.iter().all(|pool| !pool.exceeds()[1]
        && !pool.exceeds()[2]
        && pool.corrected <= pool.stepwise + 1e-12));
    assert!(
        pools.iter().any(|pool| pool.exceeds()[0]) && pools.iter().any(|pool| pool.corrected > 0.5)
    );
}

#[test]
fn the_truth_on_small_pools() {
    for pool in golden("pools") {
        let of = |key: &str| pool[key].as_f64().unwrap();
        let clusters: Vec<usize> = floats(&pool["clusters"])
            .iter()
            .map(|c| *c as usize)
            .collect();
        let columns = pool["kernel"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| Arc::new(floats(row)))
            .collect();
        let n_clusters = clusters.iter().max().unwrap() + 1;
        let process = Process {
            columns,
            clusters,
            n_clusters,
            prior: of("prior"),
        };
        close(process.exactly(of("lambda")), of("truth"), "truth");
        let triple = floats(&pool["triple"]);
        let case = Case {
            classes: n_clusters,
            prior: of("prior"),
            delta: triple[0],
            zeta: triple[1],
            epsilon: triple[2],
            least_weight: of("w_min"),
        };
        close(stepwise(&case, of("lambda")), of("stepwise"), "stepwise");
        // And the simulation, within five standard deviations.
        let (trials, truth) = (2_000, of("truth"));
        let choice = Choice::Proportional(of("lambda"));
        let met = |trial: u64| {
            process
                .questions(
                    choice,
                    n_clusters,
                    &mut Random::new(5, Purpose::User, trial),
                )
                .is_some()
        };
        let share = (0..trials).filter(|trial| met(*trial)).count() as f64 / trials as f64;
        let spread = (truth * (1.0 - truth) / trials as f64).sqrt();
        assert!(
            (share - truth).abs() < 5.0 * spread + 1e-9,
            "{share} {truth}"
        );
    }
    for row in golden("perfect").iter().map(floats) {
        close(perfect(row[0] as usize, row[1], row[2]), row[3], "perfect");
    }
}

#[test]
fn expected_numbers_of_questions() {
    let mean = |process: &Process, choice: Choice| {
        let run = |trial: u64| {
            process
                .questions(choice, 10_000, &mut Random::new(9, Purpose::User, trial))
                .unwrap()
        };
        let counts: Vec<f64> = (0..4_000).map(|trial| run(trial) as f64).collect();
        dial_plot::stats::interval(&counts)
    };
    for row in golden("expected").iter().map(floats) {
        let got = mean(
            &apart(row[0] as usize, row[1]),
            Choice::Proportional(row[2]),
        );
        assert!(
            (got.mean - row[3]).abs() < 2.5 * got.half_width,
            "{} {}",
            got.mean,
            row[3]
        );
    }
    for row in golden("coupons") {
        close(
            coupons(&floats(&row[0])),
            row[1].as_f64().unwrap(),
            "coupons",
        );
    }
    // Five clusters that do not see each other: 5 (1 + 1/2 + ... + 1/5) = 137/12 at random, 5 by maximum variance.
    close(coupons(&[0.2; 5]), 137.0 / 12.0, "coupons");
    let got = mean(&apart(5, 0.04), Choice::Random);
    assert!((got.mean - 137.0 / 12.0).abs() < 2.5 * got.half_width);
    assert_eq!(mean(&apart(5, 0.04), Choice::Maximum).mean, 5.0);
    let automatic = mean(&apart(5, 0.04), Choice::Automatic);
    assert!(automatic.mean >= 5.0 && automatic.mean < 137.0 / 12.0);
}

#[test]
fn intervals_of_shares() {
    // Wilson's interval solves |share - p| = z √(p(1-p)/n).
    for (hits, trials) in [(0, 10), (3, 10), (10, 10), (450, 1000)] {
        let (low, high) = wilson(hits, trials);
        for end in [low, high]
            .into_iter()
            .filter(|end| *end > 1e-9 && *end < 1.0 - 1e-9)
        {
            let z = (hits as f64 / trials as f64 - end).abs()
                / (end * (1.0 - end) / trials as f64).sqrt();
            assert!(
                (z - 1.959_963_984_540_054).abs() < 1e-9,
                "{hits} of {trials}: {end}"
            );
        }
    }
}
