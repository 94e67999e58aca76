//! The columns that a pool has of its own, as its file has them: what an export gives back beside the labels.
//!
//! A table is read once more, because a pool keeps features (scaled, one column for each category) and not cells. Rows of the file
//! and items of the pool meet by their ids. Of anything else it is what the items are shown by: texts, paths, pixels,
//! numbers. Lists of numbers in a cell are left out.

use std::cell::Cell as Remembered;
use std::collections::HashMap;
use std::path::Path;

use crate::error::{Fault, Result};
use crate::open::formats::Reader;
use crate::open::wanted::Wanted;
use crate::open::{read_lines_or_bytes, sniff};
use crate::pool::show::Show;
use crate::pool::{Pool, ReadOptions, ids};
use crate::tables::column_roles::Roles;
use crate::tables::frame::{Column, Sheet, is_missing};
use crate::write::{Cell, CellKind};

/// Integers of more digits are not kept by every reader.
const EXACT_DIGITS: usize = 15;

/// A column of a pool, a cell for each item.
#[derive(Clone, Debug, PartialEq)]
pub struct OriginalColumn {
    /// Its name.
    pub name: String,
    cells: Cells,
}

#[derive(Clone, Debug, PartialEq)]
enum Cells {
    /// As they are written.
    Words(Vec<String>),
    /// Floats; NaN where there is none.
    Numbers(Vec<f64>),
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
}

impl OriginalColumn {
    /// Of words: as numbers where all of them are numbers and nothing of how they are written is lost.
    fn of_words(name: &str, words: Vec<String>) -> OriginalColumn {
        let there = || words.iter().filter(|word| !is_missing(word));
        let cells = match () {
            _ if there().next().is_none() => Cells::Words(words),
            _ if there().all(|word| is_integer(word)) => {
                Cells::Integers(words.iter().map(|word| word.parse().ok()).collect())
            }
            _ if there().all(|word| is_number(word)) => Cells::Numbers(
                words
                    .iter()
                    .map(|word| word.parse().unwrap_or(f64::NAN))
                    .collect(),
            ),
            _ => Cells::Words(words),
        };
        OriginalColumn {
            name: name.into(),
            cells,
        }
    }

    fn of_numbers(name: String, values: impl Iterator<Item = f64>) -> OriginalColumn {
        OriginalColumn {
            name,
            cells: Cells::Numbers(values.collect()),
        }
    }

    /// What its cells are.
    pub fn kind(&self) -> CellKind {
        match self.cells {
            Cells::Words(_) => CellKind::Text,
            Cells::Numbers(_) => CellKind::Number,
            Cells::Integers(_) => CellKind::Integer,
        }
    }

    /// The cell of an item; nothing beyond the last.
    pub fn cell(&self, item: usize) -> Cell {
        match &self.cells {
            Cells::Words(words) => match words.get(item).map_or("", String::as_str) {
                "" => Cell::Empty,
                word => Cell::Text(word.into()),
            },
            Cells::Numbers(numbers) => match numbers.get(item) {
                Some(value) if !value.is_nan() => Cell::Number(*value),
                _ => Cell::Empty,
            },
            Cells::Integers(integers) => match integers.get(item).copied().flatten() {
                Some(value) => Cell::Integer(value),
                None => Cell::Empty,
            },
        }
    }
}

/// A whole number without leading zeros or a plus, which are how codes and phone numbers are written.
fn is_integer(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain
        && digits.len() <= EXACT_DIGITS
        && (digits == "0" || !digits.starts_with('0'))
        && word != "-0"
}

/// A finite number, of which the same holds before its point.
fn is_number(word: &str) -> bool {
    let (whole, _) = word.split_once(['.', 'e', 'E']).unwrap_or((word, ""));
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    let digits = whole.bytes().all(|byte| byte.is_ascii_digit());
    let zeros = whole.len() > 1 && whole.starts_with('0');
    digits && !zeros && whole.len() <= EXACT_DIGITS && word.parse::<f64>().is_ok_and(f64::is_finite)
}

impl Pool {
    /// Whether an export has the columns of this pool unless it is told otherwise: those of tables and of texts, which
    /// people read.
    pub fn has_columns(&self) -> bool {
        let named = match &self.show {
            Show::Texts(_) => true,
            Show::Numbers(names) => !names.is_empty(),
            Show::Picture(_) | Show::Images(_) | Show::Scene(_) => false,
        };
        named || self.beside.is_some()
    }

    /// The columns that the pool has of its own; `place` and `options` are those it was opened with.
    ///
    /// # Errors
    /// A table that cannot be read any more.
    pub fn original_columns(
        &self,
        place: &str,
        options: &ReadOptions,
    ) -> Result<Vec<OriginalColumn>> {
        match table(place, options)? {
            Some((sheet, roles)) => Ok(self.of_sheet(sheet, &roles)),
            None => Ok(self.of_show()),
        }
    }

