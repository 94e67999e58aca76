//! The state of a project: the replay of its records.
//!
//! Labels, classes and settings are replayed by the core (`dial::Labels`); beside them stand how classes look, the recipe,
//! answers that wait for somebody to decide, and the keys of all submissions. Nothing here touches a disk.

pub(crate) mod record;
pub(crate) mod store;
pub(crate) mod memory;
pub(crate) mod connection;
pub(crate) mod migrate;
pub(crate) mod sqlite;
pub(crate) mod checks;
pub(crate) mod submit;

use std::collections::{BTreeMap, HashMap, HashSet};

use dial::labels::events::Fate;
use dial::{Change, ClassId, Event, Labels};

use crate::error::{Error, Result};
use crate::log::record::{Chain, Entry, Look, Record, first_link, next_link};
use crate::recipe::Recipe;

/// The replay of a log.
#[derive(Clone, Debug)]
pub struct Log {
    records: Vec<Record>,
    /// The link of every record.
    links: Vec<Chain>,
    start: Chain,
    labels: Labels,
    looks: BTreeMap<ClassId, Look>,
    recipe: Option<Recipe>,
    parked: BTreeMap<u64, Record>,
    /// The first record of every submission and how many there are.
    keys: HashMap<String, (usize, usize)>,
    /// The place of the record of every event of the core.
    places: Vec<u64>,
    /// The key of the latest submission.
    latest: Option<String>,
    /// One more than the largest group of any record.
    next_group: u64,
}

/// A label that counts: the latest live one of an annotator for an item.
#[derive(Clone, Debug, PartialEq)]
pub struct Live<'a> {
    /// Its place in the log.
    pub seq: u64,
    /// The item.
    pub item: &'a str,
    /// Who gave it.
    pub annotator: &'a str,
    /// Its classes after merges, each once, with their weights.
    pub classes: Vec<(ClassId, f64)>,
}

impl Log {
    /// Nothing yet.
    pub fn new(project: &str) -> Log {
        let start = first_link(project);
        Log {
            records: Vec::new(),
            links: Vec::new(),
            start,
            labels: Labels::default(),
            looks: BTreeMap::new(),
            recipe: None,
            parked: BTreeMap::new(),
            keys: HashMap::new(),
            places: Vec::new(),
            latest: None,
            next_group: 0,
        }
    }

    /// The replay of these records, in one go.
    pub fn replay(project: &str, records: Vec<Record>) -> Result<Log> {
        let mut log = Log::new(project);
        log.labels = Labels::replay(records.iter().filter_map(Record::event))?;
        for record in records {
            log.note(record);
        }
        Ok(log)
    }

    /// Appends one record that continues the log, or leaves everything as it was.
    ///
    /// # Errors
    /// A record that would not be read back as it is (a number that is not finite is written as nothing), or that does not
    /// apply.
    pub fn append(&mut self, record: Record) -> Result<()> {
        let body = record.body();
        if serde_json::from_str::<Record>(&body)
            .map(|again| again.body())
            .ok()
            .as_deref()
            != Some(&body)
        {
            let text =
                "it holds a number that is not finite. Nothing was changed. Send a finite one.";
            return Err(Error::Submission(text.into()));
        }
        if let Some(event) = record.event() {
            self.labels.append(event)?;
        }
        self.note(record);
        Ok(())
    }

    /// Keeps the books of everything but the labels.
    fn note(&mut self, record: Record) {
        self.links.push(next_link(&self.head(), &record.body()));
        self.book(record);
    }

    /// The same without the chain.
    fn book(&mut self, record: Record) {
        match &record.entry {
            Entry::Look(look) => drop(self.looks.insert(look.class, look.clone())),
            Entry::Recipe(recipe) => self.recipe = Some((**recipe).clone()),
            Entry::Parked { .. } => drop(self.parked.insert(record.seq, record.clone())),
            Entry::Settled { parked } => drop(self.parked.remove(parked)),
            Entry::Change(_) => self.places.push(record.seq),
            Entry::Known { .. } => {}
        }
        self.next_group = self.next_group.max(record.group + 1);
        match &record.key {
            Some(key) => {
                self.keys.insert(key.clone(), (self.records.len(), 1));
                self.latest = Some(key.clone());
            }
            None => {
                // Records without a key belong to the submission before them.
                let count = self.latest.as_ref().and_then(|key| self.keys.get_mut(key));
                count.into_iter().for_each(|(_, count)| *count += 1);
            }
        }
        self.records.push(record);
    }

