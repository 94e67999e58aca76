//! Lists of items: beliefs of the whole pool, labels at odds with the graph, disagreements between annotators.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use dial::{NodeId, View};
use dial_data::Show;
use dial_store::Material;
use rayon::prelude::*;

use crate::app::App;
use crate::http::input::Asked;
use crate::http::problem::Problem;
use crate::http::routes::{answer, page};
use crate::http::wire::{Believed, Disagreement, LabelOf, Order, Page, Part, Suspect, Which};
use crate::item_view;
use crate::model_worker::ModelSnapshot;

type Shared = State<Arc<App>>;

/// The items with what is believed about them.
#[utoipa::path(get, path = "/items", params(Which), responses((status = 200, body = Page<Believed>)))]
pub async fn items(
    State(app): Shared,
    Asked(which): Asked<Which>,
) -> Result<Json<Page<Believed>>, Problem> {
    answer(&app, move |app| {
        let (total, mut rows) = believed(&app.material, &app.model.snapshot(), &which);
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
    material: &Material,
    snapshot: &ModelSnapshot,
    which: &Which,
) -> (usize, Vec<Believed>) {
    let Some(view) = &snapshot.view else {
        return (0, Vec::new());
    };
    let found = found(material, view, which);
    let row = |&node: &NodeId| {
        let id = material.engine.items.id(node);
        Believed {
            row: node.0,
            show: item_view::shown(material, node, &id, item_view::SHORT),
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
fn found(material: &Material, view: &View<'_>, which: &Which) -> Vec<NodeId> {
    let wanted = |node: &NodeId| {
        let labelled = || view.labelled().binary_search(node).is_ok();
        which.class.is_none_or(|class| view.class(*node).0 == class)
            && !(which.open && labelled())
            && (!which.labelled || labelled())
            && contains(material, *node, &which.search)
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
        .map(|node| (node, view.surest(node)))
        .collect();
    sure.par_sort_by(|a, b| match which.order {
        Order::Doubtful => a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)),
        _ => b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)),
    });
    sure.into_iter().map(|(node, _)| node).collect()
}

/// Whether the id or the text of an item contains this.
fn contains(material: &Material, node: NodeId, search: &str) -> bool {
    let search = search.to_lowercase();
    let within = |text: &str| text.to_lowercase().contains(&search);
    search.is_empty()
        || within(&material.engine.items.id(node))
        || matches!(&material.pool.show, Show::Texts(texts) if within(&texts[node.index()]))
}

/// Labels at odds with the graph, the least probable first.
#[utoipa::path(get, path = "/suspects", params(Part), responses((status = 200, body = Page<Suspect>)))]
pub async fn suspects(
    State(app): Shared,
    Asked(part): Asked<Part>,
) -> Result<Json<Page<Suspect>>, Problem> {
    answer(&app, move |app| {
        let snapshot = app.model.snapshot();
        Ok(page(
            snapshot.version,
            at_odds(&app.material, &snapshot),
            &part,
        ))
    })
    .await
}

/// All labels that the others contradict.
pub fn at_odds(material: &Material, snapshot: &ModelSnapshot) -> Vec<Suspect> {
    let suspect = |odds: dial::session::view::Odds| Suspect {
        id: material.engine.items.id(odds.node),
        label: odds.told.0,
        expected: odds.foretold.0,
        probability: odds.probability,
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
) -> Result<Json<Page<Disagreement>>, Problem> {
    answer(&app, move |app| {
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
