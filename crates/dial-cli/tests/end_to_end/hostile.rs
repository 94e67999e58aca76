//! Files made to do harm: endless lines, links that lead elsewhere, pipes, bytes that a terminal obeys. And every refusal
//! names its code, its file and the next step.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::bad_files::nobody_complains;
use crate::run::{DIAL, Place, Ran};

/// Longer than any of these runs takes, much shorter than for ever.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Runs a command that may hang: then it is killed, and the test fails.
#[track_caller]
fn in_time(command: &mut Command) -> Ran {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > TIMEOUT {
            child.kill().unwrap();
            panic!("{command:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let ended = child.wait_with_output().unwrap();
    Ran {
        // A signal, as of an abort.
        code: ended.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&ended.stdout).into_owned(),
        err: String::from_utf8_lossy(&ended.stderr).into_owned(),
    }
}

/// The command within an address space of so many KiB.
#[cfg(target_os = "linux")]
fn limited(place: &Place, kib: u64, args: &[&str]) -> Command {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("ulimit -v {kib}; exec \"$@\""), "sh", DIAL])
        .args(args)
        .current_dir(place.path(""))
        .stdin(Stdio::null());
    shell
}

#[test]
#[cfg(target_os = "linux")]
fn a_line_of_a_gigabyte_is_refused_in_little_memory() {
    let beginnings: [(&str, &str); 5] = [
        ("a.txt", "word word "),
        ("a.csv", "a,b\n1,2\n3,"),
        ("a.tsv", "a\tb\n1\t2\n3\t\""),
        ("a.jsonl", "{\"a\": 1}\n{\"a\": \""),
        ("a.json", "[{\"a\": 1},{\"a\": \""),
    ];
    for (name, beginning) in beginnings {
        let place = Place::with(name, beginning);
        // All but the beginning takes no room on the disk.
        let file = std::fs::File::options()
            .append(true)
            .open(place.path(name))
            .unwrap();
        std::io::Write::write_all(&mut &file, &vec![b'x'; 2 << 20]).unwrap();
        file.set_len(1 << 30).unwrap();
        for args in [
            ["doctor", name].as_slice(),
            &["new", name],
            &["doctor", "builtin:moons:10", "--labels", name],
        ] {
            let ran = in_time(&mut limited(&place, 2 << 20, args));
            assert_eq!(ran.code, 3, "{args:?}: {}", ran.err);
            assert!(
                ran.err.starts_with(&format!("error[I5]: {name}: ")),
                "{args:?}: {}",
                ran.err
            );
            assert!(ran.err.len() < 1000, "{args:?}: {}", ran.err.len());
            if name != "a.json" {
                assert!(
                    ran.err.contains("is longer than 32 MiB"),
                    "{args:?}: {}",
                    ran.err
                );
            }
        }
    }
}

#[test]
fn a_long_line_from_stdin_is_refused_without_repeating_it() {
    let place = Place::new();
    place
        .line("new builtin:moons:10 --classes a,b --project m")
        .ok();
    let told = |text: &[u8]| {
        std::fs::write(place.path("in"), text).unwrap();
        let input = std::fs::File::open(place.path("in")).unwrap();
        in_time(place.command(&["tell", "m.dial", "-"]).stdin(input))
    };
    let long = told(&vec![b'x'; 100 << 20]);
    long.fails("I6", 3, &["stdin", "line 1", "Nothing was changed."]);
    assert!(long.err.len() < 500, "{}", long.err.len());
    // Within the limit, but without a class.
    let wordy = told(&vec![b'x'; 60_000]);
    wordy.fails("I6", 3, &["line 1 has no class"]);
    assert!(wordy.err.len() < 500, "{}", wordy.err.len());
    // A name as long as a file, in a message.
    let name = "n".repeat(60_000);
    let unknown = told(format!("1\t{name}\n").as_bytes());
    assert!(
        unknown.code != 0 && unknown.err.len() < 10_000,
        "{}",
        unknown.err.len()
    );
    told(b"1\ta\n").ok();
}

