//! Pictures as networks see them: turned upright, resized, cut from the middle, one plane or one value for each colour.

use super::graph::{Dim, Slot};
use super::runtime::{Input, Numbers};
use super::settings::{Fit, PictureSettings, Sidecars};
use super::tract::Side;
use super::{NEXT, one_at_a_time};
use crate::error::{Fault, Result};
use crate::media::filter;
use crate::media::images::Bitmap;

/// How pictures go into a network.
pub(super) struct PictureInput {
    name: String,
    channels: usize,
    /// Whether colours are the last axis, not the second.
    colours_last: bool,
    pub settings: PictureSettings,
}

impl PictureInput {
    /// For an input of a network, with the sides it is run with.
    pub fn new(
        slot: &Slot,
        sidecars: &Sidecars,
        output: &str,
    ) -> Result<(PictureInput, Vec<Side>), Fault> {
        let dims = slot.dims.as_deref().unwrap_or(&[Dim::Free; 4]);
        one_at_a_time(slot, dims.first())?;
        let colours = |dim: Option<&Dim>| match dim {
            Some(Dim::Fixed(count @ (1 | 3))) => Some(*count),
            _ => None,
        };
        let side = |at: usize| match dims.get(at) {
            Some(Dim::Fixed(side)) => Some(*side),
            _ => None,
        };
        let (channels, colours_last) = match (colours(dims.get(1)), colours(dims.get(3)), side(1)) {
            (Some(count), _, _) => (count, false),
            (None, Some(count), _) => (count, true),
            // Nothing is said: three planes.
            (None, None, None) => (3, false),
            (None, None, Some(count)) => {
                return Err(Fault::format(
                    format!("the network takes {count} colours: its input is {slot}"),
                    NEXT,
                ));
            }
        };
        let first = if colours_last { 1 } else { 2 };
        let settings = sidecars.for_pictures([side(first), side(first + 1)], output)?;
        let [height, width] = settings.size.map(Side::Is);
        let sides = match colours_last {
            true => vec![Side::Is(1), height, width, Side::Is(channels)],
            false => vec![Side::Is(1), Side::Is(channels), height, width],
        };
        Ok((
            PictureInput {
                name: slot.name.clone(),
                channels,
                colours_last,
                settings,
            },
            sides,
        ))
    }

    /// A picture as an input.
    pub fn tensor(&self, bitmap: &Bitmap) -> Input {
        let PictureSettings {
            size: [height, width],
            scale,
            mean,
            std,
            ..
        } = self.settings;
        let rgb = self.fitted(bitmap);
        let value =
            |channel: usize, byte: u8| (f32::from(byte) * scale - mean[channel]) / std[channel];
        let pixel = |pixel: &[u8]| -> [f32; 3] {
            match (self.channels, pixel) {
                (3, [r, g, b]) => [value(0, *r), value(1, *g), value(2, *b)],
                (_, [r, g, b]) => [value(0, luminance(*r, *g, *b)), 0.0, 0.0],
                _ => [0.0; 3],
            }
        };
        let pixels: Vec<[f32; 3]> = rgb.chunks_exact(3).map(pixel).collect();
        let (values, shape) = match self.colours_last {
            true => (
                pixels
                    .iter()
                    .flat_map(|pixel| pixel[..self.channels].to_vec())
                    .collect(),
                vec![1, height, width, self.channels],
            ),
            false => (
                (0..self.channels)
                    .flat_map(|channel| pixels.iter().map(move |pixel| pixel[channel]))
                    .collect(),
                vec![1, self.channels, height, width],
            ),
        };
        Input {
            name: self.name.clone(),
            shape,
            numbers: Numbers::F32(values),
        }
    }

    /// Red, green and blue of a picture in the size of the network.
    fn fitted(&self, bitmap: &Bitmap) -> Vec<u8> {
        let PictureSettings {
            size: [height, width],
            resample,
            fit,
            ..
        } = self.settings;
        let (old_height, old_width) = (bitmap.height as usize, bitmap.width as usize);
        let whole = match fit {
            Fit::Squeezed => (height, width),
            Fit::ShorterSide(side) => match old_width <= old_height {
                true => (side * old_height / old_width, side),
                false => (side, side * old_width / old_height),
            },
        };
        let middle = |whole: usize, cut: usize| (whole - cut) / 2..(whole - cut) / 2 + cut;
        filter::part(
            bitmap,
            resample,
            whole,
            (middle(whole.0, height), middle(whole.1, width)),
        )
    }
}

/// The grey of a colour, as Pillow and JPEG weigh it.
fn luminance(r: u8, g: u8, b: u8) -> u8 {
    ((u32::from(r) * 19595 + u32::from(g) * 38470 + u32::from(b) * 7471 + 0x8000) >> 16) as u8
}
