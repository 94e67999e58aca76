//! VOpt as it was proposed (Ji and Han 2012): the n x n covariance is stored, its columns are summed for every question.
//!
//! ```text
//! C = (L_s + 0.001 I)^-1,   score(k) = |C e_k|² / (γ² + C_kk),   after a label at q: C -= C e_q e_qᵀ C / (γ² + C_qq)
//! ```
//!
//! Only for the timing experiment: n² memory, n² time per question. [`dial::optimal_full`] gives the same scores without
//! the matrix. The start takes n sparse solves rather than a dense inversion.

use std::sync::Mutex;

use dial::acquisition::Situation;
use dial::graph::laplacian::Normalized;
use dial::linalg::cg::{Stop, Workspace, conjugate_gradients};
use dial::{Acquisition, Control, Graph, NodeId, Result};
use dial_baselines::variance_opt::{EIGENVALUE_SHIFT, LABEL_NOISE};
use rayon::prelude::*;

const COLUMNS_PER_SOLVE: usize = 8;

/// The covariance, row by row, and the labels it has seen.
pub struct DenseOptimal {
    n: usize,
    state: Mutex<(Vec<f64>, Vec<NodeId>)>,
}

impl DenseOptimal {
    /// Inverts the shifted normalised Laplacian.
    pub fn new(graph: &Graph, control: &Control) -> Result<DenseOptimal> {
        let n = graph.n();
        let operator = Normalized::new(graph, EIGENVALUE_SHIFT);
        let mut matrix = vec![0.0; n * n];
        let blocks = matrix.par_chunks_mut(COLUMNS_PER_SOLVE * n).enumerate();
        blocks.try_for_each_init(Workspace::default, |workspace, (block, rows)| {
            let b = |row: usize, c: usize| f64::from(row == block * COLUMNS_PER_SOLVE + c);
            conjugate_gradients::<COLUMNS_PER_SOLVE>(
                &operator,
                b,
                Stop::default(),
                workspace,
                control,
            )?;
            for (c, row) in rows.chunks_mut(n).enumerate() {
                row.iter_mut().enumerate().for_each(|(node, value)| {
                    *value = workspace.solution()[node * COLUMNS_PER_SOLVE + c]
                });
            }
            control.check()
        })?;
        Ok(DenseOptimal {
            n,
            state: Mutex::new((matrix, Vec::new())),
        })
    }
}

impl Acquisition for DenseOptimal {
    fn scores(&self, now: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        // Taken out, not borrowed: the loops below may wait for other threads.
        let (mut matrix, mut applied) =
            std::mem::take(&mut *self.state.lock().expect("no holder panics"));
        assert!(
            now.order.starts_with(&applied),
            "one session at a time, without taking labels back"
        );
        for &node in &now.order[applied.len()..] {
            let column = matrix[node.index() * self.n..][..self.n].to_vec();
            let scale = 1.0 / (LABEL_NOISE + column[node.index()]);
            matrix
                .par_chunks_mut(self.n)
                .zip(&column)
                .for_each(|(row, own)| {
                    row.iter_mut()
                        .zip(&column)
                        .for_each(|(value, other)| *value -= scale * own * other);
                });
        }
        applied.clear();
        applied.extend_from_slice(now.order);
        matrix
            .par_chunks(self.n)
            .zip(out)
            .enumerate()
            .for_each(|(node, (row, out))| {
                *out = row.iter().fold(0.0, |sum, value| sum + value * value)
                    / (LABEL_NOISE + row[node]);
            });
        *self.state.lock().expect("no holder panics") = (matrix, applied);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dial::{Config, DirichletField, Features, engine};
    use dial_baselines::variance_opt::Criterion;
    use dial_baselines::variance_opt::FullOptimal;

    use super::*;

    #[test]
    fn the_matrix_and_the_solves_agree_label_by_label() {
        let pool = dial_data::generate::moons(60, 0.1, 1);
        let values: Vec<f64> = (0..60)
            .flat_map(|i| [pool.matrix.get(i, 0), pool.matrix.get(i, 1)])
            .collect();
        let (features, control) = (Features::f64(&values, 60, 2).unwrap(), Control::new());
        let config = Config {
            k: 6,
            ..Config::paper()
        };
        let graph = engine::graph(features, &config, &control)
            .unwrap()
            .to_graph();
        let start = Arc::new(FullOptimal::start(&graph, &control).unwrap());
        let exact = FullOptimal::new(&graph, start, Criterion::Vopt);
        let dense = DenseOptimal::new(&graph, &control).unwrap();
        let field = DirichletField::new(60, 2, 1.0);
        let labels: Vec<NodeId> = [3, 41, 17, 58, 0].map(NodeId).to_vec();
        for count in 0..=labels.len() {
            let now = Situation {
                order: &labels[..count],
                ..Situation::at_start(&field, 0)
            };
            let (mut one, mut other) = (vec![0.0; 60], vec![0.0; 60]);
            dense.scores(&now, &mut one).unwrap();
            exact.scores(&now, &mut other).unwrap();
            let largest = other.iter().copied().fold(0.0, f64::max);
            for (one, other) in one.iter().zip(&other) {
                assert!(
                    (one - other).abs() < 1e-6 * largest,
                    "{one} and {other} after {count} labels"
                );
            }
        }
    }
}
