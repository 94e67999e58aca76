//! How the command talks: results on stdout, everything else on stderr, help, JSON, and readers that go away.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::run::{DIAL, Place};

/// Every verb on a small pool in two pieces, so that there is something to note.
const VERBS: [(&str, &str); 5] = [
    ("demo", "demo a.csv --queries 2 --trials 1"),
    ("simulate", "simulate a.csv --k 3 --queries 2 --trials 2"),
    ("graph", "graph a.csv --k 3 --out g.npz"),
    ("doctor", "doctor a.csv --k 3"),
    ("propagate", "propagate a.csv --k 3 --source 5 --out c.npy"),
];

fn place() -> Place {
    let rows: String = (0..60)
        .map(|i| format!("{},{}\n", i + 5000 * (i / 30), i / 30))
        .collect();
    Place::with("a.csv", format!("a,label\n{rows}-7,\n"))
}

#[test]
fn quiet_is_silent_and_no_bars_go_to_a_file() {
    for (verb, line) in VERBS {
        let place = place();
        let loud = place.line(line).ok();
        assert!(
            loud.err.contains("note: 1 of 61 labels are unknown"),
            "{verb}: {}",
            loud.err
        );
        assert!(
            loud.err
                .lines()
                .all(|line| line.starts_with("note") || line.starts_with("warn")),
            "{}",
            loud.err
        );
        assert!(
            !loud.err.contains(['━', '─', '\r', '\u{1b}', '%']),
            "{verb}: {}",
            loud.err
        );
        assert!(!loud.out.contains(['\r', '\u{1b}']), "{verb}: {}", loud.out);
        let quiet = place.line(&format!("{line} --quiet")).ok();
        assert_eq!(quiet.err, "", "{verb}");
        assert!(!quiet.out.is_empty() && quiet.out.ends_with('\n'), "{verb}");
    }
}

#[test]
fn json_is_one_document_of_every_verb() {
    for (verb, line) in VERBS {
        let place = place();
        for line in [format!("{line} --json"), format!("--json --quiet {line}")] {
            let json = place.line(&line).ok().json();
            assert_eq!(json["pool"], "a", "{verb}: {json}");
        }
    }
    // Errors too, before and after the pool is read.
    for line in [
        "graph a.csv --k 99",
        "graph nowhere.csv",
        "graph a.csv --tree",
    ] {
        let ran = place().line(&format!("{line} --json --quiet"));
        let problem: Value =
            serde_json::from_str(&ran.err).unwrap_or_else(|error| panic!("{error}: {}", ran.err));
        assert_eq!(problem["exit_code"].as_i64(), Some(i64::from(ran.code)));
        assert!(ran.out.is_empty() && ran.code != 0);
    }
}

