//! An export as a file: CSV, JSON Lines, npz or Parquet, or maps of a scene. Written whole or not at all.
//!
//! The same columns in all of them, but for npz, where what is known by class are matrices (`shares`, `probabilities`) beside the
//! names of the `classes`, `order` is 0 and numbers are NaN where there is nothing. In CSV, text that a spreadsheet would
//! run is guarded by `'`.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use dial_data::OriginalColumn;
use dial_data::write::{Cell, CellKind, Saved, SavedData, csv_to, jsonl_to, npz_to, write_whole};

use crate::error::{Error, Result};
use crate::exchange::consensus::Consensus;
use crate::exchange::export::{Answer, Belief, Export, Mark, Row};
use crate::exchange::scene_maps::maps_to;

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
    /// An archive of maps of a scene.
    Maps,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 5] = [
        Format::Csv,
        Format::Jsonl,
        Format::Npz,
        Format::Parquet,
        Format::Maps,
    ];

    /// The formats that this build writes as a list.
    pub fn list() -> String {
        Format::listed(|one| one.to_string())
    }

    /// How the names of their files end, as a list.
    pub fn endings() -> String {
        Format::listed(|one| format!(".{}", one.ending()))
    }

    fn listed(word: impl Fn(Format) -> String) -> String {
        let names = Format::ALL.into_iter().filter(|one| one.check().is_ok());
        let names: Vec<String> = names.map(word).collect();
        let (last, first) = names.split_last().expect("there are formats");
        format!("{} or {last}", first.join(", "))
    }

    /// How the names of its files end, without the dot.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Jsonl => "jsonl",
            Format::Npz => "npz",
            Format::Parquet => "parquet",
            Format::Maps => "zip",
        }
    }

    /// The name of a file of this format that a project is exported to.
    pub fn file_of(self, project: &str) -> String {
        match self {
            Format::Maps => format!("{project}-maps.zip"),
            _ => format!("{project}.{}", self.ending()),
        }
    }

    /// Whether this build can write it.
    ///
    /// # Errors
    /// Parquet, where this build has none.
    pub fn check(self) -> Result<()> {
        match cfg!(feature = "parquet") || self != Format::Parquet {
            true => Ok(()),
            false => Err(Error::Submission(
                "this dial was built without Parquet. Nothing was written. Choose csv, jsonl or npz, or build it with --features parquet."
                    .into(),
            )),
        }
    }

    /// The format that the name of a file asks for.
    pub fn of(file: &Path) -> Option<Format> {
        let ending = file.extension()?.to_str()?.to_ascii_lowercase();
        Format::ALL.into_iter().find(|one| one.ending() == ending)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Csv => "csv",
            Format::Jsonl => "jsonl",
            Format::Npz => "npz",
            Format::Parquet => "parquet",
            Format::Maps => "maps",
        })
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(word: &str) -> std::result::Result<Format, String> {
        let found = Format::ALL
            .into_iter()
            .find(|format| format.to_string() == word);
        found.ok_or_else(|| format!("use {}", Format::list()))
    }
}

impl Export {
    /// Writes a file.
    ///
    /// # Errors
    /// What writing may fail with; Parquet where this build has none.
    pub fn save(&self, file: &Path, format: Format) -> Result<()> {
        format.check()?;
        Ok(write_whole(file, |out| self.write_to(out, format))?)
    }

    /// The bytes of such a file.
    ///
    /// # Errors
    /// Parquet where this build has none.
    pub fn bytes(&self, format: Format) -> Result<Vec<u8>> {
        format.check()?;
        let mut bytes = Vec::new();
        self.write_to(&mut bytes, format)
            .map_err(|error| Error::io(Path::new("memory"), &error))?;
        Ok(bytes)
    }

