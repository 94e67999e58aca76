//! Who may talk to the server: browsers that signed in with a launch code, and programs of the owner, which have the token.
//!
//! A launch code is 256 random bits, good once and for a short time. It is exchanged for a session: a name, and a key
//! with which the browser signs (`signature.rs`). The key is derived from a secret of the project, so that a restart signs
//! nobody out. Programs read the token from a file that only the owner can read; it is new with every start.

use std::collections::HashMap;
use std::path::PathBuf;

use parking_lot::{Mutex, MutexGuard};
use sha2::{Digest, Sha256};

use crate::auth::launch;
use crate::auth::session_list::SessionList;
use crate::auth::signature::session_key;
use crate::http::wire::SessionRow;

/// Writes a session may do in a second, and at once after a pause.
const RATE: f64 = 20.0;
const BURST: f64 = 60.0;
/// Decisions that cost as much as one more write.
const DECISIONS: f64 = 50.0;

/// The name by which a program signs that has the token.
pub const OWNER: &str = "owner";

/// Everybody who may talk to the server.
pub struct Sessions {
    /// The token of the owner.
    token: String,
    /// What the keys of browser sessions are derived from.
    root: String,
    /// Random for this start of the server, and public.
    pub run: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    codes: Vec<Code>,
    list: SessionList,
    buckets: HashMap<String, (f64, u64)>,
}

/// A launch code that was given out.
struct Code {
    hash: [u8; 32],
    until: u64,
    /// The file that leads a browser there.
    file: Option<PathBuf>,
}

/// Who talks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A browser, by its session.
    Browser(String),
    /// A program of the owner.
    Owner,
}

impl Caller {
    /// The session of a caller; all programs of the owner share one.
    pub fn session(&self) -> &str {
        match self {
            Caller::Browser(name) => name,
            Caller::Owner => OWNER,
        }
    }
}

/// A browser that has just signed in.
pub struct SignedIn {
    /// The name of the session.
    pub session: String,
    /// Its key. The server keeps it nowhere.
    pub key: String,
    /// The list of sessions, to be kept.
    pub kept: Vec<u8>,
}

impl Sessions {
    /// The sessions of before, the token for programs of the owner, and the secret that keys are derived from.
    ///
    /// # Errors
    /// No random numbers.
    pub fn new(token: &str, root: &str, list: SessionList) -> dial_store::Result<Sessions> {
        Ok(Sessions {
            token: token.into(),
            root: root.into(),
            run: dial_store::random_id()?,
            state: Mutex::new(State {
                list,
                ..State::default()
            }),
        })
    }

    /// A new launch code, good for so many milliseconds; `file` leads there and is removed with it.
    ///
    /// # Errors
    /// No random numbers.
    pub fn launch_code(
        &self,
        now: u64,
        life: u64,
        file: Option<PathBuf>,
    ) -> dial_store::Result<String> {
        let code = secret()?;
        let mut state = self.state();
        state.forget_codes(|code| code.until <= now);
        state.codes.push(Code {
            hash: digest(&code),
            until: now + life,
            file,
        });
        Ok(code)
    }

    /// Exchanges a launch code for a session; nothing if the code is unknown, used or too old.
    ///
    /// # Errors
    /// No random numbers.
    pub fn sign_in(
        &self,
        code: &str,
        browser: &str,
        now: u64,
    ) -> dial_store::Result<Option<SignedIn>> {
        let (session, hash) = (dial_store::random_id()?, digest(code));
        let mut state = self.state();
        state.forget_codes(|code| code.until <= now);
        if state.forget_codes(|code| code.hash == hash) == 0 {
            return Ok(None);
        }
        state.list.add(&session, browser, now);
        Ok(Some(SignedIn {
            key: session_key(&self.root, &session),
            kept: state.list.write(now),
            session,
        }))
    }

    /// Makes all launch codes worthless, and removes their files.
    pub fn forget_codes(&self) {
        self.state().forget_codes(|_| true);
    }

    /// The secret that a caller must hold who signs by this name.
    pub fn secret_of(&self, name: &str, now: u64) -> Option<(Caller, String)> {
        if name == OWNER {
            return Some((Caller::Owner, self.token.clone()));
        }
        let live = self.state().list.has(name, now);
        live.then(|| (Caller::Browser(name.into()), session_key(&self.root, name)))
    }

