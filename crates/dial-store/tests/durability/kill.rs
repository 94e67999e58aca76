//! `kill -9` at any moment (fault S1): what was acknowledged is there once, and a retry of what was in flight gets the receipt
//! that was never heard.

use std::path::{Path, PathBuf};

use dial::seed::{Purpose, Random};
use dial_store::{Journal, Project};

use crate::child::{Report, Task, command, kill, lines};
use crate::common::{count, new_project, stream_length, streamed};
use crate::power::Disk;
use crate::verbs::{Start, Verb, check};

/// A project with a writer that dies again and again.
pub struct Victim {
    /// Holds everything.
    pub disk: Disk,
    /// The project.
    pub folder: PathBuf,
    /// How the writer opens it.
    pub journal: Journal,
    /// The seed of its stream.
    pub seed: u64,
    /// Labels of the stream that are stored.
    pub stored: u64,
}

/// What one life of the writer came to.
#[derive(Debug)]
pub struct Life {
    /// Labels acknowledged in all lives that were not lost before, this one included.
    pub acked: u64,
    /// Labels to a transaction.
    pub group: u64,
}

impl Victim {
    pub fn new(seed: u64, journal: Journal) -> Victim {
        let disk = Disk::new();
        let folder = disk.root().join("victim.dial");
        drop(new_project(&folder, journal));
        Victim {
            disk,
            folder,
            journal,
            seed,
            stored: 0,
        }
    }

    /// Lets a writer work until it has acknowledged some labels, and kills it a little later.
    pub fn live(&self, random: &mut Random, more: &[(&str, &Path)]) -> Life {
        let group = [1, 1, 3, 40, 150][random.below(5)];
        let mut command = command(
            Task::Write,
            &self.folder,
            self.journal,
            &[("seed", self.seed), ("group", group)],
        );
        command.envs(more.iter().copied());
        let mut child = command.spawn().unwrap();
        let wanted = 1 + random.below(12);
        let pause = std::time::Duration::from_micros(random.below(6_000) as u64);
        let mut lines = lines(child.stdout.take().unwrap());
        let mut report = Report::default();
        let mut groups = 0;
        while groups < wanted {
            let line = lines
                .next()
                .unwrap_or_else(|| panic!("the writer stopped: {}", errors(&mut child)));
            report.take(&line);
            groups = report.acks.len() / group as usize;
        }
        std::thread::sleep(pause);
        kill(&mut child);
        lines.for_each(|line| report.take(&line));
        // Acknowledged are the next labels of the stream, in order.
        let acked = self.stored + report.acks.len() as u64;
        for n in self.stored..acked {
            assert!(
                report.acks.contains_key(&streamed(self.seed, n).key),
                "label {n} was acknowledged"
            );
        }
        Life { acked, group }
    }

    /// Looks at a copy, so that the next writer finds what the dead one left: the labels stored, after a retry of what was
    /// in flight.
    pub fn look(&self, life: &Life) -> u64 {
        let copy = self.disk.beside("copy.dial");
        copy_folder(&self.folder, &copy);
        let mut project = Project::open(&copy, self.journal, 4_000).unwrap();
        let stored = stream_length(self.seed, project.log().records());
        assert!(
            stored <= life.acked + life.group,
            "no more than what was in flight"
        );
        let version = project.log().version();
        for n in life.acked.min(stored)..stored {
            let again = project.submit_one(streamed(self.seed, n), 5_000).unwrap();
            let expected = project
                .log()
                .submission(&streamed(self.seed, n).key)
                .unwrap()[0]
                .seq;
            assert_eq!((again.seq, again.repeated), (expected, true));
        }
        assert_eq!(project.log().version(), version, "a retry stores nothing");
        let next = project
            .submit_one(streamed(self.seed, stored), 6_000)
            .unwrap();
        assert_eq!(
            (next.seq, next.repeated),
            (version + 1, false),
            "and work goes on"
        );
        drop(project);
        std::fs::remove_dir_all(&copy).unwrap();
        stored
    }
}

