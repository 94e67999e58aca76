//! Features of pictures without a model: a descriptor of each, then the principal components of all.
//!
//! Pictures are decoded and described in parallel, each by one thread, so the bits do not depend on their number; those
//! of more than 16 million pixels one at a time, which bounds the memory. All pictures that cannot be read are found
//! before any is complained about.

use std::path::Path;
use std::sync::Mutex;

use dial::Control;
use rayon::prelude::*;

use crate::components;
use crate::descriptor::{COLOUR_VALUES, Descriptor, GREY_VALUES};
use crate::error::{Error, Fault, LISTED, Result, first_few, plural};
use crate::matrix::{Buffer, Matrix};
use crate::pictures;
use crate::pool::{Described, ReadOptions};
use crate::show::{Images, Picture};

/// Principal components that are kept.
const COMPONENTS: usize = 64;

/// Describes each picture file by a row of numbers.
pub(crate) fn describe(images: &Images, options: &ReadOptions, control: &Control) -> Result<Described> {
    let descriptor = Descriptor::new();
    let large = Mutex::new(());
    control.start("describing pictures", images.files.len());
    let rows: Vec<std::result::Result<Vec<f32>, Error>> = images
        .files
        .par_iter()
        .map(|file| {
            let row = one(&images.folder.join(file), &descriptor, &large);
            control.advance(1).map(|()| row)
        })
        .collect::<std::result::Result<_, dial::Error>>()?;
    control.finish();
    let (mut kept, mut values, mut bad, mut total, mut too_large) = (Vec::new(), Vec::new(), Vec::new(), 0, true);
    for (item, (row, file)) in rows.into_iter().zip(&images.files).enumerate() {
        match row {
            Ok(row) => {
                kept.push(item);
                values.extend(row);
            }
            Err(error) => {
                total += 1;
                too_large &= matches!(error.fault, Fault::TooLarge(_));
                if bad.len() < LISTED {
                    bad.push(format!("{file}: {}", pictures::reason(&error)));
                }
            }
        }
    }
    let all = images.files.len();
    if total > 0 && (!options.skip_bad || kept.is_empty()) {
        return Err(Fault::Pictures { bad, total, all, too_large }.at(images.folder.display().to_string()));
    }
    let mut notes = Vec::new();
    if total > 0 {
        let (pictures, list) = (plural(total, "picture", "pictures"), first_few(&bad, total, "; "));
        notes.push(format!("left out {total} {pictures} that cannot be read: {list}"));
    }
    let matrix = Matrix { n: kept.len(), values: Buffer::F32(values), dim: COLOUR_VALUES };
    let matrix = components::principal(&matrix, COMPONENTS, control)
        .map_err(|fault| fault.at(images.folder.display().to_string()))?;
    notes.push(note(matrix.dim, "edges, light and colours"));
    Ok(Described { matrix, notes, kept: (total > 0).then_some(kept) })
}

/// Describes grey pictures that are rows of pixels.
pub(crate) fn describe_rows(
    pixels: &Matrix,
    picture: Picture,
    control: &Control,
) -> std::result::Result<Described, Fault> {
    let Picture { height, width, lowest, highest } = picture;
    let descriptor = Descriptor::new();
    let range = if highest > lowest { highest - lowest } else { 1.0 };
    control.start("describing pictures", pixels.n);
    let one = |item: usize| {
        let row = |y: usize, out: &mut Vec<f32>| {
            let columns = y * width..(y + 1) * width;
            out.extend(columns.map(|column| ((pixels.get(item, column) - lowest) / range) as f32));
        };
        control.advance(1).map(|()| descriptor.of_grey(row, width, height))
    };
    let rows: Vec<Vec<f32>> = (0..pixels.n).into_par_iter().map(one).collect::<std::result::Result<_, _>>()?;
    control.finish();
    let matrix = Matrix { n: pixels.n, values: Buffer::F32(rows.concat()), dim: GREY_VALUES };
    drop(rows);
    let matrix = components::principal(&matrix, COMPONENTS, control)?;
    let notes = vec![note(matrix.dim, "edges and light")];
    Ok(Described { matrix, notes, kept: None })
}

fn note(dim: usize, what: &str) -> String {
    format!(
        "features are {dim} principal components of {what} of the pictures; embeddings of a model (--features) \
         usually do better"
    )
}

fn one(path: &Path, descriptor: &Descriptor, large: &Mutex<()>) -> Result<Vec<f32>> {
    let place = path.display().to_string();
    let bytes = pictures::checked_file(&place)?;
    let alone = pictures::is_large(&bytes).then(|| large.lock());
    let bitmap = pictures::decode(&bytes).map_err(|fault| fault.at(place))?;
    let row = descriptor.of_colour(&bitmap);
    drop(alone);
    Ok(row)
}
