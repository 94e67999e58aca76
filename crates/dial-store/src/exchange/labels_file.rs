//! Labels from a file: an export of ours, a table with a column of labels and one of ids, or one label per row.
//!
//! An export is known by its columns and read without loss from `labels`; `label`, which people may edit in a spreadsheet,
//! must be what these come to, and counts where `labels` is empty. Of any other table, the columns `id`, `label` (or `labels`,
//! `class`, `target`, `y`) and `annotator` count, or those that were named; of two unnamed columns the first is the ids.
//! Empty and -1 are no label.

use std::path::{Path, PathBuf};

use dial_data::write::unguarded;
use dial_data::{TextColumns, Truth, normal_id, read_columns};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::{Error, Result};
use crate::exchange::export::{Answer, Mark, Row};

/// The columns by which an export is known.
const EXPORT_COLUMNS: [&str; 5] = ["id", "label", "annotator", "labels", "mark"];
/// Names of columns of labels, the earlier the better.
const LABELS: [&str; 5] = ["label", "labels", "class", "target", "y"];

/// Which columns of a table to take, where their names do not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The ids.
    pub id: Option<String>,
    /// The labels.
    pub label: Option<String>,
}

/// One label or mark to import.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedLabel {
    /// The item.
    pub item: ItemName,
    /// Its label, or its mark.
    pub content: LabelContent,
    /// Where it stands in its file, for messages.
    #[serde(default)]
    pub place: String,
}

/// How an item is named: by its id, or by its row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum ItemName {
    /// By its id.
    Id {
        /// The id as it stands in the file.
        id: String,
        /// The id without its first character, where that guards against formulas of spreadsheets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unguarded: Option<String>,
    },
    /// By its row, where a file has one label for each item and no ids.
    Row {
        /// The row, from 0.
        row: usize,
        /// The number of rows of the file, which must be that of the pool.
        rows: usize,
    },
}

impl ItemName {
    /// An id that stands for itself.
    pub fn id(id: impl Into<String>) -> ItemName {
        ItemName::Id {
            id: id.into(),
            unguarded: None,
        }
    }
}

/// What a file has about an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LabelContent {
    /// A label.
    Label {
        /// The annotator, if the file names one.
        #[serde(default)]
        annotator: Option<String>,
        /// Names of classes, with weights.
        classes: Vec<(String, f64)>,
        /// Its place among the labels of an export.
        #[serde(default)]
        order: Option<u64>,
        /// It decides between differing answers.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        adjudicates: bool,
    },
    /// A mark: skipped, excluded, or gone from the pool it was exported from.
    Mark {
        /// The mark.
        mark: Mark,
    },
}

/// What a file of labels holds, in its order; the labels of an export in the order in which they were given.
pub fn read_labels(file: &Path, named: &Named) -> Result<Vec<ImportedLabel>> {
    let columns = read_columns(file, &|names| wanted(names, named))?;
    let labels = if is_ours(&columns.names, named) {
        ours(&columns, file)
    } else {
        plain(&columns, named, file)
    };
    let mut labels = labels?;
    // Labels without a place follow those that have one, as they stand.
    labels.sort_by_key(|label| match &label.content {
        LabelContent::Label { order, .. } => order.unwrap_or(u64::MAX),
        LabelContent::Mark { .. } => u64::MAX,
    });
    Ok(labels)
}

fn is_ours(names: &[String], named: &Named) -> bool {
    *named == Named::default()
        && EXPORT_COLUMNS
            .iter()
            .all(|ours| names.iter().any(|name| name == ours))
}

/// The columns that can mean something.
fn wanted(names: &[String], named: &Named) -> Vec<usize> {
    if is_ours(names, named) {
        return EXPORT_COLUMNS
            .iter()
            .filter_map(|ours| names.iter().position(|name| name == ours))
            .collect();
    }
    match roles(names, named) {
        Ok(Roles {
            id,
            label,
            annotator,
        }) => [id, Some(label), annotator].into_iter().flatten().collect(),
        // What is wrong is said when the columns are looked at again.
        Err(_) => (0..names.len()).collect(),
    }
}

struct Roles {
    id: Option<usize>,
    label: usize,
    annotator: Option<usize>,
}

fn roles(names: &[String], named: &Named) -> std::result::Result<Roles, String> {
    let find = |name: &str| {
        names
            .iter()
            .position(|other| other.eq_ignore_ascii_case(name))
    };
    let asked = |name: &String| {
        let exact = names.iter().position(|other| other == name);
        exact.ok_or_else(|| {
            format!(
                "there is no column {name:?}; the columns are {}",
                names.join(", ")
            )
        })
    };
    let id = named
        .id
        .as_ref()
        .map(asked)
        .transpose()?
        .or_else(|| find("id"));
    let label = named.label.as_ref().map(asked).transpose()?;
    let label = label.or_else(|| {
        LABELS
            .iter()
            .find_map(|name| find(name))
            .filter(|label| Some(*label) != id)
    });
    let annotator = find("annotator").filter(|at| Some(*at) != id && Some(*at) != label);
    match (id, label, names.len()) {
        (_, _, 1) => Ok(Roles {
            id: None,
            label: 0,
            annotator: None,
        }),
        (id, Some(label), 2) if id.is_none() && annotator.is_none() => Ok(Roles {
            id: Some(1 - label),
            label,
            annotator,
        }),
        (id, Some(label), _) => Ok(Roles {
            id,
            label,
            annotator,
        }),
        (Some(id), None, 2) => Ok(Roles {
            id: Some(id),
            label: 1 - id,
            annotator: None,
        }),
        (None, None, 2) => Ok(Roles {
            id: Some(0),
            label: 1,
            annotator: None,
        }),
        _ => Err(format!(
            "{} columns and none named label ({})",
            names.len(),
            names.join(", ")
        )),
    }
}

