//! Our side of the comparisons with peers (`bench/run.py`): each subcommand times one thing and prints JSON lines. Reading
//! files is not timed.
//!
//! ```text
//! step W.npz CLASSES SOURCE,... PRECISION   label the sources one by one and ask after each; precision: faithful |
//!                                           certified | ready (certified, the column made beforehand), the last two
//!                                           with a tolerance if one follows, as in certified:0.01
//! block W.npz SOURCE,...                    the columns of many sources at once
//! spectral W.npz COUNT normalized|combinatorial
//! vopt W.npz COUNT SOURCE,...               a VOpt question after each label, on COUNT eigenpairs
//! memory W.npz PRECISION                    bytes per node of a session with ten labels of ten classes
//! build POOL K                              the exact graph of a pool
//! approximate POOL K                        its approximate graph, and the recall
//! save POOL K FILE                          the graph of a large pool, saved to be mapped
//! ```
//!
//! A graph W is an npz of SciPy's or a `.dialgraph` of ours.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use dial::{
    Certified, ClassId, CompactGraph, Control, Criterion, Effort, Eigenpairs, Features, Found,
    Graph, Items, Kernel, Lists, Metric, Neighbours, NodeId, Options, Poisson, Propagation,
    Session, Setting, SpectralOptimal, ZeroVectors,
};
use dial_data::{Array, ArrayData, Fingerprint, GraphFile, Recipe, write_graph};
use serde_json::json;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["step", graph, classes, sources, precision] => {
            step(
                graph,
                classes.parse().expect("CLASSES is a number"),
                sources,
                precision,
            );
        }
        ["block", graph, sources] => block(graph, sources),
        ["spectral", graph, count, which] => {
            spectral(graph, count.parse().expect("COUNT is a number"), which)
        }
        ["vopt", graph, count, sources] => {
            vopt(graph, count.parse().expect("COUNT is a number"), sources)
        }
        ["memory", graph, precision] => memory(graph, precision),
        ["build", pool, k] => build(pool, k.parse().expect("K is a number")),
        ["approximate", pool, k] => approximate(pool, k.parse().expect("K is a number")),
        ["save", pool, k, file] => save(pool, k.parse().expect("K is a number"), Path::new(file)),
        _ => {
            eprintln!(
                "usage: dial-bench step|block|spectral|vopt|memory|build|approximate|save ..., see bench/src/main.rs"
            );
            std::process::exit(2);
        }
    }
}

/// A session on a graph, with faithful precision or, for any other word, certified.
fn session<'a>(graph: &str, classes: u16, precision: &str, options: Options<'a>) -> Session<'a> {
    let kernel: Arc<dyn Propagation> = match precision {
        "faithful" => {
            Arc::new(Poisson::new(Arc::new(read_graph(graph)), 0.1).expect("tau is fine"))
        }
        _ => {
            let kernel = Certified::new(Arc::new(compact_graph(graph)), 0.1).expect("tau is fine");
            let tolerance = precision
                .split_once(':')
                .map(|(_, d)| d.parse().expect("a number after the colon"));
            Arc::new(match tolerance {
                Some(tolerance) => kernel
                    .with_tolerance(tolerance)
                    .expect("a positive tolerance"),
                None => kernel,
            })
        }
    };
    let items = Items::rows(kernel.n());
    let names: Vec<String> = (0..classes).map(|class| class.to_string()).collect();
    Session::new(
        Setting {
            kernel,
            graph: None,
            items,
        },
        options,
        &names,
        &Control::new(),
    )
    .expect("a session starts")
}

fn step(graph: &str, classes: u16, sources: &str, precision: &str) {
    let control = Control::new();
    let mut session = session(graph, classes, precision, Options::default());
    for (place, source) in sources.split(',').enumerate() {
        if precision.starts_with("ready") {
            session
                .prepare(source, &control)
                .expect("the solve converges");
        }
        let start = Instant::now();
        session
            .tell(source, ClassId(place as u16 % classes), &control)
            .expect("the solve converges");
        let told = start.elapsed().as_secs_f64();
        let next = session.ask(1).expect("there is more to ask").questions[0]
            .node
            .0;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{}",
            json!({ "seconds": seconds, "tell": told, "ask": seconds - told, "next": next.to_string() })
        );
    }
}

fn vopt(graph: &str, count: usize, sources: &str) {
    let control = Control::new();
    let pairs = Arc::new(
        Eigenpairs::normalized(&read_graph(graph), count, &control).expect("the pairs converge"),
    );
    let acquisition = Arc::new(SpectralOptimal::new(pairs, Criterion::Vopt));
    let mut session = session(
        graph,
        2,
        "faithful",
        Options {
            acquisition,
            ..Options::default()
        },
    );
    for source in sources.split(',') {
        session
            .tell(source, ClassId(0), &control)
            .expect("the solve converges");
        let start = Instant::now();
        let next = session.ask(1).expect("there is more to ask").questions[0]
            .node
            .0;
        println!(
            "{}",
            json!({ "seconds": start.elapsed().as_secs_f64(), "next": next.to_string() })
        );
    }
}

fn memory(graph: &str, precision: &str) {
    let before = status("VmRSS");
    let mut session = session(graph, 10, precision, Options::default());
    for label in 0..10u16 {
        let source = (1 + 97 * usize::from(label)).to_string();
        session
            .tell(&source, ClassId(label), &Control::new())
            .expect("the solve converges");
    }
    let n = session.items().len() as f64;
    let per_node = |key| (status(key) - before) / n;
    println!(
        "{}",
        json!({ "bytes per node": per_node("VmRSS"), "peak bytes per node": per_node("VmHWM") })
    );
}

