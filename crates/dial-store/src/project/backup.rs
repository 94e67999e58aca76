//! Backups: a whole copy of a project in one file, checked before it gets its name, and the way back.
//!
//! ```text
//! backup    records and the rest, slice by slice, to a file beside the target -> closed -> pages and chain checked -> synced
//!           -> named -> folder synced
//! restore   copy into a new folder -> database and chain checked -> witness made -> named, or exchanged with the old folder
//! ```
//!
//! A backup holds everything that was acknowledged before it began, and no more: records are never changed, so what is read
//! of them while others are appended is still the log of that moment. Nothing is ever deleted or overwritten, except the
//! oldest of the automatic backups. A file that was copied by hand may miss its newest events: that is what backups are for.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::{Error, Result};
use crate::log::Log;
use crate::log::connection::open_unchanged;
use crate::log::copy::CopyWriter;
use crate::log::record::first_link;
use crate::log::sqlite::Sqlite;
use crate::log::store::{Store, Stored};
use crate::log::wal;
use crate::log::witness::{self, Head, Stated, Witness};
use crate::project::Project;
use crate::project::exchange::take_place;
use crate::project::folder::{
    Folder, Lock, check_room, parent_of, private_file, private_folder, sync_folder_of,
};
use crate::project::part::Part;
use crate::time;

/// How the names of backups end.
pub const BACKUP_ENDING: &str = ".dialbackup";

/// Automatic backups are made this often, in milliseconds, and so many are kept.
const BACKUP_INTERVAL: u64 = 86_400_000;
const DAILY_BACKUPS_KEPT: usize = 7;

/// Records that are read in one go while a backup is made, for which labels wait.
const SLICE: u64 = 256;

/// How the names of backups begin that somebody asked a server for, and how many of them a folder may have.
const REQUESTED: &str = "asked-";
const ASKED: usize = 30;

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
    /// How many events that one held at least, if it says so.
    pub replaced_events: Option<u64>,
}

/// A backup in the making. It holds what the project held when it was begun, whatever is stored meanwhile: the project is only
/// needed to read one slice after the other. Without [`Copying::complete`] it is no backup, and goes away.
#[derive(Debug)]
pub struct Copying {
    // Closed before the part is taken away.
    copy: CopyWriter,
    part: Part,
    to: PathBuf,
    project: String,
    head: Head,
    /// What is kept and still to be copied; none before the log is.
    names: Option<Vec<String>>,
    /// Backups that may go once this one is there.
    old: Vec<PathBuf>,
}

/// What comes next in a backup.
#[derive(Debug)]
pub struct Slice(Content);

#[derive(Debug)]
enum Content {
    Records(Vec<Stored>),
    Names(Vec<String>),
    Kept(String, Vec<u8>),
}

impl Copying {
    /// Copies and checks everything, and gives the backup its name. `read` asks the project for the next slice, 256 records or
    /// one value that is kept beside them: whoever labels waits for one slice at a time.
    ///
    /// # Errors
    /// What reading fails with, a copy that is not whole (S9), or what the disk fails with.
    pub fn complete(
        mut self,
        now: u64,
        mut read: impl FnMut(&Copying) -> Result<Option<Slice>>,
    ) -> Result<Manifest> {
        while let Some(Slice(content)) = read(&self)? {
            let written = match content {
                Content::Records(records) => self.copy.add(&records),
                Content::Names(names) => {
                    self.names = Some(names);
                    Ok(())
                }
                Content::Kept(name, bytes) => {
                    self.names.as_mut().map(Vec::pop);
                    self.copy.keep(&name, &bytes)
                }
            };
            written.map_err(|error| Error::sqlite(&self.to, &error))?;
        }
        self.finish(now)
    }

