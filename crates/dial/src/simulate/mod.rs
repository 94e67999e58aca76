//! A session against known labels: the paper's experiments (`sec:results`).
//!
//! ```text
//! label the initial nodes; then, until enough was asked:  ask -> look the label up -> tell -> record
//! ```
//!
//! Recorded after every question: the accuracy on the unlabelled nodes and the number of clusters met. Nodes whose truth
//! is unknown stay in the graph but are neither asked nor scored. Trials differ by their seed only and run in parallel;
//! their records do not depend on the number of threads.
//!
//! Answers may be wrong: with noise q the answer for a node is, with probability q, one of the other classes, drawn once
//! for each node and seed, so that all methods meet the same errors. Initial labels are right, and accuracy is always
//! measured against the truth.

pub mod metrics;

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use crate::belief::calibration::Readout;
use crate::belief::field::DirichletField;
use crate::classifiers::Classifier;
use crate::control::Control;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::ids::{ClassId, NodeId};
use crate::labels::events::Change;
use crate::seed::{Purpose, Random};
use crate::session::Session;
use crate::session::question::Question;
use crate::simulate::metrics::{Measures, Tally};
use crate::words::words;

/// The known labels.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Class names.
    pub names: Vec<String>,
    /// The class of every node, where known.
    pub classes: Vec<Option<ClassId>>,
    /// The cluster of every node, where known: often the class, or what the classes were made from.
    pub clusters: Vec<Option<u32>>,
}

/// What a simulation labels before its first question.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Initial {
    /// One random node of every class.
    #[default]
    OnePerClass,
    /// Nothing.
    None,
    /// These nodes.
    Nodes(Vec<NodeId>),
}

/// What a simulation knows of the classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Classes {
    /// All of them from the start: the paper's protocol.
    #[default]
    Known,
    /// Those it has met: each is added with its first label, as in a project that was made without
    /// classes.
    Met,
}

words!(Classes, "classes", { Known => "known", Met => "met" });

/// How much is asked.
#[derive(Clone)]
pub struct Plan<'a> {
    /// Labels given before the first question.
    pub initial: Initial,
    /// Whether the classes are known before they are met.
    pub classes: Classes,
    /// Number of questions.
    pub queries: usize,
    /// Questions asked at once.
    pub batch: usize,
    /// Classifiers that are scored on the questions beside the Dirichlet field.
    pub judges: Vec<Arc<dyn Classifier + 'a>>,
    /// Accuracies are measured each time this many questions were asked and at the end; in between the last ones are repeated.
    pub score_every: usize,
    /// [`Measures`] are taken beside accuracy each time this many questions were scored, and at the end; 0:
    /// never. In between the last ones are repeated.
    pub measure_every: usize,
    /// The probability that an answer is wrong, from 0 to 1.
    pub noise: f64,
}

impl Default for Plan<'_> {
    /// The paper's protocol: one initial label per class, 100 questions one at a time.
    fn default() -> Self {
        Plan {
            initial: Initial::OnePerClass,
            classes: Classes::Known,
            queries: 100,
            batch: 1,
            judges: Vec::new(),
            score_every: 1,
            measure_every: 0,
            noise: 0.0,
        }
    }
}

/// The state after a question; the first record is the state after the initial labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The number of the question; 0 for the initial labels.
    pub query: usize,
    /// The node asked.
    pub node: Option<NodeId>,
    /// The class of the label.
    pub class: Option<ClassId>,
    /// Whether it was asked in a batch beside a graph neighbour, for want of others.
    pub crowded: bool,
    /// Number of labelled nodes.
    pub labelled: usize,
    /// Share of the unlabelled nodes of known truth that are classified right (1 if there are none).
    pub accuracy: f64,
    /// The same for each of the judges.
    pub judged: Vec<f64>,
    /// Balance and calibration over the same nodes, where the plan wants them.
    pub measures: Option<Measures>,
    /// Number of clusters with a labelled node.
    pub clusters_found: usize,
    /// Seconds for asking and telling, by the caller's clock.
    pub seconds: f64,
}

/// A clock in seconds. The core reads no clock itself; tests pass one that stands still.
pub type Clock<'a> = &'a (dyn Fn() -> f64 + Sync);

