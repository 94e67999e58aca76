//! How the lines of a chart are told apart: colour, dash and mark, all three at once.

use crate::chart::{Canvas, Colour, Marker, MarkerKind, Point, Shape, Stroke};

/// Okabe and Ito's palette less its yellow, which vanishes on white.
const PALETTE: [Colour; 7] = [
    Colour(0, 114, 178),
    Colour(213, 94, 0),
    Colour(0, 158, 115),
    Colour(204, 121, 167),
    Colour(230, 159, 0),
    Colour(31, 35, 40),
    Colour(86, 180, 233),
];

const DASHES: [&[f64]; 6] =
    [&[], &[9.0, 3.5], &[2.5, 2.5], &[9.0, 3.0, 2.5, 3.0], &[5.0, 2.5], &[12.0, 3.0, 2.5, 3.0, 2.5, 3.0]];

const MARKERS: [MarkerKind; 5] =
    [MarkerKind::Circle, MarkerKind::Square, MarkerKind::Up, MarkerKind::Diamond, MarkerKind::Down];

/// The look of one line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Style {
    pub number: usize,
    pub colour: Colour,
    dash: Vec<f64>,
    marker: MarkerKind,
    hollow: bool,
}

impl Style {
    /// The look of the line with a number; the first 70 marks and colours differ.
    pub fn number(number: usize) -> Self {
        Self {
            number,
            colour: PALETTE[number % PALETTE.len()],
            dash: DASHES[number % DASHES.len()].to_vec(),
            marker: MARKERS[number % MARKERS.len()],
            hollow: (number / MARKERS.len()) % 2 == 1,
        }
    }

    pub fn stroke(&self) -> Stroke {
        Stroke { colour: self.colour, width: 2.0, dash: self.dash.clone() }
    }

    pub fn mark(&self, at: Point) -> Shape {
        Shape::Marker(Marker { kind: self.marker, at, radius: 3.6, colour: self.colour, hollow: self.hollow })
    }

    /// A short piece of the line with its mark, as legends show it.
    pub fn sample(&self, canvas: &mut Canvas, left: f64, y: f64, length: f64) {
        canvas.line(vec![(left, y), (left + length, y)], self.stroke());
        canvas.shapes.push(self.mark((left + length / 2.0, y)));
    }
}
