//! A pool from delimited text: one row per item, an id column, a label column, and numbers.
//!
//! The first row is a header if it names one of the wanted columns, or holds words above a column of numbers. A first
//! column without a name is the index that pandas writes: ids, if its values are distinct.

use std::collections::HashSet;

use crate::error::{Fault, LISTED, plural};
use crate::ids;
use crate::matrix::{Buffer, Matrix};
use crate::pool::{Draft, ReadOptions};
use crate::records::{self, Record, Records};
use crate::show::Show;
use crate::truth::Truth;

/// Default names, the earlier the better.
const ID_NAMES: [&str; 1] = ["id"];
const LABEL_NAMES: [&str; 5] = ["label", "labels", "class", "target", "y"];
/// How many rows decide whether the first is a header.
const PEEKED: usize = 100;

/// What the columns are.
#[derive(Debug, PartialEq)]
pub(crate) struct Columns {
    pub header: bool,
    pub names: Vec<String>,
    pub id: Option<usize>,
    pub label: Option<usize>,
    dropped: Vec<usize>,
    delimiter: u8,
}

impl Columns {
    fn features(&self) -> Vec<usize> {
        let used = |column| Some(column) == self.id || Some(column) == self.label || self.dropped.contains(&column);
        (0..self.names.len()).filter(|&column| !used(column)).collect()
    }

    /// The records below the header.
    pub fn records<'a>(&self, bytes: &'a [u8]) -> Records<'a> {
        let mut records = Records::new(bytes, self.delimiter);
        if self.header {
            records.next(&mut Record::default());
        }
        records
    }
}

/// Looks at the first rows.
pub(crate) fn columns(bytes: &[u8], options: &ReadOptions) -> Result<Columns, Fault> {
    let delimiter = records::delimiter(bytes);
    let mut records = Records::new(bytes, delimiter);
    let mut first = Record::default();
    if !records.next(&mut first) {
        return Err(Fault::Shape("no rows".into()));
    }
    if let Some(fault) = first.fault {
        return Err(Fault::Rows { bad: vec![(first.line, fault.into())], total: 1 });
    }
    let header = names_wanted(&first, options) || words_above_numbers(&first, records);
    let names: Vec<String> = match header {
        true => first.fields().map(String::from).collect(),
        false => (0..first.len()).map(|column| column.to_string()).collect(),
    };
    let dropped = options.drop_columns.iter().map(|name| named(&names, name)).collect::<Result<Vec<usize>, Fault>>()?;
    let id = find(&names, options.id_column.as_deref(), &ID_NAMES, header, &dropped)?;
    let label = find(&names, options.label_column.as_deref(), &LABEL_NAMES, header, &dropped)?;
    if id.is_some() && id == label {
        return Err(Fault::Setting("ids and labels cannot be the same column.".into()));
    }
    Ok(Columns { header, names, id, label, dropped, delimiter })
}

fn names_wanted(first: &Record, options: &ReadOptions) -> bool {
    let wanted = |name: &str| {
        let mut named = options.id_column.iter().chain(&options.label_column).chain(&options.drop_columns);
        let given = named.any(|given| given == name);
        given && name.parse::<usize>().is_err()
            || LABEL_NAMES.iter().chain(&ID_NAMES).any(|d| name.eq_ignore_ascii_case(d))
    };
    first.fields().any(wanted)
}

fn words_above_numbers(first: &Record, mut records: Records<'_>) -> bool {
    let number = |text: &str| text.parse::<f64>().is_ok();
    let words: Vec<usize> = (0..first.len()).filter(|&column| !number(first.field(column))).collect();
    let mut record = Record::default();
    let mut peeked = 0;
    while peeked < PEEKED && records.next(&mut record) {
        if words.iter().any(|&column| number(record.field(column))) {
            return true;
        }
        peeked += 1;
    }
    // A single line of words is a header without rows.
    peeked == 0 && words.len() == first.len()
}

fn named(names: &[String], asked: &str) -> Result<usize, Fault> {
    let missing = || Fault::Setting(format!("there is no column {asked:?}; the columns are {}.", listed(names)));
    names.iter().position(|name| name == asked).ok_or_else(missing)
}

