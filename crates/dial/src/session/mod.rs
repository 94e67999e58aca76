//! A session: ask, tell, and the belief in between.
//!
//! ```text
//! ask   scores of the field -> policy -> item          does not change the state
//! tell  one event appended to the log; the field follows
//! ```
//!
//! The field follows the log (see `evidence`): a state has the bits of a replay of its log. The generator of a question is
//! numbered by the count of labelled items, so a resumed session asks what an uninterrupted one would have asked.

pub mod question;
pub mod view;
pub mod out_of_sample;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock};

use crate::acquisition::Situation;
use crate::belief::calibration::Readout;
use crate::belief::evidence::Evidence;
use crate::belief::field::{DirichletField, Term};
use crate::control::Control;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::ids::{ClassId, Items, NodeId};
use crate::labels::Labels;
use crate::labels::events::{Change, Event};
use crate::opinion::{Labelled, SecondOpinion};
use crate::policy::Chooser;
use crate::policy::leaderboard::Leaders;
use crate::seed::{Purpose, Random};
use crate::session::question::{Ask, Question};

mod lookahead;
mod predictions;

/// A labelling session. See the module for its rules.
pub struct Session<'a> {
    engine: Engine<'a>,
    labels: Labels,
    evidence: Evidence<'a>,
    open: Vec<bool>,
    closed: Vec<NodeId>,
    labelled: Vec<NodeId>,
    order: Vec<NodeId>,
    /// Scores kept up label by label, where labels change the field at some nodes only.
    leaders: Option<Leaders>,
    /// Reads the field of the moment, made when first needed.
    readout: OnceLock<Readout>,
    /// Second opinions of some states of the log: looking ahead goes back and forth between them.
    opinions: Mutex<Vec<(OpinionKey, Arc<SecondOpinion>)>>,
    scratch: Mutex<Scratch>,
}

#[derive(Default)]
struct Scratch {
    scores: Vec<f64>,
    candidates: Vec<(NodeId, f64)>,
    weights: Vec<f64>,
}

/// What a second opinion depends on: the number of classes, and the labels in the order of the log.
type OpinionKey = (usize, Vec<Labelled>);

/// The annotator of events that name none.
const NO_ANNOTATOR: &str = "";

/// Planes that stand for classes without names yet: doubt needs at least two classes.
const UNNAMED_CLASSES: [ClassId; 2] = [ClassId(u16::MAX - 1), ClassId(u16::MAX)];

impl<'a> Engine<'a> {
    /// Starts a session with the given class names: none, if they will be met one by one. This fixes
    /// α₀ and K̂ (the first events of the log).
    ///
    /// # Errors
    /// What calibrating the prior may fail with.
    pub fn session<S: AsRef<str>>(&self, classes: &[S], control: &Control) -> Result<Session<'a>> {
        let settings = self.fix_prior(classes.len().max(UNNAMED_CLASSES.len()), control)?;
        let add = |(id, name): (usize, &S)| Change::AddClass {
            class: ClassId(id as u16),
            name: name.as_ref().to_string(),
        };
        let changes = classes.iter().enumerate().map(add).chain([settings]);
        let events = changes.map(|change| Event {
            group: 0,
            annotator: NO_ANNOTATOR.into(),
            change,
        });
        self.resume(events, control)
    }

    /// Takes up a session from its log.
    ///
    /// # Errors
    /// A log that does not replay or has no settings; items, graph or askable nodes that are not as
    /// many as the propagation has nodes.
    pub fn resume(
        &self,
        events: impl IntoIterator<Item = Event>,
        control: &Control,
    ) -> Result<Session<'a>> {
        let labels = Labels::replay(events)?;
        let Some((prior_strength, _)) = labels.settings() else {
            return Err(Error::Conflict(
                "the log has no settings. Start a new session.".into(),
            ));
        };
        self.check_sizes()?;
        let propagation = Arc::clone(&self.propagation);
        let all = || vec![true; propagation.n()];
        let open = self.askable.as_ref().map_or_else(all, |open| open.to_vec());
        let mut session = Session {
            evidence: Evidence::new(propagation, self.columns_kept, prior_strength),
            engine: self.clone(),
            labels,
            open,
            closed: Vec::new(),
            labelled: Vec::new(),
            order: Vec::new(),
            leaders: None,
            readout: OnceLock::new(),
            opinions: Mutex::default(),
            scratch: Mutex::default(),
        };
        session.follow(control)?;
        Ok(session)
    }
}

