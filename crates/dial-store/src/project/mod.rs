//! A project: a log on a store, the state that is its replay, and the one place where both change together.
//!
//! ```text
//! submissions -> checked against the state -> records -> one transaction, synced -> receipts
//! ```
//!
//! Several submissions share a transaction (group commit); each gets its own answer. When the disk fails, the state goes
//! back to what the disk is known to hold: everything is closed, opened again and read again, and only then is anything
//! more written. When a file beside the database was deleted or replaced, what was acknowledged is still in memory: it is
//! written again, and then the submission is tried once more.

pub(crate) mod part;
pub(crate) mod folder;
pub(crate) mod place;
pub(crate) mod exchange;
pub(crate) mod backup;
pub(crate) mod recovery;
pub(crate) mod reading;
pub(crate) mod pool_changes;
pub(crate) mod save;
pub(crate) mod prepared_pool;
pub(crate) mod snapshot;

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::decision::{Decision, Receipt, Submission};
use crate::error::{Error, Result, as_typed};
use crate::log::Log;
use crate::log::memory::Memory;
use crate::log::opening::with_ways_out;
use crate::log::record::{Chain, Entry, Record};
use crate::log::sqlite::{Journal, Sqlite};
use crate::log::store::{Lease, Store};
use crate::log::submit::{submit, submit_in};
use crate::log::witness::{self, Stated};
use crate::project::folder::{Folder, Lock};
use crate::project::snapshot::{Items, Snapshot};
use crate::recipe::Recipe;

/// A project that is open.
pub struct Project {
    folder: Option<Arc<Folder>>,
    /// In a mutex, though only `&mut self` uses it, so that many may read the log: a connection is for one thread at a time.
    store: Mutex<Box<dyn Store>>,
    project: Arc<str>,
    log: Arc<Log>,
    /// An earlier state of the log, brought up to date and changed in its place while somebody reads that.
    spare: Option<Arc<Log>>,
    items: Arc<Items>,
    lock: Option<Lock>,
    /// What went wrong when the store was to be opened again.
    trouble: Option<Arc<str>>,
    /// What is worth saying about how it was found.
    notes: Vec<String>,
}

impl Project {
    /// Makes a new project in a folder that must not be there: the recipe, the ids of the items (none: row numbers), and
    /// what comes first in the log. It appears whole or not at all.
    pub fn create(
        folder: &Path,
        journal: Journal,
        recipe: &Recipe,
        ids: Option<&[String]>,
        first: Vec<Decision>,
        now: u64,
    ) -> Result<Project> {
        folder::made_at_once(folder, journal, |part| {
            make(part, journal, recipe, ids, first, now)
        })?;
        Project::open(folder, journal, now)
    }

    /// Opens a project: takes it for this process, checks the database and its chain, replays the log.
    ///
    /// # Errors
    /// Not a project (S5), an unsafe file system (S6), open elsewhere (S7), damaged (S9), too new (S12).
    pub fn open(folder: &Path, journal: Journal, now: u64) -> Result<Project> {
        let paths = Folder(folder.to_path_buf());
        check_there(&paths)?;
        // First, so that whoever finds it locked can ask the server that has it, wherever it lies.
        let lock = Lock::take(&paths, now)?;
        if journal == Journal::Wal {
            folder::check_file_system(folder)?;
        }
        let mut store = Sqlite::open(&paths.database(), journal)?;
        let mut notes = store.take_notes();
        notes.extend(folder::open_to_others(folder));
        let database = paths.database();
        let mut project = Project::on(Box::new(store), Some(paths), Some(lock))
            .map_err(|error| with_ways_out(error, &database))?;
        project.notes = notes;
        Ok(project)
    }

