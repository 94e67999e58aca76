//! The process that is killed: this program again, working on a project and saying what was acknowledged.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use dial_store::{Error, Journal, Project, Receipt, Submission};

use crate::common::{new_project, stream_length, streamed};
use crate::verbs::{self, Verb};

/// What a child is to do. It goes through the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Labels from the stream, on and on, until it is killed.
    Write,
    /// So many labels from the stream; what fails is sent again, up to twice.
    Insist,
    /// Makes the project.
    Create,
    /// Opens the project and holds it.
    Hold,
    /// Opens the database with a migration that dies half-way.
    Migrate,
    /// Fills the disk it is on.
    Fill,
    /// Puts a backup in the place of the project.
    Replace,
    /// Opens the project to read it.
    Read,
    /// Cuts the power of verbs on a file system of its own; see [`crate::image`].
    Image,
    /// Does what [`crate::verbs`] names, by its number, on the disk that is the folder.
    Verb,
}

const TASKS: [(&str, Task); 10] = [
    ("write", Task::Write),
    ("insist", Task::Insist),
    ("create", Task::Create),
    ("hold", Task::Hold),
    ("migrate", Task::Migrate),
    ("fill", Task::Fill),
    ("replace", Task::Replace),
    ("read", Task::Read),
    ("image", Task::Image),
    ("verb", Task::Verb),
];

const JOURNALS: [(&str, Journal); 3] = [
    ("wal", Journal::Wal),
    ("rollback", Journal::Rollback),
    ("unsafe", Journal::Unsafe),
];

fn word<T: PartialEq>(words: &[(&'static str, T)], wanted: &T) -> &'static str {
    words.iter().find(|(_, value)| value == wanted).unwrap().0
}

/// A child for a task, not yet started.
pub fn command(task: Task, folder: &Path, journal: Journal, settings: &[(&str, u64)]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "child::child",
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ]);
    command
        .env("DIAL_CHILD", word(&TASKS, &task))
        .env("DIAL_CHILD_FOLDER", folder);
    command.env("DIAL_CHILD_JOURNAL", word(&JOURNALS, &journal));
    for (name, value) in settings {
        command.env(
            format!("DIAL_CHILD_{}", name.to_uppercase()),
            value.to_string(),
        );
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The lines that a child prints for us.
pub fn lines(stdout: ChildStdout) -> impl Iterator<Item = String> {
    let whole = |line: Vec<u8>| String::from_utf8_lossy(&line).into_owned();
    // A line that was cut by the kill ends without a newline and says nothing.
    let mut reader = BufReader::new(stdout);
    std::iter::from_fn(move || {
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line).ok()?;
        (line.pop() == Some(b'\n')).then(|| whole(line))
    })
    .filter_map(|line| line.strip_prefix("> ").map(str::to_string))
}

/// Kills a child as `kill -9` does, and waits until it is gone.
pub fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn number(name: &str) -> u64 {
    std::env::var(format!("DIAL_CHILD_{name}")).map_or(0, |value| value.parse().unwrap())
}

/// Tells the parent, who hears it even if we are killed at once.
pub fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("> {}\n", text.replace('\n', "\n> ")).as_bytes())
        .and_then(|()| out.flush())
        .unwrap();
}

#[test]
#[ignore = "the child of the other tests"]
fn child() {
    let Ok(task) = std::env::var("DIAL_CHILD") else {
        return;
    };
    let folder = std::env::var("DIAL_CHILD_FOLDER").unwrap();
    let folder = Path::new(&folder);
    let journal = std::env::var("DIAL_CHILD_JOURNAL").unwrap();
    let journal = JOURNALS
        .into_iter()
        .find(|(word, _)| *word == journal)
        .unwrap()
        .1;
    // Whatever the test that ran the child leaves behind is ours, and what the child printed before is on a line of its own.
    println!();
    match TASKS.into_iter().find(|(word, _)| *word == task).unwrap().1 {
        Task::Write => write(folder, journal),
        Task::Insist => insist(folder, journal),
        Task::Create => create(folder, journal),
        Task::Hold => hold(folder, journal),
        Task::Migrate => crate::migration::die_half_way(folder, journal),
        Task::Fill => crate::full::fill(folder, journal),
        Task::Replace => crate::replacing::replace(folder),
        Task::Read => say(&crate::readonly::read(folder)),
        Task::Image => {
            crate::image::cut_again_and_again(folder, number("CUTS"), number("DROP") == 1)
        }
        Task::Verb => verbs::run(Verb::ALL[number("VERB") as usize], folder),
    }
}

