//! What data and settings can do wrong once the file is read, and what is said about it.

use crate::run::{Place, npy_vector, two_blobs};

/// A table of n distinct points on a line.
fn points(n: usize) -> String {
    let rows = (0..n).map(|i| format!("{i},{}\n", i * i));
    format!("a,b\n{}", rows.collect::<String>())
}

#[test]
fn too_few_items_for_k() {
    let place = Place::with("a.csv", points(9));
    let text = "a.csv: k=15 needs at least 16 items, found 9. Use --k 8 or less.";
    place
        .line("doctor a.csv --k 15 --quiet")
        .fails("I8", 3, &[text]);
    place.line("graph a.csv --k 20 --quiet").fails(
        "I8",
        3,
        &["k=20 needs at least 21 items, found 9"],
    );
    // The default is meant for pools that have as many items.
    let noted = place.line("graph a.csv").ok().err;
    assert!(
        noted.contains("note[I8]: k = 8, because there are only 9 items"),
        "{noted}"
    );
    for n in 1..=5 {
        let place = Place::with("a.csv", points(n));
        let ran = place.line("graph a.csv --k 3 --quiet");
        match n {
            1 => ran.fails(
                "I8",
                3,
                &["a graph needs at least 2 items, found 1. Add items."],
            ),
            2 | 3 => ran.fails(
                "I8",
                3,
                &[&format!("found {n}. Use --k {} or less.", n - 1)],
            ),
            _ => assert_eq!(ran.ok().err, ""),
        }
    }
}

#[test]
fn a_project_of_one_item_says_what_it_lacks() {
    let place = Place::with("a.csv", points(1));
    let text = "a graph needs at least 2 items, found 1. Add items.";
    for line in ["new a.csv --project p.dial", "graph a.csv"] {
        let ran = place.line(line);
        assert!(!ran.err.contains("note[I8]"), "{}", ran.err);
        ran.fails("I8", 3, &[text]);
    }
}

#[test]
fn a_k_that_is_no_number_of_neighbours() {
    let place = Place::with("a.csv", points(9));
    place
        .line("graph a.csv --k 0")
        .fails("U1", 2, &["k must be at least 1, got 0"]);
    place.line("graph a.csv --k 4294967295").fails(
        "I8",
        3,
        &["needs at least 4294967296 items, found 9"],
    );
    place
        .line("graph a.csv --k 18446744073709551615")
        .fails("U0", 2, &["use a whole number"]);
    let noted = place.line("graph a.csv").ok();
    assert!(noted.err.contains("note[I8]: k = "), "{}", noted.err);
}

/// Rows 1 and 4 have length zero.
const ZEROS: &str = "a,b\n1,0\n0,0\n0,1\n1,1\n0,0\n2,1\n";

#[test]
fn zero_rows_have_no_direction() {
    let place =
        Place::with("z.csv", ZEROS).and("ids.csv", "id,a,b\nx1,1,0\nx3,0,0\nx4,0,1\nx5,3,1\n");
    let text = "z.csv: 2 rows have zero length, so cosine is undefined (first: row 1). \
                Use --zero-vectors isolate|drop or --metric euclidean.";
    place
        .line("graph z.csv --k 2 --metric cosine")
        .fails("I9", 3, &[text]);
    let named = "1 row has zero length, so cosine is undefined (first: id \"x3\")";
    place
        .line("graph ids.csv --k 1 --metric cosine")
        .fails("I9", 3, &[named]);
    assert_eq!(
        place.line("graph z.csv --k 2 --json").ok().json()["items"],
        6,
        "they have a place in the plane"
    );
}

