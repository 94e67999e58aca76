//! What the values under a key of JSON are, and how they become the cells of a column.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::pool::matrix::Buffer;
use crate::tables::column_roles::Roles;
use crate::tables::csv::number_format;
use crate::tables::frame::{Column, Numbers, is_missing, shortened};
use crate::tables::item_view;

/// How often each kind of value stands in a column.
#[derive(Default)]
pub(crate) struct Seen {
    pub numbers: usize,
    pub words: usize,
    pub nested: usize,
    /// Letters of words, and how many of them hold blanks.
    letters: usize,
    blanks: usize,
    /// By their length.
    lists: BTreeMap<usize, usize>,
}

impl Seen {
    pub fn add(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) => self.numbers += 1,
            Value::String(text) if is_missing(text.trim()) => {}
            Value::String(text) => {
                self.words += 1;
                self.letters += text.chars().count();
                self.blanks += usize::from(text.contains(char::is_whitespace));
            }
            Value::Array(values) if values.iter().all(Value::is_number) => {
                *self.lists.entry(values.len()).or_default() += usize::from(!values.is_empty());
            }
            Value::Array(_) | Value::Object(_) => self.nested += 1,
        }
    }

    /// Whether the column holds texts, by its name or by their length.
    pub fn texts(&self, name: &str) -> bool {
        let long = self.letters > 20 * self.words && 2 * self.blanks > self.words;
        self.words > self.numbers && (item_view::names_texts(name) || long)
    }

    /// Whether it holds lists that are not features beside texts.
    pub fn doubtful(&self, roles: &Roles) -> bool {
        let all: usize = self.lists.values().sum();
        let (width, most) = self.width();
        all > self.numbers + self.words + self.nested
            && item_view::doubtful(roles, width, all - most, all)
    }

    /// The length of most lists, and how many have it.
    fn width(&self) -> (usize, usize) {
        self.lists
            .iter()
            .map(|(&width, &count)| (width, count))
            .max_by_key(|&(_, count)| count)
            .unwrap_or((0, 0))
    }

    pub fn filling(&self, as_written: bool) -> Filling {
        let lists: usize = self.lists.values().sum();
        let (width, _) = self.width();
        match () {
            _ if as_written => Filling::Words(Vec::new()),
            _ if self.nested > self.numbers + self.words + lists => Filling::LeftOut,
            _ if lists > self.numbers + self.words => Filling::Lists(width, Vec::new()),
            _ if number_format::are_words(self.words, self.numbers) => Filling::Words(Vec::new()),
            _ => Filling::Numbers(Numbers::default()),
        }
    }
}

/// A column while it is filled.
pub(crate) enum Filling {
    Numbers(Numbers),
    Words(Vec<String>),
    Lists(usize, Vec<f64>),
    /// Nested values, or values that are not read.
    LeftOut,
}

/// A cell that fits its column.
pub(crate) enum Cell {
    Number(Option<f64>),
    Word(String),
    List(Vec<f64>),
    Nothing,
}

impl Filling {
    pub fn cell(&self, value: &Value) -> Result<Cell, String> {
        Ok(match (self, value) {
            (Filling::LeftOut, _) => Cell::Nothing,
            (Filling::Words(_), Value::Null) => Cell::Word(String::new()),
            (Filling::Words(_), Value::String(text)) => Cell::Word(text.trim().to_string()),
            (Filling::Words(_), other) => Cell::Word(other.to_string()),
            (Filling::Numbers(_), Value::Null) => Cell::Number(None),
            (Filling::Numbers(_), Value::Bool(truth)) => {
                Cell::Number(Some(f64::from(u8::from(*truth))))
            }
            (Filling::Numbers(_), Value::Number(number)) => Cell::Number(number.as_f64()),
            (Filling::Numbers(_), Value::String(text)) if is_missing(text.trim()) => {
                Cell::Number(None)
            }
            (Filling::Numbers(_), other) => {
                return Err(format!(
                    "is not a number ({})",
                    shortened(&other.to_string())
                ));
            }
            (Filling::Lists(width, _), Value::Array(values)) if values.len() == *width => {
                let numbers: Option<Vec<f64>> = values.iter().map(Value::as_f64).collect();
                Cell::List(numbers.ok_or("is not a list of numbers")?)
            }
            (Filling::Lists(width, _), Value::Array(values)) => {
                return Err(format!("is a list of {}, expected {width}", values.len()));
            }
            (Filling::Lists(..), _) => return Err("is not a list of numbers".into()),
        })
    }

    pub fn push(&mut self, cell: Cell) {
        match (self, cell) {
            (Filling::Numbers(numbers), Cell::Number(value)) => numbers.push(value),
            (Filling::Words(words), Cell::Word(word)) => words.push(word),
            (Filling::Lists(_, values), Cell::List(list)) => values.extend(list),
            _ => {}
        }
    }

    pub fn finished(self) -> Column {
        match self {
            Filling::Numbers(numbers) => Column::Numbers(numbers),
            Filling::Words(words) => Column::Words(words),
            Filling::Lists(width, values) => Column::Lists {
                width,
                values: Buffer::F64(values),
            },
            Filling::LeftOut => Column::Other("nested values (lists or objects)".into()),
        }
    }
}
