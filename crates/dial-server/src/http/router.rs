//! Which handler serves which path.

use std::sync::Arc;

use axum::Json;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use utoipa::OpenApi as _;
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, ResponseBuilder};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::auth::guard::guard;
use crate::http::problem::Problem;
use crate::http::{events, exchange, lists, routes as paths, scene, sign_in, views};

/// The largest body, in bytes.
const LARGEST_BODY: usize = 8_000_000;
/// The largest body of an import: it takes some ten times as much memory.
const LARGEST_IMPORT: usize = 64_000_000;

/// The largest body that a path takes.
pub fn largest_body(path: &str) -> usize {
    match path.ends_with("/import") {
        true => LARGEST_IMPORT,
        false => LARGEST_BODY,
    }
}

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
        .routes(routes!(lists::open))
        .routes(routes!(lists::passed))
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
        .routes(routes!(exchange::example))
        .routes(routes!(exchange::import))
        .routes(routes!(exchange::backup))
        .routes(routes!(sign_in::launch))
        .routes(routes!(sign_in::sessions))
        .routes(routes!(sign_in::end_sessions));
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
        .route("/hello", get(sign_in::hello))
        .route("/sign-in", post(sign_in::sign_in))
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
        // The guard has limits of its own.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}
