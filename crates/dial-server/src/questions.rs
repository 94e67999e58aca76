//! Which item goes to whom next: chosen from what the model thought last, leased in the transaction that picks it.
//!
//! The order of preference: what this person has on their desk already; an item drawn at random, if it is time for one; items
//! that want another opinion; the question foreseen for the last answer; the questions of the model; and, where the
//! model is behind or has failed, items in an order that is random but the same for everybody.

use std::collections::HashSet;

use dial::seed::hash;
use dial::{Items, NodeId};
use dial_store::{Lease, Log, Project, Wanted};

use crate::app::App;
use crate::problem::Problem;
use crate::thinker::Thought;

/// How long an item is leased: ten minutes.
pub const LEASE: u64 = 600_000;

/// Items of the random order that are offered at once.
const OFFERED: usize = 200;

/// The name under which open audits are kept.
const AUDITS: &str = "audits";

/// An item for somebody.
pub struct Given {
    /// The lease.
    pub lease: Lease,
    /// Whether it was drawn at random to measure accuracy.
    pub audit: bool,
}

/// Leases up to `count` items to somebody.
pub fn give(
    app: &App,
    annotator: &str,
    count: usize,
    except: &[String],
) -> Result<Vec<Given>, Problem> {
    let thought = app.thinker.thought();
    let mut project = app.desk.project_mut();
    let now = app.clock.now();
    let leases = project.leases()?;
    let mut wishes = Wishes::new(app, project.log(), annotator, except);
    wishes.by_the_model(app, project.log(), &thought, &leases, now);
    let mut given: Vec<Given> = Vec::new();
    while given.len() < count {
        let found = project.lease(&Wanted {
            items: &wishes.items,
            annotator,
            now,
            length: LEASE,
        })?;
        let Some(lease) = found else {
            // What the model wants is on other desks, or there is none.
            if !wishes.at_random(app, project.log()) {
                break;
            }
            continue;
        };
        wishes.items.retain(|(item, _)| *item != lease.item);
        let audit = wishes.audit.as_ref() == Some(&lease.item);
        if audit {
            remember(app, &mut project, &lease);
        }
        given.push(Given { lease, audit });
    }
    let mut people: HashSet<&str> = leases
        .iter()
        .filter(|lease| lease.is_live(now, LEASE))
        .map(|lease| lease.annotator.as_str())
        .collect();
    people.insert(annotator);
    app.thinker.expect(people.len() + count.saturating_sub(1));
    Ok(given)
}

/// Keeps in mind, also after a restart, that an item was given to somebody as drawn at random.
fn remember(app: &App, project: &mut Project, lease: &Lease) {
    let mut audits = app.audits.lock();
    if audits.insert((lease.item.clone(), lease.annotator.clone())) {
        // Where this fails a restart forgets it, and the answer counts as any other.
        let _ = project.keep(AUDITS, &serde_json::to_vec(&*audits).unwrap_or_default());
    }
}

/// What was remembered before, without what is answered by now.
pub fn remembered(project: &mut Project) -> HashSet<(String, String)> {
    let kept = project.kept(AUDITS).ok().flatten().unwrap_or_default();
    let mut audits: HashSet<(String, String)> = serde_json::from_slice(&kept).unwrap_or_default();
    let labels = project.log().labels();
    audits.retain(|(item, annotator)| labels.labels_of(item).all(|(who, _)| who != annotator));
    audits
}

/// What may be given to somebody, the best first.
struct Wishes<'a> {
    annotator: &'a str,
    overlap: usize,
    items: Vec<(String, usize)>,
    seen: HashSet<String>,
    audit: Option<String>,
    random: bool,
}

