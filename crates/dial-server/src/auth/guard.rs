//! What every request must pass before anything else happens, and what every answer carries.
//!
//! ```text
//! Host      one of localhost, 127.0.0.1, [::1], with our port: no name that somebody else's DNS can point here (X1)
//! Origin    ours, where there is one; a browser that writes must show it (X2)
//! who       a cookie or the token; only /launch and a style sheet need neither
//! writes    JSON, with the header X-Dial, at most 20 a second and session (X2, W4)
//! ```

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::auth::tokens::Caller;
use crate::http::problem::Problem;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/// Lets a request through, or says why not.
pub async fn guard(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let mut response = match check(&app, &request) {
        Ok(caller) => {
            if let Some(caller) = caller {
                request.extensions_mut().insert(caller);
            }
            next.run(request).await
        }
        Err(problem) => refuse(&request, problem),
    };
    dress(response.headers_mut());
    response
}

/// A problem for programs; a few words on a page for people who opened an address.
fn refuse(request: &Request, problem: Problem) -> Response {
    match request.method() == Method::GET && wants_page(request.headers()) {
        true => problem.into_page(),
        false => problem.into_response(),
    }
}

/// Whether a person is looking.
pub fn wants_page(headers: &HeaderMap) -> bool {
    let accepts = headers
        .get(header::ACCEPT)
        .and_then(|kinds| kinds.to_str().ok())
        .unwrap_or_default();
    accepts.contains("text/html")
}

fn check(app: &App, request: &Request) -> Result<Option<Caller>, Problem> {
    let headers = request.headers();
    check_host(app, request)?;
    check_origin(app, headers)?;
    let path = request.uri().path();
    // The style of the page that says so is for everybody.
    if matches!(path, "/launch" | "/base.css") && request.method() == Method::GET {
        return Ok(None);
    }
    let (caller, by_cookie) = caller(app, headers)?;
    let safe = matches!(*request.method(), Method::GET | Method::HEAD);
    if !safe {
        if by_cookie {
            check_browser_write(headers)?;
        }
        if !app.sessions.may_write(&caller, app.clock.now()) {
            let text = "too many changes in a second. It was not saved. Send it again in a moment.";
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "W4", text));
        }
    }
    Ok(Some(caller))
}

/// The one Host header, and the authority of the request line if it has one, must be ours.
fn check_host(app: &App, request: &Request) -> Result<(), Problem> {
    let named: Vec<&HeaderValue> = request.headers().get_all(header::HOST).iter().collect();
    let ours = |host: &str| {
        app.hosts
            .iter()
            .any(|known| known.eq_ignore_ascii_case(host))
    };
    let host = matches!(named.as_slice(), [host] if host.to_str().is_ok_and(ours));
    let authority = request
        .uri()
        .authority()
        .is_none_or(|authority| ours(authority.as_str()));
    match host && authority {
        true => Ok(()),
        false => {
            let text = "this server answers to localhost only. Use the address that dial printed.";
            Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "X1", text))
        }
    }
}

fn check_origin(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    let ours = |origin: &HeaderValue| {
        let host = origin
            .to_str()
            .ok()
            .and_then(|origin| origin.strip_prefix("http://"));
        host.is_some_and(|host| {
            app.hosts
                .iter()
                .any(|known| known.eq_ignore_ascii_case(host))
        })
    };
    let foreign = headers
        .get_all(header::ORIGIN)
        .iter()
        .any(|origin| !ours(origin));
    let cross = headers
        .get("sec-fetch-site")
        .is_some_and(|site| site == "cross-site" || site == "same-site");
    // A person may follow a link to the page itself.
    let navigation = headers
        .get("sec-fetch-mode")
        .is_some_and(|mode| mode == "navigate");
    match foreign || (cross && !navigation) {
        true => Err(Problem::new(
            StatusCode::FORBIDDEN,
            "X2",
            "another page may not use this server. Open the page itself.",
        )),
        false => Ok(()),
    }
}

/// What a browser must show before it may write: where it comes from, and a header that no form can send.
fn check_browser_write(headers: &HeaderMap) -> Result<(), Problem> {
    let refuse = |text: &str| Err(Problem::new(StatusCode::FORBIDDEN, "X2", text));
    let same = headers
        .get("sec-fetch-site")
        .is_some_and(|site| site == "same-origin");
    if !headers.contains_key(header::ORIGIN) && !same {
        return refuse("a change needs an Origin. Use the page, or the token.");
    }
    if !headers.contains_key("x-dial") {
        return refuse("a change needs the header X-Dial. Use the page, or the token.");
    }
    Ok(())
}

/// Who talks, and whether by cookie.
fn caller(app: &App, headers: &HeaderMap) -> Result<(Caller, bool), Problem> {
    let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_string();
    let token = headers.get(header::AUTHORIZATION).map(text);
    if let Some(token) = token
        .as_deref()
        .and_then(|value| value.strip_prefix("Bearer "))
    {
        let unknown = || {
            Problem::new(
                StatusCode::UNAUTHORIZED,
                "X13",
                "this token is not that of the server. Read it again.",
            )
        };
        return app
            .sessions
            .by_token(token)
            .map(|caller| (caller, false))
            .ok_or_else(unknown);
    }
    let cookies: Vec<String> = headers.get_all(header::COOKIE).iter().map(text).collect();
    let mine = cookies
        .iter()
        .flat_map(|all| all.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let now = app.clock.now();
    let known = mine
        .filter(|(name, _)| *name == app.cookie)
        .find_map(|(_, secret)| app.sessions.by_cookie(secret, now));
    let signed_out = || {
        let text = "not signed in. Open the link that dial printed; answers that were not saved stay in the browser.";
        Problem::new(StatusCode::UNAUTHORIZED, "C7", text)
    };
    known.map(|caller| (caller, true)).ok_or_else(signed_out)
}

/// The headers of every answer.
fn dress(headers: &mut HeaderMap) {
    let set = [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ];
    for (name, value) in set {
        // Media have a stricter policy of their own.
        headers
            .entry(HeaderName::from_static(name))
            .or_insert(HeaderValue::from_static(value));
    }
}
