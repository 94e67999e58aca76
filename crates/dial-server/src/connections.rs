//! Who may have how many connections, so that nobody keeps the others out.
//!
//! ```text
//! new           32 have ten seconds to sign in; beyond these, 256 have half a second; beyond these, the oldest of the 256 goes
//! signed in     1,500 in all and 600 a session, and 100 more of both for programs of the owner: while they use these, the one of
//!               theirs that has been idle for longest goes
//! event streams 2,000 in all and 1,000 a session; they are counted apart, as each takes a connection for good
//! ```
//!
//! A program of the owner signs in with its first request, which takes milliseconds: strangers who fill the places of new
//! connections make room for it at once. They keep it out only by coming faster than it can say who it is. A process that may
//! open fewer files has fewer places of each kind.
//!
//! What is sent to a connection must be read: one that takes less than 64 KiB in twenty seconds while more waits is closed.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::StatusCode;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::auth::sessions::Caller;
use crate::http::problem::Problem;

/// How long a new connection may take to sign in, and one that comes while many others have not signed in.
const SIGN_IN_TIMEOUT: Duration = Duration::from_secs(10);
const SIGN_IN_TIMEOUT_WHEN_BUSY: Duration = Duration::from_millis(500);

/// How long a connection may take to read so many bytes while more waits for it.
const READ_TIMEOUT: Duration = Duration::from_secs(20);
const READ_BYTES: usize = 64 << 10;

/// Files that the process needs beside connections.
const OTHER_FILES: usize = 128;

/// How many connections of each kind there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    patient: usize,
    hurried: usize,
    signed_in: usize,
    per_session: usize,
    owner: usize,
    streams: usize,
    streams_per_session: usize,
}

impl Limits {
    const USUAL: Limits = Limits {
        patient: 32,
        hurried: 256,
        signed_in: 1500,
        per_session: 600,
        owner: 100,
        streams: 2000,
        streams_per_session: 1000,
    };

    fn all(&self) -> usize {
        self.patient + self.hurried + self.signed_in + self.owner + self.streams
    }

    /// Limits that so many open files allow.
    fn within(files: usize) -> Limits {
        let (usual, room) = (Limits::USUAL, files.saturating_sub(OTHER_FILES));
        if room >= usual.all() {
            return usual;
        }
        // The places of new connections and of the owner stay, as far as that is possible.
        let fixed = usual.patient + usual.owner;
        let share = |count: usize| {
            let rest = usual.all() - fixed;
            (count * room.saturating_sub(fixed) / rest).max(1)
        };
        Limits {
            patient: usual.patient,
            owner: usual.owner,
            hurried: share(usual.hurried),
            signed_in: share(usual.signed_in),
            per_session: share(usual.per_session),
            streams: share(usual.streams),
            streams_per_session: share(usual.streams_per_session),
        }
    }
}

/// How many files this process may open; `raise` asks for as many as the system grants.
pub fn open_files(raise: bool) -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let enough = (Limits::USUAL.all() + OTHER_FILES) as u64;
        let now = limit.current.unwrap_or(enough);
        let wanted = enough.min(limit.maximum.unwrap_or(enough));
        let more = Rlimit {
            current: Some(wanted),
            maximum: limit.maximum,
        };
        if raise && now < wanted && setrlimit(Resource::Nofile, more).is_ok() {
            return wanted as usize;
        }
        now.try_into().unwrap_or(usize::MAX)
    }
    #[cfg(not(unix))]
    {
        let _ = raise;
        usize::MAX
    }
}

/// All connections of a server.
pub struct Connections {
    limits: Limits,
    counts: Mutex<Counts>,
    left: Notify,
}

#[derive(Default)]
struct Counts {
    patient: usize,
    hurried: usize,
    signed_in: usize,
    streams: usize,
    /// Connections that came as hurried ones, the oldest first; some may be gone or signed in.
    oldest: VecDeque<Weak<Connection>>,
    /// Signed-in connections of the owner; some may be gone.
    owners: Vec<Weak<Connection>>,
    /// Signed-in connections and event streams of each session.
    sessions: HashMap<String, (usize, usize)>,
}

/// What a connection is counted as.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Patient,
    Hurried,
    SignedIn(Caller),
    Stream(Caller),
}

/// A connection that is counted until it is dropped.
pub struct Connection {
    all: Arc<Connections>,
    place: Mutex<Place>,
    signed_in: AtomicBool,
    /// Somebody else needs the place.
    needed: Notify,
    /// Requests that are being answered, and since when there are none.
    requests: AtomicUsize,
    idle_since: Mutex<Instant>,
    /// A program of the owner needs the place of this one.
    sent_away: Notify,
}

