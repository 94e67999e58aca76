//! JSON as a sheet: an object per line (JSON Lines), or an array of objects; the keys are the columns.
//!
//! Columns come in the order in which their keys first appear; a row without a key has a missing cell there, as has
//! `null`. `true` and `false` are 1 and 0. Arrays of numbers of one length are lists; objects and other arrays are left
//! out. Of a key that is written twice in one object, the last counts. The text is read twice: what the columns hold is
//! seen first, then they are filled, so that memory is that of the sheet.

pub(crate) mod cells;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Fault;
use crate::media::text_lines;
use crate::open::wanted::{Use, Wanted};
use crate::pool::Kind;
use crate::tables::column_roles::Roles;
use crate::tables::csv::number_format;
use crate::tables::csv::reader::MAX_RECORD_BYTES;
use crate::tables::encoding;
use crate::tables::frame::{BadRows, Sheet};
use crate::tables::item_view;
use crate::tables::json::cells::{Cell, Filling, Seen};

/// How deep values may be nested.
const MAX_NESTING: usize = 64;
/// Cells of a sheet beyond two for each byte of the file: the keys of honest rows repeat.
const SPARE_CELLS: usize = 1_000_000;

/// The keys and values of an object, in their order.
struct Pairs<V>(Vec<(String, V)>);

type Row = Pairs<Value>;

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Pairs<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pairs<V>, D::Error> {
        struct Collector<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Collector<V> {
            type Value = Pairs<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<V>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Collector(PhantomData))
    }
}

/// The elements of an array, as many as memory takes: a small file may hold very many.
struct Elements<'a>(Vec<&'a RawValue>);

const TOO_MANY: &str = "more elements than there is memory for";

impl<'de: 'a, 'a> Deserialize<'de> for Elements<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Elements<'a>, D::Error> {
        struct Collector<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Collector<'a> {
            type Value = Elements<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Elements<'a>, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = items.next_element()? {
                    elements
                        .try_reserve(1)
                        .map_err(|_| A::Error::custom(TOO_MANY))?;
                    elements.push(element);
                }
                Ok(Elements(elements))
            }
        }
        deserializer.deserialize_seq(Collector(PhantomData))
    }
}

/// Whether the first line of a file is a JSON object.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    let bytes = bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(bytes)
        .trim_ascii_start();
    let line = text_lines::lines(bytes)
        .next()
        .map_or(bytes, |(_, line)| line);
    line.starts_with(b"{")
        && line.len() <= MAX_RECORD_BYTES
        && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

/// The sheet of a file, and what its columns are for.
pub(crate) fn sheet(
    bytes: Cow<'_, [u8]>,
    _: &str,
    wanted: Wanted<'_>,
) -> Result<(Sheet, Roles), Fault> {
    let options = wanted.options();
    let bytes = &*encoding::utf8(&bytes, options.encoding)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let items = items(bytes)?;
    let (names, seen, rows) = look(&items);
    if rows.saturating_mul(names.len()) > (2 * bytes.len()).saturating_add(SPARE_CELLS) {
        let text = format!(
            "{rows} rows with {} different keys: too few cells for a table",
            names.len()
        );
        return Err(Fault::format(text, "Write the same keys in every row."));
    }
    if wanted.is_pool() && rows == 1 && seen.iter().any(|seen| seen.nested > 0) {
        return Err(single("a single object of nested values"));
    }
    let (roles, uses) = match names.is_empty() {
        true => Default::default(),
        false => wanted.uses(&names, true)?,
    };
    let free = || (0..names.len()).filter(|&at| uses[at] == Use::Free);
    let guess = options.kind != Some(Kind::Table);
    let texts = roles.text.is_some() || guess && free().any(|at| seen[at].texts(&names[at]));
    let doubtful = |at: usize| texts && uses[at] == Use::Free && seen[at].doubtful(&roles);
    let columns: Vec<Filling> = (0..names.len())
        .map(|at| match uses[at] {
            Use::Nothing => Filling::LeftOut,
            how => seen[at].filling(how == Use::Words || doubtful(at)),
        })
        .collect();
    let mixed = |at: &usize| seen[*at].numbers > 0 && matches!(columns[*at], Filling::Words(_));
    let said = |at: usize| {
        number_format::mixed_note(
            &names[at],
            seen[at].words,
            seen[at].words + seen[at].numbers,
        )
    };
    let lists = free()
        .filter(|&at| doubtful(at))
        .map(|at| item_view::doubtful_note(&names[at]));
    let notes = free().filter(mixed).map(said).chain(lists).collect();
    let (mut sheet, bad) = fill(&items, names, columns);
    sheet.notes = notes;
    let bad = bad.refused(options.skip_bad)?;
    if bad.total == 0 {
        sheet.kept = None;
    }
    sheet.notes.extend(bad.note());
    Ok((sheet, roles))
}

