//! Contact sheets: many item pictures in a grid, each with a caption.

use crate::chart::{Anchor, Canvas, Colour, Point, Shape, Text, font};
use crate::picture::GreyPicture;
use crate::words::Listed;

/// Side of the square a picture is fitted into.
const PICTURE_SIDE: f64 = 96.0;
const GAP: f64 = 14.0;
const PAD: f64 = 16.0;
const CAPTION_SIZE: f64 = 12.0;
const LEADING: f64 = 15.0;

/// Pictures in rows of `columns`, each enlarged without smoothing, with its caption (at most two lines) below it.
///
/// Pictures without a caption have none; captions without a picture are ignored.
pub fn contact_sheet(pictures: &[GreyPicture], captions: &[String], columns: usize) -> Canvas {
    let columns = columns.clamp(1, pictures.len().max(1));
    let wrapped: Vec<_> = captions
        .iter()
        .take(pictures.len())
        .map(|c| font::wrap(c, CAPTION_SIZE, PICTURE_SIDE, 2))
        .collect();
    let lines = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    let row = PICTURE_SIDE
        + if lines > 0 {
            6.0 + LEADING * lines as f64
        } else {
            0.0
        }
        + GAP;
    let rows = pictures.len().div_ceil(columns);
    let width = 2.0 * PAD + columns as f64 * (PICTURE_SIDE + GAP) - GAP;
    let mut canvas = Canvas::new(width, 2.0 * PAD + (rows as f64 * row - GAP).max(0.0));
    canvas.title = format!("{} items", pictures.len());
    canvas.description = captions.iter().take(pictures.len()).cloned().joined("; ");
    for (i, picture) in pictures.iter().enumerate() {
        let left = PAD + (i % columns) as f64 * (PICTURE_SIDE + GAP);
        let top = PAD + (i / columns) as f64 * row;
        push_picture(&mut canvas, picture, (left, top));
        let at = (
            left + PICTURE_SIDE / 2.0,
            top + PICTURE_SIDE + 6.0 + CAPTION_SIZE * 0.85,
        );
        let caption = Text {
            anchor: Anchor::Middle,
            ..Text::new("", at, CAPTION_SIZE)
        };
        canvas.paragraph(&caption, wrapped.get(i).map_or(&[], Vec::as_slice), LEADING);
    }
    canvas
}

/// Fits a picture into its cell: whole multiples of its size where it is small enough.
fn push_picture(canvas: &mut Canvas, picture: &GreyPicture, cell: Point) {
    if picture.width == 0 || picture.height == 0 {
        canvas.shapes.push(Shape::Rectangle {
            at: cell,
            size: (PICTURE_SIDE, PICTURE_SIDE),
            fill: Colour::GRID,
        });
        return;
    }
    let longest = picture.width.max(picture.height) as f64;
    let factor = if longest <= PICTURE_SIDE {
        (PICTURE_SIDE / longest).floor()
    } else {
        PICTURE_SIDE / longest
    };
    let size = (
        picture.width as f64 * factor,
        picture.height as f64 * factor,
    );
    let at = (
        cell.0 + ((PICTURE_SIDE - size.0) / 2.0).round(),
        cell.1 + ((PICTURE_SIDE - size.1) / 2.0).round(),
    );
    canvas.shapes.push(Shape::Picture {
        at,
        size,
        picture: picture.clone(),
    });
}
