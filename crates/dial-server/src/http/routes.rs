//! The interface: what can be asked and sent under `/api/v1`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use dial::{Change, NodeId};
use dial_store::{Decision, Estimates, Log, Project, Receipt, Remark, Submission};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::assignment;
use crate::http::input::{Asked, Input};
use crate::http::problem::Problem;
use crate::http::thumbnails;
use crate::http::views;
use crate::http::wire::{
    ById, ClassInfo, HistoryRow, ItemView, Next, Page, Part, ProjectInfo, Questions, Stored,
};
use crate::item_view::{self, Seen};
use crate::model_worker::ModelSnapshot;

type Shared = State<Arc<App>>;

/// How long the first request for items waits for the model.
const FIRST_THOUGHT: Duration = Duration::from_secs(2);

/// Runs what may wait for the disk or compute, away from the threads that talk.
pub async fn aside<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&App) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let app = Arc::clone(app);
    let broken = |_| {
        let text = "the server broke a promise of its own. Labels are safe. Please report it.";
        Problem::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, "BUG", text)
    };
    tokio::task::spawn_blocking(move || work(&app))
        .await
        .map_err(broken)?
}

/// The same for an answer in JSON.
pub async fn answer<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&App) -> Result<T, Problem> + Send + 'static,
) -> Result<Json<T>, Problem> {
    aside(app, work).await.map(Json)
}

/// The project: classes, counts, versions, and whether the model is well.
#[utoipa::path(get, path = "/project", responses((status = 200, body = ProjectInfo)))]
pub async fn project(State(app): Shared) -> Result<Json<ProjectInfo>, Problem> {
    answer(&app, |app| {
        let (project, snapshot) = (app.writer.project(), app.model.snapshot());
        let (log, recipe) = (project.log(), &app.material.recipe);
        let (counts, annotators) = counts(log);
        let looks = log.looks();
        let class = |id: dial::ClassId| {
            let look = looks[id.index()].clone();
            let name = log.labels().schema()[id.index()].name.clone();
            ClassInfo {
                id: id.0,
                name,
                colour: look.colour,
                key: look.key,
                labels: counts.get(&id.0).copied().unwrap_or(0),
            }
        };
        Ok(ProjectInfo {
            name: project
                .folder()
                .map_or_else(|| app.material.pool.name.clone(), |folder| folder.name()),
            id: project.id().into(),
            pool: app.material.pool.name.clone(),
            item_word: app.material.pool.show.word().into(),
            items: app.material.engine.items.len(),
            labelled: log.labels().labelled().count(),
            classes: log.labels().classes().into_iter().map(class).collect(),
            annotators,
            acquisition: recipe.config.acquisition.to_string(),
            overlap: recipe.overlap,
            version: log.version(),
            model_version: snapshot.version,
            model_ready: snapshot.view.is_some(),
            foreseen: !snapshot.foreseen.is_empty(),
            banner: banner(project.trouble(), snapshot.trouble.as_deref()),
            conflicts: log.parked().count(),
        })
    })
    .await
}

/// What people must know: first what keeps labels from being stored, then what is wrong with the model.
fn banner(storage: Option<&str>, model: Option<&str>) -> Option<String> {
    let storage = storage.map(|trouble| {
        format!("Labels cannot be saved just now; they stay in the browser. {trouble}")
    });
    storage
        .or_else(|| model.map(|trouble| format!("Labels are safe; predictions are old. {trouble}")))
}

/// Live labels by class and by annotator.
fn counts(log: &Log) -> (HashMap<u16, usize>, BTreeMap<String, usize>) {
    let (mut classes, mut annotators) = (HashMap::new(), BTreeMap::new());
    for item in log.labels().labelled() {
        for (annotator, shares) in log.labels().labels_of(item) {
            *annotators.entry(annotator.to_string()).or_insert(0) += 1;
            if let Some((class, _)) = shares.first() {
                *classes.entry(class.0).or_insert(0) += 1;
            }
        }
    }
    (classes, annotators)
}

/// Items to label next, leased to the annotator.
#[utoipa::path(post, path = "/next", request_body = Next, responses((status = 200, body = Questions)))]
pub async fn next(
    State(app): Shared,
    Input(wish): Input<Next>,
) -> Result<Json<Questions>, Problem> {
    if !(1..=50).contains(&wish.count) || wish.annotator.chars().count() > 200 {
        let text = "count must be 1 to 50, and the annotator at most 200 characters.";
        return Err(Problem::usage(text));
    }
    first_thought(&app).await;
    enough_questions(&app, &wish).await;
    answer(&app, move |app| {
        let given = assignment::give(app, &wish.annotator, wish.count, &wish.except)?;
        let snapshot = app.model.snapshot();
        let project = app.writer.project();
        let mut items = Vec::with_capacity(given.len());
        for given in given {
            let Ok(node) = app.material.engine.items.node(&given.lease.item) else {
                continue;
            };
            let mut card = seen(app, project.log(), &snapshot, node);
            card.leased_until = Some(given.lease.until);
            items.push(if given.audit {
                item_view::at_random(card)
            } else {
                card
            });
        }
        Ok(Questions {
            version: project.log().version(),
            model_version: snapshot.version,
            items,
        })
    })
    .await
}

