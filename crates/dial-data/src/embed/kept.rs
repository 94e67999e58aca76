//! Embeddings kept on disk: what was embedded once is not embedded again.
//!
//! ```text
//! FOLDER/FINGERPRINT.rows      a file for each model, named after its fingerprint
//!   DIALROWS 1, dim            16 bytes: the name of the format, its version, the length of a row (little-endian)
//!   key, row, check            for each item: SHA-256 of its content, `dim` numbers (f32), the first 8 bytes of
//!                              SHA-256 over both
//! ```
//!
//! Rows are appended a chunk at a time, so a run that is killed loses its last chunk at most (16 items per thread where a
//! network makes them). A row that a kill cut short
//! or that a disk damaged fails its check: it and what follows it are cut off and embedded again. Only one process at a
//! time writes; another one reads what is there and keeps nothing. The file is a cache: nothing breaks where it is deleted
//! or cannot be written.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use dial::Control;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::items::{Errors, Items, Key};
use super::model::Model;
use super::{Embed, Embedded};
use crate::error::Fault;
use crate::pool::matrix::{Buffer, Matrix};

const MAGIC: [u8; 8] = *b"DIALROWS";
const VERSION: u32 = 1;
const HEADER_BYTES: u64 = 16;
const KEY_BYTES: usize = 32;
const CHECK_BYTES: usize = 8;
/// The longest row that is believed.
pub(super) const MAX_DIM: usize = 1 << 16;

/// The embeddings of items: those that are kept, and the others by the model.
pub(super) fn embedded(
    items: Items<'_>,
    embed: &Embed,
    control: &Control,
) -> Result<Embedded, Fault> {
    // What cannot be read has an error and the key of nothing.
    let found: Vec<_> = (0..items.count())
        .into_par_iter()
        .map(|item| items.key(item))
        .collect();
    let mut errors: Errors = found
        .iter()
        .map(|key| key.as_ref().err().cloned())
        .collect();
    let keys: Vec<Key> = found
        .into_iter()
        .map(|key| key.unwrap_or([0; KEY_BYTES]))
        .collect();
    let embeddable = |rows: &Rows<'_>, errors: &Errors| -> Vec<usize> {
        let missing = rows.missing().into_iter();
        missing.filter(|&item| errors[item].is_none()).collect()
    };
    // A project whose embeddings are complete needs its model no more.
    if let (Some(folder), Some(fingerprint)) = (&embed.kept, &embed.fingerprint)
        && let Some(dim) = RowFile::dim(folder, fingerprint)
    {
        let mut rows = Rows::new(&keys, dim);
        RowFile::open(folder, fingerprint, dim, &mut rows);
        if embeddable(&rows, &errors).is_empty() {
            return Ok(rows.embedded(fingerprint.clone(), errors));
        }
    }
    let model = Model::open(&embed.model, items)?;
    if let Some(before) = embed
        .fingerprint
        .as_ref()
        .filter(|before| **before != model.fingerprint)
    {
        let what = format!(
            "this is another model than the one the project was made with ({})",
            &before[..12.min(before.len())]
        );
        let next = "Put that model back, or give this one with dial pool --embed, which builds the graph again and keeps the labels.";
        return Err(Fault::format(what, next));
    }
    let mut rows = Rows::new(&keys, model.dim);
    let mut file = embed
        .kept
        .as_ref()
        .map(|folder| RowFile::open(folder, &model.fingerprint, model.dim, &mut rows));
    let missing = embeddable(&rows, &errors);
    control.start(&format!("embedding {}", items.word()), missing.len());
    for chunk in missing.chunks(model.items_per_chunk()) {
        let (values, wrong) = model.rows(items, chunk, control)?;
        let made: Vec<(&Key, &[f32])> = chunk
            .iter()
            .zip(values.chunks(model.dim))
            .zip(&wrong)
            .filter(|(_, error)| error.is_none())
            .map(|((&item, row), _)| (&keys[item], row))
            .collect();
        for (key, row) in &made {
            rows.set(key, row);
        }
        if let Some(file) = &mut file {
            file.append(made.into_iter());
        }
        for (&item, error) in chunk.iter().zip(wrong) {
            errors[item] = error;
        }
    }
    control.finish();
    // An item with the content of another one that cannot be read cannot be read either.
    for item in 0..items.count() {
        if errors[item].is_none() && !rows.known[item] {
            errors[item] = rows
                .first_with(&keys[item])
                .and_then(|first| errors[first].clone());
        }
    }
    let mut embedded = rows.embedded(model.fingerprint, errors);
    embedded.notes.extend(file.and_then(|file| file.trouble));
    Ok(embedded)
}

/// The rows of all items, some of them known.
struct Rows<'a> {
    keys: &'a [Key],
    /// The items of each key.
    items: HashMap<&'a Key, Vec<usize>>,
    values: Vec<f32>,
    known: Vec<bool>,
    dim: usize,
}

