//! A sheet of named columns, each of one kind: what delimited text, JSON lines, Parquet and Arrow are read into.
//!
//! A reader finds out what its columns hold; what they are for is decided in one place ([`crate::tables::column_roles`]). Cells may be
//! missing: an empty cell, `NA`, `N/A`, `null`, `None`, `?`, `-` and the like, or a null of the format. A literal `nan` is a number that is not
//! finite, which is a separate fault.

use crate::error::{Fault, MAX_LISTED, listed_rows, plural};
use crate::pool::ids::Place;
use crate::pool::matrix::Buffer;

/// Words that mean there is nothing.
const MISSING_WORDS: [&str; 11] = [
    "", "NA", "N/A", "n/a", "#N/A", "#NV", "null", "NULL", "None", "?", "-",
];

/// Whether a cell of text says that there is nothing in it.
pub(crate) fn is_missing(cell: &str) -> bool {
    MISSING_WORDS.contains(&cell)
}

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Column {
    /// Numbers.
    Numbers(Numbers),
    /// Words; where there are none, an empty one.
    Words(Vec<String>),
    /// Rows of as many numbers each.
    Lists {
        /// How many.
        width: usize,
        /// The numbers, row after row.
        values: Buffer,
    },
    /// Nothing that can be used; what it is instead.
    Other(String),
}

/// A column of numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Numbers {
    /// One per row; NaN where there is none.
    pub values: Vec<f64>,
    /// The rows without one, ascending.
    pub missing: Vec<usize>,
    /// Whether they came as 32-bit floats.
    pub single: bool,
}

impl Numbers {
    /// Appends a number or nothing.
    pub fn push(&mut self, value: Option<f64>) {
        if value.is_none() {
            self.missing.push(self.values.len());
        }
        self.values.push(value.unwrap_or(f64::NAN));
    }
}

impl Column {
    /// The column as words: numbers as Rust writes them.
    pub fn into_words(self, rows: usize) -> Vec<String> {
        match self {
            Column::Words(words) => words,
            Column::Numbers(numbers) => {
                let mut words: Vec<String> = numbers.values.iter().map(f64::to_string).collect();
                numbers.missing.iter().for_each(|&row| words[row].clear());
                words
            }
            Column::Lists { width, .. } => vec![format!("{width} numbers"); rows],
            Column::Other(what) => vec![what; rows],
        }
    }

    /// Whether every cell is missing.
    pub fn is_empty(&self) -> bool {
        match self {
            Column::Words(words) => words.iter().all(|word| is_missing(word)),
            Column::Numbers(numbers) => numbers.missing.len() == numbers.values.len(),
            Column::Lists { .. } | Column::Other(_) => false,
        }
    }

    /// Only the rows named, which are in ascending order.
    #[cfg(any(test, feature = "parquet"))]
    pub fn select_rows(self, keep: &[usize]) -> Column {
        match self {
            Column::Words(mut words) => Column::Words(
                keep.iter()
                    .map(|&row| std::mem::take(&mut words[row]))
                    .collect(),
            ),
            Column::Numbers(Numbers {
                values,
                missing,
                single,
            }) => {
                let mut numbers = Numbers {
                    single,
                    ..Numbers::default()
                };
                let missing = |row: &usize| missing.binary_search(row).is_ok();
                keep.iter()
                    .for_each(|row| numbers.push(Some(values[*row]).filter(|_| !missing(row))));
                Column::Numbers(numbers)
            }
            Column::Lists { width, values } => {
                let matrix = crate::pool::matrix::Matrix {
                    n: values.len() / width.max(1),
                    values,
                    dim: width,
                };
                Column::Lists {
                    width,
                    values: matrix.select_rows(keep).values,
                }
            }
            Column::Other(what) => Column::Other(what),
        }
    }

    /// Words that are all true, false or missing, as the numbers 1 and 0.
    pub fn truths(self) -> Column {
        let Column::Words(words) = &self else {
            return self;
        };
        let is = |word: &str, wanted: &str| word.eq_ignore_ascii_case(wanted);
        let (mut numbers, mut some) = (Numbers::default(), false);
        for word in words {
            match word.as_str() {
                word if is(word, "true") || is(word, "false") => {
                    numbers.push(Some(f64::from(u8::from(is(word, "true")))))
                }
                word if is_missing(word) => numbers.push(None),
                _ => return self,
            }
            some |= !is_missing(word);
        }
        if some { Column::Numbers(numbers) } else { self }
    }

    /// Words that are all numbers or missing, as numbers.
    pub fn settled(self) -> Column {
        let Column::Words(words) = &self else {
            return self;
        };
        let mut numbers = Numbers::default();
        for word in words {
            match word.parse::<f64>() {
                Ok(value) => numbers.push(Some(value)),
                Err(_) if is_missing(word) => numbers.push(None),
                Err(_) => return self,
            }
        }
        Column::Numbers(numbers)
    }
}

