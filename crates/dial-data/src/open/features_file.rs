//! Features in a separate file, for the items of any pool: one row per item, or joined by id.
//!
//! Where both files have ids, rows are joined by id: every item must have its row, and rows for other ids are passed
//! over with a note. A column of the file that holds all ids of the pool is its ids, under any name. Without ids in one
//! of them, or where ids only count the rows, the rows must be as many as the items, in their order. Ids of which none
//! fits are refused. Features are taken as they are, but for a column that counts the rows and is named so. What was typed
//! about tables (`--id-column`, `--drop-column`, `--delimiter`, `--decimal`, `--skip-bad`) holds here as far as it fits.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::error::{Error, Fault, Result, first_quoted, plural};
use crate::open;
use crate::open::formats::{Reader, formats};
use crate::open::sniff;
use crate::open::wanted::Wanted;
use crate::pool::show::Show;
use crate::pool::{Draft, Kind, ReadOptions};
use crate::tables::column_roles::Roles;
use crate::tables::encoding::Encoding;

/// Names of columns that only count.
const COUNTER_NAMES: [&str; 9] = [
    "index",
    "idx",
    "row",
    "rownames",
    "row_id",
    "unnamed: 0",
    "level_0",
    "no",
    "nr",
];

/// Gives a draft the features of another file.
pub(crate) fn attach(draft: &mut Draft, path: &Path, options: &ReadOptions) -> Result<()> {
    let place = path.display().to_string();
    let mut own = own_options(path, options);
    let mut given = read(&place, &own)?;
    let ids = unrelated(draft, &given)
        .then(|| holds_ids(draft, &given))
        .flatten();
    let found = match (ids, counter(&given)) {
        (Some(name), _) => {
            let note = format!("the column {name} holds the ids of the pool");
            own.id_column = Some(name);
            Some(note)
        }
        (None, Some(name)) => {
            let note = format!("the column {name} only counts the rows: it is not a feature");
            own.drop_columns.push(name);
            Some(note)
        }
        (None, None) => None,
    };
    if let Some(note) = found {
        given = read(&place, &own)?;
        given.notes.push(note);
    }
    let Some(matrix) = given.matrix.take() else {
        let next = format!("Give a file of numbers: {}.", formats(&[]));
        return Err(Fault::format("holds no features", next).at(place));
    };
    let (rows, joined) =
        join(draft, &given, matrix.n, options.skip_bad).map_err(|fault| fault.at(&place))?;
    let matrix = if rows.iter().copied().eq(0..matrix.n) {
        matrix
    } else {
        matrix.select_rows(&rows)
    };
    if draft.show.by_numbers() && draft.original.is_none() {
        draft.original = draft.matrix.take();
    }
    let columns = plural(matrix.dim, "column", "columns");
    draft.notes.push(format!(
        "features are the {} {columns} of {place}, joined by {joined}",
        matrix.dim
    ));
    draft.notes.extend(
        said(&given, joined)
            .into_iter()
            .map(|note| format!("{place}: {note}")),
    );
    draft.named_arrays |= given.named_arrays;
    draft.matrix = Some(matrix);
    (draft.metric, draft.standardize, draft.categories) = (given.metric, false, given.categories);
    draft.features_place = Some(place);
    // Lines and names of columns are those of another file now.
    draft.lines = None;
    Ok(())
}

/// The names of the columns of a file, none if it has none. Arrays have names, too, but are not columns.
fn names(path: &Path, encoding: Option<Encoding>) -> Vec<String> {
    let (place, names) = (path.display().to_string(), RefCell::new(Vec::new()));
    let options = ReadOptions {
        encoding,
        ..ReadOptions::default()
    };
    let choose = |found: &[String], _: &Roles| {
        names.replace(found.to_vec());
        Ok(Vec::new())
    };
    if let Ok(bytes) = open::read_lines_or_bytes(&place)
        && let Ok(format) = sniff::format(&place, &bytes)
        && let Reader::Sheet(read) = format.reader
    {
        // Names are asked for before rows can go wrong.
        let _ = read(bytes.into(), &place, Wanted::Words(&options, &choose));
    }
    names.into_inner()
}

