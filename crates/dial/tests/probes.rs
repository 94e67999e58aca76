//! Logistic regression and the norm of damped reweighted Laplace learning against slow obvious twins.

mod common;

use std::sync::Arc;

use dial::acquisition::Situation;
use dial::classifiers::Classifier;
use dial::seed::{Purpose, Random};
use dial::{Acquisition, Control, DirichletField, Features, Graph, Metric, NodeId};
use dial_baselines::ReweightedNorm;
use dial_baselines::models::Model;

type Labels = Vec<Vec<(NodeId, f64)>>;

fn cloud(n: usize, dim: usize) -> Vec<f64> {
    let mut random = Random::new(6, Purpose::User, dim as u64);
    (0..n * dim)
        .map(|p| 10.0 + random.normal() * (1 + p % dim) as f64 + ((p / dim) % 3) as f64 * 2.0)
        .collect()
}

fn probabilities(x: &[f64], dim: usize, labels: &Labels) -> Vec<Vec<f64>> {
    let features = Features::f64(x, x.len() / dim, dim).unwrap();
    Model::logistic(features, Metric::Euclidean)
        .unwrap()
        .scores(labels, &Control::new())
        .unwrap()
        .planes
}

/// Plain gradient descent on the weights, with a step that suits any such problem.
fn descent(x: &[f64], dim: usize, shares: &[(usize, Vec<f64>)]) -> Vec<Vec<f64>> {
    let (n, k) = (x.len() / dim, shares[0].1.len());
    let mean = |c: usize| (0..n).map(|i| x[i * dim + c]).sum::<f64>() / n as f64;
    let deviation = |c: usize| {
        ((0..n)
            .map(|i| (x[i * dim + c] - mean(c)).powi(2))
            .sum::<f64>()
            / n as f64)
            .sqrt()
    };
    let scales: Vec<(f64, f64)> = (0..dim).map(|c| (mean(c), deviation(c))).collect();
    let row = |i: usize| -> Vec<f64> {
        scales
            .iter()
            .enumerate()
            .map(|(c, (m, s))| (x[i * dim + c] - m) / s)
            .collect()
    };
    let rows: Vec<Vec<f64>> = (0..n).map(row).collect();
    let softmax = |w: &[f64], i: usize| -> Vec<f64> {
        let f = |c: usize| {
            w[c * (dim + 1) + dim]
                + (0..dim)
                    .map(|j| w[c * (dim + 1) + j] * rows[i][j])
                    .sum::<f64>()
        };
        let e: Vec<f64> = (0..k).map(|c| libm::exp(f(c))).collect();
        let total: f64 = e.iter().sum();
        e.iter().map(|e| e / total).collect()
    };
    // The curvature is at most 1 + Σ (|x|² + 1)/2.
    let longest: f64 = shares
        .iter()
        .map(|(i, _)| rows[*i].iter().map(|v| v * v).sum::<f64>() + 1.0)
        .sum();
    let mut w = vec![0.0; k * (dim + 1)];
    for _ in 0..40_000 {
        let mut gradient: Vec<f64> = w
            .iter()
            .enumerate()
            .map(|(p, w)| if p % (dim + 1) == dim { 0.0 } else { *w })
            .collect();
        for (i, y) in shares {
            let p = softmax(&w, *i);
            for c in 0..k {
                (0..dim).for_each(|j| gradient[c * (dim + 1) + j] += (p[c] - y[c]) * rows[*i][j]);
                gradient[c * (dim + 1) + dim] += p[c] - y[c];
            }
        }
        w.iter_mut()
            .zip(&gradient)
            .for_each(|(w, g)| *w -= g / (1.0 + longest / 2.0));
    }
    let all: Vec<Vec<f64>> = (0..n).map(|i| softmax(&w, i)).collect();
    (0..k).map(|c| all.iter().map(|p| p[c]).collect()).collect()
}