/// Columns of one length, with their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sheet {
    /// The names; numbers from 0 where there were none.
    pub names: Vec<String>,
    pub columns: Vec<Column>,
    /// Number of rows.
    pub rows: usize,
    /// Of text: the line of each row, from 1.
    pub lines: Option<Vec<usize>>,
    /// If rows were left out: the original number of each row, and the number of original rows.
    pub kept: Option<(Vec<usize>, usize)>,
    /// Remarks for the user.
    pub notes: Vec<String>,
    /// Whether cells may carry the guard that [`crate::write::unguarded`] takes away.
    pub guarded: bool,
}

impl Sheet {
    /// Where a row stands.
    pub fn place(&self, row: usize) -> Place {
        match self.lines.as_ref().and_then(|lines| lines.get(row)) {
            Some(&line) => Place::Line(line),
            None => Place::Row(row),
        }
    }
}

/// Rows that cannot be read: the first of them and their number.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BadRows {
    /// First and last line of neighbours, and what is wrong with them all.
    pub first: Vec<(usize, usize, String)>,
    pub total: usize,
}

impl BadRows {
    /// Counts one more; on the next line and with the same fault it joins the one before.
    pub fn push(&mut self, row: impl FnOnce() -> (usize, String)) {
        self.total += 1;
        let (line, why) = row();
        let listed = self.first.len();
        match self.first.last_mut() {
            Some((_, last, same)) if line > 0 && *last + 1 == line && *same == why => *last = line,
            _ if listed < MAX_LISTED => self.first.push((line, line, why)),
            _ => {}
        }
    }

    /// The fault, unless there are none or they may be left out.
    pub fn refused(self, skip: bool) -> Result<BadRows, Fault> {
        match self.total {
            0 => Ok(self),
            _ if skip => Ok(self),
            total => Err(Fault::Rows {
                bad: self.first,
                total,
            }),
        }
    }

    /// What was left out, if anything.
    pub fn note(&self) -> Option<String> {
        let listed = listed_rows(&self.first, self.total, ", ", |lines, why| {
            format!("{lines} ({why})")
        });
        let note = || {
            format!(
                "left out {} bad {}: {listed}",
                self.total,
                plural(self.total, "row", "rows")
            )
        };
        (self.total > 0).then(note)
    }
}

/// At most 40 characters of a cell, for messages.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(cells: &[&str]) -> Column {
        Column::Words(cells.iter().map(|cell| cell.to_string()).collect())
    }

    #[test]
    fn words_that_are_numbers_and_back() {
        let Column::Numbers(numbers) = words(&["1.50", "NA", "-2"]).settled() else {
            panic!("numbers")
        };
        assert_eq!(
            (
                numbers.missing.as_slice(),
                numbers.values[0],
                numbers.values[2]
            ),
            (&[1][..], 1.5, -2.0)
        );
        assert_eq!(Column::Numbers(numbers).into_words(3), ["1.5", "", "-2"]);
        assert_eq!(words(&["1", "x"]).settled(), words(&["1", "x"]));
    }

    #[test]
    fn truths_are_one_and_zero() {
        let Column::Numbers(numbers) = words(&["True", "", "FALSE"]).truths() else {
            panic!("numbers")
        };
        assert_eq!(
            (
                numbers.missing.as_slice(),
                numbers.values[0],
                numbers.values[2]
            ),
            (&[1][..], 1.0, 0.0)
        );
        for cells in [&["true", "yes"][..], &["", "NA"]] {
            assert_eq!(words(cells).truths(), words(cells));
        }
    }

    #[test]
    fn selected_rows_of_every_kind() {
        let mut numbers = Numbers::default();
        [Some(1.0), None, Some(3.0)]
            .into_iter()
            .for_each(|value| numbers.push(value));
        let Column::Numbers(numbers) = Column::Numbers(numbers).select_rows(&[1, 2]) else {
            panic!("numbers")
        };
        assert_eq!(
            (numbers.missing.as_slice(), numbers.values[1]),
            (&[0][..], 3.0)
        );
        assert_eq!(
            words(&["a", "b", "c"]).select_rows(&[0, 2]),
            words(&["a", "c"])
        );
        let lists = |values: &[f64]| Column::Lists {
            width: 2,
            values: Buffer::F64(values.to_vec()),
        };
        assert_eq!(
            lists(&[1.0, 2.0, 3.0, 4.0]).select_rows(&[1]),
            lists(&[3.0, 4.0])
        );
    }

    #[test]
    fn bad_rows_by_line_or_number() {
        let mut bad = BadRows::default();
        assert_eq!(bad.note(), None);
        bad.push(|| (7, "short".into()));
        bad.push(|| (0, "row 3: long".into()));
        assert_eq!(
            bad.note().unwrap(),
            "left out 2 bad rows: line 7 (short), row 3: long"
        );
        let mut alike = BadRows::default();
        (4..9).for_each(|line| alike.push(|| (line, "short".into())));
        alike.push(|| (11, "short".into()));
        assert_eq!(
            alike.note().unwrap(),
            "left out 6 bad rows: lines 4 to 8 (short), line 11 (short)"
        );
        let text = bad.refused(false).unwrap_err().to_string();
        assert!(
            text.starts_with("2 bad rows: line 7: short; row 3: long. Fix"),
            "{text}"
        );
    }
}
