//! Every bad file of the corpus through the command: its code, text and exit code, in words and in JSON.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::corpus::{self, Case};
use crate::run::{DIAL, Place, Ran};

/// The exit code that belongs to a code, by its letter.
fn exit_code(code: &str) -> i32 {
    match (code.as_bytes()[0], code) {
        (b'I', _) => 3,
        (b'U', _) => 2,
        (b'S', _) => 5,
        (_, "N10") => 4,
        (_, "N18") => 7,
        _ => panic!("no exit code is promised for {code}"),
    }
}

/// The file of a case, and the one beside it.
fn laid_out(case: &Case) -> Place {
    let place = Place::with(case.file_name, &case.bytes);
    match &case.beside {
        Some((name, bytes)) => place.and(name, bytes),
        None => place,
    }
}

/// What is wrong with how a case ended, if anything.
fn complaint(case: &Case) -> Option<String> {
    let place = laid_out(case);
    let before = place.files();
    let mut args = vec!["doctor", case.file_name, "--quiet"];
    args.extend(&case.args);
    let words = place.dial(&args);
    args.push("--json");
    let machine = place.dial(&args);
    let wrong = in_words(case, &words).or_else(|| in_json(case, &machine, &words));
    let wrong =
        wrong.or_else(|| (place.files() != before).then(|| format!("left {:?}", place.files())));
    wrong.map(|what| format!("{}: {what}", case.name))
}

fn in_words(case: &Case, ran: &Ran) -> Option<String> {
    let head = format!("error[{}]: ", case.code);
    let right = ran.code == exit_code(case.code)
        && ran.out.is_empty()
        && ran.err.starts_with(&head)
        && ran.err.contains(case.says)
        && ran.err.ends_with('\n')
        && ran.err.lines().count() == 1;
    (!right).then(|| {
        format!(
            "wanted {head}{} and nothing else, got {} {} {}",
            case.says, ran.code, ran.out, ran.err
        )
    })
}

/// The same words and numbers in the one JSON shape.
fn in_json(case: &Case, ran: &Ran, words: &Ran) -> Option<String> {
    let parsed: Value = serde_json::from_str(&ran.err).unwrap_or(Value::Null);
    let detail = words
        .err
        .trim_end()
        .strip_prefix(&format!("error[{}]: ", case.code))
        .unwrap_or_default();
    let title = parsed["title"].as_str().unwrap_or_default();
    let want = json!({
        "type": format!("urn:dial:error:{}", case.code),
        "title": title,
        "detail": detail,
        "code": case.code,
        "exit_code": exit_code(case.code),
    });
    let right = ran.code == exit_code(case.code)
        && ran.out.is_empty()
        && parsed == want
        && !title.is_empty();
    (!right).then(|| format!("wanted {want}, got {} {} {}", ran.code, ran.out, ran.err))
}

#[test]
fn every_bad_file_is_refused_with_its_code_in_words_and_in_json() {
    nobody_complains(complaint);
}

/// Whatever a header promises, and whatever a file unpacks to: an honest answer in little memory, not an abort.
#[test]
#[cfg(target_os = "linux")]
fn every_bad_file_is_refused_in_little_memory() {
    nobody_complains(|case| {
        let place = laid_out(case);
        let mut limited = std::process::Command::new("sh");
        limited.args([
            "-c",
            &format!("ulimit -v {LIMIT_KIB}; exec \"$@\""),
            "sh",
            DIAL,
            "doctor",
            case.file_name,
        ]);
        limited
            .args(["--quiet", "--threads", "1"])
            .args(&case.args)
            .current_dir(place.path(""));
        let ended = limited.output().unwrap();
        let (code, said) = (
            ended.status.code(),
            String::from_utf8_lossy(&ended.stderr).into_owned(),
        );
        let right = code == Some(exit_code(case.code))
            && said.starts_with(&format!("error[{}]: ", case.code));
        (!right).then(|| format!("{}: {code:?} {said}", case.name))
    });
}

/// The address space of the run in little memory: twice what the largest file of the corpus takes to be read.
const LIMIT_KIB: usize = 256 << 10;

/// Tries all cases, four at a time.
pub fn nobody_complains(complaint: impl Fn(&Case) -> Option<String> + Sync) {
    let mut cases = corpus::cases();
    cases.extend(crate::bad_columns::cases());
    let cases = cases;
    assert!(cases.len() >= 250, "only {} cases", cases.len());
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    wrong.lock().unwrap().extend(complaint(case));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_good_file_is_read() {
    for (name, bytes) in corpus::good() {
        let place = Place::with(name, bytes);
        let ran = place.dial(&["graph", name, "--k", "1", "--json"]);
        // The gzipped file holds zeros only: read, then refused for want of structure.
        if name.ends_with("-ubyte.gz") {
            ran.fails_as_json("I10", 3);
        } else {
            assert_eq!(ran.ok().json()["items"], 3, "{name}");
        }
    }
}

impl Ran {
    #[track_caller]
    fn fails_as_json(&self, code: &str, exit_code: i32) {
        let parsed: Value =
            serde_json::from_str(&self.err).unwrap_or_else(|error| panic!("{error}: {}", self.err));
        assert_eq!((self.code, &parsed["code"]), (exit_code, &json!(code)));
    }
}
