//! Known labels of a pool, for simulations and scores.
//!
//! A label is the index of its class, or unknown: empty, `-1` (and no other number), or one of the words by which programs
//! write that there is nothing (`NO_LABEL_WORDS`). `None` is one of those among numbers; among words it is a class, as in
//! none, minor, major. Classes are in numeric order if all their names are integers, else in bytewise order of the names
//! after Unicode normalisation (NFC). In a table, a list of one label is that label; longer lists and measurements (numbers
//! some of which are no whole ones) are refused.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

use serde_json::Value;

use crate::error::{Fault, Result};

/// What programs write where there is no label.
const NO_LABEL_WORDS: [&str; 9] = [
    "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "NAN", "null", "NULL",
];

/// The classes and one label per row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    /// Names of the classes, in order.
    pub classes: Vec<String>,
    /// Index of each row's class, or `None` if it is not known.
    pub labels: Vec<Option<u16>>,
    /// The cluster of each row, where a class is made of several; without them the labels are the clusters.
    pub clusters: Option<Vec<u32>>,
}

impl Truth {
    /// Labels from what stands in a file. Names are trimmed and compared after NFC; empty, `-1`, `NA`, `nan`, `null` and
    /// the like mean unknown, and `None` among numbers. If all names are whole numbers, `3.0` is class `3`.
    pub fn from_names<S: AsRef<str>>(names: &[S]) -> Result<Truth> {
        let mut clean: Vec<String> = names
            .iter()
            .map(|name| name.as_ref().trim().nfc().collect())
            .collect();
        clean
            .iter_mut()
            .filter(|name| NO_LABEL_WORDS.contains(&name.as_str()))
            .for_each(String::clear);
        let number = |name: &String| name.parse::<f64>().is_ok();
        if clean
            .iter()
            .all(|name| name.is_empty() || name == "None" || number(name))
            && clean.iter().any(number)
        {
            clean
                .iter_mut()
                .filter(|name| *name == "None")
                .for_each(String::clear);
        }
        let whole = |name: &String| {
            name.is_empty()
                || name
                    .strip_suffix(".0")
                    .unwrap_or(name)
                    .parse::<i64>()
                    .is_ok()
        };
        let strip = clean.iter().all(whole);
        let key = |name: &str| match name.strip_suffix(".0") {
            Some(short) if strip => short.to_string(),
            _ => name.to_string(),
        };
        build(clean.iter().map(|name| key(name)).collect())
    }

    /// Labels from names that were given on purpose, such as those of folders: only empty means unknown.
    pub(crate) fn from_given(names: &[&str]) -> Result<Truth> {
        build(names.iter().map(|name| name.nfc().collect()).collect())
    }

    /// Labels from integers; -1 means unknown.
    pub fn from_integers(labels: &[i64]) -> Result<Truth> {
        build(labels.iter().map(i64::to_string).collect())
    }

    /// Makes a class unknown: its rows stay in the pool but are neither asked nor scored. Returns whether there was
    /// such a class.
    pub fn ignore(&mut self, label: &str) -> bool {
        let Some(index) = self.classes.iter().position(|class| class == label.trim()) else {
            return false;
        };
        self.classes.remove(index);
        for slot in &mut self.labels {
            *slot = match *slot {
                Some(class) if usize::from(class) == index => None,
                Some(class) if usize::from(class) > index => Some(class - 1),
                other => other,
            };
        }
        true
    }

    /// The labels modulo m, the clusters staying what they were. All class names must be integers.
    pub fn modulo(&self, m: u16) -> Result<Truth> {
        if m < 2 {
            return Err(
                Fault::Setting(format!("labels modulo {m} make fewer than 2 classes.")).at(""),
            );
        }
        let number = |name: &String| {
            name.parse::<i64>()
                .map(|number| number.rem_euclid(i64::from(m)))
        };
        let numbers: Result<Vec<i64>, _> = self.classes.iter().map(number).collect();
        let Ok(numbers) = numbers else {
            return Err(Fault::Setting(
                "labels modulo a number need classes that are integers.".into(),
            )
            .at(""));
        };
        let name = |class: &Option<u16>| {
            class
                .and_then(|class| numbers.get(usize::from(class)))
                .map(i64::to_string)
                .unwrap_or_default()
        };
        let truth = build(self.labels.iter().map(name).collect())?;
        let clusters = (0..self.labels.len())
            .map(|row| self.cluster(row).unwrap_or(0))
            .collect();
        Ok(Truth {
            clusters: Some(clusters),
            ..truth
        })
    }

