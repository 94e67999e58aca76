//! Maps of values: a picture whose pixels have values, such as how uncertain a scene's classes are, with a colour bar.

use super::axes::Area;
use super::bar::ColourBar;
use super::class_map::scene_size;
use crate::chart::Canvas;

/// The room around a map.
const MARGIN: f64 = 14.0;

/// The map of the values of a scene with a colour bar, as a complete drawing: the value of each pixel row by row from the
/// top left, grey where it is not finite.
pub fn value_map(rows: usize, columns: usize, values: &[f64], label: &str) -> Canvas {
    let (width, height) = scene_size(rows, columns);
    let area = Area {
        left: MARGIN,
        top: MARGIN,
        width,
        height,
    };
    let bar = ColourBar::new(values, None, label);
    let mut canvas = Canvas::new(width + bar.width() + 2.0 * MARGIN, height + 2.0 * MARGIN);
    let picture = bar.picture(rows, columns, values);
    canvas.shapes.push(area.filled(picture));
    canvas.shapes.push(area.frame());
    bar.draw(&mut canvas, &area);
    canvas.title = format!("Map of {label}: {rows} by {columns} pixels");
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Colour, Shape};

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