/// A request on a connection, until it is dropped.
pub struct InUse(Arc<Connection>);

impl Connections {
    /// Those of a process that may open so many files.
    pub fn new(files: usize) -> Connections {
        Connections {
            limits: Limits::within(files),
            counts: Mutex::default(),
            left: Notify::new(),
        }
    }

    /// A place for a new connection, and how long it has to sign in. Where all are taken the oldest hurried one goes.
    pub async fn place(self: &Arc<Self>) -> (Arc<Connection>, Duration) {
        loop {
            // From here on no place that becomes free is missed; one that was free before is taken below.
            let left = self.left.notified();
            if let Some(place) = self.take() {
                let time = match place {
                    Place::Patient => SIGN_IN_TIMEOUT,
                    _ => SIGN_IN_TIMEOUT_WHEN_BUSY,
                };
                let connection = Arc::new(Connection {
                    all: Arc::clone(self),
                    place: Mutex::new(place),
                    signed_in: AtomicBool::new(false),
                    needed: Notify::new(),
                    requests: AtomicUsize::new(0),
                    idle_since: Mutex::new(Instant::now()),
                    sent_away: Notify::new(),
                });
                if time == SIGN_IN_TIMEOUT_WHEN_BUSY {
                    self.line_up(&connection);
                }
                return (connection, time);
            }
            self.send_oldest_away();
            left.await;
        }
    }

    fn line_up(&self, connection: &Arc<Connection>) {
        let oldest = &mut self.counts.lock().oldest;
        oldest.push_back(Arc::downgrade(connection));
        if oldest.len() > 2 * self.limits.hurried {
            oldest.retain(|one| one.strong_count() > 0);
        }
    }

    fn line_up_owner(&self, connection: &Arc<Connection>) {
        let owners = &mut self.counts.lock().owners;
        owners.push(Arc::downgrade(connection));
        if owners.len() > 2 * (self.limits.per_session + self.limits.owner) {
            owners.retain(|one| one.strong_count() > 0);
        }
    }

    fn send_oldest_away(&self) {
        // Dropping a connection takes the lock of the counts: it is not held meanwhile.
        let next = || self.counts.lock().oldest.pop_front();
        while let Some(one) = next() {
            if let Some(one) = one.upgrade().filter(|one| !one.is_signed_in()) {
                one.needed.notify_one();
                return;
            }
        }
    }

    /// Ends the connection of the owner that has not been used for longest. One with a request is left alone.
    fn send_idle_owner_away(&self) {
        // Dropping a connection takes the lock of the counts: it is not held meanwhile.
        let all: Vec<Arc<Connection>> = {
            let owners = &mut self.counts.lock().owners;
            owners.retain(|one| one.strong_count() > 0);
            owners.iter().filter_map(Weak::upgrade).collect()
        };
        // An event stream takes none of these places; what is locked is about to be something else.
        let idle = all.iter().filter(|one| {
            let signed_in = |place: &Place| matches!(place, Place::SignedIn(_));
            one.requests.load(Ordering::Relaxed) == 0
                && one.place.try_lock().is_some_and(|place| signed_in(&place))
        });
        if let Some(one) = idle.min_by_key(|one| *one.idle_since.lock()) {
            // One that is on its way out is not sent away twice.
            *one.idle_since.lock() = Instant::now();
            one.sent_away.notify_one();
        }
    }

    fn take(&self) -> Option<Place> {
        let mut counts = self.counts.lock();
        if counts.patient < self.limits.patient {
            counts.patient += 1;
            return Some(Place::Patient);
        }
        (counts.hurried < self.limits.hurried).then(|| {
            counts.hurried += 1;
            Place::Hurried
        })
    }

    /// Counts a connection as another kind than before; `None` if there is no room for it.
    fn change(&self, from: &Place, to: Place) -> Option<Place> {
        let (mut counts, limits) = (self.counts.lock(), &self.limits);
        counts.leave(from);
        let (signed_in, streams) = match &to {
            Place::SignedIn(caller) | Place::Stream(caller) => counts.of(caller),
            _ => (0, 0),
        };
        let room = match &to {
            Place::SignedIn(Caller::Owner) => {
                counts.signed_in < limits.signed_in + limits.owner
                    && signed_in < limits.per_session + limits.owner
            }
            Place::SignedIn(_) if counts.signed_in < limits.signed_in => {
                signed_in < limits.per_session
            }
            Place::Stream(_) => {
                counts.streams < limits.streams && streams < limits.streams_per_session
            }
            _ => false,
        };
        let taken = if room { &to } else { from };
        counts.enter(taken);
        let reserve = signed_in >= limits.per_session || counts.signed_in > limits.signed_in;
        drop(counts);
        if to == Place::SignedIn(Caller::Owner) && reserve {
            self.send_idle_owner_away();
        }
        self.left.notify_waiters();
        room.then_some(to)
    }
}

