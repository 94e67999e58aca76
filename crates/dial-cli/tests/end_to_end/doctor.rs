//! `dial doctor` on a pool whose every figure is known by hand.

use serde_json::{Value, json};

use crate::run::{Place, Ran};

/// Two pieces of four items each; with k = 3 everybody in a piece is everybody's neighbour. Items a and b are copies
/// with different labels, g and h copies with the same. The second column is constant.
const POOL: &str = "id,x,c,label\n\
                    a,0,7,cat\nb,0,7,dog\nc,1,7,cat\nd,1.5,7,dog\n\
                    e,100,7,dog\nf,101,7,dog\ng,103,7,dog\nh,103,7,dog\n";

fn examine(words: &str) -> Ran {
    Place::with("pool.csv", POOL)
        .line(&format!("doctor pool.csv --k 3 --weights uniform {words}"))
        .ok()
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is not a number"))
}

#[test]
fn every_fact_by_hand() {
    let json = examine("--json --quiet").json();
    assert_eq!(json["pool"], "pool");
    let facts = &json["facts"];
    let whole = [
        ("items", 8),
        ("dimensions", 2),
        ("constant_columns", 1),
        ("duplicate_groups", 2),
        // Two complete graphs of four: 6 edges each.
        ("edges", 12),
        ("components", 2),
        ("largest_component", 4),
        ("isolated_items", 0),
        ("labelled_items", 8),
    ];
    for (name, want) in whole {
        assert_eq!(facts[name], json!(want), "{name}");
    }
    assert_eq!(facts["class_sizes"], json!({ "cat": 2, "dog": 6 }));
    let three = json!({ "least": 3.0, "median": 3.0, "mean": 3.0, "largest": 3.0 });
    assert_eq!(
        (&facts["weighted_degree"], &facts["edges_per_item"]),
        (&three, &three)
    );
    assert_eq!(
        facts["hubness"],
        json!({ "skewness": 0.0, "largest": 3.0, "orphans": 0 })
    );
    assert_eq!(facts["tau"], json!(0.1));
    // Of the 12 ordered pairs of the first piece 2 are cats and 2 dogs; of the second all 12 are equal.
    assert!((number(&facts["neighbour_purity"]) - 16.0 / 24.0).abs() < 1e-15);
    // All weights are 1, so the share of the weight is the same.
    assert!((number(&facts["edge_homophily"]) - 16.0 / 24.0).abs() < 1e-15);
    // The nearest: a and b of each other, c and d of each other, all four torn; the other piece agrees.
    assert_eq!(number(&facts["nearest_neighbour"]), 0.5);
}

#[test]
fn every_finding_by_hand() {
    let json = examine("--json --quiet").json();
    let findings: Vec<&str> = json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f.as_str().unwrap())
        .collect();
    let starts = [
        "note[N4]: 2 exact duplicate groups",
        "warn[N4]: 1 group of identical items holds different labels",
        "note[N1]: 2 components: labels do not cross between them",
        // Chance alone: (2/8)² + (6/8)² = 40/64.
        "warn: neighbours agree on the label 66.7 % of the time, chance alone gives 62.5 %.",
    ];
    assert_eq!(findings.len(), starts.len(), "{findings:?}");
    for (finding, start) in findings.iter().zip(starts) {
        assert!(finding.starts_with(start), "{finding}");
    }
}

#[test]
fn the_text_says_the_same() {
    let text = examine("--quiet").out;
    let line = |name: &str| {
        text.lines()
            .find_map(|line| line.trim().strip_prefix(name))
            .map(str::trim)
    };
    assert_eq!(line("items"), Some("8 rows of numbers"));
    assert_eq!(line("dimensions"), Some("2 (f64)"));
    assert_eq!(
        line("duplicate groups"),
        Some("2 groups of identical rows, 4 rows")
    );
    assert_eq!(
        line("edges  "),
        Some("12; an item has 3.0 neighbours on average")
    );
    assert_eq!(line("components"), Some("2 (the largest holds 4 items)"));
    assert_eq!(line("class sizes"), Some("cat: 2, dog: 6"));
    assert_eq!(
        line("neighbour purity"),
        Some("66.7 % of neighbours share the label")
    );
    assert_eq!(
        line("nearest neighbour"),
        Some("50.0 % of nearest neighbours share the label")
    );
    // 0.1 of a mean degree of 3.
    assert_eq!(line("tau"), Some("0.1 (0.03 of the mean degree)"));
    assert!(
        text.contains("\nwarn[N4]: 1 group ") && text.contains("\nnote[N1]: 2 components"),
        "{text}"
    );
    assert!(!text.contains("No problems found"));
    assert!(
        line("memory").is_some_and(|memory| memory.starts_with("about ")),
        "{text}"
    );
    assert!(
        !text.contains("largest component"),
        "the line of the components has said it: {text}"
    );
}

