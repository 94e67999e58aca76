//! The pool of a project as it is now. One that has changed (rows added or gone, other features) is noticed here and put
//! into the log; labels are kept by the ids of their items.

use std::sync::Arc;

use dial::Control;
use dial_data::Fault;

use crate::error::{Error, Result};
use crate::project::Project;
use crate::project::opened_pool::Material;

/// The name under which the rows that may be asked are kept: a byte for each, 0 or 1.
pub const ASKABLE: &str = "askable";

impl Project {
    /// Asks for these rows only, also after the project was opened again.
    ///
    /// # Errors
    /// What the disk fails with.
    pub fn keep_askable(&mut self, askable: &[bool]) -> Result<()> {
        self.keep(
            ASKABLE,
            &askable
                .iter()
                .map(|&row| u8::from(row))
                .collect::<Vec<u8>>(),
        )
    }

    /// What may be asked, where not everything may.
    fn kept_askable(&mut self, rows: usize) -> Result<Option<Vec<bool>>> {
        let kept = self.kept(ASKABLE)?.filter(|bytes| bytes.len() == rows);
        Ok(kept.map(|bytes| bytes.iter().map(|&row| row == 1).collect()))
    }

    /// The pool and graph of this project, and what is worth saying about them, one sentence each.
    ///
    /// # Errors
    /// A project that does not say what its pool is (S9), a pool that is not where it was (I5) or that lost rows nobody can
    /// name (I7), what reading the pool and building the graph may fail with.
    pub fn material(&mut self, control: &Control, now: u64) -> Result<(Material, Vec<String>)> {
        let Some(folder) = self.folder().cloned() else {
            return Err(Error::Submission(
                "a project in memory has no pool of its own. Save it first.".into(),
            ));
        };
        let Some(recipe) = self.log().recipe().cloned() else {
            let (place, what) = (
                folder.0.display().to_string(),
                "it does not say what its pool is".into(),
            );
            return Err(Error::Damaged {
                place,
                what,
                readable: 0,
                total: "an unknown number".into(),
            });
        };
        let mut notes = Vec::new();
        if recipe.method_version != dial::METHOD_VERSION {
            notes.push(format!(
                "the project was made with version {} of the method, this is {}: questions may differ.",
                recipe.method_version,
                dial::METHOD_VERSION
            ));
        }
        let mut material =
            Material::open(&recipe, &folder, control).map_err(|error| match error {
                Error::Data(dial_data::Error {
                    place,
                    fault: Fault::Missing,
                }) => Error::PoolGone {
                    place,
                    project: folder.0.display().to_string(),
                },
                other => other,
            })?;
        notes.extend(self.notice(&material, now)?);
        if let Some(mut askable) = self.kept_askable(material.pool.matrix.n)? {
            if let Some(known) = &material.engine.askable {
                askable
                    .iter_mut()
                    .zip(known.iter())
                    .for_each(|(row, known)| *row &= known);
            }
            material.engine.askable = Some(Arc::new(askable));
        }
        if let Err(error) = material.keep_graph(&folder, control) {
            notes.push(format!(
                "the graph could not be kept and will be built again: {error}"
            ));
        }
        Ok((material, notes))
    }

    /// Takes note of a pool that is not what it was.
    fn notice(&mut self, material: &Material, now: u64) -> Result<Option<String>> {
        let (ids, rows) = (&material.pool.ids, material.pool.matrix.n);
        let before = self.item_ids()?;
        let numbered = before
            .iter()
            .enumerate()
            .all(|(row, id)| *id == row.to_string());
        let same = match ids {
            Some(ids) => *ids == before,
            None => before.len() == rows && numbered,
        };
        if same && !material.changed {
            return Ok(None);
        }
        let by_row = ids.is_none() && numbered;
        if by_row && rows < before.len() {
            return Err(Error::RowsGone {
                rows,
                before: before.len(),
            });
        }
        self.change_pool(
            material.recipe.clone(),
            ids.as_deref(),
            crate::random_id()?,
            now,
        )?;
        let gone = self
            .log()
            .live_labels()
            .iter()
            .filter(|label| !self.has_item(label.item))
            .count();
        let lost = match gone {
            0 => "all labels are kept".to_string(),
            1 => "labels are kept, also 1 label whose items are gone".to_string(),
            gone => format!("labels are kept, also {gone} labels whose items are gone"),
        };
        let what = if rows == before.len() {
            "its features or ids are others"
        } else {
            "its rows are others"
        };
        let lost = if by_row {
            format!("{lost}, by the number of their rows")
        } else {
            lost
        };
        Ok(Some(format!(
            "the pool has changed: {rows} items now, {} before, {what}; {lost}.",
            before.len()
        )))
    }
}