    /// Takes back the records after a place: for a caller that could not store them. The chain up to there stands.
    pub fn cut(&mut self, to: u64) {
        let mut links = std::mem::take(&mut self.links);
        links.truncate(to as usize);
        let mut records = std::mem::take(&mut self.records);
        records.truncate(to as usize);
        let mut log = Log {
            start: self.start,
            labels: std::mem::take(&mut self.labels),
            ..Log::new("")
        };
        log.labels.cut(
            records
                .iter()
                .filter(|record| record.change().is_some())
                .count(),
        );
        records.into_iter().for_each(|record| log.book(record));
        *self = Log { links, ..log };
    }

    /// The records.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The place of the last record; 0 if there is none.
    pub fn version(&self) -> u64 {
        self.records.len() as u64
    }

    /// The records after a place, each with its link.
    pub fn chained(&self, after: u64) -> Vec<(Record, Chain)> {
        // Cut before cloning: skipping a zip would clone what it skips.
        let (records, links) = (
            &self.records[after as usize..],
            &self.links[after as usize..],
        );
        records.iter().cloned().zip(links.iter().copied()).collect()
    }

    /// The end of the chain.
    pub fn head(&self) -> Chain {
        self.links.last().copied().unwrap_or(self.start)
    }

    /// Labels, classes and settings.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// A group that no record has, not even one that says nothing about labels.
    pub fn new_group(&self) -> u64 {
        self.next_group.max(self.labels.new_group())
    }

    /// The records of a submission.
    pub fn submission(&self, key: &str) -> Option<&[Record]> {
        let &(first, count) = self.keys.get(key)?;
        self.records.get(first..first + count)
    }

    /// How every class ever added looks, by id: as somebody chose, or a colour by its number and a key that is free. A class whose
    /// name is a key has that one.
    pub fn looks(&self) -> Vec<Look> {
        let schema = self.labels.schema();
        let ids = || (0..schema.len()).map(|id| ClassId(id as u16));
        let own = |class: ClassId| {
            Some(&schema[class.index()].name).filter(|name| name.len() == 1 && KEYS.contains(*name))
        };
        let chosen: HashSet<&str> = self
            .looks
            .values()
            .map(|look| look.key.as_str())
            .chain(ids().filter_map(|id| own(id).map(String::as_str)))
            .collect();
        let mut free = KEYS
            .chars()
            .map(String::from)
            .filter(|key| !chosen.contains(key.as_str()));
        let look = |class: ClassId| match (self.looks.get(&class), own(class)) {
            (Some(look), _) => look.clone(),
            (None, Some(name)) => default_look(class, name.clone()),
            (None, None) => default_look(class, free.next().unwrap_or_default()),
        };
        ids().map(look).collect()
    }

    /// What the pool is and how it is asked.
    pub fn recipe(&self) -> Option<&Recipe> {
        self.recipe.as_ref()
    }

    /// Answers that wait for somebody to decide.
    pub fn parked(&self) -> impl Iterator<Item = &Record> {
        self.parked.values()
    }

    /// The present name of a class.
    pub fn class_name(&self, class: ClassId) -> &str {
        self.labels
            .schema()
            .get(class.index())
            .map_or("?", |class| class.name.as_str())
    }

    /// The class that stands for a class after merges.
    pub fn resolved(&self, class: ClassId) -> ClassId {
        match self
            .labels
            .schema()
            .get(class.index())
            .map(|class| class.fate)
        {
            Some(Fate::Merged(into)) => self.resolved(into),
            _ => class,
        }
    }

