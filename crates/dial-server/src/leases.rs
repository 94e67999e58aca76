//! Leases: which items annotators are looking at, so that no item goes to more of them than wanted.
//!
//! They are in memory, so that nobody waits for a disk to be given an item. The writer keeps a copy with the project every
//! few seconds and at the end, from which a restart goes on; what a crash loses of it is that an item may be asked twice.
//!
//! A lease ends after ten minutes, with an answer, or when its annotator or its session takes more than they may hold: then
//! the one they took first ends. So nobody can take a pool away from the others by asking without answering.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

use dial_store::{Lease, Log};

/// How long an item is leased: ten minutes, in milliseconds.
pub const LEASE_LENGTH: u64 = 600_000;

/// The most items that one annotator holds.
const PER_ANNOTATOR: usize = 100;

/// The most items that one session holds, for all annotators it speaks for: half of the pool, but within these bounds.
const LEASES_PER_SESSION: (usize, usize) = (50, 1_000);

/// Who takes an item. Whoever has no name is told from others by their session.
#[derive(Clone, Copy, Debug)]
pub struct Holder<'a> {
    /// In whose name.
    pub annotator: &'a str,
    /// Through which session.
    pub session: &'a str,
}

impl Holder<'_> {
    /// Whether a lease is theirs: in their name, or of their session from before they had one.
    fn has(&self, held: &Held) -> bool {
        match held.lease.annotator.as_str() {
            "" => held.session == self.session,
            name => name == self.annotator,
        }
    }
}

/// A person, as far as that is known: a name, or a session without one.
type Person = (String, String);

/// The person who holds a lease.
fn person(annotator: &str, session: &str) -> Person {
    match annotator {
        "" => (String::new(), session.into()),
        name => (name.into(), String::new()),
    }
}

/// The place of a lease in the order in which leases were taken, which is also the order in which they end.
type Turn = u64;

/// The leases of a pool.
#[derive(Debug)]
pub struct Leases {
    per_session: usize,
    all: BTreeMap<Turn, Held>,
    of_item: HashMap<String, Vec<Turn>>,
    of_person: HashMap<Person, BTreeSet<Turn>>,
    of_session: HashMap<String, BTreeSet<Turn>>,
    next: Turn,
    changed: bool,
}

#[derive(Debug)]
struct Held {
    lease: Lease,
    session: String,
}

impl Leases {
    /// The leases that were kept with a project whose pool has so many items, without those that are over and those that were
    /// answered after they were kept.
    pub fn new(kept: Vec<Lease>, log: &Log, items: usize, now: u64) -> Leases {
        let (least, most) = LEASES_PER_SESSION;
        let mut leases = Leases {
            per_session: (items / 2).clamp(least, most),
            all: BTreeMap::new(),
            of_item: HashMap::new(),
            of_person: HashMap::new(),
            of_session: HashMap::new(),
            next: 0,
            changed: false,
        };
        // Of those without a name it is not known any more whose they were.
        let open = |lease: &Lease| {
            lease.is_live(now, LEASE_LENGTH)
                && !lease.annotator.is_empty()
                && log.label_of(&lease.item, &lease.annotator).is_none()
        };
        let mut kept: Vec<Lease> = kept.into_iter().filter(open).collect();
        kept.sort_by(|a, b| a.until.cmp(&b.until).then_with(|| a.item.cmp(&b.item)));
        for lease in kept {
            leases.insert(lease, "");
        }
        leases
    }

    /// Leases an item, anew if the annotator has it already. `room` is how many people may look at it in all.
    ///
    /// # Errors
    /// Others have it: when the first of their leases ends.
    pub fn take(
        &mut self,
        item: &str,
        room: usize,
        holder: Holder<'_>,
        now: u64,
    ) -> Result<Lease, u64> {
        self.end_old(now);
        let others = || self.on(item).filter(|held| !holder.has(held));
        if others().count() >= room {
            return Err(others().map(|held| held.lease.until).min().unwrap_or(now));
        }
        self.release(item, holder);
        let lease = Lease {
            item: item.into(),
            annotator: holder.annotator.into(),
            until: now + LEASE_LENGTH,
        };
        self.insert(lease.clone(), holder.session);
        let limits = [
            (
                self.of_person
                    .get(&person(holder.annotator, holder.session)),
                PER_ANNOTATOR,
            ),
            (self.of_session.get(holder.session), self.per_session),
        ];
        let over = limits.map(|(turns, limit)| {
            let turns = turns.filter(|turns| turns.len() > limit)?;
            turns.first().copied()
        });
        over.into_iter()
            .flatten()
            .for_each(|turn| self.remove(turn));
        Ok(lease)
    }

