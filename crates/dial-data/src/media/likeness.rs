//! What a picture looks like, so that the same one scaled or compressed again is found.
//!
//! ```text
//! hash    signs of the 63 lowest coefficients (u, v) of the cosine transform of 32 x 32 grey values, without (0, 0)
//! canvas  16 x 16 colours
//! alike   hashes differ in at most 7 bits, sides have the same ratio within 5 %, and the canvases differ by a root mean
//!         square of at most 0.1 of the smaller contrast (the deviation within a canvas), or of 1 where there is little
//! ```
//!
//! The hash finds candidates: of eight bytes, two hashes that differ in seven bits have one in common. The canvas
//! decides. Pictures join the first picture they are like, in the order of the pool, so that groups do not grow by chains.

use std::path::PathBuf;
use std::sync::Mutex;

use dial::Control;
use rayon::prelude::*;

use crate::error::Result;
use crate::media::images;
use crate::media::resample::resized_rows;

/// The side of the grey values that are hashed.
const SIDE: usize = 32;
/// The side of the canvas.
const CANVAS_SIDE: usize = 16;
/// Coefficients along each side of the hash.
const COEFFICIENTS: usize = 8;
/// Bits in which the hashes of like pictures differ at most: one fewer than a hash has bytes.
const MOST_BITS: u32 = 7;
/// The ratio of the sides, as a share.
const MOST_STRETCH: f64 = 0.05;
/// The distance of canvases, as a share of the contrast, and in steps of 255 where that is less.
const MOST_DISTANCE: (f64, f64) = (0.1, 1.0);

/// What a picture looks like.
#[derive(Clone, Debug)]
pub(crate) struct Likeness {
    hash: u64,
    canvas: Vec<u8>,
    contrast: f64,
    /// Width over height.
    ratio: f64,
}

impl Likeness {
    /// Of a picture whose row y is given by `row`: red, green and blue from 0 to 255.
    pub fn of(row: impl Fn(usize, &mut Vec<f32>), width: usize, height: usize) -> Likeness {
        let values = resized_rows(row, (width, height), (SIDE, SIDE), 3);
        let grey =
            |pixel: &[f32]| f64::from(0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2]);
        let grey: Vec<f64> = values.chunks_exact(3).map(grey).collect();
        let canvas = canvas(&values);
        Likeness {
            hash: hash(&grey),
            contrast: contrast(&canvas),
            canvas,
            ratio: width as f64 / height as f64,
        }
    }

    /// Whether two pictures are one.
    fn is_like(&self, other: &Likeness) -> bool {
        let stretch = self.ratio / other.ratio;
        let most = MOST_DISTANCE.0 * self.contrast.min(other.contrast);
        (self.hash ^ other.hash).count_ones() <= MOST_BITS
            && stretch.max(1.0 / stretch) <= 1.0 + MOST_STRETCH
            && distance(&self.canvas, &other.canvas) <= most.max(MOST_DISTANCE.1)
    }
}

/// What picture files look like; nothing of those that cannot be read. Those of many pixels are decoded one at a time.
pub(crate) fn of_files(paths: &[PathBuf], control: &Control) -> Result<Vec<Option<Likeness>>> {
    let large = Mutex::new(());
    control.start("comparing pictures", paths.len());
    let of = |path: &PathBuf| {
        let turn = || large.lock();
        let bitmap = images::load_in_turn(path, None, turn).ok();
        control.advance(1)?;
        Ok(bitmap.map(|bitmap| {
            let line = bitmap.width as usize * 3;
            let row = |y: usize, out: &mut Vec<f32>| {
                let row = bitmap.rgb.iter().skip(y * line).take(line);
                out.extend(row.map(|&value| f32::from(value)));
            };
            Likeness::of(row, bitmap.width as usize, bitmap.height as usize)
        }))
    };
    let all = paths.par_iter().map(of).collect::<Result<_>>()?;
    control.finish();
    Ok(all)
}

/// The groups of like pictures, each ascending, in the order of their first pictures.
pub(crate) fn alike(all: &[Option<Likeness>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    // The groups whose first picture has this byte at this place of its hash.
    let mut of_byte: Vec<Vec<usize>> = vec![Vec::new(); 8 * 256];
    let slot = |(place, byte): (usize, u8)| place * 256 + usize::from(byte);
    for (item, likeness) in all.iter().enumerate() {
        let Some(likeness) = likeness else { continue };
        let slots = likeness
            .hash
            .to_le_bytes()
            .into_iter()
            .enumerate()
            .map(slot);
        let candidates = slots.clone().flat_map(|slot| &of_byte[slot]).copied();
        let like = |&group: &usize| {
            let first = all[groups[group][0]].as_ref();
            first.is_some_and(|first| first.is_like(likeness))
        };
        match candidates.filter(like).min() {
            Some(group) => groups[group].push(item),
            None => {
                slots.for_each(|slot| of_byte[slot].push(groups.len()));
                groups.push(vec![item]);
            }
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// The signs of the low coefficients of the cosine transform.
fn hash(grey: &[f64]) -> u64 {
    let wave = |u: usize, x: usize| {
        libm::cos(std::f64::consts::PI * u as f64 * (x as f64 + 0.5) / SIDE as f64)
    };
    let waves: Vec<f64> = (0..COEFFICIENTS)
        .flat_map(|u| (0..SIDE).map(move |x| wave(u, x)))
        .collect();
    let dot = |values: &mut dyn Iterator<Item = f64>, u: usize| -> f64 {
        values
            .zip(&waves[u * SIDE..])
            .map(|(value, wave)| value * wave)
            .sum()
    };
    // By rows, then by columns.
    let rows: Vec<f64> = grey
        .chunks_exact(SIDE)
        .flat_map(|row| {
            (0..COEFFICIENTS)
                .map(|u| dot(&mut row.iter().copied(), u))
                .collect::<Vec<_>>()
        })
        .collect();
    let mut hash = 0;
    for at in 1..COEFFICIENTS * COEFFICIENTS {
        let (u, v) = (at % COEFFICIENTS, at / COEFFICIENTS);
        let mut column = rows.iter().skip(u).step_by(COEFFICIENTS).copied();
        hash |= u64::from(dot(&mut column, v) > 0.0) << at;
    }
    hash
}

/// Means over squares of the values.
fn canvas(values: &[f32]) -> Vec<u8> {
    let square = SIDE / CANVAS_SIDE;
    let mean = |at: usize| {
        let (pixel, channel) = (at / 3, at % 3);
        let (y, x) = (pixel / CANVAS_SIDE * square, pixel % CANVAS_SIDE * square);
        let one = |step: usize| {
            let pixel = (y + step / square) * SIDE + x + step % square;
            values[3 * pixel + channel]
        };
        let sum: f32 = (0..square * square).map(one).sum();
        libm::roundf(sum / (square * square) as f32) as u8
    };
    (0..CANVAS_SIDE * CANVAS_SIDE * 3).map(mean).collect()
}

/// The standard deviation of the values of a canvas.
fn contrast(canvas: &[u8]) -> f64 {
    let n = canvas.len() as f64;
    let mean = canvas.iter().map(|&value| f64::from(value)).sum::<f64>() / n;
    let squares = canvas
        .iter()
        .map(|&value| (f64::from(value) - mean).powi(2));
    (squares.sum::<f64>() / n).sqrt()
}

/// The root mean square of the differences.
fn distance(one: &[u8], other: &[u8]) -> f64 {
    let squares = one
        .iter()
        .zip(other)
        .map(|(&a, &b)| f64::from(a.abs_diff(b)).powi(2));
    (squares.sum::<f64>() / one.len() as f64).sqrt()
}
