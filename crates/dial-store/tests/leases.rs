//! Fifty people at one project (faults C1, C2 and C8): no item goes to more of them than wanted, and an answer that comes late
//! is kept and flagged.

#[allow(dead_code)]
mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{count, first, label, recipe, submission};
use dial::seed::{Purpose, Random};
use dial_store::{Decision, Journal, Lease, Memory, Project, Record, Sqlite, Submission, Wanted};

const PEOPLE: usize = 50;
const ITEMS: usize = 80;
const OVERLAP: usize = 2;

/// How long a lease lasts.
const LENGTH: u64 = 1_000;

fn begin(mut project: Project) -> Project {
    let mut decisions = vec![Decision::Recipe(Box::new(recipe(ITEMS, OVERLAP)))];
    decisions.extend(first(3));
    project
        .submit_one(
            Submission {
                decisions,
                ..submission("new", "", Decision::Undo { group: None })
            },
            1,
        )
        .unwrap();
    project
}

fn in_memory() -> Project {
    begin(Project::on(Box::new(Memory::new("p")), None, None).unwrap())
}

fn on_disk(folder: &Path) -> Project {
    let store = Sqlite::create(&folder.join("project.db"), "p", 1, Journal::Unsafe).unwrap();
    begin(Project::on(Box::new(store), None, None).unwrap())
}

/// Labels that an item has of others.
fn of_others(project: &Project, item: &str, me: &str) -> usize {
    project
        .log()
        .labels()
        .labels_of(item)
        .filter(|(who, _)| *who != me)
        .count()
}

/// The next item for somebody: any that they have not answered and that has room.
fn ask(project: &mut Project, me: &str, now: u64, random: &mut Random) -> Option<Lease> {
    let order = random.distinct(ITEMS, ITEMS);
    let open = |item: &String| project.log().label_of(item, me).is_none();
    let items: Vec<String> = order
        .into_iter()
        .map(|item| item.to_string())
        .filter(open)
        .collect();
    let room = |item: String| {
        let room = OVERLAP.saturating_sub(of_others(project, &item, me));
        (item, room)
    };
    let items: Vec<(String, usize)> = items.into_iter().map(room).collect();
    let leased = project
        .lease(&Wanted {
            items: &items,
            annotator: me,
            now,
            length: LENGTH,
        })
        .unwrap();
    if let Some(lease) = &leased {
        assert_eq!((lease.annotator.as_str(), lease.until), (me, now + LENGTH));
    }
    leased
}

/// People with a live lease of an item, or a label.
fn busy(project: &mut Project, now: u64) -> BTreeMap<String, usize> {
    let mut busy: BTreeMap<String, usize> = BTreeMap::new();
    for lease in project
        .leases()
        .unwrap()
        .iter()
        .filter(|lease| now < lease.until)
    {
        assert_eq!(
            project.log().label_of(&lease.item, &lease.annotator),
            None,
            "an answer ends its lease"
        );
        *busy.entry(lease.item.clone()).or_default() += 1;
    }
    for item in (0..ITEMS).map(|item| item.to_string()) {
        let labels = project.log().labels().labels_of(&item).count();
        *busy.entry(item).or_default() += labels;
    }
    busy
}

/// Nobody is late: an item has never more people than wanted, and in the end each has as many.
fn all_in_time(mut project: Project, rounds: u64) {
    for round in 0..rounds {
        let mut random = Random::new(round, Purpose::User, 0);
        let (mut now, mut holds, mut key) =
            (10 + round * 1_000_000, vec![None::<Lease>; PEOPLE], 0);
        loop {
            let me = random.below(PEOPLE);
            let name = format!("person {me}");
            // Time passes, but no lease runs out: whoever has an item for long asks again, which renews it.
            now += 1;
            match holds[me].take() {
                Some(lease) if random.below(2) == 0 => {
                    let class = random.below(3) as u16;
                    let receipt = project
                        .submit_one(
                            label(&format!("{round} {key}"), &name, &lease.item, class),
                            now,
                        )
                        .unwrap();
                    assert!(!receipt.late, "{lease:?}");
                    key += 1;
                }
                Some(lease) => {
                    let wish = [(
                        lease.item.clone(),
                        OVERLAP - of_others(&project, &lease.item, &name),
                    )];
                    let wanted = Wanted {
                        items: &wish,
                        annotator: &name,
                        now,
                        length: LENGTH,
                    };
                    holds[me] = project.lease(&wanted).unwrap();
                    assert_eq!(
                        holds[me].as_ref().map(|again| &again.item),
                        Some(&lease.item),
                        "one's own is renewed"
                    );
                }
                None => holds[me] = ask(&mut project, &name, now, &mut random),
            }
            for lease in holds.iter_mut().flatten() {
                // Everybody else renews too, so that nobody is late.
                if lease.until < now + LENGTH / 2 {
                    let wish = [(lease.item.clone(), OVERLAP)];
                    let annotator = lease.annotator.clone();
                    let wanted = Wanted {
                        items: &wish,
                        annotator: &annotator,
                        now,
                        length: LENGTH,
                    };
                    *lease = project.lease(&wanted).unwrap().unwrap();
                }
            }
            let busy = busy(&mut project, now);
            assert!(busy.values().all(|&people| people <= OVERLAP), "{busy:?}");
            if holds.iter().all(Option::is_none) && busy.values().all(|&people| people == OVERLAP) {
                break;
            }
        }
        assert_eq!(key as usize, ITEMS * OVERLAP);
        // The next round begins without labels.
        let undo = |group| {
            submission(
                &format!("{round} undo {group}"),
                "",
                Decision::from(dial::Change::Undo { group }),
            )
        };
        let labels = project
            .log()
            .records()
            .iter()
            .filter(|record| record.change().is_some_and(is_label));
        let groups: Vec<u64> = labels.map(|record| record.group).collect();
        let start = groups.len() - ITEMS * OVERLAP;
        let undos: Vec<Submission> = groups[start..]
            .iter()
            .map(|&group| Submission {
                replace: true,
                ..undo(group)
            })
            .collect();
        project
            .submit(&undos, now)
            .into_iter()
            .for_each(|answer| assert!(answer.is_ok(), "{answer:?}"));
    }
}

