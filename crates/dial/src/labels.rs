//! Labels as a log of events, and the state that is their replay.
//!
//! The log is the truth: events are only appended, and everything else is derived from it. An event names a permanent
//! item id, a permanent class id and a group; undo and redo are events that name a group. A state after any sequence of
//! events is what a fresh replay of the log gives, because both run the same code: an undo or redo simply replays.
//!
//! What counts: of each annotator the latest live label of an item. Several annotators of one item share one observation:
//! their weights are scaled to sum to 1. A label is a list of (class, weight), so "unsure" is a label too. Skipped items
//! are not asked again; excluded items are not asked and their labels do not count.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::events::{Change, Event};
use crate::field::MODERATE;
use crate::ids::ClassId;

/// A class of the schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// Its present name.
    pub name: String,
    /// The class that took its labels, if it was merged away.
    pub merged_into: Option<ClassId>,
}

/// One term of the evidence: an item's weight for a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Contribution {
    /// The item.
    pub item: String,
    /// The class, after merges.
    pub class: ClassId,
    /// The weight, after sharing among annotators.
    pub weight: f64,
}

/// The log and the state it replays to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    events: Vec<Event>,
    undone: BTreeSet<u64>,
    /// One more than the largest group.
    next_group: u64,
    state: State,
}

/// What the live events say.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    classes: Vec<Class>,
    items: BTreeMap<String, Marks>,
    weights: BTreeMap<String, f64>,
    settings: Option<(f64, usize)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Marks {
    /// Latest live label of each annotator, with its place in the log.
    labels: BTreeMap<String, (usize, Vec<(ClassId, f64)>)>,
    skipped: bool,
    excluded: bool,
}

impl Labels {
    /// The state of a log.
    ///
    /// # Errors
    /// The first event that could not have been appended.
    pub fn replay(events: impl IntoIterator<Item = Event>) -> Result<Labels> {
        let mut labels = Labels::default();
        for event in events {
            labels.append(event)?;
        }
        Ok(labels)
    }

    /// Appends an event, or leaves everything as it was.
    pub fn append(&mut self, event: Event) -> Result<()> {
        let Some(after) = event.group.checked_add(1) else {
            return Err(Error::Conflict(format!("group {} is reserved. Use a smaller number.", event.group)));
        };
        match event.change {
            Change::Undo { group } => self.undo(group)?,
            Change::Redo { group } => self.redo(group)?,
            _ if self.undone.contains(&event.group) => {
                return Err(Error::Conflict(format!("group {} was undone. Use a new group.", event.group)));
            }
            _ => self.state.apply(self.events.len(), &event)?,
        }
        self.next_group = self.next_group.max(after);
        self.events.push(event);
        Ok(())
    }

    /// Drops the last event again: for a caller that could not act on it.
    pub(crate) fn drop_last(&mut self) {
        self.events.pop();
        *self = Labels::replay(std::mem::take(&mut self.events)).expect("a prefix of a log is a log");
    }

    fn undo(&mut self, group: u64) -> Result<()> {
        if self.undone.contains(&group) || !self.holds(group) {
            return Err(Error::Conflict(format!("group {group} is not there to undo. Name a live group.")));
        }
        self.undone.insert(group);
        self.replay_live().inspect_err(|_| {
            self.undone.remove(&group);
        })
    }

    fn redo(&mut self, group: u64) -> Result<()> {
        if !self.undone.remove(&group) {
            return Err(Error::Conflict(format!("group {group} was not undone. Name an undone group.")));
        }
        self.replay_live().inspect_err(|_| {
            self.undone.insert(group);
        })
    }

    /// Whether a group has an event that can be undone.
    fn holds(&self, group: u64) -> bool {
        let counts = |event: &Event| !matches!(event.change, Change::Undo { .. } | Change::Redo { .. });
        self.events.iter().any(|event| event.group == group && counts(event))
    }

