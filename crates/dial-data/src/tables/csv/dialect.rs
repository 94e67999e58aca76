//! How a table is written: what stands between its cells, and what marks the decimals.
//!
//! Each of `,` `;` TAB `|` and blank is tried on the first records. The best one gives the most records the same number
//! of cells, then the most cells that are numbers (`1.5` or `1,5`), then the most cells; a blank must stand between
//! numbers. Where none cuts more than half of the records alike, the first line decides. Decimal commas are assumed
//! where nothing else could be meant: another delimiter than `,`, cells like `-1,5`, none like `1.5`, and not only cells
//! like `1,234`, which may be thousands.

use crate::pool::ReadOptions;
use crate::tables::csv::reader::{Record, Records};
use crate::tables::csv::sep_line;

/// What may stand between cells, the likelier first.
const DELIMITERS: [u8; 5] = [b',', b';', b'\t', b'|', b' '];
/// The number of records that are examined.
const DIALECT_RECORDS: usize = 200;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// What stands between cells.
    pub delimiter: u8,
    /// Whether `1,5` is one and a half.
    pub decimal_comma: bool,
}

impl Dialect {
    /// As asked for or as the first line says (`sep=;`), the rest guessed, tabs where they are as likely as anything else.
    pub fn of(bytes: &[u8], tabs: bool, options: &ReadOptions) -> Dialect {
        let said = || sep_line::said_delimiter(bytes).map(|(delimiter, _)| delimiter);
        let delimiter = options
            .delimiter
            .or_else(said)
            .unwrap_or_else(|| delimiter(bytes, tabs));
        let decimal_comma = options
            .decimal_comma
            .unwrap_or_else(|| decimal_comma(bytes, delimiter));
        Dialect {
            delimiter,
            decimal_comma,
        }
    }

    /// What was guessed, if it is not what everybody expects.
    pub fn note(self, options: &ReadOptions) -> Option<String> {
        let cells = match self.delimiter {
            b';' => Some("; between cells"),
            b'|' => Some("| between cells"),
            _ => None,
        };
        let cells = cells.filter(|_| options.delimiter.is_none());
        let commas = Some("decimal commas")
            .filter(|_| self.decimal_comma && options.decimal_comma.is_none());
        let read: Vec<&str> = cells.into_iter().chain(commas).collect();
        let flags: Vec<&str> = cells
            .map(|_| "--delimiter")
            .into_iter()
            .chain(commas.map(|_| "--decimal"))
            .collect();
        match read.as_slice() {
            [] => None,
            _ => Some(format!(
                "read with {}; {} can change that",
                read.join(" and "),
                flags.join(" and ")
            )),
        }
    }

    /// The number in a cell, if it is one.
    pub fn number(self, cell: &str) -> Option<f64> {
        match self.decimal_comma {
            false => number(cell),
            true if cell.contains('.') => None,
            true => number(&cell.replacen(',', ".", 1)),
        }
    }

    /// The same with the other mark for decimals.
    pub fn other(self) -> Dialect {
        Dialect {
            decimal_comma: !self.decimal_comma,
            ..self
        }
    }

    /// The number in a cell with thousands marks, and how certain it is.
    pub fn grouped(self, cell: &str) -> Option<(f64, Certain)> {
        let (decimal, mark) = if self.decimal_comma {
            (',', '.')
        } else {
            ('.', ',')
        };
        let (whole, decimals) = cell
            .split_once(decimal)
            .map_or((cell, None), |(whole, rest)| (whole, Some(rest)));
        let unsigned = whole.trim_start_matches(NUMBER_SIGNS);
        // One kind of mark in a number.
        let mark = unsigned
            .chars()
            .find(|&c| c == mark || THOUSANDS_BLANKS.contains(&c))?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let mut groups = unsigned.split(mark);
        let first = groups
            .next()
            .filter(|first| (1..=3).contains(&first.len()) && !first.starts_with('0'))?;
        let rest: Vec<&str> = groups.collect();
        let good = digits(first) && rest.iter().all(|group| group.len() == 3 && digits(group));
        if !good || decimals.is_some_and(|decimals| decimals.is_empty() || !digits(decimals)) {
            return None;
        }
        let plain = format!("{}.{}", whole.replace(mark, ""), decimals.unwrap_or("0"));
        let certain = match mark {
            _ if decimals.is_some() || rest.len() > 1 => Certain::Thousands,
            ' ' => Certain::AmongNumbers,
            mark if THOUSANDS_BLANKS.contains(&mark) => Certain::Thousands,
            _ => Certain::OrDecimals,
        };
        Some((number(&plain)?, certain))
    }
}

/// What a number with thousands marks could be instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certain {
    /// Nothing: `1,500.25` and `1,234,567`.
    Thousands,
    /// Two numbers, unless others stand in its column: `1 500`.
    AmongNumbers,
    /// Decimals: `1,500`.
    OrDecimals,
}

