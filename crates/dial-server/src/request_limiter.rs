//! Limits how many requests run at once that take long or much memory; the others wait in a queue.
//!
//! Without a limit one client that asks for thirty exports takes all threads and a gigabyte. Labels and questions are not
//! limited. A request may need several permits: a body needs one for each kibibyte.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::auth::sessions::Caller;
use crate::http::problem::Problem;

/// How many requests of one session may wait or run.
const LONG_REQUESTS_PER_SESSION: usize = 32;

/// How long a request may wait in the queue.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(60);

/// A limit on requests that run at once, over all sessions and for each.
pub struct RequestLimiter {
    all: Arc<Semaphore>,
    /// How many permits the requests of one session may hold at once.
    of_session: usize,
    queues: Arc<Mutex<HashMap<String, SessionQueue>>>,
}

/// The requests of a session. They wait for each other first, so that few of them wait ahead of those of other sessions.
struct SessionQueue {
    requests: usize,
    semaphore: Arc<Semaphore>,
}

/// Lets one request run, until it is dropped.
pub struct Permit {
    _of_all: OwnedSemaphorePermit,
    _of_session: OwnedSemaphorePermit,
    _entry: QueueEntry,
}

impl Permit {
    /// Gives the permit back to all but its session, whose next request comes after a pause.
    pub fn rest(self, pause: Duration) {
        let Permit {
            _of_all,
            _of_session,
            _entry,
        } = self;
        drop(_of_all);
        tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            drop((_of_session, _entry));
        });
    }
}

/// Counts a request of a session, until it is dropped.
struct QueueEntry {
    queues: Arc<Mutex<HashMap<String, SessionQueue>>>,
    session: String,
}

impl RequestLimiter {
    /// A limit of `at_once` permits, at most `of_session` of them for one session.
    pub fn new(at_once: usize, of_session: usize) -> RequestLimiter {
        RequestLimiter {
            all: Arc::new(Semaphore::new(at_once)),
            of_session,
            queues: Arc::default(),
        }
    }

    /// Waits until a request may run.
    ///
    /// # Errors
    /// Too many requests of this session wait already, or it takes too long (W4).
    pub async fn acquire(&self, caller: &Caller) -> Result<Permit, Problem> {
        self.acquire_many(caller, 1).await
    }

    /// The same for a request that needs `count` permits; a session must be allowed that many.
    pub async fn acquire_many(&self, caller: &Caller, count: u32) -> Result<Permit, Problem> {
        let (entry, own) = self.enqueue(caller.session())?;
        let permits = async {
            let own = own.acquire_many_owned(count).await;
            let all = Arc::clone(&self.all);
            (own, all.acquire_many_owned(count).await)
        };
        let late = |_| {
            let text = "the server was busy with other long requests for a minute. Nothing was changed. Try again.";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "W4", text)
        };
        let (own, all) = tokio::time::timeout(QUEUE_TIMEOUT, permits)
            .await
            .map_err(late)?;
        Ok(Permit {
            _of_all: all.expect("the semaphore is never closed"),
            _of_session: own.expect("the semaphore is never closed"),
            _entry: entry,
        })
    }

    fn enqueue(&self, session: &str) -> Result<(QueueEntry, Arc<Semaphore>), Problem> {
        let mut queues = self.queues.lock();
        let queue = queues
            .entry(session.to_string())
            .or_insert_with(|| SessionQueue {
                requests: 0,
                semaphore: Arc::new(Semaphore::new(self.of_session)),
            });
        if queue.requests >= LONG_REQUESTS_PER_SESSION {
            let text = format!(
                "{LONG_REQUESTS_PER_SESSION} long requests of this session are waiting. Nothing was changed. Send it again when some of them are done."
            );
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "W4", text));
        }
        queue.requests += 1;
        let entry = QueueEntry {
            queues: Arc::clone(&self.queues),
            session: session.to_string(),
        };
        Ok((entry, Arc::clone(&queue.semaphore)))
    }
}

impl Drop for QueueEntry {
    fn drop(&mut self) {
        let mut queues = self.queues.lock();
        if let Some(queue) = queues.get_mut(&self.session) {
            queue.requests -= 1;
            if queue.requests == 0 {
                queues.remove(&self.session);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn browser(name: &str) -> Caller {
        Caller::Browser(name.into())
    }

    #[tokio::test]
    async fn a_request_may_need_several_permits() {
        let limiter = RequestLimiter::new(10, 8);
        let first = limiter.acquire_many(&browser("ann"), 7).await.unwrap();
        let soon = Duration::from_millis(20);
        let second = tokio::time::timeout(soon, limiter.acquire_many(&browser("ann"), 2)).await;
        assert!(second.is_err(), "ann has 8 permits");
        let other = tokio::time::timeout(soon, limiter.acquire_many(&browser("bob"), 4)).await;
        assert!(other.is_err(), "there are 10 permits");
        let other = limiter.acquire_many(&browser("bob"), 3).await.unwrap();
        drop((first, other));
        limiter.acquire_many(&browser("ann"), 8).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_rests_holds_nobody_else_up() {
        let limiter = RequestLimiter::new(1, 1);
        let pause = Duration::from_secs(5);
        limiter.acquire(&browser("ann")).await.unwrap().rest(pause);
        let start = tokio::time::Instant::now();
        drop(limiter.acquire(&browser("bob")).await.unwrap());
        assert_eq!(start.elapsed(), Duration::ZERO);
        drop(limiter.acquire(&browser("ann")).await.unwrap());
        assert_eq!(start.elapsed(), pause);
    }

    #[tokio::test]
    async fn a_session_that_asks_for_much_waits_for_itself() {
        let limiter = Arc::new(RequestLimiter::new(2, 1));
        let first = limiter.acquire(&browser("ann")).await.unwrap();
        let wait = |caller: Caller| {
            let limiter = Arc::clone(&limiter);
            tokio::spawn(async move { limiter.acquire(&caller).await.map(drop) })
        };
        let mut waiting: Vec<_> = (1..LONG_REQUESTS_PER_SESSION)
            .map(|_| wait(browser("ann")))
            .collect();
        tokio::task::yield_now().await;
        assert!(waiting.iter().all(|one| !one.is_finished()), "one at once");
        let refused = limiter
            .acquire(&browser("ann"))
            .await
            .map(drop)
            .unwrap_err();
        assert_eq!((refused.status, &*refused.code), (429, "W4"));
        // Another session has its turn at once, a third one when one of the two is done.
        let second = limiter.acquire(&Caller::Owner).await.unwrap();
        let third = wait(browser("bob"));
        tokio::task::yield_now().await;
        assert!(!third.is_finished(), "two at once");
        drop(second);
        third.await.unwrap().unwrap();
        drop(first);
        for one in waiting.drain(..) {
            one.await.unwrap().unwrap();
        }
        assert!(limiter.queues.lock().is_empty());
    }
}
