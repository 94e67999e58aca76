//! The interface: what can be asked and sent under `/api/v1`.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use axum::{Extension, Json};
use dial::{Change, NodeId};
use dial_store::{Counts, Decision, Estimates, Log, Provenance, Receipt, Submission};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::assignment;
use crate::auth::sessions::Caller;
use crate::http::history::{Words, in_steps};
use crate::http::input::{Asked, Input, Long};
use crate::http::problem::Problem;
use crate::http::thumbnails::{self, Found};
use crate::http::views;
use crate::http::wire::{
    ById, ClassInfo, HistoryPart, HistoryRow, ItemView, Next, Page, Part, ProjectInfo, Questions,
    Stored,
};
use crate::item_view::{self, Seen};
use crate::leases::Holder;
use crate::model_worker::ModelSnapshot;

type Shared = State<Arc<App>>;

/// Items of an undo or redo that are named at most.
const MAX_TURNED: usize = 1000;

/// How long a request for items waits for the first snapshot of the model, and for each question that it lacks.
const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs what may wait for the disk or compute, away from the threads that talk.
pub async fn aside<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&App) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let app = Arc::clone(app);
    tokio::task::spawn_blocking(move || work(&app))
        .await
        .map_err(|_| Problem::bug())?
}

/// The same for an answer in JSON.
pub async fn answer<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&App) -> Result<T, Problem> + Send + 'static,
) -> Result<Json<T>, Problem> {
    aside(app, work).await.map(Json)
}

impl Long {
    /// Runs what takes long, and answers in JSON. Its permit is held until the work is done, even if the client is gone.
    pub async fn answer<T: Send + 'static>(
        self,
        app: &Arc<App>,
        work: impl FnOnce(&App) -> Result<T, Problem> + Send + 'static,
    ) -> Result<Json<T>, Problem> {
        self.aside(app, work).await.map(Json)
    }

    /// Runs what takes long.
    pub async fn aside<T: Send + 'static>(
        self,
        app: &Arc<App>,
        work: impl FnOnce(&App) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let held = move |app: &App| {
            let _permit = self;
            work(app)
        };
        aside(app, held).await
    }
}

/// The project: classes, counts, versions, and whether the model is well.
#[utoipa::path(get, path = "/project", responses((status = 200, body = ProjectInfo)))]
pub async fn project(State(app): Shared) -> Result<Json<ProjectInfo>, Problem> {
    answer(&app, |app| {
        let (project, snapshot) = (app.writer.project(), app.model.snapshot());
        let (log, recipe) = (project.log(), &app.prepared.recipe);
        let counts = counts(app, log);
        let looks = log.looks();
        let class = |id: dial::ClassId| {
            let look = looks[id.index()].clone();
            let name = log.labels().schema()[id.index()].name.clone();
            ClassInfo {
                id: id.0,
                name,
                colour: look.colour,
                key: look.key,
                labels: counts.of_class(id),
            }
        };
        Ok(ProjectInfo {
            name: project
                .folder()
                .map_or_else(|| app.prepared.pool.name.clone(), |folder| folder.name()),
            id: project.id().into(),
            pool: app.prepared.pool.name.clone(),
            item_word: app.prepared.pool.show.word().into(),
            items: app.prepared.engine.items.len(),
            labelled: counts.labelled,
            known: known(app, log),
            known_alike: known_alike(app, log),
            // A graph that was given does not come from these features.
            without_model: app.prepared.pool.without_model && recipe.graph.is_none(),
            classes: log
                .labels()
                .classes_in_order()
                .into_iter()
                .map(class)
                .collect(),
            annotators: counts.annotators.clone(),
            acquisition: recipe.config.acquisition.to_string(),
            overlap: recipe.overlap,
            version: log.version(),
            model_version: snapshot.version,
            model_ready: snapshot.view.is_some(),
            lookahead: !snapshot.lookahead.is_empty(),
            banner: banner(project.trouble(), snapshot.trouble.as_deref()),
            conflicts: log.conflicts().count(),
        })
    })
    .await
}