/// Blanks between thousands: plain, no-break, narrow and thin.
const THOUSANDS_BLANKS: [char; 4] = [' ', '\u{a0}', '\u{202f}', '\u{2009}'];
/// The minus of typesetters is one, too.
const MINUS: char = '\u{2212}';
const NUMBER_SIGNS: [char; 3] = ['-', '+', MINUS];

/// The number in a text with a decimal point.
fn number(text: &str) -> Option<f64> {
    text.parse().ok().or_else(|| {
        text.contains(MINUS)
            .then(|| text.replace(MINUS, "-").parse().ok())?
    })
}

/// A number with a decimal comma: a digit after one comma, and no point.
fn with_comma(cell: &str) -> bool {
    let digit = cell
        .split_once(',')
        .is_some_and(|(_, after)| after.starts_with(|c: char| c.is_ascii_digit()));
    let comma = Dialect {
        delimiter: b';',
        decimal_comma: true,
    };
    digit
        && (comma.number(cell).is_some()
            || cell.contains(THOUSANDS_BLANKS) && comma.grouped(cell).is_some())
}

/// `1,234` and `12,345`, but not `0,123` or `1,23`.
fn perhaps_thousands(cell: &str, mark: char) -> bool {
    let Some((before, after)) = cell.trim_start_matches(NUMBER_SIGNS).split_once(mark) else {
        return false;
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    after.len() == 3
        && digits(after)
        && (1..=3).contains(&before.len())
        && digits(before)
        && !before.starts_with('0')
}

fn decimal_comma(bytes: &[u8], delimiter: u8) -> bool {
    if delimiter == b',' {
        return false;
    }
    let mut records = Records::new(bytes, delimiter);
    let mut record = Record::default();
    let (mut certain, mut peeked) = (false, 0);
    while peeked < DIALECT_RECORDS && records.next(&mut record) {
        for cell in record.fields() {
            // `1.250` may be thousands where decimals are commas; `12.5` may not.
            if cell.contains('.') && number(cell).is_some() && !perhaps_thousands(cell, '.') {
                return false;
            }
            certain |= with_comma(cell) && !perhaps_thousands(cell, ',');
        }
        peeked += 1;
    }
    certain
}

/// How well a delimiter fits: parts in a thousand, so that fits are compared as whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    alike: usize,
    numbers: usize,
    cells: usize,
}

fn fit(bytes: &[u8], delimiter: u8) -> Option<Fit> {
    let mut records = Records::new(bytes, delimiter);
    let mut record = Record::default();
    let (mut widths, mut total, mut cells, mut numbers, mut below) =
        (Vec::new(), 0usize, 0usize, 0usize, (0, 0));
    while total < DIALECT_RECORDS && records.next(&mut record) {
        total += 1;
        if record.fault.is_some() {
            continue;
        }
        widths.push(record.len());
        let found = record
            .fields()
            .filter(|cell| number(cell).is_some() || with_comma(cell))
            .count();
        (cells, numbers) = (cells + record.len(), numbers + found);
        if total > 1 {
            below = (below.0 + record.len(), below.1 + found);
        }
    }
    widths.sort_unstable();
    let runs = widths
        .chunk_by(|a, b| a == b)
        .map(|run| (run.len(), run.first().copied().unwrap_or(0)));
    let (count, width) = runs.max()?;
    // Blanks are between words, too: they count only between numbers, below a first line that may be a header.
    let (all, found) = if total > 1 { below } else { (cells, numbers) };
    let between_numbers = delimiter != b' ' || 10 * found >= 9 * all;
    let fit = Fit {
        alike: 1000 * count / total,
        numbers: 1000 * numbers / cells.max(1),
        cells: width,
    };
    Some(fit).filter(|fit| width > 1 && fit.alike > 500 && between_numbers)
}

/// What most likely stands between the cells.
fn delimiter(bytes: &[u8], tabs: bool) -> u8 {
    let fits = DELIMITERS
        .iter()
        .rev()
        .filter_map(|&delimiter| Some((fit(bytes, delimiter)?, delimiter)));
    fits.max_by_key(|(fit, delimiter)| (*fit, tabs && *delimiter == b'\t'))
        .map_or_else(|| sep_line::delimiter(bytes), |(_, delimiter)| delimiter)
}

