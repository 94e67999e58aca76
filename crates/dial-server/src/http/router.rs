//! Which path leads where, and the document of the interface.

use std::sync::Arc;

use axum::Json;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use serde::Deserialize;
use utoipa::OpenApi as _;
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, ResponseBuilder};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::auth::guard::{guard, wants_page};
use crate::auth::tokens::Caller;
use crate::http::input::Asked;
use crate::http::problem::Problem;
use crate::http::{events, exchange, lists, routes as paths, scene, views};

/// The largest body, in bytes.
const LARGEST_BODY: usize = 8_000_000;
const LARGEST_IMPORT: usize = 256_000_000;

/// The stream of changes.
const CHANGES: &str = "/api/v1/changes";

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "DiAL",
        description = "The interface of a labelling project. Every decision carries a key of its sender's making: sent again, it gets the first \
                   answer again. Errors are RFC 9457 problems with a stable code."
    ),
    components(schemas(Problem))
)]
struct Document;

fn interface() -> OpenApiRouter<Arc<App>> {
    let paths = OpenApiRouter::new()
        .routes(routes!(paths::project))
        .routes(routes!(paths::next))
        .routes(routes!(paths::decide))
        .routes(routes!(paths::item))
        .routes(routes!(paths::media_of))
        .routes(routes!(paths::history))
        .routes(routes!(paths::conflicts))
        .routes(routes!(paths::estimates))
        .routes(routes!(lists::items))
        .routes(routes!(lists::suspects))
        .routes(routes!(lists::disagreements))
        .routes(routes!(events::changes))
        .routes(routes!(views::ids))
        .routes(routes!(views::map))
        .routes(routes!(views::beliefs))
        .routes(routes!(views::progress))
        .routes(routes!(views::calibration))
        .routes(routes!(scene::info))
        .routes(routes!(scene::pixels))
        .routes(routes!(scene::image))
        .routes(routes!(exchange::status))
        .routes(routes!(exchange::export))
        .merge(
            OpenApiRouter::new()
                .routes(routes!(exchange::import))
                .layer(DefaultBodyLimit::max(LARGEST_IMPORT)),
        )
        .routes(routes!(exchange::backup))
        .routes(routes!(launch_code));
    OpenApiRouter::with_openapi(Document::openapi()).nest("/api/v1", paths)
}

/// The document of the interface, in OpenAPI 3.1. Any path may answer with a problem instead; the changes, which never end,
/// just end.
pub fn document() -> OpenApi {
    let problem = Content::new(Some(Ref::from_schema_name("Problem")));
    let problem = ResponseBuilder::new().content("application/problem+json", problem);
    let problem = RefOr::from(problem.build());
    let mut document = interface().into_openapi();
    for (_, path) in (document.paths.paths.iter_mut()).filter(|(name, _)| *name != CHANGES) {
        for operation in [&mut path.get, &mut path.post].into_iter().flatten() {
            let answers = &mut operation.responses.responses;
            answers.insert("default".into(), problem.clone());
        }
    }
    document
}

/// Everything the server answers.
pub fn router(app: Arc<App>) -> axum::Router {
    let (router, _) = interface().split_for_parts();
    router
        .route("/api/v1/openapi.json", get(|| async { Json(document()) }))
        .route("/launch", get(launch))
        .merge(crate::http::page::page())
        .fallback(|| async {
            Problem::new(
                StatusCode::NOT_FOUND,
                "U0",
                "there is nothing here. See /api/v1/openapi.json.",
            )
        })
        .method_not_allowed_fallback(|| async {
            Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "U0",
                "this path takes another method. See /api/v1/openapi.json.",
            )
        })
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

#[derive(Deserialize)]
struct Launch {
    code: String,
}

/// Exchanges a launch code for a cookie and goes to the page, so that the code is in no history.
async fn launch(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Asked(Launch { code }): Asked<Launch>,
) -> Result<Response, Problem> {
    let Some((cookie, kept)) = app.sessions.exchange(&code, app.clock.now())? else {
        let text = "this link was used before. Run dial label again for a new one.";
        let problem = Problem::new(StatusCode::UNAUTHORIZED, "X13", text);
        return if wants_page(&headers) {
            Ok(problem.into_page())
        } else {
            Err(problem)
        };
    };
    // Without it a restart signs this browser out, which is no reason to refuse it now.
    let keep = move |app: &App| Ok(app.writer.project_mut().keep("sessions", &kept).is_ok());
    paths::aside(&app, keep).await?;
    let mut response = Redirect::to("/").into_response();
    let value = format!("{}={cookie}; Path=/; HttpOnly; SameSite=Strict", app.cookie);
    if let Ok(value) = HeaderValue::from_str(&value) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    Ok(response)
}

/// A link for another browser. Only for programs of the owner.
#[utoipa::path(post, path = "/launch", responses((status = 200, body = String, content_type = "application/json")))]
async fn launch_code(
    State(app): State<Arc<App>>,
    axum::Extension(caller): axum::Extension<Caller>,
) -> Result<Json<String>, Problem> {
    if caller != Caller::Owner {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "X10",
            "there is nothing here. See /api/v1/openapi.json.",
        ));
    }
    Ok(Json(format!(
        "http://{}/launch?code={}",
        app.address,
        app.sessions.launch_code()?
    )))
}
