//! What a command will write, checked before any work is done: folders exist, and nothing that is read, or written by
//! the same command, is overwritten.

use std::path::{Path, PathBuf};

use dial_data::write::destination;

use crate::failure::Failure;

/// Refuses outputs in folders that do not exist, and outputs that are the pool, another input (what it is, its file) or
/// another output.
pub fn check(outputs: &[&Path], pool: &str, inputs: &[(&str, Option<&Path>)]) -> Result<(), Failure> {
    outputs.iter().try_for_each(|file| folder_exists(file))?;
    let mut taken: Vec<(String, PathBuf)> = Vec::new();
    if !pool.starts_with("builtin:") {
        taken.extend(identity(Path::new(pool)).map(|place| (format!("the pool {pool}"), place)));
    }
    for (what, input) in inputs {
        let Some(file) = input else { continue };
        taken.extend(identity(file).map(|place| (format!("the {what} {}", file.display()), place)));
    }
    for file in outputs {
        let Some(place) = identity(file) else { continue };
        if let Some((name, _)) = taken.iter().find(|(_, other)| *other == place) {
            return Err(Failure::settings(format!(
                "{}: would overwrite {name}. Nothing was done. Choose another file.",
                file.display()
            )));
        }
        taken.push((format!("the output {}", file.display()), place));
    }
    Ok(())
}

/// Refuses a folder that cannot be made because a file is in the way.
pub fn check_folder(folder: &Path) -> Result<(), Failure> {
    let in_the_way = folder.ancestors().find(|part| part.exists()).filter(|part| !part.is_dir());
    match in_the_way {
        Some(part) => Err(Failure::storage(format!(
            "{}: {} is a file, not a folder. Nothing was done. Choose another --out.",
            folder.display(),
            part.display()
        ))),
        None => Ok(()),
    }
}

fn folder_exists(file: &Path) -> Result<(), Failure> {
    let wrong = |what: String| Err(Failure::storage(format!("{}: {what}", file.display())));
    if file.is_dir() {
        return wrong("is a folder. Nothing was done. Give the name of a file.".into());
    }
    let Ok(end) = destination(file) else {
        return wrong("its links lead nowhere. Nothing was done. Choose another.".into());
    };
    match end.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => wrong(format!(
            "there is no folder {}. Nothing was done. Make it first, or choose another.",
            folder.display()
        )),
        _ => Ok(()),
    }
}

/// The one path of a file, whether it exists or not; none if its folder does not exist.
fn identity(file: &Path) -> Option<PathBuf> {
    let end = destination(file).ok()?;
    end.canonicalize().ok().or_else(|| {
        let folder = end.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(folder.canonicalize().ok()?.join(end.file_name()?))
    })
}
