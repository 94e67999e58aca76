//! Our side of the step benchmark: one label in, next question out, at faithful precision.
//!
//! `dial-bench step W.npz CLASSES SOURCE,SOURCE,...` reads a CSR graph (`dial graph --out`) and labels the sources one by
//! one; after each, the next question is asked. Prints one JSON line per step, like `peer_step.py` for the peer.
//! `dial-bench block W.npz SOURCE,...` times the columns of many sources at once.
//! `dial-bench spectral W.npz COUNT normalized|combinatorial` times the lowest eigenpairs.
//! `dial-bench build X.npz K` times the graph of the array X. Reading files is not timed.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use dial::{
    ClassId, Control, Eigenpairs, Features, Graph, Items, Kernel, Metric, Neighbours, NodeId, Options, Poisson,
    Propagation, Session, Setting,
};
use dial_data::{Array, ArrayData};
use serde_json::json;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["step", graph, classes, sources] => step(graph, classes.parse().expect("CLASSES is a number"), sources),
        ["block", graph, sources] => block(graph, sources),
        ["spectral", graph, count, which] => spectral(graph, count.parse().expect("COUNT is a number"), which),
        ["build", pool, k] => build(pool, k.parse().expect("K is a number")),
        _ => eprintln!(
            "usage: dial-bench step W.npz CLASSES SOURCE,... | block W.npz SOURCE,... | \
             spectral W.npz COUNT normalized|combinatorial | build X.npz K"
        ),
    }
}

fn step(graph: &str, n_classes: u16, sources: &str) {
    let graph = Arc::new(read_graph(graph));
    let n = graph.n();
    let kernel = Arc::new(Poisson::new(Arc::clone(&graph), 0.1).expect("tau is fine"));
    let setting = Setting { kernel, graph: Some(graph), items: Items::rows(n) };
    let names: Vec<String> = (0..n_classes).map(|class| class.to_string()).collect();
    let control = Control::new();
    let mut session = Session::new(setting, Options::default(), &names, &control).expect("a session starts");
    for (place, source) in sources.split(',').enumerate() {
        let start = Instant::now();
        session.tell(source, ClassId(place as u16 % n_classes), &control).expect("the solve converges");
        let told = start.elapsed().as_secs_f64();
        let next = session.ask(1).expect("there is more to ask").questions[0].node.0;
        let seconds = start.elapsed().as_secs_f64();
        println!("{}", json!({ "seconds": seconds, "tell": told, "ask": seconds - told, "next": next }));
    }
}

fn block(graph: &str, sources: &str) {
    let kernel = Poisson::new(Arc::new(read_graph(graph)), 0.1).expect("tau is fine");
    let sources: Vec<NodeId> = sources.split(',').map(|source| NodeId(source.parse().expect("a node"))).collect();
    for _ in 0..3 {
        let start = Instant::now();
        kernel.columns(&sources, &Control::new()).expect("the solves converge");
        let seconds = start.elapsed().as_secs_f64();
        println!("{}", json!({ "seconds": seconds, "per_source": seconds / sources.len() as f64 }));
    }
}

fn spectral(graph: &str, count: usize, which: &str) {
    let graph = read_graph(graph);
    let solve = if which == "normalized" { Eigenpairs::normalized } else { Eigenpairs::combinatorial };
    let start = Instant::now();
    let pairs = solve(&graph, count, &Control::new()).expect("the pairs converge");
    let seconds = start.elapsed().as_secs_f64();
    let residual = pairs.residuals.iter().copied().fold(0.0, f64::max);
    let (second, last) = (pairs.values.get(1), pairs.values.last());
    println!("{}", json!({ "seconds": seconds, "residual": residual, "second": second, "last": last }));
}

fn build(pool: &str, k: usize) {
    let pool = dial_data::open(pool, &dial_data::ReadOptions::default(), 0).expect("a readable pool");
    let features: Features<'_> = pool.matrix.features().expect("finite features");
    let start = Instant::now();
    let found = Neighbours::exact(features, k, Metric::Euclidean, Default::default(), &Control::new());
    let found = found.expect("enough items");
    let search = start.elapsed().as_secs_f64();
    let graph = Graph::new(&found, Kernel::SelfTuning, &Control::new()).expect("nobody cancels");
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", json!({ "seconds": seconds, "search": search, "entries": graph.entries() }));
}

fn read_graph(path: &str) -> Graph {
    let arrays = dial_data::read_npz(Path::new(path)).expect("a graph saved by dial or scipy");
    let array = |name: &str| &arrays.iter().find(|(found, _)| found == name).expect("a CSR matrix").1;
    let (starts, columns) = (integers(array("indptr")), integers(array("indices")));
    let ArrayData::F64(weights) = &array("data").data else { panic!("weights are f64") };
    let mut edges = Vec::with_capacity(weights.len() / 2);
    for row in 0..starts.len() - 1 {
        for slot in starts[row]..starts[row + 1] {
            if columns[slot] > row {
                edges.push((row as u32, columns[slot] as u32, weights[slot]));
            }
        }
    }
    Graph::from_edges(starts.len() - 1, &edges).expect("a symmetric graph")
}

fn integers(array: &Array) -> Vec<usize> {
    match &array.data {
        ArrayData::I64(values) => values.iter().map(|&value| value as usize).collect(),
        _ => panic!("row starts and columns are integers"),
    }
}