/// Labels in groups, each group one transaction.
fn write(folder: &Path, journal: Journal) {
    let (seed, group) = (number("SEED"), number("GROUP").max(1));
    let mut project = Project::open(folder, journal, 2_000).unwrap();
    let mut next = stream_length(seed, project.log().records());
    loop {
        let submissions: Vec<Submission> =
            (next..next + group).map(|n| streamed(seed, n)).collect();
        let answers = project.submit(&submissions, 3_000 + next);
        let said: Vec<String> = answers
            .into_iter()
            .zip(&submissions)
            .map(|(answer, submission)| format!("ack {} {}", submission.key, answer.unwrap().seq))
            .collect();
        say(&said.join("\n"));
        next += group;
    }
}

/// Labels one by one. What fails is said and sent again.
fn insist(folder: &Path, journal: Journal) {
    let (seed, count) = (number("SEED"), number("COUNT"));
    let mut opened = None;
    for _ in 0..3 {
        match Project::open(folder, journal, 2_000) {
            Ok(project) => opened = Some(project),
            Err(error) => say(&format!("unopened {} {error}", error.code())),
        }
        if opened.is_some() {
            break;
        }
    }
    let Some(mut project) = opened else { return };
    say("opened");
    let start = stream_length(seed, project.log().records());
    for n in start..start + count {
        let submission = streamed(seed, n);
        for _ in 0..3 {
            let before = project.log().version();
            match project.submit_one(submission.clone(), 3_000 + n) {
                Ok(Receipt { seq, .. }) => {
                    say(&format!("ack {} {seq}", submission.key));
                    break;
                }
                Err(error) => {
                    assert!(project.log().version() <= before + 1);
                    say(&format!("fail {} {} {error}", submission.key, error.code()));
                }
            }
        }
    }
    say("done");
}

fn create(folder: &Path, journal: Journal) {
    let recipe = crate::common::recipe(crate::common::ITEMS, 1);
    match Project::create(
        folder,
        journal,
        &recipe,
        None,
        crate::common::first(4),
        1_000,
    ) {
        Ok(_) => say("created"),
        Err(error) => say(&format!("uncreated {} {error}", error.code())),
    }
}

/// Opens the project, says how that went, and holds it until the parent closes our standard input.
fn hold(folder: &Path, journal: Journal) {
    let opened: Result<Project, Error> = match folder.exists() {
        true => Project::open(folder, journal, 2_000),
        false => Ok(new_project(folder, journal)),
    };
    match &opened {
        Ok(_) => say(&format!("opened {}", std::process::id())),
        Err(error) => say(&format!("unopened {} {error}", error.code())),
    }
    if opened.is_ok() {
        let _ = std::io::stdin().read_line(&mut String::new());
    }
}

/// What a child said about its labels: `ack` with places, `fail` with codes, in order.
#[derive(Debug, Default)]
pub struct Report {
    /// Keys with the places they got.
    pub acks: HashMap<String, u64>,
    /// Keys that failed, with the code.
    pub fails: Vec<(String, String)>,
    /// All other lines.
    pub others: Vec<String>,
}

impl Report {
    /// Takes one line.
    pub fn take(&mut self, line: &str) {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words.as_slice() {
            ["ack", key, seq] => assert_eq!(
                self.acks.insert(key.to_string(), seq.parse().unwrap()),
                None,
                "{key}"
            ),
            ["fail", key, code, ..] => self.fails.push((key.to_string(), code.to_string())),
            _ => self.others.push(line.to_string()),
        }
    }
}