#[test]
fn zero_rows_are_isolated_or_dropped_on_request() {
    let place = Place::with("z.csv", ZEROS);
    let cosine = |verb: &str, rest: &str| {
        place.line(&format!(
            "{verb} z.csv --k 2 --metric cosine --quiet {rest}"
        ))
    };
    let facts = cosine("doctor", "--zero-vectors isolate --json")
        .ok()
        .json();
    // Four items that know each other, and the two zero rows alone.
    assert_eq!(facts["facts"]["isolated_items"], 2);
    assert_eq!(facts["facts"]["components"], 3);
    // A label at an isolated item speaks for itself only.
    cosine("propagate", "--zero-vectors isolate --source 4 --out c.npy").ok();
    assert_eq!(
        npy_vector(&place.read("c.npy")),
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    );
    let dropped = cosine("graph", "--zero-vectors drop --json").ok().json();
    assert_eq!(
        (dropped["items"].as_u64(), dropped["components"].as_u64()),
        (Some(4), Some(1))
    );
    // Items keep their row numbers as ids.
    let far = cosine("propagate", "--zero-vectors drop --source 5 --json")
        .ok()
        .json();
    assert_eq!(
        (&far["source"], &far["nearest"][0]["item"]),
        (&"5".into(), &"5".into())
    );
    cosine("propagate", "--zero-vectors drop --source 4").fails(
        "I12",
        3,
        &["no item has the id \"4\""],
    );
    // In the plane they have a place, whatever is said about cosine.
    assert_eq!(
        place
            .line("graph z.csv --k 2 --zero-vectors drop --json")
            .ok()
            .json()["items"],
        6
    );
    // What the core takes for zero is dropped: the reciprocal of 1e-310 is infinite.
    let tiny = Place::with("t.csv", "a,b\n1,0\n1e-310,0\n0,1\n1,1\n2,1\n");
    tiny.line("graph t.csv --k 2 --metric cosine --quiet")
        .fails("I9", 3, &["(first: row 1)"]);
    let dropped = tiny
        .line("graph t.csv --k 2 --metric cosine --zero-vectors drop --json")
        .ok();
    assert_eq!(dropped.json()["items"], 4);
    assert!(
        dropped
            .err
            .contains("1 row of length zero was left out (row 1)"),
        "{}",
        dropped.err
    );
    let noted = place
        .line("graph z.csv --k 2 --metric cosine --zero-vectors drop")
        .ok();
    assert!(
        noted
            .err
            .contains("2 rows of length zero were left out (rows 1, 4)"),
        "{}",
        noted.err
    );
}

#[test]
fn nothing_but_zero_rows() {
    let place = Place::with("z.csv", "a,b\n0,0\n0,0\n");
    place
        .line("graph z.csv --k 1 --metric cosine --zero-vectors drop --quiet")
        .fails("I3", 3, &["no rows"]);
}

#[test]
fn identical_rows_have_no_structure() {
    let place = Place::with("a.csv", format!("a,b\n{}", "4,5\n".repeat(30)));
    let text = "a.csv: all 30 rows are identical; there is no structure to learn from.";
    place.line("doctor a.csv --k 3").fails("I10", 3, &[text]);
    place
        .line("doctor a.csv --k 3 --standardize")
        .fails("I10", 3, &[text]);
    let one = Place::with("a.csv", format!("a,b\n{}4,6\n", "4,5\n".repeat(29)));
    assert_eq!(
        one.line("doctor a.csv --k 3 --json").ok().json()["facts"]["constant_columns"],
        1
    );
}

#[test]
fn scales_that_leave_the_range_of_squares() {
    let column = |scale: &str| {
        format!(
            "a,b\n{}",
            (1..9)
                .map(|i| format!("{i}e{scale},0\n"))
                .collect::<String>()
        )
    };
    for (scale, text) in [
        ("300", "reaches 8e300; distances overflow"),
        ("-300", "reaches 8e-300; distances underflow"),
    ] {
        let place = Place::with("a.csv", column(scale));
        let next = "Rescale or pass --standardize.";
        place
            .line("graph a.csv --k 2")
            .fails("I11", 3, &["a.csv: column 0 ", text, next]);
    }
    for scale in ["140", "0", "-140"] {
        let place = Place::with("a.csv", column(scale));
        assert_eq!(
            place.line("graph a.csv --k 2 --json").ok().json()["items"],
            8
        );
    }
}

#[test]
fn the_advice_to_standardize_helps() {
    let tiny = "a,b\n1e-300,0\n2e-300,0\n3e-300,0\n4e-300,0\n";
    let huge = tiny.replace("e-300", "e300");
    let plain = tiny.replace("e-300", "");
    let degree = |text: &str| {
        let place = Place::with("a.csv", text);
        place
            .line("graph a.csv --k 2 --standardize --json")
            .ok()
            .json()["mean_degree"]
            .as_f64()
            .unwrap()
    };
    for text in [tiny, &huge] {
        assert!((degree(text) - degree(&plain)).abs() < 1e-12, "{text}");
    }
}

#[test]
fn a_tau_that_is_no_regularisation() {
    for (tau, got) in [
        ("-0.1", "-0.1"),
        ("nan", "NaN"),
        ("inf", "inf"),
        ("-infxdegree", "-inf"),
        ("-1e-300", "-0.0"),
    ] {
        for verb in [
            "doctor builtin:moons:30",
            "propagate builtin:moons:30 --source 3",
            "simulate builtin:moons:30",
        ] {
            let ran = Place::new().line(&format!("{verb} --k 3 --quiet --tau {tau}"));
            ran.fails(
                "N7",
                2,
                &["tau must be a finite number >= 0, got ", &got[..2]],
            );
        }
    }
    let ran = Place::new().line("doctor builtin:moons:30 --k 3 --tau much");
    assert!(
        ran.code == 2 && ran.err.contains("--tau") && ran.out.is_empty(),
        "{}",
        ran.err
    );
    Place::new()
        .line("propagate builtin:moons:30 --k 3 --source 3 --tau 0")
        .ok();
}

