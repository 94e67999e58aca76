//! NumPy's npz archives: several npy arrays, by name.
//!
//! Features are the array `X`, or the only one that can be features; labels are `labels` or `y`, or the array that the
//! options name, or the ground truth of a scene (`gt`, or an array of its sides whose name ends so); ids are `ids`, or `id`
//! if it has one value for each row.

use std::path::Path;

use crate::arrays::array::{Array, count, shape_in_words};
use crate::arrays::npy::{self, HEADER_LIMIT, Header, Kind};
use crate::arrays::zip::{self, Member};
use crate::error::{Error, Fault, Result};
use crate::open;
use crate::open::formats::NamedArray;
use crate::open::labels::{self, RowLabels};
use crate::pool::show::Show;
use crate::pool::{Draft, ReadOptions};

/// All arrays of an npz file, in the order of its directory.
pub fn read_npz(path: impl AsRef<Path>) -> Result<Vec<(String, Array)>> {
    let place = path.as_ref().display().to_string();
    let bytes = crate::open::read_file(&place)?;
    arrays(&bytes, &place)?
        .iter()
        .map(|array| Ok((array.name.clone(), array.read(&place)?)))
        .collect()
}

/// An array of the archive, its header read.
pub(crate) struct Stored<'a> {
    pub name: String,
    member: Member<'a>,
    header: Result<Header, Fault>,
}

impl Stored<'_> {
    /// The whole array.
    pub fn read(&self, place: &str) -> Result<Array> {
        let here = |fault: Fault| fault.at(format!("{place}: array {}", self.name));
        self.header.clone().map_err(here)?;
        npy::read(&self.member.read().map_err(here)?).map_err(here)
    }

    /// The same as labels.
    fn labels(&self, place: &str) -> Result<RowLabels> {
        let here = |fault: Fault| fault.at(format!("{place}: array {}", self.name));
        RowLabels::of(self.read(place)?).map_err(here)
    }

    fn shape(&self) -> &[usize] {
        self.header
            .as_ref()
            .map(|header| header.shape.as_slice())
            .unwrap_or_default()
    }

    fn numeric(&self) -> bool {
        self.header
            .as_ref()
            .is_ok_and(|header| matches!(header.kind, Kind::Number(_)))
    }

    /// Whether it has a number or a text for each of n rows.
    fn holds(&self, n: usize) -> bool {
        self.header.is_ok()
            && matches!(*self.shape(), [length] | [length, 1] | [1, length] if length == n)
    }

    fn in_words(&self) -> String {
        match &self.header {
            Ok(_) => format!("{} ({})", self.name, shape_in_words(self.shape())),
            Err(_) => format!("{} (unreadable)", self.name),
        }
    }
}

/// Arrays of these names hold labels, not features.
const LABEL_ARRAYS: [&str; 6] = ["labels", "label", "y", "gt", "target", "targets"];

/// Whether a name ends as those of ground truths do.
pub(crate) fn names_truth(name: &str) -> bool {
    ["gt", "truth", "labels", "map"]
        .iter()
        .any(|end| name.to_lowercase().ends_with(end))
}

/// The arrays of an archive. Members that are not npy files are skipped.
pub(crate) fn arrays<'a>(bytes: &'a [u8], place: &str) -> Result<Vec<Stored<'a>>> {
    let members = zip::members(bytes).map_err(|fault| fault.at(place))?;
    let stored = |member: Member<'a>| {
        let name = member.name.strip_suffix(".npy")?.to_string();
        let header = npy::header(&member.beginning(HEADER_LIMIT + 12), member.size);
        Some(Stored {
            name,
            member,
            header,
        })
    };
    Ok(members.into_iter().filter_map(stored).collect())
}

/// Reads a pool.
pub(crate) fn read(bytes: &[u8], place: &str, options: &ReadOptions) -> Result<Draft> {
    let arrays = arrays(bytes, place)?;
    let find = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| arrays.iter().find(|array| array.name == *name))
    };
    let chosen = choose(&arrays, options).map_err(|fault| fault.at(place))?;
    let here = |fault: Fault| fault.at(format!("{place}: array {}", chosen.name));
    let mut draft = open::guessed_draft(chosen.read(place)?, options).map_err(here)?;
    let array = match &options.label_column {
        Some(name) => {
            Some(named_labels(&arrays, name, &chosen.name).map_err(|fault| fault.at(place)))
        }
        None => find(&["labels", "y"])
            .filter(|array| array.name != chosen.name)
            .or_else(|| map(&arrays, &draft))
            .map(Ok),
    };
    if let Some(array) = array
        .filter(|_| options.labels_file.is_none())
        .transpose()?
    {
        attach(&mut draft, array, place)?;
        draft
            .notes
            .push(format!("labels are the array {}", array.name));
    }
    let id = find(&["ids"]).or_else(|| {
        find(&["id"]).filter(|array| array.holds(draft.n) && array.name != chosen.name)
    });
    let id = id.filter(|_| !matches!(draft.show, Show::Scene(_)));
    if let Some(array) = id {
        draft.ids = Some(ids(array, place, draft.n)?);
    }
    let used =
        |array: &Stored<'_>| array.name == "ids" || id.is_some_and(|id| id.name == array.name);
    let rows = draft.kept.as_ref().map_or(draft.n, |(_, total)| *total);
    let scene = matches!(draft.show, Show::Scene(_));
    let holds =
        |array: &Stored<'_>| array.holds(rows) || (scene && count(array.shape()) == Some(rows));
    let free = |array: &&Stored<'_>| array.name != chosen.name && !used(array) && holds(array);
    draft.could_be_labels = arrays
        .iter()
        .filter(free)
        .map(|array| array.name.clone())
        .collect();
    draft.named_arrays = true;
    Ok(draft)
}

