//! The style of the lines of a chart: a different colour, dash and mark for each, or an explicit style.

use crate::chart::{Canvas, Colour, Marker, MarkerKind, Point, Shape, Stroke};
use crate::colours::CLASSES;

const DASHES: [&[f64]; 6] = [
    &[],
    &[9.0, 3.5],
    &[2.5, 2.5],
    &[9.0, 3.0, 2.5, 3.0],
    &[5.0, 2.5],
    &[12.0, 3.0, 2.5, 3.0, 2.5, 3.0],
];

const MARKERS: [MarkerKind; 5] = [
    MarkerKind::Circle,
    MarkerKind::Square,
    MarkerKind::Up,
    MarkerKind::Diamond,
    MarkerKind::Down,
];

/// An explicit style for a line, instead of the one for its place in the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct LineStyle {
    /// Colour of line, mark and filling.
    pub colour: Colour,
    /// Width of the line; 0 for none.
    pub width: f64,
    /// Lengths of dashes and gaps in turn; empty for a solid line.
    pub dash: Vec<f64>,
    /// The marks on the line, if any.
    pub mark: Option<MarkerKind>,
    /// How much of its colour covers the area from the line down to the axis, 0 to 1; 0 for no filling.
    pub filling: f64,
}

/// Looks of lines in a colour.
impl Colour {
    /// A solid line without marks.
    pub fn line(self) -> LineStyle {
        LineStyle {
            colour: self,
            width: 2.0,
            dash: Vec::new(),
            mark: None,
            filling: 0.0,
        }
    }

    /// A dashed line without marks.
    pub fn dashed(self) -> LineStyle {
        self.line().dash(&[7.0, 4.0])
    }

    /// A dotted line without marks.
    pub fn dotted(self) -> LineStyle {
        self.line().dash(&[2.5, 3.0])
    }

    /// A thin line over a filled area: a density.
    pub fn area(self) -> LineStyle {
        LineStyle {
            filling: 0.3,
            ..self.line().wide(1.0)
        }
    }

    /// A line with marks.
    pub fn marked(self, mark: MarkerKind) -> LineStyle {
        LineStyle {
            mark: Some(mark),
            ..self.line()
        }
    }
}

impl LineStyle {
    /// The same in another width.
    pub fn wide(self, width: f64) -> LineStyle {
        LineStyle { width, ..self }
    }

    /// The same with dashes and gaps of these lengths in turn.
    pub fn dash(self, lengths: &[f64]) -> LineStyle {
        let dash = lengths.to_vec();
        LineStyle { dash, ..self }
    }
}

/// The look of one line, worked out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Style {
    pub number: usize,
    pub look: LineStyle,
    hollow: bool,
}

impl Style {
    /// The look of the line with a number; the first 70 marks and colours differ.
    pub fn number(number: usize) -> Self {
        let look = LineStyle {
            colour: CLASSES[number % CLASSES.len()],
            width: 2.0,
            dash: DASHES[number % DASHES.len()].to_vec(),
            mark: Some(MARKERS[number % MARKERS.len()]),
            filling: 0.0,
        };
        Self {
            number,
            look,
            hollow: (number / MARKERS.len()) % 2 == 1,
        }
    }

    /// A look given explicitly.
    pub fn given(number: usize, look: &LineStyle) -> Self {
        Self {
            number,
            look: look.clone(),
            hollow: false,
        }
    }

    pub fn stroke(&self) -> Stroke {
        Stroke {
            colour: self.look.colour,
            width: self.look.width,
            dash: self.look.dash.clone(),
        }
    }

    pub fn mark(&self, at: Point) -> Option<Shape> {
        let Self { look, hollow, .. } = self;
        let kind = look.mark?;
        Some(Shape::Marker(Marker {
            kind,
            at,
            radius: 3.6,
            colour: look.colour,
            hollow: *hollow,
        }))
    }

    /// A short piece of the line with its mark and filling, as legends show it.
    pub fn sample(&self, canvas: &mut Canvas, left: f64, y: f64, length: f64) {
        let right = left + length;
        if self.look.filling > 0.0 {
            let points = vec![
                (left, y - 5.0),
                (right, y - 5.0),
                (right, y + 5.0),
                (left, y + 5.0),
            ];
            canvas.shapes.push(Shape::Polygon {
                points,
                fill: self.look.colour,
                opacity: self.look.filling,
            });
        }
        if self.look.width > 0.0 {
            let height = if self.look.filling > 0.0 { y - 5.0 } else { y };
            canvas.line(vec![(left, height), (right, height)], self.stroke());
        }
        canvas.shapes.extend(self.mark((left + length / 2.0, y)));
    }
}