fn is_label(change: &dial::Change) -> bool {
    matches!(change, dial::Change::Label { .. })
}

#[test]
fn no_item_goes_to_more_people_than_wanted() {
    all_in_time(in_memory(), count("DIAL_ROUNDS", 10));
    let folder = tempfile::tempdir().unwrap();
    all_in_time(
        on_disk(folder.path()),
        count("DIAL_ROUNDS", 10).div_ceil(10),
    );
}

/// Some are late: every answer is kept, and flagged where the item had all it needs.
fn some_are_late(mut project: Project, seed: u64, steps: usize) {
    let mut random = Random::new(seed, Purpose::User, 1);
    let (mut now, mut holds) = (10, vec![None::<Lease>; PEOPLE]);
    let (mut late, mut answers) = (0, 0);
    for step in 0..steps {
        now += random.below(200) as u64;
        let me = random.below(PEOPLE);
        let name = format!("person {me}");
        match holds[me].take() {
            Some(lease) => {
                let others = of_others(&project, &lease.item, &name);
                let receipt = project
                    .submit_one(label(&step.to_string(), &name, &lease.item, 0), now)
                    .unwrap();
                assert_eq!(receipt.late, others >= OVERLAP, "{lease:?} at {now}");
                let record = &project.log().submission(&step.to_string()).unwrap()[0];
                assert_eq!(record.remark.late, receipt.late);
                late += usize::from(receipt.late);
                answers += 1;
            }
            None => {
                let leased = ask(&mut project, &name, now, &mut random);
                if let Some(lease) = &leased {
                    let people = busy(&mut project, now)[&lease.item];
                    assert!(people <= OVERLAP, "{people} people at {lease:?}");
                }
                holds[me] = leased;
            }
        }
    }
    let labels: usize = (0..ITEMS)
        .map(|item| project.log().labels().labels_of(&item.to_string()).count())
        .sum();
    assert_eq!(labels, answers, "every answer is kept");
    for item in (0..ITEMS).map(|item| item.to_string()) {
        let mine = |record: &&Record| matches!(record.change(), Some(dial::Change::Label { item: other, .. }) if *other == item);
        let in_time = project
            .log()
            .records()
            .iter()
            .filter(mine)
            .filter(|record| !record.remark.late)
            .count();
        assert!(in_time <= OVERLAP, "item {item}");
    }
    assert!(late > 0, "some were late");
}

#[test]
fn late_answers_are_kept_and_flagged() {
    for seed in 0..count("DIAL_ROUNDS", 10) {
        some_are_late(in_memory(), seed, 400);
    }
    let folder = tempfile::tempdir().unwrap();
    some_are_late(on_disk(folder.path()), 1_000, 300);
}

#[test]
fn leases_survive_a_restart() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("p.dial");
    let ids = None;
    let mut project =
        Project::create(&folder, Journal::Wal, &recipe(ITEMS, 1), ids, first(3), 1).unwrap();
    let wish = [("7".to_string(), 1)];
    let wanted = |annotator, now| Wanted {
        items: &wish,
        annotator,
        now,
        length: LENGTH,
    };
    let lease = project.lease(&wanted("ann", 10)).unwrap();
    assert!(lease.is_some());
    drop(project);
    let mut project = Project::open(&folder, Journal::Wal, 20).unwrap();
    assert_eq!(project.leases().unwrap(), [lease.unwrap()]);
    assert_eq!(
        project.lease(&wanted("bob", 10 + LENGTH - 1)).unwrap(),
        None,
        "it is ann's until it ends"
    );
    assert!(
        project
            .lease(&wanted("bob", 10 + LENGTH))
            .unwrap()
            .is_some(),
        "and then it may be had"
    );
}