#[test]
fn gradient_descent_ends_at_the_same_probabilities() {
    let (n, dim) = (40, 3);
    let x = cloud(n, dim);
    // Node 9 has two labels of different weight, node 20 is a copy of a labelled row's class with half a label.
    let labels: Labels = vec![
        vec![(NodeId(0), 1.0), (NodeId(9), 0.25), (NodeId(30), 1.0)],
        vec![(NodeId(1), 1.0), (NodeId(9), 0.75)],
        vec![(NodeId(20), 0.5), (NodeId(5), 1.0)],
    ];
    let shares = [
        (0, vec![1.0, 0.0, 0.0]),
        (1, vec![0.0, 1.0, 0.0]),
        (5, vec![0.0, 0.0, 1.0]),
        (9, vec![0.25, 0.75, 0.0]),
        (20, vec![0.0, 0.0, 1.0]),
        (30, vec![1.0, 0.0, 0.0]),
    ];
    let (got, want) = (probabilities(&x, dim, &labels), descent(&x, dim, &shares));
    for (got, want) in got.iter().zip(&want) {
        common::assert_close("probability", got, want, 1e-6);
    }
}

#[test]
fn two_points_on_a_line_by_hand() {
    // Standardised, the labels are at -1 and 1. By symmetry b = 0 and w_1 = -w_0 = w, where w² + 2 ln(1 + exp(-2w)) is
    // least: w = 2/(1 + exp(2w)).
    let got = probabilities(
        &[-3.0, -3.0, 3.0, 3.0],
        1,
        &vec![vec![(NodeId(0), 1.0)], vec![(NodeId(2), 1.0)]],
    );
    let (mut low, mut high) = (0.0, 2.0);
    for _ in 0..200 {
        let w = 0.5 * (low + high);
        if w < 2.0 / (1.0 + libm::exp(2.0 * w)) {
            low = w
        } else {
            high = w
        }
    }
    let p = 1.0 / (1.0 + libm::exp(-2.0 * low));
    common::assert_close("first", &got[0], &[p, p, 1.0 - p, 1.0 - p], 1e-7);
    common::assert_close("second", &got[1], &[1.0 - p, 1.0 - p, p, p], 1e-7);
}

#[test]
fn classes_without_labels_get_nothing() {
    let x = cloud(12, 2);
    let none: Labels = vec![vec![]; 3];
    assert_eq!(probabilities(&x, 2, &none), vec![vec![1.0 / 3.0; 12]; 3]);
    let one: Labels = vec![vec![], vec![(NodeId(3), 1.0), (NodeId(4), 1.0)], vec![]];
    assert_eq!(
        probabilities(&x, 2, &one),
        [vec![0.0; 12], vec![1.0; 12], vec![0.0; 12]]
    );
    let two: Labels = vec![vec![(NodeId(3), 1.0)], vec![], vec![(NodeId(8), 1.0)]];
    let got = probabilities(&x, 2, &two);
    assert_eq!(got[1], [0.0; 12]);
    assert!(got[0][3] > 0.5 && got[2][8] > 0.5);
    assert!((0..12).all(|i| (got[0][i] + got[2][i] - 1.0).abs() < 1e-12));
}

#[test]
fn many_features_and_copies_are_no_trouble_and_threads_do_not_matter() {
    let (n, dim) = (60, 300);
    let mut x = cloud(n, dim);
    x.copy_within(0..dim, dim);
    let labels: Labels = (0..3)
        .map(|class| {
            (0..n)
                .filter(|i| i % 3 == class && i % 2 == 0 || i / 2 == class)
                .map(|i| (NodeId(i as u32), 1.0))
                .collect()
        })
        .collect();
    let run = |threads: usize| {
        let workers = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        workers.install(|| probabilities(&x, dim, &labels))
    };
    let planes = run(1);
    assert_eq!(planes, run(3));
    for (class, terms) in labels.iter().enumerate() {
        for (node, _) in terms.iter().filter(|(node, _)| node.0 > 5) {
            assert!(planes[class][node.index()] > 0.5, "{class} {node:?}");
        }
    }
}

/// Solves a dense system by elimination with pivots.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for p in 0..n {
        let pivot = (p..n)
            .max_by(|&i, &j| a[i][p].abs().total_cmp(&a[j][p].abs()))
            .unwrap();
        a.swap(p, pivot);
        b.swap(p, pivot);
        for i in p + 1..n {
            let factor = a[i][p] / a[p][p];
            let (upper, lower) = a.split_at_mut(i);
            lower[0]
                .iter_mut()
                .zip(&upper[p])
                .skip(p)
                .for_each(|(entry, pivot)| *entry -= factor * pivot);
            b[i] -= factor * b[p];
        }
    }
    for p in (0..n).rev() {
        b[p] = (b[p] - (p + 1..n).map(|j| a[p][j] * b[j]).sum::<f64>()) / a[p][p];
    }
    b
}

