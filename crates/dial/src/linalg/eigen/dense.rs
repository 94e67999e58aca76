//! Small dense symmetric matrices: all eigenpairs, and those of a pencil.
//!
//! ```text
//! A = Q T Qᵀ       Householder reflections; T has three diagonals
//! T = U Θ Uᵀ       implicit QL with Wilkinson's shift; the vectors are the columns of Q U
//! G = L Lᵀ         Cholesky; H y = θ G y becomes (L⁻¹ H L⁻ᵀ) z = θ z with y = L⁻ᵀ z
//! ```
//!
//! Matrices are rows of numbers, one after the other. The loops run along rows, so that they vectorise; everything is
//! done in one thread and in one order. Used for graphs of a few hundred nodes and, inside `eigen`, for the
//! Rayleigh-Ritz step.

use crate::error::{Error, Result};

/// All eigenvalues, ascending, and the eigenvectors: row i of the second is the unit vector of value i.
///
/// # Errors
/// [`Error::NotConverged`] if the QL iteration does not come to an end (NaN in the matrix).
pub fn eigen(mut a: Vec<f64>, n: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    let (mut diagonal, mut beside, mut rows) = tridiagonal(&mut a, n);
    implicit_ql(&mut diagonal, &mut beside, &mut rows)?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| diagonal[i].total_cmp(&diagonal[j]));
    let vectors = order
        .iter()
        .flat_map(|&i| &rows[i * n..(i + 1) * n])
        .copied()
        .collect();
    Ok((order.iter().map(|&i| diagonal[i]).collect(), vectors))
}

/// The diagonal of T, what stands beside it (entry i between i and i + 1; the last is 0), and Qᵀ.
fn tridiagonal(a: &mut [f64], n: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (mut diagonal, mut beside) = (vec![0.0; n], vec![0.0; n]);
    let mut reflections: Vec<(Vec<f64>, f64)> = Vec::with_capacity(n);
    for k in 0..n {
        diagonal[k] = a[k * n + k];
        if k + 1 == n {
            break;
        }
        // v - the column below the diagonal, with the sign that avoids cancellation - is sent to (∓|v|, 0, ...).
        let mut v: Vec<f64> = a[k * n + k + 1..(k + 1) * n].to_vec();
        let norm = dot(&v, &v).sqrt();
        let head = v[0];
        beside[k] = if head > 0.0 { -norm } else { norm };
        v[0] -= beside[k];
        let squares = dot(&v, &v);
        let beta = if squares > 0.0 { 2.0 / squares } else { 0.0 };
        reflect_both_sides(a, n, k + 1, &v, beta);
        reflections.push((v, beta));
    }
    let mut rows = vec![0.0; n * n];
    (0..n).for_each(|i| rows[i * n + i] = 1.0);
    for (k, (v, beta)) in reflections.iter().enumerate().rev() {
        for row in rows.chunks_exact_mut(n).skip(k + 1) {
            let tail = &mut row[k + 1..];
            add(tail, -beta * dot(tail, v), v);
        }
    }
    (diagonal, beside, rows)
}

/// A <- (I - β v vᵀ) A (I - β v vᵀ) on the rows and columns from `first` on.
fn reflect_both_sides(a: &mut [f64], n: usize, first: usize, v: &[f64], beta: f64) {
    let mut w = vec![0.0; v.len()];
    for (row, &factor) in a.chunks_exact(n).skip(first).zip(v) {
        add(&mut w, beta * factor, &row[first..]);
    }
    let half = 0.5 * beta * dot(&w, v);
    add(&mut w, -half, v);
    for ((row, &v_i), &w_i) in a.chunks_exact_mut(n).skip(first).zip(v).zip(&w) {
        for ((entry, v_j), w_j) in row[first..].iter_mut().zip(v).zip(&w) {
            *entry -= v_i * w_j + w_i * v_j;
        }
    }
}

/// Sweeps per eigenvalue before giving up; two or three is usual.
const MAX_SWEEPS: usize = 100;

