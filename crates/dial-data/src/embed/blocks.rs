//! Two blocks of features side by side, on one scale.
//!
//! ```text
//! r_A, r_B     median distance of a row from its 10th nearest among at most 1,000 rows, in block A and in block B
//! features     (√2 A / r_A, B / r_B), then one factor for all, so that rows have length 1
//! ```
//!
//! The radius of a neighbourhood, not the length of a row, says how far a block tells neighbours apart: so both are divided
//! by it. Embeddings count twice in a squared distance. Accuracy of `auto` (area over 100 questions, 5 trials) with the word
//! vectors of wordllama, by what embeddings count beside words in a distance:
//!
//! | pool | words alone | 0.7 | 1 | √2 | 2 | embeddings alone |
//! |---|---|---|---|---|---|---|
//! | questions by type (trec6) | 48.8 | 47.7 | 50.7 | **51.2** | 48.2 | 37.5 |
//! | subjective or objective sentences (subj) | 73.8 | 76.4 | 80.3 | 84.3 | **84.7** | 81.6 |
//!
//! The two pools are those that the factor was chosen on.

use dial::seed::{Purpose, Random};
use rayon::prelude::*;

use crate::error::plural;
use crate::pool::matrix::{Buffer, Matrix};

/// What the embeddings count beside words.
const EMBEDDING_SCALE: f64 = std::f64::consts::SQRT_2;
/// Rows by which the radius is measured, and the neighbour whose distance it is.
const MAX_SAMPLED_ROWS: usize = 1000;
const NEIGHBOUR: usize = 10;

/// One more column for the rows of zeros, if there are any: they are like one another and equally far from all others.
pub(super) fn with_column_for_the_rest(matrix: Matrix, notes: &mut Vec<String>) -> Matrix {
    let zero = |row: usize| (0..matrix.dim).all(|column| matrix.get(row, column) == 0.0);
    let apart: Vec<bool> = (0..matrix.n).map(zero).collect();
    let count = apart.iter().filter(|apart| **apart).count();
    if count == 0 {
        return matrix;
    }
    notes.push(format!(
        "{count} {} no word that the model knows: {}",
        plural(count, "text has", "texts have"),
        plural(
            count,
            "kept, unlike all others",
            "kept, alike to one another and unlike all others"
        ),
    ));
    let mut values = Vec::with_capacity(matrix.n * (matrix.dim + 1));
    for (row, apart) in apart.into_iter().enumerate() {
        values.extend((0..matrix.dim).map(|column| matrix.get(row, column) as f32));
        values.push(f32::from(u8::from(apart)));
    }
    Matrix {
        values: Buffer::F32(values),
        n: matrix.n,
        dim: matrix.dim + 1,
    }
}

/// Embeddings beside the features of words.
pub(super) fn joined(embeddings: &Matrix, words: &Matrix) -> Matrix {
    let scales = [
        (embeddings, EMBEDDING_SCALE / radius(embeddings)),
        (words, 1.0 / radius(words)),
    ];
    // Rows of both blocks have length 1, so one factor gives all rows that length again.
    let length = scales
        .iter()
        .map(|(_, scale)| scale * scale)
        .sum::<f64>()
        .sqrt();
    let dim = embeddings.dim + words.dim;
    let mut values = Vec::with_capacity(words.n * dim);
    for row in 0..words.n {
        for (block, scale) in scales {
            values.extend(
                (0..block.dim).map(|column| (block.get(row, column) * scale / length) as f32),
            );
        }
    }
    Matrix {
        values: Buffer::F32(values),
        n: words.n,
        dim,
    }
}

/// The median distance from the 10th nearest of a sample of rows; 1 where there are too few or all are equal.
fn radius(matrix: &Matrix) -> f64 {
    let mut rows: Vec<usize> = match matrix.n <= MAX_SAMPLED_ROWS {
        true => (0..matrix.n).collect(),
        false => Random::new(0, Purpose::Sample, 2).distinct(MAX_SAMPLED_ROWS, matrix.n),
    };
    rows.sort_unstable();
    let square = |a: usize, b: usize| -> f64 {
        let difference = |column| matrix.get(a, column) - matrix.get(b, column);
        (0..matrix.dim)
            .map(|column| difference(column) * difference(column))
            .sum()
    };
    let to_neighbour = |&row: &usize| {
        let mut squares: Vec<f64> = rows
            .iter()
            .filter(|other| **other != row)
            .map(|&other| square(row, other))
            .collect();
        let last = squares.len().checked_sub(1)?;
        Some(
            *squares
                .select_nth_unstable_by(last.min(NEIGHBOUR - 1), f64::total_cmp)
                .1,
        )
    };
    let mut found: Vec<f64> = rows.par_iter().filter_map(to_neighbour).collect();
    found.sort_unstable_by(f64::total_cmp);
    let median = found.get(found.len() / 2).copied().unwrap_or(0.0).sqrt();
    if median > 1e-6 { median } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(dim: usize, values: &[f32]) -> Matrix {
        Matrix {
            values: Buffer::F32(values.to_vec()),
            n: values.len() / dim,
            dim,
        }
    }

    #[test]
    fn blocks_are_divided_by_their_radii() {
        // Two rows: each is the other's nearest. In A at distance √2 apart, in B at distance 2.
        let a = matrix(2, &[1.0, 0.0, 0.0, 1.0]);
        let b = matrix(1, &[1.0, -1.0]);
        assert!((radius(&a) - 2f64.sqrt()).abs() < 1e-12 && (radius(&b) - 2.0).abs() < 1e-12);
        let joined = joined(&a, &b);
        // Scales √2/√2 = 1 and 1/2, so the length of a row was √(1 + 1/4).
        let (large, small) = (1.0 / 1.25f64.sqrt(), 0.5 / 1.25f64.sqrt());
        for (at, want) in [large, 0.0, small, 0.0, large, -small]
            .into_iter()
            .enumerate()
        {
            assert!(
                (joined.get(at / 3, at % 3) - want).abs() < 1e-6,
                "{joined:?}"
            );
        }
    }

    #[test]
    fn rows_of_zeros_are_apart() {
        let mut notes = Vec::new();
        let made = with_column_for_the_rest(matrix(2, &[1.0, 0.0, 0.0, 0.0]), &mut notes);
        assert_eq!(made, matrix(3, &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0]));
        assert!(
            notes[0].starts_with("1 text has no word that the model knows"),
            "{notes:?}"
        );
        let all = matrix(1, &[1.0, 1.0]);
        assert_eq!(with_column_for_the_rest(all.clone(), &mut notes), all);
        assert_eq!((notes.len(), radius(&all)), (1, 1.0));
    }
}
