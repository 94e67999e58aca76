//! Poisson propagation against hand-made graphs and the paper's Lemma.

use super::*;
use crate::graph::laplacian::Normalized;
use crate::linalg::cg::{Workspace, conjugate_gradients};
use crate::seed::{Purpose, Random};
use proptest::prelude::*;

fn column(graph: Graph, tau: f64, source: u32) -> Vec<f64> {
    let poisson = Poisson::new(Arc::new(graph), tau).unwrap();
    poisson.columns(&[NodeId(source)], &Control::new()).unwrap()[0].to_vec()
}

fn assert_close(got: &[f64], want: &[f64]) {
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() < 1e-8, "{got} is not {want}");
    }
}

#[test]
fn path_star_and_two_components_by_hand() {
    // Path 0-1-2, weights 1, tau 1: (L + I) g = e_0 gives g = (5, 2, 1)/8, so K = (4, 1, 0)/4.
    let path = || Graph::from_edges(3, &[(0, 1, 1.0), (1, 2, 1.0)]).unwrap();
    assert_close(&column(path(), 1.0, 0), &[1.0, 0.25, 0.0]);
    // tau 0: zero-mean solution of L g = (2, -1, -1)/3 is (5, -1, -4)/9, so K = (9, 3, 0)/9.
    assert_close(&column(path(), 0.0, 0), &[1.0, 1.0 / 3.0, 0.0]);
    // Star with centre 0 and three leaves, tau 1, source leaf 1: g_0 = a, g_1 = (1 + a)/2, leaves a/2,
    // 4a - (1 + a)/2 - a = 0 gives a = 1/5: g = (2, 6, 1, 1)/10, K = (1, 5, 0, 0)/5.
    let star = Graph::from_edges(4, &[(0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0)]).unwrap();
    assert_close(&column(star, 1.0, 1), &[0.2, 1.0, 0.0, 0.0]);
    // Two pairs and a single node: no shift off a disconnected component. (L + I)^-1 of a pair: (2, 1)/3.
    let pairs = || Graph::from_edges(5, &[(0, 1, 1.0), (2, 3, 1.0)]).unwrap();
    assert_close(&column(pairs(), 1.0, 2), &[0.0, 0.0, 1.0, 0.5, 0.0]);
    assert_close(&column(pairs(), 0.0, 2), &[0.0, 0.0, 1.0, 0.0, 0.0]);
    for tau in [0.0, 0.1, 1e6] {
        assert_close(&column(pairs(), tau, 4), &[0.0, 0.0, 0.0, 0.0, 1.0]);
    }
}

#[test]
fn a_vanishing_tau_on_a_disconnected_graph_tends_to_the_component() {
    let graph = Graph::from_edges(5, &[(0, 1, 1.0), (1, 2, 0.5), (3, 4, 1.0)]).unwrap();
    for tau in [1e-12, 1e-100, 1e-300, 5e-324] {
        assert_close(&column(graph.clone(), tau, 0), &[1.0, 1.0, 1.0, 0.0, 0.0]);
    }
}

#[test]
fn tau_must_be_a_finite_number_at_least_0() {
    let graph = Arc::new(Graph::from_edges(2, &[(0, 1, 1.0)]).unwrap());
    for tau in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            Poisson::new(Arc::clone(&graph), tau),
            Err(Error::BadTau(_))
        ));
    }
    for tau in [1e-300, 1e-12, 1e12, 1e300] {
        assert_close(&column((*graph).clone(), tau, 0), &[1.0, 0.0]);
    }
}

#[test]
fn the_normalised_laplacian_has_no_maximum_principle() {
    // Star with hub 0 and 6 leaves, source a leaf: (L_s + tau I) g = e_1. The hub ends above the source.
    // By hand, with s = 1/√6: leaves other than 1 have g = s h/(1 + tau); g_1 = (1 + s h)/(1 + tau);
    // (1 + tau) h = s Σ g gives h ((1 + tau)² - 1) = s. At tau = 0.1: h = s/0.21 = 1.944, g_1 = 1.631.
    let star =
        Graph::from_edges(7, &(1..7).map(|leaf| (0, leaf, 1.0)).collect::<Vec<_>>()).unwrap();
    let mut space = Workspace::default();
    let b = |row, _| if row == 1 { 1.0 } else { 0.0 };
    conjugate_gradients::<1>(
        &Normalized::new(&star, 0.1),
        b,
        Stop::default(),
        &mut space,
        &Control::new(),
    )
    .unwrap();
    let s = 1.0 / 6.0f64.sqrt();
    assert!((space.solution()[0] - s / 0.21).abs() < 1e-8);
    assert!(space.solution()[0] > space.solution()[1] + 0.3);
}

proptest! {
    /// The paper's Lemma, and Normalization, on random graphs (connected or not).
    #[test]
    fn normalization_and_maximum_principle(seed in 0u64..1_000_000, n in 2usize..40, tau in prop::sample::select(vec![0.0, 1e-6, 0.01, 0.1, 1.0, 100.0])) {
        let mut random = Random::new(seed, Purpose::User, 0);
        let mut edges = Vec::new();
        for i in 0..n as u32 {
            for j in 0..i {
                if random.uniform() < 3.0 / n as f64 {
                    // Wider weights put 1e-9 out of the reach of f64, and the solver rightly refuses.
                    edges.push((j, i, libm::exp(random.normal())));
                }
            }
        }
        let graph = Arc::new(Graph::from_edges(n, &edges).unwrap());
        let poisson = Poisson::new(Arc::clone(&graph), tau).unwrap().with_source_value(2.0).unwrap();
        let sources: Vec<NodeId> = (0..n as u32).map(NodeId).collect();
        let columns = poisson.columns(&sources, &Control::new()).unwrap();
        let raw = poisson.raw_columns(&sources, &Control::new()).unwrap();
        for ((source, column), g) in sources.iter().zip(columns).zip(raw) {
            prop_assert_eq!(column[source.index()], 2.0);
            let lowest = g.iter().copied().fold(f64::INFINITY, f64::min);
            let top = g[source.index()];
            for (node, &value) in column.iter().enumerate() {
                // g is as it was solved, neither clamped nor normalised: its maximum is at the source, up to what
                // a residual of 1e-9 leaves open (a constant of 1/(c tau) may be large).
                prop_assert!(g[node] <= top + 1e-7 * (1.0 + top.abs()), "{} above {top}", g[node]);
                prop_assert!((0.0..=2.0).contains(&value));
                prop_assert!(poisson.reaches(*source, NodeId(node as u32)) || value == 0.0);
                if top - lowest > 1e-3 {
                    let normalized = 2.0 * (g[node] - lowest) / (top - lowest);
                    prop_assert!((value - normalized).abs() < 1e-6, "{value} is not {normalized}");
                }
            }
        }
    }
}