fn refuse<T>(file: &Path, why: String) -> Result<T> {
    Err(Error::Import(format!("{}: {why}", file.display())))
}

/// An id and, where it begins with a guard, what it may stand for.
fn item(cell: &str, guarded: bool) -> ItemName {
    let id = normal_id(cell);
    let meant = Some(unguarded(&id))
        .filter(|meant| guarded && *meant != id)
        .map(String::from);
    ItemName::Id {
        id,
        unguarded: meant,
    }
}

fn ours(columns: &TextColumns, file: &Path) -> Result<Vec<ImportedLabel>> {
    let mut imported = Vec::new();
    let cell = |name: &str, row: usize| {
        columns
            .column(name)
            .and_then(|cells| cells.get(row))
            .map_or("", String::as_str)
    };
    let text = |name: &str, row: usize| {
        let cell = cell(name, row);
        if columns.guarded {
            unguarded(cell)
        } else {
            cell
        }
        .to_string()
    };
    for row in 0..columns.rows {
        let place = columns.place(row);
        let item = ItemName::id(normal_id(&text("id", row)));
        let mut push = |content: LabelContent| {
            imported.push(ImportedLabel {
                item: item.clone(),
                content,
                place: place.clone(),
            })
        };
        let (labels, label) = (cell("labels", row), text("label", row));
        let answers: Vec<Answer> = match labels {
            "" => Vec::new(),
            json => match serde_json::from_str(json) {
                Ok(answers) => answers,
                Err(error) => {
                    return refuse(
                        file,
                        format!("{place}: labels cannot be read ({error}). {NOTHING_IMPORTED}"),
                    );
                }
            },
        };
        let mark = match cell("mark", row) {
            "" => None,
            word => match Mark::ALL.into_iter().find(|mark| mark.word() == word) {
                Some(mark) => Some(mark),
                None => {
                    return refuse(
                        file,
                        format!("{place}: {word:?} is not a mark. {NOTHING_IMPORTED} Correct it."),
                    );
                }
            },
        };
        if answers.is_empty() && !label.is_empty() {
            let annotator = Some(text("annotator", row)).filter(|name| !name.is_empty());
            push(LabelContent::Label {
                annotator,
                classes: vec![(label, 1.0)],
                order: None,
                adjudicates: false,
            });
        } else {
            let row = Row {
                id: String::new(),
                labels: answers,
                mark,
                belief: None,
            };
            let found = row.consensus().and_then(|found| found.label);
            let consensus = found.map_or("", |(class, _)| class);
            if consensus != label {
                let text = format!("{place}: label says {label:?}, labels says {consensus:?}");
                return refuse(
                    file,
                    format!(
                        "{text}. {NOTHING_IMPORTED} Correct one of them, or empty labels to have label taken."
                    ),
                );
            }
            for answer in row.labels {
                push(LabelContent::Label {
                    annotator: Some(answer.annotator),
                    classes: answer.classes,
                    order: answer.order,
                    adjudicates: answer.adjudicates,
                });
            }
        }
        mark.into_iter()
            .for_each(|mark| push(LabelContent::Mark { mark }));
    }
    Ok(imported)
}

const NOTHING_IMPORTED: &str = "Nothing was imported.";

fn plain(columns: &TextColumns, named: &Named, file: &Path) -> Result<Vec<ImportedLabel>> {
    let roles = match roles(&columns.names, named) {
        Ok(roles) => roles,
        Err(why) => {
            return refuse(
                file,
                format!("{why}. {NOTHING_IMPORTED} Name them with --id-column and --label-column."),
            );
        }
    };
    let cells = |at: usize| columns.cells.get(at).map_or(&[][..], Vec::as_slice);
    let labels: Vec<&str> = cells(roles.label)
        .iter()
        .map(|cell| {
            if columns.guarded {
                unguarded(cell)
            } else {
                cell
            }
        })
        .collect();
    // Names as those of a pool: trimmed, in one spelling, whole numbers as such.
    let truth = Truth::from_names(&labels)?;
    let mut imported = Vec::new();
    for (row, label) in truth.labels.iter().enumerate() {
        let Some(class) = label.and_then(|label| truth.classes.get(usize::from(label))) else {
            continue;
        };
        let item = match roles.id.map(cells) {
            Some(ids) => item(ids.get(row).map_or("", String::as_str), columns.guarded),
            None => ItemName::Row {
                row,
                rows: columns.rows,
            },
        };
        let annotator = roles
            .annotator
            .and_then(|at| cells(at).get(row))
            .filter(|name| !name.is_empty());
        let annotator = annotator.map(|name| {
            if columns.guarded {
                unguarded(name)
            } else {
                name
            }
            .to_string()
        });
        let content = LabelContent::Label {
            annotator,
            classes: vec![(class.clone(), 1.0)],
            order: None,
            adjudicates: false,
        };
        imported.push(ImportedLabel {
            item,
            content,
            place: columns.place(row),
        });
    }
    Ok(imported)
}

/// The name of a file, as the source of its labels.
pub fn source(file: &Path) -> String {
    let name = PathBuf::from(file.file_name().unwrap_or_default());
    name.to_string_lossy()
        .chars()
        .filter(|c| !c.is_control())
        .take(150)
        .collect()
}