#[test]
fn copies_that_agree_or_are_unlabelled_are_no_contradiction() {
    for label in ["cat", "", "-1"] {
        let pool = POOL.replace("b,0,7,dog", &format!("b,0,7,{label}"));
        let json = Place::with("pool.csv", pool)
            .line("doctor pool.csv --k 3 --json --quiet")
            .ok()
            .json();
        let findings = json["findings"].to_string();
        assert!(
            findings.contains("note[N4]: 2 exact") && !findings.contains("warn[N4]"),
            "{findings}"
        );
    }
}

#[test]
fn a_huge_tau_is_warned_about() {
    // Every weight is 1 and every degree 3: the strength is 1/(3 + 1e6), and ten mean degrees are 30.
    let text = examine("--quiet --tau 1e6").out;
    let warning = "warn[N8]: with tau=1000000 a label reaches its nearest neighbour with strength 1e-6; \
                   predictions will stay at the prior. Try tau <= 30.0.";
    assert!(text.contains(warning), "{text}");
    // 1/(3 + 996) is just above the threshold of one thousandth, 1/(3 + 998) just below.
    assert!(!examine("--quiet --tau 996").out.contains("N8"));
    assert!(examine("--quiet --tau 998").out.contains("warn[N8]"));
    assert!(
        examine("--quiet --tau 1e6 --json").json()["findings"]
            .to_string()
            .contains("warn[N8]")
    );
    // Where there is no tau there is nothing to warn about.
    assert!(
        !examine("--quiet --tau 1e6 --propagation rbf")
            .out
            .contains("N8")
    );
    let simulated = Place::with("pool.csv", POOL)
        .line("simulate pool.csv --k 3 --tau 1e6 --trials 1 --queries 1")
        .ok();
    assert!(simulated.err.contains("warn[N8]"), "{}", simulated.err);
}

#[test]
fn an_outlier_is_a_problem_of_its_own() {
    // Under cosine a zero row has no neighbours.
    let place = Place::with("a.csv", "a,b\n1,0\n0,1\n1,1\n2,1\n0,0\n");
    let text = place
        .line("doctor a.csv --k 2 --metric cosine --zero-vectors isolate --quiet")
        .ok()
        .out;
    assert!(
        text.contains("warn[N3]: isolated items: 1. Each is known only if it is labelled itself."),
        "{text}"
    );
}

#[test]
fn a_healthy_pool_is_told_so() {
    let good = Place::with(
        "a.csv",
        format!(
            "a\n{}",
            (0..24).map(|i| format!("{i}\n")).collect::<String>()
        ),
    );
    let text = good.line("doctor a.csv --k 2").ok().out;
    assert!(
        text.ends_with("No problems found: this pool is ready for labelling.\n"),
        "{text}"
    );
    assert!(
        !text.contains("labelled items"),
        "no labels, no word about them: {text}"
    );
}

#[test]
fn few_known_labels_give_no_shares() {
    let place = Place::with("pool.csv", POOL);
    let ran = place
        .line("doctor pool.csv --k 3 --quiet --ignore-label cat --ignore-label dog")
        .ok();
    assert!(
        ran.out.contains("labelled items    0 in 0 classes") && !ran.out.contains("NaN"),
        "{}",
        ran.out
    );
    let lone = Place::with("a.csv", "a,label\n0,x\n1,\n2,\n50,y\n51,\n52,\n");
    let json = lone.line("doctor a.csv --k 2 --quiet --json").ok().json();
    assert_eq!(
        (
            &json["facts"]["labelled_items"],
            &json["facts"]["neighbour_purity"]
        ),
        (&json!(2), &Value::Null)
    );
}

#[test]
fn one_class_is_not_enough_to_be_ready() {
    let rows: String = (0..24).map(|i| format!("{i},cat\n")).collect();
    let text = Place::with("a.csv", format!("a,label\n{rows}"))
        .line("doctor a.csv --k 2 --quiet")
        .ok()
        .out;
    let warning = "warn[N12]: all known labels are of one class, \"cat\"; there is nothing to tell apart. Labels of a \
                   second class are missing.";
    assert!(
        text.contains(warning) && !text.contains("ready for labelling"),
        "{text}"
    );
    assert!(text.contains("24 in 1 class\n"), "{text}");
}

#[test]
fn many_classes_are_cut_and_said_to_be() {
    let rows: String = (0..46).map(|i| format!("{i},c{}\n", i / 2)).collect();
    let place = Place::with("a.csv", format!("a,label\n{rows}"));
    let text = place.line("doctor a.csv --k 2 --quiet").ok().out;
    assert!(text.contains(": 2, and 3 more classes\n"), "{text}");
    let json = place.line("doctor a.csv --k 2 --quiet --json").ok().json();
    assert_eq!(json["facts"]["class_sizes"].as_object().unwrap().len(), 23);
}

#[test]
fn a_share_of_nothing_is_zero() {
    // Neighbours on the line never agree.
    let rows: String = (0..24).map(|i| format!("{i},{}\n", i % 2)).collect();
    let text = Place::with("a.csv", format!("a,label\n{rows}"))
        .line("doctor a.csv --k 1 --quiet")
        .ok()
        .out;
    assert!(
        text.contains(" 0.0 % of the edge weight") && !text.contains("-0.0"),
        "{text}"
    );
}
