//! Rows as Parquet: one column for each name, cells that may be missing, packed by Snappy.

use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::{Cell, CellKind};

/// Rows that are encoded together.
const ROWS_PER_BATCH: usize = 1 << 16;

/// Writes rows to a stream. A cell that is not of the kind of its column is left empty.
pub fn parquet_to(
    out: &mut dyn io::Write,
    header: &[(&str, CellKind)],
    rows: impl IntoIterator<Item = Vec<Cell>>,
) -> io::Result<()> {
    let field = |(name, kind): &(&str, CellKind)| Field::new(*name, data_type(*kind), true);
    let schema = Arc::new(Schema::new(header.iter().map(field).collect::<Vec<_>>()));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties))
        .map_err(io::Error::other)?;
    let mut rows = rows.into_iter();
    loop {
        let some: Vec<Vec<Cell>> = rows.by_ref().take(ROWS_PER_BATCH).collect();
        if some.is_empty() {
            break;
        }
        let columns = header
            .iter()
            .enumerate()
            .map(|(at, (_, kind))| column(&some, at, *kind))
            .collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(io::Error::other)?;
        writer.write(&batch).map_err(io::Error::other)?;
    }
    out.write_all(&writer.into_inner().map_err(io::Error::other)?)
}

fn data_type(kind: CellKind) -> DataType {
    match kind {
        CellKind::Text => DataType::Utf8,
        CellKind::Number => DataType::Float64,
        CellKind::Integer => DataType::Int64,
        CellKind::Truth => DataType::Boolean,
    }
}

fn column(rows: &[Vec<Cell>], at: usize, kind: CellKind) -> ArrayRef {
    let cells = || rows.iter().map(|row| row.get(at));
    match kind {
        CellKind::Text => Arc::new(StringArray::from_iter(cells().map(|cell| match cell {
            Some(Cell::Text(text) | Cell::Json(text)) => Some(text.as_str()),
            _ => None,
        }))),
        CellKind::Number => Arc::new(Float64Array::from_iter(cells().map(|cell| match cell {
            Some(Cell::Number(value)) => Some(*value),
            _ => None,
        }))),
        CellKind::Integer => Arc::new(Int64Array::from_iter(cells().map(|cell| match cell {
            Some(Cell::Integer(value)) => Some(*value),
            _ => None,
        }))),
        CellKind::Truth => Arc::new(BooleanArray::from_iter(cells().map(|cell| match cell {
            Some(Cell::Truth(truth)) => Some(*truth),
            _ => None,
        }))),
    }
}
