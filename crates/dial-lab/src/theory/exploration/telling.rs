//! What bounds and simulations gave, in words and tables.

use dial_data::write::Cell;
use serde_json::{Value, json};

use super::bounds::{Case, constant, corrected, mended_constant};
use super::checks::{OnPool, OnVariance};
use super::drawing::{fine, name};
use super::process::{coupons, wilson};
use super::{CHOICES, LARGEST, Studied};
use crate::report::Table;
use crate::stats::interval;
use crate::theory::Tidy;

pub(super) fn text() -> Vec<String> {
    [
        "If questions are drawn with probability proportional to exp(λ A_var), will the first K questions meet K clusters? \
         Proposition prop:cluster-exploration bounds that probability from below by the numbers (δ, ζ, ε) of a class \
         separator, α₀, λ, K and the smallest weight w of a class.",
        "The bound as printed does not hold: its lower bound on the variance of a cluster without labels has K + 1 where \
         K - 1 is right. With bounds that hold the same argument gives a bound of the same form, and treating each of \
         the K steps by itself a larger one, which is exact for perfect separation and equal weights. Both are drawn \
         beside the printed one and the truth.",
        "What to see: λ helps while A_lab < A_unl, that is while a label says much about its own cluster (ζ large against \
         α₀) and little about others (ε small against α₀), and little lies outside of all sets. On pools of pictures ζ \
         is about 0, the bounds say nothing, and yet the process does better than random.",
        "How many questions will I need? The last table counts them, without bounds: K at best, and K (1 + 1/2 + ... + \
         1/K) at random for clusters of equal weights.",
    ]
    .map(String::from)
    .to_vec()
}

