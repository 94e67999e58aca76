//! Files that only the owner can read: the token, the secret of the sessions, links that open a browser.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use dial_store::{Error, Folder, Result};
use serde::{Deserialize, Serialize};

use crate::auth::sessions::secret;

/// What the keys of browser sessions are derived from, and the file in which it was written. It lies beside the database
/// and not in it: backups do not hold it. In a copy of the file the number is another one, so a copied project does not
/// take the sessions of the first one along.
#[derive(Serialize, Deserialize)]
struct Root {
    secret: String,
    inode: u64,
}

/// The secret of the sessions of a project: the one of last time, or a new one.
///
/// # Errors
/// A file that cannot be written, no random numbers.
pub fn session_root(folder: Option<&Folder>) -> Result<String> {
    let Some(folder) = folder else {
        return secret();
    };
    let path = folder.0.join("sessions.key");
    let kept = File::open(&path).ok().and_then(|file| {
        let inode = inode(&file);
        let root: Root = serde_json::from_reader(file).ok()?;
        (inode == Some(root.inode) && root.secret.len() == 64).then_some(root.secret)
    });
    if let Some(secret) = kept {
        return Ok(secret);
    }
    let secret = secret()?;
    let mut file = create(&path)?;
    let root = Root {
        secret: secret.clone(),
        inode: inode(&file).unwrap_or_default(),
    };
    file.write_all(&serde_json::to_vec(&root).unwrap_or_default())
        .map_err(|error| failed(&path, &error))?;
    Ok(secret)
}

#[cfg(unix)]
fn inode(file: &File) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().ok().map(|data| data.ino())
}

#[cfg(not(unix))]
fn inode(_: &File) -> Option<u64> {
    Some(0)
}

/// Makes a file anew.
///
/// # Errors
/// What making a file may fail with.
pub fn create(path: &Path) -> Result<File> {
    // A file of before may have other permissions.
    let _ = std::fs::remove_file(path);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path).map_err(|error| failed(path, &error))
}

/// Makes a folder, or uses the one that is there.
///
/// # Errors
/// What making a folder may fail with.
pub fn folder(path: &Path) -> Result<PathBuf> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.recursive(true);
    builder.create(path).map_err(|error| failed(path, &error))?;
    std::path::absolute(path).map_err(|error| failed(path, &error))
}

/// A file that could not be written.
pub fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::Place {
        place: path.display().to_string(),
        why: error.to_string(),
        next: "Check that the folder can be written to.".into(),
    }
}
