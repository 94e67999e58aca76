//! Signing browsers in and out.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::auth::launch as launching;
use crate::auth::session_list::{SESSIONS, browser_name};
use crate::auth::sessions::Caller;
use crate::http::input::Input;
use crate::http::problem::Problem;
use crate::http::routes::aside;
use crate::http::wire::{EndSessions, Launch, SessionRow};

type Shared = State<Arc<App>>;

/// What a page must know before it can sign.
#[derive(Serialize)]
pub struct Hello {
    project: String,
    place: String,
    run: String,
}

/// Says which project this is, at which place, and which run of the server. Anybody may know.
pub async fn hello(State(app): Shared) -> Json<Hello> {
    Json(Hello {
        project: app.project.clone(),
        place: app.place.clone(),
        run: app.sessions.run.clone(),
    })
}

/// What a browser has that was given a link.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Code {
    code: String,
}

/// A session, once and for nobody else.
#[derive(Serialize)]
pub struct Session {
    session: String,
    key: String,
}

/// Exchanges a launch code for a session.
pub async fn sign_in(
    State(app): Shared,
    headers: HeaderMap,
    Input(Code { code }): Input<Code>,
) -> Result<Json<Session>, Problem> {
    let agent = headers.get(header::USER_AGENT);
    let browser = browser_name(
        agent
            .and_then(|agent| agent.to_str().ok())
            .unwrap_or_default(),
    );
    let signed_in = app.sessions.sign_in(&code, &browser, app.clock.now())?;
    let signed_in = signed_in.ok_or_else(|| {
        let text = "this link was used before, or is too old. Run dial label again for a new one.";
        Problem::new(StatusCode::UNAUTHORIZED, "X13", text)
    })?;
    keep(&app, signed_in.kept).await?;
    Ok(Json(Session {
        session: signed_in.session,
        key: signed_in.key,
    }))
}

/// Keeps the list of sessions. Without it a restart signs a browser out, which is no reason to refuse it now.
async fn keep(app: &Arc<App>, list: Vec<u8>) -> Result<(), Problem> {
    aside(app, move |app| {
        let _ = app.writer.change(|project| project.keep(SESSIONS, &list));
        Ok(())
    })
    .await
}

/// What opens the page in another browser, once: a link that is good for 15 minutes, or the path of a file that leads there
/// for one minute. Only for programs of the owner.
#[utoipa::path(post, path = "/launch", request_body = Launch, responses((status = 200, body = String, content_type = "application/json")))]
pub async fn launch(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Input(Launch { file }): Input<Launch>,
) -> Result<Json<String>, Problem> {
    if caller != Caller::Owner {
        let text = "there is nothing here. See /api/v1/openapi.json.";
        return Err(Problem::new(StatusCode::NOT_FOUND, "X10", text));
    }
    aside(&app, move |app| match file {
        true => Ok(launching::file(app)?.display().to_string()),
        false => Ok(launching::link(app)?),
    })
    .await
    .map(Json)
}

/// The browsers that are signed in, the one used last first.
#[utoipa::path(get, path = "/sessions", responses((status = 200, body = Vec<SessionRow>)))]
pub async fn sessions(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
) -> Json<Vec<SessionRow>> {
    Json(app.sessions.rows(&caller, app.clock.now()))
}

/// Signs browsers out, that of who asks among them if it is named. Answers with those that are left.
#[utoipa::path(post, path = "/sessions/end", request_body = EndSessions, responses((status = 200, body = Vec<SessionRow>)))]
pub async fn end_sessions(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Input(EndSessions { sessions }): Input<EndSessions>,
) -> Result<Response, Problem> {
    let now = app.clock.now();
    let list = app.sessions.end(&sessions, now);
    // One that would be there again after a restart has not ended.
    aside(&app, move |app| {
        Ok(app.writer.change(|project| project.keep(SESSIONS, &list))?)
    })
    .await?;
    let mut response = Json(app.sessions.rows(&caller, now)).into_response();
    let out = matches!(&caller, Caller::Browser(session) if sessions.contains(session));
    if out {
        // Not the storage: answers that were not saved yet stay in the browser.
        let cache = HeaderValue::from_static("\"cache\"");
        let name = header::HeaderName::from_static("clear-site-data");
        response.headers_mut().insert(name, cache);
    }
    Ok(response)
}
