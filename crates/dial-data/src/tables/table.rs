//! Delimited text as a sheet: one row per item, cells between delimiters, perhaps names above them.
//!
//! Whether the first row is names is seen from it and the rows below ([`crate::tables::csv::header`]). Columns are taken for numbers
//! at first; where some turn out to be something else ([`crate::tables::csv::number_format`]), the text is read once more. In a column of
//! numbers a word is a fault of its row.

use std::borrow::Cow;

use crate::error::{Fault, plural};
use crate::open::packed;
use crate::open::wanted::{Use, Wanted};
use crate::tables::column_roles::{self, Roles};
use crate::tables::csv::dialect::Dialect;
use crate::tables::csv::header;
use crate::tables::csv::number_format::{self, Counts, Reading};
use crate::tables::csv::reader::{Record, Records};
use crate::tables::encoding;
use crate::tables::frame::{BadRows, Column, Numbers, Sheet, is_missing, shortened};

/// What the columns are.
#[derive(Debug, PartialEq)]
struct Columns {
    header: bool,
    names: Vec<String>,
    roles: Roles,
    uses: Vec<Use>,
    dialect: Dialect,
    /// What is to be said of the header and of what stands above it.
    notes: Vec<String>,
}

impl Columns {
    /// The records below the header.
    fn records<'a>(&self, bytes: &'a [u8]) -> Records<'a> {
        let mut records = Records::new(bytes, self.dialect.delimiter);
        if self.header {
            records.next(&mut Record::default());
        }
        records
    }

    /// What is wrong with a record as a whole.
    fn fault(&self, record: &Record) -> Option<String> {
        let (found, wanted) = (record.len(), self.names.len());
        match record.fault {
            Some(fault) => Some(fault.into()),
            None if found != wanted => Some(format!(
                "{found} {}, expected {wanted}",
                plural(found, "cell", "cells")
            )),
            None => None,
        }
    }
}

/// Looks at the first rows; `place` is the file.
fn columns(bytes: &[u8], place: &str, wanted: Wanted<'_>) -> Result<Columns, Fault> {
    let tabs = packed::bare(place).to_lowercase().ends_with(".tsv");
    let mut dialect = Dialect::of(bytes, tabs, wanted.options());
    // A file that dial wrote needs no guess.
    if !wanted.is_pool() && bytes.starts_with(b"id,label,") {
        dialect.delimiter = b',';
    }
    let mut records = Records::new(bytes, dialect.delimiter);
    let mut first = Record::default();
    if !records.next(&mut first) {
        return Err(Fault::Shape("no rows".into()));
    }
    if let Some(fault) = first.fault {
        return Err(Fault::Rows {
            bad: vec![(first.line, first.line, fault.into())],
            total: 1,
        });
    }
    let remarks = records.remarks;
    let (header, note) = header::look(&first, records, dialect, wanted.options());
    let mut names: Vec<String> = match header {
        true => first.fields().map(String::from).collect(),
        false => (0..first.len()).map(|column| column.to_string()).collect(),
    };
    if let Some(name) = names
        .first_mut()
        .filter(|name| !column_roles::is_asked(name, wanted.options()))
    {
        unmarked(name);
    }
    let (roles, uses) = wanted.uses(&names, header)?;
    let passed = || {
        format!(
            "skipped {remarks} {} of comments (#) above the table",
            plural(remarks, "line", "lines")
        )
    };
    let notes = (remarks > 0).then(passed).into_iter().chain(note).collect();
    Ok(Columns {
        header,
        names,
        roles,
        uses,
        dialect,
        notes,
    })
}

/// Takes the mark of a remark from the first name.
fn unmarked(name: &mut String) {
    if let Some(rest) = name
        .strip_prefix('#')
        .map(str::trim)
        .filter(|rest| !rest.is_empty())
    {
        *name = rest.to_string();
    }
}

/// A column while it is read.
enum Filling {
    Numbers(Numbers),
    Words(Vec<String>),
    Dropped,
}

/// All columns while they are read, and the rows that were.
struct Rows {
    columns: Vec<Filling>,
    counts: Vec<Counts>,
    lines: Vec<usize>,
    kept: Vec<usize>,
    bad: BadRows,
    /// Rows with quotes that stand for themselves, and the line of the first.
    literal: (usize, usize),
}

fn literal_note((rows, line): (usize, usize)) -> Option<String> {
    let note = || {
        let rows = if rows == 1 {
            String::new()
        } else {
            format!(", in {rows} rows")
        };
        format!(
            "quotes that do not enclose a whole cell were read as text (first: line {line}{rows})"
        )
    };
    (rows > 0).then(note)
}

