//! A display list of simple shapes, and the two back ends that draw it: [`to_svg`] and [`to_png`].
//!
//! Coordinates are in pixels, x to the right and y downward. Text is drawn as outlines of an embedded font in
//! both back ends, so no font needs to be installed and the two agree.

pub mod font;
mod raster;
mod svg;

pub use raster::to_png;
pub use svg::to_svg;

use crate::picture::{GreyPicture, IndexedPicture};

/// A point of the canvas, in pixels.
pub type Point = (f64, f64);

/// An opaque colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

impl Colour {
    /// White, the ground of every canvas.
    pub const WHITE: Self = Self(255, 255, 255);
    /// Near-black, for titles and lines that must be seen.
    pub const INK: Self = Self(31, 35, 40);
    /// Dark grey, for tick labels and captions.
    pub const MUTED: Self = Self(87, 93, 101);
    /// Light grey, for grids.
    pub const GRID: Self = Self(230, 232, 235);
    /// Middle grey, for axes and leaders.
    pub const AXIS: Self = Self(150, 155, 162);
}

/// How a line is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Stroke {
    /// Colour of the line.
    pub colour: Colour,
    /// Width in pixels.
    pub width: f64,
    /// Lengths of dashes and gaps in turn, an even number of them; empty for a solid line.
    pub dash: Vec<f64>,
}

impl Stroke {
    /// A solid line.
    pub fn solid(colour: Colour, width: f64) -> Self {
        Self {
            colour,
            width,
            dash: Vec::new(),
        }
    }
}

/// Which part of the text sits at its position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchor {
    /// The left end.
    #[default]
    Start,
    /// The middle.
    Middle,
    /// The right end.
    End,
}

/// The weight of text. The font has one; heavier ones are its outlines with a pen around them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// For labels and captions.
    #[default]
    Regular,
    /// For titles.
    Bold,
}

/// One line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// What it says.
    pub content: String,
    /// Where its anchor lies, on the base line.
    pub at: Point,
    /// Size of the font in pixels.
    pub size: f64,
    /// Colour of the letters.
    pub colour: Colour,
    /// Which part of the text sits at `at`.
    pub anchor: Anchor,
    /// Its weight.
    pub weight: Weight,
    /// Whether it runs upward, turned a quarter to the left.
    pub upward: bool,
}

impl Text {
    /// Regular dark text whose left end is at `at`.
    pub fn new(content: impl Into<String>, at: Point, size: f64) -> Self {
        Self {
            content: content.into(),
            at,
            size,
            colour: Colour::INK,
            anchor: Anchor::Start,
            weight: Weight::Regular,
            upward: false,
        }
    }
}

/// The shape of a mark on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerKind {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A triangle pointing upward.
    Up,
    /// A square standing on a corner.
    Diamond,
    /// A triangle pointing downward.
    Down,
    /// An upright cross turned by an eighth: an x.
    Cross,
    /// A star with five points.
    Star,
}

/// A mark on a line; hollow ones are filled with white.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marker {
    /// Its shape.
    pub kind: MarkerKind,
    /// Its centre.
    pub at: Point,
    /// Its radius in pixels.
    pub radius: f64,
    /// Its colour.
    pub colour: Colour,
    /// Whether only its outline is drawn.
    pub hollow: bool,
}

/// Corners of an x whose arms are half as wide as the mark's radius.
const CROSS: [Point; 12] = [
    (0.0, -0.4),
    (0.8, -1.2),
    (1.2, -0.8),
    (0.4, 0.0),
    (1.2, 0.8),
    (0.8, 1.2),
    (0.0, 0.4),
    (-0.8, 1.2),
    (-1.2, 0.8),
    (-0.4, 0.0),
    (-1.2, -0.8),
    (-0.8, -1.2),
];

