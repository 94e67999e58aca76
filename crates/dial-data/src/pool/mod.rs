//! A pool: the rows to be labelled, their ids, what is known about them, and how to show them.

pub mod matrix;
pub mod show;
pub mod truth;
pub(crate) mod alike;
pub(crate) mod ids;
pub mod copies;
pub mod fingerprint;

use std::path::PathBuf;

use dial::Metric;
use serde::{Deserialize, Serialize};

use crate::embed::Embed;
use crate::error::{Result, plural};
use crate::pool::matrix::Matrix;
use crate::pool::show::{Show, Table};
use crate::pool::truth::Truth;
use crate::tables::encoding::Encoding;

/// Everything read from a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    /// A short name: that of the file without its ending, or of the generator.
    pub name: String,
    /// One row of features per item.
    pub matrix: Matrix,
    /// What the features were made from, where that was numbers: standardised columns, spectra, pictures.
    pub original: Option<Matrix>,
    /// The metric these features are made for.
    pub metric: Metric,
    /// Ids of the items, distinct; without them the row numbers are the ids.
    pub ids: Option<Vec<String>>,
    /// Known labels.
    pub truth: Option<Truth>,
    /// How to show an item.
    pub show: Show,
    /// The fingerprint of the model that embedded the items, if one did.
    pub model: Option<String>,
    /// What else is known of each item.
    pub beside: Option<Table>,
    /// The version of the description, where the features were made from texts.
    pub text_features: Option<u32>,
    /// Whether the features were made from texts or pictures without a model: one that embeds them tells more.
    pub without_model: bool,
    /// Remarks for the user, one sentence each.
    pub notes: Vec<String>,
    /// Where no labels were found: arrays of the file with one value per row that no one has claimed.
    pub could_be_labels: Vec<String>,
}

impl Pool {
    /// A pool of features, shown as numbers, and nothing else.
    pub fn new(name: &str, matrix: Matrix) -> Pool {
        Pool {
            name: name.into(),
            matrix,
            original: None,
            metric: Metric::Euclidean,
            ids: None,
            truth: None,
            show: Show::Numbers(Vec::new()),
            model: None,
            beside: None,
            text_features: None,
            without_model: false,
            notes: Vec::new(),
            could_be_labels: Vec::new(),
        }
    }

    /// Keeps only the given rows, in that order. Items without ids keep their row numbers as ids.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn select_rows(&mut self, keep: &[usize]) {
        self.ids = Some(match &self.ids {
            Some(ids) => keep.iter().map(|&row| ids[row].clone()).collect(),
            None => keep.iter().map(usize::to_string).collect(),
        });
        self.matrix = self.matrix.select_rows(keep);
        self.original = self
            .original
            .as_ref()
            .map(|original| original.select_rows(keep));
        self.truth = self.truth.as_ref().map(|truth| truth.select_rows(keep));
        self.show = self.show.select_rows(keep);
        self.beside = self.beside.as_ref().map(|table| table.select_rows(keep));
    }

    /// Leaves out the rows of length zero if the metric is cosine, under which they have no distance to any other.
    ///
    /// # Errors
    /// As [`Pool::drop_zero_rows`].
    pub fn drop_zero_rows_under(&mut self, metric: Metric) -> Result<()> {
        match metric {
            Metric::Cosine => self.drop_zero_rows(),
            Metric::Euclidean => Ok(()),
        }
    }

    /// Leaves out the rows of length zero, which have no direction, and says so in a note.
    ///
    /// # Errors
    /// Rows that cannot be read.
    pub fn drop_zero_rows(&mut self) -> Result<()> {
        let zero = self.matrix.zero_rows()?;
        if zero.is_empty() {
            return Ok(());
        }
        let keep: Vec<usize> = (0..self.matrix.n)
            .filter(|row| zero.binary_search(row).is_err())
            .collect();
        let first: Vec<String> = zero.iter().take(10).map(usize::to_string).collect();
        let more = if zero.len() > 10 { ", ..." } else { "" };
        let rows = |one, many| plural(zero.len(), one, many);
        self.notes.push(format!(
            "{} {} of length zero {} left out ({} {}{more})",
            zero.len(),
            rows("row", "rows"),
            rows("was", "were"),
            rows("row", "rows"),
            first.join(", ")
        ));
        self.select_rows(&keep);
        Ok(())
    }

    /// The numbers items are shown by: what the features were made from, or the features.
    pub fn shown(&self) -> &Matrix {
        self.original.as_ref().unwrap_or(&self.matrix)
    }
}

