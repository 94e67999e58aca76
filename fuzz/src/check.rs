//! One input: does the reader panic, take too long or take too much memory, and what does it say?

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;
use std::time::{Duration, Instant};

use crate::counting;
use crate::targets::{Input, Target, attempt};

/// What must hold: the longest a file may take, and the memory: so much, and so many times the file.
pub const LONGEST: Duration = Duration::from_secs(1);
const MEMORY: usize = 64 << 20;
const TIMES: usize = 50;

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

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps what panics say instead of printing it.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|info| PANIC.with(|text| *text.borrow_mut() = info.to_string().replace('\n', " "))));
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
    let before = counting::used();
    counting::restart();
    let start = Instant::now();
    let answer = panic::catch_unwind(AssertUnwindSafe(|| attempt(target, input, folder)));
    let (taken, memory) = (start.elapsed(), counting::most_beyond(before));
    let answer = answer.map_err(|_| Failure::Panic(PANIC.with(|text| text.borrow().clone())))?;
    if memory > MEMORY + TIMES * size {
        return Err(Failure::Memory(format!("{memory} bytes for a file of {size}")));
    }
    if taken > LONGEST {
        return Err(Failure::Slow(format!("{:.1} s for a file of {size}", taken.as_secs_f64())));
    }
    Ok(match answer {
        Ok(text) => shape(&text),
        Err(error) => {
            let text = error.to_string();
            let place = folder.display().to_string();
            format!("{} {}", error.code(), shape(text.strip_prefix(&place).unwrap_or(&text)))
        }
    })
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
            (None, c) if c.is_ascii_alphabetic() || (c == ' ' && !shape.ends_with(' ')) => shape.push(c),
            (None, _) => {}
        }
    }
    shape.truncate(SHAPE);
    shape
}

/// Letters that tell a message.
const SHAPE: usize = 80;