impl<'a> Session<'a> {
    /// The items to ask next: one, or a batch, chosen by assuming answers where the acquisition does that, and else without
    /// graph neighbours.
    ///
    /// # Errors
    /// Nothing left to ask (N11), a score that is not a number (N6), or what the acquisition fails with.
    pub fn ask(&self, count: usize) -> Result<Ask> {
        self.ask_under(count, &Control::new())
    }

    /// As [`Session::ask`], where the solves of the acquisition can be cancelled.
    ///
    /// # Errors
    /// As [`Session::ask`], and [`Error::Cancelled`].
    pub fn ask_under(&self, count: usize, control: &Control) -> Result<Ask> {
        if count == 0 {
            return Err(Error::setting("batch", "at least 1", "0"));
        }
        if let (1, Some(leaders)) = (count, &self.leaders) {
            if let Some(node) = leaders.not_a_number() {
                return Err(Error::NanScore(self.engine.items.id(node)));
            }
            let node = self.chooser().choose_leader(leaders, &mut self.random())?;
            return Ok(Ask {
                questions: vec![self.question(node, leaders.scores()[node.index()])],
                crowded: 0,
            });
        }
        // Taken out, not borrowed: an acquisition is the caller's code and may panic or wait.
        let mut scratch = std::mem::take(&mut *self.scratch.lock().expect("no holder panics"));
        let asked = match count > 1 && self.engine.acquisition.assumes_answers() {
            true => self.ask_assuming(count, &mut scratch, control),
            false => self.ask_with(count, &mut scratch, control),
        };
        *self.scratch.lock().expect("no holder panics") = scratch;
        asked
    }

    /// A batch chosen one by one, each as if those before it had been answered.
    fn ask_assuming(&self, count: usize, scratch: &mut Scratch, control: &Control) -> Result<Ask> {
        let (mut field, mut random, mut questions) =
            (self.field().clone(), self.random(), Vec::<Question>::new());
        let Scratch {
            scores,
            candidates,
            weights,
        } = scratch;
        control.start("choosing questions", count);
        while questions.len() < count {
            scores.resize(field.n(), 0.0);
            self.engine.acquisition.scores(
                &Situation {
                    field: &field,
                    ..self.situation(control)
                },
                scores,
            )?;
            self.list_candidates(scores, candidates)?;
            candidates.retain(|(node, _)| questions.iter().all(|question| question.node != *node));
            if candidates.is_empty() && !questions.is_empty() {
                break;
            }
            let chosen = self
                .chooser()
                .choose_batch(candidates, 1, |_, _| false, &mut random, weights)?
                .nodes[0];
            questions.push(self.question(chosen, scores[chosen.index()]));
            if questions.len() < count {
                self.engine.acquisition.assume_answer(
                    &self.situation(control),
                    &mut field,
                    chosen,
                )?;
            }
            control.advance(1)?;
        }
        control.finish();
        Ok(Ask {
            questions,
            crowded: 0,
        })
    }

    /// The nodes that may be asked, with their scores.
    fn list_candidates(&self, scores: &[f64], candidates: &mut Vec<(NodeId, f64)>) -> Result<()> {
        candidates.clear();
        candidates.extend(
            (0..)
                .map(NodeId)
                .zip(scores.iter().copied())
                .filter(|(node, _)| self.open[node.index()]),
        );
        match candidates.iter().find(|(_, score)| score.is_nan()) {
            Some((node, _)) => Err(Error::NanScore(self.engine.items.id(*node))),
            None => Ok(()),
        }
    }

    fn ask_with(&self, count: usize, scratch: &mut Scratch, control: &Control) -> Result<Ask> {
        match &self.leaders {
            Some(leaders) => {
                scratch.scores.clear();
                scratch.scores.extend_from_slice(leaders.scores());
            }
            None => {
                scratch.scores.resize(self.field().n(), 0.0);
                self.engine
                    .acquisition
                    .scores(&self.situation(control), &mut scratch.scores)?;
            }
        }
        self.choose(count, scratch)
    }

    /// The score of every node at this moment, asked or not: what [`Session::ask`] chooses by.
    ///
    /// # Errors
    /// What the acquisition fails with.
    pub fn scores(&self, control: &Control) -> Result<Vec<f64>> {
        let mut scores = vec![0.0; self.field().n()];
        self.engine
            .acquisition
            .scores(&self.situation(control), &mut scores)?;
        Ok(scores)
    }

