//! What every request must pass before anything else happens, and what every answer carries.
//!
//! ```text
//! Host       one of localhost, 127.0.0.1, [::1], with our port: no name that somebody else's DNS can point here (X1)
//! Origin     ours, where there is one (X2)
//! X-Dial     the id of our project, and X-Dial-Place that of its place, where there is one (C8); a write must have the first,
//!            one of a browser both (X2)
//! who        a signature of a session, or the token (C7, X13); the files of the page, /hello and /sign-in need neither
//! how many   connections of a session are limited (W4)
//! writes     at most 20 a second and session (W4)
//! body       within its limits, in size and time; a few large ones at once (W4)
//! ```
//!
//! Whatever is answered to somebody who was identified carries a proof (`signature.rs`).

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::auth::session_list::SESSIONS;
use crate::auth::sessions::Caller;
use crate::auth::signature::{Exchange, digest, proof_of};
use crate::connections::Connection;
use crate::http::page::{end_worker, is_asset};
use crate::http::problem::Problem;
use crate::http::router::largest_body;
use crate::request_limiter::Permit;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/// The largest body of a stranger who signs in, in bytes.
const LARGEST_SIGN_IN: usize = 4096;

/// How long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Bodies of at most so many bytes need no permit: they hold many decisions, and little memory even on all connections.
const SMALL: u64 = 1 << 16;

/// A body of more bytes is hashed on a thread of its own.
const LONG_TO_HASH: usize = 1 << 18;

/// The answer's proof.
const PROOF: HeaderName = HeaderName::from_static("x-dial-proof");

/// The id of the project that a request is meant for.
const PROJECT: &str = "x-dial";

/// The id of the place of that project: copies have the same project, and another place.
const PLACE: &str = "x-dial-place";

/// Lets a request through, or says why not.
pub async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let page = request.method() == Method::GET && wants_page(request.headers());
    let mut response = match pass(&app, request, next).await {
        Ok(response) => response,
        // A problem for programs; a few words on a page for people who opened an address.
        Err(problem) if page => problem.into_page(),
        Err(problem) => problem.into_response(),
    };
    dress(response.headers_mut());
    response
}

/// Whether a person is looking.
fn wants_page(headers: &HeaderMap) -> bool {
    let accepts = headers
        .get(header::ACCEPT)
        .and_then(|kinds| kinds.to_str().ok())
        .unwrap_or_default();
    accepts.contains("text/html")
}

async fn pass(app: &Arc<App>, request: Request, next: Next) -> Result<Response, Problem> {
    check_host(app, &request)?;
    check_origin(app, request.headers())?;
    check_project(app, request.headers())?;
    let (mut parts, body) = request.into_parts();
    if parts.headers.contains_key("service-worker") {
        return Ok(end_worker());
    }
    if is_public(&parts) {
        let body = match parts.method == Method::POST {
            true => read_body(body, largest(&parts)).await?.into(),
            false => Body::empty(),
        };
        return Ok(next.run(Request::from_parts(parts, body)).await);
    }
    let claim = Claim::read(app, &parts)?;
    let refused = match parts.extensions.get::<Arc<Connection>>() {
        Some(connection) => connection.sign_in(&claim.caller).err(),
        None => None,
    };
    let body = match refused {
        Some(problem) => Err(problem),
        None => take_body(app, &parts, body, &claim.caller).await,
    };
    // The permit of a large body is held until the request ends, as its memory is.
    let (body, _permit) = match body {
        Ok((bytes, permit)) => (Ok(bytes), permit),
        Err(problem) => (Err(problem), None),
    };
    let exchange = Exchange {
        body: match (&claim.body, &body) {
            (Some(declared), _) => declared.clone(),
            (None, Ok(bytes)) => hash(bytes).await,
            (None, Err(_)) => digest(""),
        },
        ..claim.exchange(app)
    };
    let admitted = match body {
        Ok(bytes) if claim.body.is_none() || hash(&bytes).await == exchange.body => Ok(bytes),
        Ok(_) => {
            let text = "the body is not the one that was signed. Nothing was saved. Send it again.";
            Err(Problem::new(StatusCode::FORBIDDEN, "X2", text))
        }
        Err(problem) => Err(problem),
    };
    let response = match admitted {
        Ok(bytes) => {
            keep_use(app, &claim.caller);
            parts.extensions.insert(claim.caller.clone());
            next.run(Request::from_parts(parts, bytes.into())).await
        }
        Err(problem) => problem.into_response(),
    };
    prove(response, exchange.to_string(), claim.secret).await
}

