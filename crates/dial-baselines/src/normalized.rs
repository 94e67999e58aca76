//! Poisson propagation with the symmetric normalised Laplacian: the counter-example.
//!
//! ```text
//! (L_s + τ I) g = e_l,      K(l, x) = T (g(x) - min g)/(g(l) - min g)
//! ```
//!
//! The paper asks of a propagation that it is largest at its source (Maximum Principle) and proves it for the
//! combinatorial Laplacian (`eq:poisson-prop`). With L_s it fails: the kernel of L_s is √d, so nodes of large degree end up
//! above a source of small degree. On a star with 6 leaves and τ = 0.1 the hub has 1.25 times the value of the leaf that
//! was labelled. It is here to be compared with, hence not clamped; nothing else uses it.

use std::sync::Arc;

use dial::control::Control;
use dial::error::{Error, Result, check_positive};
use dial::graph::Graph;
use dial::graph::laplacian::Normalized;
use dial::ids::NodeId;
use dial::linalg::cg::{Stop, Workspace, conjugate_gradients};
use dial::propagation::{Column, Propagation, check_source_value};

/// Poisson propagation with L_s, whose columns may exceed T.
#[derive(Clone, Debug)]
pub struct NormalizedPoisson {
    graph: Arc<Graph>,
    tau: f64,
    source_value: f64,
}

impl NormalizedPoisson {
    /// With T = 1 and faithful precision (true residual at most 1e-9).
    ///
    /// # Errors
    /// A tau that is not a finite number above 0.
    pub fn new(graph: Arc<Graph>, tau: f64) -> Result<NormalizedPoisson> {
        check_positive("tau", tau)?;
        Ok(NormalizedPoisson {
            graph,
            tau,
            source_value: 1.0,
        })
    }

    /// Counts every label as T observations.
    ///
    /// # Errors
    /// A T that is not between 1e-100 and 1e100.
    pub fn with_source_value(mut self, source_value: f64) -> Result<NormalizedPoisson> {
        check_source_value(source_value)?;
        self.source_value = source_value;
        Ok(self)
    }

    /// T (g - min g)/(g(l) - min g). With a small τ the source may be the minimum itself, and there is no such column.
    fn normalized(&self, source: NodeId, g: &[f64]) -> Result<Column> {
        let lowest = g.iter().copied().fold(f64::INFINITY, f64::min);
        let top = g[source.index()] - lowest;
        if top <= 0.0 && g.len() > 1 {
            let want = "larger: a source of small degree is the minimum of its own column";
            return Err(Error::setting("tau", want, self.tau));
        }
        let mut column: Vec<f64> = g
            .iter()
            .map(|g| self.source_value * ((g - lowest) / top))
            .collect();
        column[source.index()] = self.source_value;
        Ok(Arc::new(column))
    }
}

impl Propagation for NormalizedPoisson {
    fn n(&self) -> usize {
        self.graph.n()
    }

    fn columns(&self, sources: &[NodeId], control: &Control) -> Result<Vec<Column>> {
        let raw = self.raw_columns(sources, control)?;
        raw.iter()
            .zip(sources)
            .map(|(g, &source)| self.normalized(source, g))
            .collect()
    }

    fn raw_columns(&self, sources: &[NodeId], control: &Control) -> Result<Vec<Column>> {
        let operator = Normalized::new(&self.graph, self.tau);
        let mut workspace = Workspace::default();
        let solve = |&source: &NodeId| {
            let b = |row: usize, _| if row == source.index() { 1.0 } else { 0.0 };
            conjugate_gradients::<1>(&operator, b, Stop::default(), &mut workspace, control)?;
            // What the solver leaves off the component of the source is exactly 0.
            Ok(Arc::new(workspace.solution().to_vec()))
        };
        sources.iter().map(solve).collect()
    }

    fn source_value(&self) -> f64 {
        self.source_value
    }

    fn reaches(&self, source: NodeId, node: NodeId) -> bool {
        self.graph.component(source) == self.graph.component(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hub_of_a_star_rises_above_the_source() {
        // Hub 0, leaves 1 to 6, source 1, s = 1/√6, τ = 0.1: g_0 = s/0.21, other leaves s g_0/1.1, the source (1 + s g_0)/1.1.
        // Less the other leaves, the source has 1/1.1 and the hub g_0 (1 - s/1.1).
        let star =
            Graph::from_edges(7, &(1..7).map(|leaf| (0, leaf, 1.0)).collect::<Vec<_>>()).unwrap();
        let propagation = NormalizedPoisson::new(Arc::new(star), 0.1)
            .unwrap()
            .with_source_value(2.0)
            .unwrap();
        let column = propagation
            .columns(&[NodeId(1)], &Control::new())
            .unwrap()
            .remove(0);
        let s = 1.0 / 6.0f64.sqrt();
        assert!((column[0] - 2.0 * 1.1 * (s / 0.21) * (1.0 - s / 1.1)).abs() < 1e-7);
        assert!(
            column[0] > 2.6
                && column[1] == 2.0
                && column[2..].iter().all(|value| value.abs() < 1e-7)
        );
    }

    #[test]
    fn a_source_that_is_the_minimum_has_no_column() {
        // Path 0 - 1 - 2 with weights 0.01 and 1: node 0 has the smallest degree, and a small τ favours √d alone.
        let path = Arc::new(Graph::from_edges(3, &[(0, 1, 0.01), (1, 2, 1.0)]).unwrap());
        let column = |tau| {
            NormalizedPoisson::new(Arc::clone(&path), tau)
                .unwrap()
                .columns(&[NodeId(0)], &Control::new())
        };
        assert!(matches!(
            column(1e-4),
            Err(Error::BadSetting { name: "tau", .. })
        ));
        assert!(column(0.5).is_ok());
        for tau in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(NormalizedPoisson::new(Arc::clone(&path), tau).is_err());
        }
    }
}
