//! Charts: lines with confidence bands, densities, heat maps, scatters, maps of classes; alone or in grids.
//!
//! Colours are those of [`crate::colours`], safe for colour-blind readers; dashes and marks of lines differ as well,
//! so that a chart survives a black-and-white printer. One line chart alone names its lines at their right ends;
//! several panels share one legend above. A panel is one of a closed set ([`Panel`]), a figure is a [`Grid`] of them.

mod axes;
mod bar;
mod class_map;
mod contour;
mod grid;
mod heat;
mod legend;
mod overlay;
mod panel;
mod range;
mod scatter;
mod style;
mod value_map;

pub use class_map::{ClassMap, Lacking, scene_map};
pub use contour::contours;
pub use grid::{Grid, Panel};
pub use heat::HeatMap;
pub use overlay::{Overlay, OverlayKind};
pub use scatter::{Colouring, Scatter};
pub use style::LineStyle;
pub use value_map::value_map;

use std::borrow::Borrow;

use crate::chart::Canvas;
use crate::stats::Band;

/// One line of a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// What the line shows. Lines of the same name look the same in all panels; a legend above leaves out lines
    /// without a name.
    pub name: String,
    /// Horizontal positions.
    pub x: Vec<f64>,
    /// Heights, as long as `x`; surplus entries on either side are ignored.
    pub band: Band,
    /// Its own look; where absent, its place among the names of the figure decides.
    pub look: Option<LineStyle>,
}

impl Series {
    /// A line with its band.
    pub fn new(
        name: impl Into<String>,
        x: impl IntoIterator<Item: Borrow<f64>>,
        band: Band,
    ) -> Self {
        Self {
            name: name.into(),
            x: numbers(x),
            band,
            look: None,
        }
    }

    /// A line without a band, in its own look.
    pub fn curve(
        name: impl Into<String>,
        x: impl IntoIterator<Item: Borrow<f64>>,
        y: impl IntoIterator<Item: Borrow<f64>>,
        look: LineStyle,
    ) -> Self {
        Self::new(name, x, Band::exact(numbers(y))).with_look(look)
    }

    /// The same line in its own look.
    pub fn with_look(self, look: LineStyle) -> Self {
        Self {
            look: Some(look),
            ..self
        }
    }
}

fn numbers(values: impl IntoIterator<Item: Borrow<f64>>) -> Vec<f64> {
    values.into_iter().map(|value| *value.borrow()).collect()
}

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By their logarithms; values that are not positive have no place.
    Log,
}

/// A chart of lines over a common axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineChart {
    /// Heading.
    pub title: String,
    /// What the horizontal axis counts.
    pub x_label: String,
    /// What the vertical axis measures.
    pub y_label: String,
    /// Ends of the horizontal axis; from the data where absent.
    pub x_range: Option<(f64, f64)>,
    /// Ends of the vertical axis, in data units; from the data where absent.
    pub y_range: Option<(f64, f64)>,
    /// How values are spread along the horizontal axis.
    pub x_scale: Scale,
    /// How values are spread along the vertical axis.
    pub y_scale: Scale,
    /// Whether heights are shares of one, to be shown in percent.
    pub percent: bool,
    /// The lines, the most important first.
    pub series: Vec<Series>,
    /// What is drawn over the lines.
    pub overlays: Vec<Overlay>,
}

impl From<LineChart> for Canvas {
    fn from(chart: LineChart) -> Self {
        chart.canvas()
    }
}

impl LineChart {
    /// Lines over axes with these labels, horizontal first; everything else follows from the data.
    pub fn new(
        title: impl Into<String>,
        labels: [impl Into<String>; 2],
        series: Vec<Series>,
    ) -> Self {
        let [x_label, y_label] = labels.map(Into::into);
        Self {
            title: title.into(),
            x_label,
            y_label,
            series,
            ..Self::default()
        }
    }

    /// The same with a logarithmic horizontal axis.
    pub fn log_x(self) -> Self {
        let x_scale = Scale::Log;
        Self { x_scale, ..self }
    }

    /// The same with a logarithmic vertical axis.
    pub fn log_y(self) -> Self {
        self.y_scale(Scale::Log)
    }

    /// The same with another spread along the vertical axis.
    pub fn y_scale(self, y_scale: Scale) -> Self {
        Self { y_scale, ..self }
    }

    /// The same with two logarithmic axes.
    pub fn log_log(self) -> Self {
        self.log_x().log_y()
    }

    /// The same with other ends of the horizontal axis.
    pub fn x_range(self, ends: (f64, f64)) -> Self {
        let x_range = Some(ends);
        Self { x_range, ..self }
    }

    /// The same with other ends of the vertical axis.
    pub fn y_range(self, ends: (f64, f64)) -> Self {
        let y_range = Some(ends);
        Self { y_range, ..self }
    }

    /// The same with heights in percent.
    pub fn in_percent(self) -> Self {
        self.percent(true)
    }

    /// The same with heights in percent or not.
    pub fn percent(self, percent: bool) -> Self {
        Self { percent, ..self }
    }

    /// The same with something drawn over the lines.
    pub fn under(self, overlays: Vec<Overlay>) -> Self {
        Self { overlays, ..self }
    }

    /// The chart as a complete drawing.
    pub fn canvas(&self) -> Canvas {
        side_by_side(
            &self.title,
            &[Self {
                title: String::new(),
                ..self.clone()
            }],
        )
    }

    /// What there is to see, in words: for readers that cannot see it.
    fn describe(&self) -> String {
        let mut text = format!("{}: {} against {}.", self.title, self.y_label, self.x_label);
        for series in &self.series {
            let value = match series.band.mean.iter().rev().find(|v| v.is_finite()) {
                Some(v) if self.percent => format!("ends at {:.1} %", v * 100.0),
                Some(v) if *v != 0.0 && v.abs() < 0.01 => format!("ends at {v:.2e}"),
                Some(v) => format!("ends at {v:.2}"),
                None => "has no data".to_owned(),
            };
            text.push_str(&format!(" {} {value}.", series.name));
        }
        text.trim_start_matches(": ").to_owned()
    }
}

/// Charts beside each other under one heading, with one legend for all.
pub fn side_by_side(title: &str, panels: &[LineChart]) -> Canvas {
    let size = if panels.len() == 1 {
        (540.0, 330.0)
    } else {
        (370.0, 280.0)
    };
    let grid = Grid::new(title, panels.len(), panels.iter().cloned());
    Grid {
        size,
        letters: false,
        ..grid
    }
    .canvas()
}
