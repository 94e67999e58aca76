//! Ends of axes, and cutting lines and areas at the edge of the plotting area.

use super::axes::Area;
use super::{LineChart, Scale};
use crate::chart::Point;
use crate::ticks;

/// Ends of the horizontal axis, and whether all positions are whole numbers.
pub(super) fn horizontal(chart: &LineChart) -> ((f64, f64), bool) {
    let values: Vec<f64> = chart
        .series
        .iter()
        .flat_map(|s| s.x.iter().copied())
        .filter(|x| x.is_finite())
        .collect();
    let whole = values.iter().all(|x| x.fract() == 0.0);
    if let Some(range) = usable(chart.x_range, chart.x_scale) {
        return (range, whole);
    }
    if chart.x_scale == Scale::Log {
        return (logarithmic(&values), false);
    }
    let Some((low, high)) = extent(&values) else {
        return ((0.0, 1.0), whole);
    };
    let low = if low > 0.0 && low < 0.15 * high {
        0.0
    } else {
        low
    };
    (
        spread(
            low,
            high,
            if whole && high.abs() < 1e6 {
                1.0
            } else {
                tenth(high)
            },
        ),
        whole,
    )
}

/// Ends of the vertical axis, in what it shows: percent where the chart does.
pub(super) fn vertical(chart: &LineChart, most: usize) -> (f64, f64) {
    let scale = if chart.percent { 100.0 } else { 1.0 };
    if let Some((low, high)) = usable(chart.y_range, chart.y_scale) {
        return (low * scale, high * scale);
    }
    let bands = chart.series.iter().map(|s| &s.band);
    let values: Vec<f64> = bands
        .clone()
        .flat_map(|b| [&b.mean, &b.low, &b.high])
        .flatten()
        .map(|v| v * scale)
        .collect();
    if chart.y_scale == Scale::Log {
        return logarithmic(&values);
    }
    let means: Vec<f64> = bands.flat_map(|b| &b.mean).map(|v| v * scale).collect();
    let (Some((low, high)), Some((mean_low, mean_high))) = (extent(&values), extent(&means)) else {
        return (0.0, scale);
    };
    // Shares stay within 0 and 100 %, counts above 0, even where the interval around the mean does not.
    let ceiling = if chart.percent && mean_high <= scale {
        scale
    } else {
        f64::INFINITY
    };
    let floor = if mean_low >= 0.0 {
        0.0
    } else {
        f64::NEG_INFINITY
    };
    let room = if chart.percent { 5.0 } else { tenth(high) };
    let (low, high) = spread(low.clamp(floor, ceiling), high.clamp(floor, ceiling), room);
    let (low, high) = (low.clamp(floor, ceiling), high.clamp(floor, ceiling));
    ticks::round_out(low, high, most)
}

/// A range asked for, if it is one.
fn usable(range: Option<(f64, f64)>, scale: Scale) -> Option<(f64, f64)> {
    let positive = |low: f64| low > 0.0 || scale == Scale::Linear;
    range.filter(|(low, high)| low.is_finite() && high.is_finite() && low < high && positive(*low))
}

/// Ends of a logarithmic axis: round numbers around the positive values.
fn logarithmic(values: &[f64]) -> (f64, f64) {
    let positive: Vec<f64> = values.iter().copied().filter(|v| *v > 0.0).collect();
    let (low, high) = extent(&positive).unwrap_or((1.0, 10.0));
    let (low, high) = ticks::round_out_log(low, high);
    if low < high {
        (low, high)
    } else {
        (low / 10.0, high * 10.0)
    }
}

/// Smallest and largest finite value.
pub(super) fn extent(values: &[f64]) -> Option<(f64, f64)> {
    let finite = || values.iter().copied().filter(|v| v.is_finite());
    Some((
        finite().min_by(f64::total_cmp)?,
        finite().max_by(f64::total_cmp)?,
    ))
}

/// The range itself, or `room` on either side where it is (nearly) a single value.
fn spread(low: f64, high: f64, room: f64) -> (f64, f64) {
    if high - low > 1e-9 * low.abs().max(high.abs()) {
        return (low, high);
    }
    (
        if low >= 0.0 {
            (low - room).max(0.0)
        } else {
            low - room
        },
        high + room,
    )
}

/// A tenth of a value, and something visible for zero.
fn tenth(value: f64) -> f64 {
    if value == 0.0 { 1.0 } else { 0.1 * value.abs() }
}

/// The part of the segment from `a` to `b` inside the area (Liang and Barsky).
pub(super) fn clip_segment(a: Point, b: Point, area: &Area) -> Option<(Point, Point)> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    let sides = [
        (-dx, a.0 - area.left),
        (dx, area.right() - a.0),
        (-dy, a.1 - area.top),
        (dy, area.bottom() - a.1),
    ];
    for (slope, room) in sides {
        // A line along an edge may lie outside of it by rounding.
        if slope == 0.0 && room < -1e-9 {
            return None;
        }
        if slope < 0.0 {
            from = from.max(room / slope);
        } else if slope > 0.0 {
            to = to.min(room / slope);
        }
    }
    (from <= to).then_some((
        (a.0 + from * dx, a.1 + from * dy),
        (a.0 + to * dx, a.1 + to * dy),
    ))
}

