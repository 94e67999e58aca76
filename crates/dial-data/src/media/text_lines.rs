//! Texts, one per line: for files of sentences that are no table.
//!
//! A line ends with LF, CRLF or CR; blanks around a text are cut off. Items are numbered by their lines, from 0: where
//! blank lines lie between them, those are skipped with a note, and the others keep their numbers.

use crate::error::{Fault, first_few, plural};
use crate::open::packed;
use crate::pool::show::Show;
use crate::pool::{Draft, Kind, ReadOptions};
use crate::tables::column_roles;
use crate::tables::csv::dialect;
use crate::tables::csv::reader::{MAX_RECORD_BYTES, NOT_UTF8};
use crate::tables::encoding;
use crate::tables::frame::{BadRows, Column, Sheet, is_missing};
use crate::tables::heuristics;

/// The note where the file was not declared as texts.
const GUESSED_NOTE: &str = "read as one text per line; --as table reads it as a table";
/// Lines that are examined to distinguish paths of pictures from texts.
const SNIFFED_LINES: usize = 1000;

/// Whether a file of text is to be read this way: as asked for, or because it ends in `.txt`, is not a table, and lists no
/// pictures.
pub(crate) fn wanted(place: &str, bytes: &[u8], options: &ReadOptions) -> bool {
    let named = [
        &options.id_column,
        &options.label_column,
        &options.text_column,
        &options.image_column,
    ];
    let columns = named.into_iter().any(Option::is_some) || !options.drop_columns.is_empty();
    match options.kind {
        Some(kind) => kind == Kind::Texts,
        None => {
            let ends = packed::bare(place).to_lowercase().ends_with(".txt");
            let dialect = options.delimiter.is_some() || options.decimal_comma.is_some();
            let texts = |text: &[u8]| !dialect::is_table(text) && !lists_pictures(text);
            ends && !columns
                && !dialect
                && encoding::decoded(bytes, options.encoding).is_ok_and(|(text, _)| texts(&text))
        }
    }
}

/// Whether most of the first lines are paths of picture files.
fn lists_pictures(text: &[u8]) -> bool {
    let lines = lines(text)
        .take(SNIFFED_LINES)
        .map(|(_, line)| String::from_utf8_lossy(line).trim().to_string());
    heuristics::mostly_pictures(&lines.collect::<Vec<_>>())
}

/// Reads the texts.
pub(crate) fn read(bytes: &[u8], place: &str, options: &ReadOptions) -> Result<Draft, Fault> {
    let beside = options.labels_file.is_some() || options.features_file.is_some();
    let named = [
        &options.text_column,
        &options.label_column,
        &options.id_column,
    ]
    .into_iter()
    .any(Option::is_some);
    if named && !beside {
        let text =
            "--as texts takes every line for a text, and lines have no columns: leave it out.";
        return Err(Fault::Setting(text.into()));
    }
    let (bytes, note) = &encoding::decoded(bytes, options.encoding)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (mut texts, mut lines, mut bad, mut total) =
        (Vec::new(), Vec::new(), BadRows::default(), 0);
    for (line, text) in self::lines(bytes) {
        match checked(text) {
            Ok("") => continue,
            Ok(text) => {
                texts.push(text.to_string());
                lines.push(line);
            }
            Err(why) => bad.push(|| (line, why.into())),
        }
        total = line;
    }
    let bad = bad.refused(options.skip_bad)?;
    let kept: Vec<usize> = lines.iter().map(|line| line - 1).collect();
    let blank = total - texts.len() - bad.total;
    let sheet = Sheet {
        names: vec!["text".into()],
        rows: texts.len(),
        columns: vec![Column::Words(texts)],
        kept: (kept.len() < total).then_some((kept, total)),
        lines: Some(lines),
        notes: bad
            .note()
            .into_iter()
            .chain(blank_note(blank))
            .chain(note.clone())
            .collect(),
        guarded: true,
    };
    let own = ReadOptions {
        text_column: Some("text".into()),
        skip_bad: options.skip_bad,
        ..ReadOptions::default()
    };
    let roles = column_roles::Roles::new(&sheet.names, false, &own)?;
    let mut draft = column_roles::draft(sheet, roles, place, &own)?;
    if options.kind.is_none() {
        draft.notes.push(GUESSED_NOTE.into());
    }
    Ok(draft)
}

/// What is said of blank lines between the texts.
fn blank_note(blank: usize) -> Option<String> {
    let lines = plural(blank, "blank line", "blank lines");
    (blank > 0).then(|| {
        format!("skipped {blank} {lines}; ids are the numbers of the lines in the file, from 0")
    })
}

/// Says which texts are empty or missing, or leaves them out.
pub(crate) fn leave_out_empty(draft: &mut Draft, options: &ReadOptions) -> Result<(), Fault> {
    let Show::Texts(texts) = &draft.show else {
        return Ok(());
    };
    let nothing = |text: &str| is_missing(text) || text.eq_ignore_ascii_case("nan");
    let (empty, keep): (Vec<usize>, Vec<usize>) =
        (0..draft.n).partition(|&row| nothing(texts[row].trim()));
    let (total, word) = (empty.len(), plural(empty.len(), "text", "texts"));
    let places = empty.iter().map(|&row| draft.item_in_words(row));
    let listed = first_few(places, total, ", ");
    match (total, options.skip_bad) {
        (0, _) => {}
        (_, true) if keep.is_empty() => {
            return Err(Fault::Shape("no rows: every text is empty".into()));
        }
        (_, true) => {
            draft.notes.push(format!(
                "left out {total} empty or missing {word}: {listed}"
            ));
            draft.select_rows(&keep);
        }
        (_, false) => {
            let are = plural(total, "is", "are");
            draft.notes.push(format!(
                "{total} {word} {are} empty or missing ({listed}); --skip-bad leaves such texts out"
            ));
        }
    }
    Ok(())
}

