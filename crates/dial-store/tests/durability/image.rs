//! Power cuts on a real file system: ext4 in a file, mounted through a loop device. A process that writes is stopped at any
//! moment, the file is copied as it is, and what the copy holds after its journal was replayed must be what [`crate::verbs`]
//! promises. This has names and renames as a file system keeps them; torn sectors are the matter of [`crate::power`].
//!
//! The file system writes nothing by itself meanwhile (`commit=300`), so that the file is what a disk holds whose power
//! fails. All of it happens in a mount namespace, which takes mounts and loop devices away with it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dial::seed::{Purpose, Random};
use dial_store::Journal;

use crate::child::{Task, command, kill, lines, say};
use crate::common::count;
use crate::power::shim;
use crate::verbs::{Start, Verb, check};

/// Runs a program of the system, which must succeed.
fn run(words: &[&str], paths: &[&Path]) {
    let mut command = Command::new(words[0]);
    let output = command.args(&words[1..]).args(paths).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
}

/// A file system in a file, mounted.
struct Mounted {
    file: PathBuf,
    at: PathBuf,
}

impl Mounted {
    /// Mounts what the file holds. New files whose bytes were not synced stay empty: the file system is not asked to guess.
    fn of(file: PathBuf, at: PathBuf) -> Mounted {
        std::fs::create_dir_all(&at).unwrap();
        let options = ["mount", "-o", "loop,commit=300,noauto_da_alloc"];
        run(&options, &[&file, &at]);
        Mounted { file, at }
    }

    fn new(place: &Path) -> Mounted {
        let (file, at) = (place.join("disk.ext4"), place.join("disk"));
        let _ = std::fs::remove_file(&file);
        std::fs::File::create(&file)
            .unwrap()
            .set_len(24 << 20)
            .unwrap();
        run(&["mkfs.ext4", "-q", "-F", "-J", "size=4"], &[&file]);
        Mounted::of(file, at)
    }

    fn root(&self) -> PathBuf {
        self.at.join("here")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        run(&["umount"], &[&self.at]);
    }
}

/// Stops a process, and waits until all of its threads have stopped; false if it had ended.
fn stop(child: &Child) -> bool {
    let pid = child.id();
    let _ = Command::new("kill")
        .args(["-STOP", &pid.to_string()])
        .status();
    let state = |thread: PathBuf| {
        let text = std::fs::read_to_string(thread.join("stat")).unwrap_or_default();
        text.rsplit(") ").next().unwrap_or_default().chars().next()
    };
    loop {
        let threads = std::fs::read_dir(format!("/proc/{pid}/task"));
        let states: Vec<_> = threads
            .into_iter()
            .flatten()
            .map(|thread| state(thread.unwrap().path()))
            .collect();
        if states.iter().all(|state| matches!(state, Some('Z') | None)) {
            return false;
        }
        if states.iter().all(|state| matches!(state, Some('T'))) {
            return true;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// In the child, in a mount namespace: so many power cuts, all verbs in turn; where syncs are dropped, of one that
/// acknowledges labels.
pub fn cut_again_and_again(place: &Path, cuts: u64, drop_syncs: bool) {
    let verbs = if drop_syncs {
        vec![Verb::Tell]
    } else {
        Verb::ALL.to_vec()
    };
    let starts: Vec<Start> = verbs.into_iter().map(Start::new).collect();
    let mut random = Random::new(7, Purpose::User, 0);
    // How long a verb takes, found by letting it end.
    let mut longest: Vec<Option<Duration>> = vec![None; starts.len()];
    let (mut midway, mut wrong) = (0, 0);
    for round in 0..cuts {
        let at = round as usize % starts.len();
        let (start, disk) = (&starts[at], Mounted::new(place));
        let mut command = start.on(&disk.root());
        if drop_syncs {
            let synced = place.join("synced");
            std::fs::create_dir_all(&synced).unwrap();
            command
                .env("LD_PRELOAD", shim().unwrap())
                .env("DIAL_SHIM_FOLDER", &disk.at)
                .env("DIAL_SHIM_SYNCED", synced);
        }
        run(&["sync", "-f"], &[&disk.at]);
        let began = Instant::now();
        let mut child = command.spawn().unwrap();
        match longest[at] {
            None => drop(child.wait().unwrap()),
            Some(longest) => std::thread::sleep(longest.mul_f64(random.uniform())),
        }
        longest[at].get_or_insert(began.elapsed());
        midway += u64::from(stop(&child));
        let copy = place.join("copy.ext4");
        std::fs::copy(&disk.file, &copy).unwrap();
        kill(&mut child);
        let said: Vec<String> = lines(child.stdout.take().unwrap()).collect();
        drop(disk);
        let after = Mounted::of(copy, place.join("after"));
        if let Err(fault) = check(start.verb, &after.root(), &said) {
            wrong += 1;
            say(&format!("wrong {:?}: {fault}", start.verb));
        }
    }
    say(&format!(
        "{cuts} power cuts on ext4, {midway} before the end, {wrong} wrong"
    ));
    say(&format!("total {wrong}"));
}

/// So many power cuts in a mount namespace: how many went wrong, and what was said; none where that is not allowed.
fn in_a_namespace(cuts: u64, drop_syncs: bool) -> Option<(u64, String)> {
    let place = tempfile::tempdir().unwrap();
    let inside = |program: &Path| {
        let mut unshare = Command::new("unshare");
        unshare
            .args(["--mount", "--propagation", "private"])
            .arg(program);
        unshare.stdin(Stdio::null());
        unshare
    };
    let (file, at) = (place.path().join("probe.ext4"), place.path().join("probe"));
    std::fs::File::create(&file)
        .unwrap()
        .set_len(24 << 20)
        .unwrap();
    std::fs::create_dir(&at).unwrap();
    let probe = "mkfs.ext4 -q -F \"$1\" && mount -o loop \"$1\" \"$2\"";
    let mut probed = inside(Path::new("sh"));
    let probed = probed.args(["-c", probe, "sh"]).args([&file, &at]).output();
    if shim().is_none() || !probed.is_ok_and(|output| output.status.success()) {
        return None;
    }
    let settings = [("cuts", cuts), ("drop", u64::from(drop_syncs))];
    let child = command(Task::Image, place.path(), Journal::Wal, &settings);
    let mut unshared = inside(Path::new(child.get_program()));
    unshared.args(child.get_args());
    unshared.envs(
        child
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let output = unshared.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    let total = text.lines().find_map(|line| line.strip_prefix("> total "));
    Some((total.unwrap().parse().unwrap(), text))
}

const SKIPPED: &str =
    "SKIPPED: power cuts on ext4 need the right to mount a file (root), mkfs.ext4, unshare and cc";

#[test]
fn a_power_cut_on_ext4_loses_nothing_of_any_verb() {
    // Each verb is let go to its end once.
    let cuts = Verb::ALL.len() as u64 + count("DIAL_CUTS", 16);
    match in_a_namespace(cuts, false) {
        Some((wrong, said)) => {
            println!("{said}");
            assert_eq!(wrong, 0, "{said}");
        }
        None => println!("{SKIPPED}"),
    }
}

/// If these lose nothing, the test above proves nothing.
#[test]
fn the_same_cuts_lose_labels_where_nothing_is_synced() {
    match in_a_namespace(4, true) {
        Some((wrong, said)) => assert!(wrong > 0, "{said}"),
        None => println!("{SKIPPED}"),
    }
}
