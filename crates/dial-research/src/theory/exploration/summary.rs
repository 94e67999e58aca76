//! What bounds and simulations gave, in words and tables.

use dial_data::row;
use serde_json::{Value, json};

use super::bounds::{Case, constant, corrected, mended_constant};
use super::checks::{OnPool, OnVariance};
use super::figures::{fine, name};
use super::process::{coupons, wilson};
use super::{CHOICES, LARGEST, Studied};
use crate::theory::Tidy;
use dial_plot::report::Table;
use dial_plot::stats::interval;

/// C as printed and with K - 1, and the ratio that holds, for perfect separation.
fn constants(classes: usize) -> [f64; 3] {
    let case = Case::perfect(classes);
    let ratio = corrected(&case).labelled / corrected(&case).unlabelled;
    [constant(&case), mended_constant(&case), ratio]
}

pub(super) fn tables(studied: &[Studied], pools: &[OnPool]) -> Vec<Tidy> {
    let (mut simulated, mut bounds, mut questions) = (Vec::new(), Vec::new(), Vec::new());
    for one in studied {
        let pool = one.scene.name.as_str();
        for (lambda, hits) in &one.simulated {
            let (low, high) = wilson(*hits, one.trials);
            let share = *hits as f64 / one.trials as f64;
            simulated.push(row![pool, *lambda, share, low, high]);
        }
        for lambda in fine() {
            let b = one.scene.bounds(lambda);
            let exact = one.scene.truth(lambda).unwrap_or(f64::NAN);
            bounds.push(row![
                pool,
                lambda,
                b.printed,
                b.corrected,
                b.stepwise,
                exact
            ]);
        }
        for (choice, counts) in CHOICES.iter().zip(&one.counted) {
            let row =
                |(run, count): (usize, &Option<usize>)| row![pool, name(*choice), run, *count];
            questions.extend(counts.iter().enumerate().map(row));
        }
    }
    let pool = |p: &OnPool| {
        row![
            p.case.classes,
            p.case.prior,
            p.case.delta,
            p.case.zeta,
            p.case.epsilon,
            p.case.least_weight,
            p.lambda,
            p.truth,
            p.printed,
            p.corrected,
            p.stepwise,
        ]
    };
    let constants = (2..=20).map(|k| {
        let [printed, mended, ratio] = constants(k);
        row![k, printed, mended, ratio]
    });
    vec![
        Tidy::new(
            "exploration-simulated",
            "pool,lambda,share,low,high",
            simulated,
        ),
        Tidy::new(
            "exploration-bounds",
            "pool,lambda,printed,corrected,stepwise,exact",
            bounds,
        ),
        Tidy::new(
            "exploration-questions",
            "pool,choice,run,questions",
            questions,
        ),
        Tidy::new(
            "exploration-random-pools",
            "K,alpha_0,delta,zeta,epsilon,w_min,lambda,truth,printed,corrected,stepwise",
            pools.iter().map(pool),
        ),
        Tidy::new(
            "exploration-constant",
            "K,printed,with_k_minus_1,provable_ratio",
            constants,
        ),
    ]
}

/// Mean and 95 % interval of the number of questions, and the number that nine of ten runs do with.
fn count(one: &Studied, choice: usize) -> String {
    let counts = &one.counted[choice];
    let mut done: Vec<f64> = counts.iter().flatten().map(|c| *c as f64).collect();
    done.sort_by(f64::total_cmp);
    let ninth = (counts.len() * 9).div_ceil(10) - 1;
    let last = done
        .get(ninth)
        .map_or(format!("> {}", one.most), |c| format!("{c:.0}"));
    if done.len() < counts.len() {
        let share = 100.0 * (1.0 - done.len() as f64 / counts.len() as f64);
        return format!("{share:.0} % of runs not by {} ({last})", one.most);
    }
    let found = interval(&done);
    format!("{:.1} ± {:.1} ({last})", found.mean, found.half_width)
}

