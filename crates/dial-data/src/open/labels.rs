//! Labels in a separate file: one per row (an array, ENVI, or a table of one column), or a table of ids and labels
//! joined by id.

use std::collections::HashMap;
use std::path::Path;

use crate::arrays::array::Array;
use crate::error::{Fault, Result, first_few, plural};
use crate::open::formats::{Arrays, Reader};
use crate::open::read_lines_or_bytes;
use crate::open::sniff;
use crate::open::wanted::Wanted;
use crate::pool::ids;
use crate::pool::show::{Scene, Show};
use crate::pool::truth::{self, Truth};
use crate::pool::{Draft, ReadOptions};
use crate::scenes::envi::data::{self, ClassNames};
use crate::tables::column_roles::Roles;
use crate::tables::frame::{Column, Sheet};

/// One label per row, and the sides of the map they are if they are one.
pub(crate) struct RowLabels {
    pub names: Vec<String>,
    pub sides: Option<(usize, usize)>,
}

impl RowLabels {
    /// An array of labels.
    pub fn of(array: Array) -> Result<RowLabels, Fault> {
        let sides = match *array.shape.as_slice() {
            [height, width] if height > 1 && width > 1 => Some((height, width)),
            _ => None,
        };
        Ok(RowLabels {
            names: array.into_labels()?,
            sides,
        })
    }
}

/// What the file holds.
enum Labels {
    /// One label per row.
    Rows(RowLabels),
    /// Rows with an id.
    ById(Vec<Named>),
}

/// A label, the id it belongs to, and where they stand.
struct Named {
    id: String,
    label: String,
    place: ids::Place,
}

/// A file of labels: what it holds, how that is joined where it is a choice, and what is to be said of the file.
struct Read {
    labels: Labels,
    joined: Option<String>,
    said: Vec<String>,
}

/// The columns of a file of labels, and how they are joined to the pool.
struct Choice {
    id: Option<usize>,
    label: usize,
    note: Option<String>,
}

impl Choice {
    /// One rule for all formats: a single column is the labels; of two columns one is the ids.
    fn new(names: &[String], roles: &Roles) -> Result<Choice, Fault> {
        let (id, label) = match (roles.id, roles.label, names.len()) {
            (_, _, 1) => (None, 0),
            (Some(id), Some(label), _) => (Some(id), label),
            (None, Some(label), 2) => (Some(1 - label.min(1)), label),
            (None, Some(label), _) => (None, label),
            (Some(id), None, 2) => (Some(id), 1 - id.min(1)),
            (None, None, 2) => (Some(0), 1),
            _ => {
                return Err(Fault::Labels(format!(
                    "{} columns and none named label.",
                    names.len()
                )));
            }
        };
        let name = |at: usize| names.get(at).map_or("", String::as_str);
        let note = match id {
            _ if names.len() == 1 => None,
            Some(id) => Some(format!(
                "labels are the column {}, joined by id (the column {})",
                name(label),
                name(id)
            )),
            None => Some(format!(
                "labels are the column {}, joined by row",
                name(label)
            )),
        };
        Ok(Choice { id, label, note })
    }
}

/// Reads the labels of a draft.
pub(crate) fn attach(draft: &mut Draft, path: &Path, options: &ReadOptions) -> Result<()> {
    let place = path.display().to_string();
    let here = |fault: Fault| fault.at(place.as_str());
    if data::is_envi(&place) {
        let ClassNames {
            names,
            height,
            width,
            notes,
        } = data::labels(&place)?;
        draft.notes.extend(notes);
        return give(
            draft,
            RowLabels {
                names,
                sides: Some((height, width)),
            },
        )
        .map_err(here);
    }
    let Read {
        labels,
        joined,
        said,
    } = read(&place, options)?;
    draft.notes.extend(joined);
    draft
        .notes
        .extend(said.into_iter().map(|note| format!("{place}: {note}")));
    match labels {
        Labels::Rows(labels) => give(draft, labels).map_err(here),
        Labels::ById(rows) => {
            let names = by_id(draft, &rows, options).map_err(here)?;
            draft.truth = Some(Truth::from_names(&names).map_err(|error| here(error.fault))?);
            Ok(())
        }
    }
}

/// Gives a draft one label per row. A map must have the sides of the scene.
pub(crate) fn give(draft: &mut Draft, labels: RowLabels) -> Result<(), Fault> {
    if let (Show::Scene(Scene { height, width, .. }), Some(sides)) = (&draft.show, labels.sides)
        && sides != (*height, *width)
    {
        let turned = if sides == (*width, *height) {
            " Turn one of them (transpose)."
        } else {
            ""
        };
        let text = format!(
            "a map of {} x {} labels for a scene of {height} x {width} pixels.{turned}",
            sides.0, sides.1
        );
        return Err(Fault::Labels(text));
    }
    let scene = match (&draft.show, labels.names.len()) {
        (Show::Picture(picture), count)
            if count != draft.n && Some(count) == draft.n.checked_mul(picture.height) =>
        {
            " They fit the pixels of a scene of height x width x bands: --as scene reads it so."
        }
        _ => "",
    };
    let names = by_row(draft, labels.names).map_err(|fault| match fault {
        Fault::Labels(text) => Fault::Labels(format!("{text}{scene}")),
        other => other,
    })?;
    draft.truth = Some(Truth::from_names(&names).map_err(|error| error.fault)?);
    Ok(())
}

