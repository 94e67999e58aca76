//! Features of table rows: columns of numbers, and columns of words as categories.
//!
//! ```text
//! a category of m values:  m features, 1/√2 in that of the row's value, 0 elsewhere; all 0 where the cell is missing
//! so that two different values are at distance  √(1/2 + 1/2) = 1,  one standard deviation of a column of numbers
//! a missing number:        the mean of its column; it is shown as missing
//! ```
//!
//! A column of nothing but true and false, however they are written, is one of the numbers 1 and 0, as in the formats that
//! have a type for them.
//!
//! Words are categories if there are few of them: at most [`MOST_VALUES`] different ones, and each in two rows on
//! average. Other words are left beside the features. Where there are categories, or where standard deviations differ by
//! more than [`MAX_SPREAD_RATIO`], the columns of numbers are standardised unless the options say otherwise. The largest deviation
//! is compared with the smallest or, where there are [`MANY_COLUMNS`] columns and more, with the median: those are pixels, bands
//! and the like, of one scale, whose quiet columns would only be made loud (standardising takes the share of neighbours
//! of the same class, 10 of them, from 0.966 to 0.941 on optdigits and from 0.855 to 0.797 on 3000 digits of MNIST).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::error::{Fault, first_few, plural};
use crate::pool::matrix::{Buffer, Matrix};
use crate::pool::show::Show;
use crate::pool::{Draft, ReadOptions};
use crate::tables::frame::{Column, Numbers, Sheet, is_missing, shortened};
use crate::tables::heuristics::{like_ids, looks_like_text_cells};
use crate::tables::item_view;

/// How many different words make a category, at most, and how many features all categories together.
const MOST_VALUES: usize = 50;
const MOST_FEATURES: usize = 1000;
/// By how much the standard deviations of columns may differ.
const MAX_SPREAD_RATIO: f64 = 10.0;
/// How many columns are many.
const MANY_COLUMNS: usize = 32;
/// 1/√2.
const INDICATOR_SCALE: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Rows that are gathered together.
const ROWS_PER_TASK: usize = 64;

/// A column of words with few values.
struct Category {
    name: String,
    values: Vec<String>,
    /// The value of each row.
    of: Vec<Option<usize>>,
}

/// The columns that become features, and what is to be said of them and of the others.
#[derive(Default)]
struct Chosen {
    /// Names, numbers, and the means that stand for missing ones.
    numbers: Vec<(String, Numbers, f64)>,
    categories: Vec<Category>,
    missing: Vec<String>,
    /// Columns of which something is to be said.
    empty: Vec<String>,
    constant: Vec<String>,
    like_ids: Vec<String>,
    no_features: Vec<String>,
    texts: Vec<String>,
    notes: Vec<String>,
    /// Words that are not features: name, how many cells, the first and its row.
    words: Vec<(String, usize, String, usize)>,
}

/// The draft of a table; the columns of words stay beside the features.
pub(crate) fn draft(
    sheet: &Sheet,
    rest: &mut Vec<(String, Column)>,
    notes: &mut Vec<String>,
    options: &ReadOptions,
) -> Result<Draft, Fault> {
    let rows = sheet.rows;
    let mut chosen = Chosen::default();
    for (name, column) in std::mem::take(rest) {
        match column.truths() {
            Column::Numbers(numbers) => chosen.take_numbers(name, numbers, rows),
            Column::Words(words) => {
                chosen.take_words(&name, &words, rows);
                rest.push((name, Column::Words(words)));
            }
            Column::Other(what) => chosen
                .notes
                .push(format!("left out the column {name}: it holds {what}")),
            Column::Lists { .. } => unreachable!("lists were taken as features before"),
        }
    }
    let mut draft = match (chosen.numbers.len(), chosen.categories.len()) {
        (0, 0) if options.features_file.is_some() => Draft::shown(rows, Show::Numbers(Vec::new())),
        (0, 0) => return Err(chosen.nothing(sheet)),
        _ => chosen.features(rows),
    };
    draft.beside = item_view::beside(rest, rows);
    if options.features_file.is_none() {
        let why = chosen.standardize(options.standardize.is_none());
        draft.standardize = why.0;
        notes.append(&mut chosen.notes);
        notes.extend(chosen.column_notes());
        notes.extend(why.1);
        notes.extend(chosen.missing_note());
    }
    Ok(draft)
}

impl Chosen {
    fn take_numbers(&mut self, name: String, numbers: Numbers, rows: usize) {
        let missing = numbers.missing.len();
        if missing == rows {
            return self.empty.push(name);
        }
        if missing > 0 {
            self.missing.push(format!("{name} {missing}"));
        }
        if like_ids(&name, &numbers.values) {
            self.like_ids.push(name.clone());
        }
        let present = (rows - missing) as f64;
        let mean = numbers
            .values
            .iter()
            .filter(|value| value.is_finite())
            .map(|value| value / present)
            .sum();
        self.numbers.push((name, numbers, mean));
    }