    /// A project on any store.
    pub fn on(
        mut store: Box<dyn Store>,
        folder: Option<Folder>,
        lock: Option<Lock>,
    ) -> Result<Project> {
        let log = read_log(&mut *store)?;
        let items = Arc::new(read_items(&mut *store, &log)?);
        let project = store.project().into();
        Ok(Project {
            folder: folder.map(Arc::new),
            store: Mutex::new(store),
            project,
            log: Arc::new(log),
            spare: None,
            items,
            lock,
            trouble: None,
            notes: Vec::new(),
        })
    }

    /// Whether it is a copy in memory of a project that cannot be written to where it lies.
    pub(crate) fn is_only_read(&self) -> bool {
        self.folder.is_some() && self.lock.is_none()
    }

    /// A project in memory: the records of another one, if there are any, and the ids of its items (none: row numbers).
    ///
    /// # Errors
    /// Records that are no log.
    pub fn in_memory(id: &str, records: Vec<Record>, ids: Option<&[String]>) -> Result<Project> {
        let log = Log::replay(id, records)?;
        let mut store = Memory::new(id);
        store.append(&log.chained(0))?;
        if let Some(recipe) = log.recipe() {
            keep_items(&mut store, recipe, ids)?;
        }
        Project::on(Box::new(store), None, None)
    }

    /// Where it lies.
    pub fn folder(&self) -> Option<&Folder> {
        self.folder.as_deref()
    }

