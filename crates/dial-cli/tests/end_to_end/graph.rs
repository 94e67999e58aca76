//! `dial graph`: the weights by hand, and the file as SciPy reads it.

use std::collections::BTreeMap;

use dial_data::{ArrayData, read_npz};

use crate::run::{Place, close, exp};

/// The dense matrix of a saved graph, after checks of the format.
#[track_caller]
fn weights(place: &Place, file: &str) -> Vec<Vec<f64>> {
    let mut arrays: BTreeMap<String, _> = read_npz(place.path(file)).unwrap().into_iter().collect();
    let names: Vec<&str> = arrays.keys().map(String::as_str).collect();
    assert_eq!(names, ["data", "format", "indices", "indptr", "shape"]);
    let mut integers = |name: &str| match arrays.remove(name).unwrap().data {
        ArrayData::I64(values) => values
            .iter()
            .map(|&value| value as usize)
            .collect::<Vec<_>>(),
        other => panic!("{name}: {other:?}"),
    };
    let (shape, starts, columns) = (integers("shape"), integers("indptr"), integers("indices"));
    let format = arrays.remove("format").unwrap();
    assert_eq!(
        (format.shape.len(), format.data),
        (0, ArrayData::Text(vec!["csr".into()]))
    );
    let ArrayData::F64(values) = arrays.remove("data").unwrap().data else {
        panic!("weights are f64")
    };
    assert_eq!(
        (shape.len(), shape[0], starts.len(), starts[0]),
        (2, shape[1], shape[0] + 1, 0)
    );
    assert_eq!(
        (starts[shape[0]], columns.len()),
        (values.len(), values.len())
    );
    let mut dense = vec![vec![0.0; shape[1]]; shape[0]];
    for row in 0..shape[0] {
        let entries = starts[row]..starts[row + 1];
        assert!(
            columns[entries.clone()].is_sorted_by(|a, b| a < b),
            "columns are in order and distinct"
        );
        entries.for_each(|entry| dense[row][columns[entry]] = values[entry]);
    }
    dense
}

/// A weight as edges have it.
fn rounded(weight: f64) -> f64 {
    f64::from(weight as f32)
}

/// Three points at 0, 1 and 3 on a line.
fn three() -> Place {
    Place::with("three.csv", "a\n0\n1\n3\n")
}

