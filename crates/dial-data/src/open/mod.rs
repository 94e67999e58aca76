//! Opens a pool of any format: find the format, read, attach labels, leave out or refuse bad rows, standardise.

mod file;
pub(crate) mod packed;
pub(crate) mod sniff;
pub(crate) mod formats;
pub(crate) mod labels;
pub(crate) mod features_file;
pub(crate) mod feature_kinds;
pub(crate) mod wanted;

use std::path::{Path, PathBuf};

use dial::Control;

use crate::embed::{self, Embed};
use crate::error::{Error, Fault, Result, first_few, plural};
use crate::featurize::image;
use crate::featurize::svd;
use crate::featurize::text;
use crate::generate::builtin;
use crate::media::folder;
use crate::media::text_lines;
pub(crate) use crate::open::file::{plain_file, read_file, read_lines_or_bytes};
use crate::open::formats::{Arrays, FORMATS, Format, Reader};
use crate::open::wanted::Wanted;
use crate::pool::ids;
use crate::pool::matrix::{Buffer, Matrix};
use crate::pool::show::{Picture, Show};
use crate::pool::{Draft, Kind, Pool, ReadOptions};
use crate::scenes::cube::Cube;
use crate::scenes::envi::data;
use crate::tables::column_roles;

/// The seed of built-in pools, wherever their name is opened as a pool: they are always the same.
pub const BUILTIN_SEED: u64 = 0;

/// Opens a pool: the path of a file or folder, `builtin:NAME`, or `builtin:NAME:N` for N items. The seed matters only
/// to built-in pools.
///
/// ```
/// use dial_data::{ReadOptions, open};
/// let pool = open("builtin:moons:100", &ReadOptions::default(), 1, &dial::Control::new())?;
/// assert_eq!((pool.matrix.n, pool.matrix.dim), (100, 2));
/// # Ok::<(), dial_data::Error>(())
/// ```
pub fn open(pool: &str, options: &ReadOptions, seed: u64, control: &Control) -> Result<Pool> {
    let (name, draft) = match pool.strip_prefix("builtin:") {
        Some(rest) => {
            no_columns(options)
                .and_then(|()| fits(options, false, None))
                .map_err(|fault| fault.at(pool))?;
            let made = builtin::make(rest, seed, control).map_err(|fault| fault.at(pool))?;
            let mut draft = Draft::new(made.matrix, made.show);
            (draft.truth, draft.notes, draft.metric) = (made.truth, made.notes, made.metric);
            draft.text_features = made.text_features;
            draft.without_model = made.text_features.is_some();
            (made.name, draft)
        }
        None => {
            let missing = |mut error: Error| {
                // The name of a built-in pool may have been meant.
                if error.place == pool && error.fault == Fault::Missing {
                    error.fault = Fault::MissingPool;
                }
                error
            };
            let draft = read_pool(pool, options).map_err(missing)?;
            (pool_name(pool), draft)
        }
    };
    finish(draft, name, pool, options, control)
}

/// The files that a pool or a file beside it consists of: a scene has a header and data, whichever was named.
pub fn parts(path: &Path) -> Vec<PathBuf> {
    let place = path.display().to_string();
    match data::is_envi(&place) {
        true => data::files(&place).unwrap_or_else(|| vec![path.to_path_buf()]),
        false => vec![path.to_path_buf()],
    }
}

/// The SHA-256 of a file, in hexadecimal, which identifies a version of a pool.
pub fn fingerprint(path: impl AsRef<std::path::Path>) -> Result<String> {
    use sha2::Digest;
    let bytes = read_file(&path.as_ref().display().to_string())?;
    Ok(hex::encode(sha2::Sha256::digest(&bytes)))
}

/// Reads a file of features, which need not be a complete pool: nothing is attached, checked or made.
pub(crate) fn features(place: &str, options: &ReadOptions) -> Result<Draft> {
    read(place, options)
}

/// Reads a pool; options that it has no use for may be meant for the file of features.
fn read_pool(place: &str, options: &ReadOptions) -> Result<Draft> {
    read(place, options).or_else(
        |refused| match features_file::left_for_pool(options, &refused) {
            Some(less) => read(place, &less).map_err(|_| refused),
            None => Err(refused),
        },
    )
}