    /// What is worth saying about how it was found, one sentence each; once.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.project
    }

    /// Its state.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Its state of this moment, to be read for as long as it takes: what is stored meanwhile changes another copy.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            folder: self.folder.clone(),
            id: Arc::clone(&self.project),
            log: Arc::clone(&self.log),
            items: Arc::clone(&self.items),
            trouble: self.trouble.clone(),
        }
    }

    /// The log, to be changed, and the items. While somebody reads the log another copy of it takes its place: the one before,
    /// brought up to date, so that nothing is copied as a whole unless that one is still read too.
    fn log_mut(&mut self) -> (&mut Log, &Items) {
        if Arc::get_mut(&mut self.log).is_none() {
            let mut spare = self.spare.take();
            let free = spare.as_mut().and_then(Arc::get_mut);
            let followed = free.is_some_and(|free| free.follow(&self.log));
            let next = spare.filter(|_| followed);
            let next = next.unwrap_or_else(|| Arc::new(Log::clone(&self.log)));
            self.spare = Some(std::mem::replace(&mut self.log, next));
        }
        (Arc::make_mut(&mut self.log), &self.items)
    }

    /// Whether the pool has an item.
    pub fn has_item(&self, item: &str) -> bool {
        self.items.has(item)
    }

    /// The ids of the items in the order of the pool; row numbers where the pool has none.
    pub fn item_ids(&mut self) -> Result<Vec<String>> {
        let rows = self.log.recipe().map_or(0, |recipe| recipe.items);
        Ok(self
            .own_ids()?
            .unwrap_or_else(|| (0..rows).map(|row| row.to_string()).collect()))
    }

    /// The ids of the items, none where row numbers are the ids.
    pub fn own_ids(&mut self) -> Result<Option<Vec<String>>> {
        kept_ids(&mut **self.store.get_mut(), &self.log)
    }

    /// Takes submissions in one transaction. Each gets its answer: a receipt once its records are safe, or why not. A
    /// failing disk is the answer to all that were to be stored.
    pub fn submit(&mut self, submissions: &[Submission], now: u64) -> Vec<Result<Receipt>> {
        self.mend();
        let start = self.log.version();
        match self.attempt(submissions, now) {
            Ok(answers) => return answers,
            Err(error) if !error.is_about_a_file() => {
                return self.after_failure(error, start, submissions);
            }
            Err(error) => {
                // A file was deleted or replaced under us. If what it held could be written again, so can this.
                self.log_mut().0.cut(start);
                if self.recover().is_err() {
                    return self.after_failure(error, start, submissions);
                }
            }
        }
        let start = self.log.version();
        match self.attempt(submissions, now) {
            Ok(answers) => answers,
            Err(error) => self.after_failure(error, start, submissions),
        }
    }

    /// Takes submissions and stores them.
    fn attempt(&mut self, submissions: &[Submission], now: u64) -> Result<Vec<Result<Receipt>>> {
        let start = self.log.version();
        let (log, items) = self.log_mut();
        let answers = submissions
            .iter()
            .map(|submission| submit(log, submission, &|item| items.has(item), now))
            .collect();
        self.store_from(start)?;
        self.follow_recipe(start)?;
        Ok(answers)
    }

    /// Whether submissions would be taken one after the other. Nothing is stored.
    ///
    /// # Errors
    /// What the first of them that is refused would be refused with.
    pub fn would_take(&self, submissions: &[Submission]) -> Result<()> {
        let (mut log, items) = (Log::clone(&self.log), &self.items);
        submissions
            .iter()
            .try_for_each(|one| submit(&mut log, one, &|item| items.has(item), 0).map(|_| ()))
    }

    /// One submission.
    pub fn submit_one(&mut self, submission: Submission, now: u64) -> Result<Receipt> {
        self.submit(&[submission], now)
            .pop()
            .expect("one answer to one submission")
    }

    /// Takes submissions in one transaction and one group: all of them, or none.
    pub(crate) fn submit_together(
        &mut self,
        submissions: &[Submission],
        group: u64,
        now: u64,
    ) -> Result<Vec<Receipt>> {
        self.mend();
        let start = self.log.version();
        let (log, items) = self.log_mut();
        let each = submissions
            .iter()
            .map(|one| submit_in(log, one, &|item| items.has(item), now, group));
        let receipts = match each.collect::<Result<Vec<Receipt>>>() {
            Ok(receipts) => receipts,
            Err(error) => {
                self.log_mut().0.cut(start);
                return Err(error);
            }
        };
        match self.store_from(start) {
            Ok(()) => Ok(receipts),
            Err(error) => self
                .after_failure(error, start, submissions)
                .into_iter()
                .collect(),
        }
    }

    /// A new recipe may be of other items.
    fn follow_recipe(&mut self, start: u64) -> Result<()> {
        let new = &self.log.records()[start as usize..];
        if new
            .iter()
            .any(|record| matches!(record.entry, Entry::Recipe(_)))
        {
            self.items = Arc::new(read_items(&mut **self.store.get_mut(), &self.log)?);
        }
        Ok(())
    }

    /// Stores the records of the state after a place.
    fn store_from(&mut self, start: u64) -> Result<()> {
        let new = &self.log.records()[start as usize..];
        if new.is_empty() {
            return Ok(());
        }
        let records: Vec<(Record, Chain)> = self.log.chained(start);
        self.store().append(&records)
    }

    /// Goes back to what the store holds. What it does hold of the submissions is answered with receipts.
    fn after_failure(
        &mut self,
        error: Error,
        start: u64,
        submissions: &[Submission],
    ) -> Vec<Result<Receipt>> {
        self.log_mut().0.cut(start);
        let error = match self.recover() {
            Ok(()) => error,
            // A file that is gone or damaged says more than that the write failed.
            Err(worse @ (Error::Place { .. } | Error::Damaged { .. })) => {
                return submissions.iter().map(|_| Err(worse.clone())).collect();
            }
            Err(_) => return submissions.iter().map(|_| Err(error.clone())).collect(),
        };
        let items = &self.items;
        let answer = |submission: &Submission| match self.log.submission(&submission.key) {
            // A commit that failed may have reached the disk.
            Some(_) => submit(
                &mut Log::clone(&self.log),
                submission,
                &|item| items.has(item),
                0,
            ),
            None => Err(error.clone()),
        };
        submissions.iter().map(answer).collect()
    }

    /// After a failure of the disk: opens the store again and reads everything again.
    pub fn recover(&mut self) -> Result<()> {
        let recovered = self.read_again();
        let trouble = recovered.as_ref().err().map(Error::to_string);
        self.trouble = trouble.map(Arc::from);
        recovered
    }

    /// What keeps labels from being stored, as far as it is known.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Where opening the store again has failed before, tries once more: the disk may be well by now.
    fn mend(&mut self) {
        if self.trouble.is_some() {
            let _ = self.recover();
        }
    }

    fn read_again(&mut self) -> Result<()> {
        let (log, store) = (Arc::clone(&self.log), self.store.get_mut());
        let reopened = store.reopen(&log);
        drop(log);
        reopened?;
        let log = read_log(self.store())?;
        // What was acknowledged must be there.
        let known = self.log.version() as usize;
        if log.records().get(..known) != Some(self.log.records()) {
            let place = self.folder.as_ref();
            return Err(Error::Damaged {
                place: place.map_or(String::new(), |folder| folder.0.display().to_string()),
                what: "events that were acknowledged are gone".into(),
                readable: log.version(),
                total: known.to_string(),
                next: Error::RESTORE.into(),
            });
        }
        self.items = Arc::new(read_items(self.store(), &log)?);
        (self.log, self.spare) = (Arc::new(log), None);
        Ok(())
    }

    /// Closes the store in order and gives the project up. What is sent afterwards is refused.
    pub fn close(&mut self) {
        // What a deleted file held is in memory still, and only there once the store is closed.
        if self.trouble.is_some() || self.store().check().is_err() {
            let _ = self.recover();
        }
        self.store().close();
        self.lock = None;
    }

    /// After a failure of the disk opens the store again. What the failure was is the answer; whether the store works again
    /// the next call will show.
    fn recovered<T>(&mut self, done: Result<T>) -> Result<T> {
        if done.as_ref().is_err_and(Error::is_storage) {
            let _ = self.recover();
        }
        done
    }

    /// The leases that were kept, those that are over included.
    pub fn leases(&mut self) -> Result<Vec<Lease>> {
        let leases = self.store().leases();
        self.recovered(leases)
    }

    /// Keeps the leases of this moment in place of those kept before, so that a restart knows them.
    pub fn keep_leases(&mut self, leases: &[Lease]) -> Result<()> {
        self.mend();
        let kept = self.store().keep_leases(leases);
        self.recovered(kept)
    }

    /// Takes another pool, or the same one embedded again: its recipe and its ids.
    pub fn change_pool(
        &mut self,
        recipe: Recipe,
        ids: Option<&[String]>,
        key: String,
        now: u64,
    ) -> Result<Receipt> {
        // Kept under the name of the new recipe: until that is in the log, the old ids are the ones that count.
        let kept = keep_items(self.store(), &recipe, ids);
        self.recovered(kept)?;
        let decisions = vec![Decision::Recipe(Box::new(recipe))];
        self.submit_one(
            Submission {
                key,
                decisions,
                ..Submission::default()
            },
            now,
        )
    }

    /// Keeps bytes under a name: a cache, which may be lost.
    pub fn keep(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let kept = self.store().keep(&format!("cache/{name}"), bytes);
        self.recovered(kept)
    }

    /// What was kept under a name.
    pub fn kept(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        self.store().kept(&format!("cache/{name}"))
    }

    pub(crate) fn store(&mut self) -> &mut dyn Store {
        &mut **self.store.get_mut()
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        if self.lock.is_some() {
            self.close();
        }
    }
}