    /// Writes the bytes of such a file.
    ///
    /// # Errors
    /// What writing may fail with.
    pub fn write_to(&self, out: &mut dyn Write, format: Format) -> io::Result<()> {
        let columns = self.columns();
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let cells = |(place, row)| {
            let item = Item {
                place,
                row,
                consensus: Row::consensus(row),
            };
            columns.iter().map(|column| (column.cell)(&item)).collect()
        };
        let rows = self.rows.iter().enumerate().map(cells);
        match format {
            Format::Csv => csv_to(out, &names, rows),
            Format::Jsonl => jsonl_to(out, &names, rows),
            Format::Npz => self.arrays_to(out, &columns, rows),
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let kinds = columns.iter().map(|column| column.kind);
                let header: Vec<(&str, CellKind)> = names.iter().copied().zip(kinds).collect();
                dial_data::write::parquet_to(out, &header, rows)
            }
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => Err(io::ErrorKind::Unsupported.into()),
            Format::Maps => match &self.scene {
                Some(scene) => maps_to(out, self, scene),
                None => Err(io::ErrorKind::Unsupported.into()),
            },
        }
    }

    /// The names of the columns that every export has, in their order, with CLASS for the name of each class.
    pub fn column_names() -> Vec<String> {
        let export = Export {
            classes: vec!["CLASS".into()],
            rows: Vec::new(),
            original: Vec::new(),
            scene: None,
        };
        let columns = export.columns();
        columns.into_iter().map(|column| column.name).collect()
    }

    /// The columns in their order. One of the pool that has the name of another gets a prefix.
    fn columns(&self) -> Vec<Column<'_>> {
        use CellKind::{Integer, Number, Text, Truth};
        let mut columns = vec![
            Column::new("id", Text, |item| words(&item.row.id)),
            Column::new("label", Text, |item| {
                item.label().map_or(Cell::Empty, |(class, _)| words(class))
            }),
            Column::new("weight", Number, |item| {
                item.label().map(|(_, weight)| weight).into()
            }),
            Column::new("agreement", Number, |item| {
                item.consensus.as_ref().map(|found| found.agreement).into()
            }),
            Column::new("source", Text, |item| {
                item.consensus
                    .as_ref()
                    .map(|found| found.source.word())
                    .into()
            }),
            Column::new("annotator", Text, |item| words(&item.annotators())),
            Column::new("order", Integer, |item| {
                let first = item.row.labels.first().and_then(|answer| answer.order);
                first.map(|order| order as usize).into()
            }),
        ];
        columns.extend(self.by_class("label_", "shares", |item, class| {
            let found = item.consensus.as_ref()?;
            let share = found
                .shares
                .iter()
                .find(|(name, _)| *name == self.classes[class]);
            Some(share.map_or(0.0, |(_, share)| *share))
        }));
        columns.extend([
            // Where no label says anything no class is predicted: all are the same.
            Column::new("predicted", Text, |item| {
                let belief = item.reached();
                belief.map_or(Cell::Empty, |belief| words(&self.classes[belief.class]))
            }),
            Column::new("probability", Number, |item| {
                let belief = item.reached();
                belief
                    .map(|belief| belief.probabilities[belief.class])
                    .into()
            }),
        ]);
        columns.extend(self.by_class("p_", "probabilities", |item, class| {
            Some(item.row.belief.as_ref()?.probabilities[class])
        }));
        columns.extend([
            Column::new("variance", Number, |item| {
                item.believed(|belief| belief.variance)
            }),
            Column::new("evidence", Number, |item| {
                item.believed(|belief| belief.evidence)
            }),
            Column::new("reached", Truth, |item| {
                item.row.belief.as_ref().map(|belief| belief.reached).into()
            }),
            Column::new("mark", Text, |item| item.row.mark.map(Mark::word).into()),
            Column::new("labels", Text, |item| match item.row.labels.as_slice() {
                [] => Cell::Empty,
                answers => Cell::Json(json(answers)),
            }),
        ]);
        // Whatever the format, so that a column has one name in all of them.
        let matrices = columns.iter().filter_map(|one| one.matrix);
        let matrices = matrices.chain([CLASSES]).map(String::from);
        let mut taken: HashSet<String> = matrices.collect();
        taken.extend(columns.iter().map(|one| one.name.clone()));
        for original in &self.original {
            let mut name = original.name.clone();
            while !taken.insert(name.clone()) {
                name.insert_str(0, ORIGINAL);
            }
            columns.push(Column {
                original: Some(original),
                ..Column::new(&name, original.kind(), |item| original.cell(item.place))
            });
        }
        columns
    }

    /// The columns of the pool with the names that they have in the file.
    pub(crate) fn original_names(&self) -> Vec<(String, &OriginalColumn)> {
        let columns = self.columns().into_iter();
        columns
            .filter_map(|column| Some((column.name, column.original?)))
            .collect()
    }

    /// A column for each class; in npz they are one matrix.
    fn by_class<'a>(
        &'a self,
        prefix: &'a str,
        matrix: &'static str,
        value: impl Fn(&Item<'_>, usize) -> Option<f64> + Copy + 'a,
    ) -> impl Iterator<Item = Column<'a>> {
        let column = move |(class, name): (usize, &String)| Column {
            matrix: Some(matrix),
            ..Column::new(&format!("{prefix}{name}"), CellKind::Number, move |item| {
                value(item, class).into()
            })
        };
        self.classes.iter().enumerate().map(column)
    }

    /// Writes an array for each column or matrix, and the names of the classes.
    fn arrays_to(
        &self,
        out: &mut dyn Write,
        columns: &[Column<'_>],
        rows: impl Iterator<Item = Vec<Cell>>,
    ) -> io::Result<()> {
        let mut arrays: Vec<(&str, Values)> = Vec::new();
        let mut array_of = Vec::new();
        for column in columns {
            let name = column.matrix.unwrap_or(&column.name);
            if arrays.last().is_none_or(|(last, _)| *last != name) {
                arrays.push((name, Values::new(column.kind)));
            }
            array_of.push(arrays.len() - 1);
        }
        for row in rows {
            for (cell, &array) in row.into_iter().zip(&array_of) {
                arrays[array].1.push(cell);
            }
        }
        let rows = self.rows.len();
        let mut all: Vec<(&str, Saved<'_>)> = Vec::new();
        for (name, values) in &arrays {
            let matrix = columns.iter().any(|column| column.matrix == Some(name));
            let shape = match matrix {
                true => vec![rows, self.classes.len()],
                false => vec![rows],
            };
            let data = values.data();
            all.push((name, Saved { shape, data }));
        }
        all.push((CLASSES, Saved::vector(SavedData::Text(&self.classes))));
        npz_to(out, &all)
    }
}

/// What comes before the name of a column of the pool that is the name of one of ours.
pub(crate) const ORIGINAL: &str = "original_";
/// The array of an npz that holds the names of the classes.
const CLASSES: &str = "classes";

/// An item while its row is written.
struct Item<'a> {
    place: usize,
    row: &'a Row,
    consensus: Option<Consensus<'a>>,
}