    /// Checks the copy, and gives it its name.
    fn finish(self, now: u64) -> Result<Manifest> {
        let copy = self.part.content();
        let closed = self.copy.close(self.head);
        closed.map_err(|error| Error::sqlite(&self.to, &error))?;
        // With the same end of the chain the records are those of the project, which were replayed there.
        let stated = Sqlite::open_copy(&copy).and_then(|copy| copy.stated());
        let (project, head) = stated.map_err(|error| error.named(&self.to))?;
        if (&project, head) != (&self.project, self.head) {
            return Err(Error::Damaged {
                place: self.to.display().to_string(),
                what: "the copy is not what was copied".into(),
                readable: head.seq,
                total: self.head.seq.to_string(),
                next: "Check the disk, and make the backup again.".into(),
            });
        }
        File::open(&copy)
            .and_then(|file| file.sync_all())
            .map_err(|error| Error::write(&self.to, &error))?;
        fs::rename(&copy, &self.to).map_err(|error| Error::io(&self.to, &error))?;
        sync_folder_of(&self.to)?;
        // One too many does no harm.
        self.old.iter().for_each(|old| drop(fs::remove_file(old)));
        Ok(Manifest {
            file: self.to,
            project: self.project,
            events: self.head.seq,
            chain: hex::encode(self.head.chain),
            time: now,
        })
    }
}

impl Folder {
    /// Where a backup goes that somebody asks a server for: beside the automatic ones, under a name with the time. There may
    /// be so many of them, and the space that is kept for labels stays.
    ///
    /// # Errors
    /// Too many of them (S11), no room (S3), or what the disk fails with.
    pub fn asked_backup(&self, now: u64) -> Result<PathBuf> {
        let folder = self.make_backups()?;
        let there = asked(&folder);
        if there.len() >= ASKED {
            return Err(Error::Restore(format!(
                "{}: {ASKED} requested backups are there already. Nothing was changed. Move some of them elsewhere, or delete \
                 those that are not needed.",
                folder.display()
            )));
        }
        let database = self.database();
        let bytes = |file: &Path| fs::metadata(file).map_or(0, |file| file.len());
        check_room(&folder, bytes(&database) + bytes(&wal::beside(&database)))?;
        let time = time::compact(now);
        let name = |number: usize| match number {
            0 => format!("{REQUESTED}{time}{BACKUP_ENDING}"),
            _ => format!("{REQUESTED}{time}-{number}{BACKUP_ENDING}"),
        };
        let free = (0..).map(name).find(|name| !there.contains(name));
        let file = folder.join(free.expect("some number is free"));
        Ok(std::path::absolute(&file).unwrap_or(file))
    }
}

impl Project {
    /// Copies everything to a new file, and checks the copy.
    ///
    /// # Errors
    /// A file that is there already (S11), no room (S3), or a copy that is not whole (S9).
    pub fn backup(&mut self, to: &Path, now: u64) -> Result<Manifest> {
        let copying = self.begin_backup(to)?;
        copying.complete(now, |copying| self.read_slice(copying))
    }

    /// Begins a backup that holds what the project holds now.
    ///
    /// # Errors
    /// As [`Project::backup`].
    pub fn begin_backup(&mut self, to: &Path) -> Result<Copying> {
        if to.exists() {
            return Err(Error::Restore(format!(
                "{} is there already. Nothing was changed. Choose another name for the backup.",
                to.display()
            )));
        }
        if let Some(folder) = self.folder().filter(|_| self.is_only_read()) {
            let next = "Copy the folder as it is, or copy it to a disk that can be written to and make the backup there.";
            return Err(Error::place(
                &folder.0,
                "can only be read, and is not backed up from there",
                next,
            ));
        }
        let head = Head {
            seq: self.log().version(),
            chain: self.log().head(),
        };
        let store = self.store();
        let (facts, leases) = (store.facts()?, store.leases()?);
        let part = Part::beside(to)?;
        Ok(Copying {
            copy: CopyWriter::create(&part.content(), &facts, &leases)?,
            part,
            to: to.to_path_buf(),
            project: self.id().to_string(),
            head,
            names: None,
            old: Vec::new(),
        })
    }

    /// The next slice of a backup: records up to where it began, then what is kept. A list of items is kept before the record
    /// that needs it, and stays, so that what is read later has all that the log before it needs.
    ///
    /// # Errors
    /// What the disk fails with, or a log that is not what was written (S9).
    pub fn read_slice(&mut self, copying: &Copying) -> Result<Option<Slice>> {
        let (store, written) = (self.store(), copying.copy.written());
        let missing = copying.head.seq - written;
        let content = match &copying.names {
            _ if missing > 0 => {
                let records = store.stored(written, missing.min(SLICE))?;
                if records.is_empty() {
                    return Err(Error::Damaged {
                        place: copying.to.display().to_string(),
                        what: "the log ends before the backup of it".into(),
                        readable: written,
                        total: copying.head.seq.to_string(),
                        next: Error::RESTORE.into(),
                    });
                }
                Content::Records(records)
            }
            None => Content::Names(store.kept_names()?),
            Some(names) => match names.last() {
                Some(name) => Content::Kept(name.clone(), store.kept(name)?.unwrap_or_default()),
                None => return Ok(None),
            },
        };
        Ok(Some(Slice(content)))
    }

