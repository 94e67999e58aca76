//! Which item goes to whom next: chosen from the last snapshot of the model, and leased as it is chosen.
//!
//! The order of preference: what this annotator has leased already; an item drawn at random, if it is time for one; items
//! that want another opinion; the question of the lookahead for the last answer; the questions of the model; and, where the
//! model is behind or has failed, items in an order that is random but the same for everybody. An item that as many others
//! are looking at as wanted is passed over; only where that is all there is, the answer is to ask again later.

use std::collections::HashSet;

use dial::NodeId;
use dial::seed::hash;
use dial_store::{Lease, Log, PreparedPool, Project};
use parking_lot::Mutex;

use crate::app::App;
use crate::http::problem::Problem;
use crate::http::wire::Next;
use crate::leases::Holder;
use crate::model_worker::ModelSnapshot;

/// The name under which open audits are kept.
const AUDITS: &str = "audits";

/// An item leased to an annotator.
pub struct LeasedItem {
    /// The lease.
    pub lease: Lease,
    /// Whether it was drawn at random to measure accuracy.
    pub audit: bool,
}

/// Leases up to the number of items that an annotator asks for.
///
/// # Errors
/// Others are answering every open item right now (C14).
pub fn lease_items(app: &App, wish: &Next, session: &str) -> Result<Vec<LeasedItem>, Problem> {
    let (snapshot, project, now) = (app.model.snapshot(), app.writer.project(), app.clock.now());
    let (log, leases) = (project.log(), &app.writer.shared().leases);
    let annotator = wish.annotator.as_str();
    let holder = Holder { annotator, session };
    let own = leases.lock().of(holder, now);
    let mut wishes = Wishes::new(&app.prepared, annotator, &wish.except);
    let audit = audit_item(&app.prepared, log);
    let candidates = own
        .into_iter()
        .chain(candidates(&app.prepared, log, &snapshot, audit.clone()))
        .chain(app.order.items(&app.prepared, log));
    let (mut leased, mut free) = (Vec::new(), None::<u64>);
    for item in candidates {
        // Others answer meanwhile. An answer is published before its lease ends, so the log that is read while the leases
        // are locked has every answer whose lease is gone.
        let mut locked = leases.lock();
        let newest = app.writer.project();
        let room = wishes.room(newest.log(), &item);
        let taken = (room > 0).then(|| locked.take(&item, room, holder, now));
        // Before the log is let go: to free it takes a while where nobody else has it any more.
        drop(locked);
        match taken {
            Some(Ok(lease)) => {
                let audit = audit.as_ref() == Some(&lease.item);
                leased.push(LeasedItem { lease, audit });
            }
            Some(Err(until)) => free = Some(free.map_or(until, |free| free.min(until))),
            None => {}
        }
        if leased.len() == wish.count {
            break;
        }
    }
    for LeasedItem { lease, .. } in leased.iter().filter(|leased| leased.audit) {
        let pair = (lease.item.clone(), lease.annotator.clone());
        let mut audits = app.audits.lock();
        if audits.insert(pair) {
            let bytes = serde_json::to_vec(&*audits).unwrap_or_default();
            app.writer.shared().keep_soon(AUDITS, bytes);
        }
    }
    let people = leases.lock().people().max(1);
    app.model.expect(people + wish.count.saturating_sub(1));
    match free.filter(|_| leased.is_empty()) {
        Some(until) => Err(Problem::all_taken(until.saturating_sub(now))),
        None => Ok(leased),
    }
}

/// The same without leases, where nobody else can ask: the items, and whether each was drawn at random.
pub fn choose(
    prepared: &PreparedPool,
    log: &Log,
    snapshot: &ModelSnapshot,
    wish: &Next,
) -> Vec<(String, bool)> {
    let mut wishes = Wishes::new(prepared, &wish.annotator, &wish.except);
    let (audit, order) = (audit_item(prepared, log), RandomOrder::default());
    let candidates = candidates(prepared, log, snapshot, audit.clone());
    candidates
        .chain(order.items(prepared, log))
        .filter(|item| wishes.room(log, item) > 0)
        .take(wish.count)
        .map(|item| {
            let drawn = audit.as_ref() == Some(&item);
            (item, drawn)
        })
        .collect()
}

