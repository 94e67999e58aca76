//! The engine: neighbours, graph, propagation and acquisition of one pool, made from a [`Config`].
//!
//! ```text
//! features -> search -> graph (f32 edge weights) -> propagation -> acquisition        one Config chooses all of it
//! ```
//!
//! Everything that asks questions is made here: sessions, simulations, projects, benchmarks. The
//! same features and the same configuration therefore ask the same questions everywhere.

use std::sync::Arc;

use crate::acquisition::auto::Auto;
use crate::acquisition::{Acquisition, Score};
use crate::belief::prior::{self, Prior};
use crate::config::{AcquisitionKind, Config, PropagationKind};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::graph::build::Lists;
use crate::graph::packed::PackedGraph;
use crate::ids::{Items, NodeId};
use crate::knn::Neighbours;
use crate::knn::approximate::{Effort, Found, Search};
use crate::labels::events::Change;
use crate::policy::Policy;
use crate::propagation::certified::{Certified, Precision};
use crate::propagation::heat::Heat;
use crate::propagation::radial::{Radial, Shape};
use crate::propagation::{Poisson, Propagation};

/// The same rows always have the same neighbours, whatever the seed of the questions.
pub const SEARCH_SEED: u64 = 0;

/// Columns that stay in memory, unless somebody says otherwise.
const COLUMNS_KEPT: usize = 256;

/// What sessions on one pool are made from. Clones share everything that is large.
#[derive(Clone)]
pub struct Engine<'a> {
    /// Every choice, with what was left to the pool filled in.
    pub config: Config,
    /// The item ids.
    pub items: Items,
    /// The graph, where there is one: batches hold no neighbours.
    pub graph: Option<Arc<PackedGraph>>,
    /// How labels spread.
    pub propagation: Arc<dyn Propagation + 'a>,
    /// What makes a node worth asking.
    pub acquisition: Arc<dyn Acquisition + 'a>,
    /// Nodes that may be asked; all, if not given.
    pub askable: Option<Arc<Vec<bool>>>,
    /// How many columns stay in memory, so that taking a label back needs no solves.
    pub columns_kept: usize,
}

/// The neighbours of every row of a pool, exact or approximate as the configuration says.
///
/// # Errors
/// What [`Neighbours::exact`] and [`Neighbours::approximate`] may fail with.
pub fn search(features: Features<'_>, config: &Config, control: &Control) -> Result<Found> {
    let Config {
        k,
        metric,
        zero_vectors,
        ..
    } = *config;
    match config.search.for_pool(features.n(), features.dim()) {
        Search::Approximate => {
            let effort = Effort::default();
            Neighbours::approximate(
                features,
                k,
                metric,
                zero_vectors,
                SEARCH_SEED,
                effort,
                control,
            )
        }
        _ => {
            let neighbours = Neighbours::exact(features, k, metric, zero_vectors, control)?;
            Ok(Found {
                neighbours,
                order: None,
                recall: None,
            })
        }
    }
}

/// The graph of neighbours that were found.
///
/// # Errors
/// Cancelled.
pub fn graph_of(found: &Found, config: &Config, control: &Control) -> Result<PackedGraph> {
    let lists = Lists::from(&found.neighbours);
    PackedGraph::assemble(&lists, config.weights, found.order.clone(), control)
}

