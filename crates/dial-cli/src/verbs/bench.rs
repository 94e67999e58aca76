//! `dial lab bench`: how long each stage takes on this machine, and how near the solver comes to the speed of its memory.
//!
//! The pool is generated: planted clusters in 20 dimensions. The bandwidth of the solver is what one iteration reads and
//! writes, times the iterations, over the time of a solve; beside it stands the triad a_i = b_i + 3 c_i over arrays larger
//! than any cache, the most that memory gives to such loops. Small pools live in the cache and may exceed it.

use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use dial::config::PAPER_TAU;
use dial::engine::{self, graph_of};
use dial::graph::build::Lists;
use dial::graph::packed::PackedGraph;
use dial::knn::approximate::Search;
use dial::propagation::Poisson;
use dial::propagation::certified::Precision;
use dial::propagation::tau::Tau;
use dial::seed::{Purpose, Random};
use dial::{ClassId, Config, Control, Engine, NodeId, Propagation};
use dial_data::Pool;
use dial_data::generate::{Cluster, mixture};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::ui::failure::Failure;
use crate::ui::output::{Output, table};

/// `dial lab bench`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dial lab bench --items 70000\n\nTimes are medians; results do not depend on them."
)]
pub struct Bench {
    /// Items of the generated pool (50 to 1000000); the exact graph takes time quadratic in it
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(50..=1_000_000))]
    pub items: u64,
    /// Steps measured, label in to next question out
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub steps: u64,
    /// Regularisation of Poisson
    #[arg(
        long,
        value_name = "TAU",
        default_value_t = PAPER_TAU,
        allow_hyphen_values = true
    )]
    pub tau: f64,
    /// Seed of the pool
    #[arg(long, value_name = "S", default_value_t = Config::default().seed)]
    pub seed: u64,
}

const POOL_DIMENSIONS: usize = 20;
const POOL_CLASSES: u16 = 10;

