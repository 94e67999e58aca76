//! A table that lists picture files: their paths, from the folder of the table, and those that are not there.

use std::path::{Component, Path, PathBuf};

use crate::error::{Fault, first_few, plural};
use crate::media::inside::{Place, Root};
use crate::pool::show::{Images, Show};
use crate::pool::{Draft, ReadOptions};
use crate::tables::frame::{BadRows, Column, Sheet, is_missing};
use crate::tables::item_view;

/// Pictures in files, whose paths are from the folder of the table.
pub(crate) fn draft(
    sheet: &Sheet,
    files: Vec<String>,
    rest: &mut Vec<(String, Column)>,
    place: &str,
) -> Draft {
    let folder = match Path::new(place).parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => ".".into(),
    };
    let roots: Vec<PathBuf> = [std::path::absolute(&folder), folder.canonicalize()]
        .into_iter()
        .flatten()
        .collect();
    let clean: Vec<String> = files
        .iter()
        .map(|file| from_folder(file.replace('\\', "/"), &roots))
        .collect();
    let mut draft = Draft::shown(
        sheet.rows,
        Show::Images(Images {
            folder,
            files: clean,
        }),
    );
    draft.beside = item_view::beside(rest, sheet.rows);
    draft
}

/// An absolute path as one from the folder, whose own path is one of those given; any other as it is.
fn from_folder(file: String, roots: &[PathBuf]) -> String {
    let path = Path::new(&file);
    if !path.is_absolute() {
        return file;
    }
    let within = roots
        .iter()
        .find_map(|root| path.strip_prefix(root).ok())
        .and_then(Path::to_str);
    within
        .map(|within| within.replace('\\', "/"))
        .unwrap_or(file)
}

/// Whether a path is absolute or goes up out of its folder.
fn leaves_folder(file: &str) -> bool {
    let mut depth = 0i64;
    let drive = file.as_bytes().get(1) == Some(&b':');
    drive
        || Path::new(file).components().any(|part| {
            match part {
                Component::Normal(_) => depth += 1,
                Component::ParentDir => depth -= 1,
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => depth = -1,
            }
            depth < 0
        })
}

/// Where the picture of each row is. A path that leads out of the folder is outside, whether or not there is such a file.
fn places(images: &Images) -> Vec<Place> {
    // A folder that is not there has no pictures.
    let root = Root::of(&images.folder).ok();
    let place = |file: &String| match &root {
        _ if leaves_folder(file) => Place::Outside,
        Some(root) => root.find(file),
        None => Place::NoFile,
    };
    images.files.iter().map(place).collect()
}

/// Refuses pictures outside the folder of the table.
fn all_inside(draft: &Draft, images: &Images, places: &[Place]) -> Result<(), Fault> {
    let outside = (images.files.iter().zip(places).enumerate())
        .filter(|(_, (_, place))| **place == Place::Outside);
    let outside: Vec<String> = outside
        .map(|(row, (file, _))| format!("{}: {file:?}", draft.row_in_words(row)))
        .collect();
    if outside.is_empty() {
        return Ok(());
    }
    let (count, listed) = (outside.len(), first_few(&outside, outside.len(), "; "));
    let text = format!(
        "{count} {} outside the folder of the table",
        plural(count, "picture is", "pictures are")
    );
    let next = "Write the paths from the folder of the table, put the table beside the pictures, copy the files that links \
                lead to, or pass --skip-bad to leave such rows out.";
    Err(Fault::format(format!("{text} ({listed})"), next))
}

/// Refuses or leaves out rows whose picture is not there, or not in the folder of the table.
pub(crate) fn leave_out_missing(draft: &mut Draft, options: &ReadOptions) -> Result<(), Fault> {
    let Show::Images(images) = &draft.show else {
        return Ok(());
    };
    let places = places(images);
    if !options.skip_bad {
        all_inside(draft, images, &places)?;
    }
    let mut bad = BadRows::default();
    let mut keep = Vec::with_capacity(draft.n);
    for (row, (file, place)) in images.files.iter().zip(&places).enumerate() {
        let why = match place {
            _ if is_missing(file) => "no picture is named".to_string(),
            Place::Outside => format!("{file:?} is outside the folder of the table"),
            Place::NoFile => format!("there is no picture {file:?}"),
            Place::File(_) => {
                keep.push(row);
                continue;
            }
        };
        bad.push(|| match draft.line(row) {
            Some(line) => (line, why),
            None => (0, format!("row {row}: {why}")),
        });
    }
    let bad = bad.refused(options.skip_bad)?;
    if keep.is_empty() {
        return Err(Fault::Shape("no rows: every picture is missing".into()));
    }
    if let Some(note) = bad.note() {
        draft.notes.push(note);
        draft.select_rows(&keep);
    }
    Ok(())
}
