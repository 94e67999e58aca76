//! An export as a file: CSV, JSON Lines, npz or Parquet. Written whole or not at all.
//!
//! The same columns in all of them, but for npz, where the probabilities are one matrix beside the names of the classes,
//! `order` is 0 and numbers are NaN where there is nothing. In CSV, text that a spreadsheet would run is guarded by `'`.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use dial_data::write::{Cell, CellKind, Saved, SavedData, csv_to, jsonl_to, npz_to, write_whole};

use crate::error::{Error, Result};
use crate::exchange::export::{Belief, Export, Row, readable};

/// The formats of exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values.
    Csv,
    /// A JSON object a line.
    Jsonl,
    /// Arrays for NumPy.
    Npz,
    /// Parquet.
    Parquet,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 4] = [Format::Csv, Format::Jsonl, Format::Npz, Format::Parquet];

    /// The format that the name of a file asks for.
    pub fn of(file: &Path) -> Option<Format> {
        file.extension()?
            .to_str()?
            .to_ascii_lowercase()
            .parse()
            .ok()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Csv => "csv",
            Format::Jsonl => "jsonl",
            Format::Npz => "npz",
            Format::Parquet => "parquet",
        })
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(word: &str) -> std::result::Result<Format, String> {
        let found = Format::ALL
            .into_iter()
            .find(|format| format.to_string() == word);
        found.ok_or_else(|| "use csv, jsonl, npz or parquet".into())
    }
}

impl Export {
    /// Writes a file.
    ///
    /// # Errors
    /// What writing may fail with; Parquet where this build has none.
    pub fn save(&self, file: &Path, format: Format) -> Result<()> {
        supported(format)?;
        Ok(write_whole(file, |out| self.to(out, format))?)
    }

    /// The bytes of such a file.
    ///
    /// # Errors
    /// Parquet where this build has none.
    pub fn bytes(&self, format: Format) -> Result<Vec<u8>> {
        supported(format)?;
        let mut bytes = Vec::new();
        self.to(&mut bytes, format)
            .map_err(|error| Error::io(Path::new("memory"), &error))?;
        Ok(bytes)
    }

