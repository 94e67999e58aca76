//! The axes of a panel: where values lie, linear or logarithmic, and how ticks and labels are drawn.

use super::Scale;
use crate::chart::{Anchor, Canvas, Colour, Point, Shape, Stroke, Text, font};
use crate::picture::IndexedPicture;
use crate::ticks::{Ticks, log_ticks, ticks};

pub(super) const TICK_SIZE: f64 = 12.0;
pub(super) const LABEL_SIZE: f64 = 13.0;
/// The largest number of pieces of an axis.
pub(super) const MAX_AXIS_PIECES: usize = 6;

/// The rectangle in which a panel is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The line around it.
    pub fn frame(&self) -> Shape {
        let (l, t, r, b) = (self.left, self.top, self.right(), self.bottom());
        Shape::Polyline {
            points: vec![(l, t), (r, t), (r, b), (l, b), (l, t)],
            stroke: Stroke::solid(Colour::AXIS, 1.0),
        }
    }

    /// A picture that fills it.
    pub fn filled(&self, picture: IndexedPicture) -> Shape {
        Shape::Colours {
            at: (self.left, self.top),
            size: (self.width, self.height),
            picture,
        }
    }

    pub fn holds(&self, p: Point) -> bool {
        let eps = 1e-6;
        p.0 >= self.left - eps
            && p.0 <= self.right() + eps
            && p.1 >= self.top - eps
            && p.1 <= self.bottom() + eps
    }
}

/// One axis: its ends, how values are spread between them, its ticks.
pub(super) struct Axis {
    ends: (f64, f64),
    scale: Scale,
    pub ticks: Ticks,
    /// Places of small ticks between those that are labelled.
    minor: Vec<f64>,
}

impl Axis {
    /// An axis of at most `most` pieces; `whole` allows whole numbers only (on a linear axis).
    pub fn new(ends: (f64, f64), scale: Scale, most: usize, whole: bool) -> Self {
        let (ticks, minor) = match scale {
            Scale::Linear => (ticks(ends.0, ends.1, most, whole), Vec::new()),
            Scale::Log => log_ticks(ends.0, ends.1, most + 2),
        };
        Self {
            ends,
            scale,
            ticks,
            minor,
        }
    }

    /// How far along the axis a value lies, 0 to 1 between the ends; NaN where it has no place.
    pub fn share(&self, value: f64) -> f64 {
        let (low, high) = self.ends;
        match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Log if value > 0.0 => (value / low).log10() / (high / low).log10(),
            Scale::Log => f64::NAN,
        }
    }
}

/// What the grid behind a panel shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GridStyle {
    /// Horizontal lines at the ticks: charts of lines.
    Lines,
    /// A frame and short ticks: maps and scatters.
    Framed,
}

/// Both axes of a panel with their labels.
pub(super) struct Axes<'a> {
    pub x: Axis,
    pub y: Axis,
    pub x_label: &'a str,
    pub y_label: &'a str,
    pub grid: GridStyle,
}

impl Axes<'_> {
    /// Room for tick labels and the axis label, left of the area.
    pub fn left_margin(&self) -> f64 {
        widest(&self.y.ticks)
            + 8.0
            + if self.y_label.is_empty() {
                0.0
            } else {
                LABEL_SIZE + 10.0
            }
    }

    /// Room for tick labels and the axis label, below the area.
    pub fn bottom_margin(&self) -> f64 {
        if self.x_label.is_empty() { 26.0 } else { 46.0 }
    }

    /// Where a value lies on the canvas, not yet cut at the edges.
    pub fn place(&self, area: &Area, x: f64, y: f64) -> Point {
        (self.across(area, x), self.upward(area, y))
    }

    pub fn across(&self, area: &Area, x: f64) -> f64 {
        area.left + area.width * self.x.share(x)
    }

    pub fn upward(&self, area: &Area, y: f64) -> f64 {
        area.bottom() - area.height * self.y.share(y)
    }

    /// Grid, ticks and labels; what lies behind the data.
    pub fn draw(&self, canvas: &mut Canvas, area: &Area) {
        self.draw_horizontal(canvas, area);
        self.draw_vertical(canvas, area);
        self.draw_labels(canvas, area);
    }

    /// The frame of a map, which lies over the data.
    pub fn draw_frame(&self, canvas: &mut Canvas, area: &Area) {
        if self.grid == GridStyle::Framed {
            canvas.shapes.push(area.frame());
        }
    }

    fn draw_horizontal(&self, canvas: &mut Canvas, area: &Area) {
        let floor = area.bottom();
        let mut tick = |value: f64, length: f64| {
            let x = self.across(area, value);
            canvas.line(
                vec![(x, floor), (x, floor + length)],
                Stroke::solid(Colour::AXIS, 1.0),
            );
        };
        self.x.minor.iter().for_each(|value| tick(*value, 3.0));
        self.x
            .ticks
            .values
            .iter()
            .for_each(|value| tick(*value, 5.0));
        for (value, label) in self.x.ticks.values.iter().zip(&self.x.ticks.labels) {
            canvas.text(muted(
                label,
                (self.across(area, *value), floor + 8.0 + TICK_SIZE),
                Anchor::Middle,
            ));
        }
        canvas.line(
            vec![(area.left, floor), (area.right(), floor)],
            Stroke::solid(Colour::AXIS, 1.0),
        );
    }

    fn draw_vertical(&self, canvas: &mut Canvas, area: &Area) {
        for (value, label) in self.y.ticks.values.iter().zip(&self.y.ticks.labels) {
            let y = self.upward(area, *value);
            let (ends, colour) = match self.grid {
                GridStyle::Lines => ([area.left, area.right()], Colour::GRID),
                GridStyle::Framed => ([area.left - 5.0, area.left], Colour::AXIS),
            };
            canvas.line(ends.map(|x| (x, y)).to_vec(), Stroke::solid(colour, 1.0));
            canvas.text(muted(
                label,
                (area.left - 8.0, y + TICK_SIZE * 0.35),
                Anchor::End,
            ));
        }
        for value in &self.y.minor {
            let y = self.upward(area, *value);
            canvas.line(
                vec![(area.left - 3.0, y), (area.left, y)],
                Stroke::solid(Colour::AXIS, 1.0),
            );
        }
    }

    fn draw_labels(&self, canvas: &mut Canvas, area: &Area) {
        let middle = (area.left + area.width / 2.0, area.top + area.height / 2.0);
        let text = |content: &str, limit, at| {
            let text = Text::new(font::fit(content, LABEL_SIZE, limit), at, LABEL_SIZE);
            Text {
                anchor: Anchor::Middle,
                ..text
            }
        };
        canvas.text(text(
            self.x_label,
            area.width,
            (middle.0, area.bottom() + 42.0),
        ));
        let left = area.left - self.left_margin() + LABEL_SIZE * 0.85;
        canvas.text(Text {
            upward: true,
            ..text(self.y_label, area.height, (left, middle.1))
        });
    }
}

/// The width of the widest label.
pub(super) fn widest(ticks: &Ticks) -> f64 {
    let widths = ticks.labels.iter().map(|l| font::width(l, TICK_SIZE));
    widths.fold(0.0, f64::max)
}

/// Text of a tick.
pub(super) fn muted(content: &str, at: Point, anchor: Anchor) -> Text {
    Text {
        anchor,
        colour: Colour::MUTED,
        ..Text::new(content, at, TICK_SIZE)
    }
}