#[test]
fn one_class_is_not_enough() {
    let place = Place::with("a.csv", "a,label\n1,cat\n2,cat\n3,cat\n4,\n");
    place.line("simulate a.csv --k 2 --quiet").fails(
        "N12",
        2,
        &["at least 2 classes are needed, found 1."],
    );
    let blobs = two_blobs();
    blobs
        .line("simulate blobs.csv --k 3 --quiet --ignore-label left")
        .fails("N12", 2, &["found 1."]);
    blobs
        .line("simulate blobs.csv --k 3 --quiet --mod 2")
        .fails("U1", 2, &["classes that are integers"]);
}

#[test]
fn labels_that_are_not_there_or_do_not_fit() {
    let place = Place::with("a.csv", "id,a\nx,1\ny,2\nz,4\n")
        .and("unknown.csv", "id,label\nx,cat\nu,dog\n")
        .and("torn.csv", "id,label\nx,cat\ny,cat\nx,dog\n")
        .and("good.csv", "id,label\nz,cat\nx,dog\ny,cat\n");
    let simulate =
        |rest: &str| place.line(&format!("simulate a.csv --k 1 --trials 1 --quiet {rest}"));
    simulate("").fails(
        "I12",
        3,
        &["a.csv: this pool has no labels", "--labels FILE"],
    );
    simulate("--labels unknown.csv").fails(
        "I12",
        3,
        &["1 id is not in the pool: \"u\" (line 3) (--on-unknown skip"],
    );
    simulate("--labels torn.csv").fails(
        "I12",
        3,
        &["two classes for one id: \"x\" is \"cat\" (line 2) and \"dog\" (line 4)."],
    );
    assert_eq!(
        simulate("--labels good.csv --json").ok().json()["classes"],
        serde_json::json!(["cat", "dog"])
    );
    place
        .line("demo a.csv --quiet")
        .fails("I12", 3, &["this pool has no labels"]);
    assert!(
        !place.files().contains("dial-demo"),
        "nothing is left behind"
    );
}

#[test]
fn arrays_that_could_be_labels_are_named() {
    use dial_data::write::{Saved, SavedData, write_npz};
    let place = Place::new();
    let (x, kinds) = ([0.0, 1.0, 2.0, 50.0, 51.0, 52.0], [3, 3, 3, 8, 8, 8]);
    let arrays = [
        ("X", Saved::matrix(SavedData::F64(&x), 1)),
        ("kinds", Saved::vector(SavedData::I64(&kinds))),
    ];
    write_npz(&place.path("v.npz"), &arrays).unwrap();
    let simulate = |rest: &str| {
        place.line(&format!(
            "simulate v.npz --k 1 --trials 1 --queries 1 {rest}"
        ))
    };
    let text = "this pool has no labels, so there is nothing to simulate with. Pass --label-column kinds if those are";
    simulate("--quiet").fails("I12", 3, &[text]);
    assert_eq!(
        simulate("--label-column kinds --json").ok().json()["classes"],
        serde_json::json!(["3", "8"])
    );
    let noted = place.line("graph v.npz --k 1").ok();
    assert!(
        noted
            .err
            .contains("note: no labels were found; --label-column NAME can take"),
        "{}",
        noted.err
    );
    let before = place.read("v.npz");
    place.line("graph v.npz --k 1 --quiet --out v.npz").fails(
        "U1",
        2,
        &["v.npz: would overwrite the pool v.npz."],
    );
    assert_eq!(place.read("v.npz"), before);
}