/// What is left to a pool that was refused for what was typed about the file of features.
pub(crate) fn left_for_pool(options: &ReadOptions, refused: &Error) -> Option<ReadOptions> {
    let path = options
        .features_file
        .as_ref()
        .filter(|_| matches!(refused.fault, Fault::Setting(_)))?;
    let names = names(path, options.encoding);
    let drop_columns = options
        .drop_columns
        .iter()
        .filter(|name| !names.contains(name))
        .cloned()
        .collect();
    let less = ReadOptions {
        drop_columns,
        delimiter: None,
        decimal_comma: None,
        ..options.clone()
    };
    (!names.is_empty() && less != *options).then_some(less)
}

/// What was typed, as far as it fits this file.
fn own_options(path: &Path, options: &ReadOptions) -> ReadOptions {
    let wanted = options.id_column.is_some() || !options.drop_columns.is_empty();
    let names = if wanted {
        names(path, options.encoding)
    } else {
        Vec::new()
    };
    ReadOptions {
        id_column: options
            .id_column
            .clone()
            .filter(|name| names.contains(name)),
        drop_columns: options
            .drop_columns
            .iter()
            .filter(|name| names.contains(name))
            .cloned()
            .collect(),
        variable: options.variable.clone(),
        delimiter: options.delimiter,
        decimal_comma: options.decimal_comma,
        encoding: options.encoding,
        skip_bad: options.skip_bad,
        // Features stay as they are, and labels are not looked for.
        standardize: Some(false),
        labels_file: Some(path.to_path_buf()),
        kind: Some(Kind::Table),
        ..ReadOptions::default()
    }
}

/// Reads the file; in the dialect that was typed for the pool, or in its own.
fn read(place: &str, options: &ReadOptions) -> Result<Draft> {
    let first = open::features(place, options);
    if first.is_ok() || options.delimiter.is_none() && options.decimal_comma.is_none() {
        return first;
    }
    let guessed = ReadOptions {
        delimiter: None,
        decimal_comma: None,
        ..options.clone()
    };
    let Ok(mut draft) = open::features(place, &guessed) else {
        return first;
    };
    if draft.lines.is_some() {
        draft
            .notes
            .push("--delimiter and --decimal do not fit this file, and were guessed".into());
    }
    Ok(draft)
}

/// The ids of a file, unless they are the numbers that rows got because others were left out.
fn own_ids(draft: &Draft) -> Option<&Vec<String>> {
    let numbers =
        |kept: &[usize], ids: &[String]| kept.iter().map(usize::to_string).eq(ids.iter().cloned());
    let made = |ids: &&Vec<String>| {
        draft
            .kept
            .as_ref()
            .is_some_and(|(kept, _)| numbers(kept, ids))
    };
    draft.ids.as_ref().filter(|ids| !made(ids))
}

/// Whether ids only count the rows, from 0 or from 1.
fn count_rows(ids: &[String]) -> bool {
    [0, 1].iter().any(|&first| {
        ids.iter()
            .zip(first..)
            .all(|(id, number): (&String, usize)| *id == number.to_string())
    })
}

/// Whether the pool has ids, and the file none of them.
fn unrelated(draft: &Draft, given: &Draft) -> bool {
    let Some(ids) = own_ids(draft) else {
        return false;
    };
    let known: HashSet<&String> = ids.iter().collect();
    own_ids(given).is_none_or(|others| !others.iter().any(|id| known.contains(id)))
}

/// A column of the file that holds every id of the pool.
fn holds_ids(draft: &Draft, given: &Draft) -> Option<String> {
    let ids = draft.ids.as_ref()?;
    let holds = |cells: HashSet<String>| ids.iter().all(|id| cells.contains(id));
    let words = given.beside.iter().flat_map(|table| {
        table
            .names
            .iter()
            .enumerate()
            .map(move |name| (table, name))
    });
    let mut words = words.filter(|(table, (at, _))| {
        holds(
            table
                .cells
                .iter()
                .skip(*at)
                .step_by(table.names.len())
                .map(|cell| cell.trim().to_string())
                .collect(),
        )
    });
    words.next().map(|(_, (_, name))| name.clone()).or_else(|| {
        let matrix = given
            .original
            .as_ref()
            .or(given.matrix.as_ref())
            .filter(|matrix| matrix.n == ids.len())?;
        let known: HashSet<&String> = ids.iter().collect();
        let is_ids = |column: usize| {
            let mut seen = HashSet::new();
            (0..matrix.n)
                .map(|row| matrix.get(row, column).to_string())
                .all(|id| known.contains(&id) && seen.insert(id))
        };
        let mut columns = number_names(given).iter().zip(0..matrix.dim);
        columns
            .find(|(_, at)| is_ids(*at))
            .map(|(name, _)| name.clone())
    })
}