impl<'a> Rows<'a> {
    fn new(keys: &'a [Key], dim: usize) -> Rows<'a> {
        let mut items: HashMap<&Key, Vec<usize>> = HashMap::new();
        for (item, key) in keys.iter().enumerate() {
            items.entry(key).or_default().push(item);
        }
        Rows {
            keys,
            items,
            values: vec![0.0; keys.len() * dim],
            known: vec![false; keys.len()],
            dim,
        }
    }

    /// Whether any item has this key.
    fn wants(&self, key: &Key) -> bool {
        self.items.contains_key(key)
    }

    fn set(&mut self, key: &Key, row: &[f32]) {
        for &item in self.items.get(key).into_iter().flatten() {
            self.values[item * self.dim..][..self.dim].copy_from_slice(row);
            self.known[item] = true;
        }
    }

    /// The items without a row, one for each key.
    fn missing(&self) -> Vec<usize> {
        let first = |item: &usize| {
            self.items
                .get(&self.keys[*item])
                .is_some_and(|items| items.first() == Some(item))
        };
        (0..self.keys.len())
            .filter(|&item| !self.known[item])
            .filter(first)
            .collect()
    }

    /// The first item with a key.
    fn first_with(&self, key: &Key) -> Option<usize> {
        self.items.get(key)?.first().copied()
    }

    fn embedded(self, fingerprint: String, errors: Errors) -> Embedded {
        let matrix = Matrix {
            values: Buffer::F32(self.values),
            n: self.keys.len(),
            dim: self.dim,
        };
        Embedded {
            matrix,
            fingerprint,
            errors,
            notes: Vec::new(),
        }
    }
}

/// The file of a model.
struct RowFile {
    /// Where rows are appended; none where nothing can be kept.
    file: Option<File>,
    /// Why nothing is kept, for the user.
    trouble: Option<String>,
}

impl RowFile {
    /// The length of the rows that are kept under a fingerprint.
    fn dim(folder: &Path, fingerprint: &str) -> Option<usize> {
        let mut header = [0; HEADER_BYTES as usize];
        File::open(path(folder, fingerprint))
            .ok()?
            .read_exact(&mut header)
            .ok()?;
        dim_of(&header)
    }

    /// Opens or makes the file, and takes the rows that are wanted from it.
    fn open(folder: &Path, fingerprint: &str, dim: usize, rows: &mut Rows<'_>) -> RowFile {
        let path = path(folder, fingerprint);
        let opened = std::fs::create_dir_all(folder).and_then(|()| {
            OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
        });
        let mut file = match opened {
            Ok(file) => file,
            Err(error) => {
                // What is there may still be read.
                if let Ok(mut file) = File::open(&path) {
                    let _ = read_rows(&mut file, dim, rows);
                }
                return RowFile::without(format!(
                    "the embeddings are not kept: {}: {error}",
                    folder.display()
                ));
            }
        };
        let alone = file.try_lock().is_ok();
        let whole = read_rows(&mut file, dim, rows).unwrap_or(0);
        if !alone {
            return RowFile {
                file: None,
                trouble: None,
            };
        }
        let ready = match whole {
            0 => file
                .set_len(0)
                .and_then(|()| file.seek(SeekFrom::Start(0)))
                .and_then(|_| file.write_all(&header(dim))),
            end => file
                .set_len(end)
                .and_then(|()| file.seek(SeekFrom::Start(end)))
                .map(|_| ()),
        };
        match ready {
            Ok(()) => RowFile {
                file: Some(file),
                trouble: None,
            },
            Err(error) => RowFile::without(format!(
                "the embeddings are not kept: {}: {error}",
                path.display()
            )),
        }
    }

    fn without(trouble: String) -> RowFile {
        RowFile {
            file: None,
            trouble: Some(trouble),
        }
    }

    /// Appends rows. What goes wrong is said once, and nothing more is kept.
    fn append<'r>(&mut self, rows: impl Iterator<Item = (&'r Key, &'r [f32])>) {
        let Some(file) = &mut self.file else {
            return;
        };
        let mut bytes = Vec::new();
        for (key, row) in rows {
            let start = bytes.len();
            bytes.extend_from_slice(key);
            row.iter()
                .for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
            let check = Sha256::digest(&bytes[start..]);
            bytes.extend_from_slice(&check[..CHECK_BYTES]);
        }
        if let Err(error) = file.write_all(&bytes) {
            *self = RowFile::without(format!("the embeddings are kept only in part: {error}"));
        }
    }
}

fn path(folder: &Path, fingerprint: &str) -> std::path::PathBuf {
    folder.join(format!("{fingerprint}.rows"))
}

fn header(dim: usize) -> Vec<u8> {
    [
        &MAGIC[..],
        &VERSION.to_le_bytes(),
        &(dim as u32).to_le_bytes(),
    ]
    .concat()
}

