//! The words of the command, as people read them: help, results, notes and refusals.
//!
//! Each file of `tests/words` lists commands and holds what came back, run one after the other in an
//! empty folder. After a change of wording write the new words down and review them as a diff:
//! `SNAPSHOTS=overwrite cargo test --release -p dial-cli --test words`.

use std::path::Path;
use std::process::{Command, Stdio};

use snapbox::{Assert, Data, Redactions};

/// What differs from run to run.
const VARYING: [(&str, &str); 6] = [
    (
        "[TIME]",
        r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2})?( UTC|Z)?",
    ),
    ("[MILLISECONDS]", r"\b1[789]\d{11}\b"),
    ("[SECONDS]", r"\b\d+\.\d+ (s|ms)\b"),
    ("[MS]", r"(?m)(?<redacted>  +\d+\.\d)$"),
    ("[DIGEST]", r"\b[0-9a-f]{16,64}\b"),
    ("[FOLDER]", r"/tmp/\.tmp\w+"),
];

/// The commands of a file again, each followed by what it printed and how it ended.
///
/// # Panics
/// A command that holds a redaction, or would be redacted when it is written down: another command would be run.
fn transcript(text: &str, redactions: &Redactions) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let mut found = text.lines().next().unwrap_or_default().to_string() + "\n";
    for line in text.lines().filter_map(|line| line.strip_prefix("$ dial")) {
        let written = redactions.redact(line);
        assert!(
            !line.contains('[') && written == line,
            "redacted: dial{written}"
        );
        let ran = Command::new(env!("CARGO_BIN_EXE_dial"))
            .args(line.split_whitespace())
            .current_dir(folder.path())
            .env("COLUMNS", "100")
            .stdin(Stdio::null())
            .output()
            .expect("the command runs");
        found.push_str(&format!("\n```text\n$ dial{line}\n"));
        found.push_str(&String::from_utf8_lossy(&ran.stdout));
        found.push_str(&String::from_utf8_lossy(&ran.stderr));
        match ran.status.code() {
            Some(0) => found.push_str("```\n"),
            code => found.push_str(&format!("[exit code {}]\n```\n", code.unwrap_or(-1))),
        }
    }
    found
}

fn redactions() -> Redactions {
    let mut redactions = Redactions::new();
    for (what, pattern) in VARYING {
        let pattern = regex::Regex::new(pattern).expect("a pattern");
        redactions
            .insert(what, pattern)
            .expect("a name in brackets");
    }
    redactions
}

fn compare(name: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/words")
        .join(name);
    let text = std::fs::read_to_string(&file).expect("a file of words");
    let redactions = redactions();
    let expected = Data::read_from(&file, None);
    let assert = Assert::new()
        .redact_with(redactions.clone())
        .action_env(snapbox::assert::DEFAULT_ACTION_ENV);
    assert.eq(transcript(&text, &redactions), expected);
}

#[test]
fn a_redacted_command_is_refused() {
    let redactions = redactions();
    for line in [
        "$ dial simulate builtin:moons:60 --tolerance[MS]",
        "$ dial simulate builtin:moons:60 --tolerance  0.1",
    ] {
        let ran = std::panic::catch_unwind(|| transcript(line, &redactions));
        assert!(ran.is_err(), "{line}");
    }
}

#[test]
fn help() {
    compare("help.md");
}

#[test]
fn pools_and_graphs() {
    compare("pools.md");
}

#[test]
fn a_project() {
    compare("project.md");
}

#[test]
fn refusals() {
    compare("refusals.md");
}
