//! How the cells of a column of text are read: as numbers, as numbers with thousands marks, or as words.
//!
//! All columns are first taken for numbers and their cells counted. A column is words if more than 5 % of its cells (and
//! more than 3, or more than the numbers) are not numbers: fewer are mistakes. Thousands marks are read where the
//! whole column fits and something can be nothing else (`1,500.25`, `1,234,567`), where other columns show what marks
//! the decimals, or where they are blanks (`1 500`) among other numbers. A column in the other decimal dialect is words, where other columns are in this one: no setting could
//! read both.

use crate::error::plural;
use crate::tables::csv::dialect::{Certain, Dialect};
use crate::tables::frame::is_missing;

/// So many cells are mistakes, however short the column.
const MAX_MISTAKES: usize = 3;

/// How a column is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Numbers,
    /// Numbers with marks between thousands.
    Thousands,
    Words,
    Dropped,
}

impl Reading {
    /// The number in a cell, if it is one.
    pub fn number(self, cell: &str, dialect: Dialect) -> Option<f64> {
        match self {
            Reading::Thousands => dialect
                .number(cell)
                .or_else(|| dialect.grouped(cell).map(|(value, _)| value)),
            _ => dialect.number(cell),
        }
    }
}

/// What the cells of a column are, as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Numbers, and those of them with decimals.
    good: usize,
    decimals: usize,
    /// Numbers with thousands marks, if they can be nothing else.
    grouped: usize,
    /// With blanks between thousands.
    spaced: usize,
    /// Thousands here or decimals in the other dialect.
    either: usize,
    /// Decimals in the other dialect.
    other: usize,
    odd: usize,
}

impl Counts {
    /// Counts a cell with the number that was found in it.
    pub fn add(&mut self, cell: &str, value: Option<f64>, dialect: Dialect) {
        if value.is_some() {
            self.good += 1;
            self.decimals +=
                usize::from(cell.contains(if dialect.decimal_comma { ',' } else { '.' }));
            return;
        }
        let slot = match dialect.grouped(cell) {
            Some((_, Certain::Thousands)) => &mut self.grouped,
            Some((_, Certain::AmongNumbers)) => &mut self.spaced,
            Some((_, Certain::OrDecimals)) => &mut self.either,
            None if is_missing(cell) => return,
            None if dialect.other().number(cell).is_some() => &mut self.other,
            None => &mut self.odd,
        };
        *slot += 1;
    }

    /// How the column is to be read and why, given whether other columns have decimals in this dialect, and whether it is known
    /// from elsewhere.
    fn reading(&self, elsewhere: bool, known: bool) -> (Reading, Why) {
        let Counts {
            good,
            decimals,
            grouped,
            spaced,
            either,
            other,
            odd,
        } = *self;
        let filled = good + grouped + spaced + either + other + odd;
        let numbers =
            grouped > 0 || (elsewhere || known && good > 0) && either > 0 || spaced > 0 && good > 0;
        let odd = odd + grouped + spaced;
        match () {
            _ if filled == good => (Reading::Numbers, Why::Plain),
            _ if self.odd + other == 0 && numbers => (Reading::Thousands, Why::Thousands),
            _ if are_words(odd, filled - odd) => match good {
                0 => (Reading::Words, Why::Plain),
                _ => (Reading::Words, Why::Mixed { odd, filled }),
            },
            _ if odd == 0 && decimals == 0 && elsewhere => (Reading::Words, Why::Other),
            _ => (Reading::Numbers, Why::Plain),
        }
    }
}

/// Whether a column with these counts of words and numbers is a column of words.
pub(crate) fn are_words(words: usize, numbers: usize) -> bool {
    words > numbers || words > MAX_MISTAKES && 20 * words > words + numbers
}

