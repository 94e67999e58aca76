//! The body of a request as plain data: bounded, in time, JSON, and refused with a problem where it is not.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;

use crate::http::problem::Problem;

/// How long a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

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
        let bytes = tokio::time::timeout(PATIENCE, Bytes::from_request(request, state)).await;
        let slow = |_| {
            Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                "W4",
                "the body took too long. Nothing was saved. Send it again.",
            )
        };
        let bytes = bytes.map_err(slow)?.map_err(|refused| {
            Problem::new(
                refused.status(),
                "W4",
                "the body is too large or was cut short. Nothing was saved. Send it in parts.",
            )
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