/// Diagonalises T in place; the rotations are applied to pairs of `rows`.
fn implicit_ql(diagonal: &mut [f64], beside: &mut [f64], rows: &mut [f64]) -> Result<()> {
    let n = diagonal.len();
    for first in 0..n {
        let mut sweeps = 0;
        loop {
            let small = |i: usize| {
                beside[i].abs() <= f64::EPSILON * (diagonal[i].abs() + diagonal[i + 1].abs())
            };
            let last = (first..n - 1).find(|&i| small(i)).unwrap_or(n - 1);
            if last == first {
                break;
            }
            if sweeps == MAX_SWEEPS {
                return Err(Error::NotConverged {
                    iterations: sweeps,
                    residual: beside[first].abs(),
                    wanted: 0.0,
                });
            }
            sweeps += 1;
            sweep(diagonal, beside, rows, first, last);
        }
    }
    Ok(())
}

/// One QL sweep over the block `first..=last`, which no zero beside the diagonal cuts.
fn sweep(diagonal: &mut [f64], beside: &mut [f64], rows: &mut [f64], first: usize, last: usize) {
    let n = diagonal.len();
    let half = (diagonal[first + 1] - diagonal[first]) / (2.0 * beside[first]);
    let length = libm::hypot(half, 1.0);
    let shift = beside[first] / (half + if half < 0.0 { -length } else { length });
    let mut bulge = diagonal[last] - diagonal[first] + shift;
    let (mut sine, mut cosine, mut moved) = (1.0, 1.0, 0.0);
    for i in (first..last).rev() {
        let (f, b) = (sine * beside[i], cosine * beside[i]);
        let radius = libm::hypot(f, bulge);
        beside[i + 1] = radius;
        if radius == 0.0 {
            diagonal[i + 1] -= moved;
            beside[last] = 0.0;
            return;
        }
        (sine, cosine) = (f / radius, bulge / radius);
        let rest = diagonal[i + 1] - moved;
        let along = (diagonal[i] - rest) * sine + 2.0 * cosine * b;
        moved = sine * along;
        diagonal[i + 1] = rest + moved;
        bulge = cosine * along - b;
        let (upper, lower) = rows[i * n..(i + 2) * n].split_at_mut(n);
        for (x, y) in upper.iter_mut().zip(lower) {
            (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
        }
    }
    diagonal[first] -= moved;
    beside[first] = bulge;
    beside[last] = 0.0;
}

/// The pencil H y = θ G y for symmetric H and G, G positive definite up to rounding: θ ascending, and Y whose column i
/// belongs to θ_i, with Yᵀ G Y = I.
///
/// G is scaled to a unit diagonal first; directions that are then shorter than 1e-7 are rounding, and are kept but
/// lengthened no further (a shift of 1e-14).
///
/// # Errors
/// As [`eigen`].
pub(crate) fn pencil(mut h: Vec<f64>, mut g: Vec<f64>, n: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    let inverse = |square: f64| {
        if square > 0.0 {
            1.0 / square.sqrt()
        } else {
            0.0
        }
    };
    let scale: Vec<f64> = (0..n).map(|i| inverse(g[i * n + i])).collect();
    for i in 0..n {
        for j in 0..n {
            h[i * n + j] *= scale[i] * scale[j];
            g[i * n + j] *= scale[i] * scale[j];
        }
        g[i * n + i] = 1.0 + SINGULAR_SHIFT;
    }
    cholesky(&mut g, n);
    solve_lower(&g, &mut h, n);
    transpose(&mut h, n);
    solve_lower(&g, &mut h, n);
    let (values, mut vectors) = eigen(h, n)?;
    transpose(&mut vectors, n);
    solve_upper(&g, &mut vectors, n);
    for (row, &scale) in vectors.chunks_exact_mut(n).zip(&scale) {
        row.iter_mut().for_each(|entry| *entry *= scale);
    }
    Ok((values, vectors))
}

const SINGULAR_SHIFT: f64 = 1e-14;

/// G = L Lᵀ; L takes the place of the lower half.
fn cholesky(g: &mut [f64], n: usize) {
    for i in 0..n {
        let (above, row) = g.split_at_mut(i * n);
        for (j, other) in above.chunks_exact(n).enumerate() {
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        row[i] = (row[i] - dot(&row[..i], &row[..i]))
            .max(SINGULAR_SHIFT)
            .sqrt();
    }
}

/// B <- L⁻¹ B.
fn solve_lower(l: &[f64], b: &mut [f64], n: usize) {
    for i in 0..n {
        let (above, row) = b.split_at_mut(i * n);
        for (other, &factor) in above.chunks_exact(n).zip(&l[i * n..]) {
            add(&mut row[..n], -factor, other);
        }
        row[..n].iter_mut().for_each(|entry| *entry /= l[i * n + i]);
    }
}

/// B <- L⁻ᵀ B.
fn solve_upper(l: &[f64], b: &mut [f64], n: usize) {
    for i in (0..n).rev() {
        let (head, below) = b.split_at_mut((i + 1) * n);
        let row = &mut head[i * n..];
        for (k, other) in (i + 1..n).zip(below.chunks_exact(n)) {
            add(row, -l[k * n + i], other);
        }
        row.iter_mut().for_each(|entry| *entry /= l[i * n + i]);
    }
}

fn transpose(a: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            a.swap(i * n + j, j * n + i);
        }
    }
}

