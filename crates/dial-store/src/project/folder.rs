//! Where a project lies: its folder, who holds it, and whether a database is safe there.
//!
//! ```text
//! NAME.dial/project.db          the database; with project.db-wal while it is open
//!           head.witness        where its log ends, once more
//!           graph.dialgraph     the graph, a cache
//!           lock, holder.json   locked while a process has the project; who that is
//!           server.json         address and token of a running server
//!           place.json          which of several copies of the project this is
//!           sessions.key        what the keys of browser sessions are derived from
//!           backups/            automatic backups
//!           aside/              copies of files that were damaged
//! ```
//!
//! All of it is for the owner only.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, as_typed};
use crate::log::sqlite::Journal;
use crate::log::{wal, witness};
use crate::project::part::Part;

/// How the names of projects end.
pub const PROJECT_ENDING: &str = ".dial";

/// The paths inside a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder(pub PathBuf);

impl Folder {
    /// The database.
    pub fn database(&self) -> PathBuf {
        self.0.join("project.db")
    }

    /// The graph.
    pub fn graph(&self) -> PathBuf {
        self.0.join("graph.dialgraph")
    }

    /// Address and token of a running server.
    pub fn server(&self) -> PathBuf {
        self.0.join("server.json")
    }

    /// What is locked while a process has the project.
    pub(crate) fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }

    /// Where automatic backups go.
    pub fn backups(&self) -> PathBuf {
        self.0.join("backups")
    }

    /// Whether there is a project in it, its database or what is left without it.
    pub fn looks_like_one(&self) -> bool {
        self.database().is_file()
            || witness::beside(&self.database()).is_file()
            || wal::beside(&self.database()).is_file()
            || self.backups().is_dir()
    }

    /// The folder of backups, made if it is not there.
    ///
    /// # Errors
    /// What the disk fails with.
    pub fn make_backups(&self) -> Result<PathBuf> {
        let folder = self.backups();
        private_folder(&folder)?;
        // The first time its name must be as safe as that of the backup in it.
        sync_folder_of(&folder)?;
        Ok(folder)
    }

    /// Refuses what lies where a file of the project belongs and is none: reading a pipe would wait for ever, and a link leads
    /// to a file that others may change.
    pub(crate) fn check_plain(&self) -> Result<()> {
        let database = self.database();
        let own = [
            wal::beside(&database),
            wal::journal_beside(&database),
            witness::beside(&database),
            database,
            self.graph(),
            self.server(),
            self.place_file(),
            self.0.join("sessions.key"),
            self.lock(),
            self.holder(),
        ];
        for file in own {
            let kind = match fs::symlink_metadata(&file).map(|found| found.file_type()) {
                Ok(kind) if !kind.is_file() => kind,
                _ => continue,
            };
            let what = match kind {
                kind if kind.is_symlink() => "a link",
                kind if kind.is_dir() => "a folder",
                _ => "a pipe or a device",
            };
            let why = format!("is {what}, and no file of the project");
            let next = "Move it away, and bring the file back if there was one (dial restore, or a copy of the folder).";
            return Err(Error::place(&file, why, next));
        }
        Ok(())
    }

    /// Who has the project.
    fn holder(&self) -> PathBuf {
        self.0.join("holder.json")
    }

    /// The name of the project.
    pub fn name(&self) -> String {
        let name = self.0.file_name().unwrap_or_default().to_string_lossy();
        name.strip_suffix(PROJECT_ENDING)
            .unwrap_or(&name)
            .to_string()
    }
}

/// The process that has a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its number.
    pub pid: u32,
    /// When it opened the project: milliseconds since 1970.
    pub since: u64,
}

/// A project that is ours while this lives.
#[derive(Debug)]
pub struct Lock {
    file: File,
    holder: PathBuf,
}

