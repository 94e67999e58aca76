//! What can go wrong with a project, with a stable code and the next step.
//!
//! The text follows one shape: what, where. What was kept. What to do. Where an answer of a person is concerned, it says
//! whether the answer is safe.

use std::path::Path;

use dial::error::ErrorKind;
use thiserror::Error as ThisError;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong. The text of a variant is complete.
#[derive(Clone, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// No room on the disk.
    #[error(
        "no space left in {0}. What was sent was not saved; everything before it is safe. Free some space and send it again."
    )]
    Full(String),
    /// A write or sync that failed for another reason than room.
    #[error(
        "{place}: the disk failed ({why}). What was sent may or may not be saved; everything before it is safe. Check the disk, \
         then send it again: nothing is stored twice."
    )]
    Disk {
        /// The file.
        place: String,
        /// What the system said.
        why: String,
    },
    /// A file or folder that cannot be read, written or made.
    #[error("{}. Nothing was changed. {next}", dial_data::about(place, why))]
    Place {
        /// The file or folder.
        place: String,
        /// What is wrong with it.
        why: String,
        /// What to do.
        next: String,
    },
    /// A file system on which a database may be corrupted silently.
    #[error(
        "{place} is {what}; a database is unsafe there and can be corrupted silently. Nothing was changed. Move the project to a \
         local disk, or pass --journal rollback (one process only, slower)."
    )]
    FileSystem {
        /// The folder.
        place: String,
        /// What it is on.
        what: String,
    },
    /// Another process has the project.
    #[error(
        "{place}: {holder}. Nothing was changed. Use the running server (dial finds it), wait for that process (--wait), or stop it."
    )]
    Held {
        /// The project.
        place: String,
        /// Who has it, since when.
        holder: String,
    },
    /// An import or a requested backup that would leave no room for labels.
    #[error(
        "{place}: {free} MiB are free and this takes up to {needed}, but 256 MiB are kept for labels. Nothing was changed. \
         Free some space."
    )]
    Reserve {
        /// The project.
        place: String,
        /// Free space, in MiB.
        free: u64,
        /// What it may take, in MiB.
        needed: u64,
    },
    /// A library with a known fault.
    #[error(
        "SQLite {0} has the WAL-reset corruption bug; 3.51.3 or newer is required. Nothing was changed. Use a newer dial."
    )]
    OldSqlite(String),
    /// Bytes that are not what was written.
    #[error(
        "{place}: {what}; {readable} of {total} events are readable. Nothing was changed. {next}"
    )]
    Damaged {
        /// The project.
        place: String,
        /// What was found.
        what: String,
        /// Events that are as they were written.
        readable: u64,
        /// Events that there should be.
        total: String,
        /// What to do.
        next: String,
    },
    /// A restore that would overwrite something, or something else.
    #[error("{0}")]
    Restore(String),
    /// A project of a later time.
    #[error(
        "{place}: the project was written by a newer dial (format {found}; this one knows {known}). Nothing was changed. \
         Use that one."
    )]
    Newer {
        /// The project.
        place: String,
        /// Its format.
        found: u32,
        /// The newest format we know.
        known: u32,
    },
    /// Somebody else appended to the log.
    #[error("the log has moved on. Nothing was changed. Read it again and repeat.")]
    Moved,
    /// A key that was used for something else.
    #[error(
        "the key {0:?} was used for another submission. Nothing was changed. Use a new key for every decision."
    )]
    KeyReused(String),
    /// A submission that cannot be right.
    #[error("{0}")]
    Submission(String),
    /// An answer that contradicts one of the same annotator.
    #[error(
        "{annotator:?} called item {item:?} {first} before, and {second} now. The new answer is stored as conflict {conflict}. \
         Choose: keep the first, or send it again with replace."
    )]
    Contradiction {
        /// Who.
        annotator: String,
        /// The item.
        item: String,
        /// The label that stands.
        first: String,
        /// The label that came.
        second: String,
        /// The place of the new one in the log.
        conflict: u64,
    },
    /// An answer among many that contradicts one of the same annotator.
    #[error(
        "item {item:?} of the answers cannot be taken: {first} stands, {second} came. Nothing was changed. Leave it out, or \
         send all with replace."
    )]
    Batch {
        /// The item.
        item: String,
        /// The label that stands.
        first: String,
        /// The label that came.
        second: String,
    },
    /// An answer that names a class that is no more.
    #[error(
        "class {class} is not in the schema any more. The answer for item {item:?} is stored as conflict {conflict}. \
         Answer with another class."
    )]
    ClassGone {
        /// The item.
        item: String,
        /// The class.
        class: String,
        /// The place of the answer in the log.
        conflict: u64,
    },
    /// An undo that does not fit what is there.
    #[error("{0}")]
    Undo(String),
    /// A pool that is not where it was.
    #[error(
        "{place}: no such file, and none of this name in the project or beside it. All labels are safe. Put it back, or say \
         where the pool is now: dial pool {project} POOL."
    )]
    PoolGone {
        /// Where it was.
        place: String,
        /// The project.
        project: String,
    },
    /// A pool without ids that has fewer rows than before.
    #[error(
        "the pool has {rows} rows now and had {before}. It has no ids, so it is unknown which rows are gone, and labels would \
         move to other rows. Nothing was changed. Bring the rows back, or make a project of the new pool and import labels by \
         id."
    )]
    RowsGone {
        /// Rows now.
        rows: usize,
        /// Rows before.
        before: usize,
    },
    /// Labels to import that do not fit.
    #[error("{0}")]
    Import(String),
    /// Of the method.
    #[error(transparent)]
    Core(#[from] dial::Error),
    /// Of the pool.
    #[error(transparent)]
    Data(#[from] dial_data::Error),
}

impl Error {
    /// What to do about damage where nothing more is known.
    pub(crate) const RESTORE: &str =
        "Restore a backup (dial restore), or copy the folder from where it is whole.";

    /// The stable code, listed in `docs/errors.md`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Full(_) | Error::Reserve { .. } => "S3",
            Error::Disk { .. } => "S4",
            Error::Place { .. } => "S5",
            Error::FileSystem { .. } => "S6",
            Error::Held { .. } => "S7",
            Error::OldSqlite(_) => "S8",
            Error::Damaged { .. } => "S9",
            Error::Restore(_) => "S11",
            Error::Newer { .. } => "S12",
            Error::Moved => "C1",
            Error::KeyReused(_) => "W2",
            Error::Submission(_) => "U1",
            Error::Contradiction { .. } | Error::Batch { .. } => "C3",
            Error::ClassGone { .. } => "C6",
            Error::Undo(_) => "C5",
            Error::PoolGone { .. } => "I5",
            Error::RowsGone { .. } => "I7",
            Error::Import(_) => "I12",
            Error::Core(error) => error.code(),
            Error::Data(error) => error.code(),
        }
    }

    /// The kind, which decides the exit code.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Full(_)
            | Error::Disk { .. }
            | Error::Place { .. }
            | Error::FileSystem { .. } => ErrorKind::Storage,
            Error::Reserve { .. }
            | Error::OldSqlite(_)
            | Error::Damaged { .. }
            | Error::Newer { .. } => ErrorKind::Storage,
            Error::Held { .. } | Error::Restore(_) | Error::Moved | Error::KeyReused(_) => {
                ErrorKind::Conflict
            }
            Error::Contradiction { .. }
            | Error::Batch { .. }
            | Error::ClassGone { .. }
            | Error::Undo(_) => ErrorKind::Conflict,
            Error::Submission(_) => ErrorKind::Usage,
            Error::PoolGone { .. } | Error::RowsGone { .. } | Error::Import(_) => ErrorKind::Input,
            Error::Core(error) => error.kind(),
            Error::Data(error) => error.kind(),
        }
    }

    /// Whether the disk, and not the request, is at fault.
    pub fn is_storage(&self) -> bool {
        self.kind() == ErrorKind::Storage
    }

    /// Whether a file is not what or where it should be: the disk itself may be well.
    pub(crate) fn is_about_a_file(&self) -> bool {
        matches!(self, Error::Place { .. } | Error::Damaged { .. })
    }

    /// The same about the file that somebody named, of which another was a copy.
    pub(crate) fn named(self, file: &Path) -> Error {
        let place = file.display().to_string();
        match self {
            Error::Damaged {
                what,
                readable,
                total,
                next,
                ..
            } => Error::Damaged {
                place,
                what,
                readable,
                total,
                next,
            },
            Error::Newer { found, known, .. } => Error::Newer {
                place,
                found,
                known,
            },
            Error::Place { why, next, .. } => Error::Place { place, why, next },
            other => other,
        }
    }

    pub(crate) fn place(place: &Path, why: impl Into<String>, next: impl Into<String>) -> Error {
        Error::Place {
            place: place.display().to_string(),
            why: why.into(),
            next: next.into(),
        }
    }

    pub(crate) fn io(place: &Path, error: &std::io::Error) -> Error {
        use std::io::ErrorKind as Kind;
        match error.kind() {
            Kind::StorageFull | Kind::QuotaExceeded => Error::Full(place.display().to_string()),
            Kind::ReadOnlyFilesystem => {
                let next = "It can be read there (dial status, export, predict). To change it, copy it to a disk that can be written to.";
                Error::place(place, "is on a disk that can only be read", next)
            }
            Kind::PermissionDenied => refused(place),
            _ => Error::place(
                place,
                error.to_string(),
                "Check the path and its permissions.",
            ),
        }
    }

    /// A write or sync that failed, after which nobody knows what the disk holds.
    pub(crate) fn write(place: &Path, error: &std::io::Error) -> Error {
        use std::io::ErrorKind as Kind;
        let place = place.display().to_string();
        match error.kind() {
            Kind::StorageFull | Kind::QuotaExceeded => Error::Full(place),
            _ => Error::Disk {
                place,
                why: error.to_string(),
            },
        }
    }

    /// What SQLite said, in our words.
    pub(crate) fn sqlite(place: &Path, error: &rusqlite::Error) -> Error {
        use rusqlite::ErrorCode;
        let at = place.display().to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Error::Full(at),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::Damaged {
                place: at,
                what: error.to_string(),
                readable: 0,
                total: "an unknown number".into(),
                next: Error::RESTORE.into(),
            },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Held {
                place: at,
                holder: "the database is open in another process".into(),
            },
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                refused(place)
            }
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::OutOfMemory
                | ErrorCode::OperationInterrupted,
            ) => Error::Disk {
                place: at,
                why: error.to_string(),
            },
            // We send the same statements to tables that we made: what does not fit them is not what was written.
            _ => Error::Damaged {
                place: at,
                what: error.to_string(),
                readable: 0,
                total: "an unknown number".into(),
                next: Error::RESTORE.into(),
            },
        }
    }
}

