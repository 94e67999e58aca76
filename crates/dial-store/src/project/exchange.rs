//! A new folder takes the place of an old one: at every moment the name of the project is that of one of both, whole.
//!
//! ```text
//! NEW -> NAME.replaced-TIME.dial;  NAME.replaced-TIME.dial <-> NAME.dial      the second in one step of the file system
//! ```
//!
//! A process killed between the two steps leaves the new one under the name that the old one would have got. Where the file
//! system cannot exchange two names, the old folder is renamed and then the new one: killed between these, the project is
//! missing, both lie beside its name, and whoever looks for it is told so.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::project::folder::{Folder, parent_of, sync_folder_of};
use crate::project::place;
use crate::time;

/// Puts a new folder in the place of an old one, which is kept: its name is the answer.
pub(crate) fn take_place(new: &Path, folder: &Path, why: &str, now: u64) -> Result<PathBuf> {
    // Whoever is at the page of the old one goes on with the new one.
    place::hand_over(folder, new)?;
    let aside = free_name(folder, why, now);
    fs::rename(new, &aside).map_err(|error| Error::io(&aside, &error))?;
    sync_folder_of(&aside)?;
    match exchange(&aside, folder) {
        Ok(()) => {}
        Err(error) if cannot_exchange(&error) => one_after_the_other(&aside, folder)?,
        Err(error) => {
            // The new one was in nobody's way; back it goes, to be taken away with its part.
            let _ = fs::rename(&aside, new);
            return Err(Error::io(folder, &error));
        }
    }
    sync_folder_of(folder)?;
    Ok(aside)
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
    use std::io::ErrorKind as Kind;
    matches!(error.kind(), Kind::Unsupported | Kind::InvalidInput)
}

/// The same in three steps: the new folder waits under a name that says what it is.
fn one_after_the_other(aside: &Path, folder: &Path) -> Result<()> {
    let waiting = aside.with_extension(format!("new{}", crate::PROJECT_ENDING));
    let rename =
        |from: &Path, to: &Path| fs::rename(from, to).map_err(|error| Error::io(to, &error));
    rename(aside, &waiting)?;
    rename(folder, aside)?;
    if let Err(error) = rename(&waiting, folder) {
        rename(aside, folder)?;
        return Err(error);
    }
    Ok(())
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
        .map(|entry| entry.path())
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
        one_after_the_other(&aside, &folder).unwrap();
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
    }
}
