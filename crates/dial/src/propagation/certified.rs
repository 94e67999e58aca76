//! Certified precision: Poisson propagation whose sessions solve locally, with a proven bound on every value.
//!
//! A session that finds a local solver behind its propagation keeps its classes by pushing (`local`, `incremental`) where that pays;
//! whole columns, where a caller asks for them, are solved globally on the same graph and to the same residual as in faithful
//! precision.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::error::Result;
use crate::graph::packed::PackedGraph;
use crate::ids::NodeId;
use crate::linalg::local::LocalSolver;
use crate::propagation::{Column, Propagation, SPREAD_RESIDUAL, check_source_value};
use crate::words::words;

/// How exactly labels spread over the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Every column solved to a true residual of 1e-9.
    #[default]
    Faithful,
    /// Local solves with a proven bound; global ones where those do not pay.
    Certified,
}

words!(Precision, "precision", { Faithful => "faithful", Certified => "certified" });

/// Poisson propagation with certified precision.
#[derive(Debug)]
pub struct Certified {
    local: LocalSolver,
    source_value: f64,
}

impl Certified {
    /// Certified propagation with T = 1 and the tolerance chosen from the prior.
    ///
    /// # Errors
    /// A tau that is not a finite number above 0: with 0 there is no bound.
    pub fn new(graph: Arc<PackedGraph>, tau: f64) -> Result<Certified> {
        Ok(Certified {
            local: LocalSolver::new(graph, tau)?,
            source_value: 1.0,
        })
    }

    /// Counts every label as T observations.
    ///
    /// # Errors
    /// A T that is not between 1e-100 and 1e100.
    pub fn with_source_value(self, source_value: f64) -> Result<Certified> {
        check_source_value(source_value)?;
        Ok(Certified {
            local: self.local.with_source_value(source_value),
            source_value,
        })
    }

    /// Fixes δ, the part of the bound that a solve is stopped by.
    ///
    /// # Errors
    /// A δ that is not a positive number.
    pub fn with_tolerance(self, tolerance: f64) -> Result<Certified> {
        Ok(Certified {
            local: self.local.with_tolerance(tolerance)?,
            ..self
        })
    }

    /// The solver behind it: tolerance, regime, graph.
    pub fn solver(&self) -> &LocalSolver {
        &self.local
    }

    /// g by node for some sources.
    fn greens(&self, sources: &[NodeId], control: &Control) -> Result<Vec<Vec<f64>>> {
        let graph = self.local.graph();
        let places: Vec<usize> = sources.iter().map(|&source| graph.place(source)).collect();
        let columns = self.local.greens(&places, control)?;
        Ok(columns.iter().map(|g| self.by_node(g)).collect())
    }

    /// Values by place, by node.
    fn by_node(&self, values: &[f64]) -> Vec<f64> {
        let rank = &*self.local.graph().parts().rank;
        rank.iter().map(|&place| values[place as usize]).collect()
    }
}

impl Propagation for Certified {
    fn n(&self) -> usize {
        self.local.graph().n()
    }

    /// Solved globally: a column with a value for every node is not a local thing.
    fn columns(&self, sources: &[NodeId], control: &Control) -> Result<Vec<Column>> {
        let normalized = |(source, mut g): (&NodeId, Vec<f64>)| {
            let lowest = g.iter().copied().fold(f64::INFINITY, f64::min);
            let height = g[source.index()] - lowest;
            let share = |g: f64| {
                if height > 0.0 {
                    (g - lowest) / height
                } else {
                    1.0
                }
            };
            g.iter_mut()
                .for_each(|g| *g = self.source_value * share(*g).clamp(0.0, 1.0));
            Arc::new(g)
        };
        Ok(sources
            .iter()
            .zip(self.greens(sources, control)?)
            .map(normalized)
            .collect())
    }

    fn raw_columns(&self, sources: &[NodeId], control: &Control) -> Result<Vec<Column>> {
        Ok(self
            .greens(sources, control)?
            .into_iter()
            .map(Arc::new)
            .collect())
    }

    fn source_value(&self) -> f64 {
        self.source_value
    }

    fn inverse_diagonal(&self, control: &Control) -> Result<Option<Vec<f64>>> {
        let inverse_diagonal = self.local.global().inverse_diagonal(control)?;
        Ok(Some(self.by_node(&inverse_diagonal)))
    }

    fn spread(&self, values: &[f64], control: &Control) -> Result<Option<Vec<f64>>> {
        let order = &*self.local.graph().parts().order;
        let by_place: Vec<f64> = order.iter().map(|&node| values[node as usize]).collect();
        let spread = self
            .local
            .global()
            .spread(&by_place, SPREAD_RESIDUAL, control)?;
        Ok(Some(self.by_node(&spread)))
    }

    fn reaches(&self, source: NodeId, node: NodeId) -> bool {
        let graph = self.local.graph();
        graph.component(graph.place(source)) == graph.component(graph.place(node))
    }

    fn local(&self) -> Option<&LocalSolver> {
        Some(&self.local)
    }
}
