//! The files of a model: which of a folder are read, and the fingerprint of what they hold.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::Fault;
use crate::open::read_file;

/// The contents of the files of a model of word vectors.
pub(super) struct ModelFiles {
    /// The tokenizer, as JSON.
    pub tokenizer: Vec<u8>,
    /// The vectors, as safetensors.
    pub vectors: Vec<u8>,
    /// SHA-256 over both, in hexadecimal.
    pub fingerprint: String,
}

const NEXT: &str = "Name the folder of a model of static word vectors: one with tokenizer.json and model.safetensors, as model2vec and \
     sentence-transformers save them.";

/// Reads the files of a model.
pub(super) fn read(folder: &Path) -> Result<ModelFiles, Fault> {
    let folder = inner(folder)?;
    let tokenizer = read_one(&folder.join("tokenizer.json"))?;
    let vectors = read_one(&vectors_file(&folder)?)?;
    let mut sum = Sha256::new();
    for bytes in [&tokenizer, &vectors] {
        sum.update((bytes.len() as u64).to_le_bytes());
        sum.update(bytes);
    }
    Ok(ModelFiles {
        tokenizer,
        vectors,
        fingerprint: hex::encode(sum.finalize()),
    })
}

/// The folder that holds the files: sentence-transformers puts them into one of its own.
fn inner(folder: &Path) -> Result<PathBuf, Fault> {
    if !folder.is_dir() {
        let what = if folder.exists() {
            "is a file, not the folder of a model"
        } else {
            "there is no such folder"
        };
        return Err(Fault::format(what, NEXT));
    }
    let static_part = folder.join("0_StaticEmbedding");
    let found = [folder.to_path_buf(), static_part]
        .into_iter()
        .find(|folder| folder.join("tokenizer.json").is_file());
    found.ok_or_else(|| Fault::format("there is no tokenizer.json in this folder", NEXT))
}

/// `model.safetensors`, or the only file of that kind.
fn vectors_file(folder: &Path) -> Result<PathBuf, Fault> {
    let usual = folder.join("model.safetensors");
    if usual.is_file() {
        return Ok(usual);
    }
    let entries = std::fs::read_dir(folder).map_err(|error| Fault::io(&error, "reading"))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|ending| ending == "safetensors")
        })
        .collect();
    match (found.pop(), found.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(Fault::format(
            "there is no .safetensors file in this folder",
            NEXT,
        )),
        (Some(_), _) => Err(Fault::format(
            "there are several .safetensors files and none is called model.safetensors",
            "Call the one with the word vectors model.safetensors.",
        )),
    }
}

fn read_one(path: &Path) -> Result<Vec<u8>, Fault> {
    let place = path.display().to_string();
    let name = path
        .file_name()
        .map_or_else(|| place.clone(), |name| name.to_string_lossy().into_owned());
    read_file(&place).map_err(|error| Fault::format(format!("{name}: {}", error.fault), NEXT))
}