    /// The cluster of a row, if its label is known.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn cluster(&self, row: usize) -> Option<u32> {
        let label = self.labels[row]?;
        Some(
            self.clusters
                .as_ref()
                .map_or(u32::from(label), |clusters| clusters[row]),
        )
    }

    /// The labels as a simulation wants them.
    pub fn for_simulation(&self) -> dial::simulate::Truth {
        dial::simulate::Truth {
            names: self.classes.clone(),
            classes: self
                .labels
                .iter()
                .map(|class| class.map(dial::ClassId))
                .collect(),
            clusters: (0..self.labels.len())
                .map(|row| self.cluster(row))
                .collect(),
        }
    }

    /// How many rows have a known label.
    pub fn known(&self) -> usize {
        self.labels.iter().filter(|label| label.is_some()).count()
    }

    /// The labels of the rows named, in that order. Classes that lose their last row are no classes any more.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn select_rows(&self, keep: &[usize]) -> Truth {
        let mut used = vec![false; self.classes.len()];
        keep.iter()
            .filter_map(|&row| self.labels[row])
            .for_each(|class| used[usize::from(class)] = true);
        let mut left = 0..;
        let places: Vec<Option<u16>> = used
            .iter()
            .map(|&used| if used { left.next() } else { None })
            .collect();
        let classes = self
            .classes
            .iter()
            .zip(&used)
            .filter(|(_, used)| **used)
            .map(|(class, _)| class.clone());
        Truth {
            classes: classes.collect(),
            labels: keep
                .iter()
                .map(|&row| self.labels[row].and_then(|class| places[usize::from(class)]))
                .collect(),
            clusters: self
                .clusters
                .as_ref()
                .map(|clusters| keep.iter().map(|&row| clusters[row]).collect()),
        }
    }
}

/// The cells of a column of labels as names of classes; `place` says where a row stands.
pub(crate) fn class_names(
    mut cells: Vec<String>,
    place: impl Fn(usize) -> String,
) -> Result<Vec<String>, Fault> {
    for (row, cell) in cells
        .iter_mut()
        .enumerate()
        .filter(|(_, cell)| cell.trim_start().starts_with(['[', '{']))
    {
        let what = match serde_json::from_str::<Value>(cell) {
            Ok(Value::Array(values)) if values.len() > 1 => format!("a list of {}", values.len()),
            Ok(Value::Array(values)) => match values.first() {
                Some(Value::Array(_) | Value::Object(_)) => "nested".to_string(),
                one => {
                    *cell = one.map(in_words).unwrap_or_default();
                    continue;
                }
            },
            Ok(Value::Object(_)) => "a record".to_string(),
            _ => continue,
        };
        return Err(Fault::Labels(format!(
            "the label of {} is {what}: one class is wanted.",
            place(row)
        )));
    }
    let number = |cell: &String| {
        cell.trim()
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite())
    };
    let nothing =
        |cell: &String| matches!(cell.trim(), "" | "None") || NO_LABEL_WORDS.contains(&cell.trim());
    let fraction = cells
        .iter()
        .position(|cell| number(cell).is_some_and(|value| value.fract() != 0.0));
    match fraction.filter(|_| {
        cells
            .iter()
            .all(|cell| nothing(cell) || number(cell).is_some())
    }) {
        Some(row) => Err(Fault::Labels(format!(
            "the label of {} is {}, not a class number: these look like measurements. Classes are whole numbers or \
             words; --drop-column leaves the column out.",
            place(row),
            cells[row].trim()
        ))),
        None => Ok(cells),
    }
}

