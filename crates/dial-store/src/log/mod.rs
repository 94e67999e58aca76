//! The state of a project: the replay of its records.
//!
//! Labels, classes and settings are replayed by the core (`dial::Labels`); beside them stand how classes look, the recipe,
//! unresolved conflicts, and the keys of all submissions. Nothing here touches a disk.

pub(crate) mod record;
pub(crate) mod store;
pub(crate) mod memory;
pub(crate) mod connection;
pub(crate) mod migrate;
pub(crate) mod opening;
pub(crate) mod sqlite;
pub(crate) mod copy;
pub(crate) mod wal;
pub(crate) mod watch;
pub(crate) mod witness;
pub(crate) mod checks;
pub(crate) mod submit;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use dial::labels::events::ClassStatus;
use dial::{Change, ClassId, Event, Labels};

use crate::decision::Submission;
use crate::error::{Error, Result};
use crate::log::record::{Chain, ClassStyle, Entry, Record, first_link, next_link};
use crate::recipe::Recipe;

/// The replay of a log.
#[derive(Clone, Debug)]
pub struct Log {
    records: Vec<Record>,
    /// The link of every record.
    links: Vec<Chain>,
    start: Chain,
    labels: Labels,
    looks: BTreeMap<ClassId, ClassStyle>,
    recipe: Option<Recipe>,
    conflicts: BTreeMap<u64, Record>,
    /// The places of the unresolved conflicts of every item.
    conflicts_by_item: HashMap<String, BTreeSet<u64>>,
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
    /// While it stands, it alone counts for the item.
    pub adjudicates: bool,
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
            conflicts: BTreeMap::new(),
            conflicts_by_item: HashMap::new(),
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
            let body = record.body();
            log.note(record, &body);
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
        self.note(record, &body);
        Ok(())
    }

    /// Keeps the books of everything but the labels.
    fn note(&mut self, record: Record, body: &str) {
        self.links.push(next_link(&self.head(), body));
        self.book(record);
    }

    /// The same without the chain.
    fn book(&mut self, record: Record) {
        match &record.entry {
            Entry::ClassStyle(look) => drop(self.looks.insert(look.class, look.clone())),
            Entry::Recipe(recipe) => self.recipe = Some((**recipe).clone()),
            Entry::Conflict { .. } => self.add_conflict(record.clone()),
            Entry::Resolved { conflict } => self.resolve(*conflict),
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

    /// A conflict is resolved.
    fn resolve(&mut self, conflict: u64) {
        let record = self.conflicts.remove(&conflict);
        if let Some(Entry::Conflict { change, .. }) = record.as_ref().map(|record| &record.entry)
            && let Some(item) = change.item()
            && let Some(about) = self.conflicts_by_item.get_mut(item)
        {
            about.remove(&conflict);
            if about.is_empty() {
                self.conflicts_by_item.remove(item);
            }
        }
    }

    /// Takes back the records after a place: for a caller that could not store them. It costs what they touched.
    pub fn cut(&mut self, to: u64) {
        let cut = self.records.split_off(to as usize);
        self.links.truncate(to as usize);
        for record in cut.iter().rev() {
            match &record.entry {
                Entry::Conflict { .. } => self.resolve(record.seq),
                Entry::Resolved { conflict } => self.unresolve(*conflict),
                Entry::Change(_) => drop(self.places.pop()),
                Entry::ClassStyle(_) | Entry::Recipe(_) | Entry::Known { .. } => {}
            }
            if let Some(key) = &record.key {
                self.keys.remove(key);
            }
        }
        self.labels.cut(self.places.len());
        let books = |entry: &Entry| matches!(entry, Entry::ClassStyle(_) | Entry::Recipe(_));
        if cut.iter().any(|record| books(&record.entry)) {
            (self.looks, self.recipe) = (BTreeMap::new(), None);
            for record in &self.records {
                match &record.entry {
                    Entry::ClassStyle(look) => drop(self.looks.insert(look.class, look.clone())),
                    Entry::Recipe(recipe) => self.recipe = Some((**recipe).clone()),
                    _ => {}
                }
            }
        }
        if !cut.is_empty() {
            let groups = self.records.iter().map(|record| record.group + 1);
            self.next_group = groups.max().unwrap_or(0);
            let keyed = self.records.iter().rposition(|record| record.key.is_some());
            self.latest = keyed.and_then(|place| self.records[place].key.clone());
            if let (Some(place), Some(key)) = (keyed, &self.latest) {
                let count = self.records.len() - place;
                self.keys.insert(key.clone(), (place, count));
            }
        }
    }

    /// A conflict that was resolved is unresolved again.
    fn unresolve(&mut self, conflict: u64) {
        let record = self.records.get((conflict as usize).wrapping_sub(1));
        if let Some(record) = record.cloned() {
            self.add_conflict(record);
        }
    }

    /// Adds an unresolved conflict.
    fn add_conflict(&mut self, record: Record) {
        if let Entry::Conflict { change, .. } = &record.entry {
            if let Some(item) = change.item() {
                let about = self.conflicts_by_item.entry(item.to_string()).or_default();
                about.insert(record.seq);
            }
            self.conflicts.insert(record.seq, record);
        }
    }

    /// Appends what a longer log has more. Whether this one is how that one began; if not, it is as before.
    pub(crate) fn follow(&mut self, longer: &Log) -> bool {
        let start = self.records.len();
        let begins = start <= longer.records.len()
            && self.start == longer.start
            && (start == 0 || self.links.last() == longer.links.get(start - 1));
        if !begins {
            return false;
        }
        for (record, link) in longer.records[start..].iter().zip(&longer.links[start..]) {
            if let Some(event) = record.event()
                && self.labels.append(event).is_err()
            {
                self.cut(start as u64);
                return false;
            }
            self.links.push(*link);
            self.book(record.clone());
        }
        true
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

    /// The link of the record at a place; at 0 that where the chain begins.
    pub(crate) fn link(&self, seq: u64) -> Chain {
        match seq {
            0 => self.start,
            seq => self.links[seq as usize - 1],
        }
    }

    /// Labels, classes and settings.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// A group that no record has, not even one that says nothing about labels.
    pub fn new_group(&self) -> u64 {
        self.next_group.max(self.labels.new_group())
    }

    /// How many events the undos and redos of a submission would have to look at, so that it can be charged for them.
    pub fn turned_by(&self, submission: &Submission) -> usize {
        submit::turned_by(self, submission)
    }

    /// The records of a submission.
    pub fn submission(&self, key: &str) -> Option<&[Record]> {
        let &(first, count) = self.keys.get(key)?;
        self.records.get(first..first + count)
    }

    /// How every class ever added looks, by id: as somebody chose, or a colour by its number and a key that is free. A class whose
    /// name is a key has that one.
    pub fn looks(&self) -> Vec<ClassStyle> {
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

    /// The unresolved conflicts.
    pub fn conflicts(&self) -> impl Iterator<Item = &Record> {
        self.conflicts.values()
    }

    /// The unresolved conflicts about an item.
    pub fn conflicts_about(&self, item: &str) -> impl Iterator<Item = &Record> {
        let places = self.conflicts_by_item.get(item).into_iter().flatten();
        places.filter_map(|place| self.conflicts.get(place))
    }

    /// Whether the record at a place of the log is an unresolved conflict.
    pub fn is_conflict(&self, place: u64) -> bool {
        self.conflicts.contains_key(&place)
    }

    /// The present name of a class.
    pub fn class_name(&self, class: ClassId) -> &str {
        self.labels
            .schema()
            .get(class.index())
            .map_or("?", |class| class.name.as_str())
    }

    /// The class that stands for a class after merges.
    pub fn resolved(&self, mut class: ClassId) -> ClassId {
        let schema = self.labels.schema();
        while let Some(ClassStatus::Merged(into)) =
            schema.get(class.index()).map(|class| class.status)
        {
            class = into;
        }
        class
    }

    /// The live labels of an item by annotator, classes after merges; also those of an excluded item.
    pub fn labels_of(&self, item: &str) -> impl Iterator<Item = (&str, Vec<(ClassId, f64)>)> {
        let labels = self.labels.labels_of(item);
        labels.map(|(who, classes)| (who, self.merged(classes)))
    }

    /// The labels that count, and those of excluded items, in the order of the log.
    pub fn live_labels(&self) -> Vec<Live<'_>> {
        let labels = |item| {
            let live = move |(annotator, classes)| Live {
                seq: self
                    .record_of(item, annotator)
                    .map_or(0, |record| record.seq),
                item,
                annotator,
                classes,
                adjudicates: self.labels.adjudicates(item, annotator),
            };
            self.labels_of(item).map(live)
        };
        let mut live: Vec<Live<'_>> = self.labels.closed().flat_map(labels).collect();
        live.sort_by_key(|label| label.seq);
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

    /// The live label that an annotator gave an item, classes after merges.
    pub fn label_of(&self, item: &str, annotator: &str) -> Option<Vec<(ClassId, f64)>> {
        let label = self.labels.label_of(item, annotator)?;
        Some(self.merged(label))
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

fn default_look(class: ClassId, key: String) -> ClassStyle {
    ClassStyle {
        class,
        colour: COLOURS[class.index() % COLOURS.len()].into(),
        key,
    }
}

#[cfg(test)]
mod tests {
    use dial::seed::{Purpose, Random};

    use super::*;
    use crate::decision::Decision;
    use crate::log::submit::submit;

    /// Everything in a log.
    fn books(log: &Log) -> impl PartialEq + std::fmt::Debug + use<> {
        let keys: BTreeMap<_, _> = log.keys.clone().into_iter().collect();
        let about: BTreeMap<_, _> = log.conflicts_by_item.clone().into_iter().collect();
        (
            (log.records.clone(), log.links.clone(), log.labels.clone()),
            (log.looks.clone(), log.recipe.clone()),
            (log.conflicts.clone(), about, keys),
            (log.places.clone(), log.latest.clone(), log.next_group),
        )
    }

    /// What anybody might send, most of which can be taken.
    fn any_decision(random: &mut Random) -> Decision {
        let class = ClassId(random.below(4) as u16);
        match random.below(12) {
            0..5 => Decision::label(&random.below(6).to_string(), class),
            5 => Decision::Skip {
                item: random.below(6).to_string(),
            },
            6 => Decision::Undo { group: None },
            7 => Decision::Redo { group: None },
            8 => Decision::AddClass {
                name: random.below(9).to_string(),
            },
            9 => Decision::StyleClass {
                class,
                colour: format!("#00000{}", random.below(9)),
                key: "k".into(),
            },
            10 => Decision::MergeClass {
                from: class,
                into: ClassId(0),
            },
            _ => Decision::Resolve {
                conflict: random.below(60) as u64,
            },
        }
    }

    #[test]
    fn a_refused_submission_leaves_the_log_as_a_replay_does() {
        let (mut refused, mut conflicts) = (0, 0);
        for seed in 0..60 {
            let (mut log, mut random) = (Log::new("p"), Random::new(seed, Purpose::User, 3));
            for step in 0..60 {
                let sent = Submission {
                    key: format!("{step}"),
                    annotator: ["ann", "bob"][random.below(2)].into(),
                    decisions: match step {
                        0 => (0..3)
                            .map(|name| Decision::AddClass {
                                name: format!("class {name}"),
                            })
                            .collect(),
                        _ => (0..=random.below(4))
                            .map(|_| any_decision(&mut random))
                            .collect(),
                    },
                    ..Submission::default()
                };
                let before = books(&log);
                let answer = submit(&mut log, &sent, &|_| true, step);
                match answer {
                    Err(Error::Contradiction { .. } | Error::ClassGone { .. }) => conflicts += 1,
                    Err(_) => {
                        assert_eq!(books(&log), before);
                        refused += 1;
                    }
                    Ok(_) => {}
                }
                let replayed = Log::replay("p", log.records.clone()).unwrap();
                assert_eq!(books(&log), books(&replayed), "seed {seed}, step {step}");
                if random.below(9) == 0 && step > 0 {
                    log.cut(log.version().saturating_sub(random.below(4) as u64));
                    let replayed = Log::replay("p", log.records.clone()).unwrap();
                    assert_eq!(
                        books(&log),
                        books(&replayed),
                        "seed {seed}, cut after {step}"
                    );
                }
            }
        }
        assert!(refused > 300 && conflicts > 100, "{refused} {conflicts}");
    }

    #[test]
    fn classes_that_are_named_like_keys_have_them() {
        let mut log = Log::new("p");
        let add = |(id, name): (u16, &str)| Change::AddClass {
            class: ClassId(id),
            name: name.into(),
        };
        for (seq, change) in (1..).zip((0..).zip(["cat", "1", "dog", "0", "long"]).map(add)) {
            let (annotator, entry, provenance) =
                (String::new(), Entry::Change(change), Default::default());
            log.append(Record {
                seq,
                key: None,
                time: 0,
                annotator,
                group: 0,
                entry,
                provenance,
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
        let look = ClassStyle {
            class: ClassId(2),
            colour: "#000000".into(),
            key: "2".into(),
        };
        let (annotator, entry, provenance) =
            (String::new(), Entry::ClassStyle(look), Default::default());
        log.append(Record {
            seq: 6,
            key: None,
            time: 0,
            annotator,
            group: 1,
            entry,
            provenance,
        })
        .unwrap();
        assert_eq!(keys(&log), "3 1 2 0 4");
    }
}
