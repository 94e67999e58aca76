//! Errors as RFC 9457 problems: the same members as the errors of the command, with the status of HTTP.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dial::error::ErrorKind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The style of a problem on a page. It is part of the page, so that no file needs to be public, and allowed by its hash.
const STYLE: &str = ":root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}main{display:grid;place-content:center;gap:.75rem;min-height:90vh;padding:1rem;text-align:center}h2,p{margin:0}";
const STYLE_HASH: &str = "sha256-TJjNXpDNBO3pEaD4Yx0pK1sD7aZY9RAtC6Kkpypwpek=";

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
    /// The place in the log of an answer that was stored as a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub conflict: Option<u64>,
    /// The label that stands and the label that came, where they contradict each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<(String, String)>, nullable = false)]
    pub labels: Option<Box<[String; 2]>>,
    /// In how many seconds the same request may be answered otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub retry_after: Option<u32>,
}

impl Problem {
    /// A panic of our own while a request was answered.
    pub fn bug() -> Problem {
        let text =
            "an internal error, which is a bug in DiAL. Saved labels are safe. Please report it.";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "BUG", text)
    }

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
            labels: None,
            retry_after: None,
        }
    }

    /// Others are answering all open items, the first of them for at most so many milliseconds more.
    pub fn all_taken(left: u64) -> Problem {
        let minutes = left.div_ceil(60_000).max(1);
        let plural = if minutes == 1 { "" } else { "s" };
        let text = format!(
            "all open items are being answered by others right now. Try again in {minutes} minute{plural}, or sooner."
        );
        Problem {
            exit: ErrorKind::Busy.exit_code(),
            retry_after: Some(u32::try_from(left.div_ceil(1000).max(1)).unwrap_or(u32::MAX)),
            ..Problem::new(StatusCode::CONFLICT, "C14", text)
        }
    }

    /// The same for a person in front of a browser. Its words are ours; nothing of the request is in it.
    pub fn into_page(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let page = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>DiAL</title>\
             <style>{STYLE}</style><body><main><h2>{}</h2><p>{} <code>{}</code></p></main>",
            self.title, self.detail, self.code
        );
        let policy = format!(
            "default-src 'none'; style-src '{STYLE_HASH}'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
        );
        let headers = [
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            (header::CONTENT_SECURITY_POLICY, policy.as_str()),
        ];
        (status, headers, page).into_response()
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
                ErrorKind::Conflict | ErrorKind::Finished | ErrorKind::Busy => StatusCode::CONFLICT,
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
                conflict,
                first,
                second,
                ..
            } => Problem {
                conflict: Some(conflict),
                labels: Some(Box::new([first, second])),
                ..problem
            },
            Error::ClassGone { conflict, .. } => Problem {
                conflict: Some(conflict),
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
        let passing = [
            StatusCode::SERVICE_UNAVAILABLE,
            StatusCode::TOO_MANY_REQUESTS,
        ];
        let soon = passing.contains(&status).then_some(1);
        if let Some(seconds) = self.retry_after.or(soon) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_policy_allows_the_style_of_the_page() {
        let hash = base64::prelude::BASE64_STANDARD.encode(Sha256::digest(STYLE));
        assert_eq!(STYLE_HASH, format!("sha256-{hash}"));
        let page = Problem::usage("no").into_page();
        let policy = page.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.contains(&format!("style-src '{STYLE_HASH}';")));
    }
}