/// Waits until the model has thought once, so that the first question is its own and not one drawn at random. Not for long:
/// a model that cannot start must not keep people from labelling.
async fn first_thought(app: &App) {
    let mut published = app.model.published();
    let begun = async {
        while app.model.snapshot().version == 0 && app.model.snapshot().trouble.is_none() {
            if published.changed().await.is_err() {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(FIRST_THOUGHT, begun).await;
}

/// Waits until the model has thought of as many questions as are wanted beside those on screen, where it knows all that was
/// decided and has only thought of fewer. A model that is behind, or has failed, is not waited for.
async fn enough_questions(app: &App, wish: &Next) {
    let wanted = wish.count + wish.except.len();
    let mut published = app.model.published();
    let enough = async {
        loop {
            let snapshot = app.model.snapshot();
            let idle =
                snapshot.trouble.is_none() && snapshot.version == *app.writer.version().borrow();
            let questions = snapshot.questions.iter();
            let others = questions.filter(|question| !wish.except.contains(&question.item));
            if others.count() >= wish.count || snapshot.asked >= wanted || !idle {
                break;
            }
            app.model.want(wanted);
            if published.changed().await.is_err() {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(FIRST_THOUGHT * wish.count as u32, enough).await;
}

/// Takes decisions. The answer comes when they are on the disk; the model follows later.
#[utoipa::path(post, path = "/decisions", request_body = Submission, responses((status = 200, body = Stored)))]
pub async fn decide(
    State(app): Shared,
    Input(mut sent): Input<Submission>,
) -> Result<Json<Stored>, Problem> {
    let (item, who) = (labelled_item(&sent), sent.annotator.clone());
    let single = item.clone().filter(|_| sent.decisions.len() == 1);
    sent.remark = aside(&app, move |app| remark(app, single.as_deref(), &who)).await?;
    let annotator = sent.annotator.clone();
    let receipt = app.writer.submit(sent).await?;
    answer(&app, move |app| {
        Ok(stored(
            &app.writer.project(),
            receipt,
            item.as_deref(),
            &annotator,
        ))
    })
    .await
}

/// The item that a submission labels first.
pub fn labelled_item(submission: &Submission) -> Option<String> {
    match submission.decisions.first() {
        Some(Decision::Label { item, .. }) => Some(item.clone()),
        _ => None,
    }
}

/// A receipt, and what its sender may want to know beside that.
pub fn stored(project: &Project, receipt: Receipt, item: Option<&str>, annotator: &str) -> Stored {
    let log = project.log();
    let others = item
        .into_iter()
        .flat_map(|item| log.labels().labels_of(item));
    let others = others
        .map(|(who, _)| who.to_string())
        .filter(|who| who != annotator);
    Stored {
        also_by: others.collect(),
        items: turned(log, receipt.seq),
        version: log.version(),
        receipt,
    }
}

/// The items of the group that an undo or a redo names, at most so many.
fn turned(log: &Log, seq: u64) -> Vec<String> {
    const MOST: usize = 1000;
    let change = log
        .records()
        .get(seq as usize - 1)
        .and_then(|record| record.change());
    let Some(Change::Undo { group } | Change::Redo { group }) = change else {
        return Vec::new();
    };
    let item = |change: &Change| match change {
        Change::Label { item, .. } | Change::Skip { item } | Change::Exclude { item } => {
            Some(item.clone())
        }
        _ => None,
    };
    let of_group = log
        .records()
        .iter()
        .rev()
        .filter(|record| record.group == *group);
    of_group
        .filter_map(|record| record.change().and_then(item))
        .take(MOST)
        .collect()
}

/// What the model believed before an answer, and whether by then others have all the places there are. Of many answers at
/// once nothing is said: nobody was asked for them.
fn remark(app: &App, item: Option<&str>, annotator: &str) -> Result<Remark, Problem> {
    let now = app.clock.now();
    let leases = match item {
        Some(_) => app.writer.project_mut().leases()?,
        None => Vec::new(),
    };
    let live = leases
        .iter()
        .filter(|lease| item == Some(&*lease.item) && lease.is_live(now, assignment::LEASE));
    let (mine, others): (Vec<_>, Vec<_>) = live.partition(|lease| lease.annotator == annotator);
    let late = mine.is_empty() && others.len() >= app.material.recipe.overlap.max(1);
    let snapshot = app.model.snapshot();
    let node = item.and_then(|item| app.material.engine.items.node(item).ok());
    let predicted = node
        .zip(snapshot.view.as_ref())
        .map(|(node, view)| view.class(node));
    let pair = (item.unwrap_or_default().to_string(), annotator.to_string());
    let audit = app.audits.lock().contains(&pair);
    Ok(Remark {
        late,
        audit,
        predicted,
        version: predicted.map(|_| snapshot.version),
        ..Remark::default()
    })
}

/// An item with all that is known about it.
#[utoipa::path(get, path = "/item", params(ById), responses((status = 200, body = ItemView)))]
pub async fn item(State(app): Shared, Asked(by): Asked<ById>) -> Result<Json<ItemView>, Problem> {
    answer(&app, move |app| {
        let node = match (&by.id, by.row) {
            (Some(id), None) => node(app, id)?,
            (None, Some(row)) => views::node_of(app, row)?,
            _ => {
                let text = "name the item by its id or by its row, one of both.";
                return Err(Problem::usage(text));
            }
        };
        Ok(seen(
            app,
            app.writer.project().log(),
            &app.model.snapshot(),
            node,
        ))
    })
    .await
}

/// The view of an item by the last snapshot of the model.
fn seen(app: &App, log: &Log, snapshot: &ModelSnapshot, node: NodeId) -> ItemView {
    let card = item_view::card(&app.material, log, Seen::by(snapshot, node), node);
    ItemView {
        changes: item_view::changes(snapshot, &card.id),
        ..card
    }
}

fn node(app: &App, id: &str) -> Result<NodeId, Problem> {
    let found = app.material.engine.items.node(id);
    found.map_err(|error| Problem::from(dial_store::Error::from(error)))
}

/// The picture of an item, and how large.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MediaOf {
    /// The id of the item.
    pub id: String,
    /// The longest side, in pixels; at most 2048.
    #[serde(default = "largest")]
    #[param(minimum = 16, maximum = 2048)]
    pub side: u32,
}

fn largest() -> u32 {
    thumbnails::LARGEST
}

/// The picture of an item, as a PNG.
#[utoipa::path(get, path = "/media", params(MediaOf), responses((status = 200, content_type = "image/png", body = [u8])))]
pub async fn media_of(State(app): Shared, Asked(of): Asked<MediaOf>) -> Result<Response, Problem> {
    aside(&app, move |app| {
        let png = thumbnails::picture(
            &app.material.pool,
            node(app, &of.id)?,
            of.side.clamp(16, thumbnails::LARGEST),
        )?;
        Ok(thumbnails::answer(png))
    })
    .await
}

/// A part of all rows.
pub fn page<T>(version: u64, all: Vec<T>, part: &Part) -> Page<T> {
    let total = all.len();
    let rows = all
        .into_iter()
        .skip(part.offset)
        .take(part.limit.clamp(1, 1000))
        .collect();
    Page {
        version,
        total,
        rows,
    }
}

/// The log, the latest first.
#[utoipa::path(get, path = "/history", params(Part), responses((status = 200, body = Page<HistoryRow>)))]
pub async fn history(
    State(app): Shared,
    Asked(part): Asked<Part>,
) -> Result<Json<Page<HistoryRow>>, Problem> {
    answer(&app, move |app| {
        Ok(latest(app.writer.project().log(), &part))
    })
    .await
}

/// A part of the log, the latest first.
pub fn latest(log: &Log, part: &Part) -> Page<HistoryRow> {
    let rows = log
        .records()
        .iter()
        .rev()
        .map(|record| HistoryRow::new(log, record));
    if part.search.is_empty() {
        let rows = rows
            .skip(part.offset)
            .take(part.limit.clamp(1, 1000))
            .collect();
        return Page {
            version: log.version(),
            total: log.records().len(),
            rows,
        };
    }
    let found = |row: &HistoryRow| {
        let item = row.item.as_deref().unwrap_or_default();
        let texts = [item, &row.text, &row.annotator, &row.kind];
        texts.iter().any(|text| text.contains(&part.search))
    };
    page(log.version(), rows.filter(found).collect(), part)
}

/// Decisions that were kept aside and need attention.
#[utoipa::path(get, path = "/conflicts", params(Part), responses((status = 200, body = Page<HistoryRow>)))]
pub async fn conflicts(
    State(app): Shared,
    Asked(part): Asked<Part>,
) -> Result<Json<Page<HistoryRow>>, Problem> {
    answer(&app, move |app| {
        let project = app.writer.project();
        let log = project.log();
        let rows = log
            .parked()
            .map(|record| HistoryRow::new(log, record))
            .collect();
        Ok(page(log.version(), rows, &part))
    })
    .await
}

/// How the project stands: share settled, accuracy with its interval, and whether to stop.
#[utoipa::path(get, path = "/estimates", responses((status = 200, description = "estimates, or null before there are two classes", body = Option<Estimates>)))]
pub async fn estimates(State(app): Shared) -> Result<Json<Option<Estimates>>, Problem> {
    answer(&app, |app| Ok(crate::http::exchange::estimates_now(app))).await
}