/// Items that were given to somebody to measure the accuracy: item and annotator.
pub type Audits = HashSet<(String, String)>;

/// Keeps in mind, also after a restart, that an item was given to somebody as drawn at random.
pub fn remember(audits: &mut Audits, project: &mut Project, pair: (String, String)) {
    if audits.insert(pair) {
        // Where this fails a restart forgets it, and the answer counts as any other.
        let _ = project.keep(AUDITS, &serde_json::to_vec(audits).unwrap_or_default());
    }
}

/// What was remembered before, without what is answered by now.
pub fn remembered(project: &mut Project) -> Audits {
    let kept = project.kept(AUDITS).ok().flatten().unwrap_or_default();
    let mut audits: Audits = serde_json::from_slice(&kept).unwrap_or_default();
    let labels = project.log().labels();
    audits.retain(|(item, annotator)| labels.labels_of(item).all(|(who, _)| who != annotator));
    audits
}

/// What an annotator may be asked.
struct Wishes<'a> {
    annotator: &'a str,
    overlap: usize,
    /// Items that were looked at, or are on screen.
    seen: HashSet<String>,
}

impl<'a> Wishes<'a> {
    fn new(prepared: &PreparedPool, annotator: &'a str, except: &[String]) -> Wishes<'a> {
        Wishes {
            annotator,
            overlap: prepared.recipe.overlap.max(1),
            seen: except.iter().cloned().collect(),
        }
    }

    /// How many people may answer for an item, this annotator included; 0 if this annotator may not, or if it was looked at
    /// before.
    fn room(&mut self, log: &Log, item: &str) -> usize {
        let labels = log.labels();
        let (skipped, excluded) = labels.marks_of(item);
        let mine = labels.labels_of(item).any(|(who, _)| who == self.annotator);
        // Answers that came late took nobody's place.
        let in_time = |who: &str| {
            let record = log.record_of(item, who);
            record.is_none_or(|record| !record.provenance.late)
        };
        let answers = labels.labels_of(item).filter(|(who, _)| in_time(who));
        let room = self.overlap.saturating_sub(answers.count());
        match !skipped && !excluded && !mine && room > 0 && self.seen.insert(item.to_string()) {
            true => room,
            false => 0,
        }
    }
}

/// What to ask by the audit, for another opinion and by the model, the best first.
fn candidates<'a>(
    prepared: &'a PreparedPool,
    log: &'a Log,
    snapshot: &'a ModelSnapshot,
    audit: Option<String>,
) -> impl Iterator<Item = String> + 'a {
    let labelled = (prepared.recipe.overlap > 1).then(|| log.labels().labelled());
    let wanting = labelled.into_iter().flatten();
    let wanting = wanting.filter(|item| askable(prepared, item));
    let questions = snapshot.questions.iter();
    // The model may not know yet that an item has a label.
    let asked = of_lookahead(log, snapshot)
        .into_iter()
        .chain(questions.map(|question| question.item.clone()))
        .filter(move |item| is_unlabelled(log, item));
    audit
        .into_iter()
        .chain(wanting.map(String::from))
        .chain(asked)
}

fn is_unlabelled(log: &Log, item: &str) -> bool {
    log.labels().labels_of(item).next().is_none()
}

/// The items that may be asked, in an order that is random but always the same.
#[derive(Default)]
pub struct RandomOrder {
    state: Mutex<Order>,
}

#[derive(Default)]
struct Order {
    nodes: Option<std::sync::Arc<Vec<u32>>>,
    /// All items before this place are closed at this version of the log.
    closed: usize,
    version: u64,
}

