//! A session: ask, tell, and the belief in between.
//!
//! ```text
//! ask   scores of the field -> policy -> item          does not change the state
//! tell  one event appended to the log; the field follows
//! ```
//!
//! The field follows the log (see `evidence`): a state has the bits of a replay of its log. The generator of a question is
//! numbered by the count of labelled items, so a resumed session asks what an uninterrupted one would have asked.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use crate::acquire::{Acquisition, Score, Situation};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::events::{Change, Event};
use crate::evidence::Evidence;
use crate::field::{DirichletField, Term};
use crate::graph::Graph;
use crate::ids::{ClassId, Items, NodeId};
use crate::labels::Labels;
use crate::policy::{Chooser, Policy, Sharpness};
use crate::prior::{self, Prior};
use crate::propagate::Propagation;
use crate::seed::{Purpose, Random};

/// What a session works on: the pool and how labels spread over it.
#[derive(Clone)]
pub struct Setting<'a> {
    /// How labels spread.
    pub kernel: Arc<dyn Propagation + 'a>,
    /// The graph, so that batches hold no neighbours.
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
            expected_clusters: None,
            seed: 0,
            columns_kept: 256,
            given: 0,
            askable: None,
        }
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
    /// Mean probabilities, in the order of [`Session::classes`].
    pub probabilities: Vec<f64>,
    /// Trace of the covariance.
    pub variance: f64,
    /// Evidence, all classes together, without the prior.
    pub evidence: f64,
    /// Whether any label can say something about this item.
    pub reached: bool,
}

/// A labelling session. See the module for its rules.
pub struct Session<'a> {
    setting: Setting<'a>,
    options: Options<'a>,
    labels: Labels,
    evidence: Evidence<'a>,
    open: Vec<bool>,
    labelled: Vec<NodeId>,
    order: Vec<NodeId>,
    scratch: Mutex<Scratch>,
}

#[derive(Default)]
struct Scratch {
    scores: Vec<f64>,
    candidates: Vec<(NodeId, f64)>,
    weights: Vec<f64>,
}

/// The annotator of events that nobody else claims.
const NOBODY: &str = "";