fn find(
    names: &[String],
    asked: Option<&str>,
    default: &[&str],
    header: bool,
    dropped: &[usize],
) -> Result<Option<usize>, Fault> {
    if let Some(asked) = asked {
        let column = named(names, asked)?;
        if dropped.contains(&column) {
            return Err(Fault::Setting(format!("column {asked:?} cannot be used and left out.")));
        }
        return Ok(Some(column));
    }
    let columns = || names.iter().enumerate().filter(|(column, _)| !dropped.contains(column));
    let same = |wanted: &str| columns().find(|(_, name)| name.eq_ignore_ascii_case(wanted)).map(|(column, _)| column);
    // A y beside an x is a coordinate.
    let usable = |wanted: &&&str| **wanted != "y" || same("x").is_none();
    Ok(if header { default.iter().filter(usable).find_map(|wanted| same(wanted)) } else { None })
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().take(LISTED).map(|name| format!("{name:?}")).collect();
    crate::error::first_few(&quoted, names.len(), ", ")
}

/// The rows as they are read.
#[derive(Default)]
struct Rows {
    values: Vec<f64>,
    lines: Vec<usize>,
    ids: Vec<String>,
    labels: Vec<String>,
    kept: Vec<usize>,
    bad: Vec<(usize, String)>,
    bad_total: usize,
}

/// Reads a pool.
pub(crate) fn read(bytes: &[u8], options: &ReadOptions) -> Result<Draft, Fault> {
    let mut columns = columns(bytes, options)?;
    let note = take_index(&mut columns, bytes);
    let features = columns.features();
    if features.is_empty() {
        return Err(Fault::Shape("no columns of numbers".into()));
    }
    let rows = rows(&columns, &features, bytes);
    if rows.bad_total > 0 && (!options.skip_bad || rows.lines.is_empty()) {
        words(&columns, &features, bytes).map_or(Ok(()), Err)?;
    }
    if rows.bad_total > 0 && !options.skip_bad {
        return Err(Fault::Rows { bad: rows.bad, total: rows.bad_total });
    }
    if rows.lines.is_empty() {
        return Err(Fault::Shape("no rows".into()));
    }
    let mut draft = draft(columns, &features, rows, options)?;
    draft.notes.extend(note);
    Ok(draft)
}

/// Takes a first column without a name for the ids, or leaves it out where there are ids already.
fn take_index(columns: &mut Columns, bytes: &[u8]) -> Option<String> {
    let nameless = columns.header && columns.names.len() > 1 && columns.names.first().is_some_and(String::is_empty);
    let free = columns.id != Some(0) && columns.label != Some(0) && !columns.dropped.contains(&0);
    if !nameless || !free || !distinct(columns, bytes) {
        return None;
    }
    if columns.id.is_some() {
        columns.dropped.push(0);
        return Some("the first column has no name: it is taken for an index and left out".into());
    }
    columns.id = Some(0);
    Some("the first column has no name: it is taken for the ids".into())
}

/// Whether the first cells of the readable rows are all different, and none is empty.
fn distinct(columns: &Columns, bytes: &[u8]) -> bool {
    let mut records = columns.records(bytes);
    let mut record = Record::default();
    let mut seen = HashSet::new();
    while records.next(&mut record) {
        let readable = record.fault.is_none() && record.len() == columns.names.len();
        if readable && (record.field(0).trim().is_empty() || !seen.insert(ids::normal(record.field(0)))) {
            return false;
        }
    }
    true
}