fn read(place: &str, options: &ReadOptions) -> Result<Draft> {
    if Path::new(place).is_dir() {
        fits(options, true, None).map_err(|fault| fault.at(place))?;
        let mut draft = folder::read(place, options)?;
        // Paths as file systems spell them become ids as everybody spells them.
        let (ids, notes) =
            ids::checked(draft.id_list(), ids::Place::Row).map_err(|fault| fault.at(place))?;
        draft.ids = Some(ids);
        draft.notes.extend(notes);
        return Ok(draft);
    }
    if data::is_envi(place) {
        no_columns(options)
            .and_then(|()| fits(options, false, None))
            .map_err(|fault| fault.at(place))?;
        return data::read(place, options);
    }
    let bytes = read_lines_or_bytes(place)?;
    let here = |fault: Fault| fault.at(place);
    let format = sniff::format(place, &bytes).map_err(here)?;
    fits(options, false, Some(format)).map_err(here)?;
    if matches!(options.kind, Some(Kind::Images))
        || (options.kind == Some(Kind::Texts) && !format.is_delimited())
    {
        return Err(here(Fault::Setting(
            "--as does not fit this file, which is of another kind.".into(),
        )));
    }
    if options.kind == Some(Kind::Scene) && format.has_columns() {
        let text = "a table is not a scene. Give ENVI, or an array of height x width x bands in npy, npz or mat.";
        return Err(here(Fault::Setting(text.into())));
    }
    if !format.has_columns() {
        no_columns(options).map_err(here)?;
    }
    let mut draft = match format.reader {
        Reader::Array { read, pictures } => read(&bytes)
            .and_then(|array| match pictures {
                true => array_draft(array, options),
                false => guessed_draft(array, options),
            })
            .map_err(here)?,
        Reader::Arrays(Arrays { pool, .. }) => pool(&bytes, place, options)?,
        Reader::Sheet(_) if format.is_delimited() && text_lines::wanted(place, &bytes, options) => {
            text_lines::read(&bytes, place, options).map_err(here)?
        }
        Reader::Sheet(read) => read(bytes.into(), place, Wanted::Pool(options))
            .and_then(|(sheet, roles)| column_roles::draft(sheet, roles, place, options))
            .map_err(here)?,
    };
    if draft.lines.is_none()
        && let Some(list) = draft.ids.take()
    {
        let (list, notes) = ids::checked(list, ids::Place::Row).map_err(here)?;
        draft.ids = Some(list);
        draft.notes.extend(notes);
    }
    Ok(draft)
}

/// Refuses options that mean nothing to a pool: they were meant for another one.
fn fits(options: &ReadOptions, folder: bool, format: Option<&Format>) -> Result<(), Fault> {
    let columns = format.is_some_and(Format::has_columns);
    // Names of columns may be meant for the files beside the pool.
    let (labels, beside) = (
        options.labels_file.is_some(),
        options.features_file.is_some(),
    );
    let arrays = format.is_some_and(Format::has_arrays);
    if options.folder_labels && !folder {
        return Err(Fault::Setting(
            "--folder-labels is for a folder of pictures or texts.".into(),
        ));
    }
    let typed = [
        (
            options.label_column.is_some() && !labels && !arrays,
            "--label-column",
        ),
        (
            options.id_column.is_some() && !labels && !beside,
            "--id-column",
        ),
        (options.text_column.is_some(), "--text-column"),
        (options.image_column.is_some(), "--image-column"),
        (options.delimiter.is_some(), "--delimiter"),
        (options.decimal_comma.is_some(), "--decimal"),
    ];
    let text = folder || format.is_some_and(|format| format.text);
    if options.encoding.is_some() && !text && !labels && !beside {
        return Err(Fault::Setting(
            "--encoding is for text, and this is none.".into(),
        ));
    }
    match typed.iter().find(|(given, _)| *given && !columns) {
        Some((_, name)) => Err(Fault::Setting(format!(
            "{name} is for tables, and this is none."
        ))),
        None => Ok(()),
    }
}

/// Refuses to leave out columns by name where columns have none.
fn no_columns(options: &ReadOptions) -> Result<(), Fault> {
    match options.drop_columns.first() {
        Some(name) => Err(Fault::Setting(format!(
            "--drop-column {name}: only the columns of a table have names."
        ))),
        None => Ok(()),
    }
}