/// A folder beside a secret, with links to the secret and to what never ends.
#[cfg(target_os = "linux")]
fn with_links(ending: &str, good: &[(&str, Vec<u8>)]) -> Place {
    use std::os::unix::fs::symlink;
    let place = Place::with(&format!("secret.{ending}"), &good[0].1);
    std::fs::create_dir(place.path("pool")).unwrap();
    let at = |name: &str| place.path(&format!("pool/{name}.{ending}"));
    for (name, bytes) in good {
        std::fs::write(at(name), bytes).unwrap();
    }
    symlink(format!("../secret.{ending}"), at("relative")).unwrap();
    symlink(place.path(&format!("secret.{ending}")), at("absolute")).unwrap();
    for (name, target) in [
        ("passwd", "/etc/passwd"),
        ("kmsg", "/proc/kmsg"),
        ("zero", "/dev/zero"),
    ] {
        symlink(target, at(name)).unwrap();
    }
    symlink(format!("{}.{ending}", good[0].0), at("inner")).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(at("pipe"))
            .status()
            .unwrap()
            .success()
    );
    place
}

/// Links out of the folder are passed over and said, whatever the folder holds; those inside are items.
#[test]
#[cfg(target_os = "linux")]
fn links_out_of_a_folder_are_passed_over_by_one_rule() {
    let texts: Vec<(&str, Vec<u8>)> = [
        ("a", "one text"),
        ("b", "another one"),
        ("c", "the third text"),
    ]
    .map(|(name, text)| (name, text.as_bytes().to_vec()))
    .into();
    let picture = |shade: u8| {
        let mut bytes = std::io::Cursor::new(Vec::new());
        image::GrayImage::from_fn(8, 8, |x, y| image::Luma([shade / (1 + x as u8) + y as u8]))
            .write_to(&mut bytes, image::ImageFormat::Png)
            .unwrap();
        bytes.into_inner()
    };
    let pictures = vec![("a", picture(10)), ("b", picture(200)), ("c", picture(90))];
    for (ending, good) in [("txt", texts), ("png", pictures)] {
        let place = with_links(ending, &good);
        let mut new = place.command(&["new", "pool", "--classes", "x,y", "--project", "p"]);
        let ran = in_time(&mut new).ok();
        let said = "skipped 5 links that lead out of the folder: absolute";
        assert!(ran.err.contains(said), "{}", ran.err);
        for name in ["relative", "passwd", "kmsg", "zero"] {
            assert!(
                ran.err.contains(&format!("{name}.{ending}")),
                "{name}: {}",
                ran.err
            );
        }
        let exported = place.line("export p.dial --out - --format csv").ok().out;
        let ids: Vec<&str> = exported
            .lines()
            .skip(1)
            .filter_map(|line| line.split(',').next())
            .collect();
        assert_eq!(
            ids,
            ["a", "b", "c", "inner"].map(|name| format!("{name}.{ending}"))
        );
    }
    // A table that lists such a link: refused, or the row left out.
    let place = with_links(
        "png",
        &[("a", picture(10)), ("b", picture(200)), ("c", picture(90))],
    )
    .and(
        "pool/list.csv",
        "image\na.png\nb.png\nc.png\nrelative.png\nkmsg.png\n",
    );
    let refused = in_time(&mut place.command(&["new", "pool/list.csv", "--project", "q"]));
    refused.fails("I5", 3, &["pool/list.csv: 2 pictures are outside the folder of the table (line 5: \"relative.png\"; line 6"]);
    let left_out = place.line("new pool/list.csv --project q --skip-bad").ok();
    assert!(
        left_out.err.contains("left out 2 bad rows"),
        "{}",
        left_out.err
    );
}

/// Every place where a file can be named.
#[test]
#[cfg(target_os = "linux")]
fn pipes_devices_and_files_of_the_kernel_are_refused_at_once() {
    let place = Place::with(
        "rows.csv",
        (0..20).fold("a,b\n".to_string(), |text, i| {
            text + &format!("{i},{}\n", i * i)
        }),
    );
    assert!(
        Command::new("mkfifo")
            .arg(place.path("pipe"))
            .status()
            .unwrap()
            .success()
    );
    place
        .line("new rows.csv --classes a,b --project p --quiet")
        .ok();
    for file in ["pipe", "/dev/zero", "/proc/kmsg"] {
        for line in [
            format!("new {file} --project q"),
            format!("doctor {file}"),
            format!("doctor {file} --verify"),
            format!("new rows.csv --project q --labels {file}"),
            format!("new rows.csv --project q --features {file}"),
            format!("new rows.csv --project q --graph {file}"),
            format!("import p.dial {file}"),
            format!("restore {file} --project q"),
            format!("pool p.dial {file}"),
        ] {
            let args: Vec<&str> = line.split(' ').collect();
            let ran = in_time(&mut place.command(&args));
            assert!(
                ran.code > 0 && ran.code < 70,
                "{line}: {} {}",
                ran.code,
                ran.err
            );
            assert!(
                ran.err.contains("error[") && ran.err.contains(file),
                "{line}: {}",
                ran.err
            );
        }
        assert!(!place.path("q.dial").exists());
    }
}