/// The sheet of a file, and what its columns are for.
pub(crate) fn sheet(
    bytes: Cow<'_, [u8]>,
    place: &str,
    wanted: Wanted<'_>,
) -> Result<(Sheet, Roles), Fault> {
    let options = wanted.options();
    let (bytes, guessed) = &encoding::decoded(&bytes, options.encoding)?;
    let columns = columns(bytes, place, wanted)?;
    let first = |how: &Use| match how {
        Use::Free => Reading::Numbers,
        Use::Words => Reading::Words,
        Use::Nothing => Reading::Dropped,
    };
    let readings: Vec<Reading> = columns.uses.iter().map(first).collect();
    let mut rows = rows(&columns, &readings, bytes);
    let mut notes = columns.notes.clone();
    if wanted.is_pool() {
        notes.splice(0..0, columns.dialect.note(options));
        notes.extend(literal_note(rows.literal));
    }
    if rows.bad.total > 0 {
        let (settled, said) = number_format::settle(
            &columns.names,
            &readings,
            &rows.counts,
            (columns.dialect, options.decimal_comma.is_some()),
        );
        if settled != readings {
            rows = self::rows(&columns, &settled, bytes);
            notes.extend(said);
        }
    }
    let bad = rows.bad.refused(options.skip_bad)?;
    notes.extend(bad.note());
    notes.extend(guessed.clone());
    let total = rows.kept.len() + bad.total;
    let finished = |column| match column {
        Filling::Numbers(numbers) => Column::Numbers(numbers),
        Filling::Words(words) => Column::Words(words),
        Filling::Dropped => Column::Other(String::new()),
    };
    let sheet = Sheet {
        names: columns.names,
        columns: rows.columns.into_iter().map(finished).collect(),
        rows: rows.lines.len(),
        lines: Some(rows.lines),
        notes,
        kept: (bad.total > 0).then_some((rows.kept, total)),
        guarded: true,
    };
    Ok((sheet, columns.roles))
}

fn rows(columns: &Columns, readings: &[Reading], bytes: &[u8]) -> Rows {
    let empty = |reading: &Reading| match reading {
        Reading::Numbers | Reading::Thousands => Filling::Numbers(Numbers::default()),
        Reading::Words => Filling::Words(Vec::new()),
        Reading::Dropped => Filling::Dropped,
    };
    let mut rows = Rows {
        columns: readings.iter().map(empty).collect(),
        counts: vec![Counts::default(); readings.len()],
        lines: Vec::new(),
        kept: Vec::new(),
        bad: BadRows::default(),
        literal: (0, 0),
    };
    let mut records = columns.records(bytes);
    let (mut record, mut row) = (Record::default(), 0);
    let mut parsed = Vec::with_capacity(readings.len());
    while records.next(&mut record) {
        match columns
            .fault(&record)
            .or_else(|| rows.parse(&record, columns, readings, &mut parsed))
        {
            Some(why) => rows.bad.push(|| (record.line, why)),
            None => {
                rows.push(&record, &parsed);
                rows.kept.push(row);
            }
        }
        row += 1;
    }
    rows.literal = records.literal;
    rows
}

impl Rows {
    /// The numbers of a record, or why the first cell that is not a number is refused.
    fn parse(
        &mut self,
        record: &Record,
        columns: &Columns,
        readings: &[Reading],
        parsed: &mut Vec<Option<f64>>,
    ) -> Option<String> {
        parsed.clear();
        let mut fault = None;
        for (at, (reading, counts)) in readings.iter().zip(&mut self.counts).enumerate() {
            if matches!(reading, Reading::Words | Reading::Dropped) {
                parsed.push(None);
                continue;
            }
            let cell = record.field(at);
            let value = reading.number(cell, columns.dialect);
            parsed.push(value);
            counts.add(cell, value, columns.dialect);
            if value.is_none() && !is_missing(cell) {
                fault = fault.or_else(|| Some(no_number(cell, columns, at)));
            }
        }
        fault
    }

    fn push(&mut self, record: &Record, parsed: &[Option<f64>]) {
        self.lines.push(record.line);
        for (at, (column, value)) in self.columns.iter_mut().zip(parsed).enumerate() {
            match column {
                Filling::Numbers(numbers) => numbers.push(*value),
                Filling::Words(words) => words.push(record.field(at).to_string()),
                Filling::Dropped => {}
            }
        }
    }
}

