//! Time as a number: milliseconds since 1970, UTC. Only for people; the order of events is that of the log.
//!
//! Leases end by a clock that never goes back and is not moved by daylight saving or by corrections: the system's time when
//! the process started plus what has passed since.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};

/// A clock that only goes forward.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    began: u64,
}

impl Clock {
    /// Starts with the time of the system.
    pub fn new() -> Clock {
        let began = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_millis() as u64);
        Clock::at(began)
    }

    /// Starts with a given time: for tests.
    pub fn at(began: u64) -> Clock {
        Clock {
            start: Instant::now(),
            began,
        }
    }

    /// Milliseconds since 1970.
    pub fn now(&self) -> u64 {
        self.began + self.start.elapsed().as_millis() as u64
    }
}

impl Default for Clock {
    fn default() -> Clock {
        Clock::new()
    }
}

/// Refuses a system clock that HTTP has no dates for: nothing could be answered.
///
/// # Errors
/// Before 1970, or after 9998.
pub fn check_system_clock() -> Result<()> {
    let year = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(time) => parts(time.as_millis() as u64)[0],
        Err(_) => 0,
    };
    match (1970..9999).contains(&year) {
        true => Ok(()),
        false => Err(Error::Place {
            place: "the clock of this machine".into(),
            why: "says a time before 1970 or after 9998".into(),
            next: "Set the clock, then start again.".into(),
        }),
    }
}

/// `2026-11-15 22:04 UTC`.
pub fn in_words(time: u64) -> String {
    let [year, month, day, hour, minute, _] = parts(time);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// `20261115T220431Z`, for names of files.
pub fn compact(time: u64) -> String {
    let [year, month, day, hour, minute, second] = parts(time);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// Year, month, day, hour, minute, second (days to dates after Hinnant's "civil from days").
fn parts(time: u64) -> [u64; 6] {
    let seconds = time / 1000;
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    [year, month, date, rest / 3600, rest % 3600 / 60, rest % 60]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_by_hand() {
        // 2000-02-29 is day 11016 since 1970: 30 years of 365 days, 7 leap days, and 59 days.
        for (days, expected) in [
            (0, "1970-01-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_772, "2026-11-15"),
        ] {
            assert_eq!(in_words(days * 86_400_000), format!("{expected} 00:00 UTC"));
        }
        assert_eq!(
            compact(20_772 * 86_400_000 + 79_471_000),
            "20261115T220431Z"
        );
    }
}