#[test]
fn one_neighbour_by_hand() {
    let place = three();
    let ran = place.line("graph three.csv --k 1 --out g.npz --quiet").ok();
    // Each nearest neighbour is at the distance of the k-th: exp(-4). 0 and 1 choose each other, 3 chooses 1.
    let (both, one) = (rounded(exp(-4.0)), rounded(exp(-4.0) / 2.0));
    let found = weights(&place, "g.npz");
    close(&found[0], &[0.0, both, 0.0], 1e-15);
    close(&found[1], &[both, 0.0, one], 1e-15);
    close(&found[2], &[0.0, one, 0.0], 1e-15);
    assert!(
        ran.out.contains("three: 3 items, 2 edges, 1 component"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("wrote g.npz") && ran.out.contains("scipy.sparse.load_npz"),
        "{}",
        ran.out
    );
}

#[test]
fn a_graph_is_known_by_its_content() {
    let place = three();
    place.line("graph three.csv --k 1 --out g.txt").fails(
        "U1",
        2,
        &["g.txt: a graph is saved as .dialgraph", ".npz"],
    );
    assert!(!place.path("g.txt").exists());
    place.line("graph three.csv --k 1 --quiet --out g.npz").ok();
    place
        .line("graph three.csv --k 1 --quiet --out g.dialgraph")
        .ok();
    std::fs::rename(place.path("g.npz"), place.path("matrix.txt")).unwrap();
    std::fs::rename(place.path("g.dialgraph"), place.path("packed.npz")).unwrap();
    for file in ["matrix.txt", "packed.npz"] {
        for verify in ["", "--verify"] {
            let json = place
                .line(&format!("doctor {file} --json {verify}"))
                .ok()
                .json();
            assert_eq!(
                (json["items"].as_u64(), json["edges"].as_u64()),
                (Some(3), Some(2))
            );
        }
        place
            .line(&format!("doctor three.csv --graph {file} --json"))
            .ok();
    }
    // An archive of features is a pool and no graph.
    use dial_data::write::{Saved, SavedData, write_npz};
    let arrays = [("X", Saved::matrix(SavedData::F64(&[0.0, 1.0, 3.0]), 1))];
    write_npz(&place.path("pool.npz"), &arrays).unwrap();
    let json = place.line("doctor pool.npz --k 1 --json").ok().json();
    assert_eq!(json["facts"]["dimensions"].as_u64(), Some(1));
}

#[test]
fn two_neighbours_by_hand() {
    let place = three();
    let json = place
        .line("graph three.csv --k 2 --out g.npz --json")
        .ok()
        .json();
    // The second neighbour is at 3, 2 and 3: A_01 = exp(-4/9), A_02 = exp(-4), A_10 = exp(-4/4), A_12 = exp(-4),
    // A_21 = exp(-16/9), A_20 = exp(-4).
    let w01 = rounded((exp(-4.0 / 9.0) + exp(-1.0)) / 2.0);
    let w02 = rounded(exp(-4.0));
    let w12 = rounded((exp(-4.0) + exp(-16.0 / 9.0)) / 2.0);
    let found = weights(&place, "g.npz");
    close(
        &found.concat(),
        &[0.0, w01, w02, w01, 0.0, w12, w02, w12, 0.0],
        1e-15,
    );
    assert_eq!(
        (
            json["items"].as_u64(),
            json["edges"].as_u64(),
            json["components"].as_u64()
        ),
        (Some(3), Some(3), Some(1))
    );
    let mean = 2.0 * (w01 + w02 + w12) / 3.0;
    assert!((json["mean_degree"].as_f64().unwrap() - mean).abs() < 1e-15);
    assert_eq!(json["file"], "g.npz");
}

#[test]
fn kernels_and_metrics_by_hand() {
    let place = three().and("angles.csv", "a,b\n2,0\n0,5\n3,3\n");
    let of = |words: &str| {
        place
            .line(&format!("graph {words} --out g.npz --quiet"))
            .ok();
        weights(&place, "g.npz").concat()
    };
    close(
        &of("three.csv --k 1 --weights uniform"),
        &[0.0, 1.0, 0.0, 1.0, 0.0, 0.5, 0.0, 0.5, 0.0],
        0.0,
    );
    // The mean distance to the nearest is (1 + 1 + 2)/3 = 4/3: exp(-4 r² 9/16) is exp(-9/4) at 1 and exp(-9) at 2.
    let (near, far) = (rounded(exp(-2.25)), rounded(exp(-9.0) / 2.0));
    close(
        &of("three.csv --k 1 --weights gaussian"),
        &[0.0, near, 0.0, near, 0.0, far, 0.0, far, 0.0],
        1e-15,
    );
    // Directions 0, 90 and 45 degrees: the squared distances are 2, 2 - √2 and 2 - √2. Of the two neighbours of the
    // axes the far one is the other axis; those of the diagonal are equally far.
    let ratio = (2.0 - f64::sqrt(2.0)) / 2.0;
    let (across, along) = (exp(-4.0), (exp(-4.0 * ratio) + exp(-4.0)) / 2.0);
    let want = [0.0, across, along, across, 0.0, along, along, along, 0.0];
    let want = want.map(rounded);
    close(&of("angles.csv --k 2 --metric cosine"), &want, 1e-14);
}

#[test]
fn saved_graphs_are_symmetric_without_loops_and_repeatable() {
    let place = Place::new();
    for (file, threads) in [("a.npz", 1), ("b.npz", 2), ("c.npz", 8)] {
        place
            .line(&format!(
                "graph builtin:circles:150 --k 7 --quiet --threads {threads} --out {file}"
            ))
            .ok();
    }
    assert_eq!(place.read("a.npz"), place.read("b.npz"));
    assert_eq!(place.read("a.npz"), place.read("c.npz"));
    let found = weights(&place, "a.npz");
    assert_eq!(found.len(), 150);
    for (i, row) in found.iter().enumerate() {
        assert_eq!((row[i], row.len()), (0.0, 150));
        assert!(row.iter().filter(|&&weight| weight > 0.0).count() >= 7);
        for (&weight, other) in row.iter().zip(&found) {
            assert_eq!(weight, other[i]);
            assert!((0.0..=1.0).contains(&weight));
        }
    }
}

#[test]
fn pieces_are_counted_and_noted() {
    let place = Place::with("a.csv", "a\n0\n1\n2\n50\n51\n53\n");
    let ran = place.line("graph a.csv --k 2 --json").ok();
    assert_eq!(ran.json()["components"], 2);
    let note = "note[N1]: graph has 2 components (sizes 3, 3); labels do not cross between them.";
    assert!(ran.err.contains(note), "{}", ran.err);
    assert!(ran.json()["file"].is_null());
    assert!(
        place
            .line("graph a.csv --k 2")
            .ok()
            .out
            .contains("nothing was saved: pass --out graph.npz")
    );
    assert_eq!(
        place.line("graph a.csv --k 3 --json").ok().json()["components"],
        1
    );
}

#[test]
fn a_graph_replaces_the_old_file_whole() {
    let place = three().and("g.npz", "an older file");
    place.line("graph three.csv --k 1 --out g.npz --quiet").ok();
    assert_eq!(weights(&place, "g.npz").len(), 3);
    // Refused input leaves the file as it was.
    let before = place.read("g.npz");
    place
        .line("graph three.csv --k 3 --out g.npz --quiet")
        .fails("I8", 3, &["found 3"]);
    assert_eq!(place.read("g.npz"), before);
    assert_eq!(place.files().len(), 2, "{:?}", place.files());
}
