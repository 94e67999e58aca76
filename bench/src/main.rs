//! Our side of the comparisons with peers (`bench/run.py`): each subcommand times one thing and prints JSON lines. Reading
//! files is not timed.
//!
//! ```text
//! step W.npz CLASSES SOURCE,... PRECISION   label the sources one by one and ask after each; precision: faithful |
//!                                           certified | ready (certified, the column made beforehand)
//! block W.npz SOURCE,...                    the columns of many sources at once
//! spectral W.npz COUNT normalized|combinatorial
//! vopt W.npz COUNT SOURCE,...               a VOpt question after each label, on COUNT eigenpairs
//! memory W.npz PRECISION                    bytes per node of a session with ten labels of ten classes
//! build POOL K                              the exact graph of a pool
//! approximate POOL K                        its approximate graph, and the recall
//! save POOL K FILE                          the graph of a large pool, saved to be mapped
//! ```
//!
//! What is not built yet prints `{"missing": why}`, and the comparison is reported as skipped.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use dial::{
    ClassId, Control, Criterion, Eigenpairs, Features, Graph, Items, Kernel, Metric, Neighbours, NodeId, Options,
    Poisson, Propagation, Session, Setting, SpectralOptimal,
};
use dial_data::{Array, ArrayData};
use serde_json::json;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["step", graph, classes, sources, "faithful"] => {
            step(graph, classes.parse().expect("CLASSES is a number"), sources);
        }
        ["block", graph, sources] => block(graph, sources),
        ["spectral", graph, count, which] => spectral(graph, count.parse().expect("COUNT is a number"), which),
        ["vopt", graph, count, sources] => vopt(graph, count.parse().expect("COUNT is a number"), sources),
        ["memory", graph, "faithful"] => memory(graph),
        ["build", pool, k] => build(pool, k.parse().expect("K is a number")),
        ["step" | "memory", .., "certified" | "ready"] => missing("certified precision"),
        ["approximate", ..] | ["save", ..] => missing("the approximate search"),
        _ => {
            eprintln!(
                "usage: dial-bench step|block|spectral|vopt|memory|build|approximate|save ..., see bench/src/main.rs"
            );
            std::process::exit(2);
        }
    }
}

fn missing(what: &str) {
    println!("{}", json!({ "missing": format!("{what} is not built yet") }));
}

/// A session on a graph with faithful precision.
fn session<'a>(graph: Graph, classes: u16, options: Options<'a>) -> Session<'a> {
    let graph = Arc::new(graph);
    let kernel = Arc::new(Poisson::new(Arc::clone(&graph), 0.1).expect("tau is fine"));
    let items = Items::rows(graph.n());
    let names: Vec<String> = (0..classes).map(|class| class.to_string()).collect();
    let setting = Setting { kernel, graph: Some(graph), items };
    Session::new(setting, options, &names, &Control::new()).expect("a session starts")
}

fn step(graph: &str, classes: u16, sources: &str) {
    let control = Control::new();
    let mut session = session(read_graph(graph), classes, Options::default());
    for (place, source) in sources.split(',').enumerate() {
        let start = Instant::now();
        session.tell(source, ClassId(place as u16 % classes), &control).expect("the solve converges");
        let told = start.elapsed().as_secs_f64();
        let next = session.ask(1).expect("there is more to ask").questions[0].node.0;
        let seconds = start.elapsed().as_secs_f64();
        println!("{}", json!({ "seconds": seconds, "tell": told, "ask": seconds - told, "next": next.to_string() }));
    }
}

fn vopt(graph: &str, count: usize, sources: &str) {
    let (graph, control) = (read_graph(graph), Control::new());
    let pairs = Arc::new(Eigenpairs::normalized(&graph, count, &control).expect("the pairs converge"));
    let acquisition = Arc::new(SpectralOptimal::new(pairs, Criterion::Vopt));
    let mut session = session(graph, 2, Options { acquisition, ..Options::default() });
    for source in sources.split(',') {
        session.tell(source, ClassId(0), &control).expect("the solve converges");
        let start = Instant::now();
        let next = session.ask(1).expect("there is more to ask").questions[0].node.0;
        println!("{}", json!({ "seconds": start.elapsed().as_secs_f64(), "next": next.to_string() }));
    }
}

fn memory(graph: &str) {
    let before = status("VmRSS");
    let mut session = session(read_graph(graph), 10, Options::default());
    for label in 0..10u16 {
        let source = (1 + 97 * usize::from(label)).to_string();
        session.tell(&source, ClassId(label), &Control::new()).expect("the solve converges");
    }
    let n = session.items().len() as f64;
    let per_node = |key| (status(key) - before) / n;
    println!("{}", json!({ "bytes per node": per_node("VmRSS"), "peak bytes per node": per_node("VmHWM") }));
}

/// A number of bytes from what Linux says about this process.
fn status(key: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = text.lines().find(|line| line.starts_with(key)).expect("Linux names it");
    1024.0 * line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).expect("a number")
}

fn block(graph: &str, sources: &str) {
    let kernel = Poisson::new(Arc::new(read_graph(graph)), 0.1).expect("tau is fine");
    let sources: Vec<NodeId> = sources.split(',').map(|source| NodeId(source.parse().expect("a node"))).collect();
    for _ in 0..3 {
        let start = Instant::now();
        kernel.columns(&sources, &Control::new()).expect("the solves converge");
        let seconds = start.elapsed().as_secs_f64();
        println!("{}", json!({ "seconds": seconds, "seconds per source": seconds / sources.len() as f64 }));
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
