//! What the items of a sheet are shown by: pictures, texts, lists of numbers, or the cells of a table.
//!
//! A column that was named goes before one that is guessed. A single column of lists is the features, unchanged, no matter what
//! the items are shown by. Beside texts a reader has already taken short or uneven lists for something to read
//! ([`doubtful`]): those are tags, boxes and tokens. What is shown beside the items is said, with the columns that look
//! like labels.

use std::collections::HashSet;

use crate::error::{Fault, first_few};
use crate::media::image_list;
use crate::pool::matrix::Matrix;
use crate::pool::show::{Show, Table};
use crate::pool::{Draft, Kind, ReadOptions};
use crate::tables::categorical;
use crate::tables::column_roles::Roles;
use crate::tables::csv::number_format;
use crate::tables::frame::{Column, Sheet, is_missing};
use crate::tables::heuristics;

/// Default names of texts and pictures, the earlier the better.
pub(crate) const TEXT_NAMES: [&str; 12] = [
    "text",
    "sentence",
    "review",
    "body",
    "content",
    "document",
    "message",
    "comment",
    "tweet",
    "abstract",
    "question",
    "description",
];
pub(crate) const IMAGE_NAMES: [&str; 10] = [
    "image",
    "path",
    "file",
    "filename",
    "image_path",
    "img",
    "file_name",
    "filepath",
    "image_file",
    "picture",
];

/// Beside texts, lists of fewer numbers are hardly embeddings.
const MIN_EMBEDDING: usize = 8;
/// Columns with more different values are hardly labels.
const MOST_CLASSES: usize = 50;

/// Whether lists beside texts are not features: where the texts were asked for, where lists are short, and where their
/// lengths differ. `odd` of so many are not as wide as most.
pub(crate) fn doubtful(roles: &Roles, width: usize, odd: usize, all: usize) -> bool {
    roles.text.is_some()
        || width < MIN_EMBEDDING
        || number_format::are_words(odd, all.saturating_sub(odd))
}

/// What is said of such a column.
pub(crate) fn doubtful_note(name: &str) -> String {
    format!(
        "the column {name} holds lists of numbers and is shown beside the texts; to take it as features, name this file \
         with --features, too"
    )
}

/// Whether a name is usual above texts.
pub(crate) fn names_texts(name: &str) -> bool {
    TEXT_NAMES
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

/// A draft that shows the items, with features if there are any.
pub(crate) fn draft(
    sheet: &Sheet,
    roles: &Roles,
    rest: &mut Vec<(String, Column)>,
    notes: &mut Vec<String>,
    place: &str,
    options: &ReadOptions,
) -> Result<Draft, Fault> {
    let name = |column: Option<usize>| column.and_then(|at| sheet.names.get(at)).cloned();
    let embeddings = lists(rest, sheet.rows, notes)?;
    // A column that was named goes before one that is guessed; of a table as such nothing is guessed.
    let guess = options.kind != Some(Kind::Table);
    let mut image = image_column(rest, name(roles.image))
        .filter(|_| roles.image.is_some() || (guess && roles.text.is_none()));
    let mut text =
        text_column(rest, name(roles.text), sheet.rows).filter(|_| roles.text.is_some() || guess);
    // A table says more of what is left out, and names it where nothing else is there.
    if image.is_some() || text.is_some() || embeddings.is_some() {
        if let Some((name, Column::Other(what))) = image
            .or(text.as_ref().map(|(at, _)| *at))
            .and_then(|at| rest.get(at))
        {
            let found = format!("the column {name} holds {what}");
            return Err(Fault::format(
                found,
                "Give texts, or the paths of picture files.",
            ));
        }
        let before = |at: usize| {
            rest.iter()
                .take(at)
                .filter(|(_, c)| matches!(c, Column::Other(_)))
                .count()
        };
        (image, text) = (
            image.map(|at| at - before(at)),
            text.map(|(at, note)| (at - before(at), note)),
        );
        left_out(rest, notes);
    }
    let mut draft = match (image, text, &embeddings) {
        (Some(at), _, _) => {
            let (name, column) = rest.remove(at);
            notes.extend(images_note(&name, sheet, roles));
            image_list::draft(sheet, column.into_words(sheet.rows), rest, place)
        }
        (None, Some((at, note)), _) => {
            notes.extend(note);
            let (_, column) = rest.remove(at);
            let mut draft = Draft::shown(sheet.rows, Show::Texts(column.into_words(sheet.rows)));
            draft.beside = beside(rest, sheet.rows);
            draft
        }
        (None, None, Some(_)) => {
            let mut draft = Draft::shown(sheet.rows, Show::Numbers(Vec::new()));
            draft.beside = beside(rest, sheet.rows);
            draft
        }
        (None, None, None) => return categorical::draft(sheet, rest, notes, options),
    };
    draft.matrix = embeddings;
    if let Some(table) = &draft.beside {
        notes.push(format!(
            "shown beside the items, not features: {}",
            first_few(&table.names, table.names.len(), ", ")
        ));
        draft.could_be_labels = like_labels(table);
    }
    Ok(draft)
}

/// Takes out the columns that cannot be read, and says so.
fn left_out(rest: &mut Vec<(String, Column)>, notes: &mut Vec<String>) {
    rest.retain(|(name, column)| match column {
        Column::Other(what) => {
            notes.push(format!("left out the column {name}: it holds {what}"));
            false
        }
        _ => true,
    });
}

/// The columns with few different values.
fn like_labels(table: &Table) -> Vec<String> {
    let few = |at: usize| {
        let cells = || {
            table
                .cells
                .iter()
                .skip(at)
                .step_by(table.names.len())
                .filter(|cell| !is_missing(cell))
        };
        let different = cells().collect::<HashSet<_>>().len();
        (2..=MOST_CLASSES).contains(&different) && 2 * different <= cells().count()
    };
    table
        .names
        .iter()
        .enumerate()
        .filter(|(at, _)| few(*at))
        .map(|(_, name)| name.clone())
        .collect()
}

/// The only column of lists as features, no matter what the items are shown by.
fn lists(
    rest: &mut Vec<(String, Column)>,
    n: usize,
    notes: &mut Vec<String>,
) -> Result<Option<Matrix>, Fault> {
    let lists: Vec<usize> = (0..rest.len())
        .filter(|&at| matches!(rest[at].1, Column::Lists { .. }))
        .collect();
    match lists.as_slice() {
        [] => Ok(None),
        &[at] => {
            let (name, column) = rest.remove(at);
            let Column::Lists { width, values } = column else {
                unreachable!("it was a list a moment ago")
            };
            notes.push(format!(
                "features are the column {name} ({width} numbers in each row)"
            ));
            Ok(Some(Matrix {
                values,
                n,
                dim: width,
            }))
        }
        _ => {
            let names: Vec<String> = lists.iter().map(|&at| rest[at].0.clone()).collect();
            let text = format!(
                "{} columns hold lists of numbers: {}.",
                names.len(),
                first_few(&names, names.len(), ", ")
            );
            Err(Fault::Setting(format!(
                "{text} Keep one and leave the others out with --drop-column."
            )))
        }
    }
}

/// All columns that are left, as something to read.
pub(crate) fn beside(rest: &mut Vec<(String, Column)>, rows: usize) -> Option<Table> {
    if rest.is_empty() {
        return None;
    }
    let (names, columns): (Vec<String>, Vec<Column>) = rest.drain(..).unzip();
    let mut columns: Vec<Vec<String>> = columns
        .into_iter()
        .map(|column| column.into_words(rows))
        .collect();
    let cells = (0..rows).flat_map(|row| {
        columns
            .iter_mut()
            .map(move |c| std::mem::take(&mut c[row]))
            .collect::<Vec<_>>()
    });
    let cells = cells.collect();
    Some(Table { names, cells })
}

/// What is said where pictures are known by their endings alone.
fn images_note(name: &str, sheet: &Sheet, roles: &Roles) -> Option<String> {
    let usual = IMAGE_NAMES
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known));
    match sheet.names.len() {
        _ if usual || roles.image.is_some() => None,
        1 => Some("read as a list of picture files; --as texts takes each line for a text".into()),
        _ => Some(format!("pictures are the files named in the column {name}")),
    }
}

