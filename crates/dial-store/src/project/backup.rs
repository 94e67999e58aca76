//! Backups: a whole copy of a project in one file, checked before it gets its name, and the way back.
//!
//! ```text
//! backup    copy beside the target -> database and chain checked -> synced -> named -> folder synced
//! restore   copy into a new folder -> database and chain checked -> old folder set aside -> new folder named
//! ```
//!
//! A backup holds everything that was acknowledged before it began. Nothing is ever deleted or overwritten, except the
//! oldest of the automatic backups. A file that was copied by hand may miss its newest events: that is what backups are for.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::{Error, Result};
use crate::log::Log;
use crate::log::record::Chain;
use crate::log::sqlite::{Journal, Sqlite};
use crate::log::store::Store;
use crate::project::Project;
use crate::project::folder::{Folder, Lock, sync_folder_of};
use crate::time;

/// How the names of backups end.
pub const BACKUP_ENDING: &str = ".dialbackup";

/// Automatic backups are made this often, in milliseconds, and so many are kept.
const DAY: u64 = 86_400_000;
const KEPT: usize = 7;

/// What a backup holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Manifest {
    /// The file.
    #[schema(value_type = String)]
    pub file: PathBuf,
    /// The id of the project.
    pub project: String,
    /// How many events there are.
    pub events: u64,
    /// The end of their chain, in hexadecimal.
    pub chain: String,
    /// When the backup was made, or found: milliseconds since 1970.
    pub time: u64,
}

/// What became of a restore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restored {
    /// What was restored, and from where.
    pub manifest: Manifest,
    /// The folder where the project that was there before is now.
    pub aside: Option<PathBuf>,
}

/// A copy that was not looked at yet. Without [`Copied::finish`] it is no backup, and goes away.
#[derive(Debug)]
pub struct Copied {
    part: PathBuf,
    to: PathBuf,
    project: String,
    events: u64,
    chain: Chain,
    /// Backups that may go once this one is there.
    old: Vec<PathBuf>,
}

impl Copied {
    /// Checks the copy, and gives it its name.
    ///
    /// # Errors
    /// A copy that is not whole (S9), or what the disk fails with.
    pub fn finish(self, now: u64) -> Result<Manifest> {
        let (project, log) = read_copy(&self.part)?;
        if project != self.project || (log.version(), log.head()) != (self.events, self.chain) {
            let (place, what) = (
                self.part.display().to_string(),
                "the copy is not what was copied".into(),
            );
            return Err(Error::Damaged {
                place,
                what,
                readable: log.version(),
                total: self.events.to_string(),
            });
        }
        File::open(&self.part)
            .and_then(|file| file.sync_all())
            .map_err(|error| Error::io(&self.part, &error))?;
        fs::rename(&self.part, &self.to).map_err(|error| Error::io(&self.to, &error))?;
        sync_folder_of(&self.to)?;
        // One too many does no harm.
        self.old.iter().for_each(|old| drop(fs::remove_file(old)));
        let (file, project, events) = (self.to.clone(), self.project.clone(), self.events);
        Ok(Manifest {
            file,
            project,
            events,
            chain: hexadecimal(&self.chain),
            time: now,
        })
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        // What could not be finished is no backup; what was has another name by now.
        let _ = fs::remove_file(&self.part);
    }
}

impl Project {
    /// Copies everything to a new file while the project is in use, and checks the copy.
    ///
    /// # Errors
    /// A file that is there already (S11), no room (S3), or a copy that is not whole (S9).
    pub fn backup(&mut self, to: &Path, now: u64) -> Result<Manifest> {
        if to.exists() {
            return Err(Error::Restore(format!(
                "{}: is there already. Nothing was changed. Choose another name for the backup.",
                to.display()
            )));
        }
        self.copy(to)?.finish(now)
    }

    /// The first half of a backup: the copy. The other half needs no project, and takes longer.
    ///
    /// # Errors
    /// As [`Project::backup`].
    pub fn copy(&mut self, to: &Path) -> Result<Copied> {
        let part = beside(to, "part");
        // Of an earlier attempt of this process.
        let _ = fs::remove_file(&part);
        let (project, events, chain) = (
            self.id().to_string(),
            self.log().version(),
            self.log().head(),
        );
        let (to, old) = (to.to_path_buf(), Vec::new());
        let copied = Copied {
            part,
            to,
            project,
            events,
            chain,
            old,
        };
        self.store().copy_to(&copied.part)?;
        Ok(copied)
    }

    /// Makes today's backup in the folder of the project, if there is none of the last 24 hours, and lets the oldest of
    /// more than seven go.
    ///
    /// # Errors
    /// As [`Project::backup`]; the project itself is untouched.
    pub fn backup_if_due(&mut self, now: u64) -> Result<Option<Manifest>> {
        self.copy_if_due(now)?
            .map(|copied| copied.finish(now))
            .transpose()
    }

    /// The first half of that, as [`Project::copy`].
    ///
    /// # Errors
    /// As [`Project::backup`]; the project itself is untouched.
    pub fn copy_if_due(&mut self, now: u64) -> Result<Option<Copied>> {
        let Some(folder) = self.folder().map(Folder::backups) else {
            return Ok(None);
        };
        // Names are times, so that their order is that of the backups. What a wrong clock named later than now counts
        // for nothing and is left alone.
        let mut past = automatic(&folder);
        past.retain(|name| *name <= named(now));
        let day_ago = named(now.saturating_sub(DAY));
        if past.iter().any(|name| *name > day_ago) {
            return Ok(None);
        }
        fs::create_dir_all(&folder).map_err(|error| Error::io(&folder, &error))?;
        let mut copied = self.copy(&folder.join(named(now)))?;
        copied.old = past
            .iter()
            .take((past.len() + 1).saturating_sub(KEPT))
            .map(|name| folder.join(name))
            .collect();
        Ok(Some(copied))
    }
}

