//! A cube of h x w pixels with b bands each, as a pool: an item for every pixel that was measured.
//!
//! An item is shown by its spectrum as read. Its features are band-normalised, so that bright bands do not speak for all,
//! and compared by the cosine, so that light and shade do not matter:
//!
//! ```text
//! x_pb = v_pb / sqrt(Σ_q v_qb²)     over the pixels q in use
//! ```
//!
//! Left out are bands that the header calls bad, pixels without data (the no-data value or NaN in every band, or 0 in
//! every band), bands that are the same in all pixels, pixels without data in what bands are left, and then pixels that
//! lack some band (a no-data value other than 0). The id of a pixel is `r12c34`: row and column from 0, counted from the
//! upper left, also where pixels are left out.

use dial::Metric;

use crate::arrays::array::{Array, shape_in_words, too_large};
use crate::error::{Fault, first_few, plural};
use crate::pool::matrix::{Buffer, Matrix};
use crate::pool::show::{Scene, Show};
use crate::pool::{Draft, ReadOptions};

/// Values by row, column and band, and what is known of them.
#[derive(Debug)]
pub(crate) struct Cube {
    pub values: Buffer,
    pub height: usize,
    pub width: usize,
    pub bands: usize,
    /// The wavelength of each band, or none.
    pub wavelengths: Vec<f64>,
    pub unit: String,
    /// Which bands are good, where the header says so.
    pub good: Option<Vec<bool>>,
    /// The value of pixels that were not measured.
    pub ignore: Option<f64>,
}

/// What is left of a cube.
struct Used {
    pixels: Vec<usize>,
    bands: Vec<usize>,
    notes: Vec<String>,
}

impl Cube {
    /// An array of height x width x bands.
    pub fn of(array: Array) -> Result<Cube, Fault> {
        let [height, width, bands] = *array.shape.as_slice() else {
            let text = format!(
                "{}, not a scene of height x width x bands",
                shape_in_words(&array.shape)
            );
            return Err(Fault::Shape(text));
        };
        let values = array.into_buffer()?;
        Ok(Cube {
            values,
            height,
            width,
            bands,
            wavelengths: Vec::new(),
            unit: String::new(),
            good: None,
            ignore: None,
        })
    }

    /// The pool of its pixels.
    pub fn into_draft(mut self, options: &ReadOptions) -> Result<Draft, Fault> {
        if matches!(self.values, Buffer::F32(_)) {
            // As the values themselves were rounded.
            self.ignore = self.ignore.map(|value| f64::from(value as f32));
        }
        let shape = [self.height, self.width, self.bands];
        let total = self
            .height
            .checked_mul(self.width)
            .ok_or_else(|| too_large(&shape))?;
        if total == 0 || self.bands == 0 || total.checked_mul(self.bands) != Some(self.values.len())
        {
            return Err(Fault::Shape(format!(
                "a scene of {} values",
                shape_in_words(&shape)
            )));
        }
        let used = match &self.values {
            Buffer::F32(values) => self.used(values, options)?,
            Buffer::F64(values) => self.used(values, options)?,
        };
        let (n, dim) = (used.pixels.len(), used.bands.len());
        let (matrix, original) = match self.values {
            Buffer::F32(values) => {
                let kept = kept(values, self.bands, &used);
                (
                    Buffer::F32(normalised(&kept, dim, |value| value as f32)),
                    Buffer::F32(kept),
                )
            }
            Buffer::F64(values) => {
                let kept = kept(values, self.bands, &used);
                (
                    Buffer::F64(normalised(&kept, dim, |value| value)),
                    Buffer::F64(kept),
                )
            }
        };
        let wavelengths = used
            .bands
            .iter()
            .filter_map(|&band| self.wavelengths.get(band).copied())
            .collect();
        let Cube {
            height,
            width,
            unit,
            ..
        } = self;
        let scene = Scene {
            height,
            width,
            pixels: used.pixels.clone(),
            wavelengths,
            unit,
        };
        let ids = used
            .pixels
            .iter()
            .map(|&pixel| pixel_id(pixel, width))
            .collect();
        let mut draft = Draft::new(
            Matrix {
                values: matrix,
                n,
                dim,
            },
            Show::Scene(scene),
        );
        draft.original = Some(Matrix {
            values: original,
            n,
            dim,
        });
        draft.metric = if dim > 1 {
            Metric::Cosine
        } else {
            Metric::Euclidean
        };
        (draft.ids, draft.kept, draft.notes) = (Some(ids), Some((used.pixels, total)), used.notes);
        Ok(draft)
    }

