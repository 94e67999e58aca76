//! One input: does the reader panic, take too long or take too much memory, and what does it say?

use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, Once};
use std::thread;
use std::time::{Duration, Instant};

use crate::counting;
use crate::targets::{Input, Special, Target, attempt};

/// What must hold: the longest a file may take, and the memory: so much, and so many times the file.
pub const MAX_RUN_TIME: Duration = Duration::from_secs(1);
const MEMORY: usize = 64 << 20;
const TIMES: usize = 50;

/// Deflate shrinks up to 1032 to 1, and a picture is no bomb as long as it is within its own limits.
fn times(target: Target) -> usize {
    if target == Target::Special(Special::Pictures) {
        4 * 1032
    } else {
        TIMES
    }
}

/// What is wrong with a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A panic: where, and what it says.
    Panic(String),
    /// An answer that came late, with the seconds.
    Slow(String),
    /// More memory than the file warrants, with the bytes.
    Memory(String),
}

impl Failure {
    /// Whether two failures are likely to be one.
    pub fn like(&self, other: &Failure) -> bool {
        match (self, other) {
            (Failure::Panic(one), Failure::Panic(two)) => shape(one) == shape(two),
            (Failure::Slow(_), Failure::Slow(_)) | (Failure::Memory(_), Failure::Memory(_)) => true,
            _ => false,
        }
    }
}

/// What the last panic said, in whichever thread it was.
static PANIC: Mutex<String> = Mutex::new(String::new());
/// Whether an answer has come since the watchman looked last.
static ANSWERED: AtomicBool = AtomicBool::new(true);
const CASE_TIMEOUT: Duration = Duration::from_secs(60);

/// Keeps what panics say instead of printing it.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|info| {
            if let Ok(mut text) = PANIC.lock() {
                *text = info.to_string().replace('\n', " ");
            }
        }));
    });
}

/// Ends the process when no answer comes for a minute; the input is in the folder of the run.
pub fn watch() {
    thread::spawn(|| {
        loop {
            thread::sleep(CASE_TIMEOUT);
            if !ANSWERED.swap(false, Relaxed) {
                eprintln!(
                    "no answer for {} s: the input is left in the folder of this run",
                    CASE_TIMEOUT.as_secs()
                );
                std::process::exit(1);
            }
        }
    });
}

/// Reads an input. The shape of the answer, or what went wrong.
pub fn check(target: Target, input: &Input, folder: &Path) -> Result<String, Failure> {
    let mut answer = once(target, input, folder);
    // A busy machine is slow for any input: only what is slow three times is slow.
    for _ in 0..2 {
        if matches!(answer, Err(Failure::Slow(_))) {
            answer = once(target, input, folder);
        }
    }
    answer
}

fn once(target: Target, input: &Input, folder: &Path) -> Result<String, Failure> {
    let size = input.wrap.around(&input.bytes).len();
    let answer = watched(size, times(target), || attempt(target, input, folder))?;
    Ok(match answer {
        Ok(text) => format!("{READ}{}", shape(&text)),
        Err(error) => format!("{} {}", error.code(), shape(&error.fault.to_string())),
    })
}

/// How the answer to an input begins that was not refused.
pub const READ: &str = "read ";

/// Does something on behalf of a file of so many bytes, with an eye on panics, memory and time.
pub fn watched<T>(size: usize, times: usize, work: impl FnOnce() -> T) -> Result<T, Failure> {
    let before = counting::used();
    counting::restart();
    let start = Instant::now();
    let answer = panic::catch_unwind(AssertUnwindSafe(work));
    let (taken, memory) = (start.elapsed(), counting::most_beyond(before));
    ANSWERED.store(true, Relaxed);
    let said = || PANIC.lock().map(|text| text.clone()).unwrap_or_default();
    let answer = answer.map_err(|_| Failure::Panic(said()))?;
    if memory > MEMORY + times * size {
        return Err(Failure::Memory(format!(
            "{memory} bytes for a file of {size}"
        )));
    }
    if taken > MAX_RUN_TIME {
        return Err(Failure::Slow(format!(
            "{:.1} s for a file of {size}",
            taken.as_secs_f64()
        )));
    }
    Ok(answer)
}

/// A text without its numbers, quotations and brackets, so that messages of one kind are the same.
pub fn shape(text: &str) -> String {
    let mut shape = String::new();
    let mut until = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (until, c) {
            (Some(_), '\\') => drop(characters.next()),
            (Some(end), c) if c == end => until = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => until = Some(c),
            (None, '(') => until = Some(')'),
            (None, c) if c.is_ascii_alphabetic() || (c == ' ' && !shape.ends_with(' ')) => {
                shape.push(c)
            }
            (None, _) => {}
        }
    }
    shape.truncate(SHAPE);
    shape
}

/// Letters that tell a message.
const SHAPE: usize = 40;
