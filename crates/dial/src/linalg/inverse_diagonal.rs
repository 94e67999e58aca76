//! Estimates the scaled diagonal of (L + τ I)⁻¹, the value of every column at its source, by truncated residual push.
//!
//! ```text
//! value(x) = (d(x) + τ) G(x, x) >= 1,      G = A⁻¹,  A = L + τ I
//! push from x, in rounds: estimate g, residual r = e_x - A g;   wherever r > ρ, at once:
//!                         g += r/(d + τ),  and r goes to the neighbours, w/(d + τ) of it
//! G(x, x) = g(x) + g·r + r·G r                   for any g, as G is symmetric
//! ρ Σr/τ  >= r·G r >= max(Σ r²/(d + τ), (Σ r)²/(c τ))         c: the nodes of the component
//! ```
//!
//! The lower end of the last line stands in for r·G r, so a value is never too high. With ρ = 0.03 and the τ of `auto` some 50 to
//! 150 pushes a node find it to 3 to 7 % on pools of 5,000 (root mean square; Pavia 13 %, single nodes up to two fifths); a smaller
//! τ would need a smaller ρ. What hurts is unevenness: among thousands of scores one whose value is much further too low than
//! the others wins. 16 vectors of random signs (Hutchinson 1990) scatter by 20 to 50 % and cost a tenth more errors than exact
//! values; pushes cost none (`docs/research.md`). All of a round at once, so that the order of the nodes decides nothing but
//! the rounding.
//!
//! Cost: what is near decides, so a node costs the same in a pool of any size. A push takes at least ρ τ/(d + τ) of the
//! residual, which begins at 1; for a tiny τ pushes are cut off. A hub, a node with a long row, keeps what comes to it, since
//! little of that would return: else every node would visit every neighbour of every hub. In both cases the upper end of the
//! last line no longer holds, the lower one does. Memory: 17 bytes a node and thread.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Result;
use crate::graph::adjacency::{Count, Weight};
use crate::graph::laplacian::{Combinatorial, LinearOperator};

/// ρ: residuals up to this are not pushed.
const PUSH_RESIDUAL: f64 = 0.03;

/// After this many pushes no further round begins.
const MAX_PUSHES: usize = 2_000;

/// A node with more neighbours is a hub.
const HUB_DEGREE: usize = 1_000;

/// Nodes between two checks for cancellation.
const NODES_PER_CHECK: usize = 256;

/// The scaled inverse diagonal of the operator L + τ I, for all rows of a graph.
pub(crate) fn find<C: Count, F: Weight>(
    operator: &Combinatorial<'_, C, F>,
    control: &Control,
) -> Result<Vec<f64>> {
    let n = operator.n();
    let mut inverse_diagonal = vec![0.0; n];
    control.start("measuring how far labels reach", n);
    inverse_diagonal
        .par_chunks_mut(NODES_PER_CHECK)
        .enumerate()
        .try_for_each_init(
            || Walk::new(n),
            |walk, (chunk, inverse_diagonal)| {
                inverse_diagonal
                    .iter_mut()
                    .enumerate()
                    .for_each(|(i, value)| {
                        *value = walk.value(operator, chunk * NODES_PER_CHECK + i)
                    });
                control.advance(inverse_diagonal.len())
            },
        )?;
    control.finish();
    Ok(inverse_diagonal)
}

/// Work space of a push. All of it is zero between uses.
struct Walk {
    /// g and r.
    estimate: Vec<f64>,
    residual: Vec<f64>,
    /// Nodes with a residual, at some time.
    met: Vec<u32>,
    known: Vec<bool>,
    /// Nodes to be pushed in this round, and what they add to their estimate.
    front: Vec<u32>,
    steps: Vec<(usize, f64)>,
    /// Pushes for the last node.
    pushes: usize,
}

impl Walk {
    fn new(n: usize) -> Walk {
        let (estimate, residual, known) = (vec![0.0; n], vec![0.0; n], vec![false; n]);
        Walk {
            estimate,
            residual,
            met: Vec::new(),
            known,
            front: Vec::new(),
            steps: Vec::new(),
            pushes: 0,
        }
    }