pub(super) fn summaries(
    studied: &[Studied],
    variance: &OnVariance,
    pools: &[OnPool],
) -> Vec<Table> {
    let row = |one: &Studied| {
        let (clusters, random) = (one.scene.process.n_clusters, coupons(&one.scene.weights));
        let mut row = vec![one.scene.name.clone(), clusters.to_string()];
        row.extend((0..CHOICES.len()).map(|i| count(one, i)));
        row.push(format!("{random:.1}"));
        row
    };
    let choices = CHOICES.map(name).join(" | ");
    let questions = Table::new(
        "Questions until every cluster was met: mean with its 95 % interval, and in brackets what nine of ten runs \
         do with.",
        &format!("Pool | K | {choices} | random, exactly"),
        studied.iter().map(row),
    )
    .numbers(1..);
    let share =
        |count: usize, of: usize| format!("{count} ({:.1} %)", 100.0 * count as f64 / of as f64);
    let on_variance = |what: &str, count: usize| {
        vec![
            what.to_owned(),
            variance.cases.to_string(),
            share(count, variance.cases),
        ]
    };
    let exceeding = |i: usize| pools.iter().filter(|pool| pool.exceeds()[i]).count();
    let on_pools = |what: &str, i: usize| {
        vec![
            what.to_owned(),
            pools.len().to_string(),
            share(exceeding(i), pools.len()),
        ]
    };
    let checks = Table::new(
        "Bounds in random cases: on the variance, and on the probability in small pools where it is exact.",
        "Bound | Cases | Does not hold",
        [
            on_variance("A_unl, printed", variance.printed_unlabelled),
            on_variance("A_lab, printed", variance.printed_labelled),
            on_variance("A_back, printed", variance.printed_background),
            on_variance("C above A_lab / A_unl, all printed", variance.printed_ratio),
            on_variance("A_unl, A_lab, A_back, ours", variance.ours),
            on_pools("the guarantee, printed", 0),
            on_pools("the guarantee, provable in the same form", 1),
            on_pools("the guarantee, step by step", 2),
        ],
    )
    .numbers(1..);
    let constants = [2, 3, 5, 10, 20].map(|k| {
        let mut row = vec![k.to_string()];
        row.extend(constants(k).map(|c| format!("{c:.3}")));
        row
    });
    let constants = Table::new(
        "The constant of rem:explain-bound (perfect separation, α₀ = 1/K²).",
        "K | C as printed | C with K - 1 | A_lab / A_unl that hold",
        constants,
    )
    .numbers(0..);
    vec![questions, best(studied), checks, constants]
}

/// The best λ of either bound that holds, and what it promises there.
fn best(studied: &[Studied]) -> Table {
    let row = |one: &Studied| {
        let told = |(lambda, bound): (f64, f64)| match bound {
            0.0 => ["none".to_owned(), "0".to_owned()],
            bound if bound < 1e-3 => [format!("{lambda:.1}"), format!("{bound:.0e}")],
            bound => [format!("{lambda:.1}"), format!("{bound:.4}")],
        };
        let [form, steps] = [one.scene.best_corrected(), one.scene.best_stepwise()].map(told);
        [vec![one.scene.name.clone()], form.to_vec(), steps.to_vec()].concat()
    };
    Table::new(
        format!("The bounds that hold at their best λ up to {LARGEST}, over all sets found."),
        "Pool | λ, paper's form | Bound there | λ, step by step | Bound there",
        studied.iter().map(row),
    )
    .numbers(1..)
}

pub(super) fn settings(studied: &[Studied]) -> Value {
    let one = |one: &Studied| {
        json!({
            "pool": one.scene.name, "items": one.scene.process.clusters.len(), "alpha_0": one.scene.process.prior,
            "trials": one.trials, "runs": one.counted[0].len(), "most_questions": one.most,
        })
    };
    Value::Array(studied.iter().map(one).collect())
}