/// A name that clears the screen, sets the title of the window, in seven and in eight bits, and turns its letters round.
#[cfg(target_os = "linux")]
const NAUGHTY: &str = "x\x1b[2J\x1b]0;owned\x07\u{9b}31m\u{202e}gpj.exe\x7f\x08";

/// What must never reach a terminal.
#[cfg(target_os = "linux")]
fn obeyed(text: &str) -> Vec<char> {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let command = |c: &char| turns(*c) || (c.is_control() && !matches!(c, '\n' | '\t'));
    text.chars().filter(command).collect()
}

/// Runs the command with stdout and stderr on a terminal, and returns all that came.
#[cfg(target_os = "linux")]
fn on_a_terminal(place: &Place, args: &[&str]) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Read;
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = std::fs::File::options()
        .read(true)
        .write(true)
        .open(name)
        .unwrap();
    let mut child = place
        .command(args)
        .stdout(theirs.try_clone().unwrap())
        .stderr(theirs)
        .spawn()
        .unwrap();
    let mut seen = Vec::new();
    // The end of a terminal is an error of input and output.
    let _ = std::fs::File::from(ours).read_to_end(&mut seen);
    child.wait().unwrap();
    // A terminal is told of new lines by two characters, and a bar of progress clears its own line.
    let text = String::from_utf8(seen).unwrap();
    text.replace("\r\n", "\n").replace("\r\x1b[2K", "")
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_is_sent_no_control_characters() {
    let table = |id: &str, column: &str| {
        let rows: String = (0..12)
            .map(|i| format!("\"{id}{i}\",{i},{},a\n", i * i))
            .collect();
        format!("id,\"{column}\",b,label\n{rows}")
    };
    let file = format!("{NAUGHTY}.csv");
    let place = Place::with(&file, table(NAUGHTY, NAUGHTY)).and(
        "bad.csv",
        format!("\"{NAUGHTY}\",\"b{NAUGHTY}\"\n1,\"{NAUGHTY}\"\n"),
    );
    // A class may not be called that.
    let class = "c";
    let classes = format!("{class},other");
    let id = format!("{NAUGHTY}3");
    let project = ["--project", "p"];
    let lines: Vec<Vec<&str>> = vec![
        [["new", &file, "--classes", &classes].as_slice(), &project].concat(),
        vec!["ask", "p.dial", "--count", "3"],
        vec!["ask", "p.dial", "--json"],
        vec!["tell", "p.dial", &id, class, "--annotator", "ann"],
        vec!["log", "p.dial"],
        vec!["pool", "p.dial"],
        vec!["status", "p.dial"],
        vec!["predict", "p.dial", &id],
        vec!["predict", "p.dial", &id, "--json"],
        vec!["export", "p.dial", "--out", "-", "--format", "csv"],
        vec!["export", "p.dial", "--out", "-", "--format", "jsonl"],
        vec!["doctor", &file],
        vec!["doctor", "bad.csv"],
        vec!["doctor", NAUGHTY],
        vec!["simulate", &file, "--queries", "3", "--trials", "1"],
        vec!["tell", "p.dial", NAUGHTY, "nobody"],
        vec!["import", "p.dial", "bad.csv"],
        vec!["import", "p.dial", "bad.csv", "--json"],
        vec!["serve", "p.dial", "--host", NAUGHTY],
        vec![NAUGHTY],
        vec!["backup", "p.dial", "--out", &file],
    ];
    let mut shown = 0;
    for line in &lines {
        let text = on_a_terminal(&place, line);
        assert_eq!(obeyed(&text), [], "{line:?}: {text:?}");
        shown += usize::from(text.contains("\\u001b[2J") || text.contains("\\u{1b}[2J"));
    }
    assert!(
        shown >= 15,
        "the name was shown by {shown} of {} only",
        lines.len()
    );
    // Stderr is never raw; what goes to a pipe is: other programs want the ids as they are.
    let piped = place.dial(&["ask", "p.dial"]).ok();
    assert!(piped.out.starts_with(NAUGHTY), "{:?}", piped.out);
    for line in &lines {
        let ran = place.dial(line);
        assert_eq!(obeyed(&ran.err), [], "{line:?}: {:?}", ran.err);
    }
}

