//! `dial propagate`: columns of the kernel by hand, the file, and items by their ids.

use crate::run::{Place, close, exp, npy_vector};

/// Three named points at 0, 1 and 3. With k = 1 and weights of 1 the graph is a path: 1 between a and b, 1/2 between
/// b and c.
fn path() -> Place {
    Place::with("path.csv", "id,x\na,0\nb,1\nc,3\n")
}

#[track_caller]
fn column(place: &Place, words: &str) -> Vec<f64> {
    place
        .line(&format!("propagate {words} --out c.npy --quiet"))
        .ok();
    npy_vector(&place.read("c.npy"))
}

#[test]
fn poisson_on_a_path_by_hand() {
    let place = path();
    let of = |source: &str| {
        column(
            &place,
            &format!("path.csv --k 1 --weights uniform --tau 1 --source {source}"),
        )
    };
    // L + I = (2, -1, 0; -1, 5/2, -1/2; 0, -1/2, 3/2).
    // From a: g is as (7, 3, 1), so K = (6, 2, 0)/6.
    close(&of("a"), &[1.0, 1.0 / 3.0, 0.0], 1e-8);
    // From b: g is as (1/2, 1, 1/3), so K = (1/6, 2/3, 0)/(2/3).
    close(&of("b"), &[0.25, 1.0, 0.0], 1e-8);
    // From c: g_a = g_b/2, then -g_b/2 + 5/2 g_b = g_c/2 gives g as (1/2, 1, 4): K = (0, 1/2, 7/2)/(7/2).
    close(&of("c"), &[0.0, 1.0 / 7.0, 1.0], 1e-8);
}

#[test]
fn tau_zero_and_the_value_at_the_source() {
    let place = path();
    let words = "path.csv --k 1 --weights uniform --source a";
    // L g = e_a - 1/3: g_c - g_b = -2/3 and g_a - g_b = 2/3, so K = (4/3, 2/3, 0)/(4/3).
    close(
        &column(&place, &format!("{words} --tau 0")),
        &[1.0, 0.5, 0.0],
        1e-8,
    );
    close(
        &column(&place, &format!("{words} --tau 0 --source-value 5")),
        &[5.0, 2.5, 0.0],
        1e-7,
    );
    // The mean degree is (1 + 3/2 + 1/2)/3 = 1.
    assert_eq!(
        column(&place, &format!("{words} --tau 1xdegree")),
        column(&place, &format!("{words} --tau 1"))
    );
}

#[test]
fn radial_kernels_by_hand() {
    let place = path();
    let rbf = column(
        &place,
        "path.csv --k 1 --propagation rbf --sigma 2 --source b",
    );
    close(&rbf, &[exp(-0.125), 1.0, exp(-0.5)], 1e-15);
    // (1 - r/R)⁴ (4 r/R + 1) at r/R = 1/2 is 3/16; c is at the rim.
    let compact = column(
        &place,
        "path.csv --k 1 --propagation compact --sigma 2 --source b",
    );
    close(&compact, &[3.0 / 16.0, 1.0, 0.0], 1e-15);
}

#[test]
fn heat_by_hand() {
    // Two items and an edge of weight 1: exp(-tL) e_0 = (1 + e^-2t, 1 - e^-2t)/2, so K = (1, tanh t).
    let place = Place::with("two.csv", "x\n0\n1\n");
    let words = "two.csv --k 1 --weights uniform --propagation heat --source 0";
    let tanh = |t: f64| (1.0 - exp(-2.0 * t)) / (1.0 + exp(-2.0 * t));
    close(
        &column(&place, &format!("{words} --heat-time 0.5")),
        &[1.0, tanh(0.5)],
        1e-12,
    );
    close(
        &column(&place, &format!("{words} --source-value 2")),
        &[2.0, 2.0 * tanh(3.0)],
        1e-12,
    );
    let bad = format!("propagate {words} --heat-time 0 --quiet");
    place
        .line(&bad)
        .fails("U1", 2, &["heat-time", "above 0, got 0"]);
}

#[test]
fn a_label_does_not_leave_its_piece() {
    let place = Place::with("a.csv", "x\n0\n1\n3\n70\n71\n73\n");
    let found = column(&place, "a.csv --k 2 --source 4");
    assert_eq!((found[..3].to_vec(), found[4]), (vec![0.0; 3], 1.0));
    assert!(
        found[3] > 0.0 && found[3] < 1.0 && found[5] > 0.0 && found[5] < 1.0,
        "{found:?}"
    );
    let json = place
        .line("propagate a.csv --k 2 --source 4 --json --quiet")
        .ok()
        .json();
    assert_eq!(
        (json["reached"].as_u64(), json["items"].as_u64()),
        (Some(3), Some(6))
    );
}

#[test]
fn what_is_said_is_what_is_saved() {
    let place = Place::new();
    let words = "propagate builtin:moons:200 --k 8 --source 12 --out c.npy --quiet";
    let json = place.line(&format!("{words} --json")).ok().json();
    let saved = npy_vector(&place.read("c.npy"));
    assert_eq!((saved.len(), saved[12]), (200, 1.0));
    assert!(saved.iter().all(|value| (0.0..=1.0).contains(value)));
    assert_eq!(json["above"].as_array().unwrap().len(), 3);
    for level in json["above"].as_array().unwrap() {
        let above = saved
            .iter()
            .filter(|&&value| value > level["level"].as_f64().unwrap())
            .count();
        assert_eq!(level["items"].as_u64(), Some(above as u64));
    }
    let mut order: Vec<usize> = (0..200).collect();
    order.sort_by(|&a, &b| saved[b].total_cmp(&saved[a]));
    for (nearest, item) in json["nearest"].as_array().unwrap().iter().zip(&order) {
        close(
            &[nearest["value"].as_f64().unwrap()],
            &[saved[*item]],
            1e-15,
        );
    }
    assert_eq!(json["nearest"][0]["item"], "12");
    let text = place.line(words).ok().out;
    assert!(
        text.contains("a label at item 12 reaches 200 of 200 items"),
        "{text}"
    );
    assert!(text.ends_with("wrote c.npy\n"), "{text}");
}

#[test]
fn columns_do_not_depend_on_threads() {
    let place = Place::new();
    let of = |threads: usize| {
        column(
            &place,
            &format!("builtin:digits:300 --k 9 --source 7 --threads {threads}"),
        )
    };
    let one = of(1);
    assert_eq!(one, of(2));
    assert_eq!(one, of(8));
}

#[test]
fn items_go_by_their_ids() {
    let place = path().and("rows.csv", "x\n0\n1\n3\n");
    for (file, source) in [
        ("path.csv", "0"),
        ("path.csv", "A"),
        ("rows.csv", "3"),
        ("rows.csv", "01"),
        ("rows.csv", "a"),
    ] {
        let ran = place.line(&format!(
            "propagate {file} --k 1 --source {source} --out c.npy --quiet"
        ));
        ran.fails("I12", 3, &[&format!("no item has the id {source:?}.")]);
    }
    assert!(!place.files().contains("c.npy"));
    assert_eq!(
        column(&place, "rows.csv --k 1 --source 2"),
        column(&place, "path.csv --k 1 --source c")
    );
    // The column that holds the ids may have any name.
    let named = Place::with("a.csv", "x,name\n0,p\n1,q\n3,r\n");
    assert_eq!(
        column(&named, "a.csv --id-column name --k 1 --source q")[1],
        1.0
    );
}
