//! How many labels there are, by class and by annotator: the one place where they are counted.
//!
//! A label of several classes counts for the one in which it weighs most, of equal weights for the first. Classes are those
//! after merges; labels of excluded items do not count.

use std::collections::BTreeMap;

use dial::ClassId;

use crate::log::Log;

/// The labels that count, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Items with a label.
    pub labelled: usize,
    /// Labels, of all annotators.
    pub labels: usize,
    /// Labels by class; a class that has none is not there.
    pub classes: BTreeMap<ClassId, usize>,
    /// Labels by annotator.
    pub annotators: BTreeMap<String, usize>,
}

impl Counts {
    /// Those of a log.
    pub fn of(log: &Log) -> Counts {
        let mut counts = Counts::default();
        for item in log.labels().labelled() {
            counts.labelled += 1;
            for (annotator, classes) in log.labels_of(item) {
                counts.labels += 1;
                *counts.annotators.entry(annotator.to_string()).or_insert(0) += 1;
                if let Some(class) = heaviest(&classes) {
                    *counts.classes.entry(class).or_insert(0) += 1;
                }
            }
        }
        counts
    }

    /// Labels of a class.
    pub fn of_class(&self, class: ClassId) -> usize {
        self.classes.get(&class).copied().unwrap_or(0)
    }
}

/// The class in which a label weighs most; of equal weights the first.
pub fn heaviest(classes: &[(ClassId, f64)]) -> Option<ClassId> {
    let most = classes.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1));
    most.map(|(class, _)| *class)
}