    fn of_sheet(&self, sheet: Sheet, roles: &Roles) -> Vec<OriginalColumn> {
        let rows = sheet.rows;
        let number = |row: usize| sheet.kept.as_ref().map_or(row, |(kept, _)| kept[row]);
        let numbers: Vec<String> = (0..rows).map(|row| number(row).to_string()).collect();
        let mut columns: Vec<(String, Vec<String>)> = Vec::new();
        let (mut id, mut index) = (None, None);
        for (at, (name, column)) in sheet.names.iter().zip(sheet.columns).enumerate() {
            if matches!(column, Column::Lists { .. } | Column::Other(_)) {
                continue;
            }
            id = id.or((roles.id == Some(at)).then_some(columns.len()));
            index = index.or((roles.index == Some(at)).then_some(columns.len()));
            columns.push((name.clone(), column.into_words(rows)));
        }
        let known = self.ids.clone();
        let known =
            known.unwrap_or_else(|| (0..self.matrix.n).map(|row| row.to_string()).collect());
        // Without ids items are named by the numbers of their rows; pictures are also named by their paths.
        let pictures = matches!(self.show, Show::Images(_));
        let paths = (0..columns.len()).filter(|_| pictures);
        let candidates = id.or(index).into_iter().chain(paths);
        let mut places = candidates
            .filter(|_| self.ids.is_some())
            .filter_map(|at| rows_of(&known, &columns[at].1));
        let Some(places) = places.next().or_else(|| rows_of(&known, &numbers)) else {
            return self.of_show();
        };
        let read = |(name, _): &(String, Vec<String>)| !name.is_empty() && name != "id";
        let columns = columns.into_iter().filter(read);
        columns
            .map(|(name, words)| {
                let cells = places.iter().map(|&row| words[row].clone()).collect();
                OriginalColumn::of_words(&name, cells)
            })
            .collect()
    }

    fn of_show(&self) -> Vec<OriginalColumn> {
        let numbers = |names: &dyn Fn(usize) -> String| -> Vec<OriginalColumn> {
            let shown = self.shown();
            let column = |at: usize| {
                let value = move |row: usize| shown.get(row, at);
                OriginalColumn::of_numbers(names(at), (0..shown.n).map(value))
            };
            (0..shown.dim).map(column).collect()
        };
        let n = self.matrix.n;
        let mut columns = match &self.show {
            Show::Texts(texts) => vec![words("text", texts.clone())],
            Show::Images(images) => vec![words("path", images.files.clone())],
            Show::Scene(scene) => {
                let position = |axis: fn((usize, usize)) -> usize| {
                    let value = |item| Some(axis(scene.position(item)) as i64);
                    Cells::Integers((0..n).map(value).collect())
                };
                let mut columns = vec![
                    OriginalColumn {
                        name: "row".into(),
                        cells: position(|(row, _)| row),
                    },
                    OriginalColumn {
                        name: "column".into(),
                        cells: position(|(_, column)| column),
                    },
                ];
                columns.extend(numbers(&|at| format!("band_{at}")));
                columns
            }
            Show::Numbers(names) => {
                numbers(&|at| names.get(at).cloned().unwrap_or_else(|| format!("x{at}")))
            }
            Show::Picture(_) => numbers(&|at| format!("pixel_{at}")),
        };
        if let Some(table) = &self.beside {
            columns.extend(table.names.iter().enumerate().map(|(at, name)| {
                let cells = (0..n).map(|item| table.row(item)[at].clone()).collect();
                OriginalColumn::of_words(name, cells)
            }));
        }
        columns
    }
}

/// Words that stay words.
fn words(name: &str, words: Vec<String>) -> OriginalColumn {
    OriginalColumn {
        name: name.into(),
        cells: Cells::Words(words),
    }
}

/// All columns of a file as words, if it is a table.
fn table(place: &str, options: &ReadOptions) -> Result<Option<(Sheet, Roles)>> {
    if place.starts_with("builtin:") || !Path::new(place).is_file() {
        return Ok(None);
    }
    let bytes = read_lines_or_bytes(place)?;
    let here = |fault: Fault| fault.at(place);
    let format = sniff::format(place, &bytes).map_err(here)?;
    let Reader::Sheet(read) = format.reader else {
        return Ok(None);
    };
    if format.is_delimited() && crate::media::text_lines::wanted(place, &bytes, options) {
        return Ok(None);
    }
    let found = Remembered::new(None);
    let choose = |names: &[String], roles: &Roles| {
        found.set(Some(roles.clone()));
        Ok((0..names.len()).collect())
    };
    let read = read(bytes.into(), place, Wanted::Words(options, &choose));
    let (sheet, roles) = read.map_err(here)?;
    Ok(Some((sheet, found.take().unwrap_or(roles))))
}

/// The row of each id in a column, if it has all of them.
fn rows_of(known: &[String], column: &[String]) -> Option<Vec<usize>> {
    let mut rows: HashMap<String, usize> = HashMap::with_capacity(column.len());
    for (row, cell) in column.iter().enumerate() {
        rows.entry(ids::normal(cell)).or_insert(row);
    }
    known.iter().map(|id| rows.get(id).copied()).collect()
}
