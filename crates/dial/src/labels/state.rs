//! The state that the live events of a log add up to: the schema, and the labels and marks of items.
//!
//! Every event is validated against the current state; `labels` decides which events are live. An answer keeps its place
//! in the log, and of several the latest counts: so one can be taken back, or return to its place, without a look at the
//! others.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::ids::ClassId;
use crate::labels::events::{Change, Event};
use crate::labels::schema::Schema;

/// The state after the live events.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) schema: Schema,
    pub(crate) items: BTreeMap<String, ItemState>,
    /// The places of the live labels that name a class.
    pub(crate) uses: BTreeMap<ClassId, BTreeSet<usize>>,
    /// The places of what an undo key of each annotator takes back.
    pub(crate) undoable: BTreeMap<String, BTreeSet<usize>>,
}

/// The live answers about an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ItemState {
    /// The labels of each annotator in the order of their places; never none.
    labels: BTreeMap<String, Vec<Answer>>,
    skips: BTreeSet<usize>,
    exclusions: BTreeSet<usize>,
    /// Where it was taken up again.
    reopenings: BTreeSet<usize>,
}

/// A live label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// Its place in the log.
    pub(crate) place: usize,
    /// Without those that were deleted; none may be left.
    pub(crate) classes: Vec<(ClassId, f64)>,
    /// While it stands, it alone counts for the item.
    pub(crate) adjudicates: bool,
}

impl Answer {
    fn is_left(&self) -> bool {
        !self.classes.is_empty()
    }
}

impl ItemState {
    /// The label of each annotator: the latest, unless nothing is left of it.
    pub(crate) fn labels(&self) -> impl Iterator<Item = (&str, &Answer)> {
        let all = self.labels.keys();
        all.filter_map(|annotator| Some((annotator.as_str(), self.label(annotator)?)))
    }

    /// The label of an annotator.
    pub(crate) fn label(&self, annotator: &str) -> Option<&Answer> {
        let latest = self.labels.get(annotator)?.last();
        latest.filter(|answer| answer.is_left())
    }

    /// The labels that count, by annotator: the latest that adjudicates, else all.
    pub(crate) fn counted(&self) -> impl Iterator<Item = (&str, &Answer)> {
        let adjudicating = self.labels().filter(|(_, answer)| answer.adjudicates);
        let decisive = adjudicating.map(|(_, answer)| answer.place).max();
        let counts = move |answer: &Answer| decisive.is_none_or(|place| answer.place == place);
        self.labels().filter(move |(_, answer)| counts(answer))
    }

    pub(crate) fn skipped(&self) -> bool {
        self.skips.last() > self.reopenings.last()
    }

    pub(crate) fn excluded(&self) -> bool {
        self.exclusions.last() > self.reopenings.last()
    }

    pub(crate) fn labelled(&self) -> bool {
        self.labels().next().is_some()
    }

    pub(crate) fn closed(&self) -> bool {
        self.skipped() || self.excluded() || self.labelled()
    }
}

impl State {
    /// Takes an event at the end of the log, or stays as it is.
    pub(crate) fn apply(&mut self, log: &[Event], event: &Event) -> Result<()> {
        let place = log.len();
        match &event.change {
            Change::Label { item, classes, .. } => {
                self.schema.check_label(place, item, classes)?;
            }
            change => self.schema.apply(place, change)?,
        }
        self.put(place, event);
        if let Change::DeleteClass { class } = event.change {
            self.renew(log, |schema, used| schema.resolve(used) == class);
        }
        Ok(())
    }

    /// Takes another schema, which allows all live labels.
    pub(crate) fn exchange(&mut self, schema: Schema, log: &[Event]) {
        let before = std::mem::replace(&mut self.schema, schema);
        self.renew(log, |after, used| {
            before.is_deleted(used) != after.is_deleted(used)
        });
    }

    /// Puts the labels that name certain classes once more, as they are with this schema.
    fn renew(&mut self, log: &[Event], named: impl Fn(&Schema, ClassId) -> bool) {
        let places: BTreeSet<usize> = (self.uses.iter())
            .filter(|(class, _)| named(&self.schema, **class))
            .flat_map(|(_, places)| places.iter().copied())
            .collect();
        for place in places {
            self.take(place, &log[place]);
            self.put(place, &log[place]);
        }
    }

    /// Puts what an event says beside the schema, which allows it, at its place.
    pub(crate) fn put(&mut self, place: usize, event: &Event) {
        if event.change.is_undoable() {
            let places = self.undoable.entry(event.annotator.clone()).or_default();
            places.insert(place);
        }
        if let Change::Label { classes, .. } = &event.change {
            for (class, _) in classes {
                self.uses.entry(*class).or_default().insert(place);
            }
        }
        let Some(item) = event.change.item() else {
            return;
        };
        let state = self.items.entry(item.to_string()).or_default();
        match &event.change {
            Change::Label {
                classes,
                adjudicates,
                ..
            } => {
                let labels = state.labels.entry(event.annotator.clone());
                let labels = labels.or_insert_with(|| Vec::with_capacity(1));
                let at = labels.partition_point(|answer| answer.place < place);
                let left = |(class, _): &&(ClassId, f64)| !self.schema.is_deleted(*class);
                let answer = Answer {
                    place,
                    classes: classes.iter().filter(left).copied().collect(),
                    adjudicates: *adjudicates,
                };
                labels.insert(at, answer);
            }
            Change::Skip { .. } => drop(state.skips.insert(place)),
            Change::Exclude { .. } => drop(state.exclusions.insert(place)),
            Change::Reopen { .. } => drop(state.reopenings.insert(place)),
            _ => {}
        }
    }

    /// Takes away what `put` put: the state is as if the event had never been.
    pub(crate) fn take(&mut self, place: usize, event: &Event) {
        if event.change.is_undoable() {
            remove(&mut self.undoable, &event.annotator, place);
        }
        if let Change::Label { classes, .. } = &event.change {
            for (class, _) in classes {
                remove(&mut self.uses, class, place);
            }
        }
        let Some(item) = event.change.item() else {
            return;
        };
        let Some(state) = self.items.get_mut(item) else {
            return;
        };
        match &event.change {
            Change::Label { .. } => {
                let labels = state.labels.get_mut(&event.annotator);
                if let Some(labels) = labels {
                    if let Ok(at) = labels.binary_search_by_key(&place, |answer| answer.place) {
                        labels.remove(at);
                    }
                    if labels.is_empty() {
                        state.labels.remove(&event.annotator);
                    }
                }
            }
            Change::Skip { .. } => drop(state.skips.remove(&place)),
            Change::Exclude { .. } => drop(state.exclusions.remove(&place)),
            Change::Reopen { .. } => drop(state.reopenings.remove(&place)),
            _ => {}
        }
        if *state == ItemState::default() {
            self.items.remove(item);
        }
    }
}

/// Removes a place, and its set with the last.
fn remove<K: Ord>(sets: &mut BTreeMap<K, BTreeSet<usize>>, key: &K, place: usize) {
    if let Some(set) = sets.get_mut(key) {
        set.remove(&place);
        if set.is_empty() {
            sets.remove(key);
        }
    }
}
