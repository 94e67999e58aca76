//! Pictures in another size: means over the area that a new pixel covers, straight lines between pixels of a small one.
//!
//! ```text
//! smaller: pixel i of m is the mean over [i n / m, (i + 1) n / m) of n pixels, those at the rim by their share
//! larger:  pixel i stands at x = (i + 1/2) n / m - 1/2, between floor x and floor x + 1
//! ```
//!
//! Both ways a row of weights per new pixel, for rows and columns apart; sums are taken in one order.

use crate::media::images::Bitmap;

/// For each new pixel the first old one that counts, and the weights from there on, which sum to 1.
pub(crate) struct Weights(Vec<(usize, Vec<f32>)>);

impl Weights {
    /// From n pixels in a row to m, both at least 1.
    pub fn new(n: usize, m: usize) -> Weights {
        Weights(
            (0..m)
                .map(|i| {
                    if n > m {
                        covered(i, n, m)
                    } else {
                        between(i, n, m)
                    }
                })
                .collect(),
        )
    }

    /// One row of `channels` interleaved values in its new width, appended to `out`.
    fn row(&self, values: &[f32], channels: usize, out: &mut Vec<f32>) {
        for (first, weights) in &self.0 {
            for channel in 0..channels {
                let old = values
                    .iter()
                    .skip(first * channels + channel)
                    .step_by(channels);
                out.push(
                    weights
                        .iter()
                        .zip(old)
                        .map(|(weight, value)| weight * value)
                        .sum(),
                );
            }
        }
    }
}

fn covered(i: usize, n: usize, m: usize) -> (usize, Vec<f32>) {
    // In units of 1 / m of an old pixel: this one covers [i n, (i + 1) n), old pixel j covers [j m, (j + 1) m).
    let (from, to) = (i * n, (i + 1) * n);
    let share = |j: usize| (to.min((j + 1) * m) - from.max(j * m)) as f32 / n as f32;
    (from / m, (from / m..to.div_ceil(m)).map(share).collect())
}

fn between(i: usize, n: usize, m: usize) -> (usize, Vec<f32>) {
    let x = ((i as f64 + 0.5) * n as f64 / m as f64 - 0.5).clamp(0.0, (n - 1) as f64);
    let share = (x - x.floor()) as f32;
    (
        x as usize,
        if share > 0.0 {
            vec![1.0 - share, share]
        } else {
            vec![1.0]
        },
    )
}

/// Rows of `channels` interleaved values, `old` high, in a new size. `row(y)` gives the old row y.
pub(crate) fn resized_rows<'a>(
    row: impl Fn(usize, &mut Vec<f32>) + 'a,
    (old_width, old_height): (usize, usize),
    (width, height): (usize, usize),
    channels: usize,
) -> Vec<f32> {
    let (across, down) = (
        Weights::new(old_width, width),
        Weights::new(old_height, height),
    );
    let line = width * channels;
    let mut out = Vec::with_capacity(line * height);
    // The last old rows in their new width: neighbouring new rows share at most one of them, or two when enlarging.
    let mut ready: Vec<(usize, Vec<f32>)> = Vec::new();
    let mut old = Vec::new();
    for (first, weights) in &down.0 {
        ready.retain(|(y, _)| y >= first);
        let mut sums = vec![0f32; line];
        for (y, weight) in (*first..).zip(weights) {
            if !ready.iter().any(|(known, _)| *known == y) {
                old.clear();
                row(y, &mut old);
                let mut fresh = Vec::with_capacity(line);
                across.row(&old, channels, &mut fresh);
                ready.push((y, fresh));
                if ready.len() > 2 {
                    ready.remove(0);
                }
            }
            let values = ready
                .iter()
                .find(|(known, _)| *known == y)
                .map_or(&[][..], |(_, values)| values);
            sums.iter_mut()
                .zip(values)
                .for_each(|(sum, value)| *sum += weight * value);
        }
        out.extend(sums);
    }
    out
}

/// Red, green and blue of a bitmap in a new size, from 0 to 255.
pub(crate) fn resized(bitmap: &Bitmap, width: usize, height: usize) -> Vec<f32> {
    let line = bitmap.width as usize * 3;
    let row = |y: usize, out: &mut Vec<f32>| {
        out.extend(
            bitmap
                .rgb
                .iter()
                .skip(y * line)
                .take(line)
                .map(|&value| f32::from(value)),
        );
    };
    resized_rows(
        row,
        (bitmap.width as usize, bitmap.height as usize),
        (width, height),
        3,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(values: &[f32], from: (usize, usize), to: (usize, usize)) -> Vec<f32> {
        resized_rows(
            |y, out| out.extend(&values[y * from.0..(y + 1) * from.0]),
            from,
            to,
            1,
        )
    }

    #[test]
    fn areas_and_lines_by_hand() {
        // Five pixels to two: each new one covers two and a half, so 2/5, 2/5, 1/5.
        let row = grey(&[1.0, 2.0, 3.0, 4.0, 5.0], (5, 1), (2, 1));
        assert!(
            (row[0] - 9.0 / 5.0).abs() < 1e-6 && (row[1] - 21.0 / 5.0).abs() < 1e-6,
            "{row:?}"
        );
        // Two to four stand at -1/4, 1/4, 3/4, 5/4, those outside held at the rim.
        assert_eq!(grey(&[0.0, 8.0], (1, 2), (1, 4)), [0.0, 2.0, 6.0, 8.0]);
        assert_eq!(grey(&[7.0], (1, 1), (2, 3)), [7.0; 6]);
        assert_eq!(grey(&[1.0, 2.0, 3.0, 6.0], (2, 2), (1, 1)), [3.0]);
    }

    #[test]
    fn a_bitmap_keeps_its_channels_apart() {
        let bitmap = Bitmap {
            width: 2,
            height: 1,
            rgb: vec![10, 20, 30, 20, 40, 90],
        };
        assert_eq!(resized(&bitmap, 1, 1), [15.0, 30.0, 60.0]);
        let small = bitmap.clone().shrunk(1);
        assert_eq!(
            (small.width, small.height, small.rgb),
            (1, 1, vec![15, 30, 60])
        );
        assert_eq!(bitmap.clone().shrunk(2), bitmap);
    }
}
