//! One picture of everything: contestants down, pools across, in every cell the ratio of error areas to the reference.
//!
//! Colours are mixed on a logarithmic scale, so that a half and a double are equally strong: green below 1, orange above;
//! the best of a pool is set bold in a frame.

use dial_plot::chart::{Anchor, Canvas, Colour, Point, Shape, Stroke, Text, Weight, font};
use dial_plot::colours::{GREEN, ORANGE, mix};
use dial_plot::words::Listed;

const CELL: Point = (38.0, 21.0);
const SIZE: f64 = 12.0;
const PAD: f64 = 16.0;
/// Between the means and the pools.
const GAP: f64 = 10.0;
/// The ratio at which colours are full.
const FULL_COLOUR_RATIO: f64 = 2.0;

const NOTE: &str = "1 is the reference, smaller is better; in a frame: the best of a pool.";

/// The picture: a row of `ratios` for each of `names`, a column for each of `pools`, and the means in front.
pub fn overview(
    title: &str,
    names: &[&str],
    pools: &[&str],
    ratios: &[Vec<f64>],
    means: &[f64],
) -> Canvas {
    let widest = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| font::width(text, SIZE))
            .fold(0.0, f64::max)
    };
    let left = PAD + widest(names) + 10.0;
    let first = left + CELL.0 + GAP;
    let top = PAD + 34.0 + widest(pools);
    let words = (font::width(title, 17.0) * 1.06).max(font::width(NOTE, SIZE));
    let width = (first + CELL.0 * pools.len() as f64 + PAD).max(PAD * 2.0 + words);
    let mut canvas = Canvas::new(
        width.ceil(),
        (top + CELL.1 * names.len() as f64 + 34.0).ceil(),
    );
    canvas.title = title.to_string();
    canvas.description = describe(names, means);
    canvas.text(Text {
        weight: Weight::Bold,
        ..Text::new(title, (PAD, PAD + 13.0), 17.0)
    });
    for (x, name) in (0..)
        .map(|i| first + CELL.0 * f64::from(i))
        .zip(pools)
        .chain([(left, &"mean")])
    {
        let at = (x + CELL.0 / 2.0 + SIZE * 0.36, top - 6.0);
        let weight = if *name == "mean" {
            Weight::Bold
        } else {
            Weight::Regular
        };
        canvas.text(Text {
            upward: true,
            weight,
            colour: Colour::MUTED,
            ..Text::new(*name, at, SIZE)
        });
    }
    let best: Vec<f64> = (0..pools.len())
        .map(|pool| smallest(ratios.iter().map(|row| row[pool])))
        .collect();
    for (row, name) in names.iter().enumerate() {
        let y = top + CELL.1 * row as f64;
        let base = y + CELL.1 / 2.0 + SIZE * 0.36;
        let weight = if *name == super::contestants::AUTO {
            Weight::Bold
        } else {
            Weight::Regular
        };
        canvas.text(Text {
            anchor: Anchor::End,
            weight,
            ..Text::new(*name, (left - 8.0, base), SIZE)
        });
        cell(
            &mut canvas,
            (left, y),
            means[row],
            means[row] == smallest(means.iter().copied()),
        );
        for (pool, ratio) in ratios[row].iter().enumerate() {
            cell(
                &mut canvas,
                (first + CELL.0 * pool as f64, y),
                *ratio,
                *ratio == best[pool],
            );
        }
    }
    let at = (PAD, top + CELL.1 * names.len() as f64 + 20.0);
    canvas.text(Text {
        colour: Colour::MUTED,
        ..Text::new(NOTE, at, SIZE)
    });
    canvas
}

fn smallest(values: impl Iterator<Item = f64>) -> f64 {
    values
        .filter(|value| value.is_finite())
        .fold(f64::INFINITY, f64::min)
}

/// One ratio as a coloured cell.
fn cell(canvas: &mut Canvas, at: Point, ratio: f64, best: bool) {
    let inner = (CELL.0 - 1.0, CELL.1 - 1.0);
    canvas.shapes.push(Shape::Rectangle {
        at,
        size: inner,
        fill: colour(ratio),
    });
    if !ratio.is_finite() {
        return;
    }
    let places = if ratio >= 9.95 { 0 } else { 2 };
    let content = format!("{ratio:.places$}");
    let middle = (at.0 + inner.0 / 2.0, at.1 + inner.1 / 2.0 + SIZE * 0.36);
    let weight = if best { Weight::Bold } else { Weight::Regular };
    canvas.text(Text {
        anchor: Anchor::Middle,
        weight,
        ..Text::new(content, middle, SIZE - 1.0)
    });
    if best {
        let (right, bottom) = (at.0 + inner.0 - 0.5, at.1 + inner.1 - 0.5);
        let corners = [
            (at.0 + 0.5, at.1 + 0.5),
            (right, at.1 + 0.5),
            (right, bottom),
            (at.0 + 0.5, bottom),
        ];
        let around = corners.into_iter().chain([corners[0]]).collect();
        canvas.line(around, Stroke::solid(Colour::INK, 1.2));
    }
}

/// White at 1, full green at a half and below, full orange at the double and above; grey where there is none.
fn colour(ratio: f64) -> Colour {
    if !ratio.is_finite() {
        return Colour::GRID;
    }
    let strength = (libm::log(ratio.max(1e-3)) / libm::log(FULL_COLOUR_RATIO)).clamp(-1.0, 1.0);
    let full = if strength < 0.0 { GREEN } else { ORANGE };
    mix(Colour::WHITE, full, 0.75 * strength.abs())
}

fn describe(names: &[&str], means: &[f64]) -> String {
    let one = |(name, mean): (&&str, &f64)| format!("{name} {mean:.2}");
    format!(
        "Mean ratios of error areas: {}.",
        names.iter().zip(means).map(one).joined(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_of_one_pool_has_room_for_its_note() {
        let canvas = overview("t", &["a"], &["p"], &[vec![1.0]], &[1.0]);
        assert!(
            canvas.width >= PAD + font::width(NOTE, SIZE),
            "{}",
            canvas.width
        );
    }
}
