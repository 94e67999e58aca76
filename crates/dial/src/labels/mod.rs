//! Labels as a log of events, and the state that is their replay.
//!
//! The log is the truth: events are only appended, and everything else is derived from it. An event names a permanent
//! item id, a permanent class id and a group; undo and redo are events that name a group. A state after any sequence of
//! events is what a fresh replay of the log gives.
//!
//! ```text
//! event of the schema   class, weight, settings: few, and an undo or redo of one replays them, but not the answers
//! answer                keeps its place; an undo takes it from its item, a redo puts it back
//!                       valid as long as its classes live at its place: that is looked up by class
//! ```
//!
//! So an undo or redo costs what its group touches, and never a replay of the log.
//!
//! What counts: of each annotator the latest live label of an item. Several annotators of one item share one observation:
//! their weights are scaled to sum to 1; a label that adjudicates between them counts alone. A label is a list of (class,
//! weight), so "unsure" is a label too. Skipped items are not asked again; excluded items are not asked and their labels do
//! not count. A class that is deleted is taken out of all labels, and a label of nothing else is gone, until an undo brings
//! it back.

pub mod events;
pub(crate) mod schema;
pub(crate) mod state;

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::labels::events::{Change, Class, ClassStatus, Event};
use crate::labels::schema::Schema;
use crate::labels::state::{ItemState, State};

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
    /// The places of the events of every group.
    groups: BTreeMap<u64, Vec<usize>>,
    /// Those that are taken back.
    undone: BTreeSet<u64>,
    /// The places of the events of the schema.
    schema_events: Vec<usize>,
    /// One more than the largest class id that any event ever named.
    next_class: usize,
    state: State,
}

/// Groups are below this: whole numbers that every JSON reader keeps.
const LAST_GROUP: u64 = 1 << 53;

impl Labels {
    /// The state of a log. Every event was checked when it was appended; here those that are live at the end are checked
    /// together, so that a log full of undos replays in one go. What `append` and `cut` leave is the same.
    ///
    /// # Errors
    /// An undo or redo of nothing, or a live event that does not apply.
    pub fn replay(events: impl IntoIterator<Item = Event>) -> Result<Labels> {
        let mut labels = Labels::default();
        for event in events {
            labels.check_group(&event)?;
            if let Change::Undo { group } | Change::Redo { group } = event.change {
                labels.flip(group);
            }
            labels.push(event);
        }
        for place in 0..labels.events.len() {
            let (before, event) = (&labels.events[..place], &labels.events[place]);
            if !labels.undone.contains(&event.group) {
                labels.state.apply(before, event)?;
            }
        }
        Ok(labels)
    }

    /// Appends an event, or leaves everything as it was.
    pub fn append(&mut self, event: Event) -> Result<()> {
        self.check_class_id(&event)?;
        self.check_group(&event)?;
        match event.change {
            Change::Undo { group } | Change::Redo { group } => self.turn(group)?,
            _ => self.state.apply(&self.events, &event)?,
        }
        self.push(event);
        Ok(())
    }

    /// Keeps the first events and drops the rest: for a caller that could not act on them. It costs what the rest touches.
    pub fn cut(&mut self, to: usize) {
        let mut schema = false;
        while self.events.len() > to {
            let event = self.pop();
            match event.change {
                Change::Undo { group } | Change::Redo { group } => {
                    self.flip(group);
                    self.move_answers(group);
                    schema |= self.touches_schema(group);
                }
                _ => {
                    self.state.take(self.events.len(), &event);
                    schema |= event.change.is_schema();
                }
            }
        }
        if schema {
            let (schema, _) = self.live_schema();
            self.state.exchange(schema, &self.events);
            self.next_class = (self.schema_events.iter())
                .filter_map(|&place| self.events[place].change.added())
                .max()
                .map_or(0, |class| class.index() + 1);
        }
    }

    /// Whether the groups that an event names may be named.
    fn check_group(&self, event: &Event) -> Result<()> {
        let refuse = |text: String| Err(Error::Conflict(text));
        if event.group >= LAST_GROUP {
            return refuse(format!(
                "group {} is reserved. Use a smaller number.",
                event.group
            ));
        }
        match event.change {
            Change::Undo { group } if self.undone.contains(&group) => refuse(format!(
                "group {group} is undone already. Redo it, or undo another."
            )),
            Change::Undo { group } if !self.is_live(group) => refuse(format!(
                "group {group} holds nothing to undo. Name another group."
            )),
            Change::Redo { group } if !self.undone.contains(&group) => refuse(format!(
                "group {group} was not undone. Name an undone group."
            )),
            Change::Undo { .. } | Change::Redo { .. } => Ok(()),
            _ if self.undone.contains(&event.group) => refuse(format!(
                "group {} was undone. Use a new group.",
                event.group
            )),
            _ => Ok(()),
        }
    }