fn image_column(rest: &[(String, Column)], asked: Option<String>) -> Option<usize> {
    if let Some(asked) = asked {
        return rest.iter().position(|(name, _)| *name == asked);
    }
    let pictures = |column: &Column| matches!(column, Column::Words(cells) if heuristics::mostly_pictures(cells));
    let named = |known: &&str| {
        rest.iter()
            .position(|(name, c)| name.eq_ignore_ascii_case(known) && pictures(c))
    };
    IMAGE_NAMES.iter().find_map(named).or_else(|| {
        // Beside numbers, and under the name of texts, such words may be anything.
        let words = rest
            .iter()
            .all(|(_, column)| matches!(column, Column::Words(_) | Column::Other(_)));
        rest.iter()
            .position(|(name, column)| words && !names_texts(name) && pictures(column))
    })
}

fn text_column(
    rest: &[(String, Column)],
    asked: Option<String>,
    rows: usize,
) -> Option<(usize, Option<String>)> {
    if let Some(asked) = asked {
        return rest
            .iter()
            .position(|(name, _)| *name == asked)
            .map(|at| (at, None));
    }
    let words = |column: &Column| matches!(column, Column::Words(_));
    let numbers = rest
        .iter()
        .any(|(_, column)| matches!(column, Column::Numbers(_) | Column::Lists { .. }));
    // Beside numbers only a text is known by its name alone: remarks are often few and short.
    let meant =
        |known: &str, c: &Column| known == "text" || !numbers || heuristics::mostly_text(c, rows);
    let named = |known: &&str| {
        rest.iter()
            .position(|(name, c)| name.eq_ignore_ascii_case(known) && words(c) && meant(known, c))
    };
    let at = TEXT_NAMES.iter().find_map(named).or_else(|| {
        let others = rest
            .iter()
            .filter(|(_, column)| !heuristics::looks_like_text(column, rows, 0))
            .count();
        // Beside many other columns only long texts are what the table is about: people's names are not.
        let length = if others > 2 { 60 } else { 20 };
        rest.iter()
            .position(|(_, column)| heuristics::looks_like_text(column, rows, length))
    })?;
    let name = &rest.get(at)?.0;
    let note = match rest.len() {
        1 => format!("texts are the column {name}"),
        _ => format!(
            "texts are the column {name}; --drop-column {name} takes the other columns as features instead"
        ),
    };
    Some((at, Some(note)))
}