#[test]
fn tables_of_ordinary_people() {
    let rows: String = (0..30)
        .map(|i| format!("{i},{},{}\n", i * i, ["setosa", "virginica"][i % 2]))
        .collect();
    let place = Place::with("iris.csv", format!(",length,species\n{rows}"));
    let taken = place.line("doctor iris.csv --k 3 --json").ok();
    assert_eq!(
        taken.json()["facts"]["dimensions"],
        3,
        "a length and two kinds"
    );
    let text =
        "categories: species (2 values); --label-column NAME if one of them holds the labels";
    assert!(taken.err.contains(text), "{}", taken.err);
    let words = Place::with("iris.csv", "id,species\n1,setosa\n2,virginica\n");
    let text = "iris.csv: column \"species\" is text in 2 of 2 rows (first: \"setosa\", line 2). No column can be a \
                feature. Use --text-column species if these are texts to label, or give features \
                with --features.";
    words
        .line("doctor iris.csv --k 3 --quiet")
        .fails("I6", 3, &[text]);
    let dropped = place
        .line("doctor iris.csv --k 3 --drop-column species --json")
        .ok();
    assert_eq!(dropped.json()["facts"]["dimensions"], 1);
    assert!(
        dropped
            .err
            .contains("the first column has no name: it is taken for the ids"),
        "{}",
        dropped.err
    );
    let labelled = place
        .line("doctor iris.csv --k 3 --label-column species --json")
        .ok()
        .json();
    assert_eq!(
        labelled["facts"]["class_sizes"],
        serde_json::json!({ "setosa": 15, "virginica": 15 })
    );
    place
        .line("doctor iris.csv --quiet --drop-column specie")
        .fails("U1", 2, &["no column \"specie\""]);
}

#[test]
fn non_finite_rows_are_refused_or_left_out() {
    let text = "a,b\n1,2\n3,nan\n5,6\n7,8\ninf,nan\n";
    let place = Place::with("a.csv", text).and("ids.csv", "id,a\np,1\nq,nan\nr,2\ns,4\n");
    let said = "a.csv: 3 non-finite values in 2 rows; first at line 3, column b (NaN).";
    place
        .line("graph a.csv --k 1")
        .fails("I1", 3, &[said, "--drop-nonfinite"]);
    let ran = place.line("graph a.csv --k 1 --drop-nonfinite --json").ok();
    assert_eq!(ran.json()["items"], 3);
    assert!(
        ran.err
            .contains("left out 2 rows with non-finite values: line 3, line 6"),
        "{}",
        ran.err
    );
    // The rows that stay keep their numbers, or their ids.
    let last = place
        .line("propagate a.csv --k 1 --drop-nonfinite --source 3 --json")
        .ok()
        .json();
    assert_eq!(last["nearest"][0]["item"], "3");
    place
        .line("propagate a.csv --k 1 --drop-nonfinite --source 1 --quiet")
        .fails("I12", 3, &["id \"1\""]);
    place
        .line("propagate ids.csv --k 1 --drop-nonfinite --source s")
        .ok();
    place
        .line("propagate ids.csv --k 1 --drop-nonfinite --source q --quiet")
        .fails("I12", 3, &["id \"q\""]);
}

#[test]
fn double_ids_are_refused() {
    let place = Place::with("a.csv", "id,a\na17,1\nb,2\na17,3\n");
    place.line("simulate a.csv --k 1").fails(
        "I7",
        3,
        &["a.csv: id \"a17\" appears on lines 2 and 4."],
    );
}

#[test]
fn pools_that_do_not_exist() {
    let place = Place::new();
    place.line("doctor builtin:moon").fails(
        "I5",
        3,
        &["builtin:moon: there is no built-in pool \"moon\"", "digits"],
    );
    place.line("doctor builtin:moons:3").fails(
        "U1",
        2,
        &["\"3\" is not a number of items from 10 to"],
    );
    place.line("doctor nowhere.npz").fails(
        "I5",
        3,
        &["nowhere.npz: no such file.", "builtin:NAME"],
    );
    place.line("doctor .").fails(
        "I5",
        3,
        &[
            ".: a folder without pictures or texts",
            "Give a folder of .png",
        ],
    );
    assert!(place.files().is_empty());
}

#[test]
fn words_that_mean_nothing() {
    let place = Place::new();
    let lines = [
        "doctor builtin:moons --frobnicate",
        "frobnicate",
        "",
        "graph",
        "simulate builtin:moons --acquisition wisdom",
        "simulate builtin:moons --acquisition variance@oracle",
        "simulate builtin:moons --policy sometimes",
        "simulate builtin:moons --lambda -1",
        "simulate builtin:moons --lambda nan",
        "simulate builtin:moons --prior 0",
        "simulate builtin:moons --batch 0",
        "simulate builtin:moons --trials 0",
        "simulate builtin:moons --model forest",
        "simulate builtin:moons --metric taxicab",
        "simulate builtin:moons --propagation light",
        "simulate builtin:moons --queries -1",
        "graph builtin:moons --zero-vectors keep",
        "graph builtin:moons --threads 0",
        "propagate builtin:moons",
    ];
    for line in lines {
        let ran = place.line(line);
        assert_eq!(ran.code, 2, "{line}: {}", ran.err);
        assert!(ran.out.is_empty() && !ran.err.is_empty(), "{line}");
        let problem = place.line(&format!("{line} --json"));
        let parsed: serde_json::Value =
            serde_json::from_str(&problem.err).unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(
            (&parsed["code"], &parsed["exit_code"], problem.code),
            (&"U0".into(), &2.into(), 2),
            "{line}"
        );
    }
}