pub(super) fn tables(studied: &[Studied], pools: &[OnPool]) -> Vec<Tidy> {
    let text = |one: &Studied| Cell::Text(one.scene.name.clone());
    let (mut simulated, mut bounds, mut questions) = (Vec::new(), Vec::new(), Vec::new());
    for one in studied {
        for (lambda, hits) in &one.simulated {
            let (low, high) = wilson(*hits, one.trials);
            let numbers = [*lambda, *hits as f64 / one.trials as f64, low, high].map(Cell::Number);
            simulated.push([vec![text(one)], numbers.to_vec()].concat());
        }
        for lambda in fine() {
            let b = one.scene.bounds(lambda);
            let exact = one.scene.truth(lambda).unwrap_or(f64::NAN);
            let numbers = [lambda, b.printed, b.corrected, b.stepwise, exact].map(Cell::Number);
            bounds.push([vec![text(one)], numbers.to_vec()].concat());
        }
        for (choice, counts) in CHOICES.iter().zip(&one.counted) {
            let row = |(run, count): (usize, &Option<usize>)| {
                let count = count.map_or(Cell::Text(String::new()), |count| {
                    Cell::Integer(count as i64)
                });
                vec![
                    text(one),
                    Cell::Text(name(*choice)),
                    Cell::Integer(run as i64),
                    count,
                ]
            };
            questions.extend(counts.iter().enumerate().map(row));
        }
    }
    let pool = |p: &OnPool| {
        let Case {
            classes,
            prior,
            delta,
            zeta,
            epsilon,
            least_weight,
        } = p.case;
        let numbers = [
            prior,
            delta,
            zeta,
            epsilon,
            least_weight,
            p.lambda,
            p.truth,
            p.printed,
            p.corrected,
            p.stepwise,
        ];
        [
            vec![Cell::Integer(classes as i64)],
            numbers.map(Cell::Number).to_vec(),
        ]
        .concat()
    };
    let constants = (2..=20).map(|k| {
        let case = Case::perfect(k);
        let ratio = corrected(&case).labelled / corrected(&case).unlabelled;
        [
            vec![Cell::Integer(k as i64)],
            [constant(&case), mended_constant(&case), ratio]
                .map(Cell::Number)
                .to_vec(),
        ]
        .concat()
    });
    let tidy = |stem: &str, header: Vec<&'static str>, rows| Tidy {
        stem: stem.into(),
        header,
        rows,
    };
    vec![
        tidy(
            "exploration-simulated",
            vec!["pool", "lambda", "share", "low", "high"],
            simulated,
        ),
        tidy(
            "exploration-bounds",
            vec![
                "pool",
                "lambda",
                "printed",
                "corrected",
                "stepwise",
                "exact",
            ],
            bounds,
        ),
        tidy(
            "exploration-questions",
            vec!["pool", "choice", "run", "questions"],
            questions,
        ),
        tidy(
            "exploration-random-pools",
            vec![
                "K",
                "alpha_0",
                "delta",
                "zeta",
                "epsilon",
                "w_min",
                "lambda",
                "truth",
                "printed",
                "corrected",
                "stepwise",
            ],
            pools.iter().map(pool).collect(),
        ),
        tidy(
            "exploration-constant",
            vec!["K", "printed", "with_k_minus_1", "provable_ratio"],
            constants.collect(),
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
    let words = |list: &[&str]| {
        list.iter()
            .map(|word| word.to_string())
            .collect::<Vec<String>>()
    };
    let row = |one: &Studied| {
        let random = coupons(&one.scene.weights);
        let counts = (0..CHOICES.len()).map(|i| count(one, i));
        [
            vec![
                one.scene.name.clone(),
                one.scene.process.n_clusters.to_string(),
            ],
            counts.collect(),
            vec![format!("{random:.1}")],
        ]
        .concat()
    };
    let header = [
        words(&["Pool", "K"]),
        CHOICES.map(name).to_vec(),
        words(&["random, exactly"]),
    ]
    .concat();
    let questions = Table {
        caption:
            "Questions until every cluster was met: mean with its 95 % interval, and in brackets what nine of ten runs \
                  do with."
                .into(),
        numeric: [vec![false], vec![true; header.len() - 1]].concat(),
        header,
        rows: studied.iter().map(row).collect(),
    };
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
    let checks = Table {
        caption: "Bounds in random cases: on the variance, and on the probability in small pools where it is exact."
            .into(),
        header: words(&["Bound", "Cases", "Does not hold"]),
        rows: vec![
            on_variance("A_unl, printed", variance.printed_unlabelled),
            on_variance("A_lab, printed", variance.printed_labelled),
            on_variance("A_back, printed", variance.printed_background),
            on_variance("C above A_lab / A_unl, all printed", variance.printed_ratio),
            on_variance("A_unl, A_lab, A_back, ours", variance.ours),
            on_pools("the guarantee, printed", 0),
            on_pools("the guarantee, provable in the same form", 1),
            on_pools("the guarantee, step by step", 2),
        ],
        numeric: vec![false, true, true],
    };
    let constants = [2, 3, 5, 10, 20].map(|k| {
        let case = Case::perfect(k);
        let ratio = corrected(&case).labelled / corrected(&case).unlabelled;
        let numbers = [constant(&case), mended_constant(&case), ratio].map(|c| format!("{c:.3}"));
        [vec![k.to_string()], numbers.to_vec()].concat()
    });
    let constants = Table {
        caption: "The constant of rem:explain-bound (perfect separation, α₀ = 1/K²).".into(),
        header: words(&[
            "K",
            "C as printed",
            "C with K - 1",
            "A_lab / A_unl that hold",
        ]),
        rows: constants.to_vec(),
        numeric: vec![true; 4],
    };
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
    let header = [
        "Pool",
        "λ, paper's form",
        "Bound there",
        "λ, step by step",
        "Bound there",
    ];
    Table {
        caption: format!(
            "The bounds that hold at their best λ up to {LARGEST}, over all sets found."
        ),
        header: header.map(String::from).to_vec(),
        rows: studied.iter().map(row).collect(),
        numeric: vec![false, true, true, true, true],
    }
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
