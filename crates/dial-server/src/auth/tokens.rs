//! Who may talk to the server: one-time launch codes, cookies, and the token of the owner.
//!
//! A launch code is 256 random bits, good for one visit; it is exchanged for a cookie of 256 other bits, of which only the
//! hash is kept, with the project, so that a restart signs nobody out. Programs of the owner read a token from a file that
//! only the owner can read. Secrets are compared by their hashes.

use std::collections::HashMap;

use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How long a cookie is good for without being used, and in all, in milliseconds.
const IDLE: u64 = 12 * 3_600_000;
const LONGEST: u64 = 7 * 24 * 3_600_000;

/// Writes a session may do in a second, and at once after a pause.
const RATE: f64 = 20.0;
const BURST: f64 = 60.0;

/// Everybody who may talk to the server.
pub struct Sessions {
    token: [u8; 32],
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    codes: Vec<[u8; 32]>,
    cookies: HashMap<String, Cookie>,
    buckets: HashMap<String, (f64, u64)>,
}

/// A cookie that was given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cookie {
    made: u64,
    used: u64,
}

/// Who talks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A browser, by its cookie.
    Browser(String),
    /// A program of the owner, by the token.
    Owner,
}

impl Sessions {
    /// Sessions of before, and a token for programs of the owner.
    pub fn new(token: &str, kept: Option<Vec<u8>>) -> Sessions {
        let cookies = kept
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        Sessions {
            token: digest(token),
            state: Mutex::new(State {
                cookies,
                ..State::default()
            }),
        }
    }

    /// A new launch code.
    pub fn launch_code(&self) -> dial_store::Result<String> {
        let code = secret()?;
        self.state().codes.push(digest(&code));
        Ok(code)
    }

    /// Exchanges a launch code for a cookie: its secret, and all cookies to be kept.
    pub fn exchange(&self, code: &str, now: u64) -> dial_store::Result<Option<(String, Vec<u8>)>> {
        let (cookie, wanted) = (secret()?, digest(code));
        let mut state = self.state();
        let Some(place) = state.codes.iter().position(|known| *known == wanted) else {
            return Ok(None);
        };
        state.codes.swap_remove(place);
        state.cookies.retain(|_, cookie| cookie.live(now));
        state.cookies.insert(
            hex(&digest(&cookie)),
            Cookie {
                made: now,
                used: now,
            },
        );
        let kept = serde_json::to_vec(&state.cookies).unwrap_or_default();
        Ok(Some((cookie, kept)))
    }

    /// Who has this cookie.
    pub fn by_cookie(&self, cookie: &str, now: u64) -> Option<Caller> {
        let name = hex(&digest(cookie));
        let mut state = self.state();
        let known = state
            .cookies
            .get_mut(&name)
            .filter(|cookie| cookie.live(now))?;
        known.used = now;
        Some(Caller::Browser(name))
    }

    /// Who has this token.
    pub fn by_token(&self, token: &str) -> Option<Caller> {
        (digest(token) == self.token).then_some(Caller::Owner)
    }

    /// Whether a caller may write now. Programs of the owner are not slowed down.
    pub fn may_write(&self, caller: &Caller, now: u64) -> bool {
        let Caller::Browser(name) = caller else {
            return true;
        };
        let mut state = self.state();
        let (level, last) = state.buckets.entry(name.clone()).or_insert((BURST, now));
        *level = (*level + RATE * now.saturating_sub(*last) as f64 / 1000.0).min(BURST);
        *last = now;
        let may = *level >= 1.0;
        *level -= if may { 1.0 } else { 0.0 };
        may
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Cookie {
    fn live(&self, now: u64) -> bool {
        now.saturating_sub(self.used) < IDLE && now.saturating_sub(self.made) < LONGEST
    }
}

/// 256 random bits, in hexadecimal.
pub fn secret() -> dial_store::Result<String> {
    Ok(format!(
        "{}{}",
        dial_store::random_id()?,
        dial_store::random_id()?
    ))
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_code_is_good_once_and_a_cookie_for_a_while() {
        let sessions = Sessions::new("token", None);
        let code = sessions.launch_code().unwrap();
        assert!(sessions.exchange("guess", 0).unwrap().is_none());
        let (cookie, kept) = sessions.exchange(&code, 0).unwrap().unwrap();
        assert!(sessions.exchange(&code, 0).unwrap().is_none());
        assert!(
            !String::from_utf8(kept.clone()).unwrap().contains(&cookie),
            "only hashes are kept"
        );
        assert!(sessions.by_cookie(&cookie, IDLE - 1).is_some());
        assert!(
            sessions.by_cookie(&cookie, 2 * IDLE - 2).is_some(),
            "use keeps it alive"
        );
        assert!(sessions.by_cookie(&cookie, 4 * IDLE).is_none());
        assert!(sessions.by_cookie("other", 0).is_none());
        let again = Sessions::new("token", Some(kept));
        assert!(
            again.by_cookie(&cookie, 1).is_some(),
            "a restart signs nobody out"
        );
        assert!(again.by_cookie(&cookie, LONGEST).is_none());
        assert_eq!(
            (again.by_token("token"), again.by_token("cookie")),
            (Some(Caller::Owner), None)
        );
    }

    #[test]
    fn writes_are_limited_per_session() {
        let sessions = Sessions::new("token", None);
        let caller = Caller::Browser("a".into());
        let allowed = (0..200)
            .filter(|_| sessions.may_write(&caller, 1000))
            .count();
        assert_eq!(allowed, 60);
        // 20 a second: after half a second ten more.
        let allowed = (0..200)
            .filter(|_| sessions.may_write(&caller, 1500))
            .count();
        assert_eq!(allowed, 10);
        assert!(
            sessions.may_write(&Caller::Browser("b".into()), 1500)
                && sessions.may_write(&Caller::Owner, 1500)
        );
    }
}
