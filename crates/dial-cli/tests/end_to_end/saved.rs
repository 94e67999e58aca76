//! Graphs saved by the command and used by it; pools it generates; memory it foresees.

use dial_data::{ArrayData, read_npz};

use crate::run::{Place, npy_vector};

/// A folder with a pool, its labels and its graph.
fn place() -> Place {
    let place = Place::new();
    place
        .line("generate clusters --items 400 --dim 5 --clusters 4 --seed 3 --out pool.npy --quiet")
        .ok();
    place
        .line("graph pool.npy --k 8 --out pool.dialgraph --quiet")
        .ok();
    place
}

#[test]
fn a_saved_graph_gives_what_a_built_one_gives() {
    let place = place();
    place
        .line("propagate pool.npy --k 8 --source 7 --out built.npy --quiet")
        .ok();
    let ran = place
        .line("propagate pool.npy --graph pool.dialgraph --source 7 --out saved.npy")
        .ok();
    assert!(
        ran.err
            .contains("k = 8, euclidean, self-tuning weights, exact search"),
        "{}",
        ran.err
    );
    let (built, saved) = (
        npy_vector(&place.read("built.npy")),
        npy_vector(&place.read("saved.npy")),
    );
    assert_eq!(built.len(), 400);
    // Weights differ by at most 2^-24 of themselves.
    for (built, saved) in built.iter().zip(&saved) {
        assert!(
            (built - saved).abs() < 1e-5 * built.abs() + 1e-9,
            "{built} {saved}"
        );
    }
    let line = "simulate pool.npy --labels pool-labels.npy --queries 6 --trials 1 --weights self-tuning --json --quiet";
    let accuracy = |words: &str| {
        place.line(&format!("{line} {words}")).ok().json()["methods"][0]["accuracy"].clone()
    };
    assert_eq!(accuracy("--k 8"), accuracy("--graph pool.dialgraph"));
    // Certified precision works on the compact graph either way.
    let certified = |words: &str| accuracy(&format!("--precision certified {words}"));
    assert_eq!(certified("--k 8"), certified("--graph pool.dialgraph"));
    assert_eq!(
        certified("--k 8 --batch 3"),
        certified("--graph pool.dialgraph --batch 3")
    );
    assert_eq!(
        accuracy("--k 8 --acquisition vopt"),
        accuracy("--graph pool.dialgraph --acquisition vopt")
    );
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let place = place();
    place
        .line("graph pool.npy --k 8 --out one.dialgraph --threads 1 --quiet")
        .ok();
    assert!(place.read("one.dialgraph") == place.read("pool.dialgraph"));
    place
        .line("graph pool.npy --k 8 --out graph.npz --quiet")
        .ok();
    let arrays = read_npz(place.path("graph.npz")).unwrap();
    let data = arrays
        .iter()
        .find(|(name, _)| name == "data")
        .map(|(_, array)| &array.data);
    let Some(ArrayData::F64(weights)) = data else {
        panic!("weights are f64")
    };
    let doctor = place
        .line("doctor pool.dialgraph --verify --json")
        .ok()
        .json();
    assert_eq!(
        doctor["edges"].as_u64().unwrap() as usize * 2,
        weights.len()
    );
    assert_eq!(
        (doctor["items"].as_u64(), doctor["verified"].as_bool()),
        (Some(400), Some(true))
    );
}

#[test]
fn graphs_that_do_not_belong_are_refused() {
    let place = place();
    let line = "propagate pool.npy --source 7 --graph pool.dialgraph";
    place.line(&format!("{line} --standardize")).fails(
        "S14",
        6,
        &["other features", "Nothing was changed"],
    );
    place
        .line("propagate builtin:moons --source 7 --graph pool.dialgraph")
        .fails("S14", 6, &["400 items and not 1500"]);
    place
        .line(&format!("{line} --k 9"))
        .fails("U1", 2, &["--k 8, not 9"]);
    place.line(&format!("{line} --metric cosine")).fails(
        "U1",
        2,
        &["--metric euclidean, not cosine"],
    );
    place
        .line(&format!("{line} --propagation rbf"))
        .fails("U1", 2, &["--sigma"]);
    place
        .line(&format!("{line} --propagation rbf --sigma 1 --quiet"))
        .ok();
    let land = "simulate pool.npy --labels pool-labels.npy --graph pool.dialgraph --acquisition land --quiet";
    place.line(land).fails("U1", 2, &["land"]);
    place
        .line("propagate pool.npy --source 7 --graph pool.npy")
        .fails("I5", 3, &["not a graph of dial"]);
    place
        .line("propagate pool.npy --source 7 --graph none.dialgraph")
        .fails("I5", 3, &["no such file"]);
    place
        .line("doctor pool.dialgraph.npy")
        .fails("I5", 3, &["no such file"]);
    place
        .line("graph pool.dialgraph")
        .fails("I5", 3, &["a graph of dial, for --graph"]);
}

#[test]
fn a_sparse_matrix_is_examined_too() {
    let place = Place::new();
    place.line("graph builtin:moons:60 --k 5 --out g.npz").ok();
    place
        .line("graph builtin:moons:60 --k 5 --out g.dialgraph")
        .ok();
    let ours = place.line("doctor g.dialgraph --verify --json").ok().json();
    let matrix = place.line("doctor g.npz --verify --json").ok().json();
    assert_eq!(
        (&matrix["items"], &matrix["edges"]),
        (&ours["items"], &ours["edges"])
    );
}

