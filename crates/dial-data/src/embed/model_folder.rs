//! The files of a model: which of a folder are read, and the fingerprint of what they hold.
//!
//! A network is an ONNX file: the one named, `model.onnx` or the only one of a folder or of its sub-folder `onnx`, as they
//! are published. A folder whose vectors are one table holds word vectors, also where it has a copy of them as a network.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
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

/// What a path holds.
pub(super) enum Found {
    /// The folder of a model of word vectors.
    Words(PathBuf),
    /// An ONNX file.
    Network(PathBuf),
}

/// What lies at a path.
pub(super) fn find(path: &Path) -> Result<Found, Fault> {
    if path.is_file() && path.extension().is_some_and(|ending| ending == "onnx") {
        return Ok(Found::Network(path.to_path_buf()));
    }
    if holds_a_table(path) {
        return inner(path).map(Found::Words);
    }
    for folder in [path.to_path_buf(), path.join("onnx")] {
        if let Some(file) = only_file(&folder, "onnx", "model.onnx")? {
            return Ok(Found::Network(file));
        }
    }
    inner(path).map(Found::Words)
}

/// Whether the safetensors of a folder are one table of vectors, perhaps with numbers for each row: word vectors, and not
/// the layers of a network.
fn holds_a_table(path: &Path) -> bool {
    let Ok(folder) = inner(path) else {
        return false;
    };
    let Ok(file) = vectors_file(&folder) else {
        return false;
    };
    let Ok(header) = header(&file) else {
        return false;
    };
    let sides = |tensor: &Value| tensor["shape"].as_array().map_or(0, Vec::len);
    let tensors: Vec<usize> = (header.as_object().into_iter().flatten())
        .filter(|(name, _)| *name != "__metadata__")
        .map(|(_, tensor)| sides(tensor))
        .collect();
    tensors.iter().filter(|&&sides| sides == 2).count() == 1
        && tensors.iter().all(|&sides| sides <= 2)
}

/// The header of a safetensors file: its length in eight bytes, then JSON.
fn header(file: &Path) -> std::io::Result<Value> {
    let mut file = std::fs::File::open(file)?;
    let mut length = [0; 8];
    file.read_exact(&mut length)?;
    let mut text = Vec::new();
    file.take(u64::from_le_bytes(length).min(MAX_HEADER))
        .read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

/// A table has a short header.
const MAX_HEADER: u64 = 1 << 16;

const NEXT: &str = "Name an ONNX file or its folder, or the folder of a model of static word vectors: one with tokenizer.json and model.safetensors, as \
     model2vec and sentence-transformers save them.";

/// Reads the files of a model.
pub(super) fn read(folder: &Path) -> Result<ModelFiles, Fault> {
    let tokenizer = read_one(&folder.join("tokenizer.json"))?;
    let vectors = read_one(&vectors_file(folder)?)?;
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
    only_file(folder, "safetensors", "model.safetensors")?
        .ok_or_else(|| Fault::format("there is no .safetensors file in this folder", NEXT))
}

/// The file of a folder that is called as usual, or the only one with this ending.
fn only_file(folder: &Path, ending: &str, usual: &str) -> Result<Option<PathBuf>, Fault> {
    let named = folder.join(usual);
    if named.is_file() {
        return Ok(Some(named));
    }
    if !folder.is_dir() {
        return Ok(None);
    }
    let entries = std::fs::read_dir(folder).map_err(|error| Fault::io(&error, "reading"))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect();
    match found.len() {
        0 | 1 => Ok(found.pop()),
        _ => Err(Fault::format(
            format!("there are several .{ending} files and none is called {usual}"),
            match ending {
                "onnx" => format!("Name the file to use, or call it {usual}."),
                _ => format!("Call the one to use {usual}."),
            },
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
