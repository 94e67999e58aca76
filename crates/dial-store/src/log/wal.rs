//! The write-ahead log of SQLite as bytes: how much of it SQLite will use, and how much there is.
//!
//! ```text
//! header (32)   magic 0x377f0682 or ...83 | format | page size | checkpoint | salts (8) | checksum (8)
//! frame         page (4) | pages after a commit, else 0 (4) | salts (8) | checksum (8) | the page
//! ```
//!
//! The checksum of a frame continues that of the frame before. SQLite uses the frames up to the last commit before the first
//! frame whose salts or checksum are not right. Frames with other salts are older ones that were not written over yet.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Bytes before the first frame.
pub(crate) const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// The write-ahead log of a database.
pub(crate) fn beside(database: &Path) -> PathBuf {
    with_suffix(database, "-wal")
}

/// The rollback journal of a database.
pub(crate) fn journal_beside(database: &Path) -> PathBuf {
    with_suffix(database, "-journal")
}

fn with_suffix(database: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The header of a write-ahead log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// What marks the frames of this generation.
    pub salts: [u8; 8],
    /// The length of a frame with its own header.
    pub frame: usize,
    /// The checksum that the first frame continues.
    pub sum: [u32; 2],
    big: bool,
}

impl Header {
    /// Reads a header; none if these bytes are not one.
    pub(crate) fn read(bytes: &[u8]) -> Option<Header> {
        let bytes = bytes.get(..HEADER)?;
        let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        let page = word(8) as usize;
        let known = word(0) & !1 == 0x377f_0682 && (512..=65536).contains(&page);
        let (big, mut sum) = (word(0) & 1 == 1, [0; 2]);
        checksum(&bytes[..24], big, &mut sum);
        let right = known && written(&sum) == bytes[24..];
        right.then(|| Header {
            salts: bytes[16..24].try_into().expect("8 bytes"),
            frame: FRAME_HEADER + page,
            sum,
            big,
        })
    }

    /// Whether this is the frame that continues a checksum, which then is its own.
    pub(crate) fn continues(&self, frame: &[u8], sum: &mut [u32; 2]) -> bool {
        if frame.len() != self.frame {
            return false;
        }
        checksum(&frame[..8], self.big, sum);
        checksum(&frame[FRAME_HEADER..], self.big, sum);
        frame[8..16] == self.salts && frame[16..24] == written(sum)
    }
}

/// Whether SQLite would use less of this than was written: frames of its generation after the last usable commit, or a
/// header that is not right. A transaction that was cut off before it was acknowledged looks like that too.
pub(crate) fn has_unused(bytes: &[u8]) -> bool {
    let Some(header) = Header::read(bytes) else {
        return !bytes.is_empty();
    };
    let frames = || bytes[HEADER..].chunks(header.frame);
    let (mut used, mut sum) = (0, header.sum);
    for (place, frame) in frames().enumerate() {
        if !header.continues(frame, &mut sum) {
            break;
        }
        if frame[4..8] != [0; 4] {
            used = place + 1;
        }
    }
    frames()
        .skip(used)
        .any(|frame| frame.get(8..16) == Some(&header.salts))
}

/// Continues a checksum: a sum over pairs of words in the byte order that the magic says.
fn checksum(bytes: &[u8], big: bool, sum: &mut [u32; 2]) {
    let word = |bytes: &[u8]| {
        let bytes = bytes.try_into().expect("4 bytes");
        if big {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        }
    };
    for pair in bytes.chunks_exact(8) {
        sum[0] = sum[0].wrapping_add(word(&pair[..4])).wrapping_add(sum[1]);
        sum[1] = sum[1].wrapping_add(word(&pair[4..])).wrapping_add(sum[0]);
    }
}

/// A checksum as it is stored: big-endian, whatever the words were.
fn written(sum: &[u32; 2]) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&sum[0].to_be_bytes());
    bytes[4..].copy_from_slice(&sum[1].to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// SQLite is the judge: whatever is flipped in its log, it must find all rows where this says that all is used, and a
    /// flip that loses rows must be seen here.
    #[test]
    fn what_sqlite_does_not_use_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        let open = Connection::open(&file).unwrap();
        open.execute_batch("PRAGMA journal_mode=WAL; CREATE TABLE t (x);")
            .unwrap();
        for n in 0..30 {
            open.execute("INSERT INTO t VALUES (?1)", [n]).unwrap();
        }
        let (whole, database) = (
            std::fs::read(beside(&file)).unwrap(),
            std::fs::read(&file).unwrap(),
        );
        assert!(!has_unused(&whole) && !has_unused(b""));
        let rows = |bytes: &[u8]| {
            let copy = folder.path().join("b.db");
            let _ = std::fs::remove_file(folder.path().join("b.db-shm"));
            std::fs::write(&copy, &database).unwrap();
            std::fs::write(beside(&copy), bytes).unwrap();
            let copy = Connection::open(&copy).unwrap();
            copy.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0))
                .unwrap_or(0)
        };
        assert_eq!(rows(&whole), 30);
        let (mut lost, mut step) = (0, 0);
        while step < whole.len() {
            let mut flipped = whole.clone();
            flipped[step] ^= 4;
            let found = rows(&flipped);
            if found < 30 {
                assert!(has_unused(&flipped), "byte {step}: {found} rows");
                lost += 1;
            }
            step += 397;
        }
        assert!(lost > 50, "{lost}");
        // A cut at the end of a transaction looks whole: only the witness can tell.
        let frame = Header::read(&whole).unwrap().frame;
        let end = whole.len() - (whole.len() - HEADER) % frame;
        assert!(!has_unused(&whole[..end - frame]) && rows(&whole[..end - frame]) == 29);
        assert!(has_unused(&whole[..end - 10]) && has_unused(&whole[..10]));
        // A log that began anew over an older, longer one.
        open.execute_batch("PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES (99);")
            .unwrap();
        let again = std::fs::read(beside(&file)).unwrap();
        assert_eq!(again.len(), whole.len());
        assert!(again != whole && !has_unused(&again));
    }
}
