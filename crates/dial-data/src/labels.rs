//! Labels in a file of their own: one per row (npy, npz, IDX, MATLAB, ENVI, or text of one column), or text of ids and labels
//! joined by id.

use std::collections::HashMap;
use std::path::Path;

use crate::array::Array;
#[cfg(feature = "parquet")]
use crate::columnar::{self, Container};
use crate::dialect;
use crate::envi_data::{self, ClassNames};
use crate::error::{Error, Fault, LISTED, Result, first_few, plural};
use crate::ids;
use crate::idx;
use crate::json;
use crate::mat_pool;
use crate::npy;
use crate::npz;
use crate::open::read_file;
use crate::pool::{Draft, ReadOptions};
use crate::records::Record;
use crate::roles::Roles;
use crate::sheet::Sheet;
use crate::show::{Scene, Show};
use crate::sniff::{self, Format};
use crate::table::{self, Columns};
use crate::truth::Truth;

/// One label per row, and the sides of the map they are if they are one.
pub(crate) struct RowLabels {
    pub names: Vec<String>,
    pub sides: Option<(usize, usize)>,
}

impl RowLabels {
    /// An array of labels.
    pub fn of(array: Array) -> std::result::Result<RowLabels, Fault> {
        let sides = match *array.shape.as_slice() {
            [height, width] if height > 1 && width > 1 => Some((height, width)),
            _ => None,
        };
        Ok(RowLabels { names: array.into_labels()?, sides })
    }
}

/// What the file holds.
enum Labels {
    /// One label per row.
    Rows(RowLabels),
    /// An id, its label, and the line.
    ById(Vec<(String, String, usize)>),
}

/// Reads the labels of a draft.
pub(crate) fn attach(draft: &mut Draft, path: &Path, options: &ReadOptions) -> Result<()> {
    let place = path.display().to_string();
    let here = |fault: Fault| fault.at(place.as_str());
    if envi_data::is_envi(&place) {
        let ClassNames { names, height, width, notes } = envi_data::labels(&place)?;
        draft.notes.extend(notes);
        return give(draft, RowLabels { names, sides: Some((height, width)) }).map_err(here);
    }
    match read(&place, options)? {
        Labels::Rows(labels) => give(draft, labels).map_err(here),
        Labels::ById(rows) => {
            let names = by_id(draft, &rows, options).map_err(here)?;
            draft.truth = Some(Truth::from_names(&names).map_err(|error| here(error.fault))?);
            Ok(())
        }
    }
}

/// Gives a draft one label per row. A map must have the sides of the scene.
pub(crate) fn give(draft: &mut Draft, labels: RowLabels) -> std::result::Result<(), Fault> {
    if let (Show::Scene(Scene { height, width, .. }), Some(sides)) = (&draft.show, labels.sides)
        && sides != (*height, *width)
    {
        let turned = if sides == (*width, *height) { " Turn one of them (transpose)." } else { "" };
        let text =
            format!("a map of {} x {} labels for a scene of {height} x {width} pixels.{turned}", sides.0, sides.1);
        return Err(Fault::Labels(text));
    }
    draft.truth = Some(Truth::from_names(&by_row(draft, labels.names)?).map_err(|error| error.fault)?);
    Ok(())
}

fn read(place: &str, options: &ReadOptions) -> Result<Labels> {
    let bytes = read_file(place)?;
    let here = |fault: Fault| -> Error { fault.at(place) };
    let array = |array: std::result::Result<Array, Fault>| array.and_then(RowLabels::of).map(Labels::Rows);
    match sniff::format(place, &bytes).map_err(here)? {
        Format::Npy => array(npy::read(&bytes)).map_err(here),
        Format::Idx => array(idx::read(&bytes)).map_err(here),
        Format::Gzip => array(idx::read_gzip(&bytes)).map_err(here),
        Format::Mat => mat_pool::labels(&bytes, options).map(Labels::Rows).map_err(here),
        Format::Npz => from_npz(&bytes, place, options),
        Format::Table => from_table(&bytes, options).map_err(here),
        #[cfg(feature = "parquet")]
        Format::Parquet => {
            from_sheet(options, |options| columnar::sheet(bytes.clone(), Container::Parquet, options)).map_err(here)
        }
        #[cfg(feature = "parquet")]
        Format::Arrow => {
            from_sheet(options, |options| columnar::sheet(bytes.clone(), Container::Arrow, options)).map_err(here)
        }
        #[cfg(not(feature = "parquet"))]
        Format::Parquet | Format::Arrow => Err(here(sniff::without_parquet())),
        Format::Json => from_sheet(options, |options| json::sheet(&bytes, options)).map_err(here),
    }
}

fn from_npz(bytes: &[u8], place: &str, options: &ReadOptions) -> Result<Labels> {
    let arrays = npz::arrays(bytes, place)?;
    let names = options.label_column.as_deref().into_iter().chain(["labels", "y"]);
    let named = names.into_iter().find_map(|name| arrays.iter().find(|array| array.name == name));
    let chosen = match (named, arrays.as_slice()) {
        (Some(array), _) | (None, [array]) => array,
        _ => return Err(Fault::Labels("there is no array named labels or y.".into()).at(place)),
    };
    let here = |fault: Fault| fault.at(format!("{place}: array {}", chosen.name));
    RowLabels::of(chosen.read(place)?).map(Labels::Rows).map_err(here)
}