/// Whether the lines of a file are cells rather than sentences: numbers, or cells cut alike by something that hardly
/// stands in sentences.
pub(crate) fn is_table(bytes: &[u8]) -> bool {
    let delimiter = delimiter(bytes, false);
    match fit(bytes, delimiter) {
        Some(fit) => {
            fit.numbers >= 500 || (fit.alike == 1000 && matches!(delimiter, b'\t' | b';' | b'|'))
        }
        // A single column is a table if it is numbers.
        None => {
            let mut records = Records::new(bytes, delimiter);
            let mut record = Record::default();
            let (mut all, mut numbers) = (0, 0);
            while all < DIALECT_RECORDS && records.next(&mut record) {
                all += 1;
                numbers +=
                    usize::from(record.fault.is_none() && record.field(0).parse::<f64>().is_ok());
            }
            2 * numbers >= all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guessed(text: &str) -> (char, bool) {
        let dialect = Dialect::of(text.as_bytes(), false, &ReadOptions::default());
        (char::from(dialect.delimiter), dialect.decimal_comma)
    }

    #[test]
    fn delimiters_are_guessed_from_several_lines() {
        let cases = [
            ("a;b,c;d\n", ';'),
            ("1\t2\n", '\t'),
            ("\"a;b;c\",2\n", ','),
            ("1.5 2e3 -7\n", ' '),
            ("x y\n  1   2 \n 30  4\n", ' '),
            ("New York\n", ','),
            ("1,2;3\n", ';'),
            ("id;text\n1;so, so\n2;yes, no, well, no\n", ';'),
            ("a|b\n1|2\n", '|'),
            ("one, two\nthree\n", ','),
            ("1, 2, 3\n4, 5, 6\n", ','),
            ("", ','),
            ("sep=|\na,b|c,d\n1,2|3,4\n", '|'),
        ];
        for (text, wanted) in cases {
            assert_eq!(guessed(text).0, wanted, "{text:?}");
        }
        // Either cuts every line in two.
        let tabs = Dialect::of(b"a,b\tc\nd,e\tf\n", true, &ReadOptions::default());
        assert_eq!(
            (tabs.delimiter, guessed("a,b\tc\nd,e\tf\n").0),
            (b'\t', ',')
        );
    }

    #[test]
    fn decimal_commas_are_guessed_only_where_they_are_certain() {
        let cases = [
            ("a;b\n1;2\n-1,5;2\n", true),
            ("1,5;2,5\n3,5;4,5\n", true),
            ("a\tb\n0,123\t7\n", true),
            ("a;b\n1,234;5\n", false),
            ("a;b\n1,5;2.5\n", false),
            ("a;b\n1,5;2.500\n", true),
            ("a;b\n1,5;0.500\n", false),
            ("a,b\n\"1,5\",2\n", false),
            ("a;b\n1;2\n", false),
            ("a;b\n1\u{a0}000,5;2\n", true),
            ("a;b\n\u{2212}0,5;2\n", true),
        ];
        for (text, wanted) in cases {
            assert_eq!(guessed(text).1, wanted, "{text:?}");
        }
        let comma = Dialect {
            delimiter: b';',
            decimal_comma: true,
        };
        assert_eq!(
            (
                comma.number("-1,5e1"),
                comma.number("7"),
                comma.number("1.5")
            ),
            (Some(-15.0), Some(7.0), None)
        );
        assert_eq!(
            comma.note(&ReadOptions::default()).unwrap(),
            "read with ; between cells and decimal commas; --delimiter and --decimal can change that"
        );
        use Certain::{AmongNumbers, OrDecimals, Thousands};
        let grouped = [
            ("-1.234,5", Some((-1234.5, Thousands))),
            ("1.234", Some((1234.0, OrDecimals))),
            ("1.234.567", Some((1_234_567.0, Thousands))),
            ("1 000,5", Some((1000.5, Thousands))),
            ("12 345", Some((12345.0, AmongNumbers))),
            ("\u{2212}12\u{a0}345", Some((-12345.0, Thousands))),
            (
                "1\u{202f}234\u{202f}567,25",
                Some((1_234_567.25, Thousands)),
            ),
        ];
        for (cell, wanted) in grouped {
            assert_eq!(comma.grouped(cell), wanted, "{cell:?}");
        }
        for cell in [
            "0.123",
            "1.23",
            "1234.567",
            "1.234,",
            "1.234 567",
            "030 123",
            "12 34",
            "7",
        ] {
            assert_eq!(comma.grouped(cell), None, "{cell:?}");
        }
        assert_eq!(
            (
                comma.number("\u{2212}1,5"),
                comma.other().number("\u{2212}2e\u{2212}1")
            ),
            (Some(-1.5), Some(-0.2))
        );
        let said = ReadOptions {
            delimiter: Some(b';'),
            ..ReadOptions::default()
        };
        assert_eq!(
            comma.note(&said).unwrap(),
            "read with decimal commas; --decimal can change that"
        );
    }

    #[test]
    fn sentences_are_no_table() {
        for text in [
            "1\n2\n",
            "1 2\n3 4\n",
            "ham\tGo, now\nspam\tWin\n",
            "a,b\n1,2\n3,4\n",
        ] {
            assert!(is_table(text.as_bytes()), "{text:?}");
        }
        for text in [
            "Call me Ishmael.\nSome years ago, never mind\n",
            "yes, no\nno, yes\n",
            "one\ntwo\n",
        ] {
            assert!(!is_table(text.as_bytes()), "{text:?}");
        }
    }
}