/// x += factor y.
fn add(x: &mut [f64], factor: f64, y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += factor * y;
    }
}

/// x · y in four running sums: a fixed order that vectorises.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, others) = (x.chunks_exact(4), y.chunks_exact(4));
    let rest = fours
        .remainder()
        .iter()
        .zip(others.remainder())
        .fold(0.0, |sum, (x, y)| sum + x * y);
    for (x, y) in fours.zip(others) {
        for lane in 0..4 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, Random};

    #[test]
    fn two_by_two_by_hand() {
        // [2 1; 1 2]: values 1 and 3, vectors (1, -1)/√2 and (1, 1)/√2.
        let (values, vectors) = eigen(vec![2.0, 1.0, 1.0, 2.0], 2).unwrap();
        assert!((values[0] - 1.0).abs() < 1e-15 && (values[1] - 3.0).abs() < 1e-15);
        assert!((vectors[0] + vectors[1]).abs() < 1e-15 && (vectors[2] - vectors[3]).abs() < 1e-15);
        assert_eq!(eigen(vec![5.0], 1).unwrap(), (vec![5.0], vec![1.0]));
        assert_eq!(eigen(vec![0.0; 9], 3).unwrap().0, [0.0; 3]);
    }

    /// A random symmetric matrix; every third row and column is zero, to have repeated values.
    fn random(n: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed, Purpose::User, 0);
        let mut a = vec![0.0; n * n];
        for i in (0..n).filter(|i| i % 3 > 0) {
            for j in (0..=i).filter(|j| j % 3 > 0) {
                a[i * n + j] = random.normal();
                a[j * n + i] = a[i * n + j];
            }
        }
        a
    }

    fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
        let mut out = vec![0.0; n * n];
        for i in 0..n {
            for k in 0..n {
                for j in 0..n {
                    out[i * n + j] += a[i * n + k] * b[k * n + j];
                }
            }
        }
        out
    }

    #[test]
    fn vectors_are_orthonormal_and_satisfy_the_equation() {
        for n in [2, 3, 7, 20, 61] {
            let a = random(n, n as u64);
            let (values, rows) = eigen(a.clone(), n).unwrap();
            let image = product(&rows, &a, n);
            let mut columns = rows.clone();
            transpose(&mut columns, n);
            let gram = product(&rows, &columns, n);
            for i in 0..n {
                assert!(i == 0 || values[i - 1] <= values[i]);
                for j in 0..n {
                    assert!(
                        (image[i * n + j] - values[i] * rows[i * n + j]).abs() < 1e-13 * n as f64
                    );
                    assert!(
                        (gram[i * n + j] - if i == j { 1.0 } else { 0.0 }).abs() < 1e-14 * n as f64
                    );
                }
            }
        }
    }

    #[test]
    fn a_pencil_is_solved_in_the_metric_of_g() {
        let n = 25;
        let h = random(n, 3);
        let mut g = product(&random(n, 4), &random(n, 4), n);
        (0..n).for_each(|i| g[i * n + i] += 2.0);
        let (values, y) = pencil(h.clone(), g.clone(), n).unwrap();
        let (left, right) = (product(&h, &y, n), product(&g, &y, n));
        let mut yt = y.clone();
        transpose(&mut yt, n);
        let gram = product(&yt, &right, n);
        for i in 0..n {
            for j in 0..n {
                assert!((left[i * n + j] - values[j] * right[i * n + j]).abs() < 1e-10);
                assert!((gram[i * n + j] - if i == j { 1.0 } else { 0.0 }).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_a_number_is_an_error() {
        assert!(matches!(
            eigen(vec![f64::NAN; 9], 3),
            Err(Error::NotConverged { .. })
        ));
    }
}