/// What anybody on this machine may have: the files of the page, which hold no data, and what it takes to sign in.
fn is_public(parts: &Parts) -> bool {
    let path = parts.uri.path();
    match parts.method {
        Method::GET | Method::HEAD => path == "/hello" || is_asset(path),
        Method::POST => path == "/sign-in",
        _ => false,
    }
}

/// Who talks, and what it takes to prove the answer.
struct Claim {
    caller: Caller,
    /// What both ends hold.
    secret: String,
    host: String,
    method: Method,
    target: String,
    nonce: String,
    /// The hash of the body that was signed; none of a program that has sent the token itself.
    body: Option<String>,
}

impl Claim {
    /// `Authorization: Dial SESSION.NONCE.BODY.SIGNATURE`, or `Bearer TOKEN`. The signature covers the hash of the body and
    /// not the body itself, so that strangers are refused before anything of theirs is read.
    fn read(app: &App, parts: &Parts) -> Result<Claim, Problem> {
        let text = |name: HeaderName| {
            let value = parts.headers.get(name);
            value
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
        };
        let given = text(header::AUTHORIZATION);
        let claim = |(caller, secret), nonce: &str, body| Claim {
            caller,
            secret,
            host: text(header::HOST).into(),
            method: parts.method.clone(),
            target: (parts.uri.path_and_query()).map_or_else(String::new, ToString::to_string),
            nonce: nonce.into(),
            body,
        };
        if let Some(token) = given.strip_prefix("Bearer ") {
            let text = "this token is not that of the server. Read it again.";
            let unknown = || Problem::new(StatusCode::UNAUTHORIZED, "X13", text);
            let known = app.sessions.by_token(token).ok_or_else(unknown)?;
            return Ok(claim(known, "", None));
        }
        let words: Vec<&str> = given
            .strip_prefix("Dial ")
            .map_or_else(Vec::new, |words| words.split('.').collect());
        let [session, nonce, body, signature] = words[..] else {
            return Err(signed_out());
        };
        let known = app.sessions.secret_of(session, app.clock.now());
        let claim = claim(known.ok_or_else(signed_out)?, nonce, Some(body.into()));
        match claim.exchange(app).is_signed(&claim.secret, signature) {
            true => Ok(claim),
            false => Err(signed_out()),
        }
    }

    fn exchange<'a>(&'a self, app: &'a App) -> Exchange<'a> {
        Exchange {
            run: &app.sessions.run,
            host: &self.host,
            method: self.method.as_str(),
            target: &self.target,
            nonce: &self.nonce,
            body: self.body.clone().unwrap_or_default(),
        }
    }
}

fn signed_out() -> Problem {
    let text = "not signed in. Open the link that dial printed; answers that were not saved stay in the browser.";
    Problem::new(StatusCode::UNAUTHORIZED, "C7", text)
}

/// What is refused to callers that are known: writes that do not say which project they mean, and too many of them.
fn may_pass(app: &App, parts: &Parts, caller: &Caller) -> Result<(), Problem> {
    if matches!(parts.method, Method::GET | Method::HEAD) {
        return Ok(());
    }
    if !parts.headers.contains_key(PROJECT) {
        let text = "a change names its project. Send the id of the project in the header X-Dial; /hello and server.json have it.";
        return Err(Problem::new(StatusCode::FORBIDDEN, "X2", text));
    }
    // A program has the token of this very run of the server. A page may be older than that.
    if matches!(caller, Caller::Browser(_)) && !parts.headers.contains_key(PLACE) {
        let text = "a change by a browser names the place of its project. Send its id in the header X-Dial-Place; /hello has it.";
        return Err(Problem::new(StatusCode::FORBIDDEN, "X2", text));
    }
    if !app.sessions.may_write(caller, app.clock.now()) {
        let text = "too many changes in a second. It was not saved. Send it again in a moment.";
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "W4", text));
    }
    Ok(())
}