/// How to read a pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadOptions {
    /// Column of a table that holds the ids: a name, or a number from 0 if there is no header. Default: `id`.
    pub id_column: Option<String>,
    /// Column of a table that holds the labels, as above. Default: `label`, `labels`, `class`, `target` or `y` (a `y`
    /// beside an `x` is a coordinate). Of an npz or mat file, the array that holds them.
    pub label_column: Option<String>,
    /// Column of a table that holds texts. Default: `text` and its like, or a column of long and different texts.
    pub text_column: Option<String>,
    /// Column of a table that holds paths of picture files. Default: `image` and its like.
    pub image_column: Option<String>,
    /// Columns of a table to leave out, as above.
    pub drop_columns: Vec<String>,
    /// What stands between the cells of a table. Default: guessed.
    pub delimiter: Option<u8>,
    /// The encoding of a file of text. Default: what its mark says, UTF-8, or Windows-1252 where it is neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// Whether the numbers of a table have a decimal comma. Default: guessed.
    pub decimal_comma: Option<bool>,
    /// What the file or folder is, where that cannot be seen from it.
    pub kind: Option<Kind>,
    /// The names of sub-folders are labels.
    pub folder_labels: bool,
    /// Leave out rows with NaN or infinite values instead of refusing the file.
    pub drop_nonfinite: bool,
    /// Leave out rows of a table and pictures that cannot be read instead of refusing the file.
    pub skip_bad: bool,
    /// Describe grey pictures that come as arrays by their edges and light, instead of taking their pixels as features.
    pub describe: bool,
    /// Leave out labels whose id is not in the pool, instead of refusing the file.
    pub skip_unknown: bool,
    /// Bring each column to mean 0 and standard deviation 1. Default: the columns of a table, if their scales differ.
    pub standardize: Option<bool>,
    /// The number of principal components of the features to keep.
    pub components: Option<usize>,
    /// A file of labels, one per row or joined by id.
    pub labels_file: Option<PathBuf>,
    /// A file of features for the items of this pool, one row each or joined by id.
    pub features_file: Option<PathBuf>,
    /// A model whose embeddings are the features of texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embed: Option<Embed>,
    /// Features of texts and pictures are made elsewhere: they get none here.
    #[serde(skip)]
    pub without_features: bool,
    /// The array of an npz or mat file that holds the features.
    pub variable: Option<String>,
}

/// What a file or folder is to be read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Delimited text with a column for each cell.
    Table,
    /// A text per line, or a folder of text files.
    Texts,
    /// A folder of pictures.
    Images,
    /// A scene: an array of height x width x bands.
    Scene,
}

impl std::str::FromStr for Kind {
    type Err = String;

    fn from_str(word: &str) -> Result<Kind, String> {
        match word {
            "table" => Ok(Kind::Table),
            "texts" => Ok(Kind::Texts),
            "images" => Ok(Kind::Images),
            "scene" => Ok(Kind::Scene),
            _ => Err("use table, texts, images or scene".into()),
        }
    }
}

/// A pool before its rows are checked, with the places to name in messages.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// Number of items.
    pub n: usize,
    /// The features, if the file holds them; else they are made from what is shown.
    pub matrix: Option<Matrix>,
    /// As in [`Pool`].
    pub original: Option<Matrix>,
    pub metric: Metric,
    pub ids: Option<Vec<String>>,
    pub truth: Option<Truth>,
    pub show: Show,
    pub beside: Option<Table>,
    pub text_features: Option<u32>,
    pub without_model: bool,
    pub notes: Vec<String>,
    /// As in [`Pool`].
    pub model: Option<String>,
    /// The file that gave the features, if another one did.
    pub features_place: Option<String>,
    /// Whether to standardise the columns by default.
    pub standardize: bool,
    /// How many of the last columns are categories, which are never standardised.
    pub categories: usize,
    /// Of a table: the line of each row and the name of each feature column.
    pub lines: Option<(Vec<usize>, Vec<String>)>,
    /// If rows were left out while reading: the number of each row among `total`.
    pub kept: Option<(Vec<usize>, usize)>,
    /// As in [`Pool`].
    pub could_be_labels: Vec<String>,
    /// Whether the features are an array that a name chooses.
    pub named_arrays: bool,
}

impl Draft {
    /// Of features.
    pub fn new(matrix: Matrix, show: Show) -> Draft {
        Draft {
            n: matrix.n,
            matrix: Some(matrix),
            show,
            ..Draft::default()
        }
    }

