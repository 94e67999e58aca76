//! Features in a file of their own, for the items of any pool: one row per item, or joined by id.
//!
//! Where both files have ids, rows are joined by id: every item must have its row, and rows for other ids are passed
//! over with a note. Otherwise, or where no id of one file is in the other, the rows must be as many as the items, in
//! their order. Features are taken as they are.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::error::{Fault, LISTED, Result, first_few, plural};
use crate::open;
use crate::pool::{Draft, Kind, ReadOptions};

/// Gives a draft the features of another file.
pub(crate) fn attach(draft: &mut Draft, path: &Path, options: &ReadOptions) -> Result<()> {
    let place = path.display().to_string();
    let own = ReadOptions {
        id_column: options.id_column.clone(),
        variable: options.variable.clone(),
        kind: Some(Kind::Table),
        ..ReadOptions::default()
    };
    // The name of the pool's id column counts here too, where there is such a column.
    let given = open::features(&place, &own)
        .or_else(|_| open::features(&place, &ReadOptions { id_column: None, ..own.clone() }))?;
    let Some(matrix) = given.matrix else {
        let next = "Give a file of numbers: npy, npz, csv, Parquet or MATLAB.";
        return Err(Fault::format("holds no features", next).at(place));
    };
    let (rows, joined) = match (&draft.ids, &given.ids) {
        (Some(ids), Some(others)) if related(ids, others) => (by_id(ids, others, &mut draft.notes), "id"),
        _ => (by_row(draft, matrix.n), "row"),
    };
    let rows = rows.map_err(|fault| fault.at(&place))?;
    let matrix = if rows.iter().copied().eq(0..matrix.n) { matrix } else { matrix.select_rows(&rows) };
    if draft.show.by_numbers() && draft.original.is_none() {
        draft.original = draft.matrix.take();
    }
    let columns = plural(matrix.dim, "column", "columns");
    draft.notes.push(format!("features are the {} {columns} of {place}, joined by {joined}", matrix.dim));
    draft.named_arrays |= given.named_arrays;
    draft.matrix = Some(matrix);
    (draft.metric, draft.standardize, draft.categories) = (given.metric, false, given.categories);
    draft.features_place = Some(place);
    // Lines and names of columns are those of another file now.
    draft.lines = None;
    Ok(())
}

/// Whether any id of one list is in the other. An index that somebody's library wrote is not what items are called.
fn related(ids: &[String], others: &[String]) -> bool {
    let known: HashSet<&String> = ids.iter().collect();
    ids.len() != others.len() || others.iter().any(|id| known.contains(id))
}

/// One row per item; rows of items that were left out are left out here too.
fn by_row(draft: &Draft, rows: usize) -> std::result::Result<Vec<usize>, Fault> {
    match &draft.kept {
        Some((kept, total)) if rows == *total => Ok(kept.clone()),
        _ if rows == draft.n => Ok((0..rows).collect()),
        _ => Err(Fault::Shape(format!("{rows} {} of features for {} items", plural(rows, "row", "rows"), draft.n))),
    }
}

fn by_id(ids: &[String], others: &[String], notes: &mut Vec<String>) -> std::result::Result<Vec<usize>, Fault> {
    let rows: HashMap<&str, usize> = others.iter().map(String::as_str).zip(0..).collect();
    let missing: Vec<String> = ids.iter().filter(|id| !rows.contains_key(id.as_str())).cloned().collect();
    if !missing.is_empty() {
        let quoted: Vec<String> = missing.iter().take(LISTED).map(|id| format!("{id:?}")).collect();
        let (count, list) = (missing.len(), first_few(&quoted, missing.len(), ", "));
        return Err(Fault::Ids(format!("no features for {count} {}: {list}.", plural(count, "item", "items"))));
    }
    let spare = others.len() - ids.len();
    if spare > 0 {
        notes.push(format!("{spare} {} of features belong to no item", plural(spare, "row", "rows")));
    }
    Ok(ids.iter().filter_map(|id| rows.get(id.as_str()).copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::Show;
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
        assert!(draft.notes[0].starts_with("1 row of features belong"), "{:?}", draft.notes);
        assert!(draft.notes[1].ends_with("f.csv, joined by id"), "{:?}", draft.notes);
        let mut draft = texts();
        attach(&mut draft, &npy, &none).unwrap();
        assert_eq!(draft.matrix.unwrap().get(1, 0), 6.0);
        assert!(draft.notes[0].ends_with("f.npy, joined by row"), "{:?}", draft.notes);
        std::fs::write(&csv, "id,u\nb,3\n").unwrap();
        let error = attach(&mut texts(), &csv, &none).unwrap_err();
        assert_eq!(error.code(), "I7");
        assert!(error.to_string().contains("no features for 1 item: \"a\"."), "{error}");
        std::fs::write(&csv, "id,u\n0,3\n1,4\n").unwrap();
        let mut draft = texts();
        attach(&mut draft, &csv, &none).unwrap();
        assert_eq!(draft.matrix.unwrap().get(1, 0), 4.0, "an index is no id");
        write_npy(&npy, &Saved::matrix(SavedData::F32(&[5.0, 6.0, 7.0]), 1)).unwrap();
        assert_eq!(attach(&mut texts(), &npy, &none).unwrap_err().code(), "I3");
    }
}
