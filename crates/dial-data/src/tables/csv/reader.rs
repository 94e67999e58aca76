//! The records of delimited text (RFC 4180, with `,` `;` TAB `|` or blank): one at a time, with their line numbers.
//!
//! A record ends with LF, CRLF or CR; quoted fields may hold delimiters, line ends and doubled quotes. Blank lines are
//! skipped; of several blanks between cells, one counts. A record that breaks the rules is given out with what is
//! wrong, and reading goes on at the next line.
//!
//! People write more than the rules allow. Blanks may stand before an opening quote. Between tabs, where quotes seldom
//! mean anything, those that enclose no whole cell stand for themselves. Lines that begin with `#` above the table are
//! remarks, unless they have as many cells as the row below: then they are names, or a row.

use crate::tables::csv::sep_line::said_delimiter;

/// The longest record we accept.
pub(crate) const MAX_RECORD_BYTES: usize = 16 << 20;

/// One record, reused from row to row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// Line where it starts, from 1.
    pub line: usize,
    /// What is wrong with it, if anything.
    pub fault: Option<&'static str>,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Record {
    /// Number of fields.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// A field without surrounding blanks; empty if there is none.
    pub fn field(&self, index: usize) -> &str {
        let start = index
            .checked_sub(1)
            .and_then(|before| self.ends.get(before))
            .copied()
            .unwrap_or(0);
        let bytes = self
            .ends
            .get(index)
            .and_then(|&end| self.text.get(start..end))
            .unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default().trim()
    }

    /// All fields.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.field(index))
    }

    /// Adds bytes to the last field. Beyond the longest record nothing is kept: what is there is enough to refuse it.
    fn extend(&mut self, bytes: &[u8]) {
        if self.text.len() <= MAX_RECORD_BYTES {
            self.text.extend_from_slice(bytes);
        }
    }

    fn end_field(&mut self) {
        self.ends.push(self.text.len());
    }

    fn check(&mut self) {
        if self.fault.is_some() {
            return;
        }
        self.fault = match () {
            _ if self.text.len() > MAX_RECORD_BYTES => Some("longer than 16 MiB"),
            _ if self.text.contains(&0) => Some("a NUL byte"),
            _ if std::str::from_utf8(&self.text).is_err() => Some(NOT_UTF8),
            _ => None,
        };
    }
}

/// A walk over the records of a text.
#[derive(Clone, Debug)]
pub(crate) struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    delimiter: u8,
    /// Off after a quote that was never closed, so that each line stands for itself.
    spanning: bool,
    /// Lines of remarks above the table.
    pub remarks: usize,
    /// How many records have quotes that stand for themselves, and the line of the first.
    pub literal: (usize, usize),
    quotes: Quotes,
}

/// What a quote at the beginning of a cell means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    /// The cell goes to the closing quote.
    Rules,
    /// Nothing, unless the cell ends in one, too.
    WholeCells,
}

/// The largest number of remarks.
const MOST_REMARKS: usize = 10_000;

impl<'a> Records<'a> {
    /// Starts at the first line; a byte order mark, a line `sep=;` and remarks are skipped.
    pub fn new(bytes: &'a [u8], delimiter: u8) -> Records<'a> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let (at, line) = said_delimiter(bytes).map_or((0, 1), |(_, length)| (length, 2));
        let mut records = Records {
            bytes,
            at,
            line,
            delimiter,
            spanning: true,
            remarks: 0,
            literal: (0, 0),
            quotes: Quotes::Rules,
        };
        records.pass_remarks();
        records
    }