/// Stages with the seconds they took.
type Timings = Vec<(&'static str, f64)>;

/// Runs the command.
pub fn run(args: &Bench, output: &Output) -> Result<(), Failure> {
    let pool = pool(args.items as usize, args.seed);
    let (mut timings, control) = (Timings::new(), output.control());
    let start = Instant::now();
    let config = Config {
        tau: Tau::Number(args.tau),
        search: Search::Exact,
        ..Config::paper()
    };
    let found = engine::search(pool.matrix.features()?, &config, &control)?;
    timings.push(("neighbours, exact", start.elapsed().as_secs_f64()));
    let start = Instant::now();
    let graph = Arc::new(graph_of(
        &Lists::from(&found.neighbours),
        found.order.clone(),
        &config,
        &control,
    )?);
    timings.push(("graph", start.elapsed().as_secs_f64()));
    let start = Instant::now();
    let poisson = engine::faithful(&graph, &config)?;
    timings.push(("order and colours", start.elapsed().as_secs_f64()));
    let (iterations, gigabytes) = solver(&poisson, args, &mut timings)?;
    let on = |config: &Config| Engine::on(Arc::clone(&graph), None, config, &control);
    let [tell, ask] = steps(&on(&config)?, false, args)?;
    timings.push(("label in, faithful", tell));
    timings.push(("next question, faithful", ask));
    if args.tau > 0.0 {
        let certified = on(&Config {
            precision: Precision::Certified,
            ..config.clone()
        })?;
        let [tell, ask] = steps(&certified, false, args)?;
        timings.push(("label in, certified", tell));
        timings.push((
            "label in, certified, prepared",
            steps(&certified, true, args)?[0],
        ));
        timings.push(("next question, certified", ask));
    }
    let ceiling = triad();
    say(
        args,
        &graph,
        &timings,
        iterations,
        [gigabytes, ceiling],
        output,
    );
    Ok(())
}

/// Planted clusters, two to a class.
fn pool(items: usize, seed: u64) -> Pool {
    let mut random = Random::new(seed, Purpose::Generator, 1);
    let clusters: Vec<Cluster> = (0..2 * POOL_CLASSES)
        .map(|cluster| {
            let centre = (0..POOL_DIMENSIONS).map(|_| random.normal()).collect();
            Cluster {
                centre,
                deviation: 0.5,
                weight: 1.0,
                class: cluster % POOL_CLASSES,
            }
        })
        .collect();
    mixture("bench", &clusters, items, seed)
}

/// Solves for single sources and for fifty at once; returns the iterations of a solve and the gigabytes a second.
fn solver(
    poisson: &Poisson<PackedGraph>,
    args: &Bench,
    timings: &mut Timings,
) -> Result<(usize, f64), Failure> {
    let control = Control::new();
    let sources: Vec<NodeId> = (0..50)
        .map(|i| NodeId((i * args.items / 50) as u32))
        .collect();
    let mut runs = Vec::new();
    for &source in sources.iter().cycle().take(args.steps as usize + 1) {
        let start = Instant::now();
        let solved = poisson.solved(source, &control)?;
        runs.push((start.elapsed().as_secs_f64(), solved.iterations));
    }
    // The first run makes the vectors.
    let (seconds, iterations) = middle(&mut runs[1..]);
    timings.push(("one solve", seconds));
    let start = Instant::now();
    poisson.columns(&sources, &control)?;
    timings.push(("fifty columns, each", start.elapsed().as_secs_f64() / 50.0));
    let bytes = (iterations * poisson.bytes_per_iteration()) as f64;
    Ok((iterations, bytes / seconds / 1e9))
}

/// Labels items as a session does and asks after each: seconds of taking a label in and of finding the next question. What
/// is prepared while a person looks at an item does not count.
fn steps(engine: &Engine<'_>, prepare: bool, args: &Bench) -> Result<[f64; 2], Failure> {
    let control = Control::new();
    let names: Vec<String> = (0..POOL_CLASSES).map(|class| class.to_string()).collect();
    let mut session = engine.session(&names, &control)?;
    let (mut tells, mut asks) = (Vec::new(), Vec::new());
    let mut next = session.ask(1)?.questions.remove(0).item;
    for step in 0..args.steps.min(args.items - 1) {
        if prepare {
            session.prepare(&next, &control)?;
        }
        let start = Instant::now();
        session.tell(
            &next,
            ClassId((step % u64::from(POOL_CLASSES)) as u16),
            &control,
        )?;
        tells.push((start.elapsed().as_secs_f64(), 0));
        let start = Instant::now();
        next = session.ask(1)?.questions.remove(0).item;
        asks.push((start.elapsed().as_secs_f64(), 0));
    }
    Ok([middle(&mut tells).0, middle(&mut asks).0])
}

/// The run in the middle.
fn middle(runs: &mut [(f64, usize)]) -> (f64, usize) {
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    runs[runs.len() / 2]
}

/// The best bandwidth of five triads over arrays of 64 MiB, all threads, in gigabytes a second.
fn triad() -> f64 {
    const TRIAD_LENGTH: usize = 8 << 20;
    const TRIAD_CHUNK: usize = 1 << 16;
    let (mut a, b, c) = (
        vec![0.0f64; TRIAD_LENGTH],
        vec![1.0; TRIAD_LENGTH],
        vec![2.0; TRIAD_LENGTH],
    );
    let mut once = || {
        let start = Instant::now();
        a.par_chunks_mut(TRIAD_CHUNK)
            .zip(b.par_chunks(TRIAD_CHUNK).zip(c.par_chunks(TRIAD_CHUNK)))
            .for_each(|(a, (b, c))| {
                a.iter_mut()
                    .zip(b.iter().zip(c))
                    .for_each(|(a, (b, c))| *a = b + 3.0 * c);
            });
        (3 * 8 * TRIAD_LENGTH) as f64 / start.elapsed().as_secs_f64() / 1e9
    };
    let best = (0..5).map(|_| once()).fold(0.0, f64::max);
    assert!(a[TRIAD_LENGTH - 1] == 7.0, "the triad was computed");
    best
}

fn say(
    args: &Bench,
    graph: &PackedGraph,
    timings: &Timings,
    iterations: usize,
    [solver, ceiling]: [f64; 2],
    output: &Output,
) {
    let threads = rayon::current_num_threads();
    let mut rows = vec![vec!["stage".to_string(), "time".to_string()]];
    rows.extend(
        timings
            .iter()
            .map(|(stage, seconds)| vec![stage.to_string(), duration(*seconds)]),
    );
    let text = format!(
        "{} items, {POOL_DIMENSIONS} dimensions, {} edges, tau {}, {threads} threads\n\n{}\nA solve takes {iterations} \
         iterations at {solver:.1} GB/s; memory gives {ceiling:.1} GB/s to a triad ({:.0} %).\n",
        args.items,
        graph.entries() / 2,
        args.tau,
        table(&rows),
        100.0 * solver / ceiling,
    );
    let stages: Vec<Value> = timings
        .iter()
        .map(|(stage, seconds)| json!({ "stage": stage, "seconds": seconds }))
        .collect();
    let json = json!({
        "items": args.items,
        "edges": graph.entries() / 2,
        "tau": args.tau,
        "threads": threads,
        "stages": stages,
        "iterations": iterations,
        "solver_gigabytes_per_second": solver,
        "memory_gigabytes_per_second": ceiling,
    });
    output.result(&text, &json);
}

/// Seconds for people.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", 1e3 * s),
        s => format!("{:.1} µs", 1e6 * s),
    }
}