/// What is said of a column of both.
pub(crate) fn mixed_note(name: &str, words: usize, filled: usize) -> String {
    let cells = plural(filled, "cell", "cells");
    format!(
        "the column {name} holds words in {words} of {filled} {cells}: the whole column is read as words"
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Plain,
    Thousands,
    Other,
    Mixed { odd: usize, filled: usize },
}

/// How all columns are to be read, and what is to be said of that.
pub(crate) fn settle(
    names: &[String],
    readings: &[Reading],
    counts: &[Counts],
    (dialect, said): (Dialect, bool),
) -> (Vec<Reading>, Vec<String>) {
    let with_decimals = counts.iter().filter(|counts| counts.decimals > 0).count();
    let (mut thousands, mut notes) = (Vec::new(), Vec::new());
    let one = |((name, &before), counts): ((&String, &Reading), &Counts)| {
        if before != Reading::Numbers {
            return before;
        }
        // The decimal mark was given, or commas separate cells, where a comma that is quoted marks thousands.
        let known = said || dialect.delimiter == b',' && !dialect.decimal_comma;
        let (reading, why) =
            counts.reading(with_decimals > usize::from(counts.decimals > 0), known);
        let (here, there) = if dialect.decimal_comma {
            ("points", "commas")
        } else {
            ("commas", "points")
        };
        match why {
            Why::Plain => {}
            Why::Thousands => thousands.push(name.clone()),
            Why::Other => notes.push(format!(
                "decimals are {here} in the column {name} and {there} elsewhere: it is taken for words; write all \
                 numbers alike"
            )),
            Why::Mixed { odd, filled } => notes.push(mixed_note(name, odd, filled)),
        }
        reading
    };
    let settled = names.iter().zip(readings).zip(counts).map(one).collect();
    if !thousands.is_empty() {
        let columns = plural(thousands.len(), "column", "columns");
        notes.push(format!(
            "numbers with thousands marks were read in the {columns} {}",
            thousands.join(", ")
        ));
    }
    (settled, notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(columns: &[&[&str]], decimal_comma: bool) -> (Vec<Reading>, Vec<String>) {
        settled_in(
            columns,
            Dialect {
                delimiter: b';',
                decimal_comma,
            },
            false,
        )
    }

    fn settled_in(
        columns: &[&[&str]],
        dialect: Dialect,
        said: bool,
    ) -> (Vec<Reading>, Vec<String>) {
        let names: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
        let count = |cells: &&[&str]| {
            let mut counts = Counts::default();
            cells
                .iter()
                .for_each(|cell| counts.add(cell, dialect.number(cell), dialect));
            counts
        };
        let counts: Vec<Counts> = columns.iter().map(count).collect();
        settle(
            &names,
            &vec![Reading::Numbers; columns.len()],
            &counts,
            (dialect, said),
        )
    }

    #[test]
    fn columns_are_settled() {
        use Reading::*;
        let mixed: Vec<&str> = ["7"; 12].into_iter().chain(["A 5"; 4]).collect();
        type Case<'a> = (&'a [&'a [&'a str]], bool, &'a [Reading]);
        let cases: [Case<'_>; 10] = [
            (&[&["1", "2,5"]], false, &[Numbers]),
            (&[&["1", "2,5"], &["0.5", "1"]], false, &[Words, Numbers]),
            (&[&["1,500.25", "2", "3,100"]], false, &[Thousands]),
            (&[&["1.234,56", "2,5", ""]], true, &[Thousands]),
            (&[&["1,500"]], false, &[Numbers]),
            (&[&["1 500", "20"]], false, &[Thousands]),
            (&[&["1 500", "12 340"]], false, &[Words]),
            (&[&["1,500"], &["2.5"]], false, &[Thousands, Numbers]),
            (&[&mixed], false, &[Words]),
            (&[&mixed[..15]], false, &[Numbers]),
        ];
        for (columns, comma, wanted) in cases {
            assert_eq!(settled(columns, comma).0, wanted, "{columns:?}");
        }
        // Whole numbers beside `1,250`: thousands, where commas separate cells or the decimal mark was given.
        let (semicolons, commas) = (
            Dialect {
                delimiter: b';',
                decimal_comma: false,
            },
            Dialect {
                delimiter: b',',
                decimal_comma: false,
            },
        );
        let column: &[&str] = &["950", "1,250"];
        for (dialect, said, wanted) in [
            (semicolons, false, Numbers),
            (semicolons, true, Thousands),
            (commas, false, Thousands),
        ] {
            assert_eq!(settled_in(&[column], dialect, said).0, [wanted]);
        }
        assert_eq!(
            settled_in(&[&["950", "0,5"]], commas, false).0,
            [Numbers],
            "no thousands: a fault of its line"
        );
        assert_eq!(
            settled(&[&mixed], false).1,
            ["the column c0 holds words in 4 of 16 cells: the whole column is read as words"]
        );
        let (_, notes) = settled(&[&["1,500.25"]], false);
        assert_eq!(
            notes,
            ["numbers with thousands marks were read in the column c0"]
        );
    }
}