/// The fault of a file that is one object.
fn single(what: &str) -> Fault {
    let next = "Write one object per line, or an array of objects: from pandas, to_json(orient=\"records\", lines=True).";
    Fault::format(what, next)
}

/// Whether a text is one object on several lines.
fn is_spread(bytes: &[u8]) -> bool {
    let whole = |text: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok();
    let first = text_lines::lines(bytes.trim_ascii_start())
        .next()
        .map_or(bytes, |(_, line)| line)
        .trim_ascii();
    first == b"{" || first.starts_with(b"{") && !whole(first) && whole(bytes)
}

/// The line and the text of each object.
fn items<'a>(bytes: &'a [u8]) -> Result<Vec<(usize, &'a [u8])>, Fault> {
    let start = bytes.trim_ascii_start();
    if is_spread(start) {
        return Err(single("a single object on several lines"));
    }
    if !start.starts_with(b"[") {
        return Ok(text_lines::lines(bytes)
            .filter(|(_, line)| !line.trim_ascii().is_empty())
            .collect());
    }
    let Elements(items): Elements<'a> = serde_json::from_slice(bytes).map_err(|error| {
        if error.to_string().starts_with(TOO_MANY) {
            return Fault::Memory(format!("the array of objects has {TOO_MANY}"));
        }
        let text = format!("not an array of objects: {error}");
        Fault::format(text, "Give an array of objects, or one object per line.")
    })?;
    let (mut line, mut at) = (1, 0);
    let placed = |item: &'a RawValue| {
        let text = item.get().as_bytes();
        let start = (text.as_ptr() as usize).saturating_sub(bytes.as_ptr() as usize);
        line += bytes
            .get(at..start)
            .unwrap_or_default()
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        at = start;
        (line, text)
    };
    Ok(items.into_iter().map(placed).collect())
}

/// The object in a text, or what is wrong with it.
fn row(text: &[u8]) -> Result<Row, String> {
    if text.len() > MAX_RECORD_BYTES {
        return Err("longer than 16 MiB".into());
    }
    let row: Row = serde_json::from_slice(text).map_err(|error| {
        let (full, column) = (error.to_string(), error.column());
        let what = full.split(" at line ").next().unwrap_or_default();
        let hint = if text.windows(3).any(|part| part == b"NaN") {
            "; for NaN write null"
        } else {
            ""
        };
        format!("not a JSON object ({what}, column {column}{hint})")
    })?;
    match row.0.iter().all(|(_, value)| depth(value) <= MAX_NESTING) {
        true => Ok(row),
        false => Err(format!("nested deeper than {MAX_NESTING} levels")),
    }
}

/// The parser itself refuses more than 128 levels.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(depth).max().unwrap_or(0),
        Value::Object(values) => 1 + values.values().map(depth).max().unwrap_or(0),
        _ => 1,
    }
}

/// The keys, what was seen under each, and the number of readable rows.
fn look(items: &[(usize, &[u8])]) -> (Vec<String>, Vec<Seen>, usize) {
    let (mut names, mut seen): (Vec<String>, Vec<Seen>) = (Vec::new(), Vec::new());
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut rows = 0;
    for Pairs(pairs) in items.iter().filter_map(|(_, text)| row(text).ok()) {
        rows += 1;
        for (key, value) in pairs {
            let place = places.get(&key).copied().unwrap_or_else(|| {
                places.insert(key.clone(), names.len());
                names.push(key);
                seen.push(Seen::default());
                names.len() - 1
            });
            seen[place].add(&value);
        }
    }
    (names, seen, rows)
}