    /// Ends the lease that somebody has of an item, if there is one.
    pub fn release(&mut self, item: &str, holder: Holder<'_>) {
        let turns = self.of_item.get(item).into_iter().flatten();
        let mine = |turn: &&Turn| holder.has(&self.all[turn]);
        let mine: Vec<Turn> = turns.filter(mine).copied().collect();
        mine.into_iter().for_each(|turn| self.remove(turn));
    }

    /// The items that somebody holds, the one taken first first; also those from before they had a name.
    pub fn of(&self, holder: Holder<'_>, now: u64) -> Vec<String> {
        let people = [person(holder.annotator, ""), person("", holder.session)];
        let turns: BTreeSet<Turn> = people
            .iter()
            .filter_map(|person| self.of_person.get(person))
            .flatten()
            .copied()
            .collect();
        turns
            .iter()
            .map(|turn| &self.all[turn])
            .filter(|held| now < held.lease.until && holder.has(held))
            .map(|held| held.lease.item.clone())
            .collect()
    }

    /// Whether somebody holds an item now, and how many others do.
    pub fn holders(&self, item: &str, holder: Holder<'_>, now: u64) -> (bool, usize) {
        let live = self.on(item).filter(|held| now < held.lease.until);
        let (mine, others): (Vec<_>, Vec<_>) = live.partition(|held| holder.has(held));
        (!mine.is_empty(), others.len())
    }

    /// How many people hold an item.
    pub fn people(&self) -> usize {
        self.of_person.len()
    }

    /// All leases, if there were changes since they were asked for last.
    pub fn changes(&mut self) -> Option<Vec<Lease>> {
        let all = || self.all.values().map(|held| held.lease.clone()).collect();
        std::mem::take(&mut self.changed).then(all)
    }

    fn on(&self, item: &str) -> impl Iterator<Item = &Held> {
        let turns = self.of_item.get(item).into_iter().flatten();
        turns.map(|turn| &self.all[turn])
    }

    fn insert(&mut self, lease: Lease, session: &str) {
        let turn = self.next;
        self.next += 1;
        let Lease {
            item, annotator, ..
        } = &lease;
        self.of_item.entry(item.clone()).or_default().push(turn);
        let of_person = self.of_person.entry(person(annotator, session));
        of_person.or_default().insert(turn);
        let session = session.to_string();
        let of_session = self.of_session.entry(session.clone()).or_default();
        of_session.insert(turn);
        self.all.insert(turn, Held { lease, session });
        self.changed = true;
    }

    fn remove(&mut self, turn: Turn) {
        let Some(Held { lease, session }) = self.all.remove(&turn) else {
            return;
        };
        if let Some(turns) = self.of_item.get_mut(&lease.item) {
            turns.retain(|other| *other != turn);
            if turns.is_empty() {
                self.of_item.remove(&lease.item);
            }
        }
        let whose = person(&lease.annotator, &session);
        take_out(&mut self.of_person, &whose, turn);
        take_out(&mut self.of_session, &session, turn);
        self.changed = true;
    }

    /// Ends what is over.
    fn end_old(&mut self, now: u64) {
        while let Some((&turn, held)) = self.all.first_key_value()
            && held.lease.until <= now
        {
            self.remove(turn);
        }
    }
}

