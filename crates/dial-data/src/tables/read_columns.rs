//! Columns of any table as text: what a file of labels is read into before anybody knows what its columns are for.
//!
//! Of tables, and of arrays of one dimension. Cells are as they are written, without blanks around them; nothing is an empty
//! text, and nested values of JSON are their text.

use std::path::Path;

use crate::arrays::array::{Array, ArrayData};
use crate::error::{Fault, Result};
use crate::open::formats::{Arrays, NamedArray, Reader};
use crate::open::read_lines_or_bytes;
use crate::open::sniff;
use crate::open::wanted::Wanted;
use crate::pool::ReadOptions;
use crate::pool::ids;
use crate::tables::column_roles::Roles;
use crate::tables::frame::Sheet;

/// Which columns to read: given all names, their places.
pub type Choose<'a> = &'a dyn Fn(&[String]) -> Vec<usize>;

/// Some columns of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextColumns {
    /// Their names; numbers from 0 where there were none.
    pub names: Vec<String>,
    /// Their cells, column by column.
    pub cells: Vec<Vec<String>>,
    /// Number of rows.
    pub rows: usize,
    /// Of text: the line of each row, from 1.
    pub lines: Option<Vec<usize>>,
    /// Whether cells may carry the guard that [`crate::write::unguarded`] takes away: delimited text.
    pub guarded: bool,
}

impl TextColumns {
    /// The cells of a column.
    pub fn column(&self, name: &str) -> Option<&[String]> {
        let at = self.names.iter().position(|other| other == name)?;
        self.cells.get(at).map(Vec::as_slice)
    }

    /// Where a row stands, for messages.
    pub fn place(&self, row: usize) -> String {
        match self.lines.as_ref().and_then(|lines| lines.get(row)) {
            Some(line) => format!("line {line}"),
            None => format!("row {row}"),
        }
    }

    /// The columns of these places out of all.
    fn of(
        names: &[String],
        chosen: &[usize],
        mut cells: Vec<Vec<String>>,
        lines: Option<Vec<usize>>,
    ) -> TextColumns {
        let cells: Vec<Vec<String>> = chosen
            .iter()
            .map(|&at| cells.get_mut(at).map(std::mem::take).unwrap_or_default())
            .collect();
        let names = chosen
            .iter()
            .filter_map(|&at| names.get(at).cloned())
            .collect();
        let rows = lines
            .as_ref()
            .map_or_else(|| cells.iter().map(Vec::len).max().unwrap_or(0), Vec::len);
        TextColumns {
            names,
            cells,
            rows,
            lines,
            guarded: false,
        }
    }
}

/// An id as ids are compared: without blanks around it, in Unicode normal form C.
pub fn normal_id(id: &str) -> String {
    ids::normal(id)
}

/// Reads some columns of a file.
///
/// # Errors
/// A file that is not a table, or rows that cannot be read.
pub fn read_columns(path: &Path, choose: Choose<'_>) -> Result<TextColumns> {
    let place = path.display().to_string();
    let bytes = read_lines_or_bytes(&place)?;
    let here = |fault: Fault| fault.at(place.as_str());
    match sniff::format(&place, &bytes).map_err(here)?.reader {
        Reader::Sheet(read) => {
            let (options, chosen) = (ReadOptions::default(), |names: &[String], _: &Roles| {
                Ok(choose(names))
            });
            read(bytes.into(), &place, Wanted::Words(&options, &chosen))
                .map(|(sheet, _)| from_sheet(sheet, choose))
                .map_err(here)
        }
        Reader::Array { read, .. } => read(&bytes).and_then(words).map(single).map_err(here),
        Reader::Arrays(Arrays { list, .. }) => from_arrays(&list(&bytes, &place)?, &place, choose),
    }
}

fn from_sheet(sheet: Sheet, choose: Choose<'_>) -> TextColumns {
    let (rows, chosen) = (sheet.rows, choose(&sheet.names));
    let cells = sheet
        .columns
        .into_iter()
        .map(|column| column.into_words(rows))
        .collect();
    TextColumns {
        rows,
        guarded: sheet.guarded,
        ..TextColumns::of(&sheet.names, &chosen, cells, sheet.lines)
    }
}

fn single(cells: Vec<String>) -> TextColumns {
    TextColumns::of(&["0".to_string()], &[0], vec![cells], None)
}

