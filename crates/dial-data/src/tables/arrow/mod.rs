//! Parquet and Arrow as sheets: batches of typed columns, decoded by the crates of the Arrow project.
//!
//! Numbers, truths and decimals are numbers; strings and dates are words; lists of numbers of one length are lists.
//! Dictionaries are read as the values they stand for. Structs, maps and bytes are left out with a note. These crates trust
//! some numbers in a file; we check them first: sizes against the file ([`pages`], [`messages`]), and cells against its length. Where one of them
//! panics all the same, that is a damaged file.

mod cells;
mod messages;
mod pages;
mod quiet;

use std::borrow::Cow;
use std::io::Cursor;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use crate::error::{Fault, size_in_words};
use crate::open::wanted::{Use, Wanted};
use crate::pool::Kind;
use crate::tables::column_roles::Roles;
use crate::tables::frame::{BadRows, Sheet};
use crate::tables::heuristics;
use crate::tables::item_view;
use cells::Filling;

/// The most bytes that a packed byte of a column yields: zstd repeats a byte 128 KiB times in four.
const MAX_EXPANSION: u64 = 1 << 15;
/// Rows that are decoded together.
const ROWS_PER_BATCH: usize = 1024;
/// A cell takes at least this many bytes here; a sheet up to `HARMLESS_BYTES` is never called a bomb.
const CELL_BYTES: u64 = 8;
const HARMLESS_BYTES: u64 = 64 << 20;
/// By how much a file may grow.
const MAX_GROWTH: u64 = 200;

/// The sheet of a Parquet file.
pub(crate) fn parquet(
    bytes: Cow<'_, [u8]>,
    _: &str,
    wanted: Wanted<'_>,
) -> Result<(Sheet, Roles), Fault> {
    caught(|| from_parquet(Bytes::from(bytes.into_owned()), wanted))
}

/// The sheet of an Arrow stream or file (Feather version 2).
pub(crate) fn arrow(
    bytes: Cow<'_, [u8]>,
    _: &str,
    wanted: Wanted<'_>,
) -> Result<(Sheet, Roles), Fault> {
    caught(|| from_arrow(&bytes, wanted))
}

fn caught<T>(read: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    quiet::caught(read).unwrap_or_else(|| Err(Fault::damaged("the columns contradict themselves")))
}

fn from_parquet(bytes: Bytes, wanted: Wanted<'_>) -> Result<(Sheet, Roles), Fault> {
    pages::check_contents(&bytes)?;
    // Without the Arrow schema that may be beside the Parquet one: there are fewer types then, and the same values.
    let options_of_reader = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder =
        ParquetRecordBatchReaderBuilder::try_new_with_options(bytes.clone(), options_of_reader);
    let builder = builder.map_err(damaged)?;
    if builder.metadata().file_metadata().num_rows() == 0 {
        return Err(Fault::Shape("no rows".into()));
    }
    pages::check(builder.metadata(), &bytes)?;
    let schema = builder.schema().clone();
    let mut filling = Sheets::new(&schema, bytes.len(), wanted)?;
    let rows: u64 = builder
        .metadata()
        .row_groups()
        .iter()
        .map(|group| group.num_rows().max(0) as u64)
        .sum();
    filling.affordable(rows)?;
    let mask = ProjectionMask::roots(builder.parquet_schema(), filling.wanted());
    let reader = builder
        .with_projection(mask)
        .with_batch_size(ROWS_PER_BATCH)
        .build()
        .map_err(damaged)?;
    for batch in reader {
        filling.add(&batch.map_err(damaged)?)?;
    }
    filling.finish()
}

fn from_arrow(bytes: &[u8], wanted: Wanted<'_>) -> Result<(Sheet, Roles), Fault> {
    if bytes.starts_with(messages::ARROW_MAGIC) {
        messages::check_file(bytes)?;
        let reader = FileReader::try_new(Cursor::new(bytes), None).map_err(damaged)?;
        return from_batches(&reader.schema(), reader, bytes.len(), wanted);
    }
    messages::check(bytes)?;
    let reader = StreamReader::try_new(bytes, None).map_err(damaged)?;
    from_batches(&reader.schema(), reader, bytes.len(), wanted)
}

fn from_batches(
    schema: &Arc<Schema>,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    size: usize,
    wanted: Wanted<'_>,
) -> Result<(Sheet, Roles), Fault> {
    let mut filling = Sheets::new(schema, size, wanted)?;
    let wanted = filling.wanted();
    for batch in batches {
        let batch = batch.map_err(damaged)?;
        filling.add(&batch.project(&wanted).map_err(damaged)?)?;
    }
    filling.finish()
}

fn damaged(error: impl std::fmt::Display) -> Fault {
    let text = error.to_string().replace('\n', " ");
    let text = text.trim_end_matches('.').replace("..", " to ");
    Fault::damaged(format!("cannot be decoded ({text})"))
}

/// The columns of a file while its batches come in.
struct Sheets {
    names: Vec<String>,
    columns: Vec<Filling>,
    roles: Roles,
    rows: usize,
    /// Bytes of the file, and how many its words may take yet.
    size: u64,
    room: u64,
    skip_bad: bool,
    /// Whether texts may be guessed.
    guess: bool,
}

