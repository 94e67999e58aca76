//! Heat propagation: a label spreads as heat does in a time t.
//!
//! ```text
//! g = exp(-t L) e_l,      K(l, x) = T clamp(g(x)/g(l), 0, 1)
//! truncated:  g = Σ_{i <= r} exp(-t λ_i) v_i(l) v_i      from the r lowest pairs of L
//! ```
//!
//! The paper names the heat kernel among the propagations one may choose. It is positive, but its maximum need not be at the
//! source: beside a well-connected node more heat may stay than at it. The truncated one may also be negative. Both are
//! therefore clamped, and [`Heat::clamped`] counts how often, so that a clamped value is not mistaken for the kernel's.
//!
//! Poisson propagation is an average of heat: (L + τ I)⁻¹ = ∫ exp(-τ t) exp(-t L) dt, over times of mean 1/τ.
//!
//! How exp(-t L) e_l is computed: all eigenvalues lie in [0, b], b = 2 max d, and with z = t b/2 and A = 2 L/b - I
//!
//! ```text
//! exp(-t L) = Σ_k c_k T_k(A),   c_0 = e^-z I_0(z),   c_k = 2 (-1)^k e^-z I_k(z)
//! ```
//!
//! I_k being the modified Bessel functions, by their backward recurrence. The |c_k| sum to 1 and |T_k(A)| <= 1, so the sum
//! may end where the rest is below 1e-14: at about √(64 z) products.

use std::mem::swap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::blocks::{NODES_PER_CHUNK, for_chunks2};
use crate::control::Control;
use crate::error::{Error, Result, check_positive};
use crate::graph::Graph;
use crate::graph::adjacency::Adjacency;
use crate::graph::laplacian::{Combinatorial, LinearOperator};
use crate::graph::ordering::Ordered;
use crate::ids::NodeId;
use crate::linalg::eigen::{Eigenpairs, combinatorial_bound};
use crate::propagation::{Column, Propagation, check_source_value};

/// Heat propagation on a graph.
#[derive(Debug)]
pub struct Heat {
    /// The component of every node.
    component: Vec<u32>,
    source_value: f64,
    action: Action,
}

/// How exp(-t L) acts.
#[derive(Debug)]
enum Action {
    /// By polynomials of the graph.
    Full {
        ordered: Ordered,
        coefficients: Vec<f64>,
    },
    /// By pairs, with the factors exp(-t λ).
    Truncated {
        pairs: Arc<Eigenpairs>,
        factors: Vec<f64>,
    },
}

/// Sources are taken together in blocks of this width.
const SOURCES_PER_BLOCK: usize = 4;

/// Rows whose product is held in a buffer at a time.
const ROWS_PER_PRODUCT: usize = 64;

/// Where the sum over polynomials may end.
const SERIES_REMAINDER: f64 = 1e-14;

/// Clamping by less than this is rounding and not counted.
const CLAMP_ROUNDING: f64 = 1e-12;

/// The largest z = t max d: about a hundred thousand products for a column.
const MAX_TIME_DEGREE: f64 = 1e8;

impl Heat {
    /// Heat of time t with T = 1.
    ///
    /// # Errors
    /// A time that is not a finite number above 0, or so large that t max d exceeds 1e8.
    pub fn new(graph: Arc<Graph>, time: f64) -> Result<Heat> {
        check_positive("heat-time", time)?;
        let z = 0.5 * time * combinatorial_bound(&graph);
        if z > MAX_TIME_DEGREE {
            let want = "so small that its product with the largest degree is at most 1e8";
            return Err(Error::setting("heat-time", want, time));
        }
        let action = Action::Full {
            ordered: Ordered::new(&graph),
            coefficients: coefficients(z),
        };
        Ok(Heat {
            component: graph.rows().component.to_vec(),
            source_value: 1.0,
            action,
        })
    }

    /// Heat of time t with T = 1, from the lowest pairs of the graph's combinatorial Laplacian
    /// ([`Eigenpairs::combinatorial`]): a column then costs n r.
    ///
    /// # Errors
    /// A time that is not a finite number above 0.
    ///
    /// # Panics
    /// If the pairs are those of another number of nodes.
    pub fn truncated(graph: Arc<Graph>, pairs: Arc<Eigenpairs>, time: f64) -> Result<Heat> {
        check_positive("heat-time", time)?;
        assert_eq!(
            pairs.vectors.len(),
            graph.n() * pairs.count(),
            "the pairs are those of the graph"
        );
        let factors = pairs
            .values
            .iter()
            .map(|value| libm::exp(-time * value))
            .collect();
        Ok(Heat {
            component: graph.rows().component.to_vec(),
            source_value: 1.0,
            action: Action::Truncated { pairs, factors },
        })
    }

