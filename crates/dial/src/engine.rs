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
use crate::config::{
    AcquisitionKind, Config, GIVEN, HEAT_TIME, PropagationKind, check_expected_clusters,
};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::graph::adjacency::Adjacency;
use crate::graph::build::Lists;
use crate::graph::packed::PackedGraph;
use crate::graph::{EdgeWeights, Graph};
use crate::ids::{Items, NodeId};
use crate::knn::Neighbours;
use crate::knn::approximate::{Effort, Found, Search};
use crate::knn::row_source::Rows;
use crate::labels::events::Change;
use crate::opinion::components::Components;
use crate::policy::Policy;
use crate::propagation::certified::{Certified, Precision};
use crate::propagation::heat::Heat;
use crate::propagation::radial::{Radial, Shape};
use crate::propagation::{Poisson, Propagation};

/// The seed of the search: fixed, so that the same rows have the same neighbours for every seed of the questions.
pub const SEARCH_SEED: u64 = 0;

/// Columns that stay in memory by default.
pub const COLUMNS_KEPT: usize = 256;

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
    /// The features in few coordinates, for a second opinion ([`Engine::with_features`]).
    pub components: Option<Arc<Components>>,
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

/// The edge weights to build the graph with.
///
/// # Errors
/// A configuration of a given graph, whose weights are unknown.
pub fn weights(config: &Config) -> Result<EdgeWeights> {
    let want = "self-tuning, symmetric, gaussian or uniform where the graph is built";
    config
        .weights
        .ok_or_else(|| Error::setting("weights", want, GIVEN))
}

/// The neighbours of rows that are read by position, approximate.
///
/// # Errors
/// What [`Neighbours::approximate_rows`] may fail with.
pub fn search_rows(
    rows: Rows<'_>,
    config: &Config,
    effort: Effort,
    control: &Control,
) -> Result<Found> {
    let Config {
        k,
        metric,
        zero_vectors,
        ..
    } = *config;
    Neighbours::approximate_rows(rows, k, metric, zero_vectors, SEARCH_SEED, effort, control)
}

/// The graph of a pool: [`search`], then [`graph_of`].
///
/// # Errors
/// What both may fail with.
pub fn graph(features: Features<'_>, config: &Config, control: &Control) -> Result<PackedGraph> {
    let found = search(features, config, control)?;
    let lists = Lists::from(&found.neighbours);
    graph_of(&lists, found.order.clone(), config, control)
}

