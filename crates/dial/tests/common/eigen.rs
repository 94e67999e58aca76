//! Dense eigenpairs for tests: Jacobi's rotations.

use std::sync::Arc;

use dial::Graph;
use dial::linalg::eigen::Eigenpairs;

pub type Matrix = Vec<Vec<f64>>;

/// L_s.
pub fn normalised(graph: &Graph) -> Matrix {
    let mut matrix = super::common::dense(graph);
    let d = graph.degrees();
    for (i, row) in matrix.iter_mut().enumerate() {
        row.iter_mut().enumerate().for_each(|(j, w)| {
            *w = if *w > 0.0 {
                -*w / (d[i] * d[j]).sqrt()
            } else {
                0.0
            }
        });
        row[i] = if d[i] > 0.0 { 1.0 } else { 0.0 };
    }
    matrix
}

/// The r lowest eigenpairs of a symmetric matrix, by Jacobi's rotations.
pub fn eigenpairs(mut a: Matrix, r: usize) -> Arc<Eigenpairs> {
    let n = a.len();
    let mut v: Matrix = (0..n)
        .map(|i| (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect())
        .collect();
    for _ in 0..12 {
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            if a[p][q].abs() < 1e-18 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let (c, s) = (1.0 / (t * t + 1.0).sqrt(), t / (t * t + 1.0).sqrt());
            for row in a.iter_mut().chain(&mut v) {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
            let (upper, lower) = a.split_at_mut(q);
            for (x, y) in upper[p].iter_mut().zip(&mut lower[0]) {
                (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[i][i].total_cmp(&a[j][j]));
    order.truncate(r);
    Arc::new(Eigenpairs {
        values: order.iter().map(|&i| a[i][i]).collect(),
        vectors: v
            .iter()
            .flat_map(|row| order.iter().map(|&i| row[i]))
            .collect(),
        residuals: vec![0.0; r],
    })
}
