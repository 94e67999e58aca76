//! A new folder takes the place of an old one: at every moment the name of the project is that of one of both, whole.
//!
//! ```text
//! NEW -> NAME.replaced-TIME.dial;  NAME.replaced-TIME.dial <-> NAME.dial      the second in one step of the file system
//! ```
//!
//! A process killed between the two steps leaves the new one under the name that the old one would have got. Where the file
//! system cannot exchange two names, they are renamed one after the other:
//!
//! ```text
//! NAME.replaced-TIME.dial -> NAME.replaced-TIME.new.dial;  NAME.dial -> NAME.replaced-TIME.dial;  ...new.dial -> NAME.dial
//! ```
//!
//! each on disk before the next. Killed before the last of these the name is free and both lie beside it. Whoever looks for the project is told so, and nobody
//! makes another one of that name over it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, as_typed};
use crate::project::folder::{Folder, parent_of, sync_folder_of};
use crate::project::place;
use crate::time;

/// What the name of a folder ends with, before that of projects, that waits to get the name of a project.
const WAITING: &str = ".new";

/// Puts a new folder in the place of an old one, which is kept: its name is the answer.
pub(crate) fn take_place(new: &Path, folder: &Path, why: &str, now: u64) -> Result<PathBuf> {
    // Whoever is at the page of the old one goes on with the new one.
    place::hand_over(folder, new)?;
    let aside = free_name(folder, why, now);
    fs::rename(new, &aside).map_err(|error| Error::io(&aside, &error))?;
    sync_folder_of(&aside)?;
    match exchange(&aside, folder) {
        Ok(()) => {}
        Err(error) if cannot_exchange(&error) => one_after_the_other(new, &aside, folder)?,
        Err(error) => return Err(back(&aside, new, Error::io(folder, &error))),
    }
    sync_folder_of(folder)?;
    Ok(aside)
}