/// The graph of known neighbours, in the order of the search that found them or in one of its own.
///
/// # Errors
/// A configuration without weights; cancelled.
pub fn graph_of(
    lists: &Lists<'_>,
    order: Option<Vec<NodeId>>,
    config: &Config,
    control: &Control,
) -> Result<PackedGraph> {
    PackedGraph::assemble(lists, weights(config)?, order, control)
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
        // Before the search, so that a refusal comes at once.
        config.check()?;
        weights(config)?;
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

    /// The same on an existing graph. The features are only needed for radial propagation.
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
    /// An engine on a propagation of the caller, asking as in the paper.
    pub fn with(propagation: Arc<dyn Propagation + 'a>) -> Engine<'a> {
        Engine {
            config: Config::paper(),
            items: Items::rows(propagation.n()),
            graph: None,
            propagation,
            acquisition: Arc::new(Score::default()),
            askable: None,
            columns_kept: COLUMNS_KEPT,
            components: None,
        }
    }

    /// The same with item ids.
    pub fn with_items(self, items: Items) -> Engine<'a> {
        Engine { items, ..self }
    }

    /// The same with an acquisition of the caller.
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

    /// The same with a second opinion from the features ([`crate::opinion`]): where calibration is on they have a say in classes,
    /// probabilities and the questions of `auto`. On features that are the same in all rows, the same as before.
    ///
    /// # Errors
    /// Features of another pool, cancelled.
    pub fn with_features(self, features: Features<'_>, control: &Control) -> Result<Engine<'a>> {
        let n = self.propagation.n();
        if features.n() != n {
            let text = format!(
                "{} rows of features for {n} items. Give those of the same pool.",
                features.n()
            );
            return Err(Error::Shape(text));
        }
        let components = Components::of(features, self.config.metric, control)?;
        Ok(Engine {
            components: components.map(Arc::new),
            ..self
        })
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
    pub fn fix_prior(&self, n_classes: usize, control: &Control) -> Result<Change> {
        let default = || prior::default_expected_clusters(n_classes);
        let expected_clusters = self.config.expected_clusters.unwrap_or_else(default);
        check_expected_clusters(Some(expected_clusters))?;
        let prior_strength = self.prior_strength(expected_clusters, control)?;
        Ok(Change::Settings {
            prior_strength,
            expected_clusters,
        })
    }

    /// α₀ where it is known without a solve.
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

    /// Checks that all parts have the same nodes.
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

/// The graph of neighbours, and the configuration with the widths that follow from their distances.
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
    let lists = Lists::from(&found.neighbours);
    let graph = graph_of(&lists, found.order.clone(), config, control)?;
    Ok((
        Arc::new(graph),
        Config {
            propagation,
            ..config.clone()
        },
    ))
}

/// How labels spread on a graph of the caller's own, with its weights in f64 as they are: as in faithful precision, without
/// features.
///
/// # Errors
/// As [`Engine::on`].
pub fn propagation(graph: Arc<Graph>, config: &Config) -> Result<Arc<dyn Propagation>> {
    config.check()?;
    match config.propagation {
        PropagationKind::Poisson => {
            let degrees = graph.degrees();
            let mean_degree = degrees.iter().sum::<f64>() / degrees.len().max(1) as f64;
            Ok(Arc::new(poisson(graph, mean_degree, config)?))
        }
        PropagationKind::Heat { time } => Ok(Arc::new(
            Heat::new(graph, time.unwrap_or(HEAT_TIME))?.with_source_value(config.source_value)?,
        )),
        PropagationKind::Rbf { .. } | PropagationKind::Compact { .. } => Err(no_features(config)),
    }
}

fn poisson<G: Adjacency + 'static>(
    graph: Arc<G>,
    mean_degree: f64,
    config: &Config,
) -> Result<Poisson<G>> {
    Poisson::new(graph, config.tau.value(mean_degree))?.with_source_value(config.source_value)
}

/// Poisson propagation in faithful precision, as an engine has it.
///
/// # Errors
/// A tau or a source value that is not possible.
pub fn faithful(graph: &PackedGraph, config: &Config) -> Result<Poisson<PackedGraph>> {
    // Sums by node have other last bits than sums by place.
    poisson(Arc::new(graph.by_node()), graph.mean_degree(), config)
}

/// The propagation of a configuration.
fn spread(
    graph: &Arc<PackedGraph>,
    features: Option<Features<'_>>,
    config: &Config,
) -> Result<Arc<dyn Propagation>> {
    let radial = |shape| match features {
        Some(features) => Radial::new(features, shape)?.with_source_value(config.source_value),
        None => Err(no_features(config)),
    };
    let width = |width: Option<f64>| {
        width.ok_or_else(|| Error::setting("sigma", "given (--sigma, or rbf:S) on a saved graph, which has no distances between neighbours", "none"))
    };
    Ok(match (config.propagation, config.precision) {
        (PropagationKind::Rbf { sigma }, _) => Arc::new(radial(Shape::Rbf {
            sigma: width(sigma)?,
        })?),
        (PropagationKind::Compact { radius }, _) => Arc::new(radial(Shape::Compact {
            radius: width(radius)?,
        })?),
        (PropagationKind::Heat { .. }, _) => propagation(Arc::new(graph.to_graph()), config)?,
        (PropagationKind::Poisson, Precision::Faithful) => Arc::new(faithful(graph, config)?),
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

fn no_features(config: &Config) -> Error {
    let want = "poisson or heat here: there are no features";
    Error::setting("propagation", want, config.propagation)
}

/// The mean Euclidean distance to the last neighbour, for every metric of the graph: radial
/// propagation is Euclidean.
fn mean_reach(features: Features<'_>, neighbours: &Neighbours) -> f64 {
    let last = |node: usize| {
        let (other, _) = neighbours.of(NodeId(node as u32)).last()?;
        Some(features.squared_distance(node, other.index()).sqrt())
    };
    let reaches: Vec<f64> = (0..features.n()).filter_map(last).collect();
    reaches.iter().sum::<f64>() / reaches.len() as f64
}
