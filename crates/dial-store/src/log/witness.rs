//! A second, synced record of where the log of a project ends, outside the database and its write-ahead log.
//!
//! SQLite takes a write-ahead log that is damaged, cut short or deleted for one that never held more: the newest labels are
//! missing, and nothing in the database says so. This file says so.
//!
//! ```text
//! head.witness    two slots, at bytes 0 and 4096:
//!                 magic (8) | start of the chain (32) | sequence (8) | chain (32) | SHA-256 of the 80 bytes before (32)
//!
//! append          commit, synced -> files still the same -> slot written, synced -> files still the same -> acknowledged
//! open            log verified -> compared with the newest intact slot -> opened, or refused (S9)
//! ```
//!
//! The slots are written in turn, in blocks of their own: a write torn by a power cut leaves the other one. The start of the
//! chain is a hash of the id of the project.
//!
//! What this proves: as long as this file is as it was written last, every acknowledged event is in the log that is opened.
//! A log may hold more than is witnessed: it was committed, and the process ended before it could acknowledge. If this file
//! is lost or damaged too, only the newest backup in the folder says how many events there were at least.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::log::record::Chain;
use crate::log::watch::FileNumber;
use crate::project::folder::{private_file, sync_folder_of};

const WITNESS_MAGIC: &[u8; 8] = b"DiALhead";
const WITNESS_SLOT_BYTES: usize = 112;
/// Slots are this far apart: no disk writes larger sectors than this.
const WITNESS_BLOCK_BYTES: usize = 4096;

/// Where a log ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The sequence number of the last record; 0 if there is none.
    pub seq: u64,
    /// The end of the chain.
    pub chain: Chain,
}

/// What the file of a witness says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stated {
    /// There is no such file.
    Absent,
    /// Neither slot is as it was written.
    Damaged,
    /// The log of the project whose chain starts so held at least this.
    Head {
        /// The start of the chain.
        start: Chain,
        /// Where the log ended.
        head: Head,
    },
}

/// The witness beside a database.
pub(crate) fn beside(database: &Path) -> PathBuf {
    database.with_file_name("head.witness")
}

/// Reads a witness. Nothing is changed.
pub(crate) fn read(path: &Path) -> Result<Stated> {
    let mut bytes = Vec::new();
    match File::open(path) {
        // No more than there can be: what lies there may be anything.
        Ok(file) => file
            .take(2 * WITNESS_BLOCK_BYTES as u64)
            .read_to_end(&mut bytes)
            .map_err(|error| Error::io(path, &error))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Stated::Absent),
        Err(error) => return Err(Error::io(path, &error)),
    };
    let [first, second] = slots(&bytes);
    Ok(match (first, second) {
        (None, None) => Stated::Damaged,
        (Some((start, _)), Some((other, _))) if start != other => Stated::Damaged,
        (first, second) => {
            let newest = first.into_iter().chain(second);
            let (start, head) = newest
                .max_by_key(|(_, head)| head.seq)
                .expect("one is there");
            Stated::Head { start, head }
        }
    })
}

/// The witness of a database that is open for writing.
#[derive(Debug)]
pub(crate) struct Witness {
    path: PathBuf,
    file: File,
    number: FileNumber,
    start: Chain,
    /// The slot to write next.
    next: usize,
}

impl Witness {
    /// A new file, in place of one that may be there, which states this in both slots.
    pub(crate) fn create(path: &Path, start: Chain, head: Head) -> Result<Witness> {
        let part = path.with_extension("part");
        let _ = fs::remove_file(&part);
        let made = private_file(&part).and_then(|file| {
            let slot = encode(&start, &head);
            write_at(&file, &slot, 0)?;
            write_at(&file, &slot, WITNESS_BLOCK_BYTES as u64)?;
            file.set_len(2 * WITNESS_BLOCK_BYTES as u64)?;
            file.sync_all()?;
            fs::rename(&part, path)?;
            Ok(file)
        });
        let file = made.map_err(|error| Error::write(path, &error))?;
        sync_folder_of(path)?;
        Ok(Witness {
            path: path.to_path_buf(),
            file,
            number: FileNumber::of(path),
            start,
            next: 0,
        })
    }

    /// Goes on with a file that [`read`] found intact, and lets it state where the log ends.
    pub(crate) fn resume(path: &Path, start: Chain, head: Head) -> Result<Witness> {
        let (mut witness, newest) = Witness::open(path, start)?;
        if newest != Some(head) {
            witness.state(head)?;
        }
        Ok(witness)
    }

    /// The same, and both slots are written anew, the newer one first: it may state what was never acknowledged.
    pub(crate) fn restate(path: &Path, start: Chain, head: Head) -> Result<Witness> {
        let (mut witness, _) = Witness::open(path, start)?;
        witness.next = 1 - witness.next;
        witness.state(head)?;
        witness.state(head)?;
        Ok(witness)
    }

    /// Opens a file, to write the older slot next; also what the newer one states.
    fn open(path: &Path, start: Chain) -> Result<(Witness, Option<Head>)> {
        let failed = |error: std::io::Error| Error::write(path, &error);
        let mut file = File::options()
            .read(true)
            .write(true)
            .open(path)
            // Nothing was written yet.
            .map_err(|error| Error::io(path, &error))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let [first, second] = slots(&bytes).map(|slot| slot.map(|(_, head)| head));
        let seq = |slot: Option<Head>| slot.map(|head| head.seq);
        // A slot that is not intact counts as the older one.
        let next = usize::from(seq(first) > seq(second));
        let witness = Witness {
            path: path.to_path_buf(),
            file,
            number: FileNumber::of(path),
            start,
            next,
        };
        Ok((witness, if next == 0 { second } else { first }))
    }

