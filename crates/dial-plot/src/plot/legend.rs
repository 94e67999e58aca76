//! Names of lines, classes and overlays: at the right ends of lines where there is one chart, stacked beside a single
//! map, above the panels where there are several.

use super::LineChart;
use super::axes::Area;
use super::grid::distinct;
use super::overlay::OverlayKind;
use super::panel::Frame;
use super::style::Style;
use crate::chart::{Canvas, Colour, Shape, Stroke, Text, font};

const NAME_SIZE: f64 = 12.5;
/// Height of a name, with the space below it.
const ROW_HEIGHT: f64 = 19.0;
/// Length of the piece of line shown beside a name.
const SAMPLE_LENGTH: f64 = 30.0;
/// Names are shortened to this many pixels.
const NAME_LIMIT: f64 = 230.0;
/// From the plotting area to the samples of the names beside it.
const LEADER_LENGTH: f64 = 26.0;

/// Width of what is shown beside a name.
fn sample_width(sample: &Sample) -> f64 {
    match sample {
        Sample::Swatch(_) | Sample::Overlay(OverlayKind::Marks { .. }) => 14.0,
        _ => SAMPLE_LENGTH,
    }
}

/// One name of a legend.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub name: String,
    pub sample: Sample,
}

/// What is shown beside a name.
#[derive(Clone, Debug)]
pub(super) enum Sample {
    Line(Style),
    Swatch(Colour),
    Overlay(OverlayKind),
}

/// The entries of lines.
pub(super) fn lines(names: &[String], style: &dyn Fn(&str) -> Style) -> Vec<Entry> {
    names
        .iter()
        .map(|name| Entry {
            name: name.clone(),
            sample: Sample::Line(style(name)),
        })
        .collect()
}

/// Whether a number of names fits beside an area of a height.
pub(super) fn fits_beside(count: usize, height: f64) -> bool {
    count as f64 * ROW_HEIGHT <= height
}

/// Room the names take beside the area.
pub(super) fn width_beside(chart: &LineChart, entries: &[Entry]) -> f64 {
    let widths = entries
        .iter()
        .map(|entry| font::width(&label_in(chart, &entry.name), NAME_SIZE));
    if entries.is_empty() {
        12.0
    } else {
        LEADER_LENGTH + SAMPLE_LENGTH + 8.0 + widths.fold(0.0, f64::max)
    }
}

/// Room a stack of names takes beside a map.
pub(super) fn width_stacked(entries: &[Entry]) -> f64 {
    let width = |entry: &Entry| {
        sample_width(&entry.sample) + 8.0 + font::width(&label(&entry.name), NAME_SIZE)
    };
    14.0 + entries.iter().map(width).fold(0.0, f64::max)
}

/// The name, with a remark where its line has no point at all.
fn label_in(chart: &LineChart, name: &str) -> String {
    let lines = chart.series.iter().filter(|s| s.name == name);
    let mut points = lines.flat_map(|s| s.x.iter().zip(&s.band.mean));
    let remark = if points.any(|(x, y)| x.is_finite() && y.is_finite()) {
        ""
    } else {
        " (no data)"
    };
    label(name) + remark
}

fn label(name: &str) -> String {
    font::fit_middle(name, NAME_SIZE, NAME_LIMIT)
}

fn draw_entry(canvas: &mut Canvas, sample: &Sample, label: String, left: f64, y: f64) {
    let width = sample_width(sample);
    match sample {
        Sample::Line(style) => style.sample(canvas, left, y, width),
        Sample::Overlay(kind) => kind.sample(canvas, left, y, width),
        Sample::Swatch(fill) => {
            canvas.shapes.push(Shape::Rectangle {
                at: (left, y - 7.0),
                size: (width, 14.0),
                fill: *fill,
            });
        }
    }
    canvas.text(Text::new(
        label,
        (left + width + 8.0, y + NAME_SIZE * 0.35),
        NAME_SIZE,
    ));
}

/// Draws names under each other right of an area.
pub(super) fn draw_stacked(canvas: &mut Canvas, entries: &[Entry], area: &Area) {
    for (i, entry) in entries.iter().enumerate() {
        let y = area.top + ROW_HEIGHT * 1.15 * (i as f64 + 0.5);
        draw_entry(
            canvas,
            &entry.sample,
            label(&entry.name),
            area.right() + 14.0,
            y,
        );
    }
}

