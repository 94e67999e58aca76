//! Labels in and out: status, exports, imports, backups.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use dial_data::Show;
use dial_store::{
    Estimates, Export, Facts, Format, Imported, Importing, Manifest, Snapshot, Status,
};

use crate::app::App;
use crate::connections::Connection;
use crate::http::input::{Asked, Copying, Input, Long, Sending};
use crate::http::problem::Problem;
use crate::http::routes::answer;
use crate::http::streamed::streamed;
use crate::http::wire::{ImportRequest, TrainingExample, Wanted};

type Shared = State<Arc<App>>;

/// How the project stands: counts, answers that need attention, disagreements, estimates.
#[utoipa::path(get, path = "/status", responses((status = 200, description = "the project in numbers", body = Status)))]
pub async fn status(State(app): Shared, permit: Long) -> Result<Json<Status>, Problem> {
    permit
        .answer(&app, |app| {
            let status = Status::of(&app.writer.project());
            Ok(Status {
                estimates: estimates_now(app),
                ..status
            })
        })
        .await
}

/// How the project stands by the last snapshot of the model.
pub fn estimates_now(app: &App) -> Option<Estimates> {
    let snapshot = app.model.snapshot();
    let view = snapshot.view.as_ref()?;
    let facts = Facts::of(app.writer.project().log());
    Some(Estimates::of(facts, view, snapshot.version, snapshot.flips))
}

