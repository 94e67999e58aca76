//! A folder as a pool: picture files or text files, found in it and its sub-folders; ids are the paths from the folder.
//!
//! Paths are in one order on every machine (that of their bytes, with `/` between the parts). Hidden files are passed
//! over, other files that are not wanted with a note. Links are followed to files of the folder (see [`inside`]), never to
//! folders, so that no walk goes in circles, and never out of the folder; those that are not followed are counted in a
//! note. All texts that cannot be read are found before any is complained about.
//!
//! [`inside`]: crate::media::inside

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{Fault, MAX_LISTED, Result, first_few, first_quoted, plural};
use crate::media::images;
use crate::media::inside::{Place, Root};
use crate::media::text_lines;
use crate::pool::show::{Images, Show};
use crate::pool::truth::Truth;
use crate::pool::{Draft, Kind, ReadOptions};
use crate::tables::csv::reader;
use crate::tables::encoding::{self, Encoding};

/// Endings of what we read.
pub(crate) const PICTURE_ENDINGS: [&str; 3] = ["png", "jpg", "jpeg"];
const TEXT_ENDINGS: [&str; 1] = ["txt"];
/// How deep sub-folders may lie, and how many files a pool may have.
const MAX_DEPTH: usize = 32;
const MAX_FILES: usize = 10_000_000;

/// A kind that is rarer than one file in this many does not decide what the folder holds.
const RARE_SHARE: usize = 10;

/// What is in a folder.
#[derive(Default)]
struct Found {
    files: Vec<String>,
    /// Names that are not text, as nearly as they can be written.
    unnamed: Vec<String>,
    /// Links that lead to folders or nowhere.
    links: Vec<String>,
    /// Links that lead out of the folder.
    outside: Vec<String>,
}