    /// Of n items that are shown and have no features yet.
    pub fn shown(n: usize, show: Show) -> Draft {
        Draft {
            n,
            show,
            ..Draft::default()
        }
    }

    /// Row and column as a person finds them: `row 3, column 1` from 0, or `line 5, column x1` of a table.
    pub fn position(&self, row: usize, column: usize) -> String {
        let found = self
            .lines
            .as_ref()
            .and_then(|(lines, names)| Some((lines.get(row)?, names.get(column)?)));
        match found {
            Some((line, name)) => format!("line {line}, column {name}"),
            None => format!("row {row}, column {column}"),
        }
    }

    /// The line of a row, in a table of text.
    pub fn line(&self, row: usize) -> Option<usize> {
        self.lines.as_ref()?.0.get(row).copied()
    }

    /// Where a row stands in its file: `line 5`, or `row 3` from 0.
    pub fn row_in_words(&self, row: usize) -> String {
        let number = || {
            self.kept
                .as_ref()
                .and_then(|(rows, _)| rows.get(row).copied())
                .unwrap_or(row)
        };
        self.line(row).map_or_else(
            || format!("row {}", number()),
            |line| format!("line {line}"),
        )
    }

    /// How to find an item: `line 5`, `id "a"`, or `row 3` from 0.
    pub fn item_in_words(&self, row: usize) -> String {
        match (self.line(row), &self.ids) {
            (Some(line), _) => format!("line {line}"),
            (None, Some(ids)) => format!("id {:?}", ids.get(row).map_or("", String::as_str)),
            (None, None) => format!("row {row}"),
        }
    }

    /// The ids, or the row numbers where there are none.
    pub fn id_list(&self) -> Vec<String> {
        self.ids
            .clone()
            .unwrap_or_else(|| (0..self.n).map(|row| row.to_string()).collect())
    }

    /// Keeps only the rows named. Without ids, rows keep the numbers they had in the file as ids.
    pub fn select_rows(&mut self, keep: &[usize]) {
        let total = self.kept.as_ref().map_or(self.n, |(_, total)| *total);
        let number = |&row: &usize| {
            self.kept
                .as_ref()
                .and_then(|(rows, _)| rows.get(row).copied())
                .unwrap_or(row)
        };
        let numbers: Vec<usize> = keep.iter().map(number).collect();
        self.ids = Some(match &self.ids {
            Some(ids) => keep
                .iter()
                .filter_map(|&row| ids.get(row).cloned())
                .collect(),
            None => numbers.iter().map(usize::to_string).collect(),
        });
        (self.kept, self.n) = (Some((numbers, total)), keep.len());
        let selected =
            |matrix: &Option<Matrix>| matrix.as_ref().map(|matrix| matrix.select_rows(keep));
        (self.matrix, self.original) = (selected(&self.matrix), selected(&self.original));
        self.truth = self.truth.as_ref().map(|truth| truth.select_rows(keep));
        self.show = self.show.select_rows(keep);
        self.beside = self.beside.as_ref().map(|table| table.select_rows(keep));
        if let Some((lines, _)) = &mut self.lines {
            *lines = keep
                .iter()
                .filter_map(|&row| lines.get(row).copied())
                .collect();
        }
    }
}

/// Features that were made for items.
#[derive(Debug)]
pub(crate) struct Described {
    pub matrix: Matrix,
    pub notes: Vec<String>,
    /// If items had to be left out: those that were kept. The matrix has rows for them only.
    pub kept: Option<Vec<usize>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::matrix::Buffer;

    #[test]
    fn selected_rows_keep_their_names() {
        let matrix = Matrix {
            values: Buffer::F64(vec![0.0, 1.0, 2.0]),
            n: 3,
            dim: 1,
        };
        let truth = Truth::from_integers(&[5, 6, 7]).unwrap();
        let mut pool = Pool {
            truth: Some(truth),
            ..Pool::new("p", matrix)
        };
        pool.show = Show::Texts(["a", "b", "c"].map(String::from).to_vec());
        pool.select_rows(&[2, 1]);
        assert_eq!(pool.ids, Some(vec!["2".into(), "1".into()]));
        pool.select_rows(&[1]);
        assert_eq!(pool.ids, Some(vec!["1".into()]));
        assert_eq!(pool.matrix.values, Buffer::F64(vec![1.0]));
        assert_eq!(pool.show, Show::Texts(vec!["b".into()]));
        let truth = pool.truth.unwrap();
        assert_eq!(
            (truth.labels, truth.classes.join(" ")),
            (vec![Some(0)], "6".into())
        );
    }
}