/// The fault of a table with columns that are text in more than half of the rows.
fn words(columns: &Columns, features: &[usize], bytes: &[u8]) -> Option<Fault> {
    let mut records = columns.records(bytes);
    let mut record = Record::default();
    let mut found: Vec<(usize, String, usize)> = vec![(0, String::new(), 0); features.len()];
    let mut total = 0;
    while records.next(&mut record) {
        total += 1;
        for (&column, (count, first, line)) in features.iter().zip(&mut found) {
            let text = if record.fault.is_none() { record.field(column) } else { "" };
            // A number with a decimal comma has a complaint of its own.
            if text.is_empty() || text.replacen(',', ".", 1).parse::<f64>().is_ok() {
                continue;
            }
            if *count == 0 {
                (*first, *line) = (shortened(text), record.line);
            }
            *count += 1;
        }
    }
    let name = |column: usize| columns.names.get(column).cloned().unwrap_or_default();
    let mut text = features.iter().zip(found).filter(|(_, (count, ..))| 2 * count > total);
    let (&column, (count, first, line)) = text.next()?;
    let others = text.map(|(&column, _)| name(column)).collect();
    Some(Fault::Words { name: name(column), count, total, first, line, others })
}

fn rows(columns: &Columns, features: &[usize], bytes: &[u8]) -> Rows {
    let mut rows = Rows::default();
    let mut records = columns.records(bytes);
    let mut record = Record::default();
    let mut row = 0;
    while records.next(&mut record) {
        let before = rows.values.len();
        match values(columns, features, &record, &mut rows.values) {
            Ok(()) => {
                rows.kept.push(row);
                rows.lines.push(record.line);
                rows.ids.extend(columns.id.map(|column| record.field(column).to_string()));
                rows.labels.extend(columns.label.map(|column| record.field(column).to_string()));
            }
            Err(why) => {
                rows.values.truncate(before);
                rows.bad_total += 1;
                if rows.bad.len() < LISTED {
                    rows.bad.push((record.line, why));
                }
            }
        }
        row += 1;
    }
    rows
}

/// Appends the numbers of a record, or says what is wrong with it.
fn values(columns: &Columns, features: &[usize], record: &Record, out: &mut Vec<f64>) -> Result<(), String> {
    if let Some(fault) = record.fault {
        return Err(fault.into());
    }
    let wanted = columns.names.len();
    if record.len() != wanted {
        return Err(format!("{} {}, expected {wanted}", record.len(), plural(record.len(), "cell", "cells")));
    }
    for &column in features {
        let text = record.field(column);
        let name = columns.names.get(column).map_or("", String::as_str);
        match text.parse() {
            Ok(value) => out.push(value),
            Err(_) if text.is_empty() => return Err(format!("column {name} is empty")),
            Err(_) if text.replacen(',', ".", 1).parse::<f64>().is_ok() => {
                return Err(format!("column {name} is not a number ({text:?}: decimals need a point)"));
            }
            Err(_) => return Err(format!("column {name} is not a number ({:?})", shortened(text))),
        }
    }
    Ok(())
}

/// At most 40 characters of a cell, for messages.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}

