//! CSV that other programs read and spreadsheets do not run: RFC 4180 quoting, and a leading `'` before text that a
//! spreadsheet would take for a formula: one that starts with = @ TAB or CR, or with + or - unless that is all of it or the sign of
//! a plain number. Text that looks guarded already gets one `'` more, so that taking away exactly one gives every text back.

use std::io;
use std::path::Path;

use super::write_whole;
use crate::error::Result;

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words; guarded against being taken for a formula.
    Text(String),
    /// A float, in the shortest form that reads back to the same bits.
    Number(f64),
    /// An integer.
    Integer(i64),
    /// Yes or no.
    Truth(bool),
    /// A text that is JSON: a JSON value in files of JSON, a text in others.
    Json(String),
    /// Nothing.
    Empty,
}

impl Cell {
    fn in_words(&self) -> String {
        match self {
            Cell::Text(text) | Cell::Json(text) if runs(text) || looks_guarded(text) => {
                format!("'{text}")
            }
            Cell::Text(text) | Cell::Json(text) => text.clone(),
            Cell::Truth(truth) => truth.to_string(),
            Cell::Number(value) if *value != 0.0 && !(1e-5..1e15).contains(&value.abs()) => {
                format!("{value:e}")
            }
            Cell::Number(value) => value.to_string(),
            Cell::Integer(value) => value.to_string(),
            Cell::Empty => String::new(),
        }
    }
}

macro_rules! cell_from {
    ($($from:ty => |$value:ident| $cell:expr;)*) => {
        $(impl From<$from> for Cell {
            fn from($value: $from) -> Cell {
                $cell
            }
        })*
    };
}

cell_from! {
    f64 => |value| Cell::Number(value);
    usize => |value| Cell::Integer(value as i64);
    u32 => |value| Cell::Integer(value.into());
    bool => |value| Cell::Truth(value);
    &str => |value| Cell::Text(value.into());
    String => |value| Cell::Text(value);
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Empty, Into::into)
    }
}

/// A row of a table from values that are cells or become cells.
#[macro_export]
macro_rules! row {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::write::Cell::from($value)),*]
    };
}

fn begins_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

/// Whether a spreadsheet would run it. A sign before digits makes a number, and alone it is a word; before anything else, a space
/// too, it begins a formula.
fn runs(text: &str) -> bool {
    begins_formula(text) && !text.strip_prefix(['+', '-']).is_some_and(is_number)
}

/// Digits, with a point and an exponent at most; or nothing.
fn is_number(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    let digits = text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(plain);
    text.is_empty() || digits && text.parse::<f64>().is_ok()
}

/// Whether [`unguarded`] would take something away.
fn looks_guarded(text: &str) -> bool {
    text.starts_with('\'') && begins_formula(text.trim_start_matches('\''))
}

/// The text of a cell without the guard that [`write_csv`] puts before formulas.
pub fn unguarded(cell: &str) -> &str {
    match looks_guarded(cell) {
        true => &cell[1..],
        false => cell,
    }
}

/// Writes a header and rows.
pub fn write_csv(
    path: &Path,
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<Cell>>,
) -> Result<()> {
    write_whole(path, |out| csv_to(out, header, rows))
}

/// The same as a string, for stdout.
pub fn csv_text(header: &[&str], rows: impl IntoIterator<Item = Vec<Cell>>) -> String {
    let mut text = Vec::new();
    csv_to(&mut text, header, rows).expect("memory takes every byte");
    String::from_utf8(text).expect("cells are text")
}

/// The same to any stream.
pub fn csv_to(
    out: &mut dyn io::Write,
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<Cell>>,
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer
        .write_record(
            header
                .iter()
                .map(|name| Cell::Text(name.to_string()).in_words()),
        )
        .map_err(plain)?;
    for row in rows {
        writer
            .write_record(row.iter().map(Cell::in_words))
            .map_err(plain)?;
    }
    writer.flush()
}

fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_by_hand() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let text = |text: &str| Cell::Text(text.into());
        let rows = vec![
            vec![text("=1+1"), Cell::Number(-0.1), Cell::Integer(-3)],
            vec![text("a,\"b\"\nc"), Cell::Number(1e300), Cell::Empty],
            vec![text("-x"), Cell::Number(0.0), text("\tt")],
        ];
        write_csv(&path, &["id", "value", "@n"], rows).unwrap();
        let wanted = "id,value,'@n\n'=1+1,-0.1,-3\n\"a,\"\"b\"\"\nc\",1e300,\n'-x,0,'\tt\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), wanted);
    }

    #[test]
    fn every_text_comes_back_from_its_guard() {
        let texts = [
            "a", "'a", "=1", "'=1", "''=1", "'''-", "-", "'", "''", "@x", "'@", "", "a=b",
            "[\"=\"]", "-1", "'-1", "+", "-x", "- x", "-1+1", "+1e5", "-1e", "-.5", "'+1",
        ];
        for text in texts {
            let guarded = Cell::Text(text.into()).in_words();
            assert_eq!(unguarded(&guarded), text, "{guarded}");
            assert!(!runs(&guarded), "{guarded}");
        }
        // A class may be called so, and a number is none: nothing stands before it.
        for plain in ["-", "+", "-1", "+1.5", "-2e-3"] {
            assert_eq!(Cell::Text(plain.into()).in_words(), plain);
        }
        for run in [
            "-1+1", "-x", "+a", "- 1", "-1 ", "--1", "-inf", "-1.5.2", "@1",
        ] {
            assert_eq!(Cell::Text(run.into()).in_words(), format!("'{run}"));
        }
        assert_eq!(Cell::Text("'=1".into()).in_words(), "''=1");
        assert_eq!(Cell::Text("'a".into()).in_words(), "'a");
    }
}