impl Lock {
    /// Takes a project, or says who has it.
    pub fn take(folder: &Folder, now: u64) -> Result<Lock> {
        folder.check_plain()?;
        let (lock, holder) = (folder.lock(), folder.holder());
        let file = lock_file(&lock).map_err(|error| Error::io(&lock, &error))?;
        if file.try_lock().is_err() {
            let holder = match Holder::read(&holder) {
                Some(Holder { pid, since }) => {
                    format!(
                        "the project is open in process {pid} since {}",
                        crate::time::in_words(since)
                    )
                }
                None => "the project is open in another process".to_string(),
            };
            return Err(Error::Held {
                place: folder.0.display().to_string(),
                holder,
            });
        }
        let us = Holder {
            pid: std::process::id(),
            since: now,
        };
        // Only for the message: without it the lock holds all the same.
        let part = folder.0.join("holder.part");
        let _ = fs::remove_file(&part);
        let _ = private_file(&part)
            .and_then(|mut file| file.write_all(&serde_json::to_vec(&us).unwrap_or_default()))
            .and_then(|()| fs::rename(part, &holder));
        Ok(Lock { file, holder })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // First the name: whoever is refused from now on must not be told of us, who may live on.
        let _ = fs::remove_file(&self.holder);
        // Closing alone would leave the lock to a process that was started from this one a moment ago.
        let _ = self.file.unlock();
    }
}

impl Holder {
    /// Which process has locked a project. A process writes its name after it has taken the lock, so for a moment the file
    /// may name one that has ended: then it is read again, for half a second.
    fn read(file: &Path) -> Option<Holder> {
        let look = || {
            fs::read(file)
                .ok()
                .and_then(|text| serde_json::from_slice::<Holder>(&text).ok())
        };
        for _ in 0..50 {
            match look() {
                Some(holder) if holder.lives() => return Some(holder),
                _ => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
        }
        None
    }

    /// Whether there is such a process; yes where that cannot be seen.
    fn lives(&self) -> bool {
        !Path::new("/proc/self").exists() || Path::new(&format!("/proc/{}", self.pid)).exists()
    }
}

/// The folder that something is in.
pub(crate) fn parent_of(path: &Path) -> &Path {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Makes the name of a file as safe as the file itself: syncs the folder it is in.
pub(crate) fn sync_folder_of(file: &Path) -> Result<()> {
    let parent = parent_of(file);
    if cfg!(unix) {
        File::open(parent)
            .and_then(|parent| parent.sync_all())
            .map_err(|error| Error::io(parent, &error))?;
    }
    Ok(())
}

/// Files that are made so are for their owner only.
fn private(options: &mut fs::OpenOptions) -> &mut fs::OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// The file that is locked, made if it is not there.
pub(crate) fn lock_file(path: &Path) -> std::io::Result<File> {
    private(File::options().create(true).truncate(false).write(true)).open(path)
}

/// A new file for its owner only.
pub(crate) fn private_file(path: &Path) -> std::io::Result<File> {
    private(File::options().create_new(true).read(true).write(true)).open(path)
}

/// A folder for its owner only; one that is there is left as it is.
pub(crate) fn private_folder(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if !path.is_dir() => Err(Error::io(path, &error)),
        _ => Ok(()),
    }
}

/// Makes a file that another crate wrote one for its owner only.
pub(crate) fn make_private(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))
            .map_err(|error| Error::io(path, &error))?;
    }
    let _ = path;
    Ok(())
}

/// What others on this machine may do with a project, if they may do anything.
pub(crate) fn open_to_others(folder: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder).ok()?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Some(format!(
                "{}: others on this machine may use it (mode {mode:04o}). Close it to them with: chmod -R go= {}",
                folder.display(),
                as_typed(folder)
            ));
        }
    }
    let _ = folder;
    None
}

/// Copies a file to the folder `aside` beside it, under a name with the time.
pub(crate) fn copy_aside(file: &Path) -> Result<PathBuf> {
    let to = name_aside(file)?;
    let failed = |error: std::io::Error| Error::io(&to, &error);
    let copied = private_file(&to).and_then(|mut copy| {
        std::io::copy(&mut File::open(file)?, &mut copy)?;
        copy.sync_all()
    });
    copied.map_err(failed)?;
    sync_folder_of(&to)?;
    Ok(to)
}

/// The same, and the file is gone from where it was.
pub(crate) fn move_aside(file: &Path) -> Result<PathBuf> {
    let to = name_aside(file)?;
    fs::rename(file, &to).map_err(|error| Error::io(&to, &error))?;
    sync_folder_of(&to)?;
    Ok(to)
}

