//! Contour lines by marching squares: where a function given on a grid crosses a level, linear along each edge.
//!
//! A square with two opposite corners above is cut as its mean says. Pieces are joined into lines by the edges of the
//! grid they share, so that a contour is one line and dashes run through.

use std::collections::BTreeMap;

use crate::chart::Point;

/// An edge of the grid: its lower left node, and whether it goes upward.
type Edge = (usize, usize, bool);

/// The lines along which `values` (row by row, `columns` to a row) cross a level; positions count nodes.
pub fn contours(values: &[f64], columns: usize, level: f64) -> Vec<Vec<Point>> {
    let rows = values.len() / columns.max(1);
    let mut next: BTreeMap<Edge, Vec<Edge>> = BTreeMap::new();
    for row in 1..rows {
        for column in 1..columns {
            for (a, b) in pieces(values, columns, (column - 1, row - 1), level)
                .into_iter()
                .flatten()
            {
                next.entry(a).or_default().push(b);
                next.entry(b).or_default().push(a);
            }
        }
    }
    let mut lines = Vec::new();
    // Open lines from their ends first, then what is left: closed ones.
    for open in [true, false] {
        let starts: Vec<Edge> = next.keys().copied().collect();
        for start in starts {
            let links = next[&start].len();
            if links > 0 && (links == 1 || !open) {
                let line = follow(&mut next, start);
                lines.push(
                    line.into_iter()
                        .map(|edge| crossing(values, columns, edge, level))
                        .collect(),
                );
            }
        }
    }
    lines
}

/// Walks along a line from an edge, taking out the pieces it uses.
fn follow(next: &mut BTreeMap<Edge, Vec<Edge>>, start: Edge) -> Vec<Edge> {
    let mut line = vec![start];
    let mut at = start;
    while let Some(to) = next.get_mut(&at).and_then(Vec::pop) {
        if let Some(back) = next.get_mut(&to)
            && let Some(place) = back.iter().position(|edge| *edge == at)
        {
            back.remove(place);
        }
        line.push(to);
        at = to;
    }
    line
}

/// The pieces of the contour in the square above and right of a node.
fn pieces(
    values: &[f64],
    columns: usize,
    (x, y): (usize, usize),
    level: f64,
) -> [Option<(Edge, Edge)>; 2] {
    let at = |dx: usize, dy: usize| values[(y + dy) * columns + x + dx];
    let corners = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
    if corners.iter().any(|v| !v.is_finite()) {
        return [None, None];
    }
    let (bottom, right, top, left) = (
        (x, y, false),
        (x + 1, y, true),
        (x, y + 1, false),
        (x, y, true),
    );
    let above = corners.map(|v| v > level);
    let one = |a, b| [Some((a, b)), None];
    match above {
        [false, false, false, false] | [true, true, true, true] => [None, None],
        [true, false, false, false] | [false, true, true, true] => one(left, bottom),
        [false, true, false, false] | [true, false, true, true] => one(bottom, right),
        [false, false, true, false] | [true, true, false, true] => one(right, top),
        [false, false, false, true] | [true, true, true, false] => one(top, left),
        [true, true, false, false] | [false, false, true, true] => one(left, right),
        [true, false, false, true] | [false, true, true, false] => one(bottom, top),
        [true, false, true, false] | [false, true, false, true] => {
            let middle = corners.iter().sum::<f64>() / 4.0 > level;
            match middle == above[0] {
                true => [Some((left, top)), Some((bottom, right))],
                false => [Some((left, bottom)), Some((right, top))],
            }
        }
    }
}

/// Where the level lies on an edge.
fn crossing(values: &[f64], columns: usize, (x, y, upward): Edge, level: f64) -> Point {
    let first = values[y * columns + x];
    let second = if upward {
        values[(y + 1) * columns + x]
    } else {
        values[y * columns + x + 1]
    };
    let share = ((level - first) / (second - first)).clamp(0.0, 1.0);
    let (x, y) = (x as f64, y as f64);
    if upward {
        (x, y + share)
    } else {
        (x + share, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_one_closed_line() {
        let radius = |i: usize| {
            let (x, y) = ((i % 41) as f64 - 20.0, (i / 41) as f64 - 20.0);
            (x * x + y * y).sqrt()
        };
        let values: Vec<f64> = (0..41 * 41).map(radius).collect();
        let lines = contours(&values, 41, 12.5);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        for (x, y) in &lines[0] {
            let r = ((x - 20.0) * (x - 20.0) + (y - 20.0) * (y - 20.0)).sqrt();
            assert!((r - 12.5).abs() < 0.02, "{r}");
        }
    }

    #[test]
    fn a_slope_is_one_open_line_and_a_saddle_two() {
        let slope: Vec<f64> = (0..30).map(|i| f64::from(i % 6)).collect();
        let lines = contours(&slope, 6, 2.25);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].len() == 5 && lines[0].iter().all(|p| p.0 == 2.25));
        assert_eq!(contours(&[1.0, 0.0, 0.0, 1.0], 2, 0.5).len(), 2);
        assert!(contours(&[], 0, 0.5).is_empty() && contours(&[f64::NAN; 4], 2, 0.5).is_empty());
    }
}