    /// Goes to the first line that is not a comment.
    fn pass_remarks(&mut self) {
        let mut ahead = self.clone();
        // Place, line and number of cells of each that could be one.
        let mut found: Vec<(usize, usize, usize)> = Vec::new();
        let mut record = Record::default();
        while found.len() < MOST_REMARKS && ahead.at_mark() {
            let (at, line) = (ahead.at, ahead.line);
            ahead.spanning = false;
            ahead.at += usize::from(self.delimiter == b' ');
            ahead.fill(&mut record);
            found.push((at, line, record.len()));
        }
        let end = (ahead.at, ahead.line);
        if found.is_empty() || !ahead.next(&mut record) {
            return;
        }
        let digit = |cell: &str| {
            cell.trim_start_matches(['-', '+', '.'])
                .starts_with(|c: char| c.is_ascii_digit())
        };
        let numbers = record.fields().any(digit);
        let is_row = |&(at, _, cells): &(usize, usize, usize)| {
            let close = self
                .bytes
                .get(at + 1)
                .is_some_and(|byte| !byte.is_ascii_whitespace());
            cells == record.len()
                && if cells > 1 {
                    numbers || close
                } else {
                    !numbers
                }
        };
        self.remarks = found.iter().position(is_row).unwrap_or(found.len());
        (self.at, self.line) = match found.get(self.remarks) {
            // Where blanks cut cells, the mark would be one.
            Some(&(at, line, _)) => (at + usize::from(self.delimiter == b' '), line),
            None => end,
        };
    }

    /// Whether the next line that holds something begins with `#` outside a cell.
    fn at_mark(&mut self) -> bool {
        self.pass_empty_lines();
        let alone = self.bytes.get(self.at + 1) == Some(&self.delimiter) && self.delimiter != b' ';
        self.peek() == Some(b'#') && !alone
    }

    fn pass_empty_lines(&mut self) {
        while matches!(self.peek(), Some(b'\n' | b'\r')) {
            self.end_line();
        }
    }

    /// The next record; `false` at the end.
    pub fn next(&mut self, record: &mut Record) -> bool {
        self.pass_empty_lines();
        if self.peek().is_none() {
            return false;
        }
        let start = (self.at, self.line);
        self.fill(record);
        if record.fault == Some(UNCLOSED_QUOTE) && self.spanning {
            // The quote would swallow the rest of the file: give out its first line only.
            self.spanning = false;
            (self.at, self.line) = start;
            self.fill(record);
        }
        if self.delimiter == b'\t'
            && (record.fault.is_some() || self.swallowed(start, record.len()))
        {
            (self.at, self.line) = start;
            self.quotes = Quotes::WholeCells;
            self.fill(record);
            self.quotes = Quotes::Rules;
            self.literal = (
                self.literal.0 + 1,
                if self.literal.0 == 0 {
                    record.line
                } else {
                    self.literal.1
                },
            );
        }
        record.check();
        true
    }

    /// Whether a record from there to here is several that a stray quote has joined: each line has as many cells.
    fn swallowed(&self, (at, line): (usize, usize), cells: usize) -> bool {
        if self.line <= line + 1 {
            return false;
        }
        let text = self
            .bytes
            .get(at..self.at)
            .unwrap_or_default()
            .trim_ascii_end();
        let lines = text
            .split(|&byte| byte == b'\n' || byte == b'\r')
            .filter(|line| !line.is_empty());
        let mut tabs = lines.map(|line| line.iter().filter(|&&byte| byte == b'\t').count());
        cells > 1 && tabs.all(|count| count + 1 == cells)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn end_line(&mut self) {
        let two = self.bytes.get(self.at..self.at + 2) == Some(b"\r\n");
        self.at += if two { 2 } else { 1 };
        self.line += 1;
    }

    fn fill(&mut self, record: &mut Record) {
        record.text.clear();
        record.ends.clear();
        (record.line, record.fault) = (self.line, None);
        self.pass_blanks();
        loop {
            match self.peek() {
                Some(b'"') if self.quotes == Quotes::Rules => self.quoted(record),
                _ if self.quoted_here(record) => {}
                _ => self.plain(record),
            }
            record.end_field();
            self.pass_blanks();
            match self.peek() {
                Some(b'\n' | b'\r') => return self.end_line(),
                Some(_) if self.delimiter == b' ' => {}
                Some(_) => self.at += 1,
                None => return,
            }
        }
    }

    /// To the next cell, where blanks stand between cells.
    fn pass_blanks(&mut self) {
        while self.delimiter == b' ' && self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    /// Reads a cell that is quoted from its first letter to its last, in one line; anything else is left to be read.
    fn quoted_here(&mut self, record: &mut Record) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let blank = |&&byte: &&u8| byte == b' ' || byte == b'\t' && self.delimiter != b'\t';
        let blanks = rest.iter().take_while(blank).count();
        if rest.get(blanks) != Some(&b'"') {
            return false;
        }
        let (before, length) = (self.clone(), record.text.len());
        (self.at, self.spanning) = (self.at + blanks, false);
        let fault = record.fault.take();
        self.quoted(record);
        let good = record.fault.is_none();
        self.spanning = before.spanning;
        if !good {
            (self.at, self.line) = (before.at, before.line);
            record.text.truncate(length);
        }
        record.fault = fault;
        good
    }

    /// Up to the next delimiter or line end.
    fn plain(&mut self, record: &mut Record) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let stop = |&byte: &u8| byte == self.delimiter || byte == b'\n' || byte == b'\r';
        let length = rest.iter().position(stop).unwrap_or(rest.len());
        record.extend(rest.get(..length).unwrap_or_default());
        self.at += length;
    }