    /// The items to ask next by scores of the caller's own, one for each node.
    ///
    /// # Errors
    /// As many scores as there are nodes are needed; nothing left to ask (N11), a score that is not a number (N6).
    pub fn ask_by(&self, scores: Vec<f64>, count: usize) -> Result<Ask> {
        let n = self.field().n();
        if scores.len() != n || count == 0 {
            let got = format!("{} scores for {count} questions", scores.len());
            return Err(Error::setting(
                "scores",
                "one for each item, and a question at least",
                got,
            ));
        }
        self.choose(
            count,
            &mut Scratch {
                scores,
                ..Scratch::default()
            },
        )
    }

    /// Chooses by the scores of the scratch.
    fn choose(&self, count: usize, scratch: &mut Scratch) -> Result<Ask> {
        let Scratch {
            scores,
            candidates,
            weights,
        } = scratch;
        self.list_candidates(scores, candidates)?;
        let joined = |a: NodeId, b: NodeId| {
            let solver = || self.engine.propagation.local().map(|local| local.graph());
            let graph = self.engine.graph.as_deref().or_else(solver);
            graph.is_some_and(|graph| graph.adjacent(a, b))
        };
        let batch =
            self.chooser()
                .choose_batch(candidates, count, joined, &mut self.random(), weights)?;
        let question = |&node: &NodeId| self.question(node, scores[node.index()]);
        Ok(Ask {
            questions: batch.nodes.iter().map(question).collect(),
            crowded: batch.crowded,
        })
    }

    fn question(&self, node: NodeId, score: f64) -> Question {
        Question {
            node,
            item: self.engine.items.id(node),
            score,
            error: self.error(node),
        }
    }

    /// The generator of the next question.
    fn random(&self) -> Random {
        Random::new(self.engine.config.seed, Purpose::Ask, self.round())
    }

    /// Tells the class of an item; returns the group to undo it by.
    pub fn tell(&mut self, item: &str, class: ClassId, control: &Control) -> Result<u64> {
        self.append(
            NO_ANNOTATOR,
            Change::label(item, vec![(class, 1.0)]),
            control,
        )
    }

    /// Appends a change as a new group; returns the group.
    pub fn append(&mut self, annotator: &str, change: Change, control: &Control) -> Result<u64> {
        let group = self.labels.new_group();
        self.append_event(
            Event {
                group,
                annotator: annotator.to_string(),
                change,
            },
            control,
        )?;
        Ok(group)
    }

    /// Appends an event, or leaves everything as it was.
    pub fn append_event(&mut self, event: Event, control: &Control) -> Result<()> {
        if let Some(item) = event.change.item() {
            self.engine.items.node(item)?;
        }
        self.labels.append(event)?;
        let followed = self.follow(control);
        if followed.is_err() {
            self.labels.cut(self.labels.events().len() - 1);
        }
        followed
    }

    /// Appends events of a log that was checked elsewhere, and follows once; or leaves everything as it was.
    ///
    /// # Errors
    /// An event that does not apply, or what a solve may fail with.
    pub fn extend(
        &mut self,
        events: impl IntoIterator<Item = Event>,
        control: &Control,
    ) -> Result<()> {
        let before = self.labels.events().len();
        let appended = events
            .into_iter()
            .try_for_each(|event| self.labels.append(event));
        let followed = appended.and_then(|()| self.follow(control));
        if followed.is_err() {
            self.labels.cut(before);
        }
        followed
    }

    /// Takes back the latest live answer of an annotator; returns its group.
    ///
    /// # Errors
    /// Nothing to undo (C5).
    pub fn undo(&mut self, annotator: &str, control: &Control) -> Result<u64> {
        let last = self.labels.last_group(annotator);
        let group = last.ok_or_else(|| {
            Error::Conflict("there is nothing to undo. Label something first.".into())
        })?;
        self.append(annotator, Change::Undo { group }, control)?;
        Ok(group)
    }

    /// Brings the field and the lists of nodes up to the log. Nothing changes unless all columns can be had.
    fn follow(&mut self, control: &Control) -> Result<()> {
        let mut classes = self.labels.classes();
        classes.extend(UNNAMED_CLASSES.iter().skip(classes.len()));
        let mut terms: Vec<Vec<Term>> = vec![Vec::new(); classes.len()];
        let mut order = Vec::new();
        for term in self.labels.contributions() {
            // Items that are no longer in the pool keep their labels in the log.
            if let Ok(node) = self.engine.items.node(&term.item) {
                let plane = classes
                    .binary_search(&term.class)
                    .expect("contributions name live classes");
                terms[plane].push((node, term.weight));
                order.push(node);
            }
        }
        let (prior_strength, _) = self.labels.settings().expect("a session has settings");
        self.evidence
            .follow(&classes, &terms, prior_strength, control)?;
        self.readout = OnceLock::new();
        let mut seen = HashSet::new();
        order.retain(|&node| seen.insert(node));
        self.order = order;
        self.list_nodes();
        Ok(())
    }

