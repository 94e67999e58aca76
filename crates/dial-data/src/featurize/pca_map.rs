//! The leading principal components of a pool, quickly: for a first map and for colours, not for the graph.
//!
//! ```text
//! Y = A_s V             principal components of some rows s (`components`), A_s being those rows less their means
//! V = A_sᵀ Y / |Y|²     hence the directions, column by column
//! A V                   every row, less the same means, in these directions
//! ```
//!
//! All rows are used while there are few numbers; else some 4,000,000 of them, in rows drawn at random.

use dial::Control;
use dial::seed::{Purpose, Random};
use rayon::prelude::*;

use crate::error::{Error, Fault, Result};
use crate::featurize::svd::principal;
use crate::pool::matrix::{Buffer, Matrix};

/// The directions are computed from at most this many numbers.
const MAX_SAMPLED_VALUES: usize = 4_000_000;

/// And from at least this many rows.
const MIN_SAMPLED_ROWS: usize = 2000;

/// Rows done by a thread at a time.
const ROWS_PER_TASK: usize = 256;

/// The first principal components of a matrix: at most `count`, and at least one.
///
/// # Errors
/// Cancelled, or directions that cannot be found.
pub fn leading_components(matrix: &Matrix, count: usize, control: &Control) -> Result<Matrix> {
    components_of(
        matrix,
        count,
        (MAX_SAMPLED_VALUES / matrix.dim.max(1)).max(MIN_SAMPLED_ROWS),
        control,
    )
    .map_err(|fault| at(fault, matrix))
}

/// The first two principal components of a matrix, by row; 0 where there is no second one.
///
/// # Errors
/// As [`leading_components`].
pub fn plane(matrix: &Matrix, control: &Control) -> Result<Vec<[f32; 2]>> {
    let found = leading_components(matrix, 2, control)?;
    let at = |row: usize, column: usize| {
        if column < found.dim {
            found.get(row, column) as f32
        } else {
            0.0
        }
    };
    Ok((0..found.n).map(|row| [at(row, 0), at(row, 1)]).collect())
}

fn at(fault: Fault, matrix: &Matrix) -> Error {
    fault.at(format!("features of {} x {}", matrix.n, matrix.dim))
}

/// From a number of rows.
fn components_of(
    matrix: &Matrix,
    count: usize,
    rows: usize,
    control: &Control,
) -> Result<Matrix, Fault> {
    if matrix.n <= rows {
        return principal(matrix, count, control);
    }
    let mut drawn = Random::new(0, Purpose::Sample, 1).distinct(rows, matrix.n);
    drawn.sort_unstable();
    let sample = matrix.select_rows(&drawn);
    let found = principal(&sample, count, control)?;
    let (means, directions) = directions(&sample, &found);
    control.quiet().check()?;
    let (dim, wide) = (matrix.dim, found.dim);
    let mut values = vec![0f32; matrix.n * wide];
    values
        .par_chunks_mut(ROWS_PER_TASK * wide)
        .enumerate()
        .for_each(|(chunk, out)| {
            let mut row = vec![0.0; dim];
            for (number, out) in (chunk * ROWS_PER_TASK..).zip(out.chunks_mut(wide)) {
                read(matrix, number, &mut row);
                row.iter_mut()
                    .zip(&means)
                    .for_each(|(value, mean)| *value -= mean);
                for (out, direction) in out.iter_mut().zip(directions.chunks(dim)) {
                    *out = row
                        .iter()
                        .zip(direction)
                        .fold(0.0, |sum, (value, part)| sum + value * part)
                        as f32;
                }
            }
        });
    Ok(Matrix {
        values: Buffer::F32(values),
        n: matrix.n,
        dim: wide,
    })
}

/// The means of the columns, and the direction of each component.
fn directions(sample: &Matrix, found: &Matrix) -> (Vec<f64>, Vec<f64>) {
    let (n, dim, wide) = (sample.n, sample.dim, found.dim);
    let (mut means, mut directions, mut squares) =
        (vec![0.0; dim], vec![0.0; wide * dim], vec![0.0; wide]);
    let mut row = vec![0.0; dim];
    for number in 0..n {
        read(sample, number, &mut row);
        means
            .iter_mut()
            .zip(&row)
            .for_each(|(mean, value)| *mean += value / n as f64);
        for (component, direction) in directions.chunks_mut(dim).enumerate() {
            let along = found.get(number, component);
            squares[component] += along * along;
            direction
                .iter_mut()
                .zip(&row)
                .for_each(|(part, value)| *part += along * value);
        }
    }
    // Components sum to nothing, so the means need not be taken off here.
    for (direction, square) in directions.chunks_mut(dim).zip(squares) {
        direction
            .iter_mut()
            .for_each(|part| *part /= if square > 0.0 { square } else { 1.0 });
    }
    (means, directions)
}

fn read(matrix: &Matrix, row: usize, out: &mut [f64]) {
    let range = row * matrix.dim..(row + 1) * matrix.dim;
    match &matrix.values {
        Buffer::F32(values) => out
            .iter_mut()
            .zip(&values[range])
            .for_each(|(out, value)| *out = f64::from(*value)),
        Buffer::F64(values) => out.copy_from_slice(&values[range]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows with a spread of 5, 2 and 0.5 along three crossed directions, far from the origin.
    fn rows(n: usize) -> Matrix {
        let mut random = Random::new(9, Purpose::User, 0);
        let mut values = Vec::new();
        for _ in 0..n {
            let (a, b, c) = (
                5.0 * random.normal(),
                2.0 * random.normal(),
                0.5 * random.normal(),
            );
            values.extend([a + b + 30.0, a - b, c - 70.0]);
        }
        Matrix {
            values: Buffer::F64(values),
            n,
            dim: 3,
        }
    }

    #[test]
    fn some_rows_give_the_directions_of_all() {
        let matrix = rows(4000);
        let all = components_of(&matrix, 2, 4000, &Control::new()).unwrap();
        let some = components_of(&matrix, 2, 2000, &Control::new()).unwrap();
        assert_eq!((some.n, some.dim), (4000, 2));
        for component in 0..2 {
            let product = |a: &Matrix, b: &Matrix| {
                (0..4000)
                    .map(|row| a.get(row, component) * b.get(row, component))
                    .sum::<f64>()
            };
            let cosine =
                product(&all, &some) / (product(&all, &all) * product(&some, &some)).sqrt();
            assert!(cosine.abs() > 0.999, "component {component}: {cosine}");
            let ratio = product(&some, &some) / product(&all, &all);
            assert!((ratio - 1.0).abs() < 0.05, "the scale is kept: {ratio}");
        }
    }

    #[test]
    fn a_line_has_no_second_coordinate() {
        let line = Matrix {
            values: Buffer::F32(vec![1.0, 2.0, 6.0]),
            n: 3,
            dim: 1,
        };
        let found = plane(&line, &Control::new()).unwrap();
        let sign = found[2][0].signum();
        for (at, want) in found.iter().zip([-2.0, -1.0, 3.0]) {
            assert!(
                (sign * at[0] - want).abs() < 1e-6 && at[1] == 0.0,
                "{found:?}"
            );
        }
        let cancelled = Control::new();
        cancelled.cancel();
        assert!(plane(&line, &cancelled).is_err());
    }
}
