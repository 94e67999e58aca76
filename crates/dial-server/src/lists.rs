//! Lists of items: beliefs of the whole pool, labels at odds with the graph, disagreements between annotators.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use dial::{NodeId, View};
use dial_data::Show;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::cards;
use crate::input::Asked;
use crate::problem::Problem;
use crate::routes::{Page, Part, aside};
use crate::wire::{Belief, LabelOf, Shown};

type Shared = State<Arc<App>>;

/// Which items, in which order.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Which {
    /// How many to leave out at the beginning.
    #[serde(default)]
    pub offset: usize,
    /// How many at most; up to 1000.
    #[serde(default = "hundred")]
    #[param(minimum = 1, maximum = 1000)]
    pub limit: usize,
    /// Only items of this class, believed or told.
    pub class: Option<u16>,
    /// In which order.
    #[serde(default)]
    #[param(inline)]
    pub order: Order,
    /// Only items without a label.
    #[serde(default)]
    pub open: bool,
    /// Only items with a label.
    #[serde(default)]
    pub labelled: bool,
    /// Only items whose id or text contains this, in large or small letters.
    #[serde(default)]
    pub search: String,
}

fn hundred() -> usize {
    100
}

/// The order of a list of items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As in the pool.
    #[default]
    Row,
    /// The most probable class first.
    Certain,
    /// The least probable class first.
    Doubtful,
}

/// An item of a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Believed {
    /// The item.
    pub id: String,
    /// Its row in the pool.
    pub row: u32,
    /// How to show it; texts are cut to 400 characters.
    pub show: Shown,
    /// What is believed.
    pub belief: Belief,
    /// The labels it has.
    pub labels: Vec<LabelOf>,
}

/// The items with what is believed about them.
#[utoipa::path(get, path = "/api/v1/items", params(Which), responses((status = 200, body = Page<Believed>), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn items(
    State(app): Shared,
    Asked(which): Asked<Which>,
) -> Result<Json<Page<Believed>>, Problem> {
    aside(&app, move |app| {
        let thought = app.thinker.thought();
        let version = app.desk.project().log().version();
        let Some(view) = thought.view.as_ref() else {
            return Ok(Json(Page {
                version,
                total: 0,
                rows: Vec::new(),
            }));
        };
        let found = found(app, view, &which);
        let total = found.len();
        let shown = found
            .into_iter()
            .skip(which.offset)
            .take(which.limit.clamp(1, 1000))
            .map(|node| {
                let id = app.material.ground.setting.items.id(node);
                let show = cards::shown(app, node, &id, cards::SHORT);
                let belief = cards::belief(&view.prediction(node), view, thought.version);
                Believed {
                    id,
                    row: node.0,
                    show,
                    belief,
                    labels: Vec::new(),
                }
            });
        let mut rows: Vec<Believed> = shown.collect();
        // Only now, so that nobody waits for the search.
        let project = app.desk.project();
        rows.iter_mut()
            .for_each(|row| row.labels = cards::labels(project.log(), &row.id));
        Ok(Json(Page {
            version: project.log().version(),
            total,
            rows,
        }))
    })
    .await
}

/// The items that are wanted, in the order that is wanted.
fn found(app: &App, view: &View<'_>, which: &Which) -> Vec<NodeId> {
    let wanted = |node: &NodeId| {
        let labelled = || view.labelled().binary_search(node).is_ok();
        which.class.is_none_or(|class| view.class(*node).0 == class)
            && !(which.open && labelled())
            && (!which.labelled || labelled())
            && contains(app, *node, &which.search)
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
fn contains(app: &App, node: NodeId, search: &str) -> bool {
    let search = search.to_lowercase();
    let within = |text: &str| text.to_lowercase().contains(&search);
    search.is_empty()
        || within(&app.material.ground.setting.items.id(node))
        || matches!(&app.material.pool.show, Show::Texts(texts) if within(&texts[node.index()]))
}

/// A label that the others contradict.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Suspect {
    /// The item.
    pub id: String,
    /// The class it was given.
    pub told: u16,
    /// The class that the other labels foretell.
    pub foretold: u16,
    /// The probability of the class it was given, by the other labels.
    pub probability: f64,
}

/// Labels at odds with the graph, the least probable first.
#[utoipa::path(get, path = "/api/v1/suspects", params(Part), responses((status = 200, body = Page<Suspect>), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn suspects(
    State(app): Shared,
    Asked(part): Asked<Part>,
) -> Result<Json<Page<Suspect>>, Problem> {
    aside(&app, move |app| {
        let thought = app.thinker.thought();
        let odds = thought.view.as_ref().map_or(Vec::new(), |view| view.odds());
        let suspect = |odds: dial::Odds| Suspect {
            id: app.material.ground.setting.items.id(odds.node),
            told: odds.told.0,
            foretold: odds.foretold.0,
            probability: odds.probability,
        };
        let all: Vec<Suspect> = odds
            .into_iter()
            .filter(|odds| odds.told != odds.foretold)
            .map(suspect)
            .collect();
        let total = all.len();
        let rows = all
            .into_iter()
            .skip(part.offset)
            .take(part.limit.clamp(1, 1000))
            .collect();
        Ok(Json(Page {
            version: thought.version,
            total,
            rows,
        }))
    })
    .await
}

/// An item that annotators call different things.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Disagreement {
    /// The item.
    pub id: String,
    /// What they call it.
    pub labels: Vec<LabelOf>,
}

/// Items that annotators disagree about.
#[utoipa::path(get, path = "/api/v1/disagreements", params(Part), responses((status = 200, body = Page<Disagreement>), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn disagreements(
    State(app): Shared,
    Asked(part): Asked<Part>,
) -> Result<Json<Page<Disagreement>>, Problem> {
    aside(&app, move |app| {
        let project = app.desk.project();
        let log = project.log();
        let differ = |labels: &Vec<LabelOf>| {
            labels
                .windows(2)
                .any(|pair| pair[0].classes != pair[1].classes)
        };
        let all: Vec<Disagreement> = log
            .labels()
            .labelled()
            .map(|item| Disagreement {
                id: item.into(),
                labels: cards::labels(log, item),
            })
            .filter(|item| differ(&item.labels))
            .collect();
        let total = all.len();
        let rows = all
            .into_iter()
            .skip(part.offset)
            .take(part.limit.clamp(1, 1000))
            .collect();
        Ok(Json(Page {
            version: log.version(),
            total,
            rows,
        }))
    })
    .await
}