fn from_arrays(arrays: &[NamedArray<'_>], place: &str, choose: Choose<'_>) -> Result<TextColumns> {
    let names: Vec<String> = arrays.iter().map(|array| array.name.clone()).collect();
    let chosen = choose(&names);
    let mut cells: Vec<Vec<String>> = vec![Vec::new(); names.len()];
    let mut rows = None;
    for &at in &chosen {
        let Some(NamedArray { name, read }) = arrays.get(at) else {
            continue;
        };
        let here = |fault: Fault| fault.at(format!("{place}: array {name}"));
        let column = words(read()?).map_err(here)?;
        if *rows.get_or_insert(column.len()) != column.len() {
            return Err(here(Fault::Labels(format!(
                "{} values, not {}.",
                column.len(),
                rows.unwrap_or(0)
            ))));
        }
        cells[at] = column;
    }
    Ok(TextColumns::of(&names, &chosen, cells, None))
}

/// The values of an array of one dimension.
fn words(array: Array) -> Result<Vec<String>, Fault> {
    if array.shape.iter().filter(|&&length| length != 1).count() > 1 {
        return Err(Fault::Shape("not one value per item".into()));
    }
    let number = |value: f64| {
        if value.is_nan() {
            String::new()
        } else {
            value.to_string()
        }
    };
    Ok(match array.data {
        ArrayData::Text(values) => values,
        ArrayData::I64(values) => values.iter().map(i64::to_string).collect(),
        ArrayData::U8(values) => values.iter().map(u8::to_string).collect(),
        ArrayData::F32(values) => values
            .iter()
            .map(|&value| number(f64::from(value)))
            .collect(),
        ArrayData::F64(values) => values.iter().map(|&value| number(value)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::{Cell, Saved, SavedData, csv_to, jsonl_to, write_npz, write_whole};

    const HEADER: [&str; 3] = ["id", "label", "more"];

    fn rows() -> Vec<Vec<Cell>> {
        let text = |text: &str| Cell::Text(text.into());
        vec![
            vec![
                text("=a"),
                text("cat; \"tom\""),
                Cell::Json("[1,[\"x\",0.1]]".into()),
            ],
            vec![text("b,c"), Cell::Empty, Cell::Empty],
        ]
    }

    fn two(path: &Path) -> TextColumns {
        read_columns(path, &|names| vec![names.len() - 1, 0]).unwrap()
    }

    #[test]
    fn the_same_cells_from_every_format() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        write_whole(&at("a.csv"), |out| csv_to(out, &HEADER, rows())).unwrap();
        write_whole(&at("a.jsonl"), |out| jsonl_to(out, &HEADER, rows())).unwrap();
        let (ids, more) = (
            ["=a", "b,c"].map(String::from),
            ["[1,[\"x\",0.1]]", ""].map(String::from),
        );
        let array = |texts| Saved::vector(SavedData::Text(texts));
        write_npz(&at("a.npz"), &[("id", array(&ids)), ("more", array(&more))]).unwrap();
        let csv = two(&at("a.csv"));
        assert_eq!(
            (csv.guarded, csv.names.join(" "), csv.rows),
            (true, "more id".into(), 2)
        );
        assert_eq!(
            (csv.cells[0].as_slice(), csv.cells[1].as_slice()),
            (&more[..], &["'=a".into(), "b,c".into()][..])
        );
        assert_eq!(
            (csv.place(1), two(&at("a.npz")).place(1)),
            ("line 3".into(), "row 1".into())
        );
        for name in ["a.jsonl", "a.npz"] {
            let read = two(&at(name));
            assert_eq!(read.column("id"), Some(&ids[..]), "{name}");
            assert_eq!(
                (read.column("more"), read.guarded),
                (Some(&more[..]), false),
                "{name}"
            );
        }
        #[cfg(feature = "parquet")]
        {
            use crate::write::{CellKind::Text, parquet_to};
            let header = HEADER.map(|name| (name, Text));
            write_whole(&at("a.parquet"), |out| parquet_to(out, &header, rows())).unwrap();
            let read = two(&at("a.parquet"));
            assert_eq!(
                (read.column("id"), read.column("more")),
                (Some(&ids[..]), Some(&more[..]))
            );
        }
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let code = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            read_columns(&path, &|names| (0..names.len()).collect()).map_err(|error| error.code())
        };
        assert_eq!(code(b"id,label\na,b,c\n").unwrap_err(), "I6");
        assert_eq!(code(b"{\"id\": 1}\n{\"id\": \n").unwrap_err(), "I6");
        assert_eq!(code(b"\x1f\x8b....").unwrap_err(), "I5");
        assert_eq!(code(b"").unwrap_err(), "I3");
    }
}
