//! A failing input made smaller: pieces are left out as long as it fails alike, large pieces first.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::check::{Failure, check};
use crate::targets::{Input, Target};

/// How long this may take.
const MAX_MINIMISE_TIME: Duration = Duration::from_secs(10);

/// The smallest input found that fails alike.
pub fn minimised(target: Target, input: &Input, failure: &Failure, folder: &Path) -> Input {
    let start = Instant::now();
    let mut smallest = input.clone();
    let mut piece = (smallest.bytes.len() / 2).max(1);
    loop {
        let mut place = 0;
        while place < smallest.bytes.len() && start.elapsed() < MAX_MINIMISE_TIME {
            let mut smaller = smallest.clone();
            smaller
                .bytes
                .drain(place..(place + piece).min(smallest.bytes.len()));
            match check(target, &smaller, folder) {
                Err(other) if other.like(failure) => smallest = smaller,
                _ => place += piece,
            }
        }
        if piece == 1 || start.elapsed() >= MAX_MINIMISE_TIME {
            return smallest;
        }
        piece /= 2;
    }
}
