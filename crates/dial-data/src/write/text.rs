//! CSV that other programs read and spreadsheets do not run: RFC 4180 quoting, and a leading `'` before text that a
//! spreadsheet would take for a formula (one that starts with = + - @ TAB or CR).

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
    /// Nothing.
    Empty,
}

impl Cell {
    fn in_words(&self) -> String {
        match self {
            Cell::Text(text) if text.starts_with(['=', '+', '-', '@', '\t', '\r']) => format!("'{text}"),
            Cell::Text(text) => text.clone(),
            Cell::Number(value) if *value != 0.0 && !(1e-5..1e15).contains(&value.abs()) => format!("{value:e}"),
            Cell::Number(value) => value.to_string(),
            Cell::Integer(value) => value.to_string(),
            Cell::Empty => String::new(),
        }
    }
}

/// Writes a header and rows.
pub fn write_csv(path: &Path, header: &[&str], rows: impl IntoIterator<Item = Vec<Cell>>) -> Result<()> {
    write_whole(path, |out| write_rows(out, header, rows))
}

/// The same as a string, for stdout.
pub fn csv_text(header: &[&str], rows: impl IntoIterator<Item = Vec<Cell>>) -> String {
    let mut text = Vec::new();
    write_rows(&mut text, header, rows).expect("memory takes every byte");
    String::from_utf8(text).expect("cells are text")
}

fn write_rows(out: &mut dyn io::Write, header: &[&str], rows: impl IntoIterator<Item = Vec<Cell>>) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(header.iter().map(|name| Cell::Text(name.to_string()).in_words())).map_err(plain)?;
    for row in rows {
        writer.write_record(row.iter().map(Cell::in_words)).map_err(plain)?;
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
}
