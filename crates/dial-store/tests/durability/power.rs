//! A disk that loses its power: a folder whose syncs are recorded (by `shim.c`), and what would be left of it.
//!
//! The model is that of POSIX, as hard as it can be meant: the bytes of a file are safe once the file was synced, its name
//! once its folder was. Everything else may be there or not, and of an unsynced file any mixture of sectors. Renaming is
//! atomic; the names of one folder reach the disk together.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use dial::seed::Random;

/// The library, compiled once; none where there is no C compiler or no Linux.
pub fn shim() -> Option<&'static Path> {
    static SHIM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/durability/shim.c");
        let folder = tempfile::tempdir().unwrap().keep();
        let library = folder.join("shim.so");
        let done = Command::new("cc")
            .args(["-O1", "-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(source)
            .output()
            .ok()?;
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        Some(library)
    };
    SHIM.get_or_init(compile).as_deref()
}

/// What a power cut leaves of names, or of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// What was synced.
    Synced,
    /// What was written last, as if all had been synced.
    Written,
    /// For each folder or sector the one or the other, as it happens.
    Mixed,
}

/// What a power cut may leave: first of names, then of bytes.
pub const CUTS: [(Left, Left); 7] = [
    // As if the process had only been killed.
    (Left::Written, Left::Written),
    (Left::Synced, Left::Synced),
    (Left::Written, Left::Synced),
    (Left::Synced, Left::Mixed),
    (Left::Written, Left::Mixed),
    (Left::Mixed, Left::Mixed),
    (Left::Synced, Left::Written),
];

/// A disk.
pub struct Disk {
    place: tempfile::TempDir,
}

impl Disk {
    /// An empty disk.
    pub fn new() -> Disk {
        let disk = Disk {
            place: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(disk.root()).unwrap();
        disk.settle();
        disk
    }

    /// What is on it.
    pub fn root(&self) -> PathBuf {
        self.place.path().canonicalize().unwrap().join("disk")
    }

    fn synced(&self) -> PathBuf {
        self.root().with_file_name("synced")
    }

    /// A file beside the disk.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.root().with_file_name(name)
    }

    /// The environment of a process that is watched.
    pub fn watching(&self, shim: &Path) -> [(&'static str, PathBuf); 3] {
        [
            ("LD_PRELOAD", shim.to_path_buf()),
            ("DIAL_SHIM_FOLDER", self.root()),
            ("DIAL_SHIM_SYNCED", self.synced()),
        ]
    }

    /// The disk holds everything that is there now.
    pub fn settle(&self) {
        let synced = self.synced();
        let _ = fs::remove_dir_all(&synced);
        fs::create_dir(&synced).unwrap();
        settle(&self.root(), &synced);
    }

    /// A new disk with what a power cut now would leave of this one.
    pub fn after_cut(&self, (names, bytes): (Left, Left), random: &mut Random) -> Disk {
        let after = Disk::new();
        let mut written = HashMap::new();
        list(&self.root(), &mut written);
        let mut cut = Cut {
            synced: self.synced(),
            written,
            names,
            bytes,
            random,
        };
        cut.folder(&key(&self.root()), &after.root());
        after.settle();
        after
    }

    /// The power fails, and what is left is what the disk holds.
    pub fn cut(&self, cut: (Left, Left), random: &mut Random) {
        let after = self.after_cut(cut, random);
        fs::remove_dir_all(self.root()).unwrap();
        fs::rename(after.root(), self.root()).unwrap();
        self.settle();
    }
}

/// What a file or folder is known by, whatever its name; as in `shim.c`.
fn key(path: &Path) -> String {
    let found = fs::symlink_metadata(path).unwrap();
    let born = found
        .created()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let born = born.unwrap_or_default();
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&found);
    // Nothing is watched there.
    #[cfg(not(unix))]
    let inode = 0;
    format!("{inode}-{}.{}", born.as_secs(), born.subsec_nanos())
}

