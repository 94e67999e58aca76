//! The writer: one thread that takes submissions, stores them, and only then acknowledges.
//!
//! ```text
//! requests -> bounded queue -> all that wait (at most 64) in one transaction -> synced -> receipts
//! ```
//!
//! The model is told that there is something new, and is never waited for. Others read the log of the moment; while a
//! transaction is synced they wait for it.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use dial_store::time::Clock;
use dial_store::{Project, Receipt, Submission};
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::{oneshot, watch};

use crate::http::problem::Problem;
use axum::http::StatusCode;

/// Submissions that may wait; beyond that the sender is asked to come again.
const WAITING: usize = 1024;

/// Submissions that share a transaction.
const TOGETHER: usize = 64;

/// How often it is looked whether the backup of the day is there, in milliseconds.
const HOUR: u64 = 3_600_000;

type Answer = dial_store::Result<Receipt>;
type Job = (Submission, oneshot::Sender<Answer>);

/// Takes submissions for a project.
pub struct Writer {
    project: Arc<RwLock<Project>>,
    queue: Mutex<Option<SyncSender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    version: watch::Receiver<u64>,
    tell: watch::Sender<u64>,
    told: Arc<dyn Fn() + Send + Sync>,
}

impl Writer {
    /// Opens for a project; `told` is called after each transaction.
    pub fn open(project: Project, clock: Clock, told: impl Fn() + Send + Sync + 'static) -> Writer {
        let (queue, jobs) = sync_channel(WAITING);
        let (tell, version) = watch::channel(project.log().version());
        let project = Arc::new(RwLock::new(project));
        let shared = Arc::clone(&project);
        let told: Arc<dyn Fn() + Send + Sync> = Arc::new(told);
        let (teller, listener) = (tell.clone(), Arc::clone(&told));
        let work = move || {
            take_jobs(&jobs, &shared, clock, &|version| {
                teller.send_replace(version);
                listener();
            });
        };
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(work)
            .expect("a thread can be started");
        Writer {
            project,
            queue: Mutex::new(Some(queue)),
            thread: Mutex::new(Some(thread)),
            version,
            tell,
            told,
        }
    }

    /// Takes nothing more, stores what waits, and closes the project.
    pub fn close(&self) {
        drop(self.queue.lock().take());
        if let Some(thread) = self.thread.lock().take() {
            // A writer that broke has nothing left to store.
            let _ = thread.join();
        }
        self.project_mut().close();
    }

    /// Submits, and waits until it is safe.
    pub async fn submit(&self, submission: Submission) -> Result<Receipt, Problem> {
        let (reply, answer) = oneshot::channel();
        let closed = || {
            Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "C12",
                "the server is stopping. Send it again later.",
            )
        };
        let queue = self.queue.lock().clone().ok_or_else(closed)?;
        match queue.try_send((submission, reply)) {
            Ok(()) => Ok(answer.await.map_err(|_| closed())??),
            Err(TrySendError::Full(_)) => {
                let text = "too many submissions at once. It was not saved. Send it again.";
                Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "W4", text))
            }
            Err(TrySendError::Disconnected(_)) => Err(closed()),
        }
    }

    /// The project of the moment.
    pub fn project(&self) -> RwLockReadGuard<'_, Project> {
        self.project.read()
    }

    /// The project, to lease items and keep things.
    pub fn project_mut(&self) -> RwLockWriteGuard<'_, Project> {
        self.project.write()
    }

    /// The project as others share it.
    pub fn shared(&self) -> Arc<RwLock<Project>> {
        Arc::clone(&self.project)
    }

    /// Says that something was stored in another way than through the queue.
    pub fn told(&self) {
        let version = self.project().log().version();
        self.tell.send_replace(version);
        (self.told)();
    }

    /// The version of the log as it changes.
    pub fn version(&self) -> watch::Receiver<u64> {
        self.version.clone()
    }
}

/// Takes jobs until nobody can send any more.
fn take_jobs(jobs: &Receiver<Job>, project: &RwLock<Project>, clock: Clock, told: &dyn Fn(u64)) {
    let mut look = clock.now() + HOUR;
    while let Ok(first) = jobs.recv() {
        let mut taken = vec![first];
        taken.extend(jobs.try_iter().take(TOGETHER - 1));
        let (submissions, replies): (Vec<Submission>, Vec<oneshot::Sender<Answer>>) =
            taken.into_iter().unzip();
        let mut held = project.write();
        let answers = held.submit(&submissions, clock.now());
        let version = held.log().version();
        drop(held);
        for (reply, answer) in replies.into_iter().zip(answers) {
            // A sender that has gone away asks again with its key.
            let _ = reply.send(answer);
        }
        told(version);
        if clock.now() >= look {
            look = clock.now() + HOUR;
            back_up(project, clock.now());
        }
    }
}

/// Makes the backup of the day, if it is due. Only the copy holds others up.
fn back_up(project: &RwLock<Project>, now: u64) {
    let mut project = project.write();
    let copied = project.copy_if_due(now);
    drop(project);
    // A failure does not touch the project; the next hour tries again.
    if let Ok(Some(copied)) = copied {
        let _ = copied.finish(now);
    }
}