fn draft(columns: Columns, features: &[usize], rows: Rows, options: &ReadOptions) -> Result<Draft, Fault> {
    let (n, dim) = (rows.lines.len(), features.len());
    let names = features.iter().filter_map(|&column| columns.names.get(column).cloned()).collect();
    let mut draft = Draft::new(Matrix { values: Buffer::F64(rows.values), n, dim }, Show::Numbers(names));
    let name = |column: usize| columns.names.get(column).cloned().unwrap_or_default();
    if columns.id.is_some() {
        let (ids, notes) = ids::checked(rows.ids, |row| ids::Place::Line(rows.lines.get(row).copied().unwrap_or(0)))?;
        draft.ids = Some(ids);
        draft.notes.extend(notes);
    }
    if let Some(column) = columns.label.filter(|_| options.labels_file.is_none()) {
        draft.truth = Some(Truth::from_names(&rows.labels).map_err(|error| error.fault)?);
        draft.notes.push(format!("labels are the column {}", name(column)));
    }
    if rows.bad_total > 0 {
        let lines: Vec<String> = rows.bad.iter().map(|(line, why)| format!("line {line} ({why})")).collect();
        let words = crate::error::first_few(&lines, rows.bad_total, ", ");
        draft.notes.push(format!("left out {} bad {}: {words}", rows.bad_total, plural(rows.bad_total, "row", "rows")));
        if draft.ids.is_none() {
            draft.ids = Some(rows.kept.iter().map(usize::to_string).collect());
        }
        draft.kept = Some((rows.kept, n + rows.bad_total));
    }
    draft.lines = Some((rows.lines, features.iter().map(|&column| name(column)).collect()));
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(text: &str) -> (bool, Option<usize>, Option<usize>) {
        let columns = columns(text.as_bytes(), &ReadOptions::default()).unwrap();
        (columns.header, columns.id, columns.label)
    }

    #[test]
    fn headers_and_default_columns() {
        assert_eq!(roles("a,b\n1,2\n"), (true, None, None));
        assert_eq!(roles("1,2\n3,4\n"), (false, None, None));
        assert_eq!(roles("ID,a,Class\nx,1,cat\n"), (true, Some(0), Some(2)));
        assert_eq!(roles("0,1,label\n1,2,cat\n"), (true, None, Some(2)));
        assert_eq!(roles("x,y\n1,2\n"), (true, None, None));
        assert_eq!(roles("x,y,label\n1,2,0\n"), (true, None, Some(2)));
        assert_eq!(roles("x1,y\n1,2\n"), (true, None, Some(1)));
        assert_eq!(roles("y,label\n1,2\n"), (true, None, Some(1)));
    }

    #[test]
    fn columns_by_number_without_a_header() {
        let options = ReadOptions { label_column: Some("1".into()), ..ReadOptions::default() };
        let draft = read(b"1.5,cat\n2.5,dog\n", &options).unwrap();
        assert_eq!(draft.matrix.unwrap().values, Buffer::F64(vec![1.5, 2.5]));
        assert_eq!(draft.truth.unwrap().classes, ["cat", "dog"]);
    }

    #[test]
    fn an_index_without_a_name_is_no_feature() {
        let none = ReadOptions::default();
        let draft = read(b",a,b\n0,5,6\n1,7,8\n", &none).unwrap();
        assert_eq!(draft.matrix.unwrap().values, Buffer::F64(vec![5.0, 6.0, 7.0, 8.0]));
        assert_eq!(draft.ids.unwrap(), ["0", "1"]);
        assert_eq!(draft.notes, ["the first column has no name: it is taken for the ids"]);
        // Beside ids it is left out; with values that repeat it is a column like any other.
        let both = read(b",id,a\n0,x,5\n1,y,7\n", &none).unwrap();
        assert_eq!((both.matrix.unwrap().values, both.ids.unwrap().len()), (Buffer::F64(vec![5.0, 7.0]), 2));
        let double = read(b",a\n3,5\n3,7\n", &none).unwrap();
        assert_eq!((double.matrix.as_ref().unwrap().dim, double.ids, double.notes.len()), (2, None, 0));
        let dropped = ReadOptions { drop_columns: vec![String::new()], ..ReadOptions::default() };
        assert_eq!(read(b",a\n0,5\n1,7\n", &dropped).unwrap().ids, None);
    }

    #[test]
    fn columns_are_left_out_by_name() {
        let drop = |names: &[&str]| ReadOptions {
            drop_columns: names.iter().map(|name| name.to_string()).collect(),
            ..ReadOptions::default()
        };
        let draft = read(b"a,species,label,b\n1,x,0,2\n3,y,1,4\n", &drop(&["species", "label"])).unwrap();
        assert_eq!(draft.matrix.unwrap().values, Buffer::F64(vec![1.0, 2.0, 3.0, 4.0]));
        assert!(draft.truth.is_none(), "what is left out holds no labels");
        let draft = read(b"1,x\n2,y\n", &drop(&["1"])).unwrap();
        assert_eq!(draft.matrix.unwrap().values, Buffer::F64(vec![1.0, 2.0]));
    }

    #[test]
    fn rows_left_out_keep_their_numbers() {
        let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
        let draft = read(b"a,b\n1,2\n3\n5,6\n", &options).unwrap();
        assert_eq!(draft.matrix.unwrap().values, Buffer::F64(vec![1.0, 2.0, 5.0, 6.0]));
        assert_eq!(draft.ids.unwrap(), ["0", "2"]);
        assert_eq!(draft.kept, Some((vec![0, 2], 3)));
        assert_eq!(draft.notes, ["left out 1 bad row: line 3 (1 cell, expected 2)"]);
    }
}