fn in_words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn build(names: Vec<String>) -> Result<Truth> {
    let unknown = |name: &str| name.is_empty() || name == "-1";
    let mut classes: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| !unknown(name))
        .collect();
    classes.sort_unstable();
    classes.dedup();
    if classes.iter().all(|class| class.parse::<i64>().is_ok()) {
        classes.sort_by_key(|class| class.parse::<i64>().unwrap_or(0));
    }
    if classes.len() > usize::from(u16::MAX) {
        let text = format!(
            "{} different labels, at most {} are allowed.",
            classes.len(),
            u16::MAX
        );
        return Err(Fault::Labels(text).at(""));
    }
    let index: BTreeMap<&str, u16> = classes.iter().copied().zip(0..).collect();
    let labels = names
        .iter()
        .map(|name| index.get(name.as_str()).copied())
        .collect();
    Ok(Truth {
        labels,
        classes: classes.into_iter().map(String::from).collect(),
        clusters: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_ordered_numerically_or_bytewise() {
        let numbers = Truth::from_names(&["10", "9", "", "-1", "-2", "10"]).unwrap();
        assert_eq!(numbers.classes, ["-2", "9", "10"]);
        assert_eq!(
            numbers.labels,
            [Some(2), Some(1), None, None, Some(0), Some(2)]
        );
        let words = Truth::from_names(&["b", "10", "B", " a "]).unwrap();
        assert_eq!(words.classes, ["10", "B", "a", "b"]);
        assert_eq!(words.labels, [Some(3), Some(0), Some(1), Some(2)]);
        assert_eq!(
            Truth::from_integers(&[-1, 3, 2]).unwrap().labels,
            [None, Some(1), Some(0)]
        );
    }

    #[test]
    fn whole_floats_are_integers_and_versions_are_not() {
        assert_eq!(
            Truth::from_names(&["1.0", "", "2", "-1.0"])
                .unwrap()
                .classes,
            ["1", "2"]
        );
        assert_eq!(
            Truth::from_names(&["1.0", "1.1"]).unwrap().classes,
            ["1.0", "1.1"]
        );
    }

    #[test]
    fn cells_of_labels_are_classes_or_refused() {
        let names = |cells: &[&str]| {
            class_names(cells.iter().map(|cell| cell.to_string()).collect(), |row| {
                format!("line {}", row + 2)
            })
        };
        assert_eq!(
            names(&["[\"cat\"]", "[3]", "[]", "['dog']", "[null]"]).unwrap(),
            ["cat", "3", "", "['dog']", ""]
        );
        assert_eq!(names(&["1", "2.0", "", "NA"]).unwrap().len(), 4);
        assert_eq!(names(&["1.5", "v2"]).unwrap().len(), 2);
        for (cells, said) in [
            (&["a", "[1,2]"][..], "the label of line 3 is a list of 2:"),
            (&["{\"a\":1}"], "the label of line 2 is a record:"),
            (&["[[1]]"], "the label of line 2 is nested:"),
            (
                &["1", "nan", "0.5"],
                "the label of line 4 is 0.5, not a class number",
            ),
        ] {
            let error = names(cells).unwrap_err();
            assert!(
                matches!(&error, Fault::Labels(text) if text.starts_with(said)),
                "{error}"
            );
        }
    }

    #[test]
    fn words_for_nothing_are_no_classes() {
        let words = Truth::from_names(&["cat", "NA", "nan", " null ", "dog", "None", ""]).unwrap();
        assert_eq!(
            (words.classes.join(" "), words.known()),
            ("None cat dog".into(), 3)
        );
        let numbers = Truth::from_names(&["1.0", "None", "0.0", "NaN"]).unwrap();
        assert_eq!(
            (numbers.classes.join(" "), numbers.known()),
            ("0 1".into(), 2)
        );
        assert_eq!(
            Truth::from_given(&["NA", "None", ""]).unwrap().classes,
            ["NA", "None"]
        );
    }

    #[test]
    fn one_class_in_two_unicode_spellings() {
        let truth = Truth::from_names(&["caf\u{e9}", "cafe\u{301}"]).unwrap();
        assert_eq!(truth.labels, [Some(0), Some(0)]);
    }

    #[test]
    fn ignore_and_modulo() {
        let mut truth = Truth::from_integers(&[0, 1, 2, 3, 1]).unwrap();
        let modulo = truth.modulo(3).unwrap();
        assert_eq!(modulo.labels, [Some(0), Some(1), Some(2), Some(0), Some(1)]);
        assert_eq!(
            (0..5).map(|row| modulo.cluster(row)).collect::<Vec<_>>(),
            [0, 1, 2, 3, 1].map(Some)
        );
        assert!(truth.ignore("1") && !truth.ignore("1"));
        assert_eq!(truth.classes, ["0", "2", "3"]);
        assert_eq!(truth.labels, [Some(0), None, Some(1), Some(2), None]);
        assert_eq!(truth.known(), 3);
        assert_eq!(
            Truth::from_names(&["a", "b"])
                .unwrap()
                .modulo(2)
                .unwrap_err()
                .code(),
            "U1"
        );
        assert_eq!(truth.modulo(1).unwrap_err().code(), "U1");
    }

    #[test]
    fn classes_without_rows_are_left_out() {
        let truth = Truth::from_names(&["a", "b", "", "c"])
            .unwrap()
            .select_rows(&[3, 2, 0]);
        assert_eq!(
            (truth.classes.join(" "), truth.labels),
            ("a c".into(), vec![Some(1), None, Some(0)])
        );
    }

    #[test]
    fn more_classes_than_class_ids_are_refused() {
        let all: Vec<i64> = (0..65_536).collect();
        assert_eq!(Truth::from_integers(&all).unwrap_err().code(), "I12");
        assert!(Truth::from_integers(&all[1..]).is_ok());
    }
}
