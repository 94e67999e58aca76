//! A pool: the rows to be labelled, their ids, and what is known about them.

use std::path::PathBuf;

use crate::matrix::Matrix;
use crate::truth::Truth;

/// Everything read from a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    /// A short name: that of the file without its ending, or of the generator.
    pub name: String,
    /// One row of features per item.
    pub matrix: Matrix,
    /// Ids of the items, distinct; without them the row numbers are the ids.
    pub ids: Option<Vec<String>>,
    /// Known labels.
    pub truth: Option<Truth>,
    /// How to show a row as a picture.
    pub picture: Option<Picture>,
    /// Remarks for the user, one sentence each.
    pub notes: Vec<String>,
    /// Where no labels were found: arrays of the file with one value per row that no one has claimed.
    pub could_be_labels: Vec<String>,
}

impl Pool {
    /// Keeps only the rows named, in that order. Without ids of their own, items keep their row numbers as ids.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn select_rows(&mut self, keep: &[usize]) {
        self.ids = Some(match &self.ids {
            Some(ids) => keep.iter().map(|&row| ids[row].clone()).collect(),
            None => keep.iter().map(usize::to_string).collect(),
        });
        self.matrix = self.matrix.select_rows(keep);
        self.truth = self.truth.as_ref().map(|truth| truth.select_rows(keep));
    }
}

/// A row of `height * width` values, row by row, is a grey picture: `lowest` is black, `highest` is white.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Picture {
    /// Rows of the picture.
    pub height: usize,
    /// Columns of the picture.
    pub width: usize,
    /// The value shown black.
    pub lowest: f64,
    /// The value shown white.
    pub highest: f64,
}

/// How to read a pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Column of a table that holds the ids: a name, or a number from 0 if there is no header. Default: `id`.
    pub id_column: Option<String>,
    /// Column of a table that holds the labels, as above. Default: `label`, `labels`, `class`, `target` or `y` (a `y`
    /// beside an `x` is a coordinate). Of an npz or mat file, the array that holds them.
    pub label_column: Option<String>,
    /// Columns of a table to leave out, as above.
    pub drop_columns: Vec<String>,
    /// Leave out rows with NaN or infinite values instead of refusing the file.
    pub drop_nonfinite: bool,
    /// Leave out rows of a table that cannot be read instead of refusing the file.
    pub skip_bad: bool,
    /// Leave out labels whose id is not in the pool, instead of refusing the file.
    pub skip_unknown: bool,
    /// Bring each column to mean 0 and standard deviation 1.
    pub standardize: bool,
    /// A file of labels, one per row or joined by id.
    pub labels_file: Option<PathBuf>,
    /// The array of an npz or mat file that holds the features.
    pub variable: Option<String>,
}

/// A pool before its rows are checked, with the places to name in messages.
#[derive(Debug)]
pub(crate) struct Draft {
    pub matrix: Matrix,
    pub ids: Option<Vec<String>>,
    pub truth: Option<Truth>,
    pub picture: Option<Picture>,
    pub notes: Vec<String>,
    /// Of a table: the line of each row and the name of each feature column.
    pub lines: Option<(Vec<usize>, Vec<String>)>,
    /// If rows were left out while reading: the number of each row among `total`.
    pub kept: Option<(Vec<usize>, usize)>,
    /// As in [`Pool`].
    pub could_be_labels: Vec<String>,
}

impl Draft {
    pub fn new(matrix: Matrix, picture: Option<Picture>) -> Draft {
        Draft {
            matrix,
            picture,
            ids: None,
            truth: None,
            notes: Vec::new(),
            lines: None,
            kept: None,
            could_be_labels: Vec::new(),
        }
    }

    /// Row and column as a person finds them: `row 3, column 1` from 0, or `line 5, column x1` of a table.
    pub fn position(&self, row: usize, column: usize) -> String {
        let found = self.lines.as_ref().and_then(|(lines, names)| Some((lines.get(row)?, names.get(column)?)));
        match found {
            Some((line, name)) => format!("line {line}, column {name}"),
            None => format!("row {row}, column {column}"),
        }
    }

    /// Keeps only the rows named. Without ids, rows keep the numbers they had in the file as ids.
    pub fn select_rows(&mut self, keep: &[usize]) {
        let total = self.kept.as_ref().map_or(self.matrix.n, |(_, total)| *total);
        let number = |&row: &usize| self.kept.as_ref().and_then(|(rows, _)| rows.get(row).copied()).unwrap_or(row);
        let numbers: Vec<usize> = keep.iter().map(number).collect();
        self.ids = Some(match &self.ids {
            Some(ids) => keep.iter().filter_map(|&row| ids.get(row).cloned()).collect(),
            None => numbers.iter().map(usize::to_string).collect(),
        });
        self.kept = Some((numbers, total));
        self.matrix = self.matrix.select_rows(keep);
        self.truth = self.truth.as_ref().map(|truth| truth.select_rows(keep));
        if let Some((lines, _)) = &mut self.lines {
            *lines = keep.iter().filter_map(|&row| lines.get(row).copied()).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Buffer;

    #[test]
    fn selected_rows_keep_their_names() {
        let matrix = Matrix { values: Buffer::F64(vec![0.0, 1.0, 2.0]), n: 3, dim: 1 };
        let truth = Truth::from_integers(&[5, 6, 7]).unwrap();
        let mut pool = Pool {
            name: "p".into(),
            matrix,
            ids: None,
            truth: Some(truth),
            picture: None,
            notes: Vec::new(),
            could_be_labels: Vec::new(),
        };
        pool.select_rows(&[2, 1]);
        assert_eq!(pool.ids, Some(vec!["2".into(), "1".into()]));
        pool.select_rows(&[1]);
        assert_eq!(pool.ids, Some(vec!["1".into()]));
        assert_eq!(pool.matrix.values, Buffer::F64(vec![1.0]));
        assert_eq!(pool.truth.unwrap().labels, [Some(1)]);
    }
}
