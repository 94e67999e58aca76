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

/// The names that `dial::NAME` has, apart from its modules: what is exported again, what is defined there, and macros.
fn root_names(library: &str, sources: &str) -> Vec<String> {
    let mut names = Vec::new();
    for statement in library.split(';').map(str::trim) {
        let Some((_, exported)) = statement.rsplit_once("pub use ") else {
            continue;
        };
        let last = exported.rsplit("::").next().unwrap_or_default();
        let list = match exported.split_once('{') {
            Some((_, list)) => list.trim_end_matches('}'),
            None => last,
        };
        assert!(!list.contains('*'), "{exported}: name what is exported");
        let named = list
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        names.extend(named.map(String::from));
    }
    for line in library.lines() {
        let kinds = ["const", "static", "fn", "struct", "enum", "trait", "type"];
        let defined = line
            .strip_prefix("pub ")
            .and_then(|rest| rest.split_once(' '));
        if let Some((_, name)) = defined.filter(|(kind, _)| kinds.contains(kind)) {
            names.push(name.into());
        }
    }
    let macros = sources.split("#[macro_export]").skip(1);
    let shown = macros
        .filter_map(|rest| rest.split_once("macro_rules! "))
        .filter_map(|(_, rest)| rest.split_whitespace().next())
        .filter(|name| !name.starts_with("__"));
    names.extend(shown.map(String::from));
    names
}

#[test]
fn root_names_are_found_in_every_spelling() {
    let library = "pub mod a;\npub use a::B;\npub use c::{\n    D, E,\n};\nuse f::G;\npub const H: u32 = 1;\nmod i;\n";
    let sources = "#[macro_export]\nmacro_rules! j {\n}\n#[macro_export]\nmacro_rules! __k {\n}\n";
    assert_eq!(
        root_names(library, sources),
        ["B", "D", "E", "H: u32 = 1;", "j"]
    );
}

#[test]
fn the_root_of_the_core_has_few_names() {
    let source = workspace().join("crates/dial/src");
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    let sources: String = files
        .into_iter()
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    let names = root_names(
        &fs::read_to_string(source.join("lib.rs")).unwrap(),
        &sources,
    );
    assert!(
        names.len() > 15 && names.len() <= 25,
        "{}: {names:?}",
        names.len()
    );
}

/// What stands between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The crates of ours among the dependencies of a crate, without those of its tests.
fn own_dependencies(manifest: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]") && !line.contains("dev-dependencies");
        } else if inside && line.starts_with("dial") {
            found.extend(line.split(['.', ' ', '=']).next());
        }
    }
    found
}

/// The table of `crates/README.md`: each crate with those that it says it uses; nothing where it says all.
fn crate_table(text: &str) -> Vec<(String, Option<BTreeSet<&str>>)> {
    text.lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').collect();
            let [_, first, _, uses, _] = cells[..] else {
                return None;
            };
            let name = quoted(first).first().copied()?;
            let uses = (!uses.contains("all above")).then(|| {
                let named = quoted(uses).into_iter();
                named.filter(|name| name.starts_with("dial")).collect()
            });
            Some((name.to_string(), uses))
        })
        .collect()
}

#[test]
fn crates_use_only_crates_above_them() {
    let text = fs::read_to_string(workspace().join("crates/README.md")).unwrap();
    let table = crate_table(&text);
    let mut folders = 0;
    for entry in fs::read_dir(workspace().join("crates")).unwrap() {
        folders += usize::from(entry.unwrap().path().is_dir());
    }
    assert_eq!(table.len(), folders, "every crate has a row");
    for (place, (name, said)) in table.iter().enumerate() {
        let manifest = workspace().join("crates").join(name).join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        let uses = own_dependencies(&manifest);
        let above = |one: &&str| table[..place].iter().any(|(other, _)| other == *one);
        let below: Vec<&&str> = uses.iter().filter(|one| !above(one)).collect();
        assert!(
            below.is_empty(),
            "{name} uses {below:?}, which stands below it"
        );
        if let Some(said) = said {
            assert_eq!(&uses, said, "{name}: what crates/README.md says it uses");
        }
    }
}

#[test]
fn the_wheel_has_no_laboratory_and_the_default_build_no_parquet() {
    let read = |path: &str| fs::read_to_string(workspace().join(path)).unwrap();
    let line = |text: &str, start: &str| -> String {
        let found = text.lines().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("{start}")).to_string()
    };
    let command = line(&read("Cargo.toml"), "dial-cli =");
    assert!(command.contains("default-features = false"), "{command}");
    let wheel = line(&read("crates/dial-python/Cargo.toml"), "dial-cli");
    assert!(!wheel.contains("research"), "{wheel}");
    let python = read("crates/dial-python/Cargo.toml");
    assert!(!own_dependencies(&python).contains("dial-research"));
    let default = line(&read("crates/dial-cli/Cargo.toml"), "default =");
    assert_eq!(default, "default = [\"research\"]");
}
