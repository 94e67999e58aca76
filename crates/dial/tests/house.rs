//! The house rules that a machine can check: headers, the order of modules, errors that say what to do.

use std::fs;
use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if entry.is_dir() && !entry.ends_with("target") {
            rust_files(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}

fn all_files() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    rust_files(&workspace().join("crates"), &mut found);
    rust_files(&workspace().join("fuzz"), &mut found);
    assert!(found.len() > 20, "the workspace was found");
    found
        .into_iter()
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect()
}

#[test]
fn every_file_opens_with_what_it_is() {
    for (path, text) in all_files() {
        assert!(text.starts_with("//!"), "{}: no header", path.display());
    }
}

#[test]
fn a_core_module_uses_only_modules_above_it() {
    let source = workspace().join("crates/dial/src");
    let library = fs::read_to_string(source.join("lib.rs")).unwrap();
    let order: Vec<&str> = library
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ").or(line.strip_prefix("mod ")))
        .filter_map(|line| line.strip_suffix(';'))
        .collect();
    assert!(order.len() > 15);
    for (place, module) in order.iter().enumerate() {
        let text = fs::read_to_string(source.join(format!("{module}.rs"))).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for later in &order[place..] {
            assert!(
                !code.contains(&format!("use crate::{later}::")),
                "{module} uses {later}, which is not above it"
            );
        }
    }
}

#[test]
fn unsafe_code_is_allowed_in_four_modules_only() {
    let allow = ["allow(", "unsafe_code)"].concat();
    let allowed = all_files()
        .into_iter()
        .filter(|(_, text)| text.contains(&allow))
        .map(|(path, _)| path);
    let known = [
        "dial/src/screen.rs",
        "dial/src/screen_bytes.rs",
        "dial-data/src/graph_file/mapped.rs",
        "fuzz/src/counting.rs",
    ];
    let mut count = 0;
    for path in allowed {
        assert!(
            known.iter().any(|known| path.ends_with(known)),
            "{}",
            path.display()
        );
        count += 1;
    }
    assert_eq!(count, known.len());
}
