//! The pool of a project as it is now. One that has changed (rows added or gone, other features) is noticed here and put
//! into the log; labels are kept by the ids of their items.

use std::sync::Arc;

use dial::Control;
use dial_data::Fault;

use crate::error::{Error, Result};
use crate::project::Project;
use crate::project::prepared_pool::PreparedPool;
use crate::recipe::Recipe;

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
    pub fn prepared(&mut self, control: &Control, now: u64) -> Result<(PreparedPool, Vec<String>)> {
        let Some(folder) = self.folder().cloned() else {
            return Err(Error::Submission(
                "a project in memory has no pool file. Save the project first.".into(),
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
                next: Error::RESTORE.into(),
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
        let mut prepared =
            PreparedPool::open(&recipe, &folder, control).map_err(|error| match error {
                Error::Data(dial_data::Error {
                    place,
                    fault: Fault::Missing | Fault::MissingPool,
                }) => Error::PoolGone {
                    place,
                    project: folder.0.display().to_string(),
                },
                other => other,
            })?;
        notes.extend(self.notice(&prepared, now)?);
        if let Some(mut askable) = self.kept_askable(prepared.pool.matrix.n)? {
            if let Some(known) = &prepared.engine.askable {
                askable
                    .iter_mut()
                    .zip(known.iter())
                    .for_each(|(row, known)| *row &= known);
            }
            prepared.engine.askable = Some(Arc::new(askable));
        }
        if let Err(error) = prepared.keep_graph(&folder, control) {
            notes.push(format!(
                "the graph could not be kept and will be built again: {error}"
            ));
        }
        Ok((prepared, notes))
    }

    /// Takes note of a pool that is not what it was.
    fn notice(&mut self, prepared: &PreparedPool, now: u64) -> Result<Option<String>> {
        let (ids, rows) = (&prepared.pool.ids, prepared.pool.matrix.n);
        let before = self.item_ids()?;
        let numbered = before
            .iter()
            .enumerate()
            .all(|(row, id)| *id == row.to_string());
        let same = match ids {
            Some(ids) => *ids == before,
            None => before.len() == rows && numbered,
        };
        if same && !prepared.changed {
            return Ok(None);
        }
        let described_anew = same && described_anew(self.log().recipe(), &prepared.recipe);
        let by_row = ids.is_none() && numbered;
        if by_row && rows < before.len() {
            return Err(Error::RowsGone {
                rows,
                before: before.len(),
            });
        }
        self.change_pool(
            prepared.recipe.clone(),
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
            1 => "all labels are kept, including 1 for an item no longer in the pool".to_string(),
            gone => {
                format!("all labels are kept, including {gone} for items no longer in the pool")
            }
        };
        let what = if rows == before.len() {
            "with other features or ids"
        } else {
            "with other rows"
        };
        if described_anew {
            return Ok(Some(format!(
                "this version describes texts in another way than the version that the project was made with, so the graph was \
                 built again and questions may differ; {lost}."
            )));
        }
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

/// Whether the features were made from texts by another version of the description; recipes name it since version 2. A graph
/// that was given does not depend on it.
fn described_anew(before: Option<&Recipe>, now: &Recipe) -> bool {
    let version = before.and_then(|recipe| recipe.text_features);
    now.text_features.is_some() && now.text_features != version && now.graph.is_none()
}
