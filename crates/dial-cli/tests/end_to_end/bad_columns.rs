//! Parquet and Arrow files: how they are written here, and those that are whole but for what they hold, as cases for the
//! corpus of bad files.

use std::sync::Arc;

use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{
    ArrayRef, BinaryArray, Decimal256Array, DictionaryArray, Float64Array, Int32Array, ListArray,
    NullArray, RecordBatch, StringArray,
};

use crate::corpus::Case;

/// A Parquet file.
pub fn parquet(batch: &RecordBatch) -> Vec<u8> {
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

/// The file, which is also called Feather.
pub fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

/// The stream.
pub fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn words(words: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(words))
}

fn numbers(values: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

/// Lists of 1, 2, ... of these lengths; none is a null.
fn lists(lengths: &[Option<usize>]) -> ArrayRef {
    let list = |length: &Option<usize>| {
        length.map(|length| (0..length).map(|value| Some(value as f64 + 1.0)))
    };
    Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(
        lengths.iter().map(list),
    ))
}

fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter(columns.iter().cloned()).unwrap()
}

/// A word that is longer than the file, in every row.
fn repeated() -> ArrayRef {
    let word = "x".repeat(20_000);
    let keys = Int32Array::from(vec![0; 10_000]);
    Arc::new(DictionaryArray::<Int32Type>::new(
        keys,
        Arc::new(StringArray::from_iter_values([word])),
    ))
}

/// A file whose third word has a number that its dictionary does not know.
fn unknown_word() -> Vec<u8> {
    let keys = [0, 1, 1, 0, 1, 0, 0, 1];
    let words = Arc::new(StringArray::from_iter_values(["a", "b"]));
    let column = DictionaryArray::<Int32Type>::new(Int32Array::from(keys.to_vec()), words);
    let mut bytes = arrow_file(&batch(&[
        ("kind", Arc::new(column)),
        ("x", numbers(&[1.5; 8])),
    ]));
    let pattern: Vec<u8> = keys
        .iter()
        .flat_map(|key: &i32| key.to_le_bytes())
        .collect();
    let at = bytes
        .windows(pattern.len())
        .position(|window| window == pattern)
        .unwrap();
    bytes[at + 8] = 9;
    bytes
}

type Content = (
    &'static str,
    Vec<(&'static str, ArrayRef)>,
    &'static str,
    &'static str,
);

/// What is wrong with the content of a file, whichever of the two formats it has.
fn contents() -> Vec<Content> {
    let (four, x) = (Some(4), || ("x", numbers(&[1.0, 2.0, 3.0])));
    let holes = vec![
        Some(vec![Some(1.0), None]),
        Some(vec![Some(2.0), Some(3.0)]),
    ];
    let holes: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(holes));
    let wide: ArrayRef = Arc::new(Decimal256Array::from_iter_values(vec![
        Default::default();
        3
    ]));
    vec![
        (
            "lists of unequal lengths",
            vec![("v", lists(&[four, four, Some(3)]))],
            "I6",
            "row 2: v is a list of 3, expected 4",
        ),
        (
            "a list that is null",
            vec![("v", lists(&[four, None, four]))],
            "I6",
            "1 bad row: row 1: v has no list",
        ),
        (
            "lists that are empty",
            vec![("v", lists(&[Some(0), Some(0)]))],
            "I3",
            "it holds empty lists",
        ),
        (
            "a null in a list",
            vec![("v", holes)],
            "I1",
            "first at row 0, column 1 (NaN)",
        ),
        (
            "two columns of lists",
            vec![("u", lists(&[four; 3])), ("v", lists(&[four; 3]))],
            "U1",
            "2 columns hold lists",
        ),
        (
            "NaN in a column",
            vec![("x", numbers(&[1.0, f64::NAN]))],
            "I1",
            "first at row 1, column 0 (NaN)",
        ),
        (
            "words for features",
            vec![("a", words(&["x", "y", "z"]))],
            "I6",
            "column \"a\" is text in 3 of 3 rows",
        ),
        (
            "an id twice",
            vec![("id", words(&["a", "b", "a"])), x()],
            "I7",
            "\"a\"",
        ),
        (
            "an id that is empty",
            vec![("id", words(&["a", "", "c"])), x()],
            "I7",
            "row 1 has no id",
        ),
        (
            "several labels in a row",
            vec![("label", lists(&[Some(2); 3])), x()],
            "I12",
            "row 0",
        ),
        (
            "bytes",
            vec![("b", Arc::new(BinaryArray::from_vec(vec![b"a", b"b"])))],
            "I3",
            "left out the column b: it holds bytes",
        ),
        (
            "decimals of 76 digits",
            vec![("d", wide)],
            "I3",
            "left out the column d: it holds a type that this tool",
        ),
        ("no rows", vec![("x", numbers(&[]))], "I3", "no rows"),
        (
            "words longer than the file",
            vec![("text", repeated())],
            "I14",
            "column text: the words are longer than a file",
        ),
    ]
}

/// All of them, and claims that only Arrow can make.
pub fn cases() -> Vec<Case> {
    let case =
        |name: String, file, bytes, code, says| Case::new(name.leak(), file, bytes, code, says);
    let mut cases = vec![
        case(
            "arrow unknown word".into(),
            "a.feather",
            unknown_word(),
            "I5",
            "a.feather: cannot be decoded",
        ),
        case(
            "arrow of fifty million nulls".into(),
            "a.feather",
            arrow_file(&batch(&[("a", Arc::new(NullArray::new(50_000_000)))])),
            "I14",
            "claim to be 50000000 rows of 1 columns, 381.5 MiB",
        ),
    ];
    for (name, columns, code, says) in contents() {
        let batch = batch(&columns);
        cases.push(case(
            format!("parquet with {name}"),
            "a.parquet",
            parquet(&batch),
            code,
            says,
        ));
        cases.push(case(
            format!("arrow with {name}"),
            "a.feather",
            arrow_file(&batch),
            code,
            says,
        ));
    }
    cases
}