    /// The pixels and bands that can be used.
    fn used<T: Copy + Into<f64>>(
        &self,
        values: &[T],
        options: &ReadOptions,
    ) -> Result<Used, Fault> {
        let good: Vec<usize> = (0..self.bands)
            .filter(|&band| {
                self.good
                    .as_ref()
                    .is_none_or(|good| good.get(band) != Some(&false))
            })
            .collect();
        let spectra = || (0..).zip(values.chunks_exact(self.bands));
        let mut measured: Vec<usize> = spectra()
            .filter(|(_, spectrum)| !self.empty(spectrum, &good))
            .map(|(pixel, _)| pixel)
            .collect();
        let of = |pixel: usize| {
            values
                .get(pixel * self.bands..(pixel + 1) * self.bands)
                .unwrap_or_default()
        };
        let mut bands = differing(measured.iter().map(|&pixel| of(pixel)), &good);
        let mut before = good.len();
        // Without the bands left out some pixels have no length, and without those more bands may be the same.
        while !bands.is_empty() && bands.len() < before {
            measured.retain(|&pixel| !self.empty(of(pixel), &bands));
            before = bands.len();
            bands = differing(measured.iter().map(|&pixel| of(pixel)), &bands);
        }
        if measured.is_empty() || bands.is_empty() {
            let text = match (good.is_empty(), measured.is_empty()) {
                (true, _) => "every band is bad by its header",
                (_, true) => "no pixel holds data",
                _ => "no band differs between pixels",
            };
            return Err(Fault::Shape(format!(
                "a scene of {} x {} pixels in which {text}",
                self.height, self.width
            )));
        }
        let bad = self.broken(&measured, &bands, of, options)?;
        // A band of a pixel may well measure 0, but no other no-data value.
        let missing = |pixel: usize| {
            bands
                .iter()
                .any(|&band| self.is_ignored(value(of(pixel), band)))
        };
        let partly: Vec<usize> = measured
            .iter()
            .copied()
            .filter(|&pixel| missing(pixel))
            .collect();
        let whole = |pixel: &usize| {
            bad.binary_search(pixel).is_err() && partly.binary_search(pixel).is_err()
        };
        let pixels: Vec<usize> = measured.iter().copied().filter(whole).collect();
        if pixels.is_empty() {
            return Err(Fault::Shape(
                "no rows: every pixel lacks data or holds a non-finite value in some band".into(),
            ));
        }
        let notes = self.notes(&measured, &good, &bands, (&bad, &partly));
        Ok(Used {
            pixels,
            bands,
            notes,
        })
    }

    /// The pixels that hold a value that is not finite: refused, unless they are to be left out.
    fn broken<'v, T: Copy + Into<f64> + 'v>(
        &self,
        pixels: &[usize],
        bands: &[usize],
        of: impl Fn(usize) -> &'v [T],
        options: &ReadOptions,
    ) -> Result<Vec<usize>, Fault> {
        // The first band with a hole, and how many there are.
        let holes = |pixel: usize| {
            let wrong = |value: f64| !value.is_finite() && !self.is_ignored(value);
            let mut found = bands
                .iter()
                .copied()
                .filter(|&band| wrong(value(of(pixel), band)));
            Some((pixel, found.next()?, 1 + found.count()))
        };
        let bad: Vec<(usize, usize, usize)> =
            pixels.iter().filter_map(|&pixel| holes(pixel)).collect();
        if let (Some(&(pixel, band, _)), false) = (bad.first(), options.drop_nonfinite) {
            let at = format!("pixel {}, band {}", pixel_id(pixel, self.width), band + 1);
            let (count, value) = (
                bad.iter().map(|(_, _, count)| count).sum(),
                value(of(pixel), band),
            );
            return Err(Fault::NonFinite {
                count,
                rows: bad.len(),
                at,
                value,
            });
        }
        Ok(bad.into_iter().map(|(pixel, _, _)| pixel).collect())
    }