impl Engine<'static> {
    /// Builds everything from the features of a pool, whose items are named by their rows.
    ///
    /// # Errors
    /// Choices that do not go together, what the search may fail with, cancelled.
    pub fn build(
        features: Features<'_>,
        config: &Config,
        control: &Control,
    ) -> Result<Engine<'static>> {
        // Before the search, so that nobody waits for a refusal.
        config.check()?;
        let found = search(features, config, control)?;
        let (graph, config) = joined(features, &found, config, control)?;
        // Lists of neighbours are larger than the graph.
        drop(found);
        Engine::on(graph, Some(features), &config, control)
    }

    /// The same from neighbours that were found with [`search`].
    ///
    /// # Errors
    /// As [`Engine::build`].
    pub fn of(
        features: Features<'_>,
        found: &Found,
        config: &Config,
        control: &Control,
    ) -> Result<Engine<'static>> {
        let (graph, config) = joined(features, found, config, control)?;
        Engine::on(graph, Some(features), &config, control)
    }

    /// The same on a graph that is there. The features are only needed for radial propagation.
    ///
    /// # Errors
    /// As [`Engine::build`]; radial propagation without features or without a width.
    pub fn on(
        graph: Arc<PackedGraph>,
        features: Option<Features<'_>>,
        config: &Config,
        control: &Control,
    ) -> Result<Engine<'static>> {
        config.check()?;
        let propagation = spread(&graph, features, config)?;
        let acquisition: Arc<dyn Acquisition> = match config.acquisition {
            AcquisitionKind::Auto => Arc::new(Auto::new(Arc::clone(&propagation), control)?),
            AcquisitionKind::Score(score) => Arc::new(score),
        };
        let mut engine = Engine::with(propagation).asking_by(acquisition);
        engine.config = config.clone();
        engine.graph = Some(graph);
        Ok(engine)
    }
}

impl<'a> Engine<'a> {
    /// An engine on a propagation of one's own, asking as in the paper.
    pub fn with(propagation: Arc<dyn Propagation + 'a>) -> Engine<'a> {
        Engine {
            config: Config::paper(),
            items: Items::rows(propagation.n()),
            graph: None,
            propagation,
            acquisition: Arc::new(Score::default()),
            askable: None,
            columns_kept: COLUMNS_KEPT,
        }
    }

    /// The same with item ids.
    pub fn with_items(self, items: Items) -> Engine<'a> {
        Engine { items, ..self }
    }

    /// The same with an acquisition of one's own.
    pub fn asking_by(self, acquisition: Arc<dyn Acquisition + 'a>) -> Engine<'a> {
        Engine {
            acquisition,
            ..self
        }
    }

    /// The same, asking for these nodes only.
    pub fn asking_only(self, askable: Option<Arc<Vec<bool>>>) -> Engine<'a> {
        Engine { askable, ..self }
    }

    /// The same under another seed.
    pub fn seeded(&self, seed: u64) -> Engine<'a> {
        let mut engine = self.clone();
        engine.config.seed = seed;
        engine
    }

    /// τ as a number, where the engine has a graph.
    pub fn tau(&self) -> Option<f64> {
        self.graph
            .as_ref()
            .map(|graph| self.config.tau.value(graph.mean_degree()))
    }

    /// The event that fixes α₀ and K̂ for so many classes.
    ///
    /// # Errors
    /// What calibrating the prior may fail with.
    pub fn settle(&self, n_classes: usize, control: &Control) -> Result<Change> {
        let default = || prior::default_expected_clusters(n_classes);
        let expected_clusters = self.config.expected_clusters.unwrap_or_else(default);
        if expected_clusters == 0 {
            return Err(Error::setting("expected-clusters", "at least 1", 0));
        }
        let prior_strength = self.prior_strength(expected_clusters, control)?;
        Ok(Change::Settings {
            prior_strength,
            expected_clusters,
        })
    }

    /// α₀ where no solve is needed to know it.
    pub fn fixed_prior(&self) -> Option<f64> {
        match (
            self.config.prior,
            self.acquisition.prior(),
            self.config.policy,
        ) {
            (Prior::Constant(strength), ..) | (Prior::Auto, Some(strength), _) => Some(strength),
            (Prior::Auto, None, Policy::Max | Policy::Uniform) => Some(1.0),
            _ => None,
        }
    }

    fn prior_strength(&self, expected: usize, control: &Control) -> Result<f64> {
        let (propagation, seed) = (&*self.propagation, self.config.seed);
        match (self.fixed_prior(), self.config.prior) {
            (Some(strength), _) => Ok(strength),
            (None, Prior::CalibratedRaw) => {
                prior::calibrated_raw(propagation, expected, seed, control)
            }
            _ => prior::calibrated(propagation, expected, seed, control),
        }
    }

    /// Everything must be about the same nodes.
    pub(crate) fn check_sizes(&self) -> Result<()> {
        let n = self.propagation.n();
        let graph = self.graph.as_ref().map_or(n, |graph| graph.n());
        let askable = self.askable.as_ref().map_or(n, |askable| askable.len());
        for (what, found) in [
            ("items", self.items.len()),
            ("nodes of the graph", graph),
            ("askable nodes", askable),
        ] {
            if found != n {
                return Err(Error::Conflict(format!(
                    "{found} {what} for a propagation of {n} nodes. Give all of them for the same pool."
                )));
            }
        }
        Ok(())
    }
}

