//! The labelling page: plain files, compiled in. There is no build step, and nothing is fetched from anywhere else.

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// A file of the page: its path, its media type, its content.
type Asset = (&'static str, &'static str, &'static str);

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

macro_rules! script {
    ($path:literal) => {
        (
            concat!("/", $path),
            SCRIPT,
            include_str!(concat!("../../page/", $path)),
        )
    };
}

/// All files.
pub const ASSETS: [Asset; 35] = [
    (
        "/",
        "text/html; charset=utf-8",
        include_str!("../../page/index.html"),
    ),
    (
        "/icon.svg",
        "image/svg+xml",
        include_str!("../../page/icon.svg"),
    ),
    ("/base.css", STYLE, include_str!("../../page/base.css")),
    ("/views.css", STYLE, include_str!("../../page/views.css")),
    script!("main.js"),
    script!("types.js"),
    script!("strings.js"),
    script!("dom.js"),
    script!("session.js"),
    script!("api.js"),
    script!("pictures.js"),
    script!("browsers.js"),
    script!("outbox.js"),
    script!("state.js"),
    script!("news.js"),
    script!("item_locks.js"),
    script!("refusals.js"),
    script!("classes.js"),
    script!("bars.js"),
    script!("keys.js"),
    script!("dialogs.js"),
    script!("scrolling.js"),
    script!("model_hint.js"),
    script!("show.js"),
    script!("chart.js"),
    script!("points.js"),
    script!("beliefs.js"),
    script!("panel.js"),
    script!("views/label.js"),
    script!("views/map.js"),
    script!("views/bulk.js"),
    script!("views/review.js"),
    script!("views/progress.js"),
    script!("views/scene.js"),
    script!("views/export.js"),
];

/// The page has no service worker. One that asks for its script was registered by somebody else's page, which was served at
/// this address before, and would answer in the place of this server. It gets a script that removes it.
const END_WORKER: &str = "\
    addEventListener('install', () => skipWaiting());\n\
    addEventListener('activate', (event) => event.waitUntil((async () => {\n\
      const pages = await clients.matchAll();\n\
      await registration.unregister();\n\
      await Promise.all(pages.map((page) => page.navigate(page.url)));\n\
    })()));\n";

/// The answer to a service worker that asks for its script.
pub fn end_worker() -> Response {
    asset(SCRIPT, END_WORKER)
}

/// Whether a path is a file of the page. These hold no data and are for everybody.
pub fn is_asset(path: &str) -> bool {
    ASSETS.iter().any(|(asset, _, _)| *asset == path)
}

/// The routes of the page.
pub fn page<S: Clone + Send + Sync + 'static>() -> Router<S> {
    ASSETS
        .iter()
        .fold(Router::new(), |router, &(path, kind, text)| {
            router.route(path, get(move || async move { asset(kind, text) }))
        })
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    (
        [(header::CONTENT_TYPE, HeaderValue::from_static(kind))],
        text,
    )
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_served_and_together_they_are_light() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        let mut files = Vec::new();
        for folder in [folder.clone(), folder.join("views")] {
            let entries = std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path());
            // Types are for those who write the page, not for those who see it.
            let shipped = |path: &std::path::PathBuf| {
                path.is_file() && !path.to_string_lossy().ends_with(".d.ts")
            };
            files.extend(entries.filter(shipped));
        }
        assert_eq!(files.len(), ASSETS.len());
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(
                ASSETS.iter().any(|(_, _, served)| *served == text),
                "{}",
                file.display()
            );
        }
        let weight: usize = ASSETS.iter().map(|(_, _, text)| text.len()).sum();
        assert!(weight < 300_000, "{weight} bytes");
    }

    #[test]
    fn no_script_makes_markup_or_code_of_a_string() {
        let banned = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "http://",
            "https://",
        ];
        for (path, kind, text) in ASSETS {
            // The names of vector graphics look like addresses, and are none.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for word in banned {
                assert!(!text.contains(word), "{path} ({kind}) holds {word}");
            }
        }
    }
}
