//! The scene that the items of a pool are pixels of: its size, which pixel is which item, and pictures of its bands.
//!
//! A channel of a picture is a band as it was read, or a principal component of the features; its 2nd percentile is black
//! and its 98th is full. Pixels that are no items are dark.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use dial::Control;
use dial_data::media::images::Bitmap;
use dial_data::{Matrix, Scene, Show, leading_components};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::http::input::{Asked, Long};
use crate::http::problem::Problem;
use crate::http::thumbnails;
use crate::http::views::octets;

type Shared = State<Arc<App>>;

/// The colour of pixels that are no items.
const DARK: [u8; 3] = [20, 20, 24];

/// A scene.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SceneInfo {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// Bands of a spectrum.
    pub bands: usize,
    /// The wavelength of each band, or none.
    pub wavelengths: Vec<f64>,
    /// What wavelengths are measured in; empty if nobody said.
    pub unit: String,
}

fn scene(app: &App) -> Result<&Scene, Problem> {
    match &app.prepared.pool.show {
        Show::Scene(scene) => Ok(scene),
        _ => Err(Problem::new(
            StatusCode::NOT_FOUND,
            "I12",
            "the items of this pool are not pixels of a scene.",
        )),
    }
}

/// The scene that the items are pixels of.
#[utoipa::path(get, path = "/scene", responses((status = 200, body = SceneInfo)))]
pub async fn info(State(app): Shared) -> Result<Json<SceneInfo>, Problem> {
    let Scene {
        height,
        width,
        wavelengths,
        unit,
        ..
    } = scene(&app)?.clone();
    Ok(Json(SceneInfo {
        height,
        width,
        bands: app.prepared.pool.shown().dim,
        wavelengths,
        unit,
    }))
}

/// The pixel of every item: its number (row times width plus column) by row of the pool, as little-endian u32.
#[utoipa::path(get, path = "/scene/pixels", responses((status = 200, content_type = "application/octet-stream", body = [u8])))]
pub async fn pixels(State(app): Shared) -> Result<Response, Problem> {
    Ok(octets(
        scene(&app)?
            .pixels
            .iter()
            .flat_map(|&pixel| (pixel as u32).to_le_bytes())
            .collect::<Vec<u8>>(),
        None,
    ))
}

/// Bands to show as colours, counted from 0: all three, or none for the first three principal components.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Bands {
    /// The band shown red.
    pub red: Option<u32>,
    /// The band shown green.
    pub green: Option<u32>,
    /// The band shown blue.
    pub blue: Option<u32>,
}

/// A picture of the scene in three bands, as a PNG.
#[utoipa::path(get, path = "/scene/image", params(Bands), responses((status = 200, content_type = "image/png", body = [u8])))]
pub async fn image(
    State(app): Shared,
    Asked(bands): Asked<Bands>,
    permit: Long,
) -> Result<Response, Problem> {
    permit
        .aside(&app, move |app| {
            let (scene, shown) = (scene(app)?, app.prepared.pool.shown());
            let channels = match [bands.red, bands.green, bands.blue] {
                [Some(red), Some(green), Some(blue)] => {
                    let wrong = [red, green, blue]
                        .into_iter()
                        .find(|&band| band as usize >= shown.dim);
                    if let Some(band) = wrong {
                        let text = format!(
                            "band {band} is not one of 0 to {}. Use one of these.",
                            shown.dim - 1
                        );
                        return Err(Problem::usage(text));
                    }
                    [red, green, blue].map(|band| channel(shown, band as usize))
                }
                [None, None, None] => {
                    let found = components(app)?;
                    [0, 1, 2].map(|component| channel(found, component.min(found.dim - 1)))
                }
                _ => {
                    let text = "give red, green and blue together, or none of them.";
                    return Err(Problem::usage(text));
                }
            };
            let mut rgb: Vec<u8> = DARK
                .iter()
                .copied()
                .cycle()
                .take(3 * scene.height * scene.width)
                .collect();
            for (item, &pixel) in scene.pixels.iter().enumerate() {
                let colour = &mut rgb[3 * pixel..3 * pixel + 3];
                colour
                    .iter_mut()
                    .zip(&channels)
                    .for_each(|(light, channel)| *light = channel[item]);
            }
            let png = Bitmap {
                width: scene.width as u32,
                height: scene.height as u32,
                rgb,
            }
            .to_png();
            Ok(thumbnails::answer(png))
        })
        .await
}

/// The first principal components of the features, made when first wanted.
fn components(app: &App) -> Result<&Matrix, Problem> {
    if let Some(found) = app.colours.get() {
        return Ok(found);
    }
    let found = leading_components(&app.prepared.pool.matrix, 3, &Control::new())
        .map_err(dial_store::Error::from)?;
    Ok(app.colours.get_or_init(|| found))
}

/// A column as light: its 2nd percentile is 0, its 98th 255.
fn channel(matrix: &Matrix, column: usize) -> Vec<u8> {
    let values: Vec<f64> = (0..matrix.n).map(|row| matrix.get(row, column)).collect();
    let mut sorted = values.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |percent: usize| {
        sorted
            .get((sorted.len().saturating_sub(1) * percent + 50) / 100)
            .copied()
            .unwrap_or(0.0)
    };
    let (low, high) = (at(2), at(98));
    let span = if high > low { high - low } else { 1.0 };
    values
        .iter()
        .map(|value| (255.0 * ((value - low) / span).clamp(0.0, 1.0)).round() as u8)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dial_data::Buffer;

    #[test]
    fn percentiles_by_hand() {
        // 0 to 100: the 2nd percentile is 2, the 98th is 98; 50 is half way.
        let matrix = Matrix {
            values: Buffer::F32((0..=100).map(|value| value as f32).collect()),
            n: 101,
            dim: 1,
        };
        let light = channel(&matrix, 0);
        assert_eq!(
            [light[0], light[2], light[50], light[98], light[100]],
            [0, 0, 128, 255, 255]
        );
        let same = Matrix {
            values: Buffer::F32(vec![7.0; 3]),
            n: 3,
            dim: 1,
        };
        assert_eq!(channel(&same, 0), [0, 0, 0]);
    }
}