    /// States where the log ends, synced.
    pub(crate) fn state(&mut self, head: Head) -> Result<()> {
        let slot = encode(&self.start, &head);
        write_at(&self.file, &slot, (self.next * WITNESS_BLOCK_BYTES) as u64)
            .and_then(|()| self.file.sync_data())
            .map_err(|error| Error::write(&self.path, &error))?;
        self.next = 1 - self.next;
        Ok(())
    }

    /// Refuses a file that was moved, deleted or replaced while it was open.
    pub(crate) fn check(&self) -> Result<()> {
        self.number.check(&self.path)
    }
}

fn encode(start: &Chain, head: &Head) -> [u8; WITNESS_SLOT_BYTES] {
    let mut slot = [0; WITNESS_SLOT_BYTES];
    slot[..8].copy_from_slice(WITNESS_MAGIC);
    slot[8..40].copy_from_slice(start);
    slot[40..48].copy_from_slice(&head.seq.to_le_bytes());
    slot[48..80].copy_from_slice(&head.chain);
    let sum = Sha256::digest(&slot[..80]);
    slot[80..].copy_from_slice(&sum);
    slot
}

/// The slots that are as they were written: the start of the chain and its end.
fn slots(bytes: &[u8]) -> [Option<(Chain, Head)>; 2] {
    [0, WITNESS_BLOCK_BYTES].map(|at| {
        let slot = bytes.get(at..at + WITNESS_SLOT_BYTES)?;
        let intact = slot.starts_with(WITNESS_MAGIC)
            && Sha256::digest(&slot[..80]).as_slice() == &slot[80..];
        intact.then(|| {
            let chain = |at: usize| slot[at..at + 32].try_into().expect("32 bytes");
            let seq = u64::from_le_bytes(slot[40..48].try_into().expect("8 bytes"));
            (
                chain(8),
                Head {
                    seq,
                    chain: chain(48),
                },
            )
        })
    })
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], at: u64) -> std::io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Chain = [7; 32];

    fn head(seq: u64) -> Head {
        Head {
            seq,
            chain: [seq as u8; 32],
        }
    }

    fn stated(seq: u64) -> Stated {
        Stated::Head {
            start: START,
            head: head(seq),
        }
    }

    #[test]
    fn one_torn_slot_leaves_the_other_and_two_are_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("head.witness");
        assert_eq!(read(&path).unwrap(), Stated::Absent);
        let mut witness = Witness::create(&path, START, head(3)).unwrap();
        assert_eq!(read(&path).unwrap(), stated(3));
        witness.state(head(4)).unwrap();
        witness.state(head(6)).unwrap();
        assert_eq!(read(&path).unwrap(), stated(6));
        drop(witness);
        let whole = fs::read(&path).unwrap();
        assert_eq!(whole.len(), 2 * WITNESS_BLOCK_BYTES);
        // Slots 4 (first) and 6 (second): any flipped byte of one leaves the other.
        for at in 0..WITNESS_SLOT_BYTES {
            for (block, left) in [(0, 6), (1, 4)] {
                let mut torn = whole.clone();
                torn[block * WITNESS_BLOCK_BYTES + at] ^= 1;
                fs::write(&path, &torn).unwrap();
                assert_eq!(read(&path).unwrap(), stated(left), "byte {at} of {block}");
                torn[(1 - block) * WITNESS_BLOCK_BYTES + at] ^= 1;
                fs::write(&path, &torn).unwrap();
                assert_eq!(read(&path).unwrap(), Stated::Damaged, "byte {at} of both");
            }
        }
        for length in [0, 1, WITNESS_SLOT_BYTES - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(read(&path).unwrap(), Stated::Damaged, "{length} bytes");
        }
    }

    #[test]
    fn a_witness_goes_on_in_the_older_slot() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("head.witness");
        let mut witness = Witness::create(&path, START, head(1)).unwrap();
        witness.state(head(2)).unwrap();
        let before = fs::read(&path).unwrap();
        // What it states already is not written again.
        drop(Witness::resume(&path, START, head(2)).unwrap());
        assert_eq!(fs::read(&path).unwrap(), before);
        drop(Witness::resume(&path, START, head(5)).unwrap());
        let after = fs::read(&path).unwrap();
        assert_eq!(read(&path).unwrap(), stated(5));
        assert_eq!(
            after[..WITNESS_BLOCK_BYTES],
            before[..WITNESS_BLOCK_BYTES],
            "the newer slot is left alone"
        );
        // A torn slot is the one that is written next.
        let mut torn = after.clone();
        torn[WITNESS_BLOCK_BYTES + 50] ^= 1;
        fs::write(&path, &torn).unwrap();
        drop(Witness::resume(&path, START, head(6)).unwrap());
        assert_eq!(read(&path).unwrap(), stated(6));
        assert_eq!(
            fs::read(&path).unwrap()[..WITNESS_BLOCK_BYTES],
            torn[..WITNESS_BLOCK_BYTES]
        );
    }

    #[test]
    fn a_witness_that_was_replaced_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("head.witness");
        let witness = Witness::create(&path, START, head(1)).unwrap();
        witness.check().unwrap();
        fs::copy(&path, folder.path().join("copy")).unwrap();
        fs::rename(folder.path().join("copy"), &path).unwrap();
        assert_eq!(witness.check().unwrap_err().code(), "S5");
        fs::remove_file(&path).unwrap();
        assert_eq!(witness.check().unwrap_err().code(), "S5");
    }
}
