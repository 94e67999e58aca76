//! Pictures in another size, with the filters that networks were trained with: as Pillow and torchvision resize.
//!
//! ```text
//! s = n / m, r = max(s, 1)              from n pixels in a row to m
//! c = (i + 1/2) s                       where new pixel i stands
//! w_j = f((j + 1/2 - c) / r) / Σ w      weight of old pixel j, for |j + 1/2 - c| < r · support, by half pixels
//! bilinear  f(x) = 1 - |x|                                                 support 1
//! bicubic   f(x) = 3/2 |x|³ - 5/2 |x|² + 1  up to 1, -1/2 |x|³ + 5/2 |x|² - 4 |x| + 2  up to 2
//! ```
//!
//! First rows, then columns, each rounded to 8 bits; only what is cut out is computed.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::media::images::Bitmap;

/// How pixels are mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Filter {
    Bilinear,
    Bicubic,
}

impl Filter {
    fn support(self) -> f64 {
        match self {
            Filter::Bilinear => 1.0,
            Filter::Bicubic => 2.0,
        }
    }

    fn at(self, x: f64) -> f64 {
        let x = x.abs();
        match self {
            Filter::Bilinear => (1.0 - x).max(0.0),
            Filter::Bicubic if x < 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
            Filter::Bicubic if x < 2.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
            Filter::Bicubic => 0.0,
        }
    }

    /// For each new pixel of a range the first old one that counts, and the weights from there on.
    fn weights(self, n: usize, m: usize, range: Range<usize>) -> Vec<(usize, Vec<f64>)> {
        let scale = n as f64 / m as f64;
        let spread = scale.max(1.0);
        let reach = self.support() * spread;
        range
            .map(|i| {
                let center = (i as f64 + 0.5) * scale;
                let first = (center - reach + 0.5).max(0.0) as usize;
                let end = ((center + reach + 0.5) as usize).min(n).max(first + 1);
                let mut weights: Vec<f64> = (first..end)
                    .map(|j| self.at((j as f64 + 0.5 - center) / spread))
                    .collect();
                let sum: f64 = weights.iter().sum();
                weights.iter_mut().for_each(|weight| *weight /= sum);
                (first, weights)
            })
            .collect()
    }
}

/// The part (rows, columns) of a picture whose size would be `height` x `width`, as red, green and blue.
///
/// # Panics
/// If the part reaches beyond that size.
pub(crate) fn part(
    bitmap: &Bitmap,
    filter: Filter,
    (height, width): (usize, usize),
    (rows, columns): (Range<usize>, Range<usize>),
) -> Vec<u8> {
    assert!(
        rows.end <= height && columns.end <= width,
        "a part lies inside"
    );
    let (old_height, old_width) = (bitmap.height as usize, bitmap.width as usize);
    let line = 3 * columns.len();
    let across = filter.weights(old_width, width, columns);
    let down = filter.weights(old_height, height, rows);
    let used = down.iter().map(|(first, _)| *first).min().unwrap_or(0)
        ..down
            .iter()
            .map(|(first, weights)| first + weights.len())
            .max()
            .unwrap_or(0);
    let mut narrow = Vec::with_capacity(line * used.len());
    for row in bitmap
        .rgb
        .chunks(3 * old_width)
        .skip(used.start)
        .take(used.len())
    {
        for (first, weights) in &across {
            narrow
                .extend((0..3).map(|channel| {
                    mixed(weights, row.iter().skip(3 * first + channel).step_by(3))
                }));
        }
    }
    let mut made = Vec::with_capacity(line * down.len());
    for (first, weights) in &down {
        let start = (first - used.start) * line;
        made.extend(
            (0..line).map(|at| mixed(weights, narrow.iter().skip(start + at).step_by(line))),
        );
    }
    made
}

fn mixed<'a>(weights: &[f64], values: impl Iterator<Item = &'a u8>) -> u8 {
    let sum: f64 = weights
        .iter()
        .zip(values)
        .map(|(weight, value)| weight * f64::from(*value))
        .sum();
    (sum + 0.5).floor().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(values: &[u8]) -> Bitmap {
        Bitmap {
            width: values.len() as u32,
            height: 1,
            rgb: values.iter().flat_map(|value| [*value; 3]).collect(),
        }
    }

    fn row(values: &[u8], filter: Filter, width: usize, columns: Range<usize>) -> Vec<u8> {
        part(&grey(values), filter, (1, width), (0..1, columns))
            .chunks(3)
            .map(|pixel| pixel[0])
            .collect()
    }

    #[test]
    fn rows_by_hand() {
        // Two to four, linear: new pixels stand at 1/4, 3/4, 5/4, 7/4; those at the rim have one neighbour only.
        assert_eq!(row(&[0, 80], Filter::Bilinear, 4, 0..4), [0, 20, 60, 80]);
        // Four to two: the filter is twice as wide. Pixel 0 stands at 1: weights 3/4, 3/4, 1/4 of old 0, 1, 2 (sum 7/4).
        assert_eq!(row(&[70, 70, 0, 0], Filter::Bilinear, 2, 0..2), [60, 10]);
        // Of the same size nothing changes, whatever the filter.
        assert_eq!(row(&[3, 200, 7], Filter::Bicubic, 3, 0..3), [3, 200, 7]);
        // Cubic, two to four: pixel 1 stands at 3/4, weights f(1/4) = 0.8671875 and f(3/4) = 0.2265625 of sum 1.09375.
        assert_eq!(row(&[0, 175], Filter::Bicubic, 4, 1..2), [36]);
        assert_eq!(row(&[9, 9, 9, 9, 9], Filter::Bicubic, 3, 0..3), [9, 9, 9]);
    }

    #[test]
    fn a_part_is_what_the_whole_has_there() {
        let rgb: Vec<u8> = (0..3 * 7 * 5).map(|at| (at * 37 % 251) as u8).collect();
        let bitmap = Bitmap {
            width: 7,
            height: 5,
            rgb,
        };
        for filter in [Filter::Bilinear, Filter::Bicubic] {
            for (height, width) in [(3, 4), (11, 9)] {
                let whole = part(&bitmap, filter, (height, width), (0..height, 0..width));
                let cut = part(&bitmap, filter, (height, width), (1..3, 2..4));
                let expected: Vec<u8> = (1..3)
                    .flat_map(|y| whole[3 * (y * width + 2)..3 * (y * width + 4)].to_vec())
                    .collect();
                assert_eq!(cut, expected);
            }
        }
    }
}
