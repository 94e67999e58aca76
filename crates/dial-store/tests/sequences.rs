//! Random sequences of all that people do, on a disk and in memory side by side: the same answers, the same log, and a state
//! that a slow twin finds too.

#[allow(dead_code)]
mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use common::{count, first, recipe, submission};
use dial::seed::{Purpose, Random};
use dial::{Change, ClassId};
use dial_store::{
    Decision, Error, Journal, Lease, Log, Memory, Project, Receipt, Record, Result, Sqlite,
    Submission,
};

const ITEMS: usize = 12;
const PEOPLE: [&str; 4] = ["", "ann", "bob", "Ægir 日本"];

/// The two projects that must not differ.
struct Both {
    file: PathBuf,
    journal: Journal,
    disk: Option<Project>,
    memory: Project,
    /// First answers, in order.
    answers: Vec<(Submission, Result<Receipt>)>,
    /// The kinds of decisions that were taken.
    kinds: BTreeSet<String>,
}

/// All kinds of decisions that may be sent, by their schema.
fn kinds() -> BTreeSet<String> {
    let schema = serde_json::to_value(<Decision as utoipa::PartialSchema>::schema()).unwrap();
    let kind = |one: &serde_json::Value| {
        let kind = &one["properties"]["kind"]["enum"][0];
        kind.as_str().unwrap().to_string()
    };
    schema["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(kind)
        .collect()
}

impl Both {
    fn new(folder: &Path, journal: Journal) -> Both {
        let file = folder.join("project.db");
        let disk = Sqlite::create(&file, "twins", 1, journal).unwrap();
        let disk = Some(Project::on(Box::new(disk), None, None).unwrap());
        let memory = Project::on(Box::new(Memory::new("twins")), None, None).unwrap();
        let mut both = Both {
            file,
            journal,
            disk,
            memory,
            answers: Vec::new(),
            kinds: BTreeSet::new(),
        };
        let mut decisions = vec![Decision::Recipe(Box::new(recipe(ITEMS, 1)))];
        decisions.extend(first(3));
        both.submit(
            &[Submission {
                decisions,
                ..submission("new", "", Decision::Undo { group: None })
            }],
            1,
        );
        both
    }

    fn disk(&mut self) -> &mut Project {
        self.disk.as_mut().unwrap()
    }

    fn submit(&mut self, sent: &[Submission], now: u64) -> Vec<Result<Receipt>> {
        let answers = self.memory.submit(sent, now);
        assert_eq!(self.disk().submit(sent, now), answers, "{sent:?}");
        let log = self.memory.log();
        same_records(self.disk.as_ref().unwrap().log(), log);
        let taken = sent
            .iter()
            .zip(&answers)
            .filter(|(_, answer)| answer.is_ok());
        for decision in taken.flat_map(|(sent, _)| &sent.decisions) {
            // Settings and recipes, which nobody sends, have none.
            if let Ok(json) = serde_json::to_value(decision) {
                self.kinds
                    .insert(json["kind"].as_str().unwrap().to_string());
            }
        }
        answers
    }

    fn reopen(&mut self) {
        self.disk = None;
        let store = Sqlite::open(&self.file, self.journal).unwrap();
        self.disk = Some(Project::on(Box::new(store), None, None).unwrap());
        same_records(self.disk.as_ref().unwrap().log(), self.memory.log());
        assert_eq!(
            self.disk.as_ref().unwrap().log().labels(),
            self.memory.log().labels()
        );
    }
}

fn same_records(disk: &Log, memory: &Log) {
    for (one, other) in disk.records().iter().zip(memory.records()) {
        assert_eq!(one, other);
    }
    assert_eq!(
        (disk.version(), disk.head()),
        (memory.version(), memory.head())
    );
}

fn any<'a, T>(all: &'a [T], random: &mut Random) -> &'a T {
    &all[random.below(all.len())]
}