    /// Whether this is the no-data value, which may be NaN; 0 is also measured.
    fn is_ignored(&self, value: f64) -> bool {
        self.ignore.is_some_and(|ignore| {
            ignore != 0.0 && (value == ignore || value.is_nan() && ignore.is_nan())
        })
    }

    /// Whether a pixel holds no data.
    fn empty<T: Copy + Into<f64>>(&self, spectrum: &[T], bands: &[usize]) -> bool {
        let missing = |value: f64| value.is_nan() || Some(value) == self.ignore;
        let values = || bands.iter().map(|&band| value(spectrum, band));
        values().all(missing) || values().all(|value| value == 0.0)
    }

    fn notes(
        &self,
        measured: &[usize],
        good: &[usize],
        bands: &[usize],
        (bad, partly): (&[usize], &[usize]),
    ) -> Vec<String> {
        let (height, width) = (self.height, self.width);
        let mut notes = vec![format!(
            "a scene of {height} x {width} pixels and {} bands; the id r0c1 is row 0, column 1",
            self.bands
        )];
        let missing = height * width - measured.len();
        if missing > 0 {
            let pixels = plural(missing, "pixel", "pixels");
            notes.push(format!("left out {missing} {pixels} without data (the no-data value, NaN or 0 in every band)"));
        }
        let called: Vec<usize> = (0..self.bands)
            .filter(|band| good.binary_search(band).is_err())
            .collect();
        let same: Vec<usize> = good
            .iter()
            .copied()
            .filter(|band| bands.binary_search(band).is_err())
            .collect();
        for (list, why) in [
            (called, "bad in the header"),
            (same, "the same or missing in all pixels"),
        ] {
            if !list.is_empty() {
                let bands = list.iter().map(|band| band + 1);
                let (count, word) = (list.len(), plural(list.len(), "band", "bands"));
                notes.push(format!(
                    "left out {count} {word} ({why}): {}",
                    first_few(bands, count, ", ")
                ));
            }
        }
        for (list, why) in [
            (bad, "non-finite values"),
            (partly, "the no-data value in some bands"),
        ] {
            if !list.is_empty() {
                let pixels = list.iter().map(|&pixel| pixel_id(pixel, width));
                let (count, word) = (list.len(), plural(list.len(), "pixel", "pixels"));
                notes.push(format!(
                    "left out {count} {word} with {why}: {}",
                    first_few(pixels, count, ", ")
                ));
            }
        }
        notes
    }
}

/// The id of a pixel: `r12c34` for row 12 and column 34, counted from 0.
pub(crate) fn pixel_id(pixel: usize, width: usize) -> String {
    let width = width.max(1);
    format!("r{}c{}", pixel / width, pixel % width)
}

fn value<T: Copy + Into<f64>>(spectrum: &[T], band: usize) -> f64 {
    spectrum.get(band).map_or(f64::NAN, |&value| value.into())
}

/// The bands, of those given, that are finite somewhere and not the same everywhere.
fn differing<'v, T: Copy + Into<f64> + 'v>(
    spectra: impl Iterator<Item = &'v [T]>,
    bands: &[usize],
) -> Vec<usize> {
    // The first finite value of each band, and whether another was met.
    let mut met: Vec<(Option<f64>, bool)> = vec![(None, false); bands.len()];
    for spectrum in spectra {
        for (&band, (first, differs)) in bands.iter().zip(&mut met) {
            let value = value(spectrum, band);
            match first {
                None if value.is_finite() => *first = Some(value),
                Some(first) if value.is_finite() && value != *first => *differs = true,
                _ => {}
            }
        }
    }
    bands
        .iter()
        .zip(met)
        .filter(|(_, (_, differs))| *differs)
        .map(|(&band, _)| band)
        .collect()
}

/// The values in use; nothing is copied where all are.
fn kept<T: Copy>(values: Vec<T>, bands: usize, used: &Used) -> Vec<T> {
    if used.pixels.len() * used.bands.len() == values.len() {
        return values;
    }
    let of = |&pixel: &usize| {
        values
            .get(pixel * bands..(pixel + 1) * bands)
            .unwrap_or_default()
    };
    let chosen = |spectrum| {
        used.bands
            .iter()
            .filter_map(move |&band| <[T]>::get(spectrum, band).copied())
    };
    used.pixels
        .iter()
        .flat_map(|pixel| chosen(of(pixel)))
        .collect()
}

