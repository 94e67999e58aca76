//! Laplace, Poisson and reweighted Laplace learning: linear systems with the Laplacian of a graph.
//!
//! ```text
//! laplace      u_c = y_c at the labels, Σ_j w_ij (u_c(i) - u_c(j)) = 0 elsewhere; 1/K where no label reaches
//! poisson      L u_c = Σ_l (y_l,c - ȳ_c) e_l,  Σ_i d_i u_c(i) = 0,  on every component with its own mean label ȳ; then
//!              the component's mean less the mean of all labels is added; 0 where no label reaches
//! reweighted   L w = Σ_l (e_l - 1/n) on every component, w -= min w, w += 1e-5; laplace with w_i w_j W_ij
//! damped       laplace with τ u_c(i) added on the left: u falls off away from the labels (see `rwll`)
//! ```
//!
//! Systems are scaled to a unit diagonal, R L R with R = 1/√d: that is Jacobi's preconditioner, and makes the residual of
//! 1e-9 relative to the weights, which the reweighted graph has as small as 1e-10. K - 1 solves suffice for laplace,
//! since the scores of a node sum to 1.

use std::sync::Arc;

use dial::classifiers::Shares;
use dial::control::Control;
use dial::error::Result;
use dial::graph::Graph;
use dial::graph::laplacian::{Grounded, LinearOperator, Normalized};
use dial::graph::ordering::Ordered;
use dial::ids::NodeId;
use dial::linalg::cg::{Spare, Stop, Workspace, conjugate_gradients};

/// Puts the labels where they are.
fn set_labels(given: &Shares, planes: &mut [Vec<f64>]) {
    for (node, shares) in given.nodes.iter().zip(&given.shares) {
        planes
            .iter_mut()
            .zip(shares)
            .for_each(|(plane, share)| plane[node.index()] = *share);
    }
}

/// Solves systems with Laplacians of a graph, in an order of the nodes that is good to multiply in.
pub(crate) struct Solver {
    graph: Arc<Graph>,
    ordered: Ordered,
    spare: Spare<Workspace>,
}

impl Solver {
    pub(crate) fn new(graph: Arc<Graph>) -> Solver {
        Solver {
            ordered: Ordered::new(&graph),
            graph,
            spare: Spare::default(),
        }
    }

    pub(crate) fn n(&self) -> usize {
        self.graph.n()
    }

    /// Solves for every right-hand side (in the order of the solver); the solutions are in the order of the nodes.
    fn solve(
        &self,
        operator: &impl LinearOperator,
        sides: &[Vec<f64>],
        control: &Control,
    ) -> Result<Vec<Vec<f64>>> {
        self.spare.lend(|workspace| {
            let mut solutions = Vec::with_capacity(sides.len());
            let mut rest = sides;
            while !rest.is_empty() {
                let width = [8, 4, 2, 1]
                    .into_iter()
                    .find(|&width| width <= rest.len())
                    .expect("at least one");
                let (block, later) = rest.split_at(width);
                match width {
                    8 => self.block::<8>(operator, block, workspace, control, &mut solutions)?,
                    4 => self.block::<4>(operator, block, workspace, control, &mut solutions)?,
                    2 => self.block::<2>(operator, block, workspace, control, &mut solutions)?,
                    _ => self.block::<1>(operator, block, workspace, control, &mut solutions)?,
                }
                rest = later;
            }
            Ok(solutions)
        })
    }

    fn block<const W: usize>(
        &self,
        operator: &impl LinearOperator,
        sides: &[Vec<f64>],
        workspace: &mut Workspace,
        control: &Control,
        solutions: &mut Vec<Vec<f64>>,
    ) -> Result<()> {
        let b = |row: usize, c: usize| sides[c][row];
        conjugate_gradients::<W>(operator, b, Stop::default(), workspace, control)?;
        let x = workspace.solution();
        solutions.extend((0..W).map(|c| {
            self.ordered
                .places()
                .map(|place| x[place * W + c])
                .collect()
        }));
        Ok(())
    }