fn norms(graph: &Arc<Graph>, labels: &Labels) -> Vec<f64> {
    let mut labelled: Vec<NodeId> = labels.iter().flatten().map(|(node, _)| *node).collect();
    labelled.sort_unstable();
    let field = DirichletField::new(graph.n(), labels.len(), 1.0);
    let now = Situation {
        labelled: &labelled,
        order: &labelled,
        labels,
        ..Situation::at_start(&field, 0)
    };
    let mut out = vec![f64::NAN; graph.n()];
    ReweightedNorm::new(Arc::clone(graph))
        .scores(&now, &mut out)
        .unwrap();
    out
}

#[test]
fn damped_norms_are_those_of_a_dense_solve() {
    let n = 30;
    let mut random = Random::new(11, Purpose::User, 0);
    let mut edges: Vec<(u32, u32, f64)> = (0..n)
        .map(|i| (i, (i + 1) % n, 0.2 + random.uniform()))
        .collect();
    edges.extend((0..n / 2).map(|i| (i, (i + n / 2) % n, random.uniform())));
    let graph = Arc::new(Graph::from_edges(n as usize, &edges).unwrap());
    let (dense, n) = (common::dense(&graph), n as usize);
    for (labels, tau) in [
        (vec![vec![(NodeId(2), 1.0)], vec![]], 1e-2),
        (
            vec![
                vec![(NodeId(2), 1.0), (NodeId(11), 1.0)],
                vec![(NodeId(20), 1.0)],
            ],
            1e-2 * libm::pow(1e-7, 0.25),
        ),
        (
            vec![
                (2..8).map(|i| (NodeId(3 * i), 1.0)).collect(),
                vec![(NodeId(2), 1.0)],
            ],
            0.0,
        ),
    ] {
        let all: Vec<usize> = labels
            .iter()
            .flatten()
            .map(|(node, _)| node.index())
            .collect();
        // L w = Σ (e_l - 1/n), with one row more that fixes the constant.
        let degree = |i: usize| dense[i].iter().sum::<f64>();
        let mut system: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                (0..n)
                    .map(|j| if i == j { degree(i) } else { -dense[i][j] })
                    .collect()
            })
            .collect();
        system[0] = vec![1.0; n];
        let mut side: Vec<f64> = (0..n)
            .map(|i| -(all.len() as f64) / n as f64 + f64::from(u8::from(all.contains(&i))))
            .collect();
        side[0] = 0.0;
        let w = solve(system, side);
        let least = w.iter().copied().fold(f64::INFINITY, f64::min);
        let w: Vec<f64> = w.iter().map(|v| v - least + 1e-5).collect();
        let weight = |i: usize, j: usize| w[i] * w[j] * dense[i][j];
        let plane = |class: usize| {
            let fixed = |i: usize| labels[class].iter().any(|(node, _)| node.index() == i);
            let row = |i: usize| -> Vec<f64> {
                let entry = |j: usize| match i == j {
                    _ if all.contains(&i) => f64::from(u8::from(i == j)),
                    true => (0..n).map(|other| weight(i, other)).sum::<f64>() + tau,
                    false => -weight(i, j),
                };
                (0..n).map(entry).collect()
            };
            solve(
                (0..n).map(row).collect(),
                (0..n).map(|i| f64::from(u8::from(fixed(i)))).collect(),
            )
        };
        let planes = [plane(0), plane(1)];
        let want: Vec<f64> = (0..n)
            .map(|i| -(planes[0][i].powi(2) + planes[1][i].powi(2)).sqrt())
            .collect();
        common::assert_close(&format!("tau {tau}"), &norms(&graph, &labels), &want, 1e-6);
    }
}

#[test]
fn the_part_that_no_label_reaches_is_asked_first() {
    // Two paths; one label on the first.
    let edges: Vec<(u32, u32, f64)> = (0..9)
        .filter(|i| *i != 4)
        .map(|i| (i, i + 1, 1.0))
        .collect();
    let graph = Arc::new(Graph::from_edges(10, &edges).unwrap());
    let few: Labels = vec![vec![(NodeId(1), 1.0)], vec![]];
    let out = norms(&graph, &few);
    assert!(out[5..].iter().all(|score| *score == 0.0));
    assert!(out[..5].iter().all(|score| *score < 0.0));
    // Far from the label says less than near it.
    assert!(out[4] > out[3] && out[3] > out[2] && out[2] > out[1]);
    assert_eq!(norms(&graph, &vec![vec![], vec![]]), [0.0; 10]);
}