/// All items with their labels and what is believed about them, as a file. It is sent while it is written.
#[utoipa::path(get, path = "/export", params(Wanted), responses((status = 200, content_type = "application/octet-stream", body = [u8])))]
pub async fn export(
    State(app): Shared,
    Asked(wanted): Asked<Wanted>,
    sending: Sending,
    permit: Long,
    Extension(connection): Extension<Arc<Connection>>,
) -> Result<Response, Problem> {
    let format = wanted.format()?;
    format.check()?;
    // Sending it takes as long as the other end likes: its permit is given back before that.
    let made = permit.aside(&app, move |app| {
        let export = export_now(app, &wanted, format)?;
        Ok((
            export,
            file_name(app, format),
            (sending, connection.begin()),
        ))
    });
    let (export, name, sending) = made.await?;
    let (mut parts, body) = streamed();
    tokio::task::spawn_blocking(move || {
        let _sending = sending;
        let written = export.write_to(&mut parts, format);
        parts.end(written);
    });
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/octet-stream"),
    );
    if let Ok(name) = HeaderValue::from_str(&as_attachment(&name)) {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

/// How to train a classifier on the CSV of this project, in Python.
#[utoipa::path(get, path = "/export/example", responses((status = 200, description = "code that runs beside the CSV", body = TrainingExample)))]
pub async fn example(State(app): Shared, permit: Long) -> Result<Json<TrainingExample>, Problem> {
    permit
        .answer(&app, |app| {
            let project = app.writer.project();
            let folder = project.folder().map(|folder| folder.0.clone());
            // Its columns are wanted, not its rows.
            let export = Export::labels(project.log(), &[]);
            let columns = Some(matches!(
                app.prepared.pool.show,
                Show::Numbers(_) | Show::Texts(_)
            ));
            let export = export.with_pool(&project, &app.prepared, Format::Csv, columns)?;
            let name = project.folder().map(|folder| folder.name());
            let name = name.unwrap_or_else(|| app.prepared.pool.name.clone());
            let code = export.training_example(&name, &app.prepared, &folder.unwrap_or_default());
            Ok(TrainingExample { code })
        })
        .await
}

/// The name of a file that the project is exported to.
fn file_name(app: &App, format: Format) -> String {
    let project = app.writer.project();
    let named = project.folder().map(|folder| folder.name());
    format.file_of(&named.unwrap_or_else(|| app.prepared.pool.name.clone()))
}

/// A file to be saved under a name, which may hold any letters (RFC 6266 and 8187). Readers of old take the first name.
fn as_attachment(name: &str) -> String {
    let plain = |c: char| match c {
        ' '..='~' if !matches!(c, '"' | '\\' | '%' | '/') => c,
        _ => '_',
    };
    let old: String = name.chars().map(plain).collect();
    let encoded = |byte: u8| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'.' | b'_' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    let new: String = name.bytes().map(encoded).collect();
    format!("attachment; filename=\"{old}\"; filename*=UTF-8''{new}")
}

/// What is known about all items, with what the model believes unless only labels are wanted.
fn export_now(app: &App, wanted: &Wanted, format: Format) -> Result<Export, Problem> {
    let (snapshot, items) = (app.model.snapshot(), &app.prepared.engine.items);
    let ids: Vec<String> = (0..items.len() as u32)
        .map(|node| items.id(dial::NodeId(node)))
        .collect();
    let view = snapshot.view.as_deref().filter(|_| !wanted.labels_only);
    let project = app.writer.project();
    let mut export = Export::new(project.log(), &ids, view);
    wanted
        .preview
        .into_iter()
        .for_each(|rows| export.preview(rows));
    match wanted.needs_pool() || format == Format::Maps {
        true => Ok(export.with_pool(&project, &app.prepared, format, wanted.original_columns)?),
        false => Ok(export),
    }
}

/// How often an import is planned while others change what it was planned on.
const PLANS: usize = 3;

/// Imports labels as one group. Contradictions are kept as labels of different annotators, and listed.
#[utoipa::path(post, path = "/import", request_body = ImportRequest, responses((status = 200, description = "what was stored", body = Imported)))]
pub async fn import(
    State(app): Shared,
    permit: Copying,
    Input(request): Input<ImportRequest>,
) -> Result<Json<Imported>, Problem> {
    answer(&app, move |app| {
        let _permit = permit;
        let how = request.how();
        let request = request.resolve_pool_labels(&app.prepared)?;
        let ImportRequest {
            source,
            labels,
            key,
            ..
        } = request;
        let items = &app.prepared.engine.items;
        let ids: Vec<String> = (0..items.len() as u32)
            .map(|node| items.id(dial::NodeId(node)))
            .collect();
        let plan = |project: &Snapshot| project.plan_import(&ids, &source, &labels, &how, &key);
        // It is planned while others go on labelling, and once more if they changed what it stands on; the last time they
        // wait. Between its parts whoever labels meanwhile gets a turn.
        for _ in 1..PLANS {
            let mut importing = plan(&app.writer.project())?;
            let begun = app.writer.change(|project| {
                let current = importing.is_current(project.log());
                current.then(|| project.import_some(&mut importing, app.clock.now()))
            });
            if let Some(more) = begun {
                return finish_import(app, importing, more);
            }
        }
        let (importing, more) = app.writer.change(|project| {
            let mut importing = plan(&project.snapshot())?;
            let more = project.import_some(&mut importing, app.clock.now());
            Ok::<_, dial_store::Error>((importing, more))
        })?;
        finish_import(app, importing, more)
    })
    .await
}

/// Stores what is left of an import after its first part.
fn finish_import(
    app: &App,
    mut importing: Importing,
    mut more: dial_store::Result<bool>,
) -> Result<Imported, Problem> {
    while let Ok(true) = more {
        std::thread::yield_now();
        more = (app.writer).change(|project| project.import_some(&mut importing, app.clock.now()));
    }
    app.writer.told();
    more?;
    Ok(app.writer.project().imported(importing))
}

/// A session rests after a backup for so many times as long as that took, within these bounds: copying and checking
/// the log keeps a processor and the disk busy.
const REST: u32 = 4;
const SHORTEST_REST: Duration = Duration::from_millis(500);
const LONGEST_REST: Duration = Duration::from_secs(20);

/// Makes a backup in the folder of the project.
#[utoipa::path(post, path = "/backup", responses((status = 200, description = "what was backed up, and where", body = Manifest)))]
pub async fn backup(State(app): Shared, permit: Copying) -> Result<Json<Manifest>, Problem> {
    answer(&app, move |app| {
        let start = Instant::now();
        let made = back_up(app);
        // Also where nobody waits for the answer any more.
        permit.rest((start.elapsed() * REST).clamp(SHORTEST_REST, LONGEST_REST));
        made
    })
    .await
}

fn back_up(app: &App) -> Result<Manifest, Problem> {
    let (now, project) = (app.clock.now(), app.writer.project());
    let Some(folder) = project.folder() else {
        return Err(Problem::not_found("a project in memory has no backups"));
    };
    let file = folder.asked_backup(now)?;
    Ok(app.writer.shared().back_up(&file, now)?)
}