/// Refuses a folder without a database, and says what there is instead.
fn check_there(paths: &Folder) -> Result<()> {
    let folder = &paths.0;
    paths.check_plain()?;
    match std::fs::metadata(paths.database()) {
        Ok(there) if there.is_file() => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return Err(Error::io(folder, &error));
        }
        _ => {}
    }
    if paths.looks_like_one() {
        let held = match witness::read(&witness::beside(&paths.database())) {
            Ok(Stated::Head { head, .. }) => format!(", which held {} events", head.seq),
            _ => String::new(),
        };
        let next = match backup::newest_backup_beside(&paths.database()) {
            Some(backup) => format!(
                "Its newest backup holds {} events: dial restore {} --project {} --replace.",
                backup.head.seq,
                as_typed(&backup.file),
                as_typed(folder)
            ),
            None => "There is no backup in the folder. Bring the file back.".into(),
        };
        return Err(Error::place(
            folder,
            format!("its project.db is gone{held}"),
            next,
        ));
    }
    if folder.exists() {
        let why = "is not a project: it has no project.db";
        let next = "Give the folder of a project, or make one with dial new.";
        return Err(Error::place(folder, why, next));
    }
    if let Some(error) = exchange::waiting_for(folder) {
        return Err(error);
    }
    let beside = exchange::beside(folder);
    let next = match &beside[..] {
        [] => "Give the folder of a project, or make one with dial new.".to_string(),
        some => {
            let names: Vec<String> = some.iter().map(|path| path.display().to_string()).collect();
            format!(
                "Beside it lie {}, put there by dial restore or dial recover: rename the one you want.",
                names.join(" and ")
            )
        }
    };
    Err(Error::place(folder, "there is no such project", next))
}