    /// Class ids are given in order and never twice, even if the class was undone.
    fn check_class_id(&self, event: &Event) -> Result<()> {
        match event.change.added() {
            Some(class) if class.index() != self.next_class => Err(Error::Conflict(format!(
                "class ids are given in order and never again: the next is {}, not {}.",
                self.next_class, class.0
            ))),
            _ => Ok(()),
        }
    }

    /// Appends an event to the log and its indices.
    fn push(&mut self, event: Event) {
        let place = self.events.len();
        // Most groups are one event.
        let places = self.groups.entry(event.group);
        places.or_insert_with(|| Vec::with_capacity(1)).push(place);
        if event.change.is_schema() {
            self.schema_events.push(place);
        }
        if let Some(class) = event.change.added() {
            self.next_class = self.next_class.max(class.index() + 1);
        }
        self.events.push(event);
    }

    /// Takes the last event from the log and its indices.
    fn pop(&mut self) -> Event {
        let event = self.events.pop().expect("there is a last event");
        let places = self.groups.get_mut(&event.group);
        if places.is_some_and(|places| places.pop().is_some() && places.is_empty()) {
            self.groups.remove(&event.group);
        }
        if event.change.is_schema() {
            self.schema_events.pop();
        }
        event
    }

    /// A live group is undone, and an undone one live.
    fn flip(&mut self, group: u64) {
        if !self.undone.remove(&group) {
            self.undone.insert(group);
        }
    }

    /// Undoes a live group or brings an undone one back, or leaves everything as it was because other events need it as it is.
    fn turn(&mut self, group: u64) -> Result<()> {
        self.flip(group);
        let turned = self.turned(group);
        if turned.is_err() {
            self.flip(group);
        }
        if let Some(schema) = turned? {
            self.state.exchange(schema, &self.events);
        }
        self.move_answers(group);
        Ok(())
    }

    /// The schema now that a group was flipped, if the group touches it.
    ///
    /// # Errors
    /// A live event that would not apply any more, or too little that would be left.
    fn turned(&self, group: u64) -> Result<Option<Schema>> {
        let before = &self.state.schema;
        let (schema, mut broken) = match self.touches_schema(group) {
            true => {
                let (schema, broken) = self.live_schema();
                (Some(schema), broken)
            }
            false => (None, BTreeSet::new()),
        };
        if let Some(schema) = &schema {
            self.break_others(schema, group, &mut broken);
        }
        let after = schema.as_ref().unwrap_or(before);
        if !self.undone.contains(&group) {
            self.break_own(after, group, &mut broken);
        }
        if let Some(&first) = broken.first() {
            return Err(self.needed(first, broken.len()));
        }
        let lost = |before: bool, after: bool| before && !after;
        if lost(before.settings.is_some(), after.settings.is_some()) {
            let text = "it also holds the settings of the project, which the answers after it need. Give the item another \
                        label instead.";
            return Err(Error::Conflict(text.into()));
        }
        if lost(before.usable(), after.usable()) {
            let text = "fewer than two classes would be left. Undo something else.";
            return Err(Error::Conflict(text.into()));
        }
        Ok(schema)
    }

    /// What the live events say about the schema, and those of them that do not apply, by their places.
    fn live_schema(&self) -> (Schema, BTreeSet<usize>) {
        let (mut schema, mut broken) = (Schema::default(), BTreeSet::new());
        for &place in &self.schema_events {
            let event = &self.events[place];
            if !self.undone.contains(&event.group) && schema.apply(place, &event.change).is_err() {
                broken.insert(place);
            }
        }
        (schema, broken)
    }

    /// Finds live labels of other groups whose classes do not live at their places under a schema.
    fn break_others(&self, schema: &Schema, group: u64, broken: &mut BTreeSet<usize>) {
        for (&class, places) in &self.state.uses {
            let life = schema.life(class);
            if life == self.state.schema.life(class) {
                continue;
            }
            let outside = places.range(..life.start).chain(places.range(life.end..));
            broken.extend(outside.filter(|place| self.events[**place].group != group));
        }
    }

