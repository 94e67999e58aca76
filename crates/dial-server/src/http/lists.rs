//! Lists of items: beliefs of the whole pool, labels at odds with the graph, disagreements between annotators.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use dial::{NodeId, View};
use dial_data::Show;
use dial_store::{Log, PreparedPool};
use rayon::prelude::*;

use crate::app::App;
use crate::http::input::{Asked, Long};
use crate::http::problem::Problem;
use crate::http::routes::page;
use crate::http::wire::{
    Believed, Disagreement, LabelOf, Open, OpenOf, Order, Page, Part, Passed, Suspect, Which,
};
use crate::item_view;
use crate::model_worker::ModelSnapshot;

type Shared = State<Arc<App>>;

/// The items with what is believed about them.
#[utoipa::path(get, path = "/items", params(Which), responses((status = 200, body = Page<Believed>)))]
pub async fn items(
    State(app): Shared,
    Asked(which): Asked<Which>,
    permit: Long,
) -> Result<Json<Page<Believed>>, Problem> {
    permit
        .answer(&app, move |app| {
            let (total, mut rows) = believed(&app.prepared, &app.model.snapshot(), &which);
            // Only now, so that nobody waits for the search.
            let project = app.writer.project();
            rows.iter_mut()
                .for_each(|row| row.labels = item_view::labels(project.log(), &row.id));
            Ok(Page {
                version: project.log().version(),
                total,
                rows,
            })
        })
        .await
}

/// How many items are wanted, and some of them with what is believed about them; their labels are
/// for others to fill in.
pub fn believed(
    prepared: &PreparedPool,
    snapshot: &ModelSnapshot,
    which: &Which,
) -> (usize, Vec<Believed>) {
    let Some(view) = &snapshot.view else {
        return (0, Vec::new());
    };
    let found = found(prepared, view, which);
    let row = |&node: &NodeId| {
        let id = prepared.engine.items.id(node);
        Believed {
            row: node.0,
            show: item_view::shown(prepared, node, &id, item_view::MAX_TEXT_IN_LIST),
            belief: item_view::belief(&view.prediction(node), view.classes(), snapshot.version),
            labels: Vec::new(),
            id,
        }
    };
    let wanted = found
        .iter()
        .skip(which.offset)
        .take(which.limit.clamp(1, 1000));
    (found.len(), wanted.map(row).collect())
}

/// The items that are wanted, in the order that is wanted.
fn found(prepared: &PreparedPool, view: &View<'_>, which: &Which) -> Vec<NodeId> {
    let wanted = |node: &NodeId| {
        let labelled = || view.labelled().binary_search(node).is_ok();
        which
            .class
            .is_none_or(|class| view.class(*node).0 == class && (!which.open || heard(view, *node)))
            && !(which.open && view.open().binary_search(node).is_err())
            && (!which.labelled || labelled())
            && contains(prepared, *node, &which.search)
    };
    let nodes: Vec<NodeId> = (0..view.n() as u32)
        .into_par_iter()
        .map(NodeId)
        .filter(wanted)
        .collect();
    if which.order == Order::Row {
        return nodes;
    }
    let mut sure: Vec<(NodeId, f64)> = nodes
        .into_par_iter()
        .map(|node| (node, view.confidence(node)))
        .collect();
    sure.par_sort_by(|a, b| match which.order {
        Order::Doubtful => a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)),
        _ => b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)),
    });
    sure.into_iter().map(|(node, _)| node).collect()
}

/// Whether a label says anything about an item.
fn heard(view: &View<'_>, node: NodeId) -> bool {
    view.evidence(node) > 0.0
}