/// The lines of a text with their numbers, from 1.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut rest = Some(bytes);
    let next = move || {
        let text = rest?;
        let end = text.iter().position(|&byte| byte == b'\n' || byte == b'\r');
        let (line, after) = match end {
            None => (text, None),
            Some(end) => {
                let two = text.get(end..end + 2) == Some(b"\r\n");
                (
                    text.get(..end).unwrap_or_default(),
                    text.get(end + 1 + usize::from(two)..),
                )
            }
        };
        rest = after;
        Some(line)
    };
    (1..).zip(std::iter::from_fn(next))
}

/// The text of a line without the blanks around it, or what is wrong with it.
fn checked(line: &[u8]) -> Result<&str, &'static str> {
    match std::str::from_utf8(line) {
        _ if line.len() > MAX_RECORD_BYTES => Err("longer than 16 MiB"),
        _ if line.contains(&0) => Err("a NUL byte"),
        Ok(text) => Ok(text.trim()),
        Err(_) => Err(NOT_UTF8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_per_line() {
        let none = ReadOptions::default();
        let draft = read(
            "\u{feff}one, two\r\n\r\n three \rfour".as_bytes(),
            "a.txt",
            &none,
        )
        .unwrap();
        assert_eq!(
            draft.show,
            Show::Texts(vec!["one, two".into(), "three".into(), "four".into()])
        );
        assert_eq!(
            (draft.n, draft.ids.unwrap().join(" "), draft.matrix),
            (3, "0 2 3".into(), None)
        );
        assert_eq!(
            (draft.lines.unwrap().0, draft.kept.unwrap()),
            (vec![1, 3, 4], (vec![0, 2, 3], 4))
        );
        let said = [
            "skipped 1 blank line; ids are the numbers of the lines in the file, from 0",
            GUESSED_NOTE,
        ];
        assert_eq!(draft.notes, said);
        let plain = read(b"one\ntwo\n\n \n", "a.txt", &none).unwrap();
        assert_eq!(
            (plain.n, plain.ids, plain.kept, plain.notes),
            (2, None, None, vec![GUESSED_NOTE.to_string()])
        );
    }

    #[test]
    fn empty_texts_are_said_or_left_out() {
        let texts = || Draft::shown(3, Show::Texts(vec!["a b".into(), " ".into(), "NaN".into()]));
        let mut draft = texts();
        leave_out_empty(&mut draft, &ReadOptions::default()).unwrap();
        assert_eq!(
            draft.notes,
            ["2 texts are empty or missing (row 1, row 2); --skip-bad leaves such texts out"]
        );
        let skip = ReadOptions {
            skip_bad: true,
            ..ReadOptions::default()
        };
        let mut draft = texts();
        leave_out_empty(&mut draft, &skip).unwrap();
        assert_eq!(
            (draft.n, draft.ids.unwrap(), draft.kept.unwrap()),
            (1, vec!["0".to_string()], (vec![0], 3))
        );
        assert_eq!(
            draft.notes,
            ["left out 2 empty or missing texts: row 1, row 2"]
        );
        let mut none = Draft::shown(1, Show::Texts(vec![String::new()]));
        assert_eq!(
            leave_out_empty(&mut none, &skip).unwrap_err(),
            Fault::Shape("no rows: every text is empty".into())
        );
    }

    #[test]
    fn bad_lines_are_named_or_left_out() {
        let bytes = b"one\n\x81t\xe9\n\nthree\n";
        let none = ReadOptions::default();
        let text = read(bytes, "a.txt", &none).unwrap_err().to_string();
        assert!(
            text.starts_with(
                "1 bad row: line 2: not valid UTF-8. If it is in another encoding, pass --encoding"
            ),
            "{text}"
        );
        let skip = ReadOptions {
            skip_bad: true,
            ..none
        };
        let draft = read(bytes, "a.txt", &skip).unwrap();
        assert_eq!(
            (draft.ids.unwrap().join(" "), draft.kept.unwrap()),
            ("0 3".into(), (vec![0, 3], 4))
        );
    }

    #[test]
    fn windows_1252_is_read_and_said() {
        let draft = read(b"one\n\xe9t\xe9\n", "a.txt", &ReadOptions::default()).unwrap();
        assert_eq!(draft.show, Show::Texts(vec!["one".into(), "été".into()]));
        assert_eq!(
            draft.notes[0],
            "not valid UTF-8: read as Windows-1252 (Latin-1)"
        );
    }

    #[test]
    fn only_sentences_are_guessed() {
        let none = ReadOptions::default();
        assert!(wanted(
            "a.txt",
            b"Call me Ishmael.\nSome years ago\n",
            &none
        ));
        assert!(!wanted(
            "a.csv",
            b"Call me Ishmael.\nSome years ago\n",
            &none
        ));
        assert!(!wanted("a.txt", b"1 2\n3 4\n", &none));
        assert!(!wanted(
            "a.txt",
            b"x\ny\n",
            &ReadOptions {
                label_column: Some("0".into()),
                ..none.clone()
            }
        ));
        assert!(wanted(
            "a.csv",
            b"1,2\n",
            &ReadOptions {
                kind: Some(Kind::Texts),
                ..none
            }
        ));
    }
}