/// The pieces of a line that are inside the area.
pub(super) fn clip_line(points: &[Point], area: &Area) -> Vec<Vec<Point>> {
    let mut pieces: Vec<Vec<Point>> = Vec::new();
    for pair in points.windows(2) {
        let Some((a, b)) = clip_segment(pair[0], pair[1], area) else {
            continue;
        };
        match pieces.last_mut() {
            Some(piece) if piece.last() == Some(&a) => piece.push(b),
            _ => pieces.push(vec![a, b]),
        }
    }
    pieces
}

/// The part of a polygon inside the area (Sutherland and Hodgman).
pub(super) fn clip_polygon(points: Vec<Point>, area: &Area) -> Vec<Point> {
    let left = cut(points, &|p| p.0 - area.left);
    let right = cut(left, &|p| area.right() - p.0);
    let top = cut(right, &|p| p.1 - area.top);
    cut(top, &|p| area.bottom() - p.1)
}

/// The part of a polygon where `inside` is not negative.
fn cut(points: Vec<Point>, inside: &dyn Fn(Point) -> f64) -> Vec<Point> {
    let mut out = Vec::with_capacity(points.len() + 4);
    for (i, &b) in points.iter().enumerate() {
        let a = points[(i + points.len() - 1) % points.len()];
        let (da, db) = (inside(a), inside(b));
        if (da < 0.0) != (db < 0.0) {
            let share = da / (da - db);
            out.push((a.0 + share * (b.0 - a.0), a.1 + share * (b.1 - a.1)));
        }
        if db >= 0.0 {
            out.push(b);
        }
    }
    out
}

/// A line without the points that lie within `tolerance` of the straight line between those that are kept (Ramer,
/// Douglas and Peucker). Short lines are left alone.
pub(super) fn simplified(points: &[Point], tolerance: f64) -> Vec<Point> {
    if points.len() <= 60 {
        return points.to_vec();
    }
    let mut keep = vec![false; points.len()];
    (keep[0], keep[points.len() - 1]) = (true, true);
    let mut open = vec![(0, points.len() - 1)];
    while let Some((first, last)) = open.pop() {
        let distance = |i: &usize| off_line(points[*i], points[first], points[last]);
        let farthest = (first + 1..last).max_by(|a, b| distance(a).total_cmp(&distance(b)));
        if let Some(middle) = farthest.filter(|i| distance(i) > tolerance) {
            keep[middle] = true;
            open.extend([(first, middle), (middle, last)]);
        }
    }
    points
        .iter()
        .zip(keep)
        .filter(|(_, keep)| *keep)
        .map(|(point, _)| *point)
        .collect()
}

/// The distance of a point from the segment between two others.
fn off_line(p: Point, a: Point, b: Point) -> f64 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx * dx + dy * dy;
    let along = if length > 0.0 {
        (((p.0 - a.0) * dx + (p.1 - a.1) * dy) / length).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let (x, y) = (p.0 - a.0 - along * dx, p.1 - a.1 - along * dy);
    (x * x + y * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_along_the_edge_is_drawn_and_one_outside_is_not() {
        let area = Area {
            left: 1.0,
            top: 2.0,
            width: 10.0,
            height: 5.0,
        };
        let across = |y: f64| clip_segment((0.0, y), (20.0, y), &area);
        // Above the top by rounding, on it, and visibly above.
        for y in [2.0 - 1e-12, 2.0, 7.0, 7.0 + 1e-12] {
            assert_eq!(across(y), Some(((1.0, y), (11.0, y))));
        }
        assert_eq!((across(1.999), across(7.001)), (None, None));
        assert_eq!(clip_segment((0.0, 3.0), (0.5, 4.0), &area), None);
    }

    #[test]
    fn simplified_lines_stay_within_their_tolerance() {
        let wave: Vec<Point> = (0..3000)
            .map(|i| f64::from(i) * 0.1)
            .map(|x| (x, 40.0 * libm::sin(x / 20.0)))
            .collect();
        let kept = simplified(&wave, 0.1);
        assert!(
            kept.len() < 200 && kept.first() == wave.first() && kept.last() == wave.last(),
            "{}",
            kept.len()
        );
        for p in &wave {
            let near = kept
                .windows(2)
                .map(|pair| off_line(*p, pair[0], pair[1]))
                .fold(f64::INFINITY, f64::min);
            assert!(near <= 0.1, "{p:?}: {near}");
        }
        let closed: Vec<Point> = (0..=200)
            .map(|i| f64::from(i % 200) * 0.0314159)
            .map(|a| (libm::cos(a), libm::sin(a)))
            .collect();
        assert!(
            simplified(&closed, 0.01).len() > 10,
            "a closed line is not a point"
        );
        assert_eq!(simplified(&wave[..60], 1e9).len(), 60);
    }
}
