//! Small files of Parquet and Arrow to begin with: numbers, words, missing cells, lists, every packing we read. Each is a
//! good pool as it is, so that mutations of it reach deep into the reader.

use std::sync::Arc;

use arrow_array::types::Float64Type;
use arrow_array::{
    ArrayRef, BooleanArray, FixedSizeListArray, Float64Array, Int32Array, ListArray, RecordBatch,
    StringArray,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel};
use parquet::file::properties::WriterProperties;

use crate::targets::Input;

fn batches() -> [RecordBatch; 3] {
    let ids: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let words: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("b"), None]));
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.5), None, Some(-3.0)]));
    let whole: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 1]));
    let truths: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, true]));
    let rows = || {
        (0..3).map(|i| {
            Some(
                (0..2)
                    .map(|j| Some(f64::from(i * 2 + j)))
                    .collect::<Vec<_>>(),
            )
        })
    };
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(rows()));
    let fixed: ArrayRef =
        Arc::new(FixedSizeListArray::from_iter_primitive::<Float64Type, _, _>(rows(), 2));
    let batch = |columns: Vec<(&str, ArrayRef)>| {
        RecordBatch::try_from_iter(columns).expect("columns of one length")
    };
    [
        batch(vec![
            ("id", ids),
            ("x", numbers),
            ("label", whole),
            ("flag", truths),
            ("word", words.clone()),
        ]),
        batch(vec![("text", words.clone()), ("embedding", lists)]),
        batch(vec![("label", words), ("embedding", fixed)]),
    ]
}

/// Files of Parquet.
pub fn parquet() -> Vec<Input> {
    let packings = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4_RAW,
        Compression::BROTLI(BrotliLevel::default()),
    ];
    let write = |batch: &RecordBatch, packing| {
        let properties = WriterProperties::builder().set_compression(packing).build();
        let mut writer =
            ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).expect("a writer");
        writer.write(batch).expect("a batch");
        Input::plain("a.parquet", writer.into_inner().expect("a file"))
    };
    let batches = batches();
    batches
        .iter()
        .flat_map(|batch| packings.map(|packing| write(batch, packing)))
        .collect()
}

/// Files and streams of Arrow.
pub fn arrow() -> Vec<Input> {
    let mut inputs = Vec::new();
    for batch in batches() {
        let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
        writer.write(&batch).expect("a batch");
        inputs.push(Input::plain(
            "a.arrow",
            writer.into_inner().expect("a file"),
        ));
        let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
        writer.write(&batch).expect("a batch");
        inputs.push(Input::plain(
            "a.arrows",
            writer.into_inner().expect("a stream"),
        ));
    }
    inputs
}