    /// Makes today's backup in the folder of the project, if there is none of the last 24 hours, and lets the oldest of
    /// more than seven go.
    ///
    /// # Errors
    /// As [`Project::backup`]; the project itself is untouched.
    pub fn backup_if_due(&mut self, now: u64) -> Result<Option<Manifest>> {
        let due = self.begin_if_due(now)?;
        due.map(|copying| copying.complete(now, |copying| self.read_slice(copying)))
            .transpose()
    }

    /// Begins that, as [`Project::begin_backup`].
    ///
    /// # Errors
    /// As [`Project::backup`]; the project itself is untouched.
    pub fn begin_if_due(&mut self, now: u64) -> Result<Option<Copying>> {
        let Some(paths) = self.folder().cloned() else {
            return Ok(None);
        };
        let folder = paths.backups();
        // Names are times, so that their order is that of the backups. What a wrong clock named later than now counts
        // for nothing and is left alone.
        let mut past = automatic(&folder);
        past.retain(|name| *name <= named(now));
        let day_ago = named(now.saturating_sub(BACKUP_INTERVAL));
        if past.iter().any(|name| *name > day_ago) {
            return Ok(None);
        }
        paths.make_backups()?;
        let mut copying = self.begin_backup(&folder.join(named(now)))?;
        copying.old = past
            .iter()
            .take((past.len() + 1).saturating_sub(DAILY_BACKUPS_KEPT))
            .map(|name| folder.join(name))
            .collect();
        Ok(Some(copying))
    }
}

/// Copies a backup to a new file.
///
/// # Errors
/// What the disk fails with.
pub fn copy_backup(mut backup: &File, to: &Path) -> Result<()> {
    let part = Part::beside(to)?;
    private_file(&part.content())
        .and_then(|mut copy| {
            std::io::copy(&mut backup, &mut copy)?;
            copy.sync_all()
        })
        .and_then(|()| fs::rename(part.content(), to))
        .map_err(|error| Error::write(to, &error))?;
    sync_folder_of(to)
}

/// Makes a project of a backup. An old project of that name is kept under another name if `replace` is said, and must be the same one.
///
/// # Errors
/// A backup that is not whole (S9), too new (S12) or not there (S5); a project that is there, or another one (S11), or in
/// use (S7).
pub fn restore(backup: &Path, folder: &Path, replace: bool, now: u64) -> Result<Restored> {
    Folder(folder.to_path_buf()).check_free()?;
    let part = Part::beside(folder)?;
    let new = part.content();
    private_folder(&new)?;
    let manifest = copy_back(backup, &new, now)?;
    if !folder.exists() {
        fs::rename(&new, folder).map_err(|error| Error::io(folder, &error))?;
        sync_folder_of(folder)?;
        return Ok(Restored {
            manifest,
            aside: None,
            replaced_events: None,
        });
    }
    let _lock = may_replace(folder, (backup, &manifest.project), replace, now)?;
    let replaced_events = match witness::read(&witness::beside(&Folder(folder.into()).database())) {
        Ok(Stated::Head { head, .. }) => Some(head.seq),
        _ => None,
    };
    let aside = take_place(&new, folder, "replaced", now)?;
    Ok(Restored {
        manifest,
        aside: Some(aside),
        replaced_events,
    })
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
    let mut from = File::open(backup).map_err(|error| Error::io(backup, &error))?;
    private_file(&database)
        .and_then(|mut to| std::io::copy(&mut from, &mut to))
        .map_err(|error| Error::io(&database, &error))?;
    let (project, log) = read_copy(&database).map_err(|error| error.named(backup))?;
    File::open(&database)
        .and_then(|file| file.sync_all())
        .map_err(|error| Error::write(&database, &error))?;
    let head = Head {
        seq: log.version(),
        chain: log.head(),
    };
    Witness::create(&witness::beside(&database), first_link(&project), head)?;
    let (events, chain) = (log.version(), hex::encode(log.head()));
    Ok(Manifest {
        file: backup.to_path_buf(),
        project,
        events,
        chain,
        time: now,
    })
}