fn errors(child: &mut std::process::Child) -> String {
    std::io::read_to_string(child.stderr.take().unwrap()).unwrap_or_default()
}

/// Copies a folder with all that is in it.
pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        let to = to.join(entry.file_name().unwrap());
        match entry.is_dir() {
            true => copy_folder(&entry, &to),
            false => drop(std::fs::copy(&entry, to).unwrap()),
        }
    }
}

fn kill_again_and_again(journal: Journal, kills: u64) {
    let mut victim = Victim::new(11, journal);
    let mut random = Random::new(5, Purpose::User, 0);
    let (mut acked, mut unheard) = (0, 0);
    for cycle in 0..kills {
        let life = victim.live(&mut random, &[]);
        let stored = victim.look(&life);
        assert!(
            stored >= life.acked,
            "cycle {cycle}: {} acknowledged, {stored} stored",
            life.acked
        );
        acked += life.acked - victim.stored;
        unheard += stored - life.acked;
        victim.stored = stored;
    }
    println!(
        "{journal:?}: {kills} kills, {acked} acknowledged, none lost; {unheard} stored and never acknowledged"
    );
}

#[test]
fn a_killed_writer_loses_nothing() {
    kill_again_and_again(Journal::Wal, count("DIAL_KILLS", 15));
}

#[test]
fn a_killed_writer_loses_nothing_with_a_rollback_journal() {
    kill_again_and_again(Journal::Rollback, count("DIAL_KILLS", 15).div_ceil(3));
}

/// Whatever is done, and whenever it is killed: what was acknowledged is there, and nothing is half there.
#[test]
fn no_killed_verb_leaves_anything_half_done() {
    let starts: Vec<Start> = Verb::ALL.into_iter().map(Start::new).collect();
    let mut random = Random::new(6, Purpose::User, 0);
    // How long a verb takes, found by letting it end.
    let mut longest = vec![None; starts.len()];
    let (kills, mut in_time, mut wrong) = (3 * count("DIAL_KILLS", 15), 0, Vec::new());
    for round in 0..kills {
        let at = round as usize % starts.len();
        let (start, disk) = (&starts[at], Disk::new());
        let began = std::time::Instant::now();
        let mut child = start.on(&disk.root()).spawn().unwrap();
        match longest[at] {
            None => drop(child.wait().unwrap()),
            Some(longest) => {
                std::thread::sleep(std::time::Duration::mul_f64(longest, random.uniform()))
            }
        }
        longest[at].get_or_insert(began.elapsed());
        in_time += u64::from(child.try_wait().unwrap().is_none());
        kill(&mut child);
        let said: Vec<String> = lines(child.stdout.take().unwrap()).collect();
        wrong.extend(
            check(start.verb, &disk.root(), &said)
                .err()
                .map(|fault| format!("{:?}: {fault}", start.verb)),
        );
    }
    println!(
        "{kills} processes of {} verbs, {in_time} of them killed before their end, {} wrong",
        starts.len(),
        wrong.len()
    );
    assert!(
        wrong.is_empty(),
        "{} of {kills}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Not a test: how long a label takes from being sent to being acknowledged, one at a time.
#[test]
#[ignore = "a measurement"]
fn how_long_a_label_takes() {
    // On a real disk: the folder for temporary files may be in memory.
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut project = new_project(&place.path().join("p.dial"), Journal::Wal);
    let mut times: Vec<f64> = (0..count("DIAL_LABELS", 2_000))
        .map(|n| {
            let (label, start) = (streamed(1, n), std::time::Instant::now());
            project.submit_one(label, 2_000).unwrap();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[(share * (times.len() - 1) as f64) as usize];
    println!(
        "median {:.3} ms, 90 % {:.3} ms, 99 % {:.3} ms",
        at(0.5),
        at(0.9),
        at(0.99)
    );
}