    fn take_words(&mut self, name: &str, words: &[String], rows: usize) {
        let missing = words.iter().filter(|word| is_missing(word)).count();
        if missing == rows {
            return self.empty.push(name.into());
        }
        let values: HashSet<&str> = words
            .iter()
            .map(String::as_str)
            .filter(|word| !is_missing(word))
            .collect();
        if values.len() == 1 && missing == 0 {
            return self.constant.push(name.into());
        }
        let features: usize = self
            .categories
            .iter()
            .map(|category| category.values.len())
            .sum();
        if values.len() > MOST_VALUES
            || 2 * values.len() > rows
            || features + values.len() > MOST_FEATURES
        {
            let (row, first) = words
                .iter()
                .enumerate()
                .find(|(_, word)| !is_missing(word))
                .unwrap_or((0, &words[0]));
            if looks_like_text_cells(words, rows, 20) {
                self.texts.push(name.into());
            }
            self.no_features
                .push(format!("{name} ({} different)", values.len()));
            return self
                .words
                .push((name.into(), rows - missing, shortened(first), row));
        }
        if missing > 0 {
            self.missing.push(format!("{name} {missing}"));
        }
        let values: Vec<String> = values
            .into_iter()
            .map(String::from)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let place: BTreeMap<&str, usize> = values.iter().map(String::as_str).zip(0..).collect();
        let of = words
            .iter()
            .map(|word| place.get(word.as_str()).copied())
            .collect();
        self.categories.push(Category {
            name: name.into(),
            values,
            of,
        });
    }

    /// The fault of a table without features.
    fn nothing(self, sheet: &Sheet) -> Fault {
        let mut words = self.words.into_iter();
        let Some((name, count, first, row)) = words.next() else {
            let what = self
                .notes
                .iter()
                .map(|note| format!("; {note}"))
                .collect::<String>();
            return Fault::Shape(format!("no columns of numbers{what}"));
        };
        let line = sheet
            .lines
            .as_ref()
            .and_then(|lines| lines.get(row))
            .copied()
            .unwrap_or(0);
        Fault::Words {
            name,
            count,
            total: sheet.rows,
            first,
            line,
            others: words.map(|(name, ..)| name).collect(),
        }
    }

    fn features(&self, rows: usize) -> Draft {
        let names: Vec<String> = self.numbers.iter().map(|(name, ..)| name.clone()).collect();
        let one = |c: &Category| {
            c.values
                .iter()
                .map(|value| format!("{}={value}", c.name))
                .collect::<Vec<_>>()
        };
        let categories: Vec<String> = self.categories.iter().flat_map(one).collect();
        let all = [names.clone(), categories.clone()].concat();
        let matrix = self.filled(self.gathered(rows, categories.len()));
        let mut draft = match (names.len(), categories.len()) {
            (0, _) => Draft::new(matrix, Show::Numbers(all.clone())),
            _ => Draft::new(matrix, Show::Numbers(names)),
        };
        // Missing numbers are shown as what they are.
        let missing = self
            .numbers
            .iter()
            .any(|(_, numbers, _)| !numbers.missing.is_empty());
        if missing || !self.numbers.is_empty() && !categories.is_empty() {
            draft.original = Some(self.gathered(rows, 0));
        }
        draft.categories = categories.len();
        draft.lines = Some((Vec::new(), all));
        draft
    }

    /// Numbers, then the features of categories (all or none), row after row.
    fn gathered(&self, rows: usize, categories: usize) -> Matrix {
        let dim = self.numbers.len() + categories;
        let mut values = vec![0.0; rows * dim];
        for (block, out) in values.chunks_mut(ROWS_PER_TASK * dim).enumerate() {
            for (column, (_, numbers, _)) in self.numbers.iter().enumerate() {
                let cells = &numbers.values[block * ROWS_PER_TASK..];
                out.chunks_mut(dim)
                    .zip(cells)
                    .for_each(|(row, &value)| row[column] = value);
            }
            let mut column = self.numbers.len();
            for category in self.categories.iter().filter(|_| categories > 0) {
                let of = &category.of[block * ROWS_PER_TASK..];
                let known = out
                    .chunks_mut(dim)
                    .zip(of)
                    .filter_map(|(row, of)| Some((row, (*of)?)));
                known.for_each(|(row, value)| row[column + value] = INDICATOR_SCALE);
                column += category.values.len();
            }
        }
        let single = categories == 0 && self.numbers.iter().all(|(_, numbers, _)| numbers.single);
        let values = match single {
            true => Buffer::F32(values.into_iter().map(|value| value as f32).collect()),
            false => Buffer::F64(values),
        };
        Matrix {
            values,
            n: rows,
            dim,
        }
    }