/// Corners of a star: outer radius 1.6, inner 0.64, every 36 degrees from the top.
const STAR: [Point; 10] = [
    (0.0, -1.6),
    (0.376, -0.518),
    (1.522, -0.494),
    (0.609, 0.198),
    (0.94, 1.294),
    (0.0, 0.64),
    (-0.94, 1.294),
    (-0.609, 0.198),
    (-1.522, -0.494),
    (-0.376, -0.518),
];

impl Marker {
    /// The corners of the mark; none for a circle.
    fn corners(&self) -> Vec<Point> {
        let r = self.radius;
        let offsets: &[Point] = match self.kind {
            MarkerKind::Circle => &[],
            MarkerKind::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            MarkerKind::Up => &[(0.0, -1.25), (1.15, 0.8), (-1.15, 0.8)],
            MarkerKind::Down => &[(0.0, 1.25), (1.15, -0.8), (-1.15, -0.8)],
            MarkerKind::Diamond => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
            MarkerKind::Cross => &CROSS,
            MarkerKind::Star => &STAR,
        };
        offsets
            .iter()
            .map(|(dx, dy)| (self.at.0 + dx * r, self.at.1 + dy * r))
            .collect()
    }
}

/// One entry of the display list.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// An open line through points.
    Polyline {
        /// The points, in order.
        points: Vec<Point>,
        /// How it is drawn.
        stroke: Stroke,
    },
    /// A filled area between points.
    Polygon {
        /// The corners, in order.
        points: Vec<Point>,
        /// The filling.
        fill: Colour,
        /// How much of the filling covers what is below, 0 to 1.
        opacity: f64,
    },
    /// A filled rectangle.
    Rectangle {
        /// Upper left corner.
        at: Point,
        /// Width and height.
        size: Point,
        /// The filling.
        fill: Colour,
    },
    /// A filled disc.
    Circle {
        /// The centre.
        at: Point,
        /// The radius.
        radius: f64,
        /// The filling.
        fill: Colour,
    },
    /// Many filled discs of one size and colour, which SVG stores in little space.
    Dots {
        /// The centres.
        at: Vec<Point>,
        /// The radius.
        radius: f64,
        /// The filling.
        fill: Colour,
    },
    /// A mark on a line.
    Marker(Marker),
    /// A line of text.
    Text(Text),
    /// A grey picture, its pixels enlarged without smoothing.
    Picture {
        /// Upper left corner.
        at: Point,
        /// Width and height on the canvas.
        size: Point,
        /// The pixels.
        picture: GreyPicture,
    },
    /// A picture of few colours, its pixels enlarged without smoothing.
    Colours {
        /// Upper left corner.
        at: Point,
        /// Width and height on the canvas.
        size: Point,
        /// The pixels.
        picture: IndexedPicture,
    },
}

/// A drawing: a white ground and shapes on it, the later over the earlier.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Canvas {
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    /// A name for readers that cannot see the drawing.
    pub title: String,
    /// What there is to see, for readers that cannot see the drawing.
    pub description: String,
    /// The shapes, in the order in which they are drawn.
    pub shapes: Vec<Shape>,
}

impl Canvas {
    /// An empty canvas of a size.
    pub fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            ..Self::default()
        }
    }

    /// Adds a line through points.
    pub fn line(&mut self, points: Vec<Point>, stroke: Stroke) {
        self.shapes.push(Shape::Polyline { points, stroke });
    }

    /// Adds a line of text, unless it says nothing.
    pub fn text(&mut self, text: Text) {
        if !text.content.is_empty() {
            self.shapes.push(Shape::Text(text));
        }
    }

    /// Adds lines of text under each other, `leading` pixels apart, the first where `text` says.
    pub fn paragraph(&mut self, text: &Text, lines: &[String], leading: f64) {
        for (i, line) in lines.iter().enumerate() {
            let at = (text.at.0, text.at.1 + leading * i as f64);
            self.text(Text {
                content: line.clone(),
                at,
                ..text.clone()
            });
        }
    }
}