    /// Counts every label as T observations.
    ///
    /// # Errors
    /// A T that is not between 1e-100 and 1e100.
    pub fn with_source_value(mut self, source_value: f64) -> Result<Heat> {
        check_source_value(source_value)?;
        self.source_value = source_value;
        Ok(self)
    }

    /// How many entries of each column were clamped, by more than rounding (1e-12 T).
    ///
    /// # Errors
    /// Cancelled.
    pub fn clamped(&self, sources: &[NodeId], control: &Control) -> Result<Vec<usize>> {
        let raw = self.raw_columns(sources, control)?;
        Ok(raw
            .iter()
            .zip(sources)
            .map(|(g, &source)| self.normalized(source, g).1)
            .collect())
    }

    /// T clamp(g/g(l), 0, 1), and the number of entries clamped.
    fn normalized(&self, source: NodeId, g: &[f64]) -> (Vec<f64>, usize) {
        let top = g[source.index()];
        let mut clamped = 0;
        let share = |g: f64| {
            // Pairs that do not see the source say nothing about it.
            let share = if top > 0.0 { g / top } else { 0.0 };
            clamped += usize::from(!(-CLAMP_ROUNDING..=1.0 + CLAMP_ROUNDING).contains(&share));
            self.source_value * share.clamp(0.0, 1.0)
        };
        let mut column: Vec<f64> = g.iter().copied().map(share).collect();
        column[source.index()] = self.source_value;
        (column, clamped)
    }

    /// g for every source.
    fn spread(&self, sources: &[NodeId], control: &Control) -> Result<Vec<Vec<f64>>> {
        match &self.action {
            Action::Full {
                ordered,
                coefficients,
            } => {
                let mut columns = Vec::with_capacity(sources.len());
                for block in sources.chunks(SOURCES_PER_BLOCK) {
                    match block.len() {
                        1 => polynomial::<1>(ordered, coefficients, block, control, &mut columns)?,
                        _ => polynomial::<SOURCES_PER_BLOCK>(
                            ordered,
                            coefficients,
                            block,
                            control,
                            &mut columns,
                        )?,
                    }
                }
                Ok(columns)
            }
            Action::Truncated { pairs, factors } => {
                let column = |&source: &NodeId| {
                    control.check()?;
                    Ok(self.sum_of_pairs(pairs, factors, source))
                };
                sources.iter().map(column).collect()
            }
        }
    }

    /// Σ_i exp(-t λ_i) v_i(l) v_i, on the component of the source: off it the sum of all pairs vanishes, and that of
    /// some is no more than what they leave out.
    fn sum_of_pairs(&self, pairs: &Eigenpairs, factors: &[f64], source: NodeId) -> Vec<f64> {
        let weights: Vec<f64> = factors
            .iter()
            .zip(pairs.at(source))
            .map(|(factor, v)| factor * v)
            .collect();
        let mut g = vec![0.0; self.n()];
        g.par_chunks_mut(NODES_PER_CHUNK)
            .enumerate()
            .for_each(|(chunk, g)| {
                for (node, g) in (chunk * NODES_PER_CHUNK..)
                    .map(|node| NodeId(node as u32))
                    .zip(g)
                {
                    if self.reaches(source, node) {
                        *g = weights
                            .iter()
                            .zip(pairs.at(node))
                            .fold(0.0, |sum, (weight, v)| sum + weight * v);
                    }
                }
            });
        g
    }
}

/// c_0, c_1, ... until the rest is below 1e-14.
///
/// From I_k-1 = I_k+1 + (2 k/z) I_k, downwards from where they vanish, and I_0 + 2 Σ I_k = e^z.
fn coefficients(z: f64) -> Vec<f64> {
    if z == 0.0 {
        return vec![1.0];
    }
    // I_k falls like exp(-k²/(2 z)) while k < z, and faster than any power after that.
    let highest = libm::ceil(libm::sqrt(100.0 * z)) as usize + 40;
    let mut bessel = vec![0.0; highest + 1];
    let (mut above, mut here) = (0.0, 1e-300);
    for k in (0..=highest).rev() {
        bessel[k] = here;
        (above, here) = (here, above + 2.0 * k as f64 / z * here);
        if here > 1e200 {
            // What is then too small to count becomes 0.
            bessel[k..].iter_mut().for_each(|value| *value *= 1e-200);
            (above, here) = (above * 1e-200, here * 1e-200);
        }
    }
    let total = 2.0 * bessel[1..].iter().rev().fold(0.0, |sum, value| sum + value) + bessel[0];
    let mut sign = 2.0;
    let mut coefficients = vec![bessel[0] / total];
    for value in &bessel[1..] {
        sign = -sign;
        coefficients.push(sign * value / total);
    }
    let mut rest = 0.0;
    while coefficients.len() > 1
        && rest + coefficients[coefficients.len() - 1].abs() < SERIES_REMAINDER
    {
        rest += coefficients.pop().expect("there are at least two").abs();
    }
    coefficients
}

