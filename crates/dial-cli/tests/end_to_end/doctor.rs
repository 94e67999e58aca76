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

/// Four texts, each there twice: `same.csv` labels both alike, `other.csv` differently.
fn texts() -> Place {
    let lines = [
        "the cat purrs",
        "a truck brakes",
        "new tyres",
        "milk for kittens",
    ];
    let line =
        |row: usize| json!({ "id": format!("t{row}"), "text": lines[row / 2] }).to_string() + "\n";
    let place = Place::with("p.jsonl", (0..8).map(line).collect::<String>());
    let file = |name: &str, head: &str, value: &dyn Fn(usize) -> String| {
        let rows: String = (0..8)
            .map(|row| format!("t{row},{}\n", value(row)))
            .collect();
        std::fs::write(place.path(name), format!("id,{head}\n{rows}")).unwrap();
    };
    let class = |yes: bool| if yes { "x" } else { "y" }.to_string();
    file("same.csv", "label", &|row| class(row < 4));
    file("other.csv", "label", &|row| class(row % 2 == 0));
    // Near are those of one label in other.csv; in apart.csv the nearest has the other label of same.csv.
    file("features.csv", "a", &|row| {
        (row / 2 + 100 * (row % 2)).to_string()
    });
    file("apart.csv", "a", &|row| {
        (row / 4 + 10 * (row % 4)).to_string()
    });
    place
}

#[test]
fn kinds_of_features_are_compared_by_labels() {
    let place = texts();
    let typed = "doctor p.jsonl --k 1 --features features.csv --labels other.csv";
    let json = place.line(&format!("{typed} --json")).ok().json();
    let compared = &json["facts"]["compared_features"];
    assert_eq!(
        (&compared["labelled"], &compared["neighbours"]),
        (&json!(8), &json!(1))
    );
    // The twin of a text has the other label, the nearest by the file the same. Errors: √1/10 and √4/10.
    let wanted = [
        ("words", "without --features", false, 0.0, -1.0, 0.2),
        (
            "the features of the file",
            "--features features.csv",
            true,
            1.0,
            0.0,
            2f64.sqrt() / 10.0,
        ),
    ];
    let kinds = compared["kinds"].as_array().unwrap();
    assert_eq!(kinds.len(), wanted.len());
    for (kind, (name, choose, used, purity, difference, error)) in kinds.iter().zip(wanted) {
        assert_eq!(
            (&kind["features"], &kind["choose"], &kind["used"]),
            (&json!(name), &json!(choose), &json!(used))
        );
        for (member, wanted) in [
            ("purity", purity),
            ("standard_error", 0.1),
            ("difference", difference),
            ("difference_error", error),
        ] {
            assert!(
                (number(&kind[member]) - wanted).abs() < 1e-12,
                "{name} {member}: {kind}"
            );
        }
    }
    let keep = "advice: use the features of the file (--features features.csv): 100.0 ± 39.2 percentage points more of the neighbours share the \
                label than with words.";
    assert_eq!(json["advice"], json!([keep]));
    let text = place.line(typed).ok().out;
    let line = "  compared features  words 0.0 ± 19.6 %, the features of the file 100.0 ± 19.6 % (labels shared with the \
                nearest of 8 labelled items)\n";
    assert!(
        text.contains(line) && text.ends_with(&format!("{keep}\n")),
        "{text}"
    );
    let advice = |files: &str| {
        let typed = format!("doctor p.jsonl --k 1 {files} --json");
        place.line(&typed).ok().json()["advice"].clone()
    };
    let words = "advice: use words (without --features): 100.0 ± 39.2 percentage points more of the neighbours share the \
                 label than with the features of the file.";
    assert_eq!(
        advice("--features apart.csv --labels same.csv"),
        json!([words])
    );
    // Six of eight neighbours agree by the file, all by words: too few to tell.
    let unclear = "advice: the labels show no clear difference between words and the features of the file \
                   (25.0 ± 37.3 percentage points).";
    assert_eq!(
        advice("--features features.csv --labels same.csv"),
        json!([unclear])
    );
    assert_eq!(
        advice("--features features.csv"),
        json!([]),
        "without labels there is nothing to compare"
    );
}

#[test]
fn a_project_is_examined_with_its_answers() {
    let place = texts();
    place
        .line("new p.jsonl --k 1 --features features.csv --classes x,y --ask-once none --project p.dial")
        .ok();
    let facts = || place.line("doctor p.dial --json").ok().json()["facts"].clone();
    assert_eq!(facts()["labelled_items"], json!(0));
    for row in 0..8 {
        let (item, class) = (format!("t{row}"), ["x", "y"][row % 2]);
        place.dial(&["tell", "p.dial", &item, class]).ok();
    }
    let (found, of_pool) = (
        facts(),
        place
            .line("doctor p.jsonl --k 1 --features features.csv --labels other.csv --json")
            .ok()
            .json()["facts"]
            .clone(),
    );
    for name in [
        "class_sizes",
        "neighbour_purity",
        "nearest_neighbour",
        "compared_features",
    ] {
        let strip = |value: &Value| {
            // The project knows the whole path of the file.
            let text = value.to_string();
            text.replace(
                &place.path("features.csv").display().to_string(),
                "features.csv",
            )
        };
        assert_eq!(strip(&found[name]), strip(&of_pool[name]), "{name}");
    }
    // What was decided stays as it was.
    let status = place.line("status p.dial --json").ok().json();
    assert_eq!(status["labelled"], json!(8));
}

#[test]
fn pictures_in_arrays_are_compared_with_their_description() {
    let place = Place::new();
    let kinds = |flags: &str| {
        let json = place
            .line(&format!("doctor builtin:digits:200 --json {flags}"))
            .ok()
            .json();
        let kinds = json["facts"]["compared_features"]["kinds"].clone();
        let of = |at: usize| {
            let kind = &kinds[at];
            (
                kind["features"].as_str().unwrap().to_string(),
                kind["used"] == json!(true),
                number(&kind["purity"]),
            )
        };
        // All items have labels: it is the purity of the pool.
        let used = [0, 1].map(of).into_iter().find(|kind| kind.1).unwrap();
        assert!((number(&json["facts"]["neighbour_purity"]) - used.2).abs() < 1e-12);
        [of(0), of(1)]
    };
    let [pixels, described] = kinds("");
    assert_eq!((pixels.0.as_str(), pixels.1), ("pixels", true));
    assert_eq!(
        (described.0.as_str(), described.1),
        ("edges and light", false)
    );
    let [other_pixels, other_described] = kinds("--describe");
    assert_eq!((other_pixels.1, other_described.1), (false, true));
    assert_eq!((pixels.2, described.2), (other_pixels.2, other_described.2));
}

#[test]
fn what_a_model_would_bring_is_said_where_there_is_none() {
    let place = texts();
    let advice = |typed: &str| {
        let json = place.line(&format!("doctor {typed} --json")).ok().json();
        json["advice"].as_array().unwrap().clone()
    };
    let said = advice("p.jsonl --k 1");
    let said = said[0].as_str().unwrap();
    assert!(
        said.contains("embeddings of a language model") && said.contains("docs/pools.md"),
        "{said}"
    );
    assert!(advice("p.jsonl --k 1 --features features.csv").is_empty());
    assert!(advice("builtin:moons:60").is_empty());
}