/// Takes away copies that were not needed, and their folder if nothing else is in it.
pub(crate) fn discard_aside(copies: &[PathBuf]) {
    for copy in copies {
        let _ = fs::remove_file(copy);
        // Refused where there is more in it.
        let _ = copy.parent().map(fs::remove_dir);
    }
}

fn name_aside(file: &Path) -> Result<PathBuf> {
    let folder = file.with_file_name("aside");
    private_folder(&folder)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let time = crate::time::compact(crate::time::Clock::new().now());
    let numbered = |n: u32| match n {
        0 => folder.join(format!("{name}.{time}")),
        _ => folder.join(format!("{name}.{time}-{n}")),
    };
    let mut names = (0..).map(numbered);
    Ok(names
        .find(|path| !path.exists())
        .expect("some number is free"))
}

/// Makes a new folder that appears whole or not at all: it is made beside its place and then named.
pub(crate) fn made_at_once(
    folder: &Path,
    journal: Journal,
    make: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    if folder.exists() {
        return Err(Error::place(
            folder,
            "is there already",
            "Choose another name, or continue the project.",
        ));
    }
    Folder(folder.to_path_buf()).check_free()?;
    if journal == Journal::Wal {
        check_file_system(parent_of(folder))?;
    }
    // What could not be finished goes away with the part: nothing in it was ever acknowledged.
    let part = Part::beside(folder)?;
    private_folder(&part.content())?;
    make(&part.content())?;
    fs::rename(part.content(), folder).map_err(|error| Error::io(folder, &error))?;
    sync_folder_of(folder)
}

/// Space that an import and a requested backup leave to the labels that people will give.
pub const RESERVE: u64 = 256 << 20;

/// Refuses what would take so many bytes where the reserve is then touched (S3). Where the free space is not known, all is
/// allowed: the disk itself refuses what does not fit.
pub(crate) fn check_room(folder: &Path, bytes: u64) -> Result<()> {
    enough(folder, free_space(folder), bytes)
}

fn enough(folder: &Path, free: Option<u64>, bytes: u64) -> Result<()> {
    match free {
        Some(free) if free < RESERVE.saturating_add(bytes) => Err(Error::Reserve {
            place: folder.display().to_string(),
            free: free >> 20,
            needed: (bytes >> 20) + 1,
        }),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn free_space(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    found.f_bavail.checked_mul(found.f_frsize)
}

#[cfg(not(unix))]
fn free_space(_: &Path) -> Option<u64> {
    None
}

/// File systems on which SQLite's locks or its log do not hold what they promise.
const UNSAFE: [&str; 14] = [
    "9p",
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "virtiofs",
    "vboxsf",
    "prl_fs",
    "afs",
    "ceph",
    "glusterfs",
    "davfs",
    "afpfs",
];

/// Folders that another program copies behind our back.
const SYNCED: [&str; 9] = [
    "OneDrive",
    "Dropbox",
    "Google Drive",
    "GoogleDrive",
    "Mobile Documents",
    "iCloud Drive",
    "iCloudDrive",
    "Nextcloud",
    "pCloudDrive",
];

/// Refuses a folder on which a database may be corrupted silently.
pub fn check_file_system(folder: &Path) -> Result<()> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let whole = folder
        .canonicalize()
        .unwrap_or_else(|_| folder.to_path_buf());
    match unsafe_place(&whole, &mounts) {
        Some(what) => Err(Error::FileSystem {
            place: folder.display().to_string(),
            what,
        }),
        None => Ok(()),
    }
}

/// What is unsafe about a path, given the table of mounts.
fn unsafe_place(path: &Path, mounts: &str) -> Option<String> {
    let synced = path.iter().filter_map(|part| part.to_str());
    for part in synced {
        if let Some(name) = SYNCED.iter().find(|name| {
            // OneDrive - Uni, OneDrive-Personal, GoogleDrive-me@example.org
            part.strip_prefix(**name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '-']))
        }) {
            return Some(format!("in a folder that {name} synchronises"));
        }
    }
    // Of the mounts that hold the path the longest counts, and of equals the last.
    let mut found: Option<(usize, &str)> = None;
    for line in mounts.lines() {
        let Some((left, right)) = line.split_once(" - ") else {
            continue;
        };
        let (Some(point), Some(kind)) = (left.split(' ').nth(4), right.split(' ').next()) else {
            continue;
        };
        let point = unescaped(point);
        if path.starts_with(&point) && found.is_none_or(|(length, _)| point.len() >= length) {
            found = Some((point.len(), kind));
        }
    }
    let (_, kind) = found?;
    let network = UNSAFE.contains(&kind)
        || kind == "fuse"
        || (kind.starts_with("fuse.") && kind != "fuse.ext2");
    network.then(|| format!("on {kind}"))
}

