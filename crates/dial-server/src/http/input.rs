//! The body of a request as plain data: JSON of the right shape, or a problem that says what is wrong with it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::auth::sessions::Caller;
use crate::http::problem::Problem;
use crate::request_limiter::Permit;

/// A body of JSON.
pub struct Input<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Input<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind = request
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default();
        if kind
            .split(';')
            .next()
            .is_none_or(|kind| !kind.trim().eq_ignore_ascii_case("application/json"))
        {
            let text = "send JSON, with content-type application/json.";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "U0", text));
        }
        // The guard has read it already, within its limits.
        let bytes = Bytes::from_request(request, state).await.map_err(|error| {
            let text = "the body cannot be read. Nothing was saved. Send it again.";
            Problem::new(error.status(), "W4", text)
        })?;
        match serde_json::from_slice(&bytes) {
            Ok(value) => Ok(Input(value)),
            Err(error) => {
                let text = format!(
                    "the body is not what this request takes: {error}. Nothing was saved. See /api/v1/openapi.json."
                );
                Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "U0", text))
            }
        }
    }
}

/// The permit of a request that looks at the whole log or pool.
pub struct Long {
    _permit: Permit,
}

impl FromRequestParts<Arc<App>> for Long {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let _permit = app.long.acquire(&caller(parts)?).await?;
        Ok(Long { _permit })
    }
}

/// The permit of an import or a backup.
pub struct Copying {
    _permit: Permit,
}

impl FromRequestParts<Arc<App>> for Copying {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let _permit = app.copies.acquire(&caller(parts)?).await?;
        Ok(Copying { _permit })
    }
}

impl Copying {
    /// Gives the permit back. The next one of the same session comes after a pause, those of others at once.
    pub fn rest(self, pause: Duration) {
        self._permit.rest(pause);
    }
}

/// The permit of an answer that is sent while it is made, however slowly it is read.
pub struct Sending {
    _permit: Permit,
}

impl FromRequestParts<Arc<App>> for Sending {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let _permit = app.sending.acquire(&caller(parts)?).await?;
        Ok(Sending { _permit })
    }
}

/// Who the guard has let through.
fn caller(parts: &Parts) -> Result<Caller, Problem> {
    let signed_out = || Problem::new(StatusCode::UNAUTHORIZED, "C7", "not signed in.");
    parts.extensions.get().cloned().ok_or_else(signed_out)
}

/// The query of a request.
pub struct Asked<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let found = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        found.map(|query| Asked(query.0)).map_err(|error| {
            let text = format!(
                "the query is not what this request takes: {error}. See /api/v1/openapi.json."
            );
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "U0", text)
        })
    }
}