    /// Lists the labelled nodes and those that may be asked, and scores again what has changed.
    fn list_nodes(&mut self) {
        let items = &self.engine.items;
        self.labelled = self
            .labels
            .labelled()
            .filter_map(|item| items.node(item).ok())
            .collect();
        self.labelled.sort_unstable();
        let closed: Vec<NodeId> = self
            .labels
            .closed()
            .filter_map(|item| items.node(item).ok())
            .collect();
        let askable = |node: NodeId| {
            self.engine
                .askable
                .as_ref()
                .is_none_or(|askable| askable[node.index()])
        };
        self.closed
            .iter()
            .for_each(|&node| self.open[node.index()] = askable(node));
        closed
            .iter()
            .for_each(|&node| self.open[node.index()] = false);
        let before = std::mem::replace(&mut self.closed, closed);
        self.score_changed(before);
    }

    /// Keeps the leaders up with the field, where that is possible.
    fn score_changed(&mut self, was_closed: Vec<NodeId>) {
        let changed = self.evidence.take_changed();
        let (field, open, acquisition) = (
            &self.evidence.ledger().field,
            &self.open,
            &self.engine.acquisition,
        );
        let mut alpha = Vec::new();
        let mut score = |node: NodeId| {
            field.alpha_into(node, &mut alpha);
            if open[node.index()] {
                acquisition.score_at(&alpha).unwrap_or(f64::NAN)
            } else {
                f64::NEG_INFINITY
            }
        };
        match (changed, &mut self.leaders) {
            (Some(mut nodes), Some(leaders)) => {
                nodes.extend(was_closed.iter().chain(&self.closed));
                leaders.update(&nodes, score);
            }
            _ => {
                let prior = vec![field.prior_strength(); field.n_classes()];
                let certain = [&[1e6 * (1.0 + prior[0])], &prior[1..]].concat();
                let range = acquisition
                    .score_at(&certain)
                    .zip(acquisition.score_at(&prior));
                self.leaders = range.filter(|_| self.evidence.is_local()).map(|range| {
                    let scores = (0..field.n() as u32)
                        .map(|node| score(NodeId(node)))
                        .collect();
                    Leaders::new(scores, range, self.engine.config.seed)
                });
            }
        }
    }

    fn situation<'s>(&'s self, control: &'s Control) -> Situation<'s> {
        let (field, labels, seed, round) = (
            self.field(),
            &self.evidence.ledger().terms,
            self.engine.config.seed,
            self.round(),
        );
        let wanted = self.engine.components.is_some() && self.engine.acquisition.wants_readout();
        Situation {
            field,
            labelled: &self.labelled,
            order: &self.order,
            labels,
            seed,
            round,
            readout: wanted.then(|| self.current_readout()),
            control: Some(control),
        }
    }

    fn chooser(&self) -> Chooser {
        let (_, expected_clusters) = self.labels.settings().expect("a session has settings");
        Chooser {
            policy: self.engine.config.policy,
            sharpness: self.engine.config.sharpness,
            expected_clusters,
            question: self.round() + 1,
            tie_seed: (self.labelled.is_empty() || self.evidence.is_local())
                .then_some(self.engine.config.seed),
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
        &self.evidence.ledger().field
    }

    /// The live classes, in the order of the planes of the field. Where there are fewer than two, more
    /// planes follow, for classes without names yet.
    pub fn classes(&self) -> &[ClassId] {
        let planes = &self.evidence.ledger().classes;
        let named = planes
            .iter()
            .filter(|class| !UNNAMED_CLASSES.contains(class))
            .count();
        &planes[..named]
    }

    /// Whether two classes are known, so that there is something to believe. Questions are as good
    /// before: a label says most where there is no evidence.
    pub fn is_ready(&self) -> bool {
        self.classes().len() >= UNNAMED_CLASSES.len()
    }

    /// The labels of every class, in the order of the planes of the field.
    pub fn terms(&self) -> &[Vec<Term>] {
        &self.evidence.ledger().terms
    }

    /// The nodes with a label that counts, ascending.
    pub fn labelled(&self) -> &[NodeId] {
        &self.labelled
    }

    /// What the session was made from.
    pub fn engine(&self) -> &Engine<'a> {
        &self.engine
    }

    /// The item ids.
    pub fn items(&self) -> &Items {
        &self.engine.items
    }
}