impl<'a> Session<'a> {
    /// Starts a session with the given class names. This fixes α₀ and K̂ (the first events of the log).
    ///
    /// # Errors
    /// Fewer than two classes (N12), or what calibrating the prior may fail with.
    pub fn new(
        setting: Setting<'a>,
        options: Options<'a>,
        classes: &[String],
        control: &Control,
    ) -> Result<Session<'a>> {
        if classes.len() < 2 {
            return Err(Error::TooFewClasses(classes.len()));
        }
        let expected_clusters =
            options.expected_clusters.unwrap_or_else(|| prior::default_expected_clusters(classes.len()));
        if expected_clusters == 0 {
            return Err(Error::BadSetting { name: "expected-clusters", want: "at least 1", got: "0".into() });
        }
        let prior_strength = prior_strength(&setting, &options, expected_clusters, control)?;
        let add = |(id, name): (usize, &String)| Change::AddClass { class: ClassId(id as u16), name: name.clone() };
        let settings = Change::Settings { prior_strength, expected_clusters };
        let changes = classes.iter().enumerate().map(add).chain([settings]);
        let events = changes.map(|change| Event { group: 0, annotator: NOBODY.into(), change });
        Session::resume(setting, options, events, control)
    }

    /// Takes up a session from its log.
    ///
    /// # Errors
    /// A log that does not replay, or has no settings or fewer than two classes; items, graph or askable nodes that are
    /// not as many as the kernel has nodes.
    pub fn resume(
        setting: Setting<'a>,
        options: Options<'a>,
        events: impl IntoIterator<Item = Event>,
        control: &Control,
    ) -> Result<Session<'a>> {
        let labels = Labels::replay(events)?;
        let Some((prior_strength, _)) = labels.settings() else {
            return Err(Error::Conflict("the log has no settings. Start a new session.".into()));
        };
        if labels.classes().len() < 2 {
            return Err(Error::TooFewClasses(labels.classes().len()));
        }
        check_sizes(&setting, &options)?;
        let evidence = Evidence::new(Arc::clone(&setting.kernel), options.columns_kept, prior_strength);
        let open = vec![true; setting.kernel.n()];
        let (labelled, order, scratch) = (Vec::new(), Vec::new(), Mutex::default());
        let mut session = Session { setting, options, labels, evidence, open, labelled, order, scratch };
        session.follow(control)?;
        Ok(session)
    }

    /// The items to ask next: one, or a batch without graph neighbours.
    ///
    /// # Errors
    /// Nothing left to ask (N11), a score that is not a number (N6), or what the acquisition fails with.
    pub fn ask(&self, count: usize) -> Result<Ask> {
        if count == 0 {
            return Err(Error::BadSetting { name: "batch", want: "at least 1", got: "0".into() });
        }
        // Taken out, not borrowed: an acquisition is the caller's code and may panic or wait.
        let mut scratch = std::mem::take(&mut *self.scratch.lock().expect("no holder panics"));
        let asked = self.ask_with(count, &mut scratch);
        *self.scratch.lock().expect("no holder panics") = scratch;
        asked
    }

    fn ask_with(&self, count: usize, scratch: &mut Scratch) -> Result<Ask> {
        let Scratch { scores, candidates, weights } = scratch;
        scores.resize(self.field().n(), 0.0);
        self.options.acquisition.scores(&self.situation(), scores)?;
        candidates.clear();
        candidates.extend((0..).map(NodeId).zip(scores.iter().copied()).filter(|(node, _)| self.open[node.index()]));
        if let Some((node, _)) = candidates.iter().find(|(_, score)| score.is_nan()) {
            return Err(Error::NanScore(self.setting.items.id(*node)));
        }
        let mut random = Random::new(self.options.seed, Purpose::Ask, self.round());
        let graph = self.setting.graph.as_deref();
        let batch = self.chooser().choose_batch(candidates, count, graph, &mut random, weights)?;
        let question =
            |&node: &NodeId| Question { node, item: self.setting.items.id(node), score: scores[node.index()] };
        Ok(Ask { questions: batch.nodes.iter().map(question).collect(), crowded: batch.crowded })
    }

    /// Tells the class of an item; returns the group to undo it by.
    pub fn tell(&mut self, item: &str, class: ClassId, control: &Control) -> Result<u64> {
        self.append(NOBODY, Change::Label { item: item.to_string(), classes: vec![(class, 1.0)] }, control)
    }

    /// Appends a change as a group of its own; returns the group.
    pub fn append(&mut self, annotator: &str, change: Change, control: &Control) -> Result<u64> {
        let group = self.labels.new_group();
        self.append_event(Event { group, annotator: annotator.to_string(), change }, control)?;
        Ok(group)
    }

    /// Appends an event, or leaves everything as it was.
    pub fn append_event(&mut self, event: Event, control: &Control) -> Result<()> {
        if let Change::Label { item, .. } | Change::Skip { item } | Change::Exclude { item } = &event.change {
            self.setting.items.node(item)?;
        }
        self.labels.append(event)?;
        let followed = self.follow(control);
        if followed.is_err() {
            self.labels.drop_last();
        }
        followed
    }

    /// Takes back the latest live answer of an annotator; returns its group.
    ///
    /// # Errors
    /// Nothing to undo (C5).
    pub fn undo(&mut self, annotator: &str, control: &Control) -> Result<u64> {
        let last = self.labels.last_group(annotator);
        let group = last.ok_or_else(|| Error::Conflict("there is nothing to undo. Label something first.".into()))?;
        self.append(annotator, Change::Undo { group }, control)?;
        Ok(group)
    }

    /// Brings the field and the lists of nodes up to the log. Nothing changes unless all columns can be had.
    fn follow(&mut self, control: &Control) -> Result<()> {
        let classes = self.labels.classes();
        let mut terms: Vec<Vec<Term>> = vec![Vec::new(); classes.len()];
        let mut order = Vec::new();
        for term in self.labels.contributions() {
            // Items that are no longer in the pool keep their labels in the log.
            if let Ok(node) = self.setting.items.node(&term.item) {
                let plane = classes.binary_search(&term.class).expect("contributions name live classes");
                terms[plane].push((node, term.weight));
                order.push(node);
            }
        }
        let (prior_strength, _) = self.labels.settings().expect("a session has settings");
        self.evidence.follow(classes, terms, prior_strength, control)?;
        let mut seen = HashSet::new();
        order.retain(|&node| seen.insert(node));
        self.order = order;
        self.list_nodes();
        Ok(())
    }

    /// Lists the labelled nodes and those that may be asked.
    fn list_nodes(&mut self) {
        let items = &self.setting.items;
        self.labelled = self.labels.labelled().filter_map(|item| items.node(item).ok()).collect();
        self.labelled.sort_unstable();
        match &self.options.askable {
            Some(askable) => self.open.copy_from_slice(askable),
            None => self.open.fill(true),
        }
        for node in self.labels.closed().filter_map(|item| items.node(item).ok()) {
            self.open[node.index()] = false;
        }
    }

    fn situation(&self) -> Situation<'_> {
        Situation {
            field: self.field(),
            labelled: &self.labelled,
            order: &self.order,
            labels: self.evidence.terms(),
            seed: self.options.seed,
            round: self.round(),
        }
    }

    fn chooser(&self) -> Chooser {
        let (_, expected_clusters) = self.labels.settings().expect("a session has settings");
        Chooser {
            policy: self.options.policy,
            sharpness: self.options.sharpness,
            expected_clusters,
            question: (self.round() + 1).saturating_sub(self.options.given).max(1),
            tie_seed: self.labelled.is_empty().then_some(self.options.seed),
        }
    }

    /// Number of labelled items.
    fn round(&self) -> u64 {
        self.labelled.len() as u64
    }

    /// The log and what it says.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The belief about every node; its planes are [`Session::classes`].
    pub fn field(&self) -> &DirichletField {
        self.evidence.field()
    }

    /// The live classes, in the order of the planes of the field.
    pub fn classes(&self) -> &[ClassId] {
        self.evidence.classes()
    }

    /// The labels of every class, in the order of the planes of the field.
    pub fn terms(&self) -> &[Vec<Term>] {
        self.evidence.terms()
    }

    /// The nodes with a label that counts, ascending.
    pub fn labelled(&self) -> &[NodeId] {
        &self.labelled
    }

    /// The item ids.
    pub fn items(&self) -> &Items {
        &self.setting.items
    }

    /// What is believed about a node.
    ///
    /// # Panics
    /// If the pool has no such node.
    pub fn prediction(&self, node: NodeId) -> Prediction {
        let field = self.field();
        Prediction {
            class: self.classes()[field.class(node)],
            probabilities: field.mean(node),
            variance: field.variance(node),
            evidence: field.evidence(node),
            reached: self.labelled.iter().any(|&source| self.setting.kernel.reaches(source, node)),
        }
    }
}

