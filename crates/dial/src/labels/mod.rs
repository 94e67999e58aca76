//! Labels as a log of events, and the state that is their replay.
//!
//! The log is the truth: events are only appended, and everything else is derived from it. An event names a permanent
//! item id, a permanent class id and a group; undo and redo are events that name a group. A state after any sequence of
//! events is what a fresh replay of the log gives, because both run the same code: an undo or redo simply replays.
//!
//! What counts: of each annotator the latest live label of an item. Several annotators of one item share one observation:
//! their weights are scaled to sum to 1. A label is a list of (class, weight), so "unsure" is a label too. Skipped items
//! are not asked again; excluded items are not asked and their labels do not count.

pub mod events;
pub(crate) mod state;

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::labels::events::{Change, Class, Event, Fate};
use crate::labels::state::{Marks, State};

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
    /// Groups that hold something to undo, and those of them that are undone.
    groups: BTreeSet<u64>,
    undone: BTreeSet<u64>,
    /// One more than the largest group, and than the largest class id, that any event ever named.
    next_group: u64,
    next_class: usize,
    state: State,
}

/// Groups are below this: whole numbers that every JSON reader keeps.
const LAST_GROUP: u64 = 1 << 53;

impl Labels {
    /// The state of a log. Every event was checked when it was appended; here those that are live at the end are checked
    /// together, so that a log full of undos replays in one go.
    ///
    /// # Errors
    /// An undo or redo of nothing, or a live event that does not apply.
    pub fn replay(events: impl IntoIterator<Item = Event>) -> Result<Labels> {
        let mut labels = Labels::default();
        for event in events {
            labels.mark(&event)?;
            labels.events.push(event);
        }
        labels.state = labels.live_state()?;
        Ok(labels)
    }

    /// Appends an event, or leaves everything as it was.
    pub fn append(&mut self, event: Event) -> Result<()> {
        let before = (
            self.next_group,
            self.next_class,
            self.groups.contains(&event.group),
        );
        self.check_class_id(&event)?;
        self.mark(&event)?;
        let applied = match event.change {
            Change::Undo { .. } | Change::Redo { .. } => self.replay_live(),
            _ => self.state.apply(self.events.len(), &event),
        };
        if applied.is_err() {
            self.unmark(&event, before);
        }
        applied.map(|()| self.events.push(event))
    }

    /// Keeps so many events and drops the rest: for a caller that could not act on them.
    pub fn cut(&mut self, to: usize) {
        self.events.truncate(to);
        *self =
            Labels::replay(std::mem::take(&mut self.events)).expect("a prefix of a log is a log");
    }

    /// Keeps the books of groups and class ids.
    fn mark(&mut self, event: &Event) -> Result<()> {
        let refuse = |text: String| Err(Error::Conflict(text));
        if event.group >= LAST_GROUP {
            return refuse(format!(
                "group {} is reserved. Use a smaller number.",
                event.group
            ));
        }
        match &event.change {
            Change::Undo { group }
                if !self.groups.contains(group) || !self.undone.insert(*group) =>
            {
                return refuse(format!(
                    "group {group} is not there to undo. Name a live group."
                ));
            }
            Change::Redo { group } if !self.undone.remove(group) => {
                return refuse(format!(
                    "group {group} was not undone. Name an undone group."
                ));
            }
            Change::Undo { .. } | Change::Redo { .. } => {}
            _ if self.undone.contains(&event.group) => {
                return refuse(format!(
                    "group {} was undone. Use a new group.",
                    event.group
                ));
            }
            change => {
                self.groups.insert(event.group);
                if let Change::AddClass { class, .. } = change {
                    self.next_class = self.next_class.max(class.index() + 1);
                }
            }
        }
        self.next_group = self.next_group.max(event.group + 1);
        Ok(())
    }

    /// Takes back what `mark` did for an event that did not apply.
    fn unmark(&mut self, event: &Event, (next_group, next_class, held): (u64, usize, bool)) {
        match &event.change {
            Change::Undo { group } => drop(self.undone.remove(group)),
            Change::Redo { group } => drop(self.undone.insert(*group)),
            _ if !held => drop(self.groups.remove(&event.group)),
            _ => {}
        }
        (self.next_group, self.next_class) = (next_group, next_class);
    }

    /// Class ids are given in order and never twice, even if the class was undone.
    fn check_class_id(&self, event: &Event) -> Result<()> {
        match event.change {
            Change::AddClass { class, .. } if class.index() != self.next_class => {
                Err(Error::Conflict(format!(
                    "class ids are given in order and never again: the next is {}, not {}.",
                    self.next_class, class.0
                )))
            }
            _ => Ok(()),
        }
    }

    /// What the live events say together.
    fn live_state(&self) -> Result<State> {
        let mut state = State::default();
        for (place, event) in self
            .events
            .iter()
            .enumerate()
            .filter(|(_, event)| !self.undone.contains(&event.group))
        {
            state.apply(place, event)?;
        }
        Ok(state)
    }