/// Reads the files of a folder.
pub(crate) fn read(place: &str, options: &ReadOptions) -> Result<Draft> {
    let mut found = Found::default();
    Root::of(Path::new(place))
        .map_err(|error| Fault::io(&error, "cannot read this folder"))
        .and_then(|root| walk(Path::new(place), &root, "", 0, &mut found))
        .map_err(|fault| fault.at(place))?;
    let Found {
        mut files,
        mut unnamed,
        mut links,
        mut outside,
    } = found;
    [&mut files, &mut unnamed, &mut links, &mut outside]
        .into_iter()
        .for_each(|paths| paths.sort_unstable());
    let of = |endings: &[&str]| {
        files
            .iter()
            .filter(|file| ends(file, endings))
            .cloned()
            .collect::<Vec<String>>()
    };
    let (pictures, texts) = (of(&PICTURE_ENDINGS), of(&TEXT_ENDINGS));
    let others = pictures.len() + texts.len();
    let kind = match options.kind {
        Some(kind) => kind,
        // A few notes beside many pictures, or the reverse: skipped and counted like all other files.
        None if pictures.len() >= RARE_SHARE * texts.len() && !pictures.is_empty() => Kind::Images,
        None if texts.len() >= RARE_SHARE * pictures.len() && !texts.is_empty() => Kind::Texts,
        None if !pictures.is_empty() && !texts.is_empty() => {
            let (p, t) = (pictures.len(), texts.len());
            let text = format!(
                "this folder holds {p} {} and {t} {}: choose with --as images or --as texts.",
                plural(p, "picture", "pictures"),
                plural(t, "text", "texts")
            );
            return Err(Fault::Setting(text).at(place));
        }
        None => Kind::Images,
    };
    let (chosen, endings) = match kind {
        Kind::Images => (pictures, &PICTURE_ENDINGS[..]),
        Kind::Texts => (texts, &TEXT_ENDINGS[..]),
        Kind::Table => return Err(Fault::Setting("a folder is not a table.".into()).at(place)),
        Kind::Scene => return Err(Fault::Setting("a folder is not a scene.".into()).at(place)),
    };
    if chosen.is_empty() {
        let passed = [
            passed_over(&files, &[]),
            not_followed(&links),
            leading_out(&outside),
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
        return Err(without(kind, others, &passed.join("; ")).at(place));
    }
    let mut draft = match kind {
        Kind::Texts => {
            let mut draft = texts_of(place, chosen, options)?;
            text_lines::leave_out_empty(&mut draft, options).map_err(|fault| fault.at(place))?;
            draft
        }
        _ => images_of(place, chosen),
    };
    if let (true, Some(files)) = (options.folder_labels, &draft.ids) {
        let names: Vec<&str> = files
            .iter()
            .map(|file| file.split_once('/').map_or("", |(first, _)| first))
            .collect();
        draft.truth = Some(Truth::from_given(&names)?);
        draft
            .notes
            .push("labels are the names of the sub-folders".into());
    }
    draft.notes.extend(passed_over(&files, endings));
    draft.notes.extend(without_names(&unnamed));
    draft.notes.extend(not_followed(&links));
    draft.notes.extend(leading_out(&outside));
    Ok(draft)
}

/// The fault of a folder without what is wanted; `others` are files of the other kind that we read.
fn without(kind: Kind, others: usize, passed: &str) -> Fault {
    let (found, word) = match kind {
        Kind::Texts => (
            "a folder without texts (.txt)",
            plural(others, "picture", "pictures"),
        ),
        _ => (
            "a folder without pictures (.png, .jpg or .jpeg)",
            plural(others, "text", "texts"),
        ),
    };
    match others {
        0 => {
            let next = "Give a folder of .png, .jpg or .jpeg pictures, or of .txt texts.";
            let found = if passed.is_empty() {
                String::new()
            } else {
                format!(" ({passed})")
            };
            Fault::format(format!("a folder without pictures or texts{found}"), next)
        }
        _ => Fault::Setting(format!(
            "{found}, but with {others} {word}: leave --as out."
        )),
    }
}

fn images_of(place: &str, files: Vec<String>) -> Draft {
    let mut draft = Draft::shown(
        files.len(),
        Show::Images(Images {
            folder: place.into(),
            files: files.clone(),
        }),
    );
    draft.ids = Some(files);
    draft
}

/// A note on the files that do not end as wanted: how many of each ending.
fn passed_over(files: &[String], endings: &[&str]) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| !ends(file, endings)) {
        let name = file.rsplit('/').next().unwrap_or_default();
        let ending = name
            .rsplit_once('.')
            .map(|(_, ending)| format!(".{}", ending.to_lowercase()));
        *counts
            .entry(ending.unwrap_or_else(|| "without an ending".into()))
            .or_default() += 1;
    }
    let total: usize = counts.values().sum();
    let words = counts
        .iter()
        .map(|(ending, count)| format!("{count} {ending}"));
    let list = first_few(words, counts.len(), ", ");
    (total > 0).then(|| {
        format!(
            "skipped {total} other {}: {list}",
            plural(total, "file", "files")
        )
    })
}

/// A note on what could not be given an id.
fn without_names(names: &[String]) -> Option<String> {
    let total = names.len();
    let words = plural(
        total,
        "file or folder whose name is",
        "files or folders whose names are",
    );
    (total > 0).then(|| {
        format!(
            "skipped {total} {words} not UTF-8: {}",
            first_quoted(names, ", ")
        )
    })
}

/// A note on links that are not followed.
fn not_followed(links: &[String]) -> Option<String> {
    let (total, words) = (links.len(), plural(links.len(), "link", "links"));
    let list = first_few(links, total, ", ");
    (total > 0).then(|| {
        format!("skipped {total} {words} to folders or to nothing: {list}; give the real folder")
    })
}

/// A note on links that lead out of the folder.
fn leading_out(links: &[String]) -> Option<String> {
    let total = links.len();
    let words = plural(total, "link that leads", "links that lead");
    let list = first_few(links, total, ", ");
    (total > 0).then(|| {
        format!("skipped {total} {words} out of the folder: {list}; copy the files into it")
    })
}

/// Whether a path has one of these endings.
pub(crate) fn ends(file: &str, endings: &[&str]) -> bool {
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    endings
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
}

