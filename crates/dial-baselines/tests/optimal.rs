//! VOpt, Sigma-Opt and MCVOpt kept up label by label, against slow twins: the dense covariance and its formulas.

#[path = "../../dial/tests/common/mod.rs"]
mod common;
#[path = "../../dial/tests/common/eigen.rs"]
mod eigen;

use std::sync::Arc;

use common::{Arrays, assert_close, graph_of};
use dial::acquisition::{Score, Situation};
use dial::linalg::eigen::Eigenpairs;
use dial::seed::{Purpose, Random};
use dial::{Acquisition, Control, DirichletField, Graph, NodeId};
use dial_baselines::variance_opt::{EIGENVALUE_SHIFT, LABEL_NOISE, Moments};
use dial_baselines::{Criterion, FullOptimal, ModelChange, SpectralOptimal};
use eigen::{Matrix, eigenpairs, normalised};

/// A random graph; `parts` groups of nodes without edges between them, and the last node alone if `parts` > 1.
fn graph(n: usize, parts: usize, seed: u64) -> Graph {
    let mut random = Random::new(seed, Purpose::User, 0);
    let joined = if parts > 1 { n - 1 } else { n };
    let mut edges: Vec<(u32, u32, f64)> = (parts..joined)
        .map(|i| ((i - parts) as u32, i as u32, 0.05 + random.uniform()))
        .collect();
    for _ in 0..2 * n {
        let (i, j) = (random.below(joined), random.below(joined));
        if i < j && i % parts == j % parts && j != i + parts {
            edges.push((i as u32, j as u32, 0.01 + random.uniform()));
        }
    }
    edges.sort_by_key(|&(i, j, _)| (i, j));
    edges.dedup_by_key(|&mut (i, j, _)| (i, j));
    Graph::from_edges(n, &edges).unwrap()
}

