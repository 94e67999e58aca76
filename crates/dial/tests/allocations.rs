//! A step, label in and next question out, allocates its column and nothing else of size n.

use std::sync::Arc;

use dial::belief::prior::Prior;
use dial::graph::packed::PackedGraph;
use dial::propagation::Poisson;
use dial::{ClassId, Config, Control, Engine, Graph, Policy};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

#[test]
fn a_step_allocates_its_column_and_little_else() {
    let n = 50_000u32;
    let ring: Vec<(u32, u32, f64)> = (0..n)
        .flat_map(|i| [(i, (i + 1) % n, 1.0), (i, (i + 7) % n, 0.5)])
        .collect();
    let graph = Arc::new(Graph::from_edges(n as usize, &ring).unwrap());
    let compact = Arc::new(PackedGraph::new(&graph));
    let _profiler = dhat::Profiler::builder().testing().build();
    for policy in [Policy::Max, Policy::Proportional] {
        let propagation = Arc::new(Poisson::new(Arc::clone(&graph), 0.1).unwrap());
        let config = Config {
            policy,
            prior: Prior::Constant(1.0),
            ..Config::paper()
        };
        let engine = Engine {
            config,
            graph: Some(Arc::clone(&compact)),
            ..Engine::with(propagation)
        };
        let control = Control::new();
        let mut session = engine.session(&["a", "b"], &control).unwrap();
        let mut step = |count: u16| {
            let question = session.ask(1).unwrap().questions.remove(0);
            session
                .tell(&question.item, ClassId(count % 2), &control)
                .unwrap();
        };
        // The first steps make the workspaces.
        (0..3).for_each(&mut step);
        let before = dhat::HeapStats::get().total_bytes;
        (0..10).for_each(&mut step);
        let per_step = (dhat::HeapStats::get().total_bytes - before) / 10;
        let column = 8 * u64::from(n);
        assert!(
            per_step >= column,
            "the measurement sees the column: {per_step}"
        );
        // The chunk sums of some 40 iterations come to a quarter of a column; a second array of size n would show.
        assert!(
            per_step < column + column / 2,
            "{policy}: {per_step} bytes a step, a column has {column}"
        );
    }
}
