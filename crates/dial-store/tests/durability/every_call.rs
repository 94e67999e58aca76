//! Every verb that writes, cut off by a power cut (fault S2) before each of its calls that matters; and the proof that these
//! cuts would see a sync that is missing: without any one of those in the table below, some cut loses something.

use std::collections::BTreeMap;
use std::path::Path;

use dial::seed::{Purpose, Random};

use crate::child::lines;
use crate::common::count;
use crate::power::{CUTS, Disk, Left, shim};
use crate::verbs::{Start, Verb, check};

/// A verb on a disk that is watched.
struct Stage<'a> {
    start: Start,
    shim: &'a Path,
}

/// How a run is disturbed.
#[derive(Clone, Copy, Debug, Default)]
struct Disturbance {
    /// The power fails before this call; else at the end.
    die: Option<usize>,
    /// This sync does nothing.
    skip: Option<usize>,
}

/// What is left of a run.
struct Run {
    disk: Disk,
    /// What was acknowledged.
    said: Vec<String>,
    /// The calls that were made: what, and the file.
    calls: Vec<(String, String)>,
}

impl Stage<'_> {
    fn new(verb: Verb, shim: &Path) -> Stage<'_> {
        let start = Start::new(verb);
        Stage { start, shim }
    }

    fn run(&self, trouble: Disturbance) -> Run {
        let disk = Disk::new();
        let mut command = self.start.on(&disk.root());
        disk.settle();
        let trace = disk.beside("trace");
        command.envs(disk.watching(self.shim));
        command.env("DIAL_SHIM_TRACE", &trace);
        for (name, number) in [("DIE", trouble.die), ("SKIP", trouble.skip)] {
            let number = number.map_or(String::new(), |number| number.to_string());
            command.env(format!("DIAL_SHIM_{name}"), number);
        }
        let mut child = command
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let said: Vec<String> = lines(child.stdout.take().unwrap()).collect();
        let ended = child.wait_with_output().unwrap();
        assert!(
            trouble.die.is_some() || ended.status.success(),
            "{:?}: {}",
            self.start.verb,
            String::from_utf8_lossy(&ended.stderr)
        );
        let text = std::fs::read_to_string(trace).unwrap_or_default();
        let call = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let (what, name) = (words.next().unwrap(), words.nth(1).unwrap());
            (what.to_string(), plain(name))
        };
        let calls = text.lines().map(call).collect();
        Run { disk, said, calls }
    }

    /// What does not hold after each kind of power cut.
    fn faults(&self, run: &Run, random: &mut Random) -> Vec<String> {
        let fault = |cut: (Left, Left)| {
            let after = run.disk.after_cut(cut, random);
            let fault = check(self.start.verb, &after.root(), &run.said).err()?;
            Some(format!("{:?} {cut:?}: {fault}", self.start.verb))
        };
        CUTS.into_iter().filter_map(fault).collect()
    }

    /// The calls of an undisturbed run, and the moments that matter: before and after whatever makes bytes or names safe or
    /// changes names, and some more.
    fn moments(&self, random: &mut Random) -> (Vec<(String, String)>, Vec<usize>) {
        let calls = self.run(Disturbance::default()).calls;
        let ordered = |at: &usize| calls[*at - 1].0 != "write";
        let mut moments: Vec<usize> = (1..=calls.len())
            .filter(ordered)
            .flat_map(|at| [at, at + 1])
            .chain((0..count("DIAL_CUTS", 16) / 4).map(|_| 1 + random.below(calls.len())))
            .filter(|at| *at <= calls.len())
            .collect();
        moments.sort_unstable();
        moments.dedup();
        (calls, moments)
    }
}

/// A name without what differs from run to run: the number of the process and times.
fn plain(name: &str) -> String {
    let letters: String = name
        .split('/')
        .map(|part| {
            let stem = part.split('.').map(|word| {
                let random = word.len() >= 3 && word.bytes().any(|byte| byte.is_ascii_digit());
                if random { "*" } else { word }
            });
            stem.collect::<Vec<_>>().join(".")
        })
        .collect::<Vec<_>>()
        .join("/");
    letters
}

fn with_shim(test: impl FnOnce(&Path)) {
    match shim() {
        Some(shim) => test(shim),
        None => println!("SKIPPED: power cuts need Linux and a C compiler (cc)"),
    }
}

