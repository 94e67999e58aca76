//! Errors as RFC 9457 problems: the same members as the errors of the command, with the status of HTTP.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dial::error::ErrorKind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What went wrong (RFC 9457).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// `urn:dial:error:CODE`.
    #[serde(default)]
    #[schema(required)]
    pub r#type: String,
    /// The kind of error in words.
    #[serde(default)]
    #[schema(value_type = String, required)]
    pub title: Box<str>,
    /// The status of HTTP.
    #[serde(default)]
    #[schema(required)]
    pub status: u16,
    /// What, where, what was kept, what to do.
    #[serde(default)]
    #[schema(required)]
    pub detail: String,
    /// The stable code.
    #[serde(default)]
    #[schema(value_type = String, required)]
    pub code: Box<str>,
    /// The exit code with which the command fails for the same reason.
    #[serde(default)]
    #[schema(required)]
    pub exit: u8,
    /// The place in the log where an answer that could not be taken is kept aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub conflict: Option<u64>,
    /// The label that stands and the label that came, where they contradict each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<(String, String)>, nullable = false)]
    pub said: Option<Box<[String; 2]>>,
}

impl Problem {
    /// A problem of the interface itself.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Problem {
        Problem {
            r#type: format!("urn:dial:error:{code}"),
            title: status.canonical_reason().unwrap_or("Error").into(),
            status: status.as_u16(),
            detail: detail.into(),
            code: code.into(),
            exit: exit(status),
            conflict: None,
            said: None,
        }
    }

    /// The same for a person in front of a browser. Its words are ours; nothing of the request is in it.
    pub fn into_page(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let page = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>DiAL</title>\
             <link rel=\"stylesheet\" href=\"/base.css\"><body><main><div class=\"empty\"><h2>{}</h2><p>{} <code>{}</code></p></div></main>",
            self.title, self.detail, self.code
        );
        let kind = (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        );
        (status, [kind], page).into_response()
    }

    /// A request that makes no sense.
    pub fn usage(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "U1", detail)
    }

    /// Something that is not there.
    pub fn not_found(what: &str) -> Problem {
        Problem::new(
            StatusCode::NOT_FOUND,
            "I12",
            format!("{what}. Use an id of the pool."),
        )
    }
}

/// The exit code of problems of the interface itself.
pub fn exit(status: StatusCode) -> u8 {
    let kind = match status.as_u16() {
        401 | 403 | 421 => ErrorKind::Permission,
        404 => ErrorKind::Input,
        409 => ErrorKind::Conflict,
        400..=499 => ErrorKind::Usage,
        _ => ErrorKind::Storage,
    };
    kind.exit_code()
}

impl From<dial_store::Error> for Problem {
    fn from(error: dial_store::Error) -> Problem {
        use dial_store::Error;
        let status = match &error {
            Error::Full(_) | Error::Reserve { .. } => StatusCode::INSUFFICIENT_STORAGE,
            Error::KeyReused(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Error::Core(dial::Error::UnknownItem(_) | dial::Error::UnknownClass(_)) => {
                StatusCode::NOT_FOUND
            }
            other => match other.kind() {
                ErrorKind::Usage | ErrorKind::Input => StatusCode::UNPROCESSABLE_ENTITY,
                ErrorKind::Conflict => StatusCode::CONFLICT,
                ErrorKind::Permission => StatusCode::FORBIDDEN,
                _ => StatusCode::SERVICE_UNAVAILABLE,
            },
        };
        let problem = Problem {
            exit: error.kind().exit_code(),
            ..Problem::new(status, error.code(), error.to_string())
        };
        match error {
            Error::Contradiction {
                parked,
                first,
                second,
                ..
            } => Problem {
                conflict: Some(parked),
                said: Some(Box::new([first, second])),
                ..problem
            },
            Error::ClassGone { parked, .. } => Problem {
                conflict: Some(parked),
                ..problem
            },
            _ => problem,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if status == StatusCode::SERVICE_UNAVAILABLE || status == StatusCode::TOO_MANY_REQUESTS {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