/// Runs one trial under the seed of the engine; returns its records and the session it ended in.
///
/// # Errors
/// Initial nodes without a known class, or what a session may fail with.
pub fn trial<'a>(
    engine: &Engine<'a>,
    truth: &Truth,
    plan: &Plan<'a>,
    clock: Clock<'_>,
    control: &Control,
) -> Result<(Vec<Record>, Session<'a>)> {
    let (n, clusters) = (engine.propagation.n(), truth.clusters.len());
    if truth.classes.len() != n || clusters != n {
        let text = format!(
            "{} classes and {clusters} clusters for {n} nodes. Give one of each.",
            truth.classes.len()
        );
        return Err(Error::Conflict(text));
    }
    if truth.names.len() < 2 {
        return Err(Error::TooFewClasses(truth.names.len()));
    }
    if !(0.0..=1.0).contains(&plan.noise) {
        return Err(Error::setting("noise", "from 0 to 1", plan.noise));
    }
    let allowed = |node: usize| {
        let askable = engine.askable.as_ref();
        askable.is_none_or(|askable| askable.get(node) == Some(&true))
    };
    let known = |(node, class): (usize, &Option<ClassId>)| class.is_some() && allowed(node);
    let askable = truth.classes.iter().enumerate().map(known).collect();
    let seed = engine.config.seed;
    let initial = initial_nodes(truth, &plan.initial, seed)?;
    let engine = engine.clone().asking_only(Some(Arc::new(askable)));
    let names = match plan.classes {
        Classes::Known => truth.names.as_slice(),
        Classes::Met => &[],
    };
    // Trials share the caller's progress, which counts questions; calibrating a prior is not one.
    let mut session = engine.session(names, &control.quiet())?;
    let start = clock();
    for &node in &initial {
        let class = truth.classes[node.index()].expect("initial nodes are of known class");
        tell(&mut session, truth, node, class, control)?;
    }
    let seconds = clock() - start;
    let scores = score(&session, truth, plan, true, control)?;
    let mut records = vec![record(&session, truth, None, scores, seconds)];
    while records.len() <= plan.queries {
        control.check()?;
        let mut start = clock();
        let count = plan.batch.min(plan.queries - (records.len() - 1));
        let asked = match session.ask(count) {
            Err(Error::NothingToAsk) => break,
            asked => asked?,
        };
        let apart = asked.questions.len() - asked.crowded;
        for (place, Question { node, .. }) in asked.questions.into_iter().enumerate() {
            let class = answer(truth, node, plan.noise, seed);
            tell(&mut session, truth, node, class, control)?;
            let (seconds, query) = (clock() - start, records.len());
            let Record {
                accuracy,
                judged,
                measures,
                ..
            } = &records[query - 1];
            let due = |every: usize| query % every.max(1) == 0 || query == plan.queries;
            let scores = match due(plan.score_every) {
                true => score(&session, truth, plan, due(plan.measure_every), control)?,
                false => (*accuracy, judged.clone(), *measures),
            };
            let scores = (scores.0, scores.1, scores.2.or(*measures));
            let next = record(&session, truth, Some((node, class)), scores, seconds);
            records.push(Record {
                query,
                crowded: place >= apart,
                ..next
            });
            control.advance(1)?;
            start = clock();
        }
    }
    Ok((records, session))
}

/// Runs several trials in parallel, trial t under the seed of the engine plus t.
pub fn trials<'a>(
    engine: &Engine<'a>,
    truth: &Truth,
    plan: &Plan<'a>,
    count: usize,
    clock: Clock<'_>,
    control: &Control,
) -> Result<Vec<Vec<Record>>> {
    let run = |t: usize| {
        let seed = engine.config.seed.wrapping_add(t as u64);
        let engine = Engine {
            columns_kept: 0,
            ..engine.seeded(seed)
        };
        trial(&engine, truth, plan, clock, control).map(|(records, _)| records)
    };
    (0..count).into_par_iter().map(run).collect()
}

/// What the oracle answers for a node: its class or, with probability `noise`, one of the others.
fn answer(truth: &Truth, node: NodeId, noise: f64, seed: u64) -> ClassId {
    let class = truth.classes[node.index()].expect("only nodes of known class are asked");
    let mut random = Random::new(seed, Purpose::Oracle, u64::from(node.0));
    if random.uniform() >= noise {
        return class;
    }
    let others = truth.names.len() - 1;
    ClassId(((class.index() + 1 + random.below(others)) % truth.names.len()) as u16)
}

/// Tells the class of a node, which is added if it was not met before.
fn tell(
    session: &mut Session<'_>,
    truth: &Truth,
    node: NodeId,
    class: ClassId,
    control: &Control,
) -> Result<()> {
    let (item, name) = (session.items().id(node), &truth.names[class.index()]);
    let class = match session.labels().class_named(name) {
        Ok(class) => class,
        Err(_) => {
            let class = session.labels().new_class();
            session.append(
                "",
                Change::AddClass {
                    class,
                    name: name.clone(),
                },
                control,
            )?;
            class
        }
    };
    session.tell(&item, class, control)?;
    Ok(())
}

/// The class of the truth that each class of the session is.
fn as_in_truth(session: &Session<'_>, truth: &Truth) -> Vec<ClassId> {
    let same = |class: &ClassId| {
        let name = &session.labels().schema()[class.index()].name;
        let known = truth.names.get(class.index()) == Some(name);
        let found = || truth.names.iter().position(|other| other == name);
        if known {
            *class
        } else {
            ClassId(found().expect("a class of the truth") as u16)
        }
    };
    session.classes().iter().map(same).collect()
}