/// Keeps with the project that a session is in use, now and then.
fn keep_use(app: &Arc<App>, caller: &Caller) {
    if let Some(list) = app.sessions.used(caller, app.clock.now()) {
        let app = Arc::clone(app);
        // Without it the session ends sooner, which is no reason to hold the request up.
        tokio::task::spawn_blocking(move || {
            drop(app.writer.change(|project| project.keep(SESSIONS, &list)));
        });
    }
}

/// The body of a caller that is known, if the request may pass: a large one is not read before that, nor before it has its permits.
async fn take_body(
    app: &App,
    parts: &Parts,
    body: Body,
    caller: &Caller,
) -> Result<(Bytes, Option<Permit>), Problem> {
    let most = largest(parts);
    // One that does not say how long it is may be as long as it may be.
    let length = body.size_hint().upper().unwrap_or(most as u64);
    // One that is too long is not read at all.
    if length <= SMALL || length > most as u64 {
        let bytes = read_body(body, most).await?;
        return may_pass(app, parts, caller).map(|()| (bytes, None));
    }
    may_pass(app, parts, caller)?;
    let permit = app
        .bodies
        .acquire_many(caller, (length >> 10) as u32 + 1)
        .await?;
    Ok((read_body(body, most).await?, Some(permit)))
}

/// The largest body that a request may have.
fn largest(parts: &Parts) -> usize {
    match parts.uri.path() {
        "/sign-in" => LARGEST_SIGN_IN,
        path => largest_body(path),
    }
}

/// Reads a body that is neither too large nor too slow.
async fn read_body(body: Body, most: usize) -> Result<Bytes, Problem> {
    let large = || {
        let text =
            format!("the body is larger than {most} bytes. Nothing was saved. Send it in parts.");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "W4", text)
    };
    if body.size_hint().lower() > most as u64 {
        return Err(large());
    }
    let slow = |_| {
        let text = "the body took too long. Nothing was saved. Send it again.";
        Problem::new(StatusCode::REQUEST_TIMEOUT, "W4", text)
    };
    let read = tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, most)).await;
    // A body that is cut short fails as well, but then nobody is there to read why.
    read.map_err(slow)?.map_err(|_| large())
}

async fn hash(bytes: &Bytes) -> String {
    let bytes = bytes.clone();
    long(bytes.len(), move || digest(bytes)).await
}

/// Computes about so many bytes: on a thread of its own if they are many.
async fn long<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if bytes <= LONG_TO_HASH {
        return work();
    }
    let done = tokio::task::spawn_blocking(work).await;
    done.expect("hashing does not panic, and the runtime waits for its requests")
}

/// Adds the proof to an answer.
async fn prove(response: Response, exchange: String, secret: String) -> Result<Response, Problem> {
    let (mut parts, body) = response.into_parts();
    // What is sent while it is made (events, exports) has no length yet.
    let (proven, body) = match body.size_hint().exact() {
        None => (Bytes::new(), body),
        Some(_) => {
            let bytes = to_bytes(body, usize::MAX)
                .await
                .map_err(|_| Problem::bug())?;
            (bytes.clone(), bytes.into())
        }
    };
    let status = parts.status.as_u16();
    let proof = long(proven.len(), move || {
        proof_of(&exchange, &secret, status, &proven)
    })
    .await;
    if let Ok(proof) = HeaderValue::from_str(&proof) {
        parts.headers.insert(PROOF, proof);
    }
    Ok(Response::from_parts(parts, body))
}

/// A request that names another project is refused, whoever sends it: the page or the program of that project must learn
/// that it is not here.
fn check_project(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    let other = |name: &str, ours: &str| {
        let mut named = headers.get_all(name).iter();
        named.any(|id| id.as_bytes() != ours.as_bytes())
    };
    let text = if other(PROJECT, &app.project) {
        "another project is served at this address now. Nothing was saved here. Serve the project that is meant \
         (dial label NAME.dial), or read the address and the id of this one again."
    } else if other(PLACE, &app.place) {
        "another copy of this project is served at this address now. Nothing was saved here. Serve the folder that is meant \
         (dial label NAME.dial), or read the address and the place of this one again."
    } else {
        return Ok(());
    };
    Err(Problem::new(StatusCode::CONFLICT, "C8", text))
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
