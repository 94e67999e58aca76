//! Pictures: grey images of single items, images of few colours (heat maps, maps of classes), and small line plots
//! of rows that are no images.

use crate::chart::{Canvas, Colour, Shape, Stroke};

/// A grey image, row by row from the top left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GreyPicture {
    /// Number of rows.
    pub height: usize,
    /// Number of columns.
    pub width: usize,
    /// `height * width` values; missing ones count as `lowest`.
    pub values: Vec<f64>,
    /// The value drawn black.
    pub lowest: f64,
    /// The value drawn white.
    pub highest: f64,
}

impl GreyPicture {
    /// A picture whose smallest finite value is black and whose largest is white.
    pub fn new(height: usize, width: usize, values: Vec<f64>) -> Self {
        let finite = || values.iter().copied().filter(|v| v.is_finite());
        let lowest = finite().min_by(f64::total_cmp).unwrap_or(0.0);
        let highest = finite().max_by(f64::total_cmp).unwrap_or(0.0);
        Self {
            height,
            width,
            values,
            lowest,
            highest,
        }
    }

    /// The pixels, 0 for black to 255 for white, each `height * width` row by row.
    ///
    /// Values beyond the ends are cut off, what is not a number is black, and a picture without contrast
    /// (`highest` not above `lowest`) is middle grey.
    pub fn bytes(&self) -> Vec<u8> {
        let span = self.highest - self.lowest;
        let grey = |value: f64| match span > 0.0 && span.is_finite() {
            true => (255.0 * (value - self.lowest) / span)
                .clamp(0.0, 255.0)
                .round() as u8,
            false => 128,
        };
        let count = self.height.saturating_mul(self.width);
        (0..count)
            .map(|i| grey(self.values.get(i).copied().unwrap_or(self.lowest)))
            .collect()
    }

    /// The picture as a PNG file, each value a square of `factor` by `factor` equal pixels.
    ///
    /// A picture without rows or columns becomes one white pixel.
    pub fn to_png(&self, factor: usize) -> Vec<u8> {
        let factor = factor.max(1);
        if self.height == 0 || self.width == 0 {
            return encode(1, 1, &[255], None);
        }
        let bytes = self.bytes();
        let mut large = Vec::with_capacity(bytes.len() * factor * factor);
        for row in bytes.chunks(self.width) {
            let stretched: Vec<u8> = row
                .iter()
                .flat_map(|grey| std::iter::repeat_n(*grey, factor))
                .collect();
            for _ in 0..factor {
                large.extend_from_slice(&stretched);
            }
        }
        encode(self.width * factor, self.height * factor, &large, None)
    }
}

/// A picture of at most 256 colours, row by row from the top left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexedPicture {
    /// Number of rows.
    pub height: usize,
    /// Number of columns.
    pub width: usize,
    /// The colours.
    pub palette: Vec<Colour>,
    /// For each of the `height * width` pixels the number of its colour; what has none is white.
    pub numbers: Vec<u8>,
}

impl IndexedPicture {
    /// The colours of the pixels, row by row.
    pub fn pixels(&self) -> impl Iterator<Item = Colour> {
        let count = self.height.saturating_mul(self.width);
        let colour = |i: usize| {
            self.numbers
                .get(i)
                .and_then(|number| self.palette.get(usize::from(*number)))
        };
        (0..count).map(move |i| colour(i).copied().unwrap_or(Colour::WHITE))
    }

    /// The picture as a PNG file; one without rows or columns becomes one white pixel.
    pub fn to_png(&self) -> Vec<u8> {
        let count = self.height.saturating_mul(self.width);
        let mut palette: Vec<Colour> = self.palette.iter().copied().take(255).collect();
        palette.push(Colour::WHITE);
        let white = (palette.len() - 1) as u8;
        let number = |i: usize| self.numbers.get(i).copied().unwrap_or(white).min(white);
        if count == 0 {
            return encode(1, 1, &[white], Some(&palette));
        }
        encode(
            self.width,
            self.height,
            &(0..count).map(number).collect::<Vec<u8>>(),
            Some(&palette),
        )
    }
}

/// Writes an eight-bit PNG: grey, or the numbers of colours in a palette.
fn encode(width: usize, height: usize, pixels: &[u8], palette: Option<&[Colour]>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width as u32, height as u32);
    encoder.set_color(if palette.is_some() {
        png::ColorType::Indexed
    } else {
        png::ColorType::Grayscale
    });
    if let Some(palette) = palette {
        encoder.set_palette(
            palette
                .iter()
                .flat_map(|c| [c.0, c.1, c.2])
                .collect::<Vec<u8>>(),
        );
        encoder.set_compression(png::Compression::High);
        encoder.set_filter(png::Filter::Adaptive);
    }
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().expect("the sides are not zero");
    writer
        .write_image_data(pixels)
        .expect("writing to memory cannot fail");
    drop(writer);
    out
}

/// A small line plot of a row of features, for items that are no images.
///
/// The row spans the whole width and its own range the whole height; a thin line marks zero where it is in range.
/// Values that are not finite leave gaps.
pub fn sparkline(row: &[f64], width: f64, height: f64) -> Canvas {
    let mut canvas = Canvas::new(width, height);
    canvas.title = format!("{} feature values", row.len());
    let finite = || row.iter().copied().filter(|v| v.is_finite());
    let (Some(low), Some(high)) = (
        finite().min_by(f64::total_cmp),
        finite().max_by(f64::total_cmp),
    ) else {
        return canvas;
    };
    let pad = (0.08 * height.min(width)).max(2.0);
    let step = if row.len() > 1 {
        (width - 2.0 * pad) / (row.len() - 1) as f64
    } else {
        0.0
    };
    let share = |value: f64| {
        if high > low {
            (value - low) / (high - low)
        } else {
            0.5
        }
    };
    let y = |value: f64| height - pad - share(value) * (height - 2.0 * pad);
    if low < 0.0 && high > 0.0 {
        canvas.line(
            vec![(pad, y(0.0)), (width - pad, y(0.0))],
            Stroke::solid(Colour::GRID, 1.0),
        );
    }
    let at = |(i, value): (usize, &f64)| (pad + step * i as f64, y(*value));
    let points: Vec<_> = row.iter().enumerate().map(at).collect();
    for run in points
        .split(|p| !p.1.is_finite())
        .filter(|run| !run.is_empty())
    {
        draw_run(&mut canvas, run);
    }
    canvas
}

/// A stretch without gaps: a line, or a dot where it is a single value.
fn draw_run(canvas: &mut Canvas, run: &[(f64, f64)]) {
    let blue = Colour(0, 114, 178);
    match run {
        [single] => canvas.shapes.push(Shape::Circle {
            at: *single,
            radius: 1.8,
            fill: blue,
        }),
        _ => canvas.line(run.to_vec(), Stroke::solid(blue, 1.5)),
    }
}