    /// A quoted field, from its opening quote to the delimiter or line end after it.
    fn quoted(&mut self, record: &mut Record) {
        self.at += 1;
        loop {
            match self.peek() {
                None => return record.fault = Some(UNCLOSED_QUOTE),
                Some(b'\n' | b'\r') if !self.spanning => {
                    return record.fault = Some(UNCLOSED_QUOTE);
                }
                Some(b'"') if self.bytes.get(self.at + 1) == Some(&b'"') => {
                    record.extend(b"\"");
                    self.at += 2;
                }
                Some(b'"') => break self.at += 1,
                Some(byte @ (b'\n' | b'\r')) => {
                    let before = self.at;
                    self.end_line();
                    record.extend(self.bytes.get(before..self.at).unwrap_or(&[byte]));
                }
                Some(byte) => {
                    record.extend(&[byte]);
                    self.at += 1;
                }
            }
        }
        let before = record.text.len();
        self.plain(record);
        if record
            .text
            .get(before..)
            .is_some_and(|rest| !rest.trim_ascii().is_empty())
        {
            record.fault = Some("text after a closing quote");
        }
    }
}

const UNCLOSED_QUOTE: &str = "a quote that is never closed";
/// Shared with the other readers of text.
pub(crate) const NOT_UTF8: &str = "not valid UTF-8. If it is in another encoding, pass --encoding (such as latin1, shift_jis or gbk)";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::csv::sep_line::delimiter;

    fn all(text: &[u8]) -> Vec<(usize, Vec<String>, Option<&'static str>)> {
        let mut records = Records::new(text, delimiter(text));
        let mut record = Record::default();
        let mut out = Vec::new();
        while records.next(&mut record) {
            out.push((
                record.line,
                record.fields().map(String::from).collect(),
                record.fault,
            ));
        }
        out
    }

    #[test]
    fn quotes_line_ends_and_marks() {
        let text = b"\xef\xbb\xbfa,b\r\n\"x,\"\"1\"\"\ny\",2\r\n\r\n3, 4 \rlast,";
        let strings = |fields: &[&str]| fields.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        let wanted = [
            (1, &["a", "b"]),
            (2, &["x,\"1\"\ny", "2"]),
            (5, &["3", "4"]),
            (6, &["last", ""]),
        ];
        let wanted: Vec<_> = wanted
            .iter()
            .map(|(line, fields)| (*line, strings(*fields), None))
            .collect();
        assert_eq!(all(text), wanted);
    }

    #[test]
    fn broken_records_are_named_and_passed() {
        let found = all(b"a,b\n1,\"2\n3,4\n5,\"6\n");
        let faults: Vec<_> = found
            .iter()
            .map(|(line, _, fault)| (*line, *fault))
            .collect();
        // The quote of line 2 closes in line 4 with text after it, so lines 2 to 4 are one bad record.
        assert_eq!(faults, [(1, None), (2, Some("text after a closing quote"))]);
        let found = all(b"a,b\n1,\"2\n3,4\n");
        let faults: Vec<_> = found
            .iter()
            .map(|(line, _, fault)| (*line, *fault))
            .collect();
        assert_eq!(faults, [(1, None), (2, Some(UNCLOSED_QUOTE)), (3, None)]);
        assert_eq!(
            all(b"a\0b\n\xff\n").iter().map(|r| r.2).collect::<Vec<_>>(),
            [Some("a NUL byte"), Some(NOT_UTF8)]
        );
    }

    #[test]
    fn blanks_before_quotes() {
        let cells = |text: &str| {
            all(text.as_bytes())
                .into_iter()
                .map(|(_, cells, fault)| (cells, fault))
                .collect::<Vec<_>>()
        };
        let row = |fields: &[&str]| {
            (
                fields.iter().map(|s| s.to_string()).collect::<Vec<_>>(),
                None,
            )
        };
        assert_eq!(
            cells("a, \"b, c\",\t\"d\"\"e\" \n"),
            [row(&["a", "b, c", "d\"e"])]
        );
        // What the quotes do not enclose is read as it stands.
        assert_eq!(
            cells("a, \"b\" c,d\ne, \"f,g\n"),
            [row(&["a", "\"b\" c", "d"]), row(&["e", "\"f", "g"])]
        );
    }

    #[test]
    fn quotes_between_tabs() {
        let text = b"id\ttext\n1\t\"Go\" he said\n2\t\"all of it\"\n3\t\"two\nlines\"\n4\t\"stray\n5\tso\n6\t6\" or 7\"\n7\t\"open\n";
        let found = all(text);
        assert!(
            found
                .iter()
                .all(|(_, cells, fault)| cells.len() == 2 && fault.is_none()),
            "{found:?}"
        );
        let second: Vec<&str> = found
            .iter()
            .map(|(_, cells, _)| cells[1].as_str())
            .collect();
        let wanted = [
            "text",
            "\"Go\" he said",
            "all of it",
            "two\nlines",
            "\"stray",
            "so",
            "6\" or 7\"",
            "\"open",
        ];
        assert_eq!(second, wanted);
        let mut records = Records::new(text, b'\t');
        while records.next(&mut Record::default()) {}
        assert_eq!(records.literal, (3, 2));
    }

    #[test]
    fn remarks_above_a_table() {
        let first = |text: &str, delimiter: u8| {
            let mut records = Records::new(text.as_bytes(), delimiter);
            let mut record = Record::default();
            assert!(records.next(&mut record));
            (
                records.remarks,
                record.line,
                record.fields().collect::<Vec<_>>().join("|"),
            )
        };
        let cases = [
            ("# one\n#\n\n#two, 2\na,b,c\n1,2,3\n", b',', (3, 5, "a|b|c")),
            ("# made by us\n# a,b\n1,2\n", b',', (1, 2, "# a|b")),
            ("# x y\n1 2\n", b' ', (0, 1, "x|y")),
            ("# x;y\n-1,5;2,5\n", b';', (0, 1, "# x|y")),
            ("# in Oslo, 2020\na,b\n1,2\n", b',', (1, 2, "a|b")),
            ("#,a\n1,2\n", b',', (0, 1, "#|a")),
            (
                "#love it,pos\nI hate it,neg\n",
                b',',
                (0, 1, "#love it|pos"),
            ),
            ("# heights\n1.5\n2.5\n", b',', (1, 2, "1.5")),
            ("#a\n#b\n", b',', (0, 1, "#a")),
        ];
        for (text, delimiter, (remarks, line, cells)) in cases {
            assert_eq!(
                first(text, delimiter),
                (remarks, line, cells.to_string()),
                "{text:?}"
            );
        }
    }

    proptest::proptest! {
        /// What another writer writes is read back, for each delimiter.
        #[test]
        fn written_tables_are_read_back(
            rows in proptest::collection::vec(proptest::collection::vec("[a,;\t\"\n\r' é1.-]{0,6}", 3), 1..6),
            which in 0usize..3,
        ) {
            let delimiter = [b',', b';', b'\t'][which];
            let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let text = writer.into_inner().unwrap();
            // Between tabs, lines with as many cells are rows that a stray quote has joined.
            let holds = |row: &[String], marks: &[char]| row.iter().any(|cell| cell.contains(marks));
            let joined = |row: &Vec<String>| holds(row, &['\t']) && holds(row, &['\n', '\r']);
            proptest::prop_assume!(delimiter != b'\t' || !rows.iter().any(joined));
            let mut records = Records::new(&text, delimiter);
            let mut record = Record::default();
            for row in &rows {
                proptest::prop_assert!(records.next(&mut record) && record.fault.is_none());
                let trimmed: Vec<&str> = row.iter().map(|field| field.trim()).collect();
                proptest::prop_assert_eq!(record.fields().collect::<Vec<_>>(), trimmed);
            }
            proptest::prop_assert!(!records.next(&mut record));
        }
    }
}