    /// Means in place of missing numbers.
    fn filled(&self, mut matrix: Matrix) -> Matrix {
        let dim = matrix.dim;
        for (column, (_, numbers, mean)) in self.numbers.iter().enumerate() {
            for &row in &numbers.missing {
                match &mut matrix.values {
                    Buffer::F32(values) => values[row * dim + column] = *mean as f32,
                    Buffer::F64(values) => values[row * dim + column] = *mean,
                }
            }
        }
        matrix
    }

    /// Whether the columns of numbers are standardised by default; if so and it is `decisive`, why.
    fn standardize(&self, decisive: bool) -> (bool, Option<String>) {
        let mut spreads: Vec<f64> = self
            .numbers
            .iter()
            .map(|(_, numbers, _)| deviation(&numbers.values))
            .collect();
        spreads.retain(|&spread| spread > 0.0);
        spreads.sort_unstable_by(f64::total_cmp);
        let usual = if self.numbers.len() < MANY_COLUMNS {
            spreads.first()
        } else {
            spreads.get(spreads.len() / 2)
        };
        let ratio = spreads
            .last()
            .zip(usual)
            .map_or(1.0, |(last, usual)| last / usual);
        let why = match () {
            _ if self.numbers.is_empty() => return (false, None),
            _ if !self.categories.is_empty() => "to stand beside categories".to_string(),
            _ if ratio > MAX_SPREAD_RATIO => {
                format!("because their scales differ by {} x", rounded(ratio))
            }
            _ => return (false, None),
        };
        let note =
            || format!("columns of numbers were standardised {why}; --standardize=no keeps them");
        (true, decisive.then(note))
    }

    /// What is to be said of columns, one sentence for those of a kind.
    fn column_notes(&self) -> Vec<String> {
        let value = |c: &Category| {
            format!(
                "{} ({} {})",
                c.name,
                c.values.len(),
                plural(c.values.len(), "value", "values")
            )
        };
        let categories: Vec<String> = self.categories.iter().map(value).collect();
        let texts = match self.texts.as_slice() {
            [] => String::new(),
            texts => format!(
                ", --text-column makes features of texts ({})",
                listed(texts)
            ),
        };
        let kinds = [
            (&self.empty, "left out, empty in every row", String::new()),
            (
                &self.constant,
                "not used as features, the same in every row",
                String::new(),
            ),
            (
                &categories,
                "categories",
                "; --label-column NAME if one of them holds the labels".into(),
            ),
            (
                &self.no_features,
                "words that are not features",
                format!("; --label-column NAME or --id-column NAME gives one a meaning{texts}"),
            ),
            (
                &self.like_ids,
                "numbers that look like ids",
                "; --id-column NAME takes one for the ids, --drop-column NAME leaves it out".into(),
            ),
        ];
        let kinds = kinds.into_iter().filter(|(names, ..)| !names.is_empty());
        kinds
            .map(|(names, what, next)| format!("{what}: {}{next}", listed(names)))
            .collect()
    }

    fn missing_note(&self) -> Option<String> {
        let listed = listed(&self.missing);
        let how = "numbers were filled with the mean of their column, categories count as none of their values";
        (!self.missing.is_empty()).then(|| format!("missing cells by column: {listed}; {how}"))
    }
}

fn listed(names: &[String]) -> String {
    first_few(names, names.len(), ", ")
}

/// Two figures are enough to see why.
fn rounded(ratio: f64) -> String {
    if ratio < 1e6 {
        format!("{}", ratio.round())
    } else {
        format!("{ratio:.0e}")
    }
}