impl Item<'_> {
    fn label(&self) -> Option<(&str, f64)> {
        self.consensus.as_ref()?.label
    }

    /// Those whose answers count.
    fn annotators(&self) -> String {
        let counted = self.consensus.iter().flat_map(|found| &found.counted);
        let names: Vec<&str> = counted.map(|answer| answer.annotator.as_str()).collect();
        names.join(" | ")
    }

    /// What is believed, where a label says anything.
    fn reached(&self) -> Option<&Belief> {
        self.row.belief.as_ref().filter(|belief| belief.reached)
    }

    fn believed(&self, value: impl Fn(&Belief) -> f64) -> Cell {
        self.row.belief.as_ref().map(value).into()
    }
}

/// A column and what it says of an item.
struct Column<'a> {
    name: String,
    kind: CellKind,
    /// The matrix of an npz that it is a part of.
    matrix: Option<&'static str>,
    /// The column of the pool that it is.
    original: Option<&'a OriginalColumn>,
    cell: Box<dyn Fn(&Item<'_>) -> Cell + 'a>,
}

impl<'a> Column<'a> {
    fn new(name: &str, kind: CellKind, cell: impl Fn(&Item<'_>) -> Cell + 'a) -> Column<'a> {
        Column {
            name: name.into(),
            kind,
            matrix: None,
            original: None,
            cell: Box::new(cell),
        }
    }
}

/// The cells of an array.
enum Values {
    Text(Vec<String>),
    Number(Vec<f64>),
    Integer(Vec<i64>),
    Truth(Vec<bool>),
}

impl Values {
    fn new(kind: CellKind) -> Values {
        match kind {
            CellKind::Text => Values::Text(Vec::new()),
            CellKind::Number => Values::Number(Vec::new()),
            CellKind::Integer => Values::Integer(Vec::new()),
            CellKind::Truth => Values::Truth(Vec::new()),
        }
    }

    fn push(&mut self, cell: Cell) {
        match (self, cell) {
            (Values::Text(all), Cell::Text(text) | Cell::Json(text)) => all.push(text),
            (Values::Text(all), _) => all.push(String::new()),
            (Values::Number(all), Cell::Number(value)) => all.push(value),
            (Values::Number(all), _) => all.push(f64::NAN),
            (Values::Integer(all), Cell::Integer(value)) => all.push(value),
            (Values::Integer(all), _) => all.push(0),
            (Values::Truth(all), cell) => all.push(cell == Cell::Truth(true)),
        }
    }

    fn data(&self) -> SavedData<'_> {
        match self {
            Values::Text(all) => SavedData::Text(all),
            Values::Number(all) => SavedData::F64(all),
            Values::Integer(all) => SavedData::I64(all),
            Values::Truth(all) => SavedData::Truth(all),
        }
    }
}

/// A text; nothing where it is empty.
fn words(text: &str) -> Cell {
    match text {
        "" => Cell::Empty,
        text => Cell::Text(text.into()),
    }
}

fn json(answers: &[Answer]) -> String {
    serde_json::to_string(answers).expect("answers are plain data")
}
