//! Which files of a folder belong to it: those that lie below it once all links are followed.
//!
//! Whoever made a folder may have put links into it that lead anywhere, and what they lead to would be shown and sent as
//! an item. One rule holds for folders of pictures and of texts and for tables that list pictures.

use std::io;
use std::path::{Path, PathBuf};

/// A folder with all links followed.
#[derive(Clone, Debug)]
pub struct Root(PathBuf);

/// Where a path from a folder leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// To this plain file below the folder, by whatever links.
    File(PathBuf),
    /// Out of the folder.
    Outside,
    /// To a folder, a pipe, a device, or to nothing.
    NoFile,
}

impl Root {
    /// The folder at a path.
    ///
    /// # Errors
    /// A folder that is not there, or that may not be looked into.
    pub fn of(folder: &Path) -> io::Result<Root> {
        folder.canonicalize().map(Root)
    }

    /// Where a path from the folder leads to.
    pub fn find(&self, path: &str) -> Place {
        match self.0.join(path).canonicalize() {
            Ok(end) if !end.starts_with(&self.0) => Place::Outside,
            Ok(end) if end.is_file() => Place::File(end),
            _ => Place::NoFile,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_what_lies_below_the_folder_belongs_to_it() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for folder in ["pool", "pool/a", "pool beside"] {
            std::fs::create_dir(at(folder)).unwrap();
        }
        for file in ["pool/a/1.txt", "secret.txt", "pool beside/2.txt"] {
            std::fs::write(at(file), "x").unwrap();
        }
        symlink("a/1.txt", at("pool/inner")).unwrap();
        symlink("../secret.txt", at("pool/up")).unwrap();
        symlink(at("secret.txt"), at("pool/absolute")).unwrap();
        symlink("up", at("pool/twice")).unwrap();
        symlink("../pool beside", at("pool/folder")).unwrap();
        symlink("nowhere", at("pool/broken")).unwrap();
        symlink("/dev/zero", at("pool/device")).unwrap();
        // The folder itself may be reached by a link.
        symlink("pool", at("link")).unwrap();
        for folder in ["pool", "link"] {
            let root = Root::of(&at(folder)).unwrap();
            let whole = at("pool/a/1.txt").canonicalize().unwrap();
            for inside in ["a/1.txt", "inner", "a/../inner"] {
                assert_eq!(root.find(inside), Place::File(whole.clone()), "{inside}");
            }
            for outside in [
                "up",
                "absolute",
                "twice",
                "folder/2.txt",
                "device",
                "../secret.txt",
                "/etc/passwd",
            ] {
                assert_eq!(root.find(outside), Place::Outside, "{outside}");
            }
            for nothing in ["broken", "a", "never.txt"] {
                assert_eq!(root.find(nothing), Place::NoFile, "{nothing}");
            }
        }
    }
}
