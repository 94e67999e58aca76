//! Maps of values: a picture whose pixels have values, such as how uncertain a scene's classes are, with a colour bar.

use super::axes::Area;
use super::bar::ColourBar;
use crate::chart::{Canvas, Colour, Shape, Stroke};
use crate::colours;
use crate::picture::IndexedPicture;

/// The longer side of a map, and the room around it.
const SIDE: f64 = 360.0;
const MARGIN: f64 = 14.0;

/// The map of the values of a scene with a colour bar, as a drawing of its own: the value of each pixel row by row from the
/// top left, grey where it is not finite.
pub fn value_map(rows: usize, columns: usize, values: &[f64], label: &str) -> Canvas {
    let side = SIDE / rows.max(columns).max(1) as f64;
    // Whole pixels where the scene is small enough, so that all are of one size.
    let side = if side >= 1.0 { side.floor() } else { side };
    let (width, height) = (side * columns.max(1) as f64, side * rows.max(1) as f64);
    let area = Area {
        left: MARGIN,
        top: MARGIN,
        width,
        height,
    };
    let bar = ColourBar::new(values, None, label);
    let mut canvas = Canvas::new(width + bar.width() + 2.0 * MARGIN, height + 2.0 * MARGIN);
    let (low, high) = bar.range;
    let picture = IndexedPicture {
        height: rows,
        width: columns,
        palette: colours::palette(),
        numbers: values
            .iter()
            .map(|value| colours::number(*value, low, high))
            .collect(),
    };
    canvas.shapes.push(Shape::Colours {
        at: (area.left, area.top),
        size: (width, height),
        picture,
    });
    let (l, t, r, b) = (area.left, area.top, area.right(), area.bottom());
    canvas.line(
        vec![(l, t), (r, t), (r, b), (l, b), (l, t)],
        Stroke::solid(Colour::AXIS, 1.0),
    );
    bar.draw(&mut canvas, &area);
    canvas.title = format!("Map of {label}: {rows} by {columns} pixels");
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_whole_and_missing_ones_grey() {
        let canvas = value_map(2, 3, &[0.0, 0.5, 1.0, f64::NAN, 1.0, 0.0], "doubt");
        let Some(Shape::Colours { size, picture, .. }) = canvas.shapes.first() else {
            panic!("{:?}", canvas.shapes)
        };
        // Three columns in 360 units: 120 each.
        assert_eq!(*size, (360.0, 240.0));
        assert_eq!(picture.numbers, [0, 127, 253, 254, 253, 0]);
        assert_eq!(picture.pixels().nth(3), Some(Colour::GRID));
        assert!(canvas.width > 388.0 && canvas.height == 268.0);
    }
}
