//! The commands in the documents work as written: every `dial` line of a `sh` block runs, and every flag is explained.

use std::path::Path;
use std::process::Command;

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of the `sh` blocks of a document, those that end in a backslash joined.
fn commands(document: &str) -> Vec<String> {
    let mut found = Vec::new();
    for block in document.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap().replace("\\\n", " ");
        found.extend(
            block
                .lines()
                .filter(|line| line.starts_with("dial ") || line.starts_with("printf "))
                .map(String::from),
        );
    }
    found
}

fn run_all(document: &str, least: usize) {
    let folder = tempfile::tempdir().unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_dial")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let commands = commands(&text(document));
    assert!(
        commands.len() >= least,
        "{document}: only {} commands found",
        commands.len()
    );
    for command in commands {
        let run = Command::new("sh")
            .args(["-c", &command])
            .current_dir(&folder)
            .env("PATH", &path)
            .output()
            .unwrap();
        assert!(
            run.status.success(),
            "{document}: {command}\n{}",
            String::from_utf8_lossy(&run.stderr)
        );
    }
}

#[test]
fn the_commands_of_the_readme_run() {
    run_all("README.md", 4);
}

#[test]
fn the_commands_of_the_guide_run() {
    run_all("docs/guide.md", 8);
}

#[test]
fn the_commands_of_the_page_on_pools_run() {
    run_all("docs/pools.md", 6);
}

#[test]
fn the_commands_of_the_page_on_projects_run() {
    run_all("docs/projects.md", 15);
}

/// The flags of a verb, as its help lists them.
fn flags(verb: &[&str]) -> Vec<String> {
    let help = Command::new(env!("CARGO_BIN_EXE_dial"))
        .args(verb)
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let flags = help
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("--"));
    flags
        .map(|rest| rest.split([' ', '=', '[']).next().unwrap().to_string())
        .collect()
}

#[test]
fn every_flag_of_a_project_is_explained() {
    let pages = text("docs/projects.md") + &text("docs/guide.md");
    let verbs = "new ask tell undo redo skip exclude class status log resolve pool predict export import backup restore";
    for verb in verbs.split(' ') {
        let flags = flags(&[verb]);
        assert!(flags.len() >= 4, "{verb}: {flags:?}");
        for flag in flags {
            assert!(
                pages.contains(&format!("--{flag}")),
                "no page mentions --{flag} of {verb}"
            );
        }
    }
}

#[test]
fn every_flag_is_in_the_guide() {
    let guide = text("docs/guide.md");
    for verb in [
        &["demo"][..],
        &["simulate"],
        &["lab", "reproduce"],
        &["lab", "theory"],
        &["lab", "arena"],
        &["graph"],
        &["generate", "clusters"],
        &["doctor"],
        &["propagate"],
        &["lab", "bench"],
    ] {
        let flags = flags(verb);
        assert!(flags.len() >= 4, "{verb:?}: {flags:?}");
        for flag in flags {
            assert!(
                guide.contains(&format!("--{flag}")),
                "docs/guide.md does not mention --{flag} of {verb:?}"
            );
        }
    }
}

#[test]
fn the_documents_point_to_files_that_are_there() {
    let mut followed = 0;
    for document in [
        "README.md",
        "DESIGN.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "ARCHITECTURE.md",
        "crates/README.md",
        "glossary",
        "performance",
        "labelling",
        "python",
        "guide",
        "pools",
        "projects",
        "accuracy",
        "research",
        "library",
        "errors",
        "benchmarks",
        "reproduction",
        "theory",
    ] {
        let path = if document.ends_with(".md") {
            document.to_string()
        } else {
            format!("docs/{document}.md")
        };
        let (text, root) = (
            text(&path),
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."),
        );
        let folder = root.join(&path).parent().unwrap().to_path_buf();
        let links = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split([')', '#']).next());
        for link in links.filter(|link| !link.is_empty() && !link.contains("//")) {
            assert!(folder.join(link).exists(), "{path}: no {link}");
            followed += 1;
        }
    }
    assert!(followed > 40, "only {followed} links");
}
