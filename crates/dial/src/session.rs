//! A session: ask, tell, and the belief in between.
//!
//! ```text
//! ask   scores of the field -> policy -> item          does not change the state
//! tell  one event appended to the log; the field follows
//! ```
//!
//! The field of a class is the sum of its live columns in the order of their events. After an event the terms of every
//! class are listed anew: where the old list is the beginning of the new one, the rest is added; otherwise the class is
//! summed from the start. So a state has the bits of a replay of its log, and nothing is ever subtracted. Columns are a
//! cache: dropping one costs a solve and changes nothing. The generator of a question is numbered by the count of
//! labelled items, so a resumed session asks what an uninterrupted one would have asked.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use crate::acquire::{Acquisition, Score, Situation};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::events::{Change, Event};
use crate::field::DirichletField;
use crate::graph::Graph;
use crate::ids::{ClassId, Items, NodeId};
use crate::labels::Labels;
use crate::policy::{Chooser, Policy, Sharpness};
use crate::prior::{self, Prior};
use crate::propagate::{Column, Propagation};
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
    field: DirichletField,
    /// The classes of the planes of the field, and the terms summed in each.
    classes: Vec<ClassId>,
    terms: Vec<Vec<(NodeId, f64)>>,
    columns: HashMap<NodeId, Column>,
    /// The nodes of the columns in the order they were made.
    made: VecDeque<NodeId>,
    open: Vec<bool>,
    labelled: Vec<NodeId>,
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
    /// A log that does not replay, or has no settings or fewer than two classes.
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
        let n = setting.kernel.n();
        let mut session = Session {
            field: DirichletField::new(n, 0, prior_strength),
            labels,
            classes: Vec::new(),
            terms: Vec::new(),
            columns: HashMap::new(),
            made: VecDeque::new(),
            open: vec![true; n],
            labelled: Vec::new(),
            scratch: Mutex::default(),
            setting,
            options,
        };
        session.follow(control)?;
        Ok(session)
    }

    /// The items to ask next: one, or a batch without graph neighbours.
    ///
    /// # Errors
    /// Nothing left to ask (N11), or what the acquisition fails with.
    pub fn ask(&self, count: usize) -> Result<Ask> {
        if count == 0 {
            return Err(Error::BadSetting { name: "batch", want: "at least 1", got: "0".into() });
        }
        let mut scratch = self.scratch.lock().expect("no holder panics");
        let Scratch { scores, candidates, weights } = &mut *scratch;
        scores.resize(self.field.n(), 0.0);
        self.options.acquisition.scores(&self.situation(), scores)?;
        candidates.clear();
        candidates.extend((0..).map(NodeId).zip(scores.iter().copied()).filter(|(node, _)| self.open[node.index()]));
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
        let mut terms = vec![Vec::new(); classes.len()];
        for term in self.labels.contributions() {
            // Items that are no longer in the pool keep their labels in the log.
            if let Ok(node) = self.setting.items.node(&term.item) {
                let plane = classes.binary_search(&term.class).expect("contributions name live classes");
                terms[plane].push((node, term.weight));
            }
        }
        let summed = self.summed(&classes, &terms);
        self.fetch_columns(terms.iter().zip(&summed).flat_map(|(terms, &from)| &terms[from..]), control)?;
        self.update_field(&classes, &terms, &summed);
        (self.classes, self.terms) = (classes, terms);
        self.list_nodes();
        while self.made.len() > self.options.columns_kept {
            self.made.pop_front().map(|node| self.columns.remove(&node));
        }
        Ok(())
    }

    /// For every class, how many of its terms the field holds already; 0 means it is summed anew.
    fn summed(&self, classes: &[ClassId], terms: &[Vec<(NodeId, f64)>]) -> Vec<usize> {
        let kept = |plane: usize, terms: &[(NodeId, f64)]| match self.terms.get(plane) {
            Some(old) if classes.starts_with(&self.classes) && terms.starts_with(old) => old.len(),
            _ => 0,
        };
        terms.iter().enumerate().map(|(plane, terms)| kept(plane, terms)).collect()
    }

    /// Makes sure that the columns of these terms are there.
    fn fetch_columns<'t>(&mut self, terms: impl Iterator<Item = &'t (NodeId, f64)>, control: &Control) -> Result<()> {
        let mut missing: Vec<NodeId> = terms.map(|&(node, _)| node).collect();
        missing.sort_unstable();
        missing.dedup();
        missing.retain(|node| !self.columns.contains_key(node));
        let columns = self.setting.kernel.columns(&missing, control)?;
        self.made.extend(&missing);
        self.columns.extend(missing.into_iter().zip(columns));
        Ok(())
    }

    fn update_field(&mut self, classes: &[ClassId], terms: &[Vec<(NodeId, f64)>], summed: &[usize]) {
        let (prior_strength, _) = self.labels.settings().expect("a session has settings");
        self.field.set_prior_strength(prior_strength);
        self.field.resize_classes(classes.len());
        for (plane, (terms, &from)) in terms.iter().zip(summed).enumerate() {
            if from == 0 {
                self.field.clear(plane);
            }
            for (node, weight) in &terms[from..] {
                self.field.add(plane, *weight, &self.columns[node]);
            }
        }
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
        Situation { field: &self.field, labelled: &self.labelled, seed: self.options.seed, round: self.round() }
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
        &self.field
    }

    /// The live classes, in the order of the planes of the field.
    pub fn classes(&self) -> &[ClassId] {
        &self.classes
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
    pub fn prediction(&self, node: NodeId) -> Prediction {
        Prediction {
            class: self.classes[self.field.class(node)],
            probabilities: self.field.mean(node),
            variance: self.field.variance(node),
            evidence: self.field.evidence(node),
            reached: self.labelled.iter().any(|&source| self.setting.kernel.reaches(source, node)),
        }
    }
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