/// The graph of neighbours, and the configuration with the widths that only they tell.
fn joined(
    features: Features<'_>,
    found: &Found,
    config: &Config,
    control: &Control,
) -> Result<(Arc<PackedGraph>, Config)> {
    let width = || Some(mean_reach(features, &found.neighbours));
    let propagation = match config.propagation {
        PropagationKind::Rbf { sigma: None } => PropagationKind::Rbf { sigma: width() },
        PropagationKind::Compact { radius: None } => PropagationKind::Compact { radius: width() },
        given => given,
    };
    let graph = graph_of(found, config, control)?;
    Ok((
        Arc::new(graph),
        Config {
            propagation,
            ..config.clone()
        },
    ))
}

/// The propagation of a configuration.
fn spread(
    graph: &Arc<PackedGraph>,
    features: Option<Features<'_>>,
    config: &Config,
) -> Result<Arc<dyn Propagation>> {
    let radial = |shape| match features {
        Some(features) => Radial::new(features, shape)?.with_source_value(config.source_value),
        None => Err(refused(
            config,
            "one on the graph here: there are no features",
        )),
    };
    let width = |width: Option<f64>| {
        width.ok_or_else(|| Error::setting("sigma", "given (--sigma, or rbf:S) on a saved graph, which does not tell how far neighbours are apart", "none"))
    };
    Ok(match (config.propagation, config.precision) {
        (PropagationKind::Rbf { sigma }, _) => Arc::new(radial(Shape::Rbf {
            sigma: width(sigma)?,
        })?),
        (PropagationKind::Compact { radius }, _) => Arc::new(radial(Shape::Compact {
            radius: width(radius)?,
        })?),
        (PropagationKind::Heat { time }, _) => Arc::new(
            Heat::new(Arc::new(graph.to_graph()), time)?.with_source_value(config.source_value)?,
        ),
        (PropagationKind::Poisson, Precision::Faithful) => {
            // Sums by node have other last bits than sums by place.
            let by_node = Arc::new(graph.by_node());
            let poisson = Poisson::new(by_node, config.tau.value(graph.mean_degree()))?;
            Arc::new(poisson.with_source_value(config.source_value)?)
        }
        (PropagationKind::Poisson, Precision::Certified) => {
            let tau = config.tau.value(graph.mean_degree());
            let certified = Certified::new(Arc::clone(graph), tau)?;
            let certified = certified.with_source_value(config.source_value)?;
            Arc::new(match config.tolerance {
                Some(tolerance) => certified.with_tolerance(tolerance)?,
                None => certified,
            })
        }
    })
}

fn refused(config: &Config, want: &'static str) -> Error {
    Error::setting("propagation", want, config.propagation)
}

/// The mean Euclidean distance to the last neighbour, whatever the metric of the graph: radial
/// propagation is Euclidean.
fn mean_reach(features: Features<'_>, neighbours: &Neighbours) -> f64 {
    let last = |node: usize| {
        let (other, _) = neighbours.of(NodeId(node as u32)).last()?;
        Some(features.squared_distance(node, other.index()).sqrt())
    };
    let reaches: Vec<f64> = (0..features.n()).filter_map(last).collect();
    reaches.iter().sum::<f64>() / reaches.len() as f64
}