/// Everything must be about the same nodes.
fn check_sizes(setting: &Setting<'_>, options: &Options<'_>) -> Result<()> {
    let n = setting.kernel.n();
    let graph = setting.graph.as_ref().map_or(n, |graph| graph.n());
    let askable = options.askable.as_ref().map_or(n, |askable| askable.len());
    for (what, found) in [("items", setting.items.len()), ("nodes of the graph", graph), ("askable nodes", askable)] {
        if found != n {
            let text = format!("{found} {what} for a kernel of {n} nodes. Give all of them for the same pool.");
            return Err(Error::Conflict(text));
        }
    }
    Ok(())
}

fn prior_strength(setting: &Setting<'_>, options: &Options<'_>, expected: usize, control: &Control) -> Result<f64> {
    let prior = match (options.prior, options.policy) {
        (Prior::Auto, Policy::Proportional) => Prior::Calibrated,
        (Prior::Auto, _) => Prior::Constant(1.0),
        (chosen, _) => chosen,
    };
    let kernel = &*setting.kernel;
    match prior {
        Prior::Constant(strength) => Ok(strength),
        Prior::CalibratedRaw => prior::calibrated_raw(kernel, expected, options.seed, control),
        Prior::Calibrated | Prior::Auto => prior::calibrated(kernel, expected, options.seed, control),
    }
}
