//! One plotting area: grid, axes, bands, lines and marks.

use super::style::Style;
use super::{LineChart, Series, range};
use crate::chart::{Anchor, Canvas, Colour, Point, Shape, Stroke, Text, font};
use crate::ticks::{Ticks, ticks};

const TICK_SIZE: f64 = 12.0;
const LABEL_SIZE: f64 = 13.0;
/// At most so many pieces on an axis.
const PIECES: usize = 6;
/// How much of a band's colour covers what is below.
const BAND_OPACITY: f64 = 0.17;

/// The rectangle in which lines are drawn.
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

    fn holds(&self, p: Point) -> bool {
        let eps = 1e-6;
        p.0 >= self.left - eps && p.0 <= self.right() + eps && p.1 >= self.top - eps && p.1 <= self.bottom() + eps
    }
}

/// A chart with the ends and ticks of its axes.
pub(super) struct Frame<'a> {
    pub chart: &'a LineChart,
    x: (f64, f64),
    y: (f64, f64),
    x_ticks: Ticks,
    y_ticks: Ticks,
}

impl<'a> Frame<'a> {
    pub fn new(chart: &'a LineChart) -> Self {
        let (x, whole) = range::horizontal(chart);
        let y = range::vertical(chart, PIECES);
        let mut y_ticks = ticks(y.0, y.1, PIECES, false);
        if chart.percent {
            y_ticks.labels.iter_mut().for_each(|label| label.push_str(" %"));
        }
        Self { chart, x, y, x_ticks: ticks(x.0, x.1, PIECES, whole), y_ticks }
    }

    /// Room for tick labels and the axis label, left of the area.
    pub fn left_margin(&self) -> f64 {
        let widest = self.y_ticks.labels.iter().map(|l| font::width(l, TICK_SIZE)).fold(0.0, f64::max);
        widest + 8.0 + if self.chart.y_label.is_empty() { 0.0 } else { LABEL_SIZE + 10.0 }
    }

    /// Where a value lies on the canvas, not yet cut at the edges.
    fn place(&self, area: &Area, x: f64, y: f64) -> Point {
        let y = if self.chart.percent { 100.0 * y } else { y };
        (self.across(area, x), self.upward(area, y))
    }

    fn across(&self, area: &Area, x: f64) -> f64 {
        area.left + area.width * (x - self.x.0) / (self.x.1 - self.x.0)
    }

    fn upward(&self, area: &Area, shown: f64) -> f64 {
        area.bottom() - area.height * (shown - self.y.0) / (self.y.1 - self.y.0)
    }

    /// The last point of a line that can be seen.
    pub fn last_point(&self, area: &Area, series: &Series) -> Option<Point> {
        let points = series.x.iter().zip(&series.band.mean).rev().map(|(x, y)| self.place(area, *x, *y));
        points.filter(|p| p.0.is_finite() && p.1.is_finite()).find(|p| area.holds(*p))
    }

    pub fn draw(&self, canvas: &mut Canvas, area: &Area, style: &dyn Fn(&str) -> Style) {
        self.draw_axes(canvas, area);
        self.draw_labels(canvas, area);
        for series in &self.chart.series {
            self.draw_band(canvas, area, series, style(&series.name).colour);
        }
        for series in self.chart.series.iter().rev() {
            self.draw_line(canvas, area, series, &style(&series.name));
        }
        if self.chart.series.iter().all(|s| self.last_point(area, s).is_none()) {
            let at = (area.left + area.width / 2.0, area.top + area.height / 2.0);
            let text = Text::new("No data", at, LABEL_SIZE);
            canvas.text(Text { anchor: Anchor::Middle, colour: Colour::MUTED, ..text });
        }
    }

    fn draw_axes(&self, canvas: &mut Canvas, area: &Area) {
        let muted = |content: &str, at, anchor| {
            let text = Text::new(content, at, TICK_SIZE);
            Text { anchor, colour: Colour::MUTED, ..text }
        };
        for (value, label) in self.y_ticks.values.iter().zip(&self.y_ticks.labels) {
            let y = self.upward(area, *value);
            canvas.line(vec![(area.left, y), (area.right(), y)], Stroke::solid(Colour::GRID, 1.0));
            canvas.text(muted(label, (area.left - 8.0, y + TICK_SIZE * 0.35), Anchor::End));
        }
        let floor = area.bottom();
        for (value, label) in self.x_ticks.values.iter().zip(&self.x_ticks.labels) {
            let x = self.across(area, *value);
            canvas.line(vec![(x, floor), (x, floor + 5.0)], Stroke::solid(Colour::AXIS, 1.0));
            canvas.text(muted(label, (x, floor + 8.0 + TICK_SIZE), Anchor::Middle));
        }
        canvas.line(vec![(area.left, floor), (area.right(), floor)], Stroke::solid(Colour::AXIS, 1.0));
    }

    fn draw_labels(&self, canvas: &mut Canvas, area: &Area) {
        let middle = (area.left + area.width / 2.0, area.top + area.height / 2.0);
        let text = |content: &str, limit, at| {
            let text = Text::new(font::fit(content, LABEL_SIZE, limit), at, LABEL_SIZE);
            Text { anchor: Anchor::Middle, ..text }
        };
        canvas.text(text(&self.chart.x_label, area.width, (middle.0, area.bottom() + 42.0)));
        let left = area.left - self.left_margin() + LABEL_SIZE * 0.85;
        canvas.text(Text { upward: true, ..text(&self.chart.y_label, area.height, (left, middle.1)) });
    }

    fn draw_band(&self, canvas: &mut Canvas, area: &Area, series: &Series, fill: Colour) {
        let band = &series.band;
        let edges = series.x.iter().zip(band.low.iter().zip(&band.high));
        let edges: Vec<_> =
            edges.map(|(x, (low, high))| (self.place(area, *x, *low), self.place(area, *x, *high))).collect();
        let broken = |e: &(Point, Point)| !(e.0.0.is_finite() && e.0.1.is_finite() && e.1.1.is_finite());
        for run in edges.split(broken) {
            if run.iter().all(|(low, high)| (low.1 - high.1).abs() < 0.01) {
                continue;
            }
            let around = run.iter().map(|e| e.1).chain(run.iter().rev().map(|e| e.0)).collect();
            let points = range::clip_polygon(around, area);
            canvas.shapes.push(Shape::Polygon { points, fill, opacity: BAND_OPACITY });
        }
    }

    fn draw_line(&self, canvas: &mut Canvas, area: &Area, series: &Series, style: &Style) {
        let points = series.x.iter().zip(&series.band.mean).map(|(x, y)| self.place(area, *x, *y));
        let points: Vec<Point> = points.collect();
        let broken = |p: &Point| !(p.0.is_finite() && p.1.is_finite());
        let mut marks = spaced(&points, style.number);
        for run in points.split(broken) {
            for piece in range::clip_line(run, area) {
                canvas.line(piece, style.stroke());
            }
            if let [alone] = run {
                marks.push(*alone);
            }
        }
        for at in marks.into_iter().filter(|p| !broken(p) && area.holds(*p)) {
            canvas.shapes.push(style.mark(at));
        }
    }
}

/// The points that get a mark: all of a few, or about seven of many, staggered from line to line.
fn spaced(points: &[Point], number: usize) -> Vec<Point> {
    if points.len() <= 12 {
        return points.to_vec();
    }
    let stride = points.len().div_ceil(7);
    let offset = stride / 4 + (number % 4) * stride / 5;
    points.iter().copied().skip(offset).step_by(stride).collect()
}
