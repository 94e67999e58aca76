//! Scatters of points, coloured by class, by value, or not at all.

use super::Scale;
use super::axes::{Area, Axes, Axis, GridStyle, MAX_AXIS_PIECES};
use super::bar::ColourBar;
use super::overlay::Overlay;
use super::range::extent;
use crate::chart::{Canvas, Colour, Point, Shape};
use crate::colours::{self, BLUE, GREY};
use crate::ticks::Ticks;

/// The largest number of colours for values, so that points of one colour can be stored together.
const MAX_SHADES: f64 = 48.0;

/// What the colours of points say.
#[derive(Clone, Debug, PartialEq)]
pub enum Colouring {
    /// Nothing: all have one colour.
    Plain(Colour),
    /// The class of each point.
    Classes {
        /// The class of each point; surplus points are grey.
        of: Vec<usize>,
        /// Names of the classes.
        names: Vec<String>,
    },
    /// A value at each point; larger values are drawn over smaller ones.
    Values {
        /// The values; points without one are grey.
        of: Vec<f64>,
        /// What the values are; written beside the colour bar.
        label: String,
        /// Ends of the colour bar; from the data where absent.
        range: Option<(f64, f64)>,
    },
}

impl Default for Colouring {
    fn default() -> Self {
        Self::Plain(BLUE)
    }
}

/// A scatter of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// Heading.
    pub title: String,
    /// What the horizontal axis measures.
    pub x_label: String,
    /// What the vertical axis measures.
    pub y_label: String,
    /// Ends of the horizontal axis; from the data where absent.
    pub x_range: Option<(f64, f64)>,
    /// Ends of the vertical axis; from the data where absent.
    pub y_range: Option<(f64, f64)>,
    /// The points.
    pub points: Vec<Point>,
    /// Their colours.
    pub colouring: Colouring,
    /// Their radius in pixels.
    pub radius: f64,
    /// Whether the axes go without ticks, where their numbers mean nothing.
    pub bare: bool,
    /// What is drawn over the points.
    pub overlays: Vec<Overlay>,
}

impl Default for Scatter {
    fn default() -> Self {
        Self {
            title: String::new(),
            x_label: String::new(),
            y_label: String::new(),
            x_range: None,
            y_range: None,
            points: Vec::new(),
            colouring: Colouring::default(),
            radius: 2.0,
            bare: false,
            overlays: Vec::new(),
        }
    }
}

impl Scatter {
    pub(super) fn axes(&self) -> Axes<'_> {
        let axis = |given: Option<(f64, f64)>, coordinate: fn(&Point) -> f64| {
            let values: Vec<f64> = self.points.iter().map(coordinate).collect();
            let found = extent(&values).map(|(low, high)| {
                let room = if high > low { 0.04 * (high - low) } else { 1.0 };
                (low - room, high + room)
            });
            let usable =
                given.filter(|(low, high)| low < high && low.is_finite() && high.is_finite());
            let mut axis = Axis::new(
                usable.or(found).unwrap_or((0.0, 1.0)),
                Scale::Linear,
                MAX_AXIS_PIECES,
                false,
            );
            if self.bare {
                axis.ticks = Ticks::default();
            }
            axis
        };
        Axes {
            x: axis(self.x_range, |p| p.0),
            y: axis(self.y_range, |p| p.1),
            x_label: &self.x_label,
            y_label: &self.y_label,
            grid: GridStyle::Framed,
        }
    }

    pub(super) fn bar(&self) -> Option<ColourBar<'_>> {
        match &self.colouring {
            Colouring::Values { of, label, range } => Some(ColourBar::new(of, *range, label)),
            _ => None,
        }
    }

    /// The classes of the points with their colours, for the legend.
    pub(super) fn classes(&self) -> Vec<(String, Colour)> {
        match &self.colouring {
            Colouring::Classes { names, .. } => names
                .iter()
                .enumerate()
                .map(|(class, name)| (name.clone(), colours::of_class(class)))
                .collect(),
            _ => Vec::new(),
        }
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, area: &Area) {
        let (axes, bar) = (self.axes(), self.bar());
        axes.draw(canvas, area);
        let mut layers: std::collections::BTreeMap<i64, (Colour, Vec<Point>)> = Default::default();
        for (i, point) in self.points.iter().enumerate() {
            let at = axes.place(area, point.0, point.1);
            if area.holds(at) {
                let (layer, colour) =
                    self.layer(i, bar.as_ref().map_or((0.0, 1.0), |bar| bar.range));
                layers
                    .entry(layer)
                    .or_insert((colour, Vec::new()))
                    .1
                    .push(at);
            }
        }
        for (fill, at) in layers.into_values() {
            canvas.shapes.push(Shape::Dots {
                at,
                radius: self.radius,
                fill,
            });
        }
        self.overlays
            .iter()
            .for_each(|overlay| overlay.kind.draw(canvas, &axes, area));
        axes.draw_frame(canvas, area);
        if let Some(bar) = bar {
            bar.draw(canvas, area);
        }
    }

    /// The layer of a point (higher ones lie over lower ones) and its colour.
    fn layer(&self, point: usize, range: (f64, f64)) -> (i64, Colour) {
        match &self.colouring {
            Colouring::Plain(colour) => (0, *colour),
            Colouring::Classes { of, .. } => match of.get(point) {
                Some(class) => (*class as i64, colours::of_class(*class)),
                None => (-1, GREY),
            },
            Colouring::Values { of, .. } => match of.get(point).filter(|value| value.is_finite()) {
                Some(value) => {
                    let shade = (colours::share(*value, range.0, range.1) * MAX_SHADES).round();
                    (shade as i64, colours::of_share(shade / MAX_SHADES))
                }
                None => (-1, GREY),
            },
        }
    }

    /// What there is to see, in words.
    pub(super) fn describe(&self) -> String {
        let mut text = format!("{}: {} points", self.title, self.points.len());
        match &self.colouring {
            Colouring::Plain(_) => {}
            Colouring::Classes { of, names } => {
                let count = |class| of.iter().filter(|c| **c == class).count();
                let counts: Vec<_> = names
                    .iter()
                    .enumerate()
                    .map(|(c, name)| format!("{} {name}", count(c)))
                    .collect();
                text.push_str(&format!(", of them {}", counts.join(", ")));
            }
            Colouring::Values { of, label, .. } => {
                if let Some((low, high)) = extent(of) {
                    text.push_str(&format!(", {label} from {low:.3} to {high:.3}"));
                }
            }
        }
        text + "."
    }
}
