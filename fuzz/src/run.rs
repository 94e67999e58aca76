//! A run: mutate, read, keep what says something new, write out what fails.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dial::seed::{Purpose, Random};

use crate::check::{Failure, READ, check, listen};
use crate::minimise::minimised;
use crate::mutate::mutated;
use crate::seeds::seeds;
use crate::targets::{Input, Target};

/// When a run ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// After so many inputs.
    Inputs(usize),
    /// After so long.
    Time(Duration),
}

/// What a run found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Inputs read.
    pub inputs: usize,
    /// How many of them were not refused. If none is, the reader was never reached and the run says nothing.
    pub read: usize,
    /// Different answers.
    pub answers: BTreeSet<String>,
    /// Failures, each with the smallest input that shows it.
    pub failures: Vec<(Failure, Input)>,
}

/// Memory is measured for the whole process: one run at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Waits until nobody else in this process measures, and keeps others waiting while it lives.
pub fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fuzzes a target.
pub fn run(target: Target, seed: u64, end: End) -> Found {
    let _alone = alone();
    listen();
    let folder = folder(target);
    let mut found = Found::default();
    let mut inputs = seeds(target, &folder);
    // Those that are read. Every second input comes from one of them: they lead deepest into the reader.
    let mut good: Vec<Input> = inputs.clone();
    good.retain(|input| look(target, input, &folder, &mut found) == Some(Answer::Read));
    let place = Target::all().iter().position(|one| *one == target);
    let mut random = Random::new(seed, Purpose::User, place.unwrap_or_default() as u64);
    let start = Instant::now();
    let over = |inputs: usize| match end {
        End::Inputs(most) => inputs >= most,
        End::Time(most) => start.elapsed() >= most,
    };
    while !inputs.is_empty() && !over(found.inputs) && found.failures.len() < 20 {
        let from = if random.below(2) == 0 && !good.is_empty() {
            &good
        } else {
            &inputs
        };
        let mut input = from[random.below(from.len())].clone();
        let other = &inputs[random.below(inputs.len())];
        input.bytes = mutated(&input.bytes, &other.bytes, &mut random);
        if random.below(4) == 0 {
            input.options =
                (random.below(1 << 15) & random.below(1 << 15) & random.below(1 << 15)) as u16;
        }
        let answers = found.answers.len();
        let answer = look(target, &input, &folder, &mut found);
        if found.answers.len() > answers {
            good.extend((answer == Some(Answer::Read)).then(|| input.clone()));
            inputs.push(input);
        }
    }
    fs::remove_dir_all(&folder).ok();
    found
}

/// How a reader answered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Read,
    Refused,
}

/// Reads an input and keeps what came of it; none if the reader failed.
fn look(target: Target, input: &Input, folder: &Path, found: &mut Found) -> Option<Answer> {
    found.inputs += 1;
    match check(target, input, folder) {
        Ok(answer) => {
            let read = answer.starts_with(READ);
            found.read += usize::from(read);
            found.answers.insert(answer);
            Some(if read { Answer::Read } else { Answer::Refused })
        }
        Err(failure) => {
            if !found.failures.iter().any(|(known, _)| known.like(&failure)) {
                let smallest = minimised(target, input, &failure, folder);
                found.failures.push((failure, smallest));
            }
            None
        }
    }
}

/// A folder of this run, in memory where the system has one. If a reader ends the process, the input is left there.
fn folder(target: Target) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() {
        memory.to_path_buf()
    } else {
        std::env::temp_dir()
    };
    let folder = base.join(format!(
        "dial-fuzz-{}-{}",
        std::process::id(),
        target.word()
    ));
    fs::create_dir_all(&folder).expect("a folder for the inputs");
    folder
}