/// Every column divided by its Euclidean norm. Where magnitudes are extreme squares are taken of parts of the largest.
fn normalised<T: Copy + Into<f64>>(values: &[T], dim: usize, narrow: impl Fn(f64) -> T) -> Vec<T> {
    let mut largest = vec![0.0f64; dim];
    for row in values.chunks_exact(dim) {
        largest
            .iter_mut()
            .zip(row)
            .for_each(|(largest, &value)| *largest = largest.max(value.into().abs()));
    }
    let plain = |largest: f64| largest == 0.0 || (1e-100..1e100).contains(&largest);
    let scales: Vec<f64> = largest
        .into_iter()
        .map(|largest| if plain(largest) { 1.0 } else { largest })
        .collect();
    let mut sums = vec![0.0f64; dim];
    for row in values.chunks_exact(dim) {
        for ((sum, &scale), &value) in sums.iter_mut().zip(&scales).zip(row) {
            let part = value.into() / scale;
            *sum += part * part;
        }
    }
    let norms: Vec<f64> = sums
        .into_iter()
        .map(|sum| if sum > 0.0 { sum.sqrt() } else { 1.0 })
        .collect();
    let divide =
        |((&value, &scale), &norm): ((&T, &f64), &f64)| narrow(value.into() / scale / norm);
    values
        .chunks_exact(dim)
        .flat_map(|row| row.iter().zip(&scales).zip(&norms).map(divide))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(values: &[f64], height: usize, width: usize) -> Cube {
        let bands = values.len() / (height * width);
        let (wavelengths, unit) = (
            (0..bands).map(|band| 400.0 + band as f64).collect(),
            "nm".to_string(),
        );
        Cube {
            values: Buffer::F64(values.to_vec()),
            height,
            width,
            bands,
            wavelengths,
            unit,
            good: None,
            ignore: None,
        }
    }

    #[test]
    fn bands_are_divided_by_their_norms() {
        // Band 0: 3, 4 with norm 5; band 1: 5, 12 with norm 13.
        let draft = cube(&[3.0, 5.0, 4.0, 12.0], 1, 2)
            .into_draft(&ReadOptions::default())
            .unwrap();
        assert_eq!(
            draft.matrix.unwrap().values,
            Buffer::F64(vec![0.6, 5.0 / 13.0, 0.8, 12.0 / 13.0])
        );
        assert_eq!(
            draft.original.unwrap().values,
            Buffer::F64(vec![3.0, 5.0, 4.0, 12.0])
        );
        assert_eq!(
            (draft.metric, draft.ids.unwrap()),
            (Metric::Cosine, vec!["r0c0".to_string(), "r0c1".into()])
        );
        // 3e200 and 4e200 have squares beyond f64, but the norm 5e200.
        let large = cube(&[3e200, 1.0, 4e200, 2.0], 1, 2)
            .into_draft(&ReadOptions::default())
            .unwrap();
        let matrix = large.matrix.unwrap();
        assert!((matrix.get(0, 0) - 0.6).abs() < 1e-15 && (matrix.get(1, 0) - 0.8).abs() < 1e-15);
    }

    #[test]
    fn pixels_without_data_and_bands_without_news_are_left_out() {
        let no = f64::NAN;
        // Pixels: measured, zero, no-data, NaN, measured, half no-data. Band 1 is bad by name, band 2 always 7, band 4 NaN.
        let values = [
            [1.0, 9.0, 7.0, 3.0, no],
            [0.0, 1.0, 0.0, 0.0, 0.0],
            [-1.0, 5.0, -1.0, no, -1.0],
            [no, 6.0, no, no, no],
            [2.0, 2.0, 7.0, 4.0, no],
            [-1.0, 3.0, 7.0, 5.0, no],
        ];
        let mut cube = cube(values.as_flattened(), 2, 3);
        (cube.ignore, cube.good) = (Some(-1.0), Some(vec![true, false, true, true, true]));
        let draft = cube.into_draft(&ReadOptions::default()).unwrap();
        assert_eq!(draft.ids.unwrap(), ["r0c0", "r1c1"]);
        assert_eq!(
            draft.original.unwrap().values,
            Buffer::F64(vec![1.0, 3.0, 2.0, 4.0])
        );
        let Show::Scene(scene) = draft.show else {
            panic!("{:?}", draft.show)
        };
        assert_eq!(
            (scene.pixels.as_slice(), scene.wavelengths.as_slice()),
            (&[0, 4][..], &[400.0, 403.0][..])
        );
        assert_eq!(draft.kept, Some((vec![0, 4], 6)));
        let notes = draft.notes.join("\n");
        for text in [
            "left out 3 pixels",
            "1 band (bad in the header): 2",
            "2 bands (the same or missing in all pixels): 3, 5",
            "1 pixel with the no-data value in some bands: r1c2",
        ] {
            assert!(notes.contains(text), "{notes}");
        }
    }

    #[test]
    fn pixels_without_length_in_the_bands_left_are_left_out() {
        // Band 0 is always 5; then pixel 0 is all zero, and without it band 1 is always 3.
        let values = [
            [5.0, 0.0, 0.0, 0.0],
            [5.0, 3.0, 1.0, 2.0],
            [5.0, 3.0, 4.0, 1.0],
        ];
        let draft = cube(values.as_flattened(), 1, 3)
            .into_draft(&ReadOptions::default())
            .unwrap();
        assert_eq!(draft.ids.unwrap(), ["r0c1", "r0c2"]);
        assert_eq!(
            draft.original.unwrap().values,
            Buffer::F64(vec![1.0, 2.0, 4.0, 1.0])
        );
        let notes = draft.notes.join("\n");
        for text in [
            "left out 1 pixel without data",
            "2 bands (the same or missing in all pixels): 1, 2",
        ] {
            assert!(notes.contains(text), "{notes}");
        }
    }

    #[test]
    fn the_no_data_value_may_be_nan() {
        let values = [1.0, 2.0, f64::NAN, 3.0, 3.0, 1.0];
        let cube = Cube {
            ignore: Some(f64::NAN),
            ..cube(&values, 3, 1)
        };
        let draft = cube.into_draft(&ReadOptions::default()).unwrap();
        assert_eq!(draft.ids.unwrap(), ["r0c0", "r2c0"]);
        assert!(
            draft
                .notes
                .join("\n")
                .contains("1 pixel with the no-data value in some bands: r1c0")
        );
    }

    #[test]
    fn the_no_data_value_is_rounded_as_the_values_are() {
        // 0.1 is no f32: the file holds the nearest one.
        let values = Buffer::F32(vec![0.1, 0.1, 1.0, 2.0, 3.0, 5.0]);
        let cube = Cube {
            values,
            ignore: Some(0.1),
            ..cube(&[0.0; 6], 3, 1)
        };
        assert_eq!(
            cube.into_draft(&ReadOptions::default())
                .unwrap()
                .ids
                .unwrap(),
            ["r1c0", "r2c0"]
        );
    }

    #[test]
    fn broken_pixels_are_refused_with_their_place_or_left_out() {
        let values = [1.0, 2.0, f64::INFINITY, 3.0, 3.0, 1.0];
        let error = cube(&values, 3, 1)
            .into_draft(&ReadOptions::default())
            .unwrap_err()
            .at("x");
        assert!(
            error.code() == "I1"
                && error
                    .to_string()
                    .contains("1 row; first at pixel r1c0, band 1 (inf)"),
            "{error}"
        );
        let drop = ReadOptions {
            drop_nonfinite: true,
            ..ReadOptions::default()
        };
        let draft = cube(&values, 3, 1).into_draft(&drop).unwrap();
        assert_eq!(draft.ids.unwrap(), ["r0c0", "r2c0"]);
        assert!(
            draft
                .notes
                .join("\n")
                .contains("1 pixel with non-finite values: r1c0")
        );
        for values in [[0.0; 4], [2.0; 4], [f64::NAN; 4]] {
            assert_eq!(
                cube(&values, 2, 2)
                    .into_draft(&drop)
                    .unwrap_err()
                    .at("x")
                    .code(),
                "I3"
            );
        }
    }
}
