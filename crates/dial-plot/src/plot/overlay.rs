//! What is drawn over the data of any panel, in its own units: lines, marks, rugs, words.

use super::axes::{Area, Axes};
use super::range;
use crate::chart::{Anchor, Canvas, Colour, Marker, MarkerKind, Point, Shape, Stroke, Text};

/// Something over a panel; the legend shows it if it has a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlay {
    /// What it is; empty to leave it out of the legend.
    pub name: String,
    /// What is drawn.
    pub kind: OverlayKind,
}

/// What an overlay draws; positions are in the units of the axes.
#[derive(Clone, Debug, PartialEq)]
pub enum OverlayKind {
    /// A line from the bottom to the top.
    Vertical {
        /// Where.
        x: f64,
        /// How it is drawn.
        stroke: Stroke,
    },
    /// A line through points, cut at the edges.
    Path {
        /// The points, in order.
        points: Vec<Point>,
        /// How it is drawn.
        stroke: Stroke,
    },
    /// Marks at points.
    Marks {
        /// The points.
        points: Vec<Point>,
        /// The shape of the marks.
        kind: MarkerKind,
        /// Their colour.
        colour: Colour,
        /// Their radius in pixels.
        radius: f64,
    },
    /// Short strokes at the foot of the panel: where single observations lie.
    Rug {
        /// The observations.
        x: Vec<f64>,
        /// Their colour.
        colour: Colour,
    },
    /// Words, their middle at a point.
    Words {
        /// What is said.
        text: String,
        /// Where.
        at: Point,
        /// Colour of the letters.
        colour: Colour,
    },
}

impl Overlay {
    /// An overlay the legend names.
    pub fn named(name: impl Into<String>, kind: OverlayKind) -> Self {
        Self {
            name: name.into(),
            kind,
        }
    }

    /// Marks of a usual size.
    pub fn marks(
        name: impl Into<String>,
        points: Vec<Point>,
        kind: MarkerKind,
        colour: Colour,
    ) -> Self {
        Self::named(
            name,
            OverlayKind::Marks {
                points,
                kind,
                colour,
                radius: 4.6,
            },
        )
    }

    /// A dotted line from the bottom to the top.
    pub fn vertical(name: impl Into<String>, x: f64, colour: Colour) -> Self {
        let stroke = Stroke {
            dash: vec![2.0, 3.5],
            ..Stroke::solid(colour, 2.2)
        };
        Self::named(name, OverlayKind::Vertical { x, stroke })
    }

    /// Strokes at the foot of the panel.
    pub fn rug(name: impl Into<String>, x: Vec<f64>, colour: Colour) -> Self {
        Self::named(name, OverlayKind::Rug { x, colour })
    }

    /// Words inside the panel.
    pub fn words(text: impl Into<String>, at: Point, colour: Colour) -> Self {
        Self::named(
            "",
            OverlayKind::Words {
                text: text.into(),
                at,
                colour,
            },
        )
    }
}

/// A filled mark.
fn mark(kind: MarkerKind, at: Point, radius: f64, colour: Colour) -> Shape {
    Shape::Marker(Marker {
        kind,
        at,
        radius,
        colour,
        hollow: false,
    })
}

impl OverlayKind {
    pub(super) fn draw(&self, canvas: &mut Canvas, axes: &Axes<'_>, area: &Area) {
        let inside = |p: &Point| axes.place(area, p.0, p.1);
        match self {
            Self::Vertical { x, stroke } => {
                let x = axes.across(area, *x);
                if area.holds((x, area.top)) {
                    canvas.line(vec![(x, area.bottom()), (x, area.top)], stroke.clone());
                }
            }
            Self::Path { points, stroke } => {
                let points: Vec<Point> = points.iter().map(inside).collect();
                for run in points.split(|p| !(p.0.is_finite() && p.1.is_finite())) {
                    range::clip_line(run, area)
                        .into_iter()
                        .for_each(|piece| canvas.line(piece, stroke.clone()));
                }
            }
            Self::Marks {
                points,
                kind,
                colour,
                radius,
            } => {
                for at in points.iter().map(inside).filter(|p| area.holds(*p)) {
                    canvas.shapes.push(mark(*kind, at, *radius, *colour));
                }
            }
            Self::Rug { x, colour } => {
                let foot = area.bottom();
                for x in x
                    .iter()
                    .map(|x| axes.across(area, *x))
                    .filter(|x| area.holds((*x, foot)))
                {
                    canvas.line(
                        vec![(x, foot), (x, foot - 9.0)],
                        Stroke::solid(*colour, 1.1),
                    );
                }
            }
            Self::Words { text, at, colour } => {
                let at = inside(at);
                if area.holds(at) {
                    let text = Text::new(text.clone(), (at.0, at.1 + 4.5), 13.0);
                    canvas.text(Text {
                        anchor: Anchor::Middle,
                        colour: *colour,
                        ..text
                    });
                }
            }
        }
    }

    /// A small picture of the overlay beside its name in a legend.
    pub(super) fn sample(&self, canvas: &mut Canvas, left: f64, y: f64, length: f64) {
        match self {
            Self::Vertical { stroke, .. } | Self::Path { stroke, .. } => {
                canvas.line(vec![(left, y), (left + length, y)], stroke.clone());
            }
            Self::Marks {
                kind,
                colour,
                radius,
                ..
            } => {
                let at = (left + length / 2.0, y);
                canvas
                    .shapes
                    .push(mark(*kind, at, radius.min(5.0), *colour));
            }
            Self::Rug { colour, .. } => {
                for share in [0.2, 0.45, 0.55, 0.85] {
                    let x = left + share * length;
                    canvas.line(
                        vec![(x, y + 4.5), (x, y - 4.5)],
                        Stroke::solid(*colour, 1.1),
                    );
                }
            }
            Self::Words { .. } => {}
        }
    }
}