/// Words that a next step begins with.
const STEPS: [&str; 50] = [
    "Add",
    "Build",
    "Change",
    "Check",
    "Choose",
    "Copy",
    "copy",
    "Correct",
    "Do",
    "Download",
    "End",
    "Export",
    "Fix",
    "Free",
    "From",
    "Give",
    "Go",
    "If",
    "Import",
    "In",
    "Install",
    "Keep",
    "Leave",
    "List",
    "Load",
    "Look",
    "Make",
    "Mark",
    "Mend",
    "Move",
    "Name",
    "Open",
    "Pass",
    "Repair",
    "Put",
    "Read",
    "Remove",
    "Rename",
    "Repeat",
    "Rescale",
    "Restore",
    "Save",
    "See",
    "Send",
    "Split",
    "Transpose",
    "Try",
    "Unpack",
    "Use",
    "Write",
];

/// What is missing in a refusal: a code of the list, the name of a file, the next step.
fn lacks(said: &str, codes: &str, names: &[&str]) -> Option<String> {
    let Some((code, detail)) = said
        .strip_prefix("error[")
        .and_then(|rest| rest.split_once("]: "))
    else {
        return Some("no code".into());
    };
    if !codes.contains(&format!("| `{code}` |")) {
        return Some(format!("{code} is not in docs/errors.md"));
    }
    if !names.iter().any(|name| detail.contains(name)) {
        return Some("no file".into());
    }
    let detail = detail.trim_end();
    let step = |sentence: &str| {
        STEPS.contains(&sentence.split([' ', ':', ',']).next().unwrap_or_default())
    };
    let next =
        detail.ends_with('.') && detail.split(['.', ':', ';']).map(str::trim_start).any(step);
    (!next).then(|| "no next step".into())
}

fn known_codes() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn every_refusal_of_a_bad_file_names_the_file_and_the_next_step() {
    let codes = known_codes();
    nobody_complains(|case| {
        let place = Place::with(case.file_name, &case.bytes);
        let (place, beside) = match &case.beside {
            Some((name, bytes)) => (place.and(name, bytes), name.to_string()),
            None => (place, case.file_name.to_string()),
        };
        let args = [
            ["new", case.file_name, "--project", "p", "--quiet"].as_slice(),
            &case.args,
        ]
        .concat();
        let ran = place.dial(&args);
        let names = [&[case.file_name, &beside], case.args.as_slice()].concat();
        lacks(&ran.err, &codes, &names).map(|what| format!("{}: {what}: {}", case.name, ran.err))
    });
}

#[test]
fn refusals_of_rows_that_can_be_read_name_the_file_too() {
    let codes = known_codes();
    let rows = |row: &dyn Fn(f64) -> String, n: usize| -> String {
        let rows: String = (0..n).map(|i| row(i as f64) + "\n").collect();
        format!("a,b\n{rows}")
    };
    let any = |i: f64| format!("{i},{}", i * i);
    let cases: [(&str, String, &str); 8] = [
        ("I8", rows(&any, 1), ""),
        ("I8", rows(&any, 9), "--k 9"),
        (
            "I9",
            rows(&|i| format!("{},{i}", i * i), 20),
            "--metric cosine --standardize=no",
        ),
        ("I10", rows(&|_| "1,2".into(), 20), ""),
        ("I11", rows(&|i| format!("{i}e300,1"), 20), ""),
        ("I11", rows(&|i| format!("{i}e-300,1"), 20), ""),
        ("I12", rows(&any, 20), "--with-labels"),
        ("N18", rows(&any, 20), "--memory-limit 1"),
    ];
    for (code, text, options) in cases {
        for verb in ["new", "doctor", "label --no-browser", "simulate"] {
            if (verb == "doctor" || verb == "simulate") && options == "--with-labels" {
                continue;
            }
            let place = Place::with("some rows.csv", &text);
            let mut args: Vec<&str> = verb.split(' ').collect();
            args.extend(["some rows.csv", "--quiet"]);
            args.extend(options.split_whitespace());
            if verb.starts_with("new") || verb.starts_with("label") {
                args.extend(["--project", "p"]);
            }
            let ran = place.dial(&args);
            let head = format!("error[{code}]: ");
            // A simulation may find first that there are no labels to simulate with.
            let expected = ran.err.starts_with(&head)
                || (verb == "simulate" && ran.err.starts_with("error[I12]: "));
            assert!(expected, "{args:?}: {}", ran.err);
            assert_eq!(
                lacks(&ran.err, &codes, &["some rows.csv"]),
                None,
                "{args:?}: {}",
                ran.err
            );
        }
    }
}
