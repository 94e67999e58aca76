//! Heat maps: a value for every cell of a grid, shown as a colour, with a colour bar and contour lines where wanted.

use super::Scale;
use super::axes::{Area, Axes, Axis, GridStyle, MAX_AXIS_PIECES};
use super::bar::ColourBar;
use super::contour::contours;
use super::overlay::Overlay;
use super::range::simplified;
use crate::chart::{Canvas, Colour, Point, Stroke};

/// A heat map of values at the middles of the cells of a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// Heading.
    pub title: String,
    /// What the horizontal axis measures.
    pub x_label: String,
    /// What the vertical axis measures.
    pub y_label: String,
    /// What the colours show; written beside the colour bar.
    pub value_label: String,
    /// Left edge of the first column and right edge of the last.
    pub x_range: (f64, f64),
    /// Lower edge of the first row and upper edge of the last.
    pub y_range: (f64, f64),
    /// Number of columns.
    pub columns: usize,
    /// The values row by row, the lowest row first; missing ones are grey.
    pub values: Vec<f64>,
    /// Ends of the colour bar; from the data where absent.
    pub value_range: Option<(f64, f64)>,
    /// Heights of contour lines.
    pub contours: Vec<f64>,
    /// What is drawn over the map.
    pub overlays: Vec<Overlay>,
}

impl HeatMap {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.values.len() / self.columns.max(1)
    }

    /// The values of a function on a grid of `columns` by `rows` cells, at the middles of the cells.
    pub fn sampled(
        x_range: (f64, f64),
        y_range: (f64, f64),
        columns: usize,
        rows: usize,
        f: impl Fn(f64, f64) -> f64,
    ) -> Self {
        let middle = |range: (f64, f64), i, count| {
            range.0 + (range.1 - range.0) * (i as f64 + 0.5) / count as f64
        };
        let cell = |i: usize| {
            f(
                middle(x_range, i % columns, columns),
                middle(y_range, i / columns, rows),
            )
        };
        let values = (0..rows * columns).map(cell).collect();
        Self {
            x_range,
            y_range,
            columns,
            values,
            ..Self::default()
        }
    }

    pub(super) fn axes(&self) -> Axes<'_> {
        Axes {
            x: Axis::new(self.x_range, Scale::Linear, MAX_AXIS_PIECES, false),
            y: Axis::new(self.y_range, Scale::Linear, MAX_AXIS_PIECES, false),
            x_label: &self.x_label,
            y_label: &self.y_label,
            grid: GridStyle::Framed,
        }
    }

    pub(super) fn bar(&self) -> ColourBar<'_> {
        ColourBar::new(&self.values, self.value_range, &self.value_label)
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, area: &Area) {
        let (axes, bar) = (self.axes(), self.bar());
        axes.draw(canvas, area);
        let values = self.values.chunks(self.columns.max(1)).rev().flatten();
        let picture = bar.picture(self.rows(), self.columns, values);
        canvas.shapes.push(area.filled(picture));
        self.draw_contours(canvas, &axes, area);
        self.overlays
            .iter()
            .for_each(|overlay| overlay.kind.draw(canvas, &axes, area));
        axes.draw_frame(canvas, area);
        bar.draw(canvas, area);
    }

    fn draw_contours(&self, canvas: &mut Canvas, axes: &Axes<'_>, area: &Area) {
        let (dx, dy) = (
            self.x_range.1 - self.x_range.0,
            self.y_range.1 - self.y_range.0,
        );
        let (columns, rows) = (self.columns as f64, self.rows() as f64);
        let place = |p: (f64, f64)| {
            (
                self.x_range.0 + dx * (p.0 + 0.5) / columns,
                self.y_range.0 + dy * (p.1 + 0.5) / rows,
            )
        };
        for level in &self.contours {
            for line in contours(&self.values, self.columns, *level) {
                let points: Vec<Point> = line
                    .into_iter()
                    .map(place)
                    .map(|p| axes.place(area, p.0, p.1))
                    .collect();
                canvas.line(simplified(&points, 0.12), Stroke::solid(Colour::WHITE, 0.9));
            }
        }
    }

    /// What there is to see, in words.
    pub(super) fn describe(&self) -> String {
        let best = (0..self.values.len()).filter(|i| self.values[*i].is_finite());
        let best = best.max_by(|a, b| self.values[*a].total_cmp(&self.values[*b]));
        let mut text = format!(
            "{}: {} against {} and {}",
            self.title, self.value_label, self.x_label, self.y_label
        );
        if let Some(i) = best {
            let share = |range: (f64, f64), i: usize, of: usize| {
                range.0 + (range.1 - range.0) * (i as f64 + 0.5) / of as f64
            };
            let x = share(self.x_range, i % self.columns, self.columns);
            let y = share(self.y_range, i / self.columns, self.rows());
            text.push_str(&format!(
                ", largest ({:.3}) at ({x:.2}, {y:.2})",
                self.values[i]
            ));
        }
        text + "."
    }
}
