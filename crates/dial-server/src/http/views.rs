//! What is drawn of the whole pool: the map, the belief about every item, ids by row, progress and calibration.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dial::NodeId;
use dial::session::view::Overview;
use dial_store::{Bin, Log};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::http::input::{Input, Long};
use crate::http::problem::Problem;
use crate::http::routes::answer;
use crate::http::wire::Point;

type Shared = State<Arc<App>>;

/// The most rows whose ids can be asked for at once.
const MAX_ROWS: usize = 100_000;

/// The class of items that have none.
const NONE: u16 = u16::MAX;

/// Rows of the pool.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// The rows; at most 100,000.
    #[schema(max_items = 100_000)]
    pub rows: Vec<u32>,
}

/// The ids of rows of the pool, in the order of the rows.
#[utoipa::path(post, path = "/ids", request_body = Rows, responses((status = 200, body = Vec<String>)))]
pub async fn ids(
    State(app): Shared,
    permit: Long,
    Input(Rows { rows }): Input<Rows>,
) -> Result<Json<Vec<String>>, Problem> {
    if rows.len() > MAX_ROWS {
        let text = format!(
            "at most {MAX_ROWS} rows at once, not {}. Ask in parts.",
            rows.len()
        );
        return Err(Problem::usage(text));
    }
    permit
        .answer(&app, move |app| {
            let id = |&row: &u32| Ok(app.prepared.engine.items.id(node_of(app, row)?));
            rows.iter()
                .map(id)
                .collect::<Result<Vec<String>, Problem>>()
        })
        .await
}

/// The node of a row, if the pool has it.
pub fn node_of(app: &App, row: u32) -> Result<NodeId, Problem> {
    let n = app.prepared.engine.items.len();
    match (row as usize) < n {
        true => Ok(NodeId(row)),
        false => Err(Problem::new(
            StatusCode::NOT_FOUND,
            "I12",
            format!("row {row} is not one of 0 to {}.", n.saturating_sub(1)),
        )),
    }
}

/// Where every item lies on the map.
///
/// Two little-endian f32 by row, in [-1, 1]. The header x-dial-layout says what they are made from: components, at once;
/// moving, on the way; neighbours, at the end. Whenever there is another one, `map` is sent with the changes.
#[utoipa::path(get, path = "/map", responses((status = 200, content_type = "application/octet-stream", body = [u8])))]
pub async fn map(State(app): Shared) -> Result<Response, Problem> {
    let Some(map) = app.map_worker.map() else {
        let text = "there is no map yet. Ask again in a moment.";
        return Err(Problem::new(StatusCode::NOT_FOUND, "I12", text));
    };
    Ok(octets(
        map.bytes,
        Some(("x-dial-layout", map.layout.word().into())),
    ))
}

/// What is believed about every item, in six bytes each.
///
/// Arrays one after the other, by row: the class (u16, little-endian; 65535 for none), its probability (u8, 255 is 1), the
/// evidence e as e/(1 + e) (u8, 255 is 1), the variance (u8, 255 is the largest of the pool), and marks (u8: 1 labelled, 2
/// skipped, 4 excluded). Marks are those of the log of the moment, the rest is of the model's version, which is in the
/// header x-dial-version. Before the model is ready classes are those of labels, and the rest is 0.
#[utoipa::path(get, path = "/beliefs", responses((status = 200, content_type = "application/octet-stream", body = [u8])))]
pub async fn beliefs(State(app): Shared, permit: Long) -> Result<Response, Problem> {
    permit
        .aside(&app, |app| {
            let (snapshot, n) = (app.model.snapshot(), app.prepared.engine.items.len());
            let told = told(app, app.writer.project().log());
            let mut marks = vec![0u8; n];
            told.iter()
                .for_each(|(node, mark, _)| marks[node.index()] = *mark);
            let mut bytes = Vec::with_capacity(6 * n);
            match snapshot.overview() {
                Some(Overview {
                    classes,
                    probability,
                    strength,
                    variance,
                }) => {
                    bytes.extend(classes.iter().flat_map(|class| class.0.to_le_bytes()));
                    [probability, strength, variance]
                        .iter()
                        .for_each(|array| bytes.extend_from_slice(array));
                }
                None => {
                    let mut classes = vec![NONE; n];
                    told.iter()
                        .for_each(|(node, _, class)| classes[node.index()] = *class);
                    bytes.extend(classes.iter().flat_map(|class| class.to_le_bytes()));
                    bytes.resize(5 * n, 0);
                }
            }
            bytes.extend_from_slice(&marks);
            Ok(octets(
                bytes,
                Some(("x-dial-version", snapshot.version.to_string())),
            ))
        })
        .await
}

/// The items that something was said about: marks, and the class of the first label.
fn told(app: &App, log: &Log) -> Vec<(NodeId, u8, u16)> {
    let (labels, items) = (log.labels(), &app.prepared.engine.items);
    let one = |item: &str| {
        let (skipped, excluded) = labels.marks_of(item);
        let first = log.labels_of(item).next().filter(|_| !excluded);
        let first = first.and_then(|(_, classes)| dial_store::heaviest(&classes));
        let mark = u8::from(first.is_some()) | u8::from(skipped) << 1 | u8::from(excluded) << 2;
        Some((
            items.node(item).ok()?,
            mark,
            first.map_or(NONE, |class| class.0),
        ))
    };
    labels.closed().filter_map(one).collect()
}

/// Bytes, with a header of their own.
pub fn octets(bytes: impl Into<Bytes>, extra: Option<(&'static str, String)>) -> Response {
    let mut response = bytes.into().into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/octet-stream"),
    );
    if let Some((name, Ok(value))) =
        extra.map(|(name, value)| (name, HeaderValue::from_str(&value)))
    {
        headers.insert(HeaderName::from_static(name), value);
    }
    response
}

/// How the project came to where it is.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct History {
    /// The version of the log.
    pub version: u64,
    /// A point for every number of labels, while there are not too many.
    pub points: Vec<Point>,
}

/// Labels, classes met, share settled and accuracy as they came.
#[utoipa::path(get, path = "/progress", responses((status = 200, body = History)))]
pub async fn progress(State(app): Shared) -> Result<Json<History>, Problem> {
    answer(&app, |app| {
        let version = app.writer.project().log().version();
        Ok(History {
            version,
            points: app.model.progress().points(),
        })
    })
    .await
}

/// How the probabilities keep their promise.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Calibration {
    /// How many labels were left out, each in turn.
    pub labels: usize,
    /// They in bins of equal counts, the least probable first.
    pub bins: Vec<Bin>,
}

/// Labels left out in turn: how probable the predicted class was, and how often it was right.
#[utoipa::path(get, path = "/calibration", responses((status = 200, body = Calibration)))]
pub async fn calibration(State(app): Shared, permit: Long) -> Result<Json<Calibration>, Problem> {
    permit
        .answer(&app, |app| {
            let odds = app
                .model
                .snapshot()
                .view
                .as_ref()
                .map_or(Vec::new(), |view| view.leave_one_out());
            Ok(Calibration {
                labels: odds.len(),
                bins: dial_store::calibration(&odds),
            })
        })
        .await
}