    /// Replays the live events; the state changes only if all of them still apply.
    fn replay_live(&mut self) -> Result<()> {
        let mut state = State::default();
        for (place, event) in self.events.iter().enumerate() {
            if !self.undone.contains(&event.group) {
                state.apply(place, event).map_err(|error| {
                    Error::Conflict(format!("later events need this one: {error} Undo those first."))
                })?;
            }
        }
        let lost = |before: bool, after: bool| before && !after;
        if lost(self.state.settings.is_some(), state.settings.is_some()) || lost(self.state.usable(), state.usable()) {
            return Err(Error::Conflict("a project keeps its settings and two classes. Undo something else.".into()));
        }
        self.state = state;
        Ok(())
    }

    /// The log.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// A group number that no event has used.
    pub fn new_group(&self) -> u64 {
        self.next_group
    }

    /// The latest live group of labels, skips or exclusions by an annotator: what their undo key takes back.
    pub fn last_group(&self, annotator: &str) -> Option<u64> {
        let mine = |event: &&Event| {
            event.annotator == annotator
                && !self.undone.contains(&event.group)
                && matches!(event.change, Change::Label { .. } | Change::Skip { .. } | Change::Exclude { .. })
        };
        self.events.iter().rev().find(mine).map(|event| event.group)
    }

    /// Every class ever added, by id.
    pub fn schema(&self) -> &[Class] {
        &self.state.classes
    }

    /// The classes that labels may use, in the order of their ids.
    pub fn classes(&self) -> Vec<ClassId> {
        let live = |(id, class): (usize, &Class)| class.merged_into.is_none().then_some(ClassId(id as u16));
        self.state.classes.iter().enumerate().filter_map(live).collect()
    }

    /// The live class of a name.
    pub fn class_named(&self, name: &str) -> Result<ClassId> {
        let found = self.classes().into_iter().find(|class| self.state.classes[class.index()].name == name);
        found.ok_or_else(|| Error::UnknownClass(format!("{name:?}")))
    }

    /// α₀ and K̂, once they are fixed.
    pub fn settings(&self) -> Option<(f64, usize)> {
        self.state.settings
    }

    /// The items with a live label that counts, in the order of their ids.
    pub fn labelled(&self) -> impl Iterator<Item = &str> {
        let counts = |(_, marks): &(&String, &Marks)| !marks.labels.is_empty() && !marks.excluded;
        self.state.items.iter().filter(counts).map(|(item, _)| item.as_str())
    }

    /// The items that are not to be asked: labelled, skipped or excluded.
    pub fn closed(&self) -> impl Iterator<Item = &str> {
        self.state.items.iter().filter(|(_, marks)| marks.closed()).map(|(item, _)| item.as_str())
    }

    /// The terms of the evidence in the order of their events.
    pub fn contributions(&self) -> Vec<Contribution> {
        let mut terms = Vec::new();
        for (item, marks) in self.state.items.iter().filter(|(_, marks)| !marks.excluded) {
            let weight = |annotator: &String| self.state.weights.get(annotator).copied().unwrap_or(1.0);
            let all: f64 = marks.labels.keys().map(weight).sum();
            for (annotator, (place, classes)) in &marks.labels {
                for &(class, share) in classes {
                    let class = self.state.resolve(class);
                    let weight = weight(annotator) / all * share;
                    terms.push((*place, Contribution { item: item.clone(), class, weight }));
                }
            }
        }
        terms.sort_by_key(|(place, _)| *place);
        terms.into_iter().map(|(_, term)| term).collect()
    }
}

impl Marks {
    fn closed(&self) -> bool {
        self.skipped || self.excluded || !self.labels.is_empty()
    }
}