fn number_names(given: &Draft) -> &[String] {
    match &given.show {
        Show::Numbers(names) => names,
        _ => &[],
    }
}

/// A column of numbers that counts the rows and is named so.
fn counter(given: &Draft) -> Option<String> {
    let matrix = given.original.as_ref().or(given.matrix.as_ref())?;
    let counts = |column: usize, first: usize| {
        (0..matrix.n).all(|row| matrix.get(row, column) == (row + first) as f64)
    };
    let named = |name: &String| {
        COUNTER_NAMES
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
    };
    let mut columns = number_names(given)
        .iter()
        .zip(0..matrix.dim)
        .filter(|(name, _)| named(name) && matrix.dim > 1);
    columns
        .find(|(_, at)| counts(*at, 0) || counts(*at, 1))
        .map(|(name, _)| name.clone())
}

/// What is to be said of the file.
fn said(given: &Draft, joined: &str) -> Vec<String> {
    let about = |note: &&String| !(joined == "row" && note.ends_with("it is taken for the ids"));
    given.notes.iter().filter(about).cloned().collect()
}

/// The row of each item, and how they were joined. Items whose row was bad are left out, and with `--skip-bad` those
/// without one.
fn join(
    draft: &mut Draft,
    given: &Draft,
    rows: usize,
    skip_bad: bool,
) -> Result<(Vec<usize>, &'static str), Fault> {
    match (own_ids(draft), own_ids(given)) {
        (Some(ids), Some(others)) if !unrelated(draft, given) => Ok((
            by_id(ids.clone(), others, skip_bad || given.kept.is_some(), draft)?,
            "id",
        )),
        (Some(ids), Some(others)) if !count_rows(ids) && !count_rows(others) => {
            let first = |list: &[String]| {
                list.first()
                    .map_or_else(String::new, |id| format!("{id:?}"))
            };
            let (theirs, ours) = (first(others), first(ids));
            let what = format!(
                "no id of this file is in the pool: the first is {theirs}, that of the pool {ours}"
            );
            let next =
                "Rename the ids, or remove their column if the rows are in the order of the pool.";
            Err(Fault::Unjoined {
                by_id: true,
                what,
                next,
            })
        }
        _ => Ok((by_row(draft, given, rows)?, "row")),
    }
}

/// One row per item; rows of items that were left out are left out here too, and items whose row was.
fn by_row(draft: &mut Draft, given: &Draft, rows: usize) -> Result<Vec<usize>, Fault> {
    let here = given
        .kept
        .clone()
        .unwrap_or_else(|| ((0..rows).collect(), rows));
    let place: HashMap<usize, usize> = here.0.iter().copied().zip(0..).collect();
    let wanted: Vec<usize> = match &draft.kept {
        Some((kept, total)) if here.1 == *total => kept.clone(),
        _ if here.1 == draft.n => (0..draft.n).collect(),
        _ => {
            let (rows, n) = (here.1, draft.n);
            let what = format!(
                "{rows} {} of features for {n} items",
                plural(rows, "row", "rows")
            );
            let next = "Make features for exactly these items, in their order, or give both files an id in each row.";
            return Err(Fault::Unjoined {
                by_id: false,
                what,
                next,
            });
        }
    };
    let found: Vec<Option<usize>> = wanted.iter().map(|row| place.get(row).copied()).collect();
    without(draft, &found)
}