/// A number of bytes from what Linux says about this process.
fn status(key: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = text
        .lines()
        .find(|line| line.starts_with(key))
        .expect("Linux names it");
    1024.0
        * line
            .split_whitespace()
            .nth(1)
            .and_then(|kib| kib.parse::<f64>().ok())
            .expect("a number")
}

fn block(graph: &str, sources: &str) {
    let kernel = Poisson::new(Arc::new(read_graph(graph)), 0.1).expect("tau is fine");
    let sources: Vec<NodeId> = sources
        .split(',')
        .map(|source| NodeId(source.parse().expect("a node")))
        .collect();
    for _ in 0..3 {
        let start = Instant::now();
        kernel
            .columns(&sources, &Control::new())
            .expect("the solves converge");
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{}",
            json!({ "seconds": seconds, "seconds per source": seconds / sources.len() as f64 })
        );
    }
}

fn spectral(graph: &str, count: usize, which: &str) {
    let graph = read_graph(graph);
    let solve = if which == "normalized" {
        Eigenpairs::normalized
    } else {
        Eigenpairs::combinatorial
    };
    let start = Instant::now();
    let pairs = solve(&graph, count, &Control::new()).expect("the pairs converge");
    let seconds = start.elapsed().as_secs_f64();
    let residual = pairs.residuals.iter().copied().fold(0.0, f64::max);
    let (second, last) = (pairs.values.get(1), pairs.values.last());
    println!(
        "{}",
        json!({ "seconds": seconds, "residual": residual, "second": second, "last": last })
    );
}

fn build(pool: &str, k: usize) {
    let pool = dial_data::open(
        pool,
        &dial_data::ReadOptions::default(),
        0,
        &dial::Control::new(),
    )
    .expect("a readable pool");
    let features: Features<'_> = pool.matrix.features().expect("finite features");
    let start = Instant::now();
    let found = Neighbours::exact(
        features,
        k,
        Metric::Euclidean,
        Default::default(),
        &Control::new(),
    );
    let found = found.expect("enough items");
    let search = start.elapsed().as_secs_f64();
    let graph = Graph::new(&found, Kernel::SelfTuning, &Control::new()).expect("nobody cancels");
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{}",
        json!({ "seconds": seconds, "search": search, "entries": graph.entries() })
    );
}

fn approximate(pool: &str, k: usize) {
    let pool = dial_data::open(
        pool,
        &dial_data::ReadOptions::default(),
        0,
        &dial::Control::new(),
    )
    .expect("a readable pool");
    let features: Features<'_> = pool.matrix.features().expect("finite features");
    let start = Instant::now();
    let found = neighbours(features, k);
    println!(
        "{}",
        json!({ "seconds": start.elapsed().as_secs_f64(), "recall": found.recall })
    );
}

fn neighbours(features: Features<'_>, k: usize) -> Found {
    let (metric, zero, effort) = (Metric::Euclidean, ZeroVectors::Error, Effort::default());
    Neighbours::approximate(features, k, metric, zero, 0, effort, &Control::new())
        .expect("enough items")
}

fn save(pool: &str, k: usize, file: &Path) {
    let pool = dial_data::open(
        pool,
        &dial_data::ReadOptions::default(),
        0,
        &dial::Control::new(),
    )
    .expect("a readable pool");
    let start = Instant::now();
    let found = neighbours(pool.matrix.features().expect("finite features"), k);
    let search = start.elapsed().as_secs_f64();
    let lists = Lists::from(&found.neighbours);
    let graph = CompactGraph::assemble(
        &lists,
        Kernel::SelfTuning,
        Some(found.order),
        &Control::new(),
    );
    let graph = graph.expect("nobody cancels");
    let seconds = start.elapsed().as_secs_f64();
    if file.extension().is_some_and(|ending| ending == "npz") {
        let graph = graph.to_graph();
        let (starts, columns, weights) = graph.csr();
        dial_data::write::write_csr(file, graph.n(), starts, columns, weights)
            .expect("room on the disk");
    } else {
        let recipe = Recipe {
            k,
            kernel: Kernel::SelfTuning,
            metric: Metric::Euclidean,
            search: "approximate".into(),
            seed: 0,
            dim: pool.matrix.dim,
            features: Fingerprint::of(&pool.matrix),
        };
        write_graph(file, &graph, &recipe, &Control::new()).expect("room on the disk");
    }
    println!(
        "{}",
        json!({ "seconds": seconds, "search": search, "recall": found.recall, "peak": status("VmHWM") })
    );
}

fn compact_graph(path: &str) -> CompactGraph {
    match path.ends_with(".npz") {
        true => CompactGraph::new(&read_graph(path)),
        false => GraphFile::open(path)
            .and_then(|file| file.graph())
            .expect("a graph of ours"),
    }
}

fn read_graph(path: &str) -> Graph {
    if !path.ends_with(".npz") {
        return compact_graph(path).to_graph();
    }
    let arrays = dial_data::read_npz(Path::new(path)).expect("a graph saved by dial or scipy");
    let array = |name: &str| {
        &arrays
            .iter()
            .find(|(found, _)| found == name)
            .expect("a CSR matrix")
            .1
    };
    let (starts, columns) = (integers(array("indptr")), integers(array("indices")));
    let ArrayData::F64(weights) = &array("data").data else {
        panic!("weights are f64")
    };
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