/// Something that somebody may decide; some of it cannot be.
fn decision(log: &Log, random: &mut Random) -> Decision {
    // One item and one class more than there are.
    let item = random.below(ITEMS + 1).to_string();
    let class = |random: &mut Random| ClassId(random.below(log.labels().schema().len() + 1) as u16);
    let group = random.below(log.labels().new_group() as usize + 1) as u64;
    let change = match random.below(22) {
        0..6 => Change::label(item, vec![(class(random), 1.0)]),
        6..8 => Change::label(item, vec![(class(random), 0.6), (class(random), 0.4)]),
        8 => Change::label(
            item,
            vec![(class(random), [0.0, 2.0, f64::NAN][random.below(3)])],
        ),
        9 => Change::Skip { item },
        10 => [
            Change::Exclude { item: item.clone() },
            Change::Reopen { item },
        ][random.below(2)]
        .clone(),
        11..13 => Change::Undo { group },
        13 => Change::Redo { group },
        14 => Change::RenameClass {
            class: class(random),
            name: any(&["a", "new", "", " x"], random).to_string(),
        },
        15 => match random.below(3) {
            0 => Change::DeleteClass {
                class: class(random),
            },
            1 => Change::OrderClasses {
                classes: vec![class(random), class(random)],
            },
            _ => Change::MergeClass {
                from: class(random),
                into: class(random),
            },
        },
        16 => Change::Weight {
            annotator: any(&PEOPLE, random).to_string(),
            weight: 2.0 * random.uniform(),
        },
        17 => {
            return Decision::AddClass {
                name: any(&["d", "e", "f", "a"], random).to_string(),
            };
        }
        18 => {
            let colour = any(&["#aabbcc", "blue"], random).to_string();
            return Decision::StyleClass {
                class: class(random),
                colour,
                key: "q".into(),
            };
        }
        19 => return Decision::Undo { group: None },
        20 => return Decision::Redo { group: None },
        _ => {
            let conflicts = log
                .conflicts()
                .map(|record| record.seq)
                .chain([3])
                .collect::<Vec<_>>();
            return Decision::Resolve {
                conflict: *any(&conflicts, random),
            };
        }
    };
    Decision::from(change)
}

fn sent(log: &Log, key: String, random: &mut Random) -> Submission {
    let decisions = if random.below(6) == 0 {
        1 + random.below(4)
    } else {
        1
    };
    let decisions = (0..decisions).map(|_| decision(log, random)).collect();
    let (annotator, replace) = (any(&PEOPLE, random).to_string(), random.below(3) == 0);
    Submission {
        key,
        annotator,
        decisions,
        replace,
        provenance: Default::default(),
    }
}

/// What the live records say about labels, found the slow way.
fn slow_twin(records: &[Record]) -> BTreeMap<(String, String), Vec<(ClassId, f64)>> {
    let mut undone = BTreeSet::new();
    for record in records {
        match record.change() {
            Some(Change::Undo { group }) => assert!(undone.insert(*group), "undone twice"),
            Some(Change::Redo { group }) => assert!(undone.remove(group), "not undone"),
            _ => {}
        }
    }
    let mut labels = BTreeMap::new();
    let mut merged: BTreeMap<ClassId, ClassId> = BTreeMap::new();
    for record in records
        .iter()
        .filter(|record| !undone.contains(&record.group))
    {
        match record.change() {
            Some(Change::Label { item, classes, .. }) => {
                labels.insert((item.clone(), record.annotator.clone()), classes.clone());
            }
            Some(Change::MergeClass { from, into }) => drop(merged.insert(*from, *into)),
            Some(Change::DeleteClass { class }) => labels.retain(|_, classes| {
                classes.retain(|(share, _)| end_of(*share, &merged) != *class);
                !classes.is_empty()
            }),
            _ => {}
        }
    }
    for classes in labels.values_mut() {
        let mut summed: Vec<(ClassId, f64)> = Vec::new();
        for (class, weight) in classes.iter() {
            let class = end_of(*class, &merged);
            match summed.iter_mut().find(|(other, _)| *other == class) {
                Some((_, sum)) => *sum += weight,
                None => summed.push((class, *weight)),
            }
        }
        *classes = summed;
    }
    labels
}

/// Where merges lead from a class.
fn end_of(class: ClassId, merged: &BTreeMap<ClassId, ClassId>) -> ClassId {
    match merged.get(&class) {
        Some(into) => end_of(*into, merged),
        None => class,
    }
}

fn check(both: &Both) {
    let log = both.memory.log();
    let replayed = Log::replay("twins", log.records().to_vec()).unwrap();
    assert_eq!(replayed.labels(), log.labels());
    assert_eq!(
        (replayed.head(), replayed.recipe()),
        (log.head(), log.recipe())
    );
    assert!(replayed.conflicts().eq(log.conflicts()));
    let twin = slow_twin(log.records());
    for item in (0..ITEMS).map(|item| item.to_string()) {
        for annotator in PEOPLE {
            let expected = twin.get(&(item.clone(), annotator.to_string())).cloned();
            assert_eq!(
                log.label_of(&item, annotator),
                expected,
                "{item} by {annotator:?}"
            );
        }
    }
    let keys: BTreeSet<&str> = log
        .records()
        .iter()
        .filter_map(|record| record.key.as_deref())
        .collect();
    assert_eq!(
        keys.len(),
        log.records()
            .iter()
            .filter(|record| record.key.is_some())
            .count(),
        "a key is stored once"
    );
}