fn no_number(cell: &str, columns: &Columns, at: usize) -> String {
    let name = columns.names.get(at).map_or("", String::as_str);
    let (comma, text) = (columns.dialect.decimal_comma, shortened(cell));
    match comma {
        false if cell.replacen(',', ".", 1).parse::<f64>().is_ok() => {
            format!(
                "column {name} is not a number ({text:?}: decimals need a point, or --decimal comma)"
            )
        }
        true if cell.parse::<f64>().is_ok() => {
            format!(
                "column {name} is not a number ({text:?}: decimals need a comma, or --decimal point)"
            )
        }
        _ => format!("column {name} is not a number ({text:?})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::matrix::Buffer;
    use crate::pool::{Draft, ReadOptions};

    fn read(bytes: &[u8], options: &ReadOptions) -> Result<Draft, Fault> {
        let (sheet, roles) = sheet(bytes.into(), "a.csv", Wanted::Pool(options))?;
        column_roles::draft(sheet, roles, "a.csv", options)
    }

    fn roles(text: &str) -> (bool, Option<usize>, Option<usize>) {
        let options = ReadOptions::default();
        let columns = columns(text.as_bytes(), "a.csv", Wanted::Pool(&options)).unwrap();
        (columns.header, columns.roles.id, columns.roles.label)
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
        let options = ReadOptions {
            label_column: Some("1".into()),
            ..ReadOptions::default()
        };
        let draft = read(b"1.5,cat\n2.5,dog\n", &options).unwrap();
        assert_eq!(draft.matrix.unwrap().values, Buffer::F64(vec![1.5, 2.5]));
        assert_eq!(draft.truth.unwrap().classes, ["cat", "dog"]);
    }

    #[test]
    fn an_index_without_a_name_is_no_feature() {
        let none = ReadOptions::default();
        let draft = read(b",a,b\n0,5,6\n1,7,8\n", &none).unwrap();
        assert_eq!(
            draft.matrix.unwrap().values,
            Buffer::F64(vec![5.0, 6.0, 7.0, 8.0])
        );
        assert_eq!(draft.ids.unwrap(), ["0", "1"]);
        assert_eq!(
            draft.notes,
            ["the first column has no name: it is taken for the ids"]
        );
        // Beside ids it is left out; with values that repeat it is a column like any other.
        let both = read(b",id,a\n0,x,5\n1,y,7\n", &none).unwrap();
        assert_eq!(
            (both.matrix.unwrap().values, both.ids.unwrap().len()),
            (Buffer::F64(vec![5.0, 7.0]), 2)
        );
        let double = read(b",a\n3,5\n3,7\n", &none).unwrap();
        assert_eq!(
            (
                double.matrix.as_ref().unwrap().dim,
                double.ids,
                double.notes.len()
            ),
            (2, None, 0)
        );
        let dropped = ReadOptions {
            drop_columns: vec![String::new()],
            ..ReadOptions::default()
        };
        assert_eq!(read(b",a\n0,5\n1,7\n", &dropped).unwrap().ids, None);
    }

    #[test]
    fn columns_are_left_out_by_name() {
        let drop = |names: &[&str]| ReadOptions {
            drop_columns: names.iter().map(|name| name.to_string()).collect(),
            ..ReadOptions::default()
        };
        let draft = read(
            b"a,species,label,b\n1,x,0,2\n3,y,1,4\n",
            &drop(&["species", "label"]),
        )
        .unwrap();
        assert_eq!(
            draft.matrix.unwrap().values,
            Buffer::F64(vec![1.0, 2.0, 3.0, 4.0])
        );
        assert!(draft.truth.is_none(), "what is left out holds no labels");
        let draft = read(b"1,x\n2,y\n", &drop(&["1"])).unwrap();
        assert_eq!(draft.matrix.unwrap().values, Buffer::F64(vec![1.0, 2.0]));
    }

    #[test]
    fn what_people_write_above_and_around_cells() {
        let none = ReadOptions::default();
        let draft = read(b"# made by us\n#id, a,b\nx,1,2\ny,3,4\n", &none).unwrap();
        assert_eq!(
            (draft.ids.unwrap().join(" "), draft.matrix.unwrap().dim),
            ("x y".into(), 2)
        );
        assert_eq!(
            draft.notes,
            ["skipped 1 line of comments (#) above the table"]
        );
        let draft = read(
            b"a\tsaid\n1\t\"so\" it goes\n2\tno\n3\tno\n4\t\"so\" it goes\n",
            &none,
        )
        .unwrap();
        assert_eq!(draft.beside.unwrap().cells[0], "\"so\" it goes");
        assert_eq!(
            draft.notes[0],
            "quotes that do not enclose a whole cell were read as text (first: line 2, in 2 rows)"
        );
        let draft = read("a;b\n\u{2212}1,5;1\u{a0}000,5\n2;3\n".as_bytes(), &none).unwrap();
        assert_eq!(
            draft.matrix.unwrap().values,
            Buffer::F64(vec![-1.5, 1000.5, 2.0, 3.0])
        );
    }

    #[test]
    fn rows_left_out_keep_their_numbers() {
        let options = ReadOptions {
            skip_bad: true,
            ..ReadOptions::default()
        };
        let draft = read(b"a,b\n1,2\n3\n5,6\n", &options).unwrap();
        assert_eq!(
            draft.matrix.unwrap().values,
            Buffer::F64(vec![1.0, 2.0, 5.0, 6.0])
        );
        assert_eq!(draft.ids.unwrap(), ["0", "2"]);
        assert_eq!(draft.kept, Some((vec![0, 2], 3)));
        assert_eq!(
            draft.notes,
            ["left out 1 bad row: line 3 (1 cell, expected 2)"]
        );
    }
}