impl<'a> Wishes<'a> {
    fn new(app: &App, log: &Log, annotator: &'a str, except: &[String]) -> Wishes<'a> {
        let (overlap, seen) = (
            app.material.recipe.overlap.max(1),
            except.iter().cloned().collect(),
        );
        let audit = audit_item(app, log, &app.material.engine.items);
        Wishes {
            annotator,
            overlap,
            items: Vec::new(),
            seen,
            audit,
            random: false,
        }
    }

    /// Wishes for an item, if there is room for this person's answer.
    fn wish(&mut self, log: &Log, item: &str) {
        let labels = log.labels();
        let (skipped, excluded) = labels.marks_of(item);
        let mine = labels.labels_of(item).any(|(who, _)| who == self.annotator);
        // Answers that came late took nobody's place.
        let in_time = |who: &str| {
            log.record_of(item, who)
                .is_none_or(|record| !record.remark.late)
        };
        let room = self.overlap.saturating_sub(
            labels
                .labels_of(item)
                .filter(|(who, _)| in_time(who))
                .count(),
        );
        if !skipped && !excluded && !mine && room > 0 && self.seen.insert(item.to_string()) {
            self.items.push((item.to_string(), room));
        }
    }

    fn by_the_model(
        &mut self,
        app: &App,
        log: &Log,
        thought: &Thought,
        leases: &[Lease],
        now: u64,
    ) {
        let annotator = self.annotator;
        let mine = leases
            .iter()
            .filter(|lease| lease.annotator == annotator && lease.is_live(now, LEASE));
        mine.for_each(|lease| self.wish(log, &lease.item));
        self.audit
            .clone()
            .iter()
            .for_each(|item| self.wish(log, item));
        if self.overlap > 1 {
            let wanting = log
                .labels()
                .labelled()
                .filter(|item| askable(app, &app.material.engine.items, item));
            for item in wanting {
                self.wish(log, item);
                if self.items.len() >= OFFERED {
                    break;
                }
            }
        }
        foreseen(log, thought)
            .iter()
            .for_each(|item| self.wish(log, item));
        thought
            .questions
            .iter()
            .for_each(|question| self.wish(log, &question.item));
    }

    /// Some open items, in an order that is random but the same for everybody. False if that was done before.
    fn at_random(&mut self, app: &App, log: &Log) -> bool {
        if std::mem::replace(&mut self.random, true) {
            return false;
        }
        let items = &app.material.engine.items;
        for &node in app.random_order() {
            let item = items.id(NodeId(node));
            if log.labels().labels_of(&item).next().is_none() {
                self.wish(log, &item);
            }
            if self.items.len() >= OFFERED {
                break;
            }
        }
        true
    }
}

/// The question that was foreseen for the answers the model does not know yet.
fn foreseen(log: &Log, thought: &Thought) -> Option<String> {
    let mut new = log.records()[thought.version.min(log.version()) as usize..].iter();
    match (new.next().and_then(|record| record.change()), new.next()) {
        (Some(dial::Change::Label { item, classes }), None) => match classes.as_slice() {
            [(class, _)] => thought.foreseen.get(&(item.clone(), *class)).cloned(),
            _ => None,
        },
        _ => None,
    }
}

/// An item drawn at random among all that may be asked, if it is time for one: by the number of labels, so that asking
/// again gives the same.
fn audit_item(app: &App, log: &Log, items: &Items) -> Option<String> {
    let share = app.material.recipe.audit;
    let round = log.labels().labelled().count() as u64;
    let draw =
        (hash(app.material.recipe.config.seed ^ 0xA0D1, round) >> 11) as f64 / (1u64 << 53) as f64;
    if draw >= share {
        return None;
    }
    let n = items.len() as u64;
    let open =
        |item: &String| askable(app, items, item) && log.labels().labels_of(item).next().is_none();
    let tries =
        (0..200u64).map(|again| items.id(NodeId((hash(round, 1 + again) % n.max(1)) as u32)));
    tries.into_iter().find(open)
}

fn askable(app: &App, items: &Items, item: &str) -> bool {
    let allowed = app.material.engine.askable.as_ref();
    items
        .node(item)
        .is_ok_and(|node| allowed.is_none_or(|allowed| allowed[node.index()]))
}
