//! The records of delimited text (RFC 4180, with `,` `;` TAB `|` or blank): one at a time, with their line numbers.
//!
//! A record ends with LF, CRLF or CR; quoted fields may hold delimiters, line ends and doubled quotes. Blank lines are
//! passed over; of several blanks between cells, one counts. A record that breaks the rules is given out with what is wrong, and reading goes on at the next line.

/// The longest record we accept.
pub(crate) const LONGEST: usize = 16 << 20;

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
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let bytes = self.ends.get(index).and_then(|&end| self.text.get(start..end)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default().trim()
    }

    /// All fields.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.field(index))
    }

    fn end_field(&mut self) {
        self.ends.push(self.text.len());
    }

    fn check(&mut self) {
        if self.fault.is_some() {
            return;
        }
        self.fault = match () {
            _ if self.text.len() > LONGEST => Some("longer than 16 MiB"),
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
}

impl<'a> Records<'a> {
    /// Starts at the first line; a byte order mark and a line `sep=;` are passed over.
    pub fn new(bytes: &'a [u8], delimiter: u8) -> Records<'a> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let (at, line) = said_delimiter(bytes).map_or((0, 1), |(_, length)| (length, 2));
        Records { bytes, at, line, delimiter, spanning: true }
    }

    /// The next record; `false` at the end.
    pub fn next(&mut self, record: &mut Record) -> bool {
        while matches!(self.peek(), Some(b'\n' | b'\r')) {
            self.end_line();
        }
        if self.peek().is_none() {
            return false;
        }
        let start = (self.at, self.line);
        self.fill(record);
        if record.fault == Some(UNCLOSED) && self.spanning {
            // The quote would swallow the rest of the file: give out its first line only.
            self.spanning = false;
            (self.at, self.line) = start;
            self.fill(record);
        }
        record.check();
        true
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
                Some(b'"') => self.quoted(record),
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

    /// Up to the next delimiter or line end.
    fn plain(&mut self, record: &mut Record) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let stop = |&byte: &u8| byte == self.delimiter || byte == b'\n' || byte == b'\r';
        let length = rest.iter().position(stop).unwrap_or(rest.len());
        record.text.extend(rest.iter().take(length));
        self.at += length;
    }

    /// A quoted field, from its opening quote to the delimiter or line end after it.
    fn quoted(&mut self, record: &mut Record) {
        self.at += 1;
        loop {
            match self.peek() {
                None => return record.fault = Some(UNCLOSED),
                Some(b'\n' | b'\r') if !self.spanning => return record.fault = Some(UNCLOSED),
                Some(b'"') if self.bytes.get(self.at + 1) == Some(&b'"') => {
                    record.text.push(b'"');
                    self.at += 2;
                }
                Some(b'"') => break self.at += 1,
                Some(byte @ (b'\n' | b'\r')) => {
                    let before = self.at;
                    self.end_line();
                    record.text.extend(self.bytes.get(before..self.at).unwrap_or(&[byte]));
                }
                Some(byte) => {
                    record.text.push(byte);
                    self.at += 1;
                }
            }
        }
        let before = record.text.len();
        self.plain(record);
        if record.text.get(before..).is_some_and(|rest| !rest.trim_ascii().is_empty()) {
            record.fault = Some("text after a closing quote");
        }
    }
}

const UNCLOSED: &str = "a quote that is never closed";
/// Shared with the other readers of text.
pub(crate) const NOT_UTF8: &str = "not valid UTF-8 (perhaps Latin-1 or Windows-1252: save the file as UTF-8)";

/// The delimiter of a first line `sep=;`, as spreadsheets write it, and the length of that line.
pub(crate) fn said_delimiter(bytes: &[u8]) -> Option<(u8, usize)> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (delimiter, end) = match bytes {
        [b's', b'e', b'p', b'=', delimiter, rest @ ..] => (*delimiter, rest),
        [b'"', b's', b'e', b'p', b'=', delimiter, b'"', rest @ ..] => (*delimiter, rest),
        _ => return None,
    };
    let line = match end {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => return None,
    };
    Some((delimiter, bytes.len() - end.len() + line)).filter(|_| b",;\t|".contains(&delimiter))
}

/// The delimiter, judged by the first line alone: the commonest of `,` `;` TAB outside quotes; else blanks between numbers.
pub(crate) fn delimiter(bytes: &[u8]) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let line = bytes.split(|&byte| byte == b'\n' || byte == b'\r').next().unwrap_or_default();
    let mut inside = false;
    for &byte in line {
        inside ^= byte == b'"';
        for (delimiter, count) in &mut counts {
            *count += usize::from(!inside && byte == *delimiter);
        }
    }
    let most = counts.iter().rev().max_by_key(|(_, count)| *count).copied().unwrap_or((b',', 0));
    let words: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    let number = |word: &&[u8]| std::str::from_utf8(word).is_ok_and(|word| word.trim().parse::<f64>().is_ok());
    match most {
        (_, 0) if words.len() > 1 && words.iter().all(number) => b' ',
        (_, 0) => b',',
        (delimiter, _) => delimiter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<(usize, Vec<String>, Option<&'static str>)> {
        let mut records = Records::new(text, delimiter(text));
        let mut record = Record::default();
        let mut out = Vec::new();
        while records.next(&mut record) {
            out.push((record.line, record.fields().map(String::from).collect(), record.fault));
        }
        out
    }

    #[test]
    fn quotes_line_ends_and_marks() {
        let text = b"\xef\xbb\xbfa,b\r\n\"x,\"\"1\"\"\ny\",2\r\n\r\n3, 4 \rlast,";
        let strings = |fields: &[&str]| fields.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        let wanted = [(1, &["a", "b"]), (2, &["x,\"1\"\ny", "2"]), (5, &["3", "4"]), (6, &["last", ""])];
        let wanted: Vec<_> = wanted.iter().map(|(line, fields)| (*line, strings(*fields), None)).collect();
        assert_eq!(all(text), wanted);
    }

    #[test]
    fn broken_records_are_named_and_passed() {
        let found = all(b"a,b\n1,\"2\n3,4\n5,\"6\n");
        let faults: Vec<_> = found.iter().map(|(line, _, fault)| (*line, *fault)).collect();
        // The quote of line 2 closes in line 4 with text after it, so lines 2 to 4 are one bad record.
        assert_eq!(faults, [(1, None), (2, Some("text after a closing quote"))]);
        let found = all(b"a,b\n1,\"2\n3,4\n");
        let faults: Vec<_> = found.iter().map(|(line, _, fault)| (*line, *fault)).collect();
        assert_eq!(faults, [(1, None), (2, Some(UNCLOSED)), (3, None)]);
        assert_eq!(all(b"a\0b\n\xff\n").iter().map(|r| r.2).collect::<Vec<_>>(), [Some("a NUL byte"), Some(NOT_UTF8)]);
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
