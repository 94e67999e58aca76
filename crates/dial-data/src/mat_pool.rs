//! A pool from a MATLAB file: n x d features, or an h x w x b cube as h w pixels (row by row) of b bands.

use crate::array::{Array, count};
use crate::error::{Fault, Result};
use crate::mat::{self, Variable};
use crate::pool::{Draft, ReadOptions};
use crate::truth::Truth;

const LABELS: [&str; 4] = ["labels", "label", "y", "gt"];

/// Reads a pool.
pub(crate) fn read(bytes: &[u8], place: &str, options: &ReadOptions) -> Result<Draft> {
    let here = |fault: Fault| fault.at(place);
    let variables = mat::variables(bytes).map_err(here)?;
    let wanted = options.label_column.as_deref();
    let chosen = choose(&variables, options.variable.as_deref(), &|variable| {
        wanted != Some(variable.name.as_str())
            && !LABELS.contains(&variable.name.as_str())
            && variable.shape.iter().filter(|&&length| length > 1).count() >= 2
    });
    let chosen = chosen.map_err(here)?;
    let inside = |fault: Fault| fault.at(format!("{place}: array {}", chosen.name));
    let array = flatten_cube(chosen.read().map_err(inside)?);
    let (matrix, show) = array.into_features().map_err(inside)?;
    let mut draft = Draft::new(matrix, show);
    let labels = match wanted.filter(|_| options.labels_file.is_none()) {
        Some(name) if name == chosen.name => {
            return Err(here(Fault::Setting(format!("features and labels cannot be the same array, {name:?}."))));
        }
        Some(name) => Some(choose(&variables, Some(name), &|_| true).map_err(here)?),
        None => variables.iter().find(|v| LABELS.contains(&v.name.as_str()) && v.class.is_ok()),
    };
    if let Some(variable) = labels.filter(|v| options.labels_file.is_none() && v.name != chosen.name) {
        let inside = |fault: Fault| fault.at(format!("{place}: array {}", variable.name));
        let names = variable.read().and_then(Array::into_labels).map_err(inside)?;
        if names.len() != draft.n {
            return Err(inside(Fault::Labels(format!("{} labels for {} rows.", names.len(), draft.n))));
        }
        draft.truth = Some(Truth::from_names(&names).map_err(|error| inside(error.fault))?);
        draft.notes.push(format!("labels are the array {}", variable.name));
    }
    let free = |v: &&Variable<'_>| v.name != chosen.name && v.class.is_ok() && count(&v.shape) == Some(draft.n);
    draft.could_be_labels = variables.iter().filter(free).map(|variable| variable.name.clone()).collect();
    Ok(draft)
}

/// The labels in a file of their own, in C order.
pub(crate) fn labels(bytes: &[u8], options: &ReadOptions) -> std::result::Result<Vec<String>, Fault> {
    let variables = mat::variables(bytes)?;
    let asked = variables.iter().find(|v| options.label_column.as_ref() == Some(&v.name));
    let usual = || variables.iter().find(|v| LABELS.contains(&v.name.as_str()) && v.class.is_ok());
    let named = asked.or_else(usual);
    let chosen = match named {
        Some(variable) => variable,
        None => choose(&variables, None, &|variable| variable.shape.len() == 2)?,
    };
    chosen.read()?.into_labels()
}

fn choose<'v, 'a>(
    variables: &'v [Variable<'a>],
    name: Option<&str>,
    possible: &dyn Fn(&Variable<'a>) -> bool,
) -> std::result::Result<&'v Variable<'a>, Fault> {
    let all = match variables {
        [] => "nothing".to_string(),
        _ => variables.iter().map(Variable::in_words).collect::<Vec<_>>().join(", "),
    };
    let named = |name: &str| variables.iter().find(|variable| variable.name == name);
    if let Some(name) = name {
        return named(name).ok_or_else(|| Fault::Setting(format!("there is no variable {name:?}; found {all}.")));
    }
    if let Some(variable) = named("X").filter(|variable| variable.class.is_ok()) {
        return Ok(variable);
    }
    let numeric: Vec<_> = variables.iter().filter(|variable| variable.class.is_ok()).collect();
    let candidates: Vec<_> = numeric.iter().copied().filter(|variable| possible(variable)).collect();
    match (candidates.as_slice(), numeric.as_slice()) {
        ([only], _) | ([], [only]) => Ok(only),
        (_, []) => Err(Fault::format(format!("no numeric array; found {all}"), "Save the features as a full matrix.")),
        _ => Err(Fault::format(format!("several arrays are possible: {all}"), "Choose one with --variable.")),
    }
}

fn flatten_cube(array: Array) -> Array {
    match *array.shape.as_slice() {
        [h, w, bands] => Array { shape: vec![h.saturating_mul(w), bands], ..array },
        _ => array,
    }
}