pub(crate) fn array_draft(array: crate::Array, options: &ReadOptions) -> Result<Draft, Fault> {
    if options.kind == Some(Kind::Scene) {
        return Cube::of(array)?.into_draft(options);
    }
    let (matrix, show) = array.into_features()?;
    Ok(Draft::new(matrix, show))
}

/// The same, with a word on what three dimensions are taken for.
pub(crate) fn guessed_draft(array: crate::Array, options: &ReadOptions) -> Result<Draft, Fault> {
    let mut draft = array_draft(array, options)?;
    if let Show::Picture(Picture { height, width, .. }) = draft.show {
        let pictures = plural(draft.n, "picture", "pictures");
        draft.notes.push(format!(
            "three dimensions were read as {} {pictures} of {height} x {width}; --as scene reads them as height x width x \
             bands",
            draft.n
        ));
    }
    Ok(draft)
}

fn finish(
    mut draft: Draft,
    name: String,
    place: &str,
    options: &ReadOptions,
    control: &Control,
) -> Result<Pool> {
    match (&options.labels_file, labels_beside(place)) {
        (Some(path), _) => labels::attach(&mut draft, path, options)?,
        (None, Some(path)) => {
            labels::attach(&mut draft, Path::new(&path), options)?;
            draft.notes.push(format!("labels are in {path}"));
        }
        (None, None) => {}
    }
    if let Some(path) = &options.features_file {
        features_file::attach(&mut draft, path, options)?;
        draft.text_features = None;
        draft.without_model = false;
    }
    if options.variable.is_some() && !draft.named_arrays {
        let text = "--variable is for the arrays of an npz or mat file, and this is none.";
        return Err(Fault::Setting(text.into()).at(place));
    }
    if options.embed.is_some() {
        embeddable(&draft, options).map_err(|fault| fault.at(place))?;
    }
    if (options.embed.is_some() || options.without_features) && !draft.show.by_numbers() {
        // Built-in texts come with features of their own.
        draft.matrix = None;
    }
    let mut matrix = match draft.matrix.take() {
        Some(matrix) if options.describe || options.embed.is_some() => {
            redescribed(&mut draft, matrix, place, options, control)?
        }
        Some(matrix) => matrix,
        None => described(&mut draft, place, options, control)?,
    };
    let of_features = draft
        .features_place
        .clone()
        .unwrap_or_else(|| place.to_string());
    drop_nonfinite(&mut draft, &mut matrix, options).map_err(|fault| fault.at(of_features))?;
    matrix = transformed(&mut draft, matrix, options, control).map_err(|fault| fault.at(place))?;
    if let Some(truth) = &draft.truth {
        let unknown = truth.labels.len() - truth.known();
        if unknown > 0 {
            draft.notes.push(format!(
                "{unknown} of {} labels are unknown (empty, -1, NA and the like)",
                truth.labels.len()
            ));
        }
    }
    if draft.truth.is_some() {
        draft.could_be_labels.clear();
    } else if !draft.could_be_labels.is_empty() {
        draft
            .notes
            .push(labels_note(&draft.could_be_labels, draft.named_arrays));
    }
    let Draft {
        original,
        metric,
        ids,
        truth,
        show,
        model,
        beside,
        text_features,
        without_model,
        notes,
        could_be_labels,
        ..
    } = draft;
    Ok(Pool {
        name,
        matrix,
        original,
        metric,
        ids,
        truth,
        show,
        model,
        beside,
        text_features,
        without_model,
        notes,
        could_be_labels,
    })
}

/// Refuses a model for items that are neither texts nor pictures, or that have features already.
fn embeddable(draft: &Draft, options: &ReadOptions) -> Result<(), Fault> {
    let text = match &draft.show {
        _ if options.features_file.is_some() => {
            "--embed and --features both say what the features are: give one of them."
        }
        _ if options.describe => {
            "--embed and --describe both say what the features are: give one of them."
        }
        Show::Texts(_) | Show::Images(_) | Show::Picture(_) => return Ok(()),
        Show::Numbers(_) | Show::Scene(_) => {
            "--embed is for texts and pictures, and these items are neither. Of a table, name the column of the texts with \
             --text-column, or that of the pictures with --image-column."
        }
    };
    Err(Fault::Setting(text.into()))
}

