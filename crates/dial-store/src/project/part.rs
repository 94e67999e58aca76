//! Work that is not finished: a hidden folder beside its place, from which the finished thing is renamed.
//!
//! ```text
//! .NAME.RANDOM.part/      for the owner only, locked while a process works in it
//!                content  the file or folder that will be NAME
//! ```
//!
//! The name cannot be guessed and is never used twice. A process that was killed leaves its part behind; whoever makes the
//! next one of that name takes away those that are old and that nobody has locked. The names of backups hold the time, so
//! whoever makes a backup takes away the parts of all others in that folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::Result;
use crate::project::backup::BACKUP_ENDING;
use crate::project::folder::{parent_of, private_folder};

/// Younger ones may be just about to be locked.
const MIN_AGE_OF_LEFTOVER: Duration = Duration::from_secs(600);

/// A part, which goes away with this value.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
    _lock: Option<File>,
}

impl Part {
    /// A new part beside what will be made of it.
    pub(crate) fn beside(target: &Path) -> Result<Part> {
        sweep(target, SystemTime::now());
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let path = parent_of(target).join(format!(".{name}.{}.part", crate::random_id()?));
        private_folder(&path)?;
        Ok(Part {
            _lock: lock(&path),
            path,
        })
    }

    /// What is to be renamed.
    pub(crate) fn content(&self) -> PathBuf {
        self.path.join("content")
    }

    /// Room for what is only needed on the way.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.path.join("scratch")
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // What could not be finished is nothing; what was finished has another name by now.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The lock of a part, if nobody else has it.
fn lock(path: &Path) -> Option<File> {
    let folder = File::open(path).ok()?;
    folder.try_lock().ok().map(|()| folder)
}

/// Takes away what killed processes have left of a target.
fn sweep(target: &Path, now: SystemTime) {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let entries = fs::read_dir(parent_of(target))
        .into_iter()
        .flatten()
        .flatten();
    for path in entries.map(|entry| entry.path()) {
        let entry = path.file_name().unwrap_or_default().to_string_lossy();
        let rest = entry
            .strip_prefix(&format!(".{name}."))
            .or_else(|| of_a_backup(&entry).filter(|_| name.ends_with(BACKUP_ENDING)));
        let Some(rest) = rest else {
            continue;
        };
        let age = fs::symlink_metadata(&path).and_then(|found| found.modified());
        let old = age.is_ok_and(|time| {
            now.duration_since(time)
                .is_ok_and(|age| age > MIN_AGE_OF_LEFTOVER)
        });
        if old && is_left_over(rest, &path, target.exists()) {
            // What cannot be taken away is somebody else's.
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        }
    }
}

/// What follows the name of a backup, of any, in that of its part.
fn of_a_backup(entry: &str) -> Option<&str> {
    let (name, rest) = entry.strip_prefix('.')?.split_once(BACKUP_ENDING)?;
    rest.strip_prefix('.').filter(|_| !name.is_empty())
}

/// Whether the rest of a name is that of a part, ours or of an earlier version (`PID.part`, `PID.restored`), whose process is
/// gone.
fn is_left_over(rest: &str, path: &Path, target_exists: bool) -> bool {
    let Some((id, kind)) = rest.split_once('.') else {
        return false;
    };
    let number = id.bytes().all(|byte| byte.is_ascii_digit()) && id.len() < 20;
    let random = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let gone = || !Path::new(&format!("/proc/{id}")).exists() && Path::new("/proc/self").exists();
    match kind {
        "part" if random => path.is_dir() && lock(path).is_some(),
        "part" if number => gone(),
        // While the project itself is missing, this may be all there is of it.
        "restored" if number => target_exists && gone(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_killed_process_left_is_taken_away_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("p.dial");
        fs::create_dir(&target).unwrap();
        let (dead, id) = (u32::MAX, "0123456789abcdef0123456789abcdef");
        let us = std::process::id();
        let kept = [
            "p.dial".to_string(),
            format!(".p.dial.{us}.part"),
            format!(".other.dial.{dead}.part"),
            ".p.dial.notes.part".to_string(),
            ".p.dial.keep".to_string(),
        ];
        let left = [
            format!(".p.dial.{dead}.part"),
            format!(".p.dial.{dead}.restored"),
            format!(".p.dial.{id}.part"),
        ];
        for name in kept.iter().skip(1).chain(&left) {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("project.db"), "half").unwrap();
        }
        let working = Part::beside(&target).unwrap();
        let all = names(folder.path());
        assert_eq!(
            all.len(),
            kept.len() + left.len() + 1,
            "nothing is old yet: {all:?}"
        );
        // An hour later the parts of dead processes go, and the one that is locked stays.
        sweep(&target, SystemTime::now() + Duration::from_secs(3600));
        let mut wanted: Vec<String> = kept.to_vec();
        wanted.push(working.path.file_name().unwrap().to_str().unwrap().into());
        wanted.sort();
        assert_eq!(names(folder.path()), wanted);
        drop(working);
        assert_eq!(names(folder.path()).len(), kept.len());
    }

    /// The next backup has another name than the one that was not finished.
    #[test]
    fn whoever_makes_a_backup_takes_away_the_parts_of_all_backups_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let id = "0123456789abcdef0123456789abcdef";
        let left = [
            format!(".20260101T000000Z.dialbackup.{id}.part"),
            format!(".asked-20260101T000000Z-1.dialbackup.{id}.part"),
        ];
        let kept = [
            format!(".q.dial.{id}.part"),
            format!(".notes.dialbackup.{}.part", &id[1..]),
            format!(".notes.dialbackup.{id}.old"),
            format!("20260101T000000Z.dialbackup.{id}.part"),
            format!("..dialbackup{id}.part"),
        ];
        for name in left.iter().chain(&kept) {
            fs::create_dir(at(name)).unwrap();
        }
        let working = Part::beside(&at("asked-20260102T000000Z.dialbackup")).unwrap();
        let later = SystemTime::now() + Duration::from_secs(3600);
        sweep(&at("p.dial"), later);
        assert_eq!(names(folder.path()).len(), left.len() + kept.len() + 1);
        sweep(&at("20260103T000000Z.dialbackup"), later);
        let mut wanted: Vec<String> = kept.to_vec();
        wanted.push(working.path.file_name().unwrap().to_str().unwrap().into());
        wanted.sort();
        assert_eq!(names(folder.path()), wanted);
    }

    #[test]
    fn a_restored_copy_stays_while_the_project_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("p.dial");
        let name = format!(".p.dial.{}.restored", u32::MAX);
        fs::create_dir(folder.path().join(&name)).unwrap();
        sweep(&target, SystemTime::now() + Duration::from_secs(3600));
        assert_eq!(names(folder.path()), [name]);
    }
}