    /// Who sends this token, and the secret of the answers: the token.
    pub fn by_token(&self, token: &str) -> Option<(Caller, String)> {
        // Hashes are compared, so that the time it takes says nothing about the token.
        (digest(token) == digest(&self.token)).then(|| (Caller::Owner, self.token.clone()))
    }

    /// A caller has signed a request. Returns the list of sessions when it is to be kept because of that.
    pub fn used(&self, caller: &Caller, now: u64) -> Option<Vec<u8>> {
        let Caller::Browser(session) = caller else {
            return None;
        };
        let mut state = self.state();
        let due = state.list.used(session, now);
        due.then(|| state.list.write(now))
    }

    /// The sessions, as a caller sees them.
    pub fn rows(&self, caller: &Caller, now: u64) -> Vec<SessionRow> {
        let mine = match caller {
            Caller::Browser(session) => Some(session.as_str()),
            Caller::Owner => None,
        };
        self.state().list.rows(mine, now)
    }

    /// Ends sessions; returns the list to be kept.
    pub fn end(&self, ids: &[String], now: u64) -> Vec<u8> {
        let mut state = self.state();
        state.list.end(ids);
        state.list.write(now)
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

    /// Charges a caller for many decisions in one write: its next writes wait the longer.
    pub fn charge(&self, caller: &Caller, decisions: usize) {
        if let Caller::Browser(name) = caller
            && let Some((level, _)) = self.state().buckets.get_mut(name)
        {
            *level -= decisions as f64 / DECISIONS;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    /// Forgets launch codes with their files, and says how many.
    fn forget_codes(&mut self, which: impl Fn(&Code) -> bool) -> usize {
        let (gone, left): (Vec<Code>, Vec<Code>) = self.codes.drain(..).partition(which);
        self.codes = left;
        gone.iter()
            .filter_map(|code| code.file.as_deref())
            .for_each(launch::remove);
        gone.len()
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

/// 256 random bits, in hexadecimal.
///
/// # Errors
/// No random numbers.
pub fn secret() -> dial_store::Result<String> {
    Ok(format!(
        "{}{}",
        dial_store::random_id()?,
        dial_store::random_id()?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(kept: Option<Vec<u8>>) -> Sessions {
        Sessions::new("token", "root", SessionList::read(kept, 0)).unwrap()
    }

    #[test]
    fn a_launch_code_is_good_once_and_for_a_while() {
        let sessions = sessions(None);
        let code = sessions.launch_code(0, 1000, None).unwrap();
        let late = sessions.launch_code(0, 1000, None).unwrap();
        assert!(sessions.sign_in("guess", "b", 0).unwrap().is_none());
        assert!(sessions.sign_in(&code, "b", 999).unwrap().is_some());
        assert!(sessions.sign_in(&code, "b", 999).unwrap().is_none());
        assert!(sessions.sign_in(&late, "b", 1000).unwrap().is_none());
    }

    #[test]
    fn a_key_is_derived_again_after_a_restart_and_kept_nowhere() {
        let first = sessions(None);
        let code = first.launch_code(0, 1000, None).unwrap();
        let SignedIn { session, key, kept } = first.sign_in(&code, "b", 0).unwrap().unwrap();
        let text = String::from_utf8(kept.clone()).unwrap();
        assert!(text.contains(&session) && !text.contains(&key));
        let again = sessions(Some(kept.clone()));
        let (caller, secret) = again.secret_of(&session, 1).unwrap();
        assert_eq!((&caller, secret), (&Caller::Browser(session.clone()), key));
        assert_ne!(again.run, first.run);
        assert!(again.secret_of("other", 1).is_none());
        assert!(again.by_token("token").is_some() && again.by_token("root").is_none());
        let ended = again.end(std::slice::from_ref(&session), 2);
        assert!(again.secret_of(&session, 2).is_none());
        assert!(sessions(Some(ended)).secret_of(&session, 2).is_none());
    }

    #[test]
    fn writes_are_limited_per_session() {
        let sessions = sessions(None);
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
        // 1,000 decisions at once cost 20 writes, and so a second.
        sessions.charge(&caller, 1000);
        assert!(!sessions.may_write(&caller, 2500) && sessions.may_write(&caller, 2600));
        assert!(
            sessions.may_write(&Caller::Browser("b".into()), 1500)
                && sessions.may_write(&Caller::Owner, 1500)
        );
    }
}
