//! A pool from a MATLAB file: n x d features, or an h x w x b cube as a scene of h w pixels (row by row) of b bands.
//!
//! The ground truth of a cube is an h x w array of whole numbers, in the same file or in a separate one. Ids of rows are
//! the array `ids` or `id`, of whole numbers or of text (a row of letters for each), if it has one for each row.

use crate::arrays::array::{Array, ArrayData, count};
use crate::arrays::mat::{self, Variable};
use crate::arrays::npz;
use crate::error::{Fault, Result};
use crate::open::formats::NamedArray;
use crate::open::labels::{self, RowLabels};
use crate::pool::{Draft, Kind, ReadOptions};
use crate::scenes::cube::Cube;

const LABEL_VARIABLES: [&str; 4] = ["labels", "label", "y", "gt"];

/// Reads a pool.
pub(crate) fn read(bytes: &[u8], place: &str, options: &ReadOptions) -> Result<Draft> {
    let here = |fault: Fault| fault.at(place);
    let variables = mat::variables(bytes).map_err(here)?;
    let chosen = features(&variables, options).map_err(here)?;
    let mut draft = draft(chosen, options)
        .map_err(|fault| fault.at(format!("{place}: array {}", chosen.name)))?;
    if let Some(variable) = truth(&variables, chosen, options).map_err(here)? {
        let inside = |fault: Fault| fault.at(format!("{place}: array {}", variable.name));
        let names = variable.read().and_then(RowLabels::of).map_err(inside)?;
        labels::give(&mut draft, names).map_err(inside)?;
        draft
            .notes
            .push(format!("labels are the array {}", variable.name));
    }
    let rows = draft.kept.as_ref().map_or(draft.n, |(_, total)| *total);
    let id = ["ids", "id"]
        .iter()
        .find_map(|name| variables.iter().find(|variable| variable.name == *name));
    let id = id.filter(|id| id.name != chosen.name && draft.ids.is_none());
    draft.ids = draft.ids.or(id.and_then(|id| ids(id, rows)));
    let used = |v: &Variable<'_>| v.name == chosen.name || id.is_some_and(|id| id.name == v.name);
    let free = |v: &&Variable<'_>| !used(v) && v.class.is_ok() && count(&v.shape) == Some(rows);
    draft.named_arrays = true;
    draft.could_be_labels = variables
        .iter()
        .filter(free)
        .map(|variable| variable.name.clone())
        .collect();
    Ok(draft)
}

fn draft(chosen: &Variable<'_>, options: &ReadOptions) -> Result<Draft, Fault> {
    if chosen.shape.len() == 3 || options.kind == Some(Kind::Scene) {
        return Cube::of(chosen.read()?)?.into_draft(options);
    }
    let (matrix, show) = chosen.read()?.into_features()?;
    Ok(Draft::new(matrix, show))
}

/// The ids in an array, if it has one for each of n rows.
fn ids(variable: &Variable<'_>, n: usize) -> Option<Vec<String>> {
    let ids = match variable.class {
        Err(_) => variable.text_rows().ok()?,
        Ok(_) => variable.read().ok()?.data.into_ids()?,
    };
    Some(ids).filter(|ids: &Vec<String>| ids.len() == n)
}

/// The array of features: as asked for, the only cube, or the only array that is not a vector.
fn features<'v, 'a>(
    variables: &'v [Variable<'a>],
    options: &ReadOptions,
) -> Result<&'v Variable<'a>, Fault> {
    let wanted = options.label_column.as_deref();
    let (asked, usual) = (
        options.variable.as_deref(),
        variables.iter().any(|variable| variable.name == "X"),
    );
    let cubes: Vec<_> = variables
        .iter()
        .filter(|v| v.class.is_ok() && v.shape.len() == 3)
        .collect();
    match cubes.as_slice() {
        [cube] if asked.is_none() && !usual && wanted != Some(&cube.name) => Ok(cube),
        _ => choose(variables, (asked, "--variable"), &|variable| {
            wanted != Some(variable.name.as_str())
                && !LABEL_VARIABLES.contains(&variable.name.as_str())
                && variable.shape.iter().filter(|&&length| length > 1).count() >= 2
        }),
    }
}

