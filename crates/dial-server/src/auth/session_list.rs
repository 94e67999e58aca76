//! The browsers that are signed in, as they are kept with the project. Nothing in the list is secret: the keys of the
//! sessions are derived from a secret that lies in a file of its own.
//!
//! Ages are differences of the clock, so a clock that goes back would let ended sessions live again. The list holds the
//! latest time at which it was written: if the clock is before that, all sessions end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::http::wire::SessionRow;

/// The name under which the list is kept.
pub const SESSIONS: &str = "sessions";

const MINUTE: u64 = 60_000;

/// A session ends after so long without a request, and after so long in all.
pub const MAX_IDLE: u64 = 12 * 60 * MINUTE;
pub const MAX_AGE: u64 = 7 * 24 * 60 * MINUTE;

/// A clock is corrected by less than this; one that goes back further was wrong.
const CORRECTION: u64 = 5 * MINUTE;

/// The list is written no more often than this because of a session that is used.
pub const USE_WRITTEN_EVERY: u64 = 5 * MINUTE;

/// The browsers that are signed in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionList {
    /// When the list was written last.
    written: u64,
    sessions: BTreeMap<String, Session>,
}

/// A browser that is signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Session {
    made: u64,
    used: u64,
    browser: String,
}

impl Session {
    fn lives(&self, now: u64) -> bool {
        now.saturating_sub(self.used) < MAX_IDLE && now.saturating_sub(self.made) < MAX_AGE
    }
}

impl SessionList {
    /// The list that was kept, without the sessions that have ended. A list of another version is an empty one.
    pub fn read(kept: Option<Vec<u8>>, now: u64) -> SessionList {
        let list = kept.and_then(|bytes| serde_json::from_slice::<SessionList>(&bytes).ok());
        let mut list = list.unwrap_or_default();
        if list.written > now + CORRECTION {
            list = SessionList::default();
        }
        list.sessions.retain(|_, session| session.lives(now));
        list
    }

    /// The list to be kept.
    pub fn write(&mut self, now: u64) -> Vec<u8> {
        self.sessions.retain(|_, session| session.lives(now));
        self.written = self.written.max(now);
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Adds a session.
    pub fn add(&mut self, id: &str, browser: &str, now: u64) {
        let session = Session {
            made: now,
            used: now,
            browser: browser.into(),
        };
        self.sessions.insert(id.into(), session);
    }

    /// Whether a session is there and has not ended.
    pub fn has(&self, id: &str, now: u64) -> bool {
        self.sessions
            .get(id)
            .is_some_and(|session| session.lives(now))
    }

    /// A session is used. True when the list is to be written because of that.
    pub fn used(&mut self, id: &str, now: u64) -> bool {
        let Some(session) = self.sessions.get_mut(id) else {
            return false;
        };
        session.used = session.used.max(now);
        now.saturating_sub(self.written) >= USE_WRITTEN_EVERY
    }

    /// Ends sessions. One that is not there has ended already.
    pub fn end(&mut self, ids: &[String]) {
        self.sessions.retain(|id, _| !ids.contains(id));
    }

    /// The sessions, the one used last first; `mine` is that of who asks.
    pub fn rows(&self, mine: Option<&str>, now: u64) -> Vec<SessionRow> {
        let live = (self.sessions.iter()).filter(|(_, session)| session.lives(now));
        let row = |(id, session): (&String, &Session)| SessionRow {
            id: id.clone(),
            made: session.made,
            used: session.used,
            browser: session.browser.clone(),
            mine: mine == Some(id.as_str()),
        };
        let mut rows: Vec<SessionRow> = live.map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.used));
        rows
    }
}

/// A browser in words, by what it says of itself: `Firefox on Linux`.
pub fn browser_name(user_agent: &str) -> String {
    // The first that fits: Edge and Opera also call themselves Chrome, Chrome calls itself Safari, Android Linux.
    let find = |known: &[(&str, &'static str)]| {
        let found = known.iter().find(|(sign, _)| user_agent.contains(sign));
        found.map(|(_, name)| *name)
    };
    let browser = find(&[
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ]);
    let system = find(&[
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("Linux", "Linux"),
    ]);
    let browser = browser.unwrap_or("a browser");
    system.map_or_else(|| browser.into(), |system| format!("{browser} on {system}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(now: u64) -> SessionList {
        let mut list = SessionList::default();
        list.add("a", "Firefox", now);
        list
    }

    #[test]
    fn a_session_ends_by_idleness_and_by_age_also_over_restarts() {
        let start = 1_000_000;
        let mut list = one(start);
        assert!(list.has("a", start + MAX_IDLE - 1) && !list.has("a", start + MAX_IDLE));
        // It is used every ten hours, and the server starts anew each time.
        let mut now = start;
        while now + 10 * 60 * MINUTE < start + MAX_AGE {
            now += 10 * 60 * MINUTE;
            list = SessionList::read(Some(list.write(now - 1)), now);
            assert!(list.has("a", now), "{now}");
            assert!(!list.used("a", now), "it was written a moment ago");
        }
        assert!(!list.has("a", start + MAX_AGE));
        let list = SessionList::read(Some(list.write(now)), now + MAX_IDLE);
        assert_eq!(list.rows(None, now), []);
    }

    #[test]
    fn use_is_written_every_few_minutes() {
        let mut list = one(0);
        list.write(0);
        assert!(!list.used("a", USE_WRITTEN_EVERY - 1));
        assert!(list.used("a", USE_WRITTEN_EVERY));
        list.write(USE_WRITTEN_EVERY);
        assert!(!list.used("a", USE_WRITTEN_EVERY + 1));
        assert!(!list.used("b", 10 * USE_WRITTEN_EVERY), "there is no such");
    }

    #[test]
    fn a_clock_that_goes_back_ends_all_sessions() {
        let year = 365 * 24 * 60 * MINUTE;
        // Made while the clock was ten years ahead.
        let kept = one(10 * year).write(10 * year);
        assert!(!SessionList::read(Some(kept.clone()), 0).has("a", 0));
        // A small correction ends nothing, and gives no time either.
        let list = SessionList::read(Some(kept), 10 * year - CORRECTION);
        assert!(list.has("a", 10 * year + MAX_IDLE - 1));
        assert!(!list.has("a", 10 * year + MAX_IDLE));
        // One that had ended while the clock was right does not come back with a wrong one.
        let kept = one(0).write(0);
        let mut later = SessionList::read(Some(kept), MAX_IDLE);
        let kept = later.write(MAX_IDLE);
        assert!(!SessionList::read(Some(kept), 1).has("a", 1));
    }

    #[test]
    fn browsers_in_words() {
        let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0";
        assert_eq!(browser_name(firefox), "Firefox on Linux");
        let edge =
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/141.0 Safari/537.36 Edg/141.0";
        assert_eq!(browser_name(edge), "Edge on Windows");
        assert_eq!(browser_name("\u{1b}]0;x\u{7}"), "a browser");
    }
}