    /// Finds labels of a group that could not return to their places under a schema.
    fn break_own(&self, schema: &Schema, group: u64, broken: &mut BTreeSet<usize>) {
        for &place in self.groups.get(&group).into_iter().flatten() {
            if let Change::Label { item, classes, .. } = &self.events[place].change
                && schema.check_label(place, item, classes).is_err()
            {
                broken.insert(place);
            }
        }
    }

    fn touches_schema(&self, group: u64) -> bool {
        let mut places = self.groups.get(&group).into_iter().flatten();
        places.any(|&place| self.events[place].change.is_schema())
    }

    /// Puts the answers of a group that was flipped at their places, or takes them away.
    fn move_answers(&mut self, group: u64) {
        let live = !self.undone.contains(&group);
        for &place in self.groups.get(&group).into_iter().flatten() {
            match live {
                true => self.state.put(place, &self.events[place]),
                false => self.state.take(place, &self.events[place]),
            }
        }
    }

    /// Why a group cannot be undone or redone: later events would not apply any more, this one and others.
    fn needed(&self, first: usize, count: usize) -> Error {
        let event = &self.events[first];
        let first = format!("{} (group {})", self.in_words(&event.change), event.group);
        Error::Conflict(match count {
            1 => format!("{first} builds on it. Undo that first."),
            many => {
                let more = many - 1;
                format!("{first} and {more} more decisions build on it. Undo those first.")
            }
        })
    }

    /// A change as a person would say it, with the present names of classes.
    fn in_words(&self, change: &Change) -> String {
        let class = |class: &ClassId| {
            let known = self.schema().get(class.index());
            known.map_or("?", |known| known.name.as_str())
        };
        match change {
            Change::Label { item, classes, .. } => {
                let names: Vec<&str> = classes.iter().map(|(id, _)| class(id)).collect();
                format!("the label of {item}, {},", names.join(" or "))
            }
            Change::RenameClass { name, .. } => format!("the new name {name}"),
            Change::MergeClass { from, into } => {
                format!("the merge of {} into {}", class(from), class(into))
            }
            Change::AddClass { name, .. } => format!("the class {name}"),
            Change::DeleteClass { class: gone } => format!("the deletion of {}", class(gone)),
            Change::OrderClasses { .. } => "the order of the classes".into(),
            _ => "another decision".into(),
        }
    }

    /// The log.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// A group number that no event has used.
    pub fn new_group(&self) -> u64 {
        (self.groups.last_key_value()).map_or(0, |(group, _)| group + 1)
    }

    /// The latest live group by an annotator that says something about an item, or renames or merges classes: what their
    /// undo key takes back.
    pub fn last_group(&self, annotator: &str) -> Option<u64> {
        let last = self.state.undoable.get(annotator)?.last()?;
        Some(self.events[*last].group)
    }

    /// Whether a group holds something and is not taken back.
    pub fn is_live(&self, group: u64) -> bool {
        let turns =
            |event: &Event| matches!(event.change, Change::Undo { .. } | Change::Redo { .. });
        !self.undone.contains(&group) && self.group(group).any(|event| !turns(event))
    }

    /// The events of a group.
    pub fn group(&self, group: u64) -> impl Iterator<Item = &Event> {
        let places = self.groups.get(&group).into_iter().flatten();
        places.map(|&place| &self.events[place])
    }

    /// How many events an undo or redo of a group has to look at: its own, those of the schema if it touches that, and the
    /// labels of a class that it deletes.
    pub fn cost(&self, group: u64) -> usize {
        let schema = match self.touches_schema(group) {
            true => self.schema_events.len(),
            false => 0,
        };
        let deletes = |event: &Event| matches!(event.change, Change::DeleteClass { .. });
        let labels = match self.group(group).any(deletes) {
            true => self.events.len(),
            false => 0,
        };
        self.groups.get(&group).map_or(0, Vec::len) + schema + labels
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
        &self.state.schema.classes
    }

    /// The classes that labels may use, in the order of their ids.
    pub fn classes(&self) -> Vec<ClassId> {
        let live = |(id, class): (usize, &Class)| {
            (class.status == ClassStatus::Live).then_some(ClassId(id as u16))
        };
        self.state
            .schema
            .classes
            .iter()
            .enumerate()
            .filter_map(live)
            .collect()
    }

