//! The bar beside a panel that says which colour is which value.

use super::axes::{Area, LABEL_SIZE, TICK_SIZE, muted, widest};
use super::range::extent;
use crate::chart::{Anchor, Canvas, Colour, Shape, Stroke, Text, font};
use crate::colours::{self, VALUE_COLOURS};
use crate::picture::IndexedPicture;
use crate::ticks::{Ticks, ticks};

const BAR_GAP: f64 = 12.0;
const BAR_WIDTH: f64 = 13.0;

/// A colour bar with its ends and ticks.
pub(super) struct ColourBar<'a> {
    pub range: (f64, f64),
    ticks: Ticks,
    label: &'a str,
}

impl<'a> ColourBar<'a> {
    /// The bar for some values; its ends are the given ones, or the smallest and largest value.
    pub fn new(values: &[f64], range: Option<(f64, f64)>, label: &'a str) -> Self {
        let range = range.or_else(|| extent(values)).unwrap_or((0.0, 1.0));
        Self {
            range,
            ticks: ticks(range.0, range.1, 6, false),
            label,
        }
    }

    /// Room it takes right of the area.
    pub fn width(&self) -> f64 {
        BAR_GAP
            + BAR_WIDTH
            + 8.0
            + widest(&self.ticks)
            + if self.label.is_empty() {
                0.0
            } else {
                LABEL_SIZE + 7.0
            }
    }

    /// Values in their colours, row by row from the top left.
    pub fn picture<'v>(
        &self,
        height: usize,
        width: usize,
        values: impl IntoIterator<Item = &'v f64>,
    ) -> IndexedPicture {
        let (low, high) = self.range;
        let number = |value: &f64| colours::number(*value, low, high);
        IndexedPicture {
            height,
            width,
            palette: colours::palette(),
            numbers: values.into_iter().map(number).collect(),
        }
    }

    pub fn draw(&self, canvas: &mut Canvas, area: &Area) {
        let (left, right) = (area.right() + BAR_GAP, area.right() + BAR_GAP + BAR_WIDTH);
        let numbers = (0..VALUE_COLOURS).rev().map(|i| i as u8).collect();
        let picture = IndexedPicture {
            height: VALUE_COLOURS,
            width: 1,
            palette: colours::palette(),
            numbers,
        };
        canvas.shapes.push(Shape::Colours {
            at: (left, area.top),
            size: (BAR_WIDTH, area.height),
            picture,
        });
        for (value, label) in self.ticks.values.iter().zip(&self.ticks.labels) {
            let y =
                area.bottom() - area.height * colours::share(*value, self.range.0, self.range.1);
            canvas.line(
                vec![(right, y), (right + 4.0, y)],
                Stroke::solid(Colour::AXIS, 1.0),
            );
            canvas.text(muted(
                label,
                (right + 7.0, y + TICK_SIZE * 0.35),
                Anchor::Start,
            ));
        }
        let at = (area.right() + self.width(), area.top + area.height / 2.0);
        let label = font::fit(self.label, LABEL_SIZE, area.height);
        canvas.text(Text {
            anchor: Anchor::Middle,
            upward: true,
            ..Text::new(label, at, LABEL_SIZE)
        });
    }
}