fn by_id(
    ids: Vec<String>,
    others: &[String],
    may_lack: bool,
    draft: &mut Draft,
) -> Result<Vec<usize>, Fault> {
    let rows: HashMap<&str, usize> = others.iter().map(String::as_str).zip(0..).collect();
    let found: Vec<Option<usize>> = ids
        .iter()
        .map(|id| rows.get(id.as_str()).copied())
        .collect();
    let missing: Vec<&String> = ids
        .iter()
        .zip(&found)
        .filter(|(_, row)| row.is_none())
        .map(|(id, _)| id)
        .collect();
    if !missing.is_empty() && !may_lack {
        let (count, list) = (missing.len(), first_quoted(&missing, ", "));
        let what = format!(
            "no features for {count} {}: {list}",
            plural(count, "item", "items")
        );
        let next =
            "Make features for every item, or pass --skip-bad to leave out the items without.";
        return Err(Fault::Unjoined {
            by_id: true,
            what,
            next,
        });
    }
    let spare = others.len() - found.iter().flatten().count();
    if spare > 0 {
        draft.notes.push(format!(
            "{spare} {} of features belong to no item",
            plural(spare, "row", "rows")
        ));
    }
    without(draft, &found)
}

/// Leaves out the items without a row, and gives the rows of the others.
fn without(draft: &mut Draft, found: &[Option<usize>]) -> Result<Vec<usize>, Fault> {
    let keep: Vec<usize> = (0..found.len())
        .filter(|&item| found[item].is_some())
        .collect();
    let lost = found.len() - keep.len();
    if keep.is_empty() {
        return Err(Fault::Shape("no rows: no item has features".into()));
    }
    if lost > 0 {
        draft.notes.push(format!(
            "left out {lost} {} without features",
            plural(lost, "item", "items")
        ));
        draft.select_rows(&keep);
    }
    Ok(found.iter().flatten().copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::{Saved, SavedData, write_npy};

    fn texts() -> Draft {
        let mut draft = Draft::shown(2, Show::Texts(vec!["x".into(), "y".into()]));
        draft.ids = Some(vec!["a".into(), "b".into()]);
        draft
    }

    #[test]
    fn rows_are_joined_by_id_or_by_number() {
        let folder = tempfile::tempdir().unwrap();
        let (csv, npy) = (folder.path().join("f.csv"), folder.path().join("f.npy"));
        std::fs::write(&csv, "id,u,v\nc,0,0\nb,3,4\na,1,2\n").unwrap();
        write_npy(&npy, &Saved::matrix(SavedData::F32(&[5.0, 6.0]), 1)).unwrap();
        let none = ReadOptions::default();
        let mut draft = texts();
        attach(&mut draft, &csv, &none).unwrap();
        let matrix = draft.matrix.as_ref().unwrap();
        assert_eq!((matrix.get(0, 1), matrix.get(1, 0)), (2.0, 3.0));
        assert!(
            draft.notes[0].starts_with("1 row of features belong"),
            "{:?}",
            draft.notes
        );
        assert!(
            draft.notes[1].ends_with("f.csv, joined by id"),
            "{:?}",
            draft.notes
        );
        let mut draft = texts();
        attach(&mut draft, &npy, &none).unwrap();
        assert_eq!(draft.matrix.unwrap().get(1, 0), 6.0);
        assert!(
            draft.notes[0].ends_with("f.npy, joined by row"),
            "{:?}",
            draft.notes
        );
        std::fs::write(&csv, "id,u\nb,3\n").unwrap();
        let error = attach(&mut texts(), &csv, &none).unwrap_err();
        assert_eq!(error.code(), "I7");
        assert!(
            error.to_string().contains("no features for 1 item: \"a\"."),
            "{error}"
        );
        for index in ["id,u\n0,3\n1,4\n", "id,u\n1,3\n2,4\n", ",u\n0,3\n1,4\n"] {
            std::fs::write(&csv, index).unwrap();
            let mut draft = texts();
            attach(&mut draft, &csv, &none).unwrap();
            assert_eq!(
                draft.matrix.unwrap().get(1, 0),
                4.0,
                "an index is not an id"
            );
            assert_eq!(draft.notes.len(), 1, "{:?}", draft.notes);
        }
        write_npy(&npy, &Saved::matrix(SavedData::F32(&[5.0, 6.0, 7.0]), 1)).unwrap();
        assert_eq!(attach(&mut texts(), &npy, &none).unwrap_err().code(), "I3");
    }

    /// Notes and features of two texts with the features of a table.
    fn joined(table: &str, options: &ReadOptions) -> Result<(Vec<f64>, String)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.csv");
        std::fs::write(&path, table).unwrap();
        let mut draft = texts();
        attach(&mut draft, &path, options)?;
        let matrix = draft.matrix.unwrap();
        Ok((
            (0..matrix.n)
                .flat_map(|r| (0..matrix.dim).map(move |c| (r, c)))
                .map(|(r, c)| matrix.get(r, c))
                .collect(),
            draft.notes.join("\n"),
        ))
    }

    #[test]
    fn ids_that_do_not_fit_are_refused_and_others_found() {
        let none = ReadOptions::default();
        let error = joined("id,u\nx,3\ny,4\n", &none).unwrap_err();
        assert_eq!(error.code(), "I7");
        assert!(
            error
                .to_string()
                .contains("that of the pool \"a\". Rename the ids"),
            "{error}"
        );
        let (values, notes) = joined("doc_id,u\nb,4\na,3\n", &none).unwrap();
        assert_eq!(values, [3.0, 4.0]);
        assert!(
            notes.contains("joined by id")
                && notes.contains("f.csv: the column doc_id holds the ids"),
            "{notes}"
        );
        let (values, notes) = joined("index,u\n0,3\n1,4\n", &none).unwrap();
        assert_eq!(values, [3.0, 4.0]);
        assert!(
            notes.contains("f.csv: the column index only counts the rows: it is not a feature"),
            "{notes}"
        );
    }

    #[test]
    fn what_was_typed_holds_for_the_file_too() {
        let drop = ReadOptions {
            drop_columns: vec!["v".into(), "elsewhere".into()],
            ..ReadOptions::default()
        };
        assert_eq!(
            joined("id,u,v\na,3,5\nb,4,6\n", &drop).unwrap().0,
            [3.0, 4.0]
        );
        let bar = ReadOptions {
            delimiter: Some(b';'),
            decimal_comma: Some(true),
            ..ReadOptions::default()
        };
        assert_eq!(
            joined("id;u;v\na;1,500;1\nb;2,500;2\n", &bar).unwrap().0,
            [1.5, 1.0, 2.5, 2.0]
        );
        let (values, notes) = joined("id,u\na,3.5\nb,4.5\n", &bar).unwrap();
        assert_eq!(values, [3.5, 4.5]);
        assert!(
            notes.contains("f.csv: --delimiter and --decimal do not fit this file"),
            "{notes}"
        );
        let lacking = joined("id,u\na,3\nc,5\n", &ReadOptions::default()).unwrap_err();
        let said =
            "no features for 1 item: \"b\". Make features for every item, or pass --skip-bad";
        assert!(
            lacking.code() == "I7" && lacking.to_string().contains(said),
            "{lacking}"
        );
        let skip = ReadOptions {
            skip_bad: true,
            ..ReadOptions::default()
        };
        assert_eq!(joined("id,u\na,3\nc,5\n", &skip).unwrap().0, [3.0]);
        assert_eq!(joined("id,u\na,3\nb\n", &skip).unwrap().0, [3.0]);
        let (values, notes) = joined("u,v\n3,4\n5\n", &skip).unwrap();
        assert_eq!(values, [3.0, 4.0]);
        assert!(
            notes.contains("left out 1 item without features"),
            "{notes}"
        );
        assert!(
            notes.contains("f.csv: left out 1 bad row: line 3 (1 cell, expected 2)"),
            "{notes}"
        );
        let (_, notes) = joined("id,u,label\na,3,x\nb,4,y\n", &ReadOptions::default()).unwrap();
        assert!(
            notes.contains("f.csv: the labels in the column label are not used"),
            "{notes}"
        );
        assert_eq!(
            joined("id,u,y\na,3,0.5\nb,4,1.5\n", &ReadOptions::default())
                .unwrap()
                .0,
            [3.0, 4.0]
        );
    }
}
