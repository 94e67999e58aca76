//! Pictures of items. What a browser gets is always a PNG of our own making.
//!
//! A file of the pool is decoded within limits and written anew, so nothing else in it (markup, scripts, a second format)
//! reaches the browser, whatever it is called. Files are found by the id of an item, never by a path of a request, and must
//! lie in the folder of the pool when links are followed.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use dial::NodeId;
use dial_data::media::images::{self, Bitmap};
use dial_data::{Picture, Pool, Show};

use crate::http::problem::Problem;

/// The longest side of a picture that is sent.
pub const LARGEST: u32 = 2048;

/// Small grey pictures are enlarged to about this side, so that their pixels can be seen.
const SMALLEST: usize = 192;

/// The picture of an item as a PNG.
pub fn picture(pool: &Pool, node: NodeId, side: u32) -> Result<Vec<u8>, Problem> {
    match &pool.show {
        Show::Picture(picture) => Ok(grey(pool, *picture, node).to_png()),
        Show::Images(images) => {
            let missing =
                |why: &str| Problem::not_found(&format!("this picture cannot be shown ({why})"));
            let root = images
                .folder
                .canonicalize()
                .map_err(|_| missing("its folder is gone"))?;
            let file = root
                .join(&images.files[node.index()])
                .canonicalize()
                .map_err(|_| missing("its file is gone"))?;
            if !file.starts_with(&root) {
                return Err(missing("it lies outside of the pool"));
            }
            let bitmap =
                images::load(file, Some(side)).map_err(|error| missing(&images::reason(&error)))?;
            Ok(bitmap.to_png())
        }
        _ => Err(Problem::not_found("this item has no picture")),
    }
}

/// An answer that is a picture and nothing else.
pub fn answer(png: Vec<u8>) -> Response {
    let mut response = png.into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "image/png"),
        (header::CONTENT_DISPOSITION, "inline; filename=\"item.png\""),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; sandbox",
        ),
        (header::CACHE_CONTROL, "private, max-age=3600"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn grey(pool: &Pool, picture: Picture, node: NodeId) -> Bitmap {
    let Picture {
        height,
        width,
        lowest,
        highest,
    } = picture;
    let zoom = (SMALLEST / height.max(width).max(1)).max(1);
    let span = if highest > lowest {
        highest - lowest
    } else {
        1.0
    };
    let mut rgb = Vec::with_capacity(3 * height * width * zoom * zoom);
    for row in 0..height * zoom {
        for column in 0..width * zoom {
            let value = pool
                .shown()
                .get(node.index(), row / zoom * width + column / zoom);
            let light = (255.0 * ((value - lowest) / span).clamp(0.0, 1.0)).round() as u8;
            rgb.extend([light; 3]);
        }
    }
    Bitmap {
        width: (width * zoom) as u32,
        height: (height * zoom) as u32,
        rgb,
    }
}