/// Everything of a new project, in its folder.
fn make(
    folder: &Path,
    journal: Journal,
    recipe: &Recipe,
    ids: Option<&[String]>,
    first: Vec<Decision>,
    now: u64,
) -> Result<()> {
    let paths = Folder(folder.to_path_buf());
    let mut store = Sqlite::create(&paths.database(), &crate::random_id()?, now, journal)?;
    keep_items(&mut store, recipe, ids)?;
    let mut project = Project::on(Box::new(store), None, None)?;
    let mut decisions = vec![Decision::Recipe(Box::new(recipe.clone()))];
    decisions.extend(first);
    project.submit_one(
        Submission {
            key: "new".into(),
            decisions,
            ..Submission::default()
        },
        now,
    )?;
    Ok(())
}

fn read_log(store: &mut dyn Store) -> Result<Log> {
    let records = store.read(0)?;
    Log::replay(store.project(), records)
}

/// The name under which the ids of a recipe's items are kept.
fn name_of_items(recipe: &Recipe) -> String {
    let recipe = serde_json::to_vec(recipe).expect("a recipe is plain data");
    let digest = Sha256::digest(recipe);
    format!("items/{}", hex::encode(&digest[..16]))
}

/// Keeps the ids, behind their digest: the chain of the log does not cover them.
pub(crate) fn keep_items(
    store: &mut dyn Store,
    recipe: &Recipe,
    ids: Option<&[String]>,
) -> Result<()> {
    let ids = serde_json::to_vec(&ids).expect("ids are plain data");
    let bytes = [Sha256::digest(&ids).as_slice(), &ids].concat();
    store.keep(&name_of_items(recipe), &bytes)
}

/// The ids that came with the latest recipe that brought any, none being row numbers; a recipe may change without its items.
fn kept_ids(store: &mut dyn Store, log: &Log) -> Result<Option<Vec<String>>> {
    for record in log.records().iter().rev() {
        let Entry::Recipe(recipe) = &record.entry else {
            continue;
        };
        let Some(bytes) = store.kept(&name_of_items(recipe))? else {
            continue;
        };
        let ids = bytes
            .split_at_checked(32)
            .filter(|(digest, ids)| Sha256::digest(ids).as_slice() == *digest)
            .and_then(|(_, ids)| serde_json::from_slice::<Option<Vec<String>>>(ids).ok());
        return ids.ok_or(Error::Damaged {
            place: format!("project {}", store.project()),
            what: "the list of its items is not what was written".into(),
            readable: log.version(),
            total: log.version().to_string(),
            next: Error::RESTORE.into(),
        });
    }
    Ok(None)
}

fn read_items(store: &mut dyn Store, log: &Log) -> Result<Items> {
    let rows = Items::Rows(log.recipe().map_or(0, |recipe| recipe.items));
    Ok(kept_ids(store, log)?.map_or(rows, |ids| Items::Named(ids.into_iter().collect())))
}