    /// Harmonic extension of the labels with the weights w_i w_j W_ij; 1/K where no label reaches.
    pub(crate) fn harmonic(
        &self,
        given: &Shares,
        w: &[f64],
        control: &Control,
    ) -> Result<Vec<Vec<f64>>> {
        let (n, k) = (self.graph.n(), given.n_classes);
        // The last class is what the others leave of 1.
        let mut planes = self.extended(given, w, 0.0, k.saturating_sub(1), control)?;
        planes.push(
            (0..n)
                .map(|i| planes.iter().fold(1.0, |rest, plane| rest - plane[i]))
                .collect(),
        );
        set_labels(given, &mut planes);
        self.where_no_label_reaches(given, |i| {
            planes
                .iter_mut()
                .for_each(|plane| plane[i] = 1.0 / k as f64)
        });
        Ok(planes)
    }

    /// The same with τ > 0 added to the diagonal: scores fall towards 0 away from the labels, and sum to less than 1.
    pub(crate) fn damped(
        &self,
        given: &Shares,
        w: &[f64],
        tau: f64,
        control: &Control,
    ) -> Result<Vec<Vec<f64>>> {
        let mut planes = self.extended(given, w, tau, given.n_classes, control)?;
        set_labels(given, &mut planes);
        Ok(planes)
    }

    /// Solves for the first `count` classes off the labels; 0 at the labels.
    fn extended(
        &self,
        given: &Shares,
        w: &[f64],
        tau: f64,
        count: usize,
        control: &Control,
    ) -> Result<Vec<Vec<f64>>> {
        let weighted = |node: usize| {
            let (neighbours, weights) = self.graph.row(NodeId(node as u32));
            neighbours
                .iter()
                .zip(weights)
                .fold(0.0, |sum, (&j, weight)| sum + w[j as usize] * weight)
        };
        let mut root: Vec<f64> = (0..self.graph.n())
            .map(|i| weighted(i) * w[i] + tau)
            .collect();
        root.iter_mut().for_each(|degree| {
            *degree = if *degree > 0.0 {
                1.0 / degree.sqrt()
            } else {
                0.0
            }
        });
        let unscaled = root.clone();
        for node in &given.nodes {
            root[node.index()] = 0.0;
        }
        let sides: Vec<Vec<f64>> = (0..count)
            .map(|class| self.side(given, w, &root, class))
            .collect();
        let operator = Grounded::new(
            &self.ordered.graph,
            self.ordered.placed(|node| root[node] * w[node]),
        );
        let mut planes = self.solve(&operator, &sides, control)?;
        for plane in &mut planes {
            plane
                .iter_mut()
                .zip(&unscaled)
                .for_each(|(u, root)| *u *= root);
        }
        Ok(planes)
    }

    /// What the labelled neighbours say about a class, scaled: R w_i Σ_l W_il w_l y_l.
    fn side(&self, given: &Shares, w: &[f64], root: &[f64], class: usize) -> Vec<f64> {
        let mut side = vec![0.0; self.graph.n()];
        for (node, shares) in given.nodes.iter().zip(&given.shares) {
            let (neighbours, weights) = self.graph.row(*node);
            for (&i, weight) in neighbours.iter().zip(weights) {
                side[i as usize] += weight * w[node.index()] * shares[class];
            }
        }
        self.ordered.placed(|i| root[i] * w[i] * side[i])
    }

    fn where_no_label_reaches(&self, given: &Shares, mut then: impl FnMut(usize)) {
        let reached = self.reached(given);
        (0..self.graph.n())
            .filter(|&i| !reached[self.graph.component(NodeId(i as u32))])
            .for_each(&mut then);
    }

    /// Which components have a label.
    fn reached(&self, given: &Shares) -> Vec<bool> {
        let mut reached = vec![false; self.graph.component_sizes().len()];
        given
            .nodes
            .iter()
            .for_each(|&node| reached[self.graph.component(node)] = true);
        reached
    }

