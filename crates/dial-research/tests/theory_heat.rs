//! Steps, Poisson and heat against golden numbers of dense NumPy (fixtures/theory_heat.py).

#[path = "common/golden.rs"]
mod golden;

use std::sync::Arc;

use dial::propagation::heat::Heat;
use dial::{Control, Graph, NodeId, Propagation};
use dial_research::theory::continuum::network::Network;
use dial_research::theory::heat::{euler, maximum, symbol};
use serde_json::Value;

fn golden() -> Value {
    golden::golden("heat")
}

fn floats(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_f64().unwrap())
        .collect()
}

fn graph(golden: &Value) -> Graph {
    let edge = |edge: &Value| {
        let numbers = floats(edge);
        (numbers[0] as u32, numbers[1] as u32, numbers[2])
    };
    let edges: Vec<(u32, u32, f64)> = golden["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(edge)
        .collect();
    Graph::from_edges(golden["masses"].as_array().unwrap().len(), &edges).unwrap()
}

fn close(got: f64, want: &Value, tolerance: f64) {
    let want = want.as_f64().unwrap();
    assert!(
        (got - want).abs() <= tolerance * want.abs().max(1.0),
        "{got} is not {want}"
    );
}

fn all_close(got: &[f64], want: &Value, tolerance: f64) {
    assert_eq!(got.len(), want.as_array().unwrap().len());
    got.iter()
        .zip(want.as_array().unwrap())
        .for_each(|(got, want)| close(*got, want, tolerance));
}

#[test]
fn one_step_and_many() {
    let (golden, control) = (golden(), Control::new());
    let masses = floats(&golden["masses"]);
    let source = golden["source"].as_u64().unwrap() as usize;
    let mut f = vec![0.0; masses.len()];
    f[source] = 1.0 / masses[source];
    let network = Network::new(graph(&golden), masses);
    for row in golden["rows"].as_array().unwrap() {
        let time = row["time"].as_f64().unwrap();
        let (u, heat) = (
            network.poisson(1.0 / time, &f, &control).unwrap(),
            floats(&row["heat"]),
        );
        all_close(&u, &row["poisson"], 1e-10);
        all_close(
            &network.backward_euler(time, 1, &f, &control).unwrap(),
            &row["step"],
            1e-10,
        );
        all_close(
            &network.heat(time, 400, &f, &control).unwrap(),
            &row["heat"],
            2e-4,
        );
        let step = euler::compare(&network, time, &f, (&u, &heat), &control).unwrap();
        assert!(step.identity < 1e-10 && (step.mass - 1.0).abs() < 1e-12);
        close(step.printed, &row["printed"], 1e-9);
        close(step.printed_mass, &row["printed_mass"], 1e-9);
        // The printed factor is wrong by t².
        assert!((step.printed_mass - time * time).abs() < 1e-9 * time * time);
        close(step.norm, &row["norm"], 1e-9);
        close(step.variation, &row["variation"], 1e-9);
        assert!(step.norm <= symbol::bound(1));
    }
    let last = &golden["rows"][3];
    let counts: Vec<usize> = floats(&golden["steps"])
        .iter()
        .map(|m| *m as usize)
        .collect();
    let (time, heat) = (last["time"].as_f64().unwrap(), floats(&last["heat"]));
    let many = euler::refine(&network, time, &f, &heat, &counts, &control).unwrap();
    for ((row, error), bound) in many
        .iter()
        .zip(floats(&golden["many"]))
        .zip(golden["bounds"].as_array().unwrap())
    {
        assert!((row.norm - error).abs() < 1e-9 && row.norm <= row.bound);
        close(row.bound, bound, 1e-9);
    }
}

#[test]
fn heat_exceeds_its_source() {
    let golden = golden();
    let (graph, want) = (Arc::new(graph(&golden)), &golden["exceeding"]);
    let heat = Heat::new(Arc::clone(&graph), want["time"].as_f64().unwrap()).unwrap();
    let sources: Vec<NodeId> = (0..graph.n() as u32).map(NodeId).collect();
    let columns = heat.raw_columns(&sources, &Control::new()).unwrap();
    let columns: Vec<(usize, &[f64])> = columns
        .iter()
        .map(|column| &column[..])
        .enumerate()
        .collect();
    let got = maximum::exceeding(&columns);
    assert!(got.sources > 0.0, "an example that shows nothing");
    close(got.sources, &want["sources"], 1e-12);
    close(got.entries, &want["entries"], 1e-12);
    close(got.largest, &want["largest"], 1e-10);
}