/// The new folder was in nobody's way: back it goes, to be taken away with its part.
fn back(from: &Path, new: &Path, error: Error) -> Error {
    let _ = fs::rename(from, new);
    error
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
fn exchange(one: &Path, other: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
fn exchange(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Whether it is the system or the file system that has no such step.
fn cannot_exchange(error: &std::io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let unknown = [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP];
        if Errno::from_io_error(error).is_some_and(|error| unknown.contains(&error)) {
            return true;
        }
    }
    error.kind() == std::io::ErrorKind::Unsupported
}

/// The same in three steps: the new folder waits under a name that says what it is. What fails is taken back; where that
/// fails too, nothing more is moved, and the error names both. Each step is on disk before the next.
fn one_after_the_other(new: &Path, aside: &Path, folder: &Path) -> Result<()> {
    let failed = |error: std::io::Error| Error::io(folder, &error);
    let waiting = aside.with_extension(format!("{}{}", &WAITING[1..], crate::PROJECT_ENDING));
    if let Err(error) = fs::rename(aside, &waiting) {
        return Err(back(aside, new, failed(error)));
    }
    sync_folder_of(&waiting)?;
    if let Err(error) = fs::rename(folder, aside) {
        return Err(back(&waiting, new, failed(error)));
    }
    sync_folder_of(aside)?;
    last_step(new, aside, &waiting, folder)
}

/// The name is free, the old folder is at `aside` and the new one waits.
fn last_step(new: &Path, aside: &Path, waiting: &Path, folder: &Path) -> Result<()> {
    let Err(error) = fs::rename(waiting, folder) else {
        return Ok(());
    };
    let failed = Error::io(folder, &error);
    // The old one at `aside` must not be taken for the new one.
    match fs::rename(aside, folder) {
        Ok(()) => Err(back(waiting, new, failed)),
        Err(_) => Err(waiting_for(folder).unwrap_or(failed)),
    }
}

/// `NAME.replaced-TIME.dial`, a name that is free.
fn free_name(folder: &Path, why: &str, now: u64) -> PathBuf {
    let name = Folder(folder.to_path_buf()).name();
    let time = time::compact(now);
    let numbered = |n: u32| {
        let number = match n {
            0 => String::new(),
            n => format!("-{n}"),
        };
        folder.with_file_name(format!(
            "{name}.{why}-{time}{number}{}",
            crate::PROJECT_ENDING
        ))
    };
    let mut names = (0..).map(numbered);
    names
        .find(|path| !path.exists())
        .expect("some number is free")
}

/// Projects beside a name that were put aside under it, or wait to get it.
pub(crate) fn beside(folder: &Path) -> Vec<PathBuf> {
    let name = Folder(folder.to_path_buf()).name();
    let entries = fs::read_dir(parent_of(folder))
        .into_iter()
        .flatten()
        .flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| folder.with_file_name(entry.file_name()))
        .filter(|path| {
            let entry = path.file_name().unwrap_or_default().to_string_lossy();
            let rest = entry.strip_prefix(&format!("{name}.")).unwrap_or_default();
            let kept = rest.starts_with("replaced-") || rest.starts_with("damaged-");
            kept && Folder(path.clone()).database().is_file()
        })
        .collect();
    found.sort();
    found
}

impl Folder {
    /// Refuses a name that is only free because a process was killed between two renames: a project made there would hide
    /// the one that was to get it, and the one that had it.
    ///
    /// # Errors
    /// Where both are (S5).
    pub fn check_free(&self) -> Result<()> {
        match waiting_for(&self.0) {
            Some(waiting) if !self.0.exists() => Err(waiting),
            _ => Ok(()),
        }
    }
}

/// What is said of a name that is free because a process was killed between two renames.
pub(crate) fn waiting_for(folder: &Path) -> Option<Error> {
    let beside = beside(folder);
    let ending = format!("{WAITING}{}", crate::PROJECT_ENDING);
    let (new, old) = beside.iter().find_map(|new| {
        let old = new.file_name()?.to_str()?.strip_suffix(&ending)?;
        Some((
            new,
            new.with_file_name(format!("{old}{}", crate::PROJECT_ENDING)),
        ))
    })?;
    let before = match beside.contains(&old) {
        true => format!(" The one from before is {}.", old.display()),
        false => String::new(),
    };
    let name = Folder(folder.to_path_buf()).name();
    let folder = folder.with_file_name(format!("{name}{}", crate::PROJECT_ENDING));
    let why = "is not there: dial restore or dial recover was cut off before its last step";
    let next = format!(
        "If you did not move it yourself, nothing is lost. The new one is {}.{before} Rename the one you want: mv {} {}",
        new.display(),
        as_typed(new),
        as_typed(&folder)
    );
    Some(Error::place(&folder, why, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(place: &Path, name: &str, says: &str) -> PathBuf {
        let folder = place.join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("project.db"), says).unwrap();
        folder
    }

    fn says(folder: &Path) -> String {
        fs::read_to_string(folder.join("project.db")).unwrap()
    }

    #[test]
    fn both_ways_end_the_same() {
        let place = tempfile::tempdir().unwrap();
        let folder = project(place.path(), "m.dial", "old");
        let new = project(place.path(), "new", "new");
        let aside = take_place(&new, &folder, "replaced", 0).unwrap();
        assert_eq!((says(&folder), says(&aside)), ("new".into(), "old".into()));
        assert_eq!(aside, place.path().join("m.replaced-19700101T000000Z.dial"));
        // Where names cannot be exchanged; `aside` holds the new one then.
        one_after_the_other(&new, &aside, &folder).unwrap();
        assert_eq!((says(&folder), says(&aside)), ("old".into(), "new".into()));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
        assert_eq!(beside(&folder), [aside]);
    }

    #[test]
    fn what_waits_for_a_missing_name_is_found() {
        let place = tempfile::tempdir().unwrap();
        project(place.path(), "m.replaced-19700101T000000Z.new.dial", "new");
        project(place.path(), "m.replaced-19700101T000000Z.dial", "old");
        project(place.path(), "n.replaced-19700101T000000Z.dial", "other");
        fs::create_dir(place.path().join("m.replaced-empty.dial")).unwrap();
        assert_eq!(beside(&place.path().join("m.dial")).len(), 2);
        assert_eq!(beside(&place.path().join("o.dial")).len(), 0);
        // Only where somebody waits for it is a free name not to be taken.
        let check = |name: &str| Folder(place.path().join(name)).check_free();
        let text = check("m.dial").unwrap_err().to_string();
        for name in [
            "m.replaced-19700101T000000Z.new.dial",
            "m.replaced-19700101T000000Z.dial",
        ] {
            assert!(text.contains(name), "{text}");
        }
        assert!(check("n.dial").is_ok() && check("o.dial").is_ok());
        project(place.path(), "m.dial", "named");
        assert!(check("m.dial").is_ok());
    }

    #[test]
    fn a_step_that_fails_is_taken_back() {
        let place = tempfile::tempdir().unwrap();
        let aside = project(place.path(), "m.replaced-19700101T000000Z.dial", "new");
        let folder = place.path().join("m.dial");
        let part = place.path().join("part");
        // The second step has nothing to rename.
        one_after_the_other(&part, &aside, &folder).unwrap_err();
        assert_eq!(says(&part), "new");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_old_one_is_never_taken_for_the_new_one() {
        let place = tempfile::tempdir().unwrap();
        let old = place.path().join("m.replaced-19700101T000000Z.dial");
        let new = project(place.path(), "m.replaced-19700101T000000Z.new.dial", "new");
        project(place.path(), "m.replaced-19700101T000000Z.dial", "old");
        // Somebody made a folder of the name before the last step: it can neither be done nor taken back.
        let folder = project(place.path(), "m.dial", "somebody's");
        let part = place.path().join("part");
        let error = last_step(&part, &old, &new, &folder).unwrap_err();
        assert_eq!((says(&old), says(&new)), ("old".into(), "new".into()));
        assert!(!part.exists() && says(&folder) == "somebody's", "{error}");
    }
}