/// A path as it is typed after a command: in quotes where a shell would take it apart.
pub fn as_typed(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=~".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// A file or folder that the system does not let us open: whose it is, and what its permissions are.
fn refused(place: &Path) -> Error {
    let next =
        "Use the account of its owner, or change the owner or the permissions (chown, chmod u+rw).";
    // What is not there is refused for the sake of the folder that it would be in.
    let there = place.ancestors().find(|path| path.exists());
    let place = there.unwrap_or(place);
    Error::place(place, permissions(place), next)
}

#[cfg(unix)]
fn permissions(place: &Path) -> String {
    use std::os::unix::fs::MetadataExt;
    let user = |id: u32| {
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let mut fields = users
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>());
        let found = fields.find(|fields| fields.get(2) == Some(&id.to_string().as_str()));
        found.map_or_else(|| id.to_string(), |fields| fields[0].to_string())
    };
    let us = user(rustix::process::geteuid().as_raw());
    match std::fs::metadata(place) {
        Ok(file) => format!(
            "permission denied: its owner is {}, its mode {:04o}, and this is {us}",
            user(file.uid()),
            file.mode() & 0o7777
        ),
        Err(_) => format!("permission denied to {us}"),
    }
}

#[cfg(not(unix))]
fn permissions(_: &Path) -> String {
    "permission denied".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_as_a_shell_takes_them() {
        for (path, typed) in [
            ("/a/b-1.dial", "/a/b-1.dial"),
            ("Übung.dial", "Übung.dial"),
            ("my photos.dial", "'my photos.dial'"),
            ("it's", "'it'\\''s'"),
            ("a;b", "'a;b'"),
            ("", "''"),
        ] {
            assert_eq!(as_typed(Path::new(path)), typed);
        }
    }
}