impl Counts {
    fn of(&self, caller: &Caller) -> (usize, usize) {
        self.sessions
            .get(caller.session())
            .copied()
            .unwrap_or_default()
    }

    fn enter(&mut self, place: &Place) {
        self.count(place, 1);
    }

    fn leave(&mut self, place: &Place) {
        self.count(place, usize::MAX);
    }

    /// Adds one, or takes one away: `usize::MAX` is -1.
    fn count(&mut self, place: &Place, by: usize) {
        let add = |count: &mut usize| *count = count.wrapping_add(by);
        match place {
            Place::Patient => add(&mut self.patient),
            Place::Hurried => add(&mut self.hurried),
            Place::SignedIn(caller) | Place::Stream(caller) => {
                let name = caller.session();
                let mine = self.sessions.entry(name.to_string()).or_default();
                match place {
                    Place::Stream(_) => {
                        add(&mut mine.1);
                        add(&mut self.streams);
                    }
                    _ => {
                        add(&mut mine.0);
                        add(&mut self.signed_in);
                    }
                }
                if *mine == (0, 0) {
                    self.sessions.remove(name);
                }
            }
        }
    }
}

impl Connection {
    /// A request on it begins.
    pub fn begin(self: &Arc<Self>) -> InUse {
        self.requests.fetch_add(1, Ordering::Relaxed);
        InUse(Arc::clone(self))
    }

    /// Counts it as one of this caller.
    ///
    /// # Errors
    /// The caller, or all callers together, have as many as they may (W4).
    pub fn sign_in(self: &Arc<Self>, caller: &Caller) -> Result<(), Problem> {
        let mut place = self.place.lock();
        if !matches!(&*place, Place::SignedIn(known) | Place::Stream(known) if known == caller) {
            let new = self.all.change(&place, Place::SignedIn(caller.clone()));
            *place = new.ok_or_else(|| {
                let text = "too many connections at once. Nothing was saved. Close some pages, then try again.";
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, "W4", text)
            })?;
            if *caller == Caller::Owner {
                self.all.line_up_owner(self);
            }
        }
        self.signed_in.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Counts it as an event stream of this caller from now on.
    ///
    /// # Errors
    /// There are as many event streams as there may be (W4).
    pub fn become_stream(&self, caller: &Caller) -> Result<(), Problem> {
        let mut place = self.place.lock();
        let new = self.all.change(&place, Place::Stream(caller.clone()));
        *place = new.ok_or_else(|| {
            let text = "too many event streams at once. Close some pages, then try again.";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "W4", text)
        })?;
        Ok(())
    }

    /// How many event streams there are.
    pub fn streams(&self) -> usize {
        self.all.counts.lock().streams
    }

    /// Waits until it has to go because others need its place.
    pub async fn needed(&self) {
        self.needed.notified().await;
    }

    /// Waits until it has to go because its owner has another one that needs its place.
    pub async fn sent_away(&self) {
        self.sent_away.notified().await;
    }

    /// Whether it belongs to somebody by now.
    pub fn is_signed_in(&self) -> bool {
        self.signed_in.load(Ordering::Relaxed)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        *self.0.idle_since.lock() = Instant::now();
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.counts.lock().leave(self.place.get_mut());
        self.all.left.notify_waiters();
    }
}

/// A socket whose other end must read what it is sent.
pub struct Socket {
    stream: TcpStream,
    /// Until when the next bytes must be taken, while some wait.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Bytes taken since that was set.
    taken: usize,
}

impl Socket {
    /// Of a connection.
    pub fn new(stream: TcpStream) -> Socket {
        Socket {
            stream,
            deadline: None,
            taken: 0,
        }
    }