#[test]
fn no_verb_loses_anything_to_a_power_cut_at_any_call() {
    with_shim(|shim| {
        let (mut runs, mut wrong) = (0, Vec::new());
        for verb in Verb::ALL {
            let stage = Stage::new(verb, shim);
            let mut random = Random::new(verb as u64, Purpose::User, 2);
            let (_, moments) = stage.moments(&mut random);
            for die in moments.iter().copied().map(Some).chain([None]) {
                let run = stage.run(Disturbance { die, skip: None });
                let faults = stage.faults(&run, &mut random);
                let at = |fault: &String| format!("before call {die:?}: {fault}");
                wrong.extend(faults.iter().map(at));
                runs += CUTS.len();
            }
        }
        println!(
            "{runs} power cuts of {} verbs, {} wrong",
            Verb::ALL.len(),
            wrong.len()
        );
        assert!(
            wrong.is_empty(),
            "{} of {runs}:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
    });
}

/// Whether some power cut of a verb shows that its n-th sync is missing, made as call `at`.
fn is_missed(
    stage: &Stage<'_>,
    (skip, at): (usize, usize),
    moments: &[usize],
    random: &mut Random,
) -> bool {
    let shows = |die: Option<usize>, random: &mut Random| {
        let skip = Some(skip);
        let run = stage.run(Disturbance { die, skip });
        !stage.faults(&run, random).is_empty()
    };
    // The end first, then what follows the sync: only what comes later can miss it.
    let later = moments.iter().copied().filter(|moment| *moment > at);
    shows(None, random) || later.map(Some).any(|die| shows(die, random))
}

/// All syncs of all verbs, one a line: the verb, the number of the sync, the file, and `needed` or why it is not. A line that
/// begins with `#` is a remark.
const SYNCS: &str = include_str!("syncs.txt");

/// The syncs of the table: what is synced, and what is said of that.
fn listed() -> BTreeMap<String, String> {
    let line = |line: &str| {
        let mut words = line.splitn(4, ' ');
        let sync: Vec<&str> = words.by_ref().take(3).collect();
        (sync.join(" "), words.next().unwrap_or_default().to_string())
    };
    let lines = SYNCS
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(line).collect()
}

/// A sync that no cut misses may be needed all the same, so what is spare must be listed with a reason; `DIAL_WRITE_SYNCS=FILE`
/// tries all of them anew, and writes the table.
#[test]
#[ignore = "a campaign of minutes, run by ./test --long"]
fn every_sync_is_needed_and_its_lack_is_seen() {
    with_shim(|shim| {
        let (listed, written) = (listed(), std::env::var_os("DIAL_WRITE_SYNCS"));
        let (mut found, mut unseen) = (Vec::new(), Vec::new());
        for verb in Verb::ALL {
            let stage = Stage::new(verb, shim);
            let mut random = Random::new(verb as u64, Purpose::User, 3);
            let (calls, moments) = stage.moments(&mut random);
            let syncs = (1..).zip(&calls).filter(|(_, (what, _))| what == "sync");
            for (number, (at, (_, name))) in (1..).zip(syncs) {
                let sync = format!("{verb:?} {number} {name}");
                let known = listed.get(&sync).map(String::as_str).unwrap_or("new");
                let mut seen = || is_missed(&stage, (number, at), &moments, &mut random);
                let said = match (known, written.is_some()) {
                    (reason, true) if !seen() => reason.replace("needed", "new"),
                    (_, true) => "needed".to_string(),
                    ("needed", false) if !seen() => {
                        unseen.push(sync.clone());
                        "needed".to_string()
                    }
                    (said, false) => said.to_string(),
                };
                found.push((sync, said));
            }
        }
        if let Some(file) = written {
            let lines: String = found
                .iter()
                .map(|(sync, said)| format!("{sync} {said}\n"))
                .collect();
            let remarks = SYNCS.lines().take_while(|line| line.starts_with('#'));
            let remarks: String = remarks.map(|line| format!("{line}\n")).collect();
            std::fs::write(file, remarks + &lines).unwrap();
            return;
        }
        println!(
            "{} syncs, {} of them needed",
            found.len(),
            found.iter().filter(|(_, said)| said == "needed").count()
        );
        assert!(
            unseen.is_empty(),
            "no power cut shows that these are missing:\n{}",
            unseen.join("\n")
        );
        let found: BTreeMap<String, String> = found.into_iter().collect();
        assert_eq!(
            found, listed,
            "the table is to be written anew (DIAL_WRITE_SYNCS), and new spare syncs explained"
        );
    });
}