fn walk(
    folder: &Path,
    root: &Root,
    prefix: &str,
    depth: usize,
    found: &mut Found,
) -> Result<(), Fault> {
    let failed =
        |error: std::io::Error| Fault::io(&error, &format!("cannot read the folder {prefix:?}"));
    if depth > MAX_DEPTH {
        return Err(Fault::Setting(format!(
            "sub-folders lie deeper than {MAX_DEPTH} levels at {prefix:?}."
        )));
    }
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let Some(name) = name.to_str() else {
            found
                .unnamed
                .push(format!("{prefix}{}", name.to_string_lossy()));
            continue;
        };
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            walk(&entry.path(), root, &format!("{path}/"), depth + 1, found)?;
        } else if kind.is_file() {
            found.files.push(path);
        } else if kind.is_symlink() {
            match root.find(&path) {
                Place::File(_) => found.files.push(path),
                Place::Outside => found.outside.push(path),
                Place::NoFile => found.links.push(path),
            }
        }
        let links = found.links.len() + found.outside.len();
        if found.files.len() + found.unnamed.len() + links > MAX_FILES {
            return Err(Fault::Setting(format!("more than {MAX_FILES} files.")));
        }
    }
    Ok(())
}

/// One text per file. Files that hold none are refused together, unless they are to be left out.
fn texts_of(place: &str, files: Vec<String>, options: &ReadOptions) -> Result<Draft> {
    let (mut texts, mut kept, mut bad) = (Vec::new(), Vec::new(), Vec::new());
    for (number, file) in files.iter().enumerate() {
        let path = format!("{}/{file}", place.trim_end_matches('/'));
        match text_of(&path, options.encoding) {
            Ok(text) => {
                texts.push(text);
                kept.push(number);
            }
            Err(why) => bad.push(format!("{file}: {why}")),
        }
    }
    let (all, total) = (files.len(), bad.len());
    if total > 0 && (!options.skip_bad || texts.is_empty()) {
        bad.truncate(MAX_LISTED);
        return Err(Fault::Texts { bad, total, all }.at(place));
    }
    let mut draft = Draft::shown(texts.len(), Show::Texts(texts));
    draft.ids = Some(
        kept.iter()
            .filter_map(|&number| files.get(number).cloned())
            .collect(),
    );
    if total > 0 {
        let (word, list) = (plural(total, "text", "texts"), first_few(&bad, total, "; "));
        draft.notes.push(format!(
            "left out {total} {word} that cannot be read: {list}"
        ));
        draft.kept = Some((kept, all));
    }
    Ok(draft)
}

