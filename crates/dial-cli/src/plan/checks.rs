//! What a command will write, checked before any work is done: folders exist, and nothing that is read, or written by
//! the same command, is overwritten.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use dial_data::write::destination;
use dial_data::{Pool, Show};

use crate::ui::failure::Failure;

/// Refuses outputs in folders that do not exist, and outputs that are the pool, another input (what it is, its file) or
/// another output.
pub fn check(
    outputs: &[&Path],
    pool: &str,
    inputs: &[(&str, Option<&Path>)],
) -> Result<(), Failure> {
    outputs.iter().try_for_each(|file| folder_exists(file))?;
    let mut taken: Vec<(String, PathBuf)> = Vec::new();
    let pool_file = Some(Path::new(pool)).filter(|_| !pool.starts_with("builtin:"));
    for (what, input) in [("pool", pool_file)].iter().chain(inputs) {
        let Some(file) = input else { continue };
        for part in dial_data::parts(file) {
            taken.extend(
                identity(&part).map(|place| (format!("the {what} {}", part.display()), place)),
            );
        }
    }
    let folder = pool_file
        .filter(|pool| pool.is_dir())
        .and_then(|pool| pool.canonicalize().ok());
    for file in outputs {
        let Some(place) = identity(file) else {
            continue;
        };
        if file.exists()
            && folder
                .as_ref()
                .is_some_and(|folder| place.starts_with(folder))
        {
            let text = format!(
                "{}: would overwrite a file of the pool {pool}. Nothing was done.",
                file.display()
            );
            return Err(Failure::settings(format!("{text} Choose another file.")));
        }
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

/// Refuses outputs that are pictures of the pool, which a table may name anywhere in its folder.
pub fn spare_pictures(outputs: &[&Path], pool: &Pool) -> Result<(), Failure> {
    let Show::Images(images) = &pool.show else {
        return Ok(());
    };
    let pictures: HashSet<PathBuf> = images
        .files
        .iter()
        .filter_map(|file| identity(&images.folder.join(file)))
        .collect();
    match outputs
        .iter()
        .find(|file| identity(file).is_some_and(|place| pictures.contains(&place)))
    {
        Some(file) => Err(Failure::settings(format!(
            "{}: would overwrite a picture of the pool. Nothing was done. Choose another file.",
            file.display()
        ))),
        None => Ok(()),
    }
}

/// Refuses a folder, given with an option, that cannot be made because a file is in the way.
pub fn check_folder(folder: &Path, option: &str) -> Result<(), Failure> {
    let in_the_way = folder
        .ancestors()
        .find(|part| part.exists())
        .filter(|part| !part.is_dir());
    match in_the_way {
        Some(part) => Err(Failure::storage(format!(
            "{}: {} is a file, not a folder. Nothing was done. Choose another {option}.",
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
        return wrong("its links lead to no file. Nothing was done. Choose another.".into());
    };
    match end.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => wrong(format!(
            "there is no folder {}. Nothing was done. Create it first, or choose another.",
            folder.display()
        )),
        _ => Ok(()),
    }
}

/// The one path of a file, whether it exists or not; none if its folder does not exist.
pub fn identity(file: &Path) -> Option<PathBuf> {
    let end = destination(file).ok()?;
    end.canonicalize().ok().or_else(|| {
        let folder = end
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        Some(folder.canonicalize().ok()?.join(end.file_name()?))
    })
}
