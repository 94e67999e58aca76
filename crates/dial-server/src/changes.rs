//! Changes as they happen, as server-sent events: new versions of the log and of the model.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};

use crate::app::App;

/// Sends `log` with the version of the log, and `model` with the version the model has followed to, whenever one changes.
#[utoipa::path(get, path = "/api/v1/changes", responses((status = 200, content_type = "text/event-stream", body = String)))]
pub async fn changes(State(app): State<Arc<App>>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (mut log, mut model, stopping) = (app.desk.version(), app.thinker.published(), app.stopping.clone());
    log.mark_changed();
    model.mark_changed();
    let events = stream::unfold((app, log, model), move |(app, mut log, mut model)| {
        let mut stopping = stopping.clone();
        async move {
            let event = tokio::select! {
                biased;
                _ = stopping.wait_for(|stop| *stop) => return None,
                changed = log.changed() => changed.ok().map(|()| ("log", *log.borrow_and_update()))?,
                changed = model.changed() => {
                    changed.ok()?;
                    let thought = app.thinker.thought();
                    ("model", thought.version)
                }
            };
            let event = Event::default().event(event.0).data(format!("{{\"version\":{}}}", event.1));
            Some((Ok(event), (app, log, model)))
        }
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}