/// An entry of a folder.
#[derive(Clone)]
struct Entry {
    key: String,
    is_folder: bool,
    name: String,
}

fn entries(folder: &Path) -> Vec<Entry> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut found: Vec<Entry> = paths
        .map(|entry| Entry {
            key: key(&entry.path()),
            is_folder: entry.file_type().unwrap().is_dir(),
            name: entry.file_name().into_string().unwrap(),
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn settle(folder: &Path, synced: &Path) {
    let mut names = String::new();
    for Entry {
        key,
        is_folder,
        name,
    } in entries(folder)
    {
        let path = folder.join(&name);
        match is_folder {
            true => settle(&path, synced),
            false => drop(fs::copy(&path, synced.join(format!("{key}.file"))).unwrap()),
        }
        let kind = if is_folder { 'd' } else { 'f' };
        names.push_str(&format!("{key} {kind} {name}\0"));
    }
    fs::write(synced.join(format!("{}.folder", key(folder))), names).unwrap();
}

/// All files and folders by their keys.
fn list(folder: &Path, found: &mut HashMap<String, PathBuf>) {
    found.insert(key(folder), folder.to_path_buf());
    for entry in entries(folder) {
        let path = folder.join(&entry.name);
        match entry.is_folder {
            true => list(&path, found),
            false => drop(found.insert(entry.key, path)),
        }
    }
}

/// One power cut.
struct Cut<'a> {
    synced: PathBuf,
    written: HashMap<String, PathBuf>,
    names: Left,
    bytes: Left,
    random: &'a mut Random,
}

impl Cut<'_> {
    /// Makes in `to` what is left of a folder.
    fn folder(&mut self, key: &str, to: &Path) {
        let synced = match self.names {
            Left::Synced => true,
            Left::Written => false,
            Left::Mixed => self.random.below(2) == 0,
        };
        let there = match (self.written.get(key), synced) {
            (Some(path), false) => entries(path),
            _ => self.synced_entries(key),
        };
        for Entry {
            key,
            is_folder,
            name,
        } in there
        {
            let to = to.join(name);
            match is_folder {
                true => {
                    fs::create_dir(&to).unwrap();
                    self.folder(&key, &to);
                }
                false => fs::write(&to, self.file(&key)).unwrap(),
            }
        }
    }

    /// The names that were synced: none of a folder that never was.
    fn synced_entries(&self, key: &str) -> Vec<Entry> {
        let names = fs::read_to_string(self.synced.join(format!("{key}.folder")));
        let entry = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let mut word = || words.next().unwrap().to_string();
            Entry {
                key: word(),
                is_folder: word() == "d",
                name: word(),
            }
        };
        names
            .unwrap_or_default()
            .split_terminator('\0')
            .map(entry)
            .collect()
    }

    /// What is left of the bytes of a file.
    fn file(&mut self, key: &str) -> Vec<u8> {
        let kept = fs::read(self.synced.join(format!("{key}.file"))).unwrap_or_default();
        // A file that has no name any more has only what was synced.
        let written = self.written.get(key).map(|path| fs::read(path).unwrap());
        match (self.bytes, written) {
            (Left::Synced, _) | (_, None) => kept,
            (Left::Written, Some(written)) => written,
            (Left::Mixed, Some(written)) => mixed(&written, &kept, self.random),
        }
    }
}

const SECTOR: usize = 512;

/// Sectors of both, one or the other; the length is that of one of them.
fn mixed(written: &[u8], kept: &[u8], random: &mut Random) -> Vec<u8> {
    let length = [written.len(), kept.len()][random.below(2)];
    let share = random.uniform();
    let mut bytes = vec![0; length];
    for start in (0..length).step_by(SECTOR) {
        let from = if random.uniform() < share {
            written
        } else {
            kept
        };
        let sector = from.get(start..).unwrap_or_default();
        let count = sector.len().min(SECTOR).min(length - start);
        bytes[start..start + count].copy_from_slice(&sector[..count]);
    }
    bytes
}
