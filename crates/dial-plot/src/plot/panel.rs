//! One chart of lines: bands, fillings, lines and marks on their axes.

use super::axes::{Area, Axes, Axis, GridStyle, LABEL_SIZE, MAX_AXIS_PIECES};
use super::style::Style;
use super::{LineChart, Series, range};
use crate::chart::{Anchor, Canvas, Colour, Point, Shape, Text};

/// How much of a band's colour covers what is below.
const BAND_OPACITY: f64 = 0.17;
/// Pixels by which a long line may be simplified: too few to be seen.
const SIMPLIFY_PIXELS: f64 = 0.12;

/// A chart with its axes.
pub(super) struct Frame<'a> {
    pub chart: &'a LineChart,
    pub axes: Axes<'a>,
}

impl<'a> Frame<'a> {
    pub fn new(chart: &'a LineChart) -> Self {
        let (ends, whole) = range::horizontal(chart);
        let x = Axis::new(ends, chart.x_scale, MAX_AXIS_PIECES, whole);
        let mut y = Axis::new(
            range::vertical(chart, MAX_AXIS_PIECES),
            chart.y_scale,
            MAX_AXIS_PIECES,
            false,
        );
        if chart.percent {
            y.ticks
                .labels
                .iter_mut()
                .for_each(|label| label.push_str(" %"));
        }
        let axes = Axes {
            x,
            y,
            x_label: &chart.x_label,
            y_label: &chart.y_label,
            grid: GridStyle::Lines,
        };
        Self { chart, axes }
    }

    /// Where a value lies on the canvas, not yet cut at the edges.
    fn place(&self, area: &Area, x: f64, y: f64) -> Point {
        self.axes
            .place(area, x, if self.chart.percent { 100.0 * y } else { y })
    }

    /// The last point of a line that can be seen.
    pub fn last_point(&self, area: &Area, series: &Series) -> Option<Point> {
        let points = series
            .x
            .iter()
            .zip(&series.band.mean)
            .rev()
            .map(|(x, y)| self.place(area, *x, *y));
        points
            .filter(|p| p.0.is_finite() && p.1.is_finite())
            .find(|p| area.holds(*p))
    }

    pub fn draw(&self, canvas: &mut Canvas, area: &Area, style: &dyn Fn(&Series) -> Style) {
        self.axes.draw(canvas, area);
        for series in &self.chart.series {
            let look = style(series).look;
            self.draw_filling(canvas, area, series, look.colour, look.filling);
            self.draw_band(canvas, area, series, look.colour);
        }
        for series in self.chart.series.iter().rev() {
            self.draw_line(canvas, area, series, &style(series));
        }
        self.chart
            .overlays
            .iter()
            .for_each(|overlay| overlay.kind.draw(canvas, &self.axes, area));
        if self
            .chart
            .series
            .iter()
            .all(|s| self.last_point(area, s).is_none())
        {
            let at = (area.left + area.width / 2.0, area.top + area.height / 2.0);
            let text = Text::new("No data", at, LABEL_SIZE);
            canvas.text(Text {
                anchor: Anchor::Middle,
                colour: Colour::MUTED,
                ..text
            });
        }
    }

    fn draw_band(&self, canvas: &mut Canvas, area: &Area, series: &Series, fill: Colour) {
        let band = &series.band;
        let edges = series.x.iter().zip(band.low.iter().zip(&band.high));
        let edges: Vec<_> = edges
            .map(|(x, (low, high))| (self.place(area, *x, *low), self.place(area, *x, *high)))
            .collect();
        let broken =
            |e: &(Point, Point)| !(e.0.0.is_finite() && e.0.1.is_finite() && e.1.1.is_finite());
        for run in edges.split(broken) {
            if run.iter().all(|(low, high)| (low.1 - high.1).abs() < 0.01) {
                continue;
            }
            let [upper, lower]: [Vec<Point>; 2] = [
                run.iter().map(|e| e.1).collect(),
                run.iter().rev().map(|e| e.0).collect(),
            ];
            let around = [
                range::simplified(&upper, SIMPLIFY_PIXELS),
                range::simplified(&lower, SIMPLIFY_PIXELS),
            ]
            .concat();
            let points = range::clip_polygon(around, area);
            canvas.shapes.push(Shape::Polygon {
                points,
                fill,
                opacity: BAND_OPACITY,
            });
        }
    }

    /// The area between a line and the foot of the chart.
    fn draw_filling(
        &self,
        canvas: &mut Canvas,
        area: &Area,
        series: &Series,
        fill: Colour,
        opacity: f64,
    ) {
        let points = series
            .x
            .iter()
            .zip(&series.band.mean)
            .map(|(x, y)| self.place(area, *x, *y));
        let points: Vec<Point> = points.collect();
        let runs = points.split(|p| !(p.0.is_finite() && p.1.is_finite()));
        for run in runs.filter(|run| opacity > 0.0 && run.len() > 1) {
            let floor = area.bottom();
            let feet = [(run[run.len() - 1].0, floor), (run[0].0, floor)];
            let outline = range::simplified(run, SIMPLIFY_PIXELS)
                .into_iter()
                .chain(feet)
                .collect();
            let points = range::clip_polygon(outline, area);
            canvas.shapes.push(Shape::Polygon {
                points,
                fill,
                opacity,
            });
        }
    }

    fn draw_line(&self, canvas: &mut Canvas, area: &Area, series: &Series, style: &Style) {
        let points = series
            .x
            .iter()
            .zip(&series.band.mean)
            .map(|(x, y)| self.place(area, *x, *y));
        let points: Vec<Point> = points.collect();
        let broken = |p: &Point| !(p.0.is_finite() && p.1.is_finite());
        let mut marks = spaced(&points, style.number);
        for run in points.split(broken) {
            for piece in range::clip_line(&range::simplified(run, SIMPLIFY_PIXELS), area)
                .into_iter()
                .filter(|_| style.look.width > 0.0)
            {
                canvas.line(piece, style.stroke());
            }
            if let [alone] = run {
                marks.push(*alone);
            }
        }
        for at in marks.into_iter().filter(|p| !broken(p) && area.holds(*p)) {
            canvas.shapes.extend(style.mark(at));
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
    points
        .iter()
        .copied()
        .skip(offset)
        .step_by(stride)
        .collect()
}