    fn to(&self, out: &mut dyn Write, format: Format) -> io::Result<()> {
        let header = self.header();
        let names: Vec<&str> = header.iter().map(|(name, _)| name.as_str()).collect();
        let rows = self.rows.iter().map(|row| self.cells(row));
        match format {
            Format::Csv => csv_to(out, &names, rows),
            Format::Jsonl => jsonl_to(out, &names, rows),
            Format::Npz => self.arrays_to(out),
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let header: Vec<(&str, CellKind)> = header
                    .iter()
                    .map(|(name, kind)| (name.as_str(), *kind))
                    .collect();
                dial_data::write::parquet_to(out, &header, rows)
            }
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn header(&self) -> Vec<(String, CellKind)> {
        let text = ["id", "label", "annotator"].map(|name| (name.to_string(), CellKind::Text));
        let more = [
            ("order", CellKind::Integer),
            ("labels", CellKind::Text),
            ("mark", CellKind::Text),
            ("predicted", CellKind::Text),
            ("probability", CellKind::Number),
        ];
        let last = [
            ("variance", CellKind::Number),
            ("evidence", CellKind::Number),
            ("reached", CellKind::Truth),
        ];
        let named = |(name, kind): (&str, CellKind)| (name.to_string(), kind);
        let classes = self
            .classes
            .iter()
            .map(|class| (format!("p_{class}"), CellKind::Number));
        text.into_iter()
            .chain(more.map(named))
            .chain(classes)
            .chain(last.map(named))
            .collect()
    }

    fn cells(&self, row: &Row) -> Vec<Cell> {
        let text = |text: String| {
            if text.is_empty() {
                Cell::Empty
            } else {
                Cell::Text(text)
            }
        };
        let (label, annotator) = readable(&row.labels);
        let order = row.labels.first().and_then(|label| label.order);
        let belief = row.belief.as_ref();
        let number = |value: fn(&Belief) -> f64| {
            belief.map_or(Cell::Empty, |belief| Cell::Number(value(belief)))
        };
        let mut cells = vec![
            text(row.id.clone()),
            text(label),
            text(annotator),
            order.map_or(Cell::Empty, |order| Cell::Integer(order as i64)),
            if row.labels.is_empty() {
                Cell::Empty
            } else {
                Cell::Json(json(row))
            },
            row.mark
                .map_or(Cell::Empty, |mark| Cell::Text(mark.word().into())),
            belief.map_or(Cell::Empty, |belief| {
                text(self.classes[belief.class].clone())
            }),
            number(probability),
        ];
        let probability =
            |at: usize| belief.map_or(Cell::Empty, |belief| Cell::Number(belief.probabilities[at]));
        cells.extend((0..self.classes.len()).map(probability));
        cells.extend([
            number(|belief| belief.variance),
            number(|belief| belief.evidence),
        ]);
        cells.push(belief.map_or(Cell::Empty, |belief| Cell::Truth(belief.reached)));
        cells
    }

    fn arrays_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let words =
            |word: &dyn Fn(&Row) -> String| self.rows.iter().map(word).collect::<Vec<String>>();
        let numbers = |number: fn(&Belief) -> f64| {
            self.rows
                .iter()
                .map(|row| row.belief.as_ref().map_or(f64::NAN, number))
                .collect::<Vec<f64>>()
        };
        let (id, mark) = (
            words(&|row| row.id.clone()),
            words(&|row| row.mark.map_or("", |m| m.word()).into()),
        );
        let (label, annotator) = (
            words(&|row| readable(&row.labels).0),
            words(&|row| readable(&row.labels).1),
        );
        let labels = words(&|row| {
            if row.labels.is_empty() {
                String::new()
            } else {
                json(row)
            }
        });
        let class = |row: &Row| {
            row.belief
                .as_ref()
                .map_or(String::new(), |b| self.classes[b.class].clone())
        };
        let predicted = words(&class);
        let order: Vec<i64> = self
            .rows
            .iter()
            .map(|row| {
                row.labels
                    .first()
                    .and_then(|label| label.order)
                    .unwrap_or(0) as i64
            })
            .collect();
        let reached: Vec<bool> = self
            .rows
            .iter()
            .map(|row| row.belief.as_ref().is_some_and(|b| b.reached))
            .collect();
        let (sure, variance, evidence) = (
            numbers(probability),
            numbers(|b| b.variance),
            numbers(|b| b.evidence),
        );
        let none = vec![f64::NAN; self.classes.len()];
        let matrix: Vec<f64> = self
            .rows
            .iter()
            .flat_map(|row| {
                row.belief
                    .as_ref()
                    .map_or(&none, |belief| &belief.probabilities)
            })
            .copied()
            .collect();
        let shape = vec![self.rows.len(), self.classes.len()];
        let vector = Saved::vector;
        npz_to(
            out,
            &[
                ("id", vector(SavedData::Text(&id))),
                ("label", vector(SavedData::Text(&label))),
                ("annotator", vector(SavedData::Text(&annotator))),
                ("order", vector(SavedData::I64(&order))),
                ("labels", vector(SavedData::Text(&labels))),
                ("mark", vector(SavedData::Text(&mark))),
                ("predicted", vector(SavedData::Text(&predicted))),
                ("probability", vector(SavedData::F64(&sure))),
                (
                    "probabilities",
                    Saved {
                        shape,
                        data: SavedData::F64(&matrix),
                    },
                ),
                ("classes", vector(SavedData::Text(&self.classes))),
                ("variance", vector(SavedData::F64(&variance))),
                ("evidence", vector(SavedData::F64(&evidence))),
                ("reached", vector(SavedData::Truth(&reached))),
            ],
        )
    }
}

/// The probability of the class that is believed.
fn probability(belief: &Belief) -> f64 {
    belief.probabilities[belief.class]
}

fn json(row: &Row) -> String {
    serde_json::to_string(&row.labels).expect("labels are plain data")
}

fn supported(format: Format) -> Result<()> {
    match cfg!(feature = "parquet") || format != Format::Parquet {
        true => Ok(()),
        false => Err(Error::Submission(
            "this dial was built without Parquet. Nothing was written. Choose csv, jsonl or npz."
                .into(),
        )),
    }
}
