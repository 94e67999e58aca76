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
pub fn give(app: &App, annotator: &str, count: usize, except: &[String]) -> Result<Vec<Given>, Problem> {
    let thought = app.thinker.thought();
    let mut project = app.desk.project_mut();
    let mut given: Vec<Given> = Vec::new();
    let mut taken: HashSet<String> = except.iter().cloned().collect();
    while given.len() < count {
        let now = app.clock.now();
        let leases = project.leases()?;
        let wish = wishes(app, project.log(), &thought, annotator, &leases, &taken, now);
        let Some(lease) = project.lease(&Wanted { items: &wish.items, annotator, now, length: LEASE })? else { break };
        taken.insert(lease.item.clone());
        let audit = wish.audit.as_ref() == Some(&lease.item);
        if audit {
            remember(app, &mut project, &lease);
        }
        given.push(Given { lease, audit });
    }
    let now = app.clock.now();
    let people = project.leases()?.into_iter().filter(|lease| lease.is_live(now, LEASE)).map(|lease| lease.annotator);
    app.thinker.expect(people.collect::<HashSet<String>>().len() + count.saturating_sub(1));
    Ok(given)
}

/// Keeps in mind, also after a restart, that an item was given to somebody as drawn at random.
fn remember(app: &App, project: &mut Project, lease: &Lease) {
    let mut audits = app.audits.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
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

struct Wishes {
    items: Vec<(String, usize)>,
    audit: Option<String>,
}

/// What may be given to somebody, the best first.
fn wishes(
    app: &App,
    log: &Log,
    thought: &Thought,
    annotator: &str,
    leases: &[Lease],
    taken: &HashSet<String>,
    now: u64,
) -> Wishes {
    let items = &app.material.setting.items;
    let overlap = app.material.recipe.overlap.max(1);
    let labels = log.labels();
    let mut seen: HashSet<String> = taken.clone();
    let mut wished: Vec<(String, usize)> = Vec::new();
    let mut wish = |item: &str| {
        let (skipped, excluded) = labels.marks_of(item);
        let mine = labels.labels_of(item).any(|(who, _)| who == annotator);
        let room = overlap.saturating_sub(labels.labels_of(item).count());
        if !skipped && !excluded && !mine && room > 0 && seen.insert(item.to_string()) {
            wished.push((item.to_string(), room));
        }
    };
    let mine = leases.iter().filter(|lease| lease.annotator == annotator && lease.is_live(now, LEASE));
    mine.for_each(|lease| wish(&lease.item));
    let audit = audit_item(app, log, items);
    audit.iter().for_each(|item| wish(item));
    if overlap > 1 {
        labels.labelled().for_each(&mut wish);
    }
    foreseen(log, thought).iter().for_each(|item| wish(item));
    thought.questions.iter().for_each(|question| wish(&question.item));
    random_order(app, log, items).for_each(|item| wish(&item));
    Wishes { items: wished, audit }
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
    let draw = (hash(app.material.recipe.seed ^ 0xA0D1, round) >> 11) as f64 / (1u64 << 53) as f64;
    if draw >= share {
        return None;
    }
    let n = items.len() as u64;
    let open = |item: &String| askable(app, items, item) && log.labels().labels_of(item).next().is_none();
    let tries = (0..200u64).map(|again| items.id(NodeId((hash(round, 1 + again) % n.max(1)) as u32)));
    tries.into_iter().find(open)
}

/// Some open items, in an order that is random but the same for everybody.
fn random_order<'a>(app: &'a App, log: &'a Log, items: &'a Items) -> impl Iterator<Item = String> + 'a {
    let closed: HashSet<&str> = log.labels().closed().collect();
    let order = app.random_order();
    let open = order.iter().map(|&node| items.id(NodeId(node))).filter(move |item| !closed.contains(item.as_str()));
    open.take(OFFERED).collect::<Vec<_>>().into_iter()
}

fn askable(app: &App, items: &Items, item: &str) -> bool {
    let allowed = app.material.options.askable.as_ref();
    items.node(item).is_ok_and(|node| allowed.is_none_or(|allowed| allowed[node.index()]))
}