/// The inverse, by Gauss and Jordan with pivots.
fn inverse(mut a: Matrix) -> Matrix {
    let n = a.len();
    let mut out: Matrix = (0..n)
        .map(|i| (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect())
        .collect();
    for c in 0..n {
        let pivot = (c..n)
            .max_by(|&i, &j| a[i][c].abs().total_cmp(&a[j][c].abs()))
            .unwrap();
        a.swap(c, pivot);
        out.swap(c, pivot);
        let scale = 1.0 / a[c][c];
        a[c].iter_mut().chain(&mut out[c]).for_each(|v| *v *= scale);
        let (row, outs) = (a[c].clone(), out[c].clone());
        for i in (0..n).filter(|&i| i != c) {
            let factor = a[i][c];
            a[i].iter_mut()
                .zip(&row)
                .for_each(|(v, r)| *v -= factor * r);
            out[i]
                .iter_mut()
                .zip(&outs)
                .for_each(|(v, r)| *v -= factor * r);
        }
    }
    out
}

/// The covariance before any label: of all functions, or of those of the eigenpairs.
fn covariance(graph: &Graph) -> Matrix {
    let mut matrix = normalised(graph);
    (0..matrix.len()).for_each(|i| matrix[i][i] += EIGENVALUE_SHIFT);
    inverse(matrix)
}

fn covariance_of(pairs: &Eigenpairs, n: usize) -> Matrix {
    let at = |i: usize| pairs.at(NodeId(i as u32));
    let entry = |i, j| {
        (0..pairs.count())
            .map(|p| at(i)[p] * at(j)[p] / (pairs.values[p] + EIGENVALUE_SHIFT))
            .sum()
    };
    (0..n)
        .map(|i| (0..n).map(|j| entry(i, j)).collect())
        .collect()
}

/// C - C e_q e_qᵀ C/(γ² + C_qq).
fn label(c: &mut Matrix, q: NodeId) {
    let column = c[q.index()].clone();
    let scale = LABEL_NOISE + column[q.index()];
    for (row, left) in c.iter_mut().zip(&column) {
        row.iter_mut()
            .zip(&column)
            .for_each(|(entry, right)| *entry -= left * right / scale);
    }
}

fn direct(c: &Matrix, criterion: Criterion) -> Vec<f64> {
    let score = |(k, row): (usize, &Vec<f64>)| {
        let (squares, sum) = (
            row.iter().map(|v| v * v).sum::<f64>(),
            row.iter().sum::<f64>(),
        );
        let top = if criterion == Criterion::Vopt {
            squares
        } else {
            sum * sum
        };
        top / (LABEL_NOISE + row[k])
    };
    c.iter().enumerate().map(score).collect()
}

fn scores(acquisition: &impl Acquisition, n: usize, order: &[NodeId]) -> Vec<f64> {
    let field = DirichletField::new(n, 2, 1.0);
    let mut out = vec![f64::NAN; n];
    acquisition
        .scores(
            &Situation {
                order,
                ..Situation::at_start(&field, 1)
            },
            &mut out,
        )
        .unwrap();
    out
}

fn relative(what: &str, got: &[f64], want: &[f64], tolerance: f64) {
    let largest = want.iter().copied().fold(0.0, f64::max);
    let scaled = |values: &[f64]| values.iter().map(|v| v / largest).collect::<Vec<_>>();
    assert_close(what, &scaled(got), &scaled(want), tolerance);
}

/// 30 labels in random places, the scores compared after each of them.
fn follow(acquisition: &impl Acquisition, criterion: Criterion, mut c: Matrix, what: &str) {
    let n = c.len();
    let places = Random::new(9, Purpose::User, n as u64).distinct(30, n);
    let order: Vec<NodeId> = places.into_iter().map(|node| NodeId(node as u32)).collect();
    for t in 0..=order.len() {
        relative(
            what,
            &scores(acquisition, n, &order[..t]),
            &direct(&c, criterion),
            1e-7,
        );
        order.get(t).into_iter().for_each(|&q| label(&mut c, q));
    }
}

const CASES: [(usize, usize); 4] = [(40, 1), (61, 1), (45, 2), (60, 3)];

#[test]
fn the_spectral_criteria_follow_the_dense_covariance() {
    for (seed, (n, parts)) in (1..).zip(CASES) {
        let graph = graph(n, parts, seed);
        assert_eq!(
            graph.component_sizes().len(),
            if parts > 1 { parts + 1 } else { 1 }
        );
        for (r, criterion) in [
            (5, Criterion::Vopt),
            (5, Criterion::SigmaOpt),
            (33, Criterion::Vopt),
        ] {
            let pairs = eigenpairs(normalised(&graph), r);
            let dense = covariance_of(&pairs, n);
            follow(
                &SpectralOptimal::new(pairs, criterion),
                criterion,
                dense,
                "spectral",
            );
        }
    }
}

#[test]
fn the_full_criteria_follow_the_dense_inverse_and_so_do_all_eigenpairs() {
    for (seed, (n, parts)) in (1..).zip(CASES) {
        let graph = graph(n, parts, seed);
        let start = Arc::new(FullOptimal::start(&graph, &Control::new()).unwrap());
        let (pairs, dense) = (eigenpairs(normalised(&graph), n), covariance(&graph));
        for criterion in [Criterion::Vopt, Criterion::SigmaOpt] {
            follow(
                &FullOptimal::new(&graph, Arc::clone(&start), criterion),
                criterion,
                dense.clone(),
                "full",
            );
            follow(
                &SpectralOptimal::new(Arc::clone(&pairs), criterion),
                criterion,
                dense.clone(),
                "all pairs",
            );
        }
    }
}

#[test]
fn the_start_values_are_those_of_the_dense_inverse_for_any_number_of_threads() {
    let graph = graph(133, 3, 5);
    let dense = covariance(&graph);
    let compute = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| FullOptimal::start(&graph, &Control::new()).unwrap())
    };
    let Moments {
        diagonal,
        squares,
        sums,
    } = compute(1);
    assert_close(
        "diagonal",
        &diagonal,
        &(0..133).map(|k| dense[k][k]).collect::<Vec<_>>(),
        1e-7,
    );
    relative(
        "squares",
        &squares,
        &dense
            .iter()
            .map(|row| row.iter().map(|v| v * v).sum())
            .collect::<Vec<_>>(),
        1e-10,
    );
    relative(
        "sums",
        &sums,
        &dense.iter().map(|row| row.iter().sum()).collect::<Vec<_>>(),
        1e-10,
    );
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let again = compute(4);
    assert_eq!(bits(&again.diagonal), bits(&diagonal));
    assert_eq!(bits(&again.squares), bits(&squares));
    assert_eq!(bits(&again.sums), bits(&sums));
}