/// The nodes labelled at the start; the same for every method under one seed.
fn initial_nodes(truth: &Truth, initial: &Initial, seed: u64) -> Result<Vec<NodeId>> {
    match initial {
        Initial::None => Ok(Vec::new()),
        Initial::Nodes(nodes) => {
            let mut distinct: Vec<NodeId> = Vec::new();
            for &node in nodes {
                if !truth.classes.get(node.index()).is_some_and(Option::is_some) {
                    let text = format!(
                        "node {} has no known class to begin with. Choose another.",
                        node.0
                    );
                    return Err(Error::Conflict(text));
                }
                if !distinct.contains(&node) {
                    distinct.push(node);
                }
            }
            Ok(distinct)
        }
        Initial::OnePerClass => {
            let mut random = Random::new(seed, Purpose::Initial, 0);
            let members = |class: usize| -> Vec<NodeId> {
                let of_class =
                    |(_, c): &(NodeId, &Option<ClassId>)| **c == Some(ClassId(class as u16));
                (0..)
                    .map(NodeId)
                    .zip(&truth.classes)
                    .filter(of_class)
                    .map(|(node, _)| node)
                    .collect()
            };
            let pools = (0..truth.names.len())
                .map(members)
                .filter(|members| !members.is_empty());
            Ok(pools
                .map(|members| members[random.below(members.len())])
                .collect())
        }
    }
}

/// Accuracy of the belief, accuracies of the judges, measures.
type Scores = (f64, Vec<f64>, Option<Measures>);

/// What there is to say after a question.
fn record(
    session: &Session<'_>,
    truth: &Truth,
    told: Option<(NodeId, ClassId)>,
    (accuracy, judged, measures): Scores,
    seconds: f64,
) -> Record {
    let labelled = session.labelled();
    let met: BTreeSet<u32> = labelled
        .iter()
        .filter_map(|node| truth.clusters[node.index()])
        .collect();
    Record {
        query: 0,
        crowded: false,
        node: told.map(|(node, _)| node),
        class: told.map(|(_, class)| class),
        labelled: labelled.len(),
        accuracy,
        judged,
        measures,
        clusters_found: met.len(),
        seconds,
    }
}

/// How good the belief and the judges are.
fn score(
    session: &Session<'_>,
    truth: &Truth,
    plan: &Plan<'_>,
    measured: bool,
    control: &Control,
) -> Result<Scores> {
    let belief = session.belief(&control.quiet())?;
    let judge = |model: &Arc<dyn Classifier + '_>| {
        let scores = model.scores(session.terms(), &control.quiet())?;
        Ok(accuracy(session, truth, |node| scores.class(node)))
    };
    let judged = plan.judges.iter().map(judge).collect::<Result<_>>()?;
    let readout = session.readout(&belief);
    let measures =
        (measured && plan.measure_every > 0).then(|| measures(session, &belief, &readout, truth));
    Ok((
        accuracy(session, truth, |node| readout.class(&belief, node)),
        judged,
        measures,
    ))
}

/// The measures of a belief on the unlabelled nodes of known class.
fn measures(
    session: &Session<'_>,
    belief: &DirichletField,
    readout: &Readout,
    truth: &Truth,
) -> Measures {
    let (mut tally, classes) = (Tally::new(belief.n_classes()), as_in_truth(session, truth));
    for (node, class) in unlabelled(session, truth) {
        // A class that was not met yet cannot be right, and has no probability to be measured.
        let Some(plane) = classes.iter().position(|other| *other == class) else {
            continue;
        };
        tally.add(
            &readout.probabilities(belief, node),
            readout.class(belief, node),
            plane,
        );
    }
    let nodes: Vec<NodeId> = unlabelled(session, truth).map(|(node, _)| node).collect();
    Measures {
        expected: readout.accuracy(belief, &nodes),
        ..tally.measures()
    }
}

/// The unlabelled nodes of known class.
fn unlabelled<'a>(
    session: &'a Session<'_>,
    truth: &'a Truth,
) -> impl Iterator<Item = (NodeId, ClassId)> + 'a {
    let known = (0..)
        .map(NodeId)
        .zip(&truth.classes)
        .filter_map(|(node, class)| Some((node, (*class)?)));
    known.filter(move |(node, _)| session.labelled().binary_search(node).is_err())
}

/// How many of the unlabelled nodes of known class a belief ([`Session::belief`]) classifies right, and how many there are.
pub fn scored(session: &Session<'_>, belief: &DirichletField, truth: &Truth) -> (usize, usize) {
    let readout = session.readout(belief);
    counted(session, truth, |node| readout.class(belief, node))
}

/// The same for any classifier that gives the plane of a class for every node.
fn counted(
    session: &Session<'_>,
    truth: &Truth,
    plane: impl Fn(NodeId) -> usize,
) -> (usize, usize) {
    let classes = as_in_truth(session, truth);
    unlabelled(session, truth).fold((0, 0), |(right, all), (node, class)| {
        let is_right = classes.get(plane(node)) == Some(&class);
        (right + usize::from(is_right), all + 1)
    })
}

fn accuracy(session: &Session<'_>, truth: &Truth, plane: impl Fn(NodeId) -> usize) -> f64 {
    match counted(session, truth, plane) {
        (_, 0) => 1.0,
        (right, all) => right as f64 / all as f64,
    }
}
