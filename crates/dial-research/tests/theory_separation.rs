//! Class separators against brute force over all sets, derived in fixtures/.

#[path = "common/golden.rs"]
mod golden;

use std::sync::Arc;

use dial::propagation::Column;
use dial_research::theory::separation::{Pairs, attained, limits, verify, wendland};
use serde_json::Value;

fn golden() -> Value {
    golden::golden("separation")
}

fn list<T>(value: &Value, of: impl Fn(&Value) -> T) -> Vec<T> {
    value.as_array().unwrap().iter().map(of).collect()
}

fn floats(value: &Value) -> Vec<f64> {
    list(value, |v| v.as_f64().unwrap())
}

struct Pool {
    name: String,
    columns: Vec<Column>,
    clusters: Vec<usize>,
    whole: Value,
}

fn pools() -> Vec<Pool> {
    list(&golden()["pools"], |pool| Pool {
        name: pool["name"].as_str().unwrap().to_owned(),
        columns: list(&pool["kernel"], |row| Arc::new(floats(row))),
        clusters: list(&pool["clusters"], |c| c.as_u64().unwrap() as usize),
        whole: pool.clone(),
    })
}

#[test]
fn triples_of_given_sets() {
    for pool in pools() {
        let kept = list(&pool.whole["kept"], |k| k.as_bool().unwrap());
        let got = attained(&pool.columns, &pool.clusters, &kept);
        let want = floats(&pool.whole["triple"]);
        for (got, want) in [got.delta, got.zeta, got.epsilon].iter().zip(&want) {
            assert!((got - want).abs() < 1e-15, "{}: {got} {want}", pool.name);
        }
        assert_eq!(
            Pairs::new(&pool.columns, &pool.clusters).measure(&kept),
            got,
            "{}",
            pool.name
        );
    }
}

/// What is found is attained and never better than the best of all sets; no set beats the limits; and on pools as
/// small as these the search finds the best.
#[test]
fn the_optimum_lies_between_what_is_found_and_the_limit() {
    let (mut cases, mut hits) = (0, 0);
    for pool in pools() {
        let pairs = Pairs::new(&pool.columns, &pool.clusters);
        for best in pool.whole["best"].as_array().unwrap() {
            let of = |key: &str| best[key].as_f64().unwrap();
            let (delta, close) = (of("delta"), 1e-12);
            let limit = limits(&pairs, &[delta])[0];
            assert!(
                limit.zeta >= of("zeta") - close && limit.epsilon <= of("epsilon") + close,
                "{}",
                pool.name
            );
            let wide = pairs.widest(delta, f64::INFINITY).unwrap();
            let far = pairs.farthest(delta);
            let gap = pairs.best(&[delta], 50).remove(0);
            for found in [&wide, &far, &gap] {
                assert!(
                    verify(&pool.columns, &pool.clusters, found) && found.delta <= delta + close,
                    "{}",
                    pool.name
                );
            }
            assert!(
                wide.zeta <= of("zeta") + close && far.epsilon >= of("epsilon") - close,
                "{}",
                pool.name
            );
            assert!(gap.gap() <= of("gap") + close, "{}", pool.name);
            cases += 3;
            hits += usize::from(wide.zeta >= of("zeta") - close);
            hits += usize::from(far.epsilon <= of("epsilon") + close);
            hits += usize::from(gap.gap() >= of("gap") - close);
        }
    }
    assert_eq!(
        (hits, cases),
        (72, 72),
        "the greedy search does not always find the optimum"
    );
}

#[test]
fn with_nothing_to_leave_out_all_is_exact() {
    for pool in pools() {
        let pairs = Pairs::new(&pool.columns, &pool.clusters);
        let all = attained(
            &pool.columns,
            &pool.clusters,
            &vec![true; pool.clusters.len()],
        );
        let limit = limits(&pairs, &[0.0])[0];
        assert_eq!(
            (limit.zeta, limit.epsilon),
            (all.zeta, all.epsilon),
            "{}",
            pool.name
        );
        assert_eq!(pairs.best(&[0.0], 5)[0], all, "{}", pool.name);
    }
}

#[test]
fn outliers_are_what_is_left_out() {
    // Two clusters of ten on a line; one item of each lies beside the other cluster.
    let mut x: Vec<f64> = (0..20)
        .map(|i| f64::from(i % 10) * 0.1 + if i < 10 { 0.0 } else { 10.0 })
        .collect();
    (x[3], x[15]) = (11.0, -1.0);
    let column = |z: &f64| {
        Arc::new(
            x.iter()
                .map(|x| libm::exp(-0.5 * (x - z) * (x - z)))
                .collect::<Vec<f64>>(),
        )
    };
    let columns: Vec<Column> = x.iter().map(column).collect();
    let clusters: Vec<usize> = (0..20).map(|i| i / 10).collect();
    let found = Pairs::new(&columns, &clusters).best(&[0.0, 0.1], 20);
    let left: Vec<usize> = (0..20).filter(|i| !found[1].kept[*i]).collect();
    assert_eq!(left, [3, 15]);
    assert!(
        found[0].gap() < 0.0 && found[1].gap() > 0.6,
        "{} {}",
        found[0].gap(),
        found[1].gap()
    );
    assert!(
        (found[1].zeta - libm::exp(-0.5 * 0.81)).abs() < 1e-12
            && (found[1].delta - 0.1).abs() < 1e-12
    );
}

#[test]
fn wendlands_kernel() {
    for pair in list(&golden()["wendland"], floats) {
        assert!((wendland(pair[0]) - pair[1]).abs() < 1e-15, "{pair:?}");
    }
}
