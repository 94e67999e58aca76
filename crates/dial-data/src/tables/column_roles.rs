//! What the columns of a sheet are for: ids, labels, texts, pictures, features, or something to read beside them.
//!
//! Columns are named by the options, else known by their names; texts and pictures also by what their cells look like.
//! A sheet with a column of texts or of pictures is shown by them, and its features are made of them ([`crate::tables::item_view`]).
//! Anything else is a table of numbers and categories ([`crate::tables::categorical`]).

use std::collections::HashSet;

use crate::error::{Fault, first_quoted};
use crate::media::image_list;
use crate::media::text_lines;
use crate::pool::ids;
use crate::pool::truth::{self, Truth};
use crate::pool::{Draft, ReadOptions};
use crate::tables::frame::{Column, Sheet};
use crate::tables::item_view::{self, IMAGE_NAMES, TEXT_NAMES};

/// Default names, the earlier the better.
const ID_NAMES: [&str; 1] = ["id"];
const LABEL_NAMES: [&str; 5] = ["label", "labels", "class", "target", "y"];
/// The name that pandas gives to a nameless index in Parquet and Arrow.
const PANDAS_INDEX: &str = "__index_level_0__";

/// The columns that are known by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Roles {
    pub id: Option<usize>,
    pub label: Option<usize>,
    pub text: Option<usize>,
    pub image: Option<usize>,
    pub dropped: Vec<usize>,
    /// A first column without a name, which may be an index, and how many such columns stand there.
    pub index: Option<usize>,
    pub levels: usize,
}

impl Roles {
    /// By names and options; `named` says whether the names are from the file.
    pub fn new(names: &[String], named: bool, options: &ReadOptions) -> Result<Roles, Fault> {
        for name in &options.drop_columns {
            column(names, name)?;
        }
        // Of columns with one name, all.
        let dropped: Vec<usize> = (0..names.len())
            .filter(|&at| options.drop_columns.contains(&names[at]))
            .collect();
        let find = |asked: &Option<String>, default: &[&str]| {
            find(names, asked.as_deref(), default, named, &dropped)
        };
        let mut roles = Roles {
            id: find(&options.id_column, &ID_NAMES)?,
            label: find(&options.label_column, &LABEL_NAMES)?,
            text: find(&options.text_column, &[])?,
            image: find(&options.image_column, &[])?,
            index: None,
            levels: 0,
            dropped,
        };
        roles.differ()?;
        roles.alone(names)?;
        let nameless = |name: &String| name.is_empty() || name == PANDAS_INDEX;
        let first = names
            .iter()
            .position(nameless)
            .filter(|&at| named && names.len() > 1 && (at == 0 || !names[at].is_empty()));
        roles.index = first.filter(|&at| !roles.taken(at));
        roles.levels = names.iter().take_while(|name| name.is_empty()).count();
        Ok(roles)
    }

    fn differ(&self) -> Result<(), Fault> {
        let used = [
            (self.id, "ids"),
            (self.label, "labels"),
            (self.text, "texts"),
            (self.image, "pictures"),
        ];
        for (place, (column, what)) in used.iter().enumerate() {
            if let Some((_, other)) = used
                .iter()
                .take(place)
                .find(|(earlier, _)| column.is_some() && earlier == column)
            {
                return Err(Fault::Setting(format!(
                    "{other} and {what} cannot be the same column."
                )));
            }
        }
        Ok(())
    }

    /// A name that gives a column its role must not stand above another.
    fn alone(&self, names: &[String]) -> Result<(), Fault> {
        for at in [self.id, self.label, self.text, self.image]
            .into_iter()
            .flatten()
        {
            let name = names.get(at).map_or("", String::as_str);
            if names.iter().filter(|other| *other == name).count() > 1 {
                return Err(Fault::Setting(format!(
                    "more than one column is named {name:?}: rename all but one."
                )));
            }
        }
        Ok(())
    }

    fn taken(&self, column: usize) -> bool {
        [self.id, self.label, self.text, self.image].contains(&Some(column))
            || self.dropped.contains(&column)
    }

    /// Whether a reader must keep the cells of a column as they are written.
    pub fn as_written(&self, column: usize) -> bool {
        [self.id, self.label, self.text, self.image, self.index].contains(&Some(column))
    }
}

/// Whether the options name a column so, and not by its number.
pub(crate) fn is_asked(name: &str, options: &ReadOptions) -> bool {
    let asked = [
        &options.id_column,
        &options.label_column,
        &options.text_column,
        &options.image_column,
    ];
    let given = asked
        .into_iter()
        .flatten()
        .chain(&options.drop_columns)
        .any(|given| given == name);
    given && name.parse::<usize>().is_err()
}

/// Whether a name means something to us.
pub(crate) fn is_known(name: &str) -> bool {
    let known = [&ID_NAMES[..], &LABEL_NAMES, &TEXT_NAMES, &IMAGE_NAMES];
    known
        .into_iter()
        .flatten()
        .any(|known| name.eq_ignore_ascii_case(known))
}

fn column(names: &[String], asked: &str) -> Result<usize, Fault> {
    let missing = || match names {
        [] => Fault::Setting(format!("there is no column {asked:?}, nor any other.")),
        _ => Fault::Setting(format!(
            "there is no column {asked:?}; the columns are {}.",
            first_quoted(names, ", ")
        )),
    };
    names
        .iter()
        .position(|name| name == asked)
        .ok_or_else(missing)
}

