//! What goes into a session and what comes out of it: the pool, how to ask, questions, predictions.
//!
//! Weights, τ and reading go with the way of asking: `auto` does best with its own, everything else has the paper's.

use std::sync::Arc;

use crate::acquire::{Acquisition, Score};
use crate::certified::Precision;
use crate::control::Control;
use crate::doubt::TAU_PER_DEGREE;
use crate::error::{Error, Result};
use crate::events::Change;
use crate::graph::{Graph, Kernel};
use crate::ids::{ClassId, Items, NodeId};
use crate::methods::Method;
use crate::models::ModelName;
use crate::policy::{Policy, Sharpness};
use crate::prior::{self, Prior};
use crate::propagate::Propagation;
use crate::reader::Reading;
use crate::tau::Tau;

/// What a session works on: the pool and how labels spread over it.
#[derive(Clone)]
pub struct Setting<'a> {
    /// How labels spread.
    pub kernel: Arc<dyn Propagation + 'a>,
    /// The graph, so that batches hold no neighbours; a kernel with certified precision has its own.
    pub graph: Option<Arc<Graph>>,
    /// The item ids.
    pub items: Items,
}

/// How a session asks.
#[derive(Clone)]
pub struct Options<'a> {
    /// What makes a node worth asking.
    pub acquisition: Arc<dyn Acquisition + 'a>,
    /// How a node is chosen from the scores.
    pub policy: Policy,
    /// λ of the proportional policy.
    pub sharpness: Sharpness,
    /// α₀, or how to find it.
    pub prior: Prior,
    /// How classes and probabilities are read from the field.
    pub reading: Reading,
    /// K̂; by default max(20, 2K).
    pub expected_clusters: Option<usize>,
    /// The seed of everything random.
    pub seed: u64,
    /// How many columns stay in memory, so that taking a label back needs no solves.
    pub columns_kept: usize,
    /// Labels given before the first question, which a schedule of λ does not count as questions.
    pub given: u64,
    /// Nodes that may be asked; all, if not given.
    pub askable: Option<Arc<Vec<bool>>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            acquisition: Arc::new(Score::default()),
            policy: Policy::default(),
            sharpness: Sharpness::default(),
            prior: Prior::default(),
            reading: Reading::default(),
            expected_clusters: None,
            seed: 0,
            columns_kept: 256,
            given: 0,
            askable: None,
        }
    }
}

/// What goes with a way of asking, where nobody says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suited {
    /// How distances become weights.
    pub kernel: Kernel,
    /// τ of Poisson propagation.
    pub tau: Tau,
    /// How classes and probabilities are read from the field.
    pub reading: Reading,
}

impl Suited {
    /// What goes with a method.
    pub fn to(method: Method) -> Suited {
        match method {
            Method::Auto => Suited {
                kernel: Kernel::Symmetric,
                tau: Tau::TimesDegree(TAU_PER_DEGREE),
                reading: Reading::Even,
            },
            _ => Suited {
                kernel: Kernel::SelfTuning,
                tau: Tau::Number(0.1),
                reading: Reading::Plain,
            },
        }
    }
}

/// The method where nobody names one. In certified precision people want speed, and `auto` takes a global solve a question.
pub fn default_method(precision: Precision) -> Method {
    match precision {
        Precision::Faithful => Method::Auto,
        Precision::Certified => Method::Score(Score::Variance, ModelName::Dirichlet),
    }
}

/// An item worth asking.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Its node.
    pub node: NodeId,
    /// Its id.
    pub item: String,
    /// Its score.
    pub score: f64,
    /// In certified precision: how far the evidence for any class at it may be from the exact one, at most.
    pub error: Option<f64>,
}

/// What an answer would bring ([`Session::foresee`](crate::Session::foresee)).
#[derive(Clone, Debug, PartialEq)]
pub struct Foreseen {
    /// The answer.
    pub class: ClassId,
    /// The next question; none, if nothing would be left to ask.
    pub next: Option<Question>,
    /// How many other nodes would have another most probable class than now.
    pub changed: usize,
}

/// The items to ask next.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The questions, in order.
    pub questions: Vec<Question>,
    /// How many of the last ones neighbour earlier ones, for want of others.
    pub crowded: usize,
}

/// What is believed about an item.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The most probable class.
    pub class: ClassId,
    /// Probabilities as the reading states them, in the order of [`classes`](crate::Session::classes).
    pub probabilities: Vec<f64>,
    /// Trace of the covariance of the Dirichlet distribution, the classes evened out if the reading does that.
    pub variance: f64,
    /// Evidence, all classes together, without the prior.
    pub evidence: f64,
    /// Whether any label can say something about this item.
    pub reached: bool,
    /// In certified precision: how far the evidence for any class may be from the exact one, at most, before classes are
    /// evened out.
    pub error: Option<f64>,
}

/// Everything must be about the same nodes.
pub(crate) fn check_sizes(setting: &Setting<'_>, options: &Options<'_>) -> Result<()> {
    let n = setting.kernel.n();
    let graph = setting.graph.as_ref().map_or(n, |graph| graph.n());
    let askable = options.askable.as_ref().map_or(n, |askable| askable.len());
    for (what, found) in [
        ("items", setting.items.len()),
        ("nodes of the graph", graph),
        ("askable nodes", askable),
    ] {
        if found != n {
            let text = format!(
                "{found} {what} for a kernel of {n} nodes. Give all of them for the same pool."
            );
            return Err(Error::Conflict(text));
        }
    }
    Ok(())
}

impl Setting<'_> {
    /// The event that fixes α₀ and K̂ for so many classes: the options as they are for this pool.
    ///
    /// # Errors
    /// No expected clusters, or what calibrating the prior may fail with.
    pub fn settle(
        &self,
        options: &Options<'_>,
        n_classes: usize,
        control: &Control,
    ) -> Result<Change> {
        let expected_clusters = options
            .expected_clusters
            .unwrap_or_else(|| prior::default_expected_clusters(n_classes));
        if expected_clusters == 0 {
            return Err(Error::BadSetting {
                name: "expected-clusters",
                want: "at least 1",
                got: "0".into(),
            });
        }
        let prior_strength = prior_strength(self, options, expected_clusters, control)?;
        Ok(Change::Settings {
            prior_strength,
            expected_clusters,
        })
    }
}

/// α₀ as the options want it.
fn prior_strength(
    setting: &Setting<'_>,
    options: &Options<'_>,
    expected: usize,
    control: &Control,
) -> Result<f64> {
    let prior = match (options.prior, options.policy) {
        (Prior::Auto, policy) => match (options.acquisition.prior(), policy) {
            (Some(strength), _) => Prior::Constant(strength),
            (None, Policy::Proportional) => Prior::Calibrated,
            (None, _) => Prior::Constant(1.0),
        },
        (chosen, _) => chosen,
    };
    let kernel = &*setting.kernel;
    match prior {
        Prior::Constant(strength) => Ok(strength),
        Prior::CalibratedRaw => prior::calibrated_raw(kernel, expected, options.seed, control),
        Prior::Calibrated | Prior::Auto => {
            prior::calibrated(kernel, expected, options.seed, control)
        }
    }
}
