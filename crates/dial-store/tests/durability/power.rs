//! A disk for the child that keeps what was synced apart and fails on demand: a C library loaded before all others.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

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

/// What a power cut leaves of each file.
#[derive(Clone, Copy, Debug)]
pub enum Left {
    /// What was synced.
    Synced,
    /// Of every sector what was synced or what was written, as it happens.
    Mixed,
}

/// Puts a folder back to what a power cut would have left of it.
pub fn cut(folder: &Path, synced: &Path, left: Left, random: &mut Random) {
    let mut names: Vec<_> = [folder, synced]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| !name.to_string_lossy().starts_with('.'))
        .collect();
    names.sort();
    names.dedup();
    for name in names {
        let (file, copy) = (folder.join(&name), synced.join(&name));
        let (written, kept) = (std::fs::read(&file).ok(), std::fs::read(&copy).ok());
        let after = match (left, written, kept) {
            (Left::Synced, _, kept) => kept,
            (Left::Mixed, Some(written), kept) => {
                // A file that was never synced may be gone, or be there in part.
                let gone = kept.is_none() && random.below(2) == 0;
                (!gone).then(|| mixed(&written, &kept.unwrap_or_default(), random))
            }
            (Left::Mixed, None, kept) => kept.filter(|_| random.below(2) == 0),
        };
        match after {
            Some(bytes) => std::fs::write(&file, bytes).unwrap(),
            None => drop(std::fs::remove_file(&file)),
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