    /// What became of writing: bytes that were taken, or that the other end does not read.
    fn watch(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(bytes)) => {
                self.taken += bytes;
                if self.taken >= READ_BYTES {
                    self.read_on();
                }
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                let due = || Box::pin(sleep_until(Instant::now() + READ_TIMEOUT));
                let deadline = self.deadline.get_or_insert_with(due);
                if deadline.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
            }
        }
        written
    }

    fn read_on(&mut self) {
        (self.deadline, self.taken) = (None, 0);
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Called once everything was written.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.read_on();
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_files_leave_places_of_every_kind() {
        assert_eq!(Limits::within(usize::MAX), Limits::USUAL);
        assert_eq!(
            Limits::within(OTHER_FILES + Limits::USUAL.all()),
            Limits::USUAL
        );
        for files in [0, 256, 300, 1024, 4000] {
            let limits = Limits::within(files);
            assert!(
                files < 300 || limits.all() <= files - OTHER_FILES,
                "{files} {limits:?}"
            );
            let counts = [
                limits.patient,
                limits.hurried,
                limits.signed_in,
                limits.per_session,
                limits.owner,
                limits.streams,
                limits.streams_per_session,
            ];
            assert!(counts.iter().all(|count| *count > 0), "{files} {limits:?}");
        }
    }

    #[tokio::test]
    async fn a_session_has_its_share_and_the_owner_always_gets_in() {
        let all = Arc::new(Connections::new(usize::MAX));
        let limits = Limits::USUAL;
        let ann = Caller::Browser("ann".into());
        let mut held = Vec::new();
        let enter = async |caller: &Caller| {
            let (connection, _) = all.place().await;
            connection.sign_in(caller).map(|()| connection)
        };
        while let Ok(connection) = enter(&ann).await {
            held.push(connection);
        }
        assert_eq!(held.len(), limits.per_session);
        let mut others = 0;
        while let Ok(connection) = enter(&Caller::Browser(others.to_string())).await {
            held.push(connection);
            others += 1;
        }
        assert_eq!(held.len(), limits.signed_in);
        let owner = enter(&Caller::Owner).await.unwrap();
        // Streams are counted apart, and leave their place to others.
        for connection in &held[..limits.per_session] {
            connection.become_stream(&ann).unwrap();
        }
        assert!(enter(&Caller::Browser("bob".into())).await.is_ok());
        drop((held, owner));
        let counts = all.counts.lock();
        assert_eq!(
            (counts.signed_in, counts.streams, counts.patient),
            (0, 0, 0)
        );
        assert!(counts.sessions.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_of_the_owner_makes_room_for_another() {
        let all = Arc::new(Connections::new(usize::MAX));
        let limits = Limits::USUAL;
        let mut held = VecDeque::new();
        let enter = async || {
            let (connection, _) = all.place().await;
            connection.sign_in(&Caller::Owner).map(|()| connection)
        };
        for _ in 0..limits.per_session {
            held.push_back(enter().await.unwrap());
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        let goes = async |one: &Connection| {
            let soon = tokio::time::timeout(Duration::ZERO, one.sent_away());
            soon.await.is_ok()
        };
        for one in &held {
            assert!(!goes(one).await);
        }
        // The first has a request, the second had one just now: the third goes.
        let first = held[0].begin();
        drop(held[1].begin());
        for place in [2, 3] {
            held.push_back(enter().await.unwrap());
            for (number, one) in held.iter().enumerate() {
                assert_eq!(goes(one).await, number == place, "{number}");
            }
        }
        // While nobody goes there are so many more, and where all have requests no one is sent away.
        let requests: Vec<InUse> = held.iter().map(Connection::begin).collect();
        for _ in 2..limits.owner {
            held.push_back(enter().await.unwrap());
        }
        assert!(enter().await.is_err());
        drop((first, requests, held));
        assert!(all.counts.lock().sessions.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn beyond_the_places_of_new_connections_they_are_hurried_and_then_the_oldest_goes() {
        let all = Arc::new(Connections::new(usize::MAX));
        let limits = Limits::USUAL;
        let mut held = Vec::new();
        for number in 0..limits.patient + limits.hurried {
            let (connection, time) = all.place().await;
            let expected = if number < limits.patient {
                SIGN_IN_TIMEOUT
            } else {
                SIGN_IN_TIMEOUT_WHEN_BUSY
            };
            assert_eq!(time, expected);
            held.push(connection);
        }
        // Who has signed in stays; the next one goes, and nobody else.
        let first = limits.patient;
        held[first].sign_in(&Caller::Owner).unwrap();
        held.push(all.place().await.0);
        let waiting = tokio::time::timeout(Duration::from_secs(1), all.place()).await;
        assert!(waiting.is_err(), "the place is not free yet");
        for (number, one) in held.iter().enumerate() {
            let goes = tokio::time::timeout(Duration::ZERO, one.needed()).await;
            assert_eq!(goes.is_ok(), number == first + 1, "{number}");
        }
        held.remove(first + 1);
        all.place().await;
    }
}
