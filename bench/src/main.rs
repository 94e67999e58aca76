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
//! texts POOL FILE                           read and describe texts (timed with the reading), then the first question; the
//!                                           features go to FILE as f32, row by row
//! ```
//!
//! A graph W is an npz of SciPy's or a `.dialgraph` of ours.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

use dial::graph::build::Lists;
use dial::graph::packed::PackedGraph;
use dial::knn::approximate::Search;
use dial::linalg::eigen::Eigenpairs;
use dial::propagation::certified::Precision;
use dial::{ClassId, Config, Control, Engine, NodeId, Session, engine};
use dial_baselines::{Criterion, SpectralOptimal};
use dial_data::{Fingerprint, GraphProvenance, Pool, SavedGraph, write_graph};
use serde_json::{Value, json};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["step", graph, classes, sources, precision] => {
            step(graph, number(classes), sources, precision);
        }
        ["block", graph, sources] => block(graph, sources),
        ["spectral", graph, count, which] => spectral(graph, number(count), which),
        ["vopt", graph, count, sources] => vopt(graph, number(count), sources),
        ["memory", graph, precision] => memory(graph, precision),
        ["build", pool, k] => build(pool, number(k)),
        ["approximate", pool, k] => approximate(pool, number(k)),
        ["save", pool, k, file] => save(pool, number(k), Path::new(file)),
        ["texts", pool, file] => texts(pool, Path::new(file)),
        _ => {
            eprintln!(
                "usage: dial-bench step|block|spectral|vopt|memory|build|approximate|save|texts ..., see bench/src/main.rs"
            );
            std::process::exit(2);
        }
    }
}

/// A line of JSON.
fn say(line: Value) {
    println!("{line}");
}

/// A number that was typed.
fn number<N: FromStr>(text: &str) -> N {
    let found = text.parse().ok();
    found.unwrap_or_else(|| panic!("{text}: a number is wanted"))
}

/// The paper's engine on a graph, with faithful precision or, for any other word, certified.
fn engine_on(graph: &str, precision: &str) -> Engine<'static> {
    let (word, tolerance) = precision.split_once(':').unzip();
    let config = Config {
        precision: match word.unwrap_or(precision) {
            "faithful" => Precision::Faithful,
            _ => Precision::Certified,
        },
        tolerance: tolerance.map(number),
        ..Config::paper()
    };
    Engine::on(Arc::new(read_graph(graph)), None, &config, &Control::new()).expect("an engine")
}

fn session<'a>(engine: &Engine<'a>, classes: u16) -> Session<'a> {
    let names: Vec<String> = (0..classes).map(|class| class.to_string()).collect();
    engine
        .session(&names, &Control::new())
        .expect("a session starts")
}

/// The node asked next.
fn next(session: &mut Session<'_>) -> String {
    let asked = session.ask(1).expect("there is more to ask");
    asked.questions[0].node.0.to_string()
}

fn step(graph: &str, classes: u16, sources: &str, precision: &str) {
    let control = Control::new();
    let mut session = session(&engine_on(graph, precision), classes);
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
        let next = next(&mut session);
        let seconds = start.elapsed().as_secs_f64();
        say(json!({ "seconds": seconds, "tell": told, "ask": seconds - told, "next": next }));
    }
}

fn vopt(graph: &str, count: usize, sources: &str) {
    let control = Control::new();
    let engine = engine_on(graph, "faithful");
    let graph = engine.graph.as_ref().expect("it is on one").to_graph();
    let pairs = Eigenpairs::normalized(&graph, count, &control).expect("the pairs converge");
    let acquisition = SpectralOptimal::new(Arc::new(pairs), Criterion::Vopt);
    let mut session = session(&engine.asking_by(Arc::new(acquisition)), 2);
    for source in sources.split(',') {
        session
            .tell(source, ClassId(0), &control)
            .expect("the solve converges");
        let start = Instant::now();
        let next = next(&mut session);
        say(json!({ "seconds": start.elapsed().as_secs_f64(), "next": next }));
    }
}

fn memory(graph: &str, precision: &str) {
    let before = status("VmRSS");
    let mut session = session(&engine_on(graph, precision), 10);
    for label in 0..10u16 {
        let source = (1 + 97 * usize::from(label)).to_string();
        session
            .tell(&source, ClassId(label), &Control::new())
            .expect("the solve converges");
    }
    let n = session.items().len() as f64;
    let per_node = |key| (status(key) - before) / n;
    say(json!({ "bytes per node": per_node("VmRSS"), "peak bytes per node": per_node("VmHWM") }));
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
    let propagation = engine_on(graph, "faithful").propagation;
    let sources: Vec<NodeId> = sources
        .split(',')
        .map(|source| NodeId(number(source)))
        .collect();
    for _ in 0..3 {
        let start = Instant::now();
        propagation
            .columns(&sources, &Control::new())
            .expect("the solves converge");
        let seconds = start.elapsed().as_secs_f64();
        say(json!({ "seconds": seconds, "seconds per source": seconds / sources.len() as f64 }));
    }
}

