//! The writer: one thread that takes submissions, stores them, and only then acknowledges.
//!
//! ```text
//! requests -> bounded queue -> all that wait (at most 64) in one transaction -> synced -> published -> receipts
//! ```
//!
//! Only the writer and imports hold the project, to change it, and backups, to read a slice. Everybody else reads the snapshot
//! that was published last and waits for no disk. What may be lost in a crash (leases, caches) is handed over and stored every
//! few seconds.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use dial_store::time::Clock;
use dial_store::{Copying, Manifest, Project, Receipt, Snapshot, Submission};
use parking_lot::{Mutex, RwLock};
use tokio::sync::{oneshot, watch};

use crate::http::problem::Problem;
use crate::leases::Leases;
use axum::http::StatusCode;

/// Submissions that may wait; beyond that the sender is asked to come again.
const SUBMISSIONS_WAITING: usize = 1024;

/// Submissions that share a transaction.
const MAX_TRANSACTION: usize = 64;

/// How often the writer checks whether the backup of the day is there, in milliseconds.
const BACKUP_CHECK_INTERVAL: u64 = 3_600_000;

/// How often leases and caches are stored, in milliseconds.
const CACHE_WRITE_INTERVAL: u64 = 2_000;

type Answer = dial_store::Result<Receipt>;
type Job = (Submission, oneshot::Sender<Answer>);

/// A project as several threads share it.
pub struct SharedProject {
    project: Mutex<Project>,
    snapshot: RwLock<Arc<Snapshot>>,
    /// Who is looking at which item.
    pub leases: Mutex<Leases>,
    /// Caches that are to be stored, by name.
    caches: Mutex<BTreeMap<&'static str, Vec<u8>>>,
}

impl SharedProject {
    fn new(mut project: Project, items: usize, now: u64) -> SharedProject {
        // Without those of before an item may be asked twice, which loses nothing.
        let kept = project.leases().unwrap_or_default();
        let leases = Leases::new(kept, project.log(), items, now);
        SharedProject {
            snapshot: RwLock::new(Arc::new(project.snapshot())),
            project: Mutex::new(project),
            leases: Mutex::new(leases),
            caches: Mutex::default(),
        }
    }

    /// The project as it was stored last.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.read())
    }

    /// Changes the project, and publishes what became of it. Waits for other changes and for the disk.
    pub fn change<T>(&self, change: impl FnOnce(&mut Project) -> T) -> T {
        let mut project = self.project.lock();
        let changed = change(&mut project);
        let new = Arc::new(project.snapshot());
        // The one before is let go outside of the lock: it may be the last to hold a log.
        let before = std::mem::replace(&mut *self.snapshot.write(), new);
        drop(project);
        drop(before);
        changed
    }

    /// Works with the project without a change that others are to see. Waits for changes and for the disk.
    pub fn beside<T>(&self, work: impl FnOnce(&mut Project) -> T) -> T {
        work(&mut self.project.lock())
    }

    /// Makes a backup. Labels go on meanwhile: the project is held for one slice at a time.
    ///
    /// # Errors
    /// As [`Project::backup`].
    pub fn back_up(&self, to: &Path, now: u64) -> dial_store::Result<Manifest> {
        let begun = self.beside(|project| project.begin_backup(to))?;
        self.complete(begun, now)
    }

    fn complete(&self, backup: Copying, now: u64) -> dial_store::Result<Manifest> {
        backup.complete(now, |backup| {
            self.beside(|project| project.read_slice(backup))
        })
    }

    /// Has bytes stored under a name within a few seconds: a cache, which a crash may lose.
    pub fn keep_soon(&self, name: &'static str, bytes: Vec<u8>) {
        self.caches.lock().insert(name, bytes);
    }

    /// Stores leases and caches that have changed.
    fn keep(&self) {
        let leases = self.leases.lock().changes();
        let caches = std::mem::take(&mut *self.caches.lock());
        if leases.is_none() && caches.is_empty() {
            return;
        }
        self.change(|project| {
            // Where the disk fails they are lost, as in a crash.
            let _ = leases.map(|leases| project.keep_leases(&leases));
            for (name, bytes) in caches {
                let _ = project.keep(name, &bytes);
            }
        });
    }
}

/// Takes submissions for a project.
pub struct Writer {
    shared: Arc<SharedProject>,
    queue: Mutex<Option<SyncSender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    version: watch::Receiver<u64>,
    tell: watch::Sender<u64>,
    told: Arc<dyn Fn() + Send + Sync>,
}

