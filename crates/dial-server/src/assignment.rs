//! Which item goes to whom next: chosen from the last snapshot of the model, leased in the transaction that picks it.
//!
//! The order of preference: what this person has leased already; an item drawn at random, if it is time for one; items
//! that want another opinion; the question foreseen for the last answer; the questions of the model; and, where the
//! model is behind or has failed, items in an order that is random but the same for everybody.

use std::collections::HashSet;
use std::sync::OnceLock;

use dial::NodeId;
use dial::seed::hash;
use dial_store::{Lease, Log, Material, Project, Wanted};

use crate::app::App;
use crate::http::problem::Problem;
use crate::http::wire::Next;
use crate::model_worker::ModelSnapshot;

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
    let snapshot = app.model.snapshot();
    let mut project = app.writer.project_mut();
    let now = app.clock.now();
    let leases = project.leases()?;
    let live = || leases.iter().filter(|lease| lease.is_live(now, LEASE));
    let mut wishes = Wishes::new(&app.material, annotator, except);
    for lease in live().filter(|lease| lease.annotator == annotator) {
        wishes.wish(project.log(), &lease.item);
    }
    wishes.by_the_model(project.log(), &snapshot);
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
            if !wishes.at_random(project.log(), &app.order) {
                break;
            }
            continue;
        };
        wishes.items.retain(|(item, _)| *item != lease.item);
        let audit = wishes.audit.as_ref() == Some(&lease.item);
        if audit {
            let pair = (lease.item.clone(), lease.annotator.clone());
            remember(&mut app.audits.lock(), &mut project, pair);
        }
        given.push(Given { lease, audit });
    }
    let mut people: HashSet<&str> = live().map(|lease| lease.annotator.as_str()).collect();
    people.insert(annotator);
    app.model.expect(people.len() + count.saturating_sub(1));
    Ok(given)
}

/// The same without leases, where nobody else can ask: the items, and whether each was drawn at random.
pub fn choose(
    material: &Material,
    log: &Log,
    snapshot: &ModelSnapshot,
    wish: &Next,
) -> Vec<(String, bool)> {
    let mut wishes = Wishes::new(material, &wish.annotator, &wish.except);
    wishes.by_the_model(log, snapshot);
    if wishes.items.len() < wish.count {
        wishes.at_random(log, &OnceLock::new());
    }
    let Wishes { items, audit, .. } = wishes;
    let chosen = items.into_iter().take(wish.count);
    chosen
        .map(|(item, _)| (item.clone(), audit.as_ref() == Some(&item)))
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

/// What may be given to somebody, the best first.
struct Wishes<'a> {
    material: &'a Material,
    annotator: &'a str,
    overlap: usize,
    items: Vec<(String, usize)>,
    seen: HashSet<String>,
    audit: Option<String>,
    random: bool,
}

impl<'a> Wishes<'a> {
    fn new(material: &'a Material, annotator: &'a str, except: &[String]) -> Wishes<'a> {
        Wishes {
            material,
            annotator,
            overlap: material.recipe.overlap.max(1),
            items: Vec::new(),
            seen: except.iter().cloned().collect(),
            audit: None,
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

    fn by_the_model(&mut self, log: &Log, snapshot: &ModelSnapshot) {
        self.audit = audit_item(self.material, log);
        if let Some(item) = self.audit.clone() {
            self.wish(log, &item);
        }
        if self.overlap > 1 {
            let material = self.material;
            let wanting = log
                .labels()
                .labelled()
                .filter(|item| askable(material, item));
            for item in wanting {
                self.wish(log, item);
                if self.items.len() >= OFFERED {
                    break;
                }
            }
        }
        foreseen(log, snapshot)
            .iter()
            .for_each(|item| self.wish(log, item));
        snapshot
            .questions
            .iter()
            .for_each(|question| self.wish(log, &question.item));
    }

    /// Some open items, in an order that is random but the same for everybody. False if that was done before.
    fn at_random(&mut self, log: &Log, order: &OnceLock<Vec<u32>>) -> bool {
        if std::mem::replace(&mut self.random, true) {
            return false;
        }
        let material = self.material;
        for &node in order.get_or_init(|| random_order(material)) {
            let item = material.engine.items.id(NodeId(node));
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

/// The nodes that may be asked, in an order that is random but always the same.
fn random_order(material: &Material) -> Vec<u32> {
    let allowed = material.engine.askable.as_ref();
    let open = |node: &u32| allowed.is_none_or(|allowed| allowed[*node as usize]);
    let mut nodes: Vec<u32> = (0..material.engine.items.len() as u32)
        .filter(open)
        .collect();
    nodes.sort_by_key(|&node| hash(material.recipe.config.seed, u64::from(node)));
    nodes
}

/// The question that was foreseen for the answers the model does not know yet.
fn foreseen(log: &Log, snapshot: &ModelSnapshot) -> Option<String> {
    let mut new = log.records()[snapshot.version.min(log.version()) as usize..].iter();
    match (new.next().and_then(|record| record.change()), new.next()) {
        (Some(dial::Change::Label { item, classes }), None) => match classes.as_slice() {
            [(class, _)] => snapshot.foreseen.get(&(item.clone(), *class)).cloned(),
            _ => None,
        },
        _ => None,
    }
}

/// An item drawn at random among all that may be asked, if it is time for one: by the number of labels, so that asking
/// again gives the same.
fn audit_item(material: &Material, log: &Log) -> Option<String> {
    let (recipe, items) = (&material.recipe, &material.engine.items);
    let round = log.labels().labelled().count() as u64;
    let draw = (hash(recipe.config.seed ^ 0xA0D1, round) >> 11) as f64 / (1u64 << 53) as f64;
    if draw >= recipe.audit {
        return None;
    }
    let n = items.len() as u64;
    let open =
        |item: &String| askable(material, item) && log.labels().labels_of(item).next().is_none();
    let tries =
        (0..200u64).map(|again| items.id(NodeId((hash(round, 1 + again) % n.max(1)) as u32)));
    tries.into_iter().find(open)
}

fn askable(material: &Material, item: &str) -> bool {
    let allowed = material.engine.askable.as_ref();
    let node = material.engine.items.node(item);
    node.is_ok_and(|node| allowed.is_none_or(|allowed| allowed[node.index()]))
}
