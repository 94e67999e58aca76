//! How a project stands, from its log alone: no pool is opened for it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::exchange::import::{Contradiction, contradictions};
use crate::log::Log;
use crate::log::record::Entry;
use crate::project::snapshot::Snapshot;
use crate::stats::counts::Counts;
use crate::stats::estimate::Estimates;

/// How a project stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Status {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: String,
    /// The pool.
    pub pool: String,
    /// The file that its features come from, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub features_file: Option<PathBuf>,
    /// The file that its known labels come from, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub labels_file: Option<PathBuf>,
    /// Number of items.
    pub items: usize,
    /// Items with a label that counts.
    pub labelled: usize,
    /// Labels that count, of all annotators.
    pub labels: usize,
    /// Items that are not asked again.
    pub skipped: usize,
    /// Items that are left out.
    pub excluded: usize,
    /// The live classes, in the order in which people see them.
    pub classes: Vec<ClassCount>,
    /// The annotators.
    pub annotators: Vec<AnnotatorCount>,
    /// The unresolved conflicts.
    pub conflicts: Vec<Conflict>,
    /// Items whose labels differ.
    pub disagreements: Vec<Contradiction>,
    /// Events of the log.
    pub version: u64,
    /// When the last one was stored: milliseconds since 1970.
    #[schema(required)]
    pub last: Option<u64>,
    /// How far along it is and how good, by the last belief that was made; none before there are two classes.
    #[serde(default)]
    #[schema(required)]
    pub estimates: Option<Estimates>,
}

/// A class and its labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClassCount {
    /// Its id.
    pub id: u16,
    /// Its name.
    pub name: String,
    /// Labels in which it weighs most.
    pub labels: usize,
}

/// An annotator and their labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AnnotatorCount {
    /// The name; empty for labels that nobody claims.
    pub name: String,
    /// Labels that count.
    pub labels: usize,
}

/// An unresolved conflict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Conflict {
    /// Its place in the log.
    pub seq: u64,
    /// Who gave it.
    pub annotator: String,
    /// The item.
    pub item: String,
    /// The code of the error it was answered with.
    pub code: String,
    /// The label that stood, the label that came.
    #[schema(value_type = (String, String))]
    pub labels: [String; 2],
}

impl Status {
    /// Of a project at a moment.
    pub fn of(project: &Snapshot) -> Status {
        let log = project.log();
        let counts = Counts::of(log);
        let (mut skipped, mut excluded) = (0, 0);
        for item in log.labels().closed() {
            let marks = log.labels().marks_of(item);
            excluded += usize::from(marks.1);
            skipped += usize::from(marks.0 && !marks.1);
        }
        let labelled: BTreeSet<String> = log.labels().labelled().map(String::from).collect();
        let class = |id: &dial::ClassId| ClassCount {
            id: id.0,
            name: log.class_name(*id).into(),
            labels: counts.of_class(*id),
        };
        Status {
            name: project
                .folder()
                .map_or(String::new(), |folder| folder.name()),
            id: project.id().into(),
            pool: log
                .recipe()
                .map_or(String::new(), |recipe| recipe.pool.clone()),
            features_file: log
                .recipe()
                .and_then(|recipe| recipe.reading.features_file.clone()),
            labels_file: log
                .recipe()
                .and_then(|recipe| recipe.reading.labels_file.clone()),
            items: log.recipe().map_or(0, |recipe| recipe.items),
            labelled: counts.labelled,
            labels: counts.labels,
            skipped,
            excluded,
            classes: log.labels().classes_in_order().iter().map(class).collect(),
            annotators: counts
                .annotators
                .into_iter()
                .map(|(name, labels)| AnnotatorCount { name, labels })
                .collect(),
            conflicts: conflicts(log),
            disagreements: contradictions(log, &labelled),
            version: log.version(),
            last: log.records().last().map(|record| record.time),
            estimates: None,
        }
    }
}

fn conflicts(log: &Log) -> Vec<Conflict> {
    let one = |record: &crate::log::record::Record| match &record.entry {
        Entry::Conflict {
            change: dial::Change::Label { item, .. },
            code,
            labels,
        } => Some(Conflict {
            seq: record.seq,
            annotator: record.annotator.clone(),
            item: item.clone(),
            code: code.clone(),
            labels: labels.clone(),
        }),
        _ => None,
    };
    log.conflicts().filter_map(one).collect()
}
