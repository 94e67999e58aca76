//! Changes as they happen, as server-sent events: new versions of the log, of the model and of the map.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};

use crate::app::App;

/// Sends `log` with the version of the log, `model` with the version the model has followed to, and `map` with what the map is
/// made from, whenever one changes.
#[utoipa::path(get, path = "/changes", responses((status = 200, content_type = "text/event-stream", body = String)))]
pub async fn changes(
    State(app): State<Arc<App>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (mut log, mut model, stopping) = (
        app.writer.version(),
        app.model.published(),
        app.stopping.clone(),
    );
    log.mark_changed();
    model.mark_changed();
    let mut map = app.map_worker.published();
    map.mark_changed();
    let events = stream::unfold(
        (app, log, model, map),
        move |(app, mut log, mut model, mut map)| {
            let mut stopping = stopping.clone();
            async move {
                let event = tokio::select! {
                    biased;
                    _ = stopping.wait_for(|stop| *stop) => return None,
                    changed = log.changed() => {
                        changed.ok()?;
                        version("log", *log.borrow_and_update())
                    }
                    changed = model.changed() => {
                        changed.ok()?;
                        version("model", app.model.snapshot().version)
                    }
                    // Once it is done there is nobody left to send.
                    Ok(()) = map.changed() => match app.map_worker.map() {
                        Some(map) => Event::default().event("map").data(format!("{{\"layout\":\"{}\"}}", map.layout.word())),
                        None => Event::default().comment("no map yet"),
                    },
                };
                Some((Ok(event), (app, log, model, map)))
            }
        },
    );
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}

fn version(name: &str, version: u64) -> Event {
    Event::default()
        .event(name)
        .data(format!("{{\"version\":{version}}}"))
}