/// Σ_k c_k T_k(A) e_l for up to W sources, appended to `columns` in the order of the graph's own nodes.
fn polynomial<const W: usize>(
    ordered: &Ordered,
    coefficients: &[f64],
    sources: &[NodeId],
    control: &Control,
    columns: &mut Vec<Vec<f64>>,
) -> Result<()> {
    let n = ordered.graph.n();
    let mut current = vec![0.0; n * W];
    for (c, source) in sources.iter().enumerate() {
        current[ordered.place(source.index()) * W + c] = 1.0;
    }
    let mut previous = vec![0.0; n * W];
    let mut sum: Vec<f64> = current
        .iter()
        .map(|value| coefficients[0] * value)
        .collect();
    let operator = Combinatorial::new(&ordered.graph, 0.0);
    let scale = 2.0 / combinatorial_bound(&ordered.graph);
    // A scope moves all of it into the thread pool: its many short loops then start without waking anybody.
    rayon::scope(|_| {
        for (k, &coefficient) in coefficients.iter().enumerate().skip(1) {
            control.check()?;
            // T_1 = A T_0, T_k+1 = 2 A T_k - T_k-1.
            let (twice, back) = if k == 1 { (1.0, 0.0) } else { (2.0, 1.0) };
            advance::<W>(
                &operator,
                &current,
                &mut previous,
                &mut sum,
                [twice * scale, twice, back, coefficient],
            );
            swap(&mut previous, &mut current);
        }
        Ok(())
    })?;
    for c in 0..sources.len() {
        columns.push(ordered.places().map(|place| sum[place * W + c]).collect());
    }
    Ok(())
}

/// previous <- factor L current - twice current - back previous; sum += coefficient previous.
fn advance<const W: usize>(
    operator: &Combinatorial<'_>,
    current: &[f64],
    previous: &mut [f64],
    sum: &mut [f64],
    [factor, twice, back, coefficient]: [f64; 4],
) {
    for_chunks2::<W, 0>(previous, sum, |first, previous, sum| {
        let mut image = [[0.0; W]; ROWS_PER_PRODUCT];
        let rows = previous
            .chunks_mut(ROWS_PER_PRODUCT * W)
            .zip(sum.chunks_mut(ROWS_PER_PRODUCT * W))
            .enumerate();
        for (place, (previous, sum)) in rows {
            let first = first + place * ROWS_PER_PRODUCT;
            let image = &mut image.as_flattened_mut()[..sum.len()];
            operator.product::<W>(first, current, image);
            let values = previous
                .iter_mut()
                .zip(sum)
                .zip(image)
                .zip(&current[first * W..]);
            for (((previous, sum), image), current) in values {
                *previous = factor * *image - twice * current - back * *previous;
                *sum += coefficient * *previous;
            }
        }
        []
    });
}

impl Propagation for Heat {
    fn n(&self) -> usize {
        self.component.len()
    }

    fn columns(&self, sources: &[NodeId], control: &Control) -> Result<Vec<Column>> {
        let spread = self.spread(sources, control)?;
        Ok(spread
            .iter()
            .zip(sources)
            .map(|(g, &source)| Arc::new(self.normalized(source, g).0))
            .collect())
    }

    fn raw_columns(&self, sources: &[NodeId], control: &Control) -> Result<Vec<Column>> {
        Ok(self
            .spread(sources, control)?
            .into_iter()
            .map(Arc::new)
            .collect())
    }

    fn source_value(&self) -> f64 {
        self.source_value
    }