/// Makes a project of a backup. An old project of that name is kept aside if `replace` is said, and must be the same one.
///
/// # Errors
/// A backup that is not whole (S9), too new (S12) or not there (S5); a project that is there, or another one (S11), or in
/// use (S7).
pub fn restore(backup: &Path, folder: &Path, replace: bool, now: u64) -> Result<Restored> {
    let part = beside(folder, "restored");
    // What an earlier attempt of this process left is no project.
    let _ = fs::remove_dir_all(&part);
    fs::create_dir(&part).map_err(|error| Error::io(&part, &error))?;
    let restored = copy_back(backup, &part, now).and_then(|manifest| {
        let aside = take_place(&part, folder, (backup, &manifest.project), replace, now)?;
        Ok(Restored { manifest, aside })
    });
    if restored.is_err() {
        let _ = fs::remove_dir_all(&part);
    }
    restored
}

/// Copies a backup into a new folder and checks it there: the backup itself is only read.
fn copy_back(backup: &Path, part: &Path, now: u64) -> Result<Manifest> {
    if !backup.is_file() {
        return Err(Error::place(
            backup,
            "there is no such backup",
            "Give a file that dial backup made.",
        ));
    }
    let database = Folder(part.to_path_buf()).database();
    fs::copy(backup, &database).map_err(|error| Error::io(&database, &error))?;
    let (project, log) = read_copy(&database).map_err(|error| error.named(backup))?;
    File::open(&database)
        .and_then(|file| file.sync_all())
        .map_err(|error| Error::io(&database, &error))?;
    sync_folder_of(&database)?;
    let (events, chain) = (log.version(), hexadecimal(&log.head()));
    Ok(Manifest {
        file: backup.to_path_buf(),
        project,
        events,
        chain,
        time: now,
    })
}

/// Gives a whole new folder its name; where another project had it is the answer.
fn take_place(
    part: &Path,
    folder: &Path,
    (backup, id): (&Path, &str),
    replace: bool,
    now: u64,
) -> Result<Option<PathBuf>> {
    let named =
        |from: &Path, to: &Path| fs::rename(from, to).map_err(|error| Error::io(to, &error));
    if !folder.exists() {
        named(part, folder)?;
        return sync_folder_of(folder).map(|()| None);
    }
    let old = Folder(folder.to_path_buf());
    let refuse = |why: String| Err(Error::Restore(format!("{}: {why}", folder.display())));
    if !old.database().is_file() {
        return refuse(
            "is there already and is no project. Nothing was changed. Choose another --project."
                .into(),
        );
    }
    if !replace {
        let next = "Choose another --project, or pass --replace: the old one is then kept aside.";
        return refuse(format!("is there already. Nothing was changed. {next}"));
    }
    // Nobody may have it open. A database too damaged to tell its id is kept aside like any other.
    let _lock = Lock::take(&old, now)?;
    if let Some(other) = id_of(&old.database()).filter(|other| other != id) {
        return refuse(format!(
            "is another project ({other}) than {} was made of ({id}). Nothing was changed. Choose another --project.",
            backup.display()
        ));
    }
    let aside = free_name(folder, now);
    named(folder, &aside)?;
    if let Err(error) = named(part, folder) {
        named(&aside, folder)?;
        return Err(error);
    }
    sync_folder_of(folder).map(|()| Some(aside))
}

/// `NAME.replaced-TIME.dial`, a name that is free.
fn free_name(folder: &Path, now: u64) -> PathBuf {
    let name = Folder(folder.to_path_buf()).name();
    let numbered = |n: u32| match n {
        0 => folder.with_file_name(format!(
            "{name}.replaced-{}{}",
            time::compact(now),
            crate::ENDING
        )),
        _ => folder.with_file_name(format!(
            "{name}.replaced-{}-{n}{}",
            time::compact(now),
            crate::ENDING
        )),
    };
    (0..)
        .map(numbered)
        .find(|path| !path.exists())
        .expect("some number is free")
}

/// The id and the log of a copy, everything checked.
fn read_copy(file: &Path) -> Result<(String, Log)> {
    let mut copy = Sqlite::open(file, Journal::Rollback)?;
    let project = copy.project().to_string();
    let log = Log::replay(&project, copy.read(0)?)?;
    Ok((project, log))
}

/// The id of a database, if it can be read; the file is not touched. The id is written once, when a project is made, so it
/// does not stand in the log beside the database.
fn id_of(database: &Path) -> Option<String> {
    let path = database
        .canonicalize()
        .ok()?
        .to_str()?
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(format!("file:{path}?immutable=1"), flags).ok()?;
    connection
        .query_row(
            "SELECT value FROM about WHERE name = 'project'",
            [],
            |row| row.get(0),
        )
        .ok()
}

/// The name of an automatic backup.
fn named(time: u64) -> String {
    format!("{}{BACKUP_ENDING}", time::compact(time))
}

/// The automatic backups, the oldest first.
fn automatic(folder: &Path) -> Vec<String> {
    let is_time = |name: &String| {
        let stem = name.strip_suffix(BACKUP_ENDING).unwrap_or_default();
        stem.len() == 16
            && stem
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'T' || byte == b'Z')
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(is_time)
        .collect();
    names.sort_unstable();
    names
}

/// A hidden name of this process in the same folder.
fn beside(path: &Path, what: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.{what}", std::process::id()))
}

fn hexadecimal(chain: &Chain) -> String {
    chain.iter().map(|byte| format!("{byte:02x}")).collect()
}