    /// The same in the order in which people see them.
    pub fn classes_in_order(&self) -> Vec<ClassId> {
        let live = self.classes();
        let first = self.state.schema.order.iter().copied();
        let first: Vec<ClassId> = first.filter(|class| live.contains(class)).collect();
        let rest = live.into_iter().filter(|class| !first.contains(class));
        let rest: Vec<ClassId> = rest.collect();
        [first, rest].concat()
    }

    /// The live class of a name.
    pub fn class_named(&self, name: &str) -> Result<ClassId> {
        let found = self.state.schema.names.get(name).copied();
        found.ok_or_else(|| Error::UnknownClass(format!("{name:?}")))
    }

    /// Whether labels may use a class.
    pub fn is_live_class(&self, class: ClassId) -> bool {
        let known = self.state.schema.classes.get(class.index());
        known.is_some_and(|known| known.status == ClassStatus::Live)
    }

    /// How many class ids were ever given, those of classes whose addition was undone included.
    pub fn class_ids(&self) -> usize {
        self.next_class
    }

    /// α₀ and K̂, once they are fixed.
    pub fn settings(&self) -> Option<(f64, usize)> {
        self.state.schema.settings
    }

    /// The items with a live label that counts, in the order of their ids.
    pub fn labelled(&self) -> impl Iterator<Item = &str> {
        let counts = |(_, marks): &(&String, &ItemState)| marks.labelled() && !marks.excluded();
        self.state
            .items
            .iter()
            .filter(counts)
            .map(|(item, _)| item.as_str())
    }

    /// The live labels of an item by annotator; also those of an excluded item.
    pub fn labels_of(&self, item: &str) -> impl Iterator<Item = (&str, &[(ClassId, f64)])> {
        let labels = self.state.items.get(item).into_iter();
        let labels = labels.flat_map(ItemState::labels);
        labels.map(|(annotator, answer)| (annotator, answer.classes.as_slice()))
    }

    /// The live label that an annotator gave an item.
    pub fn label_of(&self, item: &str, annotator: &str) -> Option<&[(ClassId, f64)]> {
        let answer = self.state.items.get(item)?.label(annotator)?;
        Some(&answer.classes)
    }

    /// The annotators whose label of an item counts; also of an excluded item. Where one adjudicates, there is no other.
    pub fn counted(&self, item: &str) -> impl Iterator<Item = &str> {
        let items = self.state.items.get(item).into_iter();
        items.flat_map(|marks| marks.counted().map(|(annotator, _)| annotator))
    }

    /// Whether the label that an annotator gave an item adjudicates.
    pub fn adjudicates(&self, item: &str, annotator: &str) -> bool {
        let answer = (self.state.items.get(item)).and_then(|marks| marks.label(annotator));
        answer.is_some_and(|answer| answer.adjudicates)
    }

    /// How much an annotator counts beside others.
    pub fn weight_of(&self, annotator: &str) -> f64 {
        let weights = &self.state.schema.weights;
        weights.get(annotator).copied().unwrap_or(1.0)
    }

    /// The place among the events of the live label that an annotator gave an item.
    pub fn place_of(&self, item: &str, annotator: &str) -> Option<usize> {
        Some(self.state.items.get(item)?.label(annotator)?.place)
    }

    /// Whether a label could be taken: its classes live, its weights sensible.
    ///
    /// # Errors
    /// Why not.
    pub fn check_label(&self, item: &str, classes: &[(ClassId, f64)]) -> Result<()> {
        let place = self.events.len();
        self.state.schema.check_label(place, item, classes)
    }

    /// Whether an item was skipped, and whether it was excluded.
    pub fn marks_of(&self, item: &str) -> (bool, bool) {
        self.state
            .items
            .get(item)
            .map_or((false, false), |marks| (marks.skipped(), marks.excluded()))
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
        let counting = self.state.items.iter();
        for (item, marks) in counting.filter(|(_, marks)| !marks.excluded()) {
            let all: f64 = marks.counted().map(|(who, _)| self.weight_of(who)).sum();
            for (annotator, answer) in marks.counted() {
                for &(class, share) in &answer.classes {
                    let class = self.state.schema.resolve(class);
                    let weight = self.weight_of(annotator) / all * share;
                    terms.push((
                        answer.place,
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
