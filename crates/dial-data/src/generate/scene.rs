//! A synthetic hyperspectral scene: diagonal fields of six crops, each pixel a noisy spectrum of 60 bands.
//!
//! A spectrum is a sum of smooth bumps a exp(-(b - c)²/2w²) over the bands b. Crops share their main bumps (soil, red
//! edge) and differ in a few, so that neighbouring crops are hard to tell apart. A pixel covers 3 x 3 sub-pixels and mixes what they
//! show; it is scaled by its illumination and gets Gaussian noise. The class is that of its middle; pixels whose middle
//! lies outside the fields are unknown: in the pool, neither asked nor scored.

use dial::seed::{Purpose, Random};

use super::pool;
use crate::pool::Pool;
use crate::pool::matrix::Buffer;
use crate::pool::show::{Scene, Show};

const SCENE_BANDS: usize = 60;
const CROP_KINDS: usize = 6;
/// Amplitude of the noise and spread of the illumination.
const BAND_NOISE: f64 = 0.012;
const ILLUMINATION_SPREAD: f64 = 0.10;
/// How much each pixel of a field deviates towards soil: gaps between the plants.
const SOIL_SHARE: f64 = 0.12;

/// The scene of `side` x `side` pixels, row by row.
pub fn scene(side: usize, seed: u64) -> Pool {
    let mut random = Random::new(seed, Purpose::Generator, 0);
    let spectra: Vec<[f64; SCENE_BANDS]> = (0..=CROP_KINDS)
        .map(|kind| spectrum(kind, &mut random))
        .collect();
    let mut values = Vec::with_capacity(side * side * SCENE_BANDS);
    let mut labels = Vec::with_capacity(side * side);
    for row in 0..side {
        for column in 0..side {
            let shares = shares(row, column, side);
            labels.push(crop(row as f64 + 0.5, column as f64 + 0.5, side));
            values.extend(pixel(&spectra, &shares, &mut random));
        }
    }
    let mut pool = pool("scene", Buffer::F32(values), SCENE_BANDS, labels);
    if let Some(truth) = &mut pool.truth {
        truth.classes = [
            "broccoli",
            "corn",
            "lettuce-4",
            "lettuce-5",
            "lettuce-6",
            "lettuce-7",
        ]
        .map(String::from)
        .to_vec();
    }
    let wavelengths = (0..SCENE_BANDS).map(wavelength).collect();
    pool.show = Show::Scene(Scene {
        height: side,
        width: side,
        pixels: (0..side * side).collect(),
        wavelengths,
        unit: "nm".into(),
    });
    pool.notes.push(format!(
        "pixels of a {side} x {side} scene, row by row; those outside the fields have no label"
    ));
    pool
}

/// The wavelength of a band in nm: evenly spaced from 400 to 2400, rounded to a tenth.
fn wavelength(band: usize) -> f64 {
    (4000.0 + 20_000.0 * band as f64 / (SCENE_BANDS - 1) as f64).round() / 10.0
}

/// The crop at a point, if it lies in a field: six strips across the diagonal, the corners bare.
fn crop(y: f64, x: f64, side: usize) -> Option<u16> {
    let (u, v) = ((x + y) / (2 * side) as f64, (x - y) / side as f64);
    let wave = 0.02 * libm::sin(9.0 * v);
    let strip = (u + wave - 0.14) / 0.72 * CROP_KINDS as f64;
    (strip >= 0.0 && strip < CROP_KINDS as f64 && v.abs() < 0.62).then_some(strip as u16)
}

/// How much of a pixel each kind covers; kind 0 is bare soil, kind c + 1 is crop c.
fn shares(row: usize, column: usize, side: usize) -> [f64; CROP_KINDS + 1] {
    let mut shares = [0.0; CROP_KINDS + 1];
    for part in 0..9 {
        let y = row as f64 + (f64::from(part / 3) * 2.0 + 1.0) / 6.0;
        let x = column as f64 + (f64::from(part % 3) * 2.0 + 1.0) / 6.0;
        let kind = crop(y, x, side).map_or(0, |crop| usize::from(crop) + 1);
        shares[kind] += 1.0 / 9.0;
    }
    shares
}

fn pixel(
    spectra: &[[f64; SCENE_BANDS]],
    shares: &[f64; CROP_KINDS + 1],
    random: &mut Random,
) -> Vec<f32> {
    let light = 1.0 + ILLUMINATION_SPREAD * random.normal();
    let gap = SOIL_SHARE * random.normal().abs();
    let mix = |band: usize| {
        let covered: f64 = spectra
            .iter()
            .zip(shares)
            .map(|(spectrum, share)| share * spectrum[band])
            .sum();
        (1.0 - gap) * covered + gap * spectra[0][band]
    };
    let clean: Vec<f64> = (0..SCENE_BANDS).map(mix).collect();
    clean
        .into_iter()
        .map(|value| (light * value + BAND_NOISE * random.normal()).max(0.0) as f32)
        .collect()
}

/// The reflectance of a kind: common bumps, then a few that only this kind has, at random places.
fn spectrum(kind: usize, random: &mut Random) -> [f64; SCENE_BANDS] {
    let green = if kind == 0 {
        0.0
    } else {
        0.28 + 0.02 * kind as f64
    };
    let mut bumps = vec![
        (0.25, 30.0, 40.0),
        (green, 34.0, 9.0),
        (green * 0.25, 12.0, 3.0),
        (green * 0.4, 50.0, 5.0),
    ];
    for _ in 0..3 {
        let amplitude = 0.05 + 0.05 * random.uniform();
        bumps.push((
            amplitude,
            SCENE_BANDS as f64 * random.uniform(),
            3.0 + 4.0 * random.uniform(),
        ));
    }
    std::array::from_fn(|band| {
        let bump = |&(amplitude, centre, width): &(f64, f64, f64)| {
            let z = (band as f64 - centre) / width;
            amplitude * libm::exp(-0.5 * z * z)
        };
        bumps.iter().map(bump).sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_cover_most_of_the_scene_and_all_crops_occur() {
        let pool = scene(64, 1);
        let truth = pool.truth.unwrap();
        assert_eq!(
            (pool.matrix.n, pool.matrix.dim, truth.classes.len()),
            (4096, 60, 6)
        );
        for class in 0..6 {
            let count = truth
                .labels
                .iter()
                .filter(|label| **label == Some(class))
                .count();
            assert!(count > 200, "{class}: {count}");
        }
        let known = truth.known();
        let Show::Scene(shown) = pool.show else {
            panic!("{:?}", pool.show)
        };
        assert_eq!(
            (shown.height, shown.width, shown.position(65)),
            (64, 64, (1, 1))
        );
        assert_eq!(
            (
                shown.wavelengths[0],
                shown.wavelengths[59],
                shown.unit.as_str()
            ),
            (400.0, 2400.0, "nm")
        );
        assert!((2000..3700).contains(&known), "{known}");
    }

    #[test]
    fn shares_are_whole_and_follow_the_middle_inside_a_field() {
        for (row, column) in [(0, 0), (20, 20), (31, 33), (63, 63), (17, 40)] {
            let shares = shares(row, column, 64);
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let middle = crop(row as f64 + 0.5, column as f64 + 0.5, 64)
                .map_or(0, |crop| usize::from(crop) + 1);
            assert!(shares[middle] > 0.0);
        }
    }
}
