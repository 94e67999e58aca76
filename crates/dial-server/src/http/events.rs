//! Changes as they happen, as server-sent events: new versions of the log, of the model and of the map.
//!
//! All streams together are sent about a thousand events a second, however many labels come: with n streams each waits n
//! milliseconds after it was sent something, and is then sent the latest version only.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use futures_util::{FutureExt, StreamExt};
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, sleep_until};

use crate::app::App;
use crate::auth::sessions::Caller;
use crate::connections::Connection;
use crate::http::problem::Problem;

/// What a stream listens to.
struct Listener {
    app: Arc<App>,
    connection: Arc<Connection>,
    log: Receiver<u64>,
    model: Receiver<u64>,
    map: Receiver<u64>,
    stopping: Receiver<bool>,
    /// Until when nothing is sent.
    quiet: Instant,
}

/// Sends `log` with the version of the log, `model` with the version the model has followed to, and `map` with what the map is
/// made from, whenever one changes.
#[utoipa::path(get, path = "/changes", responses((status = 200, content_type = "text/event-stream", body = String)))]
pub async fn changes(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(connection): Extension<Arc<Connection>>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    connection.become_stream(&caller)?;
    let mut listener = Listener {
        log: app.writer.version(),
        model: app.model.published(),
        map: app.map_worker.published(),
        stopping: app.stopping.clone(),
        quiet: Instant::now(),
        connection,
        app,
    };
    for receiver in [&mut listener.log, &mut listener.model, &mut listener.map] {
        receiver.mark_changed();
    }
    let next = async |mut listener: Listener| Some((listener.next().await?, listener));
    let events = stream::unfold(listener, next).flat_map(stream::iter);
    Ok(Sse::new(events.map(Ok)).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

impl Listener {
    /// What has changed since it was asked last, once something has; none when the server stops.
    async fn next(&mut self) -> Option<Vec<Event>> {
        let mut stopping = self.stopping.clone();
        let changed = async {
            sleep_until(self.quiet).await;
            let (mut log, mut model, mut map) = (false, false, false);
            tokio::select! {
                changed = self.log.changed() => { changed.ok()?; log = true; }
                changed = self.model.changed() => { changed.ok()?; model = true; }
                // Once the map is made nobody is left to send.
                Ok(()) = self.map.changed() => map = true,
            }
            // The last change also counts once its sender is gone, as when the map is made.
            let too = |receiver: &mut Receiver<u64>| {
                matches!(receiver.changed().now_or_never(), Some(Ok(())))
            };
            log |= too(&mut self.log);
            model |= too(&mut self.model);
            map |= too(&mut self.map);
            Some((log, model, map))
        };
        let (log, model, map) = tokio::select! {
            _ = stopping.wait_for(|stop| *stop) => return None,
            changed = changed => changed?,
        };
        self.quiet = Instant::now() + Duration::from_millis(self.connection.streams() as u64);
        let (app, version) = (&self.app, *self.log.borrow());
        let events = [
            log.then(|| event("log", &format!("{{\"version\":{version}}}"))),
            model.then(|| {
                let version = app.model.snapshot().version;
                event("model", &format!("{{\"version\":{version}}}"))
            }),
            map.then(|| match app.map_worker.map() {
                Some(map) => event("map", &format!("{{\"layout\":\"{}\"}}", map.layout.word())),
                None => Event::default().comment("no map yet"),
            }),
        ];
        Some(events.into_iter().flatten().collect())
    }
}

fn event(name: &str, data: &str) -> Event {
    Event::default().event(name).data(data)
}