fn dim_of(header: &[u8; HEADER_BYTES as usize]) -> Option<usize> {
    let number = |at: usize| {
        header
            .get(at..at + 4)?
            .try_into()
            .ok()
            .map(u32::from_le_bytes)
    };
    let dim = number(12)? as usize;
    (header.starts_with(&MAGIC) && number(8) == Some(VERSION) && (1..=MAX_DIM).contains(&dim))
        .then_some(dim)
}

/// Takes the rows that are wanted from a file; returns where the last whole row ends, or 0 if this is another file.
fn read_rows(file: &mut File, dim: usize, rows: &mut Rows<'_>) -> std::io::Result<u64> {
    file.seek(SeekFrom::Start(0))?;
    let mut file = BufReader::with_capacity(1 << 20, file);
    let mut start = [0; HEADER_BYTES as usize];
    if file.read_exact(&mut start).is_err() || dim_of(&start) != Some(dim) {
        return Ok(0);
    }
    let (mut end, mut record) = (HEADER_BYTES, vec![0; KEY_BYTES + 4 * dim + CHECK_BYTES]);
    let mut row = vec![0f32; dim];
    while file.read_exact(&mut record).is_ok() {
        let (content, check) = record.split_at(KEY_BYTES + 4 * dim);
        if Sha256::digest(content)[..CHECK_BYTES] != *check {
            break;
        }
        end += record.len() as u64;
        let (key, values) = content.split_at(KEY_BYTES);
        let Ok(key) = Key::try_from(key) else { break };
        if rows.wants(&key) {
            let (numbers, _) = values.as_chunks::<4>();
            row.iter_mut()
                .zip(numbers)
                .for_each(|(value, number)| *value = f32::from_le_bytes(*number));
            rows.set(&key, &row);
        }
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(texts: &[&str]) -> Vec<Key> {
        texts
            .iter()
            .map(|text| Sha256::digest(text).into())
            .collect()
    }

    /// Keeps rows of two numbers for texts, and says how many items still miss theirs.
    fn keep(folder: &Path, texts: &[&str]) -> usize {
        let keys = keys(texts);
        let mut rows = Rows::new(&keys, 2);
        let mut file = RowFile::open(folder, "f", 2, &mut rows);
        let missing = rows.missing();
        let made: Vec<[f32; 2]> = missing.iter().map(|&item| [item as f32, 0.5]).collect();
        file.append(
            missing
                .iter()
                .map(|&item| &keys[item])
                .zip(made.iter().map(|row| &row[..])),
        );
        assert_eq!(file.trouble, None);
        missing.len()
    }

    #[test]
    fn what_is_kept_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            keep(folder.path(), &["a", "b", "a"]),
            2,
            "equal texts are one"
        );
        assert_eq!(keep(folder.path(), &["b", "c", "a"]), 1, "only what is new");
        let keys = keys(&["c", "a"]);
        let mut rows = Rows::new(&keys, 2);
        RowFile::open(folder.path(), "f", 2, &mut rows);
        // "c" was item 1 of its run, "a" item 0 of the first.
        assert_eq!(rows.values, [1.0, 0.5, 0.0, 0.5]);
        assert_eq!(RowFile::dim(folder.path(), "f"), Some(2));
        assert_eq!(RowFile::dim(folder.path(), "g"), None);
    }

    #[test]
    fn a_cut_or_damaged_row_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "f");
        let record = (KEY_BYTES + 8 + CHECK_BYTES) as u64;
        assert_eq!(keep(folder.path(), &["a", "b", "c"]), 3);
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(whole.len() as u64, HEADER_BYTES + 3 * record);
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let left = (cut as u64).saturating_sub(HEADER_BYTES) / record;
            assert_eq!(
                keep(folder.path(), &["a", "b", "c"]) as u64,
                3 - left,
                "cut at {cut}"
            );
            assert_eq!(keep(folder.path(), &["a", "b", "c"]), 0, "and kept again");
        }
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 4;
            std::fs::write(&path, &flipped).unwrap();
            let left = (at as u64).saturating_sub(HEADER_BYTES) / record;
            let all = if at < HEADER_BYTES as usize {
                3
            } else {
                3 - left as usize
            };
            assert_eq!(
                keep(folder.path(), &["a", "b", "c"]),
                all,
                "flipped at {at}"
            );
        }
    }

    #[test]
    fn a_second_process_reads_and_keeps_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(keep(folder.path(), &["a"]), 1);
        let first = File::open(path(folder.path(), "f")).unwrap();
        first.lock().unwrap();
        assert_eq!(keep(folder.path(), &["a", "b"]), 1);
        assert_eq!(keep(folder.path(), &["a", "b"]), 1, "b was not kept");
        first.unlock().unwrap();
        assert_eq!(keep(folder.path(), &["a", "b"]), 1);
        assert_eq!(keep(folder.path(), &["a", "b"]), 0);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_said_and_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let keys = keys(&["a"]);
        let kept = RowFile::open(&file, "f", 2, &mut Rows::new(&keys, 2));
        assert!(kept.trouble.unwrap().contains("not kept"));
    }
}