fn find(
    names: &[String],
    asked: Option<&str>,
    default: &[&str],
    named: bool,
    dropped: &[usize],
) -> Result<Option<usize>, Fault> {
    if let Some(asked) = asked {
        let column = column(names, asked)?;
        if dropped.contains(&column) {
            return Err(Fault::Setting(format!(
                "column {asked:?} cannot be used and left out."
            )));
        }
        return Ok(Some(column));
    }
    let columns = || {
        names
            .iter()
            .enumerate()
            .filter(|(column, _)| !dropped.contains(column))
    };
    let same = |wanted: &str| {
        columns()
            .find(|(_, name)| name.eq_ignore_ascii_case(wanted))
            .map(|(column, _)| column)
    };
    // A y beside an x is a coordinate.
    let usable = |wanted: &&&str| **wanted != "y" || same("x").is_none();
    Ok(if named {
        default
            .iter()
            .filter(usable)
            .find_map(|wanted| same(wanted))
    } else {
        None
    })
}

/// The pool that a sheet holds; `place` is the file, for the pictures beside it.
pub(crate) fn draft(
    mut sheet: Sheet,
    mut roles: Roles,
    place: &str,
    options: &ReadOptions,
) -> Result<Draft, Fault> {
    if sheet.rows == 0 {
        let what = match sheet.columns.is_empty() {
            true => "no rows",
            false => "the table has column names but no rows",
        };
        return Err(Fault::Shape(what.into()));
    }
    let index_note = take_index(&mut sheet, &mut roles);
    let mut taken: Vec<Option<Column>> = sheet.columns.drain(..).map(Some).collect();
    let mut take =
        |column: Option<usize>| column.and_then(|at| Some((at, taken.get_mut(at)?.take()?)));
    let (id, label) = (take(roles.id), take(roles.label));
    roles.dropped.iter().for_each(|&at| drop(take(Some(at))));
    let mut rest: Vec<(String, Column)> = sheet
        .names
        .iter()
        .zip(taken)
        .filter_map(|(name, column)| Some((name.clone(), column?)))
        .collect();
    // What spreadsheets leave behind at the right of a table.
    rest.retain(|(name, column)| !name.is_empty() || !column.is_empty());
    let mut notes = std::mem::take(&mut sheet.notes);
    notes.extend(same_names(&sheet.names));
    let mut draft = item_view::draft(&sheet, &roles, &mut rest, &mut notes, place, options)?;
    attach(
        &mut draft,
        &sheet,
        id.map(|(_, column)| column),
        label,
        options,
    )?;
    draft.notes.append(&mut notes);
    draft.notes.extend(index_note);
    if let Some((kept, total)) = sheet.kept {
        if draft.ids.is_none() {
            draft.ids = Some(kept.iter().map(usize::to_string).collect());
        }
        draft.kept = Some((kept, total));
    }
    let names = draft
        .lines
        .take()
        .map(|(_, names)| names)
        .unwrap_or_default();
    draft.lines = sheet.lines.map(|lines| (lines, names));
    image_list::leave_out_missing(&mut draft, options)?;
    text_lines::leave_out_empty(&mut draft, options)?;
    Ok(draft)
}

/// What is to be said of names that stand above several columns.
fn same_names(names: &[String]) -> Option<String> {
    let mut seen = HashSet::new();
    let twice: Vec<&String> = names
        .iter()
        .filter(|name| !name.is_empty() && !seen.insert(name.as_str()))
        .collect();
    let listed = first_quoted(&twice, ", ");
    (!twice.is_empty())
        .then(|| format!("several columns have the same name: {listed}; each is used separately"))
}

/// Takes a first column without a name for the ids, or leaves it out where there are ids already.
fn take_index(sheet: &mut Sheet, roles: &mut Roles) -> Option<String> {
    let at = roles.index?;
    if roles.levels > 1 && roles.levels < sheet.names.len() {
        roles.dropped.extend(
            (0..roles.levels)
                .filter(|&level| !roles.taken(level))
                .collect::<Vec<_>>(),
        );
        return Some(format!(
            "the first {} columns have no names: they are taken for an index and left out",
            roles.levels
        ));
    }
    let column = sheet.columns.get_mut(at)?;
    let cells = std::mem::replace(column, Column::Other(String::new())).into_words(sheet.rows);
    let mut seen = HashSet::new();
    let distinct = cells
        .iter()
        .all(|cell| !cell.trim().is_empty() && seen.insert(ids::normal(cell)));
    *column = Column::Words(cells);
    if !distinct {
        *column = std::mem::replace(column, Column::Other(String::new())).settled();
        return None;
    }
    if roles.id.is_some() {
        roles.dropped.push(at);
        return Some("the first column has no name: it is taken for an index and left out".into());
    }
    roles.id = Some(at);
    Some("the first column has no name: it is taken for the ids".into())
}

fn attach(
    draft: &mut Draft,
    sheet: &Sheet,
    id: Option<Column>,
    label: Option<(usize, Column)>,
    options: &ReadOptions,
) -> Result<(), Fault> {
    if let Some(column) = id {
        if let Column::Other(what) = &column {
            return Err(Fault::Kind(format!("{what} where ids are expected")));
        }
        let (ids, notes) = ids::checked(column.into_words(sheet.rows), |row| sheet.place(row))?;
        draft.ids = Some(ids);
        draft.notes.extend(notes);
    }
    if let Some((at, column)) = label {
        let name = sheet.names.get(at).map_or("", String::as_str);
        if options.labels_file.is_some() {
            draft
                .notes
                .push(format!("the labels in the column {name} are not used"));
            return Ok(());
        }
        if let Column::Other(what) = &column {
            return Err(Fault::Labels(format!(
                "the column {name} holds {what}: it must hold one class in each row."
            )));
        }
        let names = truth::class_names(column.into_words(sheet.rows), |row| {
            sheet.place(row).in_words()
        })?;
        draft.truth = Some(Truth::from_names(&names).map_err(|error| error.fault)?);
        draft.notes.push(format!("labels are the column {name}"));
    }
    Ok(())
}