fn spectral(graph: &str, count: usize, which: &str) {
    let graph = read_graph(graph).to_graph();
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
    say(json!({ "seconds": seconds, "residual": residual, "second": second, "last": last }));
}

/// A graph of a pool, and the seconds it took.
struct Built {
    graph: PackedGraph,
    recall: Option<f64>,
    /// Of them, for the search of neighbours.
    search: f64,
    seconds: f64,
}

impl Built {
    fn of(pool: &Pool, config: &Config, control: &Control) -> Built {
        let features = pool.matrix.features().expect("finite features");
        let start = Instant::now();
        let found = engine::search(features, config, control).expect("enough items");
        let search = start.elapsed().as_secs_f64();
        let graph = engine::graph_of(
            &Lists::from(&found.neighbours),
            found.order.clone(),
            config,
            control,
        )
        .expect("nobody cancels");
        Built {
            graph,
            recall: found.recall,
            search,
            seconds: start.elapsed().as_secs_f64(),
        }
    }
}

fn build(pool: &str, k: usize) {
    let (pool, config, control) = (read_pool(pool), config(k, Search::Exact), Control::new());
    let built = Built::of(&pool, &config, &control);
    say(
        json!({ "seconds": built.seconds, "search": built.search, "entries": built.graph.entries() }),
    );
}

fn texts(pool: &str, file: &Path) {
    let (start, control) = (Instant::now(), Control::new());
    let pool = read_pool(pool);
    let described = start.elapsed().as_secs_f64();
    let features = pool.matrix.features().expect("finite features");
    let engine = Engine::build(features, &Config::default(), &control).expect("enough items");
    let session = engine
        .session(&["a", "b"], &control)
        .expect("a session on it");
    let asked = session.ask(1).expect("an item that is not labelled");
    let seconds = start.elapsed().as_secs_f64();
    let (n, dim) = (pool.matrix.n, pool.matrix.dim);
    let bytes: Vec<u8> = (0..n * dim)
        .flat_map(|i| (pool.matrix.get(i / dim, i % dim) as f32).to_le_bytes())
        .collect();
    std::fs::write(file, bytes).expect("room on the disk");
    say(json!({
        "seconds": described, "first_question": seconds, "n": n, "dim": dim, "asked": asked.questions[0].node.index(),
    }));
}

fn approximate(pool: &str, k: usize) {
    let (pool, config) = (read_pool(pool), config(k, Search::Approximate));
    let features = pool.matrix.features().expect("finite features");
    let start = Instant::now();
    let found = engine::search(features, &config, &Control::new()).expect("enough items");
    say(json!({ "seconds": start.elapsed().as_secs_f64(), "recall": found.recall }));
}

fn save(pool: &str, k: usize, file: &Path) {
    let (pool, config, control) = (
        read_pool(pool),
        config(k, Search::Approximate),
        Control::new(),
    );
    let built = Built::of(&pool, &config, &control);
    if file.extension().is_some_and(|ending| ending == "npz") {
        let graph = built.graph.to_graph();
        let (starts, columns, weights) = graph.csr();
        dial_data::write::write_csr(file, graph.n(), starts, columns, weights)
            .expect("room on the disk");
    } else {
        let provenance = GraphProvenance {
            k,
            weights: config.weights.expect("the graph was built"),
            metric: config.metric,
            search: config.search.to_string(),
            seed: engine::SEARCH_SEED,
            dim: pool.matrix.dim,
            features: Fingerprint::of(&pool.matrix),
        };
        write_graph(file, &built.graph, &provenance, &control).expect("room on the disk");
    }
    let peak = status("VmHWM");
    say(
        json!({ "seconds": built.seconds, "search": built.search, "recall": built.recall, "peak": peak }),
    );
}

fn config(k: usize, search: Search) -> Config {
    Config {
        k,
        search,
        ..Config::paper()
    }
}

fn read_pool(path: &str) -> Pool {
    let options = dial_data::ReadOptions::default();
    dial_data::open(path, &options, 0, &Control::new()).expect("a readable pool")
}

fn read_graph(path: &str) -> PackedGraph {
    SavedGraph::map(Path::new(path))
        .expect("a graph saved by dial or scipy")
        .graph
}