    fn reaches(&self, source: NodeId, node: NodeId) -> bool {
        self.component[source.index()] == self.component[node.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_of_nodes_by_hand() {
        // L = [1 -1; -1 1] has the values 0 and 2: exp(-tL) e_0 = (1 + e^-2t, 1 - e^-2t)/2.
        let graph = Arc::new(Graph::from_edges(3, &[(0, 1, 1.0)]).unwrap());
        let pairs = Arc::new(Eigenpairs::combinatorial(&graph, 3, &Control::new()).unwrap());
        for time in [1e-9, 0.3, 1.0, 20.0, 1e5] {
            let e = libm::exp(-2.0 * time);
            let full = Heat::new(Arc::clone(&graph), time).unwrap();
            for heat in [
                full,
                Heat::truncated(Arc::clone(&graph), Arc::clone(&pairs), time).unwrap(),
            ] {
                let g = heat
                    .raw_columns(&[NodeId(0), NodeId(2)], &Control::new())
                    .unwrap();
                for (got, want) in g[0].iter().zip([(1.0 + e) / 2.0, (1.0 - e) / 2.0, 0.0]) {
                    // Rounding in L, or in its values, counts t times.
                    assert!(
                        (got - want).abs() < 1e-15 * (20.0 + time),
                        "{time}: {got} is not {want}"
                    );
                }
                assert!((g[1][2] - 1.0).abs() < 1e-14 * (1.0 + time) && g[1][..2] == [0.0, 0.0]);
                assert_eq!(
                    *heat.columns(&[NodeId(2)], &Control::new()).unwrap()[0],
                    [0.0, 0.0, 1.0]
                );
            }
        }
    }

    #[test]
    fn coefficients_are_those_of_the_exponential() {
        // Σ c_k T_k(x) = exp(-z (1 + x)) at x = cos θ, where T_k(x) = cos k θ.
        for z in [1e-12, 1e-3, 0.5, 3.0, 40.0, 1e3, 1e6] {
            let c = coefficients(z);
            assert!(
                (c.iter().map(|c| c.abs()).sum::<f64>() - 1.0).abs() < 1e-12,
                "{z}"
            );
            assert!(
                (c.len() as f64) < 30.0 + 9.0 * f64::sqrt(z),
                "{z}: {}",
                c.len()
            );
            for angle in [0.0, 0.4, 1.5, 3.0, 3.135, std::f64::consts::PI] {
                let sum: f64 = c
                    .iter()
                    .enumerate()
                    .map(|(k, c)| c * libm::cos(k as f64 * angle))
                    .sum();
                // 1 + cos θ = 2 cos² θ/2, without cancellation.
                let half = libm::cos(0.5 * angle);
                assert!(
                    (sum - libm::exp(-2.0 * z * half * half)).abs() < 1e-12,
                    "{z} {angle}"
                );
            }
        }
    }

    #[test]
    fn more_heat_may_stay_beside_the_source_and_is_clamped() {
        // A star of 9 leaves at 0, joined by a weak edge to a source 10: at a large time all is even, and just before that
        // the source, which has lost more than it got back, is the coldest.
        let mut edges: Vec<_> = (1..10).map(|leaf| (0, leaf, 1.0)).collect();
        edges.push((0, 10, 0.2));
        edges.push((10, 11, 5.0));
        let graph = Arc::new(Graph::from_edges(12, &edges).unwrap());
        let heat = Heat::new(graph, 2.0)
            .unwrap()
            .with_source_value(3.0)
            .unwrap();
        let g = heat
            .raw_columns(&[NodeId(10)], &Control::new())
            .unwrap()
            .remove(0);
        let above = g
            .iter()
            .filter(|&&value| value > g[10] * (1.0 + 1e-12))
            .count();
        let column = heat
            .columns(&[NodeId(10)], &Control::new())
            .unwrap()
            .remove(0);
        assert_eq!(
            heat.clamped(&[NodeId(10)], &Control::new()).unwrap(),
            [above]
        );
        assert!(
            above > 0
                && column.iter().all(|value| (0.0..=3.0).contains(value))
                && column[10] == 3.0
        );
    }

    #[test]
    fn times_must_be_finite_and_above_0() {
        let graph = Arc::new(Graph::from_edges(2, &[(0, 1, 1.0)]).unwrap());
        let pairs = Arc::new(Eigenpairs::combinatorial(&graph, 1, &Control::new()).unwrap());
        for time in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert!(matches!(
                Heat::new(Arc::clone(&graph), time),
                Err(Error::BadSetting {
                    name: "heat-time",
                    ..
                })
            ));
            assert_eq!(
                Heat::truncated(Arc::clone(&graph), Arc::clone(&pairs), time).is_err(),
                time != 1e300
            );
        }
    }
}