#[test]
fn help_lists_every_verb_and_long_help_says_more() {
    let place = Place::new();
    let (short, long) = (place.line("-h").ok(), place.line("--help").ok());
    assert_eq!((short.err.as_str(), long.err.as_str()), ("", ""));
    let lines: Vec<&str> = short.out.lines().collect();
    assert!(lines.len() <= 64, "{} lines", lines.len());
    assert!(lines.iter().all(|line| line.chars().count() <= 100));
    let label = short.out.find("\n  label ").expect("label is listed");
    for (verb, _) in VERBS {
        let at = short.out.find(&format!("\n  {verb} "));
        assert!(
            at.is_some_and(|at| at > label),
            "{verb} is listed after label"
        );
    }
    assert!(!short.out.contains("Exit codes") && long.out.contains("Exit codes"));
    assert_eq!(place.line("--json -h").ok().out, short.out);
    assert_eq!(
        place.line("--version").ok().out,
        format!("dial {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn what_the_help_shows_can_be_typed() {
    let rows: String = (0..30).map(|i| format!("{i},{}\n", i % 2)).collect();
    let place = Place::with("pool.csv", format!("a,label\n{rows}"));
    let help = place.line("--help").ok().out;
    let typed = help.lines().filter_map(|line| line.strip_prefix("  dial "));
    let mut count = 0;
    for line in typed {
        // A server would run for ever; a project is made in the same way.
        let command = line.split("   ").next().unwrap().replace("label ", "new ");
        let command = command
            .replace("photos/", "pool.csv --project photos")
            .replace("embeddings.npy", "pool.csv");
        place.line(&command).ok();
        count += 1;
    }
    assert_eq!(count, 4, "label twice, doctor and export: {help}");
    let pools = help
        .lines()
        .find_map(|line| line.strip_prefix("  builtin:"))
        .unwrap();
    assert_eq!(
        pools.split_whitespace().count(),
        dial_data::generate::builtin::names().count()
    );
    for name in pools.split_whitespace() {
        let json = place
            .line(&format!("graph builtin:{name}:100 --k 5 --json --quiet"))
            .ok()
            .json();
        assert_eq!(json["items"], 100, "{name}");
    }
}

#[test]
fn every_verb_has_an_example_that_fits_a_line() {
    let place = Place::new();
    for (verb, _) in VERBS {
        let help = place.line(&format!("{verb} --help")).ok().out;
        let (_, example) = help
            .split_once("\nExample")
            .unwrap_or_else(|| panic!("{verb} has no example"));
        let command = example
            .lines()
            .find(|line| line.starts_with("  dial "))
            .unwrap();
        assert!(command.starts_with(&format!("  dial {verb} ")), "{command}");
        assert!(
            example
                .lines()
                .filter(|line| line.starts_with("  "))
                .all(|line| line.chars().count() <= 80),
            "{example}"
        );
        // What the example names, the options list.
        for option in example
            .split_whitespace()
            .filter(|word| word.starts_with("--"))
        {
            assert!(
                help.matches(option).count() >= 2,
                "{verb}: {option} is not explained"
            );
        }
    }
}

#[test]
fn every_flag_of_the_contract_is_known() {
    let help = Place::new().line("simulate --help").ok().out;
    let flags = "--k --metric --weights --propagation --tau --sigma --prior --expected-clusters --acquisition --policy \
                 --lambda --model --queries --batch --initial --mod --ignore-label --trials --seed --precision \
                 --threads --out --quiet --json";
    for flag in flags.split_whitespace() {
        assert!(
            help.contains(&format!("{flag} ")) || help.contains(&format!("{flag}\n")),
            "{flag} is not explained"
        );
    }
}

/// Runs with one stream going to a reader that has left already.
fn broken(place: &Place, words: &str, stdout: bool) -> i32 {
    let args: Vec<&str> = words.split_whitespace().collect();
    let mut command: Command = place.command(&args);
    let (kept, left) = (Stdio::null(), Stdio::piped());
    let mut child = match stdout {
        true => command.stdout(left).stderr(kept).spawn().unwrap(),
        false => command.stderr(left).stdout(kept).spawn().unwrap(),
    };
    drop((child.stdout.take(), child.stderr.take()));
    child.wait().unwrap().code().expect("dial is not killed")
}

#[test]
fn readers_that_leave_are_no_failure() {
    let place = place();
    for (verb, line) in VERBS {
        for stdout in [true, false] {
            assert_eq!(broken(&place, line, stdout), 0, "{verb}, stdout {stdout}");
        }
    }
    assert_eq!(
        broken(
            &place,
            "simulate a.csv --k 3 --queries 50 --trials 20 --out -",
            true
        ),
        0
    );
    assert_eq!(broken(&place, "--help", true), 0);
    // A fault keeps its exit code even if nobody reads about it.
    assert_eq!(broken(&place, "graph nowhere.csv", false), 3);
    assert_eq!(broken(&place, "graph nowhere.csv --json", false), 3);
    assert_eq!(broken(&place, "graph a.csv --tree", false), 2);
}

#[cfg(unix)]
#[test]
fn the_head_of_a_long_file_is_enough() {
    let script = "\"$DIAL\" simulate builtin:moons:80 --k 5 --trials 30 --queries 60 --quiet --out - 2>err; \
                  echo $? >code";
    let place = Place::new();
    let piped = format!("({script}) | head -n 1");
    let output = Command::new("sh")
        .args(["-c", &piped])
        .env("DIAL", DIAL)
        .current_dir(place.path(""))
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap().trim_end(),
        crate::run::COLUMNS
    );
    let code = String::from_utf8(place.read("code")).unwrap();
    assert_eq!((code.trim(), place.read("err").len()), ("0", 0));
}