fn fill(
    items: &[(usize, &[u8])],
    names: Vec<String>,
    mut columns: Vec<Filling>,
) -> (Sheet, BadRows) {
    let places: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let (mut lines, mut kept, mut bad) = (Vec::new(), Vec::new(), BadRows::default());
    for (number, (line, text)) in items.iter().enumerate() {
        match row(text).and_then(|row| cells(row, text, &places, &names, &columns)) {
            Ok(cells) => {
                columns
                    .iter_mut()
                    .zip(cells)
                    .for_each(|(column, cell)| column.push(cell));
                lines.push(*line);
                kept.push(number);
            }
            Err(why) => bad.push(|| (*line, why)),
        }
    }
    let columns = columns.into_iter().map(Filling::finished).collect();
    let (rows, kept) = (lines.len(), Some((kept, items.len())));
    (
        Sheet {
            names,
            columns,
            rows,
            lines: Some(lines),
            kept,
            ..Sheet::default()
        },
        bad,
    )
}

/// One cell for each column, in their order.
fn cells(
    row: Row,
    text: &[u8],
    places: &HashMap<&str, usize>,
    names: &[String],
    columns: &[Filling],
) -> Result<Vec<Cell>, String> {
    let mut values: Vec<&Value> = vec![&Value::Null; columns.len()];
    for (key, value) in &row.0 {
        if let Some(slot) = places
            .get(key.as_str())
            .and_then(|&place| values.get_mut(place))
        {
            *slot = value;
        }
    }
    let one = |((column, value), name): ((&Filling, &Value), &String)| {
        // The parser has rounded whole numbers beyond 64 bits.
        if let (Filling::Words(_), true) = (column, value.is_f64())
            && let Some(digits) = digits(text, name)
        {
            return Ok(Cell::Word(digits));
        }
        column.cell(value).map_err(|why| format!("{name} {why}"))
    };
    columns.iter().zip(values).zip(names).map(one).collect()
}

