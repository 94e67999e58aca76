//! Every error code that the sources can print is explained in docs/errors.md.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether a word is a code: letters of one of the families, then a number.
fn is_code(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let family = &word[..word.len() - digits.len()];
    ["I", "N", "S", "C", "U", "R", "W", "X"].contains(&family)
        && !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
}

/// The string literals of a text that are codes.
fn literals(text: &str) -> BTreeSet<String> {
    text.split('"')
        .skip(1)
        .step_by(2)
        .filter(|word| is_code(word))
        .map(String::from)
        .collect()
}

/// The part of a source before its tests.
fn source(path: &Path) -> String {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.split("#[cfg(test)]")
        .next()
        .unwrap_or_default()
        .to_string()
}

/// The bodies of the functions named `code`, each up to the brace that ends it.
fn code_functions(text: &str) -> String {
    let bodies = text.split("fn code(&self)").skip(1).map(|rest| {
        let end = rest
            .find("\n    }\n")
            .unwrap_or_else(|| panic!("a code function without an end"));
        &rest[..end]
    });
    bodies.collect()
}

/// All sources below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// The codes of the core, of the readers, of the command itself, and of notes and warnings.
fn codes() -> BTreeSet<String> {
    let crates = workspace().join("crates");
    let mut codes = BTreeSet::new();
    for file in [
        "dial/src/error.rs",
        "dial-data/src/error.rs",
        "dial-store/src/error.rs",
    ] {
        let found = literals(&code_functions(&source(&crates.join(file))));
        assert!(found.len() >= 10, "{file}: only {found:?}");
        codes.extend(found);
    }
    let mut paths = vec![crates.join("dial-research/src/error.rs")];
    for folder in ["dial-cli/src", "dial-server/src"] {
        sources(&crates.join(folder), &mut paths);
    }
    for path in paths {
        let text = source(&path);
        codes.extend(literals(&text));
        for kind in ["note[", "warn["] {
            let named = text
                .split(kind)
                .skip(1)
                .filter_map(|rest| rest.split_once(']'))
                .map(|(code, _)| code);
            codes.extend(named.filter(|code| is_code(code)).map(String::from));
        }
    }
    codes
}

#[test]
fn the_codes_are_found() {
    let codes = codes();
    for known in [
        "I1", "I5", "I9", "I12", "N1", "N4", "N7", "N8", "N10", "N12", "N18", "I13", "S3", "S5",
        "S9", "S12", "S14", "U0", "U1", "C1", "C3", "C5", "C6", "R1", "S4", "S6", "S7", "S8",
        "S11", "W2", "X1", "X2", "X3",
    ] {
        assert!(codes.contains(known), "{known} is missing among {codes:?}");
    }
}

#[test]
fn every_code_is_documented() {
    let path = workspace().join("docs/errors.md");
    let Ok(text) = fs::read_to_string(&path) else {
        panic!(
            "docs/errors.md does not exist: write it, with one entry for each of {:?}",
            codes()
        );
    };
    let words: BTreeSet<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| is_code(word))
        .collect();
    let missing: Vec<String> = codes()
        .into_iter()
        .filter(|code| !words.contains(code.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/errors.md does not explain {missing:?}"
    );
}

#[test]
fn every_code_has_one_meaning_in_each_table() {
    let text = fs::read_to_string(workspace().join("docs/errors.md")).expect("the list of codes");
    for table in text.split("\n## ") {
        let mut met = BTreeSet::new();
        for row in table.lines() {
            let code = row.strip_prefix("| `").and_then(|row| row.split_once('`'));
            if let Some((code, _)) = code {
                assert!(met.insert(code), "{code} has two rows");
            }
        }
    }
}
