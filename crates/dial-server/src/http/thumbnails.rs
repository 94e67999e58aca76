//! Pictures of items. What a browser gets is always a PNG of our own making.
//!
//! A file of the pool is decoded within limits and written anew, so nothing else in it (markup, scripts, a second format)
//! reaches the browser, whatever it is called. Files are found by the id of an item, never by a path of a request, and must
//! lie in the folder of the pool when links are followed.
//!
//! A small file may hold a picture that takes 600 MB to decode. Two pictures are decoded at once, only one of them a large
//! one, and what was made of them is kept in memory, up to a limit.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::SystemTime;

use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use dial::NodeId;
use dial_data::media::images::{self, Bitmap};
use dial_data::{Picture, Pool, Show};
use parking_lot::Mutex;

use crate::http::problem::Problem;
use crate::request_limiter::RequestLimiter;

/// The longest side of a picture that is sent, and the one where nobody says how large.
pub const MAX_PICTURE_SIDE: u32 = 4096;
pub const DEFAULT_PICTURE_SIDE: u32 = 2048;

/// Small grey pictures are enlarged to about this side, so that their pixels can be seen.
const SMALLEST: usize = 192;

/// Pictures that are decoded at once.
const PICTURES_DECODED_AT_ONCE: usize = 2;

/// Bytes of pictures that are kept.
const THUMBNAIL_CACHE_BYTES: usize = 64 << 20;

/// The pictures of a pool.
pub struct Thumbnails {
    /// The line of those that are to be decoded.
    pub limiter: RequestLimiter,
    /// Held while a large one is decoded.
    large: Mutex<()>,
    kept: Mutex<Kept>,
}

/// A picture file as it is now, and the longest side of the picture that is wanted of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PictureFile {
    file: PathBuf,
    length: u64,
    changed: Option<SystemTime>,
    side: u32,
}

/// The picture of an item, or the file it is to be made from.
pub enum Found {
    /// It is there.
    Ready(Bytes),
    /// It is to be decoded.
    ToDecode(PictureFile),
}

/// Pictures that were made before; beyond [`THUMBNAIL_CACHE_BYTES`] bytes those that were wanted longest ago are dropped.
#[derive(Default)]
struct Kept {
    pictures: HashMap<PictureFile, (Bytes, u64)>,
    bytes: usize,
    /// Counts what is wanted.
    time: u64,
}

impl Kept {
    fn get(&mut self, wanted: &PictureFile) -> Option<Bytes> {
        self.time += 1;
        let (png, time) = self.pictures.get_mut(wanted)?;
        *time = self.time;
        Some(png.clone())
    }

    fn keep(&mut self, wanted: PictureFile, png: &Bytes, limit: usize) {
        self.time += 1;
        self.bytes += png.len();
        if let Some((before, _)) = self.pictures.insert(wanted, (png.clone(), self.time)) {
            self.bytes -= before.len();
        }
        while self.bytes > limit {
            let oldest = self.pictures.iter().min_by_key(|(_, (_, time))| *time);
            let Some(oldest) = oldest.map(|(wanted, _)| wanted.clone()) else {
                return;
            };
            if let Some((png, _)) = self.pictures.remove(&oldest) {
                self.bytes -= png.len();
            }
        }
    }
}

impl Default for Thumbnails {
    fn default() -> Thumbnails {
        Thumbnails {
            limiter: RequestLimiter::new(PICTURES_DECODED_AT_ONCE, PICTURES_DECODED_AT_ONCE),
            large: Mutex::new(()),
            kept: Mutex::default(),
        }
    }
}

impl Thumbnails {
    /// The picture of an item as a PNG, if nothing must be decoded for it.
    pub fn find(&self, pool: &Pool, node: NodeId, side: u32) -> Result<Found, Problem> {
        match &pool.show {
            Show::Picture(picture) => Ok(Found::Ready(grey(pool, *picture, node).to_png().into())),
            Show::Images(images) => {
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
                let about = file.metadata().map_err(|_| missing("its file is gone"))?;
                let wanted = PictureFile {
                    length: about.len(),
                    changed: about.modified().ok(),
                    file,
                    side,
                };
                let ready = self.kept.lock().get(&wanted);
                Ok(ready.map_or(Found::ToDecode(wanted), Found::Ready))
            }
            _ => Err(Problem::not_found("this item has no picture")),
        }
    }

    /// Decodes a picture, unless somebody has done so meanwhile.
    pub fn decode(&self, wanted: PictureFile) -> Result<Bytes, Problem> {
        if let Some(png) = self.kept.lock().get(&wanted) {
            return Ok(png);
        }
        let bitmap = images::load_in_turn(&wanted.file, Some(wanted.side), || self.large.lock());
        let bitmap = bitmap.map_err(|error| missing(&images::reason(&error)))?;
        let png = Bytes::from(bitmap.to_png());
        self.kept.lock().keep(wanted, &png, THUMBNAIL_CACHE_BYTES);
        Ok(png)
    }
}

fn missing(why: &str) -> Problem {
    Problem::not_found(&format!("this picture cannot be shown ({why})"))
}

/// An answer that is a picture and nothing else.
pub fn answer(png: impl Into<Bytes>) -> Response {
    let mut response = png.into().into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "image/png"),
        (header::CONTENT_DISPOSITION, "inline; filename=\"item.png\""),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; sandbox",
        ),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_wanted_longest_ago_is_dropped() {
        let wanted = |side| PictureFile {
            file: "a.png".into(),
            length: 1,
            changed: None,
            side,
        };
        let mut kept = Kept::default();
        for side in 0..4 {
            kept.keep(wanted(side), &Bytes::from(vec![0; 30]), 100);
            assert!(kept.bytes <= 100 && kept.get(&wanted(0)).is_some());
        }
        // 0 was wanted in between, 1 was not.
        let there = |kept: &mut Kept, side| kept.get(&wanted(side)).is_some();
        assert!(!there(&mut kept, 1) && there(&mut kept, 2) && there(&mut kept, 3));
        kept.keep(wanted(9), &Bytes::from(vec![0; 1000]), 100);
        assert_eq!(
            (kept.bytes, kept.pictures.len()),
            (0, 0),
            "larger than all there is"
        );
    }
}