/// Blanks in the table of mounts are written as octal numbers.
fn unescaped(point: &str) -> String {
    point
        .replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:27 / /host rw shared:2 - virtiofs host rw
31 30 0:28 / /host/local rw - xfs /dev/vdb rw
32 22 0:29 / /home/ann/with\\040blank rw - nfs4 server:/x rw
33 22 0:30 / /mnt/ssh rw - fuse.sshfs a@b:/ rw
34 22 0:31 / /data rw - ext4 /dev/vdc rw
35 22 0:32 / /data rw - 9p hostshare rw
36 22 0:33 / /layers rw - overlay overlay rw
";

    #[test]
    fn the_longest_mount_decides() {
        let kind = |path: &str| unsafe_place(Path::new(path), MOUNTS);
        let cases = [
            ("/home/ann/p.dial", None),
            ("/host/p.dial", Some("on virtiofs")),
            ("/host/local/p.dial", None),
            ("/hostile/p.dial", None),
            ("/home/ann/with blank/p.dial", Some("on nfs4")),
            ("/mnt/ssh/p.dial", Some("on fuse.sshfs")),
            ("/data/p.dial", Some("on 9p")),
            ("/layers/p.dial", None),
            (
                "/home/ann/Dropbox/p.dial",
                Some("in a folder that Dropbox synchronises"),
            ),
            (
                "/home/ann/OneDrive - Uni/p.dial",
                Some("in a folder that OneDrive synchronises"),
            ),
            (
                "/home/ann/OneDrive-Personal/p.dial",
                Some("in a folder that OneDrive synchronises"),
            ),
            (
                "/Users/ann/GoogleDrive-ann@example.org/p.dial",
                Some("in a folder that GoogleDrive synchronises"),
            ),
            (
                "/Users/ann/iCloud Drive/p.dial",
                Some("in a folder that iCloud Drive synchronises"),
            ),
            ("/home/ann/Dropboxes/p.dial", None),
        ];
        for (path, expected) in cases {
            assert_eq!(kind(path).as_deref(), expected, "{path}");
        }
        assert_eq!(unsafe_place(Path::new("/x"), "nonsense\n"), None);
    }

    #[test]
    fn an_import_leaves_room_for_labels() {
        let here = Path::new("p.dial");
        assert!(
            enough(here, None, u64::MAX).is_ok() && enough(here, Some(RESERVE + 10), 10).is_ok()
        );
        let refused = enough(here, Some(RESERVE + 9), 10).unwrap_err();
        assert_eq!(
            (refused.code(), refused.kind()),
            ("S3", dial::error::ErrorKind::Storage)
        );
        let folder = tempfile::tempdir().unwrap();
        assert!(cfg!(not(unix)) || free_space(folder.path()).is_some_and(|free| free > 0));
    }

    #[test]
    fn a_held_project_says_who_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder(folder.path().to_path_buf());
        let lock = Lock::take(&folder, 0).unwrap();
        let refused = Lock::take(&folder, 1).unwrap_err();
        assert_eq!(refused.code(), "S7");
        let text = refused.to_string();
        assert!(
            text.contains(&format!(
                "process {} since 1970-01-01 00:00 UTC",
                std::process::id()
            )),
            "{text}"
        );
        drop(lock);
        Lock::take(&folder, 2).unwrap();
    }
}
