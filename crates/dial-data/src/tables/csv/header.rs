//! Whether the first row of a table is the names of its columns.
//!
//! It is if it holds a name that was asked for; if it counts 0, 1, 2, ... as pandas does without names; if a word stands
//! above numbers; or if it holds a name that means something to us, which neither recurs in the row nor below. Words
//! above words are names if they differ, none recurs below, and one of them is usual above words or stands above texts
//! that are much longer, or above paths of pictures. Empty names say nothing either way, but a row that begins with them and goes on with names, or
//! counts, stands above an index.

use crate::pool::ReadOptions;
use crate::tables::column_roles;
use crate::tables::csv::dialect::Dialect;
use crate::tables::csv::reader::{Record, Records};
use crate::tables::frame::is_missing;
use crate::tables::heuristics;

/// The number of rows below the first that are examined.
const HEADER_ROWS: usize = 100;
/// A row is only taken for a count of columns (0, 1, 2, ...) if it has at least this many cells: `0,1` is an item and its label.
const MIN_COUNTED_CELLS: usize = 3;
/// Names that are usual above words.
const ABOVE_WORDS: [&str; 12] = [
    "category",
    "kind",
    "type",
    "topic",
    "sentiment",
    "group",
    "name",
    "title",
    "species",
    "genre",
    "author",
    "date",
];

/// What the first row is, and what is to be said of it.
pub(crate) fn look(
    first: &Record,
    mut records: Records<'_>,
    dialect: Dialect,
    options: &ReadOptions,
) -> (bool, Option<String>) {
    let (mut below, mut record) = (Vec::new(), Record::default());
    while below.len() < HEADER_ROWS && records.next(&mut record) {
        below.push(record.clone());
    }
    let rows = Rows {
        first: first.fields().collect(),
        below,
        dialect,
    };
    match () {
        _ if rows.counts() => (
            true,
            Some("the first row counts 0, 1, 2: it is taken for the names of the columns".into()),
        ),
        _ if rows
            .first
            .iter()
            .any(|name| column_roles::is_asked(name, options))
            || rows.is_header() =>
        {
            (true, None)
        }
        _ => (
            false,
            Some("no header was found; columns are named 0, 1, ...".into()),
        ),
    }
}

struct Rows<'a> {
    first: Vec<&'a str>,
    below: Vec<Record>,
    dialect: Dialect,
}

impl Rows<'_> {
    fn counts(&self) -> bool {
        let counted = self
            .first
            .iter()
            .enumerate()
            .all(|(at, cell)| *cell == at.to_string());
        counted && self.first.len() >= MIN_COUNTED_CELLS && !self.below.is_empty()
    }

    fn is_header(&self) -> bool {
        let columns = || 0..self.first.len();
        columns().any(|at| self.known(at))
            || columns().any(|at| self.word_above_numbers(at))
            || self.words_above_words()
    }

    fn is_number(&self, cell: &str) -> bool {
        self.dialect.number(cell).is_some()
    }

    fn known(&self, at: usize) -> bool {
        column_roles::is_known(self.first[at]) && self.stands_alone(at)
    }

    /// Whether a cell is like no other of its row and none of those below it.
    fn stands_alone(&self, at: usize) -> bool {
        let cell = self.first[at];
        let same = self
            .first
            .iter()
            .filter(|other| other.eq_ignore_ascii_case(cell))
            .count();
        same == 1 && self.below.iter().all(|row| row.field(at) != cell)
    }

    fn word_above_numbers(&self, at: usize) -> bool {
        let cell = self.first[at];
        // Nothing is a name only above an index, beside other names.
        let named = match at {
            0 if cell.is_empty() => {
                let mut others = self
                    .first
                    .iter()
                    .filter(|other| !other.is_empty())
                    .zip(0usize..)
                    .peekable();
                others.peek().is_some()
                    && others.all(|(other, count)| {
                        !self.is_number(other) && !is_missing(other) || *other == count.to_string()
                    })
            }
            _ => !is_missing(cell),
        };
        named && !self.is_number(cell) && self.below.iter().any(|row| self.is_number(row.field(at)))
    }

    fn words_above_words(&self) -> bool {
        let columns = || (0..self.first.len()).filter(|&at| !self.first[at].is_empty());
        if columns().next().is_none() || columns().any(|at| self.is_number(self.first[at])) {
            return false;
        }
        // A single line of words is a header without rows.
        let usual = |at: usize| {
            ABOVE_WORDS
                .iter()
                .any(|name| self.first[at].eq_ignore_ascii_case(name))
        };
        self.below.is_empty()
            || columns().all(|at| self.stands_alone(at))
                && columns().any(|at| usual(at) || self.above_texts(at) || self.above_pictures(at))
    }

    /// Whether the cells below are paths of pictures, and the first is none.
    fn above_pictures(&self, at: usize) -> bool {
        let below: Vec<String> = self
            .below
            .iter()
            .map(|row| row.field(at).to_string())
            .collect();
        !heuristics::is_picture_path(self.first[at]) && heuristics::mostly_pictures(&below)
    }

    /// Whether the cells below are texts, on average more than 20 letters and three times as long as the first.
    fn above_texts(&self, at: usize) -> bool {
        let letters = |cell: &str| cell.chars().count();
        let total: usize = self.below.iter().map(|row| letters(row.field(at))).sum();
        let least = (3 * letters(self.first[at])).max(20);
        total > least * self.below.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> bool {
        let dialect = Dialect {
            delimiter: b',',
            decimal_comma: false,
        };
        let mut records = Records::new(text.as_bytes(), b',');
        let mut first = Record::default();
        assert!(records.next(&mut first));
        look(&first, records, dialect, &ReadOptions::default()).0
    }

    #[test]
    fn names_and_cells() {
        let long = "this was a good film, all in all";
        let texts = format!("said,by\n\"{long}\",me\n\"{long}?\",you\n");
        let spam = format!("v1,v2,,,\nham,\"{long}\",,,\nspam,\"{long}?\",,,\n");
        let names = [
            "a,b\n1,2\n",
            "0,1,2\n5,6,7\n",
            ",0,1\n0,5,6\n",
            ",a\n0,5\n",
            ",,0,1\n0,0,5,6\n0,1,7,8\n",
            &spam,
            "label\nx\ny\n",
            "y,a\nn,1\n",
            "city,kind\nRome,big\nOslo,small\n",
            &texts,
            "a,b\n",
        ];
        for text in names {
            assert!(header(text), "{text:?}");
        }
        let cells = [
            "0,1\n1,0\n",
            "1.5,y\n2.5,n\n3.5,y\n",
            "y,n\nn,y\ny,y\n",
            "y,y\nn,n\n",
            "Rome,big\nOslo,small\n",
            "1,,3\n4,5,6\n",
            ",5\n3,4\n",
            ",,5,6\n1,2,3,4\n",
            ",,\n1,2,3\n",
            "0,1,2\n",
        ];
        for text in cells {
            assert!(!header(text), "{text:?}");
        }
    }
}
