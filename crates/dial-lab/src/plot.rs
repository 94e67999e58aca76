//! Line charts with confidence bands: learning curves, exploration curves, side by side where wanted.
//!
//! Colours are the Okabe-Ito palette, safe for colour-blind readers; dashes and marks differ as well, so that a
//! chart survives a black-and-white printer. One chart alone names its lines at their right ends; several charts
//! share one legend above.

mod legend;
mod panel;
mod range;
mod style;

use crate::chart::{Anchor, Canvas, Colour, Text, Weight, font};
use crate::stats::Band;
use panel::{Area, Frame};
use style::Style;

/// One line of a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// What the line shows. Lines of the same name look the same in all panels.
    pub name: String,
    /// Horizontal positions.
    pub x: Vec<f64>,
    /// Heights, as long as `x`; surplus entries on either side are ignored.
    pub band: Band,
}

impl Series {
    /// A line with its band.
    pub fn new(name: impl Into<String>, x: Vec<f64>, band: Band) -> Self {
        Self { name: name.into(), x, band }
    }
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
    /// Whether heights are shares of one, to be shown in percent.
    pub percent: bool,
    /// The lines, the most important first.
    pub series: Vec<Series>,
}

impl LineChart {
    /// The chart as a drawing of its own.
    pub fn canvas(&self) -> Canvas {
        side_by_side(&self.title, &[Self { title: String::new(), ..self.clone() }])
    }

    /// What there is to see, in words: for readers that cannot see it.
    fn describe(&self) -> String {
        let mut text = format!("{}: {} against {}.", self.title, self.y_label, self.x_label);
        for series in &self.series {
            let value = match series.band.mean.iter().rev().find(|v| v.is_finite()) {
                Some(v) if self.percent => format!("ends at {:.1} %", v * 100.0),
                Some(v) => format!("ends at {v:.2}"),
                None => "has no data".to_owned(),
            };
            text.push_str(&format!(" {} {value}.", series.name));
        }
        text.trim_start_matches(": ").to_owned()
    }
}

/// White space around everything.
const PAD: f64 = 20.0;
/// White space between panels.
const GUTTER: f64 = 30.0;
const TITLE_SIZE: f64 = 17.0;
const PANEL_TITLE_SIZE: f64 = 13.5;
const NOTE_SIZE: f64 = 11.0;
const NOTE: &str = "Shaded: 95 % confidence interval of the mean over trials";

/// Charts beside each other under one heading, with one legend for all.
pub fn side_by_side(title: &str, panels: &[LineChart]) -> Canvas {
    let names = distinct_names(panels);
    let (w, h) = if panels.len() == 1 { (540.0, 330.0) } else { (370.0, 280.0) };
    let direct = panels.len() == 1 && legend::fits_beside(names.len(), h);
    let frames: Vec<Frame<'_>> = panels.iter().map(Frame::new).collect();
    let beside = if direct { legend::width_beside(&panels[0]) } else { 12.0 };
    let widths: Vec<f64> = frames.iter().map(|f| f.left_margin() + w + beside).collect();
    let gutters = GUTTER * panels.len().saturating_sub(1) as f64;
    let mut canvas = Canvas::new((2.0 * PAD + widths.iter().sum::<f64>() + gutters).max(320.0), 0.0);
    canvas.title = if title.is_empty() { "Line chart".to_owned() } else { title.to_owned() };
    canvas.description = panels.iter().map(LineChart::describe).collect::<Vec<_>>().join(" ");

    let top = draw_heads(&mut canvas, title, panels, if direct { &[] } else { &names });
    let mut left = PAD;
    for (frame, width) in frames.iter().zip(widths) {
        let area = Area { left: left + frame.left_margin(), top, width: w, height: h };
        draw_panel_title(&mut canvas, frame.chart, &area);
        frame.draw(&mut canvas, &area, &|name| style_of(&names, name));
        if direct {
            legend::draw_beside(&mut canvas, frame, &area);
        }
        left += width + GUTTER;
    }
    finish(&mut canvas, panels, top + h);
    canvas
}

/// Names of all series in order of appearance, each once.
fn distinct_names(panels: &[LineChart]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for series in panels.iter().flat_map(|panel| &panel.series) {
        if !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    names
}

fn style_of(names: &[&str], name: &str) -> Style {
    Style::number(names.iter().position(|n| *n == name).unwrap_or(0))
}

/// Draws heading and legend; returns where the plotting areas begin.
fn draw_heads(canvas: &mut Canvas, title: &str, panels: &[LineChart], names: &[&str]) -> f64 {
    let mut y = PAD;
    let lines = font::wrap(title, TITLE_SIZE, canvas.width - 2.0 * PAD, 3);
    let text = Text { weight: Weight::Bold, ..Text::new("", (PAD, y + TITLE_SIZE * 0.8), TITLE_SIZE) };
    canvas.paragraph(&text, &lines, TITLE_SIZE * 1.3);
    y += TITLE_SIZE * 1.3 * lines.len() as f64 + if lines.is_empty() { 0.0 } else { 8.0 };
    y = legend::draw_above(canvas, names, PAD, y);
    if panels.iter().any(|panel| !panel.title.is_empty()) {
        y += PANEL_TITLE_SIZE + 12.0;
    }
    y + 6.0
}

fn draw_panel_title(canvas: &mut Canvas, chart: &LineChart, area: &Area) {
    let content = font::fit(&chart.title, PANEL_TITLE_SIZE, area.width);
    let at = (area.left, area.top - 12.0);
    canvas.text(Text { weight: Weight::Bold, ..Text::new(content, at, PANEL_TITLE_SIZE) });
}

/// Adds the note about bands where there are any, and sets the height of the canvas.
fn finish(canvas: &mut Canvas, panels: &[LineChart], bottom: f64) {
    let labelled = panels.iter().any(|panel| !panel.x_label.is_empty());
    let mut y = bottom + if labelled { 46.0 } else { 26.0 };
    let wide = |s: &Series| s.band.low.iter().zip(&s.band.high).any(|(low, high)| high > low);
    if panels.iter().flat_map(|panel| &panel.series).any(wide) {
        y += 16.0;
        let note = Text { colour: Colour::MUTED, anchor: Anchor::Start, ..Text::new(NOTE, (PAD, y), NOTE_SIZE) };
        canvas.text(note);
        y += 4.0;
    }
    canvas.height = (y + PAD - 6.0).ceil();
    canvas.width = canvas.width.ceil();
}
