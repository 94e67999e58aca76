//! What a session does with its project beside the operations of every handle: labels by rows and the names of classes,
//! and the project written into a folder.

use std::path::Path;
use std::sync::Arc;

use dial::{ClassId, Control, Items, NodeId};
use dial_data::Fingerprint;
use dial_data::write::{Saved, SavedData, write_npy};
use dial_server::{Local, ProjectHandle};
use dial_store::time::Clock;
use dial_store::{
    ASKABLE, Decision, Folder, GivenGraph, Journal, Log, Project, Provenance, Receipt, Recipe,
    Share, Submission, keep_graph, random_id,
};

use crate::arrays::Plain;
use crate::errors::Failure;

/// The name under which Python keeps what its labels are.
pub const PYTHON_LABELS_KEY: &str = "python";

/// The name of the features in a project that was saved.
const FEATURES: &str = "features.npy";

/// A label: the row, and the names of classes with weights.
pub type RowLabel = (usize, Vec<(String, f64)>);

/// The time.
pub fn now() -> u64 {
    Clock::new().now()
}

/// The id of a row.
pub fn item(items: &Items, row: usize) -> Result<String, Failure> {
    match u32::try_from(row).ok().filter(|_| row < items.len()) {
        Some(node) => Ok(items.id(NodeId(node))),
        None => Err(dial::Error::UnknownItem(row.to_string()).into()),
    }
}

/// Decisions under a new key.
fn submission(
    annotator: &str,
    decisions: Vec<Decision>,
    replace: bool,
) -> Result<Submission, Failure> {
    Ok(Submission {
        key: random_id()?,
        annotator: annotator.into(),
        decisions,
        replace,
        ..Submission::default()
    })
}

/// Stores decisions, and follows them.
pub fn decide(
    local: &mut Local,
    annotator: &str,
    decisions: Vec<Decision>,
    replace: bool,
) -> Result<Receipt, Failure> {
    let stored = local.submit(submission(annotator, decisions, replace)?)?;
    local.session()?;
    Ok(stored.receipt)
}

/// Adds classes and stores labels by the names of classes: both, or neither where the labels are refused.
pub fn tell(
    local: &mut Local,
    told: &[RowLabel],
    new: &[String],
    annotator: &str,
    (replace, adjudicates): (bool, bool),
) -> Result<Receipt, Failure> {
    let replace = replace || adjudicates;
    let prepared = Arc::clone(local.prepared()?);
    let items = &prepared.engine.items;
    let provenance = match told {
        [(row, _)] => local.provenance(annotator, &item(items, *row)?)?,
        _ => Provenance::default(),
    };
    let receipt = local.change(|project| {
        let log = project.log();
        for (row, classes) in told.iter().filter(|_| !replace) {
            contradicts(log, &item(items, *row)?, *row, classes, annotator)?;
        }
        // Somebody may have added the same just now.
        let missing = |name: &&String| log.labels().class_named(name).is_err();
        let new: Vec<&String> = new.iter().filter(missing).collect();
        let class = |name: &String| {
            let added = new.iter().position(|other| *other == name);
            let number = |place| log.labels().new_class().0.saturating_add(place as u16);
            added.map_or_else(
                || log.labels().class_named(name),
                |place| Ok(ClassId(number(place))),
            )
        };
        let label = |(row, classes): &RowLabel| {
            let classes = classes
                .iter()
                .map(|(name, weight)| Ok((class(name)?, *weight)))
                .collect::<dial::Result<Vec<(ClassId, f64)>>>()?;
            Ok(Decision::Label {
                item: item(items, *row)?,
                classes: Share::of(&classes),
                adjudicates,
            })
        };
        let labels = told.iter().map(label).collect::<Result<_, Failure>>()?;
        let add = |name: &&String| Decision::AddClass {
            name: name.to_string(),
        };
        let mut all = new
            .iter()
            .map(|name| submission("", vec![add(name)], false))
            .collect::<Result<Vec<Submission>, Failure>>()?;
        all.push(Submission {
            provenance,
            ..submission(annotator, labels, replace)?
        });
        if !new.is_empty() {
            project.would_take(&all)?;
        }
        let answers: dial_store::Result<Vec<Receipt>> =
            project.submit(&all, now()).into_iter().collect();
        Ok::<_, Failure>(answers?.pop().expect("one answer to each submission"))
    })??;
    local.session()?;
    Ok(receipt)
}

/// Refuses an answer that contradicts one of the same annotator. A project would store it as a conflict; here it is an error.
fn contradicts(
    log: &Log,
    item: &str,
    row: usize,
    classes: &[(String, f64)],
    annotator: &str,
) -> Result<(), Failure> {
    let Some(label) = log.label_of(item, annotator) else {
        return Ok(());
    };
    let named = |(name, weight): &(String, f64)| {
        let same =
            |(class, other): &(ClassId, f64)| log.class_name(*class) == name && other == weight;
        label.iter().any(same)
    };
    if label.len() == classes.len() && classes.iter().all(named) {
        return Ok(());
    }
    let stands = log.label_in_words(&label);
    let names: Vec<&str> = classes.iter().map(|(name, _)| name.as_str()).collect();
    Err(Failure::conflict(format!(
        "row {row} is {stands} already, and {} now. Nothing was changed. Pass replace=True to change it.",
        names.join(" or ")
    )))
}

/// Writes a project in memory into a folder, with its rows, or a copy of one on disk.
pub fn save(
    local: &mut Local,
    folder: &Path,
    rows: Option<Plain<'_>>,
    control: &Control,
) -> Result<(), Failure> {
    if local.is_served() {
        let text = "the page has the project. Stop it first: page.stop().";
        return Err(Failure::usage(text));
    }
    let prepared = Arc::clone(local.prepared()?);
    let print = rows.map(|rows| Fingerprint::of_rows(rows.values, rows.n, rows.dim));
    local.change(|project| {
        if let (None, Some(print)) = (project.folder(), print) {
            name_rows(project, folder, print)?;
        }
        let recipe = project.log().recipe().cloned();
        let fill = |folder: &Folder| {
            let (Some(rows), Some(print), Some(recipe)) = (rows, print, &recipe) else {
                return Ok(());
            };
            let data = match rows.values {
                dial::features::Values::F32(values) => SavedData::F32(values),
                dial::features::Values::F64(values) => SavedData::F64(values),
            };
            write_npy(&folder.0.join(FEATURES), &Saved::matrix(data, rows.dim))?;
            keep_graph(&prepared.engine, recipe, folder, (rows.dim, print), control)
        };
        Ok(project.save(
            folder,
            Journal::Wal,
            &[PYTHON_LABELS_KEY, ASKABLE],
            fill,
            now(),
        )?)
    })?
}

/// Says in the log of a project in memory where its rows are going to be.
fn name_rows(project: &mut Project, folder: &Path, print: Fingerprint) -> Result<(), Failure> {
    let Some(known) = project.log().recipe().cloned() else {
        return Ok(());
    };
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let recipe = Recipe {
        pool: folder.join(FEATURES).display().to_string(),
        features: print.to_string(),
        graph: known.graph.clone().map(|given| GivenGraph {
            file: Folder(folder.clone()).graph(),
            ..given
        }),
        ..known.clone()
    };
    if !known.features.is_empty() && known.features != recipe.features {
        return Err(Failure::usage(
            "X has changed since the graph was made of it. Make a new session of it.",
        ));
    }
    if known != recipe {
        project.change_pool(recipe, None, random_id()?, now())?;
    }
    Ok(())
}