#[test]
fn what_cannot_be_written_is_said_before_the_work() {
    let place = Place::new();
    let run = |rest: &str| {
        place.line(&format!(
            "simulate builtin:moons:60 --k 5 --queries 2 --trials 1 --quiet {rest}"
        ))
    };
    run("--out no/such/runs.csv").fails("S5", 5, &["no/such/runs.csv"]);
    run("--plot no/such/a.svg --out a.csv").fails("S5", 5, &["no/such/a.svg"]);
    run("--plot a.gif --out a.csv").fails("U1", 2, &["a.gif: figures end in .svg or .png"]);
    // Before the pool is even looked for.
    place
        .line("simulate nowhere.csv --plot a.gif")
        .fails("U1", 2, &["a.gif"]);
    place
        .line("simulate nowhere.csv --out no/a.csv")
        .fails("S5", 5, &["there is no folder no"]);
    place
        .line("graph builtin:moons:60 --k 5 --quiet --out no/g.npz")
        .fails("S5", 5, &["no/g.npz"]);
    place
        .line("propagate builtin:moons:60 --k 5 --quiet --source 0 --out no/c.npy")
        .fails("S5", 5, &["no/c.npy"]);
    assert!(place.files().is_empty(), "{:?}", place.files());
    let blocked = Place::with("taken", "a file")
        .line("demo builtin:blobs:60 --queries 1 --trials 1 --json --out taken");
    assert_eq!(blocked.code, 5, "{}", blocked.err);
}

#[test]
fn labels_of_unknown_items_are_refused_or_left_out_on_request() {
    let place = Place::with("a.csv", "x\n1\n2\n5\n6\n");
    std::fs::write(place.path("l.csv"), "id,label\n0,a\n3,b\n9,b\n").unwrap();
    place.line("doctor a.csv --k 1 --labels l.csv").fails(
        "I12",
        3,
        &["1 id is not in the pool: \"9\" (line 4)"],
    );
    let left_out = place
        .line("doctor a.csv --k 1 --labels l.csv --on-unknown skip")
        .ok();
    assert!(
        left_out.err.contains("their labels were left out"),
        "{}",
        left_out.err
    );
    assert!(left_out.out.contains("2 in 2 classes"), "{}", left_out.out);
}

#[test]
fn parameters_of_another_propagation_are_refused() {
    let place = Place::new();
    for (typed, words) in [
        (
            "--heat-time 5",
            "--heat-time only applies to heat propagation. Add --propagation heat, or leave --heat-time out.",
        ),
        (
            "--propagation heat:3 --heat-time 5",
            "--propagation heat:3 and --heat-time 5 both set the parameter. Leave one of them out.",
        ),
        (
            "--propagation heat --sigma 2",
            "--sigma only applies to rbf and compact propagation. Add --propagation rbf or compact, or leave --sigma out.",
        ),
    ] {
        let line = format!("simulate builtin:moons:60 {typed} --queries 1 --trials 1");
        place.line(&line).fails("U1", 2, &[words]);
        let line = format!("new builtin:moons:60 {typed} --project a");
        place.line(&line).fails("U1", 2, &[words]);
    }
    assert!(place.files().is_empty());
}

#[test]
fn names_that_do_not_fit_are_refused() {
    let place = Place::with("u.csv", "id,x,y\n");
    place.line("new builtin:moons:60 --classes a,a").fails(
        "U1",
        2,
        &["--classes names \"a\" twice."],
    );
    place
        .line("doctor u.csv")
        .fails("I3", 3, &["the table has column names but no rows"]);
    place
        .line("new builtin:moons:60 --project moons --quiet")
        .ok();
    place.line("doctor moons.dial --k 7").fails(
        "U1",
        2,
        &["a project has its own options for the pool, the graph and the propagation. Leave all of them out but --embed."],
    );
    std::fs::write(place.path("w.csv"), "x,y\n1,2\n2,1\n3,3\n4,1\n").unwrap();
    place.line("pool moons.dial w.csv").fails(
        "I8",
        3,
        &[
            "The project uses k = 20, so its pool needs at least 21 items; ",
            "w.csv has 4. Nothing was changed.",
        ],
    );
}