/// Names that are compared, and pairs of them that are told, at most.
const MOST_NAMES: usize = 200;
const MOST_PAIRS: usize = 3;

/// What people must know: first what keeps labels from being stored, then what is wrong with the model.
fn banner(storage: Option<&str>, model: Option<&str>) -> Option<String> {
    let storage = storage.map(|trouble| {
        format!("Labels cannot be saved just now; they stay in the browser. {trouble}")
    });
    storage
        .or_else(|| model.map(|trouble| format!("Labels are safe; predictions are old. {trouble}")))
}

/// How many items the pool itself has labels for, where it has some but not all, until all of them are decided.
fn known(app: &App, log: &Log) -> usize {
    let all = *app.known.get_or_init(|| app.prepared.partly_known());
    if all == 0 {
        return 0;
    }
    let decided = log.labels().closed();
    let decided = decided.filter(|item| app.prepared.is_known(item));
    if decided.count() < all { all } else { 0 }
}

/// Pairs of names, of which one at least comes with the labels of the pool, that are likely to mean the same class.
fn known_alike(app: &App, log: &Log) -> Vec<[String; 2]> {
    let truth = app.prepared.pool.truth.as_ref();
    let Some(truth) = truth.filter(|_| known(app, log) > 0) else {
        return Vec::new();
    };
    let live = log.labels().classes().into_iter();
    let live = live.map(|class| log.class_name(class).to_string());
    let here: Vec<String> = live.filter(|name| !truth.classes.contains(name)).collect();
    let names = [truth.classes.clone(), here.clone()].concat();
    let pairs = dial_data::alike(&names[..names.len().min(MOST_NAMES)]).into_iter();
    let of_pool = pairs.filter(|(first, _)| !here.iter().any(|name| name == first));
    let pairs = of_pool.map(|(first, second)| [first.to_string(), second.to_string()]);
    pairs.take(MOST_PAIRS).collect()
}

/// The counts of a log, counted once for all who ask: after a label every page does.
fn counts(app: &App, log: &Log) -> Arc<Counts> {
    let mut known = app.counts.lock();
    if known.0 != log.version() {
        *known = (log.version(), Arc::new(Counts::of(log)));
    }
    Arc::clone(&known.1)
}

