//! A pool from delimited text: one row per item, an id column, a label column, and numbers.
//!
//! The first row is a header if it names one of the wanted columns, or holds words above a column of numbers.

use crate::error::{Fault, LISTED, plural};
use crate::ids;
use crate::matrix::{Buffer, Matrix};
use crate::pool::{Draft, ReadOptions};
use crate::records::{self, Record, Records};
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
    delimiter: u8,
}

impl Columns {
    fn features(&self) -> Vec<usize> {
        (0..self.names.len()).filter(|&column| Some(column) != self.id && Some(column) != self.label).collect()
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
    let id = find(&names, options.id_column.as_deref(), &ID_NAMES, header)?;
    let label = find(&names, options.label_column.as_deref(), &LABEL_NAMES, header)?;
    if id.is_some() && id == label {
        return Err(Fault::Setting("ids and labels cannot be the same column.".into()));
    }
    Ok(Columns { header, names, id, label, delimiter })
}

fn names_wanted(first: &Record, options: &ReadOptions) -> bool {
    let wanted = |name: &str| {
        let given = options.id_column.as_deref() == Some(name) || options.label_column.as_deref() == Some(name);
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
    false
}

fn find(names: &[String], asked: Option<&str>, default: &[&str], header: bool) -> Result<Option<usize>, Fault> {
    let exact = |wanted: &str| names.iter().position(|name| name == wanted);
    if let Some(asked) = asked {
        let missing = || Fault::Setting(format!("there is no column {asked:?}; the columns are {}.", listed(names)));
        return exact(asked).ok_or_else(missing).map(Some);
    }
    let same = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
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
    let columns = columns(bytes, options)?;
    let features = columns.features();
    if features.is_empty() {
        return Err(Fault::Shape("no columns of numbers".into()));
    }
    let rows = rows(&columns, &features, bytes);
    if rows.bad_total > 0 && !options.skip_bad {
        return Err(Fault::Rows { bad: rows.bad, total: rows.bad_total });
    }
    if rows.lines.is_empty() {
        return Err(Fault::Shape("no rows".into()));
    }
    draft(columns, &features, rows, options)
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
    let mut draft = Draft::new(Matrix { values: Buffer::F64(rows.values), n, dim }, None);
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
        assert_eq!(draft.matrix.values, Buffer::F64(vec![1.5, 2.5]));
        assert_eq!(draft.truth.unwrap().classes, ["cat", "dog"]);
    }

    #[test]
    fn rows_left_out_keep_their_numbers() {
        let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
        let draft = read(b"a,b\n1,2\n3\n5,6\n", &options).unwrap();
        assert_eq!(draft.matrix.values, Buffer::F64(vec![1.0, 2.0, 5.0, 6.0]));
        assert_eq!(draft.ids.unwrap(), ["0", "2"]);
        assert_eq!(draft.kept, Some((vec![0, 2], 3)));
        assert_eq!(draft.notes, ["left out 1 bad row: line 3 (1 cell, expected 2)"]);
    }
}