    /// The labels that count, and those of excluded items, in the order of the log.
    pub fn live_labels(&self) -> Vec<Live<'_>> {
        let mut undone = HashSet::new();
        for change in self.records.iter().filter_map(Record::change) {
            match change {
                Change::Undo { group } => drop(undone.insert(*group)),
                Change::Redo { group } => drop(undone.remove(group)),
                _ => {}
            }
        }
        let mut seen = HashSet::new();
        let mut live = Vec::new();
        for record in self
            .records
            .iter()
            .rev()
            .filter(|record| !undone.contains(&record.group))
        {
            if let Some(Change::Label { item, classes }) = record.change()
                && seen.insert((item.as_str(), record.annotator.as_str()))
            {
                let (item, annotator) = (item.as_str(), record.annotator.as_str());
                live.push(Live {
                    seq: record.seq,
                    item,
                    annotator,
                    classes: self.merged(classes),
                });
            }
        }
        live.reverse();
        live
    }

    /// The classes of a label after merges, weights of one class added up.
    fn merged(&self, classes: &[(ClassId, f64)]) -> Vec<(ClassId, f64)> {
        let mut merged: Vec<(ClassId, f64)> = Vec::new();
        for (class, weight) in classes
            .iter()
            .map(|&(class, weight)| (self.resolved(class), weight))
        {
            match merged.iter_mut().find(|(other, _)| *other == class) {
                Some((_, sum)) => *sum += weight,
                None => merged.push((class, weight)),
            }
        }
        merged
    }

    /// The names of a label, as in `cat` or `cat 0.6, dog 0.4`.
    pub fn label_in_words(&self, classes: &[(ClassId, f64)]) -> String {
        let named: Vec<(&str, f64)> = classes
            .iter()
            .map(|(class, weight)| (self.class_name(*class), *weight))
            .collect();
        in_words(&named)
    }

    /// The live label that an annotator gave an item.
    pub fn label_of(&self, item: &str, annotator: &str) -> Option<&[(ClassId, f64)]> {
        self.labels
            .labels_of(item)
            .find(|(who, _)| *who == annotator)
            .map(|(_, classes)| classes)
    }

    /// The record of the live label that an annotator gave an item.
    pub fn record_of(&self, item: &str, annotator: &str) -> Option<&Record> {
        let place = *self.places.get(self.labels.place_of(item, annotator)?)?;
        self.records.get(place as usize - 1)
    }

    /// The group that an earlier part of an import under this key is in, if it still stands.
    pub fn group_of_import(&self, key: &str) -> Option<u64> {
        let part = |record: &&Record| {
            record
                .key
                .as_ref()
                .and_then(|own| own.strip_prefix(key)?.strip_prefix('/'))
                .is_some()
        };
        let group = self.records.iter().rev().find(part)?.group;
        self.labels.is_live(group).then_some(group)
    }
}

/// `cat`, or `cat 0.6, dog 0.4`.
pub(crate) fn in_words(classes: &[(&str, f64)]) -> String {
    match classes {
        [(class, weight)] if *weight == 1.0 => class.to_string(),
        many => many
            .iter()
            .map(|(class, weight)| format!("{class} {weight}"))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

impl Record {
    /// The event of the core in this record.
    pub fn event(&self) -> Option<Event> {
        match &self.entry {
            Entry::Change(change) => Some(Event {
                group: self.group,
                annotator: self.annotator.clone(),
                change: change.clone(),
            }),
            _ => None,
        }
    }

    /// The change of the labels in this record.
    pub fn change(&self) -> Option<&Change> {
        match &self.entry {
            Entry::Change(change) => Some(change),
            _ => None,
        }
    }
}

/// Seven colours that people with any colour vision tell apart (Okabe and Ito; their black cannot be seen on a dark page), then
/// others as far from these and from each other as can be (some of Tol's), then lighter ones.
const COLOURS: [&str; 16] = [
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#f0e442", "#999933",
    "#aa4499", "#a6744d", "#6f6fd6", "#7fd8be", "#e69466", "#e0afca", "#99d2f2", "#a0a0a0",
];

/// Keys that label: the digits, then letters that no other key of the page uses.
const KEYS: &str = "1234567890qwertyiopasdfghjklbnm";

fn default_look(class: ClassId, key: String) -> Look {
    Look {
        class,
        colour: COLOURS[class.index() % COLOURS.len()].into(),
        key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_are_named_like_keys_have_them() {
        let mut log = Log::new("p");
        let add = |(id, name): (u16, &str)| Change::AddClass {
            class: ClassId(id),
            name: name.into(),
        };
        for (seq, change) in (1..).zip((0..).zip(["cat", "1", "dog", "0", "long"]).map(add)) {
            let (annotator, entry, remark) =
                (String::new(), Entry::Change(change), Default::default());
            log.append(Record {
                seq,
                key: None,
                time: 0,
                annotator,
                group: 0,
                entry,
                remark,
            })
            .unwrap();
        }
        let keys = |log: &Log| {
            log.looks()
                .into_iter()
                .map(|look| look.key)
                .collect::<Vec<String>>()
                .join(" ")
        };
        assert_eq!(keys(&log), "2 1 3 0 4");
        let look = Look {
            class: ClassId(2),
            colour: "#000000".into(),
            key: "2".into(),
        };
        let (annotator, entry, remark) = (String::new(), Entry::Look(look), Default::default());
        log.append(Record {
            seq: 6,
            key: None,
            time: 0,
            annotator,
            group: 1,
            entry,
            remark,
        })
        .unwrap();
        assert_eq!(keys(&log), "3 1 2 0 4");
    }
}