/// Items to label next, leased to the annotator.
#[utoipa::path(post, path = "/next", request_body = Next, responses((status = 200, body = Questions)))]
pub async fn next(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Input(wish): Input<Next>,
) -> Result<Json<Questions>, Problem> {
    if !(1..=50).contains(&wish.count) || wish.annotator.chars().count() > 200 {
        let text = "count must be 1 to 50, and the annotator at most 200 characters.";
        return Err(Problem::usage(text));
    }
    first_snapshot(&app).await;
    enough_questions(&app, &wish).await;
    answer(&app, move |app| {
        let leased = assignment::lease_items(app, &wish, caller.session())?;
        let snapshot = app.model.snapshot();
        let project = app.writer.project();
        let mut items = Vec::with_capacity(leased.len());
        for leased in leased {
            let Ok(node) = app.prepared.engine.items.node(&leased.lease.item) else {
                continue;
            };
            let mut view = seen(app, project.log(), &snapshot, node);
            view.leased_until = Some(leased.lease.until);
            items.push(if leased.audit {
                item_view::at_random(view)
            } else {
                view
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

/// Waits until the model has published once, so that the first question is its own and not one drawn at random. Not for long:
/// a model that cannot start must not keep people from labelling.
async fn first_snapshot(app: &App) {
    let mut published = app.model.published();
    let begun = async {
        while app.model.snapshot().version == 0 && app.model.snapshot().trouble.is_none() {
            if published.changed().await.is_err() {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(SNAPSHOT_TIMEOUT, begun).await;
}

/// Waits until the model has chosen as many questions as are wanted beside those on screen, where it knows all that was
/// decided and was only asked for fewer. A model that is behind, or has failed, is not waited for.
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
    let _ = tokio::time::timeout(SNAPSHOT_TIMEOUT * wish.count as u32, enough).await;
}

/// As many events that an undo looks at take as long as a decision.
const TURNED_PER_DECISION: usize = 50;

/// Takes decisions. The answer comes when they are on the disk; the model follows later.
#[utoipa::path(post, path = "/decisions", request_body = Submission, responses((status = 200, body = Stored)))]
pub async fn decide(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Input(mut sent): Input<Submission>,
) -> Result<Json<Stored>, Problem> {
    let turned = app.writer.project().log().turned_by(&sent);
    let decisions = sent.decisions.len() + turned / TURNED_PER_DECISION;
    app.sessions.charge(&caller, decisions);
    let (item, annotator) = (labelled_item(&sent), sent.annotator.clone());
    let single = item.as_deref().filter(|_| sent.decisions.len() == 1);
    let holder = Holder {
        annotator: &annotator,
        session: caller.session(),
    };
    sent.provenance = provenance(&app, single, holder);
    let answered = sent.decisions.iter().filter_map(Decision::item);
    let answered: Vec<String> = answered.map(String::from).collect();
    let receipt = app.writer.submit(sent).await?;
    let mut leases = app.writer.shared().leases.lock();
    for item in &answered {
        leases.release(item, holder);
    }
    drop(leases);
    let project = app.writer.project();
    Ok(Json(stored(
        project.log(),
        receipt,
        item.as_deref(),
        &annotator,
    )))
}

/// The item that a submission labels first.
pub fn labelled_item(submission: &Submission) -> Option<String> {
    match submission.decisions.first() {
        Some(Decision::Label { item, .. }) => Some(item.clone()),
        _ => None,
    }
}

/// A receipt, and what its sender may want to know beside that.
pub fn stored(log: &Log, receipt: Receipt, item: Option<&str>, annotator: &str) -> Stored {
    let others = item
        .into_iter()
        .flat_map(|item| log.labels().labels_of(item));
    let others = others
        .map(|(who, _)| who.to_string())
        .filter(|who| who != annotator);
    let mut items = turned(log, receipt.seq);
    let turned = items.len();
    items.truncate(MAX_TURNED);
    Stored {
        also_by: others.collect(),
        items,
        turned,
        version: log.version(),
        receipt,
    }
}

/// The items of the group that an undo or a redo names.
fn turned(log: &Log, seq: u64) -> Vec<String> {
    let change = log
        .records()
        .get(seq as usize - 1)
        .and_then(|record| record.change());
    let Some(Change::Undo { group } | Change::Redo { group }) = change else {
        return Vec::new();
    };
    let of_group = log
        .records()
        .iter()
        .rev()
        .filter(|record| record.group == *group);
    let mut seen = HashSet::new();
    let items = of_group.filter_map(|record| record.change()?.item());
    let items = items.filter(|item| seen.insert(*item));
    items.map(String::from).collect()
}

/// What the model believed before an answer, and whether by then others have all the places there are. Of many answers at
/// once nothing is said: nobody was asked for them.
fn provenance(app: &App, item: Option<&str>, holder: Holder<'_>) -> Provenance {
    let late = item.is_some_and(|item| {
        let (leases, now) = (app.writer.shared().leases.lock(), app.clock.now());
        let (mine, others) = leases.holders(item, holder, now);
        !mine && others >= app.prepared.recipe.overlap.max(1)
    });
    let snapshot = app.model.snapshot();
    let node = item.and_then(|item| app.prepared.engine.items.node(item).ok());
    let predicted = node
        .zip(snapshot.view.as_ref())
        .map(|(node, view)| view.class(node));
    let pair = (
        item.unwrap_or_default().to_string(),
        holder.annotator.to_string(),
    );
    let audit = app.audits.lock().contains(&pair);
    Provenance {
        late,
        audit,
        predicted,
        version: predicted.map(|_| snapshot.version),
        ..Provenance::default()
    }
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
    let view = item_view::view(&app.prepared, log, Seen::by(snapshot, node), node);
    ItemView {
        changes: item_view::changes(snapshot, &view.id),
        ..view
    }
}

fn node(app: &App, id: &str) -> Result<NodeId, Problem> {
    let found = app.prepared.engine.items.node(id);
    found.map_err(|error| Problem::from(dial_store::Error::from(error)))
}

/// The picture of an item, and how large.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MediaOf {
    /// The id of the item.
    pub id: String,
    /// The longest side, in pixels; at most 4096, and 2048 if it is left out.
    #[serde(default = "usual_side")]
    #[param(minimum = 16, maximum = 4096)]
    pub side: u32,
}

fn usual_side() -> u32 {
    thumbnails::DEFAULT_PICTURE_SIDE
}

/// The picture of an item, as a PNG.
#[utoipa::path(get, path = "/media", params(MediaOf), responses((status = 200, content_type = "image/png", body = [u8])))]
pub async fn media_of(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Asked(of): Asked<MediaOf>,
) -> Result<Response, Problem> {
    let find = move |app: &App| {
        let (node, side) = (
            node(app, &of.id)?,
            of.side.clamp(16, thumbnails::MAX_PICTURE_SIDE),
        );
        app.thumbnails.find(&app.prepared.pool, node, side)
    };
    let png = match aside(&app, find).await? {
        Found::Ready(png) => png,
        Found::ToDecode(wanted) => {
            let permit = app.thumbnails.limiter.acquire(&caller).await?;
            let decode = move |app: &App| {
                // Held here, as a request that has gone away still decodes.
                let _permit = permit;
                app.thumbnails.decode(wanted)
            };
            aside(&app, decode).await?
        }
    };
    Ok(thumbnails::answer(png))
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
#[utoipa::path(get, path = "/history", params(HistoryPart), responses((status = 200, body = Page<HistoryRow>)))]
pub async fn history(
    State(app): Shared,
    Asked(wish): Asked<HistoryPart>,
    permit: Long,
) -> Result<Json<Page<HistoryRow>>, Problem> {
    permit
        .answer(&app, move |app| {
            let part = Part {
                offset: wish.offset,
                limit: wish.limit,
                search: wish.search,
            };
            let project = app.writer.project();
            Ok(match wish.by_step {
                true => steps(project.log(), &part),
                false => latest(project.log(), &part),
            })
        })
        .await
}

/// A part of the steps of the log, the latest first.
fn steps(log: &Log, part: &Part) -> Page<HistoryRow> {
    let words = Words::new(log);
    let rows = log.records().iter().rev().map(|record| words.row(record));
    let found = rows.filter(|row| is_found(row, &part.search));
    page(log.version(), in_steps(found), part)
}

fn is_found(row: &HistoryRow, search: &str) -> bool {
    let item = row.item.as_deref().unwrap_or_default();
    let texts = [item, &row.text, &row.annotator, &row.kind];
    texts.iter().any(|text| text.contains(search))
}

/// A part of the log, the latest first.
pub fn latest(log: &Log, part: &Part) -> Page<HistoryRow> {
    let words = Words::new(log);
    let rows = log.records().iter().rev().map(|record| words.row(record));
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
    let found = rows.filter(|row| is_found(row, &part.search));
    page(log.version(), found.collect(), part)
}

/// Conflicting answers that need attention.
#[utoipa::path(get, path = "/conflicts", params(Part), responses((status = 200, body = Page<HistoryRow>)))]
pub async fn conflicts(
    State(app): Shared,
    Asked(part): Asked<Part>,
    permit: Long,
) -> Result<Json<Page<HistoryRow>>, Problem> {
    permit
        .answer(&app, move |app| {
            let project = app.writer.project();
            let log = project.log();
            let words = Words::new(log);
            let rows = log.conflicts().map(|record| words.row(record)).collect();
            Ok(page(log.version(), rows, &part))
        })
        .await
}

/// How the project stands: share settled, accuracy with its interval, and whether to stop.
#[utoipa::path(get, path = "/estimates", responses((status = 200, description = "estimates, or null before there are two classes", body = Option<Estimates>)))]
pub async fn estimates(
    State(app): Shared,
    permit: Long,
) -> Result<Json<Option<Estimates>>, Problem> {
    permit
        .answer(&app, |app| Ok(crate::http::exchange::estimates_now(app)))
        .await
}
