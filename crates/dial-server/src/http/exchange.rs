//! Labels in and out: status, exports, imports, backups.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use dial_store::{Estimates, Export, Facts, Imported, Manifest, Status};

use crate::app::App;
use crate::http::input::{Asked, Input};
use crate::http::problem::Problem;
use crate::http::routes::{answer, aside};
use crate::http::wire::{Labels, Wanted};

type Shared = State<Arc<App>>;

/// How the project stands: counts, answers that need attention, disagreements, estimates.
#[utoipa::path(get, path = "/status", responses((status = 200, description = "the project in numbers", body = Status)))]
pub async fn status(State(app): Shared) -> Result<Json<Status>, Problem> {
    answer(&app, |app| {
        let status = Status::of(&app.writer.project());
        Ok(Status {
            estimates: estimates_now(app),
            ..status
        })
    })
    .await
}

/// How the project stands by what the model thought last. Nobody waits meanwhile: the log is read first, and briefly.
pub fn estimates_now(app: &App) -> Option<Estimates> {
    let snapshot = app.model.snapshot();
    let view = snapshot.view.as_ref()?;
    let facts = Facts::of(app.writer.project().log());
    Some(Estimates::of(facts, view, snapshot.version, snapshot.flips))
}

/// All items with their labels and what is believed about them, as a file.
#[utoipa::path(get, path = "/export", params(Wanted), responses((status = 200, content_type = "application/octet-stream", body = [u8])))]
pub async fn export(State(app): Shared, Asked(wanted): Asked<Wanted>) -> Result<Response, Problem> {
    aside(&app, move |app| {
        let format = wanted.format()?;
        let (snapshot, items) = (app.model.snapshot(), &app.material.engine.items);
        let ids: Vec<String> = (0..items.len() as u32)
            .map(|node| items.id(dial::NodeId(node)))
            .collect();
        let view = snapshot.view.as_deref().filter(|_| !wanted.labels_only);
        // The log is held for the labels only; what is believed takes longer and needs it no more.
        let (mut export, places) = {
            let project = app.writer.project();
            (
                Export::labels(project.log(), &ids),
                view.map(|view| dial_store::places(project.log(), view)),
            )
        };
        if let Some((view, places)) = view.zip(places) {
            export.believe(view, &places);
        }
        let mut response = export.bytes(format)?.into_response();
        let name = format!("attachment; filename=\"labels.{format}\"");
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/octet-stream"),
        );
        if let Ok(name) = HeaderValue::from_str(&name) {
            headers.insert(header::CONTENT_DISPOSITION, name);
        }
        Ok(response)
    })
    .await
}

/// Imports labels as one group. Contradictions are kept as labels of different annotators, and listed.
#[utoipa::path(post, path = "/import", request_body = Labels, responses((status = 200, description = "what was stored", body = Imported)))]
pub async fn import(
    State(app): Shared,
    Input(labels): Input<Labels>,
) -> Result<Json<Imported>, Problem> {
    answer(&app, move |app| {
        let how = labels.how();
        let Labels {
            source, given, key, ..
        } = labels;
        // The plan and its first part, with the group and the new classes, belong together; between later parts whoever
        // labels meanwhile gets a turn.
        let (mut importing, mut stored) = {
            let mut project = app.writer.project_mut();
            let mut importing = project.plan_import(&source, given, &how, &key)?;
            let stored = project.import_some(&mut importing, app.clock.now());
            (importing, stored)
        };
        while let Ok(true) = stored {
            std::thread::yield_now();
            stored = app
                .writer
                .project_mut()
                .import_some(&mut importing, app.clock.now());
        }
        app.writer.told();
        stored?;
        Ok(app.writer.project().imported(importing))
    })
    .await
}

/// Makes a backup in the folder of the project.
#[utoipa::path(post, path = "/backup", responses((status = 200, description = "what was backed up, and where", body = Manifest)))]
pub async fn backup(State(app): Shared) -> Result<Json<Manifest>, Problem> {
    answer(&app, |app| {
        let now = app.clock.now();
        let Some(folder) = app
            .writer
            .project()
            .folder()
            .map(dial_store::Folder::backups)
        else {
            return Err(Problem::not_found("a project in memory has no backups"));
        };
        let made = std::fs::create_dir_all(&folder);
        let failed = |error: std::io::Error| dial_store::Error::Place {
            place: folder.display().to_string(),
            why: error.to_string(),
            next: "Check that the folder can be written to.".into(),
        };
        made.map_err(failed)?;
        let named = |number: usize| {
            let again = if number == 0 {
                String::new()
            } else {
                format!("-{number}")
            };
            folder.join(format!(
                "asked-{}{again}{}",
                dial_store::time::compact(now),
                dial_store::BACKUP_ENDING
            ))
        };
        let free = (0..)
            .map(named)
            .find(|file| !file.exists())
            .unwrap_or_default();
        let free = std::path::absolute(&free).unwrap_or(free);
        let copied = app.writer.project_mut().copy(&free)?;
        Ok(copied.finish(now)?)
    })
    .await
}