/// Takes a turn out of an index.
fn take_out<K: Eq + Hash>(index: &mut HashMap<K, BTreeSet<Turn>>, key: &K, turn: Turn) {
    if let Some(turns) = index.get_mut(key) {
        turns.remove(&turn);
        if turns.is_empty() {
            index.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use dial::seed::{Purpose, Random};
    use dial_store::{Decision, Project, Share, Submission};

    const PEOPLE: usize = 50;
    const ITEMS: usize = 80;
    const OVERLAP: usize = 2;

    fn holder<'a>(annotator: &'a str, session: &'a str) -> Holder<'a> {
        Holder { annotator, session }
    }

    /// Somebody who holds nothing.
    const NOBODY: Holder<'static> = Holder {
        annotator: "nobody",
        session: "none",
    };

    #[test]
    fn people_without_a_name_are_told_by_their_session() {
        let mut leases = leases(10);
        let (first, second) = (holder("", "a"), holder("", "b"));
        assert!(leases.take("1", 1, first, 5).is_ok());
        assert_eq!(leases.take("1", 1, second, 5), Err(5 + LEASE_LENGTH));
        assert!(leases.take("2", 1, second, 5).is_ok());
        assert_eq!(
            (leases.of(first, 5), leases.of(second, 5)),
            (vec!["1".into()], vec!["2".into()])
        );
        assert_eq!(leases.people(), 2);
        // Whoever gets a name still has what they had without one, and nobody else has it.
        let ann = holder("ann", "a");
        assert_eq!(leases.of(ann, 6), ["1"]);
        assert_eq!(leases.holders("1", ann, 6), (true, 0));
        assert_eq!(leases.holders("2", ann, 6), (false, 1));
        assert_eq!(
            leases.take("2", 1, holder("bob", "c"), 6),
            Err(5 + LEASE_LENGTH)
        );
        leases.release("1", ann);
        assert_eq!(leases.of(first, 6), Vec::<String>::new());
        // In one session a name is not the other.
        assert!(leases.take("3", 1, ann, 6).is_ok());
        assert_eq!(leases.of(holder("eve", "a"), 6), Vec::<String>::new());
        // After a restart nobody knows whose a lease without a name was.
        let log = Log::new("p");
        let kept = leases.changes().unwrap();
        let again = Leases::new(kept, &log, 10, 7);
        assert_eq!((again.people(), again.of(ann, 7)), (1, vec!["3".into()]));
    }

    fn leases(items: usize) -> Leases {
        Leases::new(Vec::new(), &Log::new("p"), items, 0)
    }

    #[test]
    fn no_item_goes_to_more_people_than_wanted() {
        let rounds = std::env::var("DIAL_ROUNDS").ok();
        let rounds: u64 = rounds.and_then(|count| count.parse().ok()).unwrap_or(10);
        for round in 0..rounds {
            let mut random = Random::new(round, Purpose::User, 0);
            let (mut leases, mut now) = (leases(10_000), 10);
            // Per item who answered; per person what they hold and until when.
            let mut answered = vec![Vec::<usize>::new(); ITEMS];
            let mut held = vec![BTreeMap::<usize, u64>::new(); PEOPLE];
            let mut answers = 0;
            for step in 0.. {
                assert!(step < 200_000, "it ends");
                now += random.below(2_000) as u64;
                let me = random.below(PEOPLE);
                held[me].retain(|_, until| now < *until);
                let name = format!("person {me}");
                let first = held[me].keys().next().copied();
                if let Some(item) = first.filter(|_| random.below(2) == 0) {
                    held[me].remove(&item);
                    leases.release(&item.to_string(), holder(&name, ""));
                    answered[item].push(me);
                    answers += 1;
                } else {
                    let order = random.distinct(ITEMS, ITEMS);
                    for item in order
                        .into_iter()
                        .filter(|&item| !answered[item].contains(&me))
                    {
                        let room = OVERLAP - answered[item].len();
                        let busy = |held: &BTreeMap<usize, u64>| {
                            held.get(&item).is_some_and(|until| now < *until)
                        };
                        let others = (held.iter().enumerate())
                            .filter(|(who, held)| *who != me && busy(held))
                            .count();
                        let name_of_item = item.to_string();
                        let taken = leases.take(&name_of_item, room, holder(&name, ""), now);
                        assert_eq!(
                            taken.is_ok(),
                            others < room,
                            "{others} others, room for {room}"
                        );
                        if let Ok(lease) = taken {
                            assert_eq!(lease.until, now + LEASE_LENGTH);
                            held[me].insert(item, lease.until);
                            break;
                        }
                    }
                }
                for (item, answered) in answered.iter().enumerate() {
                    let name = item.to_string();
                    let people = leases.holders(&name, NOBODY, now).1;
                    assert!(answered.len() + people <= OVERLAP, "item {item}");
                }
                if answers == ITEMS * OVERLAP {
                    break;
                }
            }
        }
    }

    #[test]
    fn whoever_takes_more_than_their_share_loses_what_they_took_first() {
        // One annotator holds at most 100.
        let mut one = leases(10_000);
        for item in 0..150 {
            one.take(&item.to_string(), 1, holder("ann", "a"), 5)
                .unwrap();
        }
        let left: Vec<String> = (50..150).map(|item| item.to_string()).collect();
        assert_eq!(one.of(holder("ann", "a"), 5), left);
        assert!(one.take("49", 1, holder("bob", "b"), 5).is_ok());
        assert_eq!(
            one.take("50", 1, holder("bob", "b"), 6),
            Err(5 + LEASE_LENGTH)
        );
        // A session that changes its annotator with every question: half of the pool, at most 1,000, at least 50.
        for (items, most) in [(10_000, 1_000), (120, 60), (20, 20)] {
            let mut many = leases(items);
            for item in 0..items {
                let who = format!("p{item}");
                many.take(&item.to_string(), 1, holder(&who, "a"), 5)
                    .unwrap();
            }
            let free = (0..items).filter(|item| many.holders(&item.to_string(), NOBODY, 5).1 == 0);
            assert_eq!(free.count(), items - most);
        }
    }

    #[test]
    fn a_restart_goes_on_with_leases_that_hold_and_are_not_answered() {
        let mut project = Project::in_memory("p", Vec::new(), None).unwrap();
        let add = |name: &str| Decision::AddClass { name: name.into() };
        let recipe = dial_store::Recipe {
            items: 10,
            ..dial_store::Recipe::new("rows", dial_data::ReadOptions::default())
        };
        let label = Decision::Label {
            item: "3".into(),
            classes: Share::of(&[(dial::ClassId(0), 1.0)]),
            adjudicates: false,
        };
        for (key, decision) in [Decision::Recipe(Box::new(recipe)), add("a"), label]
            .into_iter()
            .enumerate()
        {
            let submission = Submission {
                key: key.to_string(),
                annotator: "ann".into(),
                decisions: vec![decision],
                ..Submission::default()
            };
            project.submit_one(submission, 1).unwrap();
        }
        let lease = |item: &str, annotator: &str, until| Lease {
            item: item.into(),
            annotator: annotator.into(),
            until,
        };
        let now = 1_000_000;
        let kept = vec![
            lease("1", "ann", now + 5),
            lease("2", "ann", now),
            lease("3", "ann", now + 5),
            lease("3", "bob", now + 5),
            // By a clock that went wrong.
            lease("4", "ann", now + LEASE_LENGTH + 1),
        ];
        let mut leases = Leases::new(kept, project.log(), 10, now);
        assert_eq!(
            (
                leases.of(holder("ann", ""), now),
                leases.of(holder("bob", ""), now)
            ),
            (vec!["1".into()], vec!["3".into()])
        );
        assert_eq!(leases.people(), 2);
        let mut all = leases.changes().unwrap();
        all.sort_by(|a, b| a.item.cmp(&b.item));
        assert_eq!(
            all,
            [lease("1", "ann", now + 5), lease("3", "bob", now + 5)]
        );
        assert_eq!(leases.changes(), None, "nothing new");
        assert_eq!(
            leases.take("1", 1, holder("bob", ""), now + 4),
            Err(now + 5)
        );
        assert!(
            leases.take("1", 1, holder("bob", ""), now + 5).is_ok(),
            "it ended"
        );
        leases.release("1", holder("bob", ""));
        assert_eq!(leases.holders("1", NOBODY, now + 6), (false, 0));
        assert!(leases.changes().is_some());
    }
}