    /// Replays the live events; the state changes only if all of them still apply.
    fn replay_live(&mut self) -> Result<()> {
        let needed = |error| {
            Error::Conflict(format!(
                "later events need this one: {error} Undo those first."
            ))
        };
        let state = self.live_state().map_err(needed)?;
        let lost = |before: bool, after: bool| before && !after;
        if lost(self.state.settings.is_some(), state.settings.is_some())
            || lost(self.state.usable(), state.usable())
        {
            return Err(Error::Conflict(
                "a project keeps its settings and two classes. Undo something else.".into(),
            ));
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

    /// The latest live group by an annotator that says something about an item, or renames or merges classes: what their
    /// undo key takes back.
    pub fn last_group(&self, annotator: &str) -> Option<u64> {
        let mine = |event: &&Event| {
            event.annotator == annotator
                && !self.undone.contains(&event.group)
                && event.change.is_deed()
        };
        self.events.iter().rev().find(mine).map(|event| event.group)
    }

    /// Whether a group holds something and is not taken back.
    pub fn is_live(&self, group: u64) -> bool {
        self.groups.contains(&group) && !self.undone.contains(&group)
    }

    /// The id of the next class to add.
    ///
    /// # Panics
    /// If all 65,536 ids were given.
    pub fn new_class(&self) -> ClassId {
        ClassId(u16::try_from(self.next_class).expect("there are class ids left"))
    }

    /// Every class ever added, by id; one that was undone has no name until it is brought back.
    pub fn schema(&self) -> &[Class] {
        &self.state.classes
    }

    /// The classes that labels may use, in the order of their ids.
    pub fn classes(&self) -> Vec<ClassId> {
        let live =
            |(id, class): (usize, &Class)| (class.fate == Fate::Live).then_some(ClassId(id as u16));
        self.state
            .classes
            .iter()
            .enumerate()
            .filter_map(live)
            .collect()
    }

    /// The live class of a name.
    pub fn class_named(&self, name: &str) -> Result<ClassId> {
        let found = self
            .classes()
            .into_iter()
            .find(|class| self.state.classes[class.index()].name == name);
        found.ok_or_else(|| Error::UnknownClass(format!("{name:?}")))
    }

    /// α₀ and K̂, once they are fixed.
    pub fn settings(&self) -> Option<(f64, usize)> {
        self.state.settings
    }

    /// The items with a live label that counts, in the order of their ids.
    pub fn labelled(&self) -> impl Iterator<Item = &str> {
        let counts = |(_, marks): &(&String, &Marks)| !marks.labels.is_empty() && !marks.excluded;
        self.state
            .items
            .iter()
            .filter(counts)
            .map(|(item, _)| item.as_str())
    }

    /// The live labels of an item by annotator; also those of an excluded item.
    pub fn labels_of(&self, item: &str) -> impl Iterator<Item = (&str, &[(ClassId, f64)])> {
        let labels = self
            .state
            .items
            .get(item)
            .into_iter()
            .flat_map(|marks| &marks.labels);
        labels.map(|(annotator, (_, classes))| (annotator.as_str(), classes.as_slice()))
    }

    /// The place among the events of the live label that an annotator gave an item.
    pub fn place_of(&self, item: &str, annotator: &str) -> Option<usize> {
        Some(self.state.items.get(item)?.labels.get(annotator)?.0)
    }

    /// Whether a label could be taken: its classes live, its weights sensible.
    ///
    /// # Errors
    /// Why not.
    pub fn check_label(&self, item: &str, classes: &[(ClassId, f64)]) -> Result<()> {
        self.state.check_label(item, classes)
    }

    /// Whether an item was skipped, and whether it was excluded.
    pub fn marks_of(&self, item: &str) -> (bool, bool) {
        self.state
            .items
            .get(item)
            .map_or((false, false), |marks| (marks.skipped, marks.excluded))
    }

    /// The items that are not to be asked: labelled, skipped or excluded.
    pub fn closed(&self) -> impl Iterator<Item = &str> {
        self.state
            .items
            .iter()
            .filter(|(_, marks)| marks.closed())
            .map(|(item, _)| item.as_str())
    }

    /// The terms of the evidence in the order of their events.
    pub fn contributions(&self) -> Vec<Contribution> {
        let mut terms = Vec::new();
        for (item, marks) in self.state.items.iter().filter(|(_, marks)| !marks.excluded) {
            let weight =
                |annotator: &String| self.state.weights.get(annotator).copied().unwrap_or(1.0);
            let all: f64 = marks.labels.keys().map(weight).sum();
            for (annotator, (place, classes)) in &marks.labels {
                for &(class, share) in classes {
                    let class = self.state.resolve(class);
                    let weight = weight(annotator) / all * share;
                    terms.push((
                        *place,
                        Contribution {
                            item: item.clone(),
                            class,
                            weight,
                        },
                    ));
                }
            }
        }
        terms.sort_by_key(|(place, _)| *place);
        terms.into_iter().map(|(_, term)| term).collect()
    }
}
