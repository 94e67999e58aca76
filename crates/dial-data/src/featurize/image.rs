//! Features of pictures without a model: a descriptor of each, then the principal components of all.
//!
//! Pictures are decoded and described in parallel, each by one thread, so the bits do not depend on their number; those
//! of more than 16 million pixels one at a time, which bounds the memory. All pictures that cannot be read are found
//! before any is complained about.

use std::path::Path;
use std::sync::Mutex;

use dial::Control;
use rayon::prelude::*;

use crate::error::{Error, Fault, MAX_LISTED, Result, first_few, plural};
use crate::featurize::descriptor::{COLOUR_VALUES, Descriptor, GREY_VALUES};
use crate::featurize::svd;
use crate::media::images;
use crate::pool::matrix::{Buffer, Matrix};
use crate::pool::show::{Images, Picture};
use crate::pool::{Described, ReadOptions};

/// Principal components that are kept.
const MAX_COMPONENTS: usize = 64;

/// Describes each picture file by a row of numbers; `names` are what messages call the pictures.
pub(crate) fn describe(
    images: &Images,
    names: &[String],
    options: &ReadOptions,
    control: &Control,
) -> Result<Described, Fault> {
    let descriptor = Descriptor::new();
    let large = Mutex::new(());
    let all = images.files.len();
    let mut values = vec![0f32; all * COLOUR_VALUES];
    control.start("describing pictures", all);
    let errors: Vec<Option<Error>> = values
        .par_chunks_mut(COLOUR_VALUES)
        .zip(&images.files)
        .map(|(row, file)| {
            let described = one(&images.folder.join(file), &descriptor, &large);
            let error = described.map(|values| row.copy_from_slice(&values)).err();
            control.advance(1).map(|()| error)
        })
        .collect::<Result<_, dial::Error>>()?;
    control.finish();
    let mut matrix = Matrix {
        n: all,
        values: Buffer::F32(values),
        dim: COLOUR_VALUES,
    };
    let mut notes = Vec::new();
    let kept = readable(names, errors, options, &mut notes)?;
    if let Some(kept) = &kept {
        matrix = matrix.select_rows(kept);
    }
    let matrix = svd::principal(&matrix, MAX_COMPONENTS, control)?;
    notes.push(note(matrix.dim, "edges, light and colours"));
    Ok(Described {
        matrix,
        notes,
        kept,
    })
}

/// The pictures without an error, if there are others that may be left out.
pub(crate) fn readable(
    names: &[String],
    errors: Vec<Option<Error>>,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<Option<Vec<usize>>, Fault> {
    let kept: Vec<usize> = (0..errors.len())
        .filter(|&item| errors[item].is_none())
        .collect();
    let all = errors.len();
    let total = all - kept.len();
    if total == 0 {
        return Ok(None);
    }
    let wrong = || {
        names
            .iter()
            .zip(&errors)
            .filter_map(|(name, error)| Some((name, error.as_ref()?)))
    };
    let line = |(name, error): (&String, &Error)| format!("{name}: {}", images::reason(error));
    let bad: Vec<String> = wrong().take(MAX_LISTED).map(line).collect();
    if !options.skip_bad || kept.is_empty() {
        let too_large = wrong().all(|(_, error)| matches!(error.fault, Fault::TooLarge(_)));
        return Err(Fault::Pictures {
            bad,
            total,
            all,
            too_large,
        });
    }
    let (pictures, list) = (
        plural(total, "picture", "pictures"),
        first_few(&bad, total, "; "),
    );
    notes.push(format!(
        "left out {total} {pictures} that cannot be read: {list}"
    ));
    Ok(Some(kept))
}

/// Describes grey pictures that are rows of pixels.
pub(crate) fn describe_rows(
    pixels: &Matrix,
    picture: Picture,
    control: &Control,
) -> Result<Described, Fault> {
    let Picture {
        height,
        width,
        lowest,
        highest,
    } = picture;
    let descriptor = Descriptor::new();
    let range = if highest > lowest {
        highest - lowest
    } else {
        1.0
    };
    control.start("describing pictures", pixels.n);
    let mut values = vec![0f32; pixels.n * GREY_VALUES];
    values
        .par_chunks_mut(GREY_VALUES)
        .enumerate()
        .try_for_each(|(item, out)| {
            let row = |y: usize, out: &mut Vec<f32>| {
                let columns = y * width..(y + 1) * width;
                out.extend(
                    columns.map(|column| ((pixels.get(item, column) - lowest) / range) as f32),
                );
            };
            out.copy_from_slice(&descriptor.of_grey(row, width, height));
            control.advance(1)
        })?;
    control.finish();
    let matrix = Matrix {
        n: pixels.n,
        values: Buffer::F32(values),
        dim: GREY_VALUES,
    };
    let matrix = svd::principal(&matrix, MAX_COMPONENTS, control)?;
    let notes = vec![note(matrix.dim, "edges and light")];
    Ok(Described {
        matrix,
        notes,
        kept: None,
    })
}

fn note(dim: usize, what: &str) -> String {
    format!(
        "features are {dim} principal components of {what} of the pictures; a network for pictures (--embed) or embeddings \
         (--features) usually do better"
    )
}

fn one(path: &Path, descriptor: &Descriptor, large: &Mutex<()>) -> Result<Vec<f32>> {
    let place = path.display().to_string();
    let bytes = images::checked_file(&place)?;
    let alone = images::is_large(&bytes).then(|| large.lock());
    let bitmap = images::decode(&bytes).map_err(|fault| fault.at(place))?;
    let row = descriptor.of_colour(&bitmap);
    drop(alone);
    Ok(row)
}