/// The standard deviation of the finite values, however large or small they are.
fn deviation(values: &[f64]) -> f64 {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let largest = finite().map(f64::abs).fold(0.0, f64::max);
    let count = finite().count() as f64;
    let first = finite().next().unwrap_or(0.0);
    if largest == 0.0 || finite().all(|value| value == first) {
        return 0.0;
    }
    let mean = finite().map(|value| value / largest).sum::<f64>() / count;
    let square = |x: f64| x * x;
    largest
        * (finite()
            .map(|value| square(value / largest - mean))
            .sum::<f64>()
            / count)
            .sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: &[f64]) -> Column {
        Column::Numbers(Numbers {
            values: values.to_vec(),
            ..Numbers::default()
        })
    }

    fn words(cells: &[&str]) -> Column {
        Column::Words(cells.iter().map(|cell| cell.to_string()).collect())
    }

    fn made(columns: Vec<(&str, Column)>, rows: usize) -> (Draft, Vec<String>) {
        let sheet = Sheet {
            rows,
            ..Sheet::default()
        };
        let mut rest = columns
            .into_iter()
            .map(|(name, column)| (name.to_string(), column))
            .collect();
        let mut notes = Vec::new();
        (
            draft(&sheet, &mut rest, &mut notes, &ReadOptions::default()).unwrap(),
            notes,
        )
    }

    #[test]
    fn categories_are_one_apart() {
        let cells = words(&["b", "a", "", "b", "a"]);
        let (draft, notes) = made(
            vec![("x", numbers(&[1.0, 2.0, 3.0, 4.0, 5.0])), ("c", cells)],
            5,
        );
        let matrix = draft.matrix.unwrap();
        assert_eq!(
            (matrix.dim, draft.categories, draft.standardize),
            (3, 2, true)
        );
        // Columns: x, c=a, c=b.
        let row = |row: usize| [1, 2].map(|column| matrix.get(row, column));
        assert_eq!(
            [row(0), row(1), row(2)],
            [[0.0, INDICATOR_SCALE], [INDICATOR_SCALE, 0.0], [0.0, 0.0]]
        );
        assert!((2.0 * INDICATOR_SCALE * INDICATOR_SCALE - 1.0).abs() < 1e-15);
        assert_eq!(
            draft.original.unwrap().values,
            Buffer::F64(vec![1.0, 2.0, 3.0, 4.0, 5.0])
        );
        assert_eq!(draft.show, Show::Numbers(vec!["x".into()]));
        assert_eq!(draft.beside.unwrap().cells, ["b", "a", "", "b", "a"]);
        assert_eq!(notes.len(), 3, "{notes:?}");
        assert!(
            notes[2].starts_with("missing cells by column: c 1; numbers were"),
            "{notes:?}"
        );
    }

    #[test]
    fn missing_numbers_become_the_mean() {
        let column = Numbers {
            values: vec![1.0, f64::NAN, 6.0, 2.0],
            missing: vec![1],
            single: true,
        };
        let none = Numbers {
            values: vec![f64::NAN; 4],
            missing: vec![0, 1, 2, 3],
            single: true,
        };
        let (draft, notes) = made(
            vec![("a", Column::Numbers(column)), ("b", Column::Numbers(none))],
            4,
        );
        assert_eq!(
            draft.matrix.unwrap().values,
            Buffer::F32(vec![1.0, 3.0, 6.0, 2.0])
        );
        let shown = draft.original.unwrap();
        assert!(
            shown.get(1, 0).is_nan() && shown.get(2, 0) == 6.0,
            "what is missing is shown as missing"
        );
        assert_eq!(notes[0], "left out, empty in every row: b");
        assert!(
            notes[1].starts_with("missing cells by column: a 1; "),
            "{notes:?}"
        );
    }

    #[test]
    fn scales_that_differ_are_brought_together() {
        // Standard deviations 1 and 10, then 1 and 11.
        let two = |scale: f64| {
            made(
                vec![
                    ("a", numbers(&[1.0, 3.0])),
                    ("b", numbers(&[0.0, 2.0 * scale])),
                ],
                2,
            )
        };
        assert!(!two(10.0).0.standardize && two(10.0).1.is_empty());
        let (draft, notes) = two(11.0);
        assert!(draft.standardize);
        assert_eq!(
            notes,
            [
                "columns of numbers were standardised because their scales differ by 11 x; --standardize=no keeps them"
            ]
        );
        // Of many columns a few quiet ones change nothing, a few loud ones do.
        let many = |odd: f64| {
            let column = |i: usize| numbers(&[0.0, if i == 0 { odd } else { 1.0 }]);
            made((0..MANY_COLUMNS).map(|i| ("c", column(i))).collect(), 2)
                .0
                .standardize
        };
        assert!(!many(0.001) && many(1000.0));
    }

    #[test]
    fn words_without_meaning_stay_beside() {
        let names: Vec<String> = (0..6).map(|i| format!("p{i}")).collect();
        let (draft, notes) = made(
            vec![
                ("a", numbers(&[1.0; 6])),
                ("who", Column::Words(names.clone())),
            ],
            6,
        );
        assert_eq!(
            (draft.matrix.unwrap().dim, draft.beside.unwrap().cells),
            (1, names)
        );
        assert!(
            notes[0]
                .starts_with("words that are not features: who (6 different); --label-column NAME"),
            "{notes:?}"
        );
        // Two values in four rows are a category.
        let (draft, notes) = made(
            vec![
                ("a", numbers(&[1.0; 4])),
                ("c", words(&["x", "x", "y", "y"])),
            ],
            4,
        );
        assert_eq!((draft.matrix.unwrap().dim, draft.categories), (3, 2));
        assert_eq!(
            notes[0],
            "categories: c (2 values); --label-column NAME if one of them holds the labels"
        );
    }
}
