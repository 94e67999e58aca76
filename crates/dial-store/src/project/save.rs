//! A project of one place written to another: from memory into a folder, or a folder brought up to what memory has.

use std::path::Path;

use crate::error::{Error, Result};
use crate::log::sqlite::{Journal, Sqlite};
use crate::log::store::Store;
use crate::project::folder::{self, Folder};
use crate::project::{Project, keep_items};

impl Project {
    /// Writes this project into a folder: a new one, for which `fill` adds what else belongs there, or one that holds an
    /// earlier state of this very project, which gets what is new. Whatever was kept under these names goes along.
    ///
    /// # Errors
    /// A folder that holds something else, or labels that are not known here (S11); what the disk fails with.
    pub fn save(
        &mut self,
        folder: &Path,
        journal: Journal,
        names: &[&str],
        fill: impl FnOnce(&Folder) -> Result<()>,
        now: u64,
    ) -> Result<()> {
        if folder.exists() {
            return self.save_again(folder, journal, names, now);
        }
        folder::made_at_once(folder, journal, |part| {
            let paths = Folder(part.to_path_buf());
            let mut store = Sqlite::create(&paths.database(), self.id(), now, journal)?;
            if let Some(recipe) = self.log().recipe().cloned() {
                let ids = self.own_ids()?;
                keep_items(&mut store, &recipe, ids.as_deref())?;
            }
            store.append(&self.log().chained(0))?;
            self.keep_along(&mut store, names)?;
            store.close();
            fill(&paths)
        })
    }

    fn save_again(
        &mut self,
        folder: &Path,
        journal: Journal,
        names: &[&str],
        now: u64,
    ) -> Result<()> {
        let mut there = Project::open(folder, journal, now)?;
        let (known, mine) = (there.log().version() as usize, self.log());
        if there.id() != self.id() || mine.records().get(..known) != Some(there.log().records()) {
            return Err(Error::Restore(format!(
                "{} holds another project, or labels that are not known here. Nothing was changed. Open it and go on \
                 from there, or choose another folder.",
                folder.display()
            )));
        }
        let new = mine.chained(known as u64);
        if !new.is_empty() {
            there.store().append(&new)?;
        }
        self.keep_along(there.store(), names)?;
        there.close();
        Ok(())
    }

    fn keep_along(&mut self, store: &mut dyn Store, names: &[&str]) -> Result<()> {
        for name in names {
            if let Some(bytes) = self.kept(name)? {
                store.keep(&format!("cache/{name}"), &bytes)?;
            }
        }
        Ok(())
    }
}