fn from_table(bytes: &[u8], options: &ReadOptions) -> std::result::Result<Labels, Fault> {
    // The names given for the pool's columns count here too, where there are such columns.
    let own = own(options);
    let bytes = &*dialect::utf8(bytes)?;
    let columns = table::columns(bytes, &own).or_else(|_| table::columns(bytes, &ReadOptions::default()))?;
    let (id, label) = match (columns.roles.id, columns.roles.label, columns.names.len()) {
        (_, _, 1) => (None, 0),
        (Some(id), Some(label), _) => (Some(id), label),
        (None, Some(label), _) if columns.names.len() != 2 => (None, label),
        (None, Some(label), _) => (Some(1 - label.min(1)), label),
        (Some(id), None, 2) => (Some(id), 1 - id.min(1)),
        (None, None, 2) => (Some(0), 1),
        _ => return Err(Fault::Labels(format!("{} columns and none named label.", columns.names.len()))),
    };
    let rows = label_rows(&columns, bytes, id, label)?;
    Ok(match id {
        Some(_) => Labels::ById(rows),
        None => Labels::Rows(RowLabels { names: rows.into_iter().map(|(_, label, _)| label).collect(), sides: None }),
    })
}

/// The options that count for a file of labels.
fn own(options: &ReadOptions) -> ReadOptions {
    ReadOptions {
        id_column: options.id_column.clone(),
        label_column: options.label_column.clone(),
        ..ReadOptions::default()
    }
}

/// Labels from any other file with named columns.
fn from_sheet(
    options: &ReadOptions,
    read: impl Fn(&ReadOptions) -> std::result::Result<(Sheet, Roles), Fault>,
) -> std::result::Result<Labels, Fault> {
    let (sheet, roles) = read(&own(options)).or_else(|_| read(&ReadOptions::default()))?;
    let Some(label) = roles.label.or((sheet.columns.len() == 1).then_some(0)) else {
        return Err(Fault::Labels(format!("{} columns and none named label.", sheet.columns.len())));
    };
    let mut words: Vec<Option<Vec<String>>> = sheet
        .columns
        .into_iter()
        .enumerate()
        .map(|(at, column)| (at == label || Some(at) == roles.id).then(|| column.into_words(sheet.rows)))
        .collect();
    let labels = words.get_mut(label).and_then(Option::take).unwrap_or_default();
    let Some(ids) = roles.id.and_then(|id| words.get_mut(id)).and_then(Option::take) else {
        return Ok(Labels::Rows(RowLabels { names: labels, sides: None }));
    };
    let line = |row: usize| sheet.lines.as_ref().and_then(|lines| lines.get(row)).copied().unwrap_or(row);
    let rows = ids.iter().zip(labels).enumerate().map(|(row, (id, label))| (ids::normal(id), label, line(row)));
    Ok(Labels::ById(rows.collect()))
}

fn label_rows(
    columns: &Columns,
    bytes: &[u8],
    id: Option<usize>,
    label: usize,
) -> std::result::Result<Vec<(String, String, usize)>, Fault> {
    let mut records = columns.records(bytes);
    let mut record = Record::default();
    let (mut rows, mut bad) = (Vec::new(), Vec::new());
    while records.next(&mut record) {
        match columns.fault(&record) {
            Some(fault) => bad.push((record.line, fault)),
            None => {
                let id = id.map(|column| ids::normal(record.field(column))).unwrap_or_default();
                rows.push((id, record.field(label).to_string(), record.line));
            }
        }
    }
    let total = bad.len();
    bad.truncate(LISTED);
    if total > 0 { Err(Fault::Rows { bad, total }) } else { Ok(rows) }
}

/// One label per row of the file; rows that were left out of the pool are left out here too.
fn by_row(draft: &Draft, names: Vec<String>) -> std::result::Result<Vec<String>, Fault> {
    let n = draft.n;
    match &draft.kept {
        Some((kept, total)) if names.len() == *total => {
            Ok(kept.iter().filter_map(|&r| names.get(r).cloned()).collect())
        }
        _ if names.len() == n => Ok(names),
        _ => Err(Fault::Labels(format!("{} {} for {n} rows.", names.len(), plural(names.len(), "label", "labels")))),
    }
}

fn by_id(
    draft: &mut Draft,
    rows: &[(String, String, usize)],
    options: &ReadOptions,
) -> std::result::Result<Vec<String>, Fault> {
    let own = draft.id_list();
    let mut index: HashMap<&str, Option<(&str, usize)>> = own.iter().map(|id| (id.as_str(), None)).collect();
    let (mut unknown, mut double) = (Vec::new(), Vec::new());
    for (id, label, line) in rows {
        match index.get_mut(id.as_str()) {
            None => unknown.push(format!("{id:?} (line {line})")),
            Some(slot @ None) => *slot = Some((label, *line)),
            Some(Some((first, _))) if *first == label => {}
            Some(Some((first, at))) => double.push(format!("{id:?} is {first} (line {at}) and {label} (line {line})")),
        }
    }
    if !double.is_empty() {
        let words = first_few(&double, double.len(), "; ");
        return Err(Fault::Labels(format!("two classes for one id: {words}.")));
    }
    if !unknown.is_empty() {
        let words = first_few(&unknown, unknown.len(), ", ");
        let count = unknown.len();
        let text = format!("{count} {} not in the pool: {words}", plural(count, "id is", "ids are"));
        if !options.skip_unknown {
            return Err(Fault::Labels(format!("{text} (--on-unknown skip leaves them out).")));
        }
        draft.notes.push(format!("{text}; their labels were left out"));
    }
    let label = |id: &String| index.get(id.as_str()).copied().flatten().map(|(label, _)| label.to_string());
    let names: Vec<String> = own.iter().map(|id| label(id).unwrap_or_default()).collect();
    Ok(names)
}