/// The array of labels, unless they are in a separate file: as asked for, by its usual name, or the ground truth of a
/// cube by the end of its name.
fn truth<'v, 'a>(
    variables: &'v [Variable<'a>],
    chosen: &Variable<'a>,
    options: &ReadOptions,
) -> Result<Option<&'v Variable<'a>>, Fault> {
    if options.labels_file.is_some() {
        return Ok(None);
    }
    if let Some(name) = options.label_column.as_deref() {
        return match name == chosen.name {
            true => Err(Fault::Setting(format!(
                "features and labels cannot be the same array, {name:?}."
            ))),
            false => choose(variables, (Some(name), "--label-column"), &|_| true).map(Some),
        };
    }
    let others = || {
        variables
            .iter()
            .filter(|v| v.class.is_ok() && v.name != chosen.name)
    };
    let named = others().find(|v| LABEL_VARIABLES.contains(&v.name.as_str()));
    let map = || {
        let sides = chosen.shape.get(..2).filter(|_| chosen.shape.len() == 3)?;
        others().find(|v| v.shape == sides && npz::names_truth(&v.name))
    };
    Ok(named.or_else(map))
}

/// The labels of a separate file, in C order.
pub(crate) fn labels(bytes: &[u8], place: &str, options: &ReadOptions) -> Result<RowLabels> {
    let labels = || {
        let variables = mat::variables(bytes)?;
        let asked = variables
            .iter()
            .find(|v| options.label_column.as_ref() == Some(&v.name));
        let usual = || {
            variables
                .iter()
                .find(|v| LABEL_VARIABLES.contains(&v.name.as_str()) && v.class.is_ok())
        };
        let chosen = match asked.or_else(usual) {
            Some(variable) => variable,
            None => choose(&variables, (None, "--label-column"), &|variable| {
                variable.shape.len() == 2
            })?,
        };
        RowLabels::of(chosen.read()?)
    };
    labels().map_err(|fault: Fault| fault.at(place))
}

/// All arrays; of text, a text for each row.
pub(crate) fn list<'a>(bytes: &'a [u8], place: &'a str) -> Result<Vec<NamedArray<'a>>> {
    let named = |variable: Variable<'a>| NamedArray {
        name: variable.name.clone(),
        read: Box::new(move || {
            let array = match variable.text_rows() {
                Ok(texts) => Ok(Array::vector(ArrayData::Text(texts))),
                Err(_) => variable.read(),
            };
            array.map_err(|fault| fault.at(format!("{place}: array {}", variable.name)))
        }),
    };
    let variables = mat::variables(bytes).map_err(|fault| fault.at(place))?;
    Ok(variables.into_iter().map(named).collect())
}

/// The variable that was asked for, or the only possible one; `option` is what chooses another.
fn choose<'v, 'a>(
    variables: &'v [Variable<'a>],
    (name, option): (Option<&str>, &str),
    possible: &dyn Fn(&Variable<'a>) -> bool,
) -> Result<&'v Variable<'a>, Fault> {
    let all = match variables {
        [] => "nothing".to_string(),
        _ => variables
            .iter()
            .map(Variable::in_words)
            .collect::<Vec<_>>()
            .join(", "),
    };
    let named = |name: &str| variables.iter().find(|variable| variable.name == name);
    if let Some(name) = name {
        return named(name)
            .ok_or_else(|| Fault::Setting(format!("there is no variable {name:?}; found {all}.")));
    }
    // One that cannot be read says why when it is read; another one must not stand in for it.
    if let Some(variable) = named("X") {
        return Ok(variable);
    }
    let numeric: Vec<_> = variables
        .iter()
        .filter(|variable| variable.class.is_ok())
        .collect();
    let candidates: Vec<_> = numeric
        .iter()
        .copied()
        .filter(|variable| possible(variable))
        .collect();
    match (candidates.as_slice(), numeric.as_slice()) {
        ([only], _) => Ok(only),
        ([], [only]) if numeric.len() == variables.len() => Ok(only),
        ([], _) => Err(Fault::format(
            format!("no numeric matrix; found {all}"),
            "Save the features as a full matrix.",
        )),
        _ => Err(Fault::format(
            format!("several arrays are possible: {all}"),
            format!("Choose one with {option}."),
        )),
    }
}