/// The labels of a separate file: of the array that was asked for, `labels`, `y`, or the only one.
pub(crate) fn labels(bytes: &[u8], place: &str, options: &ReadOptions) -> Result<RowLabels> {
    let arrays = arrays(bytes, place)?;
    let names = options
        .label_column
        .as_deref()
        .into_iter()
        .chain(["labels", "y"]);
    let named = names
        .into_iter()
        .find_map(|name| arrays.iter().find(|array| array.name == name));
    let chosen = match (named, arrays.as_slice()) {
        (Some(array), _) | (None, [array]) => array,
        _ => return Err(Fault::Labels("there is no array named labels or y.".into()).at(place)),
    };
    chosen.labels(place)
}

/// All arrays.
pub(crate) fn list<'a>(bytes: &'a [u8], place: &'a str) -> Result<Vec<NamedArray<'a>>> {
    let named = |stored: Stored<'a>| NamedArray {
        name: stored.name.clone(),
        read: Box::new(move || stored.read(place)),
    };
    Ok(arrays(bytes, place)?.into_iter().map(named).collect())
}

/// The ground truth of a scene, as MATLAB files have it: an array of its sides whose name ends so.
fn map<'s, 'a>(arrays: &'s [Stored<'a>], draft: &Draft) -> Option<&'s Stored<'a>> {
    let Show::Scene(scene) = &draft.show else {
        return None;
    };
    let sides = |array: &&Stored<'_>| *array.shape() == [scene.height, scene.width];
    arrays
        .iter()
        .filter(sides)
        .find(|array| names_truth(&array.name))
}

/// The array of labels by name.
fn named_labels<'s, 'a>(
    arrays: &'s [Stored<'a>],
    name: &str,
    features: &str,
) -> Result<&'s Stored<'a>, Fault> {
    if name == features {
        return Err(Fault::Setting(format!(
            "features and labels cannot be the same array, {name:?}."
        )));
    }
    let missing = || {
        Fault::Setting(format!(
            "there is no array {name:?}; found {}.",
            in_words(arrays)
        ))
    };
    arrays
        .iter()
        .find(|array| array.name == name)
        .ok_or_else(missing)
}

fn in_words(arrays: &[Stored<'_>]) -> String {
    match arrays {
        [] => "no arrays".to_string(),
        _ => arrays
            .iter()
            .map(Stored::in_words)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

fn choose<'s, 'a>(
    arrays: &'s [Stored<'a>],
    options: &ReadOptions,
) -> Result<&'s Stored<'a>, Fault> {
    let all = || in_words(arrays);
    let is_label = |array: &Stored<'_>| options.label_column.as_deref() == Some(&array.name);
    let named = |name: &str| arrays.iter().find(|array| array.name == name);
    if let Some(name) = &options.variable {
        return named(name).ok_or_else(|| {
            Fault::Setting(format!("there is no array {name:?}; found {}.", all()))
        });
    }
    if let Some(array) = named("X") {
        return Ok(array);
    }
    let dimensions = if options.kind == Some(crate::pool::Kind::Scene) {
        3
    } else {
        2
    };
    let label = |array: &Stored<'_>| is_label(array) || LABEL_ARRAYS.contains(&array.name.as_str());
    let fits =
        |array: &Stored<'_>| array.numeric() && array.shape().len() == dimensions && !label(array);
    let possible: Vec<_> = arrays.iter().filter(|array| fits(array)).collect();
    match (possible.as_slice(), arrays) {
        ([only], _) => Ok(only),
        ([], [only]) => Ok(only),
        ([], _) => Err(Fault::format(
            format!("no array X and no matrix; found {}", all()),
            "Name the features X, or choose with --variable (a cube of height x width x bands: --as scene).",
        )),
        _ => Err(Fault::format(
            format!("several arrays could be the features: {}", all()),
            "Name the features X, or choose with --variable.",
        )),
    }
}

/// Gives a draft the labels of an array.
fn attach(draft: &mut Draft, array: &Stored<'_>, place: &str) -> Result<()> {
    let here = |fault: Fault| fault.at(format!("{place}: array {}", array.name));
    labels::give(draft, array.labels(place)?).map_err(here)
}

fn ids(array: &Stored<'_>, place: &str, n: usize) -> Result<Vec<String>> {
    let here = |fault: Fault| -> Error { fault.at(format!("{place}: array {}", array.name)) };
    let neither = || here(Fault::Ids("the ids are neither text nor integers.".into()));
    let ids = array.read(place)?.data.into_ids().ok_or_else(neither)?;
    match ids.len() == n {
        true => Ok(ids),
        false => Err(here(Fault::Ids(format!("{} ids for {n} rows.", ids.len())))),
    }
}