/// Whether a project may be replaced by one of this backup. Nobody else may have it open meanwhile.
fn may_replace(
    folder: &Path,
    (backup, id): (&Path, &str),
    replace: bool,
    now: u64,
) -> Result<Lock> {
    let old = Folder(folder.to_path_buf());
    let refuse = |why: String| Err(Error::Restore(format!("{}: {why}", folder.display())));
    if !old.looks_like_one() {
        return refuse(
            "is there already and is not a project. Nothing was changed. Choose another --project."
                .into(),
        );
    }
    if !replace {
        let next = "Choose another --project, or pass --replace: the old one is then kept under another name.";
        return refuse(format!("is there already. Nothing was changed. {next}"));
    }
    // A database too damaged to tell its id is moved aside like any other.
    let lock = Lock::take(&old, now)?;
    if let Some(other) = id_of(&old.database()).filter(|other| other != id) {
        return refuse(format!(
            "is another project ({other}) than {} was made of ({id}). Nothing was changed. Choose another --project.",
            backup.display()
        ));
    }
    Ok(lock)
}

/// The id and the log of a copy, everything checked.
fn read_copy(file: &Path) -> Result<(String, Log)> {
    let mut copy = Sqlite::open_copy(file)?;
    let project = copy.project().to_string();
    let log = Log::replay(&project, copy.read(0)?)?;
    Ok((project, log))
}

/// The id of a database, if it can be read; the file is not touched. The id is written once, when a project is made, so it
/// does not stand in the log beside the database.
fn id_of(database: &Path) -> Option<String> {
    let connection = open_unchanged(database).ok()?;
    connection
        .query_row(
            "SELECT value FROM about WHERE name = 'project'",
            [],
            |row| row.get(0),
        )
        .ok()
}

/// What a backup in a project says it holds.
#[derive(Debug)]
pub(crate) struct NewestBackup {
    pub file: PathBuf,
    pub project: String,
    pub head: Head,
}

/// The newest backup beside a database that may be damaged, exchanged or gone: of the project of the database or of the
/// witness, if there is one.
pub(crate) fn newest_backup_beside(database: &Path) -> Option<NewestBackup> {
    let (id, stated) = (id_of(database), witness::read(&witness::beside(database)));
    let is_ours = |project: &str| {
        let witnessed =
            matches!(stated, Ok(Stated::Head { start, .. }) if start == first_link(project));
        witnessed || id.as_deref() == Some(project)
    };
    let folder = parent_of(database);
    newest_backup(folder, is_ours).or_else(|| newest_backup(folder, |_| true))
}

/// The backup in the folder of a project that holds most of it, of those that can be read. Names do not say which is the
/// newest: the clock may have been wrong.
pub(crate) fn newest_backup(folder: &Path, is_ours: impl Fn(&str) -> bool) -> Option<NewestBackup> {
    let backups = Folder(folder.to_path_buf()).backups();
    let read = |name: String| {
        let file = backups.join(name);
        let connection = open_unchanged(&file).ok()?;
        let head = |row: &rusqlite::Row<'_>| {
            let seq = row.get::<_, i64>(0)? as u64;
            Ok(Head {
                seq,
                chain: row.get(1)?,
            })
        };
        let head = connection
            .query_row("SELECT seq, chain FROM head", [], head)
            .ok()?;
        drop(connection);
        Some(NewestBackup {
            project: id_of(&file)?,
            file,
            head,
        })
    };
    automatic(&backups)
        .into_iter()
        .chain(asked(&backups))
        .filter_map(read)
        .filter(|backup| is_ours(&backup.project))
        .max_by_key(|backup| backup.head.seq)
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
    let mut names = plain_files(folder);
    names.retain(is_time);
    names.sort_unstable();
    names
}

/// The backups that somebody asked a server for.
fn asked(folder: &Path) -> Vec<String> {
    let mut names = plain_files(folder);
    names.retain(|name| name.starts_with(REQUESTED) && name.ends_with(BACKUP_ENDING));
    names
}

fn plain_files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let plain = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    entries
        .filter(plain)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}