/// Where labels might be.
fn labels_note(names: &[String], arrays: bool) -> String {
    let (listed, many) = (names.join(", "), names.len());
    let from = match (names, arrays) {
        (_, true) => {
            format!(
                "NAME can take them from the {} {listed} (one value per row)",
                plural(many, "array", "arrays")
            )
        }
        ([only], false) => format!("{only} takes them from a column of few values"),
        (_, false) => format!("NAME takes them from a column of few values: {listed}"),
    };
    format!("no labels were found; --label-column {from}")
}

/// Features of items that come without.
fn described(
    draft: &mut Draft,
    place: &str,
    options: &ReadOptions,
    control: &Control,
) -> Result<Matrix> {
    if options.without_features {
        return Ok(Matrix {
            values: Buffer::F32(Vec::new()),
            n: draft.n,
            dim: 0,
        });
    }
    let here = |fault: Fault| fault.at(place);
    let is_folder = Path::new(place).is_dir();
    let described = match &draft.show {
        Show::Texts(texts) => {
            let words = options.embed.as_ref().is_none_or(Embed::with_words);
            draft.text_features = words.then_some(text::VERSION);
            match &options.embed {
                Some(how) => {
                    let (described, fingerprint) = embed::describe(texts, how, control)
                        .map_err(|fault| by_model(fault, how, place))?;
                    draft.model = Some(fingerprint);
                    described
                }
                None => text::describe(texts, control).map_err(here)?,
            }
        }
        Show::Images(images) => {
            // Where a table lists them, its lines say more than the files alone.
            let listed = |(row, file): (usize, &String)| match is_folder {
                true => file.clone(),
                false => format!("{}: {file}", draft.row_in_words(row)),
            };
            let names: Vec<String> = images.files.iter().enumerate().map(listed).collect();
            match &options.embed {
                Some(how) => {
                    let made = embed::describe_files(images, &names, how, options, control);
                    let (described, fingerprint) =
                        made.map_err(|fault| by_model(fault, how, place))?;
                    draft.model = Some(fingerprint);
                    described
                }
                None => image::describe(images, &names, options, control).map_err(here)?,
            }
        }
        Show::Numbers(_) | Show::Picture(_) | Show::Scene(_) => {
            unreachable!("what is shown by numbers has come with them")
        }
    };
    draft.without_model = draft.model.is_none();
    draft.notes.extend(described.notes);
    if let Some(keep) = described.kept {
        draft.select_rows(&keep);
    }
    Ok(described.matrix)
}

/// The place of a fault while a model embedded: the pool where its pictures are at fault, else the model.
fn by_model(fault: Fault, how: &Embed, place: &str) -> Error {
    match fault {
        Fault::Pictures { .. } => fault.at(place),
        fault => fault.at(how.model.display().to_string()),
    }
}

/// Descriptors or embeddings in place of the pixels of grey pictures, which are kept for showing.
fn redescribed(
    draft: &mut Draft,
    mut pixels: Matrix,
    place: &str,
    options: &ReadOptions,
    control: &Control,
) -> Result<Matrix> {
    let here = |fault: Fault| fault.at(place);
    let picture = match draft.show {
        Show::Picture(picture) if options.features_file.is_none() => picture,
        Show::Picture(_) => {
            return Err(here(Fault::Setting(
                "--describe: --features are given already.".into(),
            )));
        }
        _ => {
            return Err(here(Fault::Setting(
                "--describe: these items are not pictures (n x height x width).".into(),
            )));
        }
    };
    drop_nonfinite(draft, &mut pixels, options).map_err(here)?;
    let described = match &options.embed {
        Some(how) => {
            let made = embed::describe_rows(&pixels, picture, how, control);
            let (described, fingerprint) = made.map_err(|fault| by_model(fault, how, place))?;
            draft.model = Some(fingerprint);
            described
        }
        None => image::describe_rows(&pixels, picture, control).map_err(here)?,
    };
    draft.notes.extend(described.notes);
    draft.original = Some(pixels);
    Ok(described.matrix)
}

