//! The house rules that a machine can check: headers, the order of modules, errors that say what to do.

use std::collections::BTreeSet;
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

/// The modules that `crate::...` names in code, in `use` lists too.
fn modules_used(code: &str) -> BTreeSet<String> {
    let name = |rest: &str| -> String {
        rest.chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    let mut found = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            None => {
                found.insert(name(rest));
            }
            Some(list) => {
                let (mut depth, mut item) = (0, true);
                for (at, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => item = true,
                        c if item && depth == 0 && !c.is_whitespace() => {
                            found.insert(name(&list[at..]));
                            item = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    found
}

#[test]
fn modules_are_found_in_every_spelling() {
    let code = "use crate::graph;\nuse crate::knn::{self, X};\nuse crate::{belief::field, policy};\nlet x = crate::seed::hash(1);";
    let found = modules_used(code);
    let all: Vec<&str> = found.iter().map(String::as_str).collect();
    assert_eq!(all, ["belief", "graph", "knn", "policy", "seed"]);
}

#[test]
fn a_folder_of_the_core_uses_only_folders_above_it() {
    let source = workspace().join("crates/dial/src");
    let library = fs::read_to_string(source.join("lib.rs")).unwrap();
    let order: Vec<&str> = library
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ").or(line.strip_prefix("mod ")))
        .filter_map(|line| line.strip_suffix(';'))
        .collect();
    assert!(order.len() > 15 && order.len() <= 22);
    for (place, module) in order.iter().enumerate() {
        let mut files = Vec::new();
        let (file, folder) = (source.join(format!("{module}.rs")), source.join(module));
        if folder.is_dir() {
            rust_files(&folder, &mut files);
        } else {
            files.push(file);
        }
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let code: String = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
                .map(|line| format!("{line}\n"))
                .collect();
            if file.file_name().is_some_and(|name| name == "tests.rs") {
                continue;
            }
            for later in &order[place + 1..] {
                assert!(
                    !modules_used(&code).contains(*later),
                    "{} uses {later}, which is not above it",
                    file.display()
                );
            }
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
        "dial/src/knn/screen_f32.rs",
        "dial/src/knn/distances_u8.rs",
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