fn read(place: &str, options: &ReadOptions) -> Result<Read> {
    let bytes = read_lines_or_bytes(place)?;
    let here = |fault: Fault| fault.at(place);
    let by_row = |labels: RowLabels| Read {
        labels: Labels::Rows(labels),
        joined: None,
        said: Vec::new(),
    };
    match sniff::format(place, &bytes).map_err(here)?.reader {
        Reader::Array { read, .. } => read(&bytes)
            .and_then(RowLabels::of)
            .map(by_row)
            .map_err(here),
        Reader::Arrays(Arrays { labels, .. }) => labels(&bytes, place, options).map(by_row),
        Reader::Sheet(read) => {
            let choose = |names: &[String], roles: &Roles| {
                Choice::new(names, roles)
                    .map(|Choice { id, label, .. }| id.into_iter().chain([label]).collect())
            };
            // Those options of the pool that apply to a file of labels too.
            let own = ReadOptions {
                id_column: options.id_column.clone(),
                label_column: options.label_column.clone(),
                skip_bad: options.skip_bad,
                encoding: options.encoding,
                ..ReadOptions::default()
            };
            read(bytes.into(), place, Wanted::Words(&own, &choose))
                .and_then(|(sheet, roles)| from_sheet(sheet, &roles))
                .map_err(here)
        }
    }
}

/// Labels from a file with named columns.
fn from_sheet(mut sheet: Sheet, roles: &Roles) -> Result<Read, Fault> {
    let Choice { id, label, note } = Choice::new(&sheet.names, roles)?;
    if sheet.names.len() == 1 {
        sheet.notes.retain(|note| !note.contains("no header"));
    }
    let mut words = |at: usize| match sheet.columns.get_mut(at) {
        Some(column) => {
            std::mem::replace(column, Column::Other(String::new())).into_words(sheet.rows)
        }
        None => Vec::new(),
    };
    let (labels, ids) = (words(label), id.map(words));
    let labels = truth::class_names(labels, |row| sheet.place(row).in_words())?;
    let labels = match ids {
        None => Labels::Rows(RowLabels {
            names: in_file(labels, &sheet),
            sides: None,
        }),
        Some(ids) => {
            let rows = ids.iter().zip(labels).enumerate();
            let named = |(row, (id, label)): (usize, (&String, String))| Named {
                id: ids::normal(id),
                label,
                place: sheet.place(row),
            };
            Labels::ById(rows.map(named).collect())
        }
    };
    Ok(Read {
        labels,
        joined: note,
        said: sheet.notes,
    })
}

/// One label for each row of the file; those that were left out have none.
fn in_file(labels: Vec<String>, sheet: &Sheet) -> Vec<String> {
    let Some((kept, total)) = &sheet.kept else {
        return labels;
    };
    let mut all = vec![String::new(); *total];
    for (&row, label) in kept.iter().zip(labels) {
        all.get_mut(row)
            .into_iter()
            .for_each(|slot| slot.clone_from(&label));
    }
    all
}

/// One label per row of the file; rows that were left out of the pool are left out here too.
fn by_row(draft: &Draft, names: Vec<String>) -> Result<Vec<String>, Fault> {
    let n = draft.n;
    match &draft.kept {
        Some((kept, total)) if names.len() == *total => {
            Ok(kept.iter().filter_map(|&r| names.get(r).cloned()).collect())
        }
        _ if names.len() == n => Ok(names),
        _ => Err(Fault::Labels(format!(
            "{} {} for {n} rows.",
            names.len(),
            plural(names.len(), "label", "labels")
        ))),
    }
}

fn by_id(draft: &mut Draft, rows: &[Named], options: &ReadOptions) -> Result<Vec<String>, Fault> {
    let own = draft.id_list();
    let mut index: HashMap<&str, Option<(&str, ids::Place)>> =
        own.iter().map(|id| (id.as_str(), None)).collect();
    let (mut unknown, mut double, mut again) = (Vec::new(), Vec::new(), 0);
    for Named { id, label, place } in rows {
        let here = || place.in_words();
        match index.get_mut(id.as_str()) {
            None => unknown.push(format!("{id:?} ({})", here())),
            Some(slot @ None) => *slot = Some((label, *place)),
            Some(Some((first, _))) if *first == label => again += 1,
            Some(Some((first, at))) => {
                double.push(format!(
                    "{id:?} is {first:?} ({}) and {label:?} ({})",
                    at.in_words(),
                    here()
                ));
            }
        }
    }
    if !double.is_empty() {
        let words = first_few(&double, double.len(), "; ");
        return Err(Fault::Labels(format!("two classes for one id: {words}.")));
    }
    if !unknown.is_empty() {
        let words = first_few(&unknown, unknown.len(), ", ");
        let count = unknown.len();
        let text = format!(
            "{count} {} not in the pool: {words}",
            plural(count, "id is", "ids are")
        );
        if !options.skip_unknown {
            return Err(Fault::Labels(format!(
                "{text} (--on-unknown skip leaves them out)."
            )));
        }
        draft
            .notes
            .push(format!("{text}; their labels were left out"));
    }
    if again > 0 {
        let rows = plural(again, "row repeats", "rows repeat");
        draft.notes.push(format!(
            "{again} {rows} the label of an id that has the same one already"
        ));
    }
    let label = |id: &String| {
        index
            .get(id.as_str())
            .copied()
            .flatten()
            .map(|(label, _)| label.to_string())
    };
    let names: Vec<String> = own.iter().map(|id| label(id).unwrap_or_default()).collect();
    Ok(names)
}
