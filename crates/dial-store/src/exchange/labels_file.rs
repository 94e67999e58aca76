//! Labels from a file: an export of ours, a table with a column of labels and one of ids, or one label per row.
//!
//! An export is known by its columns and read without loss from `labels`; `label`, which people may edit in a spreadsheet,
//! must say the same, and counts where `labels` is empty. Of any other table, the columns `id`, `label` (or `labels`,
//! `class`, `target`, `y`) and `annotator` count, or those that were named; of two unnamed columns the first is the ids.
//! Empty and -1 are no label.

use std::path::{Path, PathBuf};

use dial_data::write::unguarded;
use dial_data::{TextColumns, Truth, normal_id, read_columns};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::exchange::export::{Mark, Told, readable};

/// The columns by which an export is known.
const OURS: [&str; 5] = ["id", "label", "annotator", "labels", "mark"];
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

/// One label or mark of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Given {
    /// The item; its number, where the file has no ids.
    pub item: Item,
    /// What is said about it.
    pub said: Said,
    /// Where it stands.
    pub place: String,
}

/// How a file names an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Item {
    /// By its id; and as it may be meant, if it begins with a guard against formulas.
    Id(String, Option<String>),
    /// By its row, of so many.
    Row(usize, usize),
}

/// What a file says about an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    /// A label; the annotator may not be known.
    Label {
        /// Who, if the file says so.
        annotator: Option<String>,
        /// Names of classes, with weights.
        classes: Vec<(String, f64)>,
        /// Its place among the labels of an export.
        order: Option<u64>,
    },
    /// Skipped, excluded, or gone from the pool it was exported from.
    Mark(Mark),
}

/// What a file of labels holds, in its order; the labels of an export in the order in which they were given.
pub fn read_labels(file: &Path, named: &Named) -> Result<Vec<Given>> {
    let columns = read_columns(file, &|names| wanted(names, named))?;
    let given = if is_ours(&columns.names, named) {
        ours(&columns, file)
    } else {
        plain(&columns, named, file)
    };
    let mut given = given?;
    // Labels without a place follow those that have one, as they stand.
    given.sort_by_key(|given| match &given.said {
        Said::Label { order, .. } => order.unwrap_or(u64::MAX),
        Said::Mark(_) => u64::MAX,
    });
    Ok(given)
}

fn is_ours(names: &[String], named: &Named) -> bool {
    *named == Named::default()
        && OURS
            .iter()
            .all(|ours| names.iter().any(|name| name == ours))
}

/// The columns that can mean something.
fn wanted(names: &[String], named: &Named) -> Vec<usize> {
    if is_ours(names, named) {
        return OURS
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
fn item(cell: &str, guarded: bool) -> Item {
    let id = normal_id(cell);
    let meant = Some(unguarded(&id))
        .filter(|meant| guarded && *meant != id)
        .map(String::from);
    Item::Id(id, meant)
}

fn ours(columns: &TextColumns, file: &Path) -> Result<Vec<Given>> {
    let mut given = Vec::new();
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
        let item = Item::Id(normal_id(&text("id", row)), None);
        let mut push = |said: Said| {
            given.push(Given {
                item: item.clone(),
                said,
                place: place.clone(),
            })
        };
        let (labels, label) = (cell("labels", row), text("label", row));
        let told: Vec<Told> = match labels {
            "" => Vec::new(),
            json => match serde_json::from_str(json) {
                Ok(told) => told,
                Err(error) => {
                    return refuse(
                        file,
                        format!("{place}: labels cannot be read ({error}). {KEPT}"),
                    );
                }
            },
        };
        if !told.is_empty() && readable(&told).0 != label {
            let text = format!(
                "{place}: label says {label:?}, labels says {:?}",
                readable(&told).0
            );
            return refuse(
                file,
                format!("{text}. {KEPT} Correct one of them, or empty labels to have label taken."),
            );
        }
        if told.is_empty() && !label.is_empty() {
            let annotator = Some(text("annotator", row)).filter(|name| !name.is_empty());
            push(Said::Label {
                annotator,
                classes: vec![(label, 1.0)],
                order: None,
            });
        }
        for Told {
            annotator,
            order,
            classes,
        } in told
        {
            push(Said::Label {
                annotator: Some(annotator),
                classes,
                order,
            });
        }
        match cell("mark", row) {
            "" => {}
            "skipped" => push(Said::Mark(Mark::Skipped)),
            "excluded" => push(Said::Mark(Mark::Excluded)),
            "gone" => push(Said::Mark(Mark::Gone)),
            other => {
                return refuse(
                    file,
                    format!("{place}: {other:?} is no mark. {KEPT} Correct it."),
                );
            }
        }
    }
    Ok(given)
}

const KEPT: &str = "Nothing was imported.";

fn plain(columns: &TextColumns, named: &Named, file: &Path) -> Result<Vec<Given>> {
    let roles = match roles(&columns.names, named) {
        Ok(roles) => roles,
        Err(why) => {
            return refuse(
                file,
                format!("{why}. {KEPT} Name them with --id-column and --label-column."),
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
    let mut given = Vec::new();
    for (row, label) in truth.labels.iter().enumerate() {
        let Some(class) = label.and_then(|label| truth.classes.get(usize::from(label))) else {
            continue;
        };
        let item = match roles.id.map(cells) {
            Some(ids) => item(ids.get(row).map_or("", String::as_str), columns.guarded),
            None => Item::Row(row, columns.rows),
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
        let said = Said::Label {
            annotator,
            classes: vec![(class.clone(), 1.0)],
            order: None,
        };
        given.push(Given {
            item,
            said,
            place: columns.place(row),
        });
    }
    Ok(given)
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
