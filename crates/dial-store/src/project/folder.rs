//! Where a project lies: its folder, who holds it, and whether a database is safe there.
//!
//! ```text
//! NAME.dial/project.db          the database; with project.db-wal while it is open
//!           graph.dialgraph     the graph, a cache
//!           lock, holder.json   locked while a process has the project; who that is
//!           server.json         address and token of a running server, for the owner only
//!           backups/            automatic backups
//! ```

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::log::sqlite::Journal;

/// How the names of projects end.
pub const ENDING: &str = ".dial";

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

    /// Where automatic backups go.
    pub fn backups(&self) -> PathBuf {
        self.0.join("backups")
    }

    /// The name of the project.
    pub fn name(&self) -> String {
        let name = self.0.file_name().unwrap_or_default().to_string_lossy();
        name.strip_suffix(ENDING).unwrap_or(&name).to_string()
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
        let (lock, holder) = (folder.0.join("lock"), folder.0.join("holder.json"));
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock);
        let file = file.map_err(|error| Error::io(&lock, &error))?;
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
        let _ = fs::write(&part, serde_json::to_vec(&us).unwrap_or_default())
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
    /// Who has a project that is locked. Whoever has just locked it may not have said so yet, so that what is there is of a
    /// process that is no more: then we look again, for a while.
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

/// Makes the name of a file as safe as the file itself: syncs the folder it is in.
pub(crate) fn sync_folder_of(file: &Path) -> Result<()> {
    let parent = file
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    if cfg!(unix) {
        File::open(parent)
            .and_then(|parent| parent.sync_all())
            .map_err(|error| Error::io(parent, &error))?;
    }
    Ok(())
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
            "Choose another name, or go on with the project.",
        ));
    }
    let parent = folder
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    if journal == Journal::Wal {
        check_file_system(parent)?;
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let part = parent.join(format!(".{name}.{}.part", std::process::id()));
    fs::create_dir(&part).map_err(|error| Error::io(&part, &error))?;
    let made = make(&part)
        .and_then(|()| fs::rename(&part, folder).map_err(|error| Error::io(folder, &error)));
    if let Err(error) = made {
        // What could not be finished is ours to take away: nothing in it was ever acknowledged.
        let _ = fs::remove_dir_all(&part);
        return Err(error);
    }
    sync_folder_of(folder)
}

/// Space that an import leaves to the labels that people will give.
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