/// The text of a file, or what is wrong with it.
fn text_of(path: &str, encoding: Option<Encoding>) -> Result<String, String> {
    // Before anything is read: a file may be longer than memory.
    if std::fs::metadata(path).is_ok_and(|kind| kind.len() > reader::MAX_RECORD_BYTES as u64) {
        return Err("longer than 16 MiB".into());
    }
    let bytes = crate::open::read_file(path).map_err(|error| images::reason(&error))?;
    let bytes =
        encoding::utf8(&bytes, encoding).map_err(|fault| images::reason(&fault.at(path)))?;
    let text = std::str::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes));
    match text {
        Ok(text) if text.contains('\0') => Err("a NUL byte".into()),
        Ok(text) => Ok(text.into()),
        Err(_) => Err(reader::NOT_UTF8.into()),
    }
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
        let options = ReadOptions {
            folder_labels: true,
            ..ReadOptions::default()
        };
        let draft = read(&place, &options).unwrap();
        assert_eq!(draft.ids.unwrap(), ["a/one.TXT", "b/two.txt"]);
        assert_eq!(draft.show, Show::Texts(vec!["one".into(), "two".into()]));
        assert_eq!(draft.truth.unwrap().classes, ["a", "b"]);
        assert_eq!(
            draft.notes,
            [
                "labels are the names of the sub-folders",
                "skipped 1 other file: 1 .md"
            ]
        );
        let images = ReadOptions {
            kind: Some(Kind::Images),
            ..ReadOptions::default()
        };
        let error = read(&place, &images).unwrap_err();
        assert_eq!(error.code(), "U1");
        assert!(
            error
                .to_string()
                .contains("without pictures (.png, .jpg or .jpeg), but with 2 texts"),
            "{error}"
        );
        write("a/p.png", "");
        assert_eq!(read(&place, &options).unwrap_err().code(), "U1");
        assert_eq!(read(&place, &images).unwrap().ids.unwrap(), ["a/p.png"]);
        // One picture among twenty texts, and one text among twenty pictures, are not what the folder is about.
        (0..18).for_each(|number| write(&format!("b/{number}.txt"), "more"));
        assert_eq!(read(&place, &ReadOptions::default()).unwrap().n, 20);
        (0..300).for_each(|number| write(&format!("b/{number}.png"), ""));
        let draft = read(&place, &ReadOptions::default()).unwrap();
        assert_eq!(
            (draft.n, draft.notes[0].as_str()),
            (301, "skipped 21 other files: 1 .md, 20 .txt")
        );
    }

    #[test]
    fn bad_texts_are_listed_together_or_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
        write("a.txt", b"\xe9t\xe9");
        write("b.txt", b"one\0");
        // "hé" in UTF-16.
        write("c.txt", b"\xff\xfeh\0\xe9\0");
        write("d.txt", b"\xff\xfeh");
        write("Makefile", b"");
        write("x.MD", b"");
        write("y.md", b"");
        let place = folder.path().display().to_string();
        let error = read(&place, &ReadOptions::default()).unwrap_err();
        let text = error.to_string();
        assert_eq!(error.code(), "I5");
        for words in [
            "3 of 4 texts cannot be read: a.txt: not valid UTF-8",
            "; b.txt: a NUL byte; d.txt: not valid UTF-16",
        ] {
            assert!(text.contains(words), "{text}");
        }
        let skip = ReadOptions {
            skip_bad: true,
            ..ReadOptions::default()
        };
        let draft = read(&place, &skip).unwrap();
        assert_eq!(
            (draft.show, draft.ids.unwrap()),
            (Show::Texts(vec!["hé".into()]), vec!["c.txt".to_string()])
        );
        assert_eq!(draft.kept, Some((vec![2], 4)));
        assert!(
            draft.notes[0].starts_with("left out 3 texts that cannot be read: a.txt: "),
            "{:?}",
            draft.notes
        );
        assert_eq!(
            draft.notes[1],
            "skipped 3 other files: 2 .md, 1 without an ending"
        );
        std::fs::remove_file(folder.path().join("c.txt")).unwrap();
        assert_eq!(read(&place, &skip).unwrap_err().code(), "I5");
    }

    #[test]
    fn long_texts_are_not_even_read() {
        let folder = tempfile::tempdir().unwrap();
        // 50 GiB without a byte on disk.
        std::fs::File::create(folder.path().join("a.txt"))
            .unwrap()
            .set_len(50 << 30)
            .unwrap();
        std::fs::write(folder.path().join("b.txt"), "one").unwrap();
        let error = read(
            &folder.path().display().to_string(),
            &ReadOptions::default(),
        )
        .unwrap_err()
        .to_string();
        assert!(
            error.contains("1 of 2 texts cannot be read: a.txt: longer than 16 MiB"),
            "{error}"
        );
    }

    #[test]
    fn an_empty_folder_says_what_was_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["a.tif", "b.TIF", "c.webp"] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        let error = read(
            &folder.path().display().to_string(),
            &ReadOptions::default(),
        )
        .unwrap_err();
        let said = "a folder without pictures or texts (skipped 3 other files: 2 .tif, 1 .webp).";
        assert!(
            error.code() == "I5" && error.to_string().contains(said),
            "{error}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_to_folders_are_counted() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(folder.path().join("a.txt"), "a").unwrap();
        std::os::unix::fs::symlink(other.path(), folder.path().join("more")).unwrap();
        let draft = read(
            &folder.path().display().to_string(),
            &ReadOptions::default(),
        )
        .unwrap();
        assert_eq!(
            draft.notes,
            ["skipped 1 link that leads out of the folder: more; copy the files into it"]
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn names_that_are_not_utf8_are_said() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "a").unwrap();
        std::fs::write(
            folder.path().join(std::ffi::OsStr::from_bytes(b"\xe9.txt")),
            "b",
        )
        .unwrap();
        let draft = read(
            &folder.path().display().to_string(),
            &ReadOptions::default(),
        )
        .unwrap();
        assert_eq!(
            draft.notes,
            ["skipped 1 file or folder whose name is not UTF-8: \"\u{fffd}.txt\""]
        );
    }
}
