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

use crate::error::{Error, Result};
use crate::events::{Change, Class, Event, Fate};
use crate::field::MODERATE;
use crate::ids::ClassId;

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
        let before = (self.next_group, self.next_class, self.groups.contains(&event.group));
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
    pub(crate) fn cut(&mut self, to: usize) {
        self.events.truncate(to);
        *self = Labels::replay(std::mem::take(&mut self.events)).expect("a prefix of a log is a log");
    }

    /// Keeps the books of groups and class ids.
    fn mark(&mut self, event: &Event) -> Result<()> {
        let refuse = |text: String| Err(Error::Conflict(text));
        if event.group >= LAST_GROUP {
            return refuse(format!("group {} is reserved. Use a smaller number.", event.group));
        }
        match &event.change {
            Change::Undo { group } if !self.groups.contains(group) || !self.undone.insert(*group) => {
                return refuse(format!("group {group} is not there to undo. Name a live group."));
            }
            Change::Redo { group } if !self.undone.remove(group) => {
                return refuse(format!("group {group} was not undone. Name an undone group."));
            }
            Change::Undo { .. } | Change::Redo { .. } => {}
            _ if self.undone.contains(&event.group) => {
                return refuse(format!("group {} was undone. Use a new group.", event.group));
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
            Change::AddClass { class, .. } if class.index() != self.next_class => Err(Error::Conflict(format!(
                "class ids are given in order and never again: the next is {}, not {}.",
                self.next_class, class.0
            ))),
            _ => Ok(()),
        }
    }

    /// What the live events say together.
    fn live_state(&self) -> Result<State> {
        let mut state = State::default();
        for (place, event) in self.events.iter().enumerate().filter(|(_, event)| !self.undone.contains(&event.group)) {
            state.apply(place, event)?;
        }
        Ok(state)
    }

    /// Replays the live events; the state changes only if all of them still apply.
    fn replay_live(&mut self) -> Result<()> {
        let needed = |error| Error::Conflict(format!("later events need this one: {error} Undo those first."));
        let state = self.live_state().map_err(needed)?;
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
        let live = |(id, class): (usize, &Class)| (class.fate == Fate::Live).then_some(ClassId(id as u16));
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

    /// The live labels of an item by annotator; also those of an excluded item.
    pub fn labels_of(&self, item: &str) -> impl Iterator<Item = (&str, &[(ClassId, f64)])> {
        let labels = self.state.items.get(item).into_iter().flat_map(|marks| &marks.labels);
        labels.map(|(annotator, (_, classes))| (annotator.as_str(), classes.as_slice()))
    }

    /// Whether an item was skipped, and whether it was excluded.
    pub fn marks_of(&self, item: &str) -> (bool, bool) {
        self.state.items.get(item).map_or((false, false), |marks| (marks.skipped, marks.excluded))
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
        self.live_classes() >= 2
    }

    fn live_classes(&self) -> usize {
        self.classes.iter().filter(|class| class.fate == Fate::Live).count()
    }

    /// The live class that stands for a class after merges.
    fn resolve(&self, class: ClassId) -> ClassId {
        match self.classes[class.index()].fate {
            Fate::Merged(into) => self.resolve(into),
            Fate::Live | Fate::Undone => class,
        }
    }

    fn live(&self, class: ClassId) -> Result<()> {
        match self.classes.get(class.index()) {
            Some(Class { fate: Fate::Live, .. }) => Ok(()),
            _ => Err(Error::UnknownClass(class.0.to_string())),
        }
    }

    fn check_name(&self, name: &str) -> Result<()> {
        if self.classes.iter().any(|class| class.fate == Fate::Live && class.name == name) {
            return Err(Error::Conflict(format!("there is a class {name:?} already. Choose another name.")));
        }
        Ok(())
    }

    fn add_class(&mut self, class: ClassId, name: &str) -> Result<()> {
        self.check_name(name)?;
        if class.index() < self.classes.len() {
            return Err(Error::Conflict(format!("class id {} was given before. Use the next one.", class.0)));
        }
        // Ids between were given to classes whose addition is undone.
        self.classes.resize(class.index(), Class { name: String::new(), fate: Fate::Undone });
        self.classes.push(Class { name: name.to_string(), fate: Fate::Live });
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
        let left = self.live_classes() - 1;
        if left < 2 {
            return Err(Error::TooFewClasses(left));
        }
        self.classes[from.index()].fate = Fate::Merged(into);
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