    /// Solves L u = b for right-hand sides that sum to 0 on every component, with Σ d_i u_i = 0 there.
    fn zero_mean(&self, sides: Vec<Vec<f64>>, control: &Control) -> Result<Vec<Vec<f64>>> {
        let degrees = self.graph.degrees();
        let root: Vec<f64> = degrees
            .iter()
            .map(|&d| if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 })
            .collect();
        let sides: Vec<Vec<f64>> = sides
            .iter()
            .map(|side| self.ordered.placed(|i| root[i] * side[i]))
            .collect();
        let mut planes = self.solve(&Normalized::new(&self.ordered.graph, 0.0), &sides, control)?;
        for plane in &mut planes {
            plane.iter_mut().zip(&root).for_each(|(u, root)| *u *= root);
            let mut sums = vec![(0.0, 0.0); self.graph.component_sizes().len()];
            for (i, u) in plane.iter().enumerate() {
                let sum = &mut sums[self.graph.component(NodeId(i as u32))];
                *sum = (sum.0 + degrees[i] * u, sum.1 + degrees[i]);
            }
            for (i, u) in plane.iter_mut().enumerate() {
                let (sum, volume) = sums[self.graph.component(NodeId(i as u32))];
                *u -= if volume > 0.0 { sum / volume } else { 0.0 };
            }
        }
        Ok(planes)
    }

    /// Poisson learning.
    pub(crate) fn poisson(&self, given: &Shares, control: &Control) -> Result<Vec<Vec<f64>>> {
        let n = self.graph.n();
        if given.nodes.is_empty() {
            return Ok(vec![vec![0.0; n]; given.n_classes]);
        }
        let reached = self.reached(given);
        let overall = given.mean(|_| true);
        let means: Vec<Vec<f64>> = (0..reached.len())
            .map(|component| {
                if reached[component] {
                    given.mean(|l| self.graph.component(l) == component)
                } else {
                    vec![]
                }
            })
            .collect();
        let side = |class: usize| {
            let mut side = vec![0.0; n];
            for (node, shares) in given.nodes.iter().zip(&given.shares) {
                side[node.index()] = shares[class] - means[self.graph.component(*node)][class];
            }
            side
        };
        let mut planes = self.zero_mean((0..given.n_classes).map(side).collect(), control)?;
        for (class, plane) in planes.iter_mut().enumerate() {
            for (i, u) in plane.iter_mut().enumerate() {
                let component = self.graph.component(NodeId(i as u32));
                *u += if reached[component] {
                    means[component][class] - overall[class]
                } else {
                    0.0
                };
            }
        }
        Ok(planes)
    }

    /// The w of the reweighted graph; 0 on components without labels.
    pub(crate) fn reweighting(&self, given: &Shares, control: &Control) -> Result<Vec<f64>> {
        let (n, reached) = (self.graph.n(), self.reached(given));
        let mut counts = vec![0.0; reached.len()];
        given
            .nodes
            .iter()
            .for_each(|&node| counts[self.graph.component(node)] += 1.0);
        let component = |i: usize| self.graph.component(NodeId(i as u32));
        let share =
            |i: usize| counts[component(i)] / self.graph.component_sizes()[component(i)] as f64;
        let mut side: Vec<f64> = (0..n).map(|i| -share(i)).collect();
        given
            .nodes
            .iter()
            .for_each(|node| side[node.index()] += 1.0);
        let mut w = self.zero_mean(vec![side], control)?.remove(0);
        let mut lowest = vec![f64::INFINITY; reached.len()];
        (0..n).for_each(|i| lowest[component(i)] = lowest[component(i)].min(w[i]));
        let floor = |i: usize, w: f64| {
            if reached[component(i)] {
                w - lowest[component(i)] + 1e-5
            } else {
                0.0
            }
        };
        w.iter_mut()
            .enumerate()
            .for_each(|(i, w)| *w = floor(i, *w));
        Ok(w)
    }
}