    fn value<C: Count, F: Weight>(&mut self, operator: &Combinatorial<'_, C, F>, x: usize) -> f64 {
        let rows = &operator.rows;
        self.add(x as u32, 1.0);
        self.pushes = 0;
        while !self.front.is_empty() && self.pushes < MAX_PUSHES {
            let mut steps = std::mem::take(&mut self.steps);
            for node in self.front.drain(..) {
                let i = node as usize;
                if i != x && rows.slots(i).len() > HUB_DEGREE {
                    continue;
                }
                let step = std::mem::take(&mut self.residual[i]) / operator.diagonal(i);
                self.estimate[i] += step;
                steps.push((i, step));
            }
            self.pushes += steps.len();
            for (i, step) in steps.drain(..) {
                for (neighbour, weight) in rows.entries(i) {
                    self.add(neighbour, weight * step);
                }
            }
            self.steps = steps;
        }
        self.front.clear();
        let found = self.estimate[x];
        let (mut crossed, mut squares, mut sum) = (0.0, 0.0, 0.0);
        for node in self.met.drain(..) {
            let i = node as usize;
            self.known[i] = false;
            let (g, r) = (
                std::mem::take(&mut self.estimate[i]),
                std::mem::take(&mut self.residual[i]),
            );
            crossed += g * r;
            squares += r * r / operator.diagonal(i);
            sum += r;
        }
        let rest = squares.max(sum * sum / (rows.component_size(x) as f64 * operator.shift()));
        // Rounding may end a little below what a walk that never comes back has.
        (operator.diagonal(x) * (found + crossed + rest)).max(1.0)
    }

    fn add(&mut self, node: u32, value: f64) {
        let i = node as usize;
        if !std::mem::replace(&mut self.known[i], true) {
            self.met.push(node);
        }
        let before = self.residual[i];
        self.residual[i] += value;
        if before <= PUSH_RESIDUAL && self.residual[i] > PUSH_RESIDUAL {
            self.front.push(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;

    fn inverse_diagonal(graph: &Graph, tau: f64) -> Vec<f64> {
        find(&Combinatorial::new(graph, tau), &Control::new()).unwrap()
    }

    #[test]
    fn two_nodes_by_hand() {
        // A = [[2, -1], [-1, 2]]: G(0, 0) = 2/3, times 2. What is left of e_0 after the last round, a residual of at most 0.03,
        // speaks with less than 0.03² times G.
        for value in inverse_diagonal(&Graph::from_edges(2, &[(0, 1, 1.0)]).unwrap(), 1.0) {
            assert!(
                value <= 4.0 / 3.0 && value > 4.0 / 3.0 - 2.0 * 0.03 * 0.03,
                "{value}"
            );
        }
        assert_eq!(
            inverse_diagonal(&Graph::from_edges(1, &[]).unwrap(), 0.5),
            [1.0]
        );
    }

    #[test]
    fn a_walk_that_hardly_ends_is_cut_off() {
        // Two nodes and τ = 1e-6: G(0, 0) = (1 + τ)/(τ (2 + τ)), half a million; nearly all of it is the constant.
        let (tau, two) = (1e-6, Graph::from_edges(2, &[(0, 1, 1.0)]).unwrap());
        let want = (1.0 + tau) * (1.0 + tau) / (tau * (2.0 + tau));
        for value in inverse_diagonal(&two, tau) {
            assert!(
                value <= want * (1.0 + 1e-9) && value > 0.999 * want,
                "{value} is not {want}"
            );
        }
        let mut walk = Walk::new(2);
        walk.value(&Combinatorial::new(&two, tau), 0);
        assert_eq!(walk.pushes, MAX_PUSHES);
    }

    #[test]
    fn a_hub_is_not_visited_from_everywhere() {
        // A ring of 3,000 whose nodes all know node 0, by a weight like that of the ring.
        let n = 3_000_u32;
        let spokes = (2..n - 1).map(|x| (0, x, 1.0));
        let ring = (0..n).map(|x| (x, (x + 1) % n, 1.0));
        let wheel = Graph::from_edges(n as usize, &ring.chain(spokes).collect::<Vec<_>>()).unwrap();
        let (mut walk, tau) = (Walk::new(n as usize), 0.1);
        let operator = Combinatorial::new(&wheel, tau);
        let value = walk.value(&operator, 1_500);
        assert!(
            walk.met.capacity() < 1_000,
            "room for {} nodes was needed",
            walk.met.capacity()
        );
        // Without the hub, an endless line with d + τ = 3.1: G(x, x) = 1/√(3.1² - 4), as the solution falls by one factor a
        // step; what returns from the hub adds less than 1/(n τ).
        let line = 3.1 / (3.1_f64 * 3.1 - 4.0).sqrt();
        assert!(
            value > 0.99 * line && value < line + 3.1 / (f64::from(n) * tau),
            "{value} is not {line}"
        );
        // The hub itself: what it gives is the same everywhere on the rim, u = h/1.1, and (2999 + τ) h - 2999 u = 1.
        let (hub, own) = (walk.value(&operator, 0), 2_999.1);
        let want = own / (own - 2_999.0 / 1.1);
        assert!(
            hub <= want * (1.0 + 1e-9) && hub > 0.99 * want,
            "{hub} is not {want}"
        );
    }
}