impl Writer {
    /// Opens for a project whose pool has so many items; `told` is called after each transaction.
    pub fn open(
        project: Project,
        items: usize,
        clock: Clock,
        told: impl Fn() + Send + Sync + 'static,
    ) -> Writer {
        let (queue, jobs) = sync_channel(SUBMISSIONS_WAITING);
        let (tell, version) = watch::channel(project.log().version());
        let shared = Arc::new(SharedProject::new(project, items, clock.now()));
        let mine = Arc::clone(&shared);
        let told: Arc<dyn Fn() + Send + Sync> = Arc::new(told);
        let (teller, listener) = (tell.clone(), Arc::clone(&told));
        let work = move || {
            take_jobs(&jobs, &mine, clock, &|version| {
                teller.send_replace(version);
                listener();
            });
        };
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(work)
            .expect("a thread can be started");
        Writer {
            shared,
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
        self.shared.keep();
        self.shared.change(Project::close);
    }

    /// Submits, and waits until it is safe.
    pub async fn submit(&self, submission: Submission) -> Result<Receipt, Problem> {
        let (reply, answer) = oneshot::channel();
        let closed = || {
            Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "C13",
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

    /// The project as it was stored last.
    pub fn project(&self) -> Arc<Snapshot> {
        self.shared.snapshot()
    }

    /// The project as others share it.
    pub fn shared(&self) -> &Arc<SharedProject> {
        &self.shared
    }

    /// Changes the project in another way than by submissions. Waits for other changes and for the disk.
    pub fn change<T>(&self, change: impl FnOnce(&mut Project) -> T) -> T {
        self.shared.change(change)
    }

    /// Says that something was stored in another way than through the queue.
    pub fn told(&self) {
        self.tell.send_replace(self.project().log().version());
        (self.told)();
    }

    /// The version of the log as it changes.
    pub fn version(&self) -> watch::Receiver<u64> {
        self.version.clone()
    }
}

/// Takes jobs until nobody can send any more.
fn take_jobs(jobs: &Receiver<Job>, shared: &Arc<SharedProject>, clock: Clock, told: &dyn Fn(u64)) {
    let mut backup: Option<JoinHandle<()>> = None;
    let (mut look, mut keep) = (
        clock.now() + BACKUP_CHECK_INTERVAL,
        clock.now() + CACHE_WRITE_INTERVAL,
    );
    loop {
        match jobs.recv_timeout(Duration::from_millis(CACHE_WRITE_INTERVAL)) {
            Ok(first) => told(take(first, jobs, shared, clock)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if clock.now() >= keep {
            shared.keep();
            keep = clock.now() + CACHE_WRITE_INTERVAL;
        }
        if clock.now() >= look {
            look = clock.now() + BACKUP_CHECK_INTERVAL;
            if backup.as_ref().is_none_or(JoinHandle::is_finished) {
                backup = back_up(shared, clock.now());
            }
        }
    }
}

/// Stores a job and those that wait behind it in one transaction, and answers them. The version of the log then.
fn take(first: Job, jobs: &Receiver<Job>, shared: &SharedProject, clock: Clock) -> u64 {
    let mut taken = vec![first];
    taken.extend(jobs.try_iter().take(MAX_TRANSACTION - 1));
    let (submissions, replies): (Vec<Submission>, Vec<oneshot::Sender<Answer>>) =
        taken.into_iter().unzip();
    let (answers, version) = shared.change(|project| {
        let answers = project.submit(&submissions, clock.now());
        (answers, project.log().version())
    });
    for (reply, answer) in replies.into_iter().zip(answers) {
        // A sender that has gone away asks again with its key.
        let _ = reply.send(answer);
    }
    version
}

/// Makes the backup of the day, if it is due, on a thread of its own: the writer goes on with labels.
fn back_up(shared: &Arc<SharedProject>, now: u64) -> Option<JoinHandle<()>> {
    // A failure does not touch the project; the next hour tries again.
    let begun = shared.beside(|project| project.begin_if_due(now)).ok()??;
    let shared = Arc::clone(shared);
    let work = move || drop(shared.complete(begun, now));
    let thread = std::thread::Builder::new().name("backup".into());
    thread.spawn(work).ok()
}

#[cfg(test)]
mod tests {
    use dial::ClassId;
    use dial_data::ReadOptions;
    use dial_store::{Decision, Journal, Recipe, restore};

    use super::*;

    fn submission(key: &str, decisions: Vec<Decision>) -> Submission {
        Submission {
            key: key.into(),
            decisions,
            ..Submission::default()
        }
    }

    /// Labels that are given while it is made are in the next one.
    #[test]
    fn the_backup_of_the_day_is_made_beside_the_writer() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("p.dial");
        let recipe = Recipe {
            items: 2_000,
            ..Recipe::new("nowhere.npy", ReadOptions::default())
        };
        let class = |name: &str| Decision::AddClass { name: name.into() };
        let first = vec![class("a"), class("b")];
        let now = Clock::new().now();
        let project = Project::create(&folder, Journal::Wal, &recipe, None, first, now).unwrap();
        let paths = project.folder().unwrap().clone();
        let shared = Arc::new(SharedProject::new(project, recipe.items, now));
        let label = |item: usize| Decision::label(&item.to_string(), ClassId(0));
        let many = submission("many", (0..1_000).map(label).collect());
        shared
            .change(|project| project.submit_one(many, now))
            .unwrap();
        let before = shared.snapshot().log().version();
        let thread = back_up(&shared, now).expect("none was made today");
        let one = submission("one", vec![label(1_000)]);
        shared
            .change(|project| project.submit_one(one, now))
            .unwrap();
        thread.join().unwrap();
        let mut made = std::fs::read_dir(paths.backups()).unwrap();
        let file = made.next().unwrap().unwrap().path();
        assert!(made.next().is_none(), "nothing half done is beside it");
        let restored = restore(&file, &place.path().join("q.dial"), false, now).unwrap();
        assert_eq!(restored.manifest.events, before);
        assert!(back_up(&shared, now).is_none(), "one a day");
    }
}