/// How many items that may be asked are believed to be of each class.
#[utoipa::path(get, path = "/open", responses((status = 200, body = Open)))]
pub async fn open(State(app): Shared, permit: Long) -> Result<Json<Open>, Problem> {
    permit
        .answer(&app, |app| {
            let snapshot = app.model.snapshot();
            let Some(view) = &snapshot.view else {
                return Ok(Open::default());
            };
            let class = |&node: &NodeId| heard(view, node).then(|| view.class(node).0);
            let classes: Vec<u16> = view.open().par_iter().filter_map(class).collect();
            let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
            for class in classes {
                *counts.entry(class).or_insert(0) += 1;
            }
            let counts = counts.into_iter();
            Ok(Open {
                version: snapshot.version,
                classes: counts
                    .map(|(class, items)| OpenOf { class, items })
                    .collect(),
            })
        })
        .await
}

/// The items that were skipped or excluded, the latest first.
#[utoipa::path(get, path = "/passed", params(Part), responses((status = 200, body = Page<Passed>)))]
pub async fn passed(
    State(app): Shared,
    Asked(part): Asked<Part>,
    permit: Long,
) -> Result<Json<Page<Passed>>, Problem> {
    permit
        .answer(&app, move |app| {
            Ok(passed_over(app.writer.project().log(), &part))
        })
        .await
}

/// A part of the items that were skipped or excluded.
pub fn passed_over(log: &Log, part: &Part) -> Page<Passed> {
    let found = |one: &Passed| one.id.contains(&part.search);
    let all = dial_store::passed(log).into_iter().filter(found);
    page(log.version(), all.collect(), part)
}

/// Whether the id or the text of an item contains this.
fn contains(prepared: &PreparedPool, node: NodeId, search: &str) -> bool {
    let search = search.to_lowercase();
    let within = |text: &str| text.to_lowercase().contains(&search);
    search.is_empty()
        || within(&prepared.engine.items.id(node))
        || matches!(&prepared.pool.show, Show::Texts(texts) if within(&texts[node.index()]))
}

/// Labels at odds with the graph, the least probable first.
#[utoipa::path(get, path = "/suspects", params(Part), responses((status = 200, body = Page<Suspect>)))]
pub async fn suspects(
    State(app): Shared,
    Asked(part): Asked<Part>,
    permit: Long,
) -> Result<Json<Page<Suspect>>, Problem> {
    permit
        .answer(&app, move |app| {
            let (snapshot, project) = (app.model.snapshot(), app.writer.project());
            Ok(page(
                snapshot.version,
                at_odds(&app.prepared, &snapshot, project.log()),
                &part,
            ))
        })
        .await
}

/// All items whose labels the others contradict.
pub fn at_odds(prepared: &PreparedPool, snapshot: &ModelSnapshot, log: &Log) -> Vec<Suspect> {
    let suspect = |one: dial::session::view::LeaveOneOut| {
        let id = prepared.engine.items.id(one.node);
        Suspect {
            label: one.label.0,
            expected: one.expected.0,
            probability: one.probability,
            labels: item_view::labels(log, &id),
            id,
        }
    };
    let view = snapshot.view.as_ref();
    let suspects = view.map_or(Vec::new(), |view| view.suspects());
    suspects.into_iter().map(suspect).collect()
}

/// Items that annotators disagree about.
#[utoipa::path(get, path = "/disagreements", params(Part), responses((status = 200, body = Page<Disagreement>)))]
pub async fn disagreements(
    State(app): Shared,
    Asked(part): Asked<Part>,
    permit: Long,
) -> Result<Json<Page<Disagreement>>, Problem> {
    permit
        .answer(&app, move |app| {
            let project = app.writer.project();
            let log = project.log();
            let differ = |labels: &Vec<LabelOf>| {
                labels
                    .windows(2)
                    .any(|pair| pair[0].classes != pair[1].classes)
            };
            let item = |item: &str| Disagreement {
                id: item.into(),
                labels: item_view::labels(log, item),
            };
            let all = log.labels().labelled().map(item);
            let all = all.filter(|item| differ(&item.labels)).collect();
            Ok(page(log.version(), all, &part))
        })
        .await
}