impl Sheets {
    fn new(schema: &Arc<Schema>, size: usize, wanted: Wanted<'_>) -> Result<Sheets, Fault> {
        let size = size as u64;
        let names: Vec<String> = schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect();
        if names.is_empty() {
            return Err(Fault::Shape("no columns".into()));
        }
        let (roles, uses) = wanted.uses(&names, true)?;
        let filling = |(kind, how): (&DataType, Use)| match how {
            Use::Nothing => Filling::Other("nothing that is wanted".into()),
            how => Filling::new(kind, how == Use::Words),
        };
        let columns = schema
            .fields()
            .iter()
            .map(|field| field.data_type())
            .zip(uses)
            .map(filling)
            .collect();
        Ok(Sheets {
            names,
            columns,
            roles,
            rows: 0,
            size,
            room: HARMLESS_BYTES + MAX_GROWTH * size,
            skip_bad: wanted.options().skip_bad,
            guess: wanted.is_pool() && wanted.options().kind != Some(Kind::Table),
        })
    }

    /// The columns that are decoded.
    fn wanted(&self) -> Vec<usize> {
        (0..self.columns.len())
            .filter(|&at| !matches!(self.columns[at], Filling::Other(_)))
            .collect()
    }

    /// Refuses more cells than a file of this size can mean.
    fn affordable(&self, rows: u64) -> Result<(), Fault> {
        let cells = rows
            .saturating_mul(self.columns.len() as u64)
            .saturating_mul(CELL_BYTES);
        if cells > HARMLESS_BYTES && cells / MAX_GROWTH > self.size {
            let (size, cells) = (size_in_words(self.size), size_in_words(cells));
            return Err(Fault::Bomb(format!(
                "{size} claim to be {rows} rows of {} columns, {cells}",
                self.columns.len()
            )));
        }
        Ok(())
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<(), Fault> {
        self.affordable((self.rows as u64).saturating_add(batch.num_rows() as u64))?;
        for (&at, array) in self.wanted().iter().zip(batch.columns()) {
            let name = &self.names[at];
            self.columns[at]
                .add(array, &mut self.room)
                .map_err(|fault| match fault {
                    Fault::Bomb(why) => Fault::Bomb(format!("column {name}: {why}")),
                    Fault::Kind(what) => Fault::Kind(format!("in the column {name} {what}")),
                    other => other,
                })?;
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    /// Makes words of lists that are not features beside texts, and says so.
    fn settle_lists(&mut self) -> Vec<String> {
        let text = |at: usize| match &self.columns[at] {
            Filling::Words(cells) if !self.roles.as_written(at) => {
                item_view::names_texts(&self.names[at])
                    || heuristics::looks_like_text_cells(cells, self.rows, 20)
            }
            _ => false,
        };
        let guessed = || self.guess && (0..self.columns.len()).any(text);
        if self.roles.text.is_none() && !guessed() {
            return Vec::new();
        }
        let mut notes = Vec::new();
        for (column, name) in self.columns.iter_mut().zip(&self.names) {
            let Some(width) = column.width() else {
                continue;
            };
            let (odd, all) = column.uneven(width);
            if item_view::doubtful(&self.roles, width, odd, all) {
                *column = std::mem::replace(column, Filling::Other(String::new())).in_words();
                notes.push(item_view::doubtful_note(name));
            }
        }
        notes
    }

    fn finish(mut self) -> Result<(Sheet, Roles), Fault> {
        let mut notes = self.settle_lists();
        let widths: Vec<Option<usize>> = self.columns.iter().map(Filling::width).collect();
        let columns = self.columns.iter().zip(&widths).zip(&self.names);
        let lists: Vec<(&Filling, usize, &String)> = columns
            .filter_map(|((column, width), name)| Some((column, (*width)?, name)))
            .collect();
        let fault = |row: usize| {
            let said = |(column, width, name): &(&Filling, usize, &String)| {
                column
                    .fault(row, *width)
                    .map(|why| format!("row {row}: {name} {why}"))
            };
            lists.iter().find_map(said)
        };
        let (mut kept, mut bad) = (Vec::new(), BadRows::default());
        for row in (0..self.rows).filter(|_| !lists.is_empty()) {
            match fault(row) {
                Some(why) => bad.push(|| (0, why)),
                None => kept.push(row),
            }
        }
        let bad = bad.refused(self.skip_bad)?;
        let keep = (bad.total > 0).then_some(kept.as_slice());
        let columns = self
            .columns
            .into_iter()
            .zip(widths)
            .map(|(column, width)| column.finished(width, keep))
            .collect();
        let rows = self.rows - bad.total;
        notes.extend(bad.note());
        let kept = (bad.total > 0).then_some((kept, self.rows));
        Ok((
            Sheet {
                names: self.names,
                columns,
                rows,
                lines: None,
                kept,
                notes,
                guarded: false,
            },
            self.roles,
        ))
    }
}