impl State {
    fn apply(&mut self, place: usize, event: &Event) -> Result<()> {
        match &event.change {
            Change::AddClass { class, name } => self.add_class(*class, name),
            Change::RenameClass { class, name } => self.rename_class(*class, name),
            Change::MergeClass { from, into } => self.merge_class(*from, *into),
            Change::Label { item, classes } => {
                self.check_label(item, classes)?;
                self.marks(item).labels.insert(event.annotator.clone(), (place, classes.clone()));
                Ok(())
            }
            Change::Skip { item } => {
                self.marks(item).skipped = true;
                Ok(())
            }
            Change::Exclude { item } => {
                self.marks(item).excluded = true;
                Ok(())
            }
            Change::Weight { annotator, weight } => {
                check_positive("annotator weight", *weight)?;
                self.weights.insert(annotator.clone(), *weight);
                Ok(())
            }
            Change::Settings { prior_strength, expected_clusters } => {
                check_positive("prior", *prior_strength)?;
                check_positive("expected-clusters", *expected_clusters as f64)?;
                self.settings = Some((*prior_strength, *expected_clusters));
                Ok(())
            }
            Change::Undo { .. } | Change::Redo { .. } => Ok(()),
        }
    }

    fn marks(&mut self, item: &str) -> &mut Marks {
        self.items.entry(item.to_string()).or_default()
    }

    /// Whether there are classes to choose between.
    fn usable(&self) -> bool {
        self.classes.iter().filter(|class| class.merged_into.is_none()).count() >= 2
    }

    /// The live class that stands for a class after merges.
    fn resolve(&self, class: ClassId) -> ClassId {
        self.classes[class.index()].merged_into.map_or(class, |into| self.resolve(into))
    }

    fn live(&self, class: ClassId) -> Result<()> {
        match self.classes.get(class.index()) {
            Some(Class { merged_into: None, .. }) => Ok(()),
            _ => Err(Error::UnknownClass(class.0.to_string())),
        }
    }

    fn check_name(&self, name: &str) -> Result<()> {
        if self.classes.iter().any(|class| class.merged_into.is_none() && class.name == name) {
            return Err(Error::Conflict(format!("there is a class {name:?} already. Choose another name.")));
        }
        Ok(())
    }

    fn add_class(&mut self, class: ClassId, name: &str) -> Result<()> {
        self.check_name(name)?;
        if class.index() != self.classes.len() {
            let next = self.classes.len();
            return Err(Error::Conflict(format!("class ids are given in order: the next is {next}, not {}.", class.0)));
        }
        self.classes.push(Class { name: name.to_string(), merged_into: None });
        Ok(())
    }

    fn rename_class(&mut self, class: ClassId, name: &str) -> Result<()> {
        self.live(class)?;
        if self.classes[class.index()].name != name {
            self.check_name(name)?;
        }
        self.classes[class.index()].name = name.to_string();
        Ok(())
    }

    fn merge_class(&mut self, from: ClassId, into: ClassId) -> Result<()> {
        self.live(from)?;
        self.live(into)?;
        if from == into {
            return Err(Error::Conflict(format!("class {} cannot be merged into itself. Name two classes.", from.0)));
        }
        let left = self.classes.iter().filter(|class| class.merged_into.is_none()).count() - 1;
        if left < 2 {
            return Err(Error::TooFewClasses(left));
        }
        self.classes[from.index()].merged_into = Some(into);
        Ok(())
    }

    fn check_label(&self, item: &str, classes: &[(ClassId, f64)]) -> Result<()> {
        let refuse = |why: &str| Err(Error::BadLabel { item: item.to_string(), why: why.to_string() });
        if classes.is_empty() {
            return refuse("names no class");
        }
        for (place, &(class, weight)) in classes.iter().enumerate() {
            self.live(class)?;
            if classes[..place].iter().any(|&(other, _)| other == class) {
                return refuse("names a class twice");
            }
            if !(weight.is_finite() && weight > 0.0) {
                return refuse("has a weight that is not above 0");
            }
        }
        // A hair above 1 is rounding, as in ten weights of 0.1.
        if classes.iter().map(|(_, weight)| weight).sum::<f64>() > 1.0 + 1e-9 {
            return refuse("has weights that sum to more than 1");
        }
        Ok(())
    }
}

fn check_positive(name: &'static str, value: f64) -> Result<()> {
    if MODERATE.contains(&value) {
        return Ok(());
    }
    Err(Error::BadSetting { name, want: "a number from 1e-100 to 1e100", got: value.to_string() })
}
