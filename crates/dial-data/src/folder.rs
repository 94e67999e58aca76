//! A folder as a pool: picture files or text files, found in it and its sub-folders; ids are the paths from the folder.
//!
//! Paths are in one order on every machine (that of their bytes, with `/` between the parts). Hidden files are passed
//! over; links are followed to files, never to folders, so that no walk goes in circles.

use std::path::Path;

use crate::error::{Error, Fault, Result, plural};
use crate::pool::{Draft, Kind, ReadOptions};
use crate::show::{Images, Show};
use crate::truth::Truth;

/// Endings of what we read.
const PICTURES: [&str; 3] = ["png", "jpg", "jpeg"];
const TEXTS: [&str; 1] = ["txt"];
/// How deep sub-folders may lie, and how many files a pool may have.
const DEEPEST: usize = 32;
const MOST: usize = 10_000_000;

/// Reads the files of a folder.
pub(crate) fn read(place: &str, options: &ReadOptions) -> Result<Draft> {
    let mut files = Vec::new();
    walk(Path::new(place), "", 0, &mut files).map_err(|fault| fault.at(place))?;
    files.sort_unstable();
    let of = |endings: &[&str]| files.iter().filter(|file| ends(file, endings)).cloned().collect::<Vec<String>>();
    let (pictures, texts) = (of(&PICTURES), of(&TEXTS));
    let kind = match options.kind {
        Some(kind) => kind,
        None if !pictures.is_empty() && !texts.is_empty() => {
            let (p, t) = (pictures.len(), texts.len());
            let text = format!(
                "this folder holds {p} {} and {t} {}: choose with --as images or --as texts.",
                plural(p, "picture", "pictures"),
                plural(t, "text", "texts")
            );
            return Err(Fault::Setting(text).at(place));
        }
        None if !texts.is_empty() => Kind::Texts,
        None => Kind::Images,
    };
    let chosen = match kind {
        Kind::Images => pictures,
        Kind::Texts => texts,
        Kind::Table => return Err(Fault::Setting("a folder is not a table.".into()).at(place)),
        Kind::Scene => return Err(Fault::Setting("a folder is not a scene.".into()).at(place)),
    };
    if chosen.is_empty() {
        let next = "Give a folder of .png, .jpg or .jpeg pictures, or of .txt texts.";
        return Err(Fault::format("a folder without pictures or texts", next).at(place));
    }
    let mut draft = match kind {
        Kind::Texts => texts_of(place, &chosen)?,
        _ => Draft::shown(chosen.len(), Show::Images(Images { folder: place.into(), files: chosen.clone() })),
    };
    if options.folder_labels {
        let names: Vec<&str> = chosen.iter().map(|file| file.split_once('/').map_or("", |(first, _)| first)).collect();
        draft.truth = Some(Truth::from_names(&names)?);
        draft.notes.push("labels are the names of the sub-folders".into());
    }
    draft.ids = Some(chosen);
    Ok(draft)
}

fn ends(file: &str, endings: &[&str]) -> bool {
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    endings.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

fn walk(folder: &Path, prefix: &str, depth: usize, files: &mut Vec<String>) -> std::result::Result<(), Fault> {
    let failed = |error: std::io::Error| Fault::io(&error, &format!("cannot read the folder {prefix:?}"));
    if depth > DEEPEST {
        return Err(Fault::Setting(format!("sub-folders lie deeper than {DEEPEST} levels at {prefix:?}.")));
    }
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            walk(&entry.path(), &format!("{path}/"), depth + 1, files)?;
        } else if kind.is_file() || (kind.is_symlink() && entry.path().is_file()) {
            files.push(path);
        }
        if files.len() > MOST {
            return Err(Fault::Setting(format!("more than {MOST} files.")));
        }
    }
    Ok(())
}

/// One text per file.
fn texts_of(place: &str, files: &[String]) -> Result<Draft> {
    let read = |file: &String| -> Result<String> {
        let path = format!("{}/{file}", place.trim_end_matches('/'));
        let bytes = crate::open::read_file(&path)?;
        let at = |fault: Fault| -> Error { fault.at(&path) };
        if bytes.len() > crate::records::LONGEST {
            return Err(at(Fault::damaged("a text longer than 16 MiB")));
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let text = std::str::from_utf8(bytes);
        text.map(String::from).map_err(|_| at(Fault::format("not valid UTF-8", "Save the text as UTF-8.")))
    };
    let texts = files.iter().map(read).collect::<Result<Vec<String>>>()?;
    Ok(Draft::shown(texts.len(), Show::Texts(texts)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_in_order_with_their_folders() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("b/two.txt", "\u{feff}two");
        write("a/one.TXT", "one");
        write("a/.hidden.txt", "never");
        write("readme.md", "never");
        let place = folder.path().display().to_string();
        let options = ReadOptions { folder_labels: true, ..ReadOptions::default() };
        let draft = read(&place, &options).unwrap();
        assert_eq!(draft.ids.unwrap(), ["a/one.TXT", "b/two.txt"]);
        assert_eq!(draft.show, Show::Texts(vec!["one".into(), "two".into()]));
        assert_eq!(draft.truth.unwrap().classes, ["a", "b"]);
        write("a/p.png", "");
        assert_eq!(read(&place, &options).unwrap_err().code(), "U1");
        let images = ReadOptions { kind: Some(Kind::Images), ..ReadOptions::default() };
        assert_eq!(read(&place, &images).unwrap().ids.unwrap(), ["a/p.png"]);
    }
}