/// Columns on one scale, and fewer of them, as asked for or as suits the pool.
fn transformed(
    draft: &mut Draft,
    mut matrix: Matrix,
    options: &ReadOptions,
    control: &Control,
) -> Result<Matrix, Fault> {
    let standardize = options.standardize.unwrap_or(draft.standardize);
    if (standardize || options.components.is_some())
        && draft.original.is_none()
        && draft.show.by_numbers()
    {
        draft.original = Some(matrix.clone());
    }
    if standardize {
        matrix.standardize_first(matrix.dim - draft.categories);
    }
    match options.components {
        Some(components) => {
            let reduced = svd::principal(&matrix, components, control)?;
            if reduced.dim < components {
                draft.notes.push(format!(
                    "there are only {} principal components",
                    reduced.dim
                ));
            }
            Ok(reduced)
        }
        None => Ok(matrix),
    }
}

fn drop_nonfinite(
    draft: &mut Draft,
    matrix: &mut Matrix,
    options: &ReadOptions,
) -> Result<(), Fault> {
    let Some(((row, column), count, rows)) = matrix.nonfinite() else {
        return Ok(());
    };
    if !options.drop_nonfinite {
        let value = matrix.get(row, column);
        return Err(Fault::NonFinite {
            count,
            rows,
            at: draft.position(row, column),
            value,
        });
    }
    let bad = matrix.nonfinite_rows();
    let keep: Vec<usize> = (0..matrix.n)
        .filter(|row| bad.binary_search(row).is_err())
        .collect();
    if keep.is_empty() {
        return Err(Fault::Shape(
            "no rows: every row holds a non-finite value".into(),
        ));
    }
    let words = bad.iter().map(|&row| draft.item_in_words(row));
    let text = first_few(words, rows, ", ");
    draft.notes.push(format!(
        "left out {rows} {} with non-finite values: {text}",
        plural(rows, "row", "rows")
    ));
    draft.select_rows(&keep);
    *matrix = matrix.select_rows(&keep);
    Ok(())
}

/// MNIST keeps the labels of `*images-idx3*` in `*labels-idx1*`, packed or not.
fn labels_beside(place: &str) -> Option<String> {
    let (folder, file) = match place.rsplit_once(['/', '\\']) {
        Some((folder, file)) => (place.get(..=folder.len()).unwrap_or_default(), file),
        None => ("", place),
    };
    let name = format!(
        "{folder}{}",
        Some(file.replace("images-idx3", "labels-idx1")).filter(|name| name != file)?
    );
    let bare = packed::bare(&name).to_string();
    let packed = packed::ENDINGS.map(|ending| format!("{bare}{ending}"));
    [name, bare]
        .into_iter()
        .chain(packed)
        .find(|path| Path::new(path).is_file())
}

/// The short name of a pool: that of the file without its ending.
pub fn pool_name(place: &str) -> String {
    let file = Path::new(place).file_name().map_or_else(
        || place.to_string(),
        |name| name.to_string_lossy().into_owned(),
    );
    let known = |ending: &str| {
        let ours = FORMATS.iter().flat_map(|format| format.endings);
        ours.filter_map(|known| known.strip_prefix('.'))
            .chain(data::DATA_ENDINGS)
            .any(|known| known == ending)
    };
    let cut = |name: String| match name.rsplit_once('.') {
        Some((stem, ending)) if known(ending) || ending == "hdr" => stem.to_string(),
        _ => name,
    };
    Some(cut(cut(packed::bare(&file).to_string())))
        .filter(|name| !name.is_empty())
        .unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_endings() {
        for (path, name) in [
            ("a/b.npz", "b"),
            ("x.csv.gz", "x"),
            ("x.jsonl.zst", "x"),
            (".gz", ".gz"),
            (".npy", ".npy"),
            ("a.b/c.d", "c.d"),
        ] {
            assert_eq!(pool_name(path), name);
        }
    }

    #[test]
    fn what_is_not_a_file() {
        let none = ReadOptions::default();
        let missing = open("no/such/file.npy", &none, 0, &Control::new()).unwrap_err();
        assert_eq!(missing.code(), "I5");
        let text = missing.to_string();
        assert!(
            text.starts_with("no/such/file.npy: no such file.") && text.contains("moons, "),
            "{text}"
        );
        let folder = open(".", &none, 0, &Control::new()).unwrap_err();
        assert_eq!((folder.code(), folder.kind().exit_code()), ("I5", 3));
    }
}