#[test]
fn starting_to_solve_can_be_cancelled() {
    let control = Control::new();
    control.cancel();
    assert_eq!(
        FullOptimal::start(&graph(40, 1, 1), &control),
        Err(dial::Error::Cancelled)
    );
}

/// Whatever was asked before, and by whom: the bits are those of a fresh replay, also past the renewals.
#[test]
fn bits_depend_on_the_order_of_the_labels_only() {
    let (graph, n) = (graph(150, 2, 7), 150);
    let pairs = eigenpairs(normalised(&graph), 20);
    let start = Arc::new(FullOptimal::start(&graph, &Control::new()).unwrap());
    let full = || FullOptimal::new(&graph, Arc::clone(&start), Criterion::Vopt);
    let spectral = || ModelChange::new(Arc::clone(&pairs), Arc::new(Score::Margin));
    let (one_full, one_spectral) = (full(), spectral());
    let order: Vec<NodeId> = (0..n as u32).map(|i| NodeId(i * 7 % n as u32)).collect();
    let mut detour = order[..70].to_vec();
    detour[40..].reverse();
    for asked in [
        &order[..0],
        &order[..3],
        &order[..63],
        &order[..64],
        &detour,
        &order[..65],
        &order[..130],
    ] {
        assert_eq!(
            scores(&one_spectral, n, asked),
            scores(&spectral(), n, asked)
        );
        assert_eq!(scores(&one_full, n, asked), scores(&full(), n, asked));
    }
    let (back, mut c) = (&order[..66], covariance_of(&pairs, n));
    assert_eq!(
        scores(&one_spectral, n, back),
        scores(&spectral(), n, back),
        "labels taken back"
    );
    back.iter().for_each(|&q| label(&mut c, q));
    relative(
        "past a renewal",
        &scores(&one_spectral, n, back),
        &direct(&c, Criterion::Vopt),
        1e-9,
    );
}

/// Minus the margins of Laplace learning, from the golden file.
struct Margins(Vec<f64>);

impl Acquisition for Margins {
    fn scores(&self, _: &Situation<'_>, out: &mut [f64]) -> dial::Result<()> {
        out.iter_mut()
            .zip(&self.0)
            .for_each(|(out, margin)| *out = -margin);
        Ok(())
    }
}

#[test]
fn golden_scores_after_every_label() {
    let (golden, graphs) = (Arrays::golden("vopt"), Arrays::golden("methods_graphs"));
    let margins = Arrays::golden("classifiers");
    for name in ["knn", "broken", "random"] {
        let graph = graph_of(&graphs.rows(&format!("{name}_W")));
        let (n, order) = (graph.n(), golden.nodes(&format!("{name}_nodes")));
        let pairs = eigenpairs(normalised(&graph), golden.integers("rank")[0]);
        let start = Arc::new(FullOptimal::start(&graph, &Control::new()).unwrap());
        for (criterion, word) in [(Criterion::Vopt, "vopt"), (Criterion::SigmaOpt, "sigma")] {
            let full = FullOptimal::new(&graph, Arc::clone(&start), criterion);
            let spectral = SpectralOptimal::new(Arc::clone(&pairs), criterion);
            let want = |kind: &str| golden.rows(&format!("{name}_{word}_{kind}"));
            for (t, (of_all, of_smooth)) in want("full").iter().zip(want("spectral")).enumerate() {
                relative(name, &scores(&full, n, &order[..t]), of_all, 1e-8);
                relative(name, &scores(&spectral, n, &order[..t]), &of_smooth, 1e-8);
            }
        }
        let margin = Arc::new(Margins(
            margins.floats(&format!("{name}_hard_laplace_margin")),
        ));
        let change = ModelChange::new(pairs, margin);
        let want = golden.rows(&format!("{name}_mcvopt"));
        relative("MCVOpt at first", &scores(&change, n, &[]), &want[0], 1e-8);
        relative(
            "MCVOpt at last",
            &scores(&change, n, &order),
            &want[order.len()],
            1e-8,
        );
    }
}