/// Draws the names beside the area, each as near to the end of its line as the others allow.
pub(super) fn draw_beside(canvas: &mut Canvas, frame: &Frame<'_>, area: &Area, entries: &[Entry]) {
    let names = distinct(&frame.chart.series);
    let ends: Vec<_> = names
        .iter()
        .map(|name| {
            let mut lines = frame.chart.series.iter().filter(|s| s.name == *name);
            lines.find_map(|s| frame.last_point(area, s))
        })
        .collect();
    let wanted: Vec<f64> = ends
        .iter()
        .map(|end| end.map_or(area.bottom(), |p| p.1))
        .collect();
    let places = push_apart(
        &wanted,
        ROW_HEIGHT,
        area.top + NAME_SIZE / 2.0,
        area.bottom() - NAME_SIZE / 2.0,
    );
    for ((entry, end), y) in entries.iter().zip(&ends).zip(places) {
        let left = area.right() + LEADER_LENGTH;
        if let (Sample::Line(style), Some(end)) =
            (&entry.sample, end.filter(|end| end.0 > area.right() - 2.0))
        {
            let leader = vec![(area.right() + 4.0, end.1), (left - 4.0, y)];
            canvas.line(leader, Stroke::solid(style.look.colour, 0.8));
        }
        draw_entry(
            canvas,
            &entry.sample,
            label_in(frame.chart, &entry.name),
            left,
            y,
        );
    }
}

/// Places as near as possible to the `wanted` ones (least squares), `gap` apart, between `top` and `bottom`.
///
/// Less the gaps, places must not decrease: that is isotonic regression, solved by pooling neighbours that
/// would cross.
fn push_apart(wanted: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for (rank, i) in order.iter().enumerate() {
        let mut pool = (wanted[*i] - gap * rank as f64, 1);
        while let Some(&(mean, count)) = pools.last().filter(|last| last.0 > pool.0) {
            pools.pop();
            let total = mean * count as f64 + pool.0 * pool.1 as f64;
            pool = (total / (count + pool.1) as f64, count + pool.1);
        }
        pools.push(pool);
    }
    let last = (bottom - gap * wanted.len().saturating_sub(1) as f64).max(top);
    let bases = pools
        .into_iter()
        .flat_map(|(mean, count)| std::iter::repeat_n(mean.clamp(top, last), count));
    let mut places = vec![0.0; wanted.len()];
    for (rank, (i, base)) in order.into_iter().zip(bases).enumerate() {
        places[i] = base + gap * rank as f64;
    }
    places
}

/// Draws the names above the panels, in one row or else in columns; returns where the space below them begins.
pub(super) fn draw_above(canvas: &mut Canvas, entries: &[Entry], left: f64, top: f64) -> f64 {
    if entries.is_empty() {
        return top;
    }
    let labels: Vec<String> = entries.iter().map(|entry| label(&entry.name)).collect();
    let width = |(entry, label): (&Entry, &String)| {
        sample_width(&entry.sample) + 8.0 + font::width(label, NAME_SIZE)
    };
    let widths: Vec<f64> = entries.iter().zip(&labels).map(width).collect();
    let places = arrange(&widths, canvas.width - 2.0 * left);
    for ((entry, label), (x, row)) in entries.iter().zip(labels).zip(&places) {
        draw_entry(
            canvas,
            &entry.sample,
            label,
            left + x,
            top + ROW_HEIGHT * (*row as f64 + 0.5),
        );
    }
    let rows = places.last().map_or(0, |(_, row)| row + 1);
    top + ROW_HEIGHT * rows as f64 + 6.0
}

/// Left end and row of each entry of a width.
fn arrange(widths: &[f64], room: f64) -> Vec<(f64, usize)> {
    const GAP: f64 = 26.0;
    let ends = widths.iter().scan(0.0, |end, width| {
        *end += width + GAP;
        Some(*end)
    });
    if widths.iter().sum::<f64>() + GAP * (widths.len() - 1) as f64 <= room {
        return ends
            .zip(widths)
            .map(|(end, width)| (end - width - GAP, 0))
            .collect();
    }
    let column = widths.iter().copied().fold(0.0, f64::max) + GAP;
    let columns = (((room + GAP) / column).floor() as usize).clamp(1, widths.len());
    (0..widths.len())
        .map(|i| (column * (i % columns) as f64, i / columns))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::push_apart;

    #[test]
    fn names_keep_their_order_and_distance() {
        let places = push_apart(&[50.0, 52.0, 10.0, 51.0], 20.0, 0.0, 100.0);
        assert_eq!(places, [31.0, 71.0, 10.0, 51.0]);
    }

    #[test]
    fn names_stay_between_the_ends() {
        assert_eq!(push_apart(&[99.0, 98.0], 20.0, 0.0, 100.0), [100.0, 80.0]);
        assert_eq!(push_apart(&[-5.0], 20.0, 0.0, 100.0), [0.0]);
        assert!(push_apart(&[], 20.0, 0.0, 100.0).is_empty());
    }
}