/// The whole number that an object holds under a key, as it is written.
fn digits(object: &[u8], key: &str) -> Option<String> {
    let pairs: Pairs<&RawValue> = serde_json::from_slice(object).ok()?;
    let (_, value) = pairs.0.into_iter().rev().find(|(name, _)| name == key)?;
    let digits = value.get().trim_start_matches('-');
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| value.get().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::matrix::Buffer;
    use crate::pool::show::Show;
    use crate::pool::{Draft, ReadOptions};
    use crate::tables::column_roles;

    fn read_with(text: &str, options: &ReadOptions) -> Result<Draft, Fault> {
        let (sheet, roles) = sheet(text.as_bytes().into(), "a.jsonl", Wanted::Pool(options))?;
        column_roles::draft(sheet, roles, "a.jsonl", options)
    }

    fn read(text: &str) -> Result<Draft, Fault> {
        read_with(text, &ReadOptions::default())
    }

    #[test]
    fn objects_by_line_or_in_an_array() {
        let lines = "{\"b\":1,\"a\":true}\n\n{\"a\":null,\"b\":2.5,\"more\":{\"x\":1}}\r\n{\"b\":3,\"b\":4,\"a\":false}";
        let array = format!(
            "[{}]",
            lines
                .replace("\r", "")
                .replace("\n\n", ",\n\n")
                .replace("}\n{", "},\n{")
        );
        for text in [lines, &array] {
            let draft = read(text).unwrap();
            assert_eq!(draft.show, Show::Numbers(vec!["b".into(), "a".into()]));
            // a is 1, missing (the mean of 1 and 0), 0; the last b of a row counts.
            assert_eq!(
                draft.matrix.as_ref().unwrap().values,
                Buffer::F64(vec![1.0, 1.0, 2.5, 0.5, 4.0, 0.0])
            );
            assert_eq!(
                draft.notes[0],
                "left out the column more: it holds nested values (lists or objects)"
            );
            assert!(draft.kept.is_none() && draft.lines.unwrap().0.starts_with(&[1, 3]));
        }
    }

    #[test]
    fn lists_texts_ids_and_labels() {
        let text = "{\"id\":18446744073709551615,\"v\":[1,2.5],\"label\":null,\"t\":\"x\"}\n\
                    {\"id\":7,\"v\":[3,4],\"label\":true,\"t\":\"y\"}\n";
        let draft = read(text).unwrap();
        assert_eq!(
            draft.matrix.unwrap().values,
            Buffer::F64(vec![1.0, 2.5, 3.0, 4.0])
        );
        assert_eq!(draft.ids.unwrap(), ["18446744073709551615", "7"]);
        assert_eq!(draft.truth.unwrap().labels, [None, Some(0)]);
        assert_eq!(draft.beside.unwrap().cells, ["x", "y"]);
        let said = [
            "labels are the column label",
            "features are the column v (2 numbers in each row)",
        ];
        assert_eq!(
            draft.notes,
            [said[0], said[1], "shown beside the items, not features: t"]
        );
        let draft = read("{\"text\":\"so\",\"n\":1}\n{\"text\":\"it goes\"}\n").unwrap();
        assert_eq!(draft.show, Show::Texts(vec!["so".into(), "it goes".into()]));
        assert_eq!(draft.beside.unwrap().cells, ["1", ""]);
    }

    #[test]
    fn long_ids_keep_their_digits() {
        // Beyond 64 bits; of a key written twice the last counts; what is not a whole number is written as we write it.
        let text = "{\"id\":123456789012345678901234567890,\"a\":1}\n\
                    {\"id\":7,\"id\":-123456789012345678901234567891,\"a\":2}\n{\"id\":1.50,\"a\":2}\n";
        let ids = [
            "123456789012345678901234567890",
            "-123456789012345678901234567891",
            "1.5",
        ];
        assert_eq!(read(text).unwrap().ids.unwrap(), ids);
    }

    #[test]
    fn bad_rows_by_line() {
        let text = "{\"a\":1}\n{\"a\":NaN}\n7\n{\"a\":\"x\"}\n{\"a\":2}\n{\"a\":3}\n";
        let error = read(text).unwrap_err().to_string();
        for said in [
            "3 bad rows: line 2: not a JSON object (",
            "for NaN write null",
            "line 4: a is not a number (\"x\")",
        ] {
            assert!(error.contains(said), "{said}: {error}");
        }
        let skip = ReadOptions {
            skip_bad: true,
            ..ReadOptions::default()
        };
        let draft = read_with(text, &skip).unwrap();
        assert_eq!(draft.ids.unwrap(), ["0", "4", "5"]);
        assert_eq!(draft.kept.unwrap(), (vec![0, 4, 5], 6));
        // Many words among numbers are not mistakes.
        let mixed: String = (0..20)
            .map(|i| {
                format!(
                    "{{\"x\":{i}.5,\"a\":{}}}\n",
                    if i < 5 { "\"A 1\"" } else { "7" }
                )
            })
            .collect();
        let draft = read(&mixed).unwrap();
        assert_eq!(
            draft.notes[0],
            "the column a holds words in 5 of 20 cells: the whole column is read as words"
        );
        let lists = read("{\"v\":[1,2]}\n{\"v\":[1,2]}\n{\"v\":[1]}\n{}\n")
            .unwrap_err()
            .to_string();
        assert!(
            lists.contains(
                "line 3: v is a list of 1, expected 2; line 4: v is not a list of numbers"
            ),
            "{lists}"
        );
    }

    #[test]
    fn what_is_too_deep_or_too_sparse() {
        let nested =
            |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        let deep = format!("{{\"a\":1}}\n{}\n{}\n", nested(65), nested(100_000));
        let error = read(&deep).unwrap_err().to_string();
        assert!(
            error.contains(
                "line 2: nested deeper than 64 levels; line 3: not a JSON object (recursion"
            ),
            "{error}"
        );
        let sparse: String = (0..3000).map(|i| format!("{{\"k{i}\":1}}\n")).collect();
        assert!(
            read(&sparse)
                .unwrap_err()
                .to_string()
                .starts_with("3000 rows with 3000 different keys")
        );
        assert!(
            read("{\"a\":{\"0\":1}}")
                .unwrap_err()
                .to_string()
                .contains("orient=\"records\"")
        );
        assert!(
            read("[{\"a\":1},")
                .unwrap_err()
                .to_string()
                .starts_with("not an array of objects: EOF")
        );
        assert_eq!(read("[]").unwrap_err(), Fault::Shape("no rows".into()));
        assert!(
            begins(b"\xef\xbb\xbf {\"a\":1}\n") && !begins(b"{\n\"a\":1}\n") && !begins(b"a,b\n")
        );
    }
}