impl RandomOrder {
    /// Those that have no label yet.
    fn items<'a>(
        &'a self,
        prepared: &'a PreparedPool,
        log: &'a Log,
    ) -> impl Iterator<Item = String> + 'a {
        let item = |node: u32| prepared.engine.items.id(NodeId(node));
        let open = move |item: &String| is_unlabelled(log, item);
        // Made when the first item is wanted: mostly the model has questions enough.
        let start = std::iter::once_with(move || self.start(prepared, log));
        start.flat_map(move |(nodes, start)| {
            (start..nodes.len())
                .map(move |place| item(nodes[place]))
                .filter(open)
        })
    }

    /// The order, and a place before which all items are closed. The place only moves on while nothing is opened again, so that a
    /// long project does not look through all its labels for each question.
    fn start(&self, prepared: &PreparedPool, log: &Log) -> (std::sync::Arc<Vec<u32>>, usize) {
        let mut order = self.state.lock();
        let make = || std::sync::Arc::new(random_order(prepared));
        let nodes = std::sync::Arc::clone(order.nodes.get_or_insert_with(make));
        let Some(since) = log.records().get(order.version as usize..) else {
            // A reader that is behind.
            return (nodes, 0);
        };
        let opens = |record: &dial_store::Record| record.change().is_some_and(dial::Change::opens);
        if since.iter().any(opens) {
            order.closed = 0;
        }
        let closed = |node: &u32| {
            let item = prepared.engine.items.id(NodeId(*node));
            let (skipped, excluded) = log.labels().marks_of(&item);
            skipped || excluded || !is_unlabelled(log, &item)
        };
        let rest = nodes[order.closed..].iter();
        order.closed += rest.take_while(|node| closed(node)).count();
        order.version = log.version();
        (nodes, order.closed)
    }
}

/// The nodes that may be asked, in an order that is random but always the same.
fn random_order(prepared: &PreparedPool) -> Vec<u32> {
    let allowed = prepared.engine.askable.as_ref();
    let open = |node: &u32| allowed.is_none_or(|allowed| allowed[*node as usize]);
    let mut nodes: Vec<u32> = (0..prepared.engine.items.len() as u32)
        .filter(open)
        .collect();
    nodes.sort_by_key(|&node| hash(prepared.recipe.config.seed, u64::from(node)));
    nodes
}

/// The question that the lookahead found for the answers the model does not know yet.
fn of_lookahead(log: &Log, snapshot: &ModelSnapshot) -> Option<String> {
    let mut new = log.records()[snapshot.version.min(log.version()) as usize..].iter();
    match (new.next().and_then(|record| record.change()), new.next()) {
        (Some(dial::Change::Label { item, classes, .. }), None) => match classes.as_slice() {
            [(class, _)] => snapshot.lookahead.get(&(item.clone(), *class)).cloned(),
            _ => None,
        },
        _ => None,
    }
}

/// An item drawn at random among all that may be asked, if it is time for one: by the number of labels, so that asking
/// again gives the same.
fn audit_item(prepared: &PreparedPool, log: &Log) -> Option<String> {
    let (recipe, items) = (&prepared.recipe, &prepared.engine.items);
    let round = log.labels().labelled().count() as u64;
    let draw = (hash(recipe.config.seed ^ 0xA0D1, round) >> 11) as f64 / (1u64 << 53) as f64;
    if draw >= recipe.audit {
        return None;
    }
    let n = items.len() as u64;
    let open = |item: &String| askable(prepared, item) && is_unlabelled(log, item);
    let tries =
        (0..200u64).map(|again| items.id(NodeId((hash(round, 1 + again) % n.max(1)) as u32)));
    tries.into_iter().find(open)
}

fn askable(prepared: &PreparedPool, item: &str) -> bool {
    let allowed = prepared.engine.askable.as_ref();
    let node = prepared.engine.items.node(item);
    node.is_ok_and(|node| allowed.is_none_or(|allowed| allowed[node.index()]))
}