#[test]
fn damage_is_found_by_verify_and_never_a_crash() {
    let place = place();
    let whole = place.read("pool.dialgraph");
    let ran = |bytes: &[u8], words: &str| {
        std::fs::write(place.path("bad.dialgraph"), bytes).unwrap();
        place.line(words)
    };
    ran(&whole[..whole.len() / 2], "doctor bad.dialgraph").fails("I2", 3, &["header says"]);
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x80;
        bytes
    };
    ran(&flipped(20), "doctor bad.dialgraph").fails("S9", 5, &["its header is damaged"]);
    ran(&flipped(8), "doctor bad.dialgraph").fails("S12", 5, &["newer"]);
    let last = flipped(whole.len() - 1);
    ran(&last, "doctor bad.dialgraph").ok();
    ran(&last, "doctor bad.dialgraph --verify").fails("S9", 5, &["component sizes"]);
    for at in (1024..whole.len()).step_by(997) {
        // A graph that is taken whole is verified whole; only the gaps between sections go unnoticed.
        let whole = ran(
            &flipped(at),
            "propagate pool.npy --source 7 --quiet --graph bad.dialgraph",
        );
        assert!(
            whole.code == 0 || whole.err.contains("S9"),
            "byte {at}: {} {}",
            whole.code,
            whole.err
        );
        let mapped = ran(
            &flipped(at),
            "simulate pool.npy --labels pool-labels.npy --queries 2 --trials 1 --quiet \
                                        --precision certified --graph bad.dialgraph",
        );
        assert!(
            [0, 3, 4].contains(&mapped.code),
            "byte {at}: {} {}",
            mapped.code,
            mapped.err
        );
    }
}

#[test]
fn a_saved_graph_is_not_overwritten_by_what_is_made_with_it() {
    let place = place();
    let over = ["would overwrite the graph pool.dialgraph"];
    place
        .line("propagate pool.npy --source 3 --graph pool.dialgraph --out pool.dialgraph")
        .fails("U1", 2, &over);
    let line =
        "simulate pool.npy --labels pool-labels.npy --graph pool.dialgraph --out pool.dialgraph";
    place.line(line).fails("U1", 2, &over);
    place.line("doctor pool.dialgraph --verify").ok();
}

#[test]
fn rows_read_by_position_give_the_graph_of_the_pool() {
    let place = place();
    place
        .line("graph pool.npy --k 8 --search approximate --out rows.dialgraph --quiet")
        .ok();
    place.line("doctor rows.dialgraph --verify").ok();
    // The fingerprint of the file read by position is that of the features read whole.
    let line = "simulate pool.npy --labels pool-labels.npy --queries 3 --trials 1 --quiet --precision certified";
    place.line(&format!("{line} --graph rows.dialgraph")).ok();
}

#[test]
fn settings_of_precision_that_do_not_go_together_are_refused_at_once() {
    let place = place();
    for (words, text) in [
        (
            "--precision certified --propagation rbf",
            "--precision certified needs Poisson propagation",
        ),
        (
            "--precision certified --tau 0",
            "--precision certified needs a tau above 0",
        ),
        ("--precision certified --tolerance 0", "above 0"),
        (
            "--tolerance 0.1",
            "--tolerance applies only in certified precision",
        ),
    ] {
        let ended = place.line(&format!(
            "simulate pool.npy --labels pool-labels.npy {words}"
        ));
        ended.fails("U1", 2, &[text]);
    }
}

#[test]
fn memory_is_foreseen_and_refused() {
    let place = place();
    let needs = [
        "needs about",
        "0.001 GiB allowed by --memory-limit. Use --k 10, fewer items",
        "--memory-limit to override",
    ];
    for verb in [
        "graph",
        "doctor",
        "simulate --labels pool-labels.npy",
        "propagate --source 1",
    ] {
        place
            .line(&format!("{verb} pool.npy --memory-limit 600K"))
            .fails("N18", 7, &needs);
    }
    place
        .line("graph builtin:moons --memory-limit 600K")
        .fails("N18", 7, &needs);
    place.line("graph pool.npy --memory-limit 1G --quiet").ok();
    place
        .line("graph pool.npy --memory-limit much")
        .fails("U0", 2, &["16G"]);
}

#[test]
fn generated_pools_are_what_was_asked_for() {
    let place = place();
    let json = place
        .line("generate clusters --items 400 --dim 5 --clusters 4 --seed 3 --out again.npy --json")
        .ok()
        .json();
    assert_eq!(
        (json["labels"].as_str(), json["items"].as_u64()),
        (Some("again-labels.npy"), Some(400))
    );
    assert!(place.read("again.npy") == place.read("pool.npy"));
    place
        .line("generate clusters --items 800 --clusters 4 --out wide.npy --quiet")
        .ok();
    let doctor = place
        .line("doctor wide.npy --labels wide-labels.npy --json")
        .ok()
        .json();
    assert_eq!(doctor["facts"]["class_sizes"].as_object().unwrap().len(), 4);
    assert!(doctor["facts"]["neighbour_purity"].as_f64().unwrap() > 0.8);
    place
        .line("generate clusters --items 0 --out a.npy")
        .fails("U1", 2, &["at least 1"]);
    place
        .line("generate clusters --items 9 --out no/a.npy")
        .fails("S5", 5, &["no folder"]);
}

#[test]
fn weights_of_a_matrix_that_is_given_are_not_typed() {
    let place = Place::new();
    place
        .line("graph builtin:moons:100 --out g.npz --quiet")
        .ok();
    let words = "--weights does not apply: g.npz holds the edge weights. Leave it out.";
    place
        .line("new builtin:moons:100 --graph g.npz --weights gaussian")
        .fails("U1", 2, &[words]);
    place
        .line("new builtin:moons:100 --graph g.npz --project g --quiet")
        .ok();
    let graph = "new builtin:moons:100 --graph g.dial/graph.dialgraph --weights uniform";
    place
        .line(graph)
        .fails("U1", 2, &["--weights does not apply"]);
}