/// The same again: the first answer. Something else under the key: refused.
fn retry(both: &mut Both, now: u64, random: &mut Random) {
    if both.answers.is_empty() {
        return;
    }
    let at = random.below(both.answers.len());
    let (old, answer) = both.answers[at].clone();
    let stored = both.memory.log().submission(&old.key).is_some();
    let version = both.memory.log().version();
    let again = both.submit(std::slice::from_ref(&old), now).remove(0);
    if !stored {
        // What was refused before may be taken now.
        both.answers[at].1 = again;
    } else {
        let expected = answer.map(|receipt| Receipt {
            repeated: true,
            ..receipt
        });
        assert_eq!(again, expected, "{old:?}");
        let other = Submission {
            annotator: format!("not {}", old.annotator),
            ..old.clone()
        };
        assert_eq!(
            both.submit(&[other], now).remove(0),
            Err(Error::KeyReused(old.key.clone()))
        );
        let more = Decision::AddClass {
            name: "never sent".into(),
        };
        let other = Submission {
            decisions: [old.decisions.as_slice(), &[more]].concat(),
            ..old.clone()
        };
        assert_eq!(
            both.submit(&[other], now).remove(0),
            Err(Error::KeyReused(old.key.clone()))
        );
        assert_eq!(
            both.memory.log().version(),
            version,
            "a retry stores nothing"
        );
    }
}

/// How many submissions were stored, and the kinds of decisions that were taken.
fn sequence(seed: u64) -> (usize, BTreeSet<String>) {
    let place = tempfile::tempdir().unwrap();
    // What is compared does not depend on syncs, so most go without.
    let journal = [
        Journal::Unsafe,
        Journal::Unsafe,
        Journal::Unsafe,
        Journal::Rollback,
        Journal::Wal,
    ][seed as usize % 5];
    let mut both = Both::new(place.path(), journal);
    let mut random = Random::new(seed, Purpose::User, 2);
    let (mut now, mut taken) = (100, 0);
    for step in 0..50 {
        // Clocks may go back.
        now = (now + random.below(1_000) as u64).saturating_sub(random.below(200) as u64);
        match random.below(12) {
            0 => both.reopen(),
            1 => retry(&mut both, now, &mut random),
            2 => {
                let lease = |annotator: &&str| Lease {
                    item: random.below(ITEMS).to_string(),
                    annotator: annotator.to_string(),
                    until: now + 500,
                };
                let leases: Vec<Lease> = PEOPLE.iter().map(lease).collect();
                both.disk().keep_leases(&leases).unwrap();
                both.memory.keep_leases(&leases).unwrap();
            }
            kind => {
                // One, or several that share a transaction, now and then two under one key.
                let group = if kind == 3 { 1 + random.below(4) } else { 1 };
                let log = both.memory.log();
                let mut all: Vec<Submission> = (0..group)
                    .map(|at| sent(log, format!("{step}.{at}"), &mut random))
                    .collect();
                if group > 2 {
                    all[1].key = all[0].key.clone();
                }
                let before = both.memory.log().version();
                let answers = both.submit(&all, now);
                taken += usize::from(both.memory.log().version() > before);
                if group <= 2 {
                    both.answers.extend(all.into_iter().zip(answers));
                }
            }
        }
        let leases = |project: &mut Project| {
            let mut leases = project.leases().unwrap();
            leases.sort_by(|a, b| (&a.item, &a.annotator).cmp(&(&b.item, &b.annotator)));
            leases
        };
        assert_eq!(
            leases(both.disk.as_mut().unwrap()),
            leases(&mut both.memory)
        );
        check(&both);
    }
    both.reopen();
    (taken, both.kinds)
}

#[test]
fn a_disk_and_a_memory_give_the_same_answers_and_the_same_log() {
    let sequences = count("DIAL_SEQUENCES", 60);
    let (mut taken, mut met) = (0, BTreeSet::new());
    for (stored, kinds) in (0..sequences).map(sequence) {
        taken += stored;
        met.extend(kinds);
    }
    assert_eq!(met, kinds(), "every kind of decision is made");
    assert!(
        taken as u64 > 10 * sequences,
        "much of it is taken: {taken}"
    );
}
